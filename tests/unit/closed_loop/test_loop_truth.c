/* One truth moved at a time: the rows whose formula depends on it move, to where the formula says; the others stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/loop_meets.h"

#define ROWS "load.l?.*,load.dram_local.*,tlb.dtlb_4k.*,tlb.stlb_walk_4k.*,triad.l1.bandwidth"
/* A few loads of the wrapper itself, after the kernel, come from further away after the longer window: less than a
 * tenth of a cycle a load. */
#define SAME_MILLI 100

/* `moves` is how many of the rows' formulas must depend on the field: a formula that lost it would hide the rest. */
static const struct { const char *section, *key, *value; unsigned moves; } cases[] = {
	{ "l1d", "cycles", "5", 5 },            /* L1; three penalties over it; the walk's load */
	{ "l2", "cycles", "14", 2 },
	{ "l3", "core_cycles", "20", 4 },
	{ "l3", "uncore_cycles", "40", 4 },
	{ "clock", "uncore_ratio", "16", 4 },
	{ "dram", "local_ps", "71000", 2 },
	{ "stlb", "cycles", "9", 2 },
	{ "walk", "cycles", "15", 1 },
	{ "core", "issue_width", "2", 1 },      /* the triad */
	{ "clock", "core_ratio", "16", 5 },     /* ps and uncore cycles in core cycles; bytes a second of the triad */
	{ "dram", "remote_ps", "150000", 0 },
	{ "lfb", "entries", "4", 0 },
	{ "sq", "entries", "8", 0 },
	{ "dram", "channel_bytes_per_second", "5000000000", 0 },
	{ "core", "mispredict_cycles", "40", 0 },
	{ "store", "forward_cycles", "9", 0 },
	{ "l3", "modified_uncore_cycles", "60", 0 },
	{ "link", "clean_ps", "90000", 0 },
};

static bool near(const struct row_result *a, const struct row_result *b)
{
	int64_t off = llabs(a->value_milli - b->value_milli);
	return a->unit == UNIT_BYTES_PER_SECOND ? off <= b->value_milli / 1000 : off < SAME_MILLI;
}

static unsigned check_case(const struct loop_run *base, const char *text, const char *format, unsigned c)
{
	static struct loop_run moved;
	char *other = loop_changed(text, cases[c].section, cases[c].key, cases[c].value);
	unsigned wrong = 0, moves = 0;
	loop_open(&moved, other);
	loop_suite(&moved, ROWS);
	for (unsigned i = 0; i < moved.host.result_count; i++) {
		const struct row_result *m = &moved.host.results[i], *b = memory_host_result(&base->host, m->name);
		struct expectation was, is;
		bool judged, depends;
		assert_int_equal(expect_row(text, format, m->name, &was), ST_OK);
		assert_int_equal(expect_row(other, format, m->name, &is), ST_OK);
		depends = was.least_milli != is.least_milli || was.most_milli != is.most_milli;
		moves += depends;
		if (!loop_row_meets(m, other, format, &judged) || near(m, b) == depends) {
			fprintf(stderr, "%s.%s: %s from %lld to %lld, %s\n", cases[c].section, cases[c].key, m->name,
			        (long long)b->value_milli, (long long)m->value_milli, depends ? "depends on it" : "does not depend on it");
			wrong++;
		}
	}
	if (moves != cases[c].moves) {
		fprintf(stderr, "%s.%s: %u rows depend on it, not %u\n", cases[c].section, cases[c].key, moves, cases[c].moves);
		wrong++;
	}
	loop_close(&moved);
	free(other);
	return wrong;
}

static void test_loop_one_truth_moves_its_rows_and_no_other(void **state)
{
	(void)state;
	static struct loop_run base;
	char *text = strdup(loop_built_in("nehalem-ep")), *format = loop_format();
	unsigned wrong = 0;
	loop_open(&base, text);
	loop_suite(&base, ROWS);
	for (unsigned c = 0; c < COUNT_OF(cases); c++)
		wrong += check_case(&base, text, format, c);
	loop_close(&base);
	free(format);
	free(text);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_loop_one_truth_moves_its_rows_and_no_other) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
