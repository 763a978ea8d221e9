/* bench/multicore/vector_width.h: which width of vectors a stream is fastest with. */
#ifndef BENCH_WIDTH_H
#define BENCH_WIDTH_H

#include "bench/multicore/multicore.h"

#define WIDTHS_MOST 4u
#define TRIES_MOST 31u

struct trial {
	const struct kernel *kernel[WIDTHS_MOST]; /* the widest first */
	int64_t ticks[WIDTHS_MOST][TRIES_MOST], median[WIDTHS_MOST];
	unsigned count, tries;
	uint64_t start; /* TSC */
	bool wanted;
};

/* That with the least median (sorts the ticks): the widest, where no other is faster by more than a hundredth. */
const struct kernel *width_fastest(struct trial *t);
/* Of a stream whose row has kernels of several widths, on a real processor: they run by turns in the loop's mapped arrays, the fastest is the
 * loop's from then on, and *out names it. Else nothing is done. */
MUST_CHECK enum status vector_width_choose(struct loop *l, struct row_result *out);
/* The same of the first n members, warmed up, once a row. */
MUST_CHECK enum status vector_width_choose_multicore(struct multicore *c, unsigned n, struct row_result *out);

#endif
