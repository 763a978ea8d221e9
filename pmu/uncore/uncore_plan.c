/* pmu/uncore/uncore_plan.c: packs events of uncore boxes into as few runs as their counters, filters and registers allow. */
#include "pmu/text.h"
#include "pmu/uncore/uncore.h"

static size_t name_length(const char *name)
{
	size_t n = 0;
	while (name[n] && name[n] != ':')
		n++;
	return n;
}

static bool is(const char *at, size_t n, const char *word)
{
	size_t i = 0;
	while (i < n && word[i] == at[i])
		i++;
	return i == n && !word[n];
}

const struct uncore_event *uncore_event_find(const struct processor *p, const char *name, const struct uncore_box **box)
{
	const size_t n = name_length(name);
	for (unsigned b = 0; b < p->box_count; b++)
		for (unsigned i = 0; i < p->boxes[b].event_count; i++)
			if (is(name, n, p->boxes[b].events[i].name)) {
				*box = &p->boxes[b];
				return &p->boxes[b].events[i];
			}
	return NULL;
}

/* One `KEY` or `KEY=VALUE`. */
static enum status suffix(struct uncore_slot *s, const char *at, size_t n)
{
	size_t key = 0;
	uint64_t value = 0;
	while (key < n && at[key] != '=')
		key++;
	const bool given = key < n;
	if (given && parse_u64(at + key + 1, n - key - 1, &value) != ST_OK)
		return ST_SYNTAX;
	if (!given && is(at, key, "edge")) {
		s->edge = true;
		return ST_OK;
	}
	if (!given && is(at, key, "invert")) {
		s->invert = true;
		return ST_OK;
	}
	if (given && is(at, key, "thresh")) {
		if (!value || value & ~(uint64_t)s->box->threshold)
			return ST_RANGE;
		s->threshold = (uint8_t)value;
		return ST_OK;
	}
	for (unsigned f = 0; given && f < s->box->filter_count; f++) {
		const struct uncore_filter *k = &s->box->filters[f];
		if (!is(at, key, k->name))
			continue;
		if (value >> (k->high - k->low + 1))
			return ST_RANGE;
		s->filter[f] = (uint32_t)value;
		s->used |= (uint8_t)(1u << f);
		return ST_OK;
	}
	return ST_SYNTAX;
}

bool uncore_filter_idle(const struct uncore_box *box, const struct uncore_event *event, unsigned f)
{
	bool asked = false;
	for (unsigned i = 0; i < box->event_count; i++)
		asked = asked || box->events[i].filters >> f & 1 || box->events[i].implied == f + 1;
	return asked && !box->filters[f].select && !(event->filters >> f & 1) && event->implied != f + 1;
}

/* What follows the event's name. */
static enum status suffixes(struct uncore_slot *s, const char *name)
{
	enum status st = ST_OK;
	name += name_length(name);
	while (*name == ':' && st == ST_OK) {
		const size_t n = name_length(++name);
		st = suffix(s, name, n);
		name += n;
	}
	if (st != ST_OK)
		return st;
	/* edge and invert apply to the comparison, which a threshold of 0 does not make (manual 331051-002, 1.5) */
	if ((s->edge || s->invert) && !s->threshold && !s->event->cmask)
		return ST_SYNTAX;
	for (unsigned f = 0; f < s->box->filter_count; f++)
		if (s->used >> f & 1 && uncore_filter_idle(s->box, s->event, f))
			return ST_SYNTAX;
	const unsigned own = s->event->implied - 1u;
	if (s->event->implied && !(s->used >> own & 1)) {
		s->filter[own] = s->event->implied_value;
		s->used |= (uint8_t)(1u << own);
	}
	return s->event->filters & ~s->used ? ST_SYNTAX : ST_OK;
}

/* Whether a filter that s uses would also act on o, which does not request it: o has the same code, or shares another filter with s. A filter that
 * unit masks or a bit of the select enable acts only on the events that have them. */
static bool acts_on(const struct uncore_slot *s, const struct uncore_slot *o, unsigned f)
{
	return !uncore_filter_idle(s->box, o->event, f) && !s->box->filters[f].select && (s->used & o->used || (s->event->select == o->event->select && s->event->extended == o->event->extended));
}

static bool filters_clash(const struct uncore_slot *s, const struct uncore_slot *o)
{
	for (unsigned f = 0; f < s->box->filter_count; f++) {
		const bool mine = s->used >> f & 1, theirs = o->used >> f & 1;
		if (mine && theirs ? s->filter[f] != o->filter[f] : (mine && acts_on(s, o, f)) || (theirs && acts_on(o, s, f)))
			return true;
	}
	return false;
}

static bool excludes(const struct uncore_slot *s, const struct uncore_slot *o)
{
	if (s->event->extra_msr && o->event->extra_msr == s->event->extra_msr && o->event->extra_value != s->event->extra_value)
		return true;
	return o->box == s->box && (filters_clash(s, o) || (s->event->fixed && o->event->fixed));
}

static struct uncore_slot *owner_of(struct uncore_plan *plan, const struct uncore_slot *s, unsigned counter)
{
	for (unsigned i = 0; i < plan->count; i++) {
		struct uncore_slot *o = &plan->slots[i];
		if (o != s && o->run == s->run && o->box == s->box && !o->event->fixed && o->counter == counter)
			return o;
	}
	return NULL;
}

/* Gives slot s of its run a free counter; else one whose owner can move to another. `tried`: counters not to be tried again. */
static bool take_counter(struct uncore_plan *plan, struct uncore_slot *s, uint32_t *tried)
{
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned c = 0; c < s->box->counters; c++) {
			struct uncore_slot *owner = owner_of(plan, s, c);
			if (!(s->event->counter_mask >> c & 1) || (!pass && owner) || *tried >> c & 1)
				continue;
			*tried |= 1u << c;
			if (owner && !take_counter(plan, owner, tried))
				continue;
			s->counter = (uint8_t)c;
			return true;
		}
	return false;
}

bool uncore_sees_counter_0(const struct uncore_box *box, const struct uncore_event *event)
{
	return box->counter_0_code && event->select == box->counter_0_code && !event->fixed;
}

/* Puts s into a run if it fits beside the slots already there. */
static bool assign(struct uncore_plan *plan, struct uncore_slot *s, unsigned run)
{
	uint32_t tried = 0;
	for (unsigned i = 0; i < plan->count; i++)
		if (plan->slots[i].run == run && excludes(s, &plan->slots[i]))
			return false;
	s->run = (uint8_t)run;
	return s->event->fixed || take_counter(plan, s, &tried);
}

/* The slot of counter 0 whose occupancy slot s counts; NULL: none. */
static struct uncore_slot *seen_by(struct uncore_plan *plan, const struct uncore_slot *s)
{
	for (unsigned i = plan->count; i-- > 0 && uncore_sees_counter_0(s->box, s->event);)
		if (plan->slots[i].box == s->box && plan->slots[i].event->counter_mask == 1)
			return &plan->slots[i];
	return NULL;
}

/* Puts s into the first run that has room for it and for the slot whose occupancy it counts, which moves there. */
static bool assign_any_run(struct uncore_plan *plan, struct uncore_slot *s)
{
	struct uncore_slot *seen = seen_by(plan, s);
	if (seen && assign(plan, s, seen->run))
		return true;
	for (unsigned run = 0; run < UNCORE_EVENTS_MAX; run++) {
		const uint8_t before = seen ? seen->run : 0;
		if (seen && (run == before || !assign(plan, seen, run))) {
			seen->run = before;
			continue;
		}
		if (assign(plan, s, run))
			return true;
		if (seen)
			seen->run = before;
	}
	return false;
}

enum status uncore_plan(const struct uncore *u, const char *const *names, unsigned n, struct uncore_plan *plan, const char **problem)
{
	const struct processor *p = u->cpu->processor;
	memset(plan, 0, sizeof(*plan));
	plan->runs = 1;
	for (unsigned i = 0; i < n; i++) {
		struct uncore_slot s = { 0 };
		*problem = names[i];
		s.event = uncore_event_find(p, names[i], &s.box);
		if (!s.event)
			return ST_MISSING;
		const enum status st = suffixes(&s, names[i]);
		if (st != ST_OK)
			return st;
		if (!u->absent && u->box_absent[s.box - p->boxes])
			return ST_UNSUPPORTED;
		if (plan->count == UNCORE_EVENTS_MAX)
			return ST_FULL;
		if (!assign_any_run(plan, &s))
			return ST_UNSUPPORTED;
		plan->slots[plan->count++] = s;
		if (s.run >= plan->runs)
			plan->runs = (uint8_t)(s.run + 1);
	}
	*problem = "";
	return ST_OK;
}
