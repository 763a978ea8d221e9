/* Rounds in which another thread used the core are detected by a loop that issue width bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/measure/smt_probe.h"

#define ROUNDS 80

/* Makes a round whose NOPs take `quotient_milli` thousandths of the additions' ticks. */
static void make(struct pair *nops, struct pair *clock, unsigned i, int64_t quotient_milli)
{
	clock[i] = (struct pair){ 500, 100500 };
	nops[i] = (struct pair){ 300, 300 + 100 * quotient_milli };
}

static void make_alike(struct pair *nops, struct pair *clock, int64_t quotient_milli)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		make(nops, clock, i, quotient_milli);
}

static void test_smt_probe_keeps_an_unshared_core(void **state)
{
	(void)state;
	struct pair nops[ROUNDS], clock[ROUNDS];
	bool keep[ROUNDS];
	int64_t least = 0;
	for (unsigned i = 0; i < ROUNDS; i++)
		make(nops, clock, i, 500 + i % 3);
	assert_int_equal(smt_probe_keep(nops, clock, ROUNDS, &least, keep), ROUNDS);
	assert_in_range(least, 500000, 502000);
}

/* A fifth of the rounds is undisturbed and agrees; the others are slower, each by a different amount. */
static void test_smt_probe_drops_rounds_of_a_shared_core(void **state)
{
	(void)state;
	struct pair nops[ROUNDS], clock[ROUNDS];
	bool keep[ROUNDS];
	int64_t least = 0;
	for (unsigned i = 0; i < ROUNDS; i++)
		make(nops, clock, i, i % 5 ? 560 + 7 * i : 500 + i % 2);
	assert_int_equal(smt_probe_keep(nops, clock, ROUNDS, &least, keep), ROUNDS / 5);
	for (unsigned i = 0; i < ROUNDS; i++)
		assert_int_equal(keep[i], i % 5 == 0);
}

/* A round whose NOPs are too fast is dropped too: its clock's window was disturbed. */
static void test_smt_probe_drops_rounds_whose_clock_was_slow(void **state)
{
	(void)state;
	struct pair nops[ROUNDS], clock[ROUNDS];
	bool keep[ROUNDS];
	int64_t least = 0;
	make_alike(nops, clock, 500);
	clock[7].longer += 3000;
	clock[9].longer += 1000;
	clock[11].longer = clock[11].shorter;
	assert_int_equal(smt_probe_keep(nops, clock, ROUNDS, &least, keep), ROUNDS - 2);
	assert_false(keep[7]);
	assert_true(keep[9]); /* slower by a hundredth only */
	assert_false(keep[11]);
}

/* A core that is shared evenly all the time is detected by the least quotient before. */
static void test_smt_probe_detects_a_core_that_is_shared_all_the_time(void **state)
{
	(void)state;
	struct pair nops[ROUNDS], clock[ROUNDS];
	bool keep[ROUNDS];
	int64_t least = 500000;
	make_alike(nops, clock, 600);
	assert_int_equal(smt_probe_keep(nops, clock, ROUNDS, &least, keep), 0);
	assert_int_equal(least, 500000);
	least = 590000;
	assert_int_equal(smt_probe_keep(nops, clock, ROUNDS, &least, keep), ROUNDS);
	make_alike(nops, clock, 480);
	assert_int_equal(smt_probe_keep(nops, clock, ROUNDS, &least, keep), ROUNDS);
	assert_int_equal(least, 480000);
}

static void test_smt_probe_of_two_rounds_is_inconclusive(void **state)
{
	(void)state;
	struct pair nops[2], clock[2];
	bool keep[2];
	int64_t least = 0;
	make(nops, clock, 0, 500);
	make(nops, clock, 1, 500);
	assert_int_equal(smt_probe_keep(nops, clock, 2, &least, keep), 0);
	assert_int_equal(smt_probe_keep(nops, clock, 0, &least, keep), 0);
	assert_int_equal(least, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smt_probe_keeps_an_unshared_core),
		cmocka_unit_test(test_smt_probe_drops_rounds_of_a_shared_core),
		cmocka_unit_test(test_smt_probe_drops_rounds_whose_clock_was_slow),
		cmocka_unit_test(test_smt_probe_detects_a_core_that_is_shared_all_the_time),
		cmocka_unit_test(test_smt_probe_of_two_rounds_is_inconclusive),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
