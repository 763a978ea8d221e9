/* bench/report/staircase.h: load-to-use latency against working-set size, as steps: each cache level answers up to its size with the latency of its
 * row (load.lN.latency), DRAM beyond (load.dram_local.latency).
 *
 * The latencies are measured; the sizes come from CPUID. If load.staircase.latency was measured, its points show the actual cost of sizes in
 * between. */
#ifndef BENCH_STAIRCASE_H
#define BENCH_STAIRCASE_H

#include "bench/results/document.h"

#define STAIRCASE_MOST 6u
#define STAIRCASE_FROM 1024   /* bytes: left end of the picture; the right end is eight times the last cache, or the largest size measured */
#define STAIRCASE_POINTS 32u

struct stair {
	const char *row, *status;
	unsigned level;            /* of the cache; 0: DRAM */
	int64_t from, to;          /* bytes */
	int64_t cycles_milli, ns_milli;
};

/* One size of load.staircase.latency at its smallest stride, which touches most of its lines. */
struct stair_point { int64_t bytes, cycles_milli; };

struct staircase {
	struct stair stairs[STAIRCASE_MOST];          /* the steps with a value in the results, in order */
	struct stair_point points[STAIRCASE_POINTS];  /* by ascending size */
	unsigned count, points_count;
	int64_t end;               /* bytes: right end of the picture */
	int64_t top;               /* the least power of two of cycles, in thousandths, that no step or point exceeds: its upper end */
};

/* False: the results have neither steps nor points. */
bool staircase_of(const struct document *d, struct staircase *s);

#endif
