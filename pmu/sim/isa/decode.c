/* pmu/sim/isa/decode.c: prefixes, opcode maps, ModRM; finds the row of an instruction.
 *
 * Long mode only. Not modelled, hence ST_SYNTAX: FS and GS overrides, EVEX masking, embedded
 * broadcast and rounding, gathers, MMX registers, REPNE, BMI, AES and other special units,
 * far transfers, port and system instructions beyond the list in decode_rows.def. */
#include "pmu/sim/isa/decode_row.h"
#include "pmu/sim/isa/exec.h"

static const struct row rows[] = {
#define I(map, opcode, span, digit, pp, op, form, size, source, imm) {map, pp, opcode, span, digit, OP_##op, form, size, source, imm, 0},
#define V(map, pp, opcode, digit, op, form, size, memory, encodings, imm) {map, pp, opcode, 1, digit, OP_##op, form, size, memory, imm, encodings},
#define IMM_0 IMM_NONE
#include "pmu/sim/isa/decode_rows.def"
#undef I
#undef V
};

static const struct { uint8_t class; uint8_t attributes; } infos[] = {
#define OP(name, class, attributes) {class, attributes},
#include "pmu/sim/isa/ops.def"
#undef OP
};

uint16_t decode_attributes(unsigned op)
{
	return infos[op].attributes;
}

unsigned decode_class(unsigned op)
{
	return infos[op].class;
}

uint8_t decode_byte(struct decoding *d)
{
	if (d->at >= d->available) {
		d->cut = true;
		return 0;
	}
	return d->bytes[d->at++];
}

int64_t decode_immediate(struct decoding *d, unsigned bytes)
{
	uint64_t value = 0;
	unsigned i;

	for (i = 0; i < bytes; i++)
		value |= (uint64_t)decode_byte(d) << (8 * i);
	if (bytes && bytes < 8 && value >> (8 * bytes - 1))
		value |= ~0ull << (8 * bytes);
	return (int64_t)value;
}

void decode_reads(struct insn *out, unsigned name)
{
	unsigned i;

	for (i = 0; i < out->read_count; i++)
		if (out->reads[i] == name)
			return;
	if (name != RN_NONE && out->read_count < COUNT_OF(out->reads))
		out->reads[out->read_count++] = (uint8_t)name;
}

void decode_writes(struct insn *out, unsigned name)
{
	unsigned i;

	for (i = 0; i < out->write_count; i++)
		if (out->writes[i] == name)
			return;
	if (name != RN_NONE && out->write_count < COUNT_OF(out->writes))
		out->writes[out->write_count++] = (uint8_t)name;
}

void decode_modrm(struct decoding *d, struct insn *out)
{
	uint8_t modrm, sib, base;

	if (d->have_modrm)
		return;
	d->have_modrm = true;
	modrm = decode_byte(d);
	d->mod = modrm >> 6;
	d->reg = modrm >> 3 & 7;
	d->rm = modrm & 7;
	if (d->mod == 3)
		return;
	base = d->rm;
	if (d->rm == 4) {
		uint8_t index;

		sib = decode_byte(d);
		base = sib & 7;
		index = (uint8_t)((sib >> 3 & 7) | (d->x & 8));
		if (index != 4) {
			out->has_index = true;
			out->index = index;
			out->shift = sib >> 6;
			out->scale = (uint8_t)(1 << out->shift);
		}
	}
	if (d->mod == 0 && base == 5) {
		out->rip_relative = d->rm == 5;
		out->displacement = (int32_t)decode_immediate(d, 4);
		return;
	}
	out->has_base = true;
	out->base = base | (d->b & 8);
	if (d->mod == 1) {
		out->displacement = (int32_t)decode_immediate(d, 1);
		d->disp8 = true;
	} else if (d->mod == 2) {
		out->displacement = (int32_t)decode_immediate(d, 4);
	}
}

void decode_memory(struct insn *out, unsigned bytes, bool load, bool store)
{
	out->memory_bytes = (uint8_t)bytes;
	out->load = load;
	out->store = store;
}

/* Legacy prefixes, REX, VEX or EVEX, opcode. False: not in the subset. */
static bool head(struct decoding *d)
{
	uint8_t byte, p;

	for (;;) {
		byte = decode_byte(d);
		if (d->cut)
			return false;
		if (byte == 0x66)
			d->prefix66 = true;
		else if (byte == 0x67)
			d->prefix67 = true;
		else if (byte == 0xF0)
			d->lock = true;
		else if (byte == 0xF2 || byte == 0xF3)
			d->rep = byte;
		else if (byte != 0x2E && byte != 0x36 && byte != 0x3E && byte != 0x26)
			break;
	}
	if (byte == 0xC4 || byte == 0xC5 || byte == 0x62) { /* SDM vol. 2, 2.3.5 and 2.7.1 */
		if (d->prefix66 || d->rep || d->lock)
			return false;
		d->encoding = byte == 0x62 ? EVEX : VEX;
		p = decode_byte(d);
		d->r = p & 0x80 ? 0 : 8;
		d->map = 1;
		if (byte != 0xC5) {
			d->x = p & 0x40 ? 0 : 8;
			d->b = p & 0x20 ? 0 : 8;
			d->map = byte == 0x62 ? p & 7 : p & 31;
			if (byte == 0x62) {
				if (p & 8)
					return false;
				d->r |= p & 0x10 ? 0 : 16;
			}
			p = decode_byte(d);
			d->w = p & 0x80;
		}
		d->v = (uint8_t)(~(p >> 3) & 15);
		d->pp = p & 3;
		d->vlength = p >> 2 & 1;
		if (byte == 0x62) {
			if (!(p & 4))
				return false;
			p = decode_byte(d);
			if ((p & 0x97) != 0) /* zeroing, broadcast or rounding, mask register */
				return false;
			d->v |= p & 8 ? 0 : 16;
			d->vlength = p >> 5 & 3;
			if (d->vlength == 3)
				return false;
			/* ModRM.rm as a register takes X as its fifth bit; as memory, X extends the index. */
			d->b |= d->x << 1;
		}
		d->opcode = decode_byte(d);
		return !d->cut && d->map >= 1 && d->map <= 3;
	}
	if ((byte & 0xF0) == 0x40) {
		d->has_rex = true;
		d->w = byte & 8;
		d->r = byte & 4 ? 8 : 0;
		d->x = byte & 2 ? 8 : 0;
		d->b = byte & 1 ? 8 : 0;
		byte = decode_byte(d);
	}
	if (byte == 0x0F) {
		d->map = 1;
		byte = decode_byte(d);
		if (byte == 0x38 || byte == 0x3A) {
			d->map = byte == 0x38 ? 2 : 3;
			byte = decode_byte(d);
		}
	}
	d->opcode = byte;
	/* SDM vol. 2, 2.1.1: as mandatory prefixes F2 and F3 take precedence over 66 */
	d->pp = d->rep == 0xF3 ? 2 : d->rep == 0xF2 ? 3 : d->prefix66 ? 1 : 0;
	return !d->cut;
}

/* Whether a row matches encoding, prefixes and opcode. */
static bool row_fits(const struct decoding *d, const struct row *r)
{
	if (r->map != d->map || (uint8_t)(d->opcode - r->opcode) >= r->span)
		return false;
	if (!r->encodings) {
		if (d->encoding != LEGACY)
			return false;
		if (r->pp == INT_NP && d->prefix66)
			return false;
		if (r->form == F_NOP && (d->b || d->prefix66))
			return false;
		return r->pp == INT_F3 ? d->rep == 0xF3 : r->pp == STR ? d->rep != 0xF2 : !d->rep;
	}
	if (r->pp != d->pp)
		return false;
	if (d->encoding == LEGACY)
		return r->encodings & L;
	if (d->encoding == VEX && !(r->encodings & (d->w ? X1 : X0)))
		return false;
	if (d->encoding == EVEX && !(r->encodings & (d->w ? E1 : E0)))
		return false;
	if (r->encodings & N && d->vlength != 0)
		return false;
	if (r->encodings & Y && d->vlength == 0)
		return false;
	return !(r->encodings & Z) || d->vlength == 2;
}

static bool digit_fits(struct decoding *d, const struct row *r, struct insn *out)
{
	unsigned wants = r->digit;

	if (wants == ANY)
		return true;
	decode_modrm(d, out);
	if (!(wants & ANY) && d->reg != (wants & 7))
		return false;
	if (wants & RM1 && d->rm != 1)
		return false;
	return !(wants & DMEM && d->mod == 3) && !(wants & DREG && d->mod != 3);
}

static uint16_t run_sse(const struct insn *in)
{
	switch (in->op) {
	case OP_MOVV: case OP_MOVVA: return in->load ? RUN_SSE_LOAD : in->store ? RUN_SSE_STORE : RUN_SSE_MOVE;
	case OP_ADDPD: return RUN_ADDPD;
	case OP_SUBPD: return RUN_SUBPD;
	case OP_MULPD: return RUN_MULPD;
	default: return in->run;
	}
}

/* Sets the derived fields: dispatch, offsets of address registers, fusion. */
static void finish(struct decoding *d, struct insn *out)
{
	static const uint8_t log2_bytes[9] = {[1] = 0, [2] = 1, [4] = 2, [8] = 3};

	out->length = (uint8_t)d->at;
	out->vex = d->encoding == VEX;
	out->evex = d->encoding == EVEX;
	out->wide_zero = d->encoding != LEGACY;
	out->address32 = d->prefix67;
	out->offset = out->displacement;
	out->base_at = out->index_at = offsetof(struct hart_regs, zero);
	if (out->has_base)
		out->base_at = (uint16_t)(offsetof(struct hart_regs, gpr) + 8u * out->base);
	if (out->has_index)
		out->index_at = (uint16_t)(offsetof(struct hart_regs, gpr) + 8u * out->index);
	if (out->rip_relative) {
		out->base_at = offsetof(struct hart_regs, rip);
		out->offset += out->length;
	}
	out->run = (uint16_t)(RUN_OTHER + out->op);
	if (out->op <= OP_LAST_ALU)
		out->run = (uint16_t)RUN_ALU(out->op, out->kind, log2_bytes[out->operand_bytes]);
	if (out->operand_bytes == 16 && !out->wide_zero && (!out->memory_bytes || out->memory_bytes == 16))
		out->run = run_sse(out);
	if (out->op == OP_MOVZX && out->load && out->extra == 1 && out->operand_bytes >= 4)
		out->run = RUN_MOVZX_BYTE;
	switch (out->op) {
	case OP_CMP: case OP_TEST: case OP_ADD: case OP_SUB: case OP_AND: case OP_INC: case OP_DEC:
		out->fusible_first = !out->store && !out->lock && out->kind != KIND_MI && !(out->rip_relative && out->kind == KIND_RI);
	}
}

enum status decode(const uint8_t *bytes, size_t available, struct insn *out, unsigned *bad_length)
{
	struct decoding d;
	unsigned i;
	bool good = false;

	memset(&d, 0, sizeof(d));
	memset(out, 0, sizeof(*out));
	out->dst = out->src1 = out->src2 = out->src3 = RN_NONE;
	out->scale = 1;
	d.bytes = bytes;
	d.available = available < 15 ? (unsigned)available : 15;
	if (!head(&d))
		goto bad;
	if (d.encoding == LEGACY && d.map == 0 && (d.opcode & 0xF8) == 0xD8) {
		good = !d.lock && !d.rep && decode_x87(&d, out);
	} else {
		for (i = 0; i < COUNT_OF(rows); i++)
			if (row_fits(&d, &rows[i]) && digit_fits(&d, &rows[i], out))
				break;
		if (i == COUNT_OF(rows) || d.cut)
			goto bad;
		out->op = rows[i].op;
		out->class = (uint8_t)decode_class(out->op);
		good = rows[i].encodings ? decode_vector(&d, &rows[i], out) : decode_integer(&d, &rows[i], out);
	}
	if (!good || d.cut)
		goto bad;
	finish(&d, out);
	return ST_OK;
bad:
	*bad_length = d.cut ? d.available : d.at;
	return ST_SYNTAX;
}
