/* pmu/netburst/netburst_drive.c: plans NetBurst's events into runs, and programs the registers.
 *
 * Runs are filled first fit, the events with the fewest possible counters first: the plan may not be the shortest. The order
 * of writes never lets a counter count what it should not: all CCCRs off, ESCRs and tagging set, counters zeroed (twice,
 * erratum N15), CCCRs on. No register starts all counters at once. The threads of a core share one set of registers: a start
 * or stop on one of them acts on both. */
#include "pmu/netburst/netburst.h"

#define PEBS_ENABLE 0x3F1u
#define MATRIX_VERT 0x3F2u
#define CCCR_ENABLE (1u << 12)
#define TAG         1          /* unless the event says otherwise */
#define REASON_BYTES 256

enum status netburst_thread(const struct access *a, const struct cpu *cpu, unsigned core, unsigned *thread)
{
	struct cpuid_regs one;
	*thread = 0;
	if (cpu->threads_per_core < 2)
		return ST_OK;
	enum status s = a->ops->cpuid(a->self, core, 1, 0, &one);
	*thread = s == ST_OK ? one.ebx >> 24 & 1 : 0; /* SDM: bit 0 of the initial APIC id */
	return s;
}

const char *netburst_lacks(const struct cpu *cpu, const struct event *e)
{
	const bool of_two = e->netburst && (e->netburst->threads != 1 || e->netburst->active != NETBURST_ANY);
	return of_two && cpu->threads_per_core != 2 ? "it needs two threads a core" : NULL;
}

/* Bits of an ESCR at CPL 0. */
static uint8_t threads_of(unsigned whose, unsigned thread)
{
	const unsigned own = thread ? NETBURST_T1_OS : NETBURST_T0_OS, other = thread ? NETBURST_T0_OS : NETBURST_T1_OS;
	return (uint8_t)((whose & 1 ? own : 0) | (whose & 2 ? other : 0));
}

unsigned netburst_wants_of(const struct cpu *cpu, const struct event *e, unsigned thread, struct netburst_want *out)
{
	const struct processor *p = cpu->processor;
	const struct netburst_use *u = e->netburst;
	unsigned n = 0;
	struct netburst_want w = { .threads = threads_of(u->threads, thread), .active = u->active, .after = -1 };
	if (u->upstream >= 0) {
		out[n] = w;
		out[n].event = &p->detectors[u->upstream];
		out[n].mask = u->upstream_mask;
		out[n].upstream = true;
		out[n].tag = out[n].event->tags != 1 ? 0 : u->tag ? u->tag : TAG;
		out[n].escr = u->upstream_escr;
		n++;
	}
	w.event = &p->detectors[u->event];
	w.mask = u->mask;
	w.metric = u->metric >= 0 ? &p->metrics[u->metric] : NULL;
	w.compare = u->compare;
	w.complement = u->complement;
	w.edge = u->edge;
	w.threshold = u->threshold;
	w.escr = u->escr;
	w.force_overflow = u->force_overflow;
	w.start = u->start;
	out[n++] = w;
	return n;
}

uint64_t netburst_select(const struct cpu *cpu, const struct event *e)
{
	struct netburst_want w[2];
	const struct netburst_want *own = &w[netburst_wants_of(cpu, e, 0, w) - 1];
	return (uint64_t)own->event->escr[own->event->escr[0] ? 0 : 1] << 32 | netburst_escr_value(own);
}

/* All wants of a run; own[i] is the index of slot i's own want, which has a counter. */
static unsigned wants_of_run(const struct cpu *cpu, const struct plan *plan, unsigned run, unsigned thread, struct netburst_want *wants,
                             uint8_t *own)
{
	unsigned n = 0;
	for (unsigned i = 0; i < plan->count && n + 2 <= NETBURST_WANTS_MAX; i++) {
		if (plan->slots[i].run != run || !plan->slots[i].event)
			continue;
		n += netburst_wants_of(cpu, plan->slots[i].event, thread, wants + n);
		own[i] = (uint8_t)(n - 1);
		if (plan->slots[i].event->netburst->cascade && i && plan->slots[i - 1].event && plan->slots[i - 1].run == run)
			wants[n - 1].after = (int8_t)own[i - 1];
	}
	return n;
}

/* Number of counters that can count an event: events with the fewest are planned first. */
static unsigned choice(const struct cpu *cpu, const struct event *e)
{
	const struct netburst_event *d = &cpu->processor->detectors[e->netburst->event];
	return bit_count((d->counters[0] | d->counters[1]) & cpu->general_mask);
}

/* Whether the slots that are in a run can be counted together. */
static bool fits(const struct cpu *cpu, const struct plan *plan, unsigned run)
{
	struct netburst_want wants[NETBURST_WANTS_MAX];
	struct netburst_assignment assigned[NETBURST_WANTS_MAX];
	uint8_t own[PLAN_EVENTS_MAX];
	char reason[REASON_BYTES];
	struct text why;
	text_init(&why, reason, sizeof(reason));
	unsigned n = wants_of_run(cpu, plan, run, 0, wants, own);
	/* front_end_event counts the uops that any ESCR tags: one kind of tag per run */
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < i; j++)
			if (wants[i].tag && wants[j].tag && (wants[i].event != wants[j].event || wants[i].mask != wants[j].mask ||
			    wants[i].threads != wants[j].threads))
				return false;
	return n + 2 <= NETBURST_WANTS_MAX && netburst_assign(cpu->general_mask, wants, n, assigned, &why) == ST_OK;
}

static enum status assign_run(const struct cpu *cpu, const struct plan *plan, unsigned run, unsigned thread,
                             struct netburst_want *wants, struct netburst_assignment *assigned, uint8_t *own, unsigned *n)
{
	char reason[REASON_BYTES];
	struct text why;
	text_init(&why, reason, sizeof(reason));
	*n = wants_of_run(cpu, plan, run, thread, wants, own);
	return netburst_assign(cpu->general_mask, wants, *n, assigned, &why);
}

enum status netburst_plan(const struct cpu *cpu, const struct event *const *events, unsigned n, struct plan *plan, const char **problem)
{
	*problem = NULL;
	*plan = (struct plan){ .runs = 1 };
	if (n > PLAN_EVENTS_MAX)
		return ST_FULL;
	for (unsigned i = 0; i < n; i++)
		if (!events[i]->netburst || !choice(cpu, events[i]) || netburst_lacks(cpu, events[i]) || (!i && events[i]->netburst->cascade)) {
			*problem = events[i]->name;
			return ST_UNSUPPORTED;
		}
	plan->count = (uint8_t)n;
	for (unsigned counters = 1; counters <= NETBURST_COUNTERS; counters++)
		for (unsigned i = 0; i < n; i++) {
			unsigned run = 0;
			/* a cascade is in the run of the event whose overflow starts it */
			const unsigned both = i + 1 < n && events[i + 1]->netburst->cascade ? 2 : 1;
			if (events[i]->netburst->cascade || choice(cpu, events[i]) != counters)
				continue;
			for (unsigned k = 0; k < both; k++)
				plan->slots[i + k].event = events[i + k];
			for (plan->slots[i].run = plan->slots[i + both - 1].run = 0; !fits(cpu, plan, run);
			     plan->slots[i].run = plan->slots[i + both - 1].run = (uint8_t)run)
				if (++run == PLAN_RUNS_MAX) {
					*problem = events[i]->name;
					return ST_UNSUPPORTED;
				}
			plan->runs = run >= plan->runs ? (uint8_t)(run + 1) : plan->runs;
		}
	for (unsigned run = 0; run < plan->runs; run++) {
		struct netburst_want wants[NETBURST_WANTS_MAX];
		struct netburst_assignment assigned[NETBURST_WANTS_MAX];
		uint8_t own[PLAN_EVENTS_MAX];
		unsigned assigned_count;
		enum status s = assign_run(cpu, plan, run, 0, wants, assigned, own, &assigned_count);
		if (s != ST_OK)
			return ST_BROKEN; /* fits() accepted it above */
		for (unsigned i = 0; i < n; i++)
			if (plan->slots[i].run == run) {
				plan->slots[i].counter = assigned[own[i]].counter;
				plan->slots[i].rdpmc_index = assigned[own[i]].counter;
			}
	}
	return ST_OK;
}

/* ---- registers ------------------------------------------------------------------------------ */

static enum status wr(const struct access *a, unsigned core, uint32_t msr, uint64_t value)
{
	return a->ops->wrmsr(a->self, core, msr, value);
}

enum status netburst_write(const struct access *a, const struct cpu *cpu, unsigned core, unsigned counter, uint64_t value)
{
	if (counter >= NETBURST_COUNTERS || !(cpu->general_mask >> counter & 1) || value >> NETBURST_COUNTER_BITS)
		return ST_RANGE;
	enum status s = wr(a, core, netburst_counter_msr(counter), value);
	return s == ST_OK ? wr(a, core, netburst_counter_msr(counter), value) : s;
}

enum status netburst_control(const struct access *a, unsigned core, unsigned counter, uint64_t *control)
{
	enum status s = a->ops->rdmsr(a->self, core, netburst_cccr_msr(counter), control);
	if (s == ST_OK && !(*control & CCCR_ENABLE))
		*control = 0;
	return s;
}

enum status netburst_stop(const struct access *a, const struct cpu *cpu, unsigned core)
{
	enum status s = ST_OK;
	for (unsigned c = 0; c < NETBURST_COUNTERS && s == ST_OK; c++)
		if (cpu->general_mask >> c & 1)
			s = wr(a, core, netburst_cccr_msr(c), NETBURST_CCCR_OFF);
	return s == ST_OK ? wr(a, core, PEBS_ENABLE, 0) : s;
}

enum status netburst_start(const struct access *a, const struct cpu *cpu, const struct plan *plan, unsigned run, unsigned core)
{
	struct netburst_want wants[NETBURST_WANTS_MAX];
	struct netburst_assignment assigned[NETBURST_WANTS_MAX];
	uint8_t own[PLAN_EVENTS_MAX];
	unsigned n = 0, thread;
	const struct netburst_metric *metric = NULL;
	enum status s = netburst_thread(a, cpu, core, &thread);
	if (s == ST_OK)
		s = assign_run(cpu, plan, run, thread, wants, assigned, own, &n);
	if (s == ST_OK)
		s = netburst_stop(a, cpu, core);
	for (unsigned i = 0; i < n && s == ST_OK; i++) {
		s = wr(a, core, assigned[i].escr, assigned[i].escr_value);
		metric = wants[i].metric ? wants[i].metric : metric;
	}
	if (s == ST_OK && metric)
		s = wr(a, core, MATRIX_VERT, metric->matrix_vert);
	if (s == ST_OK && metric)
		s = wr(a, core, PEBS_ENABLE, metric->pebs_enable | NETBURST_UOP_TAG);
	for (unsigned i = 0; i < n && s == ST_OK; i++)
		if (assigned[i].counter != NETBURST_NO_COUNTER)
			s = netburst_write(a, cpu, core, assigned[i].counter, wants[i].start);
	for (unsigned i = 0; i < n && s == ST_OK; i++)
		if (assigned[i].counter != NETBURST_NO_COUNTER)
			s = wr(a, core, netburst_cccr_msr(assigned[i].counter), assigned[i].cccr_value);
	return s;
}
