/* pmu/sim/uncore/uncore_link.c: see uncore_link.h. Only called while there is a subscriber.
 *
 * A message is one header flit, and for a line eight more, ten with byte enables. It goes past the queue of sending when the link
 * is free. All of it lies in the shared credits (VNA) of network 0. At the other end it is held for HANDOVER uncore cycles until
 * the ring takes it.
 *
 * Not modelled: the other network, exhausted credits, checksums, the time of flits without data on the link. */
#include "pmu/sim/uncore/uncore_link.h"
#include "pmu/sim/uncore/uncore_ring.h"

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

static void pulse(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t t, unsigned n, const struct uncore_about *about)
{
	if (uncore_heard(s, sig) && n)
		uncore_pulse_heard(s, socket, unit, sig, t, n, about);
}

static void level(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t t, uint64_t uncore_cycles, uint64_t core_cycles,
                  const struct uncore_about *about)
{
	if (uncore_heard(s, sig))
		uncore_level_heard(s, socket, unit, sig, t, 0, uncore_cycles, core_cycles, about);
}

static void flits(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, enum uncore_signal active, uint64_t t, unsigned data,
                  const struct uncore_about *about)
{
	struct uncore_about part = *about;
	part.tags |= UTAG(HEADER);
	pulse(s, socket, unit, sig, t, 1, &part);
	part.tags = about->tags | UTAG(DATA);
	pulse(s, socket, unit, sig, t, data, &part);
	/* two flits a cycle of the link; it keeps all lanes until it has been idle for a while */
	level(s, socket, unit, active, t, s->m->uncore_qpi_idle_cycles + 1, 0, about);
}

static void sending(struct memory *s, const struct uncore_link_message *g, unsigned unit, unsigned data, const struct uncore_about *about)
{
	const bool waits = g->sent > g->t;
	struct uncore_about ring = *about;
	ring.tags |= g->kind == LINK_DRS || g->kind == LINK_NCB || g->kind == LINK_NCS ? UTAG(BL) : UTAG(AD);
	flits(s, g->from, unit, UNC_LINK_TX, UNC_LINK_TX_ACTIVE, g->sent, data, about);
	pulse(s, g->from, unit, waits ? UNC_LINK_TX_INSERT : UNC_LINK_TX_BYPASS, g->t, 1 + data, about);
	level(s, g->from, unit, UNC_LINK_TX_OCCUPANCY, g->t, 0, (g->sent - g->t) * (1 + data), about);
	/* what the ring's stop needs to hand it to the link, and the credit of the other end */
	pulse(s, g->from, unit, UNC_LINK_RING_CREDIT, g->t, 1, &ring);
	level(s, g->from, unit, UNC_LINK_RING_CREDIT_OCCUPANCY, g->t, HANDOVER, g->sent - g->t, &ring);
	pulse(s, g->from, unit, UNC_LINK_VNA_TAKEN, g->t, 1, &ring);
}

static void receiving(struct memory *s, const struct uncore_link_message *g, unsigned unit, unsigned data, const struct uncore_about *about)
{
	flits(s, g->to, unit, UNC_LINK_RX, UNC_LINK_RX_ACTIVE, g->sent, data, about);
	pulse(s, g->to, unit, UNC_LINK_RX_INSERT, g->sent, 1, about);
	level(s, g->to, unit, UNC_LINK_RX_OCCUPANCY, g->sent, HANDOVER, 0, about);
	pulse(s, g->to, unit, UNC_LINK_VNA_RETURN, g->sent, 1, about);
	level(s, g->to, unit, UNC_LINK_VNA_RETURN_OCCUPANCY, g->sent, HANDOVER, 0, about);
	if (g->to_stop == STOP_DEVICES) {
		pulse(s, g->to, STOP_DEVICES, UNC_DEVICE_INGRESS_INSERT, g->sent, 1, about);
		level(s, g->to, STOP_DEVICES, UNC_DEVICE_INGRESS_OCCUPANCY, g->sent, 1, 0, about);
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
	const struct uncore_about about = {
		.tags = class_tags(g->kind), .line = g->line, .node = (uint8_t)home_of(g->line), .opcode = g->opcode,
		.match = { (uint32_t)g->to << 13 | (uint32_t)g->kind << 9 | (uint32_t)g->opcode << 5, (uint32_t)g->state << 16 },
	};
	uncore_ring_send(s, &(struct uncore_ring_message){ .socket = g->from, .from = g->from_stop, .to = STOP_LINK + out, .ring = ring, .tags = UTAG(QPI), .t = g->t });
	sending(s, g, out, data, &about);
	receiving(s, g, in, data, &about);
	uncore_ring_send(s, &(struct uncore_ring_message){ .socket = g->to, .from = STOP_LINK + in, .to = g->to_stop, .ring = ring, .tags = UTAG(QPI), .t = g->sent });
}
