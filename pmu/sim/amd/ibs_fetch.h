/* pmu/sim/amd/ibs_fetch.h: instruction-based sampling of AMD's processors: fetch sampling and its registers of one thread. */
#ifndef SIM_AMD_IBS_FETCH_H
#define SIM_AMD_IBS_FETCH_H

#include "pmu/base.h"
#include "pmu/sim/core/core.h"
#include "pmu/sim/findings/finding.h"

struct sim_ibs_fetch {
	uint64_t control, linear, physical, extended;
	uint32_t count;  /* of fetches; the control register has bits 19:4 */
	uint32_t state;  /* of the generator of its lowest bits */
	uint64_t taken;  /* samples since reset, for fault.ibs_drop_every */
};

/* ST_MISSING: not a register of this unit, or the machine has none. */
MUST_CHECK enum status sim_ibs_fetch_read(const struct machine *m, const struct sim_ibs_fetch *s, uint32_t msr, uint64_t *value);
/* As sim_ibs_write. */
MUST_CHECK enum status sim_ibs_fetch_write(const struct machine *m, struct sim_ibs_fetch *s, uint32_t msr, uint64_t value, enum finding_kind *kind, const char **why);
/* Whether the next fetches may be sampled. */
bool sim_ibs_fetch_wants(const struct machine *m, const struct sim_ibs_fetch *s);
/* Called for each fetch, in the order of their beginnings; page_bytes 0: unknown. */
void sim_ibs_fetch_done(const struct machine *m, struct sim_ibs_fetch *s, const struct fetched *f, uint64_t page_bytes);

#endif
