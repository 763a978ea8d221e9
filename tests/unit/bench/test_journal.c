/* A run that stopped at any byte of its journal continues to the same results, whole files are rebuilt from it to the byte, and damage costs
 * the damaged line alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/results/journal.h"
#include "runner/data/reader.h"
#include "tests/unit/support/closed_loop.h"

#define SUITE "load.l1.latency,load.l2.latency,load.l2.penalty"

static struct loop_run whole;
static char *journal, *results, *csv;

static int run_whole(void **state)
{
	(void)state;
	loop_open(&whole, loop_built_in("nehalem-ep"));
	loop_suite(&whole, SUITE);
	journal = strdup(memory_host_file(&whole.host, "journal.jsonl"));
	results = strdup(memory_host_file(&whole.host, "results.json"));
	csv = strdup(memory_host_file(&whole.host, "penalties.csv"));
	loop_close(&whole);
	return 0;
}

static int drop_whole(void **state)
{
	(void)state;
	free(journal), free(results), free(csv);
	return 0;
}

static void test_journal_takes_json_and_nothing_else(void **state)
{
	(void)state;
	static const char *const good[] = { "{}", "[]", "{\"a\": [1, -2.50, null, true, \"x\\n\\u00e9\"]}", "0", "\"\"" };
	static const char *const bad[] = { "", "{", "{\"a\"}", "{\"a\": 1,}", "[1 2]", "1.", "\"a\nb\"", "{} {}", "nul", "\"\\", "{\"a\": }", "-",
		"01", "-012", "\"\\q\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\u\"" };
	char deep[80];
	for (unsigned i = 0; i < COUNT_OF(good); i++)
		assert_true(json_valid((struct json){ good[i], strlen(good[i]) }));
	for (unsigned i = 0; i < COUNT_OF(bad); i++)
		assert_false(json_valid((struct json){ bad[i], strlen(bad[i]) }));
	memset(deep, '[', 40), memset(deep + 40, ']', 40);
	assert_false(json_valid((struct json){ deep, 80 }));
	assert_true(json_valid((struct json){ deep + 20, 40 }));

	static const char text[] = "{\"a\": -1.5, \"b\": {\"a\": 7}, \"c\\\"\": \"x\\\"\\u0007\\\\\", \"d\": \"plain\"}";
	struct json object = { text, sizeof(text) - 1 }, v;
	int64_t milli;
	char at[16];
	struct text t;
	assert_true(json_get(object, "a", &v) && json_milli(v, &milli) && milli == -1500);
	assert_true(json_get(object, "b", &v) && json_get(v, "a", &v) && json_milli(v, &milli) && milli == 7000);
	assert_true(json_get(object, "d", &v) && json_is(v, "plain") && !json_is(v, "plai") && !json_milli(v, &milli));
	assert_false(json_get(object, "e", &v));
	text_init(&t, at, sizeof(at));
	assert_true(json_get(object, "c\\\"", &v));
	json_string_of(&t, v);
	assert_string_equal(at, "x\"\a\\");
}

/* Continues from the first `bytes` of the journal, as the next boot does: an incomplete last line is cut off. */
static void go_on(struct loop_run *r, const char *text, size_t bytes)
{
	struct journal j;
	struct journal_line line;
	char *kept = malloc(bytes + 1);
	journal_open(&j, text, bytes);
	while (journal_next(&j, &line))
		;
	memcpy(kept, text, bytes);
	loop_open(r, loop_built_in("nehalem-ep"));
	if (j.whole_bytes)
		assert_int_equal(r->host.host.append(&r->host, "journal.jsonl", kept, j.whole_bytes), ST_OK);
	r->host.host.journal = kept;
	r->host.host.journal_bytes = j.whole_bytes;
	loop_suite(r, SUITE);
	r->host.host.journal = NULL;
	free(kept);
}

/* Returns the rows of results.json, one per line; *same: those that `like` has too, equal in all but the sampled records, of which a burst
 * catches a number that depends on what the machine did before. */
static unsigned rows_like(const char *mine, const char *like, unsigned *same)
{
	unsigned n = 0;
	*same = 0;
	for (const char *at = strstr(mine, "\n{\"name\""); at; at = strstr(at + 1, "\n{\"name\"")) {
		size_t length = strcspn(at + 1, "\n") + 1;
		char *row = strndup(at, length), *sampled = strstr(row, "\"latency_event\"");
		if (sampled) /* damage may have hit the key itself: then the row is another one */
			*sampled = 0;
		*same += strstr(like, row) != NULL;
		n++;
		free(row);
	}
	return n;
}

static void test_journal_a_run_stopped_anywhere_goes_on_to_the_same_results(void **state)
{
	(void)state;
	static struct loop_run r;
	size_t run = strcspn(journal, "\n") + 1, all = strlen(journal);
	unsigned crashes = 0, told = 0;
	for (size_t cut = run, step = (all - run) / 41; cut < all; cut += step) {
		unsigned same, crashed = 0;
		go_on(&r, journal, cut);
		const char *now = memory_host_file(&r.host, "results.json");
		crashed = r.sum.by_status[ROW_CRASHED];
		crashes += crashed;
		assert_null(json_problem(now));
		assert_in_range(crashed, 0, 1);
		assert_int_equal(rows_like(now, results, &same), 3);
		assert_int_equal(same, 3 - crashed);
		assert_int_equal(r.sum.boots, 2);
		assert_int_equal(r.sum.unexpected, crashed);
		/* windows of both boots count, except those of the row in which the machine stopped */
		assert_in_range(r.sum.disturbances.windows, crashed ? 1 : whole.sum.disturbances.windows, whole.sum.disturbances.windows - crashed);
		unsigned long counted = 0;
		for (const char *at = journal; (at = strstr(at, "\"windows\": [")) && at < journal + cut && memchr(at, '\n', (size_t)(journal + cut - at)); at++)
			counted = strtoul(at + 12, NULL, 10);
		assert_true(r.sum.disturbances.windows >= counted);
		told += counted > 0;
		/* the head is the first boot's, to the byte */
		assert_memory_equal(now, results, (size_t)(strstr(results, "\"rows\"") - results));
		loop_close(&r);
	}
	assert_true(crashes > 10);
	assert_true(told > 5);
}

static void test_journal_whole_files_are_rebuilt_to_the_byte(void **state)
{
	(void)state;
	struct memory_host h;
	memory_host_init(&h);
	assert_int_equal(suite_rebuild(journal, strlen(journal), &h.host), ST_OK);
	assert_string_equal(memory_host_file(&h, "results.json"), results);
	assert_string_equal(memory_host_file(&h, "penalties.csv"), csv);
	assert_int_equal(h.taken, 0);
	memory_host_free(&h);
	/* also those of a run that was resumed */
	static struct loop_run r;
	go_on(&r, journal, strlen(journal) * 3 / 4);
	memory_host_init(&h);
	const char *text = memory_host_file(&r.host, "journal.jsonl");
	assert_int_equal(suite_rebuild(text, strlen(text), &h.host), ST_OK);
	assert_string_equal(memory_host_file(&h, "results.json"), memory_host_file(&r.host, "results.json"));
	assert_string_equal(memory_host_file(&h, "penalties.csv"), memory_host_file(&r.host, "penalties.csv"));
	memory_host_free(&h);
	loop_close(&r);
}

/* Overwrites a row's value in a journal, padded with blanks. */
static void plant(char *text, const char *row, const char *value)
{
	char name[64];
	snprintf(name, sizeof(name), "{\"name\": \"%s\"", row);
	char *at = strstr(strstr(text, name), "\"value\": ") + strlen("\"value\": ");
	const size_t room = strcspn(at, ",");
	assert_true(strlen(value) <= room);
	memset(at, ' ', room);
	memcpy(at, value, strlen(value));
}

/* If a row of an earlier boot gets another value, the next boot finds that it and a related row contradict each other. */
static void test_journal_rows_that_contradict_become_unproven(void **state)
{
	(void)state;
	static struct loop_run r;
	static const struct { const char *row, *value, *contradicted; } planted[] = {
		{ "load.l2.penalty", "9.0", "load.l2.latency" }, /* not the latency minus the L1's */
		{ "load.l1.latency", "9.0", "load.l2.latency" }, /* the same relation */
		{ "load.l2.latency", "4.0", "load.l2.penalty" }, /* below its own penalty */
	};
	for (unsigned i = 0; i < COUNT_OF(planted); i++) {
		char *text = strdup(journal), verdict[96], problem[256] = "";
		struct memory_host h;
		struct results read;

		plant(text, planted[i].row, planted[i].value);
		go_on(&r, text, (size_t)(strstr(text, "{\"event\": \"end\"") - text));
		const char *now = memory_host_file(&r.host, "results.json"), *lines = memory_host_file(&r.host, "journal.jsonl");
		assert_null(json_problem(now));
		assert_true(r.sum.by_status[ROW_UNPROVEN] >= 2);
		assert_int_equal(r.sum.by_status[ROW_OK] + r.sum.by_status[ROW_UNPROVEN], 3);
		assert_int_equal(r.sum.unexpected, r.sum.by_status[ROW_UNPROVEN]);
		snprintf(verdict, sizeof(verdict), "{\"event\": \"verdict\", \"name\": \"%s\", \"status\": \"unproven\"", planted[i].contradicted);
		assert_non_null(strstr(lines, verdict));
		/* the verdict is the same in rebuilt files, and when the journal is read */
		memory_host_init(&h);
		assert_int_equal(suite_rebuild(lines, strlen(lines), &h.host), ST_OK);
		assert_string_equal(memory_host_file(&h, "results.json"), now);
		assert_string_equal(memory_host_file(&h, "penalties.csv"), memory_host_file(&r.host, "penalties.csv"));
		memory_host_free(&h);
		assert_int_equal(reader_parse(&read, lines, strlen(lines), READER_JOURNAL, "j", problem, sizeof(problem)), ST_OK);
		const struct doc_node *row = doc_row(&read.d, planted[i].contradicted);
		assert_string_equal(doc_string(&read.d, row, "status"), "unproven");
		assert_non_null(strstr(doc_string(&read.d, row, "reason"), "contradicts load.l"));
		reader_free(&read);
		loop_close(&r);
		free(text);
	}
}

/* Rows that differ within the tolerance of clocks and windows do not contradict each other. */
static void test_journal_rows_that_agree_stay(void **state)
{
	(void)state;
	static struct loop_run r;
	char *text = strdup(journal);
	plant(text, "load.l2.penalty", "6.4");
	go_on(&r, text, (size_t)(strstr(text, "{\"event\": \"end\"") - text));
	assert_int_equal(r.sum.by_status[ROW_OK], 3);
	assert_null(strstr(memory_host_file(&r.host, "journal.jsonl"), "\"event\": \"verdict\""));
	loop_close(&r);
	free(text);
}

static void test_journal_without_its_end_is_not_rebuilt(void **state)
{
	(void)state;
	struct memory_host h;
	memory_host_init(&h);
	assert_int_equal(suite_rebuild(journal, strlen(journal) - 2, &h.host), ST_MISSING);
	assert_int_equal(suite_rebuild(journal + 1, strlen(journal) - 1, &h.host), ST_MISSING);
	assert_int_equal(suite_rebuild("", 0, &h.host), ST_MISSING);
	assert_null(memory_host_file(&h, "results.json"));
	assert_int_equal(h.taken, 0);
	memory_host_free(&h);
}

/* Damage anywhere after the first line: the run continues, with results that parse and have each row once. */
static void test_journal_damage_costs_its_line(void **state)
{
	(void)state;
	static struct loop_run r;
	uint64_t seed = 20260107, hit = 0;
	size_t all = strlen(journal), run = strcspn(journal, "\n") + 1;
	for (unsigned i = 0; i < 60; i++) {
		char *text = strdup(journal);
		unsigned same;
		for (unsigned k = 0; k < 1 + i % 3; k++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			text[run + (seed >> 33) % (all - run)] = (char)(seed >> 25);
		}
		go_on(&r, text, all);
		const char *now = memory_host_file(&r.host, "results.json");
		assert_null(json_problem(now));
		assert_int_equal(rows_like(now, results, &same), 3);
		hit += same < 3;
		loop_close(&r);
		free(text);
	}
	assert_true(hit > 10);
}

/* A block of zeros, as a file system leaves it after a power cut, costs the rows whose lines it hits another measurement, and no other row; nothing
 * becomes crashed but what the machine stopped in. A run that had ended is not rebuilt from what is left, but from what the next boot completed. */
static void test_journal_zeros_cost_another_measurement(void **state)
{
	(void)state;
	static struct loop_run r;
	const size_t all = strlen(journal), run = strcspn(journal, "\n") + 1, end = (size_t)(strstr(journal, "{\"event\": \"end\"") - journal);
	char *text = malloc(all);

	for (size_t at = (run + 511) / 512 * 512, size = 512; at + size <= all; at += 512) {
		struct memory_host h;
		unsigned same;

		memcpy(text, journal, all);
		memset(text + at, 0, size);
		memory_host_init(&h);
		assert_int_equal(suite_rebuild(text, all, &h.host), at + size <= end ? ST_SYNTAX : ST_MISSING);
		memory_host_free(&h);
		go_on(&r, text, all);
		const char *now = memory_host_file(&r.host, "results.json"), *lines = memory_host_file(&r.host, "journal.jsonl");
		const size_t bytes = r.host.files[0].n; /* strlen would end at a zero */
		assert_null(json_problem(now));
		assert_int_equal(r.sum.by_status[ROW_CRASHED], 0);
		assert_int_equal(rows_like(now, results, &same), 3);
		assert_int_equal(same, 3);
		memory_host_init(&h);
		assert_int_equal(suite_rebuild(lines, bytes, &h.host), ST_OK);
		assert_string_equal(memory_host_file(&h, "results.json"), now);
		memory_host_free(&h);
		loop_close(&r);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_journal_takes_json_and_nothing_else),
		cmocka_unit_test(test_journal_a_run_stopped_anywhere_goes_on_to_the_same_results),
		cmocka_unit_test(test_journal_whole_files_are_rebuilt_to_the_byte),
		cmocka_unit_test(test_journal_rows_that_contradict_become_unproven),
		cmocka_unit_test(test_journal_rows_that_agree_stay),
		cmocka_unit_test(test_journal_without_its_end_is_not_rebuilt),
		cmocka_unit_test(test_journal_damage_costs_its_line),
		cmocka_unit_test(test_journal_zeros_cost_another_measurement),
	};
	return cmocka_run_group_tests(tests, run_whole, drop_whole);
}
