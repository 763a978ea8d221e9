/* The staircase shows the levels' rows as steps and the sizes of load.staircase.latency as dots, on the screen and in the report. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/report/canvas.h"
#include "bench/report/html.h"
#include "bench/report/screen_pages.h"
#include "bench/report/staircase.h"

#define W 1280
#define H 800

static const char results[] = "{\"schema\": \"stallmeter-results\", \"machine\": {\"brand\": \"x\", \"caches\": [{\"level\": 1, \"type\": \"D\", \"bytes\": 32768},"
	"{\"level\": 2, \"type\": \"U\", \"bytes\": 262144}]}, \"rows\": [{\"name\": \"load.l1.latency\", \"kind\": \"latency\", \"status\": \"ok\", \"value\": 4, \"cycles\": 4, \"ns\": 2},"
	"{\"name\": \"load.l2.latency\", \"kind\": \"latency\", \"status\": \"ok\", \"value\": 10, \"cycles\": 10, \"ns\": 5}, {\"name\": \"load.dram_local.latency\", \"kind\": \"latency\","
	"\"status\": \"ok\", \"value\": 200, \"cycles\": 200, \"ns\": 100}%s]}";
/* the second point of 4 KiB has a larger stride and is not shown; the last point lies beyond eight times the last cache */
static const char measured[] = ", {\"name\": \"load.staircase.latency\", \"kind\": \"latency\", \"status\": \"ok\", \"value\": 4, \"cycles\": 4, \"ns\": 2, \"curve\": {\"columns\": [\"KiB\","
	"\"stride_bytes\", \"cycles\"], \"points\": [[4, 64, 4], [4, 256, 7], [64, 64, 11.5], [1024, 256, 190], [8192, 4096, 300]]}}";
static const struct stair_point wanted[] = { { 4096, 4000 }, { 65536, 11500 }, { 1048576, 190000 }, { 8388608, 300000 } };

static struct doc_node nodes[256];
static char strings[8192], json[4096];
static struct document d;

static void read_results(bool with_points)
{
	snprintf(json, sizeof(json), results, with_points ? measured : "");
	document_init(&d, nodes, COUNT_OF(nodes), strings, sizeof(strings));
	assert_int_equal(document_parse(&d, json, strlen(json)), ST_OK);
}

static void test_staircase_reads_steps_and_points(void **state)
{
	(void)state;
	struct staircase s;
	read_results(false);
	assert_true(staircase_of(&d, &s));
	assert_int_equal(s.count, 3);
	assert_int_equal(s.points_count, 0);
	assert_int_equal(s.end, 8 * 262144);
	assert_int_equal(s.top, 256000);
	read_results(true);
	assert_true(staircase_of(&d, &s));
	assert_int_equal(s.count, 3);
	assert_int_equal(s.points_count, COUNT_OF(wanted));
	for (unsigned i = 0; i < COUNT_OF(wanted); i++) {
		assert_int_equal(s.points[i].bytes, wanted[i].bytes);
		assert_int_equal(s.points[i].cycles_milli, wanted[i].cycles_milli);
	}
	assert_int_equal(s.end, 8388608);
	assert_int_equal(s.stairs[2].to, 8388608);
	assert_int_equal(s.top, 512000);
}

/* The coordinate of a value on a logarithmic axis. */
static double on(double value, double low, double high, double from, double to)
{
	return from + log2(value / low) / log2(high / low) * (to - from);
}

static void test_staircase_dots_are_at_their_pixels(void **state)
{
	(void)state;
	static uint32_t pixels[W * H];
	struct canvas c;
	struct screen_pages p = { .d = &d, .columns = 100, .lines = 30 };
	read_results(true);
	canvas_init(&c, pixels, W, H);
	screen_pages_draw(&p, screen_pages_count(&p) - 1, &c, 0, H);
	struct plot g = screen_pages_plot(&c, 0, H);
	for (unsigned i = 0; i < COUNT_OF(wanted); i++) {
		double x = on((double)wanted[i].bytes, STAIRCASE_FROM, 8388608, g.left, g.right), y = on((double)wanted[i].cycles_milli, 1000, 512000, g.bottom, g.top);
		assert_int_equal(pixels[(unsigned)lround(y) * W + (unsigned)lround(x)], COLOUR_OK);
		/* the dot ends within four pixels */
		assert_int_not_equal(pixels[(unsigned)lround(y) * W + (unsigned)lround(x) - 4], COLOUR_OK);
		assert_int_not_equal(pixels[((unsigned)lround(y) - 4) * W + (unsigned)lround(x)], COLOUR_OK);
	}
}

static void test_staircase_text_has_the_sizes(void **state)
{
	(void)state;
	char at[8192];
	struct text t;
	struct screen_pages p = { .d = &d, .columns = 100, .lines = 30 };
	read_results(true);
	text_init(&t, at, sizeof(at));
	screen_pages_text(&p, screen_pages_count(&p) - 1, &t);
	assert_non_null(strstr(at, "Measured, in cycles: 4 KiB 4.0, 64 KiB 11.5"));
	assert_non_null(strstr(at, "8 MiB 300.0\n"));
}

static void test_staircase_dots_are_in_the_report(void **state)
{
	(void)state;
	static char page[HTML_BYTES_MOST];
	size_t bytes;
	read_results(true);
	assert_int_equal(html_report(&d, "", page, sizeof(page), &bytes), ST_OK);
	for (unsigned i = 0; i < COUNT_OF(wanted); i++) {
		char dot[80];
		bool found = false;
		for (int dx = 0; dx < 2 && !found; dx++)
			for (int dy = 0; dy < 2 && !found; dy++) {
				snprintf(dot, sizeof(dot), "<circle class=\"b2\" cx=\"%d\" cy=\"%d\" r=\"4\"/>", (int)on((double)wanted[i].bytes, STAIRCASE_FROM, 8388608, 60, 660) + dx,
				         (int)on((double)wanted[i].cycles_milli, 1000, 512000, 256, 40) + dy);
				found = strstr(page, dot) != NULL;
			}
		assert_true(found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_staircase_reads_steps_and_points),
		cmocka_unit_test(test_staircase_dots_are_at_their_pixels),
		cmocka_unit_test(test_staircase_text_has_the_sizes),
		cmocka_unit_test(test_staircase_dots_are_in_the_report),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
