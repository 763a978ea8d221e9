/* pmu/sim/memory/uncore_ring.c: see uncore_ring.h. Only called while there is a subscriber.
 *
 * Sources: manual 331051-002, 2.3.2 and 2.4 (rings, SBos, what a data message takes: two slots of 32 bytes).
 *
 * With uncore.sbo_credits a message from a stop to an SBo takes a credit. Without a free one it is counted as stalled until the first credit
 * returns, but it arrives no later.
 *
 * More slices or home agents than there are stops for are of a mesh: nothing is sent.
 *
 * Not modelled: occupied slots, so that no message queues for its ring for more than a cycle, none is refused and no sender is throttled; the
 * order of stops of a real die. */
#include "pmu/sim/memory/uncore_ring.h"

#define LINKS 3

static unsigned first_half(const struct machine *m) { return (unsigned)(m->l3_slices + 1) / 2; }

static bool is_mesh(const struct machine *m) { return m->l3_slices > STOP_SBO - STOP_SLICE || m->uncore_home_agents > STOP_DEVICES - STOP_HOME; }

/* Stops of a ring: devices, links, slices, SBos, home agent; or slices, SBos, home agent. */
static unsigned length_of(const struct machine *m, unsigned ring)
{
	const unsigned half = first_half(m);
	return (ring ? (unsigned)m->l3_slices - half : 1 + LINKS + half) + (unsigned)m->uncore_sbos / 2 + 1;
}

static unsigned position_of(const struct machine *m, unsigned stop, unsigned *ring)
{
	const unsigned half = first_half(m), sbos = (unsigned)m->uncore_sbos / 2;
	const unsigned slices = 1 + LINKS + half; /* positions before the first ring's SBos */
	*ring = 0;
	if (stop == STOP_DEVICES)
		return 0;
	if (stop >= STOP_LINK)
		return 1 + stop - STOP_LINK;
	if (stop >= STOP_HOME) {
		*ring = stop - STOP_HOME;
		return length_of(m, *ring) - 1;
	}
	if (stop >= STOP_SBO) {
		*ring = (stop - STOP_SBO) / sbos;
		return (*ring ? (unsigned)m->l3_slices - half : slices) + (stop - STOP_SBO) % sbos;
	}
	*ring = stop >= half;
	return *ring ? stop - half : 1 + LINKS + stop;
}

static unsigned stop_at(const struct machine *m, unsigned ring, unsigned position)
{
	const unsigned half = first_half(m), sbos = (unsigned)m->uncore_sbos / 2;
	if (!ring) {
		if (position <= LINKS)
			return position ? STOP_LINK + position - 1 : STOP_DEVICES;
		position -= 1 + LINKS;
	}
	const unsigned slices = ring ? (unsigned)m->l3_slices - half : half;
	return position < slices ? position + ring * half : position < slices + sbos ? STOP_SBO + ring * sbos + position - slices : STOP_HOME + ring;
}

static enum uncore_signal use_of(uint64_t ring)
{
	return ring & UTAG(AD) ? UNC_RING_AD : ring & UTAG(AK) ? UNC_RING_AK : ring & UTAG(BL) ? UNC_RING_BL : UNC_RING_IV;
}

/* Slots from one position of a ring to another; returns the cycles it takes. */
static unsigned travel(struct memory *s, const struct uncore_ring_message *g, unsigned ring, unsigned from, unsigned to, unsigned skip)
{
	const unsigned length = length_of(s->m, ring), up = (to + length - from) % length, hops = up <= length - up ? up : length - up;
	const enum uncore_signal use = use_of(g->ring);
	const struct uncore_attributes about = { .tags = (hops == up ? UTAG(UP) : UTAG(DOWN)) | (to & 1 ? UTAG(ODD) : UTAG(EVEN)) };
	for (unsigned i = 0; uncore_subscribed(s, use) && i < hops; i++) {
		const unsigned position = hops == up ? (from + i) % length : (from + length - i) % length;
		uncore_level_deliver(s, g->socket, stop_at(s->m, ring, position), use, g->t, skip + i, g->ring & UTAG(BL) ? 2 : 1, 0, &about);
	}
	return hops;
}

static void queue(struct memory *s, const struct uncore_ring_message *g, unsigned stop, enum uncore_signal insert, enum uncore_signal occupancy,
                  unsigned skip, unsigned cycles, uint64_t tags)
{
	const struct uncore_attributes about = { .tags = g->ring | tags };
	if (uncore_subscribed(s, insert))
		uncore_level_deliver(s, g->socket, stop, insert, g->t, skip, 1, 0, &about);
	if (uncore_subscribed(s, occupancy))
		uncore_level_deliver(s, g->socket, stop, occupancy, g->t, skip, cycles, 0, &about);
}

/* Takes a credit of an SBo in an uncore cycle, for a while. */
static void take_credit(struct memory *s, const struct uncore_ring_message *g, unsigned which, uint64_t cycle, unsigned skip, unsigned cycles, uint64_t tags)
{
	uint64_t *back = s->sbo_credit[g->socket][g->from][which][g->ring & UTAG(BL) ? 1 : 0];
	const unsigned credits = (unsigned)s->m->uncore_sbo_credits;
	const struct uncore_attributes about = { .tags = g->ring | g->tags | tags };
	unsigned first = 0;
	for (unsigned i = 1; i < credits; i++)
		first = back[i] < back[first] ? i : first;
	if (!credits)
		return;
	if (back[first] > cycle) {
		if (uncore_subscribed(s, UNC_SBO_STALL))
			uncore_level_deliver(s, g->socket, g->from, UNC_SBO_STALL, g->t, skip, (unsigned)(back[first] - cycle), 0, &about);
		if (uncore_subscribed(s, UNC_SBO_REFUSED))
			uncore_level_deliver(s, g->socket, g->from, UNC_SBO_REFUSED, g->t, skip, 1, 0, &about);
		cycle = back[first];
	}
	back[first] = cycle + cycles;
}

/* Across a pair of SBos: the position on the sender's ring, and on the other. */
static unsigned cross(struct memory *s, const struct uncore_ring_message *g, unsigned ring, unsigned *skip, unsigned from)
{
	const unsigned sbos = (unsigned)s->m->uncore_sbos / 2, which = sbos > 1 ? g->to & 1 : 0;
	const unsigned near = STOP_SBO + ring * sbos + which, far = STOP_SBO + !ring * sbos + which;
	const uint64_t held = which ? UTAG(SBO1) : UTAG(SBO0);
	unsigned other;
	const unsigned start = *skip;
	*skip += travel(s, g, ring, from, position_of(s->m, near, &other), *skip);
	/* a credit is held from the sender's queue until the SBo's entry is free again */
	if (g->ring & (UTAG(AD) | UTAG(BL))) {
		queue(s, g, g->from, UNC_SBO_CREDIT_INSERT, UNC_SBO_CREDIT_OCCUPANCY, start, *skip + 1 - start, held);
		take_credit(s, g, which, memory_uncore_cycle(s, g->t) + start, start, *skip + 1 - start, held);
	}
	const uint64_t cycle = memory_uncore_cycle(s, g->t) + *skip;
	uint64_t *last = &s->sbo_last[g->socket][near - STOP_SBO];
	const bool waits = cycle <= *last; /* another one came in that cycle or the one before */
	queue(s, g, near, waits ? UNC_SBO_INSERT : UNC_SBO_BYPASS, UNC_SBO_OCCUPANCY, *skip, waits, 0);
	*last = cycle + 1;
	*skip += 1;
	queue(s, g, far, UNC_EGRESS_INSERT, UNC_EGRESS_OCCUPANCY, *skip, 1, 0);
	*skip += 1;
	return position_of(s->m, far, &other);
}

void uncore_ring_send(struct memory *s, const struct uncore_ring_message *g)
{
	unsigned ring, goal, skip = 1;
	if (is_mesh(s->m))
		return;
	unsigned from = position_of(s->m, g->from, &ring);
	const unsigned to = position_of(s->m, g->to, &goal);
	queue(s, g, g->from, UNC_EGRESS_INSERT, UNC_EGRESS_OCCUPANCY, 0, 1, g->tags);
	if (goal != ring)
		from = cross(s, g, ring, &skip, from);
	(void)travel(s, g, goal, from, to, skip);
}

void uncore_ring_broadcast(struct memory *s, unsigned socket, unsigned from, uint64_t t)
{
	static const struct uncore_attributes ways[2] = { { .tags = UTAG(UP) }, { .tags = UTAG(DOWN) } };
	const struct uncore_ring_message g = { .socket = socket, .from = from, .ring = UTAG(IV), .t = t };
	unsigned start;
	if (is_mesh(s->m))
		return;
	(void)position_of(s->m, from, &start);
	queue(s, &g, from, UNC_EGRESS_INSERT, UNC_EGRESS_OCCUPANCY, 0, 1, UTAG(CACHE));
	for (unsigned ring = 0; uncore_subscribed(s, UNC_RING_IV) && ring < 2; ring++)
		for (unsigned i = 0; i < length_of(s->m, ring); i++)
			uncore_level_deliver(s, socket, stop_at(s->m, ring, i), UNC_RING_IV, t, 1 + i / 2, 1, 0, &ways[i & 1]);
	if (uncore_subscribed(s, UNC_SBO_OCCUPANCY) || uncore_subscribed(s, UNC_SBO_INSERT))
		queue(s, &g, STOP_SBO + start * (unsigned)s->m->uncore_sbos / 2, UNC_SBO_INSERT, UNC_SBO_OCCUPANCY, 1, 1, 0);
}
