/* efi/platform/smbios.h: the firmware's names of this machine, and its memory modules. */
#ifndef EFI_SMBIOS_H
#define EFI_SMBIOS_H

#include "pmu/base.h"

#define SMBIOS_TEXT    64
#define SMBIOS_MODULES 32

struct smbios {
	bool found;
	char bios_vendor[SMBIOS_TEXT], bios_version[SMBIOS_TEXT], bios_date[SMBIOS_TEXT];
	char maker[SMBIOS_TEXT], product[SMBIOS_TEXT], version[SMBIOS_TEXT], serial[SMBIOS_TEXT];
	uint8_t uuid[16];
	char board_maker[SMBIOS_TEXT], board[SMBIOS_TEXT];
	struct smbios_module {
		char locator[SMBIOS_TEXT], maker[SMBIOS_TEXT], part[SMBIOS_TEXT];
		uint64_t bytes;
		uint16_t mts, configured_mts; /* million transfers a second, 0 unknown */
	} modules[SMBIOS_MODULES];
	unsigned module_count;
	/* A management controller's KCS interface: its data register; 0: none is listed. */
	uint64_t kcs;
	unsigned kcs_spacing; /* bytes from the data register to the command register */
	bool kcs_memory;      /* not a port */
};

/* Corrupts the structures before they are read if a test asks for it (FWCFG_ACPI, "SMBI"). */
void fault_inject_smbios(const uint8_t **at, uint32_t *bytes);
/* Strings are printable ASCII; a missing one is "". */
void smbios_open(struct smbios *s);
/* A hash of the machine's identity: UUID, serial number, maker, product, board. */
uint64_t smbios_identity(const struct smbios *s);

#endif
