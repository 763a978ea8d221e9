/* pmu/sim/counters/netburst_state.h: registers of the simulated NetBurst counters, for netburst*.c only. */
#ifndef SIM_NETBURST_STATE_H
#define SIM_NETBURST_STATE_H

#include "pmu/sim/counters/counter_state.h"

#define COUNTER_0   0x300u
#define CCCR_0      0x360u
#define PEBS_ENABLE 0x3F1u
#define MATRIX_VERT 0x3F2u
#define COUNTER_BITS 40

#define ESCR_RESERVED 0x80000000u
#define ESCR_T0_OS    (1u << 3)
#define ESCR_T1_OS    (1u << 1)
#define ESCR_T0_USR   (1u << 2)
#define ESCR_T1_USR   (1u << 0)
#define ESCR_TAG      (1u << 4)
#define ESCR_SELECT(escr) ((escr) >> 25 & 0x3F)
#define ESCR_MASK(escr) ((escr) >> 9 & 0xFFFF)
#define CCCR_RESERVED 0x30000FFFu
#define CCCR_ENABLE   (1u << 12)
#define CCCR_COMPARE  (1u << 18)
#define CCCR_COMPLEMENT (1u << 19)
#define CCCR_EDGE     (1u << 24)
#define CCCR_FORCE_OVF (1u << 25)
#define CCCR_CASCADE  (1u << 30)
#define CCCR_OVF      (1u << 31)
#define PEBS_UOP_TAG  (1u << 24)
#define PEBS_BITS     0x0701FFFFu /* 26:24 and the metrics */
#define METRIC_BITS   0x0001FFFFu
#define PEBS_T0       (1u << 25) /* records of thread 0; the next bit: of thread 1 */

/* Units that detect events, by the first of their two ESCRs; IQ's ESCRs are those of other models. */
enum unit {
#define NETBURST_UNIT(name, msr) UNIT_##name = msr,
#include "pmu/sim/machine/netburst_units.def"
#undef NETBURST_UNIT
};

/* netburst.c: the ESCR that counter c reads through its CCCR, 0: none. */
uint32_t netburst_sim_escr_of(unsigned c, uint32_t cccr);
/* The threads that an ESCR detects at CPL 0, where all code runs: bit 0 the first, bit 1 the second. */
unsigned netburst_sim_threads(uint32_t escr);
/* The thread's number within its core. */
static inline unsigned netburst_sim_own(const struct counters *p) { return p->netburst->thread[1] == p; }
/* Sets the tap of a counter anew. */
void netburst_sim_program(struct counters *p, unsigned c);

/* netburst_detect.c. The properties of an ESCR's event: the flags of its rows in the machine's map. */
uint32_t netburst_detect_kinds(const struct machine *m, uint32_t escr_msr, uint32_t escr);
/* Adds the signals that an ESCR subscribes to; false with *kind and *why: it counts nothing. */
bool netburst_detect(const struct counters *p, uint32_t escr_msr, struct tap *t, enum finding_kind *kind, const char **why);
/* What other registers lack for the ESCR to detect its event; NULL: nothing. */
const char *netburst_detect_misuse(const struct counters *p, uint32_t escr_msr);
/* Whether all that the ESCR detects is known at retirement; the conditions of enum precise that it counts, as a mask. */
bool netburst_detect_retires(const struct counters *p, uint32_t escr_msr);
uint64_t netburst_detect_conditions(const struct counters *p, uint32_t escr_msr);
/* Called after a write to an ESCR: lists those that tag uops. */
void netburst_detect_tags(struct counters *p);

/* netburst_retired.c. Whether counter c counts as instructions retire: it samples, raises interrupts or takes part in a
 * cascade, or its event is only known at retirement. */
bool netburst_sim_by_retirement(const struct counters *p, unsigned c);
/* What prevents sampling and cascades of counter c; NULL: nothing. */
const char *netburst_sim_not_by_retirement(const struct counters *p, unsigned c);

/* netburst_lint.c. Reports the mistake in the registers of counter c, if any, once, when it is live. */
void netburst_sim_report(struct counters *p, unsigned c, struct sim_finding *f, uint32_t address, uint64_t value, enum finding_kind kind, const char *why);
/* Called before a CCCR, an ESCR is written. */
void netburst_sim_lint_control(struct counters *p, unsigned c, uint32_t value);
void netburst_sim_lint_select(struct counters *p, uint32_t escr_msr, uint32_t value);

#endif
