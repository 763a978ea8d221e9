/* pmu/sim/memory/socket.h: lookups in a socket that each line from beyond the L2 needs; socket.c states the rules. For
 * memory*.c, coherence.c and socket.c only. */
#ifndef SIM_SOCKET_H
#define SIM_SOCKET_H

#include "pmu/sim/memory/cluster.h"

/* A mask as stored, in holder_bytes. One byte is usual (`one`: known to be so); socket.c has the others. */
uint64_t socket_holders_get_wide(const struct memory *s, const void *at);
void socket_holders_set_wide(const struct memory *s, void *at, uint64_t mask);
static inline __attribute__((always_inline)) uint64_t socket_holders_get(const struct memory *s, const void *at, const bool one)
{
	return one || __builtin_expect(s->holder_bytes == 1, 1) ? *(const uint8_t *)at : socket_holders_get_wide(s, at);
}

static inline __attribute__((always_inline)) void socket_holders_set(const struct memory *s, void *at, uint64_t mask, const bool one)
{
	if (one || __builtin_expect(s->holder_bytes == 1, 1))
		*(uint8_t *)at = (uint8_t)mask;
	else
		socket_holders_set_wide(s, at, mask);
}

/* Address of the mask of an entry of the L3, or of the directory. */
static inline void *socket_holders_at(const struct memory *s, const struct socket *k, uint32_t i)
{
	return s->inclusive ? cache_extra(&k->l3, i) : k->holders + (size_t)i * s->holder_bytes;
}

static inline uint64_t socket_holders_of(const struct memory *s, const struct socket *k, uint32_t i) { return socket_holders_get(s, socket_holders_at(s, k, i), false); }

static inline void socket_set_holders(const struct memory *s, struct socket *k, uint32_t i, uint64_t mask)
{
	socket_holders_set(s, socket_holders_at(s, k, i), mask, false);
}

/* The same for way `way` of a set of an inclusive L3; w: as in cache.h. */
static inline __attribute__((always_inline)) void *socket_holders_in(const struct socket *k, uint8_t *block, uint32_t way, const unsigned w)
{
	return block + cache_extra_at(&k->l3, w) + way * (w ? 1 : k->l3.extra_bytes);
}

uint32_t directory_find(const struct directory *d, uint32_t line);
/* Prefetches on the host what that reads, and what a user of the entry reads and writes. */
void directory_near(const struct memory *s, const struct socket *k, uint32_t line);
uint32_t directory_add(struct directory *d, uint32_t line);

/* A line as its socket has it: entry in the L3; entry in the directory of private lines, if no inclusive L3 tells
 * (CACHE_NONE: none); set: way 0 of the line's set in the L3. */
struct line_location { uint32_t l3, dir, set; };
static inline struct line_location socket_find(const struct socket *k, uint32_t line)
{
	struct line_location p = { CACHE_NONE, CACHE_NONE, 0 };
	if (k->l3.sets) {
		p.set = cache_first(&k->l3, cache_set(&k->l3, line));
		if (k->l3.used)
			p.l3 = cache_find_from(&k->l3, p.set, line);
	}
	if (k->directory.used) /* others' caches are often empty */
		p.dir = directory_find(&k->directory, line);
	return p;
}

/* Prefetches on the host what a lookup reads: the host's caches seldom hold it. */
static inline void socket_near(const struct memory *s, const struct socket *k, uint32_t line)
{
	if (k->l3.used)
		__builtin_prefetch(cache_block_of(&k->l3, line, 0));
	if (k->directory.used)
		directory_near(s, k, line);
}

static inline bool location_valid(struct line_location p) { return p.l3 != CACHE_NONE || p.dir != CACHE_NONE; }

static inline enum line_state socket_state(const struct memory *s, const struct socket *k, struct line_location p)
{
	if (!s->inclusive && p.dir != CACHE_NONE)
		return (enum line_state)k->directory.state[p.dir];
	return p.l3 == CACHE_NONE ? LINE_I : (enum line_state)*cache_state(&k->l3, p.l3);
}

static inline void socket_set_state(const struct memory *s, struct socket *k, struct line_location p, enum line_state state)
{
	if (p.l3 != CACHE_NONE)
		*cache_state(&k->l3, p.l3) = (uint8_t)state;
	if (!s->inclusive && p.dir != CACHE_NONE)
		k->directory.state[p.dir] = (uint8_t)state;
}

/* Clusters that may hold the line, one bit each. */
static inline uint64_t socket_holders(const struct memory *s, const struct socket *k, struct line_location p)
{
	const uint32_t i = s->inclusive ? p.l3 : p.dir;
	return i == CACHE_NONE ? 0 : socket_holders_of(s, k, i);
}

/* Records state (not inclusive) and holders of a line that clusters hold; creates the directory's entry. */
static inline void socket_hold(const struct memory *s, struct socket *k, struct line_location p, uint32_t line, enum line_state state,
                               uint64_t mask)
{
	if (s->inclusive) {
		socket_set_holders(s, k, p.l3, mask);
		return;
	}
	if (p.dir == CACHE_NONE)
		p.dir = directory_add(&k->directory, line);
	k->directory.state[p.dir] = (uint8_t)state;
	socket_set_holders(s, k, p.dir, mask);
}

/* Removes the directory's entry: no cluster of the socket holds the line any more. */
void socket_release(const struct memory *s, struct socket *k, struct line_location p);
/* Lowers or removes the copies of the clusters in `mask`; returns the highest state that one had. w: as in cluster_has. */
static inline __attribute__((always_inline)) enum line_state socket_lower(struct memory *s, unsigned socket, uint64_t mask, uint32_t line, enum line_state to,
                                           uint64_t t, const unsigned w)
{
	enum line_state highest = LINE_I;
	for (; mask; mask &= mask - 1) {
		struct cluster *k = &s->cluster[socket * s->clusters_per_socket + (unsigned)__builtin_ctzll(mask)];
		if (!cluster_has(k, line, w))
			continue;
		const enum line_state had = cluster_lower(s, k, line, to, t);
		highest = had > highest ? had : highest;
	}
	return highest;
}

#endif
