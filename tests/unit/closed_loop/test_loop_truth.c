/* One value of the machine is changed at a time: rows whose formula depends on it change to what the formula says, the others do not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/loop_meets.h"

#define ROWS "load.l?.*,load.dram_local.*,tlb.dtlb_4k.*,tlb.stlb_walk_4k.*,triad.l1.bandwidth"
/* After the longer window a few of the wrapper's own loads are answered by a level farther away: less than a tenth of a
 * cycle per load. */
#define SAME_MILLI 100
#define AS_FAR_MILLI 300

/* as_far: a row that changes by as many cycles as the field. moves: how many rows' formulas must depend on the field; one that no longer did would hide a change. */
static const struct { const char *section, *key, *value; unsigned moves; const char *as_far; } cases[] = {
	{ "l1d", "cycles", "5", 3, "tlb.stlb_walk_4k.penalty" },
	{ "l2", "cycles", "14", 2, "load.l2.penalty" },
	{ "l3", "core_cycles", "20", 4, NULL },
	{ "l3", "uncore_cycles", "40", 4, NULL },
	{ "clock", "uncore_ratio", "16", 4, NULL },
	{ "dram", "local_ps", "71000", 2, NULL },
	{ "stlb", "cycles", "9", 1, "tlb.stlb_walk_4k.penalty" },
	{ "walk", "cycles", "15", 0, "tlb.stlb_walk_4k.penalty" },
	{ "core", "issue_width", "2", 0, NULL },      /* the triad, within its bounds */
	{ "clock", "core_ratio", "16", 4, NULL },     /* converts ps and uncore cycles to core cycles */
	{ "dram", "remote_ps", "150000", 0, NULL },
	{ "lfb", "entries", "4", 0, NULL },
	{ "sq", "entries", "8", 0, NULL },
	{ "dram", "channel_bytes_per_second", "5000000000", 0, NULL },
	{ "core", "mispredict_cycles", "40", 0, NULL },
	{ "store", "forward_cycles", "9", 0, NULL },
	{ "l3", "modified_uncore_cycles", "60", 0, NULL },
	{ "link", "clean_ps", "90000", 0, NULL },
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
		bool judged, depends, may;
		assert_int_equal(expect_row(text, format, m->name, &was), ST_OK);
		assert_int_equal(expect_row(other, format, m->name, &is), ST_OK);
		may = was.least_milli != is.least_milli || was.most_milli != is.most_milli;
		depends = was.most_milli < is.least_milli || is.most_milli < was.least_milli; /* bounds that overlap leave it open */
		moves += depends;
		if (!loop_row_meets(m, other, format, &judged) || (near(m, b) ? depends : !may)) {
			fprintf(stderr, "%s.%s: %s from %lld to %lld, %s\n", cases[c].section, cases[c].key, m->name,
			        (long long)b->value_milli, (long long)m->value_milli, depends ? "depends on it" : may ? "may depend on it" : "does not depend on it");
			wrong++;
		}
	}
	if (cases[c].as_far) {
		const struct row_result *m = memory_host_result(&moved.host, cases[c].as_far), *b = memory_host_result(&base->host, cases[c].as_far);
		uint64_t from, to;
		assert_int_equal(expect_field(text, format, cases[c].section, cases[c].key, &from), ST_OK);
		assert_int_equal(expect_field(other, format, cases[c].section, cases[c].key, &to), ST_OK);
		if (llabs(m->value_milli - b->value_milli - 1000 * (int64_t)(to - from)) > AS_FAR_MILLI) {
			fprintf(stderr, "%s.%s: %s from %lld to %lld\n", cases[c].section, cases[c].key, m->name, (long long)b->value_milli, (long long)m->value_milli);
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
