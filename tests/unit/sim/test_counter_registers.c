/* pmu/sim/counters/counter.c, counter_msr.c, cpuid.c: registers and CPUID of the built-in Nehalem-EP, bit by bit against the SDM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rigs/counter_rig.h"

#define EN_OS 0x420000u

static struct counter_rig rig;

/* Bits that software can write and read back; all others raise #GP. From the SDM's register
 * layouts (chapters on performance monitoring, last branches and MSRs). */
static const struct { uint32_t msr; uint64_t writable; } layout[] = {
	{ 0x186, 0xFFFFFFFF }, { 0x189, 0xFFFFFFFF },  /* PERFEVTSEL: 31:0, AnyThread from version 3 on */
	{ 0x38D, 0xFFF },                              /* three counters: OS, USR, AnyThread, PMI */
	{ 0x38F, 0x70000000F },
	{ 0x3F1, 0xF0000000F },                        /* PEBS and LL_EN of four counters */
	{ 0x3F6, 0xFFFF },
	{ 0x1A6, 0xFFFF },
	{ 0x1A4, 0xF },
	{ 0x1C8, 0x1FF },
	{ 0x1D9, 0x7FC3 },
	{ 0x1B0, 0xF },
};

static void test_counter_registers_take_their_bits_and_fault_on_others(void **state)
{
	(void)state;
	pmu_open(&rig, "nehalem-ep", "");
	for (unsigned i = 0; i < COUNT_OF(layout); i++)
		for (unsigned bit = 0; bit < 64; bit++) {
			uint64_t before = pmu_read(&rig, layout[i].msr), v = 1ull << bit;
			struct sim_finding f = { 0 };
			enum status st = counters_wrmsr(rig.p, layout[i].msr, v, &f);
			if (layout[i].writable >> bit & 1) {
				if (st != ST_OK || pmu_read(&rig, layout[i].msr) != v)
					fail_msg("msr %x bit %u does not stick", layout[i].msr, bit);
				assert_int_equal(counters_wrmsr(rig.p, layout[i].msr, before, &f), ST_OK);
			} else {
				if (st != ST_FAULT || f.kind != FIND_RESERVED || !f.why || pmu_read(&rig, layout[i].msr) != before)
					fail_msg("msr %x bit %u does not fault", layout[i].msr, bit);
			}
		}
	pmu_close(&rig);
}

/* SDM volume 3, architectural performance monitoring version 6; Linux 6.12, perf_event.h: bits 47:40 of a select. */
static void test_counter_selects_have_a_second_mask_where_the_machine_says_so(void **state)
{
	(void)state;
	for (unsigned there = 0; there < 2; there++) {
		uint32_t r[4];
		pmu_open(&rig, "sierra-forest", there ? "\n[pmu]\nsecond_mask = 1\n" : "");
		for (unsigned bit = 39; bit < 49; bit++) {
			struct sim_finding f = { 0 };
			const bool takes = there && bit >= 40 && bit < 48;
			if (counters_wrmsr(rig.p, 0x18D, 1ull << bit, &f) != (takes ? ST_OK : ST_FAULT) || (!takes && f.kind != FIND_RESERVED) ||
			    pmu_read(&rig, 0x18D) != (takes ? 1ull << bit : there && bit == 48 ? 1ull << 47 : 0))
				fail_msg("bit %u, second_mask = %u", bit, there);
		}
		counters_cpuid(rig.p, 0x23, 0, r);
		assert_int_equal(r[1], there);
		counters_cpuid(rig.p, 7, 1, r);
		assert_int_equal(r[0], 0x100);
		pmu_close(&rig);
	}
}

static void test_counter_matches_its_event_by_both_masks(void **state)
{
	(void)state;
	struct sim_finding f = { 0 };
	pmu_open(&rig, "sierra-forest", "\n[pmu]\nsecond_mask = 1\n");
	pmu_write(&rig, 0x38F, 3);
	pmu_write(&rig, 0x186, EN_OS | 0xC0);
	assert_int_equal(counters_wrmsr(rig.p, 0x187, 1ull << 40 | EN_OS | 0xC0, &f), ST_OK);
	assert_int_equal(f.kind, FIND_UNMODELLED);
	pmu_run(&rig, 100, 2);
	assert_int_equal(pmu_read(&rig, 0xC1), 200);
	assert_int_equal(pmu_read(&rig, 0xC2), 0);
	pmu_close(&rig);
}

static void test_counter_read_only_and_absent_registers(void **state)
{
	(void)state;
	pmu_open(&rig, "nehalem-ep", "");
	static const struct { uint32_t msr; enum status rd, wr; } rows[] = {
		{ 0x38E, ST_OK, ST_FAULT }, { 0x345, ST_OK, ST_FAULT }, { 0xCE, ST_OK, ST_FAULT }, { 0x198, ST_OK, ST_FAULT },
		{ 0x34, ST_OK, ST_FAULT }, { 0xFE, ST_OK, ST_FAULT },
		{ 0x391, ST_MISSING, ST_MISSING },  /* an uncore register on Nehalem */
		{ 0x4C1, ST_MISSING, ST_MISSING },  /* no full-width writes before Sandy Bridge */
		{ 0x18A, ST_MISSING, ST_MISSING }, { 0x30C, ST_MISSING, ST_MISSING }, { 0x1A7, ST_MISSING, ST_MISSING },
	};
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		uint64_t v;
		struct sim_finding f = { 0 };
		if (counters_rdmsr(rig.p, rows[i].msr, &v, &f) != rows[i].rd || counters_wrmsr(rig.p, rows[i].msr, 0, &f) != rows[i].wr)
			fail_msg("msr %x", rows[i].msr);
	}
	assert_int_equal(pmu_read(&rig, 0x38F), 0xF);   /* not 0 after reset */
	assert_int_equal(pmu_read(&rig, 0xCE) >> 8 & 0xFF, 22);
	assert_int_equal(pmu_read(&rig, 0x345) >> 8 & 0xF, 1);
	assert_int_equal(pmu_read(&rig, 0x277), 0x0007040600070406ull);
	pmu_close(&rig);
}

static void test_counter_start_sequence_is_needed_and_flagged(void **state)
{
	(void)state;
	struct sim_finding f = { 0 };
	pmu_open(&rig, "nehalem-ep", "");
	pmu_write(&rig, 0x38F, 0);
	pmu_write(&rig, 0x186, EN_OS | 0xC0);
	assert_int_equal(counters_wrmsr(rig.p, 0x38F, 1, &f), ST_OK);
	assert_int_equal(f.kind, FIND_NO_LATCH);
	assert_non_null(f.why);
	pmu_run(&rig, 100, 2);
	assert_int_equal(pmu_read(&rig, 0xC1), 0);
	pmu_start_sequence(&rig);
	pmu_write(&rig, 0x186, EN_OS | 0xC0);
	pmu_write(&rig, 0x38F, 1);
	pmu_run(&rig, 100, 2);
	assert_int_equal(pmu_read(&rig, 0xC1), 200);
	pmu_close(&rig);
}

static void test_counter_values_overflow_at_width_and_set_status(void **state)
{
	(void)state;
	pmu_open(&rig, "nehalem-ep", "");
	pmu_start_sequence(&rig);
	pmu_write(&rig, 0xC1, 0xFFFFFFFF);            /* bit 31 is extended */
	assert_int_equal(pmu_read(&rig, 0xC1), 0xFFFFFFFFFFFFull);
	pmu_write(&rig, 0xC2, 0x7FFFFFFF);
	assert_int_equal(pmu_read(&rig, 0xC2), 0x7FFFFFFF);
	pmu_write(&rig, 0x309, 0xFFFFFFFFFFF0ull);
	pmu_write(&rig, 0x186, EN_OS | 0xC0);
	pmu_write(&rig, 0x187, EN_OS | 0x3C);
	pmu_write(&rig, 0x38D, 0x333);
	pmu_write(&rig, 0x38F, 0x700000003ull);
	pmu_run(&rig, 10, 1);
	assert_int_equal(pmu_read(&rig, 0xC1), 9);
	assert_int_equal(pmu_read(&rig, 0xC2), 0x7FFFFFFFull + 10);
	assert_int_equal(pmu_read(&rig, 0x309), 0xFFFFFFFFFFFAull);
	assert_int_equal(pmu_read(&rig, 0x38E), 1);
	pmu_run(&rig, 6, 1);
	assert_int_equal(pmu_read(&rig, 0x309), 0);
	assert_int_equal(pmu_read(&rig, 0x38E), 1 | 1ull << 32);
	pmu_write(&rig, 0x390, 1);
	assert_int_equal(pmu_read(&rig, 0x38E), 1ull << 32);
	uint64_t v;
	assert_int_equal(counters_rdpmc(rig.p, 0, &v), ST_OK);
	assert_int_equal(v, 15);
	assert_int_equal(counters_rdpmc(rig.p, 0x40000001, &v), ST_OK);
	assert_int_equal(v, 16);
	assert_int_equal(counters_rdpmc(rig.p, 4, &v), ST_FAULT);
	assert_int_equal(counters_rdpmc(rig.p, 0x40000003, &v), ST_FAULT);
	pmu_write(&rig, 0x38F, 0);                    /* stopped: values stay */
	pmu_run(&rig, 10, 1);
	assert_int_equal(pmu_read(&rig, 0xC1), 15);
	pmu_close(&rig);
}

static void test_counter_selectors_that_count_nothing_are_flagged(void **state)
{
	(void)state;
	pmu_open(&rig, "nehalem-ep", "");
	pmu_start_sequence(&rig);
	pmu_write(&rig, 0x38F, 0xF);
	static const struct { unsigned n; uint64_t sel; enum finding_kind kind; } rows[] = {
		{ 0, 0x410000 | 0xC0, FIND_SIMULATOR },        /* USR alone: no code runs in user mode */
		{ 0, 0x400000 | 0xC0, FIND_IGNORED },          /* neither USR nor OS */
		{ 2, EN_OS | 0x0151, FIND_WRONG_COUNTER },     /* L1D.REPL: counters 0 and 1 */
		{ 0, EN_OS | 0x01D4, FIND_UNMODELLED },        /* SEG_RENAME_STALLS */
		{ 0, EN_OS | 0x01FF, FIND_UNMODELLED },        /* no event at all */
	};
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct sim_finding f = { 0 };
		assert_int_equal(counters_wrmsr(rig.p, 0x186 + rows[i].n, rows[i].sel, &f), ST_OK);
		assert_non_null(f.why);
		assert_int_equal(f.kind, rows[i].kind);
		assert_int_equal(f.address, 0x186 + rows[i].n);
		uint64_t before = pmu_read(&rig, 0xC1 + rows[i].n);
		pmu_run(&rig, 20, 3);
		assert_int_equal(pmu_read(&rig, 0xC1 + rows[i].n), before);
		pmu_write(&rig, 0x186 + rows[i].n, 0);
	}
	pmu_write(&rig, 0x187, EN_OS | 0x0151);
	pmu_close(&rig);
}

static void test_counter_cmask_inv_edge_reach_the_tap(void **state)
{
	(void)state;
	pmu_open(&rig, "nehalem-ep", "");
	pmu_start_sequence(&rig);
	pmu_write(&rig, 0x186, EN_OS | 0xC0 | 2u << 24);              /* cycles with 2 or more */
	pmu_write(&rig, 0x187, EN_OS | 0xC0 | 2u << 24 | 1u << 23);   /* cycles with fewer */
	pmu_write(&rig, 0x188, EN_OS | 0xC0 | 2u << 24 | 1u << 18);   /* transitions from fewer to 2 or more */
	pmu_write(&rig, 0x38F, 0xF);
	pmu_run(&rig, 10, 1);
	pmu_run(&rig, 7, 3);
	pmu_run(&rig, 5, 0);
	pmu_run(&rig, 4, 2);
	assert_int_equal(pmu_read(&rig, 0xC1), 11);
	assert_int_equal(pmu_read(&rig, 0xC2), 15);
	assert_int_equal(pmu_read(&rig, 0xC3), 2);
	pmu_close(&rig);
}

static void test_counter_clocks_and_their_writes(void **state)
{
	(void)state;
	pmu_open(&rig, "nehalem-ep", "[clock]\n");
	pmu_run(&rig, 2200, 0);
	assert_int_equal(counters_rdtsc(rig.p), 2200);
	assert_int_equal(pmu_read(&rig, 0xE7), 2200);
	counters_halted(rig.p, 200);
	assert_int_equal(pmu_read(&rig, 0xE8), 2000);
	pmu_write(&rig, 0xE8, 0);
	pmu_write(&rig, 0xE7, 5);
	pmu_write(&rig, 0x10, 1000000);
	pmu_run(&rig, 100, 0);
	assert_int_equal(pmu_read(&rig, 0xE8), 100);
	assert_int_equal(pmu_read(&rig, 0xE7), 105);
	assert_int_equal(pmu_read(&rig, 0x10), 1000100);
	assert_int_equal(pmu_read(&rig, 0x34), 0);
	counters_smi(rig.p);
	assert_int_equal(pmu_read(&rig, 0x34), 1);
	pmu_start_sequence(&rig);
	pmu_write(&rig, 0x186, EN_OS | 0x013C);                       /* bus clocks: core ratio 22 */
	pmu_write(&rig, 0x38F, 1);
	pmu_run(&rig, 220, 0);
	assert_int_equal(pmu_read(&rig, 0xC1), 10);
	pmu_close(&rig);
}

static void test_counter_machine_faults_act(void **state)
{
	(void)state;
	struct sim_finding f = { 0 };
	uint64_t v;
	pmu_open(&rig, "nehalem-ep", "[fault]\nmsr_missing = 0x1A4\ncounter_stuck = 2\novercount_event = 0xC0\n"
	         "overcount_thousandths = 1500\nratio_period_us = 1\nratio_other = 11\n");
	assert_int_equal(counters_rdmsr(rig.p, 0x1A4, &v, &f), ST_FAULT);
	assert_int_equal(counters_wrmsr(rig.p, 0x1A4, 0xF, &f), ST_FAULT);
	pmu_start_sequence(&rig);
	for (unsigned n = 0; n < 2; n++)
		pmu_write(&rig, 0x186 + n, EN_OS | 0xC0);
	pmu_write(&rig, 0x38F, 3);
	pmu_run(&rig, 100, 1);
	assert_int_equal(pmu_read(&rig, 0xC1), 150);
	assert_int_equal(pmu_read(&rig, 0xC2), 0);
	pmu_run(&rig, 20000, 0); /* alternately 1 us at ratio 22 and 1 us at ratio 11: MPERF runs ahead of APERF */
	assert_true(pmu_read(&rig, 0xE7) > pmu_read(&rig, 0xE8) * 5 / 4);
	pmu_close(&rig);

	pmu_open(&rig, "nehalem-ep", "[fault]\nprefetch_locked = 2\nprefetch_ignored = 4\nfirmware_counting = 1\n");
	assert_int_equal(rig.prefetch_off, 0);
	assert_int_equal(counters_wrmsr(rig.p, 0x1A4, 0xF, &f), ST_OK);
	assert_int_equal(f.kind, FIND_IGNORED);
	assert_int_equal(pmu_read(&rig, 0x1A4), 0xD);
	assert_int_equal(rig.prefetch_off, 0x9);
	pmu_run(&rig, 10, 1);
	assert_int_equal(pmu_read(&rig, 0x186) & 0x400000, 0x400000);
	assert_int_equal(pmu_read(&rig, 0xC1), 10);
	pmu_close(&rig);
}

static void test_cpuid_tells_what_the_machine_file_says(void **state)
{
	(void)state;
	uint32_t r[4];
	pmu_open(&rig, "nehalem-ep", "");
	counters_cpuid(rig.p, 0, 0, r);
	assert_int_equal(r[0], 11);
	assert_memory_equal(&r[1], "Genu", 4);
	assert_memory_equal(&r[3], "ineI", 4);
	assert_memory_equal(&r[2], "ntel", 4);
	counters_cpuid(rig.p, 1, 0, r);
	assert_int_equal(r[0], 0x106A5);
	assert_int_equal(r[2] >> 31, 0); /* no hypervisor */
	assert_int_equal(r[2] >> 15 & 1, 1);
	counters_cpuid(rig.p, 0xA, 0, r);
	assert_int_equal(r[0], 0x07300403);
	assert_int_equal(r[1], 0x44);
	assert_int_equal(r[3], 0x603);
	counters_cpuid(rig.p, 4, 3, r);
	assert_int_equal(r[0] & 0xFF, 0x63); /* unified, level 3 */
	assert_int_equal(((r[1] >> 22) + 1) * ((r[1] & 0xFFF) + 1) * (r[2] + 1), 8388608);
	counters_cpuid(rig.p, 4, 4, r);
	assert_int_equal(r[0], 0);
	counters_cpuid(rig.p, 0xB, 1, r);
	assert_int_equal(r[1], 4);
	/* limited to leaf 3 by MISC_ENABLE bit 22: leaf 0xA answers as the highest leaf does */
	struct sim_finding f = { 0 };
	assert_int_equal(counters_wrmsr(rig.p, 0x1A0, pmu_read(&rig, 0x1A0) | 1 << 22, &f), ST_OK);
	counters_cpuid(rig.p, 0, 0, r);
	assert_int_equal(r[0], 3);
	counters_cpuid(rig.p, 0xA, 0, r);
	assert_int_equal(r[0], 0);
	pmu_close(&rig);
}

/* Shifted by the bits that leaf 4 reports for a cache, the APIC IDs of its cores are equal and those of others differ, also where the number of
 * cores is no power of two. */
static void test_cpuid_apic_ids_differ_by_l2(void **state)
{
	(void)state;
	static const struct { const char *machine; uint64_t cores, shared; } cases[] = {
		{ "core2", 6, 3 }, { "core2", 15, 5 }, { "core2", 4, 2 }, { "nehalem-ep", 6, 6 }, { "nehalem-ep", 12, 3 }, { "nehalem-ep", 5, 1 } };
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		pmu_open(&rig, cases[i].machine, "");
		rig.m.topology_sockets = 2;
		rig.m.topology_cores = cases[i].cores;
		rig.m.l2_cores = cases[i].shared;
		const unsigned of_l2 = (unsigned)(rig.m.l2_cores * rig.m.topology_threads), each = (unsigned)(rig.m.topology_cores * rig.m.topology_threads);
		uint32_t id[64], r[4];
		unsigned l2 = 0, socket = 0;
		void *at = calloc(1, counters_bytes(&rig.m));
		for (unsigned t = 0; t < 2 * each; t++) {
			const struct counters *p = counters_init(at, &rig.m, t, rig.signals);
			counters_cpuid(p, 1, 0, r);
			id[t] = r[1] >> 24;
			socket = 0;
			while (1u << socket < (r[1] >> 16 & 0xFF))
				socket++;
			counters_cpuid(p, 4, 2, r);
			l2 = 0;
			while (1u << l2 < (r[0] >> 14 & 0xFFF) + 1)
				l2++;
		}
		free(at);
		for (unsigned a = 0; a < 2 * each; a++)
			for (unsigned b = 0; b < 2 * each; b++) {
				assert_int_equal(id[a] == id[b], a == b);
				assert_int_equal(id[a] >> l2 == id[b] >> l2, a / of_l2 == b / of_l2);
				assert_int_equal(id[a] >> socket == id[b] >> socket, a / each == b / each);
			}
		pmu_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter_registers_take_their_bits_and_fault_on_others),
		cmocka_unit_test(test_counter_selects_have_a_second_mask_where_the_machine_says_so),
		cmocka_unit_test(test_counter_matches_its_event_by_both_masks),
		cmocka_unit_test(test_counter_read_only_and_absent_registers),
		cmocka_unit_test(test_counter_start_sequence_is_needed_and_flagged),
		cmocka_unit_test(test_counter_values_overflow_at_width_and_set_status),
		cmocka_unit_test(test_counter_selectors_that_count_nothing_are_flagged),
		cmocka_unit_test(test_counter_cmask_inv_edge_reach_the_tap),
		cmocka_unit_test(test_counter_clocks_and_their_writes),
		cmocka_unit_test(test_counter_machine_faults_act),
		cmocka_unit_test(test_cpuid_tells_what_the_machine_file_says),
		cmocka_unit_test(test_cpuid_apic_ids_differ_by_l2),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
