/* bench/suite/speed.h: speed of a backend: instructions that kernels retire per second of an external clock. */
#ifndef BENCH_SPEED_H
#define BENCH_SPEED_H

#include "pmu/counters/counters.h"

#define SPEED_CORES_MAX 8

/* The external clock that times the simulator itself, not the simulated machine. */
struct speed_clock {
	void *self;
	uint64_t (*now_ns)(void *self);
	unsigned runs; /* full-length runs, the fastest of which counts: several, because the clock also runs while other programs have the processor */
};

/* The working set of a case; each core runs the kernel over its own. */
enum speed_set { SPEED_NOTHING, SPEED_BUFFER, SPEED_CHOICES, SPEED_CHASE, SPEED_STREAMS };
#define SPEED_MEMORY 15u
struct speed_case {
	const char *name, *kernel;
	enum speed_set set;
	unsigned level; /* cache level that the set is sized for; SPEED_MEMORY: beyond the last */
	bool beyond;    /* an L3 or DRAM chase, not a core-bound kernel: tests demand less speed of it */
};
extern const struct speed_case speed_cases[];
extern const unsigned speed_case_count;

struct speed_result { uint64_t instructions, ns; };

/* Chooses the events that count while speed is measured: four of the processor's, two of them with cmask, or fewer if it has fewer counters.
 * plan.count is their number; 0 without a PMU. */
MUST_CHECK enum status speed_plan(const struct cpu *cpu, struct plan *plan);

/* Runs the case on cores 0 .. cores - 1 at once, each over its own set in its own node's memory, with counters started by counters_start. A run
 * lasts at least `least_ns` of the clock, which also sets the number of runs. `a` is a guarded backend. ST_UNSUPPORTED: the processor lacks the
 * cache level or the cores. Maps and unmaps at SPACE_DATA. */
MUST_CHECK enum status speed_measure(const struct access *a, const struct cpu *cpu, const struct plan *plan,
                                     const struct speed_case *c, unsigned cores, const struct speed_clock *clock,
                                     uint64_t least_ns, struct speed_result *out);

#endif
