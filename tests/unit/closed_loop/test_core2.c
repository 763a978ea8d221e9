/* Core 2 by its paper, on the simulated machine: the master equation is judged by what the machine did in each cycle, the
 * front-side bus by the lines that memory read and wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/workloads/workload_account.h"
#include "pmu/counters/counters.h"
#include "pmu/counters/pebs.h"
#include "pmu/sim/backend/sim_state.h"
#include "tests/unit/support/documented.h"
#include "tests/unit/support/sim_look.h"
#include "tests/unit/rigs/work_rig.h"

static struct work_rig rig;
static int64_t penalties[512];

static int open_core2(void **state)
{
	(void)state;
	work_rig_open(&rig, loop_built_in("core2"));
	return 0;
}

static int close_machine(void **state)
{
	(void)state;
	work_rig_close(&rig);
	return 0;
}

/* --- the master equation ----------------------------------------------------------------------- */

/* What the machine did in the gated windows of a workload, longer ones minus shorter ones. */
enum { CYCLES, IDLE, EXECUTED, RETIRED, CAUSED, WAITED, TRUTHS };
#define FIRST_TAP (TAPS_MAX - TRUTHS)
static struct {
	struct access_ops ops;
	uint64_t iterations;
	int64_t sum[TRUTHS];
	unsigned shorter, longer;
} truth;

static void tap(unsigned i, enum signal first, enum signal last, uint8_t cmask)
{
	struct tap t = { .on = true, .cmask = cmask, .inv = cmask != 0 };
	for (unsigned s = first; s <= (unsigned)last; s++)
		t.listen[s / 64] |= 1ull << s % 64;
	signals_tap(sim_signals(rig.run.sim, 0), FIRST_TAP + i, &t);
}

static enum status run_and_look(void *self, struct job *jobs, unsigned n, uint64_t limit)
{
	struct msr_guard *g = self;
	const struct measure_block *b = rig.run.guard.access.ops->control(self, jobs[0].core);
	const bool gated = b->gate != 0;
	bool shorter = false;
	uint64_t before[TRUTHS] = { 0 };
	for (unsigned i = 0; i < TRUTHS && gated; i++)
		before[i] = signals_tap_get(sim_signals(rig.run.sim, 0), FIRST_TAP + i)->value;
	for (unsigned k = 0; k < 6; k++)
		shorter |= b->argument[k] == truth.iterations;
	enum status st = g->under->ops->run(g->under->self, jobs, n, limit);
	for (unsigned i = 0; i < TRUTHS && gated; i++)
		truth.sum[i] += (int64_t)(signals_tap_get(sim_signals(rig.run.sim, 0), FIRST_TAP + i)->value - before[i]) * (shorter ? -1 : 1);
	if (gated)
		*(shorter ? &truth.shorter : &truth.longer) += 1;
	return st;
}

/* Random branches differ between windows: the counts of two windows may differ by this much. */
#define NEAR(a, b, of) assert_true(llabs((long long)(a) - (long long)(b)) <= (long long)(of) * 5 / 100 + 20)

static void test_core2_three_terms_are_all_cycles_and_each_is_what_the_machine_did(void **state)
{
	(void)state;
	unsigned stale = 0;
	for (unsigned kind = 0; kind < WORK_KINDS; kind++) {
		static struct account_result a;
		const struct account_penalties p = { penalties };
		const struct access_ops *kept = rig.run.guard.access.ops;
		struct workload_account_master m;
		memset(&truth.sum, 0, sizeof(truth.sum));
		truth.shorter = truth.longer = 0;
		truth.iterations = work_iterations(kind);
		truth.ops = *kept;
		truth.ops.run = run_and_look;
		for (unsigned i = 0; i < COUNT_OF(penalties); i++)
			penalties[i] = -1;
		tap(CYCLES, SIG_CYCLES, SIG_CYCLES, 0);
		tap(IDLE, SIG_UOPS_EXECUTED, SIG_UOPS_EXECUTED, 1);
		tap(EXECUTED, SIG_UOPS_EXECUTED, SIG_UOPS_EXECUTED, 0);
		tap(RETIRED, SIG_UOPS_RETIRED_UNFUSED, SIG_UOPS_RETIRED_UNFUSED, 0);
		tap(CAUSED, SIG_STALL_BY_FETCH, SIG_STALL_BY_ASSIST, 0);
		tap(WAITED, SIG_UOPS_RETIRED_FUSED, SIG_UOPS_RETIRED_FUSED, 1);
		rig.run.guard.access.ops = &truth.ops;
		workload_account_run(&rig.bench, kind, &p, &a);
		rig.run.guard.access.ops = kept;
		assert_int_equal(a.status, ROW_OK);
		assert_int_equal(truth.shorter, truth.longer);
		assert_true(truth.longer > 10);
		for (unsigned i = 0; i < TRUTHS; i++)
			truth.sum[i] /= truth.longer;
		assert_true(workload_account_master(&a, &m));
		/* the share of dispatched uops that did not retire, of the cycles that dispatched any */
		const int64_t active = truth.sum[CYCLES] - truth.sum[IDLE];
		const int64_t wasted = active * (truth.sum[EXECUTED] - truth.sum[RETIRED]) / truth.sum[EXECUTED];
		print_message("%s: retired %lld (%lld) non-retired %lld (%lld) stalls %lld (%lld) sum %lld (%lld); no retirement %lld (%lld)\n", work_name(kind),
		              (long long)m.retired, (long long)(active - wasted), (long long)m.wasted, (long long)wasted, (long long)m.stalls,
		              (long long)truth.sum[IDLE], (long long)(m.retired + m.wasted + m.stalls), (long long)truth.sum[CYCLES],
		              (long long)a.value[Q_RETIRE_STALL], (long long)truth.sum[CAUSED]);
		const struct { const char *column; int64_t value, truth; } cells[] = {
			{ "retired (truth)", m.retired, active - wasted }, { "non-retired (truth)", m.wasted, wasted }, { "stalls (truth)", m.stalls, truth.sum[IDLE] },
			{ "sum (cycles)", m.retired + m.wasted + m.stalls, truth.sum[CYCLES] },
		};
		for (unsigned i = 0; i < COUNT_OF(cells); i++)
			for (unsigned nth = 0; nth < 2; nth++) {
				const int64_t stated = (int64_t)documented("docs/cycle_accounting.md", work_name(kind), cells[i].column, nth), measured = nth ? cells[i].truth : cells[i].value;
				if (llabs((long long)(stated - measured)) > truth.sum[CYCLES] / 100 && ++stale)
					print_message("docs/cycle_accounting.md: %s, %s: %lld, measured %lld\n", work_name(kind), cells[i].column, (long long)stated, (long long)measured);
			}
		NEAR(m.retired, active - wasted, truth.sum[CYCLES]);
		NEAR(m.wasted, wasted, truth.sum[CYCLES]);
		NEAR(m.stalls, truth.sum[IDLE], truth.sum[CYCLES]);
		NEAR(m.retired + m.wasted + m.stalls, truth.sum[CYCLES], truth.sum[CYCLES]);
		/* to the cycle within one bundle, except for the division's rounding */
		assert_in_range(m.retired + m.wasted + m.stalls, a.bundle_cycles[Q_EXECUTE_STALL] - 1, a.bundle_cycles[Q_EXECUTE_STALL] + 1);
		/* every cycle without retirement has a cause, and as many are counted */
		assert_true(llabs(truth.sum[CAUSED] - truth.sum[WAITED]) <= 1);
		NEAR(a.value[Q_RETIRE_STALL], truth.sum[CAUSED], truth.sum[CYCLES]);
		if (kind == WORK_BRANCHY)
			assert_true(m.wasted > m.retired / 20);
		else if (kind != WORK_MIXED)
			assert_in_range(m.wasted + 2, 0, 4);
	}
	for (unsigned i = 0; i < TRUTHS; i++)
		signals_tap(sim_signals(rig.run.sim, 0), FIRST_TAP + i, NULL);
	assert_int_equal(stale, 0);
}

/* --- the front-side bus ------------------------------------------------------------------------ */

static void test_core2_bus_bytes_are_those_of_memory(void **state)
{
	(void)state;
	uint64_t out[2];
	for (unsigned cores = 1; cores <= 2; cores++) {
		work_rig_count(&rig, WORK_BANDWIDTH, cores, "BUS_TRANS_BURST.ALL_AGENTS", "BUS_TRANS_BURST.SELF", out);
		print_message("%u: lines %llu, all agents %llu, self %llu\n", cores, (unsigned long long)rig.lines, (unsigned long long)out[0], (unsigned long long)out[1]);
		within_a_hundredth(64 * out[0], 64 * rig.lines);
		if (cores == 1)
			assert_int_equal(out[0], out[1]);
		else
			assert_in_range(out[1] * 100 / out[0], 40, 60); /* the other half is the other core's */
		/* two bus clocks per line, and no more than there are */
		work_rig_count(&rig, WORK_BANDWIDTH, cores, "BUS_DRDY_CLOCKS.ALL_AGENTS", "CPU_CLK_UNHALTED.BUS", out);
		within_a_hundredth(out[0], 2 * rig.lines);
		print_message("%u: data in %llu of %llu bus clocks\n", cores, (unsigned long long)out[0], (unsigned long long)out[1]);
		assert_in_range(out[0] * 100 / out[1], cores == 1 ? 50 : 90, 102);
	}
}

/* The kinds of transactions add up to the kind above them. A triad over arrays in memory writes back four lines for twelve
 * that it reads; one with non-temporal stores writes four for eight that it reads. */
static void test_core2_bus_transactions_are_a_hierarchy(void **state)
{
	(void)state;
	for (unsigned nt = 0; nt < 2; nt++) {
		const struct suite_settings s = { .suite = nt ? "triad.dram_nt.bandwidth" : "triad.dram.bandwidth",
			.profile = "BUS_TRANS_BRD.SELF,BUS_TRANS_RFO.SELF,BUS_TRANS_WB.SELF,BUS_TRANS_BURST.SELF,BUS_TRANS_MEM.SELF,BUS_TRANS_ANY.SELF" };
		assert_int_equal(suite_run(&rig.run.guard.access, &rig.run.cpu, &s, &rig.run.host.host, &rig.run.sum), ST_OK);
		assert_int_equal(rig.run.sum.by_status[ROW_OK], 1);
		const int64_t reads = loop_event_milli(&rig.run, "BUS_TRANS_BRD.SELF") + loop_event_milli(&rig.run, "BUS_TRANS_RFO.SELF"), written = loop_event_milli(&rig.run, "BUS_TRANS_WB.SELF");
		assert_in_range(reads, nt ? 7900 : 11900, nt ? 8100 : 12100);
		assert_in_range(written, nt ? 0 : 3960, nt ? 40 : 4040);
		within_a_hundredth((uint64_t)(reads + (nt ? 4000 : written)), (uint64_t)loop_event_milli(&rig.run, "BUS_TRANS_BURST.SELF"));
		within_a_hundredth((uint64_t)loop_event_milli(&rig.run, "BUS_TRANS_MEM.SELF"), (uint64_t)loop_event_milli(&rig.run, "BUS_TRANS_BURST.SELF"));
		within_a_hundredth((uint64_t)loop_event_milli(&rig.run, "BUS_TRANS_ANY.SELF"), (uint64_t)loop_event_milli(&rig.run, "BUS_TRANS_MEM.SELF"));
	}
}

/* --- precise sampling, record format 0 --------------------------------------------------------- */

static unsigned written;

static enum status count_writes(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	struct msr_guard *g = self;
	written++;
	return g->under->ops->wrmsr(g->under->self, core, msr, value);
}

static const struct event *event(const char *name)
{
	const struct event *e = event_find(rig.run.cpu.processor, name);
	assert_non_null(e);
	return e;
}

static void test_core2_samples_on_counter_0_alone_and_into_one_page(void **state)
{
	(void)state;
	struct pebs pebs;
	struct work work;
	struct job job, run = { .core = 0 };
	const char *why;
	const uint64_t iterations = 32; /* of four loads: 85 of 128 from memory */
	struct pebs_request q = { .event = event("MEM_LOAD_RETIRED.L2_LINE_MISS"), .period = 5 };
	assert_int_equal(pebs_open(&pebs, &rig.run.guard.access, &rig.run.cpu, 0, &why), ST_OK);
	assert_int_equal(pebs.capacity, 4096 / 0x90);
	assert_int_equal(work_open(&work, &rig.bench, WORK_LATENCY, 0, 0), ST_OK);
	assert_int_equal(work_prepare(&work, iterations, &job), ST_OK);
	struct measure_block *block = rig.run.guard.access.ops->control(rig.run.guard.access.self, 0);
	memset(block, 0, sizeof(*block));
	block->kernel = SPACE_CODE + work.kernel->offset;
	block->serialise = 1;
	work_arguments(&work, iterations, block->argument);
	run.entry = SPACE_CODE + kernel_find("k_measure_sampled")->offset;
	run.argument = SPACE_CONTROL;
	assert_int_equal(pebs_start(&pebs, &q, 1, &why), ST_OK);
	sampling_gate_load(&pebs.gate, block);
	assert_int_equal(q.counter, 0);
	assert_int_equal(rig.run.guard.access.ops->run(rig.run.guard.access.self, &run, 1, 0), ST_OK);
	assert_int_equal(pebs_stop(&pebs), ST_OK);
	print_message("%u records\n", pebs.records);
	assert_in_range(pebs.records, 5, 4096 / 0x90);
	for (unsigned i = 0; i < pebs.records; i++) {
		struct pebs_record record;
		assert_int_equal(pebs_read(&pebs, i, &record), ST_OK);
		assert_in_range(record.ip, SPACE_CODE + work.kernel->offset, SPACE_CODE + work.kernel->offset + 4096);
		assert_int_equal(record.address, 0); /* the format has no such field */
	}
	assert_int_equal(work_close(&work), ST_OK);

	/* an event that is not precise, and two events for one counter, are refused before anything is written */
	struct access_ops ops = *rig.run.guard.access.ops;
	const struct access_ops *kept = rig.run.guard.access.ops;
	struct pebs_request bad[2] = { { .event = event("FP_ASSIST"), .period = 5 } };
	ops.wrmsr = count_writes;
	rig.run.guard.access.ops = &ops;
	written = 0;
	assert_int_equal(pebs_start(&pebs, bad, 1, &why), ST_UNSUPPORTED);
	assert_string_equal(why, "the event is not precise");
	bad[0].event = event("MEM_LOAD_RETIRED.L1D_LINE_MISS");
	bad[1] = q;
	assert_int_equal(pebs_start(&pebs, bad, 2, &why), ST_UNSUPPORTED);
	assert_string_equal(why, "no counter is left that can sample the event");
	assert_int_equal(written, 0);
	rig.run.guard.access.ops = kept;
}

/* The machine has the same limit: a job with a buffer beyond the page faults. */
static void test_core2_buffer_beyond_a_page_hangs(void **state)
{
	(void)state;
	const struct access *a = sim_access(rig.run.sim);
	uint64_t *ds = (uint64_t *)(void *)a->ops->ds(a->self, 0);
	const struct sim_finding *last;
	assert_non_null(ds);
	for (unsigned over = 0; over < 2; over++) {
		ds[4] = ds[5] = SPACE_DS + PAGE_4K; /* base, index; maximum, threshold */
		ds[6] = ds[7] = ds[4] + PAGE_4K + 0x90 * over;
		assert_int_equal(a->ops->wrmsr(a->self, 0, 0x600, SPACE_DS), ST_OK);
		assert_int_equal(a->ops->wrmsr(a->self, 0, 0x186, 0x4208CB), ST_OK);
		assert_int_equal(a->ops->wrmsr(a->self, 0, 0x38F, 0), ST_OK);
		/* in a job: only its page tables map the area that the processor reads */
		struct sampling_gate gate = { .count = 0 };
		struct measure_block *block = a->ops->control(a->self, 0);
		struct job job = { .entry = SPACE_CODE + kernel_find("k_measure_sampled")->offset, .undo = SPACE_CODE + kernel_find("k_measure_off")->offset,
		                   .argument = SPACE_CONTROL };
		sampling_gate_add(&gate, 0x3F1, 1, 0);
		sampling_gate_add(&gate, 0x38F, 1, 0);
		memset(block, 0, sizeof(*block));
		block->kernel = SPACE_CODE + kernel_find("k_nop")->offset;
		block->argument[kernel_find("k_nop")->count_argument] = 1;
		block->serialise = 1;
		sampling_gate_load(&gate, block);
		assert_int_equal(a->ops->run(a->self, &job, 1, 0), over ? ST_FAULT : ST_OK);
	}
	assert_true(sim_last_finding(rig.run.sim, &last) > 0);
	/* counter 1 cannot sample: the bit is reserved */
	assert_int_equal(a->ops->wrmsr(a->self, 0, 0x3F1, 2), ST_FAULT);
	static const uint32_t back[][2] = { { 0x3F1, 0 }, { 0x186, 0 }, { 0x600, 0 }, { 0x38F, 3 } };
	for (unsigned i = 0; i < COUNT_OF(back); i++)
		assert_int_equal(a->ops->wrmsr(a->self, 0, back[i][0], back[i][1]), ST_OK);
}

/* A window of the measuring core may pay for one line of the wrapper, by what ran before: 353 cycles in the quick suite and 364 behind triads for 358. */
static void test_core2_loaded_latency_is_the_same_behind_other_rows(void **state)
{
	static const char *const before[] = { "", "triad.*.bandwidth,", "quick," };
	static struct loop_run r;
	int64_t alone = 0;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(before); i++) {
		char rows_asked[64];

		snprintf(rows_asked, sizeof(rows_asked), "%sload.dram_loaded.penalty", before[i]);
		loop_open(&r, loop_built_in("core2"));
		loop_suite(&r, rows_asked);
		const struct row_result *row = memory_host_result(&r.host, "load.dram_loaded.penalty");
		print_message("%s: %s, %lld\n", rows_asked, row_status_name(row->status), (long long)row->value_milli);
		assert_int_equal(row->status, ROW_OK);
		alone = i ? alone : row->value_milli;
		assert_in_range(row->value_milli, alone - 1500, alone + 1500);
		loop_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_core2_three_terms_are_all_cycles_and_each_is_what_the_machine_did, open_core2, close_machine),
		cmocka_unit_test_setup_teardown(test_core2_bus_bytes_are_those_of_memory, open_core2, close_machine),
		cmocka_unit_test_setup_teardown(test_core2_bus_transactions_are_a_hierarchy, open_core2, close_machine),
		cmocka_unit_test_setup_teardown(test_core2_samples_on_counter_0_alone_and_into_one_page, open_core2, close_machine),
		cmocka_unit_test_setup_teardown(test_core2_buffer_beyond_a_page_hangs, open_core2, close_machine),
		cmocka_unit_test(test_core2_loaded_latency_is_the_same_behind_other_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
