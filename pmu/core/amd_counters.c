/* pmu/core/amd_counters.c: see amd_counters.h. */
#include "pmu/core/amd_counters.h"

#define LEGACY_SELECT 0xC0010000u
#define LEGACY_COUNT  0xC0010004u
#define LEGACY_COUNTERS 4u
#define CORE_SELECT   0xC0010200u /* select and count alternate */
#define CORE_COUNTERS 6u          /* if leaf 0x80000022 does not report their number */
#define CORE_COUNTERS_MAX 16u
#define COUNTER_BITS  48u         /* APM volume 2, 13.2.1 */

#define LEAF_FEATURES 0x80000001u
#define FEATURE_CORE_COUNTERS (1u << 23) /* ECX: PerfCtrExtCore */
#define FEATURE_IBS (1u << 10)           /* ECX */
#define LEAF_IBS      0x8000001Bu
#define MSR_IBS_OP_CTL 0xC0011033u
#define LEAF_PERFMON  0x80000022u
#define PERFMON_V2    1u                 /* EAX */
#define PERFMON_LBR   2u                 /* EAX; EBX[9:4]: number of records */

uint32_t amd_select_msr(const struct cpu *cpu, unsigned counter)
{
	return cpu->pmu_kind == PMU_AMD_LEGACY ? LEGACY_SELECT + counter : CORE_SELECT + 2 * counter;
}

uint32_t amd_count_msr(const struct cpu *cpu, unsigned counter)
{
	return cpu->pmu_kind == PMU_AMD_LEGACY ? LEGACY_COUNT + counter : CORE_SELECT + 2 * counter + 1;
}

static bool listed(const struct processor *p, uint32_t msr)
{
	for (unsigned i = 0; i < p->msr_count; i++)
		if (msr >= p->msrs[i].first && msr <= p->msrs[i].last)
			return true;
	return false;
}

/* A leaf; zeros where there is none. */
static struct cpuid_regs leaf(const struct access *a, uint32_t number)
{
	struct cpuid_regs r = { 0 };
	if (a->ops->cpuid(a->self, 0, 0x80000000u, 0, &r) != ST_OK || r.eax < number || r.eax > 0x8000FFFFu)
		return (struct cpuid_regs){ 0 };
	if (a->ops->cpuid(a->self, 0, number, 0, &r) != ST_OK)
		return (struct cpuid_regs){ 0 };
	return r;
}

/* Firmware may hide the facility: the leaf's first bit says whether the others are valid. */
static uint32_t sampling(const struct access *a, const struct processor *p)
{
	const uint32_t capabilities = leaf(a, LEAF_FEATURES).ecx & FEATURE_IBS ? leaf(a, LEAF_IBS).eax : 0;
	return capabilities & 1 && listed(p, MSR_IBS_OP_CTL) ? capabilities : 0;
}

void amd_identify(const struct access *a, struct cpu *cpu)
{
	const bool core = leaf(a, LEAF_FEATURES).ecx & FEATURE_CORE_COUNTERS;
	const struct cpuid_regs perfmon = leaf(a, LEAF_PERFMON);
	const bool second = core && perfmon.eax & PERFMON_V2 && listed(cpu->processor, AMD_GLOBAL_CTL);
	unsigned counters = core ? CORE_COUNTERS : LEGACY_COUNTERS;

	if (!cpu->processor->event_count) {
		cpu->pmu_absent = "not an Intel processor: no architectural PMU";
		return;
	}
	cpu->ibs = sampling(a, cpu->processor);
	if (perfmon.eax & PERFMON_LBR && cpu->processor->lbr_pairs)
		cpu->branch_records = (struct cpu_branch_records){ .pairs = perfmon.ebx >> 4 & 0x3F, .kind = BRANCH_RECORDS_AMD };
	if (second && perfmon.ebx & 0xF)
		counters = perfmon.ebx & 0xF;
	cpu->pmu_kind = core ? PMU_AMD : PMU_AMD_LEGACY;
	cpu->pmu_version = second ? 2 : 1;
	cpu->general_width = COUNTER_BITS;
	for (unsigned c = 0; c < counters && c < CORE_COUNTERS_MAX; c++)
		if (listed(cpu->processor, amd_select_msr(cpu, c)) && listed(cpu->processor, amd_count_msr(cpu, c)))
			cpu->general_mask |= 1u << c;
	cpu->general_counters = (uint8_t)bit_count(cpu->general_mask);
	if (!cpu->general_mask) {
		cpu->pmu_version = 0;
		cpu->pmu_absent = "no counter of the descriptor";
	}
}
