/* pmu/sim/netburst.h: the simulated counters of NetBurst (family 15): 18 counters, their CCCRs, the ESCRs, the tagging of replays.
 *
 * Written from the SDM's tables of which ESCR each select of each counter reaches, never from the driver's bindings.
 *
 * Not modelled: two threads a core (their registers are one set), the increments of at most 15 a cycle, counts of what never
 * retires, and every event whose row says so. What netburst_retired.c leaves out stands there. */
#ifndef SIM_NETBURST_H
#define SIM_NETBURST_H

#include "pmu/base.h"
#include "pmu/sim/signal.h"

#define NETBURST_SIM_COUNTERS 18
#define NETBURST_SIM_ESCR 0x3A0u
#define NETBURST_SIM_ESCRS 0x42u

struct sim_netburst {
	struct {
		uint64_t base, wraps; /* value when the tap was set; of its wraps those that OVF has shown */
		bool tapped;
		bool written;         /* by the first of the two writes that one takes (erratum N15) */
		bool retired;         /* counts as instructions retire: netburst_retired.c */
		bool armed, next;     /* overflowed: the next event leaves a record; asks for an interrupt */
	} counter[NETBURST_SIM_COUNTERS];
	uint32_t cccr[NETBURST_SIM_COUNTERS];
	uint32_t escr[NETBURST_SIM_ESCRS];
	uint32_t pebs_enable, matrix_vert;
	uint64_t before[17];      /* registers and flags behind the instruction that retired last */
	uint64_t interrupt_cycle; /* when the interrupt that was asked for comes; 0: none was */
};

struct counters;
struct machine;
struct sim_finding;
/* counters_rdmsr and counters_wrmsr ask these first on such a machine. ST_MISSING: no register of theirs. */
MUST_CHECK enum status netburst_sim_read(struct counters *p, uint32_t msr, uint64_t *value);
MUST_CHECK enum status netburst_sim_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f);
MUST_CHECK enum status netburst_sim_rdpmc(struct counters *p, uint32_t index, uint64_t *value);
/* What a retired instruction is to counters that count at retirement; whether there is one; counters_interrupt's answer. */
struct retired;
struct hart_regs;
void netburst_sim_retired(struct counters *p, const struct retired *r, const struct hart_regs *regs);
bool netburst_sim_wants_retired(const struct counters *p);
/* Whether all that an ESCR of this value asks for is counted. */
bool netburst_sim_counts(const struct machine *m, uint32_t escr_msr, uint32_t escr);
/* Whether the machine has them. */
bool netburst_sim(const struct counters *p);

#endif
