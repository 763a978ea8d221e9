/* bench/measure/evidence.c: which counters prove a row, and what its samples mean. */
#include "bench/measure/loop.h"

#define WINDOW_END_CYCLES 25 /* about a misprediction, on any processor */
#define PENALTY_QUIET_MILLI 100 /* penalties are told to half a cycle: what they spread by less is none */

bool proof_holds(const struct row_proof *proofs, unsigned n, const int64_t *per_unit_milli, const char *unit,
                 struct text *text)
{
	bool holds = true;

	for (unsigned i = 0; i < n; i++) {
		if (i)
			text_fmt(text, ", ");
		text_fmt(text, "%s ", proofs[i].event);
		text_fixed(text, per_unit_milli[i], 3);
		text_fmt(text, " per %s", proofs[i].per == PER_STORE ? "store" : proofs[i].per == PER_LOAD ? "load" : unit);
		if (per_unit_milli[i] < proofs[i].low_milli || per_unit_milli[i] > proofs[i].high_milli)
			holds = false;
	}
	return holds;
}

const char *evidence_unprovable(const struct bench *b, const struct row *r)
{
	for (unsigned i = 0; b->cycles && i < unprovable_count; i++)
		if (str_equal(unprovable[i].processor, b->cpu->processor->name) && str_equal(unprovable[i].row, r->name))
			return unprovable[i].why;
	return NULL;
}

void evidence_plan(struct bench *b, const struct row *r, struct counting *c)
{
	const struct event *events[ROW_EVENTS_MAX];
	const char *problem;

	memset(c, 0, sizeof(*c));
	if (!b->cycles)
		return;
	events[0] = b->cycles;
	c->events = 1;
	for (const struct row_proof_set *set = r->proofs; set && set->proofs[0].event[0]; set++) {
		unsigned n = 0;

		while (n < ROW_PROOFS_MAX && set->proofs[n].event &&
		       (events[1 + n] = event_find(b->cpu->processor, set->proofs[n].event)))
			n++;
		if (n < ROW_PROOFS_MAX && set->proofs[n].event)
			continue; /* the processor lacks one */
		if (plan_events(b->cpu, events, 1 + n, &c->plan, &problem) != ST_OK) {
			c->uncounted = problem ? event_find(b->cpu->processor, problem) : NULL;
			continue;
		}
		c->proofs = set->proofs;
		c->proof_count = n;
		c->events = 1 + n;
		c->on = true;
		return;
	}
	c->on = plan_events(b->cpu, events, 1, &c->plan, &problem) == ST_OK;
}

void evidence_lacking(const struct bench *b, const struct counting *c, struct text *why)
{
	if (!b->cycles)
		text_fmt(why, "no performance counters%s%s", b->cpu->pmu_absent ? ": " : "", b->cpu->pmu_absent ? b->cpu->pmu_absent : "");
	else if (c->uncounted && plan_extra_absent(b->cpu, c->uncounted))
		text_fmt(why, "register 0x%x of %s does not answer", c->uncounted->extra_msr, c->uncounted->name);
	else if (c->uncounted)
		text_fmt(why, "no counter can count %s", c->uncounted->name);
	else
		text_fmt(why, "this processor has no event that proves it");
}

/* --- what it means ----------------------------------------------------------------------------- */

/* Counts of one event, test less baseline, a unit of work. */
static enum status count_of_pair(const struct loop *l, unsigned event, int64_t *milli)
{
	struct slope count[2] = { { 0 } };

	for (unsigned s = 0; s < l->set_count; s++) {
		enum status st = slope_of(l->b->counts[s][event], l->pairs, l->sets[s].window, STAT_MEDIAN, &count[s]);

		if (st != ST_OK)
			return st;
	}
	*milli = mul_div(count[0].value_micro - count[1].value_micro, 1, 1000);
	return ST_OK;
}

/* Where chance decides how many events there are, cycles and events of the same windows belong together: all
 * extra cycles by all events. *spread is the median deviation of the pairs' own quotients. */
static void divide_by_count(const struct loop *l, int64_t base_micro, int64_t *value_micro, int64_t *spread_micro)
{
	const struct pair *cycles = l->b->counts[0][0], *events = l->b->counts[0][1];
	int64_t each[SAMPLES_MAX], work[SAMPLES_MAX], extra = 0, count = 0, window = l->sets[0].window;

	for (unsigned i = 0; i < l->pairs; i++) {
		int64_t c = (cycles[i].longer - cycles[i].shorter) * 1000 - mul_div(base_micro, window, 1000);
		int64_t n = events[i].longer - events[i].shorter;

		each[i] = n > 0 ? mul_div(c, 1000, n) : 0;
		extra += c;
		count += n;
	}
	*value_micro = count > 0 ? mul_div(extra, 1000, count) : 0;
	*spread_micro = samples_mad(each, l->pairs, *value_micro, work);
}

enum status evidence_reduce(struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;
	const struct row *r = l->row;
	const enum statistic statistic = l->unsure ? STAT_MEAN : r->statistic;
	struct slope tsc[2], cycles[2], count;
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
		    l->counting.plan.slots[0].run == l->counting.plan.slots[1].run) {
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
		for (unsigned i = 0; i < l->counting.proof_count; i++) {
			if (r->pair) {
				st = count_of_pair(l, 1 + i, &per_unit_milli[i]);
				if (st != ST_OK)
					return st;
				continue;
			}
			st = slope_of(b->counts[0][1 + i], l->pairs, l->sets[0].window, STAT_MEDIAN, &count);
			if (st != ST_OK)
				return st;
			per_unit_milli[i] = mul_div(count.value_micro, 1, 1000);
			if (r->baseline == BASELINE_OPEN_PAGES) { /* whose loads memory must answer too, not a prefetcher */
				struct slope base;

				st = slope_of(b->counts[1][1 + i], l->pairs, l->sets[1].window, STAT_MEDIAN, &base);
				if (st != ST_OK)
					return st;
				if (mul_div(base.value_micro, 1, 1000) < l->counting.proofs[i].low_milli)
					per_unit_milli[i] = mul_div(base.value_micro, 1, 1000);
			}
			if (l->counting.proofs[i].per != PER_UNIT && r->order == ORDER_STREAMS)
				per_unit_milli[i] = mul_div(per_unit_milli[i], 1, l->counting.proofs[i].per == PER_LOAD ? l->sets[0].kernel->loads : l->sets[0].kernel->stores);
		}
		proven = proof_holds(l->counting.proofs, l->counting.proof_count, per_unit_milli,
		                     r->pair ? "event" : r->order == ORDER_STREAMS ? "iteration" : "load", &proof);
		if (!proven)
			text_fmt(&reason, "counted %s", out->proof);
	}
	if (!r->proofs && b->cycles) {
		text_fmt(&proof, "no processor has an event for it");
		proven = true;
	}
	if (!proven) {
		out->status = ROW_UNPROVEN;
		if (!reason.length) {
			const char *why = evidence_unprovable(b, r);

			evidence_lacking(b, &l->counting, &reason);
			out->unprovable = why != NULL;
			text_fmt(&reason, "%s%s", why ? ": " : "", why ? why : "");
		}
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
