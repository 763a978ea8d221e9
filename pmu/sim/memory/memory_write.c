/* pmu/sim/memory/memory_write.c: write-combining buffers and non-temporal stores, CLFLUSH, set-up.
 *
 * A non-temporal store opens a buffer for its line, or writes into the open one; an open buffer is one of the core's line
 * fill buffers. Opening removes the line from every cache. A buffer with all 64 bytes written is sent at once as one
 * transfer; one that has to make room, or is open at a fence, is sent partially, as wc.partial_transfers. It is held until
 * memory has taken it: P(wc.drain_ps) after it was sent on an idle machine, later if the channel (or the link to another
 * socket) is busy. A fence waits for all. So a stream of full lines proceeds at lfb.entries lines per hold time (from the
 * first store until memory has the line) or as the channels allow; one of partial lines leaves wc.buffers open and proceeds
 * at lfb.entries - wc.buffers + 1 lines per P(wc.drain_ps) + wc.partial_transfers - 1 transfers of one channel.
 *
 * CLFLUSH removes the line from every cache; it completes after an L3 hit's time, with several sockets after L +
 * P(link.invalidate_ps). A modified line is written to its home, and CLFLUSH waits for link and channel: a loop of flushes
 * would otherwise reserve a slow channel far ahead, and later requests would find it free. With several complexes in one
 * socket complex.invalidate_ps stands for the link's.
 *
 * Not modelled: uncacheable and write-combining memory types, ordering of buffers. */
#include "pmu/sim/memory/memory_state.h"
#include "pmu/text.h"

/* Sends the buffer at cycle t. */
static void wc_close(struct memory *s, struct private_core *c, unsigned thread, unsigned i, uint64_t t)
{
	const struct wc b = c->wc[i];
	if (b.from > t) /* the other thread's, which is ahead in time: it cannot be closed before it was opened */
		t = b.from;
	const bool full = b.bytes == UINT64_MAX;
	const uint64_t delay = dram_write_uncached(s, c->cluster->socket, b.line, t, full ? 1 : (unsigned)s->m->wc_partial_transfers, full);
	const uint64_t end = t + s->nt_cycles + far_cycles(s, c->cluster, b.line) + delay;
	signal_pulse(s->signals[thread], home_of(s, b.line) != c->cluster->node ? SIG_OFFCORE_OTHER_REMOTE_DRAM :
	             part_of(s, b.line) != c->cluster->part ? SIG_OFFCORE_OTHER_NEAR_DRAM : SIG_OFFCORE_OTHER_LOCAL_DRAM, t, 1);
	for (unsigned part = full ? 1 : (unsigned)s->m->wc_partial_transfers; part; part--)
		bus_emit(s, thread, full ? BUS_WRITE_LINE : BUS_WRITE_PART, t);
	for (unsigned j = i; j + 1 < c->wc_open; j++)
		c->wc[j] = c->wc[j + 1];
	c->wc_open--;
	pool_add(&c->lfb, b.from, end, CACHE_NONE, SRC_NONE);
	if (end > c->wc_done)
		c->wc_done = end;
}

void wc_evict(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t)
{
	for (unsigned i = 0; i < c->wc_open; i++)
		if (c->wc[i].line == line) {
			wc_close(s, c, thread, i, t);
			return;
		}
}

void memory_nt_store(struct memory *s, const struct mem_request *q, struct mem_reply *r)
{
	struct private_core *c = &s->core[q->core];
	const uint32_t line = line_of(s, q->pa);
	const unsigned offset = q->pa & 63, most = s->wc_most;
	const uint64_t bytes = (q->bytes >= 64 ? UINT64_MAX : ((1ull << q->bytes) - 1)) << offset;
	unsigned i = 0;
	uint64_t t = q->cycle;
	while (i < c->wc_open && c->wc[i].line != line)
		i++;
	if (i == c->wc_open) {
		if (c->wc_open == most)
			wc_close(s, c, q->thread, 0, t);
		t = pool_start(&c->lfb, t, s->nt_cycles, c->wc_open);
		if (uncore_purge(s, line, q->cycle)) {
			(void)dram_write(s, c->cluster->socket, line, t, 1, true);
			bus_emit(s, q->thread, BUS_WRITE_BACK, t);
		}
		i = c->wc_open++;
		c->wc[i] = (struct wc){ .line = line, .bytes = 0, .from = t };
	}
	c->wc[i].bytes |= bytes;
	r->lfb_from = t;
	r->ready = t + 1;
	r->source = SRC_UNCACHED;
	if (c->wc[i].bytes == UINT64_MAX)
		wc_close(s, c, q->thread, i, r->ready);
}

void memory_nt_drain(struct memory *s, const struct mem_request *q, struct mem_reply *r)
{
	struct private_core *c = &s->core[q->core];
	while (c->wc_open)
		wc_close(s, c, q->thread, 0, q->cycle);
	r->lfb_from = q->cycle;
	r->ready = c->wc_done > q->cycle ? c->wc_done : q->cycle;
	r->source = SRC_NONE;
}

void memory_flush_line(struct memory *s, const struct mem_request *q, struct mem_reply *r)
{
	struct private_core *c = &s->core[q->core];
	const uint32_t line = line_of(s, q->pa);
	wc_evict(s, c, q->thread, line, q->cycle);
	uint64_t delay = 0;
	if (uncore_purge(s, line, q->cycle)) {
		delay = dram_write(s, c->cluster->socket, line, q->cycle, 1, true);
		bus_emit(s, q->thread, BUS_WRITE_BACK, q->cycle);
	}
	r->lfb_from = q->cycle;
	r->ready = q->cycle + (s->m->topology_sockets > 1 ? s->lat.invalidate : s->complexes > 1 ? s->lat.near_invalidate : s->lat.l3) + delay;
	r->source = SRC_NONE;
}

/* ---- set-up --------------------------------------------------------------------------------- */

/* Core cycles of n uncore cycles at an uncore ratio, rounded up. */
static uint64_t cycles_at(const struct machine *m, uint64_t n, uint64_t ratio)
{
	return (n * m->clock_core_ratio + ratio - 1) / ratio;
}

static unsigned apart(unsigned a, unsigned b) { return a < b ? b - a : a - b; }

static void latencies_at(const struct machine *m, uint64_t ratio, struct latencies *l)
{
	l->l3 = m->l3_bytes ? m->l3_core_cycles + cycles_at(m, m->l3_uncore_cycles, ratio) :
		m->l2_bytes ? m->l2_cycles : m->l1d_cycles;
	const uint64_t core = m->l3_bytes ? m->l3_core_cycles : l->l3, uncore = m->l3_bytes ? m->l3_uncore_cycles : 0;
	l->clean = core + cycles_at(m, uncore + m->l3_clean_uncore_cycles, ratio);
	l->modified = core + cycles_at(m, uncore + m->l3_modified_uncore_cycles, ratio);
	const unsigned columns = m->topology_nodes < 4 ? (unsigned)m->topology_nodes : 2;
	for (unsigned i = 0; i < PARTS_MOST; i++)
		for (unsigned j = 0; j < PARTS_MOST; j++)
			l->far[i][j] = cycles_at(m, m->l3_far_uncore_cycles * apart(i % columns, j % columns) + m->l3_far_row_uncore_cycles * apart(i / columns, j / columns), ratio);
	l->dram[0] = l->l3 + memory_cycles_of_ps(m, m->dram_local_ps);
	l->dram[1] = l->l3 + memory_cycles_of_ps(m, m->dram_remote_ps);
	l->remote_clean = l->l3 + memory_cycles_of_ps(m, m->link_clean_ps);
	l->remote_modified = l->l3 + memory_cycles_of_ps(m, m->link_modified_ps);
	l->invalidate = l->l3 + memory_cycles_of_ps(m, m->link_invalidate_ps);
	l->near_clean = l->l3 + memory_cycles_of_ps(m, m->complex_clean_ps);
	l->near_modified = l->l3 + memory_cycles_of_ps(m, m->complex_modified_ps);
	l->near_invalidate = l->l3 + memory_cycles_of_ps(m, m->complex_invalidate_ps);
}

static void latencies(struct memory *s)
{
	const struct machine *m = s->m;
	latencies_at(m, m->clock_uncore_ratio, &s->lat_of[0]);
	s->lat = s->lat_of[0];
	if (m->fault_uncore_float_ratio) {
		latencies_at(m, m->fault_uncore_float_ratio, &s->lat_of[1]);
		s->float_cycles = m->core_hz / 1000000 * m->fault_uncore_float_us;
	}
	s->page_hit_cycles = memory_cycles_of_ps(m, m->dram_page_hit_ps);
	s->page_miss_cycles = memory_cycles_of_ps(m, m->dram_page_miss_ps);
	s->refresh_cycles = memory_cycles_of_ps(m, m->dram_refresh_ps);
	s->channel_inverse = ((1ull << 33) + s->channels - 1) / s->channels;
	s->nt_cycles = memory_cycles_of_ps(m, m->wc_drain_ps);
	s->wc_most = (unsigned)(m->wc_buffers < m->lfb_entries ? m->wc_buffers : m->lfb_entries);
	if (s->wc_most > WC_MAX)
		s->wc_most = WC_MAX;
}

static void core_init_memory(struct memory *s, struct private_core *c, unsigned core, struct arena *a)
{
	const struct machine *m = machine_of_core(s->m, core % (unsigned)s->m->topology_cores);
	cache_init(&c->l1d, a, (uint32_t)(m->l1d_bytes / (64 * m->l1d_ways)), (uint32_t)m->l1d_ways, 1, false,
	           (enum replacement)m->l1d_policy, 0);
	cache_init(&c->l1i, a, (uint32_t)(m->l1i_bytes / (64 * m->l1i_ways)), (uint32_t)m->l1i_ways, 1, false, REPLACE_LRU, 0);
	const uint32_t entries = (uint32_t)m->lfb_entries, ahead = core_asks_ahead(m);
	struct pool_use *use = arena_get(a, pool_bytes(entries, ahead));
	if (a->at)
		pool_init(&c->lfb, entries, ahead, use);
	tlb_init(s, c, core % (unsigned)s->m->topology_cores, a);
}

/* Cores that are large, of all sockets; the cluster of a core; the first core of a cluster. */
static unsigned large_cores(const struct memory *s) { return s->cores - (s->m->small ? (unsigned)s->m->topology_small_cores : 0); }

static unsigned cluster_of(const struct memory *s, unsigned core)
{
	const unsigned large = large_cores(s);
	return core < large ? core / (unsigned)s->m->l2_cores : large / (unsigned)s->m->l2_cores + (core - large) / (unsigned)s->m->small->l2_cores;
}

static unsigned first_core(const struct memory *s, unsigned cluster)
{
	const unsigned large = large_cores(s), of_large = large / (unsigned)s->m->l2_cores;
	return cluster < of_large ? cluster * (unsigned)s->m->l2_cores : large + (cluster - of_large) * (unsigned)s->m->small->l2_cores;
}

static void cluster_init(struct memory *s, struct cluster *k, unsigned cluster, struct arena *a)
{
	const struct machine *m = machine_of_core(s->m, first_core(s, cluster) % (unsigned)s->m->topology_cores);
	cache_init(&k->l2, a, (uint32_t)(m->l2_bytes / (64 * m->l2_ways)), (uint32_t)m->l2_ways, 1, false,
	           (enum replacement)m->l2_policy, 0);
	const uint32_t entries = (uint32_t)m->sq_entries, ahead = core_asks_ahead(m) * (uint32_t)m->l2_cores;
	struct pool_use *use = arena_get(a, pool_bytes(entries, ahead));
	if (!a->at)
		return;
	pool_init(&k->sq, entries, ahead, use);
	lane_init(&k->port, m->l2_busy_cycles << 16);
}

/* Lays out all parts; with at == NULL it only counts bytes, on one instance of each part. */
static size_t lay_out(struct memory *s, void *at)
{
	const struct machine *m = s->m;
	struct arena a = { .at = at, .used = at ? sizeof(*s) : 0 };
	if (!at)
		(void)arena_get(&a, sizeof(*s));
	s->complexes = (unsigned)m->topology_complexes;
	s->sockets = (unsigned)m->topology_sockets * s->complexes;
	s->parts = (unsigned)m->topology_nodes;
	s->channels = (unsigned)m->dram_channels / s->parts;
	for (unsigned node = 0; node < NODES_MOST; node++) {
		s->package[node] = (uint8_t)(node / s->parts);
		s->part[node] = (uint8_t)(node % s->parts);
	}
	s->cores = (unsigned)(m->topology_sockets * m->topology_cores);
	s->clusters = cluster_of(s, s->cores - 1) + 1;
	s->clusters_per_socket = s->clusters / s->sockets;
	s->holder_bytes = s->clusters_per_socket <= 8 ? 1 : s->clusters_per_socket <= 16 ? 2 : s->clusters_per_socket <= 32 ? 4 : 8;
	s->inclusive = m->l3_bytes && m->l3_inclusive;
	s->bus = m->pmu_bus == 2 ? !m->l3_bytes : m->pmu_bus; /* Xeon 7400: an L3 between the L2s and the bus */
	struct private_core *core = arena_get(&a, s->cores * sizeof(*core));
	struct cluster *cluster = arena_get(&a, s->clusters * sizeof(*cluster));
	struct socket *socket = arena_get(&a, s->sockets * sizeof(*socket));
	struct lane *link = arena_get(&a, s->sockets * s->sockets * sizeof(*link));
	/* counting writes nothing: these stand for any core and cluster */
	static const struct private_core no_core;
	static const struct cluster no_cluster;
	if (at) {
		s->core = core;
		s->cluster = cluster;
		s->socket = socket;
		s->links = link;
		latencies(s);
		memset(core, 0, s->cores * sizeof(*core));
		memset(cluster, 0, s->clusters * sizeof(*cluster));
		memset(socket, 0, s->sockets * sizeof(*socket));
		for (unsigned i = 0; i < s->sockets * s->sockets; i++)
			lane_init(&link[i], lane_period(m, m->link_bytes_per_second));
	}
	for (unsigned i = 0; i < s->cores; i++) {
		struct private_core *c = at ? &core[i] : (struct private_core *)(uintptr_t)&no_core;
		if (at) {
			c->m = machine_of_core(m, i % (unsigned)m->topology_cores);
			c->cluster = &cluster[cluster_of(s, i)];
			c->last_miss = CACHE_NONE;
			c->code_first = UINT32_MAX;
			c->prefetchers = (uint8_t)c->m->prefetch_present;
			pages_forget(c);
		}
		core_init_memory(s, c, i, &a);
	}
	for (unsigned i = 0; i < s->clusters; i++) {
		struct cluster *k = at ? &cluster[i] : (struct cluster *)(uintptr_t)&no_cluster;
		if (at) {
			k->socket = i / s->clusters_per_socket;
			k->node = node_of(s, k->socket);
			k->part = i % s->clusters_per_socket / (s->clusters_per_socket / s->parts);
			k->here = &socket[k->socket];
			k->peer = s->sockets == 2 ? &socket[!k->socket] : NULL;
			k->bit = 1ull << (i % s->clusters_per_socket);
			k->first_core = first_core(s, i);
			k->first = &core[k->first_core];
			k->m = k->first->m;
			k->cores = (unsigned)k->m->l2_cores;
			for (unsigned j = 0; j < STREAMS; j++)
				k->stream_page[j] = CACHE_NONE;
			k->stream_count[cache_hash(CACHE_NONE)] = STREAMS;
		}
		cluster_init(s, k, i, &a);
	}
	for (unsigned i = 0; i < s->sockets; i++) {
		socket_init(s, at ? &socket[i] : NULL, &a);
		if (at)
			bus_init(s, &socket[i]);
		if (at)
			lane_init(&socket[i].into, s->complexes > 1 ? lane_period(m, m->complex_bytes_per_second) : 0);
	}
	return a.used;
}

size_t memory_bytes(const struct machine *m)
{
	struct memory s = { .m = m };
	return lay_out(&s, NULL);
}

struct memory *memory_init(void *at, const struct machine *m, struct signals **signals,
                           bool (*pages)(void *self, uint64_t va, struct page_info *out), void *self)
{
	struct memory *s = at;
	memset(s, 0, sizeof(*s));
	s->m = m;
	s->signals = signals;
	s->pages = pages;
	s->self = self;
	(void)lay_out(s, at);
	memory_plain(s);
	return s;
}
