/* bench/catalogue/kernel.h: the kernels of a row, by name and by instruction set. */
#ifndef BENCH_KERNEL_H
#define BENCH_KERNEL_H

#include "bench/catalogue/row.h"
#include "pmu/core/cpu.h"

/* The kernel of a name, NULL if there is none. The name may be that of k_measure too. */
const struct kernel *kernel_find(const char *name);
/* Whether the row may run its kernel `name`: `list` (a setting: names separated by commas; NULL or "": all) names it, or none of the row's
 * kernels. */
bool kernel_is_wanted(const struct row *r, const char *name, const char *list);
/* The first of the row's wanted kernels whose instruction set the processor supports; NULL: none. */
const struct kernel *kernel_choose(const struct row *r, const struct cpu *cpu, const char *list);

#endif
