/* efi/platform/smbios.c: SMBIOS structures by DMTF DSP0134 3.6: entry points 5.2, types 0, 1, 2, 17, 38. */
#include "efi/platform/smbios.h"
#include "efi/firmware/console.h"
#include "efi/platform/acpi.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

#define TABLE_BYTES_MAX 0x100000u
#define BIOS_AREA       0xF0000u
#define BIOS_AREA_END   0x100000u

static const EFI_GUID smbios3 = SMBIOS3_TABLE_GUID;
static const EFI_GUID smbios2 = SMBIOS_TABLE_GUID;

struct structure { const uint8_t *at, *strings, *end; uint8_t type, bytes; };

static uint64_t number(const struct structure *s, unsigned offset, unsigned bytes)
{
	uint64_t v = 0;
	if (offset + bytes <= s->bytes)
		memcpy(&v, s->at + offset, bytes);
	return v;
}

/* The string whose number is at `offset` of the formatted area; 1 is the first of the string set that follows. */
static void string(const struct structure *s, unsigned offset, char *to)
{
	uint64_t n = number(s, offset, 1);
	const uint8_t *p = s->strings;
	size_t k = 0;
	to[0] = 0;
	if (n == 0)
		return;
	while (--n > 0) {
		while (p < s->end && *p != 0)
			p++;
		p++;
		if (p >= s->end || *p == 0)
			return;
	}
	while (p < s->end && *p == ' ')
		p++;
	for (; p < s->end && *p != 0 && k + 1 < SMBIOS_TEXT; p++)
		to[k++] = *p >= ' ' && *p <= '~' ? (char)*p : '?';
	while (k > 0 && to[k - 1] == ' ')
		k--;
	to[k] = 0;
}

static void module(struct smbios *m, const struct structure *s)
{
	uint64_t size = number(s, 0x0C, 2);
	if (size == 0 || size == 0xFFFF || m->module_count == SMBIOS_MODULES)
		return;
	struct smbios_module *d = &m->modules[m->module_count++];
	/* Bit 15: KiB instead of MiB; 0x7FFF: see the extended size in MiB at 0x1C. */
	if (size == 0x7FFF)
		d->bytes = (number(s, 0x1C, 4) & 0x7FFFFFFF) << 20;
	else
		d->bytes = (size & 0x8000) != 0 ? (size & 0x7FFF) << 10 : size << 20;
	string(s, 0x10, d->locator);
	string(s, 0x17, d->maker);
	string(s, 0x1A, d->part);
	d->mts = (uint16_t)number(s, 0x15, 2);
	d->configured_mts = (uint16_t)number(s, 0x20, 2);
}

/* Type 38, DSP0134 7.39: interface type 1 is KCS. Bit 0 of the address marks an I/O port; the address's own bit 0 is bit 4 of
 * the modifier, whose upper two bits hold the spacing of the registers. */
static void controller(struct smbios *m, const struct structure *s)
{
	const uint64_t base = number(s, 8, 8), modifier = number(s, 0x10, 1), spacing = modifier >> 6;
	if (number(s, 4, 1) != 1 || spacing == 3)
		return;
	m->kcs = (base & ~1ull) | (modifier >> 4 & 1);
	m->kcs_memory = (base & 1) == 0;
	m->kcs_spacing = 1u << 2 * spacing;
}

static void take(struct smbios *m, const struct structure *s)
{
	switch (s->type) {
	case 0:
		string(s, 4, m->bios_vendor);
		string(s, 5, m->bios_version);
		string(s, 8, m->bios_date);
		break;
	case 1:
		string(s, 4, m->maker);
		string(s, 5, m->product);
		string(s, 6, m->version);
		string(s, 7, m->serial);
		if (s->bytes >= 24)
			memcpy(m->uuid, s->at + 8, 16);
		break;
	case 2:
		if (m->board[0] == 0) {
			string(s, 4, m->board_maker);
			string(s, 5, m->board);
		}
		break;
	case 17:
		module(m, s);
		break;
	case 38:
		controller(m, s);
		break;
	}
}

/* Firmware leaves the entry point, and sometimes the structures, in the BIOS area, where DSP0134 5.2.1 has software search and which the
 * memory map need not list. */
static bool readable(uint64_t at, uint64_t bytes)
{
	return (at >= BIOS_AREA && at + bytes <= BIOS_AREA_END) || uefi_memory_holds(at, bytes);
}

void smbios_open(struct smbios *m)
{
	const uint8_t *entry, *at = NULL;
	uint64_t address = 0;
	uint32_t bytes = 0;
	memset(m, 0, sizeof(*m));
	if ((entry = uefi_table(&smbios3)) != NULL && readable((uintptr_t)entry, 24) && memcmp(entry, "_SM3_", 5) == 0) {
		memcpy(&bytes, entry + 12, 4);
		memcpy(&address, entry + 16, 8);
	} else if ((entry = uefi_table(&smbios2)) != NULL && readable((uintptr_t)entry, 31) && memcmp(entry, "_SM_", 4) == 0) {
		memcpy(&bytes, entry + 0x16, 2);
		memcpy(&address, entry + 0x18, 4);
	}
	if (address == 0 || bytes == 0 || bytes > TABLE_BYTES_MAX)
		return;
	/* SMBIOS 3 gives an upper bound (5.2.2): the structures may be shorter. */
	while (bytes > 0 && !readable(address, bytes))
		bytes /= 2;
	m->found = true;
	at = (const uint8_t *)(uintptr_t)address;
	fault_inject_smbios(&at, &bytes);
	for (const uint8_t *end = at + bytes; at + 4 <= end;) {
		struct structure s = { .at = at, .type = at[0], .bytes = at[1], .end = end };
		if (s.type == 127)
			break;
		if (s.bytes < 4 || s.at + s.bytes > end) {
			print("smbios: a structure is damaged; it and all after it are ignored\n");
			break;
		}
		s.strings = at + s.bytes;
		take(m, &s);
		/* The string set ends with two zeros. */
		at = s.strings;
		while (at + 1 < end && (at[0] != 0 || at[1] != 0))
			at++;
		at += 2;
	}
}

uint64_t smbios_identity(const struct smbios *s)
{
	uint64_t h = fnv1a64(FNV1A64_START, s->uuid, sizeof(s->uuid));
	const char *const texts[] = { s->serial, s->maker, s->product, s->board_maker, s->board };
	for (unsigned i = 0; i < COUNT_OF(texts); i++)
		h = fnv1a64(h, texts[i], str_length(texts[i]) + 1);
	return h;
}
