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

#include "asm/kernel.h"
#include "tests/metal/metal.h"
#include "tests/unit/support/sim_look.h"

#define FINDINGS_TOLD 3

struct metal metal;

/* A record of a sample that went where nothing is mapped: on metal through the firmware's page tables. */
static void notice(void)
{
	static uint64_t told;
	const struct sim_finding *last;
	const uint64_t now = sim_found(metal.backend.sim, FIND_UNMAPPED);
	(void)sim_last_finding(metal.backend.sim, &last);
	if (now != told && last->kind == FIND_UNMAPPED && told < FINDINGS_TOLD)
		printf("metal: processor %u: %s\n", last->thread, last->why);
	told = now;
}

static void stopped(unsigned cpu)
{
	uint64_t before[STUB_REGISTERS], r[STUB_REGISTERS];
	stub_registers(cpu, before);
	memcpy(r, before, sizeof(r));
	if (sites_is_entry(r[STUB_RIP])) {
		metal.last = KINDS;
		jobs_gather(cpu, r);
		return;
	}
	const struct site *s = sites_at(r[STUB_RIP]);
	if (!s)
		die("stopped at 0x%" PRIx64 ", where nothing was asked for", r[STUB_RIP]);
	answer_site(s, cpu, r);
	metal.last = s->kind;
	metal.stops[s->kind]++;
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
	for (unsigned i = 0; i < metal.written_count; i++) {
		const struct written *w = &metal.written[i];
		unsigned e = 0;
		while (e < excused && (w->msr < first[e] || w->msr > last[e]))
			e++;
		if (e < excused || metal.a->ops->rdmsr(metal.a->self, metal.hart[w->cpu], w->msr, &value) != ST_OK || value == w->first)
			continue;
		printf("metal: processor %u: register 0x%X has 0x%" PRIX64 " and had 0x%" PRIX64 " before the run\n", w->cpu, w->msr, value, w->first);
		changed++;
	}
	const uint64_t unmapped = sim_found(metal.backend.sim, FIND_UNMAPPED);
	printf("metal: %lu jobs, %lu faults; CPUID %lu, RDMSR %lu, WRMSR %lu, RDPMC %lu, PCI %lu; %lu packets; %u registers written, %u not restored, %lu unmapped\n",
	       metal.jobs, metal.faults, metal.stops[CPUID], metal.stops[RDMSR], metal.stops[WRMSR], metal.stops[RDPMC], metal.stops[SCAN] + metal.stops[READ] + metal.stops[WRITE],
	       stub_packets(), metal.written_count, changed, (unsigned long)unmapped);
	return changed || unmapped || !metal.jobs ? 1 : 0;
}

/* The guest's processors are spread over its nodes in equal parts (runner/qemu.sh), those of a node are the first of a socket. */
static void choose_harts(unsigned nodes)
{
	const unsigned socket = metal.a->cores / metal.a->nodes, part = nodes ? metal.cpus / nodes : 0;
	if (!metal.cpus || metal.cpus > CPUS_MAX || !nodes || nodes > metal.a->nodes || metal.cpus % nodes || part > socket)
		die("%u processors on %u nodes: the machine has %u on each of %u, and each node of the guest as many as the others", metal.cpus, nodes, socket, metal.a->nodes);
	for (unsigned i = 0; i < metal.cpus; i++)
		metal.hart[i] = i / part * socket + i % part;
}

int main(int argc, char **argv)
{
	const char *machine = NULL, *socket = NULL, *memory = NULL, *sites = NULL, *not_restored = "tables/not_restored.csv";
	unsigned nodes = 1;
	uint64_t mib = 0;
	bool print_cpu = false;
	char problem[256];
	metal.cpus = 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--machine") && i + 1 < argc)
			machine = argv[++i];
		else if (!strcmp(argv[i], "--socket") && i + 1 < argc)
			socket = argv[++i];
		else if (!strcmp(argv[i], "--memory") && i + 2 < argc)
			memory = argv[i + 1], mib = strtoull(argv[i + 2], NULL, 10), i += 2;
		else if (!strcmp(argv[i], "--cpus") && i + 1 < argc)
			metal.cpus = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--nodes") && i + 1 < argc)
			nodes = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--sites") && i + 1 < argc)
			sites = argv[++i];
		else if (!strcmp(argv[i], "--cpu"))
			print_cpu = true;
		else
			die("%s: unknown, or a value is missing", argv[i]);
	}
	if (!machine || backend_machine(machine, &metal.machine, problem, sizeof(problem)) != ST_OK ||
	    backend_open(&metal.backend, &metal.machine, problem, sizeof(problem)) != ST_OK)
		die("%s", machine ? problem : "a machine is needed");
	metal.a = metal.backend.access;
	choose_harts(nodes);
	if (print_cpu) {
		printf("max,pdpe1gb=%s\n", metal.machine.cpuid_isa & ISA_1G ? "on" : "off");
		for (unsigned i = 0; i < metal.cpus; i++)
			printf("%s%u", i ? "," : "", metal.hart[i]);
		printf("\n");
		return 0;
	}
	if (!socket || !memory || !sites || !mib)
		die("a socket, memory and sites are needed");
	metal.last = KINDS;
	sites_read(sites);
	guest_open(&metal.guest, memory, nodes, mib, metal.machine.dram_node_bytes);
	metal.guest.nx = true;
	sim_space(metal.backend.sim, &(struct sim_space){ &metal.guest, guest_page });
	stub_attach(socket);
	sites_find_image();
	sites_break();
	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &metal.resumed);
		int cpu = stub_go_on(0, metal.cpus);
		if (cpu < 0)
			return finish(not_restored);
		stopped((unsigned)cpu);
		notice();
	}
}
