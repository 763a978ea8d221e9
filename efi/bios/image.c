/* efi/bios/image.c: loads a PE32+ file (PE format: "COFF File Header", "Optional Header", "Section Table", "The .reloc
 * Section"; UEFI 2.1.1). Its signatures are not verified: a BIOS has no key database. */
#include "efi/bios/loader.h"

#define MACHINE_X64     0x8664u
#define MAGIC_PE32_PLUS 0x20Bu
#define EFI_APPLICATION 10u
#define OPTIONAL_AT        24u       /* from the signature */
#define DIRECTORIES     112u      /* offset in the optional header; 8 bytes each, number 5: base relocations */
#define RELOCATIONS     5u
#define SECTION_BYTES   40u
#define SECTIONS_MOST   96u       /* that Windows's loader accepts */
#define IMAGE_MOST      (256u << 20)
#define PAGE            4096u

static uint16_t u16_at(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }
static uint32_t u32_at(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static uint64_t u64_at(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }

/* Blocks of {page, bytes} and words {type:4, offset:12}: type 0 is padding, 10 a 64-bit address. */
static bool relocate(uint8_t *base, uint32_t image_bytes, uint32_t at, uint32_t bytes, uint64_t by)
{
	if (bytes > image_bytes || at > image_bytes - bytes)
		return false;
	for (uint32_t end = at + bytes; end - at >= 8;) {
		uint32_t page = u32_at(base + at), block = u32_at(base + at + 4);
		if (block < 8 || block > end - at)
			return block == 0; /* the rest is padding */
		for (uint32_t i = 8; i + 2 <= block; i += 2) {
			uint16_t word = u16_at(base + at + i);
			uint64_t site = (uint64_t)page + (word & 0xFFF);
			if (word >> 12 == 0)
				continue;
			if (word >> 12 != 10 || site + 8 > image_bytes)
				return false;
			uint64_t value = u64_at(base + site) + by;
			memcpy(base + site, &value, 8);
		}
		at += block;
	}
	return true;
}

/* Copies the sections of a file with a valid header and applies its relocations. */
static bool lay_out(const uint8_t *file, uint64_t bytes, uint64_t table, const uint8_t *optional, uint8_t *base, uint32_t image_bytes)
{
	const uint8_t *head = optional - OPTIONAL_AT, *relocations = optional + DIRECTORIES + 8 * RELOCATIONS;
	for (uint32_t i = 0; i < u16_at(head + 6); i++) {
		const uint8_t *s = file + table + i * SECTION_BYTES;
		uint64_t in_memory = u32_at(s + 8), to = u32_at(s + 12), in_file = u32_at(s + 16), from = u32_at(s + 20);
		uint64_t n = in_memory != 0 && in_memory < in_file ? in_memory : in_file;
		if (to + (in_memory > n ? in_memory : n) > image_bytes || (n != 0 && from + n > bytes))
			return false;
		memcpy(base + to, file + from, n);
	}
	if (u32_at(optional + 108) <= RELOCATIONS || u16_at(head + 20) < DIRECTORIES + 8 * (RELOCATIONS + 1) || u32_at(relocations + 4) == 0)
		return true;
	return relocate(base, image_bytes, u32_at(relocations), u32_at(relocations + 4), (uintptr_t)base - u64_at(optional + 24));
}

enum status image_load(const uint8_t *file, uint64_t bytes, struct image *out)
{
	EFI_PHYSICAL_ADDRESS at = UINT32_MAX;
	uint64_t pe = bytes >= 64 && file[0] == 'M' && file[1] == 'Z' ? u32_at(file + 60) : bytes;
	if (pe >= bytes || bytes - pe < OPTIONAL_AT + DIRECTORIES || memcmp(file + pe, "PE\0", 4) != 0)
		return ST_SYNTAX;
	const uint8_t *head = file + pe, *optional = head + OPTIONAL_AT;
	uint32_t sections = u16_at(head + 6), optional_bytes = u16_at(head + 20), entry = u32_at(optional + 16);
	uint32_t image_bytes = u32_at(optional + 56), head_bytes = u32_at(optional + 60);
	uint64_t table = pe + OPTIONAL_AT + optional_bytes;
	if (u16_at(head + 4) != MACHINE_X64 || u16_at(optional) != MAGIC_PE32_PLUS || u16_at(optional + 68) != EFI_APPLICATION ||
	    image_bytes == 0 || image_bytes > IMAGE_MOST || head_bytes > bytes || head_bytes > image_bytes || entry >= image_bytes ||
	    optional_bytes < DIRECTORIES || sections > SECTIONS_MOST || table + sections * SECTION_BYTES > bytes)
		return ST_SYNTAX;
	UINTN pages = (image_bytes + PAGE - 1) / PAGE;
	if (memory_allocate_pages(AllocateMaxAddress, EfiLoaderCode, pages, &at) != EFI_SUCCESS)
		return ST_FULL;
	uint8_t *base = (uint8_t *)(uintptr_t)at;
	memset(base, 0, pages * PAGE);
	memcpy(base, file, head_bytes);
	if (!lay_out(file, bytes, table, optional, base, image_bytes))
		return memory_free_pages(at, pages) == EFI_SUCCESS ? ST_SYNTAX : ST_BROKEN;
	*out = (struct image){ at, image_bytes, (EFI_STATUS(EFIAPI *)(EFI_HANDLE, EFI_SYSTEM_TABLE *))(uintptr_t)(at + entry) };
	return ST_OK;
}
