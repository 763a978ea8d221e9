/* pmu/sim/core/pipe_branch.c: branches. The rules stand in core.c.
 *
 * Not modelled: allocation that waits until a mispredicted branch has retired (on Core 2 longer than mispredict_cycles,
 * behind a load from memory; RESOURCE_STALL_BRANCH ends with them). */
#include "pmu/sim/core/pipe.h"

static void emit_branch(struct core_thread *c, const struct core_plan *p, bool taken, bool miss, uint64_t executed, uint64_t r)
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

enum status pipe_branch(struct core_thread *c, const struct core_plan *p, const struct effects *e, uint64_t ip, uint64_t resolved, uint64_t retired, bool *miss)
{
	uint64_t predicted;
	bool known;
	*miss = front_branch(c, p, ip, e, &predicted, &known);
	if (signal_subscribed_any(c->signals, SIG_BRANCHES_RETIRED, SIG_BRANCHES_DECODED))
		emit_branch(c, p, e->taken, *miss, resolved, retired);
	if (*miss) {
		enum status s = pipe_wrong_path(c, predicted, resolved);
		if (s != ST_OK)
			return s;
		c->front.redirected = true;
		c->front.fetch_cycle = resolved + c->m->core_mispredict_cycles - 1;
		c->front.cycle = c->front.fetch_cycle;
		c->front.decoded = 0;
		c->front.stalled_until = 0;
		const uint64_t right = resolved + c->m->core_mispredict_cycles;
		signal_level(c->signals, SIG_RESOURCE_STALL_BRANCH, resolved, retired < right ? retired : right, 1);
		c->recovers_from = resolved;
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
	front_redirect(c, c->front.fetch_cycle + 1 + bubble);
	return ST_OK;
}
