/* efi/storage/handles.h: internal to efi/storage: handles of the firmware's file system. */
#ifndef EFI_STORAGE_HANDLES_H
#define EFI_STORAGE_HANDLES_H

#include "efi/storage/files.h"

#define RUN_NUMBER_MAX 9999u
#define INFO_BYTES (SIZE_OF_EFI_FILE_INFO + 2 * 260) /* FAT long names have up to 255 units */

EFI_STATUS files_in(EFI_FILE_HANDLE folder, const char *path, UINT64 mode, UINT64 attributes, EFI_FILE_HANDLE *out);
/* Opens the folder `name`; creates it if missing. */
EFI_STATUS files_folder(EFI_FILE_HANDLE in, const char *name, EFI_FILE_HANDLE *out);
MUST_CHECK enum status files_size(EFI_FILE_HANDLE file, uint64_t *size);
/* Truncates a file to that many bytes. */
void files_cut(EFI_FILE_HANDLE file, uint64_t bytes);
/* Writes at the file's position and flushes. */
MUST_CHECK enum status files_flushed(EFI_FILE_HANDLE file, const void *bytes, size_t n);
/* Opens the results folder; otherwise the status tells why not. */
MUST_CHECK enum status files_results(struct files *f, EFI_FILE_HANDLE *results);
/* NNNN of the last run PREFIX-NNNN there, 0 if there is none. */
MUST_CHECK enum status files_highest_run(EFI_FILE_HANDLE results, const char *prefix, unsigned *highest);

#endif
