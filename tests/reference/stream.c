/* tests/reference/stream.c: see stream.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/reference/stream.h"
#include "tests/unit/support/random_insn.h"
#include "tests/unit/support/sim_names.h"

static const char *const names[16] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15" };

/* A general register that may be written; the fewer there are, the more depends on each other. */
static unsigned registers_used;

static unsigned gpr(void)
{
	static const uint8_t free[] = { 0, 1, 2, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14 };
	return free[below(registers_used < COUNT_OF(free) ? registers_used : COUNT_OF(free))];
}

/* XMM15 is not written, and where divides go in order XMM0 is theirs. */
static unsigned xmm_first;
static bool independent;

static unsigned xmm(void) { return xmm_first + below(registers_used < 14 ? registers_used : 14); }

static void byte(struct stream_insn *i, unsigned b) { i->bytes[i->length++] = (uint8_t)b; }

static void describe(struct stream_insn *i, const char *format, ...)
{
	va_list a;
	va_start(a, format);
	vsnprintf(i->text, sizeof(i->text), format, a);
	va_end(a);
}

/* [prefix] REX opcode(s) and a register-register ModRM byte. opcode: up to three bytes, the last lowest. */
static void reg_reg(struct stream_insn *i, unsigned prefix, bool wide, unsigned opcode, unsigned reg, unsigned rm)
{
	if (prefix)
		byte(i, prefix);
	unsigned rex = 0x40 | (unsigned)wide << 3 | reg >> 3 << 2 | rm >> 3;
	if (rex != 0x40)
		byte(i, rex);
	if (opcode > 0xFFFF)
		byte(i, opcode >> 16);
	if (opcode > 0xFF)
		byte(i, opcode >> 8 & 0xFF);
	byte(i, opcode & 0xFF);
	byte(i, 0xC0 | (reg & 7) << 3 | (rm & 7));
}

/* The same with [rsi + disp32], or [rsi + index + disp32]; the text of the operand in `where`. */
static void reg_mem(struct stream_insn *i, unsigned prefix, bool wide, unsigned opcode, unsigned reg, char where[32])
{
	static const uint16_t places[] = { 0, 8, 16, 20, 24, 64, 72, 4096, 4104, 4160 };
	unsigned place = places[below(COUNT_OF(places))] + (below(12) ? 0 : below(64));
	bool indexed = below(3) == 0;
	unsigned index = gpr();
	if (prefix)
		byte(i, prefix);
	unsigned rex = 0x40 | (unsigned)wide << 3 | reg >> 3 << 2 | (indexed ? index >> 3 << 1 : 0);
	if (rex != 0x40)
		byte(i, rex);
	if (opcode > 0xFF)
		byte(i, opcode >> 8);
	byte(i, opcode & 0xFF);
	byte(i, 0x80 | (reg & 7) << 3 | (indexed ? 4 : 6));
	if (indexed)
		byte(i, (index & 7) << 3 | 6);
	for (unsigned k = 0; k < 32; k += 8)
		byte(i, place >> k & 0xFF);
	snprintf(where, 32, "[rsi + %s%s%u]", indexed ? names[index] : "", indexed ? " + " : "", place);
}

static void draw_integer(struct stream_insn *i)
{
	static const struct { const char *name; unsigned opcode; } two[] = {
		{ "add", 0x01 }, { "sub", 0x29 }, { "and", 0x21 }, { "or", 0x09 }, { "xor", 0x31 }, { "mov", 0x89 } };
	unsigned d = gpr(), s = gpr(), k = below(14);
	if (k < 6) {
		reg_reg(i, 0, true, two[k].opcode, s, d);
		describe(i, "%s %s, %s", two[k].name, names[d], names[s]);
	} else if (k == 6) {
		reg_reg(i, 0, true, 0x0FAF, d, s);
		describe(i, "imul %s, %s", names[d], names[s]);
	} else if (k == 7) {
		if (d >> 3)
			byte(i, 0x41);
		byte(i, 0xB8 | (d & 7));
		for (unsigned n = 0; n < 4; n++)
			byte(i, 0);
		describe(i, "mov %s, 0 ; 32 bits", names[d]);
	} else if (k == 8) { /* lea d, [s + d2] */
		unsigned x = gpr();
		byte(i, 0x48 | d >> 3 << 2 | x >> 3 << 1 | s >> 3);
		byte(i, 0x8D);
		byte(i, 0x44 | (d & 7) << 3);
		byte(i, (x & 7) << 3 | (s & 7));
		byte(i, 0);
		describe(i, "lea %s, [%s + %s]", names[d], names[s], names[x]);
	} else if (k == 9) {
		reg_reg(i, 0, true, 0xC1, 4, d);
		byte(i, 3);
		describe(i, "shl %s, 3", names[d]);
	} else if (k == 10) {
		reg_reg(i, 0, true, 0x0F44, d, s);
		describe(i, "cmovz %s, %s", names[d], names[s]);
	} else if (k == 11) {
		reg_reg(i, 0, true, below(2) ? 0x39 : 0x85, s, d);
		describe(i, "%s %s, %s", i->bytes[1] == 0x39 ? "cmp" : "test", names[d], names[s]);
	} else if (k == 12) {
		byte(i, 0x90);
		describe(i, "nop");
	} else {
		reg_reg(i, 0, true, 0xF7, 4, d);
		describe(i, "mul %s", names[d]);
	}
}

static void draw_vector(struct stream_insn *i, bool divides)
{
	static const struct { const char *name; unsigned prefix, opcode; } all[] = {
		{ "addsd", 0xF2, 0x0F58 }, { "mulsd", 0xF2, 0x0F59 }, { "addpd", 0x66, 0x0F58 }, { "paddd", 0x66, 0x0FFE },
		{ "pmuludq", 0x66, 0x0FF4 }, { "pxor", 0x66, 0x0FEF }, { "andpd", 0x66, 0x0F54 }, { "movapd", 0x66, 0x0F28 },
		{ "cvtdq2ps", 0, 0x0F5B }, { "punpckldq", 0x66, 0x0F62 }, { "divsd", 0xF2, 0x0F5E }, { "sqrtsd", 0xF2, 0x0F51 } };
	unsigned d = xmm(), s = xmm(), k = below(divides ? COUNT_OF(all) : COUNT_OF(all) - 2);
	if (xmm_first && k >= COUNT_OF(all) - 2) {
		d = s = 0;
		if (independent) { /* reads XMM15 alone */
			reg_reg(i, 0x66, false, 0x0F51, 0, 15);
			describe(i, "sqrtpd xmm0, xmm15");
			return;
		}
	}
	if (all[k].opcode == 0x0F5E)
		s = 15; /* holds 1.0: every quotient is zero */
	reg_reg(i, all[k].prefix, false, all[k].opcode, d, s);
	describe(i, "%s xmm%u, xmm%u", all[k].name, d, s);
}

static void draw_load(struct stream_insn *i)
{
	char where[32];
	unsigned d = gpr(), x = xmm();
	switch (below(5)) {
	case 0: case 1:
		reg_mem(i, 0, true, 0x8B, d, where);
		describe(i, "mov %s, %s", names[d], where);
		break;
	case 2:
		reg_mem(i, 0, true, 0x03, d, where);
		describe(i, "add %s, %s", names[d], where);
		break;
	case 3:
		reg_mem(i, 0xF2, false, 0x0F10, x, where);
		describe(i, "movsd xmm%u, %s", x, where);
		break;
	default:
		reg_mem(i, 0xF2, false, 0x0F58, x, where);
		describe(i, "addsd xmm%u, %s", x, where);
	}
}

static void draw_store(struct stream_insn *i)
{
	char where[32];
	unsigned d = gpr(), x = xmm();
	switch (below(4)) {
	case 0:
		reg_mem(i, 0, true, 0x89, d, where);
		describe(i, "mov %s, %s", where, names[d]);
		break;
	case 1:
		reg_mem(i, 0, false, 0x89, d, where);
		describe(i, "mov dword %s, %s", where, names[d]);
		break;
	case 2:
		reg_mem(i, 0, true, 0x01, d, where);
		describe(i, "add %s, %s", where, names[d]);
		break;
	default:
		reg_mem(i, 0xF2, false, 0x0F11, x, where);
		describe(i, "movsd %s, xmm%u", where, x);
	}
}

/* Not-taken conditional branches: all values are zero, so `test` sets ZF and `jnz` falls through. */
static unsigned draw_branch(struct stream_insn *i, unsigned left)
{
	if (left < 2 || below(4) == 0) {
		byte(i, 0xEB);
		byte(i, 0);
		describe(i, "jmp over nothing");
		return 1;
	}
	unsigned d = gpr();
	reg_reg(i, 0, true, below(2) ? 0x85 : 0x01, d, d);
	describe(i, "%s %s, %s", i->bytes[1] == 0x85 ? "test" : "add", names[d], names[d]);
	byte(i + 1, 0x75);
	byte(i + 1, 0);
	describe(i + 1, "jnz over nothing");
	return 2;
}

/* Puts a loop of 2 to 5 iterations around some instructions; R15 counts. */
static void draw_loop(struct stream *s)
{
	unsigned from = below(s->count - 3), to = from + 3 + below(s->count - from - 2);
	struct stream_insn *first = &s->insn[from], *last = &s->insn[to - 1];
	*first = *last = (struct stream_insn){ .length = 0 };
	for (unsigned i = 0; i < 6; i++)
		byte(first, i ? i == 2 ? 2 + below(4) : i == 1 ? 0xBF : 0 : 0x41);
	describe(first, "mov r15d, %u ; loop begins behind it", first->bytes[2]);
	static const uint8_t dec_jnz[] = { 0x49, 0xFF, 0xCF, 0x0F, 0x85 };
	for (unsigned i = 0; i < 5; i++)
		byte(last, dec_jnz[i]);
	for (unsigned i = 0; i < 4; i++)
		byte(last, 0); /* stream_code puts in how far */
	describe(last, "dec r15; jnz to the loop's begin");
	first->begins_loop = last->ends_loop = true;
}

void stream_draw(struct stream *s, unsigned count, unsigned kinds)
{
	unsigned weight[6] = { 1 + below(8), below(8), below(6), below(5), below(3), below(30) == 0 }, sum = 0;
	static const unsigned wants[6] = { 0, 0, STREAM_LOADS, STREAM_STORES, STREAM_BRANCHES, STREAM_FENCES };
	registers_used = 1 + below(16);
	xmm_first = kinds & STREAM_DIVIDES && kinds & STREAM_DIVIDES_IN_ORDER;
	independent = below(2);
	for (unsigned k = 0; k < 6; k++) {
		if (wants[k] & ~kinds)
			weight[k] = 0;
		sum += weight[k];
	}
	memset(s, 0, sizeof(*s));
	s->count = count < STREAM_INSNS ? count : STREAM_INSNS;
	for (unsigned n = 0; n < s->count; n++) {
		struct stream_insn *i = &s->insn[n];
		unsigned k = 0;
		for (unsigned at = below(sum); at >= weight[k]; k++)
			at -= weight[k];
		switch (k) {
		case 0: draw_integer(i); break;
		case 1: draw_vector(i, kinds & STREAM_DIVIDES); break;
		case 2: draw_load(i); break;
		case 3: draw_store(i); break;
		case 4: n += draw_branch(i, s->count - n) - 1; break;
		default:
			byte(i, 0x0F);
			byte(i, 0xAE);
			byte(i, below(3) ? 0xE8 : 0xF0);
			describe(i, "%s", i->bytes[2] == 0xE8 ? "lfence" : "mfence");
		}
	}
	if (kinds & STREAM_LOOPS)
		draw_loop(s);
}

unsigned stream_code(const struct stream *s, uint8_t *out)
{
	unsigned n = 0, begin = 0;
	for (unsigned i = 0; i < s->count; i++) {
		memcpy(out + n, s->insn[i].bytes, s->insn[i].length);
		n += s->insn[i].length;
		begin = s->insn[i].begins_loop ? n : begin;
		if (s->insn[i].ends_loop)
			memcpy(out + n - 4, &(int32_t){ (int32_t)(begin - n) }, 4);
	}
	return n;
}

/* ---- machines -------------------------------------------------------------------------------- */

#define DRAWN(X) X(core_issue_width, 1, 6) X(core_retire_width, 1, 6) X(core_rob, 8, 80) X(core_rs, 4, 40) \
	X(core_load_buffers, 4, 20) X(core_store_buffers, 4, 20) X(core_dispatch_cycles, 1, 3) X(core_rs_unfused, 0, 1) \
	X(core_microfusion, 0, 1) X(core_unlaminate_indexed, 0, 1) X(core_macrofusion, 0, 2) X(core_zero_idioms, 0, 2) \
	X(core_move_elimination, 0, 1) X(core_add_elimination, 0, 2) X(core_bypass_cycles, 0, 2) X(front_decode_width, 1, 6) X(front_complex_uops, 1, 4) \
	X(front_microcode_width, 1, 4) X(front_queue, 4, 40) X(front_taken_cycles, 0, 2) X(uops_imul128, 1, 4) \
	X(uops_mfence, 1, 4) X(store_forward_cycles, 1, 9) X(store_forward_fail_cycles, 1, 15) X(store_forward_middle, 0, 1) X(store_alias_cycles, 0, 6) \
	X(store_split_cycles, 0, 3) X(load_split_cycles, 0, 4) X(load_page_split_cycles, 0, 9) X(l1d_cycles, 2, 6)

static void draw_ports(struct machine *m, bool overlap)
{
	unsigned sets = 1 + below(6), set[8] = { 0 };
	m->core_ports = 8;
	for (unsigned p = 0; p < 8; p++)
		set[p < sets ? p : below(sets)] |= 1u << p;
	for (unsigned c = 0; c < UC_COUNT; c++)
		if (m->exec[c].port_mask)
			m->exec[c].port_mask = (uint16_t)(overlap ? 1 + below(255) : set[below(sets)]);
}

void stream_machine(struct machine *m, unsigned kinds)
{
#define X(field, low, high) m->field = low + below(high - low + 1);
	DRAWN(X)
#undef X
	m->front_decode_bytes = 8u << below(4);
	m->front_uop_cache = 0;
	m->front_loop_uops = below(2) ? below(256) : 0;
	m->core_register_reads = below(3) ? 0 : 1 + below(5);
	m->core_partial_flags_cycles = m->core_partial_register_cycles = m->core_divide_least_cycles = 0;
	m->core_avx_transition_cycles = m->front_microcode_switch_cycles = 0;
	m->store_disambiguation = 0;
	m->predictor_history = 20; /* so that the ends of short loops are foreseen */
	draw_ports(m, kinds & MACHINE_PORTS_OVERLAP);
	for (unsigned c = 0; c < UC_COUNT; c++) {
		bool divide = c >= UC_FP_DIV32 && c <= UC_FP_SQRT64;
		if (c != UC_NOP && c != UC_LOAD)
			m->exec[c].latency = (uint16_t)(1 + below(divide ? 24 : 6));
		m->exec[c].busy = 1;
		if (divide && kinds & MACHINE_DIVIDER) /* no longer than its latency: it is free when a run begins */
			m->exec[c].busy = (uint16_t)(1 + below(m->exec[c].latency));
		else if (!divide && kinds & MACHINE_PORTS_BUSY)
			m->exec[c].busy = (uint16_t)(1 + below(3));
	}
	m->exec[UC_LOAD].latency = 0;
}

void stream_print_machine(const struct machine *m)
{
#define X(field, low, high) fprintf(stderr, #field " %u, ", (unsigned)m->field);
	DRAWN(X)
#undef X
	fprintf(stderr, "front_decode_bytes %u, front_loop_uops %u, core_register_reads %u\n", (unsigned)m->front_decode_bytes,
	        (unsigned)m->front_loop_uops, (unsigned)m->core_register_reads);
	for (unsigned c = 0; c < UC_COUNT; c++)
		if (m->exec[c].port_mask)
			fprintf(stderr, "%s = %u %x %u; ", machine_class_name(c), m->exec[c].latency, m->exec[c].port_mask, m->exec[c].busy);
	fprintf(stderr, "\n");
}
