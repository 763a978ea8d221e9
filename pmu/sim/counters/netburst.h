/* pmu/sim/counters/netburst.h: the simulated counters of NetBurst (family 15): 18 counters, their CCCRs, the ESCRs, the tagging of replays.
 *
 * Written from the SDM's tables of which ESCR each select of each counter reaches, never from the driver's bindings.
 *
 * Two threads of a core have one set of these registers. What a counter with active threads other than any, or of the other
 * thread, has counted is known cycle by cycle; the rest when its thread is serialised.
 *
 * Not modelled: the increments of at most 15 a cycle, counts of what never retires, and every event whose row says so; that a
 * thread which the machine's file keeps awake (fault.busy_core) is active; which thread is in system management mode. What
 * netburst_retired.c leaves out stands there. */
#ifndef SIM_NETBURST_H
#define SIM_NETBURST_H

#include "pmu/base.h"
#include "pmu/sim/counters/signal.h"

#define NETBURST_SIM_COUNTERS 18
#define NETBURST_SIM_ESCR 0x3A0u
#define NETBURST_SIM_ESCRS 0x42u

struct counters;
struct sim_netburst {
	struct signals *home[3];  /* of the first thread, of the second, of both: where taps are */
	struct counters *thread[2];
	struct {
		uint64_t base, wraps; /* value when the tap was set; of its wraps those that OVF has shown */
		bool tapped;
		uint8_t home;
		bool written;         /* by the first of the two writes that one takes (erratum N15) */
		bool retired;         /* counts as instructions retire: netburst_retired.c */
		bool armed, next;     /* overflowed: the next event leaves a record; asks for an interrupt */
	} counter[NETBURST_SIM_COUNTERS];
	uint32_t cccr[NETBURST_SIM_COUNTERS];
	uint32_t escr[NETBURST_SIM_ESCRS];
	uint32_t pebs_enable, matrix_vert; /* IA32_PEBS_ENABLE as thread 0 sees it: for thread 1 bits 25 and 26 change places */
};

/* What is each thread's own. */
struct sim_netburst_thread {
	uint64_t before[17];      /* registers and flags behind the instruction that retired last */
	uint64_t interrupt_cycle; /* when the interrupt that was asked for comes; 0: none was */
};

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
/* Makes p's register file the one of its core's first thread. */
void netburst_sim_pair(struct counters *p, struct counters *first, struct signals *both);
/* Whether the machine has them. */
bool netburst_sim(const struct counters *p);

#endif
