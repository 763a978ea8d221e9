/* efi/app/simulated.c: opens a simulated machine with memory from the firmware. */
#include "efi/app/simulated.h"
#include "efi/platform/acpi.h"
#include "efi/firmware/console.h"
#include "efi/firmware/uefi.h"
#include "pmu/sim/machine/machine.h"
#include "pmu/text.h"

#define MACHINE_FILE_MAX 0x40000u
#define FLAGS_IF         (1u << 9)

static void *get(void *self, size_t bytes)
{
	(void)self;
	return pages_get(bytes);
}

static void put(void *self, void *at, size_t bytes)
{
	(void)self;
	pages_put(at, bytes);
}

static const struct sim_memory memory = { NULL, get, put };

/* The event map beside a machine file. */
struct map_text {
	struct files *files;
	const char *machine;
	char path[CONFIG_TEXT];
	char *text;
	size_t bytes, pages_bytes;
};

static bool map_find(void *self, const char *name, struct machine_file *map)
{
	struct map_text *t = self;
	size_t folder = 0;
	struct text path;
	for (size_t i = 0; t->machine[i] != 0; i++)
		if (t->machine[i] == '/' || t->machine[i] == '\\')
			folder = i + 1;
	text_init(&path, t->path, sizeof(t->path));
	text_fmt(&path, "%.*s%s.map", (int)folder, t->machine, name);
	if (path.full || files_read(t->files, t->path, MACHINE_FILE_MAX, &t->text, &t->bytes, &t->pages_bytes) != ST_OK)
		return false;
	*map = (struct machine_file){ t->path, t->text, t->bytes };
	return true;
}

static enum status read_machine(struct config *c, const char *file, const char *text, size_t bytes,
                                const struct machine_beside *beside, struct machine *m)
{
	char problem[400];
	enum status result = machine_read_beside(file, text, bytes, beside, m, problem, sizeof(problem));
	if (result != ST_OK && c->problem[0] == 0)
		str_copy(c->problem, sizeof(c->problem), problem);
	return result;
}

static enum status find_machine(struct config *c, struct files *files, struct map_text *map, struct machine *m)
{
	char *text;
	size_t bytes, pages_bytes;
	for (unsigned i = 0; i < machine_files_count; i++)
		if (str_equal(machine_files[i].name, c->machine))
			return read_machine(c, machine_files[i].name, machine_files[i].text, machine_files[i].bytes, NULL, m);
	enum status result = files_read(files, c->machine, MACHINE_FILE_MAX, &text, &bytes, &pages_bytes);
	if (result != ST_OK) {
		config_problem(c, &c->backend_from, "backend: file \"%s\" cannot be read (%s); expected a machine file of at most %u bytes",
		               c->machine, status_name(result), MACHINE_FILE_MAX);
		return ST_MISSING;
	}
	*map = (struct map_text){ .files = files, .machine = c->machine };
	const struct machine_beside beside = { map, map_find };
	result = read_machine(c, c->machine, text, bytes, &beside, m);
	pages_put(text, pages_bytes);
	return result;
}

/* The firmware's timer handler writes CR3 100 times a second, and each write flushes an emulator's TLB: refilling it took a third
 * of the time of a simulated chase through memory (QEMU 7.2, OVMF 2022.11). A TLB that is flushed so often also never grows to the
 * size that a simulated machine needs (accel/tcg/cputlb.c, tlb_mmu_resize_locked). Runs therefore mask interrupts. */
static enum status run_uninterrupted(void *self, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	uint64_t flags;
	__asm__ volatile("pushfq; popq %0; cli" : "=r"(flags) : : "memory");
	const enum status result = sim_access(self)->ops->run(self, jobs, n, limit_tsc);
	if ((flags & FLAGS_IF) != 0)
		__asm__ volatile("sti" : : : "memory");
	return result;
}

/* QEMU's translator drops prefetches, and computing their addresses would take a twentieth of the time of a chase through memory. */
static bool prefetches_count(void)
{
	uint32_t r[4];
	if (!console.hypervisor)
		return true;
	cpuid_raw(0x40000000, 0, r);
	return memcmp(&r[1], "TCGTCGTCGTCG", 12) != 0;
}

enum status simulated_build(struct simulated *s, const struct machine *m)
{
	memset(s, 0, sizeof(*s));
	const enum status result = sim_open(m, &memory, &s->sim);
	if (result != ST_OK)
		return result;
	sim_look_ahead(s->sim, prefetches_count());
	s->own = *sim_access(s->sim);
	s->ops = *s->own.ops;
	s->ops.run = run_uninterrupted;
	s->own.ops = &s->ops;
	s->access = &s->own;
	s->identity = m->text_hash;
	return ST_OK;
}

enum status simulated_open(struct simulated *s, struct config *c, struct files *files)
{
	struct machine *m = pages_get(sizeof(*m));
	enum status result = ST_FULL;
	if (m == NULL)
		return ST_FULL;
	struct map_text map = { .text = NULL };
	result = find_machine(c, files, &map, m);
	if (result == ST_OK)
		result = simulated_build(s, m);
	if (map.text != NULL)
		pages_put(map.text, map.pages_bytes);
	pages_put(m, sizeof(*m));
	return result;
}

void simulated_close(struct simulated *s)
{
	if (s->sim != NULL)
		sim_close(s->sim);
}
