/* pmu/sim/counters/netburst.h: the simulated counters of NetBurst (family 15): 18 counters, their CCCRs, the ESCRs, the
 * tagging of replays.
 *
 * Written from the SDM's tables of the ESCR that each select of each counter reaches, never from the driver's bindings. What an ESCR's select
 * and mask detect is in the machine's event map.
 *
 * Two threads of a core share one set of these registers. The value of a counter with active threads other than any, or of the
 * other thread, is exact cycle by cycle; that of others when the counter's thread is serialised.
 *
 * Not modelled: increments above 15 per cycle, tagged uops that never retire, events whose rows say so, a thread that the
 * machine file keeps awake (fault.busy_core) as an active one, the thread that is in system management mode;
 * netburst_retired.c states more. */
#ifndef SIM_NETBURST_H
#define SIM_NETBURST_H

#include "pmu/base.h"
#include "pmu/sim/signals/signal.h"

#define NETBURST_SIM_COUNTERS 18
#define NETBURST_SIM_ESCR 0x3A0u
#define NETBURST_SIM_ESCRS 0x42u

/* An ESCR that tags uops according to the map's rows: its value, the rows' kinds and conditions (enum precise). */
struct sim_netburst_tagger { uint32_t escr, kinds; uint64_t conditions; };

struct counters;
struct sim_netburst {
	struct signals *home[3];  /* of the taps: the first thread's, the second's, both's */
	struct counters *thread[2];
	struct {
		uint64_t base, wraps; /* value when the tap was set; wraps since then that OVF already shows */
		bool tapped;
		uint8_t home;
		bool written;         /* once, where it takes two writes (erratum N15) */
		uint64_t pending;     /* ... with this value */
		bool told_once;       /* ... and the missing second one has been reported */
		const char *told;     /* the mistake reported since its CCCR or ESCR changed */
		uint32_t off;         /* `writes` when it was last disabled; 0: never */
		bool retired;         /* counts as instructions retire: netburst_retired.c */
		uint32_t kinds;       /* ... the properties of its event: enum event_flag */
		uint64_t conditions;  /* ... the conditions of enum precise that it counts */
		bool armed, next;     /* overflowed: the next event writes a record (armed), raises an interrupt (next) */
	} counter[NETBURST_SIM_COUNTERS];
	uint32_t cccr[NETBURST_SIM_COUNTERS];
	uint32_t escr[NETBURST_SIM_ESCRS];
	uint32_t writes, written[NETBURST_SIM_ESCRS]; /* number of writes to ESCRs and of those that disabled a CCCR; `writes` when each ESCR was last written */
	uint32_t pebs_enable, matrix_vert; /* IA32_PEBS_ENABLE as thread 0 sees it; thread 1 sees bits 25 and 26 swapped */
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
/* Called after a write: reports mistakes that involve several registers. */
void netburst_sim_lint(struct counters *p, struct sim_finding *f, uint32_t address, uint64_t value);
/* Called after software has read a register: reports an enabled counter whose value was written only once. */
void netburst_sim_lint_read(struct counters *p, uint32_t msr, struct sim_finding *f);
MUST_CHECK enum status netburst_sim_rdpmc(struct counters *p, uint32_t index, uint64_t *value);
struct retired;
struct hart_regs;
/* Passes a retired instruction to the counters that count at retirement; whether there are any. */
void netburst_sim_retired(struct counters *p, const struct retired *r, const struct hart_regs *regs);
bool netburst_sim_wants_retired(const struct counters *p);
/* counters_armed for these counters. */
bool netburst_sim_armed(const struct counters *p);
/* Whether all that an ESCR of this value selects is counted. */
bool netburst_sim_counts(const struct machine *m, uint32_t escr_msr, uint32_t escr);
/* Makes p share the register file of its core's first thread. */
void netburst_sim_pair(struct counters *p, struct counters *first, struct signals *both);
/* Whether the machine has NetBurst counters. */
bool netburst_sim(const struct counters *p);

#endif
