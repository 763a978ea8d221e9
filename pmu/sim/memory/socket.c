/* pmu/sim/memory/socket.c: what a socket holds: its L3, and which clusters may hold a line.
 *
 * With an inclusive L3 the mask of holders is part of the L3's entry. Otherwise a directory has exactly the lines that
 * private caches of the socket hold; if a line is in both, the directory's state counts.
 *
 * Not modelled: a directory with a limited size or a lookup time, lines reserved for a core or a class of service. */
#include "pmu/sim/memory/socket.h"

uint64_t socket_holders_get_wide(const struct memory *s, const void *at)
{
	return s->holder_bytes == 2 ? *(const uint16_t *)at : s->holder_bytes == 4 ? *(const uint32_t *)at : *(const uint64_t *)at;
}

void socket_holders_set_wide(const struct memory *s, void *at, uint64_t mask)
{
	if (s->holder_bytes == 2)
		*(uint16_t *)at = (uint16_t)mask;
	else if (s->holder_bytes == 4)
		*(uint32_t *)at = (uint32_t)mask;
	else
		*(uint64_t *)at = mask;
}

/* ---- directory ------------------------------------------------------------------------------ */

static uint32_t dir_hash(const struct directory *d, uint32_t line)
{
	return (uint32_t)((uint64_t)(line * 0x9E3779B1u) * d->entries >> 32); /* 2^32 / golden ratio: Knuth's multiplicative hash */
}

static uint32_t dir_next(const struct directory *d, uint32_t i) { return i + 1 < d->entries ? i + 1 : 0; }

/* Distance from one entry to another. */
static uint32_t dir_steps(const struct directory *d, uint32_t from, uint32_t to)
{
	return to >= from ? to - from : to + d->entries - from;
}

void directory_near(const struct memory *s, const struct socket *k, uint32_t line)
{
	const uint32_t i = dir_hash(&k->directory, line);
	__builtin_prefetch(&k->directory.line[i]);
	__builtin_prefetch(&k->directory.state[i]);
	__builtin_prefetch(k->holders + (size_t)i * s->holder_bytes);
}

uint32_t directory_find(const struct directory *d, uint32_t line)
{
	for (uint32_t i = dir_hash(d, line);; i = dir_next(d, i)) {
		if (d->line[i] == ~line)
			return i;
		if (!d->line[i])
			return CACHE_NONE;
	}
}

uint32_t directory_add(struct directory *d, uint32_t line)
{
	d->used++;
	uint32_t i = dir_hash(d, line);
	while (d->line[i])
		i = dir_next(d, i);
	d->line[i] = ~line;
	return i;
}

/* Removes entry i and moves back those that were displaced because of it. */
static void dir_remove(const struct memory *s, struct socket *k, uint32_t i)
{
	struct directory *d = &k->directory;
	for (uint32_t j = dir_next(d, i); d->line[j]; j = dir_next(d, j)) {
		const uint32_t want = dir_hash(d, ~d->line[j]);
		if (dir_steps(d, want, j) < dir_steps(d, i, j))
			continue; /* its home position lies after the gap: it stays */
		d->line[i] = d->line[j];
		d->state[i] = d->state[j];
		socket_set_holders(s, k, i, socket_holders_of(s, k, j));
		i = j;
	}
	d->line[i] = 0;
	d->used--;
}

/* ---- locations of lines ----------------------------------------------------------------------- */

unsigned socket_slice(const struct socket *k, uint32_t line)
{
	return k->l3.sets ? cache_slice(&k->l3, line) : 0;
}

void socket_release(const struct memory *s, struct socket *k, struct line_location p)
{
	if (p.dir != CACHE_NONE)
		dir_remove(s, k, p.dir);
}

void socket_init(struct memory *s, struct socket *k, struct arena *a)
{
	const struct machine *m = s->m;
	const uint32_t ways = (uint32_t)m->l3_ways, sets = (uint32_t)(m->l3_bytes / (64 * ways));
	struct cache none;
	cache_init_parts(k ? &k->l3 : &none, a, sets, ways, (uint32_t)m->l3_slices, s->parts, NODE_SHIFT, m->l3_hash, (enum replacement)m->l3_policy,
	                 s->inclusive ? s->holder_bytes : 0);
	uint32_t n = 0;
	if (!s->inclusive) {
		const struct machine *o = m->small ? m->small : m;
		const uint64_t one = m->l2_bytes + (m->l1d_bytes + m->l1i_bytes) * m->l2_cores, other = o->l2_bytes + (o->l1d_bytes + o->l1i_bytes) * o->l2_cores;
		const uint64_t lines = (one > other ? one : other) / 64 * s->clusters_per_socket;
		n = (uint32_t)(lines * 4 / 3) + 64; /* a quarter stays empty, so that lookups end soon; half of it would end them sooner and take 6 MiB of 64 more */
	}
	uint32_t *line = arena_get(a, n * sizeof(*line));
	uint8_t *state = arena_get(a, n);
	uint8_t *mask = arena_get(a, (size_t)n * s->holder_bytes);
	struct pool_use *use[3];
	const uint32_t tracker[3] = { (uint32_t)m->gq_read, (uint32_t)m->gq_write, (uint32_t)m->gq_peer };
	const uint32_t ahead = core_asks_ahead(m) * (uint32_t)m->topology_cores;
	for (unsigned i = 0; i < 3; i++)
		use[i] = arena_get(a, pool_bytes(tracker[i], ahead));
	dram_init(s, k, a);
	if (!a->at)
		return;
	k->holders = mask;
	k->directory = (struct directory){ .entries = n, .line = line, .state = state };
	struct pool *pool[3] = { &k->read_tracker, &k->write_tracker, &k->peer_tracker };
	for (unsigned i = 0; i < 3; i++)
		pool_init(pool[i], tracker[i], ahead, use[i]);
	const uint64_t busy = m->l3_busy_uncore_cycles * m->tick_per_uncore_cycle * 65536 / m->tick_per_core_cycle;
	for (unsigned i = 0; i < m->l3_slices; i++)
		lane_init(&k->slices[i], busy);
}
