/* tests/expect/expect_windows.c: streams of one core in the L2 and the L3, in windows as their rows have them.
 *
 * A window keeps the rhythm that it begins with, and begins as the one before has left the L1: with the wrapper's lines the latest of their sets, each of
 * which shifts the turns of loads and stores in its set for as many lines as that has ways. So windows of n and 2n iterations, one behind the other, are followed,
 * each from an empty pipeline on and with the wrapper's lines between them, and where they differ longer ones, as bench/measure/measure.c does. */
#include "tests/expect/follow_crowd.h"

#define WINDOW_TURNS 128u  /* of the shorter window, at least; as many more in the longer one */
#define STARTS 4u
#define PAIRS 7u           /* beside one that does not count */
#define PAIRS_MEAN 20u     /* where they differ still when the longer one has been doubled so often: */
#define DOUBLED 3u
#define SURE 300           /* the mean's standard error is more than such a part of it */
#define ERRORS 3

/* Thousandths of a cycle that an iteration takes by each pair. */
struct slopes { int64_t milli[PAIRS_MEAN]; unsigned n; };

static int64_t mean_of(const struct slopes *s, int64_t *error)
{
	int64_t sum = 0, squares = 0;

	for (unsigned i = 0; i < s->n; i++)
		sum += s->milli[i];
	const int64_t mean = sum / s->n;

	for (unsigned i = 0; i < s->n; i++)
		squares += (s->milli[i] - mean) * (s->milli[i] - mean);
	*error = (int64_t)follow_root((uint64_t)squares / (s->n - 1) / s->n);
	return mean;
}

/* One window of the stream, which goes on where the last one ended. The wrapper loads its arguments just before, so what the first addresses need comes as
 * late as that, or is there where its call is predicted wrongly; which of them is had first is a matter of ports. */
static uint64_t window(struct multicore *w, uint64_t *from, unsigned turns, unsigned start)
{
	struct core *c = w->core[0];
	const uint64_t ready = w->time + (start % 2 ? 0 : c->l1_cycles);

	c->ready[AT] = ready;
	for (unsigned i = 0; i < follow_arrays(w->f.stream); i++)
		c->ready[BASE + i] = ready + (start / 2 % 2 ? i : 0);
	const uint64_t end = follow_multicore_window(w, *from, turns, w->time), took = end - w->time;

	*from += turns;
	w->time = lines_wrapper(c->lines, start, end) + BETWEEN_CYCLES;
	return took;
}

/* So many pairs of windows, and one before that does not count. */
static void pairs_of(struct multicore *w, uint64_t *from, unsigned shorter, unsigned more, unsigned start, unsigned pairs, struct slopes *s)
{
	s->n = 0;
	for (unsigned pair = 0; pair <= pairs; pair++) {
		uint64_t took[2];

		for (unsigned i = 0; i < 2; i++) { /* either comes first */
			const unsigned longer = (i + pair) % 2;

			took[longer] = window(w, from, shorter + longer * more, start);
		}
		if (pair)
			s->milli[s->n++] = 1000 * ((int64_t)took[1] - (int64_t)took[0]) / (int64_t)more;
	}
}

/* Ports, and the wrapper's page in the sets of the caches, differ from start to start. */
static bool from_start(struct machine_text *t, const struct follow_cores *f, unsigned start, int64_t *least, int64_t *most)
{
	const uint64_t moved = 256 * follow_arrays(f->stream), l1_bytes = machine_field(t, "l1d", "bytes");
	struct multicore *w = follow_multicore_open(t, f, 0, 0);
	unsigned shorter = WINDOW_TURNS, longer = 0;
	uint64_t from = 0;
	struct slopes s;
	int64_t mean, error;

	if (!w)
		return false;
	while (shorter * moved < 2 * l1_bytes) /* it pushes the wrapper's lines out of the L1, too */
		shorter *= 2;
	w->core[0]->above = ~0u << start;
	w->time = BETWEEN_CYCLES;
	do {
		const bool last = longer > DOUBLED;

		pairs_of(w, &from, shorter, shorter << (last ? DOUBLED : longer), start, last ? PAIRS_MEAN : PAIRS, &s);
		mean = mean_of(&s, &error);
	} while (error > mean / SURE && longer++ <= DOUBLED);
	if (s.n == PAIRS_MEAN) /* the row is their mean, too */
		s = (struct slopes){ { mean - ERRORS * error, mean + ERRORS * error }, 2 };
	for (unsigned i = 0; i < s.n; i++) {
		*least = s.milli[i] < *least ? s.milli[i] : *least;
		*most = s.milli[i] > *most ? s.milli[i] : *most;
	}
	follow_multicore_close(w);
	return true;
}

bool windows_milli(struct machine_text *t, const struct follow_cores *f, uint64_t *least, uint64_t *most)
{
	int64_t low = INT64_MAX, high = 0;

	for (unsigned start = 0; start < STARTS; start++)
		if (!from_start(t, f, start, &low, &high))
			return false;
	*least = (uint64_t)low;
	*most = (uint64_t)high;
	return !t->missing && low > 0;
}
