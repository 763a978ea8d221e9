/* bench/report/user_account.c: the identities and the sum of penalties. */
#include "bench/report/user_account.h"
#include "bench/measure/reduce.h"
#include "pmu/text.h"

#define LINE_BYTES 64

const struct account_source account_sources[] = {
#define ACCOUNT_TERM(key, title, events, minus, penalty, overlap, latency) { key, title, events, minus, penalty, overlap, latency },
#define ACCOUNT_CYCLES(key, title, events) { key, title, events, "", "", "", "" },
#include "bench/report/user_account.def"
};
const unsigned account_sources_count = COUNT_OF(account_sources);
_Static_assert(COUNT_OF(account_sources) <= ACCOUNT_SOURCES_MAX, "ACCOUNT_SOURCES_MAX");

/* The first alternative that was counted at all. */
static enum account_count count_of(const struct account_counts *counts, const char *events, const char **event, size_t *length, int64_t *count)
{
	*event = "";
	*length = 0;
	*count = 0;
	while (*events) {
		size_t n = 0;

		while (events[n] && events[n] != '|')
			n++;
		enum account_count got = counts->get(counts->self, events, n, count);
		if (got != COUNT_MISSING) {
			*event = events;
			*length = n;
			return got;
		}
		events += n + (events[n] == '|');
	}
	return COUNT_MISSING;
}

static bool whole_count(const struct account_counts *counts, const char *events, int64_t *count)
{
	const char *event;
	size_t length;

	return count_of(counts, events, &event, &length, count) == COUNT_GOOD;
}

/* A row that may be used: proved, and with a value. */
static const struct doc_node *proved(const struct document *d, const char *name)
{
	const struct doc_node *row = doc_row(d, name);
	const char *status = doc_string(d, row, "status");

	if (!name[0] || row->type != DOC_OBJECT || doc_get(d, row, "value")->type != DOC_NUMBER)
		return NULL;
	return str_equal(status, "ok") || str_equal(status, "noisy") ? row : NULL;
}

/* The program's core clock over that of a row, in thousandths: cycles a reference cycle (which runs at the TSC's rate)
 * against core_hz; 0 unknown. */
static int64_t clock_milli(const struct document *d, const struct doc_node *row, int64_t cycles, int64_t ref)
{
	int64_t tsc_hz = doc_whole(d, doc_get(d, doc_root(d), "machine"), "tsc_hz"), core_hz = doc_whole(d, row, "core_hz");

	return ref > 0 && tsc_hz > 0 && core_hz > 0 ? mul_div(mul_div(cycles, tsc_hz, ref), 1000, core_hz) : 0;
}

/* Which part of a penalty runs on the uncore's clock, in thousandths of a core cycle; 0 none is known. */
static int64_t uncore_part(const struct document *d, const char *latency, int64_t penalty_milli)
{
	const struct doc_node *row = proved(d, latency), *queue;

	if (!row)
		return 0;
	queue = doc_get(d, row, "uncore_queue");
	if (!str_equal(doc_string(d, queue, "verdict"), "ok"))
		return 0;
	int64_t part = doc_milli(d, queue, "cycles");
	return part < 0 ? 0 : part < penalty_milli ? part : penalty_milli;
}

/* Core cycles that a line costs in a stream that reads lines as fast as it can, over one whose lines are in the L1. */
static bool overlapped(const struct document *d, const char *name, int64_t *milli)
{
	const struct doc_node *row = proved(d, name), *l1 = proved(d, "read.l1.bandwidth");

	if (!row || !l1 || doc_milli(d, row, "value") <= 0 || doc_milli(d, l1, "value") <= 0)
		return false;
	int64_t hz = doc_milli(d, row, "core_hz"), line = mul_div(LINE_BYTES * 1000, hz, doc_milli(d, row, "value"));
	int64_t base = mul_div(LINE_BYTES * 1000, doc_milli(d, l1, "core_hz"), doc_milli(d, l1, "value"));
	*milli = line > base ? line - base : 0;
	return hz > 0;
}

static int64_t rescale(int64_t milli, int64_t uncore_milli, int64_t clock)
{
	return milli - uncore_milli + mul_div(uncore_milli, clock, 1000);
}

static void price(const struct document *d, const struct account_source *s, int64_t cycles, int64_t ref, struct account_term *t)
{
	const struct doc_node *row = proved(d, s->penalty);
	int64_t low = 0;

	if (!s->penalty[0]) {
		t->low_milli = t->high_milli = 1000;
		t->overlap_known = true;
		return;
	}
	if (!row) {
		t->state = t->count ? ACCOUNT_NO_PENALTY : ACCOUNT_GOOD;
		return;
	}
	t->high_milli = doc_milli(d, row, "value") > 0 ? doc_milli(d, row, "value") : 0;
	t->overlap_known = overlapped(d, s->overlap, &low);
	t->low_milli = low < t->high_milli ? low : t->high_milli;
	int64_t uncore = uncore_part(d, s->latency, t->high_milli), clock = clock_milli(d, row, cycles, ref);
	if (!s->latency[0])
		return;
	t->needs_clock = !clock || !uncore;
	if (t->needs_clock)
		return;
	/* a stream of lines runs at the pace of what holds them: all of its cost beyond the L1 */
	t->high_milli = rescale(t->high_milli, uncore, clock);
	t->low_milli = rescale(t->low_milli, t->low_milli, clock);
	if (t->low_milli > t->high_milli)
		t->low_milli = t->high_milli;
	t->rescaled = true;
}

static void term_of(const struct document *d, const struct account_counts *counts, const struct account_source *s, int64_t cycles, int64_t ref,
                    struct account_term *t)
{
	enum account_count got = count_of(counts, s->events, &t->event, &t->event_length, &t->count);
	int64_t minus = 0;

	/* `minus` belongs to the first alternative: other generations count disjoint events */
	if (got == COUNT_GOOD && s->minus[0] && t->event == s->events) {
		got = counts->get(counts->self, s->minus, str_length(s->minus), &minus);
		t->count = t->count > minus ? t->count - minus : 0;
	}
	t->state = got == COUNT_GOOD ? ACCOUNT_GOOD : got == COUNT_MULTIPLEXED ? ACCOUNT_MULTIPLEXED : ACCOUNT_NO_EVENT;
	if (t->state != ACCOUNT_GOOD)
		return;
	price(d, s, cycles, ref, t);
	t->low = mul_div(t->count, t->low_milli, 1000);
	t->high = mul_div(t->count, t->high_milli, 1000);
}

enum status account_of(const struct document *results, const struct account_counts *counts, struct account *out)
{
	int64_t issued, fused, retired_uops, ref = 0;

	memset(out, 0, sizeof(*out));
	out->has_total = whole_count(counts, ACCOUNT_CYCLES_EVENT, &out->total);
	out->has_stalls = whole_count(counts, ACCOUNT_STALL_EVENT, &out->stalls);
	if (!out->has_total && !out->has_stalls)
		return ST_MISSING;
	if (!whole_count(counts, ACCOUNT_REF_EVENT, &ref))
		ref = 0;
	if (out->has_total && out->has_stalls) {
		/* counters of other runs may disagree by a little: no identity has a negative term */
		int64_t active = out->total > out->stalls ? out->total - out->stalls : 0;

		out->retired = active;
		if (whole_count(counts, ACCOUNT_ISSUED_EVENT, &issued) && whole_count(counts, ACCOUNT_RETIRED_EVENT, &retired_uops)) {
			if (whole_count(counts, ACCOUNT_FUSED_EVENT, &fused))
				issued += fused;
			out->has_waste = issued > 0;
			if (out->has_waste && retired_uops < issued)
				out->retired = mul_div(active, retired_uops, issued);
			out->wasted = active - out->retired;
		}
	}
	for (unsigned i = 0; i < account_sources_count; i++) {
		struct account_term *t = &out->terms[i];

		term_of(results, counts, &account_sources[i], out->total, ref, t);
		if (t->state != ACCOUNT_GOOD) {
			out->open++;
			continue;
		}
		out->low += t->low;
		out->high += t->high;
	}
	const struct doc_node *any = proved(results, "load.l1.latency");
	out->clock_milli = any ? clock_milli(results, any, out->total, ref) : 0;
	return ST_OK;
}
