/* pmu/core/probe.h: state while a processor is identified, shared by pmu/core/cpu.c and pmu/core/probe_memory.c. */
#ifndef PMU_PROBE_H
#define PMU_PROBE_H

#include "pmu/access.h"
#include "pmu/core/cpu.h"

struct probe {
	const struct access *a;
	uint32_t basic_max, extended_max;
	struct cpu *cpu;
	bool intel, amd;
	struct cpuid_regs one;         /* leaf 1 */
	struct cpuid_regs extended;    /* leaf 0x80000001 */
};

/* A leaf of core 0. False: there is none; *r is then all zeros. */
bool probe_leaf(const struct probe *p, uint32_t number, uint32_t sub, struct cpuid_regs *r);
static inline uint32_t probe_bits(uint32_t value, unsigned high, unsigned low)
{
	return (value >> low) & (uint32_t)((1ull << (high - low + 1)) - 1);
}

/* Fill in p->cpu's caches and TLBs: from CPUID, otherwise from the processor's description. */
void probe_caches(struct probe *p);
void probe_tlbs(struct probe *p);

#endif
