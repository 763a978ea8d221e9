/* Statistics of comparisons: Student's t agrees with published tables, equal runs hardly ever show a change, and planted changes are found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include <cmocka.h>

#include "runner/data/statistics.h"

enum { ROWS = 100, BOOTS = 5, WINDOWS = 9, TABLES = 1000 };

static uint64_t random_state;

static double uniform(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Simulates one boot of a row: the boot shifts the true value, and the windows vary around that; median and deviation as the suite computes them. */
static void boot(double truth, double between, double within, double *value, double *spread)
{
	double windows[WINDOWS], sorted[WINDOWS], work[WINDOWS], centre = truth * (1 + between * normal());
	for (unsigned i = 0; i < WINDOWS; i++)
		sorted[i] = windows[i] = centre * (1 + within * normal());
	*value = statistics_median(sorted, WINDOWS);
	*spread = statistics_deviation(windows, WINDOWS, *value, work);
	*value = floor(*value * 1000 + 0.5) / 1000;
}

struct table { double a[ROWS][BOOTS], b[ROWS][BOOTS], sa[ROWS][BOOTS], sb[ROWS][BOOTS]; struct difference d[ROWS]; };

/* Half of the rows are of the core alone (standard deviation of boots 0.02 %, of windows 0.05 %), half of shared levels (0.3 %, 0.5 %).
 * `planted` is the relative change of row k on side B. Returns the number of rows called changed. */
static unsigned compare(struct table *t, unsigned boots, unsigned k, double planted)
{
	static const unsigned samples[BOOTS] = {WINDOWS, WINDOWS, WINDOWS, WINDOWS, WINDOWS};
	struct difference *all[ROWS];
	unsigned changed = 0;
	for (unsigned r = 0; r < ROWS; r++) {
		double truth = 1 + 400 * uniform(), between = r % 2 ? 0.003 : 0.0002, within = r % 2 ? 0.005 : 0.0005;
		for (unsigned i = 0; i < boots; i++) {
			boot(truth, between, within, &t->a[r][i], &t->sa[r][i]);
			boot(r == k ? truth * (1 + planted) : truth, between, within, &t->b[r][i], &t->sb[r][i]);
		}
		struct boot_variance a = {boots, t->a[r], t->sa[r], samples}, b = {boots, t->b[r], t->sb[r], samples};
		statistics_difference(&a, &b, &t->d[r]);
		all[r] = &t->d[r];
	}
	statistics_decide(all, ROWS, boots == 1);
	for (unsigned r = 0; r < ROWS; r++)
		changed += t->d[r].change != CHANGE_NONE;
	return changed;
}

static void test_compare_equal_tables_show_no_change(void **state)
{
	(void)state;
	static struct table t;
	unsigned wrong = 0;
	random_state = 1;
	for (unsigned i = 0; i < TABLES; i++)
		wrong += compare(&t, BOOTS, ROWS, 0) > 0;
	print_message("# %u of %u comparisons of equal tables called a change\n", wrong, TABLES);
	assert_true(wrong <= TABLES / 100);
}

static void test_compare_three_boots_of_equal_tables(void **state)
{
	(void)state;
	static struct table t;
	unsigned wrong = 0;
	random_state = 2;
	for (unsigned i = 0; i < TABLES; i++)
		wrong += compare(&t, 3, ROWS, 0) > 0;
	assert_true(wrong <= TABLES / 100);
}

/* A change of one row by 3 %, up or down, of the core or a shared level, is found in 99 % of comparisons, and another one in at most 1 %. */
static void test_compare_finds_a_planted_change(void **state)
{
	(void)state;
	static struct table t;
	unsigned found = 0, others = 0;
	random_state = 3;
	for (unsigned i = 0; i < TABLES; i++) {
		unsigned k = i % ROWS, changed = compare(&t, BOOTS, k, i & 2 ? 0.03 : -0.03);
		bool hit = t.d[k].change == CHANGE_REAL && (t.d[k].relative > 0) == ((i & 2) != 0);
		found += hit;
		others += changed - (t.d[k].change != CHANGE_NONE) > 0;
	}
	print_message("# %u of %u planted changes found, %u comparisons with another\n", found, TABLES, others);
	assert_true(found >= TABLES * 99 / 100);
	assert_true(others <= TABLES / 100);
}

static void test_compare_of_one_boot_says_so(void **state)
{
	(void)state;
	static struct table t;
	random_state = 4;
	(void)compare(&t, 1, 0, 0.5);
	assert_int_equal(t.d[0].change, CHANGE_ONE_BOOT);
}

/* A simulated machine's values have no spread: a difference in the last digit is no change, one of 1 % is. */
static void test_compare_without_spread_ignores_the_last_digit(void **state)
{
	(void)state;
	const double a[] = {10, 10, 10}, b[] = {10.001, 10.001, 10.001}, c[] = {10.1, 10.1, 10.1}, none[] = {0, 0, 0};
	const unsigned n[] = {5, 5, 5};
	struct boot_variance x = {3, a, none, n}, y = {3, b, none, n}, z = {3, c, none, n};
	struct difference d, *one = &d;
	statistics_difference(&x, &y, &d);
	statistics_decide(&one, 1, false);
	assert_int_equal(d.change, CHANGE_NONE);
	statistics_difference(&x, &z, &d);
	statistics_decide(&one, 1, false);
	assert_int_equal(d.change, CHANGE_REAL);
}

/* Two-sided 5 %, 1 % and 0.1 % points from tables of Student's t. */
static void test_compare_students_t_agrees_with_tables(void **state)
{
	(void)state;
	static const struct { double freedom, t, p; } known[] = {
		{1, 12.706, 0.05}, {1, 63.657, 0.01}, {2, 4.303, 0.05}, {4, 2.776, 0.05}, {4, 8.610, 0.001}, {8, 2.306, 0.05}, {8, 3.355, 0.01},
		{8, 5.041, 0.001}, {30, 2.042, 0.05}, {120, 3.373, 0.001},
	};
	for (unsigned i = 0; i < COUNT_OF(known); i++) {
		double p = statistics_student_p(known[i].t, known[i].freedom);
		if (fabs(p / known[i].p - 1) > 0.01)
			fail_msg("t %.3f of %.0f degrees: %.5f instead of %.5f", known[i].t, known[i].freedom, p, known[i].p);
	}
	assert_true(statistics_student_p(0, 5) > 0.999);
	assert_true(statistics_student_p(1e9, 5) < 1e-30);
}

static void test_compare_median_is_the_middle_or_the_mean_of_two(void **state)
{
	(void)state;
	double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, v[] = {1, 2, 9}, work[3];
	assert_true(statistics_median(odd, 3) == 2);
	assert_true(statistics_median(even, 4) == 2.5);
	assert_true(statistics_deviation(v, 3, 2, work) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare_students_t_agrees_with_tables),
		cmocka_unit_test(test_compare_median_is_the_middle_or_the_mean_of_two),
		cmocka_unit_test(test_compare_without_spread_ignores_the_last_digit),
		cmocka_unit_test(test_compare_of_one_boot_says_so),
		cmocka_unit_test(test_compare_equal_tables_show_no_change),
		cmocka_unit_test(test_compare_three_boots_of_equal_tables),
		cmocka_unit_test(test_compare_finds_a_planted_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
