/* pmu/sim/isa/decode_vector.c: operands and dependencies of vector and x87 instructions.
 * decode.c states what is not modelled. */
#include "pmu/sim/isa/decode_row.h"
#include "pmu/sim/isa/exec.h"

static unsigned width(const struct decoding *d, unsigned code)
{
	unsigned vl = 16u << d->vlength;

	switch (code) {
	case 0: case VL: return vl;
	case HALF: return vl / 2;
	case QUARTER: return vl / 4;
	case EIGHTH: return vl / 8;
	case Y48: return d->w ? 8 : 4;
	default: return code;
	}
}

/* Loads and stores that consist of the memory uop alone. */
static bool pure_memory(unsigned op)
{
	switch (op) {
	case OP_MOVV: case OP_MOVVA: case OP_MOVNT: case OP_MOVNTDQA: case OP_MOVNTI: case OP_MOVSS: case OP_MOVSD: case OP_MOVQ:
	case OP_MOVD_VE: case OP_MOVD_EV: case OP_BROADCASTD: case OP_BROADCASTQ: case OP_BROADCAST128: case OP_MOVDDUP:
	case OP_MOVSLDUP: case OP_MOVSHDUP:
		return true;
	default:
		return false;
	}
}

/* x op x is zero (or all ones) whatever x was. */
static bool same_source_idiom(unsigned op)
{
	switch (op) {
	case OP_PXOR: case OP_XORP: case OP_PSUBB: case OP_PSUBW: case OP_PSUBD: case OP_PSUBQ:
	case OP_PCMPGTB: case OP_PCMPGTW: case OP_PCMPGTD: case OP_PCMPGTQ:
		return true;
	default:
		return false;
	}
}

static uint8_t vector_name(unsigned number)
{
	return (uint8_t)(RN_VEC0 + number);
}

bool decode_vector(struct decoding *d, const struct row *r, struct insn *out)
{
	unsigned attributes = decode_attributes(out->op), bytes = width(d, r->size), memory_bytes = width(d, r->memory);
	unsigned reg, rm, h;
	bool memory = false, uses_h = false, load = false, store = false;

	if (d->lock || (d->encoding == LEGACY && d->rep && d->prefix66))
		return false;
	out->operand_bytes = (uint8_t)bytes;
	if (r->form != V_NONE) {
		decode_modrm(d, out);
		memory = d->mod != 3;
	}
	reg = d->reg | d->r;
	rm = d->rm | d->b;
	h = d->encoding == LEGACY ? reg : d->v;
	out->vector_memory = memory;
	out->kind = memory ? KIND_RM : KIND_RR;
	switch (r->form) {
	case V_NONE:
		break;
	case V_VHW: case V_VHE:
		uses_h = true;
		out->vsrc1 = (uint8_t)h;
		out->src1 = vector_name(h);
		/* fall through */
	case V_VW: case V_VE:
		out->vdst = (uint8_t)reg;
		out->dst = vector_name(reg);
		load = memory;
		if (!memory && (r->form == V_VE || r->form == V_VHE)) {
			out->src2 = (uint8_t)(rm & 15);
			out->src_at = (uint16_t)(offsetof(struct hart_regs, gpr) + 8 * (rm & 15));
		} else if (!memory) {
			out->vsrc2 = (uint8_t)rm;
			out->src2 = vector_name(rm);
		}
		break;
	case V_WV: case V_EV: case V_WHV:
		out->vsrc2 = (uint8_t)reg;
		out->src2 = vector_name(reg);
		store = memory;
		if (memory) {
			out->kind = KIND_MR;
		} else if (r->form == V_EV) {
			out->dst = (uint8_t)(rm & 15);
			out->dst_at = (uint16_t)(offsetof(struct hart_regs, gpr) + 8 * (rm & 15));
		} else {
			out->vdst = (uint8_t)rm;
			out->dst = vector_name(rm);
		}
		if (r->form == V_WHV) {
			uses_h = true;
			out->vsrc1 = (uint8_t)(d->encoding == LEGACY ? rm : d->v);
			out->src1 = vector_name(out->vsrc1);
		}
		break;
	case V_GW:
		if (reg > 15)
			return false;
		out->dst = (uint8_t)reg;
		out->dst_at = (uint16_t)(offsetof(struct hart_regs, gpr) + 8 * reg);
		load = memory;
		if (!memory) {
			out->vsrc2 = (uint8_t)rm;
			out->src2 = vector_name(rm);
		}
		break;
	case V_MG:
		out->kind = KIND_MR;
		out->src1 = (uint8_t)reg;
		out->src_at = (uint16_t)(offsetof(struct hart_regs, gpr) + 8 * reg);
		store = true;
		break;
	case V_HU:
		uses_h = true;
		out->kind = KIND_RI;
		out->vdst = (uint8_t)(d->encoding == LEGACY ? rm : d->v);
		out->dst = vector_name(out->vdst);
		out->vsrc1 = (uint8_t)rm;
		out->src1 = vector_name(rm);
		break;
	case V_M:
		load = out->op == OP_LDMXCSR;
		store = out->op == OP_STMXCSR;
		break;
	default:
		return false;
	}
	if (!uses_h && d->v) /* an unused VEX.vvvv must be 1111b (here inverted) */
		return false;
	if (memory) {
		decode_memory(out, memory_bytes, load, store);
		if (d->encoding == EVEX && d->disp8)
			out->displacement *= (int32_t)memory_bytes;
	}
	if (r->imm == IB)
		out->extra = (uint8_t)decode_immediate(d, 1);
	else if (r->imm)
		out->extra = (uint8_t)(r->imm - ORDER132);
	if (out->op >= OP_CMPPS && out->op <= OP_CMPSD && d->encoding == LEGACY && out->extra > 7)
		return false; /* reserved predicates */
	if (out->op >= OP_CMPPS && out->op <= OP_CMPSD && out->extra > 31)
		return false;
	out->nontemporal = out->op == OP_MOVNT || out->op == OP_MOVNTI || out->op == OP_MOVNTDQA;
	out->move = !memory && (out->op == OP_MOVV || out->op == OP_MOVVA);
	out->zero_idiom = !memory && out->kind == KIND_RR && same_source_idiom(out->op) && out->src1 == out->src2;
	if (memory && pure_memory(out->op))
		out->class = UC_NOP;
	else if (r->form == V_VE && !memory)
		out->class = UC_INT_TO_VEC;
	if (attributes & DR)
		decode_reads(out, out->dst);
	decode_reads(out, out->src1);
	decode_reads(out, out->src2);
	if (attributes & FE || out->op == OP_STMXCSR)
		decode_reads(out, RN_MXCSR);
	if (out->op == OP_LDMXCSR)
		decode_writes(out, RN_MXCSR);
	if (attributes & DW)
		decode_writes(out, out->dst);
	if (attributes & WC)
		decode_writes(out, RN_CF);
	if (attributes & WZ)
		decode_writes(out, RN_ZAPSO);
	return true;
}

/* --- x87 (SDM vol. 2, appendix A.5.2, tables) ------------------------------------------ */

static bool arithmetic(struct insn *out, unsigned op, unsigned digit, unsigned slot, bool pop)
{
	static const uint8_t class[8] = {UC_X87_ADD, UC_X87_MUL, UC_COUNT, UC_COUNT, UC_X87_ADD, UC_X87_ADD, UC_X87_DIV, UC_X87_DIV};

	if (class[digit] == UC_COUNT)
		return false;
	out->op = (uint16_t)op;
	out->class = class[digit];
	out->extra = (uint8_t)slot;
	out->vsrc1 = (uint8_t)digit;
	out->vsrc2 = pop;
	return true;
}

static bool set(struct insn *out, unsigned op, unsigned slot, bool pop)
{
	out->op = (uint16_t)op;
	out->class = (uint8_t)decode_class(op);
	out->extra = (uint8_t)slot;
	out->vsrc2 = pop;
	return true;
}

static bool set_memory(struct insn *out, unsigned op, unsigned bytes, bool load, bool pop)
{
	decode_memory(out, bytes, load, !load);
	return set(out, op, 0, pop);
}

static bool x87_memory(const struct decoding *d, struct insn *out)
{
	switch (d->opcode << 4 | d->reg) {
	case 0xD90: return set_memory(out, OP_FLD_M32, 4, true, false);
	case 0xD92: return set_memory(out, OP_FST_M32, 4, false, false);
	case 0xD93: return set_memory(out, OP_FST_M32, 4, false, true);
	case 0xD95: return set_memory(out, OP_FLDCW, 2, true, false);
	case 0xD97: return set_memory(out, OP_FNSTCW, 2, false, false);
	case 0xDB5: return set_memory(out, OP_FLD_M80, 10, true, false);
	case 0xDB7: return set_memory(out, OP_FSTP_M80, 10, false, true);
	case 0xDD0: return set_memory(out, OP_FLD_M64, 8, true, false);
	case 0xDD2: return set_memory(out, OP_FST_M64, 8, false, false);
	case 0xDD3: return set_memory(out, OP_FST_M64, 8, false, true);
	case 0xDD7: return set_memory(out, OP_FNSTSW, 2, false, false);
	}
	if (d->opcode == 0xD8) {
		decode_memory(out, 4, true, false);
		return arithmetic(out, OP_FARITH_M32, d->reg, 0, false);
	}
	if (d->opcode == 0xDC) {
		decode_memory(out, 8, true, false);
		return arithmetic(out, OP_FARITH_M64, d->reg, 0, false);
	}
	return false;
}

static bool x87_register(const struct decoding *d, struct insn *out)
{
	switch (d->opcode) {
	case 0xD8: return arithmetic(out, OP_FARITH, d->reg, d->rm, false);
	case 0xDC: case 0xDE:
		/* with st(i) as destination, subtract and reverse subtract (divide likewise) swap their encodings */
		return arithmetic(out, OP_FARITH_TO, d->reg >= 4 ? d->reg ^ 1u : d->reg, d->rm, d->opcode == 0xDE);
	case 0xD9:
		switch (d->reg << 4 | d->rm) {
		case 0x20: return set(out, OP_NOP, 0, false);
		case 0x40: return set(out, OP_FCHS, 0, false);
		case 0x41: return set(out, OP_FABS, 0, false);
		case 0x72: return set(out, OP_FSQRT, 0, false);
		}
		if (d->reg == 0)
			return set(out, OP_FLD, d->rm, false);
		if (d->reg == 1)
			return set(out, OP_FXCH, d->rm, false);
		return d->reg == 5 && d->rm <= 6 && set(out, OP_FLDCONST, d->rm, false);
	case 0xDB:
		if (d->reg != 4 || (d->rm != 2 && d->rm != 3))
			return false;
		return set(out, d->rm == 2 ? OP_FNCLEX : OP_FNINIT, 0, false);
	case 0xDD:
		if (d->reg == 0)
			return set(out, OP_FFREE, d->rm, false);
		return (d->reg == 2 || d->reg == 3) && set(out, OP_FST, d->rm, d->reg == 3);
	case 0xDF:
		if (d->reg != 4 || d->rm != 0)
			return false;
		out->dst = RN_RAX;
		decode_writes(out, RN_RAX);
		return set(out, OP_FNSTSW, 0, false);
	}
	return false;
}

bool decode_x87(struct decoding *d, struct insn *out)
{
	bool memory;

	decode_modrm(d, out);
	if (d->cut)
		return false;
	memory = d->mod != 3;
	out->operand_bytes = 8;
	out->kind = memory ? KIND_RM : KIND_RR;
	out->vector_memory = memory;
	if (!(memory ? x87_memory(d, out) : x87_register(d, out)))
		return false;
	switch (out->op) {
	case OP_FARITH: case OP_FARITH_TO: case OP_FXCH:
		decode_reads(out, RN_X87);
		decode_reads(out, RN_X87 + out->extra);
		decode_writes(out, out->op == OP_FARITH_TO ? RN_X87 + out->extra : RN_X87);
		if (out->op == OP_FXCH)
			decode_writes(out, RN_X87 + out->extra);
		break;
	case OP_FARITH_M32: case OP_FARITH_M64: case OP_FSQRT: case OP_FCHS: case OP_FABS:
		decode_reads(out, RN_X87);
		decode_writes(out, RN_X87);
		break;
	case OP_FLD:
		decode_reads(out, RN_X87 + out->extra);
		/* fall through */
	case OP_FLD_M32: case OP_FLD_M64: case OP_FLD_M80: case OP_FLDCONST:
		out->x87_pop = -1;
		decode_writes(out, RN_X87 + 7); /* the slot that becomes st(0) */
		break;
	case OP_FST:
		decode_reads(out, RN_X87);
		decode_writes(out, RN_X87 + out->extra);
		break;
	case OP_FST_M32: case OP_FST_M64: case OP_FSTP_M80:
		decode_reads(out, RN_X87);
		break;
	case OP_FNSTCW:
		decode_reads(out, RN_FPCW);
		break;
	case OP_FLDCW:
		decode_writes(out, RN_FPCW);
		break;
	}
	if (out->vsrc2)
		out->x87_pop = 1;
	if (out->class == UC_X87_ADD || out->class == UC_X87_MUL || out->class == UC_X87_DIV || out->class == UC_X87_SQRT)
		decode_reads(out, RN_FPCW);
	return true;
}
