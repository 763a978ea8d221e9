/* pmu/core/cpu.c: identification from CPUID dumps of several vendors, and from invalid leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "asm/kernel.h"
#include "pmu/core/cpu.h"
#include "pmu/text.h"
#include "tests/unit/support/fake_access.h"

#define INTEL  0x756e6547, 0x6c65746e, 0x49656e69 /* EBX, ECX, EDX of leaf 0 */
#define AMD    0x68747541, 0x444d4163, 0x69746e65

/* Xeon X5570, stepping D0: caches, TLB descriptors and PMU as this processor reports them. */
static const struct fake_leaf nehalem[] = {
	{ 0, 0, { 0xB, INTEL } },
	{ 1, 0, { 0x000106A5, 0x00100800, 0x009CE3BD, 0xBFEBFBFF } },
	{ 2, 0, { 0x55035A01, 0x00F0B2E4, 0x00000000, 0x09CA212C } },
	{ 4, 0, { 0x1C004121, 0x01C0003F, 0x0000003F, 0 } },
	{ 4, 1, { 0x1C004122, 0x00C0003F, 0x0000007F, 0 } },
	{ 4, 2, { 0x1C004143, 0x01C0003F, 0x000001FF, 0 } },
	{ 4, 3, { 0x1C03C163, 0x03C0003F, 0x00001FFF, 2 } },
	{ 0xA, 0, { 0x07300403, 0x00000044, 0, 0x00000603 } },
	{ 0xB, 0, { 1, 2, 0x100, 0 } },
	{ 0xB, 1, { 4, 8, 0x201, 0 } },
	{ 0x80000000u, 0, { 0x80000008u, 0, 0, 0 } },
	{ 0x80000001u, 0, { 0, 0, 1, 0x28100800 } },
	{ 0x80000002u, 0, { 0x65746E49, 0x2952286C, 0x6F655820, 0x2952286E } },
	{ 0x80000003u, 0, { 0x55504320, 0x20202020, 0x20202020, 0x58202020 } },
	{ 0x80000004u, 0, { 0x30373535, 0x20402020, 0x33392E32, 0x007A4847 } },
	{ 0x80000008u, 0, { 0x00003028, 0, 0, 0 } },
};

static enum status identify(struct fake *f, const struct fake_leaf *leaves, unsigned n, struct cpu *cpu)
{
	f->leaves = leaves;
	f->leaf_count = n;
	return cpu_identify(&f->access, cpu);
}

/* Pentium 4 "Prescott" with IA32_MISC_ENABLE[22] set: leaf 4 is hidden, leaf 2 describes caches and TLBs. */
static const struct fake_leaf prescott_limited[] = {
	{ 0, 0, { 3, INTEL } },
	{ 1, 0, { 0x00000F41, 0x00010800, 0x0000659D, 0xBFEBFBFF } },
	{ 2, 0, { 0x605B5001, 0x00000000, 0x00000000, 0x007D7040 } },
	{ 0x80000000u, 0, { 0x80000008u, 0, 0, 0 } },
};

static void test_cpu_caches_of_leaf_2_where_leaf_4_is_hidden(void **state)
{
	(void)state;
	struct fake f;
	struct cpu cpu;
	fake_init(&f, 1);
	fake_msr(&f, 0, 0x1A0, 0x400081);
	assert_int_equal(identify(&f, prescott_limited, COUNT_OF(prescott_limited), &cpu), ST_OK);
	assert_int_equal(cpu.cache_count, 2);
	assert_int_equal(cpu.caches[0].level, 1);
	assert_int_equal(cpu.caches[0].type, 'D');
	assert_int_equal(cpu.caches[0].bytes, 16 * 1024);
	assert_int_equal(cpu.caches[0].line_bytes, 64);
	assert_int_equal(cpu.caches[1].level, 2);
	assert_int_equal(cpu.caches[1].bytes, 2048 * 1024);
	assert_int_equal(cpu.caches[1].ways, 8);
	assert_int_equal(cpu.tlb.dtlb_4k, 64);
	/* counters whose registers fault, as in an emulator, are not used */
	assert_int_equal(cpu.general_counters, 0);
	assert_non_null(strstr(cpu.pmu_absent, "do not answer"));
}

static void test_cpu_nehalem_ep_is_identified(void **state)
{
	(void)state;
	struct fake f;
	struct cpu cpu;
	fake_init(&f, 1);
	fake_msr(&f, 0, 0x8B, 0x1900000000ull);
	fake_msr(&f, 0, 0x1A0, 0x850089);
	fake_msr(&f, 0, 0x345, 0x10C1);
	assert_int_equal(identify(&f, nehalem, COUNT_OF(nehalem), &cpu), ST_OK);
	assert_string_equal(cpu.vendor, "GenuineIntel");
	assert_string_equal(cpu.brand, "Intel(R) Xeon(R) CPU           X5570  @ 2.93GHz");
	assert_int_equal(cpu.family, 6);
	assert_int_equal(cpu.model, 0x1A);
	assert_int_equal(cpu.stepping, 5);
	assert_string_equal(cpu.processor->name, "nehalem-ep");
	assert_int_equal(cpu.microcode, 0x19);
	assert_int_equal(cpu.cache_count, 4);
	assert_int_equal(cpu_cache(&cpu, 1)->bytes, 32768);
	assert_int_equal(cpu_cache(&cpu, 1)->type, 'D');
	assert_int_equal(cpu_cache(&cpu, 1)->ways, 8);
	assert_int_equal(cpu_cache(&cpu, 2)->bytes, 262144);
	assert_int_equal(cpu_cache(&cpu, 3)->bytes, 8u << 20);
	assert_int_equal(cpu_cache(&cpu, 3)->ways, 16);
	assert_int_equal(cpu_cache(&cpu, 3)->shared_by, 16);
	assert_true(cpu_cache(&cpu, 3)->inclusive);
	assert_null(cpu_cache(&cpu, 4));
	assert_int_equal(cpu_last_level(&cpu), 3);
	assert_int_equal(cpu.tlb.dtlb_4k, 64);
	assert_int_equal(cpu.tlb.dtlb_2m, 32);
	assert_int_equal(cpu.tlb.stlb_4k, 512);
	assert_int_equal(cpu.pmu_version, 3);
	assert_int_equal(cpu.general_counters, 4);
	assert_int_equal(cpu.general_width, 48);
	assert_int_equal(cpu.general_mask, 0xF);
	assert_int_equal(cpu.fixed_counters, 3);
	assert_int_equal(cpu.fixed_width, 48);
	assert_int_equal(cpu.arch_events_missing, 0xFFFFFFC4u); /* AAJ80: bit 6; the vector has 7 bits */
	assert_int_equal(cpu.perf_capabilities, 0x10C1);
	assert_null(cpu.pmu_absent);
	assert_int_equal(cpu.threads_per_core, 2);
	assert_int_equal(cpu.threads_per_package, 8);
	assert_int_equal(cpu.physical_address_bits, 40);
	assert_int_equal(cpu.isa, ISA_SSSE3 | ISA_SSE41 | ISA_POPCNT | ISA_RDTSCP);
	assert_false(cpu.hypervisor);
	assert_int_equal(f.log_count, 0); /* identification writes nothing */
}

/* Counters beyond the descriptor's are not used, because the guard refuses writes to their registers. */
static void test_cpu_counters_that_no_descriptor_lists_are_not_used(void **state)
{
	(void)state;
	struct fake_leaf leaves[COUNT_OF(nehalem)];
	struct fake f;
	struct cpu cpu;
	memcpy(leaves, nehalem, sizeof(leaves));
	for (unsigned i = 0; i < COUNT_OF(leaves); i++)
		if (leaves[i].leaf == 0xA) {
			leaves[i].regs.eax = 0x07300803; /* 8 general counters */
			leaves[i].regs.edx = 0x00000605; /* 5 fixed ones */
		}
	fake_init(&f, 1);
	fake_msr(&f, 0, 0x1A0, 0x850089);
	fake_msr(&f, 0, 0x345, 0x30C1); /* full-width writes, at 0x4C1 */
	assert_int_equal(identify(&f, leaves, COUNT_OF(leaves), &cpu), ST_OK);
	assert_int_equal(cpu.general_mask, 0xF);
	assert_int_equal(cpu.general_counters, 4);
	assert_int_equal(cpu.fixed_mask, 7);
	assert_int_equal(cpu.unlisted, 0x18000000F0ull);
	assert_int_equal(cpu.perf_capabilities, 0x10C1);
}

/* Leaf 0x23 as Arrow Lake-H reports it on its three kinds of cores (CPUID in InstLatx64, commit 087af2c), with and without what leads to it. */
static void test_cpu_fields_of_selects_are_those_of_leaf_23(void **state)
{
	(void)state;
	static const struct { uint32_t highest, seven, eax, ebx, general, fixed; uint64_t bits; uint32_t general_mask, fixed_mask; } cases[] = {
		{ 0x23, 1u << 8, 0xB, 3, 0x3FF, 0xF, CPU_SELECT_MASK2 | CPU_SELECT_EQUAL, 0x3FF, 0xF },   /* large */
		{ 0x23, 1u << 8, 0xF, 3, 0xFF, 0x77, CPU_SELECT_MASK2 | CPU_SELECT_EQUAL, 0xFF, 0x77 },   /* small */
		{ 0x23, 1u << 8, 0xB, 0, 0xFF, 0x7, 0, 0xFF, 0x7 },                                       /* small, of low power */
		{ 0x23, 1u << 8, 0xB, 1, 0x3FF, 0xF, CPU_SELECT_MASK2, 0x3FF, 0xF },
		{ 0x23, 1u << 8, 0xB, 2, 0x3FF, 0xF, CPU_SELECT_EQUAL, 0x3FF, 0xF },
		{ 0x23, 1u << 8, 0x1, 1, 0x3FF, 0xF, CPU_SELECT_MASK2, 0xFF, 0x7 },                       /* no subleaf 1: counters of leaf 0xA */
		{ 0x23, 1u << 8, 0xB, 1, 0, 0xF, CPU_SELECT_MASK2, 0xFF, 0x7 },                           /* a subleaf 1 without counters */
		{ 0x23, 0, 0xB, 3, 0x3FF, 0xF, 0, 0xFF, 0x7 },                                            /* leaf 7 denies the leaf */
		{ 0x22, 1u << 8, 0xB, 3, 0x3FF, 0xF, 0, 0xFF, 0x7 },                                      /* a hypervisor's limit */
	};
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		const struct fake_leaf leaves[] = {
			{ 0, 0, { cases[i].highest, INTEL } }, { 1, 0, { 0x000B06D1, 0, 0, 0 } }, { 7, 0, { 1, 0, 0, 0 } }, { 7, 1, { cases[i].seven, 0, 0, 0 } },
			{ 0xA, 0, { 0x07300805, 0, 7, 0x00008603 } }, { 0x1A, 0, { 0x40000003, 0, 0, 0 } },
			{ 0x23, 0, { cases[i].eax, cases[i].ebx, 0, 0 } }, { 0x23, 1, { cases[i].general, cases[i].fixed, 0, 0 } },
		};
		struct fake f;
		struct cpu cpu;
		fake_init(&f, 1);
		fake_msr(&f, 0, 0x1A0, 0x850089);
		assert_int_equal(identify(&f, leaves, COUNT_OF(leaves), &cpu), ST_OK);
		assert_string_equal(cpu.processor->name, "lunar-lake-p");
		if (cpu.select_bits != cases[i].bits || cpu.general_mask != cases[i].general_mask || cpu.fixed_mask != cases[i].fixed_mask)
			fail_msg("case %u: 0x%llX, counters 0x%X, 0x%X", i, (unsigned long long)cpu.select_bits, cpu.general_mask, cpu.fixed_mask);
		cpu_without_counters(&cpu);
		assert_int_equal(cpu.select_bits, 0);
	}
}

static void test_cpu_microcode_and_pmu_need_no_msr(void **state)
{
	(void)state;
	struct fake f;
	struct cpu cpu;
	fake_init(&f, 1); /* every RDMSR faults */
	assert_int_equal(identify(&f, nehalem, COUNT_OF(nehalem), &cpu), ST_OK);
	assert_int_equal(cpu.microcode, 0);
	assert_int_equal(cpu.perf_capabilities, 0);
	assert_int_equal(cpu.pmu_version, 3);
}

static void test_cpu_pmu_that_firmware_switched_off_is_said(void **state)
{
	(void)state;
	struct fake f;
	struct cpu cpu;
	fake_init(&f, 1);
	fake_msr(&f, 0, 0x1A0, 0x850009);
	assert_int_equal(identify(&f, nehalem, COUNT_OF(nehalem), &cpu), ST_OK);
	assert_int_equal(cpu.pmu_version, 0);
	assert_non_null(strstr(cpu.pmu_absent, "bit 7"));
}

/* Leaves above 3 appear when IA32_MISC_ENABLE bit 22 is cleared, and disappear when it is set again. */
static bool limited(struct fake *f, uint32_t leaf, struct cpuid_regs *out)
{
	if (!(fake_value(f, 0, 0x1A0) >> 22 & 1) || leaf >= 0x80000000u)
		return false;
	if (leaf == 0)
		*out = (struct cpuid_regs){ 3, INTEL };
	return leaf == 0 || leaf > 3;
}

static void test_cpu_leaves_hidden_by_firmware_are_found_and_hidden_again(void **state)
{
	(void)state;
	struct fake f;
	struct cpu cpu;
	fake_init(&f, 1);
	fake_msr(&f, 0, 0x1A0, 0x850089 | 1 << 22);
	f.cpuid_hook = limited;
	assert_int_equal(identify(&f, nehalem, COUNT_OF(nehalem), &cpu), ST_OK);
	assert_int_equal(cpu.pmu_version, 3);
	assert_int_equal(cpu.cache_count, 4);
	assert_int_equal(fake_value(&f, 0, 0x1A0), 0x850089 | 1 << 22);
	assert_int_equal(f.log_count, 2);
}

/* Leaves of a Xeon Platinum 8180 (Skylake-SP, stepping 4). XCR0 = 0xE7. */
static struct fake_leaf skylake[] = {
	{ 0, 0, { 0x16, INTEL } },
	{ 1, 0, { 0x00050654, 0, 0x7FFEFBFF, 0xBFEBFBFF } },
	{ 2, 0, { 0x76036301, 0x00F0B5FF, 0, 0x00C30000 } },
	{ 4, 0, { 0x7C004121, 0x01C0003F, 0x3F, 0 } },
	{ 4, 1, { 0x7C004122, 0x01C0003F, 0x3F, 0 } },
	{ 4, 2, { 0x7C004143, 0x03C0003F, 0x3FF, 0 } },
	{ 4, 3, { 0x7C0FC163, 0x0280003F, 0xDFFF, 4 } },
	{ 7, 0, { 0, 0xD39FFFFB, 8, 0 } },
	{ 0xA, 0, { 0x07300404, 0, 0, 0x00000603 } },
	{ 0xD, 0, { 0x2E7, 0xA80, 0xA88, 0 } },
	{ 0xD, 2, { 0x100, 0x240, 0, 0 } },
	{ 0xD, 5, { 0x40, 0x440, 0, 0 } },
	{ 0xD, 6, { 0x200, 0x480, 0, 0 } },
	{ 0xD, 7, { 0x400, 0x680, 0, 0 } },
	{ 0xD, 9, { 0x8, 0xA80, 0, 0 } },
	{ 0x80000000u, 0, { 0x80000008u, 0, 0, 0 } },
	{ 0x80000001u, 0, { 0, 0, 0x121, 0x2C100800 } },
	{ 0x80000008u, 0, { 0x0000302E, 0, 0, 0 } },
};

static struct fake_leaf *skylake_leaf(uint32_t leaf, uint32_t sub)
{
	for (unsigned i = 0; i < COUNT_OF(skylake); i++)
		if (skylake[i].leaf == leaf && skylake[i].subleaf == sub)
			return &skylake[i];
	return NULL;
}

static void test_cpu_vector_units_count_only_when_the_system_enables_them(void **state)
{
	(void)state;
	struct fake f;
	struct cpu cpu;
	const uint32_t all = ISA_AVX | ISA_AVX2 | ISA_FMA | ISA_AVX512;
	fake_init(&f, 1);
	assert_int_equal(identify(&f, skylake, COUNT_OF(skylake), &cpu), ST_OK);
	assert_string_equal(cpu.processor->name, "skylake-sp");
	assert_int_equal(cpu.isa & all, all);
	assert_true(cpu.isa & ISA_1G && cpu.isa & ISA_CLFLUSHOPT && cpu.isa & ISA_PREFETCHW);
	assert_int_equal(cpu_cache(&cpu, 3)->bytes, 11ull * 64 * 0xE000);
	assert_int_equal(cpu.tlb.stlb_4k, 1536);
	assert_int_equal(cpu.tlb.dtlb_1g, 4);
	skylake_leaf(0xD, 0)->regs.ebx = 0x340; /* XCR0 = 7: no ZMM */
	assert_int_equal(identify(&f, skylake, COUNT_OF(skylake), &cpu), ST_OK);
	assert_int_equal(cpu.isa & all, ISA_AVX | ISA_AVX2 | ISA_FMA);
	skylake_leaf(0xD, 0)->regs.ebx = 0x240; /* XCR0 = 3 */
	assert_int_equal(identify(&f, skylake, COUNT_OF(skylake), &cpu), ST_OK);
	assert_int_equal(cpu.isa & all, 0);
	skylake_leaf(0xD, 0)->regs.ebx = 0xA80;
	skylake_leaf(1, 0)->regs.ecx &= ~(1u << 27); /* no OSXSAVE */
	assert_int_equal(identify(&f, skylake, COUNT_OF(skylake), &cpu), ST_OK);
	assert_int_equal(cpu.isa & all, 0);
	skylake_leaf(1, 0)->regs.ecx |= 1u << 27;
}

static void test_cpu_stepping_decides_between_descriptors(void **state)
{
	(void)state;
	struct fake f;
	struct cpu cpu;
	fake_init(&f, 1);
	static const struct { uint32_t signature; const char *name; } steppings[] = { { 0x00050654, "skylake-sp" }, { 0x00050655, "cascade-lake" },
		{ 0x0005065B, "cascade-lake" }, { 0x0005065C, "intel" } };

	for (unsigned i = 0; i < COUNT_OF(steppings); i++) {
		skylake_leaf(1, 0)->regs.eax = steppings[i].signature;
		assert_int_equal(identify(&f, skylake, COUNT_OF(skylake), &cpu), ST_OK);
		assert_string_equal(cpu.processor->name, steppings[i].name);
		assert_int_equal(cpu.processor->prefetch_msr, i < 3 ? 0x1A4 : 0);
	}
	skylake_leaf(1, 0)->regs.eax = 0x00050654;
}

static void test_cpu_unknown_vendor_and_nothing_else_is_still_ok(void **state)
{
	(void)state;
	static const struct fake_leaf bare[] = { { 0, 0, { 1, 0x01020304, 0xFFFFFFFF, 0x20202020 } }, { 1, 0, { 0, 0, 0, 0 } } };
	struct fake f;
	struct cpu cpu;
	fake_init(&f, 1);
	assert_int_equal(identify(&f, bare, COUNT_OF(bare), &cpu), ST_OK);
	assert_string_equal(cpu.processor->name, "x86-64");
	assert_int_equal(strlen(cpu.vendor), 12);
	for (unsigned i = 0; i < 12; i++)
		assert_true(cpu.vendor[i] >= ' ' && cpu.vendor[i] < 127);
	assert_int_equal(cpu.cache_count, 0);
	assert_int_equal(cpu_last_level(&cpu), 0);
	assert_int_equal(cpu.physical_address_bits, 36);
}

static void test_cpu_family_model_and_kind_choose_the_descriptor(void **state)
{
	(void)state;
	/* kind: leaf 0x1A of the core that runs the program, which selects the descriptor if a model has cores of several kinds */
	static const struct { uint32_t signature; uint16_t family, model; const char *name; uint32_t kind; } cases[] = {
		{ 0x00090672, 6, 0x97, "alder-lake-p", 0x40000001 }, { 0x000B0671, 6, 0xB7, "alder-lake-e", 0x20000001 },
		{ 0x00090672, 6, 0x97, "alder-lake-p", 0 }, { 0x000B06E0, 6, 0xBE, "alder-lake-n", 0 }, { 0x000A06A4, 6, 0xAA, "meteor-lake-e", 0x20000002 },
		{ 0x000C0652, 6, 0xC5, "arrow-lake-p", 0x40000003 }, { 0x000C0652, 6, 0xC5, "arrow-lake-e", 0x20000003 },
		{ 0x000C0652, 6, 0xC5, "arrow-lake-lpe", 0x20000002 }, { 0x000C0652, 6, 0xC5, "intel", 0x20000009 },
		{ 0x000B06D1, 6, 0xBD, "lunar-lake-e", 0x20000003 }, { 0x000A06F3, 6, 0xAF, "sierra-forest", 0x20000002 }, { 0x000506F1, 6, 0x5F, "goldmont", 0 },
		{ 0x000106A5, 6, 0x1A, "nehalem-ep", 0 }, { 0x000106E5, 6, 0x1E, "nehalem-ep", 0 }, { 0x0001067A, 6, 0x17, "core2", 0 },
		{ 0x000006F6, 6, 0x0F, "core2", 0 }, { 0x00000F43, 15, 4, "pentium4", 0 }, { 0x00000F29, 15, 2, "intel", 0 },
		{ 0x000306F2, 6, 0x3F, "haswell-ep", 0 }, { 0x000206C2, 6, 0x2C, "westmere-ep", 0 }, { 0x000206D7, 6, 0x2D, "sandy-bridge-ep", 0 },
		{ 0x000306E4, 6, 0x3E, "ivy-bridge-ep", 0 }, { 0x000306C3, 6, 0x3C, "haswell", 0 }, { 0x000406F1, 6, 0x4F, "broadwell-ep", 0 }, { 0x000906EA, 6, 0x9E, "skylake", 0 },
		{ 0x00050654, 6, 0x55, "skylake-sp", 0 }, { 0x00050657, 6, 0x55, "cascade-lake", 0 }, { 0x000606A6, 6, 0x6A, "ice-lake-sp", 0 }, { 0x000806F8, 6, 0x8F, "sapphire-rapids", 0 },
		{ 0x00300F10, 18, 1, "nova-lake-p", 0x40000005 }, { 0x00300F30, 18, 3, "nova-lake-e", 0x20000005 }, { 0x00300F20, 18, 2, "intel", 0x40000005 },
		{ 0x00A10F11, 0x19, 0x11, "intel", 0 },
	};
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		struct fake_leaf leaves[2] = { { 0, 0, { cases[i].kind ? 0x1A : 1, INTEL } }, { 1, 0, { cases[i].signature, 0, 0, 0 } } };
		struct fake f;
		struct cpu cpu;
		fake_init(&f, 1);
		f.kinds = &cases[i].kind;
		assert_int_equal(identify(&f, leaves, 2, &cpu), ST_OK);
		assert_int_equal(cpu.family, cases[i].family);
		assert_int_equal(cpu.model, cases[i].model);
		assert_string_equal(cpu.processor->name, cases[i].name);
	}
}

/* Identifies the Nehalem with one leaf replaced by impossible values. */
static void identify_with(uint32_t leaf, uint32_t sub, struct cpuid_regs regs, struct cpu *cpu)
{
	struct fake f;
	struct fake_leaf leaves[COUNT_OF(nehalem)];
	bool found = false;
	memcpy(leaves, nehalem, sizeof(nehalem));
	for (unsigned i = 0; i < COUNT_OF(leaves); i++)
		if (leaves[i].leaf == leaf && leaves[i].subleaf == sub) {
			leaves[i].regs = regs;
			found = true;
		}
	assert_true(found);
	fake_init(&f, 1);
	assert_int_equal(identify(&f, leaves, COUNT_OF(leaves), cpu), ST_OK);
}

static void test_cpu_single_impossible_values_are_left_out(void **state)
{
	(void)state;
	struct cpu cpu;
	identify_with(0xA, 0, (struct cpuid_regs){ 0x07302803, 0x44, 0, 0x603 }, &cpu); /* 40 general counters */
	assert_int_equal(cpu.pmu_version, 0);
	assert_non_null(cpu.pmu_absent);
	identify_with(0xA, 0, (struct cpuid_regs){ 0x07300403, 0x44, 0, 0x61F }, &cpu); /* 31 fixed counters */
	assert_int_equal(cpu.pmu_version, 3);
	assert_int_equal(cpu.fixed_mask, 0);
	identify_with(4, 3, (struct cpuid_regs){ 0x1C03C163, 0x03C0003F, 0xFFFFFFFF, 2 }, &cpu); /* an L3 of 4 TiB */
	assert_int_equal(cpu_last_level(&cpu), 2);
	identify_with(4, 3, (struct cpuid_regs){ 0x1C03C143, 0x03C0003F, 0x1FFF, 2 }, &cpu); /* a second L2 */
	assert_int_equal(cpu_cache(&cpu, 2)->bytes, 262144);
	assert_int_equal(cpu.cache_count, 3);
	identify_with(2, 0, (struct cpuid_regs){ 0x55035A01, 0x00F0B2E4, 0, 0x89C3212C }, &cpu); /* EDX is not valid */
	assert_int_equal(cpu.tlb.stlb_4k, 512); /* the descriptor's, not 0xC3's 1536 */
	identify_with(0x80000008u, 0, (struct cpuid_regs){ 0x30FF, 0, 0, 0 }, &cpu);
	assert_int_equal(cpu.physical_address_bits, 36);
	identify_with(0, 0, (struct cpuid_regs){ 0xFFFFFFFF, INTEL }, &cpu); /* then only leaf 1 is trusted */
	assert_string_equal(cpu.processor->name, "nehalem-ep");
	assert_int_equal(cpu.pmu_version, 0);
	assert_int_equal(cpu.cache_count, 0);
}

static uint64_t noise;
static uint32_t noisy(void)
{
	noise = noise * 6364136223846793005ull + 1442695040888963407ull;
	uint32_t v = (uint32_t)(noise >> 32);
	switch (noise >> 29 & 7) {
	case 0: return 0;
	case 1: return 0xFFFFFFFFu;
	case 2: return v & 0xFF;
	default: return v;
	}
}

static bool nonsense(struct fake *f, uint32_t leaf, struct cpuid_regs *out)
{
	(void)f;
	*out = (struct cpuid_regs){ noisy(), noisy(), noisy(), noisy() };
	if (leaf == 0) {
		*out = (struct cpuid_regs){ noisy() & 1 ? noisy() : 0x24, INTEL };
		if (noise >> 40 & 1)
			*out = (struct cpuid_regs){ 0x24, AMD };
	}
	if (leaf == 0x80000000u && noise >> 41 & 1)
		out->eax = 0x80000028u;
	return true;
}

/* Whatever the leaves contain, the result is within the bounds that its users rely on. */
static void test_cpu_nonsense_is_left_out(void **state)
{
	(void)state;
	struct fake f;
	struct cpu cpu;
	fake_init(&f, 1);
	f.cpuid_hook = nonsense;
	for (noise = 1; noise < 1ull << 40; noise += 0x5000001) {
		uint64_t from = noise;
		assert_int_equal(cpu_identify(&f.access, &cpu), ST_OK);
		assert_non_null(cpu.processor);
		assert_true(cpu.cache_count <= CPU_CACHES_MAX);
		for (unsigned i = 0; i < cpu.cache_count; i++) {
			const struct cpu_cache *c = &cpu.caches[i];
			assert_true(c->level >= 1 && c->level <= 4 && strchr("DIU", c->type) && c->ways);
			assert_true(c->line_bytes >= 16 && c->line_bytes <= 1024 && (c->line_bytes & (c->line_bytes - 1)) == 0);
			assert_true(c->bytes >= 1024 && c->bytes <= 1ull << 34);
		}
		assert_true(cpu.general_counters <= 32 && cpu.fixed_counters <= 16 && cpu.pmu_version <= 15);
		assert_true(cpu.pmu_version == 0 || (cpu.general_width >= 32 && cpu.general_width <= 64 && cpu.general_mask));
		assert_true((cpu.pmu_version == 0) == (cpu.pmu_absent != NULL));
		assert_true(cpu.physical_address_bits >= 32 && cpu.physical_address_bits <= 52);
		assert_true(cpu.tlb.dtlb_4k <= 0x8000 && cpu.tlb.stlb_4k <= 0x8000);
		assert_true(strlen(cpu.brand) <= 48);
		noise = from + ((noise & 0xFFFF) << 24);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_caches_of_leaf_2_where_leaf_4_is_hidden),
		cmocka_unit_test(test_cpu_nehalem_ep_is_identified),
		cmocka_unit_test(test_cpu_counters_that_no_descriptor_lists_are_not_used),
		cmocka_unit_test(test_cpu_fields_of_selects_are_those_of_leaf_23),
		cmocka_unit_test(test_cpu_microcode_and_pmu_need_no_msr),
		cmocka_unit_test(test_cpu_pmu_that_firmware_switched_off_is_said),
		cmocka_unit_test(test_cpu_leaves_hidden_by_firmware_are_found_and_hidden_again),
		cmocka_unit_test(test_cpu_vector_units_count_only_when_the_system_enables_them),
		cmocka_unit_test(test_cpu_stepping_decides_between_descriptors),
		cmocka_unit_test(test_cpu_unknown_vendor_and_nothing_else_is_still_ok),
		cmocka_unit_test(test_cpu_family_model_and_kind_choose_the_descriptor),
		cmocka_unit_test(test_cpu_single_impossible_values_are_left_out),
		cmocka_unit_test(test_cpu_nonsense_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
