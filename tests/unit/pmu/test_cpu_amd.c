/* pmu/core/cpu.c: identification of AMD's processors, which report caches and TLBs in leaves of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "asm/kernel.h"
#include "pmu/core/cpu.h"
#include "pmu/text.h"
#include "tests/unit/support/fake_access.h"

#define AMD    0x68747541, 0x444d4163, 0x69746e65 /* EBX, ECX, EDX of leaf 0 */

static enum status identify(struct fake *f, const struct fake_leaf *leaves, unsigned n, struct cpu *cpu)
{
	f->leaves = leaves;
	f->leaf_count = n;
	return cpu_identify(&f->access, cpu);
}

/* EPYC 7763: leaf 0x8000001D, TLBs in 0x80000005 and 0x80000006, no architectural PMU. */
static const struct fake_leaf milan[] = {
	{ 0, 0, { 0x10, AMD } },
	{ 1, 0, { 0x00A00F11, 0, 0x7EFA320B, 0x178BFBFF } },
	{ 7, 0, { 0, 0x219C97A9, 0, 0 } },
	{ 0xD, 0, { 0x207, 0x340, 0x988, 0 } },
	{ 0xD, 2, { 0x100, 0x240, 0, 0 } },
	{ 0x80000000u, 0, { 0x80000023u, AMD } },
	{ 0x80000001u, 0, { 0x00A00F11, 0, 0x75C237FF, 0x2FD3FBFF } },
	{ 0x80000005u, 0, { 0xFF40FF40, 0xFF40FF40, 0x20080140, 0x20080140 } },
	{ 0x80000006u, 0, { 0x68002200, 0x68004200, 0x02006140, 0x08009140 } },
	{ 0x80000008u, 0, { 0x00003030, 0, 0, 0 } },
	{ 0x80000019u, 0, { 0xF040F040, 0, 0, 0 } },
	{ 0x8000001Du, 0, { 0x00004121, 0x01C0003F, 0x3F, 0 } },
	{ 0x8000001Du, 1, { 0x00004122, 0x01C0003F, 0x3F, 0 } },
	{ 0x8000001Du, 2, { 0x00004143, 0x01C0003F, 0x3FF, 2 } },
	{ 0x8000001Du, 3, { 0x0003C163, 0x03C0003F, 0x7FFF, 1 } },
};

/* With L2TlbSizeX32 the second level's sizes are in units of 32 entries; the first level's do not change. */
static void test_cpu_amd_second_level_tlb_in_units_of_32(void **state)
{
	(void)state;
	struct fake_leaf leaves[COUNT_OF(milan) + 1];
	struct fake f;
	struct cpu cpu;
	memcpy(leaves, milan, sizeof(milan));
	leaves[COUNT_OF(milan)] = (struct fake_leaf){ 0x80000021u, 0, { 1u << 14, 0, 0, 0 } };
	for (unsigned i = 0; i < COUNT_OF(milan); i++)
		if (leaves[i].leaf == 0x80000006u) {
			leaves[i].regs.eax = 0x60400000; /* 64 and 96 units */
			leaves[i].regs.ebx = 0x60600000;
		} else if (leaves[i].leaf == 0x80000019u) {
			leaves[i].regs.ebx = 0xF0020000;
		}
	fake_init(&f, 1);
	assert_int_equal(identify(&f, leaves, COUNT_OF(leaves), &cpu), ST_OK);
	assert_int_equal(cpu.tlb.stlb_4k, 96 * 32);
	assert_int_equal(cpu.tlb.stlb_2m, 64 * 32);
	assert_int_equal(cpu.tlb.stlb_1g, 2 * 32);
	assert_int_equal(cpu.tlb.dtlb_4k, 64);
	assert_int_equal(cpu.tlb.dtlb_1g, 64);
	leaves[COUNT_OF(milan)].regs.eax = 0;
	fake_init(&f, 1);
	assert_int_equal(identify(&f, leaves, COUNT_OF(leaves), &cpu), ST_OK);
	assert_int_equal(cpu.tlb.stlb_4k, 96);
}

static void test_cpu_amd_has_its_descriptor_and_its_counters(void **state)
{
	(void)state;
	struct fake f;
	struct cpu cpu;
	fake_init(&f, 1);
	fake_msr(&f, 0, 0x8B, 0x0A0011D5);
	assert_int_equal(identify(&f, milan, COUNT_OF(milan), &cpu), ST_OK);
	assert_string_equal(cpu.processor->name, "zen3");
	assert_int_equal(cpu.family, 0x19);
	assert_int_equal(cpu.model, 1);
	assert_int_equal(cpu.microcode, 0x0A0011D5);
	assert_int_equal(cpu_cache(&cpu, 1)->bytes, 32768);
	assert_int_equal(cpu_cache(&cpu, 2)->bytes, 512u << 10);
	assert_int_equal(cpu_cache(&cpu, 3)->bytes, 32u << 20);
	assert_int_equal(cpu.tlb.dtlb_4k, 64);
	assert_int_equal(cpu.tlb.stlb_4k, 2048);
	assert_int_equal(cpu.pmu_version, 1); /* no leaf 0x80000022 */
	assert_null(cpu.pmu_absent);
	assert_int_equal(cpu.pmu_kind, PMU_AMD);
	assert_int_equal(cpu.general_mask, 0x3F);
	assert_int_equal(cpu.isa & (ISA_AVX | ISA_AVX2 | ISA_AVX512), ISA_AVX | ISA_AVX2);
	assert_int_equal(cpu.tlb.stlb_2m, 2048);
}

/* Opteron without topology extensions: sizes from 0x80000005 and 0x80000006. */
static void test_cpu_old_amd_caches_are_read_from_the_legacy_leaves(void **state)
{
	(void)state;
	struct fake f;
	struct cpu cpu;
	struct fake_leaf old[COUNT_OF(milan)];
	memcpy(old, milan, sizeof(milan));
	for (unsigned i = 0; i < COUNT_OF(old); i++)
		if (old[i].leaf == 0x80000001u)
			old[i].regs.ecx &= ~(1u << 22);
	fake_init(&f, 1);
	assert_int_equal(identify(&f, old, COUNT_OF(old), &cpu), ST_OK);
	assert_int_equal(cpu_cache(&cpu, 1)->bytes, 32768);
	assert_int_equal(cpu_cache(&cpu, 1)->ways, 8);
	assert_int_equal(cpu_cache(&cpu, 2)->bytes, 512u << 10);
	assert_int_equal(cpu_cache(&cpu, 2)->ways, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_amd_second_level_tlb_in_units_of_32),
		cmocka_unit_test(test_cpu_amd_has_its_descriptor_and_its_counters),
		cmocka_unit_test(test_cpu_old_amd_caches_are_read_from_the_legacy_leaves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
