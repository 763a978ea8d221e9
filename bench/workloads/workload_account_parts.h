/* bench/workloads/workload_account_parts.h: shared by the files of the workload accounting: which events are requested and in which runs
 * (workload_account.c), and how a run's windows are counted (workload_account_window.c). */
#ifndef BENCH_WORKLOAD_ACCOUNT_PARTS_H
#define BENCH_WORKLOAD_ACCOUNT_PARTS_H

#include "bench/workloads/workload_account.h"
#include "pmu/counters/counters.h"

#define ASKS_MAX 192u
#define RUN_ASKS 16u
#define RUNS_MAX 72u

/* An event to count, and its count. `core`: of both threads of the core. */
struct ask {
	struct event event;
	struct netburst_use use;
	uint8_t bundle;
	bool core, known;
	int64_t count, cycles;  /* cycles: of its run */
};

struct ask_run { struct plan plan; uint8_t asks[RUN_ASKS]; uint8_t count; };

/* Index of an ask, by quantity and by a term's event; ASKS_MAX: none. */
struct account_work {
	struct ask asks[ASKS_MAX];
	unsigned ask_count;
	struct ask_run runs[RUNS_MAX];
	unsigned run_count;
	uint8_t quantity[ACCOUNT_QUANTITIES], term[STALL_TERMS_MAX][EXPRESSION_TERMS_MAX], core_term[STALL_TERMS_MAX][EXPRESSION_TERMS_MAX];
};

struct gated {
	struct bench *b;
	struct work work[2];
	unsigned threads;
	uint64_t gate;
	bool gated;             /* counters start and stop by one write; else they are read within the window */
	struct job job;         /* the last one */
};

/* Counts all runs into w->asks. */
MUST_CHECK enum status workload_account_count(struct gated *g, struct account_work *w, struct account_result *out);

#endif
