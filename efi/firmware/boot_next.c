/* efi/firmware/boot_next.c: see boot_next.h. */
#include "efi/firmware/boot_next.h"
#include "efi/firmware/uefi.h"

#define ATTRIBUTES (EFI_VARIABLE_NON_VOLATILE | EFI_VARIABLE_BOOTSERVICE_ACCESS | EFI_VARIABLE_RUNTIME_ACCESS)

static const EFI_GUID global_variable = EFI_GLOBAL_VARIABLE;

static enum status option_read(const char *name, uint16_t *option)
{
	CHAR16 wide[16];
	EFI_GUID guid = global_variable;
	UINTN bytes = sizeof(*option);
	uefi_ucs2(name, wide, COUNT_OF(wide));
	enum status s = uefi_status(uefi.system->RuntimeServices->GetVariable(wide, &guid, NULL, &bytes, option));
	return s == ST_OK && bytes != sizeof(*option) ? ST_MISSING : s;
}

static enum status next_write(uint16_t *option, UINTN bytes)
{
	CHAR16 wide[16];
	EFI_GUID guid = global_variable;
	uefi_ucs2("BootNext", wide, COUNT_OF(wide));
	return uefi_status(uefi.system->RuntimeServices->SetVariable(wide, &guid, ATTRIBUTES, bytes, option));
}

enum status boot_next_set(void)
{
	uint16_t current, next;
	enum status s = option_read("BootCurrent", &current);
	if (s != ST_OK)
		return s;
	if (option_read("BootNext", &next) == ST_OK && next == current)
		return ST_OK; /* each write wears the firmware's flash memory */
	return next_write(&current, sizeof(current));
}

void boot_next_clear(void)
{
	uint16_t current, next;
	if (option_read("BootCurrent", &current) != ST_OK || option_read("BootNext", &next) != ST_OK || next != current)
		return;
	if (next_write(NULL, 0) != ST_OK)
		return; /* the stick boots once more */
}
