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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_curves_overlap_that_still_falls_is_told),
		cmocka_unit_test(test_curves_queue_behind_one_or_two_fill_buffers),
		cmocka_unit_test(test_curves_pages_are_counted_beside_cycles_of_walks),
		cmocka_unit_test(test_curves_overlap_measures_a_noisy_point_again) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
