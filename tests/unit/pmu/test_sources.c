/* The penalty table of the simulated Nehalem-EP by three methods: chase, latency event, uncore queue; and every record of
 * the latency event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/loop_meets.h"

/* Levinthal's table 2, preceded by the caches. `code`: the source that each record must name, as the guide's table 5
 * numbers them. `queue`: the loads reach the uncore. */
static const struct { const char *row; unsigned code; bool queue; } sources[] = {
	{ "load.l1.latency", 1, false },
	{ "load.l2.latency", 3, false },
	{ "load.fill_buffer.latency", 2, false },             /* the uncore's entry belongs to the load that requested the line */
	{ "load.l3.latency", 4, true },                       /* L3, unshared */
	{ "load.l3_clean_other_core.latency", 5, true },
	{ "load.l3_modified_other_core.latency", 6, true },
	{ "load.remote_l3_clean.latency", 8, true },
	{ "load.dram_local.latency", 12, true },
	{ "load.dram_remote.latency", 13, true },
};

static struct loop_run r;
static char *text, *format;

static int measure(void **state)
{
	char names[1024] = "";
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(sources); i++) {
		strcat(names, i ? "," : "");
		strcat(names, sources[i].row);
	}
	text = strdup(loop_built_in("nehalem-ep"));
	format = loop_format();
	loop_open(&r, text);
	loop_suite(&r, names);
	return 0;
}

static int end(void **state)
{
	(void)state;
	loop_close(&r);
	free(text);
	free(format);
	return 0;
}

static void within(const char *row, const char *how, int64_t milli, const struct expectation *e)
{
	if (milli < e->least_milli || milli > e->most_milli)
		fail_msg("%s by %s: %lld, expected %lld to %lld", row, how, (long long)milli, (long long)e->least_milli, (long long)e->most_milli);
}

static void test_sources_by_three_methods_side_by_side(void **state)
{
	(void)state;
	fprintf(stderr, "%-36s %10s %10s %10s   %s\n", "", "chase", "event", "queue", "core to queue and back, all in core cycles");
	for (unsigned i = 0; i < COUNT_OF(sources); i++) {
		const struct row_result *row = memory_host_result(&r.host, sources[i].row);
		struct expectation e, q;
		assert_non_null(row);
		assert_int_equal(row->status, ROW_OK);
		assert_int_equal(expect_row(text, format, row->name, &e), ST_OK);
		/* the formula's own bounds are no wider than 2 % or half a cycle */
		assert_true(e.most_milli - e.least_milli <= (e.most_milli + e.least_milli) / 49 + 1000 || strstr(row->name, "dram"));
		within(row->name, "the chase", row->cycles_milli, &e);
		assert_int_equal(row->sample.verdict, SAMPLE_AGREES);
		within(row->name, "the latency event", row->sample.value_milli, &e);
		fprintf(stderr, "%-36s %10.3f %10.3f", row->name, (double)row->cycles_milli / 1000, (double)row->sample.value_milli / 1000);
		if (!sources[i].queue) {
			assert_int_equal(row->queue.verdict, UNCORE_LATENCY_NONE);
			fprintf(stderr, " %10s   makes no entry of its own in the uncore\n", "none");
			continue;
		}
		assert_int_equal(row->queue.verdict, UNCORE_LATENCY_OK);
		assert_int_equal(expect_queue(text, format, row->name, &q), ST_OK);
		assert_true((q.most_milli - q.least_milli) * 10 <= q.most_milli + q.least_milli); /* 5 % either side */
		within(row->name, "the queue", row->queue.uncore_milli, &q);
		/* the way to the queue and back is the same for all. Counts are whole uncore cycles, of 1.1 core cycles, and a chase in phase
		 * with that clock enters at the same point of one each time. */
		assert_in_range(row->queue.offset_milli, 14000 - 1100, 17000);
		fprintf(stderr, " %10.3f   %.3f\n", (double)row->queue.cycles_milli / 1000, (double)row->queue.offset_milli / 1000);
	}
}

/* Each record names the source and the address that its load had. */
static void test_sources_all_records_are_true(void **state)
{
	unsigned records = 0;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(sources); i++) {
		const struct row_result *row = memory_host_result(&r.host, sources[i].row);
		const struct sample_source *s = &row->sample.sources[sources[i].code];
		struct expectation e;
		assert_true(row->sample.records >= (sources[i].code == 2 ? 64 : 100)); /* only every other load is the row's */
		/* code between jobs evicts a line now and then */
		assert_true(s->count <= row->sample.records && 100 * s->count >= 99 * row->sample.records);
		assert_int_equal(row->sample.wrong_address, 0);
		assert_false(row->sample.full);
		assert_int_equal(row->sample.lost, 0);
		/* another source would show: no two have the same latency on this machine */
		assert_int_equal(expect_row(text, format, row->name, &e), ST_OK);
		within(row->name, "the fastest tenth", s->p10 * 1000ll, &e);
		/* the first loads of a job wait for page walks: a job begins without translations */
		within(row->name, "the slowest tenth", s->p90 * 1000ll, &e);
		records += row->sample.records;
	}
	fprintf(stderr, "%u records, each with the source and the address of its load\n", records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources_by_three_methods_side_by_side),
		cmocka_unit_test(test_sources_all_records_are_true),
	};
	return cmocka_run_group_tests(tests, measure, end);
}
