/* pmu/sim/memory/coherence.c: beyond the L2: requests to the L3, MESIF among cores and sockets.
 *
 * Two levels. Among sockets each line has a MESIF state: M and E mean that only this socket has it; of several sharers one
 * has F and forwards. Within a socket a mask tells which clusters (an L2 and its cores) may hold the line. Clean lines
 * leave the private caches of an inclusive L3 silently, so its mask may name too many.
 *
 * A read that finds the line in the socket:
 * - No other socket has it and the mask names exactly one other cluster. That cluster may have it in E or M and is snooped. If the line is modified
 *   there, it is written back to the L3 (L3_OTHER_MODIFIED); if clean, it is forwarded (L3_OTHER_CLEAN); if it is gone, the L3 answers
 *   (L3_UNSHARED), and the snoop's time is spent.
 * - With any other mask the L3 answers without a snoop (L3_UNSHARED). If the L3 is not inclusive and has no copy, a sharer forwards the line
 *   (L3_OTHER_CLEAN, a clean snoop's time).
 *
 * A read that does not find it there is answered by the socket that has the line modified (with link.modified_as_dram that socket writes it back, and
 * the home answers), else by the one that has it in E or F, else by the home's DRAM. A modified line is written to its home in either case, and its
 * former owner keeps it in S.
 *
 * With several complexes in a socket each of them is what is called a socket here: it has an L3, and the memory of the
 * socket is the node of all. What one sends to another takes complex.clean_ps or complex.modified_ps, and data from beyond
 * its L3 comes into it at complex.bytes_per_second.
 *
 * A read for ownership invalidates every other copy; a modified one moves without a write.
 *
 * Not modelled: races between requests to one line (requests are atomic in the order in which they are made), capacity of
 * the directory, conflicts and retries, snoop filters at the home. */
#include "pmu/sim/memory/coherence.h"

void coherence_emit_core_snoop(struct memory *s, unsigned socket, uint32_t line, enum line_state had, uint64_t t)
{
	static const enum uncore_signal sig[] = { UNC_CORE_SNOOP_MISS, UNC_CORE_SNOOP_CLEAN, UNC_CORE_SNOOP_CLEAN,
	                                          UNC_CORE_SNOOP_CLEAN, UNC_CORE_SNOOP_MODIFIED };
	uncore_pulse(s, socket, socket_slice(&s->socket[socket], line), sig[had], t);
	if (s->sink.traffic)
		uncore_traffic_core_snoop(s, socket, line, had, t);
}

/* ---- into the L3 ----------------------------------------------------------------------------- */

uint32_t socket_put(struct memory *s, unsigned socket, uint32_t first, uint32_t line, uint64_t ready,
                                                     enum line_state state, uint64_t t)
{
	struct socket *k = &s->socket[socket];
	return first | put(s, socket, k, cache_block_at(&k->l3, first), line, ready, state, 0, t, NULL, 0);
}

bool coherence_leave_clusters(struct memory *s, unsigned socket, uint64_t mask, uint32_t line, uint64_t t)
{
	return socket_lower(s, socket, mask, line, LINE_I, t, 0) == LINE_M;
}

/* How much longer a line's slice waits for the slowest of those clusters, the socket's bits, than for one of its own memory node. */
static uint64_t snoop_far(const struct memory *s, unsigned socket, uint64_t mask, uint32_t line)
{
	uint64_t most = 0;
	for (; s->parts > 1 && mask; mask &= mask - 1)
		most = later(most, far_cycles(s, &s->cluster[socket * s->clusters_per_socket + (unsigned)__builtin_ctzll(mask)], line));
	return most;
}

/* ---- the line is in the socket -------------------------------------------------------------- */

struct fill coherence_hit_read_elsewhere(struct memory *s, struct cluster *c, struct line_location p, uint32_t line, uint64_t t)
{
	struct fill f;
	struct socket *k = c->here;
	uint64_t mask = socket_holders(s, k, p);
	enum line_state state = socket_state(s, k, p);
	f.source = SRC_L3_UNSHARED;
	f.ready = t + s->lat.l3;
	if (state >= LINE_E && mask && !(mask & (mask - 1)) && mask != c->bit) {
		const enum line_state had = socket_lower(s, c->socket, mask, line, LINE_S, t, 0);
		if (s->sink.deliver)
			coherence_emit_core_snoop(s, c->socket, line, had, t);
		f.ready = t + (had == LINE_M ? s->lat.modified : s->lat.clean) + snoop_far(s, c->socket, mask, line);
		if (had == LINE_M) {
			f.source = SRC_L3_OTHER_MODIFIED;
			state = LINE_M;
			if (p.l3 != CACHE_NONE) {
				*cache_state(&k->l3, p.l3) = LINE_M;
			} else if (k->l3.sets) {
				p.l3 = socket_put(s, c->socket, p.set, line, f.ready, LINE_M, t);
			} else {
				(void)dram_write(s, c->socket, line, t, 1, true);
				state = LINE_E;
			}
		} else if (had == LINE_I) {
			mask = 0;
		} else {
			f.source = SRC_L3_OTHER_CLEAN;
		}
	} else if (p.l3 == CACHE_NONE) {
		f.source = SRC_L3_OTHER_CLEAN;
		f.ready = t + s->lat.clean + snoop_far(s, c->socket, mask & -mask, line);
	}
	if (p.l3 != CACHE_NONE)
		f.ready = later(f.ready, cache_ready(&k->l3, p.l3));
	const bool alone = !(mask & ~c->bit);
	f.state = alone && state >= LINE_E ? LINE_E : LINE_S;
	socket_hold(s, k, p, line, state, mask | c->bit);
	if (!s->inclusive && p.l3 != CACHE_NONE && alone) { /* a victim cache hands the line over */
		if (state == LINE_M)
			f.state = LINE_M;
		cache_drop(&k->l3, p.l3);
	} else if (p.l3 != CACHE_NONE) {
		cache_touch(&k->l3, p.l3);
	}
	return f;
}

/* A socket's answer to another socket's snoop. */
static void emit_peer(struct memory *s, unsigned socket, uint32_t line, enum line_state was, bool own, uint64_t t)
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
	const unsigned slice = socket_slice(&s->socket[socket], line), home = home_socket(s, line);
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

struct snooped coherence_snoop_all(struct memory *s, unsigned asker, uint32_t line, bool own, uint64_t t)
{
	struct snooped r = { .sender = s->sockets, .near = s->complexes > 1 };
	for (unsigned i = 0; i < s->sockets; i++) {
		struct socket *k = &s->socket[i];
		if (i == asker || !can_answer(s, k))
			continue;
		const struct line_location p = socket_find(k, line);
		enum line_state was = LINE_I;
		if (location_valid(p)) {
			was = socket_state(s, k, p);
			if (own || was >= LINE_E) {
				const uint64_t mask = socket_holders(s, k, p);
				const enum line_state had = socket_lower(s, i, mask, line, own ? LINE_I : LINE_S, t, 0);
				if (mask && s->sink.deliver)
					coherence_emit_core_snoop(s, i, line, had, t);
				was = had == LINE_M ? LINE_M : was;
			}
			r.any = true;
			r.near &= asker < s->sockets && node_of(s, i) == node_of(s, asker);
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
		if (asker < s->sockets && s->sink.deliver) {
			emit_peer(s, i, line, was, own, t);
			if (s->sink.traffic)
				uncore_traffic_peer(s, asker, i, line, was, own, t);
		}
	}
	return r;
}

struct fill coherence_hit_own(struct memory *s, struct cluster *c, struct line_location p, uint32_t line, uint64_t t)
{
	struct fill f;
	struct socket *k = c->here;
	const uint64_t others = socket_holders(s, k, p) & ~c->bit;
	const enum line_state state = socket_state(s, k, p);
	const enum line_state had = socket_lower(s, c->socket, others, line, LINE_I, t, 0);
	if (others && s->sink.deliver)
		coherence_emit_core_snoop(s, c->socket, line, had, t);
	f.source = had == LINE_M ? SRC_L3_OTHER_MODIFIED : had != LINE_I ? SRC_L3_OTHER_CLEAN : SRC_L3_UNSHARED;
	f.ready = t + (had == LINE_M ? s->lat.modified : others ? s->lat.clean : s->lat.l3) + snoop_far(s, c->socket, others, line);
	if (state == LINE_S || state == LINE_F) {
		const struct snooped r = coherence_snoop_sockets(s, c->socket, line, true, t);
		f.ready = later(f.ready, t + (r.near ? s->lat.near_invalidate : s->lat.invalidate));
		if (r.any && f.source == SRC_L3_UNSHARED)
			f.source = r.near ? SRC_NEAR_CLEAN : SRC_REMOTE_CLEAN;
	}
	if (p.l3 != CACHE_NONE)
		f.ready = later(f.ready, cache_ready(&k->l3, p.l3));
	f.state = LINE_M;
	/* the cluster's own state says that it is modified; what the L3 held modified stays modified */
	if (s->inclusive) {
		*cache_state(&k->l3, p.l3) = state == LINE_M || had == LINE_M ? LINE_M : LINE_E;
		cache_touch(&k->l3, p.l3);
	} else if (p.l3 != CACHE_NONE) {
		cache_drop(&k->l3, p.l3);
	}
	socket_hold(s, k, p, line, LINE_E, c->bit);
	return f;
}

/* ---- requests ------------------------------------------------------------------------------- */

void coherence_emit_read(struct memory *s, unsigned socket, const struct line_request *q, enum line_state state, uint64_t t,
                                const struct fill *f)
{
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
	uncore_pulse(s, socket, slice, UNC_READ_INSERT, t);
	uncore_level(s, socket, slice, UNC_READ_OCCUPANCY, t, 0, n + more, beyond);
	uncore_pulse(s, socket, slice, UNC_READ_RESPONSE_INSERT, t);
	uncore_level(s, socket, slice, UNC_READ_RESPONSE_OCCUPANCY, t, 0, n, 0);
	if (state != LINE_I) {
		uncore_pulse(s, socket, slice, UNC_L3_HIT_READ, t);
		return;
	}
	uncore_pulse(s, socket, slice, UNC_L3_MISS_READ, t);
	const bool data = q->kind == REQUEST_LOAD || q->kind == REQUEST_WALK || q->kind == REQUEST_PREFETCH;
	const struct uncore_attributes about = { .tags = data ? UTAG(DATA) : 0, .line = q->line, .node = (uint8_t)home_of(s, q->line) };
	if (uncore_subscribed(s, UNC_READ_MISS_INSERT))
		uncore_pulse_deliver(s, socket, slice, UNC_READ_MISS_INSERT, t, 1, &about);
	if (uncore_subscribed(s, UNC_READ_MISS_OCCUPANCY))
		uncore_level_deliver(s, socket, slice, UNC_READ_MISS_OCCUPANCY, t, n, 0, beyond, &about);
}

void coherence_emit_forward(struct memory *s, unsigned sender, unsigned asker, uint32_t line, bool modified, bool own, uint64_t asked, uint64_t sent)
{
	if (s->sink.deliver)
		uncore_complex_out(s, sender, node_of(s, asker), line, sent);
	if (s->sink.traffic)
		uncore_traffic_forward(s, sender, asker, line, modified, own, asked, sent);
}

void coherence_emit_fill(struct memory *s, unsigned socket, uint32_t line, enum mem_source source, uint64_t asked, uint64_t ready)
{
	const unsigned slice = socket_slice(&s->socket[socket], line);
	const unsigned from = source == SRC_LOCAL_DRAM ? 0 : source == SRC_REMOTE_DRAM ? 1 : source == SRC_NEAR_CLEAN || source == SRC_NEAR_MODIFIED ? 2 : 3;
	uncore_pulse(s, socket, slice, (enum uncore_signal)((unsigned)UNC_FILL_LOCAL_DRAM + from), asked);
	uncore_level(s, socket, slice, (enum uncore_signal)((unsigned)UNC_FILL_LOCAL_DRAM_TIME + from), asked, 0, 0, ready - asked);
	uncore_pulse(s, socket - socket % s->complexes, socket % s->complexes, from & 1 ? UNC_COMPLEX_IN_REMOTE : UNC_COMPLEX_IN_LOCAL, ready);
}

void coherence_emit_home(struct memory *s, unsigned asker, uint32_t line, bool own, bool shared, uint64_t asked, uint64_t ready)
{
	const unsigned home = home_socket(s, line);
	const bool local = home_of(s, line) == node_of(s, asker);
	const uint64_t both = local ? 0 : link_both_ways(s), held = ready - asked > both ? ready - asked - both : 1;
	uncore_level(s, home, dram_channel(s, line), local ? UNC_HOME_OCCUPANCY_LOCAL : UNC_HOME_OCCUPANCY_REMOTE, asked + both / 2, 0, 0, held);
	if (s->sink.traffic)
		uncore_traffic_home_answers(s, asker, line, own, shared, asked, ready);
}

uint64_t uncore_lasts(const struct memory *s, const struct cluster *k, uint32_t line)
{
	if (location_valid(socket_find(&s->socket[k->socket], line)))
		return s->lat.l3 + far_cycles(s, k, line);
	return s->lat.dram[home_of(s, line) != k->node] + far_cycles(s, k, line);
}

static __attribute__((noinline)) void read_wholly(struct memory *s, struct cluster *c, const struct line_request *q, uint64_t t, struct fill *f)
{
	uncore_read(s, c, q, t, f, q->line, request_owns(q), true, 0);
}

OWN_PAGE void uncore_read_some(struct memory *s, struct cluster *c, const struct line_request *q, uint64_t t, struct fill *f)
{
	if (__builtin_expect(s->plain, 1))
		uncore_read(s, c, q, t, f, q->line, request_owns(q), true, 1);
	else
		read_wholly(s, c, q, t, f);
}

struct fill coherence_miss_found(struct memory *s, struct cluster *c, struct line_request q, struct line_location p, uint8_t *block, uint64_t t, struct snooped r)
{
	struct fill f;
	coherence_miss_after(s, c, p, block, t, r, &f, q.line, request_owns(&q), 0);
	return f;
}

void uncore_evict(struct memory *s, struct cluster *c, uint32_t line, bool dirty, bool gone, uint64_t t)
{
	struct socket *k = &s->socket[c->socket];
	const struct line_location p = socket_find(k, line);
	socket_near(s, k, line + 1); /* of a stream */
	if (s->inclusive ? !dirty || p.l3 == CACHE_NONE : p.dir == CACHE_NONE)
		return; /* clean lines leave silently */
	const enum line_state state = dirty ? LINE_M : socket_state(s, k, p);
	const uint64_t mask = socket_holders(s, k, p) & ~(gone ? c->bit : 0);
	const unsigned slice = socket_slice(k, line);
	/* The write-back buffer is unbounded and delays no core: it answers requests for lines that wait to be written, and the fill that evicted
	 * the line does not wait. So reads may run ahead of the writes that they cause. */
	const uint64_t given_up = t;
	if (k->l3.sets) {
		const uint64_t taken = t = lane_take(&k->slices[slice], t);
		t = pool_start(&k->write_tracker, t, s->lat.l3, 0);
		pool_add(&k->write_tracker, t, t + s->lat.l3, line, SRC_NONE);
		uncore_pulse(s, c->socket, slice, UNC_WRITE_INSERT, t);
		uncore_level(s, c->socket, slice, UNC_WRITE_OCCUPANCY, t, 0, s->m->l3_uncore_cycles, 0);
		uncore_pulse(s, c->socket, slice, p.l3 != CACHE_NONE ? UNC_L3_HIT_WRITE : UNC_L3_MISS_WRITE, t);
		if (s->sink.traffic)
			uncore_traffic_write_back(s, c->socket, c->first_core, line, p.l3 != CACHE_NONE, t);
		if (p.l3 != CACHE_NONE) {
			*cache_state(&k->l3, p.l3) = (uint8_t)state;
			if (!s->inclusive)
				cache_touch(&k->l3, p.l3);
		} else {
			(void)socket_put(s, c->socket, p.set, line, given_up, state, taken);
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
	return coherence_snoop_sockets(s, s->sockets, line, true, t).modified;
}
