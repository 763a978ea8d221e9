/* Event trust table: on a sound simulated machine every event counts what its kernel fixes; one that over-counts shows by
 * its ratio. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/workloads/trust.h"
#include "tests/unit/support/closed_loop.h"

static struct loop_run r;

static const char *trust_of(const char *text)
{
	struct suite_settings s = { .suite = "trust" };
	loop_open(&r, text);
	assert_int_equal(suite_run(&r.guard.access, &r.cpu, &s, &r.host.host, &r.sum), ST_OK);
	const char *json = memory_host_file(&r.host, "results.json");
	assert_null(json_problem(json));
	return strstr(json, "\"trust\": [");
}

static unsigned count_of(const char *text, const char *what)
{
	unsigned n = 0;
	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void test_trust_all_events_of_sound_machines_count_right(void **state)
{
	(void)state;
	static const struct { const char *machine; unsigned right, unknown; } cases[] = {
		{ "nehalem-ep", 26, 1 }, { "haswell-ep", 25, 2 }, { "skylake-sp", 25, 2 } };
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		const char *trust = trust_of(loop_built_in(cases[i].machine));
		assert_non_null(trust);
		assert_int_equal(count_of(trust, "\"verdict\": \"right\""), cases[i].right);
		assert_int_equal(count_of(trust, "\"verdict\": \"unknown\""), cases[i].unknown);
		assert_int_equal(r.sum.unexpected, 0);
		loop_close(&r);
	}
}

static void test_trust_an_event_that_counts_too_much_is_told(void **state)
{
	(void)state;
	char *one = loop_changed(loop_built_in("nehalem-ep"), "fault", "overcount_event", "715"); /* 0x02CB, MEM_LOAD_RETIRED.L2_HIT */
	char *text = loop_changed(one, "fault", "overcount_thousandths", "1500");
	const char *trust = trust_of(text);
	assert_non_null(strstr(trust, "{\"event\": \"MEM_LOAD_RETIRED.L2_HIT\", \"row\": \"load.l2.latency\", \"kernel\": \"k_chase\", \"unit\": \"load\", "
		"\"expected\": 1.000, \"counted\": 1.500, \"ratio\": 1.500, \"verdict\": \"over\""));
	assert_int_equal(count_of(trust, "\"verdict\": \"right\""), 25);
	assert_int_equal(r.sum.unexpected, 1);
	loop_close(&r);
	free(one);
	free(text);
}

static void test_trust_without_counters_says_so(void **state)
{
	(void)state;
	char *unsampled = loop_changed(loop_built_in("pentium4"), "pmu", "pebs_format", "255");
	char *none = loop_changed(unsampled, "pmu", "events", "architectural");
	free(unsampled);
	const char *trust = trust_of(none);
	assert_int_equal(count_of(trust, "\"verdict\": \"unknown\", \"reason\": \"IA32_MISC_ENABLE bit 7 is 0: performance monitoring is switched off\""), TRUST_ENTRIES);
	assert_int_equal(r.sum.unexpected, 0);
	loop_close(&r);
	free(none);
}

static void test_trust_results_come_from_the_journal(void **state)
{
	(void)state;
	(void)trust_of(loop_built_in("nehalem-ep"));
	char *json = strdup(memory_host_file(&r.host, "results.json")), *journal = strdup(memory_host_file(&r.host, "journal.jsonl"));
	assert_int_equal(suite_rebuild(journal, strlen(journal), &r.host.host), ST_OK);
	assert_string_equal(memory_host_file(&r.host, "results.json"), json);
	free(json);
	free(journal);
	loop_close(&r);
}

/* Enabled as firmware left them, beside the four that count after the start-up sequence of AAK100 alone. */
static void test_trust_counters_that_no_descriptor_lists_keep_no_others_from_starting(void **state)
{
	(void)state;
	char *text = loop_changed(loop_built_in("nehalem-ep"), "pmu", "general", "8");
	loop_open(&r, text);
	loop_suite(&r, "load.l1.latency");
	assert_int_equal(r.host.results[0].status, ROW_OK);
	loop_close(&r);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trust_all_events_of_sound_machines_count_right),
		cmocka_unit_test(test_trust_an_event_that_counts_too_much_is_told),
		cmocka_unit_test(test_trust_counters_that_no_descriptor_lists_keep_no_others_from_starting),
		cmocka_unit_test(test_trust_without_counters_says_so),
		cmocka_unit_test(test_trust_results_come_from_the_journal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
