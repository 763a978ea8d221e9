/* tests/boot/firmware/hostile/hostile.h: what the parts of the hostile firmware share. Each part reads its own switches. */
#ifndef TESTS_HOSTILE_H
#define TESTS_HOSTILE_H

#include <efi.h>
#include "efi/firmware/uefi.h"

struct hostile {
	EFI_SYSTEM_TABLE *system;
	EFI_BOOT_SERVICES *boot;
	char switches[256];
};
extern struct hostile host;

void read_switches(void);
/* Whether the switch is given; *number, unless NULL, is the number after '=', 0 without one. */
bool wanted(const char *name, uint64_t *number);
/* "hostile: " and the text with '%' for the number, to port 0xE9. */
void tell(const char *text, uint64_t number);
/* The protocol's first instance, NULL if none. */
void *protocol(const EFI_GUID *guid);

void other_system(void);          /* another.c: "other": another operating system, first in the boot order */
void processors(void);            /* processors.c: MP services */
void processors_left(void);       /* whether the firmware has its processors back */
void volume(EFI_HANDLE image);    /* volume.c: the file system */
void tables(void);                /* tables.c: ACPI, SMBIOS */
void memory(void);                /* tables.c: memory types */
void map(void);                   /* map.c: the memory map */
void map_left(void);              /* what was asked for in its holes */
/* map.c: the tables that "damaged" is about, NULL behind the last; does it to one of at least 128 bytes, without its checksum. */
const char *damaged_table(unsigned i);
void damage(uint8_t *table, unsigned i, unsigned how);
void devices(void);               /* devices.c: screens, serial ports, watchdog, timer events, interrupts */
void leave(void);                 /* devices.c: reports what happened when the application has returned */

#endif
