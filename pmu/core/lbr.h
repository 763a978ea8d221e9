/* pmu/core/lbr.h: last-branch records.
 *
 * Sources: SDM volume 3B, "Last Branch, Interrupt, and Exception Recording"; Levinthal's guide, "Last Branch
 * Record (LBR)"; of AMD's LbrExtV2: CPUID 0x80000022 in APM volume 3, Linux 6.12 events/amd/lbr.c (facts only). The stack holds
 * sources and targets of the last taken branches. Clearing a bit of a register freezes it. Without an interrupt, the code under
 * study does so itself, by the write that lbr_frozen returns. */
#ifndef PMU_LBR_H
#define PMU_LBR_H

#include "pmu/access.h"
#include "pmu/core/cpu.h"

#define LBR_PAIRS_MAX 32

/* Bits of MSR_LBR_SELECT: what is suppressed (guide, table 7). AMD's are the same (Linux 6.12 events/amd/lbr.c, facts only). */
enum lbr_filter {
	LBR_CPL_EQ_0 = 1 << 0,          /* ring 0 */
	LBR_CPL_NEQ_0 = 1 << 1,         /* other rings */
	LBR_JCC = 1 << 2,               /* taken conditional branches */
	LBR_NEAR_REL_CALL = 1 << 3,
	LBR_NEAR_INDIRECT_CALL = 1 << 4,
	LBR_NEAR_RET = 1 << 5,
	LBR_NEAR_INDIRECT_JMP = 1 << 6,
	LBR_NEAR_REL_JMP = 1 << 7,
	LBR_FAR_BRANCH = 1 << 8,
	LBR_FILTER_ALL = 0x1FF
};
/* Name of a bit, by its number, as in the guide; NULL if there is none. */
const char *lbr_filter_name(unsigned bit);

struct lbr_pair { uint64_t from, to; bool mispredicted; };

/* The registers. from, to: source and target of the first pair, at a distance of `step` from pair to pair; info: further data of a pair (0: none); select: the
 * filter (0: no register of its own); newest: number of the newest pair (0: it is the first); control: its bit `record` starts recording. */
struct lbr_stack { uint8_t pairs_most, step; enum branch_records_kind kind; uint32_t from, to, info, select, newest, control, record; };

struct lbr {
	const struct access *a;
	const struct cpu *cpu;
	unsigned core, pairs;
	const struct lbr_stack *stack;
	bool has_info;         /* mispredictions are in separate registers (formats 5 and 7, SDM 17.4.8.1; architectural ones) */
	bool can_filter;       /* branches can be suppressed by kind */
	uint64_t control;      /* value of the register that starts recording, during recording */
};

/* ST_UNSUPPORTED with *why: no last-branch records on this processor, or no PMU. */
MUST_CHECK enum status lbr_open(struct lbr *l, const struct access *a, const struct cpu *cpu, unsigned core, const char **why);
/* Clears the stack and starts recording all taken branches except those of `filter` (enum lbr_filter bits). ST_UNSUPPORTED:
 * a filter on a processor that has none; ST_RANGE: bits other than those. */
MUST_CHECK enum status lbr_start(struct lbr *l, uint32_t filter);
/* The write that freezes the stack: register in bits 63:32, value in bits 31:0. The code under study does it. */
uint64_t lbr_frozen(const struct lbr *l);
/* Stops recording and reads the stack, newest pair first, without empty entries. `out` has LBR_PAIRS_MAX entries. */
MUST_CHECK enum status lbr_stop(struct lbr *l, struct lbr_pair *out, unsigned *n);

#endif
