/* bench/suite/speed.h: how fast a backend runs kernels: instructions that they retire a second of a clock beside it. */
#ifndef BENCH_SPEED_H
#define BENCH_SPEED_H

#include "pmu/counters/counters.h"

#define SPEED_CORES_MAX 8

/* The clock that the simulator, not what it simulates, is held against. */
struct speed_clock {
	void *self;
	uint64_t (*now_ns)(void *self);
	unsigned runs; /* of the full length, of which the fastest counts: several where the clock goes on while another program has the processor */
};

/* What is run: a kernel over a working set of its own on each core. */
enum speed_set { SPEED_NOTHING, SPEED_BUFFER, SPEED_CHOICES, SPEED_CHASE, SPEED_STREAMS };
struct speed_case {
	const char *name, *kernel;
	enum speed_set set;
	unsigned level; /* cache level that the set is made for; one beyond the last: memory */
	bool beyond;    /* for the floor: an L3 or DRAM chase, not a core-bound kernel */
};
extern const struct speed_case speed_cases[];
extern const unsigned speed_case_count;

struct speed_result { uint64_t instructions, ns; };

/* Chooses from the processor's events four that speed is measured with, two of them with cmask, as many as
 * it has counters for. plan.count says how many; 0 when there is no PMU. */
MUST_CHECK enum status speed_plan(const struct cpu *cpu, struct plan *plan);

/* Runs the case on cores 0 .. cores - 1 at once, each on its own set in its own node's memory, counters
 * started on each by counters_start, for at least `least_ns` of the clock and as many runs as it wants. `a` is a guarded backend.
 * ST_UNSUPPORTED: the processor has no such cache level, or not so many cores. Maps and unmaps at
 * WINDOW_DATA. */
MUST_CHECK enum status speed_measure(const struct access *a, const struct cpu *cpu, const struct plan *plan,
                                     const struct speed_case *c, unsigned cores, const struct speed_clock *clock,
                                     uint64_t least_ns, struct speed_result *out);

#endif
