/* pmu/sim/counters/counter_event.h: event codes to signals, one map per processor family.
 *
 * This is the simulator's own map, from libpfm4 and the vendor's event files, with their names; the drivers above the
 * backend have another one, from the manuals. */
#ifndef SIM_COUNTER_EVENT_H
#define SIM_COUNTER_EVENT_H

#include "pmu/base.h"
#include "pmu/sim/machine/machine.h"
#include "pmu/sim/counters/signal.h"

#define EVENT_SIGNALS 16

/* The condition of a precise event on a retired instruction. */
enum precise {
	PRECISE_NO, PRECISE_INSTRUCTIONS, PRECISE_UOPS_UNFUSED, PRECISE_UOPS_FUSED, PRECISE_BRANCHES, PRECISE_BRANCH_COND,
	PRECISE_CALL, PRECISE_RETURN, PRECISE_TAKEN, PRECISE_MISPREDICTED, PRECISE_MISPREDICTED_COND, PRECISE_MISPREDICTED_CALL,
	PRECISE_LOADS, PRECISE_STORES, PRECISE_LATENCY, PRECISE_L1, PRECISE_LFB, PRECISE_L2, PRECISE_L3_UNSHARED,
	PRECISE_L3_CLEAN, PRECISE_L3_MODIFIED, PRECISE_L3_OTHER, PRECISE_L3_ANY, PRECISE_L3_MISS, PRECISE_L2_MISS, PRECISE_L1_MISS, PRECISE_L1_MISS_LFB,
	PRECISE_REMOTE_CACHE, PRECISE_REMOTE_CLEAN, PRECISE_REMOTE_MODIFIED, PRECISE_LOCAL_DRAM, PRECISE_REMOTE_DRAM,
	PRECISE_LOAD_WALK, PRECISE_STORE_WALK, PRECISE_LOCKED, PRECISE_FP_ASSIST,
	PRECISE_COUNT
};

enum event_flag {
	EVENT_CYCLES = 1,      /* counts cycles in which the condition holds, not occurrences */
	EVENT_BUS_CLOCK = 2,   /* the signal counts core cycles; the event counts bus clocks */
	EVENT_OFFCORE_0 = 4,   /* an OFFCORE_RESPONSE register, 0x1A6, says what it counts */
	EVENT_OFFCORE_1 = 64,  /* ... 0x1A7 */
	EVENT_UNMODELLED = 8,  /* known by name only; the model has no such signal */
	EVENT_EXACT = 16,      /* the umask is a code, not a set of bits */
	EVENT_TAGGED = 32,     /* counted by the load-latency facility at retirement */
	EVENT_RETIREMENT = 128,/* no signal: counted from retired instructions by its precise condition */
	EVENT_EXACTLY_64 = 512,/* counts cycles in which the sum is exactly 64: one signal pulses 64, the others add to it */
	EVENT_REQUESTS = 256,  /* signals[0] is a mask of request types beyond the L2, whatever the response */
};

struct sim_event {
	uint8_t select, umask;
	uint8_t counters;      /* mask of general counters 0-3 (and 4-7 as 0-3) that can count it */
	uint16_t flags;        /* enum event_flag */
	uint8_t precise;       /* enum precise */
	uint8_t signal_count;
	uint16_t signals[EVENT_SIGNALS]; /* their sum */
	const char *name;
};

/* What an event code of a machine's map counts: a row with exactly this umask, or one row for each of its bits (up to 8
 * rows). 0 rows: unknown code. */
unsigned sim_event_find(const char *map, uint8_t select, uint8_t umask, const struct sim_event *rows[8]);
/* Adds to listen[] all signals of requests beyond the L2 whose type is in `requests` (order of OFFCORE_RESPONSE bits 0 to
 * 7) and whose response is in `responses` (order of bits 8 to 15). */
void sim_offcore_listen(unsigned requests, unsigned responses, uint64_t *listen);
/* Adds to listen[] the signals of an OFFCORE_RESPONSE value. false: it asks for requests or responses that the model does
 * not distinguish. */
bool sim_offcore_signals(const char *map, uint64_t value, uint64_t *listen);
/* All rows of a map; NULL if there is no such map. */
const struct sim_event *sim_event_map(const char *map, unsigned *n);

#endif
