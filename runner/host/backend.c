/* runner/host/backend.c: see backend.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/suite/suite.h"
#include "pmu/text.h"
#include "runner/host/backend.h"
#include "runner/data/file.h"

#define MACHINE_FILE_MOST (1u << 20)

/* Blocks of that size and more are aligned to 2 MiB and request 2 MiB pages: the simulator accesses its tables and
 * buffers at random and would otherwise spend much of its time on the host's page walks. */
#define HUGE_BYTES ((size_t)2 << 20)
#define SPARSE_BYTES ((size_t)96 << 20) /* larger blocks are used sparsely: with 2 MiB pages they took 430 MiB of a full run, and a tenth of its time for clearing them */

void *backend_pages_get(void *self, size_t bytes)
{
	(void)self;
	const size_t more = bytes >= HUGE_BYTES ? HUGE_BYTES : 0;
	uint8_t *at = mmap(NULL, bytes + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED || !more)
		return at == MAP_FAILED ? NULL : at;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) & ~(page - 1);
	const size_t before = (size_t)(-(uintptr_t)at & (HUGE_BYTES - 1)), end = (bytes + more + page - 1) & ~(page - 1);
	if (before)
		munmap(at, before);
	at += before;
	if (end - before > whole)
		munmap(at + whole, end - before - whole);
	(void)madvise(at, whole, whole > SPARSE_BYTES ? MADV_NOHUGEPAGE : MADV_HUGEPAGE); /* only a hint: without it the simulator
	                                                                                     is slower */
	return at;
}

void backend_pages_put(void *self, void *at, size_t bytes)
{
	(void)self;
	if (at)
		munmap(at, bytes);
}

/* The event map in the folder of the machine file *self; its memory is never freed. */
static bool beside_find(void *self, const char *name, struct machine_file *map)
{
	const char *machine = *(const char **)self, *slash = strrchr(machine, '/');
	char path[PATH_MAX], problem[80], *text;
	size_t bytes;
	if (strchr(name, '/') || snprintf(path, sizeof(path), "%.*s%s.map", slash ? (int)(slash - machine) + 1 : 0, machine, name) >= PATH_MAX ||
	    access(path, F_OK) || file_read(path, MACHINE_FILE_MOST, &text, &bytes, problem, sizeof(problem)) != ST_OK)
		return false;
	const size_t path_bytes = strlen(path) + 1;
	char *kept = backend_pages_get(NULL, path_bytes + bytes + 1);
	if (kept) {
		memcpy(kept, path, path_bytes);
		memcpy(kept + path_bytes, text, bytes);
		*map = (struct machine_file){ kept, kept + path_bytes, bytes };
	}
	free(text);
	return kept != NULL;
}

enum status backend_machine(const char *name, struct machine *m, char *problem, size_t capacity)
{
	if (!name)
		name = machine_default;
	const struct machine_file *builtin = machine_builtin(name);
	if (builtin)
		return machine_read(builtin->name, builtin->text, builtin->bytes, m, problem, capacity);
	if (!strpbrk(name, "/.") && access(name, F_OK)) {
		struct text t;
		text_init(&t, problem, capacity);
		text_fmt(&t, "no such machine or file: \"%s\"; built in:", name);
		for (unsigned i = 0; i < machine_files_count; i++)
			text_fmt(&t, " %s", machine_files[i].name);
		return ST_MISSING;
	}
	char *text;
	size_t bytes;
	enum status s = file_read(name, MACHINE_FILE_MOST, &text, &bytes, problem, capacity);
	if (s != ST_OK)
		return s;
	const struct machine_beside beside = { &name, beside_find };
	s = machine_read_beside(name, text, bytes, &beside, m, problem, capacity);
	free(text);
	return s;
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

/* A hash of this machine's id: its SMBIOS UUID if readable, else the installation's machine-id. */
static uint64_t this_machine_id(void)
{
	char line[128] = "";
	if (!backend_dmi("product_uuid", line, sizeof(line))) {
		FILE *f = fopen("/etc/machine-id", "re");
		if (f && !fgets(line, sizeof(line), f))
			line[0] = 0;
		if (f)
			fclose(f);
	}
	return fnv1a64(FNV1A64_START, line, strlen(line));
}

enum status backend_open(struct backend *b, const struct machine *m, char *problem, size_t capacity)
{
	memset(b, 0, sizeof(*b));
	if (m) {
		const struct sim_memory memory = {NULL, backend_pages_get, backend_pages_put};
		enum status s = sim_open(m, &memory, &b->sim);
		if (s != ST_OK) {
			snprintf(problem, capacity, "the simulated machine %s could not be built: %s", m->name, status_name(s));
			return s;
		}
		b->access = sim_access(b->sim);
		suite_run_name(b->stem, sizeof(b->stem), b->access->name, m->text_hash);
		return ST_OK;
	}
	char product[64];
	enum status s = native_open(&b->native, problem, capacity);
	if (s != ST_OK)
		return s;
	if (!backend_dmi("product_name", product, sizeof(product)))
		str_copy(product, sizeof(product), "machine");
	b->access = native_access(b->native);
	suite_run_name(b->stem, sizeof(b->stem), product, this_machine_id());
	return ST_OK;
}

void backend_close(struct backend *b)
{
	if (b->native)
		native_close(b->native);
	if (b->sim)
		sim_close(b->sim);
}
