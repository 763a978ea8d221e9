/* pmu/sim/amd/ibs.h: instruction-based sampling of AMD's processors: the registers of one thread, and op sampling. */
#ifndef SIM_AMD_IBS_H
#define SIM_AMD_IBS_H

#include "pmu/sim/amd/ibs_fetch.h"

#define SIM_IBS_WORDS 7 /* registers 0xC0011033 to 0xC0011039 */

struct sim_ibs {
	uint64_t word[SIM_IBS_WORDS];
	struct sim_ibs_fetch fetch;
	uint64_t began_cycle;    /* the cycle up to which cycles are counted; 0: counting begins with the next instruction */
	uint32_t state;          /* of the generator of a count's start value */
	uint64_t taken;          /* samples since reset, for fault.ibs_drop_every */
};

/* ST_MISSING: not a register of this unit, or the machine has none. */
MUST_CHECK enum status sim_ibs_read(const struct machine *m, const struct sim_ibs *s, uint32_t msr, uint64_t *value);
/* ST_FAULT: #GP. *why is its reason, or the reason of a finding about an accepted write; *kind is the finding's kind. */
MUST_CHECK enum status sim_ibs_write(const struct machine *m, struct sim_ibs *s, uint32_t msr, uint64_t value, enum finding_kind *kind, const char **why);
/* Whether the next instructions or fetches may be sampled. */
bool sim_ibs_wants(const struct machine *m, const struct sim_ibs *s);
/* Called for each retired instruction, in program order. */
void sim_ibs_retired(const struct machine *m, struct sim_ibs *s, const struct retired *r);
/* CPUID 0x8000001B EAX. */
uint32_t sim_ibs_capabilities(const struct machine *m);

#endif
