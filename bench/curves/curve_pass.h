/* bench/curves/curve_pass.h: shared by curve.c (points, and the value derived from them) and curve_knee.c (values at the last point before
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
	uint32_t iterations;          /* iterations of the shorter window */
	bool at_least;                /* of CURVE_PAIRS: the pairs' first lines waited for each other */
	bool pair_stays;              /* the pair prefetcher fetches lines although it was switched off */
	bool disturbed;               /* every attempt at a sample was disturbed */
	bool pieces;                  /* the DTLB keeps large pages in pieces */
	const char *limit;            /* why the knee is not that of the row's buffer; NULL: it is */
	bool limited;                 /* because another structure was full first */
	int64_t tick_micro;           /* core cycles per TSC tick, in millionths, if there is no cycle counter */
	int64_t counts[ROW_PROOFS_MAX], units, tsc, cycles_milli; /* of all samples */
	int64_t spread_milli, spread_of_milli; /* deviation of a point's samples, and the time about which they scatter */
};

#define CURVE_PASSES_MAX 16u            /* upper limit of passes over an L3 ring before the first point */
#define CURVE_SETTLED_PART 2000u        /* settled: a pass is shorter than the one before by less than 1/N */
/* curve_ring.c: the ring and the room for the code; *out gets their sizes, or the reason. ST_MISSING: a size that it needs is not known;
 * ST_UNSUPPORTED: the machine has no such level, or it is too small. */
MUST_CHECK enum status curve_set_up(struct pass *p, struct row_result *out);
/* Distance between regions, in lines, where a node has a line in each. A size row's nodes are whole regions apart as well: closer nodes hit each other's open DRAM pages, less often
 * the more regions an iteration uses. */
uint32_t curve_region_lines(const struct row_curve *c, uint64_t bytes);
/* Beyond the ring lie the page of the fillers' line and, for rows that find out what was full, as many lines as displace those of an L1. */
#define CURVE_HOT_OFFSET (9 * 64u) /* of the fillers' line: its low address bits differ from those of a node's lines */
uint64_t curve_limit_bytes(const struct cpu *cpu, const struct row_curve *c);
/* Brings the numbers of CURVE_BESIDE into the level that shall answer their loads. */
MUST_CHECK enum status curve_limit_prepare(struct pass *p);
/* Whether the fill buffers, and nothing else, were full at a knee of that many misses: p->limit, p->limited. `one`: a single miss. */
MUST_CHECK enum status curve_limit(struct pass *p, uint32_t misses, int64_t one);
/* Measures a point of another curve on the same ring without recording it. *brought, if given: lines that arrived. */
MUST_CHECK enum status curve_other_point(struct pass *p, const struct row_curve *curve, uint32_t x, int64_t *iteration_milli, int64_t *brought);
/* Runs a kernel with these arguments. */
MUST_CHECK enum status curve_run(struct loop *l, const char *kernel, uint64_t a, uint64_t b, uint64_t c);
/* Whether the DTLB keeps large pages in pieces of 4 KiB, by CPUID or by a ring of its own, which is measured once. */
bool curve_in_pieces(struct bench *b);
/* Measures one point and records it: thousandths of a cycle per iteration. */
MUST_CHECK enum status curve_point(struct pass *p, uint32_t x, int64_t *iteration_milli);
/* The last x at which the two misses overlap, plus `both` (struct row_curve). ST_MISSING: they do even at the highest x; ST_RANGE: no clear knee. */
MUST_CHECK enum status curve_knee(struct pass *p, int64_t *value_milli);
/* CURVE_PAIRS: the last x at which the other lines of all pairs arrive with the first ones; with p->at_least, at which the first ones do not
 * wait for each other. ST_UNSUPPORTED: no other line is fetched; ST_RANGE: no clear knee. */
MUST_CHECK enum status curve_pairs(struct pass *p, int64_t *value_milli);

#endif
