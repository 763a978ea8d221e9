/* bench/workloads/workload_account.h: cycle accounting of the workloads of bench/workloads/work.h: cycles at issue, execution and retirement,
 * wasted work, and the stall cycles as a sum of penalties times counts.
 *
 * Levinthal's guide, "Cycle Accounting and Uop Flow" to "Measuring Penalties". The penalties P_i are measured by rows of the same run. The counts
 * N_i are disjoint (tables/stall_terms.csv). bench/workloads/stall_model.h says how much of P_i * N_i is charged. The other quantities and the
 * formulas over them are rows of workload_account.def.
 *
 * One write each starts and stops all counters of a run, so that they count the same cycles. NetBurst has no such register: its counters are read
 * at both ends of the window. Counts of n iterations are subtracted from counts of 2n. With two threads a core, the first is counted while the
 * second runs the same workload. All runs begin with the same loads; random branches differ, and with them the cycles, so charges and bounds are
 * scaled to the cycles of the run that counted the stalls. */
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
#define ACCOUNT_ILP 8 /* cycles with 0 .. 6, and with 7 or more uops */
#define ACCOUNT_FORMULAS 15

/* Flags of a formula beside bits 0 and 1, which say that it holds with one and with two threads a core. */
enum { ACCOUNT_WHERE_COUNTED = 4, ACCOUNT_NOT_NEGATIVE = 8 };
#define ACCOUNT_IF_ANY 64 /* added to a quantity's number in `sum`: the quantity is optional */
struct account_formula {
	const char *name, *source;
	uint8_t threads, divisor, equals;  /* the flags above; enum account_quantity */
	int8_t sum[ACCOUNT_SUM_MAX];       /* quantity + 1, negative: subtracted; 0: end */
};
extern const struct account_formula workload_account_formulas[ACCOUNT_FORMULAS];

/* A penalty measured by a row of this run, in thousandths of a cycle; -1: unknown. */
struct account_penalties { const int64_t *row_milli; /* by the index of bench/catalogue/rows.c */ };

struct account_level { const char *name; int64_t stalls; bool known; }; /* stalls that the sum is compared with, scaled to the cycles of the sum */
#define ACCOUNT_LEVELS 3

struct account_result {
	enum work_kind kind;
	const char *core_kind;        /* the kind of the cores that ran it; NULL: all cores are alike */
	enum row_status status;
	char reason[128];
	unsigned threads;             /* of the core that ran it */
	unsigned runs, pairs;
	uint64_t iterations;          /* that were counted */
	int64_t cycles;               /* of the run that counted the stalls, to which charges are scaled */
	int64_t core_hz;              /* of the first run, by the reference cycles; 0 unknown */
	int64_t value[ACCOUNT_QUANTITIES];
	int64_t bundle_cycles[ACCOUNT_QUANTITIES]; /* of the run that counted the quantity */
	bool known[ACCOUNT_QUANTITIES];
	const char *event[ACCOUNT_QUANTITIES]; /* its event; NULL: the processor has none */
	struct workload_term {
		const char *count_of;     /* its expression, "A-B"; NULL: the processor has none */
		int64_t count, core_count, penalty_milli;
		int64_t cycles;           /* of the run of `count` */
		struct stall_charge thread, core; /* scaled to `cycles` */
		const char *open;         /* why it is unknown */
	} terms[STALL_TERMS_MAX];
	int64_t sum, core_sum;        /* of the charges */
	int64_t overlap;              /* of the thread: cycles the bounds removed */
};

/* Scales a count to the cycles of another run, so that it keeps its share of the cycles. Runs of random branches differ in both. */
int64_t workload_account_brought(int64_t count, int64_t cycles, int64_t to);
/* Whether a term uses the row's value. */
bool workload_account_feeds(const struct row *r);
/* Runs a workload on all threads of the core of b. Failures are in *out. */
void workload_account_run(struct bench *b, enum work_kind kind, const struct account_penalties *p, struct account_result *out);
/* A formula's value in thousandths. False: it does not hold for this number of threads, or a quantity was not counted. */
bool workload_account_value(const struct account_result *r, const struct account_formula *f, int64_t *milli);
/* The value of the formula of that name, as an integer; -1: none. */
int64_t workload_account_named(const struct account_result *r, const char *name);
/* Whether the counts contradict the workload's known behaviour; `reason` names the event and both figures. */
bool workload_account_contradicted(const struct account_result *r, char *reason, size_t capacity);
/* Stall cycles at the points the sum may be compared with: execution of the core and of the thread, retirement. */
void workload_account_levels(const struct account_result *r, struct account_level levels[ACCOUNT_LEVELS]);
enum account_of { ACCOUNT_OF_THREAD, ACCOUNT_OF_CORE };
/* Bounds of the sum of the thread, or of its core. */
void workload_account_bounds(const struct account_result *r, enum account_of whose, struct stall_bounds *out);
/* Cycles in which 0 .. ACCOUNT_ILP - 1 uops started execution, by their number. False: not counted. */
bool workload_account_ilp(const struct account_result *r, int64_t cycles[ACCOUNT_ILP]);

/* The master equation of the Core 2 paper, CPU_CLK_UNHALTED.CORE ~ Retired + Non_Retired + Stalls: cycles that dispatch uops are split by the share
 * of uops that retire. False: the processor lacks the events. */
struct workload_account_master { int64_t retired, wasted, stalls; };
bool workload_account_master(const struct account_result *r, struct workload_account_master *out);

/* The front-side bus by the same paper: lines of all agents, 64 bytes each, and the share of bus clocks that carry data, in thousandths.
 * bytes_per_second 0: the clock is unknown. False: the processor lacks the events. */
struct workload_account_bus { int64_t bytes, bytes_per_second, used_milli; };
bool workload_account_bus(const struct account_result *r, struct workload_account_bus *out);

/* JSON: one element of "accounting" of the results; lines for screen and log. */
void workload_account_json(struct text *t, const struct account_result *r);
void workload_account_lines(struct text *t, const struct account_result *r);

#endif
