/* pmu/sim/counters/cpuid.c: CPUID leaves made from the machine file (SDM volume 2A, CPUID).
 *
 * Caches are reported by leaf 4 only (leaf 2 refers to it with descriptor 0xFF), TLBs by leaf 0x18 where
 * control.highest_leaf reaches it, else by no leaf of this model. Leaf 0xD reports the sizes of SSE,
 * AVX and AVX-512 state, leaf 6 the sensor, turbo, HWP, APERF and MPERF.
 *
 * A machine whose vendor is AMD or Hygon reports both as their processors do (AMD64 manual volume 3, appendix E):
 * caches by 0x80000005, 0x80000006 and 0x8000001D, TLBs by the first two and 0x80000019; leaves 2, 4 and 0x18 are zero.
 *
 * Not modelled: leaves that this file does not name (they read as zero), differences between cores, APIC IDs of a hybrid whose large cores share
 * an L2 by threes, fives, sixes or sevens. */
#include "pmu/sim/counters/counter_state.h"
#include "pmu/text.h"

/* The machine file's cpuid.isa bits, as in asm/kernel.h. */
#define ISA_SSE41      (1u << 0)
#define ISA_AVX        (1u << 1)
#define ISA_AVX2       (1u << 2)
#define ISA_FMA        (1u << 3)
#define ISA_AVX512     (1u << 4)
#define ISA_PREFETCHW  (1u << 5)
#define ISA_CLFLUSHOPT (1u << 6)
#define ISA_1G         (1u << 7)
#define ISA_RDTSCP     (1u << 8)
#define ISA_SSSE3      (1u << 9)
#define ISA_POPCNT     (1u << 10)

#define AMD_HIGHEST_LEAF 0x80000026u
#define MISC_LIMIT_CPUID (1ull << 22)

static bool is_amd(const struct machine *m)
{
	return str_equal(m->cpuid_vendor, "AuthenticAMD") || str_equal(m->cpuid_vendor, "HygonGenuine");
}

static uint32_t letters(const char *s, unsigned at)
{
	uint32_t v;
	memcpy(&v, s + at, 4);
	return v;
}

/* Number of bits that hold 0 .. n-1. */
static unsigned bits_for(uint64_t n)
{
	unsigned b = 0;
	while (1ull << b < n)
		b++;
	return b;
}

/* Cores of a hybrid's socket before its small ones, whose L2s begin at a multiple of their cores. */
static uint64_t large_cores(const struct machine *m) { return m->topology_cores - m->topology_small_cores; }
static uint64_t first_small(const struct machine *m)
{
	const uint64_t shared = m->small ? m->small->l2_cores : m->l2_cores; /* one and the same: m is that of the small cores, or leads to it */
	return (large_cores(m) + shared - 1) / shared * shared;
}

/* Number of APIC ID bits for the core beside those of its L2, the core in its complex, the complex in its die, the core in its socket. Sharing is
 * told by a mask of these bits (SDM volume 3A, 8.9), so the cores of each L2 begin at a multiple of a power of two. */
static unsigned cluster_bits(const struct machine *m) { return bits_for(m->l2_cores); }
static unsigned complex_bits(const struct machine *m)
{
	if (m->topology_small_cores)
		return bits_for(first_small(m) + m->topology_small_cores);
	return cluster_bits(m) + bits_for(m->topology_cores / m->topology_complexes / m->l2_cores);
}
static unsigned die_bits(const struct machine *m) { return bits_for(m->topology_complexes / m->topology_dies); }
static unsigned cores_bits(const struct machine *m) { return complex_bits(m) + die_bits(m) + bits_for(m->topology_dies); }

/* The core of a complex as its APIC ID's bits have it. */
static unsigned core_position(const struct machine *m, unsigned core)
{
	const unsigned large = (unsigned)large_cores(m), shared = (unsigned)m->l2_cores;
	if (m->topology_small_cores)
		return core < large ? core : (unsigned)first_small(m) + core - large;
	return core / shared << cluster_bits(m) | core % shared;
}

static unsigned apic_id(const struct counters *p)
{
	const struct machine *m = p->m;
	unsigned threads = (unsigned)m->topology_threads, cores = (unsigned)m->topology_cores, in_complex = (unsigned)(cores / m->topology_complexes);
	unsigned thread = p->thread % threads, core = p->thread / threads % cores, socket = p->thread / threads / cores;
	unsigned thread_bits = bits_for(threads), complex = core / in_complex, in_die = (unsigned)(m->topology_complexes / m->topology_dies);
	unsigned position = core_position(m, core % in_complex) | complex % in_die << complex_bits(m) | complex / in_die << (complex_bits(m) + die_bits(m));
	return thread | position << thread_bits | socket << (thread_bits + cores_bits(m));
}

static void leaf1(const struct counters *p, uint32_t out[4])
{
	const struct machine *m = p->m;
	uint32_t isa = (uint32_t)m->cpuid_isa, family = (uint32_t)m->cpuid_family, model = (uint32_t)m->cpuid_model;
	uint32_t logical = 1u << (bits_for(m->topology_threads) + cores_bits(m));
	out[0] = (uint32_t)m->cpuid_stepping | (model & 0xF) << 4 | (family < 0xF ? family : 0xF) << 8 |
		(model >> 4) << 16 | (family > 0xF ? family - 0xF : 0) << 20;
	out[1] = 8u << 8 | (logical & 0xFF) << 16 | (uint32_t)(apic_id(p) & 0xFF) << 24; /* CLFLUSH: 64 bytes */
	uint32_t c = 1u | 1u << 3 | 1u << 13; /* SSE3, MONITOR, CMPXCHG16B */
	if (m->pmu_pebs_format != 255)
		c |= (m->pmu_ds64 ? 1u << 2 : 0) | 1u << 4; /* DTES64, DS-CPL */
	c |= isa & ISA_SSSE3 ? 1u << 9 : 0;
	c |= isa & ISA_FMA ? 1u << 12 : 0;
	c |= m->pmu_capabilities && m->pmu_version ? 1u << 15 : 0; /* PDCM */
	c |= isa & ISA_SSE41 ? 1u << 19 : 0;
	c |= m->control_x2apic ? 1u << 21 : 0;
	c |= isa & ISA_POPCNT ? 1u << 20 | 1u << 23 : 0; /* SSE4.2 came with POPCNT */
	c |= isa & ISA_AVX ? 7u << 26 : 0; /* XSAVE, OSXSAVE, AVX */
	out[2] = c;
	/* FPU VME DE PSE TSC MSR PAE MCE CX8 APIC, SEP MTRR PGE MCA CMOV PAT PSE36, CLFSH,
	 * ACPI MMX FXSR SSE SSE2 SS, TM */
	out[3] = 0x3FF | 0x3F800 | 1u << 19 | 0x3Fu << 22 | 1u << 29;
	if (m->pmu_pebs_format != 255)
		out[3] |= 1u << 21; /* DS */
	if (logical > 1)
		out[3] |= 1u << 28; /* HTT */
}

struct cache_leaf { uint64_t bytes, ways, sharing; unsigned type, level; bool inclusive, complex; };

static void leaf4(const struct counters *p, uint32_t subleaf, uint32_t out[4])
{
	const struct machine *m = p->m;
	unsigned thread_bits = bits_for(m->topology_threads), core_bits = cores_bits(m);
	const struct cache_leaf all[4] = {
		{ m->l1d_bytes, m->l1d_ways, m->topology_threads, 1, 1, false, false },
		{ m->l1i_bytes, m->l1i_ways, m->topology_threads, 2, 1, false, false },
		{ m->l2_bytes, m->l2_ways, m->topology_threads * m->l2_cores, 3, 2, false, false },
		{ m->l3_bytes, m->l3_ways, 1ull << (thread_bits + complex_bits(m)), 3, 3, m->l3_inclusive != 0, m->l3_slices > 1 },
	};
	unsigned at = 0;
	for (unsigned i = 0; i < 4; i++) {
		if (!all[i].bytes || at++ != subleaf)
			continue;
		const struct cache_leaf *c = &all[i];
		uint32_t sharing = (1u << bits_for(c->sharing)) - 1, cores = (1u << core_bits) - 1;
		out[0] = c->type | c->level << 5 | 1u << 8 | sharing << 14 | (cores > 63 ? 63 : cores) << 26;
		out[1] = 63 | (uint32_t)(c->ways - 1) << 22;
		out[2] = (uint32_t)(c->bytes / 64 / c->ways) - 1;
		out[3] = (uint32_t)c->inclusive << 1 | (uint32_t)c->complex << 2;
		return;
	}
}

static void leaf10(const struct machine *m, uint32_t out[4])
{
	if (!m->pmu_version || m->pmu_amd)
		return;
	uint32_t events = m->pmu_missing_events >> 7 ? 13 : 7;
	out[0] = (uint32_t)(m->pmu_version | m->pmu_general << 8 | m->pmu_width << 16) | events << 24;
	out[1] = (uint32_t)m->pmu_missing_events;
	if (m->pmu_version >= 2)
		out[3] = (uint32_t)(m->pmu_fixed | m->pmu_fixed_width << 5);
	if (m->pmu_version >= 5) {
		out[2] = (uint32_t)mask_of(m->pmu_fixed);
		out[3] |= 1u << 15; /* no AnyThread */
	}
}

/* Arrow Lake has the leaf with version 5 as with version 6. */
static bool has_leaf35(const struct machine *m) { return m->pmu_version >= 6 || m->pmu_second_mask; }

/* The second unit mask, and the counters as bit maps (SDM volume 2A, leaf 23H). */
static void leaf35(const struct machine *m, uint32_t subleaf, uint32_t out[4])
{
	if (!has_leaf35(m))
		return;
	if (subleaf == 0) {
		out[0] = 1u | 1u << 1 | 1u << 3;
		out[1] = (uint32_t)m->pmu_second_mask;
	} else if (subleaf == 1) {
		out[0] = (uint32_t)mask_of(m->pmu_general);
		out[1] = (uint32_t)mask_of(m->pmu_fixed);
	} else if (subleaf == 3) {
		out[0] = (m->pmu_missing_events >> 7 ? 0x1FFF : 0x7F) & ~(uint32_t)m->pmu_missing_events;
	}
}

/* Architectural last-branch records: depths of 8, 16 and 32, up to the number of pairs; linear addresses; filters; the recorded properties of a
 * branch. */
static void leaf28(const struct machine *m, uint32_t out[4])
{
	if (!m->pmu_lbr_architectural)
		return;
	out[0] = (m->pmu_lbr_pairs >= 32 ? 0xB : m->pmu_lbr_pairs >= 16 ? 0x3 : 0x1) | 1u << 31;
	out[1] = 3;
	out[2] = 7;
}

static void leaf11(const struct counters *p, uint32_t subleaf, uint32_t out[4])
{
	const struct machine *m = p->m;
	unsigned thread_bits = bits_for(m->topology_threads), core_bits = cores_bits(m);
	out[2] = subleaf & 0xFF;
	out[3] = apic_id(p);
	if (subleaf == 0) {
		out[0] = thread_bits;
		out[1] = (uint32_t)m->topology_threads;
		out[2] |= 1u << 8; /* SMT */
	} else if (subleaf == 1) {
		out[0] = thread_bits + core_bits;
		out[1] = (uint32_t)(m->topology_threads * m->topology_cores);
		out[2] |= 2u << 8; /* core */
	}
}

static void leaf13(const struct machine *m, uint32_t subleaf, uint32_t out[4])
{
	/* Component sizes and offsets of the standard (not compacted) XSAVE area. */
	static const struct { uint8_t bit; uint16_t bytes, offset; } parts[] = {
		{ 2, 256, 576 }, { 5, 64, 1088 }, { 6, 512, 1152 }, { 7, 1024, 1664 }
	};
	if (!(m->cpuid_isa & ISA_AVX))
		return;
	uint32_t components = m->cpuid_isa & ISA_AVX512 ? 0xE7 : 0x7;
	if (subleaf == 0) {
		out[0] = components;
		out[1] = out[2] = components & 0xE0 ? 2688 : 832;
	}
	for (unsigned i = 0; i < COUNT_OF(parts); i++)
		if (subleaf == parts[i].bit && components >> parts[i].bit & 1) {
			out[0] = parts[i].bytes;
			out[1] = parts[i].offset;
		}
}

/* Deterministic address translation parameters: one subleaf per existing TLB. */
#define PAGES_4K 1u
#define PAGES_2M 2u
#define PAGES_1G 8u
static void leaf24(const struct machine *m, uint32_t subleaf, uint32_t out[4])
{
	const struct { uint64_t entries, ways; uint32_t type, level, pages; } all[] = {
		{ m->dtlb_entries, m->dtlb_ways, 1, 1, PAGES_4K },
		{ m->dtlb_large_entries, m->dtlb_large_ways, 1, 1, PAGES_2M },
		{ m->dtlb_huge_entries, m->dtlb_huge_entries, 1, 1, PAGES_1G },
		{ m->itlb_entries, m->itlb_ways, 2, 1, PAGES_4K },
		{ m->itlb_large_entries, m->itlb_large_entries, 2, 1, PAGES_2M },
		{ m->stlb_entries, m->stlb_ways, 3, 2, PAGES_4K | (m->stlb_large ? PAGES_2M : 0) },
		{ m->stlb_huge_entries, m->stlb_huge_entries, 3, 2, PAGES_1G },
	};
	unsigned there = 0;
	for (unsigned i = 0; i < COUNT_OF(all); i++) {
		if (!all[i].entries)
			continue;
		if (there++ == subleaf) {
			uint64_t ways = all[i].ways < all[i].entries ? all[i].ways : all[i].entries;
			out[1] = all[i].pages | (uint32_t)ways << 16;
			out[2] = (uint32_t)(all[i].entries / ways);
			out[3] = all[i].type | all[i].level << 5 | (ways == all[i].entries ? 1u << 8 : 0);
		}
	}
	if (subleaf == 0)
		out[0] = there - 1; /* the first TLB is always there */
}

/* The code of a number of ways in 0x80000006 and 0x80000019, rounded down. */
static uint32_t ways_code(uint64_t ways, uint64_t entries)
{
	static const uint16_t coded[16] = { 0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0 };
	uint32_t code = 0;
	if (ways >= entries)
		return entries ? 15 : 0;
	for (uint32_t i = 0; i < 15; i++)
		if (coded[i] && coded[i] <= ways)
			code = i;
	return code;
}

static uint32_t most(uint64_t n, uint32_t limit)
{
	return n < limit ? (uint32_t)n : limit;
}

/* A first-level TLB of 0x80000005: ways and entries, one byte each. */
static uint32_t bytes_of(uint64_t ways, uint64_t n)
{
	return (ways >= n ? (n ? 255u : 0u) : most(ways, 254)) << 8 | most(n, 255);
}

/* The second level's entries are reported in multiples of 32 where twelve bits cannot hold their number. */
static uint64_t second_level_unit(const struct machine *m) { return m->stlb_entries > 0xFFF ? 32 : 1; }

/* A TLB of 0x80000006 and 0x80000019: data in a register's upper half, code in the lower. */
static uint32_t coded_tlb(uint64_t ways, uint64_t entries)
{
	return ways_code(ways, entries) << 12 | most(entries, 0xFFF);
}

/* Extended CPU topology: core, complex, die, socket. */
static void leaf_topology_amd(const struct counters *p, uint32_t subleaf, uint32_t out[4])
{
	const struct machine *m = p->m;
	const unsigned core = bits_for(m->topology_threads), complex = core + complex_bits(m), die = complex + die_bits(m);
	const uint64_t cores = m->topology_threads * m->topology_cores;
	const struct { unsigned shift; uint64_t logical; } level[] = {
		{ core, m->topology_threads }, { complex, cores / m->topology_complexes }, { die, cores / m->topology_dies }, { core + cores_bits(m), cores } };
	out[2] = subleaf & 0xFF;
	out[3] = apic_id(p);
	if (subleaf >= COUNT_OF(level))
		return;
	out[0] = level[subleaf].shift;
	out[1] = (uint32_t)level[subleaf].logical;
	out[2] |= (subleaf + 1) << 8;
}

static void extended_amd(const struct counters *p, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	const struct machine *m = p->m;
	switch (leaf) {
	case 0x80000000:
		out[0] = m->control_amd_topology ? AMD_HIGHEST_LEAF : 0x80000022u;
		break;
	case 0x80000001:
		out[2] |= 1u << 22; /* topology extensions: 0x8000001D and 0x8000001E */
		out[2] |= m->pmu_amd ? 1u << 23 : 0; /* PerfCtrExtCore */
		out[2] |= sim_ibs_capabilities(m) ? 1u << 10 : 0; /* IBS */
		out[2] |= str_equal(m->pmu_uncore, "fabric") ? 1u << 24 | 1u << 28 : 0; /* PerfCtrExtDF, PerfCtrExtLLC */
		break;
	case 0x80000007:
		out[3] |= m->control_turbo_ratio ? 1u << 9 : 0; /* core performance boost */
		break;
	case 0x80000005:
		out[0] = bytes_of(m->dtlb_large_ways, m->dtlb_large_entries) << 16 | bytes_of(m->itlb_large_entries, m->itlb_large_entries);
		out[1] = bytes_of(m->dtlb_ways, m->dtlb_entries) << 16 | bytes_of(m->itlb_ways, m->itlb_entries);
		out[2] = most(m->l1d_bytes >> 10, 255) << 24 | most(m->l1d_ways, 254) << 16 | 1u << 8 | 64;
		out[3] = most(m->l1i_bytes >> 10, 255) << 24 | most(m->l1i_ways, 254) << 16 | 1u << 8 | 64;
		break;
	case 0x80000006:
		out[0] = m->stlb_large ? coded_tlb(m->stlb_ways, m->stlb_entries / second_level_unit(m)) << 16 : 0;
		out[1] = coded_tlb(m->stlb_ways, m->stlb_entries / second_level_unit(m)) << 16;
		out[2] = most(m->l2_bytes >> 10, 0xFFFF) << 16 | ways_code(m->l2_ways, m->l2_bytes / 64) << 12 | 1u << 8 | 64;
		out[3] = most(m->l3_bytes * m->topology_complexes >> 19, 0x3FFF) << 18 | ways_code(m->l3_ways, m->l3_bytes / 64) << 12 | 1u << 8 | 64;
		break;
	case 0x80000008:
		out[2] = (bits_for(m->topology_threads) + cores_bits(m)) << 12 | (uint32_t)(m->topology_threads * m->topology_cores - 1);
		break;
	case 0x80000019:
		out[0] = coded_tlb(m->dtlb_huge_entries, m->dtlb_huge_entries) << 16;
		out[1] = coded_tlb(m->stlb_huge_entries, m->stlb_huge_entries / second_level_unit(m)) << 16;
		break;
	case 0x8000001B:
		out[0] = sim_ibs_capabilities(m);
		break;
	case 0x8000001D:
		leaf4(p, subleaf, out);
		out[0] &= 0x3FFFFFF; /* no number of cores */
		out[3] &= 3;
		break;
	case 0x80000021:
		/* LFENCE serialises dispatch; PrefetchControl; L2TlbSizeX32 */
		out[0] = 1u << 2 | (uint32_t)m->control_prefetch_amd << 13 | (uint32_t)(second_level_unit(m) > 1) << 14;
		break;
	case 0x80000022:
		out[0] = m->pmu_amd && m->pmu_version >= 2; /* PerfMonV2 */
		out[1] = out[0] ? (uint32_t)m->pmu_general & 0xF : 0;
		out[0] |= m->pmu_lbr_pairs ? 2 : 0; /* LbrExtV2 */
		out[1] |= (uint32_t)m->pmu_lbr_pairs << 4;
		if (out[0] && str_equal(m->pmu_uncore, "fabric")) { /* four counters of the fabric, four of each memory controller; the mask of controllers */
			out[1] |= 4u << 10 | most(4 * m->dram_channels, 63) << 16;
			out[2] = (1u << m->dram_channels) - 1;
		}
		break;
	case 0x8000001E:
		out[0] = apic_id(p);
		out[1] = apic_id(p) / (1u << bits_for(m->topology_threads)) % (1u << cores_bits(m)) |
			(uint32_t)(m->topology_threads - 1) << 8;
		out[2] = p->thread / (uint32_t)(m->topology_threads * m->topology_cores) & 0xFF; /* NodeId; one node per socket */
		break;
	case 0x80000026:
		if (m->control_amd_topology)
			leaf_topology_amd(p, subleaf, out);
		break;
	}
}

static void extended(const struct machine *m, uint32_t leaf, uint32_t out[4])
{
	uint32_t isa = (uint32_t)m->cpuid_isa;
	char brand[48] = { 0 };
	switch (leaf) {
	case 0x80000000:
		out[0] = 0x80000008;
		break;
	case 0x80000001:
		out[2] = 1u | (isa & ISA_PREFETCHW ? 1u << 8 : 0); /* LAHF */
		out[3] = 1u << 11 | 1u << 20 | 1u << 29; /* SYSCALL, NX, long mode */
		out[3] |= isa & ISA_1G ? 1u << 26 : 0;
		out[3] |= isa & ISA_RDTSCP ? 1u << 27 : 0;
		break;
	case 0x80000002: case 0x80000003: case 0x80000004:
		str_copy(brand, sizeof(brand), m->machine_brand);
		for (unsigned i = 0; i < 4; i++)
			out[i] = letters(brand, 16 * (leaf - 0x80000002) + 4 * i);
		break;
	case 0x80000006: {
		uint32_t code = m->l2_ways >= 16 ? 8 : m->l2_ways >= 8 ? 6 : m->l2_ways >= 4 ? 4 : 2;
		out[2] = 64 | code << 12 | (uint32_t)(m->l2_bytes >> 10) << 16;
		break;
	}
	case 0x80000007:
		out[3] = m->control_invariant_tsc ? 1u << 8 : 0;
		break;
	case 0x80000008:
		out[0] = (uint32_t)m->control_physical_bits | 48u << 8;
		break;
	}
}

void counters_cpuid(const struct counters *p, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	const struct machine *m = p->m;
	uint32_t highest = p->misc_enable & MISC_LIMIT_CPUID && m->control_highest_leaf > 3 ? 3 : (uint32_t)m->control_highest_leaf;
	memset(out, 0, 4 * sizeof(out[0]));
	if (leaf >= 0x80000000 && leaf <= (is_amd(m) ? AMD_HIGHEST_LEAF : 0x80000008)) {
		extended(m, leaf, out);
		if (is_amd(m))
			extended_amd(p, leaf, subleaf, out);
		return;
	}
	if (is_amd(m) && (leaf > highest || leaf == 2 || leaf == 4 || leaf == 0x18))
		return;
	if (leaf > highest)
		leaf = highest; /* Intel: data of the highest basic leaf */
	switch (leaf) {
	case 0:
		out[0] = highest;
		out[1] = letters(m->cpuid_vendor, 0);
		out[3] = letters(m->cpuid_vendor, 4);
		out[2] = letters(m->cpuid_vendor, 8);
		break;
	case 1:
		leaf1(p, out);
		break;
	case 2:
		out[0] = 0x0000FF01; /* one call; caches: see leaf 4 */
		break;
	case 4:
		leaf4(p, subleaf, out);
		break;
	case 5:
		out[0] = out[1] = 64;
		out[2] = 3;
		break;
	case 6:
		out[0] = 1u | (m->control_turbo_ratio && (p->misc_enable >> 38 & 1) == 0 ? 2u : 0); /* digital sensor, turbo unless switched off */
		out[0] |= m->control_hwp ? 1u << 7 | 1u << 9 | 1u << 10 | 1u << 11 : 0; /* HWP with window, preference and the package's request */
		out[2] = m->control_aperf_mperf ? 1 : 0;
		break;
	case 7:
		if (subleaf == 1)
			out[0] = has_leaf35(m) ? 1u << 8 : 0;
		if (subleaf)
			break;
		out[1] = m->cpuid_isa & ISA_AVX2 ? 1u << 5 : 0;
		out[1] |= m->cpuid_isa & ISA_AVX512 ? 1u << 16 | 1u << 17 | 1u << 31 : 0; /* F, DQ, VL */
		out[1] |= m->cpuid_isa & ISA_CLFLUSHOPT ? 1u << 23 : 0;
		out[3] = m->topology_small_cores ? 1u << 15 : 0; /* hybrid */
		out[3] |= (uint32_t)m->pmu_lbr_architectural << 19 | (uint32_t)m->pmu_tsx_counter << 13;
		break;
	case 10:
		leaf10(m, out);
		break;
	case 11:
		if (m->control_x2apic)
			leaf11(p, subleaf, out);
		break;
	case 13:
		leaf13(m, subleaf, out);
		break;
	case 0x16:
		out[0] = (uint32_t)(m->core_hz / 1000000);
		out[1] = (uint32_t)(m->control_turbo_ratio ? m->control_turbo_ratio * (m->clock_bus_hz_times_3 / 3) / 1000000 : out[0]);
		out[2] = (uint32_t)(m->clock_bus_hz_times_3 / 3000000);
		break;
	case 0x18:
		leaf24(m, subleaf, out);
		break;
	case 0x1A:
		out[0] = (uint32_t)m->cpuid_core_kind;
		break;
	case 0x1C:
		leaf28(m, out);
		break;
	case 0x23:
		leaf35(m, subleaf, out);
		break;
	}
}
