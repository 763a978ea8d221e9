/* pmu/sim/machine/event_map.h: maps event codes to signals, by a machine's event map (tables/machines/maps/).
 *
 * These are the simulator's own maps, from libpfm4 and the vendor's event files, with their names; the drivers above the
 * backend have others, from the manuals. */
#ifndef SIM_COUNTER_EVENT_H
#define SIM_COUNTER_EVENT_H

#include "pmu/base.h"
#include "pmu/sim/machine/machine.h"
#include "pmu/sim/signals/signal.h"

#define EVENT_SIGNALS 16

/* The condition of a precise event on a retired instruction; a map writes its name in lower case. */
#define PRECISE_CONDITIONS(X) \
	X(NO) X(INSTRUCTIONS) X(UOPS_UNFUSED) X(UOPS_FUSED) X(BRANCHES) X(BRANCH_COND) X(CALL) X(RETURN) X(TAKEN) \
	X(MISPREDICTED) X(MISPREDICTED_COND) X(MISPREDICTED_CALL) X(LOADS) X(STORES) X(LATENCY) X(L1) X(LFB) X(L2) \
	X(L3_UNSHARED) X(L3_CLEAN) X(L3_MODIFIED) X(L3_OTHER) X(L3_ANY) X(L3_MISS) X(L2_MISS) X(L1_MISS) X(L1_MISS_LFB) \
	X(REMOTE_CACHE) X(REMOTE_CLEAN) X(REMOTE_MODIFIED) X(LOCAL_DRAM) X(REMOTE_DRAM) X(LOAD_WALK) X(STORE_WALK) X(LOCKED) \
	X(FP_ASSIST) X(WALK) X(NOT_TAKEN_PREDICTED) X(NOT_TAKEN_MISPREDICTED) X(TAKEN_PREDICTED) X(TAKEN_MISPREDICTED) \
	X(SPLIT_LOADS) X(SPLIT_STORES) X(PACKED_SINGLE) X(PACKED_DOUBLE) X(SCALAR_SINGLE) X(SCALAR_DOUBLE) X(X87)
enum precise {
#define X(name) PRECISE_##name,
	PRECISE_CONDITIONS(X)
#undef X
	PRECISE_COUNT
};
_Static_assert(PRECISE_COUNT <= 64, "a mask of them has 64 bits");

enum event_flag {
	EVENT_CYCLES = 1,      /* counts cycles in which the condition holds, not occurrences */
	EVENT_BUS_CLOCK = 2,   /* the signal counts core cycles; the event counts bus clocks */
	EVENT_OFFCORE_0 = 4,   /* an OFFCORE_RESPONSE register, 0x1A6, selects what it counts */
	EVENT_OFFCORE_1 = 64,  /* ... 0x1A7 */
	EVENT_UNMODELLED = 8,  /* known by name only; the model has no such signal */
	EVENT_EXACT = 16,      /* the umask is a code, not a set of bits */
	EVENT_TAGGED = 32,     /* counted by the load-latency facility at retirement */
	EVENT_RETIREMENT = 128,/* no signal: counted from retired instructions by its precise condition */
	EVENT_EXACTLY_64 = 512,/* counts cycles in which the sum is exactly 64: one signal pulses 64, the others add to it */
	EVENT_TSC_CLOCK = 1024,/* the signal counts core cycles; the event counts TSC ticks in them */
	EVENT_PRECISE = 2048,  /* no condition here, but the processor can sample it */
	EVENT_REQUESTS = 256,  /* signals[0] is a mask of request types beyond the L2, whatever the response */
	EVENT_FRONTEND = 1 << 24, /* MSR 0x3F7 selects what it counts */
	/* NetBurst */
	EVENT_INDEPENDENT = 1 << 12,    /* belongs to no thread: counts whichever is selected */
	EVENT_FRONT_END = 1 << 13,      /* counts the retired uops that an ESCR of TAGS_FRONT_END tagged */
	EVENT_EXECUTION = 1 << 14,      /* ... of TAGS_EXECUTION tagged, only at retirement: bit n of the mask selects uops with tag bit n */
	EVENT_TAGS_FRONT_END = 1 << 15,
	EVENT_TAGS_EXECUTION = 1 << 16,
	EVENT_METRIC = 1 << 17,         /* counts replayed uops while the registers of replay tagging hold `enable` and `vert` */
	EVENT_FILTER = 1 << 18,         /* its mask is not a sum of bits: the row counts if mask & bits == value */
	EVENT_UNLESS = 1 << 19,         /* ... if it is not */
	EVENT_SHARED = 1 << 20,         /* ... and only where several cores share the bus */
	EVENT_ESCR0 = 1 << 21, EVENT_ESCR1 = 1 << 22, /* only the first, the second ESCR of its unit detects it */
	EVENT_BESIDE = 1 << 23,         /* counts only beside another event */
};

/* The event that must be detected for another one to count: by the first ESCR of its unit, the second or either. */
#define BESIDE_EITHER 2u
struct event_beside {
	uint16_t unit, mask; /* mask 0: the same mask; else at least these bits */
	uint8_t escr, select;
};

struct sim_event {
	uint16_t unit;         /* NetBurst: first ESCR of the unit that detects it; else 0 */
	uint16_t select;       /* AMD: 12 bits */
	uint16_t value, bits;  /* NetBurst: of the mask; for bit n both are 1 << n */
	uint16_t umask;        /* 15:8 from the second unit mask; NetBurst: unused */
	uint8_t counters;      /* mask of general counters that can count it; up to version 4 of 0-3, which holds for 4-7 too */
	uint32_t flags;        /* enum event_flag */
	uint32_t enable, vert; /* EVENT_METRIC: the metric in IA32_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT */
	struct event_beside beside;
	uint8_t precise;       /* enum precise */
	uint8_t signal_count;
	uint16_t signals[EVENT_SIGNALS]; /* which are added */
	const char *name;
	const char *why;       /* NetBurst: why it counts 0 (unmodelled, wrong ESCR, missing companion event), or NULL */
};

/* A machine's event map. */
struct event_map {
	unsigned count;
	bool units; /* a NetBurst map: its rows name units */
	const struct sim_event *rows;
};

/* Reads and checks the text of an event map. `at`: event_map_bytes() of it for the rows, aligned as a pointer, which *out
 * then refers to; NULL: only checks it. On failure `problem` (capacity bytes) is one line,
 * "FILE:LINE: column: what is wrong, what is allowed". */
size_t event_map_bytes(const char *text, size_t bytes);
MUST_CHECK enum status event_map_read(const char *file_name, const char *text, size_t bytes, void *at, struct event_map *out,
                                      char *problem, size_t capacity);
/* Bytes that a machine's map needs; reads it into `at` and connects it: m->events. `m` is as machine_read left it. */
size_t event_map_load_bytes(const struct machine *m);
MUST_CHECK enum status event_map_load(struct machine *m, void *at);

/* What an event code counts: a row with exactly this umask, or one row for each of its bits. 0 rows: unknown code. */
#define EVENT_ROWS 16u
unsigned sim_event_find(const struct event_map *map, unsigned select, unsigned umask, const struct sim_event *rows[EVENT_ROWS]);
/* The event select in a select register's value: 8 bits, 12 on AMD. */
unsigned sim_event_select(const struct machine *m, uint64_t value);
/* The unit mask in it: 8 bits, 16 with a second unit mask. */
unsigned sim_event_umask(const struct machine *m, uint64_t value);
/* What machine files call an event: umask * 256 + the select's lower 8 bits. */
unsigned sim_event_code(const struct machine *m, uint64_t value);
/* Adds to listen[] all signals of requests beyond the L2 whose type is in `requests` (order of OFFCORE_RESPONSE bits 0 to
 * 7) and whose response is in `responses` (order of bits 8 to 15; from 8 on another complex's or node's of the socket: OFFCORE_..._NEAR_). */
#define OFFCORE_RESPONSES_ANY 0x7FFu
void sim_offcore_listen(unsigned requests, unsigned responses, uint64_t *listen);
/* Adds to listen[] the signals of an OFFCORE_RESPONSE value. false: it selects requests or responses that the model does
 * not distinguish. */
bool sim_offcore_signals(const struct machine *m, uint64_t value, uint64_t *listen);

#endif
