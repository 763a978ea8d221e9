/* pmu/sim/isa/exec_fma.c: one fused multiply-add, exactly, in integers (IEEE 754-2008, 5.4.1; special
 * values, flags, DAZ and FTZ as in the Intel SDM vol. 1, 11.5 and 14.5).
 * Not modelled: half precision, embedded rounding. */
#include "pmu/sim/isa/exec_room.h"

typedef unsigned __int128 u128;

struct format { unsigned fraction, exponent_most, bits; int bias; };
struct number { bool sign, zero, infinite, nan, signalling; int exponent; uint64_t digits; }; /* digits * 2^exponent */

enum { IE = 1, DE = 2, OE = 8, UE = 16, PE = 32, DAZ = 0x40, FTZ = 0x8000, UM = 0x800 };
enum { NEAREST, DOWN, UP, CHOP };

static struct number take(const struct format *f, uint64_t v, uint32_t mxcsr, bool *denormal)
{
	struct number n = {0};
	unsigned e = (unsigned)(v >> f->fraction) & f->exponent_most;

	n.sign = v >> (f->bits - 1) & 1;
	n.digits = v & ((1ull << f->fraction) - 1);
	if (e == f->exponent_most) {
		n.infinite = !n.digits;
		n.nan = !n.infinite;
		n.signalling = n.nan && !(n.digits >> (f->fraction - 1));
		return n;
	}
	if (e)
		n.digits |= 1ull << f->fraction;
	else if (n.digits && mxcsr & DAZ)
		n.digits = 0;
	else if (n.digits)
		*denormal = true;
	n.zero = !n.digits;
	n.exponent = (int)(e ? e : 1) - f->bias - (int)f->fraction;
	return n;
}

static uint64_t give_zero(const struct format *f, bool sign)
{
	return (uint64_t)sign << (f->bits - 1);
}

static unsigned length(u128 v)
{
	uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v;

	return high ? 128 - (unsigned)__builtin_clzll(high) : low ? 64 - (unsigned)__builtin_clzll(low) : 0;
}

/* digits * 2^exponent, plus a nonzero rest below the lowest digit if `sticky`, rounded to the format. */
static uint64_t round_to(const struct format *f, bool sign, u128 digits, int exponent, bool sticky, uint32_t mxcsr, uint32_t *flags)
{
	unsigned mode = mxcsr >> 13 & 3, keep = f->fraction + 1;
	int least = 1 - f->bias - (int)f->fraction; /* exponent of the lowest digit of a denormal */
	int drop = (int)length(digits) - (int)keep;
	bool tiny, inexact, up;
	uint64_t q, biased;
	unsigned pass;

	tiny = false;
	q = 0;
	inexact = false;
	/* The first pass ignores the exponent's lower bound, since x86 detects tininess after rounding; the second yields the result. */
	for (pass = 0; pass < 2; pass++) {
		bool half, below;
		u128 kept, rest;
		int shift = drop;

		if (pass == 1 && exponent + shift < least)
			shift = least - exponent;
		if (shift > 0) {
			kept = shift < 128 ? digits >> shift : 0;
			rest = shift < 128 ? digits & (((u128)1 << shift) - 1) : digits;
			half = shift <= 128 && (digits >> (shift - 1) & 1);
			below = sticky || (shift <= 128 ? (rest & (((u128)1 << (shift - 1)) - 1)) != 0 : digits != 0);
		} else {
			kept = digits << -shift;
			half = false;
			below = sticky;
		}
		inexact = half || below;
		up = mode == NEAREST ? half && (below || (kept & 1)) : mode == DOWN ? inexact && sign : mode == UP ? inexact && !sign : false;
		q = (uint64_t)kept + up;
		if (pass == 0) {
			int e = exponent + shift;

			if (q >> keep)
				e++;
			tiny = e < least;
		} else {
			exponent += shift;
		}
	}
	if (tiny && mxcsr & FTZ && mxcsr & UM) {
		*flags |= UE | PE;
		return give_zero(f, sign);
	}
	if (tiny && (inexact || !(mxcsr & UM)))
		*flags |= UE;
	if (inexact)
		*flags |= PE;
	if (q >> keep) {
		q >>= 1;
		exponent++;
	}
	biased = q >> f->fraction ? (uint64_t)(exponent + (int)f->fraction + f->bias) : 0;
	if ((int64_t)biased >= (int64_t)f->exponent_most) {
		bool to_most = mode == CHOP || (mode == DOWN && !sign) || (mode == UP && sign);

		*flags |= OE | PE;
		return give_zero(f, sign) | (((uint64_t)f->exponent_most << f->fraction) - to_most);
	}
	return give_zero(f, sign) | biased << f->fraction | (q & ((1ull << f->fraction) - 1));
}

uint64_t exec_fma(unsigned width, uint64_t a, uint64_t b, uint64_t c, bool negate_product, bool negate_addend,
                  uint32_t mxcsr, uint32_t *flags)
{
	static const struct format formats[2] = {{23, 0xFF, 32, 127}, {52, 0x7FF, 64, 1023}};
	const struct format *f = &formats[width == 8];
	uint64_t quiet = 1ull << (f->fraction - 1), indefinite = (uint64_t)f->exponent_most << f->fraction | quiet | 1ull << (f->bits - 1);
	bool denormal = false, product_sign, sticky = false, sign;
	struct number x = take(f, a, mxcsr, &denormal), y = take(f, b, mxcsr, &denormal), z = take(f, c, mxcsr, &denormal);
	u128 p, s;
	int ep, ez, gap;

	if (x.nan || y.nan || z.nan) {
		if (x.signalling || y.signalling || z.signalling)
			*flags |= IE;
		return (x.nan ? a : y.nan ? b : c) | quiet;
	}
	product_sign = x.sign ^ y.sign ^ negate_product;
	z.sign ^= negate_addend;
	if ((x.infinite && y.zero) || (x.zero && y.infinite)
	 || ((x.infinite || y.infinite) && z.infinite && product_sign != z.sign)) {
		*flags |= IE;
		return indefinite;
	}
	if (denormal)
		*flags |= DE;
	if (x.infinite || y.infinite || z.infinite)
		return give_zero(f, x.infinite || y.infinite ? product_sign : z.sign) | (uint64_t)f->exponent_most << f->fraction;
	if (x.zero || y.zero) {
		if (z.zero)
			return give_zero(f, product_sign == z.sign ? z.sign : (mxcsr >> 13 & 3) == DOWN);
		return round_to(f, z.sign, z.digits, z.exponent, false, mxcsr, flags);
	}
	p = (u128)x.digits * y.digits; /* at most 106 bits */
	ep = x.exponent + y.exponent;
	if (z.zero)
		return round_to(f, product_sign, p, ep, false, mxcsr, flags);
	/* Normalises the larger one to 125 bits, which leaves room for a carry, and aligns the smaller one to its exponent;
	 * digits shifted out become sticky. */
	s = z.digits;
	ez = z.exponent;
	{
		int top_p = ep + (int)length(p), top_z = ez + (int)length(s);
		bool p_larger = top_p > top_z || (top_p == top_z);
		u128 *large = p_larger ? &p : &s, *small = p_larger ? &s : &p;
		int *e_large = p_larger ? &ep : &ez, *e_small = p_larger ? &ez : &ep;
		unsigned up = 125 - length(*large);

		*large <<= up;
		*e_large -= (int)up;
		gap = *e_large - *e_small;
		if (gap > 0) {
			bool lost = gap < 128 ? (*small & (((u128)1 << gap) - 1)) != 0 : *small != 0;

			*small = gap < 128 ? *small >> gap : 0;
			sticky = lost;
		} else {
			*small <<= -gap;
		}
		*e_small = *e_large;
		sign = p_larger ? product_sign : z.sign;
		if (product_sign == z.sign) {
			s = *large + *small;
		} else {
			if (*large < *small || (*large == *small && sticky)) {
				s = *small - *large;
				sign = !sign;
			} else {
				s = *large - *small - sticky; /* the lost digits borrow one unit */
			}
			if (!s && !sticky)
				return give_zero(f, (mxcsr >> 13 & 3) == DOWN);
		}
		return round_to(f, sign, s, *e_large, sticky, mxcsr, flags);
	}
}
