/* pmu/amd/ibs_fetch.h: instruction-based sampling of fetches (IBS) on AMD's processors, without an interrupt.
 *
 * The processor counts fetches of code and tags the one at which a maximum is reached. When that is complete or abandoned, its control register tells how long
 * it took and what it missed, and sampling stands still until a write clears the bit that says so. So a job takes one sample: it enables sampling
 * itself (sampling_gate.h), runs at least `fetches` fetches more, and leaves the register as it is: what switches sampling off would
 * overwrite the sample. The interrupt's local vector stays masked (efi/processor/quiet.c).
 *
 * Sources: AMD64 manual volume 2 (24593), 13.3; CPUID 0x8000001B in volume 3; PPR of family 19h models 10h to 1Fh, MSRC001_1030; errata 1197, 1238 and 1347:
 * Linux 6.12 events/amd/ibs.c and tools/perf/util/amd-sample-raw.c (facts only). */
#ifndef PMU_AMD_IBS_FETCH_H
#define PMU_AMD_IBS_FETCH_H

#include "pmu/core/cpu.h"
#include "pmu/sampling_gate.h"

/* Capabilities, CPUID 0x8000001B EAX, beside those of ibs.h. */
#define IBS_FETCH  (1u << 1)
#define IBS_REFILL (1u << 9) /* a register holds the latency of the translation */

#define IBS_FETCH_STEP 16u   /* of the maximum, fetches */
#define IBS_FETCH_MOST 0xFFFF0u

/* Registers as they were read; `extended` 0 where there is none. */
struct ibs_fetch_registers { uint64_t control, linear, physical, extended; };

/* Errata of a processor's samples. */
struct ibs_fetch_errata {
	bool no_miss;    /* 1238: the bit of L1I misses is not valid */
	bool more_sizes; /* 1347: the page size has another code */
};

/* A sampled fetch. */
struct ibs_fetch {
	uint64_t linear, physical;  /* physical: 0 unless has_physical */
	uint16_t latency_cycles;    /* from the start of the fetch to its data, or to the cycle in which it was abandoned */
	uint16_t refill_cycles;     /* of the first-level TLB's refill, where the processor records it; 0: it hit */
	uint32_t page_bytes;        /* of the first-level translation, 0 unknown */
	bool complete, has_physical;
	bool missed, has_missed;    /* the L1I; whether the processor records that */
	bool missed_l2;
	bool missed_l3, missed_op_cache, has_missed_l3; /* the last: whether the processor records these two */
	bool missed_tlb, missed_second_tlb;
};

/* Decodes the registers. */
void ibs_fetch_decode(const struct ibs_fetch_registers *r, uint32_t capabilities, struct ibs_fetch_errata errata, struct ibs_fetch *out);

struct ibs_fetcher {
	const struct access *a;
	const struct cpu *cpu;
	unsigned core;
	uint64_t filter;             /* bits of IBS_FETCH_CTL */
	struct ibs_fetch_errata errata;
	struct sampling_gate gate;   /* the registers that the sampled job writes */
};

/* Prepares sampling on a core; writes nothing. ST_UNSUPPORTED with *why: no IBS of fetches. */
MUST_CHECK enum status ibs_fetch_open(struct ibs_fetcher *s, const struct access *a, const struct cpu *cpu, unsigned core, const char **why);
/* Restricts samples to fetches that miss the L3. ST_UNSUPPORTED with *why: the processor has no such filter. */
MUST_CHECK enum status ibs_fetch_filter(struct ibs_fetcher *s, const char **why);
/* Prepares the next sample: of the fetch number `fetches` after the start, a multiple of IBS_FETCH_STEP, or of one up to a step earlier. Its job writes s->gate.
 * ST_RANGE: no step, or beyond IBS_FETCH_MOST. */
MUST_CHECK enum status ibs_fetch_start(struct ibs_fetcher *s, unsigned fetches);
/* Reads the sample and disables sampling. *taken: *out has a sample. */
MUST_CHECK enum status ibs_fetch_stop(struct ibs_fetcher *s, bool *taken, struct ibs_fetch *out);

#endif
