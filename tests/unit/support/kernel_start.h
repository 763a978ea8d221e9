/* tests/unit/support/kernel_start.h: the arguments and memory with which tests call each kernel. A new kernel needs a line
 * in kernel_start.c. */
#ifndef TESTS_KERNEL_START_H
#define TESTS_KERNEL_START_H

#include "asm/kernel.h"
#include "pmu/base.h"

#define START_ARRAY 0x10000u           /* bytes of each array (a, b, c), and of the chains */
#define START_BYTES (6 * START_ARRAY)  /* the memory at SPACE_DATA */

/* A kernel's arguments. The number of iterations is the one that its record names (count_argument). */
enum kernel_start {
	START_UNKNOWN, START_NONE, START_CHASE, START_STEP, START_STREAMS,
	START_COUNT,    /* the number of iterations only */
	START_ZERO,     /* a buffer of zeros, longer than an array */
	START_BUFFER,   /* a buffer that starts on a page, of any contents */
	START_CODE, START_CHOICES,  /* bytes 0 .. 3 */
	START_CHASE_STOP, START_SHARE, START_INJECT, /* with a flag that never has the token */
	START_MIXED                 /* a chase, and bytes 0 .. 3 */
};

/* START_UNKNOWN for a kernel without a line. */
enum kernel_start kernel_start_find(const char *kernel);
/* START_BYTES of memory before a call: chains in the first array, numbers in the next three, then zeros and choices. */
void kernel_start_fill(uint8_t *memory);
void kernel_start_arguments(const struct kernel *k, enum kernel_start start, uint64_t iterations, uint64_t a[6]);

#endif
