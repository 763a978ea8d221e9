/* pmu/sim/isa/decode_integer.c: operands and dependencies of integer and system instructions.
 * decode.c states what is not modelled. */
#include "pmu/sim/isa/decode_row.h"
#include "pmu/sim/isa/exec.h"

/* Byte offset in struct hart_regs of a general register of that width; *name: its dependency name. */
static uint16_t register_at(const struct decoding *d, struct insn *out, unsigned number, unsigned bytes, uint8_t *name)
{
	if (bytes == 1 && !d->has_rex && number >= 4 && number <= 7) {
		out->high_byte = true;
		*name = (uint8_t)(number - 4);
		return (uint16_t)(offsetof(struct hart_regs, gpr) + 8 * (number - 4) + 1);
	}
	*name = (uint8_t)number;
	return (uint16_t)(offsetof(struct hart_regs, gpr) + 8 * number);
}

static unsigned size_bytes(const struct decoding *d, unsigned size)
{
	if (size == S64)
		return 8;
	return size != V ? size : d->w ? 8 : d->prefix66 ? 2 : 4;
}

static int64_t immediate(struct decoding *d, struct insn *out, unsigned kind)
{
	unsigned bytes = out->operand_bytes;

	switch (kind) {
	case IB: return decode_immediate(d, 1);
	case IW: return decode_immediate(d, 2) & 0xFFFF;
	case IZ:
		out->lcp = bytes == 2;
		return decode_immediate(d, bytes < 4 ? bytes : 4);
	case IV:
		out->lcp = bytes == 2;
		return decode_immediate(d, bytes);
	default: return 0;
	}
}

/* Jcc, SETcc, CMOVcc: the flags that condition code cc tests (SDM vol. 1, appendix B). */
static void reads_condition(struct insn *out, unsigned cc)
{
	unsigned pair = cc >> 1;

	if (pair == 1 || pair == 3)
		decode_reads(out, RN_CF);
	if (pair != 1)
		decode_reads(out, RN_ZAPSO);
}

/* Implicit register operands. */
static void implicit(struct insn *out)
{
	static const struct { uint16_t op; uint8_t reads[4], writes[4]; } list[] = {
		{OP_MUL, {RN_RAX, RN_NONE}, {RN_RAX, RN_RDX, RN_NONE}},
		{OP_IMUL1, {RN_RAX, RN_NONE}, {RN_RAX, RN_RDX, RN_NONE}},
		{OP_DIV, {RN_RAX, RN_RDX, RN_NONE}, {RN_RAX, RN_RDX, RN_NONE}},
		{OP_IDIV, {RN_RAX, RN_RDX, RN_NONE}, {RN_RAX, RN_RDX, RN_NONE}},
		{OP_CBW, {RN_RAX, RN_NONE}, {RN_RAX, RN_NONE}},
		{OP_CWD, {RN_RAX, RN_NONE}, {RN_RDX, RN_NONE}},
		{OP_CMPXCHG, {RN_RAX, RN_NONE}, {RN_RAX, RN_NONE}},
		{OP_PUSH, {RN_RSP, RN_NONE}, {RN_RSP, RN_NONE}},
		{OP_POP, {RN_RSP, RN_NONE}, {RN_RSP, RN_NONE}},
		{OP_PUSHF, {RN_RSP, RN_NONE}, {RN_RSP, RN_NONE}},
		{OP_POPF, {RN_RSP, RN_NONE}, {RN_RSP, RN_NONE}},
		{OP_CALL, {RN_RSP, RN_NONE}, {RN_RSP, RN_NONE}},
		{OP_RET, {RN_RSP, RN_NONE}, {RN_RSP, RN_NONE}},
		{OP_SAHF, {RN_RAX, RN_NONE}, {RN_NONE}},
		{OP_LAHF, {RN_NONE}, {RN_RAX, RN_NONE}},
		{OP_MOVS, {RN_RSI, RN_RDI, RN_NONE}, {RN_RSI, RN_RDI, RN_NONE}},
		{OP_STOS, {RN_RAX, RN_RDI, RN_NONE}, {RN_RDI, RN_NONE}},
		{OP_CPUID, {RN_RAX, RN_RCX, RN_NONE}, {RN_RAX, RN_RBX, RN_RCX, RN_RDX}},
		{OP_RDTSC, {RN_NONE}, {RN_RAX, RN_RDX, RN_NONE}},
		{OP_RDTSCP, {RN_NONE}, {RN_RAX, RN_RDX, RN_RCX, RN_NONE}},
		{OP_RDPMC, {RN_RCX, RN_NONE}, {RN_RAX, RN_RDX, RN_NONE}},
		{OP_WRMSR, {RN_RAX, RN_RCX, RN_RDX, RN_NONE}, {RN_NONE}},
	};
	unsigned i, k;

	for (i = 0; i < COUNT_OF(list); i++) {
		if (list[i].op != out->op)
			continue;
		for (k = 0; k < 4 && list[i].reads[k] != RN_NONE; k++)
			decode_reads(out, list[i].reads[k]);
		for (k = 0; k < 4 && list[i].writes[k] != RN_NONE; k++)
			decode_writes(out, list[i].writes[k]);
	}
}

/* Implicit memory references, properties of control transfers, timing classes that depend on the width. */
static void by_op(struct insn *out)
{
	bool modrm_memory = out->kind == KIND_RM || out->kind == KIND_MR;

	switch (out->op) {
	case OP_CALL: case OP_JMP: case OP_JCC: case OP_RET:
		out->branch = true;
		out->conditional = out->op == OP_JCC;
		out->indirect = out->op == OP_RET || out->kind != KIND_RI;
		out->call = out->op == OP_CALL;
		out->ret = out->op == OP_RET;
		break;
	case OP_MUL: case OP_IMUL1:
		if (out->operand_bytes < 8)
			out->class = UC_IMUL;
		break;
	case OP_DIV: case OP_IDIV:
		if (out->operand_bytes < 8)
			out->class = UC_IDIV32;
		break;
	}
	switch (out->op) {
	case OP_PUSH: case OP_PUSHF: case OP_CALL:
		out->stack = true;
		decode_memory(out, 8, modrm_memory, true);
		if (!modrm_memory) {
			out->has_base = true;
			out->base = RN_RSP;
			out->displacement = -8;
		}
		break;
	case OP_POP: case OP_POPF: case OP_RET:
		out->stack = true;
		decode_memory(out, 8, true, modrm_memory);
		if (!modrm_memory) {
			out->has_base = true;
			out->base = RN_RSP;
		}
		break;
	case OP_MOVS:
		decode_memory(out, out->operand_bytes, true, true);
		out->has_base = true;
		out->base = RN_RSI;
		break;
	case OP_STOS:
		decode_memory(out, out->operand_bytes, false, true);
		out->has_base = true;
		out->base = RN_RDI;
		break;
	}
	if (out->rep) {
		decode_reads(out, RN_RCX);
		decode_writes(out, RN_RCX);
	}
}

static bool lockable(unsigned op)
{
	switch (op) {
	case OP_ADD: case OP_OR: case OP_ADC: case OP_SBB: case OP_AND: case OP_SUB: case OP_XOR: case OP_INC: case OP_DEC:
	case OP_NEG: case OP_NOT: case OP_XCHG: case OP_XADD: case OP_CMPXCHG: case OP_BTS: case OP_BTR: case OP_BTC:
		return true;
	default:
		return false;
	}
}

bool decode_integer(struct decoding *d, const struct row *r, struct insn *out)
{
	unsigned attributes = decode_attributes(out->op), bytes = size_bytes(d, r->size);
	unsigned source_bytes = r->memory ? r->memory : bytes;
	bool memory = false, e_is_destination = false, has_e = false;
	uint8_t g_name = RN_NONE, e_name = RN_NONE;
	uint16_t g_at = 0, e_at = 0;

	if (d->prefix66 && (r->size == S64 || (r->op == OP_MOVSX && r->memory == 4)))
		return false;
	out->operand_bytes = (uint8_t)bytes;
	out->extra = (uint8_t)(d->opcode - r->opcode);
	out->src_at = out->dst_at = offsetof(struct hart_regs, zero);
	out->rep = r->pp == STR && d->rep == 0xF3 && out->op != OP_RET;
	switch (r->form) {
	case F_EG: case F_GE: case F_EI: case F_E: case F_E1: case F_EC: case F_GEI: case F_EGI: case F_EGC:
		has_e = true;
		decode_modrm(d, out);
		memory = d->mod != 3;
		break;
	}
	if (has_e) {
		bool g_first = r->form == F_GE || r->form == F_GEI;

		/* A single operand that is only read (PUSH, MUL, JMP) is a source. */
		e_is_destination = !g_first && !(r->form == F_E && !(attributes & DW));
		g_at = register_at(d, out, d->reg | d->r, g_first ? bytes : source_bytes, &g_name);
		if (r->form != F_EG && r->form != F_EGI && r->form != F_EGC && !g_first)
			out->high_byte = false; /* ModRM.reg is an opcode extension */
		if (!memory)
			e_at = register_at(d, out, d->rm | d->b, g_first ? source_bytes : bytes, &e_name);
	}
	switch (r->form) {
	case F_NONE: case F_NOP:
		break;
	case F_EG: case F_EGI: case F_EGC:
		out->kind = memory ? KIND_MR : KIND_RR;
		out->dst = e_name, out->dst_at = e_at;
		out->src1 = g_name, out->src_at = g_at;
		if (r->form == F_EGC) { /* SHLD, SHRD by CL; a count of 0 leaves the flags unchanged */
			out->extra = 1;
			decode_reads(out, RN_RCX);
			decode_reads(out, RN_CF);
			decode_reads(out, RN_ZAPSO);
		}
		break;
	case F_GE: case F_GEI:
		out->kind = memory ? KIND_RM : KIND_RR;
		out->dst = g_name, out->dst_at = g_at;
		out->src1 = e_name, out->src_at = e_at;
		break;
	case F_EI: case F_E1:
		out->kind = memory ? KIND_MI : KIND_RI;
		out->dst = e_name, out->dst_at = e_at;
		break;
	case F_EC:
		out->kind = memory ? KIND_MR : KIND_RR;
		out->dst = e_name, out->dst_at = e_at;
		out->src1 = RN_RCX, out->src_at = offsetof(struct hart_regs, gpr) + 8 * RN_RCX;
		decode_reads(out, RN_CF);   /* a count of 0 leaves the flags unchanged */
		decode_reads(out, RN_ZAPSO);
		break;
	case F_E:
		if (e_is_destination) {
			out->kind = memory ? KIND_MR : KIND_RR;
			out->dst = e_name, out->dst_at = e_at;
		} else {
			out->kind = memory ? KIND_RM : KIND_RR;
			out->src1 = e_name, out->src_at = e_at;
		}
		break;
	case F_AI:
		out->kind = KIND_RI;
		out->dst = RN_RAX, out->dst_at = offsetof(struct hart_regs, gpr);
		break;
	case F_Z: case F_ZI: case F_ZA:
		out->kind = r->form == F_ZI ? KIND_RI : KIND_RR;
		out->extra = 0;
		g_at = register_at(d, out, (d->opcode & 7) | d->b, bytes, &g_name);
		if (r->form == F_ZA) {
			out->src1 = RN_RAX, out->src_at = offsetof(struct hart_regs, gpr);
		}
		if (out->op == OP_PUSH)
			out->src1 = g_name, out->src_at = g_at;
		else
			out->dst = g_name, out->dst_at = g_at;
		break;
	case F_I: case F_J:
		out->kind = KIND_RI;
		break;
	default:
		return false;
	}
	if (out->op == OP_MOVZX || out->op == OP_MOVSX)
		out->extra = (uint8_t)source_bytes;
	out->immediate = r->form == F_E1 ? 1 : immediate(d, out, r->imm);
	if (out->op == OP_RET && r->form == F_NONE)
		out->kind = KIND_RI;

	if (memory && out->op != OP_LEA && out->op != OP_NOP && out->class != UC_PREFETCH) {
		bool store = e_is_destination && attributes & DW;
		bool load = !e_is_destination || attributes & DR || out->op == OP_CMPXCHG;

		decode_memory(out, r->form == F_GE || r->form == F_GEI ? source_bytes : bytes, load, store);
	} else if (memory && out->class == UC_PREFETCH) {
		out->memory_bytes = 1;
	}
	if (out->op == OP_LEA) {
		out->operand_bytes = (uint8_t)bytes;
		if (out->has_base)
			decode_reads(out, out->base);
		if (out->has_index)
			decode_reads(out, out->index);
	}
	if (d->lock && !(lockable(out->op) && memory && e_is_destination))
		return false; /* #UD: SDM vol. 2, LOCK */
	out->lock = d->lock || (out->op == OP_XCHG && memory);

	out->move = out->op == OP_MOV && out->kind == KIND_RR && bytes >= 4;
	out->add_constant = out->op == OP_ADD && out->kind == KIND_RI && bytes >= 4;
	out->add_registers = out->op == OP_ADD && out->kind == KIND_RR && bytes >= 4;
	out->zero_idiom = (out->op == OP_XOR || out->op == OP_SUB) && out->kind == KIND_RR && out->dst_at == out->src_at && bytes >= 4;
	if (attributes & DR && out->dst != RN_NONE)
		decode_reads(out, out->dst);
	decode_reads(out, out->src1);
	if (attributes & RC)
		decode_reads(out, RN_CF);
	if (attributes & RZ)
		decode_reads(out, RN_ZAPSO);
	if (attributes & CC)
		reads_condition(out, out->extra);
	if (attributes & DW)
		decode_writes(out, out->dst);
	if (out->op == OP_XCHG || out->op == OP_XADD)
		decode_writes(out, out->src1);
	if (attributes & WC)
		decode_writes(out, RN_CF);
	if (attributes & WZ)
		decode_writes(out, RN_ZAPSO);
	implicit(out);
	by_op(out);
	if ((out->op == OP_MOV && memory) || (memory && (out->op == OP_MOVZX || out->op == OP_MOVSX)))
		out->class = UC_NOP;
	return true;
}
