/* bench/measure/vector_width.c: chooses the vector width and the offset between the arrays with which a stream is fastest.
 *
 * A row's kernels differ only in vector width, and triads in whether product and sum are one instruction: an iteration touches the same bytes of
 * the same arrays. The widest is not always the fastest: a core whose loads run far ahead of its stores may disturb its own prefetchers (an AMD
 * EPYC of family 25, model 17, triad in DRAM: 16 bytes 23.8, 32 bytes 23.1, 64 bytes 18.2 GB/s, medians of seven). Nor is one offset between
 * arrays the best everywhere. Half a page and a line keeps loads from meeting stores in the low twelve address bits, which costs Intel's cores a
 * replay each; the same EPYC's L2 is faster by 2 % if the arrays begin at the same offset in a page (112.0 instead of 109.6 GB/s, medians of
 * eleven). In the L1 and the L2 that is tried as well. So real processors run windows of each choice alternately over the same memory.
 *
 * A simulated processor takes the first kernel, the widest with separate multiplication and addition: its expected value is computed for one
 * kernel. */
#include "bench/measure/vector_width.h"

#define TRIES_LEAST 5u
#define TRY_TSC_DIVISOR 40u /* a trial ends after a fortieth of a second */
#define NARROWER_PART 100u  /* another choice must be faster by 1/N, so that ties go to the widest */

bool vector_width_is_chosen(const struct row *r)
{
	return r->prefetch == PREFETCH_AS_FOUND && (r->order == ORDER_STREAMS || r->order == ORDER_MULTICORE || r->order == ORDER_NODES);
}

void vector_width_begin(struct trial *t, const struct bench *b, const struct row *r, uint32_t arrays)
{
	memset(t, 0, sizeof(*t));
	if (b->a->kind == ACCESS_SIM || !vector_width_is_chosen(r))
		return;
	/* In memory and in a last level of slices, address hashes spread the lines whatever their offset. */
	const bool offsets = arrays > 1 && (r->target == TARGET_L1 || r->target == TARGET_L2);
	for (unsigned aligned = 0; aligned <= offsets; aligned++)
		for (unsigned i = 0; i < WIDTHS_MOST && r->kernels[i]; i++) {
			const struct kernel *k = kernel_find(r->kernels[i]);

			if (k && (k->isa & ~b->cpu->isa) == 0 && kernel_is_wanted(r, k->name, b->kernels))
				t->choice[t->count++] = (struct stream_choice){ .kernel = k, .aligned = aligned };
		}
	t->wanted = t->count > 1 && b->a->ops->rdtsc(b->a->self, b->core, &t->start) == ST_OK;
}

bool vector_width_goes_on(const struct trial *t, const struct bench *b)
{
	uint64_t now;

	if (t->tries >= TRIES_MOST)
		return false;
	return t->tries < TRIES_LEAST || (b->a->ops->rdtsc(b->a->self, b->core, &now) == ST_OK && now - t->start < b->a->tsc_hz / TRY_TSC_DIVISOR);
}

unsigned vector_width_choice(const struct trial *t, unsigned i) { return (t->tries + i) % t->count; }

const struct stream_choice *vector_width_fastest(struct trial *t)
{
	unsigned best = 0;

	for (unsigned i = 0; i < t->count; i++) {
		t->median[i] = reduce_median(t->ticks[i], t->tries);
		if (i && t->median[i] < t->median[best] - t->median[0] / NARROWER_PART * (best == 0))
			best = i;
	}
	return &t->choice[best];
}

void vector_width_set(struct working_set *w, const struct stream_choice *choice)
{
	w->kernel = choice->kernel;
	w->shape.aligned = choice->aligned;
}

enum status vector_width_choose(struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;
	struct working_set *w = &l->sets[0];
	struct trial t;
	enum status st;

	vector_width_begin(&t, b, l->row, w->shape.arrays);
	if (!t.wanted)
		return ST_OK;
	st = window_warm_up(b, l->row, w, WINDOW_TEST, &l->job);
	for (; st == ST_OK && vector_width_goes_on(&t, b); t.tries++)
		for (unsigned i = 0; i < t.count && st == ST_OK; i++) {
			const uint64_t units = w->shorter + w->window;
			const unsigned whose = vector_width_choice(&t, i);
			struct window window;

			vector_width_set(w, &t.choice[whose]);
			st = window_prepare(b, l->row, w, WINDOW_TEST, units, &l->job);
			if (st == ST_OK)
				st = window_units(b, w, units, NULL, 0, &window, &l->job);
			t.ticks[whose][t.tries] = st == ST_OK ? (int64_t)window.tsc : 0;
		}
	if (st != ST_OK)
		return st;
	vector_width_set(w, vector_width_fastest(&t));
	out->kernel = w->kernel->name;
	return ST_OK;
}
