/* efi/platform/acpi.c: ACPI tables by the ACPI specification 6.4: RSDP 5.2.5, SRAT 5.2.16, SLIT 5.2.17, FADT 5.2.9; MCFG by the PCI firmware
 * specification 3.3, 4.1.2. A table's length is checked before its contents are read; a table with a wrong checksum is hashed but not used. */
#include "efi/platform/acpi.h"
#include "efi/firmware/console.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

#define TABLE_BYTES_MAX 0x1000000u
#define HEADER 36u

static const EFI_GUID acpi_20 = ACPI_20_TABLE_GUID;
static const EFI_GUID acpi_10 = ACPI_TABLE_GUID;

static uint16_t u16_at(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }
static uint32_t u32_at(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static uint64_t u64_at(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }

static bool sums_to_zero(const uint8_t *p, size_t n)
{
	uint8_t sum = 0;
	while (n--)
		sum = (uint8_t)(sum + *p++);
	return sum == 0;
}

static void add_table(struct acpi *a, uint64_t address)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)address;
	if (address == 0 || !uefi_memory_holds(address, HEADER))
		return;
	if (a->table_count == ACPI_TABLES_MAX) {
		a->beyond++;
		return;
	}
	struct acpi_table *t = &a->tables[a->table_count];
	t->bytes = u32_at(p + 4);
	if (t->bytes < HEADER || t->bytes > TABLE_BYTES_MAX || !uefi_memory_holds(address, t->bytes))
		return;
	memcpy(t->signature, p, 4);
	t->signature[4] = 0;
	for (unsigned i = 0; i < 4; i++)
		if (t->signature[i] < ' ' || t->signature[i] > '~')
			t->signature[i] = '?';
	t->at = p;
	t->hash = fnv1a64(FNV1A64_START, p, t->bytes);
	a->table_count++;
}

static const struct acpi_table *find(const struct acpi *a, const char *signature, uint32_t least)
{
	for (unsigned i = 0; i < a->table_count; i++) {
		const struct acpi_table *t = &a->tables[i];
		if (!str_equal(t->signature, signature))
			continue;
		if (t->bytes >= least && sums_to_zero(t->at, t->bytes))
			return t;
		print("acpi: %s is damaged and left out\n", signature);
		return NULL;
	}
	return NULL;
}

static void read_fadt(struct acpi *a)
{
	const struct acpi_table *t = find(a, "FACP", 116);
	if (t == NULL)
		return;
	/* PM_TMR_BLK at 76, Flags at 112 (bit 8 TMR_VAL_EXT), X_PM_TMR_BLK at 208 (address space 1 = I/O). */
	uint64_t port = u32_at(t->at + 76);
	if (t->bytes >= 220 && t->at[208] == 1 && u64_at(t->at + 212) != 0)
		port = u64_at(t->at + 212);
	a->pm_timer_port = port < 0x10000 ? (uint16_t)port : 0;
	a->pm_timer_bits = (u32_at(t->at + 112) >> 8 & 1) != 0 ? 32 : 24;
}

/* Microsoft, Serial Port Console Redirection Table, 1.08: base address at 40 as a generic address (address space 1 = I/O). */
static void read_spcr(struct acpi *a)
{
	const struct acpi_table *t = find(a, "SPCR", 52);
	if (t != NULL && t->at[40] == 1 && u64_at(t->at + 44) < 0x10000)
		a->serial_port = (uint16_t)u64_at(t->at + 44);
}

static void read_mcfg(struct acpi *a)
{
	const struct acpi_table *t = find(a, "MCFG", 44);
	for (uint32_t at = 44; t != NULL && at + 16 <= t->bytes; at += 16) {
		const uint8_t *p = t->at + at;
		if (a->ecam_count == ECAM_MAX) {
			a->beyond++;
			continue;
		}
		uint64_t last = ((uint64_t)p[11] + 1) << 20;
		/* Ignored: an empty range of buses, or addresses beyond the 52 bits of a physical address. */
		if (p[11] < p[10] || u64_at(p) == 0 || (u64_at(p) & 0xFFFFF) != 0 || u64_at(p) >> 52 != 0 || (u64_at(p) + last) >> 52 != 0) {
			print("acpi: a range of MCFG is damaged and left out\n");
			continue;
		}
		a->ecam[a->ecam_count++] = (struct ecam){ u64_at(p), u16_at(p + 8), p[10], p[11] };
	}
}

static bool node_of_domain(const struct acpi *a, uint32_t domain, unsigned *node)
{
	for (unsigned i = 0; i < a->nodes; i++)
		if (a->node_domain[i] == domain) {
			*node = i;
			return true;
		}
	return false;
}

static void add_range(struct acpi *a, uint32_t domain, uint64_t base, uint64_t length)
{
	unsigned node = 0;
	if (length == 0 || base + length < base)
		return;
	const bool known = node_of_domain(a, domain, &node);
	if (a->range_count == RANGES_MAX || (!known && a->nodes == NODES_MAX)) {
		a->beyond++;
		return;
	}
	if (!known) {
		node = a->nodes++;
		a->node_domain[node] = domain;
	}
	a->ranges[a->range_count++] = (struct node_range){ base, base + length, node };
}

static void add_cpu(struct acpi *a, uint32_t apic_id, uint32_t domain)
{
	if (a->cpu_count == LOCAL_CPUS_MAX) {
		a->beyond++;
		return;
	}
	a->cpus[a->cpu_count].apic_id = apic_id;
	a->cpus[a->cpu_count++].domain = domain;
}

/* Counts nodes without processors, nodes with gaps, and domains of processors without memory. */
static void count_nodes(struct acpi *a)
{
	for (unsigned n = 0; n < a->nodes; n++) {
		bool processors = false;
		uint64_t from = UINT64_MAX, to = 0, sum = 0;
		for (unsigned i = 0; i < a->cpu_count; i++)
			processors = processors || a->cpus[i].domain == a->node_domain[n];
		for (unsigned i = 0; i < a->range_count; i++) {
			const struct node_range *r = &a->ranges[i];
			if (r->node != n)
				continue;
			from = r->from < from ? r->from : from;
			to = r->to > to ? r->to : to;
			sum += r->to - r->from;
		}
		a->nodes_without_processors += !processors;
		a->holes += to - from > sum;
	}
	for (unsigned i = 0; i < a->cpu_count; i++) {
		unsigned node;
		bool seen = node_of_domain(a, a->cpus[i].domain, &node);
		for (unsigned k = 0; k < i && !seen; k++)
			seen = a->cpus[k].domain == a->cpus[i].domain;
		a->domains_without_memory += !seen;
	}
}

static void read_srat(struct acpi *a)
{
	const struct acpi_table *t = find(a, "SRAT", 48);
	if (t == NULL)
		return;
	for (uint32_t at = 48; at + 2 <= t->bytes;) {
		const uint8_t *p = t->at + at;
		uint8_t length = p[1];
		if (length < 2 || at + length > t->bytes)
			break;
		/* Only entries with the enabled flag count (bit 0 of each kind's flags). */
		if (p[0] == 0 && length >= 16 && (u32_at(p + 4) & 1) != 0)
			add_cpu(a, p[3], p[2] | (u32_at(p + 8) & 0xFFFFFF00u));
		else if (p[0] == 1 && length >= 40 && (u32_at(p + 28) & 1) != 0)
			add_range(a, u32_at(p + 2), u64_at(p + 8), u64_at(p + 16));
		else if (p[0] == 2 && length >= 24 && (u32_at(p + 12) & 1) != 0)
			add_cpu(a, u32_at(p + 8), u32_at(p + 4));
		else if (p[0] == 5 && length >= 32 && (u32_at(p + 24) & 1) != 0)
			a->generic_initiators++;
		if (p[0] == 1 && length >= 40 && (u32_at(p + 28) & 1) != 0) {
			a->hotplug_ranges += u32_at(p + 28) >> 1 & 1;
			a->nonvolatile_ranges += u32_at(p + 28) >> 2 & 1;
		}
		at += length;
	}
	a->srat = a->range_count > 0;
	count_nodes(a);
}

/* ACPI 6.4, 5.2.12: local APICs (type 0) and x2APICs (type 9); bit 0 of their flags: enabled. */
static void read_madt(struct acpi *a)
{
	const struct acpi_table *t = find(a, "APIC", 44);
	for (uint32_t at = 44; t != NULL && at + 2 <= t->bytes;) {
		const uint8_t *p = t->at + at;
		uint8_t length = p[1];
		if (length < 2 || at + length > t->bytes)
			break;
		bool wide = p[0] == 9 && length >= 16;
		if (wide || (p[0] == 0 && length >= 8)) {
			uint32_t id = wide ? u32_at(p + 4) : p[3];
			a->madt_processors++;
			if ((u32_at(p + (wide ? 8 : 4)) & 1) != 0) {
				a->madt_enabled++;
				/* 0xFF and 0xFFFFFFFF are broadcast addresses. */
				if (id != (wide ? UINT32_MAX : 0xFF) && a->madt_count < LOCAL_CPUS_MAX)
					a->madt_ids[a->madt_count++] = id;
				else
					a->beyond += id != (wide ? UINT32_MAX : 0xFF);
				a->madt_highest = id > a->madt_highest ? id : a->madt_highest;
			}
		}
		at += length;
	}
}

/* ACPI 6.4, 5.2.27: structures of type (16 bits), reserved, length (32 bits). */
static void read_hmat(struct acpi *a)
{
	const struct acpi_table *t = find(a, "HMAT", 40);
	a->hmat_there = t != NULL;
	for (uint32_t at = 40; t != NULL && t->bytes - at >= 8 && at < t->bytes;) {
		uint32_t length = u32_at(t->at + at + 4);
		uint16_t type = u16_at(t->at + at);
		if (length < 8 || length > t->bytes - at)
			break;
		if (type < COUNT_OF(a->hmat))
			a->hmat[type]++;
		at += length;
	}
}

static void read_slit(struct acpi *a)
{
	const struct acpi_table *t = a->srat ? find(a, "SLIT", 44) : NULL;
	uint64_t n = t != NULL ? u64_at(t->at + 36) : 0;
	bool whole = t != NULL && n > 0 && n < 0x1000 && 44 + n * n <= t->bytes;
	/* ACPI 5.2.17: 10 for the local node, more for others; 0 to 9 are reserved. */
	for (uint64_t i = 0; whole && i < n * n; i++)
		whole = t->at[44 + i] >= 10 && (i % (n + 1) != 0 || t->at[44 + i] == 10);
	if (t != NULL && !whole)
		print("acpi: SLIT is damaged and left out\n");
	for (unsigned from = 0; from < a->nodes; from++)
		for (unsigned to = 0; to < a->nodes; to++) {
			/* ACPI 5.2.17: without a SLIT the local distance is 10; 20 for remote nodes is the usual assumption. */
			uint8_t d = from == to ? 10 : 20;
			if (whole && a->node_domain[from] < n && a->node_domain[to] < n)
				d = t->at[44 + a->node_domain[from] * n + a->node_domain[to]];
			a->distance[from * a->nodes + to] = d;
		}
	a->slit = whole;
}

/* RSDT or XSDT: the addresses of all other tables. */
static void read_root(struct acpi *a, const uint8_t *rsdp)
{
	bool wide = rsdp[15] >= 2 && u64_at(rsdp + 24) != 0;
	uint64_t address = wide ? u64_at(rsdp + 24) : u32_at(rsdp + 16);
	const uint8_t *root = (const uint8_t *)(uintptr_t)address;
	uint32_t bytes = uefi_memory_holds(address, HEADER) ? u32_at(root + 4) : 0, step = wide ? 8 : 4;
	if (bytes < HEADER || bytes > TABLE_BYTES_MAX || !uefi_memory_holds(address, bytes)) {
		print("acpi: the root table is damaged; no tables\n");
		return;
	}
	for (uint32_t at = HEADER; at + step <= bytes; at += step)
		add_table(a, wide ? u64_at(root + at) : u32_at(root + at));
}

void acpi_open(struct acpi *a)
{
	const uint8_t *rsdp = uefi_table(&acpi_20);
	memset(a, 0, sizeof(*a));
	if (rsdp == NULL)
		rsdp = uefi_table(&acpi_10);
	/* ACPI 5.2.5.3: the RSDP has 20 bytes, from revision 2 on 36. */
	if (rsdp != NULL && (!uefi_memory_holds((uintptr_t)rsdp, 20) || (rsdp[15] >= 2 && !uefi_memory_holds((uintptr_t)rsdp, 36))))
		rsdp = NULL;
	if (rsdp == NULL)
		print("acpi: no tables\n");
	else
		read_root(a, rsdp);
	fault_inject_acpi(a);
	read_fadt(a);
	read_spcr(a);
	read_mcfg(a);
	read_madt(a);
	read_srat(a);
	read_hmat(a);
	for (unsigned i = 0; i < a->table_count; i++)
		a->cxl = a->cxl || str_equal(a->tables[i].signature, "CEDT");
	if (!a->srat) {
		print("acpi: no SRAT; all memory counts as one node\n");
		a->nodes = 1;
		a->ranges[0] = (struct node_range){ 0, UINT64_MAX, 0 };
		a->range_count = 1;
	}
	read_slit(a);
	if (a->beyond != 0)
		print("acpi: %u tables, processors, ranges of memory or of MCFG are more than there is room for, and left out\n", a->beyond);
}

unsigned acpi_core_node(const struct acpi *a, uint32_t apic_id)
{
	unsigned node = 0;
	if (!a->srat)
		return 0;
	for (unsigned i = 0; i < a->cpu_count; i++) {
		if (a->cpus[i].apic_id != apic_id)
			continue;
		if (node_of_domain(a, a->cpus[i].domain, &node))
			return node;
		/* A domain without memory: the nearest memory by the domain's row of the SLIT. */
		const struct acpi_table *t = a->slit ? find(a, "SLIT", 44) : NULL;
		uint64_t n = t != NULL ? u64_at(t->at + 36) : 0;
		uint8_t best = 255;
		for (unsigned k = 0; k < a->nodes && a->cpus[i].domain < n; k++) {
			if (a->node_domain[k] >= n)
				continue;
			uint8_t d = t->at[44 + a->cpus[i].domain * n + a->node_domain[k]];
			if (d < best) {
				best = d;
				node = k;
			}
		}
		return node;
	}
	return 0;
}
