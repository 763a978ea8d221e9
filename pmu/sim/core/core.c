/* pmu/sim/core/core.c: allocation, dispatch, completion and retirement. This comment is the law of the model: a
 * cycle-by-cycle reference can be written from it.
 *
 * Time is an integer count of core cycles. Instructions are processed in program order. Each is split into parts
 * (core_plan.c), which are joined into allocation slots called groups, in the order load, operation, store address, store
 * data, followed by `extra` uops of one slot each.
 *
 * Allocation. Groups are allocated in program order, core.issue_width a cycle. A group is allocated in the first cycle a,
 * no earlier than the group before it, in which
 * 1. the front end has delivered its instruction (core_front.c) and no barrier is in force;
 * 2. a ROB entry is free: the group core.rob groups before it retired in a cycle < a;
 * 3. with a load part: the load core.load_buffers loads before it retired in a cycle < a;
 *    with a store address part: the store core.store_buffers before it committed in a cycle < a;
 * 4. fewer than core.rs groups are allocated in a cycle <= a and have not left the reservation station
 *    in a cycle < a (a group leaves when its last part dispatches; groups that need no port never
 *    enter; with core.rs_unfused each part counts for itself);
 * 5. no more than core.register_reads different registers are read in this cycle from outside the ROB
 *    (the register's last writer retired in a cycle < a); 0: no limit.
 *
 * Dispatch. A part dispatches in the first cycle d >= a + core.dispatch_cycles in which its sources are ready and a port
 * that can execute it is free; one part per port and cycle. Parts reserve their cycles in program order: an older part has
 * priority, and a younger one takes what is left, even before cycles that older parts have reserved. Of several free ports
 * the next in rotation is taken. A part that blocks its port for b > 1 cycles needs all of them free. Divides and square
 * roots take their port for one cycle and need the divider free for b cycles from d on. Sources: for a load or store
 * address, the address registers; for an operation, its registers and its load; for store data, the operation, or its
 * registers if there is none.
 *
 * Completion. An operation completes in d + latency, a load as core_memory.c says, store address and data in d + latency. A
 * register is ready for others in the completion cycle of its writer, plus core.bypass_cycles if the value moves between
 * vector integer and floating-point operations. Extra uops form a chain behind the operation: they dispatch when they can
 * on the ports of class `microcode`, and the instruction completes no earlier than the last of them, but its result is not
 * delayed.
 *
 * Retirement. Groups retire in program order, core.retire_width a cycle, in the first cycle >= their completion. Stores
 * commit afterwards (core_memory.c).
 *
 * Branches resolve in their completion cycle. After a mispredicted one the front end has delivered uops of the wrong path:
 * they are allocated by the rules above from the branch's allocation on in cycles < resolution, dispatch in cycles <
 * resolution (their loads take the L1D's latency and access no cache), and then vanish with their ROB and RS entries. The
 * first group of the right path is allocated core.mispredict_cycles after resolution at the earliest.
 *
 * Machine clears (a load that passed a store to its bytes, floating-point assists, stores to code): allocation resumes
 * core.clear_cycles (or the cause's own number) after the retirement.
 *
 * Serialising: LFENCE dispatches when all older instructions have completed, and nothing younger is allocated before it
 * retires. MFENCE, locked operations and serialising instructions also wait for all older stores to commit; younger loads
 * dispatch after they complete.
 *
 * Two threads on a core: ROB, load and store buffers are halved (rounded down) while both run; the reservation station,
 * ports and divider are shared; a cycle's allocation belongs to one thread, to the one whose number has the cycle's parity,
 * or to the other if that one has no group to allocate in it. Rule 4 counts the groups of both; otherwise "before" and
 * "older" refer to the same thread, except that at a port a part that was allocated first has priority over those of both
 * threads. Each thread has its own fetch and decoders (pipe_pair.c).
 *
 * Stall attribution: a cycle without retirement is attributed to what the oldest uop waits for in it: what delays its
 * allocation, then its dispatch, then its execution by kind.
 *
 * A locked operation completes `latency` cycles after its load dispatches, core.split_lock_cycles later if it spans two
 * cache lines, and its store commits then; nothing younger than one that spans two lines is allocated before its load
 * dispatches. A string instruction shows the memory one load and one store and costs uops.microcode further uops per
 * iteration. After a floating-point assist the result is ready and allocation resumes core.fp_assist_cycles after the
 * operation retired; its core.fp_assist_uops are issued and retired at full width in the last of these cycles.
 *
 * SSE code while upper halves of vector registers are dirty, and VEX code after that, stop allocation for
 * core.avx_transition_cycles. VZEROUPPER makes them clean, VEX code of more than 16 bytes dirty.
 *
 * Not modelled: other cores waiting for a bus lock, replays, ports bound at allocation, write-back port conflicts, cycles
 * further than CORE_RING beyond the oldest open one (ports count as free there). */
#include "pmu/sim/core/pipe.h"

static inline bool crosses_line(uint64_t va, unsigned bytes) { return va % 64 + bytes > 64; }

/* simple: writes nothing but flags and registers that take read ports. */
static PIPE_INLINE void write_registers(struct core_thread *c, const struct core_plan *p, uint64_t ready, uint64_t retired, const bool simple)
{
	unsigned i = 0;
	do {
		const unsigned r = p->writes[i];
		c->ready[r] = ready;
		c->written[simple || r < RN_CF ? r : PLAN_SINK] = retired;
		c->domain[r] = p->domain;
	} while (__builtin_expect(++i < p->register_writes, 0));
	c->narrow = (c->narrow & p->narrow_kept) | p->narrow_more;
	if (!p->writes_flags)
		return;
	c->ready[p->writes_cf] = c->ready[p->writes_zapso] = ready;
	c->flags_number[p->writes_cf - RN_CF] = c->flags_number[p->writes_zapso - RN_CF] = c->uop_number;
}

/* The parts of a shape's one group. */
static inline unsigned shape_parts(enum plan_shape shape)
{
	static const uint8_t parts[] = { 0, PART_MAIN, PART_LOAD, PART_LOAD | PART_MAIN, PART_STA | PART_STD, PART_MAIN, 0 };
	return parts[shape];
}

/* Cycles of a slot: allocated, first dispatch possible, latest dispatch, and done. */
struct group { uint64_t allocated, from, last, done; };

/* The operation itself, on its sources or on what the load brings. */
static PIPE_INLINE enum status group_main(struct core_thread *c, const struct insn *in, const struct core_plan *p, const struct effects *e,
	uint64_t ip, const enum plan_shape shape, const bool quick, struct core_progress *w, struct group *g)
{
	const bool simple = shape != SHAPE_ANY;
	unsigned latency = p->latency;
	uint64_t at = pipe_sources_ready(c, p, max_cycle(g->from, w->result));
	if (!simple && p->special && p->class != UC_LOCK)
		at = pipe_special_ready(c, p, in, ip, pipe_address_ready(c, p, at));
	if (shape == SHAPE_NOP || (!simple && !p->ports)) {
		w->main_dispatch = at;
		if (p->class == UC_NOP && !p->move_free)
			at = g->allocated;
		else if (p->move_free && !p->read_count)
			at = g->allocated;
	} else {
		if (!simple && p->divider) {
			latency = pipe_divide_cycles(c->m, p, e, p->latency);
			at = pipe_dispatch_long(c, p, pipe_divide_cycles(c->m, p, e, p->busy), at, UINT64_MAX);
		} else {
			at = !simple && p->busy > 1 ? pipe_dispatch_long(c, p, p->busy, at, UINT64_MAX) : pipe_dispatch(c, p->ports, at, UINT64_MAX, quick);
		}
		w->main_dispatch = at;
		g->last = max_cycle(g->last, at);
		if (!quick && p->multiply)
			signal_pulse(c->signals, SIG_MULTIPLIES, at, 1);
	}
	if (!simple && p->class == UC_PREFETCH) {
		const enum status s = core_prefetch(c, in, ip, e->load_va, at, &at);
		if (s != ST_OK)
			return s;
	}
	if (!simple && p->class == UC_LOCK && w->load_dispatch)
		w->result = max_cycle(w->result, w->load_dispatch + latency + (crosses_line(e->load_va, e->load_bytes) ? c->m->core_split_lock_cycles : 0));
	else
		w->result = at + latency;
	w->main_done = w->result;
	g->done = max_cycle(g->done, w->result);
	return ST_OK;
}

/* A store's address and its data. */
static PIPE_INLINE void group_store(struct core_thread *c, const struct core_plan *p, const unsigned parts, const bool quick,
	struct core_progress *w, struct group *g)
{
	if (parts & PART_STA) {
		w->buffer = g->allocated;
		uint64_t d = pipe_dispatch(c, c->m->exec[UC_STA].port_mask, pipe_address_ready(c, p, g->from), UINT64_MAX, quick);
		w->address_done = d + c->m->exec[UC_STA].latency;
		g->last = max_cycle(g->last, d);
		g->done = max_cycle(g->done, w->address_done);
	}
	if (parts & PART_STD) {
		uint64_t at = max_cycle(g->from, w->result);
		if (p->class == UC_LOCK) /* the latency contains the write */
			at = max_cycle(g->from, w->result - c->m->exec[UC_STD].latency);
		if (p->class == UC_NOP)
			at = pipe_sources_ready(c, p, at);
		uint64_t d = pipe_dispatch(c, c->m->exec[UC_STD].port_mask, at, UINT64_MAX, quick);
		w->data_done = d + c->m->exec[UC_STD].latency;
		g->last = max_cycle(g->last, d);
		g->done = max_cycle(g->done, w->data_done);
	}
}

/* One group; the same body is compiled for each shape. */
static PIPE_INLINE enum status account_group(struct core_thread *c, const struct insn *in,
	const struct core_plan *p, const struct effects *e, uint64_t ip, const unsigned parts, const enum plan_shape shape,
	const bool quick, struct load_result *load, struct core_progress *w)
{
	const struct machine *m = c->m;
	const bool simple = shape != SHAPE_ANY;
	const bool ported = shape == SHAPE_NOP ? false : simple || !(parts & PART_MAIN) || p->ports || parts != PART_MAIN;
	const unsigned entries = shape == SHAPE_OPERATION || shape == SHAPE_LOAD ? 1 : !ported ? 0 : m->core_rs_unfused ? part_count(parts) : 1;
	const unsigned buffers = !simple && p->class == UC_CLFLUSH ? parts | PART_STA : parts;
	const uint64_t allocated = pipe_allocate(c, p, buffers, entries, w->delivered, w->why, quick);
	const uint8_t wait_reason = c->wait_reason;
	pipe_emit_issued(c, parts, allocated, false, quick);
	struct group g = { allocated, allocated + c->dispatch_cycles, allocated + c->dispatch_cycles, allocated };
	if (parts & PART_LOAD) {
		uint64_t at = pipe_address_ready(c, p, max_cycle(g.from, c->load_barrier));
		if (p->class == UC_LOCK)
			at = pipe_special_ready(c, p, in, ip, at);
		w->load_dispatch = g.last = pipe_dispatch(c, m->exec[UC_LOAD].port_mask, at, UINT64_MAX, quick);
		const enum status s = pipe_load(c, ip, e->load_va, e->load_bytes, g.last, load);
		if (s != ST_OK)
			return s;
		if (!quick)
			signal_pulse(c->signals, SIG_LOAD_DISPATCHED, g.last, 1);
		w->result = g.done = load->ready;
	}
	if (parts & PART_MAIN) {
		const enum status s = group_main(c, in, p, e, ip, shape, quick, w, &g);
		if (s != ST_OK)
			return s;
	}
	group_store(c, p, parts, quick, w, &g);
	if (entries) {
		pipe_rs_leave(c, g.last, entries);
		if (!quick)
			signal_level(c->signals, SIG_RS_OCCUPANCY, allocated, g.last, entries);
	}
	c->last_complete = max_cycle(c->last_complete, g.done);
	w->complete = max_cycle(w->complete, g.done);
	if (!quick && pipe_attributes(c, g.done)) {
		const struct flight f = { w->load_dispatch, w->main_dispatch, w->main_done, w->address_done, w->data_done, *load, wait_reason,
			p->divider, p->special };
		pipe_attribute(c, parts, allocated, &f, c->retire + 1, g.done);
	}
	w->retired = pipe_retire(c, parts, allocated, g.done, quick);
	if (parts & PART_LOAD) {
		c->lb[c->lb_at] = w->retired;
		if (++c->lb_at >= c->lb_size)
			c->lb_at = 0;
	}
	return ST_OK;
}

/* One uop beyond the parts. */
static PIPE_INLINE void account_extra(struct core_thread *c, const struct core_plan *p, const struct load_result *load, struct core_progress *w)
{
	const struct machine *m = c->m;
	const uint64_t allocated = pipe_allocate(c, p, 0, 1, w->delivered, w->why, false);
	pipe_emit_issued(c, PART_EXTRA, allocated, false, false);
	uint64_t d = pipe_dispatch(c, m->exec[UC_MICROCODE].port_mask, allocated + c->dispatch_cycles, UINT64_MAX, false);
	pipe_rs_leave(c, d, 1);
	signal_level(c->signals, SIG_RS_OCCUPANCY, allocated, d, 1);
	w->main_dispatch = d;
	w->main_done = d + 1;
	c->last_complete = max_cycle(c->last_complete, d + 1);
	const uint64_t done = max_cycle(d + 1, w->complete);
	if (pipe_attributes(c, done)) {
		const struct flight f = { w->load_dispatch, w->main_dispatch, w->main_done, w->address_done, w->data_done, *load, WAIT_NONE,
			p->divider, p->special };
		pipe_attribute(c, PART_MAIN, allocated, &f, c->retire + 1, done);
	}
	w->retired = pipe_retire(c, PART_MAIN, allocated, done, false);
}

/* Stores and flushes leave after retirement: their store buffer entry is free when they have committed. */
static PIPE_INLINE enum status end_store(struct core_thread *c, const struct insn *in, const struct core_plan *p, const struct effects *e,
	uint64_t ip, const enum plan_shape shape, const bool quick, const struct core_progress *w, bool *walked)
{
	const bool simple = shape != SHAPE_ANY;
	if (shape == SHAPE_STORE || (!simple && in->store)) {
		uint64_t commit;
		/* a locked operation requests ownership when its load dispatches, and its latency contains the write */
		uint64_t written = p->class == UC_LOCK ? w->load_dispatch - 1 : w->retired;
		const enum status s = pipe_store(c, in, ip, e->store_va, e->store_bytes, w->address_done, w->data_done, written, &commit, walked);
		if (s != ST_OK)
			return s;
		if (p->class == UC_LOCK)
			c->load_barrier = max_cycle(c->load_barrier, commit);
		if (p->class == UC_LOCK && crosses_line(e->load_va, e->load_bytes))
			pipe_hold(c, w->load_dispatch, WAIT_ALLOCATE, SIG_RAT_STALL_SCOREBOARD);
		c->sb[c->sb_at] = commit;
		if (++c->sb_at >= c->sb_size)
			c->sb_at = 0;
		if (!quick) {
			signal_pulse(c->signals, SIG_STORES_RETIRED, w->retired, 1);
			signal_level(c->signals, SIG_STORE_BUFFER_OCCUPANCY, w->buffer, commit, 1);
		}
	} else if (!simple && p->class == UC_CLFLUSH) {
		uint64_t commit;
		const enum status s = core_flush(c, ip, e->load_va, w->retired, &commit);
		if (s != ST_OK)
			return s;
		c->sb[c->sb_at] = commit;
		if (++c->sb_at >= c->sb_size)
			c->sb_at = 0;
	}
	return ST_OK;
}

/* The level that a retired load is counted under. */
static PIPE_INLINE void end_load(struct core_thread *c, const struct insn *in, const struct effects *e, const bool simple, const bool quick,
	const struct load_result *load, const struct core_progress *w)
{
	if (!quick) {
		signal_pulse(c->signals, SIG_LOADS_RETIRED, w->retired, 1);
		if (load->source != SRC_L1 || load->dtlb_level > 1)
			c->memory_until = max_cycle(c->memory_until, load->ready);
	}
	if (load->source == SRC_L1 && load->dtlb_level < 3)
		signal_pulse_often(c->signals, SIG_LOAD_L1_HIT, w->retired, 1);
	else if (load->source == SRC_L1 ? signal_subscribed_any(c->signals, SIG_LOAD_L1_HIT, SIG_LOAD_DTLB_MISS) :
	         signal_subscribed_any(c->signals, SIG_LOAD_LFB_HIT, SIG_LOAD_DTLB_MISS))
		pipe_emit_load(c, load, w->retired);
	if (!simple && in->lock)
		pipe_emit_locked(c, e, load->source, w->load_dispatch, w->retired);
	if (load->violation)
		pipe_clear_machine(c, SIG_MACHINE_CLEAR_MEMORY, w->retired, c->m->core_clear_cycles);
}

/* The end of an instruction that is a branch, pops the x87 stack, or is a comparison that fuses with the branch after it. */
static PIPE_INLINE enum status end_branch(struct core_thread *c, const struct insn *in, const struct core_plan *p, const struct effects *e,
	uint64_t ip, const bool fused, const bool quick, const struct core_progress *w, bool *miss)
{
	if (p->x87)
		signal_pulse(c->signals, SIG_X87_RETIRED, w->retired, 1);
	if (in->x87_pop)
		pipe_rotate_x87(c, in->x87_pop);
	if (p->branch) {
		if (fused && !quick)
			signal_pulse(c->signals, SIG_UOPS_RETIRED_MACROFUSED, w->retired, 1);
		const enum status s = pipe_branch(c, p, e, ip, w->complete, w->retired, miss);
		if (s != ST_OK)
			return s;
	}
	if (p->fuses_next) {
		c->fused_before = true;
		c->fused_complete = w->complete;
	}
	return ST_OK;
}

static PIPE_INLINE void report_retired(struct core_thread *c, const struct insn *in, const struct core_plan *p, const struct effects *e, uint64_t ip,
	const struct load_result *load, const struct core_progress *w, bool miss, bool walked)
{
	struct retired r = { .ip = ip, .next_ip = e->next_rip, .cycle = w->retired, .insn = in, .effects = e,
		.source = load->source, .dtlb_level = load->dtlb_level, .mispredicted = miss, .store_dtlb_walk = walked,
		.load_latency = in->load ? (uint32_t)(load->ready - w->load_dispatch) : 0,
		.translate_cycles = in->load && load->translated > w->load_dispatch ? (uint32_t)(load->translated - w->load_dispatch) : 0,
		.uops_fused = p->fused, .uops_unfused = p->unfused };
	c->hooks->retired(c->hooks->self, c->thread, &r);
}

/* After the last of its slots. */
static PIPE_INLINE enum status account_end(struct core_thread *c, const struct insn *in,
	const struct core_plan *p, const struct effects *e, uint64_t ip, const enum plan_shape shape, const bool quick,
	struct load_result *load, struct core_progress *w)
{
	const struct machine *m = c->m;
	const bool simple = shape != SHAPE_ANY, fused = shape == SHAPE_FUSED;
	bool walked = false, miss = false;
	if (shape != SHAPE_NOP)
		write_registers(c, p, w->result, w->retired, simple);
	c->uops += p->unfused;

	enum status s = end_store(c, in, p, e, ip, shape, quick, w, &walked);
	if (s != ST_OK)
		return s;
	if (shape == SHAPE_LOAD || shape == SHAPE_LOAD_OPERATION || (!simple && in->load))
		end_load(c, in, e, simple, quick, load, w);
	if (!simple && p->special)
		pipe_special_done(c, p, w->complete, w->retired, ip);
	if (e->fp_assist) {
		pipe_assist(c, w->retired);
		for (unsigned i = 0; i < p->write_count; i++)
			c->ready[p->writes[i]] = w->retired + m->core_fp_assist_cycles;
	}
	signal_pulse_often(c->signals, SIG_INSTRUCTIONS_RETIRED, w->retired, 1);
	if (!quick && p->fused > 1)
		signal_pulse(c->signals, SIG_UOPS_RETIRED_HEAVY, w->retired, p->fused);
	if (!quick && p->microcoded)
		signal_pulse(c->signals, SIG_UOPS_RETIRED_MS, w->retired, p->fused);
	if (p->ends && (s = end_branch(c, in, p, e, ip, fused, quick, w, &miss)) != ST_OK)
		return s;
	if (c->want_retired && c->hooks->retired)
		report_retired(c, in, p, e, ip, load, w, miss, walked);
	if (c->alloc - c->closed > CLOSE_EVERY && !c->tape)
		core_close_some(c);
	return ST_OK;
}

/* One slot of an instruction of any shape. */
static PIPE_INLINE enum status account_slot(struct core_thread *c, const struct insn *in,
	const struct core_plan *p, const struct effects *e, uint64_t ip, unsigned slot, struct load_result *load, struct core_progress *w)
{
	if (slot < p->groups)
		return account_group(c, in, p, e, ip, p->group[slot], SHAPE_ANY, false, load, w);
	account_extra(c, p, load, w);
	return ST_OK;
}

static PIPE_INLINE enum status account(struct core_thread *c, const struct insn *in,
	const struct core_plan *p, const struct effects *e, uint64_t ip, const enum plan_shape shape, const bool quick)
{
	const bool simple = shape != SHAPE_ANY, fused = shape == SHAPE_FUSED;
	struct load_result load = { .source = SRC_NONE };
	struct core_progress w = { .retired = c->retire };
	uint64_t delivered;
	enum wait_reason why;
	enum status s = quick ? pipe_deliver(c, p, ip, false, simple ? fused : c->fused_before, true, &delivered, &why)
	                      : pipe_deliver_paired(c, p, ip, &delivered, &why);
	if (s != ST_OK)
		return s;
	w.delivered = delivered;
	w.why = why;
	if (shape != SHAPE_NOP && (p->wide_reads & c->narrow || (p->reads_flags && (pipe_reads_old_carry(c, p) || pipe_reads_old_rest(c, p)))))
		pipe_partial_stalls(c, p);
	if (!simple && p->vector)
		pipe_vector_transition(c, p);
	if (fused || !simple)
		c->fused_before = false;
	if (fused)
		w.complete = c->fused_complete;
	else if (simple)
		s = account_group(c, in, p, e, ip, shape_parts(shape), shape, quick, &load, &w);
	for (unsigned slot = 0, slots = simple ? 0 : pipe_slots(c->m, p, e); slot < slots && s == ST_OK; slot++) {
		if (slot && !c->alone) {
			c->rest = (struct core_pending){ w, load, *in, *p, *e, ip, slot, slots };
			return ST_OK;
		}
		s = account_slot(c, in, p, e, ip, slot, &load, &w);
	}
	return s == ST_OK ? account_end(c, in, p, e, ip, shape, quick, &load, &w) : s;
}

bool core_unfinished(const struct core_thread *c) { return c->rest.slots != 0; }

enum status core_go_on(struct core_thread *c)
{
	struct core_pending *r = &c->rest;
	enum status s = account_slot(c, &r->insn, &r->plan, &r->effects, r->ip, r->slot, &r->load, &r->progress);
	if (s == ST_OK && ++r->slot < r->slots)
		return ST_OK;
	r->slots = 0;
	return s == ST_OK ? account_end(c, &r->insn, &r->plan, &r->effects, r->ip, SHAPE_ANY, false, &r->load, &r->progress) : s;
}

/* With rarely needed checks, and for two threads. */
static __attribute__((noinline)) enum status account_slowly(struct core_thread *c, const struct insn *in, const struct core_plan *p,
                                                            const struct effects *e, uint64_t ip, unsigned shape)
{
	switch (shape) {
	case SHAPE_OPERATION: return account(c, in, p, e, ip, SHAPE_OPERATION, false);
	case SHAPE_LOAD: return account(c, in, p, e, ip, SHAPE_LOAD, false);
	case SHAPE_LOAD_OPERATION: return account(c, in, p, e, ip, SHAPE_LOAD_OPERATION, false);
	case SHAPE_STORE: return account(c, in, p, e, ip, SHAPE_STORE, false);
	case SHAPE_FUSED: return account(c, in, p, e, ip, SHAPE_FUSED, false);
	case SHAPE_NOP: return account(c, in, p, e, ip, SHAPE_NOP, false);
	default: return account(c, in, p, e, ip, SHAPE_ANY, false);
	}
}

#define QUICK(name_, shape_) \
	static OWN_PAGE enum status name_(struct core_thread *c, const struct insn *in, const struct core_plan *p, const struct effects *e, \
	                                  uint64_t ip) \
	{ \
		return account(c, in, p, e, ip, shape_, true); \
	}
QUICK(quick_operation, SHAPE_OPERATION)
QUICK(quick_load, SHAPE_LOAD)
QUICK(quick_load_operation, SHAPE_LOAD_OPERATION)
QUICK(quick_store, SHAPE_STORE)
QUICK(quick_fused, SHAPE_FUSED)
QUICK(quick_nop, SHAPE_NOP)

enum status core_account(struct core_thread *c, const struct insn *in, const struct core_plan *p, const struct effects *e, uint64_t ip)
{
	static enum status (*const quick[])(struct core_thread *, const struct insn *, const struct core_plan *, const struct effects *, uint64_t) = {
		[SHAPE_OPERATION] = quick_operation, [SHAPE_LOAD] = quick_load, [SHAPE_LOAD_OPERATION] = quick_load_operation,
		[SHAPE_STORE] = quick_store, [SHAPE_NOP] = quick_nop, [SHAPE_FUSED] = quick_fused };
	const unsigned shape = c->fused_before ? SHAPE_FUSED : p->shape;
	if (shape == SHAPE_ANY || !pipe_is_quick(c))
		return account_slowly(c, in, p, e, ip, shape);
	return quick[shape](c, in, p, e, ip);
}
