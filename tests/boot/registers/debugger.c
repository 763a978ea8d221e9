/* tests/boot/registers/debugger.c: a debugger on QEMU's stub that answers the guest's accesses to registers.
 *
 *   debugger --socket PATH --wait OFFSET --rdmsr OFFSET --wrmsr OFFSET --cpuid OFFSET [OPTION]... TRACE...
 *
 * The guest waits in debugger_wait (efi/processor/vectors.asm), which tells where it was loaded; the offsets are those of the
 * image. From then on it stops at each RDMSR, WRMSR and CPUID of the hw backend, and at each RDPMC of the measuring
 * wrapper: the instruction is not executed, its answer is put into the registers, and the guest goes on behind it. So a
 * processor without counters looks like the one that the traces (lines of pmu/backend/trace.h) were recorded on.
 *
 *   replay (default)   each access must be the next line of the traces, to the bit; answers are the recorded ones
 *   --model            answers come from registers that hold what is written to them, as first found in the traces;
 *                      at the end every register must hold that again but those of kind counts, clears, record,
 *                      status or free of the list that --not-restored names
 *   --escape N PIPE    with --model: at the N-th write the Esc key is put into PIPE
 *   --fault N          with --model: the N-th write faults
 *   --endless N CORE   with --model: the job of that core that reads a counter next after the N-th write never ends; jobs have 2 s
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm/kernel.h"
#include "pmu/access.h"
#include "tests/metal/stub.h"

#define ENTRIES_MAX   65536
#define REGISTERS_MAX 16384
#define INSTRUCTION_BYTES 2 /* of RDMSR, WRMSR, CPUID and RDPMC */
#define LIMIT_MS 60000      /* of a job */
#define SHORT_LIMIT_MS 2000 /* where one never ends */

enum site { SITE_WAIT, SITE_RDMSR, SITE_WRMSR, SITE_CPUID, SITES };

struct entry { char verb; unsigned core; uint32_t address, subleaf; uint64_t value; uint32_t regs[4]; };
struct reg { unsigned core; uint32_t msr; uint64_t value, first; };

static struct entry entries[ENTRIES_MAX];
static unsigned entry_count, at;
static struct reg registers[REGISTERS_MAX];
static unsigned register_count;
static struct { uint32_t first, last; } excused[64];
static unsigned excused_count;
static uint64_t offset[SITES], base, rdpmc_at[16];
static unsigned rdpmc_count, writes, escape_at, fault_at, endless_at, endless_core;
static const char *escape_pipe;
static bool model;
/* --- traces ------------------------------------------------------------------------------------ */

static void read_trace(const char *path)
{
	char line[1024];
	FILE *f = fopen(path, "r");
	if (!f)
		die("%s: cannot be read", path);
	while (fgets(line, sizeof(line), f)) {
		struct entry *e = &entries[entry_count];
		unsigned long long value;
		*e = (struct entry){ 0 };
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (entry_count + 1 == ENTRIES_MAX)
			die("%s: too long", path);
		if (sscanf(line, "cpuid %u %x %x %x %x %x %x", &e->core, &e->address, &e->subleaf, &e->regs[0], &e->regs[1], &e->regs[2],
		           &e->regs[3]) == 7)
			e->verb = 'c';
		else if (sscanf(line, "rdmsr %u %x %llx", &e->core, &e->address, &value) == 3)
			e->verb = 'r';
		else if (sscanf(line, "wrmsr %u %x %llx", &e->core, &e->address, &value) == 3)
			e->verb = 'w';
		else
			die("%s: not a line that is known: %s", path, line);
		if (e->verb != 'c')
			e->value = value;
		entry_count++;
	}
	fclose(f);
}

static void read_excused(const char *path)
{
	char line[512];
	FILE *f = fopen(path, "r");
	if (!f)
		die("%s: cannot be read", path);
	while (fgets(line, sizeof(line), f) && excused_count < 64)
		if (sscanf(line, "%x,%x,", &excused[excused_count].first, &excused[excused_count].last) == 2)
			excused_count++;
	fclose(f);
}

static bool is_excused(uint32_t msr)
{
	for (unsigned i = 0; i < excused_count; i++)
		if (msr >= excused[i].first && msr <= excused[i].last)
			return true;
	return false;
}

/* --- answers ----------------------------------------------------------------------------------- */

static struct reg *find_register(unsigned core, uint32_t msr)
{
	for (unsigned i = 0; i < register_count; i++)
		if (registers[i].core == core && registers[i].msr == msr)
			return &registers[i];
	if (register_count == REGISTERS_MAX)
		die("more registers than there is room for");
	registers[register_count] = (struct reg){ core, msr, 0, 0 };
	for (unsigned i = 0; i < entry_count; i++)
		if (entries[i].verb == 'r' && entries[i].core == core && entries[i].address == msr) {
			registers[register_count].value = registers[register_count].first = entries[i].value;
			break;
		}
	return &registers[register_count++];
}

static const struct entry *find_cpuid(unsigned core, uint32_t leaf, uint32_t subleaf)
{
	static const struct entry nothing;
	for (unsigned i = 0; i < entry_count; i++)
		if (entries[i].verb == 'c' && entries[i].core == core && entries[i].address == leaf && entries[i].subleaf == subleaf)
			return &entries[i];
	return &nothing;
}

static void expect(char verb, unsigned core, uint32_t address, uint32_t subleaf, uint64_t value)
{
	const struct entry *e = &entries[at];
	if (at == entry_count)
		die("access %u: %c %u 0x%X 0x%" PRIX64 ": the traces end before it", at, verb, core, address, value);
	if (e->verb != verb || e->core != core || e->address != address || (verb == 'c' && e->subleaf != subleaf) ||
	    (verb == 'w' && e->value != value))
		die("access %u: %c %u 0x%X %u 0x%" PRIX64 ", recorded %c %u 0x%X %u 0x%" PRIX64, at, verb, core, address, subleaf, value,
		    e->verb, e->core, e->address, e->subleaf, e->value);
	at++;
}

static void escape(void)
{
	FILE *f = fopen(escape_pipe, "w");
	if (!f || fputc(0x1B, f) == EOF || fclose(f))
		die("%s: cannot be written", escape_pipe);
	printf("Esc at write %u\n", writes);
}

static void answer_rdmsr(unsigned core, uint64_t r[STUB_REGISTERS])
{
	uint32_t msr = (uint32_t)r[STUB_RCX];
	uint64_t value;
	if (model) {
		value = find_register(core, msr)->value;
	} else {
		expect('r', core, msr, 0, 0);
		value = entries[at - 1].value;
	}
	r[STUB_RAX] = (uint32_t)value;
	r[STUB_RDX] = value >> 32;
}

static void answer_wrmsr(unsigned core, uint64_t r[STUB_REGISTERS])
{
	uint32_t msr = (uint32_t)r[STUB_RCX];
	uint64_t value = (uint32_t)r[STUB_RAX] | r[STUB_RDX] << 32;
	writes++;
	if (!model) {
		expect('w', core, msr, 0, value);
		return;
	}
	if (writes == fault_at) {
		printf("fault at write %u: 0x%X\n", writes, msr);
		r[STUB_RIP] = SPACE_END - PAGE_4K - INSTRUCTION_BYTES; /* nothing is mapped there */
		return;
	}
	find_register(core, msr)->value = value;
	if (writes == escape_at)
		escape();
}

static void answer_cpuid(unsigned core, uint64_t r[STUB_REGISTERS])
{
	static const unsigned to[4] = { STUB_RAX, STUB_RBX, STUB_RCX, STUB_RDX };
	const struct entry *e;
	if (model) {
		e = find_cpuid(core, (uint32_t)r[STUB_RAX], (uint32_t)r[STUB_RCX]);
	} else {
		expect('c', core, (uint32_t)r[STUB_RAX], (uint32_t)r[STUB_RCX], 0);
		e = &entries[at - 1];
	}
	for (unsigned i = 0; i < 4; i++)
		r[to[i]] = e->regs[i];
}

static bool is_rdpmc(uint64_t address)
{
	for (unsigned i = 0; i < rdpmc_count; i++)
		if (rdpmc_at[i] == address)
			return true;
	return false;
}

/* Answers the access at which the guest stopped, and continues after the instruction. */
static void answer(unsigned core)
{
	static uint64_t counter;
	uint64_t found[STUB_REGISTERS], r[STUB_REGISTERS];
	stub_registers(core, found);
	memcpy(r, found, sizeof(r));
	if (r[STUB_RIP] == base + offset[SITE_RDMSR]) {
		answer_rdmsr(core, r);
	} else if (r[STUB_RIP] == base + offset[SITE_WRMSR]) {
		answer_wrmsr(core, r);
	} else if (r[STUB_RIP] == base + offset[SITE_CPUID]) {
		answer_cpuid(core, r);
	} else if (is_rdpmc(r[STUB_RIP]) && endless_at && writes >= endless_at && core == endless_core) {
		printf("endless job of core %u at write %u\n", core, writes);
		endless_at = 0;
		r[STUB_RIP] = base + offset[SITE_WAIT] - INSTRUCTION_BYTES; /* the loop that waits for a debugger */
	} else if (is_rdpmc(r[STUB_RIP])) {
		counter += 4096;
		r[STUB_RAX] = (uint32_t)counter;
		r[STUB_RDX] = counter >> 32;
	} else {
		die("stopped at 0x%" PRIx64 ", where nothing was asked for", r[STUB_RIP]);
	}
	r[STUB_RIP] += INSTRUCTION_BYTES;
	stub_set(core, found, r);
}

/* --- from attaching to the end ----------------------------------------------------------------- */

static void attach(const char *path)
{
	uint64_t r[STUB_REGISTERS], now[STUB_REGISTERS];
	stub_attach(path);
	/* The guest may still be printing that it waits, or be in the firmware's timer interrupt: then it runs on for a while. */
	for (unsigned tries = 0; tries < 500 && !base; tries++) {
		if (tries)
			stub_let_run(20000);
		stub_registers(0, r);
		/* PAUSE, TEST and JZ follow the two bytes of XOR; images start at a page. */
		for (unsigned i = 2; i < 8 && !base; i++)
			if ((r[STUB_RIP] - offset[SITE_WAIT] - i) % PAGE_4K == 0)
				base = r[STUB_RIP] - offset[SITE_WAIT] - i;
	}
	if (!base)
		die("the guest does not wait: it is at 0x%" PRIx64, r[STUB_RIP]);
	memcpy(now, r, sizeof(now));
	now[STUB_RAX] = endless_at ? SHORT_LIMIT_MS : LIMIT_MS;
	stub_set(0, r, now);
	for (unsigned s = SITE_RDMSR; s < SITES; s++)
		stub_breakpoint(base + offset[s]);
	for (unsigned i = 0; i < rdpmc_count; i++)
		stub_breakpoint(rdpmc_at[i]);
}

static void find_rdpmc(void)
{
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		for (unsigned i = 0; !strcmp(k->name, "k_measure") && i + 1 < k->bytes && rdpmc_count < 16; i++)
			if (kernel_code[k->offset + i] == 0x0F && kernel_code[k->offset + i + 1] == 0x33)
				rdpmc_at[rdpmc_count++] = SPACE_CODE + k->offset + i;
	if (!rdpmc_count)
		die("the measuring wrapper has no RDPMC");
}

static int finish(void)
{
	unsigned changed = 0, held = 0;
	if (!model) {
		if (at != entry_count)
			die("the guest ended after %u of %u accesses", at, entry_count);
		printf("%u accesses as recorded, %u of them writes\n", at, writes);
		return 0;
	}
	for (unsigned i = 0; i < register_count; i++) {
		const struct reg *g = &registers[i];
		if (is_excused(g->msr))
			continue;
		held++;
		if (g->value == g->first)
			continue;
		fprintf(stderr, "core %u 0x%X: 0x%" PRIX64 " before, 0x%" PRIX64 " after\n", g->core, g->msr, g->first, g->value);
		changed++;
	}
	printf("%u writes, %u registers looked at, %u changed\n", writes, held, changed);
	return changed || !held ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const char *const sites[SITES] = { "--wait", "--rdmsr", "--wrmsr", "--cpuid" };
	const char *path = NULL;
	int core;
	for (int i = 1; i < argc; i++) {
		unsigned s = 0;
		while (s < SITES && strcmp(argv[i], sites[s]))
			s++;
		if (s < SITES && i + 1 < argc)
			offset[s] = strtoull(argv[++i], NULL, 16);
		else if (!strcmp(argv[i], "--socket") && i + 1 < argc)
			path = argv[++i];
		else if (!strcmp(argv[i], "--model"))
			model = true;
		else if (!strcmp(argv[i], "--not-restored") && i + 1 < argc)
			read_excused(argv[++i]);
		else if (!strcmp(argv[i], "--fault") && i + 1 < argc)
			fault_at = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--endless") && i + 2 < argc)
			endless_at = (unsigned)atoi(argv[i + 1]), endless_core = (unsigned)atoi(argv[i + 2]), i += 2;
		else if (!strcmp(argv[i], "--escape") && i + 2 < argc)
			escape_at = (unsigned)atoi(argv[i + 1]), escape_pipe = argv[i + 2], i += 2;
		else
			read_trace(argv[i]);
	}
	if (!path || !offset[SITE_WAIT] || !offset[SITE_RDMSR] || !offset[SITE_WRMSR] || !offset[SITE_CPUID] || !entry_count)
		die("a socket, four offsets and a trace are needed");
	find_rdpmc();
	attach(path);
	while ((core = stub_go_on(0, 0)) >= 0)
		answer((unsigned)core);
	return finish();
}
