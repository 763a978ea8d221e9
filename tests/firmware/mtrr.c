/* tests/firmware/mtrr.c: which memory is taken as write-back. */
#include <string.h>

#include "efi/processor/mtrr.h"
#include "tests/firmware/parts.h"

#define GIB  (1ull << 30)
#define WB   6u
#define ON   0x800ull

/* A range of a power of two of bytes, whose mask has bits up to `bits`. */
static void add(struct mtrrs *m, uint64_t base, uint64_t bytes, unsigned type, unsigned bits)
{
	m->base[m->count] = base | type;
	m->mask[m->count++] = ((1ull << bits) - bytes) | ON;
}

static bool fits(const struct mtrrs *m, uint64_t from, uint64_t to, uint64_t bytes, uint64_t align, uint64_t want)
{
	uint64_t at = 0;
	return mtrr_fit(m, from, to, bytes, align, &at) && at == want;
}

void mtrr_parts(void)
{
	uint64_t at;
	struct mtrrs intel = { .on = true, .preset = WB }, amd = { .on = true }, plain = { .on = true }, keys = { .on = true };
	add(&intel, 2 * GIB, 2 * GIB, 0, 46); /* devices below 4 GiB */
	claim(fits(&intel, GIB, 8 * GIB, 4096, 4096, 8 * GIB - 4096), "mtrr_preset_write_back_reaches_the_top");
	claim(fits(&intel, GIB, 4 * GIB, 4096, 4096, 2 * GIB - 4096), "mtrr_range_of_devices_is_passed_over");
	claim(!mtrr_fit(&intel, 2 * GIB, 4 * GIB, 4096, 4096, &at), "mtrr_range_of_devices_has_nothing");
	claim(fits(&intel, GIB, 4 * GIB + 0x100000, 0x200000, 0x200000, 2 * GIB - 0x200000), "mtrr_large_page_does_not_reach_into_devices");

	add(&plain, 0, 2 * GIB, WB, 46);
	add(&plain, 4 * GIB, 4 * GIB, WB, 46);
	claim(fits(&plain, 0, 8 * GIB, GIB, GIB, 7 * GIB), "mtrr_range_above_4_gib_is_taken");
	claim(fits(&plain, 0, 5 * GIB - 4096, GIB, GIB, GIB), "mtrr_between_two_ranges_is_nothing");
	/* 4096 bytes a step would take an hour */
	claim(!mtrr_fit(&plain, 8 * GIB, 1ull << 46, 4096, 4096, &at), "mtrr_64_tib_without_a_type_are_refused_at_once");

	add(&amd, 0, 2 * GIB, WB, 48);
	claim(!mtrr_fit(&amd, 4 * GIB, 64 * GIB, 4096, 4096, &at), "mtrr_amd_without_tom2_has_nothing_above_4_gib");
	amd.wb_above = 64 * GIB;
	claim(fits(&amd, 4 * GIB, 64 * GIB, GIB, GIB, 63 * GIB), "mtrr_amd_tom2_forces_write_back_above_4_gib");
	claim(fits(&amd, 4 * GIB, 80 * GIB, GIB, GIB, 63 * GIB), "mtrr_amd_tom2_ends_there");
	claim(!mtrr_fit(&amd, 2 * GIB, 4 * GIB, 4096, 4096, &at), "mtrr_amd_tom2_does_not_reach_below_4_gib");
	add(&amd, 32 * GIB, 32 * GIB, 0, 48);
	claim(fits(&amd, 4 * GIB, 64 * GIB, GIB, GIB, 31 * GIB), "mtrr_amd_ranges_outweigh_tom2");

	add(&keys, 0, 2 * GIB, WB, 39); /* of 46 bits 7 are an encryption's key */
	add(&keys, 4 * GIB, 4 * GIB, WB, 39);
	claim(fits(&keys, 0, 8 * GIB, 2 * GIB, GIB, 6 * GIB), "mtrr_masks_without_the_bits_of_a_key_are_read");
	claim(fits(&keys, 0, 4 * GIB, GIB, GIB, GIB), "mtrr_masks_without_the_bits_of_a_key_end_where_they_do");
	const struct mtrrs off = { .on = false };
	claim(fits(&off, 0, 8 * GIB, GIB, GIB, 7 * GIB), "mtrr_switched_off_leave_all");
}
