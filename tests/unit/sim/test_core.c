/* pmu/sim/core/core*.c: the costs of chains, ports, branches and assists follow from the machine's fields; a signal's counts at all thresholds agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rigs/core_bench.h"

#define ADD_RAX_1 "4883C001"
#define IMUL_RAX_RAX "480FAFC0"
#define NOP "90"
#define RET "C3"

static void test_core_chains_run_at_their_latency(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	assert_int_equal(core_bench_loop_cost(&m, 20, ADD_RAX_1), 20000);
	assert_int_equal(core_bench_loop_cost(&m, 20, IMUL_RAX_RAX), 20 * 1000 * m.exec[UC_IMUL].latency);
	assert_int_equal(core_bench_loop_cost(&m, 10, "F20F58C1"), 10 * 1000 * m.exec[UC_FP_ADD].latency); /* addsd xmm0, xmm1 */
	assert_int_equal(core_bench_loop_cost(&m, 10, "F20F59C1"), 10 * 1000 * m.exec[UC_FP_MUL].latency);
	m.exec[UC_IMUL].latency = 7;
	assert_int_equal(core_bench_loop_cost(&m, 20, IMUL_RAX_RAX), 140000);
}

static void test_core_independent_adds_are_limited_by_ports_and_width(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* six moves of 1, without sources: 24 of them and the loop's two uops on three ALU ports */
	const char *movs = "B801000000B901000000BA0100000041B801000000" "41B90100000041BA01000000";
	m.front_decode_bytes = 64;
	uint64_t three = core_bench_loop_cost(&m, 4, movs);
	assert_in_range(three, 26000 / 3 - 100, 26000 / 3 + 400);
	m.exec[UC_INT].port_mask = 0x01;
	m.exec[UC_BRANCH].port_mask = 0x20;
	assert_in_range(core_bench_loop_cost(&m, 4, movs), 25000, 25100);
	m.core_issue_width = 4;
	m.front_loop_uops = 255;
	assert_in_range(core_bench_loop_cost(&m, 200, NOP), 202000 / 4, 202000 / 4 + 600);
	m.core_issue_width = 3;
	assert_in_range(core_bench_loop_cost(&m, 200, NOP), 202000 / 3, 202000 / 3 + 600);
}

static void test_core_divider_is_busy_as_long_as_it_says(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* divsd xmm0 .. xmm3, xmm8: each depends on its own destination only */
	m.core_divide_least_cycles = 0;
	m.exec[UC_FP_DIV64] = (struct exec_cost){ 30, 1, 11 };
	const char *divs = "F2410F5EC0F2410F5EC8F2410F5ED0F2410F5ED8";
	assert_int_equal(core_bench_loop_cost(&m, 1, divs), 44000);
	m.exec[UC_FP_DIV64].latency = 60;
	assert_int_equal(core_bench_loop_cost(&m, 1, divs), 60000);
	struct core_bench *b = core_bench_open(&m);
	core_bench_emit(b, 5, divs);
	core_bench_emit(b, 1, RET);
	core_bench_tap(b, 0, SIG_DIVIDER_BUSY, 0, false, false);
	core_bench_tap(b, 1, SIG_DIVIDES, 0, false, false);
	core_bench_run(b, 1);
	assert_int_equal(core_bench_count(b, 0), 220);
	assert_int_equal(core_bench_count(b, 1), 20);
	core_bench_close(b);
}

/* A loop with a branch whose direction is bit 30 of a linear congruential generator in RDX, or constant. */
static void emit_branchy(struct core_bench *b, bool random)
{
	core_bench_emit(b, 1, "BA01000000");                 /* mov edx, 1 */
	unsigned top = core_bench_here(b);
	core_bench_emit(b, 1, "4869D26D4EC641");             /* imul rdx, rdx, 0x41C64E6D */
	core_bench_emit(b, 1, "4881C239300000");             /* add rdx, 12345 */
	core_bench_emit(b, 1, "4889D0");                     /* mov rax, rdx */
	core_bench_emit(b, 1, random ? "48C1E81E" : "48C1E83F"); /* shr rax, 30 or 63 */
	core_bench_emit(b, 1, random ? "2401" : "2400");     /* and al, 1 or 0 */
	core_bench_emit(b, 1, "7408");                       /* jz over the next two */
	core_bench_emit(b, 1, "4883C6004883EE00");
	core_bench_loop(b, top);
	core_bench_emit(b, 1, RET);
}

static uint64_t branchy(const struct machine *m, bool random, uint64_t *missed, uint64_t *wasted)
{
	struct core_bench *b = core_bench_open(m);
	emit_branchy(b, random);
	core_bench_run(b, 2000);
	core_bench_tap(b, 0, SIG_BRANCHES_MISPREDICTED, 0, false, false);
	core_bench_tap(b, 1, SIG_UOPS_ISSUED_FUSED, 0, false, false);
	core_bench_tap(b, 2, SIG_UOPS_RETIRED_FUSED, 0, false, false);
	core_bench_tap(b, 3, SIG_UOPS_ISSUED_WRONG_PATH, 0, false, false);
	uint64_t cycles = core_bench_run(b, 4000);
	*missed = core_bench_count(b, 0);
	*wasted = core_bench_count(b, 1) - core_bench_count(b, 2);
	assert_int_equal(*wasted, core_bench_count(b, 3));
	core_bench_close(b);
	return cycles;
}

static void test_core_mispredicts_cost_their_cycles_and_waste_uops(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	uint64_t missed, wasted, missed_more, wasted_more;
	m.core_mispredict_cycles = 17;
	uint64_t even = branchy(&m, false, &missed, &wasted);
	assert_in_range(missed, 0, 40);
	assert_in_range(wasted, 0, missed * 128);
	uint64_t at_17 = branchy(&m, true, &missed, &wasted);
	assert_in_range(missed, 1000, 3000);
	assert_true(at_17 > even + missed * 17);
	assert_true(wasted > missed);
	m.core_mispredict_cycles = 40;
	uint64_t at_40 = branchy(&m, true, &missed_more, &wasted_more);
	assert_int_equal(missed, missed_more);
	/* 23 more cycles per misprediction, minus those that are hidden */
	assert_in_range(at_40 - at_17, missed * 22, missed * 23 + 100);
}

static void test_core_counts_of_every_cycle_agree(void **state)
{
	(void)state;
	static const enum signal signals[] = { SIG_UOPS_ISSUED_FUSED, SIG_UOPS_EXECUTED, SIG_UOPS_RETIRED_FUSED,
		SIG_UOPS_EXECUTED_P0, SIG_RS_OCCUPANCY, SIG_L1D_REPLACED };
	struct machine m = core_bench_machine("nehalem-ep");
	for (unsigned i = 0; i < COUNT_OF(signals); i++) {
		struct core_bench *b = core_bench_open(&m);
		emit_branchy(b, true);
		for (unsigned c = 1; c <= 5; c++) {
			core_bench_tap(b, 4 * c, signals[i], c, false, false);
			core_bench_tap(b, 4 * c + 1, signals[i], c, true, false);
		}
		core_bench_tap(b, 0, SIG_CYCLES, 0, false, false);
		core_bench_tap(b, 1, signals[i], 0, false, false);
		core_bench_tap(b, 2, SIG_CYCLES, 1, false, false);
		core_bench_run(b, 3000);
		uint64_t cycles = core_bench_count(b, 0), histogram = 0;
		assert_int_equal(core_bench_count(b, 2), cycles);
		for (unsigned c = 1; c <= 5; c++) {
			assert_int_equal(core_bench_count(b, 4 * c) + core_bench_count(b, 4 * c + 1), cycles);
			histogram += core_bench_count(b, 4 * c);
		}
		if (signals[i] != SIG_RS_OCCUPANCY && signals[i] != SIG_UOPS_EXECUTED)
			assert_int_equal(histogram, core_bench_count(b, 1));
		else
			assert_true(histogram <= core_bench_count(b, 1));
		core_bench_close(b);
	}
}

static void test_core_stall_reasons_add_up_to_the_cycles_without_retirement(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	for (unsigned random = 0; random < 2; random++) {
		struct core_bench *b = core_bench_open(&m);
		emit_branchy(b, random);
		struct tap all = { .on = true };
		for (unsigned g = SIG_STALL_BY_FETCH; g <= SIG_STALL_BY_ASSIST; g++)
			all.listen[g / 64] |= 1ull << (g % 64);
		signals_tap(core_bench_signals(b), 0, &all);
		core_bench_tap(b, 1, SIG_UOPS_RETIRED_FUSED, 1, true, false);
		core_bench_tap(b, 2, SIG_STALL_BY_MISPREDICT, 0, false, false);
		core_bench_tap(b, 3, SIG_BRANCHES_MISPREDICTED, 0, false, false);
		core_bench_run(b, 3000);
		/* cycles without a uop to blame: the first, and those after the final, mispredicted return */
		uint64_t idle = core_bench_count(b, 1), blamed = core_bench_count(b, 0);
		assert_in_range(idle, blamed, blamed + m.core_mispredict_cycles + 3);
		if (random)
			assert_true(core_bench_count(b, 2) > 10 * core_bench_count(b, 3));
		core_bench_close(b);
	}
}

static void test_core_two_runs_are_identical(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	uint64_t cycles[2], counts[2][6];
	for (unsigned run = 0; run < 2; run++) {
		struct core_bench *b = core_bench_open(&m);
		emit_branchy(b, true);
		for (unsigned t = 0; t < 6; t++)
			core_bench_tap(b, t, (enum signal)(SIG_UOPS_EXECUTED_P0 + t), t % 3, t == 4, t == 5);
		cycles[run] = core_bench_run(b, 5000);
		for (unsigned t = 0; t < 6; t++)
			counts[run][t] = core_bench_count(b, t);
		core_bench_close(b);
	}
	assert_int_equal(cycles[0], cycles[1]);
	assert_memory_equal(counts[0], counts[1], sizeof(counts[0]));
}

static void test_core_assists_cost_cycles_and_uops(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* mov eax, 1; movq xmm0, rax; then a loop of addsd xmm1, xmm0 with a denormal */
	uint64_t cycles[2];
	for (unsigned with = 0; with < 2; with++) {
		m.core_fp_assist_cycles = with ? 250 : 150;
		struct core_bench *b = core_bench_open(&m);
		core_bench_emit(b, 1, "B80100000066480F6EC0");
		unsigned top = core_bench_here(b);
		core_bench_emit(b, 1, "F20F58C8");
		core_bench_loop(b, top);
		core_bench_emit(b, 1, RET);
		core_bench_run(b, 100);
		core_bench_tap(b, 0, SIG_FP_ASSIST, 0, false, false);
		core_bench_tap(b, 1, SIG_UOPS_RETIRED_FUSED, 0, false, false);
		core_bench_tap(b, 2, SIG_UOPS_ISSUED_FUSED, 0, false, false);
		core_bench_tap(b, 3, SIG_UOPS_ISSUED_WRONG_PATH, 0, false, false);
		core_bench_tap(b, 4, SIG_UOPS_RETIRED_FUSED, 1, true, false);
		struct tap all = { .on = true };
		for (unsigned g = SIG_STALL_BY_FETCH; g <= SIG_STALL_BY_ASSIST; g++)
			all.listen[g / 64] |= 1ull << (g % 64);
		signals_tap(core_bench_signals(b), 5, &all);
		cycles[with] = core_bench_run(b, 100);
		assert_int_equal(core_bench_count(b, 0), 100);
		assert_true(core_bench_count(b, 1) >= 100 * m.core_fp_assist_uops);
		assert_int_equal(core_bench_count(b, 2) - core_bench_count(b, 1), core_bench_count(b, 3));
		assert_in_range(core_bench_count(b, 4), core_bench_count(b, 5), core_bench_count(b, 5) + 20);
		core_bench_close(b);
	}
	assert_int_equal(cycles[1] - cycles[0], 100 * 100);
}

static void test_core_divides_end_early_with_few_bits(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.exec[UC_FP_DIV64] = (struct exec_cost){ 22, 1, 22 };
	m.core_divide_least_cycles = 7;
	/* divsd xmm0, xmm1 with both zero: no significant bits */
	assert_int_equal(core_bench_loop_cost(&m, 4, "F20F5EC1"), 28000);
	/* divsd xmm0 .. xmm3, xmm4, independent: the divider is busy for the file's number of cycles, whatever the latency is */
	m.exec[UC_FP_DIV64] = (struct exec_cost){ 40, 1, 12 };
	m.core_divide_least_cycles = 10;
	assert_int_equal(core_bench_loop_cost(&m, 4, "F20F5EC4F20F5ECCF20F5ED4F20F5EDC"), 4 * 40000);
	m.exec[UC_FP_DIV64] = (struct exec_cost){ 22, 1, 22 };
	m.core_divide_least_cycles = 0;
	assert_int_equal(core_bench_loop_cost(&m, 4, "F20F5EC1"), 88000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core_chains_run_at_their_latency),
		cmocka_unit_test(test_core_independent_adds_are_limited_by_ports_and_width),
		cmocka_unit_test(test_core_divider_is_busy_as_long_as_it_says),
		cmocka_unit_test(test_core_mispredicts_cost_their_cycles_and_waste_uops),
		cmocka_unit_test(test_core_counts_of_every_cycle_agree),
		cmocka_unit_test(test_core_stall_reasons_add_up_to_the_cycles_without_retirement),
		cmocka_unit_test(test_core_two_runs_are_identical),
		cmocka_unit_test(test_core_assists_cost_cycles_and_uops),
		cmocka_unit_test(test_core_divides_end_early_with_few_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
