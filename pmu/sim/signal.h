/* pmu/sim/signal.h: per-cycle activity and the taps that counters put on it.
 *
 * The model says what happened in which cycle, in any order that its timestamps come in; a tap
 * sees each cycle once, complete and in order, and applies cmask, inv and edge to the count of
 * that cycle. A cycle is closed only when it lies below every cursor of the core (allocate,
 * retire, RS drain), which the core says by signal_close. Only signals that a tap listens to
 * cost anything.
 *
 * Encodings are not known here: counter.c turns register values into taps. */
#ifndef SIM_SIGNAL_H
#define SIM_SIGNAL_H

#include "pmu/base.h"

enum signal {
#define SIGNAL(name, kind, what) SIG_##name,
#include "pmu/sim/signals.def"
#undef SIGNAL
	SIG_COUNT
};

#define TAPS_MAX 24

struct tap {
	bool on;
	uint64_t listen[(SIG_COUNT + 63) / 64]; /* the signals whose sum is the cycle's count */
	uint8_t cmask;  /* 0: add the count; else one for each cycle with count >= cmask */
	bool inv;       /* with cmask: count < cmask */
	bool edge;      /* only cycles whose condition was false in the cycle before */
	uint64_t value; /* what has been counted in closed cycles; the owner wraps it to its width */
};

struct signals; /* one a hardware thread; signal.c */

/* Bytes that signals_init needs at `memory`. */
size_t signals_bytes(void);
struct signals *signals_init(void *memory);

/* Replaces tap number t, from the next open cycle on. NULL switches it off. */
void signals_tap(struct signals *s, unsigned t, const struct tap *tap);
struct tap *signals_tap_get(struct signals *s, unsigned t);

/* n things happened in `cycle`, which is not closed. */
void signal_pulse(struct signals *s, enum signal sig, uint64_t cycle, unsigned n);
/* During from <= cycle < to the level of the signal was higher by n. */
void signal_level(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n);
/* All cycles below `cycle` are complete. */
void signal_close(struct signals *s, uint64_t cycle);

#endif
