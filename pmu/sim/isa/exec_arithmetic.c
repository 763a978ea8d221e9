/* pmu/sim/isa/exec_arithmetic.c: shifts, multiplications and divisions of integers.
 *
 * Where the manual leaves a flag undefined, the value here is the simple one (documented at each op) and need not match any processor. */
#include "pmu/sim/isa/exec_arithmetic.h"

/* Shifts and rotates (SDM vol. 2, SAL/SAR/SHL/SHR and RCL/RCR/ROL/ROR). Flags undefined for some
 * counts: AF after shifts is 0; OF for counts other than 1 is computed by the rule for 1. */
uint64_t exec_shift(struct hart_regs *regs, unsigned op, uint64_t a, unsigned count, unsigned bits)
{
	uint64_t r = a, cf = regs->rflags & FLAG_CF, of;
	unsigned top = bits - 1;

	count &= bits == 64 ? 63 : 31;
	if (!count)
		return a;
	switch (op) {
	case OP_SHL:
		cf = count <= bits ? a >> (bits - count) & 1 : 0;
		r = count < 64 ? a << count & mask_of(bits) : 0;
		of = (r >> top & 1) ^ cf;
		break;
	case OP_SHR:
		cf = count <= 64 ? a >> (count - 1) & 1 : 0;
		r = a >> count;
		of = a >> top & 1;
		break;
	case OP_SAR:
		a = sign_extend(a, bits);
		cf = (uint64_t)((int64_t)a >> (count - 1)) & 1;
		r = (uint64_t)((int64_t)a >> count) & mask_of(bits);
		of = 0;
		break;
	case OP_ROL:
		count %= bits;
		if (count)
			r = (a << count | a >> (bits - count)) & mask_of(bits);
		cf = r & 1;
		of = (r >> top & 1) ^ cf;
		set_flags(regs, FLAG_CF | FLAG_OF, cf | of << 11);
		return r;
	case OP_ROR:
		count %= bits;
		if (count)
			r = (a >> count | a << (bits - count)) & mask_of(bits);
		cf = r >> top & 1;
		of = (r >> top ^ r >> (top - 1)) & 1;
		set_flags(regs, FLAG_CF | FLAG_OF, cf | of << 11);
		return r;
	default: /* RCL, RCR: rotate bits + 1 bits, CF included */
		count %= bits + 1;
		for (; count; count--) {
			uint64_t out_bit;

			if (op == OP_RCL) {
				out_bit = r >> top & 1;
				r = (r << 1 | cf) & mask_of(bits);
			} else {
				out_bit = r & 1;
				r = r >> 1 | cf << top;
			}
			cf = out_bit;
		}
		of = op == OP_RCL ? (r >> top & 1) ^ cf : (r >> top ^ r >> (top - 1)) & 1;
		set_flags(regs, FLAG_CF | FLAG_OF, cf | of << 11);
		return r;
	}
	set_flags(regs, FLAG_ALL, cf | of << 11 | exec_flags_zsp(r, bits));
	return r;
}

/* SHLD, SHRD. The result is undefined for a count above the width (16-bit operands); here the concatenation of both operands rotates. */
uint64_t exec_double_shift(struct hart_regs *regs, bool left, uint64_t a, uint64_t b, unsigned count, unsigned bits)
{
	uint64_t r, cf;

	count &= bits == 64 ? 63 : 31;
	if (!count)
		return a;
	if (count > bits) { /* 16 bits only */
		count -= bits;
		uint64_t t = a;

		a = b;
		b = t;
	}
	if (left) {
		cf = a >> (bits - count) & 1;
		r = (count == bits ? b : a << count | b >> (bits - count)) & mask_of(bits);
	} else {
		cf = a >> (count - 1) & 1;
		r = (count == bits ? b : a >> count | b << (bits - count)) & mask_of(bits);
	}
	set_flags(regs, FLAG_ALL, cf | ((r ^ a) >> (bits - 1) & 1) << 11 | exec_flags_zsp(r, bits));
	return r;
}

static unsigned significant_bits(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* DIV and IDIV of RDX:RAX (AX for bytes). False: #DE. */
bool exec_divide(struct hart_regs *regs, bool is_signed, uint64_t divisor, unsigned bits, struct effects *out)
{
	unsigned __int128 dividend;
	uint64_t low = regs->gpr[RN_RAX] & mask_of(bits), high = regs->gpr[RN_RDX] & mask_of(bits), q, r, limit;
	bool negative = false, negative_divisor = false;

	if (bits == 8) {
		high = regs->gpr[RN_RAX] >> 8 & 0xFF;
	}
	dividend = (unsigned __int128)high << bits | low;
	if (is_signed) {
		negative = high >> (bits - 1) & 1;
		negative_divisor = divisor >> (bits - 1) & 1;
		if (negative)
			dividend = (0 - dividend) & (bits == 64 ? ~(unsigned __int128)0 : ((unsigned __int128)1 << 2 * bits) - 1);
		if (negative_divisor)
			divisor = (0 - divisor) & mask_of(bits);
	}
	if (!divisor || dividend >> bits >= divisor)
		return false;
	if (bits == 64) {
		/* there is no library routine for 128-bit division below efi/; the quotient fits, so the host's DIV computes it */
		__asm__("divq %[d]" : "=a"(q), "=d"(r) : [d] "r"(divisor), "a"((uint64_t)dividend), "d"((uint64_t)(dividend >> 64)) : "cc");
	} else {
		q = (uint64_t)dividend / divisor;
		r = (uint64_t)dividend % divisor;
	}
	if (is_signed) {
		limit = 1ull << (bits - 1);
		if (q > limit || (q == limit && negative == negative_divisor))
			return false;
		out->divide_bits = (uint8_t)significant_bits(q);
		if (negative != negative_divisor)
			q = 0 - q;
		if (negative)
			r = 0 - r;
	} else {
		out->divide_bits = (uint8_t)significant_bits(q);
	}
	if (bits == 8) {
		put(&regs->gpr[RN_RAX], 2, (q & 0xFF) | (r & 0xFF) << 8);
	} else {
		put_register(&regs->gpr[RN_RAX], bits / 8, q);
		put_register(&regs->gpr[RN_RDX], bits / 8, r);
	}
	return true;
}

/* MUL and IMUL of one operand. Undefined flags: ZF and AF are 0; SF and PF follow the low half. */
void exec_multiply(struct hart_regs *regs, bool is_signed, uint64_t b, unsigned bits)
{
	uint64_t a = regs->gpr[RN_RAX] & mask_of(bits), low, high, over;
	unsigned __int128 product;

	if (is_signed)
		product = (unsigned __int128)((__int128)(int64_t)sign_extend(a, bits) * (int64_t)sign_extend(b, bits));
	else
		product = (unsigned __int128)a * b;
	low = (uint64_t)product & mask_of(bits);
	high = (uint64_t)(product >> bits) & mask_of(bits);
	over = is_signed ? high != (low >> (bits - 1) & 1 ? mask_of(bits) : 0) : high != 0;
	if (bits == 8) {
		put(&regs->gpr[RN_RAX], 2, low | high << 8);
	} else {
		put_register(&regs->gpr[RN_RAX], bits / 8, low);
		put_register(&regs->gpr[RN_RDX], bits / 8, high);
	}
	set_flags(regs, FLAG_ALL, over | over << 11 | (exec_flags_zsp(low, bits) & ~FLAG_ZF));
}

uint64_t exec_multiply_low(struct hart_regs *regs, uint64_t a, uint64_t b, unsigned bits)
{
	__int128 product = (__int128)(int64_t)sign_extend(a, bits) * (int64_t)sign_extend(b, bits);
	uint64_t low = (uint64_t)product & mask_of(bits);
	uint64_t over = (__int128)(int64_t)sign_extend(low, bits) != product;

	set_flags(regs, FLAG_ALL, over | over << 11 | (exec_flags_zsp(low, bits) & ~FLAG_ZF));
	return low;
}
