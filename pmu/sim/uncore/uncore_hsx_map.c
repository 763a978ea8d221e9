/* pmu/sim/uncore/uncore_hsx_map.c: what the event codes of Haswell-EP's uncore count, in signals of the memory model.
 *
 * Codes and unit masks: libpfm4 (hswep_unc_*) and perfmon HSX V29. A line that crosses a link is one header flit and eight
 * data flits; requests, snoops and answers without data are one flit each. A link carries two flits per cycle of its clock,
 * an eighth of its transfers.
 *
 * These count 0 because they never happen here: I/O; exhausted credits, and what waits or is refused for lack of them
 * (queues have room, or their requests wait at their origin); errors of links and memory; throttled or sleeping memory.
 *
 * Not modelled, and flagged when requested: rings, credits in use, refresh, modes and queues of the memory controller,
 * banks beyond the 32nd of a channel, why a DRAM row was closed, directory and HitMe cache, conflicts, TOR entries other
 * than the cores' reads and write-backs, states of a lookup for write-backs and snoops, matches of addresses and messages,
 * transitions of power states (cores and package are always awake, at one frequency). */
#include "pmu/sim/uncore/uncore_hsx.h"

#define CODE_EXTENDED 0x100u
#define PCU_HZ 800000000ull /* manual 331051-002, 2.8 */

#define HSX_CODE(box, number, ext, mask, text) { HSX_##box, number, ext, mask, text },
static const struct { uint8_t kind, code, extended, counters; const char *name; } codes[] = {
#include "pmu/sim/uncore/events_haswell_uncore.def"
};
#undef HSX_CODE

uint8_t hsx_code_counters(enum hsx_kind kind, uint8_t code, bool extended, const char **name)
{
	for (unsigned i = 0; i < COUNT_OF(codes); i++)
		if (codes[i].kind == kind && codes[i].code == code && codes[i].extended == extended) {
			*name = codes[i].name;
			return codes[i].counters;
		}
	*name = "";
	return 0;
}

uint64_t hsx_clock_hz(const struct machine *m, enum hsx_kind kind, bool fixed)
{
	if (kind == HSX_PCU)
		return PCU_HZ;
	if (kind == HSX_QPI)
		return m->uncore_qpi_mts * 1000000 / 8;
	if (kind == HSX_IMC && fixed)
		return m->dram_channel_bytes_per_second / 16; /* 8 bytes at both edges */
	if (kind == HSX_IMC)
		return m->dram_channel_bytes_per_second / 16;
	return m->uncore_hz;
}

unsigned hsx_boxes(const struct machine *m, enum hsx_kind kind)
{
	switch (kind) {
	case HSX_CBO: return (unsigned)m->l3_slices;
	case HSX_SBO: return (unsigned)m->uncore_sbos;
	case HSX_HA: return (unsigned)m->uncore_home_agents;
	case HSX_IMC: return (unsigned)m->dram_channels;
	case HSX_QPI: case HSX_R3: return (unsigned)m->uncore_qpi_links;
	default: return 1;
	}
}

/* ---- groups of signals ------------------------------------------------------------------------ */

static void add(struct hsx_group *g, enum uncore_signal sig) { g->signals[sig / 64] |= 1ull << sig % 64; }

static struct hsx_group *group(struct hsx_meaning *o, uint32_t units, unsigned times)
{
	struct hsx_group *g = &o->group[o->groups++];
	o->how = HSX_ADD;
	*g = (struct hsx_group){ .units = units, .times = (uint8_t)times };
	return g;
}

static void unmodelled(struct hsx_meaning *o, const char *why)
{
	o->how = HSX_UNMODELLED;
	o->why = why;
}

/* ---- CBo -------------------------------------------------------------------------------------- */

#define FILTER0_STATE(f)  ((f)->value[0] >> 17 & 0x7F)
#define FILTER1_NID(f)    ((f)->value[1] & 0xFFFF)
#define FILTER1_OPCODE(f) ((f)->value[1] >> 20 & 0x1FF)
#define STATE_I 1u
#define STATE_ALL_BUT_I 0x1Eu /* S E M F; D and M' never occur here */

/* First of the four signals (hit and miss, home here and elsewhere) of an opcode's TOR entries, in the order of the
 * signals' list; UNC_COUNT: the model has no such requests. */
static enum uncore_signal tor_of(unsigned opcode, bool occupancy)
{
	switch (opcode) {
	case 0x182: return occupancy ? UNC_TOR_DRD_HIT_LOCAL_OCCUPANCY : UNC_TOR_DRD_HIT_LOCAL_INSERT;
	case 0x180: return occupancy ? UNC_TOR_RFO_HIT_LOCAL_OCCUPANCY : UNC_TOR_RFO_HIT_LOCAL_INSERT;
	case 0x181: return occupancy ? UNC_TOR_CRD_HIT_LOCAL_OCCUPANCY : UNC_TOR_CRD_HIT_LOCAL_INSERT;
	default: return UNC_COUNT;
	}
}

/* Opcodes of requests that nothing makes here: prefetches into the L3 only, I/O (manual, table 2-20). */
static bool never_made(unsigned opcode)
{
	return (opcode >= 0x190 && opcode <= 0x19E) || (opcode >= 0x1E4 && opcode <= 0x1E6) || opcode == 0x187 || opcode == 0x18F;
}

enum { TOR_OPCODE = 0x01, TOR_MISS = 0x02, TOR_EVICTION = 0x04, TOR_ALL = 0x08, TOR_WB = 0x10, TOR_LOCAL = 0x20, TOR_NID = 0x40,
       TOR_REMOTE = 0x80 };

static void tor(const struct machine *m, unsigned socket, uint32_t units, uint8_t umask, bool occupancy, const struct hsx_filters *f,
                struct hsx_meaning *o)
{
	bool local = !(umask & (TOR_LOCAL | TOR_REMOTE | TOR_NID)) || umask & TOR_LOCAL;
	bool remote = !(umask & (TOR_LOCAL | TOR_REMOTE | TOR_NID)) || umask & TOR_REMOTE;
	if (umask & TOR_NID) {
		const uint32_t nodes = (1u << m->topology_sockets) - 1, nid = FILTER1_NID(f) & nodes, own = 1u << socket;
		local |= nid & own;
		remote |= (nid & ~own) && (nid | own) == nodes;
		if ((nid & ~own) && !remote) {
			unmodelled(o, "some of the other nodes and not all");
			return;
		}
	}
	struct hsx_group *g = group(o, units, 1);
	if ((umask & 0x1F) == TOR_WB && local && remote) {
		add(g, occupancy ? UNC_WRITE_OCCUPANCY : UNC_WRITE_INSERT);
		return;
	}
	if ((umask & 0x1F) == TOR_EVICTION && local && remote && !occupancy) {
		add(g, UNC_L3_OUT_S), add(g, UNC_L3_OUT_F), add(g, UNC_L3_OUT_E), add(g, UNC_L3_OUT_M);
		return;
	}
	if (!(umask & (TOR_OPCODE | TOR_ALL)) || umask & (TOR_EVICTION | TOR_WB)) {
		unmodelled(o, "this unit mask of the TOR");
		return;
	}
	static const uint16_t reads[3] = { 0x182, 0x180, 0x181 };
	for (unsigned i = 0; i < COUNT_OF(reads); i++) {
		if (umask & TOR_OPCODE && FILTER1_OPCODE(f) != reads[i])
			continue;
		const enum uncore_signal first = tor_of(reads[i], occupancy);
		for (unsigned n = 0; n < 4; n++) /* hit local, hit remote, miss local, miss remote */
			if ((n >= 2 || !(umask & TOR_MISS)) && (n & 1 ? remote : local))
				add(g, (enum uncore_signal)(first + n));
	}
	if (umask & TOR_OPCODE && tor_of(FILTER1_OPCODE(f), false) == UNC_COUNT) {
		if (FILTER1_OPCODE(f) == 0x1C4 && !(umask & TOR_MISS) && local && remote)
			add(g, occupancy ? UNC_WRITE_OCCUPANCY : UNC_WRITE_INSERT);
		else if (never_made(FILTER1_OPCODE(f)))
			o->how = HSX_NEVER;
		else
			unmodelled(o, "this opcode in the TOR");
	}
	if (umask & TOR_ALL && !(umask & TOR_MISS)) {
		if (!local || !remote)
			unmodelled(o, "write-backs by their home");
		else
			add(g, occupancy ? UNC_WRITE_OCCUPANCY : UNC_WRITE_INSERT);
	}
}

enum { LOOKUP_DATA_READ = 0x03, LOOKUP_WRITE = 0x05, LOOKUP_SNOOP = 0x09, LOOKUP_ANY = 0x11, LOOKUP_READ = 0x21 };

static void lookup(uint32_t units, uint8_t umask, const struct hsx_filters *f, struct hsx_meaning *o)
{
	const unsigned state = FILTER0_STATE(f);
	const bool missed = state & STATE_I, found = state & STATE_ALL_BUT_I;
	struct hsx_group *g = group(o, units, 1);
	if (!(umask & 1) || !state) {
		o->how = HSX_NEVER; /* no state, nothing found */
		return;
	}
	if (umask == LOOKUP_READ || (umask == LOOKUP_ANY && (state & STATE_ALL_BUT_I) == STATE_ALL_BUT_I) || (umask == LOOKUP_ANY && !found)) {
		static const enum uncore_signal by_state[5] = { UNC_L3_LOOKUP_I, UNC_L3_LOOKUP_S, UNC_L3_LOOKUP_E, UNC_L3_LOOKUP_M, UNC_L3_LOOKUP_F };
		for (unsigned i = 0; i < COUNT_OF(by_state); i++)
			if (state >> i & 1)
				add(g, by_state[i]);
		if (umask == LOOKUP_READ)
			return;
	}
	/* the lookups of other requests are not known by state */
	if (found && (state & STATE_ALL_BUT_I) != STATE_ALL_BUT_I) {
		unmodelled(o, "states of lookups other than of all reads");
		return;
	}
	if (umask == LOOKUP_DATA_READ)
		for (unsigned n = 0; n < 4; n++)
			if (n >= 2 ? missed : found)
				add(g, (enum uncore_signal)(UNC_TOR_DRD_HIT_LOCAL_INSERT + n));
	if ((umask == LOOKUP_WRITE || umask == LOOKUP_ANY) && missed)
		add(g, UNC_L3_MISS_WRITE);
	if ((umask == LOOKUP_WRITE || umask == LOOKUP_ANY) && found)
		add(g, UNC_L3_HIT_WRITE);
	if ((umask == LOOKUP_SNOOP || umask == LOOKUP_ANY) && missed)
		add(g, UNC_L3_MISS_PROBE);
	if ((umask == LOOKUP_SNOOP || umask == LOOKUP_ANY) && found)
		add(g, UNC_L3_HIT_PROBE);
	if (!g->signals[0] && !g->signals[1])
		unmodelled(o, "this unit mask of the lookup");
}

/* Unit masks whose bits add up: bit n counts signals[n]; UNC_COUNT: not modelled. */
static void bits(uint32_t units, uint8_t umask, const enum uncore_signal signals[8], struct hsx_meaning *o)
{
	struct hsx_group *g = group(o, units, 1);
	for (unsigned i = 0; i < 8; i++) {
		if (!(umask >> i & 1))
			continue;
		if (signals[i] == UNC_COUNT) {
			unmodelled(o, "this unit mask");
			return;
		}
		add(g, signals[i]);
	}
	if (!umask)
		o->how = HSX_NEVER;
}

#define NO UNC_COUNT

static void cbo(const struct machine *m, unsigned instance, unsigned socket, unsigned code, uint8_t umask, const struct hsx_filters *f,
                struct hsx_meaning *o)
{
	static const enum uncore_signal victims[8] = { UNC_L3_OUT_M, UNC_L3_OUT_E, UNC_L3_OUT_S, UNC_L3_OUT_F, NO, NO, NO, NO };
	const uint32_t units = 1u << instance;
	switch (code) {
	case 0x00: o->how = HSX_CLOCK; return;
	case 0x1F: o->how = HSX_OF_COUNTER_0; return;
	case 0x34: lookup(units, umask, f, o); return;
	case 0x35: tor(m, socket, units, umask, false, f, o); return;
	case 0x36: tor(m, socket, units, umask, true, f, o); return;
	case 0x37: bits(units, umask, victims, o); return;
	case 0x11:
		if (umask != 1)
			break;
		add(group(o, units, 1), UNC_READ_INGRESS_OCCUPANCY);
		return;
	case 0x13:
		if (umask == 1) {
			struct hsx_group *g = group(o, units, 1);
			add(g, UNC_READ_INSERT);
			add(g, UNC_WRITE_INSERT);
			return;
		}
		if (umask == 4) {
			struct hsx_group *g = group(o, units, 1);
			add(g, UNC_L3_HIT_PROBE);
			add(g, UNC_L3_MISS_PROBE);
			return;
		}
		if (umask == 0x10) { /* requests of devices */
			o->how = HSX_NEVER;
			return;
		}
		break;
	}
	unmodelled(o, "the model has no such signal");
}

/* ---- HA, iMC ---------------------------------------------------------------------------------- */

/* Channels of a home agent: each has its share of the socket's, in order. */
static uint32_t channels_of(const struct machine *m, unsigned agent)
{
	const unsigned per = (unsigned)((m->dram_channels + m->uncore_home_agents - 1) / m->uncore_home_agents);
	return ((1u << per) - 1) << agent * per;
}

static void ha(const struct machine *m, unsigned instance, unsigned code, uint8_t umask, struct hsx_meaning *o)
{
	static const enum uncore_signal requests[8] = { UNC_HOME_READ_LOCAL, UNC_HOME_READ_REMOTE, UNC_HOME_WRITE_LOCAL, UNC_HOME_WRITE_REMOTE,
		UNC_HOME_OWN_LOCAL, UNC_HOME_OWN_REMOTE, NO, NO };
	static const enum uncore_signal tracker[8] = { NO, NO, UNC_HOME_OCCUPANCY_LOCAL, UNC_HOME_OCCUPANCY_REMOTE, NO, NO, NO, NO };
	static const enum uncore_signal not_empty[8] = { UNC_HOME_OCCUPANCY_LOCAL, UNC_HOME_OCCUPANCY_REMOTE, NO, NO, NO, NO, NO, NO };
	static const enum uncore_signal writes[8] = { UNC_MEMORY_WRITE_FULL, UNC_MEMORY_WRITE_PARTIAL, NO, NO, NO, NO, NO, NO };
	const uint32_t units = channels_of(m, instance);
	switch (code) {
	case 0x00: o->how = HSX_CLOCK; return;
	case 0x15: case 0x16: case 0x18: case 0x19: case 0x22: case 0x6C: o->how = HSX_NEVER; return; /* no credit left */
	case 0x01:
		bits(units, umask, requests, o);
		if (umask & 4) /* non-temporal stores are writes here, too */
			add(&o->group[0], UNC_HOME_UNCACHED_LOCAL);
		return;
	case 0x03: bits(units, umask, not_empty, o); return; /* the caller compares with 1 */
	case 0x04: bits(units, umask, tracker, o); return;
	case 0x17: add(group(o, units, 1), UNC_MEMORY_READ); return;
	case 0x1A: bits(units, umask & 3, writes, o); return; /* the isochronous bits count nothing */
	}
	unmodelled(o, "the model has no such signal");
}

#define RANK_BANKS 16 /* of DDR4; unit masks 0 to 15 are banks, 16 all, 17 to 20 groups of four */

/* Column accesses of a rank by bank: codes 0xB0 to 0xB7 read, 0xB8 to 0xBF write. */
static void column(const struct machine *m, unsigned channel, unsigned code, uint8_t umask, struct hsx_meaning *o)
{
	const unsigned rank = code & 7, banks = (unsigned)m->dram_banks;
	const uint32_t of_rank = umask < 16 ? 1u << umask : umask == 16 ? 0xFFFF : 0xFu << 4 * (umask - 17);
	if (channel >= 8 || banks > 32 || umask > 20) {
		unmodelled(o, umask > 20 ? "this unit mask" : "banks of so many channels or ranks");
		return;
	}
	const uint32_t all = banks == 32 ? UINT32_MAX : (1u << banks) - 1;
	const uint32_t units = rank < 2 ? of_rank << RANK_BANKS * rank & all : 0;
	if (!units) { /* no such rank or bank */
		o->how = HSX_NEVER;
		return;
	}
	add(group(o, units, 1), (enum uncore_signal)((code & 8 ? UNC_MEMORY_WRITE_BANKS_0 : UNC_MEMORY_READ_BANKS_0) + channel));
}

static void imc(const struct machine *m, unsigned instance, unsigned code, uint8_t umask, struct hsx_meaning *o)
{
	const uint32_t units = 1u << instance;
	struct hsx_group *g;
	switch (code) {
	case 0x00: o->how = HSX_CLOCK; return;
	case 0x01:
		if (umask != 0x01 && umask != 0x0B && umask != 0x03)
			break; /* only for writes, only bypassing the queues */
		add(group(o, units, 1), umask == 0x01 ? UNC_MEMORY_OPEN_READ : UNC_MEMORY_OPEN);
		return;
	case 0x02:
		if (umask != 0x01)
			break;
		add(group(o, units, 1), UNC_MEMORY_PAGE_MISS);
		return;
	case 0x04:
		if (umask & 0x30 || (umask & 0x0C && (umask & 0x0C) != 0x0C) || (umask & 3) == 2 || !umask)
			break; /* only by major mode, only underfills */
		g = group(o, units, 1);
		if (umask & 1)
			add(g, UNC_MEMORY_READ);
		if (umask & 0x0C)
			add(g, UNC_MEMORY_WRITE_FULL), add(g, UNC_MEMORY_WRITE_PARTIAL);
		return;
	case 0x09: /* errors corrected */
	case 0x41: case 0x42: case 0x43: case 0x84: case 0x85: case 0x86: /* throttled, asleep */
	case 0x90: case 0x91: /* E7's memory buffers */
		o->how = HSX_NEVER;
		return;
	case 0x10: add(group(o, units, 1), UNC_MEMORY_READ); return;
	}
	if (code >= 0xB0 && code <= 0xBF)
		column(m, instance, code, umask, o);
	else
		unmodelled(o, "the model has no such signal");
}

/* ---- links ------------------------------------------------------------------------------------ */

enum { FLIT_SNP = 0x01, FLIT_HOM_REQ = 0x02, FLIT_HOM_OTHER = 0x04, FLIT_DRS_DATA = 0x08, FLIT_DRS_HEADER = 0x10 };

/* Units of the LINK_ signals: other socket * 4 + link; for received data with this socket's number instead. */
static uint32_t link_units(unsigned link, unsigned socket, bool received)
{
	return received ? 1u << (socket * 4 + link) : 0x11111111u << link;
}

static void flits(unsigned link, unsigned socket, bool received, unsigned kinds, struct hsx_meaning *o)
{
	const uint32_t units = link_units(link, socket, received);
	struct hsx_group *one = group(o, units, 1), *eight = group(o, units, 8);
	one->received = eight->received = received;
	if (kinds & FLIT_SNP)
		add(one, UNC_LINK_SNOOP);
	if (kinds & FLIT_HOM_REQ)
		add(one, UNC_LINK_REQUEST);
	if (kinds & FLIT_HOM_OTHER)
		add(one, UNC_LINK_RESPONSE);
	if (kinds & FLIT_DRS_HEADER)
		add(one, UNC_LINK_DATA);
	if (kinds & FLIT_DRS_DATA)
		add(eight, UNC_LINK_DATA);
}

static void qpi(unsigned link, unsigned socket, unsigned code, uint8_t umask, struct hsx_meaning *o)
{
	const unsigned all = FLIT_SNP | FLIT_HOM_REQ | FLIT_HOM_OTHER | FLIT_DRS_HEADER;
	switch (code) {
	case 0x14: case 0x0C: case 0x0F: o->how = HSX_CLOCK; return; /* the link is always in L0 */
	case 0x0D: case 0x10: case 0x12: o->how = HSX_NEVER; return;
	case 0x02: case 0x03: case CODE_EXTENDED | 0x35: case CODE_EXTENDED | 0x3A: /* no credit left; bad checksums */
	case CODE_EXTENDED | 0x0A: case CODE_EXTENDED | 0x0B: case CODE_EXTENDED | 0x10: case CODE_EXTENDED | 0x11: /* NCB, NCS, as below */
	case CODE_EXTENDED | 0x16: case CODE_EXTENDED | 0x17: case CODE_EXTENDED | 0x20: case CODE_EXTENDED | 0x21:
	case CODE_EXTENDED | 0x2B: case CODE_EXTENDED | 0x2C:
		o->how = HSX_NEVER;
		return;
	case 0x00:
		if (umask & ~6u)
			break; /* idle flits */
		flits(link, socket, false, (umask & 2 ? (unsigned)FLIT_DRS_DATA : 0) | (umask & 4 ? all : 0), o);
		return;
	case 0x08:
		flits(link, socket, true, all, o);
		return;
	case CODE_EXTENDED | 0x00: case CODE_EXTENDED | 0x02:
		if (umask & ~0x1Fu)
			break;
		flits(link, socket, code == (CODE_EXTENDED | 0x02), umask, o);
		return;
	case CODE_EXTENDED | 0x01: case CODE_EXTENDED | 0x03: /* NDR, NCB, NCS: no such message here */
		o->how = HSX_NEVER;
		return;
	}
	unmodelled(o, "the model has no such signal");
}

/* ---- all -------------------------------------------------------------------------------------- */

static void pcu(const struct machine *m, unsigned code, uint8_t umask, const struct hsx_filters *f, struct hsx_meaning *o)
{
	const uint64_t hundreds = m->core_hz / 100000000;
	if (code >= 0x0B && code <= 0x0E)
		o->how = hundreds >= (f->value[0] >> 8 * (code - 0x0B) & 0xFF) ? HSX_CLOCK : HSX_NEVER;
	else if (code == 0x00 || code == 0x2A) /* the clock; the package in C0 */
		o->how = HSX_CLOCK;
	else if (code == 0x80) {
		o->how = umask >> 6 == 1 ? HSX_CLOCK : HSX_NEVER;
		o->rate = (uint32_t)m->topology_cores;
	} else if ((code >= 0x04 && code <= 0x0A) || (code >= 0x2B && code <= 0x42) || code == 0x4E || (code >= 0x60 && code <= 0x74))
		o->how = HSX_NEVER;
	else
		unmodelled(o, "the model has no such signal");
}

void hsx_meaning(const struct machine *m, enum hsx_kind kind, unsigned instance, unsigned socket, uint32_t select,
                 const struct hsx_filters *filters, struct hsx_meaning *out)
{
	const bool extended = select >> 21 & 1;
	const unsigned code = (select & 0xFF) | (extended ? CODE_EXTENDED : 0);
	const uint8_t umask = (uint8_t)(select >> 8);
	*out = (struct hsx_meaning){ .rate = 1 };
	switch (kind) {
	case HSX_CBO: cbo(m, instance, socket, code, umask, filters, out); return;
	case HSX_HA: ha(m, instance, code, umask, out); return;
	case HSX_IMC: imc(m, instance, code, umask, out); return;
	case HSX_QPI: qpi(instance, socket, code, umask, out); return;
	case HSX_PCU: pcu(m, code, umask, filters, out); return;
	case HSX_SBO:
		out->how = HSX_CLOCK;
		if (code)
			unmodelled(out, "the model has no such signal");
		return;
	case HSX_IRP:
		out->how = code ? HSX_NEVER : HSX_CLOCK;
		return;
	case HSX_R2:
		out->how = code == 0x01 ? HSX_CLOCK : HSX_NEVER;
		if (code >= 0x07 && code <= 0x0A)
			unmodelled(out, "the rings");
		return;
	case HSX_R3:
		out->how = HSX_CLOCK;
		if (code == 0x11 && !(umask & ~0x3Fu)) { /* HOM, SNP, NDR, DRS, NCB, NCS received over the link */
			flits(instance, socket, true, (umask & 1 ? (unsigned)(FLIT_HOM_REQ | FLIT_HOM_OTHER) : 0) | (umask & 2 ? (unsigned)FLIT_SNP : 0) |
			      (umask & 8 ? (unsigned)FLIT_DRS_HEADER : 0), out);
		} else if ((code >= 0x1F && code <= 0x22) || (code >= 0x2C && code <= 0x2F) || code == 0x34 || code == 0x37 || code == 0x39)
			out->how = HSX_NEVER; /* no credit left, or refused for lack of one */
		else if (code != 0x01)
			unmodelled(out, "the model has no such signal");
		return;
	default:
		unmodelled(out, "the model has no such signal");
	}
}
