/* pmu/backend/msr_guard_mapped.c: the guard's part for registers of uncore boxes in memory: checks them against the processor's description, saves
 * and restores them. */
#include "pmu/backend/msr_guard.h"

#define PCI_VENDOR_INTEL 0x8086u
#define HALF_BYTES 4u

enum afterwards { PUT_BACK, LEFT };

enum status msr_guard_mapped_base(const struct access *a, const struct uncore_box *b, uint64_t *base)
{
	struct pci_address at = { .device = b->map_device, .function = b->map_function };
	uint32_t id, half[2];
	enum status s = a->ops->pci_read32(a->self, at, &id);
	for (unsigned i = 0; i < COUNT_OF(half) && s == ST_OK; i++) {
		at.reg = (uint16_t)(b->map_register + HALF_BYTES * i);
		s = a->ops->pci_read32(a->self, at, &half[i]);
	}
	if (s != ST_OK)
		return s;
	const uint64_t window = (uint64_t)half[1] << 32 | half[0];
	*base = window & b->map_mask;
	return (id & 0xFFFF) == PCI_VENDOR_INTEL && (window & b->map_enable) == b->map_enable && *base ? ST_OK : ST_MISSING;
}

/* Matches the offset against a register of `bytes` at `reg` of a box's instance: only its first byte, so that it is accessed whole. */
static void take(uint32_t offset, uint32_t reg, unsigned bytes, uint64_t bits, enum afterwards afterwards, const char *what, struct msr_guard_placed *out)
{
	if (offset == reg)
		*out = (struct msr_guard_placed){ .mask = bits, .restore = afterwards == PUT_BACK, .bytes = (uint8_t)bytes, .what = what };
}

static void take_own(uint32_t offset, const struct uncore_box *b, struct msr_guard_placed *out)
{
	const unsigned bytes = b->width > 32 ? 8 : 4;
	const uint64_t count = b->width >= 64 ? UINT64_MAX : (1ull << b->width) - 1;
	for (unsigned c = 0; c < b->counters; c++) {
		take(offset, b->control + c * b->control_stride, 4, b->selectable, PUT_BACK, "select of a counter", out);
		take(offset, b->counter + c * b->counter_stride, bytes, count, PUT_BACK, "counter", out);
	}
	if (b->fixed_control) {
		take(offset, b->fixed_control, 4, b->fixed_enable | b->fixed_reset, PUT_BACK, "control of the fixed counter", out);
		take(offset, b->fixed_counter, bytes, count, PUT_BACK, "fixed counter", out);
	}
	if (b->box_control)
		take(offset, b->box_control, 4, b->box_keep | b->box_reset | b->box_freeze, LEFT, "resets and freezes the box", out);
	if (b->box_status)
		take(offset, b->box_status, 4, b->box_status_mask, LEFT, "overflow bits, cleared by writing 1", out);
}

bool msr_guard_mapped_listed(const struct access *a, const struct processor *p, const struct box_places *l, uint64_t address, struct msr_guard_placed *out)
{
	if (msr_guard_placed_listed(l, p, UNCORE_MMIO, address, out))
		return true;
	*out = (struct msr_guard_placed){ 0 };
	for (unsigned n = 0; n < p->box_count; n++) {
		const struct uncore_box *b = &p->boxes[n];
		uint64_t base;
		if (b->space != UNCORE_MMIO || b->free_running || box_place_told(b) || msr_guard_mapped_base(a, b, &base) != ST_OK)
			continue;
		for (unsigned i = 0; i < b->instances && !out->bytes; i++) {
			const uint64_t offset = address - base - (uint64_t)i * b->stride;
			if (offset <= UINT32_MAX)
				take_own((uint32_t)offset, b, out);
			if (!out->bytes)
				continue;
			out->box = b;
			out->offset = (uint32_t)offset;
		}
	}
	return out->bytes != 0;
}

static struct msr_guard_saved *find(struct msr_guard *g, uint64_t address)
{
	for (unsigned i = 0; i < g->count; i++)
		if (g->saved[i].bytes && g->saved[i].address == address)
			return &g->saved[i];
	return NULL;
}

enum status msr_guard_mapped_write(struct msr_guard *g, uint64_t address, unsigned width_bytes, uint64_t value)
{
	const struct access *u = g->under;
	struct msr_guard_placed r;
	if (!msr_guard_mapped_listed(u, g->processor, &g->places, address, &r) || width_bytes != r.bytes)
		return ST_REFUSED;
	if (!r.restore)
		return value & ~r.mask ? ST_REFUSED : u->ops->mmio_write(u->self, address, width_bytes, value);
	struct msr_guard_saved *s = find(g, address);
	const bool fresh = !s;
	if (fresh) {
		uint64_t found;
		if (g->count == g->capacity)
			return ST_FULL;
		const enum status st = u->ops->mmio_read(u->self, address, width_bytes, &found);
		if (st != ST_OK)
			return st;
		s = &g->saved[g->count];
		*s = (struct msr_guard_saved){ .restore = true, .value = found, .address = address, .bytes = r.bytes };
	}
	if ((value ^ s->value) & ~r.mask)
		return ST_REFUSED; /* bits outside the mask stay as found */
	if (fresh)
		g->count++;
	return u->ops->mmio_write(u->self, address, width_bytes, value);
}

enum status msr_guard_mapped_put_back(struct msr_guard *g, const struct msr_guard_saved *s)
{
	const struct access *u = g->under;
	struct msr_guard_placed r = { .mask = UINT64_MAX };
	uint64_t now;
	(void)msr_guard_mapped_listed(u, g->processor, &g->places, s->address, &r);
	enum status status = u->ops->mmio_write(u->self, s->address, s->bytes, s->value);
	if (status == ST_OK)
		status = u->ops->mmio_read(u->self, s->address, s->bytes, &now);
	if (status == ST_OK && (now ^ s->value) & r.mask)
		status = ST_BROKEN;
	return status;
}
