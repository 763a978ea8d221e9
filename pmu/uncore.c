/* pmu/uncore.c: one engine for the uncore boxes that a global register switches on.
 *
 * The order of programming and the bus lock: guide, after table 21; SDM volume 3B, 18.8.2. */
#include "pmu/uncore.h"
#include "asm/kernel.h"
#include "pmu/text.h"

static enum status wr(const struct access *a, const struct uncore *u, unsigned socket, uint32_t msr, uint64_t value)
{
	return a->ops->wrmsr(a->self, u->speaker[socket], msr, value);
}

static enum status rd(const struct access *a, const struct uncore *u, unsigned socket, uint32_t msr, uint64_t *value)
{
	return a->ops->rdmsr(a->self, u->speaker[socket], msr, value);
}

/* --- sockets ----------------------------------------------------------------------------------- */

/* The package part of a logical processor's APIC id: what is above the bits that leaf 0xB's core level spans,
 * or, without that leaf, above those that count leaf 1's logical processors (SDM volume 3A, 8.9). */
static enum status package_of(const struct access *a, unsigned core, uint32_t *package)
{
	struct cpuid_regs r;
	enum status s = a->ops->cpuid(a->self, core, 0, 0, &r);
	if (s != ST_OK)
		return s;
	if (r.eax >= 0xB) {
		unsigned shift = 0;
		bool told = false;
		for (unsigned level = 0; level < 8; level++) {
			s = a->ops->cpuid(a->self, core, 0xB, level, &r);
			if (s != ST_OK)
				return s;
			if (!(r.ecx >> 8 & 0xFF))
				break;
			shift = r.eax & 0x1F;
			told = true;
		}
		if (told) {
			*package = r.edx >> shift;
			return ST_OK;
		}
	}
	s = a->ops->cpuid(a->self, core, 1, 0, &r);
	if (s != ST_OK)
		return s;
	unsigned shift = 0;
	while (r.edx >> 28 & 1 && 1u << shift < (r.ebx >> 16 & 0xFF))
		shift++;
	*package = r.ebx >> 24 >> shift;
	return ST_OK;
}

enum status uncore_socket(const struct access *a, const struct uncore *u, unsigned core, unsigned *socket)
{
	uint32_t wanted, package;
	enum status s = package_of(a, core, &wanted);
	for (unsigned i = 0; i < u->sockets && s == ST_OK; i++) {
		s = package_of(a, u->speaker[i], &package);
		if (s == ST_OK && package == wanted) {
			*socket = i;
			return ST_OK;
		}
	}
	return s == ST_OK ? ST_MISSING : s;
}

enum status uncore_find(const struct access *a, const struct cpu *cpu, struct uncore *u)
{
	const struct processor *p = cpu->processor;
	*u = (struct uncore){ .cpu = cpu };
	if (!p->box_count) {
		u->absent = "no uncore counters are known of this processor";
		return ST_OK;
	}
	if (cpu->hypervisor && a->kind == ACCESS_HW) {
		u->absent = "a virtual machine has no uncore counters";
		return ST_OK;
	}
	for (unsigned b = 0; b < p->box_count; b++)
		if (!p->boxes[b].global_counters || p->boxes[b].space != UNCORE_MSR) {
			/* Boxes with a control each, and those in PCI space, are described in the tables; what follows here
			 * drives only counters that one global register switches on. */
			u->absent = "boxes of this kind are listed and not yet driven";
			return ST_OK;
		}
	for (unsigned core = 0; core < a->cores; core++) {
		unsigned known;
		const enum status s = uncore_socket(a, u, core, &known);
		if (s != ST_MISSING)
			continue; /* of a socket that is known, or it does not answer */
		if (u->sockets == UNCORE_SOCKETS_MAX)
			break;
		u->speaker[u->sockets++] = (uint16_t)core;
	}
	for (unsigned socket = 0; socket < u->sockets; socket++)
		for (unsigned b = 0; b < p->box_count; b++) {
			uint64_t value;
			if (rd(a, u, socket, p->boxes[b].control, &value) != ST_OK || rd(a, u, socket, p->boxes[b].counter, &value) != ST_OK)
				u->absent = "the uncore's registers do not answer";
		}
	return ST_OK;
}

/* --- planning ---------------------------------------------------------------------------------- */

const struct uncore_event *uncore_event_find(const struct processor *p, const char *name, const struct uncore_box **box)
{
	for (unsigned b = 0; b < p->box_count; b++)
		for (unsigned i = 0; i < p->boxes[b].event_count; i++)
			if (str_equal(p->boxes[b].events[i].name, name)) {
				*box = &p->boxes[b];
				return &p->boxes[b].events[i];
			}
	return NULL;
}

/* The counter for slot s in a run, -1 when it does not fit beside those before it. */
static int place(const struct uncore_plan *plan, const struct uncore_slot *s, unsigned run)
{
	uint32_t free = s->event->counter_mask;
	for (unsigned i = 0; i < plan->count; i++) {
		const struct uncore_slot *o = &plan->slots[i];
		if (o->run != run)
			continue;
		if (s->event->extra_msr && o->event->extra_msr == s->event->extra_msr && o->event->extra_value != s->event->extra_value)
			return -1;
		if (o->box == s->box && !o->event->fixed)
			free &= ~(1u << o->counter);
	}
	if (s->event->fixed)
		return 0;
	for (int c = 0; c < s->box->counters; c++)
		if (free >> c & 1)
			return c;
	return -1;
}

enum status uncore_plan(const struct uncore *u, const char *const *names, unsigned n, struct uncore_plan *plan, const char **problem)
{
	memset(plan, 0, sizeof(*plan));
	plan->runs = 1;
	for (unsigned i = 0; i < n; i++) {
		struct uncore_slot s = { 0 };
		int counter = -1;
		*problem = names[i];
		s.event = uncore_event_find(u->cpu->processor, names[i], &s.box);
		if (!s.event)
			return ST_MISSING;
		if (plan->count == UNCORE_EVENTS_MAX)
			return ST_FULL;
		for (s.run = 0; counter < 0 && s.run < UNCORE_EVENTS_MAX; s.run++)
			counter = place(plan, &s, s.run);
		s.run--;
		if (counter < 0)
			return ST_UNSUPPORTED;
		s.counter = (uint8_t)counter;
		plan->slots[plan->count++] = s;
		if (s.run >= plan->runs)
			plan->runs = (uint8_t)(s.run + 1);
	}
	*problem = "";
	return ST_OK;
}

/* --- programming ------------------------------------------------------------------------------- */

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
	block->kernel = WINDOW_CODE + lock->offset;
	block->argument[0] = va;
	block->argument[1] = 1;
	struct job job = { .core = core, .entry = WINDOW_CODE + wrapper->offset, .argument = WINDOW_CONTROL + core * CONTROL_BYTES };
	return a->ops->run(a->self, &job, 1, 0);
}

static uint64_t control_of(const struct uncore_slot *s)
{
	return s->event->select | (uint64_t)s->event->umask << 8 | (uint64_t)s->event->cmask << 24 | s->box->enable;
}

static uint64_t global_bit(const struct uncore_slot *s)
{
	const uint64_t all = s->box->global_counters;
	return s->event->fixed ? s->box->global_fixed : (all & -all) << s->counter & all;
}

/* Everything of a box off, all of its instances. */
static enum status box_off(const struct access *a, const struct uncore *u, unsigned socket, const struct uncore_box *b)
{
	enum status s = b->global_control ? wr(a, u, socket, b->global_control, 0) : ST_OK;
	for (unsigned i = 0; i < b->instances; i++) {
		for (unsigned c = 0; c < b->counters && s == ST_OK; c++)
			s = wr(a, u, socket, b->control + i * b->stride + c, 0);
		if (s == ST_OK && b->fixed_control)
			s = wr(a, u, socket, b->fixed_control + i * b->stride, 0);
	}
	return s;
}

static bool in_run(const struct uncore_plan *plan, unsigned run, const struct uncore_box *b)
{
	for (unsigned i = 0; i < plan->count; i++)
		if (plan->slots[i].run == run && plan->slots[i].box == b)
			return true;
	return false;
}

/* Overflow bits that stand from before, back to 0. */
static enum status clear_overflow(const struct access *a, const struct uncore *u, unsigned socket, const struct uncore_box *b)
{
	uint64_t status;
	if (!b->status || !b->clear)
		return ST_OK;
	const enum status s = rd(a, u, socket, b->status, &status);
	status &= b->global_counters | b->global_fixed;
	return s == ST_OK && status ? wr(a, u, socket, b->clear, status) : s;
}

static enum status select_event(const struct access *a, const struct uncore *u, unsigned socket, const struct uncore_slot *slot)
{
	const struct uncore_box *b = slot->box;
	enum status s = ST_OK;
	if (slot->event->extra_msr)
		s = wr(a, u, socket, slot->event->extra_msr, slot->event->extra_value);
	for (unsigned i = 0; i < b->instances && s == ST_OK; i++)
		s = slot->event->fixed ? wr(a, u, socket, b->fixed_control + i * b->stride, b->fixed_enable)
		                       : wr(a, u, socket, b->control + i * b->stride + slot->counter, control_of(slot));
	return s;
}

static enum status zero_counter(const struct access *a, const struct uncore *u, unsigned socket, const struct uncore_slot *slot)
{
	const struct uncore_box *b = slot->box;
	enum status s = ST_OK;
	for (unsigned i = 0; i < b->instances && s == ST_OK; i++)
		s = wr(a, u, socket, (slot->event->fixed ? b->fixed_counter : b->counter + slot->counter) + i * b->stride, 0);
	return s;
}

enum status uncore_start(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run,
                         unsigned socket, uint64_t lock_va)
{
	const struct processor *p = u->cpu->processor;
	enum status s = ST_OK;
	bool queue = false;
	if (u->absent)
		return ST_UNSUPPORTED;
	if (run >= plan->runs || socket >= u->sockets)
		return ST_RANGE;
	for (unsigned b = 0; b < p->box_count && s == ST_OK; b++)
		if (in_run(plan, run, &p->boxes[b])) {
			s = box_off(a, u, socket, &p->boxes[b]);
			if (s == ST_OK)
				s = clear_overflow(a, u, socket, &p->boxes[b]);
		}
	for (unsigned i = 0; i < plan->count && s == ST_OK; i++)
		if (plan->slots[i].run == run) {
			s = select_event(a, u, socket, &plan->slots[i]);
			queue |= plan->slots[i].event->queue;
		}
	if (s == ST_OK && queue)
		s = uncore_bus_lock(a, u->speaker[socket], lock_va);
	for (unsigned i = 0; i < plan->count && s == ST_OK; i++)
		if (plan->slots[i].run == run)
			s = zero_counter(a, u, socket, &plan->slots[i]);
	for (unsigned b = 0; b < p->box_count && s == ST_OK; b++) {
		uint64_t on = 0;
		for (unsigned i = 0; i < plan->count; i++)
			if (plan->slots[i].run == run && plan->slots[i].box == &p->boxes[b])
				on |= global_bit(&plan->slots[i]);
		if (on && p->boxes[b].global_control)
			s = wr(a, u, socket, p->boxes[b].global_control, on);
	}
	return s;
}

enum status uncore_stop(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run, unsigned socket)
{
	const struct processor *p = u->cpu->processor;
	enum status first = ST_OK;
	if (run >= plan->runs || socket >= u->sockets)
		return ST_RANGE;
	for (unsigned b = 0; b < p->box_count; b++) {
		if (!in_run(plan, run, &p->boxes[b]))
			continue;
		const enum status s = box_off(a, u, socket, &p->boxes[b]);
		if (first == ST_OK)
			first = s;
	}
	return first;
}

enum status uncore_values(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run,
                        unsigned socket, uint64_t *values)
{
	enum status s = ST_OK;
	if (run >= plan->runs || socket >= u->sockets)
		return ST_RANGE;
	for (unsigned i = 0; i < plan->count && s == ST_OK; i++) {
		const struct uncore_slot *slot = &plan->slots[i];
		const struct uncore_box *b = slot->box;
		if (slot->run != run)
			continue;
		values[i] = 0;
		for (unsigned n = 0; n < b->instances && s == ST_OK; n++) {
			uint64_t value = 0;
			s = rd(a, u, socket, (slot->event->fixed ? b->fixed_counter : b->counter + slot->counter) + n * b->stride, &value);
			values[i] += value;
		}
	}
	return s;
}

uint64_t uncore_moved(const struct uncore_slot *s, uint64_t before, uint64_t after)
{
	const uint64_t mask = s->box->width >= 64 ? UINT64_MAX : (1ull << s->box->width) - 1;
	return (after - before) & mask;
}
