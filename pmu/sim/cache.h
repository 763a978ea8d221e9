/* pmu/sim/cache.h: a set-associative array: tags, states, ready times, replacement.
 *
 * It holds line numbers (physical address / 64; the model limits physical memory to 2^32
 * lines), no data. TLBs and paging-structure caches are such arrays too. */
#ifndef SIM_CACHE_H
#define SIM_CACHE_H

#include <emmintrin.h>
#include "pmu/base.h"

#define CACHE_NONE UINT32_MAX /* no line; no entry */

enum line_state { LINE_I, LINE_S, LINE_F, LINE_E, LINE_M, LINE_STATES };
#define LINE_STATE 7u       /* the state's bits of a state byte */
#define LINE_PREFETCHED 8u  /* brought by a prefetcher, not yet asked for */

enum replacement { REPLACE_LRU, REPLACE_TREE, REPLACE_RANDOM };

struct cache {
	uint32_t sets, ways, stride; /* stride: ways rounded up to whole vectors of tags */
	uint32_t shift;              /* stride = 1 << shift, 32 where it is no power of two */
	uint32_t mask;               /* sets - 1 if the index is the low bits of the line, else 0 */
	uint32_t slices, sets_per_slice;
	bool hash;                   /* slices are chosen by a hash of the line */
	uint8_t policy;
	uint32_t used;               /* lines held */
	uint32_t *tag;               /* [sets * stride]; padding is CACHE_NONE */
	uint64_t *ready;             /* when the line's fill is there */
	uint8_t *state;
	uint8_t *order;              /* LRU: ways by last use, latest first; order_stride bytes a set */
	uint32_t order_stride;
	uint64_t *tree;              /* tree-PLRU: one word a set, node n in bit n */
	uint64_t random;
};

/* Memory for arrays. With at == NULL it only counts. */
struct arena { uint8_t *at; size_t used; };
void *arena_get(struct arena *a, size_t bytes);

/* sets * ways entries; 0 sets: an array that never hits. `hash` and slices: see cache_slice. */
void cache_init(struct cache *c, struct arena *a, uint32_t sets, uint32_t ways, uint32_t slices, bool hash,
                enum replacement policy);

/* Slice of a line. Consecutive lines go round the slices; with the hash each round starts at
 * a slice given by the upper bits, so that every aligned run of `slices` lines meets each once. */
static inline uint32_t cache_slice(const struct cache *c, uint32_t line)
{
	if (c->slices == 1)
		return 0;
	const uint32_t group = line / c->slices;
	uint32_t turn = 0;
	if (c->hash) {
		turn = group ^ (group >> 7) ^ (group >> 13);
		turn ^= turn >> 5;
	}
	return (line + turn % c->slices) % c->slices;
}

static inline uint32_t cache_set(const struct cache *c, uint32_t line)
{
	if (c->mask)
		return line & c->mask;
	if (c->slices == 1)
		return line % c->sets;
	return cache_slice(c, line) * c->sets_per_slice + line / c->slices % c->sets_per_slice;
}

/* Index of the line's entry, CACHE_NONE if it is not held. Changes nothing. */
static inline uint32_t cache_find_in(const struct cache *c, uint32_t set, uint32_t line)
{
	const uint32_t first = set * c->stride;
	const __m128i want = _mm_set1_epi32((int)line);
	for (uint32_t w = 0; w < c->stride; w += 4) {
		const __m128i have = _mm_load_si128((const __m128i *)&c->tag[first + w]);
		const int hit = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(have, want)));
		if (hit)
			return first + w + (uint32_t)__builtin_ctz((unsigned)hit);
	}
	return CACHE_NONE;
}

static inline uint32_t cache_find(const struct cache *c, uint32_t line)
{
	return c->used ? cache_find_in(c, cache_set(c, line), line) : CACHE_NONE;
}

/* Brings what this program looks at for a line into the host's caches; returns the set's first index. */
static inline uint32_t cache_near(const struct cache *c, uint32_t line)
{
	const uint32_t set = cache_set(c, line), first = set * c->stride;
	__builtin_prefetch(&c->tag[first]);
	__builtin_prefetch(&c->state[first]);
	for (uint32_t w = 0; w < c->stride; w += 8)
		__builtin_prefetch(&c->ready[first + w]);
	if (c->policy == REPLACE_LRU)
		__builtin_prefetch(&c->order[set * c->order_stride]);
	return first;
}

void cache_touch_tree(struct cache *c, uint32_t set, uint32_t way);

/* Moves `way` to the front of a set's order: what stood before it moves back by one. */
static inline void cache_front(uint8_t *order, uint32_t way)
{
	const __m128i want = _mm_set1_epi8((char)way);
	const __m128i place = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	__m128i carry = _mm_cvtsi32_si128((int)way); /* what comes into the first byte */
	for (;; order += 16) {
		const __m128i old = _mm_load_si128((const __m128i *)(void *)order);
		const __m128i moved = _mm_or_si128(_mm_slli_si128(old, 1), carry);
		const unsigned hit = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(old, want));
		if (hit) {
			const __m128i keep = _mm_cmpgt_epi8(place, _mm_set1_epi8((char)__builtin_ctz(hit)));
			_mm_store_si128((__m128i *)(void *)order,
			                _mm_or_si128(_mm_and_si128(keep, old), _mm_andnot_si128(keep, moved)));
			return;
		}
		carry = _mm_srli_si128(old, 15);
		_mm_store_si128((__m128i *)(void *)order, moved);
	}
}

/* Entry `index` of a set has been used: tells the replacement policy. */
static inline void cache_touch_in(struct cache *c, uint32_t set, uint32_t index)
{
	const uint32_t way = index - set * c->stride;
	if (c->policy == REPLACE_LRU) {
		uint8_t *order = &c->order[set * c->order_stride];
		if (order[0] != way)
			cache_front(order, way);
	} else if (c->policy == REPLACE_TREE) {
		cache_touch_tree(c, set, way);
	}
}

static inline uint32_t cache_set_at(const struct cache *c, uint32_t index)
{
	return c->shift < 32 ? index >> c->shift : index / c->stride;
}

static inline void cache_touch(struct cache *c, uint32_t index) { cache_touch_in(c, cache_set_at(c, index), index); }

/* The entry that a new line takes: an empty one, else the policy's victim. Its tag is the
 * victim's line, or CACHE_NONE. The caller notes the victim, then calls cache_put. */
uint32_t cache_victim_slow(struct cache *c, uint32_t set);
static inline uint32_t cache_victim(struct cache *c, uint32_t line)
{
	const uint32_t set = cache_set(c, line);
	if (c->policy == REPLACE_LRU)
		return set * c->stride + c->order[set * c->order_stride + c->ways - 1];
	return cache_victim_slow(c, set);
}

static inline void cache_put(struct cache *c, uint32_t index, uint32_t line, uint64_t ready, uint8_t state)
{
	c->used += c->tag[index] == CACHE_NONE;
	c->tag[index] = line;
	c->ready[index] = ready;
	c->state[index] = state;
	cache_touch(c, index);
}

void cache_drop(struct cache *c, uint32_t index);

#endif
