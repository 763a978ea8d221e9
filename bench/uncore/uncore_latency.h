/* bench/uncore/uncore_latency.h: the third method: how long the uncore's queue holds each of a chase's loads.
 *
 * The uncore's counters run beside the very windows that give a latency row its value: occupancy of the
 * socket's table of requests (Nehalem's read tracker, later the TOR) over its inserts is the time from the entry's allocation to its deallocation
 * (a residence, never a penalty). What the load to use has beyond that is the way from the core to the queue
 * and back. The same counters give the parts of the guide's decomposition. */
#ifndef BENCH_QUEUE_H
#define BENCH_QUEUE_H

#include "bench/uncore/latency_breakdown.h"
#include "pmu/base.h"
#include "pmu/text.h"

enum uncore_latency_verdict {
	UNCORE_LATENCY_NONE,        /* not a row of loads served beyond the L2 */
	UNCORE_LATENCY_OK,
	UNCORE_LATENCY_UNPROVEN,    /* the counts are not those of the row's loads, or the clock moved */
	UNCORE_LATENCY_UNSUPPORTED, /* no uncore counters with these events here */
	UNCORE_LATENCY_FAULT        /* a register failed */
};
const char *uncore_latency_verdict_name(enum uncore_latency_verdict v);

struct uncore_latency_result {
	enum uncore_latency_verdict verdict;
	char reason[96];
	int64_t uncore_milli;      /* residence, uncore cycles */
	int64_t cycles_milli;      /* the same in core cycles */
	int64_t offset_milli;      /* load to use minus that: core to queue and back, core cycles */
	int64_t inserts_milli;     /* entries taken for each load */
	int64_t response_milli;    /* until the L3 had answered, uncore cycles; -1 unknown */
	int64_t miss_milli;        /* of the L3's misses: from the miss to the fill; -1 none */
	int64_t home_milli;        /* reads of this socket held by its home; -1 none */
	uint64_t uncore_hz;
	unsigned samples;
	bool bus;                  /* the in-order queue of a front-side bus, in processor clocks: uncore_latency_bus.c */
	struct latency_breakdown_result apart; /* the same loads by each box on their way */
};

/* The object of results.json: null for UNCORE_LATENCY_NONE. Lines below the row's own in the table. */
void uncore_latency_json(struct text *t, const struct uncore_latency_result *q);
void uncore_latency_table_line(struct text *t, const struct uncore_latency_result *q);

struct loop;
struct row_result;
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
