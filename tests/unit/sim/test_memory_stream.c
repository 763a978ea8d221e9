/* Prefetchers on their patterns, and off by their bits; non-temporal stores; counts of the uncore's queues; limits by links and queues. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "pmu/sim/signals/uncore_signal.h"
#include "tests/unit/rigs/memory_rig.h"

#define FAR 100000u
enum { STREAMER = 1, ADJACENT = 2, NEXT_LINE = 4, STRIDE = 8 };

/* Loads at pa + i * step, far apart in time; bit i of the result: load i missed the L1D;
 * beyond (if given): bit i: it missed the L2 too. */
static uint32_t misses(unsigned prefetchers, unsigned off, uint64_t pa, int64_t step, unsigned n, uint32_t *beyond)
{
	struct rig r;
	uint32_t l1 = 0, l2 = 0;
	rig_preset(&r);
	r.m.prefetch_present = prefetchers;
	rig_open(&r);
	memory_prefetchers(r.s, 0, off);
	for (unsigned i = 0; i < n; i++) {
		const struct mem_reply a = rig_access(&r, 0, MEM_LOAD, pa + (uint64_t)(step * (int64_t)i), FAR * (i + 1));
		l1 |= (uint32_t)(a.source != SRC_L1) << i;
		l2 |= (uint32_t)(a.source > SRC_L2) << i;
	}
	if (beyond)
		*beyond = l2;
	rig_close(&r);
	return l1;
}

static void test_prefetch_each_on_its_pattern(void **state)
{
	(void)state;
	uint32_t l2;
	/* no prefetcher: every line misses */
	assert_int_equal(misses(0, 0, 0x100000, 64, 16, &l2), 0xFFFF);
	assert_int_equal(l2, 0xFFFF);
	/* next line: lines 0 and 1 miss, from then on the first use of a line prefetches the next */
	assert_int_equal(misses(NEXT_LINE, 0, 0x100000, 64, 16, NULL), 0x3);
	assert_int_equal(misses(NEXT_LINE, 0, 0x100000, 128, 16, NULL), 0xFFFF); /* not the next line */
	assert_int_equal(misses(NEXT_LINE, 0, 0x100000 + 4096 - 192, 64, 6, NULL), 0xB); /* no prefetch crosses a page, but line 0 follows line 63 of the previous page: line 1 is prefetched */
	/* stride: known at the third load, so the fourth hits; up to half a page in either direction */
	assert_int_equal(misses(STRIDE, 0, 0x100000, 256, 12, NULL), 0x7);
	assert_int_equal(misses(STRIDE, 0, 0x100FC0, -192, 12, NULL), 0x7);
	assert_int_equal(misses(STRIDE, 0, 0x100000, 4096, 12, NULL), 0xFFF);
	/* adjacent line: of each pair the first misses the L2, the second hits */
	assert_int_equal(misses(ADJACENT, 0, 0x100000, 64, 16, &l2), 0xFFFF);
	assert_int_equal(l2, 0x5555);
	(void)misses(ADJACENT, 0, 0x100FC0, -64, 16, &l2);
	assert_int_equal(l2, 0x5555);
	/* streamer: trained by the third request, then two lines a request */
	assert_int_equal(misses(STREAMER, 0, 0x100000, 64, 16, &l2), 0xFFFF);
	assert_int_equal(l2, 0x7);
	(void)misses(STREAMER, 0, 0x100FC0, -64, 16, &l2);
	assert_int_equal(l2, 0x7);
	(void)misses(STREAMER, 0, 0x100000, 4096, 16, &l2);
	assert_int_equal(l2, 0xFFFF);
}

/* Two lines a request from the third on, up to streamer_lines ahead of it: after five requests (lines 0 to 4) the L2 has lines up to 4 + streamer_lines. */
static void test_prefetch_streamer_runs_ahead(void **state)
{
	(void)state;
	for (uint64_t most = 2; most <= 4; most += 2)
		for (unsigned line = 5; line <= 9; line++) {
			struct rig r;
			rig_preset(&r);
			r.m.prefetch_present = STREAMER;
			r.m.prefetch_streamer_lines = most;
			rig_open(&r);
			for (unsigned i = 0; i < 5; i++)
				(void)rig_access(&r, 0, MEM_LOAD, 0x100000 + i * 64, FAR * (i + 1));
			const enum mem_source from = rig_access(&r, 0, MEM_LOAD, 0x100000 + line * 64, FAR * 6).source;
			assert_int_equal(from, line <= 4 + most ? SRC_L2 : SRC_LOCAL_DRAM);
			rig_close(&r);
		}
}

static void test_prefetch_off_by_its_bit(void **state)
{
	(void)state;
	uint32_t l2;
	for (unsigned bit = 1; bit <= 8; bit *= 2) {
		const int64_t step = bit == STRIDE ? 256 : 64;
		assert_int_equal(misses(15, 15, 0x100000, step, 12, &l2), 0xFFF);
		assert_int_equal(l2, 0xFFF);
		const uint32_t alone = misses(15, 15 & ~bit, 0x100000, step, 12, &l2), alone_l2 = l2;
		assert_int_equal(misses(bit, 0, 0x100000, step, 12, &l2), alone);
		assert_int_equal(l2, alone_l2);
		assert_true(alone != 0xFFF || alone_l2 != 0xFFF);
		/* one that the core does not have cannot be switched on */
		assert_int_equal(misses(15 & ~bit, 15 & ~bit, 0x100000, step, 12, &l2), 0xFFF);
		assert_int_equal(l2, 0xFFF);
	}
}

static void test_prefetch_late_comes_when_asked_for(void **state)
{
	(void)state;
	struct rig r;
	rig_preset(&r);
	r.m.prefetch_present = ADJACENT;
	rig_open(&r);
	const struct mem_reply a = rig_access(&r, 0, MEM_LOAD, 0x100000, FAR);
	const struct mem_reply b = rig_access(&r, 0, MEM_LOAD, 0x100040, FAR + 50);
	assert_int_equal(b.source, SRC_L2);
	assert_in_range(b.ready, a.ready, a.ready + 40); /* not a whole latency after its own request */
	rig_close(&r);
}

/* ---- uncore signals ------------------------------------------------------------------------- */

struct received { uint64_t sum[2][UNC_COUNT], snoops[2], data_flits[2], remote_misses[2]; };

static void deliver(void *self, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t from, uint64_t to, unsigned n,
                 const struct uncore_attributes *about)
{
	struct received *h = self;
	(void)unit;
	assert_true(to >= from);
	h->sum[socket][sig] += (to > from ? to - from : 1) * n;
	if (sig == UNC_LINK_TX && about->tags & UTAG(SNP))
		h->snoops[socket] += n;
	if (sig == UNC_LINK_TX && about->tags & UTAG(DATA))
		h->data_flits[socket] += n;
	if (sig == UNC_TOR_INSERT && (about->tags & (UTAG(MISS) | UTAG(REMOTE))) == (UTAG(MISS) | UTAG(REMOTE)))
		h->remote_misses[socket] += n;
}

static void listen_all(struct rig *r, struct received *h)
{
	struct uncore_sink sink = { .self = h, .deliver = deliver, .traffic = true };
	memset(sink.listen, 0xFF, sizeof(sink.listen));
	memset(h, 0, sizeof(*h));
	memory_uncore(r->s, &sink);
}

static void test_uncore_occupancy_is_the_latency(void **state)
{
	(void)state;
	struct rig r;
	struct received h;
	rig_preset(&r);
	rig_open(&r);
	listen_all(&r, &h);
	const struct machine *m = &r.m;
	uint64_t t = FAR;
	for (unsigned i = 0; i < 1000; i++, t += 1009)
		(void)rig_access(&r, 0, MEM_LOAD, 0x1000000 + i * 64, t);
	assert_int_equal(h.sum[0][UNC_READ_INSERT], 1000);
	assert_int_equal(h.sum[0][UNC_L3_MISS_READ], 1000);
	assert_int_equal(h.sum[0][UNC_HOME_READ_LOCAL], 1000);
	assert_int_equal(h.sum[0][UNC_MEMORY_READ], 1000);
	assert_int_equal(h.sum[0][UNC_L3_IN_E], 1000);
	assert_int_equal(h.sum[1][UNC_SNOOP_REMOTE_I], 1000);
	assert_int_equal(h.snoops[0], 1000);
	/* held for the lookup and the time beyond it, in uncore cycles; 1 % for the core's rounding */
	const uint64_t beyond = rig_ps(m, m->dram_local_ps) * m->tick_per_core_cycle * 1000 / m->tick_per_uncore_cycle;
	assert_in_range(h.sum[0][UNC_READ_MISS_OCCUPANCY], beyond * 99 / 100, beyond * 101 / 100);
	assert_int_equal(h.sum[0][UNC_READ_RESPONSE_OCCUPANCY], 1000 * m->l3_uncore_cycles);
	assert_in_range(h.sum[0][UNC_HOME_OCCUPANCY_LOCAL], beyond * 99 / 100, beyond * 101 / 100);
	/* hits: the other core reads the same lines from the L3 with a snoop, then a third without */
	listen_all(&r, &h);
	for (unsigned i = 0; i < 1000; i++, t += 1009)
		(void)rig_access(&r, 1, MEM_LOAD, 0x1000000 + i * 64, t);
	assert_int_equal(h.sum[0][UNC_L3_HIT_READ], 1000);
	assert_int_equal(h.sum[0][UNC_CORE_SNOOP_CLEAN] + h.sum[0][UNC_CORE_SNOOP_MISS], 1000);
	assert_int_equal(h.sum[0][UNC_READ_OCCUPANCY], h.sum[0][UNC_CORE_SNOOP_CLEAN] * (m->l3_uncore_cycles + m->l3_clean_uncore_cycles) +
	                 h.sum[0][UNC_CORE_SNOOP_MISS] * (m->l3_uncore_cycles + m->l3_clean_uncore_cycles));
	listen_all(&r, &h);
	for (unsigned i = 0; i < 1000; i++, t += 1009)
		(void)rig_access(&r, 2, MEM_LOAD, 0x1000000 + i * 64, t);
	assert_int_equal(h.sum[0][UNC_READ_OCCUPANCY], 1000 * m->l3_uncore_cycles);
	/* from the other socket: a forwarded line crosses the link, DRAM stays idle */
	listen_all(&r, &h);
	for (unsigned i = 0; i < 1000; i++, t += 1009)
		(void)rig_access(&r, 4, MEM_LOAD, 0x1000000 + i * 64, t);
	assert_int_equal(h.data_flits[0], 8 * 1000);
	assert_int_equal(h.sum[0][UNC_MEMORY_READ], 0);
	assert_int_equal(h.sum[0][UNC_SNOOP_LOCAL_FORWARD_S], 1000);
	assert_int_equal(h.remote_misses[1], 1000);
	rig_close(&r);
}

static void test_nt_stores_write_full_or_partial_lines(void **state)
{
	(void)state;
	for (unsigned bytes = 48; bytes <= 64; bytes += 16) {
		struct rig r;
		struct received h;
		rig_preset(&r);
		rig_open(&r);
		listen_all(&r, &h);
		const unsigned lines = 3000;
		uint64_t t = FAR, begin = 0;
		(void)rig_access(&r, 1, MEM_RFO, 0x1000000, 10); /* a modified copy has to be written back first */
		for (unsigned i = 0; i < lines; i++) {
			for (unsigned b = 0; b < bytes; b += 8)
				t = rig_access(&r, 0, MEM_NT_STORE, 0x1000000 + i * 64 + b, t).ready;
			if (i == lines / 3)
				begin = t;
		}
		const uint64_t end = rig_access(&r, 0, MEM_DRAIN_NT, 0, t).ready;
		assert_true(end >= t + rig_ps(&r.m, r.m.wc_drain_ps) / 2);
		assert_int_equal(h.sum[0][UNC_MEMORY_WRITE_FULL], bytes == 64 ? lines + 1 : 1);
		assert_int_equal(h.sum[0][UNC_MEMORY_WRITE_PARTIAL], bytes == 64 ? 0 : lines);
		assert_int_equal(h.sum[0][UNC_MEMORY_READ], 1);
		/* limited by the fill buffers: all of them for full lines, those that are not open for partial lines */
		const double slot = 64.0 * (double)r.m.core_hz / (double)r.m.dram_channel_bytes_per_second;
		const double drain = (double)rig_ps(&r.m, r.m.wc_drain_ps);
		const double per_line = (double)(t - begin) / (lines - lines / 3 - 1);
		const double expected = bytes == 64 ? (drain + 8) / (double)r.m.lfb_entries :
			(drain + slot * (double)(r.m.wc_partial_transfers - 1)) / (double)(r.m.lfb_entries - r.m.wc_buffers + 1);
		assert_in_range((uint64_t)(per_line * 1000), (uint64_t)(expected * 980), (uint64_t)(expected * 1040));
		rig_close(&r);
	}
}

/* A load of a line whose buffer is open finds it in memory, not in a cache. */
static void test_nt_store_then_load_finds_memory(void **state)
{
	(void)state;
	struct rig r;
	rig_preset(&r);
	rig_open(&r);
	(void)rig_access(&r, 0, MEM_LOAD, 0x1000000, FAR);
	(void)rig_access(&r, 0, MEM_NT_STORE, 0x1000000, 2 * FAR);
	assert_int_equal(rig_access(&r, 0, MEM_LOAD, 0x1000000, 2 * FAR + 10).source, SRC_LOCAL_DRAM);
	rig_close(&r);
}

/* Threads of a core share its buffers and may be at different times: a thread that drains them finds buffers that the other opens
 * at a later time. No use of a fill buffer may end before it begins, or fewer misses than buffers would be in flight. */
static void test_nt_buffer_of_a_thread_that_is_ahead(void **state)
{
	(void)state;
	struct rig r;
	rig_preset(&r);
	rig_open(&r);
	const uint64_t drain = rig_ps(&r.m, r.m.wc_drain_ps);
	(void)rig_access(&r, 0, MEM_NT_STORE, 0x1000000, 2 * FAR);
	assert_true(rig_access(&r, 0, MEM_DRAIN_NT, 0, FAR).ready >= 2 * FAR + drain / 2);
	/* later, as many lines can be in flight as there are fill buffers */
	for (unsigned i = 0; i < r.m.lfb_entries; i++)
		assert_int_equal(rig_access(&r, 0, MEM_LOAD, 0x2000000 + i * 0x100000, 4 * FAR).lfb_from, 4 * FAR);
	rig_close(&r);
}

static void test_dram_open_pages_are_faster_and_conflicts_slower(void **state)
{
	(void)state;
	struct rig r;
	struct received h;
	rig_preset(&r);
	r.m.dram_open_page = 1;
	r.m.dram_channels = 1;
	rig_open(&r);
	listen_all(&r, &h);
	const struct machine *m = &r.m;
	const uint64_t empty = rig_l3(m, 0) + rig_ps(m, m->dram_local_ps);
	uint64_t t = FAR;
	assert_int_equal(rig_access(&r, 0, MEM_LOAD, 0, t).ready - t, empty);
	t += FAR;
	assert_int_equal(rig_access(&r, 0, MEM_LOAD, 64, t).ready - t, empty - rig_ps(m, m->dram_page_hit_ps));
	t += FAR; /* the next page lies in the next bank */
	assert_int_equal(rig_access(&r, 0, MEM_LOAD, m->dram_page_bytes, t).ready - t, empty);
	t += FAR; /* as many pages on as there are banks: another row of the first bank */
	assert_int_equal(rig_access(&r, 0, MEM_LOAD, m->dram_page_bytes * m->dram_banks, t).ready - t, empty + rig_ps(m, m->dram_page_miss_ps));
	assert_int_equal(h.sum[0][UNC_MEMORY_PAGE_HIT], 1);
	assert_int_equal(h.sum[0][UNC_MEMORY_PAGE_MISS], 1);
	assert_int_equal(h.sum[0][UNC_MEMORY_OPEN], 3);
	rig_close(&r);
}

/* The bandwidth of remote memory is limited by the link. */
static void test_link_limits_remote_bandwidth(void **state)
{
	(void)state;
	struct rig r;
	rig_preset(&r);
	r.m.lfb_entries = 128;
	r.m.sq_entries = 128;
	r.m.gq_read = 256;
	r.m.link_bytes_per_second = 5000000000;
	rig_open(&r);
	uint64_t t = FAR, begin = 0, end = 0;
	const uint64_t lines = 20000;
	for (uint64_t i = 0; i < lines; i++) {
		const struct mem_reply a = rig_access(&r, 0, MEM_LOAD, r.m.dram_node_bytes + i * 64, t);
		t = a.lfb_from;
		if (i == lines / 2)
			begin = a.ready;
		end = a.ready;
	}
	const uint64_t need = (lines / 2 - 1) * 64 * 1000 / 5 * (r.m.core_hz / 1000000) / 1000000;
	assert_in_range(end - begin, need * 995 / 1000, need * 1005 / 1000);
	rig_close(&r);
}

/* The most lines in flight at a time, if each is in flight for `lasts` cycles before it is ready. Loads in bursts of 16,
 * `pace` cycles a load, and stores' requests for ownership that are made before younger loads but lie 500 cycles later. */
static unsigned most_at_once(unsigned lfb, unsigned sq, uint64_t pace, uint64_t lasts)
{
	enum { PAIRS = 600 };
	static uint64_t ends[2 * PAIRS];
	struct rig r;
	unsigned most = 0;
	rig_preset(&r);
	r.m.lfb_entries = lfb;
	r.m.sq_entries = sq;
	r.m.gq_read = 512;
	r.m.dram_open_page = 0;
	r.m.dram_channel_bytes_per_second = 100000000000;
	r.m.l3_busy_uncore_cycles = r.m.l2_busy_cycles = 0;
	r.page_bytes = 2 << 20;
	rig_open(&r);
	(void)rig_access(&r, 0, MEM_LOAD, 0, FAR - 5000); /* the page's translation */
	for (unsigned i = 0; i < PAIRS; i++) {
		ends[2 * i] = rig_access(&r, 0, MEM_LOAD, 4096 + 64 * i, FAR + i / 16 * 16 * pace).ready;
		ends[2 * i + 1] = rig_access(&r, 0, MEM_RFO, (1 << 20) + 64 * i, FAR + i / 16 * 16 * pace + 500).ready;
	}
	rig_close(&r);
	for (unsigned i = 0; i < 2 * PAIRS; i++) {
		unsigned held = 0;
		for (unsigned j = 0; j < 2 * PAIRS; j++)
			held += ends[j] >= ends[i] && ends[j] - lasts < ends[i];
		most = held > most ? held : most;
	}
	return most;
}

/* The number of a queue's entries is a limit in every cycle, in whatever order requests are made. */
static void test_queues_never_hold_more_than_they_have(void **state)
{
	(void)state;
	struct rig r;
	rig_preset(&r);
	const uint64_t cold = rig_l3(&r.m, 0) + rig_ps(&r.m, r.m.dram_local_ps);
	assert_int_equal(most_at_once(128, 16, 26, cold), 16);
	assert_int_equal(most_at_once(10, 64, 42, cold), 10);
	assert_true(most_at_once(256, 256, 26, cold) > 16); /* the entries are the limit above */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefetch_each_on_its_pattern),
		cmocka_unit_test(test_prefetch_streamer_runs_ahead),
		cmocka_unit_test(test_prefetch_off_by_its_bit),
		cmocka_unit_test(test_prefetch_late_comes_when_asked_for),
		cmocka_unit_test(test_uncore_occupancy_is_the_latency),
		cmocka_unit_test(test_nt_stores_write_full_or_partial_lines),
		cmocka_unit_test(test_nt_store_then_load_finds_memory),
		cmocka_unit_test(test_nt_buffer_of_a_thread_that_is_ahead),
		cmocka_unit_test(test_dram_open_pages_are_faster_and_conflicts_slower),
		cmocka_unit_test(test_link_limits_remote_bandwidth),
		cmocka_unit_test(test_queues_never_hold_more_than_they_have),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
