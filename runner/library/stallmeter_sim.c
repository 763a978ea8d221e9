/* runner/library/stallmeter_sim.c: see stallmeter_sim.h.
 * Not supported: several processors that run at once, kernels with arguments other than a buffer and a count. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "asm/kernel.h"
#include "pmu/sim/backend/sim.h"
#include "pmu/text.h"
#include "runner/library/stallmeter_sim.h"

#define FILE_MOST (1u << 20)
#define LINE_BYTES 64u
#define API __attribute__((visibility("default")))

struct stallmeter_sim { struct machine m; struct sim *sim; const struct access *a; struct mapping buffer; };

static void *pages_get(void *self, size_t bytes)
{
	(void)self;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

static void pages_put(void *self, void *at, size_t bytes)
{
	(void)self;
	if (at)
		munmap(at, bytes);
}

static enum stallmeter_sim_status of(enum status st)
{
	return st == ST_OK ? STALLMETER_SIM_OK : st == ST_FAULT ? STALLMETER_SIM_FAULT : st == ST_RANGE || st == ST_MISSING ? STALLMETER_SIM_MISSING :
		st == ST_UNSUPPORTED ? STALLMETER_SIM_UNSUPPORTED : STALLMETER_SIM_FAILED;
}

static enum status read_machine(const char *name, struct machine *m, char *problem, size_t capacity)
{
	const struct machine_file *builtin = machine_builtin(name);
	if (builtin)
		return machine_read(builtin->name, builtin->text, builtin->bytes, m, problem, capacity);
	const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* so that opening a named pipe without a writer does not block */
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	char *text = f ? malloc(FILE_MOST) : NULL;
	enum status st = ST_MISSING;
	snprintf(problem, capacity, "no such machine or file: \"%s\"", name);
	if (text) {
		const size_t bytes = fread(text, 1, FILE_MOST, f);
		st = machine_read(name, text, bytes, m, problem, capacity);
	}
	free(text);
	if (f)
		fclose(f);
	return st;
}

API struct stallmeter_sim *stallmeter_sim_open(const char *machine, unsigned threads, char *problem, size_t problem_bytes)
{
	const struct sim_memory memory = { NULL, pages_get, pages_put };
	struct stallmeter_sim *s = calloc(1, sizeof(*s));
	if (!s || read_machine(machine, &s->m, problem, problem_bytes) != ST_OK) {
		free(s);
		return NULL;
	}
	if (threads)
		s->m.topology_threads = threads;
	if (threads > 2 || sim_open(&s->m, &memory, &s->sim) != ST_OK) {
		snprintf(problem, problem_bytes, threads > 2 ? "1 or 2 threads a core" : "no memory for the machine");
		free(s);
		return NULL;
	}
	s->a = sim_access(s->sim);
	return s;
}

API void stallmeter_sim_close(struct stallmeter_sim *s)
{
	if (s)
		sim_close(s->sim);
	free(s);
}

API unsigned stallmeter_sim_cpus(const struct stallmeter_sim *s) { return s->a->cores; }

API enum stallmeter_sim_status stallmeter_sim_cpuid(struct stallmeter_sim *s, unsigned cpu, uint32_t leaf, uint32_t subleaf, uint32_t r[4])
{
	struct cpuid_regs regs;
	const enum status st = s->a->ops->cpuid(s->a->self, cpu, leaf, subleaf, &regs);
	if (st == ST_OK)
		r[0] = regs.eax, r[1] = regs.ebx, r[2] = regs.ecx, r[3] = regs.edx;
	return of(st);
}

API enum stallmeter_sim_status stallmeter_sim_rdmsr(struct stallmeter_sim *s, unsigned cpu, uint32_t msr, uint64_t *value)
{
	return of(s->a->ops->rdmsr(s->a->self, cpu, msr, value));
}

API enum stallmeter_sim_status stallmeter_sim_wrmsr(struct stallmeter_sim *s, unsigned cpu, uint32_t msr, uint64_t value)
{
	return of(s->a->ops->wrmsr(s->a->self, cpu, msr, value));
}

API enum stallmeter_sim_status stallmeter_sim_rdpmc(struct stallmeter_sim *s, unsigned cpu, uint32_t index, uint64_t *value)
{
	return of(s->a->ops->rdpmc(s->a->self, cpu, index, value));
}

API enum stallmeter_sim_status stallmeter_sim_rdtsc(struct stallmeter_sim *s, unsigned cpu, uint64_t *value)
{
	return of(s->a->ops->rdtsc(s->a->self, cpu, value));
}

API enum stallmeter_sim_status stallmeter_sim_pci_read32(struct stallmeter_sim *s, struct stallmeter_sim_pci at, unsigned reg, uint32_t *value)
{
	const struct pci_address a = { at.segment, at.bus, at.device, at.function, (uint16_t)reg };
	return reg % 4 || reg > 0xFFC ? STALLMETER_SIM_UNSUPPORTED : of(s->a->ops->pci_read32(s->a->self, a, value));
}

API enum stallmeter_sim_status stallmeter_sim_pci_write32(struct stallmeter_sim *s, struct stallmeter_sim_pci at, unsigned reg, uint32_t value)
{
	const struct pci_address a = { at.segment, at.bus, at.device, at.function, (uint16_t)reg };
	return reg % 4 || reg > 0xFFC ? STALLMETER_SIM_UNSUPPORTED : of(s->a->ops->pci_write32(s->a->self, a, value));
}

API enum stallmeter_sim_status stallmeter_sim_mmio_read(struct stallmeter_sim *s, uint64_t address, unsigned width_bytes, uint64_t *value)
{
	return of(s->a->ops->mmio_read(s->a->self, address, width_bytes, value));
}

API enum stallmeter_sim_status stallmeter_sim_mmio_write(struct stallmeter_sim *s, uint64_t address, unsigned width_bytes, uint64_t value)
{
	return of(s->a->ops->mmio_write(s->a->self, address, width_bytes, value));
}

API enum stallmeter_sim_status stallmeter_sim_user(struct stallmeter_sim *s, int user) { return of(sim_user(s->sim, user != 0)); }

/* ---- kernels --------------------------------------------------------------------------------- */

static const struct kernel *kernel_of(const char *name)
{
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (!strcmp(k->name, name))
			return k;
	return NULL;
}

/* Whether the kernel needs no more than a count, or a buffer and a count. */
static bool runs_here(const struct kernel *k)
{
	return k->instructions && !k->isa && !k->step_bytes && k->count_argument <= 1 && (k->count_argument == 0 ? !k->loads && !k->stores : !strcmp(k->name, "k_chase"));
}

API const char *stallmeter_sim_kernel(unsigned n)
{
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (runs_here(k) && !n--)
			return k->name;
	return NULL;
}

/* Links all lines of the buffer to a ring, with a stride that no prefetcher follows. */
static enum status link_buffer(struct stallmeter_sim *s, uint64_t bytes)
{
	const uint64_t lines = bytes / LINE_BYTES < 2 ? 2 : bytes / LINE_BYTES, page = PAGE_2M;
	const uint64_t whole = (lines * LINE_BYTES + page - 1) / page * page;
	if (s->buffer.host && s->buffer.bytes != whole) {
		const enum status st = s->a->ops->unmap(s->a->self, &s->buffer);
		s->buffer.host = NULL;
		if (st != ST_OK)
			return st;
	}
	if (!s->buffer.host) {
		s->buffer = (struct mapping){ .va = SPACE_DATA, .bytes = whole, .page_bytes = page };
		const enum status st = s->a->ops->map(s->a->self, &s->buffer);
		if (st != ST_OK)
			return st;
	}
	uint64_t step = lines * 5 / 13 | 1;
	for (uint64_t a = lines, b = step; ; a = lines, b = step += 2) { /* coprime with the number of lines: one ring */
		while (b) {
			const uint64_t rest = a % b;
			a = b;
			b = rest;
		}
		if (a == 1)
			break;
	}
	for (uint64_t i = 0, at = 0; i < lines; i++, at = (at + step) % lines) {
		const uint64_t next = s->buffer.va + (at + step) % lines * LINE_BYTES;
		memcpy((uint8_t *)s->buffer.host + at * LINE_BYTES, &next, sizeof(next));
	}
	return ST_OK;
}

API enum stallmeter_sim_status stallmeter_sim_run(struct stallmeter_sim *s, unsigned cpu, const char *kernel, uint64_t instructions, uint64_t buffer_bytes,
                                                  struct stallmeter_sim_done *done)
{
	const struct kernel *k = kernel_of(kernel), *measure = kernel_of("k_measure");
	struct sim_totals before, after;
	if (cpu >= s->a->cores || !k || !runs_here(k) || !measure)
		return STALLMETER_SIM_MISSING;
	const enum status linked = k->count_argument ? link_buffer(s, buffer_bytes) : ST_OK;
	struct measure_block *b = s->a->ops->control(s->a->self, cpu);
	if (linked != ST_OK || !b)
		return STALLMETER_SIM_FAILED;
	memset(b, 0, sizeof(*b));
	b->kernel = SPACE_CODE + k->offset;
	b->argument[0] = s->buffer.va;
	b->argument[k->count_argument] = instructions / k->instructions ? instructions / k->instructions : 1;
	struct job j = { .core = cpu, .entry = SPACE_CODE + measure->offset, .argument = SPACE_CONTROL + cpu * CONTROL_BYTES };
	sim_totals(s->sim, &before);
	const enum status st = s->a->ops->run(s->a->self, &j, 1, ~0ull >> 1);
	sim_totals(s->sim, &after);
	*done = (struct stallmeter_sim_done){ after.instructions - before.instructions, after.cycles - before.cycles };
	return of(st);
}

/* ---- findings -------------------------------------------------------------------------------- */

API int stallmeter_sim_finding(const struct stallmeter_sim *s, unsigned n, struct stallmeter_sim_finding *out)
{
	const struct sim_finding *f = sim_latest(s->sim, n);
	if (f)
		*out = (struct stallmeter_sim_finding){ sim_finding_kind_name(f->kind), f->why, f->where, f->event ? f->event : "", f->cite ? f->cite : "", f->clash };
	return f != NULL;
}
