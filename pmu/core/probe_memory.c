/* pmu/core/probe_memory.c: caches and TLBs as CPUID reports them: SDM volume 2A "CPUID", AMD APM volume 3 appendix E. */
#include "pmu/core/probe.h"

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
		if (!probe_leaf(p, number, sub, &r) || probe_bits(r.eax, 4, 0) == 0)
			return;
		if (probe_bits(r.eax, 4, 0) > 3)
			continue;
		struct cpu_cache c = {
			.level = (uint8_t)probe_bits(r.eax, 7, 5),
			.type = "DIU"[probe_bits(r.eax, 4, 0) - 1],
			.ways = (uint16_t)(probe_bits(r.ebx, 31, 22) + 1),
			.line_bytes = probe_bits(r.ebx, 11, 0) + 1,
			.shared_by = (uint16_t)(probe_bits(r.eax, 25, 14) + 1),
			.inclusive = probe_bits(r.edx, 1, 1),
		};
		c.bytes = (uint64_t)c.ways * (probe_bits(r.ebx, 21, 12) + 1) * c.line_bytes * ((uint64_t)r.ecx + 1);
		if (probe_bits(r.eax, 9, 9))
			c.ways = 0xFFFF;
		add_cache(p->cpu, &c);
	}
}

/* AMD before topology extensions: 0x80000005 and 0x80000006. Associativity of the L2 and L3 is encoded. */
static void read_caches_amd(struct probe *p)
{
	static const uint16_t ways[16] = { 0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0xFFFF };
	struct cpuid_regs r;
	if (probe_leaf(p, 0x80000005u, 0, &r)) {
		add_cache(p->cpu, &(struct cpu_cache){ .level = 1, .type = 'D', .ways = (uint16_t)probe_bits(r.ecx, 23, 16),
			.line_bytes = probe_bits(r.ecx, 7, 0), .bytes = probe_bits(r.ecx, 31, 24) * 1024ull, .shared_by = 1 });
		add_cache(p->cpu, &(struct cpu_cache){ .level = 1, .type = 'I', .ways = (uint16_t)probe_bits(r.edx, 23, 16),
			.line_bytes = probe_bits(r.edx, 7, 0), .bytes = probe_bits(r.edx, 31, 24) * 1024ull, .shared_by = 1 });
	}
	if (probe_leaf(p, 0x80000006u, 0, &r)) {
		add_cache(p->cpu, &(struct cpu_cache){ .level = 2, .type = 'U', .ways = ways[probe_bits(r.ecx, 15, 12)],
			.line_bytes = probe_bits(r.ecx, 7, 0), .bytes = probe_bits(r.ecx, 31, 16) * 1024ull, .shared_by = 1 });
		add_cache(p->cpu, &(struct cpu_cache){ .level = 3, .type = 'U', .ways = ways[probe_bits(r.edx, 15, 12)],
			.line_bytes = probe_bits(r.edx, 7, 0), .bytes = probe_bits(r.edx, 31, 18) * 512ull * 1024, .shared_by = 1 });
	}
}

/* Leaf 2: descriptors, one per byte, 0 for none. False: there is no such leaf. */
#define DESCRIPTORS 16u
static bool read_descriptors(struct probe *p, uint8_t code[DESCRIPTORS])
{
	struct cpuid_regs r;
	if (!p->intel || !probe_leaf(p, 2, 0, &r))
		return false;
	const uint32_t words[4] = { r.eax & ~0xFFu, r.ebx, r.ecx, r.edx }; /* AL is no descriptor */
	for (unsigned i = 0; i < DESCRIPTORS; i++) /* bit 31: this register holds none */
		code[i] = words[i / 4] & 0x80000000u ? 0 : (uint8_t)(words[i / 4] >> 8 * (i % 4));
	return true;
}

/* tables/cache_descriptors.csv has the descriptors' meaning. */
static void read_caches_described(struct probe *p)
{
	uint8_t code[DESCRIPTORS];
	if (!read_descriptors(p, code))
		return;
	for (unsigned i = 0; i < DESCRIPTORS; i++)
		for (unsigned k = 0; k < cache_descriptor_count; k++) {
			const struct cache_descriptor *d = &cache_descriptors[k];
			if (d->code == code[i])
				add_cache(p->cpu, &(struct cpu_cache){ .level = d->level, .type = d->type, .ways = d->ways,
					.line_bytes = d->line_bytes, .bytes = d->kib * 1024ull, .shared_by = 1 });
		}
}

void probe_caches(struct probe *p)
{
	if (p->amd && probe_bits(p->extended.ecx, 22, 22))
		read_caches_enumerated(p, 0x8000001Du);
	else if (!p->amd)
		read_caches_enumerated(p, 4);
	if (p->amd && p->cpu->cache_count == 0)
		read_caches_amd(p);
	if (p->cpu->cache_count == 0)
		read_caches_described(p);
}

static void raise_to(uint16_t *field, uint32_t entries)
{
	if (entries > *field && entries <= 0x8000)
		*field = (uint16_t)entries;
}

/* tables/tlb_descriptors.csv has the descriptors' meaning. */
static void read_tlbs_described(struct probe *p)
{
	struct tlb_facts *t = &p->cpu->tlb;
	uint8_t code[DESCRIPTORS];
	if (!read_descriptors(p, code))
		return;
	for (unsigned i = 0; i < DESCRIPTORS; i++)
		for (unsigned k = 0; k < tlb_descriptor_count; k++) {
			const struct tlb_facts *f = &tlb_descriptors[k].entries;
			if (tlb_descriptors[k].code != code[i])
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

/* Leaf 0x18: address translation parameters. */
static void read_tlbs_enumerated(struct probe *p)
{
	struct tlb_facts *t = &p->cpu->tlb;
	struct cpuid_regs r;
	if (!probe_leaf(p, 0x18, 0, &r))
		return;
	uint32_t last = r.eax < 32 ? r.eax : 32;
	for (uint32_t sub = 0; sub <= last; sub++) {
		if (!probe_leaf(p, 0x18, sub, &r))
			return;
		uint32_t type = probe_bits(r.edx, 4, 0), level = probe_bits(r.edx, 7, 5);
		uint64_t entries = (uint64_t)probe_bits(r.ebx, 31, 16) * r.ecx;
		if (type == 0 || type > 5 || level == 0 || entries == 0 || entries > 0x8000)
			continue;
		bool data = type == 1 || type == 3 || type == 4;
		if (level == 1 && data && probe_bits(r.ebx, 0, 0))
			raise_to(&t->dtlb_4k, (uint32_t)entries);
		if (level == 1 && data && probe_bits(r.ebx, 1, 1))
			raise_to(&t->dtlb_2m, (uint32_t)entries);
		if (level == 1 && data && probe_bits(r.ebx, 3, 3))
			raise_to(&t->dtlb_1g, (uint32_t)entries);
		if (level == 1 && type == 2 && probe_bits(r.ebx, 0, 0))
			raise_to(&t->itlb_4k, (uint32_t)entries);
		if (level == 2 && data && probe_bits(r.ebx, 0, 0))
			raise_to(&t->stlb_4k, (uint32_t)entries);
		if (level == 2 && data && probe_bits(r.ebx, 1, 1))
			raise_to(&t->stlb_2m, (uint32_t)entries);
		if (level == 2 && data && probe_bits(r.ebx, 3, 3))
			raise_to(&t->stlb_1g, (uint32_t)entries);
	}
}

/* CPUID 0x80000021 EAX[14], L2TlbSizeX32: sizes of the second level are multiples of 32 (AMD64 manual volume 3, appendix E). */
#define L2_TLB_SIZE_X32 14

static void read_tlbs_amd(struct probe *p)
{
	struct tlb_facts *t = &p->cpu->tlb;
	struct cpuid_regs r;
	const uint32_t unit = probe_leaf(p, 0x80000021u, 0, &r) && probe_bits(r.eax, L2_TLB_SIZE_X32, L2_TLB_SIZE_X32) ? 32 : 1;
	if (probe_leaf(p, 0x80000005u, 0, &r)) {
		raise_to(&t->dtlb_4k, probe_bits(r.ebx, 23, 16));
		raise_to(&t->itlb_4k, probe_bits(r.ebx, 7, 0));
		raise_to(&t->dtlb_2m, probe_bits(r.eax, 23, 16));
	}
	if (probe_leaf(p, 0x80000006u, 0, &r)) {
		raise_to(&t->stlb_4k, unit * probe_bits(r.ebx, 27, 16));
		raise_to(&t->stlb_2m, unit * probe_bits(r.eax, 27, 16));
	}
	if (probe_leaf(p, 0x80000019u, 0, &r)) {
		raise_to(&t->dtlb_1g, probe_bits(r.eax, 27, 16));
		raise_to(&t->stlb_1g, unit * probe_bits(r.ebx, 27, 16));
	}
}

static void fill(uint16_t *field, uint16_t known)
{
	if (*field == 0)
		*field = known;
}

void probe_tlbs(struct probe *p)
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
