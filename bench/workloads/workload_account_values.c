/* bench/workloads/workload_account_values.c: evaluates the counts of an accounting and writes the results. */
#include "bench/workloads/workload_account.h"
#include "bench/measure/reduce.h"

#define LINE_BYTES 64

int64_t workload_account_brought(int64_t count, int64_t cycles, int64_t to)
{
	return cycles > 0 && to > 0 && cycles != to ? mul_div(count, to, cycles) : count;
}

/* A quantity, scaled to the cycles of the sum. */
static int64_t brought(const struct account_result *r, unsigned q)
{
	return workload_account_brought(r->value[q], r->bundle_cycles[q], r->cycles);
}

static int64_t value_of(const struct account_result *r, unsigned q)
{
	return q == Q_CYCLES ? r->cycles : r->value[q];
}

/* Whether a formula starts from the cycles, to which its quantities are then scaled. */
static bool starts_from_cycles(const struct account_formula *f) { return f->sum[0] - 1 == Q_CYCLES; }

/* Quantity number i of a formula; -1: past the last. */
static int quantity_of(const struct account_formula *f, unsigned i, bool *minus, bool *if_any)
{
	int q = i < ACCOUNT_SUM_MAX ? f->sum[i] : 0;

	*minus = q < 0;
	q = q < 0 ? -q : q;
	*if_any = q >= ACCOUNT_IF_ANY;
	return q % ACCOUNT_IF_ANY - 1;
}

bool workload_account_value(const struct account_result *r, const struct account_formula *f, int64_t *milli)
{
	int64_t sum = 0;
	bool minus, if_any;

	if (!(f->threads >> (r->threads - 1) & 1) || (f->divisor != Q_NOTHING && (!r->known[f->divisor] || r->value[f->divisor] <= 0)))
		return false;
	for (unsigned i = 0; quantity_of(f, i, &minus, &if_any) >= 0; i++) {
		unsigned q = (unsigned)quantity_of(f, i, &minus, &if_any);

		if (q != Q_CYCLES && !r->known[q]) {
			if (if_any && !r->event[q])
				continue;
			return false;
		}
		const int64_t value = q != Q_CYCLES && starts_from_cycles(f) ? brought(r, q) : value_of(r, q);

		sum += minus ? -value : value;
	}
	if (f->threads & ACCOUNT_NOT_NEGATIVE && sum < 0)
		sum = 0;
	*milli = f->divisor == Q_NOTHING ? sum * 1000 : mul_div(sum, 1000, r->value[f->divisor]);
	return true;
}

/* Whether a formula is reported: it holds for this number of threads and its events, where optional, exist on this processor. */
static bool is_given(const struct account_result *r, const struct account_formula *f)
{
	bool minus, if_any;

	for (unsigned i = 0; f->threads & ACCOUNT_WHERE_COUNTED && quantity_of(f, i, &minus, &if_any) >= 0; i++)
		if (!r->event[quantity_of(f, i, &minus, &if_any)])
			return false;
	return f->threads >> (r->threads - 1) & 1;
}

int64_t workload_account_named(const struct account_result *r, const char *name)
{
	int64_t milli;

	for (unsigned i = 0; i < ACCOUNT_FORMULAS; i++)
		if (str_equal(workload_account_formulas[i].name, name) && workload_account_value(r, &workload_account_formulas[i], &milli))
			return milli / 1000;
	return -1;
}

void workload_account_bounds(const struct account_result *r, enum account_of whose, struct stall_bounds *out)
{
	/* retirement counts the thread's stalls, execution those of both threads; a thread alone on its core has all the core's stalls */
	const bool both = whose == ACCOUNT_OF_CORE && r->threads > 1;
	const unsigned level = !both && r->known[Q_RETIRE_STALL] ? Q_RETIRE_STALL : Q_EXECUTE_STALL;
	const int64_t starved = brought(r, Q_ISSUE_STALL) - brought(r, Q_RESOURCE_STALL);

	out->stalls = r->known[level] ? brought(r, level) : -1;
	out->misses = r->known[Q_QUEUE_BUSY] ? brought(r, Q_QUEUE_BUSY) : -1;
	out->front_end = -1;
	/* with a second thread this includes waiting for its grants: still a bound */
	if (!both && r->known[Q_ISSUE_STALL] && r->known[Q_RESOURCE_STALL] && r->known[Q_ISSUE_ACTIVE] && r->known[Q_ISSUED_UOPS] && r->known[Q_RETIRED_UOPS])
		out->front_end = stall_front_end(starved > 0 ? starved : 0, brought(r, Q_ISSUE_ACTIVE), r->value[Q_ISSUED_UOPS] + r->value[Q_ISSUED_FUSED],
		                                 r->value[Q_RETIRED_UOPS]);
}

bool workload_account_master(const struct account_result *r, struct workload_account_master *out)
{
	static const uint8_t needs[] = { Q_DISPATCHED_UOPS, Q_RETIRED_UOPS, Q_RETIRED_PAIRS, Q_EXECUTE_STALL, Q_EXECUTE_ACTIVE };

	for (unsigned i = 0; i < COUNT_OF(needs); i++)
		if (!r->known[needs[i]])
			return false;
	int64_t dispatched = r->value[Q_DISPATCHED_UOPS], used = r->value[Q_RETIRED_UOPS] + r->value[Q_RETIRED_PAIRS], active = r->value[Q_EXECUTE_ACTIVE];

	if (dispatched <= 0)
		return false;
	/* uops of assists retire without a dispatch: clamp the wasted work at 0 */
	out->retired = used < dispatched ? mul_div(active, used, dispatched) : active;
	out->wasted = active - out->retired;
	out->stalls = r->value[Q_EXECUTE_STALL];
	return true;
}

bool workload_account_bus(const struct account_result *r, struct workload_account_bus *out)
{
	if (!r->known[Q_BUS_DATA] || !r->known[Q_BUS_CLOCKS] || !r->known[Q_BUS_LINES] || r->value[Q_BUS_CLOCKS] <= 0 || r->bundle_cycles[Q_BUS_LINES] <= 0)
		return false;
	out->bytes = LINE_BYTES * r->value[Q_BUS_LINES];
	out->bytes_per_second = mul_div(out->bytes, r->core_hz, r->bundle_cycles[Q_BUS_LINES]);
	out->used_milli = mul_div(r->value[Q_BUS_DATA], 1000, r->value[Q_BUS_CLOCKS]);
	return true;
}

/* Cycles of the run that counted an identity's quantities. */
static int64_t identity_cycles(const struct account_result *r, const struct account_formula *f)
{
	return r->bundle_cycles[f->sum[0] - 1];
}

void workload_account_levels(const struct account_result *r, struct account_level levels[ACCOUNT_LEVELS])
{
	static const struct { const char *name; uint8_t q, alone; } at[ACCOUNT_LEVELS] = {
		{ "execution.core", Q_EXECUTE_STALL, Q_EXECUTE_STALL }, { "execution.thread", Q_ALU_STALL, Q_EXECUTE_STALL },
		{ "retirement.thread", Q_RETIRE_STALL, Q_RETIRE_STALL } };

	for (unsigned i = 0; i < ACCOUNT_LEVELS; i++) {
		unsigned q = r->threads > 1 ? at[i].q : at[i].alone; /* a thread alone on its core has all the core's stalls (guide) */

		levels[i] = (struct account_level){ at[i].name, brought(r, q), r->known[q] };
	}
}

bool workload_account_ilp(const struct account_result *r, int64_t cycles[ACCOUNT_ILP])
{
	int64_t more = r->bundle_cycles[Q_ILP_1];

	for (unsigned i = 0; i < ACCOUNT_ILP; i++) {
		int64_t at_least = 0;

		if (i + 1 < ACCOUNT_ILP) {
			if (!r->known[Q_ILP_1 + i])
				return false;
			at_least = r->value[Q_ILP_1 + i];
		}
		cycles[i] = more - at_least;
		more = at_least;
	}
	return true;
}

/* --- results.json ------------------------------------------------------------------------------ */

static const char *const quantity_names[ACCOUNT_QUANTITIES] = {
#define QUANTITY(id, bundle, cmask, inv, edge, any, concept) #id,
#include "bench/workloads/workload_account.def"
};

static void json_lower(struct text *t, const char *s)
{
	for (; *s; s++)
		text_char(t, *s >= 'A' && *s <= 'Z' ? (char)(*s + 32) : *s);
}

static void json_counts(struct text *t, const struct account_result *r)
{
	bool comma = false;

	text_fmt(t, ", \"counts\": {");
	for (unsigned q = 0; q < ACCOUNT_QUANTITIES; q++) {
		if (!r->known[q])
			continue;
		text_fmt(t, "%s\"", comma ? ", " : "");
		json_lower(t, quantity_names[q]);
		text_fmt(t, "\": {\"event\": \"%s\", \"count\": %lld, \"cycles\": %lld}", r->event[q], (long long)r->value[q],
		         (long long)r->bundle_cycles[q]);
		comma = true;
	}
	text_fmt(t, "}");
}

static void json_formulas(struct text *t, const struct account_result *r)
{
	bool comma = false;

	text_fmt(t, ", \"values\": {");
	for (unsigned i = 0; i < ACCOUNT_FORMULAS; i++) {
		const struct account_formula *f = &workload_account_formulas[i];
		int64_t milli = 0;
		bool there;

		if (!is_given(r, f))
			continue;
		there = workload_account_value(r, f, &milli);
		text_fmt(t, "%s\"%s\": {\"value\": ", comma ? ", " : "", f->name);
		text_fixed_or_null(t, milli, 3, there);
		if (f->equals != Q_NOTHING) {
			text_fmt(t, ", \"cycles\": ");
			text_fixed_or_null(t, identity_cycles(r, f) * 1000, 3, there);
		}
		text_fmt(t, "}");
		comma = true;
	}
	text_fmt(t, "}");
}

static void json_master(struct text *t, const struct account_result *r)
{
	struct workload_account_master m;

	if (workload_account_master(r, &m))
		text_fmt(t, ", \"master\": {\"retired\": %lld, \"non_retired\": %lld, \"stalls\": %lld}", (long long)m.retired, (long long)m.wasted,
		         (long long)m.stalls);
}

static void json_bus(struct text *t, const struct account_result *r)
{
	struct workload_account_bus b;

	if (!workload_account_bus(r, &b))
		return;
	text_fmt(t, ", \"bus\": {\"bytes\": %lld, \"bytes_per_second\": %lld, \"used\": ", (long long)b.bytes, (long long)b.bytes_per_second);
	text_fixed(t, b.used_milli, 3);
	text_fmt(t, "}");
}

static void json_terms(struct text *t, const struct account_result *r)
{
	text_fmt(t, ", \"terms\": [");
	for (unsigned i = 0; i < stall_term_count; i++) {
		const struct workload_term *term = &r->terms[i];

		text_fmt(t, "%s{\"name\": \"%s\", \"title\": \"%s\", \"row\": \"%s\", \"event\": ", i ? ", " : "", stall_terms[i].key, stall_terms[i].title,
		         stall_terms[i].penalty);
		text_fmt(t, term->count_of ? "\"%s\"" : "null", term->count_of);
		text_fmt(t, ", \"count\": %lld, \"count_cycles\": %lld, \"core_count\": %lld, \"penalty\": ", (long long)term->count, (long long)term->cycles, (long long)term->core_count);
		text_fixed_or_null(t, term->penalty_milli, 3, term->penalty_milli >= 0);
		text_fmt(t, ", \"alone\": ");
		text_fixed_or_null(t, term->thread.alone * 1000, 3, term->thread.known);
		text_fmt(t, ", \"cycles\": ");
		text_fixed_or_null(t, term->thread.charged * 1000, 3, term->thread.known);
		text_fmt(t, ", \"core_cycles\": ");
		text_fixed_or_null(t, term->core.charged * 1000, 3, term->core.known);
		text_fmt(t, ", \"open\": \"%s\"}", term->open ? term->open : "");
	}
	text_fmt(t, "]");
}

void workload_account_json(struct text *t, const struct account_result *r)
{
	struct account_level levels[ACCOUNT_LEVELS];
	int64_t ilp[ACCOUNT_ILP];

	text_fmt(t, "{\"workload\": \"%s%s%s\", \"status\": \"%s\", \"reason\": \"", work_name(r->kind), r->core_kind ? "@" : "",
	         r->core_kind ? r->core_kind : "", row_status_name(r->status));
	text_json(t, r->reason);
	text_fmt(t, "\", \"threads\": %u, \"iterations\": %llu, \"runs\": %u, \"pairs\": %u, \"cycles\": %lld", r->threads,
	         (unsigned long long)r->iterations, r->runs, r->pairs, (long long)r->cycles);
	if (r->status == ROW_OK || r->status == ROW_UNPROVEN) {
		json_counts(t, r);
		json_formulas(t, r);
		json_master(t, r);
		json_bus(t, r);
		json_terms(t, r);
		text_fmt(t, ", \"sum\": %lld, \"core_sum\": %lld, \"overlap\": %lld, \"levels\": {", (long long)r->sum, (long long)r->core_sum, (long long)r->overlap);
		workload_account_levels(r, levels);
		for (unsigned i = 0; i < ACCOUNT_LEVELS; i++) {
			text_fmt(t, "%s\"%s\": {\"stalls\": ", i ? ", " : "", levels[i].name);
			text_fixed_or_null(t, levels[i].stalls * 1000, 3, levels[i].known);
			text_fmt(t, ", \"unaccounted\": ");
			text_fixed_or_null(t, (levels[i].stalls - (i ? r->sum : r->core_sum)) * 1000, 3, levels[i].known);
			text_fmt(t, "}");
		}
		text_fmt(t, "}, \"ilp\": ");
		if (workload_account_ilp(r, ilp)) {
			for (unsigned i = 0; i < ACCOUNT_ILP; i++)
				text_fmt(t, "%s%lld", i ? ", " : "[", (long long)ilp[i]);
			text_fmt(t, "]");
		} else {
			text_fmt(t, "null");
		}
	}
	text_fmt(t, "}");
}

/* --- screen and log ---------------------------------------------------------------------------- */

static void part(struct text *t, int64_t n, int64_t of)
{
	text_fmt(t, " %10lld ", (long long)n);
	if (of > 0) {
		char number[24];
		struct text p;

		text_init(&p, number, sizeof(number));
		text_fixed(&p, mul_div(n, 1000, of), 1);
		text_fmt(t, "%6s %%", number);
	}
}

static void formula_lines(struct text *t, const struct account_result *r)
{
	for (unsigned i = 0; i < ACCOUNT_FORMULAS; i++) {
		const struct account_formula *f = &workload_account_formulas[i];
		int64_t milli;

		if (!is_given(r, f))
			continue;
		text_fmt(t, "  %-24s", f->name);
		if (!workload_account_value(r, f, &milli)) {
			text_fmt(t, " not counted: no event for it, or one that is not modelled\n");
			continue;
		}
		if (f->equals != Q_NOTHING) {
			int64_t stall = r->value[f->sum[0] - 1], active = r->value[f->sum[1] - 1], cycles = identity_cycles(r, f);

			text_fmt(t, " stalled %lld + active %lld = %lld of %lld cycles\n", (long long)stall, (long long)active,
			         (long long)(stall + active), (long long)cycles);
			continue;
		}
		text_char(t, ' ');
		text_fixed(t, f->divisor == Q_NOTHING ? milli / 1000 : milli, f->divisor == Q_NOTHING ? 0 : 3);
		text_char(t, '\n');
	}
}

static void master_lines(struct text *t, const struct account_result *r)
{
	struct workload_account_master m;

	if (!workload_account_master(r, &m))
		return;
	text_fmt(t, "  master equation          retired %lld + non-retired %lld + stalls %lld = %lld of %lld cycles\n", (long long)m.retired, (long long)m.wasted,
	         (long long)m.stalls, (long long)(m.retired + m.wasted + m.stalls), (long long)r->bundle_cycles[Q_EXECUTE_STALL]);
}

static void bus_lines(struct text *t, const struct account_result *r)
{
	struct workload_account_bus b;

	if (!workload_account_bus(r, &b))
		return;
	text_fmt(t, "  front-side bus           %lld bytes, ", (long long)b.bytes);
	text_fixed(t, b.bytes_per_second / 1000000, 3);
	text_fmt(t, " GB/s; data in ");
	text_fixed(t, b.used_milli, 1);
	text_fmt(t, " %% of its clocks\n");
}

static void open_lines(struct text *t, const struct account_result *r)
{
	for (unsigned i = 0; i < stall_term_count; i++) { /* one line per reason */
		const char *why = r->terms[i].open;
		bool repeated = !why;

		for (unsigned k = 0; k < i && !repeated; k++)
			repeated = r->terms[k].open && str_equal(r->terms[k].open, why);
		if (repeated)
			continue;
		text_fmt(t, "  left open, since %s:", why);
		for (unsigned k = i; k < stall_term_count; k++)
			if (r->terms[k].open && str_equal(r->terms[k].open, why))
				text_fmt(t, " %s", stall_terms[k].key);
		text_char(t, '\n');
	}
}

static void sum_lines(struct text *t, const struct account_result *r)
{
	struct account_level levels[ACCOUNT_LEVELS];

	for (unsigned i = 0; i < stall_term_count; i++) {
		const struct workload_term *term = &r->terms[i];

		if (!term->thread.known || !term->count)
			continue;
		text_fmt(t, "  %-24s", stall_terms[i].key);
		part(t, term->thread.charged, r->cycles);
		text_fmt(t, "  %lld x ", (long long)term->count);
		text_fixed(t, term->penalty_milli, 3);
		if (term->thread.charged < term->thread.alone)
			text_fmt(t, ", less %lld that overlap", (long long)(term->thread.alone - term->thread.charged));
		text_char(t, '\n');
	}
	text_fmt(t, "  %-24s", "sum");
	part(t, r->sum, r->cycles);
	text_fmt(t, "  of P x N %lld, overlapped %lld", (long long)(r->sum + r->overlap), (long long)r->overlap);
	if (r->threads > 1)
		text_fmt(t, ", both threads %lld", (long long)r->core_sum);
	text_char(t, '\n');
	workload_account_levels(r, levels);
	for (unsigned i = 0; i < ACCOUNT_LEVELS; i++) {
		if (!levels[i].known)
			continue;
		text_fmt(t, "  stalls %-17s", levels[i].name);
		part(t, levels[i].stalls, r->cycles);
		text_fmt(t, "  unaccounted %lld\n", (long long)(levels[i].stalls - (i ? r->sum : r->core_sum)));
	}
	open_lines(t, r);
}

void workload_account_lines(struct text *t, const struct account_result *r)
{
	int64_t ilp[ACCOUNT_ILP];

	text_fmt(t, "account.%s%s%s (%s), %u thread%s a core", work_name(r->kind), r->core_kind ? "@" : "", r->core_kind ? r->core_kind : "", work_description(r->kind),
	         r->threads, r->threads == 1 ? "" : "s");
	if (r->status != ROW_OK) {
		text_fmt(t, ": %s: %s\n", row_status_name(r->status), r->reason);
		if (r->status != ROW_UNPROVEN)
			return;
	}
	text_fmt(t, "%s%lld cycles, %u runs\n", r->status == ROW_OK ? ", " : "  ", (long long)r->cycles, r->runs);
	formula_lines(t, r);
	master_lines(t, r);
	bus_lines(t, r);
	sum_lines(t, r);
	if (workload_account_ilp(r, ilp)) {
		text_fmt(t, "  uops started a cycle    ");
		for (unsigned i = 0; i < ACCOUNT_ILP; i++) {
			text_fmt(t, " %u%s: ", i, i + 1 == ACCOUNT_ILP ? "+" : "");
			text_fixed(t, mul_div(ilp[i], 1000, r->bundle_cycles[Q_ILP_1] ? r->bundle_cycles[Q_ILP_1] : 1), 1);
			text_fmt(t, " %%");
		}
		text_char(t, '\n');
	}
}
