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
#define ESCR_TAG      (1u << 4)
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

/* Units that detect events, by the first of their two ESCRs; IQ's belong to other models. */
enum unit {
	UNIT_BSU = 0x3A0, UNIT_FSB = 0x3A2, UNIT_FIRM = 0x3A4, UNIT_FLAME = 0x3A6, UNIT_DAC = 0x3A8, UNIT_MOB = 0x3AA, UNIT_PMH = 0x3AC,
	UNIT_SAAT = 0x3AE, UNIT_U2L = 0x3B0, UNIT_BPU = 0x3B2, UNIT_IS = 0x3B4, UNIT_ITLB = 0x3B6, UNIT_CRU0 = 0x3B8, UNIT_RAT = 0x3BC,
	UNIT_SSU = 0x3BE, UNIT_MS = 0x3C0, UNIT_TBPU = 0x3C2, UNIT_TC = 0x3C4, UNIT_IX = 0x3C8, UNIT_ALF = 0x3CA, UNIT_CRU2 = 0x3CC,
	UNIT_CRU4 = 0x3E0
};

/* netburst.c: the ESCR that counter c reads through its CCCR, 0: none. */
uint32_t netburst_sim_escr_of(unsigned c, uint32_t cccr);
/* The threads that an ESCR detects at CPL 0, where all code runs: bit 0 the first, bit 1 the second. */
unsigned netburst_sim_threads(uint32_t escr);
/* 0 or 1 within its core. */
static inline unsigned netburst_sim_own(const struct counters *p) { return p->netburst->thread[1] == p; }
/* Sets the tap of a counter again. */
void netburst_sim_program(struct counters *p, unsigned c);

/* netburst_bus.c. Whether an ESCR detects an event of the bus; adds the signals that it subscribes to, or says why it
 * counts nothing; what prevents it given ESCR0's content, or NULL. */
bool netburst_sim_is_bus(uint32_t escr_msr, uint32_t escr);
bool netburst_sim_bus(const struct machine *m, uint32_t escr_msr, uint32_t escr, struct tap *t, const char **why);
const char *netburst_sim_bus_misuse(const struct counters *p, uint32_t escr_msr);

/* netburst_retired.c. Whether counter c counts as instructions retire: it samples, raises interrupts or takes part in a
 * cascade, or its event is known in no other way. */
bool netburst_sim_by_retirement(const struct counters *p, unsigned c);
/* What prevents sampling and cascades of counter c; NULL: nothing. */
const char *netburst_sim_not_by_retirement(const struct counters *p, unsigned c);

#endif
