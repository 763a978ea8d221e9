/* bench/curves/curve.h: rows whose value is found along a curve: the number of overlapping misses, the capacity of a buffer of the core. struct
 * row_curve describes the points. */
#ifndef BENCH_CURVE_H
#define BENCH_CURVE_H

#include "bench/measure/loop.h"

/* Measures the row into *out. Only the hook `value` is called. */
void curve_row(struct bench *b, const struct row *r, const struct loop_hooks *hooks, struct row_result *out);
/* curve_prepare brings the ring into its state before a window of `iterations`; curve_window runs them with the code at `code`, from the end of
 * the last window. */
MUST_CHECK enum status curve_prepare(struct loop *l, uint64_t iterations);
MUST_CHECK enum status curve_window(struct loop *l, uint64_t code, uint64_t iterations, struct window *out);
/* A JSON object. */
void curve_json(struct text *t, const struct curve *c);

/* --- curve_code.c ------------------------------------------------------------------------------ */

#define CURVE_NODE_BYTES 4096u   /* in memory */
#define CURVE_PAGE (4096u + 64u) /* from one load of CURVE_WALKS to the next: a page and a line, to spread them over the sets of the L1 */
#define CURVE_SINGLE 3968u       /* offset in a node of CURVE_PAIRS: the pair of which only one line is loaded */
#define CURVE_SENDS 8u           /* offset in a node of CURVE_TWICE: the load that requests the line */
#define CURVE_CODE_BYTES 0x4000u

/* The largest number of regions from which an iteration loads a line; 0: all lines lie in the node. */
static inline uint32_t curve_regions(const struct row_curve *c)
{
	return c->what == CURVE_SPREAD ? CURVE_REGIONS : c->what == CURVE_WINDOW && c->filler == FILLER_MISS ? c->most + 2u : 0;
}
/* Writes the code of point x, at most CURVE_CODE_BYTES; returns its length, 0 when it does not fit. `lines`: lines per node, or from one region
 * to the next. */
uint32_t curve_code(const struct row_curve *c, uint32_t x, uint32_t lines, uint8_t *code);
/* Offset in a node of the j-th further line of a point, j from 0; `lines`: lines per node, a power of two. */
uint32_t curve_line(uint32_t j, uint32_t lines);

#endif
