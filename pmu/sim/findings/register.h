/* pmu/sim/findings/register.h: names of the performance-monitoring registers, and which of them hold what was written, so that a trace can be compared. */
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
	const char *counter; /* what the counter that owns the register is called; NULL: no single counter owns it */
	const char *paragraph; /* of the manual */
};

/* The performance-monitoring register at an address of machines of this kind, whether or not this one has it; NULL: there is none. */
const struct sim_register *sim_register_find(const struct machine *m, uint32_t msr);
/* Adds the paragraph about its register, and the register's counter, to a finding that lacks them. */
void sim_register_complete(const struct machine *m, struct sim_finding *f);
/* "IA32_PERFEVTSEL1 (0x187)"; of an unknown one only the address. */
void sim_register_name(struct text *out, const struct machine *m, uint32_t msr);

#endif
