/* tests/bios/loader.c: what the BIOS loader reads from a disk and how it shares out memory, on the host under the sanitizers:
 * efi/bios/{memory,partition,fat,volume,image}.c. The memory map is held against one that counts page by page; disk and
 * application are read whole, then damaged in seeded ways. Speaks TAP.   usage: loader IMAGE APPLICATION LONG-NAME-FILE ROUNDS [SEED] */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "efi/bios/loader.h"
#include "pmu/text.h"

static unsigned long long random_state = 1;
static unsigned tests_done, tests_failed;

static uint32_t any(uint32_t below) /* xorshift64 */
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return below == 0 ? 0 : (uint32_t)(random_state >> 16) % below;
}

static void check(bool good, const char *what)
{
	printf("%s %u - %s\n", good ? "ok" : "not ok", ++tests_done, what);
	fflush(stdout);
	tests_failed += !good;
}

/* --- what the assembler part gives ------------------------------------------------------------------------------------- */
static struct bios_range ranges_told[128];
static uint32_t ranges_told_count;
static uint16_t low_kib = 639;
extern const struct bios_range bios_map[128] __attribute__((alias("ranges_told")));
extern const uint32_t bios_map_entries __attribute__((alias("ranges_told_count")));
extern const uint16_t bios_low_kib __attribute__((alias("low_kib")));

struct content { uint8_t *at; uint64_t bytes; };
static struct content disk;

enum status disk_read(uint64_t block, uint64_t blocks, void *to)
{
	if (block >= disk.bytes / BLOCK_BYTES || blocks > disk.bytes / BLOCK_BYTES - block)
		return ST_IO;
	memcpy(to, disk.at + block * BLOCK_BYTES, blocks * BLOCK_BYTES);
	return ST_OK;
}

static struct content content_of(const char *name)
{
	struct content c = { NULL, 0 };
	FILE *f = fopen(name, "rb");
	if (f == NULL || fseek(f, 0, SEEK_END) != 0)
		exit(2);
	c.bytes = (uint64_t)ftell(f);
	c.at = malloc(c.bytes);
	rewind(f);
	if (c.at == NULL || fread(c.at, 1, c.bytes, f) != c.bytes)
		exit(2);
	fclose(f);
	return c;
}

/* --- memory: page by page ---------------------------------------------------------------------------------------------- */
#define PAGES   16384u  /* 64 MiB */
#define NONE    99u
static uint8_t model[PAGES];

static void told(uint64_t base, uint64_t bytes, uint32_t type, uint32_t attributes)
{
	ranges_told[ranges_told_count++] = (struct bios_range){ base, bytes, type, attributes };
}

/* The UEFI specification's numbers, table 7.10: 0 reserved, 5 runtime code, 7 conventional, 8 unusable, 9 ACPI reclaim, 10 ACPI NVS. */
static void model_make(void)
{
	static const uint8_t means[8] = { 0, 7, 0, 9, 10, 8, 0, 0 };
	memset(model, NONE, sizeof(model));
	for (unsigned usable = 1; usable < 2; usable--)
		for (unsigned i = 0; i < ranges_told_count; i++) {
			const struct bios_range *r = &ranges_told[i];
			for (uint64_t page = 0; page < PAGES; page++) {
				uint64_t from = page * 4096, to = from + 4096, end = r->base + r->bytes;
				bool whole = r->base <= from && to <= end, some = r->bytes != 0 && r->base < to && from < end;
				if ((r->attributes & 1) != 0 && (r->type == 1) == (usable == 1) && (usable == 1 ? whole : some))
					model[page] = means[r->type];
			}
		}
	for (unsigned page = 0; page < 256; page++)
		if (page == 0 || page >= 0xE0 || (page >= low_kib / 4u && page < 0xA0))
			model[page] = 0;
		else if (page < LOW_END / 4096)
			model[page] = 5;
}

/* The model: the map as the application gets it, sorted and without overlaps. */
static bool map_is_model(void)
{
	static uint8_t bytes[65536], seen[PAGES];
	UINTN size = sizeof(bytes), key, step;
	UINT32 version;
	uint64_t last = 0;
	memset(seen, NONE, sizeof(seen));
	if (memory_get_map(&size, (EFI_MEMORY_DESCRIPTOR *)(void *)bytes, &key, &step, &version) != EFI_SUCCESS)
		return false;
	for (UINTN at = 0; at + step <= size; at += step) {
		EFI_MEMORY_DESCRIPTOR d;
		memcpy(&d, bytes + at, sizeof(d));
		uint64_t page = d.PhysicalStart / 4096;
		if (page < last || d.NumberOfPages == 0 || page + d.NumberOfPages > PAGES)
			return false;
		last = page + d.NumberOfPages;
		memset(seen + page, (int)d.Type, d.NumberOfPages);
	}
	return memcmp(seen, model, sizeof(model)) == 0;
}

static bool model_is(uint64_t page, uint64_t pages, bool free)
{
	for (uint64_t i = page; i < page + pages; i++)
		if (i >= PAGES || (free ? model[i] != 7 : model[i] == 7 || model[i] == NONE))
			return false;
	return true;
}

static bool model_has_room(uint64_t pages, uint64_t end)
{
	uint64_t run = 0;
	for (uint64_t i = 0; i < PAGES && i < end; i++) {
		run = model[i] == 7 ? run + 1 : 0;
		if (run == pages)
			return true;
	}
	return false;
}

struct held { uint64_t page, pages; };

static bool allocate_some(struct held *h)
{
	static const EFI_MEMORY_TYPE types[] = { EfiLoaderCode, EfiLoaderData, EfiBootServicesData, EfiRuntimeServicesData };
	EFI_ALLOCATE_TYPE how = (EFI_ALLOCATE_TYPE)any(3);
	EFI_MEMORY_TYPE type = types[any(COUNT_OF(types))];
	uint64_t pages = 1 + any(any(8) == 0 ? 4096 : 64), end = PAGES;
	EFI_PHYSICAL_ADDRESS at = (uint64_t)any(PAGES) * 4096;
	if (how == AllocateMaxAddress) {
		at += any(4096);
		end = (at + 1) / 4096;
	}
	uint64_t wanted = at / 4096;
	EFI_STATUS s = memory_allocate_pages(how, type, pages, &at);
	h->pages = 0;
	if (s != EFI_SUCCESS)
		return how == AllocateAddress ? !model_is(wanted, pages, true) : !model_has_room(pages, end);
	*h = (struct held){ at / 4096, pages };
	if (!model_is(h->page, pages, true) || h->page + pages > end || (how == AllocateAddress && h->page != wanted))
		return false;
	memset(model + h->page, (int)type, pages);
	return true;
}

static void test_memory(unsigned rounds)
{
	bool maps = true, shares = true, gives_back = true;
	for (unsigned round = 0; round < rounds; round++) {
		struct held held[64] = { { 0, 0 } };
		static uint8_t before[PAGES];
		ranges_told_count = 0;
		low_kib = (uint16_t)(300 + any(340));
		for (unsigned n = 1 + any(24), i = 0; i < n; i++) {
			uint64_t base = (uint64_t)any(PAGES) << 12 | (any(2) ? any(4096) : 0), most = PAGES * 4096ull - base;
			uint64_t bytes = any(4) == 0 ? most : any((uint32_t)most);
			told(base, bytes, any(2) ? 1 : 2 + any(6), any(16) != 0);
		}
		model_make();
		maps = maps && memory_init() == ST_OK && map_is_model();
		memcpy(before, model, sizeof(model));
		for (unsigned i = 0; i < 300; i++) {
			struct held *h = &held[any(COUNT_OF(held))];
			if (h->pages == 0) {
				shares = shares && allocate_some(h);
			} else {
				shares = shares && memory_free_pages(h->page * 4096, h->pages) == EFI_SUCCESS;
				memset(model + h->page, 7, h->pages);
				h->pages = 0;
			}
			if (i % 50 == 0)
				shares = shares && map_is_model();
		}
		for (unsigned i = 0; i < COUNT_OF(held); i++)
			if (held[i].pages != 0)
				gives_back = gives_back && memory_free_pages(held[i].page * 4096, held[i].pages) == EFI_SUCCESS;
		memcpy(model, before, sizeof(model));
		gives_back = gives_back && map_is_model();
	}
	check(maps, "memory_maps_are_those_counted_page_by_page");
	check(shares, "memory_is_shared_out_once_and_refused_only_when_there_is_none");
	check(gives_back, "memory_given_back_is_free_again");
	EFI_PHYSICAL_ADDRESS at = 4096;
	check(memory_free_pages(at * 4000, 1u << 20) != EFI_SUCCESS && memory_allocate_pages(AllocateAnyPages, EfiLoaderData, 0, &at) != EFI_SUCCESS &&
	      memory_allocate_pages(AllocateAnyPages, EfiLoaderData, UINT64_MAX, &at) != EFI_SUCCESS &&
	      memory_allocate_pages(AllocateAddress, EfiLoaderData, UINT64_MAX >> 12, &at) != EFI_SUCCESS, "memory_of_impossible_size_is_refused");
}

/* --- from here on memory that is there: addresses are pointers ---------------------------------------------------------- */
#define REAL_AT    0x10000000ull
#define REAL_BYTES (16u << 20)
#define GUARD      0xA5

static void real_memory(void)
{
	ranges_told_count = 0;
	told(REAL_AT, REAL_BYTES, 1, 1);
	if (memory_init() != ST_OK)
		exit(2);
}

/* --- the disk --------------------------------------------------------------------------------------------------------------- */
static struct fat volume;

static enum status open_disk(void)
{
	struct partition p;
	unsigned index = 0;
	enum status s = disk_system_partition(&index, &p);
	return s != ST_OK ? s : fat_open(&volume, &p);
}

static bool reads_as(const char *path, const struct content *c)
{
	struct fat_file root = fat_root(&volume), f;
	uint8_t *to = malloc(c->bytes + 1);
	uint64_t n = c->bytes + 1;
	bool same = fat_find(&volume, &root, path, &f) == ST_OK && !f.folder && f.bytes == c->bytes && fat_read(&volume, &f, to, &n) == ST_OK &&
	            n == c->bytes && memcmp(to, c->at, n) == 0;
	/* and in pieces, from anywhere */
	for (unsigned i = 0; same && i < 200; i++) {
		uint64_t at = any((uint32_t)c->bytes), some = any(i % 2 ? 5000 : 70000), left = c->bytes - at;
		f.at = at;
		n = some;
		same = fat_read(&volume, &f, to, &n) == ST_OK && n == (some < left ? some : left) && memcmp(to, c->at + at, n) == 0 && f.at == at + n;
	}
	free(to);
	return same;
}

static uint8_t *table_entry(uint32_t cluster)
{
	return disk.at + volume.table * BLOCK_BYTES + 4ull * cluster;
}

/* Every fifth pair of the file's clusters changes places. */
static void scatter(const struct content *file)
{
	struct fat_file root = fat_root(&volume), f;
	uint64_t bytes = volume.cluster_blocks * BLOCK_BYTES;
	if (fat_find(&volume, &root, "\\EFI\\BOOT\\BOOTX64.EFI", &f) != ST_OK)
		abort();
	for (uint32_t c = f.first; c + 4 < f.first + file->bytes / bytes; c += 5) {
		uint8_t *a = disk.at + volume.data * BLOCK_BYTES + (c - 1) * bytes, kept[4096]; /* c + 1 */
		uint32_t next = c + 2;
		if (memcmp(table_entry(c + 1), &next, 4) != 0 || bytes > sizeof(kept))
			abort(); /* they do not lie behind each other */
		memcpy(kept, a, bytes);
		memcpy(a, a + bytes, bytes);
		memcpy(a + bytes, kept, bytes);
		memcpy(table_entry(c), &next, 4);
		next = c + 3;
		memcpy(table_entry(c + 1), &next, 4);
		next = c + 1;
		memcpy(table_entry(c + 2), &next, 4);
	}
}

/* The last part of the long name stands before the short one's entry. */
static void test_names(const char *path)
{
	struct fat_file root = fat_root(&volume), f;
	uint8_t *e = disk.at + volume.data * BLOCK_BYTES, sum;
	for (unsigned i = 0; i < 1u << 20 && !(e[0] == 1 && e[11] == 0x0F && e[32] == 'A' && e[33] == 'F'); i++)
		e += 32;
	bool there = e[0] == 1 && e[11] == 0x0F && fat_find(&volume, &root, path, &f) == ST_OK;
	sum = e[13]++;
	check(there && fat_find(&volume, &root, path, &f) == ST_MISSING && fat_find(&volume, &root, "stallmeter\\afilew~1.bin", &f) == ST_OK,
	      "disk_long_name_of_another_file_does_not_count");
	e[13] = sum;
	*(e - 32) = 4; /* 2 */
	check(fat_find(&volume, &root, path, &f) == ST_MISSING && fat_find(&volume, &root, "stallmeter\\afilew~1.bin", &f) == ST_OK,
	      "disk_long_name_out_of_order_does_not_count");
	*(e - 32) = 2;
	check(fat_find(&volume, &root, path, &f) == ST_OK, "disk_long_name_mended_counts");
}

static void test_disk(const struct content *application, const char *long_name, const struct content *long_file)
{
	struct partition p;
	unsigned index = 0;
	char path[300];
	check(disk_system_partition(&index, &p) == ST_OK && p.first == 2048 && (p.first + p.blocks) * BLOCK_BYTES == disk.bytes - (1u << 20) &&
	      disk_system_partition(&index, &p) == ST_MISSING, "disk_has_one_system_partition");
	check(open_disk() == ST_OK, "disk_has_a_fat32");
	check(reads_as("\\EFI\\BOOT\\BOOTX64.EFI", application), "disk_application_reads_the_same");
	check(reads_as("efi\\.\\boot\\..\\Boot\\bootx64.efi", application), "disk_knows_no_case_and_the_folder_above");
	snprintf(path, sizeof(path), "\\stallmeter\\%s", long_name);
	check(reads_as(path, long_file), "disk_long_name_reads_the_same");
	test_names(path);
	scatter(application);
	check(open_disk() == ST_OK && reads_as("\\EFI\\BOOT\\BOOTX64.EFI", application), "disk_scattered_application_reads_the_same");
	struct fat_file root = fat_root(&volume), f;
	check(fat_find(&volume, &root, "\\EFI\\BOOT\\BOOTX64.EF", &f) == ST_MISSING && fat_find(&volume, &root, "\\EFI\\BOOT\\BOOTX64.EFI\\x", &f) == ST_MISSING &&
	      fat_find(&volume, &root, "\\EFI\\NO", &f) == ST_MISSING, "disk_has_no_other_names");
}

static void test_volume(const struct content *application)
{
	static const EFI_GUID info_guid = EFI_FILE_INFO_ID;
	static CHAR16 path[] = L"\\EFI\\BOOT\\BOOTX64.EFI", fresh[] = L"\\EFI\\new", folder_path[] = L"EFI\\BOOT";
	EFI_FILE_IO_INTERFACE *v = volume_protocol(&volume);
	EFI_FILE_HANDLE root, f, folder;
	EFI_GUID guid = info_guid;
	_Alignas(8) uint8_t bytes[SIZE_OF_EFI_FILE_INFO + 600];
	EFI_FILE_INFO *info = (EFI_FILE_INFO *)(void *)bytes;
	UINTN n = sizeof(bytes), found = 0, small = 8;
	real_memory();
	bool good = v->OpenVolume(v, &root) == EFI_SUCCESS && root->Open(root, &f, path, EFI_FILE_MODE_READ, 0) == EFI_SUCCESS;
	check(good && f->GetInfo(f, &guid, &n, bytes) == EFI_SUCCESS && info->FileSize == application->bytes, "volume_tells_a_files_size");
	uint8_t *to = malloc(application->bytes);
	n = application->bytes;
	check(good && f->SetPosition(f, 0) == EFI_SUCCESS && f->Read(f, &n, to) == EFI_SUCCESS && n == application->bytes && memcmp(to, application->at, n) == 0,
	      "volume_reads_a_file");
	n = 4;
	check(f->Write(f, &n, to) == EFI_WRITE_PROTECTED && root->Open(root, &folder, fresh, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE, 0) ==
	      EFI_WRITE_PROTECTED && root->Open(root, &folder, path, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0) == EFI_WRITE_PROTECTED &&
	      f->SetInfo(f, &guid, 8, bytes) == EFI_WRITE_PROTECTED, "volume_is_write_protected");
	free(to);
	good = root->Open(root, &folder, folder_path, EFI_FILE_MODE_READ, 0) == EFI_SUCCESS && folder->Read(folder, &small, bytes) == EFI_BUFFER_TOO_SMALL;
	for (n = sizeof(bytes); good && folder->Read(folder, &n, bytes) == EFI_SUCCESS && n != 0; n = sizeof(bytes))
		found += info->FileSize == application->bytes && info->FileName[0] == 'B' && (info->Attribute & EFI_FILE_DIRECTORY) == 0;
	check(good && found == 1, "volume_lists_a_folder");
	check(f->Close(f) == EFI_SUCCESS && folder->Close(folder) == EFI_SUCCESS && root->Close(root) == EFI_SUCCESS, "volume_closes");
}

/* Each change is one of these statuses and an end; the sanitizers and an alarm see to the rest. */
static void test_damaged_disk(unsigned rounds)
{
	unsigned ends[ST_COUNT] = { 0 };
	uint64_t table = volume.table * BLOCK_BYTES, data = volume.data * BLOCK_BYTES;
	static uint8_t to[1 << 20];
	for (unsigned round = 0; round < rounds; round++) {
		uint64_t places[12];
		uint8_t before[12];
		unsigned n = 1 + any(COUNT_OF(places));
		for (unsigned i = 0; i < n; i++) {
			switch (any(4)) {
			case 0: places[i] = any(2) ? 512 + any(96) : 1024 + any(128); break; /* partition table */
			case 1: places[i] = 2048 * BLOCK_BYTES + any(64); break;            /* parameters */
			case 2: places[i] = table + any(20000); break;                      /* allocation table */
			default: places[i] = data + any(8192); break;                       /* folders */
			}
			before[i] = disk.at[places[i]];
			disk.at[places[i]] = (uint8_t)any(256);
		}
		enum status s = open_disk();
		if (s == ST_OK) {
			struct fat_file root = fat_root(&volume), f, g;
			char name[FAT_NAME];
			for (f = root; fat_next(&volume, &f, name, &g) == ST_OK;)
				if (str_length(name) >= FAT_NAME)
					abort();
			s = fat_find(&volume, &root, "\\EFI\\BOOT\\BOOTX64.EFI", &f);
			for (uint64_t part = sizeof(to); s == ST_OK && part == sizeof(to) && f.at < (64u << 20);)
				s = fat_read(&volume, &f, to, &part);
		}
		ends[s]++;
		while (n-- > 0)
			disk.at[places[n]] = before[n];
	}
	printf("# %u fine, %u syntax, %u missing, %u broken, %u io\n", ends[ST_OK], ends[ST_SYNTAX], ends[ST_MISSING], ends[ST_BROKEN], ends[ST_IO]);
	check(ends[ST_OK] + ends[ST_SYNTAX] + ends[ST_MISSING] + ends[ST_BROKEN] + ends[ST_IO] == rounds && ends[ST_SYNTAX] && ends[ST_MISSING] && ends[ST_BROKEN],
	      "disk_damaged_comes_to_an_end");
	check(open_disk() == ST_OK, "disk_mended_is_fine");
}

/* --- the application -------------------------------------------------------------------------------------------------------- */
static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
	memcpy(at, &value, bytes);
}

/* A section of one page at 0x1000 with an address in it, relocations at 0x2000. */
static void small_application(uint8_t f[2048])
{
	memset(f, 0, 2048);
	memcpy(f, "MZ", 2);
	put(f + 60, 64, 4);
	memcpy(f + 64, "PE\0", 4);
	put(f + 68, 0x8664, 2);
	put(f + 70, 2, 2);
	put(f + 84, 240, 2);
	uint8_t *o = f + 88;
	put(o, 0x20B, 2);
	put(o + 16, 0x1010, 4);
	put(o + 24, 0x400000, 8);
	put(o + 56, 0x3000, 4);
	put(o + 60, 512, 4);
	put(o + 68, 10, 2);
	put(o + 108, 16, 4);
	put(o + 152, 0x2000, 4);
	put(o + 156, 12, 4);
	uint8_t *s = o + 240;
	put(s + 8, 0x1000, 4), put(s + 12, 0x1000, 4), put(s + 16, 512, 4), put(s + 20, 512, 4);
	s += 40;
	put(s + 8, 12, 4), put(s + 12, 0x2000, 4), put(s + 16, 512, 4), put(s + 20, 1024, 4);
	put(f + 512 + 0x20, 0x401018, 8);
	put(f + 1024, 0x1000, 4), put(f + 1028, 12, 4), put(f + 1032, 0xA020, 2);
}

static bool guarded(const struct image *i)
{
	const uint8_t *base = (const uint8_t *)(uintptr_t)i->base, *end = base + ((i->bytes + 4095) & ~4095ull);
	const uint8_t *first = (const uint8_t *)(uintptr_t)REAL_AT, *last = first + REAL_BYTES;
	for (const uint8_t *p = base - first > 65536 ? base - 65536 : first; p < base; p++)
		if (*p != GUARD)
			return false;
	for (const uint8_t *p = end; p < last && p < end + 65536; p++)
		if (*p != GUARD)
			return false;
	return true;
}

static void test_image(const struct content *application, unsigned rounds)
{
	struct image i;
	uint8_t *small = malloc(1536), made[2048];
	bool kept = true;
	unsigned loaded = 0, refused = 0;
	real_memory();
	check(image_load(application->at, application->bytes, &i) == ST_OK && (uintptr_t)i.entry > i.base && (uintptr_t)i.entry < i.base + i.bytes, "image_application_loads");
	small_application(made);
	memcpy(small, made, 1536);
	real_memory();
	bool good = image_load(small, 1536, &i) == ST_OK;
	uint64_t value = 0;
	if (good)
		memcpy(&value, (const void *)(uintptr_t)(i.base + 0x1020), 8);
	check(good && value == i.base + 0x1018 && (uintptr_t)i.entry == i.base + 0x1010, "image_is_relocated");
	for (unsigned round = 0; round < rounds; round++) {
		memcpy(small, made, 1536);
		for (unsigned n = 1 + any(4); n > 0; n--)
			small[any(3) ? any(512) : 1024 + any(16)] = (uint8_t)(any(3) ? any(256) : 0xFF);
		real_memory();
		memset((void *)(uintptr_t)(REAL_AT + REAL_BYTES - (1u << 20)), GUARD, 1u << 20);
		enum status s = image_load(small, 1536, &i);
		loaded += s == ST_OK;
		refused += s == ST_SYNTAX || s == ST_FULL;
		kept = kept && (s != ST_OK || i.bytes > (512u << 10) || guarded(&i));
	}
	printf("# %u loaded, %u refused\n", loaded, refused);
	check(loaded + refused == rounds && loaded != 0 && refused != 0, "image_damaged_comes_to_an_end");
	check(kept, "image_damaged_stays_in_its_place");
	real_memory();
	for (uint64_t n = 0; n < 1024 + 12; n++) { /* all of the second section that is in memory */
		uint8_t *cut = malloc(n);
		memcpy(cut, made, n);
		good = good && image_load(cut, n, &i) == ST_SYNTAX;
		free(cut);
	}
	check(good, "image_cut_short_is_refused");
	free(small);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	unsigned rounds = (unsigned)atoi(argv[4]);
	random_state = argc > 5 ? strtoull(argv[5], NULL, 0) : 20030922;
	alarm(300);
	struct content application = content_of(argv[2]), long_file = content_of(argv[3]);
	const char *long_name = argv[3];
	for (const char *c = argv[3]; *c != 0; c++)
		long_name = *c == '/' ? c + 1 : long_name;
	disk = content_of(argv[1]);
	if (mmap((void *)(uintptr_t)REAL_AT, REAL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
		return 2;
	test_memory(rounds / 20);
	test_disk(&application, long_name, &long_file);
	test_volume(&application);
	test_damaged_disk(rounds);
	test_image(&application, rounds);
	printf("1..%u\n", tests_done);
	return tests_failed != 0;
}
