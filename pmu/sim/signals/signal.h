/* pmu/sim/signals/signal.h: per-cycle activity, and the taps by which counters subscribe to it.
 *
 * The model emits what happened in which cycle, in the order of its timestamps' computation; a tap sees each cycle once,
 * complete and in order, and applies cmask, inv and edge to the count of that cycle. A cycle is closed (signal_close) only
 * when it lies below every cursor of the core (allocate, retire, RS drain). Only subscribed signals cost anything:
 * signal_pulse and signal_level inline to the test of one bit.
 *
 * A plain tap (no cmask, no edge) does not depend on the cycle: occurrences are summed by signal at once, and the tap gets
 * the sum when it is read. Its value is exact whenever the core is serialised, and in between ahead of the closed cycles by
 * what is in flight. The other taps keep a ring of SIGNAL_RING cycles; what lies further ahead of the oldest open cycle is
 * counted in the ring's last cycle, and what lies before it in the oldest open one. A tap that only needs to know whether
 * anything happened (cmask 1, or edge alone) keeps one bit a cycle.
 *
 * AnyThread: a pair of threads has signals of its own, to which both threads' are forwarded. A tap there may subscribe to
 * one of them, and count only while given threads are awake: it sees each cycle when both threads have closed it.
 *
 * Encodings are not known here: counter.c turns register values into taps.
 *
 * Not modelled: cycles further than SIGNAL_RING ahead of the oldest open one. */
#ifndef SIM_SIGNAL_H
#define SIM_SIGNAL_H

#include "pmu/base.h"

enum signal {
#define SIGNAL(name, kind, what) SIG_##name,
#include "pmu/sim/signals/signals.def"
#undef SIGNAL
	SIG_COUNT
};

#define TAPS_MAX 24

struct tap {
	bool on;
	uint64_t listen[(SIG_COUNT + 63) / 64]; /* subscribed signals; their sum is the cycle's count */
	uint8_t cmask;  /* 0: add the count; else one for each cycle with count >= cmask */
	bool inv;       /* with cmask: count < cmask; without it: nothing */
	bool exact;     /* with cmask: count == cmask */
	bool beyond;    /* with cmask: not one for each such cycle, but by how much count >= cmask - 1 is exceeded */
	bool edge;      /* only cycles whose condition was false in the previous cycle; without cmask: of >= 1 */
	uint8_t from;   /* of a pair: bit i: subscribes to thread i; 0: both */
	uint8_t awake;  /* of a pair: bit s: counts in cycles in which the set of awake threads, one bit each, is s; 0: in
	                   all. In other cycles the condition is false. */
	uint64_t value; /* counted in closed cycles; the owner wraps it to its width */
};

#define SIGNAL_RING 131072u /* cycles that may be open at once; a power of two */

#define SIGNAL_WORDS ((SIG_COUNT + 63) / 64)

/* One per hardware thread. signal.c owns the rest; the head is here for the inline paths. */
struct signals {
	uint64_t listening[SIGNAL_WORDS]; /* signals that a tap subscribes to */
	uint64_t seldom[SIGNAL_WORDS];    /* signals that the owner emits only on its slow path */
	bool any_seldom;                  /* a tap subscribes to one of these */
	bool any_lines;                   /* a tap subscribes to a signal of lines in flight, SIG_L1D_REPLACED to SIG_L3_MISS
	                                     or from SIG_L1D_REPLACED_MODIFIED on */
	uint64_t open;                    /* oldest cycle that is not closed */
	uint64_t version;                 /* changes whenever the subscriptions change */
	struct signal_tape *tape;         /* what is emitted is only recorded there; NULL: taps count it */
	struct signals *both;             /* of a thread: the signals of its core's pair; NULL: it is alone */
	struct signals *half[2];          /* of such a pair: the threads */
	bool asleep;                      /* of a thread: it emits nothing */
	uint64_t woke, slept;             /* ... the cycles in which it last woke and fell asleep */
	struct signal_subscriber {
		uint64_t sum;             /* emitted and not yet distributed to plain taps; undefined without subscribers */
		uint64_t *bits;           /* a bit a cycle, if one tap needs that; else NULL */
		uint32_t near;            /* that many cycles from `open` on have their bit there; 0: signal.c must see it */
		bool more;                /* a sum is not enough */
	} subscriber[SIG_COUNT];
};

/* What was emitted, in order: a pulse in cycle `from`, or with `level` a level from there to `to`. Beyond `most` only counted. */
struct signal_emission { uint64_t from, to; uint32_t n; uint8_t sig; bool level; };
struct signal_tape { uint32_t count, most; struct signal_emission *emitted; };
/* Makes *s, which need not be initialised, subscribe to what `like` subscribes to, and record it. Not for signal_close and taps. */
void signals_note(struct signals *s, const struct signals *like, struct signal_tape *tape);

/* Bytes that signals_init needs at `memory`. */
size_t signals_bytes(void);
struct signals *signals_init(void *memory);
/* Where the taps' rings come from: a bit a cycle for cmask 1 and edge, counts a cycle as well for more (zeroed; kept). Before that, as on a
 * thread that never ran, only plain taps count. Without memory a tap counts nothing, and signals_starved says so from then on. */
struct signal_room {
	void *self;
	void *(*get)(void *self, size_t bytes);
	void (*put)(void *self, void *at, size_t bytes);
};
void signals_attach_room(struct signals *s, const struct signal_room *room);
bool signals_starved(const struct signals *s);
/* Frees what was allocated; nothing counts any more. */
void signals_detach(struct signals *s);
bool signals_attached(const struct signals *s);

/* Makes `both` the signals of two threads together, for taps with AnyThread. Both threads are asleep until signal_skip. Its
 * cycles are closed as far as those of each thread that is awake. */
void signals_pair(struct signals *both, struct signals *one, struct signals *other);
/* Which signals count as seldom subscribed to; any_seldom tells whether one is. */
void signals_seldom(struct signals *s, const uint64_t seldom[SIGNAL_WORDS]);
/* Whether any tap listens. */
bool signals_any(const struct signals *s);
/* Both threads of a pair were asleep below `cycle`; no effect if one is awake. */
void signal_idle(struct signals *both, uint64_t cycle);
/* The thread emits nothing more until signal_skip. */
void signal_sleep(struct signals *s);

/* Replaces tap number t, from the oldest open cycle on. NULL removes it. */
void signals_tap(struct signals *s, unsigned t, const struct tap *tap);
struct tap *signals_tap_get(struct signals *s, unsigned t);

void signal_pulse_deliver(struct signals *s, enum signal sig, uint64_t cycle, unsigned n);
void signal_level_deliver(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n);

static inline bool signal_subscribed(const struct signals *s, enum signal sig)
{
	return s->listening[sig / 64] >> (sig % 64) & 1;
}

/* Whether any of the signals first .. last is subscribed to; both are constants. */
static inline __attribute__((always_inline)) bool signal_subscribed_any(const struct signals *s, enum signal first, enum signal last)
{
	uint64_t sum = 0;
	for (unsigned w = first / 64; w <= last / 64; w++) {
		uint64_t mask = ~0ull;
		if (w == first / 64)
			mask &= ~0ull << (first % 64);
		if (w == last / 64)
			mask &= ~0ull >> (63 - last % 64);
		sum |= s->listening[w] & mask;
	}
	return sum != 0;
}

/* n occurrences in `cycle`, which is not closed. */
static inline void signal_pulse(struct signals *s, enum signal sig, uint64_t cycle, unsigned n)
{
	if (__builtin_expect(signal_subscribed(s, sig), 0))
		signal_pulse_deliver(s, sig, cycle, n);
}

/* The same for what occurs with every uop: fast if no count per cycle is needed. */
static inline __attribute__((always_inline)) void signal_pulse_often(struct signals *s, enum signal sig, uint64_t cycle, unsigned n)
{
	struct signal_subscriber *h = &s->subscriber[sig];
	if (h->more) {
		if (cycle - s->open >= h->near) {
			signal_pulse_deliver(s, sig, cycle, n);
			return;
		}
		if (n)
			h->bits[cycle % SIGNAL_RING / 64] |= 1ull << (cycle % 64);
	}
	h->sum += n;
}

/* During from <= cycle < to the level of the signal is higher by n. */
static inline void signal_level(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n)
{
	if (__builtin_expect(signal_subscribed(s, sig), 0))
		signal_level_deliver(s, sig, from, to, n);
}

/* All cycles below `cycle` are complete. */
void signal_close(struct signals *s, uint64_t cycle);
/* As signal_close, and forgets what was emitted at or beyond `cycle` or is in progress: the thread sleeps. Cycles below
 * `cycle` that were not closed are not counted. */
void signal_skip(struct signals *s, uint64_t cycle);

#endif
