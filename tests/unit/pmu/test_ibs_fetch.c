/* pmu/amd/ibs_fetch.c: decodes register values that are composed by the manual's layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/amd/ibs_fetch.h"

#define ZEN2 0x3FFu
#define ZEN4 0xBFFu
#define BIT(n) (1ull << (n))
#define DONE BIT(50) /* complete */
#define MISS BIT(51)
#define ADDRESS BIT(52)
#define L1_TLB BIT(55)
#define L2_TLB BIT(56)
#define L2_MISS BIT(58)
#define OP_CACHE_MISS BIT(60)
#define L3_MISS BIT(61)

static struct ibs_fetch decoded(uint64_t control, uint32_t capabilities, bool no_miss, bool more_sizes)
{
	const struct ibs_fetch_registers r = { .control = control | BIT(49) | 123ull << 32, .linear = 0x1240, .physical = 0xDEF40, .extended = 0xFFFF0000 | 36 };
	struct ibs_fetch f;
	ibs_fetch_decode(&r, capabilities, (struct ibs_fetch_errata){ .no_miss = no_miss, .more_sizes = more_sizes }, &f);
	assert_int_equal(f.linear, 0x1240);
	assert_int_equal(f.latency_cycles, 123);
	return f;
}

static void test_ibs_fetch_names_what_missed(void **state)
{
	(void)state;
	static const struct { uint64_t control; uint32_t capabilities; bool missed, l2, l3, op_cache, tells_l3; } cases[] = {
		{ DONE, ZEN4, false, false, false, false, true },
		{ DONE | OP_CACHE_MISS, ZEN4, false, false, false, true, true },
		{ DONE | OP_CACHE_MISS | MISS, ZEN4, true, false, false, true, true },
		{ DONE | MISS | L2_MISS, ZEN4, true, true, false, false, true },
		{ DONE | MISS | L2_MISS | L3_MISS, ZEN4, true, true, true, false, true },
		{ DONE | MISS | L2_MISS | L3_MISS | OP_CACHE_MISS, ZEN2, true, true, false, false, false }, /* bits that Zen 2 lacks */
		{ DONE | L2_MISS | L3_MISS, ZEN4, false, false, false, false, true }, /* the L1I had the line */
	};
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		const struct ibs_fetch f = decoded(cases[i].control, cases[i].capabilities, false, false);
		assert_true(f.complete && f.has_missed);
		assert_int_equal(f.missed, cases[i].missed);
		assert_int_equal(f.missed_l2, cases[i].l2);
		assert_int_equal(f.missed_l3, cases[i].l3);
		assert_int_equal(f.missed_op_cache, cases[i].op_cache);
		assert_int_equal(f.has_missed_l3, cases[i].tells_l3);
	}
	const struct ibs_fetch f = decoded(MISS | L2_MISS | L1_TLB, ZEN4, false, false); /* abandoned: whether it missed is not known */
	assert_true(!f.complete && !f.has_missed && !f.missed && !f.missed_l2 && f.missed_tlb);
}

static void test_ibs_fetch_tells_translation_and_page(void **state)
{
	(void)state;
	static const uint32_t sizes[2][4] = { { 4096, 2 << 20, 1 << 30, 0 }, { 4096, 16384, 2 << 20, 1 << 30 } };
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(decoded(DONE | ADDRESS | (uint64_t)(i & 3) << 53, ZEN4, false, i >> 2).page_bytes, sizes[i >> 2][i & 3]);
	struct ibs_fetch f = decoded(DONE | ADDRESS | L1_TLB | L2_TLB, ZEN4, false, false);
	assert_true(f.missed_tlb && f.missed_second_tlb && f.has_physical);
	assert_int_equal(f.refill_cycles, 36);
	assert_int_equal(f.physical, 0xDEF40);
	f = decoded(DONE | 1ull << 53 | L2_TLB, ZEN4, false, false); /* the first level hit, and there is no physical address */
	assert_true(!f.missed_tlb && !f.missed_second_tlb && !f.has_physical);
	assert_int_equal(f.refill_cycles + f.page_bytes + f.physical, 0);
	assert_int_equal(decoded(DONE | L1_TLB, ZEN4 & ~IBS_REFILL, false, false).refill_cycles, 0);
}

static void test_ibs_fetch_erratum_1238_takes_the_miss_away(void **state)
{
	(void)state;
	struct ibs_fetch f = decoded(DONE | MISS, ZEN2, true, false);
	assert_true(!f.has_missed && !f.missed);
	f = decoded(DONE | L2_MISS, ZEN2, true, false);
	assert_true(!f.has_missed && f.missed && f.missed_l2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ibs_fetch_names_what_missed),
		cmocka_unit_test(test_ibs_fetch_tells_translation_and_page),
		cmocka_unit_test(test_ibs_fetch_erratum_1238_takes_the_miss_away),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
