/* pmu/sim/core/pipe.h: the steps of the pipeline, for this folder only. core.c states what they do. */
#ifndef SIM_PIPE_H
#define SIM_PIPE_H

#include "pmu/sim/core/core_memo.h"

/* A step of the pipeline, compiled into each shape's body, where most of its conditions are constant. */
#define PIPE_INLINE inline __attribute__((always_inline))

/* Cycles of an instruction's parts, for retirement and stall attribution. */
struct flight {
	uint64_t load_dispatch, main_dispatch, main_done, address_done, data_done;
	struct load_result load;
	uint8_t wait_reason;
	bool divide, fence;
};

/* --- pipe_allocate.c --- */
/* Allocates one slot; returns the cycle. `entries`: reservation station entries that it takes. */
uint64_t pipe_allocate_waiting(struct core_thread *c, const struct core_plan *p, unsigned parts, unsigned entries,
                               uint64_t delivered, enum wait_reason why);
/* The first cycle from this thread's next slot on in which only the reservation station and read ports can prevent
 * allocation. Emits the stalls until then; wait_reason is the cause of the last. */
uint64_t pipe_wait(struct core_thread *c, unsigned parts, uint64_t delivered, enum wait_reason why);
/* Emits the slots that stay empty until cycle t, in which a group that was delivered in `delivered` is allocated or what went before is all done. */
void pipe_emit_slots(struct core_thread *c, uint64_t delivered, uint64_t t);
/* Emits a resource or RAT stall in these cycles. */
void pipe_stall(struct core_thread *c, enum signal sig, uint64_t from, uint64_t to);
/* Whether cycle t has register read ports left for this group; takes them if so. */
bool pipe_reads_fit_some(struct core_thread *c, const struct core_plan *p, unsigned parts, uint64_t t);
/* The reservation station is full in cycle t: the first cycle with room for `entries`. Emits the stall from `first` on. */
uint64_t pipe_rs_wait(struct core_thread *c, unsigned entries, uint64_t first, uint64_t t);
/* Subtracts departures from the reservation station before `cycle`. */
void pipe_rs_take_off(struct core_thread *c, uint64_t cycle);
/* The next cycle from rs_at on in which an entry leaves; CORE_RING later if there is none. */
uint64_t pipe_rs_next(struct core_thread *c);
/* The same from a cycle on that is not before rs_at. */
uint64_t pipe_rs_next_from(struct core_thread *c, uint64_t first);
/* No allocation before `until`; sig: the stall signal to emit, 0: none. */
void pipe_hold(struct core_thread *c, uint64_t until, enum wait_reason why, unsigned sig);

/* --- pipe_slots.c --- */
/* Emits why the slots before cycle t, the next group's, stayed empty. */
void pipe_emit_lost(struct core_thread *c, unsigned parts, uint64_t t, uint64_t delivered);
static inline bool pipe_lost_subscribed(const struct core_thread *c, uint64_t t)
{
	return t > c->alloc && signal_subscribed_any(c->signals, SIG_SLOTS_FRONTEND, SIG_SLOTS_MEMORY);
}

/* --- pipe_pair.c --- */
/* As pipe_allocate, while the other thread of the core runs. */
uint64_t pipe_allocate_paired(struct core_thread *c, const struct core_plan *p, unsigned parts, unsigned entries,
                              uint64_t delivered, enum wait_reason why);
/* Whether the other thread has allocated in that cycle, in which this one has not. */
bool pipe_is_others(const struct core_thread *c, uint64_t cycle);
/* As pipe_deliver, for an instruction that core_expect may have examined. */
MUST_CHECK enum status pipe_deliver_paired(struct core_thread *c, const struct core_plan *p, uint64_t ip, uint64_t *cycle, enum wait_reason *why);
/* The other thread's run ends in that cycle. */
void pipe_part(struct core_thread *c, uint64_t cycle);

/* --- pipe_special.c --- */
/* Whether it reads a flag after another group of flags was written (a partial-flag stall). */
static inline bool pipe_reads_old_carry(const struct core_thread *c, const struct core_plan *p)
{
	return p->reads_carry && c->flags_number[0] < c->flags_number[RN_ZAPSO - RN_CF];
}

static inline bool pipe_reads_old_rest(const struct core_thread *c, const struct core_plan *p)
{
	return p->reads_rest && c->flags_number[RN_ZAPSO - RN_CF] < c->flags_number[0];
}

void pipe_partial_stalls(struct core_thread *c, const struct core_plan *p);
void pipe_vector_transition(struct core_thread *c, const struct core_plan *p);
/* When the main uop of a special class can dispatch, given its sources. */
uint64_t pipe_special_ready(struct core_thread *c, const struct core_plan *p, const struct insn *in, uint64_t ip, uint64_t ready);
void pipe_special_done(struct core_thread *c, const struct core_plan *p, uint64_t done, uint64_t retired, uint64_t ip);
/* The cycles that this divide takes of its class's latency or divider cycles (`whole`): they grow with the significant bits of its result. */
unsigned pipe_divide_cycles(const struct machine *m, const struct core_plan *p, const struct effects *e, unsigned whole);
/* A microcode assist for a denormal. */
void pipe_assist(struct core_thread *c, uint64_t retired);
/* `from`: when its load was dispatched. */
void pipe_emit_locked(struct core_thread *c, const struct effects *e, enum mem_source source, uint64_t from, uint64_t retired);
/* Rotates the x87 stack: slot i becomes what slot i + pop was. */
void pipe_rotate_x87(struct core_thread *c, int pop);

/* --- pipe_dispatch.c --- */
/* As pipe_dispatch for `ready` at or beyond the ring's `end`, where ports are free. */
uint64_t pipe_dispatch_beyond(struct core_thread *c, unsigned ports, uint64_t ready, uint64_t end);
void pipe_emit_executed_deliver(struct core_thread *c, unsigned port, uint64_t t);
/* As pipe_dispatch, for parts that hold their port or the divider for n cycles. */
uint64_t pipe_dispatch_long(struct core_thread *c, const struct core_plan *p, unsigned n, uint64_t ready, uint64_t end);

/* --- pipe_retire.c --- */
/* Attributes the cycles from .. end - 1, in which nothing retired, to what this group waited for. */
void pipe_attribute(struct core_thread *c, unsigned parts, uint64_t allocated, const struct flight *f, uint64_t from, uint64_t end);
void pipe_emit_load(struct core_thread *c, const struct load_result *l, uint64_t r);
void pipe_clear_machine(struct core_thread *c, enum signal sig, uint64_t retired, uint64_t cycles);

/* --- pipe_branch.c --- */
/* After a retired branch: prediction, wrong path, re-steer. */
MUST_CHECK enum status pipe_branch(struct core_thread *c, const struct core_plan *p, const struct effects *e, uint64_t ip, uint64_t resolved, uint64_t retired, bool *miss);

/* --- pipe_wrong.c --- */
/* Allocates the code from ip on, after a mispredicted branch, until the branch resolves. */
MUST_CHECK enum status pipe_wrong_path(struct core_thread *c, uint64_t ip, uint64_t resolved);

/* --- core_clock.c --- */
/* Closes the cycles in which nothing can happen any more. */
void core_close_some(struct core_thread *c);

/* Whether the thread is alone on its core and no tap subscribes to a signal of pipe_seldom: the steps of the pipeline are then compiled without
 * these conditions (`quick`). */
extern const uint64_t pipe_seldom[SIGNAL_WORDS];
static PIPE_INLINE bool pipe_is_quick(const struct core_thread *c)
{
	return c->alone && !c->signals->any_seldom;
}

/* As front_deliver, with a fast path while the loop buffer streams or the decoders go straight on. fused: c->fused_before. */
static PIPE_INLINE enum status pipe_deliver(struct core_thread *c, const struct core_plan *p, uint64_t ip,
                                       bool wrong_path, bool fused, const bool quick, uint64_t *cycle, enum wait_reason *why)
{
	struct front *f = &c->front;
	*why = WAIT_NONE; /* quick: nobody asks */
	if (!fused)
		f->loop_uops += p->fused;
	if (f->streaming) {
		*cycle = f->cycle; /* the branch that started the loop has been decoded */
		if (!quick) {
			*why = WAIT_DECODE;
			signal_pulse_often(c->signals, SIG_LSD_UOPS, c->alloc, p->fused);
		}
		return ST_OK;
	}
	if (!quick || !p->straight)
		return front_deliver(c, p, ip, wrong_path, cycle, why);
	const uint64_t last = (ip + p->length - 1) >> c->fetch_shift;
	if (f->redirected || last != f->fetch_block) {
		const uint64_t first = f->redirected ? ip >> c->fetch_shift : f->fetch_block + 1;
		if (first != last)
			return front_deliver(c, p, ip, wrong_path, cycle, why);
		uint64_t at = f->fetch_cycle + 1;
		at = at + FETCH_AHEAD < f->cycle ? f->cycle - FETCH_AHEAD : at;
		if (!wrong_path && f->line != last << c->fetch_shift >> 6) {
			const enum status s = front_fetch_line(c, last << c->fetch_shift, &at);
			if (s != ST_OK)
				return s;
			f->line = last << c->fetch_shift >> 6;
		}
		f->fetch_cycle = at;
		f->fetch_block = last;
		f->redirected = false;
	}
	uint64_t d = f->cycle;
	uint32_t decoded = f->decoded;
	if (f->fetch_cycle > d) {
		d = f->fetch_cycle;
		decoded = 0;
	} else if (!fused && (decoded >= c->decode_width || (decoded && p->complex))) {
		d++;
		decoded = 0;
	}
	f->sequencer = false;
	if (!fused) {
		const uint64_t room = c->front_ring[(c->uop_number - c->queue_uops) & (FRONT_RING - 1)];
		if (room > d) {
			d = room;
			decoded = 0;
		}
		decoded++;
	}
	f->decoded = decoded;
	*cycle = f->cycle = d;
	return ST_OK;
}

/* Reservation station entries may leave in the stretch of this cycle. */
static PIPE_INLINE void pipe_rs_mark(struct core_thread *c, uint64_t cycle)
{
	c->leaving[(cycle & CORE_RING_MASK) / LEAVE_STRETCH / 64] |= 1ull << cycle / LEAVE_STRETCH % 64;
}

static PIPE_INLINE void pipe_rs_leave(struct core_thread *c, uint64_t cycle, unsigned n)
{
	if (cycle - c->rs_at >= LEAVE_NEAR) {
		if (cycle - c->rs_at >= CORE_RING)
			cycle = c->rs_at + CORE_RING - 1;
		pipe_rs_mark(c, cycle);
	}
	/* a wrong path can free 256 entries or more in one cycle: what a byte cannot hold leaves in the next cycle */
	while (c->leave[cycle & CORE_RING_MASK] + n > UINT8_MAX) {
		n -= UINT8_MAX - (unsigned)c->leave[cycle & CORE_RING_MASK];
		c->leave[cycle++ & CORE_RING_MASK] = UINT8_MAX;
		pipe_rs_mark(c, cycle);
	}
	c->leave[cycle & CORE_RING_MASK] += (uint8_t)n;
}

static PIPE_INLINE void pipe_emit_executed(struct core_thread *c, unsigned port, uint64_t t)
{
	if (signal_subscribed_any(c->signals, SIG_UOPS_EXECUTED_P0, SIG_UOPS_EXECUTED_P234))
		pipe_emit_executed_deliver(c, port, t);
}

/* The first cycle >= ready with a free port of the mask; UINT64_MAX if there is none below `end`. */
static PIPE_INLINE uint64_t pipe_dispatch(struct core_thread *c, unsigned ports, uint64_t ready, uint64_t end, const bool quick)
{
	struct core_shared *s = c->shared;
	const uint64_t limit = s->cleared + CORE_RING, stop = end < limit ? end : limit;
	uint64_t t = ready;
	unsigned all = 0; /* ports of the mask that are free in cycle t */
	if (t < stop)
		all = ports & ~(unsigned)s->busy[t & CORE_RING_MASK];
	if (!all && t < stop) /* a wrong path's cycle may be the last one */
		for (t++; t < stop; t = (t | 3) + 1) { /* four cycles at a time */
			const uint64_t four = *(const uint64_t *)(const void *)&s->busy[t & CORE_RING_MASK & ~3u];
			const uint64_t open = (~four & ports * 0x0001000100010001ull) >> t % 4 * 16;
			if (open) {
				const unsigned later = (unsigned)__builtin_ctzll(open) / 16;
				t += later;
				all = open >> later * 16 & 0xFFFF;
				break;
			}
		}
	if (t >= stop)
		return pipe_dispatch_beyond(c, ports, ready > stop ? ready : stop, end);
	const unsigned later = all & s->above, from = later ? later : all, bit = from & -from;
	s->above = -bit << 1;
	s->busy[t & CORE_RING_MASK] |= (uint16_t)bit;
	s->used[(t & CORE_RING_MASK) / CORE_STRETCH] = 1;
	if (!quick)
		pipe_emit_executed(c, (unsigned)__builtin_ctz(bit), t);
	return t;
}

static PIPE_INLINE uint64_t pipe_sources_ready(const struct core_thread *c, const struct core_plan *p, uint64_t from)
{
	if (p->domain) {
		for (unsigned i = 0; i < p->read_count; i++) {
			const unsigned r = p->reads[i];
			const bool other = c->domain[r] && c->domain[r] != p->domain;
			from = max_cycle(from, c->ready[r] + (other ? c->m->core_bypass_cycles : 0));
		}
		return from;
	}
	from = max_cycle(from, max_cycle(c->ready[p->reads[0]], c->ready[p->reads[1]]));
	for (unsigned i = 2; i < p->read_count; i++)
		from = max_cycle(from, c->ready[p->reads[i]]);
	return from;
}

static PIPE_INLINE uint64_t pipe_address_ready(const struct core_thread *c, const struct core_plan *p, uint64_t from)
{
	return max_cycle(from, max_cycle(c->ready[p->address[0]], c->ready[p->address[1]]));
}

/* As pipe_reads_fit_some, with a fast path for groups that read nothing from outside the ROB. */
static PIPE_INLINE bool pipe_reads_fit(struct core_thread *c, const struct core_plan *p, unsigned parts, uint64_t t)
{
	bool outside = c->read_full == t;
	if (parts & (PART_LOAD | PART_STA))
		outside |= (c->written[p->address[0]] < t) | (c->written[p->address[1]] < t);
	if (parts & (PART_MAIN | PART_STD)) {
		outside |= (c->written[p->reads[0]] < t) | (c->written[p->reads[1]] < t);
		for (unsigned i = 2; i < p->read_count; i++)
			outside |= c->written[p->reads[i]] < t;
	}
	return !outside || pipe_reads_fit_some(c, p, parts, t);
}

/* As pipe_rs_wait, with a fast path if the next departure makes room and is near. */
static PIPE_INLINE uint64_t pipe_rs_wait_near(struct core_thread *c, unsigned entries, uint64_t first, uint64_t t, const bool quick)
{
	const unsigned at = c->rs_at & CORE_RING_MASK;
	const uint64_t word = *(const uint64_t *)(const void *)&c->leave[at & ~7u] >> at % 8 * 8;
	if (!word || (!quick && signal_subscribed_any(c->signals, SIG_RESOURCE_STALL_ANY, SIG_RESOURCE_STALL_OTHER)))
		return pipe_rs_wait(c, entries, first, t);
	const unsigned cycles = (unsigned)__builtin_ctzll(word) / 8;
	uint8_t *leave = &c->leave[at + cycles];
	if (c->rs_in_use - *leave + entries > c->rs_size)
		return pipe_rs_wait(c, entries, first, t);
	c->rs_in_use -= *leave;
	*leave = 0;
	c->rs_at += cycles + 1;
	return c->rs_at;
}

/* Subtracts departures before t. */
static PIPE_INLINE void pipe_rs_catch_up(struct core_thread *c, uint64_t t)
{
	uint64_t at = c->rs_at;
	if (t <= at)
		return;
	if (t - at > 8) {
		pipe_rs_take_off(c, t);
		return;
	}
	do {
		uint8_t *leave = &c->leave[at & CORE_RING_MASK];
		if (*leave) {
			c->rs_in_use -= *leave;
			*leave = 0;
		}
	} while (++at < t);
	c->rs_at = t;
}

/* Takes one slot of cycle t. */
static PIPE_INLINE void pipe_allocated(struct core_thread *c, uint64_t t, unsigned entries)
{
	c->slots = (t != c->alloc ? 0 : c->slots) + 1;
	c->alloc = t;
	c->rs_in_use += entries;
	c->front_ring[c->uop_number++ & (FRONT_RING - 1)] = t;
}

/* Allocation slots of an instruction, including all iterations of a string instruction. */
static PIPE_INLINE unsigned pipe_slots(const struct machine *m, const struct core_plan *p, const struct effects *e)
{
	return (unsigned)p->groups + p->extra + (e->repeat > 1 ? (e->repeat - 1) * (unsigned)m->uops_microcode : 0);
}

/* Reservation station entries that a group takes. */
static PIPE_INLINE unsigned pipe_entries(const struct machine *m, const struct core_plan *p, unsigned parts)
{
	return parts == PART_MAIN && !p->ports ? 0 : m->core_rs_unfused ? part_count(parts) : 1;
}

/* As pipe_allocate_waiting, with a fast path if nothing delays it. */
static PIPE_INLINE uint64_t pipe_allocate(struct core_thread *c, const struct core_plan *p, unsigned parts, unsigned entries,
                                     uint64_t delivered, enum wait_reason why, const bool quick)
{
	if (!quick && !c->alone)
		return pipe_allocate_paired(c, p, parts, entries, delivered, why);
	uint64_t t = c->alloc + (c->slots >= c->width);
	if (quick) { /* no tap subscribes to the cause of the wait */
		t = max_cycle(max_cycle(t, delivered), c->barrier);
		t = max_cycle(t, c->rob[c->rob_at] + 1);
		if (parts & PART_LOAD)
			t = max_cycle(t, c->lb[c->lb_at] + 1);
		if (parts & PART_STA)
			t = max_cycle(t, c->sb[c->sb_at] + 1);
	} else {
		c->wait_reason = WAIT_NONE;
		if (delivered > t || c->barrier > t || c->rob[c->rob_at] >= t ||
		    (parts & PART_LOAD && c->lb[c->lb_at] >= t) || (parts & PART_STA && c->sb[c->sb_at] >= t))
			t = pipe_wait(c, parts, delivered, why);
	}
	if (entries) {
		pipe_rs_catch_up(c, t);
		if (c->rs_in_use + entries > c->rs_size && c->rs_in_use) {
			t = pipe_rs_wait_near(c, entries, c->alloc + (c->slots != 0), t, quick);
			if (!quick)
				c->wait_reason = WAIT_ALLOCATE;
		}
	}
	if (c->register_reads && parts && !pipe_reads_fit(c, p, parts, t))
		return pipe_allocate_waiting(c, p, parts, entries, delivered, why);
	if (!quick && t != c->alloc)
		pipe_emit_slots(c, delivered, t);
	if (!quick && pipe_lost_subscribed(c, t))
		pipe_emit_lost(c, parts, t, delivered);
	pipe_allocated(c, t, entries);
	return t;
}

static PIPE_INLINE void pipe_emit_issued(struct core_thread *c, unsigned parts, uint64_t t, bool wrong, const bool quick)
{
	if (quick) {
		signal_pulse_often(c->signals, SIG_UOPS_ISSUED_FUSED, t, 1);
		return;
	}
	if (!signal_subscribed_any(c->signals, SIG_UOPS_ISSUED_FUSED, SIG_UOPS_ISSUED_WRONG_PATH))
		return;
	unsigned n = part_count(parts);
	signal_pulse_often(c->signals, SIG_UOPS_ISSUED_FUSED, t, 1);
	signal_pulse_often(c->signals, SIG_UOPS_ISSUED_UNFUSED, t, n);
	if (n > 1)
		signal_pulse(c->signals, SIG_UOPS_ISSUED_MICROFUSED, t, 1);
	if (wrong)
		signal_pulse(c->signals, SIG_UOPS_ISSUED_WRONG_PATH, t, 1);
}

/* Whether a store to these bytes' pieces is in flight at `cycle`. */
static PIPE_INLINE bool pipe_meets_store(const struct core_thread *c, uint64_t va, unsigned bytes, uint64_t cycle)
{
	const struct store *s;
	for (uint64_t g = va >> 3, last = (va + bytes - 1) >> 3; g <= last; g++)
		if (store_in_flight(c, g, cycle, &s))
			return true;
	return false;
}

/* As core_load, with a fast path for a load within one line that no store in flight can affect. */
static PIPE_INLINE enum status pipe_load_now(struct core_thread *c, uint64_t ip, uint64_t va, unsigned bytes, uint64_t cycle,
                                         struct load_result *r)
{
	if (va % 64 + bytes > 64 || (c->last_commit > cycle && (c->address_known > cycle || pipe_meets_store(c, va, bytes, cycle))))
		return core_load(c, ip, va, bytes, cycle, r);
	struct data_reply reply;
	const enum status s = memory_load(c->memory, c->core, c->thread, ip, va, bytes, cycle, &reply);
	if (s != ST_OK)
		return s;
	*r = (struct load_result){ .ready = reply.ready + c->m->exec[UC_LOAD].latency, .translated = max_cycle(cycle, reply.translated),
	                           .source = reply.source, .dtlb_level = reply.level };
	return ST_OK;
}

static PIPE_INLINE enum status pipe_load(struct core_thread *c, uint64_t ip, uint64_t va, unsigned bytes, uint64_t cycle,
                                         struct load_result *r)
{
	return __builtin_expect(c->tape != NULL, 0) ? memo_load(c, ip, va, bytes, cycle, r) : pipe_load_now(c, ip, va, bytes, cycle, r);
}

/* As core_store, with a fast path for a cached store within one line. */
static PIPE_INLINE enum status pipe_store_now(struct core_thread *c, const struct insn *in, uint64_t ip, uint64_t va, unsigned bytes, uint64_t address_cycle,
                                          uint64_t data_cycle, uint64_t retire, uint64_t *commit, bool *walked)
{
	if (in->nontemporal || va % 64 + bytes > 64)
		return core_store(c, in, ip, va, bytes, address_cycle, data_cycle, retire, commit, walked);
	struct data_reply reply;
	const enum status s = memory_store(c->memory, c->core, c->thread, ip, va, bytes, retire + 1, &reply);
	if (s != ST_OK)
		return s;
	*walked = reply.level == 3;
	*commit = max_cycle(max_cycle(retire + 1, c->last_commit + 1), max_cycle(reply.ready, reply.translated));
	store_remember(c, va, bytes, address_cycle, data_cycle, *commit);
	return ST_OK;
}

static PIPE_INLINE enum status pipe_store(struct core_thread *c, const struct insn *in, uint64_t ip, uint64_t va, unsigned bytes, uint64_t address_cycle,
                                          uint64_t data_cycle, uint64_t retire, uint64_t *commit, bool *walked)
{
	if (__builtin_expect(c->tape != NULL, 0))
		return memo_store(c, in, ip, va, bytes, address_cycle, data_cycle, retire, commit);
	return pipe_store_now(c, in, ip, va, bytes, address_cycle, data_cycle, retire, commit, walked);
}

/* Whether stall cycles have to be attributed when a group completes in `done`. */
static PIPE_INLINE bool pipe_attributes(const struct core_thread *c, uint64_t done)
{
	return done > c->retire + 1 && signal_subscribed_any(c->signals, SIG_STALL_BY_FETCH, SIG_STALL_BY_ASSIST);
}

/* Retires one group that completes in `done`; returns the cycle. */
static PIPE_INLINE uint64_t pipe_retire(struct core_thread *c, unsigned parts, uint64_t allocated, uint64_t done, const bool quick)
{
	const bool later = done > c->retire;
	const uint32_t slots = later ? 1 : c->retire_slots + 1;
	const bool full = slots > c->retire_width;
	const uint64_t r = (later ? done : c->retire) + full;
	c->retire = r;
	c->retire_slots = full ? 1 : slots;
	c->rob[c->rob_at] = r;
	if (++c->rob_at >= c->rob_size)
		c->rob_at = 0;
	signal_pulse_often(c->signals, SIG_UOPS_RETIRED_FUSED, r, 1);
	signal_pulse_often(c->signals, SIG_UOPS_RETIRED_UNFUSED, r, part_count(parts));
	if (!quick) {
		signal_level(c->signals, SIG_ROB_OCCUPANCY, allocated, r, 1);
		if ((parts & (PART_LOAD | PART_MAIN)) == (PART_LOAD | PART_MAIN))
			signal_pulse(c->signals, SIG_UOPS_RETIRED_LOAD_FUSED, r, 1);
		if ((parts & (PART_STA | PART_STD)) == (PART_STA | PART_STD))
			signal_pulse(c->signals, SIG_UOPS_RETIRED_STORE_FUSED, r, 1);
	}
	return r;
}

#endif
