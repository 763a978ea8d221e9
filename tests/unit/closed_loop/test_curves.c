/* Rows found along a curve say where the curve ends too early. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"

/* A curve of loads in flight that falls to its end says so: more of them may be faster. */
static void test_curves_overlap_that_still_falls_is_told(void **state)
{
	(void)state;
	static const char *const entries[] = { "10", "40" }; /* fill buffers; 28 loads in flight are tried from the L3 */
	static struct loop_run r;

	for (unsigned i = 0; i < COUNT_OF(entries); i++) {
		const char *const fields[][3] = { { "lfb", "entries", entries[i] }, { "sq", "entries", "60" }, { "gq", "read", "100" }, { "l2", "busy_cycles", "1" }, { "l3", "busy_uncore_cycles", "1" } };
		char *text = loop_machine("nehalem-ep", fields, COUNT_OF(fields));

		loop_open(&r, text);
		loop_suite(&r, "load.l3_overlap.interval,load.fill_buffer.latency");
		const struct row_result *row = memory_host_result(&r.host, "load.l3_overlap.interval");
		assert_int_equal(row->status, ROW_OK);
		assert_string_equal(row->remark, i ? "still falls at 28 loads in flight, the most that are tried" : "");
		assert_string_equal(memory_host_result(&r.host, "load.fill_buffer.latency")->remark, "");
		loop_close(&r);
		free(text);
	}
}

/* One or two fill buffers are full before a queue of twice their entries: the row gives no size. A shorter queue is full first, and is found. */
static void test_curves_queue_behind_one_or_two_fill_buffers(void **state)
{
	(void)state;
	static const struct { const char *buffers, *queue; int64_t entries; } cases[] = { { "1", "2", 0 }, { "2", "4", 0 }, { "2", "3", 3 }, { "3", "5", 5 }, { "10", "4", 4 } };
	static struct loop_run r;

	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		const char *const fields[][3] = { { "lfb", "entries", cases[i].buffers }, { "sq", "entries", cases[i].queue } };
		char *text = loop_machine("nehalem-ep", fields, COUNT_OF(fields));

		loop_open(&r, text);
		loop_suite(&r, "size.super_queue.entries");
		const struct row_result *row = memory_host_result(&r.host, "size.super_queue.entries");
		print_message("%s fill buffers, queue of %s: %s, %lld\n", cases[i].buffers, cases[i].queue, row_status_name(row->status), (long long)row->value_milli);
		assert_int_equal(row->status, cases[i].entries ? ROW_OK : ROW_UNSUPPORTED);
		if (cases[i].entries)
			assert_int_equal(row->value_milli, cases[i].entries * 1000);
		assert_int_equal(r.sum.unexpected, 0);
		loop_close(&r);
		free(text);
	}
}

/* The longer window of a ring beyond the first level takes fewer cycles of walks than the shorter one, which brings the entries into the caches; where
 * an event counts these cycles, they must not hide the misses. */
static void test_curves_pages_are_counted_beside_cycles_of_walks(void **state)
{
	(void)state;
	static const char *const fields[][3] = { { "topology", "sockets", "1" }, { "topology", "cores", "1" }, { "l3", "bytes", "3145728" }, { "l3", "slices", "1" }, { "l2", "bytes", "655360" },
		{ "l2", "policy", "2" }, { "dtlb", "entries", "256" }, { "stlb", "entries", "4096" } };
	static struct loop_run r;
	char *text = loop_machine("ice-lake-sp", fields, COUNT_OF(fields));

	loop_open(&r, text);
	loop_suite(&r, "size.dtlb_4k.entries");
	const struct row_result *row = memory_host_result(&r.host, "size.dtlb_4k.entries");
	print_message("%s, %lld, %s, %s\n", row_status_name(row->status), (long long)row->value_milli, row->proof, row->reason);
	assert_int_equal(row->status, ROW_OK);
	assert_int_equal(row->value_milli, 256000);
	loop_close(&r);
	free(text);
}

/* Of three samples two are disturbed where code between jobs evicts a line that they read: the point is then measured again (1.80 cycles, noisy). */
static void test_curves_overlap_measures_a_noisy_point_again(void **state)
{
	(void)state;
	static const char *const fields[][3] = { { "topology", "sockets", "1" }, { "l3", "bytes", "16777216" }, { "l3", "slices", "4" }, { "control", "turbo_ratio", "48" }, { "clock", "core_ratio", "37" },
		{ "clock", "uncore_ratio", "37" }, { "clock", "tsc_ratio", "37" }, { "dram", "local_ps", "74000" }, { "dram", "channels", "2" }, { "cpuid", "model", "33" }, { "cpuid", "stepping", "0" } };
	static struct loop_run r;
	char *text = loop_machine("zen3", fields, COUNT_OF(fields));

	loop_open(&r, text);
	loop_suite(&r, "frontend.*,load.l3_overlap.interval");
	const struct row_result *row = memory_host_result(&r.host, "load.l3_overlap.interval");
	print_message("%s, %lld, spread %lld, %s\n", row_status_name(row->status), (long long)row->value_milli, (long long)row->spread_milli, row->reason);
	assert_int_equal(row->status, ROW_OK);
	assert_in_range(row->value_milli, 1980, 2020); /* the L2's port */
	loop_close(&r);
	free(text);
}

/* Pages of code that a row has left become the ring's: what an L1I still has of them no L2 passes on to an L3 that takes its victims. One line in a
 * hundred then came from memory, and the row had 1.89 or 2.36 cycles for 2.12, `ok`. */
static void test_curves_overlap_does_not_meet_earlier_code(void **state)
{
	(void)state;
	static const char *const fields[][3] = { { "topology", "sockets", "1" }, { "topology", "cores", "6" }, { "topology", "complexes", "1" }, { "topology", "dies", "1" }, { "topology", "threads", "2" },
		{ "l3", "bytes", "16777216" }, { "l3", "slices", "4" }, { "l3", "uncore_cycles", "39" }, { "control", "turbo_ratio", "44" }, { "clock", "core_ratio", "39" }, { "clock", "uncore_ratio", "39" },
		{ "clock", "tsc_ratio", "39" }, { "dram", "local_ps", "72000" }, { "dram", "channels", "2" } };
	static struct loop_run r;
	char *text = loop_machine("zen3", fields, COUNT_OF(fields));

	loop_open(&r, text);
	loop_suite(&r, "tlb.itlb.penalty,load.l3_overlap.interval");
	const struct row_result *row = memory_host_result(&r.host, "load.l3_overlap.interval");
	print_message("%s, %lld, spread %lld, %s\n", row_status_name(row->status), (long long)row->value_milli, (long long)row->spread_milli, row->proof);
	assert_int_equal(row->status, ROW_OK);
	assert_in_range(row->value_milli, 2105, 2145); /* 24 lines in 51 cycles */
	loop_close(&r);
	free(text);
}

/* Where the DTLB keeps large pages in pieces, and DRAM pages stay open, a load is as far from the one before as those of load.dram_local: in
 * consecutive pieces it found the page open, 236 cycles for 314, `ok`. */
static void test_curves_fill_buffer_finds_no_open_page(void **state)
{
	(void)state;
	static struct loop_run r;
	char *text = loop_changed(loop_built_in("alder-lake-n"), "dram", "open_page", "1");

	loop_open(&r, text);
	loop_suite(&r, "load.dram_local.latency,load.fill_buffer.latency");
	const struct row_result *lone = memory_host_result(&r.host, "load.dram_local.latency"), *row = memory_host_result(&r.host, "load.fill_buffer.latency");

	print_message("%lld for %lld, %s, %s\n", (long long)row->value_milli, (long long)lone->value_milli, row_status_name(row->status), row->reason);
	assert_int_equal(row->status, ROW_OK);
	assert_in_range(row->value_milli, lone->value_milli / 100 * 99, lone->value_milli / 100 * 101);
	assert_int_equal(row->sample.verdict, SAMPLE_AGREES);
	loop_close(&r);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_curves_overlap_that_still_falls_is_told),
		cmocka_unit_test(test_curves_queue_behind_one_or_two_fill_buffers),
		cmocka_unit_test(test_curves_pages_are_counted_beside_cycles_of_walks),
		cmocka_unit_test(test_curves_overlap_measures_a_noisy_point_again),
		cmocka_unit_test(test_curves_overlap_does_not_meet_earlier_code),
		cmocka_unit_test(test_curves_fill_buffer_finds_no_open_page) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
