/* pmu/sim/isa/exec_arithmetic.h: shifts, multiplications and divisions of integers, and helpers of the integer handlers.
 * Private to exec_integer.c and exec_arithmetic.c. */
#ifndef SIM_EXEC_ARITHMETIC_H
#define SIM_EXEC_ARITHMETIC_H

#include "pmu/sim/isa/exec_room.h"

/* Shifts and rotates: op OP_ROL to OP_SAR, of a value of `bits` bits; masks the count, returns the result and sets the flags. */
uint64_t exec_shift(struct hart_regs *regs, unsigned op, uint64_t a, unsigned count, unsigned bits);
/* SHLD and SHRD: a shifted by count, with bits of b shifted in. */
uint64_t exec_double_shift(struct hart_regs *regs, bool left, uint64_t a, uint64_t b, unsigned count, unsigned bits);
/* DIV and IDIV of RDX:RAX (AX for bytes) by the divisor. False: #DE, nothing has changed. */
bool exec_divide(struct hart_regs *regs, bool is_signed, uint64_t divisor, unsigned bits, struct effects *out);
/* MUL and IMUL of one operand: RDX:RAX (AX for bytes) := RAX * b. */
void exec_multiply(struct hart_regs *regs, bool is_signed, uint64_t b, unsigned bits);
/* IMUL of two or three operands: the low half. */
uint64_t exec_multiply_low(struct hart_regs *regs, uint64_t a, uint64_t b, unsigned bits);

static inline uint64_t get(const void *p, unsigned bytes)
{
	uint64_t v = 0;

	switch (bytes) {
	case 1: return *(const uint8_t *)p;
	case 2: memcpy(&v, p, 2); return v;
	case 4: memcpy(&v, p, 4); return v;
	default: memcpy(&v, p, 8); return v;
	}
}

static inline void put(void *p, unsigned bytes, uint64_t v)
{
	switch (bytes) {
	case 1: *(uint8_t *)p = (uint8_t)v; break;
	case 2: memcpy(p, &v, 2); break;
	case 4: memcpy(p, &v, 4); break;
	default: memcpy(p, &v, 8); break;
	}
}

/* Writes a register; 32 bits clear the upper half. */
static inline void put_register(void *p, unsigned bytes, uint64_t v)
{
	if (bytes == 4)
		put(p, 8, (uint32_t)v);
	else
		put(p, bytes, v);
}

static inline uint64_t mask_of(unsigned bits)
{
	return bits == 64 ? ~0ull : (1ull << bits) - 1;
}

static inline uint64_t sign_extend(uint64_t v, unsigned bits)
{
	return (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
}

static inline void set_flags(struct hart_regs *regs, uint64_t which, uint64_t value)
{
	regs->rflags = (regs->rflags & ~which) | (value & which);
}

/* Flags of a - b. */
static inline void subtract_flags(struct hart_regs *regs, uint64_t a, uint64_t b, unsigned bits)
{
	uint64_t r = (a - b) & mask_of(bits);

	set_flags(regs, FLAG_ALL, (a < b) | ((a ^ b ^ r) & FLAG_AF) | (((a ^ b) & (a ^ r)) >> (bits - 1) & 1) << 11 | exec_flags_zsp(r, bits));
}

#endif
