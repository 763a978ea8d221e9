/* tests/expect/expect_cold.c: streams of several cores in windows of which no cache holds a line.
 *
 * As the rows have them, windows of n and 4n iterations begin anywhere in arrays that are far longer. Who meets whom in memory's banks is chance, and
 * a window keeps the rhythm that it begins in; so a row is a mean over places, and what it is expected to be is the mean over as many as make it sure. */
#include "tests/expect/follow_crowd.h"

/* Windows without a line in a cache: so many starts, until their mean is sure, its standard error 1 in COLD_SURE; */
#define COLD_LEAST 8u
#define COLD_MOST 32u
#define COLD_SURE 600u
/* and of the rows, whose mean may be off by so many standard errors by chance. */
#define COLD_ROW_LEAST 4u
#define COLD_ROW_MOST 16u
#define COLD_ROW_SURE 300u
#define COLD_ERRORS 3u
#define COLD_TIMES 4u        /* the longer window in shorter ones */

/* Each core's window begins with any line of its arrays that leaves room for the longer one. */
static void cold_places(struct crowd *w)
{
	const uint64_t lines = (w->f.array_bytes - 256ull * COLD_TIMES * w->f.turns) / 64;

	for (unsigned i = 0; i < w->f.cores; i++) {
		w->random = w->random * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's MMIX */
		w->place[i] = (w->random >> 33) % lines * 64;
	}
}

/* Windows of n and 4n iterations from the same places, each until the last core has ended; memory's rows are as windows elsewhere left them. */
static bool cold_start(struct machine_text *t, const struct follow_cores *f, unsigned start, uint64_t *shorter, uint64_t *longer)
{
	struct crowd *w = follow_crowd_open(t, f, 0, start);

	if (!w)
		return false;
	w->random = start + 1;
	cold_places(w);
	const uint64_t begin = follow_crowd_window(w, 0, f->turns, BETWEEN_CYCLES);

	cold_places(w);
	*shorter = follow_crowd_window(w, 0, f->turns, begin) - begin;
	*longer = follow_crowd_window(w, 0, COLD_TIMES * f->turns, begin + *shorter) - begin - *shorter;
	follow_crowd_close(w);
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

static uint64_t root(uint64_t n)
{
	uint64_t r = 0;

	for (uint64_t bit = 1ull << 31; bit; bit >>= 1)
		if ((r | bit) * (r | bit) <= n)
			r |= bit;
	return r;
}

/* The mean of all starts, but for the row's own standard error. */
bool cold_milli(struct machine_text *t, const struct follow_cores *f, uint64_t *least, uint64_t *most)
{
	uint64_t shorter[COLD_MOST], longer[COLD_MOST], squares = 0, mean = 0;
	const uint64_t turns = (COLD_TIMES - 1) * f->turns;
	unsigned n = 0;

	for (bool sure = false; n < COLD_MOST && !sure;) {
		uint64_t sum = 0;

		if (!cold_start(t, f, n, &shorter[n], &longer[n]))
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
		sure = n >= COLD_LEAST && squares / n / n <= mean * mean / COLD_SURE / COLD_SURE;
	}
	const uint64_t deviation = root(squares / n), much = mean / COLD_ROW_SURE;
	const uint64_t at_least = deviation * 1000 / root(COLD_ROW_MOST * 1000000), at_most = deviation * 1000 / root(COLD_ROW_LEAST * 1000000);
	const uint64_t error = COLD_ERRORS * (at_least > much ? at_least : at_most < much ? at_most : much);

	mean = (last_of(longer, n, f->sockets) - last_of(shorter, n, f->sockets)) / turns;
	*least = mean - error;
	*most = mean + error;
	return !t->missing && mean > error;
}
