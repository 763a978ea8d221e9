/* bench/uncore/uncore_latency.h: the third method: residence of a chase's loads in the uncore's queue.
 *
 * The uncore's counters run during the very windows that give a latency row its value. Occupancy of the socket's table of requests (Nehalem's read
 * tracker, later the TOR) over its inserts is the time from an entry's allocation to its deallocation: a residence, never a penalty. The rest of
 * the load-to-use latency is the path from the core to the queue and back. The same counters give the components of the guide's decomposition. */
#ifndef BENCH_QUEUE_H
#define BENCH_QUEUE_H

#include "bench/measure/loop.h"
#include "bench/uncore/latency_breakdown.h"
#include "bench/uncore/traffic.h"

const char *uncore_latency_verdict_name(enum uncore_latency_verdict v);
/* The verdict for a failed call: a fault, a time-out, or failed. */
enum uncore_latency_verdict uncore_latency_verdict_of(enum status st);

/* --- uncore_latency_report.c: JSON: an object, null for UNCORE_LATENCY_NONE. Table: lines below the row's own. */
void uncore_latency_json(struct text *t, const struct uncore_latency_result *q);
void uncore_latency_table_line(struct text *t, const struct uncore_latency_result *q);

/* Events counted; a pair of windows holds them all. */
#define UNCORE_LATENCY_EVENTS BESIDE_COUNTS_MOST

/* The uncore's counters beside a loop's row; l->beside points here. */
struct uncore_latency_loop {
	const char *names[UNCORE_LATENCY_EVENTS], *remote[2]; /* of uncore_latency.c's list, as uncore_plan takes them; NULL: none */
	struct traffic_method streams;
	struct uncore_plan plan, home_plan; /* home_plan: for a home in another socket; no slots if the home is this one */
	struct mapping lock;       /* page of the bus lock */
	uint64_t before[UNCORE_LATENCY_EVENTS];
	uint8_t event[UNCORE_EVENTS_MAX], home_event[UNCORE_EVENTS_MAX]; /* index in uncore_latency.c's list, of each slot */
	unsigned socket, home;     /* whose registers */
	uint32_t counted;          /* bit e: event e of uncore_latency.c's list is counted */
	enum status status;        /* the first that was not ST_OK */
	char failed[80];           /* what failed then */
	bool on, chase;            /* chase: the whole method; else the clock and, of a stream, its traffic */
};

/* Plans and starts the counters for a row, on the socket of the bench's core. A failure is recorded in out->queue. */
void uncore_latency_begin(struct loop *l, struct row_result *out);
/* Called around a window of the test; `keep`: number of the row's pair. */
void uncore_latency_before(struct loop *l);
void uncore_latency_after(struct loop *l, unsigned keep, bool longer);
/* Stops the counters and evaluates them. A row whose uncore clock changed loses its `ok`. The row's own value must be in *out. */
void uncore_latency_end(struct loop *l, struct row_result *out);
/* uncore_latency_bus.c: for processors without an uncore that count their bus queue, in windows of its own. */
void uncore_latency_bus(struct loop *l, struct row_result *out);

#endif
