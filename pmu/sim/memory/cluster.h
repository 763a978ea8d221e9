/* pmu/sim/memory/cluster.h: what the private caches of a cluster (the cores that share an L2) hold of a line. For
 * cluster.c, socket.h and memory.c only. */
#ifndef SIM_CLUSTER_H
#define SIM_CLUSTER_H

#include "pmu/sim/memory/memory_state.h"

static inline enum line_state state_in(const struct cache *c, uint32_t line)
{
	const uint32_t i = cache_find(c, line);
	return i == CACHE_NONE ? LINE_I : (enum line_state)(*cache_state(c, i) & LINE_STATE);
}

static inline enum line_state higher(enum line_state a, enum line_state b) { return a > b ? a : b; }

/* Whether the line lies between the first and the last line that the core fetched code from: no other can be in its L1I. */
static inline bool may_be_code(const struct private_core *c, uint32_t line) { return line >= c->code_first && line <= c->code_last; }

/* Highest state of the line in the L1s of a cluster. */
static inline enum line_state l1s_state(const struct memory *s, const struct cluster *k, uint32_t line)
{
	enum line_state highest = LINE_I;
	for (unsigned i = 0; i < k->cores; i++) {
		const struct private_core *c = &s->core[k->first_core + i];
		highest = higher(highest, state_in(&c->l1d, line));
		if (may_be_code(c, line))
			highest = higher(highest, state_in(&c->l1i, line));
	}
	return highest;
}

/* Whether the caches of a cluster may hold the line: false is certain. w: as in cache.h, of a `quick` machine. */
static inline __attribute__((always_inline)) bool cluster_has(const struct cluster *k, uint32_t line, const unsigned w)
{
	const struct private_core *c = k->first;
	return (!w && (k->cores != 1 || !k->l2.sets)) || cache_find_way(&k->l2, cache_block_of(&k->l2, line, w), line, w) != CACHE_NONE ||
		cache_find_way(&c->l1d, cache_block_of(&c->l1d, line, w), line, w) != CACHE_NONE || __builtin_expect(may_be_code(c, line), 0);
}

/* Lowers (to S) or removes (I) a copy; returns its previous state. */
static inline enum line_state lower_in(struct cache *c, uint32_t line, enum line_state to)
{
	const uint32_t i = cache_find(c, line);
	if (i == CACHE_NONE)
		return LINE_I;
	const enum line_state had = (enum line_state)(*cache_state(c, i) & LINE_STATE);
	if (to == LINE_I)
		cache_drop(c, i);
	else
		*cache_state(c, i) = (uint8_t)((*cache_state(c, i) & ~LINE_STATE) | to);
	return had;
}

static inline enum line_state lower_code(struct private_core *c, uint32_t line, enum line_state to)
{
	return may_be_code(c, line) ? lower_in(&c->l1i, line, to) : LINE_I;
}

/* All L1s of a cluster except the L1D of core `but`. */
static inline enum line_state l1s_lower(struct memory *s, struct cluster *k, uint32_t line, enum line_state to,
                                 const struct private_core *but)
{
	enum line_state highest = LINE_I;
	for (unsigned i = 0; i < k->cores; i++) {
		struct private_core *c = &s->core[k->first_core + i];
		if (c != but)
			highest = higher(highest, lower_in(&c->l1d, line, to));
		highest = higher(highest, lower_code(c, line, to));
	}
	return highest;
}

#endif
