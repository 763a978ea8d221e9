/* tests/boot/firmware/hostile/map.c: the memory map, and tables that are damaged.
 *   map-holes       descriptors are larger than their structure and run from the last to the first; ranges of memory have holes of reserved
 *                   pages; registers lie above 4 GiB, reserved and persistent memory beyond what the processor can address
 *   damaged=N       SRAT, SLIT, HMAT, MCFG and MADT: 1 an entry of no length, 2 one longer than its table, 3 a table longer than memory,
 *                   4 numbers that no machine has */
#include "tests/boot/firmware/hostile/hostile.h"

#define STEP 64u          /* bytes of a descriptor: UEFI 2.10, 7.2.3: at least those of the structure */
#define HOLE_AT 0x8000u   /* pages after the beginning of a range */
#define HOLE_PAGES 0x100u
#define HOLES_MAX 32u
#define PERSISTENT_MEMORY 14u /* UEFI 2.10, 7.2.1; GNU-EFI has no name for it */

static EFI_STATUS (EFIAPI *get_map)(UINTN *, EFI_MEMORY_DESCRIPTOR *, UINTN *, UINTN *, UINT32 *);
static EFI_STATUS (EFIAPI *allocate)(EFI_ALLOCATE_TYPE, EFI_MEMORY_TYPE, UINTN, EFI_PHYSICAL_ADDRESS *);
static uint8_t true_map[1 << 16];
static struct { uint64_t from, to; } holes[HOLES_MAX];
static unsigned hole_count, in_holes;
static uint64_t asked;

static void hole(uint64_t from, uint64_t pages)
{
	for (unsigned i = 0; i < hole_count; i++)
		if (holes[i].from == from)
			return;
	if (hole_count < HOLES_MAX) {
		holes[hole_count].from = from;
		holes[hole_count++].to = from + (pages << 12);
	}
}

static void put(uint8_t *out, UINTN room, UINTN *n, UINT32 type, uint64_t from, uint64_t pages)
{
	EFI_MEMORY_DESCRIPTOR d = { .Type = type, .PhysicalStart = from, .NumberOfPages = pages, .Attribute = 0xF };
	if (pages != 0 && out != NULL && (*n + 1) * STEP <= room) {
		memset(out + *n * STEP, 0xA5, STEP);
		memcpy(out + *n * STEP, &d, sizeof(d));
	}
	*n += pages != 0;
}

static EFI_STATUS EFIAPI map_with_holes(UINTN *bytes, EFI_MEMORY_DESCRIPTOR *map, UINTN *key, UINTN *step, UINT32 *version)
{
	UINTN size = sizeof(true_map), own, n = 0, room = *bytes;
	EFI_STATUS s = get_map(&size, (EFI_MEMORY_DESCRIPTOR *)(void *)true_map, key, &own, version);
	uint8_t *out = (uint8_t *)map;
	if (s != EFI_SUCCESS)
		return s;
	put(out, room, &n, PERSISTENT_MEMORY, 0x0008000000000000ull, 1 << 20);
	put(out, room, &n, EfiReservedMemoryType, 0x0004000000000000ull, 1 << 20);
	put(out, room, &n, EfiMemoryMappedIO, 0x0000380000000000ull, 1 << 18);
	for (UINTN at = size; at >= own; at -= own) {
		const EFI_MEMORY_DESCRIPTOR *d = (const EFI_MEMORY_DESCRIPTOR *)(const void *)(true_map + at - own);
		const bool split = d->Type == EfiConventionalMemory && d->NumberOfPages > 2 * HOLE_AT;
		const uint64_t first = split ? HOLE_AT : d->NumberOfPages, behind = first + (split ? HOLE_PAGES : 0);
		put(out, room, &n, d->Type, d->PhysicalStart + (behind << 12), d->NumberOfPages - behind);
		put(out, room, &n, EfiReservedMemoryType, d->PhysicalStart + (first << 12), behind - first);
		put(out, room, &n, d->Type, d->PhysicalStart, first);
		if (split)
			hole(d->PhysicalStart + (first << 12), behind - first);
	}
	*step = STEP;
	*bytes = n * STEP;
	return out == NULL || n * STEP > room ? EFI_BUFFER_TOO_SMALL : EFI_SUCCESS;
}

static EFI_STATUS EFIAPI allocate_beside_holes(EFI_ALLOCATE_TYPE how, EFI_MEMORY_TYPE type, UINTN pages, EFI_PHYSICAL_ADDRESS *at)
{
	asked += how == AllocateAddress;
	for (unsigned i = 0; how == AllocateAddress && i < hole_count; i++)
		in_holes += *at < holes[i].to && *at + ((uint64_t)pages << 12) > holes[i].from;
	return allocate(how, type, pages, at);
}

void map(void)
{
	if (!wanted("map-holes", NULL))
		return;
	get_map = host.boot->GetMemoryMap;
	host.boot->GetMemoryMap = map_with_holes;
	allocate = host.boot->AllocatePages;
	host.boot->AllocatePages = allocate_beside_holes;
	tell("the memory map has holes\n", 0);
}

void map_left(void)
{
	if (get_map == NULL)
		return;
	tell("% holes\n", hole_count);
	tell("% addresses were asked for\n", asked);
	tell("% of them in holes\n", in_holes);
}

/* Where the first entry of a table begins, and how wide the length in it is (ACPI 6.5, 5.2.12, 5.2.16, 5.2.17, 5.2.28; PCI firmware 3.3, 4.1.2). */
static const struct form { char signature[5]; uint8_t first, length_at, length_bytes; } forms[] = {
	{ "APIC", 44, 1, 1 }, { "SRAT", 48, 1, 1 }, { "HMAT", 40, 4, 4 }, { "SLIT", 36, 0, 0 }, { "MCFG", 44, 0, 0 },
};

const char *damaged_table(unsigned i)
{
	return i < COUNT_OF(forms) ? forms[i].signature : NULL;
}

void damage(uint8_t *table, unsigned i, unsigned how)
{
	const struct form *f = &forms[i];
	uint32_t bytes;
	memcpy(&bytes, table + 4, 4);
	if (how <= 2 && f->length_bytes != 0) {
		memset(table + f->first + f->length_at, how == 1 ? 0 : 0xFF, f->length_bytes);
	} else if (how == 3) {
		memset(table + 4, 0xFF, 4);
		table[7] = 0x7F;
	} else {
		memset(table + f->first + 2, 0xFF, bytes - f->first - 2);
	}
	tell("a table is damaged: %\n", i);
}
