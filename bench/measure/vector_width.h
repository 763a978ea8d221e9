/* bench/measure/vector_width.h: chooses the vector width and the offset between the arrays with which a stream is fastest. */
#ifndef BENCH_WIDTH_H
#define BENCH_WIDTH_H

#include "bench/measure/loop.h"

#define WIDTHS_MOST 7u
#define CHOICES_MOST (2 * WIDTHS_MOST)
#define TRIES_MOST 31u

struct stream_choice {
	const struct kernel *kernel;
	bool aligned; /* of the shape: the arrays begin at the same offset in a page */
};

struct trial {
	struct stream_choice choice[CHOICES_MOST]; /* the widest first, those with the shape's own offset before the aligned ones */
	int64_t ticks[CHOICES_MOST][TRIES_MOST], median[CHOICES_MOST];
	unsigned count, tries;
	uint64_t start; /* TSC */
	bool wanted;
};

/* Whether a row's kernels are alternatives: those of streams. */
bool vector_width_is_chosen(const struct row *r);
/* Sets up the choices to try; `wanted` stays false when there is only one. `arrays`: those that the row's kernels use. */
void vector_width_begin(struct trial *t, const struct bench *b, const struct row *r, uint32_t arrays);
/* Whether to run another round: rounds share a time limit, but a minimum number always runs. */
bool vector_width_goes_on(const struct trial *t, const struct bench *b);
/* Index of the i-th choice of a round: rounds rotate the choice that runs first. */
unsigned vector_width_choice(const struct trial *t, unsigned i);
/* The choice with the least median (sorts the ticks). The first wins unless another is faster by more than a hundredth. */
const struct stream_choice *vector_width_fastest(struct trial *t);
/* Gives a working set the kernel and the offset. */
void vector_width_set(struct working_set *w, const struct stream_choice *choice);
/* On a real processor, for a stream with such a choice: runs them alternately over the loop's mapped arrays, gives the loop
 * the fastest and names its kernel in *out. Otherwise does nothing. */
MUST_CHECK enum status vector_width_choose(struct loop *l, struct row_result *out);

#endif
