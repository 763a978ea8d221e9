/* A stream runs with the fastest of its kernels and offsets; among equals the first, with the widest vectors, is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/measure/vector_width.h"
#include "tests/unit/support/kernel_run.h"

/* The fastest after three tries of the widest kernel at `wide` ticks and three of a narrower one at `narrow`, one of each disturbed. */
static const char *fastest(int64_t wide, int64_t narrow)
{
	struct trial t = { .choice = { { kernel_named("k_triad_avx"), false }, { kernel_named("k_triad_sse2"), false } }, .count = 2, .tries = 3,
		.ticks = { { wide, wide, 9 * wide }, { 9 * narrow, narrow, narrow } } };

	return vector_width_fastest(&t)->kernel->name;
}

static void test_width_equals_stay_the_widest(void **state)
{
	(void)state;
	assert_string_equal(fastest(1000, 1000), "k_triad_avx");
	assert_string_equal(fastest(1000, 995), "k_triad_avx");
	assert_string_equal(fastest(1000, 1100), "k_triad_avx");
}

static void test_width_narrower_is_taken_where_it_is_faster_by_a_hundredth(void **state)
{
	(void)state;
	assert_string_equal(fastest(1000, 985), "k_triad_sse2");
	assert_string_equal(fastest(1000, 500), "k_triad_sse2");
}

static void test_width_is_the_fastest_of_three(void **state)
{
	(void)state;
	struct trial t = { .choice = { { kernel_named("k_triad_avx512"), false }, { kernel_named("k_triad_avx"), false }, { kernel_named("k_triad_sse2"), false } }, .count = 3, .tries = 1,
		.ticks = { { 1000 }, { 900 }, { 899 } } };

	assert_string_equal(vector_width_fastest(&t)->kernel->name, "k_triad_sse2");
}

static void test_width_arrays_begin_alike_where_that_is_faster(void **state)
{
	(void)state;
	const struct kernel *k = kernel_named("k_triad_avx");
	struct trial t = { .choice = { { k, false }, { k, true } }, .count = 2, .tries = 1, .ticks = { { 1000 }, { 980 } } };
	struct working_set w = { .shape = { .array_bytes = 1 << 20, .skew_bytes = 2112 } };

	assert_true(vector_width_fastest(&t)->aligned);
	vector_width_set(&w, vector_width_fastest(&t));
	assert_int_equal(shape_stride_bytes(&w.shape), 1 << 20);
	t.ticks[1][0] = 995;
	vector_width_set(&w, vector_width_fastest(&t));
	assert_int_equal(shape_stride_bytes(&w.shape), (1 << 20) + 2112);
	t.ticks[1][0] = 500;
	w.shape.skew_bytes = 3 * PAGE_4K + 2112;
	vector_width_set(&w, vector_width_fastest(&t)); /* whole pages stay, which set the arrays apart in the last level */
	assert_int_equal(shape_stride_bytes(&w.shape), (1 << 20) + 3 * PAGE_4K);
}

static bool stream(const struct row *r) { return r->prefetch == PREFETCH_AS_FOUND && (r->order == ORDER_STREAMS || r->order == ORDER_MULTICORE || r->order == ORDER_NODES); }

/* Whether a kernel has the same vectors as another, but another order, a shorter loop or fused multiply-adds. */
static bool is_variant(const struct kernel *k)
{
	return strstr(k->name, "_fma") || strstr(k->name, "_grouped") || strstr(k->name, "_halves") || strstr(k->name, "_short");
}

static void test_width_kernels_of_a_row_move_the_same(void **state)
{
	(void)state;
	unsigned several = 0;

	for (unsigned i = 0; i < rows_count; i++) {
		const struct kernel *plain = stream(&rows[i]) ? kernel_named(rows[i].kernels[0]) : NULL;

		assert_false(plain && is_variant(plain)); /* a simulated processor takes the first */
		for (const char *const *name = rows[i].kernels + 1; plain && *name; name++, several++) {
			const struct kernel *k = kernel_named(*name);

			if (plain->data_bytes != k->data_bytes || plain->step_bytes != k->step_bytes || plain->count_argument != k->count_argument)
				fail_msg("%s: %s and %s", rows[i].name, plain->name, k->name);
			if (!is_variant(k)) {
				assert_true(plain->instructions < k->instructions); /* the widest first */
				plain = k;
				continue;
			}
			assert_int_equal(plain->isa & ~(uint32_t)ISA_FMA, k->isa & ~(uint32_t)ISA_FMA);
			assert_int_equal(plain->loads, k->loads); /* a fused multiply-add has a load too */
			assert_int_equal(plain->stores, k->stores);
			assert_true(strstr(k->name, "_short") ? k->instructions > plain->instructions : k->instructions == plain->instructions);
		}
	}
	assert_in_range(several, 60, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_width_equals_stay_the_widest),
		cmocka_unit_test(test_width_narrower_is_taken_where_it_is_faster_by_a_hundredth),
		cmocka_unit_test(test_width_is_the_fastest_of_three),
		cmocka_unit_test(test_width_arrays_begin_alike_where_that_is_faster),
		cmocka_unit_test(test_width_kernels_of_a_row_move_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
