/* bench/counting/stat.c: see stat.h. */
#include "bench/counting/stat_metrics.h"

#define LOCK_VA (SPACE_DATA + 15 * PAGE_1G) /* page of the bus lock, below the other cores' working sets: a set of many 2 MiB pages spans 10 GiB */
#define FIXED_INSTRUCTIONS 0   /* SDM vol. 3, table 18-2: numbers of the fixed counters */
#define FIXED_CYCLES 1

/* --- packing ----------------------------------------------------------------------------------- */

static enum status pack_core(struct stat_core_batch *batch, const struct stat_plan *p, const struct cpu *cpu, struct text *problem)
{
	const struct event *events[PLAN_EVENTS_MAX];
	const char *name = NULL;
	enum status st;

	for (unsigned i = 0; i < batch->count; i++)
		events[i] = &p->requests->list[batch->request[i]].event;
	st = plan_events(cpu, events, batch->count, &batch->plan, &name);
	for (unsigned i = 0; i < batch->count && st != ST_OK; i++)
		if (!name || str_equal(name, events[i]->name)) {
			const char *lacks = plan_lacks(cpu, events[i]);

			text_fmt(problem, "%s: ", events[i]->name);
			if (plan_extra_absent(cpu, events[i]))
				text_fmt(problem, "register 0x%x does not answer", events[i]->extra_msr);
			else
				text_fmt(problem, "%s", lacks ? lacks : st == ST_UNSUPPORTED ? "no counter of this processor can count it" : status_name(st));
			return st;
		}
	return st;
}

/* Whether any socket has the box requested by number; otherwise `problem` lists the numbers there are. */
static bool box_there(const struct request *q, const struct bench *b, struct text *problem)
{
	const unsigned type = (unsigned)(q->box - b->cpu->processor->boxes);
	uint64_t present = 0;
	unsigned listed = 0;

	for (unsigned s = 0; s < b->uncore.sockets; s++)
		present |= b->uncore.present[s][type];
	if (q->instance < 0 || present >> q->instance & 1)
		return true;
	text_fmt(problem, "%s: no such box here; there are", q->name);
	for (unsigned i = 0; i < UNCORE_INSTANCES_MAX; i++)
		if (present >> i & 1)
			text_fmt(problem, "%s %u", listed++ ? "," : "", i);
	return false;
}

static enum status pack_uncore(struct stat_uncore_batch *batch, const struct stat_plan *p, const struct bench *b, struct text *problem)
{
	const char *names[UNCORE_EVENTS_MAX], *name = "";
	enum status st;

	if (b->uncore.absent) {
		text_fmt(problem, "%s: %s", p->requests->list[batch->request[0]].name, b->uncore.absent);
		return ST_UNSUPPORTED;
	}
	for (unsigned i = 0; i < batch->count; i++) {
		names[i] = p->requests->list[batch->request[i]].planned;
		if (!box_there(&p->requests->list[batch->request[i]], b, problem))
			return ST_UNSUPPORTED;
	}
	st = uncore_plan(&b->uncore, names, batch->count, &batch->plan, &name);
	if (st != ST_OK) {
		const struct uncore_box *box = NULL;
		const char *why = uncore_event_find(b->cpu->processor, name, &box) && box ? b->uncore.box_absent[box - b->cpu->processor->boxes] : NULL;

		text_fmt(problem, "%s: %s", name, why ? why : status_name(st));
	}
	return st;
}

static bool with_next(const struct request_list *l, unsigned i)
{
	const struct uncore_box *box = NULL;
	const struct request *next = i + 1 < l->count ? &l->list[i + 1] : NULL;
	const struct uncore_event *e = next && next->kind == REQUEST_UNCORE ? uncore_event_find(l->processor, next->planned, &box) : NULL;

	return next && next->kind == l->list[i].kind && (next->use.cascade || (e && uncore_sees_counter_0(box, e)));
}

enum status stat_plan(struct stat_plan *p, struct request_list *requests, const struct bench *b, struct text *problem)
{
	unsigned core_runs = 0, uncore_runs = 0;
	enum status st = ST_OK;

	memset(p, 0, sizeof(*p));
	p->requests = requests;
	for (unsigned i = 0; i < requests->count; i++) {
		const bool core = requests->list[i].kind == REQUEST_CORE;
		unsigned *batches = core ? &p->core_batches : &p->uncore_batches;
		unsigned full = core ? PLAN_EVENTS_MAX : UNCORE_EVENTS_MAX;
		unsigned *count = !*batches ? NULL : core ? &p->core[*batches - 1].count : &p->uncore[*batches - 1].count;

		/* a cascade and the event that starts it share a run, and so do an event that sees counter 0 and the one counted there */
		if (!count || *count + with_next(requests, i) >= full) {
			if (*batches == STAT_BATCHES_MAX)
				return ST_FULL;
			count = core ? &p->core[*batches].count : &p->uncore[*batches].count;
			++*batches;
		}
		*(core ? &p->core[*batches - 1].request[(*count)++] : &p->uncore[*batches - 1].request[(*count)++]) = (uint16_t)i;
	}
	if (p->core_batches && !counters_exist(b->cpu)) {
		text_fmt(problem, "no performance counters here%s%s", b->cpu->pmu_absent ? ": " : "", b->cpu->pmu_absent ? b->cpu->pmu_absent : "");
		return ST_UNSUPPORTED;
	}
	if (requests->topdown && !topdown_bytes(b->cpu)) {
		text_fmt(problem, "topdown: this machine has no PERF_METRICS (IA32_PERF_CAPABILITIES bit 15 and fixed counter 3)");
		return ST_UNSUPPORTED;
	}
	for (unsigned i = 0; i < p->core_batches && st == ST_OK; i++) {
		st = pack_core(&p->core[i], p, b->cpu, problem);
		core_runs += p->core[i].plan.runs;
	}
	for (unsigned i = 0; i < p->uncore_batches && st == ST_OK; i++) {
		st = pack_uncore(&p->uncore[i], p, b, problem);
		uncore_runs += p->uncore[i].plan.runs;
	}
	p->runs = core_runs > uncore_runs ? core_runs : uncore_runs;
	if (st == ST_OK && requests->topdown) {
		topdown_plan(&p->topdown);
		p->runs++;
	}
	if (st == ST_OK && !p->runs) {
		text_fmt(problem, "nothing to count");
		st = ST_SYNTAX;
	}
	return st;
}

/* --- one run ----------------------------------------------------------------------------------- */

struct run {
	struct stat_plan *plan;
	struct stat_workload *w;
	const struct stat_core_batch *core;     /* NULL: none in this run */
	const struct stat_uncore_batch *uncore;
	unsigned core_run, uncore_run;
	bool topdown;                           /* this run measures the shares of slots */
	struct counting counting;
	uint16_t request[WINDOW_EVENTS_MAX];    /* of each event of `counting` */
	unsigned instructions, cycles;          /* index in `counting`; WINDOW_EVENTS_MAX: absent */
	struct mapping lock;
	uint64_t before[UNCORE_SOCKETS_MAX][UNCORE_EVENTS_MAX][UNCORE_INSTANCES_MAX], before_tsc;
};

static unsigned add_fixed(const struct cpu *cpu, struct counting *c, unsigned counter)
{
	if (!(cpu->fixed_mask >> counter & 1) || c->events == WINDOW_EVENTS_MAX)
		return WINDOW_EVENTS_MAX;
	c->plan.slots[c->events] = (struct plan_slot){ .fixed = true, .counter = (uint8_t)counter, .rdpmc_index = 1u << 30 | counter };
	return c->events++;
}

/* Composes the n-th overall run from the batches' runs, and chooses what the wrapper reads in it. */
static void select_run(struct run *r, unsigned n)
{
	const struct cpu *cpu = r->w->b->cpu;
	struct counting *c = &r->counting;
	unsigned core = n, uncore = n;

	r->core = NULL;
	r->uncore = NULL;
	for (unsigned i = 0; i < r->plan->core_batches && !r->core; i++) {
		const unsigned runs = r->plan->core[i].plan.runs;

		if (core < runs)
			r->core = &r->plan->core[i];
		core -= core < runs ? 0 : runs;
	}
	for (unsigned i = 0; i < r->plan->uncore_batches && !r->uncore; i++) {
		const unsigned runs = r->plan->uncore[i].plan.runs;

		if (uncore < runs)
			r->uncore = &r->plan->uncore[i];
		uncore -= uncore < runs ? 0 : runs;
	}
	r->core_run = core;
	r->uncore_run = uncore;
	r->topdown = r->plan->topdown.count && n + 1 == r->plan->runs;
	memset(c, 0, sizeof(*c));
	c->plan.runs = 1;
	if (r->topdown) /* a window with a gate reads no counters */
		return;
	for (unsigned i = 0; r->core && i < r->core->count && c->events < WINDOW_EVENTS_MAX - 2; i++)
		if (r->core->plan.slots[i].run == r->core_run || r->core->plan.slots[i].fixed) {
			r->request[c->events] = r->core->request[i];
			c->plan.slots[c->events] = r->core->plan.slots[i];
			c->plan.slots[c->events++].run = 0;
		}
	r->instructions = add_fixed(cpu, c, FIXED_INSTRUCTIONS);
	r->cycles = add_fixed(cpu, c, FIXED_CYCLES);
	c->on = c->events > 0;
}

enum change { START, STOP };

static enum status change_cores(const struct run *r, enum change change)
{
	static const struct plan nothing = { .runs = 1 }; /* fixed counters count in any run */
	const struct bench *b = r->w->b;
	const struct plan *plan = r->core ? &r->core->plan : r->topdown ? &r->plan->topdown : &nothing;
	const unsigned run = r->core ? r->core_run : 0;
	enum status st = ST_OK;

	for (unsigned i = 0; i < r->w->count && counters_exist(b->cpu); i++) {
		const enum status one = change == START ? counters_start(b->a, b->cpu, plan, run, r->w->cores[i]) : counters_stop(b->a, b->cpu, plan, run, r->w->cores[i]);

		if (st == ST_OK)
			st = one;
		if (change == START && st != ST_OK)
			return st;
	}
	return st;
}

/* Marks the run's events of the core that a simulated machine knows by name only. */
static enum status find_unmodelled_core(struct run *r, struct stat_result *out)
{
	enum status st = ST_OK;

	for (unsigned i = 0; r->core && i < r->core->count && st == ST_OK; i++) {
		const struct plan_slot *slot = &r->core->plan.slots[i];
		bool modelled = true;

		if (slot->fixed || slot->run != r->core_run)
			continue;
		st = stat_modelled(r->w->b, &r->plan->requests->list[r->core->request[i]], r->w->cores[0], r->lock.va, &modelled);
		out->values[r->core->request[i]].unmodelled = !modelled;
	}
	return st;
}

/* Marks the run's cascades: the registers just written hold a setting that a simulated machine knows by name only, an overflow that it does not
 * follow. */
static void mark_cascades(const struct run *r, struct stat_result *out)
{
	for (unsigned i = 0; r->core && i < r->core->count; i++)
		if (r->core->plan.slots[i].run == r->core_run && r->plan->requests->list[r->core->request[i]].use.cascade)
			out->values[r->core->request[i]].unmodelled = true;
}

/* Marks the run's events of the uncore that a simulated machine knows by name only. */
static enum status find_unmodelled_uncore(struct run *r, struct stat_result *out)
{
	enum status st = ST_OK;

	for (unsigned i = 0; i < r->uncore->count && st == ST_OK; i++) {
		bool modelled = true;

		if (r->uncore->plan.slots[i].run != r->uncore_run)
			continue;
		st = stat_modelled(r->w->b, &r->plan->requests->list[r->uncore->request[i]], r->w->cores[0], r->lock.va, &modelled);
		out->values[r->uncore->request[i]].unmodelled = !modelled;
		if (!modelled)
			out->values[r->uncore->request[i]].unmodelled_why = r->w->b->a->unmodelled_why(r->w->b->a->counts_self);
	}
	return st;
}

static enum status change_uncore(struct run *r, enum change change, struct stat_result *out)
{
	struct bench *b = r->w->b;
	enum status st = ST_OK;

	if (change == START && r->uncore && b->a->unmodelled)
		st = find_unmodelled_uncore(r, out);
	if (st != ST_OK)
		return st;

	for (unsigned s = 0; r->uncore && s < b->uncore.sockets; s++) {
		const enum status one = change == START ? uncore_start(b->a, &b->uncore, &r->uncore->plan, r->uncore_run, s, r->lock.va) :
		                             uncore_stop(b->a, &b->uncore, &r->uncore->plan, r->uncore_run, s);

		if (st == ST_OK)
			st = one;
		if (change == START && st != ST_OK)
			return st;
	}
	return st;
}

/* Reads every box of run n. `out` NULL: takes the baseline of later readings. */
static enum status read_uncore(struct run *r, unsigned n, struct stat_result *out)
{
	struct bench *b = r->w->b;
	uint64_t now[UNCORE_INSTANCES_MAX] = { 0 }, tsc = 0;

	if (r->uncore && b->a->ops->rdtsc(b->a->self, r->w->cores[0], &tsc) != ST_OK)
		return ST_FAULT;
	if (out)
		out->runs[n].read_ticks += tsc - r->before_tsc;
	r->before_tsc = tsc;

	for (unsigned s = 0; r->uncore && s < b->uncore.sockets; s++)
		for (unsigned i = 0; i < r->uncore->count; i++) {
			const struct uncore_slot *slot = &r->uncore->plan.slots[i];
			const struct request *q = &r->plan->requests->list[r->uncore->request[i]];
			struct stat_value *v = out ? &out->values[r->uncore->request[i]] : NULL;

			if (slot->run != r->uncore_run)
				continue;
			const enum status st = uncore_instance_values(b->a, &b->uncore, slot, s, now);
			if (st != ST_OK)
				return st;
			for (unsigned k = 0; k < UNCORE_INSTANCES_MAX; k++) {
				if (v && (q->instance < 0 || (unsigned)q->instance == k)) {
					const uint64_t moved = uncore_moved(&b->uncore, slot, r->before[s][i][k], now[k]);

					v->by_box[s][k] += moved;
					v->value += moved;
				}
				r->before[s][i][k] = now[k];
			}
			if (v)
				v->counted = true;
		}
	return ST_OK;
}

/* The index of the user's own cycle event in this run, where no fixed counter counts cycles (AMD); WINDOW_EVENTS_MAX: none. */
static unsigned cycles_of_run(const struct run *r)
{
	const struct event *cycles = r->w->b->cycles;

	for (unsigned e = 0; r->cycles == WINDOW_EVENTS_MAX && cycles && e < r->counting.events; e++)
		if (r->plan->requests->list[r->request[e]].event.name && str_equal(r->plan->requests->list[r->request[e]].event.name, cycles->name))
			return e;
	return WINDOW_EVENTS_MAX;
}

static void take_cores(const struct run *r, unsigned n, struct stat_result *out)
{
	const unsigned cycles = cycles_of_run(r);
	const struct stat_workload *w = r->w;
	struct stat_run *run = &out->runs[n];

	for (unsigned i = 0; i < w->count; i++) {
		const unsigned by = r->cycles < WINDOW_EVENTS_MAX ? r->cycles : cycles;

		for (unsigned e = 0; e < r->counting.events; e++) {
			const uint64_t count = w->windows[i].counts[e];

			if (e == r->instructions)
				run->instructions += count;
			else if (e == r->cycles)
				run->cycles += count;
			else {
				struct stat_value *v = &out->values[r->request[e]];

				run->cycles += e == cycles ? count : 0;
				/* a fixed counter counts in every run: keep the first run's counts */
				if (v->counted && v->run != n)
					continue;
				v->counted = true;
				v->run = (uint16_t)n;
				v->value += count;
				v->by_core[i] += count;
				v->cycles_by_core[i] += by < WINDOW_EVENTS_MAX ? w->windows[i].counts[by] : 0;
			}
		}
		run->units += w->units;
	}
	run->known = (r->instructions < WINDOW_EVENTS_MAX && r->cycles < WINDOW_EVENTS_MAX) || cycles < WINDOW_EVENTS_MAX;
	run->windows++;
	run->ticks += stat_workload_ticks(w);
	for (unsigned i = 0; r->uncore && i < r->uncore->count; i++)
		if (r->uncore->plan.slots[i].run == r->uncore_run)
			out->values[r->uncore->request[i]].run = (uint16_t)n;
}

/* --- whole workload ---------------------------------------------------------------------------- */

static void forget(struct stat_result *r)
{
	memset(r->runs, 0, sizeof(r->runs));
	memset(&r->topdown, 0, sizeof(r->topdown));
	for (unsigned i = 0; i < REQUESTS_MAX; i++) /* an unmodelled event stays unmodelled */
		r->values[i] = (struct stat_value){ .unmodelled = r->values[i].unmodelled, .unmodelled_why = r->values[i].unmodelled_why };
}

static void end_interval(const struct stat_settings *s, struct stat_result *out)
{
	stat_metrics_evaluate(out);
	s->interval(s->self, out);
	out->interval++;
	forget(out);
}

static enum status one_run(struct run *r, unsigned n, const struct stat_settings *s, struct stat_result *out)
{
	uint64_t windows = 0, ticks = 0, took = 0, interval_end = s->interval_ticks;
	const struct access *a = r->w->b->a;
	enum status st = a->unmodelled ? find_unmodelled_core(r, out) : ST_OK;
	const uint64_t known = a->unmodelled ? a->unmodelled(a->counts_self) : 0;

	if (st == ST_OK)
		st = stat_workload_warm_up(r->w, &r->counting);
	if (st == ST_OK)
		st = change_cores(r, START);

	if (a->unmodelled && a->unmodelled(a->counts_self) != known)
		mark_cascades(r, out);
	if (st == ST_OK)
		st = change_uncore(r, START, out);
	while (st == ST_OK && (s->windows ? windows < s->windows : !windows || ticks < s->ticks) && !(s->stop && s->stop(s->self))) {
		st = stat_workload_prepare(r->w);
		if (st == ST_OK)
			st = read_uncore(r, n, NULL);
		if (st == ST_OK)
			st = r->topdown ? stat_metrics_topdown(r->w, &r->plan->topdown, &out->topdown, &took) : stat_workload_window(r->w, &r->counting);
		if (st == ST_OK)
			st = read_uncore(r, n, out);
		if (st != ST_OK)
			break;
		take_cores(r, n, out);
		windows++;
		ticks += r->topdown ? took : stat_workload_ticks(r->w);
		out->since_ticks = ticks;
		/* ends are multiples of the interval: otherwise the excess of each interval's last window would add up, and n intervals' time would
		 * contain n - 1 */
		if (s->interval_ticks && ticks >= interval_end) {
			end_interval(s, out);
			interval_end = (ticks / s->interval_ticks + 1) * s->interval_ticks;
		}
	}
	if (st == ST_OK && s->interval_ticks && out->runs[n].ticks != 0) /* the rest, as perf stat prints it */
		end_interval(s, out);
	const enum status uncore = change_uncore(r, STOP, NULL), cores = change_cores(r, STOP);

	return st != ST_OK ? st : uncore != ST_OK ? uncore : cores;
}

static void explain_failure(const struct stat_workload *w, enum status st, struct text *problem)
{
	text_fmt(problem, "counting %s: ", w->name);
	if (st == ST_FAULT && w->b->a->failure && w->b->a->failure->known)
		access_failure_text(w->b->a, problem);
	else
		text_fmt(problem, "%s", status_name(st));
}

enum status stat_run(struct stat_plan *p, struct stat_workload *w, const struct stat_settings *s, struct stat_result *out, struct text *problem)
{
	const struct suite_host *host = w->b->host;
	struct run *r = host->get(host->self, sizeof(*r));
	enum status st = r ? ST_OK : ST_FULL;

	memset(out, 0, sizeof(*out));
	out->plan = p;
	out->workload = w;
	if (st == ST_OK) {
		r->plan = p;
		r->w = w;
		r->lock = (struct mapping){ .va = LOCK_VA, .bytes = PAGE_4K, .page_bytes = PAGE_4K };
		if (p->uncore_batches)
			st = w->b->a->ops->map(w->b->a->self, &r->lock);
		const bool mapped = st == ST_OK && p->uncore_batches;

		for (unsigned n = 0; n < p->runs && st == ST_OK; n++) {
			select_run(r, n);
			st = one_run(r, n, s, out);
		}
		if (mapped && w->b->a->ops->unmap(w->b->a->self, &r->lock) != ST_OK && st == ST_OK)
			st = ST_BROKEN;
		if (st != ST_OK && !problem->length)
			explain_failure(w, st, problem);
		stat_metrics_evaluate(out);
	}
	if (r)
		host->put(host->self, r, sizeof(*r));
	return st;
}
