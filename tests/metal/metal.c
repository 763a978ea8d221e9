/* tests/metal/metal.c: a simulated processor behind the real hw backend.
 *
 *   metal --machine NAME|FILE --socket PATH --memory PREFIX MIB --cpus N --nodes N --sites FILE
 *   metal --machine NAME|FILE --cpus N --nodes N --cpu     prints QEMU's -cpu for that machine, and which of its processors the guest's are
 *
 * The application runs in QEMU with backend = hw. On QEMU's gdb stub this program stops it where it asks the processor for something,
 * and the simulated machine answers: CPUID, RDMSR, WRMSR, RDPMC, RDTSC of the hw backend, PCI configuration, the time-stamps and the
 * ACPI timer by which the clock is calibrated. Each job, from the entry of its measuring wrapper to the return from it, is carried out
 * there too, with the guest's registers and its memory, through its own page tables. What faults there faults in the guest: the frame
 * is put on the stack that its table names, and its own handler goes on. Jobs of several processors are carried out together.
 *
 * The guest was told to wait (debugger_wait, efi/processor/vectors.asm), by which its address is found. SITES has a line for each place,
 * `KIND OFFSET`, the offset in the image in hexadecimal: tests/metal/run.sh.
 *
 * Time: docs/design/boot.md. Not carried out: what firmware and C code do with caches and TLBs, beyond what the machine's own firmware
 * section says; local APIC; ports. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "asm/kernel.h"
#include "efi/processor/percpu.h"
#include "runner/host/backend.h"
#include "tests/metal/guest.h"
#include "tests/metal/stub.h"
#include "tests/unit/support/sim_look.h"

#define CPUS_MAX    64
#define SITES_MAX   64
#define ENTRIES_MAX 32
#define REGISTERS_MAX 16384
#define TWO_BYTES   2            /* of RDMSR, WRMSR, CPUID, RDPMC and RDTSC */
#define PM_HZ       3579545ull   /* ACPI 6.4, 4.8.2.1 */
#define PM_READ_US  100u         /* that a read of the ACPI timer takes: on a machine it is about one */
#define LIMIT_TSC   (1ull << 38) /* a job that hangs here would hang there */
#define JOB_LIMIT_MS 60000       /* the guest's own */
#define FINDINGS_TOLD 3
#define VECTOR_UD   6
#define VECTOR_GP   13

enum kind { WAIT, RDMSR, WRMSR, CPUID, RDPMC, RDTSC, CLOCK, TIMER, VECTORS, SCAN, READ, WRITE, AWAIT, KINDS };
static const char *const kind_names[KINDS] = { "wait", "rdmsr", "wrmsr", "cpuid", "rdpmc", "rdtsc", "clock", "timer", "vectors", "scan", "read", "write", "await" };

struct site { enum kind kind; uint64_t address; };
struct written { unsigned cpu; uint32_t msr; uint64_t first; };

static struct {
	struct machine machine;
	struct backend backend;
	const struct access *a;
	struct guest guest;
	unsigned cpus;
	unsigned hart[CPUS_MAX];       /* of each of the guest's processors: the simulated machine's */
	uint64_t base, vectors;        /* of the image; of its first vector's entry */
	struct site sites[SITES_MAX];
	unsigned site_count;
	uint64_t entries[ENTRIES_MAX]; /* of measuring wrappers */
	unsigned entry_count;
	uint64_t ecam;                 /* address of bus 0 in configuration space, 0 until the guest has looked at a bus */
	struct written written[REGISTERS_MAX];
	unsigned written_count;
	enum kind last;                /* of the latest stop */
	struct timespec resumed;
	unsigned long stops[KINDS], jobs, faults;
} m;

/* --- where the guest is --------------------------------------------------------------------------- */

static const struct site *site_at(uint64_t address)
{
	for (unsigned i = 0; i < m.site_count; i++)
		if (m.sites[i].address == address)
			return &m.sites[i];
	return NULL;
}

static bool is_entry(uint64_t address)
{
	for (unsigned i = 0; i < m.entry_count; i++)
		if (m.entries[i] == address)
			return true;
	return false;
}

static void read_sites(const char *path)
{
	char line[128], name[16];
	FILE *f = fopen(path, "r");
	if (!f)
		die("%s: cannot be read", path);
	while (fgets(line, sizeof(line), f)) {
		uint64_t offset;
		unsigned k = 0;
		if (sscanf(line, "%15s %" SCNx64, name, &offset) != 2 || m.site_count == SITES_MAX)
			die("%s: not a line that is known, or too many: %s", path, line);
		while (k < KINDS && strcmp(name, kind_names[k]))
			k++;
		if (k == KINDS)
			die("%s: %s: no such kind", path, name);
		m.sites[m.site_count++] = (struct site){ (enum kind)k, offset };
	}
	fclose(f);
}

static uint64_t offset_of(enum kind kind)
{
	for (unsigned i = 0; i < m.site_count; i++)
		if (m.sites[i].kind == kind)
			return m.sites[i].address;
	die("no site \"%s\"", kind_names[kind]);
}

/* It may still be printing that it waits, or be in the firmware's timer interrupt: then it goes on for a while. */
static void find_image(void)
{
	const uint64_t wait = offset_of(WAIT);
	uint64_t r[STUB_REGISTERS], set[STUB_REGISTERS];
	for (unsigned tries = 0; tries < 500 && !m.base; tries++) {
		if (tries)
			stub_let_run(20000);
		stub_registers(0, r);
		/* PAUSE, TEST and JZ behind the two bytes of XOR; images start at a page. */
		for (unsigned i = 2; i < 8 && !m.base; i++)
			if ((r[STUB_RIP] - wait - i) % PAGE_4K == 0)
				m.base = r[STUB_RIP] - wait - i;
	}
	if (!m.base)
		die("the guest does not wait: it is at 0x%" PRIx64, r[STUB_RIP]);
	memcpy(set, r, sizeof(set));
	set[STUB_RAX] = JOB_LIMIT_MS;
	stub_set(0, r, set);
}

static uint32_t pci32(unsigned bus, unsigned function, unsigned reg)
{
	const struct pci_address at = { 0, (uint8_t)bus, (uint8_t)(function >> 3), (uint8_t)(function & 7), (uint16_t)reg };
	uint32_t value;
	return m.a->ops->pci_read32(m.a->self, at, &value) == ST_OK ? value : UINT32_MAX;
}

static bool has_functions(void)
{
	for (unsigned bus = 1; bus < 256; bus++)
		for (unsigned f = 0; f < 256; f++)
			if (pci32(bus, f, 0) != UINT32_MAX)
				return true;
	return false;
}

static void set_breakpoints(void)
{
	const bool pci = has_functions();
	for (unsigned i = 0; i < m.site_count; i++) {
		struct site *s = &m.sites[i];
		s->address += m.base;
		if (s->kind == VECTORS)
			m.vectors = s->address;
		else if (s->kind != WAIT && s->kind != AWAIT && (pci || (s->kind != SCAN && s->kind != READ && s->kind != WRITE)))
			stub_breakpoint(s->address);
	}
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (!strncmp(k->name, "k_measure", 9)) {
			if (m.entry_count == ENTRIES_MAX)
				die("more measuring wrappers than there is room for");
			m.entries[m.entry_count++] = WINDOW_CODE + k->offset;
			stub_breakpoint(WINDOW_CODE + k->offset);
		}
}

/* --- faults ------------------------------------------------------------------------------------- */

static struct core *core_of(const uint64_t r[STUB_REGISTERS])
{
	struct core *c = guest_physical(&m.guest, r[STUB_GS_BASE], sizeof(*c));
	return c && c->self == r[STUB_GS_BASE] ? c : NULL;
}

/* As the processor delivers an exception through a gate with the first of the interrupt stacks (SDM vol. 3, 6.14). */
static void fault(uint64_t r[STUB_REGISTERS], unsigned vector, uint64_t error, uint64_t address)
{
	const struct core *c = core_of(r);
	const bool has_error = vector == VECTOR_GP || vector == VECTOR_PF;
	uint64_t frame[6] = { error, r[STUB_RIP], r[STUB_CS], r[STUB_RFLAGS], r[STUB_RSP], r[STUB_SS] };
	if (!c)
		die("exception %u at 0x%" PRIx64 ", where no table of the application is loaded", vector, r[STUB_RIP]);
	const uint64_t bytes = has_error ? sizeof(frame) : sizeof(frame) - 8;
	const uint64_t rsp = (((uint64_t)(uintptr_t)c->fault_stacks + FAULT_STACK_BYTES) & ~15ull) - bytes;
	uint8_t *to = guest_physical(&m.guest, rsp, bytes);
	if (!to)
		die("no stack for exceptions");
	memcpy(to, has_error ? frame : frame + 1, bytes);
	r[STUB_RSP] = rsp;
	r[STUB_RIP] = m.vectors + 16 * vector;
	r[STUB_RFLAGS] &= ~0x14700ull; /* TF IF DF? NT RF */
	if (vector == VECTOR_PF)
		r[STUB_CR2] = address;
	m.faults++;
}

/* --- registers ---------------------------------------------------------------------------------- */

static void answer64(uint64_t r[STUB_REGISTERS], enum status s, const uint64_t *value)
{
	if (s != ST_OK) {
		fault(r, VECTOR_GP, 0, 0);
		return;
	}
	r[STUB_RAX] = (uint32_t)*value;
	r[STUB_RDX] = *value >> 32;
	r[STUB_RIP] += TWO_BYTES;
}

/* What it was before the first write: it must be that again in the end. */
static void remember(unsigned cpu, uint32_t msr)
{
	uint64_t value;
	for (unsigned i = 0; i < m.written_count; i++)
		if (m.written[i].cpu == cpu && m.written[i].msr == msr)
			return;
	if (m.written_count == REGISTERS_MAX)
		die("more registers than there is room for");
	if (m.a->ops->rdmsr(m.a->self, m.hart[cpu], msr, &value) == ST_OK)
		m.written[m.written_count++] = (struct written){ cpu, msr, value };
}

static void answer_wrmsr(unsigned cpu, uint64_t r[STUB_REGISTERS])
{
	const uint64_t value = (uint32_t)r[STUB_RAX] | r[STUB_RDX] << 32;
	remember(cpu, (uint32_t)r[STUB_RCX]);
	if (m.a->ops->wrmsr(m.a->self, m.hart[cpu], (uint32_t)r[STUB_RCX], value) == ST_OK)
		r[STUB_RIP] += TWO_BYTES;
	else
		fault(r, VECTOR_GP, 0, 0);
}

static void answer_cpuid(unsigned cpu, uint64_t r[STUB_REGISTERS])
{
	struct cpuid_regs c;
	if (m.a->ops->cpuid(m.a->self, m.hart[cpu], (uint32_t)r[STUB_RAX], (uint32_t)r[STUB_RCX], &c) != ST_OK)
		die("CPUID of processor %u: the machine has %u", cpu, m.a->cores);
	r[STUB_RAX] = c.eax;
	r[STUB_RBX] = c.ebx;
	r[STUB_RCX] = c.ecx;
	r[STUB_RDX] = c.edx;
	r[STUB_RIP] += TWO_BYTES;
}

/* --- time --------------------------------------------------------------------------------------- */

static void pass_us(uint64_t us) { sim_wait(m.backend.sim, us * (m.machine.core_hz / 1000000)); }

/* The ACPI timer of the simulated machine, whose reads are what takes time on it. */
static void answer_timer(unsigned cpu, uint64_t r[STUB_REGISTERS])
{
	uint64_t tsc;
	pass_us(PM_READ_US);
	if (m.a->ops->rdtsc(m.a->self, m.hart[cpu], &tsc) != ST_OK)
		die("no time-stamp");
	r[STUB_RAX] = (uint32_t)((unsigned __int128)tsc * PM_HZ / m.machine.tsc_hz);
	r[STUB_RIP] += 1;
}

/* Between two time-stamps that calibrate by the firmware's Stall, what the guest's own clock has gone on by passes here too. */
static void answer_clock(unsigned cpu, uint64_t r[STUB_REGISTERS])
{
	struct timespec now;
	uint64_t tsc;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (m.last == CLOCK)
		pass_us((uint64_t)((now.tv_sec - m.resumed.tv_sec) * 1000000 + (now.tv_nsec - m.resumed.tv_nsec) / 1000));
	answer64(r, m.a->ops->rdtsc(m.a->self, m.hart[cpu], &tsc), &tsc);
}

/* --- PCI configuration space --------------------------------------------------------------------- */

/* The guest looks at all functions of a bus (scan_bus, efi/processor/pci.c): one of a socket's own is the simulated machine's. False: it is
 * QEMU's. */
static bool answer_scan(uint64_t r[STUB_REGISTERS])
{
	struct { uint64_t base; unsigned bus; struct { uint32_t id, kind, header, buses; } at[256]; } *s;
	const struct register_op *op = guest_physical(&m.guest, r[STUB_RDI], sizeof(*op));
	bool any = false;
	s = op ? guest_physical(&m.guest, op->index, sizeof(*s)) : NULL;
	const uint64_t *back = guest_physical(&m.guest, r[STUB_RSP], 8);
	if (!s || !back)
		die("no bus to look at");
	if (s->base)
		m.ecam = s->base - ((uint64_t)s->bus << 20);
	for (unsigned f = 0; f < 256 && s->bus; f++) {
		s->at[f].id = pci32(s->bus, f, 0);
		if (s->at[f].id == UINT32_MAX)
			continue;
		any = true;
		s->at[f].kind = pci32(s->bus, f, 8);
		s->at[f].header = pci32(s->bus, f, 0xC);
		s->at[f].buses = pci32(s->bus, f, 0x18);
	}
	if (!any)
		return false;
	r[STUB_RIP] = *back;
	r[STUB_RSP] += 8;
	return true;
}

/* op_read and op_write of efi/processor/vectors.asm, at an address of configuration space. False: elsewhere, or QEMU's own function. */
static bool answer_mmio(uint64_t r[STUB_REGISTERS], bool write)
{
	struct register_op *op = guest_physical(&m.guest, r[STUB_RDI], sizeof(*op));
	const uint64_t *back = guest_physical(&m.guest, r[STUB_RSP], 8);
	if (!op || !back || !m.ecam || op->index - m.ecam >= 1ull << 28 || op->more != 4)
		return false;
	const uint64_t at = op->index - m.ecam;
	const struct pci_address where = { 0, (uint8_t)(at >> 20), (uint8_t)(at >> 15 & 31), (uint8_t)(at >> 12 & 7), (uint16_t)(at & 0xFFF) };
	uint32_t value = (uint32_t)op->value;
	if (pci32(where.bus, (unsigned)(at >> 12 & 0xFF), 0) == UINT32_MAX)
		return false;
	if ((write ? m.a->ops->pci_write32(m.a->self, where, value) : m.a->ops->pci_read32(m.a->self, where, &value)) != ST_OK)
		die("no answer to an access to bus %u", where.bus);
	if (!write)
		op->value = value;
	r[STUB_RIP] = *back;
	r[STUB_RSP] += 8;
	return true;
}

/* The guest goes on behind the site's instruction, `mov REG, [rdi]`, where it has its struct register_op. To step it would have QEMU translate
 * everything anew. */
static void pass_over(uint64_t r[STUB_REGISTERS])
{
	const uint8_t *code = guest_physical(&m.guest, r[STUB_RIP], 3);
	const struct register_op *op = guest_physical(&m.guest, r[STUB_RDI], sizeof(*op));
	if (!code || !op || code[0] != 0x48 || code[1] != 0x8B || (code[2] != 0x3F && code[2] != 0x37))
		die("another instruction at 0x%" PRIx64 " than is known there", r[STUB_RIP]);
	r[code[2] == 0x3F ? STUB_RDI : STUB_RSI] = op->index;
	r[STUB_RIP] += 3;
}

/* --- jobs ---------------------------------------------------------------------------------------- */

/* SDM vol. 3, 2.5 and 13.1: an instruction on XMM registers without OSFXSR, and on YMM registers without OSXSAVE, is #UD. Kernels of before AVX
 * use XMM registers, and the others say so; where in its code a kernel comes to the first is not looked at. */
static bool may_run(const uint64_t r[STUB_REGISTERS])
{
	struct sim_page p;
	if (!(r[STUB_CR4] >> 9 & 1) || !guest_page(&m.guest, r[STUB_RDI], &p))
		return false;
	const struct measure_block *b = (const void *)((const uint8_t *)p.host + (r[STUB_RDI] - p.va));
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (b->kernel == WINDOW_CODE + k->offset && (k->isa & (ISA_AVX | ISA_AVX2 | ISA_FMA | ISA_AVX512)) != 0)
			return (r[STUB_CR4] >> 18 & 1) != 0;
	return true;
}

static const uint8_t order[16] = { 0, 2, 3, 1, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 }; /* of the stub's registers */

/* Carries out what the processors of `held` stand before, together. */
static void run_jobs(uint64_t held, uint64_t r[CPUS_MAX][STUB_REGISTERS])
{
	struct job jobs[CPUS_MAX];
	struct sim_registers registers[CPUS_MAX];
	unsigned n = 0, of[CPUS_MAX];
	uint64_t before[STUB_REGISTERS];
	m.guest.cr3 = 0;
	for (unsigned i = 0; i < m.cpus; i++) {
		if (!(held >> i & 1) || !is_entry(r[i][STUB_RIP]))
			continue;
		if (m.guest.cr3 && m.guest.cr3 != r[i][STUB_CR3])
			die("processor %u runs in other page tables than the others", i);
		m.guest.cr3 = r[i][STUB_CR3];
		m.jobs++;
		if (!may_run(r[i])) {
			printf("metal: processor %u: CR4 0x%" PRIx64 " does not let the job's vector instructions run\n", i, r[i][STUB_CR4]);
			memcpy(before, r[i], sizeof(before));
			fault(r[i], VECTOR_UD, 0, 0);
			stub_set(i, before, r[i]);
			continue;
		}
		of[n] = i;
		jobs[n] = (struct job){ .core = m.hart[i], .entry = r[i][STUB_RIP], .argument = r[i][STUB_RDI] };
		for (unsigned k = 0; k < 16; k++)
			registers[n].gpr[k] = r[i][order[k]];
		registers[n++].rip = r[i][STUB_RIP];
	}
	const enum status s = n == 0 ? ST_OK : sim_run_from(m.backend.sim, jobs, registers, n, LIMIT_TSC);
	if (s != ST_OK && s != ST_FAULT)
		die("the simulated machine: %s: %s", status_name(s), sim_problem(m.backend.sim));
	for (unsigned j = 0; j < n; j++) {
		const unsigned i = of[j];
		memcpy(before, r[i], sizeof(before));
		for (unsigned k = 0; k < 16; k++)
			r[i][order[k]] = registers[j].gpr[k];
		r[i][STUB_RIP] = registers[j].rip;
		if (jobs[j].status != ST_OK) {
			printf("metal: a job on processor %u ends with exception %u at 0x%" PRIx64 ": %s\n", i, jobs[j].vector, jobs[j].ip, sim_problem(m.backend.sim));
			fault(r[i], jobs[j].vector, 0, 0);
		}
		stub_set(i, before, r[i]);
	}
}

/* Which other processors have been given a job of the same run (loop of efi/processor/smp.c). */
static uint64_t expected(uint64_t held, uint64_t r[CPUS_MAX][STUB_REGISTERS])
{
	uint64_t mask = 0;
	for (unsigned i = 1; i < m.cpus; i++) {
		if (held >> i & 1)
			continue;
		stub_registers(i, r[i]);
		const struct core *c = core_of(r[i]);
		if (c && c->ready == c->posted && c->done != c->posted && is_entry(c->entry))
			mask |= 1ull << i;
	}
	return mask;
}

static void await_breakpoints(bool set)
{
	for (unsigned i = 0; i < m.site_count; i++)
		if (m.sites[i].kind == AWAIT && set)
			stub_breakpoint(m.sites[i].address);
		else if (m.sites[i].kind == AWAIT)
			stub_no_breakpoint(m.sites[i].address);
}

/* One processor stands before its job. The others that have one come there too; the boot processor, which has let them go, then has its own or
 * reads the time while it waits for them. */
static void gather(unsigned first, const uint64_t registers[STUB_REGISTERS])
{
	static uint64_t r[CPUS_MAX][STUB_REGISTERS];
	uint64_t held = 1ull << first, wanted;
	memcpy(r[first], registers, sizeof(r[first]));
	wanted = held | (m.cpus > 1 ? expected(held, r) | 1 : 0);
	const bool waits = wanted != held;
	if (waits)
		await_breakpoints(true);
	while (held != wanted) {
		int cpu = stub_go_on(held, m.cpus);
		if (cpu < 0)
			die("the guest ended before a job");
		stub_registers((unsigned)cpu, r[cpu]);
		const struct site *s = site_at(r[cpu][STUB_RIP]);
		if (!(wanted >> cpu & 1) || (!is_entry(r[cpu][STUB_RIP]) && !(cpu == 0 && s && s->kind == AWAIT)))
			die("processor %d is at 0x%" PRIx64 " while others begin their jobs", cpu, r[cpu][STUB_RIP]);
		held |= 1ull << cpu;
	}
	if (waits)
		await_breakpoints(false);
	run_jobs(held, r);
}

/* A record of a sample that went where nothing is mapped: on metal through the firmware's page tables. */
static void notice(void)
{
	static uint64_t told;
	const struct sim_finding *last;
	const uint64_t now = sim_found(m.backend.sim, FIND_UNMAPPED);
	(void)sim_last_finding(m.backend.sim, &last);
	if (now != told && last->kind == FIND_UNMAPPED && told < FINDINGS_TOLD)
		printf("metal: processor %u: %s\n", last->thread, last->why);
	told = now;
}

/* --- from attaching to the end -------------------------------------------------------------------- */

static void stopped(unsigned cpu)
{
	uint64_t before[STUB_REGISTERS], r[STUB_REGISTERS];
	stub_registers(cpu, before);
	memcpy(r, before, sizeof(r));
	if (is_entry(r[STUB_RIP])) {
		m.last = KINDS;
		gather(cpu, r);
		return;
	}
	const struct site *s = site_at(r[STUB_RIP]);
	uint64_t value = 0;
	if (!s)
		die("stopped at 0x%" PRIx64 ", where nothing was asked for", r[STUB_RIP]);
	switch (s->kind) {
	case RDMSR: answer64(r, m.a->ops->rdmsr(m.a->self, m.hart[cpu], (uint32_t)r[STUB_RCX], &value), &value); break;
	case WRMSR: answer_wrmsr(cpu, r); break;
	case CPUID: answer_cpuid(cpu, r); break;
	case RDPMC: answer64(r, m.a->ops->rdpmc(m.a->self, m.hart[cpu], (uint32_t)r[STUB_RCX], &value), &value); break;
	case RDTSC: answer64(r, m.a->ops->rdtsc(m.a->self, m.hart[cpu], &value), &value); break;
	case CLOCK: answer_clock(cpu, r); break;
	case TIMER: answer_timer(cpu, r); break;
	case SCAN: if (!answer_scan(r)) pass_over(r); break;
	case READ: if (!answer_mmio(r, false)) pass_over(r); break;
	case WRITE: if (!answer_mmio(r, true)) pass_over(r); break;
	default: die("stopped at a site that is none");
	}
	m.last = s->kind;
	m.stops[s->kind]++;
	stub_set(cpu, before, r);
}

/* Registers that have not got back what they had, and records that went through the firmware's page tables. */
static int finish(const char *not_restored)
{
	unsigned changed = 0;
	char line[512];
	uint64_t first[64], last[64], value;
	unsigned excused = 0;
	FILE *f = fopen(not_restored, "r");
	while (f && fgets(line, sizeof(line), f) && excused < 64)
		if (sscanf(line, "%" SCNx64 ",%" SCNx64 ",", &first[excused], &last[excused]) == 2)
			excused++;
	if (f)
		fclose(f);
	for (unsigned i = 0; i < m.written_count; i++) {
		const struct written *w = &m.written[i];
		unsigned e = 0;
		while (e < excused && (w->msr < first[e] || w->msr > last[e]))
			e++;
		if (e < excused || m.a->ops->rdmsr(m.a->self, m.hart[w->cpu], w->msr, &value) != ST_OK || value == w->first)
			continue;
		printf("metal: processor %u: register 0x%X has 0x%" PRIX64 " and had 0x%" PRIX64 " before the run\n", w->cpu, w->msr, value, w->first);
		changed++;
	}
	const uint64_t unmapped = sim_found(m.backend.sim, FIND_UNMAPPED);
	printf("metal: %lu jobs, %lu faults; CPUID %lu, RDMSR %lu, WRMSR %lu, RDPMC %lu, PCI %lu; %lu packets; %u registers written, %u not restored, %lu unmapped\n",
	       m.jobs, m.faults, m.stops[CPUID], m.stops[RDMSR], m.stops[WRMSR], m.stops[RDPMC], m.stops[SCAN] + m.stops[READ] + m.stops[WRITE],
	       stub_packets(), m.written_count, changed, (unsigned long)unmapped);
	return changed || unmapped || !m.jobs ? 1 : 0;
}

/* The guest's processors are spread over its nodes in equal parts (runner/qemu.sh), those of a node are the first of a socket. */
static void choose_harts(unsigned nodes)
{
	const unsigned socket = m.a->cores / m.a->nodes, part = nodes ? m.cpus / nodes : 0;
	if (!m.cpus || m.cpus > CPUS_MAX || !nodes || nodes > m.a->nodes || m.cpus % nodes || part > socket)
		die("%u processors on %u nodes: the machine has %u on each of %u, and each node of the guest as many as the others", m.cpus, nodes, socket, m.a->nodes);
	for (unsigned i = 0; i < m.cpus; i++)
		m.hart[i] = i / part * socket + i % part;
}

int main(int argc, char **argv)
{
	const char *machine = NULL, *socket = NULL, *memory = NULL, *sites = NULL, *not_restored = "tables/not_restored.csv";
	unsigned nodes = 1;
	uint64_t mib = 0;
	bool print_cpu = false;
	char problem[256];
	m.cpus = 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--machine") && i + 1 < argc)
			machine = argv[++i];
		else if (!strcmp(argv[i], "--socket") && i + 1 < argc)
			socket = argv[++i];
		else if (!strcmp(argv[i], "--memory") && i + 2 < argc)
			memory = argv[i + 1], mib = strtoull(argv[i + 2], NULL, 10), i += 2;
		else if (!strcmp(argv[i], "--cpus") && i + 1 < argc)
			m.cpus = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--nodes") && i + 1 < argc)
			nodes = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--sites") && i + 1 < argc)
			sites = argv[++i];
		else if (!strcmp(argv[i], "--cpu"))
			print_cpu = true;
		else
			die("%s: unknown, or a value is missing", argv[i]);
	}
	if (!machine || backend_machine(machine, &m.machine, problem, sizeof(problem)) != ST_OK ||
	    backend_open(&m.backend, &m.machine, problem, sizeof(problem)) != ST_OK)
		die("%s", machine ? problem : "a machine is needed");
	m.a = m.backend.access;
	choose_harts(nodes);
	if (print_cpu) {
		printf("max,pdpe1gb=%s\n", m.machine.cpuid_isa & ISA_1G ? "on" : "off");
		for (unsigned i = 0; i < m.cpus; i++)
			printf("%s%u", i ? "," : "", m.hart[i]);
		printf("\n");
		return 0;
	}
	if (!socket || !memory || !sites || !mib)
		die("a socket, memory and sites are needed");
	m.last = KINDS;
	read_sites(sites);
	guest_open(&m.guest, memory, nodes, mib, m.machine.dram_node_bytes);
	m.guest.nx = true;
	sim_space(m.backend.sim, &(struct sim_space){ &m.guest, guest_page });
	stub_attach(socket);
	find_image();
	set_breakpoints();
	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &m.resumed);
		int cpu = stub_go_on(0, m.cpus);
		if (cpu < 0)
			return finish(not_restored);
		stopped((unsigned)cpu);
		notice();
	}
}
