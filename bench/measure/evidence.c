/* bench/measure/evidence.c: which counters prove a row, and what its samples mean. */
#include "bench/measure/loop.h"

#define WINDOW_END_CYCLES 25 /* about a misprediction, on any processor */
#define PENALTY_QUIET_MILLI 100 /* penalties are told to half a cycle: what they spread by less is none */

bool evidence_holds(const struct counting *c, const int64_t *per_unit_milli, const char *unit, struct text *text)
{
	bool holds = true;

	for (unsigned i = 0; i < c->proof_count; i++) {
		const struct row_proof *p = &c->proofs[i];

		text_fmt(text, "%s%s ", i ? ", " : "", c->expressions[i]->text);
		text_fixed(text, per_unit_milli[i], 3);
		text_fmt(text, " per %s", p->per == PER_STORE ? "store" : p->per == PER_LOAD ? "load" : unit);
		holds = holds && per_unit_milli[i] >= p->low_milli && per_unit_milli[i] <= p->high_milli;
	}
	return holds;
}

void evidence_values(const struct counting *c, const int64_t *counts, int64_t *values)
{
	for (unsigned i = 0; i < c->proof_count; i++)
		if (expression_value(c->expressions[i], c->list, c->events, counts, &values[i]) != ST_OK)
			values[i] = INT64_MIN; /* within no bounds; evidence_plan_set lists each event */
}

bool evidence_plan_set(struct bench *b, const struct row_proof_set *set, unsigned runs, struct counting *c)
{
	const char *problem = NULL;
	unsigned n = 0, events = 1;

	c->list[0] = b->cycles;
	for (; n < ROW_PROOFS_MAX && set->proofs[n].concept; n++) {
		const struct row_proof *p = &set->proofs[n];
		const struct expression *x = concept_find(b->cpu->processor, p->concept);

		if (!x || !expression_proves(x, p->low_milli, p->high_milli)) {
			c->unproving = c->unproving ? c->unproving : x;
			return false;
		}
		c->expressions[n] = x;
		if (expression_events(x, c->list, &events, ROW_EVENTS_MAX) != ST_OK) {
			c->crowded = true;
			return false;
		}
	}
	if (plan_events(b->cpu, c->list, events, &c->plan, &problem) != ST_OK) {
		for (unsigned i = 1; i < events; i++)
			c->uncounted = problem && str_equal(c->list[i]->name, problem) ? c->list[i] : c->uncounted;
		return false;
	}
	if (c->plan.runs > runs) {
		c->crowded = true;
		return false;
	}
	c->proofs = set->proofs;
	c->proof_count = n;
	c->events = events;
	c->on = true;
	return true;
}

void evidence_plan(struct bench *b, const struct row *r, unsigned runs, struct counting *c)
{
	const char *problem;

	memset(c, 0, sizeof(*c));
	if (!b->cycles)
		return;
	for (const struct row_proof_set *set = r->proofs; set && set->proofs[0].concept; set++)
		if (evidence_plan_set(b, set, runs, c))
			return;
	c->list[0] = b->cycles;
	c->events = 1;
	c->on = plan_events(b->cpu, c->list, 1, &c->plan, &problem) == ST_OK;
}

bool evidence_lacking(const struct bench *b, const struct counting *c, struct text *why)
{
	static const char *const counts[] = { [EXACTNESS_NONE] = "", [EXACTNESS_EXACT] = "", [EXACTNESS_SUPERSET] = "its event counts more, ",
		[EXACTNESS_SUBSET] = "its event counts less, ", [EXACTNESS_CYCLES] = "its event counts " };
	const struct expression *x = c->unproving;

	if (!b->cycles)
		text_fmt(why, "no performance counters%s%s", b->cpu->pmu_absent ? ": " : "", b->cpu->pmu_absent ? b->cpu->pmu_absent : "");
	else if (c->uncounted && plan_extra_absent(b->cpu, c->uncounted))
		text_fmt(why, "register 0x%x of %s does not answer", c->uncounted->extra_msr, c->uncounted->name);
	else if (c->uncounted)
		text_fmt(why, "no counter can count %s", c->uncounted->name);
	else if (c->crowded)
		text_fmt(why, "the events that prove it need more counters than there are");
	else if (x && x->exactness < COUNT_OF(counts))
		text_fmt(why, "this processor has no event that proves it: %s%s", counts[x->exactness], x->why);
	else
		text_fmt(why, "this processor has no event that proves it");
	return b->cycles && !c->uncounted && !c->crowded && x;
}

/* --- what it means ----------------------------------------------------------------------------- */

/* What each event counts per unit of work in the windows of one of the row's working sets: medians of slopes, in millionths. */
static enum status counts_of_set(const struct loop *l, unsigned set, int64_t *micro)
{
	for (unsigned e = 0; e < l->counting.events; e++) {
		struct slope count;
		enum status st = slope_of(l->b->counts[set][e], l->pairs, l->sets[set].window, STAT_MEDIAN, &count);

		if (st != ST_OK)
			return st;
		micro[e] = count.value_micro;
	}
	return ST_OK;
}

/* The proofs' values per unit of work, in thousandths. */
static enum status values_of(const struct loop *l, int64_t *milli)
{
	const struct counting *c = &l->counting;
	const struct kernel *k = l->sets[0].kernel;
	int64_t micro[2][ROW_EVENTS_MAX] = { { 0 } }, values[2][ROW_PROOFS_MAX];

	for (unsigned s = 0; s < l->set_count; s++) {
		enum status st = counts_of_set(l, s, micro[s]);

		if (st != ST_OK)
			return st;
		evidence_values(c, micro[s], values[s]);
	}
	for (unsigned i = 0; i < c->proof_count; i++) {
		milli[i] = mul_div(values[0][i], 1, 1000);
		if (l->row->pair && l->set_count > 1)
			milli[i] = mul_div(values[0][i] - values[1][i], 1, 1000);
		if (l->row->pair)
			continue;
		/* whose loads memory must answer too, not a prefetcher */
		if (l->row->baseline == BASELINE_OPEN_PAGES && mul_div(values[1][i], 1, 1000) < c->proofs[i].low_milli)
			milli[i] = mul_div(values[1][i], 1, 1000);
		if (c->proofs[i].per != PER_UNIT && l->row->order == ORDER_STREAMS)
			milli[i] = mul_div(milli[i], 1, c->proofs[i].per == PER_LOAD ? k->loads : k->stores);
	}
	return ST_OK;
}

/* Whether the first proof is counted in the windows that cycles are. */
static bool counted_with_cycles(const struct counting *c)
{
	for (unsigned e = 1; e < c->events; e++)
		for (unsigned t = 0; t < c->expressions[0]->term_count; t++)
			if (c->expressions[0]->terms[t].event == c->list[e] && c->plan.slots[e].run != c->plan.slots[0].run)
				return false;
	return true;
}

/* Where chance decides how many events there are, cycles and events of the same windows belong together: all
 * extra cycles by all events. *spread is the median deviation of the pairs' own quotients. */
static void divide_by_count(const struct loop *l, int64_t base_micro, int64_t *value_micro, int64_t *spread_micro)
{
	const struct pair *cycles = l->b->counts[0][0];
	int64_t each[SAMPLES_MAX], work[SAMPLES_MAX], extra = 0, count = 0, window = l->sets[0].window;

	for (unsigned i = 0; i < l->pairs; i++) {
		int64_t c = (cycles[i].longer - cycles[i].shorter) * 1000 - mul_div(base_micro, window, 1000);
		int64_t counts[ROW_EVENTS_MAX], n[ROW_PROOFS_MAX];

		for (unsigned e = 0; e < l->counting.events; e++)
			counts[e] = l->b->counts[0][e][i].longer - l->b->counts[0][e][i].shorter;
		evidence_values(&l->counting, counts, n);
		each[i] = n[0] > 0 ? mul_div(c, 1000, n[0]) : 0;
		extra += c;
		count += n[0];
	}
	*value_micro = count > 0 ? mul_div(extra, 1000, count) : 0;
	*spread_micro = samples_mad(each, l->pairs, *value_micro, work);
}

enum status evidence_reduce(struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;
	const struct row *r = l->row;
	const enum statistic statistic = l->unsure ? STAT_MEAN : r->statistic;
	struct slope tsc[2], cycles[2];
	int64_t spread_micro, noise_milli, scale_milli, per_unit_milli[ROW_PROOFS_MAX];
	int64_t hz = (int64_t)b->a->tsc_hz;
	const char *noise = "";
	struct text proof, reason;
	enum status st = ST_OK;
	bool proven = false;

	out->samples = l->pairs;
	out->rejected = l->rejected;
	if (l->pairs == 0) {
		out->status = ROW_NOISY;
		out->noisy = true;
		str_copy(out->reason, sizeof(out->reason), l->witnessed ? "every window was disturbed, or the core was shared" : "every window was disturbed");
		return ST_OK;
	}
	for (unsigned s = 0; s < l->set_count; s++) {
		st = slope_of(b->tsc[s], l->pairs, l->sets[s].window, statistic, &tsc[s]);
		if (st != ST_OK)
			return st;
		st = b->cycles ? slope_of(b->counts[s][0], l->pairs, l->sets[s].window, statistic, &cycles[s]) :
		                 slope_by_clock(b->tsc[s], b->clock, l->pairs, l->sets[s].window, l->clock_adds, statistic, &cycles[s]);
		if (st != ST_OK)
			return st;
	}
	if (tsc[0].value_micro > 0)
		out->core_hz = (uint64_t)mul_div(hz, cycles[0].value_micro, tsc[0].value_micro);

	if (r->kind == KIND_THROUGHPUT) {
		int64_t ticks = tsc[0].value_micro > 0 ? tsc[0].value_micro : 1;

		out->value_milli = mul_div((int64_t)l->sets[0].kernel->data_bytes * 1000000000, hz, ticks);
		out->spread_milli = mul_div(out->value_milli, tsc[0].spread_micro, ticks);
		scale_milli = tsc[0].value_micro > 0 ? out->value_milli : 0;
	} else {
		int64_t value = cycles[0].value_micro, ticks = tsc[0].value_micro;

		spread_micro = cycles[0].spread_micro;
		if (l->set_count > 1) {
			value -= cycles[1].value_micro;
			ticks -= tsc[1].value_micro;
			spread_micro += cycles[1].spread_micro;
		}
		if (r->pair && r->pair->counted && l->set_count > 1 && l->counting.proof_count &&
		    counted_with_cycles(&l->counting)) {
			int64_t before = value;

			divide_by_count(l, cycles[1].value_micro, &value, &spread_micro);
			ticks = before ? mul_div(ticks, value, before > 0 ? before : -before) : 0;
		}
		out->value_milli = mul_div(value, 1, 1000);
		out->spread_milli = mul_div(spread_micro, 1, 1000);
		out->range_milli = l->set_count > 1 ? 0 : mul_div(cycles[0].latency_breakdown_micro, 1, 1000);
		out->cycles_milli = out->value_milli;
		out->ns_milli = mul_div(ticks, 1000000, hz);
		scale_milli = mul_div(cycles[0].value_micro, 1, 1000);
	}
	/* Windows of pairs are short: a mispredicted branch more or less at their ends is no noise of the event. */
	noise_milli = out->spread_milli - (r->pair ? WINDOW_END_CYCLES * 1000 / (int64_t)r->window : 0);
	if (r->kind == KIND_PENALTY && noise_milli <= PENALTY_QUIET_MILLI)
		noise_milli = 0;
	out->noisy = is_noisy(noise_milli, scale_milli, l->pairs, statistic, &noise);

	text_init(&proof, out->proof, sizeof(out->proof));
	text_init(&reason, out->reason, sizeof(out->reason));
	if (l->counting.proof_count) {
		st = values_of(l, per_unit_milli);
		if (st != ST_OK)
			return st;
		proven = evidence_holds(&l->counting, per_unit_milli, r->pair ? "event" : r->order == ORDER_STREAMS ? "iteration" : "load", &proof);
		if (!proven)
			text_fmt(&reason, "counted %s", out->proof);
	}
	if (!r->proofs && b->cycles) {
		text_fmt(&proof, "no processor has an event for it");
		proven = true;
	}
	if (!proven) {
		out->status = ROW_UNPROVEN;
		if (!reason.length)
			out->unprovable = evidence_lacking(b, &l->counting, &reason);
		if (out->noisy)
			text_fmt(&reason, "; noisy: %s", noise);
	} else if (out->noisy) {
		out->status = ROW_NOISY;
		text_fmt(&reason, "%s", noise);
	} else {
		out->status = ROW_OK;
	}
	return ST_OK;
}
