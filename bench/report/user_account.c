/* bench/report/user_account.c: the identities and the sum of penalties of a user's counts. */
#include "bench/report/user_account.h"
#include "bench/measure/reduce.h"
#include "pmu/text.h"

#define LINE_BYTES 64

const struct processor *user_account_processor(const struct document *results)
{
	const char *name = doc_string(results, doc_get(results, doc_root(results), "machine"), "descriptor");

	for (unsigned i = 0; i < processor_count; i++)
		if (str_equal(processors[i].name, name))
			return &processors[i];
	return NULL;
}

/* A count scaled to the cycles of the run that counted the total. */
static enum workload_account_count count_at(const struct account *a, const struct account_counts *counts, const struct event *e, int64_t *count)
{
	int64_t cycles = 0;
	const enum workload_account_count got = counts->get(counts->self, a->processor, e, count, &cycles);

	if (got == COUNT_GOOD && cycles > 0 && a->has_total && cycles != a->total)
		*count = mul_div(*count, a->total, cycles);
	return got;
}

/* False: not counted, or multiplexed. */
static bool identity(const struct account *a, const struct account_counts *counts, enum stall_identity i, int64_t *count)
{
	const struct event *e = stall_identity_event(a->processor, i);

	*count = 0;
	return e && count_at(a, counts, e, count) == COUNT_GOOD;
}

/* A usable row: proved, and with a value. */
static const struct doc_node *proved(const struct document *d, const char *name)
{
	const struct doc_node *row = doc_row(d, name);
	const char *status = doc_string(d, row, "status");

	if (!name[0] || row->type != DOC_OBJECT || doc_get(d, row, "value")->type != DOC_NUMBER)
		return NULL;
	return str_equal(status, "ok") || str_equal(status, "noisy") ? row : NULL;
}

/* The program's core clock over a row's, in thousandths: cycles per reference cycle (which runs at the TSC's rate) over core_hz; 0 unknown. */
static int64_t clock_milli(const struct document *d, const struct doc_node *row, int64_t cycles, int64_t ref)
{
	int64_t tsc_hz = doc_whole(d, doc_get(d, doc_root(d), "machine"), "tsc_hz"), core_hz = doc_whole(d, row, "core_hz");

	return ref > 0 && tsc_hz > 0 && core_hz > 0 ? mul_div(mul_div(cycles, tsc_hz, ref), 1000, core_hz) : 0;
}

/* The part of a penalty that runs on the uncore's clock, in thousandths of a core cycle; 0: none known. */
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

/* Core cycles per line of a stream at full bandwidth, minus those of a stream of L1 hits. */
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

static void price(const struct document *d, const struct stall_term *s, int64_t cycles, int64_t ref, struct account_term *t)
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
	/* a stream runs at the pace of its source: all of its cost beyond the L1 scales with the uncore */
	t->high_milli = rescale(t->high_milli, uncore, clock);
	t->low_milli = rescale(t->low_milli, t->low_milli, clock);
	if (t->low_milli > t->high_milli)
		t->low_milli = t->high_milli;
	t->rescaled = true;
}

/* The count of a term: the worst state of its events, and their sum. */
static enum account_state count_of(const struct account *a, const struct account_counts *counts, struct account_term *t)
{
	int64_t sum = 0;

	if (!t->count_of || t->count_of->exactness == EXACTNESS_NONE)
		return ACCOUNT_NO_CONCEPT;
	for (unsigned i = 0; i < t->count_of->term_count; i++) {
		int64_t count = 0;

		switch (count_at(a, counts, t->count_of->terms[i].event, &count)) {
		case COUNT_MISSING: return ACCOUNT_NO_EVENT;
		case COUNT_MULTIPLEXED: return ACCOUNT_MULTIPLEXED;
		default: sum += t->count_of->terms[i].sign * count;
		}
	}
	t->count = sum > 0 ? sum : 0; /* counts of different runs vary slightly */
	return ACCOUNT_GOOD;
}

/* Total, stalls, retired and wasted cycles, and the bounds of the terms. */
static void identities(const struct account_counts *counts, struct account *a, int64_t *ref)
{
	int64_t issued, pairs, retired = 0, retired_pairs, no_issue, resource;
	int64_t retire;

	a->has_total = identity(a, counts, STALL_CYCLES, &a->total);
	a->has_stalls = identity(a, counts, STALL_EXECUTE, &a->stalls);
	a->at_retirement = identity(a, counts, STALL_RETIRE, &retire);
	if (!a->has_stalls && a->at_retirement) { /* the only stall count of a processor that cannot count dispatch */
		a->has_stalls = true;
		a->stalls = retire;
	}
	a->bounds = (struct stall_bounds){ -1, -1, -1 };
	if (!identity(a, counts, STALL_REFERENCE, ref))
		*ref = 0;
	if (!identity(a, counts, STALL_MISSES, &a->bounds.misses))
		a->bounds.misses = -1;
	a->bounds.stalls = a->at_retirement ? retire : a->has_stalls ? a->stalls : a->has_total ? a->total : -1;
	const bool uops = identity(a, counts, STALL_ISSUED, &issued) && identity(a, counts, STALL_RETIRED, &retired);

	(void)identity(a, counts, STALL_ISSUED_PAIRS, &pairs);
	(void)identity(a, counts, STALL_RETIRED_PAIRS, &retired_pairs);
	issued += pairs;
	/* where dispatch is counted, both uops of a fused pair were dispatched */
	retired += retired_pairs;
	if (a->has_total && a->has_stalls) {
		/* counts of different runs vary slightly: no identity has a negative term */
		const int64_t active = a->total > a->stalls ? a->total - a->stalls : 0;

		a->has_waste = uops && issued > 0;
		a->retired = a->has_waste && retired < issued ? mul_div(active, retired, issued) : active;
		a->wasted = active - a->retired;
	}
	if (a->has_total && uops && identity(a, counts, STALL_NO_ISSUE, &no_issue) && identity(a, counts, STALL_RESOURCE, &resource))
		a->bounds.front_end = stall_front_end(no_issue > resource ? no_issue - resource : 0, a->total > no_issue ? a->total - no_issue : 0, issued, retired);
}

static void settle(struct account *a)
{
	struct stall_charge charges[STALL_TERMS_MAX];

	for (unsigned i = 0; i < stall_term_count; i++)
		charges[i] = (struct stall_charge){ a->terms[i].state == ACCOUNT_GOOD, a->terms[i].high, 0 };
	stall_settle(&a->bounds, charges);
	for (unsigned i = 0; i < stall_term_count; i++) {
		a->terms[i].charged = charges[i].charged;
		a->charged += charges[i].charged;
	}
}

enum status user_account_of(const struct document *results, const struct account_counts *counts, struct account *out)
{
	int64_t ref = 0;

	memset(out, 0, sizeof(*out));
	out->processor = user_account_processor(results);
	if (!out->processor)
		return ST_UNSUPPORTED;
	identities(counts, out, &ref);
	if (!out->has_total && !out->has_stalls)
		return ST_MISSING;
	for (unsigned i = 0; i < stall_term_count; i++) {
		struct account_term *t = &out->terms[i];

		t->count_of = stall_count(out->processor, i);
		t->state = count_of(out, counts, t);
		if (t->state == ACCOUNT_GOOD)
			price(results, &stall_terms[i], out->total, ref, t);
		if (t->state != ACCOUNT_GOOD) {
			out->open++;
			continue;
		}
		t->low = mul_div(t->count, t->low_milli, 1000);
		t->high = mul_div(t->count, t->high_milli, 1000);
		out->low += t->low;
		out->high += t->high;
	}
	settle(out);
	const struct doc_node *any = proved(results, "load.l1.latency");
	out->clock_milli = any ? clock_milli(results, any, out->total, ref) : 0;
	return ST_OK;
}
