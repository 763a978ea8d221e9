/* Rows on machines whose clocks move unless they are locked: turbo mode, the uncore's and the ring's clock, HWP. The registers themselves are in
 * pmu/test_freq_lock.c. */
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
#include "tests/unit/support/loop_meets.h"

#define PERF_CTL     0x199u
#define MISC_ENABLE  0x1A0u
#define UNCORE_LIMIT 0x620u
#define ROWS "load.l1.latency,load.l2.latency,load.l3.latency"

static struct loop_run r;

/* Every row has this status and, if it is `ok`, the machine's true value. */
static void all_rows(const char *machine, const char *changes, const char *which, enum row_status status)
{
	char *text = loop_built_in_changed(machine, changes);
	unsigned missed = 0;
	loop_open(&r, text);
	loop_suite(&r, which);
	for (unsigned i = 0; i < r.sum.rows; i++)
		if (r.host.results[i].status != status)
			fail_msg("%s, %s: %s is %s: %s", machine, changes, r.host.results[i].name, row_status_name(r.host.results[i].status), r.host.results[i].reason);
	assert_true(r.sum.rows > 0);
	if (status == ROW_OK) {
		assert_int_equal(loop_meets(&r, text, &missed), r.sum.rows);
		assert_int_equal(r.sum.disturbances.clock, 0);
	}
	free(text);
}

static void test_freq_lock_turbo_off_keeps_the_clock(void **state)
{
	(void)state;
	static const char turbo[] = "fault.ratio_period_us=30,fault.ratio_other=16,fault.ratio_turbo=1";
	static const char locked[] = "fault.ratio_period_us=30,fault.ratio_other=16,fault.ratio_turbo=1,fault.turbo_locked=1";
	all_rows("nehalem-ep", turbo, ROWS, ROW_OK);
	assert_int_equal(loop_lock_of(&r.sum.locks, "turbo", MISC_ENABLE)->set, 8);
	assert_non_null(strstr(memory_host_file(&r.host, "results.json"),
		"\"hwp\": false, \"pinned\": [{\"name\": \"turbo\", \"msr\": \"0x1a0\", \"bits\": [38, 38], \"found\": 0, \"wanted\": 1, "
		"\"already\": 0, \"set\": 8, \"refused\": 0}"));
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	assert_int_equal(loop_msr(&r, 0, MISC_ENABLE) >> 38 & 1, 0);
	loop_close(&r);
	/* Firmware has locked turbo mode: the clock moves, no row is ok, and the results report the refusals. */
	all_rows("nehalem-ep", locked, ROWS, ROW_NOISY);
	assert_int_equal(loop_lock_of(&r.sum.locks, "turbo", MISC_ENABLE)->refused, 8);
	assert_int_equal(loop_lock_of(&r.sum.locks, "turbo", PERF_CTL)->refused, 8);
	assert_true(r.sum.disturbances.clock > 0);
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	loop_close(&r);
}

static void test_freq_lock_uncore_limits_keep_the_uncore_clock(void **state)
{
	(void)state;
	static const char range[] = "fault.uncore_float_ratio=12,fault.uncore_float_range=1";
	static const char missing[] = "fault.uncore_float_ratio=12,fault.uncore_float_range=1,fault.msr_missing=0x620";
	static const char unwatched[] = "fault.uncore_float_ratio=12,fault.uncore_float_range=1,fault.msr_missing=0x620,pmu.uncore=none";
	all_rows("haswell-ep", range, "load.l3.latency", ROW_OK);
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	assert_int_equal(loop_msr(&r, 0, UNCORE_LIMIT), 12 << 8 | 23);
	loop_close(&r);
	/* The uncore's clock counter shows that the clock moves; without that counter nothing does. */
	static const struct { const char *what, *reason; } unlocked[] = { { missing, "the uncore clock moved" }, { unwatched, "could not be pinned" } };
	for (unsigned i = 0; i < COUNT_OF(unlocked); i++) {
		char *text = loop_built_in_changed("haswell-ep", unlocked[i].what);
		loop_open(&r, text);
		loop_suite(&r, "load.l3.latency");
		assert_int_equal(loop_lock_of(&r.sum.locks, "uncore_ratio", UNCORE_LIMIT)->refused, sim_access(r.sim)->cores);
		assert_int_equal(r.host.results[0].status, ROW_UNPROVEN);
		assert_non_null(strstr(r.host.results[0].reason, unlocked[i].reason));
		loop_close(&r);
		free(text);
	}
}

/* On Broadwell-EP, Cascade Lake, Ice Lake-SP and Sapphire Rapids load.l3.latency was 66 cycles instead of 41, and `ok`, with a floating uncore clock.
 * Turbo mode and prefetchers are switched off too, or the rows would not be proved. */
static void test_freq_lock_keeps_the_clocks_of_later_servers(void **state)
{
	(void)state;
	static const struct { const char *machine, *model; } servers[] = {
		{ "broadwell-ep", "" }, { "skylake-sp", ",cpuid.stepping=7" }, { "ice-lake-sp", "" }, { "sapphire-rapids", "" } };
	for (unsigned i = 0; i < COUNT_OF(servers); i++) {
		char changes[200];
		snprintf(changes, sizeof(changes), "fault.uncore_float_ratio=12,fault.uncore_float_us=3000,fault.uncore_float_range=1,"
		         "fault.ratio_period_us=30,fault.ratio_other=16,fault.ratio_turbo=1%s", servers[i].model);
		all_rows(servers[i].machine, changes, "load.l3.latency,load.dram_local.latency", ROW_OK);
		assert_int_equal(loop_lock_of(&r.sum.locks, "uncore_ratio", UNCORE_LIMIT)->refused, 0);
		assert_int_equal(loop_lock_of(&r.sum.locks, "turbo", MISC_ENABLE)->set, sim_access(r.sim)->cores);
		assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
		assert_int_equal(loop_msr(&r, 0, UNCORE_LIMIT) >> 8, 12);
		assert_int_equal(loop_msr(&r, 0, MISC_ENABLE) >> 38 & 1, 0);
		loop_close(&r);
	}
}

/* A client's ring clock is locked if its register answers; otherwise no row of the ring is ok. */
static void test_freq_lock_keeps_the_ring_clock_of_clients(void **state)
{
	(void)state;
	static const char *const machines[] = { "skylake", "alder-lake" };
	for (unsigned i = 0; i < COUNT_OF(machines); i++) {
		all_rows(machines[i], "fault.uncore_float_ratio=12,fault.uncore_float_us=3000,fault.uncore_float_range=1", "load.l3.latency", ROW_OK);
		assert_int_equal(loop_lock_of(&r.sum.locks, "uncore_ratio", UNCORE_LIMIT)->refused, 0);
		assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
		assert_int_equal(loop_msr(&r, 0, UNCORE_LIMIT) >> 8, 12);
		loop_close(&r);
	}
	all_rows("skylake", "fault.uncore_float_ratio=12,fault.uncore_float_us=3000,fault.uncore_float_range=1,fault.msr_missing=0x620", "load.l3.latency", ROW_UNPROVEN);
	loop_close(&r);
}

/* With HWP the processor chooses its clock, unless the request leaves it a single level. */
static void test_freq_lock_hwp_request_keeps_the_clock(void **state)
{
	(void)state;
	static const char hwp[] = "fault.ratio_period_us=30,fault.ratio_other=16,fault.ratio_hwp=1";
	static const char locked[] = "fault.ratio_period_us=30,fault.ratio_other=16,fault.ratio_hwp=1,fault.hwp_locked=1";
	static const char other[] = "fault.ratio_period_us=1000000,fault.ratio_other=16,fault.ratio_hwp=1,fault.hwp_locked=1,clock.core_ratio=21";
	all_rows("ice-lake-sp", hwp, ROWS, ROW_OK);
	assert_non_null(strstr(memory_host_file(&r.host, "results.json"),
		"{\"name\": \"hwp\", \"msr\": \"0x774\", \"bits\": [8, 15], \"found\": 34, \"wanted\": 23, \"already\": 0, \"set\": 80, \"refused\": 0}"));
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	loop_close(&r);
	all_rows("ice-lake-sp", locked, ROWS, ROW_NOISY);
	assert_non_null(strstr(memory_host_file(&r.host, "results.json"), "\"bits\": [8, 15], \"found\": 34, \"wanted\": 23, \"already\": 0, \"set\": 0, \"refused\": 80}"));
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	loop_close(&r);
	/* The clock is constant, but not the base clock: rows in seconds are not proved. */
	all_rows("ice-lake-sp", other, "read.l1.bandwidth", ROW_UNPROVEN);
	assert_non_null(strstr(r.host.results[0].reason, "the requested level could not be held: the core clock was 2"));
	loop_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_freq_lock_turbo_off_keeps_the_clock),
		cmocka_unit_test(test_freq_lock_uncore_limits_keep_the_uncore_clock),
		cmocka_unit_test(test_freq_lock_keeps_the_clocks_of_later_servers),
		cmocka_unit_test(test_freq_lock_keeps_the_ring_clock_of_clients),
		cmocka_unit_test(test_freq_lock_hwp_request_keeps_the_clock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
