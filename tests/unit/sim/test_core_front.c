/* pmu/sim/core/core_front.c, pipe_allocate.c: costs of decoders, loop buffer, uop cache and allocation stalls against the machine's fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rigs/core_bench.h"

#define NOP "90"
#define RET "C3"

static void test_core_zeroing_is_known_or_waits(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* imul eax, eax; xor eax, eax: a chain if XOR waits for its source, otherwise bound by the one port that multiplies */
	const char *chain = "0FAFC031C0";
	m.core_zero_idioms = 0;
	assert_in_range(core_bench_loop_cost(&m, 16, chain), 16 * (m.exec[UC_IMUL].latency + 1) * 1000 - 100, 16 * (m.exec[UC_IMUL].latency + 1) * 1000 + 100);
	m.core_zero_idioms = 1;
	assert_in_range(core_bench_loop_cost(&m, 16, chain), 15900, 17100);
	/* pxor xmm0, xmm0: a chain, or bound by the ports */
	m.core_zero_idioms = 0;
	assert_in_range(core_bench_loop_cost(&m, 32, "660FEFC0"), 31900, 33100);
	m.core_zero_idioms = 1;
	assert_in_range(core_bench_loop_cost(&m, 32, "660FEFC0"), 10000, 13000);
}

static void test_core_decode_limits_long_instructions(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.front_loop_uops = 0;
	m.front_taken_cycles = 0;
	/* 64 x mov rax, imm64 of 10 bytes: 640 bytes and the loop's 9, 16 a cycle */
	uint64_t slow = core_bench_loop_cost(&m, 64, "48B80100000000000000");
	assert_in_range(slow, 640000 / 16, 640000 / 16 + 2000);
	m.front_decode_bytes = 32;
	assert_in_range(core_bench_loop_cost(&m, 64, "48B80100000000000000"), 21000, 24000);
	m.front_decode_bytes = 16;
	/* a length-changing prefix costs its stall each time: add ax, 0x1234 */
	m.front_lcp_cycles = 6;
	uint64_t six = core_bench_loop_cost(&m, 10, "6605341248890E");
	m.front_lcp_cycles = 9;
	assert_int_equal(core_bench_loop_cost(&m, 10, "6605341248890E") - six, 30000);
}

static void test_core_loop_buffer_hides_the_decoders(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.front_loop_uops = 28;
	uint64_t streamed = core_bench_loop_cost(&m, 12, "48B80100000000000000");
	assert_in_range(streamed, 14000 / 3, 14000 / 3 + 400);
	m.front_loop_uops = 13;
	assert_in_range(core_bench_loop_cost(&m, 12, "48B80100000000000000"), 8000, 9100);
}

static void test_core_read_ports_limit_cold_registers(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.front_decode_bytes = 64;
	/* lea rax,[r8+r9]; lea rcx,[r10+r11]: each pair reads four cold registers */
	const char *leas = "4B8D04084B8D0C1A";
	m.exec[UC_LEA].port_mask = 0x23;
	m.core_register_reads = 0;
	uint64_t free = core_bench_loop_cost(&m, 8, leas);
	m.core_register_reads = 3;
	uint64_t three = core_bench_loop_cost(&m, 8, leas);
	m.core_register_reads = 2;
	uint64_t two = core_bench_loop_cost(&m, 8, leas);
	assert_true(free < three && three <= two);
	assert_in_range(two, 16000, 18000);
}

static void test_core_uop_cache_takes_over_from_the_decoders(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.front_loop_uops = 0;
	m.front_uop_cache = 1536;
	/* 64 x mov rax, imm64: 3 per window of 32 bytes, so 3 a cycle, where the decoders deliver 1.6 */
	assert_in_range(core_bench_loop_cost(&m, 64, "48B80100000000000000"), 649000 / 32, 649000 / 32 + 2500);
	/* 5000 bytes of them do not fit in a cache of 8 sets x 8 ways */
	m.front_uop_cache = 384;
	assert_true(core_bench_loop_cost(&m, 500, "48B80100000000000000") > 5000000 / 18);
	/* a window of 32 NOPs has more uops than the cache takes: the decoders deliver them, four a cycle */
	m.front_uop_cache = 1536;
	struct core_bench *b = core_bench_open(&m);
	core_bench_tap(b, 0, SIG_UOP_CACHE_UOPS, 0, false, false);
	core_bench_emit(b, 512, NOP);
	core_bench_emit(b, 1, RET);
	core_bench_run(b, 1);
	core_bench_run(b, 1);
	assert_true(core_bench_count(b, 0) <= 8);
	core_bench_close(b);
}

/* Three pages of code in the uop cache, and an ITLB of one entry: with front.uop_cache_translates each page is looked up, misses and waits. */
static void test_core_uop_cache_waits_for_a_translation_where_it_needs_one(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	uint64_t cycles[2], hits[2];
	m.front_loop_uops = 0;
	m.front_uop_cache = 4096;
	m.itlb_entries = m.itlb_ways = 1;
	m.itlb_large_entries = 0;
	m.stlb_cycles = 50;
	for (unsigned translates = 0; translates < 2; translates++) {
		m.front_uop_cache_translates = translates;
		struct core_bench *b = core_bench_open(&m);
		core_bench_tap(b, 0, SIG_ITLB_MISS, 0, false, false);
		core_bench_emit(b, 3 * 4096 / 9, "660F1F840000000000");
		core_bench_emit(b, 1, RET);
		core_bench_run(b, 1);
		core_bench_run(b, 1);
		const uint64_t before = core_bench_count(b, 0);
		cycles[translates] = core_bench_run(b, 1);
		hits[translates] = core_bench_count(b, 0) - before;
		core_bench_close(b);
	}
	assert_int_equal(hits[0], 0);
	assert_int_equal(hits[1], 3);
	assert_true(cycles[1] >= cycles[0] + 3 * m.stlb_cycles);
}

static void test_core_partial_flags_and_registers_stall_allocation(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* add rax, 1; inc rcx; cmovbe rdx, r8: carry from one, zero from the other */
	const char *flags = "4883C00148FFC1490F46D0", *whole = "48FFC14883C001490F46D0";
	m.core_partial_flags_cycles = 0;
	uint64_t free = core_bench_loop_cost(&m, 4, flags);
	m.core_partial_flags_cycles = 7;
	uint64_t stalled = core_bench_loop_cost(&m, 4, flags);
	assert_true(stalled >= free + 4 * 6000);
	assert_in_range(core_bench_loop_cost(&m, 4, whole), free - 1000, free + 1000);
	/* mov al, 1; add rdx, rax */
	const char *narrow = "B0014801C2", *wide = "B8010000004801C2";
	m.core_partial_register_cycles = 5;
	uint64_t merged = core_bench_loop_cost(&m, 4, narrow);
	assert_true(merged >= core_bench_loop_cost(&m, 4, wide) + 4 * 4000);
	struct core_bench *b = core_bench_open(&m);
	core_bench_tap(b, 0, SIG_RAT_STALL_REGISTERS, 1, false, true);
	core_bench_tap(b, 1, SIG_RAT_STALL_FLAGS, 1, false, true);
	core_bench_emit(b, 10, narrow);
	core_bench_emit(b, 10, flags);
	core_bench_emit(b, 1, RET);
	core_bench_run(b, 1);
	assert_int_equal(core_bench_count(b, 0), 10);
	assert_int_equal(core_bench_count(b, 1), 10);
	core_bench_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core_zeroing_is_known_or_waits),
		cmocka_unit_test(test_core_decode_limits_long_instructions),
		cmocka_unit_test(test_core_loop_buffer_hides_the_decoders),
		cmocka_unit_test(test_core_read_ports_limit_cold_registers),
		cmocka_unit_test(test_core_uop_cache_takes_over_from_the_decoders),
		cmocka_unit_test(test_core_uop_cache_waits_for_a_translation_where_it_needs_one),
		cmocka_unit_test(test_core_partial_flags_and_registers_stall_allocation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
