/* tests/expect/expect_multicore.c: one core or several of a socket that run a stream, from where and how long, and what is looked at.
 *
 * Which port an operation takes in turn, how far ahead a prefetcher is and whose row is open may go on for good as they began, so it is done from
 * several starts. Instructions go as expect_follow.c says, always that of the core whose next one asks first. */
#include "tests/expect/follow_crowd.h"

#include <stdlib.h>
#include <string.h>

#define TURNS_BEFORE 128u
#define TURNS_NEAR 256u      /* L1 and L2 */
#define TURNS_FAR 512u
#define TURNS_MEMORY 2048u   /* of one core; half of them are about what a window of the rows has */
#define TURNS_MARK 64u
#define WINDOW_NEAR 128u     /* of a row of one core in the L2, simulated: what the longer one has more than the shorter */
#define WINDOW_FAR 256u      /* in the L3 */
#define MARKS_MOST (TURNS_MEMORY / TURNS_MARK + 1)
#define TURNS_RANDOM 4u      /* times as many where a cache's ways are chosen at random: what it writes back differs from turn to turn */
#define STARTS 16u
#define PREFETCH_L1 12u      /* prefetch.present: the next line's and that of strides */
#define TURNS_APART 32u      /* in which loads, and stores where there are none, come late at random, and so much further on in memory */
#define CYCLES_APART 5u
#define LINES_APART 32771u
#define STARTS_CORES 3u      /* of several cores */
#define TURNS_TOGETHER 256u  /* of a window; half as many before */
#define STARTS_APART 5u      /* cycles from one core's beginning to the next's, in each start so many more */
#define CORE_BYTES ((1ull << 36) + 4096) /* from one core's arrays to the next's: other sets, the same places of pages */
#define CORE_LINES 1000003u              /* the same in memory: other channels and banks */
#define CORE_LINES_SAME (1u << 20)       /* or the same ones, in other rows */
#define PAGE_BYTES (1ull << 21)          /* of the rows' arrays */

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

void follow_multicore_close(struct multicore *w)
{
	for (unsigned i = 0; i < w->f.cores; i++) {
		if (w->core[i] && w->core[i]->lines)
			lines_close(w->core[i]->lines);
		free(w->core[i]);
	}
	free(w);
}

/* Where the arrays of core i begin in memory, in lines. In memory all cores' lie in large pages behind each other. */
static uint64_t start_offset(const struct multicore *w, unsigned arrays, unsigned i)
{
	const uint64_t pages = ((arrays - 1) * w->distance + w->f.array_bytes + PAGE_BYTES - 1) / PAGE_BYTES;

	if (w->f.turns)
		return (1 + w->start + i * pages) * PAGE_BYTES / 64 - i * CORE_BYTES / 64;
	return w->start * LINES_APART + i * (1 + (w->start % 2 ? CORE_LINES_SAME : CORE_LINES)); /* 1: other slices and channels */
}

struct multicore *follow_multicore_open(struct machine_text *t, const struct follow_cores *f, uint64_t first, unsigned start)
{
	const unsigned arrays = follow_arrays(f->stream);
	struct multicore *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->f = *f;
	w->start = start;
	w->distance = f->array_bytes + (f->filled ? f->skew_bytes : FOLLOW_APART_BYTES);
	w->n = follow_ops(t, f->stream, f->nontemporal, w->ops);
	for (unsigned i = 0; i < f->cores; i++) {
		const struct lines_shape shape = { .level = f->level, .arrays = arrays, .cores = f->cores, .stored = f->stream != FOLLOW_READ,
			.nontemporal = f->nontemporal, .remote = f->remote, .cold = f->turns && !f->filled, .array_bytes = f->array_bytes, .distance = w->distance, .base = i * CORE_BYTES,
			.first = first, .begins = start_offset(w, arrays, i) };

		w->core[i] = follow_core_of(t, follow_loop(t, f->stream));
		if (w->core[i] && !t->missing)
			w->core[i]->lines = lines_open(t, &shape, i ? w->core[i - 1]->lines : NULL, f->of_l2 && i % f->of_l2);
		if (!w->core[i] || !w->core[i]->lines) {
			follow_multicore_close(w);
			return NULL;
		}
		w->core[i]->above = ~0u << start;
	}
	return w;
}

/* That whose next instruction asks first, of those that have not done so many iterations; who asks in the same cycle as another goes on. As many as there are: all have. */
static unsigned multicore_next(const struct multicore *w, unsigned turns)
{
	unsigned next = w->f.cores;

	for (unsigned i = 0; i < w->f.cores; i++)
		if (w->done[i] < turns && (next == w->f.cores || w->asks[i] < w->asks[next] || (i == w->last && w->asks[i] == w->asks[next])))
			next = i;
	return next;
}

/* Before which cycle none of those asks for anything that have not done so many iterations. */
static uint64_t multicore_behind(const struct multicore *w, unsigned turns)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < w->f.cores; i++)
		if (w->done[i] < turns && w->core[i]->alloc < first)
			first = w->core[i]->alloc;
	return first;
}

/* The next instruction of core i, of an iteration at byte `at` of its arrays, of so many. Returns whether it was the iteration's last one. */
static bool multicore_step(struct multicore *w, unsigned i, uint64_t at, unsigned turns)
{
	struct core *c = w->core[i];

	w->last = i;
	if (!w->at[i]) {
		lines_forget(c->lines, c->alloc, multicore_behind(w, turns));
		front_turn(&c->front);
	}
	follow_step(c, &w->ops[w->at[i]], w->f.nontemporal, at, i * CORE_BYTES, w->distance, follow_vector_bytes(c->t));
	const bool last = ++w->at[i] == w->n;

	w->at[i] = last ? 0 : w->at[i];
	w->done[i] += last;
	w->asks[i] = follow_asks(c, &w->ops[w->at[i]], w->f.nontemporal);
	return last;
}

/* Whether what comes or goes within some turns of one core's stream is up to chance: modified lines that an L1 gives up at random keep the L2's
 * port, and lines that such an L2 gives up keep the L3's slices. Clean ones do where the L3 takes them, too. */
static bool by_chance(struct machine_text *t, const struct follow_cores *f)
{
	const bool stored = f->stream != FOLLOW_READ, of_l1 = machine_field(t, "l1d", "policy") == 2, of_l2 = machine_field(t, "l2", "policy") == 2;

	return f->cores == 1 && ((f->level & 2 && of_l1 && stored && machine_field(t, "l2", "busy_cycles")) ||
	                         (f->level == 3 && of_l2 && (stored || !machine_field(t, "l3", "inclusive"))));
}

/* When all have done so many iterations, and each TURNS_MARK more; how many of these marks come behind the first. 0: a field is missing. */
static unsigned followed(struct machine_text *t, const struct follow_cores *f, unsigned start, uint64_t marks[MARKS_MOST])
{
	const unsigned turns = (f->level == 4 && f->cores == 1 ? TURNS_MEMORY : f->level > 2 ? TURNS_FAR : TURNS_NEAR) * (by_chance(t, f) ? TURNS_RANDOM : 1);
	/* in memory not where an array has just begun anew: what the caches give up then comes from its end, in other rows of memory */
	/* in the L2 once past its end before: what is fetched ahead from behind it is there from then on */
	/* in the L3 all over the array: behind its beginning the L2 gives up lines of its end, in other slices than elsewhere */
	const uint64_t round = f->array_bytes / 256, near = f->level == 2 && round > TURNS_BEFORE * 3 / 4 ? round - TURNS_BEFORE * 3 / 4 : 0;
	const uint64_t first = start * 5 + (f->level == 4 ? round / 2 : f->level == 3 ? start * round / STARTS : near);
	/* nor is it certain that the caches hold the lines just before */
	const uint64_t before = f->level == 4 && start % 8 >= 4 ? f->array_bytes / 1024 : 0;
	struct multicore *w = follow_multicore_open(t, f, 4 * first - before, start);
	unsigned i;

	if (!w)
		return 0;
	memset(marks, 0, MARKS_MOST * sizeof(*marks));
	for (i = 0; i < f->cores; i++)
		w->asks[i] = w->core[i]->alloc = start * CYCLES_APART; /* in other cycles of a turn of slices and channels */
	while ((i = multicore_next(w, TURNS_BEFORE + turns)) < f->cores) {
		struct core *c = w->core[i];

		c->late = w->done[i] < TURNS_APART ? 2 * start * (f->level > 2 ? 16 : 1) : 0;
		/* a large store buffer holds some hundred iterations */
		if (multicore_step(w, i, 256ull * (first + w->done[i]) % f->array_bytes, TURNS_BEFORE + turns) && w->done[i] >= TURNS_BEFORE && w->done[i] % TURNS_MARK == 0) {
			uint64_t *mark = &marks[(w->done[i] - TURNS_BEFORE) / TURNS_MARK];

			*mark = later(*mark, later(c->retire, c->commit));
		}
	}
	follow_multicore_close(w);
	return turns / TURNS_MARK;
}

uint64_t follow_start_milli(struct machine_text *t, const struct follow_cores *f, unsigned start, uint64_t *half)
{
	uint64_t marks[MARKS_MOST];
	const unsigned n = followed(t, f, start, marks);

	*half = n ? 1000 * (marks[n / 2] - marks[0]) / (n / 2 * TURNS_MARK) : 0;
	return n ? 1000 * (marks[n] - marks[0]) / (n * TURNS_MARK) : 0;
}

/* Of one start the least and the most that a row's windows may see: they are shorter than what is followed, and may be over before a rhythm is
 * found that stays, or have a part of a slow one. What comes by chance they are longer and repeated for. */
static void of_windows(struct machine_text *t, const struct follow_cores *f, unsigned start, uint64_t *least, uint64_t *most)
{
	uint64_t marks[MARKS_MOST];
	const unsigned n = followed(t, f, start, marks), window = f->cores > 1 || f->level % 3 == 1 ? n : by_chance(t, f) ? TURNS_FAR / TURNS_MARK : f->level == 2 ? WINDOW_NEAR / TURNS_MARK : WINDOW_FAR / TURNS_MARK;

	*least = n ? *least : 0;
	for (unsigned i = 0; n && i + window <= n; i++) {
		const uint64_t milli = 1000 * (marks[i + window] - marks[i]) / (window * TURNS_MARK);

		*least = milli < *least ? milli : *least;
		*most = later(*most, milli);
	}
}

uint64_t follow_multicore_window(struct multicore *w, uint64_t from, unsigned turns, uint64_t t)
{
	uint64_t end = t;
	unsigned i;

	for (i = 0; i < w->f.cores; i++) {
		w->done[i] = 0;
		w->asks[i] = w->core[i]->alloc = t + (w->f.turns ? 0 : i * w->start * STARTS_APART);
		w->core[i]->slots = 0;
		w->core[i]->random = i; /* each window begins as the others do */
		if (w->f.turns && !w->f.filled)
			lines_flush(w->core[i]->lines);
	}
	while ((i = multicore_next(w, turns)) < w->f.cores) {
		w->core[i]->late = !w->f.turns && w->done[i] < TURNS_TOGETHER / 4 ? w->start / 2 * 16 : 0;
		if (multicore_step(w, i, (w->place[i] + 256 * (from + w->done[i])) % w->f.array_bytes, turns) && w->done[i] == turns)
			end = later(end, later(later(w->core[i]->retire, w->core[i]->commit), lines_past_done(w->core[i]->lines)));
	}
	return end + BETWEEN_CYCLES;
}

/* As the rows have it: windows of n and 2n iterations, each until the last core has ended. */
static uint64_t once_together(struct machine_text *t, const struct follow_cores *f, unsigned start)
{
	const unsigned n = TURNS_TOGETHER;
	const uint64_t first = start * 5;
	struct multicore *w = follow_multicore_open(t, f, 4 * first, start);

	if (!w)
		return 0;
	const uint64_t before = follow_multicore_window(w, first, n / 2, BETWEEN_CYCLES), middle = follow_multicore_window(w, first + n / 2, n, before);
	const uint64_t end = follow_multicore_window(w, first + n / 2 + n, 2 * n, middle);

	follow_multicore_close(w);
	return 1000 * ((end - middle) - (middle - before)) / n;
}

static bool of_starts(struct machine_text *t, const struct follow_cores *f, unsigned starts, uint64_t *least, uint64_t *most)
{
	*least = UINT64_MAX;
	*most = 0;
	for (unsigned start = 0; start < starts && !t->missing; start++) {
		if (f->cores == 1 || f->level <= 2) {
			of_windows(t, f, start, least, most);
			continue;
		}
		const uint64_t milli = once_together(t, f, start);

		*least = milli < *least ? milli : *least;
		*most = later(*most, milli);
	}
	return !t->missing && *least;
}

bool follow_milli(struct machine_text *t, const struct follow_cores *f, uint64_t *least, uint64_t *most)
{
	uint64_t drawn_least, drawn_most;

	if (f->level < 2 || f->level > 3)
		return of_starts(t, f, STARTS, least, most);
	if (!windows_milli(t, f, least, most))
		return false;
	if (f->level == 2 && !(machine_field(t, "prefetch", "present") & PREFETCH_L1))
		return true;
	/* what prefetchers of the L1 know of a loop as its window begins is up to the code between two windows, whose loads take their entries; in the L3 a
	 * window may find a rhythm of its own, or have that which stays */
	if (!of_starts(t, f, STARTS, &drawn_least, &drawn_most))
		return false;
	*least = drawn_least < *least ? drawn_least : *least;
	*most = later(*most, drawn_most);
	return true;
}

bool follow_cores_milli(struct machine_text *t, const struct follow_cores *f, uint64_t *least, uint64_t *most)
{
	if (!f->cores || f->cores > CORES_MOST)
		return false;
	return f->turns ? places_milli(t, f, least, most) : of_starts(t, f, STARTS_CORES, least, most);
}
