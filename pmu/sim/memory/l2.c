/* pmu/sim/memory/l2.c: requests to a cluster's L2; latencies and limits stand in memory.c. */
#include "pmu/sim/memory/l2.h"

__attribute__((noinline)) void l2_emit(struct memory *s, const struct line_request *q, enum line_state had, bool hit, uint64_t t)
{
	static const enum signal rqst[][2] = {
		[REQUEST_LOAD] = { SIG_L2_REQUEST_LOAD_MISS, SIG_L2_REQUEST_LOAD_HIT },
		[REQUEST_RFO] = { SIG_L2_REQUEST_RFO_MISS, SIG_L2_REQUEST_RFO_HIT },
		[REQUEST_IFETCH] = { SIG_L2_REQUEST_IFETCH_MISS, SIG_L2_REQUEST_IFETCH_HIT },
		[REQUEST_WALK] = { SIG_L2_REQUEST_WALK_MISS, SIG_L2_REQUEST_WALK_HIT },
		[REQUEST_PREFETCH] = { SIG_L2_REQUEST_PREFETCH_MISS, SIG_L2_REQUEST_PREFETCH_HIT },
		[REQUEST_PREFETCH_RFO] = { SIG_L2_REQUEST_PREFETCH_MISS, SIG_L2_REQUEST_PREFETCH_HIT },
	};
	static const enum signal demand[] = { SIG_L2_DEMAND_I, SIG_L2_DEMAND_S, SIG_L2_DEMAND_S, SIG_L2_DEMAND_E, SIG_L2_DEMAND_M };
	static const enum signal prefetch[] = { SIG_L2_PREFETCH_I, SIG_L2_PREFETCH_S, SIG_L2_PREFETCH_S, SIG_L2_PREFETCH_E, SIG_L2_PREFETCH_M };
	static const enum signal rfo[] = { SIG_L2_RFO_I, SIG_L2_RFO_S, SIG_L2_RFO_S, SIG_L2_RFO_E, SIG_L2_RFO_M };
	struct signals *g = s->signals[q->thread];
	signal_pulse(g, rqst[q->kind][hit], t, 1);
	if (q->kind == REQUEST_LOAD && !q->software)
		signal_pulse(g, hit ? SIG_L2_REQUEST_READ_HIT : SIG_L2_REQUEST_READ_MISS, t, 1);
	if (q->kind == REQUEST_IFETCH)
		return;
	signal_pulse(g, request_demands(q) ? demand[had] : prefetch[had], t, 1);
	if (q->kind == REQUEST_RFO)
		signal_pulse(g, rfo[had], t, 1);
}

/* The OFFCORE_..._NEAR_ columns, after another complex's or another memory node's: FORWARD, HITM, DRAM; NEAR_COLUMNS: the answer is not of another one. */
#define NEAR_COLUMNS 3u
static unsigned near_column(const struct memory *s, const struct line_request *q, enum mem_source source)
{
	const struct cluster *k = s->core[q->thread / (unsigned)s->m->topology_threads].cluster;
	if (source == SRC_NEAR_CLEAN || source == SRC_NEAR_MODIFIED)
		return (unsigned)(source - SRC_NEAR_CLEAN);
	if (s->parts == 1 || part_of(s, q->line) == k->part)
		return NEAR_COLUMNS;
	switch (source) {
	case SRC_L3_UNSHARED: case SRC_L3_OTHER_CLEAN: return 0;
	case SRC_L3_OTHER_MODIFIED: return 1;
	case SRC_LOCAL_DRAM: return 2;
	default: return NEAR_COLUMNS; /* another socket's is that wherever in it the line is */
	}
}

/* Source of the answer from beyond the L2, for the OFFCORE_ signals: rows of eight, in the order of sources, or of the NEAR_COLUMNS. */
__attribute__((noinline)) void l2_emit_offcore(struct memory *s, const struct line_request *q, const struct fill *f, uint64_t t)
{
	static const uint8_t row[] = { [REQUEST_LOAD] = 0, [REQUEST_RFO] = 1, [REQUEST_IFETCH] = 2, [REQUEST_WALK] = 0, [REQUEST_PREFETCH] = 4,
	                               [REQUEST_PREFETCH_RFO] = 5 };
	static const uint8_t column[] = { [SRC_L3_UNSHARED] = 0, [SRC_L3_OTHER_CLEAN] = 1, [SRC_L3_OTHER_MODIFIED] = 2,
	                                  [SRC_REMOTE_MODIFIED] = 3, [SRC_REMOTE_CLEAN] = 4, [SRC_REMOTE_DRAM] = 5,
	                                  [SRC_LOCAL_DRAM] = 6 };
	struct signals *g = s->signals[q->thread];
	const unsigned near = near_column(s, q, f->source);
	const unsigned told = near < NEAR_COLUMNS ? (unsigned)SIG_OFFCORE_DATA_NEAR_FORWARD + row[q->kind] * NEAR_COLUMNS + near :
	                      (unsigned)SIG_OFFCORE_DATA_UNCORE_HIT + row[q->kind] * 8u + column[f->source];
	signal_pulse(g, (enum signal)told, t, 1);
	if (row[q->kind] == 0 && !q->software)
		signal_pulse(g, (enum signal)(near < NEAR_COLUMNS ? (unsigned)SIG_OFFCORE_READ_NEAR_FORWARD + near : (unsigned)SIG_OFFCORE_READ_UNCORE_HIT + column[f->source]), t, 1);
	signal_pulse(g, SIG_L3_REFERENCE, t, 1);
	if (f->source >= SRC_NEAR_CLEAN)
		signal_pulse(g, SIG_L3_MISS, t, 1);
}

uint64_t l2_sq_start_slow(const struct memory *s, struct cluster *k, uint32_t line, uint64_t t)
{
	return pool_start(&k->sq, t, uncore_lasts(s, k, line), 0);
}

uint64_t memory_lfb_lasts(const struct memory *s, const struct private_core *c, uint32_t line)
{
	return cache_find(&c->cluster->l2, line) != CACHE_NONE ? c->cluster->m->l2_cycles : uncore_lasts(s, c->cluster, line);
}

uint64_t memory_lfb_start_slow(const struct memory *s, struct private_core *c, uint32_t line, uint64_t t)
{
	return pool_start(&c->lfb, t, memory_lfb_lasts(s, c, line), c->wc_open);
}

uint64_t memory_room(const struct memory *s, unsigned core, uint64_t t)
{
	struct private_core *c = &s->core[core];
	return pool_start(&c->lfb, t, 1, c->wc_open);
}

OWN_PAGE void l2_read(struct memory *s, struct private_core *c, const struct line_request *q, uint64_t t, struct fill *f)
{
	struct cache *const l2 = &c->cluster->l2;
	uint8_t *const block = l2->sets ? cache_block_of(l2, q->line, 0) : NULL;
	l2_read_as(s, c, q, block, block ? cache_find_way(l2, block, q->line, 0) : CACHE_NONE, t, q->kind, true, false, 0, f);
}

__attribute__((noinline)) bool l2_prefetch_wholly(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t)
{
	struct cluster *k = c->cluster;
	const struct line_request q = { line, thread, REQUEST_PREFETCH, false };
	struct fill f;
	uint8_t *const block = cache_block_of(&k->l2, line, 0);
	if (cache_find_way(&k->l2, block, line, 0) != CACHE_NONE)
		return true;
	if (l2_sq_is_full(s, k, line, t))
		return false;
	l2_read_as(s, c, &q, block, CACHE_NONE, t, REQUEST_PREFETCH, false, true, 0, &f);
	return true;
}

static inline __attribute__((always_inline)) bool l2_prefetch_as(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t,
                                                                 const unsigned quick)
{
	struct cluster *k = c->cluster;
	const struct line_request q = { line, thread, REQUEST_PREFETCH, false };
	struct fill f;
	uint8_t *const block = cache_block_of(&k->l2, line, 8);
	if (cache_find_way(&k->l2, block, line, 8) != CACHE_NONE)
		return true;
	if (l2_sq_is_full(s, k, line, t))
		return false;
	l2_read_as(s, c, &q, block, CACHE_NONE, t, REQUEST_PREFETCH, false, true, quick, &f);
	return true;
}

OWN_PAGE bool l2_prefetch_1(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t)
{
	return l2_prefetch_as(s, c, thread, line, t, 1);
}

OWN_PAGE bool l2_prefetch_2(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t)
{
	return l2_prefetch_as(s, c, thread, line, t, 2);
}

bool l2_prefetch(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t)
{
	const unsigned quick = how_quick(s, thread);
	return quick == 2 ? l2_prefetch_2(s, c, thread, line, t) : quick ? l2_prefetch_1(s, c, thread, line, t) : l2_prefetch_wholly(s, c, thread, line, t);
}
