/* efi/main.c: entry of the UEFI application: settings, backend, suite, end. */
#include "efi/acpi.h"
#include "efi/clock.h"
#include "efi/config.h"
#include "efi/console.h"
#include "efi/end.h"
#include "efi/files.h"
#include "efi/fwcfg.h"
#include "efi/hw.h"
#include "efi/selftest.h"
#include "efi/smbios.h"
#include "efi/uefi.h"

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

static EFI_STATUS EFIAPI run(void)
{
	struct files files;
	struct config config;
	struct acpi *acpi = pages_get(sizeof(*acpi));
	struct clock clock;
	struct hw *hw;
	char test[32];
	bool may_return = true;
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
	} else if (fwcfg_read(FWCFG_TEST, test, sizeof(test)) == ST_OK) {
		acpi_open(acpi);
		clock_open(&clock, acpi);
		print("tsc %lu %s %u ppm\n", (unsigned long)clock.tsc_hz, clock.method, clock.spread_ppm);
		if (hw_open(&hw, acpi, &clock) != ST_OK) {
			status = EXIT_NOTHING;
		} else {
			status = selftest_run(test, hw) == 0 ? EXIT_GOOD : EXIT_UNEXPECTED;
			may_return = hw_close(hw);
		}
	}
	files_close(&files);
	end_run(config.end, status, may_return);
	return EFI_SUCCESS;
}

/* gnu-efi's start code calls this in the System V ABI; run() in the firmware's saves XMM6-15,
 * which kernels use and the firmware expects to find again. */
EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	uefi_init(image, system);
	return run();
}
