/* The Pentium 4's front-side bus: what its counters say of it, against what memory took and gave on the simulated machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/work.h"
#include "pmu/counters.h"
#include "pmu/netburst.h"
#include "pmu/sim/sim_state.h"
#include "tests/unit/closed_loop.h"
#include "tests/unit/counter_rig.h"

static struct loop_run r;
static struct bench bench;
static uint64_t lines;

static int open_pentium4(void **state)
{
	(void)state;
	loop_open(&r, loop_built_in("pentium4"));
	bench_init(&bench, &r.guard.access, &r.cpu, &r.host.host, 0, 1);
	return 0;
}

static int close_machine(void **state)
{
	(void)state;
	loop_close(&r);
	return 0;
}

static void line_moved(void *self, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t cycle, unsigned n)
{
	(void)self, (void)socket, (void)unit, (void)cycle;
	if (sig == UNC_MEMORY_READ || sig == UNC_MEMORY_WRITE_FULL)
		lines += n;
}

static void nothing(void *self, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t from, uint64_t to, unsigned n)
{
	(void)self, (void)socket, (void)unit, (void)sig, (void)from, (void)to, (void)n;
}

/* Up to two events of one run while a piece of work runs once. */
static void count(enum work_kind kind, const char *first, const char *second, uint64_t out[2])
{
	const char *const names[2] = { first, second };
	const struct event *events[2];
	const char *problem;
	const unsigned n = second ? 2 : 1;
	struct plan plan;
	struct work work;
	struct job prepared, job = { .core = 0 };
	uint64_t before[2];
	for (unsigned i = 0; i < n; i++)
		assert_non_null(events[i] = event_find(r.cpu.processor, names[i]));
	assert_int_equal(plan_events(&r.cpu, events, n, &plan, &problem), ST_OK);
	assert_int_equal(plan.runs, 1);
	assert_int_equal(work_open(&work, &bench, kind, 0, 0), ST_OK);
	assert_int_equal(work_prepare(&work, work_iterations(kind), &prepared), ST_OK);
	struct measure_block *block = r.guard.access.ops->control(r.guard.access.self, 0);
	memset(block, 0, sizeof(*block));
	block->kernel = WINDOW_CODE + work.kernel->offset;
	block->serialise = r.cpu.processor->serialise_cpuid;
	work_arguments(&work, work_iterations(kind), block->argument);
	job.entry = WINDOW_CODE + kernel_find("k_measure")->offset;
	job.argument = WINDOW_CONTROL;
	assert_int_equal(counters_start(&r.guard.access, &r.cpu, &plan, 0, 0), ST_OK);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(r.guard.access.ops->rdpmc(r.guard.access.self, 0, plan.slots[i].rdpmc_index, &before[i]), ST_OK);
	lines = 0;
	assert_int_equal(r.guard.access.ops->run(r.guard.access.self, &job, 1, 0), ST_OK);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(r.guard.access.ops->rdpmc(r.guard.access.self, 0, plan.slots[i].rdpmc_index, &out[i]), ST_OK);
		out[i] -= before[i];
	}
	assert_int_equal(counters_stop(&r.guard.access, &r.cpu, &plan, 0, 0), ST_OK);
	assert_int_equal(work_close(&work), ST_OK);
}

static void within_a_hundredth(uint64_t counted, uint64_t true_value)
{
	assert_true(true_value > 1000);
	assert_true(counted * 100 >= true_value * 99 && counted * 100 <= true_value * 101);
}

/* 32 bytes in each bus clock with data; a line is a transaction. */
static void test_netburst_bus_bytes_are_those_of_memory(void **state)
{
	(void)state;
	struct uncore_sink sink = { .pulse = line_moved, .level = nothing };
	uint64_t out[2];
	sink.listen[UNC_MEMORY_READ / 64] |= 1ull << UNC_MEMORY_READ % 64;
	sink.listen[UNC_MEMORY_WRITE_FULL / 64] |= 1ull << UNC_MEMORY_WRITE_FULL % 64;
	memory_uncore(r.sim->memory, &sink);
	for (unsigned w = 0; w < 2; w++) {
		const enum work_kind kind = w ? WORK_LATENCY : WORK_BANDWIDTH;
		count(kind, "FSB.DATA_CLOCKS", "IOQ.TRANSACTIONS", out);
		print_message("%s: %llu lines, %llu clocks with data, %llu transactions\n", work_name(kind), (unsigned long long)lines,
		              (unsigned long long)out[0], (unsigned long long)out[1]);
		within_a_hundredth(32 * out[0], 64 * lines);
		within_a_hundredth(out[1], lines);
		count(kind, "FSB.DATA_READ_CLOCKS", "FSB.DATA_WRITTEN_CLOCKS", out);
		within_a_hundredth(32 * (out[0] + out[1]), 64 * lines);
		count(kind, "IOQ.READS", "IOQ.WRITES", out);
		within_a_hundredth(out[0] + out[1], lines);
	}
	memory_uncore(r.sim->memory, NULL);
}

/* The "value" behind an event's name in results.json, in thousandths. */
static int64_t value_of(const struct loop_run *run, const char *event)
{
	char name[64];
	snprintf(name, sizeof(name), "\"name\": \"%s\"", event);
	const char *at = strstr(memory_host_file(&run->host, "results.json"), name);
	assert_non_null(at);
	return (int64_t)(strtod(strstr(at, "\"value\": ") + 9, NULL) * 1000 + 0.5);
}

/* Of a triad that stores past the caches eight lines come an iteration and four leave. */
static void test_netburst_bus_tells_reads_from_writes(void **state)
{
	(void)state;
	const struct suite_settings s = { .suite = "triad.dram_nt.bandwidth", .profile = "bus" };
	assert_int_equal(suite_run(&r.guard.access, &r.cpu, &s, &r.host.host, &r.sum), ST_OK);
	within_a_hundredth((uint64_t)value_of(&r, "IOQ.READS"), 8000);
	within_a_hundredth((uint64_t)value_of(&r, "IOQ.WRITES"), 4000);
	within_a_hundredth((uint64_t)value_of(&r, "IOQ.TRANSACTIONS"), 12000);
	within_a_hundredth((uint64_t)value_of(&r, "FSB.DATA_READ_CLOCKS"), 16000);
	within_a_hundredth((uint64_t)value_of(&r, "FSB.DATA_WRITTEN_CLOCKS"), 8000);
	within_a_hundredth((uint64_t)value_of(&r, "FSB.DATA_CLOCKS"), 24000);
}

/* How long a read is in the queue: memory's time, less than the load waits, whose rest is the way there and back. */
static void test_netburst_queue_holds_reads_as_long_as_memory_takes(void **state)
{
	(void)state;
	static const char *const ps[] = { "100000", "150000" };
	for (unsigned i = 0; i < 2; i++) {
		static struct loop_run moved;
		char *text = loop_changed(loop_built_in("pentium4"), "dram", "local_ps", ps[i]);
		const struct suite_settings s = { .suite = "load.dram_local.latency", .profile = "IOQ.READS,IOQ.READ_ENTRIES" };
		loop_open(&moved, text);
		assert_int_equal(suite_run(&moved.guard.access, &moved.cpu, &s, &moved.host.host, &moved.sum), ST_OK);
		const double each = (double)value_of(&moved, "IOQ.READ_ENTRIES") / (double)value_of(&moved, "IOQ.READS");
		const double cycles = strtod(ps[i], NULL) * 3.2 / 1000;
		print_message("%s ps: %.3f cycles a read, %.3f by the machine's file\n", ps[i], each, cycles);
		assert_true(each >= cycles && each <= cycles * 1.05);
		loop_close(&moved);
		free(text);
	}
}

/* The same beside the row that gives the latency by its chase; where an ESCR of the bus is missing the row stands without it. */
static void test_netburst_queue_stands_beside_the_chase(void **state)
{
	(void)state;
	static struct loop_run run;
	loop_open(&run, loop_built_in("pentium4"));
	loop_suite(&run, "load.l2.latency,load.dram_local.latency");
	assert_int_equal(run.host.results[0].queue.verdict, QUEUE_NONE);
	const struct row_result *row = &run.host.results[1];
	assert_int_equal(row->queue.verdict, QUEUE_OK);
	assert_in_range(row->queue.inserts_milli, 999, 1001);
	assert_in_range(row->queue.cycles_milli, 320000, 336000);
	assert_true(llabs(row->queue.cycles_milli + row->queue.offset_milli - row->value_milli) <= 1);
	loop_close(&run);
	char *text = loop_changed(loop_built_in("pentium4"), "fault", "msr_missing", "0x3A3");
	loop_open(&run, text);
	loop_suite(&run, "load.dram_local.latency");
	assert_int_equal(run.host.results[0].status, ROW_OK);
	assert_int_equal(run.host.results[0].queue.verdict, QUEUE_FAULT);
	assert_true(run.host.results[0].queue.reason[0]);
	loop_close(&run);
	free(text);
}

static void finds(struct counter_rig *rig, uint32_t msr, uint64_t value, enum finding_kind kind, const char *words)
{
	struct sim_finding f;
	assert_int_equal(counters_wrmsr(rig->p, msr, value, &f), ST_OK);
	if (!f.why || f.kind != kind || !strstr(f.why, words))
		fail_msg("0x%X = 0x%llx: \"%s\" instead of \"%s\"", msr, (unsigned long long)value, f.why ? f.why : "", words);
}

static uint32_t fsb(uint32_t select, uint32_t mask) { return select << 25 | mask << 9 | 8; }

static void test_netburst_bus_events_that_the_machine_cannot_tell_are_found(void **state)
{
	(void)state;
	struct counter_rig rig;
	struct sim_finding f;
	static const struct { uint32_t escr; const char *words; } bad[] = {
		{ 0xE860, "by their type" }, { 0x2861, "those of prefetchers" }, { 0x8861, "other agents" }, { 0xA001, "all that this mask" } };
	pmu_open(&rig, "pentium4", "");
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(counters_wrmsr(rig.p, 0x3A2, fsb(0x03, bad[i].escr), &f), ST_OK);
		finds(&rig, 0x360, 0x3D000, FIND_UNMODELLED, bad[i].words);
		assert_int_equal(counters_wrmsr(rig.p, 0x360, 0x30000, &f), ST_OK);
	}
	/* entries: in ESCR1 alone, beside the same mask in ESCR0 */
	assert_int_equal(counters_wrmsr(rig.p, 0x3A2, fsb(0x1A, 0xA821), &f), ST_OK);
	finds(&rig, 0x360, 0x3D000, FIND_IGNORED, "FSB_ESCR1 alone");
	assert_int_equal(counters_wrmsr(rig.p, 0x360, 0x30000, &f), ST_OK);
	assert_int_equal(counters_wrmsr(rig.p, 0x3A2, fsb(0x03, 0xA841), &f), ST_OK);
	assert_int_equal(counters_wrmsr(rig.p, 0x3A3, fsb(0x1A, 0xA821), &f), ST_OK);
	finds(&rig, 0x362, 0x3D000, FIND_IGNORED, "same mask");
	assert_int_equal(counters_wrmsr(rig.p, 0x3A2, fsb(0x03, 0xA821), &f), ST_OK);
	assert_int_equal(counters_wrmsr(rig.p, 0x362, 0x3D000, &f), ST_OK);
	assert_null(f.why);
	assert_int_equal(counters_wrmsr(rig.p, 0x3A3, fsb(0x17, 0x08), &f), ST_OK);
	finds(&rig, 0x363, 0x3D000, FIND_UNMODELLED, "data busy");
	pmu_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_netburst_bus_bytes_are_those_of_memory, open_pentium4, close_machine),
		cmocka_unit_test_setup_teardown(test_netburst_bus_tells_reads_from_writes, open_pentium4, close_machine),
		cmocka_unit_test(test_netburst_queue_holds_reads_as_long_as_memory_takes),
		cmocka_unit_test(test_netburst_queue_stands_beside_the_chase),
		cmocka_unit_test(test_netburst_bus_events_that_the_machine_cannot_tell_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
