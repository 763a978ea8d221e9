/* pmu/sim/uncore/uncore.h: what the memory beyond the cores reports to uncore counters.
 *
 * The model calls the sink with uncore cycles, in the order of requests, not of time. Only signals that the sink subscribes
 * to cost anything. */
#ifndef SIM_UNCORE_H
#define SIM_UNCORE_H

#include "pmu/sim/memory/memory.h"

enum uncore_signal {
#define UNCORE_SIGNAL(name, kind, unit, what) UNC_##name,
#include "pmu/sim/uncore/uncore_signals.def"
#undef UNCORE_SIGNAL
	UNC_COUNT
};

struct uncore_sink {
	void *self;
	uint64_t listen[(UNC_COUNT + 63) / 64]; /* bit n: signal n */
	/* n occurrences in an uncore cycle; during from <= cycle < to the level is higher by n. */
	void (*pulse)(void *self, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t cycle, unsigned n);
	void (*level)(void *self, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t from, uint64_t to, unsigned n);
};

/* From now on; the sink is copied. NULL: no subscriber. */
void memory_uncore(struct memory *s, const struct uncore_sink *sink);
/* A locked operation on two lines locks the whole machine at a core cycle. */
void memory_bus_lock(struct memory *s, uint64_t core_cycle);
/* The uncore cycle in which a core cycle begins. */
uint64_t memory_uncore_cycle(const struct memory *s, uint64_t core_cycle);

#endif
