/* The registers that lock the clocks: what is written, what keeps its value, what is restored. Rows on machines whose clocks move are in
 * closed_loop/test_freq_lock_rows.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/core/freq_lock.h"
#include "tests/unit/support/closed_loop.h"

#define PERF_CTL     0x199u
#define MISC_ENABLE  0x1A0u
#define UNCORE_LIMIT 0x620u

static struct loop_run r;

static void test_freq_lock_writes_reads_back_and_restores(void **state)
{
	(void)state;
	static struct freq_locks p;
	static uint64_t before[3][512];
	static const uint32_t registers[] = { MISC_ENABLE, PERF_CTL, UNCORE_LIMIT };
	char *text = loop_built_in_changed("haswell-ep", "fault.uncore_float_ratio=12,fault.uncore_float_range=1");
	loop_open(&r, text);
	unsigned cores = sim_access(r.sim)->cores;
	for (unsigned i = 0; i < COUNT_OF(registers); i++)
		for (unsigned core = 0; core < cores; core++)
			before[i][core] = loop_msr(&r, core, registers[i]);
	assert_int_equal(before[2][0], 12 << 8 | 23);
	freq_lock_clocks(&r.guard.access, &r.cpu, &p);
	assert_int_equal(p.count, 4);
	assert_false(p.hwp);
	for (unsigned core = 0; core < cores; core++) {
		assert_true(loop_msr(&r, core, MISC_ENABLE) >> 38 & 1);
		assert_int_equal(loop_msr(&r, core, PERF_CTL), 1ull << 32 | 23 << 8);
		assert_int_equal(loop_msr(&r, core, UNCORE_LIMIT), 23 << 8 | 23);
	}
	assert_int_equal(loop_lock_of(&p, "turbo", MISC_ENABLE)->set, cores);
	assert_int_equal(loop_lock_of(&p, "turbo", PERF_CTL)->set, cores);
	assert_int_equal(loop_lock_of(&p, "core_ratio", PERF_CTL)->already, cores);
	assert_int_equal(loop_lock_of(&p, "core_ratio", PERF_CTL)->wanted, 23);
	assert_int_equal(loop_lock_of(&p, "uncore_ratio", UNCORE_LIMIT)->found, 12);
	assert_int_equal(loop_lock_of(&p, "uncore_ratio", UNCORE_LIMIT)->set, cores);
	assert_int_equal(r.guard.refused, 0);
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	for (unsigned i = 0; i < COUNT_OF(registers); i++)
		for (unsigned core = 0; core < cores; core++)
			assert_int_equal(loop_msr(&r, core, registers[i]), before[i][core]);
	loop_close(&r);
	free(text);
}

/* A ratio that firmware left low is raised, and restored afterwards. */
static void test_freq_lock_requests_the_base_ratio(void **state)
{
	(void)state;
	static struct freq_locks p;
	loop_open(&r, loop_built_in("skylake-sp"));
	const struct access *a = sim_access(r.sim);
	for (unsigned core = 0; core < a->cores; core++)
		assert_int_equal(a->ops->wrmsr(a->self, core, PERF_CTL, 12 << 8), ST_OK);
	freq_lock_clocks(&r.guard.access, &r.cpu, &p);
	assert_int_equal(loop_msr(&r, 3, PERF_CTL) >> 8 & 0xFF, 25);
	assert_int_equal(loop_lock_of(&p, "core_ratio", PERF_CTL)->found, 12);
	assert_int_equal(loop_lock_of(&p, "core_ratio", PERF_CTL)->set, a->cores);
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	assert_int_equal(loop_msr(&r, 3, PERF_CTL), 12 << 8);
	loop_close(&r);
}

static void test_freq_lock_leaves_a_processor_without_turbo_alone(void **state)
{
	(void)state;
	static struct freq_locks p;
	char *text = loop_built_in_changed("nehalem-ep", "control.turbo_ratio=0");
	loop_open(&r, text);
	freq_lock_clocks(&r.guard.access, &r.cpu, &p);
	assert_int_equal(p.count, 2);
	assert_non_null(p.list[0].absent);
	assert_non_null(p.list[1].absent);
	assert_int_equal(r.guard.count, 0);
	loop_close(&r);
	free(text);
	loop_open(&r, loop_built_in("core2"));
	freq_lock_clocks(&r.guard.access, &r.cpu, &p);
	assert_int_equal(p.count, 0);
	loop_close(&r);
}

/* A thread's request: three equal levels, and whether the package's request applies. */
#define HWP_REQUEST 0x774u
#define HWP_LEVELS(level, from_package) (0x80000000ull | (uint64_t)(from_package) << 42 | (level) * 0x010101ull)

static void test_freq_lock_holds_the_guaranteed_level_where_hwp_is_on(void **state)
{
	(void)state;
	static struct freq_locks p;
	char *text = loop_built_in_changed("skylake-sp", "control.hwp=2,control.hwp_guaranteed=31");
	loop_open(&r, text);
	const struct access *a = sim_access(r.sim);
	assert_int_equal(a->ops->wrmsr(a->self, 2, HWP_REQUEST, 1ull << 42), ST_OK);
	const uint64_t first = loop_msr(&r, 0, HWP_REQUEST), package = loop_msr(&r, 0, 0x772);
	freq_lock_clocks(&r.guard.access, &r.cpu, &p);
	assert_true(p.hwp);
	assert_non_null(loop_lock_of(&p, "core_ratio", PERF_CTL)->absent);
	assert_int_equal(loop_lock_of(&p, "core_ratio", PERF_CTL)->wanted, 25);
	for (unsigned core = 0; core < a->cores; core++)
		assert_int_equal(loop_msr(&r, core, HWP_REQUEST), core == 2 ? 31 * 0x010101 : HWP_LEVELS(31, 0));
	assert_int_equal(loop_lock_of(&p, "hwp", HWP_REQUEST)->set, 1); /* bit 42 */
	assert_int_equal(loop_lock_of(&p, "hwp", HWP_REQUEST)->already, a->cores - 1);
	assert_int_equal(loop_lock_of(&p, "turbo", MISC_ENABLE)->set, a->cores);
	assert_int_equal(r.guard.refused, 0);
	/* no descriptor permits writes to the others */
	for (uint32_t address = 0x770; address <= 0x777; address++)
		if (address != HWP_REQUEST)
			assert_int_equal(r.guard.access.ops->wrmsr(r.guard.access.self, 0, address, 1), ST_REFUSED);
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	assert_int_equal(loop_msr(&r, 0, HWP_REQUEST), first);
	assert_int_equal(loop_msr(&r, 2, HWP_REQUEST), 1ull << 42);
	assert_int_equal(loop_msr(&r, 0, 0x772), package);
	assert_int_equal(loop_msr(&r, 0, 0x770), 1);
	loop_close(&r);
	free(text);
	/* Where the level cannot be read, none is requested, and that is reported. */
	text = loop_built_in_changed("skylake-sp", "control.hwp=2,fault.msr_missing=0x771");
	loop_open(&r, text);
	freq_lock_clocks(&r.guard.access, &r.cpu, &p);
	for (unsigned i = 0; i < p.count; i++)
		if (!strcmp(p.list[i].lock->name, "hwp") && p.list[i].lock->low != 42)
			assert_int_equal(p.list[i].refused, sim_access(r.sim)->cores);
	assert_int_equal(loop_msr(&r, 0, HWP_REQUEST), first + (38 - 31 * 38 / 25) * 256);
	loop_close(&r);
	free(text);
}

static void test_freq_lock_never_switches_hwp_on(void **state)
{
	(void)state;
	static struct freq_locks p;
	loop_open(&r, loop_built_in("skylake-sp"));
	freq_lock_clocks(&r.guard.access, &r.cpu, &p);
	assert_false(p.hwp);
	assert_string_equal(loop_lock_of(&p, "hwp", HWP_REQUEST)->absent, "HWP is off");
	assert_int_equal(loop_lock_of(&p, "core_ratio", PERF_CTL)->already, sim_access(r.sim)->cores);
	assert_int_equal(loop_msr(&r, 0, 0x770), 0);
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	loop_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_freq_lock_writes_reads_back_and_restores),
		cmocka_unit_test(test_freq_lock_requests_the_base_ratio),
		cmocka_unit_test(test_freq_lock_leaves_a_processor_without_turbo_alone),
		cmocka_unit_test(test_freq_lock_holds_the_guaranteed_level_where_hwp_is_on),
		cmocka_unit_test(test_freq_lock_never_switches_hwp_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
