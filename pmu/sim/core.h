/* pmu/sim/core.h: the out-of-order core as a timestamp model in program order.
 *
 * For each instruction, as it is executed functionally (exec.h), the core computes when its
 * uops are allocated, dispatched, completed and retired, given issue width, ROB, RS, load and
 * store buffers, ports, latencies and memory; and tells signals what happened in which cycle. */
#ifndef SIM_CORE_H
#define SIM_CORE_H

#include "pmu/base.h"
#include "pmu/sim/decode.h"
#include "pmu/sim/exec.h"
#include "pmu/sim/machine.h"
#include "pmu/sim/memory.h"
#include "pmu/sim/signal.h"

/* What a retired instruction was, for precise events, LBR and the load-latency facility. */
struct retired {
	uint64_t ip, next_ip;
	uint64_t cycle;           /* of retirement */
	const struct insn *insn;
	const struct effects *effects;
	enum mem_source source;   /* of its load */
	uint8_t dtlb_level;       /* 1, 2, 3 as in tlb_reply; 0 no load */
	uint32_t load_latency;    /* cycles from first dispatch of the load to its data */
	bool mispredicted;
	bool store_dtlb_walk;
	uint8_t uops_fused, uops_unfused;
};

struct core_thread; /* one hardware thread's pipeline state; core.c */

/* hook: called in program order for each retired instruction while `want_retired` is on. */
struct core_hooks {
	void *self;
	void (*retired)(void *self, unsigned thread, const struct retired *r);
};

size_t core_bytes(const struct machine *m);
struct core_thread *core_init(void *at, const struct machine *m, unsigned core, unsigned thread,
                              struct memory *memory, struct signals *signals, const struct core_hooks *hooks);
void core_want_retired(struct core_thread *c, bool on);

/* Accounts one instruction that exec has just carried out. */
MUST_CHECK enum status core_account(struct core_thread *c, const struct insn *in, const struct effects *e, uint64_t ip);
/* Drains the pipeline: all cursors meet at the returned cycle, all earlier cycles are closed.
 * Called before RDPMC, RDTSC, CPUID are carried out, and at the end of a run. */
uint64_t core_serialise(struct core_thread *c);
/* The cycle that the front of this thread has reached: the scheduler steps the lowest. */
uint64_t core_clock(const struct core_thread *c);
/* Lets the thread's clock jump to `cycle` (it was parked until then); nothing is counted. */
void core_resume(struct core_thread *c, uint64_t cycle);

#endif
