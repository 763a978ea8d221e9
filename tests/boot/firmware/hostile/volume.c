/* tests/boot/firmware/hostile/volume.c: the file system of the application's volume.
 *   write-fails=N    the N-th write or flush of a file fails once, as EFI_DEVICE_ERROR
 *   volume-gone=N    from the N-th on each fails
 *   flush-refused    a directory cannot be flushed, as EFI_ACCESS_DENIED
 * Handles are the firmware's own with functions exchanged: EDK II has one structure for each open file, of 15 pointers at
 * most in revision 2. */
#include "tests/boot/firmware/hostile/hostile.h"

#define HANDLES 64

static struct { EFI_FILE_HANDLE at; EFI_FILE was; } handles[HANDLES];
static EFI_STATUS (EFIAPI *open_volume)(EFI_FILE_IO_INTERFACE *, EFI_FILE_HANDLE *);
static uint64_t writes;

static void take(EFI_FILE_HANDLE file);

static EFI_FILE *was(EFI_FILE_HANDLE file)
{
	for (unsigned i = 0; i < HANDLES; i++)
		if (handles[i].at == file)
			return &handles[i].was;
	for (;;) /* never: each handle was taken at its opening */
		relax();
}

static bool fails(const char *what)
{
	uint64_t once = 0, from = 0;
	bool has_once = wanted("write-fails", &once), has_from = wanted("volume-gone", &from);
	writes++;
	bool now = (has_once && writes == once) || (has_from && writes >= from);
	if (now)
		tell(what, writes);
	return now;
}

static void forget(EFI_FILE_HANDLE file)
{
	for (unsigned i = 0; i < HANDLES; i++)
		if (handles[i].at == file) {
			*file = handles[i].was;
			handles[i].at = NULL;
		}
}

static EFI_STATUS EFIAPI file_open(EFI_FILE_HANDLE self, EFI_FILE_HANDLE *out, CHAR16 *name, UINT64 mode, UINT64 attributes)
{
	EFI_STATUS s = was(self)->Open(self, out, name, mode, attributes);
	if (s == EFI_SUCCESS)
		take(*out);
	return s;
}

static EFI_STATUS EFIAPI file_close(EFI_FILE_HANDLE self) { forget(self); return self->Close(self); }
static EFI_STATUS EFIAPI file_delete(EFI_FILE_HANDLE self) { forget(self); return self->Delete(self); }

static EFI_STATUS EFIAPI file_write(EFI_FILE_HANDLE self, UINTN *bytes, VOID *from)
{
	return fails("write % fails\n") ? EFI_DEVICE_ERROR : was(self)->Write(self, bytes, from);
}

static EFI_STATUS EFIAPI file_flush(EFI_FILE_HANDLE self)
{
	EFI_GUID guid = EFI_FILE_INFO_ID;
	_Alignas(8) uint8_t bytes[SIZE_OF_EFI_FILE_INFO + 600];
	EFI_FILE_INFO *info = (void *)bytes;
	UINTN size = sizeof(bytes);
	if (wanted("flush-refused", NULL) && was(self)->GetInfo(self, &guid, &size, info) == EFI_SUCCESS && (info->Attribute & EFI_FILE_DIRECTORY) != 0) {
		tell("flush of a directory is refused\n", 0);
		return EFI_ACCESS_DENIED;
	}
	return fails("flush % fails\n") ? EFI_DEVICE_ERROR : was(self)->Flush(self);
}

static void take(EFI_FILE_HANDLE file)
{
	for (unsigned i = 0; i < HANDLES; i++) {
		if (handles[i].at == file) /* the firmware gave the memory away again */
			handles[i].at = NULL;
		if (handles[i].at != NULL)
			continue;
		handles[i].at = file;
		handles[i].was = *file;
		file->Open = file_open;
		file->Close = file_close;
		file->Delete = file_delete;
		file->Write = file_write;
		file->Flush = file_flush;
		return;
	}
	tell("too many open files\n", 0);
}

static EFI_STATUS EFIAPI volume_open(EFI_FILE_IO_INTERFACE *self, EFI_FILE_HANDLE *root)
{
	EFI_STATUS s = open_volume(self, root);
	if (s == EFI_SUCCESS)
		take(*root);
	return s;
}

void volume(EFI_HANDLE image)
{
	EFI_GUID loaded_guid = EFI_LOADED_IMAGE_PROTOCOL_GUID, file_system = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
	EFI_LOADED_IMAGE *own;
	EFI_FILE_IO_INTERFACE *v;
	if (!wanted("write-fails", NULL) && !wanted("volume-gone", NULL) && !wanted("flush-refused", NULL))
		return;
	if (host.boot->HandleProtocol(image, &loaded_guid, (void **)&own) != EFI_SUCCESS ||
	    host.boot->HandleProtocol(own->DeviceHandle, &file_system, (void **)&v) != EFI_SUCCESS)
		return;
	open_volume = v->OpenVolume;
	v->OpenVolume = volume_open;
}
