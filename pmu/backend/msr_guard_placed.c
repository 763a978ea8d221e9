/* pmu/backend/msr_guard_placed.c: the guard's part for uncore boxes that the machine locates: finds a register in the processor's description. */
#include "pmu/backend/msr_guard.h"

enum afterwards { PUT_BACK, LEFT };

struct register_search { const struct uncore_box *b; uint64_t offset; struct msr_guard_placed *out; };

/* Matches the register of `bits` at `reg` against the one sought. In configuration space each half is a register; a wide one in memory is written
 * whole. */
static void take(const struct register_search *k, uint32_t reg, uint64_t bits, unsigned bytes, enum afterwards afterwards, const char *what)
{
	const bool pci = k->b->space == UNCORE_PCI, high = pci && bits >> 32 && k->offset == reg + 4u;
	if (k->offset != reg && !high)
		return;
	const uint64_t mask = high ? bits >> 32 : pci ? bits & UINT32_MAX : bits;
	*k->out = (struct msr_guard_placed){ .mask = k->out->mask | mask, .restore = afterwards == PUT_BACK, .bytes = (uint8_t)(pci ? 4 : bytes), .box = k->b,
	                                     .offset = (uint32_t)k->offset, .what = what };
}

static void take_own(const struct register_search *k, const struct box_place *at)
{
	const struct uncore_box *b = k->b;
	const unsigned counter_bytes = b->width > 32 ? 8 : 4, select_bytes = 4;
	const uint64_t count = b->width >= 64 ? UINT64_MAX : (1ull << b->width) - 1;
	for (unsigned c = 0; c < b->counters; c++) {
		take(k, box_place_select(at, b, c), b->space == UNCORE_MMIO ? b->selectable & UINT32_MAX : b->selectable, select_bytes, PUT_BACK, "select of a counter");
		take(k, box_place_counter(at, b, c), count, counter_bytes, PUT_BACK, "counter");
	}
	if (b->fixed_control) {
		take(k, b->fixed_control, b->fixed_enable | b->fixed_reset, select_bytes, PUT_BACK, "control of the fixed counter");
		take(k, b->fixed_counter, count, counter_bytes, PUT_BACK, "fixed counter");
	}
	for (unsigned f = 0; f < b->filter_count; f++)
		take(k, b->filters[f].reg, ((2ull << b->filters[f].high) - 1) & ~((1ull << b->filters[f].low) - 1), select_bytes, PUT_BACK, "filter of the box");
	if (b->box_control || b->type)
		take(k, b->box_control, b->box_keep | b->box_reset | b->box_freeze, select_bytes, LEFT, "resets and freezes the box");
	if (b->box_status)
		take(k, b->box_status, b->box_status_mask, select_bytes, LEFT, "overflow bits, cleared by writing 1");
}

bool msr_guard_placed_listed(const struct box_places *l, const struct processor *p, unsigned space, uint64_t address, struct msr_guard_placed *out)
{
	*out = (struct msr_guard_placed){ 0 };
	for (unsigned i = 0; i < l->count && !out->bytes; i++) {
		const struct uncore_box *b = &p->boxes[l->list[i].box];
		const struct register_search k = { b, address - l->list[i].base, out };
		if (b->space == space && !b->free_running && address >= l->list[i].base && k.offset <= UINT32_MAX)
			take_own(&k, &l->list[i]);
	}
	return out->bytes != 0;
}
