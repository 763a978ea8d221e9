/* bench/counting/stat.h: counts what a user asks for while a workload runs: `stallmeter stat`, and the keys count, metrics,
 * workload and interval_ms of a stick.
 *
 * Events of cores are counted on each core at work and added up; events of the uncore in all boxes of all sockets. What does
 * not fit into the counters at once is counted in several runs of the same workload: each run is a run of its own, and nothing
 * is multiplexed. The counters of a core are read by the measuring wrapper around the kernel; those of the uncore before and
 * after it, so what brings the working set into its state is not in them. */
#ifndef BENCH_COUNTING_STAT_H
#define BENCH_COUNTING_STAT_H

#include "bench/counting/request.h"
#include "bench/counting/stat_workload.h"

#define STAT_BATCHES_MAX 12u

/* The planner takes so many events at once; what is beyond them is another batch with runs of its own. */
struct stat_core_batch { struct plan plan; unsigned count; uint16_t request[PLAN_EVENTS_MAX]; };
struct stat_uncore_batch { struct uncore_plan plan; unsigned count; uint16_t request[UNCORE_EVENTS_MAX]; };

struct stat_plan {
	struct request_list *requests;
	struct stat_core_batch core[STAT_BATCHES_MAX];
	struct stat_uncore_batch uncore[STAT_BATCHES_MAX];
	unsigned core_batches, uncore_batches, runs;
};

/* What one run counted. */
struct stat_run {
	uint64_t ticks, units, windows;     /* of the windows that were counted: TSC ticks, units of work of all cores */
	uint64_t instructions, cycles;      /* of all cores, where fixed counters give them; else 0 */
	bool known;                         /* instructions and cycles are */
};
struct stat_value {
	bool counted, unmodelled;           /* unmodelled: a simulated machine knows the event by name only */
	uint16_t run;
	uint64_t value;                     /* of all cores, or of all boxes of all sockets */
	uint64_t by_box[UNCORE_SOCKETS_MAX][UNCORE_INSTANCES_MAX];
	uint64_t by_core[STAT_CORES_MAX];
};
struct stat_metric { bool known; int64_t milli; const char *why; };

struct stat_result {
	const struct stat_plan *plan;
	const struct stat_workload *workload;
	struct stat_run runs[STAT_BATCHES_MAX * PLAN_RUNS_MAX];
	struct stat_value values[REQUESTS_MAX];
	struct stat_metric metrics[REQUEST_METRICS_MAX];
	uint64_t interval, since_ticks;     /* number of the interval from 0, and when it ended: TSC ticks since the first window */
};

struct stat_settings {
	uint64_t windows;                   /* of each run; 0: until `ticks` have gone by in windows */
	uint64_t ticks;
	uint64_t interval_ticks;            /* 0: none */
	/* Told the counts of each interval, and at the end those of the whole run. */
	void (*interval)(void *self, const struct stat_result *r);
	bool (*stop)(void *self);           /* may be NULL */
	void *self;
};

/* Packs the requests into runs for the machine of b. ST_UNSUPPORTED, ST_FULL: `problem` names the event. */
MUST_CHECK enum status stat_plan(struct stat_plan *p, struct request_list *requests, const struct bench *b, struct text *problem);
/* Runs the workload as often as the plan has runs. ST_RANGE: intervals of a plan of several runs. *problem says what failed. */
MUST_CHECK enum status stat_run(struct stat_plan *p, struct stat_workload *w, const struct stat_settings *s, struct stat_result *out,
                                struct text *problem);

#endif
