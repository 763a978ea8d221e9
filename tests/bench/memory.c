/* tests/bench/memory.c: memory of a suite on a simulated machine, on this host: `memory MACHINE LIMIT_MIB [SUITE]`
 *
 * Prints the most resident memory of the process, and the most of it beside the rows' buffers: all that the simulated machine and the suite hold. Buffers are what the suite maps; they are sparse, so their resident pages are counted by mincore. Both are read before something is unmapped or
 * given back, because a run only grows in between. Not counted: result files. Exit status 1: more than LIMIT_MIB beside the buffers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/suite/suite.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/sim/backend/sim.h"
#include "runner/host/backend.h"

#define BUFFERS_MAX 4096u
#define PIECE_PAGES 65536u /* asked of mincore at once */

struct meter {
	const struct access *under;
	struct { void *at; uint64_t bytes; } buffers[BUFFERS_MAX];
	unsigned count;
	uint64_t page_bytes, beside, whole; /* most of either, in bytes */
};

static uint64_t resident(const struct meter *m, const void *at, uint64_t bytes)
{
	static unsigned char in[PIECE_PAGES];
	uint64_t pages = 0;

	for (uint64_t from = 0; from < bytes; from += PIECE_PAGES * m->page_bytes) {
		const uint64_t left = bytes - from, n = left < PIECE_PAGES * m->page_bytes ? left : PIECE_PAGES * m->page_bytes;

		if (mincore((uint8_t *)(uintptr_t)at + from, n, in))
			return 0; /* judged as memory beside the buffers */
		for (uint64_t i = 0; i < (n + m->page_bytes - 1) / m->page_bytes; i++)
			pages += in[i] & 1;
	}
	return pages * m->page_bytes;
}

static void look(struct meter *m)
{
	unsigned long long all, here = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%llu %llu", &all, &here) != 2)
		here = 0;
	if (f)
		fclose(f);
	uint64_t beside = here * m->page_bytes;

	m->whole = beside > m->whole ? beside : m->whole;
	for (unsigned i = 0; i < m->count; i++) {
		const uint64_t of_buffer = resident(m, m->buffers[i].at, m->buffers[i].bytes);

		beside -= of_buffer < beside ? of_buffer : beside;
	}
	m->beside = beside > m->beside ? beside : m->beside;
}

static enum status map(void *self, struct mapping *p)
{
	struct meter *m = self;
	const enum status st = m->under->ops->map(m->under->self, p);

	if (st == ST_OK && m->count < BUFFERS_MAX) {
		m->buffers[m->count].at = p->host;
		m->buffers[m->count++].bytes = p->repeats ? p->page_bytes : p->bytes;
	}
	return st;
}

static enum status unmap(void *self, struct mapping *p)
{
	struct meter *m = self;
	unsigned i = 0;

	look(m);
	while (i < m->count && m->buffers[i].at != p->host)
		i++;
	if (i < m->count)
		m->buffers[i] = m->buffers[--m->count];
	return m->under->ops->unmap(m->under->self, p);
}

/* The other operations, passed on. */
#define PASS(name_, parameters_, ...) \
	static enum status name_ parameters_ { const struct access *a = ((struct meter *)self)->under; return a->ops->name_(a->self, __VA_ARGS__); }
PASS(cpuid, (void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out), core, leaf, subleaf, out)
PASS(rdmsr, (void *self, unsigned core, uint32_t msr, uint64_t *value), core, msr, value)
PASS(wrmsr, (void *self, unsigned core, uint32_t msr, uint64_t value), core, msr, value)
PASS(rdpmc, (void *self, unsigned core, uint32_t index, uint64_t *value), core, index, value)
PASS(rdtsc, (void *self, unsigned core, uint64_t *value), core, value)
PASS(pci_read32, (void *self, struct pci_address at, uint32_t *value), at, value)
PASS(pci_write32, (void *self, struct pci_address at, uint32_t value), at, value)
PASS(mmio_read, (void *self, uint64_t address, unsigned width_bytes, uint64_t *value), address, width_bytes, value)
PASS(mmio_write, (void *self, uint64_t address, unsigned width_bytes, uint64_t value), address, width_bytes, value)
PASS(run, (void *self, struct job *jobs, unsigned n, uint64_t limit_tsc), jobs, n, limit_tsc)
static void *control(void *self, unsigned core) { const struct access *a = ((struct meter *)self)->under; return a->ops->control(a->self, core); }
static void *ds(void *self, unsigned core) { const struct access *a = ((struct meter *)self)->under; return a->ops->ds(a->self, core); }

static enum status write_nothing(void *self, const char *name, const void *bytes, size_t n) { (void)self; (void)name; (void)bytes; (void)n; return ST_OK; }
static void progress_nothing(void *self, const struct progress *p) { (void)self; (void)p; }
static void row_nothing(void *self, const struct row_result *r) { (void)self; (void)r; }
static bool go_on(void *self) { (void)self; return false; }
static void put(void *self, void *at, size_t bytes)
{
	look(self);
	backend_pages_put(NULL, at, bytes);
}

int main(int argc, char **argv)
{
	static struct msr_guard_saved saved[MSR_GUARD_SAVED_MAX];
	static struct machine machine;
	static struct meter m;
	static const struct access_ops ops = { cpuid, rdmsr, wrmsr, rdpmc, rdtsc, pci_read32, pci_write32, mmio_read, mmio_write, map, unmap, run, control, ds };
	const struct sim_memory memory = { NULL, backend_pages_get, backend_pages_put };
	const struct suite_host host = { .self = &m, .append = write_nothing, .write = write_nothing, .progress = progress_nothing, .row_done = row_nothing, .stop = go_on,
		.get = backend_pages_get, .put = put };
	const struct suite_settings settings = { .suite = argc > 3 ? argv[3] : "full" };
	struct suite_summary sum;
	struct msr_guard guard;
	struct cpu cpu;
	struct sim *sim;
	char problem[400] = "";

	if (argc < 3 || argc > 4 || backend_machine(argv[1], &machine, problem, sizeof(problem)) != ST_OK || suite_check(&settings, problem, sizeof(problem)) != ST_OK) {
		fprintf(stderr, "usage: memory MACHINE LIMIT_MIB [SUITE]\n%s\n", problem);
		return 2;
	}
	if (sim_open(&machine, &memory, &sim) != ST_OK)
		return 3;
	m.under = sim_access(sim);
	m.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	struct access metered = *m.under;
	metered.ops = &ops;
	metered.self = &m;
	if (cpu_identify(&metered, &cpu) != ST_OK)
		return 3;
	msr_guard_init(&guard, &metered, cpu.processor, saved, MSR_GUARD_SAVED_MAX);
	if (suite_run(&guard.access, &cpu, &settings, &host, &sum) != ST_OK || msr_guard_restore(&guard) != ST_OK)
		return 3;
	look(&m);
	const double mib = (double)m.beside / (1 << 20);
	printf("  memory %.0f MiB at most, beside the rows' buffers %.0f MiB, goal at most %s MiB%s\n", (double)m.whole / (1 << 20), mib, argv[2], mib > atof(argv[2]) ? ": more" : "");
	sim_close(sim);
	return mib > atof(argv[2]);
}
