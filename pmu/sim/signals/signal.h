/* pmu/sim/signals/signal.h: per-cycle activity, and the taps by which counters subscribe to it.
 *
 * The model emits occurrences with their cycles, in the order in which it computes them; a tap sees each cycle once,
 * complete and in order, and applies cmask, inv and edge to the count of that cycle. A cycle is closed (signal_close) only
 * when it lies below every cursor of the core (allocate, retire, RS drain). Only subscribed signals cost anything:
 * signal_pulse and signal_level inline to the test of one bit.
 *
 * A plain tap (no cmask, no edge) does not depend on the cycle: occurrences are summed per signal at once, and the tap gets
 * the sum when it is read. Its value is exact whenever the core is serialised; in between it is ahead of the closed cycles by
 * what is in flight. Other taps keep a ring of SIGNAL_RING cycles: an occurrence further ahead of the oldest open cycle is
 * counted in the ring's last cycle, one before it in the oldest open cycle. A tap that only needs to know whether anything
 * happened (cmask 1, or edge alone) keeps one bit per cycle.
 *
 * AnyThread: a pair of threads has signals of its own, to which those of both threads are forwarded. A tap there may subscribe
 * to one thread, and count only while given threads are awake: it sees each cycle when both threads have closed it.
 *
 * This file knows no encodings: counter.c turns register values into taps.
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
	bool inv;       /* with cmask: count < cmask; without it: no effect */
	bool exact;     /* with cmask: count == cmask */
	bool beyond;    /* with cmask: each such cycle adds count - (cmask - 1), not one */
	bool edge;      /* only cycles whose condition was false in the previous cycle; without cmask: of >= 1 */
	uint8_t from;   /* of a pair: bit i: subscribes to thread i; 0: both */
	uint8_t awake;  /* of a pair: bit s: counts in cycles in which the set of awake threads, one bit each, is s; 0: in
	                   all. In other cycles the condition is false. */
	uint64_t value; /* counted in closed cycles; the owner wraps it to its width */
};

#define SIGNAL_RING 131072u /* cycles that may be open at once; a power of two */

#define SIGNAL_WORDS ((SIG_COUNT + 63) / 64)

/* One per hardware thread. This is the head, for the inline paths; the rest is private to signal.c. */
struct signals {
	uint64_t listening[SIGNAL_WORDS]; /* signals that a tap subscribes to */
	uint64_t seldom[SIGNAL_WORDS];    /* signals that the owner emits only on its slow path */
	bool any_seldom;                  /* a tap subscribes to one of these */
	bool any_lines;                   /* a tap subscribes to a signal of lines in flight, SIG_L1D_REPLACED to SIG_L3_MISS
	                                     or from SIG_L1D_REPLACED_MODIFIED on */
	uint64_t open;                    /* oldest cycle that is not closed */
	uint64_t version;                 /* changes whenever the subscriptions change */
	struct signal_tape *tape;         /* emissions are only recorded there; NULL: taps count them */
	struct signals *both;             /* of a thread: the signals of its core's pair; NULL: it is alone */
	struct signals *half[2];          /* of such a pair: the threads */
	bool asleep;                      /* of a thread: it emits nothing */
	uint64_t woke, slept;             /* ... the cycles in which it last woke and fell asleep */
	struct signal_subscriber {
		uint64_t sum;             /* emitted but not yet distributed to plain taps; undefined without subscribers */
		uint64_t *bits;           /* one bit per cycle, if exactly one tap needs that; else NULL */
		uint32_t near;            /* number of cycles from `open` on with a bit there; 0: signal.c must see each pulse */
		bool more;                /* a sum is not enough */
	} subscriber[SIG_COUNT];
};

/* Emissions in order: a pulse in cycle `from`, or with `level` a level from there to `to`. Those beyond `most` are only counted. */
struct signal_emission { uint64_t from, to; uint32_t n; uint8_t sig; bool level; };
struct signal_tape { uint32_t count, most; struct signal_emission *emitted; };
/* Makes *s, which need not be initialised, subscribe to what `like` subscribes to, and record it. It must not be closed or get taps. */
void signals_note(struct signals *s, const struct signals *like, struct signal_tape *tape);

/* Bytes that signals_init needs at `memory`. */
size_t signals_bytes(void);
struct signals *signals_init(void *memory);
/* Allocates the taps' rings, zeroed and kept: one bit per cycle for cmask 1 and edge, for others counts as well. Until it is attached, as on a
 * thread that never ran, only plain taps count. A tap that gets no memory counts nothing, and signals_starved is true from then on. */
struct signal_room {
	void *self;
	void *(*get)(void *self, size_t bytes);
	void (*put)(void *self, void *at, size_t bytes);
};
void signals_attach_room(struct signals *s, const struct signal_room *room);
bool signals_starved(const struct signals *s);
/* Removes all taps and frees their memory. */
void signals_detach(struct signals *s);
bool signals_attached(const struct signals *s);

/* Makes `both` the signals of two threads together, for taps with AnyThread. Both threads are asleep until signal_skip. Its
 * cycles are closed as far as those of each thread that is awake. */
void signals_pair(struct signals *both, struct signals *one, struct signals *other);
/* Sets the signals that the owner emits only on its slow path; any_seldom tells whether one is subscribed to. */
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

/* The same for signals that occur with every uop: fast if no count per cycle is needed. */
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

/* Raises the signal's level by n during from <= cycle < to. */
static inline void signal_level(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n)
{
	if (__builtin_expect(signal_subscribed(s, sig), 0))
		signal_level_deliver(s, sig, from, to, n);
}

/* All cycles below `cycle` are complete. */
void signal_close(struct signals *s, uint64_t cycle);
/* After sleep: the thread wakes in `cycle`. Discards all that is open, at and beyond `cycle` too, and levels in progress; open
 * cycles below `cycle` are not counted. */
void signal_skip(struct signals *s, uint64_t cycle);

#endif
