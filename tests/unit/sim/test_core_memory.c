/* pmu/sim/core/core_memory.c: loads behind stores, bounds on what is in flight, fences and locks, against the machine's fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rigs/core_bench.h"

#define NOP "90"
#define RET "C3"

static void test_core_store_forwarding_costs_what_the_fields_say(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.store_forward_cycles = 5;
	/* mov [rsi], rax; mov rax, [rsi]: the store's data, then the forwarding */
	uint64_t whole = core_bench_loop_cost(&m, 4, "488906488B06");
	assert_int_equal(whole, 4 * 1000 * (5 + m.exec[UC_STD].latency));
	m.store_forward_cycles = 9;
	assert_int_equal(core_bench_loop_cost(&m, 4, "488906488B06"), 4 * 1000 * (9 + m.exec[UC_STD].latency));
	/* mov [rsi], eax; mov [rsi + 4], eax; mov rax, [rsi]: the load waits for the commit */
	m.store_forward_fail_cycles = 12;
	const char *fails = "8906894604488B06";
	uint64_t failed = core_bench_loop_cost(&m, 2, fails);
	m.store_forward_fail_cycles = 20;
	assert_int_equal(core_bench_loop_cost(&m, 2, fails) - failed, 16000);
	assert_true(failed > 2 * 13000);
}

static void test_core_aliased_loads_are_delayed_and_counted(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.store_alias_cycles = 5;
	/* mov [rsi], rdx; mov rax, [rsi + rax + 0x1000]: a chain of loads of 0 that alias the store */
	const char *alias = "488916488B840600100000", *apart = "488916488B840640100000";
	uint64_t with = core_bench_loop_cost(&m, 4, alias), without = core_bench_loop_cost(&m, 4, apart);
	assert_int_equal(without, 4 * 1000 * m.l1d_cycles);
	assert_int_equal(with, 4 * 1000 * (m.l1d_cycles + 5));
}

static void test_core_unknown_store_address_blocks_until_trusted(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* An imul chain computes a store's address; an independent load follows and feeds the next address. RCX is always 0.
	 * imul rcx, rcx x4; mov [rsi + rcx + 512], rdx; mov rcx, [rsi + 64] */
	const char *body = "480FAFC9480FAFC9480FAFC9480FAFC94889940E00020000488B4E40";
	m.store_disambiguation = 0;
	uint64_t blocked = core_bench_loop_cost(&m, 1, body);
	m.store_disambiguation = 1;
	uint64_t trusted = core_bench_loop_cost(&m, 1, body);
	/* blocked: imuls, store address and load in series */
	assert_in_range(blocked, 1000 * (4 * 3 + 1 + m.l1d_cycles), 1000 * (4 * 3 + 3 + m.l1d_cycles));
	assert_true(trusted < 8000);
	/* a store to the load's bytes: a load that passed it would clear the machine */
	struct core_bench *b = core_bench_open(&m);
	unsigned top = core_bench_here(b);
	core_bench_emit(b, 1, "480FAFC9480FAFC9480FAFC9480FAFC94889940E40000000488B4640");
	core_bench_loop(b, top);
	core_bench_emit(b, 1, RET);
	core_bench_tap(b, 0, SIG_MACHINE_CLEAR_MEMORY, 0, false, false);
	core_bench_tap(b, 1, SIG_STORE_FORWARDS, 0, false, false);
	core_bench_run(b, 500);
	assert_int_equal(core_bench_count(b, 0), 0); /* never trusted: every instance of the load would be wrong */
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
		struct core_bench *b = core_bench_open(&m);
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
	struct core_bench *b = core_bench_open(&m);
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

static void test_core_fences_order_what_they_name(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	/* an lfence between two independent imuls serialises them */
	uint64_t apart = core_bench_loop_cost(&m, 1, "480FAFC0480FAFC9"), fenced = core_bench_loop_cost(&m, 1, "480FAFC00FAEE8480FAFC90FAEE8");
	assert_true(fenced >= apart + 2 * 1000 * (m.exec[UC_LFENCE].latency + m.exec[UC_IMUL].latency - 1));
	/* an mfence holds later loads, not later adds */
	m.exec[UC_MFENCE].latency = 23;
	uint64_t loads = core_bench_loop_cost(&m, 1, "0FAEF0488B06"), more = 0;
	m.exec[UC_MFENCE].latency = 43;
	more = core_bench_loop_cost(&m, 1, "0FAEF0488B06");
	assert_int_equal(more - loads, 20000);
}

static void test_core_locked_operations_cost_their_latency(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.exec[UC_LOCK].latency = 20;
	assert_int_equal(core_bench_loop_cost(&m, 4, "F0480106"), 80000); /* lock add [rsi], rax */
	m.exec[UC_LOCK].latency = 31;
	assert_int_equal(core_bench_loop_cost(&m, 4, "F0480106"), 124000);
	/* loads wait for it, adds do not */
	uint64_t alone = core_bench_loop_cost(&m, 1, "F0480106"), adds = core_bench_loop_cost(&m, 1, "F04801064801C0");
	assert_int_equal(alone, adds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core_store_forwarding_costs_what_the_fields_say),
		cmocka_unit_test(test_core_aliased_loads_are_delayed_and_counted),
		cmocka_unit_test(test_core_unknown_store_address_blocks_until_trusted),
		cmocka_unit_test(test_core_reorder_buffer_bounds_what_overlaps),
		cmocka_unit_test(test_core_buffers_bound_what_overlaps),
		cmocka_unit_test(test_core_fences_order_what_they_name),
		cmocka_unit_test(test_core_locked_operations_cost_their_latency),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
