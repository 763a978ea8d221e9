/* bench/sampling/sample.c: samples of the load-latency event agree with the chase, and contradict it on faulty machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/sampling/sample.h"
#include "pmu/sim/backend/sim_state.h"
#include "pmu/sim/counters/counter_state.h"
#include "tests/unit/rigs/sampling_suite.h"

static struct sampling_suite on;

static void run_suite(void (*change)(struct machine *m), const char *suite)
{
	sampling_suite_open(&on, "nehalem-ep", change);
	sampling_suite_run(&on, suite);
}

static const struct row_result *row(const char *name) { return sampling_suite_row(&on, name); }

/* Every record names the row's source and the load's address; the values are within 2 % of the chases'. */
static void test_sample_latency_event_agrees_with_each_chase(void **state)
{
	(void)state;
	static const struct { const char *row; unsigned code; } cases[] = {
		{ "load.l1.latency", 1 }, { "load.l2.latency", 3 }, { "load.l3.latency", 4 }, { "load.dram_local.latency", 12 } };
	run_suite(NULL, "load.*.latency");
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		const struct row_result *r = row(cases[i].row);
		const struct sample_result *s = &r->sample;
		assert_int_equal(r->status, ROW_OK);
		assert_int_equal(s->verdict, SAMPLE_AGREES);
		assert_in_range(s->records, 150, 700);
		/* also in the L1, from which code between jobs evicts lines */
		assert_int_equal(s->sources[cases[i].code].count, s->records);
		assert_int_equal(s->wrong_address, 0);
		assert_true(s->outside < 8);
		assert_in_range(s->difference_milli + 20, 0, 40);
		assert_false(s->full);
		/* one load in three is tagged */
		assert_in_range(s->fraction_milli, 310, 360);
		/* only loads of 4 cycles fall into the shadow of 8 cycles, where a lost record cannot be told from one in the shadow */
		assert_int_equal(s->lost_known, i > 0);
		assert_int_equal(s->lost, 0);
		if (i > 0)
			assert_true(s->shadow_milli < 20);
		else
			assert_in_range(s->lost_most, 1, s->records / 5);
	}
	const char *json = memory_host_file(&on.host, "results.json");
	assert_null(json_problem(json));
	assert_non_null(strstr(json, "\"latency_event\": {\"verdict\": \"agrees\""));
	assert_non_null(strstr(json, "\"sources\": {\"L2_HIT\": {\"count\": "));
	sampling_suite_close(&on);
}

/* No row accepts the code into which 7 turns its own; 5 would turn LOCAL_DRAM_EXCLUSIVE into another socket's modified line. */
static void other_sources(struct machine *m) { m->fault_data_source_flip = 7; }
static void drop(struct machine *m) { m->fault_pebs_drop_every = 4; }
static void no_pebs(struct machine *m) { m->pmu_pebs_format = 255; m->pmu_load_latency = 0; }
static void no_threshold(struct machine *m) { m->fault_msr_missing = 0x3F6; }

/* Servers from Skylake-SP on have other source names for local and remote memory, for which these rows once had neither samples nor a reason. */
static void test_sample_memory_of_servers_has_its_source(void **state)
{
	(void)state;
	static const char *const machines[] = { "haswell-ep", "skylake-sp", "ice-lake-sp", "sapphire-rapids" };
	static const struct { const char *row, *source; } cases[] = { { "load.dram_local.latency", "LOCAL_DRAM" }, { "load.dram_remote.latency", "REMOTE_DRAM" } };
	for (unsigned m = 0; m < COUNT_OF(machines); m++) {
		sampling_suite_open(&on, machines[m], NULL);
		sampling_suite_run(&on, "load.dram_local.latency,load.dram_remote.latency");
		for (unsigned i = 0; i < COUNT_OF(cases); i++) {
			const struct row_result *r = row(cases[i].row);
			const struct latency_source *sources = on.rig.cpu.processor->latency_sources;
			uint64_t of_the_source = 0;
			if (r->status != ROW_OK || r->sample.verdict != SAMPLE_AGREES)
				fail_msg("%s: %s is %s: %s; samples: %s", machines[m], r->name, row_status_name(r->status), r->reason, r->sample.reason);
			for (unsigned k = 0; k < 16; k++)
				if (sources[k].name && !strncmp(sources[k].name, cases[i].source, strlen(cases[i].source)))
					of_the_source += r->sample.sources[sources[k].code].count;
			assert_true(r->sample.records >= 100);
			assert_int_equal(of_the_source, r->sample.records);
		}
		sampling_suite_close(&on);
	}
}

static void test_sample_wrong_data_source_leaves_no_row_ok(void **state)
{
	(void)state;
	run_suite(other_sources, "load.*.latency");
	unsigned others = 0;
	for (unsigned i = 0; i < on.host.result_count; i++) {
		if (on.host.results[i].row->order == ORDER_STAIRS || on.host.results[i].absent) { /* the staircase is not sampled; the machine lacks what the row measures */
			others++;
			continue;
		}
		assert_int_equal(on.host.results[i].status, ROW_UNPROVEN);
		assert_int_equal(on.host.results[i].sample.verdict, SAMPLE_UNPROVEN);
		assert_non_null(strstr(on.host.results[i].reason, "latency event: 0 of "));
	}
	assert_true(on.summary.rows - others >= 12);
	assert_int_equal(on.summary.unexpected, on.summary.rows - others);
	sampling_suite_close(&on);
}

static void test_sample_dropped_records_are_counted_and_said(void **state)
{
	(void)state;
	run_suite(drop, "load.l2.latency,load.l3.latency");
	for (unsigned i = 0; i < 2; i++) {
		const struct sample_result *s = &on.host.results[i].sample;
		char line[1024], lost[32];
		struct text t;
		struct table table = {.proofs = false};
		/* the lost quarter may be all of one kind, so the row is not ok */
		assert_int_equal(s->verdict, SAMPLE_UNPROVEN);
		assert_int_equal(on.host.results[i].status, ROW_UNPROVEN);
		assert_non_null(strstr(on.host.results[i].reason, "records were lost"));
		assert_true(s->lost_known);
		assert_in_range(3 * s->lost, s->records + s->outside - 4, s->records + s->outside + 4); /* every fourth */
		text_init(&t, line, sizeof(line));
		table_line(&t, &table, &on.host.results[i]);
		snprintf(lost, sizeof(lost), "; %u lost", s->lost);
		assert_non_null(strstr(line, lost));
	}
	sampling_suite_close(&on);
}

/* The machine drops every `drop_every`th record (0: none), and PEBS is armed `shadow_cycles` after an overflow. */
static struct { uint64_t drop_every, shadow_cycles; } planted;
static void plant(struct machine *m)
{
	m->fault_pebs_drop_every = planted.drop_every;
	m->pmu_pebs_shadow_cycles = planted.shadow_cycles;
}

static uint64_t truly_lost(void)
{
	return planted.drop_every ? on.rig.sim->harts[0].counters->pebs_written / planted.drop_every : 0;
}

/* The number of lost records is exact, or it is unknown and not above the bound given, whatever the machine drops, and however many events fall into
 * the shadow, the time until PEBS is armed. */
static void test_sample_lost_records_are_exact_or_unknown(void **state)
{
	(void)state;
	static const uint64_t drops[] = { 0, 2, 3, 5, 7, 20 }, shadows[] = { 0, 8, 60, 200 };
	static const char *const machines[] = { "nehalem-ep", "haswell-ep" }, *const chases[] = { "load.l1.latency", "load.l2.latency", "load.l3.latency", "load.dram_local.latency" };
	unsigned exact = 0, unknown = 0, with_loss = 0;
	for (unsigned m = 0; m < COUNT_OF(machines); m++)
		for (unsigned d = 0; d < COUNT_OF(drops); d++)
			for (unsigned w = 0; w < COUNT_OF(shadows); w++)
				for (unsigned c = 2 * m; c < COUNT_OF(chases); c++) {
					planted.drop_every = drops[d];
					planted.shadow_cycles = shadows[w];
					sampling_suite_open(&on, machines[m], plant);
					sampling_suite_run(&on, chases[c]);
					const struct sample_result *s = &on.host.results[0].sample;
					const uint64_t truth = truly_lost();
					if (s->lost_known ? s->lost != truth : s->lost_most && truth > s->lost_most)
						fail_msg("%s, %s, one lost in %u, shadow %u: %u lost, said %s%u", machines[m], chases[c], (unsigned)drops[d], (unsigned)shadows[w],
						         (unsigned)truth, s->lost_known ? "" : "at most ", s->lost_known ? s->lost : s->lost_most);
					exact += s->lost_known;
					with_loss += s->lost_known && truth;
					unknown += !s->lost_known;
					/* without a shadow the number is always exact */
					if (!shadows[w] && s->records)
						assert_true(s->lost_known);
					sampling_suite_close(&on);
				}
	fprintf(stderr, "%u exact, %u of them with a loss; %u unknown\n", exact, with_loss, unknown);
	assert_true(with_loss >= 30 && unknown >= 1);
}

/* A missing facility costs the sampling alone: the row stays ok. */
static void test_sample_without_pebs_is_unsupported_with_the_reason(void **state)
{
	(void)state;
	run_suite(no_pebs, "load.*.latency");
	for (unsigned i = 0; i < on.host.result_count; i++) {
		if (on.host.results[i].absent) /* the rows of open DRAM pages */
			continue;
		assert_int_equal(on.host.results[i].status, ROW_OK);
		if (on.host.results[i].row->order == ORDER_STAIRS)
			continue;
		assert_int_equal(on.host.results[i].sample.verdict, SAMPLE_UNSUPPORTED);
		assert_string_equal(on.host.results[i].sample.reason, "no precise event based sampling (PEBS)");
	}
	sampling_suite_close(&on);
	run_suite(no_threshold, "load.l2.latency");
	assert_int_equal(on.host.results[0].status, ROW_OK);
	assert_int_equal(on.host.results[0].sample.verdict, SAMPLE_FAULT);
	assert_string_equal(on.host.results[0].sample.reason, "register 0x3F6 does not answer");
	sampling_suite_close(&on);
}

/* Runs the jobs, then moves the address in each record to the neighbouring line. */
static enum status run_then_forge(void *self, struct job *jobs, unsigned n, uint64_t limit)
{
	struct msr_guard *g = self;
	enum status s = g->under->ops->run(g->under->self, jobs, n, limit);
	uint8_t *ds = g->under->ops->ds(g->under->self, 0);
	uint64_t base, index;
	memcpy(&base, ds + 0x20, 8);
	memcpy(&index, ds + 0x28, 8);
	for (uint64_t at = base; base && at < index; at += 0xB0)
		ds[at - (SPACE_DS) + 0x98] ^= 0x40;
	return s;
}

static void test_sample_wrong_addresses_are_unproven(void **state)
{
	(void)state;
	sampling_suite_open(&on, "nehalem-ep", NULL);
	struct access_ops ops = *on.rig.a->ops;
	ops.run = run_then_forge;
	on.rig.guard.access.ops = &ops;
	sampling_suite_run(&on, "load.l2.latency");
	assert_int_equal(on.host.results[0].sample.verdict, SAMPLE_UNPROVEN);
	assert_int_equal(on.host.results[0].sample.wrong_address, on.host.results[0].sample.records);
	assert_int_equal(on.host.results[0].status, ROW_UNPROVEN);
	sampling_suite_close(&on);
}

static void test_sample_statistics_are_those_of_the_values(void **state)
{
	(void)state;
	struct sample_source s;
	uint32_t v[100], one = 7;
	for (unsigned i = 0; i < 100; i++)
		v[i] = (i * 37 + 11) % 100 + 1; /* 1 .. 100, shuffled */
	sample_describe(v, 100, &s);
	assert_int_equal(s.count, 100);
	assert_int_equal(s.mean_milli, 50500);
	assert_int_equal(s.median, 50);
	assert_int_equal(s.p10, 10);
	assert_int_equal(s.p90, 90);
	assert_int_equal(s.p99, 99);
	static const uint32_t expected[8] = { 1, 2, 4, 8, 16, 32, 37, 0 };
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(s.histogram[i], expected[i]);
	sample_describe(&one, 1, &s);
	assert_int_equal(s.p10, 7);
	assert_int_equal(s.p99, 7);
	sample_describe(v, 0, &s);
	assert_int_equal(s.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample_latency_event_agrees_with_each_chase),
		cmocka_unit_test(test_sample_memory_of_servers_has_its_source),
		cmocka_unit_test(test_sample_wrong_data_source_leaves_no_row_ok),
		cmocka_unit_test(test_sample_dropped_records_are_counted_and_said),
		cmocka_unit_test(test_sample_lost_records_are_exact_or_unknown),
		cmocka_unit_test(test_sample_without_pebs_is_unsupported_with_the_reason),
		cmocka_unit_test(test_sample_wrong_addresses_are_unproven),
		cmocka_unit_test(test_sample_statistics_are_those_of_the_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
