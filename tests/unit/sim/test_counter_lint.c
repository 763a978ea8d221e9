/* pmu/sim/counters/counter_lint.c, counter.c: findings that involve several registers, in any order of writes; freezes at an overflow; registers
 * shared by a core's threads; the select bits for transactions. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "runner/host/backend.h"
#include "tests/unit/rigs/counter_rig.h"

static struct machine m;
static struct backend b;

static void open_machine(const char *name, unsigned threads)
{
	char problem[512] = "";
	assert_int_equal(backend_machine(name, &m, problem, sizeof(problem)), ST_OK);
	m.topology_threads = threads;
	assert_int_equal(backend_open(&b, &m, problem, sizeof(problem)), ST_OK);
}

static enum status put(unsigned cpu, uint32_t msr, uint64_t value) { return b.access->ops->wrmsr(b.access->self, cpu, msr, value); }

static uint64_t get(unsigned cpu, uint32_t msr)
{
	uint64_t v = 0;
	assert_int_equal(b.access->ops->rdmsr(b.access->self, cpu, msr, &v), ST_OK);
	return v;
}

/* Whether the latest access has a finding with these words. */
static bool told(const char *words)
{
	const struct sim_finding *f;
	for (unsigned i = 0; (f = sim_latest(b.sim, i)); i++)
		if (strstr(f->why, words))
			return true;
	return false;
}

/* A select, PEBS's enable and the global control written in every order: reported at the last of the three, once. */
static void test_lint_tells_at_the_write_that_makes_it_live(void **state)
{
	(void)state;
	static const struct { uint32_t msr; uint64_t value; } set[3] = { { 0x187, 0x24300C0 }, { 0x3F1, 2 }, { 0x38F, 0xF } };
	static const unsigned orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	open_machine("haswell-ep", 1);
	assert_int_equal(put(0, 0x600, 0x1000), ST_OK);
	for (unsigned i = 0; i < 6; i++) {
		for (unsigned k = 0; k < 3; k++)
			assert_int_equal(put(0, set[k].msr, 0), ST_OK);
		for (unsigned k = 0; k < 3; k++) {
			assert_int_equal(put(0, set[orders[i][k]].msr, set[orders[i][k]].value), ST_OK);
			assert_int_equal(told("PEBS with cmask"), k == 2);
		}
		assert_int_equal(put(0, 0x38F, 0), ST_OK); /* off and on again: not reported twice */
		assert_int_equal(put(0, 0x38F, 0xF), ST_OK);
		assert_false(told("PEBS with cmask"));
	}
	backend_close(&b);
}

/* perfmon's INST_RETIRED.TOTAL_CYCLES_PS, inverted with cmask 10 on Skylake and 16 before, is met by every cycle: no finding. Up to 9 may retire in a
 * cycle, so an inverted cmask of 9 is a condition. */
static void test_lint_takes_a_condition_that_every_cycle_meets(void **state)
{
	(void)state;
	static const struct { uint64_t select; bool finding; } cases[] = { { 0xA4301C0 | 1 << 23, false }, { 0x104301C0 | 1 << 23, false }, { 0x94301C0 | 1 << 23, true } };

	open_machine("haswell-ep", 1);
	assert_int_equal(put(0, 0x600, 0x1000), ST_OK);
	assert_int_equal(put(0, 0x38F, 0xF), ST_OK);
	assert_int_equal(put(0, 0x3F1, 2), ST_OK);
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		assert_int_equal(put(0, 0x187, cases[i].select), ST_OK);
		assert_true(told("PEBS with cmask") == cases[i].finding);
	}
	backend_close(&b);
}

/* Up to version 3 a freeze clears the enable bits, in later versions the status shows it; it lasts until software resets these. */
static void test_an_overflow_freezes_if_it_was_asked_to(void **state)
{
	(void)state;
	static struct counter_rig rig;
	static const struct { const char *machine; bool later; } rows[] = { { "haswell-ep", false }, { "skylake-sp", true } };
	for (unsigned i = 0; i < COUNT_OF(rows); i++)
		for (unsigned interrupts = 0; interrupts < 2; interrupts++) {
			pmu_open(&rig, rows[i].machine, "");
			pmu_write(&rig, 0x1D9, 0x1801);
			pmu_write(&rig, 0x186, 0x4200C0 | interrupts << 20);
			pmu_write(&rig, 0x187, 0x4200C0);
			pmu_write(&rig, 0xC1, 0xFFFFFFFE);
			pmu_write(&rig, 0x38F, 3);
			pmu_run(&rig, 5, 1);
			const uint64_t status = pmu_read(&rig, 0x38E), stopped = pmu_read(&rig, 0xC2);
			assert_int_equal(status, 1 | (rows[i].later && interrupts ? 3ull << 58 : 0));
			assert_int_equal(pmu_read(&rig, 0x38F), interrupts && !rows[i].later ? 0 : 3);
			assert_int_equal(pmu_read(&rig, 0x1D9), interrupts && !rows[i].later ? 0x1800 : 0x1801);
			pmu_run(&rig, 5, 1);
			assert_int_equal(pmu_read(&rig, 0xC2) - stopped, interrupts ? 0 : 5);
			pmu_write(&rig, 0x390, status);
			pmu_write(&rig, 0x38F, 3);
			pmu_run(&rig, 5, 1);
			assert_int_equal(pmu_read(&rig, 0xC2) - stopped, interrupts ? 5 : 10);
			pmu_close(&rig);
		}
}

static void test_core_registers_are_shared_by_its_threads(void **state)
{
	(void)state;
	open_machine("nehalem-ep", 2);
	assert_int_equal(put(0, 0x1C8, 0x1), ST_OK);
	assert_int_equal(get(1, 0x1C8), 1);
	assert_int_equal(get(2, 0x1C8), 0); /* another core */
	assert_int_equal(put(1, 0x1A4, 0x3), ST_OK);
	assert_int_equal(get(0, 0x1A4), 3);
	assert_int_equal(put(0, 0x1A6, 0x4011), ST_OK); /* a register of the thread */
	assert_int_equal(get(1, 0x1A6), 0);
	backend_close(&b);
}

static void test_transaction_bits_where_the_processor_has_them(void **state)
{
	(void)state;
	open_machine("skylake-sp", 1);
	assert_int_equal(put(0, 0x186, 0x1004300C0ull), ST_OK);
	assert_int_equal(put(0, 0x188, 0x3004300C0ull), ST_OK);
	assert_int_equal(put(0, 0x187, 0x2004300C0ull), ST_FAULT); /* IN_TXCP on counter 2 alone */
	backend_close(&b);
	open_machine("haswell-ep", 1);
	assert_int_equal(put(0, 0x186, 0x1004300C0ull), ST_FAULT);
	backend_close(&b);
}

static void test_offcore_response_counts_on_every_counter(void **state)
{
	(void)state;
	open_machine("nehalem-ep", 1);
	assert_int_equal(put(0, 0x1A6, 0x4011), ST_OK);
	for (unsigned n = 0; n < 4; n++) {
		assert_int_equal(put(0, 0x186 + n, 0x4301B7), ST_OK);
		assert_false(told("cannot count"));
	}
	backend_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lint_takes_a_condition_that_every_cycle_meets),
		cmocka_unit_test(test_lint_tells_at_the_write_that_makes_it_live),
		cmocka_unit_test(test_an_overflow_freezes_if_it_was_asked_to),
		cmocka_unit_test(test_core_registers_are_shared_by_its_threads),
		cmocka_unit_test(test_transaction_bits_where_the_processor_has_them),
		cmocka_unit_test(test_offcore_response_counts_on_every_counter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
