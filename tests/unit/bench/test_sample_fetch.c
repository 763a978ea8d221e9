/* bench/sampling/sample_fetch.c: fetches sampled by IBS agree with rows of code, and contradict them on faulty machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/sampling/sample.h"
#include "tests/unit/rigs/sampling_suite.h"

#define ROWS "frontend.l1i_l2.penalty,frontend.l1i_l3.penalty,tlb.itlb.penalty,frontend.itlb_walk.penalty"
#define FEW_PAGES 512 /* that the second-level TLB holds, fewer than the code of the walk row has */

static struct sampling_suite on;

static void run_suite(const char *machine, void (*change)(struct machine *m), const char *suite, unsigned misses)
{
	sampling_suite_open(&on, machine, change);
	on.ibs_misses = misses;
	sampling_suite_run(&on, suite);
}

static const struct row_result *row(const char *name) { return sampling_suite_row(&on, name); }

static void few_pages(struct machine *m) { m->stlb_entries = FEW_PAGES; m->stlb_ways = 8; }

/* Each sample names the source of the row's code or translation, and the values are within 2 % of the jumps'. Zen 2 does not tell the L3 from memory. */
static void test_sample_fetch_agrees_with_rows_of_code(void **state)
{
	(void)state;
	static const struct { const char *row, *source[2]; unsigned code[2]; } cases[] = {
		{ "frontend.l1i_l2.penalty", { "L2_HIT", "L2_HIT" }, { 2, 2 } }, { "frontend.l1i_l3.penalty", { "L3_HIT", "BEYOND_L2" }, { 3, 4 } },
		{ "tlb.itlb.penalty", { "SECOND_TLB_HIT", "SECOND_TLB_HIT" }, { 7, 7 } }, { "frontend.itlb_walk.penalty", { "WALKED", "WALKED" }, { 8, 8 } },
	};
	static const char *const machines[2] = { "zen4", "zen2" };
	for (unsigned k = 0; k < 2; k++) {
		run_suite(machines[k], few_pages, ROWS, 0);
		for (unsigned i = 0; i < COUNT_OF(cases); i++) {
			const struct row_result *r = row(cases[i].row);
			const struct sample_result *s = &r->sample;
			char line[1024], wanted[64];
			struct text t;
			struct table table = { .proofs = false };
			assert_int_equal(r->status, ROW_OK);
			assert_int_equal(s->verdict, SAMPLE_AGREES);
			assert_int_equal(s->records, 48);
			assert_int_equal(s->sources[cases[i].code[k]].count, s->records);
			assert_in_range(s->difference_milli + 20, 0, 40);
			text_init(&t, line, sizeof(line));
			table_line(&t, &table, r);
			snprintf(wanted, sizeof(wanted), "%s 48", cases[i].source[k]);
			assert_non_null(strstr(line, "by IBS fetch"));
			assert_non_null(strstr(line, wanted));
		}
		assert_null(json_problem(memory_host_file(&on.host, "results.json")));
		sampling_suite_close(&on);
	}
}

static void drop(struct machine *m) { m->fault_ibs_drop_every = 1; }
static void no_fetch(struct machine *m) { m->pmu_ibs &= ~2u; }
static void no_refill(struct machine *m) { m->pmu_ibs &= ~0x200u; }

static void no_miss(struct machine *m) { m->fault_ibs_fetch_flip = 2; }

/* Samples that report the fetches as hits contradict the row. */
static void test_sample_fetch_wrong_tags_leave_no_row_ok(void **state)
{
	(void)state;
	run_suite("zen4", no_miss, "frontend.l1i_l2.penalty", 0);
	assert_int_equal(row("frontend.l1i_l2.penalty")->status, ROW_UNPROVEN);
	assert_string_equal(row("frontend.l1i_l2.penalty")->reason, "IBS fetch: 0 of 48 records name the row's source");
	sampling_suite_close(&on);
}

/* A row stays ok if no samples arrive, or if the processor lacks IBS; only its sampling has no result. */
static void test_sample_fetch_without_samples_leaves_the_row(void **state)
{
	(void)state;
	static const struct { void (*change)(struct machine *m); enum sample_verdict verdict; const char *reason; } cases[] = {
		{ drop, SAMPLE_UNPROVEN, "0 fetches are too few" }, { no_fetch, SAMPLE_UNSUPPORTED, "no instruction-based sampling of fetches (IBS)" } };
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		run_suite("zen4", cases[i].change, "frontend.l1i_l2.penalty", 0);
		assert_int_equal(row("frontend.l1i_l2.penalty")->sample.verdict, cases[i].verdict);
		assert_string_equal(row("frontend.l1i_l2.penalty")->sample.reason, cases[i].reason);
		assert_int_equal(row("frontend.l1i_l2.penalty")->status, ROW_OK);
		sampling_suite_close(&on);
	}
}

/* Without a register for the refill's time, the fetch latency minus the baseline's stands for it. */
static void test_sample_fetch_without_the_time_of_a_refill(void **state)
{
	(void)state;
	run_suite("zen4", no_refill, "tlb.itlb.penalty", 0);
	assert_int_equal(row("tlb.itlb.penalty")->sample.verdict, SAMPLE_AGREES);
	sampling_suite_close(&on);
}

/* With the filter for L3 misses, fetches that hit the L2 leave no samples; Zen 2 has no filter. */
static void test_sample_fetch_filters_misses_of_the_l3(void **state)
{
	(void)state;
	static const struct { const char *machine, *reason; } cases[] = {
		{ "zen4", "0 fetches passed the filter of IBS" }, { "zen2", "IBS without a filter for misses of the L3" } };
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		run_suite(cases[i].machine, NULL, "frontend.l1i_l2.penalty", 1);
		assert_int_equal(row("frontend.l1i_l2.penalty")->sample.verdict, SAMPLE_UNSUPPORTED);
		assert_string_equal(row("frontend.l1i_l2.penalty")->sample.reason, cases[i].reason);
		sampling_suite_close(&on);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample_fetch_agrees_with_rows_of_code),
		cmocka_unit_test(test_sample_fetch_wrong_tags_leave_no_row_ok),
		cmocka_unit_test(test_sample_fetch_without_samples_leaves_the_row),
		cmocka_unit_test(test_sample_fetch_without_the_time_of_a_refill),
		cmocka_unit_test(test_sample_fetch_filters_misses_of_the_l3),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
