/* Working sets: each ring is one cycle through all its nodes, its size aims at one level, and a level without a ring has a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "bench/measure/layout.h"

/* Nehalem-EP's caches and TLBs. */
static struct cpu nehalem(void)
{
	struct cpu c = { .cache_count = 3, .tlb = { .dtlb_4k = 64, .dtlb_2m = 32, .stlb_4k = 512 } };
	c.caches[0] = (struct cpu_cache){ 1, 'D', 8, 64, 32768, 2, false };
	c.caches[1] = (struct cpu_cache){ 2, 'U', 8, 64, 262144, 2, false };
	c.caches[2] = (struct cpu_cache){ 3, 'U', 16, 64, 8388608, 16, true };
	return c;
}

/* Follows the chain from `start`; returns the steps until it is back there. */
static uint32_t cycle_length(const struct mapping *m, uint64_t start)
{
	uint64_t at = start;
	uint32_t steps = 0;
	do {
		assert_true(at >= m->va && at < m->va + m->bytes && at % 64 == 0);
		at = *(uint64_t *)((uint8_t *)m->host + (at - m->va));
		steps++;
	} while (at != start && steps < 1u << 24);
	return steps;
}

static void test_layout_every_chase_is_one_cycle(void **state)
{
	(void)state;
	struct cpu cpu = nehalem();
	for (unsigned i = 0; i < rows_count; i++) {
		struct shape s;
		char why[128];
		struct random random;
		if (rows[i].order == ORDER_STREAMS || rows[i].order == ORDER_PAIR || rows[i].order == ORDER_CURVE || rows[i].page_bytes == PAGE_1G) /* no ring, linked elsewhere, or too large */
			continue;
		assert_int_equal(shape_of_test(&rows[i], &cpu, &s, why, sizeof(why)), ST_OK);
		for (uint64_t seed = 1; seed <= (s.nodes < 10000 ? 20 : 1); seed++) {
			struct mapping m = { .va = SPACE_DATA, .bytes = s.span_bytes, .host = calloc(1, s.span_bytes) };
			uint32_t *work = malloc(2 * sizeof(uint32_t) * s.nodes);
			uint64_t first = 0;
			random_init(&random, seed);
			shape_link(&s, &m, &random, work);
			while (!*(uint64_t *)((uint8_t *)m.host + first))
				first += 64;
			assert_int_equal(cycle_length(&m, m.va + first), s.nodes);
			free(work);
			free(m.host);
		}
	}
}

static void test_layout_cycle_is_sattolo_for_all_sizes(void **state)
{
	(void)state;
	struct random random;
	random_init(&random, 7);
	for (uint32_t n = 2; n < 200; n++) {
		uint32_t next[200], at = 0, steps = 0;
		random_cycle(&random, next, n);
		do {
			at = next[at];
			steps++;
		} while (at != 0 && steps <= n);
		assert_int_equal(steps, n);
	}
}

/* Group order visits every other group once between two uses of a line of page-table entries. */
static void test_layout_page_groups_return_after_all_others(void **state)
{
	(void)state;
	struct cpu cpu = nehalem();
	struct shape s;
	char why[128];
	struct random random;
	assert_int_equal(shape_of_test(row_find("tlb.stlb_walk_4k.penalty"), &cpu, &s, why, sizeof(why)), ST_OK);
	struct mapping m = { .va = SPACE_DATA, .bytes = s.span_bytes, .host = calloc(1, s.span_bytes) };
	uint32_t *work = malloc(2 * sizeof(uint32_t) * s.nodes), last[4096] = { 0 };
	random_init(&random, 3);
	shape_link(&s, &m, &random, work);
	uint64_t at = m.va;
	for (uint32_t step = 1; step <= 2 * s.nodes; step++) {
		uint32_t group = (uint32_t)((at - m.va) / 4096 / 8);
		if (last[group])
			assert_int_equal(step - last[group], s.nodes / 8);
		last[group] = step;
		at = *(uint64_t *)((uint8_t *)m.host + (at - m.va));
	}
	free(work);
	free(m.host);
}

/* If the second level holds pages of 2 MiB too, the ring visits twice as many pages as that level holds, each once. The eight pages whose
 * entries share a line of the page table follow each other, and the ring takes at most half the ways of any L2 set. */
static void test_layout_large_pages_exceed_both_levels(void **state)
{
	(void)state;
	struct cpu cpu = nehalem();
	struct shape s;
	char why[128];
	struct random random;
	assert_int_equal(shape_of_test(row_find("tlb.walk_2m.penalty"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_int_equal(s.nodes, 2 * cpu.tlb.dtlb_2m);
	cpu.tlb.stlb_2m = 1024;
	assert_int_equal(shape_of_test(row_find("tlb.walk_2m.penalty"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_int_equal(s.nodes, 2 * 1024);
	assert_int_equal(s.span_bytes, s.nodes * PAGE_2M);
	struct mapping m = { .va = SPACE_DATA, .bytes = s.span_bytes,
	                     .host = mmap(NULL, s.span_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) };
	assert_ptr_not_equal(m.host, MAP_FAILED);
	assert_int_equal(madvise(m.host, m.bytes, MADV_NOHUGEPAGE), 0);
	uint32_t *work = malloc(2 * sizeof(uint32_t) * s.nodes), neighbours = 0;
	unsigned in_set[512] = { 0 };
	bool seen[2048] = { false };
	random_init(&random, 3);
	shape_link(&s, &m, &random, work);
	uint64_t at = m.va, group = 0;
	for (uint32_t step = 0; step < s.nodes; step++) {
		uint64_t page = (at - m.va) / PAGE_2M;
		assert_false(seen[page]);
		seen[page] = true;
		assert_true(++in_set[at / 64 % 512] <= 4);
		neighbours += step && page / 8 == group;
		group = page / 8;
		at = *(uint64_t *)((uint8_t *)m.host + (at - m.va));
	}
	assert_int_equal(at, m.va);
	assert_in_range(neighbours, s.nodes / 8 * 7 - 1, s.nodes / 8 * 7);
	free(work);
	munmap(m.host, m.bytes);
	cpu.tlb.stlb_2m = 4096;
	assert_int_equal(shape_of_test(row_find("tlb.walk_2m.penalty"), &cpu, &s, why, sizeof(why)), ST_UNSUPPORTED);
	assert_string_equal(why, "one line a page would not stay in the L2");
}

static void test_layout_footprints_follow_the_caches(void **state)
{
	(void)state;
	struct cpu cpu = nehalem();
	struct shape s, base;
	char why[128];
	assert_int_equal(shape_of_test(row_find("load.l1.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_in_range(s.bytes, 20000, 32768 / 3 * 2);
	assert_int_equal(shape_of_test(row_find("load.l2.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_in_range(s.bytes, 2 * 32768, 262144 / 3 * 2);
	assert_int_equal(shape_of_test(row_find("load.l3.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_in_range(s.bytes, 2 * 262144, 8388608 / 3 * 2);
	assert_int_equal(shape_of_test(row_find("load.dram_local_big.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_in_range(s.bytes, 6 * 8388608 - 1024, 6 * 8388608);
	assert_int_equal(shape_of_test(row_find("tlb.dtlb_4k.penalty"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_in_range(s.nodes, 2 * 64, 512 / 2);
	assert_int_equal(shape_of_baseline(row_find("tlb.dtlb_4k.penalty"), &cpu, &s, &base, why, sizeof(why)), ST_OK);
	assert_int_equal(base.nodes, s.nodes);
	assert_int_equal(base.span_bytes, s.nodes * 64);
	assert_int_equal(shape_of_test(row_find("tlb.stlb_walk_4k.penalty"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_in_range(s.nodes, 2 * 512, 4 * 512);
	assert_int_equal(shape_of_test(row_find("triad.l2.bandwidth"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_in_range(s.bytes, 2 * 32768, 262144 / 4 * 3);
	assert_int_equal(s.array_bytes & (s.array_bytes - 1), 0);
	assert_int_equal(shape_of_test(row_find("triad.dram.bandwidth"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_true(s.bytes >= 6 * 8388608);
}

static void test_layout_an_l2_of_two_ways_gives_two_thirds(void **state)
{
	(void)state;
	struct cpu cpu = nehalem();
	struct shape s, base;
	char why[128];
	cpu.caches[1].ways = 2; /* eight times the L1 */
	assert_int_equal(shape_of_test(row_find("load.l2.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_in_range(s.bytes, 5 * 32768, 262144 / 3 * 2);
	/* the baseline's ring shares its sets with one line of the test's ring each, not two */
	assert_int_equal(shape_of_test(row_find("load.l2.penalty"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_int_equal(shape_of_baseline(row_find("load.l2.penalty"), &cpu, &s, &base, why, sizeof(why)), ST_OK);
	assert_int_equal(base.start_bytes, s.bytes - 131072);
	assert_int_equal(base.bytes, 4096);
	assert_int_equal(base.span_bytes, base.start_bytes + base.bytes);
	struct random random = { 0 };
	assert_int_equal(shape_node(&base, 1, &random), base.start_bytes + 64);
	cpu.caches[1].bytes = 16 * 32768; /* half of these lines are enough */
	assert_int_equal(shape_of_test(row_find("load.l2.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_int_equal(s.bytes, 6 * 32768);
}

/* An array in memory is long enough for 24 pairs of windows, sized by a large L1, and for filling the last level before them: no stream wraps. */
static void test_layout_arrays_in_memory_outlast_the_windows(void **state)
{
	(void)state;
	struct cpu cpu = nehalem();
	struct shape s;
	char why[128];
	cpu.cache_count = 2;
	cpu.caches[0].bytes = 131072;
	cpu.caches[1].bytes = 524288;
	assert_int_equal(shape_of_test(row_find("write.dram.bandwidth"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_true(s.array_bytes >= 24 * (2 * 2 * 131072 + 1024 * 256) + 5 * 524288 / 3 * 4);
}

/* Last levels of Emerald and Granite Rapids: 320 and 504 MiB. */
static void test_layout_arrays_exceed_a_last_level_of_hundreds_of_mebibytes(void **state)
{
	(void)state;
	struct cpu cpu = nehalem();
	struct shape s;
	char why[128];

	for (unsigned mebibytes = 320; mebibytes <= 504; mebibytes += 184) {
		cpu.caches[2].bytes = (uint64_t)mebibytes << 20;
		assert_int_equal(shape_of_test(row_find("triad.dram.bandwidth"), &cpu, &s, why, sizeof(why)), ST_OK);
		assert_int_equal(s.array_bytes, PAGE_1G);
		assert_int_equal(shape_of_test(row_find("load.dram_local_big.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
		assert_int_equal(s.bytes, 6 * cpu.caches[2].bytes);
	}
	cpu.caches[2].bytes = 1100ull << 20;
	assert_int_equal(shape_of_test(row_find("triad.dram.bandwidth"), &cpu, &s, why, sizeof(why)), ST_UNSUPPORTED);
	assert_string_equal(why, "six times the last-level cache is more than 6 GiB");
}

/* The ring fits in an L1 of 8 KiB, however many loads a window has. */
static void test_layout_threads_of_a_core_share_few_lines(void **state)
{
	(void)state;
	struct cpu cpu = nehalem();
	struct shape s;
	char why[128];
	assert_int_equal(shape_of_test(row_find("core_to_core.clean_same_core.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_int_equal(s.bytes, 4096);
	assert_int_equal(s.nodes, 64);
}

/* Wherever a window enters the ring of a pair of cores, its 16 loads touch all of the ring's 4 KiB pages, as 32 loads do. */
static void test_layout_windows_of_a_pair_touch_the_same_pages(void **state)
{
	(void)state;
	struct cpu cpu = nehalem();
	struct shape s;
	char why[128];
	struct random random;
	const struct row *r = row_find("core_to_core.clean_same_l2.latency");
	assert_int_equal(shape_of_test(r, &cpu, &s, why, sizeof(why)), ST_OK);
	struct mapping m = { .va = SPACE_DATA, .bytes = s.span_bytes, .host = calloc(1, s.span_bytes) };
	uint32_t *work = malloc(2 * sizeof(uint32_t) * s.nodes);
	random_init(&random, 5);
	shape_link(&s, &m, &random, work);
	for (uint64_t begin = 0; begin < s.span_bytes; begin += 64) {
		uint64_t at = m.va + begin, pages = 0;
		for (uint32_t i = 0; i < r->window; i++) {
			pages |= 1ull << (at - m.va) / 4096;
			at = *(uint64_t *)((uint8_t *)m.host + (at - m.va));
		}
		assert_int_equal(pages, (1ull << s.span_bytes / 4096) - 1);
	}
	free(work);
	free(m.host);
}

/* With one line per page, half of a 256 KiB L2 holds a third more pages than a TLB of 1536 entries, but not twice as many, nor a third more than 2048. */
static void test_layout_walks_where_the_l2_is_small(void **state)
{
	(void)state;
	struct cpu cpu = nehalem();
	struct shape s;
	char why[128];
	cpu.tlb.stlb_4k = 1536;
	assert_int_equal(shape_of_test(row_find("tlb.stlb_walk_4k.penalty"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_int_equal(s.nodes, 2048);
	cpu.tlb.stlb_4k = 2048;
	assert_int_equal(shape_of_test(row_find("tlb.stlb_walk_4k.penalty"), &cpu, &s, why, sizeof(why)), ST_UNSUPPORTED);
	assert_string_equal(why, "one line a page would not stay in the L2");
	assert_int_equal(shape_missing_pages(1536, 3072, cpu_cache(&cpu, 2), 64), 2048);
	assert_int_equal(shape_missing_pages(512, 1024, cpu_cache(&cpu, 2), 64), 1024);
	assert_int_equal(shape_missing_pages(512, 1024, NULL, 64), 0);
}

/* Walks meet four times the lines that the L1 has room for in the sets that the ring uses, and so does their baseline; unless half of the L2 has no room. */
static void test_layout_walks_leave_nothing_in_the_l1(void **state)
{
	(void)state;
	static const struct { unsigned l1, stlb, l2; uint32_t nodes, line; } cases[] = {
		{ 32768, 512, 262144, 1024, 128 }, { 32768, 1024, 262144, 2048, 64 }, { 32768, 768, 262144, 2048, 64 },
		{ 40960, 512, 262144, 1280, 64 }, { 40960, 512, 1048576, 1280, 128 }, { 32768, 1536, 1048576, 3072, 64 },
	};
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		struct cpu cpu = nehalem();
		struct shape s, base;
		char why[128];

		cpu.caches[0].bytes = cases[i].l1;
		cpu.caches[1].bytes = cases[i].l2;
		cpu.tlb.stlb_4k = cases[i].stlb;
		assert_int_equal(shape_of_test(row_find("tlb.stlb_walk_4k.penalty"), &cpu, &s, why, sizeof(why)), ST_OK);
		assert_int_equal(s.nodes, cases[i].nodes);
		assert_int_equal(s.line_bytes, cases[i].line);
		assert_int_equal(shape_of_baseline(row_find("tlb.stlb_walk_4k.penalty"), &cpu, &s, &base, why, sizeof(why)), ST_OK);
		assert_int_equal(base.nodes, s.nodes);
		assert_int_equal(base.line_bytes, s.line_bytes);
		assert_int_equal(base.start_bytes, s.line_bytes - 64); /* the other half of the L2's sets */
	}
}

/* With one line per page the ring takes at most half the ways of any set of the L1 (DTLB row) or of the L2 (walk row). */
static void test_layout_page_lines_spread_over_the_sets(void **state)
{
	(void)state;
	static const struct { const char *name; unsigned sets, most; } cases[] = {
		{ "tlb.dtlb_4k.penalty", 64, 4 }, { "tlb.stlb_walk_4k.penalty", 512, 4 },
	};
	struct cpu cpu = nehalem();
	for (unsigned c = 0; c < COUNT_OF(cases); c++) {
		struct shape s;
		char why[128];
		struct random random;
		unsigned in_set[512] = { 0 };
		random_init(&random, 1);
		assert_int_equal(shape_of_test(row_find(cases[c].name), &cpu, &s, why, sizeof(why)), ST_OK);
		for (uint32_t i = 0; i < s.nodes; i++) {
			unsigned set = (unsigned)(shape_node(&s, i, &random) / 64 % cases[c].sets);
			in_set[set]++;
			assert_true(in_set[set] <= cases[c].most);
		}
	}
}

static void test_layout_missing_levels_have_reasons(void **state)
{
	(void)state;
	struct cpu cpu = nehalem();
	struct shape s;
	char why[128];
	cpu.cache_count = 2;
	assert_int_equal(shape_of_test(row_find("load.l3.latency"), &cpu, &s, why, sizeof(why)), ST_UNSUPPORTED);
	assert_string_equal(why, "no L3 cache");
	assert_int_equal(shape_of_test(row_find("load.dram_local.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	cpu.tlb.stlb_4k = 0;
	assert_int_equal(shape_of_test(row_find("tlb.dtlb_4k.penalty"), &cpu, &s, why, sizeof(why)), ST_UNSUPPORTED);
	assert_string_equal(why, "no second-level TLB known");
	/* misses of the first level then walk: a ring of twice the L1's lines exceeds its entries */
	assert_int_equal(shape_of_test(row_find("tlb.stlb_walk_4k.penalty"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_int_equal(s.nodes, 1024);
	cpu.tlb.dtlb_4k = 0;
	assert_int_equal(shape_of_test(row_find("tlb.dtlb_4k.penalty"), &cpu, &s, why, sizeof(why)), ST_MISSING);
	cpu.caches[1].bytes = 49152;
	assert_int_equal(shape_of_test(row_find("load.l2.latency"), &cpu, &s, why, sizeof(why)), ST_UNSUPPORTED);
	assert_string_equal(why, "the level is not some three times as large as the one below");
	cpu.cache_count = 0;
	assert_int_equal(shape_of_test(row_find("load.l1.latency"), &cpu, &s, why, sizeof(why)), ST_MISSING);
	assert_int_equal(shape_of_test(row_find("triad.dram.bandwidth"), &cpu, &s, why, sizeof(why)), ST_MISSING);
}

/* Prefetchers that stay on fetch neighbouring lines. If no counter shows these, lines of another core lie in different 4 KiB pages, equally many in
 * each set of the L1, except where the DTLB holds large pages in pieces, which are too few for that. */
static void test_layout_lines_of_another_core_lie_apart(void **state)
{
	static const char *const names[] = { "load.l3_shared.latency", "load.l3_clean_other_core.latency", "load.l3_modified_other_core.penalty", "load.other_complex_clean.latency",
		"load.remote_l3_modified.latency" };
	char why[128];

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(names); i++) {
		struct cpu cpu = nehalem();
		const uint32_t in_l1_set = 1024 / 64;
		struct random random;
		unsigned sets[64] = { 0 };
		struct shape s;

		assert_int_equal(shape_of_test(row_find(names[i]), &cpu, &s, why, sizeof(why)), ST_OK);
		random_init(&random, 1);
		assert_int_equal(s.nodes, 1024);
		for (uint32_t n = 0; n < s.nodes; n++) {
			assert_true(!n || shape_node(&s, n, &random) >= shape_node(&s, n - 1, &random) + 4096);
			sets[shape_node(&s, n, &random) / 64 % 64]++;
		}
		for (unsigned n = 0; n < 64; n++)
			assert_int_equal(sets[n], in_l1_set);
		assert_int_equal(shape_of_baseline(row_find("load.l3_clean_other_core.penalty"), &cpu, &s, &s, why, sizeof(why)), ST_OK);
		assert_int_equal(s.nodes, 64); /* the ring of the L1 */
		cpu.general_mask = 15;
		assert_int_equal(shape_of_test(row_find(names[i]), &cpu, &s, why, sizeof(why)), ST_OK);
		assert_int_equal(s.span_bytes, 65536);
		cpu.general_mask = 0;
		cpu.tlb_enumerated = true;
		cpu.tlb.dtlb_2m = 0;
		assert_int_equal(shape_of_test(row_find(names[i]), &cpu, &s, why, sizeof(why)), ST_OK);
		assert_int_equal(s.span_bytes, 65536);
	}
}

/* An L2 of one way and a DTLB of few pieces or none: the search for a ring in the L3 ends. */
static void test_layout_an_l2_of_one_way_has_a_ring_beyond_it(void **state)
{
	(void)state;
	for (unsigned entries = 0; entries < 65; entries++) {
		struct cpu cpu = nehalem();
		struct shape s;
		char why[128];
		cpu.caches[1].ways = 1;
		cpu.tlb = (struct tlb_facts){ .dtlb_4k = entries };
		cpu.tlb_enumerated = true;
		assert_int_equal(shape_of_test(row_find("load.l3.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
		assert_int_equal(s.piece_bytes, entries >= 4 ? 262144 : 0);
	}
}

/* Crestmont's first-level DTLB holds a page of 2 MiB as pieces of 4 KiB, 48 in all. The L3's ring has lines in 32 pieces; 32 lines of a set evict each
 * other from an L2 of 16 ways. */
static void test_layout_pieces_of_large_pages_stay_in_the_dtlb(void **state)
{
	(void)state;
	struct cpu cpu = { .cache_count = 3, .tlb = { .dtlb_4k = 48, .stlb_4k = 3072 }, .tlb_enumerated = true };
	struct random random;
	struct shape s;
	char why[128];
	unsigned pages = 0;
	static uint8_t of_page[1024], of_set[4096];
	cpu.caches[0] = (struct cpu_cache){ 1, 'D', 8, 64, 32768, 1, false };
	cpu.caches[1] = (struct cpu_cache){ 2, 'U', 16, 64, 4194304, 4, false };
	cpu.caches[2] = (struct cpu_cache){ 3, 'U', 12, 64, 100663296, 64, false };
	random_init(&random, 1);
	assert_int_equal(shape_of_test(row_find("load.l3.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	for (uint32_t i = 0; i < s.nodes; i++) {
		const uint64_t at = shape_node(&s, i, &random);
		assert_true(at < s.span_bytes && at / 8192 < sizeof(of_page));
		pages += !of_page[at / 8192]++;
		of_set[at / 64 % 4096]++;
	}
	assert_int_equal(pages, 32);
	for (unsigned set = 0; set < 4096; set++)
		assert_true(!of_set[set] || of_set[set] == 32);
	assert_int_equal(shape_of_test(row_find("load.dram_local.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	/* no more pieces than the DTLB holds, each in its own page of 2 MiB: lines close to each other would hit an open DRAM page */
	pages = 0;
	for (uint32_t i = 0, last = UINT32_MAX; i < s.nodes; i++) {
		const uint64_t at = shape_node(&s, i, &random);
		assert_true(at < s.span_bytes && at % 0x200000 < 4096);
		pages += at / 0x200000 != last;
		last = (uint32_t)(at / 0x200000);
	}
	assert_in_range(pages, 32, 36);
	/* and loads go through all pieces in turn: two of a piece have one of each other between them, whatever banks these share */
	struct mapping m = { .va = SPACE_DATA, .bytes = s.span_bytes, .host = calloc(1, s.span_bytes) };
	uint32_t *work = malloc(2 * sizeof(uint32_t) * s.nodes), seen[36] = { 0 };
	shape_link(&s, &m, &random, work);
	uint64_t at = m.va;
	for (uint32_t step = 1; step <= 2 * s.nodes; step++) {
		const uint32_t piece = (uint32_t)((at - m.va) / 0x200000);

		if (seen[piece])
			assert_int_equal(step - seen[piece], pages);
		seen[piece] = step;
		at = *(uint64_t *)((uint8_t *)m.host + (at - m.va));
	}
	assert_int_equal(cycle_length(&m, m.va), s.nodes);
	free(work);
	free(m.host);
	assert_int_equal(s.span_bytes, pages * 0x200000);
	assert_int_equal(shape_of_test(row_find("load.dram_local_big.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_int_equal(s.region_nodes, 36 * 64);
	/* whole pages are used if the DTLB has entries for them, or if the processor does not enumerate it */
	cpu.tlb.dtlb_2m = 32;
	assert_int_equal(shape_of_test(row_find("load.l3.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_int_equal(s.span_bytes, 6 * 4194304);
	cpu.tlb.dtlb_2m = 0;
	cpu.tlb_enumerated = false;
	assert_int_equal(shape_of_test(row_find("load.dram_local.latency"), &cpu, &s, why, sizeof(why)), ST_OK);
	assert_int_equal(s.span_bytes, 16 * PAGE_2M);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout_every_chase_is_one_cycle),
		cmocka_unit_test(test_layout_cycle_is_sattolo_for_all_sizes),
		cmocka_unit_test(test_layout_page_groups_return_after_all_others),
		cmocka_unit_test(test_layout_large_pages_exceed_both_levels),
		cmocka_unit_test(test_layout_footprints_follow_the_caches),
		cmocka_unit_test(test_layout_walks_leave_nothing_in_the_l1),
		cmocka_unit_test(test_layout_page_lines_spread_over_the_sets),
		cmocka_unit_test(test_layout_an_l2_of_two_ways_gives_two_thirds),
		cmocka_unit_test(test_layout_arrays_in_memory_outlast_the_windows),
		cmocka_unit_test(test_layout_arrays_exceed_a_last_level_of_hundreds_of_mebibytes),
		cmocka_unit_test(test_layout_threads_of_a_core_share_few_lines),
		cmocka_unit_test(test_layout_windows_of_a_pair_touch_the_same_pages),
		cmocka_unit_test(test_layout_missing_levels_have_reasons), cmocka_unit_test(test_layout_walks_where_the_l2_is_small),
		cmocka_unit_test(test_layout_an_l2_of_one_way_has_a_ring_beyond_it), cmocka_unit_test(test_layout_pieces_of_large_pages_stay_in_the_dtlb),
		cmocka_unit_test(test_layout_lines_of_another_core_lie_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
