/* pmu/core/amd_counters.h: the core counters of AMD processors from family 10h on: where they are, and how many.
 *
 * Sources: APM volume 2, 13.2 "Performance Monitoring Counters"; CPUID leaves 0x80000001 and 0x80000022 in APM volume 3, appendix E;
 * Linux 6.12 events/amd/core.c (facts only). PERF_CTL has the fields of IA32_PERFEVTSEL, and bits 11:8 of the event code in 35:32.
 *
 * What it does not do: large increments (two counters joined by event 0xFFF), IBS, the counters of the L3, the data fabric and the memory
 * controllers. */
#ifndef PMU_AMD_COUNTERS_H
#define PMU_AMD_COUNTERS_H

#include "pmu/core/cpu.h"

/* Fills in *cpu's counters from CPUID, as far as the descriptor lists their registers. If there are none, cpu->pmu_absent says why. */
void amd_identify(const struct access *a, struct cpu *cpu);
/* Registers of counter `counter`. */
uint32_t amd_select_msr(const struct cpu *cpu, unsigned counter);
uint32_t amd_count_msr(const struct cpu *cpu, unsigned counter);

/* Version 2: registers that enable all counters together and report their overflows; PERF_CTL's enable bit must be set, too. */
#define AMD_GLOBAL_STATUS 0xC0000300u
#define AMD_GLOBAL_CTL    0xC0000301u
#define AMD_GLOBAL_CLEAR  0xC0000302u

#endif
