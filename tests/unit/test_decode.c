/* The decoder by itself: every byte of every kernel decodes; what it says about operands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "asm/kernel.h"
#include "pmu/sim/decode.h"
#include "pmu/sim/ops.h"

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
		bool reached = true; /* false between a jump and the end of the INT3 bytes after it */

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
	assert_true(in.zero_idiom && in.read_count == 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode_every_kernel_whole),
		cmocka_unit_test(test_decode_operands_of_load_op_store),
		cmocka_unit_test(test_decode_refuses_with_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
