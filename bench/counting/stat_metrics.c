/* bench/counting/stat_metrics.c: see stat_metrics.h. */
#include "bench/counting/stat_metrics.h"

#define METRIC_HZ 1000000u     /* $TSC_MHZ */

/* Number of boxes of the kind of the metric's first event, in the sockets counted; 0: that is an event of the cores. */
static uint64_t boxes_of(const struct stat_result *r, const struct request_metric *m)
{
	const struct uncore *u = &r->workload->b->uncore;
	const struct uncore_box *box = m->events.count ? r->plan->requests->list[m->request[0]].box : NULL;
	uint64_t n = 0;

	for (unsigned s = 0; box && s < u->sockets; s++)
		n += uncore_instances(u, box, s);
	return n;
}

static void evaluate(struct stat_result *r, unsigned n)
{
	const struct request_metric *m = &r->plan->requests->metrics[n];
	struct metric_terms terms = m->terms;
	uint64_t counts[METRIC_EVENTS_MAX] = { 0 };
	struct stat_metric *out = &r->metrics[n];
	const struct stat_run *run;

	out->known = false;
	out->why = "";
	out->first_run = out->last_run = m->events.count ? r->values[m->request[0]].run : 0;
	for (unsigned i = 0; i < m->events.count; i++) {
		const struct stat_value *v = &r->values[m->request[i]];

		if (!v->counted || v->unmodelled) {
			out->why = v->unmodelled ? "not modelled by this simulated machine" : "not counted";
			return;
		}
		counts[i] = v->value;
		out->first_run = v->run < out->first_run ? v->run : out->first_run;
		out->last_run = v->run > out->last_run ? v->run : out->last_run;
	}
	run = &r->runs[m->events.count ? r->values[m->request[0]].run : 0];
	terms.instructions = run->instructions;
	terms.core_cycles = run->cycles;
	terms.tsc = run->ticks;
	terms.read_tsc = run->read_ticks;
	terms.tsc_mhz = r->workload->b->a->tsc_hz / METRIC_HZ;
	terms.boxes = boxes_of(r, m);
	out->known = uncore_metric_value(m->metric, &terms, &m->events, counts, &out->milli, &out->why) == ST_OK;
}

void stat_metrics_evaluate(struct stat_result *r)
{
	for (unsigned i = 0; i < r->plan->requests->metric_count; i++)
		evaluate(r, i);
}

enum status stat_metrics_topdown(struct stat_workload *w, const struct plan *slots, struct topdown_sum *sum, uint64_t *took)
{
	struct bench *b = w->b;
	const unsigned core = w->cores[0], measuring = b->core;
	const struct counting none = { .plan.runs = 1 }; /* a window with a gate reads no counters */
	struct sampling_gate gate;
	uint64_t before = 0, after = 0;
	struct topdown t;
	enum status st = topdown_gate(b->a, core, &gate);

	if (st == ST_OK)
		st = topdown_clear(b->a, core);
	if (st == ST_OK)
		st = b->a->ops->rdtsc(b->a->self, core, &before);
	b->core = core;
	b->gate = &gate;
	if (st == ST_OK)
		st = stat_workload_window(w, &none);
	b->gate = NULL;
	b->core = measuring;
	if (st == ST_OK)
		st = b->a->ops->rdtsc(b->a->self, core, &after);
	if (st == ST_OK)
		st = topdown_read(b->a, core, &t);
	if (st == ST_OK)
		topdown_add(sum, &t);
	*took = after - before;
	return st == ST_OK ? counters_start(b->a, b->cpu, slots, 0, core) : st;
}
