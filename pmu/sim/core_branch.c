/* pmu/sim/core_branch.c: branches and the wrong path. The rules stand in core.c.
 *
 * Not modelled: caches, TLBs and faults met on a wrong path, branches of it that resolve before the first one does,
 * allocation that waits until a mispredicted branch has retired (Core 2: longer than mispredict_cycles behind a load
 * from memory; RESOURCE_STALL_BRANCH ends with them). */
#include "pmu/sim/core_pipe.h"

/* One group of the wrong path; false: it comes too late, and so does what lies behind it. */
static PIPE_INLINE bool wrong_group(struct core_thread *c, const struct core_plan *p, const unsigned parts, const bool ported, uint64_t delivered,
                                    enum wait_reason why, uint64_t resolved, const bool quick)
{
	/* a look first: a group that would come too late changes nothing */
	uint64_t t = max_cycle(max_cycle(c->alloc + (c->slots >= c->width), delivered), c->barrier);
	if (t >= resolved || c->rob[c->rob_at] >= resolved)
		return false;
	const unsigned entries = !ported ? 0 : c->m->core_rs_unfused ? part_count(parts) : 1;
	if (entries) {
		pipe_rs_catch_up(c, t);
		if (c->rs_in_use + entries > c->rs_size && pipe_rs_next(c) + 1 >= resolved)
			return false;
	}
	t = pipe_allocate(c, p, parts & ~(unsigned)(PART_LOAD | PART_STA), entries, delivered, why, quick);
	if (++c->rob_at >= c->rob_size)
		c->rob_at = 0;
	if (t >= resolved) {
		if (entries)
			pipe_rs_leave(c, t, entries);
		return false;
	}
	pipe_say_issued(c, parts, t, true, quick);
	uint64_t from = t + c->dispatch_cycles, d = from, done = from;
	if (parts & PART_LOAD) {
		d = pipe_dispatch(c, c->m->exec[UC_LOAD].port_mask, pipe_address_ready(c, p, from), resolved, quick);
		done = d == UINT64_MAX ? d : d + c->m->l1d_cycles;
	}
	if (parts & PART_MAIN && p->ports) {
		d = done == UINT64_MAX ? done : pipe_dispatch(c, p->ports, max_cycle(pipe_sources_ready(c, p, from), done), resolved, quick);
		done = d == UINT64_MAX ? d : d + p->latency;
	}
	if (parts & PART_EXTRA)
		d = pipe_dispatch(c, c->m->exec[UC_MICROCODE].port_mask, from, resolved, quick);
	if (parts & PART_STA)
		d = pipe_dispatch(c, c->m->exec[UC_STA].port_mask, pipe_address_ready(c, p, from), resolved, quick);
	if (parts & PART_STD)
		d = max_cycle(d, pipe_dispatch(c, c->m->exec[UC_STD].port_mask, pipe_sources_ready(c, p, from), resolved, quick));
	if (entries)
		pipe_rs_leave(c, d < resolved ? d : resolved - 1, entries);
	if (parts & (PART_MAIN | PART_LOAD))
		for (unsigned i = 0; i < p->write_count; i++)
			c->ready[p->writes[i]] = done;
	return true;
}

/* All groups of an instruction of the wrong path; *left: ROB entries that it may still fill. */
static bool wrong_groups(struct core_thread *c, const struct core_plan *p, uint64_t delivered, enum wait_reason why, uint64_t resolved, uint32_t *left)
{
	for (unsigned g = 0; g < (unsigned)p->groups + p->extra && *left; g++, --*left) {
		const unsigned parts = g < p->groups ? p->group[g] : PART_EXTRA;
		if (!wrong_group(c, p, parts, parts != PART_MAIN || p->ports, delivered, why, resolved, false))
			return false;
	}
	return true;
}

/* Allocates and dispatches what lies behind a wrong guess until the branch resolves. */
static PIPE_INLINE enum status wrong_path_of(struct core_thread *c, uint64_t ip, uint64_t resolved, const bool quick)
{
	uint64_t ready[RN_COUNT];
	uint32_t left = c->rob_size;
	const uint32_t rob_at = c->rob_at;
	const bool streaming = c->front.streaming, from_cache = c->front.from_cache;
	const uint64_t window = c->front.cache_window;
	const uint32_t window_uops = c->front.window_uops;
	const struct code_entry *const known = c->hooks->known;
	memcpy(ready, c->ready, sizeof(ready));
	c->front.streaming = false;
	front_redirect(c, c->front.window_cycle + 1);
	while (ip && left) {
		const struct insn *in;
		const struct core_plan *p;
		uint64_t delivered;
		enum wait_reason why;
		const bool fused = c->fused_before;
		if (known && known[ip % CODE_ENTRIES].ip == ip) {
			in = &known[ip % CODE_ENTRIES].insn;
			p = &known[ip % CODE_ENTRIES].plan;
		} else if (!c->hooks->code || !c->hooks->code(c->hooks->self, ip, &in, &p)) {
			break;
		}
		enum status s = pipe_deliver(c, in, p, ip, true, fused, quick, &delivered, &why);
		if (s != ST_OK)
			return s;
		if (fused) {
			c->fused_before = false;
		} else if (quick && p->shape == SHAPE_OPERATION) {
			if (!wrong_group(c, p, PART_MAIN, true, delivered, why, resolved, true))
				break;
			left--;
		} else if (quick && p->shape == SHAPE_NOP) {
			if (!wrong_group(c, p, PART_MAIN, false, delivered, why, resolved, true))
				break;
			left--;
		} else if (quick && p->shape == SHAPE_LOAD) {
			if (!wrong_group(c, p, PART_LOAD, true, delivered, why, resolved, true))
				break;
			left--;
		} else if (!wrong_groups(c, p, delivered, why, resolved, &left)) {
			break;
		}
		const uint64_t next = front_guess(c, p, in, ip);
		if (next != ip + in->length)
			front_redirect(c, c->front.window_cycle + 1);
		if (p->fuses_next)
			c->fused_before = true;
		ip = next;
	}
	memcpy(c->ready, ready, sizeof(ready));
	c->rob_at = rob_at;
	c->front.streaming = streaming;
	/* of the window that the wrong path was in only a part was decoded */
	c->front.cache_window = window;
	c->front.window_uops = window_uops;
	c->front.from_cache = from_cache;
	c->fused_before = false;
	return ST_OK;
}

static enum status wrong_path(struct core_thread *c, uint64_t ip, uint64_t resolved)
{
	return pipe_is_quick(c) ? wrong_path_of(c, ip, resolved, true) : wrong_path_of(c, ip, resolved, false);
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

enum status pipe_branch(struct core_thread *c, const struct insn *in, const struct core_plan *p,
                                  const struct effects *e, uint64_t ip, uint64_t resolved, uint64_t retired, bool *miss)
{
	uint64_t predicted;
	bool known;
	*miss = front_branch(c, p, ip, in, e, &predicted, &known);
	if (signal_heard_any(c->signals, SIG_BRANCHES_RETIRED, SIG_BRANCHES_DECODED))
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
		const uint64_t right = resolved + c->m->core_mispredict_cycles;
		signal_level(c->signals, SIG_RESOURCE_STALL_BRANCH, resolved, retired < right ? retired : right, 1);
		pipe_hold(c, right, WAIT_MISPREDICT, 0);
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
