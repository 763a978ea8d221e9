/* A journal with rows of two kinds of cores is rebuilt to the byte, and a run that is stopped anywhere continues to the same rows of each kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/suite/boot_variance.h"
#include "bench/suite/suite_kinds.h"
#include "tests/unit/support/closed_loop.h"

#define SUITE "load.l1.latency,tlb.dtlb_4k.penalty"
#define ROWS 4 /* two rows of each kind, none of all cores together */

static struct loop_run r;
static char *journal, *results, *csv;

/* Runs the suite on both kinds, continuing a journal; NULL: from the beginning. */
static void run_kinds(const char *text, size_t bytes)
{
	static struct suite_kinds kinds;
	const struct suite_settings s = { .suite = SUITE };

	loop_open(&r, loop_built_in("alder-lake"));
	r.host.host.journal = text;
	r.host.host.journal_bytes = bytes;
	if (text)
		assert_int_equal(r.host.host.append(r.host.host.self, "journal.jsonl", text, bytes), ST_OK);
	assert_int_equal(suite_kinds_open(&kinds, sim_access(r.sim), NULL, &s, &r.host.host), ST_OK);
	assert_int_equal(kinds.count, 3);
	assert_int_equal(suite_run_kinds(kinds.run, kinds.count, &s, &r.host.host, &r.sum), ST_OK);
	assert_int_equal(suite_kinds_restore(&kinds), ST_OK);
	suite_kinds_close(&kinds);
	assert_int_equal(r.host.taken, 0);
}

static int run_whole(void **state)
{
	(void)state;
	run_kinds(NULL, 0);
	assert_int_equal(r.sum.rows, ROWS);
	journal = strdup(memory_host_file(&r.host, "journal.jsonl"));
	results = strdup(memory_host_file(&r.host, "results.json"));
	csv = strdup(memory_host_file(&r.host, "penalties.csv"));
	loop_close(&r);
	return 0;
}

static int drop_whole(void **state)
{
	(void)state;
	free(journal), free(results), free(csv);
	return 0;
}

static void test_suite_kinds_are_rebuilt_to_the_byte(void **state)
{
	(void)state;
	struct memory_host h;
	memory_host_init(&h);
	assert_int_equal(suite_rebuild(journal, strlen(journal), &h.host), ST_OK);
	assert_string_equal(memory_host_file(&h, "results.json"), results);
	assert_string_equal(memory_host_file(&h, "penalties.csv"), csv);
	assert_int_equal(h.taken, 0);
	memory_host_free(&h);
}

static void test_suite_kinds_stopped_anywhere_go_on(void **state)
{
	(void)state;
	static const char *const names[ROWS] = { "load.l1.latency@p", "tlb.dtlb_4k.penalty@p", "load.l1.latency@e", "tlb.dtlb_4k.penalty@e" };
	const size_t run = strcspn(journal, "\n") + 1, all = strlen(journal);
	for (size_t n = 1; n < 12; n++) {
		size_t cut = run + (all - run) * n / 12;
		while (journal[cut - 1] != '\n') /* whole lines, as from resume_find */
			cut--;
		run_kinds(journal, cut);
		const char *now = memory_host_file(&r.host, "results.json");
		assert_null(json_problem(now));
		assert_int_equal(r.sum.rows, ROWS);
		assert_in_range(r.sum.by_status[ROW_CRASHED], 0, 1);
		for (unsigned i = 0; i < ROWS; i++) {
			char name[64];
			snprintf(name, sizeof(name), "{\"name\": \"%s\"", names[i]);
			const char *at = strstr(now, name);
			assert_non_null(at);
			assert_null(strstr(at + 1, name));
		}
		assert_memory_equal(now, results, (size_t)(strstr(results, "\"rows\"") - results));
		loop_close(&r);
	}
}

static void test_suite_kinds_have_their_own_variance(void **state)
{
	(void)state;
	static struct boot_variance b;
	static char at[4096];
	struct text t;
	boot_variance_add(&b, "first", journal, strlen(journal));
	text_init(&t, at, sizeof(at));
	boot_variance_csv(&t, &b);
	assert_non_null(strstr(at, "\nload.l1.latency@p,cycles,1,1,5.000,0.000,5.000,5.000\r\n"));
	assert_non_null(strstr(at, "\nload.l1.latency@e,cycles,1,1,3.000,0.000,3.000,3.000\r\n"));
	assert_null(strstr(at, "\nload.l1.latency,"));
}

/* A kind that the machine lacks is refused, a kind that it has is run alone, and a machine of one kind runs as one. */
static void test_suite_kinds_are_chosen(void **state)
{
	(void)state;
	static struct suite_kinds kinds;
	const struct suite_settings s = { .suite = SUITE };
	loop_open(&r, loop_built_in("alder-lake"));
	assert_int_equal(suite_kinds_open(&kinds, sim_access(r.sim), "lpe", &s, &r.host.host), ST_MISSING);
	suite_kinds_close(&kinds);
	assert_int_equal(suite_kinds_open(&kinds, sim_access(r.sim), "e", &s, &r.host.host), ST_OK);
	assert_int_equal(kinds.count, 1);
	assert_string_equal(kinds.run[0].a->core_kind, "e");
	assert_int_equal(kinds.run[0].a->first, 8);
	suite_kinds_close(&kinds);
	assert_int_equal(r.host.taken, 0);
	loop_close(&r);
	loop_open(&r, loop_built_in("nehalem-ep"));
	assert_int_equal(suite_kinds_open(&kinds, sim_access(r.sim), "all", &s, &r.host.host), ST_OK);
	assert_int_equal(kinds.count, 1);
	assert_null(kinds.run[0].a->core_kind);
	suite_kinds_close(&kinds);
	loop_close(&r);
}

/* CPUID leaf 0x23 is read on a core of each kind: here the large cores alone have a second unit mask. */
static void test_suite_kinds_have_their_own_selects(void **state)
{
	(void)state;
	static struct suite_kinds kinds;
	const struct suite_settings s = { .suite = SUITE };
	char *text = loop_built_in_changed("alder-lake", "pmu.second_mask=1,control.highest_leaf=35");
	loop_open(&r, text);
	assert_int_equal(suite_kinds_open(&kinds, sim_access(r.sim), NULL, &s, &r.host.host), ST_OK);
	assert_int_equal(kinds.count, 3);
	assert_int_equal(kinds.at[0].cpu.select_bits, CPU_SELECT_MASK2);
	assert_int_equal(kinds.at[1].cpu.select_bits, 0);
	assert_int_equal(kinds.at[2].cpu.select_bits, 0); /* all cores together */
	assert_int_equal(kinds.at[0].cpu.general_mask, 0xFF);
	assert_int_equal(kinds.at[1].cpu.general_mask, 0x3F);
	suite_kinds_close(&kinds);
	loop_close(&r);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suite_kinds_are_rebuilt_to_the_byte),
		cmocka_unit_test(test_suite_kinds_stopped_anywhere_go_on),
		cmocka_unit_test(test_suite_kinds_have_their_own_variance),
		cmocka_unit_test(test_suite_kinds_are_chosen),
		cmocka_unit_test(test_suite_kinds_have_their_own_selects),
	};
	return cmocka_run_group_tests(tests, run_whole, drop_whole);
}
