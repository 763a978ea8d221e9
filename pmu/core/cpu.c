/* pmu/core/cpu.c: identification from CPUID and a few MSRs. Sources: SDM volume 2A "CPUID", AMD APM volume 3 appendix E. A
 * nonsensical leaf is ignored: the field stays 0. */
#include "pmu/core/cpu.h"

#include "asm/kernel.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/netburst/netburst.h"
#include "pmu/text.h"

#define MSR_BIOS_SIGN_ID      0x8B
#define MSR_MISC_ENABLE       0x1A0
#define MISC_ENABLE_PERFMON   (1ull << 7)
#define MISC_ENABLE_NO_PEBS   (1ull << 12)
#define MISC_ENABLE_LIMIT     (1ull << 22)
#define MSR_PERFEVTSEL0       0x186
#define MSR_FIXED_CTR0        0x309
#define MSR_PERF_CAPABILITIES 0x345
#define MSR_A_PMC0            0x4C1
#define CAPABILITY_FW_WRITE   (1ull << 13)

struct probe {
	const struct access *a;
	uint32_t basic_max, extended_max;
	struct cpu *cpu;
	bool intel, amd;
	struct cpuid_regs one;         /* leaf 1 */
	struct cpuid_regs extended;    /* leaf 0x80000001 */
};

static bool leaf(const struct probe *p, uint32_t number, uint32_t sub, struct cpuid_regs *r)
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

static uint32_t bits(uint32_t value, unsigned high, unsigned low)
{
	return (value >> low) & (uint32_t)((1ull << (high - low + 1)) - 1);
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
	cpu->stepping = (uint8_t)bits(s, 3, 0);
	cpu->family = (uint16_t)bits(s, 11, 8);
	cpu->model = (uint16_t)bits(s, 7, 4);
	if (cpu->family == 0xF || cpu->family == 6)
		cpu->model |= (uint16_t)(bits(s, 19, 16) << 4);
	if (cpu->family == 0xF)
		cpu->family += (uint16_t)bits(s, 27, 20);
	cpu->hypervisor = bits(p->one.ecx, 31, 31);
}

static bool matches(const struct processor *d, const struct cpu *cpu)
{
	if (d->vendor[0] && !str_equal(d->vendor, cpu->vendor))
		return false;
	if (d->family != FAMILY_ANY && d->family != cpu->family)
		return false;
	if (cpu->stepping < d->stepping_low || cpu->stepping > d->stepping_high)
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
		if (!leaf(p, 0x80000002u + i, 0, &r))
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

static void add_cache(struct cpu *cpu, const struct cpu_cache *c)
{
	bool line_ok = c->line_bytes >= 16 && c->line_bytes <= 1024 && (c->line_bytes & (c->line_bytes - 1)) == 0;
	if (c->level < 1 || c->level > 4 || !line_ok || c->ways == 0)
		return;
	if (c->bytes < 1024 || c->bytes > 1ull << 34 || cpu->cache_count == CPU_CACHES_MAX)
		return;
	for (unsigned i = 0; i < cpu->cache_count; i++)
		if (cpu->caches[i].level == c->level && cpu->caches[i].type == c->type)
			return;
	cpu->caches[cpu->cache_count++] = *c;
}

/* Leaf 4 of Intel and 0x8000001D of AMD have the same form. */
static void read_caches_enumerated(struct probe *p, uint32_t number)
{
	for (uint32_t sub = 0; sub < 16; sub++) {
		struct cpuid_regs r;
		if (!leaf(p, number, sub, &r) || bits(r.eax, 4, 0) == 0)
			return;
		if (bits(r.eax, 4, 0) > 3)
			continue;
		struct cpu_cache c = {
			.level = (uint8_t)bits(r.eax, 7, 5),
			.type = "DIU"[bits(r.eax, 4, 0) - 1],
			.ways = (uint16_t)(bits(r.ebx, 31, 22) + 1),
			.line_bytes = bits(r.ebx, 11, 0) + 1,
			.shared_by = (uint16_t)(bits(r.eax, 25, 14) + 1),
			.inclusive = bits(r.edx, 1, 1),
		};
		c.bytes = (uint64_t)c.ways * (bits(r.ebx, 21, 12) + 1) * c.line_bytes * ((uint64_t)r.ecx + 1);
		if (bits(r.eax, 9, 9))
			c.ways = 0xFFFF;
		add_cache(p->cpu, &c);
	}
}

/* AMD before topology extensions: 0x80000005 and 0x80000006. Associativity of the L2 and L3 is coded. */
static void read_caches_amd(struct probe *p)
{
	static const uint16_t ways[16] = { 0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0xFFFF };
	struct cpuid_regs r;
	if (leaf(p, 0x80000005u, 0, &r)) {
		add_cache(p->cpu, &(struct cpu_cache){ .level = 1, .type = 'D', .ways = (uint16_t)bits(r.ecx, 23, 16),
			.line_bytes = bits(r.ecx, 7, 0), .bytes = bits(r.ecx, 31, 24) * 1024ull, .shared_by = 1 });
		add_cache(p->cpu, &(struct cpu_cache){ .level = 1, .type = 'I', .ways = (uint16_t)bits(r.edx, 23, 16),
			.line_bytes = bits(r.edx, 7, 0), .bytes = bits(r.edx, 31, 24) * 1024ull, .shared_by = 1 });
	}
	if (leaf(p, 0x80000006u, 0, &r)) {
		add_cache(p->cpu, &(struct cpu_cache){ .level = 2, .type = 'U', .ways = ways[bits(r.ecx, 15, 12)],
			.line_bytes = bits(r.ecx, 7, 0), .bytes = bits(r.ecx, 31, 16) * 1024ull, .shared_by = 1 });
		add_cache(p->cpu, &(struct cpu_cache){ .level = 3, .type = 'U', .ways = ways[bits(r.edx, 15, 12)],
			.line_bytes = bits(r.edx, 7, 0), .bytes = bits(r.edx, 31, 18) * 512ull * 1024, .shared_by = 1 });
	}
}

static void read_caches(struct probe *p)
{
	if (p->amd && bits(p->extended.ecx, 22, 22))
		read_caches_enumerated(p, 0x8000001Du);
	else if (!p->amd)
		read_caches_enumerated(p, 4);
	if (p->amd && p->cpu->cache_count == 0)
		read_caches_amd(p);
}

static void raise_to(uint16_t *field, uint32_t entries)
{
	if (entries > *field && entries <= 0x8000)
		*field = (uint16_t)entries;
}

/* Leaf 0x18: address translation parameters. */
static void read_tlbs_enumerated(struct probe *p)
{
	struct tlb_facts *t = &p->cpu->tlb;
	struct cpuid_regs r;
	if (!leaf(p, 0x18, 0, &r))
		return;
	uint32_t last = r.eax < 32 ? r.eax : 32;
	for (uint32_t sub = 0; sub <= last; sub++) {
		if (!leaf(p, 0x18, sub, &r))
			return;
		uint32_t type = bits(r.edx, 4, 0), level = bits(r.edx, 7, 5);
		uint64_t entries = (uint64_t)bits(r.ebx, 31, 16) * r.ecx;
		if (type == 0 || type > 5 || level == 0 || entries == 0 || entries > 0x8000)
			continue;
		bool data = type == 1 || type == 3 || type == 4;
		if (level == 1 && data && bits(r.ebx, 0, 0))
			raise_to(&t->dtlb_4k, (uint32_t)entries);
		if (level == 1 && data && bits(r.ebx, 1, 1))
			raise_to(&t->dtlb_2m, (uint32_t)entries);
		if (level == 1 && data && bits(r.ebx, 3, 3))
			raise_to(&t->dtlb_1g, (uint32_t)entries);
		if (level == 1 && type == 2 && bits(r.ebx, 0, 0))
			raise_to(&t->itlb_4k, (uint32_t)entries);
		if (level == 2 && data && bits(r.ebx, 0, 0))
			raise_to(&t->stlb_4k, (uint32_t)entries);
		if (level == 2 && data && bits(r.ebx, 1, 1))
			raise_to(&t->stlb_2m, (uint32_t)entries);
		if (level == 2 && data && bits(r.ebx, 3, 3))
			raise_to(&t->stlb_1g, (uint32_t)entries);
	}
}

/* Leaf 2: one descriptor per byte; tables/tlb_descriptors.csv has their meaning. */
static void read_tlbs_described(struct probe *p)
{
	struct tlb_facts *t = &p->cpu->tlb;
	struct cpuid_regs r;
	if (!p->intel || !leaf(p, 2, 0, &r))
		return;
	uint32_t words[4] = { r.eax & ~0xFFu, r.ebx, r.ecx, r.edx }; /* AL is no descriptor */
	for (unsigned i = 0; i < 16; i++) {
		uint8_t code = (uint8_t)(words[i / 4] >> 8 * (i % 4));
		if (words[i / 4] & 0x80000000u) /* this register holds no descriptors */
			continue;
		for (unsigned k = 0; k < tlb_descriptor_count; k++) {
			const struct tlb_facts *f = &tlb_descriptors[k].entries;
			if (tlb_descriptors[k].code != code)
				continue;
			raise_to(&t->dtlb_4k, f->dtlb_4k);
			raise_to(&t->dtlb_2m, f->dtlb_2m);
			raise_to(&t->dtlb_1g, f->dtlb_1g);
			raise_to(&t->stlb_4k, f->stlb_4k);
			raise_to(&t->itlb_4k, f->itlb_4k);
			raise_to(&t->stlb_2m, f->stlb_2m);
			raise_to(&t->stlb_1g, f->stlb_1g);
		}
	}
}

static void read_tlbs_amd(struct probe *p)
{
	struct tlb_facts *t = &p->cpu->tlb;
	struct cpuid_regs r;
	if (leaf(p, 0x80000005u, 0, &r)) {
		raise_to(&t->dtlb_4k, bits(r.ebx, 23, 16));
		raise_to(&t->itlb_4k, bits(r.ebx, 7, 0));
		raise_to(&t->dtlb_2m, bits(r.eax, 23, 16));
	}
	if (leaf(p, 0x80000006u, 0, &r)) {
		raise_to(&t->stlb_4k, bits(r.ebx, 27, 16));
		raise_to(&t->stlb_2m, bits(r.eax, 27, 16));
	}
	if (leaf(p, 0x80000019u, 0, &r)) {
		raise_to(&t->dtlb_1g, bits(r.eax, 27, 16));
		raise_to(&t->stlb_1g, bits(r.ebx, 27, 16));
	}
}

static void fill(uint16_t *field, uint16_t known)
{
	if (*field == 0)
		*field = known;
}

static void read_tlbs(struct probe *p)
{
	struct tlb_facts *t = &p->cpu->tlb;
	const struct tlb_facts *known = &p->cpu->processor->tlb;
	if (p->amd)
		read_tlbs_amd(p);
	else
		read_tlbs_enumerated(p);
	p->cpu->tlb_enumerated = t->dtlb_4k && !p->amd;
	if (p->cpu->tlb_enumerated)
		return; /* enumerated: what is not listed is absent */
	if (t->dtlb_4k == 0)
		read_tlbs_described(p);
	fill(&t->dtlb_4k, known->dtlb_4k);
	fill(&t->dtlb_2m, known->dtlb_2m);
	fill(&t->dtlb_1g, known->dtlb_1g);
	fill(&t->stlb_4k, known->stlb_4k);
	fill(&t->itlb_4k, known->itlb_4k);
	fill(&t->stlb_2m, known->stlb_2m);
	fill(&t->stlb_1g, known->stlb_1g);
}

/* Whether the system has enabled state components `mask`: XCR0 cannot be read through a backend, but leaf 0xD EBX is the
 * size of what XCR0 enables. A component counts as enabled if that area extends to its end; this is wrong only if a higher
 * component is enabled and this one is not. */
static bool state_enabled(struct probe *p, uint32_t mask)
{
	struct cpuid_regs all, one;
	if (!bits(p->one.ecx, 27, 27) || !leaf(p, 0xD, 0, &all) || (all.eax & mask) != mask)
		return false;
	for (uint32_t i = 2; i < 32; i++)
		if (mask & 1u << i && (!leaf(p, 0xD, i, &one) || one.eax == 0 || all.ebx < one.eax + one.ebx))
			return false;
	return true;
}

#define STATE_YMM 0x6u  /* SSE and upper halves of YMM */
#define STATE_ZMM 0xE6u /* and mask registers, upper halves of ZMM, ZMM16-31 */

static void read_isa(struct probe *p)
{
	uint32_t c = p->one.ecx, isa = 0;
	struct cpuid_regs seven;
	(void)leaf(p, 7, 0, &seven); /* zeros where there is none */
	bool ymm = state_enabled(p, STATE_YMM);
	isa |= bits(c, 9, 9) ? ISA_SSSE3 : 0;
	isa |= bits(c, 19, 19) ? ISA_SSE41 : 0;
	isa |= bits(c, 23, 23) ? ISA_POPCNT : 0;
	isa |= ymm && bits(c, 28, 28) ? ISA_AVX : 0;
	if (isa & ISA_AVX) {
		isa |= bits(c, 12, 12) ? ISA_FMA : 0;
		isa |= bits(seven.ebx, 5, 5) ? ISA_AVX2 : 0;
		bool wide = bits(seven.ebx, 16, 16) && bits(seven.ebx, 17, 17) && bits(seven.ebx, 31, 31);
		isa |= wide && state_enabled(p, STATE_ZMM) ? ISA_AVX512 : 0;
	}
	isa |= bits(seven.ebx, 23, 23) ? ISA_CLFLUSHOPT : 0;
	isa |= bits(p->extended.ecx, 8, 8) ? ISA_PREFETCHW : 0;
	isa |= bits(p->extended.edx, 26, 26) ? ISA_1G : 0;
	isa |= bits(p->extended.edx, 27, 27) ? ISA_RDTSCP : 0;
	p->cpu->isa = isa;
}

/* Leaf 0x1F, else 0xB: number of logical processors that share a core and a package. */
static void read_topology(struct probe *p)
{
	struct cpuid_regs r;
	uint32_t number = 0x1F;
	if (!leaf(p, number, 0, &r) || r.ebx == 0)
		number = 0xB;
	for (uint32_t sub = 0; sub < 8; sub++) {
		if (!leaf(p, number, sub, &r) || bits(r.ecx, 15, 8) == 0 || bits(r.ebx, 15, 0) == 0)
			return;
		uint16_t processors_here = (uint16_t)bits(r.ebx, 15, 0);
		if (bits(r.ecx, 15, 8) == 1)
			p->cpu->threads_per_core = processors_here;
		if (processors_here >= p->cpu->threads_per_package)
			p->cpu->threads_per_package = processors_here;
	}
}

/* Of the counters from `first` on, those that the descriptor lists: the guard allows no others. */
static uint32_t listed(const struct processor *p, uint32_t first, uint32_t mask)
{
	uint32_t found = 0;
	for (unsigned i = 0; i < p->msr_count; i++)
		for (uint32_t n = 0; n < 32; n++)
			if (first + n >= p->msrs[i].first && first + n <= p->msrs[i].last)
				found |= 1u << n;
	return mask & found;
}

static void read_pmu(struct probe *p)
{
	struct cpu *cpu = p->cpu;
	struct cpuid_regs r, more;
	uint64_t enable;
	if (!p->intel) {
		cpu->pmu_absent = "not an Intel processor: no architectural PMU";
		return;
	}
	if (cpu->processor->detector_count) {
		bool known = rdmsr(p, MSR_MISC_ENABLE, &enable);
		if (known && !(enable & MISC_ENABLE_PERFMON)) {
			cpu->pmu_absent = "IA32_MISC_ENABLE bit 7 is 0: performance monitoring is switched off";
			return;
		}
		if (!cpu->threads_per_core) { /* neither leaf: logical processors per package divided by its cores */
			struct cpuid_regs four = { 0 };
			const uint32_t logical = bits(p->one.edx, 28, 28) ? bits(p->one.ebx, 23, 16) : 1;
			const uint32_t cores = logical > 1 && leaf(p, 4, 0, &four) && bits(four.eax, 4, 0) ? bits(four.eax, 31, 26) + 1 : 1;
			cpu->threads_per_core = (uint16_t)(logical > cores ? logical / cores : 1);
		}
		cpu->general_width = NETBURST_COUNTER_BITS;
		cpu->general_mask = netburst_usable(cpu->processor);
		cpu->general_counters = (uint8_t)bit_count(cpu->general_mask);
		cpu->pebs = cpu->processor->pebs_format != 255 && bits(p->one.edx, 21, 21) && known && !(enable & MISC_ENABLE_NO_PEBS);
		return;
	}
	if (!leaf(p, 0xA, 0, &r) || bits(r.eax, 7, 0) == 0) {
		cpu->pmu_absent = "CPUID leaf 0xA shows no architectural PMU";
		return;
	}
	/* Bit 7 is read-only and 1 wherever counters are usable; a processor without the register has them. */
	bool readable = rdmsr(p, MSR_MISC_ENABLE, &enable);
	if (readable && !(enable & MISC_ENABLE_PERFMON)) {
		cpu->pmu_absent = "IA32_MISC_ENABLE bit 7 is 0: performance monitoring is switched off";
		return;
	}
	uint32_t version = bits(r.eax, 7, 0), general = bits(r.eax, 15, 8), width = bits(r.eax, 23, 16);
	uint32_t fixed = version >= 2 ? bits(r.edx, 4, 0) : 0, fixed_width = bits(r.edx, 12, 5);
	if (version > 15 || general == 0 || general > 32 || width < 32 || width > 64) {
		cpu->pmu_absent = "CPUID leaf 0xA makes no sense";
		return;
	}
	if (fixed > 16 || (fixed && (fixed_width < 32 || fixed_width > 64)))
		fixed = 0;
	cpu->pmu_version = (uint8_t)version;
	cpu->general_width = (uint8_t)width;
	cpu->fixed_width = fixed ? (uint8_t)fixed_width : 0;
	cpu->general_mask = (uint32_t)((1ull << general) - 1);
	cpu->fixed_mask = (uint32_t)((1ull << fixed) - 1);
	if (version >= 5)
		cpu->fixed_mask |= r.ecx & 0xFFFF;
	/* Leaf 0x23 subleaf 1 enumerates the counters as bitmaps, which may have gaps. */
	struct cpuid_regs seven;
	if (leaf(p, 7, 1, &seven) && bits(seven.eax, 8, 8) && leaf(p, 0x23, 0, &more) && bits(more.eax, 1, 1) &&
	    leaf(p, 0x23, 1, &more) && more.eax != 0) {
		cpu->general_mask = more.eax;
		cpu->fixed_mask = more.ebx & 0xFFFF;
	}
	const uint64_t all = cpu->general_mask | (uint64_t)cpu->fixed_mask << 32;
	cpu->general_mask = listed(cpu->processor, MSR_PERFEVTSEL0, cpu->general_mask);
	cpu->fixed_mask = listed(cpu->processor, MSR_FIXED_CTR0, cpu->fixed_mask);
	cpu->unlisted = all & ~(cpu->general_mask | (uint64_t)cpu->fixed_mask << 32);
	cpu->general_counters = (uint8_t)bit_count(cpu->general_mask);
	cpu->fixed_counters = (uint8_t)bit_count(cpu->fixed_mask);
	cpu->pebs = cpu->processor->pebs_format != 255 && bits(p->one.edx, 21, 21) && !(enable & MISC_ENABLE_NO_PEBS);
	/* EBX bits beyond the vector's length are undefined: such an event does not exist. */
	uint32_t length = bits(r.eax, 31, 24);
	cpu->arch_events_missing = length < 32 ? r.ebx | ~0u << length : r.ebx;
	if (bits(p->one.ecx, 15, 15) && !rdmsr(p, MSR_PERF_CAPABILITIES, &cpu->perf_capabilities))
		cpu->perf_capabilities = 0;
	if (!listed(cpu->processor, MSR_A_PMC0, 1))
		cpu->perf_capabilities &= ~CAPABILITY_FW_WRITE;
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
	p->amd = str_equal(cpu->vendor, "AuthenticAMD") || str_equal(cpu->vendor, "HygonGenuine");
	(void)leaf(p, 1, 0, &p->one); /* zeros where there is none */
	p->extended_max = 0x80000000u;
	if (!leaf(p, 0x80000000u, 0, &r) || r.eax < 0x80000000u || r.eax > 0x8000FFFFu)
		r.eax = 0x80000000u;
	p->extended_max = r.eax;
	(void)leaf(p, 0x80000001u, 0, &p->extended);
	read_signature(p);
	return ST_OK;
}

/* Firmware can hide the leaves above 3. Unhides them while they are read; the guard restores the setting. */
static bool unlimit(struct probe *p, struct msr_guard *g, struct msr_guard_saved *saved, unsigned capacity)
{
	uint64_t value;
	struct cpuid_regs r;
	msr_guard_init(g, p->a, p->cpu->processor, saved, capacity);
	if (!p->intel || p->basic_max > 3 || !rdmsr(p, MSR_MISC_ENABLE, &value) || !(value & MISC_ENABLE_LIMIT))
		return false;
	if (g->access.ops->wrmsr(g->access.self, 0, MSR_MISC_ENABLE, value & ~MISC_ENABLE_LIMIT) != ST_OK)
		return false;
	if (p->a->ops->cpuid(p->a->self, 0, 0, 0, &r) == ST_OK && r.eax <= 0xFFFF)
		p->basic_max = r.eax;
	return true;
}

enum status cpu_identify(const struct access *a, struct cpu *cpu)
{
	struct probe p = { .a = a, .cpu = cpu };
	struct msr_guard g;
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
	read_caches(&p);
	read_tlbs(&p);
	read_isa(&p);
	read_topology(&p);
	read_pmu(&p);
	/* CPUID leaf 1, executed above, loads the revision into the register (SDM 9.11.7.1). */
	if ((p.intel || p.amd) && rdmsr(&p, MSR_BIOS_SIGN_ID, &value))
		cpu->microcode = p.intel ? (uint32_t)(value >> 32) : (uint32_t)value;
	cpu->physical_address_bits = 36;
	if (leaf(&p, 0x80000008u, 0, &r) && bits(r.eax, 7, 0) >= 32 && bits(r.eax, 7, 0) <= 52)
		cpu->physical_address_bits = (uint8_t)bits(r.eax, 7, 0);
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
