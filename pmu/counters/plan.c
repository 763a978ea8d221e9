/* pmu/counters/plan.c: packs events into the fewest runs.
 *
 * An event that a fixed counter counts goes there. The others are matched to slots, one per counter and run: with R runs,
 * each event may take any slot whose counter is in its mask, so a matching by augmenting paths is exact. Events that need
 * an extra MSR (0x1A6, 0x3F6) are first assigned to runs by a search, since a run can hold one value of each such register;
 * then all are matched. R grows from its lower bound until that succeeds. The search is limited to SEARCH_STEPS steps: then
 * one more run is tried, and the plan may not be the shortest. */
#include "pmu/counters/counters.h"

#include "pmu/netburst/netburst.h"

#include "pmu/text.h"

#define COUNTERS_MAX 32
#define SEARCH_STEPS 20000
#define NOBODY 0xFF
#define EVENT_LATENCY 3 /* struct event.pebs: the load-latency event */

struct packing {
	const struct event *event[PLAN_EVENTS_MAX]; /* distinct, for general counters */
	uint32_t mask[PLAN_EVENTS_MAX];             /* counters that exist and can count it */
	uint8_t run_fixed[PLAN_EVENTS_MAX];         /* run given by the search; NOBODY: any run */
	uint8_t count;
	uint8_t runs;
	uint8_t owner[PLAN_RUNS_MAX][COUNTERS_MAX]; /* event in a slot, NOBODY */
	bool seen[PLAN_RUNS_MAX][COUNTERS_MAX];
	uint32_t steps;
};

const struct event *event_find(const struct processor *p, const char *name)
{
	for (unsigned i = 0; i < p->event_count; i++)
		if (str_equal(p->events[i].name, name))
			return &p->events[i];
	return NULL;
}

/* Whether one of the words of `starts` begins the name. */
static bool begins(const char *starts, const char *name)
{
	while (*starts) {
		size_t n = 0;

		while (starts[n] && starts[n] != ' ' && starts[n] == name[n])
			n++;
		if (n && (!starts[n] || starts[n] == ' '))
			return true;
		while (*starts && *starts++ != ' ')
			;
	}
	return false;
}

const struct quirk *event_overcounts(const struct processor *p, const char *name)
{
	for (unsigned i = 0; i < p->quirk_count; i++)
		if (begins(p->quirks[i].overcounts, name))
			return &p->quirks[i];
	return NULL;
}

static bool may_take(const struct packing *k, unsigned e, unsigned run, unsigned counter)
{
	return (k->run_fixed[e] == NOBODY || k->run_fixed[e] == run) && k->mask[e] >> counter & 1 && !k->seen[run][counter];
}

enum wanted_slot { SLOT_ANY, SLOT_FREE };

/* The first slot from (*run, *counter) on that event e may take. */
static bool next_slot(const struct packing *k, unsigned e, enum wanted_slot wanted, uint8_t *run, uint8_t *counter)
{
	for (unsigned r = *run, c = *counter; r < k->runs; r++, c = 0)
		for (; c < COUNTERS_MAX; c++)
			if (may_take(k, e, r, c) && (wanted == SLOT_ANY || k->owner[r][c] == NOBODY)) {
				*run = (uint8_t)r;
				*counter = (uint8_t)c;
				return true;
			}
	return false;
}

/* One augmenting path from event e: depth-first with an explicit stack, since the path may be as long as there are events
 * and stacks here are small. */
static bool augment(struct packing *k, unsigned e)
{
	struct { uint8_t event, run, counter; } path[PLAN_EVENTS_MAX + 1];
	unsigned depth = 0;
	memset(k->seen, 0, sizeof(k->seen));
	memset(path, 0, sizeof(path));
	path[0].event = (uint8_t)e;
	for (;;) {
		uint8_t r = 0, c = 0;
		if (next_slot(k, path[depth].event, SLOT_FREE, &r, &c)) {
			path[depth].run = r;
			path[depth].counter = c;
			break;
		}
		/* every slot that it may take is owned: ask the next owner to move */
		if (!next_slot(k, path[depth].event, SLOT_ANY, &path[depth].run, &path[depth].counter)) {
			if (depth-- == 0)
				return false;
			continue;
		}
		k->seen[path[depth].run][path[depth].counter] = true;
		unsigned owner = k->owner[path[depth].run][path[depth].counter];
		depth++;
		path[depth].event = (uint8_t)owner;
		path[depth].run = path[depth].counter = 0;
	}
	for (unsigned i = 0; i <= depth; i++)
		k->owner[path[i].run][path[i].counter] = path[i].event;
	return true;
}

enum matched { MATCH_ALL, MATCH_ASSIGNED };

/* Matches all events, or only those assigned to a run, under the runs assigned so far. */
static bool match(struct packing *k, enum matched which)
{
	memset(k->owner, NOBODY, sizeof(k->owner));
	for (unsigned e = 0; e < k->count; e++)
		if ((which == MATCH_ALL || k->run_fixed[e] != NOBODY) && !augment(k, e))
			return false;
	return true;
}

static bool conflict(const struct event *a, const struct event *b)
{
	return a->extra_msr && a->extra_msr == b->extra_msr && a->extra_value != b->extra_value;
}

/* Whether event e may join the events with an extra MSR in run r. */
static bool fits(const struct packing *k, unsigned e, unsigned r)
{
	for (unsigned i = 0; i < k->count; i++)
		if (i != e && k->run_fixed[i] == r && conflict(k->event[i], k->event[e]))
			return false;
	return true;
}

static bool run_empty(const struct packing *k, unsigned r)
{
	for (unsigned i = 0; i < k->count; i++)
		if (k->run_fixed[i] == r)
			return false;
	return true;
}

/* Assigns a run to each event with an extra MSR, first fit with backtracking; then all must match. Runs without such an
 * event are equivalent: only the first of them is tried. */
static bool search(struct packing *k)
{
	uint8_t order[PLAN_EVENTS_MAX], next_run[PLAN_EVENTS_MAX];
	unsigned n = 0, depth = 0;
	for (unsigned e = 0; e < k->count; e++) {
		k->run_fixed[e] = NOBODY;
		if (k->event[e]->extra_msr)
			order[n++] = (uint8_t)e;
	}
	if (n == 0)
		return match(k, MATCH_ALL);
	next_run[0] = 0;
	for (;;) {
		unsigned e = order[depth];
		bool placed = false;
		k->run_fixed[e] = NOBODY;
		while (next_run[depth] < k->runs && !placed) {
			unsigned r = next_run[depth]++;
			bool fresh = run_empty(k, r);
			if (++k->steps > SEARCH_STEPS)
				return false;
			if (fresh)
				next_run[depth] = k->runs; /* the runs after it are no different */
			if (!fits(k, e, r))
				continue;
			k->run_fixed[e] = (uint8_t)r;
			placed = match(k, depth + 1 == n ? MATCH_ALL : MATCH_ASSIGNED);
			if (!placed)
				k->run_fixed[e] = NOBODY;
		}
		if (placed && depth + 1 == n)
			return true;
		if (placed) {
			next_run[++depth] = 0;
		} else {
			if (depth == 0)
				return false;
			depth--;
		}
	}
}

bool plan_extra_absent(const struct cpu *cpu, const struct event *e)
{
	for (unsigned i = 0; i < CPU_EXTRAS_MAX && cpu->extras_absent[i]; i++)
		if (cpu->extras_absent[i] == e->extra_msr)
			return true;
	return false;
}

const char *plan_lacks(const struct cpu *cpu, const struct event *e)
{
	if (e->netburst)
		return netburst_lacks(cpu, e);
	if (counter_select_lacks(cpu, e))
		return counter_select_lacks(cpu, e);
	if (e->any && !cpu->any_thread)
		return "this processor's counters count for their own thread alone: they have no any";
	if (e->pebs != EVENT_LATENCY)
		return NULL;
	if (!cpu->pebs)
		return "the load-latency facility counts with PEBS alone, which this processor or its firmware lacks";
	return cpu->processor->latency_auxiliary ? "this processor counts it beside an auxiliary event alone, as a row's samples do" : NULL;
}

static uint32_t usable_counters(const struct cpu *cpu, const struct event *e)
{
	if (plan_extra_absent(cpu, e))
		return 0;
	if (!e->netburst && plan_lacks(cpu, e))
		return 0;
	if (e->arch && (cpu->pmu_version == 0 || cpu->arch_events_missing >> (e->arch - 1) & 1))
		return 0;
	return e->counter_mask & cpu->general_mask;
}

static bool on_fixed(const struct cpu *cpu, const struct event *e)
{
	return e->fixed && cpu->fixed_mask >> (e->fixed - 1) & 1;
}

/* Event number of a distinct general event, added if it is new. */
static unsigned add_event(struct packing *k, const struct event *e, uint32_t mask)
{
	for (unsigned i = 0; i < k->count; i++)
		if (k->event[i] == e)
			return i;
	k->event[k->count] = e;
	k->mask[k->count] = mask;
	return k->count++;
}

/* Lower bound of any plan: all events over all counters that any of them can use. */
static uint8_t least_runs(const struct packing *k)
{
	uint32_t any = 0;
	for (unsigned i = 0; i < k->count; i++)
		any |= k->mask[i];
	unsigned counters = bit_count(any);
	return counters ? (uint8_t)((k->count + counters - 1) / counters) : 0;
}

enum status plan_events(const struct cpu *cpu, const struct event *const *events, unsigned n,
                        struct plan *plan, const char **problem)
{
	struct packing k = { .count = 0 };
	uint8_t number[PLAN_EVENTS_MAX];
	if (cpu->processor && cpu->processor->detector_count)
		return netburst_plan(cpu, events, n, plan, problem);
	*problem = NULL;
	*plan = (struct plan){ .runs = 1 };
	if (n > PLAN_EVENTS_MAX)
		return ST_FULL;
	for (unsigned i = 0; i < n; i++) {
		uint32_t mask = usable_counters(cpu, events[i]);
		number[i] = NOBODY;
		if (on_fixed(cpu, events[i]))
			continue;
		if (mask == 0) {
			*problem = events[i]->name;
			return ST_UNSUPPORTED;
		}
		number[i] = (uint8_t)add_event(&k, events[i], mask);
	}
	bool done = k.count == 0;
	for (k.runs = least_runs(&k); !done && k.runs <= PLAN_RUNS_MAX; k.runs++) {
		k.steps = 0;
		done = search(&k);
		if (done)
			break;
	}
	if (!done)
		return ST_BROKEN; /* as many runs as events always suffice */
	plan->count = (uint8_t)n;
	plan->runs = k.count ? k.runs : 1;
	for (unsigned i = 0; i < n; i++) {
		struct plan_slot *s = &plan->slots[i];
		s->event = events[i];
		if (number[i] == NOBODY) {
			s->fixed = true;
			s->counter = (uint8_t)(events[i]->fixed - 1);
			s->rdpmc_index = 1u << 30 | s->counter;
			continue;
		}
		for (unsigned r = 0; r < k.runs; r++)
			for (unsigned c = 0; c < COUNTERS_MAX; c++)
				if (k.owner[r][c] == number[i]) {
					s->run = (uint8_t)r;
					s->counter = (uint8_t)c;
					s->rdpmc_index = c;
				}
	}
	return ST_OK;
}
