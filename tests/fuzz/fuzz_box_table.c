/* Fuzzes the search for uncore boxes: any bytes as a function's configuration space and as the discovery table that it names, beside a described processor with boxes in
 * each space. Nothing outside the table is read, what is found is within the description's bounds and each box once, and the guard lists no register that the
 * description does not. The first 512 bytes are the configuration space from 100H on, the rest is memory. max_len=4096 seed_folder=tests/fuzz/seeds/box_table */
#include <stdlib.h>
#include <string.h>
#include "pmu/backend/msr_guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SPACE_BYTES 512u
#define FIRST       0x100u
#define BASE        0x40000000ull
#define TABLE_MOST  (8ull * 255 * 1024) /* of any table: distance times units */

static void must(bool holds)
{
	if (!holds)
		abort();
}

struct machine { const uint8_t *space, *memory; size_t space_bytes, memory_bytes; };

static enum status pci_read32(void *self, struct pci_address at, uint32_t *value)
{
	const struct machine *m = self;
	*value = UINT32_MAX;
	if (at.segment || at.bus > 1)
		return ST_UNSUPPORTED;
	if (at.bus != 1 || at.device || at.function)
		return ST_OK;
	must(at.reg < 0x1000 && !(at.reg & 3));
	*value = 0;
	if (at.reg == 0)
		*value = 0x09A78086;
	else if (at.reg >= 0x10 && at.reg < 0x28) /* each base register of 32 bits is the table's, but one of 64 and one of ports */
		*value = at.reg == 0x14 ? BASE + 4 : at.reg == 0x18 ? 0 : at.reg == 0x1C ? 1 : (uint32_t)BASE;
	else if (at.reg >= FIRST && at.reg - FIRST + 4 <= m->space_bytes)
		memcpy(value, m->space + at.reg - FIRST, 4);
	return ST_OK;
}

static enum status mmio_read(void *self, uint64_t address, unsigned bytes, uint64_t *value)
{
	const struct machine *m = self;
	must(bytes == 8 && !(address & 7) && address >= BASE && address - BASE < TABLE_MOST);
	*value = 0;
	if (address - BASE < m->memory_bytes)
		memcpy(value, m->memory + (address - BASE), m->memory_bytes - (address - BASE) < 8 ? m->memory_bytes - (address - BASE) : 8);
	return ST_OK;
}

static const struct access_ops ops = { .pci_read32 = pci_read32, .mmio_read = mmio_read };

#define COMMON .instances = 64, .counters = 4, .width = 48, .control_stride = 1, .counter_stride = 1, .enable = 0x400000, .selectable = 0xFFC6FFFF, .box_reset = 0x300, .box_freeze = 1
static const struct uncore_box boxes[] = {
	{ .name = "cha", .space = UNCORE_MSR, .type = 1, .within_first = 0x2000, .within_last = 0x3FFF, COMMON },
	{ .name = "imc", .space = UNCORE_MMIO, .type = 7, .within_first = 0x100000, COMMON },
	{ .name = "m2m", .space = UNCORE_PCI, .type = 8, COMMON },
};

/* The register at a place's offset, as the guard lists it. */
static bool listed(const struct box_places *l, const struct processor *p, const struct box_place *at, uint64_t offset)
{
	struct msr_guard_placed r;
	const bool yes = msr_guard_placed_listed(l, p, boxes[at->box].space, at->base + offset, &r);
	must(!yes || (r.bytes && r.box >= boxes && r.box < boxes + COUNT_OF(boxes) && r.what));
	return yes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct box_places l, again;
	struct machine m = { data, data + (size < SPACE_BYTES ? size : SPACE_BYTES), size < SPACE_BYTES ? size : SPACE_BYTES, size < SPACE_BYTES ? 0 : size - SPACE_BYTES };
	const struct access a = { .ops = &ops, .self = &m };
	const struct processor p = { .name = "fuzz", .boxes = boxes, .box_count = COUNT_OF(boxes) };
	must(box_place_find(&a, &p, &l) == ST_OK && box_place_find(&a, &p, &again) == ST_OK && !memcmp(&l, &again, sizeof(l)));
	must(l.count <= BOX_PLACES_MAX && l.tellers <= 1 && (!l.count || l.tables) && (!l.refused == !l.why));
	for (unsigned i = 0; i < l.count; i++) {
		const struct box_place *at = &l.list[i];
		const struct uncore_box *b = &boxes[at->box];
		must(at->box < COUNT_OF(boxes) && at->instance < BOX_INSTANCES && at->counters >= b->counters && at->control && at->counter && at->width >= 32 && at->width <= 48);
		must(at->base >= b->within_first && box_place_of(&l, at->box, at->teller, at->instance) == at);
		if (b->space == UNCORE_MSR)
			must(at->base + at->control + 3 <= 0x3FFF && at->base + at->counter + 3 <= 0x3FFF);
		if (b->space == UNCORE_PCI) {
			const struct pci_address reg = box_place_decoded(at->base, at->counter);
			must((at->base & 0xFFF) + at->counter + 7 <= 0xFFF && box_place_encoded(reg) == at->base + at->counter);
		}
		must(listed(&l, &p, at, 0) && listed(&l, &p, at, at->control) && listed(&l, &p, at, at->counter + 3u));
	}
	return 0;
}
