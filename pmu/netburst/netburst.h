/* pmu/netburst/netburst.h: NetBurst's counters (family 15): 18 counters, their CCCRs, and the ESCRs that feed them with
 * events.
 *
 * Sources: Sprunt, Pentium 4 Performance-Monitoring Features, IEEE Micro 2002; SDM volume 3, debugging and performance
 * monitoring of NetBurst; Linux arch/x86/events/intel/p4.c and libpfm4 for codes and bindings (facts only). */
#ifndef PMU_NETBURST_H
#define PMU_NETBURST_H

#include "pmu/core/plan.h"
#include "pmu/text.h"

#define NETBURST_COUNTERS CPU_NETBURST_COUNTERS
#define NETBURST_WANTS_MAX 24
#define NETBURST_COUNTER_BITS CPU_NETBURST_COUNTER_BITS
#define NETBURST_CCCR_OFF (3u << 16) /* the active-threads field must be 3 on parts without Hyper-Threading, whether the counter is off or on */
#define NETBURST_PEBS_COUNTER 16 /* IQ_COUNTER4; 17 for thread 1 */
#define NETBURST_UOP_TAG (1u << 24) /* IA32_PEBS_ENABLE: replayed uops are tagged */

/* Threads and privilege levels whose events an ESCR detects: its bits 3:0. */
enum { NETBURST_T0_OS = 8, NETBURST_T0_USR = 4, NETBURST_T1_OS = 2, NETBURST_T1_USR = 1 };
/* Number of active threads at which a counter counts: CCCR[17:16]. */
enum netburst_active { NETBURST_NONE, NETBURST_SINGLE, NETBURST_BOTH, NETBURST_ANY };

/* A request for one counter. */
struct netburst_want {
	const struct netburst_event *event;
	uint16_t mask;          /* event mask: bits of event->units, at least one */
	uint8_t threads;        /* NETBURST_T0_OS, ...; not 0 */
	uint8_t tag;            /* tag value 1 to 15 for the uops of an event with tags 1; 0: they are not tagged */
	uint8_t active;         /* enum netburst_active */
	bool compare;           /* counts cycles whose increment is above the threshold, or, with complement, not above it */
	bool complement, edge;  /* both need compare */
	uint8_t threshold;      /* 0 to 15 */
	bool force_overflow, pmi0, pmi1;
	uint8_t escr;           /* the ESCR that must detect it: 0 either, 1 the first, 2 the second */
	uint64_t start;         /* value that its counter starts from */
	bool upstream;          /* detected only to tag uops: takes an ESCR and no counter */
	bool pebs;              /* writes PEBS records: needs counter 16, for thread 1 counter 17, and an event that counts tagged uops */
	int8_t after;           /* index of the want whose overflow starts this one (cascade), -1: starts by itself */
	const struct netburst_metric *metric; /* replay_event: which uops are tagged; NULL otherwise */
};

/* The registers of a want. */
#define NETBURST_NO_COUNTER 0xFF
struct netburst_assignment {
	uint16_t escr;          /* MSR */
	uint8_t counter;        /* NETBURST_NO_COUNTER for upstream events */
	uint32_t escr_value, cccr_value;
};

/* MSRs of counter c (SDM: 0x300 to 0x311, 0x360 to 0x371). */
uint32_t netburst_counter_msr(unsigned counter);
uint32_t netburst_cccr_msr(unsigned counter);

/* Contents of the ESCR and the CCCR of a want. */
uint32_t netburst_escr_value(const struct netburst_want *w);
uint32_t netburst_cccr_value(const struct netburst_want *w);

/* Assigns each of n wants to an ESCR and one of the `usable` counters. One ESCR detects one event with one mask, tag and
 * choice of threads, for any of its counters; one replay metric applies to all. ST_RANGE: a want violates a rule;
 * ST_UNSUPPORTED: some of them collide; ST_FULL: n is above NETBURST_WANTS_MAX. After a failure nothing is assigned, and `why`
 * is one line with the reason; for a collision it names the events and the registers. */
MUST_CHECK enum status netburst_assign(uint32_t usable, const struct netburst_want *wants, unsigned n,
                                      struct netburst_assignment *assigned, struct text *why);

/* The wants of an event of the processor's list: its own last and, before it, what must be detected with it; returns their
 * number, at most 2. For thread 0 or 1 of its core, CPL 0. */
unsigned netburst_wants_of(const struct cpu *cpu, const struct event *e, unsigned thread, struct netburst_want *out);
/* Number of a logical processor within its core, 0 or 1, as ESCRs name them; 0 if the core has one thread. */
MUST_CHECK enum status netburst_thread(const struct access *a, const struct cpu *cpu, unsigned core, unsigned *thread);

/* Why a processor cannot count an event of its list, or NULL. */
const char *netburst_lacks(const struct cpu *cpu, const struct event *e);

/* For access.counts: the content of the event's own ESCR, with its address in bits 63:32. */
uint64_t netburst_select(const struct cpu *cpu, const struct event *e);

/* Plans and programs the events that rows and users name (netburst_drive.c). The functions of counters.h call these on NetBurst. */
MUST_CHECK enum status netburst_plan(const struct cpu *cpu, const struct event *const *events, unsigned n, struct plan *plan,
                                     const char **problem);
MUST_CHECK enum status netburst_start(const struct access *a, const struct cpu *cpu, const struct plan *plan, unsigned run, unsigned core);
MUST_CHECK enum status netburst_stop(const struct access *a, const struct cpu *cpu, unsigned core);
/* Writes a counter twice (erratum N15). ST_RANGE: no such counter, or more than 40 bits. */
MUST_CHECK enum status netburst_write(const struct access *a, const struct cpu *cpu, unsigned core, unsigned counter, uint64_t value);
/* The CCCR of a counter if it is on, else 0. */
MUST_CHECK enum status netburst_control(const struct access *a, unsigned core, unsigned counter, uint64_t *control);

#endif
