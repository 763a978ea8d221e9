/* Rows of streams choose a kernel by its vector width: on a machine that is treated as real the fastest by trial, on a simulated one the first, and only
 * among those that the settings name. How the trial chooses is tested in bench/test_vector_width.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench/suite/execute.h"
#include "tests/unit/support/closed_loop.h"

static struct loop_run run;
static struct bench bench;

/* The kernel chosen by a row that lists the narrower one first, on a simulated Haswell of two cores, where that is slower. kind: how the machine is treated;
 * kernels: the setting. */
static const char *taken(const char *name, enum access_kind kind, const char *kernels)
{
	static const char *const narrow_first[] = { "k_triad_sse2", "k_triad_avx", NULL };
	static struct row_result out;
	char *text = loop_built_in_changed("haswell-ep", "topology.cores=2,topology.sockets=1");
	struct access a;

	loop_open(&run, text);
	a = run.guard.access;
	a.kind = kind;
	bench_init(&bench, &a, &run.cpu, &run.host.host, 3, 1);
	bench.kernels = kernels;
	struct row row = *row_find(name);
	row.kernels = narrow_first;
	execute_row(&bench, &row, &out);
	if (out.status != ROW_OK)
		fail_msg("%s: %s", name, out.reason);
	loop_close(&run);
	free(text);
	return out.kernel;
}

static void test_width_is_tried_on_a_real_processor(void **state)
{
	(void)state;
	assert_string_equal(taken("triad.l1.bandwidth", ACCESS_HW, ""), "k_triad_avx");
	assert_string_equal(taken("triad.l1_all.bandwidth", ACCESS_HW, ""), "k_triad_avx");
}

static void test_width_is_the_first_on_a_simulated_one(void **state)
{
	(void)state;
	assert_string_equal(taken("triad.l1.bandwidth", ACCESS_SIM, ""), "k_triad_sse2");
	assert_string_equal(taken("triad.l1_all.bandwidth", ACCESS_SIM, ""), "k_triad_sse2");
}

static void test_width_is_one_of_the_kernels_that_a_user_names(void **state)
{
	(void)state;
	assert_string_equal(taken("triad.l1.bandwidth", ACCESS_SIM, "k_copy_avx, k_triad_avx"), "k_triad_avx"); /* though it comes second */
	assert_string_equal(taken("triad.l1_all.bandwidth", ACCESS_SIM, "k_triad_avx"), "k_triad_avx");
	assert_string_equal(taken("triad.l1.bandwidth", ACCESS_HW, "k_triad_sse2"), "k_triad_sse2"); /* though it is slower */
	assert_string_equal(taken("triad.l1_all.bandwidth", ACCESS_HW, "k_triad_sse2"), "k_triad_sse2");
	assert_string_equal(taken("triad.l1.bandwidth", ACCESS_SIM, "k_copy_avx,k_triad"), "k_triad_sse2"); /* none of the row's: any */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_width_is_tried_on_a_real_processor),
		cmocka_unit_test(test_width_is_the_first_on_a_simulated_one),
		cmocka_unit_test(test_width_is_one_of_the_kernels_that_a_user_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
