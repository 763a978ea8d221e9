/* bench/report/user_account.h: cycle accounting of a user's counts after Levinthal's guide: total = retired + wasted + stalled cycles, and
 * Counted_Stall_Cycles = sum(P_i * N_i) with the rest that it does not explain.
 *
 * The sources of stalls are tables/stall_terms.csv, what of their costs is charged says bench/workloads/stall_model.h; penalties are those of a run's
 * results. Integers: cycles and events are whole, penalties in thousandths of a core cycle. An event that was not counted leaves
 * its term open; nothing is guessed. */
#ifndef BENCH_ACCOUNTING_H
#define BENCH_ACCOUNTING_H

#include "bench/results/document.h"
#include "bench/workloads/stall_model.h"

/* Counts by event. `cycles` is of the run that counted it, 0 not known: counts of several runs of a program are brought to the cycles of the
 * run that counted the total, so that each has its share of the cycles of its own run. */
enum account_count { COUNT_MISSING, COUNT_MULTIPLEXED, COUNT_GOOD };
struct account_counts {
	const void *self;
	enum account_count (*get)(const void *self, const struct processor *p, const struct event *e, int64_t *count, int64_t *cycles);
};

enum account_state {
	ACCOUNT_GOOD,
	ACCOUNT_NO_EVENT,      /* not counted: the term is open */
	ACCOUNT_MULTIPLEXED,   /* counted for a part of the time: open */
	ACCOUNT_NO_PENALTY,    /* the results have no proved row for it: open, unless the count is 0 */
	ACCOUNT_NO_CONCEPT     /* the processor has no event for it, count.why says why: open */
};
struct account_term {
	enum account_state state;
	const struct expression *count_of; /* what it is the count of; NULL: no event of the processor is known */
	int64_t count;
	int64_t low_milli, high_milli;  /* cycles each, overlapped and exposed, at the program's clock */
	int64_t low, high;              /* cycles in all */
	int64_t charged;         /* of high, what the bounds leave */
	bool rescaled;           /* its uncore part was rescaled by the program's clock */
	bool needs_clock;        /* it has an uncore part, and the reference cycles to rescale it are missing */
	bool overlap_known;      /* a row measured the overlapped end; else it is 0 */
};
struct account {
	const struct processor *processor;
	bool has_total, has_stalls, has_waste;
	int64_t total, stalls, retired, wasted; /* cycles; without waste counts `retired` is all that is no stall */
	bool at_retirement;      /* the terms are held against the stalls of retirement, else against `stalls` */
	int64_t clock_milli;     /* program's core clock in thousandths of the clock of the results' rows; 0 unknown */
	struct stall_bounds bounds; /* bounds.stalls is `total` where no stalls were counted */
	struct account_term terms[STALL_TERMS_MAX];
	int64_t low, high, charged; /* sums of the closed terms */
	unsigned open;           /* terms that are not */
};

/* The processor that results are of; NULL: these tables do not know it. */
const struct processor *account_processor(const struct document *results);
/* Fills *out. ST_MISSING when neither total nor stall cycles were counted; ST_UNSUPPORTED: no such processor in these tables. */
MUST_CHECK enum status account_of(const struct document *results, const struct account_counts *counts, struct account *out);

#endif
