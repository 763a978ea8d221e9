/* bench/counting/stat.h: counts a user's events while a workload runs: `stallmeter stat`, and the keys count, metrics, workload and interval_ms of
 * a stick.
 *
 * Core events are counted on each running core and summed; uncore events in all boxes of all sockets. Requests that exceed the counters are split
 * over several runs of the same workload; nothing is multiplexed. The measuring wrapper reads a core's counters around the kernel; uncore counters
 * are read before and after it. So the preparation of the working set is not counted, nor is the first window of each run, in which the wrapper's
 * code and data are cold. */
#ifndef BENCH_COUNTING_STAT_H
#define BENCH_COUNTING_STAT_H

#include "bench/counting/request.h"
#include "bench/counting/stat_workload.h"
#include "pmu/counters/topdown.h"

#define STAT_BATCHES_MAX 12u

/* Events the planner takes at once; the rest forms another batch with runs of its own. */
struct stat_core_batch { struct plan plan; unsigned count; uint16_t request[PLAN_EVENTS_MAX]; };
struct stat_uncore_batch { struct uncore_plan plan; unsigned count; uint16_t request[UNCORE_EVENTS_MAX]; };

struct stat_plan {
	struct request_list *requests;
	struct stat_core_batch core[STAT_BATCHES_MAX];
	struct stat_uncore_batch uncore[STAT_BATCHES_MAX];
	unsigned core_batches, uncore_batches, runs;
	struct plan topdown;                /* the last run, if shares of slots are requested; else without slots */
};

/* The counts of one run. */
struct stat_run {
	uint64_t ticks, units, windows;     /* of the windows counted: TSC ticks, units of work of all cores */
	uint64_t read_ticks;                /* TSC ticks from the reading of the uncore's counters before each window to that after it */
	uint64_t instructions, cycles;      /* of all cores, by fixed counters; without those 0, and for cycles the user's own count */
	bool known;                         /* instructions and cycles are valid */
};
struct stat_value {
	bool counted, unmodelled;           /* unmodelled: a simulated machine knows the event by name only */
	const char *unmodelled_why;         /* the reason in its map; NULL or "": none */
	uint16_t run;
	uint64_t value;                     /* of all cores, or of all boxes of all sockets */
	uint64_t by_box[UNCORE_SOCKETS_MAX][UNCORE_INSTANCES_MAX];
	uint64_t by_core[STAT_CORES_MAX], cycles_by_core[STAT_CORES_MAX]; /* cycles: of the same windows, if the run counts them */
};
struct stat_metric { bool known; int64_t milli; const char *why; unsigned first_run, last_run; /* of its events: the workload ran once for each run */ };

struct stat_result {
	const struct stat_plan *plan;
	const struct stat_workload *workload;
	struct stat_run runs[STAT_BATCHES_MAX * PLAN_RUNS_MAX];
	struct stat_value values[REQUESTS_MAX];
	struct stat_metric metrics[REQUEST_METRICS_MAX];
	struct topdown_sum topdown;         /* of the first core */
	uint64_t interval, since_ticks;     /* index of the interval, and its end in TSC ticks since the first window */
};

struct stat_settings {
	uint64_t windows;                   /* of each run; 0: until its windows have taken `ticks` */
	uint64_t ticks;
	uint64_t interval_ticks;            /* 0: none */
	/* Receives the counts of each interval, then those of the whole run. */
	void (*interval)(void *self, const struct stat_result *r);
	bool (*stop)(void *self);           /* may be NULL */
	void *self;
};

/* Packs the requests into runs for b's machine. ST_UNSUPPORTED, ST_FULL: `problem` names the event. */
MUST_CHECK enum status stat_plan(struct stat_plan *p, struct request_list *requests, const struct bench *b, struct text *problem);
/* Whether b's machine counts the event: a simulated one knows some by name only, and *modelled is then false. The event is enabled alone, on
 * `core` or in the uncore of socket 0; `lock_va` is a mapped page for the bus lock that queues need. */
MUST_CHECK enum status stat_modelled(struct bench *b, const struct request *q, unsigned core, uint64_t lock_va, bool *modelled);
/* Runs the workload once per run of the plan. ST_RANGE: intervals with a plan of several runs. *problem describes the failure. */
MUST_CHECK enum status stat_run(struct stat_plan *p, struct stat_workload *w, const struct stat_settings *s, struct stat_result *out,
                                struct text *problem);

#endif
