/* pmu/sim/memory.c: the private caches of the cores; the way of a request through them.
 *
 * Latencies of a single request on an idle machine, load to use, in core cycles; t is the cycle
 * of the request, up(x) is x rounded up to a whole core cycle, U(n) = up(n uncore cycles),
 * P(n) = up(n ps):
 *   L1            l1d.cycles
 *   L2            l2.cycles
 *   L3            L = l3.core_cycles + U(l3.uncore_cycles)
 *   L3, snooped   l3.core_cycles + U(l3.uncore_cycles + l3.clean_uncore_cycles or l3.modified_uncore_cycles)
 *   local DRAM    L + P(dram.local_ps), remote DRAM L + P(dram.remote_ps)
 *   remote cache  L + P(link.clean_ps) or L + P(link.modified_ps)
 * where L is l2.cycles (l1d.cycles) on a machine without an L3 (and without an L2).
 * A line that is on its way comes to later requests when it comes to the first, but not before
 * l1d.cycles (in the L1) or l2.cycles (in the L2) after them: LFB hits, late prefetches.
 * A store that finds its line in M or E takes 1 cycle, else what a load would take. A line in S
 * has to be asked for again: the L3's latency, with invalidations in other cores that of a clean
 * snoop, in other sockets at least L + P(link.invalidate_ps).
 *
 * Throughput: lfb.entries lines on their way to an L1D; sq.entries of a cluster that missed the
 * L2; a line from or to the L2 keeps it for l2.busy_cycles, a slice of the L3 for
 * l3.busy_uncore_cycles, a link between sockets for 64 bytes / link.bytes_per_second, a channel
 * of memory for 64 bytes / dram.channel_bytes_per_second. Lines that are written back take
 * these too, from the cycle in which the line that displaces them was asked for.
 *
 * Not modelled: banks and ports of the L1 (the core has them), a write-back buffer with an end,
 * data errors, cacheability other than write-back, and whatever the other files of this room
 * name. States change when a request is made, not when its data comes. */
#include "pmu/sim/memory_state.h"

uint64_t cycles_of_ps(const struct machine *m, uint64_t ps)
{
	/* ps * core_hz / 1e12; bus_hz_times_3 * ratio = 3 * core_hz */
	const uint64_t hz3 = m->clock_bus_hz_times_3 * m->clock_core_ratio, second3 = 3000000000000ull;
	const uint64_t khz3 = hz3 / 1000, rest = hz3 % 1000;
	/* in two parts, so that neither overflows: 3e8 kHz * 1e7 ps, 1e3 * 1e7 */
	const uint64_t thousandths = ps * khz3 + (ps * rest + 999) / 1000;
	return (thousandths + second3 / 1000 - 1) / (second3 / 1000);
}

uint64_t cycles_of_uncore(const struct machine *m, uint64_t uncore_cycles)
{
	return (uncore_cycles * m->tick_per_uncore_cycle + m->tick_per_core_cycle - 1) / m->tick_per_core_cycle;
}

/* ---- what the caches of a cluster hold ------------------------------------------------------ */

static enum line_state state_in(const struct cache *c, uint32_t line)
{
	const uint32_t i = cache_find(c, line);
	return i == CACHE_NONE ? LINE_I : (enum line_state)(c->state[i] & LINE_STATE);
}

/* Highest state of the line in the L1s of a cluster, but not in the L1D of core `but`. */
static enum line_state l1s_state(const struct memory *s, const struct cluster *k, uint32_t line,
                                 const struct private_core *but)
{
	enum line_state highest = LINE_I;
	for (unsigned i = 0; i < k->cores; i++) {
		const struct private_core *c = &s->core[k->first_core + i];
		const enum line_state d = c == but ? LINE_I : state_in(&c->l1d, line), f = state_in(&c->l1i, line);
		highest = d > highest ? d : highest;
		highest = f > highest ? f : highest;
	}
	return highest;
}

static enum line_state lower_in(struct cache *c, uint32_t line, enum line_state to)
{
	const uint32_t i = cache_find(c, line);
	if (i == CACHE_NONE)
		return LINE_I;
	const enum line_state had = (enum line_state)(c->state[i] & LINE_STATE);
	if (to == LINE_I)
		cache_drop(c, i);
	else
		c->state[i] = (uint8_t)((c->state[i] & ~LINE_STATE) | to);
	return had;
}

static enum line_state lower(struct memory *s, struct cluster *k, uint32_t line, enum line_state to,
                             const struct private_core *but, bool l2)
{
	enum line_state highest = l2 ? lower_in(&k->l2, line, to) : LINE_I;
	for (unsigned i = 0; i < k->cores; i++) {
		struct private_core *c = &s->core[k->first_core + i];
		if (c != but) {
			const enum line_state had = lower_in(&c->l1d, line, to);
			highest = had > highest ? had : highest;
		}
		const enum line_state had = lower_in(&c->l1i, line, to);
		highest = had > highest ? had : highest;
	}
	return highest;
}

enum line_state cluster_state(const struct memory *s, const struct cluster *k, uint32_t line)
{
	const enum line_state a = l1s_state(s, k, line, NULL), b = state_in(&k->l2, line);
	return a > b ? a : b;
}

enum line_state cluster_share(struct memory *s, struct cluster *k, uint32_t line)
{
	return lower(s, k, line, LINE_S, NULL, true);
}

enum line_state cluster_invalidate(struct memory *s, struct cluster *k, uint32_t line)
{
	return lower(s, k, line, LINE_I, NULL, true);
}

/* ---- lines into the L2 and the L1 ----------------------------------------------------------- */

static void l2_put(struct memory *s, struct cluster *k, uint32_t line, uint64_t ready, enum line_state state,
                   uint64_t t, unsigned thread, unsigned flags)
{
	if (!k->l2.sets)
		return;
	const uint32_t i = cache_victim(&k->l2, line), old = k->l2.tag[i];
	if (old != CACHE_NONE) {
		const bool dirty = (k->l2.state[i] & LINE_STATE) == LINE_M;
		cache_drop(&k->l2, i);
		const enum line_state above = dirty || !s->inclusive ? l1s_state(s, k, old, NULL) : LINE_I;
		if (above != LINE_M && (dirty || (!s->inclusive && above == LINE_I)))
			uncore_evict(s, k, old, dirty, above == LINE_I, t);
		if (dirty)
			signal_pulse(s->signals[thread], SIG_L2_EVICTED_MODIFIED, t, 1);
		else
			signal_pulse(s->signals[thread], SIG_L2_EVICTED_CLEAN, t, 1);
	}
	cache_put(&k->l2, i, line, ready, (uint8_t)(state | flags));
	signal_pulse(s->signals[thread], SIG_L2_LINES_IN, t, 1);
}

void l2_read(struct memory *s, struct private_core *c, uint32_t line, bool own, uint64_t t, unsigned thread,
             bool demand, struct fill *f)
{
	struct cluster *k = c->cluster;
	uint32_t i = cache_find(&k->l2, line);
	enum line_state beside = LINE_I;
	if (k->l2.sets)
		t = lane_take(&k->port, t);
	if (k->cores > 1) { /* the other cores of a shared L2 */
		beside = lower(s, k, line, own ? LINE_I : LINE_S, c, false);
		if (beside == LINE_M) {
			if (i != CACHE_NONE) {
				k->l2.state[i] = LINE_M;
			} else {
				l2_put(s, k, line, t, LINE_M, t, thread, 0);
				i = cache_find(&k->l2, line);
			}
		}
	}
	if (i != CACHE_NONE) {
		const enum line_state state = (enum line_state)(k->l2.state[i] & LINE_STATE);
		if (!own || state >= LINE_E) {
			f->ready = t + s->m->l2_cycles;
			if (k->l2.ready[i] > f->ready)
				f->ready = k->l2.ready[i];
			f->source = SRC_L2;
			f->state = own ? LINE_M : state == LINE_S || beside != LINE_I ? LINE_S : LINE_E;
			if (demand)
				k->l2.state[i] &= (uint8_t)~LINE_PREFETCHED;
			cache_touch(&k->l2, i);
			return;
		}
	}
	t = pool_start(&k->sq, t, 0);
	uncore_read(s, k, line, own, t, f);
	pool_add(&k->sq, t, f->ready, line, (uint8_t)f->source);
	/* the L1 has the modified copy, or will */
	const enum line_state mine = own ? LINE_E : f->state;
	i = cache_find(&k->l2, line); /* an inclusive L3 may have taken other lines away, not this one */
	if (i != CACHE_NONE)
		k->l2.state[i] = (uint8_t)mine;
	else
		l2_put(s, k, line, f->ready, mine, t, thread, demand ? 0 : LINE_PREFETCHED);
	if (!own && f->state == LINE_M)
		f->state = k->l2.sets ? LINE_E : LINE_M;
	signal_pulse(s->signals[thread], SIG_L3_REFERENCE, t, 1);
	if (f->source >= SRC_REMOTE_CLEAN)
		signal_pulse(s->signals[thread], SIG_L3_MISS, t, 1);
}

/* Deals with the line that leaves entry i of an L1D. */
static void l1_evict(struct memory *s, struct private_core *c, uint32_t i, uint64_t t, unsigned thread)
{
	struct cluster *k = c->cluster;
	const uint32_t old = c->l1d.tag[i];
	const bool dirty = (c->l1d.state[i] & LINE_STATE) == LINE_M;
	cache_drop(&c->l1d, i);
	if (dirty) {
		signal_pulse(s->signals[thread], SIG_L1D_EVICTED_MODIFIED, t, 1);
		const uint32_t j = cache_find(&k->l2, old);
		if (k->l2.sets)
			(void)lane_take(&k->port, t);
		if (j != CACHE_NONE)
			k->l2.state[j] = LINE_M;
		else if (k->l2.sets)
			l2_put(s, k, old, t, LINE_M, t, thread, 0);
		else
			uncore_evict(s, k, old, true, l1s_state(s, k, old, NULL) == LINE_I, t);
	} else if (!s->inclusive && cluster_state(s, k, old) == LINE_I) {
		uncore_evict(s, k, old, false, true, t);
	}
}

uint64_t l1_fill(struct memory *s, struct private_core *c, uint32_t line, bool own, uint64_t t, unsigned thread,
                 bool demand, struct fill *f)
{
	if (c->wc_open)
		wc_give_up(s, c, line, t);
	const uint64_t start = pool_start(&c->lfb, t, c->wc_open);
	l2_read(s, c, line, own, start, thread, demand, f);
	pool_add(&c->lfb, start, f->ready, line, (uint8_t)f->source);
	uint32_t i = cache_find(&c->l1d, line); /* there in S, when asked for ownership */
	if (i == CACHE_NONE) {
		i = cache_victim(&c->l1d, line);
		if (c->l1d.tag[i] != CACHE_NONE)
			l1_evict(s, c, i, start, thread);
		signal_pulse(s->signals[thread], SIG_L1D_REPLACED, start, 1);
	}
	cache_put(&c->l1d, i, line, f->ready, (uint8_t)(f->state | (demand ? 0 : LINE_PREFETCHED)));
	if (own && cache_find(&c->l1i, line) != CACHE_NONE)
		(void)lower_in(&c->l1i, line, LINE_I);
	return start;
}

/* ---- requests ------------------------------------------------------------------------------- */

/* A data request that is not a plain hit. i: the line's entry in the L1D, if it has one. */
static void data_slow(struct memory *s, struct private_core *c, const struct mem_request *q, uint32_t line,
                      uint32_t i, bool own, struct mem_reply *r)
{
	const uint64_t t = q->cycle, least = t + (own ? 1 : s->m->l1d_cycles);
	struct fill f;
	if (i != CACHE_NONE && (!own || (c->l1d.state[i] & LINE_STATE) >= LINE_E)) {
		/* there, or on its way */
		const uint64_t ready = c->l1d.ready[i];
		const struct pool_use *u = ready > t ? pool_find(&c->lfb, t, line) : NULL;
		cache_touch(&c->l1d, i);
		if (own) {
			c->l1d.state[i] = LINE_M;
			if (cache_find(&c->l1i, line) != CACHE_NONE)
				(void)lower_in(&c->l1i, line, LINE_I);
		}
		c->l1d.state[i] &= (uint8_t)~LINE_PREFETCHED;
		r->lfb_from = t;
		r->source = ready > t ? SRC_LFB : SRC_L1;
		r->ready = ready > least ? ready : least;
		if (u && u->from > t) { /* asked for by an older instruction, but later in time */
			r->source = (enum mem_source)u->source;
			r->ready = t + (u->to - u->from);
			c->l1d.ready[i] = r->ready;
		}
		return;
	}
	if (i == CACHE_NONE) { /* displaced before it came: the fill buffer still has it */
		const struct pool_use *u = pool_find(&c->lfb, t, line);
		if (u && u->from <= t && !own) {
			r->lfb_from = t;
			r->source = SRC_LFB;
			r->ready = u->to > least ? u->to : least;
			return;
		}
	}
	r->lfb_from = l1_fill(s, c, line, own, t, q->thread, true, &f);
	r->ready = f.ready;
	r->source = f.source;
	if (q->kind == MEM_LOAD)
		signal_pulse(s->signals[q->thread], f.source == SRC_L2 ? SIG_L2_REQUEST_LOAD_HIT : SIG_L2_REQUEST_LOAD_MISS,
		             r->lfb_from, 1);
}

static void data(struct memory *s, const struct mem_request *q, bool own, struct mem_reply *r)
{
	struct private_core *c = &s->core[q->core];
	/* walks give a line of node 0 above what it maps */
	const uint32_t line = q->kind == MEM_WALK ? (uint32_t)(q->pa >> 6) : line_of(s, q->pa);
	const uint32_t set = c->l1d.mask ? line & c->l1d.mask : cache_set(&c->l1d, line);
	const uint32_t i = cache_find_in(&c->l1d, set, line);
	if (i != CACHE_NONE && c->l1d.ready[i] <= q->cycle && c->l1d.state[i] == (own ? LINE_M : c->l1d.state[i] & LINE_STATE)) {
		cache_touch(&c->l1d, i);
		r->ready = q->cycle + (own ? 1 : s->m->l1d_cycles);
		r->lfb_from = q->cycle;
		r->source = SRC_L1;
		return;
	}
	data_slow(s, c, q, line, i, own, r);
}

static void instruction(struct memory *s, const struct mem_request *q, struct mem_reply *r)
{
	struct private_core *c = &s->core[q->core];
	const uint32_t line = line_of(s, q->pa);
	const uint32_t i = cache_find(&c->l1i, line);
	r->lfb_from = q->cycle;
	if (i != CACHE_NONE) {
		r->source = c->l1i.ready[i] > q->cycle ? SRC_LFB : SRC_L1;
		r->ready = c->l1i.ready[i] > q->cycle ? c->l1i.ready[i] : q->cycle;
		cache_touch(&c->l1i, i);
		return;
	}
	struct fill f;
	l2_read(s, c, line, false, q->cycle, q->thread, true, &f);
	const uint32_t j = cache_victim(&c->l1i, line), old = c->l1i.tag[j];
	if (old != CACHE_NONE) {
		cache_drop(&c->l1i, j);
		if (!s->inclusive && cluster_state(s, c->cluster, old) == LINE_I)
			uncore_evict(s, c->cluster, old, false, true, q->cycle);
	}
	cache_put(&c->l1i, j, line, f.ready, LINE_S);
	r->ready = f.ready;
	r->source = f.source;
}

/* A software prefetch into the L2: T1, T2. */
static void prefetch_l2(struct memory *s, const struct mem_request *q, struct mem_reply *r)
{
	struct private_core *c = &s->core[q->core];
	const uint32_t line = line_of(s, q->pa);
	struct fill f = { .ready = q->cycle, .source = SRC_L1 };
	r->lfb_from = q->cycle;
	if (cache_find(&c->l1d, line) == CACHE_NONE) {
		r->lfb_from = pool_start(&c->lfb, q->cycle, c->wc_open);
		l2_read(s, c, line, false, r->lfb_from, q->thread, true, &f);
		pool_add(&c->lfb, r->lfb_from, f.ready, line, (uint8_t)f.source);
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
		prefetch_l2(s, q, r);
		break;
	case MEM_FLUSH:
		flush_line(s, q, r);
		break;
	case MEM_NT_STORE:
		nt_store(s, q, r);
		break;
	case MEM_DRAIN_NT:
		nt_drain(s, q, r);
		break;
	}
}

void memory_prefetchers(struct memory *s, unsigned core, unsigned off_mask)
{
	s->core[core].off = off_mask;
}
