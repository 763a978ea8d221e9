/* pmu/sim/memory/cache.h: a set-associative array: tags, states, ready times, replacement.
 *
 * It holds line numbers (physical address / 64; the model limits physical memory to 2^32 lines) and no data. TLBs and
 * paging-structure caches are such arrays too.
 *
 * A set is one block, so that a lookup touches few lines and pages of the host's memory: a word for the replacement policy,
 * one hash byte per line (eight are compared at once), tags, ready times, the owner's bytes per entry, states. An entry's
 * index is its block's offset in units of 64 bytes, followed by seven bits for the way.
 *
 * An empty array is all zeros, so that an unused one is never written: tags are stored inverted, and the order of the ways as its
 * difference from the initial order.
 *
 * Ready times have 32 bits and count from an epoch that follows at a distance of at least 2^31 cycles: what was ready
 * before counts as ready at the epoch. No request lags that far behind another. */
#ifndef SIM_CACHE_H
#define SIM_CACHE_H

#include "pmu/base.h"

#define CACHE_NONE UINT32_MAX /* no line; no entry */

enum line_state { LINE_I, LINE_S, LINE_F, LINE_E, LINE_M, LINE_STATES };
#define LINE_STATE 7u       /* the state's bits of a state byte */
#define LINE_PREFETCHED 8u  /* brought by a prefetcher and not yet requested */

enum replacement { REPLACE_LRU, REPLACE_TREE, REPLACE_RANDOM };

#define CACHE_NIBBLE_WAYS 16u /* up to this many ways, LRU keeps their order in one word */

struct cache {
	uint32_t sets, ways;
	uint32_t step;               /* distance between the indices of way 0 of a set and of the next set */
	uint32_t mask;               /* sets - 1 if the index is the low bits of the line, else 0 */
	uint32_t slices, sets_per_slice; /* slices: of a part */
	uint32_t parts, part_shift;  /* line >> part_shift, modulo parts: the part whose slices hold it */
	uint32_t slice_bits;         /* log2 of slices if they and a slice's sets are powers of two, else UINT32_MAX */
	uint64_t slices_inverse, sets_inverse; /* 2^64 / slices and / sets_per_slice, rounded up */
	bool hash;                   /* a hash of the line selects the slice */
	bool nibbles;                /* LRU with the order in one word */
	uint8_t policy;
	uint8_t last_nibble;         /* bit position of the last way in the order */
	uint64_t order_bits;         /* bits of that word that hold the order */
	uint32_t used;               /* lines held */
	uint32_t block_bytes;
	uint32_t tags_at, ready_at, stamps_at, extra_at, states_at; /* offsets in a block; the policy word and the hash bytes
	                                                               come before the tags */
	uint32_t extra_bytes;        /* per entry, for the owner */
	uint8_t *blocks;
	int64_t newest, oldest;      /* LRU by stamps: the last stamp given to a used way, and to a dropped one */
	uint64_t random;
	uint64_t epoch;              /* origin of ready times */
};

/* Zeroed memory for arrays. With at == NULL it only counts bytes. */
struct arena { uint8_t *at; size_t used; };
void *arena_get(struct arena *a, size_t bytes);

/* sets * ways entries; 0 sets: an array that never hits. `hash` and slices: see cache_slice. extra_bytes per entry: a power
 * of two up to 8, zeroed; 0: none. cache_init_parts: the slices are in `parts` equal parts, and bits from part_shift up, modulo
 * parts, select that of a line. */
void cache_init(struct cache *c, struct arena *a, uint32_t sets, uint32_t ways, uint32_t slices, bool hash,
                enum replacement policy, unsigned extra_bytes);
void cache_init_parts(struct cache *c, struct arena *a, uint32_t sets, uint32_t ways, uint32_t slices, uint32_t parts, uint32_t part_shift, bool hash,
                      enum replacement policy, unsigned extra_bytes);

/* n / d, by d's inverse: exact for d > 1. */
static inline uint32_t cache_divided(uint32_t n, uint64_t inverse)
{
	return (uint32_t)((unsigned __int128)n * inverse >> 64);
}

/* Slice of a line, within its part. Consecutive lines alternate between the slices; with the hash each round starts at a slice given by the
 * upper bits (of round n: x ^ x / 2^5 where x = n ^ n / 2^7 ^ n / 2^13), so that every aligned run of `slices` lines uses
 * each once. */
static inline uint32_t cache_slice_in_part(const struct cache *c, uint32_t line)
{
	if (c->slices == 1)
		return 0;
	const uint32_t group = cache_divided(line, c->slices_inverse);
	uint32_t slice = 0;
	if (c->hash) {
		slice = group ^ (group >> 7) ^ (group >> 13);
		slice ^= slice >> 5;
		slice -= cache_divided(slice, c->slices_inverse) * c->slices;
	}
	slice += line - group * c->slices;
	return slice < c->slices ? slice : slice - c->slices;
}

/* Slice of a line. */
static inline uint32_t cache_slice(const struct cache *c, uint32_t line)
{
	const uint32_t slice = cache_slice_in_part(c, line);
	return c->parts == 1 ? slice : slice + (line >> c->part_shift) % c->parts * c->slices;
}

/* Slice and set together; the slow variant divides. */
uint32_t cache_slice_and_set_slow(const struct cache *c, uint32_t line, uint32_t *slice);
static inline __attribute__((always_inline)) uint32_t cache_slice_and_set(const struct cache *c, uint32_t line, uint32_t *slice)
{
	*slice = 0;
	if (c->mask)
		return line & c->mask;
	if (c->slice_bits < 32) {
		const uint32_t many = line >> c->slice_bits;
		uint32_t from = 0;
		if (c->hash) {
			from = many ^ (many >> 7) ^ (many >> 13);
			from ^= from >> 5;
		}
		*slice = (from + line) & (c->slices - 1);
		return *slice * c->sets_per_slice + (many & (c->sets_per_slice - 1));
	}
	return cache_slice_and_set_slow(c, line, slice);
}

static inline uint32_t cache_set(const struct cache *c, uint32_t line)
{
	uint32_t slice;
	return cache_slice_and_set(c, line, &slice);
}

#define CACHE_WAY_BITS 7
static inline uint32_t cache_first(const struct cache *c, uint32_t set) { return set * c->step; }
static inline uint32_t cache_way_at(uint32_t index) { return index & ((1u << CACHE_WAY_BITS) - 1); }
static inline uint8_t *cache_block_at(const struct cache *c, uint32_t index)
{
	return c->blocks + ((size_t)(index >> CACHE_WAY_BITS) << 6);
}

/* The usual arrays have `w` ways, 8 or 16, with one owner's byte per entry, sets selected by the line's low bits, and the
 * ways' order in one word. Functions with a parameter w are compiled for these; 0: they read the array's layout. */
#define CACHE_INLINE static inline __attribute__((always_inline))
CACHE_INLINE uint32_t cache_ways(const struct cache *c, const unsigned w) { return w ? w : c->ways; }
CACHE_INLINE uint32_t cache_tags_at(const struct cache *c, const unsigned w) { return w ? 8 + w : c->tags_at; }
CACHE_INLINE uint32_t cache_ready_at(const struct cache *c, const unsigned w) { return w ? 8 + w + 4 * w : c->ready_at; }
CACHE_INLINE uint32_t cache_extra_at(const struct cache *c, const unsigned w) { return w ? 8 + w + 8 * w : c->extra_at; }
CACHE_INLINE uint32_t cache_states_at(const struct cache *c, const unsigned w) { return w == 16 ? 8 + 10 * w : w ? 8 + 9 * w : c->states_at; }
CACHE_INLINE uint32_t cache_block_bytes(const struct cache *c, const unsigned w) { return w == 16 ? 192 : w ? 128 : c->block_bytes; }
static inline bool cache_is_usual(const struct cache *c, const unsigned w)
{
	return c->mask && c->nibbles && c->ways == w && c->extra_bytes == (w == 16) && c->tags_at == cache_tags_at(c, w) &&
		c->ready_at == cache_ready_at(c, w) && (w == 8 || c->extra_at == cache_extra_at(c, w)) && c->states_at == cache_states_at(c, w) &&
		c->block_bytes == cache_block_bytes(c, w);
}

/* What an entry has. */
static inline uint32_t *cache_tag_at(const struct cache *c, uint32_t i)
{
	return (uint32_t *)(void *)(cache_block_at(c, i) + c->tags_at) + cache_way_at(i);
}
static inline uint32_t cache_tag(const struct cache *c, uint32_t i) { return ~*cache_tag_at(c, i); }

CACHE_INLINE uint32_t *cache_tags_in(const struct cache *c, uint8_t *block, const unsigned w)
{
	return (uint32_t *)(void *)(block + cache_tags_at(c, w));
}
CACHE_INLINE uint8_t *cache_states_in(const struct cache *c, uint8_t *block, const unsigned w) { return block + cache_states_at(c, w); }

/* When its fill arrives. */
CACHE_INLINE uint32_t *cache_ready_in(const struct cache *c, uint8_t *block, const unsigned w)
{
	return (uint32_t *)(void *)(block + cache_ready_at(c, w));
}
static inline uint64_t cache_ready(const struct cache *c, uint32_t i)
{
	return c->epoch + cache_ready_in(c, cache_block_at(c, i), 0)[cache_way_at(i)];
}

/* Stores a time that is more than 2^32 cycles from the epoch. */
uint32_t cache_new_epoch(struct cache *c, uint64_t ready);
CACHE_INLINE void cache_set_ready_way(struct cache *c, uint8_t *block, uint32_t way, uint64_t ready, const unsigned w)
{
	const uint64_t since = ready - c->epoch;
	cache_ready_in(c, block, w)[way] = __builtin_expect(since >> 32 != 0, 0) ? cache_new_epoch(c, ready) : (uint32_t)since;
}
static inline void cache_set_ready(struct cache *c, uint32_t i, uint64_t ready)
{
	cache_set_ready_way(c, cache_block_at(c, i), cache_way_at(i), ready, 0);
}

static inline uint8_t *cache_state(const struct cache *c, uint32_t i)
{
	return cache_block_at(c, i) + c->states_at + cache_way_at(i);
}

static inline void *cache_extra(const struct cache *c, uint32_t i)
{
	return cache_block_at(c, i) + c->extra_at + (size_t)cache_way_at(i) * c->extra_bytes;
}

#define CACHE_BYTES 0x0101010101010101ull
static inline uint8_t cache_hash(uint32_t line) { return (uint8_t)(line * 0x9E3779B1u >> 24); /* 2^32 / golden ratio */ }

/* Which of n tags, with the bytes of their hashes, is `tag`, written as `stored`; CACHE_NONE: none. Hashes, and what may be read as tags,
 * extend to a multiple of 8. */
static inline __attribute__((always_inline)) uint32_t cache_among(const uint64_t *hashes, const uint32_t *tags, uint32_t n, uint32_t tag, uint32_t stored)
{
	const uint64_t want = cache_hash(tag) * CACHE_BYTES;
	for (uint32_t at = 0; at < n; at += 8) {
		const uint64_t differs = *hashes++ ^ want;
		/* marks bytes that are equal, and a few that are not */
		for (uint64_t marks = (differs - CACHE_BYTES) & ~differs & CACHE_BYTES << 7; marks; marks &= marks - 1) {
			const uint32_t i = at + (uint32_t)__builtin_ctzll(marks) / 8;
			if (tags[i] == stored && i < n)
				return i;
		}
	}
	return CACHE_NONE;
}

/* As cache_among of 16 ways of a set, for lookups that mostly miss: one comparison. */
CACHE_INLINE uint32_t cache_among_16(const uint64_t *hashes, const uint32_t *tags, uint32_t tag)
{
	const uint64_t want = cache_hash(tag) * CACHE_BYTES, a = hashes[0] ^ want, b = hashes[1] ^ want;
	uint64_t low = (a - CACHE_BYTES) & ~a & CACHE_BYTES << 7, high = (b - CACHE_BYTES) & ~b & CACHE_BYTES << 7;
	for (; low | high; low ? (low &= low - 1) : (high &= high - 1)) {
		const uint32_t i = low ? (uint32_t)__builtin_ctzll(low) / 8 : 8 + (uint32_t)__builtin_ctzll(high) / 8;
		if (tags[i] == ~tag)
			return i;
	}
	return CACHE_NONE;
}

/* The line's way in its set, CACHE_NONE if it is not held. Changes nothing. */
CACHE_INLINE uint32_t cache_find_way(const struct cache *c, const uint8_t *block, uint32_t line, const unsigned w)
{
	const uint64_t *const hashes = (const uint64_t *)(const void *)block + 1;
	const uint32_t *const tags = (const uint32_t *)(const void *)(block + cache_tags_at(c, w));
	return w == 16 ? cache_among_16(hashes, tags, line) : cache_among(hashes, tags, cache_ways(c, w), line, ~line);
}

/* Index of the line's entry in the set whose way 0 is `first`; CACHE_NONE if it is not held. */
static inline uint32_t cache_find_from(const struct cache *c, uint32_t first, uint32_t line)
{
	const uint32_t way = cache_find_way(c, cache_block_at(c, first), line, 0);
	return way == CACHE_NONE ? CACHE_NONE : first | way;
}

CACHE_INLINE uint8_t *cache_block(const struct cache *c, uint32_t set, const unsigned w)
{
	return c->blocks + (size_t)set * cache_block_bytes(c, w);
}
/* The block of the line's set. */
CACHE_INLINE uint8_t *cache_block_of(const struct cache *c, uint32_t line, const unsigned w)
{
	return cache_block(c, w || c->mask ? line & c->mask : cache_set(c, line), w);
}

static inline __attribute__((always_inline)) uint32_t cache_find(const struct cache *c, uint32_t line)
{
	if (!c->used)
		return CACHE_NONE;
	const uint32_t set = c->mask ? line & c->mask : cache_set(c, line);
	const uint32_t way = cache_find_way(c, cache_block(c, set, 0), line, 0);
	return way == CACHE_NONE ? CACHE_NONE : cache_first(c, set) | way;
}

/* Prefetches on the host what the simulator reads for a line; with `pair` also for the other line of its aligned pair. */
CACHE_INLINE void cache_near(const struct cache *c, uint32_t line, bool pair, const unsigned w)
{
	const uint8_t *block = cache_block_of(c, line & ~(uint32_t)pair, w);
	for (uint32_t at = 0; at < cache_block_bytes(c, w); at += 64)
		__builtin_prefetch(block + at);
	if (!pair)
		return;
	block = w || c->mask ? block + cache_block_bytes(c, w) : cache_block_of(c, line | 1, 0);
	for (uint32_t at = 0; at < cache_block_bytes(c, w); at += 64)
		__builtin_prefetch(block + at);
}

/* Waits for all that cache_near prefetches at once: where prefetches have no effect, the lines would be waited for one by one. */
CACHE_INLINE void cache_wait_near(const struct cache *c, uint32_t line, const unsigned w)
{
	const uint8_t *const block = cache_block_of(c, line & ~1u, w);
	for (uint32_t at = 0; at < 2 * cache_block_bytes(c, w); at += 64)
		(void)*(const volatile uint64_t *)(const void *)(block + at);
}

/* As cache_touch_way, for policies other than an order in one word. */
void cache_touch_slow(struct cache *c, uint8_t *block, uint32_t way);

#define CACHE_NIBBLES 0x1111111111111111ull

/* Moves `way` to the front of an order of ways, 4 bits each: those before it move back by one. */
static inline uint64_t cache_front(uint64_t order, uint32_t way)
{
	const uint64_t differs = order ^ way * CACHE_NIBBLES;
	const uint64_t mark = (differs - CACHE_NIBBLES) & ~differs & CACHE_NIBBLES << 3;
	const uint64_t moved = mark ^ (mark - 1); /* up to the lowest mark, which is exact: the top bit of its four */
	return (order & ~moved) | (order << 4 & moved) | way;
}

#define CACHE_FIRST_ORDER 0xFEDCBA9876543210ull
static inline uint64_t cache_order(const uint8_t *block) { return *(const uint64_t *)(const void *)block ^ CACHE_FIRST_ORDER; }
static inline void cache_set_order(uint8_t *block, uint64_t order) { *(uint64_t *)(void *)block = order ^ CACHE_FIRST_ORDER; }

/* Tells the replacement policy that way `way` of a set was used. */
CACHE_INLINE void cache_touch_way(struct cache *c, uint8_t *block, uint32_t way, const unsigned w)
{
	const uint64_t order = cache_order(block);
	if (!w && __builtin_expect(!c->nibbles, 0))
		cache_touch_slow(c, block, way);
	else if ((order & 15) != way)
		cache_set_order(block, cache_front(order, way));
}

static inline __attribute__((always_inline)) void cache_touch(struct cache *c, uint32_t index)
{
	cache_touch_way(c, cache_block_at(c, index), cache_way_at(index), 0);
}

/* The way for a new line: an empty one, or the policy's victim. Its tag is the victim's line, or CACHE_NONE. The caller
 * handles the victim, then calls cache_put. */
uint32_t cache_victim_slow(struct cache *c, const uint8_t *block);
CACHE_INLINE uint32_t cache_victim_way(struct cache *c, const uint8_t *block, const unsigned w)
{
	if (w)
		return (uint32_t)(cache_order(block) >> 4 * (w - 1) & 15);
	if (__builtin_expect(c->nibbles, 1))
		return (uint32_t)(cache_order(block) >> c->last_nibble & 15);
	return cache_victim_slow(c, block);
}

/* The same as an entry index, in the set whose way 0 is `first`. */
static inline uint32_t cache_victim_from(struct cache *c, uint32_t first)
{
	return first | cache_victim_way(c, cache_block_at(c, first), 0);
}

static inline uint32_t cache_victim(struct cache *c, uint32_t line)
{
	return cache_victim_from(c, cache_first(c, cache_set(c, line)));
}

/* All but the replacement policy. old: the way's previous content. */
CACHE_INLINE void cache_put_into(struct cache *c, uint8_t *block, uint32_t way, uint32_t old, uint32_t line, uint64_t ready, uint8_t state, const unsigned w)
{
	uint8_t *const state_at = cache_states_in(c, block, w) + way;
	cache_tags_in(c, block, w)[way] = ~line;
	cache_set_ready_way(c, block, way, ready, w);
	if (old == CACHE_NONE)
		c->used++;
	block[8 + way] = cache_hash(line); /* byte stores last: to the compiler they may alias anything, so that everything
	                                      would be read again */
	*state_at = state;
}

/* For a way that cache_victim_way has just returned. */
CACHE_INLINE void cache_put_victim(struct cache *c, uint8_t *block, uint32_t way, uint32_t old, uint32_t line, uint64_t ready, uint8_t state, const unsigned w)
{
	const uint64_t order = cache_order(block);
	if (w == 16) /* the last comes first */
		cache_set_order(block, order << 4 | order >> 60);
	else if (w == 8)
		cache_set_order(block, order >> 32 << 32 | (uint32_t)((uint32_t)order << 4 | (uint32_t)order >> 28));
	else if (__builtin_expect(c->nibbles, 1))
		cache_set_order(block, order ^ ((order ^ (order << 4 | way)) & c->order_bits));
	else
		cache_touch_slow(c, block, way);
	cache_put_into(c, block, way, old, line, ready, state, w);
}

static inline void cache_put(struct cache *c, uint32_t index, uint32_t line, uint64_t ready, uint8_t state)
{
	const uint32_t way = cache_way_at(index);
	uint8_t *block = cache_block_at(c, index);
	cache_touch_way(c, block, way, 0);
	cache_put_into(c, block, way, cache_tag(c, index), line, ready, state, 0);
}

void cache_drop(struct cache *c, uint32_t index);

#endif
