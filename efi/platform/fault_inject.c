/* efi/platform/fault_inject.c: a switch for tests that truncates one ACPI table of this boot, or SMBIOS (SMBI), or fills it
 * with noise before anything reads it. FWCFG_ACPI: "SIGNATURE:cut:SEED" or "SIGNATURE:noise:SEED"; with an odd seed an ACPI
 * table's checksum is corrected. */
#include "efi/platform/acpi.h"
#include "efi/firmware/console.h"
#include "efi/firmware/fwcfg.h"
#include "efi/platform/smbios.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's MMIX */
	return *state >> 33;
}

static void damage(struct acpi_table *t, bool cut, uint64_t seed)
{
	uint64_t state = seed;
	uint8_t *copy = pages_get(t->bytes), sum = 0;
	if (copy == NULL)
		return;
	memcpy(copy, t->at, t->bytes);
	if (cut) {
		t->bytes = (uint32_t)(36 + next(&state) % (t->bytes - 35));
		memcpy(copy + 4, &t->bytes, 4);
	} else {
		for (uint32_t i = 36; i < t->bytes; i++)
			copy[i] = (uint8_t)next(&state);
	}
	for (uint32_t i = 0; i < t->bytes; i++)
		sum = (uint8_t)(sum + copy[i]);
	if ((seed & 1) != 0)
		copy[9] = (uint8_t)(copy[9] - sum);
	t->at = copy; /* never freed */
	print("# %s is %s now, %u bytes\n", t->signature, cut ? "cut" : "noise", t->bytes);
}

/* The switch: the table, the kind of damage, the seed. */
struct injected_fault { char signature[5]; bool cut; uint64_t seed; };

static bool wished(struct injected_fault *w)
{
	char text[64], *kind, *seed;
	if (fwcfg_read(FWCFG_ACPI, text, sizeof(text)) != ST_OK || str_length(text) < 7 || text[4] != ':')
		return false;
	text[4] = 0;
	for (kind = seed = text + 5; *seed != 0 && *seed != ':'; seed++)
		;
	if (*seed == 0 || parse_u64(seed + 1, str_length(seed + 1), &w->seed) != ST_OK)
		return false;
	*seed = 0;
	str_copy(w->signature, sizeof(w->signature), text);
	w->cut = str_equal(kind, "cut");
	return true;
}

void fault_inject_acpi(struct acpi *a)
{
	struct injected_fault w;
	for (unsigned i = 0; wished(&w) && i < a->table_count; i++)
		if (str_equal(a->tables[i].signature, w.signature))
			damage(&a->tables[i], w.cut, w.seed);
}

/* Noise hits one byte in 50: some structures must stay intact, otherwise nothing would be read. */
void fault_inject_smbios(const uint8_t **at, uint32_t *bytes)
{
	struct injected_fault w;
	if (!wished(&w) || !str_equal(w.signature, "SMBI") || *bytes == 0)
		return;
	uint64_t state = w.seed;
	uint8_t *copy = pages_get(*bytes);
	if (copy == NULL)
		return;
	memcpy(copy, *at, *bytes);
	if (w.cut)
		*bytes = (uint32_t)(1 + next(&state) % *bytes);
	for (uint32_t i = 0; !w.cut && i < *bytes; i++)
		if (next(&state) % 50 == 0)
			copy[i] = (uint8_t)next(&state);
	*at = copy; /* never freed */
	print("# %s is %s now, %u bytes\n", w.signature, w.cut ? "cut" : "noise", *bytes);
}
