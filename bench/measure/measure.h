/* bench/measure/measure.h: the measuring loop: one row on one core. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench/catalogue/kernel.h"
#include "bench/measure/host.h"
#include "bench/measure/layout.h"
#include "bench/measure/noise_check.h"
#include "bench/measure/reduce.h"
#include "pmu/counters/counters.h"
#include "pmu/uncore/uncore.h"

/* One cycle counter and the events of a proof's concepts. */
#define ROW_EVENTS_MAX 12

/* Counts that a method beside the loop's own counters may keep of each pair of windows. */
#define BESIDE_COUNTS_MOST 32

/* Logical processors told apart; those beyond take no part. */
#define CORES_MAX 1024

/* Numbers of the groups that each logical processor belongs to: equal numbers share. */
struct core_groups { uint32_t core[CORES_MAX], l2[CORES_MAX], last[CORES_MAX], package[CORES_MAX]; };

/* Which of them, and of the memory nodes, rows of several may use. */
#define NODES_MAX 256
struct cpuset { bool core[CORES_MAX], node[NODES_MAX]; };
/* From the settings, whose lists are checked against what there is: ST_RANGE, and one line in `problem`. */
MUST_CHECK enum status cpuset_choose(const struct access *a, const char *core_list, const char *node_list, struct cpuset *p, char *problem, size_t capacity);

struct bench {
	const struct access *a;
	const struct cpu *cpu; /* = &own once the counters have been looked at */
	struct cpu own;        /* without the counters that are not ours or keep no value */
	unsigned firmware_on, firmware_returned; /* counters that firmware had left on; that it switched on again */
	const struct suite_host *host;
	unsigned core;
	unsigned repetitions;  /* pairs of windows a row, the discarded first one not counted; 0: the loop's own */
	uint64_t seed;         /* of the run */
	struct random random;
	struct noise_check disturbance;
	struct uncore uncore;
	bool uncore_wandered;  /* a row of this run has seen its clock move, or away from where it is pinned */
	bool uncore_looked;    /* whether it moves within windows */
	uint64_t uncore_hz;    /* what it was at first, 0 = not known yet */
	struct core_groups groups;
	struct cpuset cpuset;
	const struct event *cycles; /* NULL: cycles come from windows of dependent adds */
	unsigned last_asked;   /* how often the last level has been looked at */
	bool last_forgets;     /* that it does not replace the oldest */
	int64_t smt_probe_least_micro; /* bench/measure/smt_probe.h */
	unsigned patience;     /* quarters of a second more that a row waits for a core of its own, beyond two */
	bool first_level_looked;  /* the same of its first level for 2 MiB pages */
	bool second_level_looked; /* own.tlb has the second level as it was found, not as the descriptor has it */
	bool tlb_timed;           /* sizes of pages of 4 KiB in own.tlb are found by time */
	const struct sampling_gate *gate; /* while sampling: what windows of `core` begin and end; else NULL */
	const struct mapping *ahead; /* whose pages' translations jobs bring in before they are counted; NULL: none */
	const struct working_set *chased; /* ring of the first level whose lines jobs bring back before they are counted; NULL: none */
	/* per row */
	struct pair clock[SAMPLES_MAX];                /* TSC of windows of dependent adds */
	struct pair witness[SAMPLES_MAX];              /* of windows of NOPs */
	struct pair tsc[2][SAMPLES_MAX];               /* [0] test, [1] baseline */
	struct pair beside[BESIDE_COUNTS_MOST][SAMPLES_MAX];
	struct pair counts[2][ROW_EVENTS_MAX][SAMPLES_MAX];
};

/* Prepares a bench: finds the cycle event and which disturbances can be seen. repetitions 0: 5 on a
 * simulated machine, which has no noise of its own, else 201 for a minimum and 51 for a median. */
void bench_init(struct bench *b, const struct access *a, const struct cpu *cpu, const struct suite_host *host,
                unsigned repetitions, uint64_t seed);

#endif
