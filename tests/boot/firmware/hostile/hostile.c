/* tests/boot/firmware/hostile/hostile.c: firmware as it is met. Started in place of the application, it changes what the firmware does,
 * one switch each, and then starts the application from \EFI\BOOT\STALL.EFI of the same volume. The switches are words
 * of fw_cfg's opt/hostile, separated by commas; some have "=NUMBER". What was done is told on QEMU's port 0xE9 in lines that
 * begin with "hostile: ". Not modelled: system management, and processors that change after the start. */
#include <efi.h>
#include "efi/processor/mp.h"
#include "tests/boot/firmware/hostile/hostile.h"

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

struct hostile host;

static void start_application(EFI_HANDLE image)
{
	static CHAR16 name[] = { '\\', 'E', 'F', 'I', '\\', 'B', 'O', 'O', 'T', '\\', 'S', 'T', 'A', 'L', 'L', '.', 'E', 'F', 'I', 0 };
	EFI_GUID loaded_guid = EFI_LOADED_IMAGE_PROTOCOL_GUID, path_guid = EFI_DEVICE_PATH_PROTOCOL_GUID;
	EFI_LOADED_IMAGE *own, *loaded;
	uint8_t *device, path[1024];
	EFI_HANDLE application = NULL;
	UINTN n = 0;

	if (host.boot->HandleProtocol(image, &loaded_guid, (void **)&own) != EFI_SUCCESS ||
	    host.boot->HandleProtocol(own->DeviceHandle, &path_guid, (void **)&device) != EFI_SUCCESS) {
		tell("no volume\n", 0);
		return;
	}
	while (device[n] != 0x7F) /* up to the end node */
		n += device[n + 2] | (UINTN)device[n + 3] << 8;
	memcpy(path, device, n);
	path[n] = 4; /* media, file path: UEFI 2.10, 10.3.5.4 */
	path[n + 1] = 4;
	path[n + 2] = (uint8_t)(4 + sizeof(name));
	path[n + 3] = 0;
	memcpy(path + n + 4, name, sizeof(name));
	memcpy(path + n + 4 + sizeof(name), "\x7F\xFF\x04", 4);
	EFI_STATUS s = host.boot->LoadImage(FALSE, image, (void *)path, NULL, 0, &application);
	if (s != EFI_SUCCESS) {
		tell("the application is not loaded: %\n", s);
		return;
	}
	if (host.boot->HandleProtocol(application, &loaded_guid, (void **)&loaded) == EFI_SUCCESS) {
		loaded->LoadOptions = own->LoadOptions;
		loaded->LoadOptionsSize = own->LoadOptionsSize;
	}
	s = host.boot->StartImage(application, NULL, NULL);
	tell("the application came back: %\n", s);
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	host.system = system;
	host.boot = system->BootServices;
	uefi_init(image, system);
	read_switches();
	other_system();
	processors();
	volume(image);
	tables();
	memory();
	map();
	devices();
	start_application(image);
	leave();
	return EFI_SUCCESS;
}
