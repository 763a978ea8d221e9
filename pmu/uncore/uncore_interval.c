/* pmu/uncore/uncore_interval.c: a counter is loaded so that it overflows after a given number of events (manual 331051-002,
 * 2.1.1 and 2.1.4, whose example omits bit 20 of the select, which signals the overflow).
 *
 * An overflow in a box that can signal it freezes all boxes of the socket. CBo and SBo have no such bit, although the
 * manual's prose says that they freeze, and a socket whose global control does not answer freezes nothing: there the
 * counters are polled and the boxes frozen one by one. */
#include "pmu/uncore/uncore.h"

#define OVERFLOW_ENABLE (1ull << 20)

/* The UBox's fixed counter has only a bit in the socket's status, which is read too. */
static bool tells(const struct uncore *u, const struct uncore_slot *s)
{
	const bool own_bit = !s->event->fixed || s->box->space == UNCORE_PCI;
	return s->box->global_freeze && !u->box_freeze && own_bit && s->box->selectable & OVERFLOW_ENABLE;
}

static uint64_t mask_of(const struct uncore *u, const struct uncore_slot *s) { return uncore_moved(u, s, 0, UINT64_MAX); }

static uint32_t counter_of(const struct uncore_slot *s)
{
	return s->event->fixed ? s->box->fixed_counter : s->box->counter + s->counter * s->box->counter_stride;
}

/* Sets the counter of every instance of a slot's box; with `tell`, its overflow is signalled. */
static enum status load(const struct access *a, const struct uncore *u, const struct uncore_slot *s, unsigned socket, uint64_t value, bool tell)
{
	const uint32_t present = u->present[socket][s->box - u->cpu->processor->boxes];
	const uint32_t select = s->event->fixed ? s->box->fixed_control : s->box->control + s->counter * s->box->control_stride;
	enum status st = ST_OK;
	for (unsigned i = 0; i < UNCORE_INSTANCES_MAX && st == ST_OK; i++) {
		const struct uncore_at at = { s->box, (uint16_t)socket, (uint16_t)i, UNCORE_OWN };
		uint64_t was = 0;
		if (!(present >> i & 1))
			continue;
		st = uncore_write_counter(a, u, at, counter_of(s), value);
		if (st != ST_OK || !tell)
			continue;
		st = uncore_reg_read(a, u, at, select, &was);
		if (st == ST_OK)
			st = s->event->fixed ? uncore_reg_write(a, u, at, select, was | OVERFLOW_ENABLE)
			                     : uncore_write_select(a, u, at, s->counter, was | OVERFLOW_ENABLE);
	}
	return st;
}

/* Clears overflow bits, of the boxes of the run and of the socket: until then nothing freezes again. */
static enum status clear(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run, unsigned socket)
{
	const struct processor *p = u->cpu->processor;
	enum status st = ST_OK;
	for (unsigned i = 0; i < plan->count && st == ST_OK; i++)
		if (plan->slots[i].run == run)
			st = uncore_clear_overflow(a, u, socket, plan->slots[i].box);
	for (unsigned b = 0; b < p->box_count && st == ST_OK && !u->box_freeze; b++)
		if (p->boxes[b].global_status) /* the type to which the table assigns the socket's status */
			return uncore_clear_overflow(a, u, socket, &p->boxes[b]);
	return st;
}

static enum status go(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run, unsigned socket,
                      const struct uncore_interval *k)
{
	const struct uncore_box *b = plan->slots[k->slot].box;
	if (k->pmi_cores && tells(u, &plan->slots[k->slot]))
		return a->ops->wrmsr(a->self, u->speaker[socket], b->global_control, b->global_unfreeze | k->pmi_cores);
	return uncore_freeze(a, u, plan, run, socket, false);
}

enum status uncore_interval_start(const struct access *a, struct uncore *u, const struct uncore_plan *plan, unsigned run, unsigned socket,
                                  uint64_t lock_va, const struct uncore_interval *k)
{
	if (k->slot >= plan->count || plan->slots[k->slot].run != run || !k->events || k->pmi_cores & ~plan->slots[k->slot].box->global_cores)
		return ST_RANGE;
	if (!plan->slots[k->slot].box->global_freeze)
		return ST_UNSUPPORTED;
	enum status st = uncore_start(a, u, plan, run, socket, lock_va);
	if (st != ST_OK)
		return st;
	st = uncore_freeze(a, u, plan, run, socket, true);
	const struct uncore_slot *s = &plan->slots[k->slot];
	if (st == ST_OK && k->events > mask_of(u, s))
		st = ST_RANGE;
	for (unsigned i = 0; i < plan->count && st == ST_OK; i++)
		if (plan->slots[i].run == run)
			st = load(a, u, &plan->slots[i], socket, 0, false);
	if (st == ST_OK)
		st = load(a, u, s, socket, mask_of(u, s) + 1 - k->events, tells(u, s));
	if (st == ST_OK)
		st = clear(a, u, plan, run, socket);
	const enum status gone = go(a, u, plan, run, socket, k);
	return st == ST_OK ? gone : st;
}

enum status uncore_interval_over(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run,
                                 unsigned socket, const struct uncore_interval *k, bool *over)
{
	const struct uncore_slot *s = &plan->slots[k->slot];
	uint64_t each[UNCORE_INSTANCES_MAX];
	uint32_t slots;
	enum status st;
	*over = false;
	if (tells(u, s)) {
		st = uncore_overflows(a, u, plan, run, socket, &slots);
		*over = st == ST_OK && slots >> k->slot & 1;
		return st;
	}
	st = uncore_instance_values(a, u, s, socket, each);
	const uint32_t present = u->present[socket][s->box - u->cpu->processor->boxes];
	for (unsigned i = 0; i < UNCORE_INSTANCES_MAX && st == ST_OK; i++)
		*over |= present >> i & 1 && each[i] < mask_of(u, s) + 1 - k->events;
	return *over ? uncore_freeze(a, u, plan, run, socket, true) : st;
}

enum status uncore_interval_again(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run,
                                  unsigned socket, const struct uncore_interval *k)
{
	const struct uncore_slot *s = &plan->slots[k->slot];
	enum status st = uncore_freeze(a, u, plan, run, socket, true);
	if (st == ST_OK)
		st = load(a, u, s, socket, mask_of(u, s) + 1 - k->events, false);
	if (st == ST_OK)
		st = clear(a, u, plan, run, socket);
	const enum status gone = go(a, u, plan, run, socket, k);
	return st == ST_OK ? gone : st;
}
