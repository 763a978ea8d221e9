/* pmu/sampling_gate.h: registers by which sampling into the debug store begins and ends.
 *
 * The processor writes a record whenever an armed event retires, to the address in IA32_DS_AREA, which is mapped only while a
 * job runs. Therefore drivers prepare all other registers, and the job itself writes these: on before the kernel in the list's
 * order, off after it in reverse order (asm/measure_sampled.asm, k_measure_sampled). A register whose two values are equal is
 * not written after the kernel: it holds the sample itself. After a job that did not end k_measure_off is called (struct job,
 * `undo`). */
#ifndef PMU_SAMPLING_GATE_H
#define PMU_SAMPLING_GATE_H

#include "asm/kernel.h"
#include "pmu/access.h"

struct sampling_gate {
	unsigned count;
	struct { uint32_t msr; uint64_t on, off; } list[MEASURE_GATES_MAX];
	uint64_t settle_tsc;    /* TSC ticks after `off` in which records may still be written */
};

static inline bool sampling_gate_closes(const struct sampling_gate *g, unsigned i) { return g->list[i].on != g->list[i].off; }

/* Adds a register; count stays below MEASURE_GATES_MAX. */
static inline void sampling_gate_add(struct sampling_gate *g, uint32_t msr, uint64_t on, uint64_t off)
{
	g->list[g->count].msr = msr;
	g->list[g->count].on = on;
	g->list[g->count++].off = off;
}

/* Stores the gate in the block of a job whose entry is k_measure_sampled. */
static inline void sampling_gate_load(const struct sampling_gate *g, struct measure_block *block)
{
	block->gates = g->count;
	block->settle_tsc = g->settle_tsc;
	for (unsigned i = 0; i < g->count; i++) {
		block->gate_list[i].msr = g->list[i].msr;
		block->gate_list[i].on = g->list[i].on;
		block->gate_list[i].off = g->list[i].off;
	}
}

#endif
