/* Samples are reduced to slopes, medians and deviations, judged for noise, and proved, as computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/measure/loop.h"

static void test_reduce_mul_div_rounds_and_saturates(void **state)
{
	(void)state;
	assert_int_equal(mul_div(7, 1, 2), 4);
	assert_int_equal(mul_div(-7, 1, 2), -4);
	assert_int_equal(mul_div(1, 1, 3), 0);
	assert_int_equal(mul_div(2, 1, 3), 1);
	/* a product beyond 64 bits: 768e9 * 3e9 / 25e6 */
	assert_int_equal(mul_div(768000000000, 3000000000, 25000000), 92160000000000);
	assert_int_equal(mul_div(INT64_MAX, 1000, 1), INT64_MAX);
	assert_int_equal(mul_div(INT64_MIN + 1, 1000, 1), INT64_MIN);
}

static void test_reduce_median_and_deviation(void **state)
{
	(void)state;
	int64_t odd[] = { 9, 1, 5 }, even[] = { 4, 1, 3, 2 }, values[] = { 1, 2, 3, 4, 100 }, work[5];
	assert_int_equal(reduce_median(odd, 3), 5);
	assert_int_equal(reduce_median(even, 4), 3); /* 2.5, half up */
	assert_int_equal(reduce_mad(values, 5, 3, work), 1);
}

/* Windows take 10 cycles per unit and 500 of overhead; in one of ten pairs a disturbance adds `hit` cycles to the shorter
 * window, in another to the longer one. */
static void make_pairs(struct pair *p, unsigned n, int64_t units, int64_t hit)
{
	for (unsigned i = 0; i < n; i++) {
		p[i].shorter = 500 + 10 * units + (i % 10 == 1 ? hit : 0);
		p[i].longer = 500 + 20 * units + (i % 10 == 2 ? hit : 0);
	}
}

static void test_reduce_slope_drops_overhead_and_outliers(void **state)
{
	(void)state;
	struct pair p[20];
	struct slope s;
	make_pairs(p, 20, 1000, 50000);
	assert_int_equal(reduce_slope(p, 20, 1000, STAT_MINIMUM, &s), ST_OK);
	assert_int_equal(s.value_micro, 10000000);
	assert_int_equal(s.spread_micro, 0);
	assert_int_equal(s.samples, 20);
	assert_int_equal(reduce_slope(p, 20, 1000, STAT_MEDIAN, &s), ST_OK);
	assert_int_equal(s.value_micro, 10000000);
}

/* Streams in memory run in one of several rhythms: the value of such a row is their mean, whichever rhythm most windows have. */
static void test_reduce_mean_is_between_rhythms(void **state)
{
	(void)state;
	struct pair p[16];
	struct slope s;
	for (unsigned i = 0; i < 16; i++)
		p[i] = (struct pair){ 500, 500 + (i % 4 ? 10000 : 14000) };
	assert_int_equal(reduce_slope(p, 16, 1000, STAT_MEDIAN, &s), ST_OK);
	assert_int_equal(s.value_micro, 10000000);
	assert_int_equal(reduce_slope(p, 16, 1000, STAT_MEAN, &s), ST_OK);
	assert_int_equal(s.value_micro, 10666667); /* without two of the four and two of the twelve */
	assert_false(reduce_slope_is_sure(p, 16, 23)); /* 1732 / root 15 of 11000, times 2.13 / 1.96 */
	assert_true(reduce_slope_is_sure(p, 16, 22));
	assert_false(reduce_slope_is_sure(p, 4, 7)); /* 1000 of 11000, times 3.18 / 1.96 */
	assert_true(reduce_slope_is_sure(p, 4, 6));
	p[3].longer += 1000000; /* a long disturbance */
	p[5].shorter += 1000000;
	assert_int_equal(reduce_slope(p, 16, 1000, STAT_MEAN, &s), ST_OK);
	assert_int_equal(s.value_micro, 11000000);
	assert_false(reduce_slope_is_sure(p, 16, 22));
	for (unsigned i = 0; i < 16; i++)
		p[i] = (struct pair){ 500, 10500 };
	assert_true(reduce_slope_is_sure(p, 2, 1000));
	assert_false(reduce_slope_is_sure(p, 1, 1000));
	assert_int_equal(reduce_slope(p, 16, 1000, STAT_MEAN, &s), ST_OK);
	assert_int_equal(s.value_micro, 10000000);
	assert_false(reduce_slope_is_settled(p, 2, 200));
	assert_true(reduce_slope_is_settled(p, 3, 200));
	p[0].longer += 50; /* of 10000 */
	p[1].longer += 200;
	assert_false(reduce_slope_is_settled(p, 3, 200));
	assert_true(reduce_slope_is_settled(p, 4, 200));
	p[2].longer += 6000;
	assert_false(reduce_slope_is_settled(p, 4, 200));
	assert_true(reduce_slope_is_settled(p, 5, 200));
	p[0].longer = 0;
	p[1].longer = 0;
	assert_false(reduce_slope_is_sure(p, 2, 1000));
}

/* The minimum of the pairs' slopes would be far too low, or negative: it selects a pair whose shorter window was slow. */
static void test_reduce_minimum_is_not_the_least_ratio(void **state)
{
	(void)state;
	struct pair p[20];
	struct slope s;
	make_pairs(p, 20, 1000, 9500);
	assert_int_equal(reduce_slope(p, 20, 1000, STAT_MINIMUM, &s), ST_OK);
	assert_int_equal(s.value_micro, 10000000);
}

/* On a shared level one window that was too fast must not decide the value. */
static void test_reduce_median_ignores_a_lucky_window(void **state)
{
	(void)state;
	struct pair p[MINIMUM_PAIRS_LEAST];
	struct slope s;
	make_pairs(p, MINIMUM_PAIRS_LEAST, 1000, 0);
	p[4].longer -= 8000;
	assert_int_equal(reduce_slope(p, MINIMUM_PAIRS_LEAST, 1000, STAT_MEDIAN, &s), ST_OK);
	assert_int_equal(s.value_micro, 10000000);
	assert_int_equal(reduce_slope(p, MINIMUM_PAIRS_LEAST, 1000, STAT_MINIMUM, &s), ST_OK);
	assert_int_equal(s.value_micro, 2000000);
}

/* Few pairs give the median also for STAT_MINIMUM, because the minima of the two lengths may come from unlike windows. */
static void test_reduce_few_windows_have_no_minimum(void **state)
{
	(void)state;
	struct pair p[MINIMUM_PAIRS_LEAST - 1];
	struct slope s;
	make_pairs(p, MINIMUM_PAIRS_LEAST - 1, 1000, 0);
	p[4].longer -= 8000;
	assert_int_equal(reduce_slope(p, MINIMUM_PAIRS_LEAST - 1, 1000, STAT_MINIMUM, &s), ST_OK);
	assert_int_equal(s.value_micro, 10000000);
}

/* Of windows that follow one of the same kernel in every other round, few give the least of both lengths, and the spread that such windows have. */
static void test_reduce_neighbours_lose_what_their_first_windows_pay(void **state)
{
	(void)state;
	struct pair p[5];
	struct slope s;
	make_pairs(p, 5, 1000, 0);
	for (unsigned i = 0; i < 5; i++)
		*(i % 2 ? &p[i].longer : &p[i].shorter) += 20;
	assert_int_equal(reduce_slope_of_neighbours(p, 5, 1000, &s), ST_OK);
	assert_int_equal(s.value_micro, 10000000);
	assert_int_equal(s.spread_micro, 0);
	assert_int_equal(s.samples, 5);
	assert_int_equal(reduce_slope(p, 5, 1000, STAT_MINIMUM, &s), ST_OK);
	assert_int_equal(s.value_micro, 9980000);
	assert_int_equal(reduce_slope_of_neighbours(p, 1, 1000, &s), ST_OK);
	assert_int_equal(s.value_micro, 9980000);
	assert_int_equal(reduce_slope_of_neighbours(p, 0, 1000, &s), ST_RANGE);
}

static void test_reduce_spread_shows_scatter(void **state)
{
	(void)state;
	struct pair p[9];
	struct slope s;
	make_pairs(p, 9, 1000, 0);
	for (int i = 0; i < 9; i++)
		p[i].longer += (i - 4) * 1000;
	assert_int_equal(reduce_slope(p, 9, 1000, STAT_MEDIAN, &s), ST_OK);
	assert_int_equal(s.value_micro, 10000000);
	assert_int_equal(s.spread_micro, 2000000); /* deviations 0 1 1 2 2 3 3 4 4 */
}

/* If a core's frequency changes between rounds, test and clock change together, and the value does not. */
static void test_reduce_by_clock_follows_the_frequency(void **state)
{
	(void)state;
	struct pair test[50], clock[50];
	struct slope s;
	for (int i = 0; i < 50; i++) {
		const int64_t percent = 80 + i; /* ticks of a constant clock per 100 core cycles */
		test[i] = (struct pair){ 300 + 40 * percent, 300 + 80 * percent }; /* 1000 units of 4 cycles */
		clock[i] = (struct pair){ 200 + 20 * percent, 200 + 40 * percent };
	}
	assert_int_equal(reduce_slope_by_clock(test, clock, 50, 1000, 2000, STAT_MINIMUM, &s), ST_OK);
	assert_int_equal(s.value_micro, 4000000);
	assert_int_equal(s.spread_micro, 0);
	assert_int_equal(reduce_slope_by_clock(test, clock, 50, 1000, 2000, STAT_MEDIAN, &s), ST_OK);
	assert_int_equal(s.value_micro, 4000000);
	assert_int_equal(s.samples, 50);
	assert_int_equal(reduce_slope(test, 50, 1000, STAT_MINIMUM, &s), ST_OK); /* without the clock the minimum is that of the highest frequency */
	assert_int_equal(s.value_micro, 3200000);
}

/* Two rounds of five have a disturbed window, of either length and either kernel. */
static void test_reduce_by_clock_leaves_disturbed_rounds_out(void **state)
{
	(void)state;
	struct pair test[50], clock[50];
	struct slope s;
	for (int i = 0; i < 50; i++) {
		test[i] = (struct pair){ 4300, 8300 };
		clock[i] = (struct pair){ 2200, 4200 };
		if (i % 5 == 1)
			*(i % 2 ? &test[i].longer : &test[i].shorter) += 150 * i;
		if (i % 5 == 3)
			*(i % 2 ? &clock[i].longer : &clock[i].shorter) += 30 * i;
	}
	assert_int_equal(reduce_slope_by_clock(test, clock, 50, 1000, 2000, STAT_MINIMUM, &s), ST_OK);
	assert_int_equal(s.value_micro, 4000000);
}

/* In two rounds of three another program uses the level too, which lengthens the test by varying amounts. */
static void test_reduce_by_clock_finds_the_undisturbed_among_more_that_are_not(void **state)
{
	(void)state;
	struct pair test[90], clock[90];
	struct slope s;
	for (int i = 0; i < 90; i++) {
		test[i] = (struct pair){ 0, 4000 + i / 3 % 2 + (i % 3 ? 20 * i : 0) };
		clock[i] = (struct pair){ 0, 2000 };
	}
	assert_int_equal(reduce_slope_by_clock(test, clock, 90, 1000, 2000, STAT_MINIMUM, &s), ST_OK);
	assert_in_range(s.value_micro, 3999000, 4002000);
	assert_in_range(s.range_micro, 1000, 4000); /* of the undisturbed alone */
	for (int i = 0; i < 90; i++) /* rounds without a cluster, spread evenly, give their middle */
		test[i].longer = 4000 + 10 * (i * 7 % 90);
	assert_int_equal(reduce_slope_by_clock(test, clock, 90, 1000, 2000, STAT_MINIMUM, &s), ST_OK);
	assert_in_range(s.value_micro, 4200000, 4300000);
	assert_in_range(s.range_micro, 400000, 500000);
}

static void test_reduce_by_clock_averages_what_the_ticks_are_too_coarse_for(void **state)
{
	(void)state;
	struct pair test[64], clock[64];
	struct slope s;
	for (int i = 0; i < 64; i++) { /* 4.005 cycles per unit, read in ticks of 32 cycles */
		test[i] = (struct pair){ 0, (4005 + i % 32) / 32 * 32 };
		clock[i] = (struct pair){ 0, 2048 };
	}
	assert_int_equal(reduce_slope_by_clock(test, clock, 64, 1000, 2048, STAT_MEDIAN, &s), ST_OK);
	assert_int_equal(s.value_micro, 4000000);
	assert_int_equal(reduce_slope_by_clock(test, clock, 64, 1000, 2048, STAT_MINIMUM, &s), ST_OK);
	assert_in_range(s.value_micro, 3999000, 4008000);
}

static void test_reduce_by_clock_that_stands_still_is_a_range_error(void **state)
{
	(void)state;
	const struct pair test[3] = { { 100, 200 }, { 100, 200 }, { 100, 300 } };
	struct pair clock[3] = { { 50, 50 }, { 60, 50 }, { 50, 150 } };
	struct slope s;
	assert_int_equal(reduce_slope_by_clock(test, clock, 3, 10, 100, STAT_MINIMUM, &s), ST_OK); /* of the third round alone */
	assert_int_equal(s.value_micro, 20000000);
	assert_int_equal(s.samples, 1);
	clock[2].longer = 50;
	assert_int_equal(reduce_slope_by_clock(test, clock, 3, 10, 100, STAT_MINIMUM, &s), ST_RANGE);
	assert_int_equal(reduce_slope_by_clock(test, clock, 0, 10, 100, STAT_MINIMUM, &s), ST_RANGE);
}

static void test_reduce_nothing_is_a_range_error(void **state)
{
	(void)state;
	struct pair p = { 1, 2 };
	struct slope s;
	assert_int_equal(reduce_slope(&p, 0, 1000, STAT_MEDIAN, &s), ST_RANGE);
	assert_int_equal(reduce_slope(&p, 1, 0, STAT_MEDIAN, &s), ST_RANGE);
	assert_int_equal(reduce_slope(&p, SAMPLES_MAX + 1, 1, STAT_MEDIAN, &s), ST_RANGE);
}

static void test_reduce_noise_is_a_spread_beyond_the_tolerance(void **state)
{
	(void)state;
	const char *why;
	assert_false(reduce_is_noisy(200, 10000, 5, STAT_MINIMUM, &why));
	assert_string_equal(why, "");
	assert_true(reduce_is_noisy(201, 10000, 5, STAT_MINIMUM, &why));
	assert_false(reduce_is_noisy(1000, 10000, 5, STAT_MEDIAN, &why));
	assert_true(reduce_is_noisy(1001, 10000, 5, STAT_MEDIAN, &why));
	assert_true(reduce_is_noisy(0, 10000, 2, STAT_MEDIAN, &why));
	assert_non_null(strstr(why, "3 samples"));
	assert_true(reduce_is_noisy(0, 0, 5, STAT_MEDIAN, &why));
}

static void test_evidence_holds_only_within_bounds(void **state)
{
	(void)state;
	static const struct row_proof proofs[] = { { "load.hit.l2", 990, 1010, PER_UNIT }, { "load.miss.llc", -10, 10, PER_UNIT } };
	static const struct expression hits = { .text = "HITS" }, misses = { .text = "MISSES" };
	static const struct counting counting = { .proofs = proofs, .expressions = { &hits, &misses }, .proof_count = 2 };
	static const struct { int64_t hits, misses; bool holds; } cases[] = {
		{ 1000, 0, true }, { 990, 10, true }, { 1010, -10, true },
		{ 989, 0, false }, { 1011, 0, false }, { 1000, 11, false }, { 0, 0, false },
	};
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		char at[160];
		struct text t;
		int64_t counts[] = { cases[i].hits, cases[i].misses };
		text_init(&t, at, sizeof(at));
		assert_int_equal(evidence_holds(&counting, counts, "load", &t), cases[i].holds);
		if (i == 0)
			assert_string_equal(at, "HITS 1.000 per load, MISSES 0.000 per load");
	}
}

static void test_evidence_says_what_refutes_a_row(void **state)
{
	(void)state;
	static const struct row_proof proofs[] = { { "load.hit.l2", 990, 1010, PER_UNIT }, { "line.dram.local", 11880, 12120, PER_UNIT } };
	static const struct expression hits = { .text = "HITS" }, lines = { .text = "LINES" };
	static const struct counting counting = { .proofs = proofs, .expressions = { &hits, &lines }, .proof_count = 2 };
	static const struct { size_t bytes; const char *says; } cases[] = {
		{ 128, "counted HITS 1.000 per load, LINES 15.672 per iteration" },
		{ 56, "counted HITS 1.000 per load, LINES 15.672 per iteration" },
		{ 55, "counted line.dram.local 15.672 per iteration; the proof " }, /* cut, with the count that matters */
	};
	const int64_t counts[] = { 1000, 15672 };
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		char at[128];
		struct text t;
		text_init(&t, at, cases[i].bytes);
		evidence_refutes(&counting, counts, "iteration", "HITS 1.000 per load, LINES 15.672 per iteration", &t);
		assert_memory_equal(at, cases[i].says, cases[i].bytes - 1 < strlen(cases[i].says) ? cases[i].bytes - 1 : strlen(cases[i].says) + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reduce_mul_div_rounds_and_saturates),
		cmocka_unit_test(test_reduce_median_and_deviation),
		cmocka_unit_test(test_reduce_slope_drops_overhead_and_outliers),
		cmocka_unit_test(test_reduce_mean_is_between_rhythms),
		cmocka_unit_test(test_reduce_minimum_is_not_the_least_ratio),
		cmocka_unit_test(test_reduce_few_windows_have_no_minimum),
		cmocka_unit_test(test_reduce_median_ignores_a_lucky_window),
		cmocka_unit_test(test_reduce_neighbours_lose_what_their_first_windows_pay),
		cmocka_unit_test(test_reduce_spread_shows_scatter),
		cmocka_unit_test(test_reduce_by_clock_follows_the_frequency),
		cmocka_unit_test(test_reduce_by_clock_leaves_disturbed_rounds_out),
		cmocka_unit_test(test_reduce_by_clock_finds_the_undisturbed_among_more_that_are_not),
		cmocka_unit_test(test_reduce_by_clock_averages_what_the_ticks_are_too_coarse_for),
		cmocka_unit_test(test_reduce_by_clock_that_stands_still_is_a_range_error),
		cmocka_unit_test(test_reduce_nothing_is_a_range_error),
		cmocka_unit_test(test_reduce_noise_is_a_spread_beyond_the_tolerance),
		cmocka_unit_test(test_evidence_holds_only_within_bounds),
		cmocka_unit_test(test_evidence_says_what_refutes_a_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
