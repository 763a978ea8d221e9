/* bench/curves/curve.h: rows whose value is found along a curve: how many misses overlap, where a buffer of the core is full. What a point
 * is stands at struct row_curve. */
#ifndef BENCH_CURVE_H
#define BENCH_CURVE_H

#include "bench/measure/loop.h"

/* Measures the row. Everything is in *out. Of `hooks` the one for a value is called. */
void curve_row(struct bench *b, const struct row *r, const struct loop_hooks *hooks, struct row_result *out);
/* Brings the ring into its state before a window of so many iterations; runs them, from where the last window ended, by the code
 * at `code`. */
MUST_CHECK enum status curve_prepare(struct loop *l, uint64_t iterations);
MUST_CHECK enum status curve_window(struct loop *l, uint64_t code, uint64_t iterations, struct window *out);
/* A JSON object. */
void curve_json(struct text *t, const struct curve *c);

/* --- curve_code.c ------------------------------------------------------------------------------ */

#define CURVE_NODE_BYTES 4096u   /* in memory */
#define CURVE_PAGE (4096u + 64u) /* from one load of CURVE_WALKS to the next: on by a page and a line, not all in one set of the L1 */
#define CURVE_SINGLE 3968u       /* where in a node of CURVE_PAIRS the pair lies of which one line alone is loaded */
#define CURVE_SENDS 8u           /* where in a node of CURVE_TWICE the load lies that sends for its line */
#define CURVE_CODE_BYTES 0x4000u

/* Of how many regions an iteration takes a line at most; 0: all lie in the node. */
static inline uint32_t curve_regions(const struct row_curve *c)
{
	return c->what == CURVE_SPREAD ? CURVE_REGIONS : c->what == CURVE_WINDOW && c->filler == FILLER_MISS ? c->most + 2u : 0;
}
/* Writes the code of point x, at most CURVE_CODE_BYTES; returns its length, 0 when it does not fit. `lines` a node; of
 * regions, from one to the next. */
uint32_t curve_code(const struct row_curve *c, uint32_t x, uint32_t lines, uint8_t *code);
/* Where in a node the j-th further line of point x lies, j from 0: `lines` lines a node, a power of two. */
uint32_t curve_line(uint32_t j, uint32_t lines);

#endif
