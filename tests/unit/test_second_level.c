/* The second level of the TLB is measured where CPUID does not enumerate it: rows about pages are right whatever its size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/closed_loop.h"

/* Rows about pages on a built-in machine with so many entries are as expected, `least` of them judged. */
static void rows_are_right(const char *machine, const char *entries, unsigned least)
{
	static struct loop_run r;
	char *text = loop_changed(loop_built_in(machine), "stlb", "entries", entries);
	unsigned missed, met;

	loop_open(&r, text);
	loop_suite(&r, "tlb.*,frontend.itlb_walk.*");
	met = loop_meets(&r, text, &missed);
	assert_int_equal(missed, 0);
	assert_true(met >= least);
	loop_close(&r);
	free(text);
}

static void test_second_level_of_any_size_is_found(void **state)
{
	(void)state;
	rows_are_right("nehalem-ep", "256", 6);
	rows_are_right("nehalem-ep", "1024", 6);
	rows_are_right("core2", "512", 6);
}

static void test_second_level_that_is_not_there_is_not_measured(void **state)
{
	(void)state;
	rows_are_right("nehalem-ep", "0", 6);
	rows_are_right("skylake-sp", "0", 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_second_level_of_any_size_is_found),
		cmocka_unit_test(test_second_level_that_is_not_there_is_not_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
