/* efi/storage/handles.c: see handles.h. */
#include "efi/storage/handles.h"

static const EFI_GUID file_info = EFI_FILE_INFO_ID;

EFI_STATUS files_in(EFI_FILE_HANDLE folder, const char *path, UINT64 mode, UINT64 attributes,
                          EFI_FILE_HANDLE *out)
{
	CHAR16 name[RUN_PATH_MAX + FILE_NAME_MAX];
	uefi_ucs2(path, name, COUNT_OF(name));
	return folder->Open(folder, out, name, mode, attributes);
}

EFI_STATUS files_folder(EFI_FILE_HANDLE in, const char *name, EFI_FILE_HANDLE *out)
{
	EFI_STATUS s = files_in(in, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0, out);
	if (s == EFI_NOT_FOUND)
		s = files_in(in, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE,
		            EFI_FILE_DIRECTORY, out);
	return s;
}

enum status files_size(EFI_FILE_HANDLE file, uint64_t *size)
{
	_Alignas(8) uint8_t info_bytes[INFO_BYTES];
	EFI_FILE_INFO *info = (void *)info_bytes;
	UINTN info_size = sizeof(info_bytes);
	EFI_GUID guid = file_info;
	enum status s = uefi_status(file->GetInfo(file, &guid, &info_size, info));
	*size = s == ST_OK ? info->FileSize : 0;
	return s;
}

void files_cut(EFI_FILE_HANDLE file, uint64_t bytes)
{
	_Alignas(8) uint8_t info_bytes[INFO_BYTES];
	EFI_FILE_INFO *info = (void *)info_bytes;
	UINTN size = sizeof(info_bytes);
	EFI_GUID guid = file_info;
	if (file->GetInfo(file, &guid, &size, info) != EFI_SUCCESS || info->FileSize <= bytes)
		return;
	info->FileSize = bytes;
	if (file->SetInfo(file, &guid, size, info) == EFI_SUCCESS)
		file->Flush(file);
}

enum status files_flushed(EFI_FILE_HANDLE file, const void *bytes, size_t n)
{
	UINTN done = n;
	/* The protocol's Write takes a non-const pointer, but only reads. */
	EFI_STATUS s = n == 0 ? EFI_SUCCESS : file->Write(file, &done, (void *)(uintptr_t)bytes);
	/* If power failed between the writes of allocation table and directory, the file has clusters beyond its end. EDK II's driver refuses to append
	 * to such a file, but frees the clusters in doing so (FatPkg, FatGrowEof), so that a retry succeeds. */
	if (s == EFI_VOLUME_CORRUPTED) {
		done = n;
		s = file->Write(file, &done, (void *)(uintptr_t)bytes);
	}
	if (s == EFI_SUCCESS && done != n)
		s = EFI_VOLUME_FULL;
	if (s == EFI_SUCCESS)
		s = file->Flush(file);
	return uefi_status(s);
}
