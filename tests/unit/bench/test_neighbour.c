/* Each row with a proof is unproven if its lines are in a neighbouring level or in another state. Rows of pairs
 * have their own test (test_catalogue). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/measure/measure.h"
#include "bench/multicore/matrix.h"
#include "bench/suite/execute.h"
#include "tests/unit/support/closed_loop.h"

/* Changes one property of the row that its proof checks. False: none can be changed. */
static bool astray(struct row *r, struct row_pair *pair, const char **kernels)
{
	switch (r->order) {
	case ORDER_PAIR:
		return false; /* test_catalogue swaps their kernels */
	case ORDER_PAGES:
	case ORDER_PAGE_GROUPS:
		r->order = ORDER_LINES;
		r->target = TARGET_L2;
		r->page_bytes = PAGE_2M;
		return true;
	case ORDER_CURVE:
		if (r->target == TARGET_CORE)
			return false; /* it loads no lines */
		if (r->target == TARGET_STLB)
			r->page_bytes = PAGE_2M; /* few pages, which the TLB holds */
		else
			r->prepare = r->prepare == PREPARE_FLUSH ? PREPARE_WARM : PREPARE_FLUSH;
		return true;
	case ORDER_GATHER:
		r->prepare = PREPARE_WARM;
		return true;
	case ORDER_STAIRS: /* a chase with a sixteenth of the loads */
		kernels[0] = "k_touch_chain";
		r->kernels = kernels;
		return true;
	case ORDER_LOADED:
		r->node = 1;
		return true;
	case ORDER_LINE:
		r->target = TARGET_L1;
		return true;
	case ORDER_MATRIX:
		r->prepare = r->prepare == PREPARE_EXCLUSIVE ? PREPARE_MODIFIED : PREPARE_EXCLUSIVE;
		return true;
	case ORDER_STREAMS:
		if (r->pair && r->proofs) { /* stores: the kernel of the baseline */
			*pair = *r->pair;
			kernels[0] = pair->base;
			pair->base = r->kernels[0];
			r->kernels = kernels;
			r->pair = pair;
			return true;
		}
		break;
	case ORDER_NODES:
		if (str_glob("k_write_nt_*", r->kernels[0]))
			break;
		r->node = !r->node; /* the other node's memory */
		return true;
	default:
		break;
	}
	if (str_glob("k_write_nt_*", r->kernels[0])) { /* bypasses the caches: use the kernel that does not */
		kernels[0] = "k_write_sse2";
		r->kernels = kernels;
	} else if (r->target == TARGET_OTHER_CORE || r->target == TARGET_OTHER_SOCKET) {
		r->prepare = r->prepare == PREPARE_EXCLUSIVE ? PREPARE_MODIFIED : PREPARE_EXCLUSIVE;
	} else if (r->node) {
		r->node = 0;
	} else if (r->target == TARGET_DRAM) {
		r->target = TARGET_L3;
		r->order = r->order == ORDER_STREAMS || r->order == ORDER_MULTICORE ? r->order : ORDER_LINES;
		r->baseline = r->baseline == BASELINE_OPEN_PAGES ? BASELINE_L1 : r->baseline;
		r->prepare = PREPARE_WARM;
	} else {
		r->target = r->target == TARGET_L1 ? TARGET_L2 : r->target == TARGET_L2 ? TARGET_L1 : TARGET_L2;
	}
	return true;
}

/* Rows of the orders `from` .. `to` are all unproven; at least `least` of them are tried. */
static void astray_rows(unsigned from, unsigned to, unsigned least)
{
	static struct loop_run run;
	static struct bench bench;
	unsigned tried = 0, believed = 0;

	loop_open(&run, loop_built_in("nehalem-ep"));
	bench_init(&bench, &run.guard.access, &run.cpu, &run.host.host, 0, 20090330);
	for (unsigned i = 0; i < rows_count; i++) {
		struct row row = rows[i];
		struct row_pair pair;
		static struct row_result result;
		const char *kernels[2] = { NULL, NULL };

		if (!row.proofs || (unsigned)row.order < from || (unsigned)row.order > to || !astray(&row, &pair, kernels))
			continue;
		execute_row(&bench, &row, &result);
		if (result.matrix)
			run.host.host.put(run.host.host.self, result.matrix, matrix_bytes(&bench));
		if (result.status == ROW_UNSUPPORTED && result.absent)
			continue;
		tried++;
		if (result.status != ROW_UNPROVEN) {
			print_error("%s astray: %s, %s%s\n", row.name, row_status_name(result.status), result.proof, result.reason);
			believed++;
		}
	}
	loop_close(&run);
	print_message("%u rows\n", tried);
	assert_int_equal(believed, 0);
	assert_true(tried >= least);
}

static void test_neighbour_levels_of_one_core_are_unproven(void **state) { (void)state; astray_rows(ORDER_LINES, ORDER_PAIR, 25); }
static void test_neighbour_states_of_other_cores_are_unproven(void **state) { (void)state; astray_rows(ORDER_OPEN_PAGES, ORDER_MATRIX, 4); }
static void test_neighbour_levels_of_all_cores_are_unproven(void **state) { (void)state; astray_rows(ORDER_MULTICORE, ORDER_LINE, 26); }
static void test_neighbour_curves_and_tables_are_unproven(void **state) { (void)state; astray_rows(ORDER_CURVE, ORDER_GATHER, 8); }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_neighbour_levels_of_one_core_are_unproven),
		cmocka_unit_test(test_neighbour_states_of_other_cores_are_unproven),
		cmocka_unit_test(test_neighbour_levels_of_all_cores_are_unproven),
		cmocka_unit_test(test_neighbour_curves_and_tables_are_unproven),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
