/* bench/workloads/known_program_memory.c: loads by source, which must add up to all loads, and DRAM lines by node. See known_program.h. */
#include "bench/workloads/known_program_parts.h"
#include "pmu/core/concept.h"

/* Sources are counted in two executions. Other activity between jobs evicts different lines each time, so a few loads change their source.
 * Tolerance: one load in N may be missing or counted twice. */
#define SUM_PART 500u

/* Loads that hit DRAM, L3, L2 and L1: one or several per line, back to back and spaced in time. */
static enum status loads_window(struct known_program *s, const struct counting *c, struct window *sum)
{
	static const struct { uint32_t bytes, step; } passes[] = {
		{ KNOWN_PROGRAM_BUFFER_BYTES, 64 }, { KNOWN_PROGRAM_BUFFER_BYTES, 64 }, { KNOWN_PROGRAM_BUFFER_BYTES / 8, 64 },
		{ KNOWN_PROGRAM_BUFFER_BYTES / 8, 64 }, { KNOWN_PROGRAM_BUFFER_BYTES / 64, 16 }, { KNOWN_PROGRAM_BUFFER_BYTES / 64, 16 } };
	const struct kernel *touch = kernel_find("k_touch");
	enum status st = known_program_call(s, "k_flush", s->map.va, KNOWN_PROGRAM_BUFFER_BYTES / 64, 64);

	memset(sum, 0, sizeof(*sum));
	for (unsigned i = 0; i < COUNT_OF(passes) && st == ST_OK; i++) {
		uint64_t arguments[6] = { s->map.va, passes[i].bytes / passes[i].step, passes[i].step };
		struct window w;

		st = touch ? window_run(s->b, touch, arguments, c, 0, &w, &s->job) : ST_BROKEN;
		for (unsigned e = 0; e < c->events && st == ST_OK; e++)
			sum->counts[e] += w.counts[e];
	}
	return st;
}

/* Disjoint sources that together cover every load. */
static const char *const sources[] = { "load.hit.l1", "load.hit.lfb", "load.hit.l2", "load.hit.l3", "load.miss.llc" };

/* All loads and some of the sources in one run; adds up the sources. */
static enum status count_sources(struct known_program *s, const char *const *names, unsigned n, const char **problem)
{
	struct bench *b = s->b;
	const struct processor *p = b->cpu->processor;
	const struct event *events[WINDOW_EVENTS_MAX];
	struct counting c = { .on = true };
	struct window sum;
	int64_t counts[WINDOW_EVENTS_MAX], value = 0;
	const struct expression *loads = concept_counted(p, "load.retired");
	enum status st = loads ? expression_events(loads, events, &c.events, WINDOW_EVENTS_MAX) : ST_UNSUPPORTED, stopped;

	for (unsigned i = 0; i < n && st == ST_OK; i++)
		st = expression_events(concept_counted(p, names[i]), events, &c.events, WINDOW_EVENTS_MAX);
	if (st == ST_OK)
		st = plan_events(b->cpu, events, c.events, &c.plan, problem);
	if (st == ST_OK && c.plan.runs != 1)
		st = ST_UNSUPPORTED;
	if (st == ST_OK)
		st = counters_start(b->a, b->cpu, &c.plan, 0, b->core);
	if (st != ST_OK)
		return st;
	st = loads_window(s, &c, &sum);
	stopped = counters_stop(b->a, b->cpu, &c.plan, 0, b->core);
	st = st == ST_OK ? stopped : st;
	for (unsigned e = 0; e < c.events; e++)
		counts[e] = (int64_t)sum.counts[e];
	if (st == ST_OK)
		st = expression_value(loads, events, c.events, counts, &value);
	s->out->loads = (uint64_t)value;
	for (unsigned i = 0; i < n && st == ST_OK; i++) {
		st = expression_value(concept_counted(p, names[i]), events, c.events, counts, &value);
		s->out->sources += (uint64_t)value;
	}
	return st;
}

void known_program_loads(struct known_program *s)
{
	const struct processor *p = s->b->cpu->processor;
	const unsigned half = 3; /* four counters hold this many and the loads */

	for (unsigned i = 0; i < COUNT_OF(sources); i++)
		if (!concept_counted(p, sources[i])) {
			known_program_failed(s, KNOWN_PROGRAM_LOADS, ST_UNSUPPORTED, "this processor has no such events");
			return;
		}
	for (unsigned from = 0; from < COUNT_OF(sources); from += half) {
		const char *problem = NULL;
		const unsigned n = COUNT_OF(sources) - from < half ? COUNT_OF(sources) - from : half;
		const enum status st = count_sources(s, &sources[from], n, &problem);

		if (st != ST_OK) {
			known_program_failed(s, KNOWN_PROGRAM_LOADS, st, problem ? problem : "no four counters for them");
			return;
		}
	}
	const uint64_t loads = s->out->loads, sum = s->out->sources;

	if ((loads > sum ? loads - sum : sum - loads) > loads / SUM_PART)
		known_program_failed(s, KNOWN_PROGRAM_LOADS, ST_BROKEN, "the sources do not add up to the loads");
}

/* --- lines by node ------------------------------------------------------------------------------- */

/* A triad over DRAM lines with non-temporal stores, counted by one event. */
static enum status traffic_of(struct known_program *s, const struct event *e, uint64_t *lines)
{
	struct counting c = { .events = 1, .on = true };
	struct bench *b = s->b;
	uint64_t array = KNOWN_PROGRAM_BUFFER_BYTES / 4, arguments[6] = { s->map.va, s->map.va + array, s->map.va + 2 * array,
		array / 256, array - 1, 0 };
	const struct kernel *triad = kernel_find("k_triad_nt_sse2");
	const char *problem;
	struct window w;
	enum status stopped, st = known_program_call(s, "k_flush", s->map.va, KNOWN_PROGRAM_BUFFER_BYTES / 64, 64);

	if (st == ST_OK)
		st = plan_events(b->cpu, &e, 1, &c.plan, &problem);
	if (st == ST_OK)
		st = counters_start(b->a, b->cpu, &c.plan, 0, b->core);
	if (st != ST_OK)
		return st;
	st = triad ? window_run(b, triad, arguments, &c, 0, &w, &s->job) : ST_BROKEN;
	stopped = counters_stop(b->a, b->cpu, &c.plan, 0, b->core);
	if (st == ST_OK)
		*lines = w.counts[0];
	s->out->nt_lines_stored = array / 64;
	return st == ST_OK ? stopped : st;
}

void known_program_traffic(struct known_program *s)
{
	const struct processor *p = s->b->cpu->processor;
	struct known_program_result *out = s->out;
	const struct { const char *concept; uint64_t *lines; } counts[] = {
		{ "line.dram.local", &out->read_lines[0] }, { "line.dram.remote", &out->read_lines[1] },
		{ "store.nt.local", &out->nt_lines[0] }, { "store.nt.remote", &out->nt_lines[1] } };
	enum status st = ST_OK;
	char reason[48];
	struct text why;

	for (unsigned i = 0; i < COUNT_OF(counts); i++)
		if (!concept_event(p, counts[i].concept)) {
			known_program_failed(s, KNOWN_PROGRAM_TRAFFIC, ST_UNSUPPORTED, "this processor has no such events");
			return;
		}
	for (unsigned i = 0; i < COUNT_OF(counts) && st == ST_OK; i++)
		st = traffic_of(s, concept_event(p, counts[i].concept), counts[i].lines);
	if (st == ST_OK)
		return;
	text_init(&why, reason, sizeof(reason));
	for (unsigned i = 0; i < COUNT_OF(counts) && !why.length; i++)
		if (plan_extra_absent(s->b->cpu, concept_event(p, counts[i].concept)))
			text_fmt(&why, "register 0x%X does not answer", concept_event(p, counts[i].concept)->extra_msr);
	known_program_failed(s, KNOWN_PROGRAM_TRAFFIC, why.length ? ST_FAULT : st, why.length ? reason : NULL);
}
