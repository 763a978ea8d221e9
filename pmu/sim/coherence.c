/* pmu/sim/coherence.c: beyond the L2: the shared L3, MESIF among cores and sockets, homes.
 *
 * Two levels. Among sockets each line has a MESIF state: M and E say that only this socket has
 * it, of several sharers one has F and forwards. Within a socket a mask says which clusters
 * (an L2 and its cores) may hold the line; it stands in the inclusive L3, or where the L3 is
 * not inclusive (or absent) in a directory of the lines of the private caches. Clean lines
 * leave the private caches of an inclusive L3 without a word, so its mask may say too much.
 *
 * A read that hits the L3:
 *   mask is exactly one other cluster -> that one is snooped: modified there -> written back to
 *   the L3, L3_OTHER_MODIFIED; clean there -> L3_OTHER_CLEAN; gone -> L3_UNSHARED, but the
 *   snoop's time is spent; any other mask -> L3_UNSHARED, no snoop.
 * A read that misses the socket: another socket's modified line (link.modified_as_dram: written
 * back to its home, which answers), else another socket's line in E or F, else the home's DRAM.
 * A read for ownership invalidates every other copy.
 *
 * Not modelled: races between requests to one line (requests are atomic in the order in which
 * they come), capacity of the directory, conflicts and retries, snoop filters at the home. */
#include "pmu/sim/memory_state.h"

/* ---- who holds what in a socket ------------------------------------------------------------- */

/* A line as its socket has it: entry in the L3, entry in the directory (CACHE_NONE: none). */
struct place { uint32_t l3, dir; };

static uint64_t holders(const struct memory *s, const struct socket *k, uint32_t i)
{
	switch (s->holder_bytes) {
	case 1: return k->holders[i];
	case 2: return ((const uint16_t *)(const void *)k->holders)[i];
	case 4: return ((const uint32_t *)(const void *)k->holders)[i];
	default: return ((const uint64_t *)(const void *)k->holders)[i];
	}
}

static void set_holders(const struct memory *s, struct socket *k, uint32_t i, uint64_t mask)
{
	switch (s->holder_bytes) {
	case 1: k->holders[i] = (uint8_t)mask; break;
	case 2: ((uint16_t *)(void *)k->holders)[i] = (uint16_t)mask; break;
	case 4: ((uint32_t *)(void *)k->holders)[i] = (uint32_t)mask; break;
	default: ((uint64_t *)(void *)k->holders)[i] = mask; break;
	}
}

static uint32_t dir_hash(const struct directory *d, uint32_t line)
{
	const uint32_t h = line * 0x9E3779B1u; /* 2^32 / golden ratio, Knuth's multiplicative hash */
	return (h ^ h >> 15) & d->mask;
}

static uint32_t dir_find(const struct directory *d, uint32_t line)
{
	if (!d->mask)
		return CACHE_NONE;
	for (uint32_t i = dir_hash(d, line);; i = (i + 1) & d->mask) {
		if (d->line[i] == line)
			return i;
		if (d->line[i] == CACHE_NONE)
			return CACHE_NONE;
	}
}

static uint32_t dir_add(struct directory *d, uint32_t line)
{
	uint32_t i = dir_hash(d, line);
	while (d->line[i] != CACHE_NONE)
		i = (i + 1) & d->mask;
	d->line[i] = line;
	return i;
}

/* Removes entry i and moves those back that were pushed on because of it. */
static void dir_remove(const struct memory *s, struct socket *k, uint32_t i)
{
	struct directory *d = &k->directory;
	for (uint32_t j = (i + 1) & d->mask; d->line[j] != CACHE_NONE; j = (j + 1) & d->mask) {
		const uint32_t want = dir_hash(d, d->line[j]);
		if (((j - want) & d->mask) < ((j - i) & d->mask))
			continue; /* it lies between its own place and here: stays */
		d->line[i] = d->line[j];
		d->state[i] = d->state[j];
		set_holders(s, k, i, holders(s, k, j));
		i = j;
	}
	d->line[i] = CACHE_NONE;
}

static struct place find(const struct socket *k, uint32_t line)
{
	return (struct place){ cache_find(&k->l3, line), dir_find(&k->directory, line) };
}

static enum line_state socket_state(const struct memory *s, const struct socket *k, struct place p)
{
	if (!s->inclusive && p.dir != CACHE_NONE)
		return (enum line_state)k->directory.state[p.dir];
	return p.l3 == CACHE_NONE ? LINE_I : (enum line_state)k->l3.state[p.l3];
}

static void set_socket_state(const struct memory *s, struct socket *k, struct place p, enum line_state state)
{
	if (p.l3 != CACHE_NONE)
		k->l3.state[p.l3] = (uint8_t)state;
	if (!s->inclusive && p.dir != CACHE_NONE)
		k->directory.state[p.dir] = (uint8_t)state;
}

static uint64_t socket_holders(const struct memory *s, const struct socket *k, struct place p)
{
	if (s->inclusive)
		return p.l3 == CACHE_NONE ? 0 : holders(s, k, p.l3);
	return p.dir == CACHE_NONE ? 0 : holders(s, k, p.dir);
}

static struct cluster *cluster_of(struct memory *s, unsigned socket, unsigned bit)
{
	return &s->cluster[socket * s->clusters_per_socket + bit];
}

/* Invalidates the copies of the clusters in `mask`; returns the highest state that one had. */
static enum line_state invalidate_clusters(struct memory *s, unsigned socket, uint64_t mask, uint32_t line)
{
	enum line_state highest = LINE_I;
	for (; mask; mask &= mask - 1) {
		const enum line_state had = cluster_invalidate(s, cluster_of(s, socket, (unsigned)__builtin_ctzll(mask)), line);
		if (had > highest)
			highest = had;
	}
	return highest;
}

static enum line_state share_clusters(struct memory *s, unsigned socket, uint64_t mask, uint32_t line)
{
	enum line_state highest = LINE_I;
	for (; mask; mask &= mask - 1) {
		const enum line_state had = cluster_share(s, cluster_of(s, socket, (unsigned)__builtin_ctzll(mask)), line);
		if (had > highest)
			highest = had;
	}
	return highest;
}

/* ---- lines come into and leave an L3 -------------------------------------------------------- */

uint64_t memory_write_home(struct memory *s, unsigned from, uint32_t line, uint64_t t, unsigned transfers, bool full)
{
	(void)full;
	uint64_t sent = t;
	if (from != home_of(line))
		sent = lane_take(&s->links[from * s->sockets + home_of(line)], t);
	return sent - t + dram_write(s, line, sent, transfers);
}

static void write_back(struct memory *s, unsigned from, uint32_t line, uint64_t t)
{
	(void)memory_write_home(s, from, line, t, 1, true);
}

/* Makes room for and puts a line into the socket's L3; returns its entry. */
static uint32_t l3_put(struct memory *s, unsigned socket, uint32_t line, uint64_t ready, enum line_state state, uint64_t t)
{
	struct socket *k = &s->socket[socket];
	const uint32_t i = cache_victim(&k->l3, line), old = k->l3.tag[i];
	if (old != CACHE_NONE) {
		bool dirty = (k->l3.state[i] & LINE_STATE) == LINE_M;
		if (s->inclusive) {
			dirty |= invalidate_clusters(s, socket, holders(s, k, i), old) == LINE_M;
		} else {
			const uint32_t d = dir_find(&k->directory, old);
			if (d != CACHE_NONE && k->directory.state[d] == LINE_M)
				k->directory.state[d] = LINE_E; /* private copies stay, memory is up to date */
		}
		if (dirty)
			write_back(s, socket, old, t);
	}
	cache_put(&k->l3, i, line, ready, (uint8_t)state);
	if (s->inclusive)
		set_holders(s, k, i, 0);
	return i;
}

/* ---- requests ------------------------------------------------------------------------------- */

static void hit_read(struct memory *s, struct cluster *c, struct place p, uint32_t line, uint64_t t, struct fill *f)
{
	struct socket *k = &s->socket[c->socket];
	uint64_t mask = socket_holders(s, k, p);
	enum line_state state = socket_state(s, k, p);
	f->source = SRC_L3_UNSHARED;
	f->ready = t + s->lat.l3;
	if (mask && !(mask & (mask - 1)) && mask != c->bit) {
		const enum line_state had = share_clusters(s, c->socket, mask, line);
		if (had == LINE_M) {
			f->source = SRC_L3_OTHER_MODIFIED;
			f->ready = t + s->lat.modified;
			state = LINE_M;
			if (p.l3 != CACHE_NONE)
				k->l3.state[p.l3] = LINE_M;
			else if (k->l3.sets)
				p.l3 = l3_put(s, c->socket, line, f->ready, LINE_M, t);
			else
				write_back(s, c->socket, line, t);
			if (!k->l3.sets)
				state = LINE_E;
		} else {
			f->ready = t + s->lat.clean;
			if (had == LINE_I)
				mask = 0;
			else
				f->source = SRC_L3_OTHER_CLEAN;
		}
	} else if (p.l3 == CACHE_NONE) {
		f->source = SRC_L3_OTHER_CLEAN; /* no copy in the L3: some sharer forwards */
		f->ready = t + s->lat.clean;
	}
	if (p.l3 != CACHE_NONE && k->l3.ready[p.l3] > f->ready)
		f->ready = k->l3.ready[p.l3];
	const bool alone = !(mask & ~c->bit);
	f->state = alone && state >= LINE_E ? LINE_E : LINE_S;
	mask |= c->bit;
	if (s->inclusive) {
		set_holders(s, k, p.l3, mask);
		cache_touch(&k->l3, p.l3);
		return;
	}
	if (p.dir == CACHE_NONE)
		p.dir = dir_add(&k->directory, line);
	k->directory.state[p.dir] = (uint8_t)state;
	set_holders(s, k, p.dir, mask);
	if (p.l3 != CACHE_NONE && alone) { /* a victim cache gives the line away */
		if (state == LINE_M)
			f->state = LINE_M;
		cache_drop(&k->l3, p.l3);
	} else if (p.l3 != CACHE_NONE) {
		cache_touch(&k->l3, p.l3);
	}
}

/* Takes the line out of all other sockets; true if one had it modified, *had: if one had it. */
static bool invalidate_sockets(struct memory *s, unsigned but, uint32_t line, bool *had)
{
	bool dirty = false;
	for (unsigned i = 0; i < s->sockets; i++) {
		struct socket *k = &s->socket[i];
		if (i == but)
			continue;
		const struct place p = find(k, line);
		if (p.l3 == CACHE_NONE && p.dir == CACHE_NONE)
			continue;
		*had = true;
		dirty |= socket_state(s, k, p) == LINE_M;
		dirty |= invalidate_clusters(s, i, socket_holders(s, k, p), line) == LINE_M;
		if (p.l3 != CACHE_NONE)
			cache_drop(&k->l3, p.l3);
		if (p.dir != CACHE_NONE)
			dir_remove(s, k, p.dir);
	}
	return dirty;
}

static void hit_own(struct memory *s, struct cluster *c, struct place p, uint32_t line, uint64_t t, struct fill *f)
{
	struct socket *k = &s->socket[c->socket];
	const uint64_t others = socket_holders(s, k, p) & ~c->bit;
	const enum line_state state = socket_state(s, k, p);
	const enum line_state had = invalidate_clusters(s, c->socket, others, line);
	f->source = had == LINE_M ? SRC_L3_OTHER_MODIFIED : had != LINE_I ? SRC_L3_OTHER_CLEAN : SRC_L3_UNSHARED;
	f->ready = t + (had == LINE_M ? s->lat.modified : others ? s->lat.clean : s->lat.l3);
	if (state == LINE_S || state == LINE_F) {
		bool any = false;
		(void)invalidate_sockets(s, c->socket, line, &any);
		if (f->ready < t + s->lat.invalidate)
			f->ready = t + s->lat.invalidate;
		if (any && f->source == SRC_L3_UNSHARED)
			f->source = SRC_REMOTE_CLEAN;
	}
	if (p.l3 != CACHE_NONE && k->l3.ready[p.l3] > f->ready)
		f->ready = k->l3.ready[p.l3];
	f->state = LINE_M;
	if (s->inclusive) {
		k->l3.state[p.l3] = state == LINE_M || had == LINE_M ? LINE_M : LINE_E;
		set_holders(s, k, p.l3, c->bit);
		cache_touch(&k->l3, p.l3);
		return;
	}
	if (p.l3 != CACHE_NONE)
		cache_drop(&k->l3, p.l3);
	if (p.dir == CACHE_NONE)
		p.dir = dir_add(&k->directory, line);
	k->directory.state[p.dir] = LINE_E; /* the cluster's own state says that it is modified */
	set_holders(s, k, p.dir, c->bit);
}

/* Nobody in the socket has it: other sockets, then the home. */
static void miss(struct memory *s, struct cluster *c, uint32_t line, bool own, uint64_t t, struct fill *f)
{
	const unsigned home = home_of(line);
	enum line_state state = LINE_E;
	unsigned answers = s->sockets; /* the socket that sends the data, if it is not the home's DRAM */
	bool modified = false, shared = false;
	for (unsigned i = 0; i < s->sockets; i++) {
		struct socket *k = &s->socket[i];
		if (i == c->socket)
			continue;
		const struct place p = find(k, line);
		if (p.l3 == CACHE_NONE && p.dir == CACHE_NONE)
			continue;
		const enum line_state was = socket_state(s, k, p);
		const uint64_t mask = socket_holders(s, k, p);
		const enum line_state had = own ? invalidate_clusters(s, i, mask, line) :
			was >= LINE_E ? share_clusters(s, i, mask, line) : LINE_S;
		shared = true;
		if (was == LINE_M || had == LINE_M) {
			modified = true;
			answers = i;
		} else if (was == LINE_E || was == LINE_F) {
			answers = i;
		}
		if (!own) {
			set_socket_state(s, k, p, LINE_S);
			continue;
		}
		if (p.l3 != CACHE_NONE)
			cache_drop(&k->l3, p.l3);
		if (p.dir != CACHE_NONE)
			dir_remove(s, k, p.dir);
	}
	const uint64_t asked = t + s->lat.l3; /* the L3 has missed */
	if (answers < s->sockets && !(modified && s->m->link_modified_as_dram && !own)) {
		f->source = modified ? SRC_REMOTE_MODIFIED : SRC_REMOTE_CLEAN;
		const uint64_t sent = lane_take(&s->links[answers * s->sockets + c->socket], asked);
		f->ready = t + (modified ? s->lat.remote_modified : s->lat.remote_clean) + (sent - asked);
		if (modified && !own)
			write_back(s, answers, line, asked);
	} else {
		uint64_t late = 0;
		if (modified)
			write_back(s, answers, line, asked);
		if (home != c->socket)
			late = lane_take(&s->links[home * s->sockets + c->socket], asked) - asked;
		const int64_t delay = dram_read(s, line, asked + late) + (int64_t)late;
		f->source = home == c->socket ? SRC_LOCAL_DRAM : SRC_REMOTE_DRAM;
		f->ready = t + (uint64_t)((int64_t)(modified ? s->lat.remote_modified :
			home == c->socket ? s->lat.local : s->lat.remote) + delay);
	}
	if (shared && !own)
		state = LINE_F;
	f->state = own ? LINE_M : shared ? LINE_S : LINE_E;
	struct socket *k = &s->socket[c->socket];
	if (s->inclusive) {
		set_holders(s, k, l3_put(s, c->socket, line, f->ready, state, f->ready), c->bit);
	} else {
		uint32_t d = dir_find(&k->directory, line);
		if (d == CACHE_NONE)
			d = dir_add(&k->directory, line);
		k->directory.state[d] = (uint8_t)state;
		set_holders(s, k, d, c->bit);
	}
}

void uncore_read(struct memory *s, struct cluster *c, uint32_t line, bool own, uint64_t t, struct fill *f)
{
	struct socket *k = &s->socket[c->socket];
	if (k->l3.sets)
		t = lane_take(&k->slices[cache_slice(&k->l3, line)], t);
	t = pool_start(&k->read_tracker, t, 0);
	const struct place p = find(k, line);
	/* a line that only the instruction cache of the asking cluster has cannot be had from there */
	if (p.l3 == CACHE_NONE && !(socket_holders(s, k, p) & ~c->bit))
		miss(s, c, line, own, t, f);
	else if (own)
		hit_own(s, c, p, line, t, f);
	else
		hit_read(s, c, p, line, t, f);
	pool_add(&k->read_tracker, t, f->ready, line, (uint8_t)f->source);
}

void uncore_evict(struct memory *s, struct cluster *c, uint32_t line, bool dirty, bool gone, uint64_t t)
{
	struct socket *k = &s->socket[c->socket];
	struct place p = find(k, line);
	if (s->inclusive) {
		if (!dirty || p.l3 == CACHE_NONE)
			return; /* clean lines go without a word */
		(void)lane_take(&k->slices[cache_slice(&k->l3, line)], t);
		k->l3.state[p.l3] = LINE_M;
		if (gone)
			set_holders(s, k, p.l3, holders(s, k, p.l3) & ~c->bit);
		return;
	}
	if (p.dir == CACHE_NONE)
		return;
	enum line_state state = dirty ? LINE_M : (enum line_state)k->directory.state[p.dir];
	const uint64_t mask = holders(s, k, p.dir) & ~(gone ? c->bit : 0);
	if (k->l3.sets) {
		(void)lane_take(&k->slices[cache_slice(&k->l3, line)], t);
		if (p.l3 != CACHE_NONE) {
			k->l3.state[p.l3] = (uint8_t)state;
			cache_touch(&k->l3, p.l3);
		} else {
			(void)l3_put(s, c->socket, line, t, state, t);
		}
	} else if (dirty) {
		write_back(s, c->socket, line, t);
		state = LINE_E;
	}
	if (mask) {
		set_holders(s, k, p.dir, mask);
		k->directory.state[p.dir] = (uint8_t)state;
	} else {
		dir_remove(s, k, p.dir);
	}
}

bool uncore_purge(struct memory *s, uint32_t line)
{
	bool had = false;
	return invalidate_sockets(s, s->sockets, line, &had);
}

void uncore_init(struct memory *s, struct socket *k, struct arena *a)
{
	const struct machine *m = s->m;
	const uint32_t ways = (uint32_t)m->l3_ways;
	struct cache none;
	cache_init(k ? &k->l3 : &none, a, (uint32_t)(m->l3_bytes / (64 * ways)), ways, (uint32_t)m->l3_slices, m->l3_hash,
	           (enum replacement)m->l3_policy);
	size_t entries = (m->l3_bytes / (64 * ways)) * ((ways + 3) & ~3u);
	uint32_t n = 0;
	if (!s->inclusive) {
		const uint64_t lines = (m->l2_bytes + (m->l1d_bytes + m->l1i_bytes) * m->l2_cores) / 64 * s->clusters_per_socket;
		for (n = 64; n < lines * 3 / 2; n *= 2)
			;
		entries = n;
	}
	uint32_t *line = arena_get(a, n * sizeof(*line));
	uint8_t *state = arena_get(a, n);
	uint8_t *mask = arena_get(a, entries * s->holder_bytes);
	struct pool_use *use[3];
	const uint32_t tracker[3] = { (uint32_t)m->gq_read, (uint32_t)m->gq_write, (uint32_t)m->gq_peer };
	for (unsigned i = 0; i < 3; i++)
		use[i] = arena_get(a, pool_history(tracker[i]) * sizeof(struct pool_use));
	dram_init(s, k, a);
	if (!a->at)
		return;
	k->holders = mask;
	memset(mask, 0, entries * s->holder_bytes);
	k->directory = (struct directory){ .mask = n ? n - 1 : 0, .line = line, .state = state };
	memset(line, 0xFF, n * sizeof(*line));
	struct pool *pool[3] = { &k->read_tracker, &k->write_tracker, &k->peer_tracker };
	for (unsigned i = 0; i < 3; i++)
		*pool[i] = (struct pool){ .entries = tracker[i], .mask = pool_history(tracker[i]) - 1, .use = use[i] };
	const uint64_t busy = m->l3_busy_uncore_cycles * m->tick_per_uncore_cycle * 65536 / m->tick_per_core_cycle;
	for (unsigned i = 0; i < m->l3_slices; i++)
		lane_init(&k->slices[i], busy);
}
