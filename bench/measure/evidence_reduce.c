/* bench/measure/evidence_reduce.c: reduces a row's samples to value, spread and verdict. */
#include "bench/measure/loop.h"

#define WINDOW_END_CYCLES 25 /* about a misprediction, on any processor */
#define NOTHING_MILLI 10       /* limit of events per unit, for a stall that the processor lacks */
#define FREE_MILLI    250      /* and of its cost */
#define PENALTY_QUIET_MILLI 100 /* penalties are accurate to half a cycle: a smaller spread than this does not count */

/* The statistic of the row's value. */
static enum statistic statistic_of(const struct loop *l) { return l->unsure ? STAT_MEAN : l->row->statistic; }

/* The slope of a set's windows. Where those of a kernel are neighbours, the least ones are alike, however few. */
static enum status slope_of_set(const struct loop *l, const struct pair *pairs, unsigned set, struct slope *out)
{
	return loop_has_neighbours(l) ? reduce_slope_of_neighbours(pairs, l->pairs, l->sets[set].window, out) :
		reduce_slope(pairs, l->pairs, l->sets[set].window, statistic_of(l), out);
}

/* Counts of each event per unit of work over one working set, in millionths: medians of the pairs' slopes. If the row's value is a mean, their
 * mean: some pairs, whose lines are nearer than the others', move the value. */
static enum status counts_of_set(const struct loop *l, unsigned set, int64_t *micro)
{
	const enum statistic statistic = statistic_of(l) == STAT_MEAN ? STAT_MEAN : STAT_MEDIAN;

	for (unsigned e = 0; e < l->counting.events; e++) {
		struct slope count;
		enum status st = reduce_slope(l->b->counts[set][e], l->pairs, l->sets[set].window, statistic, &count);

		if (st != ST_OK)
			return st;
		micro[e] = count.value_micro;
	}
	return ST_OK;
}

/* Values of the proofs per unit of work, in thousandths, from each event's counts over each working set. */
static void values_of(const struct loop *l, int64_t micro[2][ROW_EVENTS_MAX], int64_t *milli)
{
	const struct counting *c = &l->counting;
	const struct kernel *k = l->sets[0].kernel;
	int64_t values[2][ROW_PROOFS_MAX] = { { 0 } };

	for (unsigned s = 0; s < l->set_count; s++)
		evidence_values(c, micro[s], values[s]);
	for (unsigned i = 0; i < c->proof_count; i++) {
		milli[i] = mul_div(values[0][i], 1, 1000);
		if (l->row->pair && l->set_count > 1)
			milli[i] = mul_div(values[0][i] - values[1][i], 1, 1000);
		if (l->row->pair && l->set_count > 1 && str_equal(c->proofs[i].concept, "prefetch.hardware")) /* neither may have any, and a difference would hide an equal number */
			milli[i] = mul_div(values[0][i] > values[1][i] ? values[0][i] : values[1][i], 1, 1000);
		if (l->row->pair)
			continue;
		/* DRAM, not a prefetcher, must answer the baseline's loads too; or the L2, which the L1 must not spare them */
		if ((l->row->baseline == BASELINE_OPEN_PAGES || (l->row->baseline == BASELINE_PACKED && str_equal(c->proofs[i].concept, "load.hit.l2"))) &&
		    mul_div(values[1][i], 1, 1000) < c->proofs[i].low_milli)
			milli[i] = mul_div(values[1][i], 1, 1000);
		if (c->proofs[i].per != PER_UNIT && l->row->order == ORDER_STREAMS)
			milli[i] = mul_div(milli[i], 1, c->proofs[i].per == PER_LOAD ? k->loads : k->stores);
	}
}

/* Whether the first proof is counted in the same windows as cycles. */
static bool counted_with_cycles(const struct counting *c)
{
	for (unsigned e = 1; e < c->events; e++)
		for (unsigned t = 0; t < c->expressions[0]->term_count; t++)
			if (c->expressions[0]->terms[t].event == c->list[e] && c->plan.slots[e].run != c->plan.slots[0].run)
				return false;
	return true;
}

/* For events whose number is random: total extra cycles divided by total events, both from the same windows. *spread_micro is the median
 * absolute deviation of the pairs' own quotients. */
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
	*spread_micro = reduce_mad(each, l->pairs, *value_micro, work);
}

/* Core clock, from windows timed by dependent operations; 0: not known. Times follow from cycles and this clock: separate slopes of TSC and cycles
 * might come from different windows of a bimodal row. */
static uint64_t clock_of(const struct loop *l)
{
	struct slope ticks;

	if (reduce_slope(l->b->clock, l->pairs, l->clock_adds, STAT_MEDIAN, &ticks) != ST_OK || ticks.value_micro <= 0)
		return 0;
	return (uint64_t)mul_div((int64_t)l->b->a->tsc_hz, 1000000, ticks.value_micro);
}

/* Value and spread from the slopes of TSC and cycles. *scale_milli is the reference of the relative noise. */
static void value_of(const struct loop *l, const struct slope *tsc, const struct slope *cycles, struct row_result *out, int64_t *scale_milli)
{
	const struct row *r = l->row;
	const int64_t hz = (int64_t)l->b->a->tsc_hz;
	int64_t value = cycles[0].value_micro, ticks = tsc[0].value_micro, spread_micro = cycles[0].spread_micro;

	if (out->cycles_open || !l->b->cycles)
		out->core_hz = out->cycles_open ? 0 : clock_of(l);
	else if (ticks > 0)
		out->core_hz = (uint64_t)mul_div(hz, value, ticks);
	if (r->kind == KIND_THROUGHPUT) {
		out->value_milli = mul_div((int64_t)l->sets[0].kernel->data_bytes * 1000000000, hz, ticks > 0 ? ticks : 1);
		out->spread_milli = mul_div(out->value_milli, tsc[0].spread_micro, ticks > 0 ? ticks : 1);
		*scale_milli = ticks > 0 ? out->value_milli : 0;
		return;
	}
	if (l->set_count > 1) {
		value -= cycles[1].value_micro;
		ticks -= tsc[1].value_micro;
		spread_micro += cycles[1].spread_micro;
	}
	if (r->pair && r->pair->counted && l->set_count > 1 && l->counting.proof_count && counted_with_cycles(&l->counting)) {
		int64_t before = value;

		divide_by_count(l, cycles[1].value_micro, &value, &spread_micro);
		ticks = before ? mul_div(ticks, value, before > 0 ? before : -before) : 0;
	}
	out->value_milli = mul_div(value, 1, 1000);
	out->spread_milli = mul_div(spread_micro, 1, 1000);
	out->range_milli = l->set_count > 1 ? 0 : mul_div(cycles[0].range_micro, 1, 1000);
	out->cycles_milli = out->value_milli;
	out->ns_milli = l->b->cycles || !out->core_hz ? mul_div(ticks, 1000000, hz) : mul_div(out->value_milli, 1000000000, (int64_t)out->core_hz);
	*scale_milli = mul_div(cycles[0].value_micro, 1, 1000);
	if (out->cycles_open) {
		out->ns_milli = mul_div(ticks, 1000000, hz);
		out->cycles_milli = -1;
	}
}

/* A stall that some processors do not have costs nothing on them. */
static bool costs_nothing(const struct row *r, const struct row_result *out)
{
	return r->pair && r->pair->lacked && out->value_milli <= FREE_MILLI && out->value_milli >= -FREE_MILLI;
}

/* Whether the processor lacks the stall: no event counted it, it cost nothing, and the kernel did its work. */
static bool is_lacked(struct loop *l, int64_t micro[2][ROW_EVENTS_MAX], int64_t counted_milli, struct row_result *out)
{
	bool work = costs_nothing(l->row, out) && counted_milli <= NOTHING_MILLI && counted_milli >= -NOTHING_MILLI;

	for (unsigned s = 0; work && s < l->set_count; s++)
		work = evidence_work_holds(&l->counting, &l->sets[s], micro[s], "event", out);
	return work;
}

/* Checks the counts against the row's proof. A row without a concept is proven when its instruction count matches the work that it divides by.
 * *proven false: out->reason says why. */
static enum status confirmed(struct loop *l, struct row_result *out, bool *proven)
{
	const struct row *r = l->row;
	const char *unit = r->pair ? "event" : r->order == ORDER_STREAMS ? "iteration" : "load";
	int64_t micro[2][ROW_EVENTS_MAX] = { { 0 } }, milli[ROW_PROOFS_MAX], expected_micro;
	bool work = l->counting.instructions != 0;
	struct text proof, reason;

	text_init(&proof, out->proof, sizeof(out->proof));
	text_init(&reason, out->reason, sizeof(out->reason));
	*proven = false;
	for (unsigned s = 0; l->counting.on && s < l->set_count; s++) {
		enum status st = counts_of_set(l, s, micro[s]);

		if (st != ST_OK)
			return st;
		work = work && evidence_work(&l->counting, &l->sets[s], micro[s], &expected_micro) == WORK_AGREES;
	}
	l->work_agrees = work;
	if (l->counting.proof_count) {
		values_of(l, micro, milli);
		*proven = evidence_holds(&l->counting, milli, unit, &proof) && !l->counting.absence;
		if (!*proven && is_lacked(l, micro, milli[0], out)) {
			text_init(&reason, out->reason, sizeof(out->reason));
			text_fmt(&reason, "this processor has none: it costs nothing, and %s", out->proof);
			out->absent = true;
		} else if (l->counting.absence) {
			text_init(&reason, out->reason, sizeof(out->reason));
			out->unprovable = evidence_lacking(l->b, &l->counting, &reason);
		} else if (!*proven && work && r->pair && r->pair->uncached && milli[0] < l->counting.proofs[0].low_milli && milli[0] >= -NOTHING_MILLI) {
			text_init(&reason, out->reason, sizeof(out->reason));
			text_fmt(&reason, "a cache of decoded uops has code of it: %s", out->proof);
			out->absent = true;
		} else if (!*proven) {
			text_init(&reason, out->reason, sizeof(out->reason));
			out->unprovable = evidence_refutes(&l->counting, milli, unit, out->proof, &reason);
		}
	} else if (!r->proofs && work) {
		text_fmt(&proof, "%s ", l->counting.list[l->counting.instructions]->name);
		text_fixed(&proof, mul_div(micro[0][l->counting.instructions], 1, 1000), 3);
		text_fmt(&proof, " per %s, as its code has", unit);
		*proven = true;
	} else if (!r->proofs && l->b->cycles) {
		text_fmt(&reason, "no event means it, and its instructions are not counted");
		out->unprovable = !l->counting.instructions;
	} else {
		out->unprovable = evidence_lacking(l->b, &l->counting, &reason);
		if (out->unprovable && work && !out->noisy && costs_nothing(r, out)) {
			text_init(&reason, out->reason, sizeof(out->reason));
			text_fmt(&reason, "this processor has none: it costs nothing, and no event counts it");
			out->absent = true;
			out->unprovable = false;
		}
	}
	for (unsigned s = 0; *proven && s < l->set_count; s++)
		*proven = evidence_work_holds(&l->counting, &l->sets[s], micro[s], unit, out);
	return ST_OK;
}

enum status evidence_reduce(struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;
	const struct row *r = l->row;
	const enum statistic statistic = statistic_of(l);
	struct slope tsc[2], cycles[2];
	int64_t noise_milli, scale_milli;
	const char *noise = "";
	enum status st = ST_OK;
	bool proven = false;

	out->samples = l->pairs;
	out->rejected = l->rejected;
	if (l->pairs == 0) {
		out->status = ROW_NOISY;
		out->noisy = true;
		str_copy(out->reason, sizeof(out->reason), l->smt_probed ? "every window was disturbed, or the core was shared" : "every window was disturbed");
		return ST_OK;
	}
	for (unsigned s = 0; s < l->set_count; s++) {
		st = slope_of_set(l, b->tsc[s], s, &tsc[s]);
		if (st != ST_OK)
			return st;
		st = b->cycles ? slope_of_set(l, b->counts[s][0], s, &cycles[s]) :
		                 reduce_slope_by_clock(b->tsc[s], b->clock, l->pairs, l->sets[s].window, l->clock_adds, statistic, &cycles[s]);
		if (st != ST_OK)
			return st;
	}
	value_of(l, tsc, cycles, out, &scale_milli);
	/* Windows of ORDER_PAIR are short: one misprediction more or less at their ends is not noise of the event. */
	noise_milli = out->spread_milli - (r->pair ? WINDOW_END_CYCLES * 1000 / (int64_t)r->window : 0);
	if (r->kind == KIND_PENALTY && noise_milli <= PENALTY_QUIET_MILLI)
		noise_milli = 0;
	out->noisy = reduce_is_noisy(noise_milli, scale_milli, l->pairs, statistic, &noise);

	st = confirmed(l, out, &proven);
	if (st != ST_OK)
		return st;
	if (out->cycles_open) {
		struct text why;

		text_init(&why, out->reason, sizeof(out->reason));
		proven = window_clock_agrees(b, &why);
	}
	if (out->absent) {
		out->status = ROW_UNSUPPORTED;
		out->noisy = false;
		out->samples = 0;
		return ST_OK;
	}
	out->status = !proven ? ROW_UNPROVEN : out->noisy ? ROW_NOISY : ROW_OK;
	if (proven)
		str_copy(out->reason, sizeof(out->reason), out->noisy ? noise : "");
	evidence_add_noise(out, noise);
	return ST_OK;
}
