/* pmu/counters/counters.c: exact sequences of register writes, on an array of registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/counters/counters.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/text.h"
#include "tests/unit/support/fake_access.h"
#include "tests/unit/support/table_find.h"

struct bench { struct fake fake; struct cpu cpu; struct msr_guard guard; struct msr_guard_saved saved[64]; };

static struct bench *nehalem(void)
{
	static struct bench b;
	fake_init(&b.fake, 1);
	for (uint32_t i = 0; i < 4; i++) {
		fake_msr(&b.fake, 0, 0x186 + i, i == 2 ? 0x5300C0 : 0);
		fake_msr(&b.fake, 0, 0xC1 + i, 77 + i);
	}
	for (uint32_t m = 0x309; m <= 0x30B; m++)
		fake_msr(&b.fake, 0, m, 5);
	fake_msr(&b.fake, 0, 0x1A6, 0);
	fake_msr(&b.fake, 0, 0x1D9, 1);
	fake_msr(&b.fake, 0, 0x38D, 0);
	fake_msr(&b.fake, 0, 0x38E, 0x2000000200000005ull);
	fake_msr(&b.fake, 0, 0x38F, 0xF);
	fake_msr(&b.fake, 0, 0x390, 0);
	fake_msr(&b.fake, 0, 0x3F1, 0);
	fake_msr(&b.fake, 0, 0x3F6, 0);
	b.cpu = (struct cpu){ .pmu_version = 3, .general_counters = 4, .general_width = 48, .general_mask = 0xF,
	                      .fixed_counters = 3, .fixed_width = 48, .fixed_mask = 7, .pebs = true, .processor = processor_named("nehalem-ep") };
	msr_guard_init(&b.guard, &b.fake.access, b.cpu.processor, b.saved, COUNT_OF(b.saved));
	return &b;
}

static void plan_of(struct bench *b, struct plan *plan, const char *const *names, unsigned n)
{
	const struct event *events[PLAN_EVENTS_MAX];
	const char *problem;
	for (unsigned i = 0; i < n; i++) {
		events[i] = event_find(b->cpu.processor, names[i]);
		assert_non_null(events[i]);
	}
	assert_int_equal(plan_events(&b->cpu, events, n, plan, &problem), ST_OK);
}

static void expect_writes(const struct fake *f, const struct msr_value *want, unsigned n)
{
	for (unsigned i = 0; i < n && i < f->log_count; i++) {
		if (f->log[i].msr != want[i].msr || f->log[i].value != want[i].value)
			fail_msg("write %u is %x = %llx, must be %x = %llx", i, f->log[i].msr, (unsigned long long)f->log[i].value,
			         want[i].msr, (unsigned long long)want[i].value);
	}
	assert_int_equal(f->log_count, n);
}

/* In order: counters off, the sequence of erratum AAK100 (written out here from the specification update), selects
 * off, overflow cleared, fixed counters zeroed, events programmed, counters on. */
static void test_counters_start_on_nehalem_is_this_sequence(void **state)
{
	(void)state;
	struct bench *b = nehalem();
	struct plan plan;
	static const char *const names[] = { "CPU_CLK_UNHALTED.THREAD", "MEM_LOAD_RETIRED.L2_HIT", "L1D.REPL" };
	static const struct msr_value want[] = {
		{ 0x3F1, 0 }, { 0x38F, 0 },
		{ 0x186, 0x4300B5 }, { 0x187, 0x4300D2 }, { 0x188, 0x4300B1 }, { 0x189, 0x4300B1 },
		{ 0xC1, 0 }, { 0xC2, 0 }, { 0xC3, 0 }, { 0xC4, 0 }, { 0x38F, 0xF }, { 0x38F, 0 },
		{ 0x186, 0 }, { 0xC1, 0 }, { 0x187, 0 }, { 0xC2, 0 }, { 0x188, 0 }, { 0xC3, 0 }, { 0x189, 0 }, { 0xC4, 0 },
		{ 0x186, 0 }, { 0x187, 0 }, { 0x188, 0 }, { 0x189, 0 }, { 0x38D, 0 },
		{ 0x390, 0x200000005ull },
		{ 0x309, 0 }, { 0x30A, 0 }, { 0x30B, 0 },
		{ 0xC1, 0 }, { 0x186, 0x4202CB }, { 0xC2, 0 }, { 0x187, 0x420151 },
		{ 0x38D, 0x111 }, { 0x38F, 0x700000003ull },
	};
	plan_of(b, &plan, names, 3);
	assert_int_equal(plan.runs, 1);
	assert_true(plan.slots[0].fixed);
	assert_int_equal(plan.slots[0].rdpmc_index, 0x40000001);
	assert_int_equal(counters_start(&b->guard.access, &b->cpu, &plan, 0, 0), ST_OK);
	expect_writes(&b->fake, want, COUNT_OF(want));
	assert_int_equal(b->guard.refused, 0);
}

static void test_counters_stop_and_restore_leave_what_was_found(void **state)
{
	(void)state;
	struct bench *b = nehalem();
	struct plan plan;
	static const char *const names[] = { "UOPS_ISSUED.ANY" };
	static const struct msr_value off[] = {
		{ 0x3F1, 0 }, { 0x38F, 0 }, { 0x186, 0 }, { 0x187, 0 }, { 0x188, 0 }, { 0x189, 0 }, { 0x38D, 0 },
	};
	plan_of(b, &plan, names, 1);
	assert_int_equal(counters_start(&b->guard.access, &b->cpu, &plan, 0, 0), ST_OK);
	b->fake.log_count = 0;
	assert_int_equal(counters_stop(&b->guard.access, &b->cpu, &plan, 0, 0), ST_OK);
	expect_writes(&b->fake, off, COUNT_OF(off));
	assert_int_equal(msr_guard_restore(&b->guard), ST_OK);
	assert_int_equal(fake_value(&b->fake, 0, 0x188), 0x5300C0);
	assert_int_equal(fake_value(&b->fake, 0, 0x38F), 0xF);
}

static void test_counters_leave_smm_out_where_the_processor_can(void **state)
{
	(void)state;
	struct bench *b = nehalem();
	struct plan plan;
	static const char *const names[] = { "UOPS_ISSUED.ANY" };
	b->cpu.perf_capabilities = 1u << 12;
	fake_msr(&b->fake, 0, 0x1D9, 0x1801);
	plan_of(b, &plan, names, 1);
	assert_int_equal(counters_start(&b->guard.access, &b->cpu, &plan, 0, 0), ST_OK);
	assert_int_equal(fake_value(&b->fake, 0, 0x1D9), 0x4801);
}

/* Ice Lake's fourth fixed counter counts slots: it is zeroed and enabled if the plan has its event, otherwise not touched. */
static void test_counters_of_a_fourth_fixed_counter_count_where_the_plan_asks(void **state)
{
	(void)state;
	static const char *const slots[] = { "TOPDOWN.SLOTS", "INST_RETIRED.ANY" }, *const other[] = { "INST_RETIRED.ANY" };
	struct bench *b = nehalem();
	struct plan plan;
	b->cpu.processor = processor_named("ice-lake-sp");
	b->cpu.pmu_version = 5;
	b->cpu.fixed_mask = 0xF;
	msr_guard_init(&b->guard, &b->fake.access, b->cpu.processor, b->saved, COUNT_OF(b->saved));
	fake_msr(&b->fake, 0, 0x30C, 5);
	plan_of(b, &plan, slots, 2);
	assert_int_equal(plan.slots[0].rdpmc_index, 0x40000003);
	assert_int_equal(counters_start(&b->guard.access, &b->cpu, &plan, 0, 0), ST_OK);
	assert_int_equal(fake_value(&b->fake, 0, 0x30C), 0);
	assert_int_equal(fake_value(&b->fake, 0, 0x38D), 0x1111);
	assert_int_equal(fake_value(&b->fake, 0, 0x38F), 0xF00000000ull);
	fake_msr(&b->fake, 0, 0x30C, 5);
	plan_of(b, &plan, other, 1);
	assert_int_equal(counters_start(&b->guard.access, &b->cpu, &plan, 0, 0), ST_OK);
	assert_int_equal(fake_value(&b->fake, 0, 0x30C), 5);
	assert_int_equal(fake_value(&b->fake, 0, 0x38D), 0x111);
	assert_int_equal(fake_value(&b->fake, 0, 0x38F), 0x700000000ull);
}

/* A Zen with the first or the second version of the counters, told by CPUID alone: only the second has leaf 0x80000022. */
static void zen(struct bench *b, bool second)
{
	static const struct fake_leaf first_leaves[] = { { 0, 0, { 1, 0x68747541, 0x444D4163, 0x69746E65 } }, { 1, 0, { 0x00800F12, 0, 0, 0 } },
		{ 0x80000000u, 0, { 0x8000001F, 0, 0, 0 } }, { 0x80000001u, 0, { 0, 0, 1u << 23, 0 } } };
	static const struct fake_leaf second_leaves[] = { { 0, 0, { 1, 0x68747541, 0x444D4163, 0x69746E65 } }, { 1, 0, { 0x00A10F11, 0, 0, 0 } },
		{ 0x80000000u, 0, { 0x80000028, 0, 0, 0 } }, { 0x80000001u, 0, { 0, 0, 1u << 23, 0 } }, { 0x80000022u, 0, { 1, 6, 0, 0 } } };
	fake_init(&b->fake, 1);
	b->fake.leaves = second ? second_leaves : first_leaves;
	b->fake.leaf_count = second ? COUNT_OF(second_leaves) : COUNT_OF(first_leaves);
	for (uint32_t i = 0; i < 12; i++)
		fake_msr(&b->fake, 0, 0xC0010200u + i, i == 4 ? 0x5300C0 : 9);
	if (second) {
		fake_msr(&b->fake, 0, 0xC0000300u, 0x5);
		fake_msr(&b->fake, 0, 0xC0000301u, 0x3F);
		fake_msr(&b->fake, 0, 0xC0000302u, 0);
	}
	assert_int_equal(cpu_identify(&b->fake.access, &b->cpu), ST_OK);
	assert_null(b->cpu.pmu_absent);
	msr_guard_init(&b->guard, &b->fake.access, b->cpu.processor, b->saved, COUNT_OF(b->saved));
	counters_answer(&b->guard.access, &b->cpu, 0);
	assert_int_equal(b->cpu.general_mask, 0x3F);
	b->fake.log_count = 0;
}

static void test_counters_start_on_zen_4_is_this_sequence(void **state)
{
	(void)state;
	static struct bench b;
	struct plan plan;
	static const char *const names[] = { "LS_NOT_HALTED_CYC", "EX_RET_INSTR", "IC_TAG_HIT_MISS.INSTRUCTION_CACHE_MISS" };
	static const struct msr_value want[] = {
		{ 0xC0000301, 0 },
		{ 0xC0010200, 0 }, { 0xC0010202, 0 }, { 0xC0010204, 0 }, { 0xC0010206, 0 }, { 0xC0010208, 0 }, { 0xC001020A, 0 },
		{ 0xC0000302, 0x5 },
		{ 0xC0010201, 0 }, { 0xC0010200, 0x420076 }, { 0xC0010203, 0 }, { 0xC0010202, 0x4200C0 },
		{ 0xC0010205, 0 }, { 0xC0010204, 0x10042188Eull }, /* event 0x18E: bits 11:8 in 35:32; units 0x18 */
		{ 0xC0000301, 0x7 },
	};
	zen(&b, true);
	assert_string_equal(b.cpu.processor->name, "zen4");
	assert_int_equal(b.cpu.pmu_version, 2);
	plan_of(&b, &plan, names, 3);
	assert_int_equal(counters_start(&b.guard.access, &b.cpu, &plan, 0, 0), ST_OK);
	expect_writes(&b.fake, want, COUNT_OF(want));
	b.fake.log_count = 0;
	assert_int_equal(counters_stop(&b.guard.access, &b.cpu, &plan, 0, 0), ST_OK);
	assert_int_equal(fake_value(&b.fake, 0, 0xC0000301u), 0);
	assert_int_equal(msr_guard_restore(&b.guard), ST_OK);
	assert_int_equal(fake_value(&b.fake, 0, 0xC0000301u), 0x3F);
	assert_int_equal(fake_value(&b.fake, 0, 0xC0010204u), 0x5300C0);
	assert_int_equal(b.guard.refused, 0);
	uint64_t gate;
	assert_int_equal(counters_hold(&b.guard.access, &b.cpu, 0, &gate), ST_UNSUPPORTED);
}

static void test_counters_on_zen_touch_no_global_register(void **state)
{
	(void)state;
	static struct bench b;
	struct plan plan;
	static const char *const names[] = { "LS_NOT_HALTED_CYC" };
	static const struct msr_value want[] = {
		{ 0xC0010200, 0 }, { 0xC0010202, 0 }, { 0xC0010204, 0 }, { 0xC0010206, 0 }, { 0xC0010208, 0 }, { 0xC001020A, 0 },
		{ 0xC0010201, 0 }, { 0xC0010200, 0x420076 },
	};
	zen(&b, false);
	assert_string_equal(b.cpu.processor->name, "zen1");
	assert_int_equal(b.cpu.pmu_version, 1);
	plan_of(&b, &plan, names, 1);
	assert_int_equal(counters_start(&b.guard.access, &b.cpu, &plan, 0, 0), ST_OK);
	expect_writes(&b.fake, want, COUNT_OF(want));
	assert_int_equal(counter_write(&b.guard.access, &b.cpu, 0, 5, 0xFFFFFFFFFFFFull), ST_OK);
	assert_int_equal(fake_value(&b.fake, 0, 0xC001020Bu), 0xFFFFFFFFFFFFull);
}

static void test_counter_write_respects_what_a_legacy_write_can_do(void **state)
{
	(void)state;
	struct bench *b = nehalem();
	assert_int_equal(counter_write(&b->guard.access, &b->cpu, 0, 1, 0x7FFFFFFF), ST_OK);
	assert_int_equal(fake_value(&b->fake, 0, 0xC2), 0x7FFFFFFF);
	assert_int_equal(counter_write(&b->guard.access, &b->cpu, 0, 1, 0xFFFF80000000ull), ST_OK);
	assert_int_equal(fake_value(&b->fake, 0, 0xC2), 0x80000000); /* the processor copies bit 31 upwards */
	assert_int_equal(counter_write(&b->guard.access, &b->cpu, 0, 1, 0x80000000), ST_RANGE);
	assert_int_equal(counter_write(&b->guard.access, &b->cpu, 0, 1, 1ull << 48), ST_RANGE);
	assert_int_equal(counter_write(&b->guard.access, &b->cpu, 0, 4, 0), ST_RANGE);
	b->cpu.perf_capabilities = 1u << 13;
	b->cpu.processor = processor_named("intel");
	msr_guard_init(&b->guard, &b->fake.access, b->cpu.processor, b->saved, COUNT_OF(b->saved));
	fake_msr(&b->fake, 0, 0x4C2, 0);
	assert_int_equal(counter_write(&b->guard.access, &b->cpu, 0, 1, 0x80000000), ST_OK);
	assert_int_equal(fake_value(&b->fake, 0, 0x4C2), 0x80000000);
}

/* Version 1 has no global control: the enable bit alone starts and stops. */
static void test_counters_version_1_touches_no_global_register(void **state)
{
	(void)state;
	static struct bench b;
	struct plan plan;
	static const char *const names[] = { "INST_RETIRED.ANY", "CPU_CLK_UNHALTED.THREAD" };
	static const struct msr_value on[] = {
		{ 0x186, 0 }, { 0x187, 0 }, { 0xC1, 0 }, { 0x186, 0x4200C0 }, { 0xC2, 0 }, { 0x187, 0x42003C },
	};
	fake_init(&b.fake, 1);
	for (uint32_t i = 0; i < 2; i++) {
		fake_msr(&b.fake, 0, 0x186 + i, 0);
		fake_msr(&b.fake, 0, 0xC1 + i, 0);
	}
	b.cpu = (struct cpu){ .pmu_version = 1, .general_counters = 2, .general_width = 40, .general_mask = 3,
	                      .processor = processor_named("intel") };
	msr_guard_init(&b.guard, &b.fake.access, b.cpu.processor, b.saved, COUNT_OF(b.saved));
	plan_of(&b, &plan, names, 2);
	assert_int_equal(counters_start(&b.guard.access, &b.cpu, &plan, 0, 0), ST_OK);
	expect_writes(&b.fake, on, COUNT_OF(on));
	assert_int_equal(counters_stop(&b.guard.access, &b.cpu, &plan, 0, 0), ST_OK);
	assert_int_equal(fake_value(&b.fake, 0, 0x186), 0);
	assert_int_equal(fake_value(&b.fake, 0, 0x187), 0);
}

static void test_counters_without_a_pmu_say_so(void **state)
{
	(void)state;
	struct bench *b = nehalem();
	struct plan plan = { .runs = 1 };
	b->cpu.pmu_version = 0;
	assert_int_equal(counters_start(&b->guard.access, &b->cpu, &plan, 0, 0), ST_OK);
	plan.count = 1;
	assert_int_equal(counters_start(&b->guard.access, &b->cpu, &plan, 0, 0), ST_UNSUPPORTED);
	assert_int_equal(counters_start(&b->guard.access, &b->cpu, &plan, 1, 0), ST_RANGE);
	assert_int_equal(b->fake.log_count, 0);
}

static void test_counters_pass_on_a_fault(void **state)
{
	(void)state;
	struct bench *b = nehalem();
	struct plan plan;
	static const char *const names[] = { "UOPS_ISSUED.ANY" };
	plan_of(b, &plan, names, 1);
	for (unsigned n = 1; n < 33; n++) {
		b = nehalem();
		b->fake.fault_after = n;
		assert_int_equal(counters_start(&b->guard.access, &b->cpu, &plan, 0, 0), ST_FAULT);
		b->fake.fault_after = 0;
		assert_int_equal(msr_guard_restore(&b->guard), ST_OK);
		assert_int_equal(fake_value(&b->fake, 0, 0x38F), 0xF);
		assert_int_equal(fake_value(&b->fake, 0, 0x188), 0x5300C0);
	}
}

static void test_counters_that_firmware_left_on_are_found_and_excluded(void **state)
{
	(void)state;
	struct bench *b = nehalem();
	struct firmware_counter list[FIRMWARE_COUNTERS_MAX];
	unsigned n;
	fake_msr(&b->fake, 0, 0x38D, 0x0B0);
	assert_int_equal(counters_firmware_check(&b->guard.access, &b->cpu, 0, list, &n), ST_OK);
	assert_int_equal(n, 2);
	assert_false(list[0].fixed);
	assert_int_equal(list[0].counter, 2);
	assert_int_equal(list[0].control, 0x5300C0);
	assert_true(list[1].fixed);
	assert_int_equal(list[1].counter, 1);
	assert_int_equal(list[1].control, 3);
	assert_int_equal(fake_value(&b->fake, 0, 0x188), 0);
	assert_int_equal(fake_value(&b->fake, 0, 0x38D), 0);
	fake_msr(&b->fake, 0, 0x188, 0x5300C0); /* set again from outside */
	assert_int_equal(counters_firmware_recheck(&b->guard.access, &b->cpu, 0, list, n), ST_OK);
	assert_true(list[0].returned);
	assert_false(list[1].returned);
	assert_int_equal(b->cpu.general_mask, 0xB);
	assert_int_equal(b->cpu.fixed_mask, 7);
}

static void test_counters_that_keep_no_value_are_not_used(void **state)
{
	(void)state;
	struct bench *b = nehalem();
	assert_int_equal(counters_verify(&b->guard.access, &b->cpu, 0), ST_OK);
	assert_int_equal(b->cpu.general_mask, 0xF);
	fake_find(&b->fake, 0, 0xC3)->stuck = true;
	assert_int_equal(counters_verify(&b->guard.access, &b->cpu, 0), ST_OK);
	assert_int_equal(b->cpu.general_mask, 0xB);
	assert_int_equal(b->cpu.pmu_version, 3);
	for (uint32_t i = 0; i < 4; i++)
		fake_find(&b->fake, 0, 0xC1 + i)->stuck = true;
	assert_int_equal(counters_verify(&b->guard.access, &b->cpu, 0), ST_OK);
	assert_int_equal(b->cpu.pmu_version, 0);
	assert_non_null(b->cpu.pmu_absent);
}

static void test_counters_count_no_event_whose_register_does_not_answer(void **state)
{
	(void)state;
	struct bench *b = nehalem();
	const struct event *beyond = event_find(b->cpu.processor, "OFFCORE_RESPONSE_0.DATA_IFETCH.LOCAL_DRAM");
	struct plan plan;
	const char *problem;
	assert_non_null(beyond);
	assert_int_equal(counters_verify(&b->guard.access, &b->cpu, 0), ST_OK);
	assert_int_equal(b->cpu.extras_absent[0], 0);
	assert_int_equal(plan_events(&b->cpu, &beyond, 1, &plan, &problem), ST_OK);
	fake_find(&b->fake, 0, 0x1A6)->number = 0x7FFF;
	assert_int_equal(counters_verify(&b->guard.access, &b->cpu, 0), ST_OK);
	assert_int_equal(b->cpu.extras_absent[0], 0x1A6);
	assert_int_equal(b->cpu.extras_absent[1], 0);
	assert_int_equal(plan_events(&b->cpu, &beyond, 1, &plan, &problem), ST_UNSUPPORTED);
	assert_string_equal(problem, beyond->name);
	assert_true(plan_extra_absent(&b->cpu, beyond));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters_start_on_nehalem_is_this_sequence),
		cmocka_unit_test(test_counters_stop_and_restore_leave_what_was_found),
		cmocka_unit_test(test_counters_leave_smm_out_where_the_processor_can),
		cmocka_unit_test(test_counters_of_a_fourth_fixed_counter_count_where_the_plan_asks),
		cmocka_unit_test(test_counters_start_on_zen_4_is_this_sequence),
		cmocka_unit_test(test_counters_on_zen_touch_no_global_register),
		cmocka_unit_test(test_counter_write_respects_what_a_legacy_write_can_do),
		cmocka_unit_test(test_counters_version_1_touches_no_global_register),
		cmocka_unit_test(test_counters_without_a_pmu_say_so),
		cmocka_unit_test(test_counters_pass_on_a_fault),
		cmocka_unit_test(test_counters_that_firmware_left_on_are_found_and_excluded),
		cmocka_unit_test(test_counters_that_keep_no_value_are_not_used),
		cmocka_unit_test(test_counters_count_no_event_whose_register_does_not_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
