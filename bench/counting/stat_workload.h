/* bench/counting/stat_workload.h: the workload that runs while a user's events are counted.
 *
 * It is named: a row (its kernel in its state: `load.l3.latency`, `triad.dram_all.bandwidth` or without its last word), a workload of the cycle
 * accounting (`account.mixed`), or `idle`: the measuring core executes NOPs and every other core is parked. A single-core row runs on all given
 * cores at once, each with its own working set; a multicore row on as many of them as there are.
 * Not modelled as a workload: rows whose points each have code of their own (curves, sweeps), and pairs of cores. */
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
	unsigned measuring;            /* the bench's core before and after; in between it is the first of `cores` */
	uint64_t units;                /* of each core in a window */
	struct row_result result;      /* reason it cannot run; kernel, sizes */
	struct loop loop;              /* STAT_ROW: of the first core */
	struct working_set *sets;      /* STAT_ROW: of all */
	struct work *works;            /* STAT_WORK */
	struct multicore streams;      /* STAT_STREAMS */
	struct job *jobs;
	struct window *windows;        /* out, by core */
	uint64_t *prefetchers;         /* original settings, where they were disabled */
	bool *switched;
	unsigned windows_run;          /* windows so far */
	struct job job;                /* the last one run by the preparation */
};

/* Maps and warms up. `cores`: a list such as "0-3,8", with or without core 0; NULL or "": the measuring core, or all cores for a multicore row. Call stat_workload_close
 * after a failure too. ST_MISSING: no such workload; ST_RANGE: the list; ST_UNSUPPORTED: it cannot run here. `problem` gets one line. */
MUST_CHECK enum status stat_workload_open(struct stat_workload *w, struct bench *b, const char *name, const char *cores, struct text *problem);
/* Brings the working sets into their state before the next window. */
MUST_CHECK enum status stat_workload_prepare(struct stat_workload *w);
/* One window on all cores at once; core i's counts are in w->windows[i]. */
MUST_CHECK enum status stat_workload_window(struct stat_workload *w, const struct counting *c);
/* A window whose counts are discarded: the first one fetches the wrapper's code and data, and its call of the kernel is mispredicted. */
MUST_CHECK enum status stat_workload_warm_up(struct stat_workload *w, const struct counting *c);
/* Duration of the longest core's window, TSC ticks. */
uint64_t stat_workload_ticks(const struct stat_workload *w);
MUST_CHECK enum status stat_workload_close(struct stat_workload *w);

#endif
