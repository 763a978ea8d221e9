/* Fuzzes the application's own reader of journals: what a crash, or a stick from elsewhere, left of one. Whatever it takes becomes
 * results that are JSON; memory comes back. max_len=1100
 * seed_folder=tests/fuzz/seeds/resume */
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include "bench/results/journal.h"
#include "bench/suite/suite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned taken;

static enum status append(void *self, const char *name, const void *bytes, size_t n)
{
	(void)self, (void)name, (void)bytes, (void)n;
	return ST_OK;
}

static enum status write_file(void *self, const char *name, const void *bytes, size_t n)
{
	(void)self;
	if (!strcmp(name, "results.json") && !json_valid((struct json){ bytes, n }))
		abort();
	return ST_OK;
}

/* Blocks are kept from one execution to the next, and what lies behind the bytes asked for is poisoned: zeroing megabytes would be
 * most of the time, so that large ones, which are texts, come as they were. */
static struct { void *at; size_t room, bytes; bool used; } blocks[32];

static void *get(void *self, size_t bytes)
{
	(void)self;
	size_t room = 4096;
	while (room < bytes)
		room *= 2;
	for (size_t i = 0; i < COUNT_OF(blocks); i++) {
		if (blocks[i].used || (blocks[i].at && blocks[i].room != room))
			continue;
		if (!blocks[i].at)
			blocks[i].at = calloc(1, room);
		ASAN_UNPOISON_MEMORY_REGION(blocks[i].at, bytes);
		if (bytes < 65536)
			memset(blocks[i].at, 0, bytes);
		ASAN_POISON_MEMORY_REGION((char *)blocks[i].at + bytes, room - bytes);
		blocks[i].room = room;
		blocks[i].bytes = bytes;
		blocks[i].used = true;
		taken++;
		return blocks[i].at;
	}
	return NULL;
}

static void put(void *self, void *at, size_t bytes)
{
	(void)self;
	for (size_t i = 0; at && i < COUNT_OF(blocks); i++)
		if (blocks[i].at == at && blocks[i].used && blocks[i].bytes == bytes) {
			blocks[i].used = false;
			ASAN_POISON_MEMORY_REGION(at, bytes);
			taken--;
			return;
		}
	if (at)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct suite_host host = { .append = append, .write = write_file, .get = get, .put = put };
	char *copy = malloc(size ? size : 1);
	memcpy(copy, data, size);
	enum status st = suite_rebuild(copy, size, &host);
	if (taken || (st != ST_OK && st != ST_MISSING && st != ST_SYNTAX && st != ST_FULL))
		abort();
	free(copy);
	return 0;
}
