/* pmu/uncore.h: the uncore PMU driver: boxes of a socket, found, programmed, read, derived.
 *
 * Boxes are described in the tables (struct uncore_box); this engine knows no processor. A socket's
 * registers are reached through one of its logical processors, the speaker. All writes go through a
 * guarded backend, which puts back what was there. */
#ifndef PMU_UNCORE_H
#define PMU_UNCORE_H

#include "pmu/access.h"
#include "pmu/cpu.h"

#define UNCORE_SOCKETS_MAX 8
#define UNCORE_EVENTS_MAX  32

struct uncore {
	const struct cpu *cpu;
	unsigned sockets;
	uint16_t speaker[UNCORE_SOCKETS_MAX];
	const char *absent; /* why there is nothing to count with, NULL if there is */
};

/* Finds the sockets (CPUID leaf 0xB or 1 of each logical processor) and asks each one's boxes for a
 * register. ST_OK also when there is no uncore PMU: u->absent says why. */
MUST_CHECK enum status uncore_find(const struct access *a, const struct cpu *cpu, struct uncore *u);
/* The socket of a logical processor as uncore_find numbered it: sockets in the order of their first one. */
MUST_CHECK enum status uncore_socket(const struct access *a, const struct uncore *u, unsigned core, unsigned *socket);

/* Finds an event by name and its box; NULL if the processor has none of that name. */
const struct uncore_event *uncore_event_find(const struct processor *p, const char *name, const struct uncore_box **box);

struct uncore_slot {
	const struct uncore_event *event;
	const struct uncore_box *box;
	uint8_t run;
	uint8_t counter; /* general counter; fixed ones as event->fixed says */
};
struct uncore_plan {
	struct uncore_slot slots[UNCORE_EVENTS_MAX]; /* in the order asked for */
	uint8_t count, runs;
};
/* Packs events into runs, each into the first run with a free counter that can count it and with no other
 * value wanted of its extra register. ST_MISSING, ST_FULL: *problem names the event. */
MUST_CHECK enum status uncore_plan(const struct uncore *u, const char *const *names, unsigned n, struct uncore_plan *plan,
                                   const char **problem);

/* Programs a run of the plan on a socket: stop, selects off, overflow bits cleared, extra registers, selects,
 * a bus lock if one of the events is a queue's occupancy, counters zeroed, start. `lock_va` is a mapped window
 * address of two lines that may be changed, used for the bus lock only. */
MUST_CHECK enum status uncore_start(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run,
                                    unsigned socket, uint64_t lock_va);
/* Stops all counting of a socket's boxes and switches their selects off. Values stay readable. */
MUST_CHECK enum status uncore_stop(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run,
                                   unsigned socket);
/* Reads the events of a run into values[slot], at the counter's width; other slots are left alone. */
MUST_CHECK enum status uncore_values(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run,
                                   unsigned socket, uint64_t *values);
/* What a counter moved by from one reading to the next. */
uint64_t uncore_moved(const struct uncore_slot *s, uint64_t before, uint64_t after);

/* Empties all queues: one locked operation on two lines, on a core, through the measuring wrapper. */
MUST_CHECK enum status uncore_bus_lock(const struct access *a, unsigned core, uint64_t va);

/* --- derived quantities (tables/uncore_derived) ------------------------------------------------ */

enum derived_kind {
	DERIVED_RESIDENCE, /* uncore cycles an entry is held: occupancy / inserts. Never a penalty: entries of several
	                      cores overlap and each core waits its own full time (guide, after table 23) */
	DERIVED_BUSY,      /* busy cycles / requests */
	DERIVED_RATE,      /* 64 bytes * count * uncore clock / uncore cycles: bytes a second */
	DERIVED_DIFFERENCE /* over[0] + over[1] - under */
};
struct uncore_derived {
	const char *name;
	enum derived_kind kind;
	const char *over[2];  /* added up */
	const char *under;    /* RATE: the clock */
	const char *source;
};
extern const struct uncore_derived uncore_derived[];
extern const unsigned uncore_derived_count;
/* Value in thousandths (rate: bytes a second, whole) of the counts of its events. ST_RANGE: divided by nothing. */
MUST_CHECK enum status uncore_derive(const struct uncore_derived *d, const uint64_t over[2], uint64_t under, uint64_t uncore_hz,
                                     int64_t *value);

/* The guide's decomposition of a miss: miss = response + m_qhl * qhl + m_qpi * qpi. Given all but the part of the
 * link, gives that; latencies in thousandths of uncore cycles, shares in thousandths of the misses.
 * ST_RANGE: no miss was answered over the link. */
MUST_CHECK enum status uncore_link_latency(int64_t miss_milli, int64_t response_milli, int64_t qhl_milli, int64_t local_milli,
                                           int64_t remote_milli, int64_t *link_milli);

#endif
