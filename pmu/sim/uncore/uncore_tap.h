/* pmu/sim/uncore/uncore_tap.h: counts what happens beyond the cores, for any uncore box of a socket.
 *
 * A watch adds up parts (a signal, its units, required tags) of one socket that pass its filter, from its beginning on. With
 * a threshold it applies cmask, inv and edge to the sum of each uncore cycle. This file knows no encodings. */
#ifndef SIM_UNCORE_TAP_H
#define SIM_UNCORE_TAP_H

#include "pmu/sim/memory/memory.h"

#define UNCORE_PARTS 16
#define UNITS_ALL UINT64_MAX

struct uncore_part { uint16_t signal; uint8_t times; uint64_t units, tags; }; /* units: bit n: unit n; tags: all are required */
/* A filter: each condition that is on must hold. */
struct uncore_pass {
	bool by_opcode, by_node, by_state, by_thread, by_line, by_match, by_bank, by_region;
	uint8_t thread, rank, region;
	uint32_t region_lines;           /* lines of each region of a node */
	uint16_t banks;                  /* of the rank, bit n: bank n */
	uint16_t opcode, nodes;          /* bit n: home in node n */
	uint64_t states;                 /* any of these tags */
	uint32_t line, line_mask;
	uint32_t match[2], mask[2];
};
struct uncore_watch {
	struct uncore_part parts[UNCORE_PARTS];
	uint8_t part_count;
	uint8_t cmask;  /* 0: the sum; else one for each cycle with sum >= cmask */
	bool inv, edge, beyond; /* as in signal.h */
	struct uncore_pass filter;
};

/* The machine around the taps. `now` is the core cycle below which nothing can happen any more. */
struct uncore_tap_env {
	void *self;
	uint64_t (*now)(void *self);
	void *(*get)(void *self, size_t bytes); /* zeroed memory, NULL when there is none */
	void (*put)(void *self, void *at, size_t bytes);
};

struct uncore_taps;
size_t uncore_taps_bytes(void);
struct uncore_taps *uncore_taps_init(void *at, const struct machine *m, struct memory *memory, const struct uncore_tap_env *env);
/* Frees what was allocated while something was watched. */
void uncore_taps_close(struct uncore_taps *t);

/* Counts from 0, from now on; *number identifies the watch until uncore_watch_end. ST_FULL: no memory, or too many. */
MUST_CHECK enum status uncore_watch_begin(struct uncore_taps *t, unsigned socket, const struct uncore_watch *watch, unsigned *number);
void uncore_watch_end(struct uncore_taps *t, unsigned socket, unsigned number);
/* What it has counted. */
uint64_t uncore_watch_value(struct uncore_taps *t, unsigned socket, unsigned number);
/* Whether it counts cycles, not occurrences: a level, or a threshold without edge. */
bool uncore_watch_is_time(const struct uncore_watch *watch);
/* The present uncore cycle. */
uint64_t uncore_taps_now(const struct uncore_taps *t);
/* Reports an occurrence that a box itself sees, in the present cycle. */
void uncore_taps_emit(struct uncore_taps *t, unsigned socket, unsigned unit, enum uncore_signal sig);
/* Reports a level (to > from) or an occurrence (to == from) from outside the memory model, with tags. */
void uncore_taps_level(struct uncore_taps *t, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t from, uint64_t to, uint64_t tags);
/* Sets the function that is called with the present uncore cycle before anything is read: it reports levels up to then. */
void uncore_taps_refresh(struct uncore_taps *t, void (*refresh)(void *self, uint64_t now), void *self);
/* Subscribes to bus locks from now on, even while nothing is watched. */
void uncore_taps_watch_locks(struct uncore_taps *t);
/* Number of bus locks while they were subscribed to; each empties all queues of all sockets. */
uint64_t uncore_taps_bus_locks(const struct uncore_taps *t);

#endif
