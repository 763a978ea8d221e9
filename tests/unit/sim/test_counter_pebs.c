/* pmu/sim/counters/counter_pebs.c: record bytes, arming, buffer limits, load latency, last branches. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rigs/counter_rig.h"

#define EN_OS 0x420000u
#define DS    RIG_MEMORY_VA
#define BUF   (RIG_MEMORY_VA + 4096)

static struct counter_rig rig;
static struct insn load_insn = { .load = true, .memory_bytes = 8 };
static struct effects load_effects = { .load_va = 0x200000001230ull, .load_bytes = 8 };
static struct hart_regs regs;

static uint64_t *ds(unsigned offset) { return (uint64_t *)(void *)(rig.memory + offset); }

static void open_pebs(const char *machine, const char *extra, unsigned records, unsigned size, uint64_t reset)
{
	pmu_open(&rig, machine, extra);
	if (rig.m.pmu_start_sequence)
		pmu_start_sequence(&rig);
	*ds(0x20) = *ds(0x28) = BUF;
	*ds(0x30) = BUF + records * size;
	*ds(0x38) = BUF + (records + 1) * size;
	*ds(0x40) = reset;
	pmu_write(&rig, 0x600, DS);
}

static void retire_load(uint64_t cycle, enum mem_source source, uint32_t latency)
{
	struct retired r = { .ip = 0x200000000100ull, .next_ip = 0x200000000103ull, .cycle = cycle, .insn = &load_insn,
	                     .effects = &load_effects, .source = source, .dtlb_level = 3, .load_latency = latency,
	                     .uops_fused = 1, .uops_unfused = 1 };
	if (counters_want_retired(rig.p))
		counters_retired(rig.p, &r, &regs);
}

static void test_pebs_record_of_the_load_latency_facility_on_nehalem(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 16; i++)
		regs.gpr[i] = 0x1000 + i;
	regs.rflags = 0x246;
	open_pebs("nehalem-ep", "", 4, 0xB0, (uint64_t)-1);
	pmu_write(&rig, 0x3F6, 20);
	pmu_write(&rig, 0xC1, 0xFFFFFFFF);
	pmu_write(&rig, 0x186, EN_OS | 0x100B);
	pmu_write(&rig, 0x3F1, 1 | 1ull << 32);
	assert_false(counters_want_retired(rig.p));
	pmu_write(&rig, 0xC2, 0xFFFFFFFE); /* another counter overflows meanwhile */
	pmu_write(&rig, 0x187, EN_OS | 0xC0);
	pmu_write(&rig, 0x38F, 3);
	assert_true(counters_want_retired(rig.p));
	pmu_run(&rig, 5, 1);
	for (unsigned i = 0; i < 200; i++)
		retire_load(1000 + 100 * i, SRC_L2, 20); /* not above the threshold */
	assert_int_equal(*ds(0x28), BUF);
	unsigned i = 0;
	while (*ds(0x28) == BUF && i < 200)
		retire_load(100000 + 100 * i++, SRC_LOCAL_DRAM, 180);
	assert_in_range(i, 2, 60); /* one tagged load overflows, another leaves the record */
	assert_int_equal(*ds(0x28), BUF + 0xB0);
	const uint64_t *w = ds(4096);
	assert_int_equal(w[0], 0x246);
	assert_int_equal(w[1], 0x200000000103ull);   /* the next instruction */
	static const uint8_t order[16] = { 0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };
	for (unsigned k = 0; k < 16; k++)
		assert_int_equal(w[2 + k], 0x1000 + order[k]);
	assert_int_equal(w[18], 3);                  /* 0x90: both overflows */
	assert_int_equal(w[19], 0x200000001230ull);  /* 0x98 */
	assert_int_equal(w[20], 0xC);                /* 0xA0: local memory */
	assert_int_equal(w[21], 180);                /* 0xA8 */
	assert_int_equal(w[22], 0);                  /* past the record */
	assert_int_equal(pmu_read(&rig, 0xC1), 0xFFFFFFFFFFFFull); /* reloaded */
	pmu_close(&rig);
}

/* How many records 400 loads leave while counter 0 samples their latency. */
static uint64_t sampled_of_400(void)
{
	pmu_write(&rig, 0xC1, 0xFFFFFFFF);
	pmu_write(&rig, 0x186, EN_OS | 0x100B);
	pmu_write(&rig, 0x3F6, 3);
	pmu_write(&rig, 0x3F1, 1 | 1ull << 32);
	pmu_write(&rig, 0x38F, 1);
	for (unsigned i = 0; i < 400; i++)
		retire_load(1000 + 100 * i, SRC_L2, 30);
	return (*ds(0x28) - BUF) / 0xB0;
}

static void test_pebs_shadow_threshold_and_full_buffer(void **state)
{
	(void)state;
	open_pebs("nehalem-ep", "[fault]\n", 3, 0xB0, (uint64_t)-1);
	*ds(0x38) = BUF + 2 * 0xB0;
	pmu_write(&rig, 0xC1, 0xFFFFFFFF);
	pmu_write(&rig, 0x186, EN_OS | 0x02CB);      /* MEM_LOAD_RETIRED.L2_HIT */
	pmu_write(&rig, 0x3F1, 1);
	pmu_write(&rig, 0x38F, 1);
	retire_load(1000, SRC_L1, 4);                /* another source */
	retire_load(1001, SRC_L2, 10);               /* overflows; armed from 1001 + 8 on */
	retire_load(1008, SRC_L2, 10);               /* in the shadow: counted, no record */
	assert_int_equal(*ds(0x28), BUF);
	assert_int_equal(pmu_read(&rig, 0xC1), 1);
	retire_load(1009, SRC_L2, 10);
	assert_int_equal(*ds(0x28), BUF + 0xB0);
	assert_int_equal(pmu_read(&rig, 0x38E), 0);
	for (unsigned i = 0; i < 20; i++)
		retire_load(2000 + 100 * i, SRC_L2, 10);
	assert_int_equal(*ds(0x28), BUF + 3 * 0xB0); /* full: no more */
	assert_int_equal(pmu_read(&rig, 0x38E), 1ull << 62);
	pmu_close(&rig);

	open_pebs("nehalem-ep", "[fault]\npebs_drop_every = 2\ndata_source_flip = 5\n", 100, 0xB0, (uint64_t)-1);
	const uint64_t dropping = sampled_of_400();
	assert_int_equal(ds(4096)[20], 3 ^ 5);
	pmu_close(&rig);
	open_pebs("nehalem-ep", "", 400, 0xB0, (uint64_t)-1);
	*ds(0x30) = BUF + 300 * 0xB0;
	assert_in_range(2 * dropping + 1 - sampled_of_400(), 0, 2);
	pmu_close(&rig);
}

static void test_pebs_unmapped_area_and_wrong_events_are_told(void **state)
{
	(void)state;
	struct sim_finding f = { 0 };
	open_pebs("nehalem-ep", "", 4, 0xB0, (uint64_t)-1);
	pmu_write(&rig, 0x600, 0x1000);
	pmu_write(&rig, 0xC1, 0xFFFFFFFF);
	pmu_write(&rig, 0x3F1, 1);
	pmu_write(&rig, 0x38F, 0);
	assert_int_equal(counters_wrmsr(rig.p, 0x186, EN_OS | 0x3C, &f), ST_OK); /* cycles are not precise */
	assert_null(f.why);
	assert_int_equal(counters_wrmsr(rig.p, 0x38F, 1, &f), ST_OK); /* now it is live */
	assert_non_null(f.why);
	assert_int_equal(f.kind, FIND_IGNORED);
	assert_int_equal(f.clash, 0x3F1);
	assert_string_equal(f.where, "counter 0");
	pmu_write(&rig, 0x186, EN_OS | 0x01CB);
	pmu_write(&rig, 0x38F, 1);
	for (unsigned i = 0; i < 4; i++)
		retire_load(1000 + 100 * i, SRC_L1, 4);
	uint64_t v;
	assert_int_equal(counters_rdmsr(rig.p, 0x38E, &v, &f), ST_OK);
	assert_non_null(f.why);
	assert_int_equal(f.address, 0x600);
	assert_int_equal(counters_wrmsr(rig.p, 0x600, 0x800000000000ull, &f), ST_FAULT); /* not canonical */
	pmu_close(&rig);
}

static void branch(uint64_t cycle, uint64_t from, uint64_t to, const struct insn *in, bool taken, bool mispredicted)
{
	struct effects e = { .taken = taken, .next_rip = to };
	struct retired r = { .ip = from, .next_ip = to, .cycle = cycle, .insn = in, .effects = &e, .mispredicted = mispredicted };
	if (counters_want_retired(rig.p))
		counters_retired(rig.p, &r, &regs);
}

static void test_lbr_records_taken_branches_and_filters_kinds(void **state)
{
	(void)state;
	static const struct insn kinds[] = {
		{ .branch = true, .conditional = true }, { .branch = true, .call = true }, { .branch = true, .call = true, .indirect = true },
		{ .branch = true, .ret = true, .indirect = true }, { .branch = true, .indirect = true }, { .branch = true },
	};
	for (unsigned filter = 0; filter < 8; filter++) {
		pmu_open(&rig, "nehalem-ep", "");
		pmu_write(&rig, 0x1C8, 1u << filter);
		pmu_write(&rig, 0x1D9, 1);
		for (unsigned k = 0; k < COUNT_OF(kinds); k++)
			branch(100 + k, 0x1000 + k, 0x2000 + k, &kinds[k], true, false);
		branch(200, 0x1010, 0x2010, &kinds[0], false, false); /* not taken */
		uint64_t tos = pmu_read(&rig, 0x1C9);
		/* bit 0 filters out all (CPL 0), bit 1 none, bits 2 to 7 one kind each */
		assert_int_equal(tos, filter == 0 ? 0 : filter == 1 ? 6 : 5);
		for (unsigned k = 0, at = 0; filter && k < COUNT_OF(kinds); k++) {
			if (k + 2 == filter)
				continue;
			at++;
			assert_int_equal(pmu_read(&rig, 0x680 + at), 0x1000 + k);
			assert_int_equal(pmu_read(&rig, 0x6C0 + at), 0x2000 + k);
		}
		pmu_close(&rig);
	}
	pmu_open(&rig, "nehalem-ep", "");
	pmu_write(&rig, 0x1D9, 1);
	for (unsigned i = 0; i < 17; i++)
		branch(100 + i, 0x1000 + i, 0x2000, &kinds[0], true, i == 16);
	assert_int_equal(pmu_read(&rig, 0x1C9), 1); /* the stack of 16 wrapped around */
	assert_int_equal(pmu_read(&rig, 0x681), 0x1010 | 1ull << 63);
	pmu_write(&rig, 0x1D9, 0);
	assert_false(counters_want_retired(rig.p));
	pmu_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pebs_record_of_the_load_latency_facility_on_nehalem),
		cmocka_unit_test(test_pebs_shadow_threshold_and_full_buffer),
		cmocka_unit_test(test_pebs_unmapped_area_and_wrong_events_are_told),
		cmocka_unit_test(test_lbr_records_taken_branches_and_filters_kinds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
