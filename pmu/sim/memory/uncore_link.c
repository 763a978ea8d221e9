/* pmu/sim/memory/uncore_link.c: see uncore_link.h. Only called while there is a subscriber.
 *
 * A message is one header flit, and for a line eight more, ten with byte enables. It goes past the queue of sending when the link
 * is free. It takes one of the shared credits (VNA) of network 0, of which each ring has uncore.qpi_credits, and without one that of
 * its class (VN0). At the other end it is held for HANDOVER uncore cycles until the ring takes it; then the credit goes back.
 *
 * Not modelled: the other network, the time that a message waits for a credit, checksums, the time of flits without data on the link. */
#include "pmu/sim/memory/uncore_link.h"
#include "pmu/sim/memory/uncore_ring.h"

#define HANDOVER 4 /* uncore cycles, chosen */
#define DATA_FLITS 8
#define PARTIAL_FLITS 10

static unsigned link_of(const struct memory *s, unsigned from, unsigned to, uint32_t line)
{
	return link_unit(s, from, to, line) % 4;
}

static uint64_t class_tags(enum link_class kind)
{
	switch (kind) {
	case LINK_HOM0: return UTAG(HOM) | UTAG(HOM_REQ);
	case LINK_HOM1: return UTAG(HOM) | UTAG(HOM_OTHER);
	case LINK_NDR: return UTAG(NDR);
	case LINK_SNP: return UTAG(SNP);
	case LINK_NCS: return UTAG(NCS);
	case LINK_NCB: return UTAG(NCB);
	default: return UTAG(DRS);
	}
}

static void pulse(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t t, unsigned n, const struct uncore_attributes *about)
{
	if (uncore_subscribed(s, sig) && n)
		uncore_pulse_deliver(s, socket, unit, sig, t, n, about);
}

static void level(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t t, uint64_t uncore_cycles, uint64_t core_cycles,
                  const struct uncore_attributes *about)
{
	if (uncore_subscribed(s, sig))
		uncore_level_deliver(s, socket, unit, sig, t, 0, uncore_cycles, core_cycles, about);
}

static void flits(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, enum uncore_signal active, uint64_t t, unsigned data,
                  const struct uncore_attributes *about)
{
	struct uncore_attributes part = *about;
	part.tags |= UTAG(HEADER);
	pulse(s, socket, unit, sig, t, 1, &part);
	part.tags = about->tags | UTAG(DATA);
	pulse(s, socket, unit, sig, t, data, &part);
	/* two flits a cycle of the link; it keeps all lanes until it has been idle for a while */
	level(s, socket, unit, active, t, s->m->uncore_qpi_idle_cycles + 1, 0, about);
}

/* One way over a link. */
static uint64_t way(const struct memory *s) { return link_both_ways(s) / 2; }

/* Takes the credit that the message needs at the other end; false: one of its class. */
static bool take_credit(struct memory *s, const struct uncore_link_message *g, unsigned unit, const struct uncore_attributes *ring)
{
	struct link_pool *pool = &s->link_pool[g->from][unit][ring->tags & UTAG(BL) ? 1 : 0];
	const uint64_t back = g->sent + 2 * way(s) + HANDOVER;
	unsigned least = 0, taken = 0;
	for (unsigned i = 0; i < s->m->uncore_qpi_credits; i++) {
		taken += pool->back[i] > g->t;
		least = pool->back[i] < pool->back[least] ? i : least;
	}
	if (!s->m->uncore_qpi_credits || taken < s->m->uncore_qpi_credits) {
		pulse(s, g->from, unit, UNC_LINK_VNA_TAKEN, g->t, 1, ring);
		if (!s->m->uncore_qpi_credits)
			return true;
		pool->back[least] = back;
		if (taken + 1 < s->m->uncore_qpi_credits)
			return true;
		uint64_t first = back;
		for (unsigned i = 0; i < s->m->uncore_qpi_credits; i++)
			first = pool->back[i] < first ? pool->back[i] : first;
		level(s, g->from, unit, UNC_LINK_VNA_EMPTY, g->t, 0, first - g->t, ring);
		return true;
	}
	pulse(s, g->from, unit, UNC_LINK_VNA_REFUSED, g->t, 1, ring);
	if (pool->own[g->kind] > g->t)
		pulse(s, g->from, unit, UNC_LINK_VN0_REFUSED, g->t, 1, ring);
	pulse(s, g->from, unit, UNC_LINK_VN0_TAKEN, g->t, 1, ring);
	pool->own[g->kind] = back;
	return false;
}

/* Whether the message has a shared credit. */
static bool sending(struct memory *s, const struct uncore_link_message *g, unsigned unit, unsigned data, const struct uncore_attributes *about)
{
	const bool waits = g->sent > g->t;
	struct uncore_attributes ring = *about;
	ring.tags |= g->kind == LINK_DRS || g->kind == LINK_NCB || g->kind == LINK_NCS ? UTAG(BL) : UTAG(AD);
	flits(s, g->from, unit, UNC_LINK_TX, UNC_LINK_TX_ACTIVE, g->sent, data, about);
	pulse(s, g->from, unit, waits ? UNC_LINK_TX_INSERT : UNC_LINK_TX_BYPASS, g->t, 1 + data, about);
	level(s, g->from, unit, UNC_LINK_TX_OCCUPANCY, g->t, 0, (g->sent - g->t) * (1 + data), about);
	/* what the ring's stop needs to hand it to the link, and the credit of the other end */
	pulse(s, g->from, unit, UNC_LINK_RING_CREDIT, g->t, 1, &ring);
	level(s, g->from, unit, UNC_LINK_RING_CREDIT_OCCUPANCY, g->t, HANDOVER, g->sent - g->t, &ring);
	return take_credit(s, g, unit, &ring);
}

static void receiving(struct memory *s, const struct uncore_link_message *g, unsigned unit, unsigned data, bool shared, const struct uncore_attributes *about)
{
	flits(s, g->to, unit, UNC_LINK_RX, UNC_LINK_RX_ACTIVE, g->sent, data, about);
	pulse(s, g->to, unit, UNC_LINK_RX_INSERT, g->sent, 1, about);
	level(s, g->to, unit, UNC_LINK_RX_OCCUPANCY, g->sent, HANDOVER, 0, about);
	if (shared) {
		pulse(s, g->to, unit, UNC_LINK_VNA_RETURN, g->sent, 1, about);
		level(s, g->to, unit, UNC_LINK_VNA_RETURN_OCCUPANCY, g->sent, HANDOVER, 0, about);
	} else {
		pulse(s, g->to, unit, UNC_LINK_VN0_RECEIVED, g->sent, 1, about);
	}
	if (g->to_stop == STOP_DEVICES) {
		pulse(s, g->to, STOP_DEVICES, UNC_DEVICE_INGRESS_INSERT, g->sent, 1, about);
		level(s, g->to, STOP_DEVICES, UNC_DEVICE_INGRESS_OCCUPANCY, g->sent, 1, 0, about);
		pulse(s, g->to, STOP_DEVICES, UNC_DEVICE_DATA_INSERT, g->sent, 1, about);
		level(s, g->to, STOP_DEVICES, UNC_DEVICE_DATA_OCCUPANCY, g->sent, HANDOVER, 0, about);
	}
	if (g->direct)
		pulse(s, g->to, unit, UNC_LINK_DIRECT, g->sent, 1, about);
}

void uncore_link_send(struct memory *s, const struct uncore_link_message *g)
{
	const unsigned out = link_of(s, g->from, g->to, g->line), in = link_of(s, g->to, g->from, g->line);
	const unsigned data = g->partial ? PARTIAL_FLITS : g->data ? DATA_FLITS : 0;
	const bool on_data = g->kind == LINK_DRS || g->kind == LINK_NCB || g->kind == LINK_NCS;
	const uint64_t ring = on_data ? UTAG(BL) : g->kind == LINK_NDR ? UTAG(AK) : UTAG(AD);
	const struct uncore_attributes about = {
		.tags = class_tags(g->kind), .line = g->line, .node = (uint8_t)home_of(s, g->line), .opcode = g->opcode,
		.match = { (uint32_t)g->to << 13 | (uint32_t)g->kind << 9 | (uint32_t)g->opcode << 5, (uint32_t)g->state << 16 },
	};
	uncore_ring_send(s, &(struct uncore_ring_message){ .socket = g->from, .from = g->from_stop, .to = STOP_LINK + out, .ring = ring, .tags = UTAG(QPI), .t = g->t });
	const bool shared = sending(s, g, out, data, &about);
	receiving(s, g, in, data, shared, &about);
	uncore_ring_send(s, &(struct uncore_ring_message){ .socket = g->to, .from = STOP_LINK + in, .to = g->to_stop, .ring = ring, .tags = UTAG(QPI), .t = g->sent });
}
