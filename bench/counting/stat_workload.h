/* bench/counting/stat_workload.h: what runs while a user's events are counted.
 *
 * By name: a row (its kernel in its state: `load.l3.latency`, `triad.dram_all.bandwidth` or without its last word), a workload
 * of the cycle accounting (`account.mixed`), or `idle`: the measuring core executes NOPs and every other core is parked. A
 * row of one core runs on each of the given cores at once, each with a working set of its own; a row of several cores on as
 * many of them as there are. Not modelled as a workload: rows whose points each have code of their own (curves, sweeps), and
 * pairs of cores. */
#ifndef BENCH_COUNTING_STAT_WORKLOAD_H
#define BENCH_COUNTING_STAT_WORKLOAD_H

#include "bench/multicore/multicore.h"
#include "bench/workloads/work.h"

#define STAT_CORES_MAX 256u

enum stat_workload_kind { STAT_IDLE, STAT_ROW, STAT_STREAMS, STAT_WORK };

struct stat_workload {
	struct bench *b;
	enum stat_workload_kind kind;
	const char *name, *unit;       /* unit: "load", "iteration", "event" */
	const struct row *row;
	unsigned cores[STAT_CORES_MAX], count;
	uint64_t units;                /* of each core in a window */
	struct row_result result;      /* why it cannot run; kernel, sizes */
	struct loop loop;              /* STAT_ROW: of the first core */
	struct working_set *sets;      /* STAT_ROW: of all */
	struct work *works;            /* STAT_WORK */
	struct multicore streams;      /* STAT_STREAMS */
	struct job *jobs;
	struct window *windows;        /* out, by core */
	uint64_t *prefetchers;         /* as found, where they were switched off */
	bool *switched;
	unsigned turn;                 /* windows so far */
	struct job job;                /* the last one that prepared */
};

/* Maps and warms up. `cores`: a list such as "0-3,8"; NULL or "": the measuring core, of rows of several all. After a failure
 * too, stat_workload_close. ST_MISSING: no such workload; ST_RANGE: the list; ST_UNSUPPORTED: it cannot run here. `problem`
 * gets one line. */
MUST_CHECK enum status stat_workload_open(struct stat_workload *w, struct bench *b, const char *name, const char *cores, struct text *problem);
/* Brings the working sets into their state for the next window. */
MUST_CHECK enum status stat_workload_prepare(struct stat_workload *w);
/* One window on all cores at once; counts of core i are in w->windows[i]. */
MUST_CHECK enum status stat_workload_window(struct stat_workload *w, const struct counting *c);
/* The longest of the cores' windows, TSC ticks. */
uint64_t stat_workload_ticks(const struct stat_workload *w);
MUST_CHECK enum status stat_workload_close(struct stat_workload *w);

#endif
