/* pmu/sim/findings/register.h: names of the registers of performance monitoring, and which of them a trace can be held against. */
#ifndef SIM_REGISTER_H
#define SIM_REGISTER_H

#include "pmu/base.h"
#include "pmu/sim/findings/finding.h"
#include "pmu/sim/machine/machine.h"
#include "pmu/text.h"

struct sim_register {
	uint32_t first, last;
	bool holds;       /* reads as it was written; else it changes by itself */
	const char *name; /* numbered from 0 if there are several */
	const char *counter; /* what the counter is called that has one of these to itself; NULL: no one counter has it */
	const char *paragraph; /* of the manual */
};

/* The register of performance monitoring at an address of a machine of this kind, whether or not the machine has it; NULL: the address
 * is none of these. */
const struct sim_register *sim_register_find(const struct machine *m, uint32_t msr);
/* Adds the paragraph about its register, and the register's counter, to a finding without them. */
void sim_register_complete(const struct machine *m, struct sim_finding *f);
/* "IA32_PERFEVTSEL1 (0x187)"; of others only the address. */
void sim_register_name(struct text *out, const struct machine *m, uint32_t msr);

#endif
