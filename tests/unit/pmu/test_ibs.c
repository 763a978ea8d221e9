/* pmu/amd/ibs.c: decodes register values that are composed by the manual's layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/amd/ibs.h"

#define ZEN3 0x3FFu
#define ZEN4 0xBFFu
#define BIT(n) (1ull << (n))
/* IBS_OP_DATA3 of a load with a linear address; of one that missed the L1 and the L2, with its miss latency. */
#define LOAD (BIT(0) | BIT(17))
#define MISS(cycles) (LOAD | BIT(7) | BIT(20) | (uint64_t)(cycles) << 32)

static struct ibs_op decoded(uint64_t data2, uint64_t data3, uint32_t capabilities, bool broken)
{
	const struct ibs_registers r = { .ip = 0x1234, .data = 7 | 9 << 16, .data2 = data2, .data3 = data3, .linear = 0xABC0, .physical = 0xDEF0 };
	struct ibs_op op;
	assert_int_equal(ibs_decode(&r, capabilities, broken, &op), ST_OK);
	assert_int_equal(op.ip, 0x1234);
	assert_int_equal(op.completed_cycles, 7);
	assert_int_equal(op.tagged_cycles, 9);
	return op;
}

static void test_ibs_names_the_source_of_a_load(void **state)
{
	(void)state;
	static const struct { uint64_t data2, data3; uint32_t capabilities; unsigned source, cycles; } cases[] = {
		{ 0, LOAD, ZEN4, IBS_L1, 0 },
		{ 0, LOAD | BIT(7) | 10ull << 32, ZEN4, IBS_L2, 10 },
		{ 0, LOAD | BIT(7) | BIT(16) | 300ull << 32, ZEN4, IBS_IN_FLIGHT, 300 },
		{ 1, MISS(46), ZEN4, 1, 46 },
		{ 2, MISS(46), ZEN3, 2, 46 },
		{ 3, MISS(0xFFFF), ZEN4, 3, 0xFFFF },
		{ 3 | BIT(4), MISS(500), ZEN4, IBS_DRAM_REMOTE, 500 },
		{ 3 | BIT(4), MISS(500), ZEN3, IBS_DRAM_REMOTE, 500 },
		{ 5, MISS(200), ZEN4, 5, 200 },
		{ BIT(6), MISS(700), ZEN4, 8, 700 },                     /* bits 7:6 are the upper two of the source's five */
		{ BIT(6) | BIT(4), MISS(700), ZEN4, IBS_EXTENSION_REMOTE, 700 },
		{ BIT(6) | 4, MISS(700), ZEN4, 12, 700 },
		{ BIT(6) | 3, MISS(90), ZEN3, 3, 90 },                   /* Zen 3's source has three bits */
		{ 3, MISS(90) | BIT(14), ZEN4, IBS_UNCACHED, 90 },
		{ 3 << 6, MISS(90), ZEN4, IBS_UNKNOWN, 90 },             /* 24: reserved */
	};
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		const struct ibs_op op = decoded(cases[i].data2, cases[i].data3, cases[i].capabilities, false);
		assert_true(op.load && !op.store && op.has_linear && !op.has_physical);
		assert_int_equal(op.source, cases[i].source);
		assert_int_equal(op.has_source, cases[i].source != IBS_UNKNOWN);
		assert_int_equal(op.miss_cycles, cases[i].cycles);
		assert_int_equal(op.linear, 0xABC0);
		assert_int_equal(op.physical, 0);
	}
}

static void test_ibs_tells_translation_and_width(void **state)
{
	(void)state;
	struct ibs_op op = decoded(0, LOAD | BIT(2) | BIT(3) | BIT(18) | 4ull << 22 | 5ull << 26 | 36ull << 48, ZEN4, false);
	assert_true(op.missed_tlb && op.missed_second_tlb && op.has_physical);
	assert_int_equal(op.refill_cycles, 36);
	assert_int_equal(op.bytes, 8);
	assert_int_equal(op.misses_open, 5);
	assert_int_equal(op.physical, 0xDEF0);
	op = decoded(0, LOAD | BIT(3) | 36ull << 48, ZEN4, false); /* first-level hit: the other fields are not valid */
	assert_false(op.missed_tlb || op.missed_second_tlb);
	assert_int_equal(op.refill_cycles, 0);
}

/* Neither load nor store: bits that are not valid still hold an earlier sample's values. */
static void test_ibs_other_ops_have_no_memory(void **state)
{
	(void)state;
	const struct ibs_op op = decoded(3, MISS(77) & ~BIT(0), ZEN4, false);
	assert_false(op.load || op.store || op.has_linear || op.missed || op.has_source);
	assert_int_equal(op.miss_cycles, 0);
	const struct ibs_op store = decoded(3, (MISS(77) & ~BIT(0)) | BIT(1), ZEN4, false);
	assert_true(store.store && store.has_linear);
	assert_false(store.missed || store.has_source);
}

static void test_ibs_erratum_1293_takes_the_source_away(void **state)
{
	(void)state;
	assert_int_equal(decoded(3, MISS(90) | BIT(21), ZEN3, false).source, 3);
	const struct ibs_op op = decoded(3, MISS(90) | BIT(21), ZEN3, true);
	assert_true(op.prefetch && !op.has_source);
	assert_int_equal(decoded(3, MISS(90) | BIT(16), ZEN3, true).source, IBS_IN_FLIGHT);
	assert_int_equal(decoded(3, MISS(90), ZEN3, true).source, 3);
}

static void test_ibs_contradiction_is_broken(void **state)
{
	(void)state;
	const struct ibs_registers r = { .data3 = LOAD | BIT(20) };
	struct ibs_op op;
	assert_int_equal(ibs_decode(&r, ZEN4, false, &op), ST_BROKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ibs_names_the_source_of_a_load),
		cmocka_unit_test(test_ibs_tells_translation_and_width),
		cmocka_unit_test(test_ibs_other_ops_have_no_memory),
		cmocka_unit_test(test_ibs_erratum_1293_takes_the_source_away),
		cmocka_unit_test(test_ibs_contradiction_is_broken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
