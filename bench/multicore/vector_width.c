/* bench/multicore/vector_width.c: which width of vectors a stream is fastest with.
 *
 * A row's kernels differ in it alone: the same bytes of the same arrays an iteration. The widest is not always the fastest: a core whose loads
 * run far ahead of its stores may get in the way of its own prefetchers (an AMD EPYC of family 25, model 17, triad in memory: 16 bytes 23.8,
 * 32 bytes 23.1, 64 bytes 18.2 GB/s, medians of seven). So on real processors windows of each, by turns over the same arrays, decide.
 *
 * A simulated processor takes the widest: what it is expected to find is that of one kernel, and which is the fastest is in its file. */
#include "bench/multicore/vector_width.h"

#include "bench/multicore/multicore_buffers.h"

#define TRIES_LEAST 5u
#define TRY_TSC_DIVISOR 40u /* a trial ends after a fortieth of a second */
#define NARROWER_PART 100u  /* by which a narrower one must be faster: equals stay the widest */

static void trial_begin(struct trial *t, const struct bench *b, const struct row *r)
{
	memset(t, 0, sizeof(*t));
	if (b->a->kind == ACCESS_SIM || r->prefetch != PREFETCH_AS_FOUND || (r->order != ORDER_STREAMS && r->order != ORDER_MULTICORE && r->order != ORDER_NODES))
		return;
	for (const char *const *name = r->kernels; *name && t->count < WIDTHS_MOST; name++) {
		const struct kernel *k = kernel_find(*name);

		if (k && (k->isa & ~b->cpu->isa) == 0)
			t->kernel[t->count++] = k;
	}
	t->wanted = t->count > 1 && b->a->ops->rdtsc(b->a->self, b->core, &t->start) == ST_OK;
}

/* Whether another round is to be run: all of them within a time, but never less than a few. */
static bool trial_goes_on(const struct trial *t, const struct bench *b)
{
	uint64_t now;

	if (t->tries >= TRIES_MOST)
		return false;
	return t->tries < TRIES_LEAST || (b->a->ops->rdtsc(b->a->self, b->core, &now) == ST_OK && now - t->start < b->a->tsc_hz / TRY_TSC_DIVISOR);
}

/* Of a round the i-th to be run: each has its turn at the beginning. */
static unsigned whose_turn(const struct trial *t, unsigned i) { return (t->tries + i) % t->count; }

const struct kernel *width_fastest(struct trial *t)
{
	unsigned best = 0;

	for (unsigned i = 0; i < t->count; i++) {
		t->median[i] = samples_median(t->ticks[i], t->tries);
		if (i && t->median[i] < t->median[best] - t->median[0] / NARROWER_PART * (best == 0))
			best = i;
	}
	return t->kernel[best];
}

enum status vector_width_choose(struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;
	struct working_set *w = &l->sets[0];
	struct trial t;
	enum status st;

	trial_begin(&t, b, l->row);
	if (!t.wanted)
		return ST_OK;
	st = window_warm_up(b, l->row, w, true, &l->job);
	for (; st == ST_OK && trial_goes_on(&t, b); t.tries++)
		for (unsigned i = 0; i < t.count && st == ST_OK; i++) {
			const uint64_t units = w->shorter + w->window;
			const unsigned whose = whose_turn(&t, i);
			struct window window;

			w->kernel = t.kernel[whose];
			st = window_prepare(b, l->row, w, true, units, &l->job);
			if (st == ST_OK)
				st = window_units(b, w, units, NULL, 0, &window, &l->job);
			t.ticks[whose][t.tries] = st == ST_OK ? (int64_t)window.tsc : 0;
		}
	if (st != ST_OK)
		return st;
	w->kernel = width_fastest(&t);
	out->kernel = w->kernel->name;
	return ST_OK;
}

enum status vector_width_choose_multicore(struct multicore *c, unsigned n, struct row_result *out)
{
	const uint64_t units = (uint64_t)multicore_window(c) * multicore_times(c->row);
	enum status st = ST_OK;
	struct trial t;

	trial_begin(&t, c->b, c->row);
	if (!t.wanted || c->stream)
		return ST_OK;
	c->cold = multicore_pushes_wrapper(c, n);
	if (c->row->prepare == PREPARE_FLUSH)
		c->pair_bytes = units * c->members[0].set.shape.step_bytes;
	c->pairs = c->moves && !c->pairs ? 1 : c->pairs; /* multicore_give_back flushes that */
	for (; st == ST_OK && trial_goes_on(&t, c->b); t.tries++)
		for (unsigned i = 0; i < t.count && st == ST_OK; i++) {
			const unsigned whose = whose_turn(&t, i);
			bool together; /* one that did not begin so is one of many */

			for (unsigned m = 0; m < n; m++) {
				c->members[m].set.kernel = t.kernel[whose];
				c->members[m].units = units;
				if (c->moves)
					c->members[m].set.at = start_offset(c, m, 0);
			}
			if (c->row->target == TARGET_DRAM)
				st = multicore_flush(c, n);
			if (st == ST_OK)
				st = multicore_run(c, n, false, &together);
			t.ticks[whose][t.tries] = (int64_t)multicore_ticks(c, n);
		}
	if (st != ST_OK)
		return st;
	c->stream = width_fastest(&t);
	for (unsigned m = 0; m < n; m++)
		c->members[m].set.kernel = c->stream;
	out->kernel = c->stream->name;
	return ST_OK;
}
