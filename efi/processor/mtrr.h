/* efi/processor/mtrr.h: which physical memory the processor caches write-back: MTRRs (SDM vol. 3, 12.11), and what AMD adds (APM vol. 2, 7.9.6). */
#ifndef EFI_MTRR_H
#define EFI_MTRR_H

#include "pmu/base.h"

#define MTRR_MAX 32u

struct mtrrs {
	bool on;           /* MTRRs are there and enabled; otherwise nothing but page attributes decides */
	uint8_t preset;    /* type where no variable range is */
	uint64_t wb_above; /* AMD's TOM2 where it forces write-back: [4 GiB, wb_above) has that type instead of the preset; else 0 */
	unsigned count;
	uint64_t base[MTRR_MAX], mask[MTRR_MAX]; /* as the registers have them */
};

/* The highest multiple of `align` (a power of two) at which `bytes` bytes of [from, to) are all write-back, in one range: those that MTRRs split
 * are not. False: nowhere. */
bool mtrr_fit(const struct mtrrs *m, uint64_t from, uint64_t to, uint64_t bytes, uint64_t align, uint64_t *at);

#endif
