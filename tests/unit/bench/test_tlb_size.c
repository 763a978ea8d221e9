/* The TLB's levels are measured where CPUID does not enumerate them, so that rows about pages have the expected values whatever their sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/loop_meets.h"

/* Rows about pages have the expected values on a built-in machine with that many second-level entries; at least `least` of them are compared. */
static void rows_are_right(const char *machine, const char *entries, unsigned least)
{
	static struct loop_run r;
	char *text = loop_changed(loop_built_in(machine), "stlb", "entries", entries);
	unsigned missed, met;

	loop_open(&r, text);
	loop_suite(&r, "tlb.*,frontend.itlb_walk.*,size.?tlb_4k.entries");
	met = loop_meets(&r, text, &missed);
	assert_int_equal(missed, 0);
	assert_true(met >= least);
	loop_close(&r);
	free(text);
}

/* A second level with no more entries than the smallest ring by which large ones are found; levels with fewer entries than an iteration has loads. */
static void rows_of_small_levels_are_right(const char *machine, const char *first_entries, const char *second_entries)
{
	static struct loop_run r;
	unsigned missed;
	const char *const fields[][3] = { { "dtlb", "ways", "1" }, { "dtlb", "entries", first_entries }, { "stlb", "ways", "1" }, { "stlb", "entries", second_entries } };
	char *text = loop_machine(machine, fields, COUNT_OF(fields));

	loop_open(&r, text);
	loop_suite(&r, "tlb.dtlb_4k.penalty,tlb.stlb_walk_4k.penalty,tlb.walk_concurrency.interval");
	for (unsigned i = 0; i < r.host.result_count; i++)
		if (r.host.results[i].status != ROW_OK && !r.host.results[i].absent)
			fail_msg("%s: %s", r.host.results[i].name, r.host.results[i].reason);
	assert_true(loop_meets(&r, text, &missed) >= 2);
	assert_int_equal(missed, 0);
	loop_close(&r);
	free(text);
}

static void test_second_level_of_any_size_is_found(void **state)
{
	(void)state;
	rows_are_right("nehalem-ep", "256", 6);
	rows_of_small_levels_are_right("nehalem-ep", "8", "16");
	rows_of_small_levels_are_right("skylake-sp", "2", "4");
	rows_of_small_levels_are_right("zen4", "2", "4");
	rows_of_small_levels_are_right("zen4", "1", "0");
	rows_of_small_levels_are_right("sapphire-rapids", "4", "0");
	rows_are_right("nehalem-ep", "1024", 6);
	rows_are_right("core2", "512", 6);
}

static void test_second_level_that_is_not_there_is_not_measured(void **state)
{
	(void)state;
	rows_are_right("nehalem-ep", "0", 6);
	rows_are_right("skylake-sp", "0", 6);
}

/* Rows about pages and loads from memory have the expected values with a first level of another size than the descriptor's. */
static void first_level(const char *machine, const char *key, const char *entries)
{
	static struct loop_run r;
	char *text = loop_changed(loop_built_in(machine), "dtlb", key, entries);
	unsigned missed, met;

	loop_open(&r, text);
	loop_suite(&r, "load.dram_local.latency,load.fill_buffer.latency,tlb.dtlb_4k.penalty,tlb.walk_2m.penalty");
	met = loop_meets(&r, text, &missed);
	assert_int_equal(missed, 0);
	assert_int_equal(met, 4);
	for (unsigned i = 0; i < r.host.result_count; i++)
		assert_true(r.host.results[i].status == ROW_OK || r.host.results[i].absent);
	loop_close(&r);
	free(text);
}

static void test_first_level_of_any_size_is_found(void **state)
{
	(void)state;
	first_level("nehalem-ep", "large_entries", "8");
	first_level("nehalem-ep", "large_entries", "64");
	first_level("nehalem-ep", "entries", "128");
	first_level("haswell-ep", "large_entries", "8");
}

/* Without counters both levels are found by time: between rings of 16, 24, 32, 48 ... pages, then to a 32nd. In `ways` ways a number a 16th too large
 * may be found. The rows of sizes quote `first_told` and `second_told`, NULL: what is told agrees. */
static void by_time(const char *machine, const char *entries, const char *ways, const char *second_entries, const char *second_ways, const char *first_told, const char *second_told, int64_t penalty_milli)
{
	static struct loop_run r;
	unsigned holds, at_most;
	const unsigned first = (unsigned)atoi(entries), second = (unsigned)atoi(second_entries);
	const char *const fields[][3] = { { "dtlb", "ways", ways }, { "pmu", "version", "0" }, { "pmu", "general", "0" }, { "pmu", "fixed", "0" }, { "pmu", "pebs_format", "unknown" },
		{ "pmu", "load_latency", "0" }, { "dtlb", "entries", entries }, { "stlb", "ways", second_ways }, { "stlb", "entries", second_entries } };
	char *text = loop_machine(machine, fields, COUNT_OF(fields));

	loop_open(&r, text);
	loop_suite(&r, "tlb.dtlb_4k.penalty,size.dtlb_4k.entries,size.stlb_4k.entries");
	assert_int_equal(r.host.result_count, 3);
	const struct row_result *penalty = memory_host_result(&r.host, "tlb.dtlb_4k.penalty");
	assert_int_equal(penalty->status, ROW_UNPROVEN);
	assert_int_equal(sscanf(penalty->remark, "the DTLB holds %u pages of 4 KiB, its second level at most %u: found by time", &holds, &at_most), 2);
	assert_in_range(holds, first - first / 32, first + first / 16);
	assert_in_range(at_most, second, second + second / 16 + second / 32);
	assert_in_range(penalty->value_milli, penalty_milli - 100, penalty_milli + 100);
	for (unsigned i = 0; i < 2; i++) {
		const struct row_result *size = memory_host_result(&r.host, i ? "size.stlb_4k.entries" : "size.dtlb_4k.entries");
		const int64_t expected = (i ? second : first) * 1000ll, least = expected - expected / 32, most = expected + expected / 16;
		const char *told = i ? second_told : first_told;

		assert_int_equal(size->status, ROW_UNPROVEN);
		assert_in_range(size->value_milli, least, most);
		assert_string_equal(size->remark, told ? told : "");
	}
	loop_close(&r);
	free(text);
}

static void test_levels_are_found_by_time_without_counters(void **state)
{
	(void)state;
	by_time("nehalem-ep", "64", "4", "512", "4", NULL, NULL, 7000);
	by_time("nehalem-ep", "32", "4", "1024", "4", "CPUID or the tables tell 64", "CPUID or the tables tell 512", 7000);
	by_time("nehalem-ep", "72", "72", "1536", "12", "CPUID or the tables tell 64", "CPUID or the tables tell 512", 7000);
	by_time("skylake-sp", "128", "4", "2048", "4", "CPUID or the tables tell 64", "CPUID or the tables tell 1536", 9000);
	by_time("skylake-sp", "96", "6", "2816", "11", "CPUID or the tables tell 64", "CPUID or the tables tell 1536", 9000);
}

/* The rows of sizes have the machine's exact numbers of entries, and quote CPUID's or the descriptor's if different; second NULL: there is no such level. */
static void sizes(const char *machine, const char *first, const char *second, const char *first_remark, const char *second_remark)
{
	static struct loop_run r;
	char *one = loop_changed(loop_built_in(machine), "dtlb", "entries", first), *text = loop_changed(one, "stlb", "entries", second ? second : "0");

	loop_open(&r, text);
	loop_suite(&r, "size.?tlb_4k.entries");
	assert_int_equal(r.host.result_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		const struct row_result *row = &r.host.results[i];
		const char *entries = i ? second : first;

		if (!entries) {
			assert_true(row->status == ROW_UNSUPPORTED && row->absent);
			continue;
		}
		assert_int_equal(row->status, ROW_OK);
		assert_int_equal(row->value_milli, atoi(entries) * 1000);
		assert_string_equal(row->remark, i ? second_remark : first_remark);
	}
	loop_close(&r);
	free(one);
	free(text);
}

static void test_sizes_are_rows_that_contradict_what_is_told(void **state)
{
	(void)state;
	sizes("nehalem-ep", "64", "512", "", "");
	sizes("nehalem-ep", "32", "1024", "CPUID or the tables tell 64", "CPUID or the tables tell 512");
	sizes("nehalem-ep", "64", "2048", "", "CPUID or the tables tell 512"); /* with four ways, one page too many causes five misses */
	sizes("nehalem-ep", "128", NULL, "CPUID or the tables tell 64", "");
	sizes("core2", "16", "512", "", "CPUID or the tables tell 256");
	sizes("zen4", "72", "3072", "", "");
	sizes("haswell-ep", "64", "8192", "", "CPUID or the tables tell 1024");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_are_rows_that_contradict_what_is_told),
		cmocka_unit_test(test_second_level_of_any_size_is_found),
		cmocka_unit_test(test_first_level_of_any_size_is_found),
		cmocka_unit_test(test_levels_are_found_by_time_without_counters),
		cmocka_unit_test(test_second_level_that_is_not_there_is_not_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
