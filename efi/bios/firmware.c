/* efi/bios/firmware.c: the system table (UEFI 4.3), boot services (4.4, 7) and runtime services (4.5, 8), as far as the
 * application calls them. Three handles: the image, its volume, and the screen. */
#include "efi/bios/loader.h"

static const EFI_GUID loaded_image_guid = EFI_LOADED_IMAGE_PROTOCOL_GUID;
static const EFI_GUID file_system_guid = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
static const EFI_GUID graphics_guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
static const EFI_GUID acpi_20_guid = ACPI_20_TABLE_GUID;
static const EFI_GUID acpi_10_guid = ACPI_TABLE_GUID;
static const EFI_GUID smbios_guid = SMBIOS_TABLE_GUID;
static const EFI_GUID smbios3_guid = SMBIOS3_TABLE_GUID;

static struct { EFI_LOADED_IMAGE image; EFI_FILE_IO_INTERFACE *volume; EFI_GRAPHICS_OUTPUT_PROTOCOL *graphics; } handles;

EFI_HANDLE firmware_image_handle(void)
{
	return &handles.image;
}

static bool is(const EFI_GUID *a, const EFI_GUID *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static EFI_STATUS EFIAPI handle_protocol(EFI_HANDLE handle, EFI_GUID *guid, VOID **out)
{
	if (handle == NULL || guid == NULL || out == NULL)
		return EFI_INVALID_PARAMETER;
	*out = NULL;
	if (handle == &handles.image && is(guid, &loaded_image_guid))
		*out = &handles.image;
	if (handle == &handles.graphics && is(guid, &graphics_guid))
		*out = handles.graphics;
	if (handle == &handles.volume && is(guid, &file_system_guid))
		*out = handles.volume;
	return *out != NULL ? EFI_SUCCESS : EFI_UNSUPPORTED;
}

static EFI_STATUS EFIAPI open_protocol(EFI_HANDLE handle, EFI_GUID *guid, VOID **out, EFI_HANDLE agent, EFI_HANDLE controller, UINT32 how)
{
	(void)agent;
	(void)controller;
	(void)how;
	return handle_protocol(handle, guid, out);
}

static EFI_STATUS EFIAPI close_protocol(EFI_HANDLE handle, EFI_GUID *guid, EFI_HANDLE agent, EFI_HANDLE controller)
{
	(void)handle;
	(void)guid;
	(void)agent;
	(void)controller;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI locate_protocol(EFI_GUID *guid, VOID *registration, VOID **out)
{
	(void)registration;
	if (guid == NULL || out == NULL)
		return EFI_INVALID_PARAMETER;
	*out = is(guid, &file_system_guid) ? (VOID *)handles.volume : is(guid, &graphics_guid) ? (VOID *)handles.graphics : NULL;
	return *out != NULL ? EFI_SUCCESS : EFI_NOT_FOUND;
}

/* Without interrupts all levels are the same. */
static EFI_TPL EFIAPI raise_tpl(EFI_TPL level)
{
	(void)level;
	return TPL_APPLICATION;
}

static VOID EFIAPI restore_tpl(EFI_TPL level)
{
	(void)level;
}

static EFI_STATUS EFIAPI unsupported(VOID)
{
	return EFI_UNSUPPORTED;
}

/* UEFI 4.2: CRC-32 of the table with its own field zero; reflected polynomial 0x04C11DB7. */
static uint32_t crc32(const void *bytes, size_t n)
{
	uint32_t crc = UINT32_MAX;
	for (const uint8_t *p = bytes; n-- > 0; p++) {
		crc ^= *p;
		for (unsigned i = 0; i < 8; i++)
			crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1)));
	}
	return ~crc;
}

static void finish(EFI_TABLE_HEADER *h, uint64_t signature, size_t bytes)
{
	h->Signature = signature;
	h->Revision = 2u << 16; /* the lowest revision that has all of the tables' services */
	h->HeaderSize = (UINT32)bytes;
	h->CRC32 = 0;
	h->CRC32 = crc32(h, bytes);
}

/* Points every service of a table to `unsupported`. */
static void fill(void *table, size_t bytes)
{
	EFI_STATUS(EFIAPI *no)(VOID) = unsupported;
	for (size_t at = sizeof(EFI_TABLE_HEADER); at < bytes; at += sizeof(no))
		memcpy((uint8_t *)table + at, &no, sizeof(no));
}

static unsigned add_table(EFI_CONFIGURATION_TABLE *tables, unsigned n, const EFI_GUID *guid, const uint8_t *at)
{
	if (at == NULL)
		return n;
	tables[n].VendorGuid = *guid;
	tables[n].VendorTable = (VOID *)(uintptr_t)at;
	return n + 1;
}

EFI_SYSTEM_TABLE *firmware_tables(const struct image *image, struct fat *volume)
{
	static EFI_SYSTEM_TABLE system;
	static EFI_BOOT_SERVICES boot;
	static EFI_RUNTIME_SERVICES runtime;
	static EFI_CONFIGURATION_TABLE tables[3];
	static CHAR16 vendor[] = L"Stallmeter, on a PC BIOS";
	const uint8_t *acpi = machine_find_acpi();
	unsigned n = 0;

	handles.volume = volume_protocol(volume);
	handles.graphics = graphics_protocol();
	handles.image = (EFI_LOADED_IMAGE){ .Revision = 0x1000, .SystemTable = &system, .DeviceHandle = &handles.volume,
		.ImageBase = (VOID *)(uintptr_t)image->base, .ImageSize = image->bytes, .ImageCodeType = EfiLoaderCode,
		.ImageDataType = EfiLoaderData };

	fill(&boot, sizeof(boot));
	boot.RaiseTPL = raise_tpl;
	boot.RestoreTPL = restore_tpl;
	boot.AllocatePages = memory_allocate_pages;
	boot.FreePages = memory_free_pages;
	boot.GetMemoryMap = memory_get_map;
	boot.AllocatePool = memory_allocate_pool;
	boot.FreePool = memory_free_pool;
	boot.HandleProtocol = handle_protocol;
	boot.OpenProtocol = open_protocol;
	boot.CloseProtocol = close_protocol;
	boot.LocateProtocol = locate_protocol;
	boot.Stall = machine_stall;
	finish(&boot.Hdr, EFI_BOOT_SERVICES_SIGNATURE, sizeof(boot));

	fill(&runtime, sizeof(runtime));
	runtime.GetTime = machine_get_time;
	runtime.ResetSystem = machine_reset;
	finish(&runtime.Hdr, EFI_RUNTIME_SERVICES_SIGNATURE, sizeof(runtime));

	/* ACPI 6.4, 5.2.5.3: revision 0 is ACPI 1.0's. */
	n = add_table(tables, n, acpi != NULL && acpi[15] >= 2 ? &acpi_20_guid : &acpi_10_guid, acpi);
	n = add_table(tables, n, &smbios3_guid, machine_find_smbios(SMBIOS_3));
	n = add_table(tables, n, &smbios_guid, machine_find_smbios(SMBIOS_2));
	system = (EFI_SYSTEM_TABLE){ .FirmwareVendor = vendor, .FirmwareRevision = 1, .ConIn = &console_in, .ConOut = &console_out,
		.StdErr = &console_out, .RuntimeServices = &runtime, .BootServices = &boot, .NumberOfTableEntries = n,
		.ConfigurationTable = tables };
	finish(&system.Hdr, EFI_SYSTEM_TABLE_SIGNATURE, sizeof(system));
	return &system;
}
