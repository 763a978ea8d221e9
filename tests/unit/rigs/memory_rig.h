/* tests/unit/rigs/memory_rig.h: a memory hierarchy of its own for tests. */
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

/* Nehalem-EP as built in, with no prefetcher; change r->m, then rig_open. */
void rig_preset(struct rig *r);
void rig_open(struct rig *r);
void rig_close(struct rig *r);
/* One request at a cycle; 8 bytes. */
struct mem_reply rig_access(struct rig *r, unsigned core, enum mem_kind kind, uint64_t pa, uint64_t cycle);
/* Sum that a plain tap on a signal of a thread has counted; rig_listen before. */
void rig_listen(struct rig *r, unsigned thread, unsigned tap, enum signal sig);
uint64_t rig_count(struct rig *r, unsigned thread, unsigned tap);
/* The formulas of pmu/sim/memory/memory.c, computed afresh. */
uint64_t rig_l3(const struct machine *m, uint64_t more_uncore_cycles);
uint64_t rig_ps(const struct machine *m, uint64_t ps);

#endif
