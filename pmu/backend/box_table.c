/* pmu/backend/box_table.c: a discovery table of uncore boxes.
 *
 * An extended capability of a function (23H, designated vendor-specific) whose entry id is 1 names one of the function's base addresses. There a header of
 * three quadwords has the distance of units and their maximum number; each unit has three quadwords: its counters, their offsets, the address of its control,
 * its type and number (Linux 6.12, uncore_discovery.h). A unit is accepted only if the processor's description has its type, and within the bounds that the
 * description sets: the whole table comes from firmware's memory. */
#include "pmu/backend/box_place.h"

#define CAPABILITY_FIRST  0x100u
#define CAPABILITY_LAST   0xFF0u
#define CAPABILITIES_MOST 64 /* ends a cyclic list */
#define VENDOR_SPECIFIC   0x23u
#define VENDOR_CXL        0x1E98u
#define ENTRY_COUNTERS    1u
#define BASE_REGISTER     0x10u
#define BASES             6u
#define BASE_WIDE         4u

#define HEADER_QUADS 3u
#define UNIT_QUADS   3u

/* --- the capability ---------------------------------------------------------------------------- */

static bool read32(const struct access *a, struct pci_address at, uint32_t reg, uint32_t *value)
{
	at.reg = (uint16_t)reg;
	return a->ops->pci_read32(a->self, at, value) == ST_OK && *value != UINT32_MAX;
}

/* The memory address, of 32 or 64 bits, in base register `n`. */
static bool base_of(const struct access *a, struct pci_address function, unsigned n, uint64_t *base)
{
	uint32_t low, high = 0;
	if (n >= BASES || !read32(a, function, BASE_REGISTER + 4 * n, &low) || low & 3)
		return false;
	if (low & BASE_WIDE && (n + 1 == BASES || !read32(a, function, BASE_REGISTER + 4 * n + 4, &high)))
		return false;
	*base = ((uint64_t)high << 32 | low) & ~(uint64_t)0xF;
	return *base != 0;
}

static bool table_at(const struct access *a, struct pci_address function, uint64_t *base)
{
	uint32_t reg = CAPABILITY_FIRST, header, vendor, entry, where;
	for (unsigned i = 0; i < CAPABILITIES_MOST && reg >= CAPABILITY_FIRST && reg <= CAPABILITY_LAST && !(reg & 3); i++, reg = header >> 20) {
		if (!read32(a, function, reg, &header) || !header)
			return false;
		if ((header & 0xFFFF) != VENDOR_SPECIFIC || !read32(a, function, reg + 4, &vendor) || (vendor & 0xFFFF) == VENDOR_CXL ||
		    !read32(a, function, reg + 8, &entry) || (entry & 0xFFFF) != ENTRY_COUNTERS || !read32(a, function, reg + 12, &where))
			continue;
		return base_of(a, function, where & 7, base);
	}
	return false;
}

/* --- units ------------------------------------------------------------------------------------- */

static const uint8_t spaces[] = { UNCORE_MSR, UNCORE_MMIO, UNCORE_PCI };

static void refuse(struct box_places *out, const char *why)
{
	out->refused++;
	if (!out->why)
		out->why = why;
}

/* Distance, in bytes or MSRs, from a unit's base to the last one that its description may access. */
static uint64_t reach_of(const struct uncore_box *b, const struct box_place *at)
{
	const uint32_t bytes = b->space == UNCORE_MSR ? 1 : 8;
	uint32_t most = box_place_select(at, b, b->counters - 1u), other = box_place_counter(at, b, b->counters - 1u);
	most = other > most ? other : most;
	most = b->fixed_control > most ? b->fixed_control : most;
	most = b->fixed_counter > most ? b->fixed_counter : most;
	for (unsigned f = 0; f < b->filter_count; f++)
		most = b->filters[f].reg > most ? b->filters[f].reg : most;
	return (uint64_t)most + bytes - 1;
}

static const char *wrong(const struct uncore_box *b, const struct box_place *at)
{
	const uint64_t last = at->base + reach_of(b, at);
	if (at->counters < b->counters)
		return "the machine's table has fewer counters than are described";
	if (at->width < 32 || at->width > b->width)
		return "the machine's table has counters of another width than described";
	if (!at->control || !at->counter)
		return "the machine's table has no offset of its counters";
	if (last < at->base || at->base < b->within_first || (b->within_last && last > b->within_last))
		return "the machine's table has an address that cannot be the box's";
	if (b->space == UNCORE_MSR && last > UINT32_MAX)
		return "the machine's table has an address that cannot be the box's";
	if (b->space == UNCORE_PCI && (at->base >> 31 || (at->base & 3) || (at->base & 0xFFF) + reach_of(b, at) > 0xFFF))
		return "the machine's table has an address that cannot be the box's";
	return b->space == UNCORE_MMIO && (at->base & 7) ? "the machine's table has an address that cannot be the box's" : NULL;
}

static void take_unit(const struct processor *p, const uint64_t q[UNIT_QUADS], struct box_places *out)
{
	const unsigned type = q[2] & 0xFFFF, id = q[2] >> 16 & 0xFFFF, access = q[0] >> 62;
	unsigned n = 0;
	if (!q[0] || !q[1] || q[0] == UINT64_MAX || q[1] == UINT64_MAX || q[2] == UINT64_MAX)
		return; /* no unit: fused off, or the end of the table */
	while (n < p->box_count && p->boxes[n].type != type + 1)
		n++;
	if (n == p->box_count || access >= COUNT_OF(spaces) || spaces[access] != p->boxes[n].space) {
		out->unknown++;
		return;
	}
	const struct box_place at = { .base = q[1], .box = (uint8_t)n, .teller = out->tellers, .instance = (uint8_t)id, .counters = (uint8_t)q[0],
	                              .control = (uint8_t)(q[0] >> 8), .width = (uint8_t)(q[0] >> 16), .counter = (uint8_t)(q[0] >> 24) };
	const char *why = wrong(&p->boxes[n], &at);
	if (id >= BOX_INSTANCES || id >= p->boxes[n].instances)
		why = "the machine's table has a box of a higher number than are described";
	if (!why && box_place_of(out, n, out->tellers, id))
		why = "the machine's table has a box twice";
	if (!why && out->count == BOX_PLACES_MAX)
		why = "more boxes than there is room for";
	if (why)
		refuse(out, why);
	else
		out->list[out->count++] = at;
}

static bool read_quads(const struct access *a, uint64_t at, uint64_t *q, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (a->ops->mmio_read(a->self, at + 8 * i, 8, &q[i]) != ST_OK)
			return false;
	return true;
}

bool box_table_read(const struct access *a, const struct processor *p, struct pci_address function, struct box_places *out)
{
	uint64_t base, header[HEADER_QUADS], unit[UNIT_QUADS];
	if (!table_at(a, function, &base))
		return false;
	if (!read_quads(a, base, header, HEADER_QUADS) || !header[0] || !header[1] || header[0] == UINT64_MAX || header[1] == UINT64_MAX || header[2] == UINT64_MAX) {
		refuse(out, "the machine's table of boxes is empty");
		return false;
	}
	const uint64_t distance = 8 * (header[0] >> 8 & 0xFF);
	const unsigned units = header[0] >> 16 & 0x3FF;
	if (distance < 8 * UNIT_QUADS || base + distance * (units + 1) < base) {
		refuse(out, "the machine's table of boxes has units that overlap");
		return false;
	}
	for (unsigned i = 0; i < units && read_quads(a, base + (i + 1) * distance, unit, UNIT_QUADS); i++)
		take_unit(p, unit, out);
	return true;
}
