/* Cycle accounting on simulated machines: the identities hold to the cycle, and the sum of penalties times counts is judged
 * by the causes to which the machine itself attributes its cycles without retirement. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/measure/reduce.h"
#include "bench/workloads/workload_account.h"
#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/documented.h"
#include "tests/unit/support/sim_look.h"
#include "tests/unit/support/table_find.h"

/* The causes to which the machine attributes cycles without retirement; some share a tap, because taps are limited. */
static const struct { const char *name; enum signal first, second; } causes[] = {
	{ "front end", SIG_STALL_BY_FETCH, SIG_STALL_BY_DECODE }, { "mispredict", SIG_STALL_BY_MISPREDICT, SIG_STALL_BY_MISPREDICT },
	{ "clear", SIG_STALL_BY_CLEAR, SIG_STALL_BY_ASSIST }, { "allocate", SIG_STALL_BY_ALLOCATE, SIG_STALL_BY_STORE_BUFFER },
	{ "dispatch", SIG_STALL_BY_DISPATCH, SIG_STALL_BY_DISPATCH }, { "execute", SIG_STALL_BY_EXECUTE, SIG_STALL_BY_EXECUTE },
	{ "divide", SIG_STALL_BY_DIVIDE, SIG_STALL_BY_DIVIDE }, { "l1", SIG_STALL_BY_L1, SIG_STALL_BY_L1 },
	{ "l2", SIG_STALL_BY_L2, SIG_STALL_BY_L2 }, { "l3", SIG_STALL_BY_L3, SIG_STALL_BY_L3 },
	{ "remote", SIG_STALL_BY_REMOTE_CACHE, SIG_STALL_BY_REMOTE_DRAM }, { "local dram", SIG_STALL_BY_LOCAL_DRAM, SIG_STALL_BY_LOCAL_DRAM },
	{ "dtlb", SIG_STALL_BY_DTLB, SIG_STALL_BY_DTLB },
	{ "forward", SIG_STALL_BY_FORWARD, SIG_STALL_BY_FORWARD }, { "fence", SIG_STALL_BY_FENCE, SIG_STALL_BY_FENCE },
};
#define CAUSES COUNT_OF(causes)
/* Taps of cycles without retirement, of their causes and of all cycles, above the taps of the counters: three fixed ones and four. */
enum { TAP_STALLS, TAP_CAUSES, TAP_CYCLES = TAP_CAUSES + CAUSES, TAPS };
#define FIRST_TAP (TAPS_MAX - TAPS)

static struct loop_run r;
static struct bench bench;
static int64_t penalties[512];

/* Counts of the taps in the windows of a workload, longer ones minus shorter ones. */
static struct {
	struct access_ops ops;
	uint64_t before[TAPS], iterations;
	int64_t sum[TAPS];
	unsigned shorter, longer;
} truth;

static uint64_t tapped(unsigned i)
{
	return signals_tap_get(sim_signals(r.sim, 0), FIRST_TAP + i)->value;
}

static void tap(unsigned i, enum signal sig, enum signal too, uint8_t cmask, bool inv)
{
	struct tap t = { .on = true, .cmask = cmask, .inv = inv };
	t.listen[sig / 64] |= 1ull << sig % 64;
	t.listen[too / 64] |= 1ull << too % 64;
	signals_tap(sim_signals(r.sim, 0), FIRST_TAP + i, &t);
}

/* Reads the taps around gated windows only. They count the wrapper too, which costs the shorter window as much as the longer. */
static enum status run_and_look(void *self, struct job *jobs, unsigned n, uint64_t limit)
{
	struct msr_guard *g = self;
	const struct measure_block *b = r.guard.access.ops->control(self, jobs[0].core);
	bool gated = b->gate != 0;
	uint64_t iterations = b->argument[kernel_find("k_chase")->count_argument];

	for (unsigned i = 0; i < TAPS && gated; i++)
		truth.before[i] = tapped(i);
	enum status st = g->under->ops->run(g->under->self, jobs, n, limit);
	if (!gated)
		return st;
	for (unsigned k = 0; k < 6; k++) /* the kernel's argument that is its number of iterations, one of two values */
		if (b->argument[k] == truth.iterations || b->argument[k] == 2 * truth.iterations)
			iterations = b->argument[k];
	for (unsigned i = 0; i < TAPS; i++)
		truth.sum[i] += (int64_t)(tapped(i) - truth.before[i]) * (iterations == truth.iterations ? -1 : 1);
	*(iterations == truth.iterations ? &truth.shorter : &truth.longer) += 1;
	return st;
}

static void open_machine(const char *text)
{
	loop_open(&r, text);
	truth.ops = *r.guard.access.ops;
	truth.ops.run = run_and_look;
}

/* Measures the penalties by the rows on this machine. */
static void measure_penalties(void)
{
	char names[2048] = "";
	struct suite_settings s = { .suite = names };
	for (unsigned i = 0; i < stall_term_count; i++) {
		strcat(names, i && stall_terms[i].penalty[0] ? "," : "");
		strcat(names, stall_terms[i].penalty);
	}
	assert_true(rows_count <= COUNT_OF(penalties));
	for (unsigned i = 0; i < rows_count; i++)
		penalties[i] = -1;
	assert_int_equal(suite_run(&r.guard.access, &r.cpu, &s, &r.host.host, &r.sum), ST_OK);
	for (unsigned i = 0; i < r.host.result_count; i++)
		if (r.host.results[i].status == ROW_OK)
			penalties[r.host.results[i].row - rows] = r.host.results[i].value_milli;
}

static void account(enum work_kind kind, uint64_t seed, struct account_result *out)
{
	const struct account_penalties p = { penalties };
	const struct access_ops *kept = r.guard.access.ops;
	memset(truth.sum, 0, sizeof(truth.sum));
	truth.shorter = truth.longer = 0;
	truth.iterations = work_iterations(kind);
	bench_init(&bench, &r.guard.access, &r.cpu, &r.host.host, 0, seed);
	if (FIRST_TAP >= r.machine.pmu_fixed + r.machine.pmu_general) {
		for (unsigned i = 0; i < CAUSES; i++)
			tap(TAP_CAUSES + i, causes[i].first, causes[i].second, 0, false);
		tap(TAP_STALLS, SIG_UOPS_RETIRED_FUSED, SIG_UOPS_RETIRED_FUSED, 1, true);
		tap(TAP_CYCLES, SIG_CYCLES, SIG_CYCLES, 0, false);
	}
	r.guard.access.ops = &truth.ops;
	workload_account_run(&bench, kind, &p, out);
	r.guard.access.ops = kept;
}

static int64_t formula(const struct account_result *a, const char *name)
{
	int64_t milli = INT64_MIN;
	for (unsigned i = 0; i < ACCOUNT_FORMULAS; i++)
		if (!strcmp(workload_account_formulas[i].name, name) && workload_account_formulas[i].threads >> (a->threads - 1) & 1)
			assert_true(workload_account_value(a, &workload_account_formulas[i], &milli));
	assert_true(milli != INT64_MIN);
	return milli;
}

/* At each of the three points, stalled and active cycles add up to all cycles, to the cycle. */
static void adds_up(const struct account_result *a)
{
	static const unsigned pairs[3][2] = { { Q_ISSUE_STALL, Q_ISSUE_ACTIVE }, { Q_EXECUTE_STALL, Q_EXECUTE_ACTIVE },
		{ Q_RETIRE_STALL, Q_RETIRE_ACTIVE } };
	for (unsigned i = 0; i < 3; i++) {
		assert_true(a->known[pairs[i][0]] && a->known[pairs[i][1]]);
		assert_true(a->value[pairs[i][0]] > 0 && a->value[pairs[i][1]] > 0);
		assert_int_equal(a->bundle_cycles[pairs[i][0]], a->bundle_cycles[pairs[i][1]]);
		assert_int_equal(a->value[pairs[i][0]] + a->value[pairs[i][1]], a->bundle_cycles[pairs[i][0]]);
	}
}

static void machine_with(unsigned threads)
{
	char number[8];
	snprintf(number, sizeof(number), "%u", threads);
	char *text = loop_changed(loop_built_in("nehalem-ep"), "topology", "threads", number);
	open_machine(text);
	free(text);
	measure_penalties();
}

/* Error of the sum in thousandths of a percent of the attributed cycles (*all: in a window). The sum is scaled to the cycles of all runs, which random
 * branches make longer or shorter. */
static int64_t error_milli(const struct account_result *a, int64_t *all)
{
	*all = 0;
	for (unsigned i = 0; i < CAUSES; i++)
		*all += truth.sum[TAP_CAUSES + i];
	const int64_t sum = mul_div(a->sum, truth.sum[TAP_CYCLES], a->cycles), error = mul_div(sum - *all, 100000, *all);
	*all /= truth.longer;
	return error;
}

/* Checks the identities of one workload with one seed; returns the error of the sum in percent. */
static double identities(enum work_kind kind, unsigned threads, uint64_t seed)
{
	static struct account_result a;
	static char printed[16384];
	struct text t;
	int64_t all, error, caused = 0;
	account(kind, seed, &a);
	assert_int_equal(a.status, ROW_OK);
	assert_int_equal(a.threads, threads);
	adds_up(&a);
	assert_int_equal(truth.shorter, truth.longer);
	assert_true(truth.shorter > 0);
	error = error_milli(&a, &all);
	for (unsigned i = 0; i < CAUSES; i++)
		caused += truth.sum[TAP_CAUSES + i];
	text_init(&t, printed, sizeof(printed));
	workload_account_lines(&t, &a);
	fprintf(stderr, "%sput down by the machine: %lld cycles (", seed == 1 ? printed : "", (long long)all);
	for (unsigned i = 0; i < CAUSES; i++)
		if (truth.sum[TAP_CAUSES + i] / truth.longer)
			fprintf(stderr, " %s %lld", causes[i].name, (long long)truth.sum[TAP_CAUSES + i] / truth.longer);
	fprintf(stderr, " ); the sum differs by %+.3f %%\n", (double)error / 1000);
	/* each cycle without retirement has one cause; at a window's end, waiting for the other thread belongs to no uop */
	assert_true(llabs(caused - truth.sum[TAP_STALLS]) <= (threads == 1 ? 0 : (int64_t)(truth.longer + truth.shorter)));
	/* within a twentieth of the attributed cycles, and never more than the cycles without retirement */
	if (llabs(error) >= 5000)
		fail_msg("%s, %u threads: the sum differs by %+.3f %%", work_name(kind), threads, (double)error / 1000);
	assert_true(a.sum <= a.value[Q_RETIRE_STALL] && a.sum <= a.cycles);
	/* a branch that is mispredicted under a miss costs nothing */
	const struct workload_term *branches = &a.terms[stall_find("branch_conditional")];
	if (kind == WORK_MIXED) {
		fprintf(stderr, "mixed, %u threads: %lld branches are charged %.1f %% of the cycles\n", threads, (long long)branches->count, 100.0 * (double)branches->thread.charged / (double)a.cycles);
		assert_true(branches->count > 100 && branches->thread.charged * 20 < a.cycles);
	}
	return (double)error / 1000;
}

#define SEEDS 10      /* random branches, and where streams begin, depend on the seed */
#define STALE 1.0     /* percentage points by which an error may leave the page's range: earlier runs shift the workloads' first cycles */

static void test_account_identities_hold_and_the_error_of_the_sum_is_known(void **state)
{
	(void)state;
	unsigned stale = 0;
	for (unsigned threads = 1; threads <= 2; threads++) {
		machine_with(threads);
		for (unsigned kind = 0; kind < WORK_KINDS; kind++) {
			const char *column = threads == 1 ? "one thread" : "two threads per core";
			const double low = documented("docs/cycle_accounting.md", work_name(kind), column, 0), high = documented("docs/cycle_accounting.md", work_name(kind), column, 1);
			double least = 100, most = -100;
			for (uint64_t seed = 1; seed <= SEEDS; seed++) {
				const double error = identities(kind, threads, seed);
				least = fmin(least, error);
				most = fmax(most, error);
			}
			fprintf(stderr, "docs/cycle_accounting.md: %s, %u threads: %+.1f to %+.1f %%, measured %+.1f to %+.1f %%\n", work_name(kind), threads, low, high, least, most);
			stale += least < low - STALE || most > high + STALE;
		}
		loop_close(&r);
	}
	assert_int_equal(stale, 0);
}

/* The chase has no mispredictions and no wasted work, and retires one uop per load and two more per iteration. */
static void test_account_of_a_chase_is_what_the_chase_does(void **state)
{
	(void)state;
	static struct account_result a;
	int64_t ilp[ACCOUNT_ILP], sum = 0, uops = 0;
	machine_with(1);
	account(WORK_LATENCY, 1, &a);
	assert_int_equal(formula(&a, "wasted_work.thread"), 0);
	assert_int_equal(formula(&a, "wasted_work.core"), 0);
	assert_int_equal(a.value[Q_RETIRED_UOPS], 64 * 18);
	assert_true(workload_account_ilp(&a, ilp));
	for (unsigned i = 0; i < ACCOUNT_ILP; i++) {
		sum += ilp[i];
		uops += (int64_t)i * ilp[i];
	}
	assert_int_equal(sum, a.bundle_cycles[Q_ILP_1]);
	assert_int_equal(uops, 64 * 18);
	/* misses are serial: never more than one is in flight */
	assert_int_equal(formula(&a, "l1d_misses.mean_depth"), 1000);
	loop_close(&r);
}

/* The term of an event that the processor lacks stays open, with the reason. */
static void test_account_without_an_event_leaves_the_term_open(void **state)
{
	(void)state;
	static struct account_result a;
	static char printed[32768];
	struct text t;
	open_machine(loop_built_in("haswell-ep"));
	measure_penalties();
	account(WORK_LATENCY, 1, &a);
	adds_up(&a);
	text_init(&t, printed, sizeof(printed));
	workload_account_json(&t, &a);
	assert_false(t.full);
	assert_null(json_problem(printed));
	assert_non_null(strstr(printed, "{\"name\": \"branch_return\", \"title\": \"mispredicted returns\", \"row\": \"branch.return.penalty\", \"event\": null"));
	assert_non_null(strstr(printed, "\"open\": \"of retired ones all and conditional ones are told apart\"}"));
	assert_non_null(strstr(printed, "\"wasted_work.core\": {\"value\": null}"));
	/* this processor counts pairs once both at issue and at retirement: nothing is to be added */
	assert_int_equal(formula(&a, "wasted_work.thread"), 0);
	loop_close(&r);
	/* counters without a global enable: the accounting is partial (test_netburst_account.c) */
	open_machine(loop_built_in("pentium4"));
	account(WORK_LATENCY, 1, &a);
	assert_int_equal(a.status, ROW_OK);
	assert_true(a.known[Q_RETIRE_STALL] && !a.known[Q_ISSUE_STALL] && !a.known[Q_EXECUTE_STALL]);
	loop_close(&r);
	/* counters that exist but may not be used: no accounting */
	open_machine(loop_built_in("pentium4"));
	r.cpu.pmu_absent = "switched off";
	account(WORK_LATENCY, 1, &a);
	assert_int_equal(a.status, ROW_UNSUPPORTED);
	assert_string_equal(a.reason, "switched off");
	loop_close(&r);
}

/* A suite that names an accounting also runs the rows that it needs, and its results can be rebuilt from the journal alone. */
static void test_account_is_part_of_the_results(void **state)
{
	(void)state;
	struct suite_settings s = { .suite = "account.branchy" };
	struct sim_totals before, after;
	unsigned with_row = 0;
	open_machine(loop_built_in("nehalem-ep"));
	measure_penalties();
	sim_totals(r.sim, &before);
	for (unsigned kind = 0; kind < WORK_KINDS; kind++) {
		static struct account_result a;
		account(kind, 1, &a);
	}
	sim_totals(r.sim, &after);
	fprintf(stderr, "%llu instructions for all four workloads\n", (unsigned long long)(after.instructions - before.instructions));
	assert_true(after.instructions - before.instructions < 10000000);
	loop_close(&r);
	open_machine(loop_built_in("nehalem-ep"));
	assert_int_equal(suite_run(&r.guard.access, &r.cpu, &s, &r.host.host, &r.sum), ST_OK);
	for (unsigned i = 0; i < stall_term_count; i++)
		with_row += stall_terms[i].penalty[0] != 0;
	assert_int_equal(r.sum.rows, with_row);
	assert_int_equal(r.sum.unexpected, 0);
	char *json = strdup(memory_host_file(&r.host, "results.json")), *journal = strdup(memory_host_file(&r.host, "journal.jsonl"));
	assert_null(json_problem(json));
	assert_non_null(strstr(json, "\"accounting\": [\n{\"workload\": \"branchy\", \"status\": \"ok\""));
	assert_null(strstr(json, "its row gave no penalty in this run"));
	assert_int_equal(suite_rebuild(journal, strlen(journal), &r.host.host), ST_OK);
	assert_string_equal(memory_host_file(&r.host, "results.json"), json);
	free(json);
	free(journal);
	loop_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_account_identities_hold_and_the_error_of_the_sum_is_known),
		cmocka_unit_test(test_account_of_a_chase_is_what_the_chase_does),
		cmocka_unit_test(test_account_without_an_event_leaves_the_term_open),
		cmocka_unit_test(test_account_is_part_of_the_results),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
