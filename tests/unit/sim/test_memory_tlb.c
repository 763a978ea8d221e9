/* Translation against the machine's fields: the level that answers, its cost, the loads of a walk. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/unit/rigs/memory_rig.h"

#define FAR 100000u

static struct tlb_reply ask(struct rig *r, uint64_t pa, enum translate_for what, uint64_t t)
{
	struct tlb_reply a;
	assert_int_equal(memory_translate(r->s, 0, 0, RIG_VA + pa, what, t, &a), ST_OK);
	assert_int_equal(a.pa, pa);
	return a;
}

static uint64_t cold(const struct machine *m) { return rig_l3(m, 0) + rig_ps(m, m->dram_local_ps); }

static void test_tlb_translations_are_found_in_the_nearest_level(void **state)
{
	(void)state;
	struct rig r;
	rig_preset(&r);
	rig_open(&r);
	const struct machine *m = &r.m;
	uint64_t t = FAR;
	/* nothing cached: four loads of different lines, all from memory */
	struct tlb_reply a = ask(&r, 0x5123, FOR_LOAD, t);
	assert_int_equal(a.level, 3);
	assert_int_equal(a.walk_from, t + m->stlb_cycles);
	assert_int_equal(a.ready, t + m->stlb_cycles + m->walk_cycles + 4 * cold(m));
	assert_int_equal(a.walk_to, a.ready);
	a = ask(&r, 0x5FFF, FOR_LOAD, t += FAR);
	assert_int_equal(a.level, 1);
	assert_int_equal(a.ready, t);
	assert_int_equal(a.walk_from, a.walk_to);
	/* the next page: PDE cached, its PTE lies in the same line, now in the L1D */
	a = ask(&r, 0x6000, FOR_STORE, t += FAR);
	assert_int_equal(a.level, 3);
	assert_int_equal(a.ready - t, m->stlb_cycles + m->walk_cycles + m->l1d_cycles);
	/* eight pages on: a new line of PTEs */
	a = ask(&r, 0xE000, FOR_LOAD, t += FAR);
	assert_int_equal(a.ready - t, m->stlb_cycles + m->walk_cycles + cold(m));
	/* another 2 MiB: PDPTE cached; the PDE's line is in the L1D, the PTE's is not */
	a = ask(&r, 0x205000, FOR_LOAD, t += FAR);
	assert_int_equal(a.ready - t, m->stlb_cycles + m->walk_cycles + m->l1d_cycles + cold(m));
	/* beyond the first level, within the second: 16 sets of 4 ways */
	for (uint64_t i = 1; i <= 5; i++)
		(void)ask(&r, 0x5000 + i * 16 * 4096, FOR_LOAD, t += FAR);
	a = ask(&r, 0x5000, FOR_LOAD, t += FAR);
	assert_int_equal(a.level, 2);
	assert_int_equal(a.ready - t, m->stlb_cycles);
	/* code has a first level of its own, and shares the second */
	a = ask(&r, 0x5000, FOR_CODE, t += FAR);
	assert_int_equal(a.level, 2);
	struct tlb_reply none;
	assert_int_equal(memory_translate(r.s, 0, 0, RIG_VA - 4096, FOR_LOAD, t, &none), ST_FAULT);
	/* flushed: the range alone, then all */
	memory_tlb_flush(r.s, RIG_VA + 0x5000, 4096);
	assert_int_equal(ask(&r, 0x5000, FOR_LOAD, t += FAR).level, 3);
	assert_int_equal(ask(&r, 0xE000, FOR_LOAD, t += FAR).level, 1);
	memory_tlb_flush(r.s, 0, 0);
	a = ask(&r, 0xE000, FOR_LOAD, t += FAR);
	assert_int_equal(a.ready - t, m->stlb_cycles + m->walk_cycles + 4 * m->l1d_cycles);
	rig_close(&r);
}

/* Two passes over consecutive pages: the level of the last access shows which level holds them. */
static unsigned level_of_run(uint64_t page_bytes, uint64_t pages, uint64_t stlb_large, uint64_t huge)
{
	struct rig r;
	rig_preset(&r);
	r.page_bytes = page_bytes;
	r.m.stlb_large = stlb_large;
	r.m.dtlb_huge_entries = huge;
	r.m.dram_node_bytes = 32ull << 30;
	rig_open(&r);
	uint64_t t = FAR;
	unsigned level = 0;
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint64_t i = 0; i < pages; i++)
			level = ask(&r, i * page_bytes, FOR_LOAD, t += FAR).level;
	rig_close(&r);
	return level;
}

static void test_tlb_levels_reach_as_far_as_their_entries(void **state)
{
	(void)state;
	assert_int_equal(level_of_run(4096, 64, 0, 0), 1);
	assert_int_equal(level_of_run(4096, 128, 0, 0), 2);
	assert_int_equal(level_of_run(4096, 512, 0, 0), 2);
	assert_int_equal(level_of_run(4096, 1024, 0, 0), 3);
	assert_int_equal(level_of_run(2 << 20, 32, 0, 0), 1);
	assert_int_equal(level_of_run(2 << 20, 64, 0, 0), 3);
	assert_int_equal(level_of_run(2 << 20, 64, 1, 0), 2);
	assert_int_equal(level_of_run(1 << 30, 4, 0, 4), 1);
	assert_int_equal(level_of_run(1 << 30, 8, 0, 4), 3);
}

static void test_tlb_large_pages_walk_less(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct rig r;
		rig_preset(&r);
		r.page_bytes = k ? 1 << 30 : 2 << 20;
		rig_open(&r);
		const struct tlb_reply a = ask(&r, 0x123, FOR_LOAD, FAR);
		assert_int_equal(a.ready - FAR, r.m.stlb_cycles + r.m.walk_cycles + (k ? 2 : 3) * cold(&r.m));
		rig_close(&r);
	}
}

static void test_tlb_walks_wait_for_a_free_walker(void **state)
{
	(void)state;
	for (uint64_t walkers = 1; walkers <= 2; walkers++) {
		struct rig r;
		rig_preset(&r);
		r.m.walk_walkers = walkers;
		rig_open(&r);
		(void)ask(&r, 0x0, FOR_LOAD, FAR); /* caches the upper levels */
		(void)ask(&r, 0x100000, FOR_LOAD, 2 * FAR);
		rig_listen(&r, 0, 0, SIG_DTLB_MISS);
		rig_listen(&r, 0, 1, SIG_DTLB_WALK_COMPLETED);
		rig_listen(&r, 0, 2, SIG_DTLB_WALK_CYCLES);
		const uint64_t t = 3 * FAR;
		const struct tlb_reply a = ask(&r, 0x8000, FOR_LOAD, t), b = ask(&r, 0x108000, FOR_LOAD, t);
		const struct tlb_reply same = ask(&r, 0x8008, FOR_LOAD, t + 1);
		assert_int_equal(b.walk_from, walkers == 1 ? a.walk_to : a.walk_from);
		assert_int_equal(same.ready, a.ready);
		assert_int_equal(same.level, 3);
		assert_int_equal(same.walk_from, same.walk_to);
		assert_int_equal(rig_count(&r, 0, 0), 3);
		assert_int_equal(rig_count(&r, 0, 1), 2);
		assert_int_equal(rig_count(&r, 0, 2), (a.walk_to - a.walk_from) + (b.walk_to - b.walk_from));
		rig_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tlb_translations_are_found_in_the_nearest_level),
		cmocka_unit_test(test_tlb_levels_reach_as_far_as_their_entries),
		cmocka_unit_test(test_tlb_large_pages_walk_less),
		cmocka_unit_test(test_tlb_walks_wait_for_a_free_walker),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
