/* bench/report/user_account.h: cycle accounting of a user's counts by Levinthal's guide: total = retired + wasted + stalled cycles, and
 * Counted_Stall_Cycles = sum(P_i * N_i) plus an unexplained rest.
 *
 * tables/stall_terms.csv lists the sources of stalls; bench/workloads/stall_model.h says how much of their cost is charged. Penalties come from a
 * run's results. Cycles and events are integers, penalties thousandths of a core cycle. An event that was not counted leaves its term open; nothing
 * is guessed. */
#ifndef BENCH_ACCOUNTING_H
#define BENCH_ACCOUNTING_H

#include "bench/results/document.h"
#include "bench/workloads/stall_model.h"

/* Counts by event. `cycles`: of the run that counted the event; 0 unknown. Counts of several runs of a program are scaled to the cycles of the run
 * that counted the total, which keeps each one's share of its own run's cycles. */
enum workload_account_count { COUNT_MISSING, COUNT_MULTIPLEXED, COUNT_GOOD };
struct account_counts {
	const void *self;
	enum workload_account_count (*get)(const void *self, const struct processor *p, const struct event *e, int64_t *count, int64_t *cycles);
};

enum account_state {
	ACCOUNT_GOOD,
	ACCOUNT_NO_EVENT,      /* not counted: the term is open */
	ACCOUNT_MULTIPLEXED,   /* multiplexed, counted for part of the time: open */
	ACCOUNT_NO_PENALTY,    /* the results have no proved row: open, unless the count is 0 */
	ACCOUNT_NO_CONCEPT     /* the processor has no event, count.why gives the reason: open */
};
struct account_term {
	enum account_state state;
	const struct expression *count_of; /* the expression counted; NULL: no event of the processor is known */
	int64_t count;
	int64_t low_milli, high_milli;  /* cycles per event, overlapped and exposed, at the program's clock */
	int64_t low, high;              /* total cycles */
	int64_t charged;         /* the part of high within the bounds */
	bool rescaled;           /* its uncore part is rescaled to the program's clock */
	bool needs_clock;        /* it has an uncore part, but the reference cycles to rescale it are missing */
	bool overlap_known;      /* a row measured the overlapped cost; else it is 0 */
};
struct account {
	const struct processor *processor;
	bool has_total, has_stalls, has_waste;
	int64_t total, stalls, retired, wasted; /* cycles; without counts of waste, `retired` is everything that is no stall */
	bool at_retirement;      /* the terms are compared with the stalls at retirement, else with `stalls` */
	int64_t clock_milli;     /* the program's core clock in thousandths of the clock of the results' rows; 0 unknown */
	struct stall_bounds bounds; /* bounds.stalls is `total` if no stalls were counted */
	struct account_term terms[STALL_TERMS_MAX];
	int64_t low, high, charged; /* sums of the closed terms */
	unsigned open;           /* number of open terms */
};

/* The processor of the results; NULL: unknown to these tables. */
const struct processor *user_account_processor(const struct document *results);
/* Fills *out. ST_MISSING: neither total nor stall cycles were counted; ST_UNSUPPORTED: the processor is unknown to these tables. */
MUST_CHECK enum status user_account_of(const struct document *results, const struct account_counts *counts, struct account *out);

#endif
