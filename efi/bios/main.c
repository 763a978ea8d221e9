/* efi/bios/main.c: from the drive's partition table to the application's entry. */
#include "efi/bios/loader.h"

#define APPLICATION "\\EFI\\BOOT\\BOOTX64.EFI"
#define FILE_MOST   (64u << 20)
#define VECTORS     32u

/* SDM vol. 3, 6.14.1: interrupt gates of 64 bits, present, DPL 0. */
static void take_exceptions(void)
{
	static uint64_t table[2 * VECTORS];
	const struct __attribute__((packed)) { uint16_t limit; uint64_t base; } at = { sizeof(table) - 1, (uintptr_t)table };
	uint64_t cs;
	__asm__ volatile("mov %%cs, %0" : "=r"(cs));
	for (unsigned v = 0; v < VECTORS; v++) {
		uint64_t to = (uint64_t)(uintptr_t)(exception_entries + 16 * v);
		table[2 * v] = (to & 0xFFFF) | (cs & 0xFFFF) << 16 | 0x8E0000000000ull | (to >> 16 & 0xFFFF) << 48;
		table[2 * v + 1] = to >> 32;
	}
	__asm__ volatile("lidt %0" : : "m"(at));
}

/* The first system partition that has the application. */
static void find_application(struct fat *f, struct fat_file *file)
{
	struct partition p;
	enum status s, found = ST_MISSING;
	unsigned systems = 0;
	for (unsigned index = 0; found != ST_OK && (s = disk_system_partition(&index, &p)) != ST_MISSING; systems++) {
		if (s == ST_IO)
			loader_fail("drive 0x%x cannot be read", bios_drive);
		if (s != ST_OK)
			loader_fail("drive 0x%x has no GUID partition table", bios_drive);
		found = fat_open(f, &p);
		if (found == ST_OK) {
			struct fat_file root = fat_root(f);
			found = fat_find(f, &root, APPLICATION, file);
		}
	}
	if (found == ST_OK && !file->folder)
		return;
	if (systems == 0)
		loader_fail("drive 0x%x has no EFI system partition", bios_drive);
	loader_fail("%s of drive 0x%x: %s", APPLICATION, bios_drive, found == ST_MISSING ? "no such file" : found == ST_IO ? "the drive cannot be read" :
	            found == ST_SYNTAX ? "no FAT32 file system" : "the file system is damaged");
}

static uint8_t *read_application(struct fat *f, struct fat_file *file)
{
	EFI_PHYSICAL_ADDRESS at = UINT32_MAX;
	uint64_t bytes = file->bytes;
	if (bytes > FILE_MOST || memory_allocate_pages(AllocateMaxAddress, EfiLoaderData, (bytes + 4096) / 4096, &at) != EFI_SUCCESS)
		loader_fail("%s: no memory for its %u bytes", APPLICATION, file->bytes);
	enum status s = fat_read(f, file, (void *)(uintptr_t)at, &bytes);
	if (s != ST_OK || bytes != file->bytes)
		loader_fail("%s: %s", APPLICATION, s == ST_IO ? "the drive cannot be read" : "the file system is damaged");
	return (uint8_t *)(uintptr_t)at;
}

void loader_main(void)
{
	static struct fat volume;
	struct fat_file file;
	struct image image;
	take_exceptions();
	console_init();
	if (memory_init() != ST_OK || memory_map_all() != ST_OK)
		loader_fail("the memory map has too many ranges, or there is no memory for page tables");
	find_application(&volume, &file);
	console_print("Stallmeter: drive 0x%x, %s, %u bytes\n", bios_drive, APPLICATION, file.bytes);
	uint8_t *bytes = read_application(&volume, &file);
	enum status s = image_load(bytes, file.bytes, &image);
	if (s != ST_OK)
		loader_fail("%s: %s", APPLICATION, s == ST_FULL ? "no memory for it" : "no 64-bit application for UEFI, or damaged");
	if (memory_free_pages((uintptr_t)bytes, (file.bytes + 4096ull) / 4096) != EFI_SUCCESS)
		loader_fail("the memory map is damaged");
	(void)image.entry(firmware_image_handle(), firmware_tables(&image, &volume));
	console_print("Stallmeter: ended; any key starts the machine again\n");
	EFI_INPUT_KEY key;
	while (console_in.ReadKeyStroke(&console_in, &key) != EFI_SUCCESS)
		machine_stall(20000);
	machine_reset(EfiResetCold, EFI_SUCCESS, 0, NULL);
}
