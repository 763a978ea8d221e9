/* pmu/uncore on client processors, with L3 slices, arbiter, clock and the memory controller's memory-mapped counters: the boxes found, each access
 * of a run in order, counts of known traffic, counters that wrap, and the restoration of every register. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/text.h"
#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/rigs/uncore_rig.h"
#include "tests/unit/support/table_find.h"

#define WINDOW 0xFED10000u
#define LINES 6000u

static const char *const clients[] = { "sandy-bridge", "ivy-bridge", "skylake" };

static unsigned boxes_of(const struct uncore_rig *r, const char *name)
{
	const struct processor *p = r->cpu.processor;
	for (unsigned b = 0; b < p->box_count; b++)
		if (!strcmp(p->boxes[b].name, name))
			return uncore_instances(&r->u, &p->boxes[b], 0);
	fail_msg("%s has no box %s", p->name, name);
	return 0;
}

static const char *absent(const struct uncore_rig *r, const char *name)
{
	const struct processor *p = r->cpu.processor;
	for (unsigned b = 0; b < p->box_count; b++)
		if (!strcmp(p->boxes[b].name, name))
			return r->u.box_absent[b];
	return NULL;
}

/* --- discovery ----------------------------------------------------------------------------------- */

static void test_client_boxes_are_found(void **state)
{
	(void)state;
	static struct uncore_rig r;
	for (unsigned i = 0; i < COUNT_OF(clients); i++) {
		const struct machine m = core_bench_machine(clients[i]);
		uncore_rig_open(&r, &m);
		assert_null(r.u.absent);
		assert_int_equal(boxes_of(&r, "cbo"), 4);
		assert_int_equal(boxes_of(&r, "arb"), 1);
		assert_int_equal(boxes_of(&r, "clock"), 1);
		assert_int_equal(boxes_of(&r, "imc"), 1);
		uncore_rig_close(&r);
	}
}

/* Two slices, where MSR 0x396 counts one more for the graphics; eight, the last with its registers elsewhere; and more slices than have registers. */
static void test_client_slices_are_counted(void **state)
{
	(void)state;
	static const struct { const char *machine; unsigned slices, boxes; } cases[] = {
		{ "sandy-bridge", 2, 2 }, { "sandy-bridge", 8, 4 }, { "skylake", 2, 2 }, { "skylake", 8, 8 }, { "skylake", 16, 8 } };
	static struct uncore_rig r;
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		struct machine m = core_bench_machine(cases[i].machine);
		m.l3_bytes = m.l3_bytes / m.l3_slices * cases[i].slices;
		m.l3_slices = cases[i].slices;
		m.topology_cores = 2;
		uncore_rig_open(&r, &m);
		assert_int_equal(boxes_of(&r, "cbo"), cases[i].boxes);
		assert_int_equal(uncore_rig_findings(&r, NULL, NULL), 0);
		uncore_rig_close(&r);
	}
}

static void test_client_says_why_memory_is_not_counted(void **state)
{
	(void)state;
	static struct uncore_rig r;
	struct machine m = core_bench_machine("skylake");
	m.uncore_window = 0;
	uncore_rig_open(&r, &m);
	assert_null(r.u.absent);
	assert_string_equal(absent(&r, "imc"), "no window in memory shows its registers");
	assert_int_equal(boxes_of(&r, "arb"), 1);
	uncore_rig_close(&r);
}

/* --- every access, in order ------------------------------------------------------------------------ */

static void traced(const struct uncore_rig *r, unsigned from, const char *const *golden, unsigned n)
{
	unsigned at = 0;
	for (unsigned i = from; i < r->trace.count; i++) {
		char line[160];
		struct text t;
		text_init(&t, line, sizeof(line));
		trace_line(&t, &r->trace.entries[i]);
		if (r->trace.entries[i].op == TRACE_RDMSR) /* the guard reads each register before its first write */
			continue;
		if (at >= n || strcmp(line, golden[at]))
			fail_msg("access %u is \"%s\", must be \"%s\"", at, line, at < n ? golden[at] : "none");
		at++;
	}
	assert_int_equal(at, n);
}

/* What firmware left in a register. */
static uint64_t found(uint32_t msr) { return msr == 0xE01 ? 3 : msr == 0x394 ? 0 : 0x100000 + msr; }

static void test_client_programs_the_golden_sequence_and_all_is_restored(void **state)
{
	(void)state;
	/* in order: all off, selects, zero, start; stop. Two slices, the arbiter, the clock; the memory controller's counter is only read. */
	static const char *const golden[] = {
		"wrmsr 0 0xE01 0x0", "wrmsr 0 0x700 0x0", "wrmsr 0 0x701 0x0", "wrmsr 0 0x710 0x0", "wrmsr 0 0x711 0x0",
		"wrmsr 0 0xE01 0x0", "wrmsr 0 0x3B2 0x0", "wrmsr 0 0x3B3 0x0", "wrmsr 0 0xE01 0x0", "wrmsr 0 0x394 0x0",
		"wrmsr 0 0x3B2 0x400280", "wrmsr 0 0x3B3 0x400281", "wrmsr 0 0x700 0x408834", "wrmsr 0 0x710 0x408834", "wrmsr 0 0x394 0x400000",
		"wrmsr 0 0x3B0 0x0", "wrmsr 0 0x3B1 0x0", "wrmsr 0 0x706 0x0", "wrmsr 0 0x716 0x0", "wrmsr 0 0x395 0x0",
		"wrmsr 0 0xE01 0x2000001F",
		"mmio_read 0xFED15050 4 0x0",
		"wrmsr 0 0xE01 0x0", "wrmsr 0 0x700 0x0", "wrmsr 0 0x701 0x0", "wrmsr 0 0x710 0x0", "wrmsr 0 0x711 0x0",
		"wrmsr 0 0xE01 0x0", "wrmsr 0 0x3B2 0x0", "wrmsr 0 0x3B3 0x0", "wrmsr 0 0xE01 0x0", "wrmsr 0 0x394 0x0",
	};
	static const char *const names[] = { "UNC_ARB_TRK_OCCUPANCY.DATA_READ", "UNC_ARB_TRK_REQUESTS.DATA_READ", "UNC_CBO_CACHE_LOOKUP.ANY_I",
		"UNC_CLOCK.SOCKET", "DATA_READS" };
	static const uint32_t registers[] = { 0xE01, 0x700, 0x701, 0x706, 0x710, 0x711, 0x716, 0x3B0, 0x3B1, 0x3B2, 0x3B3, 0x394 };
	static struct uncore_rig r;
	struct machine m = core_bench_machine("skylake");
	struct uncore_plan plan;
	uint64_t values[UNCORE_EVENTS_MAX], v;
	m.l3_bytes = m.l3_bytes / m.l3_slices * 2;
	m.topology_cores = m.l3_slices = 2;
	uncore_rig_open(&r, &m);
	const struct access *bare = sim_access(r.sim);
	for (unsigned i = 0; i < COUNT_OF(registers); i++) /* firmware left something in each */
		assert_int_equal(bare->ops->wrmsr(bare->self, 0, registers[i], found(registers[i])), ST_OK);
	const unsigned from = r.trace.count;
	uncore_rig_start(&r, &plan, names, COUNT_OF(names), 0);
	assert_int_equal(uncore_values(r.a, &r.u, &plan, 0, 0, values), ST_OK);
	assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 0), ST_OK);
	traced(&r, from, golden, COUNT_OF(golden));
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	for (unsigned i = 0; i < COUNT_OF(registers); i++) {
		assert_int_equal(bare->ops->rdmsr(bare->self, 0, registers[i], &v), ST_OK);
		assert_int_equal(v, found(registers[i]));
	}
	uncore_rig_close(&r);
}

/* --- known traffic ----------------------------------------------------------------------------------- */

static void near_percent(const char *what, uint64_t value, uint64_t truth)
{
	if (value * 100 < truth * 99 || value * 100 > truth * 101)
		fail_msg("%s: %llu, the kernel makes %llu", what, (unsigned long long)value, (unsigned long long)truth);
}

static void write_and_flush(struct uncore_rig *r)
{
	for (unsigned line = 0; line < LINES; line += 16)
		uncore_rig_run(r, 0, "k_warm_write", (const uint64_t[]){ RIG_ARRAY(0) + 64 * line, 0, 0, 1 }, 4);
	uncore_rig_run(r, 0, "k_flush", (const uint64_t[]){ RIG_ARRAY(0), LINES, 64 }, 3);
}

/* Lines are read, modified and flushed: each counts as one read, one write and one lookup in the L3, also where 32-bit counters wrap. */
static void test_client_counts_the_lines_that_a_kernel_reads_and_writes(void **state)
{
	(void)state;
	static const char *const names[] = { "DATA_READS", "DATA_WRITES", "GT_REQUESTS", "IA_REQUESTS", "UNC_CBO_CACHE_LOOKUP.READ_I", "UNC_ARB_TRK_REQUESTS.ALL",
		"UNC_ARB_TRK_OCCUPANCY.ALL", "UNC_CLOCK.SOCKET" };
	static const uint64_t starts[] = { 0, 0xFFFFFFFF - LINES / 2 };
	static struct uncore_rig r;
	for (unsigned i = 0; i < COUNT_OF(clients) * COUNT_OF(starts); i++) {
		struct machine m = core_bench_machine(clients[i % COUNT_OF(clients)]);
		struct uncore_plan plan;
		uint64_t before[UNCORE_EVENTS_MAX], after[UNCORE_EVENTS_MAX], moved[COUNT_OF(names)];
		m.uncore_imc_start = starts[i / COUNT_OF(clients)];
		m.firmware_runs = 0;
		uncore_rig_open(&r, &m);
		uncore_rig_start(&r, &plan, names, COUNT_OF(names), 0);
		assert_int_equal(uncore_values(r.a, &r.u, &plan, 0, 0, before), ST_OK);
		write_and_flush(&r);
		assert_int_equal(uncore_values(r.a, &r.u, &plan, 0, 0, after), ST_OK);
		assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 0), ST_OK);
		for (unsigned k = 0; k < COUNT_OF(names); k++)
			moved[k] = uncore_moved(&r.u, &plan.slots[k], before[k], after[k]);
		near_percent(names[0], moved[0], LINES);
		near_percent(names[1], moved[1], LINES);
		assert_int_equal(moved[2], 0);
		near_percent(names[3], moved[3], 2 * LINES);
		near_percent(names[4], moved[4], LINES);
		near_percent(names[5], moved[5], 2 * LINES);
		assert_true(moved[6] > moved[0] && moved[7] > 0);
		if (starts[i / COUNT_OF(clients)])
			assert_true(after[0] < before[0]); /* it did wrap */
		uncore_rig_close(&r);
	}
}

/* Each of eight slices counts its own lookups. */
static void test_client_slices_share_the_lines(void **state)
{
	(void)state;
	static const char *const names[] = { "UNC_CBO_CACHE_LOOKUP.READ_I" };
	static struct uncore_rig r;
	struct machine m = core_bench_machine("skylake");
	struct uncore_plan plan;
	uint64_t each[UNCORE_INSTANCES_MAX];
	m.l3_slices = 8;
	uncore_rig_open(&r, &m);
	uncore_rig_start(&r, &plan, names, 1, 0);
	write_and_flush(&r);
	assert_int_equal(uncore_instance_values(r.a, &r.u, &plan.slots[0], 0, each), ST_OK);
	for (unsigned i = 0; i < 8; i++)
		if (each[i] < LINES / 16 || each[i] > LINES / 4)
			fail_msg("slice %u: %llu lookups", i, (unsigned long long)each[i]);
	assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 0), ST_OK);
	uncore_rig_close(&r);
}

/* --- later processors ------------------------------------------------------------------------------ */

/* On Ice Lake the arbiter has one counter, and no register starts the counters together; on the others such a register has other bits. */
static void test_client_arbiters_of_later_processors(void **state)
{
	(void)state;
	static const struct { const char *processor, *like, *reads[2]; unsigned layout; const char *first, *start; } cases[] = {
		{ "ice-lake", "skylake", { "DATA_READS" }, 2, "wrmsr 0 0x3B3 0x0", NULL },
		{ "rocket-lake", "skylake", { "DATA_READS" }, 3, "wrmsr 0 0xE01 0x0", "wrmsr 0 0xE01 0x20000000" },
		{ "tiger-lake", "alder-lake", { "UNC_MC0_RDCAS_COUNT_FREERUN", "UNC_MC1_RDCAS_COUNT_FREERUN" }, 6, "wrmsr 0 0xE01 0x0", "wrmsr 0 0xE01 0x20000000" },
		{ "tiger-lake-h", "alder-lake", { "UNC_MC0_RDCAS_COUNT_FREERUN", "UNC_MC1_RDCAS_COUNT_FREERUN" }, 5, "wrmsr 0 0xE01 0x0", "wrmsr 0 0xE01 0x20000000" } };
	static struct uncore_rig r;
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		struct machine m = core_bench_machine(cases[i].like);
		struct uncore_plan plan;
		uint64_t v[UNCORE_EVENTS_MAX] = { 0 };
		const char *const names[] = { "UNC_ARB_TRK_REQUESTS.ALL", "UNC_CLOCK.SOCKET", cases[i].reads[0], cases[i].reads[1] };
		const unsigned n = cases[i].reads[1] ? 4 : 3;
		bool started = !cases[i].start;
		m.cpuid_model = processor_named(cases[i].processor)->models[0];
		m.uncore_layout = cases[i].layout;
		m.firmware_runs = 0;
		uncore_rig_open(&r, &m);
		assert_string_equal(r.cpu.processor->name, cases[i].processor);
		unsigned from = r.trace.count;
		uncore_rig_start(&r, &plan, names, n, 0);
		while (r.trace.entries[from].op != TRACE_WRMSR)
			from++;
		for (unsigned k = from; k < r.trace.count; k++) {
			char line[160];
			struct text t;
			text_init(&t, line, sizeof(line));
			trace_line(&t, &r.trace.entries[k]);
			if (k == from)
				assert_string_equal(line, cases[i].first);
			started |= cases[i].start && !strcmp(line, cases[i].start);
			assert_true(cases[i].start || !strstr(line, "0xE01"));
		}
		assert_true(started);
		write_and_flush(&r);
		assert_int_equal(uncore_values(r.a, &r.u, &plan, 0, 0, v), ST_OK);
		assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 0), ST_OK);
		near_percent(names[0], v[0], 2 * LINES);
		assert_true(v[1] > v[0]);
		near_percent(names[2], v[2] + (n == 4 ? v[3] : 0), LINES);
		assert_int_equal(uncore_rig_findings(&r, NULL, NULL), 0);
		uncore_rig_close(&r);
	}
}

/* --- the machine's side ------------------------------------------------------------------------------- */

static void test_client_machine_tells_wrong_accesses(void **state)
{
	(void)state;
	static struct uncore_rig r;
	const struct machine m = core_bench_machine("skylake");
	enum finding_kind kind;
	const char *why;
	uint64_t v;
	uncore_rig_open(&r, &m);
	const struct access *a = sim_access(r.sim);
	assert_int_equal(a->ops->wrmsr(a->self, 0, 0x700, 1u << 29), ST_FAULT);
	(void)uncore_rig_findings(&r, &kind, &why);
	assert_int_equal(kind, FIND_RESERVED);
	assert_int_equal(a->ops->wrmsr(a->self, 0, 0xE01, 1u << 29), ST_OK);
	assert_int_equal(a->ops->wrmsr(a->self, 0, 0x3B3, 0x400180), ST_OK); /* occupancy on counter 1 */
	(void)uncore_rig_findings(&r, &kind, &why);
	assert_int_equal(kind, FIND_WRONG_COUNTER);
	assert_int_equal(a->ops->mmio_write(a->self, WINDOW + 0x5050, 4, 1), ST_OK);
	(void)uncore_rig_findings(&r, &kind, &why);
	assert_int_equal(kind, FIND_IGNORED);
	assert_int_equal(a->ops->mmio_read(a->self, WINDOW + 0x5050, 8, &v), ST_OK);
	(void)uncore_rig_findings(&r, &kind, &why);
	assert_int_equal(kind, FIND_UNDEFINED);
	assert_int_equal(a->ops->mmio_read(a->self, WINDOW + 0x8000, 4, &v), ST_UNSUPPORTED);
	assert_int_equal(a->ops->rdmsr(a->self, 0, 0x740, &v), ST_FAULT); /* a fifth slice */
	uncore_rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client_boxes_are_found),
		cmocka_unit_test(test_client_slices_are_counted),
		cmocka_unit_test(test_client_says_why_memory_is_not_counted),
		cmocka_unit_test(test_client_programs_the_golden_sequence_and_all_is_restored),
		cmocka_unit_test(test_client_counts_the_lines_that_a_kernel_reads_and_writes),
		cmocka_unit_test(test_client_slices_share_the_lines),
		cmocka_unit_test(test_client_arbiters_of_later_processors),
		cmocka_unit_test(test_client_machine_tells_wrong_accesses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
