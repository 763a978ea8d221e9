/* pmu/sim/core/ against a reference core that is computed cycle by cycle (tests/reference/), with two threads: random machines,
 * random pairs of streams, every signal of both threads compared in every cycle. Signals that are equal for each thread are
 * equal for the core, and at any threshold.
 *
 * REFERENCE_PAIRS: the number of pairs (2000). REFERENCE_SEED: the first seed. A pair that disagrees is reduced as far as it
 * still does and printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/reference/receive.h"
#include "tests/reference/tally.h"

static uint64_t pairs(void) { return rig_setting("REFERENCE_PAIRS", 2000); }

static void test_reference_pair_agrees_on_every_cycle(void **state)
{
	(void)state;
	struct tally t = tally_compare(2, STREAM_ALL, 0, pairs(), true);
	assert_int_equal(t.equal, t.runs);
	assert_int_equal(t.model_cycles, t.wanted_cycles);
}

static void test_reference_pair_differs_little_when_ports_overlap(void **state)
{
	(void)state;
	tally_check_class(2, MACHINE_PORTS_OVERLAP, pairs() / 10, 0.005, 0.20);
}

static void test_reference_pair_differs_little_when_operations_keep_a_port(void **state)
{
	(void)state;
	tally_check_class(2, MACHINE_PORTS_BUSY, pairs() / 10, 0.01, 0.30);
}

static void test_reference_pair_differs_little_when_the_divider_is_kept(void **state)
{
	(void)state;
	tally_check_class(2, MACHINE_DIVIDER, pairs() / 10, 0.01, 0.40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference_pair_agrees_on_every_cycle),
		cmocka_unit_test(test_reference_pair_differs_little_when_ports_overlap),
		cmocka_unit_test(test_reference_pair_differs_little_when_operations_keep_a_port),
		cmocka_unit_test(test_reference_pair_differs_little_when_the_divider_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
