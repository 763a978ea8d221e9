/* pmu/sim/isa/exec_vector.c: vector moves, logic, shuffles and integer arithmetic, 16 bytes at a time,
 * whatever the vector length; the host needs only SSE2.
 * Not modelled: masks, embedded broadcast (decode.c refuses them). */
#include "pmu/sim/isa/exec_room.h"

static inline int saturate(int v, int low, int high)
{
	return v < low ? low : v > high ? high : v;
}

static uint64_t element(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	exec_copy(&v, p, bytes);
	return v;
}

/* x op y by elements, for all 16-byte chunks */
#define EACH(type, expression) \
	for (i = 0; i < n; i += 16) { \
		type x = *(const type *)(a + i), y = *(const type *)(b + i); \
		*(type *)(r + i) = (type)(expression); \
	} \
	return true
#define EACH_ELEMENT(type, expression) \
	for (i = 0; i < n; i += sizeof(type)) { \
		type x, y, z; \
		memcpy(&x, a + i, sizeof(x)); \
		memcpy(&y, b + i, sizeof(y)); \
		z = (type)(expression); \
		memcpy(r + i, &z, sizeof(z)); \
	} \
	return true

/* Two-operand integer ops and logic: r = a op b. False: not one of them. */
static bool arithmetic(unsigned op, const uint8_t *a, const uint8_t *b, uint8_t *r, unsigned n)
{
	unsigned i, k;

	switch (op) {
	case OP_PAND: case OP_ANDP: EACH(vu64, x & y);
	case OP_PANDN: case OP_ANDNP: EACH(vu64, ~x & y);
	case OP_POR: case OP_ORP: EACH(vu64, x | y);
	case OP_PXOR: case OP_XORP: EACH(vu64, x ^ y);
	case OP_PADDB: EACH(vu8, x + y);
	case OP_PADDW: EACH(vu16, x + y);
	case OP_PADDD: EACH(vu32, x + y);
	case OP_PADDQ: EACH(vu64, x + y);
	case OP_PSUBB: EACH(vu8, x - y);
	case OP_PSUBW: EACH(vu16, x - y);
	case OP_PSUBD: EACH(vu32, x - y);
	case OP_PSUBQ: EACH(vu64, x - y);
	case OP_PCMPEQB: EACH(vu8, x == y);
	case OP_PCMPEQW: EACH(vu16, x == y);
	case OP_PCMPEQD: EACH(vu32, x == y);
	case OP_PCMPEQQ: EACH_ELEMENT(uint64_t, x == y ? ~0ull : 0);
	case OP_PCMPGTB: EACH(vs8, x > y);
	case OP_PCMPGTW: EACH(vs16, x > y);
	case OP_PCMPGTD: EACH(vs32, x > y);
	case OP_PCMPGTQ: EACH_ELEMENT(int64_t, x > y ? -1 : 0);
	case OP_PADDSB: EACH_ELEMENT(int8_t, saturate(x + y, -128, 127));
	case OP_PADDSW: EACH_ELEMENT(int16_t, saturate(x + y, -32768, 32767));
	case OP_PADDUSB: EACH_ELEMENT(uint8_t, saturate(x + y, 0, 255));
	case OP_PADDUSW: EACH_ELEMENT(uint16_t, saturate(x + y, 0, 65535));
	case OP_PSUBSB: EACH_ELEMENT(int8_t, saturate(x - y, -128, 127));
	case OP_PSUBSW: EACH_ELEMENT(int16_t, saturate(x - y, -32768, 32767));
	case OP_PSUBUSB: EACH_ELEMENT(uint8_t, saturate(x - y, 0, 255));
	case OP_PSUBUSW: EACH_ELEMENT(uint16_t, saturate(x - y, 0, 65535));
	case OP_PMINUB: EACH_ELEMENT(uint8_t, x < y ? x : y);
	case OP_PMINSB: EACH_ELEMENT(int8_t, x < y ? x : y);
	case OP_PMINUW: EACH_ELEMENT(uint16_t, x < y ? x : y);
	case OP_PMINSW: EACH_ELEMENT(int16_t, x < y ? x : y);
	case OP_PMINUD: EACH_ELEMENT(uint32_t, x < y ? x : y);
	case OP_PMINSD: EACH_ELEMENT(int32_t, x < y ? x : y);
	case OP_PMAXUB: EACH_ELEMENT(uint8_t, x > y ? x : y);
	case OP_PMAXSB: EACH_ELEMENT(int8_t, x > y ? x : y);
	case OP_PMAXUW: EACH_ELEMENT(uint16_t, x > y ? x : y);
	case OP_PMAXSW: EACH_ELEMENT(int16_t, x > y ? x : y);
	case OP_PMAXUD: EACH_ELEMENT(uint32_t, x > y ? x : y);
	case OP_PMAXSD: EACH_ELEMENT(int32_t, x > y ? x : y);
	case OP_PABSB: EACH_ELEMENT(int8_t, ((void)x, y < 0 ? -y : y));
	case OP_PABSW: EACH_ELEMENT(int16_t, ((void)x, y < 0 ? -y : y));
	case OP_PABSD: EACH_ELEMENT(uint32_t, ((void)x, y >> 31 ? 0 - y : y));
	case OP_PAVGB: EACH_ELEMENT(uint8_t, (x + y + 1) >> 1);
	case OP_PAVGW: EACH_ELEMENT(uint16_t, (x + y + 1) >> 1);
	case OP_PMULLW: EACH(vu16, x * y);
	case OP_PMULHW: EACH_ELEMENT(int16_t, (x * y) >> 16);
	case OP_PMULHUW: EACH_ELEMENT(uint16_t, ((uint32_t)x * y) >> 16);
	case OP_PMULLD: EACH_ELEMENT(uint32_t, x * y);
	case OP_PMULUDQ: EACH_ELEMENT(uint64_t, (x & 0xFFFFFFFF) * (y & 0xFFFFFFFF));
	case OP_PMULDQ: EACH_ELEMENT(int64_t, (int64_t)(int32_t)x * (int32_t)y);
	case OP_PMADDWD:
		EACH_ELEMENT(uint32_t, (uint32_t)((int16_t)x * (int16_t)y) + (uint32_t)((int16_t)(x >> 16) * (int16_t)(y >> 16)));
	case OP_PSADBW:
		for (i = 0; i < n; i += 8) {
			uint64_t sum = 0;

			for (k = 0; k < 8; k++)
				sum += (uint64_t)(a[i + k] > b[i + k] ? a[i + k] - b[i + k] : b[i + k] - a[i + k]);
			memcpy(r + i, &sum, 8);
		}
		return true;
	default:
		return false;
	}
}

/* Shifts each element by `count`; counts beyond the width give 0, or the sign. */
static void shift(unsigned op, const uint8_t *a, uint64_t count, uint8_t *r, unsigned n)
{
	unsigned i;
	int k;

	switch (op) {
#define SHIFT(name, type, bits, expression) \
	case OP_##name: \
		for (i = 0; i < n; i += 16) { \
			type x = *(const type *)(a + i); \
			*(type *)(r + i) = count < bits ? (type)(expression) : (type){0}; \
		} \
		break;
	SHIFT(PSRLW, vu16, 16, x >> (uint16_t)count)
	SHIFT(PSRLD, vu32, 32, x >> (uint32_t)count)
	SHIFT(PSRLQ, vu64, 64, x >> count)
	SHIFT(PSLLW, vu16, 16, x << (uint16_t)count)
	SHIFT(PSLLD, vu32, 32, x << (uint32_t)count)
	SHIFT(PSLLQ, vu64, 64, x << count)
#undef SHIFT
	case OP_PSRAW:
		for (i = 0; i < n; i += 16)
			*(vs16 *)(r + i) = *(const vs16 *)(a + i) >> (int16_t)(count < 16 ? count : 15);
		break;
	case OP_PSRAD:
		for (i = 0; i < n; i += 16)
			*(vs32 *)(r + i) = *(const vs32 *)(a + i) >> (int32_t)(count < 32 ? count : 31);
		break;
	default: /* PSRLDQ, PSLLDQ: by bytes, within 16 */
		if (count > 16)
			count = 16;
		for (i = 0; i < n; i += 16)
			for (k = 0; k < 16; k++) {
				int from = op == OP_PSRLDQ ? k + (int)count : k - (int)count;

				r[i + (unsigned)k] = from >= 0 && from < 16 ? a[i + (unsigned)from] : 0;
			}
	}
}

/* Interleaves elements of `width` bytes from the low or high half of each 16 bytes. */
static void unpack(const uint8_t *a, const uint8_t *b, uint8_t *r, unsigned n, unsigned width, bool high)
{
	unsigned i, k;

	for (i = 0; i < n; i += 16)
		for (k = 0; k < 8; k += width) {
			exec_copy(r + i + 2 * k, a + i + k + 8 * high, width);
			exec_copy(r + i + 2 * k + width, b + i + k + 8 * high, width);
		}
}

static void pack(unsigned op, const uint8_t *a, const uint8_t *b, uint8_t *r, unsigned n)
{
	unsigned i, k, width = op == OP_PACKSSDW || op == OP_PACKUSDW ? 4 : 2;

	for (i = 0; i < n; i += 16)
		for (k = 0; k < 32 / width; k++) {
			const uint8_t *from = k < 16 / width ? a + i + k * width : b + i + k * width - 16;
			int32_t v;

			v = width == 4 ? (int32_t)element(from, 4) : (int16_t)element(from, 2);
			v = op == OP_PACKSSWB ? saturate(v, -128, 127) : op == OP_PACKUSWB ? saturate(v, 0, 255)
			  : op == OP_PACKSSDW ? saturate(v, -32768, 32767) : saturate(v, 0, 65535);
			exec_copy(r + i + k * width / 2, &v, width / 2);
		}
}

/* PMOVSX, PMOVZX: from `from` to `to` bytes per element */
static void extend(const uint8_t *b, uint8_t *r, unsigned n, unsigned from, unsigned to, bool is_signed)
{
	unsigned i;

	for (i = 0; i < n / to; i++) {
		uint64_t v = element(b + i * from, from);

		if (is_signed)
			v = (uint64_t)((int64_t)(v << (64 - 8 * from)) >> (64 - 8 * from));
		exec_copy(r + i * to, &v, to);
	}
}

/* Shuffles and other rearrangements; a, b as in the manual, m = immediate. False: not one of them. */
static bool rearrange(unsigned op, unsigned m, const uint8_t *a, const uint8_t *b, uint8_t *r, unsigned n)
{
	unsigned i, k;

	switch (op) {
	case OP_UNPCKLPS: case OP_PUNPCKLDQ: unpack(a, b, r, n, 4, false); break;
	case OP_UNPCKLPD: case OP_PUNPCKLQDQ: unpack(a, b, r, n, 8, false); break;
	case OP_UNPCKHPS: case OP_PUNPCKHDQ: unpack(a, b, r, n, 4, true); break;
	case OP_UNPCKHPD: case OP_PUNPCKHQDQ: unpack(a, b, r, n, 8, true); break;
	case OP_PUNPCKLBW: unpack(a, b, r, n, 1, false); break;
	case OP_PUNPCKLWD: unpack(a, b, r, n, 2, false); break;
	case OP_PUNPCKHBW: unpack(a, b, r, n, 1, true); break;
	case OP_PUNPCKHWD: unpack(a, b, r, n, 2, true); break;
	case OP_PACKSSWB: case OP_PACKSSDW: case OP_PACKUSWB: case OP_PACKUSDW: pack(op, a, b, r, n); break;
	case OP_SHUFPS:
		for (i = 0; i < n; i += 16)
			for (k = 0; k < 4; k++)
				exec_copy(r + i + 4 * k, (k < 2 ? a : b) + i + 4 * (m >> 2 * k & 3), 4);
		break;
	case OP_SHUFPD:
		for (i = 0; i < n / 8; i++)
			exec_copy(r + 8 * i, (i & 1 ? b : a) + 8 * ((i & ~1u) + (m >> i & 1)), 8);
		break;
	case OP_PSHUFD:
		for (i = 0; i < n; i += 16)
			for (k = 0; k < 4; k++)
				exec_copy(r + i + 4 * k, b + i + 4 * (m >> 2 * k & 3), 4);
		break;
	case OP_PSHUFLW: case OP_PSHUFHW:
		for (i = 0; i < n; i += 16) {
			unsigned half = op == OP_PSHUFHW ? 8 : 0;

			exec_copy(r + i + 8 - half, b + i + 8 - half, 8);
			for (k = 0; k < 4; k++)
				exec_copy(r + i + half + 2 * k, b + i + half + 2 * (m >> 2 * k & 3), 2);
		}
		break;
	case OP_PSHUFB:
		for (i = 0; i < n; i += 16)
			for (k = 0; k < 16; k++)
				r[i + k] = b[i + k] & 0x80 ? 0 : a[i + (b[i + k] & 15)];
		break;
	case OP_PALIGNR:
		for (i = 0; i < n; i += 16)
			for (k = 0; k < 16; k++)
				r[i + k] = k + m < 16 ? b[i + k + m] : k + m < 32 ? a[i + k + m - 16] : 0;
		break;
	case OP_BLENDPS: case OP_BLENDPD: case OP_PBLENDW:
		k = op == OP_BLENDPS ? 4 : op == OP_BLENDPD ? 8 : 2;
		for (i = 0; i < n / k; i++)
			exec_copy(r + i * k, (m >> (k == 2 ? i & 7 : i) & 1 ? b : a) + i * k, k);
		break;
	case OP_BROADCASTB: case OP_BROADCASTW: case OP_BROADCASTD: case OP_BROADCASTQ: case OP_BROADCAST128:
		k = op == OP_BROADCAST128 ? 16 : 1u << (op - OP_BROADCASTB);
		for (i = 0; i < n; i += k)
			exec_copy(r + i, b, k);
		break;
	case OP_MOVDDUP:
		for (i = 0; i < n; i += 16) {
			exec_copy(r + i, b + i, 8);
			exec_copy(r + i + 8, b + i, 8);
		}
		break;
	case OP_MOVSLDUP: case OP_MOVSHDUP:
		for (i = 0; i < n; i += 8) {
			exec_copy(r + i, b + i + 4 * (op == OP_MOVSHDUP), 4);
			exec_copy(r + i + 4, b + i + 4 * (op == OP_MOVSHDUP), 4);
		}
		break;
	case OP_INSERT128: case OP_INSERT256:
		k = op == OP_INSERT128 ? 16 : 32;
		exec_copy(r, a, n);
		exec_copy(r + k * (m % (n / k)), b, k);
		break;
	case OP_PERM2F128:
		for (i = 0; i < 2; i++) {
			unsigned pick = m >> 4 * i & 15;

			if (pick & 8)
				memset(r + 16 * i, 0, 16);
			else
				exec_copy(r + 16 * i, (pick & 2 ? b : a) + 16 * (pick & 1), 16);
		}
		break;
	case OP_PERMQ:
		for (i = 0; i < 4; i++)
			exec_copy(r + 8 * i, b + 8 * (m >> 2 * i & 3), 8);
		break;
	case OP_PMOVSXBW: case OP_PMOVZXBW: extend(b, r, n, 1, 2, op == OP_PMOVSXBW); break;
	case OP_PMOVSXBD: case OP_PMOVZXBD: extend(b, r, n, 1, 4, op == OP_PMOVSXBD); break;
	case OP_PMOVSXBQ: case OP_PMOVZXBQ: extend(b, r, n, 1, 8, op == OP_PMOVSXBQ); break;
	case OP_PMOVSXWD: case OP_PMOVZXWD: extend(b, r, n, 2, 4, op == OP_PMOVSXWD); break;
	case OP_PMOVSXWQ: case OP_PMOVZXWQ: extend(b, r, n, 2, 8, op == OP_PMOVSXWQ); break;
	case OP_PMOVSXDQ: case OP_PMOVZXDQ: extend(b, r, n, 4, 8, op == OP_PMOVSXDQ); break;
	case OP_MOVLP: case OP_MOVLHPS: case OP_MOVHP: case OP_MOVHLPS: case OP_MOVSS: case OP_MOVSD:
		exec_copy(r, a, 16);
		if (op == OP_MOVHP || op == OP_MOVLHPS)
			exec_copy(r + 8, b, 8);
		else
			exec_copy(r, op == OP_MOVHLPS ? b + 8 : b, op == OP_MOVSS ? 4 : 8);
		break;
	default:
		return false;
	}
	return true;
}

static unsigned sign_mask(const uint8_t *b, unsigned n, unsigned width)
{
	unsigned i, mask = 0;

	for (i = 0; i < n / width; i++)
		mask |= (unsigned)(b[i * width + width - 1] >> 7) << i;
	return mask;
}

/* The bytes of the source register that a store writes. */
static const uint8_t *store_source(const struct hart_regs *regs, const struct insn *in)
{
	const uint8_t *from = (const uint8_t *)regs->vec[in->vsrc2];

	switch (in->op) {
	case OP_MOVNTI: return (const uint8_t *)regs + in->src_at;
	case OP_MOVHP_STORE: return from + 8;
	case OP_EXTRACT128: return from + 16 * (in->extra % (in->operand_bytes / 16));
	case OP_EXTRACT256: return from + 32 * (in->extra & 1);
	case OP_PEXTRB: case OP_PEXTRW: case OP_PEXTRD:
		return from + in->operand_bytes * (in->extra % (16 / in->operand_bytes));
	default: return from;
	}
}

/* #GP when a 16-byte operand of legacy SSE, or any operand of an aligned move, is not aligned. */
static bool misaligned(const struct insn *in, uint64_t va)
{
	if (in->op == OP_MOVVA || in->op == OP_MOVNT || in->op == OP_MOVNTDQA)
		return va & (in->memory_bytes - 1);
	return !in->wide_zero && in->memory_bytes == 16 && in->op != OP_MOVV && va & 15;
}

static void set_control(struct hart_regs *regs, struct effects *out, uint32_t value)
{
	out->mxcsr_changed = (value ^ regs->mxcsr) & 0xFFC0;
	out->value32 = value;
	regs->mxcsr = value;
}

enum status exec_vector(struct hart_regs *regs, const struct insn *in, const struct exec_env *env,
                        struct effects *out, uint8_t *vector)
{
	unsigned op = in->op, n = in->operand_bytes < 16 ? 16 : in->operand_bytes, result = n;
	const uint8_t *a = (const uint8_t *)regs->vec[in->vsrc1], *b = (const uint8_t *)regs->vec[in->vsrc2], *from;
	uint8_t r[64] __attribute__((aligned(16))), small[16] __attribute__((aligned(16)));
	uint8_t *p = NULL, *gpr = (uint8_t *)regs + in->dst_at;
	uint64_t count;

	if (in->load || in->store) {
		uint64_t va = exec_address(regs, in);

		if (misaligned(in, va)) {
			*vector = VECTOR_GP;
			return ST_FAULT;
		}
		p = exec_memory(env, va, in->memory_bytes, in->store);
		if (!p) {
			*vector = VECTOR_PF;
			return ST_FAULT;
		}
		if (in->store) {
			out->store_va = va;
			out->store_bytes = in->memory_bytes;
			if (op == OP_STMXCSR)
				memcpy(p, &regs->mxcsr, 4);
			else
				exec_copy(p, store_source(regs, in), in->memory_bytes);
			return ST_OK;
		}
		out->load_va = va;
		out->load_bytes = in->memory_bytes;
		b = p;
		if (in->memory_bytes < 16) {
			memset(small, 0, sizeof(small));
			exec_copy(small, p, in->memory_bytes);
			b = small;
		}
	} else if (in->kind == KIND_RR && in->src2 <= 15) {
		b = (const uint8_t *)regs + in->src_at;
	}
	switch (op) {
	case OP_MOVV: case OP_MOVVA: case OP_MOVNTDQA:
		exec_write_vector(regs, in, b, n);
		return ST_OK;
	case OP_MOVSS: case OP_MOVSD:
		if (p) { /* a load zeroes the rest of the 16 bytes */
			exec_write_vector(regs, in, b, 16);
			return ST_OK;
		}
		break;
	case OP_MOVQ: case OP_MOVD_VE:
		memset(r, 0, 16);
		exec_copy(r, b, op == OP_MOVQ ? 8 : in->operand_bytes);
		exec_write_vector(regs, in, r, 16);
		return ST_OK;
	case OP_MOVD_EV:
		count = element(b, in->operand_bytes);
		memcpy(gpr, &count, 8);
		return ST_OK;
	case OP_PEXTRB: case OP_PEXTRW: case OP_PEXTRD:
		count = element(store_source(regs, in), in->operand_bytes);
		memcpy(gpr, &count, 8);
		return ST_OK;
	case OP_PINSRB: case OP_PINSRW: case OP_PINSRD:
		exec_copy(r, a, 16);
		exec_copy(r + in->operand_bytes * (in->extra % (16 / in->operand_bytes)), b, in->operand_bytes);
		exec_write_vector(regs, in, r, 16);
		return ST_OK;
	case OP_MOVMSKPS: case OP_MOVMSKPD: case OP_PMOVMSKB:
		count = sign_mask(b, n, op == OP_MOVMSKPS ? 4 : op == OP_MOVMSKPD ? 8 : 1);
		memcpy(gpr, &count, 8);
		return ST_OK;
	case OP_EXTRACT128: case OP_EXTRACT256:
		from = store_source(regs, in);
		result = op == OP_EXTRACT128 ? 16 : 32;
		exec_copy(r, from, result);
		exec_write_vector(regs, in, r, result);
		return ST_OK;
	case OP_PTEST: {
		uint64_t zero = 0, carry = 0, x, y;
		const uint8_t *d = (const uint8_t *)regs->vec[in->vdst];

		for (count = 0; count < n; count += 8) {
			memcpy(&x, d + count, 8);
			memcpy(&y, b + count, 8);
			zero |= x & y;
			carry |= ~x & y;
		}
		regs->rflags = (regs->rflags & ~FLAG_ALL) | (zero ? 0 : FLAG_ZF) | (carry ? 0 : FLAG_CF);
		return ST_OK;
	}
	case OP_PSRLW ... OP_PSLLDQ:
		count = in->kind == KIND_RI ? in->extra : element(b, 8);
		shift(op, a, count, r, n);
		exec_write_vector(regs, in, r, n);
		return ST_OK;
	case OP_VZEROUPPER: case OP_VZEROALL: /* registers 0-15 only (SDM vol. 2) */
		for (count = 0; count < 16; count++)
			memset((uint8_t *)regs->vec[count] + (op == OP_VZEROUPPER ? 16 : 0), 0, op == OP_VZEROUPPER ? 48 : 64);
		return ST_OK;
	case OP_LDMXCSR: {
		uint32_t value;

		memcpy(&value, p, 4);
		if (value & 0xFFFF0000) { /* reserved bits */
			*vector = VECTOR_GP;
			return ST_FAULT;
		}
		set_control(regs, out, value);
		return ST_OK;
	}
	case OP_ADDPS ... OP_FNMSUBSD:
		if (!exec_float(regs, in, a, b, out)) {
			*vector = VECTOR_XM;
			return ST_FAULT;
		}
		return ST_OK;
	default:
		break;
	}
	if (!arithmetic(op, a, b, r, n) && !rearrange(op, in->extra, a, b, r, n)) {
		*vector = VECTOR_UD;
		return ST_FAULT;
	}
	exec_write_vector(regs, in, r, n);
	return ST_OK;
}
