/* bench/sampling/pebs_address.c: see pebs_address.h. Encodings: SDM volume 2, chapter 2. */
#include "bench/sampling/pebs_address.h"

#define LONGEST 10u /* a prefix, REX, two bytes of opcode, ModRM, SIB, displacement of 4 */
#define RSP 4u
#define NO_REGISTER 16u

struct parts { unsigned length, reg, base, index, scale, bytes; int64_t displacement; bool vector; };

/* SSE's loads to a vector register, MOVUPS, MOVAPS, MOVDQU and their like, and additions and products with memory: the second byte of the opcode. */
static bool is_vector(uint8_t opcode)
{
	return opcode == 0x10 || opcode == 0x28 || opcode == 0x58 || opcode == 0x59 || opcode == 0x6F;
}

/* Bytes loaded by the opcode at `at`, and the opcode's length; 0: not one of the known forms. */
static unsigned load_bytes(const uint8_t *at, unsigned rex, unsigned *opcode)
{
	*opcode = 1;
	if (at[0] == 0x8B || at[0] == 0x03) /* MOV, ADD r, m */
		return rex & 8 ? 8 : 4;
	if (at[0] == 0x63 && rex & 8) /* MOVSXD */
		return 4;
	*opcode = 2;
	if (at[0] == 0x0F && at[1] == 0xB6) /* MOVZX */
		return 1;
	return at[0] == 0x0F && at[1] == 0xB7 ? 2 : 0;
}

/* Decodes a load of exactly `length` bytes at `at`. */
static bool decode_load(const uint8_t *at, unsigned length, struct parts *p)
{
	uint8_t copy[16] = { 0 };
	unsigned prefix, rex, opcode, used, mode, rm;
	memcpy(copy, at, length);
	prefix = copy[0] == 0x66 || copy[0] == 0xF2 || copy[0] == 0xF3 ? copy[0] : 0;
	used = prefix != 0;
	rex = (copy[used] & 0xF0) == 0x40 ? copy[used] : 0;
	used += rex != 0;
	p->vector = copy[used] == 0x0F && is_vector(copy[used + 1]);
	if (prefix && !p->vector)
		return false;
	p->bytes = load_bytes(copy + used, rex, &opcode);
	if (p->vector)
		p->bytes = prefix == 0xF2 ? 8 : prefix == 0xF3 && copy[used + 1] != 0x6F ? 4 : 16;
	if (!p->bytes)
		return false;
	used += opcode;
	mode = copy[used] >> 6;
	rm = copy[used] & 7;
	p->reg = (copy[used] >> 3 & 7) | (rex & 4) << 1;
	used++;
	p->base = rm | (rex & 1) << 3;
	p->index = NO_REGISTER;
	p->scale = 0;
	if (mode == 3 || (mode == 0 && rm == 5))
		return false; /* register operand, or RIP-relative */
	if (rm == RSP) {
		p->scale = copy[used] >> 6;
		p->index = (copy[used] >> 3 & 7) | (rex & 2) << 2;
		p->base = (copy[used] & 7) | (rex & 1) << 3;
		if (mode == 0 && (copy[used] & 7) == 5)
			return false; /* no base */
		if (p->index == RSP)
			p->index = NO_REGISTER;
		used++;
	}
	p->displacement = mode == 1 ? (int8_t)copy[used] :
		mode == 2 ? (int32_t)(copy[used] | copy[used + 1] << 8 | copy[used + 2] << 16 | (uint32_t)copy[used + 3] << 24) : 0;
	p->length = used + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
	return p->length == length;
}

enum status pebs_address_before(const uint8_t *code, uint32_t bytes, uint32_t next, const uint64_t gpr[16], struct operand *out)
{
	struct parts p, found = { .length = 0 };
	*out = (struct operand){ .destination = NO_REGISTER };
	if (next > bytes)
		return ST_SYNTAX;
	if (next >= 5 && code[next - 5] == 0xE8) { /* only a return reaches the address after a call */
		out->address = gpr[RSP] - 8;
		out->bytes = 8;
		return ST_OK;
	}
	/* The longest decoding wins: a shorter one may be its tail without the prefix. */
	for (unsigned length = 2; length <= LONGEST && length <= next; length++)
		if (decode_load(code + next - length, length, &p))
			found = p;
	if (!found.length)
		return ST_SYNTAX;
	out->destination = found.vector ? NO_REGISTER : (uint8_t)found.reg;
	if (!found.vector && (found.reg == found.base || found.reg == found.index))
		return ST_REFUSED;
	out->address = gpr[found.base] + (uint64_t)found.displacement +
		(found.index == NO_REGISTER ? 0 : gpr[found.index] << found.scale);
	out->bytes = (uint8_t)found.bytes;
	return ST_OK;
}
