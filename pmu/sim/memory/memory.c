/* pmu/sim/memory/memory.c: the private caches of the cores, and the path of a request through them.
 *
 * Latencies of a single request on an idle machine, load to use, in core cycles; t is the cycle of the request, up(x) is x
 * rounded up to a whole core cycle, U(n) = up(n uncore cycles), P(n) = up(n ps):
 *   L1            l1d.cycles
 *   L2            l2.cycles
 *   L3            L = l3.core_cycles + U(l3.uncore_cycles)
 *   L3, snooped   l3.core_cycles + U(l3.uncore_cycles + l3.clean_uncore_cycles or l3.modified_uncore_cycles)
 *   local DRAM    L + P(dram.local_ps), remote DRAM L + P(dram.remote_ps)
 *   remote cache  L + P(link.clean_ps) or L + P(link.modified_ps)
 * where L is l2.cycles (l1d.cycles) on a machine without an L3 (and without an L2). A later request to a line in flight is
 * answered when the line arrives, but not before l1d.cycles (in the L1) or l2.cycles (in the L2) after the request: LFB
 * hits, late prefetches. A store that finds its line in M or E takes 1 cycle, otherwise as long as a load. A line in S has
 * to be requested again: the L3's latency, with invalidations in other cores that of a clean snoop, in other sockets at
 * least L + P(link.invalidate_ps).
 *
 * Throughput: lfb.entries lines in flight to an L1D; sq.entries of a cluster that missed the L2; a line to or from the L2
 * occupies it for l2.busy_cycles, a slice of the L3 for l3.busy_uncore_cycles, a link between sockets for 64 bytes /
 * link.bytes_per_second, a channel of memory for 64 bytes / dram.channel_bytes_per_second. Write-backs occupy these too,
 * from the cycle in which the displacing line was requested; a request for a line that still waits to be written does not
 * wait for it. Lines to the L3 also wait for an entry of the write tracker, but nothing waits for these.
 *
 * Not modelled: banks and ports of the L1 (the core has them), a bounded write-back buffer, data errors, cacheability other
 * than write-back, and what the other files of this folder name. States change when a request is made, not when its data
 * arrives. */
#include "pmu/sim/memory/l2.h"

uint64_t memory_cycles_of_ps(const struct machine *m, uint64_t ps)
{
	/* ps * core_hz / 1e12; bus_hz_times_3 * ratio = 3 * core_hz */
	const uint64_t hz3 = m->clock_bus_hz_times_3 * m->clock_core_ratio, second3 = 3000000000000ull;
	const uint64_t khz3 = hz3 / 1000, rest = hz3 % 1000;
	/* in two parts, so that neither overflows: 3e8 kHz * 1e7 ps, 1e3 * 1e7 */
	const uint64_t thousandths = ps * khz3 + (ps * rest + 999) / 1000;
	return (thousandths + second3 / 1000 - 1) / (second3 / 1000);
}

/* ---- lines into the L1 ----------------------------------------------------------------------- */

/* Handles the victim of an L1D, unless it is clean and in an inclusive L3. */
static __attribute__((noinline)) void l1_evict(struct memory *s, struct private_core *c, struct line_request q, uint32_t old, bool dirty, uint64_t t)
{
	static const enum signal met[] = { SIG_L1D_WRITE_BACK_I, SIG_L1D_WRITE_BACK_S, SIG_L1D_WRITE_BACK_S,
	                                   SIG_L1D_WRITE_BACK_E, SIG_L1D_WRITE_BACK_M };
	struct cluster *k = c->cluster;
	struct signals *g = s->signals[q.thread];
	if (!dirty) { /* no inclusive L3 */
		if (cluster_state(s, k, old) == LINE_I)
			uncore_evict(s, k, old, false, true, t);
		return;
	}
	signal_pulse(g, SIG_L1D_EVICTED_MODIFIED, t, 1);
	if (!k->l2.sets) {
		uncore_evict(s, k, old, true, l1s_state(s, k, old) == LINE_I, t);
		if (!s->m->l3_bytes)
			bus_emit(s, q.thread, BUS_WRITE_BACK, t);
		return;
	}
	const uint32_t j = cache_find(&k->l2, old);
	t = lane_take(&k->port, t);
	signal_pulse(g, met[j == CACHE_NONE ? LINE_I : *cache_state(&k->l2, j) & LINE_STATE], t, 1);
	if (j != CACHE_NONE)
		*cache_state(&k->l2, j) = LINE_M;
	else
		l2_put(s, k, &q, cache_block_of(&k->l2, old, 0), old, t, LINE_M, t, request_demands(&q), 0);
}

/* Brings a line into the L1D of a core, waiting for a fill buffer; returns when one was allocated. held: the L1D has the
 * line without the requested right; kind: q's; room: a fill buffer is free at t. */
static inline __attribute__((always_inline)) uint64_t l1_fill(struct memory *s, struct private_core *c, const struct line_request *q, bool held,
                                                              const enum line_request_kind kind, const bool room, const unsigned quick, uint64_t t, struct fill *f)
{
	const unsigned w = quick ? 8 : 0;
	const unsigned open = c->wc_open;
	struct signals *g = s->signals[q->thread];
	if (c->wc_open)
		wc_evict(s, c, q->thread, q->line, t);
	const uint64_t start = room && c->wc_open == open ? t : memory_lfb_start(s, c, q->line, t);
	if (quick) {
		struct cache *const l2 = &c->cluster->l2;
		uint8_t *const set = cache_block_of(l2, q->line, w);
		l2_read_as(s, c, q, set, cache_find_way(l2, set, q->line, w), start, kind, true, false, quick, f);
	} else {
		l2_read(s, c, q, start, f);
	}
	pool_add_found(&c->lfb, start, f->ready, q->line, (uint8_t)f->source);
	if (!quick && g->any_lines) {
		if (start > t)
			signal_level(g, SIG_LFB_FULL, t, start, 1);
		signal_level(g, SIG_LFB_OCCUPANCY, start, f->ready, 1);
		if (kind == REQUEST_LOAD)
			signal_level(g, SIG_LFB_LOADS, start, f->ready, 1);
	}
	struct cache *const l1 = &c->l1d;
	const uint8_t state = (uint8_t)(f->state | (kind_demands(kind) ? 0 : LINE_PREFETCHED));
	const uint32_t i = held ? cache_find(l1, q->line) : CACHE_NONE; /* held in S when ownership is requested */
	uint32_t old = CACHE_NONE;
	bool dirty = false;
	if (i == CACHE_NONE) {
		uint8_t *const block = cache_block_of(l1, q->line, w);
		const uint32_t way = cache_victim_way(l1, block, w);
		old = ~cache_tags_in(l1, block, w)[way];
		dirty = (cache_states_in(l1, block, w)[way] & LINE_STATE) == LINE_M;
		if (!quick && g->any_lines) {
			signal_pulse(g, SIG_L1D_REPLACED, start, 1);
			if (f->state == LINE_M)
				signal_pulse(g, SIG_L1D_REPLACED_MODIFIED, start, 1);
		}
		cache_put_victim(l1, block, way, old, q->line, f->ready, state, w);
	} else {
		cache_put(l1, i, q->line, f->ready, state);
	}
	/* only now: what follows may evict the new line from the L2, and must find it here */
	if (old != CACHE_NONE && (dirty || (!quick && !s->inclusive)))
		l1_evict(s, c, *q, old, dirty, start);
	if (kind_owns(kind))
		(void)lower_code(c, q->line, LINE_I);
	return start;
}

void memory_l1_prefetch(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t)
{
	const struct line_request q = { line, thread, REQUEST_PREFETCH, false };
	struct fill f;
	(void)l1_fill(s, c, &q, false, REQUEST_PREFETCH, true, 0, t, &f);
}

/* ---- requests ------------------------------------------------------------------------------- */

/* Demand accesses to the L1D, by the state of the line at the access. */
static inline __attribute__((always_inline)) void tell_l1(struct memory *s, enum mem_kind kind, unsigned thread, uint64_t t, enum line_state had)
{
	static const uint8_t load[] = { SIG_L1D_LOAD_I, SIG_L1D_LOAD_S, SIG_L1D_LOAD_S, SIG_L1D_LOAD_E, SIG_L1D_LOAD_M };
	static const uint8_t store[] = { SIG_L1D_STORE_I, SIG_L1D_STORE_S, SIG_L1D_STORE_S, SIG_L1D_STORE_E, SIG_L1D_STORE_M };
	struct signals *g = s->signals[thread];
	if (kind == MEM_LOAD && signal_subscribed_any(g, SIG_L1D_LOAD_I, SIG_L1D_LOAD_M))
		signal_pulse(g, (enum signal)load[had], t, 1);
	else if (kind == MEM_RFO && signal_subscribed_any(g, SIG_L1D_STORE_I, SIG_L1D_STORE_M))
		signal_pulse(g, (enum signal)store[had], t, 1);
}

/* A data request at cycle t that is not a plain hit. block, way: the line's set and way in the L1D, CACHE_NONE if it is not
 * held. */
static inline __attribute__((always_inline)) void data_slow_as(struct memory *s, struct private_core *c, enum mem_kind kind, unsigned thread,
	uint64_t t, uint32_t line, uint8_t *block, uint32_t way, const unsigned quick, struct mem_reply *r)
{
	const unsigned w = quick ? 8 : 0;
	const bool own = kind == MEM_RFO || kind == MEM_PREFETCH_W;
	const uint64_t least = t + (own ? 1 : c->m->l1d_cycles);
	const bool train = kind == MEM_LOAD && (c->prefetchers & 4);
	struct cache *l1 = &c->l1d;
	if (way != CACHE_NONE && (!own || (cache_states_in(l1, block, w)[way] & LINE_STATE) >= LINE_E)) {
		uint8_t *const at = cache_states_in(l1, block, w) + way;
		const uint8_t state = *at;
		/* present or in flight */
		const uint64_t ready = l1->epoch + cache_ready_in(l1, block, w)[way];
		const struct pool_use *u = ready > t ? pool_find(&c->lfb, t, line) : NULL;
		const bool first = state & LINE_PREFETCHED;
		tell_l1(s, kind, thread, t, ready > t ? LINE_I : (enum line_state)(state & LINE_STATE));
		cache_touch_way(l1, block, way, w);
		*at = own ? LINE_M : state & (uint8_t)~LINE_PREFETCHED;
		if (own)
			(void)lower_code(c, line, LINE_I);
		r->lfb_from = t;
		r->source = ready > t ? SRC_LFB : SRC_L1;
		r->ready = ready > least ? ready : least;
		if (u && u->from > t) { /* requested by an older instruction, but later in time */
			r->source = (enum mem_source)u->source;
			r->ready = t + (u->to - u->from);
			cache_set_ready_way(l1, block, way, r->ready, w);
		}
		if (first && ready > t)
			signal_pulse(s->signals[thread], SIG_LOAD_HIT_PREFETCH, t, 1);
		if (first && train)
			prefetch_next_line(s, c, thread, t, line);
		return;
	}
	tell_l1(s, kind, thread, t, way == CACHE_NONE ? LINE_I : LINE_S);
	if (way == CACHE_NONE && !own) { /* evicted before it arrived: the fill buffer still has it */
		const struct pool_use *u = pool_find(&c->lfb, t, line);
		if (u && u->from <= t) {
			r->lfb_from = t;
			r->source = SRC_LFB;
			r->ready = u->to > least ? u->to : least;
			return;
		}
	}
	const enum line_request_kind asks = kind == MEM_WALK ? REQUEST_WALK : own ? REQUEST_RFO : REQUEST_LOAD;
	const struct line_request request = { line, thread, asks, kind == MEM_PREFETCH_T0 || kind == MEM_PREFETCH_NTA || kind == MEM_PREFETCH_W };
	struct fill f;
	r->lfb_from = l1_fill(s, c, &request, own && way != CACHE_NONE, asks, false, quick, t, &f);
	r->ready = f.ready;
	r->source = f.source;
	if (train)
		prefetch_next_line(s, c, thread, t, line);
}

static __attribute__((noinline)) void data_slow(struct memory *s, struct private_core *c, enum mem_kind kind, unsigned thread, uint64_t t,
                                                uint32_t line, uint8_t *block, uint32_t way, struct mem_reply *r)
{
	data_slow_as(s, c, kind, thread, t, line, block, way, 0, r);
}

/* Whether the access is a plain hit, which it then completes. block: of the line's set in the L1D; *in: its way, if held.
 * w: as in cache.h. */
static inline __attribute__((always_inline)) bool data_near(struct memory *s, struct private_core *c, enum mem_kind kind,
	unsigned thread, uint64_t ip, uint64_t va, uint64_t t, uint32_t line, bool own, uint8_t *block, uint32_t *in, const unsigned w)
{
	struct cache *l1 = &c->l1d;
	const uint32_t way = cache_find_way(l1, block, line, w);
	*in = way;
	if (kind == MEM_LOAD && (c->prefetchers & 8))
		prefetch_stride(s, c, thread, ip, va, line, t);
	if (way == CACHE_NONE)
		return false;
	const uint8_t state = cache_states_in(l1, block, w)[way];
	if (l1->epoch + cache_ready_in(l1, block, w)[way] > t || !(state == LINE_M || (!own && state <= LINE_STATE)))
		return false;
	if (kind == MEM_LOAD || kind == MEM_RFO)
		tell_l1(s, kind, thread, t, (enum line_state)state);
	cache_touch_way(l1, block, way, w);
	return true;
}

static inline __attribute__((always_inline)) void data(struct memory *s, const struct mem_request *q, bool own, struct mem_reply *r)
{
	struct private_core *c = &s->core[q->core];
	/* page walks access node 0, above the memory that it maps */
	const uint32_t line = q->kind == MEM_WALK ? (uint32_t)(q->pa >> 6) : line_of(s, q->pa);
	uint32_t way;
	uint8_t *const block = cache_block_of(&c->l1d, line, 0);
	if (data_near(s, c, q->kind, q->thread, q->ip, q->va, q->cycle, line, own, block, &way, 0)) {
		r->ready = q->cycle + (own ? 1 : c->m->l1d_cycles);
		r->lfb_from = q->cycle;
		r->source = SRC_L1;
		return;
	}
	data_slow(s, c, q->kind, q->thread, q->cycle, line, block, way, r);
}

/* The page has to be looked up. */
static __attribute__((noinline)) enum status data_far(struct memory *s, struct mem_request *q, struct data_reply *r)
{
	const bool own = q->kind == MEM_RFO;
	struct tlb_reply t;
	struct mem_reply reply;
	const enum status st = memory_translate(s, q->core, q->thread, q->va, own ? FOR_STORE : FOR_LOAD, q->cycle, &t);
	if (st != ST_OK)
		return st;
	q->pa = t.pa;
	q->cycle = t.ready > q->cycle ? t.ready : q->cycle;
	data(s, q, own, &reply);
	*r = (struct data_reply){ reply.ready, q->cycle, reply.source, t.level };
	if (!own)
		s->core[q->core].beyond = reply.source > SRC_L2;
	return ST_OK;
}

/* The page is known, the line has to be looked up; block, way: as in data_slow. */
static inline __attribute__((always_inline)) enum status data_beyond_as(struct memory *s, struct private_core *c, const bool own, unsigned thread,
	uint64_t t, uint32_t line, uint8_t *block, uint32_t way, const unsigned quick, struct data_reply *r)
{
	struct mem_reply reply;
	data_slow_as(s, c, own ? MEM_RFO : MEM_LOAD, thread, t, line, block, way, quick, &reply);
	r->ready = reply.ready;
	r->translated = t;
	r->source = reply.source;
	r->level = 1;
	if (!own)
		c->beyond = reply.source > SRC_L2;
	return ST_OK;
}

static __attribute__((noinline)) enum status data_beyond_wholly(struct memory *s, struct private_core *c, bool own, unsigned thread, uint64_t t,
                                                                uint32_t line, uint8_t *block, uint32_t way, struct data_reply *r)
{
	return data_beyond_as(s, c, own, thread, t, line, block, way, 0, r);
}

/* miss: the line is not held. */
#define BEYOND(name, own, miss, quick) \
	static OWN_PAGE enum status name(struct memory *s, struct private_core *c, unsigned thread, uint64_t t, uint32_t line, uint8_t *block, \
	                                 uint32_t way, struct data_reply *r) \
	{ \
		return data_beyond_as(s, c, own, thread, t, line, block, miss ? CACHE_NONE : way, quick, r); \
	}
BEYOND(load_beyond_1, false, true, 1)
BEYOND(load_beyond_2, false, true, 2)
BEYOND(load_waiting, false, false, 1)
BEYOND(store_beyond_1, true, false, 1)
BEYOND(store_beyond_2, true, false, 2)

/* w: as in cache.h, of the L1D. */
static inline __attribute__((always_inline)) enum status data_at(struct memory *s, unsigned core, unsigned thread, uint64_t ip,
	uint64_t va, unsigned bytes, uint64_t cycle, bool own, const unsigned w, struct data_reply *r)
{
	struct private_core *c = &s->core[core];
	const struct recent_page *p = page_known(c, va, cycle);
	const enum mem_kind kind = own ? MEM_RFO : MEM_LOAD;
	uint32_t way;
	if (!p) {
		struct mem_request q = { .kind = kind, .core = core, .thread = thread, .va = va, .bytes = (uint8_t)bytes, .ip = ip, .cycle = cycle };
		return data_far(s, &q, r);
	}
	const uint32_t line = page_line(p, va);
	uint8_t *const block = cache_block_of(&c->l1d, line, w);
	if (!data_near(s, c, kind, thread, ip, va, cycle, line, own, block, &way, w)) {
		const unsigned quick = w ? how_quick(s, thread) : 0;
		if (quick && !own && way != CACHE_NONE)
			return load_waiting(s, c, thread, cycle, line, block, way, r);
		if (quick == 2)
			return (own ? store_beyond_2 : load_beyond_2)(s, c, thread, cycle, line, block, way, r);
		if (quick)
			return (own ? store_beyond_1 : load_beyond_1)(s, c, thread, cycle, line, block, way, r);
		return data_beyond_wholly(s, c, own, thread, cycle, line, block, way, r);
	}
	r->translated = cycle;
	r->level = 1;
	r->ready = cycle + (own ? 1 : c->m->l1d_cycles);
	r->source = SRC_L1;
	if (!own)
		c->beyond = false;
	return ST_OK;
}

/* For a machine with an unusual L1D. */
static __attribute__((noinline)) enum status data_wholly(struct memory *s, unsigned core, unsigned thread, uint64_t ip, uint64_t va, unsigned bytes,
                                                         uint64_t cycle, bool own, struct data_reply *r)
{
	return data_at(s, core, thread, ip, va, bytes, cycle, own, 0, r);
}

OWN_PAGE enum status memory_load(struct memory *s, unsigned core, unsigned thread, uint64_t ip, uint64_t va, unsigned bytes, uint64_t cycle,
                        struct data_reply *r)
{
	if (__builtin_expect(!s->usual, 0))
		return data_wholly(s, core, thread, ip, va, bytes, cycle, false, r);
	return data_at(s, core, thread, ip, va, bytes, cycle, false, 8, r);
}

enum status memory_store(struct memory *s, unsigned core, unsigned thread, uint64_t ip, uint64_t va, unsigned bytes, uint64_t cycle,
                         struct data_reply *r)
{
	if (__builtin_expect(!s->usual, 0))
		return data_wholly(s, core, thread, ip, va, bytes, cycle, true, r);
	return data_at(s, core, thread, ip, va, bytes, cycle, true, 8, r);
}

const bool *memory_went_beyond(const struct memory *s, unsigned core) { return &s->core[core].beyond; }

bool memory_has_code(const struct memory *s, unsigned core, uint64_t pa)
{
	return cache_find(&s->core[core].l1i, line_of(s, pa)) != CACHE_NONE;
}

static void instruction(struct memory *s, const struct mem_request *q, struct mem_reply *r)
{
	struct private_core *c = &s->core[q->core];
	struct signals *g = s->signals[q->thread];
	const uint32_t line = line_of(s, q->pa);
	const uint32_t i = cache_find(&c->l1i, line);
	r->lfb_from = q->cycle;
	signal_pulse(g, i == CACHE_NONE ? SIG_L1I_MISS : SIG_L1I_HIT, q->cycle, 1);
	if (i != CACHE_NONE) {
		r->source = cache_ready(&c->l1i, i) > q->cycle ? SRC_LFB : SRC_L1;
		r->ready = cache_ready(&c->l1i, i) > q->cycle ? cache_ready(&c->l1i, i) : q->cycle;
		cache_touch(&c->l1i, i);
		return;
	}
	const struct line_request request = { line, q->thread, REQUEST_IFETCH, false };
	struct fill f;
	l2_read(s, c, &request, q->cycle, &f);
	const uint32_t j = cache_victim(&c->l1i, line), old = cache_tag(&c->l1i, j);
	cache_put(&c->l1i, j, line, f.ready, LINE_S);
	c->code_first = line < c->code_first ? line : c->code_first;
	c->code_last = line > c->code_last ? line : c->code_last;
	if (old != CACHE_NONE && !s->inclusive && cluster_state(s, c->cluster, old) == LINE_I)
		uncore_evict(s, c->cluster, old, false, true, q->cycle);
	r->ready = f.ready;
	r->source = f.source;
}

/* A software prefetch into the L2 (T1, T2). It takes a fill buffer. */
static void software_l2(struct memory *s, const struct mem_request *q, struct mem_reply *r)
{
	struct private_core *c = &s->core[q->core];
	const uint32_t line = line_of(s, q->pa);
	struct fill f = { .ready = q->cycle, .source = SRC_L1 };
	r->lfb_from = q->cycle;
	if (cache_find(&c->l1d, line) == CACHE_NONE) {
		const struct line_request request = { line, q->thread, REQUEST_LOAD, true };
		r->lfb_from = memory_lfb_start(s, c, line, q->cycle);
		l2_read(s, c, &request, r->lfb_from, &f);
		pool_add(&c->lfb, r->lfb_from, f.ready, CACHE_NONE, (uint8_t)f.source);
	}
	r->ready = f.ready;
	r->source = f.source;
}

void memory_access(struct memory *s, const struct mem_request *q, struct mem_reply *r)
{
	switch (q->kind) {
	case MEM_LOAD:
	case MEM_WALK:
	case MEM_PREFETCH_T0:
	case MEM_PREFETCH_NTA:
		data(s, q, false, r);
		break;
	case MEM_RFO:
	case MEM_PREFETCH_W:
		data(s, q, true, r);
		break;
	case MEM_IFETCH:
		instruction(s, q, r);
		break;
	case MEM_PREFETCH_T1:
	case MEM_PREFETCH_T2:
		software_l2(s, q, r);
		break;
	case MEM_FLUSH:
		memory_flush_line(s, q, r);
		break;
	case MEM_NT_STORE:
		memory_nt_store(s, q, r);
		break;
	case MEM_DRAIN_NT:
		memory_nt_drain(s, q, r);
		break;
	}
}

/* The line that the fill would evict from the L2 now: a victim cache's sets receive it, and it loses its entry in the directory. */
static void look_ahead_victim(const struct memory *s, const struct cluster *k, uint32_t line)
{
	const struct cache *const l2 = &k->l2;
	if (!l2->sets || !l2->nibbles) /* of other policies a victim has to be drawn or sought */
		return;
	uint8_t *const block = cache_block_of(l2, line, 0);
	const uint32_t old = ~cache_tags_in(l2, block, 0)[cache_order(block) >> l2->last_nibble & 15];
	if (old == CACHE_NONE)
		return;
	if (k->here->l3.used)
		cache_near(&k->here->l3, old, false, 0);
	directory_near(s, k->here, old);
}

static __attribute__((noinline)) void look_ahead_wholly(const struct memory *s, unsigned core, uint64_t pa)
{
	const uint32_t line = line_of(s, pa);
	const struct private_core *c = &s->core[core];
	const struct socket *here = c->cluster->here, *peer = c->cluster->peer;
	if (here->l3.used) /* only levels that hold anything */
		cache_near(&here->l3, line, c->prefetchers & 2, 0);
	if (peer && peer->l3.used)
		cache_near(&peer->l3, line, c->prefetchers & 2, 0);
	if (!here->directory.entries)
		return;
	directory_near(s, here, line);
	look_ahead_victim(s, c->cluster, line);
	if (c->prefetchers & 2)
		look_ahead_victim(s, c->cluster, line ^ 1);
}

void memory_look_ahead(const struct memory *s, unsigned core, uint64_t pa)
{
	const struct private_core *c = &s->core[core];
	const struct socket *peer = c->cluster->peer;
	if (s->quick == 2 && (!peer || !peer->l3.used))
		cache_near(&c->cluster->here->l3, line_of(s, pa), c->prefetchers & 2, 16);
	else
		look_ahead_wholly(s, core, pa);
}
