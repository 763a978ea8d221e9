/* bench/sampling/priority.c: the rows are ok if counters that overflow at one load are served in the manual's order, and tell any other order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rigs/sampling_suite.h"

#define RECORDS   "sample.priority.records"
#define OVERFLOWS "sample.priority.overflows"

static struct sampling_suite on;

static const struct row_result *row(const char *name)
{
	const struct row_result *r = sampling_suite_row(&on, name);
	fprintf(stderr, "%s %s %lld (%s) %s\n", name, row_status_name(r->status), (long long)r->value_milli, r->proof, r->reason);
	return r;
}

static void run(const char *machine, void (*change)(struct machine *m))
{
	sampling_suite_open(&on, machine, change);
	sampling_suite_run(&on, "sample.priority.*");
}

static void highest_first(struct machine *m) { m->fault_counter_priority = 1; }
static void records_last(struct machine *m) { m->fault_counter_priority = 2; }
static void armed_late(struct machine *m) { m->pmu_pebs_shadow_cycles = 500; } /* as long as two loads from memory */
static void armed_at_once(struct machine *m) { m->pmu_pebs_shadow_cycles = 0; }
static void far_memory(struct machine *m) { m->dram_local_ps *= 3; }
static void drop(struct machine *m) { m->fault_pebs_drop_every = 7; }

/* A load has four records in the counters' order, and a record of counter 2 shows the overflows of 0 and 1, but not of 3. */
static void test_priority_is_that_of_the_numbers(void **state)
{
	(void)state;
	static const struct { const char *machine; void (*change)(struct machine *m); } cases[] = {
		{ "nehalem-ep", NULL }, { "haswell-ep", NULL }, { "nehalem-ep", armed_late }, { "nehalem-ep", armed_at_once }, { "haswell-ep", far_memory } };
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		run(cases[i].machine, cases[i].change);
		assert_int_equal(row(RECORDS)->status, ROW_OK);
		assert_int_equal(row(RECORDS)->value_milli, 4000);
		assert_int_equal(row(OVERFLOWS)->status, ROW_OK);
		assert_int_equal(row(OVERFLOWS)->value_milli, 2000);
		assert_int_equal(on.summary.unexpected, 0);
		sampling_suite_close(&on);
	}
}

static void test_priority_of_the_highest_is_told(void **state)
{
	(void)state;
	run("nehalem-ep", highest_first);
	assert_int_equal(row(RECORDS)->status, ROW_UNPROVEN);
	assert_int_equal(row(RECORDS)->value_milli, 0);
	assert_non_null(strstr(row(RECORDS)->reason, "in another order: 8 4 2 1"));
	assert_int_equal(row(OVERFLOWS)->status, ROW_UNPROVEN);
	assert_int_equal(row(OVERFLOWS)->value_milli, 1000);
	assert_non_null(strstr(row(OVERFLOWS)->reason, "of counters 8 (a mask), not of those with lower numbers, 3"));
	assert_int_equal(on.summary.unexpected, 2);
	sampling_suite_close(&on);
}

/* Records keep their order, but follow all overflows. */
static void test_priority_of_overflows_over_records_is_told(void **state)
{
	(void)state;
	run("nehalem-ep", records_last);
	assert_int_equal(row(RECORDS)->status, ROW_OK);
	assert_int_equal(row(RECORDS)->value_milli, 4000);
	assert_int_equal(row(OVERFLOWS)->status, ROW_UNPROVEN);
	assert_non_null(strstr(row(OVERFLOWS)->reason, "between overflows that all records show and those that none does"));
	sampling_suite_close(&on);
}

/* A lost record leaves three records of its load. */
static void test_priority_is_not_shown_by_records_that_are_missing(void **state)
{
	(void)state;
	run("nehalem-ep", drop);
	assert_int_equal(row(RECORDS)->status, ROW_UNPROVEN);
	assert_true(row(RECORDS)->value_milli < 4000);
	sampling_suite_close(&on);
}

static void test_priority_is_unsupported_with_the_reason(void **state)
{
	(void)state;
	static const struct { const char *machine, *why; } cases[] = {
		{ "core2", "records of this processor do not hold the state of the other counters" },
		{ "skylake-sp", "records of this processor do not hold the state of the other counters" },
		{ "pentium4", "no counters that sample" },
		{ "zen4", "no precise event based sampling (PEBS)" },
	};
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		run(cases[i].machine, NULL);
		for (unsigned k = 0; k < on.host.result_count; k++) {
			assert_int_equal(on.host.results[k].status, ROW_UNSUPPORTED);
			assert_string_equal(on.host.results[k].reason, cases[i].why);
		}
		assert_int_equal(on.host.result_count, 2);
		sampling_suite_close(&on);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_priority_is_that_of_the_numbers),
		cmocka_unit_test(test_priority_of_the_highest_is_told),
		cmocka_unit_test(test_priority_of_overflows_over_records_is_told),
		cmocka_unit_test(test_priority_is_not_shown_by_records_that_are_missing),
		cmocka_unit_test(test_priority_is_unsupported_with_the_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
