/* efi/firmware/uefi.c: wrappers of the firmware's services. */
#include "efi/firmware/uefi.h"

struct uefi uefi;

void uefi_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	static const EFI_GUID loaded_image = EFI_LOADED_IMAGE_PROTOCOL_GUID;
	uefi.image = image;
	uefi.system = system;
	uefi.boot = system->BootServices;
	uefi.loaded = uefi_protocol(image, &loaded_image);
}

enum status uefi_status(EFI_STATUS s)
{
	switch (s) {
	case EFI_SUCCESS: return ST_OK;
	case EFI_VOLUME_FULL:
	case EFI_OUT_OF_RESOURCES: return ST_FULL;
	case EFI_NOT_FOUND: return ST_MISSING;
	case EFI_UNSUPPORTED: return ST_UNSUPPORTED;
	case EFI_TIMEOUT: return ST_TIMEOUT;
	case EFI_ACCESS_DENIED:
	case EFI_WRITE_PROTECTED: return ST_REFUSED;
	default: return ST_IO;
	}
}

void *uefi_locate(const EFI_GUID *guid)
{
	void *p = NULL;
	EFI_GUID g = *guid;
	return uefi.boot->LocateProtocol(&g, NULL, &p) == EFI_SUCCESS ? p : NULL;
}

void *uefi_protocol(EFI_HANDLE handle, const EFI_GUID *guid)
{
	void *p = NULL;
	EFI_GUID g = *guid;
	return uefi.boot->HandleProtocol(handle, &g, &p) == EFI_SUCCESS ? p : NULL;
}

const void *uefi_table(const EFI_GUID *guid)
{
	for (UINTN i = 0; i < uefi.system->NumberOfTableEntries; i++)
		if (memcmp(&uefi.system->ConfigurationTable[i].VendorGuid, guid, sizeof(*guid)) == 0)
			return uefi.system->ConfigurationTable[i].VendorTable;
	return NULL;
}

static bool is_memory(uint32_t type)
{
	return type != EfiUnusableMemory && type != EfiMemoryMappedIO && type != EfiMemoryMappedIOPortSpace && type < EfiMaxMemoryType;
}

/* The memory map, to be freed with pages_put(map, *capacity): *size bytes of descriptors, *step bytes each. NULL: none. */
static uint8_t *memory_map(UINTN *size, UINTN *step, UINTN *capacity)
{
	UINTN key;
	UINT32 version;
	*size = 0;
	*step = 0;
	if (uefi.boot->GetMemoryMap(size, NULL, &key, step, &version) != EFI_BUFFER_TOO_SMALL || *step == 0)
		return NULL;
	*size += 16 * *step; /* the map grows by the memory that holds it */
	*capacity = *size;
	uint8_t *map = pages_get(*capacity);
	if (map != NULL && uefi.boot->GetMemoryMap(size, (EFI_MEMORY_DESCRIPTOR *)map, &key, step, &version) != EFI_SUCCESS)
		*size = 0;
	return map;
}

bool uefi_memory_holds(uint64_t at, uint64_t bytes)
{
	UINTN size, step, capacity;
	uint8_t *map = at == 0 || bytes == 0 || at + bytes < at ? NULL : memory_map(&size, &step, &capacity);
	if (map == NULL)
		return false;
	/* Ranges may be adjacent, in any order: each pass advances `at`. */
	uint64_t end = at + bytes;
	for (bool moved = true; moved && at < end;) {
		moved = false;
		for (UINTN i = 0; i + step <= size && at < end; i += step) {
			const EFI_MEMORY_DESCRIPTOR *d = (const EFI_MEMORY_DESCRIPTOR *)(map + i);
			uint64_t from = d->PhysicalStart, to = from + (d->NumberOfPages << 12);
			if (is_memory(d->Type) && at >= from && at < to) {
				at = to;
				moved = true;
			}
		}
	}
	pages_put(map, capacity);
	return at >= end;
}

bool uefi_memory_is_ram(uint64_t at, uint64_t bytes)
{
	UINTN size, step, capacity;
	uint8_t *map = memory_map(&size, &step, &capacity);
	bool found = false;
	for (UINTN i = 0; map != NULL && i + step <= size && !found; i += step) {
		const EFI_MEMORY_DESCRIPTOR *d = (const EFI_MEMORY_DESCRIPTOR *)(map + i);
		/* Firmware lists ECAM as reserved: that does not count as memory. */
		found = is_memory(d->Type) && d->Type != EfiReservedMemoryType && d->PhysicalStart < at + bytes &&
		        at < d->PhysicalStart + (d->NumberOfPages << 12);
	}
	if (map != NULL)
		pages_put(map, capacity);
	return found;
}

void *pages_get(size_t bytes)
{
	EFI_PHYSICAL_ADDRESS at = 0;
	UINTN pages = (bytes + 0xFFF) >> 12;
	if (pages == 0 || uefi.boot->AllocatePages(AllocateAnyPages, EfiLoaderData, pages, &at) != EFI_SUCCESS)
		return NULL;
	memset((void *)(uintptr_t)at, 0, pages << 12);
	return (void *)(uintptr_t)at;
}

void pages_put(void *at, size_t bytes)
{
	if (at != NULL)
		uefi.boot->FreePages((uintptr_t)at, (bytes + 0xFFF) >> 12);
}

bool uefi_ascii(const CHAR16 *from, size_t units, char *to, size_t capacity)
{
	bool clean = true;
	size_t n = 0;
	for (size_t i = 0; i < units && from[i] != 0; i++) {
		uint16_t c = (uint16_t)from[i];
		bool good = (c >= 0x20 && c < 0x7F) || c == '\t' || c == '\r' || c == '\n';
		clean = clean && good;
		if (n + 1 < capacity)
			to[n++] = good ? (char)c : '?';
	}
	if (capacity > 0)
		to[n] = 0;
	return clean;
}

void uefi_ucs2(const char *from, CHAR16 *to, size_t capacity_units)
{
	size_t n = 0;
	for (; from[n] != 0 && n + 1 < capacity_units; n++)
		to[n] = (CHAR16)(uint8_t)from[n];
	to[n] = 0;
}
