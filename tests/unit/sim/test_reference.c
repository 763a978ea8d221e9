/* pmu/sim/core/ against a reference core that is computed cycle by cycle (tests/reference/): random machines, random
 * code, every signal compared in every cycle.
 *
 * REFERENCE_STREAMS: the number of streams (10000). REFERENCE_SEED: the first seed. A stream that disagrees is reduced
 * as far as it still does and printed. Two threads of a core: test_reference_pair.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/reference/receive.h"
#include "tests/reference/tally.h"

static uint64_t streams(void) { return rig_setting("REFERENCE_STREAMS", 10000); }

static void test_reference_agrees_on_every_cycle(void **state)
{
	(void)state;
	struct tally t = tally_compare(1, STREAM_ALL, 0, streams(), true);
	assert_int_equal(t.equal, t.runs);
	assert_int_equal(t.model_cycles, t.wanted_cycles);
}

/* If divides become ready in program order, the order in which they reserve the divider is the same. */
static void test_reference_agrees_on_divides_in_order(void **state)
{
	(void)state;
	struct tally t = tally_compare(1, STREAM_ALL | STREAM_DIVIDES_IN_ORDER, MACHINE_DIVIDER, streams() / 10, true);
	assert_int_equal(t.equal, t.runs);
}

static void test_reference_differs_little_when_ports_overlap(void **state)
{
	(void)state;
	tally_check_class(1, MACHINE_PORTS_OVERLAP, streams() / 10, 0.005, 0.20);
}

static void test_reference_differs_little_when_operations_keep_a_port(void **state)
{
	(void)state;
	tally_check_class(1, MACHINE_PORTS_BUSY, streams() / 10, 0.01, 0.30);
}

static void test_reference_differs_little_when_the_divider_is_kept(void **state)
{
	(void)state;
	tally_check_class(1, MACHINE_DIVIDER, streams() / 10, 0.01, 0.40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference_agrees_on_every_cycle),
		cmocka_unit_test(test_reference_agrees_on_divides_in_order),
		cmocka_unit_test(test_reference_differs_little_when_ports_overlap),
		cmocka_unit_test(test_reference_differs_little_when_operations_keep_a_port),
		cmocka_unit_test(test_reference_differs_little_when_the_divider_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
