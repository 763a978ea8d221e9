/* bench/report/user_account.h: cycle accounting after Levinthal's guide: total = retired + wasted + stalled cycles, and
 * Counted_Stall_Cycles = sum(P_i * N_i) with the rest that it does not explain.
 *
 * The sources of stalls are bench/report/user_account.def; penalties are those of a run's results. Integers: cycles and events are whole,
 * penalties in thousandths of a core cycle. An event that was not counted leaves its term open; nothing is guessed. */
#ifndef BENCH_ACCOUNTING_H
#define BENCH_ACCOUNTING_H

#include "bench/results/document.h"

struct account_source {
	const char *key, *title;
	const char *events;      /* alternatives, '|' between them */
	const char *minus;       /* an event whose count is taken off, "" none */
	const char *penalty, *overlap, *latency; /* rows; penalty "": the event counts cycles */
};
extern const struct account_source account_sources[];
extern const unsigned account_sources_count;
#define ACCOUNT_SOURCES_MAX 32

/* The events of the identities, alternatives as above. */
#define ACCOUNT_CYCLES_EVENT  "CPU_CLK_UNHALTED.THREAD|CPU_CLK_UNHALTED.CORE"
#define ACCOUNT_REF_EVENT     "CPU_CLK_UNHALTED.REF|CPU_CLK_UNHALTED.REF_TSC"
#define ACCOUNT_STALL_EVENT   "UOPS_EXECUTED.CORE_STALL_CYCLES|UOPS_EXECUTED.STALL_CYCLES|RS_UOPS_DISPATCHED.CYCLES_NONE"
#define ACCOUNT_ISSUED_EVENT  "UOPS_ISSUED.ANY"
#define ACCOUNT_FUSED_EVENT   "UOPS_ISSUED.FUSED" /* issued micro-fused pairs count once: the guide adds them */
#define ACCOUNT_RETIRED_EVENT "UOPS_RETIRED.ANY|UOPS_RETIRED.RETIRE_SLOTS"

/* Counts by name. */
enum account_count { COUNT_MISSING, COUNT_MULTIPLEXED, COUNT_GOOD };
struct account_counts {
	const void *self;
	enum account_count (*get)(const void *self, const char *event, size_t length, int64_t *count);
};

enum account_state {
	ACCOUNT_GOOD,
	ACCOUNT_NO_EVENT,      /* not counted: the term is open */
	ACCOUNT_MULTIPLEXED,   /* counted for a part of the time: open */
	ACCOUNT_NO_PENALTY     /* the results have no proved row for it: open, unless the count is 0 */
};
struct account_term {
	enum account_state state;
	const char *event;       /* the alternative that was there, event_length bytes; "" none */
	size_t event_length;
	int64_t count;
	int64_t low_milli, high_milli;  /* cycles each, overlapped and exposed, at the program's clock */
	int64_t low, high;              /* cycles in all */
	bool rescaled;           /* its uncore part was rescaled by the program's clock */
	bool needs_clock;        /* it has an uncore part, and the reference cycles to rescale it are missing */
	bool overlap_known;      /* a row measured the overlapped end; else it is 0 */
};
struct account {
	bool has_total, has_stalls, has_waste;
	int64_t total, stalls, retired, wasted; /* cycles; without waste counts `retired` is all that is no stall */
	int64_t clock_milli;     /* program's core clock in thousandths of the clock of the results' rows; 0 unknown */
	struct account_term terms[ACCOUNT_SOURCES_MAX];
	int64_t low, high;       /* sum of the closed terms */
	unsigned open;           /* terms that are not */
};

/* Fills *out. ST_MISSING when neither total nor stall cycles were counted. */
MUST_CHECK enum status account_of(const struct document *results, const struct account_counts *counts, struct account *out);

#endif
