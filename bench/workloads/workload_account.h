/* bench/workloads/workload_account.h: cycle accounting of the workloads of bench/workloads/work.h: where the cycles went at issue, execution and
 * retirement, what was wasted, and the stall cycles as a sum of penalties times counts.
 *
 * Levinthal's guide, "Cycle Accounting and Uop Flow" to "Measuring Penalties". The penalties P_i are those that rows of this very run measured; the
 * counts N_i are disjoint (tables/stall_terms.csv); what of P_i * N_i is charged says bench/workloads/stall_model.h. What else is counted, and what is
 * made of it, are rows of workload_account.def.
 *
 * The counters of a run start and stop by one write each, so that they count the same cycles; those of NetBurst, which has no such
 * register, are read at both ends of the window. Runs of n and 2n iterations are subtracted. Of two threads a core the first is counted while the second runs the same workload. */
#ifndef BENCH_ACCOUNT_H
#define BENCH_ACCOUNT_H

#include "bench/workloads/stall_model.h"
#include "bench/workloads/work.h"

enum account_quantity {
#define QUANTITY(id, bundle, cmask, inv, edge, any, concept) Q_##id,
#include "bench/workloads/workload_account.def"
	ACCOUNT_QUANTITIES, Q_CYCLES = ACCOUNT_QUANTITIES, Q_NOTHING
};

#define ACCOUNT_SUM_MAX 5
#define ACCOUNT_ILP 8 /* cycles with 0 .. 6, and with 7 and more uops */
#define ACCOUNT_FORMULAS 15

/* How a formula is meant, beside bits 0 and 1: it holds with one, with two threads a core. */
enum { ACCOUNT_WHERE_COUNTED = 4, ACCOUNT_NOT_NEGATIVE = 8 };
#define ACCOUNT_IF_ANY 64 /* added to the number of a quantity in `sum`: it counts where there is any */
struct account_formula {
	const char *name, *source;
	uint8_t threads, divisor, equals;  /* bits above; enum account_quantity */
	int8_t sum[ACCOUNT_SUM_MAX];       /* quantity + 1, negative: taken off; 0 ends */
};
extern const struct account_formula account_formulas[ACCOUNT_FORMULAS];

/* A penalty that a row of this run measured, in thousandths of a cycle; -1: not known. */
struct account_penalties { const int64_t *row_milli; /* by the index of bench/catalogue/rows.c */ };

struct account_level { const char *name; int64_t stalls, cycles; bool known; }; /* what the sum is held against, and the cycles of its run */
#define ACCOUNT_LEVELS 3

struct account_result {
	enum work_kind kind;
	enum row_status status;
	char reason[128];
	unsigned threads;             /* of the core that ran it */
	unsigned runs, pairs;
	uint64_t iterations;          /* that the counts are of */
	int64_t cycles;               /* of the run with the first bundle */
	int64_t core_hz;              /* in that run, by the reference cycles; 0 unknown */
	int64_t value[ACCOUNT_QUANTITIES];
	int64_t bundle_cycles[ACCOUNT_QUANTITIES]; /* of the run that a quantity was counted in */
	bool known[ACCOUNT_QUANTITIES];
	const char *event[ACCOUNT_QUANTITIES]; /* what counts it; NULL: this processor has none */
	struct workload_term {
		const char *count_of;     /* what counts it, "A-B"; NULL: this processor has none */
		int64_t count, core_count, penalty_milli;
		int64_t cycles;           /* of the run that it was counted in, for percentages */
		struct stall_charge thread, core;
		const char *open;         /* why it is not known */
	} terms[STALL_TERMS_MAX];
	int64_t sum, core_sum;        /* of what is charged */
	int64_t overlap;              /* of the thread: what the bounds took off */
};

/* Whether the row feeds a term. */
bool account_feeds(const struct row *r);
/* Runs a workload with all threads of the core of b. Whatever happens is in *out. */
void account_run(struct bench *b, enum work_kind kind, const struct account_penalties *p, struct account_result *out);
/* A formula's value in thousandths. False: it does not hold for so many threads, or something was not counted. */
bool account_value(const struct account_result *r, const struct account_formula *f, int64_t *milli);
/* The value of the formula of that name, whole; -1: there is none. */
int64_t account_named(const struct account_result *r, const char *name);
/* Whether the counts contradict what the workload is known to do; `reason` names the event and both figures. */
bool account_contradicted(const struct account_result *r, char *reason, size_t capacity);
/* Stall cycles at the points that the sum may be held against: execution of the core and of the thread, retirement. */
void account_levels(const struct account_result *r, struct account_level levels[ACCOUNT_LEVELS]);
/* What the sum of the thread, or of its core, is bounded by. */
void account_bounds(const struct account_result *r, bool core, struct stall_bounds *out);
/* Cycles in which so many uops started, 0 .. ACCOUNT_ILP - 1. False: not counted. */
bool account_ilp(const struct account_result *r, int64_t cycles[ACCOUNT_ILP]);

/* The master equation of the Core 2 paper, CPU_CLK_UNHALTED.CORE ~ Retired + Non_Retired + Stalls: cycles that dispatch uops
 * shared out by how many of them retire. False: it has no such events. */
struct account_master { int64_t retired, wasted, stalls; };
bool account_master(const struct account_result *r, struct account_master *out);

/* The front-side bus after the same paper: lines of all agents, 64 bytes each, and which part of the bus' clocks has data, in
 * thousandths. bytes_per_second 0: the clock is not known. False: there are no such events. */
struct account_bus { int64_t bytes, bytes_per_second, used_milli; };
bool account_bus(const struct account_result *r, struct account_bus *out);

/* One of "accounting" of the results; lines for screen and log. */
void account_json(struct text *t, const struct account_result *r);
void account_lines(struct text *t, const struct account_result *r);

#endif
