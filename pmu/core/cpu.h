/* pmu/core/cpu.h: the processor at hand, as discovered through a backend. */
#ifndef PMU_CPU_H
#define PMU_CPU_H

#include "pmu/access.h"
#include "tables/processor.h"

#define CPU_CACHES_MAX 8
#define CPU_EXTRAS_MAX 4
#define CPU_SELECT_MASK2 (0xFFull << 40) /* second unit mask */
#define CPU_SELECT_EQUAL (1ull << 36)    /* count == cmask */

struct cpu_cache {
	uint8_t level;
	char type;             /* 'D', 'I', 'U' */
	uint16_t ways;         /* 0xFFFF fully associative */
	uint32_t line_bytes;
	uint64_t bytes;
	uint16_t shared_by;    /* logical processors that share one instance, at most */
	bool inclusive;
};

/* Layout of the general counters' registers. */
enum pmu_kind { PMU_INTEL, PMU_AMD_LEGACY, PMU_AMD }; /* PMU_AMD_LEGACY: four counters; PMU_AMD: as CPUID enumerates them */

/* Last-branch records: Intel's model-specific ones, which descriptors give (pairs is 0 here); AMD's LbrExtV2; Intel's architectural ones. For the last:
 * whether they filter by privilege level and by kind of branch, and whether they flag mispredictions (CPUID leaf 0x1C). */
enum branch_records_kind { BRANCH_RECORDS_MODEL, BRANCH_RECORDS_AMD, BRANCH_RECORDS_ARCHITECTURAL };
struct cpu_branch_records { uint8_t pairs; enum branch_records_kind kind; bool levels, kinds, mispredicted; };

struct cpu {
	char vendor[13];
	char brand[49];
	uint32_t signature;       /* CPUID 1 EAX */
	uint16_t family, model;   /* as displayed */
	uint8_t stepping;
	uint32_t core_kind;       /* CPUID 0x1A EAX of core 0: [31:24] type, [23:0] model of the core; 0: not reported */
	uint32_t isa;             /* enum isa of asm/kernel.h; OS-enabled state included */
	bool hypervisor;          /* CPUID 1 ECX[31] */
	uint32_t microcode;       /* MSR 0x8B [63:32], 0 unknown */
	struct cpu_cache caches[CPU_CACHES_MAX];
	uint8_t cache_count;
	struct tlb_facts tlb;     /* from CPUID if enumerated, else from the descriptor */
	bool tlb_enumerated;      /* CPUID enumerates TLBs: those not in `tlb` are absent */
	/* architectural PMU, CPUID 0xA; on AMD version 2 has a register that enables all counters together, version 1 has none */
	uint8_t pmu_kind;         /* enum pmu_kind */
	uint8_t pmu_version, general_counters, general_width, fixed_counters, fixed_width;
	uint32_t general_mask, fixed_mask; /* counters that exist and may be used, bit n = counter n */
	uint64_t unlisted;            /* bits of IA32_PERF_GLOBAL_CTRL of existing counters that no descriptor lists */
	const char *pmu_absent;       /* why no PMU is usable, NULL if one is */
	uint32_t extras_absent[CPU_EXTRAS_MAX]; /* MSRs that events need in addition to the select, and that do not answer; terminated by 0 */
	uint64_t select_bits;         /* bits of IA32_PERFEVTSELn that CPUID 0x23 EBX reports: CPU_SELECT_MASK2, CPU_SELECT_EQUAL */
	bool any_thread;              /* counters can count for both threads of their core: AnyThread, from version 3, unless CPUID 0xA EDX[15] */
	uint32_t arch_events_missing; /* CPUID 0xA EBX */
	uint64_t perf_capabilities;   /* MSR 0x345, 0 if there is none */
	bool pebs;                    /* debug store present, not disabled, record format known */
	uint32_t ibs;                 /* instruction-based sampling: CPUID 0x8000001B EAX; 0: none */
	struct cpu_branch_records branch_records; /* last-branch records that CPUID enumerates */
	uint8_t physical_address_bits;
	uint16_t threads_per_core, threads_per_package; /* CPUID 0x1F or 0xB; on a NetBurst without them 1 and 4; 0 unknown */
	const struct processor *processor; /* the descriptor that matched, never NULL after ST_OK */
};

/* Number of bits set (the freestanding build has no run-time library for the builtin). */
static inline unsigned bit_count(uint32_t value)
{
	unsigned n = 0;
	for (; value; value &= value - 1)
		n++;
	return n;
}

/* Whether CPUID's vendor is AMD, or one that licenses its cores. */
bool cpu_vendor_is_amd(const char *vendor);
/* Fills *cpu from core 0 of the backend. Checks every leaf: a nonsensical one is ignored. ST_OK also for a processor that
 * only the generic rows describe. */
MUST_CHECK enum status cpu_identify(const struct access *a, struct cpu *cpu);
/* Gives *cpu the generic descriptor and no counters: what remains applies to cores of several kinds. */
void cpu_without_counters(struct cpu *cpu);
/* cpu_check.c: where CPUID contradicts the descriptor, CPUID's value is used. Appends the differences to *t, separated by
 * semicolons. false: there are none. */
struct text;
bool cpu_contradictions(const struct cpu *cpu, struct text *t);
/* The data (or unified) cache of a level; NULL if there is none. */
const struct cpu_cache *cpu_cache(const struct cpu *cpu, unsigned level);
/* Lines at this distance share a set of the cache; 0 if unknown (NULL, fully associative or no associativity reported). */
uint64_t cpu_cache_way_bytes(const struct cpu_cache *c);
/* Level of the last cache, 0 if none is known. */
unsigned cpu_last_level(const struct cpu *cpu);

/* NetBurst's counters, bit c for counter c, without those that the processor's quirks exclude. */
#define CPU_NETBURST_COUNTERS 18
#define CPU_NETBURST_COUNTER_BITS 40
uint32_t cpu_netburst_counters(const struct processor *p);

#endif
