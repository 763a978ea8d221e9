/* pmu/sim/core/pipe_pair.c: two threads on a core. The rules stand in core.c.
 *
 * A cycle's allocation belongs to one thread, and entries of the station and ports go to the part that is allocated first.
 * So slots of both threads are accounted in the order of their allocation, an instruction of several slots in several steps
 * (core_go_on): core_expect computes when the next slot can be allocated, core_grant which thread is next, and a thread
 * takes the other's cycle if the other's next slot comes later. By the last allocation, one instruction at a time, a thread
 * could not see which cycles the other would leave free (5.7 % too slow over random pairs); so all is equal to the
 * reference in every cycle.
 *
 * Not modelled: shared fetch and decoders (each thread has its own); what the other thread does between the groups of a
 * wrong path, which are accounted at once (it is assumed to use its own cycles from its next group on). */
#include "pmu/sim/core/pipe.h"

static struct core_thread *other_of(const struct core_thread *c) { return c->shared->threads[!c->own]; }

/* Entries of the reservation station that a thread holds in `cycle`. */
static unsigned rs_held(const struct core_thread *c, uint64_t cycle)
{
	unsigned n = c->rs_in_use;
	for (uint64_t at = c->rs_at; at < cycle && n; at++)
		n -= c->leave[at & CORE_RING_MASK];
	return n;
}

/* The first cycle from t on with that many entries free. */
static uint64_t rs_room(struct core_thread *c, unsigned entries, uint64_t t)
{
	struct core_thread *o = other_of(c);
	while (rs_held(c, t) + rs_held(o, t) + entries > c->rs_size) {
		const uint64_t own = pipe_rs_next_from(c, max_cycle(t, c->rs_at)), others = pipe_rs_next_from(o, max_cycle(t, o->rs_at));
		t = (own < others ? own : others) + 1;
	}
	return t;
}

/* Whether a thread has allocated in that cycle already. */
static bool is_taken(const struct core_thread *c, uint64_t t)
{
	const struct core_shared *s = c->shared;
	return t < s->cleared + CORE_RING && s->taken[(t & CORE_RING_MASK) / 64] >> (t % 64) & 1;
}

bool pipe_is_others(const struct core_thread *c, uint64_t cycle) { return is_taken(c, cycle); }

static bool may_take(const struct core_thread *c, uint64_t t)
{
	if (t == c->alloc && c->slots)
		return true;
	return !is_taken(c, t) && ((t & 1) == c->own || other_of(c)->next > t);
}

/* As pipe_wait, without station and read ports, and without emitting signals. */
static uint64_t least_cycle(const struct core_thread *c, unsigned parts, uint64_t delivered)
{
	uint64_t t = max_cycle(c->alloc + (c->slots >= c->width), max_cycle(delivered, c->barrier));
	t = max_cycle(t, c->rob[c->rob_at] + 1);
	if (parts & PART_LOAD)
		t = max_cycle(t, c->lb[c->lb_at] + 1);
	if (parts & PART_STA)
		t = max_cycle(t, c->sb[c->sb_at] + 1);
	return t;
}

static bool reads_fit(struct core_thread *c, const struct core_plan *p, unsigned parts, uint64_t t)
{
	return !c->register_reads || !parts || pipe_reads_fit(c, p, parts, t);
}

/* Half a buffer becomes a whole one in that cycle: the holder of the entries in between left before the oldest of these was
 * allocated. What waited for the half until then finds that the next entry becomes free with it. */
static void grow(uint64_t *ring, uint32_t *at, uint32_t *size, uint32_t whole, uint64_t cycle)
{
	uint64_t was[COUNT_OF(((struct core_thread *)0)->rob)];
	const uint64_t next = ring[*at];
	memcpy(was, ring, *size * sizeof(was[0]));
	memset(ring, 0, (whole - *size) * sizeof(was[0]));
	for (uint32_t i = 0; i < *size; i++)
		ring[whole - *size + i] = was[(*at + i) % *size];
	ring[0] = next < cycle ? next : cycle - 1;
	*at = 0;
	*size = whole;
}

void pipe_part(struct core_thread *c, uint64_t cycle) { c->whole_from = cycle; }

/* The thread has reached the point from which it is alone. */
static void be_whole(struct core_thread *c)
{
	grow(c->rob, &c->rob_at, &c->rob_size, (uint32_t)c->m->core_rob, c->whole_from);
	grow(c->lb, &c->lb_at, &c->lb_size, (uint32_t)c->m->core_load_buffers, c->whole_from);
	grow(c->sb, &c->sb_at, &c->sb_size, (uint32_t)c->m->core_store_buffers, c->whole_from);
	c->alone = true;
	c->whole_from = c->next = c->found = c->full_from = c->full_to = 0;
}

/* Continues from c->found to the first cycle with room in the station and read ports that the thread may have: with `takes`
 * the other thread is asked whether it can use it, otherwise it suffices that it is still free. Cycles that were passed are
 * not examined again, since the other thread has gone on. */
static void find_cycle(struct core_thread *c, const struct core_plan *p, unsigned parts, unsigned entries, bool takes)
{
	const uint64_t first = c->alloc + (c->slots != 0);
	for (;; c->found++) {
		const uint64_t room = entries ? rs_room(c, entries, c->found) : c->found, from = max_cycle(first, c->found);
		if (room != c->found) {
			if (from != c->full_to) {
				pipe_stall(c, SIG_RESOURCE_STALL_RS, c->full_from, c->full_to);
				c->full_from = from;
			}
			c->full_to = c->found = room;
		}
		if (!reads_fit(c, p, parts, c->found))
			pipe_stall(c, SIG_RAT_STALL_READ_PORT, c->found, c->found + 1); /* counted for each refused uop, also if others were refused before it */
		else if (takes ? may_take(c, c->found) : (c->found == c->alloc && c->slots) || !is_taken(c, c->found))
			return;
	}
}

uint64_t pipe_allocate_paired(struct core_thread *c, const struct core_plan *p, unsigned parts, unsigned entries,
                              uint64_t delivered, enum wait_reason why)
{
	if (c->whole_from && least_cycle(c, parts, delivered) >= c->whole_from) {
		be_whole(c);
		return pipe_allocate_waiting(c, p, parts, entries, delivered, why);
	}
	c->found = max_cycle(c->found, pipe_wait(c, parts, delivered, why));
	find_cycle(c, p, parts, entries, true);
	const uint64_t t = c->found;
	if (c->full_to) {
		pipe_stall(c, SIG_RESOURCE_STALL_RS, c->full_from, c->full_to);
		c->wait_reason = WAIT_ALLOCATE;
	}
	c->found = c->full_from = c->full_to = 0;
	if (t > c->rs_at)
		pipe_rs_take_off(c, t);
	if (t < c->shared->cleared + CORE_RING) {
		c->shared->taken[(t & CORE_RING_MASK) / 64] |= 1ull << (t % 64);
		c->shared->bits_end = max_cycle(c->shared->bits_end, t + 1);
	}
	if (t != c->alloc)
		pipe_emit_slots(c, delivered, t);
	if (pipe_lost_subscribed(c, t))
		pipe_emit_lost(c, parts, t, delivered);
	pipe_allocated(c, t, entries);
	c->next = least_cycle(c, 0, 0);
	return t;
}

/* When a slot with these parts can be allocated (none: a uop beyond the parts): c->next. */
static void expect_slot(struct core_thread *c, const struct core_plan *p, unsigned parts, uint64_t delivered)
{
	const unsigned buffers = parts && p->class == UC_CLFLUSH ? parts | PART_STA : parts;
	const uint64_t read_cycle = c->read_cycle, read_set = c->read_set, read_full = c->read_full;
	const unsigned reads = c->reads;
	c->found = max_cycle(c->found, least_cycle(c, buffers, delivered));
	find_cycle(c, p, buffers, parts ? pipe_entries(c->m, p, parts) : 1, false);
	c->read_cycle = read_cycle;
	c->read_set = read_set;
	c->read_full = read_full;
	c->reads = reads;
	c->next = c->found;
}

void core_expect(struct core_thread *c, const struct core_plan *p, uint64_t ip)
{
	const struct core_pending *r = &c->rest;
	enum wait_reason why = WAIT_NONE;
	if (c->alone || c->whole_from)
		return;
	if (r->slots) {
		expect_slot(c, &r->plan, r->slot < r->plan.groups ? r->plan.group[r->slot] : 0, r->progress.delivered);
		return;
	}
	if (!c->expected) {
		c->expected_status = (uint8_t)pipe_deliver(c, p, ip, false, c->fused_before, false, &c->delivered, &why);
		c->expected_why = (uint8_t)why;
		c->expected = true;
		pipe_partial_stalls(c, p);
		if (p->vector)
			pipe_vector_transition(c, p);
	}
	if (!c->fused_before && c->expected_status == ST_OK) /* a fused branch needs no slot */
		expect_slot(c, p, p->group[0], c->delivered);
}

enum status pipe_deliver_paired(struct core_thread *c, const struct core_plan *p, uint64_t ip, uint64_t *cycle, enum wait_reason *why)
{
	if (!c->expected)
		return pipe_deliver(c, p, ip, false, c->fused_before, false, cycle, why);
	*cycle = c->delivered;
	*why = (enum wait_reason)c->expected_why;
	c->expected = false;
	return (enum status)c->expected_status;
}

uint64_t core_grant(const struct core_thread *c)
{
	const uint64_t cycle = c->next == UINT64_MAX ? c->alloc : max_cycle(c->alloc, c->next);
	return 2 * cycle + (!c->alone && (cycle & 1) != c->own);
}

bool core_is_alone(const struct core_thread *c) { return c->alone; }
