/* efi/platform/hmat.c: see hmat.h. ACPI 6.5, 5.2.29.4: structure type 1; flags (8): hierarchy in bits 0-3, 0 is memory;
 * data type (9); number of initiators (12) and of targets (16); entry base unit (24), 64 bits; from 32 on the domains of
 * initiators and of targets (32 bits each), then entries of 16 bits, row by row. Entry 0: no information, 0xFFFF:
 * unreachable. */
#include "efi/platform/hmat.h"
#include "pmu/text.h"

#define LIST 32u

static uint32_t get(const uint8_t *p, unsigned bytes)
{
	uint32_t v = 0;
	for (unsigned i = 0; i < bytes; i++)
		v |= (uint32_t)p[i] << 8 * i;
	return v;
}

/* Index of a domain in a list of n, n if absent. */
static uint32_t index_of(const uint8_t *list, uint32_t n, uint32_t domain)
{
	uint32_t i = 0;
	while (i < n && get(list + (size_t)4 * i, 4) != domain)
		i++;
	return i;
}

static bool entry_of(const uint8_t *s, uint32_t length, enum hmat_type type, uint32_t from, uint32_t to, uint64_t *value)
{
	if (length < LIST || get(s, 2) != 1 || (s[8] & 15) != 0 || s[9] != type)
		return false;
	uint32_t n = get(s + 12, 4), m = get(s + 16, 4);
	uint64_t unit = get(s + 24, 4) | (uint64_t)get(s + 28, 4) << 32;
	if (n > 0x1000 || m > 0x1000 || unit == 0 || unit > UINT64_MAX / 0x10000 || LIST + 4ull * n + 4ull * m + 2ull * n * m > length)
		return false;
	uint32_t i = index_of(s + LIST, n, from), k = index_of(s + LIST + (size_t)4 * n, m, to);
	if (i == n || k == m)
		return false;
	uint32_t entry = get(s + LIST + (size_t)4 * n + (size_t)4 * m + 2 * ((size_t)i * m + k), 2);
	*value = entry * unit;
	return entry != 0 && entry != 0xFFFF;
}

bool hmat_entry(const struct acpi *a, enum hmat_type type, unsigned from, unsigned to, uint64_t *value)
{
	for (unsigned i = 0; a->hmat_there && a->srat && from < a->nodes && to < a->nodes && i < a->table_count; i++) {
		const struct acpi_table *t = &a->tables[i];
		if (!str_equal(t->signature, "HMAT"))
			continue;
		for (uint32_t at = 40; at < t->bytes && t->bytes - at >= 8;) {
			uint32_t length = get(t->at + at + 4, 4);
			if (length < 8 || length > t->bytes - at)
				break;
			if (entry_of(t->at + at, length, type, a->node_domain[from], a->node_domain[to], value))
				return true;
			at += length;
		}
	}
	return false;
}
