/* pmu/sim/uncore/uncore_hsx_pci.c: the boxes of Haswell-EP's uncore in configuration space: buses, functions with their
 * device ids, registers, and the functions that identify sockets and boxes.
 *
 * Sources: manual 331051-002, tables 1-3 and 2-60 to 2-233, as corrected by Linux 6.12 (uncore_snbep.c, hswep_*) and lspci
 * listings of such machines: device ids of the memory channels, IRP's counters and bus, the UBox function. Broadwell-EP has the same functions,
 * with another upper byte of their ids (bdx_*): uncore.ids.
 *
 * Not modelled: the other registers of these functions, which read as 0, and all other functions of such a chipset. */
#include "pmu/sim/uncore/uncore_hsx_state.h"

enum role { ROLE_PMON, ROLE_MATCH, ROLE_RATE, ROLE_UBOX, ROLE_CAPABILITY };
enum { HIDE_UBOX = 1, HIDE_CAPABILITY = 2, HIDE_HA = 4, HIDE_IMC = 8, HIDE_IRP = 16, HIDE_QPI = 32, HIDE_R2 = 64, HIDE_R3 = 128 };
static const struct function { uint8_t device, function, role, kind, instance, hide; uint16_t id; } functions[] = {
	{ 16, 5, ROLE_UBOX, 0, 0, HIDE_UBOX, 0x2F1E }, { 30, 3, ROLE_CAPABILITY, 0, 0, HIDE_CAPABILITY, 0x2FC0 },
	{ 18, 1, ROLE_PMON, HSX_HA, 0, HIDE_HA, 0x2F30 }, { 18, 5, ROLE_PMON, HSX_HA, 1, HIDE_HA, 0x2F38 },
	{ 20, 0, ROLE_PMON, HSX_IMC, 0, HIDE_IMC, 0x2FB0 }, { 20, 1, ROLE_PMON, HSX_IMC, 1, HIDE_IMC, 0x2FB1 },
	{ 21, 0, ROLE_PMON, HSX_IMC, 2, HIDE_IMC, 0x2FB4 }, { 21, 1, ROLE_PMON, HSX_IMC, 3, HIDE_IMC, 0x2FB5 },
	{ 23, 0, ROLE_PMON, HSX_IMC, 4, HIDE_IMC, 0x2FD0 }, { 23, 1, ROLE_PMON, HSX_IMC, 5, HIDE_IMC, 0x2FD1 },
	{ 24, 0, ROLE_PMON, HSX_IMC, 6, HIDE_IMC, 0x2FD4 }, { 24, 1, ROLE_PMON, HSX_IMC, 7, HIDE_IMC, 0x2FD5 },
	{ 5, 6, ROLE_PMON, HSX_IRP, 0, HIDE_IRP, 0x2F39 },
	{ 8, 2, ROLE_PMON, HSX_QPI, 0, HIDE_QPI, 0x2F32 }, { 9, 2, ROLE_PMON, HSX_QPI, 1, HIDE_QPI, 0x2F33 },
	{ 10, 2, ROLE_PMON, HSX_QPI, 2, HIDE_QPI, 0x2F3A }, { 8, 6, ROLE_MATCH, HSX_QPI, 0, HIDE_QPI, 0x2F86 },
	{ 9, 6, ROLE_MATCH, HSX_QPI, 1, HIDE_QPI, 0x2F96 }, { 10, 6, ROLE_MATCH, HSX_QPI, 2, HIDE_QPI, 0x2F46 },
	{ 8, 0, ROLE_RATE, HSX_QPI, 0, HIDE_QPI, 0x2F80 }, { 10, 0, ROLE_RATE, HSX_QPI, 2, HIDE_QPI, 0x2F40 },
	{ 16, 1, ROLE_PMON, HSX_R2, 0, HIDE_R2, 0x2F34 },
	{ 11, 1, ROLE_PMON, HSX_R3, 0, HIDE_R3, 0x2F36 }, { 11, 2, ROLE_PMON, HSX_R3, 1, HIDE_R3, 0x2F37 },
	{ 11, 5, ROLE_PMON, HSX_R3, 2, HIDE_R3, 0x2F3E },
};

static unsigned bus_of(const struct machine *m, unsigned socket)
{
	const unsigned index = m->uncore_reverse ? (unsigned)m->topology_sockets - 1 - socket : socket;
	return (unsigned)(m->uncore_bus + index * m->uncore_bus_step);
}

/* A socket's I/O devices are on the bus after the uncore bus of the previous socket, or on bus 0. */
static unsigned io_bus_of(const struct machine *m, unsigned socket)
{
	const unsigned bus = bus_of(m, socket);
	return bus == m->uncore_bus ? 0 : (unsigned)(bus - m->uncore_bus_step + 1);
}

/* *instance: the number of a function's box in its socket; false: the socket lacks it. Channels are populated agent by agent. */
static bool instance_of(const struct machine *m, const struct function *f, unsigned *instance)
{
	*instance = f->instance;
	if (f->kind == HSX_IMC) {
		const unsigned per = (unsigned)(m->dram_channels / m->uncore_home_agents);
		if (f->instance % 4 >= per)
			return false;
		*instance = f->instance / 4 * per + f->instance % 4;
	}
	return *instance < hsx_boxes(m, (enum hsx_kind)f->kind);
}

static bool is_hidden(const struct machine *m, const struct function *f, unsigned socket, unsigned instance)
{
	return m->fault_uncore_hidden & f->hide && (!m->fault_uncore_hidden_unit || (!socket && instance + 1 == m->fault_uncore_hidden_unit));
}

static const struct function *find_function(const struct hsx *u, struct pci_address at, unsigned *socket, unsigned *instance)
{
	if (at.segment)
		return NULL;
	for (unsigned s = 0; s < u->m->topology_sockets; s++)
		for (unsigned i = 0; i < COUNT_OF(functions); i++) {
			const struct function *f = &functions[i];
			const unsigned bus = f->role == ROLE_PMON && f->kind == HSX_IRP ? io_bus_of(u->m, s) : bus_of(u->m, s);
			if (at.bus != bus || at.device != f->device || at.function != f->function )
				continue;
			*socket = s;
			*instance = 0;
			if (f->role != ROLE_UBOX && f->role != ROLE_CAPABILITY && !instance_of(u->m, f, instance))
				return NULL;
			return is_hidden(u->m, f, s, *instance) ? NULL : f;
		}
	return NULL;
}

static enum reg pci_reg(const struct function *f, uint16_t at, unsigned *n)
{
	const unsigned counters = hsx_counters((enum hsx_kind)f->kind);
	*n = 0;
	if (f->role == ROLE_MATCH) { /* receiver: match 0, 1 at 228, mask 0, 1 at 238 */
		*n = at == 0x228 ? 0 : at == 0x22C ? 1 : at == 0x238 ? 2 : 3;
		return at == 0x228 || at == 0x22C || at == 0x238 || at == 0x23C ? REG_FILTER : REG_NONE;
	}
	if (f->role != ROLE_PMON)
		return REG_NONE;
	if (at == 0xF4)
		return REG_CONTROL;
	if (at == 0xF8)
		return REG_STATUS;
	if (f->kind == HSX_IMC && (at == 0xF0 || at == 0xD0 || at == 0xD4)) {
		*n = HSX_FIXED;
		return at == 0xF0 ? REG_SELECT : at == 0xD0 ? REG_COUNTER : REG_COUNTER_HIGH;
	}
	if (f->kind == HSX_HA && at >= 0x40 && at <= 0x48) {
		*n = (at - 0x40u) / 4;
		return REG_FILTER;
	}
	if (at >= 0xD8 && (at - 0xD8u) / 4 < counters) {
		*n = (at - 0xD8u) / 4;
		return REG_SELECT;
	}
	if (at >= 0xA0 && (at - 0xA0u) / 8 < counters) {
		*n = (at - 0xA0u) / 8;
		return at % 8 ? REG_COUNTER_HIGH : REG_COUNTER;
	}
	return REG_NONE;
}

/* With uncore.reverse, node ids count from the last socket. */
static uint32_t node_id(const struct machine *m, unsigned socket)
{
	return m->uncore_reverse ? (uint32_t)m->topology_sockets - 1 - socket : socket;
}

static uint32_t read_other(const struct hsx *u, const struct function *f, unsigned socket, uint16_t reg)
{
	const struct machine *m = u->m;
	uint32_t map = 0;
	if (f->role == ROLE_UBOX && reg == 0x40)
		return node_id(m, socket);
	if (f->role == ROLE_UBOX && reg == 0x54) {
		for (unsigned s = 0; s < 8; s++) /* absent sockets have a node id that is not in use */
			map |= (s < m->topology_sockets ? node_id(m, s) : 7u) << 3 * s;
		return map;
	}
	if (f->role == ROLE_CAPABILITY && reg == 0x94)
		return m->uncore_sbos == 2 ? 0 : 0xC0;
	if (f->role == ROLE_RATE && reg == 0xD4)
		return m->uncore_qpi_mts == 9600 ? 7 : m->uncore_qpi_mts == 8000 ? 5 : m->uncore_qpi_mts == 7200 ? 4 : 3;
	return 0;
}

/* The address of a register of configuration space in findings: above any MSR. */
static uint32_t pci_encoded(struct pci_address at)
{
	return (uint32_t)at.bus << 20 | (uint32_t)at.device << 15 | (uint32_t)at.function << 12 | at.reg;
}

uint32_t hsx_pci_of(const struct machine *m, unsigned socket, enum hsx_kind kind, unsigned instance)
{
	unsigned i;
	for (unsigned n = 0; n < COUNT_OF(functions); n++) {
		const struct function *f = &functions[n];
		if (f->role == ROLE_PMON && f->kind == kind && instance_of(m, f, &i) && i == instance)
			return pci_encoded((struct pci_address){ .bus = (uint8_t)(kind == HSX_IRP ? io_bus_of(m, socket) : bus_of(m, socket)), .device = f->device,
				.function = f->function });
	}
	return 0;
}

enum status hsx_pci_read32(void *box, struct pci_address at, uint32_t *value, struct sim_finding *finding)
{
	struct hsx *u = box;
	unsigned socket, instance, n;
	const struct function *f = find_function(u, at, &socket, &instance);
	uint64_t v = 0;
	if (!f)
		return ST_MISSING;
	uncore_taps_emit(u->taps, socket, 0, UNC_CONFIG_ACCESS);
	sim_finding_none(finding);
	const enum reg reg = pci_reg(f, at.reg, &n);
	if (at.reg == 0)
		v = (uint32_t)(f->id & 0xFF) << 16 | (uint32_t)u->m->uncore_ids << 24 | 0x8086;
	else if (reg == REG_NONE)
		v = read_other(u, f, socket, at.reg);
	else
		(void)!hsx_read_box(u, socket, hsx_find_box(&u->socket[socket], (enum hsx_kind)f->kind, instance), reg, n, false, &v,
		                    &(const struct access_to){ finding, pci_encoded(at) });
	*value = (uint32_t)v;
	return ST_OK;
}

enum status hsx_pci_write32(void *box, struct pci_address at, uint32_t value, struct sim_finding *finding)
{
	struct hsx *u = box;
	unsigned socket, instance, n;
	const struct function *f = find_function(u, at, &socket, &instance);
	const struct access_to a = { finding, pci_encoded(at) };
	if (!f)
		return ST_MISSING;
	uncore_taps_emit(u->taps, socket, 0, UNC_CONFIG_ACCESS);
	sim_finding_none(finding);
	const enum reg reg = pci_reg(f, at.reg, &n);
	if (reg == REG_NONE) {
		hsx_finding(&a, FIND_OUTSIDE, value, "no register of a counter: this function's others are not modelled");
		return ST_OK;
	}
	return hsx_write_box(u, socket, hsx_find_box(&u->socket[socket], (enum hsx_kind)f->kind, instance), reg, n, false, value, &a);
}
