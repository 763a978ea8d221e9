/* tests/unit/support/kernel_run.h: kernels of asm/ by name, and one run of a kernel. Each fails the test where it cannot do what it says. */
#ifndef TESTS_UNIT_KERNEL_RUN_H
#define TESTS_UNIT_KERNEL_RUN_H

#include "asm/kernel.h"
#include "pmu/access.h"

const struct kernel *kernel_named(const char *name);
/* Where it is in the machine's window. */
uint64_t kernel_at(const char *name);
/* Runs it on a core through k_measure, with n arguments; the core's block, with its result. */
struct measure_block *kernel_run(const struct access *a, unsigned core, const char *name, const uint64_t *arguments, unsigned n);

#endif
