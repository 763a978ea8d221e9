/* tests/boot/medium/writes.c: each moment of a medium while it was written.
 *
 *   writes LOG DISK VOLUME
 *
 * LOG is what QEMU's blklogwrites wrote (docs of QEMU, "blklogwrites": the format of Linux' dm-log-writes: sectors of 512
 * bytes; a super block; per write a sector with four little-endian 64-bit numbers (sector, sectors, flags, bytes of a mark),
 * then the data). DISK is the medium as it was before, VOLUME its file system, which begins at 1 MiB. The writes are applied to
 * both, in parts of 4096 bytes, as a host's page cache takes them; parts that change nothing are passed over. After each part
 * one line, its number, goes to standard output, and a line is awaited on standard input. Exit status 2: LOG cannot be read.
 *
 * Not told apart: what a medium's own cache would write in another order. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR        512u
#define PART          4096u
#define VOLUME_BEGIN  0x100000u
#define FLAG_DISCARD  4u /* Linux, dm-log-writes.c: LOG_DISCARD_FLAG */
#define WRITE_MAX     0x4000000u

struct entry {
	uint64_t sector, sectors, flags, mark_bytes;
};

static void bad(const char *what)
{
	fprintf(stderr, "writes: %s\n", what);
	exit(2);
}

static void put(FILE *f, uint64_t at, const uint8_t *from, size_t n)
{
	if (fseek(f, (long)at, SEEK_SET) != 0 || fwrite(from, 1, n, f) != n || fflush(f) != 0)
		bad("an image cannot be written");
}

static int changes(FILE *disk, uint64_t at, const uint8_t *from, size_t n)
{
	uint8_t there[PART];
	if (fseek(disk, (long)at, SEEK_SET) != 0 || fread(there, 1, n, disk) != n)
		bad("a write lies outside of the image");
	return memcmp(there, from, n) != 0;
}

int main(int argc, char **argv)
{
	struct entry e;
	unsigned number = 0;
	if (argc != 4)
		bad("LOG DISK VOLUME expected");
	FILE *log = fopen(argv[1], "rb"), *disk = fopen(argv[2], "r+b"), *volume = fopen(argv[3], "r+b");
	uint8_t *data = malloc(WRITE_MAX), head[SECTOR];
	if (log == NULL || disk == NULL || volume == NULL || data == NULL)
		bad("a file cannot be opened");
	if (fseek(log, SECTOR, SEEK_SET) != 0)
		bad("no log");
	while (fread(head, 1, SECTOR, log) == SECTOR) {
		memcpy(&e, head, sizeof(e));
		if (e.sectors == 0 && e.flags == 0) /* no entry has been written here */
			break;
		if (e.sectors == 0 || (e.flags & FLAG_DISCARD) != 0)
			continue;
		uint64_t bytes = e.sectors * SECTOR;
		if (e.sectors > WRITE_MAX / SECTOR || e.mark_bytes != 0 || fread(data, 1, bytes, log) != bytes)
			bad("an entry is damaged");
		for (uint64_t at = 0, n; at < bytes; at += n) {
			uint64_t to = e.sector * SECTOR + at;
			n = PART - to % PART;
			n = n < bytes - at ? n : bytes - at;
			if (!changes(disk, to, data + at, n))
				continue;
			put(disk, to, data + at, n);
			if (to >= VOLUME_BEGIN)
				put(volume, to - VOLUME_BEGIN, data + at, n);
			printf("%u\n", ++number);
			if (fflush(stdout) != 0 || fgets((char *)head, sizeof(head), stdin) == NULL)
				return 1;
		}
	}
	return number == 0 ? 2 : 0;
}
