/* The closed loop on the built-in machines: latency, TLB and bandwidth rows meet tests/expect/, on the Core 2 all rows of the full suite.
 * The Pentium 4's is in test_netburst_suite.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/loop_meets.h"

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

/* For the processors that were added last: latencies, walks, and streams of one core and of all. */
#define FEWER "load.l?.*,load.dram_local.*,load.l2_overlap.*,tlb.dtlb*,tlb.stlb*,store.forward.latency,exec.addsd*,exec.mulsd*,exec.divsd*," \
	"triad.l?.bandwidth,triad.dram*.bandwidth,*.l1_all.bandwidth,*.l1.bandwidth"
static void test_loop_zen4_is_found_again(void **state) { (void)state; finds_again("zen4", FEWER, 26); }
/* Other core complexes, on the same die and on another; two sockets. */
#define COMPLEXES ",load.other_complex*,core_to_core.*other*,load.l3_*other_core.*"
static void test_loop_zen5_is_found_again(void **state) { (void)state; finds_again("zen5", "load.l?.*,load.dram_local.*,tlb.dtlb*,tlb.stlb*,triad.l?.bandwidth,triad.dram.bandwidth,triad.dram_nt.bandwidth,read.dram_all.*" COMPLEXES, 21); }
static void test_loop_zen2_is_found_again(void **state) { (void)state; finds_again("zen2", "load.l1.*,load.l2.*,load.l3.*,load.dram_*al.latency,load.remote_l3*,tlb.dtlb_4k*" COMPLEXES, 14); }
static void test_loop_zen3_is_found_again(void **state) { (void)state; finds_again("zen3", "load.l1.*,load.l2.*,load.l3.*,load.dram_*al.latency,load.remote_l3*,tlb.dtlb_4k*,exec.div*,triad.l?.bandwidth" COMPLEXES, 24); }
static void test_loop_sandy_bridge_is_found_again(void **state) { (void)state; finds_again("sandy-bridge", FEWER ",load.l3_*other_core.*,*.node_local*", 34); }
static void test_loop_ivy_bridge_is_found_again(void **state) { (void)state; finds_again("ivy-bridge", FEWER ",load.l3_*other_core.*,*.node_local*", 34); }

/* The whole suite: each row is proved and right, or its processor's concepts.csv says why not, or the machine lacks what it measures.
 * Accounting, trust and study are as expected. The instructions are few enough for an emulated guest. */
static void test_loop_core2_full_suite_is_as_expected(void **state)
{
	(void)state;
	static struct loop_run r;
	const char *text = loop_built_in("core2");
	unsigned missed, met;
	loop_open(&r, text);
	loop_suite(&r, "full");
	met = loop_meets(&r, text, &missed);
	if (missed || r.sum.unexpected)
		loop_print(&r);
	print_message("%u ok, %u unproven, %u absent; %u meet their formula; %llu simulated instructions\n", r.sum.by_status[ROW_OK],
	              r.sum.by_status[ROW_UNPROVEN], r.sum.by_status[ROW_UNSUPPORTED], met, (unsigned long long)r.instructions);
	assert_int_equal(r.sum.unexpected, 0);
	assert_int_equal(missed, 0);
	assert_true(r.sum.by_status[ROW_OK] >= 134 && r.sum.by_status[ROW_UNPROVEN] <= 7 && met >= 140);
	assert_true(r.instructions > 1000000 && r.instructions <= 150000000); /* streams of all cores repeat until rounds agree; those in memory also count bus events */
	loop_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop_zen4_is_found_again),
		cmocka_unit_test(test_loop_zen5_is_found_again),
		cmocka_unit_test(test_loop_zen2_is_found_again),
		cmocka_unit_test(test_loop_zen3_is_found_again),
		cmocka_unit_test(test_loop_sandy_bridge_is_found_again),
		cmocka_unit_test(test_loop_ivy_bridge_is_found_again),
		cmocka_unit_test(test_loop_nehalem_ep_is_found_again),
		cmocka_unit_test(test_loop_haswell_ep_is_found_again),
		cmocka_unit_test(test_loop_skylake_sp_is_found_again),
		cmocka_unit_test(test_loop_core2_full_suite_is_as_expected),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
