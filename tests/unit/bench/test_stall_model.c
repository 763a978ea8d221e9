/* bench/workloads/stall_model.c: every processor's stall terms have an event or a reason, and are charged no more than the bounds allow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "bench/catalogue/row.h"
#include "bench/workloads/stall_model.h"
#include "pmu/counters/counters.h"
#include "tests/unit/support/table_find.h"

static void test_stall_term_of_every_processor_is_counted_or_open_with_a_reason(void **state)
{
	(void)state;
	for (unsigned p = 0; p < processor_count; p++)
		for (unsigned t = 0; t < stall_term_count; t++) {
			const struct expression *x = stall_count(&processors[p], t);

			if (!processors[p].event_count) {
				assert_null(x);
				continue;
			}
			assert_string_equal(x->concept, stall_terms[t].key);
			if (!x->term_count && !x->why[0])
				fail_msg("%s: %s without a reason", processors[p].name, stall_terms[t].key);
			for (unsigned i = 0; i < x->term_count; i++)
				assert_null(event_overcounts(&processors[p], x->terms[i].event->name));
		}
}

static void test_stall_term_names_rows_that_there_are(void **state)
{
	(void)state;
	for (unsigned t = 0; t < stall_term_count; t++) {
		const char *const names[] = { stall_terms[t].penalty, stall_terms[t].overlap, stall_terms[t].latency };

		for (unsigned i = 0; i < 3; i++)
			if (names[i][0] && !row_find(names[i]))
				fail_msg("%s: no row %s", stall_terms[t].key, names[i]);
		assert_int_equal(stall_find(stall_terms[t].key), t);
	}
	assert_int_equal(stall_find("l9"), STALL_TERMS_MAX);
}

/* No event is added twice over all terms of a processor, so that one term alone charges a load that misses. */
static void test_stall_terms_are_disjoint(void **state)
{
	(void)state;
	for (unsigned p = 0; p < processor_count; p++)
		for (unsigned e = 0; e < processors[p].event_count; e++) {
			int sum = 0;

			for (unsigned t = 0; processors[p].stalls && t < stall_term_count; t++)
				for (unsigned i = 0; i < processors[p].stalls[t].term_count; i++)
					if (!strcmp(processors[p].stalls[t].terms[i].event->name, processors[p].events[e].name))
						sum += processors[p].stalls[t].terms[i].sign;
			if (sum > 1)
				fail_msg("%s: %s %d times", processors[p].name, processors[p].events[e].name, sum);
		}
}

static void test_stall_term_takes_the_alternative_that_a_processor_counts(void **state)
{
	(void)state;
	const unsigned dram = stall_find("local_dram"), forward = stall_find("forward_fail"), alias = stall_find("alias_4k"), divide = stall_find("divide"),
		lock = stall_find("lock"), indirect = stall_find("branch_indirect");

	assert_string_equal(stall_count(processor_named("nehalem-ep"), dram)->text, "MEM_UNCORE_RETIRED.LOCAL_DRAM");
	assert_string_equal(stall_count(processor_named("core2"), dram)->text, "MEM_LOAD_RETIRED.L2_LINE_MISS");
	/* Core 2 counts both with one event, which one term takes */
	assert_string_equal(stall_count(processor_named("core2"), forward)->text, "LOAD_BLOCK.OVERLAP_STORE");
	assert_int_equal(stall_count(processor_named("core2"), alias)->term_count, 0);
	/* only events that count cycles */
	assert_string_equal(stall_count(processor_named("nehalem-ep"), divide)->text, "ARITH.CYCLES_DIV_BUSY");
	assert_string_equal(stall_count(processor_named("core2"), divide)->text, "IDLE_DURING_DIV");
	assert_int_equal(stall_count(processor_named("haswell-ep"), divide)->term_count, 0);
	/* a quirk bans this event for quantities */
	assert_string_equal(stall_count(processor_named("nehalem-ep"), lock)->why, "its event counts cycles");
	assert_string_equal(stall_count(processor_named("haswell-ep"), indirect)->text, "BR_MISP_RETIRED.ALL_BRANCHES-BR_MISP_RETIRED.CONDITIONAL");
}

static int64_t alone(struct stall_charge *c, const char *key, int64_t cycles)
{
	c[stall_find(key)] = (struct stall_charge){ true, cycles, 0 };
	return cycles;
}

static void test_stall_settle_charges_all_that_the_bounds_leave(void **state)
{
	(void)state;
	struct stall_charge c[STALL_TERMS_MAX] = { { false, 0, 0 } };
	int64_t sum = 0;

	alone(c, "l3", 600);
	alone(c, "local_dram", 300);
	alone(c, "branch_conditional", 100);
	alone(c, "fp_assist", 50);
	stall_settle(&(struct stall_bounds){ -1, -1, -1 }, c);
	for (unsigned t = 0; t < stall_term_count; t++)
		assert_int_equal(c[t].charged, c[t].alone);
	/* misses are in flight for 90 cycles, which bounds their charge */
	stall_settle(&(struct stall_bounds){ -1, 90, -1 }, c);
	assert_int_equal(c[stall_find("l3")].charged, 60);
	assert_int_equal(c[stall_find("local_dram")].charged, 30);
	assert_int_equal(c[stall_find("branch_conditional")].charged, 100);
	/* the front end starves for 20 cycles */
	stall_settle(&(struct stall_bounds){ -1, 90, 20 }, c);
	assert_int_equal(c[stall_find("branch_conditional")].charged, 20);
	assert_int_equal(c[stall_find("fp_assist")].charged, 50);
	/* of 125 stalls misses take 90; branches and assists, 70 in all, share the other 35 */
	stall_settle(&(struct stall_bounds){ 125, 90, 20 }, c);
	assert_int_equal(c[stall_find("branch_conditional")].charged, 10);
	assert_int_equal(c[stall_find("fp_assist")].charged, 25);
	/* waits of unknown length are charged the rest */
	alone(c, "unknown_address", 40);
	stall_settle(&(struct stall_bounds){ 200, 90, 20 }, c);
	assert_int_equal(c[stall_find("unknown_address")].charged, 200 - 90 - 20 - 50);
	stall_settle(&(struct stall_bounds){ 125, 90, 20 }, c);
	assert_int_equal(c[stall_find("unknown_address")].charged, 0);
	assert_int_equal(c[stall_find("fp_assist")].charged, 25);
	/* a branch under a miss costs nothing, and the sum does not exceed the stalls */
	stall_settle(&(struct stall_bounds){ 71, 90, 20 }, c);
	for (unsigned t = 0; t < stall_term_count; t++)
		sum += c[t].charged;
	assert_int_equal(sum, 71);
	assert_int_equal(c[stall_find("branch_conditional")].charged, 0);
	stall_settle(&(struct stall_bounds){ 0, 0, 0 }, c);
	for (unsigned t = 0; t < stall_term_count; t++)
		assert_int_equal(c[t].charged, 0);
}

static void test_stall_front_end_is_starvation_and_wasted_issue(void **state)
{
	(void)state;
	assert_int_equal(stall_front_end(300, 1000, 2000, 1500), 300 + 250);
	assert_int_equal(stall_front_end(300, 1000, 2000, 2100), 300); /* more retired than issued: they were counted at different times */
	assert_int_equal(stall_front_end(300, 1000, 0, 0), -1);
	assert_int_equal(stall_front_end(-1, 1000, 2000, 1500), -1);
	assert_int_equal(stall_front_end(300, 1000, 2000, -1), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stall_term_of_every_processor_is_counted_or_open_with_a_reason),
		cmocka_unit_test(test_stall_term_names_rows_that_there_are),
		cmocka_unit_test(test_stall_terms_are_disjoint),
		cmocka_unit_test(test_stall_term_takes_the_alternative_that_a_processor_counts),
		cmocka_unit_test(test_stall_settle_charges_all_that_the_bounds_leave),
		cmocka_unit_test(test_stall_front_end_is_starvation_and_wasted_issue),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
