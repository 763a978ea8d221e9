/* pmu/sim/core/core_snapshot.c: a canonical key of a thread's pipeline state: equal keys have equal futures, up to a shift
 * in time.
 *
 * No group is allocated before the base: the cycle of the last allocation, or a barrier after it. A time that is only
 * compared with cycles from the base on is therefore clipped to the base. What is looked up by address (predictor, stores
 * in flight, caches) is not part of the key: it is looked up again each time, and its answers are compared.
 *
 * Not modelled, so never recalled: states of machines with a uop cache, busy dividers, times MEMO_REACH cycles or more
 * away. */
#include "pmu/sim/core/core_memo.h"
#include "pmu/sim/core/pipe.h"

#define LOOP_ITERATIONS_KNOWN 2u /* iterations that the loop buffer distinguishes: core_front.c */

struct out { uint16_t *at, *end; bool good; };

static inline void put(struct out *o, uint64_t x)
{
	if (o->at == o->end || x > UINT16_MAX) {
		o->good = false;
		return;
	}
	*o->at++ = (uint16_t)x;
}

static inline void put64(struct out *o, uint64_t x)
{
	for (unsigned i = 0; i < 4; i++)
		put(o, x >> 16 * i & 0xFFFF);
}

/* A cycle's distance from `floor`; 0 for all cycles up to it. */
static inline uint64_t behind(struct out *o, uint64_t cycle, uint64_t floor)
{
	if (cycle <= floor)
		return 0;
	o->good &= cycle - floor < MEMO_REACH;
	return cycle - floor;
}

static inline uint64_t take(const uint16_t **at) { return *(*at)++; }

static inline uint64_t take64(const uint16_t **at)
{
	uint64_t x = 0;
	for (unsigned i = 0; i < 4; i++)
		x |= take(at) << 16 * i;
	return x;
}

/* Entries of a ring from base on: its last ones, since they are in order of time. */
static void put_ring(struct out *o, const uint64_t *ring, uint32_t at, uint32_t size, uint64_t floor)
{
	uint16_t *const count = o->at;
	uint64_t n = 0;
	put(o, 0);
	for (uint32_t i = at; n < size; n++) {
		i = (i ? i : size) - 1;
		if (ring[i] <= floor)
			break;
		put(o, behind(o, ring[i], floor));
	}
	if (o->good)
		*count = (uint16_t)n;
}

static void take_ring(const uint16_t **from, uint64_t *ring, uint32_t *at, uint32_t size, uint64_t floor)
{
	memset(ring, 0, size * sizeof(*ring));
	*at = 0;
	for (uint32_t n = (uint32_t)take(from), i = size; n; n--)
		ring[--i] = floor + take(from);
}

/* Whether the next instruction makes the renamer wait from the last allocation on. */
static bool holds_renamer(const struct core_thread *c, uint64_t ip)
{
	const bool flags = c->flags_number[0] != c->flags_number[RN_ZAPSO - RN_CF];
	const struct code_entry *e = c->hooks->known ? &c->hooks->known[ip % CODE_ENTRIES] : NULL;
	if (!c->narrow && !flags)
		return false;
	return !e || e->ip != ip || (e->plan.wide_reads & c->narrow) || (flags && e->plan.reads_flags);
}

static void put_front(struct out *o, const struct core_thread *c, uint64_t base)
{
	const struct front *f = &c->front;
	const uint64_t far = base - MEMO_REACH;
	/* while the loop buffer streams, and when the next fetch is a re-steer, a decoder that lags behind fetch is equivalent to an idle one */
	uint64_t fetch_cycle = f->fetch_cycle, cycle = f->cycle, floor = far;
	if (f->streaming) {
		floor = base - 1;
		fetch_cycle = max_cycle(fetch_cycle, floor);
	} else if (f->redirected) {
		floor = fetch_cycle;
	}
	cycle = max_cycle(cycle, floor);
	o->good &= fetch_cycle > far && cycle > far;
	put(o, fetch_cycle - far);
	put(o, cycle - far);
	put(o, cycle > floor ? f->decoded : 0);
	put(o, (uint64_t)f->sequencer | (uint64_t)f->redirected << 1 | (uint64_t)f->streaming << 2);
	put64(o, f->redirected ? 0 : f->fetch_block);
	put64(o, f->line);
	put64(o, f->loop_branch);
	put64(o, f->loop_target);
	put(o, f->loop_uops <= c->m->front_loop_uops ? f->loop_uops : c->m->front_loop_uops + 1);
	put(o, f->loop_iterations < LOOP_ITERATIONS_KNOWN ? f->loop_iterations : LOOP_ITERATIONS_KNOWN);
	/* of uops waiting for allocation: decode may have to wait for these */
	for (uint32_t i = 1; i <= c->queue_uops && !f->streaming; i++)
		put(o, behind(o, c->front_ring[(c->uop_number - i) & (FRONT_RING - 1)], cycle));
}

static const uint16_t *take_front(struct core_thread *c, const uint16_t *at, uint64_t base)
{
	struct front *f = &c->front;
	const uint64_t far = base - MEMO_REACH;
	f->fetch_cycle = far + take(&at);
	f->cycle = far + take(&at);
	f->decoded = (uint32_t)take(&at);
	const uint64_t bits = take(&at);
	f->sequencer = bits & 1;
	f->redirected = bits >> 1 & 1;
	f->streaming = bits >> 2 & 1;
	f->fetch_block = take64(&at);
	f->line = take64(&at);
	f->loop_branch = take64(&at);
	f->loop_target = take64(&at);
	f->loop_uops = (uint32_t)take(&at);
	f->loop_iterations = (uint32_t)take(&at);
	f->stalled_until = 0;
	for (uint32_t i = 1; i <= c->queue_uops && !f->streaming; i++)
		c->front_ring[(c->uop_number - i) & (FRONT_RING - 1)] = f->cycle + take(&at);
	return at;
}

/* Departures from the reservation station, then ports, for each cycle that has any. */
static void put_rings(struct out *o, struct core_thread *c, uint64_t base)
{
	const struct core_shared *s = c->shared;
	uint16_t *count = o->at;
	uint64_t n = 0, t = c->rs_at;
	put(o, 0);
	for (uint32_t left = c->rs_in_use; left && o->good; t++) {
		t = pipe_rs_next_from(c, t);
		const uint8_t some = c->leave[t & CORE_RING_MASK];
		o->good &= some && some <= left;
		put(o, behind(o, t, base - 1));
		put(o, some);
		left -= some <= left ? some : left;
		n++;
	}
	if (o->good)
		*count = (uint16_t)n;
	count = o->at;
	n = 0;
	put(o, 0);
	const uint64_t end = max_cycle(c->last_complete, s->long_until);
	o->good &= end < base + MEMO_REACH;
	for (t = base + c->dispatch_cycles; t <= end && o->good; t++) {
		if (!s->used[(t & CORE_RING_MASK) / CORE_STRETCH]) {
			t |= CORE_STRETCH - 1;
			continue;
		}
		if (t % 4 == 0 && !*(const uint64_t *)(const void *)&s->busy[t & CORE_RING_MASK]) { /* of four cycles */
			t |= 3;
			continue;
		}
		const uint16_t ports = s->busy[t & CORE_RING_MASK];
		if (!ports)
			continue;
		put(o, behind(o, t, base - 1));
		put(o, ports);
		n++;
	}
	if (o->good)
		*count = (uint16_t)n;
}

uint32_t core_snapshot_take(struct core_thread *c, struct memo *m, uint64_t ip, uint64_t *at)
{
	struct out o = { m->state, m->state + MEMO_STATE, true };
	const bool waits = c->barrier > c->alloc && !c->fused_before && !holds_renamer(c, ip);
	const uint64_t base = waits ? c->barrier : c->alloc, before = base - 1;
	if (c->uop_sets || base < 3 * MEMO_REACH || c->shared->long_until > base)
		return 0;
	pipe_rs_catch_up(c, base);
	put64(&o, ip);
	put(&o, waits ? 0 : c->slots);
	put(&o, behind(&o, c->barrier, base));
	put(&o, behind(&o, c->retire, before));
	put(&o, c->retire > before ? c->retire_slots : 0);
	put(&o, behind(&o, c->last_complete, base));
	put(&o, behind(&o, c->load_barrier, base));
	put(&o, c->fused_before);
	if (c->fused_before)
		put(&o, behind(&o, c->fused_complete, before));
	o.good &= !c->fused_before || c->fused_complete > before;
	put(&o, c->narrow & 0xFFFF);
	put(&o, c->narrow >> 16);
	put(&o, c->upper);
	put(&o, c->flags_number[0] < c->flags_number[RN_ZAPSO - RN_CF] ? 1 : c->flags_number[0] > c->flags_number[RN_ZAPSO - RN_CF] ? 2 : 0);
	put(&o, c->shared->above & 0xFFFF);
	put(&o, c->shared->above >> 16);
	const bool reads = c->register_reads && c->read_cycle >= base;
	put(&o, reads ? behind(&o, c->read_cycle, before) : 0);
	if (reads) {
		put64(&o, c->read_set);
		put(&o, c->reads);
	}
	put(&o, c->register_reads ? behind(&o, c->read_full, before) : 0);
	put(&o, behind(&o, c->rs_at, base));
	put(&o, c->rs_in_use);
	put_front(&o, c, base);
	for (unsigned r = 0; r < RN_COUNT; r++) {
		const uint64_t ready = behind(&o, c->ready[r], base - c->m->core_bypass_cycles);
		const uint64_t written = r < RN_CF && c->register_reads ? behind(&o, c->written[r], before) : 0;
		if (!ready && !written)
			continue;
		put(&o, r | (uint64_t)(ready ? c->domain[r] : 0) << 8);
		put(&o, ready);
		put(&o, written);
	}
	put(&o, UINT16_MAX);
	put_ring(&o, c->rob, c->rob_at, c->rob_size, before);
	put_ring(&o, c->lb, c->lb_at, c->lb_size, before);
	put_ring(&o, c->sb, c->sb_at, c->sb_size, before);
	put_rings(&o, c, base);
	*at = base;
	while ((o.at - m->state) % 4) /* hashed by four */
		put(&o, 0);
	return o.good ? (uint32_t)(o.at - m->state) : 0;
}

/* The words up to the rings of cycles, which it leaves unread. */
static const uint16_t *restore(struct core_thread *c, const uint16_t *at, uint64_t base)
{
	const uint64_t before = base - 1;
	(void)take64(&at);
	c->alloc = base;
	c->slots = (uint32_t)take(&at);
	c->barrier = base + take(&at);
	c->retire = before + take(&at);
	c->retire_slots = (uint32_t)take(&at);
	c->last_complete = base + take(&at);
	c->load_barrier = base + take(&at);
	c->fused_before = take(&at);
	if (c->fused_before)
		c->fused_complete = before + take(&at);
	c->narrow = (uint32_t)take(&at);
	c->narrow |= (uint32_t)take(&at) << 16;
	c->upper = (uint8_t)take(&at);
	const uint64_t flags = take(&at);
	c->flags_number[0] = c->uop_number - (flags == 1);
	c->flags_number[RN_ZAPSO - RN_CF] = c->uop_number - (flags == 2);
	c->shared->above = (unsigned)take(&at);
	c->shared->above |= (unsigned)take(&at) << 16;
	const uint64_t reads = take(&at);
	c->read_cycle = reads ? before + reads : 0;
	c->read_set = reads ? take64(&at) : 0;
	c->reads = reads ? (unsigned)take(&at) : 0;
	const uint64_t full = take(&at);
	c->read_full = full ? before + full : 0;
	c->rs_at = base + take(&at);
	c->rs_in_use = (uint32_t)take(&at);
	at = take_front(c, at, base);
	memset(c->ready, 0, sizeof(c->ready));
	memset(c->written, 0, RN_CF * sizeof(c->written[0]));
	memset(c->domain, 0, sizeof(c->domain));
	for (uint64_t r; (r = take(&at)) != UINT16_MAX;) {
		const uint64_t ready = take(&at), written = take(&at);
		c->domain[r & 0xFF] = (uint8_t)(r >> 8);
		c->ready[r & 0xFF] = ready ? base - c->m->core_bypass_cycles + ready : 0;
		if (written)
			c->written[r & 0xFF] = before + written;
	}
	take_ring(&at, c->rob, &c->rob_at, c->rob_size, before);
	take_ring(&at, c->lb, &c->lb_at, c->lb_size, before);
	take_ring(&at, c->sb, &c->sb_at, c->sb_size, before);
	return at;
}

/* on: fills the rings with what the state holds; otherwise removes it. */
static void rotate_rings(struct core_thread *c, const uint16_t *at, uint64_t base, bool on)
{
	for (uint64_t n = take(&at); n; n--) {
		const uint64_t t = base - 1 + take(&at), some = take(&at);
		c->leave[t & CORE_RING_MASK] = on ? (uint8_t)some : 0;
		if (on)
			pipe_rs_mark(c, t);
	}
	for (uint64_t n = take(&at); n; n--) {
		const uint64_t t = base - 1 + take(&at), ports = take(&at);
		c->shared->busy[t & CORE_RING_MASK] = on ? (uint16_t)ports : 0;
		if (on)
			c->shared->used[(t & CORE_RING_MASK) / CORE_STRETCH] = 1;
	}
}

void core_snapshot_restore(struct core_thread *c, const uint16_t *words, uint64_t base)
{
	rotate_rings(c, restore(c, words, base), base, true);
}

void core_snapshot_clear(struct core_thread *c, const uint16_t *words, uint64_t base)
{
	rotate_rings(c, restore(c, words, base), base, false);
	c->rs_in_use = 0;
}
