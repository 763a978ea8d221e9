/* bench/workloads/known_program_memory.c: loads by source, which must add up, and lines by memory. See study.h. */
#include "bench/workloads/known_program_parts.h"
#include "pmu/core/offcore.h"

/* Lines of memory, of the L3, the L2 and the L1, several loads a line, with and without time between them. */
static enum status loads_window(struct study *s, const struct counting *c, struct window *sum)
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

void known_program_loads(struct study *s)
{
	static const char *const groups[2][4] = {
		{ "MEM_INST_RETIRED.LOADS", "MEM_LOAD_RETIRED.L1D_HIT", "MEM_LOAD_RETIRED.HIT_LFB", "MEM_LOAD_RETIRED.L2_HIT" },
		{ "MEM_INST_RETIRED.LOADS", "MEM_LOAD_RETIRED.LLC_UNSHARED_HIT", "MEM_LOAD_RETIRED.OTHER_CORE_L2_HIT_HITM", "MEM_LOAD_RETIRED.LLC_MISS" },
	};
	struct bench *b = s->b;

	for (unsigned g = 0; g < COUNT_OF(groups); g++) {
		const struct event *events[4];
		struct counting c = { .events = 4, .on = true };
		struct window sum;
		const char *problem = NULL;
		enum status st = ST_OK, stopped;

		for (unsigned e = 0; e < 4; e++)
			if (!(events[e] = event_find(b->cpu->processor, groups[g][e]))) {
				known_program_failed(s, KNOWN_PROGRAM_LOADS, ST_UNSUPPORTED, "this processor has no such events");
				return;
			}
		st = plan_events(b->cpu, events, 4, &c.plan, &problem);
		if (st == ST_OK && c.plan.runs != 1)
			st = ST_UNSUPPORTED;
		if (st == ST_OK)
			st = counters_start(b->a, b->cpu, &c.plan, 0, b->core);
		if (st == ST_OK) {
			st = loads_window(s, &c, &sum);
			stopped = counters_stop(b->a, b->cpu, &c.plan, 0, b->core);
			st = st == ST_OK ? stopped : st;
		}
		if (st != ST_OK) {
			known_program_failed(s, KNOWN_PROGRAM_LOADS, st, problem ? problem : "no four counters for them");
			return;
		}
		s->out->loads = sum.counts[0];
		s->out->sources += sum.counts[1] + sum.counts[2] + sum.counts[3];
	}
	if (s->out->loads != s->out->sources)
		known_program_failed(s, KNOWN_PROGRAM_LOADS, ST_BROKEN, "the sources do not add up to the loads");
}

/* --- lines by memory ----------------------------------------------------------------------------- */

/* A triad whose lines come from memory, with non-temporal stores, counted by one event. */
static enum status traffic_of(struct study *s, const struct event *e, uint64_t *lines)
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

void known_program_traffic(struct study *s)
{
	struct offcore_traffic t;
	struct known_program_result *out = s->out;
	enum status st = offcore_traffic(s->b->cpu->processor, &t);

	if (st != ST_OK) {
		known_program_failed(s, KNOWN_PROGRAM_TRAFFIC, st, "this processor has no such events");
		return;
	}
	st = traffic_of(s, t.read_local, &out->read_lines[0]);
	if (st == ST_OK)
		st = traffic_of(s, t.read_remote, &out->read_lines[1]);
	if (st == ST_OK)
		st = traffic_of(s, t.nt_local, &out->nt_lines[0]);
	if (st == ST_OK)
		st = traffic_of(s, t.nt_remote, &out->nt_lines[1]);
	if (st != ST_OK)
		known_program_failed(s, KNOWN_PROGRAM_TRAFFIC, st, NULL);
}
