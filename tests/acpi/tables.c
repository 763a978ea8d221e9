/* tests/acpi/tables.c: efi/platform/acpi.c and efi/platform/smbios.c on the host, under the sanitizers: tables as firmware gives them, big
 * ones, and each table in turn cut short or filled with noise. Every table is an allocation of its own, of exactly its
 * bytes, so that one byte read behind it ends the program. Speaks TAP.   usage: tables [VARIANTS [SEED]] */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "efi/platform/acpi.h"
#include "efi/platform/smbios.h"
#include "efi/firmware/uefi.h"

#define BLOCKS 32
static struct { uint8_t *at; uint32_t bytes; } blocks[BLOCKS];
static unsigned block_count;
static const uint8_t *rsdp, *entry;
static unsigned complaints;

/* --- what efi/ has from the firmware ------------------------------------------------------------- */
const void *uefi_table(const EFI_GUID *guid)
{
	static const EFI_GUID acpi = ACPI_20_TABLE_GUID, smbios = SMBIOS3_TABLE_GUID;
	return memcmp(guid, &acpi, sizeof(acpi)) == 0 ? rsdp : memcmp(guid, &smbios, sizeof(smbios)) == 0 ? entry : NULL;
}

bool uefi_memory_holds(uint64_t at, uint64_t bytes)
{
	for (unsigned i = 0; i < block_count; i++) {
		uint64_t from = (uintptr_t)blocks[i].at;
		if (at >= from && bytes <= blocks[i].bytes && at - from <= blocks[i].bytes - bytes)
			return true;
	}
	return false;
}

void print(const char *format, ...);
void print(const char *format, ...)
{
	char line[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	complaints++;
}

void fault_inject_acpi(struct acpi *a) { (void)a; }
void fault_inject_smbios(const uint8_t **at, uint32_t *bytes) { (void)at, (void)bytes; }

/* --- tables ------------------------------------------------------------------------------------------ */
struct bytes { uint8_t at[65536]; uint32_t n; };
static struct bytes b;

static void add(uint64_t value, unsigned n)
{
	memcpy(b.at + b.n, &value, n < 8 ? n : 8); /* zeros behind */
	b.n += n;
}

static void begin(const char *signature, uint32_t body)
{
	memset(&b, 0, sizeof(b));
	memcpy(b.at, signature, 4);
	b.at[8] = 1;
	b.n = 36 + body;
}

static void checksum(uint8_t *at, uint32_t n)
{
	uint8_t sum = 0;
	at[9] = 0;
	for (uint32_t i = 0; i < n; i++)
		sum = (uint8_t)(sum + at[i]);
	at[9] = (uint8_t)-sum;
}

static unsigned keep(void)
{
	blocks[block_count].at = malloc(b.n);
	blocks[block_count].bytes = b.n;
	memcpy(blocks[block_count].at, b.at, b.n);
	return block_count++;
}

static unsigned end(void)
{
	memcpy(b.at + 4, &b.n, 4);
	checksum(b.at, b.n);
	return keep();
}

enum { T_FACP, T_APIC, T_SRAT, T_SLIT, T_MCFG, T_HMAT, T_CEDT, T_COUNT };

static unsigned segments = 1; /* each with its range of MCFG */

/* `processors` x2APIC ids, `nodes` memory nodes of two ranges with a hole; the last node has no processor. */
static void build(unsigned processors, unsigned nodes)
{
	unsigned tables[T_COUNT];
	block_count = 0;
	begin("FACP", 208);
	memcpy(b.at + 76, &(uint32_t){ 0x608 }, 4);
	tables[T_FACP] = end();
	begin("APIC", 8);
	for (unsigned i = 0; i < processors; i++) {
		if (i < 255)
			add(0, 1), add(8, 1), add(i, 1), add(i, 1), add(1, 4);
		else
			add(9, 1), add(16, 1), add(0, 2), add(i, 4), add(1, 4), add(i, 4);
	}
	tables[T_APIC] = end();
	begin("SRAT", 12);
	for (unsigned i = 0; i < processors; i++)
		add(2, 1), add(24, 1), add(0, 2), add(i * (nodes - 1) / processors, 4), add(i, 4), add(1, 4), add(0, 8);
	for (unsigned i = 0; i < 2 * nodes; i++)
		add(1, 1), add(40, 1), add(i / 2, 4), add(0, 2), add((uint64_t)i << 31, 8), add(1u << 30, 8), add(0, 4), add(1, 4), add(0, 8);
	add(5, 1), add(32, 1), add(0, 22), add(1, 4), add(0, 4);
	tables[T_SRAT] = end();
	begin("SLIT", 8);
	memcpy(b.at + 36, &(uint64_t){ nodes }, 8);
	for (unsigned i = 0; i < nodes * nodes; i++)
		add(i % (nodes + 1) ? 21 : 10, 1);
	tables[T_SLIT] = end();
	begin("MCFG", 8);
	for (unsigned i = 0; i < segments; i++)
		add(0xB0000000 + ((uint64_t)i << 28), 8), add(i, 2), add(0, 1), add(255, 1), add(0, 4);
	tables[T_MCFG] = end();
	begin("HMAT", 4);
	add(0, 4), add(40, 4), add(0, 32), add(1, 4), add(48, 4), add(0, 40), add(2, 4), add(32, 4), add(0, 24);
	tables[T_HMAT] = end();
	begin("CEDT", 0);
	tables[T_CEDT] = end();
	begin("XSDT", 0);
	for (unsigned i = 0; i < T_COUNT; i++)
		add((uintptr_t)blocks[tables[i]].at, 8);
	unsigned root = end();
	begin("RSD ", 0);
	memcpy(b.at, "RSD PTR ", 8);
	b.at[15] = 2;
	memcpy(b.at + 24, &(uint64_t){ (uintptr_t)blocks[root].at }, 8);
	rsdp = blocks[keep()].at;
	/* SMBIOS: a system, a memory module, the end */
	memset(&b, 0, sizeof(b));
	static const char system_strings[] = "Maker\0Product\0Version\0Serial\0", module_strings[] = "DIMM 1\0Maker\0Part\0";
	add(1, 1), add(27, 1), add(1, 2), add(0x04030201, 4), add(7, 8), add(8, 8), add(0, 3);
	memcpy(b.at + b.n, system_strings, sizeof(system_strings)), b.n += sizeof(system_strings);
	uint32_t module = b.n;
	add(17, 1), add(40, 1), add(2, 2), b.n = module + 40;
	memcpy(b.at + module + 0x0C, &(uint16_t){ 8192 }, 2);
	b.at[module + 0x10] = 1, b.at[module + 0x17] = 2, b.at[module + 0x1A] = 3;
	memcpy(b.at + b.n, module_strings, sizeof(module_strings)), b.n += sizeof(module_strings);
	add(127, 1), add(4, 1), add(3, 2), add(0, 2);
	unsigned structures = keep();
	memset(&b, 0, sizeof(b));
	memcpy(b.at, "_SM3_", 5);
	memcpy(b.at + 12, &blocks[structures].bytes, 4);
	memcpy(b.at + 16, &(uint64_t){ (uintptr_t)blocks[structures].at }, 8);
	b.n = 24;
	entry = blocks[keep()].at;
}

static void drop(void)
{
	for (unsigned i = 0; i < block_count; i++)
		free(blocks[i].at);
	block_count = 0;
}

/* --- checks -------------------------------------------------------------------------------------------- */
static unsigned checks, failures;
static void check(bool good, const char *what)
{
	checks++;
	failures += !good;
	printf("%s %u - %s\n", good ? "ok" : "not ok", checks, what);
}

/* What the rooms above index with. */
static bool sane(const struct acpi *a)
{
	bool good = a->nodes >= 1 && a->nodes <= NODES_MAX && a->range_count >= 1 && a->range_count <= RANGES_MAX && a->ecam_count <= ECAM_MAX &&
	            a->cpu_count <= LOCAL_CPUS_MAX && a->table_count <= ACPI_TABLES_MAX;
	for (unsigned i = 0; good && i < a->range_count; i++)
		good = a->ranges[i].node < a->nodes && a->ranges[i].from < a->ranges[i].to;
	for (unsigned i = 0; good && i < a->nodes * a->nodes; i++)
		good = a->distance[i] >= 10 && (i % (a->nodes + 1) != 0 || a->distance[i] == 10);
	for (unsigned i = 0; good && i < a->ecam_count; i++)
		good = a->ecam[i].bus_first <= a->ecam[i].bus_last && a->ecam[i].base != 0;
	for (unsigned id = 0; good && id < 700; id++)
		good = acpi_core_node(a, id) < a->nodes;
	return good;
}

static uint64_t state;
static uint32_t draw(uint32_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((state >> 33) % n);
}

/* The allocation becomes as short as the table; others learn the new address. */
static uint8_t *shrink(unsigned victim, uint32_t n)
{
	uint8_t *old = blocks[victim].at, *new = malloc(n);
	uint64_t from = (uintptr_t)old, to = (uintptr_t)new;
	memcpy(new, old, n);
	for (unsigned i = 0; i < block_count; i++) {
		uint64_t here;
		for (uint32_t k = 0; i != victim && k + 8 <= blocks[i].bytes; k += 4)
			if (memcpy(&here, blocks[i].at + k, 8), here == from)
				memcpy(blocks[i].at + k, &to, 8);
		if (i == T_COUNT)
			checksum(blocks[i].at, blocks[i].bytes);
	}
	rsdp = rsdp == old ? new : rsdp;
	entry = entry == old ? new : entry;
	free(old);
	blocks[victim].at = new;
	blocks[victim].bytes = n;
	return new;
}

/* One block cut to a length, its own length field with it or not, or some or all of its bytes drawn. */
static void damage(unsigned victim)
{
	unsigned how = draw(4);
	uint32_t n = blocks[victim].bytes, header = victim < T_COUNT + 1 ? 36 : 0, less = draw(n);
	uint8_t *at = blocks[victim].at;
	if (how < 2) {
		at = shrink(victim, less == 0 ? 1 : less);
		if (how == 1 && blocks[victim].bytes >= 36 && header != 0) {
			memcpy(at + 4, &blocks[victim].bytes, 4);
			checksum(at, blocks[victim].bytes);
		}
		return;
	}
	for (uint32_t i = header; i < n; i++)
		if (how == 2 || draw(20) == 0)
			at[i] = (uint8_t)draw(256);
	if (header != 0 && draw(2) == 0)
		checksum(at, n);
}

int main(int argc, char **argv)
{
	static struct acpi a;
	static struct smbios s;
	unsigned variants = argc > 1 ? (unsigned)atoi(argv[1]) : 500, bad = 0, damaged_ones = 0;
	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 20260107;
	build(16, 2);
	acpi_open(&a);
	smbios_open(&s);
	check(sane(&a) && a.nodes == 2 && a.srat && a.slit && a.ecam_count == 1 && a.pm_timer_port == 0x608 && complaints == 0, "whole tables are read without a word");
	check(a.madt_processors == 16 && a.madt_enabled == 16 && a.madt_highest == 15 && a.madt_count == 16 && a.madt_ids[7] == 7, "MADT counted");
	check(a.holes == 2 && a.generic_initiators == 1 && a.hmat_there && a.hmat[0] == 1 && a.hmat[1] == 1 && a.hmat[2] == 1 && a.cxl,
	      "memory holes, generic initiators, HMAT and CXL are recorded");
	check(s.found && s.module_count == 1 && strcmp(s.product, "Product") == 0 && s.modules[0].bytes == 8ull << 30, "SMBIOS read");
	drop();
	complaints = 0;
	build(600, 8);
	acpi_open(&a);
	check(sane(&a) && complaints == 0 && a.nodes == 8 && a.cpu_count == 600 && a.madt_enabled == 600 && a.madt_highest == 599 && a.madt_count == 600 && a.madt_ids[599] == 599, "600 processors by x2APIC id on 8 nodes");
	check(a.nodes_without_processors == 1 && acpi_core_node(&a, 599) == 6 && acpi_core_node(&a, 0) == 0, "one of the nodes has no processor");
	drop();
	complaints = 0;
	segments = ECAM_MAX + 2;
	build(LOCAL_CPUS_MAX + 3, NODES_MAX + 1);
	acpi_open(&a);
	check(sane(&a) && complaints == 1 && a.ecam_count == ECAM_MAX && a.madt_count == LOCAL_CPUS_MAX && a.cpu_count == LOCAL_CPUS_MAX && a.nodes == NODES_MAX &&
	      a.beyond == 2 + 3 + 3 + 2, "what there is no room for is told in one line");
	segments = 1;
	drop();
	complaints = 0;
	build(16, 2);
	blocks[T_MCFG].at[44 + 10] = 9, blocks[T_MCFG].at[44 + 11] = 3;
	checksum(blocks[T_MCFG].at, blocks[T_MCFG].bytes);
	blocks[T_SLIT].at[44 + 1] = 4;
	checksum(blocks[T_SLIT].at, blocks[T_SLIT].bytes);
	acpi_open(&a);
	check(sane(&a) && a.ecam_count == 0 && !a.slit && a.distance[1] == 20 && complaints == 2, "buses that end before they begin, a distance below 10: told and left out");
	drop();
	for (unsigned i = 0; i < variants; i++) {
		build(40, 3);
		unsigned victim = i % block_count;
		damage(victim);
		complaints = 0;
		acpi_open(&a);
		smbios_open(&s);
		(void)smbios_identity(&s);
		damaged_ones += complaints != 0;
		if (!sane(&a) || s.module_count > SMBIOS_MODULES) {
			printf("# variant %u: block %u: not sane\n", i, victim);
			bad++;
		}
		drop();
	}
	printf("# %u variants, %u of them told\n", variants, damaged_ones);
	check(bad == 0, "every damaged table leaves tables that can be used");
	check(damaged_ones > variants / 10, "damage is told");
	printf("1..%u\n", checks);
	return failures != 0;
}
