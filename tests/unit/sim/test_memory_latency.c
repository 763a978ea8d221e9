/* Each level's latency against its formula; fill buffers merge and limit misses; channels limit the bandwidth. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/unit/rigs/memory_rig.h"

#define LOAD(core, pa, t) rig_access(&r, core, MEM_LOAD, pa, t)
#define FAR 100000u /* cycles between requests that must not meet */

static void expect(struct mem_reply a, enum mem_source source, uint64_t from, uint64_t cycles)
{
	assert_int_equal(a.source, source);
	assert_int_equal(a.ready - from, cycles);
}

/* Evicts pa from the cache that has `sets` sets by loads of other lines of its set. */
static void displace(struct rig *r, uint64_t pa, uint64_t sets, uint64_t ways, uint64_t *t)
{
	for (uint64_t i = 1; i <= ways + 1; i++)
		(void)rig_access(r, 0, MEM_LOAD, pa + i * sets * 64, *t += FAR);
}

static void levels(uint64_t core_ratio, uint64_t uncore_ratio)
{
	struct rig r;
	rig_preset(&r);
	r.m.clock_core_ratio = core_ratio;
	r.m.clock_uncore_ratio = uncore_ratio;
	r.m.tick_per_core_cycle = uncore_ratio;
	r.m.tick_per_uncore_cycle = core_ratio;
	rig_open(&r);
	const struct machine *m = &r.m;
	uint64_t t = FAR;
	expect(LOAD(0, 0x10000, t), SRC_LOCAL_DRAM, t, rig_l3(m, 0) + rig_ps(m, m->dram_local_ps));
	t += FAR;
	expect(LOAD(0, 0x10038, t), SRC_L1, t, m->l1d_cycles);
	displace(&r, 0x10000, 64, 8, &t);
	t += FAR;
	expect(LOAD(0, 0x10000, t), SRC_L2, t, m->l2_cycles);
	displace(&r, 0x10000, 512, 8, &t);
	t += FAR;
	expect(LOAD(0, 0x10000, t), SRC_L3_UNSHARED, t, rig_l3(m, 0));
	displace(&r, 0x10000, 8192, 16, &t);
	t += FAR;
	expect(LOAD(0, 0x10000, t), SRC_LOCAL_DRAM, t, rig_l3(m, 0) + rig_ps(m, m->dram_local_ps));
	t += FAR;
	const uint64_t remote = m->dram_node_bytes + 0x10000;
	expect(LOAD(0, remote, t), SRC_REMOTE_DRAM, t, rig_l3(m, 0) + rig_ps(m, m->dram_remote_ps));
	t += FAR;
	expect(LOAD(4, remote + 64, t), SRC_LOCAL_DRAM, t, rig_l3(m, 0) + rig_ps(m, m->dram_local_ps));
	/* stores: modified in the L1 one cycle, clean there one cycle, else as a load */
	t += FAR;
	expect(rig_access(&r, 0, MEM_RFO, 0x200000, t), SRC_LOCAL_DRAM, t, rig_l3(m, 0) + rig_ps(m, m->dram_local_ps));
	t += FAR;
	expect(rig_access(&r, 0, MEM_RFO, 0x200000, t), SRC_L1, t, 1);
	expect(rig_access(&r, 0, MEM_RFO, 0x10000, t), SRC_L1, t, 1);
	/* code */
	t += FAR;
	expect(rig_access(&r, 0, MEM_IFETCH, 0x300000, t), SRC_LOCAL_DRAM, t, rig_l3(m, 0) + rig_ps(m, m->dram_local_ps));
	t += FAR;
	expect(rig_access(&r, 0, MEM_IFETCH, 0x300000, t), SRC_L1, t, 0);
	rig_close(&r);
}

static void test_latency_is_the_formula(void **state)
{
	(void)state;
	levels(22, 20);
	levels(20, 20);
	levels(17, 23);
}

static void test_latency_without_l3_and_l2(void **state)
{
	(void)state;
	struct rig r;
	rig_preset(&r);
	r.m.l3_bytes = 0;
	rig_open(&r);
	uint64_t t = FAR;
	expect(LOAD(0, 0x10000, t), SRC_LOCAL_DRAM, t, r.m.l2_cycles + rig_ps(&r.m, r.m.dram_local_ps));
	displace(&r, 0x10000, 64, 8, &t);
	t += FAR;
	expect(LOAD(0, 0x10000, t), SRC_L2, t, r.m.l2_cycles);
	displace(&r, 0x10000, 512, 8, &t);
	t += FAR;
	expect(LOAD(0, 0x10000, t), SRC_LOCAL_DRAM, t, r.m.l2_cycles + rig_ps(&r.m, r.m.dram_local_ps));
	rig_close(&r);
	rig_preset(&r);
	r.m.l3_bytes = r.m.l2_bytes = 0;
	rig_open(&r);
	t = FAR;
	expect(LOAD(0, 0x10000, t), SRC_LOCAL_DRAM, t, r.m.l1d_cycles + rig_ps(&r.m, r.m.dram_local_ps));
	displace(&r, 0x10000, 64, 8, &t);
	t += FAR;
	expect(LOAD(0, 0x10000, t), SRC_LOCAL_DRAM, t, r.m.l1d_cycles + rig_ps(&r.m, r.m.dram_local_ps));
	rig_close(&r);
}

static void test_lfb_merges_misses_to_one_line(void **state)
{
	(void)state;
	struct rig r;
	rig_preset(&r);
	rig_open(&r);
	const struct mem_reply first = LOAD(0, 0x10000, FAR);
	struct mem_reply a = LOAD(0, 0x10008, FAR + 3);
	assert_int_equal(a.source, SRC_LFB);
	assert_int_equal(a.ready, first.ready);
	a = LOAD(0, 0x10010, first.ready - 1); /* the data arrives before the L1 could answer */
	assert_int_equal(a.source, SRC_LFB);
	assert_int_equal(a.ready, first.ready - 1 + r.m.l1d_cycles);
	a = LOAD(0, 0x10010, first.ready);
	assert_int_equal(a.source, SRC_L1);
	/* younger in program order, but earlier in time than the request that filled the line */
	const uint64_t cold = rig_l3(&r.m, 0) + rig_ps(&r.m, r.m.dram_local_ps);
	(void)LOAD(0, 0x20000, 3 * FAR);
	a = LOAD(0, 0x20000, 2 * FAR);
	assert_int_equal(a.source, SRC_LOCAL_DRAM);
	assert_int_equal(a.ready, 2 * FAR + cold);
	rig_close(&r);
}

static void test_lfb_entries_limit_misses_in_flight(void **state)
{
	(void)state;
	struct rig r;
	rig_preset(&r);
	r.m.dram_channel_bytes_per_second = 1000000000000;
	rig_open(&r);
	const uint64_t cold = rig_l3(&r.m, 0) + rig_ps(&r.m, r.m.dram_local_ps), n = r.m.lfb_entries;
	struct mem_reply a = { 0 };
	for (uint64_t i = 0; i < 5 * n; i++) {
		a = LOAD(0, 0x100000 + i * 64, FAR);
		/* each generation waits for the one before; L2 and L3 may add their own cycles within it */
		assert_in_range(a.lfb_from, FAR + i / n * cold, FAR + i / n * (cold + 60));
	}
	assert_in_range(a.ready, FAR + 5 * cold, FAR + 5 * (cold + 60));
	/* a request that was made later but lies earlier in time is not held up */
	for (uint64_t i = 0; i < n; i++)
		(void)LOAD(0, 0x200000 + i * 64, 3 * FAR);
	a = LOAD(0, 0x300000, 2 * FAR);
	assert_int_equal(a.lfb_from, 2 * FAR);
	rig_close(&r);
}

/* Streams lines through one core with many fill buffers: the channels are the limit. */
static void bandwidth(uint64_t channels, uint64_t rate)
{
	struct rig r;
	rig_preset(&r);
	r.m.lfb_entries = 256;
	r.m.sq_entries = 512;
	r.m.gq_read = 1024;
	r.m.l3_busy_uncore_cycles = 0;
	r.m.dram_channels = channels;
	r.m.dram_channel_bytes_per_second = rate;
	rig_open(&r);
	const uint64_t lines = 100000;
	uint64_t begin = 0, end = 0, t = FAR;
	for (uint64_t i = 0; i < lines; i++) {
		const struct mem_reply a = LOAD(0, 0x100000 + i * 64, t);
		t = a.lfb_from;
		if (i == lines / 10)
			begin = a.ready;
		end = a.ready;
	}
	const uint64_t moved = 64 * (lines - 1 - lines / 10);
	/* cycles that the channels need, in 1/1000 */
	const unsigned __int128 need = (unsigned __int128)moved * 1000 * r.m.core_hz / (channels * rate);
	assert_in_range((end - begin) * 1000, (uint64_t)(need * 995 / 1000), (uint64_t)(need * 1005 / 1000));
	rig_close(&r);
}

static void test_channels_limit_bandwidth(void **state)
{
	(void)state;
	bandwidth(3, 10666666666);
	bandwidth(1, 10666666666);
	bandwidth(2, 3333333333);
	bandwidth(4, 17066666666);
}

/* A victim L3 whose write tracker takes one line at a time: 32 lines of one set of L1 and L2 are requested in one cycle, so 24 are
 * evicted then. A request for the last of these does not wait until the tracker has taken the others. */
static void test_line_given_up_answers_at_once(void **state)
{
	(void)state;
	const uint64_t lines = 32, step = 32768;
	struct rig r;
	rig_preset(&r);
	r.m.l3_inclusive = 0;
	r.m.gq_write = 1;
	r.m.lfb_entries = 256;
	r.m.sq_entries = 512;
	r.m.l3_busy_uncore_cycles = 0;
	r.m.dram_channel_bytes_per_second = 1000000000000;
	rig_open(&r);
	const uint64_t cold = rig_l3(&r.m, 0) + rig_ps(&r.m, r.m.dram_local_ps), left = lines - r.m.l2_ways;
	for (uint64_t i = 0; i < lines; i++)
		(void)LOAD(0, 0x100000 + i * step, FAR);
	const uint64_t t = FAR + 2 * cold;
	assert_true(t < FAR + (left - 1) * rig_l3(&r.m, 0)); /* the tracker has not reached it yet */
	expect(LOAD(0, 0x100000 + (left - 1) * step, t), SRC_L3_UNSHARED, t, rig_l3(&r.m, 0));
	rig_close(&r);
}

static void test_memory_is_small(void **state)
{
	(void)state;
	struct rig r;
	rig_preset(&r);
	assert_in_range(memory_bytes(&r.m), 1 << 20, 16 << 20);
	r.m.topology_cores = 18; /* 45 MiB in 18 slices, as the largest Haswell-EP */
	r.m.l3_bytes = 47185920;
	r.m.l3_slices = 18;
	r.m.l3_ways = 20;
	assert_in_range(memory_bytes(&r.m), 16 << 20, 48 << 20);
	r.m.topology_cores = 28; /* 38.5 MiB, not inclusive, 1 MiB of L2 each, as the largest Skylake-SP */
	r.m.l3_bytes = 40370176;
	r.m.l3_slices = 28;
	r.m.l3_ways = 11;
	r.m.l2_bytes = 1 << 20;
	r.m.l2_ways = 16;
	r.m.l3_inclusive = 0;
	assert_in_range(memory_bytes(&r.m), 16 << 20, 64 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency_is_the_formula),
		cmocka_unit_test(test_latency_without_l3_and_l2),
		cmocka_unit_test(test_lfb_merges_misses_to_one_line),
		cmocka_unit_test(test_lfb_entries_limit_misses_in_flight),
		cmocka_unit_test(test_channels_limit_bandwidth),
		cmocka_unit_test(test_line_given_up_answers_at_once),
		cmocka_unit_test(test_memory_is_small),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
