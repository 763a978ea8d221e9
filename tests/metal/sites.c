/* tests/metal/sites.c: where the guest is, and where it is stopped. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm/kernel.h"
#include "tests/metal/metal.h"

#define JOB_LIMIT_MS 60000 /* the guest's own */

static const char *const kind_names[KINDS] = { "wait", "rdmsr", "wrmsr", "cpuid", "rdpmc", "rdtsc", "clock", "timer", "vectors", "scan", "read", "write", "await" };

const struct site *sites_at(uint64_t address)
{
	for (unsigned i = 0; i < metal.site_count; i++)
		if (metal.sites[i].address == address)
			return &metal.sites[i];
	return NULL;
}

bool sites_is_entry(uint64_t address)
{
	for (unsigned i = 0; i < metal.entry_count; i++)
		if (metal.entries[i] == address)
			return true;
	return false;
}

void sites_read(const char *path)
{
	char line[128], name[16];
	FILE *f = fopen(path, "r");
	if (!f)
		die("%s: cannot be read", path);
	while (fgets(line, sizeof(line), f)) {
		uint64_t offset;
		unsigned k = 0;
		if (sscanf(line, "%15s %" SCNx64, name, &offset) != 2 || metal.site_count == SITES_MAX)
			die("%s: not a line that is known, or too many: %s", path, line);
		while (k < KINDS && strcmp(name, kind_names[k]))
			k++;
		if (k == KINDS)
			die("%s: %s: no such kind", path, name);
		metal.sites[metal.site_count++] = (struct site){ (enum kind)k, offset };
	}
	fclose(f);
}

static uint64_t offset_of(enum kind kind)
{
	for (unsigned i = 0; i < metal.site_count; i++)
		if (metal.sites[i].kind == kind)
			return metal.sites[i].address;
	die("no site \"%s\"", kind_names[kind]);
}

/* The guest may still be printing that it waits, or be in the firmware's timer interrupt: then it runs on for a while. */
void sites_find_image(void)
{
	const uint64_t wait = offset_of(WAIT);
	uint64_t r[STUB_REGISTERS], set[STUB_REGISTERS];
	for (unsigned tries = 0; tries < 500 && !metal.base; tries++) {
		if (tries)
			stub_let_run(20000);
		stub_registers(0, r);
		/* PAUSE, TEST and JZ follow the two bytes of XOR; images start at a page. */
		for (unsigned i = 2; i < 8 && !metal.base; i++)
			if ((r[STUB_RIP] - wait - i) % PAGE_4K == 0)
				metal.base = r[STUB_RIP] - wait - i;
	}
	if (!metal.base)
		die("the guest does not wait: it is at 0x%" PRIx64, r[STUB_RIP]);
	memcpy(set, r, sizeof(set));
	set[STUB_RAX] = JOB_LIMIT_MS;
	stub_set(0, r, set);
}

static bool has_functions(void)
{
	for (unsigned bus = 0; bus < 256; bus++)
		for (unsigned f = 0; f < 256; f++)
			if (answer_pci32(bus, f, 0) != UINT32_MAX)
				return true;
	return false;
}

void sites_break(void)
{
	const bool pci = has_functions();
	for (unsigned i = 0; i < metal.site_count; i++) {
		struct site *s = &metal.sites[i];
		s->address += metal.base;
		if (s->kind == VECTORS)
			metal.vectors = s->address;
		else if (s->kind != WAIT && s->kind != AWAIT && (pci || (s->kind != SCAN && s->kind != READ && s->kind != WRITE)))
			stub_breakpoint(s->address);
	}
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (!strncmp(k->name, "k_measure", 9)) {
			if (metal.entry_count == ENTRIES_MAX)
				die("more measuring wrappers than there is room for");
			metal.entries[metal.entry_count++] = SPACE_CODE + k->offset;
			stub_breakpoint(SPACE_CODE + k->offset);
		}
}

void sites_await(bool set)
{
	for (unsigned i = 0; i < metal.site_count; i++)
		if (metal.sites[i].kind == AWAIT && set)
			stub_breakpoint(metal.sites[i].address);
		else if (metal.sites[i].kind == AWAIT)
			stub_no_breakpoint(metal.sites[i].address);
}
