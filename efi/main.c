/* efi/main.c: entry of the UEFI application. */
#include <efi.h>
#include <efilib.h>

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	(void)image;
	(void)system;
	return EFI_SUCCESS;
}
