/* efi/main.c: entry of the UEFI application: settings, backend, suite, end. */
#include "efi/config.h"
#include "efi/console.h"
#include "efi/end.h"
#include "efi/files.h"
#include "efi/uefi.h"

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

static EFI_STATUS EFIAPI run(void)
{
	struct files files;
	struct config config;
	enum exit_status status = EXIT_GOOD;

	uefi.boot->SetWatchdogTimer(0, 0, 0, NULL);
	console_open();
	print("Stallmeter: what stalls cost on this machine\n");
	if (files_open(&files) != ST_OK)
		print("files: no file system where we were booted from; results go to the screen alone\n");
	config_read(&config, &files);
	if (config.problem[0] != 0) {
		print("%s\n", config.problem);
		status = EXIT_CONFIG;
	}
	files_close(&files);
	end_run(config.end, status, true);
	return EFI_SUCCESS;
}

/* gnu-efi's start code calls this in the System V ABI; run() in the firmware's saves XMM6-15,
 * which kernels use and the firmware expects to find again. */
EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	uefi_init(image, system);
	return run();
}
