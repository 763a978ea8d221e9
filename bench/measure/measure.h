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

/* Counts per pair of windows for a method that runs beside the loop's own counters. */
#define BESIDE_COUNTS_MOST 32

/* Logical processors supported; those beyond are not used. */
#define CORES_MAX 1024

/* Group numbers of each logical processor: processors with equal numbers share the core, L2, last level or package. */
struct core_groups { uint32_t core[CORES_MAX], l2[CORES_MAX], last[CORES_MAX], die[CORES_MAX], package[CORES_MAX]; };

/* The logical processors and memory nodes that multicore rows may use. */
#define NODES_MAX 256
struct cpuset { bool core[CORES_MAX], node[NODES_MAX]; };
/* Reads the settings' lists and checks them against the machine. ST_RANGE: one line in `problem`. */
MUST_CHECK enum status cpuset_choose(const struct access *a, const char *core_list, const char *node_list, struct cpuset *p, char *problem, size_t capacity);
/* The same for a list that need not contain core 0: the cores on which a workload is counted. */
MUST_CHECK enum status cpuset_cores(const struct access *a, const char *core_list, struct cpuset *p, char *problem, size_t capacity);

/* The 4 KiB pages that each level of the data TLB was found to hold by time, and the smallest ring that exceeds it; second 0: no such level was found. */
struct tlb_by_time { uint32_t first, first_beyond, second, second_beyond; };

struct bench {
	const struct access *a;
	const struct cpu *cpu; /* = &own once the counters have been probed */
	struct cpu own;        /* without counters that others use or that do not keep written values */
	unsigned firmware_on, firmware_returned; /* counters that firmware had left enabled; those that it enabled again */
	const struct suite_host *host;
	unsigned core;
	unsigned repetitions;  /* pairs of windows per row, without the discarded first one; 0: the loop's own number */
	const char *kernels;   /* the setting: bench/results/settings.h */
	uint64_t seed;         /* of the run */
	struct random random;
	struct noise_check disturbance;
	struct uncore uncore;
	bool uncore_wandered;  /* a row of this run saw the uncore clock change, or differ from its locked ratio */
	int64_t way_home_milli; /* uncore cycles from the table of requests to a home of the same socket and back; 0: not known yet */
	bool uncore_looked;    /* the check for a clock that moves within windows has run */
	uint64_t uncore_hz;    /* the first uncore clock measured, 0 = not known yet */
	struct core_groups groups;
	unsigned last_level_nodes; /* of cores_find */
	struct cpuset cpuset;
	const struct event *cycles; /* NULL: cycles come from windows of dependent adds */
	bool chains_compared;  /* bench/measure/window.c: product_milli is known */
	int64_t product_milli; /* dependent additions that take as long as a product */
	unsigned last_asked;   /* replacement probes of the last level so far */
	bool last_forgets;     /* a probe found that its replacement is not LRU */
	int64_t smt_probe_least_micro; /* bench/measure/smt_probe.h */
	unsigned patience;     /* quarters of a second, beyond two, that a row waits for an unshared core */
	bool first_level_looked;  /* own.tlb has the measured first level for 2 MiB pages */
	bool tlb_size_looked; /* own.tlb has the measured second level instead of the descriptor's */
	int64_t hit_milli;        /* load to use in the L1, thousandths of a core cycle, as IBS needs it (bench/sampling/sample_ibs.c); 0: not measured yet */
	unsigned ibs_misses;      /* the setting */
	int64_t l3_milli;         /* the same in the L3, once a row has measured it (bench/sampling/sample_l3.c) */
	enum { LARGE_PAGES_UNKNOWN, LARGE_PAGES_WHOLE, LARGE_PAGES_SPLIT } large_pages; /* how the first level of the data TLB keeps pages of 2 MiB, once measured */
	enum l2_port { L2_PORT_UNKNOWN, L2_PORT_FREE, L2_PORT_DELAYS, L2_PORT_FAILED } l2_port; /* of l2_port_measured */
	bool tlb_timed;           /* the 4 KiB sizes in own.tlb were found by time */
	struct tlb_by_time tlb_by_time; /* those of tlb_time_sizes */
	struct tlb_facts tlb_told; /* by CPUID or the descriptor */
	const struct sampling_gate *gate; /* while sampling: opened and closed by windows of `core`; else NULL */
	const struct mapping *ahead; /* jobs load its translations before they count; NULL: none */
	const struct working_set *reloaded; /* jobs reload the lines of this working set of the L1 before they count; NULL: none */
	/* per row */
	struct pair clock[SAMPLES_MAX];                /* TSC of windows of dependent adds */
	struct pair smt_probes[SAMPLES_MAX];              /* of windows of NOPs */
	struct pair tsc[2][SAMPLES_MAX];               /* [0] test, [1] baseline */
	struct pair beside[BESIDE_COUNTS_MOST][SAMPLES_MAX];
	struct pair counts[2][ROW_EVENTS_MAX][SAMPLES_MAX];
};

/* Lets the platform show progress within a row. Not to be called while an uncore box counts, since it may write to the screen. */
static inline void bench_working(const struct bench *b)
{
	if (b->host && b->host->working)
		b->host->working(b->host->self);
}

/* Prepares a bench: finds the cycle event and the detectable disturbances. repetitions 0: 5 on a simulated machine, which has no noise of its
 * own, else 201 for a minimum and 51 for a median. */
void bench_init(struct bench *b, const struct access *a, const struct cpu *cpu, const struct suite_host *host,
                unsigned repetitions, uint64_t seed);

#endif
