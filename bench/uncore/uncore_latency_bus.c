/* bench/uncore/uncore_latency_bus.c: the third method for processors with a front-side bus: residence of loads in its in-order queue.
 *
 * NetBurst (Optimization manual, table B-1): reads underway over reads. Their two ESCRs are also those of the cycles, so they are counted in
 * separate windows after the row's. */
#include "bench/uncore/uncore_latency.h"
#include "pmu/core/concept.h"

#define PAIRS 5u
#define INSERTS_LEAST 950
#define INSERTS_MOST  1100

enum { ENTRIES, READS, COUNTS };

static enum status count_pairs(struct loop *l, struct counting *c, struct pair pairs[COUNTS][PAIRS], unsigned *kept)
{
	struct working_set *w = &l->sets[0];

	for (unsigned round = 0; round < 2 * PAIRS && *kept < PAIRS; round++) {
		bool disturbed = false;

		for (unsigned longer = 0; longer < 2; longer++) {
			const uint64_t units = (uint64_t)w->window << longer;
			struct window out;
			enum status st = window_prepare(l->b, l->row, w, WINDOW_TEST, units, &l->job);

			noise_check_before(l->b);
			if (st == ST_OK)
				st = window_units(l->b, w, units, c, 0, &out, &l->job);
			if (st != ST_OK)
				return st;
			disturbed = noise_check_after(l->b) || disturbed;
			for (unsigned e = 0; e < COUNTS; e++)
				*(longer ? &pairs[e][*kept].longer : &pairs[e][*kept].shorter) = (int64_t)out.counts[e];
		}
		*kept += !disturbed;
	}
	return *kept ? ST_OK : ST_MISSING;
}

void uncore_latency_bus(struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;
	struct uncore_latency_result *q = &out->queue;
	const struct event *events[COUNTS] = { concept_event(b->cpu->processor, "bus.read.occupancy"),
		concept_event(b->cpu->processor, "bus.read.inserts") };
	struct counting c = { .events = COUNTS, .on = true };
	struct pair pairs[COUNTS][PAIRS];
	struct slope slope[COUNTS];
	const char *problem;
	struct text reason;
	unsigned kept = 0;

	if (q->verdict != UNCORE_LATENCY_UNSUPPORTED || !events[ENTRIES] || !events[READS] || row_was_ended(out->status) || !l->pairs ||
	    plan_events(b->cpu, events, COUNTS, &c.plan, &problem) != ST_OK || c.plan.runs != 1)
		return;
	enum status st = counters_start(b->a, b->cpu, &c.plan, 0, b->core);
	if (st == ST_OK) {
		st = count_pairs(l, &c, pairs, &kept);
		const enum status stopped = counters_stop(b->a, b->cpu, &c.plan, 0, b->core);

		st = st == ST_OK ? stopped : st;
	}
	for (unsigned e = 0; e < COUNTS && st == ST_OK; e++)
		st = reduce_slope(pairs[e], kept, l->sets[0].window, STAT_MEDIAN, &slope[e]);
	q->reason[0] = 0;
	if (st != ST_OK || slope[READS].value_micro <= 0) {
		q->verdict = st == ST_OK || st == ST_MISSING ? UNCORE_LATENCY_UNPROVEN : uncore_latency_verdict_of(st);
		str_copy(q->reason, sizeof(q->reason), st == ST_OK ? "nothing was counted" : st == ST_MISSING ? "every window was disturbed" :
		         "counting the bus' queue failed");
		return;
	}
	q->bus = true;
	q->samples = kept;
	q->uncore_hz = out->core_hz;
	q->inserts_milli = mul_div(slope[READS].value_micro, 1, 1000);
	q->uncore_milli = q->cycles_milli = mul_div(slope[ENTRIES].value_micro, 1000, slope[READS].value_micro);
	q->offset_milli = out->value_milli - q->cycles_milli;
	q->verdict = UNCORE_LATENCY_OK;
	text_init(&reason, q->reason, sizeof(q->reason));
	if (q->inserts_milli < INSERTS_LEAST || q->inserts_milli > INSERTS_MOST) {
		q->verdict = UNCORE_LATENCY_UNPROVEN;
		text_fixed(&reason, q->inserts_milli, 3);
		text_fmt(&reason, " reads a load: other traffic, or loads that did not come so far");
	} else if (q->cycles_milli < out->value_milli / 2 || q->cycles_milli > out->value_milli * 2) {
		/* no document says which clock the occupancy is summed over */
		q->verdict = UNCORE_LATENCY_UNPROVEN;
		text_fixed(&reason, q->cycles_milli, 3);
		text_fmt(&reason, " clocks a read are not the load's time: of another clock?");
	}
}
