/* efi/processor/mtrr.h: physical memory that the processor caches write-back: MTRRs (SDM vol. 3, 12.11), and AMD's TOM2 (APM vol. 2, 7.9.6). */
#ifndef EFI_MTRR_H
#define EFI_MTRR_H

#include "pmu/base.h"

#define MTRR_MAX 32u

struct mtrrs {
	bool on;           /* MTRRs exist and are enabled; otherwise page attributes alone decide */
	uint8_t preset;    /* default type, outside all variable ranges */
	uint64_t wb_above; /* AMD's TOM2 if it forces write-back: [4 GiB, wb_above) then has that type instead of the default; else 0 */
	unsigned count;
	uint64_t base[MTRR_MAX], mask[MTRR_MAX]; /* register values */
};

/* The highest multiple of `align` (a power of two) at which `bytes` bytes of [from, to) are write-back throughout; a block that crosses the
 * boundary of an MTRR's range does not count. False: nowhere. */
bool mtrr_fit(const struct mtrrs *m, uint64_t from, uint64_t to, uint64_t bytes, uint64_t align, uint64_t *at);

#endif
