/* pmu/sim/isa/exec_x87.c: the x87 subset, bit-exact: the host's own x87 does the arithmetic under the
 * guest's control word with all exceptions masked. Each function leaves the host's x87 stack
 * empty and restores its control word.
 *
 * Not modelled: the delay of an unmasked exception (#MF occurs at the instruction itself, not at the next
 * one); the instruction and operand pointers; tags other than empty and full (FNSAVE would compute them). */
#include "pmu/sim/isa/exec_room.h"

struct f80 { uint64_t mantissa; uint16_t exponent; uint16_t pad[3]; };

enum { SW_IE = 1, SW_SF = 0x40, SW_C1 = 0x200, SW_FLAGS = 0x3F, CW_MASKS = 0x3F };

static unsigned physical(const struct x87 *x, unsigned slot)
{
	return ((x->status >> 11) + slot) & 7;
}

static bool is_empty(const struct x87 *x, unsigned slot)
{
	return (x->tag >> 2 * physical(x, slot) & 3) == 3;
}

static struct f80 get(const struct x87 *x, unsigned slot)
{
	unsigned k = physical(x, slot);

	return (struct f80){x->mantissa[k], x->exponent[k], {0}};
}

static void put(struct x87 *x, unsigned slot, struct f80 v)
{
	unsigned k = physical(x, slot);

	x->mantissa[k] = v.mantissa;
	x->exponent[k] = v.exponent;
	x->tag &= (uint16_t)~(3u << 2 * k);
}

static void move_top(struct x87 *x, int by)
{
	x->status = (uint16_t)((x->status & ~0x3800) | ((((x->status >> 11) + (unsigned)by) & 7) << 11));
}

static void pop(struct x87 *x)
{
	x->tag |= (uint16_t)(3u << 2 * physical(x, 0));
	move_top(x, 1);
}

static const struct f80 indefinite = {0xC000000000000000ull, 0xFFFF, {0}};

/* Runs `code` on the host under the guest's control word, with all exceptions masked. */
#define HOST(code, ...) do { \
		uint16_t host_cw, guest_cw = x->control | CW_MASKS; \
		__asm__ volatile("fnstcw %0\n\tfnclex\n\tfldcw %1" : "=m"(host_cw) : "m"(guest_cw)); \
		__asm__ volatile(code : __VA_ARGS__ : "memory"); \
		__asm__ volatile("fnclex\n\tfldcw %0" : : "m"(host_cw)); \
	} while (0)

/* a op b for a digit of the D8h group, encoded as bytes because assemblers disagree about FSUB and FSUBR */
static uint16_t arithmetic(const struct x87 *x, unsigned digit, struct f80 a, struct f80 b, struct f80 *r)
{
	uint16_t sw = 0;

#define BINARY(d, byte) \
	case d: \
		HOST("fldt %[b]\n\tfldt %[a]\n\t.byte 0xD8, " byte "\n\tfnstsw %[sw]\n\tfstpt %[r]\n\tfstp %%st(0)", \
		     [sw] "=m"(sw), [r] "=m"(*r) : [a] "m"(a), [b] "m"(b)); \
		break;
	switch (digit) {
	BINARY(0, "0xC1") BINARY(1, "0xC9") BINARY(4, "0xE1") BINARY(5, "0xE9") BINARY(6, "0xF1") BINARY(7, "0xF9")
	}
	return sw;
}

static uint16_t arithmetic_memory(const struct x87 *x, unsigned digit, struct f80 a, const void *p, bool is_double, struct f80 *r)
{
	uint16_t sw = 0;

#define MEMORY(d, text) \
	case d: \
		HOST("fldt %[a]\n\t" text " %[p]\n\tfnstsw %[sw]\n\tfstpt %[r]", [sw] "=m"(sw), [r] "=m"(*r) : [a] "m"(a), [p] "m"(*(const char (*)[8])p)); \
		break;
	switch (digit + (is_double ? 8 : 0)) {
	MEMORY(0, "fadds") MEMORY(1, "fmuls") MEMORY(4, "fsubs") MEMORY(5, "fsubrs") MEMORY(6, "fdivs") MEMORY(7, "fdivrs")
	MEMORY(8, "faddl") MEMORY(9, "fmull") MEMORY(12, "fsubl") MEMORY(13, "fsubrl") MEMORY(14, "fdivl") MEMORY(15, "fdivrl")
	}
	return sw;
}

static uint16_t square_root(const struct x87 *x, struct f80 a, struct f80 *r)
{
	uint16_t sw = 0;

	HOST("fldt %[a]\n\tfsqrt\n\tfnstsw %[sw]\n\tfstpt %[r]", [sw] "=m"(sw), [r] "=m"(*r) : [a] "m"(a));
	return sw;
}

static uint16_t constant(const struct x87 *x, unsigned which, struct f80 *r)
{
	uint16_t sw = 0;

#define CONSTANT(n, text) case n: HOST(text "\n\tfnstsw %[sw]\n\tfstpt %[r]", [sw] "=m"(sw), [r] "=m"(*r) : "m"(sw)); break;
	switch (which) {
	CONSTANT(0, "fld1") CONSTANT(1, "fldl2t") CONSTANT(2, "fldl2e") CONSTANT(3, "fldpi") CONSTANT(4, "fldlg2") CONSTANT(5, "fldln2")
	CONSTANT(6, "fldz")
	}
	return sw;
}

static bool is_denormal(struct f80 v)
{
	return !(v.exponent & 0x7FFF) && v.mantissa;
}

static void quotient(struct effects *out, struct f80 r)
{
	if (r.mantissa && (r.exponent & 0x7FFF) != 0x7FFF)
		out->divide_bits = (uint8_t)(64 - __builtin_clzll(r.mantissa) - __builtin_ctzll(r.mantissa));
}

/* Merges an operation's flags into the status word. False: one of them is unmasked. */
static bool merge(struct x87 *x, uint16_t sw)
{
	x->status = (uint16_t)((x->status & ~SW_C1) | (sw & (SW_FLAGS | SW_SF | SW_C1)));
	return !(sw & SW_FLAGS & ~x->control);
}

enum status exec_x87(struct hart_regs *regs, const struct insn *in, const struct exec_env *env,
                     struct effects *out, uint8_t *vector)
{
	struct x87 *x = &regs->x87, before = regs->x87;
	unsigned op = in->op, slot = in->extra;
	uint16_t sw = 0;
	uint8_t *p = NULL, small[16];
	struct f80 r = indefinite, a, b = indefinite;
	bool underflow = false, good = true;

	if (in->load || in->store) {
		uint64_t va = exec_address(regs, in);

		p = exec_memory(env, va, in->memory_bytes, in->store);
		if (!p) {
			*vector = VECTOR_PF;
			return ST_FAULT;
		}
		if (in->load) {
			out->load_va = va;
			out->load_bytes = in->memory_bytes;
			memset(small, 0, sizeof(small));
			memcpy(small, p, in->memory_bytes);
		} else {
			out->store_va = va;
			out->store_bytes = in->memory_bytes;
		}
	}
	a = get(x, 0);
	switch (op) {
	case OP_FLD: case OP_FLD_M32: case OP_FLD_M64: case OP_FLD_M80: case OP_FLDCONST:
		if (op == OP_FLD_M32) {
			HOST("flds %[p]\n\tfnstsw %[sw]\n\tfstpt %[r]", [sw] "=m"(sw), [r] "=m"(r) : [p] "m"(small));
		} else if (op == OP_FLD_M64) {
			HOST("fldl %[p]\n\tfnstsw %[sw]\n\tfstpt %[r]", [sw] "=m"(sw), [r] "=m"(r) : [p] "m"(small));
		} else if (op == OP_FLD_M80) {
			memcpy(&r, small, 10);
		} else if (op == OP_FLDCONST) {
			sw = constant(x, slot, &r) & (uint16_t)~SW_C1;
		} else if (is_empty(x, slot)) {
			sw = SW_IE | SW_SF;
		} else {
			r = get(x, slot);
		}
		out->fp_assist = sw & 2;
		if (!is_empty(x, 7) && !(sw & SW_SF)) { /* stack overflow, unless the source underflowed */
			r = indefinite;
			sw = SW_IE | SW_SF | SW_C1;
		}
		good = merge(x, sw);
		move_top(x, -1);
		put(x, 0, r);
		break;
	case OP_FST: case OP_FST_M32: case OP_FST_M64: case OP_FSTP_M80:
		if (is_empty(x, 0)) {
			a = indefinite;
			underflow = true;
		}
		memset(small, 0, sizeof(small));
		if (op == OP_FST_M32)
			HOST("fldt %[a]\n\tfstps %[p]\n\tfnstsw %[sw]", [sw] "=m"(sw), [p] "=m"(small) : [a] "m"(a));
		else if (op == OP_FST_M64)
			HOST("fldt %[a]\n\tfstpl %[p]\n\tfnstsw %[sw]", [sw] "=m"(sw), [p] "=m"(small) : [a] "m"(a));
		else
			memcpy(small, &a, 10);
		good = merge(x, underflow ? SW_IE | SW_SF : sw);
		if (!good)
			break;
		if (op == OP_FST)
			put(x, slot, a);
		else
			memcpy(p, small, in->memory_bytes);
		if (in->vsrc2)
			pop(x);
		break;
	case OP_FARITH: case OP_FARITH_TO: case OP_FARITH_M32: case OP_FARITH_M64: case OP_FSQRT:
		if (op == OP_FARITH || op == OP_FARITH_TO) {
			underflow = is_empty(x, slot);
			b = get(x, slot);
		}
		underflow |= is_empty(x, 0);
		if (underflow)
			sw = SW_IE | SW_SF;
		else if (op == OP_FSQRT)
			sw = square_root(x, a, &r);
		else if (op == OP_FARITH)
			sw = arithmetic(x, in->vsrc1, a, b, &r);
		else if (op == OP_FARITH_TO)
			sw = arithmetic(x, in->vsrc1, b, a, &r);
		else
			sw = arithmetic_memory(x, in->vsrc1, a, small, op == OP_FARITH_M64, &r);
		out->fp_assist = !underflow && (sw & 2 || is_denormal(r)); /* DE: an operand is denormal */
		if (op == OP_FSQRT || in->vsrc1 >= 6)
			quotient(out, r);
		good = merge(x, sw);
		if (!good)
			break;
		put(x, op == OP_FARITH_TO ? slot : 0, r);
		if (in->vsrc2)
			pop(x);
		break;
	case OP_FCHS: case OP_FABS:
		if (is_empty(x, 0)) {
			good = merge(x, SW_IE | SW_SF);
			a = indefinite;
		} else {
			x->status &= (uint16_t)~SW_C1;
			a.exponent = op == OP_FCHS ? a.exponent ^ 0x8000 : a.exponent & 0x7FFF;
		}
		put(x, 0, a);
		break;
	case OP_FXCH:
		b = get(x, slot);
		x->status &= (uint16_t)~SW_C1;
		if (is_empty(x, 0) || is_empty(x, slot)) {
			good = merge(x, SW_IE | SW_SF);
			a = is_empty(x, 0) ? indefinite : a;
			b = is_empty(x, slot) ? indefinite : b;
		}
		put(x, 0, b);
		put(x, slot, a);
		break;
	case OP_FFREE:
		x->tag |= (uint16_t)(3u << 2 * physical(x, slot));
		break;
	case OP_FNINIT:
		x->control = 0x37F;
		x->status = 0;
		x->tag = 0xFFFF;
		break;
	case OP_FNCLEX:
		x->status &= 0x7F00;
		break;
	case OP_FLDCW: {
		uint16_t value;

		memcpy(&value, small, 2);
		value = (uint16_t)((value & 0x1F7F) | 0x40); /* the bits that the processor keeps */
		out->mxcsr_changed = value != x->control;
		out->value32 = value;
		x->control = value;
		break;
	}
	case OP_FNSTCW:
		memcpy(p, &x->control, 2);
		break;
	case OP_FNSTSW:
		memcpy(p ? p : (uint8_t *)&regs->gpr[RN_RAX], &x->status, 2);
		break;
	case OP_EMMS: /* TOP becomes 0, as with every MMX instruction (SDM vol. 1, 9.5.1) */
		x->tag = 0xFFFF;
		x->status &= (uint16_t)~0x3800;
		break;
	}
	if (!good) {
		before.status = x->status;
		*x = before;
		*vector = VECTOR_MF;
		return ST_FAULT;
	}
	return ST_OK;
}
