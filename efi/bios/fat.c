/* efi/bios/fat.c: FAT32 by Microsoft's FAT specification 1.03: boot sector ("Boot Sector and BPB Structure"), allocation
 * table, folders, long names. Read only. Every chain ends: no more clusters are followed than the volume has. */
#include "efi/bios/loader.h"
#include "pmu/text.h"

#define ENTRY_BYTES  32u
#define NAME_UNITS   13u    /* of one long-name entry */
#define END_FROM     0x0FFFFFF8u
#define CLUSTER_MASK 0x0FFFFFFFu
#define ATTR_FOLDER  0x10u
#define ATTR_LABEL   0x08u
#define ATTR_LONG    0x0Fu

static uint16_t u16_at(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }
static uint32_t u32_at(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }

enum status fat_open(struct fat *f, const struct partition *p)
{
	const uint8_t *b = f->block;
	enum status s = disk_read(p->first, 1, f->block);
	if (s != ST_OK)
		return s;
	uint32_t reserved = u16_at(b + 14), tables = b[16], table_blocks = u32_at(b + 36), blocks = u32_at(b + 32);
	uint64_t before = reserved + (uint64_t)tables * table_blocks;
	f->cluster_blocks = b[13];
	/* 11: bytes per block; 17, 19, 22: root entries, blocks, and blocks per table of FAT12 and FAT16, zero in FAT32. */
	if (u16_at(b + 510) != 0xAA55 || u16_at(b + 11) != BLOCK_BYTES || u16_at(b + 17) != 0 || u16_at(b + 19) != 0 || u16_at(b + 22) != 0 ||
	    f->cluster_blocks == 0 || reserved == 0 || tables == 0 || table_blocks == 0 || before >= blocks || blocks > p->blocks)
		return ST_SYNTAX;
	f->table = p->first + reserved;
	f->data = p->first + before;
	f->clusters = (uint32_t)((blocks - before) / f->cluster_blocks);
	f->root = u32_at(b + 44);
	f->cached = 0;
	if ((uint64_t)table_blocks * (BLOCK_BYTES / 4) < f->clusters + 2ull)
		return ST_SYNTAX;
	return ST_OK;
}

static bool good(const struct fat *f, uint32_t cluster)
{
	return cluster >= 2 && cluster - 2 < f->clusters;
}

/* ST_MISSING: `cluster` is the chain's last. */
static enum status next_cluster(struct fat *f, uint32_t cluster, uint32_t *next)
{
	uint64_t block = f->table + cluster / (BLOCK_BYTES / 4);
	if (f->cached != block) {
		f->cached = 0;
		enum status s = disk_read(block, 1, f->entries);
		if (s != ST_OK)
			return s;
		f->cached = block;
	}
	*next = f->entries[cluster % (BLOCK_BYTES / 4)] & CLUSTER_MASK;
	return *next >= END_FROM ? ST_MISSING : good(f, *next) ? ST_OK : ST_BROKEN;
}

/* Moves to the file's cluster of that number, from the current one if possible. */
static enum status seek(struct fat *f, struct fat_file *file, uint32_t number)
{
	if (file->cluster == 0 || number < file->number) {
		if (!good(f, file->first))
			return file->first == 0 ? ST_MISSING : ST_BROKEN;
		file->cluster = file->first;
		file->number = 0;
	}
	while (file->number < number) {
		uint32_t next;
		enum status s = file->number >= f->clusters ? ST_BROKEN : next_cluster(f, file->cluster, &next);
		if (s != ST_OK)
			return s;
		file->cluster = next;
		file->number++;
	}
	return ST_OK;
}

/* Number of consecutive clusters, at most `most`, from the file's position, which moves to the last of them. */
static enum status together(struct fat *f, struct fat_file *file, uint32_t most, uint32_t *clusters)
{
	*clusters = 1;
	while (*clusters < most) {
		uint32_t next;
		enum status s = next_cluster(f, file->cluster, &next);
		if (s == ST_MISSING || (s == ST_OK && next != file->cluster + 1))
			return ST_OK;
		if (s != ST_OK)
			return s;
		file->cluster = next;
		file->number++;
		(*clusters)++;
	}
	return ST_OK;
}

enum status fat_read(struct fat *f, struct fat_file *file, void *to, uint64_t *bytes)
{
	uint64_t cluster_bytes = (uint64_t)f->cluster_blocks * BLOCK_BYTES, want = *bytes, done = 0;
	uint8_t *out = to;
	if (!file->folder && want > file->bytes - file->at)
		want = file->bytes - file->at;
	*bytes = 0;
	while (done < want) {
		uint64_t within = file->at % cluster_bytes, left = want - done;
		enum status s = seek(f, file, (uint32_t)(file->at / cluster_bytes));
		if (s == ST_MISSING && file->folder)
			break;
		if (s != ST_OK)
			return s == ST_MISSING ? ST_BROKEN : s; /* the chain is shorter than the size in the entry */
		uint64_t block = f->data + (uint64_t)(file->cluster - 2) * f->cluster_blocks + within / BLOCK_BYTES, n;
		if (within % BLOCK_BYTES != 0 || left < BLOCK_BYTES) {
			n = BLOCK_BYTES - within % BLOCK_BYTES;
			n = n < left ? n : left;
			s = disk_read(block, 1, f->block);
			memcpy(out + done, f->block + within % BLOCK_BYTES, s == ST_OK ? n : 0);
		} else {
			uint32_t clusters;
			s = together(f, file, (uint32_t)(left / cluster_bytes) + 1, &clusters);
			n = clusters * cluster_bytes - within;
			n = n < left ? n : left / BLOCK_BYTES * BLOCK_BYTES;
			if (s == ST_OK)
				s = disk_read(block, n / BLOCK_BYTES, out + done);
		}
		if (s != ST_OK)
			return s;
		done += n;
		file->at += n;
	}
	*bytes = done;
	return ST_OK;
}

/* --- folders ------------------------------------------------------------------------------------------------------------ */
/* Checksum of the short name, as long-name entries hold it ("Name Structure"). */
static uint8_t short_sum(const uint8_t *name)
{
	uint8_t sum = 0;
	for (unsigned i = 0; i < 11; i++)
		sum = (uint8_t)((sum << 7 | sum >> 1) + name[i]);
	return sum;
}

static void short_name(const uint8_t *e, char *to)
{
	unsigned n = 0;
	for (unsigned i = 0; i < 11; i++) {
		if (i == 8 && e[8] != ' ')
			to[n++] = '.';
		if (e[i] != ' ')
			to[n++] = e[i] > ' ' && e[i] < 0x7F ? (char)e[i] : '?';
	}
	to[n] = 0;
}

/* Characters 1 to 5 are at 1, 6 to 11 at 14, 12 and 13 at 28; the entries come in reverse order. */
static void long_part(const uint8_t *e, char *name, unsigned part)
{
	for (unsigned i = 0; i < NAME_UNITS; i++) {
		unsigned to = part * NAME_UNITS + i;
		uint16_t c = u16_at(e + (i < 5 ? 1 + 2 * i : i < 11 ? 14 + 2 * (i - 5) : 28 + 2 * (i - 11)));
		if (to < FAT_NAME - 1)
			name[to] = c == 0 || c == 0xFFFF ? 0 : c >= ' ' && c < 0x7F ? (char)c : '?';
	}
}

enum status fat_next(struct fat *f, struct fat_file *folder, char name[FAT_NAME], struct fat_file *out)
{
	uint8_t e[ENTRY_BYTES], sum = 0;
	unsigned part = 0; /* number of the long-name entry that was read last; 0: none pending */
	bool whole = false;
	/* Folders have at most 65536 entries ("Directory Structure"). */
	while (folder->at < 65536ull * ENTRY_BYTES) {
		uint64_t n = sizeof(e);
		enum status s = fat_read(f, folder, e, &n);
		if (s != ST_OK)
			return s;
		if (n != sizeof(e) || e[0] == 0)
			return ST_MISSING;
		if (e[0] != 0xE5 && (e[11] & 0x3F) == ATTR_LONG) {
			unsigned number = e[0] & 0x1F;
			if ((e[0] & 0x40) != 0) {
				memset(name, 0, FAT_NAME);
				part = number + 1;
				sum = e[13];
			}
			part = number != 0 && number == part - 1 && e[13] == sum ? number : 0;
			if (part != 0)
				long_part(e, name, part - 1);
			whole = part == 1;
			continue;
		}
		if (e[0] == 0xE5 || (e[11] & ATTR_LABEL) != 0) {
			whole = false;
			continue;
		}
		if (!whole || short_sum(e) != sum)
			short_name(e, name);
		name[FAT_NAME - 1] = 0;
		memset(out, 0, sizeof(*out));
		out->folder = (e[11] & ATTR_FOLDER) != 0;
		out->first = ((uint32_t)u16_at(e + 20) << 16 | u16_at(e + 26)) & CLUSTER_MASK;
		out->bytes = out->folder ? 0 : u32_at(e + 28);
		if (out->folder && out->first == 0) /* ".." of a folder in the root */
			out->first = f->root;
		return ST_OK;
	}
	return ST_MISSING;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether `name` equals the first `length` characters of `path`, ignoring case. */
static bool same(const char *name, const char *path, size_t length)
{
	if (str_length(name) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (lower(name[i]) != lower(path[i]))
			return false;
	return true;
}

struct fat_file fat_root(const struct fat *f)
{
	return (struct fat_file){ .first = f->root, .folder = true };
}

enum status fat_find(struct fat *f, const struct fat_file *in, const char *path, struct fat_file *out)
{
	char name[FAT_NAME];
	*out = path[0] == '\\' ? fat_root(f) : *in;
	while (*path != 0) {
		size_t length = 0;
		while (*path == '\\')
			path++;
		while (path[length] != 0 && path[length] != '\\')
			length++;
		if (length == 0 || (length == 1 && path[0] == '.')) {
			path += length;
			continue;
		}
		struct fat_file folder = *out;
		enum status s = folder.folder ? ST_OK : ST_MISSING;
		folder.at = 0;
		do {
			if (s == ST_OK)
				s = fat_next(f, &folder, name, out);
		} while (s == ST_OK && !same(name, path, length));
		if (s != ST_OK)
			return s;
		path += length;
	}
	out->at = 0;
	return ST_OK;
}
