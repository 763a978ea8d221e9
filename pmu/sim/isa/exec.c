/* pmu/sim/isa/exec.c: dispatch, and the integer ops that kernels consist of, with a handler for each
 * operand kind and width, which `insn.run` selects directly.
 *
 * Not modelled: segments, privilege, alignment checks (AC), breakpoints, single step. */
#include "pmu/sim/isa/exec_room.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

/* Results and flags of the ALU ops: a op b, both truncated to `bits` bits. */
static ALWAYS_INLINE uint64_t cut(uint64_t x, unsigned bits)
{
	return bits == 64 ? x : x & ((1ull << bits) - 1);
}

#define PARITY_4(n) n, n ^ 4, n ^ 4, n
#define PARITY_16(n) PARITY_4(n), PARITY_4(n ^ 4), PARITY_4(n ^ 4), PARITY_4(n)
#define PARITY_64(n) PARITY_16(n), PARITY_16(n ^ 4), PARITY_16(n ^ 4), PARITY_16(n)
const uint8_t exec_parity[256] = { PARITY_64(4), PARITY_64((4 ^ 4)), PARITY_64((4 ^ 4)), PARITY_64(4) };

/* CF, OF and AF of r = a + b or a - b, written so that the compiler takes carry and overflow from the host's flags. */
static ALWAYS_INLINE uint64_t add_flags(uint64_t a, uint64_t b, uint64_t r, unsigned bits)
{
	const unsigned up = 64 - bits;
	int64_t ignored;

	return (uint64_t)(a << up > ~(b << up)) | ((a ^ b ^ r) & FLAG_AF)
	     | (uint64_t)__builtin_add_overflow((int64_t)(a << up), (int64_t)(b << up), &ignored) << 11;
}

static ALWAYS_INLINE uint64_t subtract_flags(uint64_t a, uint64_t b, uint64_t r, unsigned bits)
{
	const unsigned up = 64 - bits;
	int64_t ignored;

	return (uint64_t)(a < b) | ((a ^ b ^ r) & FLAG_AF)
	     | (uint64_t)__builtin_sub_overflow((int64_t)(a << up), (int64_t)(b << up), &ignored) << 11;
}

static ALWAYS_INLINE uint64_t do_add(uint64_t a, uint64_t b, uint64_t carry, unsigned bits, uint64_t *f)
{
	if (__builtin_constant_p(carry) && !carry) {
		const uint64_t sum = cut(a + b, bits);

		*f = (*f & ~FLAG_ALL) | add_flags(a, b, sum, bits) | exec_flags_zsp(sum, bits);
		return sum;
	}
	uint64_t r = cut(a + b + carry, bits);
	uint64_t out = (a & b) | ((a | b) & ~r);

	*f = (*f & ~FLAG_ALL) | (out >> (bits - 1) & 1) | ((a ^ b ^ r) & FLAG_AF)
	   | (((a ^ r) & (b ^ r)) >> (bits - 1) & 1) << 11 | exec_flags_zsp(r, bits);
	return r;
}

static ALWAYS_INLINE uint64_t do_sub(uint64_t a, uint64_t b, uint64_t borrow, unsigned bits, uint64_t *f)
{
	if (__builtin_constant_p(borrow) && !borrow) {
		const uint64_t rest = cut(a - b, bits);

		*f = (*f & ~FLAG_ALL) | subtract_flags(a, b, rest, bits) | exec_flags_zsp(rest, bits);
		return rest;
	}
	uint64_t r = cut(a - b - borrow, bits);
	uint64_t out = (~a & b) | ((~a | b) & r);

	*f = (*f & ~FLAG_ALL) | (out >> (bits - 1) & 1) | ((a ^ b ^ r) & FLAG_AF)
	   | (((a ^ b) & (a ^ r)) >> (bits - 1) & 1) << 11 | exec_flags_zsp(r, bits);
	return r;
}

/* AF is undefined after logic; here it is 0, as on the processors at hand. */
static ALWAYS_INLINE uint64_t do_logic(uint64_t r, unsigned bits, uint64_t *f)
{
	*f = (*f & ~FLAG_ALL) | exec_flags_zsp(r, bits);
	return r;
}

static ALWAYS_INLINE uint64_t do_step(uint64_t a, bool down, unsigned bits, uint64_t *f)
{
	uint64_t carry = *f & FLAG_CF;
	uint64_t r = down ? do_sub(a, 1, 0, bits, f) : do_add(a, 1, 0, bits, f);

	*f = (*f & ~FLAG_CF) | carry;
	return r;
}

#define ALU_ADD(a, b, bits, f) do_add(a, b, 0, bits, f)
#define ALU_OR(a, b, bits, f) do_logic((a) | (b), bits, f)
#define ALU_ADC(a, b, bits, f) do_add(a, b, *(f) & FLAG_CF, bits, f)
#define ALU_SBB(a, b, bits, f) do_sub(a, b, *(f) & FLAG_CF, bits, f)
#define ALU_AND(a, b, bits, f) do_logic((a) & (b), bits, f)
#define ALU_SUB(a, b, bits, f) do_sub(a, b, 0, bits, f)
#define ALU_XOR(a, b, bits, f) do_logic((a) ^ (b), bits, f)
#define ALU_CMP(a, b, bits, f) do_sub(a, b, 0, bits, f)
#define ALU_TEST(a, b, bits, f) do_logic((a) & (b), bits, f)
#define ALU_INC(a, b, bits, f) do_step(a, false, bits, f)
#define ALU_DEC(a, b, bits, f) do_step(a, true, bits, f)

/* Guest memory may be accessed at any alignment. */
typedef uint8_t u8;
typedef uint16_t __attribute__((aligned(1), may_alias)) u16;
typedef uint32_t __attribute__((aligned(1), may_alias)) u32;
typedef uint64_t __attribute__((aligned(1), may_alias)) u64;

#define AT(type, at) (*(type *)((uint8_t *)regs + (at)))
/* A 32-bit result clears the upper half; 8- and 16-bit results leave the rest unchanged. */
#define PUT_8(at, v) (AT(u8, at) = (uint8_t)(v))
#define PUT_16(at, v) (AT(u16, at) = (uint16_t)(v))
#define PUT_32(at, v) (AT(u64, at) = (uint32_t)(v))
#define PUT_64(at, v) (AT(u64, at) = (v))

#define REACH(bits, write) \
	va = exec_address(regs, in); \
	p = fast ? exec_memory_near(env, va, (bits) / 8, write) : exec_memory(env, va, (bits) / 8, write); \
	if (!LIKELY(p)) \
		goto miss
#define LOAD_FROM(bits) \
	REACH(bits, false); \
	out->load_va = va; \
	out->load_bytes = (bits) / 8
#define STORE_TO(bits) \
	REACH(bits, true); \
	out->store_va = va; \
	out->store_bytes = (bits) / 8
#define UPDATE(bits) \
	STORE_TO(bits); \
	out->load_va = va; \
	out->load_bytes = (bits) / 8

/* dst = dst op src, for one width */
#define BINARY(op, n, bits) \
	case RUN_ALU(OP_##op, KIND_RR, n): \
		PUT_##bits(in->dst_at, ALU_##op((uint64_t)AT(u##bits, in->dst_at), (uint64_t)AT(u##bits, in->src_at), bits, &regs->rflags)); \
		break; \
	case RUN_ALU(OP_##op, KIND_RI, n): \
		PUT_##bits(in->dst_at, ALU_##op((uint64_t)AT(u##bits, in->dst_at), (uint64_t)(u##bits)in->immediate, bits, &regs->rflags)); \
		break; \
	case RUN_ALU(OP_##op, KIND_RM, n): \
		LOAD_FROM(bits); \
		PUT_##bits(in->dst_at, ALU_##op((uint64_t)AT(u##bits, in->dst_at), (uint64_t)*(u##bits *)p, bits, &regs->rflags)); \
		break; \
	case RUN_ALU(OP_##op, KIND_MR, n): \
		UPDATE(bits); \
		*(u##bits *)p = (u##bits)ALU_##op((uint64_t)*(u##bits *)p, (uint64_t)AT(u##bits, in->src_at), bits, &regs->rflags); \
		break; \
	case RUN_ALU(OP_##op, KIND_MI, n): \
		UPDATE(bits); \
		*(u##bits *)p = (u##bits)ALU_##op((uint64_t)*(u##bits *)p, (uint64_t)(u##bits)in->immediate, bits, &regs->rflags); \
		break;

/* flags of dst op src */
#define COMPARE(op, n, bits) \
	case RUN_ALU(OP_##op, KIND_RR, n): \
		(void)ALU_##op((uint64_t)AT(u##bits, in->dst_at), (uint64_t)AT(u##bits, in->src_at), bits, &regs->rflags); \
		break; \
	case RUN_ALU(OP_##op, KIND_RI, n): \
		(void)ALU_##op((uint64_t)AT(u##bits, in->dst_at), (uint64_t)(u##bits)in->immediate, bits, &regs->rflags); \
		break; \
	case RUN_ALU(OP_##op, KIND_RM, n): \
		LOAD_FROM(bits); \
		(void)ALU_##op((uint64_t)AT(u##bits, in->dst_at), (uint64_t)*(u##bits *)p, bits, &regs->rflags); \
		break; \
	case RUN_ALU(OP_##op, KIND_MR, n): \
		LOAD_FROM(bits); \
		(void)ALU_##op((uint64_t)*(u##bits *)p, (uint64_t)AT(u##bits, in->src_at), bits, &regs->rflags); \
		break; \
	case RUN_ALU(OP_##op, KIND_MI, n): \
		LOAD_FROM(bits); \
		(void)ALU_##op((uint64_t)*(u##bits *)p, (uint64_t)(u##bits)in->immediate, bits, &regs->rflags); \
		break;

/* increment and decrement: immediate form only, of a register or memory */
#define STEP(op, n, bits) \
	case RUN_ALU(OP_##op, KIND_RI, n): \
		PUT_##bits(in->dst_at, ALU_##op((uint64_t)AT(u##bits, in->dst_at), 1, bits, &regs->rflags)); \
		break; \
	case RUN_ALU(OP_##op, KIND_MI, n): \
		UPDATE(bits); \
		*(u##bits *)p = (u##bits)ALU_##op((uint64_t)*(u##bits *)p, 1, bits, &regs->rflags); \
		break;

#define MOVE(n, bits) \
	case RUN_ALU(OP_MOV, KIND_RR, n): PUT_##bits(in->dst_at, AT(u##bits, in->src_at)); break; \
	case RUN_ALU(OP_MOV, KIND_RI, n): PUT_##bits(in->dst_at, (u##bits)in->immediate); break; \
	case RUN_ALU(OP_MOV, KIND_RM, n): LOAD_FROM(bits); PUT_##bits(in->dst_at, *(u##bits *)p); break; \
	case RUN_ALU(OP_MOV, KIND_MR, n): STORE_TO(bits); *(u##bits *)p = AT(u##bits, in->src_at); break; \
	case RUN_ALU(OP_MOV, KIND_MI, n): STORE_TO(bits); *(u##bits *)p = (u##bits)in->immediate; break;

#define WIDTHS(form, op) form(op, 0, 8) form(op, 1, 16) form(op, 2, 32) form(op, 3, 64)

/* x op y of doubles where one is zero, neither is denormal, infinite or a NaN, and the result is exact in any rounding
 * mode. Buffers that were never filled hold such values. False: another case. */
static ALWAYS_INLINE bool float_trivial(unsigned run, uint64_t x, uint64_t y, uint64_t *r)
{
	const uint64_t sign = 1ull << 63, normals = 0x7FEull << 53, least = 1ull << 53;
	const uint64_t mx = x << 1, my = y << 1; /* without signs */

	if ((mx && mx - least >= normals) || (my && my - least >= normals))
		return false;
	if (run == RUN_MULPD) {
		*r = (x ^ y) & sign;
		return !mx || !my;
	}
	if (run == RUN_SUBPD)
		y ^= sign;
	*r = my ? y : x;
	return !mx ? my || x == y : !my;
}

#define VEC(n) ((uint8_t *)regs->vec[n])

static enum status far(struct hart_regs *regs, const struct insn *in, const struct exec_env *env, struct effects *out, uint8_t *vector);
static enum status other(struct hart_regs *regs, const struct insn *in, const struct exec_env *env, struct effects *out, uint8_t *vector);
static enum status floats(struct hart_regs *regs, const struct insn *in, const struct exec_env *env, struct effects *out, uint8_t *vector);

static ALWAYS_INLINE void lea(struct hart_regs *regs, const struct insn *in)
{
	const uint64_t va = exec_address(regs, in);
	if (in->operand_bytes == 8)
		PUT_64(in->dst_at, va);
	else if (in->operand_bytes == 4)
		PUT_32(in->dst_at, va);
	else
		PUT_16(in->dst_at, va);
}

/* One instruction. Compiled twice: `fast` accesses memory through env->ranges only and makes only tail calls, so
 * that it needs no stack frame; what it cannot do it leaves to the other variant, before any change. */
static ALWAYS_INLINE enum status step(struct hart_regs *regs, const struct insn *in, const struct exec_env *env,
                                                              struct effects *out, uint8_t *vector, const bool fast)
{
	uint64_t va, next = regs->rip + in->length;
	void *p;

	out->load_bytes = out->store_bytes = out->divide_bits = 0;
	out->taken = out->fp_assist = out->mxcsr_changed = false;
	out->repeat = 0;
	switch (in->run) {
	WIDTHS(BINARY, ADD)
	WIDTHS(BINARY, OR)
	WIDTHS(BINARY, ADC)
	WIDTHS(BINARY, SBB)
	WIDTHS(BINARY, AND)
	WIDTHS(BINARY, SUB)
	WIDTHS(BINARY, XOR)
	WIDTHS(COMPARE, CMP)
	WIDTHS(COMPARE, TEST)
	WIDTHS(STEP, INC)
	WIDTHS(STEP, DEC)
	MOVE(0, 8)
	MOVE(1, 16)
	MOVE(2, 32)
	MOVE(3, 64)
	case RUN_OTHER + OP_JCC:
		if (exec_condition(regs->rflags, in->extra)) {
			out->taken = true;
			next += (uint64_t)in->immediate;
		}
		break;
	case RUN_OTHER + OP_JMP:
		if (in->kind != KIND_RI)
			return other(regs, in, env, out, vector);
		out->taken = true;
		next += (uint64_t)in->immediate;
		break;
	case RUN_MOVZX_BYTE:
		LOAD_FROM(8);
		PUT_32(in->dst_at, *(u8 *)p);
		break;
	case RUN_OTHER + OP_LEA:
		lea(regs, in);
		break;
	case RUN_OTHER + OP_NOP: case RUN_OTHER + OP_PAUSE: case RUN_OTHER + OP_LFENCE: case RUN_OTHER + OP_MFENCE:
	case RUN_OTHER + OP_SFENCE:
		break;
	case RUN_SSE_LOAD:
		REACH(128, false);
		if (in->op == OP_MOVVA && va & 15)
			return other(regs, in, env, out, vector);
		out->load_va = va;
		out->load_bytes = 16;
		*(vu64 *)VEC(in->vdst) = *(const vu64 *)p;
		break;
	case RUN_SSE_STORE:
		REACH(128, true);
		if (in->op == OP_MOVVA && va & 15)
			return other(regs, in, env, out, vector);
		out->store_va = va;
		out->store_bytes = 16;
		*(vu64 *)p = *(const vu64 *)VEC(in->vsrc2);
		break;
	case RUN_SSE_MOVE:
		*(vu64 *)VEC(in->vdst) = *(const vu64 *)VEC(in->vsrc2);
		break;
	case RUN_ADDPD: case RUN_SUBPD: case RUN_MULPD:
		return floats(regs, in, env, out, vector);
	default:
		return other(regs, in, env, out, vector);
	}
	regs->rip = next;
	out->next_rip = next;
	return ST_OK;
miss:
	if (fast)
		return far(regs, in, env, out, vector);
	*vector = VECTOR_PF;
	return ST_FAULT;
}

static __attribute__((noinline)) enum status far(struct hart_regs *regs, const struct insn *in, const struct exec_env *env,
                                                 struct effects *out, uint8_t *vector)
{
	return step(regs, in, env, out, vector, false);
}

/* ADDPD, SUBPD and MULPD of trivial operands; separate, because step would need a stack frame for them. */
static __attribute__((noinline)) enum status floats(struct hart_regs *regs, const struct insn *in, const struct exec_env *env,
                                                    struct effects *out, uint8_t *vector)
{
	const u64 *x = (const u64 *)VEC(in->vsrc1), *y = (const u64 *)VEC(in->vsrc2);
	uint64_t low, high, va = 0;

	if (in->load) {
		va = exec_address(regs, in);
		y = exec_memory_near(env, va, 16, false);
	}
	if (!y || va & 15)
		return other(regs, in, env, out, vector);
	if (!(x[0] | x[1] | y[0] | y[1]) && in->run != RUN_SUBPD)
		low = high = 0;
	else if (!float_trivial(in->run, x[0], y[0], &low) || !float_trivial(in->run, x[1], y[1], &high))
		return other(regs, in, env, out, vector);
	if (in->load) {
		out->load_va = va;
		out->load_bytes = 16;
	}
	((u64 *)VEC(in->vdst))[0] = low;
	((u64 *)VEC(in->vdst))[1] = high;
	regs->rip += in->length;
	out->next_rip = regs->rip;
	return ST_OK;
}

/* Ops without a handler in this file. */
static __attribute__((noinline)) enum status other(struct hart_regs *regs, const struct insn *in, const struct exec_env *env,
                                                   struct effects *out, uint8_t *vector)
{
	uint64_t next = regs->rip + in->length;
	enum status s;

	if (in->op >= OP_FLD && in->op <= OP_EMMS)
		s = exec_x87(regs, in, env, out, vector);
	else if ((in->op >= OP_MOVV && in->op <= OP_VZEROALL) || in->op == OP_LDMXCSR || in->op == OP_STMXCSR)
		s = exec_vector(regs, in, env, out, vector);
	else
		s = exec_integer(regs, in, env, out, &next, vector);
	if (s != ST_OK)
		return s;
	regs->rip = next;
	out->next_rip = next;
	return ST_OK;
}

enum status exec(struct hart_regs *regs, const struct insn *in, const struct exec_env *env, struct effects *out, uint8_t *vector)
{
	return step(regs, in, env, out, vector, true);
}

void exec_reset(struct hart_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
	regs->rflags = 2;
	regs->mxcsr = 0x1F80;
	regs->x87.control = 0x37F;
	regs->x87.tag = 0xFFFF;
}
