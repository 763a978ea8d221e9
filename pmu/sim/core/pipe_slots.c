/* pmu/sim/core/pipe_slots.c: why allocation slots stayed empty: for PERF_METRICS and the events of the top-down method.
 *
 * A slot that the back end could not take is its own, whether or not the front end had a uop for it; behind a mispredicted branch or a machine clear
 * slots are lost until allocation may go on. Until such a branch resolves, they are the back end's, or the front end's if that came too late.
 *
 * Not modelled: slots of a core whose two threads run are not shared between these. */
#include "pmu/sim/core/pipe.h"

/* Empty slots of the cycles from .. to - 1; of the cycle of the last allocation some are taken. */
static unsigned empty(const struct core_thread *c, uint64_t from, uint64_t to)
{
	return from >= to ? 0 : (unsigned)((to - from) * c->width - (from == c->alloc ? c->slots : 0));
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void emit_back(struct core_thread *c, uint64_t from, uint64_t to, bool stores, uint64_t t)
{
	signal_pulse(c->signals, SIG_SLOTS_BACKEND, t, empty(c, from, to));
	signal_pulse(c->signals, SIG_SLOTS_MEMORY, t, empty(c, from, stores ? to : least(to, c->memory_until)));
}

static void emit_front(struct core_thread *c, uint64_t from, uint64_t to, uint64_t t)
{
	signal_pulse(c->signals, SIG_SLOTS_FRONTEND, t, empty(c, from, to));
	signal_pulse(c->signals, SIG_SLOTS_FRONTEND_LATENCY, t, empty(c, from + (from == c->alloc && c->slots), to));
}

void pipe_emit_lost(struct core_thread *c, unsigned parts, uint64_t t, uint64_t delivered)
{
	const bool branch = c->barrier_reason == WAIT_MISPREDICT, recovers = c->barrier > c->alloc && (branch || c->barrier_reason == WAIT_CLEAR);
	const uint64_t stores = parts & PART_STA ? c->sb[c->sb_at] + 1 : 0;
	uint64_t at = c->alloc, held = max_cycle(c->rob[c->rob_at] + 1, max_cycle(stores, parts & PART_LOAD ? c->lb[c->lb_at] + 1 : 0));

	if (recovers) {
		const uint64_t from = least(max_cycle(at, c->recovers_from), t), to = least(c->barrier, t);
		if (c->wrong_path_late)
			emit_front(c, at, from, t);
		else
			emit_back(c, at, from, false, t);
		signal_pulse(c->signals, SIG_SLOTS_RECOVERY, t, empty(c, from, to));
		if (branch)
			signal_pulse(c->signals, SIG_SLOTS_RECOVERY_BRANCH, t, empty(c, from, to));
		at = max_cycle(from, to);
	} else {
		held = max_cycle(held, c->barrier);
	}
	if (t > max_cycle(max_cycle(held, delivered), at)) /* the station or read ports */
		held = t;
	held = least(held, t);
	if (held > at) {
		emit_back(c, at, held, held == stores, t);
		at = held;
	}
	if (t > at)
		emit_front(c, at, t, t);
}
