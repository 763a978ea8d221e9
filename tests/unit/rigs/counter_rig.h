/* tests/unit/rigs/counter_rig.h: a machine's counter registers with signals, a clock and some memory, without a core. */
#ifndef TESTS_COUNTER_RIG_H
#define TESTS_COUNTER_RIG_H

#include "pmu/sim/counters/counter.h"

#define RIG_MEMORY_VA 0x202000000000ull
#define RIG_MEMORY    65536

struct counter_rig {
	struct machine m;
	struct counters *p;
	struct signals *signals;
	void *at, *file, *map;
	uint64_t cycle;        /* returned by env.cycle; pmu_run advances it */
	unsigned prefetch_off; /* the last mask passed to env.prefetchers; 0xFF: none yet */
	uint8_t memory[RIG_MEMORY] __attribute__((aligned(16)));
};

/* Opens a built-in machine with `extra` lines appended (sections allowed; "" for none). */
void pmu_open(struct counter_rig *r, const char *machine, const char *extra);
void pmu_close(struct counter_rig *r);
/* Advances by `cycles` cycles, each of which retires `retired` instructions. */
void pmu_run(struct counter_rig *r, uint64_t cycles, unsigned retired);
/* A write must succeed without a finding; a read must succeed. */
void pmu_write(struct counter_rig *r, uint32_t msr, uint64_t value);
uint64_t pmu_read(struct counter_rig *r, uint32_t msr);
/* The start-up sequence of erratum AAK100. */
void pmu_start_sequence(struct counter_rig *r);

#endif
