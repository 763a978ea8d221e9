/* bench/uncore/uncore_latency.h: the third method: how long the uncore's queue holds each of a chase's loads.
 *
 * The uncore's counters run beside the very windows that give a latency row its value: occupancy of the
 * socket's table of requests (Nehalem's read tracker, later the TOR) over its inserts is the time from the entry's allocation to its deallocation
 * (a residence, never a penalty). What the load to use has beyond that is the way from the core to the queue
 * and back. The same counters give the parts of the guide's decomposition. */
#ifndef BENCH_QUEUE_H
#define BENCH_QUEUE_H

#include "bench/measure/loop.h"
#include "bench/uncore/latency_breakdown.h"
#include "bench/uncore/traffic.h"

const char *uncore_latency_verdict_name(enum uncore_latency_verdict v);

/* --- uncore_latency_report.c: the object of results.json: null for UNCORE_LATENCY_NONE. Lines below the row's own in the table. */
void uncore_latency_json(struct text *t, const struct uncore_latency_result *q);
void uncore_latency_table_line(struct text *t, const struct uncore_latency_result *q);

/* Events that are counted; a pair of windows holds them all. */
#define UNCORE_LATENCY_EVENTS BESIDE_COUNTS_MOST

/* The uncore's counters beside the row of a loop, whose l->beside it is. */
struct uncore_latency_loop {
	const char *names[UNCORE_LATENCY_EVENTS], *remote[2]; /* of uncore_latency.c's list, as uncore_plan takes them; NULL: there is none */
	struct traffic_method streams;
	struct uncore_plan plan, home_plan; /* home_plan: of a home in another socket; no slots where it is this one */
	struct mapping lock;       /* where the bus lock is made */
	uint64_t before[UNCORE_LATENCY_EVENTS];
	uint8_t event[UNCORE_EVENTS_MAX], home_event[UNCORE_EVENTS_MAX]; /* of uncore_latency.c's list, of each slot */
	unsigned socket, home;     /* whose registers */
	uint32_t counted;          /* bit e: event e of uncore_latency.c's list is counted */
	enum status status;        /* the first that was not ST_OK */
	bool on, chase;            /* chase: all of it, else the clock and what a stream has */
};

/* Plans and starts the counters for a row, on the socket of the bench's core. What cannot be is in out->queue. */
void uncore_latency_begin(struct loop *l, struct row_result *out);
/* Around a window of the test; pair number `keep` of the row. */
void uncore_latency_before(struct loop *l);
void uncore_latency_after(struct loop *l, unsigned keep, bool longer);
/* Stops, reduces, and takes `ok` from a row whose uncore clock moved. The row's own value must be in *out. */
void uncore_latency_end(struct loop *l, struct row_result *out);
/* uncore_latency_bus.c: where uncore_latency_begin found no uncore but the processor counts its bus' queue, by windows of its own. */
void uncore_latency_bus(struct loop *l, struct row_result *out);

#endif
