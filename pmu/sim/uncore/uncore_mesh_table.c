/* pmu/sim/uncore/uncore_mesh_table.c: the discovery table of a simulated mesh since Sapphire Rapids: a function's capability, a header and a unit for each box.
 *
 * Source: Linux 6.12, uncore_discovery.h and .c, uncore_snbep.c (spr_*; gnr_* of its successors). A CHA's registers are in MSRs from 2000H on, the PCU's at 2FC0H, the UBox's at 2FD0H; chosen here are
 * the other MSRs, functions and addresses in memory (Sapphire Rapids' links are not in its table, but functions of their own). Every fourth place for a unit
 * is empty, like that of a fused-off box. */
#include "pmu/sim/uncore/uncore_hsx_state.h"
#include "pmu/text.h"

#define TELLER_DEVICE   3
#define TELLER_ID       0x09A7
#define UBOX_ID         0x3250
#define CAPABILITY_A    0x100 /* another capability, which points to the next one */
#define CAPABILITY_B    0x160
#define VENDOR_SPECIFIC 0x23
#define BASE_WIDE       4u
#define TABLE_OF(socket)   (0x3000000000ull + ((uint64_t)(socket) << 24))
#define CHANNELS_OF(socket) (0x3100000000ull + ((uint64_t)(socket) << 28) + 0x22800)
#define CHANNEL_STEP    0x8000u
#define DISTANCE        4u   /* quadwords from unit to unit */
#define EMPTY_EVERY     4u

enum space { IN_MSR, IN_MEMORY, IN_PCI };
/* A kind's units; first: the control of the first, in configuration space its device, function and register. */
static const struct kind {
	uint8_t kind, type, later, space, control, counter; /* later: the type since Granite Rapids and Sierra Forest; 255: not in the table */
	uint32_t first, step;
	uint16_t id;
} kinds[] = {
	{ HSX_CHA, 0, 0, IN_MSR, 2, 8, 0x2000, 0x10, 0 }, { HSX_IIO, 1, 1, IN_MSR, 2, 8, 0x3000, 0x10, 0 }, { HSX_TRAFFIC, 2, 2, IN_MSR, 2, 8, 0x3400, 0x10, 0 },
	{ HSX_M2PCIE, 3, 255, IN_MSR, 2, 8, 0x3200, 0x10, 0 }, { HSX_PCU, 4, 4, IN_MSR, 2, 8, 0x2FC0, 0x10, 0 }, { HSX_UBOX, 5, 5, IN_MSR, 2, 8, 0x2FD0, 0x10, 0 },
	{ HSX_IMC, 6, 6, IN_MEMORY, 0x40, 8, 0, CHANNEL_STEP, 0 }, { HSX_M2M, 7, 16, IN_PCI, 0x30, 8, 12 << 15 | 0x438, 1 << 15, 0x324A },
	{ HSX_UPI, 255, 8, IN_PCI, 0x38, 8, 1 << 15 | 1 << 12 | 0x318, 1 << 15, 0x3241 }, { HSX_M3UPI, 255, 255, IN_PCI, 0x38, 8, 5 << 15 | 1 << 12 | 0xA0, 1 << 15, 0x3246 },
};

static unsigned type_of(const struct machine *m, const struct kind *k) { return hsx_layout(m) == HSX_SIERRA_FOREST ? k->later : k->type; }
static unsigned bus_of(const struct machine *m, unsigned socket) { return (unsigned)(m->uncore_bus + socket * m->uncore_bus_step); }

static uint64_t control_of(const struct machine *m, unsigned socket, const struct kind *k, unsigned instance)
{
	const uint64_t first = k->space == IN_MEMORY ? CHANNELS_OF(socket) : k->space == IN_PCI ? (uint64_t)bus_of(m, socket) << 20 | k->first : k->first;
	return first + (uint64_t)instance * k->step;
}

uint64_t hsx_table_control(const struct machine *m, unsigned socket, enum hsx_kind kind, unsigned instance)
{
	for (unsigned i = 0; i < COUNT_OF(kinds); i++)
		if (kinds[i].kind == kind && instance < hsx_boxes(m, kind))
			return control_of(m, socket, &kinds[i], instance);
	return 0;
}

/* ---- configuration space ----------------------------------------------------------------------- */

bool hsx_table_place(const struct machine *m, unsigned socket, struct pci_address at, uint8_t *kind, uint8_t *instance, uint16_t *id)
{
	if (at.bus != bus_of(m, socket))
		return false;
	if (at.device == TELLER_DEVICE && !at.function) {
		*kind = HSX_KINDS;
		*instance = 0;
		*id = TELLER_ID;
		return true;
	}
	if (!at.device && !at.function) {
		*kind = HSX_KINDS + 1;
		*instance = 0;
		*id = UBOX_ID;
		return true;
	}
	const uint64_t function = (uint64_t)at.bus << 20 | (uint64_t)at.device << 15 | (uint64_t)at.function << 12;
	for (unsigned i = 0; i < COUNT_OF(kinds); i++)
		for (unsigned n = 0; kinds[i].space == IN_PCI && n < hsx_boxes(m, (enum hsx_kind)kinds[i].kind); n++)
			if ((control_of(m, socket, &kinds[i], n) & ~0xFFFull) == function) {
				*kind = kinds[i].kind;
				*instance = (uint8_t)n;
				*id = kinds[i].id;
				return true;
			}
	return false;
}

uint32_t hsx_table_capability(const struct hsx *u, unsigned socket, uint16_t reg)
{
	if (u->m->fault_uncore_hidden & 1)
		return 0;
	switch (reg) {
	case 0x10: return (uint32_t)TABLE_OF(socket) | BASE_WIDE;
	case 0x14: return (uint32_t)(TABLE_OF(socket) >> 32);
	case CAPABILITY_A: return 0xBu | 1u << 16 | (uint32_t)CAPABILITY_B << 20;
	case CAPABILITY_B: return VENDOR_SPECIFIC | 1u << 16;
	case CAPABILITY_B + 4: return 0x8086u | 0x10u << 20;
	case CAPABILITY_B + 8: return 1;
	default: return 0; /* includes the number of the base register */
	}
}

/* ---- the table ---------------------------------------------------------------------------------- */

/* An IRP of Sapphire Rapids has two counters (perfmon SPR), one of Granite Rapids and Sierra Forest four. */
static unsigned counters_of(const struct machine *m, enum hsx_kind kind)
{
	return kind == HSX_TRAFFIC && hsx_layout(m) == HSX_SAPPHIRE_RAPIDS ? 2 : hsx_counters(kind);
}

static uint64_t unit_quad(const struct machine *m, unsigned socket, const struct kind *k, unsigned instance, unsigned quad)
{
	switch (quad) {
	case 0: return counters_of(m, (enum hsx_kind)k->kind) | (uint64_t)k->control << 8 | 48ull << 16 | (uint64_t)k->counter << 24 | (uint64_t)k->space << 62;
	case 1: return control_of(m, socket, k, instance);
	case 2: return type_of(m, k) | (uint64_t)instance << 16;
	default: return 0;
	}
}

static unsigned units_of(const struct machine *m)
{
	unsigned n = 0;
	for (unsigned i = 0; i < COUNT_OF(kinds); i++)
		n += type_of(m, &kinds[i]) == 255 ? 0 : hsx_boxes(m, (enum hsx_kind)kinds[i].kind);
	return n;
}

/* Number of places for units, including empty ones. */
static unsigned places_of(const struct machine *m) { return units_of(m) + (units_of(m) - 1) / (EMPTY_EVERY - 1); }

uint64_t hsx_table_quad(const struct hsx *u, unsigned socket, unsigned n)
{
	const struct machine *m = u->m;
	const unsigned place = n / DISTANCE, quad = n % DISTANCE;
	if (!place) /* the header; type and access of the global control are 0: an MSR */
		return quad == 0 ? (uint64_t)DISTANCE << 8 | (uint64_t)places_of(m) << 16 : quad == 1 ? 0x2FF0 : quad == 2 ? 1 : 0;
	if ((place - 1) % EMPTY_EVERY == EMPTY_EVERY - 1)
		return 0;
	unsigned unit = place - 1 - (place - 1) / EMPTY_EVERY;
	for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
		const unsigned boxes = type_of(m, &kinds[i]) == 255 ? 0 : hsx_boxes(m, (enum hsx_kind)kinds[i].kind);
		if (unit < boxes)
			return unit_quad(m, socket, &kinds[i], unit, quad);
		unit -= boxes;
	}
	return 0;
}

bool hsx_table_memory(const struct hsx *u, uint64_t address, uint64_t *value)
{
	for (unsigned s = 0; s < u->m->topology_sockets; s++)
		if (address - TABLE_OF(s) < 8ull * DISTANCE * (places_of(u->m) + 1) && !(address & 7)) {
			*value = hsx_table_quad(u, s, (unsigned)((address - TABLE_OF(s)) / 8));
			return true;
		}
	return false;
}
