/* pmu/core/concept.c and the concepts of every processor: looked up, planned and summed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "pmu/core/concept.h"
#include "pmu/counters/counters.h"
#include "tests/unit/support/table_find.h"

static void test_concept_of_every_processor_is_expressed_or_none_with_a_reason(void **state)
{
	(void)state;
	for (unsigned p = 0; p < processor_count; p++) {
		assert_int_equal(processors[p].expression_count, processors[p].event_count ? concept_count : 0);
		for (unsigned i = 0; i < concept_count && processors[p].event_count; i++) {
			const struct expression *x = concept_find(&processors[p], concepts[i].name);

			assert_non_null(x);
			assert_string_equal(x->concept, concepts[i].name);
			assert_true(x->term_count ? x->exactness != EXACTNESS_NONE : x->why[0] != 0);
			assert_ptr_equal(concept_counted(&processors[p], concepts[i].name), x->term_count ? x : NULL);
			for (unsigned t = 0; t < x->term_count; t++)
				assert_true(!x->terms[t].event == (x->terms[t].uncore != NULL));
		}
	}
	assert_null(concept_known("load.hit.l9"));
	assert_null(concept_find(processor_named("nehalem-ep"), "load.hit.l9"));
	assert_string_equal(concept_known("load.hit.l2")->unit, "loads");
	assert_null(concept_find(processor_named("x86-64"), "load.hit.l2"));
}

static void test_expression_is_the_sum_of_its_terms(void **state)
{
	(void)state;
	const struct processor *p = processor_named("core2");
	const struct expression *l2 = concept_find(p, "load.hit.l2"), *miss = concept_find(p, "load.miss.llc");
	const struct event *events[3];
	const int64_t counts[] = { 1000, 70 };
	unsigned n = 0;
	int64_t value;

	assert_int_equal(expression_events(l2, events, &n, 1), ST_FULL);
	assert_int_equal(n, 0);
	assert_int_equal(expression_events(l2, events, &n, 3), ST_OK);
	assert_int_equal(expression_events(miss, events, &n, 3), ST_OK); /* shares an event */
	assert_int_equal(n, 2);
	assert_ptr_equal(events[0], event_find(p, "MEM_LOAD_RETIRED.L1D_LINE_MISS"));
	assert_int_equal(expression_value(l2, events, n, counts, &value), ST_OK);
	assert_int_equal(value, 930);
	assert_int_equal(expression_value(miss, events, n, counts, &value), ST_OK);
	assert_int_equal(value, 70);
	assert_int_equal(expression_value(l2, events, 1, counts, &value), ST_MISSING);
}

static void test_concept_of_the_uncore_has_a_place_for_each_channel(void **state)
{
	(void)state;
	const struct processor *nehalem = processor_named("nehalem-ep"), *haswell = processor_named("haswell-ep");
	const struct event *events[4];
	unsigned n = 0;

	assert_string_equal(concept_uncore(nehalem, "channel.read", 2), "UNC_IMC_NORMAL_READS.CH2");
	assert_null(concept_uncore(nehalem, "channel.read", 3));
	assert_string_equal(concept_uncore(haswell, "queue.read.inserts", 0), "UNC_C_TOR_INSERTS.OPCODE:opc=0x182");
	assert_null(concept_uncore(haswell, "channel.read", 1)); /* one event, in each channel's box */
	assert_null(concept_uncore(nehalem, "load.hit.l2", 0));
	assert_null(concept_event(nehalem, "channel.read"));
	assert_int_equal(expression_events(concept_find(nehalem, "channel.read"), events, &n, 4), ST_UNSUPPORTED);
	assert_ptr_equal(concept_event(nehalem, "load.hit.l2"), event_find(nehalem, "MEM_LOAD_RETIRED.L2_HIT"));
	assert_null(concept_event(nehalem, "load.hit.l3"));  /* needs two */
	assert_null(concept_event(nehalem, "rename.stall")); /* a superset */
}

static void test_expression_proves_what_its_exactness_allows(void **state)
{
	(void)state;
	static const struct { unsigned exactness; int64_t low, high; bool proves; } cases[] = {
		{ EXACTNESS_EXACT, 990, 1010, true }, { EXACTNESS_EXACT, -10, 10, true }, { EXACTNESS_SUPERSET, 990, 1010, false },
		{ EXACTNESS_SUPERSET, -10, 10, true }, { EXACTNESS_SUBSET, 990, 1010, true }, { EXACTNESS_SUBSET, -10, 10, false },
		{ EXACTNESS_CYCLES, 900, CONCEPT_ANY_NUMBER, true }, { EXACTNESS_CYCLES, 990, 1010, false }, { EXACTNESS_NONE, 0, CONCEPT_ANY_NUMBER, false },
	};
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		const struct expression x = { .exactness = (uint8_t)cases[i].exactness };

		if (expression_proves(&x, cases[i].low, cases[i].high) != cases[i].proves)
			fail_msg("%s, %d to %d", exactness_name(cases[i].exactness), (int)cases[i].low, (int)cases[i].high);
	}
}

/* No concept uses an event that overcounts according to a quirk of the processor. */
static void test_concept_takes_no_event_that_counts_too_much(void **state)
{
	(void)state;
	unsigned quirks = 0;

	for (unsigned p = 0; p < processor_count; p++) {
		for (unsigned q = 0; q < processors[p].quirk_count; q++)
			quirks += processors[p].quirks[q].overcounts[0] != 0;
		for (unsigned i = 0; i < processors[p].expression_count; i++) {
			const struct expression *x = &processors[p].expressions[i];

			for (unsigned t = 0; t < x->term_count; t++)
				if (x->terms[t].event && event_overcounts(&processors[p], x->terms[t].event->name))
					fail_msg("%s: %s counts %s", processors[p].name, x->concept, x->terms[t].event->name);
		}
	}
	assert_true(quirks > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_concept_of_every_processor_is_expressed_or_none_with_a_reason),
		cmocka_unit_test(test_expression_is_the_sum_of_its_terms),
		cmocka_unit_test(test_concept_of_the_uncore_has_a_place_for_each_channel),
		cmocka_unit_test(test_expression_proves_what_its_exactness_allows),
		cmocka_unit_test(test_concept_takes_no_event_that_counts_too_much),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
