/* pmu/sim/counters/netburst.h: the simulated counters of NetBurst (family 15): 18 counters, their CCCRs, the ESCRs, the
 * tagging of replays.
 *
 * Written from the SDM's tables of which ESCR each select of each counter reaches, never from the driver's bindings. What an ESCR's select
 * and mask detect is in the machine's event map.
 *
 * Two threads of a core share one set of these registers. Counts of a counter with active threads other than any, or of the
 * other thread, are known cycle by cycle; others when the counter's thread is serialised.
 *
 * Not modelled: increments above 15 a cycle, counts of what never retires, every event whose row says so, a thread that the
 * machine file keeps awake (fault.busy_core) as active, which thread is in system management mode. netburst_retired.c
 * states what it leaves out. */
#ifndef SIM_NETBURST_H
#define SIM_NETBURST_H

#include "pmu/base.h"
#include "pmu/sim/signals/signal.h"

#define NETBURST_SIM_COUNTERS 18
#define NETBURST_SIM_ESCR 0x3A0u
#define NETBURST_SIM_ESCRS 0x42u

/* An ESCR that tags uops as the map's rows say: its value, their kinds and conditions (enum precise). */
struct sim_netburst_tagger { uint32_t escr, kinds; uint64_t conditions; };

struct counters;
struct sim_netburst {
	struct signals *home[3];  /* where taps are: the first thread's, the second's, both's */
	struct counters *thread[2];
	struct {
		uint64_t base, wraps; /* value when the tap was set; wraps of it that OVF has shown */
		bool tapped;
		uint8_t home;
		bool written;         /* by the first of the two writes that it takes (erratum N15) */
		uint64_t pending;     /* ... which had this value */
		bool told_once;       /* ... and the missing second one has been reported */
		const char *told;     /* the mistake reported since its CCCR or ESCR changed */
		uint32_t off;         /* `writes` when it was last disabled; 0: never */
		bool retired;         /* counts as instructions retire: netburst_retired.c */
		uint32_t kinds;       /* ... what is so special about its event: enum event_flag */
		uint64_t conditions;  /* ... which of enum precise it counts */
		bool armed, next;     /* overflowed: the next event writes a record; raises an interrupt */
	} counter[NETBURST_SIM_COUNTERS];
	uint32_t cccr[NETBURST_SIM_COUNTERS];
	uint32_t escr[NETBURST_SIM_ESCRS];
	uint32_t writes, written[NETBURST_SIM_ESCRS]; /* of ESCRs and disabling ones of CCCRs, so far; `writes` when each ESCR was last written */
	uint32_t pebs_enable, matrix_vert; /* IA32_PEBS_ENABLE as thread 0 sees it: thread 1 has bits 25 and 26 swapped */
	struct sim_netburst_tagger tagger[NETBURST_SIM_ESCRS];
	unsigned tagger_count;
};

/* State of each thread. */
struct sim_netburst_thread {
	uint64_t before[17];      /* registers and flags after the last retired instruction */
	uint64_t interrupt_cycle; /* when the raised interrupt arrives; 0: none */
};

struct machine;
struct sim_finding;
/* counters_rdmsr and counters_wrmsr try these first on such a machine. ST_MISSING: not one of these registers. */
MUST_CHECK enum status netburst_sim_read(struct counters *p, uint32_t msr, uint64_t *value);
MUST_CHECK enum status netburst_sim_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f);
/* After a write: mistakes that lie in several registers. */
void netburst_sim_lint(struct counters *p, struct sim_finding *f, uint32_t address, uint64_t value);
/* After a read of a register by software: a counter that is on, and whose value was written once. */
void netburst_sim_lint_read(struct counters *p, uint32_t msr, struct sim_finding *f);
MUST_CHECK enum status netburst_sim_rdpmc(struct counters *p, uint32_t index, uint64_t *value);
/* A retired instruction for counters that count at retirement; whether there are any; the answer of counters_interrupt. */
struct retired;
struct hart_regs;
void netburst_sim_retired(struct counters *p, const struct retired *r, const struct hart_regs *regs);
bool netburst_sim_wants_retired(const struct counters *p);
/* counters_armed's answer. */
bool netburst_sim_armed(const struct counters *p);
/* Whether everything that an ESCR of this value asks for is counted. */
bool netburst_sim_counts(const struct machine *m, uint32_t escr_msr, uint32_t escr);
/* Makes p share the register file of its core's first thread. */
void netburst_sim_pair(struct counters *p, struct counters *first, struct signals *both);
/* Whether the machine has NetBurst counters. */
bool netburst_sim(const struct counters *p);

#endif
