/* pmu/core/cpu.c: identification from CPUID and a few MSRs. Sources: SDM volume 2A "CPUID", AMD APM volume 3 appendix E. A
 * nonsensical leaf is ignored: the field stays 0. */
#include "pmu/core/cpu.h"

#include "asm/kernel.h"
#include "pmu/core/amd_counters.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/core/probe.h"
#include "pmu/text.h"

#define MSR_BIOS_SIGN_ID      0x8B
#define MSR_NETBURST_CCCR0    0x360 /* MSR_BPU_CCCR0 */
#define MSR_MISC_ENABLE       0x1A0
#define MISC_ENABLE_PERFMON   (1ull << 7)
#define MISC_ENABLE_NO_PEBS   (1ull << 12)
#define MISC_ENABLE_LIMIT     (1ull << 22)
#define MSR_PERFEVTSEL0       0x186
#define MSR_FIXED_CTR0        0x309
#define MSR_PERF_CAPABILITIES 0x345
#define MSR_A_PMC0            0x4C1
#define CAPABILITY_FW_WRITE   (1ull << 13)

bool probe_leaf(const struct probe *p, uint32_t number, uint32_t sub, struct cpuid_regs *r)
{
	bool there = number >= 0x80000000u ? number <= p->extended_max : number <= p->basic_max;
	*r = (struct cpuid_regs){ 0 };
	return there && p->a->ops->cpuid(p->a->self, 0, number, sub, r) == ST_OK;
}

static bool rdmsr(const struct probe *p, uint32_t msr, uint64_t *value)
{
	*value = 0;
	return p->a->ops->rdmsr(p->a->self, 0, msr, value) == ST_OK;
}

/* Four bytes of a register as text; anything but printable ASCII becomes '?'. */
static void put_text(char *to, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++) {
		char c = (char)(value >> 8 * i);
		to[i] = c == 0 || (c >= ' ' && c < 127) ? c : '?';
	}
}

static void read_signature(struct probe *p)
{
	struct cpu *cpu = p->cpu;
	uint32_t s = p->one.eax;
	cpu->signature = s;
	cpu->stepping = (uint8_t)probe_bits(s, 3, 0);
	cpu->family = (uint16_t)probe_bits(s, 11, 8);
	cpu->model = (uint16_t)probe_bits(s, 7, 4);
	if (cpu->family == 0xF || cpu->family == 6)
		cpu->model |= (uint16_t)(probe_bits(s, 19, 16) << 4);
	if (cpu->family == 0xF)
		cpu->family += (uint16_t)probe_bits(s, 27, 20);
	cpu->hypervisor = probe_bits(p->one.ecx, 31, 31);
}

/* A hybrid processor whose small cores firmware has switched off reports no core type: the remaining cores are large. */
static uint8_t core_type(uint32_t kind)
{
	return kind ? (uint8_t)(kind >> 24) : CORE_TYPE_CORE;
}

static bool matches(const struct processor *d, const struct cpu *cpu)
{
	if (d->vendor[0] && !str_equal(d->vendor, cpu->vendor))
		return false;
	if (d->family != FAMILY_ANY && d->family != cpu->family)
		return false;
	if (cpu->stepping < d->stepping_low || cpu->stepping > d->stepping_high)
		return false;
	if (d->core_type && (d->core_type != core_type(cpu->core_kind) || (d->core_model && d->core_model != (cpu->core_kind & 0xFFFFFF))))
		return false;
	for (unsigned i = 0; i < d->model_count; i++)
		if (d->models[i] == cpu->model)
			return true;
	return d->model_count == 0;
}

static void read_brand(struct probe *p)
{
	char raw[49] = { 0 };
	struct cpuid_regs r;
	if (p->extended_max < 0x80000004u)
		return;
	for (unsigned i = 0; i < 3; i++) {
		if (!probe_leaf(p, 0x80000002u + i, 0, &r))
			return;
		put_text(raw + 16 * i, r.eax);
		put_text(raw + 16 * i + 4, r.ebx);
		put_text(raw + 16 * i + 8, r.ecx);
		put_text(raw + 16 * i + 12, r.edx);
	}
	const char *from = raw;
	while (*from == ' ')
		from++;
	str_copy(p->cpu->brand, sizeof(p->cpu->brand), from);
}

/* Whether the system has enabled state components `mask`: XCR0 cannot be read through a backend, but leaf 0xD EBX is the
 * size of what XCR0 enables. A component counts as enabled if that area extends to its end; this is wrong only if a higher
 * component is enabled and this one is not. */
static bool state_enabled(struct probe *p, uint32_t mask)
{
	struct cpuid_regs all, one;
	if (!probe_bits(p->one.ecx, 27, 27) || !probe_leaf(p, 0xD, 0, &all) || (all.eax & mask) != mask)
		return false;
	for (uint32_t i = 2; i < 32; i++)
		if (mask & 1u << i && (!probe_leaf(p, 0xD, i, &one) || one.eax == 0 || all.ebx < one.eax + one.ebx))
			return false;
	return true;
}

#define STATE_YMM 0x6u  /* SSE and upper halves of YMM */
#define STATE_ZMM 0xE6u /* and mask registers, upper halves of ZMM, ZMM16-31 */

static void read_isa(struct probe *p)
{
	uint32_t c = p->one.ecx, isa = 0;
	struct cpuid_regs seven;
	(void)probe_leaf(p, 7, 0, &seven); /* zeros where there is none */
	bool ymm = state_enabled(p, STATE_YMM);
	isa |= probe_bits(c, 9, 9) ? ISA_SSSE3 : 0;
	isa |= probe_bits(c, 19, 19) ? ISA_SSE41 : 0;
	isa |= probe_bits(c, 23, 23) ? ISA_POPCNT : 0;
	isa |= ymm && probe_bits(c, 28, 28) ? ISA_AVX : 0;
	if (isa & ISA_AVX) {
		isa |= probe_bits(c, 12, 12) ? ISA_FMA : 0;
		isa |= probe_bits(seven.ebx, 5, 5) ? ISA_AVX2 : 0;
		bool wide = probe_bits(seven.ebx, 16, 16) && probe_bits(seven.ebx, 17, 17) && probe_bits(seven.ebx, 31, 31);
		isa |= wide && state_enabled(p, STATE_ZMM) ? ISA_AVX512 : 0;
	}
	isa |= probe_bits(seven.ebx, 23, 23) ? ISA_CLFLUSHOPT : 0;
	isa |= probe_bits(p->extended.ecx, 8, 8) ? ISA_PREFETCHW : 0;
	isa |= probe_bits(p->extended.edx, 26, 26) ? ISA_1G : 0;
	isa |= probe_bits(p->extended.edx, 27, 27) ? ISA_RDTSCP : 0;
	p->cpu->isa = isa;
}

/* Leaf 0x1F, else 0xB: number of logical processors that share a core and a package. */
static void read_topology(struct probe *p)
{
	struct cpuid_regs r;
	uint32_t number = 0x1F;
	if (!probe_leaf(p, number, 0, &r) || r.ebx == 0)
		number = 0xB;
	for (uint32_t sub = 0; sub < 8; sub++) {
		if (!probe_leaf(p, number, sub, &r) || probe_bits(r.ecx, 15, 8) == 0 || probe_bits(r.ebx, 15, 0) == 0)
			return;
		uint16_t processors_here = (uint16_t)probe_bits(r.ebx, 15, 0);
		if (probe_bits(r.ecx, 15, 8) == 1)
			p->cpu->threads_per_core = processors_here;
		if (processors_here >= p->cpu->threads_per_package)
			p->cpu->threads_per_package = processors_here;
	}
}

/* The counters of `mask` that the descriptor lists, counter n by MSR first + n: the guard allows no others. */
static uint32_t listed(const struct processor *p, uint32_t first, uint32_t mask)
{
	uint32_t found = 0;
	for (unsigned i = 0; i < p->msr_count; i++)
		for (uint32_t n = 0; n < 32; n++)
			if (first + n >= p->msrs[i].first && first + n <= p->msrs[i].last)
				found |= 1u << n;
	return mask & found;
}

/* Architectural last-branch records (SDM volume 2A, CPUID leaves 07H and 1CH): bit n of EAX: a depth of 8 * (n + 1) is supported. */
static void read_branch_records(struct probe *p)
{
	struct cpuid_regs r;
	if (!probe_leaf(p, 7, 0, &r) || !probe_bits(r.edx, 19, 19) || !probe_leaf(p, 0x1C, 0, &r))
		return;
	unsigned deepest = 0;
	for (unsigned bit = 0; bit < 8; bit++)
		deepest = r.eax >> bit & 1 ? 8 * (bit + 1) : deepest;
	p->cpu->branch_records = (struct cpu_branch_records){ .pairs = (uint8_t)deepest, .kind = deepest ? BRANCH_RECORDS_ARCHITECTURAL : BRANCH_RECORDS_MODEL,
		.levels = probe_bits(r.ebx, 0, 0), .kinds = probe_bits(r.ebx, 1, 1), .mispredicted = probe_bits(r.ecx, 0, 0) };
}

/* Family 15's counters, which CPUID does not enumerate. */
static void read_netburst(struct probe *p)
{
	struct cpu *cpu = p->cpu;
	uint64_t enable;
	bool known = rdmsr(p, MSR_MISC_ENABLE, &enable);
	if (known && !(enable & MISC_ENABLE_PERFMON)) {
		cpu->pmu_absent = "IA32_MISC_ENABLE bit 7 is 0: performance monitoring is switched off";
		return;
	}
	if (!cpu->threads_per_core) { /* neither leaf: logical processors per package divided by its cores */
		struct cpuid_regs four = { 0 };
		const uint32_t logical = probe_bits(p->one.edx, 28, 28) ? probe_bits(p->one.ebx, 23, 16) : 1;
		const uint32_t cores = logical > 1 && probe_leaf(p, 4, 0, &four) && probe_bits(four.eax, 4, 0) ? probe_bits(four.eax, 31, 26) + 1 : 1;
		cpu->threads_per_core = (uint16_t)(logical > cores ? logical / cores : 1);
	}
	/* Virtual machines and emulators lack these registers. */
	const struct netburst_event *d = &cpu->processor->detectors[0];
	uint64_t ignored;
	if (!rdmsr(p, MSR_NETBURST_CCCR0, &ignored) || !rdmsr(p, d->escr[0] ? d->escr[0] : d->escr[1], &ignored)) {
		cpu->pmu_absent = "the counters' configuration registers (CCCR, ESCR) do not answer";
		return;
	}
	cpu->general_width = CPU_NETBURST_COUNTER_BITS;
	cpu->general_mask = cpu_netburst_counters(cpu->processor);
	cpu->general_counters = (uint8_t)bit_count(cpu->general_mask);
	cpu->pebs = cpu->processor->pebs_format != 255 && probe_bits(p->one.edx, 21, 21) && known && !(enable & MISC_ENABLE_NO_PEBS);
}

/* Leaf 0x23, which reports less on some cores of a hybrid than on others: the fields of the selects, and the counters as bitmaps, which may
 * have gaps. */
static void read_extended(struct probe *p)
{
	struct cpuid_regs r;
	if (!probe_leaf(p, 7, 1, &r) || !probe_bits(r.eax, 8, 8) || !probe_leaf(p, 0x23, 0, &r))
		return;
	p->cpu->select_bits = (probe_bits(r.ebx, 0, 0) ? CPU_SELECT_MASK2 : 0) | (probe_bits(r.ebx, 1, 1) ? CPU_SELECT_EQUAL : 0);
	if (probe_bits(r.eax, 1, 1) && probe_leaf(p, 0x23, 1, &r) && r.eax != 0) {
		p->cpu->general_mask = r.eax;
		p->cpu->fixed_mask = r.ebx & 0xFFFF;
	}
}

static void read_pmu(struct probe *p)
{
	struct cpu *cpu = p->cpu;
	struct cpuid_regs r;
	uint64_t enable;
	if (p->a->kind == ACCESS_NATIVE) { /* whatever CPUID tells of them: a process cannot access their registers */
		cpu->pmu_absent = "this backend has no counters";
		return;
	}
	if (p->amd) {
		amd_identify(p->a, cpu);
		return;
	}
	if (!p->intel) {
		cpu->pmu_absent = "not an Intel processor: no architectural PMU";
		return;
	}
	if (cpu->processor->detector_count) {
		read_netburst(p);
		return;
	}
	if (!probe_leaf(p, 0xA, 0, &r) || probe_bits(r.eax, 7, 0) == 0) {
		cpu->pmu_absent = "CPUID leaf 0xA shows no architectural PMU";
		return;
	}
	/* Bit 7 is read-only and 1 wherever counters are usable; if the register does not exist, they are usable. */
	bool readable = rdmsr(p, MSR_MISC_ENABLE, &enable);
	if (readable && !(enable & MISC_ENABLE_PERFMON)) {
		cpu->pmu_absent = "IA32_MISC_ENABLE bit 7 is 0: performance monitoring is switched off";
		return;
	}
	uint32_t version = probe_bits(r.eax, 7, 0), general = probe_bits(r.eax, 15, 8), width = probe_bits(r.eax, 23, 16);
	uint32_t fixed = version >= 2 ? probe_bits(r.edx, 4, 0) : 0, fixed_width = probe_bits(r.edx, 12, 5);
	if (version > 15 || general == 0 || general > 32 || width < 32 || width > 64) {
		cpu->pmu_absent = "CPUID leaf 0xA makes no sense";
		return;
	}
	if (fixed > 16 || (fixed && (fixed_width < 32 || fixed_width > 64)))
		fixed = 0;
	cpu->pmu_version = (uint8_t)version;
	cpu->any_thread = version >= 3 && !probe_bits(r.edx, 15, 15);
	cpu->general_width = (uint8_t)width;
	cpu->fixed_width = fixed ? (uint8_t)fixed_width : 0;
	cpu->general_mask = (uint32_t)((1ull << general) - 1);
	cpu->fixed_mask = (uint32_t)((1ull << fixed) - 1);
	if (version >= 5)
		cpu->fixed_mask |= r.ecx & 0xFFFF;
	read_extended(p);
	const uint64_t all = cpu->general_mask | (uint64_t)cpu->fixed_mask << 32;
	cpu->general_mask = listed(cpu->processor, MSR_PERFEVTSEL0, cpu->general_mask);
	cpu->fixed_mask = listed(cpu->processor, MSR_FIXED_CTR0, cpu->fixed_mask);
	cpu->unlisted = all & ~(cpu->general_mask | (uint64_t)cpu->fixed_mask << 32);
	cpu->general_counters = (uint8_t)bit_count(cpu->general_mask);
	cpu->fixed_counters = (uint8_t)bit_count(cpu->fixed_mask);
	cpu->pebs = cpu->processor->pebs_format != 255 && probe_bits(p->one.edx, 21, 21) && !(enable & MISC_ENABLE_NO_PEBS);
	/* EBX bits beyond the vector's length are undefined: such an event does not exist. */
	uint32_t length = probe_bits(r.eax, 31, 24);
	cpu->arch_events_missing = length < 32 ? r.ebx | ~0u << length : r.ebx;
	if (probe_bits(p->one.ecx, 15, 15) && !rdmsr(p, MSR_PERF_CAPABILITIES, &cpu->perf_capabilities))
		cpu->perf_capabilities = 0;
	if (!listed(cpu->processor, MSR_A_PMC0, 1))
		cpu->perf_capabilities &= ~CAPABILITY_FW_WRITE;
	read_branch_records(p);
}

bool cpu_vendor_is_amd(const char *vendor)
{
	return str_equal(vendor, "AuthenticAMD") || str_equal(vendor, "HygonGenuine");
}

/* Leaves 0, 1 and the extended limit: all that choosing a descriptor needs. */
static enum status read_basics(struct probe *p)
{
	struct cpu *cpu = p->cpu;
	struct cpuid_regs r;
	enum status s = p->a->ops->cpuid(p->a->self, 0, 0, 0, &r);
	if (s != ST_OK)
		return s;
	p->basic_max = r.eax <= 0xFFFF ? r.eax : 1;
	put_text(cpu->vendor, r.ebx);
	put_text(cpu->vendor + 4, r.edx);
	put_text(cpu->vendor + 8, r.ecx);
	p->intel = str_equal(cpu->vendor, "GenuineIntel");
	p->amd = cpu_vendor_is_amd(cpu->vendor);
	(void)probe_leaf(p, 1, 0, &p->one); /* zeros where there is none */
	p->extended_max = 0x80000000u;
	if (!probe_leaf(p, 0x80000000u, 0, &r) || r.eax < 0x80000000u || r.eax > 0x8000FFFFu)
		r.eax = 0x80000000u;
	p->extended_max = r.eax;
	(void)probe_leaf(p, 0x80000001u, 0, &p->extended);
	read_signature(p);
	if (p->intel && probe_leaf(p, 0x1A, 0, &r))
		cpu->core_kind = r.eax;
	return ST_OK;
}

/* Firmware can hide the leaves above 3. Unhides them while they are read; the guard restores the setting. */
static bool unlimit(struct probe *p, struct msr_guard *g, struct msr_guard_saved *saved, unsigned capacity)
{
	uint64_t value;
	struct cpuid_regs r;
	if (!p->intel || p->basic_max > 3 || !rdmsr(p, MSR_MISC_ENABLE, &value) || !(value & MISC_ENABLE_LIMIT))
		return false;
	msr_guard_init(g, p->a, p->cpu->processor, saved, capacity);
	if (g->access.ops->wrmsr(g->access.self, 0, MSR_MISC_ENABLE, value & ~MISC_ENABLE_LIMIT) != ST_OK)
		return false;
	if (p->a->ops->cpuid(p->a->self, 0, 0, 0, &r) == ST_OK && r.eax <= 0xFFFF)
		p->basic_max = r.eax;
	return true;
}

void cpu_without_counters(struct cpu *cpu)
{
	cpu->processor = &processors[processor_count - 1]; /* the generic one, which assumes nothing */
	cpu->pmu_version = cpu->general_counters = cpu->general_width = cpu->fixed_counters = cpu->fixed_width = 0;
	cpu->general_mask = cpu->fixed_mask = cpu->ibs = 0;
	cpu->unlisted = cpu->perf_capabilities = cpu->select_bits = 0;
	cpu->pebs = false;
	cpu->branch_records = (struct cpu_branch_records){ .pairs = 0 };
	cpu->pmu_absent = "no event is one of all kinds of cores";
}

enum status cpu_identify(const struct access *a, struct cpu *cpu)
{
	struct probe p = { .a = a, .cpu = cpu };
	static struct msr_guard g; /* too large for the stack */
	struct msr_guard_saved saved[1];
	struct cpuid_regs r;
	uint64_t value;
	*cpu = (struct cpu){ 0 };
	enum status s = read_basics(&p);
	if (s != ST_OK)
		return s;
	for (unsigned i = 0; i < processor_count && !cpu->processor; i++)
		if (matches(&processors[i], cpu))
			cpu->processor = &processors[i];
	if (!cpu->processor) /* the generator refuses tables without a last row that matches all */
		return ST_BROKEN;
	bool changed = unlimit(&p, &g, saved, COUNT_OF(saved));
	read_brand(&p);
	probe_caches(&p);
	probe_tlbs(&p);
	read_isa(&p);
	read_topology(&p);
	read_pmu(&p);
	/* CPUID leaf 1, executed above, loads the revision into the register (SDM 9.11.7.1). */
	if ((p.intel || p.amd) && rdmsr(&p, MSR_BIOS_SIGN_ID, &value))
		cpu->microcode = p.intel ? (uint32_t)(value >> 32) : (uint32_t)value;
	cpu->physical_address_bits = 36;
	if (probe_leaf(&p, 0x80000008u, 0, &r) && probe_bits(r.eax, 7, 0) >= 32 && probe_bits(r.eax, 7, 0) <= 52)
		cpu->physical_address_bits = (uint8_t)probe_bits(r.eax, 7, 0);
	return changed ? msr_guard_restore(&g) : ST_OK;
}

const struct cpu_cache *cpu_cache(const struct cpu *cpu, unsigned level)
{
	for (unsigned i = 0; i < cpu->cache_count; i++)
		if (cpu->caches[i].level == level && cpu->caches[i].type != 'I')
			return &cpu->caches[i];
	return NULL;
}

uint64_t cpu_cache_way_bytes(const struct cpu_cache *c)
{
	return c && c->ways && c->ways != 0xFFFF ? c->bytes / c->ways : 0;
}

unsigned cpu_last_level(const struct cpu *cpu)
{
	unsigned last = 0;
	for (unsigned i = 0; i < cpu->cache_count; i++)
		if (cpu->caches[i].type != 'I' && cpu->caches[i].level > last)
			last = cpu->caches[i].level;
	return last;
}

uint32_t cpu_netburst_counters(const struct processor *p)
{
	uint32_t usable = (1u << CPU_NETBURST_COUNTERS) - 1;
	for (unsigned q = 0; q < p->quirk_count; q++)
		if (str_equal(p->quirks[q].name, "netburst-counter-1"))
			usable &= ~2u;
	return usable;
}
