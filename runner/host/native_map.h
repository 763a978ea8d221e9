/* runner/host/native_map.h: pages of a stated size at a stated address on Linux. */
#ifndef RUNNER_NATIVE_MAP_H
#define RUNNER_NATIVE_MAP_H

#include "pmu/access.h"

/* Maps m->va .. + m->bytes with pages of exactly m->page_bytes, zeroed and present; node -1: wherever. m->repeats is cleared
 * where each page got memory of its own.
 * ST_UNSUPPORTED: the kernel gives no such pages (or did not prove that it did), ST_FULL: no memory,
 * ST_REFUSED: the address is taken or executable memory is forbidden, ST_RANGE: not whole pages. */
MUST_CHECK enum status native_map_pages(struct mapping *m, int node);
MUST_CHECK enum status native_unmap_pages(struct mapping *m);

#endif
