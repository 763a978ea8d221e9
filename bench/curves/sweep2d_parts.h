/* bench/curves/sweep2d_parts.h: shared by sweep2d.c (points, and the gather) and sweep2d_stairs.c (the staircase). */
#ifndef BENCH_SWEEP2D_PARTS_H
#define BENCH_SWEEP2D_PARTS_H

#include "bench/curves/sweep2d.h"

#define SWEEP2D_LINE 64u
#define SWEEP2D_ATTEMPTS 4u        /* measurements of a point, until one is quiet */

struct table {
	struct bench *b;
	struct loop loop;
	struct row_result *out;
	int64_t tick_micro;     /* core cycles per TSC tick, in millionths, if there is no cycle counter */
	int64_t counts[ROW_PROOFS_MAX]; /* sum over the last point's windows */
	int64_t events_micro[ROW_EVENTS_MAX]; /* the same for each event, per unit of work */
	int64_t spread_milli;   /* of the last point */
	int64_t tsc, cycles_milli; /* sums over all windows of the row */
	uint32_t *order;        /* scratch for a permutation */
	uint32_t nodes_most;
	bool disturbed;         /* every attempt was disturbed */
	bool noisy;             /* the last point stayed noisy */
	bool tlb;               /* the last point's loads miss the first-level data TLB */
	bool pieces;            /* large pages are kept in pieces of 4 KiB; measured only where misses are not counted */
	const struct expression *misses; /* misses of the first-level data TLB in the same plan; NULL: not counted */
};

/* Runs a kernel with these arguments. */
MUST_CHECK enum status sweep2d_run(struct table *p, const char *kernel, uint64_t a, uint64_t b, uint64_t c);
/* Prepares a window of `units`, and its arguments. */
typedef enum status sweep2d_before(struct table *p, uint64_t units, uint64_t arguments[6]);
/* Repeats until an attempt is quiet; otherwise takes the quietest above 0 and sets p->noisy. *unit_milli 0: none was above 0. */
MUST_CHECK enum status sweep2d_measure(struct table *p, const struct kernel *k, sweep2d_before *before, uint64_t n, int64_t *unit_milli);
/* Records a point; a time of 0 or less means no value. */
void sweep2d_note(struct table *p, uint32_t x, uint32_t y, int64_t milli);
/* Sets the row's verdict from its value and the counts per `unit`. */
void sweep2d_judge(struct table *p, int64_t value_milli, int64_t spread_milli, const int64_t *counts, const char *unit);

/* Adds misses of the first-level data TLB to the plan, if that needs no further run; otherwise finds out whether large pages are split. */
void sweep2d_stairs_watch(struct table *p);
MUST_CHECK enum status sweep2d_stairs(struct table *p);

#endif
