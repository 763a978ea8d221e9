/* efi/processor/memory.c: page tables (SDM vol. 3, 4.5) and memory types (SDM vol. 3, 12.11). */
#include "efi/processor/memory.h"
#include "efi/processor/mtrr.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

#define PRESENT_RW_AD 0x63ull /* present, writable, accessed and dirty already set: no assists */
#define PAGE_SIZE_BIT 0x80ull
#define NO_EXECUTE    (1ull << 63)
#define ADDRESS_MASK  0x000FFFFFFFFFF000ull
#define CR4_LA57      (1ull << 12)
#define MSR_EFER      0xC0000080u
#define LOW_LIMIT     0x1000000ull /* the firmware's legacy ranges and the fixed MTRRs are below 16 MiB */

#define SPACE_ENTRY  (SPACE_BASE >> 39 & 511)

/* --- page tables --------------------------------------------------------------------------------- */
enum status space_open(struct space *w, const struct acpi *acpi)
{
	uint64_t cr3, cr4;
	uint32_t r[4];
	w->acpi = acpi;
	w->nx = (msr_read(MSR_EFER) >> 11 & 1) != 0;
	cpuid_raw(0x80000001, 0, r);
	w->page_1g = (r[3] >> 26 & 1) != 0;
	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
	w->level4 = pages_get(0x1000);
	w->level5 = (cr4 & CR4_LA57) != 0 ? pages_get(0x1000) : NULL;
	uint64_t *entry = pages_get(0x1000);
	if (w->level4 == NULL || entry == NULL || ((cr4 & CR4_LA57) != 0 && w->level5 == NULL))
		return ST_FULL;
	w->level4[SPACE_ENTRY] = (uint64_t)(uintptr_t)entry | PRESENT_RW_AD;
	w->cr3 = (uint64_t)(uintptr_t)(w->level5 != NULL ? w->level5 : w->level4) | (cr3 & 0x18);
	space_refresh(w);
	return ST_OK;
}

void space_refresh(struct space *w)
{
	uint64_t cr3;
	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	const uint64_t *theirs = (const uint64_t *)(uintptr_t)(cr3 & ADDRESS_MASK);
	if (w->level5 != NULL) {
		/* Entry 0 covers everything below 256 TiB; it points to our own level 4. */
		for (unsigned i = 1; i < 512; i++)
			if (w->level5[i] != theirs[i])
				w->level5[i] = theirs[i];
		w->level5[0] = (uint64_t)(uintptr_t)w->level4 | PRESENT_RW_AD;
		theirs = (const uint64_t *)(uintptr_t)(theirs[0] & ADDRESS_MASK);
	}
	for (unsigned i = 0; i < 512; i++)
		if (i != SPACE_ENTRY && w->level4[i] != theirs[i])
			w->level4[i] = theirs[i];
}

static unsigned leaf_level(uint64_t page)
{
	return page == PAGE_1G ? 3 : page == PAGE_2M ? 2 : 1;
}

enum tables { TABLES_FIND, TABLES_MAKE };

/* The entry of `va` at `level`; TABLES_MAKE allocates missing tables above it. NULL: no table, no memory, or a large page maps `va`. */
static uint64_t *entry_of(struct space *w, uint64_t va, unsigned level, enum tables tables)
{
	uint64_t *table = w->level4;
	for (unsigned l = 4; l > level; l--) {
		uint64_t *e = &table[va >> (12 + 9 * (l - 1)) & 511];
		if ((*e & 1) == 0) {
			uint64_t *fresh = tables == TABLES_MAKE ? pages_get(0x1000) : NULL;
			if (fresh == NULL)
				return NULL;
			*e = (uint64_t)(uintptr_t)fresh | PRESENT_RW_AD;
		} else if ((*e & PAGE_SIZE_BIT) != 0) {
			return NULL;
		}
		table = (uint64_t *)(uintptr_t)(*e & ADDRESS_MASK);
	}
	return &table[va >> (12 + 9 * (level - 1)) & 511];
}

/* Frees the empty tables that smaller pages left, for a large page. False: an entry is in use. */
static bool make_way(uint64_t *e)
{
	uint64_t *below = (uint64_t *)(uintptr_t)(*e & ADDRESS_MASK);
	if ((*e & PAGE_SIZE_BIT) != 0)
		return false;
	for (unsigned i = 0; i < 512; i++)
		if ((below[i] & 1) != 0 && !make_way(&below[i]))
			return false;
	pages_put(below, 0x1000);
	*e = 0;
	return true;
}

enum status space_map(struct space *w, uint64_t va, uint64_t pa, uint64_t bytes, uint64_t page, bool executable)
{
	unsigned level = leaf_level(page);
	uint64_t bits = PRESENT_RW_AD | (level > 1 ? PAGE_SIZE_BIT : 0) | (executable || !w->nx ? 0 : NO_EXECUTE);
	for (uint64_t at = 0; at < bytes; at += page) {
		uint64_t *e = entry_of(w, va + at, level, TABLES_MAKE);
		enum status s = e == NULL ? ST_FULL : ST_OK;
		if (e != NULL && (*e & 1) != 0 && (level == 1 || !make_way(e)))
			s = ST_BROKEN;
		if (s != ST_OK) {
			space_unmap(w, va, at, page);
			return s;
		}
		*e = (pa + at) | bits;
	}
	return ST_OK;
}

void space_unmap(struct space *w, uint64_t va, uint64_t bytes, uint64_t page)
{
	for (uint64_t at = 0; at < bytes; at += page) {
		uint64_t *e = entry_of(w, va + at, leaf_level(page), TABLES_FIND);
		if (e != NULL)
			*e = 0;
	}
}

/* --- memory types -------------------------------------------------------------------------------- */
static void read_types(struct mtrrs *m, uint64_t wb_above)
{
	uint32_t r[4];
	memset(m, 0, sizeof(*m));
	cpuid_raw(1, 0, r);
	if ((r[3] >> 12 & 1) == 0)
		return;
	uint64_t preset = msr_read(0x2FF); /* IA32_MTRR_DEF_TYPE: [11] on, [7:0] default type */
	m->on = (preset >> 11 & 1) != 0;
	m->preset = (uint8_t)preset;
	m->wb_above = wb_above;
	m->count = (unsigned)(msr_read(0xFE) & 0xFF); /* IA32_MTRRCAP: variable ranges */
	if (m->count > MTRR_MAX)
		m->count = MTRR_MAX;
	for (unsigned i = 0; i < m->count; i++) {
		m->base[i] = msr_read(0x200 + 2 * i);
		m->mask[i] = msr_read(0x201 + 2 * i);
	}
}

/* --- physical memory ----------------------------------------------------------------------------- */
/* Allocates `bytes` in [from, to), from the top down. */
static bool take_from(const struct mtrrs *m, uint64_t from, uint64_t to, uint64_t bytes, uint64_t align, uint64_t *pa)
{
	uint64_t at;
	for (from = from < LOW_LIMIT ? LOW_LIMIT : from; mtrr_fit(m, from, to, bytes, align, &at); to = at + bytes - align) {
		EFI_PHYSICAL_ADDRESS address = at;
		if (uefi.boot->AllocatePages(AllocateAddress, EfiLoaderData, bytes >> 12, &address) == EFI_SUCCESS) {
			*pa = at;
			return true;
		}
		if (at < align)
			break;
	}
	return false;
}

enum status physical_get(const struct acpi *acpi, uint64_t wb_above, uint64_t bytes, uint64_t align, unsigned node, uint64_t *pa)
{
	UINTN size = 0, key, step;
	UINT32 version;
	struct mtrrs types;
	enum status result = ST_FULL;

	if (bytes == 0 || (bytes & 0xFFF) != 0)
		return ST_RANGE;
	read_types(&types, wb_above);
	if (uefi.boot->GetMemoryMap(&size, NULL, &key, &step, &version) != EFI_BUFFER_TOO_SMALL)
		return ST_IO;
	size += 16 * step; /* the map grows by the memory that holds it */
	size_t capacity = size;
	uint8_t *map = pages_get(capacity);
	if (map == NULL)
		return ST_FULL;
	if (uefi.boot->GetMemoryMap(&size, (EFI_MEMORY_DESCRIPTOR *)map, &key, &step, &version) != EFI_SUCCESS)
		size = 0;
	for (UINTN at = 0; at + step <= size && result != ST_OK; at += step) {
		const EFI_MEMORY_DESCRIPTOR *d = (const EFI_MEMORY_DESCRIPTOR *)(map + at);
		if (d->Type != EfiConventionalMemory)
			continue;
		for (unsigned i = 0; i < acpi->range_count && result != ST_OK; i++) {
			const struct node_range *n = &acpi->ranges[i];
			uint64_t from = d->PhysicalStart, to = from + (d->NumberOfPages << 12);
			if (n->node != node)
				continue;
			if (from < n->from)
				from = n->from;
			if (to > n->to)
				to = n->to;
			if (to > from && take_from(&types, from, to, bytes, align, pa))
				result = ST_OK;
		}
	}
	pages_put(map, capacity);
	if (result == ST_OK)
		memset((void *)(uintptr_t)*pa, 0, bytes);
	return result;
}

void physical_put(uint64_t pa, uint64_t bytes)
{
	uefi.boot->FreePages(pa, bytes >> 12);
}
