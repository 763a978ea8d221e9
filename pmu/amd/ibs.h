/* pmu/amd/ibs.h: instruction-based sampling of ops (IBS) on AMD's processors, without an interrupt.
 *
 * The processor counts dispatched ops and tags the one at which a maximum is reached. When that has retired, registers tell its address, the
 * address and the source of its data, and how long the miss took. Then sampling stands still until a write enables it again. So a job takes one
 * sample: it enables sampling itself (sampling_gate.h), runs at least `ops` ops, disables it, and the registers are read afterwards. The
 * interrupt's local vector stays masked (efi/processor/quiet.c).
 *
 * Sources: AMD64 manual volume 2 (24593), 13.3; CPUID 0x8000001B in volume 3; data sources and erratum 1293: Linux 6.12 events/amd/ibs.c (facts
 * only). */
#ifndef PMU_AMD_IBS_H
#define PMU_AMD_IBS_H

#include "pmu/core/cpu.h"
#include "pmu/sampling_gate.h"

/* Capabilities, CPUID 0x8000001B EAX. */
#define IBS_OP        (1u << 2)
#define IBS_COUNT_OPS (1u << 4)
#define IBS_SOURCES_5 (1u << 11) /* data sources of five bits; the filter for misses of the L3 */
#define IBS_LATENCY   (1u << 12) /* the filter for loads that took long */

#define IBS_THRESHOLD_STEP 128u /* cycles */
#define IBS_THRESHOLD_MOST 2048u

/* Registers as read. */
struct ibs_registers { uint64_t ip, data, data2, data3, linear, physical; };

/* The source of a load's data: codes 1 to 8 and 12 as recorded (five bits: PPR of family 19h models 10h to 1Fh; three bits: 2, 3, 4 and 7), and
 * further codes derived from other fields. They are the codes of the processor's table of data sources. */
enum ibs_source {
	IBS_UNKNOWN = 0, IBS_L1 = 9, IBS_IN_FLIGHT = 10, IBS_DRAM_REMOTE = 11, IBS_EXTENSION_REMOTE = 13, IBS_L2 = 14, IBS_UNCACHED = 15
};

/* A sampled op. */
struct ibs_op {
	uint64_t ip, linear, physical;   /* linear: 0 unless has_linear */
	uint16_t miss_cycles;            /* from the L1 miss to the arrival of the data, core cycles; only for loads that missed */
	uint16_t refill_cycles;          /* of the first-level TLB's refill; 0: it hit */
	uint16_t completed_cycles, tagged_cycles; /* from completion, and from tagging, to retirement */
	uint8_t source;                  /* of a load: enum ibs_source or as recorded, below 16 */
	uint8_t bytes;                   /* of the access, 0 unknown */
	uint8_t misses_open;             /* of the L1, when the op's was sent */
	bool load, store, has_ip, has_linear, has_physical, locked, misaligned, prefetch;
	bool missed, missed_l2, missed_tlb, missed_second_tlb;
	bool has_source;                 /* of a load whose source the registers hold */
};

/* Decodes the registers. `broken_source`: the data source is not valid for software prefetches and misses that got no buffer of their own
 * (erratum 1293). ST_BROKEN: fields contradict each other. */
MUST_CHECK enum status ibs_decode(const struct ibs_registers *r, uint32_t capabilities, bool broken_source, struct ibs_op *out);

struct ibs {
	const struct access *a;
	const struct cpu *cpu;
	unsigned core;
	unsigned ops;                /* between the start and the sample at most */
	uint64_t filter;             /* bits of IBS_OP_CTL */
	bool broken_source;
	struct sampling_gate gate;   /* the registers that the sampled job writes */
	struct ibs_registers before; /* when the job began */
};

/* Whether the processor's descriptor has the quirk of that name. */
bool ibs_has_erratum(const struct cpu *cpu, const char *quirk);

/* Prepares sampling on a core; writes nothing. ST_UNSUPPORTED with *why: no IBS, or none that counts ops. */
MUST_CHECK enum status ibs_open(struct ibs *s, const struct access *a, const struct cpu *cpu, unsigned core, const char **why);
/* Restricts samples to loads that miss the L3 (misses 1), or to those whose line took at least `misses` cycles, a multiple of the step; 0: samples all ops.
 * ST_UNSUPPORTED with *why: the processor has no such filter. */
MUST_CHECK enum status ibs_filter(struct ibs *s, unsigned misses, const char **why);
/* Prepares the next sample, whose job writes s->gate. */
MUST_CHECK enum status ibs_start(struct ibs *s);
/* Disables sampling if the job did not. *taken: *out has a sample. */
MUST_CHECK enum status ibs_stop(struct ibs *s, bool *taken, struct ibs_op *out);

#endif
