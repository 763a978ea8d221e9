/* efi/bios/memory.c: the memory map, built from the BIOS's (ACPI 6.4, 15.1 and table 15.374), and its services (UEFI 7.2).
 *
 * The BIOS's ranges may overlap and come in any order: usable memory is entered first, other types override it. Allocation is
 * top-down, below 512 GiB; memory above that is left out. */
#include "efi/bios/loader.h"

#define RANGES_MAX  1024u
#define MAPPED_TO   (512ull << 30) /* one entry of level 4 */
#define MAPPED_FROM (4ull << 30)   /* efi/bios/start.asm maps the memory below */
#define VIDEO_FROM  0xA0000ull
#define ROM_FROM    0xE0000ull     /* reserved for the BIOS, whether or not its map lists it */
#define ROM_TO      0x100000ull
#define NOTHING     UINT32_MAX
#define PAGE        4096ull

/* Sorted by address; adjacent ranges of one type are merged. NOTHING: no memory, not in the map. */
static struct range { uint64_t from, to; uint32_t type; } ranges[RANGES_MAX];
static unsigned count;
static uint64_t key_now;

static void insert(unsigned at, uint64_t from, uint64_t to, uint32_t type)
{
	memmove(&ranges[at + 1], &ranges[at], (count - at) * sizeof(ranges[0]));
	ranges[at] = (struct range){ from, to, type };
	count++;
}

static void merge(unsigned at)
{
	if (at + 1 < count && ranges[at].type == ranges[at + 1].type) {
		ranges[at].to = ranges[at + 1].to;
		memmove(&ranges[at + 1], &ranges[at + 2], (count - at - 2) * sizeof(ranges[0]));
		count--;
	}
}

/* Makes `address` a boundary between ranges. */
static void split(uint64_t address)
{
	for (unsigned i = 0; i < count; i++)
		if (address > ranges[i].from && address < ranges[i].to) {
			insert(i + 1, address, ranges[i].to, ranges[i].type);
			ranges[i].to = address;
			return;
		}
}

/* Sets the type of [from, to); the ranges always cover [0, MAPPED_TO) without holes. False: too many ranges. */
static bool paint(uint64_t from, uint64_t to, uint32_t type)
{
	if (to > MAPPED_TO)
		to = MAPPED_TO;
	if (from >= to)
		return true;
	if (count + 2 > RANGES_MAX)
		return false;
	split(from);
	split(to);
	for (unsigned i = 0; i < count; i++)
		if (ranges[i].from >= from && ranges[i].to <= to)
			ranges[i].type = type;
	for (unsigned i = count; i-- > 0;)
		merge(i);
	key_now++;
	return true;
}

static uint32_t type_of(uint32_t e820)
{
	switch (e820) {
	case 3: return EfiACPIReclaimMemory;
	case 4: return EfiACPIMemoryNVS;
	case 5: return EfiUnusableMemory;
	default: return EfiReservedMemoryType;
	}
}

enum status memory_init(void)
{
	bool room = true;
	count = 1;
	ranges[0] = (struct range){ 0, MAPPED_TO, NOTHING };
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < bios_map_entries && room; i++) {
			const struct bios_range *r = &bios_map[i];
			uint64_t to = r->base + r->bytes;
			if ((r->attributes & 1) == 0 || to < r->base)
				continue;
			if (r->type == 1 && pass == 0)
				room = paint((r->base + PAGE - 1) & ~(PAGE - 1), to & ~(PAGE - 1), EfiConventionalMemory);
			else if (r->type != 1 && pass == 1)
				room = paint(r->base & ~(PAGE - 1), (to + PAGE - 1) & ~(PAGE - 1), type_of(r->type));
		}
	}
	room = room && paint(0, LOW_FIRST, EfiReservedMemoryType) && paint(LOW_FIRST, LOW_END, EfiRuntimeServicesCode) &&
	       paint((uint64_t)bios_low_kib << 10 & ~(PAGE - 1), VIDEO_FROM, EfiReservedMemoryType) && paint(ROM_FROM, ROM_TO, EfiReservedMemoryType);
	return room ? ST_OK : ST_FULL;
}

static bool find(uint64_t bytes, uint64_t limit, uint64_t *at)
{
	for (unsigned i = count; i-- > 0;) {
		const struct range *r = &ranges[i];
		uint64_t to = r->to < limit ? r->to : limit;
		if (r->type == EfiConventionalMemory && to > r->from && to - r->from >= bytes) {
			*at = to - bytes;
			return true;
		}
	}
	return false;
}

enum use { USE_FREE, USE_TAKEN };

/* Whether all of it is free (conventional memory), or all of it is taken. */
static bool is_all(uint64_t from, uint64_t to, enum use use)
{
	for (unsigned i = 0; i < count; i++) {
		const struct range *r = &ranges[i];
		if (r->from < to && from < r->to && (r->type == NOTHING || (r->type == EfiConventionalMemory) != (use == USE_FREE)))
			return false;
	}
	return to <= MAPPED_TO;
}

EFI_STATUS EFIAPI memory_allocate_pages(EFI_ALLOCATE_TYPE how, EFI_MEMORY_TYPE type, UINTN pages, EFI_PHYSICAL_ADDRESS *at)
{
	uint64_t bytes = (uint64_t)pages * PAGE, address = 0, limit = MAPPED_TO;
	if (at == NULL || (uint32_t)how > AllocateAddress || (uint32_t)type == EfiConventionalMemory)
		return EFI_INVALID_PARAMETER;
	if (pages == 0 || pages > MAPPED_TO / PAGE)
		return EFI_OUT_OF_RESOURCES;
	if (how == AllocateMaxAddress)
		limit = *at < MAPPED_TO ? (*at + 1) & ~(PAGE - 1) : MAPPED_TO;
	if (how == AllocateAddress) {
		address = *at;
		if ((address & (PAGE - 1)) != 0 || address + bytes < address || !is_all(address, address + bytes, USE_FREE))
			return EFI_NOT_FOUND;
	} else if (!find(bytes, limit, &address)) {
		return EFI_OUT_OF_RESOURCES;
	}
	if (!paint(address, address + bytes, type))
		return EFI_OUT_OF_RESOURCES;
	*at = address;
	return EFI_SUCCESS;
}

EFI_STATUS EFIAPI memory_free_pages(EFI_PHYSICAL_ADDRESS at, UINTN pages)
{
	uint64_t bytes = (uint64_t)pages * PAGE;
	if ((at & (PAGE - 1)) != 0 || pages == 0 || pages > MAPPED_TO / PAGE || at + bytes < at)
		return EFI_INVALID_PARAMETER;
	if (!is_all(at, at + bytes, USE_TAKEN))
		return EFI_NOT_FOUND;
	return paint(at, at + bytes, EfiConventionalMemory) ? EFI_SUCCESS : EFI_OUT_OF_RESOURCES;
}

/* Descriptors of 48 bytes: larger than the structure, so that no caller can use its sizeof as their size (UEFI 7.2.3). */
#define STEP 48u
EFI_STATUS EFIAPI memory_get_map(UINTN *size, EFI_MEMORY_DESCRIPTOR *map, UINTN *key, UINTN *step, UINT32 *version)
{
	UINTN need = 0, capacity;
	if (size == NULL)
		return EFI_INVALID_PARAMETER;
	for (unsigned i = 0; i < count; i++)
		need += ranges[i].type != NOTHING ? STEP : 0;
	if (step != NULL)
		*step = STEP;
	if (version != NULL)
		*version = EFI_MEMORY_DESCRIPTOR_VERSION;
	capacity = *size;
	*size = need;
	if (capacity < need)
		return EFI_BUFFER_TOO_SMALL;
	if (map == NULL || key == NULL)
		return EFI_INVALID_PARAMETER;
	uint8_t *to = (uint8_t *)map;
	for (unsigned i = 0; i < count; i++) {
		if (ranges[i].type == NOTHING)
			continue;
		EFI_MEMORY_DESCRIPTOR *d = (EFI_MEMORY_DESCRIPTOR *)(void *)to;
		memset(to, 0, STEP);
		d->Type = ranges[i].type;
		d->PhysicalStart = d->VirtualStart = ranges[i].from;
		d->NumberOfPages = (ranges[i].to - ranges[i].from) / PAGE;
		d->Attribute = EFI_MEMORY_WB;
		to += STEP;
	}
	*key = key_now;
	return EFI_SUCCESS;
}

/* Allocates whole pages; the first 16 bytes hold their number. */
EFI_STATUS EFIAPI memory_allocate_pool(EFI_MEMORY_TYPE type, UINTN bytes, VOID **at)
{
	EFI_PHYSICAL_ADDRESS address = 0;
	UINTN pages = (bytes + 16 + PAGE - 1) / PAGE;
	if (at == NULL)
		return EFI_INVALID_PARAMETER;
	EFI_STATUS s = bytes + 16 + PAGE < bytes ? EFI_OUT_OF_RESOURCES : memory_allocate_pages(AllocateAnyPages, type, pages, &address);
	if (s != EFI_SUCCESS)
		return s;
	*(uint64_t *)(uintptr_t)address = pages;
	*at = (VOID *)(uintptr_t)(address + 16);
	return EFI_SUCCESS;
}

EFI_STATUS EFIAPI memory_free_pool(VOID *at)
{
	uint64_t address = (uint64_t)(uintptr_t)at - 16;
	if (at == NULL || (address & (PAGE - 1)) != 0)
		return EFI_INVALID_PARAMETER;
	return memory_free_pages(address, *(const uint64_t *)(uintptr_t)address);
}

/* Level 2 tables with pages of 2 MiB, one table per GiB; the tables lie below 4 GiB. */
enum status memory_map_all(void)
{
	uint64_t cr3, to = MAPPED_FROM;
	for (unsigned i = 0; i < count; i++)
		if (ranges[i].type != NOTHING && ranges[i].to > to)
			to = ranges[i].to;
	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	uint64_t *level3 = (uint64_t *)(uintptr_t)(*(const uint64_t *)(uintptr_t)cr3 & ~(PAGE - 1));
	for (uint64_t at = MAPPED_FROM; at < to; at += 1ull << 30) {
		EFI_PHYSICAL_ADDRESS table = MAPPED_FROM - 1;
		if (memory_allocate_pages(AllocateMaxAddress, EfiRuntimeServicesData, 1, &table) != EFI_SUCCESS)
			return ST_FULL;
		uint64_t *level2 = (uint64_t *)(uintptr_t)table;
		for (unsigned i = 0; i < 512; i++)
			level2[i] = (at + ((uint64_t)i << 21)) | 0x83; /* present, writable, 2 MiB */
		level3[at >> 30] = table | 3;
	}
	return ST_OK;
}
