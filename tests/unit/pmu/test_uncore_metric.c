/* pmu/uncore/uncore_metric.c and uncore-metrics.csv: every metric's events exist and have a plan; the evaluator's values for known
 * counts; values for known traffic on the simulated machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/uncore/uncore_metric.h"
#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/rigs/uncore_rig.h"
#include "tests/unit/support/table_find.h"

static const struct processor *haswell(void) { return processor_named("haswell-ep"); }

static const struct uncore_metric *metric(const char *name)
{
	const struct processor *p = haswell();
	for (unsigned i = 0; i < p->derived_count; i++)
		if (!strcmp(p->derived[i].name, name))
			return &p->derived[i];
	fail_msg("no metric %s", name);
	return NULL;
}

static void test_metric_every_one_is_planned_or_says_what_is_lacking(void **state)
{
	(void)state;
	static const struct { const char *box; unsigned metrics; } manual[] = { /* rows of the manual's tables */
		{ "cbo.", 32 }, { "sbo.", 8 }, { "ha.", 6 }, { "imc.", 14 }, { "pcu.", 4 }, { "qpi.", 25 }, { "r2pcie.", 4 },
	};
	const struct processor *p = haswell();
	const struct cpu cpu = { .processor = p };
	const struct uncore u = { .cpu = &cpu };
	const struct metric_terms terms = { .rank = 7, .node = 1 };
	unsigned lacking = 0, runs = 0;
	assert_int_equal(p->derived_count, 93);
	for (unsigned i = 0; i < COUNT_OF(manual); i++) {
		unsigned n = 0;
		for (unsigned k = 0; k < p->derived_count; k++)
			n += !strncmp(p->derived[k].name, manual[i].box, strlen(manual[i].box));
		assert_int_equal(n, manual[i].metrics);
	}
	for (unsigned k = 0; k < p->derived_count; k++) {
		struct uncore_metric_events e;
		struct uncore_plan plan;
		const char *problem = "";
		const enum status st = uncore_metric_events(&p->derived[k], &terms, &e);
		if (p->derived[k].lacks[0]) {
			assert_int_equal(st, ST_UNSUPPORTED);
			lacking++;
			continue;
		}
		if (st != ST_OK || uncore_plan(&u, e.list, e.count, &plan, &problem) != ST_OK)
			fail_msg("%s: %s %s", p->derived[k].name, status_name(st), problem);
		runs += plan.runs;
	}
	print_message("# %u metrics, %u lack an event, the others take %u runs\n", p->derived_count, lacking, runs);
	assert_int_equal(lacking, 3); /* WPQ_INSERTS twice, FREQ_MAX_CURRENT_CYCLES */
}

/* Latency of hits: two occupancies that only counter 0 counts, so two runs. */
static void test_metric_two_occupancies_take_two_runs(void **state)
{
	(void)state;
	const struct cpu cpu = { .processor = haswell() };
	const struct uncore u = { .cpu = &cpu };
	const struct metric_terms terms = { 0 };
	struct uncore_metric_events e;
	struct uncore_plan plan;
	const char *problem;
	assert_int_equal(uncore_metric_events(metric("cbo.AVG_TOR_DRD_HIT_LATENCY"), &terms, &e), ST_OK);
	assert_int_equal(e.count, 4);
	assert_int_equal(uncore_plan(&u, e.list, e.count, &plan, &problem), ST_OK);
	assert_int_equal(plan.runs, 2);
	assert_int_equal(uncore_metric_events(metric("qpi.DRS_F_OR_E_FROM_QPI"), &terms, &e), ST_OK);
	assert_int_equal(e.count, 6);
	assert_int_equal(uncore_plan(&u, e.list, e.count, &plan, &problem), ST_OK);
	assert_int_equal(plan.runs, 6); /* one match register per link */
}

static unsigned runs_of(const char *const *names, unsigned n, struct uncore_plan *plan)
{
	const struct cpu cpu = { .processor = haswell() };
	const struct uncore u = { .cpu = &cpu };
	const char *problem;
	if (uncore_plan(&u, names, n, plan, &problem) != ST_OK)
		fail_msg("%s", problem);
	return plan->runs;
}

static void test_metric_plans_do_not_depend_on_the_order_of_events(void **state)
{
	(void)state;
	static const struct { const char *names[4]; unsigned n, runs; } cases[] = {
		{ { "UNC_C_CLOCKTICKS", "UNC_C_TOR_OCCUPANCY.ALL" }, 2, 1 },
		{ { "UNC_C_CLOCKTICKS", "UNC_C_TOR_INSERTS.ALL", "UNC_C_FAST_ASSERTED", "UNC_C_TOR_OCCUPANCY.ALL" }, 4, 1 },
		{ { "UNC_C_COUNTER0_OCCUPANCY:thresh=1", "UNC_C_TOR_OCCUPANCY.ALL" }, 2, 1 },
		{ { "UNC_R3_RING_AD_USED.CW", "UNC_R3_CLOCKTICKS", "UNC_R3_RXR_INSERTS.HOM" }, 3, 1 }, /* one of HOM's counters 0 and 1 is made free */
		{ { "UNC_C_TOR_OCCUPANCY.ALL", "UNC_C_RXR_OCCUPANCY.IRQ" }, 2, 2 },
		/* an event that does not set a filter which affects it */
		{ { "UNC_C_TOR_INSERTS.OPCODE:opc=0x187:nc=1", "UNC_C_TOR_INSERTS.OPCODE:opc=0x187" }, 2, 2 },
		{ { "UNC_C_TOR_INSERTS.MISS_OPCODE:opc=0x187:nc=1", "UNC_C_TOR_INSERTS.OPCODE:opc=0x187" }, 2, 2 },
		/* the unit mask, or a bit of the select, enables the filter */
		{ { "UNC_C_TOR_INSERTS.NID_OPCODE:opc=0x182:nid=1", "UNC_C_TOR_INSERTS.OPCODE:opc=0x182" }, 2, 1 },
		{ { "UNC_C_TOR_INSERTS.OPCODE:opc=0x182:tid=0x3E", "UNC_C_TOR_INSERTS.OPCODE:opc=0x182" }, 2, 1 },
		{ { "UNC_C_TOR_INSERTS.ALL", "UNC_C_TOR_INSERTS.OPCODE:opc=0x182" }, 2, 1 },
	};
	/* two occupancies, each followed by the event that counts by it: each event is in the run of its own */
	static const char *const seen[6] = { "UNC_C_CLOCKTICKS", "UNC_C_RING_AD_USED.UP", "UNC_C_RXR_OCCUPANCY.IRQ", "UNC_C_COUNTER0_OCCUPANCY:thresh=1",
		"UNC_C_TOR_OCCUPANCY.ALL", "UNC_C_COUNTER0_OCCUPANCY:thresh=1" };
	struct uncore_plan two;
	assert_int_equal(runs_of(seen, 6, &two), 2);
	assert_int_equal(two.slots[3].run, two.slots[2].run);
	assert_int_equal(two.slots[5].run, two.slots[4].run);
	assert_int_not_equal(two.slots[2].run, two.slots[4].run);
	/* no counter is left beside it: both move to another run */
	static const char *const full[5] = { "UNC_C_CLOCKTICKS", "UNC_C_RING_AD_USED.UP", "UNC_C_RING_AD_USED.DOWN", "UNC_C_RXR_OCCUPANCY.IRQ", "UNC_C_COUNTER0_OCCUPANCY:thresh=1" };
	assert_int_equal(runs_of(full, 5, &two), 2);
	assert_int_equal(two.slots[4].run, two.slots[3].run);
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		const char *back[4];
		struct uncore_plan plan, other;
		for (unsigned k = 0; k < cases[i].n; k++)
			back[k] = cases[i].names[cases[i].n - 1 - k];
		if (runs_of(cases[i].names, cases[i].n, &plan) != cases[i].runs || runs_of(back, cases[i].n, &other) != cases[i].runs)
			fail_msg("%s ...: %u runs, backwards %u, not %u", cases[i].names[0], plan.runs, other.runs, cases[i].runs);
		for (unsigned k = 0; k < plan.count; k++) {
			assert_true(plan.slots[k].event->counter_mask >> plan.slots[k].counter & 1);
			for (unsigned j = 0; j < k; j++)
				assert_false(plan.slots[j].run == plan.slots[k].run && plan.slots[j].box == plan.slots[k].box && plan.slots[j].counter == plan.slots[k].counter);
		}
	}
}

static int64_t value(const char *expression, const uint64_t *counts, enum status wanted)
{
	const struct uncore_metric m = { .name = "test", .expression = expression, .lacks = "" };
	const struct metric_terms terms = { .instructions = 1000, .core_cycles = 2000, .tsc = 500, .tsc_mhz = 2300, .boxes = 4, .rank = 3, .node = 1 };
	struct uncore_metric_events e;
	const char *why;
	int64_t milli = -1;
	if (uncore_metric_events(&m, &terms, &e) != ST_OK) {
		assert_int_equal(wanted, ST_SYNTAX);
		return 0;
	}
	const enum status st = uncore_metric_value(&m, &terms, &e, counts, &milli, &why);
	if (st != wanted)
		fail_msg("%s: %s, %lld", expression, status_name(st), (long long)milli);
	return milli;
}

static void test_metric_expressions_have_their_values_and_refuse_thin_divisors(void **state)
{
	(void)state;
	const uint64_t big = 1ull << 46;
	assert_int_equal(value("A / B", (uint64_t[]){ 1000, 3 }, ST_OK), 333333);
	assert_int_equal(value("(A - B) / (C - D)", (uint64_t[]){ 5000, 1000, 30, 10 }, ST_OK), 200000);
	assert_int_equal(value("1 - A / B", (uint64_t[]){ 1, 4 }, ST_OK), 750);
	assert_int_equal(value("A - B - A", (uint64_t[]){ 7, 2 }, ST_RANGE), -1); /* a value below zero */
	assert_int_equal(value("2 - (A - B)", (uint64_t[]){ 4, 3 }, ST_OK), 1000);
	/* a difference as divisor is at least a fiftieth of its minuend */
	assert_int_equal(value("(A - B) / (C - D)", (uint64_t[]){ 5000, 1000, 12633, 12590 }, ST_RANGE), -1);
	assert_int_equal(value("(A - B) / (C - D)", (uint64_t[]){ 9000, 1000, 1000, 980 }, ST_OK), 400000);
	assert_int_equal(value("(A - B) / ((C - D) * 2)", (uint64_t[]){ 9000, 1000, 1000, 981 }, ST_RANGE), -1);
	assert_int_equal(value("(A - B) / (C - D)", (uint64_t[]){ 5000, 1000, 980, 1000 }, ST_RANGE), -1);
	assert_int_equal(value("(A - B) / C", (uint64_t[]){ 1000, 999, 10 }, ST_OK), 100);
	assert_int_equal(value("1 - A / B", (uint64_t[]){ 1001, 1000 }, ST_OK), 0);
	assert_int_equal(value("1 - A / B", (uint64_t[]){ 1100, 1000 }, ST_RANGE), -1);
	assert_int_equal(value("A / B / 2 * 3", (uint64_t[]){ 12, 4 }, ST_OK), 4500);
	assert_int_equal(value("A * 64 / 1000000", (uint64_t[]){ 15625 }, ST_OK), 1000);
	assert_int_equal(value("A / $INSTRUCTIONS", (uint64_t[]){ 5 }, ST_OK), 5);
	assert_int_equal(value("A / $BOXES / $TSC * $TSC_MHZ * 8 / 1000", (uint64_t[]){ 1000 }, ST_OK), 9200);
	assert_int_equal(value("A / B - C / D", (uint64_t[]){ big + 1, big * 2 - 1, big - 1, big * 4 + 3 }, ST_OK), 250);
	assert_int_equal(value("A / B", (uint64_t[]){ 1, 0 }, ST_RANGE), -1);
	assert_int_equal(value("A * 64 * 1000", (uint64_t[]){ big }, ST_RANGE), -1);
	value("A +", NULL, ST_SYNTAX), value("(A", NULL, ST_SYNTAX), value("A B", NULL, ST_SYNTAX), value("$NOTHING", NULL, ST_SYNTAX), value("A.{dimm}", NULL, ST_SYNTAX);
	/* variables in names */
	const struct uncore_metric m = { .name = "test", .expression = "A.RANK{rank} / B:match={node:0x1C00}:x + A.RANK{rank}", .lacks = "" };
	const struct metric_terms terms = { .rank = 3, .node = 1 };
	struct uncore_metric_events e;
	assert_int_equal(uncore_metric_events(&m, &terms, &e), ST_OK);
	assert_int_equal(e.count, 2);
	assert_string_equal(e.name[0], "A.RANK3");
	assert_string_equal(e.name[1], "B:match=0x3C00:x");
}

/* Counts a metric while a kernel runs; returns its value in thousandths. */
static int64_t measured(struct uncore_rig *r, const char *name, unsigned socket, const char *kernel, const uint64_t *arguments)
{
	struct metric_terms terms = { .instructions = 1 };
	struct uncore_metric_events e;
	struct uncore_plan plan;
	const char *problem;
	uint64_t v[UNCORE_EVENTS_MAX] = { 0 };
	const char *why;
	int64_t milli = 0;
	assert_int_equal(uncore_metric_events(metric(name), &terms, &e), ST_OK);
	assert_int_equal(uncore_plan(&r->u, e.list, e.count, &plan, &problem), ST_OK);
	terms.boxes = uncore_instances(&r->u, plan.slots[0].box, socket);
	for (unsigned run = 0; run < plan.runs; run++) {
		uint64_t before, after;
		assert_int_equal(uncore_start(r->a, &r->u, &plan, run, socket, r->lock.va), ST_OK);
		assert_int_equal(r->a->ops->rdtsc(r->a->self, 0, &before), ST_OK);
		uncore_rig_run(r, 0, kernel, arguments, 6);
		assert_int_equal(uncore_stop(r->a, &r->u, &plan, run, socket), ST_OK);
		assert_int_equal(r->a->ops->rdtsc(r->a->self, 0, &after), ST_OK);
		assert_int_equal(uncore_values(r->a, &r->u, &plan, run, socket, v), ST_OK);
		terms.tsc = terms.read_tsc = after - before;
		terms.tsc_mhz = r->a->tsc_hz / 1000000;
	}
	const enum status st = uncore_metric_value(metric(name), &terms, &e, v, &milli, &why);
	if (st != ST_OK)
		fail_msg("%s: %s", name, status_name(st));
	return milli;
}

static void test_metric_values_of_known_traffic(void **state)
{
	(void)state;
	enum { LINES = 16384 };
	static struct uncore_rig r;
	const struct machine m = core_bench_machine("haswell-ep");
	static const struct { const char *name; unsigned node, socket; const char *kernel; int64_t least, most; } wanted[] = {
		{ "imc.MEM_BW_READS", 0, 0, "k_read_sse2", 64ll * LINES * 990, 64ll * LINES * 1010 },
		{ "imc.MEM_BW_WRITES", 0, 0, "k_write_nt_sse2", 64ll * LINES * 990, 64ll * LINES * 1010 },
		{ "imc.MEM_BW_TOTAL", 0, 0, "k_copy_nt_sse2", 128ll * LINES * 990, 128ll * LINES * 1010 },
		{ "ha.PCT_RD_REQUESTS", 0, 0, "k_copy_nt_sse2", 495, 505 },
		{ "qpi.DATA_FROM_QPI", 1, 0, "k_read_sse2", 64ll * LINES * 990, 64ll * LINES * 1010 },
		{ "qpi.QPI_DATA_BW", 1, 1, "k_read_sse2", 64ll * LINES * 990, 64ll * LINES * 1010 },
		{ "cbo.LLC_DRD_MISS_PCT", 0, 0, "k_read_sse2", 985, 1000 },
		{ "qpi.QPI_SPEED", 0, 0, "k_read_sse2", 9500, 9700 },
		{ "qpi.PCT_LINK_FULL_POWER_CYCLES", 0, 0, "k_read_sse2", 1000, 1000 },
		{ "pcu.PCT_CYC_FREQ_THERMAL_LTD", 0, 0, "k_read_sse2", 0, 0 },
	};
	for (unsigned i = 0; i < COUNT_OF(wanted); i++) {
		uncore_rig_open(&r, &m);
		const uint64_t to = RIG_ARRAY(wanted[i].node);
		const uint64_t arguments[6] = { to, to + RIG_BYTES / 2, 0, LINES / 4, RIG_BYTES / 2 - 1, 0 };
		const int64_t milli = measured(&r, wanted[i].name, wanted[i].socket, wanted[i].kernel, arguments);
		if (milli < wanted[i].least || milli > wanted[i].most)
			fail_msg("%s: %lld, not %lld to %lld thousandths", wanted[i].name, (long long)milli, (long long)wanted[i].least, (long long)wanted[i].most);
		uncore_rig_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metric_every_one_is_planned_or_says_what_is_lacking),
		cmocka_unit_test(test_metric_two_occupancies_take_two_runs),
		cmocka_unit_test(test_metric_plans_do_not_depend_on_the_order_of_events),
		cmocka_unit_test(test_metric_expressions_have_their_values_and_refuse_thin_divisors),
		cmocka_unit_test(test_metric_values_of_known_traffic),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
