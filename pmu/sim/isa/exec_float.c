/* pmu/sim/isa/exec_float.c: SSE and AVX floating point, bit-exact: the host's own SSE2 instructions do
 * the arithmetic, 16 bytes at a time, under the guest's MXCSR with all exceptions masked. Each function
 * restores the control bits of the host's MXCSR, but not its sticky flags. Fused multiply-add and comparisons use integer
 * arithmetic (exec_fma.c and below), because the host may lack FMA and AVX's predicates.
 *
 * Not modelled: with an exception unmasked, the finer rules for the flags that a faulting packed
 * operation sets, and underflow of an exact result. */
#include "pmu/sim/isa/exec_room.h"

#define MXCSR_IE 0x01u
#define MXCSR_DE 0x02u
#define MXCSR_FLAGS 0x3Fu
#define MXCSR_DAZ 0x40u
#define MXCSR_MASKS 0x1F80u
#define MXCSR_FTZ 0x8000u

typedef float vf __attribute__((vector_size(16), aligned(1), may_alias));

/* Loading MXCSR is expensive. If the host's control bits equal the guest's and its sticky flags are a subset of the
 * guest's, the operation runs under the host's own MXCSR, and the flags that it raises are set in both. */
static inline bool enter(uint32_t guest, uint32_t *host)
{
	uint32_t use = (guest & ~MXCSR_FLAGS) | MXCSR_MASKS;

	__asm__ volatile("stmxcsr %0" : "=m"(*host));
	if (((*host ^ guest) & ~MXCSR_FLAGS) == 0 && (guest & MXCSR_MASKS) == MXCSR_MASKS && !(*host & ~guest & MXCSR_FLAGS))
		return false;
	__asm__ volatile("ldmxcsr %0" : : "m"(use));
	return true;
}

/* Returns the sticky flags and, if `changed`, restores the host's control bits with clear sticky flags. */
static inline uint32_t leave(bool changed, uint32_t host)
{
	uint32_t now;

	__asm__ volatile("stmxcsr %0" : "=m"(now));
	host &= ~MXCSR_FLAGS;
	if (changed)
		__asm__ volatile("ldmxcsr %0" : : "m"(host));
	return now & MXCSR_FLAGS;
}

static inline bool is_denormal64(uint64_t v)
{
	return (v & 0x7FFFFFFFFFFFFFFFull) - 1 < 0x000FFFFFFFFFFFFFull;
}

static inline bool is_denormal32(uint32_t v)
{
	return (v & 0x7FFFFFFFu) - 1 < 0x007FFFFFu;
}

static bool any_denormal(const uint8_t *p, unsigned bytes, unsigned width)
{
	unsigned i;
	uint64_t v64;
	uint32_t v32;

	if (width == 8) {
		for (i = 0; i < bytes; i += 8) {
			memcpy(&v64, p + i, 8);
			if (is_denormal64(v64))
				return true;
		}
		return false;
	}
	for (i = 0; i < bytes; i += 4) {
		memcpy(&v32, p + i, 4);
		if (is_denormal32(v32))
			return true;
	}
	return false;
}

/* Significant bits of the longest result: those that an early-out divider computes. */
static uint8_t quotient_bits(const uint8_t *p, unsigned bytes, unsigned width)
{
	unsigned i, most = 0, fraction = width == 8 ? 52 : 23;

	for (i = 0; i < bytes; i += width) {
		uint64_t v = 0, exponent, digits;
		unsigned bits;

		memcpy(&v, p + i, width);
		exponent = v >> fraction & (width == 8 ? 0x7FF : 0xFF);
		digits = v & ((1ull << fraction) - 1);
		if (exponent == (width == 8 ? 0x7FFu : 0xFFu) || (!exponent && !digits))
			continue;
		if (exponent)
			digits |= 1ull << fraction;
		bits = 64 - (unsigned)__builtin_clzll(digits) - (unsigned)__builtin_ctzll(digits);
		most = bits > most ? bits : most;
	}
	return (uint8_t)most;
}

enum relation { LESS, EQUAL, GREATER, UNORDERED };

/* Compares a and b and adds the exceptions of a quiet comparison to *flags; *nan: a or b is a NaN. */
static enum relation compare(uint64_t a, uint64_t b, unsigned width, uint32_t mxcsr, bool *nan, uint32_t *flags)
{
	unsigned fraction = width == 8 ? 52 : 23, bits = 8 * width;
	uint64_t infinite = (width == 8 ? 0x7FFull : 0xFFull) << fraction, quiet = 1ull << (fraction - 1), sign = 1ull << (bits - 1);
	uint64_t ma = a & (sign - 1), mb = b & (sign - 1);
	int64_t sa, sb;

	*nan = ma > infinite || mb > infinite;
	if (*nan) {
		if ((ma > infinite && !(ma & quiet)) || (mb > infinite && !(mb & quiet)))
			*flags |= MXCSR_IE;
		return UNORDERED;
	}
	if ((ma && ma < 1ull << fraction) || (mb && mb < 1ull << fraction)) {
		if (mxcsr & MXCSR_DAZ) {
			ma = ma < 1ull << fraction ? 0 : ma;
			mb = mb < 1ull << fraction ? 0 : mb;
		} else {
			*flags |= MXCSR_DE;
		}
	}
	sa = a & sign ? -(int64_t)ma : (int64_t)ma;
	sb = b & sign ? -(int64_t)mb : (int64_t)mb;
	return sa < sb ? LESS : sa > sb ? GREATER : EQUAL;
}

/* Predicates of CMPPS ... (SDM vol. 2, table 3-1): bit 0 less, 1 equal, 2 greater, 3 unordered. */
static bool holds(unsigned predicate, enum relation how)
{
	static const uint8_t table[16] = {2, 1, 3, 8, 13, 14, 12, 7, 10, 9, 11, 0, 5, 6, 4, 15};

	return table[predicate & 15] >> how & 1;
}

/* A QNaN raises the invalid exception for these: LT, LE, NLT, NLE, NGE, NGT, GE, GT and the _S variants of the rest. */
static bool signalling(unsigned predicate)
{
	bool base = (predicate & 3) == 1 || (predicate & 3) == 2;

	return base ^ (predicate >= 16);
}

static void compare_all(const struct insn *in, const uint8_t *a, const uint8_t *b, uint8_t *r, unsigned bytes, unsigned width,
                        uint32_t mxcsr, uint32_t *flags)
{
	unsigned i;

	for (i = 0; i < bytes; i += width) {
		uint64_t x = 0, y = 0, z;
		bool nan;

		memcpy(&x, a + i, width);
		memcpy(&y, b + i, width);
		z = holds(in->extra, compare(x, y, width, mxcsr, &nan, flags)) ? ~0ull : 0;
		if (nan && signalling(in->extra))
			*flags |= MXCSR_IE;
		memcpy(r + i, &z, width);
	}
}

static void fma_all(const struct insn *in, const uint8_t *a, const uint8_t *b, const uint8_t *d, uint8_t *r, unsigned bytes,
                    unsigned width, uint32_t mxcsr, uint32_t *flags)
{
	unsigned i, kind = (in->op - OP_FMADDPS) / 4; /* FMADD, FMSUB, FNMADD, FNMSUB */

	for (i = 0; i < bytes; i += width) {
		uint64_t x = 0, y = 0, z = 0, v;

		memcpy(&x, d + i, width); /* first operand: the destination */
		memcpy(&y, a + i, width);
		memcpy(&z, b + i, width);
		if (in->extra == 0)      /* 132: first * third + second */
			v = exec_fma(width, x, z, y, kind >= 2, kind & 1, mxcsr, flags);
		else if (in->extra == 1) /* 213: second * first + third */
			v = exec_fma(width, y, x, z, kind >= 2, kind & 1, mxcsr, flags);
		else                     /* 231: second * third + first */
			v = exec_fma(width, y, z, x, kind >= 2, kind & 1, mxcsr, flags);
		memcpy(r + i, &v, width);
	}
}

#define PACKED2(op, text) \
	case OP_##op: \
		for (i = 0; i < n; i += 16) { \
			vf x = *(const vf *)(a + i), y = *(const vf *)(b + i); \
			__asm__ volatile(text " %1, %0" : "+x"(x) : "x"(y)); \
			*(vf *)(r + i) = x; \
		} \
		break;
#define PACKED1(op, text) \
	case OP_##op: \
		for (i = 0; i < n; i += 16) { \
			vf x, y = *(const vf *)(b + i); \
			__asm__ volatile(text " %1, %0" : "=x"(x) : "x"(y)); \
			*(vf *)(r + i) = x; \
		} \
		break;
#define SCALAR(op, text) \
	case OP_##op: { \
		vf x = *(const vf *)a, y = *(const vf *)b; \
		__asm__ volatile(text " %1, %0" : "+x"(x) : "x"(y)); \
		*(vf *)r = x; \
		break; \
	}
/* elements become twice (WIDEN) or half (NARROW) as wide */
#define WIDEN(op, text) \
	case OP_##op: \
		for (i = 0; i < n; i += 16) { \
			uint64_t low; \
			vu64 y; \
			vf x; \
			memcpy(&low, b + i / 2, 8); \
			y = (vu64){low, 0}; \
			__asm__ volatile(text " %1, %0" : "=x"(x) : "x"(y)); \
			*(vf *)(r + i) = x; \
		} \
		break;
#define NARROW(op, text) \
	case OP_##op: \
		memset(r, 0, 16); \
		for (i = 0; i < n; i += 16) { \
			vu64 x; \
			vf y = *(const vf *)(b + i); \
			__asm__ volatile(text " %1, %0" : "=x"(x) : "x"(y)); \
			memcpy(r + i / 2, &x, 8); \
		} \
		result = n / 2 < 16 ? 16 : n / 2; \
		break;
#define FROM_INTEGER(op, text) \
	case OP_##op: { \
		vf x = *(const vf *)a; \
		uint64_t v = 0; \
		memcpy(&v, b, in->operand_bytes); \
		if (in->operand_bytes == 8) \
			__asm__ volatile(text "q %1, %0" : "+x"(x) : "r"(v)); \
		else \
			__asm__ volatile(text "l %k1, %0" : "+x"(x) : "r"(v)); \
		*(vf *)r = x; \
		break; \
	}
#define TO_INTEGER(op, text) \
	case OP_##op: { \
		vf y = *(const vf *)b; \
		if (in->operand_bytes == 8) \
			__asm__ volatile(text " %1, %q0" : "=r"(to_gpr) : "x"(y)); \
		else \
			__asm__ volatile(text " %1, %k0" : "=r"(to_gpr) : "x"(y)); \
		result = 0; \
		break; \
	}
#define ALL4(op, text) PACKED2(op##PS, text "ps") PACKED2(op##PD, text "pd") SCALAR(op##SS, text "ss") SCALAR(op##SD, text "sd")

/* Element width of an op of the list ADDPS ... CMPSD, and of FMA: PS, PD, SS, SD in turn. */
static unsigned width_of_four(unsigned k)
{
	return k & 1 ? 8 : 4;
}

/* Ops whose denormal operands or results need a microcode assist: arithmetic and conversion between formats.
 * Returns the width of their floating-point sources; 0: no assist. */
static unsigned assist_width(unsigned op)
{
	switch (op) {
	case OP_ADDPS ... OP_DIVSD: return width_of_four(op - OP_ADDPS);
	case OP_SQRTPS ... OP_SQRTSD: return width_of_four(op - OP_SQRTPS);
	case OP_FMADDPS ... OP_FNMSUBSD: return width_of_four(op - OP_FMADDPS);
	case OP_CVTSD2SS: case OP_CVTPD2PS: case OP_HADDPD: case OP_ADDSUBPD: return 8;
	case OP_CVTSS2SD: case OP_CVTPS2PD: case OP_HADDPS: case OP_ADDSUBPS: return 4;
	default: return 0;
	}
}

bool exec_float(struct hart_regs *regs, const struct insn *in, const uint8_t *a, const uint8_t *b, struct effects *out)
{
	unsigned op = in->op, i, n = in->operand_bytes < 16 ? 16 : in->operand_bytes, result = n, width;
	unsigned active = in->operand_bytes; /* bytes of elements that are computed */
	uint32_t host, flags = 0, guest = regs->mxcsr;
	uint64_t to_gpr = 0;
	uint8_t r[64] __attribute__((aligned(16)));
	const uint8_t *d = (const uint8_t *)regs->vec[in->vdst];
	bool unary = false, changed;

	switch (op) {
	case OP_CMPPS ... OP_CMPSD:
		*(vf *)r = *(const vf *)a;
		compare_all(in, a, b, r, active, width_of_four(op - OP_CMPPS), guest, &flags);
		break;
	case OP_UCOMISS: case OP_UCOMISD: case OP_COMISS: case OP_COMISD: {
		static const uint16_t outcome[] = {[LESS] = FLAG_CF, [EQUAL] = FLAG_ZF, [GREATER] = 0, [UNORDERED] = FLAG_CF | FLAG_ZF | FLAG_PF};
		uint64_t x = 0, y = 0;
		enum relation how;
		bool nan;

		memcpy(&x, d, active);
		memcpy(&y, b, active);
		how = compare(x, y, active, guest, &nan, &flags);
		if (nan && op >= OP_COMISS)
			flags |= MXCSR_IE;
		regs->mxcsr |= flags;
		if (flags & ~(guest >> 7))
			return false;
		regs->rflags = (regs->rflags & ~FLAG_ALL) | outcome[how];
		return true;
	}
	case OP_FMADDPS ... OP_FNMSUBSD:
		*(vf *)r = *(const vf *)d;
		fma_all(in, a, b, d, r, active, width_of_four(op - OP_FMADDPS), guest, &flags);
		break;
	default:
		changed = enter(guest, &host);
		switch (op) {
		ALL4(ADD, "add")
		ALL4(SUB, "sub")
		ALL4(MUL, "mul")
		ALL4(DIV, "div")
		ALL4(MIN, "min")
		ALL4(MAX, "max")
		PACKED1(SQRTPS, "sqrtps")
		PACKED1(SQRTPD, "sqrtpd")
		SCALAR(SQRTSS, "sqrtss")
		SCALAR(SQRTSD, "sqrtsd")
		SCALAR(CVTSS2SD, "cvtss2sd")
		SCALAR(CVTSD2SS, "cvtsd2ss")
		PACKED1(CVTDQ2PS, "cvtdq2ps")
		PACKED1(CVTPS2DQ, "cvtps2dq")
		PACKED1(CVTTPS2DQ, "cvttps2dq")
		WIDEN(CVTPS2PD, "cvtps2pd")
		WIDEN(CVTDQ2PD, "cvtdq2pd")
		NARROW(CVTPD2PS, "cvtpd2ps")
		NARROW(CVTPD2DQ, "cvtpd2dq")
		NARROW(CVTTPD2DQ, "cvttpd2dq")
		FROM_INTEGER(CVTSI2SS, "cvtsi2ss")
		FROM_INTEGER(CVTSI2SD, "cvtsi2sd")
		TO_INTEGER(CVTSS2SI, "cvtss2si")
		TO_INTEGER(CVTSD2SI, "cvtsd2si")
		TO_INTEGER(CVTTSS2SI, "cvttss2si")
		TO_INTEGER(CVTTSD2SI, "cvttsd2si")
		case OP_HADDPD: case OP_HADDPS: /* splits the pairs, then adds once */
			for (i = 0; i < n; i += 16) {
				vu32 p = *(const vu32 *)(a + i), q = *(const vu32 *)(b + i), x, y;

				if (op == OP_HADDPD) {
					x = (vu32){p[0], p[1], q[0], q[1]};
					y = (vu32){p[2], p[3], q[2], q[3]};
					__asm__ volatile("addpd %1, %0" : "+x"(x) : "x"(y));
				} else {
					x = (vu32){p[0], p[2], q[0], q[2]};
					y = (vu32){p[1], p[3], q[1], q[3]};
					__asm__ volatile("addps %1, %0" : "+x"(x) : "x"(y));
				}
				*(vu32 *)(r + i) = x;
			}
			break;
		case OP_ADDSUBPD: case OP_ADDSUBPS: /* even elements subtract, odd ones add, one at a time so that only the operation used raises flags */
			for (i = 0; i < n; i += active) {
				unsigned k;

				active = op == OP_ADDSUBPD ? 8 : 4;
				for (k = i; k == i; k++) {
					vf x, y;
					vu64 zero = {0, 0};

					memcpy(&x, &zero, 16);
					memcpy(&y, &zero, 16);
					memcpy(&x, a + i, active);
					memcpy(&y, b + i, active);
					if (op == OP_ADDSUBPD && i & 8)
						__asm__ volatile("addsd %1, %0" : "+x"(x) : "x"(y));
					else if (op == OP_ADDSUBPD)
						__asm__ volatile("subsd %1, %0" : "+x"(x) : "x"(y));
					else if (i & 4)
						__asm__ volatile("addss %1, %0" : "+x"(x) : "x"(y));
					else
						__asm__ volatile("subss %1, %0" : "+x"(x) : "x"(y));
					memcpy(r + i, &x, active);
				}
			}
			break;
		}
		flags = leave(changed, host);
		unary = op == OP_SQRTPS || op == OP_SQRTPD || op == OP_SQRTSS || op == OP_SQRTSD || (op >= OP_CVTSI2SS && op <= OP_CVTTPD2DQ);
	}
	regs->mxcsr |= flags;
	if (flags & ~(guest >> 7) & MXCSR_FLAGS)
		return false;

	width = assist_width(op);
	if (width) {
		unsigned source = in->operand_bytes;

		if (op == OP_CVTSS2SD || op == OP_CVTSD2SS || (op >= OP_CVTPS2PD && op <= OP_CVTPD2PS))
			source = op == OP_CVTSS2SD ? 4 : op == OP_CVTSD2SS ? 8 : op == OP_CVTPS2PD ? n / 2 : n;
		if (!(guest & MXCSR_DAZ))
			out->fp_assist = any_denormal(b, source, width) || (!unary && any_denormal(a, source, width))
			              || (op >= OP_FMADDPS && any_denormal(d, source, width));
		if (!(guest & MXCSR_FTZ) && !out->fp_assist && (!unary || op == OP_CVTSD2SS || op == OP_CVTPD2PS))
			out->fp_assist = op == OP_CVTSD2SS ? any_denormal(r, 4, 4) : op == OP_CVTPD2PS ? any_denormal(r, n / 2, 4)
			               : any_denormal(r, in->operand_bytes, width);
		if ((op >= OP_DIVPS && op <= OP_DIVSD) || (op >= OP_SQRTPS && op <= OP_SQRTSD))
			out->divide_bits = quotient_bits(r, in->operand_bytes, width);
	}
	if (result == 0) {
		to_gpr = in->operand_bytes == 8 ? to_gpr : (uint32_t)to_gpr;
		memcpy((uint8_t *)regs + in->dst_at, &to_gpr, 8);
	} else {
		exec_write_vector(regs, in, r, result);
	}
	return true;
}
