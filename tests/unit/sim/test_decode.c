/* The decoder alone: it decodes all kernels completely, reports the right operands, and agrees with binutils on random instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "asm/kernel.h"
#include "pmu/sim/isa/decode.h"
#include "pmu/sim/isa/ops.h"
#include "tests/unit/support/random_insn.h"
#include "tests/unit/support/sim_names.h"

static struct insn must(const char *what, const uint8_t *bytes, size_t n)
{
	struct insn in;
	unsigned bad;

	if (decode(bytes, n, &in, &bad) != ST_OK)
		fail_msg("%s: does not decode", what);
	assert_int_equal(in.length, n);
	return in;
}
#define MUST(...) must(#__VA_ARGS__, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static bool has(const uint8_t *list, unsigned n, unsigned name)
{
	while (n--)
		if (list[n] == name)
			return true;
	return false;
}

static void test_decode_every_kernel_whole(void **state)
{
	const struct kernel *k;

	(void)state;
	for (k = kernel_table; k < kernel_table_end; k++) {
		uint32_t at = 0;
		bool reached = true; /* false after a jump, until the INT3 bytes behind it end */

		while (at < k->bytes) {
			struct insn in;
			unsigned bad = 0;

			if (!reached && kernel_code[k->offset + at] == 0xCC) {
				at++;
				continue;
			}

			if (decode(kernel_code + k->offset + at, k->bytes - at, &in, &bad) != ST_OK) {
				char text[64] = "";
				unsigned i;

				for (i = 0; i < bad && i < 15; i++)
					sprintf(text + 3 * i, "%02x ", kernel_code[k->offset + at + i]);
				fail_msg("%s+%u: %s", k->name, at, text);
			}
			at += in.length;
			reached = in.op != OP_JMP && in.op != OP_RET;
		}
		assert_int_equal(at, k->bytes);
	}
}

static void test_decode_operands_of_load_op_store(void **state)
{
	struct insn in;

	(void)state;
	in = MUST(0x48, 0x8B, 0x44, 0xCE, 0x10); /* mov rax, [rsi + rcx*8 + 16] */
	assert_int_equal(in.op, OP_MOV);
	assert_true(in.load && !in.store && in.class == UC_NOP);
	assert_int_equal(in.base, RN_RSI);
	assert_int_equal(in.index, RN_RCX);
	assert_int_equal(in.scale, 8);
	assert_int_equal(in.displacement, 16);
	assert_int_equal(in.memory_bytes, 8);
	assert_true(has(in.writes, in.write_count, RN_RAX) && in.read_count == 0);
	in = MUST(0xF0, 0x83, 0x07, 0x01); /* lock add dword [rdi], 1 */
	assert_true(in.lock && in.load && in.store);
	assert_int_equal(in.operand_bytes, 4);
	in = MUST(0x88, 0x65, 0x00); /* mov [rbp], ah */
	assert_true(in.high_byte && in.store && !in.load);
	in = MUST(0x66, 0x05, 0x34, 0x12); /* add ax, 1234h */
	assert_true(in.lcp);
	in = MUST(0x48, 0xFF, 0xC0); /* inc rax */
	assert_false(has(in.writes, in.write_count, RN_CF));
	assert_true(has(in.writes, in.write_count, RN_ZAPSO) && in.fusible_first);
	in = MUST(0x31, 0xC0); /* xor eax, eax */
	assert_true(in.zero_idiom && has(in.reads, in.read_count, RN_RAX)); /* a core may know that the result does not depend on it */
	in = MUST(0xC5, 0xFC, 0x2B, 0x07); /* vmovntps [rdi], ymm0 */
	assert_true(in.nontemporal && in.store && in.memory_bytes == 32);
	in = MUST(0x62, 0xF1, 0xFD, 0x48, 0x28, 0x47, 0x01); /* vmovapd zmm0, [rdi + 64] */
	assert_int_equal(in.displacement, 64);
	assert_int_equal(in.memory_bytes, 64);
}

static void test_decode_refuses_with_length(void **state)
{
	static const uint8_t cut_short[] = {0x48, 0x8B, 0x84}, mask[] = {0x62, 0xF1, 0xFD, 0x49, 0x28, 0x07}, lock_mov[] = {0xF0, 0x89, 0x07};
	struct insn in;
	unsigned bad;

	(void)state;
	assert_int_equal(decode(cut_short, sizeof(cut_short), &in, &bad), ST_SYNTAX);
	assert_int_equal(bad, 3);
	assert_int_equal(decode(mask, sizeof(mask), &in, &bad), ST_SYNTAX);
	assert_int_equal(decode(lock_mov, sizeof(lock_mov), &in, &bad), ST_SYNTAX);
	assert_int_equal(decode(cut_short, 0, &in, &bad), ST_SYNTAX);
}

/* --- binutils as judge ------------------------------------------------------------------------- */

#define SLOT 32 /* an instruction, then NOPs, on which the disassembler resynchronizes whatever it made of the first bytes */

/* The memory operand as objdump's Intel syntax has it, from '[' on. False: a form not compared. */
static bool memory_text(const struct insn *in, char *text)
{
	static const char *const names[16] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "8", "9", "10", "11", "12", "13", "14", "15"};
	const char *wide = in->address32 ? "e" : "r", *tail = in->address32 ? "d" : "";

	if (!in->has_base || in->stack || in->rep || in->op == OP_MOVS || in->op == OP_STOS)
		return false;
	text += sprintf(text, "[%s%s%s", in->base > 7 ? "r" : wide, names[in->base], in->base > 7 ? tail : "");
	if (in->has_index)
		text += sprintf(text, "+%s%s%s*%u", in->index > 7 ? "r" : wide, names[in->index], in->index > 7 ? tail : "", in->scale);
	if (in->displacement)
		text += sprintf(text, "%c0x%x", in->displacement < 0 ? '-' : '+', in->displacement < 0 ? 0u - (unsigned)in->displacement : (unsigned)in->displacement);
	sprintf(text, in->displacement ? "]" : "");
	return true;
}

/* Whether objdump's mnemonic is one of our op's names. */
static bool mnemonic_fits(const struct insn *in, const char *m)
{
	static const struct { uint16_t op; const char *names; } other[] = {
		{OP_MOV, "mov movabs "}, {OP_IMUL1, "imul "}, {OP_IMUL2, "imul "}, {OP_IMUL3, "imul "}, {OP_SHL, "shl sal "}, {OP_MOVSX, "movsx movsxd "},
		{OP_NOP, "nop fwait xchg fnop endbr64 endbr32 "}, {OP_CBW, "cbw cwde cdqe data16 rex rex.W "}, {OP_CWD, "cwd cdq cqo "}, {OP_MOVD_VE, "movd movq "}, {OP_MOVD_EV, "movd movq "},
		{OP_MOVV, "movups movupd movdqu lddqu movdqu8 movdqu16 movdqu32 movdqu64 "}, {OP_MOVVA, "movaps movapd movdqa movdqa32 movdqa64 "},
		{OP_MOVNT, "movntps movntpd movntdq "}, {OP_MOVLP, "movlps movlpd "}, {OP_MOVHP, "movhps movhpd "}, {OP_MOVHP_STORE, "movhps movhpd "},
		{OP_MOVQ, "movq movlps movlpd "}, {OP_ANDP, "andps andpd "}, {OP_ANDNP, "andnps andnpd "}, {OP_ORP, "orps orpd "}, {OP_XORP, "xorps xorpd "},
		{OP_PAND, "pand pandd pandq "}, {OP_PANDN, "pandn pandnd pandnq "}, {OP_POR, "por pord porq "}, {OP_PXOR, "pxor pxord pxorq "},
		{OP_PINSRD, "pinsrd pinsrq "}, {OP_PEXTRD, "pextrd pextrq "}, {OP_BROADCASTB, "pbroadcastb "}, {OP_BROADCASTW, "pbroadcastw "},
		{OP_BROADCASTD, "pbroadcastd broadcastss "}, {OP_BROADCASTQ, "pbroadcastq broadcastsd "}, {OP_BROADCAST128, "broadcastf128 broadcasti128 "},
		{OP_INSERT128, "insertf128 inserti128 insertf32x4 insertf64x2 inserti32x4 inserti64x2 "}, {OP_INSERT256, "insertf64x4 inserti64x4 insertf32x8 inserti32x8 "},
		{OP_EXTRACT128, "extractf128 extracti128 extractf32x4 extractf64x2 extracti32x4 extracti64x2 "},
		{OP_EXTRACT256, "extractf64x4 extracti64x4 extractf32x8 extracti32x8 "}, {OP_PERM2F128, "perm2f128 perm2i128 "}, {OP_PERMQ, "permq permpd "},
		{OP_FLD_M32, "fld "}, {OP_FLD_M64, "fld "}, {OP_FLD_M80, "fld "}, {OP_FLDCONST, "fld1 fldl2t fldl2e fldpi fldlg2 fldln2 fldz "},
		{OP_FST, "fst fstp "}, {OP_FST_M32, "fst fstp "}, {OP_FST_M64, "fst fstp "}, {OP_FSTP_M80, "fstp "},
	};
	char name[32], have[32];
	unsigned i;

	for (i = 0; i < sizeof(name) - 1 && op_name(in->op)[i]; i++)
		name[i] = (char)tolower((unsigned char)op_name(in->op)[i]);
	name[i] = 0;
	if ((in->vex || in->evex) && *m == 'v' && *name != 'v')
		m++;
	if (in->op >= OP_FARITH && in->op <= OP_FARITH_M64) {
		static const char *const group[8] = {"fadd", "fmul", "", "", "fsub", "fsubr", "fdiv", "fdivr"};

		snprintf(have, sizeof(have), "%s%s", group[in->vsrc1], in->vsrc2 ? "p" : "");
		return strcmp(have, m) == 0;
	}
	if (in->op == OP_JCC || in->op == OP_CMOV || in->op == OP_SETCC) {
		static const char *const cc[16] = {"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"};

		snprintf(have, sizeof(have), "%s%s", in->op == OP_JCC ? "j" : in->op == OP_CMOV ? "cmov" : "set", cc[in->extra]);
		return strcmp(have, m) == 0;
	}
	if ((in->op >= OP_CMPPS && in->op <= OP_CMPSD) || (in->op >= OP_FMADDPS && in->op <= OP_FNMSUBSD)) { /* the predicate or operand order is in the middle of the name */
		size_t n = strlen(name), l = strlen(m);

		return strncmp(name, m, n - 2) == 0 && l >= n && strcmp(m + l - 2, name + n - 2) == 0;
	}
	for (i = 0; i < COUNT_OF(other); i++)
		if (other[i].op == in->op) {
			snprintf(have, sizeof(have), "%s ", m);
			return strstr(other[i].names, have) != NULL;
		}
	return strcmp(name, m) == 0;
}

static void test_decode_agrees_with_binutils(void **state)
{
	enum { WANTED = 30000 };
	struct insn *list = calloc(WANTED, sizeof(*list));
	uint8_t (*bytes)[SLOT] = malloc(WANTED * SLOT);
	char path[] = P_tmpdir "/decode.XXXXXX", command[200], line[400];
	unsigned n = 0, bad, judged = 0, texts = 0, evex = 0;
	FILE *f;
	int fd;

	(void)state;
	draw_seed(77);
	memset(bytes, 0x90, WANTED * SLOT);
	while (n < WANTED) {
		uint8_t b[16];
		unsigned have = random_insn(b);

		if (below(12) == 0) { /* EVEX: the prefix with no mask, broadcast or rounding */
			b[0] = 0x62;
			b[1] = (uint8_t)((draw() & 0xF0) | (1 + below(3)));
			b[2] = (uint8_t)((below(2) ? 0x7C : draw() & 0x78) | 4 | (draw() & 0x83));
			b[3] = (uint8_t)(below(3) << 5 | (below(4) ? 8 : 0));
		}
		if (decode(b, have, &list[n], &bad) != ST_OK)
			continue;
		memcpy(bytes[n], b, list[n].length);
		evex += list[n].evex;
		n++;
	}
	fd = mkstemp(path);
	assert_true(fd >= 0);
	f = fdopen(fd, "wb");
	assert_int_equal(fwrite(bytes, SLOT, n, f), n);
	fclose(f);
	snprintf(command, sizeof(command), "objdump -D -z -b binary -m i386:x86-64 -M intel --insn-width=16 %s", path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long at;
		unsigned length = 0, i;
		char *p = strchr(line, ':'), *m, *end, text[80];
		struct insn *in;

		if (line[0] != ' ' || !p || sscanf(line, " %lx:", &at) != 1 || at % SLOT)
			continue;
		in = &list[at / SLOT];
		for (p++; isspace((unsigned char)*p); p++)
			;
		while (isxdigit((unsigned char)p[0]) && isxdigit((unsigned char)p[1]) && p[2] == ' ') {
			length++;
			p += 3;
		}
		while (isspace((unsigned char)*p))
			p++;
		/* binutils knows one encoding of each fence, the SDM (0F AE /5 /6 /7, register form) and processors eight */
		if ((in->op == OP_NOP && bytes[at / SLOT][in->length - 1] == 0x9B) || /* FWAIT: it lists its prefixes separately */
		    (strstr(p, "(bad)") && in->op >= OP_LFENCE && in->op <= OP_SFENCE)) {
			judged++;
			continue;
		}
		if (length != in->length)
			fail_msg("%s: %s has %u bytes, decoded %u", op_name(in->op), line, length, in->length);
		judged++;
		for (m = p; ; m = end + 1) { /* skips prefixes that are printed as words */
			static const char *const prefixes[] = {"lock", "rep", "repz", "repnz", "data16", "addr32", "xacquire", "xrelease", "bnd", "es", "cs", "ss", "ds", "notrack", "{evex}", "{vex}", "{vex3}"};

			for (end = m; *end && !isspace((unsigned char)*end); end++)
				;
			for (i = 0; i < COUNT_OF(prefixes); i++)
				if (strncmp(m, prefixes[i], (size_t)(end - m)) == 0 && !prefixes[i][end - m])
					break;
			if ((i == COUNT_OF(prefixes) && strncmp(m, "rex", 3)) || !*end || *end == '\n')
				break;
		}
		if (memory_text(in, text) && !strstr(end, text) && !strstr(end, "iz*")) /* riz, eiz: no index */
			fail_msg("%s: expected %s in %s", op_name(in->op), text, line);
		texts += memory_text(in, text);
		*end = 0;
		if (!mnemonic_fits(in, m))
			fail_msg("%s: binutils says %s", op_name(in->op), m);
	}
	assert_int_equal(pclose(f), 0);
	remove(path);
	assert_int_equal(judged, n);
	print_message("# %u instructions: lengths and mnemonics equal, %u memory operands, %u EVEX\n", judged, texts, evex);
	free(list);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode_every_kernel_whole),
		cmocka_unit_test(test_decode_operands_of_load_op_store),
		cmocka_unit_test(test_decode_refuses_with_length),
		cmocka_unit_test(test_decode_agrees_with_binutils),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
