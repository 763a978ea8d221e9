/* Rows of several cores and nodes find the values in simulated machines' files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/multicore/multicore.h"
#include "bench/multicore/matrix.h"
#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/loop_meets.h"
#include "tests/unit/support/host_pages.h"

#define LOADS "load.l3_shared.*,load.l3_*_other_core.*,load.remote_l3_*,load.dram_remote.*,load.dram_page_*"

static void run_on(struct loop_run *r, const char *text, const char *suite)
{
	loop_open(r, text);
	loop_suite(r, suite);
}

static void close_run(struct loop_run *r)
{
	assert_int_equal(r->guard.refused, 0);
	loop_close(r);
}

/* Every row is as the formulas say: ok and within the bounds, or unsupported. Returns how many were ok. */
static unsigned all_as_expected(const struct loop_run *r, const char *text, const char *machine)
{
	char *format = loop_format();
	unsigned met = 0, missed = 0;
	for (unsigned i = 0; i < r->host.result_count; i++) {
		const struct row_result *row = &r->host.results[i];
		struct expectation e = { 0 };
		enum status st = expect_row(text, format, row->name, &e);
		bool as = st == ST_UNSUPPORTED ? row->status == ROW_UNSUPPORTED && row->absent :
			loop_pages_are_closed(row, text, format) || (st == ST_OK && (row->status == ROW_OK || (row->status == ROW_UNPROVEN && row->unprovable)) && row->value_milli >= e.least_milli && row->value_milli <= e.most_milli);
		if (!as) {
			fprintf(stderr, "%s, %s: %s, %lld, expected %lld to %lld (%s); %s\n", machine, row->name, row_status_name(row->status),
			        (long long)row->value_milli, (long long)e.least_milli, (long long)e.most_milli, status_name(st), row->reason);
			missed++;
		} else if (st == ST_OK) {
			met++;
		}
	}
	free(format);
	assert_int_equal(missed, 0);
	assert_int_equal(r->sum.unexpected, 0);
	return met;
}

static void test_cores_loads_find_the_machines(void **state)
{
	(void)state;
	static const struct { const char *name; unsigned ok; } machines[] = {
		{ "nehalem-ep", 14 }, { "haswell-ep", 14 }, { "skylake-sp", 14 }, { "core2", 4 },
	};
	static struct loop_run r;
	for (unsigned i = 0; i < COUNT_OF(machines); i++) {
		char *text = loop_machine(machines[i].name, NULL, 0);
		run_on(&r, text, LOADS);
		assert_int_equal(all_as_expected(&r, text, machines[i].name), machines[i].ok);
		close_run(&r);
		free(text);
	}
}

/* The whole matrix: every pair of cores has its cell, and the classes are as the formulas say. */
static void test_cores_matrix_has_every_pair(void **state)
{
	(void)state;
	static const struct { const char *name; unsigned ok, cells; } machines[] = {
		{ "nehalem-ep", 4, 2 * 8 * 7 }, { "core2", 6, 2 * 8 * 7 },
	};
	static struct loop_run r;
	for (unsigned i = 0; i < COUNT_OF(machines); i++) {
		char *text = loop_machine(machines[i].name, NULL, 0);
		unsigned cells = 0, lines = 0;
		run_on(&r, text, "core_to_core.*");
		assert_int_equal(all_as_expected(&r, text, machines[i].name), machines[i].ok);
		const char *json = memory_host_file(&r.host, "results.json"), *journal = memory_host_file(&r.host, "journal.jsonl");
		assert_null(json_problem(json));
		for (const char *at = json; (at = strstr(at, ", null, null]")); at++)
			cells++;
		assert_int_equal(cells, machines[i].cells);
		for (const char *at = journal; (at = strstr(at, "\"matrix\": {")); at++)
			lines++;
		assert_int_equal(lines, machines[i].ok);
		/* A pair costs the same whatever the number of pairs: 128 cores have 2 * 128 * 127 cells. */
		uint64_t ticks = 0, most = 0;
		for (unsigned core = 0; core < sim_access(r.sim)->cores; core++) {
			assert_int_equal(sim_access(r.sim)->ops->rdtsc(sim_access(r.sim)->self, core, &ticks), ST_OK);
			most = ticks > most ? ticks : most;
		}
		uint64_t all_ms = most * 1000 / sim_access(r.sim)->tsc_hz * 2 * 128 * 127 / machines[i].cells;
		fprintf(stderr, "%s: %llu instructions, %llu ms of the machine's time for 128 cores\n", machines[i].name,
		        (unsigned long long)r.instructions, (unsigned long long)all_ms);
		assert_true(all_ms < 60000);
		assert_true(r.instructions < 2000000);
		close_run(&r);
		free(text);
	}
}

/* Rows during which other cores work: lines are lost to them, and they keep channels busy. */
static void test_cores_rows_while_others_work_are_as_expected(void **state)
{
	(void)state;
	static const struct { const char *name; unsigned ok; } machines[] = { { "nehalem-ep", 2 }, { "core2", 2 }, { "haswell-ep", 2 } };
	static struct loop_run r;
	for (unsigned i = 0; i < COUNT_OF(machines); i++) {
		char *text = loop_machine(machines[i].name, NULL, 0);
		run_on(&r, text, "sync.false_sharing.*,load.dram_loaded.*");
		assert_int_equal(all_as_expected(&r, text, machines[i].name), machines[i].ok);
		const struct series *s = &memory_host_result(&r.host, "load.dram_loaded.penalty")->series;
		assert_true(s->points >= 4);
		assert_int_equal(s->milli[0][1], 0);
		/* Alone a load takes the latency of memory and of a fence; the more the others read, the longer. Once the channels are saturated, it is the data in
		 * flight, latency times rate (Little's law), that does not fall; with full buffers it is constant to a thousandth. */
		for (unsigned p = 1; p < s->points; p++) {
			assert_true(s->milli[p][1] * 1001 > s->milli[p - 1][1] * 1000); /* a full channel carries no more */
			if (s->milli[p - 1][1] && s->milli[p][1] / 11 < s->milli[p - 1][1] / 10)
				assert_true((double)s->milli[p][1] * (double)s->milli[p][2] >= 0.999 * (double)s->milli[p - 1][1] * (double)s->milli[p - 1][2]);
			else
				assert_true(s->milli[p][2] + 1000 >= s->milli[p - 1][2]);
		}
		assert_true(s->milli[s->points - 1][2] > s->milli[0][2] + 20000);
		assert_null(json_problem(memory_host_file(&r.host, "results.json")));
		assert_non_null(strstr(memory_host_file(&r.host, "results.json"), "\"series\": {\"columns\": [\"delay_turns\""));
		close_run(&r);
		free(text);
	}
}

/* Little's law: if the fill buffers of the other cores saturate the only channel, a line waits for the lines in flight, 64 bytes each, and for none
 * that is not yet requested: the others' load buffers and reorder buffers make no difference. */
static void test_cores_loaded_latency_is_that_of_the_lines_under_way(void **state)
{
	(void)state;
	static const struct { const char *section, *key, *value; uint64_t under_way; } moved[] = {
		{ "core", "load_buffers", "48", 3 * 10 + 1 }, { "core", "load_buffers", "14", 3 * 10 + 1 }, { "core", "rob", "64", 3 * 10 + 1 },
		{ "lfb", "entries", "5", 3 * 5 + 1 }, { "topology", "threads", "2", 3 * 10 + 1 } };
	/* 64 bytes at 10.67 GB/s, in cycles of 2.93 GHz; beside: LFENCE and the load's own way */
	const int64_t line_milli = 17600, beside_milli = 20000;
	static struct loop_run r;

	for (unsigned i = 0; i < COUNT_OF(moved); i++) {
		const char *const lines[][3] = { { "prefetch", "present", "0" }, { "dram", "channels", "1" }, { moved[i].section, moved[i].key, moved[i].value } };
		char *text = loop_machine("nehalem-ep", lines, COUNT_OF(lines));

		run_on(&r, text, "load.dram_loaded.*");
		const struct series *s = &memory_host_result(&r.host, "load.dram_loaded.penalty")->series;
		const int64_t latency = s->milli[s->points - 1][2], waits = (int64_t)moved[i].under_way * line_milli;
		fprintf(stderr, "%s = %s: %lld, %lld under way\n", moved[i].key, moved[i].value, (long long)latency, (long long)waits);
		assert_true(s->points >= 4);
		assert_true(latency >= waits - line_milli && latency <= waits + line_milli + beside_milli);
		close_run(&r);
		free(text);
	}
}

/* Enough cores that wait only for their fill buffers saturate every channel, as long as requests are served in the order in which they arrive. */
static void test_cores_stores_past_the_caches_fill_the_channels(void **state)
{
	(void)state;
	/* sockets * channels * bytes a second of its machine file */
	static const struct { const char *name; int64_t all; } machines[] = { { "skylake-sp", 2ll * 6 * 21333333333 }, { "haswell-ep", 2ll * 4 * 17066666666 } };
	static struct loop_run r;

	for (unsigned i = 0; i < COUNT_OF(machines); i++) {
		char *text = loop_machine(machines[i].name, NULL, 0);

		run_on(&r, text, "write.dram_nt_all.*");
		const int64_t rate = memory_host_result(&r.host, "write.dram_nt_all.bandwidth")->value_milli / 1000;
		fprintf(stderr, "%s: %lld of %lld bytes a second\n", machines[i].name, (long long)rate, (long long)machines[i].all);
		assert_true(rate >= machines[i].all / 1000 * 995);
		assert_true(rate <= machines[i].all / 1000 * 1002); /* a window's first and last lines */
		close_run(&r);
		free(text);
	}
}

/* Threads of one core find each other's lines in the L1. */
static void test_cores_matrix_of_threads_has_the_l1(void **state)
{
	(void)state;
	static const char *const threads[][3] = { { "topology", "threads", "2" }, { "topology", "sockets", "1" }, { "topology", "cores", "2" } };
	static struct loop_run r;
	char *text = loop_machine("nehalem-ep", threads, 3);
	run_on(&r, text, "core_to_core.*");
	assert_int_equal(all_as_expected(&r, text, "threads"), 4);
	close_run(&r);
	free(text);
}

static void test_cores_bimodal_samples_are_told(void **state)
{
	(void)state;
	static const int64_t two[] = { 100, 101, 102, 103, 150, 151, 152, 153, 154, 155 };
	static const int64_t one[] = { 100, 101, 102, 103, 104, 105, 106, 107, 108, 109 };
	static const int64_t outlier[] = { 100, 101, 102, 103, 104, 105, 106, 107, 108, 200 };
	static const int64_t wide[] = { 100, 110, 120, 130, 140, 160, 170, 180, 190, 200 };
	int64_t low, high;
	assert_true(matrix_bimodal(two, 10, &low, &high));
	assert_int_equal(low, 102);
	assert_int_equal(high, 153);
	assert_false(matrix_bimodal(one, 10, &low, &high));
	assert_false(matrix_bimodal(outlier, 10, &low, &high));
	assert_false(matrix_bimodal(wide, 10, &low, &high));
	assert_int_equal(low, -1);
}

/* Each value of a machine is found again after it is changed. */
static void test_cores_moved_truths_are_found(void **state)
{
	(void)state;
	static const char *const moved[][3] = {
		{ "l3", "clean_uncore_cycles", "31" }, { "l3", "modified_uncore_cycles", "47" }, { "link", "clean_ps", "61000" },
		{ "link", "modified_ps", "123000" }, { "dram", "remote_ps", "99000" }, { "dram", "open_page", "1" },
		{ "dram", "page_hit_ps", "9000" }, { "dram", "page_miss_ps", "17000" }, { "link", "modified_as_dram", "1" },
	};
	static struct loop_run r;
	char *text = loop_machine("nehalem-ep", moved, COUNT_OF(moved));
	run_on(&r, text, LOADS);
	assert_int_equal(all_as_expected(&r, text, "moved"), 14);
	close_run(&r);
	free(text);
}

/* Counts show that a helper left lines in another state than the row requires: the row is unproven. */
static void test_cores_forwarded_modified_lines_are_unproven(void **state)
{
	(void)state;
	static const char *const forwards[][3] = { { "link", "modified_as_dram", "0" } };
	static struct loop_run r;
	char *text = loop_machine("nehalem-ep", forwards, 1);
	run_on(&r, text, "load.remote_l3_modified.*");
	assert_int_equal(r.sum.by_status[ROW_UNPROVEN], 2);
	close_run(&r);
	free(text);
}

static void test_cores_small_machines_lack_the_rows(void **state)
{
	(void)state;
	static const char *const one[][3] = { { "topology", "sockets", "1" }, { "topology", "cores", "1" } };
	static const char *const two[][3] = { { "topology", "sockets", "1" }, { "topology", "cores", "2" } };
	static struct loop_run r;
	char *text = loop_machine("nehalem-ep", one, 2);
	run_on(&r, text, LOADS);
	assert_int_equal(all_as_expected(&r, text, "one core"), 2);
	assert_string_equal(memory_host_result(&r.host, "load.l3_clean_other_core.latency")->reason, "one core");
	assert_string_equal(memory_host_result(&r.host, "load.dram_remote.latency")->reason, "one memory node");
	close_run(&r);
	free(text);
	text = loop_machine("nehalem-ep", two, 2);
	run_on(&r, text, LOADS);
	assert_int_equal(all_as_expected(&r, text, "two cores"), 6);
	assert_string_equal(memory_host_result(&r.host, "load.l3_shared.latency")->reason, "fewer than three cores share the L3");
	assert_string_equal(memory_host_result(&r.host, "load.remote_l3_clean.latency")->reason, "one socket");
	close_run(&r);
	free(text);
}

/* A helper that never answers fails only the rows that need it, and they name it. */
static void test_cores_dead_helper_fails_its_rows_alone(void **state)
{
	(void)state;
	static const char *const dead[][3] = { { "fault", "dead_core", "2" } };
	static struct loop_run r;
	char *text = loop_machine("nehalem-ep", dead, 1);
	run_on(&r, text, "load.l3_clean_other_core.latency,load.remote_l3_clean.latency,load.l3.latency");
	assert_int_equal(memory_host_result(&r.host, "load.l3_clean_other_core.latency")->status, ROW_TIMEOUT);
	assert_string_equal(memory_host_result(&r.host, "load.l3_clean_other_core.latency")->reason, "core 1 did not answer in time");
	assert_int_equal(memory_host_result(&r.host, "load.remote_l3_clean.latency")->status, ROW_OK);
	assert_int_equal(memory_host_result(&r.host, "load.l3.latency")->status, ROW_OK);
	close_run(&r);
	free(text);
}

/* With a core that never answers, no row of several cores hangs, and those that need the core name it. */
static void test_cores_dead_core_ends_every_multicore(void **state)
{
	(void)state;
	static const char *const dead[][3] = { { "fault", "dead_core", "4" } };
	static struct loop_run r;
	unsigned failed = 0;
	char *text = loop_machine("nehalem-ep", dead, 1);
	run_on(&r, text, "read.*_all.*,triad.dram_nt_all.*,read.node_*,core_to_core.*,load.dram_loaded.*,sync.false_sharing.*");
	for (unsigned i = 0; i < r.host.result_count; i++) {
		const struct row_result *row = &r.host.results[i];
		if (row->status == ROW_TIMEOUT) {
			assert_string_equal(row->reason, "core 3 did not answer in time");
			failed++;
		} else if (row->status != ROW_OK && row->status != ROW_UNSUPPORTED) {
			fail_msg("%s: %s, %s", row->name, row_status_name(row->status), row->reason);
		}
	}
	assert_int_equal(memory_host_result(&r.host, "sync.false_sharing.penalty")->status, ROW_OK); /* cores 0 and 1 */
	assert_int_equal(memory_host_result(&r.host, "read.dram_all.bandwidth")->status, ROW_TIMEOUT);
	assert_int_equal(memory_host_result(&r.host, "load.dram_loaded.penalty")->status, ROW_TIMEOUT);
	assert_true(failed >= 9);
	close_run(&r);
	free(text);
}

/* Only the row whose arrays do not fit in memory is unsupported, with that reason. */
static struct { struct access_ops ops; const struct access *under; } small;

static enum status small_map(void *self, struct mapping *m)
{
	return m->bytes >= 0x1000000 ? ST_FULL : small.under->ops->map(self, m);
}

static void test_cores_arrays_beyond_memory_are_told(void **state)
{
	(void)state;
	static struct loop_run r;
	static struct access with;
	loop_open(&r, loop_built_in("nehalem-ep"));
	with = r.guard.access;
	small.under = &with;
	small.ops = *with.ops;
	small.ops.map = small_map;
	r.guard.access.ops = &small.ops;
	loop_suite(&r, "read.l1_all.bandwidth,write.dram_all.bandwidth");
	r.guard.access.ops = with.ops;
	assert_int_equal(memory_host_result(&r.host, "read.l1_all.bandwidth")->status, ROW_OK);
	assert_int_equal(memory_host_result(&r.host, "write.dram_all.bandwidth")->status, ROW_UNSUPPORTED);
	assert_string_equal(memory_host_result(&r.host, "write.dram_all.bandwidth")->reason, "not enough memory");
	assert_int_equal(r.sum.unexpected, 0);
	close_run(&r);
}

/* Lists of cores and nodes are checked, and choose those of every row of several. */
static void test_cores_lists_are_kept_to(void **state)
{
	(void)state;
	static struct cpuset p;
	static const struct { const char *cores, *nodes, *problem; } bad[] = {
		{ "0,8", NULL, "cores: no core 8 in \"0,8\"; there are 0 to 7" }, { NULL, "0-9", "nodes: no node 2 in \"0-9\"; there are 0 to 1" },
		{ "1", NULL, "cores: \"1\" lacks core 0, which measures" }, { NULL, "1", "nodes: \"1\" lacks node 0, which is that of core 0" },
		{ "0,", NULL, "cores: expected all, or numbers and ranges such as 0-3,8; found \"0,\"" },
	};
	static struct loop_run r;
	char problem[200], *text = loop_machine("nehalem-ep", NULL, 0);
	run_on(&r, text, "load.l1.latency");
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		const struct suite_settings s = { .cores = bad[i].cores, .nodes = bad[i].nodes };
		assert_int_equal(cpuset_choose(sim_access(r.sim), s.cores, s.nodes, &p, problem, sizeof(problem)), ST_RANGE);
		assert_string_equal(problem, bad[i].problem);
	}
	const struct suite_settings s = { .cores = "0,2-3,7", .nodes = "0" };
	assert_int_equal(cpuset_choose(sim_access(r.sim), s.cores, s.nodes, &p, problem, sizeof(problem)), ST_OK);
	assert_true(p.core[0] && !p.core[1] && p.core[2] && p.core[3] && !p.core[6] && p.core[7] && p.node[0] && !p.node[1]);
	close_run(&r);
	free(text);
}

/* Windows in which the core's other thread was not idle are rejected and counted. */
static void test_cores_windows_beside_a_busy_thread_are_rejected(void **state)
{
	(void)state;
	static const struct { const char *core, *us; enum row_status status; bool rejected; } cases[] = {
		{ "2", "0", ROW_NOISY, true }, { "2", "1000", ROW_OK, true }, { "3", "0", ROW_OK, false }, { "0", "0", ROW_OK, false },
	};
	static struct loop_run r;
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		const char *const lines[][3] = { { "topology", "threads", "2" }, { "topology", "sockets", "1" }, { "topology", "cores", "2" },
			{ "fault", "busy_core", cases[i].core }, { "fault", "busy_us", cases[i].us } };
		char *text = loop_machine("nehalem-ep", lines, 5);
		run_on(&r, text, "load.dram_local.latency");
		const struct row_result *row = memory_host_result(&r.host, "load.dram_local.latency");
		if (row->status != cases[i].status || (row->rejected > 0) != cases[i].rejected)
			fail_msg("thread %s busy for %s us: %s, %u rejected; %s", cases[i].core, cases[i].us, row_status_name(row->status), row->rejected,
			         row->reason);
		if (row->status == ROW_NOISY)
			assert_string_equal(row->reason, "every window was disturbed");
		close_run(&r);
		free(text);
	}
}

static void test_cores_relations_follow_the_topology(void **state)
{
	(void)state;
	static const char *const threads[][3] = { { "topology", "threads", "2" } };
	static const struct { const char *machine; unsigned other; enum relation relation; } cases[] = {
		{ "nehalem-ep", 1, RELATION_SAME_CORE }, { "nehalem-ep", 2, RELATION_SAME_SOCKET }, { "nehalem-ep", 7, RELATION_SAME_SOCKET },
		{ "nehalem-ep", 8, RELATION_OTHER_SOCKET }, { "core2", 2, RELATION_SAME_CLUSTER }, { "core2", 4, RELATION_SAME_SOCKET },
		{ "core2", 8, RELATION_OTHER_SOCKET },
	};
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		static struct core_groups g;
		char problem[256], *text = loop_machine(cases[i].machine, threads, 1);
		struct machine m;
		struct sim *sim;
		struct cpu cpu;
		assert_int_equal(machine_read("test", text, strlen(text), &m, problem, sizeof(problem)), ST_OK);
		assert_int_equal(sim_open(&m, &host_pages, &sim), ST_OK);
		assert_int_equal(cpu_identify(sim_access(sim), &cpu), ST_OK);
		assert_int_equal(cores_find(sim_access(sim), &cpu, &g), 1);
		if (cores_relation(&g, 0, cases[i].other) != cases[i].relation)
			fail_msg("%s, cores 0 and %u: relation %d", cases[i].machine, cases[i].other, cores_relation(&g, 0, cases[i].other));
		sim_close(sim);
		free(text);
	}
}

/* Which cores conflict in memory's banks depends on the distance between their places. Between two pairs of windows it changes as if places were drawn
 * independently (within 64 lines of 16384: one in 128). */
static void test_cores_places_of_a_multicore_are_independent(void **state)
{
	(void)state;
	enum { MEMBERS = 36, LINES = 16384, NEAR = 64 };
	static struct member members[MEMBERS];
	const struct multicore c = { .members = members, .pair_bytes = 64 * 640 };
	unsigned distances = 0, near = 0;

	for (unsigned i = 0; i < MEMBERS; i++)
		members[i].set.shape = (struct shape){ .array_bytes = 64 * LINES, .line_bytes = 64 };
	for (unsigned i = 0; i < MEMBERS; i++)
		for (unsigned k = 0; k < i; k++)
			for (unsigned pair = 0; pair < START_OFFSETS; pair++)
				for (unsigned before = 0; before < pair; before++) {
					const int64_t distance = (int64_t)(multicore_start_offset(&c, i, pair) - multicore_start_offset(&c, k, pair));
					const int64_t other = (int64_t)(multicore_start_offset(&c, i, before) - multicore_start_offset(&c, k, before));

					assert_true(multicore_start_offset(&c, i, pair) <= 64 * LINES - c.pair_bytes);
					distances++;
					near += distance - other < 64 * NEAR && other - distance < 64 * NEAR;
				}
	assert_true(near * 100 < distances);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cores_places_of_a_multicore_are_independent),
		cmocka_unit_test(test_cores_loads_find_the_machines),
		cmocka_unit_test(test_cores_matrix_has_every_pair),
		cmocka_unit_test(test_cores_rows_while_others_work_are_as_expected),
		cmocka_unit_test(test_cores_loaded_latency_is_that_of_the_lines_under_way),
		cmocka_unit_test(test_cores_stores_past_the_caches_fill_the_channels),
		cmocka_unit_test(test_cores_matrix_of_threads_has_the_l1),
		cmocka_unit_test(test_cores_bimodal_samples_are_told),
		cmocka_unit_test(test_cores_moved_truths_are_found),
		cmocka_unit_test(test_cores_forwarded_modified_lines_are_unproven),
		cmocka_unit_test(test_cores_small_machines_lack_the_rows),
		cmocka_unit_test(test_cores_dead_helper_fails_its_rows_alone),
		cmocka_unit_test(test_cores_dead_core_ends_every_multicore),
		cmocka_unit_test(test_cores_arrays_beyond_memory_are_told),
		cmocka_unit_test(test_cores_lists_are_kept_to),
		cmocka_unit_test(test_cores_windows_beside_a_busy_thread_are_rejected),
		cmocka_unit_test(test_cores_relations_follow_the_topology),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
