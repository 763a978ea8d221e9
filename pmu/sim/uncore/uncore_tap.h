/* pmu/sim/uncore/uncore_tap.h: taps on what happens beyond the cores, for any uncore box of a socket.
 *
 * A tap adds terms (a signal, and which of its units) of one socket and applies cmask, inv and edge to the sum of each
 * uncore cycle. It counts from when it is set. Encodings are not known here. */
#ifndef SIM_UNCORE_TAP_H
#define SIM_UNCORE_TAP_H

#include "pmu/sim/uncore/uncore.h"

#define UNCORE_TAPS 16      /* of a socket */
#define UNCORE_TERMS 6
#define UNITS_ALL 0xFFFFFFFFu

struct uncore_term { uint16_t signal; uint32_t units; }; /* bit n: unit n */
struct uncore_tap {
	struct uncore_term terms[UNCORE_TERMS];
	uint8_t term_count;
	uint8_t cmask;  /* 0: the sum; else one for each cycle with sum >= cmask */
	bool inv, edge; /* as in signal.h */
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
/* Frees what was allocated while taps were set. */
void uncore_taps_close(struct uncore_taps *t);

/* Sets tap n of a socket to value 0; NULL removes it. ST_FULL: no memory for what it needs. */
MUST_CHECK enum status uncore_tap_set(struct uncore_taps *t, unsigned socket, unsigned n, const struct uncore_tap *tap);
/* What it has counted. */
uint64_t uncore_tap_value(struct uncore_taps *t, unsigned socket, unsigned n);
/* Sums of signals without a threshold, shared by any number of counters: occurrences, or uncore cycles of a level, since
 * the machine was opened and somebody counted them. `change` 1: one more counter needs a signal of a socket; -1: one fewer.
 * ST_FULL: no memory. */
MUST_CHECK enum status uncore_total_want(struct uncore_taps *t, unsigned socket, enum uncore_signal sig, int change);
uint64_t uncore_total(const struct uncore_taps *t, unsigned socket, enum uncore_signal sig, uint32_t units);
/* The present uncore cycle. */
uint64_t uncore_taps_now(const struct uncore_taps *t);
/* Subscribes to bus locks from now on, even while no tap is set. */
void uncore_taps_watch_locks(struct uncore_taps *t);
/* Bus locks so far, as far as they were subscribed to: each empties all queues of all sockets. */
uint64_t uncore_taps_bus_locks(const struct uncore_taps *t);

#endif
