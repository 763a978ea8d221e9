/* pmu/sim/memory/coherence.h: the path of each line from beyond the L2; coherence.c states the rules. For memory.c and
 * coherence.c only.
 *
 * The text is compiled twice: once in full, and once without the conditions that `plain` decides (memory_plain: an
 * inclusive L3, at most two sockets, no subscriber beyond the cores). */
#ifndef SIM_COHERENCE_H
#define SIM_COHERENCE_H

#include "pmu/sim/memory/dram.h"
#include "pmu/sim/memory/socket.h"
#include "pmu/sim/memory/uncore_traffic.h"

/* Emits to the sink what the snoop of a cluster's caches found. */
void coherence_emit_core_snoop(struct memory *s, unsigned socket, uint32_t line, enum line_state had, uint64_t t);
/* Emits the read tracker's and the L3 lookup's signals. */
void coherence_emit_read(struct memory *s, unsigned socket, const struct line_request *q, enum line_state state, uint64_t t, const struct fill *f);
/* Emits that another socket sends the line; that a home has answered a read. */
void coherence_emit_forward(struct memory *s, unsigned sender, unsigned asker, uint32_t line, bool modified, bool own, uint64_t asked, uint64_t sent);
void coherence_emit_home(struct memory *s, unsigned asker, uint32_t line, bool own, bool shared, uint64_t asked, uint64_t ready);
/* Emits that a line comes from beyond the L3. */
void coherence_emit_fill(struct memory *s, unsigned socket, uint32_t line, enum mem_source source, uint64_t asked, uint64_t ready);
/* As `put`, for a line that no cache holds. */
uint32_t socket_put(struct memory *s, unsigned socket, uint32_t first, uint32_t line, uint64_t ready, enum line_state state, uint64_t t);
/* A request for ownership of a line that is in the socket. */
struct fill coherence_hit_own(struct memory *s, struct cluster *c, struct line_location p, uint32_t line, uint64_t t);

static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* ---- into the L3 ----------------------------------------------------------------------------- */

/* A line that leaves an inclusive L3 also leaves the caches of the clusters in `mask`; returns whether one had it modified.
 * c: the cluster that is examined first, and is most often the only one; NULL: none. */
bool coherence_leave_clusters(struct memory *s, unsigned socket, uint64_t mask, uint32_t line, uint64_t t);
static inline __attribute__((always_inline)) bool coherence_leave_all(struct memory *s, unsigned socket, const struct cluster *c, uint64_t mask, uint32_t line,
                                                                      uint64_t t, const unsigned w)
{
	if (mask && __builtin_expect(!(c && mask == c->bit && !cluster_has(c, line, w)), 0))
		return coherence_leave_clusters(s, socket, mask, line, t);
	return false;
}

/* Makes room in a set of the socket's L3 and puts the line there (with these holders, if it is inclusive); returns its way.
 * c: for coherence_leave_all. plain: 1: `plain`; 2: `quick` is 2; else 0. */
static inline __attribute__((always_inline)) uint32_t put(struct memory *s, unsigned socket, struct socket *k, uint8_t *const block, uint32_t line,
	uint64_t ready, enum line_state state, uint64_t mask, uint64_t t, const struct cluster *c, const unsigned plain)
{
	const unsigned w2 = plain == 2 ? 8 : 0, w3 = plain == 2 ? 16 : 0; /* ways of the private caches and of the L3, or 0 */
	static const enum uncore_signal in[] = { UNC_L3_IN_S, UNC_L3_IN_S, UNC_L3_IN_F, UNC_L3_IN_E, UNC_L3_IN_M };
	static const enum uncore_signal out[] = { UNC_L3_OUT_S, UNC_L3_OUT_S, UNC_L3_OUT_F, UNC_L3_OUT_E, UNC_L3_OUT_M };
	struct cache *l3 = &k->l3;
	const uint32_t way = cache_victim_way(l3, block, w3), old = ~cache_tags_in(l3, block, w3)[way];
	const unsigned slice = !plain && s->sink.deliver ? socket_slice(k, line) : 0; /* only the sink needs it */
	if (old != CACHE_NONE) {
		enum line_state was = (enum line_state)cache_states_in(l3, block, w3)[way];
		if (plain || s->inclusive) {
			const uint64_t had = socket_holders_get(s, socket_holders_in(k, block, way, w3), w3);
			if (coherence_leave_all(s, socket, c, had, old, t, w2))
				was = LINE_M;
		} else if (was == LINE_M) {
			const uint32_t d = directory_find(&k->directory, old);
			if (d != CACHE_NONE)
				k->directory.state[d] = LINE_E; /* private copies stay; memory is up to date */
		}
		if (!plain)
			uncore_pulse(s, socket, slice, out[was], t);
		if (!plain && s->sink.traffic)
			uncore_traffic_evict(s, socket, old, was, t);
		if (was == LINE_M)
			(void)dram_write(s, socket, old, t, 1, true);
	}
	cache_put_victim(l3, block, way, old, line, ready, (uint8_t)state, w3);
	if (plain || s->inclusive)
		socket_holders_set(s, socket_holders_in(k, block, way, w3), mask, w3);
	if (!plain)
		uncore_pulse(s, socket, slice, in[state], t);
	return way;
}

/* ---- the line is in the socket -------------------------------------------------------------- */

/* A read of a line that one other cluster of the socket may have in E or M, or that no inclusive L3 holds. */
struct fill coherence_hit_read_elsewhere(struct memory *s, struct cluster *c, struct line_location p, uint32_t line, uint64_t t);

/* Way `way` of a set of the L3; CACHE_NONE: none. */
static inline struct line_location location_in(const struct socket *k, uint32_t set, uint32_t way)
{
	const uint32_t first = cache_first(&k->l3, set);
	return (struct line_location){ way == CACHE_NONE ? CACHE_NONE : first | way, CACHE_NONE, first };
}

/* The line is in that way of an inclusive L3. w: as in cache.h. */
static inline __attribute__((always_inline)) void coherence_hit_read(struct memory *s, struct cluster *c, uint32_t set, uint8_t *block, uint32_t way, uint32_t line,
                                                                     uint64_t t, struct fill *f, const unsigned w)
{
	struct socket *k = c->here;
	struct cache *const l3 = &k->l3;
	void *const holders = socket_holders_in(k, block, way, w);
	const uint64_t mask = socket_holders_get(s, holders, w);
	const enum line_state state = (enum line_state)cache_states_in(l3, block, w)[way];
	if (state >= LINE_E && mask && !(mask & (mask - 1)) && mask != c->bit) {
		*f = coherence_hit_read_elsewhere(s, c, location_in(k, set, way), line, t);
		return;
	}
	f->source = SRC_L3_UNSHARED;
	f->ready = later(t + s->lat.l3, l3->epoch + cache_ready_in(l3, block, w)[way]);
	f->state = !(mask & ~c->bit) && state >= LINE_E ? LINE_E : LINE_S;
	socket_holders_set(s, holders, mask | c->bit, w);
	cache_touch_way(l3, block, way, w);
}

/* ---- nobody in the socket has it ------------------------------------------------------------ */

/* The snoop of all other sockets: what they held, and the socket that sends the data (s->sockets: none). near: all that had the line are of the
 * requester's node. */
struct snooped { bool any, modified, near; unsigned sender; };
/* Otherwise it does not hold the line. */
static inline bool can_answer(const struct memory *s, const struct socket *k)
{
	return k->l3.used || k->directory.entries || s->sink.deliver;
}
struct snooped coherence_snoop_all(struct memory *s, unsigned asker, uint32_t line, bool own, uint64_t t);
static inline struct snooped coherence_snoop_sockets(struct memory *s, unsigned asker, uint32_t line, bool own, uint64_t t)
{
	for (unsigned i = 0; i < s->sockets; i++)
		if (i != asker && can_answer(s, &s->socket[i]))
			return coherence_snoop_all(s, asker, line, own, t);
	return (struct snooped){ .sender = s->sockets };
}

/* r: the result of snooping the other sockets. */
static inline __attribute__((always_inline)) void coherence_miss_after(struct memory *s, struct cluster *c, struct line_location p, uint8_t *block,
	uint64_t t, const struct snooped r, struct fill *f, const uint32_t line, const bool own, const unsigned plain)
{
	const bool local = plain ? line >> NODE_SHIFT == c->socket : home_of(s, line) == c->node;
	uint64_t asked = t + s->lat.l3; /* the L3 has missed */
	if (!plain && s->complexes > 1) {
		const uint64_t in = lane_take(&c->here->into, asked);
		t += in - asked;
		asked = in;
	}
	if (r.sender < s->sockets && !(r.modified && s->m->link_modified_as_dram && !own)) {
		const bool near = !plain && node_of(s, r.sender) == c->node;
		const uint64_t sent = lane_take(lane_between(s, r.sender, c->socket), asked);
		if (!plain)
			coherence_emit_forward(s, r.sender, c->socket, line, r.modified, own, asked, sent);
		f->source = near ? (r.modified ? SRC_NEAR_MODIFIED : SRC_NEAR_CLEAN) : r.modified ? SRC_REMOTE_MODIFIED : SRC_REMOTE_CLEAN;
		f->ready = t + (near ? (r.modified ? s->lat.near_modified : s->lat.near_clean) : r.modified ? s->lat.remote_modified : s->lat.remote_clean) + (sent - asked);
	} else {
		const uint64_t unloaded = r.modified ? s->lat.remote_modified : s->lat.dram[!local];
		const int64_t delay = dram_read(s, c->here, c->socket, line, asked, plain);
		f->source = local ? SRC_LOCAL_DRAM : SRC_REMOTE_DRAM;
		f->ready = (uint64_t)((int64_t)(t + unloaded) + delay);
		if (!plain && s->sink.deliver)
			coherence_emit_home(s, c->socket, line, own, r.any, asked, f->ready);
	}
	if (!plain && s->sink.deliver)
		coherence_emit_fill(s, c->socket, line, f->source, asked, f->ready);
	if (r.modified && !own) /* after the answer, which it must not delay */
		(void)dram_write(s, r.sender, line, f->ready, 1, true);
	const enum line_state state = r.any && !own ? LINE_F : LINE_E;
	f->state = own ? LINE_M : r.any ? LINE_S : LINE_E;
	if (plain || s->inclusive)
		(void)put(s, c->socket, c->here, block, line, f->ready, state, c->bit, t, c, plain);
	else
		socket_hold(s, c->here, p, line, state, c->bit);
}

/* The same, if another socket has the line. */
struct fill coherence_miss_found(struct memory *s, struct cluster *c, struct line_request q, struct line_location p, uint8_t *block, uint64_t t, struct snooped r);

static inline __attribute__((always_inline)) void miss(struct memory *s, struct cluster *c, const struct line_request *q, struct line_location p, uint32_t set, uint8_t *block,
	uint64_t t, struct fill *f, const uint32_t line, const bool own, const unsigned plain)
{
	const struct snooped nothing = { .sender = UINT32_MAX };
	struct snooped r = nothing;
	if (!plain || (c->peer && c->peer->l3.used))
		r = coherence_snoop_sockets(s, c->socket, line, own, t + s->lat.l3);
	if (__builtin_expect(r.any, 0))
		*f = coherence_miss_found(s, c, *q, plain ? location_in(c->here, set, CACHE_NONE) : p, block, t, r);
	else
		coherence_miss_after(s, c, p, block, t, nothing, f, line, own, plain);
}

/* Cluster c misses the line, or lacks the right to it, at cycle t. line, own: q's, and whether it requests ownership;
 * first: no other request is known to have come immediately before. */
static inline __attribute__((always_inline)) void uncore_read(struct memory *s, struct cluster *c, const struct line_request *q, uint64_t t, struct fill *f,
                                                          const uint32_t line, const bool own, const bool first, const unsigned plain)
{
	const unsigned w3 = plain == 2 ? 16 : 0;
	struct socket *k = c->here;
	if (!plain && s->float_cycles)
		s->lat = s->lat_of[uncore_is_other(s, t)];
	if (!plain) { /* a stream asks for the next line soon */
		socket_near(s, k, line + 1);
		if (c->peer)
			socket_near(s, c->peer, line + 1);
	}
	if (!plain)
		t += far_cycles(s, c, line);
	const uint64_t came = t;
	uint8_t *block = NULL; /* of its set in the L3 */
	uint32_t set = 0, way = CACHE_NONE;
	struct line_location p = { CACHE_NONE, CACHE_NONE, 0 }; /* plain: as set and way say */
	if (plain == 2 && first)
		cache_wait_near(&k->l3, line, w3);
	if (plain || k->l3.sets) {
		uint32_t slice = 0;
		set = w3 ? line & k->l3.mask : cache_slice_and_set(&k->l3, line, &slice);
		t = lane_take_as(&k->slices[slice], t, first);
		block = cache_block(&k->l3, set, w3);
		way = cache_find_way(&k->l3, block, line, w3);
		if (!plain)
			p = location_in(k, set, way);
	}
	if (!plain && k->directory.entries)
		p.dir = directory_find(&k->directory, q->line);
	const uint64_t granted = t;
	t = pool_start(&k->read_tracker, t, 1, 0);
	if (!plain && s->sink.traffic)
		s->asking = *q;
	if (!plain && s->sink.deliver)
		uncore_level(s, c->socket, socket_slice(k, q->line), UNC_READ_INGRESS_OCCUPANCY, came, 0, 0, t - came);
	/* a line that only the requesting cluster has: a writer has its data, but a reader has only the instruction cache's
	 * copy and cannot get the data from there */
	const bool here = way != CACHE_NONE || (!plain && (own ? p.dir != CACHE_NONE : (socket_holders(s, k, p) & ~c->bit) != 0));
	const enum line_state state = here && !plain ? socket_state(s, k, p) : LINE_I;
	if (!here)
		miss(s, c, q, p, set, block, t, f, line, own, plain);
	else if (own)
		*f = coherence_hit_own(s, c, plain ? location_in(k, set, way) : p, line, t);
	else if ((plain || s->inclusive) && way != CACHE_NONE)
		coherence_hit_read(s, c, set, block, way, line, t, f, w3);
	else
		*f = coherence_hit_read_elsewhere(s, c, p, line, t);
	pool_add(&k->read_tracker, t, f->ready, line, (uint8_t)f->source);
	if (!plain && s->sink.deliver)
		coherence_emit_read(s, c->socket, q, state, t, f);
	if (!plain && s->sink.traffic)
		uncore_traffic_read(s, &(const struct uncore_traffic_read){ c->socket, q, state, came, granted, t, f });
}

#endif
