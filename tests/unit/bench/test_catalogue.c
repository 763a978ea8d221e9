/* On simulated machines the rows of one core have the values of the formulas, and are unproven with wrong kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/measure/measure.h"
#include "bench/suite/execute.h"
#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/loop_meets.h"

struct catalogue {
	struct loop_run run;
	struct bench bench;
	char *text, *format;
	char unproven[1024]; /* names of the rows that are unproven */
};

static void open_machine(struct catalogue *c, const char *name)
{
	memset(c, 0, sizeof(*c));
	c->text = strdup(loop_built_in(name));
	c->format = loop_format();
	loop_open(&c->run, c->text);
	bench_init(&c->bench, &c->run.guard.access, &c->run.cpu, &c->run.host.host, 0, 20090330);
}

static void close_machine(struct catalogue *c)
{
	assert_int_equal(c->run.guard.refused, 0);
	loop_close(&c->run);
	free(c->text);
	free(c->format);
}

/* Runs all rows of pairs, curves and page walks; returns how many missed their value. */
static unsigned run_pairs(struct catalogue *c, bool must_be_ok, uint64_t *instructions)
{
	unsigned missed = 0, without = 0;
	const char *first = "";
	struct sim_totals before, after;

	*instructions = 0;
	for (unsigned i = 0; i < rows_count; i++) {
		struct expectation e;
		struct row_result r;
		enum status st;

		if (!rows[i].pair && !rows[i].curve && !str_glob("tlb.walk_*", rows[i].name))
			continue;
		sim_totals(c->run.sim, &before);
		execute_row(&c->bench, &rows[i], &r);
		sim_totals(c->run.sim, &after);
		*instructions += after.instructions - before.instructions;
		if (must_be_ok && after.instructions - before.instructions > rows[i].budget) { /* budgets are Nehalem-EP's */
			print_error("%s costs %llu instructions, declared %u\n", r.name, (unsigned long long)(after.instructions - before.instructions),
			            rows[i].budget);
			missed++;
		}
		st = expect_row(c->text, c->format, r.name, &e);
		if (st == ST_MISSING && without++)
			print_error("%s and %s have no formula in tests/expect\n", first, r.name);
		else if (st == ST_MISSING)
			first = rows[i].name;
		if (r.status == ROW_UNPROVEN && r.reason[0] && strlen(c->unproven) + strlen(r.name) + 2 < sizeof(c->unproven))
			strcat(strcat(c->unproven, " "), r.name);
		if (st == ST_MISSING || (st == ST_UNSUPPORTED && r.status == ROW_UNSUPPORTED && r.absent))
			continue;
		/* A stall of no cycles may be reported as absent. */
		if (st == ST_OK && r.status == ROW_UNSUPPORTED && r.absent && rows[i].pair && rows[i].pair->lacked && e.least_milli <= 0 && e.most_milli >= 0)
			continue;
		if (st != ST_OK || row_was_ended(r.status) || r.status == ROW_UNSUPPORTED || (must_be_ok && r.status != ROW_OK) ||
		    r.value_milli < e.least_milli || r.value_milli > e.most_milli) {
			print_error("%s: %s (%s), %lld, expected %lld to %lld (%s)\n", r.name, row_status_name(r.status), r.reason,
			            (long long)r.value_milli, (long long)e.least_milli, (long long)e.most_milli, status_name(st));
			missed++;
		}
	}
	assert_true(without <= 1);
	return missed;
}

static void test_catalogue_values_on_nehalem_ep_are_the_formulas(void **state)
{
	static struct catalogue c;
	uint64_t instructions;

	(void)state;
	open_machine(&c, "nehalem-ep");
	assert_int_equal(run_pairs(&c, true, &instructions), 0);
	print_message("%llu instructions\n", (unsigned long long)instructions);
	close_machine(&c);
}

/* On the Core 2 every row is proved except those that it has no event for. */
static void test_catalogue_core2_proves_what_it_can(const struct catalogue *c)
{
	assert_string_equal(c->unproven, " sync.lfence.penalty");
}

static void test_catalogue_values_on_other_machines_are_the_formulas(void **state)
{
	static const char *const names[] = { "core2", "haswell-ep", "skylake-sp" };
	static struct catalogue c;
	uint64_t instructions;
	unsigned missed = 0;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(names); i++) {
		print_message("%s\n", names[i]);
		open_machine(&c, names[i]);
		missed += run_pairs(&c, false, &instructions);
		if (i == 0)
			test_catalogue_core2_proves_what_it_can(&c);
		close_machine(&c);
	}
	assert_int_equal(missed, 0);
}

/* With baseline and test swapped, the counts contradict what the row claims. */
static void swap_kernels(const char *machine)
{
	static struct catalogue c;
	unsigned proven = 0, swapped = 0;

	open_machine(&c, machine);
	for (unsigned i = 0; i < rows_count; i++) {
		struct row row = rows[i];
		struct row_pair pair;
		struct row_result r;
		const char *kernels[2] = { NULL, NULL };

		if (!row.pair || !row.proofs || row.baseline != BASELINE_PAIR)
			continue;
		pair = *row.pair;
		kernels[0] = pair.base ? pair.base : row.kernels[0];
		pair.base = row.kernels[0];
		pair.fill = row.pair->base_fill;
		pair.base_fill = row.pair->fill;
		pair.code = row.pair->base_code;
		pair.base_code = row.pair->code;
		row.kernels = kernels;
		row.pair = &pair;
		execute_row(&c.bench, &row, &r);
		swapped++;
		if (r.status == ROW_UNSUPPORTED && r.absent)
			continue;
		if (r.status != ROW_UNPROVEN) {
			print_error("%s: %s with its kernels swapped\n", r.name, row_status_name(r.status));
			proven++;
		}
	}
	close_machine(&c);
	assert_true(swapped >= 25);
	assert_int_equal(proven, 0);
}

static void test_catalogue_swapped_kernels_are_unproven(void **state) { (void)state; swap_kernels("nehalem-ep"); }
static void test_catalogue_swapped_kernels_are_unproven_on_haswell(void **state) { (void)state; swap_kernels("haswell-ep"); }
/* Rows without an event of their own on Zen are proved by ops sampled by IBS, by restarts of every kind, or by uops. */
static void test_catalogue_swapped_kernels_are_unproven_on_zen2(void **state) { (void)state; swap_kernels("zen2"); }
static void test_catalogue_swapped_kernels_are_unproven_on_zen4(void **state) { (void)state; swap_kernels("zen4"); }

static const struct row *row_of(const char *name)
{
	for (unsigned i = 0; i < rows_count; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

/* Rows without a baseline to swap run another row's kernel: a chain of additions or, for the row that claims the absence of assists, the kernel that
 * causes them. */
static void other_kernels(const char *machine)
{
	static struct catalogue c;
	unsigned proven = 0, tried = 0;

	open_machine(&c, machine);
	for (unsigned i = 0; i < rows_count; i++) {
		const bool absence = !strcmp(rows[i].name, "exec.fp_assist_flushed.interval");
		struct row row = *row_of(absence ? "exec.fp_assist.penalty" : "exec.addsd.latency");
		struct row_result r;

		if (rows[i].order != ORDER_PAIR || !rows[i].proofs || rows[i].baseline != BASELINE_NONE)
			continue;
		row.name = rows[i].name;
		row.proofs = rows[i].proofs;
		row.kind = rows[i].kind;
		row.baseline = rows[i].baseline;
		execute_row(&c.bench, &row, &r);
		tried++;
		if (r.status == ROW_UNSUPPORTED && r.absent)
			continue;
		if (r.status != ROW_UNPROVEN || !strncmp(r.reason, "no performance", 14)) {
			print_error("%s: %s with another row's kernel, %s%s\n", r.name, row_status_name(r.status), r.proof, r.reason);
			proven++;
		}
	}
	close_machine(&c);
	assert_true(tried >= 25);
	assert_int_equal(proven, 0);
}

static void test_catalogue_other_rows_kernels_are_unproven(void **state) { (void)state; other_kernels("nehalem-ep"); }
static void test_catalogue_other_rows_kernels_are_unproven_on_zen4(void **state) { (void)state; other_kernels("zen4"); }

/* A row that divides by half or twice the operations of its code is contradicted by the retired instructions. */
static void test_catalogue_wrong_counts_of_events_are_unproven(void **state)
{
	static struct catalogue c;
	unsigned believed = 0, tried = 0;

	(void)state;
	open_machine(&c, "nehalem-ep");
	for (unsigned i = 0; i < rows_count; i++) {
		struct row row = rows[i];
		struct row_pair pair;
		struct row_result r;

		if (rows[i].order != ORDER_PAIR || rows[i].pair->counted || rows[i].pair->iterations != 1)
			continue;
		pair = *rows[i].pair;
		pair.events = pair.events % 2 ? pair.events * 2 : pair.events / 2;
		row.window *= 2;
		row.pair = &pair;
		execute_row(&c.bench, &row, &r);
		if (r.status == ROW_UNSUPPORTED && r.absent)
			continue;
		tried++;
		if (r.status != ROW_UNPROVEN) {
			print_error("%s: %s with %u events an iteration, %s\n", r.name, row_status_name(r.status), pair.events, r.proof);
			believed++;
		}
	}
	close_machine(&c);
	print_message("%u rows\n", tried);
	assert_true(tried >= 60);
	assert_int_equal(believed, 0);
}

/* A curve whose ring is warm instead of flushed, or flushed instead of warm, is counted and unproven. */
static void test_catalogue_curves_of_near_lines_are_unproven(void **state)
{
	static struct catalogue c;
	unsigned wrong = 0;

	(void)state;
	open_machine(&c, "nehalem-ep");
	for (unsigned i = 0; i < rows_count; i++) {
		struct row row = rows[i];
		struct row_result r;

		if (!row.curve || !row.proofs || row.target == TARGET_STLB || row.target == TARGET_CORE)
			continue;
		row.prepare = row.prepare == PREPARE_FLUSH ? PREPARE_WARM : PREPARE_FLUSH;
		execute_row(&c.bench, &row, &r);
		wrong++;
		if (r.status != ROW_UNPROVEN)
			fail_msg("%s: %s", r.name, row_status_name(r.status));
	}
	close_machine(&c);
	assert_true(wrong >= 8);
}

/* A super queue of any size is found if pairs of lines can fill it; otherwise the reason names the pairs whose loads wait for each other. */
static void test_catalogue_super_queue_of_any_size_is_found(void **state)
{
	static const struct { const char *entries, *buffers; enum row_status status; int64_t milli; const char *expected; } tried[] = {
		{ "2", "10", ROW_OK, 2000, "" }, { "5", "10", ROW_OK, 5000, "" }, { "10", "10", ROW_OK, 10000, "" }, { "13", "10", ROW_OK, 13000, "" },
		{ "19", "10", ROW_OK, 19000, "" }, { "20", "10", ROW_UNSUPPORTED, 0, "the loads of 11 pairs wait for each other" }, { "21", "10", ROW_UNSUPPORTED, 0, "the loads of 11 pairs wait for each other" }, { "40", "12", ROW_UNSUPPORTED, 0, "the loads of 13 pairs wait for each other" },
	};
	static struct loop_run run;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(tried); i++) {
		char *queue = loop_changed(loop_built_in("nehalem-ep"), "sq", "entries", tried[i].entries);
		char *text = loop_changed(queue, "lfb", "entries", tried[i].buffers);

		loop_open(&run, text);
		loop_suite(&run, "size.super_queue.entries");
		assert_int_equal(run.host.result_count, 1);
		print_message("%s of %s buffers: %s, %lld, %s\n", tried[i].entries, tried[i].buffers, row_status_name(run.host.results[0].status),
		              (long long)run.host.results[0].value_milli, run.host.results[0].reason);
		assert_int_equal(run.host.results[0].status, tried[i].status);
		assert_int_equal(run.host.results[0].value_milli, tried[i].milli);
		assert_non_null(strstr(run.host.results[0].reason, tried[i].expected));
		loop_close(&run);
		free(queue);
		free(text);
	}
}

/* If memory needs longer for that many lines than a load takes, an entry is free again before a request has to wait for it. */
static void test_catalogue_super_queue_behind_a_slow_bus_is_not_told(void **state)
{
	static struct loop_run run;
	char *text = loop_changed(loop_built_in("core2"), "dram", "local_ps", "20000");

	(void)state;
	loop_open(&run, text);
	loop_suite(&run, "size.super_queue.entries");
	assert_int_equal(run.host.results[0].status, ROW_UNSUPPORTED);
	assert_non_null(strstr(run.host.results[0].reason, "no clear knee"));
	loop_close(&run);
	free(text);
}

/* A misprediction that empties a reservation station of 256 entries in one cycle frees all of them. */
static void test_catalogue_deep_station_is_left_by_all(void **state)
{
	static struct loop_run run;
	char *rob = loop_changed(loop_built_in("nehalem-ep"), "core", "rob", "1024"), *text = loop_changed(rob, "core", "rs", "256");

	(void)state;
	loop_open(&run, text);
	loop_suite(&run, "exec.rob_read_port.penalty");
	assert_int_equal(run.host.results[0].status, ROW_OK);
	loop_close(&run);
	free(rob);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_catalogue_values_on_nehalem_ep_are_the_formulas),
		cmocka_unit_test(test_catalogue_values_on_other_machines_are_the_formulas),
		cmocka_unit_test(test_catalogue_swapped_kernels_are_unproven),
		cmocka_unit_test(test_catalogue_swapped_kernels_are_unproven_on_haswell),
		cmocka_unit_test(test_catalogue_swapped_kernels_are_unproven_on_zen2),
		cmocka_unit_test(test_catalogue_swapped_kernels_are_unproven_on_zen4),
		cmocka_unit_test(test_catalogue_other_rows_kernels_are_unproven),
		cmocka_unit_test(test_catalogue_other_rows_kernels_are_unproven_on_zen4),
		cmocka_unit_test(test_catalogue_wrong_counts_of_events_are_unproven),
		cmocka_unit_test(test_catalogue_curves_of_near_lines_are_unproven),
		cmocka_unit_test(test_catalogue_super_queue_of_any_size_is_found),
		cmocka_unit_test(test_catalogue_super_queue_behind_a_slow_bus_is_not_told),
		cmocka_unit_test(test_catalogue_deep_station_is_left_by_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
