/* efi/storage/files.c: files of the boot volume through EFI_SIMPLE_FILE_SYSTEM_PROTOCOL.
 *
 * FAT has no atomic replacement, and its firmware driver refuses to rename over an existing file. EDK II's driver writes
 * the allocation table before the directory (FatPkg, FatVolumeFlushCache): if power fails between the two while clusters
 * are freed, a directory entry still refers to free clusters, which the next file is given. So no file with clusters is ever
 * deleted: a complete file is written with the extension .tmp, flushed, and renamed; an existing file of that name with other
 * contents first gets the extension .old. Handles may become invalid with the medium at any time; the status of every call is
 * checked. */
#include "efi/storage/handles.h"
#include "pmu/text.h"

#define ASIDE_MAX      9u /* temporary or replaced files per file name */

static const EFI_GUID file_system = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
static const EFI_GUID file_info = EFI_FILE_INFO_ID;

/* Opens the first volume that has our folder. */
static enum status open_any(struct files *f)
{
	EFI_GUID guid = file_system;
	EFI_HANDLE *handles = NULL;
	UINTN count = 0;
	if (uefi.boot->LocateHandleBuffer(ByProtocol, &guid, NULL, &count, &handles) != EFI_SUCCESS)
		return ST_MISSING;
	for (UINTN i = 0; i < count && f->root == NULL; i++) {
		EFI_FILE_IO_INTERFACE *volume = uefi_protocol(handles[i], &file_system);
		EFI_FILE_HANDLE root, ours;
		if (volume == NULL || volume->OpenVolume(volume, &root) != EFI_SUCCESS)
			continue;
		if (files_in(root, FILES_FOLDER, EFI_FILE_MODE_READ, 0, &ours) == EFI_SUCCESS) {
			ours->Close(ours);
			f->root = root;
		} else {
			root->Close(root);
		}
	}
	uefi.boot->FreePool(handles);
	return f->root != NULL ? ST_OK : ST_MISSING;
}

enum status files_open(struct files *f)
{
	EFI_FILE_IO_INTERFACE *volume;
	memset(f, 0, sizeof(*f));
	f->state = ST_MISSING;
	if (uefi.loaded == NULL || uefi.loaded->DeviceHandle == NULL)
		return ST_MISSING;
	volume = uefi_protocol(uefi.loaded->DeviceHandle, &file_system);
	if (volume == NULL)
		return open_any(f);
	return uefi_status(volume->OpenVolume(volume, &f->root));
}

void files_close(struct files *f)
{
	/* Closing writes as well, and a removed medium would cause a delay. Its driver discards the handles. */
	if (f->state != ST_IO) {
		if (f->journal != NULL) {
			files_cut(f->journal, f->journal_bytes);
			f->journal->Close(f->journal);
		}
		if (f->run != NULL)
			f->run->Close(f->run);
		if (f->root != NULL)
			f->root->Close(f->root);
	}
	memset(f, 0, sizeof(*f));
	f->state = ST_MISSING;
}

enum status files_read(struct files *f, const char *path, size_t most, char **text, size_t *bytes,
                       size_t *pages_bytes)
{
	_Alignas(8) uint8_t info_bytes[INFO_BYTES];
	EFI_FILE_INFO *info = (void *)info_bytes;
	UINTN info_size = sizeof(info_bytes);
	char full[RUN_PATH_MAX];
	EFI_GUID guid = file_info;
	EFI_FILE_HANDLE file;
	struct text t;

	*text = NULL;
	*bytes = *pages_bytes = 0;
	if (f->root == NULL)
		return ST_MISSING;
	text_init(&t, full, sizeof(full));
	if (path[0] != '\\' && path[0] != '/')
		text_fmt(&t, FILES_FOLDER "\\");
	text_fmt(&t, "%s", path);
	for (char *c = full; *c != 0; c++)
		if (*c == '/')
			*c = '\\';
	enum status s = t.full ? ST_MISSING : uefi_status(files_in(f->root, full, EFI_FILE_MODE_READ, 0, &file));
	if (s != ST_OK)
		return s;
	s = uefi_status(file->GetInfo(file, &guid, &info_size, info));
	if (s == ST_OK && (info->Attribute & EFI_FILE_DIRECTORY) != 0)
		s = ST_MISSING;
	if (s == ST_OK && info->FileSize > most)
		s = ST_FULL;
	if (s == ST_OK) {
		UINTN n = info->FileSize;
		*pages_bytes = n + 1;
		*text = pages_get(*pages_bytes);
		s = *text == NULL ? ST_FULL : uefi_status(file->Read(file, &n, *text));
		if (s == ST_OK && n != info->FileSize)
			s = ST_IO;
		*bytes = n;
		if (s != ST_OK && *text != NULL) {
			pages_put(*text, *pages_bytes);
			*text = NULL;
		}
	}
	file->Close(file);
	return s;
}

/* Checks that there is space for the folders and a first file. When EDK II's FAT driver creates a folder on a full volume, it leaves an entry
 * without a cluster, which file system checkers report as damage. */
static enum status room_for_run(struct files *f)
{
	_Alignas(8) uint8_t info_bytes[INFO_BYTES];
	EFI_FILE_SYSTEM_INFO *info = (void *)info_bytes;
	UINTN size = sizeof(info_bytes);
	EFI_GUID guid = EFI_FILE_SYSTEM_INFO_ID;
	if (f->root->GetInfo(f->root, &guid, &size, info) != EFI_SUCCESS)
		return ST_OK; /* the attempt will show */
	return info->FreeSpace < 4 * (uint64_t)info->BlockSize ? ST_FULL : ST_OK;
}

enum status files_begin_run(struct files *f, const char *prefix)
{
	EFI_FILE_HANDLE ours = NULL, results = NULL, there = NULL;
	unsigned number = 0;
	char name[FILE_NAME_MAX];
	struct text t;

	f->state = ST_MISSING;
	f->journal_bytes = 0;
	if (f->root == NULL)
		return f->state;
	f->state = room_for_run(f);
	if (f->state == ST_OK)
		f->state = uefi_status(files_folder(f->root, FILES_FOLDER, &ours));
	if (f->state == ST_OK)
		f->state = uefi_status(files_folder(ours, "results", &results));
	if (f->state == ST_OK)
		f->state = files_highest_run(results, prefix, &number);
	while (f->state == ST_OK && f->run == NULL) {
		if (++number > RUN_NUMBER_MAX) {
			f->state = ST_FULL;
			break;
		}
		text_init(&t, name, sizeof(name));
		text_fmt(&t, "%s-%04u", prefix, number);
		/* CREATE would open an existing folder: check first. */
		EFI_STATUS s = files_in(results, name, EFI_FILE_MODE_READ, 0, &there);
		if (s == EFI_SUCCESS) {
			there->Close(there);
			continue;
		}
		if (s == EFI_NOT_FOUND)
			s = files_in(results, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE,
			            EFI_FILE_DIRECTORY, &f->run);
		f->state = uefi_status(s);
	}
	if (f->state == ST_OK) {
		text_init(&t, f->run_path, sizeof(f->run_path));
		text_fmt(&t, FILES_FOLDER "\\results\\%s", name);
		(void)f->run->Flush(f->run); /* some firmware refuses this for a folder; the journal's first write will show a failure */
	}
	if (results != NULL)
		results->Close(results);
	if (ours != NULL)
		ours->Close(ours);
	return f->state;
}

enum status files_continue_run(struct files *f, const char *name, uint64_t journal_bytes)
{
	EFI_FILE_HANDLE results;
	struct text t;
	f->state = files_results(f, &results);
	if (f->state != ST_OK)
		return f->state;
	f->state = uefi_status(files_in(results, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0, &f->run));
	results->Close(results);
	if (f->state != ST_OK) {
		f->run = NULL;
		return f->state;
	}
	text_init(&t, f->run_path, sizeof(f->run_path));
	text_fmt(&t, FILES_FOLDER "\\results\\%s", name);
	f->state = uefi_status(files_in(f->run, "journal.jsonl", EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0, &f->journal));
	if (f->state != ST_OK)
		f->journal = NULL;
	f->journal_bytes = journal_bytes;
	return f->state;
}

/* ST_OK: `file` holds exactly these bytes; ST_MISSING: it does not, or there is no memory for the comparison. */
static enum status same_bytes(EFI_FILE_HANDLE file, uint64_t size, const void *bytes, size_t n)
{
	if (size != n)
		return ST_MISSING;
	char *there = pages_get(n + 1);
	UINTN done = n;
	if (there == NULL)
		return ST_MISSING;
	enum status s = uefi_status(file->Read(file, &done, there));
	if (s == ST_OK && (done != n || memcmp(there, bytes, n) != 0))
		s = ST_MISSING;
	pages_put(there, n + 1);
	return s;
}

/* Whether the open journal is the one that was being written: by all of its complete lines, or, if there are none yet, by the remains of a failed
 * write. */
static enum status same_journal(struct files *f, const char *journal, size_t bytes)
{
	uint64_t n = f->journal_bytes;
	enum status s = n != 0 ? ST_OK : files_size(f->journal, &n);
	return s != ST_OK ? s : n > bytes ? ST_MISSING : n == 0 ? ST_OK : same_bytes(f->journal, n, journal, n);
}

/* The previous handles are not closed: their driver may have ended with the medium, or the failure may have made them invalid. */
enum status files_again(struct files *f, const char *journal, size_t bytes)
{
	struct files before = *f;
	char name[FILE_NAME_MAX];
	size_t from = str_length(before.run_path);
	while (from > 0 && before.run_path[from - 1] != '\\')
		from--;
	str_copy(name, sizeof(name), before.run_path + from);
	enum status s = files_open(f);
	if (s == ST_OK)
		s = files_continue_run(f, name, before.journal_bytes);
	if (s == ST_MISSING && f->run != NULL && before.journal_bytes == 0)
		s = f->state = ST_OK; /* its first line was the one that failed */
	else if (s == ST_OK)
		s = same_journal(f, journal, bytes);
	if (s != ST_OK) {
		*f = before;
		f->state = ST_IO;
	}
	return s;
}

/* An incomplete line, left by an earlier boot or by a full volume, is overwritten by the next one: truncating would free clusters. Bytes after
 * the last line are cut off when the file is closed. */
static enum status append(struct files *f, const void *bytes, size_t n)
{
	enum status s = ST_OK;
	if (f->journal == NULL)
		s = uefi_status(files_in(f->run, "journal.jsonl", EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE, 0,
		                        &f->journal));
	if (s != ST_OK) {
		f->journal = NULL;
		return s;
	}
	s = uefi_status(f->journal->SetPosition(f->journal, f->journal_bytes));
	if (s == ST_OK)
		s = files_flushed(f->journal, bytes, n);
	if (s == ST_OK)
		f->journal_bytes += n;
	return s;
}

/* Records that a medium has failed, so that later calls do not wait for it. */
static enum status remember(struct files *f, enum status s)
{
	if (s == ST_IO || s == ST_TIMEOUT)
		f->state = ST_IO;
	return s == ST_TIMEOUT ? ST_IO : s;
}

enum status files_append(struct files *f, const void *bytes, size_t n)
{
	if (f->state != ST_OK)
		return f->state;
	return remember(f, append(f, bytes, n));
}

static enum status rename_to(EFI_FILE_HANDLE file, const char *name)
{
	_Alignas(8) uint8_t info_bytes[INFO_BYTES];
	EFI_FILE_INFO *info = (void *)info_bytes;
	UINTN size = sizeof(info_bytes);
	EFI_GUID guid = file_info;
	enum status s = uefi_status(file->GetInfo(file, &guid, &size, info));
	if (s != ST_OK)
		return s;
	uefi_ucs2(name, info->FileName, 255);
	size = SIZE_OF_EFI_FILE_INFO + 2 * (str_length(name) + 1);
	info->Size = size;
	return uefi_status(file->SetInfo(file, &guid, size, info));
}

/* NAME with another extension: ".tmp" for 1, ".tm2" for 2, ... An 8.3 name takes one directory entry, and the final name needs
 * no more entries than are free there: a rename stays within one sector, which a medium writes atomically. */
static enum status numbered(char *to, const char *name, const char *extension, unsigned number)
{
	struct text t;
	size_t stem = str_length(name);
	for (size_t i = 0; name[i] != 0; i++)
		if (name[i] == '.')
			stem = i;
	text_init(&t, to, FILE_NAME_MAX);
	text_bytes(&t, name, stem);
	text_fmt(&t, ".%s", extension);
	if (number > 1 && !t.full)
		to[t.length - 1] = (char)('0' + number);
	return t.full ? ST_RANGE : ST_OK;
}

/* Renames an existing file, which keeps its clusters, to another extension. */
static enum status rename_old(EFI_FILE_HANDLE folder, EFI_FILE_HANDLE file, const char *name)
{
	char old[FILE_NAME_MAX];
	EFI_FILE_HANDLE other;
	for (unsigned i = 1; i <= ASIDE_MAX; i++) {
		enum status s = numbered(old, name, "old", i);
		if (s != ST_OK)
			return s;
		EFI_STATUS there = files_in(folder, old, EFI_FILE_MODE_READ, 0, &other);
		if (there == EFI_SUCCESS) {
			other->Close(other);
			continue;
		}
		if (there != EFI_NOT_FOUND)
			return uefi_status(there);
		s = rename_to(file, old);
		return s == ST_OK ? uefi_status(file->Flush(file)) : s;
	}
	return ST_FULL;
}

/* Opens a temporary file for n bytes: a new one, or one that an interrupted write left, if it is not longer. */
static enum status open_temporary(EFI_FILE_HANDLE folder, const char *name, size_t n, EFI_FILE_HANDLE *file)
{
	char temporary[FILE_NAME_MAX];
	uint64_t size;
	for (unsigned i = 1; i <= ASIDE_MAX; i++) {
		enum status s = numbered(temporary, name, "tmp", i);
		if (s == ST_OK)
			s = uefi_status(files_in(folder, temporary, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE, 0, file));
		if (s == ST_OK && (s = files_size(*file, &size)) == ST_OK && size <= n)
			return ST_OK;
		if (s != ST_OK)
			return s;
		(*file)->Close(*file);
	}
	return ST_FULL;
}

static enum status write_whole(EFI_FILE_HANDLE folder, const char *name, const void *bytes, size_t n)
{
	EFI_FILE_HANDLE file, old = NULL;
	uint64_t size;
	enum status s = uefi_status(files_in(folder, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0, &old));
	if (s == ST_OK) {
		s = files_size(old, &size);
		if (s == ST_OK)
			s = same_bytes(old, size, bytes, n);
		if (s == ST_OK) {
			old->Close(old);
			return s;
		}
	} else {
		old = NULL;
	}
	if (s == ST_MISSING)
		s = open_temporary(folder, name, n, &file);
	if (s == ST_OK) {
		s = files_flushed(file, bytes, n);
		/* On a full volume nothing was stored: a file without clusters can be deleted, which also closes it. */
		if (s == ST_FULL && files_size(file, &size) == ST_OK && size == 0)
			file->Delete(file);
		else {
			if (s == ST_OK && old != NULL)
				s = rename_old(folder, old, name);
			if (s == ST_OK)
				s = rename_to(file, name);
			if (s == ST_OK)
				s = uefi_status(file->Flush(file));
			if (s != ST_IO && s != ST_TIMEOUT) /* closing a file on a removed medium would cause a delay */
				file->Close(file);
		}
	}
	if (old != NULL && s != ST_IO && s != ST_TIMEOUT)
		old->Close(old);
	return s;
}

enum status files_write(struct files *f, const char *name, const void *bytes, size_t n)
{
	if (f->state != ST_OK)
		return f->state;
	return remember(f, write_whole(f->run, name, bytes, n));
}
