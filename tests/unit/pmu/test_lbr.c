/* pmu/core/lbr.c on the simulated machine: recorded trajectories, judged by a kernel whose branches are known exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/core/lbr.h"
#include "tests/unit/rigs/sampling_rig.h"
#include "tests/unit/support/kernel_run.h"

#define ITERATIONS 12u

static struct sampling_rig rig;
static struct lbr lbr;
static struct lbr_pair pairs[LBR_PAIRS_MAX];
static unsigned count;
static const char *why;
static const uint8_t choices[ITERATIONS] = { 3, 0, 2, 1, 1, 3, 0, 2, 2, 1, 3, 0 };

/* LBR stacks with a top-of-stack register; AMD's and architectural ones, whose first pair is the newest. */
static const char *const machines[] = { "nehalem-ep", "zen4", "zen5", "alder-lake", "sierra-forest" };

static void open_rig(const char *machine, void (*change)(struct machine *m))
{
	sampling_open_machine(&rig, machine, change, PAGE_2M);
	memcpy(rig.map.host, choices, sizeof(choices));
	assert_int_equal(lbr_open(&lbr, rig.a, &rig.cpu, 0, &why), ST_OK);
}

/* Runs that many iterations of k_known_program under a filter and reads the frozen stack. */
static void study(uint32_t filter, unsigned iterations)
{
	assert_int_equal(lbr_start(&lbr, filter), ST_OK);
	uint64_t sum = 0;
	for (unsigned i = 0; i < iterations; i++)
		sum += choices[i] + (choices[i] & 1 ? 3 : 1);
	assert_int_equal(sampling_run(&rig, "k_known_program", SPACE_DATA, iterations, lbr_frozen(&lbr), 0), sum);
	assert_int_equal(lbr_stop(&lbr, pairs, &count), ST_OK);
}

static uint8_t opcode(uint64_t ip) { return kernel_code[ip - SPACE_CODE]; }

/* Each of the newest records is the branch that the choices of the last iterations determine. */
static void trajectory_is_the_kernels(const char *machine)
{
	open_rig(machine, NULL);
	study(0, ITERATIONS);
	assert_int_equal(count, lbr.pairs);
	const struct kernel *k = kernel_named("k_known_program");
	uint64_t base = SPACE_CODE + k->offset;
	/* 0xEB jmp, 0xE8 call, 0xC3 ret, 0x72 jb, 0x74 jz, 0x75 jnz; newest first. At the end the jz over the write
	 * is not taken. */
	uint8_t expected[64];
	unsigned n = 0;
	for (unsigned iteration = 0; n < count; iteration++) {
		if (iteration)
			expected[n++] = 0x75;
		expected[n++] = 0xC3;
		expected[n++] = 0xE8;
		expected[n++] = choices[iteration] & 1 ? 0xEB : 0x74;
		for (unsigned i = 0; i < 3; i++)
			expected[n++] = 0x72; /* 3 - c of the second loop, c of the first: one jump fewer than iterations */
	}
	for (unsigned i = 0; i < count; i++) {
		assert_in_range(pairs[i].from - base, 0, k->bytes);
		assert_in_range(pairs[i].to - base, 0, k->bytes);
		assert_int_equal(opcode(pairs[i].from), expected[i]);
	}
	/* iterations of each loop, by target: the two loops' jb have different targets */
	for (unsigned iteration = 0, at = 0; iteration < 2; iteration++) {
		unsigned first = 0, second = 0;
		uint64_t target = 0;
		at += iteration ? 4 : 3;
		for (unsigned i = 0; i < 3; i++, at++) {
			if (!target)
				target = pairs[at].to;
			/* newest first: the second loop's jumps, of higher addresses, come before the first loop's */
			if (pairs[at].to == target && (3u - choices[iteration]) > second)
				second++;
			else
				first++;
		}
		assert_int_equal(first, choices[iteration]);
		assert_int_equal(second, 3 - choices[iteration]);
	}
	sampling_close(&rig);
}

static void test_lbr_trajectory_is_the_kernels(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(machines); i++)
		trajectory_is_the_kernels(machines[i]);
}

/* Each filter of table 7 excludes its kind of branch and no other. */
static void filters_leave_their_kind_out(const char *machine)
{
	static const struct { uint32_t filter; uint8_t gone[4]; } cases[] = {
		{ LBR_JCC, { 0x72, 0x74, 0x75 } }, { LBR_NEAR_REL_CALL, { 0xE8 } }, { LBR_NEAR_RET, { 0xC3 } },
		{ LBR_NEAR_REL_JMP, { 0xEB } }, { LBR_NEAR_INDIRECT_CALL, { 0xFF } }, { LBR_NEAR_INDIRECT_JMP, { 0xFF } },
		{ LBR_CPL_NEQ_0, { 0 } }, { LBR_FAR_BRANCH, { 0 } } };
	unsigned jumps_left = 2 * ITERATIONS; /* without conditional branches: a call and a return per iteration, and a jump for odd choices */
	for (unsigned i = 0; i < ITERATIONS; i++)
		jumps_left += choices[i] & 1;
	open_rig(machine, NULL);
	for (unsigned c = 0; c < COUNT_OF(cases); c++) {
		unsigned kinds[256] = { 0 };
		study(cases[c].filter, ITERATIONS);
		assert_in_range(count, cases[c].filter == LBR_JCC && jumps_left < lbr.pairs ? jumps_left : lbr.pairs, lbr.pairs);
		for (unsigned i = 0; i < count; i++)
			kinds[opcode(pairs[i].from)]++;
		for (unsigned g = 0; g < 4 && cases[c].gone[g]; g++)
			assert_int_equal(kinds[cases[c].gone[g]], 0);
		if (cases[c].filter != LBR_JCC)
			assert_true(kinds[0x75] > 0);
		if (cases[c].filter != LBR_NEAR_RET)
			assert_true(kinds[0xC3] > 0);
	}
	study(LBR_CPL_EQ_0, ITERATIONS);
	assert_int_equal(count, 0);
	for (unsigned bit = 0; bit < 9; bit++)
		assert_non_null(lbr_filter_name(bit));
	assert_string_equal(lbr_filter_name(2), "JCC");
	assert_null(lbr_filter_name(9));
	/* calls only: as many as were made, all with the same source and target */
	study(LBR_FILTER_ALL & ~(uint32_t)(LBR_CPL_EQ_0 | LBR_NEAR_REL_CALL), 7);
	assert_int_equal(count, 7);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(opcode(pairs[i].from), 0xE8);
		assert_true(pairs[i].from == pairs[0].from && pairs[i].to == pairs[0].to);
	}
	sampling_close(&rig);
}

static void test_lbr_filters_leave_their_kind_out(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(machines); i++)
		filters_leave_their_kind_out(machines[i]);
}

static void no_lbr(struct machine *m) { m->pmu_lbr_pairs = 0; m->pmu_lbr_select = 0; }

static void test_lbr_missing_is_unsupported_with_the_reason(void **state)
{
	(void)state;
	sampling_open(&rig, no_lbr, PAGE_2M);
	assert_int_equal(lbr_open(&lbr, rig.a, &rig.cpu, 0, &why), ST_UNSUPPORTED);
	assert_string_equal(why, "the registers of the last-branch records do not answer");
	sampling_close(&rig);
	sampling_open_machine(&rig, "zen2", NULL, PAGE_2M);
	assert_int_equal(lbr_open(&lbr, rig.a, &rig.cpu, 0, &why), ST_UNSUPPORTED);
	assert_string_equal(why, "no last-branch records");
	sampling_close(&rig);
	open_rig("nehalem-ep", NULL);
	assert_int_equal(lbr_start(&lbr, 0x200), ST_RANGE);
	lbr.can_filter = false;
	assert_int_equal(lbr_start(&lbr, LBR_JCC), ST_UNSUPPORTED);
	sampling_close(&rig);
}

static void flags_in_the_source(struct machine *m) { m->pmu_lbr_format = 4; }

/* Misprediction flags in registers of their own (format 5) mark the same branches as those in bit 63 of the source (format 4). */
static void test_lbr_mispredictions_of_either_format(void **state)
{
	(void)state;
	struct lbr_pair first[LBR_PAIRS_MAX];
	unsigned missed = 0, n = 0;
	for (unsigned format = 4; format <= 5; format++) {
		sampling_open_machine(&rig, "skylake-sp", format == 4 ? flags_in_the_source : NULL, PAGE_2M);
		memcpy(rig.map.host, choices, sizeof(choices));
		assert_int_equal(rig.cpu.perf_capabilities & 0x3F, format);
		assert_int_equal(lbr_open(&lbr, rig.a, &rig.cpu, 0, &why), ST_OK);
		study(0, ITERATIONS);
		for (unsigned i = 0; i < count; i++)
			missed += pairs[i].mispredicted;
		if (format == 4) {
			memcpy(first, pairs, sizeof(first));
			n = count;
			assert_in_range(missed, 1, count - 1);
		}
		sampling_close(&rig);
	}
	assert_int_equal(count, n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(pairs[i].from, first[i].from);
		assert_int_equal(pairs[i].mispredicted, first[i].mispredicted);
	}
}

/* Entries that were never written are left out; a branch that cannot be mispredicted is not reported as mispredicted. */
static void mispredictions(const char *machine)
{
	unsigned missed = 0, taken = 0;
	open_rig(machine, NULL);
	for (unsigned n = 1; n <= ITERATIONS; n++) {
		study(0, n);
		taken += count;
		if (n == 1)
			assert_in_range(count, 5, 15); /* one iteration has fewer taken branches than there are records: the rest is empty */
		else
			assert_in_range(count, 5 * n < lbr.pairs ? 5 * n : lbr.pairs, lbr.pairs);
		for (unsigned i = 0; i < count; i++) {
			missed += pairs[i].mispredicted;
			if (pairs[i].mispredicted) /* a conditional jump, or a return */
				assert_true(opcode(pairs[i].from) != 0xE8 && opcode(pairs[i].from) != 0xEB);
		}
	}
	assert_in_range(missed, 1, taken / 2);
	sampling_close(&rig);
}

/* Bit 63 of a source is the misprediction flag, whatever the address. */
static void test_lbr_mispredictions_of_amd(void **state)
{
	(void)state;
	mispredictions("zen4");
}

#define IA32_LBR_CTL   0x14CE
#define IA32_LBR_DEPTH 0x14CF

/* The depth that firmware set is kept; CPUID tells whether there are misprediction flags and filters; no other bit of the control changes. */
static void test_lbr_architectural_takes_what_the_processor_says(void **state)
{
	(void)state;
	uint64_t control;
	mispredictions("sapphire-rapids");
	open_rig("sapphire-rapids", NULL);
	assert_int_equal(rig.cpu.branch_records.pairs, 32);
	const struct access *machine = sim_access(rig.sim); /* as firmware writes it: the driver never does */
	assert_int_equal(machine->ops->wrmsr(machine->self, 0, IA32_LBR_DEPTH, 8), ST_OK);
	assert_int_equal(lbr_open(&lbr, rig.a, &rig.cpu, 0, &why), ST_OK);
	study(LBR_CPL_NEQ_0 | LBR_NEAR_RET | LBR_FAR_BRANCH, ITERATIONS);
	assert_int_equal(count, 8);
	assert_int_equal(rig.a->ops->rdmsr(rig.a->self, 0, IA32_LBR_CTL, &control), ST_OK);
	assert_int_equal(control, 0x1F0002); /* ring 0, all kinds but returns and others, stopped */
	rig.cpu.branch_records.mispredicted = rig.cpu.branch_records.kinds = false;
	assert_int_equal(lbr_open(&lbr, rig.a, &rig.cpu, 0, &why), ST_OK);
	assert_int_equal(lbr_start(&lbr, LBR_JCC), ST_UNSUPPORTED);
	study(0, ITERATIONS); /* without the bits for kinds, which are then reserved and not written, the model records no branch */
	assert_int_equal(count, 0);
	rig.cpu.branch_records.pairs = 4;
	assert_int_equal(lbr_open(&lbr, rig.a, &rig.cpu, 0, &why), ST_UNSUPPORTED);
	assert_string_equal(why, "the register that holds the number of last-branch records has an impossible value");
	assert_int_equal(machine->ops->wrmsr(machine->self, 0, IA32_LBR_DEPTH, 32), ST_OK);
	sampling_close(&rig);
}

/* The accesses for which the model raises #GP, and the write that it ignores. */
static void test_lbr_architectural_registers_fault_on_other_depths_and_bits(void **state)
{
	(void)state;
	uint64_t value;
	open_rig("alder-lake", NULL);
	const struct access *a = sim_access(rig.sim);
	study(0, ITERATIONS);
	assert_int_equal(a->ops->rdmsr(a->self, 0, 0x1200, &value), ST_OK);
	assert_int_equal(value >> 60 & 1, 1);  /* the cycles are valid */
	assert_int_equal(value >> 56 & 0xF, 5); /* the newest taken branch is a return */
	assert_int_equal(a->ops->wrmsr(a->self, 0, IA32_LBR_DEPTH, 24), ST_FAULT); /* CPUID enumerates 8, 16 and 32 */
	assert_int_equal(a->ops->wrmsr(a->self, 0, IA32_LBR_CTL, 1 << 4), ST_FAULT);
	assert_int_equal(a->ops->rdmsr(a->self, 0, 0x1C9, &value), ST_FAULT);      /* there is no top-of-stack register */
	assert_int_equal(a->ops->wrmsr(a->self, 0, 0x1D9, 1), ST_OK);
	assert_int_equal(a->ops->rdmsr(a->self, 0, 0x1D9, &value), ST_OK);
	assert_int_equal(value, 0);
	assert_int_equal(a->ops->wrmsr(a->self, 0, IA32_LBR_DEPTH, 16), ST_OK);    /* clears the records */
	for (unsigned i = 0; i < 32; i++) {
		assert_int_equal(a->ops->rdmsr(a->self, 0, 0x1500 + i, &value), ST_OK);
		assert_int_equal(value, 0);
	}
	assert_int_equal(a->ops->wrmsr(a->self, 0, IA32_LBR_DEPTH, 32), ST_OK);
	sampling_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lbr_trajectory_is_the_kernels),
		cmocka_unit_test(test_lbr_filters_leave_their_kind_out),
		cmocka_unit_test(test_lbr_mispredictions_of_either_format),
		cmocka_unit_test(test_lbr_mispredictions_of_amd),
		cmocka_unit_test(test_lbr_architectural_takes_what_the_processor_says),
		cmocka_unit_test(test_lbr_architectural_registers_fault_on_other_depths_and_bits),
		cmocka_unit_test(test_lbr_missing_is_unsupported_with_the_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
