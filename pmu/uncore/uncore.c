/* pmu/uncore/uncore.c: one engine for two kinds of uncore boxes: those whose counters a global register enables, and those
 * that are frozen, by a global register or each by its own control.
 *
 * Order of programming and bus lock of the former: guide, after table 21; SDM volume 3B, 18.8.2. Of the latter: manual
 * 331051-002, 2.1.1 (freeze, reset, filters, selects, unfreeze). Selects and counters are zeroed one by one before a box is
 * reset, so that the guarded backend has saved their contents. */
#include "pmu/uncore/uncore.h"
#include "asm/kernel.h"
#include "pmu/text.h"

#define SELECT_EDGE   (1u << 18) /* of every box: SDM volume 3B, 18.8.2; manual, 1.5 */
#define SELECT_INVERT (1u << 23)

static unsigned index_of(const struct uncore *u, const struct uncore_box *b) { return (unsigned)(b - u->cpu->processor->boxes); }

/* Instances of box b on a socket, as a loop: i takes the numbers of those present. */
#define EACH_INSTANCE(i, u, socket, b) \
	for (unsigned i = 0; i < UNCORE_INSTANCES_MAX; i++) \
		if ((u)->present[socket][index_of(u, b)] >> i & 1)

/* Whether a control, its own or the socket's, freezes the box; otherwise a global register starts its counters. */
static bool freezes(const struct uncore_box *b) { return b->global_freeze || b->box_freeze; }

/* Whether the box has a register that resets and freezes it; a box in a discovery table has it at offset 0. */
static bool has_control(const struct uncore_box *b) { return b->box_control || b->type; }

static struct uncore_at at_of(const struct uncore_box *b, unsigned socket, unsigned i)
{
	return (struct uncore_at){ b, (uint16_t)socket, (uint16_t)i, UNCORE_OWN };
}

static enum status wr(const struct access *a, const struct uncore *u, unsigned socket, uint32_t msr, uint64_t value)
{
	return a->ops->wrmsr(a->self, u->speaker[socket], msr, value);
}

static enum status rd(const struct access *a, const struct uncore *u, unsigned socket, uint32_t msr, uint64_t *value)
{
	return a->ops->rdmsr(a->self, u->speaker[socket], msr, value);
}

static bool in_run(const struct uncore_plan *plan, unsigned run, const struct uncore_box *b)
{
	for (unsigned i = 0; i < plan->count; i++)
		if (plan->slots[i].run == run && plan->slots[i].box == b)
			return true;
	return false;
}

/* --- the bus lock ------------------------------------------------------------------------------ */

static const struct kernel *kernel_named(const char *name)
{
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (str_equal(k->name, name))
			return k;
	return NULL;
}

enum status uncore_bus_lock(const struct access *a, unsigned core, uint64_t va)
{
	const struct kernel *wrapper = kernel_named("k_measure"), *lock = kernel_named("k_split_lock");
	struct measure_block *block = a->ops->control(a->self, core);
	if (!wrapper || !lock || !block)
		return ST_BROKEN;
	memset(block, 0, sizeof(*block));
	block->kernel = SPACE_CODE + lock->offset;
	block->argument[0] = va;
	block->argument[1] = 1;
	struct job job = { .core = core, .entry = SPACE_CODE + wrapper->offset, .argument = control_va(a, core) };
	return a->ops->run(a->self, &job, 1, 0);
}

/* --- freeze and release ------------------------------------------------------------------------ */

/* Writes a box's own control: sets bits one after the other where setting several at once may fault. */
static enum status write_box(const struct access *a, const struct uncore *u, struct uncore_at at, uint64_t value)
{
	const struct uncore_box *b = at.box;
	enum status s = ST_OK;
	uint64_t so_far = 0;
	if (b->box_steps)
		for (uint64_t rest = value; rest & (rest - 1) && s == ST_OK; rest &= rest - 1) {
			so_far |= rest & -rest;
			s = uncore_reg_write(a, u, at, b->box_control, so_far);
		}
	return s == ST_OK ? uncore_reg_write(a, u, at, b->box_control, value) : s;
}

enum change { FREEZE, RELEASE };

/* Freezes or releases the boxes of a run, by the global control, which is written once for all, or each by its own control. */
static enum status change_boxes(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run,
                                unsigned socket, enum change change)
{
	const struct processor *p = u->cpu->processor;
	uint32_t written = 0;
	enum status s = ST_OK;
	for (unsigned n = 0; n < p->box_count && s == ST_OK; n++) {
		const struct uncore_box *b = &p->boxes[n];
		if (!freezes(b) || !in_run(plan, run, b))
			continue;
		if (!u->box_freeze && b->global_freeze) {
			if (b->global_control != written)
				s = wr(a, u, socket, b->global_control, change == FREEZE ? b->global_freeze : b->global_unfreeze);
			written = b->global_control;
		} else if (has_control(b)) {
			EACH_INSTANCE(i, u, socket, b)
				if (s == ST_OK)
					s = write_box(a, u, at_of(b, socket, i), b->box_keep | (change == FREEZE ? b->box_freeze : 0));
		}
	}
	return s;
}

/* Switches off all selects of all instances of a box. */
static enum status selects_off(const struct access *a, const struct uncore *u, unsigned socket, const struct uncore_box *b)
{
	enum status s = b->global_control && !b->global_freeze ? wr(a, u, socket, b->global_control, 0) : ST_OK;
	if (b->free_running)
		return s;
	EACH_INSTANCE(i, u, socket, b) {
		for (unsigned c = 0; c < b->counters && s == ST_OK; c++)
			s = uncore_write_select(a, u, at_of(b, socket, i), c, 0);
		if (s == ST_OK && b->fixed_control)
			s = uncore_reg_write(a, u, at_of(b, socket, i), b->fixed_control, 0);
	}
	return s;
}

/* --- widths ------------------------------------------------------------------------------------ */

/* Width: the bits of all ones that counter 0 of the first instance keeps; its select is off. */
static enum status probe_width(const struct access *a, struct uncore *u, unsigned socket, const struct uncore_box *b)
{
	const uint64_t ones = b->width >= 64 ? UINT64_MAX : (1ull << b->width) - 1;
	const unsigned n = index_of(u, b);
	uint64_t kept = 0;
	if (u->width[n])
		return ST_OK;
	EACH_INSTANCE(i, u, socket, b) {
		const struct uncore_at at = at_of(b, socket, i);
		enum status s = uncore_write_counter(a, u, at, uncore_counter_at(u, at, 0), ones);
		if (s == ST_OK)
			s = uncore_read_counter(a, u, at, uncore_counter_at(u, at, 0), &kept);
		if (s != ST_OK)
			return s;
		break;
	}
	if (kept & (kept + 1) || kept < UINT32_MAX) {
		u->box_absent[n] = "its counters do not keep what is written";
		return ST_UNSUPPORTED;
	}
	for (; kept; kept >>= 1)
		u->width[n]++;
	return ST_OK;
}

uint64_t uncore_moved(const struct uncore *u, const struct uncore_slot *s, uint64_t before, uint64_t after)
{
	const unsigned probed = u->width[index_of(u, s->box)], width = probed ? probed : s->box->width;
	return (after - before) & (width >= 64 ? UINT64_MAX : (1ull << width) - 1);
}

/* --- programming ------------------------------------------------------------------------------- */

/* Clears overflow bits left from before. */
static enum status uncore_clear_overflow(const struct access *a, const struct uncore *u, unsigned socket, const struct uncore_box *b)
{
	uint64_t status;
	enum status s = ST_OK;
	EACH_INSTANCE(i, u, socket, b)
		if (b->box_status && s == ST_OK)
			s = uncore_reg_write(a, u, at_of(b, socket, i), b->box_status, b->box_status_mask);
	const uint32_t from = b->global_status ? b->global_status : b->status, to = b->global_status ? b->global_status : b->clear;
	if (!from || !to || s != ST_OK)
		return s;
	s = rd(a, u, socket, from, &status);
	status &= b->global_status ? b->global_status_mask : b->global_counters | b->global_fixed;
	return s == ST_OK && status ? wr(a, u, socket, to, status) : s;
}

/* Disables, zeroes and, if it has a control of its own, resets a box. */
static enum status prepare(const struct access *a, struct uncore *u, unsigned socket, const struct uncore_box *b)
{
	enum status s = selects_off(a, u, socket, b);
	if (b->free_running)
		return s;
	if (s == ST_OK && freezes(b))
		s = probe_width(a, u, socket, b);
	EACH_INSTANCE(i, u, socket, b) {
		const struct uncore_at at = at_of(b, socket, i);
		if (!freezes(b))
			break; /* the counters in use are zeroed last, after the bus lock */
		for (unsigned c = 0; c < b->counters && s == ST_OK; c++)
			s = uncore_write_counter(a, u, at, uncore_counter_at(u, at, c), 0);
		if (s == ST_OK && b->fixed_counter)
			s = uncore_write_counter(a, u, at, b->fixed_counter, 0);
		if (s == ST_OK && has_control(b))
			s = write_box(a, u, at, b->box_keep | b->box_reset | (u->box_freeze || !b->global_freeze ? b->box_freeze : 0));
	}
	return s == ST_OK ? uncore_clear_overflow(a, u, socket, b) : s;
}

/* Filters of a box: writes each register once, with its fields as the run's slots need them, 0 otherwise. */
static enum status write_filters(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run,
                                 unsigned socket, const struct uncore_box *b)
{
	enum status s = ST_OK;
	uint64_t value[UNCORE_FILTERS_MAX] = { 0 };
	uint8_t used = 0;
	for (unsigned i = 0; i < plan->count; i++) {
		const struct uncore_slot *slot = &plan->slots[i];
		for (unsigned f = 0; slot->run == run && slot->box == b && f < b->filter_count; f++)
			if (slot->used >> f & 1) {
				value[f] = slot->filter[f];
				used |= (uint8_t)(1u << f);
			}
	}
	for (unsigned f = 0; f < b->filter_count; f++) {
		const struct uncore_filter *k = &b->filters[f];
		uint64_t fields = 0, bits = 0;
		bool first = true, wanted = false;
		for (unsigned g = 0; g < b->filter_count; g++) {
			const struct uncore_filter *o = &b->filters[g];
			if (o->reg != k->reg || o->function != k->function)
				continue;
			first &= g >= f;
			wanted |= used >> g & 1;
			fields |= ((2ull << o->high) - 1) & ~((1ull << o->low) - 1);
			bits |= value[g] << o->low;
		}
		if (!first || !wanted)
			continue;
		EACH_INSTANCE(i, u, socket, b) {
			struct uncore_at at = at_of(b, socket, i);
			uint64_t found = 0;
			at.function = k->function;
			if (s == ST_OK)
				s = uncore_reg_read(a, u, at, k->reg, &found);
			if (s == ST_OK)
				s = uncore_reg_write(a, u, at, k->reg, (found & ~fields) | bits);
		}
	}
	return s;
}

static uint64_t control_of(const struct uncore_slot *s)
{
	const uint8_t threshold = s->threshold ? s->threshold : s->event->cmask;
	const bool occupancy = s->event->select & s->box->occupancy_code;
	const uint64_t edge = occupancy ? s->box->occupancy_edge : SELECT_EDGE, invert = occupancy ? s->box->occupancy_invert : SELECT_INVERT;
	uint64_t v = s->event->select | (uint64_t)s->event->umask << 8 | (s->edge ? edge : 0) | (uint64_t)s->event->extended << 21 |
	             (s->invert ? invert : 0) | (uint64_t)threshold << 24 | s->event->high | s->box->select_bits | s->box->enable;
	for (unsigned f = 0; f < s->box->filter_count; f++)
		if (s->used >> f & 1)
			v |= s->box->filters[f].select;
	return v;
}

static uint64_t global_bit(const struct uncore_slot *s)
{
	if (s->box->global_enable)
		return s->box->global_enable;
	const uint64_t all = s->box->global_counters;
	return s->event->fixed ? s->box->global_fixed : (all & -all) << s->counter & all;
}

static enum status select_event(const struct access *a, const struct uncore *u, unsigned socket, const struct uncore_slot *slot)
{
	const struct uncore_box *b = slot->box;
	enum status s = ST_OK;
	if (b->free_running)
		return ST_OK;
	if (slot->event->extra_msr)
		s = wr(a, u, socket, slot->event->extra_msr, slot->event->extra_value);
	EACH_INSTANCE(i, u, socket, b) {
		const struct uncore_at at = at_of(b, socket, i);
		if (s == ST_OK && slot->event->fixed && b->fixed_reset)
			s = uncore_reg_write(a, u, at, b->fixed_control, b->fixed_reset | b->fixed_enable);
		if (s == ST_OK)
			s = slot->event->fixed ? uncore_reg_write(a, u, at, b->fixed_control, b->fixed_enable)
			                       : uncore_write_select(a, u, at, slot->counter, control_of(slot));
	}
	return s;
}

static enum status zero_counter(const struct access *a, const struct uncore *u, unsigned socket, const struct uncore_slot *slot)
{
	const struct uncore_box *b = slot->box;
	enum status s = ST_OK;
	if (b->free_running)
		return ST_OK;
	EACH_INSTANCE(i, u, socket, b)
		if (s == ST_OK)
			s = uncore_write_counter(a, u, at_of(b, socket, i), slot->event->fixed ? b->fixed_counter : uncore_counter_at(u, at_of(b, socket, i), slot->counter), 0);
	return s;
}

enum status uncore_start(const struct access *a, struct uncore *u, const struct uncore_plan *plan, unsigned run, unsigned socket,
                         uint64_t lock_va)
{
	const struct processor *p = u->cpu->processor;
	enum status s = ST_OK;
	bool queue = false;
	if (u->absent)
		return ST_UNSUPPORTED;
	if (run >= plan->runs || socket >= u->sockets)
		return ST_RANGE;
	s = change_boxes(a, u, plan, run, socket, FREEZE);
	if (s == ST_FAULT && !u->box_freeze) { /* no global control: use the boxes' own if they have one */
		u->box_freeze = true;
		s = change_boxes(a, u, plan, run, socket, FREEZE);
	}
	for (unsigned b = 0; b < p->box_count && s == ST_OK; b++)
		if (in_run(plan, run, &p->boxes[b])) {
			s = prepare(a, u, socket, &p->boxes[b]);
			if (s == ST_OK)
				s = write_filters(a, u, plan, run, socket, &p->boxes[b]);
		}
	for (unsigned i = 0; i < plan->count && s == ST_OK; i++)
		if (plan->slots[i].run == run) {
			s = select_event(a, u, socket, &plan->slots[i]);
			queue |= plan->slots[i].event->queue;
		}
	if (s == ST_OK && queue)
		s = uncore_bus_lock(a, u->speaker[socket], lock_va);
	for (unsigned i = 0; i < plan->count && s == ST_OK; i++)
		if (plan->slots[i].run == run && !freezes(plan->slots[i].box))
			s = zero_counter(a, u, socket, &plan->slots[i]);
	uint32_t started = 0;
	for (unsigned b = 0; b < p->box_count && s == ST_OK; b++) {
		const bool shared = p->boxes[b].global_enable && p->boxes[b].global_control == started;
		uint64_t on = 0;
		for (unsigned i = 0; i < plan->count; i++)
			if (plan->slots[i].run == run && plan->slots[i].box == &p->boxes[b])
				on |= global_bit(&plan->slots[i]);
		if (!on || !p->boxes[b].global_control || shared)
			continue;
		started = p->boxes[b].global_control;
		s = wr(a, u, socket, started, on);
	}
	/* Also after a failure: what was frozen is released. */
	const enum status go = change_boxes(a, u, plan, run, socket, RELEASE);
	return s == ST_OK ? go : s;
}

enum status uncore_stop(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run, unsigned socket)
{
	const struct processor *p = u->cpu->processor;
	if (run >= plan->runs || socket >= u->sockets)
		return ST_RANGE;
	enum status first = change_boxes(a, u, plan, run, socket, FREEZE), s;
	for (unsigned b = 0; b < p->box_count; b++) {
		if (!in_run(plan, run, &p->boxes[b]))
			continue;
		s = selects_off(a, u, socket, &p->boxes[b]);
		first = first == ST_OK ? s : first;
	}
	s = change_boxes(a, u, plan, run, socket, RELEASE);
	return first == ST_OK ? s : first;
}

/* --- reading ----------------------------------------------------------------------------------- */

enum status uncore_instance_values(const struct access *a, const struct uncore *u, const struct uncore_slot *s, unsigned socket,
                                   uint64_t values[UNCORE_INSTANCES_MAX])
{
	const struct uncore_box *b = s->box;
	enum status st = ST_OK;
	if (socket >= u->sockets)
		return ST_RANGE;
	memset(values, 0, UNCORE_INSTANCES_MAX * sizeof(values[0]));
	EACH_INSTANCE(i, u, socket, b)
		if (st == ST_OK)
			st = uncore_read_counter(a, u, at_of(b, socket, i), s->event->fixed ? b->fixed_counter : uncore_counter_at(u, at_of(b, socket, i), s->counter), &values[i]);
	return st;
}

enum status uncore_values(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run,
                        unsigned socket, uint64_t *values)
{
	enum status s = ST_OK;
	if (run >= plan->runs || socket >= u->sockets)
		return ST_RANGE;
	for (unsigned i = 0; i < plan->count && s == ST_OK; i++) {
		uint64_t each[UNCORE_INSTANCES_MAX];
		if (plan->slots[i].run != run)
			continue;
		s = uncore_instance_values(a, u, &plan->slots[i], socket, each);
		values[i] = 0;
		for (unsigned n = 0; n < UNCORE_INSTANCES_MAX && s == ST_OK; n++)
			values[i] += each[n];
	}
	return s;
}
