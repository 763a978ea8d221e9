/* The suite writes valid files, names what is wrong with its settings, judges rows by expectations, and stops after a row. Rows run natively here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/measure/layout.h"
#include "runner/host/native.h"
#include "tests/unit/support/memory_host.h"

static struct native *native;
static struct cpu cpu;
static struct access backend; /* the native one, whose kind tests may change */
static struct memory_host h;
static struct suite_summary sum;

static void open_native(void)
{
	char problem[128] = "";
	if (native_open(&native, problem, sizeof(problem)) != ST_OK)
		fail_msg("%s", problem);
	backend = *native_access(native);
	assert_int_equal(cpu_identify(&backend, &cpu), ST_OK);
	memory_host_init(&h);
}

static void close_native(void)
{
	assert_int_equal(h.taken, 0);
	memory_host_free(&h);
	native_close(native);
}

static void run(const struct suite_settings *s)
{
	assert_int_equal(suite_run(&backend, &cpu, s, &h.host, &sum), ST_OK);
}

static void assert_json(const char *text)
{
	assert_non_null(text);
	const char *bad = json_problem(text);
	if (bad)
		fail_msg("not JSON at: %.60s", bad);
}

static void test_suite_json_checker_knows_json(void **state)
{
	(void)state;
	static const char *const good[] = { "{}", "[]", "{\"a\": [1, -2.50, null, true, \"x\\n\\u00e9\"]}", " 0 " };
	static const char *const bad[] = { "", "{", "{\"a\"}", "{\"a\": 1,}", "[1 2]", "01", "1.", "\"a\nb\"", "{} {}", "nul" };
	for (unsigned i = 0; i < COUNT_OF(good); i++)
		assert_null(json_problem(good[i]));
	for (unsigned i = 0; i < COUNT_OF(bad); i++)
		assert_non_null(json_problem(bad[i]));
}

static void test_suite_files_are_valid(void **state)
{
	(void)state;
	struct suite_settings s = { .suite = "load.l1.*,load.l2.penalty", .label = "quote \" and \\" };
	char *journal, *save = NULL;
	unsigned lines = 0, rows_seen = 0;
	open_native();
	run(&s);
	assert_int_equal(sum.rows, 2);
	assert_json(memory_host_file(&h, "results.json"));
	assert_non_null(strstr(memory_host_file(&h, "results.json"), "\"label\": \"quote \\\" and \\\\\""));
	journal = strdup(memory_host_file(&h, "journal.jsonl"));
	for (char *line = strtok_r(journal, "\n", &save); line; line = strtok_r(NULL, "\n", &save), lines++) {
		static const char *const order[] = { "run", "environment", "start", "row", "start", "row", "end" };
		char event[64];
		assert_json(line);
		assert_true(lines < COUNT_OF(order));
		snprintf(event, sizeof(event), "{\"event\": \"%s\"", order[lines]);
		assert_memory_equal(line, event, strlen(event));
		if (!strncmp(line, "{\"event\": \"row\"", 15)) {
			/* the same object as in results.json */
			char *row = strstr(line, "\"row\": {") + 7;
			row[strlen(row) - 1] = 0;
			assert_non_null(strstr(memory_host_file(&h, "results.json"), row));
			rows_seen++;
		}
	}
	assert_int_equal(lines, 7);
	assert_int_equal(rows_seen, 2);
	free(journal);
	const char *csv = memory_host_file(&h, "penalties.csv");
	unsigned csv_lines = 0;
	for (const char *c = csv; *c; c++)
		csv_lines += *c == '\n';
	assert_int_equal(csv_lines, 3);
	close_native();
}

static void test_suite_stops_after_the_current_row(void **state)
{
	(void)state;
	struct suite_settings s = { .suite = "quick" };
	open_native();
	h.stop_after = 1;
	run(&s);
	assert_true(sum.stopped);
	assert_int_equal(sum.rows, 1);
	assert_json(memory_host_file(&h, "results.json"));
	close_native();
}

static void test_suite_goes_on_when_files_fail(void **state)
{
	(void)state;
	struct suite_settings s = { .suite = "load.l1.latency" };
	char line[256];
	struct text t;
	open_native();
	h.append_status = ST_FULL;
	h.write_status = ST_IO;
	run(&s);
	assert_int_equal(sum.rows, 1);
	assert_int_equal(h.result_count, 1);
	assert_int_equal(sum.files, ST_FULL); /* the first failure */
	text_init(&t, line, sizeof(line));
	table_summary(&t, &backend, &sum);
	assert_non_null(strstr(line, "could not be written"));
	close_native();
}

static void test_suite_check_names_what_is_wrong(void **state)
{
	(void)state;
	static const struct { struct suite_settings s; enum status st; const char *expected; } cases[] = {
		{ { .suite = NULL }, ST_OK, "" },
		{ { .suite = "full" }, ST_OK, "" },
		{ { .suite = "load.*, triad.l1.bandwidth" }, ST_OK, "" },
		{ { .suite = "quick,lode.*" }, ST_MISSING, "\"lode.*\"" },
		{ { .suite = "quick", .repetitions = 1000 }, ST_RANGE, "1000" },
		{ { .suite = "quick", .kernels = "k_triad_sse2, k_copy_avx" }, ST_OK, "" },
		{ { .suite = "quick", .kernels = "k_triad_sse2,k_chase" }, ST_MISSING, "\"k_chase\"" },
		{ { .suite = "quick", .kernels = "k_triad_avx", .vector_bits = 128 }, ST_UNSUPPORTED, "k_triad_avx has instructions that vector_bits excludes" },
		{ { .expect = "load.l1.latency = ok\ntlb.* = unproven|noisy\n" }, ST_OK, "" },
		{ { .expect = "\nlode = ok\n" }, ST_SYNTAX, "line 2" },
		{ { .expect = "load.l1.latency = okay\n" }, ST_SYNTAX, "\"okay\"" },
		{ { .expect = "load.l1.latency\n" }, ST_SYNTAX, "line 1" },
	};
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		char problem[256] = "";
		assert_int_equal(suite_check(&cases[i].s, problem, sizeof(problem)), cases[i].st);
		assert_non_null(strstr(problem, cases[i].expected));
		if (cases[i].st == ST_OK)
			assert_string_equal(problem, "");
	}
}

static void test_suite_expectations_decide_what_is_unexpected(void **state)
{
	(void)state;
	static const struct { enum access_kind kind; const char *expect; unsigned unexpected; } cases[] = {
		{ ACCESS_NATIVE, NULL, 0 },                         /* unproven is no failure on a real machine */
		{ ACCESS_NATIVE, "load.l1.latency = ok", 1 },
		{ ACCESS_NATIVE, "load.l1.latency = ok|unproven", 0 },
		{ ACCESS_NATIVE, "load.* = ok\nload.l1.latency = unproven", 0 }, /* the last match counts */
		{ ACCESS_SIM, NULL, 1 },                            /* but it is on a simulated one */
		{ ACCESS_SIM, "load.l1.latency = unproven", 0 },
	};
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		struct suite_settings s = { .suite = "load.l1.latency", .repetitions = 3, .expect = cases[i].expect };
		open_native();
		backend.kind = cases[i].kind;
		run(&s);
		assert_int_equal(h.results[0].status, ROW_UNPROVEN);
		assert_int_equal(sum.unexpected, cases[i].unexpected);
		/* all files say whether the machine is simulated */
		const char *simulated = cases[i].kind == ACCESS_SIM ? "\"simulated\": true" : "\"simulated\": false";
		const char *json = memory_host_file(&h, "results.json"), *first = strstr(json, simulated);
		assert_non_null(first);
		assert_non_null(strstr(first + 1, simulated));
		assert_non_null(strstr(memory_host_file(&h, "penalties.csv"), cases[i].kind == ACCESS_SIM ? ",true," : ",false,"));
		close_native();
	}
}

/* An unsupported row is expected if the machine lacks the level, but not if the level is unknown. */
static void test_suite_unsupported_has_its_reason(void **state)
{
	(void)state;
	struct suite_settings s = { .suite = "load.l3.latency", .repetitions = 3 };
	open_native();
	backend.kind = ACCESS_SIM;
	cpu.cache_count = 0;
	for (unsigned level = 1; level <= 2; level++)
		cpu.caches[cpu.cache_count++] = (struct cpu_cache){ (uint8_t)level, level == 1 ? 'D' : 'U', 8, 64,
			level == 1 ? 32768 : 262144, 1, false };
	run(&s);
	assert_int_equal(h.results[0].status, ROW_UNSUPPORTED);
	assert_string_equal(h.results[0].reason, "no L3 cache");
	assert_int_equal(sum.unexpected, 0);
	memory_host_free(&h);
	memory_host_init(&h);
	cpu.cache_count = 0;
	s.suite = "load.l1.latency";
	run(&s);
	assert_int_equal(h.results[0].status, ROW_UNSUPPORTED);
	assert_int_equal(sum.unexpected, 1);
	close_native();
}

static enum status run_ends; /* how each job ends */
static enum status run_ends_so(void *self, struct job *jobs, unsigned n, uint64_t limit)
{
	(void)self, (void)limit;
	for (unsigned i = 0; i < n; i++) {
		jobs[i].status = run_ends;
		jobs[i].vector = 14;
		jobs[i].ip = SPACE_CODE + 0x40;
	}
	return run_ends;
}

static const struct { enum status ends; enum row_status status; const char *reason; } endings[] = {
	{ ST_FAULT, ROW_FAULT, "vector 14 at 0x200000000040" }, { ST_TIMEOUT, ROW_TIMEOUT, "the kernel did not end in time on core 0, at 0x200000000040" },
	{ ST_BROKEN, ROW_FAILED, "broken" }, { ST_IO, ROW_FAILED, "i/o error" }, { ST_UNSUPPORTED, ROW_UNSUPPORTED, "unsupported" },
};

/* Each ending of a job has a row status of its own: only an exception is a fault. */
static void test_suite_ending_of_a_job_is_a_row_status(void **state)
{
	(void)state;
	struct suite_settings s = { .suite = "load.l1.latency,load.l2.latency" };
	struct access_ops ops;
	open_native();
	ops = *backend.ops;
	ops.run = run_ends_so;
	backend.ops = &ops;
	for (unsigned i = 0; i < COUNT_OF(endings); i++) {
		run_ends = endings[i].ends;
		run(&s);
		assert_int_equal(sum.rows, 2);
		assert_int_equal(sum.by_status[endings[i].status], 2);
		assert_non_null(strstr(h.results[0].reason, endings[i].reason));
		memory_host_free(&h);
		memory_host_init(&h);
	}
	close_native();
}

static void test_suite_same_seed_same_order(void **state)
{
	(void)state;
	struct random a, b;
	uint32_t x[50], y[50];
	random_init(&a, 42);
	random_init(&b, 42);
	random_shuffle(&a, x, 50);
	random_shuffle(&b, y, 50);
	assert_memory_equal(x, y, sizeof(x));
	random_init(&b, 43);
	random_shuffle(&b, y, 50);
	assert_memory_not_equal(x, y, sizeof(x));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suite_json_checker_knows_json),
		cmocka_unit_test(test_suite_files_are_valid),
		cmocka_unit_test(test_suite_stops_after_the_current_row),
		cmocka_unit_test(test_suite_goes_on_when_files_fail),
		cmocka_unit_test(test_suite_check_names_what_is_wrong),
		cmocka_unit_test(test_suite_expectations_decide_what_is_unexpected),
		cmocka_unit_test(test_suite_unsupported_has_its_reason),
		cmocka_unit_test(test_suite_ending_of_a_job_is_a_row_status),
		cmocka_unit_test(test_suite_same_seed_same_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
