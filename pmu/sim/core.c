/* pmu/sim/core.c: allocation, dispatch, completion and retirement. This text is the model's law; a
 * reference that goes cycle by cycle can be written from it.
 *
 * Time is an integer count of core cycles. Instructions come in program order. Each is split into
 * parts (core_plan.c), joined into allocation slots called groups, in the order load, operation, store
 * address, store data, then `extra` uops of one slot each.
 *
 * Allocation. Groups are allocated in program order, core.issue_width a cycle. A group is allocated in
 * the first cycle a, no earlier than the one before it, in which
 *   1. the front end has delivered its instruction (core_front.c) and no barrier is in force;
 *   2. a ROB entry is free: the group that lies core.rob groups before it retired in a cycle < a;
 *   3. with a load part: the load that lies core.load_buffers loads before it retired in a cycle < a;
 *      with a store address part: the store that lies core.store_buffers before committed in a cycle < a;
 *   4. fewer than core.rs groups are allocated in a cycle <= a and have not left the reservation station
 *      in a cycle < a (a group leaves when its last part dispatches; groups that need no port never
 *      enter; with core.rs_unfused each part counts for itself);
 *   5. no more than core.register_reads different registers are read in this cycle from outside the ROB
 *      (the register's last writer retired in a cycle < a); 0: no limit.
 *
 * Dispatch. A part dispatches in the first cycle d >= a + core.dispatch_cycles in which its sources are
 * ready and a port that it can use is free; one part a port and cycle. Parts reserve their cycles in
 * program order: an older part has priority, a younger one takes what is left, also when that lies
 * before cycles that older parts have reserved. Of several free ports the next one in turn is taken.
 * A part that blocks its port for b > 1 cycles needs all of them free. Divides and square roots take
 * their port for one cycle and need the divider free for b cycles from d on. Sources: of a load and a
 * store address, the address registers; of an operation, its registers and its load; of store data,
 * the operation, or its registers if there is none.
 *
 * Completion. An operation completes in d + latency, a load as core_memory.c says, store address and
 * data in d + latency. A register is ready for others in the completion cycle of what writes it, plus
 * core.bypass_cycles when the value goes from vector integer to floating point operations or back.
 * Extra uops form a chain behind the operation: they dispatch when they can on the ports of class
 * `microcode` and the instruction completes no earlier than the last of them, but its result is not
 * delayed.
 *
 * Retirement. Groups retire in program order, core.retire_width a cycle, in the first cycle >= their
 * completion. Stores commit afterwards (core_memory.c).
 *
 * Branches resolve in their completion cycle. After a mispredicted one the front end has delivered
 * uops of the wrong path: they are allocated by the rules above from the branch's allocation on in
 * cycles < resolution, dispatch in cycles < resolution (their loads take the L1D's latency and ask no
 * cache), and then vanish with their ROB and RS entries. The first group of the right path is allocated
 * core.mispredict_cycles after resolution at the earliest.
 *
 * Machine clears (a load that passed a store to its bytes, floating-point assists, stores to code):
 * allocation goes on core.clear_cycles (or the cause's own number) after the retirement.
 *
 * Serialising: LFENCE dispatches when all older instructions have completed, and nothing behind it is
 * allocated before it retires. MFENCE, locked operations and serialising instructions wait for all
 * older stores to commit as well; loads behind them dispatch after they complete.
 *
 * Two threads on a core: ROB, load and store buffers are halved while both run, the reservation
 * station, ports and divider are shared, and a cycle's allocation belongs to one thread: of the two
 * the one whose number has the cycle's parity, the other takes what that one has passed by.
 *
 * Stall attribution: cycles without retirement are put down to what the oldest uop waits for then:
 * what kept it from being allocated, then from being dispatched, then its execution by kind.
 *
 * Not modelled: replays, ports bound at allocation, write-back port conflicts, cycles further than
 * CORE_RING beyond the oldest open one (ports count as free there). */
#include "pmu/sim/core_state.h"

#define CLOSE_EVERY 4096

/* --- memory and life ------------------------------------------------------------------------ */

static size_t align64(size_t n) { return (n + 63) & ~(size_t)63; }

size_t core_bytes(const struct machine *m)
{
	return align64(sizeof(struct core_thread)) + align64(sizeof(struct core_shared)) + align64(m->predictor_entries) +
	       8 * (2 * m->predictor_targets + m->predictor_indirect);
}

static void split_buffers(struct core_thread *c, bool alone)
{
	unsigned ways = alone ? 1 : 2;
	c->alone = alone;
	c->rob_size = (uint32_t)(c->m->core_rob / ways);
	c->lb_size = (uint32_t)(c->m->core_load_buffers / ways);
	c->sb_size = (uint32_t)(c->m->core_store_buffers / ways);
	c->rob_at = c->lb_at = c->sb_at = 0;
	memset(c->rob, 0, sizeof(c->rob));
	memset(c->lb, 0, sizeof(c->lb));
	memset(c->sb, 0, sizeof(c->sb));
}

struct core_thread *core_init(void *at, const struct machine *m, unsigned core, unsigned thread,
                              struct memory *memory, struct signals *signals, const struct core_hooks *hooks,
                              struct core_thread *sibling)
{
	struct core_thread *c = at;
	uint8_t *next = (uint8_t *)at + align64(sizeof(*c));
	memset(c, 0, sizeof(*c));
	c->shared = sibling ? sibling->shared : (struct core_shared *)next;
	next += align64(sizeof(struct core_shared));
	if (!sibling)
		memset(c->shared, 0, sizeof(*c->shared));
	c->own = sibling ? !sibling->own : 0;
	c->shared->threads[c->own] = c;
	c->counters = next;
	memset(c->counters, 1, m->predictor_entries);
	next += align64(m->predictor_entries);
	c->targets = (uint64_t *)next;
	c->target_of = c->targets + m->predictor_targets;
	c->indirect = c->target_of + m->predictor_targets;
	memset(c->targets, 0, 8 * (2 * m->predictor_targets + m->predictor_indirect));
	c->m = m;
	c->core = core;
	c->thread = thread;
	c->memory = memory;
	c->signals = signals;
	c->hooks = hooks;
	c->width = (uint32_t)m->core_issue_width;
	c->retire_width = (uint32_t)m->core_retire_width;
	c->rs_size = (uint32_t)m->core_rs;
	c->dispatch_cycles = (uint32_t)m->core_dispatch_cycles;
	split_buffers(c, true);
	c->front.redirected = true;
	c->front.line = ~0ull;
	return c;
}

void core_want_retired(struct core_thread *c, bool on) { c->want_retired = on; }
uint64_t core_clock(const struct core_thread *c) { return c->alloc; }
uint64_t core_uops(const struct core_thread *c) { return c->uops; }

/* --- closing cycles ------------------------------------------------------------------------- */

/* Reservations below every thread's allocation can be asked for no more. */
static void clear_rings(struct core_shared *s, uint64_t below)
{
	while (s->cleared + 64 <= below) {
		unsigned i = s->cleared & CORE_RING_MASK;
		memset(&s->busy[i], 0, 64 * sizeof(s->busy[0]));
		s->divider[i / 64] = 0;
		s->taken[i / 64] = 0;
		s->cleared += 64;
	}
}

static void close_below(struct core_thread *c, uint64_t cycle)
{
	if (cycle > c->closed) {
		signal_level(c->signals, SIG_CYCLES, c->closed, cycle, 1);
		signal_close(c->signals, cycle);
		c->closed = cycle;
	}
	uint64_t below = c->alloc;
	const struct core_thread *other = c->shared->threads[!c->own];
	if (!c->alone && other && other->alloc < below)
		below = other->alloc;
	clear_rings(c->shared, below);
}

static void close_some(struct core_thread *c)
{
	uint64_t cycle = c->alloc < c->retire ? c->alloc : c->retire;
	if (!c->front.streaming && c->front.window_cycle < cycle)
		cycle = c->front.window_cycle;
	close_below(c, cycle);
}

/* --- reservation station -------------------------------------------------------------------- */

static void rs_take_off(struct core_thread *c, uint64_t cycle)
{
	uint64_t at = c->rs_at;
	if (cycle - at > CORE_RING)
		at = cycle - CORE_RING;
	while (at < cycle) {
		unsigned i = at & CORE_RING_MASK;
		uint64_t bits = c->leave_bits[i / 64] >> (i % 64);
		uint64_t skip = bits ? (unsigned)__builtin_ctzll(bits) : 64 - i % 64;
		if (skip) {
			at += skip;
			continue;
		}
		c->rs_in_use -= c->leave[i];
		c->leave[i] = 0;
		c->leave_bits[i / 64] &= ~(1ull << (i % 64));
		at++;
	}
	c->rs_at = cycle;
}

/* The next cycle from rs_at on in which an entry is left; CORE_RING further when there is none. */
static uint64_t rs_next(const struct core_thread *c)
{
	uint64_t at = c->rs_at, end = at + CORE_RING;
	while (at < end) {
		unsigned i = at & CORE_RING_MASK;
		uint64_t bits = c->leave_bits[i / 64] >> (i % 64);
		if (bits)
			return at + (unsigned)__builtin_ctzll(bits);
		at += 64 - i % 64;
	}
	return end;
}

static void rs_leave(struct core_thread *c, uint64_t cycle, unsigned n)
{
	if (cycle - c->rs_at >= CORE_RING)
		cycle = c->rs_at + CORE_RING - 1;
	unsigned i = cycle & CORE_RING_MASK;
	c->leave[i] += (uint8_t)n;
	c->leave_bits[i / 64] |= 1ull << (i % 64);
}

/* Entries that the other thread holds in `cycle`. */
static unsigned rs_of_other(const struct core_thread *c, uint64_t cycle)
{
	const struct core_thread *o = c->shared->threads[!c->own];
	unsigned n = o->rs_in_use;
	for (uint64_t at = o->rs_at; at < cycle;) {
		unsigned i = at & CORE_RING_MASK;
		uint64_t bits = o->leave_bits[i / 64] >> (i % 64);
		if (!bits) {
			at += 64 - i % 64;
			continue;
		}
		at += (unsigned)__builtin_ctzll(bits);
		if (at < cycle)
			n -= o->leave[at & CORE_RING_MASK];
		at++;
	}
	return n;
}

/* --- allocation ----------------------------------------------------------------------------- */

static void stall(struct core_thread *c, enum signal sig, uint64_t from, uint64_t to)
{
	if (from >= to)
		return;
	signal_level(c->signals, sig, from, to, 1);
	signal_level(c->signals, sig >= SIG_RESOURCE_STALL_ANY ? SIG_RESOURCE_STALL_ANY : SIG_RAT_STALL_ANY, from, to, 1);
}

/* Two threads: the first cycle >= t that this one may allocate in. */
static uint64_t own_cycle(struct core_thread *c, uint64_t t)
{
	struct core_shared *s = c->shared;
	const struct core_thread *o = s->threads[!c->own];
	for (;; t++) {
		unsigned i = t & CORE_RING_MASK;
		if (t == c->alloc && c->slots)
			return t;
		if (t < s->cleared + CORE_RING && s->taken[i / 64] >> (i % 64) & 1)
			continue;
		if ((t & 1) == c->own || o->alloc > t)
			break;
	}
	if (t < s->cleared + CORE_RING)
		s->taken[(t & CORE_RING_MASK) / 64] |= 1ull << (t % 64);
	return t;
}

/* Registers that this group reads from outside the ROB: does the cycle have ports left for them? */
static bool reads_fit(struct core_thread *c, const struct core_plan *p, unsigned parts, uint64_t t)
{
	uint64_t set[2] = { 0, 0 };
	if (c->read_cycle == t) {
		set[0] = c->read_set[0];
		set[1] = c->read_set[1];
	}
	if (parts & (PART_LOAD | PART_STA))
		for (unsigned i = 0; i < p->address_count; i++)
			if (c->written[p->address[i]] < t)
				set[0] |= 1ull << p->address[i];
	if (parts & (PART_MAIN | PART_STD))
		for (unsigned i = 0; i < p->read_count; i++)
			if (c->written[p->reads[i]] < t && p->reads[i] < RN_CF)
				set[p->reads[i] / 64] |= 1ull << (p->reads[i] % 64);
	unsigned n = 0;
	for (uint64_t b = set[0]; b; b &= b - 1)
		n++;
	for (uint64_t b = set[1]; b; b &= b - 1)
		n++;
	bool first = c->read_cycle != t || !(c->read_set[0] | c->read_set[1]);
	if (n > c->m->core_register_reads && !first)
		return false;
	c->read_cycle = t;
	c->read_set[0] = set[0];
	c->read_set[1] = set[1];
	return true;
}

/* Allocates one slot: the cycle. `entries` is what it takes of the reservation station. */
static uint64_t allocate(struct core_thread *c, const struct core_plan *p, unsigned parts, unsigned entries,
                         uint64_t delivered, enum wait_reason why)
{
	uint64_t t = c->alloc;
	if (c->slots >= c->width) {
		t++;
		c->slots = 0;
	}
	uint64_t first = t + (c->slots != 0); /* cycles from here on are lost when it waits */
	enum wait_reason reason = WAIT_NONE;
	if (c->barrier > t) {
		if (c->barrier_signal)
			stall(c, (enum signal)c->barrier_signal, first, c->barrier);
		t = c->barrier;
	}
	if (delivered > t) {
		t = delivered;
		reason = why;
	}
	if (c->rob[c->rob_at] >= t) {
		uint64_t to = c->rob[c->rob_at] + 1;
		stall(c, SIG_RESOURCE_STALL_ROB, max_cycle(first, t), to);
		t = to;
		reason = WAIT_ALLOCATE;
	}
	if (parts & PART_LOAD && c->lb[c->lb_at] >= t) {
		uint64_t to = c->lb[c->lb_at] + 1;
		stall(c, SIG_RESOURCE_STALL_LOAD, max_cycle(first, t), to);
		t = to;
		reason = WAIT_ALLOCATE;
	}
	if (parts & PART_STA && c->sb[c->sb_at] >= t) {
		uint64_t to = c->sb[c->sb_at] + 1;
		stall(c, SIG_RESOURCE_STALL_STORE, max_cycle(first, t), to);
		t = to;
		reason = WAIT_STORE_BUFFER;
	}
	for (;;) {
		if (entries) {
			if (t > c->rs_at)
				rs_take_off(c, t);
			unsigned others = c->alone ? 0 : rs_of_other(c, t);
			if (c->rs_in_use + entries + others > c->rs_size && c->rs_in_use) {
				uint64_t to = rs_next(c) + 1;
				stall(c, SIG_RESOURCE_STALL_RS, max_cycle(first, t), to);
				t = to;
				reason = WAIT_ALLOCATE;
				continue;
			}
		}
		if (c->m->core_register_reads && parts && !reads_fit(c, p, parts, t)) {
			stall(c, SIG_RAT_STALL_READ_PORT, max_cycle(first, t), t + 1);
			t++;
			continue;
		}
		if (c->alone)
			break;
		uint64_t own = own_cycle(c, t);
		if (own == t)
			break;
		t = own;
	}
	if (t != c->alloc) {
		c->alloc = t;
		c->slots = 0;
	}
	c->slots++;
	c->rs_in_use += entries;
	c->wait_reason = (uint8_t)reason;
	c->front_ring[c->uop_number++ & (FRONT_RING - 1)] = t;
	return t;
}

static void say_issued(struct core_thread *c, unsigned parts, uint64_t t, bool wrong)
{
	if (!heard_any(c->signals, SIG_UOPS_ISSUED_FUSED, SIG_UOPS_ISSUED_WRONG_PATH))
		return;
	unsigned n = part_count(parts);
	signal_pulse(c->signals, SIG_UOPS_ISSUED_FUSED, t, 1);
	signal_pulse(c->signals, SIG_UOPS_ISSUED_UNFUSED, t, n);
	if (n > 1)
		signal_pulse(c->signals, SIG_UOPS_ISSUED_MICROFUSED, t, 1);
	if (wrong)
		signal_pulse(c->signals, SIG_UOPS_ISSUED_WRONG_PATH, t, 1);
}

/* --- dispatch ------------------------------------------------------------------------------- */

static bool divider_free(const struct core_shared *s, uint64_t from, unsigned n, uint64_t *busy_until)
{
	for (uint64_t at = from; at < from + n;) {
		unsigned i = at & CORE_RING_MASK;
		uint64_t bits = s->divider[i / 64] >> (i % 64);
		if (!bits) {
			at += 64 - i % 64;
			continue;
		}
		at += (unsigned)__builtin_ctzll(bits);
		if (at >= from + n)
			break;
		do { /* to the end of the busy stretch */
			i = at & CORE_RING_MASK;
			bits = ~(s->divider[i / 64] >> (i % 64));
			unsigned run = bits ? (unsigned)__builtin_ctzll(bits) : 64;
			if (run > 64 - i % 64)
				run = 64 - i % 64;
			at += run;
			if (run < 64 - i % 64)
				break;
			i = at & CORE_RING_MASK;
		} while (s->divider[i / 64] >> (i % 64) & 1);
		*busy_until = at;
		return false;
	}
	return true;
}

static void divider_take(struct core_shared *s, uint64_t from, unsigned n)
{
	for (uint64_t at = from; at < from + n; at++)
		s->divider[(at & CORE_RING_MASK) / 64] |= 1ull << (at % 64);
}

static void say_executed(struct core_thread *c, unsigned port, uint64_t t)
{
	if (!heard_any(c->signals, SIG_UOPS_EXECUTED_P0, SIG_UOPS_EXECUTED_P234))
		return;
	if (port < 8)
		signal_pulse(c->signals, (enum signal)(SIG_UOPS_EXECUTED_P0 + port), t, 1);
	signal_pulse(c->signals, SIG_UOPS_EXECUTED, t, 1);
	if (0x23 >> port & 1)
		signal_pulse(c->signals, SIG_UOPS_EXECUTED_P015, t, 1);
	if (0x1C >> port & 1)
		signal_pulse(c->signals, SIG_UOPS_EXECUTED_P234, t, 1);
}

/* The first cycle >= ready with a port of the mask free; UINT64_MAX when none below `end`. */
static inline uint64_t dispatch(struct core_thread *c, unsigned ports, uint64_t ready, uint64_t end)
{
	struct core_shared *s = c->shared;
	uint64_t limit = s->cleared + CORE_RING;
	for (uint64_t t = ready; t < end; t++) {
		uint16_t *busy = &s->busy[t & CORE_RING_MASK];
		unsigned all = t < limit ? ports & ~(unsigned)*busy : ports;
		if (!all)
			continue;
		unsigned later = all & ~1u << s->last_port;
		unsigned port = (unsigned)__builtin_ctz(later ? later : all);
		s->last_port = port;
		if (t < limit)
			*busy |= (uint16_t)(1u << port);
		say_executed(c, port, t);
		return t;
	}
	return UINT64_MAX;
}

/* As dispatch, for parts that hold their port or the divider for several cycles. */
static uint64_t dispatch_long(struct core_thread *c, const struct core_plan *p, uint64_t ready, uint64_t end)
{
	struct core_shared *s = c->shared;
	uint64_t limit = s->cleared + CORE_RING - 1024;
	for (uint64_t t = ready; t < end; t++) {
		if (t >= limit)
			return dispatch(c, p->ports, t, end);
		if (p->divider) {
			uint64_t until;
			if (!divider_free(s, t, p->busy, &until)) {
				t = until - 1;
				continue;
			}
			if (!(p->ports & ~(unsigned)s->busy[t & CORE_RING_MASK]))
				continue;
			divider_take(s, t, p->busy);
			signal_level(c->signals, SIG_DIVIDER_BUSY, t, t + p->busy, 1);
			signal_pulse(c->signals, SIG_DIVIDES, t, 1);
			return dispatch(c, p->ports, t, end);
		}
		unsigned free = p->ports;
		for (unsigned i = 0; i < p->busy && free; i++)
			free &= ~(unsigned)s->busy[(t + i) & CORE_RING_MASK];
		if (!free)
			continue;
		unsigned port = (unsigned)__builtin_ctz(free);
		for (unsigned i = 1; i < p->busy; i++)
			s->busy[(t + i) & CORE_RING_MASK] |= (uint16_t)(1u << port);
		return dispatch(c, 1u << port, t, end);
	}
	return UINT64_MAX;
}

static uint64_t sources_ready(const struct core_thread *c, const struct core_plan *p, uint64_t from)
{
	uint64_t t = from;
	for (unsigned i = 0; i < p->read_count; i++) {
		unsigned r = p->reads[i];
		uint64_t ready = c->ready[r];
		if (p->domain && c->domain[r] && c->domain[r] != p->domain)
			ready += c->m->core_bypass_cycles;
		t = max_cycle(t, ready);
	}
	return t;
}

static uint64_t address_ready(const struct core_thread *c, const struct core_plan *p, uint64_t from)
{
	for (unsigned i = 0; i < p->address_count; i++)
		from = max_cycle(from, c->ready[p->address[i]]);
	return from;
}

static void write_registers(struct core_thread *c, const struct core_plan *p, uint64_t ready)
{
	for (unsigned i = 0; i < p->write_count; i++) {
		unsigned r = p->writes[i];
		c->ready[r] = ready;
		c->domain[r] = p->domain;
		c->written[r] = UINT64_MAX;
		if (r < 16)
			c->narrow &= ~(1u << r);
		else if (r == RN_CF || r == RN_ZAPSO)
			c->flags_number[r - RN_CF] = c->uop_number;
	}
	if (p->partial_write != RN_NONE)
		c->narrow |= 1u << p->partial_write;
}

/* --- retirement ----------------------------------------------------------------------------- */

/* What an instruction's parts did, for retirement and the stall attribution. */
struct flight {
	uint64_t load_dispatch, main_dispatch, main_done, address_done, data_done;
	struct load_result load;
	uint8_t wait_reason;
	bool divide, fence;
};

static void put_down(struct core_thread *c, enum signal sig, uint64_t *from, uint64_t to, uint64_t end)
{
	if (to > end)
		to = end;
	if (*from < to) {
		signal_level(c->signals, sig, *from, to, 1);
		*from = to;
	}
}

static enum signal stall_of_source(enum mem_source s)
{
	switch (s) {
	case SRC_L1: return SIG_STALL_BY_L1;
	case SRC_LFB: case SRC_L2: return SIG_STALL_BY_L2;
	case SRC_L3_UNSHARED: case SRC_L3_OTHER_CLEAN: case SRC_L3_OTHER_MODIFIED: return SIG_STALL_BY_L3;
	case SRC_REMOTE_CLEAN: case SRC_REMOTE_MODIFIED: return SIG_STALL_BY_REMOTE_CACHE;
	case SRC_REMOTE_DRAM: return SIG_STALL_BY_REMOTE_DRAM;
	default: return SIG_STALL_BY_LOCAL_DRAM;
	}
}

/* Puts the cycles from .. end - 1, in which nothing retired, down to what this group waited for. */
static void attribute(struct core_thread *c, unsigned parts, uint64_t allocated, const struct flight *f, uint64_t from, uint64_t end)
{
	static const uint8_t front[] = {
		[WAIT_NONE] = SIG_STALL_BY_ALLOCATE, [WAIT_FETCH] = SIG_STALL_BY_FETCH, [WAIT_DECODE] = SIG_STALL_BY_DECODE,
		[WAIT_MISPREDICT] = SIG_STALL_BY_MISPREDICT, [WAIT_CLEAR] = SIG_STALL_BY_CLEAR,
		[WAIT_ALLOCATE] = SIG_STALL_BY_ALLOCATE, [WAIT_STORE_BUFFER] = SIG_STALL_BY_STORE_BUFFER };
	put_down(c, (enum signal)front[c->barrier_reason], &from, c->barrier, allocated < end ? allocated : end);
	put_down(c, (enum signal)front[f->wait_reason], &from, allocated, end);
	if (parts & PART_LOAD) {
		put_down(c, SIG_STALL_BY_DISPATCH, &from, f->load_dispatch, end);
		if (f->load.blocked_until)
			put_down(c, SIG_STALL_BY_FORWARD, &from, f->load.blocked_until, end);
		put_down(c, SIG_STALL_BY_DTLB, &from, f->load.translated, end);
		put_down(c, stall_of_source(f->load.source), &from, f->load.ready, end);
	}
	if (parts & PART_MAIN) {
		if (f->fence)
			put_down(c, SIG_STALL_BY_FENCE, &from, f->main_done, end);
		put_down(c, SIG_STALL_BY_DISPATCH, &from, f->main_dispatch, end);
		put_down(c, f->divide ? SIG_STALL_BY_DIVIDE : SIG_STALL_BY_EXECUTE, &from, f->main_done, end);
	}
	put_down(c, SIG_STALL_BY_EXECUTE, &from, end, end);
}

/* Retires one group that completes in `done`; the cycle. */
static uint64_t retire(struct core_thread *c, unsigned parts, uint64_t allocated, uint64_t done, const struct flight *f)
{
	uint64_t r = c->retire;
	if (done > r) {
		if (done > r + 1 && heard_any(c->signals, SIG_STALL_BY_FETCH, SIG_STALL_BY_ASSIST))
			attribute(c, parts, allocated, f, r + 1, done);
		r = done;
		c->retire_slots = 0;
	} else if (c->retire_slots >= c->retire_width) {
		r++;
		c->retire_slots = 0;
	}
	c->retire = r;
	c->retire_slots++;
	c->rob[c->rob_at] = r;
	if (++c->rob_at >= c->rob_size)
		c->rob_at = 0;
	if (heard_any(c->signals, SIG_UOPS_RETIRED_FUSED, SIG_UOPS_RETIRED_UNFUSED)) {
		signal_pulse(c->signals, SIG_UOPS_RETIRED_FUSED, r, 1);
		signal_pulse(c->signals, SIG_UOPS_RETIRED_UNFUSED, r, part_count(parts));
	}
	signal_level(c->signals, SIG_ROB_OCCUPANCY, allocated, r, 1);
	return r;
}

static void say_load(struct core_thread *c, const struct load_result *l, uint64_t r)
{
	static const uint8_t of_source[SRC_NONE] = {
		[SRC_L1] = SIG_LOAD_L1_HIT, [SRC_LFB] = SIG_LOAD_LFB_HIT, [SRC_L2] = SIG_LOAD_L2_HIT,
		[SRC_L3_UNSHARED] = SIG_LOAD_L3_UNSHARED, [SRC_L3_OTHER_CLEAN] = SIG_LOAD_L3_OTHER_CLEAN,
		[SRC_L3_OTHER_MODIFIED] = SIG_LOAD_L3_OTHER_MODIFIED, [SRC_REMOTE_CLEAN] = SIG_LOAD_REMOTE_CACHE_CLEAN,
		[SRC_REMOTE_MODIFIED] = SIG_LOAD_REMOTE_CACHE_MODIFIED, [SRC_LOCAL_DRAM] = SIG_LOAD_LOCAL_DRAM,
		[SRC_REMOTE_DRAM] = SIG_LOAD_REMOTE_DRAM };
	if (l->source < SRC_NONE && of_source[l->source])
		signal_pulse(c->signals, (enum signal)of_source[l->source], r, 1);
	if (l->dtlb_level == 3)
		signal_pulse(c->signals, SIG_LOAD_DTLB_MISS, r, 1);
}

static void hold(struct core_thread *c, uint64_t until, enum wait_reason why, unsigned sig)
{
	if (until > c->barrier) {
		c->barrier = until;
		c->barrier_reason = (uint8_t)why;
		c->barrier_signal = (uint8_t)sig;
	}
}

static void clear_machine(struct core_thread *c, enum signal sig, uint64_t retired, uint64_t cycles)
{
	signal_pulse(c->signals, sig, retired, 1);
	signal_level(c->signals, SIG_MACHINE_CLEAR_CYCLES, retired, retired + cycles, 1);
	hold(c, retired + cycles, WAIT_CLEAR, 0);
	front_redirect(c, retired + cycles);
	c->front.streaming = false;
}

void core_code_changed(struct core_thread *c)
{
	c->front.line = ~0ull;
	clear_machine(c, SIG_MACHINE_CLEAR_SMC, c->retire, c->m->core_smc_cycles);
}

/* --- branches ------------------------------------------------------------------------------- */

/* Allocates and dispatches what lies behind a wrong guess until the branch resolves. */
static enum status wrong_path(struct core_thread *c, uint64_t ip, uint64_t resolved)
{
	static const struct flight nothing;
	uint64_t ready[RN_COUNT];
	uint32_t narrow = c->narrow, left = c->rob_size, rob_at = c->rob_at;
	bool streaming = c->front.streaming;
	(void)nothing;
	memcpy(ready, c->ready, sizeof(ready));
	c->front.streaming = false;
	front_redirect(c, c->front.window_cycle + 1);
	while (ip && left) {
		const struct insn *in;
		const struct core_plan *p;
		uint64_t delivered;
		enum wait_reason why;
		if (!c->hooks->code || !c->hooks->code(c->hooks->self, ip, &in, &p))
			break;
		enum status s = front_deliver(c, in, p, ip, true, &delivered, &why);
		if (s != ST_OK)
			return s;
		unsigned groups = c->fused_before ? 0 : p->groups + p->extra;
		for (unsigned g = 0; g < groups && left; g++, left--) {
			unsigned parts = g < p->groups ? p->group[g] : PART_EXTRA;
			/* a look first: a group that would come too late changes nothing */
			uint64_t t = max_cycle(max_cycle(c->alloc + (c->slots >= c->width), delivered), c->barrier);
			if (t >= resolved || c->rob[c->rob_at] >= resolved)
				goto out;
			unsigned entries = parts == PART_MAIN && !p->ports ? 0 : c->m->core_rs_unfused ? part_count(parts) : 1;
			if (t > c->rs_at)
				rs_take_off(c, t);
			if (entries && c->rs_in_use + entries > c->rs_size && rs_next(c) + 1 >= resolved)
				goto out;
			t = allocate(c, p, parts & ~(unsigned)(PART_LOAD | PART_STA), entries, delivered, why);
			if (++c->rob_at >= c->rob_size)
				c->rob_at = 0;
			if (t >= resolved) {
				if (entries)
					rs_leave(c, t, entries);
				goto out;
			}
			say_issued(c, parts, t, true);
			uint64_t from = t + c->dispatch_cycles, d = from, done = from;
			if (parts & PART_LOAD) {
				d = dispatch(c, c->m->exec[UC_LOAD].port_mask, address_ready(c, p, from), resolved);
				done = d == UINT64_MAX ? d : d + c->m->l1d_cycles;
			}
			if (parts & PART_MAIN && p->ports) {
				d = done == UINT64_MAX ? done : dispatch(c, p->ports, max_cycle(sources_ready(c, p, from), done), resolved);
				done = d == UINT64_MAX ? d : d + p->latency;
			}
			if (parts & PART_EXTRA)
				d = dispatch(c, c->m->exec[UC_MICROCODE].port_mask, from, resolved);
			if (parts & PART_STA)
				d = dispatch(c, c->m->exec[UC_STA].port_mask, address_ready(c, p, from), resolved);
			if (parts & PART_STD)
				d = max_cycle(d, dispatch(c, c->m->exec[UC_STD].port_mask, sources_ready(c, p, from), resolved));
			if (entries)
				rs_leave(c, d < resolved ? d : resolved - 1, entries);
			if (parts & (PART_MAIN | PART_LOAD))
				for (unsigned i = 0; i < p->write_count; i++)
					c->ready[p->writes[i]] = done;
		}
		uint64_t next = front_guess(c, p, in, ip);
		if (next != ip + in->length)
			front_redirect(c, c->front.window_cycle + 1);
		c->fused_before = p->fuses_next;
		ip = next;
	}
out:
	memcpy(c->ready, ready, sizeof(ready));
	c->narrow = narrow;
	c->rob_at = rob_at;
	c->front.streaming = streaming;
	c->fused_before = false;
	return ST_OK;
}

static void say_branch(struct core_thread *c, const struct core_plan *p, bool taken, bool miss, uint64_t executed, uint64_t r)
{
	static const uint8_t exec[] = { [BRANCH_COND] = SIG_BRANCH_EXEC_COND, [BRANCH_DIRECT] = SIG_BRANCH_EXEC_DIRECT,
		[BRANCH_INDIRECT] = SIG_BRANCH_EXEC_INDIRECT, [BRANCH_RETURN] = SIG_BRANCH_EXEC_RETURN,
		[BRANCH_CALL] = SIG_BRANCH_EXEC_CALL_DIRECT, [BRANCH_CALL_INDIRECT] = SIG_BRANCH_EXEC_CALL_INDIRECT };
	struct signals *s = c->signals;
	bool call = p->branch == BRANCH_CALL || p->branch == BRANCH_CALL_INDIRECT;
	signal_pulse(s, SIG_BRANCHES_RETIRED, r, 1);
	signal_pulse(s, (enum signal)exec[p->branch], executed, 1);
	signal_pulse(s, SIG_BRANCHES_DECODED, executed, 1);
	if (p->branch == BRANCH_COND)
		signal_pulse(s, SIG_BRANCH_RETIRED_COND, r, 1);
	if (call)
		signal_pulse(s, SIG_BRANCH_RETIRED_CALL, r, 1);
	if (p->branch == BRANCH_RETURN)
		signal_pulse(s, SIG_BRANCH_RETIRED_RETURN, r, 1);
	if (taken) {
		signal_pulse(s, SIG_BRANCH_RETIRED_TAKEN, r, 1);
		signal_pulse(s, SIG_BRANCH_EXEC_TAKEN, executed, 1);
	}
	if (!miss)
		return;
	signal_pulse(s, SIG_BRANCHES_MISPREDICTED, r, 1);
	signal_pulse(s, (enum signal)(exec[p->branch] + (SIG_BRANCH_MISP_EXEC_COND - SIG_BRANCH_EXEC_COND)), executed, 1);
	if (p->branch == BRANCH_COND)
		signal_pulse(s, SIG_BRANCH_MISPREDICTED_COND, r, 1);
	if (call)
		signal_pulse(s, SIG_BRANCH_MISPREDICTED_CALL, r, 1);
	if (taken)
		signal_pulse(s, SIG_BRANCH_MISP_EXEC_TAKEN, executed, 1);
}

static enum status account_branch(struct core_thread *c, const struct insn *in, const struct core_plan *p,
                                  const struct effects *e, uint64_t ip, uint64_t resolved, uint64_t retired, bool *miss)
{
	uint64_t predicted;
	bool known;
	*miss = front_branch(c, p, ip, in, e, &predicted, &known);
	if (heard_any(c->signals, SIG_BRANCHES_RETIRED, SIG_BRANCHES_DECODED))
		say_branch(c, p, e->taken, *miss, resolved, retired);
	if (*miss) {
		enum status s = wrong_path(c, predicted, resolved);
		if (s != ST_OK)
			return s;
		c->front.redirected = true;
		c->front.window_cycle = resolved + c->m->core_mispredict_cycles - 1;
		c->front.cycle = c->front.window_cycle;
		c->front.decoded = 0;
		c->front.stalled_until = 0;
		hold(c, resolved + c->m->core_mispredict_cycles, WAIT_MISPREDICT, 0);
		return ST_OK;
	}
	if (!e->taken || c->front.streaming)
		return ST_OK;
	uint64_t bubble = c->m->front_taken_cycles;
	if (!known) {
		bubble = c->m->front_baclear_cycles;
		signal_pulse(c->signals, SIG_BACLEAR, c->front.cycle, 1);
	}
	front_redirect(c, c->front.window_cycle + 1 + bubble);
	return ST_OK;
}

/* --- one instruction ------------------------------------------------------------------------ */

static void partial_stalls(struct core_thread *c, const struct core_plan *p)
{
	const struct machine *m = c->m;
	if (p->wide_reads & c->narrow) {
		c->narrow &= ~p->wide_reads;
		if (m->core_partial_register_cycles)
			hold(c, c->alloc + 1 + m->core_partial_register_cycles, WAIT_ALLOCATE, SIG_RAT_STALL_REGISTERS);
	}
	if (p->reads_both_flags && c->flags_number[0] != c->flags_number[1]) {
		c->flags_number[0] = c->flags_number[1];
		if (m->core_partial_flags_cycles)
			hold(c, c->alloc + 1 + m->core_partial_flags_cycles, WAIT_ALLOCATE, SIG_RAT_STALL_FLAGS);
	}
}

/* When the main uop of a special class can dispatch, given its sources. */
static uint64_t special_ready(struct core_thread *c, const struct core_plan *p, const struct insn *in, uint64_t ip, uint64_t ready)
{
	switch (p->class) {
	case UC_LFENCE:
		return max_cycle(ready, c->last_complete);
	case UC_LOCK: case UC_MFENCE: case UC_CPUID:
		ready = max_cycle(max_cycle(ready, c->last_complete), c->last_commit);
		return max_cycle(ready, p->class == UC_CPUID || in->lock ? ready : core_drain(c, ip, ready));
	case UC_SFENCE:
		return ready;
	default:
		return ready;
	}
}

static void special_done(struct core_thread *c, const struct core_plan *p, const struct effects *e, uint64_t done, uint64_t retired, uint64_t ip)
{
	switch (p->class) {
	case UC_LFENCE: case UC_CPUID:
		hold(c, retired + 1, WAIT_ALLOCATE, SIG_RAT_STALL_SCOREBOARD);
		break;
	case UC_LOCK: case UC_MFENCE:
		c->load_barrier = max_cycle(c->load_barrier, done);
		break;
	case UC_SFENCE:
		c->last_commit = max_cycle(c->last_commit, core_drain(c, ip, max_cycle(retired + 1, c->last_commit)));
		break;
	case UC_LDMXCSR:
		if (c->m->core_mxcsr_cycles)
			hold(c, done + c->m->core_mxcsr_cycles, WAIT_ALLOCATE, SIG_RESOURCE_STALL_MXCSR);
		break;
	case UC_FLDCW:
		if (c->m->core_fpcw_cycles)
			hold(c, done + c->m->core_fpcw_cycles, WAIT_ALLOCATE, SIG_RESOURCE_STALL_FPCW);
		break;
	case UC_PAUSE:
		hold(c, done, WAIT_ALLOCATE, SIG_RESOURCE_STALL_OTHER);
		break;
	default:
		break;
	}
	(void)e;
}

enum status core_account(struct core_thread *c, const struct insn *in, const struct core_plan *p, const struct effects *e, uint64_t ip)
{
	const struct machine *m = c->m;
	struct flight f;
	uint64_t delivered, result = 0, complete = 0, retired = c->retire, allocated = c->alloc;
	enum wait_reason why;
	bool fused = c->fused_before, walked = false, miss = false;
	enum status s = front_deliver(c, in, p, ip, false, &delivered, &why);
	if (s != ST_OK)
		return s;
	if ((p->wide_reads & c->narrow) | p->reads_both_flags)
		partial_stalls(c, p);
	c->fused_before = false;
	if (fused)
		complete = c->fused_complete;
	f.load.source = SRC_NONE;
	f.load.dtlb_level = 0;
	f.load.violation = false;
	f.load_dispatch = 0;
	f.address_done = 0;
	f.divide = p->divider;
	f.fence = p->special;
	for (unsigned g = 0; g < p->groups && !fused; g++) {
		unsigned parts = p->group[g];
		bool ported = !(parts & PART_MAIN) || p->ports || parts != PART_MAIN;
		unsigned entries = !ported ? 0 : m->core_rs_unfused ? part_count(parts) : 1;
		allocated = allocate(c, p, parts, entries, delivered, why);
		f.wait_reason = c->wait_reason;
		say_issued(c, parts, allocated, false);
		uint64_t from = allocated + c->dispatch_cycles, last = from, done = allocated;
		if (parts & PART_LOAD) {
			uint64_t at = address_ready(c, p, max_cycle(from, c->load_barrier));
			if (p->class == UC_LOCK)
				at = special_ready(c, p, in, ip, at);
			f.load_dispatch = last = dispatch(c, m->exec[UC_LOAD].port_mask, at, UINT64_MAX);
			s = core_load(c, ip, e->load_va, e->load_bytes, last, &f.load);
			if (s != ST_OK)
				return s;
			signal_pulse(c->signals, SIG_LOAD_DISPATCHED, last, 1);
			result = done = f.load.ready;
		}
		if (parts & PART_MAIN) {
			uint64_t at = sources_ready(c, p, max_cycle(from, result));
			if (p->special && p->class != UC_LOCK)
				at = special_ready(c, p, in, ip, address_ready(c, p, at));
			if (!p->ports) {
				f.main_dispatch = at;
				if (p->class == UC_NOP && !p->move_free)
					at = allocated;
				else if (p->move_free && !p->read_count)
					at = allocated;
			} else {
				at = p->busy > 1 || p->divider ? dispatch_long(c, p, at, UINT64_MAX) : dispatch(c, p->ports, at, UINT64_MAX);
				f.main_dispatch = at;
				last = max_cycle(last, at);
				if (p->multiply)
					signal_pulse(c->signals, SIG_MULTIPLIES, at, 1);
			}
			if (p->class == UC_PREFETCH) {
				s = core_prefetch(c, in, ip, e->load_va, at, &at);
				if (s != ST_OK)
					return s;
			}
			f.main_done = result = at + p->latency;
			done = max_cycle(done, result);
		}
		if (parts & PART_STA) {
			uint64_t d = dispatch(c, m->exec[UC_STA].port_mask, address_ready(c, p, from), UINT64_MAX);
			f.address_done = d + m->exec[UC_STA].latency;
			last = max_cycle(last, d);
			done = max_cycle(done, f.address_done);
		}
		if (parts & PART_STD) {
			uint64_t at = max_cycle(from, result);
			if (p->class == UC_NOP)
				at = sources_ready(c, p, at);
			uint64_t d = dispatch(c, m->exec[UC_STD].port_mask, at, UINT64_MAX);
			f.data_done = d + m->exec[UC_STD].latency;
			last = max_cycle(last, d);
			done = max_cycle(done, f.data_done);
		}
		if (entries) {
			rs_leave(c, last, entries);
			signal_level(c->signals, SIG_RS_OCCUPANCY, allocated, last, entries);
		}
		c->last_complete = max_cycle(c->last_complete, done);
		complete = max_cycle(complete, done);
		retired = retire(c, parts, allocated, done, &f);
		if (parts & PART_LOAD) {
			c->lb[c->lb_at] = retired;
			if (++c->lb_at >= c->lb_size)
				c->lb_at = 0;
		}
	}
	if (fused)
		retired = c->retire;
	if (p->write_count)
		write_registers(c, p, result);
	for (unsigned i = 0, n = p->extra; i < n; i++) {
		f.wait_reason = WAIT_NONE;
		allocated = allocate(c, p, 0, 1, delivered, why);
		say_issued(c, PART_EXTRA, allocated, false);
		uint64_t d = dispatch(c, m->exec[UC_MICROCODE].port_mask, allocated + c->dispatch_cycles, UINT64_MAX);
		rs_leave(c, d, 1);
		f.main_dispatch = d;
		f.main_done = d + 1;
		retired = retire(c, PART_MAIN, allocated, max_cycle(d + 1, complete), &f);
	}
	for (unsigned i = 0; i < p->write_count; i++)
		c->written[p->writes[i]] = retired;
	c->uops += p->unfused;

	/* stores leave after retirement */
	if (in->store) {
		uint64_t commit;
		s = core_store(c, in, ip, e->store_va, e->store_bytes, f.address_done, f.data_done, retired, &commit, &walked);
		if (s != ST_OK)
			return s;
		if (p->class == UC_LOCK) {
			/* the line is had at once, and the operation is over when it is written */
			c->load_barrier = max_cycle(c->load_barrier, commit);
		}
		c->sb[c->sb_at] = commit;
		if (++c->sb_at >= c->sb_size)
			c->sb_at = 0;
		signal_pulse(c->signals, SIG_STORES_RETIRED, retired, 1);
		signal_level(c->signals, SIG_STORE_BUFFER_OCCUPANCY, allocated, commit, 1);
	} else if (p->class == UC_CLFLUSH) {
		uint64_t commit;
		s = core_flush(c, ip, e->load_va, retired, &commit);
		if (s != ST_OK)
			return s;
		c->sb[c->sb_at] = commit;
		if (++c->sb_at >= c->sb_size)
			c->sb_at = 0;
	}
	if (in->load) {
		signal_pulse(c->signals, SIG_LOADS_RETIRED, retired, 1);
		if (heard_any(c->signals, SIG_LOAD_L1_HIT, SIG_LOAD_DTLB_MISS))
			say_load(c, &f.load, retired);
		if (in->lock)
			signal_pulse(c->signals, SIG_LOCKED_LOADS, retired, 1);
		if (f.load.violation)
			clear_machine(c, SIG_MACHINE_CLEAR_MEMORY, retired, m->core_clear_cycles);
	}
	if (p->special)
		special_done(c, p, e, complete, retired, ip);
	if (e->fp_assist) {
		signal_pulse(c->signals, SIG_FP_ASSIST, retired, 1);
		signal_pulse(c->signals, SIG_UOPS_DECODED_MS, retired, (unsigned)m->core_fp_assist_uops);
		signal_pulse(c->signals, SIG_UOPS_ISSUED_FUSED, retired, (unsigned)m->core_fp_assist_uops);
		clear_machine(c, SIG_MACHINE_CLEAR_ASSIST, retired, m->core_fp_assist_cycles);
		for (unsigned i = 0; i < p->write_count; i++)
			c->ready[p->writes[i]] = retired + m->core_fp_assist_cycles;
	}
	signal_pulse(c->signals, SIG_INSTRUCTIONS_RETIRED, retired, 1);
	if (p->branch) {
		if (fused)
			signal_pulse(c->signals, SIG_UOPS_RETIRED_MACROFUSED, retired, 1);
		s = account_branch(c, in, p, e, ip, complete, retired, &miss);
		if (s != ST_OK)
			return s;
	}
	if (p->fuses_next) {
		c->fused_before = true;
		c->fused_complete = complete;
	}
	if (c->want_retired && c->hooks->retired) {
		struct retired r = { .ip = ip, .next_ip = e->next_rip, .cycle = retired, .insn = in, .effects = e,
			.source = f.load.source, .dtlb_level = f.load.dtlb_level, .mispredicted = miss, .store_dtlb_walk = walked,
			.load_latency = in->load ? (uint32_t)(f.load.ready - f.load_dispatch) : 0,
			.uops_fused = p->fused, .uops_unfused = p->unfused };
		c->hooks->retired(c->hooks->self, c->thread, &r);
	}
	if (c->alloc - c->closed > CLOSE_EVERY)
		close_some(c);
	return ST_OK;
}

/* --- serialising ---------------------------------------------------------------------------- */

static void meet(struct core_thread *c, uint64_t cycle)
{
	c->alloc = c->retire = cycle;
	c->slots = c->retire_slots = 0;
	c->barrier = 0;
	c->fused_before = false;
	c->front.streaming = false;
	c->front.loop_branch = 0;
	c->front.cycle = cycle;
	c->front.window_cycle = cycle;
	c->front.decoded = 0;
	rs_take_off(c, cycle);
}

uint64_t core_serialise(struct core_thread *c)
{
	uint64_t cycle = max_cycle(max_cycle(c->alloc, c->retire), max_cycle(c->last_commit, c->last_complete));
	cycle = max_cycle(cycle, c->barrier) + 1;
	meet(c, cycle);
	front_redirect(c, cycle);
	close_below(c, cycle);
	return cycle;
}

void core_resume(struct core_thread *c, uint64_t cycle, bool alone)
{
	struct core_thread *o = c->shared->threads[!c->own];
	if (cycle < c->alloc)
		cycle = c->alloc;
	signal_skip(c->signals, cycle);
	c->closed = cycle;
	meet(c, cycle);
	c->last_commit = c->last_complete = c->load_barrier = c->address_known = 0;
	front_redirect(c, cycle);
	split_buffers(c, alone || !o);
	clear_rings(c->shared, c->alone || o->alloc > cycle ? cycle : o->alloc);
}

void core_park(struct core_thread *c)
{
	struct core_thread *o = c->shared->threads[!c->own];
	if (o)
		o->alone = true;
	c->alone = true;
}
