/* efi/app/selftest.c: faults, limits, memory and processors, through the same operations that the suite uses. Prints TAP:
 * one check per line, numbered, the plan at the end. */
#include "efi/app/selftest.h"
#include "asm/kernel.h"
#include "efi/processor/apic.h"
#include "efi/firmware/console.h"
#include "efi/firmware/uefi.h"
#include "pmu/core/cpu.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/text.h"

struct tap { unsigned count, failed; };

static bool check(struct tap *t, bool good, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool check(struct tap *t, bool good, const char *format, ...)
{
	char name[200];
	struct text x;
	va_list args;
	text_init(&x, name, sizeof(name));
	va_start(args, format);
	text_vfmt(&x, format, args);
	va_end(args);
	print("%s %u - %s\n", good ? "ok" : "not ok", ++t->count, name);
	t->failed += good ? 0 : 1;
	return good;
}

/* --- code that faults, in the scratch area ---------------------------------------------- */
#define SCRATCH_SLOT 64u
struct fault_case { const char *name; uint8_t vector; uint8_t bytes; uint8_t code[20]; };
static const struct fault_case faults[] = {
	/* mov rax, 0x8000000000000000; mov rax, [rax]: not canonical */
	{ "#GP by a non-canonical address", 13, 14, { 0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x48, 0x8B, 0x00, 0xC3 } },
	/* ud2 */
	{ "#UD by UD2", 6, 2, { 0x0F, 0x0B } },
	/* mov rax, SPACE_DATA + 3 GiB (nothing is mapped there); mov rax, [rax] */
	{ "#PF by an unmapped address", 14, 14, { 0x48, 0xB8, 0, 0, 0, 0xD0, 0x00, 0x20, 0, 0, 0x48, 0x8B, 0x00, 0xC3 } },
	/* xor eax, eax; div eax */
	{ "#DE by a division by zero", 0, 4, { 0x31, 0xC0, 0xF7, 0xF0 } },
	/* std; ud2: the direction flag must be clear afterwards */
	{ "#UD with the direction flag set", 6, 3, { 0xFD, 0x0F, 0x0B } },
	/* push rax 8 times, then ud2: the stack is abandoned as well */
	{ "#UD with a changed stack", 6, 10, { 0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x0F, 0x0B } },
	/* xor esp, esp; push rax: no stack to push to, and none for the exception frame */
	{ "#PF by a lost stack", 14, 4, { 0x31, 0xE4, 0x50, 0xC3 } },
};
/* jmp $ */
static const uint8_t endless[] = { 0xEB, 0xFE };
/* vpxor ymm0,ymm0,ymm0; vzeroupper; ret */
static const uint8_t avx[] = { 0xC5, 0xFD, 0xEF, 0xC0, 0xC5, 0xF8, 0x77, 0xC3 };

static uint64_t measure_entry(void)
{
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (str_equal(k->name, "k_measure"))
			return SPACE_CODE + k->offset;
	return 0;
}

/* k_measure of k_add_chain on a core: the normal job path still works. */
static bool core_works(const struct access *a, unsigned core)
{
	struct measure_block *b = a->ops->control(a->self, core);
	struct job job = { .core = core, .entry = measure_entry(), .argument = SPACE_CONTROL + core * CONTROL_BYTES };
	memset(b, 0, sizeof(*b));
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (str_equal(k->name, "k_add_chain"))
			b->kernel = SPACE_CODE + k->offset;
	b->argument[0] = 1000;
	return a->ops->run(a->self, &job, 1, 0) == ST_OK && job.status == ST_OK && b->result == 16000 &&
	       b->tsc_after > b->tsc_before;
}

static bool map_scratch(struct tap *t, const struct access *a, struct mapping *m)
{
	*m = (struct mapping){ .va = SPACE_SCRATCH, .bytes = PAGE_4K, .page_bytes = PAGE_4K, .executable = true };
	return check(t, a->ops->map(a->self, m) == ST_OK, "scratch page mapped executable");
}

static void test_faults(struct tap *t, struct hw *h)
{
	const struct access *a = &h->access;
	struct mapping m;
	if (!map_scratch(t, a, &m))
		return;
	for (unsigned core = 0; core < a->cores; core++) {
		for (unsigned i = 0; i < COUNT_OF(faults); i++) {
			const struct fault_case *f = &faults[i];
			uint64_t entry = SPACE_SCRATCH + i * SCRATCH_SLOT;
			struct job job = { .core = core, .entry = entry };
			memcpy((uint8_t *)m.host + i * SCRATCH_SLOT, f->code, f->bytes);
			enum status s = a->ops->run(a->self, &job, 1, 0);
			check(t, s == ST_FAULT && job.status == ST_FAULT && job.vector == f->vector && job.ip >= entry &&
			      job.ip < entry + SCRATCH_SLOT, "core %u: %s: status %s vector %u ip +%lu", core, f->name,
			      status_name(job.status), job.vector, (unsigned long)(job.ip - entry));
			check(t, core_works(a, core), "core %u: a kernel runs after it", core);
		}
		struct job twice = { .core = core, .entry = SPACE_SCRATCH + SCRATCH_SLOT, .undo = SPACE_SCRATCH + SCRATCH_SLOT };
		check(t, a->ops->run(a->self, &twice, 1, 0) == ST_FAULT && twice.vector == 6 && h->cores[core]->left_on && core_works(a, core) && !h->cores[core]->left_on,
		      "core %u: a fault in what undoes a job is kept", core);
		struct job nowhere = { .core = core, .entry = SPACE_DATA + 3 * PAGE_1G };
		check(t, a->ops->run(a->self, &nowhere, 1, 0) == ST_FAULT && nowhere.vector == 14 &&
		      nowhere.ip == SPACE_DATA + 3 * PAGE_1G, "core %u: #PF by a jump to nowhere", core);
		if (h->space.nx) {
			struct job data = { .core = core, .entry = SPACE_CONTROL };
			check(t, a->ops->run(a->self, &data, 1, 0) == ST_FAULT && data.vector == 14,
			      "core %u: #PF by executing data", core);
		}
		uint64_t value;
		struct cpuid_regs r;
		enum status s = a->ops->rdpmc(a->self, core, 0x7FFFFFFF, &value);
		check(t, s == ST_FAULT, "core %u: rdpmc of no counter: %s", core, status_name(s));
		check(t, a->ops->rdmsr(a->self, core, 0xC0000080, &value) == ST_OK && (value >> 10 & 1) != 0, "core %u: rdmsr of EFER", core);
		check(t, a->ops->cpuid(a->self, core, 1, 0, &r) == ST_OK && r.eax != 0, "core %u: cpuid", core);
		check(t, a->ops->mmio_read(a->self, SPACE_DATA + 3 * PAGE_1G, 4, &value) == ST_FAULT,
		      "core %u: mmio at an unmapped address is a status", core);
		if ((r.ecx >> 28 & 1) != 0) {
			struct job job = { .core = core, .entry = SPACE_SCRATCH + 0x800 };
			memcpy((uint8_t *)m.host + 0x800, avx, sizeof(avx));
			check(t, a->ops->run(a->self, &job, 1, 0) == ST_OK, "core %u: AVX state is enabled", core);
		}
	}
	check(t, a->ops->unmap(a->self, &m) == ST_OK, "scratch page unmapped");
	struct job gone = { .core = 0, .entry = SPACE_SCRATCH };
	check(t, a->ops->run(a->self, &gone, 1, 0) == ST_FAULT && gone.vector == 14, "the unmapped page is gone");
}

static void test_limits(struct tap *t, struct hw *h)
{
	const struct access *a = &h->access;
	struct mapping m;
	if (!map_scratch(t, a, &m))
		return;
	memcpy(m.host, endless, sizeof(endless));
	for (unsigned core = 0; core < a->cores; core++) {
		struct job job;
		enum status s = ST_TIMEOUT;
		job.ip = 0;
		/* An emulator may delay a core beyond the limit: one of several tries must interrupt it in the job. */
		for (unsigned tries = 0; tries < 5 && s == ST_TIMEOUT && job.ip != SPACE_SCRATCH; tries++) {
			job = (struct job){ .core = core, .entry = SPACE_SCRATCH };
			s = a->ops->run(a->self, &job, 1, 100 * h->tsc_per_ms);
		}
		check(t, s == ST_TIMEOUT && job.status == ST_TIMEOUT && job.ip == SPACE_SCRATCH,
		      "core %u: an endless job ends by its limit: %s at 0x%lx", core, status_name(job.status), (unsigned long)job.ip);
		check(t, core_works(a, core), "core %u: a kernel runs after it", core);
	}
	check(t, h->lost == 0, "no processor was lost");
	check(t, a->ops->unmap(a->self, &m) == ST_OK, "scratch page unmapped");
}

/* Each processor waits for a machine check that is injected from outside. */
static void test_check(struct tap *t, struct hw *h)
{
	const struct access *a = &h->access;
	struct mapping m;
	if (!map_scratch(t, a, &m))
		return;
	memcpy(m.host, endless, sizeof(endless));
	for (unsigned core = 0; core < a->cores; core++) {
		struct job job = { .core = core, .entry = SPACE_SCRATCH };
		print("# core %u waits for a machine check\n", core);
		const enum status s = a->ops->run(a->self, &job, 1, 0);
		check(t, s == ST_FAULT && job.vector == VECTOR_MC, "core %u: #MC is a status: %s, vector %u", core, status_name(job.status), job.vector);
		check(t, core_works(a, core), "core %u: a kernel runs after it", core);
	}
	check(t, a->ops->unmap(a->self, &m) == ST_OK, "scratch page unmapped");
}

static void test_together(struct tap *t, struct hw *h)
{
	const struct access *a = &h->access;
	struct job jobs[64];
	unsigned n = a->cores < COUNT_OF(jobs) ? a->cores : COUNT_OF(jobs);
	uint64_t latest = 1, first_end = 1;
	for (unsigned i = 0; i < n; i++) {
		struct measure_block *b = a->ops->control(a->self, i);
		memset(b, 0, sizeof(*b));
		for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
			if (str_equal(k->name, "k_add_chain"))
				b->kernel = SPACE_CODE + k->offset;
		b->argument[0] = 8000000;
		jobs[i] = (struct job){ .core = i, .entry = measure_entry(), .argument = SPACE_CONTROL + i * CONTROL_BYTES };
	}
	/* An emulator with fewer host processors than cores may delay one: one of several tries must see all running. */
	enum status s = ST_OK;
	for (unsigned tries = 0; tries < 5 && s == ST_OK && latest >= first_end; tries++) {
		latest = 0;
		first_end = UINT64_MAX;
		s = a->ops->run(a->self, jobs, n, 0);
		for (unsigned i = 0; i < n; i++) {
			const struct measure_block *b = a->ops->control(a->self, i);
			latest = b->tsc_before > latest ? b->tsc_before : latest;
			first_end = b->tsc_after < first_end ? b->tsc_after : first_end;
		}
	}
	check(t, s == ST_OK, "%u jobs together", n);
	for (unsigned i = 0; i < n; i++) {
		const struct measure_block *b = a->ops->control(a->self, i);
		check(t, b->result == 128000000, "core %u: result %lu", i, (unsigned long)b->result);
	}
	check(t, latest < first_end, "all of them ran at the same time");
	jobs[0].core = a->cores;
	check(t, a->ops->run(a->self, jobs, 1, 0) == ST_RANGE, "a job on a core that does not exist is refused");
}

static void test_memory(struct tap *t, struct hw *h)
{
	const struct access *a = &h->access;
	static const uint64_t sizes[] = { PAGE_4K, PAGE_2M, PAGE_1G };
	unsigned n = 0;
	for (unsigned node = 0; node < a->nodes; node++)
		for (unsigned i = 0; i < COUNT_OF(sizes); i++) {
			struct mapping m = { .va = SPACE_DATA + n++ * PAGE_1G, .bytes = sizes[i] * (i == 2 ? 1 : 3),
			                     .page_bytes = sizes[i], .node = node };
			enum status s = a->ops->map(a->self, &m);
			if (s == ST_UNSUPPORTED || (i == 2 && s == ST_FULL)) {
				print("# node %u: no page of %lu bytes: %s\n", node, (unsigned long)sizes[i], status_name(s));
				continue;
			}
			bool there = false;
			for (unsigned k = 0; k < h->acpi->range_count; k++)
				there = there || (h->acpi->ranges[k].node == node && m.pa >= h->acpi->ranges[k].from &&
				                  m.pa + m.bytes <= h->acpi->ranges[k].to);
			check(t, s == ST_OK && there && m.pa % sizes[i] == 0, "node %u: %lu bytes in pages of %lu at 0x%lx: %s", node,
			      (unsigned long)m.bytes, (unsigned long)sizes[i], (unsigned long)m.pa, status_name(s));
			if (s != ST_OK)
				continue;
			uint64_t value = 0;
			memcpy((uint8_t *)m.host + m.bytes - 8, &(uint64_t){ 0x1122334455667788ull }, 8);
			s = a->ops->mmio_read(a->self, m.va + m.bytes - 8, 8, &value);
			check(t, s == ST_OK && value == 0x1122334455667788ull, "node %u: the job address space shows the same bytes", node);
			check(t, a->ops->mmio_read(a->self, m.va, 8, &value) == ST_OK && value == 0, "node %u: the rest is zero", node);
			check(t, a->ops->map(a->self, &(struct mapping){ .va = m.va, .bytes = m.page_bytes, .page_bytes = m.page_bytes,
			      .node = node }) != ST_OK, "node %u: the same address twice is refused", node);
			check(t, a->ops->unmap(a->self, &m) == ST_OK, "node %u: unmapped", node);
		}
	struct mapping same = { .va = SPACE_DATA, .bytes = 40 * PAGE_2M, .page_bytes = PAGE_2M, .repeats = true };
	uint64_t first = 0, last = 0;
	check(t, a->ops->map(a->self, &same) == ST_OK && same.repeats, "40 repeated pages of 2 MiB");
	memcpy(mapping_at(&same, 39 * PAGE_2M + 64), &(uint64_t){ 0x5566778811223344ull }, 8);
	check(t, a->ops->mmio_read(a->self, same.va + 64, 8, &first) == ST_OK && first == 0x5566778811223344ull &&
	      a->ops->mmio_read(a->self, same.va + 39 * PAGE_2M + 64, 8, &last) == ST_OK && last == first, "they are the same page");
	check(t, a->ops->unmap(a->self, &same) == ST_OK && a->ops->mmio_read(a->self, same.va + 39 * PAGE_2M, 8, &last) != ST_OK,
	      "repeated pages: unmapped");
	struct mapping odd = { .va = SPACE_DATA, .bytes = 8192, .page_bytes = 8192 };
	check(t, a->ops->map(a->self, &odd) == ST_UNSUPPORTED, "a page of 8 KiB is unsupported");
	struct mapping far = { .va = SPACE_DATA, .bytes = PAGE_4K, .page_bytes = PAGE_4K, .node = a->nodes };
	check(t, a->ops->map(a->self, &far) == ST_RANGE, "a node that does not exist is refused");
}

/* Memory types determine the cost of a load: they must be equal on all processors that this program started. Those started
 * by MP services have the firmware's: OVMF, booted from USB, left them disabled on all but the boot processor (observed). */
static void test_types(struct tap *t, struct hw *h)
{
	/* PAT; MTRRs: default type, two of the fixed ranges, the first variable one (SDM vol. 3, 11.11.2, 11.12.2). */
	static const uint32_t registers[] = { 0x277, 0x2FF, 0x250, 0x26F, 0x200, 0x201 };
	const struct access *a = &h->access;
	for (unsigned core = 0; core < a->cores; core++) {
		bool same = true;
		uint64_t first, own, type = 0;
		for (unsigned i = 0; i < COUNT_OF(registers); i++) {
			same = same && a->ops->rdmsr(a->self, 0, registers[i], &first) == ST_OK &&
			       a->ops->rdmsr(a->self, core, registers[i], &own) == ST_OK && own == first;
			type = i == 1 ? own : type;
		}
		same = same && (type >> 11 & 1) != 0;
		if (h->started_by == STARTED_BY_MP_SERVICES && !same)
			print("# core %u: the firmware left other memory types, MTRR type 0x%lx\n", core, (unsigned long)type);
		check(t, same || h->started_by == STARTED_BY_MP_SERVICES, "core %u: memory types are the boot processor's", core);
	}
}

/* Sends INIT to the last processor without the backend's knowledge: its jobs end with a status, and the application cannot return to the firmware. */
static void test_lost(struct tap *t, struct hw *h)
{
	const struct access *a = &h->access;
	unsigned victim = a->cores - 1;
	uint64_t value;
	if (!check(t, victim > 0, "there is an application processor to lose"))
		return;
	apic_send_init(h->cores[victim]->apic_id);
	check(t, a->ops->rdtsc(a->self, victim, &value) == ST_TIMEOUT, "a processor that does not answer is a time-out");
	check(t, h->lost == 1, "it is counted as lost");
	check(t, a->ops->rdtsc(a->self, victim, &value) == ST_TIMEOUT, "and not waited for again");
	check(t, core_works(a, 0), "the boot processor goes on");
	struct job jobs[2] = { { .core = 0, .entry = SPACE_DATA }, { .core = victim, .entry = measure_entry() } };
	check(t, a->ops->run(a->self, jobs, 2, 0) != ST_OK && jobs[0].status == ST_FAULT && jobs[1].status == ST_TIMEOUT,
	      "each job has its own status");
}

/* The registers that the guard allows on this processor: all are tried, none is written. Tests compare their hash with and
 * without files on the boot volume that try to add registers. */
static enum status no_read(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	(void)self, (void)core, (void)msr;
	*value = 0;
	return ST_OK;
}

struct permitted_registers { uint32_t count; uint64_t hash; };

static enum status count_write(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	struct permitted_registers *l = self;
	(void)core, (void)value;
	l->count++;
	l->hash = fnv1a64(l->hash, &msr, sizeof(msr));
	return ST_OK;
}

static void test_msr_guard(struct tap *t, struct hw *h)
{
	struct permitted_registers l = { 0, FNV1A64_START };
	const struct access_ops ops = { .rdmsr = no_read, .wrmsr = count_write };
	const struct access a = { .ops = &ops, .self = &l, .kind = ACCESS_HW, .name = "none", .cores = 1 };
	struct msr_guard *g = pages_get(sizeof(*g));
	struct msr_guard_saved *saved = pages_get(MSR_GUARD_SAVED_MAX * sizeof(*saved));
	struct cpu *cpu = pages_get(sizeof(*cpu));
	if (!check(t, g != NULL && saved != NULL && cpu != NULL && cpu_identify(&h->access, cpu) == ST_OK, "processor identified"))
		return;
	msr_guard_init(g, &a, cpu->processor, saved, MSR_GUARD_SAVED_MAX);
	unsigned refused = 0, listed = 0;
	for (unsigned i = 0; i < cpu->processor->msr_count; i++)
		listed += cpu->processor->msrs[i].last - cpu->processor->msrs[i].first + 1;
	/* Intel's and AMD's ranges (SDM vol. 3, 24.6.9: what MSR bitmaps cover). */
	for (uint32_t msr = 0; msr < 0x4000; msr++)
		refused += g->access.ops->wrmsr(g->access.self, 0, (msr & 0x2000) != 0 ? 0xC0000000u | (msr & 0x1FFF) : msr, 0) != ST_OK;
	print("# %s: %u registers may be written, sum %016lx\n", cpu->processor->name, l.count, (unsigned long)l.hash);
	check(t, l.count == listed && refused == 0x4000 - listed && g->refused == refused, "all but the descriptor's %u are refused", listed);
	pages_put(cpu, sizeof(*cpu));
	pages_put(saved, MSR_GUARD_SAVED_MAX * sizeof(*saved));
	pages_put(g, sizeof(*g));
}

/* Without a vector table the following exception cannot be delivered: the processor shuts down (SDM vol. 3, 6.15). */
static void test_triple(struct tap *t, struct hw *h)
{
	struct descriptor_table none = { 0, 0 };
	(void)t, (void)h;
	print("# a triple fault comes now\n");
	__asm__ volatile("lidt %0; ud2" : : "m"(none));
}

unsigned selftest_run(const char *name, struct hw *h)
{
	struct tap t = { 0, 0 };
	/* "all" omits the tests that end the program or need help from outside. */
	bool all = str_equal(name, "all"), known = all;
	static const struct { const char *name; bool in_all; void (*test)(struct tap *, struct hw *); } tests[] = {
		{ .name = "faults", .in_all = true, .test = test_faults }, { .name = "limits", .in_all = true, .test = test_limits }, { .name = "together", .in_all = true, .test = test_together },
		{ .name = "memory", .in_all = true, .test = test_memory }, { .name = "types", .in_all = true, .test = test_types }, { .name = "lost", .in_all = false, .test = test_lost },
		{ .name = "guard", .in_all = true, .test = test_msr_guard }, { .name = "check", .in_all = false, .test = test_check }, { .name = "triple", .in_all = false, .test = test_triple },
	};
	print("# %u processors, %u memory nodes\n", h->access.cores, h->access.nodes);
	for (unsigned i = 0; i < COUNT_OF(tests); i++)
		if ((all && tests[i].in_all) || str_equal(name, tests[i].name)) {
			known = true;
			tests[i].test(&t, h);
		}
	check(&t, known, "the self test \"%s\" is known", name);
	print("1..%u\n", t.count);
	return t.failed;
}
