/* Sampling on NetBurst: the simulated counters at retirement, the driver's records and interrupts, and the experiment's rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/counters/counters.h"
#include "pmu/netburst/netburst_sample.h"
#include "pmu/sim/core/core.h"
#include "pmu/sim/isa/exec.h"
#include "pmu/sim/isa/ops.h"
#include "tests/unit/support/closed_loop.h"
#include "tests/unit/rigs/counter_rig.h"
#include "tests/unit/support/fake_access.h"
#include "tests/unit/support/table_find.h"

enum { PMI = 1 << 26, FORCE = 1 << 25, CASCADE = 1 << 30, OVF_SHIFT = 31 };
#define ESCR(select, mask) ((uint64_t)(select) << 25 | (uint64_t)(mask) << 9 | 8)
#define TAGGED(select, mask, tag) (ESCR(select, mask) | (uint64_t)(tag) << 5 | 1 << 4)
#define MINUS(n) ((1ull << 40) - (n))

static struct counter_rig rig;
static struct hart_regs regs;

static void put(uint32_t msr, uint64_t value)
{
	struct sim_finding f = { 0 };
	assert_int_equal(counters_wrmsr(rig.p, msr, value, &f), ST_OK);
	if (f.why && f.kind != FIND_NO_LATCH && f.kind != FIND_UNMAPPED) /* the 32-bit DS area is at 0 */
		fail_msg("wrmsr %x: %s", msr, f.why);
}

static void count_from(unsigned c, uint64_t value)
{
	put(0x300 + c, value);
	put(0x300 + c, value);
}

/* Kinds of instructions. Each retires 10 cycles after the one before, at an address of its own. */
enum kind { OTHER, LOAD_HIT, LOAD_L2, LOAD_DRAM, STORE, TAKEN_WRONG, NOT_TAKEN, ADDPS_, MULSD_, X87_, LOAD_WALKED, STORE_WALKED, BOTH_WALKED, LOAD_SPLIT,
	STORE_SPLIT, KINDS };
static void retire(enum kind kind)
{
	static uint64_t ip = 0x1000;
	struct insn in = { .op = OP_NOP, .class = UC_NOP };
	struct effects e = { .load_bytes = 8, .store_bytes = 8 };
	struct retired r = { .ip = ip, .next_ip = ip + 4, .insn = &in, .effects = &e, .uops_fused = 1, .uops_unfused = 1, .source = SRC_NONE };
	rig.cycle += 10;
	ip += 4;
	r.cycle = rig.cycle;
	in.load = kind == LOAD_HIT || kind == LOAD_L2 || kind == LOAD_DRAM || kind == LOAD_WALKED || kind == BOTH_WALKED || kind == LOAD_SPLIT;
	in.store = kind == STORE || kind == STORE_WALKED || kind == BOTH_WALKED || kind == STORE_SPLIT;
	e.load_va = kind == LOAD_SPLIT ? 60 : 0;
	e.store_va = kind == STORE_SPLIT ? 60 : 0;
	r.dtlb_level = kind == LOAD_WALKED || kind == BOTH_WALKED ? 3 : in.load;
	r.store_dtlb_walk = kind == STORE_WALKED || kind == BOTH_WALKED;
	r.source = in.load && kind != LOAD_L2 && kind != LOAD_DRAM ? SRC_L1 : kind == LOAD_L2 ? SRC_L2 : kind == LOAD_DRAM ? SRC_LOCAL_DRAM : SRC_NONE;
	in.branch = in.conditional = kind == TAKEN_WRONG || kind == NOT_TAKEN;
	r.mispredicted = e.taken = kind == TAKEN_WRONG;
	in.op = kind == ADDPS_ ? OP_ADDPS : kind == MULSD_ ? OP_MULSD : OP_NOP;
	in.class = kind == X87_ ? UC_X87_ADD : UC_NOP;
	regs.gpr[0] = ip; /* RAX holds the address of the next instruction */
	counters_retired(rig.p, &r, &regs);
}

static void retire_some(enum kind kind, unsigned n)
{
	while (n--)
		retire(kind);
}

static void test_netburst_execution_tags_four_at_once(void **state)
{
	(void)state;
	pmu_open(&rig, "pentium4", "");
	put(0x3A4, TAGGED(0x08, 0x8000, 1 | 4)); /* packed_SP: tags 0 and 2 */
	put(0x3A5, TAGGED(0x0E, 0x8000, 2 | 8)); /* scalar_DP: tags 1 and 3 */
	put(0x3CC, ESCR(0x0C, 1));               /* execution_event NBOGUS0 */
	put(0x3CD, ESCR(0x0C, 2 | 4));           /* NBOGUS1 or NBOGUS2 */
	put(0x36C, 0x3B000);
	put(0x36E, 0x3B000);
	assert_true(counters_want_retired(rig.p));
	retire_some(ADDPS_, 5);
	retire_some(MULSD_, 3);
	retire_some(X87_, 7);
	retire_some(LOAD_DRAM, 2);
	assert_int_equal(pmu_read(&rig, 0x30C), 5);
	assert_int_equal(pmu_read(&rig, 0x30E), 8);
	put(0x3A4, TAGGED(0x04, 0x8000, 4)); /* x87: tag 2 */
	retire_some(X87_, 7);
	assert_int_equal(pmu_read(&rig, 0x30C), 5);
	assert_int_equal(pmu_read(&rig, 0x30E), 15);
	pmu_close(&rig);
}

static void test_netburst_branches_by_what_became_of_them(void **state)
{
	(void)state;
	pmu_open(&rig, "pentium4", "");
	put(0x3CC, ESCR(0x06, 1)); /* branch_retired MMNP */
	put(0x3CD, ESCR(0x06, 8)); /* MMTM */
	put(0x36C, 0x3B000);
	put(0x36E, 0x3B000);
	retire_some(NOT_TAKEN, 4);
	retire_some(TAKEN_WRONG, 9);
	assert_int_equal(pmu_read(&rig, 0x30C), 4);
	assert_int_equal(pmu_read(&rig, 0x30E), 9);
	pmu_close(&rig);
}

/* The kinds of instructions that each metric of replay_event and each tag of the front end counts. With PMI the counter counts at retirement. */
static void test_netburst_tagged_uops_are_known_at_retirement(void **state)
{
	(void)state;
	static const struct { uint32_t enable, vert, also; uint64_t escr; uint32_t event; unsigned kinds; } cases[] = {
		{ 0x1, 1, 0, 0, 0x09, 1 << LOAD_L2 | 1 << LOAD_DRAM },
		{ 0x2, 1, 0, 0, 0x09, 1 << LOAD_DRAM },
		{ 0x4, 1, 0, 0, 0x09, 1 << LOAD_WALKED | 1 << BOTH_WALKED },
		{ 0x4, 2, 0, 0, 0x09, 1 << STORE_WALKED | 1 << BOTH_WALKED },
		{ 0x4, 3, 0, 0, 0x09, 1 << LOAD_WALKED | 1 << STORE_WALKED | 1 << BOTH_WALKED }, /* an instruction with both counts once */
		{ 0x18000, 0x10, 0, 0, 0x09, 1 << TAKEN_WRONG },
		{ 0x400, 1, 0x3AF, ESCR(0x04, 2), 0x09, 1 << LOAD_SPLIT },
		{ 0x400, 2, 0x3AE, ESCR(0x05, 2), 0x09, 1 << STORE_SPLIT },
		{ 0, 0, 0x3BC, TAGGED(0x02, 2, 1), 0x08, 1 << LOAD_HIT | 1 << LOAD_L2 | 1 << LOAD_DRAM | 1 << LOAD_WALKED | 1 << BOTH_WALKED | 1 << LOAD_SPLIT },
		{ 0, 0, 0x3BD, TAGGED(0x02, 4, 1), 0x08, 1 << STORE | 1 << STORE_WALKED | 1 << BOTH_WALKED | 1 << STORE_SPLIT } };
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		pmu_open(&rig, "pentium4", "");
		put(0x3F1, cases[i].enable | (cases[i].enable ? 1 << 24 : 0));
		put(0x3F2, cases[i].vert);
		if (cases[i].also)
			put(cases[i].also, cases[i].escr);
		put(0x3CC, ESCR(cases[i].event, 1));
		put(0x36C, 0x3B000 | PMI);
		assert_true(counters_want_retired(rig.p));
		for (unsigned kind = 0; kind < KINDS; kind++) {
			count_from(12, 0);
			retire_some(kind, 3);
			if (pmu_read(&rig, 0x30C) != (cases[i].kinds >> kind & 1 ? 3u : 0))
				fail_msg("case %u, kind %u: %llu", i, kind, (unsigned long long)pmu_read(&rig, 0x30C));
		}
		pmu_close(&rig);
	}
}

/* The BPU's rule for cascades in the IQ's block: counter 14 begins to count when 12 has overflowed. */
static void test_netburst_cascade_counts_from_the_overflow_on(void **state)
{
	(void)state;
	pmu_open(&rig, "pentium4", "");
	put(0x3B8, ESCR(0x02, 1)); /* instr_retired on CRU0 */
	put(0x3CD, ESCR(0x06, 15)); /* branch_retired on CRU3 */
	count_from(12, MINUS(6));
	count_from(14, 0);
	put(0x36E, 0x3A000 | CASCADE); /* select 5, not enabled */
	put(0x36C, 0x39000);
	retire_some(NOT_TAKEN, 5); /* five instructions: no branch is counted */
	assert_int_equal(pmu_read(&rig, 0x30E), 0);
	assert_int_equal(pmu_read(&rig, 0x36E) >> 12 & 1, 0);
	retire(OTHER); /* the sixth: overflow */
	assert_int_equal(pmu_read(&rig, 0x36C) >> OVF_SHIFT & 1, 1);
	assert_int_equal(pmu_read(&rig, 0x36E) >> 12 & 1, 1);
	retire_some(NOT_TAKEN, 3);
	retire_some(OTHER, 4);
	assert_int_equal(pmu_read(&rig, 0x30E), 3);
	pmu_close(&rig);
}

/* The event after the overflow requests the interrupt, which arrives pmi_cycles later; with FORCE_OVF every event overflows. */
static void test_netburst_interrupt_comes_with_the_next_event(void **state)
{
	(void)state;
	pmu_open(&rig, "pentium4", "");
	rig.m.pmu_pmi_cycles = 25;
	put(0x3F2, 1);
	put(0x3F1, 0x1000001);
	put(0x3CC, ESCR(0x09, 1));
	count_from(12, MINUS(2));
	put(0x36C, 0x3B000 | PMI);
	retire_some(LOAD_L2, 2);
	assert_false(counters_interrupt(rig.p, rig.cycle + 10000)); /* overflowed, and no further event */
	retire(LOAD_HIT);
	assert_false(counters_interrupt(rig.p, rig.cycle + 10000));
	retire(LOAD_DRAM);
	assert_false(counters_interrupt(rig.p, rig.cycle + 24));
	assert_true(counters_interrupt(rig.p, rig.cycle + 25));
	assert_false(counters_interrupt(rig.p, rig.cycle + 26)); /* once */
	assert_int_equal(pmu_read(&rig, 0x30C), 1);
	put(0x36C, 0x3B000 | FORCE | PMI);
	assert_int_equal(pmu_read(&rig, 0x36C) >> OVF_SHIFT, 0);
	retire(LOAD_L2);
	assert_int_equal(pmu_read(&rig, 0x36C) >> OVF_SHIFT, 1);
	assert_int_equal(pmu_read(&rig, 0x30C), 2);
	pmu_close(&rig);
}

static void put_ds(unsigned offset, uint64_t value, unsigned bytes)
{
	memcpy(rig.memory + offset, &value, bytes);
}

/* Records of both widths have the manual's layout, and the state before or after the instruction as the machine file says. */
static void records(bool wide, bool before)
{
	struct netburst_record r;
	unsigned word = wide ? 8 : 4, bytes = wide ? 144 : 40;
	const uint64_t base = RIG_MEMORY_VA & (wide ? UINT64_MAX : UINT32_MAX), buffer = base + 4096; /* 32 bits if narrow */
	pmu_open(&rig, "pentium4", "");
	rig.m.pmu_ds64 = wide;
	rig.m.pmu_pebs_before = before;
	put_ds(5 * word, buffer, word); /* index: 0x28, 0x14 */
	put_ds(6 * word, buffer + 3 * bytes + 1, word);
	put_ds(7 * word, buffer + 9 * bytes, word);
	put_ds(8 * word, MINUS(3), 8);
	put(0x600, base);
	put(0x3F2, 1);
	put(0x3F1, 0x3000001);
	put(0x3CC, ESCR(0x09, 1));
	count_from(16, MINUS(3));
	put(0x370, 0x3B000);
	memset(regs.gpr, 0, sizeof(regs.gpr));
	for (unsigned i = 1; i < 16; i++)
		regs.gpr[i] = 0x1000 + i;
	regs.rflags = 0x246;
	retire(LOAD_HIT);
	retire_some(LOAD_L2, 3);
	retire(LOAD_HIT);
	retire(LOAD_DRAM); /* makes the record */
	const uint64_t at = regs.gpr[0] - 4;
	netburst_record_read(rig.memory + 4096, wide ? NETBURST_RECORD_WIDE : NETBURST_RECORD_NARROW, &r);
	assert_int_equal(r.ip, before ? at : at + 4);
	assert_int_equal(r.gpr[0], before ? at : at + 4);
	assert_int_equal(r.flags, 0x246);
	for (unsigned i = 1; i < (wide ? 16 : 8); i++)
		assert_int_equal(r.gpr[i], 0x1000 + i);
	uint64_t index = 0;
	memcpy(&index, rig.memory + 5 * word, word);
	assert_int_equal(index, (buffer + bytes) & (wide ? UINT64_MAX : UINT32_MAX));
	assert_int_equal(pmu_read(&rig, 0x310), MINUS(3)); /* reloaded with the DS area's reset value */
	assert_int_equal(pmu_read(&rig, 0x370) >> OVF_SHIFT, 1);
	pmu_close(&rig);
}

static void test_netburst_records_of_144_bytes(void **state) { (void)state; records(true, true); records(true, false); }
static void test_netburst_records_of_40_bytes(void **state) { (void)state; records(false, true); records(false, false); }

/* The experiment's rows on a machine. */
struct skid { struct loop_run run; const struct row_result *precise, *interrupt, *address; };
static void experiment(struct skid *k, const char *text)
{
	loop_open(&k->run, text);
	loop_suite(&k->run, "sample.precise.skid,sample.interrupt.skid,sample.address.lines");
	k->precise = memory_host_result(&k->run.host, "sample.precise.skid");
	k->interrupt = memory_host_result(&k->run.host, "sample.interrupt.skid");
	k->address = memory_host_result(&k->run.host, "sample.address.lines");
}

static int64_t points_at(const struct row_result *r, int64_t distance_least, int64_t distance_most)
{
	int64_t n = 0;
	for (unsigned i = 0; i < r->series.points; i++)
		if (r->series.milli[i][0] >= 1000 * distance_least && r->series.milli[i][0] <= 1000 * distance_most)
			n += r->series.milli[i][1] / 1000;
	return n;
}

static void test_netburst_skid_of_records_is_none_and_of_interrupts_is_not(void **state)
{
	(void)state;
	static struct skid k;
	experiment(&k, loop_built_in("pentium4"));
	assert_int_equal(k.precise->status, ROW_OK);
	assert_int_equal(k.precise->value_milli, 0);
	assert_int_equal(points_at(k.precise, 0, 0), k.precise->samples);
	assert_non_null(strstr(k.precise->proof, "registers before the load"));
	assert_int_equal(k.interrupt->status, ROW_OK);
	assert_true(k.interrupt->samples > 150);
	assert_int_equal(points_at(k.interrupt, -100, 64), 0);
	assert_int_equal(points_at(k.interrupt, 65, 100), k.interrupt->samples);
	assert_int_equal(k.address->status, ROW_OK);
	assert_int_equal(k.address->value_milli, 16000); /* twice the eight ways of an L1D of 16 KiB */
	loop_close(&k.run);
}

/* The paper's processor has an L1D of 8 KiB with four ways. */
static void test_netburst_skid_finds_eight_lines_on_the_papers_cache(void **state)
{
	(void)state;
	static struct skid k;
	char *bytes = loop_changed(loop_built_in("pentium4"), "l1d", "bytes", "8192"), *text = loop_changed(bytes, "l1d", "ways", "4");
	experiment(&k, text);
	assert_int_equal(k.address->status, ROW_OK);
	assert_int_equal(k.address->series.points, 8);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(k.address->series.milli[i][0], i * 8192000);
	loop_close(&k.run);
	free(bytes);
	free(text);
}

static void test_netburst_skid_says_what_registers_hold(void **state)
{
	(void)state;
	static struct skid k;
	char *text = loop_changed(loop_built_in("pentium4"), "pmu", "pebs_before", "0");
	experiment(&k, text);
	assert_int_equal(k.precise->status, ROW_OK);
	assert_int_equal(k.precise->value_milli, 1000);
	assert_non_null(strstr(k.precise->proof, "registers behind the load"));
	assert_int_equal(k.address->status, ROW_OK);
	loop_close(&k.run);
	free(text);
}

static void test_netburst_skid_notes_lost_records_and_early_interrupts(void **state)
{
	(void)state;
	static struct skid k;
	char *text = loop_changed(loop_built_in("pentium4"), "fault", "pebs_drop_every", "3");
	experiment(&k, text);
	assert_int_equal(k.precise->status, ROW_UNPROVEN);
	assert_int_equal(k.address->status, ROW_UNPROVEN);
	loop_close(&k.run);
	free(text);
	text = loop_changed(loop_built_in("pentium4"), "pmu", "pmi_cycles", "10");
	experiment(&k, text);
	assert_true(k.interrupt->value_milli < 30000 && k.interrupt->value_milli > 0);
	loop_close(&k.run);
	free(text);
	text = loop_changed(loop_built_in("pentium4"), "pmu", "ds64", "0");
	experiment(&k, text);
	assert_int_equal(k.precise->status, ROW_UNSUPPORTED);
	assert_non_null(strstr(k.precise->reason, "32 bits"));
	assert_int_equal(k.interrupt->status, ROW_OK);
	loop_close(&k.run);
	free(text);
}

/* No register is written if sampling cannot start. */
static void test_netburst_sampling_is_refused_before_a_write(void **state)
{
	(void)state;
	static struct fake f;
	static struct cpu cpu;
	struct netburst_sample s;
	const char *why;
	cpu.processor = processor_named("pentium4");
	static const struct fake_leaf one[] = { { 1, 0, { .ecx = 1 << 2 } } };
	fake_init(&f, 1);
	f.leaves = one;
	f.leaf_count = 1;
	cpu.general_mask = cpu_netburst_counters(cpu.processor);
	cpu.pebs = true;
	static const struct { const char *event; uint64_t period; bool precise, pebs; const char *words; } tries[] = {
		{ "INSTR_RETIRED", 100, true, true, "leaves no record on IQ_COUNTER4" },
		{ "BSQ.L2_READ", 100, true, true, "leaves no record on IQ_COUNTER4" },
		{ "L1_LOAD_MISS_RETIRED", 100, true, false, "no precise event based sampling" },
		{ "L1_LOAD_MISS_RETIRED", 100, false, true, "takes no counter interrupts" },
		{ "L1_LOAD_MISS_RETIRED", 0, true, true, NULL },
		{ "L1_LOAD_MISS_RETIRED", 1ull << 31, true, true, NULL } };
	for (unsigned i = 0; i < COUNT_OF(tries); i++) {
		s = (struct netburst_sample){ .a = &f.access, .cpu = &cpu, .precise = tries[i].precise };
		cpu.pebs = tries[i].pebs;
		assert_int_equal(netburst_sample_start(&s, event_find(cpu.processor, tries[i].event), tries[i].period, &why),
		                 tries[i].words ? ST_UNSUPPORTED : ST_RANGE);
		if (tries[i].words && (!why || !strstr(why, tries[i].words)))
			fail_msg("%s: %s", tries[i].event, why ? why : "no reason");
		assert_int_equal(f.log_count, 0);
	}
}

/* 40 bytes: EFLAGS EIP EAX EBX ECX EDX ESI EDI EBP ESP. */
static void test_netburst_record_of_40_bytes_is_read(void **state)
{
	(void)state;
	uint32_t words[10];
	struct netburst_record r;
	static const uint8_t number[8] = { 0, 3, 1, 2, 6, 7, 5, 4 };
	for (unsigned i = 0; i < 10; i++)
		words[i] = 0x80000000u + i;
	netburst_record_read((const uint8_t *)words, NETBURST_RECORD_NARROW, &r);
	assert_int_equal(r.flags, 0x80000000u);
	assert_int_equal(r.ip, 0x80000001u);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(r.gpr[number[i]], 0x80000002u + i);
	for (unsigned i = 8; i < 16; i++)
		assert_int_equal(r.gpr[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_netburst_execution_tags_four_at_once),
		cmocka_unit_test(test_netburst_branches_by_what_became_of_them),
		cmocka_unit_test(test_netburst_tagged_uops_are_known_at_retirement),
		cmocka_unit_test(test_netburst_cascade_counts_from_the_overflow_on),
		cmocka_unit_test(test_netburst_interrupt_comes_with_the_next_event),
		cmocka_unit_test(test_netburst_records_of_144_bytes),
		cmocka_unit_test(test_netburst_records_of_40_bytes),
		cmocka_unit_test(test_netburst_record_of_40_bytes_is_read),
		cmocka_unit_test(test_netburst_skid_of_records_is_none_and_of_interrupts_is_not),
		cmocka_unit_test(test_netburst_skid_finds_eight_lines_on_the_papers_cache),
		cmocka_unit_test(test_netburst_skid_says_what_registers_hold),
		cmocka_unit_test(test_netburst_skid_notes_lost_records_and_early_interrupts),
		cmocka_unit_test(test_netburst_sampling_is_refused_before_a_write),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
