/* Sprunt's pair, a chain of additions and loads that miss the L1, has the expected rates on one thread and on both threads of a simulated core. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/measure/measure.h"
#include "tests/expect/expect_threads.h"
#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/loop_meets.h"

static struct known_program_result study;

static void run(const char *text)
{
	static struct loop_run r;
	static struct bench bench;
	loop_open(&r, text);
	bench_init(&bench, &r.guard.access, &r.cpu, &r.host.host, 0, 1);
	known_program_run(&bench, &study);
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	loop_close(&r);
}

static void is_as_expected(const char *text, const char *what)
{
	char *format = loop_format();
	for (unsigned i = 0; i < KNOWN_PROGRAM_SMT_PAIRS; i++) {
		const struct known_program_smt_pair *c = &study.contests[i];
		const int64_t both = known_program_together_micro(c);
		struct expectation alone, together;
		assert_int_equal(expect_threads(text, format, c->name, false, &alone), ST_OK);
		assert_int_equal(expect_threads(text, format, c->name, true, &together), ST_OK);
		print_message("%s, %s: %lld alone (%lld to %lld), %lld + %lld together (%lld to %lld), of the other %lld and %lld\n", what, c->name,
		              (long long)c->alone.uops_micro, (long long)alone.least_milli, (long long)alone.most_milli, (long long)c->together[0].uops_micro,
		              (long long)c->together[1].uops_micro, (long long)together.least_milli, (long long)together.most_milli,
		              (long long)c->together[0].other_micro, (long long)c->together[1].other_micro);
		if (c->alone.uops_micro < alone.least_milli || c->alone.uops_micro > alone.most_milli || both < together.least_milli || both > together.most_milli)
			fail_msg("%s: not as expected", c->name);
		/* in the windows of each pair both threads work, and each retires 40 to 60 % of the uops */
		assert_int_equal(c->alone.other_micro, 0);
		for (unsigned k = 0; k < 2; k++) {
			const struct known_program_rate *p = &c->together[k];
			assert_true(p->other_known);
			assert_in_range((p->uops_micro + p->other_micro) * 100, both * 97, both * 103);
			assert_in_range(p->uops_micro * 100 / (p->uops_micro + p->other_micro), 40, 60);
		}
		/* every load of the second pair misses, the first has no misses */
		assert_in_range(c->alone.misses_milli + 1, i ? 980 : 0, i ? 1010 : 3);
		for (unsigned k = 0; k < 2; k++)
			assert_in_range(c->together[k].misses_milli + 1, i ? 980 : 0, i ? 1010 : 3);
	}
	free(format);
}

static void test_smt_interference_shows_what_the_machine_has_once(void **state)
{
	(void)state;
	static const struct { const char *section, *key, *value; } moved[] = { { "topology", "threads", "2" }, { "exec", "fp_add", "9 1 1" },
		{ "l2", "busy_cycles", "4" }, { "l2", "busy_cycles", "3" }, { "core", "issue_width", "2" }, { "lfb", "entries", "3" } };
	for (unsigned i = 0; i < COUNT_OF(moved); i++) {
		char *two = loop_changed(loop_built_in("pentium4"), "topology", "threads", "2"), what[64];
		char *text = i ? loop_changed(two, moved[i].section, moved[i].key, moved[i].value) : strdup(two);
		snprintf(what, sizeof(what), "%s.%s = %s", moved[i].section, moved[i].key, moved[i].value);
		run(text);
		if (study.parts[KNOWN_PROGRAM_THREADS].status != ST_OK)
			fail_msg("%s", study.parts[KNOWN_PROGRAM_THREADS].reason);
		is_as_expected(text, what);
		free(text);
		free(two);
	}
}

static void test_smt_interference_needs_two_threads(void **state)
{
	(void)state;
	run(loop_built_in("pentium4"));
	assert_int_equal(study.parts[KNOWN_PROGRAM_THREADS].status, ST_UNSUPPORTED);
	assert_string_equal(study.parts[KNOWN_PROGRAM_THREADS].reason, "one thread a core");
}

/* Where each thread has counters of its own, the other thread's events are not counted. */
static void test_smt_interference_has_no_events_of_the_other_thread_on_later_cores(void **state)
{
	(void)state;
	static const char *const names[] = { "nehalem-ep", "haswell-ep", "skylake-sp" };
	for (unsigned i = 0; i < COUNT_OF(names); i++) {
		char *text = loop_changed(loop_built_in(names[i]), "topology", "threads", "2");
		run(text);
		free(text);
		if (study.parts[KNOWN_PROGRAM_THREADS].status != ST_OK)
			fail_msg("%s: %s", names[i], study.parts[KNOWN_PROGRAM_THREADS].reason);
		for (unsigned k = 0; k < KNOWN_PROGRAM_SMT_PAIRS; k++) {
			const struct known_program_smt_pair *c = &study.contests[k];
			const int64_t both = known_program_together_micro(c);
			print_message("%s, %s: %lld alone, %lld + %lld together; misses %lld, %lld %lld\n", names[i], c->name, (long long)c->alone.uops_micro,
			              (long long)c->together[0].uops_micro, (long long)c->together[1].uops_micro, (long long)c->alone.misses_milli,
			              (long long)c->together[0].misses_milli, (long long)c->together[1].misses_milli);
			assert_false(c->together[0].other_known);
			assert_true(both * 100 >= c->alone.uops_micro * (k ? 90 : 180) && both * 100 <= c->alone.uops_micro * 205);
			assert_in_range(c->alone.misses_milli + 1, k ? 900 : 0, k ? 1100 : 3);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smt_interference_shows_what_the_machine_has_once),
		cmocka_unit_test(test_smt_interference_needs_two_threads),
		cmocka_unit_test(test_smt_interference_has_no_events_of_the_other_thread_on_later_cores),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
