/* bench/staircase.h: load-to-use latency over the size of the working set, as steps: each level of the caches answers up to
 * its size with the latency of its row (load.lN.latency), memory what is larger (load.dram_local.latency).
 *
 * The latencies are measured; where the steps lie is what CPUID says of the caches: no row measures the sizes between. */
#ifndef BENCH_STAIRCASE_H
#define BENCH_STAIRCASE_H

#include "bench/document.h"

#define STAIRCASE_MOST 6u
#define STAIRCASE_FROM 1024   /* bytes: where the picture begins; it ends at eight times the last cache */

struct stair {
	const char *row, *status;
	unsigned level;            /* of the cache; 0: memory */
	int64_t from, to;          /* bytes */
	int64_t cycles_milli, ns_milli;
};

/* The steps that the results have a value for, in order. */
unsigned staircase_of(const struct document *d, struct stair stairs[STAIRCASE_MOST]);
/* The power of two of cycles, in thousandths, that is not below any of them: the picture's upper end. */
int64_t staircase_top(const struct stair *stairs, unsigned count);

#endif
