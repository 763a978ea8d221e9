/* Replacement and reservations against naive models; even use of slices; ready times beyond 32 bits; equality of two runs. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "pmu/sim/memory/cache.h"
#include "pmu/sim/memory/reservation.h"
#include "tests/unit/rigs/memory_rig.h"

static uint64_t random_state = 1;
static unsigned dice(unsigned n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((random_state >> 33) % n);
}

static void open_cache(struct cache *c, void **at, uint32_t sets, uint32_t ways, uint32_t slices, bool hash, enum replacement policy)
{
	struct arena count = { 0 };
	cache_init(c, &count, sets, ways, slices, hash, policy, 0);
	*at = aligned_alloc(64, (count.used + 63) & ~(size_t)63);
	memset(*at, 0, count.used);
	struct arena a = { .at = *at };
	cache_init(c, &a, sets, ways, slices, hash, policy, 0);
	assert_int_equal(a.used, count.used);
}

/* Naive model of a set: each line's age; for tree replacement a bit for each node, which is a range of ways. */
struct naive { enum replacement policy; unsigned ways, held; uint32_t line[64]; unsigned age[64]; bool right[64][65]; unsigned clock; };

static void naive_point_away(struct naive *n, unsigned way, unsigned low, unsigned width)
{
	if (width == 1)
		return;
	const bool in_right = way >= low + width / 2;
	n->right[low][width] = !in_right;
	naive_point_away(n, way, in_right ? low + width / 2 : low, width / 2);
}

static unsigned naive_follow(const struct naive *n, unsigned low, unsigned width)
{
	if (width == 1)
		return low;
	const bool right = n->right[low][width] && low + width / 2 < n->ways;
	return naive_follow(n, right ? low + width / 2 : low, width / 2);
}

static bool naive_access(struct naive *n, uint32_t line, uint32_t *victim)
{
	unsigned width = 1, way = 64;
	while (width < n->ways)
		width *= 2;
	*victim = CACHE_NONE;
	for (unsigned i = 0; i < n->ways; i++)
		if (n->line[i] == line)
			way = i;
	const bool hit = way < 64;
	for (unsigned i = 0; !hit && way == 64 && i < n->ways; i++)
		if (n->line[i] == CACHE_NONE)
			way = i;
	if (way == 64) {
		way = 0;
		if (n->policy == REPLACE_TREE)
			way = naive_follow(n, 0, width);
		for (unsigned i = 0; n->policy == REPLACE_LRU && i < n->ways; i++)
			if (n->age[i] < n->age[way])
				way = i;
		*victim = n->line[way];
	}
	n->line[way] = line;
	n->age[way] = ++n->clock;
	naive_point_away(n, way, 0, width);
	return hit;
}

static void against_naive(enum replacement policy, unsigned ways)
{
	struct cache c;
	void *at;
	open_cache(&c, &at, 4, ways, 1, false, policy);
	struct naive n[4];
	memset(n, 0, sizeof(n));
	for (unsigned i = 0; i < 4; i++) {
		n[i].policy = policy;
		n[i].ways = ways;
		memset(n[i].line, 0xFF, sizeof(n[i].line));
	}
	for (unsigned step = 0; step < 20000; step++) {
		const uint32_t line = dice(4 * ways * 3 / 2 + 8);
		uint32_t i = cache_find(&c, line), victim, wanted;
		const bool hit = naive_access(&n[line % 4], line, &wanted);
		assert_int_equal(i != CACHE_NONE, hit);
		if (hit) {
			cache_touch(&c, i);
			continue;
		}
		i = cache_victim(&c, line);
		victim = cache_tag(&c, i);
		assert_int_equal(victim, wanted);
		cache_put(&c, i, line, 0, LINE_E);
	}
	free(at);
}

static void test_cache_lru_and_tree_are_the_naive_ones(void **state)
{
	(void)state;
	static const unsigned ways[] = { 1, 2, 4, 7, 8, 11, 12, 16, 20, 33, 64 };
	for (unsigned i = 0; i < COUNT_OF(ways); i++) {
		against_naive(REPLACE_LRU, ways[i]);
		against_naive(REPLACE_TREE, ways[i]);
	}
}

static void test_cache_random_is_even_and_fills_empty_ways_first(void **state)
{
	(void)state;
	struct cache c;
	void *at;
	open_cache(&c, &at, 1, 6, 1, false, REPLACE_RANDOM);
	unsigned times[6] = { 0 };
	for (uint32_t i = 0; i < 6; i++) {
		const uint32_t v = cache_victim(&c, i);
		assert_int_equal(cache_tag(&c, v), CACHE_NONE);
		cache_put(&c, v, i, 0, LINE_E);
	}
	for (unsigned i = 0; i < 60000; i++)
		times[cache_victim(&c, 100)]++;
	for (unsigned i = 0; i < 6; i++)
		assert_in_range(times[i], 9500, 10500);
	free(at);
}

/* A removed line's way is the next that is filled. */
static void test_cache_drop_makes_room(void **state)
{
	(void)state;
	for (unsigned policy = REPLACE_LRU; policy <= REPLACE_RANDOM; policy++) {
		struct cache c;
		void *at;
		open_cache(&c, &at, 1, 20, 1, false, (enum replacement)policy);
		for (uint32_t i = 0; i < 20; i++)
			cache_put(&c, cache_victim(&c, i), i, 0, LINE_E);
		const uint32_t gone = cache_find(&c, 7);
		cache_drop(&c, gone);
		assert_int_equal(cache_find(&c, 7), CACHE_NONE);
		assert_int_equal(cache_victim(&c, 99), gone);
		assert_int_equal(c.used, 19);
		free(at);
	}
}

/* Any aligned buffer as large as the L3 fits: each set of each slice gets as many lines as it has ways. */
static void test_cache_slices_share_evenly(void **state)
{
	(void)state;
	static const struct { uint32_t slices, sets, ways; bool hash; } g[] = {
		{ 1, 64, 4, false }, { 4, 256, 16, false }, { 4, 256, 16, true }, { 18, 18 * 64, 20, true }, { 28, 28 * 32, 11, true }, { 6, 6 * 16, 5, false },
	};
	for (unsigned i = 0; i < COUNT_OF(g); i++) {
		struct cache c;
		void *at;
		open_cache(&c, &at, g[i].sets, g[i].ways, g[i].slices, g[i].hash, REPLACE_LRU);
		const uint32_t lines = g[i].sets * g[i].ways;
		unsigned slice[64] = { 0 }, same = 0;
		for (uint32_t l = 0; l < lines; l++) {
			const uint32_t v = cache_victim(&c, l + 5 * lines);
			assert_int_equal(cache_tag(&c, v), CACHE_NONE);
			cache_put(&c, v, l + 5 * lines, 0, LINE_E);
			slice[cache_slice(&c, l + 5 * lines)]++;
			same += cache_slice(&c, l + 5 * lines) == (l + 5 * lines) % g[i].slices;
		}
		assert_int_equal(c.used, lines);
		for (uint32_t k = 0; k < g[i].slices; k++)
			assert_int_equal(slice[k], lines / g[i].slices);
		if (g[i].hash)
			assert_true(same < lines / 2);
		else
			assert_int_equal(same, lines);
		free(at);
	}
}

/* Times are stored in 32 bits. At any time a line in flight has its ready time, and a line that arrived long ago is a hit. */
static void test_cache_ready_times_outlive_their_32_bits(void **state)
{
	(void)state;
	struct rig r;
	rig_preset(&r);
	rig_open(&r);
	const uint64_t dram = rig_l3(&r.m, 0) + rig_ps(&r.m, r.m.dram_local_ps), old = 0x40000;
	(void)rig_access(&r, 0, MEM_LOAD, old, 1000);
	/* two lines that arrive just before and just after 2^32, requested again while in flight */
	const uint64_t most = 1ull << 32, before = most - 10 - dram;
	assert_int_equal(rig_access(&r, 0, MEM_LOAD, 0x80000, before).ready, most - 10);
	assert_int_equal(rig_access(&r, 0, MEM_LOAD, 0x90000, before + 30).ready, most + 20);
	assert_int_equal(rig_access(&r, 0, MEM_LOAD, 0x80000, before + 60).ready, most - 10);
	assert_int_equal(rig_access(&r, 0, MEM_LOAD, 0x90000, before + 60).ready, most + 20);
	for (uint64_t i = 0; i < 48; i++) { /* beyond 2^34, in steps that are no power of two */
		const uint64_t t = most + 5000 + i * 0x17000001, pa = 0x100000 + i * 0x1040;
		assert_int_equal(rig_access(&r, 0, MEM_LOAD, pa, t).ready, t + dram);
		const struct mem_reply under_way = rig_access(&r, 0, MEM_LOAD, pa, t + 10);
		assert_int_equal(under_way.source, SRC_LFB);
		assert_int_equal(under_way.ready, t + dram);
		const uint64_t there[] = { pa, old, i ? pa - 0x1040 : pa };
		for (unsigned n = 0; n < COUNT_OF(there); n++) {
			const struct mem_reply hit = rig_access(&r, 0, MEM_LOAD, there[n], t + 5000);
			assert_int_equal(hit.source, SRC_L1);
			assert_int_equal(hit.ready, t + 5000 + r.m.l1d_cycles);
		}
	}
	rig_close(&r);
}

static uint64_t fingerprint(void)
{
	struct rig r;
	rig_preset(&r);
	r.m.prefetch_present = 15;
	r.m.l3_policy = r.m.l2_policy = REPLACE_RANDOM;
	r.m.dram_open_page = 1;
	rig_open(&r);
	random_state = 77;
	uint64_t sum = 0, t = 1000;
	for (unsigned i = 0; i < 200000; i++) {
		static const enum mem_kind kinds[] = { MEM_LOAD, MEM_LOAD, MEM_LOAD, MEM_RFO, MEM_NT_STORE, MEM_IFETCH, MEM_FLUSH, MEM_PREFETCH_T1 };
		const enum mem_kind k = kinds[dice(8)];
		const uint64_t pa = (dice(2) ? r.m.dram_node_bytes : 0) + (uint64_t)dice(1 << 20) * 8;
		const struct mem_reply a = rig_access(&r, dice(8), k, pa, t + dice(400));
		sum = sum * 31 + a.ready + (unsigned)a.source;
		t += dice(30);
	}
	rig_close(&r);
	return sum;
}

static void test_memory_twice_the_same(void **state)
{
	(void)state;
	const uint64_t a = fingerprint();
	assert_true(a == fingerprint());
}

#define USES 6000u
#define USES_LOOK 400u /* uses further back have ended */

/* Naive model: all uses so far, counted for each cycle. */
struct naive_pool { uint64_t from[USES], to[USES]; unsigned count; };
static unsigned held_at(const struct naive_pool *n, uint64_t t)
{
	unsigned held = 0;
	for (unsigned i = n->count > USES_LOOK ? n->count - USES_LOOK : 0; i < n->count; i++)
		held += n->from[i] <= t && t < n->to[i];
	return held;
}

static unsigned end_later(const struct naive_pool *n, uint64_t t)
{
	unsigned later = 0;
	for (unsigned i = n->count > USES_LOOK ? n->count - USES_LOOK : 0; i < n->count; i++)
		later += n->to[i] > t;
	return later;
}

static uint64_t naive_start(const struct naive_pool *n, uint64_t t, uint64_t cycles, unsigned most)
{
	for (uint64_t start = t, at = t;; at++)
		if (held_at(n, at) >= most)
			start = at + 1;
		else if (at + 1 == start + cycles)
			return start;
}

/* Requests out of order in time, some held longer than expected. They start at once, behind a full stretch, or behind one that begins before they would end. */
static void test_pool_starts_where_the_naive_one_does(void **state)
{
	(void)state;
	for (unsigned entries = 2; entries <= 12; entries += 5) {
		static struct naive_pool n;
		struct pool p;
		struct pool_use *use = calloc(1, pool_bytes(entries, 128));
		uint64_t now = 3000;
		unsigned later = 0, full = 0, without = 0;
		n.count = 0;
		pool_init(&p, entries, 128, use);
		while (n.count < USES) {
			const uint64_t t = now + dice(1000), cycles = 1 + dice(60);
			const unsigned withheld = dice(4) ? 0 : dice(entries), most = entries - withheld;
			const uint64_t start = naive_start(&n, t, cycles, most);
			const bool is_full = held_at(&n, t) >= most;
			if (dice(2)) { /* half of the searches follow a query, which may record a full stretch */
				assert_int_equal(pool_is_full_at(&p, t, most), is_full);
				if (!is_full)
					assert_int_equal(pool_has_stretch(&p, t, cycles, most), start == t);
			}
			assert_int_equal(pool_start(&p, t, cycles, withheld), start);
			n.from[n.count] = start;
			n.to[n.count] = start + cycles + (dice(3) ? 0 : dice(60));
			pool_add(&p, start, n.to[n.count], n.count, 0);
			n.count++;
			later += start > t;
			full += is_full;
			without += start > t && !is_full;
			now += dice(2 * 50 / entries + 2);
			while (end_later(&n, now) > 100) /* fewer than the pool remembers */
				now += 50;
		}
		assert_true(later > USES / 20 && full > USES / 40 && without > USES / 200);
		free(use);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cache_lru_and_tree_are_the_naive_ones),
		cmocka_unit_test(test_cache_random_is_even_and_fills_empty_ways_first),
		cmocka_unit_test(test_cache_drop_makes_room),
		cmocka_unit_test(test_cache_slices_share_evenly),
		cmocka_unit_test(test_cache_ready_times_outlive_their_32_bits),
		cmocka_unit_test(test_memory_twice_the_same),
		cmocka_unit_test(test_pool_starts_where_the_naive_one_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
