/* tests/expect/expect_places.c: streams of several cores in memory, as means over places.
 *
 * As the rows have them, windows of n and 4n iterations begin anywhere in arrays that are far longer: where no cache holds a line, both at the same place
 * and at any line, else one behind the other and at any page. Who meets whom in memory's banks is chance, and a window keeps the rhythm that it
 * begins in; so a row is a mean over places, and what it is expected to be is the mean over as many as make it sure. */
#include "tests/expect/follow_crowd.h"

/* So many pairs of windows for each socket, until their mean is sure, its standard error 1 in PLACES_SURE; */
#define PLACES_LEAST 8u
#define PLACES_MOST 40u
#define PLACES_SURE 600u
/* and of the rows, whose mean may be off by so many standard errors by chance. */
#define ROW_LEAST 4u
#define ROW_MOST_COLD 16u
#define ROW_MOST_FILLED 8u
#define ROW_SURE 300u
#define ROW_ERRORS 3u
#define TIMES 4u             /* the longer window in shorter ones */
#define LEAD_TURNS 32u       /* where caches are full, iterations ahead of such a pair */
#define PARTS 16u            /* of what is for windows where caches are full: none gets a pair twice, which has room in one of them */
#define PAGE_BYTES 4096u

static uint64_t at_random(struct multicore *w, uint64_t below)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's MMIX */
	return (w->random >> 33) % below;
}

/* Each core's window begins with any line of its arrays that leaves room for the longer one. */
static void cold_places(struct multicore *w)
{
	const uint64_t lines = (w->f.array_bytes - 256ull * TIMES * w->f.turns) / 64;

	for (unsigned i = 0; i < w->f.cores; i++)
		w->place[i] = at_random(w, lines) * 64;
}

/* Windows of n and 4n iterations from the same places, each until the last core has ended; memory's rows are as windows elsewhere left them. */
static bool cold_start(struct machine_text *t, const struct follow_cores *f, unsigned start, uint64_t *shorter, uint64_t *longer)
{
	struct multicore *w = follow_multicore_open(t, f, 0, start);

	if (!w)
		return false;
	w->random = start + 1;
	cold_places(w);
	const uint64_t begin = follow_multicore_window(w, 0, f->turns, BETWEEN_CYCLES);

	cold_places(w);
	*shorter = follow_multicore_window(w, 0, f->turns, begin) - begin;
	*longer = follow_multicore_window(w, 0, TIMES * f->turns, begin + *shorter) - begin - *shorter;
	follow_multicore_close(w);
	return true;
}

/* A pair of the rows' windows behind each other, in the part whose turn it is and from any page that leaves room. */
static void filled_pair(struct multicore *w, unsigned pair, uint64_t *shorter, uint64_t *longer)
{
	const uint64_t part = w->f.places_bytes / PARTS, pages = (part - 256ull * (LEAD_TURNS + (1 + TIMES) * w->f.turns)) / PAGE_BYTES;
	uint64_t middle;

	w->random = w->start + 1;
	for (unsigned i = 0; i < w->f.cores; i++) {
		uint8_t order[PARTS] = { 0 };

		for (unsigned k = 0; k < PARTS; k++) { /* shuffled */
			const uint64_t other = at_random(w, k + 1);

			order[k] = order[other];
			order[other] = (uint8_t)k;
		}
		w->place[i] = w->f.array_bytes - w->f.places_bytes + order[pair] * part;
	}
	w->random = pair + w->start * PARTS + 2;
	for (unsigned i = 0; i < w->f.cores; i++)
		w->place[i] += at_random(w, pages) * PAGE_BYTES;
	w->time = follow_multicore_window(w, 0, LEAD_TURNS, w->time);
	middle = follow_multicore_window(w, LEAD_TURNS, w->f.turns, w->time);
	*shorter = middle - w->time;
	w->time = follow_multicore_window(w, LEAD_TURNS + w->f.turns, TIMES * w->f.turns, middle);
	*longer = w->time - middle;
}

/* One after the other on the same cores, until all parts have had one; then on others. *w: the cores, NULL at first. */
static bool filled_start(struct machine_text *t, const struct follow_cores *f, unsigned n, struct multicore **w, uint64_t *shorter, uint64_t *longer)
{
	const unsigned pair = 1 + n % (PARTS - 1);

	if (pair == 1) {
		if (*w)
			follow_multicore_close(*w);
		*w = follow_multicore_open(t, f, (f->array_bytes - f->places_bytes) / 64, n / (PARTS - 1));
		if (!*w)
			return false;
		(*w)->time = BETWEEN_CYCLES;
		filled_pair(*w, 0, shorter, longer); /* caches and rows are as windows elsewhere leave them */
	}
	filled_pair(*w, pair, shorter, longer);
	return true;
}

/* Of so many sockets, each as one of v's n windows, the last one to end: its mean, of which v, once sorted, tells as much as it can.
 * In thousandths. */
static uint64_t last_of(uint64_t *v, unsigned n, uint64_t sockets)
{
	uint64_t sum = 0, part = (sockets << 40) / n; /* the chance that the last one is number n, then that it is n - 1 ... */

	for (unsigned i = 1; i < n; i++)
		for (unsigned k = i; k && v[k] < v[k - 1]; k--) {
			const uint64_t other = v[k];

			v[k] = v[k - 1];
			v[k - 1] = other;
		}
	for (unsigned i = n; i >= sockets && i; i--) {
		sum += (uint64_t)(((unsigned __int128)(v[i - 1] - v[0]) * 1000 * part) >> 40);
		part = i > 1 ? part * (i - sockets) / (i - 1) : 0;
	}
	return 1000 * v[0] + sum;
}

/* The standard deviation of what one pair of windows says where so many sockets have to end. */
static uint64_t last_deviation(const uint64_t *shorter, const uint64_t *longer, unsigned n, uint64_t sockets, uint64_t turns)
{
	uint64_t off[PLACES_MOST], squares[PLACES_MOST], least = UINT64_MAX;

	for (unsigned i = 0; i < n; i++) {
		off[i] = 1000 * (longer[i] - shorter[i]) / turns;
		least = off[i] < least ? off[i] : least;
	}
	for (unsigned i = 0; i < n; i++) {
		off[i] -= least;
		squares[i] = off[i] * off[i];
	}
	const uint64_t mean = last_of(off, n, sockets) / 1000, square = last_of(squares, n, sockets) / 1000;

	return square > mean * mean ? follow_root(square - mean * mean) : 0;
}

/* The mean of all starts, but for the row's own standard error. */
bool places_milli(struct machine_text *t, const struct follow_cores *f, uint64_t *least, uint64_t *most)
{
	uint64_t shorter[PLACES_MOST], longer[PLACES_MOST], squares = 0, mean = 0;
	const uint64_t turns = (TIMES - 1) * f->turns;
	/* each of the row's windows is one of every socket, of which the slowest counts: what one in ten does, these must meet, too */
	const unsigned few = PLACES_LEAST * f->sockets < PLACES_MOST ? PLACES_LEAST * f->sockets : PLACES_MOST;
	struct multicore *w = NULL;
	unsigned n = 0;

	for (bool sure = false; n < PLACES_MOST && !sure;) {
		uint64_t sum = 0;

		if (!(f->filled ? filled_start(t, f, n, &w, &shorter[n], &longer[n]) : cold_start(t, f, n, &shorter[n], &longer[n])))
			return false;
		n++;
		for (unsigned i = 0; i < n; i++)
			sum += longer[i] - shorter[i];
		mean = 1000 * sum / n / turns;
		squares = 0;
		for (unsigned i = 0; i < n; i++) {
			const int64_t off = (int64_t)(1000 * (longer[i] - shorter[i]) / turns) - (int64_t)mean;

			squares += (uint64_t)(off * off);
		}
		sure = n >= few && squares / n / n <= mean * mean / PLACES_SURE / PLACES_SURE;
	}
	if (w)
		follow_multicore_close(w);
	const uint64_t deviation = last_deviation(shorter, longer, n, f->sockets, turns), much = mean / ROW_SURE, row_most = f->filled ? ROW_MOST_FILLED : ROW_MOST_COLD;
	const uint64_t at_least = deviation * 1000 / follow_root(row_most * 1000000), at_most = deviation * 1000 / follow_root(ROW_LEAST * 1000000);
	const uint64_t error = ROW_ERRORS * (at_least > much ? at_least : at_most < much ? at_most : much);

	mean = (last_of(longer, n, f->sockets) - last_of(shorter, n, f->sockets)) / turns;
	*least = mean - error;
	*most = mean + error;
	return !t->missing && mean > error;
}
