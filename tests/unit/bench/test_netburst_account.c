/* The Pentium 4's cycle accounting on the simulated machine, as far as its events reach, has the counts that the workloads are known to cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/workloads/workload_account.h"
#include "tests/unit/support/loop_meets.h"
#include "tests/unit/support/table_find.h"
#include "tests/unit/rigs/work_rig.h"

#define REGISTERS 0x93u /* 0x360 to 0x3F2 */

static struct work_rig rig;
static struct account_result a;
static int64_t penalties[512];

static int64_t expected_penalty(const char *text, const char *format, const char *row)
{
	struct expectation e;
	assert_int_equal(expect_row(text, format, row, &e), ST_OK);
	return (e.least_milli + e.most_milli) / 2;
}

static void account(const char *text, enum work_kind kind)
{
	static const char *const fed[] = { "load.l2.penalty", "load.dram_local.penalty", "branch.conditional.penalty" };
	const struct account_penalties p = { penalties };
	char *format = loop_format();
	assert_true(rows_count <= COUNT_OF(penalties));
	for (unsigned i = 0; i < rows_count; i++) {
		penalties[i] = -1;
		for (unsigned k = 0; k < COUNT_OF(fed); k++)
			if (!strcmp(rows[i].name, fed[k]))
				penalties[i] = expected_penalty(text, format, fed[k]);
	}
	free(format);
	workload_account_run(&rig.bench, kind, &p, &a);
}

static int64_t count_of(const char *term)
{
	const unsigned t = stall_find(term);
	assert_true(t < stall_term_count);
	if (!a.terms[t].thread.known)
		fail_msg("%s: %s", term, a.terms[t].open ? a.terms[t].open : "not counted");
	return a.terms[t].count;
}

static void test_netburst_accounting_is_what_its_events_carry(void **state)
{
	(void)state;
	const char *text = loop_built_in("pentium4");
	uint64_t now;
	work_rig_open(&rig, text);
	const struct access *under = sim_access(rig.run.sim);
	for (unsigned kind = 0; kind < WORK_KINDS; kind++) {
		account(text, kind);
		if (a.status != ROW_OK)
			fail_msg("%s: %s", work_name(kind), a.reason);
		const int64_t stalled = a.value[Q_RETIRE_STALL], active = a.value[Q_RETIRE_ACTIVE], cycles = a.bundle_cycles[Q_RETIRE_STALL];
		print_message("%s: %lld stalled + %lld active of %lld cycles, %lld uops queued, %lld retired; sum %lld\n", work_name(kind), (long long)stalled,
		              (long long)active, (long long)cycles, (long long)a.value[Q_ISSUED_UOPS], (long long)a.value[Q_RETIRED_UOPS], (long long)a.sum);
		assert_true(a.known[Q_RETIRE_STALL] && a.known[Q_RETIRE_ACTIVE] && a.known[Q_ISSUED_UOPS] && a.known[Q_RETIRED_UOPS]);
		assert_true(cycles > 10000 && llabs(stalled + active - cycles) * 1000 <= cycles);
		/* NetBurst has no events of cycles in which uops issue or dispatch */
		assert_false(a.known[Q_ISSUE_STALL] || a.known[Q_EXECUTE_STALL]);
		for (unsigned t = 0; t < stall_term_count; t++)
			if (!a.terms[t].thread.known)
				assert_non_null(a.terms[t].open);
		if (kind == WORK_LATENCY) {
			/* one load of sixteen hits the line of the load before it; no loads overlap */
			const int64_t loads = 64 * 15;
			assert_true(llabs(count_of("l2") + count_of("local_dram") - loads) <= loads / 100);
			assert_true(llabs(a.sum - stalled) * 100 <= stalled * 3);
		}
		if (kind == WORK_BRANCHY) { /* two random bits per iteration, of which half are mispredicted */
			assert_in_range(count_of("branch_conditional"), 950, 1200);
			assert_true(a.value[Q_ISSUED_UOPS] - a.value[Q_RETIRED_UOPS] > a.value[Q_RETIRED_UOPS] / 5);
		}
	}
	assert_int_equal(msr_guard_restore(&rig.run.guard), ST_OK);
	for (unsigned i = 0; i < REGISTERS; i++) /* zero again, as after a reset */
		if (under->ops->rdmsr(under->self, 0, 0x360 + i, &now) == ST_OK && now)
			fail_msg("0x%X: 0x%llx", 0x360 + i, (unsigned long long)now);
	work_rig_close(&rig);
}

/* Both threads share one set of counters: the first thread's are read while the second works. */
static void test_netburst_accounting_beside_a_second_thread(void **state)
{
	(void)state;
	char *text = loop_changed(loop_built_in("pentium4"), "topology", "threads", "2");
	work_rig_open(&rig, text);
	account(text, WORK_BRANCHY);
	assert_int_equal(a.status, ROW_OK);
	assert_int_equal(a.threads, 2);
	const int64_t cycles = a.bundle_cycles[Q_RETIRE_STALL];
	print_message("%lld stalled + %lld active of %lld cycles\n", (long long)a.value[Q_RETIRE_STALL], (long long)a.value[Q_RETIRE_ACTIVE], (long long)cycles);
	assert_true(llabs(a.value[Q_RETIRE_STALL] + a.value[Q_RETIRE_ACTIVE] - cycles) * 100 <= cycles);
	assert_in_range(count_of("branch_conditional"), 950, 1200);
	/* the other thread does the same work in these windows */
	const unsigned t = stall_find("branch_conditional");
	print_message("of both threads %lld mispredicted branches\n", (long long)a.terms[t].core_count);
	assert_true(a.terms[t].core.known);
	assert_in_range(a.terms[t].core_count, a.terms[t].count * 17 / 10, a.terms[t].count * 23 / 10);
	work_rig_close(&rig);
	free(text);
}

/* An accounting that lacks a register is a fault with a reason. */
static void test_netburst_accounting_without_a_register_says_so(void **state)
{
	(void)state;
	char *text = loop_changed(loop_built_in("pentium4"), "fault", "msr_missing", "0x3B8");
	work_rig_open(&rig, text);
	account(text, WORK_BRANCHY);
	assert_int_equal(a.status, ROW_FAULT);
	assert_true(a.reason[0]);
	work_rig_close(&rig);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_netburst_accounting_is_what_its_events_carry),
		cmocka_unit_test(test_netburst_accounting_beside_a_second_thread),
		cmocka_unit_test(test_netburst_accounting_without_a_register_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
