/* efi/storage/runs.c: the runs in the results folder, and the small state files. */
#include "efi/storage/handles.h"
#include "pmu/text.h"

/* Case-insensitive comparison, as in FAT. */
static bool same_letter(char a, char b)
{
	if (a >= 'A' && a <= 'Z')
		a = (char)(a - 'A' + 'a');
	if (b >= 'A' && b <= 'Z')
		b = (char)(b - 'A' + 'a');
	return a == b;
}

/* NNNN of "PREFIX-NNNN", 0 if `name` is not one. */
static unsigned run_number(const char *name, const char *prefix)
{
	uint64_t number;
	for (; *prefix != 0; prefix++, name++)
		if (!same_letter(*name, *prefix))
			return 0;
	if (*name++ != '-' || parse_u64(name, str_length(name), &number) != ST_OK || number > RUN_NUMBER_MAX)
		return 0;
	return (unsigned)number;
}

enum status files_highest_run(EFI_FILE_HANDLE results, const char *prefix, unsigned *highest)
{
	_Alignas(8) uint8_t info_bytes[INFO_BYTES];
	EFI_FILE_INFO *info = (void *)info_bytes;
	char name[FILE_NAME_MAX];
	*highest = 0;
	for (;;) {
		UINTN size = sizeof(info_bytes);
		EFI_STATUS s = results->Read(results, &size, info);
		if (s != EFI_SUCCESS)
			return uefi_status(s);
		if (size == 0)
			return ST_OK;
		if (!uefi_ascii(info->FileName, (size - SIZE_OF_EFI_FILE_INFO) / 2, name, sizeof(name)))
			continue;
		unsigned n = run_number(name, prefix);
		if (n > *highest)
			*highest = n;
	}
}

enum status files_results(struct files *f, EFI_FILE_HANDLE *results)
{
	EFI_FILE_HANDLE ours = NULL;
	*results = NULL;
	if (f->root == NULL)
		return ST_MISSING;
	enum status s = uefi_status(files_in(f->root, FILES_FOLDER "\\results", EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0, &ours));
	*results = ours;
	return s;
}

enum status files_last_run(struct files *f, const char *prefix, char *name, size_t capacity)
{
	EFI_FILE_HANDLE results;
	unsigned number = 0;
	struct text t;
	enum status s = files_results(f, &results);
	if (s != ST_OK)
		return s;
	s = files_highest_run(results, prefix, &number);
	results->Close(results);
	text_init(&t, name, capacity);
	text_fmt(&t, "%s-%04u", prefix, number);
	return s != ST_OK ? s : number == 0 ? ST_MISSING : t.full ? ST_FULL : ST_OK;
}

/* Overwrites one sector in place; its length never changes, so no cluster is allocated or freed. EDK II's FAT driver writes the
 * allocation table before the directory, so that a deletion interrupted by a power cut leaves a directory entry with a free cluster,
 * which the next file is given. */
static enum status write_sector(EFI_FILE_HANDLE folder, const char *name, const void *bytes, size_t n)
{
	char sector[FILES_SAVED_BYTES];
	EFI_FILE_HANDLE file;
	if (n > sizeof(sector))
		return ST_RANGE;
	memset(sector, '\n', sizeof(sector));
	memcpy(sector, bytes, n);
	enum status s = uefi_status(files_in(folder, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE, 0, &file));
	if (s != ST_OK)
		return s;
	files_cut(file, sizeof(sector)); /* a file that another program wrote may be longer */
	s = files_flushed(file, sector, sizeof(sector));
	if (s == ST_FULL)
		file->Delete(file); /* also closes it; a file without a cluster would count as damage */
	else
		file->Close(file);
	return s;
}

enum status files_save(struct files *f, const char *name, const void *bytes, size_t n)
{
	EFI_FILE_HANDLE ours;
	if (f->root == NULL)
		return ST_MISSING;
	enum status s = uefi_status(files_folder(f->root, FILES_FOLDER, &ours));
	if (s != ST_OK)
		return s;
	s = write_sector(ours, name, bytes, n);
	ours->Close(ours);
	return s;
}

enum status files_save_of_run(struct files *f, const char *run, const char *name, const void *bytes, size_t n)
{
	EFI_FILE_HANDLE results, folder;
	if (run == NULL)
		return f->run == NULL ? ST_MISSING : write_sector(f->run, name, bytes, n);
	enum status s = files_results(f, &results);
	if (s != ST_OK)
		return s;
	s = uefi_status(files_in(results, run, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0, &folder));
	results->Close(results);
	if (s != ST_OK)
		return s;
	s = write_sector(folder, name, bytes, n);
	folder->Close(folder);
	return s;
}

enum status files_each_run(struct files *f, void (*each)(void *self, const char *run), void *self)
{
	_Alignas(8) uint8_t info_bytes[INFO_BYTES];
	EFI_FILE_INFO *info = (void *)info_bytes;
	char name[FILE_NAME_MAX];
	EFI_FILE_HANDLE results;
	enum status s = files_results(f, &results);
	if (s != ST_OK)
		return s == ST_MISSING ? ST_OK : s;
	for (;;) {
		UINTN size = sizeof(info_bytes);
		s = uefi_status(results->Read(results, &size, info));
		if (s != ST_OK || size == 0)
			break;
		if ((info->Attribute & EFI_FILE_DIRECTORY) != 0 && uefi_ascii(info->FileName, (size - SIZE_OF_EFI_FILE_INFO) / 2, name, sizeof(name)) &&
		    name[0] != '.')
			each(self, name);
	}
	results->Close(results);
	return s;
}
