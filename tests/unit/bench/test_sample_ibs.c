/* bench/sampling/sample_ibs.c: IBS samples agree with the chase, and contradict it on faulty machines. */
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

static struct sampling_suite on;

static void run_suite(void (*change)(struct machine *m), const char *suite)
{
	sampling_suite_open(&on, "zen4", change);
	sampling_suite_run(&on, suite);
}

static const struct row_result *row(const char *name) { return sampling_suite_row(&on, name); }

/* Three cycles of the core and of the L3 in four of the TSC; the description is read already, so what follows from the ratios is set as well. */
static void slow(struct machine *m)
{
	m->clock_core_ratio = m->clock_uncore_ratio = m->clock_tsc_ratio * 3 / 4;
	m->tick_per_core_cycle = m->tick_per_uncore_cycle = 4;
	m->tick_per_tsc = 3;
	m->core_hz = m->uncore_hz = m->tsc_hz / 4 * 3;
}

/* Each sample names the row's source and a node's address; the values are within 2 % of the chases'. */
static void agrees_with_each_chase(void (*change)(struct machine *m))
{
	static const struct { const char *row; unsigned code; } cases[] = { { "load.l2.latency", 14 }, { "load.l3.latency", 1 }, { "load.dram_local.latency", 3 } };
	run_suite(change, "load.l1.latency,load.l2.latency,load.l3.latency,load.dram_local.latency");
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		const struct row_result *r = row(cases[i].row);
		const struct sample_result *s = &r->sample;
		char line[1024];
		struct text t;
		struct table table = { .proofs = false };
		assert_int_equal(r->status, ROW_OK);
		assert_int_equal(s->verdict, SAMPLE_AGREES);
		assert_int_equal(s->records, 48);
		assert_int_equal(s->sources[cases[i].code].count, s->records);
		assert_int_equal(s->wrong_address, 0);
		assert_in_range(s->difference_milli + 20, 0, 40);
		text_init(&t, line, sizeof(line));
		table_line(&t, &table, r);
		assert_non_null(strstr(line, "by IBS"));
		assert_null(strstr(line, "loss unknown"));
	}
	assert_int_equal(row("load.l1.latency")->sample.verdict, SAMPLE_NONE); /* IBS has no latency of L1 hits */
	const char *json = memory_host_file(&on.host, "results.json");
	assert_null(json_problem(json));
	assert_non_null(strstr(json, "\"sources\": {\"LOCAL_COMPLEX\": {\"count\": 48"));
	sampling_suite_close(&on);
}

static void test_sample_ibs_agrees_with_each_chase(void **state)
{
	(void)state;
	agrees_with_each_chase(NULL);
}

/* The L1 hit, which is added to each sample, is timed by the TSC. */
static void test_sample_ibs_agrees_where_the_tsc_is_faster_than_the_core(void **state)
{
	(void)state;
	agrees_with_each_chase(slow);
}

static void other_sources(struct machine *m) { m->fault_data_source_flip = 2; } /* turns neither the complex's code nor DRAM's into another row's */
static void drop(struct machine *m) { m->fault_ibs_drop_every = 1; }
static void no_ibs(struct machine *m) { m->pmu_ibs = 0; }
static void three_bits(struct machine *m) { m->pmu_ibs = 0x3FF; }

static void test_sample_ibs_wrong_data_source_leaves_no_row_ok(void **state)
{
	(void)state;
	run_suite(other_sources, "load.l3.latency,load.dram_local.latency");
	for (unsigned i = 0; i < on.host.result_count; i++) {
		assert_int_equal(on.host.results[i].status, ROW_UNPROVEN);
		assert_non_null(strstr(on.host.results[i].reason, "IBS: 0 of 48 records"));
	}
	sampling_suite_close(&on);
}

static void test_sample_ibs_without_samples_is_inconclusive(void **state)
{
	(void)state;
	run_suite(drop, "load.l2.latency");
	assert_int_equal(row("load.l2.latency")->sample.verdict, SAMPLE_UNPROVEN);
	assert_string_equal(row("load.l2.latency")->sample.reason, "0 samples are too few");
	sampling_suite_close(&on);
}

static void test_sample_ibs_absent_costs_the_sampling_alone(void **state)
{
	(void)state;
	run_suite(no_ibs, "load.l2.latency");
	assert_int_equal(row("load.l2.latency")->status, ROW_OK);
	assert_int_equal(row("load.l2.latency")->sample.verdict, SAMPLE_UNSUPPORTED);
	sampling_suite_close(&on);
}

/* If CPUID reports data sources of three bits, three are decoded, although the processor's names are those of five. */
static void test_sample_ibs_reads_the_width_of_the_source_from_cpuid(void **state)
{
	(void)state;
	run_suite(three_bits, "load.l3.latency");
	assert_int_equal(row("load.l3.latency")->sample.sources[2].count, 48);
	sampling_suite_close(&on);
}

/* With the filter for L3 misses every sample is of memory, and rows of nearer levels are not sampled; a threshold above a load's latency leaves none. */
static void test_sample_ibs_filters_misses_of_the_l3(void **state)
{
	(void)state;
	static const struct { const char *machine; unsigned misses; enum sample_verdict memory; unsigned records; } cases[] = {
		{ "zen4", 1, SAMPLE_AGREES, 48 }, { "zen4", 128, SAMPLE_UNSUPPORTED, 0 }, { "zen5", 256, SAMPLE_AGREES, 48 }, { "zen5", 384, SAMPLE_UNSUPPORTED, 0 },
		{ "zen2", 1, SAMPLE_UNSUPPORTED, 0 } };
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		sampling_suite_open(&on, cases[i].machine, NULL);
		on.ibs_misses = cases[i].misses;
		sampling_suite_run(&on, "load.l2.latency,load.dram_local.latency");
		const struct sample_result *s = &row("load.dram_local.latency")->sample;
		assert_int_equal(s->verdict, cases[i].memory);
		assert_int_equal(s->records, cases[i].records);
		if (cases[i].records) {
			assert_int_equal(s->sources[3].count, cases[i].records);
			assert_int_equal(s->outside, 0);
		}
		assert_int_equal(row("load.dram_local.latency")->status, ROW_OK);
		assert_int_equal(row("load.l2.latency")->sample.verdict, SAMPLE_UNSUPPORTED);
		sampling_suite_close(&on);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample_ibs_agrees_with_each_chase),
		cmocka_unit_test(test_sample_ibs_agrees_where_the_tsc_is_faster_than_the_core),
		cmocka_unit_test(test_sample_ibs_wrong_data_source_leaves_no_row_ok),
		cmocka_unit_test(test_sample_ibs_without_samples_is_inconclusive),
		cmocka_unit_test(test_sample_ibs_filters_misses_of_the_l3),
		cmocka_unit_test(test_sample_ibs_absent_costs_the_sampling_alone),
		cmocka_unit_test(test_sample_ibs_reads_the_width_of_the_source_from_cpuid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
