/* Windows that heat, clock modulation or SMIs disturb are discarded and counted, and registers are restored under each fault of the
 * machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"

#define THERM_STATUS     0x19Cu
#define CLOCK_MODULATION 0x19Au

static struct loop_run r;
static const struct access *under;
static struct access_ops ops;
static uint64_t status, modulation;
static unsigned reads, every;

/* Every `every`th reading of the thermal status is `status`, the others are cool. */
static enum status rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	if (msr == THERM_STATUS) {
		*value = every && ++reads % every == 0 ? status : 0;
		return ST_OK;
	}
	if (msr == CLOCK_MODULATION) {
		*value = modulation;
		return ST_OK;
	}
	return under->ops->rdmsr(self, core, msr, value);
}

static void run(uint64_t status_then, unsigned every_then, uint64_t modulation_then)
{
	static struct access between;
	status = status_then, every = every_then, modulation = modulation_then, reads = 0;
	loop_open(&r, loop_built_in("nehalem-ep"));
	under = sim_access(r.sim);
	ops = *under->ops;
	ops.rdmsr = rdmsr;
	between = *under;
	between.ops = &ops;
	msr_guard_init(&r.guard, &between, r.cpu.processor, r.saved, MSR_GUARD_SAVED_MAX);
	loop_suite(&r, "load.l2.latency");
}

static void test_noise_check_cool_windows_are_all_kept(void **state)
{
	(void)state;
	run(0, 0, 0);
	assert_int_equal(r.host.results[0].status, ROW_OK);
	assert_int_equal(r.host.results[0].rejected, 0);
	assert_true(r.sum.disturbances.windows > 10);
	assert_int_equal(r.sum.disturbances.smi[0], r.sum.disturbances.windows);
	assert_int_equal(r.sum.disturbances.thermal + r.sum.disturbances.modulated, 0);
	loop_close(&r);
}

static void test_noise_check_hot_windows_are_discarded(void **state)
{
	(void)state;
	/* too hot now; PROCHOT#; power limit; and the log of a critical temperature, new in this window */
	static const uint64_t hot[] = { 0x1, 0x4, 0x400, 0x20 };
	for (unsigned i = 0; i < COUNT_OF(hot); i++) {
		run(hot[i], 14, 0);
		assert_int_equal(r.host.results[0].status, ROW_OK);
		assert_int_equal(r.host.results[0].value_milli, 10000);
		assert_true(r.host.results[0].rejected > 0);
		assert_true(r.sum.disturbances.thermal > 0 && r.sum.disturbances.thermal < r.sum.disturbances.windows / 2);
		loop_close(&r);
	}
}

static void test_noise_check_an_old_log_is_no_disturbance(void **state)
{
	(void)state;
	run(0x2 | 0x20 | 0x800, 1, 0); /* logs that firmware left, the same before and after */
	assert_int_equal(r.host.results[0].status, ROW_OK);
	assert_int_equal(r.host.results[0].rejected, 0);
	loop_close(&r);
}

static void test_noise_check_a_modulated_clock_leaves_no_value(void **state)
{
	(void)state;
	run(0, 0, 0x1A);
	assert_int_not_equal(r.host.results[0].status, ROW_OK);
	assert_int_equal(r.sum.disturbances.modulated, r.sum.disturbances.windows);
	loop_close(&r);
}

static char *with(const char *key, const char *value)
{
	return loop_changed(loop_built_in("nehalem-ep"), "fault", key, value);
}

static void test_noise_check_smis_are_counted_by_window(void **state)
{
	(void)state;
	char *text = with("smi_period_us", "50");
	loop_open(&r, text);
	loop_suite(&r, "load.l1.latency");
	uint32_t all = 0;
	for (unsigned i = 0; i < SMI_BINS; i++)
		all += r.sum.disturbances.smi[i];
	assert_int_equal(all, r.sum.disturbances.windows);
	assert_true(r.sum.disturbances.smi[0] > 0 && r.sum.disturbances.smi[0] < all);
	assert_non_null(strstr(memory_host_file(&r.host, "results.json"), "\"windows_by_smis\": ["));
	loop_close(&r);
	free(text);
}

/* With the machine's faults, heat now and then costs windows; heat in every window, or a duty cycle, costs the row. */
static void test_noise_check_heat_costs_windows_not_the_row(void **state)
{
	(void)state;
	char *text = with("heat_period_us", "150");
	loop_open(&r, text);
	loop_suite(&r, "load.l2.latency");
	assert_int_equal(r.host.results[0].status, ROW_OK);
	assert_int_equal(r.host.results[0].value_milli, 10000);
	assert_true(r.sum.disturbances.thermal > 1);
	assert_true(r.sum.disturbances.thermal < r.sum.disturbances.windows / 2);
	assert_int_equal(r.guard.refused, 0);
	loop_close(&r);
	free(text);
	static const char *const always[][2] = { { "heat_period_us", "3" }, { "duty_cycle", "1" } };
	for (unsigned i = 0; i < COUNT_OF(always); i++) {
		text = with(always[i][0], always[i][1]);
		loop_open(&r, text);
		loop_suite(&r, "load.l2.latency");
		assert_int_not_equal(r.host.results[0].status, ROW_OK);
		assert_int_equal(i ? r.sum.disturbances.modulated : r.sum.disturbances.thermal, r.sum.disturbances.windows);
		loop_close(&r);
		free(text);
	}
}

/* Reads every register that the descriptor marks as restored, on every core; returns their number. */
static unsigned registers(uint64_t *values, unsigned most)
{
	const struct access *a = sim_access(r.sim);
	const struct processor *p = r.cpu.processor;
	unsigned n = 0;
	for (unsigned core = 0; core < a->cores; core++)
		for (unsigned i = 0; i < p->msr_count; i++)
			for (uint32_t msr = p->msrs[i].first; p->msrs[i].restore && msr <= p->msrs[i].last; msr++) {
				uint64_t value = 0;
				if (n < most && a->ops->rdmsr(a->self, core, msr, &value) == ST_OK)
					values[n++] = value & p->msrs[i].mask;
			}
	return n;
}

static void test_noise_check_registers_are_as_found_under_each_switch(void **state)
{
	(void)state;
	static const char *const switches[][2] = { { "firmware_counting", "1" }, { "prefetch_locked", "15" }, { "prefetch_ignored", "15" },
		{ "smi_period_us", "50" }, { "smi_period_us", "500" }, { "uncore_float_ratio", "12" }, { "ratio_period_us", "30" }, { "heat_period_us", "100" }, { "turbo_locked", "1" } };
	static uint64_t before[4096], after[4096];
	for (unsigned i = 0; i < COUNT_OF(switches); i++) {
		char *text = with(switches[i][0], switches[i][1]);
		loop_open(&r, text);
		unsigned n = registers(before, COUNT_OF(before));
		loop_suite(&r, "load.l1.latency,load.l2.latency,load.dram_local.latency");
		assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
		assert_int_equal(registers(after, COUNT_OF(after)), n);
		assert_true(n > 50);
		for (unsigned k = 0; k < n; k++)
			if (before[k] != after[k])
				fail_msg("%s: register %u of %u: 0x%llx was 0x%llx", switches[i][0], k, n, (unsigned long long)after[k], (unsigned long long)before[k]);
		loop_close(&r);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_noise_check_cool_windows_are_all_kept),
		cmocka_unit_test(test_noise_check_hot_windows_are_discarded),
		cmocka_unit_test(test_noise_check_an_old_log_is_no_disturbance),
		cmocka_unit_test(test_noise_check_a_modulated_clock_leaves_no_value),
		cmocka_unit_test(test_noise_check_heat_costs_windows_not_the_row),
		cmocka_unit_test(test_noise_check_smis_are_counted_by_window),
		cmocka_unit_test(test_noise_check_registers_are_as_found_under_each_switch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
