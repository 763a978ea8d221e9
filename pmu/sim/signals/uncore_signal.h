/* pmu/sim/signals/uncore_signal.h: what the memory system beyond the cores reports to uncore counters.
 *
 * The model calls the sink with uncore cycles, in the order of requests, not of time. Only signals that the sink subscribes
 * to cost anything. */
#ifndef SIM_UNCORE_SIGNAL_H
#define SIM_UNCORE_SIGNAL_H

#include "pmu/base.h"

enum uncore_signal {
#define UNCORE_SIGNAL(name, kind, unit, what) UNC_##name,
#include "pmu/sim/signals/uncore_signals.def"
#undef UNCORE_SIGNAL
	UNC_COUNT
};
enum uncore_tag {
#define UNCORE_TAG(name, what) UTAG_##name,
#include "pmu/sim/signals/uncore_tags.def"
#undef UNCORE_TAG
	UTAG_COUNT
};
#define UNCORE_TRAFFIC UNC_RING_AD /* the first of the signals that only PMON boxes count */
#define UTAG(name) (1ull << UTAG_##name)
#define UNCORE_UNITS 64

/* Properties of an occurrence besides its signal and unit, for filters. */
struct uncore_attributes {
	uint64_t tags;
	uint32_t line;          /* number of the line */
	uint32_t match[2];      /* of a packet on a link: the words that match registers are compared with */
	uint16_t opcode;        /* of a request in the L3's table, or of a message to a home */
	uint8_t node, thread;   /* home's node; requesting core * 2 + thread */
};

struct uncore_sink {
	void *self;
	uint64_t listen[(UNC_COUNT + 63) / 64]; /* bit n: signal n */
	bool traffic;                           /* it listens to UNCORE_TRAFFIC or a later signal */
	/* n occurrences in an uncore cycle (to == from), or a level that is higher by n during from <= cycle < to. */
	void (*deliver)(void *self, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t from, uint64_t to, unsigned n,
	             const struct uncore_attributes *about);
};

#endif
