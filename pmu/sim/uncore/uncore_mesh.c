/* pmu/sim/uncore/uncore_mesh.c: addresses of the boxes of Skylake-SP's uncore: model-specific registers, buses and functions in configuration
 * space. Their effects are in uncore_hsx.c.
 *
 * Source: Linux 6.12 (uncore_snbep.c, skx_*). Bus n of a socket, 0 to 3, is uncore.bus * n above its first. On them are: 1 CAPID6, which
 * has a bit for each CHA; 2 memory and M2M; 3 links.
 *
 * Not modelled: interrupts, the socket's status, free-running counters, the other registers of these functions, which read as 0. */
#include "pmu/sim/uncore/uncore_hsx_state.h"
#include "pmu/text.h"

#define CPU_BUS_NUMBER 0x300
#define BUSES_VALID    (1ull << 63)
#define BUSES          4 /* that CPU_BUS_NUMBER gives */
#define GLOBAL_CTL     0x700
#define GLOBAL_FREEZE   (1ull << 63)
#define GLOBAL_WAKE     (1ull << 62)
#define GLOBAL_UNFREEZE (1ull << 61)
#define STACK_FIRST    0xA40
#define STACK_STEP     0x20
#define STACKS         6

enum { HIDE_CAPABILITY = 2, HIDE_M2M = 4, HIDE_IMC = 8, HIDE_UPI = 32, HIDE_M3UPI = 128 };
/* kind HSX_KINDS: CAPID6. */
static const struct place { uint8_t bus, device, function, kind, instance, hide; uint16_t id; } places[] = {
	{ 1, 30, 3, HSX_KINDS, 0, HIDE_CAPABILITY, 0x2083 },
	{ 2, 10, 2, HSX_IMC, 0, HIDE_IMC, 0x2042 }, { 2, 10, 6, HSX_IMC, 1, HIDE_IMC, 0x2046 }, { 2, 11, 2, HSX_IMC, 2, HIDE_IMC, 0x204A },
	{ 2, 12, 2, HSX_IMC, 3, HIDE_IMC, 0x2042 }, { 2, 12, 6, HSX_IMC, 4, HIDE_IMC, 0x2046 }, { 2, 13, 2, HSX_IMC, 5, HIDE_IMC, 0x204A },
	{ 2, 8, 0, HSX_M2M, 0, HIDE_M2M, 0x2066 }, { 2, 9, 0, HSX_M2M, 1, HIDE_M2M, 0x2066 },
	{ 3, 14, 0, HSX_UPI, 0, HIDE_UPI, 0x2058 }, { 3, 15, 0, HSX_UPI, 1, HIDE_UPI, 0x2058 }, { 3, 16, 0, HSX_UPI, 2, HIDE_UPI, 0x2058 },
	{ 3, 18, 1, HSX_M3UPI, 0, HIDE_M3UPI, 0x204D }, { 3, 18, 2, HSX_M3UPI, 1, HIDE_M3UPI, 0x204E }, { 3, 18, 5, HSX_M3UPI, 2, HIDE_M3UPI, 0x204D },
};
/* Offsets of a kind's registers. */
static const struct offsets { uint16_t select, counter, control, status, fixed_select, fixed_counter; uint8_t select_step; } offsets[HSX_KINDS] = {
	[HSX_IMC] = { 0xD8, 0xA0, 0xF4, 0xF8, 0xF0, 0xD0, 4 }, [HSX_M3UPI] = { 0xD8, 0xA0, 0xF4, 0xF8, 0, 0, 4 },
	[HSX_M2M] = { 0x228, 0x200, 0x258, 0, 0, 0, 8 }, [HSX_UPI] = { 0x350, 0x318, 0x378, 0, 0, 0, 8 },
};

static unsigned socket_of(const struct hsx *u, unsigned thread)
{
	return thread / (unsigned)(u->m->topology_threads * u->m->topology_cores);
}

/* ---- model-specific registers ------------------------------------------------------------------ */

static struct box *msr_box(struct hsx_socket *k, uint32_t msr, enum reg *reg, unsigned *n)
{
	*reg = REG_NONE;
	*n = 0;
	if (msr - 0xE00 < 28 * 0x10) { /* CHA: control, 4 selects, 2 filters, status, 4 counters */
		const unsigned at = msr & 0xF;
		*reg = at == 0 ? REG_CONTROL : at < 5 ? REG_SELECT : at < 7 ? REG_FILTER : at == 7 ? REG_STATUS : at < 12 ? REG_COUNTER : REG_NONE;
		*n = at < 5 ? at - 1 : at < 7 ? at - 5 : at - 8;
		return hsx_find_box(k, HSX_CHA, (msr - 0xE00) / 0x10);
	}
	if (msr - STACK_FIRST < STACKS * STACK_STEP) { /* IIO: control, 4 counters, 3 others, 4 selects; from 18H on its IRP: control, 2 counters, 2 selects */
		const unsigned at = (msr - STACK_FIRST) % STACK_STEP, irp = at - 0x18;
		if (at >= 0x18) {
			*reg = irp == 0 ? REG_CONTROL : irp < 3 ? REG_COUNTER : irp < 5 ? REG_SELECT : REG_NONE;
			*n = irp < 3 ? irp - 1 : irp - 3;
			return hsx_find_box(k, HSX_TRAFFIC, (msr - STACK_FIRST) / STACK_STEP);
		}
		*reg = at == 0 ? REG_CONTROL : at < 5 ? REG_COUNTER : at >= 8 && at < 12 ? REG_SELECT : REG_NONE;
		*n = at < 5 ? at - 1 : at - 8;
		return hsx_find_box(k, HSX_IIO, (msr - STACK_FIRST) / STACK_STEP);
	}
	return hsx_mesh_fixed_msr(k, msr, reg, n);
}

struct box *hsx_mesh_fixed_msr(struct hsx_socket *k, uint32_t msr, enum reg *reg, unsigned *n)
{
	if (msr - 0x710 < 11) { /* PCU: control, 4 selects, filter, status, 4 counters */
		const unsigned at = msr - 0x710;
		*reg = at == 0 ? REG_CONTROL : at < 5 ? REG_SELECT : at == 5 ? REG_FILTER : at == 6 ? REG_STATUS : REG_COUNTER;
		*n = at < 5 ? at - 1 : at == 5 ? 0 : at - 7;
		return hsx_find_box(k, HSX_PCU, 0);
	}
	switch (msr) { /* UBox */
	case 0x703: *reg = REG_SELECT, *n = HSX_FIXED; break;
	case 0x704: *reg = REG_COUNTER, *n = HSX_FIXED; break;
	case 0x705: case 0x706: *reg = REG_SELECT, *n = msr - 0x705; break;
	case 0x707: *reg = REG_FILTER; break;
	case 0x708: *reg = REG_STATUS; break;
	case 0x709: case 0x70A: *reg = REG_COUNTER, *n = msr - 0x709; break;
	default: return NULL;
	}
	return hsx_find_box(k, HSX_UBOX, 0);
}

static unsigned bus_of(const struct machine *m, unsigned socket, unsigned n) { return (unsigned)(socket * m->uncore_bus_step + n * m->uncore_bus); }

static enum status mesh_rdmsr(void *box, unsigned thread, uint32_t msr, uint64_t *value, struct sim_finding *f)
{
	struct hsx *u = box;
	const unsigned s = socket_of(u, thread);
	enum reg reg;
	unsigned n;
	if (hsx_layout(u->m) != HSX_SKYLAKE)
		return hsx_discovered_rdmsr(u, s, msr, value, f);
	if (msr == GLOBAL_CTL || msr == CPU_BUS_NUMBER) {
		sim_finding_none(f);
		*value = msr == GLOBAL_CTL ? 0 : BUSES_VALID; /* freeze and unfreeze are write-only */
		for (unsigned i = 0; msr == CPU_BUS_NUMBER && i < BUSES; i++)
			*value |= (uint64_t)bus_of(u->m, s, i) << 8 * i;
		return ST_OK;
	}
	struct box *b = msr_box(&u->socket[s], msr, &reg, &n);
	if (!b || reg == REG_NONE)
		return ST_MISSING;
	sim_finding_none(f);
	return hsx_read_box(u, s, b, reg, n, true, value, &(const struct access_to){ f, msr });
}

static enum status mesh_wrmsr(void *box, unsigned thread, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	struct hsx *u = box;
	const unsigned s = socket_of(u, thread);
	const struct access_to a = { f, msr };
	enum reg reg;
	unsigned n;
	if (hsx_layout(u->m) != HSX_SKYLAKE)
		return hsx_discovered_wrmsr(u, s, msr, value, f);
	if (msr != GLOBAL_CTL) {
		struct box *b = msr_box(&u->socket[s], msr, &reg, &n);
		if (!b || reg == REG_NONE)
			return ST_MISSING;
		sim_finding_none(f);
		return hsx_write_box(u, s, b, reg, n, true, value, &a);
	}
	sim_finding_none(f);
	if (value & ~(GLOBAL_FREEZE | GLOBAL_UNFREEZE))
		hsx_finding(&a, FIND_SIMULATOR, value, "interrupts of the uncore");
	hsx_sync(u, s);
	if (value & GLOBAL_FREEZE)
		u->socket[s].frozen = true;
	else if (value & GLOBAL_UNFREEZE)
		u->socket[s].frozen = false;
	hsx_program(u, s, &a);
	return ST_OK;
}

/* ---- configuration space ----------------------------------------------------------------------- */

/* Channels are populated controller by controller. */
static bool instance_of(const struct machine *m, const struct place *p, unsigned *instance)
{
	*instance = p->instance;
	if (p->kind == HSX_KINDS)
		return true;
	if (p->kind == HSX_IMC) {
		const unsigned per = (unsigned)(m->dram_channels / m->uncore_home_agents);
		if (p->instance % 3 >= per)
			return false;
		*instance = p->instance / 3 * per + p->instance % 3;
	}
	return *instance < hsx_boxes(m, (enum hsx_kind)p->kind);
}

static const struct place *find_place(const struct hsx *u, struct pci_address at, unsigned *socket, unsigned *instance)
{
	const struct machine *m = u->m;
	for (unsigned s = 0; s < m->topology_sockets && !at.segment; s++)
		for (unsigned i = 0; i < COUNT_OF(places); i++) {
			const struct place *p = &places[i];
			if (at.bus != bus_of(m, s, p->bus) || at.device != p->device || at.function != p->function || !instance_of(m, p, instance))
				continue;
			*socket = s;
			const bool hidden = m->fault_uncore_hidden & p->hide && (!m->fault_uncore_hidden_unit || (!s && *instance + 1 == m->fault_uncore_hidden_unit));
			return hidden ? NULL : p;
		}
	return NULL;
}

static enum reg pci_reg(const struct place *p, uint16_t at, unsigned *n)
{
	*n = 0;
	if (p->kind == HSX_KINDS)
		return REG_NONE;
	const struct offsets *o = &offsets[p->kind];
	const unsigned counters = p->kind == HSX_M3UPI ? 3 : hsx_counters((enum hsx_kind)p->kind);
	if (at == o->control)
		return REG_CONTROL;
	if (o->status && at == o->status)
		return REG_STATUS;
	if (o->fixed_select && (at == o->fixed_select || (at >= o->fixed_counter && at < o->fixed_counter + 8))) {
		*n = HSX_FIXED;
		return at == o->fixed_select ? REG_SELECT : at == o->fixed_counter ? REG_COUNTER : REG_COUNTER_HIGH;
	}
	if (at >= o->select && (at - o->select) / o->select_step < (int)counters) {
		*n = (unsigned)(at - o->select) / o->select_step;
		return (at - o->select) % o->select_step ? REG_SELECT_HIGH : REG_SELECT;
	}
	if (at >= o->counter && (at - o->counter) / 8 < (int)counters) {
		*n = (unsigned)(at - o->counter) / 8;
		return (at - o->counter) % 8 ? REG_COUNTER_HIGH : REG_COUNTER;
	}
	return REG_NONE;
}

static uint32_t encoded(unsigned bus, unsigned device, unsigned function, unsigned reg) { return bus << 20 | device << 15 | function << 12 | reg; }

uint32_t hsx_mesh_pci_of(const struct machine *m, unsigned socket, enum hsx_kind kind, unsigned instance)
{
	unsigned i;
	for (unsigned n = 0; n < COUNT_OF(places); n++)
		if (places[n].kind == kind && instance_of(m, &places[n], &i) && i == instance)
			return encoded(bus_of(m, socket, places[n].bus), places[n].device, places[n].function, 0);
	return 0;
}

uint32_t hsx_mesh_select(enum hsx_kind kind, unsigned n) { return offsets[kind].select + n * offsets[kind].select_step; }

static enum status mesh_pci_read32(void *box, struct pci_address at, uint32_t *value, struct sim_finding *finding)
{
	struct hsx *u = box;
	unsigned socket, instance, n;
	if (hsx_layout(u->m) != HSX_SKYLAKE)
		return hsx_discovered_pci_read32(u, at, value, finding);
	const struct place *p = find_place(u, at, &socket, &instance);
	uint64_t v = 0;
	if (!p)
		return ST_MISSING;
	uncore_taps_emit(u->taps, socket, 0, UNC_CONFIG_ACCESS);
	sim_finding_none(finding);
	const enum reg reg = pci_reg(p, at.reg, &n);
	if (at.reg == 0)
		v = (uint32_t)p->id << 16 | 0x8086;
	else if (p->kind == HSX_KINDS)
		v = at.reg == 0x9C ? (1u << u->m->l3_slices) - 1 : 0;
	else if (reg != REG_NONE)
		(void)!hsx_read_box(u, socket, hsx_find_box(&u->socket[socket], (enum hsx_kind)p->kind, instance), reg, n, false, &v,
		                    &(const struct access_to){ finding, encoded(at.bus, at.device, at.function, at.reg) });
	*value = (uint32_t)v;
	return ST_OK;
}

static enum status mesh_pci_write32(void *box, struct pci_address at, uint32_t value, struct sim_finding *finding)
{
	struct hsx *u = box;
	unsigned socket, instance, n;
	if (hsx_layout(u->m) != HSX_SKYLAKE)
		return hsx_discovered_pci_write32(u, at, value, finding);
	const struct place *p = find_place(u, at, &socket, &instance);
	const struct access_to a = { finding, encoded(at.bus, at.device, at.function, at.reg) };
	if (!p)
		return ST_MISSING;
	uncore_taps_emit(u->taps, socket, 0, UNC_CONFIG_ACCESS);
	sim_finding_none(finding);
	const enum reg reg = pci_reg(p, at.reg, &n);
	if (reg == REG_NONE) {
		hsx_finding(&a, FIND_OUTSIDE, value, "no register of a counter: this function's others are not modelled");
		return ST_OK;
	}
	return hsx_write_box(u, socket, hsx_find_box(&u->socket[socket], (enum hsx_kind)p->kind, instance), reg, n, false, value, &a);
}

const struct box_kind box_mesh = { .name = "mesh", .bytes = hsx_bytes, .init = hsx_init, .rdmsr = mesh_rdmsr, .wrmsr = mesh_wrmsr,
	.pci_read32 = mesh_pci_read32, .pci_write32 = mesh_pci_write32, .mmio_read = hsx_discovered_mmio_read, .mmio_write = hsx_discovered_mmio_write };
