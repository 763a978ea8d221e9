/* pmu/sim/memory/uncore_ring.h: the rings of a socket: who is at which stop, and messages from one to another.
 *
 * Two rings, joined by SBos: on the first the devices, the links, the first half of the slices with the cores beside them, home
 * agent 0; on the second the other slices and home agent 1. A message takes the shorter way round, an uncore cycle a stop, in a
 * slot whose parity is that of its goal. */
#ifndef SIM_UNCORE_RING_H
#define SIM_UNCORE_RING_H

#include "pmu/sim/memory/memory_state.h"

/* A slice of the L3 and the core beside it share a stop. Numbers are the units of signals of a stop. */
enum { STOP_SLICE = 0, STOP_SBO = 28, STOP_HOME = 32, STOP_DEVICES = 34, STOP_LINK = 35, STOP_COUNT = 38 };

struct uncore_ring_message {
	unsigned socket, from, to; /* stops */
	uint64_t ring;             /* UTAG(AD), UTAG(AK), UTAG(BL) or UTAG(IV) */
	uint64_t tags;             /* of its entries in queues */
	uint64_t t;                /* core cycle in which it enters the queue of its sender */
};
/* Emits its slots at each stop that it passes, its entries in the queues of stops and SBos, and the credits that it needs. */
void uncore_ring_send(struct memory *s, const struct uncore_ring_message *g);
/* One that every stop receives, both ways round. */
void uncore_ring_broadcast(struct memory *s, unsigned socket, unsigned from, uint64_t t);

#endif
