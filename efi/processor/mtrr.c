/* efi/processor/mtrr.c: see mtrr.h. Needs no firmware, so that tests run it anywhere. */
#include "efi/processor/mtrr.h"

#define TYPE_WB       6u
#define RANGE_VALID   0x800ull
#define ADDRESS_BITS  0x000FFFFFFFFFF000ull
#define FOUR_GIB      0x100000000ull

/* Range i, if it is in use. Its size is the lowest set bit of its mask: firmware always uses contiguous masks, and their upper bits may be clear
 * where memory encryption uses them for its key id (SDM vol. 3, IA32_TME_ACTIVATE). */
static bool range(const struct mtrrs *m, unsigned i, uint64_t *base, uint64_t *end)
{
	const uint64_t mask = m->mask[i] & ADDRESS_BITS;
	if ((m->mask[i] & RANGE_VALID) == 0 || mask == 0)
		return false;
	*base = m->base[i] & mask;
	*end = *base + (mask & (0 - mask));
	return true;
}

/* Whether [at, end) is write-back. If not, nor is any range of that size that ends between *below and `end`. */
static bool write_back(const struct mtrrs *m, uint64_t at, uint64_t end, uint64_t *below)
{
	uint64_t base, top, last = 0;
	bool covered = false;
	if (!m->on)
		return true; /* only page attributes decide, if anything does */
	for (unsigned i = 0; i < m->count; i++) {
		if (!range(m, i, &base, &top))
			continue;
		const bool wb = (m->base[i] & 0xFF) == TYPE_WB;
		if (wb && top < end && top > last)
			last = top;
		if (end <= base || at >= top)
			continue;
		if (!wb || at < base || end > top) {
			*below = end > top ? top : base;
			return false;
		}
		covered = true;
	}
	if (covered || m->preset == TYPE_WB || (at >= FOUR_GIB && end <= m->wb_above))
		return true;
	if (m->wb_above < end && m->wb_above > last)
		last = m->wb_above;
	*below = last;
	return false;
}

bool mtrr_fit(const struct mtrrs *m, uint64_t from, uint64_t to, uint64_t bytes, uint64_t align, uint64_t *at)
{
	uint64_t below = 0;
	while (to >= bytes) {
		*at = (to - bytes) & ~(align - 1);
		if (*at < from)
			return false;
		if (write_back(m, *at, *at + bytes, &below))
			return true;
		to = below;
	}
	return false;
}
