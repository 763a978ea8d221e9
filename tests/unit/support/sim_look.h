/* tests/unit/support/sim_look.h: what tests look at in the simulated machine, or switch in it, that no product asks for. */
#ifndef TESTS_UNIT_SIM_LOOK_H
#define TESTS_UNIT_SIM_LOOK_H

#include <stdlib.h>

#include "pmu/sim/signals/signal.h"
#include "pmu/sim/backend/sim_state.h"

/* Findings of a kind so far. */
static inline uint64_t sim_found(const struct sim *s, enum finding_kind kind) { return s->found[kind]; }

/* Findings so far, and the latest of them (of no meaning while there is none). */
static inline uint64_t sim_last_finding(const struct sim *s, const struct sim_finding **last)
{
	*last = &s->last_finding;
	return s->finding_total;
}

/* Why the last run did not end well: an instruction outside the subset with its bytes, an address without a page; "" after one that did. */
static inline const char *sim_problem(const struct sim *s) { return s->problem; }

/* Whether what a pipeline did may be recalled instead of worked out again; at first it may. Nothing that counts depends on it. */
static inline void sim_recall(struct sim *s, bool on) { s->recall_off = !on; }

/* The signals of a logical processor, without registers in between. */
static inline struct signals *sim_signals(struct sim *s, unsigned thread) { return thread < s->threads ? s->signals[thread] : NULL; }

static inline void *signal_heap_get(void *self, size_t bytes) { (void)self; return calloc(1, bytes); }
static inline void signal_heap_put(void *self, void *at, size_t bytes) { (void)self; (void)bytes; free(at); }
/* Gives the taps memory of the C library. */
static inline void signals_attach_heap(struct signals *s)
{
	signals_attach_room(s, &(struct signal_room){ NULL, signal_heap_get, signal_heap_put });
}

#endif
