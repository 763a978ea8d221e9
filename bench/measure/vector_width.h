/* bench/measure/vector_width.h: which width of vectors a stream is fastest with. */
#ifndef BENCH_WIDTH_H
#define BENCH_WIDTH_H

#include "bench/measure/loop.h"

#define WIDTHS_MOST 4u
#define TRIES_MOST 31u

struct trial {
	const struct kernel *kernel[WIDTHS_MOST]; /* the widest first */
	int64_t ticks[WIDTHS_MOST][TRIES_MOST], median[WIDTHS_MOST];
	unsigned count, tries;
	uint64_t start; /* TSC */
	bool wanted;
};

/* Which kernels are tried; `wanted` stays false where nothing is to be tried. */
void vector_width_begin(struct trial *t, const struct bench *b, const struct row *r);
/* Whether another round is to be run: all of them within a time, but never less than a few. */
bool vector_width_goes_on(const struct trial *t, const struct bench *b);
/* Of a round the i-th to be run: each has its turn at the beginning. */
unsigned vector_width_turn(const struct trial *t, unsigned i);
/* That with the least median (sorts the ticks): the widest, where no other is faster by more than a hundredth. */
const struct kernel *vector_width_fastest(struct trial *t);
/* Of a stream whose row has kernels of several widths, on a real processor: they run by turns in the loop's mapped arrays, the fastest is the
 * loop's from then on, and *out names it. Else nothing is done. */
MUST_CHECK enum status vector_width_choose(struct loop *l, struct row_result *out);

#endif
