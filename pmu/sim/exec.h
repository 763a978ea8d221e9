/* pmu/sim/exec.h: what one instruction does to registers and memory, without time. */
#ifndef SIM_EXEC_H
#define SIM_EXEC_H

#include "pmu/base.h"
#include "pmu/sim/decode.h"

struct x87 { uint64_t mantissa[8]; uint16_t exponent[8]; uint16_t control, status, tag; };

struct hart_regs {
	uint64_t gpr[16];
	uint64_t rip;
	uint64_t rflags;
	uint64_t vec[32][8];
	uint64_t mask[8];
	uint32_t mxcsr;
	struct x87 x87;
};

/* What happened, for the timing model and the PMU. */
struct effects {
	uint64_t load_va, store_va;     /* valid when insn.load / insn.store; gathers: none in the subset */
	uint8_t load_bytes, store_bytes;
	bool taken;                     /* a branch that was taken */
	uint64_t next_rip;              /* where execution goes on */
	bool fp_assist;                 /* a denormal operand or result that the core needs microcode for */
	uint8_t divide_bits;            /* divide and square root: significant bits of the quotient, 0 = trivial */
	uint32_t value32;               /* LDMXCSR, FLDCW: the value loaded */
	bool mxcsr_changed;
	uint32_t repeat;                /* iterations of a REP string instruction */
};

/* What an instruction needs from its machine. `self` is the caller's. */
struct exec_env {
	void *self;
	/* Host pointer to bytes of memory at va, all within one mapping; NULL = page fault. */
	void *(*memory)(void *self, uint64_t va, unsigned bytes, bool write);
	enum status (*rdpmc)(void *self, uint32_t index, uint64_t *value);
	enum status (*rdtsc)(void *self, uint64_t *value);
	enum status (*cpuid)(void *self, uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
};

/* Executes one decoded instruction at regs->rip, advances rip. ST_FAULT (regs unchanged) with
 * *vector set: 6 #UD, 13 #GP, 14 #PF, 0 #DE. */
MUST_CHECK enum status exec(struct hart_regs *regs, const struct insn *in, const struct exec_env *env,
                            struct effects *out, uint8_t *vector);

#endif
