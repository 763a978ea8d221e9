/* bench/report/staircase.h: load-to-use latency over the size of the working set, as steps: each level of the caches answers up to
 * its size with the latency of its row (load.lN.latency), memory what is larger (load.dram_local.latency).
 *
 * The latencies are measured; where the steps lie is what CPUID says of the caches. Where load.staircase.latency was measured, its
 * points show what the sizes between really cost. */
#ifndef BENCH_STAIRCASE_H
#define BENCH_STAIRCASE_H

#include "bench/results/document.h"

#define STAIRCASE_MOST 6u
#define STAIRCASE_FROM 1024   /* bytes: where the picture begins; it ends at eight times the last cache, or at the largest size measured */
#define STAIRCASE_POINTS 32u

struct stair {
	const char *row, *status;
	unsigned level;            /* of the cache; 0: memory */
	int64_t from, to;          /* bytes */
	int64_t cycles_milli, ns_milli;
};

/* A size of load.staircase.latency at its smallest stride, which visits most of its lines. */
struct stair_point { int64_t bytes, cycles_milli; };

struct staircase {
	struct stair stairs[STAIRCASE_MOST];          /* the steps that the results have a value for, in order */
	struct stair_point points[STAIRCASE_POINTS];  /* sizes rise */
	unsigned count, points_count;
	int64_t end;               /* bytes: the picture's right end */
	int64_t top;               /* the power of two of cycles, in thousandths, that is below none of them: its upper end */
};

/* False: the results have neither a step nor a point. */
bool staircase_of(const struct document *d, struct staircase *s);

#endif
