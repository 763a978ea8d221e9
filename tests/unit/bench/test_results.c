/* The readers give a file's content or name what is wrong and where, and the report shows what they read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/report/html.h"
#include "bench/catalogue/row.h"
#include "runner/data/file.h"
#include "runner/data/reader.h"
#include "tables/processor.h"

/* Parts of a small run's results.json. */
#define HEAD "\"schema\": \"stallmeter-results\", \"version\": 1, \"simulated\": true, \"backend\": \"sim:x\", \"build\": \"b\", \"label\": \"\", " \
	"\"settings\": {\"suite\": \"quick\", \"repetitions\": 0, \"seed\": 20090330}, \"machine\": {\"brand\": \"B\", " \
	"\"signature\": \"0x1\", \"tsc_hz\": 1, \"cores\": 2, \"nodes\": 1, \"caches\": []}"
#define ROW(name, kind, value, spread, status, samples) "{\"name\": \"" name "\", \"kind\": \"" kind "\", \"unit\": \"cycles\", \"value\": " value \
	", \"spread\": " spread ", \"cycles\": null, \"ns\": null, \"status\": \"" status "\", \"reason\": \"\", \"proof\": \"\", \"samples\": " samples \
	", \"rejected\": 0, \"revision\": 1, \"simulated\": true}"
#define RUN(rows) "{" HEAD ", \"rows\": [" rows "]}"
#define GOOD ROW("load.l1.latency", "latency", "4.000", "0.001", "ok", "5")

static char problem[1600];

static enum status parse(struct results *r, const char *text)
{
	return reader_parse(r, text, strlen(text), READER_DOCUMENT, "f.json", problem, sizeof(problem));
}

static void test_reader_reads_a_run(void **state)
{
	(void)state;
	struct results r;
	assert_int_equal(parse(&r, RUN(GOOD)), ST_OK);
	const struct doc_node *row = doc_row(&r.d, "load.l1.latency");
	assert_int_equal(doc_milli(&r.d, row, "value"), 4000);
	assert_int_equal(doc_milli(&r.d, row, "spread"), 1);
	assert_string_equal(doc_string(&r.d, row, "status"), "ok");
	assert_int_equal(doc_get(&r.d, row, "nothing")->type, DOC_NULL);
	reader_free(&r);
	assert_int_equal(parse(&r, RUN(ROW("a", "latency", "null", "null", "noisy", "0"))), ST_OK); /* every window was disturbed */
	reader_free(&r);
}

static void test_reader_refuses_what_cannot_be(void **state)
{
	(void)state;
	static const struct { const char *text; enum status status; const char *expected; } bad[] = {
		{RUN(ROW("a", "latency", "-4.000", "0", "ok", "5")), ST_RANGE, "f.json: rows[0] (a): a latency of -4.000 cannot be"},
		{RUN(ROW("a", "latency", "0", "0", "ok", "5")), ST_RANGE, "a latency of 0 cannot be \"ok\""},
		{RUN(GOOD ", " ROW("a", "throughput", "-1", "0", "unproven", "5")), ST_RANGE, "rows[1] (a): a throughput of -1 cannot be"},
		{RUN(ROW("a", "latency", "4", "0", "ok", "0")), ST_RANGE, "rows[0] (a): has a value of no sample"},
		{RUN(ROW("a", "latency", "4", "-0.5", "ok", "5")), ST_RANGE, "rows[0].spread: -0.500 is below zero"},
		{RUN(ROW("a", "latency", "4", "null", "ok", "5")), ST_RANGE, "has a value and no spread"},
		{RUN(ROW("a", "latency", "null", "null", "ok", "5")), ST_RANGE, "is \"ok\" and has no value"},
		{RUN(ROW("a", "latency", "4", "0", "fine", "5")), ST_RANGE, "\"status\" is \"fine\", must be one of: ok noisy"},
		{RUN(ROW("a", "latency", "4", "0", "ok", "2.5")), ST_RANGE, "must be a whole number"},
		{RUN(ROW("a", "latency", "1e30", "0", "ok", "5")), ST_RANGE, "implausibly large"},
		{RUN(GOOD ", " GOOD), ST_RANGE, "rows[1] (load.l1.latency): stands there twice"},
		{"{" HEAD ", \"rows\": [], \"later\": {\"deep\": [{\"core_hz\": -1}]}}", ST_RANGE, "later.deep[0].core_hz: -1 is below zero"},
		{"{" HEAD ", \"rows\": [], \"later\": {\"curve\": {\"points\": [[8, 64, -494.185]]}}}", ST_RANGE, "later.curve.points[0][2]: -494.185 is below zero"},
		{"{" HEAD "}", ST_MISSING, "\"rows\" is missing"},
		{"{\"schema\": \"other\"}", ST_MISSING, "no file of this program"},
		{"[]", ST_MISSING, "no file of this program"},
		{"", ST_SYNTAX, "f.json:1:0: "},
		{"{\n\"schema\": tru}", ST_SYNTAX, "f.json:2:"},
		{"{\"a\": 1, \"a\": 2}", ST_SYNTAX, "duplicate"},
		{"{\"a\": \"\xFF\"}", ST_SYNTAX, "unable to decode byte 0xff"},
	};
	struct results r;
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(parse(&r, bad[i].text), bad[i].status);
		if (!strstr(problem, bad[i].expected) || strchr(problem, '\n'))
			fail_msg("\"%s\" instead of \"%s\"", problem, bad[i].expected);
	}
}

static void test_reader_refuses_other_versions(void **state)
{
	(void)state;
	struct results r;
	char text[2048];
	for (int version = 0; version < 4; version++) {
		snprintf(text, sizeof(text), "%s", RUN(GOOD));
		strstr(text, "\"version\": 1")[11] = (char)('0' + version);
		assert_int_equal(parse(&r, text), version == 1 ? ST_OK : ST_RANGE);
		if (version == 1)
			reader_free(&r);
		else
			assert_non_null(strstr(problem, version ? "newer than this program, which reads 1 to 1" : "must be a whole number of at least 1"));
	}
}

static void test_reader_keeps_a_seed_of_64_bits(void **state)
{
	(void)state;
	struct results r;
	char text[2048];
	snprintf(text, sizeof(text), "%s", RUN(GOOD));
	char *seed = strstr(text, "20090330"), *rest = strdup(seed + 8);
	sprintf(seed, "18446744073709551615%s", rest);
	free(rest);
	assert_int_equal(parse(&r, text), ST_OK);
	assert_string_equal(doc_get(&r.d, doc_get(&r.d, doc_root(&r.d), "settings"), "seed")->string, "18446744073709551615");
	assert_int_equal(doc_milli(&r.d, doc_row(&r.d, "load.l1.latency"), "value"), 4000);
	reader_free(&r);
}

static void test_reader_keeps_unknown_sections(void **state)
{
	(void)state;
	struct results r;
	assert_int_equal(parse(&r, "{" HEAD ", \"rows\": [" GOOD "], \"tomorrow\": {\"x\": [1, {\"y\": -2.5}]}}"), ST_OK);
	const struct doc_node *x = doc_get(&r.d, doc_get(&r.d, doc_root(&r.d), "tomorrow"), "x");
	assert_int_equal(x->count, 2);
	assert_int_equal(doc_milli(&r.d, doc_next(&r.d, doc_begin(&r.d, x)), "y"), -2500);
	reader_free(&r);
}

#define JOURNAL "{\"event\": \"run\", " HEAD "}\n{\"event\": \"environment\", \"environment\": {\"place\": \"here\"}}\n" \
	"{\"event\": \"start\", \"name\": \"load.l1.latency\"}\n{\"event\": \"row\", \"row\": " GOOD "}\n" \
	"{\"event\": \"start\", \"name\": \"load.l2.latency\"}\n{\"event\": \"row\", \"row\": " ROW("load.l2.latency", "latency", "10", "0", "ok", "5") "}\n" \
	"{\"event\": \"tomorrow\", \"tomorrow\": {\"x\": 1}}\n{\"event\": \"end\", \"summary\": {\"rows\": 2}}\n"

static enum status parse_journal(struct results *r, const char *text, size_t n)
{
	return reader_parse(r, text, n, READER_JOURNAL, "j.jsonl", problem, sizeof(problem));
}

static void test_reader_reads_a_journal(void **state)
{
	(void)state;
	struct results r;
	assert_int_equal(parse_journal(&r, JOURNAL, strlen(JOURNAL)), ST_OK);
	assert_false(r.cut);
	assert_string_equal(r.note, "");
	assert_int_equal(doc_get(&r.d, doc_root(&r.d), "rows")->count, 2);
	assert_int_equal(doc_whole(&r.d, doc_get(&r.d, doc_root(&r.d), "tomorrow"), "x"), 1);
	assert_string_equal(doc_string(&r.d, doc_get(&r.d, doc_root(&r.d), "environment"), "place"), "here");
	reader_free(&r);
}

/* A journal cut at any byte has its whole lines, and a note that the rest is missing. */
static void test_reader_reads_a_journal_cut_anywhere(void **state)
{
	(void)state;
	struct results r;
	const char *whole = JOURNAL;
	size_t first = (size_t)(strchr(whole, '\n') - whole) + 1;
	unsigned crashed = 0;
	for (size_t n = 0; n < strlen(whole); n++) {
		enum status st = parse_journal(&r, whole, n);
		if (n < first) {
			assert_int_equal(st, ST_MISSING);
			assert_string_equal(problem, "j.jsonl: no whole line of a journal");
			continue;
		}
		assert_int_equal(st, ST_OK);
		assert_true(r.cut);
		assert_non_null(strstr(r.note, "cut short: read up to line "));
		unsigned rows_whole = 0, starts = 0, got = 0;
		for (const char *at = whole, *end; (end = memchr(at, '\n', (size_t)(whole + n - at))) != NULL; at = end + 1) {
			rows_whole += !strncmp(at, "{\"event\": \"row\"", 15);
			starts += !strncmp(at, "{\"event\": \"start\"", 17);
		}
		const struct doc_node *list = doc_get(&r.d, doc_root(&r.d), "rows");
		for (const struct doc_node *row = doc_begin(&r.d, list); row; row = doc_next(&r.d, row)) {
			bool is_crashed = !strcmp(doc_string(&r.d, row, "status"), "crashed");
			crashed += is_crashed;
			got += !is_crashed;
		}
		assert_int_equal(got, rows_whole);
		assert_int_equal(list->count, starts); /* the row in progress is listed as crashed */
		reader_free(&r);
	}
	assert_true(crashed > 100);
}

static void test_reader_says_where_a_journal_is_damaged(void **state)
{
	(void)state;
	struct results r;
	char text[8192];
	snprintf(text, sizeof(text), "%s", JOURNAL);
	strstr(text, "\"row\": {")[7] = '!';
	assert_int_equal(parse_journal(&r, text, strlen(text)), ST_SYNTAX);
	assert_non_null(strstr(problem, "j.jsonl:4:"));
	snprintf(text, sizeof(text), "%s%s", "{\"event\": \"start\", \"name\": \"x\"}\n", JOURNAL);
	assert_int_equal(parse_journal(&r, text, strlen(text)), ST_MISSING);
	assert_string_equal(problem, "j.jsonl:1: the first line is not \"run\"");
}

/* A power cut leaves blocks of zeros: their lines are left out and named, what is before and after them is read, and no row becomes crashed by them. */
static void test_reader_leaves_out_lines_with_zeros(void **state)
{
	(void)state;
	struct results r;
	char text[8192], note[200];
	const size_t all = strlen(JOURNAL);
	snprintf(text, sizeof(text), "%s", JOURNAL);
	char *row = strstr(text, "{\"event\": \"row\""), *last = NULL;
	for (char *at = text; (at = strstr(at, "{\"event\": \"row\"")); at++)
		last = at;
	assert_true(last > row);
	const size_t bytes = strcspn(row, "\n") + 1;
	assert_int_equal(parse_journal(&r, text, all), ST_OK);
	const unsigned whole = doc_get(&r.d, doc_root(&r.d), "rows")->count;
	reader_free(&r);
	memset(row + 20, 0, 16);
	assert_int_equal(parse_journal(&r, text, all), ST_OK);
	assert_int_equal(doc_get(&r.d, doc_root(&r.d), "rows")->count, whole - 1);
	assert_false(r.cut);
	snprintf(note, sizeof(note), "1 line with zeros left out, the first is line 4 at byte %zu: %zu bytes are lost, 16 of them zeros", (size_t)(row - text), bytes);
	assert_string_equal(r.note, note);
	reader_free(&r);
	/* the file's end: the row in progress had ended, its line was being written */
	memset(last, 0, 64);
	assert_int_equal(parse_journal(&r, text, (size_t)(last - text) + 64), ST_OK);
	assert_int_equal(doc_get(&r.d, doc_root(&r.d), "rows")->count, whole - 2);
	assert_true(r.cut);
	assert_non_null(strstr(r.note, "2 lines with zeros left out, the first is line 4"));
	reader_free(&r);
	/* the first line */
	memset(text + 5, 0, 4);
	assert_int_equal(parse_journal(&r, text, all), ST_MISSING);
	assert_non_null(strstr(problem, "the first line, \"run\", is lost"));
}

static void test_reader_reads_a_run_that_went_on_after_a_crash(void **state)
{
	(void)state;
	struct results r;
	static const char torn[] = "{\"event\": \"run\", \"key\": \"0\", " HEAD "}\n{\"event\": \"start\", \"name\": \"load.l1.latency\"}\n{\"event\": \"ro\n"
		"{\"event\": \"boot\", \"boot\": 2, \"damaged_lines\": 1}\n{\"event\": \"row\", \"row\": " GOOD "}\n"
		"{\"event\": \"start\", \"name\": \"study\"}\n{\"event\": \"study\", \"study\": {\"x\": 1}}\n{\"event\": \"end\", \"summary\": {\"rows\": 1}}\n";
	assert_int_equal(parse_journal(&r, torn, strlen(torn)), ST_OK);
	assert_false(r.cut);
	assert_string_equal(r.note, "line 3 was cut by a crash, after which the run went on");
	assert_int_equal(doc_get(&r.d, doc_root(&r.d), "rows")->count, 1);
	assert_int_equal(doc_get(&r.d, doc_root(&r.d), "key")->type, DOC_NULL);
	reader_free(&r);
	/* cut within the study: it is not taken for a row */
	const char *half = strstr(torn, "{\"event\": \"study\"");
	assert_int_equal(parse_journal(&r, torn, (size_t)(half - torn)), ST_OK);
	assert_true(r.cut);
	assert_int_equal(doc_get(&r.d, doc_root(&r.d), "rows")->count, 1);
	reader_free(&r);
}

/* The freestanding reader and libjansson build the same tree from the program's output. */
static void assert_same(const struct document *a, const struct doc_node *x, const struct document *b, const struct doc_node *y)
{
	assert_int_equal(x->type, y->type);
	assert_string_equal(x->key, y->key);
	assert_int_equal(x->count, y->count);
	if (x->type == DOC_STRING)
		assert_string_equal(x->string, y->string);
	if (x->type == DOC_NUMBER)
		assert_true(x->milli == y->milli);
	assert_int_equal(x->truth, y->truth);
	const struct doc_node *p = doc_begin(a, x), *q = doc_begin(b, y);
	for (; p && q; p = doc_next(a, p), q = doc_next(b, q))
		assert_same(a, p, b, q);
	assert_true(!p && !q);
}

static enum status parse_own(struct document *d, const char *text, size_t n)
{
	uint32_t most = document_nodes_most(text, n);
	size_t room = document_strings_most(text, n);
	struct doc_node *nodes = calloc(most, sizeof(*nodes));
	char *strings = malloc(room);
	document_init(d, nodes, most, strings, room);
	return document_parse(d, text, n);
}

static void free_own(struct document *d)
{
	free(d->nodes);
	free(d->strings);
}

static void test_document_is_what_the_library_reads(void **state)
{
	(void)state;
	static const char text[] = "{" HEAD ", \"rows\": [" GOOD ", " ROW("x", "penalty", "-12.345", "0.25", "noisy", "3") "], "
		"\"odd\": {\"s\": \"a\\\"b\\\\c\\n\\t\\u0001\", \"e\": {}, \"l\": [], \"n\": [0, -0.001, 70399999992.125, true, false, null]}}";
	struct results r;
	struct document own;
	assert_int_equal(parse(&r, text), ST_OK);
	assert_int_equal(parse_own(&own, text, strlen(text)), ST_OK);
	assert_same(&r.d, doc_root(&r.d), &own, doc_root(&own));
	free_own(&own);
	reader_free(&r);
}

static void test_document_refuses_half_texts(void **state)
{
	(void)state;
	static const char text[] = "{\"a\": [1, \"x\\u0041\", {\"b\": null}], \"c\": true}";
	struct document d;
	for (size_t n = 0; n < strlen(text); n++) {
		assert_int_equal(parse_own(&d, text, n), ST_SYNTAX);
		free_own(&d);
	}
	assert_int_equal(parse_own(&d, text, strlen(text)), ST_OK);
	free_own(&d);
	char deep[200];
	memset(deep, '[', sizeof(deep));
	assert_int_equal(parse_own(&d, deep, sizeof(deep)), ST_RANGE);
	free_own(&d);
}

static char page[HTML_BYTES_MOST];

static void draw(const char *text, const char *note)
{
	struct results r;
	size_t n = 0;
	if (parse(&r, text) != ST_OK)
		fail_msg("%s", problem);
	assert_int_equal(html_report(&r.d, note, page, sizeof(page), &n), ST_OK);
	assert_int_equal(n, strlen(page));
	reader_free(&r);
}

static void test_report_shows_strings_as_text(void **state)
{
	(void)state;
	draw("{" HEAD ", \"rows\": [" GOOD "], \"environment\": {\"board\": \"<script>alert(1)</script> & 'x' \\\"y\\\" \xC3\xA9\xE4\xB8\xAD\"}, "
	     "\"<img src=x>\": {\"</table><b>\": \"<b>\"}}", "a<b");
	assert_null(strstr(page, "<script"));
	assert_null(strstr(page, "<img"));
	assert_null(strstr(page, "<b>&lt;")); /* no string became an element */
	assert_non_null(strstr(page, "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#39;x&#39; &quot;y&quot; \xC3\xA9\xE4\xB8\xAD"));
	assert_non_null(strstr(page, "Incomplete results: a&lt;b"));
	assert_non_null(strstr(page, "&lt;/table&gt;&lt;b&gt;"));
}

static void test_report_replaces_what_is_no_utf8(void **state)
{
	(void)state;
	struct html h = {0};
	static const struct { const char *in, *out; } list[] = {
		{"\xC3\xA9", "\xC3\xA9"}, {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"}, {"a\xFF" "b", "a\xEF\xBF\xBD" "b"}, {"\xC3", "\xEF\xBF\xBD"},
		{"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"}, {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}, {"\x01\x7F", "\xEF\xBF\xBD\xEF\xBF\xBD"},
		{"\xE4\xB8", "\xEF\xBF\xBD\xEF\xBF\xBD"}, {"<>&\"'", "&lt;&gt;&amp;&quot;&#39;"},
	};
	for (unsigned i = 0; i < COUNT_OF(list); i++) {
		text_init(&h.t, page, sizeof(page));
		html_text(&h, list[i].in);
		assert_string_equal(page, list[i].out);
	}
}

static void test_report_says_full_when_it_does_not_fit(void **state)
{
	(void)state;
	struct results r;
	size_t n;
	assert_int_equal(parse(&r, RUN(GOOD)), ST_OK);
	assert_int_equal(html_report(&r.d, "", page, 5000, &n), ST_FULL);
	reader_free(&r);
}

/* With many cores the heat map is drawn coarser, and the page stays below its limit. */
static void test_report_of_many_cores_fits(void **state)
{
	(void)state;
	enum { CORES = 200 };
	struct results r;
	size_t n, room = 64u * CORES * CORES;
	char *text = malloc(room), *at = text;
	at += sprintf(at, "{" HEAD ", \"rows\": [{\"name\": \"core_to_core.clean_same_socket.latency\", \"kind\": \"latency\", \"unit\": \"cycles\", \"value\": 60, "
	              "\"spread\": 1, \"status\": \"ok\", \"reason\": \"\", \"proof\": \"\", \"samples\": 9, \"rejected\": 0, \"revision\": 1, \"simulated\": true, "
	              "\"matrix\": {\"cells\": [");
	for (int i = 0; i < CORES; i++)
		for (int k = 0; k < CORES; k++)
			if (i != k)
				at += sprintf(at, "%s[%d, %d, %d, 50, 90, null, null]", i || k > 1 ? ", " : "", i, k, 50 + i);
	sprintf(at, "]}}]}");
	if (parse(&r, text) != ST_OK)
		fail_msg("%s", problem);
	assert_int_equal(html_report(&r.d, "", page, sizeof(page), &n), ST_OK);
	assert_true(n < 200000);
	assert_non_null(strstr(page, "Neighbouring cores share a square"));
	reader_free(&r);
	free(text);
}

/* A curve is drawn to scale, with 0 at (70, 250) and the largest point at (680, 24). */
static void test_report_draws_curves_where_their_values_are(void **state)
{
	(void)state;
	draw(RUN("{\"name\": \"read.l1_all.bandwidth\", \"kind\": \"throughput\", \"unit\": \"bytes/s\", \"value\": 2e9, \"spread\": 0, \"status\": \"ok\", "
	         "\"reason\": \"\", \"proof\": \"\", \"samples\": 3, \"rejected\": 0, \"revision\": 1, \"simulated\": true, "
	         "\"series\": {\"columns\": [\"cores\", \"bytes_per_second\"], \"points\": [[1, 1e9], [2, 2e9]]}}"), "");
	assert_non_null(strstr(page, "<polyline class=\"l l1\" points=\"375,137 680,24\"/>"));
	assert_non_null(strstr(page, "<circle class=\"b1\" cx=\"375\" cy=\"137\" r=\"3\"/>"));
}

static void test_report_logarithm_is_exact_for_powers_of_two(void **state)
{
	(void)state;
	assert_int_equal(html_log2_milli(0), 0);
	assert_int_equal(html_log2_milli(1), 0);
	for (unsigned i = 1; i < 63; i++)
		assert_int_equal(html_log2_milli((int64_t)1 << i), i * 1000);
	assert_in_range(html_log2_milli(3), 1584, 1585);  /* 1.58496 */
	assert_in_range(html_log2_milli(1000), 9965, 9966);
	assert_in_range(html_log2_milli(INT64_MAX), 62999, 63000);
}

/* Each published figure names a row with that unit; otherwise it would never be shown. */
static void test_published_figures_are_of_rows(void **state)
{
	(void)state;
	assert_true(published_count > 40);
	for (unsigned i = 0; i < published_count; i++) {
		bool known = false;
		for (unsigned k = 0; k < rows_count && !known; k++)
			known = !strcmp(rows[k].name, published[i].row) && rows[k].unit == (strcmp(published[i].unit, "entries") ? UNIT_CYCLES : UNIT_ENTRIES);
		if (!known)
			fail_msg("%s: no row in cycles, or of that unit, is called %s", published[i].processor, published[i].row);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader_reads_a_run),
		cmocka_unit_test(test_reader_refuses_what_cannot_be),
		cmocka_unit_test(test_reader_refuses_other_versions),
		cmocka_unit_test(test_reader_keeps_a_seed_of_64_bits),
		cmocka_unit_test(test_reader_keeps_unknown_sections),
		cmocka_unit_test(test_reader_reads_a_journal),
		cmocka_unit_test(test_reader_reads_a_journal_cut_anywhere),
		cmocka_unit_test(test_reader_says_where_a_journal_is_damaged),
		cmocka_unit_test(test_reader_leaves_out_lines_with_zeros),
		cmocka_unit_test(test_reader_reads_a_run_that_went_on_after_a_crash),
		cmocka_unit_test(test_document_is_what_the_library_reads),
		cmocka_unit_test(test_document_refuses_half_texts),
		cmocka_unit_test(test_report_shows_strings_as_text),
		cmocka_unit_test(test_report_replaces_what_is_no_utf8),
		cmocka_unit_test(test_report_says_full_when_it_does_not_fit),
		cmocka_unit_test(test_report_of_many_cores_fits),
		cmocka_unit_test(test_report_draws_curves_where_their_values_are),
		cmocka_unit_test(test_report_logarithm_is_exact_for_powers_of_two),
		cmocka_unit_test(test_published_figures_are_of_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
