/* bench/multicore/multicore_bus.c: how busy a front-side bus is while all cores stream from memory.
 *
 * The Core 2 paper's two measures: bus clocks with data over bus clocks (BUS_DRDY_CLOCKS.ALL_AGENTS, CPU_CLK_UNHALTED.BUS), and full lines of all
 * agents beside those of one core (BUS_TRANS_BURST, ALL_AGENTS and SELF). Counted on the first core, two events at a time, in windows of their own. */
#include "bench/multicore/multicore_buffers.h"
#include "pmu/core/concept.h"

#define EVENTS 2u
#define GROUPS 2u

static const char *const counted[GROUPS][EVENTS] = { { "bus.data", "bus.cycles" }, { "bus.line", "request.offcore" } };

/* Counts of a longer window. The shorter one is not subtracted: a bus that is never idle would then seem to be idle for a negative time. */
static enum status window(struct multicore *c, unsigned n, int64_t *counts)
{
	enum status st;
	bool together;

	bench_working(c->b);
	for (unsigned i = 0; i < n; i++) {
		c->members[i].units = (uint64_t)multicore_window(c) * multicore_times(c->row);
		if (c->moves)
			c->members[i].set.at = multicore_start_offset(c, i, 0);
	}
	st = multicore_flush(c, n);
	if (st == ST_OK)
		st = multicore_run(c, n, MULTICORE_COUNTED, &together);
	for (unsigned e = 0; e < EVENTS && st == ST_OK; e++)
		counts[e] = (int64_t)c->members[0].window.counts[e];
	return st;
}

static enum status group(struct multicore *c, unsigned n, const char *const *names, int64_t *counts)
{
	const struct counting kept = c->counting;
	const struct event *events[EVENTS];
	struct counting own = { .events = EVENTS, .on = true };
	const char *problem;
	enum status st, stopped;

	for (unsigned e = 0; e < EVENTS; e++) {
		events[e] = concept_event(c->b->cpu->processor, names[e]);
		if (!events[e])
			return ST_UNSUPPORTED;
	}
	if (plan_events(c->b->cpu, events, EVENTS, &own.plan, &problem) != ST_OK || own.plan.runs != 1)
		return ST_UNSUPPORTED;
	st = counters_start(c->b->a, c->b->cpu, &own.plan, 0, c->members[0].core);
	if (st != ST_OK)
		return st;
	c->counting = own;
	st = window(c, n, counts);
	c->counting = kept;
	stopped = counters_stop(c->b->a, c->b->cpu, &own.plan, 0, c->members[0].core);
	return st == ST_OK ? stopped : st;
}

enum status multicore_bus(struct multicore *c, unsigned n, struct row_result *out)
{
	int64_t counts[GROUPS][EVENTS] = { { 0 } };
	struct text t;

	for (unsigned g = 0; g < GROUPS; g++) {
		const enum status st = group(c, n, counted[g], counts[g]);

		if (st != ST_OK)
			return st == ST_UNSUPPORTED ? ST_OK : st; /* the rate is valid without */
	}
	if (counts[0][1] <= 0 || counts[1][1] <= 0 || out->remark[0])
		return ST_OK;
	text_init(&t, out->remark, sizeof(out->remark));
	text_fmt(&t, "bus: data in ");
	text_fixed(&t, mul_div(counts[0][0], 1000, counts[0][1]), 1);
	text_fmt(&t, " %% of its clocks, ");
	text_fixed(&t, mul_div(counts[1][0], 100, counts[1][1]), 2);
	text_fmt(&t, " lines of all agents for each of this core's");
	return ST_OK;
}
