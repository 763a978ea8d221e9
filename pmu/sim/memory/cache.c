/* pmu/sim/memory/cache.c: replacement and filling of a set-associative array.
 *
 * LRU keeps the ways of a set in order of last use: up to 16 ways as a list in one word, more by stamps that rise with each
 * use; an invalidated way becomes the last. Tree-PLRU keeps one bit per node of a binary tree over the next power of two of
 * ways; a branch without ways is never taken. Random uses one deterministic xorshift generator per array. An empty way is
 * always filled first.
 *
 * Not modelled: data, parity, reserved ways, adaptive policies (set dueling, ages). */
#include "pmu/sim/memory/cache.h"

void *arena_get(struct arena *a, size_t bytes)
{
	a->used = (a->used + 63) & ~(size_t)63;
	void *at = a->at ? a->at + a->used : NULL;
	a->used += bytes;
	return at;
}

static uint64_t inverse(uint64_t n) { return n > 1 ? UINT64_MAX / n + 1 : 0; }

uint32_t cache_slice_and_set_slow(const struct cache *c, uint32_t line, uint32_t *slice)
{
	*slice = 0;
	if (c->slices == 1 && c->parts == 1)
		return line % c->sets;
	const uint32_t group = c->slices > 1 ? cache_divided(line, c->slices_inverse) : line;
	const uint32_t rounds = c->sets_per_slice > 1 ? cache_divided(group, c->sets_inverse) : group;
	*slice = cache_slice(c, line);
	return *slice * c->sets_per_slice + group - rounds * c->sets_per_slice;
}

void cache_init(struct cache *c, struct arena *a, uint32_t sets, uint32_t ways, uint32_t slices, bool hash,
                enum replacement policy, unsigned extra_bytes)
{
	cache_init_parts(c, a, sets, ways, slices, 1, 0, hash, policy, extra_bytes);
}

void cache_init_parts(struct cache *c, struct arena *a, uint32_t sets, uint32_t ways, uint32_t slices, uint32_t parts, uint32_t part_shift, bool hash,
                      enum replacement policy, unsigned extra_bytes)
{
	struct cache n = { .sets = sets, .ways = ways, .slices = slices ? slices / parts : 1, .parts = parts, .part_shift = part_shift, .hash = hash, .policy = (uint8_t)policy,
	                   .extra_bytes = extra_bytes, .oldest = -(int64_t)ways, .random = 0x9E3779B97F4A7C15ull };
	const uint32_t padded = (ways + 7) & ~7u;
	const bool stamps = policy == REPLACE_LRU && ways > CACHE_NIBBLE_WAYS;
	n.nibbles = policy == REPLACE_LRU && !stamps;
	uint32_t at = 8 + padded;
	n.tags_at = at;
	n.ready_at = at += 4 * ways;
	n.stamps_at = at += 4 * ways;
	n.extra_at = at += stamps ? 8 * ways : 0;
	n.states_at = at += extra_bytes * ways;
	n.block_bytes = (at + ways + 63) & ~63u;
	n.step = n.block_bytes << (CACHE_WAY_BITS - 6);
	n.last_nibble = n.nibbles && ways ? (uint8_t)(4 * (ways - 1)) : 0;
	n.order_bits = n.nibbles && ways ? ~0ull >> (60 - n.last_nibble) : 0;
	if (n.slices == 1 && parts == 1 && sets > 1 && !(sets & (sets - 1)))
		n.mask = sets - 1;
	n.sets_per_slice = sets / (n.slices * parts);
	const bool powers = parts == 1 && !(n.slices & (n.slices - 1)) && n.sets_per_slice && !(n.sets_per_slice & (n.sets_per_slice - 1));
	n.slice_bits = powers ? (uint32_t)__builtin_ctz(n.slices) : UINT32_MAX;
	n.slices_inverse = inverse(n.slices);
	n.sets_inverse = inverse(n.sets_per_slice);
	n.blocks = arena_get(a, (size_t)sets * n.block_bytes);
	if (!a->at)
		return;
	*c = n;
}

uint32_t cache_new_epoch(struct cache *c, uint64_t ready)
{
	if (ready < c->epoch)
		return 0;
	const uint64_t passed = ready - (1ull << 31) - c->epoch;
	for (uint32_t set = 0; set < c->sets; set++) {
		uint32_t *at = cache_ready_in(c, cache_block_at(c, cache_first(c, set)), 0);
		for (uint32_t w = 0; w < c->ways; w++)
			at[w] = at[w] > passed ? (uint32_t)(at[w] - passed) : 0;
	}
	c->epoch += passed;
	return (uint32_t)(ready - c->epoch);
}

/* Width of the tree: the next power of two of ways. */
static uint32_t tree_width(uint32_t ways)
{
	uint32_t n = 1;
	while (n < ways)
		n *= 2;
	return n;
}

/* Every node on the way to the leaf points to its other half. */
static void touch_tree(const struct cache *c, uint64_t *tree, uint32_t way)
{
	uint32_t node = 1, low = 0;
	for (uint32_t half = tree_width(c->ways) / 2; half; half /= 2) {
		const bool right = way >= low + half;
		if (right) {
			*tree &= ~(1ull << node);
			low += half;
		} else {
			*tree |= 1ull << node;
		}
		node = node * 2 + right;
	}
}

void cache_touch_slow(struct cache *c, uint8_t *block, uint32_t way)
{
	if (c->policy == REPLACE_LRU)
		((int64_t *)(void *)(block + c->stamps_at))[way] = ++c->newest;
	else if (c->policy == REPLACE_TREE)
		touch_tree(c, (uint64_t *)(void *)block, way);
}

uint32_t cache_victim_slow(struct cache *c, const uint8_t *block)
{
	const uint32_t *tags = (const uint32_t *)(const void *)(block + c->tags_at);
	if (c->policy == REPLACE_LRU) {
		const int64_t *stamps = (const int64_t *)(const void *)(block + c->stamps_at);
		uint32_t oldest = 0;
		for (uint32_t w = 1; w < c->ways; w++)
			if (stamps[w] <= stamps[oldest]) /* equal: ways that were never used; the last of them comes first */
				oldest = w;
		return oldest;
	}
	for (uint32_t w = 0; w < c->ways; w++)
		if (!tags[w])
			return w;
	if (c->policy == REPLACE_TREE) {
		const uint64_t tree = *(const uint64_t *)(const void *)block;
		uint32_t node = 1, low = 0;
		for (uint32_t half = tree_width(c->ways) / 2; half; half /= 2) {
			const bool right = ((tree >> node) & 1) && low + half < c->ways;
			if (right)
				low += half;
			node = node * 2 + right;
		}
		return low;
	}
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return (uint32_t)((c->random >> 32) * c->ways >> 32);
}

void cache_drop(struct cache *c, uint32_t index)
{
	const uint32_t way = cache_way_at(index);
	uint8_t *block = cache_block_at(c, index);
	uint32_t *tag = (uint32_t *)(void *)(block + c->tags_at) + way;
	if (!*tag)
		return;
	c->used--;
	*tag = 0;
	block[c->states_at + way] = LINE_I;
	if (c->policy != REPLACE_LRU)
		return;
	if (c->ways > CACHE_NIBBLE_WAYS) { /* the next way to be filled */
		((int64_t *)(void *)(block + c->stamps_at))[way] = --c->oldest;
		return;
	}
	uint64_t order = cache_order(block);
	uint32_t i = 0;
	while ((order >> 4 * i & 15) != way)
		i++;
	for (; i + 1 < c->ways; i++) {
		const uint64_t next = order >> 4 * (i + 1) & 15;
		order = (order & ~(15ull << 4 * i)) | next << 4 * i;
	}
	cache_set_order(block, (order & ~(15ull << 4 * i)) | (uint64_t)way << 4 * i);
}
