/* efi/uefi.c: small wrappers of the firmware's services. */
#include "efi/uefi.h"

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
