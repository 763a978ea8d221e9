/* pmu/sim/cache.c: replacement and filling of a set-associative array.
 *
 * LRU keeps the ways of a set in order of last use. Tree-PLRU keeps one bit a node of a binary
 * tree over the next power of two of ways; a branch without ways is never taken. Random is a
 * deterministic xorshift generator of each array. An empty way is always filled first. */
#include "pmu/sim/cache.h"

void *arena_get(struct arena *a, size_t bytes)
{
	a->used = (a->used + 63) & ~(size_t)63;
	void *at = a->at ? a->at + a->used : NULL;
	a->used += bytes;
	return at;
}

void cache_init(struct cache *c, struct arena *a, uint32_t sets, uint32_t ways, uint32_t slices, bool hash,
                enum replacement policy)
{
	struct cache n = { .sets = sets, .ways = ways, .stride = (ways + 3) & ~3u, .slices = slices ? slices : 1,
	                   .hash = hash, .policy = (uint8_t)policy, .random = 0x9E3779B97F4A7C15ull };
	const size_t entries = (size_t)sets * n.stride;
	if (n.slices == 1 && sets > 1 && !(sets & (sets - 1)))
		n.mask = sets - 1;
	n.shift = n.stride && !(n.stride & (n.stride - 1)) ? (uint32_t)__builtin_ctz(n.stride) : 32;
	n.sets_per_slice = sets / n.slices;
	n.tag = arena_get(a, entries * sizeof(*n.tag));
	n.ready = arena_get(a, entries * sizeof(*n.ready));
	n.state = arena_get(a, entries);
	n.order_stride = (ways + 15) & ~15u;
	n.order = policy == REPLACE_LRU ? arena_get(a, (size_t)sets * n.order_stride) : NULL;
	n.tree = policy == REPLACE_TREE ? arena_get(a, sets * sizeof(*n.tree)) : NULL;
	if (!a->at)
		return;
	*c = n;
	memset(n.tag, 0xFF, entries * sizeof(*n.tag));
	memset(n.ready, 0, entries * sizeof(*n.ready));
	memset(n.state, 0, entries);
	if (n.tree)
		memset(n.tree, 0, sets * sizeof(*n.tree));
	if (n.order)
		for (size_t i = 0; i < (size_t)sets * n.order_stride; i++)
			n.order[i] = (uint8_t)(i % n.order_stride);
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
void cache_touch_tree(struct cache *c, uint32_t set, uint32_t way)
{
	uint32_t node = 1, low = 0;
	for (uint32_t half = tree_width(c->ways) / 2; half; half /= 2) {
		const bool right = way >= low + half;
		if (right) {
			c->tree[set] &= ~(1ull << node);
			low += half;
		} else {
			c->tree[set] |= 1ull << node;
		}
		node = node * 2 + right;
	}
}

uint32_t cache_victim_slow(struct cache *c, uint32_t set)
{
	const uint32_t first = set * c->stride;
	for (uint32_t w = 0; w < c->ways; w++)
		if (c->tag[first + w] == CACHE_NONE)
			return first + w;
	if (c->policy == REPLACE_TREE) {
		uint32_t node = 1, low = 0;
		for (uint32_t half = tree_width(c->ways) / 2; half; half /= 2) {
			const bool right = ((c->tree[set] >> node) & 1) && low + half < c->ways;
			if (right)
				low += half;
			node = node * 2 + right;
		}
		return first + low;
	}
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return first + (uint32_t)((c->random >> 32) * c->ways >> 32);
}

void cache_drop(struct cache *c, uint32_t index)
{
	if (c->tag[index] == CACHE_NONE)
		return;
	c->used--;
	c->tag[index] = CACHE_NONE;
	c->state[index] = LINE_I;
	if (c->policy == REPLACE_LRU) { /* the next to be filled */
		const uint32_t set = cache_set_at(c, index);
		uint8_t *order = &c->order[set * c->order_stride], way = (uint8_t)(index - set * c->stride);
		uint32_t i = 0;
		while (order[i] != way)
			i++;
		for (; i + 1 < c->ways; i++)
			order[i] = order[i + 1];
		order[c->ways - 1] = way;
	}
}
