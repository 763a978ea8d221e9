/* bench/workloads/trust.c: see trust.h. */
#include "bench/workloads/trust.h"

#define TOLERANCE_MILLI 10

const struct trust_facts trust_table[TRUST_ENTRIES] = {
#define TRUST(row, base, milli, ...) { row, TRUST_##base, milli, { __VA_ARGS__ } },
#include "bench/workloads/trust.def"
};

const char *trust_verdict_name(enum trust_verdict v)
{
	static const char *const names[TRUST_VERDICTS] = { "right", "over", "under", "unknown" };

	return (unsigned)v < TRUST_VERDICTS ? names[v] : "?";
}

/* What a unit of the row's work must count, in thousandths. */
static int64_t expected(const struct trust_facts *f, const struct row *r, const struct kernel *k)
{
	int64_t base = 0, iterations = 1, units = 1; /* so many iterations make so many units */

	if (f->base == TRUST_ONE)
		return f->milli;
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
	return mul_div(base * iterations, f->milli, units);
}

static void judge(struct trust_entry *e)
{
	int64_t off;

	e->ratio_milli = e->expected_milli ? mul_div(e->counted_milli, 1000, e->expected_milli) : 0;
	off = e->ratio_milli - 1000;
	e->verdict = off > TOLERANCE_MILLI ? TRUST_OVER : off < -TOLERANCE_MILLI ? TRUST_UNDER : TRUST_RIGHT;
}

/* All entries of one row, from the first on. */
static void run_row(struct bench *b, unsigned first, struct profile_result *result, struct trust_result *out)
{
	const char *name = trust_table[first].row, *problem;
	const struct row *row = row_find(name);
	const struct event *events[TRUST_ENTRIES];
	unsigned entry[TRUST_ENTRIES], n = 0;
	struct profile_plan plan = { .name = "trust", .title = "" };
	enum status st;

	for (unsigned i = first; i < TRUST_ENTRIES; i++) {
		struct trust_entry *e = &out->entries[i];
		const struct event *found = NULL;

		if (!str_equal(trust_table[i].row, name))
			continue;
		for (unsigned k = 0; k < TRUST_NAMES && trust_table[i].names[k] && !found; k++)
			found = event_find(b->cpu->processor, trust_table[i].names[k]);
		if (!found) {
			str_copy(e->reason, sizeof(e->reason), "this processor has no event for it");
			continue;
		}
		e->event = found->name;
		events[n] = found;
		entry[n++] = i;
	}
	if (!n || !row)
		return;
	st = plan_events(b->cpu, events, n, &plan.plan, &problem);
	if (st == ST_OK)
		profile_row(b, &plan, row, result);
	for (unsigned i = 0; i < n; i++) {
		struct trust_entry *e = &out->entries[entry[i]];
		const struct kernel *k = st == ST_OK ? kernel_find(result->row.kernel) : NULL;

		if (st != ST_OK) {
			str_copy(e->reason, sizeof(e->reason), "its events do not fit into a plan");
			continue;
		}
		if (result->row.status != ROW_OK || i >= result->count || !k) {
			str_copy(e->reason, sizeof(e->reason), result->row.reason);
			continue;
		}
		e->kernel = k->name;
		e->unit = result->unit;
		e->expected_milli = expected(&trust_table[entry[i]], row, k);
		if (result->events[i].uncounted) {
			str_copy(e->reason, sizeof(e->reason), "not modelled by this simulated machine");
			continue;
		}
		e->counted_milli = result->events[i].unit_milli;
		judge(e);
	}
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

		if (b->a->kind == ACCESS_NATIVE || b->cpu->pmu_version == 0 || !result) {
			str_copy(e->reason, sizeof(e->reason), !result ? "no memory" : b->a->kind == ACCESS_NATIVE ? "this backend has no counters" :
			         b->cpu->pmu_absent ? b->cpu->pmu_absent : "no performance counters");
			continue;
		}
		for (unsigned k = 0; k < i; k++)
			before = before || str_equal(trust_table[k].row, trust_table[i].row);
		if (!before)
			run_row(b, i, result, out);
	}
	if (result)
		b->host->put(b->host->self, result, sizeof(*result));
}

void trust_json(struct text *t, const struct trust_result *r)
{
	text_fmt(t, "[");
	for (unsigned i = 0; i < TRUST_ENTRIES; i++) {
		const struct trust_entry *e = &r->entries[i];
		bool known = e->verdict != TRUST_UNKNOWN;

		text_fmt(t, "%s{\"event\": \"%s\", \"row\": \"%s\", \"kernel\": \"%s\", \"unit\": \"%s\", \"expected\": ", i ? ", " : "",
		         e->event ? e->event : trust_table[i].names[0], trust_table[i].row, e->kernel ? e->kernel : "", e->unit ? e->unit : "");
		if (e->kernel)
			text_fixed(t, e->expected_milli, 3);
		else
			text_fmt(t, "null");
		text_fmt(t, ", \"counted\": ");
		if (known)
			text_fixed(t, e->counted_milli, 3);
		else
			text_fmt(t, "null");
		text_fmt(t, ", \"ratio\": ");
		if (known)
			text_fixed(t, e->ratio_milli, 3);
		else
			text_fmt(t, "null");
		text_fmt(t, ", \"verdict\": \"%s\", \"reason\": \"", trust_verdict_name(e->verdict));
		text_json(t, e->reason);
		text_fmt(t, "\"}");
	}
	text_fmt(t, "]");
}

void trust_lines(struct text *t, const struct trust_result *r)
{
	unsigned verdicts[TRUST_VERDICTS] = { 0 };

	text_fmt(t, "trust: events whose count a kernel fixes, a unit of the row's work\n");
	for (unsigned i = 0; i < TRUST_ENTRIES; i++) {
		const struct trust_entry *e = &r->entries[i];

		verdicts[e->verdict]++;
		if (!e->event)
			continue;
		text_fmt(t, "  %-38s %-31s ", e->event, trust_table[i].row);
		if (e->verdict == TRUST_UNKNOWN) {
			text_fmt(t, "unknown: %s\n", e->reason);
			continue;
		}
		text_fixed(t, e->counted_milli, 3);
		text_fmt(t, " of ");
		text_fixed(t, e->expected_milli, 3);
		text_fmt(t, " per %s, ratio ", e->unit);
		text_fixed(t, e->ratio_milli, 3);
		text_fmt(t, " %s\n", trust_verdict_name(e->verdict));
	}
	text_fmt(t, " ");
	for (unsigned v = 0; v < TRUST_VERDICTS; v++)
		if (verdicts[v])
			text_fmt(t, " %u %s", verdicts[v], trust_verdict_name((enum trust_verdict)v));
	text_char(t, '\n');
}
