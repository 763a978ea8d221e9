/* pmu/sim/core*.c: what instruction streams cost follows from the machine's fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rigs/core_bench.h"

#define ADD_RAX_RAX "4801C0"
#define ADD_RAX_1 "4883C001"
#define IMUL_RAX_RAX "480FAFC0"
#define NOP "90"
#define RET "C3"

static struct core_bench *open_with(const struct machine *m)
{
	struct core_bench *b = core_bench_open(m);
	core_bench_clear(b);
	return b;
}

/* Thousandths of a cycle an iteration of a loop of `times` x hex. */
static uint64_t loop_cost(const struct machine *m, unsigned times, const char *hex)
{
	struct core_bench *b = open_with(m);
	unsigned top = core_bench_here(b);
	core_bench_emit(b, times, hex);
	core_bench_loop(b, top);
	core_bench_emit(b, 1, RET);
	uint64_t cost = core_bench_slope(b, 300);
	core_bench_close(b);
	return cost;
}

static void test_core_chains_run_at_their_latency(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	assert_int_equal(loop_cost(&m, 20, ADD_RAX_1), 20000);
	assert_int_equal(loop_cost(&m, 20, IMUL_RAX_RAX), 20 * 1000 * m.exec[UC_IMUL].latency);
	assert_int_equal(loop_cost(&m, 10, "F20F58C1"), 10 * 1000 * m.exec[UC_FP_ADD].latency); /* addsd xmm0, xmm1 */
	assert_int_equal(loop_cost(&m, 10, "F20F59C1"), 10 * 1000 * m.exec[UC_FP_MUL].latency);
	m.exec[UC_IMUL].latency = 7;
	assert_int_equal(loop_cost(&m, 20, IMUL_RAX_RAX), 140000);
}

static void test_core_independent_adds_are_limited_by_ports_and_width(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* mov eax..r11d, 1: no sources; 24 of them and the loop's two on three ALU ports */
	const char *movs = "B801000000B901000000BA0100000041B801000000" "41B90100000041BA01000000";
	m.front_decode_bytes = 64;
	uint64_t three = loop_cost(&m, 4, movs);
	assert_in_range(three, 26000 / 3 - 100, 26000 / 3 + 400);
	m.exec[UC_INT].port_mask = 0x01;
	m.exec[UC_BRANCH].port_mask = 0x20;
	assert_in_range(loop_cost(&m, 4, movs), 25000, 25100);
	m.core_issue_width = 4;
	m.front_loop_uops = 255;
	assert_in_range(loop_cost(&m, 200, NOP), 202000 / 4, 202000 / 4 + 600);
	m.core_issue_width = 3;
	assert_in_range(loop_cost(&m, 200, NOP), 202000 / 3, 202000 / 3 + 600);
}

static void test_core_zeroing_is_known_or_waits(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* imul eax, eax; xor eax, eax: a chain where XOR waits for its register; else three ALU ports' worth, one of which multiplies */
	const char *chain = "0FAFC031C0";
	m.core_zero_idioms = 0;
	assert_in_range(loop_cost(&m, 16, chain), 16 * (m.exec[UC_IMUL].latency + 1) * 1000 - 100, 16 * (m.exec[UC_IMUL].latency + 1) * 1000 + 100);
	m.core_zero_idioms = 1;
	assert_in_range(loop_cost(&m, 16, chain), 15900, 17100);
	/* pxor xmm0, xmm0: one after the other, or as ports let them */
	m.core_zero_idioms = 0;
	assert_in_range(loop_cost(&m, 32, "660FEFC0"), 31900, 33100);
	m.core_zero_idioms = 1;
	assert_in_range(loop_cost(&m, 32, "660FEFC0"), 10000, 13000);
}

static void test_core_decode_limits_long_instructions(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.front_loop_uops = 0;
	m.front_taken_cycles = 0;
	/* 64 x mov rax, imm64 of 10 bytes: 640 bytes and the loop's 9, 16 a cycle */
	uint64_t slow = loop_cost(&m, 64, "48B80100000000000000");
	assert_in_range(slow, 640000 / 16, 640000 / 16 + 2000);
	m.front_decode_bytes = 32;
	assert_in_range(loop_cost(&m, 64, "48B80100000000000000"), 21000, 24000);
	m.front_decode_bytes = 16;
	/* a length-changing prefix costs its stall each time: add ax, 0x1234 */
	m.front_lcp_cycles = 6;
	uint64_t six = loop_cost(&m, 10, "6605341248890E");
	m.front_lcp_cycles = 9;
	assert_int_equal(loop_cost(&m, 10, "6605341248890E") - six, 30000);
}

static void test_core_loop_buffer_hides_the_decoders(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.front_loop_uops = 28;
	uint64_t streamed = loop_cost(&m, 12, "48B80100000000000000");
	assert_in_range(streamed, 14000 / 3, 14000 / 3 + 400);
	m.front_loop_uops = 13;
	assert_in_range(loop_cost(&m, 12, "48B80100000000000000"), 8000, 9100);
}

static void test_core_divider_is_busy_as_long_as_it_says(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* divsd xmm0, xmm8; xmm1 ...: independent but for their own destination */
	m.core_divide_least_cycles = 0;
	m.exec[UC_FP_DIV64] = (struct exec_cost){ 30, 1, 11 };
	const char *divs = "F2410F5EC0F2410F5EC8F2410F5ED0F2410F5ED8";
	assert_int_equal(loop_cost(&m, 1, divs), 44000);
	m.exec[UC_FP_DIV64].latency = 60;
	assert_int_equal(loop_cost(&m, 1, divs), 60000);
	struct core_bench *b = open_with(&m);
	core_bench_emit(b, 5, divs);
	core_bench_emit(b, 1, RET);
	core_bench_tap(b, 0, SIG_DIVIDER_BUSY, 0, false, false);
	core_bench_tap(b, 1, SIG_DIVIDES, 0, false, false);
	core_bench_run(b, 1);
	assert_int_equal(core_bench_count(b, 0), 220);
	assert_int_equal(core_bench_count(b, 1), 20);
	core_bench_close(b);
}

/* A branch whose direction is a bit of RDX, which a multiplicative generator makes. */
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
	struct core_bench *b = open_with(m);
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
	/* each of them 23 cycles later, but for what was hidden before */
	assert_in_range(at_40 - at_17, missed * 22, missed * 23 + 100);
}

static void test_core_store_forwarding_costs_what_the_fields_say(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.store_forward_cycles = 5;
	/* mov [rsi], rax; mov rax, [rsi]: store data, one cycle, then the forward */
	uint64_t whole = loop_cost(&m, 4, "488906488B06");
	assert_int_equal(whole, 4 * 1000 * (5 + m.exec[UC_STD].latency));
	m.store_forward_cycles = 9;
	assert_int_equal(loop_cost(&m, 4, "488906488B06"), 4 * 1000 * (9 + m.exec[UC_STD].latency));
	/* mov [rsi], eax; mov [rsi + 4], eax; mov rax, [rsi]: waits for the commit */
	m.store_forward_fail_cycles = 12;
	const char *fails = "8906894604488B06";
	uint64_t failed = loop_cost(&m, 2, fails);
	m.store_forward_fail_cycles = 20;
	assert_int_equal(loop_cost(&m, 2, fails) - failed, 16000);
	assert_true(failed > 2 * 13000);
}

static void test_core_aliased_loads_are_delayed_and_counted(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.store_alias_cycles = 5;
	/* mov [rsi], rdx; mov rax, [rsi + rax + 0x1000]: a chain through zero of loads that alias the store */
	const char *alias = "488916488B840600100000", *apart = "488916488B840640100000";
	uint64_t with = loop_cost(&m, 4, alias), without = loop_cost(&m, 4, apart);
	assert_int_equal(without, 4 * 1000 * m.l1d_cycles);
	assert_int_equal(with, 4 * 1000 * (m.l1d_cycles + 5));
}

static void test_core_unknown_store_address_blocks_until_trusted(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* imul chain makes the address of a store; an independent load follows and feeds the next address:
	 * rcx = 0 always. imul rcx, rcx x4; mov [rsi + rcx + 512], rdx; mov rcx, [rsi + 64] */
	const char *body = "480FAFC9480FAFC9480FAFC9480FAFC94889940E00020000488B4E40";
	m.store_disambiguation = 0;
	uint64_t blocked = loop_cost(&m, 1, body);
	m.store_disambiguation = 1;
	uint64_t trusted = loop_cost(&m, 1, body);
	/* blocked: imuls, store address, load, in a row */
	assert_in_range(blocked, 1000 * (4 * 3 + 1 + m.l1d_cycles), 1000 * (4 * 3 + 3 + m.l1d_cycles));
	assert_true(trusted < 8000);
	/* and when it does hit the load's bytes, each wrong trust is a machine clear */
	struct core_bench *b = open_with(&m);
	unsigned top = core_bench_here(b);
	core_bench_emit(b, 1, "480FAFC9480FAFC9480FAFC9480FAFC94889940E40000000488B4640");
	core_bench_loop(b, top);
	core_bench_emit(b, 1, RET);
	core_bench_tap(b, 0, SIG_MACHINE_CLEAR_MEMORY, 0, false, false);
	core_bench_tap(b, 1, SIG_STORE_FORWARDS, 0, false, false);
	core_bench_run(b, 500);
	assert_int_equal(core_bench_count(b, 0), 0); /* never trusted: every load would be harmed */
	assert_in_range(core_bench_count(b, 1), 490, 500);
	core_bench_close(b);
}

static void test_core_reorder_buffer_bounds_what_overlaps(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.core_rs = 36;
	uint64_t cycles[2];
	for (unsigned far = 0; far < 2; far++) {
		struct core_bench *b = open_with(&m);
		/* two loads that miss, rob - 4 or rob + 4 NOPs in between */
		core_bench_emit(b, 300, NOP); /* the code is fetched: the loads wait for no line of it */
		core_bench_emit(b, 1, "488B06");
		core_bench_emit(b, (unsigned)(far ? m.core_rob + 4 : m.core_rob - 4), NOP);
		core_bench_emit(b, 1, "488B8E00000100");
		core_bench_emit(b, 1, RET);
		core_bench_run(b, 1);
		core_bench_clear(b);
		core_bench_emit(b, 300, NOP);
		core_bench_emit(b, 1, "488B8600002000");
		core_bench_emit(b, (unsigned)(far ? m.core_rob + 4 : m.core_rob - 4), NOP);
		core_bench_emit(b, 1, "488B8E00003000");
		core_bench_emit(b, 1, RET);
		cycles[far] = core_bench_run(b, 1);
		core_bench_close(b);
	}
	assert_true(cycles[1] > cycles[0] + 100);
}

static void test_core_buffers_bound_what_overlaps(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.core_load_buffers = 4;
	struct core_bench *b = open_with(&m);
	core_bench_tap(b, 0, SIG_RESOURCE_STALL_LOAD, 0, false, false);
	core_bench_tap(b, 1, SIG_RESOURCE_STALL_ANY, 0, false, false);
	core_bench_tap(b, 2, SIG_RESOURCE_STALL_STORE, 0, false, false);
	core_bench_emit(b, 1, "488B8600002000");
	core_bench_emit(b, 20, "488B0E");
	core_bench_emit(b, 1, RET);
	core_bench_run(b, 1);
	assert_true(core_bench_count(b, 0) > 100);
	assert_int_equal(core_bench_count(b, 0), core_bench_count(b, 1));
	assert_int_equal(core_bench_count(b, 2), 0);
	core_bench_close(b);
}

static void test_core_counts_of_every_cycle_agree(void **state)
{
	(void)state;
	static const enum signal signals[] = { SIG_UOPS_ISSUED_FUSED, SIG_UOPS_EXECUTED, SIG_UOPS_RETIRED_FUSED,
		SIG_UOPS_EXECUTED_P0, SIG_RS_OCCUPANCY, SIG_L1D_REPLACED };
	struct machine m = core_bench_machine("nehalem-ep");
	for (unsigned i = 0; i < COUNT_OF(signals); i++) {
		struct core_bench *b = open_with(&m);
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
		struct core_bench *b = open_with(&m);
		emit_branchy(b, random);
		struct tap all = { .on = true };
		for (unsigned g = SIG_STALL_BY_FETCH; g <= SIG_STALL_BY_ASSIST; g++)
			all.listen[g / 64] |= 1ull << (g % 64);
		signals_tap(core_bench_signals(b), 0, &all);
		core_bench_tap(b, 1, SIG_UOPS_RETIRED_FUSED, 1, true, false);
		core_bench_tap(b, 2, SIG_STALL_BY_MISPREDICT, 0, false, false);
		core_bench_tap(b, 3, SIG_BRANCHES_MISPREDICTED, 0, false, false);
		core_bench_run(b, 3000);
		/* no uop to blame: the cycle at the start, and what follows the final, mispredicted return */
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
		struct core_bench *b = open_with(&m);
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

static void test_core_fences_order(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* an lfence between two independent imuls serialises them */
	uint64_t apart = loop_cost(&m, 1, "480FAFC0480FAFC9"), fenced = loop_cost(&m, 1, "480FAFC00FAEE8480FAFC90FAEE8");
	assert_true(fenced >= apart + 2 * 1000 * (m.exec[UC_LFENCE].latency + m.exec[UC_IMUL].latency - 1));
	/* an mfence holds later loads, not later adds */
	m.exec[UC_MFENCE].latency = 23;
	uint64_t loads = loop_cost(&m, 1, "0FAEF0488B06"), more = 0;
	m.exec[UC_MFENCE].latency = 43;
	more = loop_cost(&m, 1, "0FAEF0488B06");
	assert_int_equal(more - loads, 20000);
}

static void test_core_read_ports_limit_cold_registers(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.front_decode_bytes = 64;
	/* lea rax,[r8+r9]; lea rcx,[r10+r11]: four cold registers in one cycle, twice */
	const char *leas = "4B8D04084B8D0C1A";
	m.exec[UC_LEA].port_mask = 0x23;
	m.core_register_reads = 0;
	uint64_t free = loop_cost(&m, 8, leas);
	m.core_register_reads = 3;
	uint64_t three = loop_cost(&m, 8, leas);
	m.core_register_reads = 2;
	uint64_t two = loop_cost(&m, 8, leas);
	assert_true(free < three && three <= two);
	assert_in_range(two, 16000, 18000);
}

static void test_core_uop_cache_takes_over_from_the_decoders(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.front_loop_uops = 0;
	m.front_uop_cache = 1536;
	/* 64 x mov rax, imm64: 3 a window of 32 bytes, so 3 a cycle where the decoders have 1.6 */
	assert_in_range(loop_cost(&m, 64, "48B80100000000000000"), 649000 / 32, 649000 / 32 + 2500);
	/* 5000 bytes of them do not fit in a cache of 8 sets x 8 ways */
	m.front_uop_cache = 384;
	assert_true(loop_cost(&m, 500, "48B80100000000000000") > 5000000 / 18);
	/* windows of 32 NOPs are more than it holds: decoders, four a cycle */
	m.front_uop_cache = 1536;
	struct core_bench *b = open_with(&m);
	core_bench_tap(b, 0, SIG_UOP_CACHE_UOPS, 0, false, false);
	core_bench_emit(b, 512, NOP);
	core_bench_emit(b, 1, RET);
	core_bench_run(b, 1);
	core_bench_run(b, 1);
	assert_true(core_bench_count(b, 0) <= 8);
	core_bench_close(b);
}

static void test_core_locked_operations_cost_their_latency(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.exec[UC_LOCK].latency = 20;
	assert_int_equal(loop_cost(&m, 4, "F0480106"), 80000); /* lock add [rsi], rax */
	m.exec[UC_LOCK].latency = 31;
	assert_int_equal(loop_cost(&m, 4, "F0480106"), 124000);
	/* loads wait for it, adds do not */
	uint64_t alone = loop_cost(&m, 1, "F0480106"), adds = loop_cost(&m, 1, "F04801064801C0");
	assert_int_equal(alone, adds);
}

static void test_core_assists_cost_cycles_and_uops(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* mov eax, 1; movq xmm0, rax; then addsd xmm1, xmm0 with a denormal, again and again */
	uint64_t cycles[2];
	for (unsigned with = 0; with < 2; with++) {
		m.core_fp_assist_cycles = with ? 250 : 150;
		struct core_bench *b = open_with(&m);
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
	/* divsd xmm0, xmm1 with both zero: nothing to divide */
	assert_int_equal(loop_cost(&m, 4, "F20F5EC1"), 28000);
	/* divsd xmm0, xmm2 four times over, independent: the divider is kept for as long as the file says, whatever the latency is */
	m.exec[UC_FP_DIV64] = (struct exec_cost){ 40, 1, 12 };
	m.core_divide_least_cycles = 10;
	assert_int_equal(loop_cost(&m, 4, "F20F5EC4F20F5ECCF20F5ED4F20F5EDC"), 4 * 40000);
	m.exec[UC_FP_DIV64] = (struct exec_cost){ 22, 1, 22 };
	m.core_divide_least_cycles = 0;
	assert_int_equal(loop_cost(&m, 4, "F20F5EC1"), 88000);
}

static void test_core_partial_flags_and_registers_stall_allocation(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* add rax, 1; inc rcx; cmovbe rdx, r8: carry from one, zero from the other */
	const char *flags = "4883C00148FFC1490F46D0", *whole = "48FFC14883C001490F46D0";
	m.core_partial_flags_cycles = 0;
	uint64_t free = loop_cost(&m, 4, flags);
	m.core_partial_flags_cycles = 7;
	uint64_t stalled = loop_cost(&m, 4, flags);
	assert_true(stalled >= free + 4 * 6000);
	assert_in_range(loop_cost(&m, 4, whole), free - 1000, free + 1000);
	/* mov al, 1; add rbx..., rax */
	const char *narrow = "B0014801C2", *wide = "B8010000004801C2";
	m.core_partial_register_cycles = 5;
	uint64_t merged = loop_cost(&m, 4, narrow);
	assert_true(merged >= loop_cost(&m, 4, wide) + 4 * 4000);
	struct core_bench *b = open_with(&m);
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
		cmocka_unit_test(test_core_uop_cache_takes_over_from_the_decoders),
		cmocka_unit_test(test_core_locked_operations_cost_their_latency),
		cmocka_unit_test(test_core_assists_cost_cycles_and_uops),
		cmocka_unit_test(test_core_divides_end_early_with_few_bits),
		cmocka_unit_test(test_core_partial_flags_and_registers_stall_allocation),
		cmocka_unit_test(test_core_chains_run_at_their_latency),
		cmocka_unit_test(test_core_independent_adds_are_limited_by_ports_and_width),
		cmocka_unit_test(test_core_zeroing_is_known_or_waits),
		cmocka_unit_test(test_core_decode_limits_long_instructions),
		cmocka_unit_test(test_core_loop_buffer_hides_the_decoders),
		cmocka_unit_test(test_core_divider_is_busy_as_long_as_it_says),
		cmocka_unit_test(test_core_mispredicts_cost_their_cycles_and_waste_uops),
		cmocka_unit_test(test_core_store_forwarding_costs_what_the_fields_say),
		cmocka_unit_test(test_core_aliased_loads_are_delayed_and_counted),
		cmocka_unit_test(test_core_unknown_store_address_blocks_until_trusted),
		cmocka_unit_test(test_core_reorder_buffer_bounds_what_overlaps),
		cmocka_unit_test(test_core_buffers_bound_what_overlaps),
		cmocka_unit_test(test_core_counts_of_every_cycle_agree),
		cmocka_unit_test(test_core_stall_reasons_add_up_to_the_cycles_without_retirement),
		cmocka_unit_test(test_core_two_runs_are_identical),
		cmocka_unit_test(test_core_fences_order),
		cmocka_unit_test(test_core_read_ports_limit_cold_registers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
