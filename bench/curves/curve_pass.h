/* bench/curves/curve_pass.h: what the files of curves share: curve.c (points, and how they become a value), curve_knee.c (the
 * points of which a value is the last one before a knee). */
#ifndef BENCH_CURVE_PASS_H
#define BENCH_CURVE_PASS_H

#include "bench/curves/curve.h"

struct pass {
	struct bench *b;
	const struct row *row;
	const struct row_curve *curve;
	struct loop loop;             /* its one working set: ring and code */
	struct row_result *out;
	uint32_t lines;               /* a node; of CURVE_SPREAD, from one region to the next */
	uint32_t turns;               /* in the shorter window */
	bool at_least;                /* the fill buffers were full first */
	bool pair_stays;              /* the prefetcher of pairs brings lines when it is said to be off */
	bool disturbed;               /* each try of a sample was */
	int64_t tick_micro;           /* cycles a TSC tick, in millionths, without a cycle counter */
	int64_t counts[ROW_PROOFS_MAX], units, tsc, cycles_milli; /* of all samples */
	int64_t spread_milli, spread_of_milli; /* of a point's samples, and the turn that they are of */
};

/* Measures one point and notes it: thousandths of a cycle a turn. */
MUST_CHECK enum status curve_point(struct pass *p, uint32_t x, int64_t *turn_milli);
/* The last x at which a turn does not take half as long again as with one filler; ST_MISSING up to the most. */
MUST_CHECK enum status curve_knee(struct pass *p, int64_t *value_milli);
/* CURVE_PAIRS: the last x at which the other lines of all pairs come together with the first ones, or at which the first ones
 * need not wait for each other, with p->at_least. ST_UNSUPPORTED: no other line is brought; ST_RANGE: no clear knee. */
MUST_CHECK enum status curve_pairs(struct pass *p, int64_t *value_milli);

#endif
