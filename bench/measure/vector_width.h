/* bench/measure/vector_width.h: chooses the vector width with which a stream is fastest. */
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

/* Sets up the kernels to try; `wanted` stays false when there is no choice. */
void vector_width_begin(struct trial *t, const struct bench *b, const struct row *r);
/* Whether to run another round: rounds share a time limit, but a minimum number always runs. */
bool vector_width_goes_on(const struct trial *t, const struct bench *b);
/* Index of the i-th kernel of a round: rounds rotate the kernel that runs first. */
unsigned vector_width_turn(const struct trial *t, unsigned i);
/* The kernel with the least median (sorts the ticks). The widest wins unless another is faster by more than a hundredth. */
const struct kernel *vector_width_fastest(struct trial *t);
/* On a real processor, for a stream whose row has kernels of several widths: runs them alternately over the loop's mapped arrays, gives the loop
 * the fastest and names it in *out. Otherwise does nothing. */
MUST_CHECK enum status vector_width_choose(struct loop *l, struct row_result *out);

#endif
