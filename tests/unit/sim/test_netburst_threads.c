/* Two threads of a Pentium 4 core: counts by the ESCRs' thread bits and the CCCRs' active threads, against taps on the machine's signals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/measure/measure.h"
#include "pmu/counters/counters.h"
#include "pmu/netburst/netburst_sample.h"
#include "pmu/sim/backend/sim_state.h"
#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/sim_look.h"

enum { COUNTER = 0x300, CCCR = 0x360, CRU_ESCR0 = 0x3B8, CRU_ESCR1 = 0x3B9, CRU_ESCR2 = 0x3CC, CRU_ESCR3 = 0x3CD, FSB_ESCR0 = 0x3A2, FSB_ESCR1 = 0x3A3 };
enum { T0_OS = 8, T0_USR = 4, T1_OS = 2, T1_USR = 1 };
enum { NONE, SINGLE, BOTH, ANY };
#define ENABLE      (1u << 12)
#define EVERY_CYCLE (1u << 18 | 1u << 19 | 15u << 20) /* compare, complement, threshold 15 */
#define SELECT(n)   ((uint32_t)(n) << 13)
#define MODE(n)     ((uint32_t)(n) << 16)
#define INSTRUCTIONS (0x02u << 25 | 1u << 9)
#define RUNNING      (0x13u << 25 | 1u << 9)

static struct loop_run r;
static const struct access *a;
/* The truth of each thread, by taps that no counter uses. */
enum { CYCLES, RETIRED, UOPS, TRUTHS };
#define FIRST_TAP (TAPS_MAX - TRUTHS)

static int open_threads(void **state)
{
	(void)state;
	char *text = loop_changed(loop_built_in("pentium4"), "topology", "threads", "2");
	loop_open(&r, text);
	free(text);
	a = sim_access(r.sim);
	assert_int_equal(a->cores, 2);
	for (unsigned i = 0; i < 2; i++) {
		static const enum signal signals[TRUTHS] = { SIG_CYCLES, SIG_INSTRUCTIONS_RETIRED, SIG_UOPS_RETIRED_UNFUSED };
		for (unsigned k = 0; k < TRUTHS; k++) {
			struct tap t = { .on = true };
			t.listen[signals[k] / 64] |= 1ull << signals[k] % 64;
			signals_tap(sim_signals(r.sim, i), FIRST_TAP + k, &t);
		}
	}
	return 0;
}

static int close_threads(void **state)
{
	(void)state;
	loop_close(&r);
	return 0;
}

static uint64_t truth(unsigned thread, unsigned what)
{
	return signals_tap_get(sim_signals(r.sim, thread), FIRST_TAP + what)->value;
}

static void put(uint32_t msr, uint64_t value)
{
	assert_int_equal(a->ops->wrmsr(a->self, 0, msr, value), ST_OK);
}

static uint64_t get(unsigned thread, uint32_t msr)
{
	uint64_t value = 0;
	assert_int_equal(a->ops->rdmsr(a->self, thread, msr, &value), ST_OK);
	return value;
}

/* Sets a counter to 0 and enables it. The machine must have no finding about it. */
static void count(unsigned counter, uint32_t escr, uint32_t event, uint32_t cccr)
{
	const struct sim_finding *last;
	put(CCCR + counter, MODE(ANY));
	put(escr, event);
	put(COUNTER + counter, 0);
	put(COUNTER + counter, 0);
	const uint64_t before = sim_last_finding(r.sim, &last);
	put(CCCR + counter, cccr | ENABLE);
	if (sim_last_finding(r.sim, &last) != before)
		fail_msg("counter %u: %s", counter, last->why);
}

static uint64_t counted(unsigned counter) { return get(1, COUNTER + counter); }

/* Runs that many iterations of a chain of additions on each thread; 0: the thread sleeps. */
static void run(uint64_t first, uint64_t second)
{
	const uint64_t iterations[2] = { first, second };
	struct job jobs[2];
	unsigned n = 0;
	memset(jobs, 0, sizeof(jobs));
	for (unsigned i = 0; i < 2; i++)
		if (iterations[i])
			jobs[n++] = (struct job){ .core = i, .entry = SPACE_CODE + kernel_find("k_addsd_chain")->offset, .argument = iterations[i] };
	assert_int_equal(a->ops->run(a->self, jobs, n, 0), ST_OK);
}

static uint64_t machine_cycles(void)
{
	struct sim_totals t;
	sim_totals(r.sim, &t);
	return t.cycles;
}

static const struct { uint64_t first, second; } loads[] = { { 500, 0 }, { 0, 700 }, { 500, 500 }, { 300, 900 }, { 1100, 200 } };

static void test_netburst_threads_modes_are_the_cycles_with_so_many_awake(void **state)
{
	(void)state;
	static const struct { uint8_t counter, mode; uint16_t escr; } modes[] = { { 12, NONE, CRU_ESCR0 }, { 13, SINGLE, CRU_ESCR0 },
		{ 14, BOTH, CRU_ESCR1 }, { 16, ANY, CRU_ESCR0 } };
	for (unsigned l = 0; l < COUNT_OF(loads); l++) {
		uint64_t own[2], n[4];
		for (unsigned m = 0; m < 4; m++)
			count(modes[m].counter, modes[m].escr, INSTRUCTIONS | T0_OS | T1_OS, SELECT(4) | MODE(modes[m].mode) | EVERY_CYCLE);
		const uint64_t before = machine_cycles();
		for (unsigned i = 0; i < 2; i++)
			own[i] = truth(i, CYCLES);
		run(loads[l].first, loads[l].second);
		run(loads[l].second, loads[l].first);
		const uint64_t all = machine_cycles() - before;
		for (unsigned i = 0; i < 2; i++)
			own[i] = truth(i, CYCLES) - own[i];
		for (unsigned m = 0; m < 4; m++)
			n[m] = counted(modes[m].counter);
		print_message("%llu and %llu iterations: none %llu single %llu both %llu any %llu of %llu; awake %llu and %llu\n",
		              (unsigned long long)loads[l].first, (unsigned long long)loads[l].second, (unsigned long long)n[NONE],
		              (unsigned long long)n[SINGLE], (unsigned long long)n[BOTH], (unsigned long long)n[ANY], (unsigned long long)all,
		              (unsigned long long)own[0], (unsigned long long)own[1]);
		assert_true(n[NONE] > 0 && n[NONE] + n[ANY] == all);
		assert_true(n[SINGLE] + n[BOTH] == n[ANY]);
		assert_true(n[SINGLE] + 2 * n[BOTH] == own[0] + own[1]);
		if (!loads[l].first || !loads[l].second)
			assert_true(n[BOTH] == 0 && n[SINGLE] == own[0] + own[1]);
	}
}

/* A thread's instructions: all, those while it alone is awake, those while both are. */
static void test_netburst_threads_are_counted_apart(void **state)
{
	(void)state;
	for (unsigned l = 0; l < COUNT_OF(loads); l++) {
		uint64_t own[2], awake[2];
		count(12, CRU_ESCR0, INSTRUCTIONS | T0_OS | T1_USR, SELECT(4) | MODE(ANY));
		count(13, CRU_ESCR0, INSTRUCTIONS | T0_OS | T1_USR, SELECT(4) | MODE(SINGLE));
		count(16, CRU_ESCR0, INSTRUCTIONS | T0_OS | T1_USR, SELECT(4) | MODE(BOTH));
		count(14, CRU_ESCR1, INSTRUCTIONS | T1_OS, SELECT(4) | MODE(ANY));
		count(15, CRU_ESCR1, INSTRUCTIONS | T1_OS, SELECT(4) | MODE(SINGLE));
		count(17, CRU_ESCR1, INSTRUCTIONS | T1_OS, SELECT(4) | MODE(BOTH));
		count(0, FSB_ESCR0, RUNNING | T0_OS | T1_OS, SELECT(6) | MODE(ANY));
		count(2, FSB_ESCR1, RUNNING | T1_OS, SELECT(6) | MODE(ANY));
		for (unsigned i = 0; i < 2; i++) {
			own[i] = truth(i, RETIRED);
			awake[i] = truth(i, CYCLES);
		}
		run(loads[l].first, loads[l].second);
		for (unsigned i = 0; i < 2; i++) {
			own[i] = truth(i, RETIRED) - own[i];
			awake[i] = truth(i, CYCLES) - awake[i];
		}
		const uint64_t least = awake[0] < awake[1] ? awake[0] : awake[1], most = awake[0] + awake[1] - least;
		for (unsigned i = 0; i < 2; i++) {
			const uint64_t any = counted(12 + 2 * i), single = counted(13 + 2 * i), both = counted(16 + i);
			print_message("thread %u: %llu alone, %llu beside the other, of %llu\n", i, (unsigned long long)single, (unsigned long long)both,
			              (unsigned long long)own[i]);
			assert_true(any == own[i] && single + both == any);
			if (awake[i] == least && awake[i])
				assert_true(single == 0);
			else if (awake[i]) /* a chain continues at a constant pace */
				assert_in_range(both * 1000, own[i] * least / awake[i] * 990, own[i] * least / awake[i] * 1010 + 20000);
		}
		assert_true(counted(2) == awake[1]);
		assert_true(counted(0) == most);
	}
}

static void test_netburst_threads_sum_and_compare(void **state)
{
	(void)state;
	count(12, CRU_ESCR0, INSTRUCTIONS | T0_OS | T1_OS, SELECT(4) | MODE(ANY));
	count(13, CRU_ESCR0, INSTRUCTIONS | T0_OS | T1_OS, SELECT(4) | MODE(BOTH));
	count(16, CRU_ESCR0, INSTRUCTIONS | T0_OS | T1_OS, SELECT(4) | MODE(SINGLE));
	count(14, CRU_ESCR1, INSTRUCTIONS | T0_OS, SELECT(4) | MODE(ANY) | 1u << 18);            /* cycles in which thread 0 retires */
	count(15, CRU_ESCR1, INSTRUCTIONS | T0_OS, SELECT(4) | MODE(ANY) | 1u << 18 | 1u << 19); /* and in which it does not */
	run(300, 900);
	assert_true(counted(12) == truth(0, RETIRED) + truth(1, RETIRED));
	assert_true(counted(13) + counted(16) == counted(12));
	/* thread 1 is awake longer: while it is awake alone, thread 0 does not retire */
	assert_true(counted(14) > 0 && counted(14) + counted(15) == truth(1, CYCLES));
}

/* Branches, which are known only at retirement. */
static void test_netburst_threads_at_retirement(void **state)
{
	(void)state;
	const uint32_t taken = 0x06u << 25 | 0xCu << 9;
	const struct sim_finding *last;
	count(12, CRU_ESCR2, taken | T0_OS, SELECT(5) | MODE(ANY));
	count(14, CRU_ESCR3, taken | T1_OS, SELECT(5) | MODE(ANY));
	run(300, 900);
	assert_in_range(counted(12), 299, 301);
	assert_in_range(counted(14), 899, 901);
	count(12, CRU_ESCR2, taken | T0_OS | T1_OS, SELECT(5) | MODE(ANY));
	run(300, 900);
	assert_in_range(counted(12), 1198, 1202);
	put(CCCR + 12, SELECT(5) | MODE(BOTH) | ENABLE);
	assert_true(sim_last_finding(r.sim, &last) > 0);
	assert_int_equal(last->kind, FIND_UNMODELLED);
	assert_non_null(strstr(last->why, "active threads"));
}

/* A thread's events interrupt the thread that OVF_PMI names. */
static void test_netburst_threads_interrupt_whom_the_cccr_names(void **state)
{
	(void)state;
	for (unsigned to = 0; to < 2; to++) {
		static __typeof__(*((struct interrupts *)0)->records) records[2][64];
		struct interrupts taken[2];
		memset(taken, 0, sizeof(taken));
		for (unsigned i = 0; i < 2; i++) {
			taken[i].records = records[i];
			taken[i].capacity = 64;
			assert_int_equal(a->interrupts(a->counts_self, i, &taken[i]), ST_OK);
		}
		put(CCCR + 12, MODE(ANY));
		put(CRU_ESCR0, INSTRUCTIONS | T0_OS);
		put(COUNTER + 12, (1ull << 40) - 1000);
		put(COUNTER + 12, (1ull << 40) - 1000);
		put(CCCR + 12, SELECT(4) | MODE(ANY) | ENABLE | 1u << (26 + to));
		run(300, 900);
		assert_int_equal(taken[to].count, 1);
		assert_int_equal(taken[!to].count, 0);
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(a->interrupts(a->counts_self, i, NULL), ST_OK);
	}
}

/* Requests belong to the thread that makes them. Data on the bus and page walks belong to no thread: T0_OS alone counts all of them. */
static void test_netburst_threads_independent_events_are_not_told_apart(void **state)
{
	(void)state;
	struct mapping m = { .va = SPACE_DATA, .bytes = 1 << 20, .page_bytes = PAGE_4K };
	const uint32_t own_reads = 0x03u << 25 | 0xA821u << 9, data = 0x17u << 25 | 2u << 9, walks = 0x01u << 25 | 1u << 9;
	const uint32_t edges = 1u << 18 | 1u << 24;
	assert_int_equal(a->ops->map(a->self, &m), ST_OK);
	count(0, FSB_ESCR0, own_reads | T0_OS, SELECT(6) | MODE(ANY) | edges);
	count(2, FSB_ESCR1, own_reads | T1_OS, SELECT(6) | MODE(ANY) | edges);
	count(3, 0x3AD, walks | T0_OS, SELECT(4) | MODE(ANY)); /* PMH_ESCR1 */
	for (unsigned pass = 0; pass < 2; pass++) {
		struct measure_block *block = a->ops->control(a->self, 1);
		struct job job = { .core = 1, .entry = SPACE_CODE + kernel_find("k_measure")->offset, .argument = SPACE_CONTROL + CONTROL_BYTES };
		memset(block, 0, sizeof(*block));
		block->kernel = SPACE_CODE + kernel_find("k_touch")->offset;
		block->serialise = 1;
		block->argument[0] = m.va + pass * (m.bytes / 2);
		block->argument[1] = m.bytes / 2 / 64;
		block->argument[2] = 64;
		assert_int_equal(a->ops->run(a->self, &job, 1, 0), ST_OK);
		if (pass == 0) {
			print_message("reads: thread 0 %llu, thread 1 %llu; walks %llu\n", (unsigned long long)counted(0), (unsigned long long)counted(2),
			              (unsigned long long)counted(3));
			assert_int_equal(counted(0), 0);
			assert_true(counted(2) >= 8192);
			assert_true(counted(3) >= 128);
			count(0, FSB_ESCR0, data | T0_OS, SELECT(6) | MODE(ANY) | edges);
			count(2, FSB_ESCR1, data | T1_OS, SELECT(6) | MODE(ANY) | edges);
		}
	}
	assert_true(counted(0) >= 2 * 8192);
	assert_true(counted(0) == counted(2));
	assert_int_equal(a->ops->unmap(a->self, &m), ST_OK);
}

/* Both threads share the registers. The bits of 0x3F1 for records of "my" and "the other thread" are exchanged between them. */
static void test_netburst_threads_share_registers(void **state)
{
	(void)state;
	for (uint32_t msr = 0x360; msr < 0x3F3; msr++) {
		uint64_t value;
		if (a->ops->rdmsr(a->self, 0, msr, &value) != ST_OK || msr == 0x3F1)
			continue;
		const uint64_t put_there = msr < 0x372 ? 0x30000 | (uint64_t)(msr & 7) << 13 : msr == 0x3F2 ? 3 : 0x0C00020C;
		assert_int_equal(a->ops->wrmsr(a->self, msr & 1, msr, put_there), ST_OK);
		assert_true(get(!(msr & 1), msr) == put_there);
	}
	assert_int_equal(a->ops->wrmsr(a->self, 1, 0x3F1, 0x03000001), ST_OK);
	assert_true(get(1, 0x3F1) == 0x03000001 && get(0, 0x3F1) == 0x05000001);
}

static void test_netburst_threads_what_counts_nothing_is_said(void **state)
{
	(void)state;
	const struct sim_finding *last;
	static const struct { uint32_t escr, cccr; const char *words; } bad[] = {
		{ T0_USR | T1_USR, MODE(ANY), "without T0_OS or T1_OS" }, { 0, MODE(SINGLE), "without T0_OS, T0_USR" } };
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		put(CCCR + 12, 0);
		put(CRU_ESCR0, INSTRUCTIONS | bad[i].escr);
		put(CCCR + 12, SELECT(4) | ENABLE | bad[i].cccr);
		assert_true(sim_last_finding(r.sim, &last) > 0);
		assert_non_null(strstr(last->why, bad[i].words));
		run(10, 10);
		assert_int_equal(counted(12), 0);
	}
}

/* Events by name on either thread, of that thread and of the other; afterwards the registers are as found. */
static void test_netburst_threads_by_name(void **state)
{
	(void)state;
	static const char *const names[] = { "UOPS_RETIRED", "UOPS_RETIRED.OTHER", "CYCLES_RUNNING", "CYCLES_RUNNING.OTHER" };
	static const uint32_t registers[] = { 0x360, 0x362, 0x363, 0x36C, 0x36E, 0x3A2, 0x3A3, 0x3B8, 0x3B9, 0x3F1, 0x3F2 };
	const struct event *events[COUNT_OF(names)];
	for (unsigned i = 0; i < COUNT_OF(names); i++)
		assert_non_null(events[i] = event_find(r.cpu.processor, names[i]));
	put(0x3B8, 0x0C00020C);
	put(0x36E, 0x00033000);
	for (unsigned on = 0; on < 2; on++) {
		uint64_t before[COUNT_OF(registers)], n[COUNT_OF(names)], own[2], uops[2];
		struct plan plan;
		const char *problem;
		for (unsigned i = 0; i < COUNT_OF(registers); i++)
			before[i] = get(0, registers[i]);
		assert_int_equal(plan_events(&r.cpu, events, COUNT_OF(names), &plan, &problem), ST_OK);
		assert_int_equal(plan.runs, 1);
		assert_int_equal(counters_start(&r.guard.access, &r.cpu, &plan, 0, on), ST_OK);
		for (unsigned i = 0; i < 2; i++) {
			own[i] = truth(i, CYCLES);
			uops[i] = truth(i, UOPS);
		}
		run(300, 900);
		for (unsigned i = 0; i < COUNT_OF(names); i++)
			assert_int_equal(a->ops->rdpmc(a->self, !on, plan.slots[i].rdpmc_index, &n[i]), ST_OK);
		assert_true(n[0] == truth(on, UOPS) - uops[on] && n[1] == truth(!on, UOPS) - uops[!on]);
		assert_true(n[2] == truth(on, CYCLES) - own[on] && n[3] == truth(!on, CYCLES) - own[!on]);
		assert_int_equal(counters_stop(&r.guard.access, &r.cpu, &plan, 0, on), ST_OK);
		/* then the other thread counts, and the registers of both are restored */
		assert_int_equal(counters_start(&r.guard.access, &r.cpu, &plan, 0, !on), ST_OK);
		assert_int_equal(counters_stop(&r.guard.access, &r.cpu, &plan, 0, !on), ST_OK);
		assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
		for (unsigned i = 0; i < COUNT_OF(registers); i++)
			if (get(0, registers[i]) != before[i])
				fail_msg("0x%X: 0x%llx, was 0x%llx", registers[i], (unsigned long long)get(0, registers[i]), (unsigned long long)before[i]);
	}
}

/* Each thread's records and interrupts come from its own uops. */
static void test_netburst_threads_sample_their_own(void **state)
{
	(void)state;
	struct mapping m = { .va = SPACE_DATA, .bytes = 1 << 20, .page_bytes = PAGE_4K };
	assert_int_equal(a->ops->map(a->self, &m), ST_OK);
	for (unsigned on = 0; on < 2; on++)
		for (unsigned precise = 0; precise < 2; precise++) {
			static __typeof__(*((struct interrupts *)0)->records) records[256];
			struct netburst_sample s = { .a = &r.guard.access, .cpu = &r.cpu, .core = on, .precise = precise };
			const struct event *e = event_find(r.cpu.processor, "L1_LOAD_MISS_RETIRED");
			struct job jobs[2];
			const char *why = NULL;
			s.taken.records = records;
			s.taken.capacity = COUNT_OF(records);
			assert_int_equal(netburst_sample_start(&s, e, 100, &why), ST_OK);
			memset(jobs, 0, sizeof(jobs));
			for (unsigned i = 0; i < 2; i++) { /* thread 1 visits twice as many lines, in the upper half */
				struct measure_block *block = a->ops->control(a->self, i);
				memset(block, 0, sizeof(*block));
				block->kernel = SPACE_CODE + kernel_find("k_touch")->offset;
				block->serialise = 1;
				block->argument[0] = m.va + i * (m.bytes / 2);
				block->argument[1] = (i + 1) * 2000;
				block->argument[2] = 64;
				jobs[i] = (struct job){ .core = i, .entry = SPACE_CODE + kernel_find(i == on ? "k_measure_sampled" : "k_measure")->offset, .argument = SPACE_CONTROL + i * CONTROL_BYTES };
				if (i == on)
					sampling_gate_load(&s.gate, block);
			}
			assert_int_equal(a->ops->run(a->self, jobs, 2, 0), ST_OK);
			assert_int_equal(netburst_sample_stop(&s), ST_OK);
			print_message("thread %u: %u %s\n", on, s.records, precise ? "records" : "interrupts");
			/* misses between an overflow and its interrupt are not counted */
			assert_in_range(s.records, (on + 1) * (precise ? 19 : 15), (on + 1) * 21);
			for (unsigned i = 0; i < s.records; i++) {
				struct netburst_record got;
				assert_int_equal(netburst_sample_read(&s, i, &got), ST_OK);
				if (precise)
					assert_int_equal(got.gpr[7] >= m.va + m.bytes / 2, on); /* RDI */
			}
		}
	assert_int_equal(a->ops->unmap(a->self, &m), ST_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_threads, close_threads)
	const struct CMUnitTest tests[] = {
		TEST(test_netburst_threads_modes_are_the_cycles_with_so_many_awake),
		TEST(test_netburst_threads_are_counted_apart),
		TEST(test_netburst_threads_sum_and_compare),
		TEST(test_netburst_threads_at_retirement),
		TEST(test_netburst_threads_interrupt_whom_the_cccr_names),
		TEST(test_netburst_threads_independent_events_are_not_told_apart),
		TEST(test_netburst_threads_share_registers),
		TEST(test_netburst_threads_what_counts_nothing_is_said),
		TEST(test_netburst_threads_by_name),
		TEST(test_netburst_threads_sample_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
