/* pmu/sim/memory/uncore_traffic.c: see uncore_traffic.h.
 *
 * A read goes from the core to a slice (AD), and on a miss from there to the home agent of its channel, over a link where the
 * home is another socket. A home's data goes straight to the core (uncore.direct2core), its completion to the slice; or to the slice,
 * which hands it on. Links take half of
 * what remote memory takes longer than local, each way. A snoop's answer is there after link.invalidate_ps.
 *
 * A device's requests are counted when a counter is read or set. They occupy no channel and no cache, and no cache holds their lines.
 *
 * Not modelled: which of a socket's cores answers a snoop (the one beside the next slice stands for it), conflicts. */
#include "pmu/sim/memory/uncore_traffic.h"
#include "pmu/sim/memory/dram.h"
#include "pmu/sim/memory/socket.h"
#include "pmu/sim/memory/uncore_link.h"
#include "pmu/sim/memory/uncore_ring.h"

/* Requests in the L3's table: manual 331051-002, table 2-20. */
enum { TOR_RFO = 0x180, TOR_CRD = 0x181, TOR_DRD = 0x182, TOR_WCILF = 0x18C, TOR_WCIL = 0x18D, TOR_PCIRDCUR = 0x19E, TOR_WBMTOI = 0x1C4, TOR_ITOM = 0x1C8 };

#define TID_DEVICE 0x3E /* manual 331051-002, 2.3.5: requests of devices */

static unsigned slice_of(const struct memory *s, unsigned socket, uint32_t line) { return socket_slice(&s->socket[socket], line); }

static unsigned core_stop(const struct memory *s, unsigned core)
{
	return STOP_SLICE + core % (unsigned)s->m->topology_cores % (unsigned)s->m->l3_slices;
}

static unsigned home_stop(const struct memory *s, unsigned channel)
{
	const unsigned agents = (unsigned)s->m->uncore_home_agents, per = ((unsigned)s->m->dram_channels + agents - 1) / agents;
	return STOP_HOME + channel / per;
}

/* One way over a link. */
static uint64_t link_cycles(const struct memory *s)
{
	return link_both_ways(s) / 2;
}

static void pulse(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t t, const struct uncore_attributes *about)
{
	if (uncore_subscribed(s, sig))
		uncore_pulse_deliver(s, socket, unit, sig, t, 1, about);
}

static void level(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t from, uint64_t to, const struct uncore_attributes *about)
{
	if (uncore_subscribed(s, sig) && to > from)
		uncore_level_deliver(s, socket, unit, sig, from, 0, 0, to - from, about);
}

static void send(struct memory *s, unsigned socket, unsigned from, unsigned to, uint64_t ring, uint64_t tags, uint64_t t)
{
	uncore_ring_send(s, &(struct uncore_ring_message){ .socket = socket, .from = from, .to = to, .ring = ring, .tags = tags, .t = t });
}

static uint64_t state_tag(enum line_state state)
{
	static const uint64_t tags[] = { UTAG(I), UTAG(S), UTAG(F), UTAG(E), UTAG(M) };
	return tags[state];
}

static uint64_t side(bool local) { return local ? UTAG(LOCAL) : UTAG(REMOTE); }

/* ---- slices ----------------------------------------------------------------------------------- */

void uncore_traffic_read(struct memory *s, const struct uncore_traffic_read *r)
{
	static const uint16_t opcode[] = { [REQUEST_LOAD] = TOR_DRD, [REQUEST_WALK] = TOR_DRD, [REQUEST_PREFETCH] = TOR_DRD, [REQUEST_RFO] = TOR_RFO,
	                                   [REQUEST_PREFETCH_RFO] = TOR_RFO, [REQUEST_IFETCH] = TOR_CRD };
	const struct line_request *q = r->q;
	const unsigned socket = r->socket, slice = slice_of(s, socket, q->line), core = q->thread / (unsigned)s->m->topology_threads;
	const unsigned here = STOP_SLICE + slice, at = core_stop(s, core);
	const bool data = opcode[q->kind] == TOR_DRD, hit = r->state != LINE_I;
	const struct uncore_attributes about = {
		.tags = (hit ? UTAG(HIT) : UTAG(MISS)) | side(home_of(s, q->line) == socket) | state_tag(r->state) | UTAG(READ) | (data ? UTAG(DATA) : 0),
		.opcode = opcode[q->kind], .line = q->line, .node = (uint8_t)home_of(s, q->line),
		.thread = (uint8_t)(core % s->m->topology_cores * 2 + q->thread % s->m->topology_threads),
	};
	pulse(s, socket, slice, UNC_L3_LOOKUP, r->t, &about);
	pulse(s, socket, slice, UNC_TOR_INSERT, r->t, &about);
	if (uncore_subscribed(s, UNC_TOR_OCCUPANCY)) { /* as long as the read tracker's entry */
		const uint64_t more = r->f->source == SRC_L3_OTHER_MODIFIED ? s->m->l3_modified_uncore_cycles : r->f->source == SRC_L3_OTHER_CLEAN ? s->m->l3_clean_uncore_cycles : 0;
		const uint64_t unloaded = more ? (r->f->source == SRC_L3_OTHER_MODIFIED ? s->lat.modified : s->lat.clean) : s->lat.l3;
		const uint64_t taken = r->f->ready - r->t;
		uncore_level_deliver(s, socket, slice, UNC_TOR_OCCUPANCY, r->t, 0, s->m->l3_uncore_cycles + more, taken > unloaded ? taken - unloaded : 0, &about);
	}
	send(s, socket, at, here, UTAG(AD), UTAG(CORE), r->came);
	if (r->t > r->granted) /* no entry of the table was free: it was retried */
		pulse(s, socket, slice, UNC_SLICE_RETRY, r->granted, &(struct uncore_attributes){ .tags = UTAG(FULL), .node = about.node });
	level(s, socket, slice, UNC_SLICE_REJECTED, r->granted, r->t, &about);
	if (hit && r->f->source == SRC_L3_UNSHARED && r->f->ready > r->t + s->lat.l3) /* its line is still on the way */
		pulse(s, socket, slice, UNC_SLICE_RETRY, r->t, &(struct uncore_attributes){ .tags = UTAG(CONFLICT), .node = about.node });
	if (hit && opcode[q->kind] == TOR_RFO && (r->state == LINE_S || r->state == LINE_F))
		pulse(s, socket, slice, UNC_L3_RFO_HIT_S, r->t, &about);
	send(s, socket, here, at, UTAG(AK), UTAG(CACHE), r->f->ready);
	if (hit)
		send(s, socket, here, at, UTAG(BL), UTAG(CACHE), r->t + s->lat.l3);
}

void uncore_traffic_core_snoop(struct memory *s, unsigned socket, uint32_t line, enum line_state had, uint64_t t)
{
	const unsigned slice = slice_of(s, socket, line), core = (slice + 1) % (unsigned)s->m->l3_slices;
	uncore_ring_broadcast(s, socket, STOP_SLICE + slice, t);
	send(s, socket, STOP_SLICE + core, STOP_SLICE + slice, had == LINE_M ? UTAG(BL) : UTAG(AK), UTAG(CORE), t);
	if (had != LINE_M && had != LINE_I)
		pulse(s, socket, slice, UNC_L3_RSPI_WAS_FSE, t, &(struct uncore_attributes){ .node = (uint8_t)home_of(s, line) });
}

void uncore_traffic_write_back(struct memory *s, unsigned socket, unsigned core, uint32_t line, bool had, uint64_t t)
{
	const unsigned slice = slice_of(s, socket, line), here = STOP_SLICE + slice, at = core_stop(s, core);
	const struct uncore_attributes about = { .tags = (had ? UTAG(HIT) : UTAG(MISS)) | side(home_of(s, line) == socket) | UTAG(WRITE_BACK) | UTAG(WRITE) | (had ? UTAG(M) : UTAG(I)),
		.opcode = TOR_WBMTOI, .line = line, .node = (uint8_t)home_of(s, line), .thread = (uint8_t)(core % s->m->topology_cores * 2) };
	pulse(s, socket, slice, UNC_L3_LOOKUP, t, &about);
	pulse(s, socket, slice, UNC_TOR_INSERT, t, &about);
	if (uncore_subscribed(s, UNC_TOR_OCCUPANCY))
		uncore_level_deliver(s, socket, slice, UNC_TOR_OCCUPANCY, t, 0, s->m->l3_uncore_cycles, 0, &about);
	send(s, socket, at, here, UTAG(AD), UTAG(CORE), t);
	send(s, socket, at, here, UTAG(BL), UTAG(CORE), t);
	send(s, socket, here, at, UTAG(AK), UTAG(CACHE), t + s->lat.l3);
}

void uncore_traffic_evict(struct memory *s, unsigned socket, uint32_t line, enum line_state was, uint64_t t)
{
	const struct uncore_attributes about = { .tags = UTAG(EVICTION) | side(home_of(s, line) == socket) | state_tag(was), .line = line, .node = (uint8_t)home_of(s, line) };
	pulse(s, socket, slice_of(s, socket, line), UNC_L3_VICTIM, t, &about);
	pulse(s, socket, slice_of(s, socket, line), UNC_TOR_INSERT, t, &about);
	if (uncore_subscribed(s, UNC_TOR_OCCUPANCY))
		uncore_level_deliver(s, socket, slice_of(s, socket, line), UNC_TOR_OCCUPANCY, t, 0, s->m->l3_uncore_cycles, 0, &about);
}

/* ---- other sockets ---------------------------------------------------------------------------- */

void uncore_traffic_peer(struct memory *s, unsigned asker, unsigned socket, uint32_t line, enum line_state was, bool own, uint64_t t)
{
	static const struct { uint64_t tag; uint8_t opcode; } answers[] = { { UTAG(RSPI), HOM1_RSPI }, { UTAG(RSPS), HOM1_RSPS },
		{ UTAG(RSPSFWD), HOM1_RSPFWDS }, { UTAG(RSPIFWD), HOM1_RSPFWDI }, { UTAG(RSPWB), HOM1_RSPIWB } };
	const unsigned answer = was == LINE_I ? 0 : was == LINE_S ? (own ? 0 : 1) : own ? 3 : was == LINE_M ? 4 : 2;
	const unsigned home = home_of(s, line), channel = dram_channel(s, line), slice = slice_of(s, socket, line), asks = slice_of(s, asker, line);
	const uint64_t there = t + link_cycles(s), back = t + s->lat.invalidate - s->lat.l3;
	const bool local = home == asker;
	const struct uncore_attributes lookup = { .tags = state_tag(was) | UTAG(SNP) | (was == LINE_I ? UTAG(MISS) : UTAG(HIT)), .line = line, .node = (uint8_t)home };
	const struct uncore_attributes told = { .tags = answers[answer].tag | side(local) | (was != LINE_I ? UTAG(USEFUL) : 0), .line = line, .node = (uint8_t)home, .opcode = answers[answer].opcode };
	uncore_link_send(s, &(struct uncore_link_message){ .from = asker, .to = socket, .from_stop = STOP_SLICE + asks, .to_stop = STOP_SLICE + slice, .line = line,
		.kind = LINK_SNP, .opcode = own ? SNP_INVOWN : SNP_DATA, .t = t, .sent = t });
	pulse(s, socket, slice, UNC_L3_LOOKUP, there, &lookup);
	if (uncore_subscribed(s, UNC_SNOOP_INGRESS_OCCUPANCY))
		uncore_level_deliver(s, socket, slice, UNC_SNOOP_INGRESS_OCCUPANCY, there, 0, 1, 0, &lookup);
	/* the answer goes to the home: over a link, or to a home agent of the own socket */
	if (home == socket)
		send(s, socket, STOP_SLICE + slice, home_stop(s, channel), UTAG(AK), UTAG(CACHE), there);
	else
		uncore_link_send(s, &(struct uncore_link_message){ .from = socket, .to = home, .from_stop = STOP_SLICE + slice, .to_stop = home_stop(s, channel), .line = line,
			.kind = LINK_HOM1, .opcode = answers[answer].opcode, .t = there, .sent = there });
	pulse(s, home, channel, UNC_HOME_SNOOP_ANSWER, back, &told);
	pulse(s, home, channel, UNC_HOME_SNOOP, t, &told);
	level(s, home, channel, UNC_HOME_SNOOP_OCCUPANCY, t, back, &told);
	level(s, home, channel, UNC_HOME_PENDING, t + s->lat.dram[0] - s->lat.l3, back, &told);
	if (back > t + s->lat.dram[0] - s->lat.l3)
		pulse(s, home, channel, UNC_HOME_SNOOP_LATE, back, &told);
	/* the home's directory says whether a snoop is needed, and its cache of migrating lines who may have it */
	pulse(s, home, channel, UNC_HOME_DIRECTORY, t, &(struct uncore_attributes){ .tags = (was == LINE_I ? UTAG(MISS) : UTAG(HIT)) | side(local), .line = line });
	pulse(s, home, channel, UNC_HITME_LOOKUP, back, &(struct uncore_attributes){ .tags = UTAG(READ), .line = line });
	if (was == LINE_M)
		pulse(s, home, channel, UNC_HITME_HIT, back, &(struct uncore_attributes){ .tags = UTAG(READ), .line = line });
	if (answer >= 2) {
		const uint64_t tags = answer == 3 ? UTAG(RSPIFWD) | side(local) : answer == 2 ? UTAG(RSPSFWD) : UTAG(RSPWB);
		pulse(s, home, channel, UNC_HITME_LOOKUP, back, &(struct uncore_attributes){ .tags = tags, .line = line });
	}
	if (was == LINE_I) /* a broadcast without effect: memory's copy is valid and is sent at once */
		pulse(s, home, channel, UNC_HOME_EARLY, t, &(struct uncore_attributes){ .tags = UTAG(I) | side(local), .line = line });
}

void uncore_traffic_forward(struct memory *s, unsigned sender, unsigned asker, uint32_t line, bool modified, bool own, uint64_t t, uint64_t sent)
{
	const unsigned home = home_of(s, line), channel = dram_channel(s, line);
	uncore_link_send(s, &(struct uncore_link_message){ .from = sender, .to = asker, .from_stop = STOP_SLICE + slice_of(s, sender, line),
		.to_stop = core_stop(s, s->asking.thread / (unsigned)s->m->topology_threads), .line = line, .kind = LINK_DRS, .opcode = DRS_DATAC,
		.state = modified && own ? RDS_M : RDS_F, .data = true, .direct = true, .t = t, .sent = sent });
	if (home == asker) /* the home completes the request */
		send(s, home, home_stop(s, channel), STOP_SLICE + slice_of(s, asker, line), UTAG(AK), UTAG(CACHE), sent);
	else
		uncore_link_send(s, &(struct uncore_link_message){ .from = home, .to = asker, .from_stop = home_stop(s, channel), .to_stop = STOP_SLICE + slice_of(s, asker, line),
			.line = line, .kind = LINK_NDR, .opcode = NDR_CMP, .t = sent, .sent = sent });
	pulse(s, home, channel, UNC_HOME_DIRECT_OVERRIDE, sent, &(struct uncore_attributes){ .tags = side(home == asker), .line = line });
}

/* ---- homes ------------------------------------------------------------------------------------ */

/* A message to a home agent, over a link where it is elsewhere; returns when it is there. */
static uint64_t to_home(struct memory *s, unsigned from, uint32_t line, uint8_t opcode, uint64_t t)
{
	const unsigned home = home_of(s, line), goal = home_stop(s, dram_channel(s, line)), slice = STOP_SLICE + slice_of(s, from, line);
	const struct uncore_attributes about = { .tags = UTAG(AD) | side(home == from), .line = line, .node = (uint8_t)home, .opcode = opcode };
	const uint64_t there = home == from ? t : t + link_cycles(s);
	if (home == from)
		send(s, from, slice, goal, UTAG(AD), UTAG(CACHE), t);
	else
		uncore_link_send(s, &(struct uncore_link_message){ .from = from, .to = home, .from_stop = slice, .to_stop = goal, .line = line, .kind = LINK_HOM0,
			.opcode = opcode, .t = t, .sent = t });
	pulse(s, home, dram_channel(s, line), UNC_HOME_MESSAGE, there, &about);
	pulse(s, home, dram_channel(s, line), UNC_HOME_REQUEST, there, &about);
	return there;
}

void uncore_traffic_home_read(struct memory *s, unsigned from, uint32_t line, uint64_t t, uint64_t sent, uint64_t start)
{
	const unsigned home = home_of(s, line), channel = dram_channel(s, line);
	const struct uncore_attributes about = { .tags = UTAG(READ) | (start > sent ? UTAG(FULL) : UTAG(BYPASS)), .line = line };
	(void)to_home(s, from, line, kind_owns(s->asking.kind) ? HOM_RDINVOWN : s->asking.kind == REQUEST_IFETCH ? HOM_RDCODE : HOM_RDDATA, t);
	pulse(s, home, channel, UNC_MEMORY_READ_REQUEST, sent, &about);
	if (!s->m->dram_open_page || s->row_opened)
		pulse(s, home, channel, UNC_MEMORY_ACTIVATE, start, &about);
	level(s, home, channel, UNC_MEMORY_READ_QUEUE, sent, start + 1, &about);
}

void uncore_traffic_home_answers(struct memory *s, unsigned asker, uint32_t line, bool own, bool shared, uint64_t asked, uint64_t ready)
{
	const unsigned home = home_of(s, line), channel = dram_channel(s, line), from = home_stop(s, channel), slice = STOP_SLICE + slice_of(s, asker, line);
	const bool local = home == asker, direct = s->m->uncore_direct2core;
	const unsigned core = core_stop(s, s->asking.thread / (unsigned)s->m->topology_threads), goal = direct ? core : slice;
	const uint64_t way = local ? 0 : link_cycles(s), out = ready > asked + 2 * way ? ready - way : ready;
	const struct uncore_attributes read = { .tags = UTAG(READ) | side(local), .line = line };
	level(s, home, channel, UNC_HOME_TRACKER, asked + way, ready - way > asked + way ? ready - way : asked + way + 1, &read);
	if (direct)
		pulse(s, home, channel, UNC_HOME_DIRECT, out, &read);
	else
		send(s, asker, slice, core, UTAG(BL), UTAG(CACHE), ready);
	pulse(s, home, channel, UNC_HOME_MESSAGE, out, &(struct uncore_attributes){ .tags = UTAG(BL) | side(local), .line = line, .opcode = DRS_DATAC });
	if (!local || own) /* another socket now holds the line, or has given it up */
		pulse(s, home, channel, UNC_HOME_DIRECTORY_UPDATE, out, &(struct uncore_attributes){ .tags = local ? UTAG(MISS) : UTAG(HIT), .line = line });
	if (local) {
		send(s, home, from, goal, UTAG(BL), direct ? UTAG(CORE) : UTAG(CACHE), out);
		send(s, home, from, slice, UTAG(AK), UTAG(CACHE), out);
		return;
	}
	uncore_link_send(s, &(struct uncore_link_message){ .from = home, .to = asker, .from_stop = from, .to_stop = goal, .line = line, .kind = LINK_DRS, .opcode = DRS_DATAC_CMP,
		.state = shared && !own ? RDS_F : RDS_E, .data = true, .direct = direct, .t = out - (s->link_waits < out ? s->link_waits : 0), .sent = out });
}

void uncore_traffic_home_write(struct memory *s, unsigned from, uint32_t line, bool full, enum uncore_traffic_write kind, uint64_t t, uint64_t sent, uint64_t start)
{
	const unsigned home = home_of(s, line), channel = dram_channel(s, line), goal = home_stop(s, channel), slice = STOP_SLICE + slice_of(s, from, line);
	const bool local = home == from, device = kind == UNCORE_TRAFFIC_DEVICE, uncached = device || kind == UNCORE_TRAFFIC_UNCACHED;
	const struct uncore_attributes write = { .tags = UTAG(WRITE) | side(local) | (full ? 0 : UTAG(PARTIAL)), .line = line, .node = (uint8_t)home };
	const struct uncore_attributes own = { .tags = UTAG(OWN) | side(local), .line = line, .node = (uint8_t)home };
	if (uncached) { /* the core's or the device's request at its slice, and the right to write at the home */
		const struct uncore_attributes tor = { .tags = UTAG(MISS) | side(local), .opcode = device ? TOR_ITOM : full ? TOR_WCILF : TOR_WCIL, .line = line, .node = (uint8_t)home,
			.thread = device ? TID_DEVICE : 0 };
		pulse(s, from, slice - STOP_SLICE, UNC_TOR_INSERT, t, &tor);
		level(s, from, slice - STOP_SLICE, UNC_TOR_OCCUPANCY, t, start + 1, &tor);
		(void)to_home(s, from, line, HOM_INVITOE, t);
		level(s, home, channel, UNC_HOME_TRACKER, t, start + 1, &own);
		pulse(s, home, channel, UNC_HITME_LOOKUP, t, &(struct uncore_attributes){ .tags = UTAG(READ), .line = line });
	}
	const uint64_t there = to_home(s, from, line, uncached ? HOM_NONSNPWR : HOM_WBMTOI, t);
	pulse(s, home, channel, UNC_HITME_LOOKUP, there, &(struct uncore_attributes){ .tags = UTAG(WRITE), .line = line });
	if (local) {
		send(s, home, slice, goal, UTAG(BL), UTAG(CACHE), t);
		send(s, home, goal, slice, UTAG(AK), UTAG(CACHE), start);
	} else {
		uncore_link_send(s, &(struct uncore_link_message){ .from = from, .to = home, .from_stop = slice, .to_stop = goal, .line = line, .kind = LINK_DRS,
			.opcode = !uncached ? DRS_WBIDATA : full ? DRS_NONSNPWRDATA : DRS_NONSNPWRPTL, .data = true, .partial = !full, .t = t, .sent = sent });
		uncore_link_send(s, &(struct uncore_link_message){ .from = home, .to = from, .from_stop = goal, .to_stop = slice, .line = line, .kind = LINK_NDR,
			.opcode = NDR_CMP, .t = start, .sent = start });
		if (!uncached) /* the other socket has given it up */
			pulse(s, home, channel, UNC_HOME_DIRECTORY_UPDATE, there, &(struct uncore_attributes){ .tags = UTAG(MISS), .line = line });
	}
	level(s, home, channel, UNC_HOME_TRACKER, there, start + 1 > there ? start + 1 : there + 1, &write);
	if (!s->m->dram_open_page || s->row_opened)
		pulse(s, home, channel, UNC_MEMORY_ACTIVATE, start, &write);
	level(s, home, channel, UNC_MEMORY_WRITE_QUEUE, sent, start + 1, &write);
}

/* ---- a device --------------------------------------------------------------------------------- */

#define DEVICE_LINES 4096 /* of its buffers, at the end of its socket's memory */

static void device_bank(struct memory *s, unsigned socket, uint32_t line, enum uncore_signal sig, uint64_t t)
{
	uint32_t at, unit;
	(void)dram_channel_of(s, line, &at, &unit);
	const struct uncore_attributes bank = { .opcode = (uint16_t)(at / (uint32_t)(s->m->dram_page_bytes / 64) % (uint32_t)s->m->dram_banks) };
	pulse(s, socket, unit, sig, t, &bank);
}

static void device_reads(struct memory *s, unsigned socket, uint32_t line, uint64_t t)
{
	const unsigned slice = slice_of(s, socket, line), channel = dram_channel(s, line), home = home_stop(s, channel);
	const uint64_t asked = t + s->lat.l3, start = asked + (s->lat.dram[0] - s->lat.l3) / 2, ready = t + s->lat.dram[0];
	const struct uncore_attributes tor = { .tags = UTAG(MISS) | UTAG(LOCAL) | UTAG(READ) | UTAG(I), .opcode = TOR_PCIRDCUR, .line = line, .node = (uint8_t)socket, .thread = TID_DEVICE };
	const struct uncore_attributes read = { .tags = UTAG(READ) | UTAG(LOCAL) | UTAG(BYPASS), .line = line, .node = (uint8_t)socket };
	const struct uncore_attributes data = { .tags = UTAG(DRS), .line = line };
	pulse(s, socket, STOP_DEVICES, UNC_DEVICE_REQUEST, t, &read);
	send(s, socket, STOP_DEVICES, STOP_SLICE + slice, UTAG(AD), 0, t);
	pulse(s, socket, slice, UNC_SLICE_DEVICE_INSERT, t, &tor);
	pulse(s, socket, slice, UNC_L3_LOOKUP, t, &tor);
	pulse(s, socket, slice, UNC_TOR_INSERT, t, &tor);
	level(s, socket, slice, UNC_TOR_OCCUPANCY, t, ready, &tor);
	(void)to_home(s, socket, line, HOM_RDCUR, asked);
	pulse(s, socket, channel, UNC_HOME_READ_LOCAL, asked, &read);
	level(s, socket, channel, UNC_HOME_TRACKER, asked, ready, &read);
	pulse(s, socket, channel, UNC_MEMORY_READ_REQUEST, asked, &read);
	level(s, socket, channel, UNC_MEMORY_READ_QUEUE, asked, asked + 1, &read);
	pulse(s, socket, channel, UNC_MEMORY_ACTIVATE, start, &read);
	pulse(s, socket, channel, UNC_MEMORY_OPEN, start, &read);
	pulse(s, socket, channel, UNC_MEMORY_OPEN_READ, start, &read);
	device_bank(s, socket, line, UNC_MEMORY_READ, start);
	send(s, socket, home, STOP_DEVICES, UTAG(BL), 0, ready);
	send(s, socket, home, STOP_SLICE + slice, UTAG(AK), UTAG(CACHE), ready);
	pulse(s, socket, STOP_DEVICES, UNC_DEVICE_INGRESS_INSERT, ready, &data);
	level(s, socket, STOP_DEVICES, UNC_DEVICE_INGRESS_OCCUPANCY, ready, ready + 1, &data);
	pulse(s, socket, STOP_DEVICES, UNC_DEVICE_DATA_INSERT, ready, &data);
	level(s, socket, STOP_DEVICES, UNC_DEVICE_DATA_OCCUPANCY, ready, ready + 1, &data);
}

/* The device requests ownership without data, then writes the whole line. */
static void device_writes(struct memory *s, unsigned socket, uint32_t line, uint64_t t)
{
	const unsigned slice = slice_of(s, socket, line), channel = dram_channel(s, line);
	const uint64_t owned = t + s->lat.l3, written = owned + s->lat.l3;
	const struct uncore_attributes write = { .tags = UTAG(WRITE) | UTAG(LOCAL) | UTAG(I), .line = line, .node = (uint8_t)socket, .thread = TID_DEVICE };
	pulse(s, socket, STOP_DEVICES, UNC_DEVICE_REQUEST, t, &write);
	level(s, socket, STOP_DEVICES, UNC_DEVICE_LINE, t, written, &write);
	send(s, socket, STOP_DEVICES, STOP_SLICE + slice, UTAG(AD), 0, t);
	pulse(s, socket, slice, UNC_SLICE_DEVICE_INSERT, t, &write);
	pulse(s, socket, slice, UNC_L3_LOOKUP, t, &write);
	send(s, socket, STOP_SLICE + slice, STOP_DEVICES, UTAG(AK), UTAG(CACHE), owned);
	pulse(s, socket, STOP_DEVICES, UNC_DEVICE_ANSWER, owned, &write);
	send(s, socket, STOP_DEVICES, STOP_SLICE + slice, UTAG(BL), 0, owned);
	pulse(s, socket, channel, UNC_HOME_OWN_LOCAL, owned, &write);
	pulse(s, socket, channel, UNC_HOME_UNCACHED_LOCAL, owned, &write);
	pulse(s, socket, channel, UNC_MEMORY_OPEN, written, &write);
	s->row_opened = true;
	uncore_traffic_home_write(s, socket, line, true, UNCORE_TRAFFIC_DEVICE, owned, owned, written);
	device_bank(s, socket, line, UNC_MEMORY_WRITE_FULL, written);
	if (uncore_subscribed(s, UNC_MEMORY_BUSY_WRITE))
		uncore_level_deliver(s, socket, channel, UNC_MEMORY_BUSY_WRITE, written, 0, 0, s->socket[socket].channels[channel].lane.period >> 16, &write);
	send(s, socket, STOP_SLICE + slice, STOP_DEVICES, UTAG(AK), UTAG(CACHE), written);
	pulse(s, socket, STOP_DEVICES, UNC_DEVICE_ANSWER, written, &write);
}

void uncore_traffic_device(struct memory *s, unsigned socket, uint64_t n, uint64_t t)
{
	const uint32_t lines = (uint32_t)(s->m->dram_node_bytes / 64), first = socket * s->parts * NODE_LINES + lines - 2 * DEVICE_LINES;
	device_writes(s, socket, first + (uint32_t)(n % DEVICE_LINES), t);
	device_reads(s, socket, first + DEVICE_LINES + (uint32_t)(n % DEVICE_LINES), t);
}

void uncore_traffic_refresh(struct memory *s, uint64_t t)
{
	for (unsigned i = 0; s->refresh_cycles && i < s->sockets; i++)
		for (unsigned c = 0; c < s->m->dram_channels; c++)
			dram_refresh(s, i, c, t);
}

void uncore_traffic_hold(struct memory *s, uint64_t t)
{
	for (unsigned i = 0; i < s->sockets; i++) {
		if (uncore_subscribed(s, UNC_BUS_HELD))
			uncore_level_deliver(s, i, 0, UNC_BUS_HELD, t, 0, 0, s->m->core_split_lock_cycles, NULL);
		for (unsigned k = 0; k < s->sockets; k++)
			if (k != i) { /* stop and start requests of the lock's owner, and their completions */
				uncore_link_send(s, &(struct uncore_link_message){ .from = i, .to = k, .from_stop = STOP_DEVICES, .to_stop = STOP_DEVICES, .kind = LINK_NCS, .opcode = NCS_LOCK, .t = t, .sent = t });
				uncore_link_send(s, &(struct uncore_link_message){ .from = i, .to = k, .from_stop = STOP_DEVICES, .to_stop = STOP_DEVICES, .kind = LINK_NCB, .opcode = NCB_LOCK, .data = true, .t = t, .sent = t });
			}
	}
}
