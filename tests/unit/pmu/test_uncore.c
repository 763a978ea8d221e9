/* pmu/uncore/uncore.c: plans, the exact sequence of register writes, counts of
 * known traffic, metrics, and the restoration of every register. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "asm/kernel.h"
#include "pmu/uncore/uncore_metric.h"
#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/rigs/uncore_rig.h"
#include "tests/unit/support/table_find.h"
#include "tests/unit/support/kernel_run.h"

#define LOCK_VA (SPACE_DATA + 2 * PAGE_1G)

static void rig_open(struct uncore_rig *r, const struct machine *m)
{
	uncore_rig_open_bare(r, m);
	r->array[0] = (struct mapping){ .va = SPACE_DATA, .bytes = 32 * PAGE_2M, .page_bytes = PAGE_2M };
	r->lock = (struct mapping){ .va = LOCK_VA, .bytes = PAGE_4K, .page_bytes = PAGE_4K };
	assert_int_equal(r->a->ops->map(r->a->self, &r->array[0]), ST_OK);
	assert_int_equal(r->a->ops->map(r->a->self, &r->lock), ST_OK);
	assert_int_equal(uncore_find(r->a, &r->cpu, &r->u), ST_OK);
}

static void run4(struct uncore_rig *r, const char *kernel, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	(void)kernel_run(r->a, 0, kernel, (const uint64_t[]){ a0, a1, a2, a3 }, 4);
}
static void run(struct uncore_rig *r, const char *kernel, uint64_t a0, uint64_t a1, uint64_t a2) { run4(r, kernel, a0, a1, a2, 0); }

static uint64_t msr(struct uncore_rig *r, unsigned core, uint32_t address)
{
	uint64_t v;
	assert_int_equal(sim_access(r->sim)->ops->rdmsr(sim_access(r->sim)->self, core, address, &v), ST_OK);
	return v;
}

static const struct processor *nehalem(void) { return processor_named("nehalem-ep"); }

/* --- discovery and plans ----------------------------------------------------------------------- */

static void test_uncore_finds_sockets_and_says_why_there_is_nothing(void **state)
{
	(void)state;
	static struct uncore_rig r;
	struct machine m = core_bench_machine("nehalem-ep");
	unsigned socket;
	rig_open(&r, &m);
	assert_null(r.u.absent);
	assert_int_equal(r.u.sockets, 2);
	assert_int_equal(r.u.speaker[1], 4);
	assert_int_equal(uncore_socket(r.a, &r.u, 6, &socket), ST_OK);
	assert_int_equal(socket, 1);
	uncore_rig_close(&r);
	strcpy(m.pmu_uncore, "none"); /* registers that do not answer */
	rig_open(&r, &m);
	assert_string_equal(r.u.absent, "the uncore's registers do not answer");
	struct uncore_plan plan;
	const char *problem, *const one[1] = { "UNC_GQ_ALLOC.RT" };
	assert_int_equal(uncore_plan(&r.u, one, 1, &plan, &problem), ST_OK);
	assert_int_equal(uncore_start(r.a, &r.u, &plan, 0, 0, LOCK_VA), ST_UNSUPPORTED);
	uncore_rig_close(&r);
}

static void test_uncore_plans_pack_and_name_what_cannot_be(void **state)
{
	(void)state;
	const struct cpu cpu = { .processor = nehalem() };
	const struct uncore u = { .cpu = &cpu, .sockets = 1 };
	struct uncore_plan plan;
	const char *problem;
	static const char *const ten[10] = { "UNC_LLC_HITS.READ", "UNC_LLC_HITS.WRITE", "UNC_LLC_HITS.PROBE", "UNC_LLC_MISS.READ", "UNC_LLC_MISS.WRITE",
		"UNC_LLC_MISS.PROBE", "UNC_GQ_ALLOC.RT", "UNC_GQ_ALLOC.WT", "UNC_GQ_ALLOC.PPT", "UNC_CLK_UNHALTED.REF" };
	assert_int_equal(uncore_plan(&u, ten, 10, &plan, &problem), ST_OK);
	assert_int_equal(plan.runs, 2);
	assert_int_equal(plan.slots[8].run, 1);
	assert_int_equal(plan.slots[9].run, 0); /* the fixed counter is free in the first run */
	static const char *const snoops[4] = { "UNC_GQ_SNOOP.GOTO_S_HIT_M", "UNC_GQ_SNOOP.GOTO_S_HIT_E", "UNC_GQ_SNOOP.GOTO_S", "UNC_GQ_SNOOP.GOTO_S_HIT_M" };
	assert_int_equal(uncore_plan(&u, snoops, 4, &plan, &problem), ST_OK);
	assert_int_equal(plan.runs, 2); /* one value of MSR 0x301 per run */
	assert_int_equal(plan.slots[1].run, 1);
	assert_int_equal(plan.slots[2].run, 0);
	assert_int_equal(plan.slots[3].run, 0);
	static const char *const wrong[2] = { "UNC_GQ_ALLOC.RT", "UNC_GQ_ALLOC.NOTHING" };
	assert_int_equal(uncore_plan(&u, wrong, 2, &plan, &problem), ST_MISSING);
	assert_string_equal(problem, "UNC_GQ_ALLOC.NOTHING");
}

/* --- the exact sequence ------------------------------------------------------------------------ */

static void test_uncore_programs_the_golden_sequence_and_all_is_restored(void **state)
{
	(void)state;
	/* wrmsr only, in order: all off, selects, bus lock (a job), zero, start; stop */
	static const char *const golden[] = {
		"wrmsr 4 0x391 0x0", "wrmsr 4 0x3c0 0x0", "wrmsr 4 0x3c1 0x0", "wrmsr 4 0x3c2 0x0", "wrmsr 4 0x3c3 0x0", "wrmsr 4 0x3c4 0x0",
		"wrmsr 4 0x3c5 0x0", "wrmsr 4 0x3c6 0x0", "wrmsr 4 0x3c7 0x0", "wrmsr 4 0x395 0x0", "wrmsr 4 0x393 0x1",
		"wrmsr 4 0x3c0 0x400102", "wrmsr 4 0x3c1 0x400103", "wrmsr 4 0x301 0x10", "wrmsr 4 0x3c2 0x40080c", "wrmsr 4 0x395 0x1",
		"run", "wrmsr 4 0x3b0 0x0", "wrmsr 4 0x3b1 0x0", "wrmsr 4 0x3b2 0x0", "wrmsr 4 0x394 0x0", "wrmsr 4 0x391 0x100000007",
		"wrmsr 4 0x391 0x0", "wrmsr 4 0x3c0 0x0", "wrmsr 4 0x3c1 0x0", "wrmsr 4 0x3c2 0x0", "wrmsr 4 0x3c3 0x0", "wrmsr 4 0x3c4 0x0",
		"wrmsr 4 0x3c5 0x0", "wrmsr 4 0x3c6 0x0", "wrmsr 4 0x3c7 0x0", "wrmsr 4 0x395 0x0",
	};
	static const char *const names[4] = { "UNC_GQ_TRACKER_OCCUP.RT", "UNC_GQ_ALLOC.RT", "UNC_GQ_SNOOP.GOTO_I_HIT_M", "UNC_CLK_UNHALTED.REF" };
	static const uint32_t saved[] = { 0x301, 0x391, 0x395, 0x396, 0x3C0, 0x3C1, 0x3C2, 0x3C3, 0x3C4, 0x3C5, 0x3C6, 0x3C7 };
	static struct uncore_rig r;
	struct machine m = core_bench_machine("nehalem-ep");
	struct uncore_plan plan;
	const char *problem;
	uint64_t before[COUNT_OF(saved)], values[UNCORE_EVENTS_MAX];
	m.fault_firmware_counting = 1; /* a counter is on already, and has overflowed */
	rig_open(&r, &m);
	assert_int_equal(sim_access(r.sim)->ops->wrmsr(sim_access(r.sim)->self, 4, 0x3B0, 0xFFFFFFFFFFFFull), ST_OK);
	struct job j = { .core = 4, .entry = kernel_at("k_measure"), .argument = SPACE_CONTROL + 4 * CONTROL_BYTES };
	struct measure_block *b = r.a->ops->control(r.a->self, 4);
	memset(b, 0, sizeof(*b));
	b->kernel = SPACE_CODE + kernel_table->offset; /* any kernel: its code comes from memory */
	(void)!r.a->ops->run(r.a->self, &j, 1, 1000000);
	assert_int_equal(msr(&r, 4, 0x392) & 1, 1);
	for (unsigned i = 0; i < COUNT_OF(saved); i++)
		before[i] = msr(&r, 4, saved[i]);
	assert_int_equal(uncore_plan(&r.u, names, 4, &plan, &problem), ST_OK);
	r.trace.count = 0;
	assert_int_equal(uncore_start(r.a, &r.u, &plan, 0, 1, LOCK_VA), ST_OK);
	assert_int_equal(uncore_values(r.a, &r.u, &plan, 0, 1, values), ST_OK);
	assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 1), ST_OK);
	unsigned at = 0;
	for (unsigned i = 0; i < r.trace.count; i++) {
		char line[160];
		struct text t;
		text_init(&t, line, sizeof(line));
		trace_line(&t, &r.entries[i]);
		if (r.entries[i].op == TRACE_RUN)
			line[3] = 0;
		else if (r.entries[i].op != TRACE_WRMSR)
			continue;
		for (char *c = line; *c; c++)
			if (*c >= 'A' && *c <= 'Z')
				*c += 'a' - 'A';
		if (at >= COUNT_OF(golden) || strcmp(line, golden[at]))
			fail_msg("access %u is \"%s\", must be \"%s\"", at, line, at < COUNT_OF(golden) ? golden[at] : "none");
		at++;
	}
	assert_int_equal(at, COUNT_OF(golden));
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	for (unsigned i = 0; i < COUNT_OF(saved); i++)
		if (msr(&r, 4, saved[i]) != before[i])
			fail_msg("%x is not as before", saved[i]);
	uncore_rig_close(&r);
}

static void test_uncore_is_restored_after_a_fault_in_the_middle(void **state)
{
	(void)state;
	static struct uncore_rig r;
	struct machine m = core_bench_machine("nehalem-ep");
	static const char *const names[2] = { "UNC_GQ_TRACKER_OCCUP.RT", "UNC_GQ_SNOOP.GOTO_I_HIT_M" };
	static const uint32_t missing[] = { 0x301, 0x3B0, 0x391, 0x3C1 };
	for (unsigned i = 0; i < COUNT_OF(missing); i++) {
		struct uncore_plan plan;
		const char *problem;
		m.fault_msr_missing = missing[i];
		m.fault_firmware_counting = 1;
		rig_open(&r, &m);
		r.u.absent = r.u.box_absent[0] = NULL; /* as if the register had failed only later */
		r.u.present[0][0] = 1;
		const uint64_t select = msr(&r, 0, 0x3C0), fixed = msr(&r, 0, 0x395);
		assert_int_equal(uncore_plan(&r.u, names, 2, &plan, &problem), ST_OK);
		assert_int_equal(uncore_start(r.a, &r.u, &plan, 0, 0, LOCK_VA), ST_FAULT);
		(void)!uncore_stop(r.a, &r.u, &plan, 0, 0);
		assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
		assert_int_equal(msr(&r, 0, 0x3C0), select);
		assert_int_equal(msr(&r, 0, 0x395), fixed);
		uncore_rig_close(&r);
	}
}

/* --- known traffic ----------------------------------------------------------------------------- */

static uint64_t value_of(const struct uncore_plan *plan, const uint64_t *values, const char *name)
{
	for (unsigned i = 0; i < plan->count; i++)
		if (!strcmp(plan->slots[i].event->name, name))
			return values[i];
	fail_msg("%s is not counted", name);
	return 0;
}

/* Value of one of the processor's metrics, in thousandths, from the plan's counts. */
static int64_t metric(const struct uncore_plan *plan, const uint64_t *values, const char *name)
{
	static const struct metric_terms terms = { .tsc_mhz = 1000, .tsc = 1000 };
	struct uncore_metric_events e;
	uint64_t counts[METRIC_EVENTS_MAX];
	const char *why;
	int64_t milli;

	for (unsigned i = 0; i < nehalem()->derived_count; i++) {
		if (strcmp(nehalem()->derived[i].name, name))
			continue;
		assert_int_equal(uncore_metric_events(&nehalem()->derived[i], &terms, &e), ST_OK);
		for (unsigned k = 0; k < e.count; k++)
			counts[k] = value_of(plan, values, e.list[k]);
		assert_int_equal(uncore_metric_value(&nehalem()->derived[i], &terms, &e, counts, &milli, &why), ST_OK);
		return milli;
	}
	fail_msg("no metric %s", name);
	return 0;
}

static void near_percent(const char *what, uint64_t value, uint64_t truth)
{
	if (value * 100 < truth * 99 || value * 100 > truth * 101)
		fail_msg("%s: %llu, the kernel makes %llu", what, (unsigned long long)value, (unsigned long long)truth);
}

/* Lines are read, modified and flushed: reads and full writes of each channel, L3 misses and local writes are counted within 1 %. */
static void test_uncore_counts_the_lines_that_a_kernel_reads_and_writes(void **state)
{
	(void)state;
	enum { LINES = 6000 };
	static struct uncore_rig r;
	struct machine m = core_bench_machine("nehalem-ep");
	static const char *const names[8] = { "UNC_IMC_NORMAL_READS.CH0", "UNC_IMC_NORMAL_READS.CH1", "UNC_IMC_NORMAL_READS.CH2",
		"UNC_IMC_WRITES.FULL.CH0", "UNC_IMC_WRITES.FULL.CH1", "UNC_IMC_WRITES.FULL.CH2", "UNC_LLC_MISS.READ", "UNC_QHL_REQUESTS.LOCAL_WRITES" };
	struct uncore_plan plan;
	uint64_t v[UNCORE_EVENTS_MAX];
	const char *problem;
	rig_open(&r, &m);
	assert_int_equal(r.a->ops->wrmsr(r.a->self, 0, 0x1A4, 0xF), ST_OK);
	assert_int_equal(uncore_plan(&r.u, names, 8, &plan, &problem), ST_OK);
	assert_int_equal(uncore_start(r.a, &r.u, &plan, 0, 0, LOCK_VA), ST_OK);
	for (unsigned line = 0; line < LINES; line += 16)
		run4(&r, "k_warm_write", SPACE_DATA + 64 * line, 0, 0, 1);
	run(&r, "k_flush", SPACE_DATA, LINES, 64);
	assert_int_equal(uncore_values(r.a, &r.u, &plan, 0, 0, v), ST_OK);
	assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 0), ST_OK);
	for (unsigned c = 0; c < 3; c++) {
		near_percent(names[c], v[c], LINES / 3);
		near_percent(names[3 + c], v[3 + c], LINES / 3);
	}
	near_percent(names[6], v[6], LINES);
	near_percent(names[7], v[7], LINES);
	uncore_rig_close(&r);
}

/* Lines written past the caches are found by the difference that the guide computes. */
static void test_uncore_uncached_writes_are_the_difference(void **state)
{
	(void)state;
	enum { ITERATIONS = 256 }; /* of 256 bytes of each array: 4 lines written past the caches, 8 read */
	static struct uncore_rig r;
	struct machine m = core_bench_machine("nehalem-ep");
	static const char *const names[6] = { "UNC_QHL_REQUESTS.LOCAL_READS", "UNC_QHL_REQUESTS.REMOTE_READS", "UNC_IMC_NORMAL_READS.ANY",
		"UNC_IMC_WRITES.FULL.ANY", "UNC_QHL_REQUESTS.LOCAL_WRITES", "UNC_CLK_UNHALTED" };
	struct uncore_plan plan;
	uint64_t v[UNCORE_EVENTS_MAX];
	const char *problem;
	rig_open(&r, &m);
	assert_int_equal(r.a->ops->wrmsr(r.a->self, 0, 0x1A4, 0xF), ST_OK);
	assert_int_equal(uncore_plan(&r.u, names, 6, &plan, &problem), ST_OK);
	assert_int_equal(uncore_start(r.a, &r.u, &plan, 0, 0, LOCK_VA), ST_OK);
	(void)kernel_run(r.a, 0, "k_triad_nt_sse2", (const uint64_t[]){ SPACE_DATA, SPACE_DATA + 8 * PAGE_2M, SPACE_DATA + 16 * PAGE_2M, ITERATIONS,
		PAGE_2M - 1, 0 }, 6);
	assert_int_equal(uncore_values(r.a, &r.u, &plan, 0, 0, v), ST_OK);
	assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 0), ST_OK);
	near_percent("uncached writes", (uint64_t)metric(&plan, v, "imc.UNCACHED_WRITES") / 1000, 4 * ITERATIONS);
	near_percent("full writes", value_of(&plan, v, "UNC_IMC_WRITES.FULL.ANY"), 4 * ITERATIONS);
	assert_in_range(value_of(&plan, v, "UNC_QHL_REQUESTS.LOCAL_WRITES"), 0, 10); /* cached lines only */
	assert_true(value_of(&plan, v, "UNC_CLK_UNHALTED") > 1000);
	uncore_rig_close(&r);
}

/* Half of the misses take 120 cycles at the home, half 300 over the link, after the L3's response. */
static void test_uncore_metric_of_the_link_is_what_the_home_leaves(void **state)
{
	(void)state;
	static const char *const names[] = { "UNC_GQ_TRACKER_OCCUP.RT_LLC_MISS", "UNC_GQ_ALLOC.RT_LLC_MISS", "UNC_QHL_OCCUPANCY.LOCAL", "UNC_QHL_REQUESTS.LOCAL_READS" };
	static const uint64_t v[] = { 1000 * (60 + 150), 1000, 500 * 120, 500 };
	struct uncore_plan plan = { .count = COUNT_OF(names) };
	const struct uncore_box *box;

	for (unsigned i = 0; i < COUNT_OF(names); i++)
		plan.slots[i].event = uncore_event_find(nehalem(), names[i], &box);
	assert_int_equal(metric(&plan, v, "gq.READ_LINK"), 300000);
	assert_int_equal(metric(&plan, v, "gq.READ_MISS"), 210000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uncore_finds_sockets_and_says_why_there_is_nothing),
		cmocka_unit_test(test_uncore_plans_pack_and_name_what_cannot_be),
		cmocka_unit_test(test_uncore_programs_the_golden_sequence_and_all_is_restored),
		cmocka_unit_test(test_uncore_is_restored_after_a_fault_in_the_middle),
		cmocka_unit_test(test_uncore_counts_the_lines_that_a_kernel_reads_and_writes),
		cmocka_unit_test(test_uncore_uncached_writes_are_the_difference),
		cmocka_unit_test(test_uncore_metric_of_the_link_is_what_the_home_leaves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
