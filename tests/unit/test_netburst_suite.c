/* The full suite on the simulated Pentium 4: what its counters can prove is ok and right, what they cannot says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/text.h"
#include "tests/unit/closed_loop.h"

#define INSTRUCTIONS_MOST 120000000u /* simulated, the whole suite */
#define NO_EVENT "this processor has no event that proves it"

/* NetBurst has no event for these: aliases within 4 KiB, length-changing prefixes, re-steers of the front end, a busy divider,
 * assists of SSE results, partial flags and registers, register reads, locks, fences, stores that find a line modified. */
static const char *const without_event[] = { "store.alias_4k.*", "frontend.lcp.*", "frontend.baclear.*", "exec.div*", "exec.sqrt*",
	"exec.fdiv*", "exec.fsqrt*", "exec.fp_assist*", "exec.partial_*", "exec.rob_read_port.*", "sync.lock.*", "sync.split_lock.*",
	"sync.lfence.*", "store.nt.*" };

static bool has_no_event(const char *row)
{
	for (unsigned i = 0; i < COUNT_OF(without_event); i++)
		if (str_glob(without_event[i], row))
			return true;
	return false;
}

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
			has_no_event(row->name) ? row->status == ROW_UNPROVEN && strstr(row->reason, NO_EVENT) : row->status == ROW_OK;
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
	assert_true(ok >= 70 && met >= 75);
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
