/* efi/bios/loader.h: the second stage of the legacy BIOS route: loads \EFI\BOOT\BOOTX64.EFI from the boot disk and provides
 * the UEFI services that the application calls (UEFI specification 2.10; each cites its section).
 *
 * One processor, interrupts off, memory identity-mapped. Services that the application does not call return
 * EFI_UNSUPPORTED. */
#ifndef EFI_BIOS_LOADER_H
#define EFI_BIOS_LOADER_H

#include <efi.h>
#include "efi/firmware/uefi.h"
#include "pmu/base.h"

/* --- memory below 1 MiB: efi/bios/start.asm and bios.lds have the same numbers ------------------------------------------ */
#define LOW_FIRST   0x1000u  /* page tables, stacks, the second stage */
#define DISK_BUFFER 0x20000u /* of 32 KiB */
#define LOW_END     0x4C000u
#define BLOCK_BYTES 512u
#define BUFFER_BLOCKS 64u

struct __attribute__((packed)) bios_range { uint64_t base, bytes; uint32_t type, attributes; };
struct bios_registers { uint16_t ax, bx, cx, dx, si, di, es, flags; };
struct __attribute__((packed)) bios_packet { uint8_t bytes, zero; uint16_t blocks, offset, segment; uint64_t first; };
extern volatile struct bios_registers bios_registers;
extern volatile struct bios_packet bios_packet; /* below 64 KiB, as real mode needs it */
extern const uint8_t bios_drive;
extern const struct bios_range bios_map[];
extern const uint32_t bios_map_entries;
extern const uint16_t bios_low_kib; /* INT 12h: memory below the extended BIOS data area */
extern const uint8_t exception_entries[];
/* Calls a BIOS interrupt in real mode with bios_registers; their `ax` and `flags` then hold its results. Called through loader_bios. */
void bios_call(uint8_t number);
void loader_main(void);
void loader_exception(const uint64_t *frame);

/* --- console.c: text on the screen and on COM1 -------------------------------------------------------------------------- */
void console_init(void);
void console_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints one line, "Stallmeter: ...; nothing was started", and halts. */
__attribute__((noreturn, format(printf, 1, 2))) void loader_fail(const char *format, ...);
extern SIMPLE_TEXT_OUTPUT_INTERFACE console_out;
extern SIMPLE_INPUT_INTERFACE console_in;

/* --- graphics.c: a framebuffer by VBE, NULL if there is none -------------------------------------------------------------- */
EFI_GRAPHICS_OUTPUT_PROTOCOL *graphics_protocol(void);
/* Returns to text mode if graphics are shown. */
void graphics_leave(void);

/* --- memory.c: the memory map ------------------------------------------------------------------------------------------- */
/* Builds the map from the BIOS's. ST_FULL: more ranges than fit. */
MUST_CHECK enum status memory_init(void);
/* Maps the memory above 4 GiB. ST_FULL: no memory for page tables. */
MUST_CHECK enum status memory_map_all(void);
EFI_STATUS EFIAPI memory_allocate_pages(EFI_ALLOCATE_TYPE how, EFI_MEMORY_TYPE type, UINTN pages, EFI_PHYSICAL_ADDRESS *at);
EFI_STATUS EFIAPI memory_free_pages(EFI_PHYSICAL_ADDRESS at, UINTN pages);
EFI_STATUS EFIAPI memory_get_map(UINTN *size, EFI_MEMORY_DESCRIPTOR *map, UINTN *key, UINTN *step, UINT32 *version);
EFI_STATUS EFIAPI memory_allocate_pool(EFI_MEMORY_TYPE type, UINTN bytes, VOID **at);
EFI_STATUS EFIAPI memory_free_pool(VOID *at);

/* --- disk.c, partition.c: BIOS interrupts; 512-byte blocks of the boot drive; its partition table -------------------------------------------------- */
/* bios_call with the interrupt controllers' masks as the BIOS left them; afterwards all are masked, since no other code handles interrupts. */
void loader_bios(uint8_t number);
MUST_CHECK enum status disk_read(uint64_t block, uint64_t blocks, void *to);
struct partition { uint64_t first, blocks; };
/* The first EFI system partition whose number is at least *index; *index becomes the number after it. ST_MISSING: no more;
 * ST_SYNTAX: no GPT. */
MUST_CHECK enum status disk_system_partition(unsigned *index, struct partition *p);

/* --- fat.c: FAT32, read only ---------------------------------------------------------------------------------------------- */
struct fat {
	uint64_t table, data;       /* blocks */
	uint32_t cluster_blocks, clusters, root;
	uint64_t cached;            /* block of the allocation table in `entries`; 0: none */
	uint32_t entries[BLOCK_BYTES / 4];
	uint8_t block[BLOCK_BYTES];
};
/* A file or folder, and the position in it. Copies have positions of their own. */
struct fat_file {
	uint32_t first;             /* cluster; 0: no bytes */
	uint32_t bytes;             /* of a folder: 0 */
	bool folder;
	uint64_t at;                /* bytes from the beginning */
	uint32_t cluster, number;   /* current cluster and its number in the file; cluster 0: not yet looked up */
};
#define FAT_NAME 256
/* ST_SYNTAX: no FAT32 of 512-byte blocks; ST_IO. */
MUST_CHECK enum status fat_open(struct fat *f, const struct partition *p);
struct fat_file fat_root(const struct fat *f);
/* `path`, parts separated by backslashes, relative to `in`. ST_MISSING, ST_IO, ST_BROKEN: the volume is damaged. */
MUST_CHECK enum status fat_find(struct fat *f, const struct fat_file *in, const char *path, struct fat_file *out);
/* The next entry of a folder, with its name in ASCII; '?' stands for other characters. ST_MISSING: no more. */
MUST_CHECK enum status fat_next(struct fat *f, struct fat_file *folder, char name[FAT_NAME], struct fat_file *out);
/* Reads up to *bytes from the file's position; *bytes becomes the number read, which is smaller only at the end. */
MUST_CHECK enum status fat_read(struct fat *f, struct fat_file *file, void *to, uint64_t *bytes);

/* --- image.c: a PE32+ application in memory --------------------------------------------------------------------------------- */
struct image { uint64_t base, bytes; EFI_STATUS(EFIAPI *entry)(EFI_HANDLE, EFI_SYSTEM_TABLE *); };
/* Loads and relocates it. ST_SYNTAX: not a PE32+ application; ST_FULL: no memory. */
MUST_CHECK enum status image_load(const uint8_t *file, uint64_t bytes, struct image *out);

/* --- firmware.c, volume.c, machine.c: the application's tables, protocols and services ------------------------------------ */
/* `volume`: the one that the application was loaded from. */
EFI_SYSTEM_TABLE *firmware_tables(const struct image *image, struct fat *volume);
EFI_HANDLE firmware_image_handle(void);
EFI_FILE_IO_INTERFACE *volume_protocol(struct fat *f);
/* The ACPI root pointer (ACPI 6.4, 5.2.5.1) and the SMBIOS entry points (DSP0134 3.6, 5.2), NULL if there is none. */
const uint8_t *machine_find_acpi(void);
enum smbios_version { SMBIOS_2, SMBIOS_3 };
const uint8_t *machine_find_smbios(enum smbios_version version);
EFI_STATUS EFIAPI machine_stall(UINTN us);
EFI_STATUS EFIAPI machine_get_time(EFI_TIME *now, EFI_TIME_CAPABILITIES *can);
EFI_STATUS EFIAPI machine_reset(EFI_RESET_TYPE type, EFI_STATUS status, UINTN bytes, CHAR16 *text);

#endif
