/* The full suite on the simulated Pentium 4: what its counters can prove is ok and right, what they cannot says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/closed_loop.h"

#define INSTRUCTIONS_MOST 120000000u /* simulated, the whole suite */

static void test_netburst_suite_is_proven_where_it_can_be(void **state)
{
	(void)state;
	static struct loop_run r;
	const char *text = loop_built_in("pentium4");
	unsigned ok = 0, unproven = 0, unsupported = 0, bad = 0, missed;
	loop_open(&r, text);
	loop_suite(&r, "full");
	for (unsigned i = 0; i < r.host.result_count; i++) {
		const struct row_result *row = &r.host.results[i];
		bool as_said = row->status == ROW_UNSUPPORTED ? row->absent :
			row->unprovable ? row->status == ROW_UNPROVEN && row->reason[0] : row->status == ROW_OK; /* tables/unprovable.csv */
		ok += row->status == ROW_OK;
		unproven += row->status == ROW_UNPROVEN;
		unsupported += row->status == ROW_UNSUPPORTED;
		if (!as_said)
			print_error("%s: %s (%s)\n", row->name, row_status_name(row->status), row->reason);
		bad += !as_said;
	}
	unsigned met = loop_meets(&r, text, &missed);
	print_message("%u ok, %u unproven for want of an event, %u absent; %u as expected; %llu simulated instructions\n", ok, unproven,
	              unsupported, met, (unsigned long long)r.instructions);
	assert_int_equal(bad, 0);
	assert_int_equal(missed, 0);
	assert_true(ok >= 73 && unproven <= 36 && met >= 150);
	assert_true(r.instructions <= INSTRUCTIONS_MOST);
	loop_close(&r);
}

/* What proves the rows of one level does not prove those of another: without the tagging of replays nothing is counted. */
static void test_netburst_suite_is_unproven_without_tagging(void **state)
{
	(void)state;
	static struct loop_run r;
	char *text = loop_changed(loop_built_in("pentium4"), "fault", "msr_missing", "0x3F1");
	loop_open(&r, text);
	loop_suite(&r, "load.l2.latency,load.dram_local.latency,tlb.walk_2m.penalty");
	for (unsigned i = 0; i < r.host.result_count; i++)
		if (r.host.results[i].status == ROW_OK)
			fail_msg("%s is ok", r.host.results[i].name);
	loop_close(&r);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_netburst_suite_is_proven_where_it_can_be),
		cmocka_unit_test(test_netburst_suite_is_unproven_without_tagging),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
