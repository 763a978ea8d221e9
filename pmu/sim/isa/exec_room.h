/* pmu/sim/isa/exec_room.h: what the files of exec share. Private to exec*.c. */
#ifndef SIM_EXEC_ROOM_H
#define SIM_EXEC_ROOM_H

#include "pmu/sim/isa/exec.h"
#include "pmu/sim/isa/ops.h"

/* With -ffreestanding every memcpy is a call, even of 8 bytes; these compile to moves. */
#define memcpy(to, from, bytes) __builtin_memcpy(to, from, bytes)
#define memset(to, value, bytes) __builtin_memset(to, value, bytes)

/* RFLAGS bits (SDM vol. 1, 3.4.3). */
#define FLAG_CF 0x001ull
#define FLAG_PF 0x004ull
#define FLAG_AF 0x010ull
#define FLAG_ZF 0x040ull
#define FLAG_SF 0x080ull
#define FLAG_DF 0x400ull
#define FLAG_OF 0x800ull
#define FLAG_ZAPSO (FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF)
#define FLAG_ALL (FLAG_CF | FLAG_ZAPSO)

/* Handlers are small and many; unforced, the compiler would call these rather than inline them. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

enum vector { VECTOR_DE = 0, VECTOR_UD = 6, VECTOR_GP = 13, VECTOR_PF = 14, VECTOR_MF = 16, VECTOR_XM = 19 };

static ALWAYS_INLINE uint64_t exec_address(const struct hart_regs *regs, const struct insn *in)
{
	uint64_t base, index, va;

	memcpy(&base, (const uint8_t *)regs + in->base_at, 8);
	memcpy(&index, (const uint8_t *)regs + in->index_at, 8);
	va = base + (index << in->shift) + (uint64_t)in->offset;
	return __builtin_expect(in->address32, 0) ? (uint32_t)va : va;
}

/* Host address, if env->ranges contain it; else NULL. */
static ALWAYS_INLINE void *exec_memory_near(const struct exec_env *env, uint64_t va, unsigned bytes, bool write)
{
	const struct exec_range *range = &env->ranges[exec_range_slot(va)];
	uint64_t at = va - range->va;

	return at < range->bytes && bytes <= range->bytes - at && (!write || range->writable) ? range->host + at : NULL;
}

/* Host address; NULL = page fault. */
static inline void *exec_memory(const struct exec_env *env, uint64_t va, unsigned bytes, bool write)
{
	void *p = exec_memory_near(env, va, bytes, write);

	return p ? p : env->memory(env->self, va, bytes, write);
}

/* Vector ops, floating point included. */
enum status exec_vector(struct hart_regs *regs, const struct insn *in, const struct exec_env *env,
                        struct effects *out, uint8_t *vector);
/* Integer ops that have one handler each (OP_LAST_ALU < op <= OP_UD2). *next: address of the next instruction. */
enum status exec_integer(struct hart_regs *regs, const struct insn *in, const struct exec_env *env,
                         struct effects *out, uint64_t *next, uint8_t *vector);
enum status exec_x87(struct hart_regs *regs, const struct insn *in, const struct exec_env *env,
                     struct effects *out, uint8_t *vector);
/* Floating-point ops on prepared operands: bytes of a (src1) and b (last source). False: an unmasked
 * exception; MXCSR has its flag and the destination is unchanged. */
bool exec_float(struct hart_regs *regs, const struct insn *in, const uint8_t *a, const uint8_t *b, struct effects *out);
/* One exact fused multiply-add on the bits of doubles (width 8) or singles (4). Adds the MXCSR flags that it raises to *flags. */
uint64_t exec_fma(unsigned width, uint64_t a, uint64_t b, uint64_t c, bool negate_product, bool negate_addend,
                  uint32_t mxcsr, uint32_t *flags);

static ALWAYS_INLINE bool exec_condition(uint64_t f, unsigned cc)
{
	bool r;

	switch (cc >> 1) {
	case 0: r = f & FLAG_OF; break;
	case 1: r = f & FLAG_CF; break;
	case 2: r = f & FLAG_ZF; break;
	case 3: r = f & (FLAG_CF | FLAG_ZF); break;
	case 4: r = f & FLAG_SF; break;
	case 5: r = f & FLAG_PF; break;
	case 6: r = (f >> 7 ^ f >> 11) & 1; break;
	default: r = (f & FLAG_ZF) || ((f >> 7 ^ f >> 11) & 1); break;
	}
	return r ^ (cc & 1);
}

/* PF by the result's low byte. */
extern const uint8_t exec_parity[256];

/* ZF, SF and PF of a result that is already truncated to `bits` bits. */
static ALWAYS_INLINE uint64_t exec_flags_zsp(uint64_t r, unsigned bits)
{
	return (uint64_t)(r == 0) << 6 | (r >> (bits - 8) & FLAG_SF) | exec_parity[r & 0xFF];
}

/* Sixteen bytes at any alignment. */
#define VECTOR(name, element) typedef element name __attribute__((vector_size(16), aligned(1), may_alias))
VECTOR(vu8, uint8_t);
VECTOR(vs8, int8_t);
VECTOR(vu16, uint16_t);
VECTOR(vs16, int16_t);
VECTOR(vu32, uint32_t);
VECTOR(vs32, int32_t);
VECTOR(vu64, uint64_t);
VECTOR(vs64, int64_t);

static inline void exec_copy(void *to, const void *from, unsigned bytes)
{
	switch (bytes) {
	case 1: memcpy(to, from, 1); break;
	case 2: memcpy(to, from, 2); break;
	case 4: memcpy(to, from, 4); break;
	case 8: memcpy(to, from, 8); break;
	default:
		for (; bytes; bytes -= 16, to = (uint8_t *)to + 16, from = (const uint8_t *)from + 16)
			*(vu8 *)to = *(const vu8 *)from;
	}
}

/* Writes a result of n bytes (at least 16) to the destination; the bytes above become zero or stay unchanged. */
static inline void exec_write_vector(struct hart_regs *regs, const struct insn *in, const void *r, unsigned n)
{
	uint8_t *to = (uint8_t *)regs->vec[in->vdst];

	exec_copy(to, r, n);
	if (in->wide_zero)
		for (; n < 64; n += 16)
			*(vu8 *)(to + n) = (vu8){0};
}

#endif
