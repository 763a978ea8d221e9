/* tests/unit/support/kernel_run.h: finds kernels of asm/ by name and runs one. Every error fails the test. */
#ifndef TESTS_UNIT_KERNEL_RUN_H
#define TESTS_UNIT_KERNEL_RUN_H

#include "asm/kernel.h"
#include "pmu/access.h"

const struct kernel *kernel_named(const char *name);
/* The kernel's address in the machine's window. */
uint64_t kernel_at(const char *name);
/* Runs a kernel on a core through k_measure with n arguments. Returns the core's measurement block, which has the result. */
struct measure_block *kernel_run(const struct access *a, unsigned core, const char *name, const uint64_t *arguments, unsigned n);

#endif
