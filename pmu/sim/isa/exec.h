/* pmu/sim/isa/exec.h: the effect of one instruction on registers and memory, without timing. */
#ifndef SIM_EXEC_H
#define SIM_EXEC_H

#include "pmu/base.h"
#include "pmu/sim/isa/decode.h"

/* Mantissa and exponent (sign in bit 15), indexed by physical register 0-7 as TAG's two-bit
 * fields are; status holds TOP in bits 13:11. */
struct x87 { uint64_t mantissa[8]; uint16_t exponent[8]; uint16_t control, status, tag; };

struct hart_regs {
	uint64_t gpr[16];
	uint64_t zero;      /* always 0: stands for an absent address register */
	uint64_t rip;
	uint64_t rflags;
	uint64_t vec[32][8];
	uint64_t mask[8];
	uint32_t mxcsr;
	struct x87 x87;
};

/* The state after reset that kernels expect: all zero, RFLAGS 2, MXCSR 1F80h, x87 as after FNINIT. */
void exec_reset(struct hart_regs *regs);

/* An instruction's effects, for the timing model and the PMU. exec always sets next_rip and clears the small
 * fields; it sets load_va and store_va only if there is such a reference. */
struct effects {
	uint64_t load_va, store_va;     /* insn.load, insn.store; prefetch and CLFLUSH: load_va is the address */
	uint64_t next_rip;              /* address of the next instruction */
	uint8_t load_bytes, store_bytes; /* of one reference */
	bool taken;                     /* a branch that was taken */
	bool fp_assist;                 /* a denormal operand without DAZ or denormal result without FTZ */
	uint8_t divide_bits;            /* divide and square root: significant bits of the result (maximum
	                                   over the elements), 0 = trivial: zero, infinite or NaN */
	bool mxcsr_changed;             /* LDMXCSR, FLDCW: control bits have changed */
	uint32_t repeat;                /* iterations of a REP string instruction */
	uint32_t value32;               /* LDMXCSR, FLDCW: the value loaded */
};

/* A range of the address space that is contiguous in host memory: accesses to it bypass the callback. */
struct exec_range {
	uint64_t va, bytes;             /* bytes = 0: empty */
	uint8_t *host;
	bool writable;                  /* false also where the caller must see every store (code) */
};
#define EXEC_RANGES 16
/* Slot of an address: buffers lie at multiples of 1 GiB, the areas below them at multiples of 256 MiB. */
static inline unsigned exec_range_slot(uint64_t va)
{
	return (unsigned)((va >> 28) + (va >> 30)) % EXEC_RANGES;
}

/* What an instruction needs from its machine. `self` is the caller's. */
struct exec_env {
	void *self;
	/* Host pointer to bytes of memory at va, all within one mapping; NULL = page fault. The callee may
	 * enter the range in ranges[exec_range_slot(va)] and is then not called for it again; it empties the
	 * slot when the mapping is removed. */
	void *(*memory)(void *self, uint64_t va, unsigned bytes, bool write);
	enum status (*rdpmc)(void *self, uint32_t index, uint64_t *value);
	enum status (*rdtsc)(void *self, uint64_t *value);
	enum status (*wrmsr)(void *self, uint32_t msr, uint64_t value); /* NULL: #GP, as outside ring 0 */
	enum status (*cpuid)(void *self, uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
	const struct exec_range *ranges; /* [EXEC_RANGES]; never NULL */
};

/* Executes one decoded instruction at regs->rip, advances rip. ST_FAULT (regs unchanged) with
 * *vector set: 6 #UD, 13 #GP, 14 #PF, 0 #DE, 16 #MF, 19 #XM. A REP instruction executes all its iterations. */
MUST_CHECK enum status exec(struct hart_regs *regs, const struct insn *in, const struct exec_env *env,
                            struct effects *out, uint8_t *vector);

/* exec for a MOV that loads 8 bytes (OP_MOV, KIND_RM), if they are in ranges. False: nothing has changed, call exec. Inline, for chases:
 * exec's call and table jump are a good part of the cost of such a load. */
static inline __attribute__((always_inline)) bool exec_pointer(struct hart_regs *regs, const struct insn *in, const struct exec_range *ranges, struct effects *out)
{
	uint64_t base, index;
	__builtin_memcpy(&base, (const uint8_t *)regs + in->base_at, 8);
	__builtin_memcpy(&index, (const uint8_t *)regs + in->index_at, 8);
	const uint64_t va = base + (index << in->shift) + (uint64_t)in->offset;
	const struct exec_range *range = &ranges[exec_range_slot(va)];
	const uint64_t at = va - range->va;
	if (__builtin_expect(in->address32 || at + 8 > range->bytes || at > UINT64_MAX - 8, 0))
		return false;
	regs->rip += in->length;
	*out = (struct effects){ .load_va = va, .load_bytes = 8, .next_rip = regs->rip };
	__builtin_memcpy((uint8_t *)regs + in->dst_at, range->host + at, 8);
	return true;
}

#endif
