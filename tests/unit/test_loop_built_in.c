/* The closed loop on the built-in machines: latency, TLB and bandwidth rows meet tests/expect/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/closed_loop.h"

#define ROWS "load.*,core_to_core.*,tlb.*,store.forward.latency,exec.addsd*,exec.mulsd*,exec.divsd*,exec.sqrtsd*,exec.div64*,exec.fdiv*," \
	"triad.l?.bandwidth,triad.dram.bandwidth,triad.dram_nt.bandwidth"

static void finds_again(const char *name, const char *rows_asked, unsigned rows_least)
{
	static struct loop_run r;
	const char *text = loop_built_in(name);
	unsigned missed, met;
	loop_open(&r, text);
	loop_suite(&r, rows_asked);
	met = loop_meets(&r, text, &missed);
	if (missed)
		loop_print(&r);
	assert_int_equal(missed, 0);
	assert_true(met >= rows_least);
	loop_close(&r);
}

static void test_loop_nehalem_ep_is_found_again(void **state) { (void)state; finds_again("nehalem-ep", ROWS, 40); }
static void test_loop_haswell_ep_is_found_again(void **state) { (void)state; finds_again("haswell-ep", ROWS, 40); }
static void test_loop_skylake_sp_is_found_again(void **state) { (void)state; finds_again("skylake-sp", ROWS, 40); }
static void test_loop_core2_is_found_again(void **state) { (void)state; finds_again("core2", ROWS, 40); }
static void test_loop_pentium4_is_found_again(void **state) { (void)state; finds_again("pentium4", ROWS, 40); }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop_nehalem_ep_is_found_again),
		cmocka_unit_test(test_loop_haswell_ep_is_found_again),
		cmocka_unit_test(test_loop_skylake_sp_is_found_again),
		cmocka_unit_test(test_loop_core2_is_found_again),
		cmocka_unit_test(test_loop_pentium4_is_found_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
