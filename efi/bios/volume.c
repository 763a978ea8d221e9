/* efi/bios/volume.c: the boot volume through EFI_SIMPLE_FILE_SYSTEM_PROTOCOL and EFI_FILE_PROTOCOL (UEFI 13.4, 13.5), read
 * only: writing services return EFI_WRITE_PROTECTED. Files have no times. */
#include "efi/bios/loader.h"

static const EFI_GUID file_info = EFI_FILE_INFO_ID;

/* The protocol comes first, so that pointers to both are the same. `name`: the path's last part, for GetInfo. */
struct open_file { EFI_FILE file; struct fat_file in; char name[FAT_NAME]; };

static struct fat *volume;

static EFI_STATUS status_of(enum status s)
{
	switch (s) {
	case ST_OK: return EFI_SUCCESS;
	case ST_MISSING: return EFI_NOT_FOUND;
	case ST_IO: return EFI_DEVICE_ERROR;
	default: return EFI_VOLUME_CORRUPTED;
	}
}

static EFI_STATUS make(const struct fat_file *in, const char *name, EFI_FILE_HANDLE *out);

static EFI_STATUS EFIAPI file_open(EFI_FILE_HANDLE from, EFI_FILE_HANDLE *out, CHAR16 *path, UINT64 how, UINT64 attributes)
{
	char ascii[2 * FAT_NAME];
	struct fat_file found;
	size_t n = 0, last = 0;
	(void)attributes;
	for (; path[n] != 0; n++) {
		if (n + 1 == sizeof(ascii))
			return EFI_NOT_FOUND;
		ascii[n] = path[n] < 0x7F ? (char)path[n] : '?';
		last = ascii[n] == '\\' ? n + 1 : last;
	}
	ascii[n] = 0;
	enum status s = fat_find(volume, &((struct open_file *)from)->in, ascii, &found);
	if (s == ST_MISSING && (how & EFI_FILE_MODE_CREATE) != 0)
		return EFI_WRITE_PROTECTED;
	if (s != ST_OK)
		return status_of(s);
	if ((how & EFI_FILE_MODE_WRITE) != 0)
		return EFI_WRITE_PROTECTED;
	return n - last < FAT_NAME ? make(&found, ascii + last, out) : EFI_NOT_FOUND;
}

static EFI_STATUS EFIAPI file_close(EFI_FILE_HANDLE file)
{
	return memory_free_pool(file);
}

static EFI_STATUS EFIAPI file_delete(EFI_FILE_HANDLE file)
{
	(void)file_close(file);
	return EFI_WARN_DELETE_FAILURE;
}

/* Fills in EFI_FILE_INFO except the times. */
static EFI_STATUS put_info(const struct fat_file *f, const char *name, UINTN *bytes, VOID *to)
{
	EFI_FILE_INFO *info = to;
	UINTN length = 0;
	while (name[length] != 0)
		length++;
	UINTN need = SIZE_OF_EFI_FILE_INFO + (length + 1) * sizeof(CHAR16), capacity = *bytes;
	*bytes = need;
	if (capacity < need)
		return EFI_BUFFER_TOO_SMALL;
	memset(info, 0, need);
	info->Size = need;
	info->FileSize = info->PhysicalSize = f->bytes;
	info->Attribute = EFI_FILE_READ_ONLY | (f->folder ? EFI_FILE_DIRECTORY : 0);
	for (UINTN i = 0; i < length; i++)
		info->FileName[i] = (CHAR16)(uint8_t)name[i];
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI file_read(EFI_FILE_HANDLE file, UINTN *bytes, VOID *to)
{
	struct open_file *o = (struct open_file *)file;
	if (!o->in.folder) {
		uint64_t n = *bytes;
		enum status s = fat_read(volume, &o->in, to, &n);
		*bytes = n;
		return status_of(s);
	}
	struct fat_file before = o->in, entry;
	char name[FAT_NAME];
	enum status s = fat_next(volume, &o->in, name, &entry);
	if (s == ST_MISSING)
		*bytes = 0;
	if (s != ST_OK)
		return s == ST_MISSING ? EFI_SUCCESS : status_of(s);
	EFI_STATUS result = put_info(&entry, name, bytes, to);
	if (result != EFI_SUCCESS)
		o->in = before;
	return result;
}

static EFI_STATUS EFIAPI file_write(EFI_FILE_HANDLE file, UINTN *bytes, VOID *from)
{
	(void)file;
	(void)from;
	*bytes = 0;
	return EFI_WRITE_PROTECTED;
}

static EFI_STATUS EFIAPI file_get_position(EFI_FILE_HANDLE file, UINT64 *at)
{
	struct open_file *o = (struct open_file *)file;
	*at = o->in.at;
	return o->in.folder ? EFI_UNSUPPORTED : EFI_SUCCESS;
}

static EFI_STATUS EFIAPI file_set_position(EFI_FILE_HANDLE file, UINT64 at)
{
	struct open_file *o = (struct open_file *)file;
	if (o->in.folder && at != 0)
		return EFI_UNSUPPORTED;
	o->in.at = at < o->in.bytes ? at : o->in.bytes; /* a folder's size is 0: back to its beginning */
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI file_get_info(EFI_FILE_HANDLE file, EFI_GUID *guid, UINTN *bytes, VOID *to)
{
	struct open_file *o = (struct open_file *)file;
	return memcmp(guid, &file_info, sizeof(*guid)) == 0 ? put_info(&o->in, o->name, bytes, to) : EFI_UNSUPPORTED;
}

static EFI_STATUS EFIAPI file_set_info(EFI_FILE_HANDLE file, EFI_GUID *guid, UINTN bytes, VOID *from)
{
	(void)file;
	(void)guid;
	(void)bytes;
	(void)from;
	return EFI_WRITE_PROTECTED;
}

static EFI_STATUS EFIAPI file_flush(EFI_FILE_HANDLE file)
{
	(void)file;
	return EFI_SUCCESS; /* nothing is buffered */
}

static EFI_STATUS make(const struct fat_file *in, const char *name, EFI_FILE_HANDLE *out)
{
	VOID *at;
	EFI_STATUS s = memory_allocate_pool(EfiRuntimeServicesData, sizeof(struct open_file), &at);
	if (s != EFI_SUCCESS)
		return s;
	struct open_file *o = at;
	memset(o, 0, sizeof(*o));
	o->in = *in;
	for (size_t i = 0; name[i] != 0; i++)
		o->name[i] = name[i];
	o->file = (EFI_FILE){ .Revision = EFI_FILE_PROTOCOL_REVISION, .Open = file_open, .Close = file_close, .Delete = file_delete,
		.Read = file_read, .Write = file_write, .GetPosition = file_get_position, .SetPosition = file_set_position,
		.GetInfo = file_get_info, .SetInfo = file_set_info, .Flush = file_flush };
	*out = &o->file;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI open_volume(EFI_FILE_IO_INTERFACE *self, EFI_FILE_HANDLE *root)
{
	struct fat_file in = fat_root(volume);
	(void)self;
	return make(&in, "", root);
}

EFI_FILE_IO_INTERFACE *volume_protocol(struct fat *f)
{
	static EFI_FILE_IO_INTERFACE protocol = { .Revision = EFI_FILE_IO_INTERFACE_REVISION, .OpenVolume = open_volume };
	volume = f;
	return &protocol;
}
