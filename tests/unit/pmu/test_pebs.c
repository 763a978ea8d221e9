/* pmu/counters/pebs.c on the simulated machine: records judged by the simulator's state, lost records, refused requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/counters/pebs.h"
#include "tests/unit/support/fake_access.h"
#include "tests/unit/rigs/sampling_rig.h"
#include "tests/unit/support/sim_look.h"
#include "tests/unit/support/table_find.h"
#include "tests/unit/support/kernel_run.h"

#define NODES 2048u /* 128 KiB: in the L2 of 256 KiB, not in the L1 */

static struct sampling_rig rig;
static struct pebs pebs;
static const char *why;

static const struct event *event(const char *name)
{
	const struct event *e = event_find(rig.cpu.processor, name);
	if (!e)
		fail_msg("no event %s", name);
	return e;
}

/* Samples one burst of loads with the requests. */
static void burst(struct pebs_request *requests, unsigned n, unsigned loads)
{
	assert_int_equal(pebs_start(&pebs, requests, n, &why), ST_OK);
	rig.gate = &pebs.gate;
	sampling_chase(&rig, loads);
	rig.gate = NULL;
	assert_int_equal(pebs_stop(&pebs), ST_OK);
}

static void open_l2(void (*change)(struct machine *m))
{
	sampling_open(&rig, change, PAGE_2M);
	sampling_ring(&rig, NODES);
	assert_int_equal(pebs_open(&pebs, rig.a, &rig.cpu, 0, &why), ST_OK);
	assert_int_equal(rig.a->ops->wrmsr(rig.a->self, 0, 0x1A4, 0xF), ST_OK);
	sampling_chase(&rig, 2 * NODES);
}

/* Every record has the address of a node, the value loaded from it in RAX, and the L2 as its source. */
static void test_pebs_latency_records_agree_with_the_machine_in_all_cases(void **state)
{
	(void)state;
	open_l2(NULL);
	struct pebs_request q = { .event = event("MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_4"), .period = 3, .companion = true };
	burst(&q, 1, NODES);
	assert_in_range(pebs.records, 100, 300);
	assert_false(pebs.full);
	unsigned inside = 0;
	for (unsigned i = 0; i < pebs.records; i++) {
		struct pebs_record r;
		assert_int_equal(pebs_read(&pebs, i, &r), ST_OK);
		if (r.address - SPACE_DATA >= NODES * 64)
			continue; /* a load of the wrapper */
		inside++;
		assert_int_equal(r.address % 64, 0);
		assert_int_equal(*(uint64_t *)((uint8_t *)rig.map.host + (r.address - SPACE_DATA)), r.gpr[0]);
		assert_int_equal(r.source, 3);
		assert_int_equal(r.latency, rig.machine.l2_cycles);
	}
	assert_true(inside + 3 >= pebs.records);
	assert_true(q.has_companion);
	assert_int_equal(q.events - q.since, (uint64_t)pebs.records * 4); /* loads are 10 cycles apart: none falls into a shadow of 8 */
	sampling_close(&rig);
}

/* At every threshold of the table, records have latencies above it; above the longest latency of a load there are no records. */
static void test_pebs_every_latency_threshold(void **state)
{
	(void)state;
	unsigned thresholds = 0, with = 0;
	open_l2(NULL);
	const struct processor *p = rig.cpu.processor;
	for (unsigned i = 0; i < p->event_count; i++) {
		if (p->events[i].pebs != 3)
			continue;
		uint64_t value;
		struct pebs_request q = { .event = &p->events[i], .period = 3, .companion = true };
		sampling_run(&rig, "k_flush", SPACE_DATA, 512, 64, 0); /* a quarter of the nodes come from memory */
		burst(&q, 1, NODES);
		assert_int_equal(rig.a->ops->rdmsr(rig.a->self, 0, 0x3F6, &value), ST_OK);
		assert_int_equal(value, p->events[i].extra_value);
		for (unsigned k = 0; k < pebs.records; k++) {
			struct pebs_record r;
			assert_int_equal(pebs_read(&pebs, k, &r), ST_OK);
			assert_true(r.latency > value);
		}
		assert_int_equal(pebs.records > 20, value < 170);
		assert_int_equal(q.events == 0, value > 170); /* memory answers in 176 cycles */
		thresholds++;
		with += pebs.records != 0;
	}
	assert_int_equal(thresholds, 15); /* 3, 4, 8, ... 32768 */
	assert_int_equal(with, 7);
	sampling_close(&rig);
}

/* Four precise events at once; the status of a record names its counter. */
static void test_pebs_samples_several_events_at_once(void **state)
{
	(void)state;
	open_l2(NULL);
	struct pebs_request q[4] = {
		{ .event = event("MEM_LOAD_RETIRED.L2_HIT"), .period = 53 }, { .event = event("INST_RETIRED.ANY_P"), .period = 101 },
		{ .event = event("BR_INST_RETIRED.CONDITIONAL"), .period = 11 }, { .event = event("MEM_INST_RETIRED.LOADS"), .period = 97 },
	};
	unsigned count[4] = { 0 };
	burst(q, 4, 4096);
	for (unsigned i = 0; i < pebs.records; i++) {
		struct pebs_record r;
		assert_int_equal(pebs_read(&pebs, i, &r), ST_OK);
		for (unsigned k = 0; k < 4; k++)
			count[k] += r.status == 1ull << q[k].counter;
	}
	assert_in_range(count[0], 4096 / 54 - 2, 4096 / 54 + 2);
	assert_in_range(count[1], 4608 / 102 - 4, 4608 / 102 + 4);
	assert_in_range(count[2], 256 / 12 - 4, 256 / 12 + 4);
	assert_in_range(count[3], 4096 / 98 - 4, 4096 / 98 + 4);
	sampling_close(&rig);
}

static struct pebs_balance two_bursts(const char *name, unsigned loads)
{
	static const uint64_t periods[2] = { 3, 13 };
	struct pebs_burst bursts[2];
	struct pebs_balance balance;
	for (unsigned i = 0; i < 2; i++) {
		struct pebs_request q = { .event = event(name), .period = periods[i], .companion = true };
		burst(&q, 1, loads * (i ? 3 : 1));
		bursts[i] = (struct pebs_burst){ periods[i], q.events, q.since, pebs.records };
	}
	pebs_balance(&bursts[0], &bursts[1], &balance);
	assert_true(balance.known);
	return balance;
}

static void drop_every_fifth(struct machine *m) { m->fault_pebs_drop_every = 5; }
static void long_shadow(struct machine *m) { m->pmu_pebs_shadow_cycles = 35; }

static void test_pebs_lost_records_are_counted(void **state)
{
	(void)state;
	open_l2(NULL);
	struct pebs_balance b = two_bursts("MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_4", NODES);
	assert_true(b.exact);
	assert_int_equal(b.lost, 0);
	assert_int_equal(b.shadow_milli, 0);
	b = two_bursts("MEM_LOAD_RETIRED.L2_HIT", 256);
	assert_int_equal(b.lost, 0);
	sampling_close(&rig);

	open_l2(drop_every_fifth);
	struct pebs_burst bursts[2];
	uint64_t due = 0;
	for (unsigned i = 0; i < 2; i++) {
		struct pebs_request q = { .event = event("MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_4"), .period = i ? 13 : 3, .companion = true };
		burst(&q, 1, NODES * (1 + i));
		bursts[i] = (struct pebs_burst){ q.period, q.events, q.since, pebs.records };
		due += (q.events - q.since) / (q.period + 1);
	}
	pebs_balance(&bursts[0], &bursts[1], &b);
	fprintf(stderr, "due %u, came %u, lost %u\n", (unsigned)due, (unsigned)(bursts[0].records + bursts[1].records), b.lost);
	assert_true(b.known);
	/* without a shadow the number of records due is known */
	assert_true(b.exact);
	assert_int_equal(b.lost, due - bursts[0].records - bursts[1].records);
	assert_in_range(b.lost, due / 5 - 2, due / 5 + 2);
	sampling_close(&rig);
}

/* The shadow, in which nothing is recorded, is measured in events: 35 cycles contain three loads of 10 cycles each. */
static void test_pebs_shadow_is_measured(void **state)
{
	(void)state;
	open_l2(long_shadow);
	assert_int_equal(rig.machine.l2_cycles, 10);
	struct pebs_balance b = two_bursts("MEM_LOAD_RETIRED.L2_HIT", 1024);
	assert_in_range(b.shadow_milli, 2950, 3050); /* thousandths of a slope */
	assert_int_equal(b.lost, 0);
	/* but whether further records were lost cannot be known */
	assert_false(b.exact);
	assert_true(b.lost_most > 100);
	sampling_close(&rig);
}

static void test_pebs_full_buffer_is_told(void **state)
{
	(void)state;
	open_l2(NULL);
	struct pebs_request q = { .event = event("MEM_INST_RETIRED.LOADS"), .period = 1 };
	burst(&q, 1, 2048);
	assert_true(pebs.full);
	assert_int_equal(pebs.records, pebs.capacity);
	burst(&q, 1, 256);
	assert_false(pebs.full);
	assert_in_range(pebs.records, 120, 140);
	sampling_close(&rig);
}

/* A kernel faults in a burst: the job's undo routine disarms PEBS; without one the machine reports the stores that hardware would make. Stopping
 * disarms as well, and without it the guard restores everything (sampling_close). */
static void test_pebs_fault_in_a_burst_leaves_nothing_on(void **state)
{
	(void)state;
	for (unsigned stopped = 0; stopped < 4; stopped++) {
		uint64_t value;
		open_l2(NULL);
		struct pebs_request q = { .event = event("MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_8"), .period = 3, .companion = true };
		assert_int_equal(pebs_start(&pebs, &q, 1, &why), ST_OK);
		struct measure_block *b = rig.a->ops->control(rig.a->self, 0);
		b->argument[0] = 0x1000; /* no page: b still names k_chase */
		sampling_gate_load(&pebs.gate, b);
		struct job job = { .entry = kernel_at("k_measure_sampled"), .argument = SPACE_CONTROL };
		job.undo = stopped & 2 ? kernel_at("k_measure_off") : 0;
		assert_int_equal(rig.a->ops->run(rig.a->self, &job, 1, 0), ST_FAULT);
		assert_int_equal(job.vector, 14);
		assert_int_equal(sim_found(rig.sim, FIND_UNMAPPED) != 0, !(stopped & 2));
		if (stopped & 1)
			assert_int_equal(pebs_stop(&pebs), ST_OK);
		assert_int_equal(rig.a->ops->rdmsr(rig.a->self, 0, 0x3F1, &value), ST_OK);
		assert_int_equal(value == 0, stopped != 0);
		sampling_close(&rig);
	}
}

/* PEBS armed by the driver before the job: records are then also written outside the job, through the firmware's page tables. */
static void test_pebs_armed_outside_a_job_is_found(void **state)
{
	(void)state;
	open_l2(NULL);
	struct pebs_request q = { .event = event("MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_4"), .period = 3 };
	assert_int_equal(pebs_start(&pebs, &q, 1, &why), ST_OK);
	assert_int_equal(pebs.gate.count, 2);
	for (unsigned i = 0; i < pebs.gate.count; i++)
		assert_int_equal(rig.a->ops->wrmsr(rig.a->self, 0, pebs.gate.list[i].msr, pebs.gate.list[i].on), ST_OK);
	assert_int_equal(sim_found(rig.sim, FIND_UNMAPPED), 0);
	sampling_chase(&rig, NODES);
	assert_true(sim_found(rig.sim, FIND_UNMAPPED) >= 2); /* at the job's beginning and at its end */
	assert_int_equal(pebs_stop(&pebs), ST_OK);
	sampling_close(&rig);
}

static void test_pebs_what_cannot_be_sampled_is_refused_with_the_reason(void **state)
{
	(void)state;
	open_l2(NULL);
	struct pebs_request plain = { .event = event("CPU_CLK_UNHALTED.THREAD_P"), .period = 7 };
	assert_int_equal(pebs_start(&pebs, &plain, 1, &why), ST_UNSUPPORTED);
	assert_string_equal(why, "the event is not precise");
	struct pebs_request two[2] = {
		{ .event = event("MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_4"), .period = 7 },
		{ .event = event("MEM_INST_RETIRED.LOADS"), .period = 7 } };
	assert_int_equal(pebs_start(&pebs, two, 2, &why), ST_UNSUPPORTED);
	assert_string_equal(why, "the load-latency event samples alone");
	two[1].period = 0;
	assert_int_equal(pebs_start(&pebs, &two[1], 1, &why), ST_UNSUPPORTED);
	struct event second = *event("MEM_INST_RETIRED.LOADS"); /* with a second unit mask, which this processor has not */
	second.umask |= 0x100;
	struct pebs_request masked = { .event = &second, .period = 7 }, beside = { .event = event("MEM_INST_RETIRED.LOADS"), .period = 7, .beside = &second };
	assert_int_equal(pebs_start(&pebs, &masked, 1, &why), ST_UNSUPPORTED);
	assert_non_null(strstr(why, "second unit mask"));
	assert_int_equal(pebs_start(&pebs, &beside, 1, &why), ST_OK);
	assert_false(beside.has_beside);
	assert_int_equal(pebs_stop(&pebs), ST_OK);
	rig.cpu.pebs = false;
	assert_int_equal(pebs_open(&pebs, rig.a, &rig.cpu, 0, &why), ST_UNSUPPORTED);
	assert_string_equal(why, "no precise event based sampling (PEBS)");
	rig.cpu.pebs = true;
	rig.cpu.perf_capabilities = 0x5 << 8;
	assert_int_equal(pebs_open(&pebs, rig.a, &rig.cpu, 0, &why), ST_UNSUPPORTED);
	assert_string_equal(why, "PEBS records of a format that is not described");
	sampling_close(&rig);
}

/* The four layouts against records written out by hand. */
static void test_pebs_records_of_four_formats_are_read(void **state)
{
	(void)state;
	static struct fake fake;
	static const unsigned bytes[4] = { 0x90, 0xB0, 0xC0, 0xC8 };
	struct cpu cpu;
	fake_init(&fake, 1);
	sampling_open(&rig, NULL, PAGE_2M);
	cpu = rig.cpu;
	for (unsigned format = 0; format < 4; format++) {
		struct pebs_record r;
		cpu.perf_capabilities = format << 8 | 1;
		assert_int_equal(pebs_open(&pebs, &fake.access, &cpu, 0, &why), ST_OK);
		assert_int_equal(pebs.layout->bytes, bytes[format]);
		for (unsigned i = 0; i < bytes[format] / 8; i++)
			((uint64_t *)(void *)(fake.ds + PAGE_4K + bytes[format]))[i] = 100 + i;
		pebs.records = 2;
		assert_int_equal(pebs_read(&pebs, 1, &r), ST_OK);
		assert_int_equal(pebs_read(&pebs, 2, &r), ST_RANGE);
		assert_int_equal(pebs_read(&pebs, 1, &r), ST_OK);
		static const unsigned at[16] = { 2, 4, 5, 3, 9, 8, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17 };
		assert_int_equal(r.flags, 100);
		assert_int_equal(r.ip, 101);
		for (unsigned i = 0; i < 16; i++)
			assert_int_equal(r.gpr[i], 100 + at[i]);
		assert_int_equal(r.status, format >= 1 ? 118 : 0);
		assert_int_equal(r.address, format >= 1 ? 119 : 0);
		assert_int_equal(r.source, format >= 1 ? 120 : 0);
		assert_int_equal(r.latency, format >= 1 ? 121 : 0);
		assert_int_equal(r.eventing_ip, format >= 2 ? 122 : 0);
		assert_int_equal(r.tsc, format >= 3 ? 124 : 0);
		assert_true(pebs.capacity * bytes[format] <= (format ? DS_BYTES - PAGE_4K : PAGE_4K));
	}
	sampling_close(&rig);
}

/* An adaptive record of Ice Lake and of Golden Cove, written out by hand in the order of its groups: basic (format and size, eventing IP,
 * counters, TSC), memory (address, source, latency, TSX), registers. */
static void test_pebs_adaptive_records_are_read(void **state)
{
	(void)state;
	static struct fake fake;
	struct cpu cpu;
	fake_init(&fake, 1);
	sampling_open(&rig, NULL, PAGE_2M);
	cpu = rig.cpu;
	for (unsigned format = 4; format <= 6; format++) {
		struct pebs_record r;
		uint64_t *record = (uint64_t *)(void *)(fake.ds + PAGE_4K + 208);
		cpu.perf_capabilities = format << 8 | 1;
		assert_int_equal(pebs_open(&pebs, &fake.access, &cpu, 0, &why), ST_UNSUPPORTED);
		assert_string_equal(why, "PEBS records of a format that is not described");
		cpu.perf_capabilities |= 1 << 14;
		assert_int_equal(pebs_open(&pebs, &fake.access, &cpu, 0, &why), ST_OK);
		for (unsigned i = 0; i < 26; i++)
			record[i] = 100 + i;
		record[0] = 208ull << 48 | 77ull << 32 | 3;
		record[6] = 500ull << 32 | 106;
		pebs.records = 2;
		assert_int_equal(pebs_read(&pebs, 1, &r), ST_OK);
		assert_int_equal(r.eventing_ip, 101);
		assert_int_equal(r.status, 102);
		assert_int_equal(r.tsc, 103);
		assert_int_equal(r.address, 104);
		assert_int_equal(r.source, 105);
		assert_int_equal(r.latency, format == 4 ? 500ull << 32 | 106 : 106);
		assert_int_equal(r.flags, 108);
		assert_int_equal(r.ip, 109);
		for (unsigned i = 0; i < 16; i++) /* RAX RCX RDX RBX RSP RBP RSI RDI R8 .. R15 */
			assert_int_equal(r.gpr[i], 110 + i);
		record[0] = 208ull << 48 | 7; /* another group than requested */
		assert_int_equal(pebs_read(&pebs, 1, &r), ST_BROKEN);
		record[0] = 464ull << 48 | 3;
		assert_int_equal(pebs_read(&pebs, 1, &r), ST_BROKEN);
		assert_true(pebs.capacity * 208 <= DS_BYTES - PAGE_4K);
	}
	sampling_close(&rig);
}

/* Starts sampling the load-latency event on a core with adaptive records. */
static void start_adaptive(struct fake *fake, struct cpu *cpu, const char *name, unsigned format)
{
	static struct pebs_request q;
	fake_init(fake, 1);
	*cpu = (struct cpu){ .pmu_version = 5, .general_counters = 8, .general_width = 48, .general_mask = 0xFF, .fixed_mask = 0xF,
		.pebs = true, .processor = processor_named(name), .perf_capabilities = format << 8 | 1 << 14 };
	for (uint32_t i = 0; i < 8; i++) {
		fake_msr(fake, 0, 0x186 + i, 0);
		fake_msr(fake, 0, 0xC1 + i, 0);
	}
	static const uint32_t others[] = { 0x309, 0x30A, 0x30B, 0x30C, 0x38D, 0x38E, 0x38F, 0x390, 0x3F1, 0x3F2, 0x3F6, 0x600 };
	for (unsigned i = 0; i < COUNT_OF(others); i++)
		fake_msr(fake, 0, others[i], 0);
	assert_int_equal(pebs_open(&pebs, &fake->access, cpu, 0, &why), ST_OK);
	q = (struct pebs_request){ .event = event_find(cpu->processor, "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_8"), .period = 5 };
	assert_non_null(q.event);
	assert_int_equal(pebs_start(&pebs, &q, 1, &why), ST_OK);
}

static void test_pebs_of_ice_lake_asks_for_adaptive_records(void **state)
{
	(void)state;
	static struct fake fake;
	struct cpu cpu;
	start_adaptive(&fake, &cpu, "ice-lake-sp", 4);
	assert_null(pebs.auxiliary);
	assert_int_equal(fake_value(&fake, 0, 0x3F2), 3);
	assert_int_equal(fake_value(&fake, 0, 0x3F6), 8);
	assert_int_equal(fake_value(&fake, 0, 0x186), 0x4004201CDull); /* EN, OS, adaptive record */
	assert_int_equal(pebs.gate.list[0].msr, 0x3F1);
	assert_int_equal(pebs.gate.list[0].on, 1); /* no enable of its own for the latency event */
	assert_int_equal(pebs.gate.list[1].on, 1);
	assert_int_equal(pebs_stop(&pebs), ST_OK);
	assert_int_equal(fake_value(&fake, 0, 0x186), 0);
}

/* Sapphire Rapids: the auxiliary event counts on another counter, and is programmed first. */
static void test_pebs_of_sapphire_rapids_counts_the_auxiliary_event(void **state)
{
	(void)state;
	static struct fake fake;
	struct cpu cpu;
	unsigned first = 0, second = 0;
	start_adaptive(&fake, &cpu, "sapphire-rapids", 5);
	assert_non_null(pebs.auxiliary);
	assert_int_equal(fake_value(&fake, 0, 0x186), 0x428203); /* it makes no records */
	assert_int_equal(fake_value(&fake, 0, 0x187), 0x4004201CDull);
	for (unsigned i = 0; i < fake.log_count; i++) {
		first = fake.log[i].msr == 0x186 && fake.log[i].value ? i : first;
		second = fake.log[i].msr == 0x187 && fake.log[i].value ? i : second;
	}
	assert_true(first < second);
	assert_int_equal(pebs.gate.list[0].on, 2);
	assert_int_equal(pebs.gate.list[1].on, 3);
	assert_int_equal(pebs_stop(&pebs), ST_OK);
	assert_int_equal(fake_value(&fake, 0, 0x186), 0);
	assert_int_equal(fake_value(&fake, 0, 0x187), 0);
}

/* Two bursts in which every eighth record is lost and 2.5 events fall into each shadow. */
static void test_pebs_balance_tells_loss_from_shadow(void **state)
{
	(void)state;
	struct pebs_balance b;
	struct pebs_burst x = { 7, 800 * 21 / 2 + 3, 3, 700 }, y = { 31, 400 * 69 / 2, 0, 350 };
	pebs_balance(&x, &y, &b);
	assert_true(b.known);
	assert_in_range(b.shadow_milli, 2450, 2550);
	assert_in_range(b.lost, 148, 152);
	y.period = 7;
	pebs_balance(&x, &y, &b);
	assert_false(b.known);
	x.records = 0;
	pebs_balance(&x, &y, &b);
	assert_false(b.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pebs_latency_records_agree_with_the_machine_in_all_cases),
		cmocka_unit_test(test_pebs_every_latency_threshold),
		cmocka_unit_test(test_pebs_samples_several_events_at_once),
		cmocka_unit_test(test_pebs_lost_records_are_counted),
		cmocka_unit_test(test_pebs_shadow_is_measured),
		cmocka_unit_test(test_pebs_full_buffer_is_told),
		cmocka_unit_test(test_pebs_armed_outside_a_job_is_found),
		cmocka_unit_test(test_pebs_fault_in_a_burst_leaves_nothing_on),
		cmocka_unit_test(test_pebs_what_cannot_be_sampled_is_refused_with_the_reason),
		cmocka_unit_test(test_pebs_records_of_four_formats_are_read),
		cmocka_unit_test(test_pebs_adaptive_records_are_read),
		cmocka_unit_test(test_pebs_of_ice_lake_asks_for_adaptive_records),
		cmocka_unit_test(test_pebs_of_sapphire_rapids_counts_the_auxiliary_event),
		cmocka_unit_test(test_pebs_balance_tells_loss_from_shadow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
