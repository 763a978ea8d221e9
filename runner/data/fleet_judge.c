/* runner/data/fleet_judge.c: finds machines that are outliers or drift. See fleet.h. Not judged: rows that fewer than FLEET_RUNS_LEAST runs of a
 * group measured; revisions of a row's method that are older than the group's latest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/data/fleet.h"
#include "runner/data/statistics.h"

struct work { double *values, *sorted, *spreads, *scratch, *steps; unsigned *run; };

static enum status find(struct fleet *f, const struct fleet_finding *one)
{
	if (f->finding_count == f->finding_room) {
		unsigned more = f->finding_room ? f->finding_room * 2 : 64;
		struct fleet_finding *at = realloc(f->findings, more * sizeof(*at));
		if (!at)
			return ST_FULL;
		f->findings = at;
		f->finding_room = more;
	}
	f->findings[f->finding_count++] = *one;
	return ST_OK;
}

/* Largest deviation from the median that is not an outlier's; *unit is one robust deviation. */
static double limit_of(double median, double mad, double spread, double *unit)
{
	*unit = FLEET_NORMAL * fmax(mad, spread);
	return fmax(FLEET_DEVIATIONS * *unit, FLEET_FLOOR * fabs(median));
}

static enum status judge_row(struct fleet *f, unsigned group, unsigned row, const struct work *w)
{
	unsigned n = 0, there = 0;
	int64_t revision = -1;
	for (unsigned i = 0; i < f->run_count; i++) {
		const struct fleet_value *v = f->runs[i].group == group ? fleet_value(&f->runs[i], row) : NULL;
		revision = v && v->revision > revision ? v->revision : revision;
	}
	for (unsigned i = 0; i < f->run_count; i++) {
		const struct fleet_value *v = f->runs[i].group == group ? fleet_value(&f->runs[i], row) : NULL;
		if (!v || v->revision != revision)
			continue;
		there++;
		if (!v->measured)
			continue;
		w->run[n] = i;
		w->sorted[n] = w->values[n] = v->value;
		w->spreads[n++] = isnan(v->spread) ? 0 : v->spread;
	}
	if (n < FLEET_RUNS_LEAST)
		return ST_OK;
	double median = statistics_median(w->sorted, n), mad = statistics_deviation(w->values, n, median, w->scratch), spread = statistics_median(w->spreads, n), unit;
	double limit = limit_of(median, mad, spread, &unit);
	enum status st = ST_OK;
	for (unsigned i = 0; i < n && st == ST_OK; i++)
		if (fabs(w->values[i] - median) > limit)
			st = find(f, &(struct fleet_finding){.run = w->run[i], .row = row, .value = w->values[i], .median = median,
			             .deviations = unit > 0 ? fabs(w->values[i] - median) / unit : INFINITY});
	/* measured in at least nine of ten runs, and not in this one */
	for (unsigned i = 0; i < f->run_count && st == ST_OK && n < there && 10 * n >= 9 * there; i++) {
		const struct fleet_value *v = f->runs[i].group == group ? fleet_value(&f->runs[i], row) : NULL;
		if (v && v->revision == revision && !v->measured)
			st = find(f, &(struct fleet_finding){.run = i, .row = row, .median = median, .status = v->status, .usual = "ok"});
	}
	return st;
}

/* Compares the medians of the first and the last third of a machine's runs; the unit is the deviation from run to run, without the trend. */
static enum status judge_drift(struct fleet *f, unsigned from, unsigned to, unsigned row, const struct work *w)
{
	unsigned n = 0;
	int64_t revision = -1;
	for (unsigned i = to; i-- > from;) {
		const struct fleet_value *v = fleet_value(&f->runs[i], row);
		if (v && revision < 0)
			revision = v->revision;
	}
	for (unsigned i = from; i < to; i++) {
		const struct fleet_value *v = fleet_value(&f->runs[i], row);
		if (!v || !v->measured || v->revision != revision)
			continue;
		w->run[n] = i;
		w->values[n] = v->value;
		w->spreads[n++] = isnan(v->spread) ? 0 : v->spread;
	}
	if (n < FLEET_DRIFT_LEAST)
		return ST_OK;
	unsigned third = n / 3;
	for (unsigned i = 0; i + 1 < n; i++)
		w->steps[i] = w->sorted[i] = w->values[i + 1] - w->values[i];
	/* deviation of the steps from the trend; the difference of two values varies sqrt(2) times as much as one value */
	double step = statistics_deviation(w->steps, n - 1, statistics_median(w->sorted, n - 1), w->scratch) / sqrt(2), spread = statistics_median(w->spreads, n), unit;
	memcpy(w->scratch, w->values, third * sizeof(*w->scratch));
	double first = statistics_median(w->scratch, third);
	memcpy(w->scratch, w->values + n - third, third * sizeof(*w->scratch));
	double last = statistics_median(w->scratch, third);
	if (fabs(last - first) <= limit_of(first, step, spread, &unit))
		return ST_OK;
	return find(f, &(struct fleet_finding){.run = w->run[n - 1], .row = row, .value = last, .median = first,
	                .deviations = unit > 0 ? fabs(last - first) / unit : INFINITY, .drift = true});
}

static int by_run_and_row(const void *a, const void *b)
{
	const struct fleet_finding *x = a, *y = b;
	if (x->drift != y->drift)
		return x->drift ? 1 : -1;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

enum status fleet_judge(struct fleet *f)
{
	unsigned most = f->run_count ? f->run_count : 1;
	double *room = calloc(most * 5u, sizeof(*room));
	unsigned *run = calloc(most, sizeof(*run));
	enum status st = room && run ? ST_OK : ST_FULL;
	struct work w = {room, room + most, room + 2 * (size_t)most, room + 3 * (size_t)most, room + 4 * (size_t)most, run};
	f->finding_count = 0;
	for (unsigned g = 0; g < f->group_count && st == ST_OK; g++)
		for (unsigned row = 0; row < f->row_count && st == ST_OK; row++)
			st = judge_row(f, g, row, &w);
	for (unsigned from = 0, to; from < f->run_count && st == ST_OK; from = to) {
		for (to = from + 1; to < f->run_count && f->runs[to].machine == f->runs[from].machine && f->runs[to].product == f->runs[from].product; to++)
			;
		for (unsigned row = 0; row < f->row_count && to - from >= FLEET_DRIFT_LEAST && st == ST_OK; row++)
			st = judge_drift(f, from, to, row, &w);
	}
	if (f->finding_count)
		qsort(f->findings, f->finding_count, sizeof(*f->findings), by_run_and_row);
	free(room);
	free(run);
	return st;
}

const char *fleet_usual(const struct fleet *f, unsigned group, const char *key, unsigned *have, unsigned *of)
{
	struct { const char *value; unsigned n; } seen[64];
	unsigned kinds = 0, best = 0;
	*of = *have = 0;
	for (unsigned i = 0; i < f->run_count; i++) {
		if (f->runs[i].group != group)
			continue;
		const char *value = fleet_fact(&f->runs[i], key);
		unsigned k = 0;
		++*of;
		while (k < kinds && seen[k].value != value)
			k++;
		if (k == kinds && kinds < COUNT_OF(seen)) {
			seen[kinds].value = value;
			seen[kinds++].n = 0;
		}
		if (k < kinds && ++seen[k].n > *have) {
			*have = seen[k].n;
			best = k;
		}
	}
	return kinds && seen[best].value ? seen[best].value : "";
}
