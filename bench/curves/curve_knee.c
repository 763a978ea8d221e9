/* bench/curves/curve_knee.c: the knee of a curve: the last point at which misses still overlap; curve_pass.h. */
#include "bench/curves/curve_pass.h"

#define CHANNEL_LINES 16u /* upper limit of channels, or slices */
#define WAITS_BACK 14u /* lines before the last one that are checked */
#define CLEAR_PART 5 /* 1/N of a miss: a smaller step is noise */

/* Expected time of point x while both misses overlap: each filler between them takes as long as at the points below. */
static int64_t foreseen(int64_t first, uint32_t below, int64_t at_below, uint32_t x)
{
	return below > 1 ? first + (at_below - first) * (int64_t)(x - 1) / (int64_t)(below - 1) : first;
}

/* A point is late if it lies nearer to two serial misses than to the expected time. */
static bool is_late(int64_t first, uint32_t below, int64_t at_below, uint32_t x, int64_t iteration, int64_t serial)
{
	const int64_t expected = foreseen(first, below, at_below, x);

	return iteration - expected > (serial - expected) / 2;
}

/* The time of a point's iteration; measures the point if it has not been. */
static enum status measured(struct pass *p, uint32_t x, int64_t *iteration_milli)
{
	const struct curve *c = &p->out->curve;

	for (unsigned i = 0; i < c->count; i++)
		if (c->points[i].x == x) {
			*iteration_milli = c->points[i].milli;
			return ST_OK;
		}
	return curve_point(p, x, iteration_milli);
}

/* Whether the step behind point `below` may come from a slow channel or slice, which adds a step with each further line that it gets. Such a step
 * also occurred a few lines earlier, or recurs as many lines later; beyond a full buffer there is none. A point counts only if it took longer than
 * all with fewer lines: a shorter one met open DRAM pages. */
static enum status may_be_a_channel(struct pass *p, int64_t first, uint32_t below, int64_t at_below, int64_t at_above, bool *may)
{
	const int64_t step = at_above - at_below, grown = at_below - first;
	const uint32_t twice = 2 * below + 2, from = below > CHANNEL_LINES ? below - CHANNEL_LINES : 1;
	int64_t iteration = 0, longest = 0;
	enum status st = ST_OK;

	*may = false;
	for (uint32_t x = from; 2 * grown >= step && st == ST_OK && x <= below && !*may; x++) {
		st = measured(p, x, &iteration);
		*may = x > from && 2 * (iteration - longest) >= step;
		longest = x > from && longest > iteration ? longest : iteration;
	}
	if (st == ST_OK && !*may && twice <= p->curve->most) {
		st = measured(p, twice, &iteration);
		*may = iteration - at_above - grown * 3 / 2 >= step / 2;
	}
	return st;
}

enum status curve_knee(struct pass *p, int64_t *value_milli)
{
	struct row_curve one_by_one = *p->curve;
	int64_t first, iteration, at_below, at_above = 0, late = 0;
	uint32_t below = 1, above = 0;
	bool by_channel = false;
	enum status st = curve_point(p, 1, &first);

	one_by_one.what = CURVE_SERIAL;
	if (st == ST_OK)
		st = curve_other_point(p, &one_by_one, 1, &late, NULL);
	at_below = first;
	for (uint32_t x = 2; st == ST_OK && !above; x = x * 2 < p->curve->most ? x * 2 : p->curve->most) {
		/* if the fillers alone take as long as a miss, a nearer point is tried; without one there is no result */
		while (late - foreseen(first, below, at_below, x) < first / CLEAR_PART && x > below + 1)
			x = (below + x) / 2;
		if (late - foreseen(first, below, at_below, x) < first / CLEAR_PART)
			return ST_RANGE;
		st = curve_point(p, x, &iteration);
		if (st == ST_OK && is_late(first, below, at_below, x, iteration, late)) {
			above = x;
			at_above = iteration;
		} else if (x == p->curve->most) {
			return st == ST_OK ? ST_MISSING : st;
		} else {
			below = x;
			at_below = iteration;
		}
	}
	while (st == ST_OK && above - below > 1) {
		uint32_t x = (below + above) / 2;

		st = curve_point(p, x, &iteration);
		if (is_late(first, below, at_below, x, iteration, late)) {
			above = x;
			at_above = iteration;
		} else {
			below = x;
			at_below = iteration;
		}
	}
	*value_milli = (int64_t)(below + p->curve->both) * 1000;
	if (st != ST_OK)
		return st;
	/* no step: only the time of the fillers, one of which may keep memory busy for long, or which take as long as both misses */
	const int64_t expected = foreseen(first, below, at_below, above);

	if (at_above - at_below < first / CLEAR_PART || late - expected < first / CLEAR_PART || 8 * (at_above - expected) < 5 * (late - expected))
		return ST_RANGE;
	const int64_t spread = p->spread_milli, of = p->spread_of_milli;

	if (p->curve->filler == FILLER_MISS)
		st = may_be_a_channel(p, first, below, at_below, at_above, &by_channel);
	if (st == ST_OK && !by_channel && p->curve->filler == FILLER_MISS)
		st = curve_limit(p, below + p->curve->both, first);
	p->spread_milli = spread;
	p->spread_of_milli = of;
	return st == ST_OK && by_channel ? ST_RANGE : st;
}

/* The same iteration without the loads of the pairs' other lines; *brought: lines that arrived. */
static enum status first_lines(struct pass *p, uint32_t x, int64_t *iteration_milli, int64_t *brought)
{
	struct row_curve without = *p->curve;

	without.filler = FILLER_NOP;
	return curve_other_point(p, &without, x, iteration_milli, brought);
}

/* Whether one load of point x waits for a fill buffer, in which case its pair's other line arrives in time anyway. Measured without the
 * prefetcher, whose lines would keep memory busy: some load among the last ones adds more time than the one before it. Loads after the first that
 * waits may add little. *hidden: such a wait would not show, since the channel that the loads share delays them for as long. *brought: lines that
 * arrived. */
static enum status loads_wait(struct pass *p, uint32_t x, int64_t one, bool *wait, bool *hidden, int64_t *brought)
{
	int64_t took[3] = { 0, 0, 0 };
	uint64_t found;
	const bool off = prefetchers_off(p->b, &found);
	enum status st = ST_OK;

	for (unsigned i = 0; i < COUNT_OF(took) && st == ST_OK; i++)
		st = first_lines(p, x - 4 + 2 * i, &took[i], brought);
	*wait = took[2] - took[1] > took[1] - took[0] + one / 8;
	*hidden = took[1] + (took[1] - took[0]) + one / 8 >= 2 * one;
	for (uint32_t back = 6; st == ST_OK && !*wait && took[1] - took[0] > one / 8 && back < WAITS_BACK && x > back; back += 2) {
		took[2] = took[1];
		took[1] = took[0];
		st = first_lines(p, x - back, &took[0], NULL);
		*wait = took[2] - took[1] > took[1] - took[0] + one / 8;
	}
	if (off && !prefetchers_back(p->b, found) && st == ST_OK)
		st = ST_IO;
	return st;
}

/* The last x at which the other lines of all pairs arrive with the first ones; with p->at_least, at which the first ones do not wait for each
 * other. That point's counts are the row's. */
static enum status pairs(struct pass *p, int64_t *value_milli)
{
	struct pass good = *p;
	uint32_t below = 0, above = 0;
	int64_t one = 0, iteration, first = 0, late_by = 0, in_time = 0;

	for (uint32_t x = 2; above - below != 1; x = above ? (below + above) / 2 : x * 2 < p->curve->most ? x * 2 : p->curve->most) {
		bool late = false;
		enum status st;

		memset(p->counts, 0, sizeof(p->counts));
		p->units = 0;
		st = curve_point(p, x, &iteration);
		/* long because lines are late, or because there are many: the first lines alone decide */
		if (st == ST_OK && (!below || iteration > one + one / 2)) {
			st = first_lines(p, x, &first, NULL);
			one = below ? one : first;
			late = p->at_least ? first > one + one / 4 * 3 : iteration - first > one / 2;
		}
		if (st != ST_OK)
			return st;
		if (late && !below)
			return ST_UNSUPPORTED;
		if (!late && x == p->curve->most)
			return ST_MISSING;
		if (late) {
			above = x;
			late_by = iteration - first;
		} else {
			below = x;
			in_time = iteration;
			good = *p;
		}
	}
	*p = good;
	*value_milli = (int64_t)below * 1000;
	/* half of the lines occupy memory for nearly a load's latency: a buffer or an entry is free again before another line could arrive */
	if (below >= 6 && (in_time - one) / 2 > one / 4 * 3)
		return ST_RANGE;
	if (!p->at_least && below >= 6) {
		bool wait = false, hidden = false;
		int64_t without = 0, with = 0;
		enum status st = loads_wait(p, below, one, &wait, &hidden, &without);

		if (st == ST_OK && (wait || hidden))
			return wait ? ST_MISSING : ST_RANGE;
		if (st == ST_OK)
			st = first_lines(p, below, &first, &with);
		p->pair_stays = p->loop.counting.proof_count && !wait && without * 4 > with * 3;
		/* one more line must be late by a DRAM latency, not by its position in the channels' queues */
		return st == ST_OK && late_by - (in_time - first) < one / 2 ? ST_RANGE : st;
	}
	if (!p->at_least) { /* too few lines for these checks */
		enum status st = first_lines(p, below, &first, NULL);

		/* of at most three first lines none waits for another, unless the fill buffers are full */
		if (st == ST_OK && first > one + one / 2)
			return ST_MISSING;
		return st == ST_OK && late_by - (in_time - first) < one / 2 ? ST_RANGE : st;
	}
	return ST_OK;
}

enum status curve_pairs(struct pass *p, int64_t *value_milli)
{
	enum status st = pairs(p, value_milli);

	p->at_least = st == ST_MISSING;
	return p->at_least ? pairs(p, value_milli) : st;
}
