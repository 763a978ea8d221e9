/* Event trust table: on a simulated machine without faults every event counts what its kernel determines; the ratio shows one
 * that overcounts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/workloads/trust.h"
#include "pmu/core/concept.h"
#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/table_find.h"

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
	/* right: at least that many; unknown ones have a reason */
	static const struct { const char *machine; unsigned right; } cases[] = {
		{ "nehalem-ep", 96 }, { "haswell-ep", 78 /* errata: seven of its events may count less */ }, { "skylake-sp", 64 }, { "core2", 64 }, { "pentium4", 35 }, { "zen4", 36 },
		{ "alder-lake", 50 /* on each kind of cores */ }, { "sapphire-rapids", 50 }, { "sierra-forest", 40 } };
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		const char *trust = trust_of(loop_built_in(cases[i].machine));
		assert_non_null(trust);
		assert_in_range(count_of(trust, "\"verdict\": \"right\""), cases[i].right, TRUST_ENTRIES);
		assert_int_equal(count_of(trust, "\"verdict\": \"right\"") + count_of(trust, "\"verdict\": \"unknown\""), TRUST_ENTRIES);
		assert_int_equal(count_of(trust, "\"verdict\": \"unknown\", \"reason\": \"\""), 0);
		assert_int_equal(r.sum.unexpected, 0);
		loop_close(&r);
	}
}

/* Every concept is compared with a known count, or trust.def says why no kernel determines one. */
static void test_trust_covers_every_concept(void **state)
{
	(void)state;
	static const char *const unfixed[] = {
#define EXACT(...)
#define RANGE(...)
#define UNCORE(...)
#define UNFIXED(concept, why) concept,
#include "bench/workloads/trust.def"
	};
	for (unsigned i = 0; i < concept_count; i++) {
		unsigned n = 0;
		for (unsigned k = 0; k < TRUST_ENTRIES; k++)
			n += !strcmp(trust_table[k].concept, concepts[i].name);
		for (unsigned k = 0; k < COUNT_OF(unfixed); k++)
			n += !strcmp(unfixed[k], concepts[i].name);
		if (!n)
			fail_msg("%s: no row of trust.def holds it against a known count, and no UNFIXED says why", concepts[i].name);
	}
	for (unsigned k = 0; k < TRUST_ENTRIES; k++) {
		assert_non_null(concept_known(trust_table[k].concept));
		assert_non_null(row_find(trust_table[k].row));
	}
	for (unsigned k = 0; k < COUNT_OF(unfixed); k++)
		assert_non_null(concept_known(unfixed[k]));
}

/* Tiger Lake's L3 takes only evicted lines: a sharer forwards those that it lacks, and the event of hits without a snoop counts none of them. */
static void test_trust_no_hit_without_a_snoop_is_asked_of_tiger_lake(void **state)
{
	(void)state;
	static const char *const tiger[][3] = { { "cpuid", "model", "140" }, { "topology", "sockets", "1" }, { "topology", "cores", "4" }, { "pmu", "uncore", "none" } };
	char *text = loop_machine("ice-lake-sp", tiger, COUNT_OF(tiger));
	const char *trust = trust_of(text), *at = strstr(trust, "{\"concept\": \"load.hit.l3.shared\"");

	assert_non_null(at);
	assert_memory_equal(strstr(at, "\"verdict\": "), "\"verdict\": \"unknown\"", strlen("\"verdict\": \"unknown\""));
	assert_null(strstr(trust, "\"verdict\": \"under\""));
	loop_close(&r);
	free(text);
}

static void test_trust_an_event_that_counts_too_much_is_told(void **state)
{
	(void)state;
	char *one = loop_changed(loop_built_in("nehalem-ep"), "fault", "overcount_event", "715"); /* 0x02CB, MEM_LOAD_RETIRED.L2_HIT */
	char *text = loop_changed(one, "fault", "overcount_thousandths", "1500");
	const char *trust = trust_of(text);
	assert_non_null(strstr(trust, "{\"concept\": \"load.hit.l2\", \"event\": \"MEM_LOAD_RETIRED.L2_HIT\", \"row\": \"load.l2.latency\", \"kernel\": \"k_chase\", \"unit\": \"load\", "
		"\"expected\": 1.000, \"counted\": 1.500, \"ratio\": 1.500, \"verdict\": \"over\""));
	assert_int_equal(r.sum.unexpected, 1);
	loop_close(&r);
	free(one);
	free(text);
}

/* Counts that a kernel determines only within bounds: uops, and cycles in which a buffer is full. */
static void test_trust_events_without_an_exact_count_are_held_too(void **state)
{
	(void)state;
	static const struct { const char *code, *factor, *expected; } plants[] = {
		{ "270", "1300", "\"event\": \"UOPS_ISSUED.ANY\"" },     /* 0x010E */
		{ "418", "200", "\"event\": \"RESOURCE_STALLS.ANY\"" } }; /* 0x01A2 */
	for (unsigned i = 0; i < COUNT_OF(plants); i++) {
		char *one = loop_changed(loop_built_in("nehalem-ep"), "fault", "overcount_event", plants[i].code);
		char *text = loop_changed(one, "fault", "overcount_thousandths", plants[i].factor);
		const char *trust = trust_of(text), *at = strstr(trust, plants[i].expected);
		assert_non_null(at);
		const char *verdict = i ? "\"verdict\": \"under\"" : "\"verdict\": \"over\"";
		assert_memory_equal(strstr(at, "\"verdict\": "), verdict, strlen(verdict));
		assert_int_not_equal(r.sum.unexpected, 0);
		loop_close(&r);
		free(one);
		free(text);
	}
}

/* A channel or a slice of the L3 is missing: the others' events count too little of the row's work, and the result is unexpected. */
static void test_trust_events_of_the_uncore_are_held_too(void **state)
{
	(void)state;
	static const struct { const char *key, *value, *more, *more_value, *concept; } plants[] = {
		{ "uncore_hidden", "8", "uncore_hidden_unit", "1", "{\"concept\": \"channel.read\"" },
		{ "uncore_hidden", "8", "uncore_hidden_unit", "1", "{\"concept\": \"channel.activate.read\"" },
		{ "msr_missing", "3665", NULL, NULL, "{\"concept\": \"queue.read.inserts\"" } }; /* 0xE51, of CBo 5 */
	for (unsigned i = 0; i < COUNT_OF(plants); i++) {
		char *one = loop_changed(loop_built_in("haswell-ep"), "fault", plants[i].key, plants[i].value);
		char *text = plants[i].more ? loop_changed(one, "fault", plants[i].more, plants[i].more_value) : strdup(one);
		const char *at = strstr(trust_of(text), plants[i].concept);
		assert_non_null(at);
		assert_memory_equal(strstr(at, "\"verdict\": "), "\"verdict\": \"under\"", 18);
		assert_int_not_equal(r.sum.unexpected, 0);
		loop_close(&r);
		free(one);
		free(text);
	}
}

static void test_trust_without_counters_says_so(void **state)
{
	(void)state;
	char *unsampled = loop_changed(loop_built_in("pentium4"), "pmu", "pebs_format", "255");
	char *bare = loop_changed(unsampled, "pmu", "netburst", "0"), *none = loop_changed(bare, "pmu", "events", "architectural");
	free(unsampled);
	free(bare);
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

/* They stay enabled as firmware left them, beside the four that count only after the start-up sequence of AAK100. */
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
		cmocka_unit_test(test_trust_covers_every_concept),
		cmocka_unit_test(test_trust_no_hit_without_a_snoop_is_asked_of_tiger_lake), cmocka_unit_test(test_trust_an_event_that_counts_too_much_is_told),
		cmocka_unit_test(test_trust_events_without_an_exact_count_are_held_too),
		cmocka_unit_test(test_trust_events_of_the_uncore_are_held_too),
		cmocka_unit_test(test_trust_counters_that_no_descriptor_lists_keep_no_others_from_starting),
		cmocka_unit_test(test_trust_without_counters_says_so),
		cmocka_unit_test(test_trust_results_come_from_the_journal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
