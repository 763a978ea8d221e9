/* runner/host/native_map.h: pages of a given size at a given address on Linux. */
#ifndef RUNNER_NATIVE_MAP_H
#define RUNNER_NATIVE_MAP_H

#include "pmu/access.h"

/* Maps m->va .. + m->bytes with pages of exactly m->page_bytes, zeroed and present; node -1: any. m->repeats is cleared if
 * each page has its own memory. ST_UNSUPPORTED: the kernel provides no such pages (or did not confirm them), ST_FULL: no
 * memory, ST_REFUSED: the address is in use or executable memory is forbidden, ST_RANGE: not whole pages. */
MUST_CHECK enum status native_map_pages(struct mapping *m, int node);
MUST_CHECK enum status native_unmap_pages(struct mapping *m);

#endif
