/* bench/results/inventory.c: see inventory.h. */
#include "bench/results/inventory.h"

/* Capability registers (SDM vol. 4, table 2-2): platform id, microcode, platform info, ARCH_CAPABILITIES, misc enable, turbo limits,
 * PERF_CAPABILITIES. They are read on Intel processors only; one that faults is left out. */
static const uint32_t capabilities[] = { 0x17, 0x8B, 0xCE, 0x10A, 0x1A0, 0x1AD, 0x345 };
#define SUBLEAVES_MAX 16u
#define LEAVES_MAX    0x40u

static bool has_subleaves(uint32_t leaf)
{
	static const uint32_t leaves[] = { 4, 7, 0xB, 0xD, 0xF, 0x10, 0x12, 0x14, 0x17, 0x18, 0x1F, 0x23, 0x8000001D, 0x80000020,
		0x80000026 };

	for (unsigned i = 0; i < COUNT_OF(leaves); i++)
		if (leaves[i] == leaf)
			return true;
	return false;
}

static void text_leaves(struct text *t, const struct access *a, uint32_t first)
{
	struct cpuid_regs r;

	if (a->ops->cpuid(a->self, 0, first, 0, &r) != ST_OK || r.eax < first)
		return;
	uint32_t last = r.eax - first > LEAVES_MAX ? first + LEAVES_MAX : r.eax;
	for (uint32_t leaf = first; leaf <= last; leaf++)
		for (uint32_t sub = 0; sub < (has_subleaves(leaf) ? SUBLEAVES_MAX : 1); sub++)
			if (a->ops->cpuid(a->self, 0, leaf, sub, &r) == ST_OK && (r.eax | r.ebx | r.ecx | r.edx))
				text_fmt(t, "0x%x.%u = 0x%08x 0x%08x 0x%08x 0x%08x\n", leaf, sub, r.eax, r.ebx, r.ecx, r.edx);
}

static void text_core(struct text *t, const struct access *a, unsigned core, uint32_t last_leaf)
{
	struct cpuid_regs r = { 0, 0, 0, 0 };
	uint32_t apic_id = 0, type = 0;

	if (last_leaf >= 0xB && a->ops->cpuid(a->self, core, 0xB, 0, &r) == ST_OK && r.ebx)
		apic_id = r.edx;
	else if (a->ops->cpuid(a->self, core, 1, 0, &r) == ST_OK)
		apic_id = r.ebx >> 24;
	if (last_leaf >= 0x1A && a->ops->cpuid(a->self, core, 0x1A, 0, &r) == ST_OK)
		type = r.eax >> 24;
	text_fmt(t, "%u = %u, node %u, 0x%x\n", core, apic_id, a->core_node ? a->core_node[core] : 0, type);
}

void inventory_text(struct text *t, const struct access *a, const struct cpu *cpu)
{
	struct cpuid_regs r = { 0, 0, 0, 0 };
	uint64_t value;

	text_fmt(t, "# Stallmeter machine.txt 1: %s, descriptor %s\n[cpuid]\n", cpu->brand[0] ? cpu->brand : cpu->vendor,
	         cpu->processor->name);
	text_leaves(t, a, 0);
	text_leaves(t, a, 0x80000000u);
	text_fmt(t, "[msr]\n");
	for (unsigned i = 0; a->kind != ACCESS_NATIVE && str_equal(cpu->vendor, "GenuineIntel") && i < COUNT_OF(capabilities); i++)
		if (a->ops->rdmsr(a->self, 0, capabilities[i], &value) == ST_OK)
			text_fmt(t, "0x%x = 0x%llx\n", capabilities[i], (unsigned long long)value);
	text_fmt(t, "[core]\n");
	if (a->ops->cpuid(a->self, 0, 0, 0, &r) != ST_OK)
		r.eax = 0;
	for (unsigned core = 0; core < a->cores; core++)
		text_core(t, a, core, r.eax);
	if (a->pci_count)
		text_fmt(t, "[pci]\n");
	for (unsigned i = 0; i < a->pci_count; i++) {
		const struct pci_function *f = &a->pci[i];

		text_fmt(t, "%04x:%02x:%02x.%x = %04x:%04x, %06x%s\n", f->at.segment, f->at.bus, f->at.device, f->at.function, f->id >> 16,
		         f->id & 0xFFFF, f->kind >> 8, f->reached ? "" : ", no bridge");
	}
}

/* --- reader ------------------------------------------------------------------------------------ */

static enum status read_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t sub, struct cpuid_regs *out)
{
	const struct inventory_read *m = self;

	(void)core;
	*out = (struct cpuid_regs){ 0, 0, 0, 0 };
	for (unsigned i = 0; i < m->leaf_count; i++)
		if (m->leaves[i].leaf == leaf && m->leaves[i].sub == sub)
			*out = m->leaves[i].r;
	return ST_OK;
}

static enum status read_msr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	const struct inventory_read *m = self;

	(void)core;
	for (unsigned i = 0; i < m->msr_count; i++)
		if (m->msrs[i].msr == msr) {
			*value = m->msrs[i].value;
			return ST_OK;
		}
	return ST_FAULT;
}

static enum status no_write(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	(void)self, (void)core, (void)msr, (void)value;
	return ST_UNSUPPORTED;
}

static const struct access_ops read_ops = { .cpuid = read_cpuid, .rdmsr = read_msr, .wrmsr = no_write };

/* The next number of a value, ended by `separator`. */
static bool next_number(const char **at, const char *end, char separator, uint64_t most, uint64_t *value)
{
	const char *from = *at;

	while (*at < end && **at != separator)
		(*at)++;
	if (parse_u64(from, (size_t)(*at - from), value) != ST_OK || *value > most)
		return false;
	if (*at < end)
		(*at)++;
	return true;
}

static const char *take_line(struct inventory_read *m, const struct ini *r)
{
	const char *key = r->key, *key_end = key + r->key_length, *value = r->value, *end = value + r->value_length;
	uint64_t v[6];

	if (r->section_length == 5 && !memcmp(r->section, "cpuid", 5)) {
		bool good = next_number(&key, key_end, '.', UINT32_MAX, &v[0]) && next_number(&key, key_end, '.', UINT32_MAX, &v[1]);

		for (unsigned i = 2; i < 6 && good; i++)
			good = next_number(&value, end, ' ', UINT32_MAX, &v[i]);
		if (!good || value != end)
			return "expected LEAF.SUBLEAF = EAX EBX ECX EDX";
		if (m->leaf_count == MACHINE_LEAVES_MAX)
			return "more leaves than there can be";
		m->leaves[m->leaf_count++] = (struct inventory_leaf){ (uint32_t)v[0], (uint32_t)v[1],
			{ (uint32_t)v[2], (uint32_t)v[3], (uint32_t)v[4], (uint32_t)v[5] } };
	} else if (r->section_length == 3 && !memcmp(r->section, "msr", 3)) {
		if (!next_number(&key, key_end, ' ', UINT32_MAX, &v[0]) || !next_number(&value, end, ' ', UINT64_MAX, &v[1]) || value != end)
			return "expected REGISTER = VALUE";
		if (m->msr_count == MACHINE_MSRS_MAX)
			return "more registers than there can be";
		m->msrs[m->msr_count++] = (struct inventory_msr){ (uint32_t)v[0], v[1] };
	} else if (r->section_length == 4 && !memcmp(r->section, "core", 4)) {
		const char *last = end;

		while (last > value && last[-1] != ' ')
			last--;
		if (!next_number(&value, end, ',', UINT32_MAX, &v[0]) || !next_number(&last, end, ' ', 0xFF, &v[1]))
			return "expected N = APIC ID, node NODE, TYPE";
		m->cores++;
		if (v[1] && m->cores == 1)
			m->hybrid_types = (unsigned)v[1];
		else if (v[1] && m->hybrid_types != v[1])
			m->hybrid_types |= 0x10000; /* several */
	} else if (r->section_length == 3 && !memcmp(r->section, "pci", 3)) {
		/* 0000:00:1f.0 = 2918:8086, 060100 */
		if (r->key_length != 12 || key[4] != ':' || key[7] != ':' || key[10] != '.' || end - value < 17 || value[4] != ':' || value[9] != ',')
			return "expected SEGMENT:BUS:DEVICE.FUNCTION = DEVICE:VENDOR, CLASS";
		m->pci_functions++;
	} else {
		return "expected a section [cpuid], [msr], [core] or [pci]";
	}
	return NULL;
}

enum status inventory_text_read(struct inventory_read *m, const char *text, size_t bytes, char *problem, size_t capacity)
{
	struct text t;
	struct ini r;
	enum status st;

	memset(m, 0, sizeof(*m));
	text_init(&t, problem, capacity);
	ini_init(&r, text, bytes);
	while ((st = ini_next(&r)) == ST_OK) {
		const char *wrong = take_line(m, &r);

		if (wrong) {
			text_fmt(&t, "line %u: %s", r.line, wrong);
			return ST_SYNTAX;
		}
	}
	if (st != ST_MISSING) {
		text_fmt(&t, "line %u: %s", r.line, r.problem);
		return st;
	}
	if (!m->leaf_count) {
		text_fmt(&t, "line %u: no CPUID leaf; expected a machine.txt", r.line);
		return ST_MISSING;
	}
	m->access = (struct access){ .ops = &read_ops, .self = m, .kind = ACCESS_HW, .name = "machine.txt",
		.cores = m->cores ? m->cores : 1, .nodes = 1 };
	return ST_OK;
}
