/* runner/host/native.h: this Linux machine as a backend: kernels only, no PMU. */
#ifndef RUNNER_NATIVE_H
#define RUNNER_NATIVE_H

#include "pmu/access.h"

struct native;

/* Maps code, control and DS areas at their addresses, starts one pinned thread per core, calibrates the TSC. Only one can
 * be open at a time, since all use the same address range. `problem` tells what failed. */
MUST_CHECK enum status native_open(struct native **out, char *problem, size_t capacity);
void native_close(struct native *n);

/* Valid until native_close; kind ACCESS_NATIVE, name "native". Registers, PCI and MMIO are ST_UNSUPPORTED.
 * map() returns huge pages only if the kernel confirms them, else ST_UNSUPPORTED. */
const struct access *native_access(struct native *n);

#endif
