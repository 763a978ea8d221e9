/* bench/counting/stat_modelled.c: see stat.h. Enables the event: the simulated machine flags one that it knows by name only. */
#include "bench/counting/stat.h"

#include "pmu/netburst/netburst.h"

static enum status core_modelled(const struct bench *b, const struct request *q, unsigned core, bool *modelled)
{
	const struct event *e = &q->event, *one[1] = { e };
	const uint64_t before = b->a->unmodelled(b->a->counts_self);
	struct plan plan;
	const char *ignored;
	enum status st;

	*modelled = e->fixed || b->a->counts(b->a->counts_self, b->core, e->netburst ? netburst_select(b->cpu, e) : counter_select(e));
	if (!*modelled || !e->extra_msr)
		return ST_OK;
	st = plan_events(b->cpu, one, 1, &plan, &ignored);
	if (st != ST_OK)
		return st;
	st = counters_start(b->a, b->cpu, &plan, 0, core);
	if (st == ST_OK)
		st = counters_stop(b->a, b->cpu, &plan, 0, core);
	*modelled = b->a->unmodelled(b->a->counts_self) == before;
	return st;
}

/* An event that only counter 0 counts, for an event that sees this counter; NULL: the event does not. */
static const char *at_counter_0(const struct processor *p, const char *name)
{
	const struct uncore_box *box = NULL;
	const struct uncore_event *e = uncore_event_find(p, name, &box);

	for (unsigned i = 0; e && uncore_sees_counter_0(box, e) && i < box->event_count; i++)
		if (box->events[i].counter_mask == 1 && !box->events[i].filters)
			return box->events[i].name;
	return NULL;
}

static enum status uncore_modelled(struct bench *b, const struct request *q, uint64_t lock_va, bool *modelled)
{
	const uint64_t before = b->a->unmodelled(b->a->counts_self);
	const char *seen = at_counter_0(b->cpu->processor, q->planned), *names[2] = { seen ? seen : q->planned, q->planned }, *ignored;
	struct uncore_plan one;
	enum status st = uncore_plan(&b->uncore, names, seen ? 2 : 1, &one, &ignored);

	if (st == ST_OK)
		st = uncore_start(b->a, &b->uncore, &one, 0, 0, lock_va);
	if (st == ST_OK)
		st = uncore_stop(b->a, &b->uncore, &one, 0, 0);
	*modelled = b->a->unmodelled(b->a->counts_self) == before;
	return st;
}

enum status stat_modelled(struct bench *b, const struct request *q, unsigned core, uint64_t lock_va, bool *modelled)
{
	*modelled = true;
	if (!b->a->counts || !b->a->unmodelled)
		return ST_OK;
	return q->kind == REQUEST_CORE ? core_modelled(b, q, core, modelled) : uncore_modelled(b, q, lock_va, modelled);
}
