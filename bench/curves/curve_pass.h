/* bench/curves/curve_pass.h: shared by curve.c (points, and how a value follows from them) and curve_knee.c (values that are the last point before
 * a knee). */
#ifndef BENCH_CURVE_PASS_H
#define BENCH_CURVE_PASS_H

#include "bench/curves/curve.h"

struct pass {
	struct bench *b;
	const struct row *row;
	const struct row_curve *curve;
	struct loop loop;             /* with one working set: ring and code */
	struct row_result *out;
	uint32_t lines;               /* of a node; CURVE_SPREAD: from one region to the next */
	uint32_t turns;               /* iterations of the shorter window */
	bool at_least;                /* the fill buffers were full first */
	bool pair_stays;              /* the pair prefetcher fetches lines although it was switched off */
	bool disturbed;               /* every attempt at a sample was */
	int64_t tick_micro;           /* core cycles per TSC tick, in millionths, if there is no cycle counter */
	int64_t counts[ROW_PROOFS_MAX], units, tsc, cycles_milli; /* of all samples */
	int64_t spread_milli, spread_of_milli; /* of a point's samples, and the time that they scatter about */
};

/* Measures one point and records it: thousandths of a cycle per iteration. */
MUST_CHECK enum status curve_point(struct pass *p, uint32_t x, int64_t *turn_milli);
/* The last x at which an iteration takes less than 1.5 times as long as with one filler; ST_MISSING: even at the highest x. */
MUST_CHECK enum status curve_knee(struct pass *p, int64_t *value_milli);
/* CURVE_PAIRS: the last x at which the other lines of all pairs arrive with the first ones; with p->at_least, at which the first ones do not
 * wait for each other. ST_UNSUPPORTED: no other line is fetched; ST_RANGE: no clear knee. */
MUST_CHECK enum status curve_pairs(struct pass *p, int64_t *value_milli);

#endif
