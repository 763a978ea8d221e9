/* Points of the staircase whose loads miss the TLB are marked, in the table and in the results; its steps have the values of the levels' rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "bench/curves/sweep2d.h"
#include "tests/unit/support/closed_loop.h"

static struct loop_run r;

/* Runs rows on a machine with some fields changed, each given as section, key and value. */
static const struct row_result *run(const char *machine, const char *const fields[][3], unsigned n, const char *rows_asked)
{
	char *text = strdup(loop_built_in(machine));

	for (unsigned i = 0; i < n; i++) {
		char *changed = loop_changed(text, fields[i][0], fields[i][1], fields[i][2]);
		free(text);
		text = changed;
	}
	loop_open(&r, text);
	free(text);
	loop_suite(&r, rows_asked);
	const struct row_result *row = memory_host_result(&r.host, "load.staircase.latency");
	assert_non_null(row);
	assert_int_equal(row->status, ROW_OK);
	return row;
}

/* The TLB keeps large pages in pieces of 4 KiB, of which the first level holds 32: points with more pieces and nodes are marked, points with fewer are not. */
static void pieces(const char *const fields[][3], unsigned n)
{
	const struct row_result *row = run("nehalem-ep", fields, n, "load.staircase.latency");
	unsigned marked = 0;

	for (unsigned i = 0; i < row->curve.count; i++) {
		const uint32_t pieces_of = row->curve.points[i].x / 4, nodes = (row->curve.points[i].x << 10) / row->curve.points[i].y;

		/* at wide strides even fewer pieces exceed the four entries of a set */
		if ((nodes > 32 && pieces_of > 32 && !row->curve.points[i].tlb) || (row->curve.points[i].y <= 4096 && (nodes < 32 || pieces_of < 32) && row->curve.points[i].tlb))
			fail_msg("%u KiB x %u: %lld, TLB %u", row->curve.points[i].x, row->curve.points[i].y, (long long)row->curve.points[i].milli, row->curve.points[i].tlb);
		marked += row->curve.points[i].tlb;
	}
	assert_true(marked > 10 && marked < row->curve.count);
}

static void test_points_that_miss_the_tlb_are_marked(void **state)
{
	static const char *const counted[][3] = { { "dtlb", "entries", "32" }, { "dtlb", "large_entries", "0" }, { "stlb", "large", "0" } };
	char table[8192];
	json_error_t error;
	struct text t;

	(void)state;
	pieces(counted, COUNT_OF(counted));
	text_init(&t, table, sizeof(table));
	sweep2d_table_lines(&t, &memory_host_result(&r.host, "load.staircase.latency")->curve);
	assert_non_null(strstr(table, "+ loads miss the first-level data TLB"));
	json_t *document = json_loads(memory_host_file(&r.host, "results.json"), 0, &error);
	const json_t *row = json_array_get(json_object_get(document, "rows"), 0), *marks = json_object_get(json_object_get(row, "curve"), "tlb");
	unsigned n = 0;
	const struct row_result *result = memory_host_result(&r.host, "load.staircase.latency");
	for (unsigned i = 0; i < result->curve.count; i++)
		if (result->curve.points[i].tlb)
			assert_int_equal(json_integer_value(json_array_get(marks, n++)), i);
	assert_int_equal(json_array_size(marks), n);
	json_decref(document);
	loop_close(&r);
}

/* Only points beyond the entries for 2 MiB pages are marked; the steps have the rows' values, to which no marked point contributes. */
static void test_steps_are_the_rows(void **state)
{
	static const struct { const char *machine; unsigned shown, entries; } cases[] = { { "nehalem-ep", 3, 32 }, { "core2", 2, 16 }, { "skylake-sp", 2, 32 } };

	(void)state;
	for (unsigned m = 0; m < COUNT_OF(cases); m++) {
		static const char *const names[CURVE_PLATEAUS] = { [CURVE_PLATEAU_L2] = "load.l2.latency", [CURVE_PLATEAU_L3] = "load.l3.latency", [CURVE_PLATEAU_MEMORY] = "load.dram_local.latency" };
		const struct row_result *row = run(cases[m].machine, NULL, 0, "load.staircase.latency,load.l2.latency,load.l3.latency,load.dram_local.latency");
		unsigned shown = 0;

		for (unsigned level = CURVE_PLATEAU_L2; level < CURVE_PLATEAUS; level++) {
			const struct row_result *of = memory_host_result(&r.host, names[level]);
			const int64_t plateau = row->curve.plateau_milli[level];

			print_message("%s %s: %lld, %lld\n", cases[m].machine, names[level], (long long)plateau, (long long)of->value_milli);
			if (!plateau)
				continue;
			shown++;
			assert_int_equal(of->status, ROW_OK);
			assert_in_range(plateau, of->value_milli - of->value_milli / 30 - 500, of->value_milli + of->value_milli / 30 + 500);
		}
		assert_int_equal(shown, cases[m].shown);
		for (unsigned i = 0; i < row->curve.count; i++)
			assert_int_equal(row->curve.points[i].tlb, row->curve.points[i].x / 2048 > cases[m].entries && (row->curve.points[i].x << 10) / row->curve.points[i].y > cases[m].entries);
		loop_close(&r);
	}
}

/* Slices that a hash of the address selects hold lines at a large stride of working sets many times as large as the level: not a step of memory. */
static void test_hashed_slices_are_no_step_of_memory(void **state)
{
	static const char *const slices[] = { "2", "4", "8", "16" };

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(slices); i++) {
		const char *const fields[][3] = { { "l3", "slices", slices[i] }, { "l3", "hash", "1" } };
		const struct row_result *row = run("nehalem-ep", fields, COUNT_OF(fields), "load.staircase.latency,load.dram_local.latency"), *of = memory_host_result(&r.host, "load.dram_local.latency");
		const int64_t plateau = row->curve.plateau_milli[CURVE_PLATEAU_MEMORY];

		print_message("%s slices: %lld, %lld\n", slices[i], (long long)plateau, (long long)of->value_milli);
		assert_int_equal(of->status, ROW_OK);
		assert_true(!plateau || (plateau > of->value_milli - of->value_milli / 10 && plateau < of->value_milli + of->value_milli / 10));
		loop_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_points_that_miss_the_tlb_are_marked), cmocka_unit_test(test_steps_are_the_rows),
		cmocka_unit_test(test_hashed_slices_are_no_step_of_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
