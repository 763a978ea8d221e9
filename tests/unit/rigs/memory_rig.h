/* tests/unit/rigs/memory_rig.h: a simulated memory hierarchy without cores. */
#ifndef MEMORY_RIG_H
#define MEMORY_RIG_H

#include "pmu/sim/memory/memory.h"

#define RIG_VA 0x201000000000ull /* va = RIG_VA + pa */

struct rig {
	struct machine m;
	struct memory *s;
	struct signals **signals;
	uint64_t page_bytes;
	void *at;
	size_t bytes;
};

/* Sets r->m to the built-in nehalem-ep without prefetchers, which the test may change before rig_open. */
void rig_preset(struct rig *r);
void rig_open(struct rig *r);
void rig_close(struct rig *r);
/* Issues one request of 8 bytes at a cycle. */
struct mem_reply rig_access(struct rig *r, unsigned core, enum mem_kind kind, uint64_t pa, uint64_t cycle);
/* rig_listen sets a plain tap on a thread's signal; rig_count returns what it has counted. */
void rig_listen(struct rig *r, unsigned thread, unsigned tap, enum signal sig);
uint64_t rig_count(struct rig *r, unsigned thread, unsigned tap);
/* Core cycles of an L3 access, and of a time in picoseconds, by the formulas of pmu/sim/memory/memory.c but computed independently. */
uint64_t rig_l3(const struct machine *m, uint64_t more_uncore_cycles);
uint64_t rig_ps(const struct machine *m, uint64_t ps);

#endif
