/* The Pentium 4's front-side bus: its counters against the traffic of memory on the simulated machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rigs/counter_rig.h"
#include "tests/unit/rigs/work_rig.h"

static struct work_rig rig;

static int open_pentium4(void **state)
{
	(void)state;
	work_rig_open(&rig, loop_built_in("pentium4"));
	return 0;
}

static int close_machine(void **state)
{
	(void)state;
	work_rig_close(&rig);
	return 0;
}

/* 32 bytes in each bus clock with data; a line is a transaction. */
static void test_netburst_bus_bytes_are_those_of_memory(void **state)
{
	(void)state;
	uint64_t out[2];
	for (unsigned w = 0; w < 2; w++) {
		const enum work_kind kind = w ? WORK_LATENCY : WORK_BANDWIDTH;
		work_rig_count(&rig, kind, 1, "FSB.DATA_CLOCKS", "IOQ.TRANSACTIONS", out);
		print_message("%s: %llu lines, %llu clocks with data, %llu transactions\n", work_name(kind), (unsigned long long)rig.lines,
		              (unsigned long long)out[0], (unsigned long long)out[1]);
		within_a_hundredth(32 * out[0], 64 * rig.lines);
		within_a_hundredth(out[1], rig.lines);
		work_rig_count(&rig, kind, 1, "FSB.DATA_READ_CLOCKS", "FSB.DATA_WRITTEN_CLOCKS", out);
		within_a_hundredth(32 * (out[0] + out[1]), 64 * rig.lines);
		work_rig_count(&rig, kind, 1, "IOQ.READS", "IOQ.WRITES", out);
		within_a_hundredth(out[0] + out[1], rig.lines);
	}
}

/* The queue in front of the bus (BSQ) counts requests by kind: the kinds add up to the row's lines. */
static void test_netburst_queue_before_the_bus_has_all_of_its_requests(void **state)
{
	(void)state;
	static const struct { const char *row; unsigned reads, writes; } cases[] = { { "triad.dram_nt.bandwidth", 8000, 4000 }, { "triad.dram.bandwidth", 12000, 4000 } };
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		const struct suite_settings s = { .suite = cases[i].row, .profile = "bus-queue" };
		assert_int_equal(suite_run(&rig.run.guard.access, &rig.run.cpu, &s, &rig.run.host.host, &rig.run.sum), ST_OK);
		const int64_t demanded = loop_event_milli(&rig.run, "BSQ.READS"), prefetched = loop_event_milli(&rig.run, "BSQ.PREFETCHES"),
			owned = loop_event_milli(&rig.run, "BSQ.RFOS"), back = loop_event_milli(&rig.run, "BSQ.WRITE_BACKS"), past = loop_event_milli(&rig.run, "BSQ.WC_LINES");
		print_message("%s: %lld demanded, %lld prefetched, %lld for stores, %lld written back, %lld past the caches\n", cases[i].row, (long long)demanded,
		              (long long)prefetched, (long long)owned, (long long)back, (long long)past);
		within_a_hundredth((uint64_t)(demanded + prefetched + owned), cases[i].reads);
		within_a_hundredth((uint64_t)(i ? back : past), cases[i].writes);
		assert_in_range(i ? past : back, 0, 10);
		assert_int_equal(loop_event_milli(&rig.run, "BSQ.WC_PARTS"), 0);
		assert_true(demanded > 0 && prefetched > 4 * demanded);
		memory_host_free(&rig.run.host);
		memory_host_init(&rig.run.host);
	}
}

/* A triad that stores past the caches reads eight lines an iteration and writes four. */
static void test_netburst_bus_tells_reads_from_writes(void **state)
{
	(void)state;
	const struct suite_settings s = { .suite = "triad.dram_nt.bandwidth", .profile = "bus" };
	assert_int_equal(suite_run(&rig.run.guard.access, &rig.run.cpu, &s, &rig.run.host.host, &rig.run.sum), ST_OK);
	within_a_hundredth((uint64_t)loop_event_milli(&rig.run, "IOQ.READS"), 8000);
	within_a_hundredth((uint64_t)loop_event_milli(&rig.run, "IOQ.WRITES"), 4000);
	within_a_hundredth((uint64_t)loop_event_milli(&rig.run, "IOQ.TRANSACTIONS"), 12000);
	within_a_hundredth((uint64_t)loop_event_milli(&rig.run, "FSB.DATA_READ_CLOCKS"), 16000);
	within_a_hundredth((uint64_t)loop_event_milli(&rig.run, "FSB.DATA_WRITTEN_CLOCKS"), 8000);
	within_a_hundredth((uint64_t)loop_event_milli(&rig.run, "FSB.DATA_CLOCKS"), 24000);
}

/* A read is in the queue for memory's latency. The load waits longer, by the way to the queue and back. */
static void test_netburst_queue_holds_reads_as_long_as_memory_takes(void **state)
{
	(void)state;
	static const char *const ps[] = { "100000", "150000" };
	for (unsigned i = 0; i < 2; i++) {
		static struct loop_run moved;
		char *text = loop_changed(loop_built_in("pentium4"), "dram", "local_ps", ps[i]);
		const struct suite_settings s = { .suite = "load.dram_local.latency", .profile = "IOQ.READS,IOQ.READ_ENTRIES,BSQ.READS,BSQ.READ_ENTRIES" };
		loop_open(&moved, text);
		assert_int_equal(suite_run(&moved.guard.access, &moved.cpu, &s, &moved.host.host, &moved.sum), ST_OK);
		const double each = (double)loop_event_milli(&moved, "IOQ.READ_ENTRIES") / (double)loop_event_milli(&moved, "IOQ.READS");
		const double cycles = strtod(ps[i], NULL) * 3.2 / 1000;
		print_message("%s ps: %.3f cycles a read, %.3f by the machine's file\n", ps[i], each, cycles);
		assert_true(each >= cycles && each <= cycles * 1.05);
		/* its entry in the BSQ lasts as long, and a chase makes no other requests */
		assert_int_equal(loop_event_milli(&moved, "BSQ.READS"), loop_event_milli(&moved, "IOQ.READS"));
		assert_int_equal(loop_event_milli(&moved, "BSQ.READ_ENTRIES"), loop_event_milli(&moved, "IOQ.READ_ENTRIES"));
		loop_close(&moved);
		free(text);
	}
}

/* The same beside the row that measures the latency by a chase. If an ESCR of the bus is missing, the row is `ok` without it. */
static void test_netburst_queue_stands_beside_the_chase(void **state)
{
	(void)state;
	static struct loop_run run;
	loop_open(&run, loop_built_in("pentium4"));
	loop_suite(&run, "load.l2.latency,load.dram_local.latency");
	assert_int_equal(run.host.results[0].queue.verdict, UNCORE_LATENCY_NONE);
	const struct row_result *row = &run.host.results[1];
	assert_int_equal(row->queue.verdict, UNCORE_LATENCY_OK);
	assert_in_range(row->queue.inserts_milli, 999, 1001);
	assert_in_range(row->queue.cycles_milli, 320000, 336000);
	assert_true(llabs(row->queue.cycles_milli + row->queue.offset_milli - row->value_milli) <= 1);
	loop_close(&run);
	char *text = loop_changed(loop_built_in("pentium4"), "fault", "msr_missing", "0x3A3");
	loop_open(&run, text);
	loop_suite(&run, "load.dram_local.latency");
	assert_int_equal(run.host.results[0].status, ROW_OK);
	assert_int_equal(run.host.results[0].queue.verdict, UNCORE_LATENCY_FAULT);
	assert_true(run.host.results[0].queue.reason[0]);
	loop_close(&run);
	free(text);
}

static void finds(struct counter_rig *on, uint32_t msr, uint64_t value, enum finding_kind kind, const char *words)
{
	struct sim_finding f = { 0 };
	assert_int_equal(counters_wrmsr(on->p, msr, 0, &f), ST_OK); /* a mistake is reported once, until its CCCR changes */
	assert_int_equal(counters_wrmsr(on->p, msr, value, &f), ST_OK);
	if (!f.why || f.kind != kind || !strstr(f.why, words))
		fail_msg("0x%X = 0x%llx: \"%s\" instead of \"%s\"", msr, (unsigned long long)value, f.why ? f.why : "", words);
}

static uint32_t fsb(uint32_t select, uint32_t mask) { return select << 25 | mask << 9 | 8; }

static void test_netburst_bus_events_that_the_machine_cannot_tell_are_found(void **state)
{
	(void)state;
	struct counter_rig regs;
	struct sim_finding f = { 0 };
	static const struct { uint32_t escr; const char *words; } bad[] = {
		{ 0xE860, "by their type" }, { 0x2861, "those of prefetchers" }, { 0x8861, "other agents" }, { 0xA001, "all properties that this mask" } };
	pmu_open(&regs, "pentium4", "");
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(counters_wrmsr(regs.p, 0x3A2, fsb(0x03, bad[i].escr), &f), ST_OK);
		finds(&regs, 0x360, 0x3D000, FIND_UNMODELLED, bad[i].words);
		assert_int_equal(counters_wrmsr(regs.p, 0x360, 0x30000, &f), ST_OK);
	}
	/* entries: in ESCR1 alone, beside the same mask in ESCR0 */
	assert_int_equal(counters_wrmsr(regs.p, 0x3A2, fsb(0x1A, 0xA821), &f), ST_OK);
	finds(&regs, 0x360, 0x3D000, FIND_IGNORED, "FSB_ESCR1 alone");
	assert_int_equal(counters_wrmsr(regs.p, 0x360, 0x30000, &f), ST_OK);
	assert_int_equal(counters_wrmsr(regs.p, 0x3A2, fsb(0x03, 0xA841), &f), ST_OK);
	assert_int_equal(counters_wrmsr(regs.p, 0x3A3, fsb(0x1A, 0xA821), &f), ST_OK);
	finds(&regs, 0x362, 0x3D000, FIND_IGNORED, "same mask");
	assert_int_equal(counters_wrmsr(regs.p, 0x3A2, fsb(0x03, 0xA821), &f), ST_OK);
	assert_int_equal(counters_wrmsr(regs.p, 0x362, 0x3D000, &f), ST_OK);
	assert_null(f.why);
	assert_int_equal(counters_wrmsr(regs.p, 0x3A3, fsb(0x17, 0x08), &f), ST_OK);
	finds(&regs, 0x363, 0x3D000, FIND_UNMODELLED, "data busy");
	/* the BSQ: a mask requires all properties of a request; entries in ESCR1 alone, beside the same mask in ESCR0 */
	assert_int_equal(counters_wrmsr(regs.p, 0x360, 0x30000, &f), ST_OK);
	assert_int_equal(counters_wrmsr(regs.p, 0x3A0, fsb(0x05, 0x3000), &f), ST_OK);
	finds(&regs, 0x360, 0x3F000, FIND_UNMODELLED, "all properties that this mask");
	assert_int_equal(counters_wrmsr(regs.p, 0x3A1, fsb(0x05, 0x328C), &f), ST_OK);
	finds(&regs, 0x362, 0x3F000, FIND_IGNORED, "BSU_ESCR0 alone");
	assert_int_equal(counters_wrmsr(regs.p, 0x3A1, fsb(0x06, 0x328C), &f), ST_OK);
	finds(&regs, 0x362, 0x3F000, FIND_IGNORED, "same mask");
	assert_int_equal(counters_wrmsr(regs.p, 0x3A0, fsb(0x05, 0x328D), &f), ST_OK);
	assert_int_equal(counters_wrmsr(regs.p, 0x3A1, fsb(0x06, 0x328D), &f), ST_OK);
	finds(&regs, 0x362, 0x3F000, FIND_UNMODELLED, "but of demand reads");
	assert_int_equal(counters_wrmsr(regs.p, 0x3A0, fsb(0x06, 0x328C), &f), ST_OK);
	finds(&regs, 0x360, 0x3F000, FIND_IGNORED, "BSU_ESCR1 alone");
	pmu_close(&regs);
}

/* The map's rows about other agents hold only on a machine of one core, where there are none. */
static void test_netburst_bus_of_two_cores_cannot_tell_other_agents(void **state)
{
	(void)state;
	struct counter_rig regs;
	struct sim_finding f = { 0 };
	pmu_open(&regs, "pentium4", "");
	for (unsigned cores = 1; cores <= 2; cores++) {
		regs.m.topology_cores = cores;
		for (unsigned e = 0; e < 2; e++) { /* transactions of all agents; clocks with other agents' data */
			assert_int_equal(counters_wrmsr(regs.p, 0x360, 0x30000, &f), ST_OK);
			assert_int_equal(counters_wrmsr(regs.p, 0x3A2, e ? fsb(0x17, 0x04) : fsb(0x03, 0xE861), &f), ST_OK);
			if (cores == 2)
				finds(&regs, 0x360, 0x3D000, FIND_UNMODELLED, "of other agents");
			else
				assert_int_equal(counters_wrmsr(regs.p, 0x360, 0x3D000, &f), ST_OK);
			assert_null(f.why);
		}
	}
	pmu_close(&regs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_netburst_bus_bytes_are_those_of_memory, open_pentium4, close_machine),
		cmocka_unit_test_setup_teardown(test_netburst_bus_tells_reads_from_writes, open_pentium4, close_machine),
		cmocka_unit_test_setup_teardown(test_netburst_queue_before_the_bus_has_all_of_its_requests, open_pentium4, close_machine),
		cmocka_unit_test(test_netburst_queue_holds_reads_as_long_as_memory_takes),
		cmocka_unit_test(test_netburst_queue_stands_beside_the_chase),
		cmocka_unit_test(test_netburst_bus_events_that_the_machine_cannot_tell_are_found),
		cmocka_unit_test(test_netburst_bus_of_two_cores_cannot_tell_other_agents),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
