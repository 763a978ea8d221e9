/* pmu/sim/counters/signal.h: per-cycle activity and the taps that counters put on it.
 *
 * The model says what happened in which cycle, in any order that its timestamps come in; a tap
 * sees each cycle once, complete and in order, and applies cmask, inv and edge to the count of
 * that cycle. A cycle is closed only when it lies below every cursor of the core (allocate,
 * retire, RS drain), which the core says by signal_close. Only signals that a tap listens to
 * cost anything: signal_pulse and signal_level inline to the test of one bit.
 *
 * A plain tap (no cmask, no edge) does not care in which cycle things happen: they are summed by
 * signal at once, and the tap gets the sums when it is looked at. Its value is therefore exact
 * whenever the core is serialised, and runs ahead of the closed cycles in between by what is in
 * flight. The other taps keep a ring of SIGNAL_RING cycles; what comes to lie further ahead of the
 * oldest open cycle is counted in the ring's last cycle, and what lies before that cycle in the
 * oldest open one. A tap that asks no more than whether anything happened (cmask 1, or edge alone)
 * keeps one bit a cycle.
 *
 * AnyThread: a pair of threads has signals of its own, to which what either says is passed on. A tap there may hear one of
 * them alone, and count only while so many are awake: it sees each cycle when both threads have closed it.
 *
 * Encodings are not known here: counter.c turns register values into taps. */
#ifndef SIM_SIGNAL_H
#define SIM_SIGNAL_H

#include "pmu/base.h"

enum signal {
#define SIGNAL(name, kind, what) SIG_##name,
#include "pmu/sim/counters/signals.def"
#undef SIGNAL
	SIG_COUNT
};

#define TAPS_MAX 24

struct tap {
	bool on;
	uint64_t listen[(SIG_COUNT + 63) / 64]; /* the signals whose sum is the cycle's count */
	uint8_t cmask;  /* 0: add the count; else one for each cycle with count >= cmask */
	bool inv;       /* with cmask: count < cmask; without it: nothing */
	bool exact;     /* with cmask: count == cmask */
	bool edge;      /* only cycles whose condition was false in the cycle before; without cmask: of >= 1 */
	uint8_t from;   /* of a pair: bit i: hears thread i; 0: both */
	uint8_t awake;  /* of a pair: bit s: counts in cycles in which the threads that are awake, one bit each, are s; 0: in all.
	                   Beyond these cycles the condition is false. */
	uint64_t value; /* what has been counted in closed cycles; the owner wraps it to its width */
};

#define SIGNAL_RING 32768u /* cycles that may be open at a time; a power of two */

#define SIGNAL_WORDS ((SIG_COUNT + 63) / 64)

/* One a hardware thread. The rest of it is signal.c's; the head stands here for the inline ways. */
struct signals {
	uint64_t listening[SIGNAL_WORDS]; /* signals that some tap listens to */
	uint64_t seldom[SIGNAL_WORDS];    /* signals that the owner says on a longer way alone */
	bool any_seldom;                  /* some tap listens to one of these */
	bool any_lines;                   /* some tap listens to a signal of lines on their way, SIG_L1D_REPLACED to SIG_L3_MISS or from
	                                     SIG_L1D_REPLACED_MODIFIED on */
	uint64_t open;                    /* oldest cycle that is not closed */
	uint64_t version;                 /* another number whenever other signals are heard, or otherwise */
	struct signal_tape *tape;         /* what is said is only noted there; NULL: taps count it */
	struct signals *both;             /* of a thread: what its core's threads say together; NULL: it is alone */
	struct signals *half[2];          /* of such a pair: the threads */
	bool asleep;                      /* of a thread: it says nothing */
	uint64_t woke, slept;             /* ... the cycle since when it does, and since when not */
	struct signal_hearer {
		uint64_t sum;             /* what was said and no plain tap has got yet; anything while nobody listens */
		uint64_t *bits;           /* a bit a cycle, where there is one tap that wants that; else NULL */
		uint32_t near;            /* so many cycles from `open` on have their bit there; 0: signal.c must see it */
		bool more;                /* a sum is not enough */
	} hearer[SIG_COUNT];
};

/* What was said, in turn: a pulse in cycle `from`, or with `level` a level from there to `to`. Beyond `most` only counted. */
struct signal_said { uint64_t from, to; uint32_t n; uint8_t sig; bool level; };
struct signal_tape { uint32_t count, most; struct signal_said *said; };
/* Makes *s, which need not be initialised, hear what `like` hears, and note it. Not for signal_close and taps. */
void signals_note(struct signals *s, const struct signals *like, struct signal_tape *tape);

/* Bytes that signals_init needs at `memory`, and those that signals_attach needs at `ring`. */
size_t signals_bytes(void);
size_t signals_ring_bytes(void);
struct signals *signals_init(void *memory);
/* Gives the taps their ring (zeroed). Before, as on a thread that never ran, only plain taps count. */
void signals_attach(struct signals *s, void *ring);
/* The same, each tap's part when it is needed: a bit a cycle for cmask 1 and edge, counts a cycle beside it for more (zeroed;
 * kept). Without room a tap counts nothing and signals_starved says so from then on. */
struct signal_room {
	void *self;
	void *(*get)(void *self, size_t bytes);
	void (*put)(void *self, void *at, size_t bytes);
};
void signals_attach_room(struct signals *s, const struct signal_room *room);
bool signals_starved(const struct signals *s);
/* Gives back what was got; nothing counts any more. */
void signals_detach(struct signals *s);
bool signals_attached(const struct signals *s);

/* Makes `both` what two threads say together: for taps that AnyThread puts there. Both threads are asleep until
 * signal_skip. Its cycles are closed as far as those of each thread that is awake. */
void signals_pair(struct signals *both, struct signals *one, struct signals *other);
/* Which signals count as seldom listened to: any_seldom says whether one is. */
void signals_seldom(struct signals *s, const uint64_t seldom[SIGNAL_WORDS]);
/* Whether any tap listens. */
bool signals_any(const struct signals *s);
/* Both threads of a pair have been asleep below `cycle`; nothing where one is awake. */
void signal_idle(struct signals *both, uint64_t cycle);
/* The thread says no more until signal_skip. */
void signal_sleep(struct signals *s);

/* Replaces tap number t, from the oldest open cycle on. NULL switches it off. */
void signals_tap(struct signals *s, unsigned t, const struct tap *tap);
struct tap *signals_tap_get(struct signals *s, unsigned t);

void signal_pulse_heard(struct signals *s, enum signal sig, uint64_t cycle, unsigned n);
void signal_level_heard(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n);

static inline bool signal_heard(const struct signals *s, enum signal sig)
{
	return s->listening[sig / 64] >> (sig % 64) & 1;
}

/* Whether any of the signals first .. last is heard; both are constants. */
static inline __attribute__((always_inline)) bool signal_heard_any(const struct signals *s, enum signal first, enum signal last)
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

/* n things happened in `cycle`, which is not closed. */
static inline void signal_pulse(struct signals *s, enum signal sig, uint64_t cycle, unsigned n)
{
	if (__builtin_expect(signal_heard(s, sig), 0))
		signal_pulse_heard(s, sig, cycle, n);
}

/* The same for what happens with every uop: short when no count by the cycle is wanted. */
static inline __attribute__((always_inline)) void signal_pulse_often(struct signals *s, enum signal sig, uint64_t cycle, unsigned n)
{
	struct signal_hearer *h = &s->hearer[sig];
	if (h->more) {
		if (cycle - s->open >= h->near) {
			signal_pulse_heard(s, sig, cycle, n);
			return;
		}
		if (n)
			h->bits[cycle % SIGNAL_RING / 64] |= 1ull << (cycle % 64);
	}
	h->sum += n;
}

/* During from <= cycle < to the level of the signal was higher by n. */
static inline void signal_level(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n)
{
	if (__builtin_expect(signal_heard(s, sig), 0))
		signal_level_heard(s, sig, from, to, n);
}

/* All cycles below `cycle` are complete. */
void signal_close(struct signals *s, uint64_t cycle);
/* As signal_close, and what was said to lie at or beyond `cycle` or is in progress is forgotten:
 * the thread sleeps. Nothing is counted of the cycles below `cycle` that were not yet closed. */
void signal_skip(struct signals *s, uint64_t cycle);

#endif
