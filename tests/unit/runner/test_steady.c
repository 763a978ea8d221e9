/* Repeated runs of a row are judged by their spread, by other processes' load, and by runs without a value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runner/commands/steady.h"

static void test_steady_by_the_spread_of_runs(void **state)
{
	(void)state;
	static const int64_t same[] = { 4000, 4000, 4000, 4000 }, close[] = { 4000, 4002, 4000, 4002 }, apart[] = { 4000, 4010, 4000, 4010 };
	struct steady s;
	steady_judge(same, 4, 0, 0, &s);
	assert_false(s.noisy);
	assert_int_equal(s.cv_ppm, 0);
	steady_judge(close, 4, 0, 0, &s);
	assert_false(s.noisy);
	assert_int_equal(s.cv_ppm, 289); /* sqrt(4/3) of 4001 */
	steady_judge(apart, 4, 0, 0, &s);
	assert_true(s.noisy);
	assert_int_equal(s.cv_ppm, 1442); /* sqrt(100/3) of 4005 */
	assert_non_null(strstr(s.reason, "0.1 %"));
}

/* Values that agree are noisy all the same while another process loads a processor. */
static void test_steady_beside_other_work_is_noisy(void **state)
{
	(void)state;
	static const int64_t same[] = { 4000, 4000, 4000 };
	struct steady s;
	steady_judge(same, 3, 0, STEADY_OTHERS_MILLI, &s);
	assert_false(s.noisy);
	steady_judge(same, 3, 0, 990, &s);
	assert_true(s.noisy);
	assert_string_equal(s.reason, "other work took 99 % of a processor");
	steady_judge(same, 3, 0, -1, &s); /* not known */
	assert_false(s.noisy);
}

/* Values that agree are noisy if other runs gave none. */
static void test_steady_without_a_value_is_noisy(void **state)
{
	(void)state;
	static const int64_t same[] = { 4000, 4000, 4000 };
	struct steady s;
	steady_judge(same, 3, 2, 0, &s);
	assert_true(s.noisy);
	assert_non_null(strstr(s.reason, "2 runs had no undisturbed window"));
	steady_judge(same, 0, 5, 0, &s);
	assert_true(s.noisy);
}

static void test_steady_busy_time_is_read(void **state)
{
	(void)state;
	assert_int_equal(steady_busy_ticks("cpu  10 20 30 4000 500 6 7 80 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n"), 73);
	assert_int_equal(steady_busy_ticks("cpu  10 20\n"), 0);
	assert_int_equal(steady_busy_ticks(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady_by_the_spread_of_runs),
		cmocka_unit_test(test_steady_beside_other_work_is_noisy),
		cmocka_unit_test(test_steady_without_a_value_is_noisy),
		cmocka_unit_test(test_steady_busy_time_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
