/* pmu/sim/backend/sim*.c: the simulated machine as a backend: address space, jobs, faults, time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "asm/kernel.h"
#include "pmu/sim/backend/sim.h"
#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/support/host_pages.h"
#include "tests/unit/support/sim_look.h"
#include "tests/unit/support/kernel_run.h"

struct rig { struct sim *sim; const struct access *a; struct mapping data, code; };

static struct rig rig_open(const struct machine *m)
{
	struct rig r = { .data = { .va = SPACE_DATA, .bytes = 64 * PAGE_2M, .page_bytes = PAGE_2M },
	                 .code = { .va = SPACE_SCRATCH, .bytes = 4 * PAGE_4K, .page_bytes = PAGE_4K, .executable = true } };
	assert_int_equal(sim_open(m, &host_pages, &r.sim), ST_OK);
	r.a = sim_access(r.sim);
	assert_int_equal(r.a->ops->map(r.a->self, &r.data), ST_OK);
	assert_int_equal(r.a->ops->map(r.a->self, &r.code), ST_OK);
	return r;
}

static void rig_code(struct rig *r, const char *hex)
{
	uint8_t *at = r->code.host;
	for (; *hex; hex += 2) {
		char byte[3] = { hex[0], hex[1], 0 };
		*at++ = (uint8_t)strtoul(byte, NULL, 16);
	}
}

static struct job job_on(unsigned core, uint64_t entry, uint64_t argument)
{
	return (struct job){ .core = core, .entry = entry, .argument = argument };
}

/* Runs a kernel through the measuring wrapper; returns its TSC ticks. */
static uint64_t measure(struct rig *r, unsigned core, const char *kernel, uint64_t a0, uint64_t a1, uint64_t *result)
{
	const struct measure_block *b = kernel_run(r->a, core, kernel, (const uint64_t[]){ a0, a1 }, 2);
	if (result)
		*result = b->result;
	return b->tsc_after - b->tsc_before;
}

static void test_sim_map_refuses_ranges_that_do_not_fit(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	const struct access_ops *o = r.a->ops;
	struct mapping x = { .va = SPACE_DATA + PAGE_1G, .bytes = PAGE_2M, .page_bytes = PAGE_2M };
	assert_int_equal(o->map(r.a->self, &x), ST_OK);
	assert_non_null(x.host);
	assert_int_equal(((uint8_t *)x.host)[PAGE_2M - 1], 0);
	struct mapping bad = x;
	assert_int_equal(o->map(r.a->self, &bad), ST_REFUSED); /* already mapped */
	bad.va += PAGE_4K;
	assert_int_equal(o->map(r.a->self, &bad), ST_RANGE);   /* not page-aligned */
	bad = x;
	bad.va = SPACE_BASE - PAGE_2M;
	assert_int_equal(o->map(r.a->self, &bad), ST_RANGE);
	bad.va = SPACE_DATA + 4 * PAGE_1G;
	bad.node = r.a->nodes;
	assert_int_equal(o->map(r.a->self, &bad), ST_RANGE);
	bad.node = 0;
	bad.page_bytes = 12345;
	assert_int_equal(o->map(r.a->self, &bad), ST_RANGE);
	bad.page_bytes = PAGE_2M;
	bad.bytes = (m.dram_node_bytes / PAGE_2M + 1) * PAGE_2M;
	assert_int_equal(o->map(r.a->self, &bad), ST_FULL);
	struct mapping other = { .va = SPACE_DATA + 4 * PAGE_1G, .bytes = PAGE_2M, .page_bytes = PAGE_2M, .node = 1 };
	assert_int_equal(o->map(r.a->self, &other), ST_OK);
	assert_int_equal(other.pa / m.dram_node_bytes, 1);
	assert_int_not_equal(x.pa, r.data.pa);
	assert_int_equal(o->unmap(r.a->self, &x), ST_OK);
	assert_int_equal(o->unmap(r.a->self, &x), ST_MISSING);
	sim_close(r.sim);
}

static void test_sim_a_job_begins_without_translations(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	for (unsigned core = 0; core < 2; core++) {
		const unsigned thread = core * (unsigned)m.topology_threads;
		struct tap walks = { .on = true };
		walks.listen[SIG_DTLB_WALK_COMPLETED / 64] = 1ull << SIG_DTLB_WALK_COMPLETED % 64;
		*(uint64_t *)r.data.host = SPACE_DATA;
		(void)measure(&r, thread, "k_chase", SPACE_DATA, 10, NULL);
		struct signals *s = sim_signals(r.sim, thread);
		signals_tap(s, TAPS_MAX - 1, &walks);
		uint64_t walked[3] = { 0 };
		for (unsigned job = 0; job < 3; job++) {
			const uint64_t before = signals_tap_get(s, TAPS_MAX - 1)->value;
			(void)measure(&r, thread, "k_chase", SPACE_DATA, 10 << job, NULL);
			walked[job] = signals_tap_get(s, TAPS_MAX - 1)->value - before;
		}
		assert_int_equal(walked[0], 2); /* the data's page and the wrapper's block's: in every job, and once however long the job is */
		assert_int_equal(walked[1], 2);
		assert_int_equal(walked[2], 2);
		signals_tap(s, TAPS_MAX - 1, NULL);
	}
	sim_close(r.sim);
}

static void test_sim_measures_chains_and_loads_by_the_clock(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	uint64_t result;
	measure(&r, 0, "k_add_chain", 1000, 0, &result);
	measure(&r, 0, "k_add_chain", 1000, 0, &result); /* the first run has trained the predictor */
	assert_int_equal(result, 16000);
	uint64_t once = measure(&r, 0, "k_add_chain", 1000, 0, &result), twice = measure(&r, 0, "k_add_chain", 2000, 0, &result);
	uint64_t ticks = 16000 * m.clock_tsc_ratio / m.clock_core_ratio;
	assert_in_range(twice - once, ticks - 20, ticks + 20);
	/* a pointer to itself: the L1's latency, once the line has been fetched */
	*(uint64_t *)r.data.host = SPACE_DATA;
	uint64_t cold = measure(&r, 0, "k_chase", SPACE_DATA, 10, &result);
	uint64_t warm = measure(&r, 0, "k_chase", SPACE_DATA, 10, &result);
	assert_int_equal(result, SPACE_DATA);
	assert_true(cold > warm + 50);
	uint64_t longer = measure(&r, 0, "k_chase", SPACE_DATA, 1010, &result);
	ticks = 1000 * 16 * m.l1d_cycles * m.clock_tsc_ratio / m.clock_core_ratio;
	assert_in_range(longer - warm, ticks - 40, ticks + 40);
	struct sim_totals t;
	sim_totals(r.sim, &t);
	assert_true(t.instructions > 18 * 5000 && t.uops >= t.instructions && t.cycles > 5 * 16000);
	sim_close(r.sim);
}

static void test_sim_unknown_instruction_is_named_by_its_bytes(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	rig_code(&r, "90900FAA");
	struct job j = job_on(0, SPACE_SCRATCH, 0);
	assert_int_equal(r.a->ops->run(r.a->self, &j, 1, 0), ST_FAULT);
	assert_int_equal(j.status, ST_FAULT);
	assert_int_equal(j.vector, 6);
	assert_int_equal(j.ip, SPACE_SCRATCH + 2);
	assert_non_null(strstr(sim_problem(r.sim), "0f aa"));
	/* and a good job afterwards clears the message */
	measure(&r, 0, "k_empty", 0, 0, NULL);
	assert_string_equal(sim_problem(r.sim), "");
	sim_close(r.sim);
}

static void test_sim_faults_and_endless_loops_are_statuses(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	rig_code(&r, "488B07C3"); /* mov rax, [rdi]; ret */
	struct job j = job_on(0, SPACE_SCRATCH, SPACE_DATA + 8 * PAGE_1G);
	assert_int_equal(r.a->ops->run(r.a->self, &j, 1, 0), ST_FAULT);
	assert_int_equal(j.vector, 14);
	assert_int_equal(j.ip, SPACE_SCRATCH);
	j = job_on(0, SPACE_DATA, 0); /* not executable */
	assert_int_equal(r.a->ops->run(r.a->self, &j, 1, 0), ST_FAULT);
	assert_int_equal(j.vector, 14);
	rig_code(&r, "90EBFE"); /* the old scratch code is decoded: unmap and map must drop it */
	memset((uint8_t *)r.code.host + 100, 0x90, 4);
	struct mapping again = r.code;
	assert_int_equal(r.a->ops->unmap(r.a->self, &r.code), ST_OK);
	assert_int_equal(r.a->ops->map(r.a->self, &again), ST_OK);
	r.code = again;
	rig_code(&r, "90EBFE");
	j = job_on(1, SPACE_SCRATCH, 0);
	assert_int_equal(r.a->ops->run(r.a->self, &j, 1, 100000), ST_TIMEOUT);
	assert_int_equal(j.status, ST_TIMEOUT);
	assert_int_equal(j.ip, SPACE_SCRATCH + 1);
	j = job_on(r.a->cores, SPACE_SCRATCH, 0);
	assert_int_equal(r.a->ops->run(r.a->self, &j, 1, 1000), ST_RANGE);
	sim_close(r.sim);
}

static void test_sim_code_that_changes_itself_runs_as_changed(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	/* xor eax,eax; mov ecx,10; L: add eax,1 (imm at 9); mov byte [that imm],5 -> adds 1 + 9 * 5; dec ecx; jnz L; ret */
	rig_code(&r, "31C0" "B90A000000" "83C001" "C605F8FFFFFF05" "FFC9" "75F2" "C3");
	struct tap t = { .on = true };
	t.listen[SIG_MACHINE_CLEAR_SMC / 64] |= 1ull << (SIG_MACHINE_CLEAR_SMC % 64);
	signals_tap(sim_signals(r.sim, 0), 23, &t);
	struct job j = job_on(0, SPACE_SCRATCH, 0);
	enum status st = r.a->ops->run(r.a->self, &j, 1, 0);
	assert_string_equal(sim_problem(r.sim), "");
	assert_int_equal(st, ST_OK);
	assert_int_equal(((uint8_t *)r.code.host)[9], 5);
	assert_int_equal(signals_tap_get(sim_signals(r.sim, 0), 23)->value, 10);
	sim_close(r.sim);
}

/* Decoded or not, a store to a line of the L1I clears the machine; one to code that was never fetched does not. */
static void test_sim_stores_to_fetched_lines_clear_the_machine(void **state)
{
	(void)state;
	static const struct { const char *code; int64_t clears; } cases[] = { /* nop; mov byte [rip + ...],0x90; ret */
		{ "90" "C60521000000" "90" "C3", 1 }, { "90" "C60539010000" "90" "C3", 0 } };
	struct machine m = core_bench_machine("nehalem-ep");
	for (unsigned i = 0; i < 2; i++) {
		struct rig r = rig_open(&m);
		rig_code(&r, cases[i].code);
		struct tap t = { .on = true };
		t.listen[SIG_MACHINE_CLEAR_SMC / 64] |= 1ull << (SIG_MACHINE_CLEAR_SMC % 64);
		signals_tap(sim_signals(r.sim, 0), 23, &t);
		struct job j = job_on(0, SPACE_SCRATCH, 0);
		assert_int_equal(r.a->ops->run(r.a->self, &j, 1, 0), ST_OK);
		assert_int_equal(signals_tap_get(sim_signals(r.sim, 0), 23)->value, cases[i].clears);
		sim_close(r.sim);
	}
}

/* In a loop that stores to its own line, the code behind the store is decoded in every iteration, which refills the window for the code
 * before it. A loop that stores to another line is delivered from the uop cache as a whole. */
static void test_sim_uop_cache_forgets_a_line_that_is_stored_to(void **state)
{
	(void)state;
	static const struct { const char *code; int64_t least, most; } cases[] = { /* mov ecx,100; L: mov byte [rip + ...],0x90; dec ecx; jnz L; ret */
		{ "B964000000" "C60511000000" "90" "FFC9" "75F5" "C3", 0, 130 }, { "B964000000" "C60539010000" "90" "FFC9" "75F5" "C3", 200, 600 } };
	struct machine m = core_bench_machine("haswell-ep");
	m.front_loop_uops = 0;
	for (unsigned i = 0; i < 2; i++) {
		struct rig r = rig_open(&m);
		rig_code(&r, cases[i].code);
		struct tap t = { .on = true };
		t.listen[SIG_UOP_CACHE_UOPS / 64] |= 1ull << (SIG_UOP_CACHE_UOPS % 64);
		signals_tap(sim_signals(r.sim, 0), 23, &t);
		struct job j = job_on(0, SPACE_SCRATCH, 0);
		assert_int_equal(r.a->ops->run(r.a->self, &j, 1, 0), ST_OK);
		assert_in_range(signals_tap_get(sim_signals(r.sim, 0), 23)->value, cases[i].least, cases[i].most);
		sim_close(r.sim);
	}
}

/* Core 0 counts up in memory, core 5 waits until it reads 1000. */
static void test_sim_cores_run_together(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	rig_code(&r, "B9E8030000" "48FF07" "FFC9" "75F9" "C3");          /* mov ecx,1000; L: inc qword [rdi]; dec ecx; jnz L; ret */
	uint8_t *second = (uint8_t *)r.code.host + 0x100;
	static const uint8_t waits[] = { 0x48, 0x81, 0x3F, 0xE8, 0x03, 0, 0, 0x75, 0xF7, 0xC3 }; /* cmp qword [rdi],1000; jne; ret */
	memcpy(second, waits, sizeof(waits));
	struct job jobs[2] = { job_on(0, SPACE_SCRATCH, SPACE_DATA), job_on(5, SPACE_SCRATCH + 0x100, SPACE_DATA) };
	assert_int_equal(r.a->ops->run(r.a->self, jobs, 2, 10000000), ST_OK);
	assert_int_equal(*(uint64_t *)r.data.host, 1000);
	/* alone, the waiting job never ends */
	*(uint64_t *)r.data.host = 999;
	struct job alone = job_on(5, SPACE_SCRATCH + 0x100, SPACE_DATA);
	assert_int_equal(r.a->ops->run(r.a->self, &alone, 1, 100000), ST_TIMEOUT);
	sim_close(r.sim);
}

static void test_sim_two_machines_agree_to_the_tick(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	uint64_t seen[2][3];
	for (unsigned i = 0; i < 2; i++) {
		struct rig r = rig_open(&m);
		for (unsigned k = 0; k < 64; k++)
			*(uint64_t *)((uint8_t *)r.data.host + k * 4096) = SPACE_DATA + (k * 37 + 11) % 64 * 4096;
		seen[i][0] = measure(&r, 0, "k_chase", SPACE_DATA, 500, &seen[i][1]);
		assert_int_equal(r.a->ops->rdtsc(r.a->self, 0, &seen[i][2]), ST_OK);
		sim_close(r.sim);
	}
	assert_memory_equal(seen[0], seen[1], sizeof(seen[0]));
}

static void test_sim_threads_of_a_core_share_it(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.topology_threads = 2;
	struct rig r = rig_open(&m);
	uint64_t alone = measure(&r, 0, "k_add_chain", 3000, 0, NULL);
	/* 16 adds of 18 instructions an iteration: the three ALU ports have room for two chains */
	for (unsigned c = 0; c < 2; c++) {
		struct measure_block *b = r.a->ops->control(r.a->self, c);
		memset(b, 0, sizeof(*b));
		b->kernel = kernel_at("k_add_chain");
		b->argument[0] = 3000;
	}
	struct job jobs[2];
	for (unsigned c = 0; c < 2; c++)
		jobs[c] = job_on(c, kernel_at("k_measure"), SPACE_CONTROL + c * CONTROL_BYTES);
	assert_int_equal(r.a->ops->run(r.a->self, jobs, 2, 0), ST_OK);
	for (unsigned c = 0; c < 2; c++) {
		struct measure_block *b = r.a->ops->control(r.a->self, c);
		assert_in_range(b->tsc_after - b->tsc_before, alone - alone / 50, alone + alone / 10);
	}
	/* six independent moves an iteration and dec, jnz: one thread is bound by three ports, two take twice as long */
	rig_code(&r, "B9D0070000" "B801000000BA0100000041B80100000041B90100000041BA0100000041BB01000000" "FFC9" "75DA" "C3");
	uint64_t before, middle, after;
	struct job one = job_on(0, SPACE_SCRATCH, 0);
	assert_int_equal(r.a->ops->run(r.a->self, &one, 1, 0), ST_OK);
	assert_int_equal(r.a->ops->rdtsc(r.a->self, 0, &before), ST_OK);
	one = job_on(0, SPACE_SCRATCH, 0);
	assert_int_equal(r.a->ops->run(r.a->self, &one, 1, 0), ST_OK);
	assert_int_equal(r.a->ops->rdtsc(r.a->self, 0, &middle), ST_OK);
	struct job both[2] = { job_on(0, SPACE_SCRATCH, 0), job_on(1, SPACE_SCRATCH, 0) };
	assert_int_equal(r.a->ops->run(r.a->self, both, 2, 0), ST_OK);
	assert_int_equal(r.a->ops->rdtsc(r.a->self, 0, &after), ST_OK);
	assert_in_range(after - middle, 2 * (middle - before) * 95 / 100, 2 * (middle - before) * 110 / 100);
	sim_close(r.sim);
}

static void test_sim_dead_core_times_out(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	m.fault_dead_core = 3;
	struct rig r = rig_open(&m);
	struct job jobs[2] = { job_on(1, kernel_at("k_empty"), 0), job_on(2, kernel_at("k_empty"), 0) };
	assert_int_equal(r.a->ops->run(r.a->self, jobs, 2, 0), ST_TIMEOUT);
	assert_int_equal(jobs[0].status, ST_OK);
	assert_int_equal(jobs[1].status, ST_TIMEOUT);
	sim_close(r.sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sim_map_refuses_ranges_that_do_not_fit),
		cmocka_unit_test(test_sim_a_job_begins_without_translations),
		cmocka_unit_test(test_sim_measures_chains_and_loads_by_the_clock),
		cmocka_unit_test(test_sim_unknown_instruction_is_named_by_its_bytes),
		cmocka_unit_test(test_sim_faults_and_endless_loops_are_statuses),
		cmocka_unit_test(test_sim_code_that_changes_itself_runs_as_changed),
		cmocka_unit_test(test_sim_stores_to_fetched_lines_clear_the_machine),
		cmocka_unit_test(test_sim_uop_cache_forgets_a_line_that_is_stored_to),
		cmocka_unit_test(test_sim_cores_run_together),
		cmocka_unit_test(test_sim_two_machines_agree_to_the_tick),
		cmocka_unit_test(test_sim_threads_of_a_core_share_it),
		cmocka_unit_test(test_sim_dead_core_times_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
