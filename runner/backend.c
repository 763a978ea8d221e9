/* runner/backend.c: simulated machines and this one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pmu/text.h"
#include "runner/backend.h"

void *backend_pages_get(void *self, size_t bytes)
{
	(void)self;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

void backend_pages_put(void *self, void *at, size_t bytes)
{
	(void)self;
	if (at)
		munmap(at, bytes);
}

bool backend_dmi(const char *what, char *to, size_t capacity)
{
	char path[96];
	snprintf(path, sizeof(path), "/sys/class/dmi/id/%s", what);
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(to, (int)capacity, f);
	if (f)
		fclose(f);
	for (size_t n = ok ? strlen(to) : 0; n && (to[n - 1] == '\n' || to[n - 1] == ' '); n--)
		to[n - 1] = 0;
	return ok && to[0];
}

/* FNV-1a, 32 bit: a short id that is the same for the same text. */
static uint32_t short_id(const char *s)
{
	uint32_t hash = 2166136261u;
	for (; *s; s++)
		hash = (hash ^ (uint8_t)*s) * 16777619u;
	return hash;
}

/* This machine's id: its SMBIOS UUID where we may read it, else the installation's. Only a hash is used. */
static uint32_t this_machine_id(void)
{
	char line[128] = "";
	if (!backend_dmi("product_uuid", line, sizeof(line))) {
		FILE *f = fopen("/etc/machine-id", "re");
		if (f && !fgets(line, sizeof(line), f))
			line[0] = 0;
		if (f)
			fclose(f);
	}
	return short_id(line);
}

enum status backend_open(struct backend *b, char *problem, size_t capacity)
{
	memset(b, 0, sizeof(*b));
	char product[41];
	enum status s = native_open(&b->native, problem, capacity);
	if (s != ST_OK)
		return s;
	if (!backend_dmi("product_name", product, sizeof(product)))
		str_copy(product, sizeof(product), "machine");
	b->access = native_access(b->native);
	snprintf(b->stem, sizeof(b->stem), "%s-%04x", product, this_machine_id() & 0xFFFF);
	return ST_OK;
}

void backend_close(struct backend *b)
{
	if (b->native)
		native_close(b->native);
}
