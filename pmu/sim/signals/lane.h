/* pmu/sim/signals/lane.h: what a tap that is not plain has seen in each open cycle.
 *
 * A bitmap of the cycles in which anything happens; for a threshold of one (or none) a count of its bits suffices. Other taps also have a ring
 * with the pulses and the level change of each cycle; the bitmap tells which entries are in use. Closing follows the bitmap, so idle stretches
 * cost one step per 64 cycles. The ring holds the SIGNAL_RING cycles that may be open at once. */
#ifndef SIM_LANE_H
#define SIM_LANE_H

#include "pmu/sim/signals/signal.h"

#define RING_MASK (SIGNAL_RING - 1)
#define RING_WORDS (SIGNAL_RING / 64)

struct lane_cycle { int16_t pulses, change; };

struct lane {
	uint64_t *active;      /* [RING_WORDS] */
	struct lane_cycle *at; /* [SIGNAL_RING]; NULL: only a bitmap */
};

struct tap_state {
	int32_t level;    /* after the last closed cycle */
	int32_t least;    /* condition: count >= least */
	bool before;      /* the condition in the last closed cycle */
};

#define LANE_BITS_BYTES (RING_WORDS * sizeof(uint64_t))
#define LANE_COUNTS_BYTES (SIGNAL_RING * sizeof(struct lane_cycle))

/* Whether a tap sums the counts of cycles. */
static inline bool lane_adds(const struct tap *t) { return t->beyond || (!t->cmask && !t->edge); }

/* Sets the bits of the cycles from .. to - 1, fewer than the ring has. */
static inline void lane_set(struct lane *l, uint64_t from, uint64_t to)
{
	while (from < to) {
		const unsigned at = from % 64, n = to - from < 64 - at ? (unsigned)(to - from) : 64 - at;
		l->active[(from & RING_MASK) / 64] |= ~0ull >> (64 - n) << at;
		from += n;
	}
}

/* Empties a lane: only open cycles can hold anything, but a tap may be replaced while all are open. counts: it has a ring. */
void lane_clear(struct lane *l, bool counts);

/* Close the cycles from .. to - 1: add their counts to the tap's value. The first is for a tap with a bitmap alone. */
void lane_close_bits(struct lane *l, struct tap *tap, struct tap_state *state, uint64_t from, uint64_t to);
void lane_close_counts(struct lane *l, struct tap *tap, struct tap_state *state, uint64_t from, uint64_t to);

#endif
