/* Profiles have the counts that the kernels are known to cause, unusable lists of events are refused by name, and a dry run prints every write and
 * makes none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/suite/listing.h"
#include "bench/workloads/profile.h"
#include "tests/unit/support/closed_loop.h"

static struct loop_run r;
static char printed[1 << 20];

static int open_nehalem(void **state)
{
	(void)state;
	loop_open(&r, loop_built_in("nehalem-ep"));
	return 0;
}

static int close_machine(void **state)
{
	(void)state;
	loop_close(&r);
	return 0;
}

static void run_profile(const char *profile, const char *names)
{
	const struct suite_settings s = { .suite = names, .profile = profile };
	assert_int_equal(suite_run(&r.guard.access, &r.cpu, &s, &r.host.host, &r.sum), ST_OK);
}

/* The value of an event's `key` in results.json, below `row`, in thousandths. */
static int64_t value_of(const char *row, const char *event, const char *key)
{
	char text[128];
	const char *at = memory_host_file(&r.host, "results.json");
	snprintf(text, sizeof(text), "\"row\": \"%s\"", row);
	at = strstr(at, text);
	assert_non_null(at);
	snprintf(text, sizeof(text), "{\"name\": \"%s\"", event);
	at = strstr(at, text);
	assert_non_null(at);
	snprintf(text, sizeof(text), "\"%s\": ", key);
	at = strstr(at, text);
	assert_non_null(at);
	return (int64_t)(strtod(at + strlen(text), NULL) * 1000 + 0.5);
}

/* k_chase has 16 loads, a decrement and a branch, 18 instructions per iteration. */
static void test_profile_counts_what_a_chase_does(void **state)
{
	(void)state;
	run_profile("memory-access", "load.l3.latency,load.dram_local.latency");
	assert_int_equal(r.sum.rows, 2);
	assert_int_equal(r.sum.by_status[ROW_OK], 2);
	assert_int_equal(r.sum.unexpected, 0);
	assert_null(json_problem(memory_host_file(&r.host, "results.json")));
	assert_int_equal(value_of("load.l3.latency", "MEM_INST_RETIRED.LOADS", "value"), 1000);
	assert_int_equal(value_of("load.l3.latency", "INST_RETIRED.ANY", "value"), 1125);
	assert_int_equal(value_of("load.l3.latency", "MEM_INST_RETIRED.LOADS", "per_1000_instructions"), 888889);
	assert_int_equal(value_of("load.l3.latency", "MEM_LOAD_RETIRED.LLC_UNSHARED_HIT", "value"), 1000);
	assert_int_equal(value_of("load.l3.latency", "MEM_LOAD_RETIRED.LLC_MISS", "value"), 0);
	assert_int_equal(value_of("load.dram_local.latency", "MEM_UNCORE_RETIRED.LOCAL_DRAM", "value"), 1000);
	assert_int_equal(value_of("load.dram_local.latency", "OFFCORE_RESPONSE_0.DATA_IN.LOCAL_DRAM", "value"), 1000);
	assert_int_equal(value_of("load.dram_local.latency", "OFFCORE_RESPONSE_0.DATA_IN.REMOTE_DRAM", "value"), 0);
	/* whether a load of the wrapper misses depends on the kernels' addresses */
	assert_in_range(value_of("load.dram_local.latency", "CPU_CLK_UNHALTED.THREAD", "value"), 175900, 176100);
}

/* results.json is rebuilt from the journal alone, byte for byte. */
static void test_profile_results_come_from_the_journal(void **state)
{
	(void)state;
	run_profile("sharing", "load.l1.latency,load.l2.latency");
	char *json = strdup(memory_host_file(&r.host, "results.json")), *journal = strdup(memory_host_file(&r.host, "journal.jsonl"));
	assert_int_equal(suite_rebuild(journal, strlen(journal), &r.host.host), ST_OK);
	assert_string_equal(memory_host_file(&r.host, "results.json"), json);
	assert_non_null(strstr(json, "\"profile\": [\n{\"profile\": \"sharing\""));
	free(json);
	free(journal);
}

static void test_profile_counts_mispredicted_branches(void **state)
{
	(void)state;
	run_profile("BR_MISP_EXEC.ANY,INST_RETIRED.ANY", "branch.conditional.penalty");
	assert_true(value_of("branch.conditional.penalty", "BR_MISP_EXEC.ANY", "value") > 100);
}

/* k_branch_return calls a routine once per iteration, from one place; a chase has no calls. */
static void test_profile_of_branches_has_the_calls(void **state)
{
	(void)state;
	run_profile("branch-analysis", "load.l1.latency,branch.return.penalty");
	const char *json = memory_host_file(&r.host, "results.json");
	assert_null(json_problem(json));
	const char *chase = strstr(json, "\"row\": \"load.l1.latency\""), *call = strstr(json, "\"row\": \"branch.return.penalty\"");
	assert_non_null(chase);
	assert_non_null(call);
	assert_non_null(strstr(chase, "\"last_branches\": {\"select\": \"0x1E6\", \"status\": \"ok\", \"reason\": \"\", \"windows\": 4, \"records\": 0, "));
	call = strstr(call, "\"last_branches\": {\"select\": \"0x1E6\", \"status\": \"ok\", \"reason\": \"\", \"windows\": 4, \"records\": 64, \"others\": 0, ");
	assert_non_null(call);
	call = strstr(call, "\"branches\": [{\"from\": ");
	assert_non_null(call);
	const unsigned from = (unsigned)atoi(call + 22), to = (unsigned)atoi(strstr(call, "\"to\": ") + 6);
	const struct kernel *k = kernel_find("k_branch_return");
	assert_int_equal(kernel_code[k->offset + from], 0xE8); /* CALL rel32 */
	int32_t distance;
	memcpy(&distance, kernel_code + k->offset + from + 1, sizeof(distance));
	assert_int_equal(to, from + 5 + (unsigned)distance);
	assert_non_null(strstr(call, "\"records\": 64, \"mispredicted\": 0, \"calls\": 1.000}]}"));
}

/* The user selects which branches are recorded: the same kernel's returns, then all its branches, including the loop's. */
static void test_profile_records_the_branches_asked_for(void **state)
{
	(void)state;
	run_profile("INST_RETIRED.ANY,lbr=NEAR_RET", "branch.return.penalty");
	const char *json = memory_host_file(&r.host, "results.json");
	assert_null(json_problem(json));
	const char *one = strstr(json, "\"last_branches\": {\"select\": \"0x1DE\", \"status\": \"ok\", \"reason\": \"\", \"windows\": 4, \"records\": 64, ");
	assert_non_null(one);
	one = strstr(one, "\"branches\": [{\"from\": ");
	const struct kernel *k = kernel_find("k_branch_return");
	assert_int_equal(kernel_code[k->offset + (unsigned)atoi(one + 22)], 0xC3); /* RET */
	assert_non_null(strstr(one, "\"calls\": null"));
	run_profile("branch-analysis,lbr=all", "branch.return.penalty");
	assert_non_null(strstr(memory_host_file(&r.host, "results.json"), "\"last_branches\": {\"select\": \"0x2\", \"status\": \"ok\""));
}

static void test_profile_of_branches_without_records_says_so(void **state)
{
	(void)state;
	char *text = loop_changed(loop_built_in("nehalem-ep"), "fault", "msr_missing", "0x1C9");
	loop_open(&r, text);
	run_profile("branch-analysis", "load.l1.latency");
	assert_int_equal(r.sum.by_status[ROW_OK], 1);
	assert_non_null(strstr(memory_host_file(&r.host, "results.json"), "\"last_branches\": {\"select\": \"0x1E6\", "
	                "\"status\": \"unsupported\", \"reason\": \"the registers of the last-branch records do not answer\", "));
	loop_close(&r);
	free(text);
}

/* An event that the simulated machine does not model has no value, not 0. */
static void test_profile_unmodelled_events_have_no_value(void **state)
{
	(void)state;
	run_profile("front-end", "load.l1.latency");
	const char *json = memory_host_file(&r.host, "results.json");
	assert_non_null(strstr(json, "{\"name\": \"ITLB_MISS_RETIRED\", \"run\": "));
	assert_non_null(strstr(strstr(json, "{\"name\": \"ITLB_MISS_RETIRED\""), "\"value\": null}"));
	assert_int_equal(value_of("load.l1.latency", "ILD_STALL.LCP", "value"), 0);
}

static void test_profile_all_lists_run_on_the_default_rows(void **state)
{
	(void)state;
	for (unsigned i = 0; i < r.cpu.processor->profile_count; i++) {
		const struct suite_settings s = { .profile = r.cpu.processor->profiles[i].name, .repetitions = 1 };
		assert_int_equal(suite_run(&r.guard.access, &r.cpu, &s, &r.host.host, &r.sum), ST_OK);
		assert_int_equal(r.sum.rows, 9);
		assert_int_equal(r.sum.by_status[ROW_OK], 9);
		assert_null(json_problem(memory_host_file(&r.host, "results.json")));
	}
	assert_int_equal(r.cpu.processor->profile_count, 9);
}

/* An event that overcounts by an erratum is counted, and marked in the results. */
static void test_profile_says_which_events_count_too_much(void **state)
{
	(void)state;
	run_profile("L1D_CACHE_LD.MESI,L1D_CACHE_LOCK.HIT,L1D_CACHE_ST.MESI", "load.l1.latency");
	const char *json = memory_host_file(&r.host, "results.json");
	unsigned marked = 0;
	assert_null(json_problem(json));
	for (const char *at = json; (at = strstr(at, ", \"overcounts\": \"nehalem-l1d-overcount\"}")); at++)
		marked++;
	assert_int_equal(marked, 2);
	assert_null(event_overcounts(r.cpu.processor, "L1D_CACHE_ST.MESI"));
	assert_null(event_overcounts(r.cpu.processor, "L1D_CACHE_L"));
	assert_non_null(event_overcounts(r.cpu.processor, "L1D_CACHE_LD.MESI"));
}

static void test_profile_bad_lists_are_refused_by_name(void **state)
{
	(void)state;
	static const struct { const char *what; enum status st; const char *expected; } cases[] = {
		{ "generl", ST_MISSING, "profile \"generl\": nehalem-ep has none of that name; known: general-exploration, " },
		{ "INST_RETIRED.ANY,L1D.NONSENSE", ST_MISSING, "event \"L1D.NONSENSE\": nehalem-ep has none of that name" },
		{ "INST_RETIRD.ANY_P", ST_MISSING, "nearest: INST_RETIRED.ANY_P, " },
		{ "UNC_GQ_ALLOC.RT", ST_MISSING, "`stat -e` and the key `count` take those of the uncore" },
		{ "UOPS_ISSUED.ANY:cmask=1", ST_MISSING, "`stat -e` and the key `count` take those of the uncore and modifiers" },
		{ "INST_RETIRED.ANY,lbr=JCC+NEAR_RETURN", ST_SYNTAX, "lbr=\"NEAR_RETURN\": expected all or, joined by +, JCC NEAR_REL_CALL " },
		{ "lbr=all", ST_SYNTAX, "profile \"lbr=all\": name a profile or events before lbr= and records=" },
		{ "INST_RETIRED.ANY,records=1x", ST_SYNTAX, "records=\"1x\": expected how many events " },
		{ "INST_RETIRED.ANY,,BR_MISP_EXEC.ANY", ST_MISSING, "event \"\": " },
	};
	struct profile_plan plan;
	struct cpu cpu = r.cpu;
	char problem[512];
	assert_int_equal(profile_find(&r.cpu, "mem_load_retired.l2_hit,fp_assist.any", &plan, problem, sizeof(problem)), ST_OK); /* in any case, and in the guide's spelling */
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		assert_int_equal(profile_find(&r.cpu, cases[i].what, &plan, problem, sizeof(problem)), cases[i].st);
		if (!strstr(problem, cases[i].expected))
			fail_msg("\"%s\": %s", cases[i].what, problem);
	}
	cpu.general_mask = 0xC; /* L1D events are bound to counters 0 and 1 */
	assert_int_equal(profile_find(&cpu, "L1D.REPL,INST_RETIRED.ANY", &plan, problem, sizeof(problem)), ST_UNSUPPORTED);
	assert_non_null(strstr(problem, "L1D.REPL: no counter of this processor can count it"));
	cpu.pmu_version = 0;
	cpu.pmu_absent = "switched off";
	assert_int_equal(profile_find(&cpu, "sharing", &plan, problem, sizeof(problem)), ST_UNSUPPORTED);
	assert_non_null(strstr(problem, "switched off"));
	static char many[8192];
	struct text t;
	text_init(&t, many, sizeof(many));
	for (unsigned i = 0; i <= PLAN_EVENTS_MAX; i++)
		text_fmt(&t, "%s%s", i ? "," : "", r.cpu.processor->events[i].name);
	assert_int_equal(profile_find(&r.cpu, many, &plan, problem, sizeof(problem)), ST_FULL);
	assert_non_null(strstr(problem, r.cpu.processor->events[PLAN_EVENTS_MAX].name));
}

/* --- plan -------------------------------------------------------------------------------------- */

static void keep(void *self, const char *lines)
{
	(void)self;
	strncat(printed, lines, sizeof(printed) - strlen(printed) - 1);
}

static uint64_t registers_of(const struct access *a)
{
	uint64_t hash = FNV1A64_START, value;
	for (unsigned core = 0; core < a->cores; core++)
		for (unsigned i = 0; i < r.cpu.processor->msr_count; i++)
			for (uint32_t msr = r.cpu.processor->msrs[i].first; msr <= r.cpu.processor->msrs[i].last; msr++)
				if (a->ops->rdmsr(a->self, core, msr, &value) == ST_OK)
					hash = fnv1a64(hash, &value, sizeof(value));
	return hash;
}

static void test_plan_writes_nothing_and_says_all(void **state)
{
	(void)state;
	const struct suite_settings s = { .suite = "load.l3.latency", .repetitions = 1 };
	const struct access *a = sim_access(r.sim);
	struct suite_host host = r.host.host;
	struct suite_plan_summary sum;
	struct sim_totals before, after;
	char problem[256];
	uint64_t hash = registers_of(a);
	host.print = keep;
	printed[0] = 0;
	sim_totals(r.sim, &before);
	assert_int_equal(suite_plan(a, &s, &host, NULL, NULL, &sum, problem, sizeof(problem)), ST_OK);
	sim_totals(r.sim, &after);
	assert_int_equal(after.instructions, before.instructions);
	assert_true(registers_of(a) == hash);
	assert_int_equal(sum.refused, 0);
	assert_int_equal(sum.sections, 3);
	assert_true(sum.writes > 100);
	assert_true(sum.restored > 20);
	assert_non_null(strstr(printed, "load.l3.latency\n"));
	assert_non_null(strstr(printed, "0x1A4  <- 0xF "));
	assert_non_null(strstr(printed, "0x1A4  back to 0x0 at the end"));
	assert_non_null(strstr(printed, "MEM_LOAD_RETIRED.LLC_UNSHARED_HIT [guide T3]"));
	assert_non_null(strstr(printed, "UNC_GQ_TRACKER_OCCUP.RT"));
	assert_int_equal(r.host.taken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_profile_counts_what_a_chase_does, open_nehalem, close_machine),
		cmocka_unit_test_setup_teardown(test_profile_results_come_from_the_journal, open_nehalem, close_machine),
		cmocka_unit_test_setup_teardown(test_profile_counts_mispredicted_branches, open_nehalem, close_machine),
		cmocka_unit_test_setup_teardown(test_profile_of_branches_has_the_calls, open_nehalem, close_machine),
		cmocka_unit_test_setup_teardown(test_profile_records_the_branches_asked_for, open_nehalem, close_machine),
		cmocka_unit_test(test_profile_of_branches_without_records_says_so),
		cmocka_unit_test_setup_teardown(test_profile_unmodelled_events_have_no_value, open_nehalem, close_machine),
		cmocka_unit_test_setup_teardown(test_profile_all_lists_run_on_the_default_rows, open_nehalem, close_machine),
		cmocka_unit_test_setup_teardown(test_profile_says_which_events_count_too_much, open_nehalem, close_machine),
		cmocka_unit_test_setup_teardown(test_profile_bad_lists_are_refused_by_name, open_nehalem, close_machine),
		cmocka_unit_test_setup_teardown(test_plan_writes_nothing_and_says_all, open_nehalem, close_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
