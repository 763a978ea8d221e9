/* pmu/sim/memory/l2.h: a cluster's L2, for l2.c and memory*.c only. */
#ifndef SIM_L2_H
#define SIM_L2_H

#include "pmu/sim/memory/coherence.h"

/* What misses the L1D is compiled three times: without the conditions that each `quick` of the memory decides (while nobody
 * subscribes to lines in flight), and in full. */
static inline unsigned how_quick(const struct memory *s, unsigned thread) { return s->signals[thread]->any_lines ? 0 : s->quick; }

/* Emits requests to the L2 and their result, if someone subscribes; `had` is LINE_I for a miss. */
void l2_emit(struct memory *s, const struct line_request *q, enum line_state had, bool hit, uint64_t t);
/* Who answered beyond it. */
void l2_emit_offcore(struct memory *s, const struct line_request *q, const struct fill *f, uint64_t t);
/* l2_prefetch of each `quick`. */
bool l2_prefetch_wholly(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t);
bool l2_prefetch_1(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t);
bool l2_prefetch_2(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t);

/* block: of the line's set in the L2. */
static inline __attribute__((always_inline)) void l2_put(struct memory *s, struct cluster *k, const struct line_request *q, uint8_t *block, uint32_t line,
                   uint64_t ready, enum line_state state, uint64_t t, const bool demand, const unsigned quick)
{
	const unsigned w = quick ? 8 : 0;
	static const enum signal out[] = { SIG_L2_OUT_DEMAND_CLEAN, SIG_L2_OUT_DEMAND_MODIFIED,
	                                   SIG_L2_OUT_PREFETCH_CLEAN, SIG_L2_OUT_PREFETCH_MODIFIED };
	struct signals *g = s->signals[q->thread];
	if (!quick && !k->l2.sets)
		return;
	struct cache *const l2 = &k->l2;
	const uint32_t way = cache_victim_way(l2, block, w), old = ~cache_tags_in(l2, block, w)[way];
	const bool dirty = (cache_states_in(l2, block, w)[way] & LINE_STATE) == LINE_M;
	cache_put_victim(l2, block, way, old, line, ready, (uint8_t)(state | (demand ? 0 : LINE_PREFETCHED)), w);
	if (!quick && g->any_lines) {
		signal_pulse(g, SIG_L2_LINES_IN, t, 1);
		signal_pulse(g, demand ? SIG_L2_LINES_IN_DEMAND : SIG_L2_LINES_IN_PREFETCH, t, 1);
		signal_pulse(g, state >= LINE_E ? SIG_L2_LINES_IN_E : SIG_L2_LINES_IN_S, t, 1);
		if (old != CACHE_NONE)
			signal_pulse(g, out[dirty + 2 * !demand], t, 1);
	}
	if (old == CACHE_NONE || (!dirty && (quick || s->inclusive)))
		return;
	const enum line_state above = l1s_state(s, k, old);
	if (above != LINE_M && (dirty || above == LINE_I)) {
		uncore_evict(s, k, old, dirty, above == LINE_I, t);
		if (dirty && !s->m->l3_bytes)
			bus_emit(s, q->thread, BUS_WRITE_BACK, t);
	}
	if (dirty) {
		signal_pulse(g, SIG_L2_WRITE_BACK, t, 1);
		signal_pulse(g, SIG_OFFCORE_WB_UNCORE_HIT, t, 1);
	}
}

/* block, way: the line's set and way in the L2, CACHE_NONE if it is not held. train: the request trains the prefetchers.
 * room: the super queue has an entry for it at t. kind: q's. */
static inline __attribute__((always_inline)) void l2_read_as(struct memory *s, struct private_core *c, const struct line_request *q, uint8_t *block, uint32_t way,
                                                             uint64_t t, const enum line_request_kind kind, const bool train, const bool room, const unsigned quick,
                                                             struct fill *f)
{
	const unsigned w = quick ? 8 : 0;
	const uint64_t asked = t;
	struct cluster *k = c->cluster;
	struct cache *const l2 = &k->l2;
	const bool own = kind_owns(kind), demand = kind_demands(kind);
	const uint32_t line = q->line;
	enum line_state beside = LINE_I;
	if (quick || k->l2.sets)
		t = lane_take_as(&k->port, t, train); /* a prefetch immediately follows another request */
	if (!quick && k->cores > 1) { /* the other cores of a shared L2 */
		beside = l1s_lower(s, k, line, own ? LINE_I : LINE_S, c);
		if (beside == LINE_M) {
			if (way != CACHE_NONE) {
				cache_states_in(l2, block, w)[way] = LINE_M;
			} else if (k->l2.sets) {
				l2_put(s, k, q, block, line, t, LINE_M, t, request_demands(q), 0);
				way = cache_find_way(l2, block, line, w);
			}
		}
	}
	const enum line_state had = way == CACHE_NONE ? LINE_I : (enum line_state)(cache_states_in(l2, block, w)[way] & LINE_STATE);
	const bool hit = own ? had >= LINE_E : had != LINE_I;
	struct signals *const signals = s->signals[q->thread];
	if (!quick && signals->any_lines && k->l2.sets)
		l2_emit(s, q, had, hit, t);
	if (hit) {
		f->ready = t + k->m->l2_cycles;
		const uint64_t ready = l2->epoch + cache_ready_in(l2, block, w)[way];
		if (ready > f->ready)
			f->ready = ready;
		f->source = SRC_L2;
		f->state = own ? LINE_M : had == LINE_S || beside != LINE_I ? LINE_S : LINE_E;
		if (demand)
			cache_states_in(l2, block, w)[way] &= (uint8_t)~LINE_PREFETCHED;
		cache_touch_way(l2, block, way, w);
	} else {
		const uint64_t from = room && t == asked ? t : l2_sq_start(s, k, line, t);
		if (quick)
			uncore_read(s, k, q, from, f, line, own, train, quick);
		else
			uncore_read_some(s, k, q, from, f);
		pool_add(&k->sq, from, f->ready, line, (uint8_t)f->source);
		if (!quick && signals->any_lines) {
			if (from > t)
				signal_level(signals, SIG_SQ_FULL, t, from, 1);
			signal_level(signals, SIG_SQ_OCCUPANCY, from, f->ready, 1);
		}
		/* for a writer, the L1 has or will have the modified copy */
		const enum line_state mine = own ? LINE_E : f->state;
		if (own && way != CACHE_NONE) /* an inclusive L3 may have removed other lines, not this one */
			way = cache_find_way(l2, block, line, w);
		if (own && way != CACHE_NONE) /* a reader misses no line that is held */
			cache_states_in(l2, block, w)[way] = (uint8_t)mine;
		else
			l2_put(s, k, q, block, line, f->ready, mine, from, demand, quick);
		if (!own && f->state == LINE_M && (quick || k->l2.sets))
			f->state = LINE_E;
		if (!quick && signals->any_lines)
			l2_emit_offcore(s, q, f, from);
		if (!quick && s->bus)
			bus_emit_read(s, q, own && had != LINE_I, f->source, from, f->ready);
	}
	if (!train || !(c->prefetchers & 3) || !(quick || k->l2.sets))
		return;
	if ((c->prefetchers & 2) && !hit && demand)
		(void)(quick == 2 ? l2_prefetch_2 : quick ? l2_prefetch_1 : l2_prefetch_wholly)(s, c, q->thread, line ^ 1, t);
	if (c->prefetchers & 1)
		prefetch_streamer(s, c, q->thread, line, t);
}

#endif
