/* bench/workloads/trust.c: see trust.h. */
#include "bench/workloads/trust.h"
#include "pmu/core/concept.h"

#define TOLERANCE_MILLI 10

const struct trust_facts trust_table[TRUST_ENTRIES] = {
#define EXACT(row, base, milli, concept) { TRUST_CORE, row, TRUST_##base, milli, milli, concept },
#define RANGE(row, base, least, most, concept) { TRUST_CORE, row, TRUST_##base, least, most, concept },
#define UNCORE(socket, row, base, least, most, concept) { TRUST_##socket, row, TRUST_##base, least, most, concept },
#define UNFIXED(concept, why)
#include "bench/workloads/trust.def"
#undef EXACT
#undef RANGE
#undef UNCORE
#undef UNFIXED
};

const char *trust_verdict_name(enum trust_verdict v)
{
	static const char *const names[TRUST_VERDICTS] = { "right", "over", "under", "unknown" };

	return (unsigned)v < TRUST_VERDICTS ? names[v] : "?";
}

/* Expected count per unit of the row's work, in thousandths, for `milli` thousandths of the base. */
static int64_t expected(const struct trust_facts *f, const struct row *r, const struct kernel *k, int64_t base_milli, uint32_t milli)
{
	int64_t base = 0, iterations = 1, units = 1; /* `iterations` iterations make `units` units */

	if (f->base == TRUST_ONE)
		return milli;
	if (f->base == TRUST_CYCLES || f->base == TRUST_TICKS)
		return mul_div(base_milli, milli, 1000);
	if (r->pair) {
		iterations = r->pair->iterations;
		units = r->pair->events;
	} else if (r->order != ORDER_STREAMS) {
		units = k->loads;
	}
	switch (f->base) {
	case TRUST_INSTRUCTIONS: base = k->instructions; break;
	case TRUST_LOADS: base = k->loads; break;
	case TRUST_STORES: base = k->stores; break;
	default: base = 1;
	}
	return mul_div(base * iterations, milli, units);
}

static int64_t ratio(int64_t counted, int64_t expected_milli)
{
	return expected_milli ? mul_div(counted, 1000, expected_milli) : 0;
}

void trust_judge(struct trust_entry *e, const struct trust_facts *f, const struct row *r, const struct kernel *k, int64_t base_milli)
{
	e->kernel = k->name;
	e->least_milli = expected(f, r, k, base_milli, f->least);
	e->most_milli = expected(f, r, k, base_milli, f->most);
	const int64_t of_least = e->least_milli ? ratio(e->counted_milli, e->least_milli) : 1000 /* an upper bound alone */, of_most = ratio(e->counted_milli, e->most_milli);

	e->ratio_milli = e->least_milli == e->most_milli || of_least < 1000 ? of_least : of_most > 1000 ? of_most : 1000;
	e->verdict = e->ratio_milli > 1000 + TOLERANCE_MILLI ? TRUST_OVER : e->ratio_milli < 1000 - TOLERANCE_MILLI ? TRUST_UNDER : TRUST_RIGHT;
}

/* --- one row ----------------------------------------------------------------------------------- */

/* The events counted with one row: the expressions of the concepts that its kernel fixes, and the core cycles. */
struct counted {
	const struct event *events[PLAN_EVENTS_MAX];
	unsigned count;
	const struct expression *cycles, *of[TRUST_ENTRIES];
};

/* Why an expression's count cannot be checked against a known one; NULL: it can. */
static const char *not_comparable(const struct cpu *cpu, const struct expression *x, const struct trust_facts *f)
{
	if (!x || x->exactness == EXACTNESS_NONE)
		return x ? x->why : "no events of this processor are known";
	for (unsigned t = 0; t < x->term_count; t++)
		if (x->terms[t].event && counter_select_lacks(cpu, x->terms[t].event))
			return counter_select_lacks(cpu, x->terms[t].event);
	return x->exactness == EXACTNESS_EXACT || (x->exactness == EXACTNESS_CYCLES && f->least != f->most) ? NULL : x->why;
}

static void choose(const struct cpu *cpu, const char *row, struct counted *c, struct trust_result *out)
{
	const struct processor *p = cpu->processor;

	c->cycles = concept_counted(p, "cycles");
	c->count = 0;
	if (c->cycles && expression_events(c->cycles, c->events, &c->count, PLAN_EVENTS_MAX) != ST_OK)
		c->cycles = NULL;
	for (unsigned i = 0; i < TRUST_ENTRIES; i++) {
		const struct trust_facts *f = &trust_table[i];
		const struct expression *x = concept_find(p, f->concept);
		const char *why;

		c->of[i] = NULL;
		if (f->side != TRUST_CORE || !str_equal(f->row, row))
			continue;
		out->entries[i].event = x && x->exactness != EXACTNESS_NONE ? x->text : NULL;
		why = not_comparable(cpu, x, f);
		if (!why && (expression_events(x, c->events, &c->count, PLAN_EVENTS_MAX) != ST_OK || (f->base == TRUST_CYCLES && !c->cycles)))
			why = "too many events for one plan, or no cycles";
		if (why)
			str_copy(out->entries[i].reason, sizeof(out->entries[i].reason), why);
		else
			c->of[i] = x;
	}
}

static bool uncounted(const struct expression *x, const struct counted *c, const struct profile_result *r)
{
	for (unsigned t = 0; t < x->term_count; t++)
		for (unsigned e = 0; e < c->count; e++)
			if (c->events[e] == x->terms[t].event && r->events[e].uncounted)
				return true;
	return false;
}

static void take(struct trust_entry *e, const struct trust_facts *f, const struct expression *x, const struct counted *c, const struct row *row,
                 const struct profile_result *r)
{
	const struct kernel *k = r->row.status == ROW_OK ? kernel_find(r->row.kernel) : NULL;
	int64_t counts[PLAN_EVENTS_MAX], cycles = 0;

	if (!k || r->count < c->count) {
		str_copy(e->reason, sizeof(e->reason), r->row.reason);
		return;
	}
	for (unsigned i = 0; i < c->count; i++)
		counts[i] = r->events[i].unit_milli;
	if (expression_value(x, c->events, c->count, counts, &e->counted_milli) != ST_OK ||
	    (c->cycles && expression_value(c->cycles, c->events, c->count, counts, &cycles) != ST_OK)) {
		str_copy(e->reason, sizeof(e->reason), "an event was not counted");
		return;
	}
	e->unit = r->unit;
	trust_judge(e, f, row, k, cycles);
	if (e->verdict == TRUST_UNDER && row->pair && row->pair->uncached) { /* as in the row: code that is decoded once need not be decoded again */
		e->verdict = TRUST_UNKNOWN;
		str_copy(e->reason, sizeof(e->reason), "a cache of decoded uops may have code of it");
	}
	if (uncounted(x, c, r) || (f->base == TRUST_CYCLES && uncounted(c->cycles, c, r))) {
		e->verdict = TRUST_UNKNOWN;
		str_copy(e->reason, sizeof(e->reason), "not modelled by this simulated machine");
	}
}

/* All entries of one row, starting at the first. */
static void run_row(struct bench *b, unsigned first, struct profile_result *result, struct trust_result *out)
{
	const char *name = trust_table[first].row, *problem;
	const struct row *row = row_find(name);
	struct profile_plan plan = { .name = "trust", .title = "" };
	struct counted c;
	bool any = false;
	enum status st;

	choose(b->cpu, name, &c, out);
	for (unsigned i = 0; i < TRUST_ENTRIES; i++)
		any = any || c.of[i];
	if (!any || !row)
		return;
	st = plan_events(b->cpu, c.events, c.count, &plan.plan, &problem);
	if (st == ST_OK)
		profile_row(b, &plan, row, result);
	for (unsigned i = 0; i < TRUST_ENTRIES; i++)
		if (c.of[i] && st == ST_OK)
			take(&out->entries[i], &trust_table[i], c.of[i], &c, row, result);
		else if (c.of[i])
			str_copy(out->entries[i].reason, sizeof(out->entries[i].reason), "its events do not fit into a plan");
}

void trust_run(struct bench *b, struct trust_result *out)
{
	struct profile_result *result = b->host->get(b->host->self, sizeof(*result));

	memset(out, 0, sizeof(*out));
	out->ran = true;
	for (unsigned i = 0; i < TRUST_ENTRIES; i++)
		out->entries[i].verdict = TRUST_UNKNOWN;
	for (unsigned i = 0; i < TRUST_ENTRIES; i++) {
		struct trust_entry *e = &out->entries[i];
		bool before = false;

		if (b->a->kind == ACCESS_NATIVE || !counters_exist(b->cpu) || !result) {
			str_copy(e->reason, sizeof(e->reason), !result ? "no memory" : b->a->kind == ACCESS_NATIVE ? "this backend has no counters" :
			         b->cpu->pmu_absent ? b->cpu->pmu_absent : "no performance counters");
			continue;
		}
		for (unsigned k = 0; k < i; k++)
			before = before || str_equal(trust_table[k].row, trust_table[i].row);
		if (before)
			continue;
		run_row(b, i, result, out);
		trust_uncore_row(b, row_find(trust_table[i].row), out);
	}
	if (result)
		b->host->put(b->host->self, result, sizeof(*result));
}

static void milli_or_null(struct text *t, const char *key, int64_t milli, bool known)
{
	text_fmt(t, ", \"%s\": ", key);
	text_fixed_or_null(t, milli, 3, known);
}

void trust_json(struct text *t, const struct trust_result *r)
{
	text_fmt(t, "[");
	for (unsigned i = 0; i < TRUST_ENTRIES; i++) {
		const struct trust_entry *e = &r->entries[i];
		bool known = e->verdict != TRUST_UNKNOWN;

		text_fmt(t, "%s{\"concept\": \"%s\", \"event\": \"%s\", \"row\": \"%s\", \"kernel\": \"%s\", \"unit\": \"%s\"", i ? ", " : "",
		         trust_table[i].concept, e->event ? e->event : "", trust_table[i].row, e->kernel ? e->kernel : "", e->unit ? e->unit : "");
		milli_or_null(t, "expected", e->least_milli, e->kernel);
		if (trust_table[i].least != trust_table[i].most)
			milli_or_null(t, "expected_most", e->most_milli, e->kernel);
		milli_or_null(t, "counted", e->counted_milli, known);
		milli_or_null(t, "ratio", e->ratio_milli, known);
		text_fmt(t, ", \"verdict\": \"%s\", \"reason\": \"", trust_verdict_name(e->verdict));
		text_json(t, e->reason);
		text_fmt(t, "\"}");
	}
	text_fmt(t, "]");
}

void trust_lines(struct text *t, const struct trust_result *r)
{
	unsigned verdicts[TRUST_VERDICTS] = { 0 };
	const char *row = NULL;

	text_fmt(t, "trust: events whose count a kernel fixes, a unit of the row's work\n");
	for (unsigned i = 0; i < TRUST_ENTRIES; i++) {
		const struct trust_entry *e = &r->entries[i];

		verdicts[e->verdict]++;
		if (!e->event)
			continue;
		if (!row || !str_equal(row, trust_table[i].row))
			text_fmt(t, "  %s, per %s\n", trust_table[i].row, e->unit ? e->unit : "event");
		row = trust_table[i].row;
		text_fmt(t, "    %-38s ", e->event);
		if (e->verdict == TRUST_UNKNOWN) {
			text_fmt(t, "unknown: %s\n", e->reason);
			continue;
		}
		text_fixed(t, e->counted_milli, 3);
		text_fmt(t, " of ");
		text_fixed(t, e->least_milli, 3);
		if (trust_table[i].least != trust_table[i].most) {
			text_fmt(t, " to ");
			text_fixed(t, e->most_milli, 3);
		}
		text_fmt(t, " %s", trust_verdict_name(e->verdict));
		if (e->verdict != TRUST_RIGHT) {
			text_fmt(t, ", ratio ");
			text_fixed(t, e->ratio_milli, 3);
		}
		text_char(t, '\n');
	}
	text_fmt(t, " ");
	for (unsigned v = 0; v < TRUST_VERDICTS; v++)
		if (verdicts[v])
			text_fmt(t, " %u %s", verdicts[v], trust_verdict_name((enum trust_verdict)v));
	text_char(t, '\n');
}
