/* bench/workloads/known_program.c on the simulated machine, against what k_known_program is known to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/measure/measure.h"
#include "bench/sampling/pebs_address.h"
#include "tests/unit/rigs/sampling_suite.h"
#include "tests/unit/support/kernel_run.h"

static struct sampling_suite on;
static struct bench bench;
static struct known_program_result study;

static void run_known_program(void (*change)(struct machine *m))
{
	sampling_suite_open(&on, "nehalem-ep", change);
	bench_init(&bench, on.rig.a, &on.rig.cpu, &on.host.host, 0, 5);
	known_program_run(&bench, &study);
}

static const uint8_t *known_program_code(void) { return kernel_code + kernel_named("k_known_program")->offset; }

static void test_known_program_has_its_counts(void **state)
{
	(void)state;
	struct sim_totals before, after;
	sampling_suite_open(&on, "nehalem-ep", NULL);
	bench_init(&bench, on.rig.a, &on.rig.cpu, &on.host.host, 0, 5);
	sim_totals(on.rig.sim, &before);
	known_program_run(&bench, &study);
	sim_totals(on.rig.sim, &after);
	char text[2048];
	struct text t;
	text_init(&t, text, sizeof(text));
	known_program_lines(&t, &study);
	fputs(text, stderr);
	for (unsigned p = 0; p < KNOWN_PROGRAM_PARTS; p++)
		if (p != KNOWN_PROGRAM_THREADS && study.parts[p].status != ST_OK)
			fail_msg("%s: %s", known_program_part_name(p), study.parts[p].reason);
	assert_int_equal(study.parts[KNOWN_PROGRAM_THREADS].status, ST_UNSUPPORTED); /* the rig's core has one thread; for two see test_smt_interference.c */
	assert_string_equal(study.parts[KNOWN_PROGRAM_THREADS].reason, "one thread a core");

	/* loops of c + 1 and 4 - c trips, c uniform in 0 .. 3: mean 2.5, root mean square 2.739; one invocation per iteration */
	assert_int_equal(study.loop_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		const struct known_program_values *v = &study.loops[i].trips, *sampled = &study.loops[i].sampled;
		assert_int_equal(v->count, study.iterations);
		assert_in_range(v->mean_milli, 2250, 2750);
		assert_in_range(v->rms_milli, 2500, 3000);
		assert_true(v->least == 1 && v->most == 4 && v->bins[0] + v->bins[5] == 0);
		assert_true(sampled->count > 30 && sampled->mean_milli < sampled->rms_milli);
		/* an invocation of n trips is sampled n times as often: the unweighted mean of the records is above the weighted one */
		assert_true((int64_t)(sampled->sum * 1000 / sampled->count) > sampled->mean_milli);
	}
	/* both loops together have five trips per iteration: c + 1 and 4 - c */
	assert_int_equal(study.loops[0].trips.sum + study.loops[1].trips.sum, 5 * study.iterations);
	/* the argument is c */
	assert_in_range(study.argument.count, 200, 300);
	assert_in_range(study.argument.mean_milli, 1300, 1700);
	assert_int_equal(study.argument.least, 0);
	assert_int_equal(study.argument.most, 3);

	/* blocks: five trips of the two loops together and one call per iteration of the outer loop */
	assert_in_range(study.iterations, 50, 128);
	unsigned loops = 0, routine = 0, ret = 0;
	for (unsigned i = 0; i < study.block_count; i++) {
		const uint8_t *at = known_program_code() + study.blocks[i].start;
		if (at[0] == 0x49 && at[1] == 0x83 && at[2] == 0xC2) /* add r10, 1 */
			loops += study.blocks[i].executions;
		if (at[0] == 0x48 && at[1] == 0x01 && at[2] == 0xC8) { /* add rax, rcx */
			routine = study.blocks[i].executions;
			ret++;
		}
	}
	assert_int_equal(loops, 5 * study.iterations);
	assert_int_equal(ret, 1);
	assert_int_equal(routine, study.iterations);
	unsigned even = 0, back = 0;
	for (unsigned i = 0; i < study.branch_count; i++) {
		const struct known_program_branch *b = &study.branches[i];
		uint8_t op = known_program_code()[b->at];
		if (op == 0x74) { /* jz .even */
			assert_int_equal(b->taken + b->passed, study.iterations);
			assert_in_range(b->taken, study.iterations / 4, study.iterations * 3 / 4);
			even++;
		} else if (op == 0x75) { /* jnz .loop */
			assert_int_equal(b->taken, study.iterations);
			back++;
		} else if (op == 0x72) { /* the loop's branch falls through once per iteration */
			assert_int_equal(b->passed, study.iterations);
		}
	}
	assert_int_equal(even + back, 2);
	assert_in_range(study.calls, 8, 16);
	assert_int_equal(study.call_sites, 1);
	/* records of precise cycles miss only the shadow of 8 cycles and the wait for a retirement */
	assert_true(study.cycle_records > 40);
	assert_in_range(study.cycles_milli, 950, 1001);
	assert_true(study.cycle_records_inside * 10 >= study.cycle_records * 9);
	assert_true(study.addresses > 50);
	assert_int_equal(study.addresses_right, study.addresses);
	assert_int_equal(study.nt_lines_stored, 4096);
	assert_in_range(study.nt_lines[0], 4096, 4100);
	assert_int_equal(study.nt_lines[1] + study.read_lines[1], 0);
	assert_in_range(study.read_lines[0], 8000, 8400);
	assert_true(study.loads > 10000);
	assert_int_equal(study.loads, study.sources);
	assert_true(after.instructions - before.instructions < 2000000);
	sampling_suite_close(&on);
}

/* Finds the same loops and calls by another processor's last-branch records; *cycles: the status of the part that samples cycles. */
static void blocks_by_branch_records(const char *machine, unsigned iterations_most, enum status *cycles)
{
	unsigned loops = 0;
	sampling_suite_open(&on, machine, NULL);
	bench_init(&bench, on.rig.a, &on.rig.cpu, &on.host.host, 0, 5);
	known_program_run(&bench, &study);
	for (unsigned p = 0; p < KNOWN_PROGRAM_PARTS; p++)
		if (study.parts[p].status != ST_OK && study.parts[p].status != ST_UNSUPPORTED)
			fail_msg("%s, %s: %s", machine, known_program_part_name(p), study.parts[p].reason);
	assert_int_equal(study.parts[KNOWN_PROGRAM_BLOCKS_PART].status, ST_OK);
	*cycles = study.parts[KNOWN_PROGRAM_CYCLES].status;
	assert_in_range(study.iterations, 50, iterations_most);
	for (unsigned i = 0; i < study.block_count; i++) {
		const uint8_t *at = known_program_code() + study.blocks[i].start;
		if (at[0] == 0x49 && at[1] == 0x83 && at[2] == 0xC2) /* add r10, 1 */
			loops += study.blocks[i].executions;
	}
	assert_int_equal(loops, 5 * study.iterations);
	assert_int_equal(study.call_sites, 1);
	sampling_suite_close(&on);
}

/* AMD's processors have branch records, but no event of precise cycles. */
static void test_known_program_is_found_by_amds_branch_records(void **state)
{
	(void)state;
	enum status cycles;
	blocks_by_branch_records("zen4", 128, &cycles);
	assert_int_equal(cycles, ST_UNSUPPORTED);
}

/* With 32 last-branch records, all trajectories together have more than 1024 ranges. */
static void test_known_program_is_found_by_32_branch_records(void **state)
{
	(void)state;
	static const char *const machines[] = { "skylake", "sapphire-rapids", "sierra-forest" };
	for (unsigned i = 0; i < COUNT_OF(machines); i++) {
		enum status cycles;
		blocks_by_branch_records(machines[i], 256, &cycles);
		assert_int_equal(cycles, i ? ST_UNSUPPORTED : ST_OK); /* the others have no such precise event */
	}
}

static void no_pebs(struct machine *m) { m->pmu_pebs_format = 255; m->pmu_load_latency = 0; }
static void no_lbr(struct machine *m) { m->pmu_lbr_pairs = 0; m->pmu_lbr_select = 0; }
static void hits_overcounted(struct machine *m)
{
	m->fault_overcount_event = 0x01CB; /* MEM_LOAD_RETIRED.L1D_HIT */
	m->fault_overcount_thousandths = 1100;
}

static void test_known_program_reports_what_is_missing_in_that_part_alone(void **state)
{
	(void)state;
	run_known_program(no_pebs);
	assert_int_equal(study.parts[KNOWN_PROGRAM_TRIPS].status, ST_UNSUPPORTED);
	assert_string_equal(study.parts[KNOWN_PROGRAM_TRIPS].reason, "no precise event based sampling (PEBS)");
	assert_int_equal(study.parts[KNOWN_PROGRAM_CYCLES].status, ST_UNSUPPORTED);
	assert_int_equal(study.parts[KNOWN_PROGRAM_BLOCKS_PART].status, ST_OK);
	assert_int_equal(study.parts[KNOWN_PROGRAM_LOADS].status, ST_OK);
	sampling_suite_close(&on);
	run_known_program(no_lbr);
	assert_int_equal(study.parts[KNOWN_PROGRAM_TRIPS].status, ST_UNSUPPORTED); /* samples alone are biased */
	assert_string_equal(study.parts[KNOWN_PROGRAM_TRIPS].reason, "no last-branch records to hold the samples against");
	assert_int_equal(study.parts[KNOWN_PROGRAM_BLOCKS_PART].status, ST_UNSUPPORTED);
	assert_int_equal(study.parts[KNOWN_PROGRAM_CALLS].status, ST_UNSUPPORTED);
	sampling_suite_close(&on);
}

/* Loads of all forms have their address; a load that overwrote its address register is refused, and so is code without a load. */
static void test_pebs_address_decodes_loads_and_refuses_others(void **state)
{
	(void)state;
	static const struct { uint8_t code[10]; unsigned n; enum status status; uint64_t address; unsigned bytes, reg; } cases[] = {
		{ { 0x48, 0x8B, 0x03 }, 3, ST_OK, 0x3000, 8, 0 },                        /* mov rax, [rbx] */
		{ { 0x48, 0x8B, 0x00 }, 3, ST_REFUSED, 0, 0, 0 },                        /* mov rax, [rax] */
		{ { 0x0F, 0xB6, 0x4C, 0x37, 0xFF }, 5, ST_OK, 0xDFFF, 1, 1 },            /* movzx ecx, byte [rdi + rsi - 1] */
		{ { 0x4C, 0x8B, 0x94, 0xD3, 0x00, 0x01, 0, 0 }, 8, ST_OK, 0x3000 + 8 * 0x2000 + 256, 8, 10 }, /* mov r10, [rbx + rdx*8 + 256] */
		{ { 0x8B, 0x45, 0xF8 }, 3, ST_OK, 0x4FF8, 4, 0 },                        /* mov eax, [rbp - 8] */
		{ { 0x48, 0x63, 0x0B }, 3, ST_OK, 0x3000, 4, 1 },                        /* movsxd rcx, dword [rbx] */
		{ { 0x49, 0x8B, 0x0C, 0x24 }, 4, ST_OK, 0xC000, 8, 1 },                  /* mov rcx, [r12] */
		{ { 0x0F, 0x28, 0x4C, 0xD3, 0x10 }, 5, ST_OK, 0x3000 + 8 * 0x2000 + 16, 16, 16 }, /* movaps xmm1, [rbx + rdx*8 + 16] */
		{ { 0xF3, 0x0F, 0x6F, 0x03 }, 4, ST_OK, 0x3000, 16, 16 },                /* movdqu xmm0, [rbx] */
		{ { 0xF2, 0x41, 0x0F, 0x58, 0x04, 0x24 }, 6, ST_OK, 0xC000, 8, 16 },     /* addsd xmm0, [r12] */
		{ { 0xE8, 1, 2, 3, 4 }, 5, ST_OK, 0x4400 - 8, 8, 16 },                   /* after a call: the load of a return */
		{ { 0x48, 0x89, 0xC8 }, 3, ST_SYNTAX, 0, 0, 0 },                         /* mov rax, rcx */
		{ { 0x90 }, 1, ST_SYNTAX, 0, 0, 0 },
	};
	const uint64_t gpr[16] = { 0x1111, 0x1000, 0x2000, 0x3000, 0x4400, 0x5000, 0x6000, 0x8000, 0, 0, 0, 0, 0xC000 };
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		struct operand o;
		assert_int_equal(pebs_address_before(cases[i].code, cases[i].n, cases[i].n, gpr, &o), cases[i].status);
		if (cases[i].status != ST_OK)
			continue;
		assert_int_equal(o.address, cases[i].address);
		assert_int_equal(o.bytes, cases[i].bytes);
		assert_int_equal(o.destination, cases[i].reg);
	}
}

/* An event that overcounts breaks the check that the sources add up to the loads. */
static void test_known_program_reports_loads_that_do_not_add_up(void **state)
{
	(void)state;
	run_known_program(hits_overcounted);
	assert_int_equal(study.parts[KNOWN_PROGRAM_LOADS].status, ST_BROKEN);
	assert_true(study.sources > study.loads);
	sampling_suite_close(&on);
}

static void no_offcore(struct machine *m) { m->fault_msr_missing = 0x1A6; }

static void test_known_program_names_the_register_that_it_lacks(void **state)
{
	(void)state;
	run_known_program(no_offcore);
	assert_int_equal(study.parts[KNOWN_PROGRAM_TRAFFIC].status, ST_FAULT);
	assert_string_equal(study.parts[KNOWN_PROGRAM_TRAFFIC].reason, "register 0x1A6 does not answer");
	sampling_suite_close(&on);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_program_names_the_register_that_it_lacks),
		cmocka_unit_test(test_known_program_has_its_counts),
		cmocka_unit_test(test_known_program_is_found_by_amds_branch_records),
		cmocka_unit_test(test_known_program_is_found_by_32_branch_records),
		cmocka_unit_test(test_known_program_reports_what_is_missing_in_that_part_alone),
		cmocka_unit_test(test_pebs_address_decodes_loads_and_refuses_others),
		cmocka_unit_test(test_known_program_reports_loads_that_do_not_add_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
