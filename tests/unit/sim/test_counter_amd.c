/* pmu/sim/counters/counter_amd.c: AMD's core counters on the built-in Zen 4, against the manual: reserved bits, addresses, enables, overflow, codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rigs/counter_rig.h"

#define CTL(n) (0xC0010200u + 2 * (n))
#define CTR(n) (0xC0010201u + 2 * (n))
#define CTL_OLD(n) (0xC0010000u + (n))
#define CTR_OLD(n) (0xC0010004u + (n))
#define GLOBAL_STATUS 0xC0000300u
#define GLOBAL_CTL    0xC0000301u
#define GLOBAL_CLEAR  0xC0000302u
#define EN_OS 0x420000u
#define INSTRUCTIONS 0xC0u
#define P0_CYCLES (1ull << 32 | 0x20 | 0x01 << 8) /* event 0x120 */

static struct counter_rig rig;

/* AMD64 manual volume 2, figure of PERF_CTL: bits 19, 21, 39:36 and 63:42 are reserved. */
static void test_counter_amd_selects_take_their_bits_and_fault_on_others(void **state)
{
	(void)state;
	pmu_open(&rig, "zen4", "");
	for (unsigned n = 0; n < 6; n++)
		for (unsigned bit = 0; bit < 64; bit++) {
			const uint64_t v = 1ull << bit;
			const bool reserved = bit == 19 || bit == 21 || (bit >= 36 && bit < 40) || bit >= 42;
			struct sim_finding f = { 0 };
			const enum status st = counters_wrmsr(rig.p, CTL(n), v, &f);
			if (st != (reserved ? ST_FAULT : ST_OK) || (!reserved && pmu_read(&rig, CTL(n)) != v))
				fail_msg("PERF_CTL%u bit %u", n, bit);
		}
	pmu_close(&rig);
}

static void test_counter_amd_first_four_answer_at_both_addresses(void **state)
{
	(void)state;
	uint64_t v;
	struct sim_finding f = { 0 };
	pmu_open(&rig, "zen4", "");
	for (unsigned n = 0; n < 4; n++) {
		pmu_write(&rig, CTL_OLD(n), EN_OS | (INSTRUCTIONS + n));
		pmu_write(&rig, CTR_OLD(n), 100 + n);
		assert_int_equal(pmu_read(&rig, CTL(n)), EN_OS | (INSTRUCTIONS + n));
		assert_int_equal(pmu_read(&rig, CTR(n)), 100 + n);
	}
	assert_int_equal(counters_rdmsr(rig.p, CTL(6), &v, &f), ST_MISSING);
	assert_int_equal(counters_rdmsr(rig.p, CTL_OLD(0) + 8, &v, &f), ST_MISSING);
	pmu_close(&rig);
}

/* A counter counts only when its own enable bit and the global one are set (PerfMonV2); RDPMC n reads counter n. */
static void test_counter_amd_needs_both_enable_bits(void **state)
{
	(void)state;
	uint64_t v;
	pmu_open(&rig, "zen4", "");
	assert_int_equal(pmu_read(&rig, GLOBAL_CTL), 0);
	pmu_write(&rig, CTL(5), EN_OS | INSTRUCTIONS);
	pmu_run(&rig, 7, 1);
	assert_int_equal(pmu_read(&rig, CTR(5)), 0);
	pmu_write(&rig, GLOBAL_CTL, 1u << 5);
	pmu_run(&rig, 7, 1);
	assert_int_equal(pmu_read(&rig, CTR(5)), 7);
	assert_int_equal(counters_rdpmc(rig.p, 5, &v), ST_OK);
	assert_int_equal(v, 7);
	assert_int_equal(counters_rdpmc(rig.p, 6, &v), ST_FAULT);
	pmu_write(&rig, CTL(5), INSTRUCTIONS | 0x20000);
	pmu_run(&rig, 7, 1);
	assert_int_equal(pmu_read(&rig, CTR(5)), 7);
	pmu_close(&rig);
}

static void test_counter_amd_overflow_shows_in_the_status_until_it_is_cleared(void **state)
{
	(void)state;
	struct sim_finding f = { 0 };
	pmu_open(&rig, "zen4", "");
	pmu_write(&rig, CTL(2), EN_OS | INSTRUCTIONS);
	pmu_write(&rig, CTR(2), (1ull << 48) - 3);
	pmu_write(&rig, GLOBAL_CTL, 0x3F);
	pmu_run(&rig, 5, 1);
	assert_int_equal(pmu_read(&rig, CTR(2)), 2);
	assert_int_equal(pmu_read(&rig, GLOBAL_STATUS), 4);
	assert_int_equal(counters_wrmsr(rig.p, GLOBAL_STATUS, 0, &f), ST_FAULT);
	pmu_write(&rig, GLOBAL_CLEAR, 4);
	assert_int_equal(pmu_read(&rig, GLOBAL_STATUS), 0);
	assert_int_equal(counters_wrmsr(rig.p, GLOBAL_CTL, 1u << 6, &f), ST_FAULT);
	pmu_close(&rig);
}

/* Event codes have 12 bits: 0x120 is not 0x20. */
static void test_counter_amd_codes_have_twelve_bits(void **state)
{
	(void)state;
	struct sim_finding f = { 0 };
	pmu_open(&rig, "zen4", "");
	pmu_write(&rig, CTL(0), EN_OS | P0_CYCLES);
	assert_int_equal(counters_wrmsr(rig.p, CTL(1), EN_OS | (P0_CYCLES & 0xFFFF), &f), ST_OK);
	assert_int_equal(f.kind, FIND_UNMODELLED);
	pmu_close(&rig);
}

/* Intel's registers that AMD lacks raise #GP. */
static void test_counter_amd_has_none_of_intels(void **state)
{
	(void)state;
	static const uint32_t absent[] = { 0xC1, 0x186, 0x38F, 0x38D, 0x345, 0x3F1, 0x600, 0x1A4, 0x1A6, 0x1A0, 0x198, 0x199, 0xCE, 0x1AD, 0x17 };
	pmu_open(&rig, "zen4", "");
	for (unsigned i = 0; i < COUNT_OF(absent); i++) {
		uint64_t v;
		struct sim_finding f = { 0 };
		if (counters_rdmsr(rig.p, absent[i], &v, &f) == ST_OK)
			fail_msg("msr %x answers", absent[i]);
	}
	pmu_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter_amd_selects_take_their_bits_and_fault_on_others),
		cmocka_unit_test(test_counter_amd_first_four_answer_at_both_addresses),
		cmocka_unit_test(test_counter_amd_needs_both_enable_bits),
		cmocka_unit_test(test_counter_amd_overflow_shows_in_the_status_until_it_is_cleared),
		cmocka_unit_test(test_counter_amd_codes_have_twelve_bits),
		cmocka_unit_test(test_counter_amd_has_none_of_intels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
