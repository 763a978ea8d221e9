/* tests/unit/support/sim_look.h: what only tests read from the simulated machine, or switch in it. */
#ifndef TESTS_UNIT_SIM_LOOK_H
#define TESTS_UNIT_SIM_LOOK_H

#include <stdlib.h>

#include "pmu/sim/signals/signal.h"
#include "pmu/sim/backend/sim_state.h"

/* Number of findings of a kind so far. */
static inline uint64_t sim_found(const struct sim *s, enum finding_kind kind) { return s->found[kind]; }

/* Number of findings so far; *last: the latest, meaningless while there is none. */
static inline uint64_t sim_last_finding(const struct sim *s, const struct sim_finding **last)
{
	*last = &s->last_finding;
	return s->finding_total;
}

/* Why the last run failed: an instruction outside the subset with its bytes, or an address without a page; "" if it succeeded. */
static inline const char *sim_problem(const struct sim *s) { return s->problem; }

/* Whether a pipeline's steps may be recalled instead of computed again; on by default. No result depends on it. */
static inline void sim_recall(struct sim *s, bool on) { s->recall_off = !on; }

/* The signals of a logical processor, read directly and not through counters. */
static inline struct signals *sim_signals(struct sim *s, unsigned thread) { return thread < s->threads ? s->signals[thread] : NULL; }

static inline void *signal_heap_get(void *self, size_t bytes) { (void)self; return calloc(1, bytes); }
static inline void signal_heap_put(void *self, void *at, size_t bytes) { (void)self; (void)bytes; free(at); }
/* Lets the taps allocate from the C library's heap. */
static inline void signals_attach_heap(struct signals *s)
{
	signals_attach_room(s, &(struct signal_room){ NULL, signal_heap_get, signal_heap_put });
}

#endif
