/* efi/storage/files.c: files of the boot volume through EFI_SIMPLE_FILE_SYSTEM_PROTOCOL.
 *
 * FAT has no atomic replacement, and its firmware driver refuses to rename over an existing file. EDK II's driver writes
 * the allocation table before the directory (FatPkg, FatVolumeFlushCache): if power fails between the two while clusters
 * are freed, a name is left on free clusters, which the next file takes. So no file with clusters is ever deleted: a
 * complete file is written with the extension .tmp, flushed, and renamed; a file of that name with other contents first
 * gets the extension .old. Handles may die with the medium at any time; the status of every call is checked. */
#include "efi/storage/files.h"
#include "pmu/text.h"

#define RUN_NUMBER_MAX 9999u
#define ASIDE_MAX      9u /* names of temporary or replaced files, beside a file */
#define INFO_BYTES (SIZE_OF_EFI_FILE_INFO + 2 * 260) /* FAT long names have up to 255 units */

static const EFI_GUID file_system = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
static const EFI_GUID file_info = EFI_FILE_INFO_ID;

static EFI_STATUS open_in(EFI_FILE_HANDLE folder, const char *path, UINT64 mode, UINT64 attributes,
                          EFI_FILE_HANDLE *out)
{
	CHAR16 name[RUN_PATH_MAX + FILE_NAME_MAX];
	uefi_ucs2(path, name, COUNT_OF(name));
	return folder->Open(folder, out, name, mode, attributes);
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
		return ST_MISSING;
	return uefi_status(volume->OpenVolume(volume, &f->root));
}

static enum status size_of(EFI_FILE_HANDLE file, uint64_t *size)
{
	_Alignas(8) uint8_t info_bytes[INFO_BYTES];
	EFI_FILE_INFO *info = (void *)info_bytes;
	UINTN info_size = sizeof(info_bytes);
	EFI_GUID guid = file_info;
	enum status s = uefi_status(file->GetInfo(file, &guid, &info_size, info));
	*size = s == ST_OK ? info->FileSize : 0;
	return s;
}

/* Cuts a file to that many bytes. */
static void cut(EFI_FILE_HANDLE file, uint64_t bytes)
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

void files_close(struct files *f)
{
	/* Closing writes too, and a medium that is gone would delay us. Its driver forgets the handles. */
	if (f->state != ST_IO) {
		if (f->journal != NULL) {
			cut(f->journal, f->journal_bytes);
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
	enum status s = t.full ? ST_MISSING : uefi_status(open_in(f->root, full, EFI_FILE_MODE_READ, 0, &file));
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

/* The folder `name`, created if missing. */
static EFI_STATUS folder_get(EFI_FILE_HANDLE in, const char *name, EFI_FILE_HANDLE *out)
{
	EFI_STATUS s = open_in(in, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0, out);
	if (s == EFI_NOT_FOUND)
		s = open_in(in, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE,
		            EFI_FILE_DIRECTORY, out);
	return s;
}

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

static enum status highest_run(EFI_FILE_HANDLE results, const char *prefix, unsigned *highest)
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

/* Space for the folders and a first file. EDK II's FAT driver, asked for a folder on a full volume, leaves an entry without
 * a cluster, which file system checkers report as damage. */
static enum status room_for_run(struct files *f)
{
	_Alignas(8) uint8_t info_bytes[INFO_BYTES];
	EFI_FILE_SYSTEM_INFO *info = (void *)info_bytes;
	UINTN size = sizeof(info_bytes);
	EFI_GUID guid = EFI_FILE_SYSTEM_INFO_ID;
	if (f->root->GetInfo(f->root, &guid, &size, info) != EFI_SUCCESS)
		return ST_OK; /* then the attempt will tell */
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
		f->state = uefi_status(folder_get(f->root, FILES_FOLDER, &ours));
	if (f->state == ST_OK)
		f->state = uefi_status(folder_get(ours, "results", &results));
	if (f->state == ST_OK)
		f->state = highest_run(results, prefix, &number);
	while (f->state == ST_OK && f->run == NULL) {
		if (++number > RUN_NUMBER_MAX) {
			f->state = ST_FULL;
			break;
		}
		text_init(&t, name, sizeof(name));
		text_fmt(&t, "%s-%04u", prefix, number);
		/* Opening with CREATE would open an existing file: check first. */
		EFI_STATUS s = open_in(results, name, EFI_FILE_MODE_READ, 0, &there);
		if (s == EFI_SUCCESS) {
			there->Close(there);
			continue;
		}
		if (s == EFI_NOT_FOUND)
			s = open_in(results, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE,
			            EFI_FILE_DIRECTORY, &f->run);
		f->state = uefi_status(s);
	}
	if (f->state == ST_OK) {
		text_init(&t, f->run_path, sizeof(f->run_path));
		text_fmt(&t, FILES_FOLDER "\\results\\%s", name);
		(void)f->run->Flush(f->run); /* some firmware refuses this for a folder; the journal's first line will tell */
	}
	if (results != NULL)
		results->Close(results);
	if (ours != NULL)
		ours->Close(ours);
	return f->state;
}

/* The results folder, or why there is none. */
static enum status results_get(struct files *f, EFI_FILE_HANDLE *results)
{
	EFI_FILE_HANDLE ours = NULL;
	*results = NULL;
	if (f->root == NULL)
		return ST_MISSING;
	enum status s = uefi_status(open_in(f->root, FILES_FOLDER "\\results", EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0, &ours));
	*results = ours;
	return s;
}

enum status files_last_run(struct files *f, const char *prefix, char *name, size_t capacity)
{
	EFI_FILE_HANDLE results;
	unsigned number = 0;
	struct text t;
	enum status s = results_get(f, &results);
	if (s != ST_OK)
		return s;
	s = highest_run(results, prefix, &number);
	results->Close(results);
	text_init(&t, name, capacity);
	text_fmt(&t, "%s-%04u", prefix, number);
	return s != ST_OK ? s : number == 0 ? ST_MISSING : t.full ? ST_FULL : ST_OK;
}

enum status files_continue_run(struct files *f, const char *name, uint64_t journal_bytes)
{
	EFI_FILE_HANDLE results;
	struct text t;
	f->state = results_get(f, &results);
	if (f->state != ST_OK)
		return f->state;
	f->state = uefi_status(open_in(results, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0, &f->run));
	results->Close(results);
	if (f->state != ST_OK) {
		f->run = NULL;
		return f->state;
	}
	text_init(&t, f->run_path, sizeof(f->run_path));
	text_fmt(&t, FILES_FOLDER "\\results\\%s", name);
	f->state = uefi_status(open_in(f->run, "journal.jsonl", EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0, &f->journal));
	if (f->state != ST_OK)
		f->journal = NULL;
	f->journal_bytes = journal_bytes;
	return f->state;
}

/* The handles of before are left alone: they may be of a driver that has ended with the medium, or be broken by the failure. */
enum status files_again(struct files *f)
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
	if (s != ST_OK) {
		*f = before;
		f->state = ST_IO;
	}
	return s;
}

static enum status write_flushed(EFI_FILE_HANDLE file, const void *bytes, size_t n)
{
	UINTN done = n;
	/* The protocol's Write takes a pointer to non-const, and only reads. */
	EFI_STATUS s = n == 0 ? EFI_SUCCESS : file->Write(file, &done, (void *)(uintptr_t)bytes);
	/* If power failed between the writes of allocation table and directory, there are clusters behind the file's end. EDK
	 * II's driver refuses to append to such a file, but frees the clusters in doing so (FatPkg, FatGrowEof), so one retry
	 * succeeds. */
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

/* An incomplete line left by an earlier boot, or by a full volume, is overwritten by the next one: cutting it off would
 * free clusters. What is still behind the last line when the file is closed is cut off then. */
static enum status append(struct files *f, const void *bytes, size_t n)
{
	enum status s = ST_OK;
	if (f->journal == NULL)
		s = uefi_status(open_in(f->run, "journal.jsonl", EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE, 0,
		                        &f->journal));
	if (s != ST_OK) {
		f->journal = NULL;
		return s;
	}
	s = uefi_status(f->journal->SetPosition(f->journal, f->journal_bytes));
	if (s == ST_OK)
		s = write_flushed(f->journal, bytes, n);
	if (s == ST_OK)
		f->journal_bytes += n;
	return s;
}

/* Remembers that a medium is gone, so that it is not waited for again and again. */
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

/* ST_OK: `file` holds exactly these bytes; ST_MISSING: it does not, or there is no memory to compare. */
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

/* NAME with another extension: ".tmp" for 1, ".tm2" for 2, ... An 8.3 name takes one directory entry, and the final name no
 * more space than is free there then: a rename stays within one sector, which a medium writes atomically. */
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

/* A file that has the name already keeps its clusters under another extension. */
static enum status rename_old(EFI_FILE_HANDLE folder, EFI_FILE_HANDLE file, const char *name)
{
	char old[FILE_NAME_MAX];
	EFI_FILE_HANDLE other;
	for (unsigned i = 1; i <= ASIDE_MAX; i++) {
		enum status s = numbered(old, name, "old", i);
		if (s != ST_OK)
			return s;
		EFI_STATUS there = open_in(folder, old, EFI_FILE_MODE_READ, 0, &other);
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

/* A file for writing n bytes: a new one, or what an interrupted write left, if that is not longer. */
static enum status open_temporary(EFI_FILE_HANDLE folder, const char *name, size_t n, EFI_FILE_HANDLE *file)
{
	char temporary[FILE_NAME_MAX];
	uint64_t size;
	for (unsigned i = 1; i <= ASIDE_MAX; i++) {
		enum status s = numbered(temporary, name, "tmp", i);
		if (s == ST_OK)
			s = uefi_status(open_in(folder, temporary, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE, 0, file));
		if (s == ST_OK && (s = size_of(*file, &size)) == ST_OK && size <= n)
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
	enum status s = uefi_status(open_in(folder, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0, &old));
	if (s == ST_OK) {
		s = size_of(old, &size);
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
		s = write_flushed(file, bytes, n);
		/* On a full volume nothing of it was kept: a file without clusters can be deleted, which also closes it. */
		if (s == ST_FULL && size_of(file, &size) == ST_OK && size == 0)
			file->Delete(file);
		else {
			if (s == ST_OK && old != NULL)
				s = rename_old(folder, old, name);
			if (s == ST_OK)
				s = rename_to(file, name);
			if (s == ST_OK)
				s = uefi_status(file->Flush(file));
			if (s != ST_IO && s != ST_TIMEOUT) /* closing a medium that is gone would delay us */
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

/* In place, one sector that never changes its length: no cluster is allocated or freed. EDK II's FAT driver writes the
 * allocation table before the directory, so that a deletion interrupted by a power cut leaves a name on a free cluster,
 * which the next file takes. */
static enum status write_sector(EFI_FILE_HANDLE folder, const char *name, const void *bytes, size_t n)
{
	char sector[FILES_KEPT_BYTES];
	EFI_FILE_HANDLE file;
	if (n > sizeof(sector))
		return ST_RANGE;
	memset(sector, '\n', sizeof(sector));
	memcpy(sector, bytes, n);
	enum status s = uefi_status(open_in(folder, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE, 0, &file));
	if (s != ST_OK)
		return s;
	cut(file, sizeof(sector)); /* somebody else's may be longer */
	s = write_flushed(file, sector, sizeof(sector));
	if (s == ST_FULL)
		file->Delete(file); /* closes; a file without a cluster would be damage */
	else
		file->Close(file);
	return s;
}

enum status files_keep(struct files *f, const char *name, const void *bytes, size_t n)
{
	EFI_FILE_HANDLE ours;
	if (f->root == NULL)
		return ST_MISSING;
	enum status s = uefi_status(folder_get(f->root, FILES_FOLDER, &ours));
	if (s != ST_OK)
		return s;
	s = write_sector(ours, name, bytes, n);
	ours->Close(ours);
	return s;
}
