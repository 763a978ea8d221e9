/* pmu/sim/coherence.c: beyond the L2: requests to the L3, MESIF among cores and sockets.
 *
 * Two levels. Among sockets each line has a MESIF state: M and E say that only this socket has
 * it, of several sharers one has F and forwards. Within a socket a mask says which clusters
 * (an L2 and its cores) may hold the line. Clean lines leave the private caches of an inclusive
 * L3 without a word, so its mask may say too much.
 *
 * A read that finds the line in the socket:
 *   no other socket has it and the mask is exactly one other cluster -> that one, which may have
 *   it in E or M, is snooped: modified there -> written back to
 *   the L3, L3_OTHER_MODIFIED; clean there -> L3_OTHER_CLEAN; gone -> L3_UNSHARED, but the
 *   snoop's time is spent; any other mask -> L3_UNSHARED, no snoop (without a copy in the L3,
 *   which is then not inclusive, a sharer forwards: L3_OTHER_CLEAN and the clean snoop's time).
 * A read that does not: another socket's modified line (link.modified_as_dram: written back to
 * its home, which answers), else another socket's line in E or F, else the home's DRAM. The
 * modified line is written to its home in either case; its old owner keeps it shared.
 * A read for ownership invalidates every other copy; a modified one moves without a write.
 *
 * Not modelled: races between requests to one line (requests are atomic in the order in which
 * they come), capacity of the directory, conflicts and retries, snoop filters at the home. */
#include "pmu/sim/dram.h"
#include "pmu/sim/socket.h"

/* What the snoop of a cluster's caches found. */
static void tell_core_snoop(struct memory *s, unsigned socket, uint32_t line, enum line_state had, uint64_t t)
{
	static const enum uncore_signal sig[] = { UNC_CORE_SNOOP_MISS, UNC_CORE_SNOOP_CLEAN, UNC_CORE_SNOOP_CLEAN,
	                                          UNC_CORE_SNOOP_CLEAN, UNC_CORE_SNOOP_MODIFIED };
	if (s->sink.pulse)
		uncore_pulse(s, socket, socket_slice(&s->socket[socket], line), sig[had], t);
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* ---- into the L3 ----------------------------------------------------------------------------- */

/* Makes room in the set that begins at `first` and puts the line there, of the socket's L3 (with these holders, where it is
 * inclusive); returns its entry. plain: memory_plain. */
static inline __attribute__((always_inline)) uint32_t put(struct memory *s, unsigned socket, struct socket *k, uint32_t first, uint32_t line,
	uint64_t ready, enum line_state state, uint64_t mask, uint64_t t, const bool plain)
{
	static const enum uncore_signal in[] = { UNC_L3_IN_S, UNC_L3_IN_S, UNC_L3_IN_F, UNC_L3_IN_E, UNC_L3_IN_M };
	static const enum uncore_signal out[] = { UNC_L3_OUT_S, UNC_L3_OUT_S, UNC_L3_OUT_F, UNC_L3_OUT_E, UNC_L3_OUT_M };
	struct cache *l3 = &k->l3;
	uint8_t *const block = cache_block_at(l3, first);
	const uint32_t way = cache_victim_way(l3, block), old = cache_tags_in(l3, block)[way];
	const unsigned slice = !plain && s->sink.pulse ? socket_slice(k, line) : 0; /* wanted for the sink alone */
	if (old != CACHE_NONE) {
		enum line_state was = (enum line_state)block[l3->states_at + way];
		if (plain || s->inclusive) {
			const uint64_t had = holders(s, k, first | way);
			if (had && socket_lower(s, socket, had, old, LINE_I, t) == LINE_M)
				was = LINE_M;
		} else if (was == LINE_M) {
			const uint32_t d = directory_find(&k->directory, old);
			if (d != CACHE_NONE)
				k->directory.state[d] = LINE_E; /* private copies stay; memory is up to date */
		}
		if (!plain)
			uncore_pulse(s, socket, slice, out[was], t);
		if (was == LINE_M)
			(void)dram_write(s, socket, old, t, 1, true);
	}
	cache_put_victim(l3, block, way, old, line, ready, (uint8_t)state);
	if (plain || s->inclusive)
		set_holders(s, k, first | way, mask);
	if (!plain)
		uncore_pulse(s, socket, slice, in[state], t);
	return first | way;
}

static __attribute__((noinline)) uint32_t socket_put(struct memory *s, unsigned socket, uint32_t first, uint32_t line, uint64_t ready,
                                                     enum line_state state, uint64_t t)
{
	return put(s, socket, &s->socket[socket], first, line, ready, state, 0, t, false);
}

/* ---- the line is in the socket -------------------------------------------------------------- */

static inline __attribute__((always_inline)) void hit_read(struct memory *s, struct cluster *c, struct place p, uint32_t line, uint64_t t,
                                                           struct fill *f)
{
	struct socket *k = c->here;
	uint64_t mask = socket_holders(s, k, p);
	enum line_state state = socket_state(s, k, p);
	f->source = SRC_L3_UNSHARED;
	f->ready = t + s->lat.l3;
	if (state >= LINE_E && mask && !(mask & (mask - 1)) && mask != c->bit) {
		const enum line_state had = socket_lower(s, c->socket, mask, line, LINE_S, t);
		tell_core_snoop(s, c->socket, line, had, t);
		f->ready = t + (had == LINE_M ? s->lat.modified : s->lat.clean);
		if (had == LINE_M) {
			f->source = SRC_L3_OTHER_MODIFIED;
			state = LINE_M;
			if (p.l3 != CACHE_NONE) {
				*cache_state(&k->l3, p.l3) = LINE_M;
			} else if (k->l3.sets) {
				p.l3 = socket_put(s, c->socket, p.set, line, f->ready, LINE_M, t);
			} else {
				(void)dram_write(s, c->socket, line, t, 1, true);
				state = LINE_E;
			}
		} else if (had == LINE_I) {
			mask = 0;
		} else {
			f->source = SRC_L3_OTHER_CLEAN;
		}
	} else if (p.l3 == CACHE_NONE) {
		f->source = SRC_L3_OTHER_CLEAN;
		f->ready = t + s->lat.clean;
	}
	if (p.l3 != CACHE_NONE)
		f->ready = later(f->ready, cache_ready(&k->l3, p.l3));
	const bool alone = !(mask & ~c->bit);
	f->state = alone && state >= LINE_E ? LINE_E : LINE_S;
	socket_hold(s, k, p, line, state, mask | c->bit);
	if (!s->inclusive && p.l3 != CACHE_NONE && alone) { /* a victim cache gives the line away */
		if (state == LINE_M)
			f->state = LINE_M;
		cache_drop(&k->l3, p.l3);
	} else if (p.l3 != CACHE_NONE) {
		cache_touch(&k->l3, p.l3);
	}
}

/* A socket's answer to another one's snoop. */
static void tell_peer(struct memory *s, unsigned socket, uint32_t line, enum line_state was, bool own, uint64_t t)
{
	static const enum uncore_signal sig[2][5] = {
		{ UNC_SNOOP_LOCAL_I, UNC_SNOOP_LOCAL_S, UNC_SNOOP_LOCAL_FORWARD_S, UNC_SNOOP_LOCAL_FORWARD_I, UNC_SNOOP_LOCAL_WRITE_BACK },
		{ UNC_SNOOP_REMOTE_I, UNC_SNOOP_REMOTE_S, UNC_SNOOP_REMOTE_FORWARD_S, UNC_SNOOP_REMOTE_FORWARD_I, UNC_SNOOP_REMOTE_WRITE_BACK },
	};
	static const enum uncore_signal became[2][5] = {
		{ UNC_COUNT, UNC_SNOOP_S_TO_S, UNC_SNOOP_F_TO_S, UNC_SNOOP_E_TO_S, UNC_SNOOP_M_TO_S },
		{ UNC_COUNT, UNC_SNOOP_S_TO_I, UNC_SNOOP_F_TO_I, UNC_SNOOP_E_TO_I, UNC_SNOOP_M_TO_I },
	};
	static const enum uncore_signal to_home[5] = {
		UNC_COUNT, UNC_COUNT, UNC_HOME_REMOTE_FORWARD_S, UNC_HOME_REMOTE_FORWARD_I, UNC_HOME_REMOTE_WRITE_BACK
	};
	const unsigned slice = socket_slice(&s->socket[socket], line), home = home_of(line);
	const unsigned answer = was == LINE_I ? 0 : was == LINE_S ? (own ? 0 : 1) : own ? 3 : was == LINE_M ? 4 : 2;
	uncore_pulse(s, socket, 0, sig[home != socket][answer], t);
	if (home != socket && to_home[answer] != UNC_COUNT)
		uncore_pulse(s, home, 0, to_home[answer], t);
	if (was != LINE_I)
		uncore_pulse(s, socket, 0, became[own][was], t);
	uncore_pulse(s, socket, slice, was == LINE_I ? UNC_L3_MISS_PROBE : UNC_L3_HIT_PROBE, t);
	uncore_pulse(s, socket, 0, UNC_PEER_INSERT, t);
	uncore_level(s, socket, 0, UNC_PEER_OCCUPANCY, t, 0, s->m->l3_uncore_cycles, 0);
}

/* The snoop of all other sockets: what they had, who sends the data (s->sockets: nobody). */
struct snooped { bool any, modified; unsigned sender; };
/* Else it has no line at all. */
static inline bool can_answer(const struct memory *s, const struct socket *k)
{
	return k->l3.used || k->directory.entries || s->sink.pulse;
}
static __attribute__((noinline)) struct snooped snoop_all(struct memory *s, unsigned asker, uint32_t line, bool own, uint64_t t)
{
	struct snooped r = { .sender = s->sockets };
	for (unsigned i = 0; i < s->sockets; i++) {
		struct socket *k = &s->socket[i];
		if (i == asker || !can_answer(s, k))
			continue;
		const struct place p = socket_find(k, line);
		enum line_state was = LINE_I;
		if (place_is(p)) {
			was = socket_state(s, k, p);
			if (own || was >= LINE_E) {
				const uint64_t mask = socket_holders(s, k, p);
				const enum line_state had = socket_lower(s, i, mask, line, own ? LINE_I : LINE_S, t);
				if (mask)
					tell_core_snoop(s, i, line, had, t);
				was = had == LINE_M ? LINE_M : was;
			}
			r.any = true;
			if (was == LINE_M)
				r.modified = true;
			if (was >= LINE_F)
				r.sender = i;
			if (!own) {
				socket_set_state(s, k, p, LINE_S);
			} else {
				if (p.l3 != CACHE_NONE)
					cache_drop(&k->l3, p.l3);
				socket_release(s, k, p);
			}
		}
		if (asker < s->sockets && s->sink.pulse) {
			uncore_pulse(s, asker, link_unit(s, asker, i, line), UNC_LINK_SNOOP, t);
			uncore_pulse(s, i, link_unit(s, i, asker, line), UNC_LINK_RESPONSE, t);
			tell_peer(s, i, line, was, own, t);
		}
	}
	return r;
}

static inline struct snooped snoop_sockets(struct memory *s, unsigned asker, uint32_t line, bool own, uint64_t t)
{
	for (unsigned i = 0; i < s->sockets; i++)
		if (i != asker && can_answer(s, &s->socket[i]))
			return snoop_all(s, asker, line, own, t);
	return (struct snooped){ .sender = s->sockets };
}

static __attribute__((noinline)) void hit_own(struct memory *s, struct cluster *c, struct place p, uint32_t line, uint64_t t, struct fill *f)
{
	struct socket *k = c->here;
	const uint64_t others = socket_holders(s, k, p) & ~c->bit;
	const enum line_state state = socket_state(s, k, p);
	const enum line_state had = socket_lower(s, c->socket, others, line, LINE_I, t);
	if (others)
		tell_core_snoop(s, c->socket, line, had, t);
	f->source = had == LINE_M ? SRC_L3_OTHER_MODIFIED : had != LINE_I ? SRC_L3_OTHER_CLEAN : SRC_L3_UNSHARED;
	f->ready = t + (had == LINE_M ? s->lat.modified : others ? s->lat.clean : s->lat.l3);
	if (state == LINE_S || state == LINE_F) {
		const struct snooped r = snoop_sockets(s, c->socket, line, true, t);
		f->ready = later(f->ready, t + s->lat.invalidate);
		if (r.any && f->source == SRC_L3_UNSHARED)
			f->source = SRC_REMOTE_CLEAN;
	}
	if (p.l3 != CACHE_NONE)
		f->ready = later(f->ready, cache_ready(&k->l3, p.l3));
	f->state = LINE_M;
	/* the cluster's own state says that it is modified; what the L3 had modified stays so */
	if (s->inclusive) {
		*cache_state(&k->l3, p.l3) = state == LINE_M || had == LINE_M ? LINE_M : LINE_E;
		cache_touch(&k->l3, p.l3);
	} else if (p.l3 != CACHE_NONE) {
		cache_drop(&k->l3, p.l3);
	}
	socket_hold(s, k, p, line, LINE_E, c->bit);
}

/* ---- nobody in the socket has it ------------------------------------------------------------ */

static inline __attribute__((always_inline)) void miss(struct memory *s, struct cluster *c, const struct ask *q, struct place p, uint64_t t,
                                                       struct fill *f, const bool plain)
{
	const bool own = ask_owns(q);
	const uint32_t line = q->line;
	const unsigned home = home_of(line);
	const uint64_t asked = t + s->lat.l3; /* the L3 has missed */
	struct snooped r = { .sender = s->sockets };
	if (!plain)
		r = snoop_sockets(s, c->socket, line, own, asked);
	else if (c->peer && c->peer->l3.used)
		r = snoop_all(s, c->socket, line, own, asked);
	if (r.sender < s->sockets && !(r.modified && s->m->link_modified_as_dram && !own)) {
		const uint64_t sent = lane_take(&s->links[r.sender * s->sockets + c->socket], asked);
		if (!plain)
			uncore_pulse(s, r.sender, link_unit(s, r.sender, c->socket, line), UNC_LINK_DATA, sent);
		f->source = r.modified ? SRC_REMOTE_MODIFIED : SRC_REMOTE_CLEAN;
		f->ready = t + (r.modified ? s->lat.remote_modified : s->lat.remote_clean) + (sent - asked);
	} else {
		const uint64_t unloaded = r.modified ? s->lat.remote_modified : home == c->socket ? s->lat.local : s->lat.remote;
		const int64_t delay = dram_read(s, c->socket, line, asked);
		f->source = home == c->socket ? SRC_LOCAL_DRAM : SRC_REMOTE_DRAM;
		f->ready = (uint64_t)((int64_t)(t + unloaded) + delay);
		if (!plain && s->sink.pulse)
			uncore_level(s, home, dram_channel(s, line), home == c->socket ? UNC_HOME_OCCUPANCY_LOCAL : UNC_HOME_OCCUPANCY_REMOTE, asked, 0, 0,
			             f->ready - asked);
	}
	if (r.modified && !own) /* behind the answer, which it must not hold up */
		(void)dram_write(s, r.sender, line, f->ready, 1, true);
	const enum line_state state = r.any && !own ? LINE_F : LINE_E;
	f->state = own ? LINE_M : r.any ? LINE_S : LINE_E;
	if (plain || s->inclusive)
		(void)put(s, c->socket, c->here, p.set, line, f->ready, state, c->bit, t, plain);
	else
		socket_hold(s, c->here, p, line, state, c->bit);
}

/* ---- requests ------------------------------------------------------------------------------- */

/* What the read tracker and the L3's lookup show. n, x: how long the entry is held. */
static void tell_read(struct memory *s, unsigned socket, const struct ask *q, enum line_state state, uint64_t t,
                      const struct fill *f)
{
	static const enum uncore_signal lookup[] = { UNC_L3_LOOKUP_I, UNC_L3_LOOKUP_S, UNC_L3_LOOKUP_F, UNC_L3_LOOKUP_E, UNC_L3_LOOKUP_M };
	const struct machine *m = s->m;
	const unsigned slice = socket_slice(&s->socket[socket], q->line);
	const uint64_t n = m->l3_uncore_cycles, taken = f->ready - t;
	uint64_t more = 0, unloaded = s->lat.l3;
	if (f->source == SRC_L3_OTHER_MODIFIED) {
		more = m->l3_modified_uncore_cycles;
		unloaded = s->lat.modified;
	} else if (f->source == SRC_L3_OTHER_CLEAN) {
		more = m->l3_clean_uncore_cycles;
		unloaded = s->lat.clean;
	}
	const uint64_t beyond = taken > unloaded ? taken - unloaded : 0;
	uncore_pulse(s, socket, slice, lookup[state], t);
	uncore_pulse(s, socket, slice, UNC_READ_INSERT, t);
	uncore_level(s, socket, slice, UNC_READ_OCCUPANCY, t, 0, n + more, beyond);
	uncore_pulse(s, socket, slice, UNC_READ_RESPONSE_INSERT, t);
	uncore_level(s, socket, slice, UNC_READ_RESPONSE_OCCUPANCY, t, 0, n, 0);
	static const enum uncore_signal tor[] = { /* of the four that follow: line here or not, home here or not */
		[ASK_LOAD] = UNC_TOR_DRD_HIT_LOCAL_INSERT, [ASK_WALK] = UNC_TOR_DRD_HIT_LOCAL_INSERT, [ASK_PREFETCH] = UNC_TOR_DRD_HIT_LOCAL_INSERT,
		[ASK_RFO] = UNC_TOR_RFO_HIT_LOCAL_INSERT, [ASK_PREFETCH_RFO] = UNC_TOR_RFO_HIT_LOCAL_INSERT, [ASK_IFETCH] = UNC_TOR_CRD_HIT_LOCAL_INSERT,
	};
	const unsigned which = tor[q->kind] + 2 * (state == LINE_I) + (home_of(q->line) != socket);
	uncore_pulse(s, socket, slice, (enum uncore_signal)which, t);
	uncore_level(s, socket, slice, (enum uncore_signal)(which + 4), t, 0, n + more, beyond);
	if (state != LINE_I) {
		uncore_pulse(s, socket, slice, UNC_L3_HIT_READ, t);
		return;
	}
	const bool local = home_of(q->line) == socket;
	uncore_pulse(s, socket, slice, UNC_L3_MISS_READ, t);
	uncore_pulse(s, socket, slice, UNC_READ_MISS_INSERT, t);
	uncore_level(s, socket, slice, UNC_READ_MISS_OCCUPANCY, t, n, 0, beyond);
	uncore_pulse(s, socket, slice, local ? UNC_READ_MISS_LOCAL_INSERT : UNC_READ_MISS_REMOTE_INSERT, t);
	uncore_level(s, socket, slice, local ? UNC_READ_MISS_LOCAL_OCCUPANCY : UNC_READ_MISS_REMOTE_OCCUPANCY, t, n, 0, beyond);
}

uint64_t uncore_lasts(const struct memory *s, const struct cluster *k, uint32_t line)
{
	if (place_is(socket_find(&s->socket[k->socket], line)))
		return s->lat.l3;
	return home_of(line) == k->socket ? s->lat.local : s->lat.remote;
}

/* plain: memory_plain. */
static inline __attribute__((always_inline)) void read_as(struct memory *s, struct cluster *c, const struct ask *q, uint64_t t, struct fill *f,
                                                          const bool plain)
{
	struct socket *k = c->here;
	const bool own = ask_owns(q);
	if (!plain && s->float_cycles)
		s->lat = s->lat_of[uncore_is_other(s, t)];
	const uint64_t came = t;
	struct place p = { CACHE_NONE, CACHE_NONE, 0 };
	if (plain || k->l3.sets) {
		uint32_t slice;
		p.set = cache_first(&k->l3, cache_slice_and_set(&k->l3, q->line, &slice));
		t = lane_take(&k->slices[slice], t);
		p.l3 = cache_find_from(&k->l3, p.set, q->line);
	}
	if (!plain && k->directory.entries)
		p.dir = directory_find(&k->directory, q->line);
	t = pool_start(&k->read_tracker, t, 1, 0);
	if (!plain && s->sink.pulse)
		uncore_level(s, c->socket, socket_slice(k, q->line), UNC_READ_INGRESS_OCCUPANCY, came, 0, 0, t - came);
	/* a line that only the asking cluster has: its writer has the data, while a reader cannot
	 * get them, for it is in the instruction cache */
	const bool here = p.l3 != CACHE_NONE || (!plain && (own ? p.dir != CACHE_NONE : (socket_holders(s, k, p) & ~c->bit) != 0));
	const enum line_state state = here && !plain ? socket_state(s, k, p) : LINE_I;
	if (!here)
		miss(s, c, q, p, t, f, plain);
	else if (own)
		hit_own(s, c, p, q->line, t, f);
	else
		hit_read(s, c, p, q->line, t, f);
	pool_add(&k->read_tracker, t, f->ready, q->line, (uint8_t)f->source);
	if (!plain && s->sink.pulse)
		tell_read(s, c->socket, q, state, t, f);
}

/* What memory_plain rules out. */
static __attribute__((noinline)) void read_wholly(struct memory *s, struct cluster *c, const struct ask *q, uint64_t t, struct fill *f)
{
	read_as(s, c, q, t, f, false);
}

OWN_PAGE void uncore_read(struct memory *s, struct cluster *c, const struct ask *q, uint64_t t, struct fill *f)
{
	if (__builtin_expect(s->plain, 1))
		read_as(s, c, q, t, f, true);
	else
		read_wholly(s, c, q, t, f);
}

void uncore_evict(struct memory *s, struct cluster *c, uint32_t line, bool dirty, bool gone, uint64_t t)
{
	struct socket *k = &s->socket[c->socket];
	const struct place p = socket_find(k, line);
	if (s->inclusive ? !dirty || p.l3 == CACHE_NONE : p.dir == CACHE_NONE)
		return; /* clean lines leave without a word */
	const enum line_state state = dirty ? LINE_M : socket_state(s, k, p);
	const uint64_t mask = socket_holders(s, k, p) & ~(gone ? c->bit : 0);
	const unsigned slice = socket_slice(k, line);
	if (k->l3.sets) {
		t = lane_take(&k->slices[slice], t);
		t = pool_start(&k->write_tracker, t, s->lat.l3, 0);
		pool_add(&k->write_tracker, t, t + s->lat.l3, line, SRC_NONE);
		uncore_pulse(s, c->socket, slice, UNC_WRITE_INSERT, t);
		uncore_level(s, c->socket, slice, UNC_WRITE_OCCUPANCY, t, 0, s->m->l3_uncore_cycles, 0);
		uncore_pulse(s, c->socket, slice, p.l3 != CACHE_NONE ? UNC_L3_HIT_WRITE : UNC_L3_MISS_WRITE, t);
		if (p.l3 != CACHE_NONE) {
			*cache_state(&k->l3, p.l3) = (uint8_t)state;
			if (!s->inclusive)
				cache_touch(&k->l3, p.l3);
		} else {
			(void)socket_put(s, c->socket, p.set, line, t, state, t);
		}
	} else if (dirty) {
		(void)dram_write(s, c->socket, line, t, 1, true);
	}
	if (s->inclusive || mask)
		socket_hold(s, k, p, line, k->l3.sets ? state : dirty ? LINE_E : state, mask);
	else
		socket_release(s, k, p);
}

bool uncore_purge(struct memory *s, uint32_t line, uint64_t t)
{
	return snoop_sockets(s, s->sockets, line, true, t).modified;
}
