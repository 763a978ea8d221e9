/* pmu/backend/box_place.c: finds the boxes that the machine locates, by windows of functions or by discovery tables (box_table.c).
 *
 * A window: a register of a function on the socket's uncore bus has the upper part of an address, a further one for each block of boxes the lower part
 * (Linux 6.12, uncore_snbep.c, snr_uncore_mmio_map). */
#include "pmu/backend/box_place.h"

#define PCI_VENDOR_INTEL 0x8086u
#define PCI_SEGMENTS     4
#define PCI_BUSES        256
#define PCI_DEVICES      32
#define PCI_FUNCTIONS    8
#define PCI_HEADER       0x0Cu
#define PCI_SEVERAL      (1u << 23) /* header type: the device has several functions */

bool box_place_told(const struct uncore_box *b) { return b->window.id || b->type; }

uint64_t box_place_encoded(struct pci_address at)
{
	return (uint64_t)at.segment << 28 | (uint64_t)at.bus << 20 | (uint64_t)at.device << 15 | (uint64_t)at.function << 12 | at.reg;
}

struct pci_address box_place_decoded(uint64_t base, uint32_t offset)
{
	return (struct pci_address){ .segment = base >> 28 & 7, .bus = base >> 20 & 0xFF, .device = base >> 15 & 0x1F, .function = base >> 12 & 7,
	                             .reg = (uint16_t)((base & 0xFFF) + offset) };
}

const struct box_place *box_place_of(const struct box_places *l, unsigned box, unsigned teller, unsigned instance)
{
	for (unsigned i = 0; i < l->count; i++)
		if (l->list[i].box == box && l->list[i].teller == teller && l->list[i].instance == instance)
			return &l->list[i];
	return NULL;
}

uint32_t box_place_select(const struct box_place *at, const struct uncore_box *b, unsigned c)
{
	return (at->counters ? at->control : b->control) + c * b->control_stride;
}

uint32_t box_place_counter(const struct box_place *at, const struct uncore_box *b, unsigned c)
{
	return (at->counters ? at->counter : b->counter) + c * b->counter_stride;
}

/* --- windows ----------------------------------------------------------------------------------- */

static bool read32(const struct access *a, struct pci_address at, unsigned reg, uint32_t *value)
{
	at.reg = (uint16_t)reg;
	return a->ops->pci_read32(a->self, at, value) == ST_OK;
}

/* Adds the boxes of a type that one function locates; boxes whose block's register is 0 are absent. */
static void take_window(const struct access *a, const struct processor *p, unsigned box, struct pci_address function, unsigned teller, struct box_places *out)
{
	const struct uncore_box *b = &p->boxes[box];
	uint32_t high, low;
	if (!read32(a, function, b->window_register, &high) || !(high & b->window_mask))
		return;
	for (unsigned i = 0; i < b->instances && i < BOX_INSTANCES; i++) {
		const unsigned block = b->block_boxes ? i / b->block_boxes : 0;
		if (!b->block_register)
			low = 0;
		else if (!read32(a, function, b->block_register + block * b->block_step, &low) || !(low & b->block_mask))
			continue;
		if (out->count == BOX_PLACES_MAX) {
			out->refused++;
			out->why = "more boxes than there is room for";
			return;
		}
		const uint64_t base = ((uint64_t)(high & b->window_mask) << b->window_shift) + ((uint64_t)(low & b->block_mask) << b->block_shift);
		const unsigned within = b->block_boxes ? i % b->block_boxes : i;
		out->list[out->count++] = (struct box_place){ .base = base + (uint64_t)within * b->stride, .box = (uint8_t)box, .teller = (uint8_t)teller, .instance = (uint8_t)i };
	}
}

/* Numbers a function that locates boxes, by its bus; false: there are too many. */
static bool number(struct box_places *out, struct pci_address function, unsigned *teller)
{
	for (*teller = 0; *teller < out->tellers; ++*teller)
		if (out->teller[*teller].segment == function.segment && out->teller[*teller].bus == function.bus)
			return true;
	if (out->tellers == BOX_TELLERS_MAX)
		return false;
	out->teller[out->tellers++] = function;
	return true;
}

static void find_windows(const struct access *a, const struct processor *p, unsigned segment, unsigned bus, bool *answers, struct box_places *out)
{
	for (unsigned n = 0; n < p->box_count; n++) {
		const struct uncore_device *w = &p->boxes[n].window;
		const struct pci_address at = { .segment = (uint16_t)segment, .bus = (uint8_t)bus, .device = w->device, .function = w->function };
		unsigned teller;
		uint32_t id;
		if (!w->id)
			continue;
		*answers = read32(a, at, 0, &id);
		if (!*answers)
			return;
		if (id == ((uint32_t)w->id << 16 | PCI_VENDOR_INTEL) && number(out, at, &teller))
			take_window(a, p, n, at, teller, out);
	}
}

/* --- search ------------------------------------------------------------------------------------ */

/* Functions 1 to 7 of a device exist only beside a function 0 that says so (PCI 3.0, 6.2.1). On these processors a bus has a device 0, and behind a
 * bridge only that one: without it the bus is empty. */
static void find_tables(const struct access *a, const struct processor *p, unsigned segment, unsigned bus, bool *answers, struct box_places *out)
{
	unsigned functions = 1;
	for (unsigned n = 0; n < PCI_DEVICES * PCI_FUNCTIONS; n++) {
		const struct pci_address at = { .segment = (uint16_t)segment, .bus = (uint8_t)bus, .device = (uint8_t)(n / PCI_FUNCTIONS), .function = (uint8_t)(n % PCI_FUNCTIONS) };
		uint32_t id, header;
		if (at.function >= functions)
			continue;
		*answers = read32(a, at, 0, &id);
		if (!*answers)
			return;
		if (!n && id == UINT32_MAX)
			return;
		if (!at.function)
			functions = id != UINT32_MAX && read32(a, at, PCI_HEADER, &header) && header & PCI_SEVERAL ? PCI_FUNCTIONS : 1;
		if ((id & 0xFFFF) != PCI_VENDOR_INTEL || out->tellers == BOX_TELLERS_MAX)
			continue;
		if (box_table_read(a, p, at, out)) {
			out->teller[out->tellers++] = at;
			out->tables = true;
		}
	}
}

enum status box_place_find(const struct access *a, const struct processor *p, struct box_places *out)
{
	bool windows = false, types = false, answers = true;
	memset(out, 0, sizeof(*out));
	for (unsigned n = 0; n < p->box_count; n++) {
		windows |= p->boxes[n].window.id != 0;
		types |= p->boxes[n].type != 0;
	}
	for (unsigned segment = 0; segment < PCI_SEGMENTS && (windows || types); segment++, answers = true)
		for (unsigned bus = 0; bus < PCI_BUSES && answers; bus++) {
			if (windows)
				find_windows(a, p, segment, bus, &answers, out);
			if (types && answers)
				find_tables(a, p, segment, bus, &answers, out);
		}
	return ST_OK;
}
