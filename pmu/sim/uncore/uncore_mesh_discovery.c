/* pmu/sim/uncore/uncore_mesh_discovery.c: addresses of the boxes of meshes since Ice Lake-SP, which are found through windows in memory and, since Sapphire
 * Rapids, tables. Their effects are in uncore_hsx.c.
 *
 * Source: Linux 6.12 (uncore_snbep.c, icx_*, spr_*; uncore_discovery.h). Ice Lake-SP: MSRs at addresses without a fixed stride for CHAs and stacks; on the UBox's bus
 * its node id, the function that gives the window's address, M2M, UPI, M3UPI; CAPID6 and 7 on the next bus; memory channels in the window. Later: what the
 * table (uncore_mesh_table.c) lists. Chosen here: numbers of buses, addresses of windows and tables.
 *
 * Not modelled: interrupts, the socket's status, free-running counters, the other registers of these functions, which read as 0. */
#include "pmu/sim/uncore/uncore_hsx_state.h"
#include "pmu/text.h"

#define CHA_FIRST  0xB60
#define CHA_BYTES  12
#define STACK_BASE 0xA40
#define STACKS     6

enum { HIDE_CAPABILITY = 2, HIDE_M2M = 4, HIDE_IMC = 8, HIDE_UPI = 32, HIDE_M3UPI = 128 };
enum which { TABLE = HSX_KINDS, NODE, WINDOW, SLICES };
/* kind: enum hsx_kind, or enum which. */
static const struct place { uint8_t bus, device, function, kind, instance, hide; uint16_t id; } ice_lake[] = {
	{ 0, 0, 0, NODE, 0, 0, 0x3450 }, { 0, 0, 1, WINDOW, 0, HIDE_IMC, 0x3451 }, { 1, 30, 3, SLICES, 0, HIDE_CAPABILITY, 0x345B },
	{ 0, 2, 1, HSX_UPI, 0, HIDE_UPI, 0x3441 }, { 0, 3, 1, HSX_UPI, 1, HIDE_UPI, 0x3441 }, { 0, 4, 1, HSX_UPI, 2, HIDE_UPI, 0x3441 },
	{ 0, 5, 1, HSX_M3UPI, 0, HIDE_M3UPI, 0x3446 }, { 0, 6, 1, HSX_M3UPI, 1, HIDE_M3UPI, 0x3446 }, { 0, 7, 1, HSX_M3UPI, 2, HIDE_M3UPI, 0x3446 },
	{ 0, 12, 0, HSX_M2M, 0, HIDE_M2M, 0x344A }, { 0, 13, 0, HSX_M2M, 1, HIDE_M2M, 0x344A }, { 0, 14, 0, HSX_M2M, 2, HIDE_M2M, 0x344A },
	{ 0, 15, 0, HSX_M2M, 3, HIDE_M2M, 0x344A },
};
/* Offsets of a kind's registers in its function; step: from select to select; counters are eight bytes apart. */
static const struct offsets { uint16_t control, counter, select; uint8_t step; } offsets[HSX_KINDS] = {
	[HSX_M2M] = { 0x438, 0x440, 0x468, 8 }, [HSX_UPI] = { 0x318, 0x320, 0x350, 8 }, [HSX_M3UPI] = { 0xA0, 0xA8, 0xD8, 4 },
};

static bool hidden(const struct machine *m, unsigned hide, unsigned socket, unsigned instance)
{
	return m->fault_uncore_hidden & hide && (!m->fault_uncore_hidden_unit || (!socket && instance + 1 == m->fault_uncore_hidden_unit));
}

static unsigned bus_of(const struct machine *m, unsigned socket) { return (unsigned)(m->uncore_bus + socket * m->uncore_bus_step); }

/* ---- model-specific registers ------------------------------------------------------------------ */

static struct box *cha_at(struct hsx_socket *k, uint32_t msr, unsigned *at)
{
	static const uint16_t places[] = {
		0x2A0, 0x2AE, 0x2BC, 0x2CA, 0x2D8, 0x2E6, 0x2F4, 0x302, 0x310, 0x31E, 0x32C, 0x33A, 0x348, 0x356, 0x364, 0x372, 0x380, 0x38E, 0x3AA, 0x3B8,
		0x3C6, 0x3D4, 0x3E2, 0x3F0, 0x3FE, 0x40C, 0x41A, 0x428, 0x436, 0x444, 0x452, 0x460, 0x46E, 0x47C, 0x0, 0xE, 0x1C, 0x2A, 0x38, 0x46 };
	for (unsigned i = 0; i < COUNT_OF(places); i++)
		if (msr - (CHA_FIRST + places[i]) < CHA_BYTES) {
			*at = msr - (CHA_FIRST + places[i]);
			return hsx_find_box(k, HSX_CHA, i);
		}
	return NULL;
}

/* M2PCIe: control, 4 counters, one other, 4 selects; IRP: control, 2 counters, 2 selects; IIO: control, 4 counters, 3 others, 4 selects. */
static struct box *stack_at(struct hsx_socket *k, uint32_t msr, enum reg *reg, unsigned *n)
{
	static const uint8_t places[STACKS] = { 0, 0x20, 0x40, 0x90, 0xB0, 0xD0 };
	static const struct { uint8_t first, kind, counter, select, counters; } boxes[] = {
		{ 0, HSX_M2PCIE, 1, 6, 4 }, { 10, HSX_TRAFFIC, 1, 3, 2 }, { 16, HSX_IIO, 1, 8, 4 } };
	for (unsigned i = 0; i < STACKS; i++)
		for (unsigned b = 0; b < COUNT_OF(boxes); b++) {
			const uint32_t at = msr - STACK_BASE - places[i] - boxes[b].first;
			if (at && at - boxes[b].counter >= boxes[b].counters && at - boxes[b].select >= boxes[b].counters)
				continue;
			*reg = !at ? REG_CONTROL : at - boxes[b].counter < boxes[b].counters ? REG_COUNTER : REG_SELECT;
			*n = !at ? 0 : *reg == REG_COUNTER ? at - boxes[b].counter : at - boxes[b].select;
			return hsx_find_box(k, (enum hsx_kind)boxes[b].kind, i);
		}
	return NULL;
}

static struct box *ice_lake_msr(struct hsx_socket *k, uint32_t msr, enum reg *reg, unsigned *n)
{
	unsigned at;
	struct box *b = cha_at(k, msr, &at);
	*reg = REG_NONE;
	*n = 0;
	if (b) { /* control, 4 selects, a filter, one other, status, 4 counters */
		*reg = at == 0 ? REG_CONTROL : at < 5 ? REG_SELECT : at == 5 ? REG_FILTER : at == 6 ? REG_NONE : at == 7 ? REG_STATUS : REG_COUNTER;
		*n = at < 5 ? at - 1 : at < 8 ? 0 : at - 8;
		return b;
	}
	b = stack_at(k, msr, reg, n);
	if (b)
		return b;
	return hsx_mesh_fixed_msr(k, msr, reg, n);
}

/* Control, one other, selects, counters from offset 8 on, a filter at offset 14. */
static struct box *table_msr(const struct hsx *u, unsigned s, struct hsx_socket *k, uint32_t msr, enum reg *reg, unsigned *n)
{
	static const uint8_t kinds[] = { HSX_CHA, HSX_IIO, HSX_TRAFFIC, HSX_M2PCIE, HSX_PCU, HSX_UBOX };
	for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
		const enum hsx_kind kind = (enum hsx_kind)kinds[i];
		const uint64_t first = hsx_table_control(u->m, s, kind, 0);
		const uint32_t at = (msr - (uint32_t)first) & 0xF;
		struct box *b = first && msr >= first ? hsx_find_box(k, kind, (msr - (uint32_t)first) >> 4) : NULL;
		if (!b)
			continue;
		const unsigned counters = hsx_counters(kind);
		*n = at >= 8 && at < 12 ? at - 8 : at >= 2 ? at - 2 : 0;
		*reg = !at ? REG_CONTROL : at >= 2 && at < 2 + counters ? REG_SELECT : at >= 8 && at < 8 + counters ? REG_COUNTER : at == 14 && kind == HSX_CHA ? REG_FILTER : REG_NONE;
		*n = *reg == REG_SELECT || *reg == REG_COUNTER ? *n : 0;
		return b;
	}
	*reg = REG_NONE;
	return NULL;
}

/* The register that freezes all boxes of a socket. */
static const struct global { uint32_t msr; uint64_t freeze, unfreeze; } globals[] = { { 0x700, 1ull << 63, 1ull << 61 }, { 0x2FF0, 1, 0 } };
static const struct global *global_of(const struct hsx *u) { return &globals[hsx_layout(u->m) >= HSX_SAPPHIRE_RAPIDS]; }

static struct box *msr_box(struct hsx *u, unsigned s, uint32_t msr, enum reg *reg, unsigned *n)
{
	return hsx_layout(u->m) == HSX_ICE_LAKE ? ice_lake_msr(&u->socket[s], msr, reg, n) : table_msr(u, s, &u->socket[s], msr, reg, n);
}

enum status hsx_discovered_rdmsr(struct hsx *u, unsigned s, uint32_t msr, uint64_t *value, struct sim_finding *f)
{
	enum reg reg;
	unsigned n;
	struct box *b = msr_box(u, s, msr, &reg, &n);
	*value = 0;
	if (msr == global_of(u)->msr) { /* freeze and unfreeze are write-only */
		sim_finding_none(f);
		return ST_OK;
	}
	if (!b || reg == REG_NONE)
		return ST_MISSING;
	sim_finding_none(f);
	return hsx_read_box(u, s, b, reg, n, true, value, &(const struct access_to){ f, msr });
}

enum status hsx_discovered_wrmsr(struct hsx *u, unsigned s, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	const struct access_to a = { f, msr };
	const struct global *g = global_of(u);
	enum reg reg;
	unsigned n;
	struct box *b = msr_box(u, s, msr, &reg, &n);
	if (msr != g->msr) {
		if (!b || reg == REG_NONE)
			return ST_MISSING;
		sim_finding_none(f);
		return hsx_write_box(u, s, b, reg, n, true, value, &a);
	}
	sim_finding_none(f);
	if (value & ~(g->freeze | g->unfreeze))
		hsx_finding(&a, FIND_SIMULATOR, value, "interrupts of the uncore");
	hsx_sync(u, s);
	if (value & g->freeze)
		u->socket[s].frozen = true;
	else if (value & g->unfreeze || !g->unfreeze)
		u->socket[s].frozen = false;
	hsx_program(u, s, &a);
	return ST_OK;
}

/* ---- configuration space ----------------------------------------------------------------------- */

#define PCI_VENDOR   0x8086u
#define NODE_ID      0xC0
#define NODE_MAP     0xD4
#define WINDOW_HIGH  0xD0
#define WINDOW_BLOCK 0xD8
#define CAPID6       0x9C
#define CAPID7       0xA0
/* Windows from 128 GiB on, 8 MiB for each socket; blocks of 256 KiB */
#define HIGH_OF(socket) (0x4000u + (socket))
#define HIGH_SHIFT   23
#define BLOCK_OF(n)  (0x40u * ((n) + 1))
#define BLOCK_SHIFT  12
#define BLOCKS       4
#define CHANNELS     2 /* of a block */
#define CHANNEL_STEP 0x4000u
#define CHANNEL_BASE 0x22800u
#define CHANNEL_END  0x60u

static uint32_t encoded(struct pci_address at) { return (uint32_t)at.bus << 20 | (uint32_t)at.device << 15 | (uint32_t)at.function << 12 | at.reg; }

/* What a function is: a box's, or one of enum which; false: there is none. */
static bool place_at(const struct hsx *u, struct pci_address at, unsigned *socket, struct place *out)
{
	const struct machine *m = u->m;
	for (*socket = 0; *socket < m->topology_sockets && !at.segment; ++*socket) {
		if (hsx_layout(m) != HSX_ICE_LAKE) {
			if (hsx_table_place(m, *socket, at, &out->kind, &out->instance, &out->id))
				return true;
			continue;
		}
		for (unsigned i = 0; i < COUNT_OF(ice_lake); i++) {
			*out = ice_lake[i];
			if (at.bus == bus_of(m, *socket) + out->bus && at.device == out->device && at.function == out->function &&
			    (out->kind >= HSX_KINDS || out->instance < hsx_boxes(m, (enum hsx_kind)out->kind)))
				return !hidden(m, out->hide, *socket, out->instance);
		}
	}
	return false;
}

static enum reg register_at(const struct hsx *u, unsigned kind, uint16_t at, unsigned *n)
{
	const struct offsets *o = &offsets[kind];
	const unsigned counters = hsx_counters((enum hsx_kind)kind), step = hsx_layout(u->m) == HSX_ICE_LAKE ? o->step : 8;
	*n = 0;
	if (at == o->control)
		return REG_CONTROL;
	if (at >= o->select && (at - o->select) / step < counters) {
		*n = (at - o->select) / step;
		return (at - o->select) % step ? REG_SELECT_HIGH : REG_SELECT;
	}
	if (at >= o->counter && (at - o->counter) / 8u < counters) {
		*n = (at - o->counter) / 8u;
		return (at - o->counter) % 8 ? REG_COUNTER_HIGH : REG_COUNTER;
	}
	return REG_NONE;
}

static uint32_t told_by(const struct hsx *u, unsigned socket, enum which which, uint16_t at)
{
	const uint64_t slices = (1ull << u->m->l3_slices) - 1;
	uint32_t map = 0;
	switch (which) {
	case NODE:
		for (unsigned i = 0; i < u->m->topology_sockets; i++)
			map |= i << 3 * i;
		return at == NODE_ID ? socket : at == NODE_MAP ? map : 0;
	case WINDOW:
		return at == WINDOW_HIGH ? HIGH_OF(socket) : at >= WINDOW_BLOCK && at < WINDOW_BLOCK + 4 * BLOCKS ? BLOCK_OF((unsigned)(at - WINDOW_BLOCK) / 4) : 0;
	default:
		return at == CAPID6 ? (uint32_t)slices : at == CAPID7 ? (uint32_t)(slices >> 32) : 0;
	}
}

enum status hsx_discovered_pci_read32(struct hsx *u, struct pci_address at, uint32_t *value, struct sim_finding *f)
{
	struct place p;
	unsigned socket, n;
	uint64_t v = 0;
	if (!place_at(u, at, &socket, &p))
		return ST_MISSING;
	uncore_taps_emit(u->taps, socket, 0, UNC_CONFIG_ACCESS);
	sim_finding_none(f);
	if (at.reg == 0) {
		v = (uint32_t)p.id << 16 | PCI_VENDOR;
	} else if (p.kind == TABLE) {
		v = hsx_table_capability(u, socket, at.reg);
	} else if (p.kind >= HSX_KINDS) {
		v = told_by(u, socket, (enum which)p.kind, at.reg);
	} else {
		const enum reg reg = register_at(u, p.kind, at.reg, &n);
		if (reg != REG_NONE)
			(void)!hsx_read_box(u, socket, hsx_find_box(&u->socket[socket], (enum hsx_kind)p.kind, p.instance), reg, n, false, &v,
			                    &(const struct access_to){ f, encoded(at) });
	}
	*value = (uint32_t)v;
	return ST_OK;
}

enum status hsx_discovered_pci_write32(struct hsx *u, struct pci_address at, uint32_t value, struct sim_finding *f)
{
	const struct access_to a = { f, encoded(at) };
	struct place p;
	unsigned socket, n = 0;
	if (!place_at(u, at, &socket, &p))
		return ST_MISSING;
	uncore_taps_emit(u->taps, socket, 0, UNC_CONFIG_ACCESS);
	sim_finding_none(f);
	const enum reg reg = p.kind >= HSX_KINDS ? REG_NONE : register_at(u, p.kind, at.reg, &n);
	if (reg == REG_NONE) {
		hsx_finding(&a, FIND_OUTSIDE, value, "no register of a counter: this function's others are not modelled");
		return ST_OK;
	}
	return hsx_write_box(u, socket, hsx_find_box(&u->socket[socket], (enum hsx_kind)p.kind, p.instance), reg, n, false, value, &a);
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* The address of a channel's control. */
static uint64_t channel_address(const struct machine *m, unsigned socket, unsigned channel)
{
	if (hsx_layout(m) != HSX_ICE_LAKE)
		return hsx_table_control(m, socket, HSX_IMC, channel);
	return ((uint64_t)HIGH_OF(socket) << HIGH_SHIFT) + ((uint64_t)BLOCK_OF(channel / CHANNELS) << BLOCK_SHIFT) + CHANNEL_BASE + channel % CHANNELS * CHANNEL_STEP;
}

/* Control, counters of eight bytes, the fixed counter, selects of four bytes, the fixed counter's select. */
static struct box *channel_at(struct hsx *u, uint64_t address, unsigned width_bytes, unsigned *socket, enum reg *reg, unsigned *n)
{
	for (*socket = 0; *socket < u->m->topology_sockets; ++*socket)
		for (unsigned i = 0; i < hsx_boxes(u->m, HSX_IMC); i++) {
			const uint64_t at = address - channel_address(u->m, *socket, i);
			if (at >= CHANNEL_END || hidden(u->m, HIDE_IMC, *socket, i))
				continue;
			*n = at == 0x38 || at == 0x54 ? HSX_FIXED : at >= 0x40 ? (unsigned)(at - 0x40) / 4 : at >= 8 ? (unsigned)(at - 8) / 8 : 0;
			*reg = !at ? REG_CONTROL : at == 0x38 || (at >= 8 && at < 0x28 && at % 8 == 0) ? REG_COUNTER : at == 0x54 || (at >= 0x40 && at < 0x50 && at % 4 == 0) ? REG_SELECT : REG_NONE;
			if (width_bytes != (*reg == REG_COUNTER ? 8u : 4u))
				*reg = REG_NONE;
			return hsx_find_box(&u->socket[*socket], HSX_IMC, i);
		}
	return NULL;
}

enum status hsx_discovered_mmio_read(void *box, uint64_t address, unsigned width_bytes, uint64_t *value, struct sim_finding *f)
{
	struct hsx *u = box;
	const struct access_to a = { f, (uint32_t)address };
	enum reg reg;
	unsigned socket, n;
	if (hsx_layout(u->m) == HSX_SKYLAKE)
		return ST_MISSING;
	if (hsx_layout(u->m) != HSX_ICE_LAKE && hsx_table_memory(u, address, value)) {
		sim_finding_none(f);
		return ST_OK;
	}
	struct box *b = channel_at(u, address, width_bytes, &socket, &reg, &n);
	if (!b)
		return ST_MISSING;
	sim_finding_none(f);
	*value = 0;
	if (reg == REG_NONE)
		hsx_finding(&a, FIND_OUTSIDE, 0, "no register of a counter, or not as wide");
	return reg == REG_NONE ? ST_OK : hsx_read_box(u, socket, b, reg, n, true, value, &a);
}

enum status hsx_discovered_mmio_write(void *box, uint64_t address, unsigned width_bytes, uint64_t value, struct sim_finding *f)
{
	struct hsx *u = box;
	const struct access_to a = { f, (uint32_t)address };
	enum reg reg;
	unsigned socket, n;
	struct box *b = hsx_layout(u->m) == HSX_SKYLAKE ? NULL : channel_at(u, address, width_bytes, &socket, &reg, &n);
	if (!b)
		return ST_MISSING;
	sim_finding_none(f);
	if (reg == REG_NONE)
		hsx_finding(&a, FIND_OUTSIDE, value, "no register of a counter, or not as wide");
	return reg == REG_NONE ? ST_OK : hsx_write_box(u, socket, b, reg, n, reg == REG_COUNTER, value, &a);
}
