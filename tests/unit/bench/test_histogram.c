/* For every kernel on the simulated machine and every cmask c, the cycles with at least c events and, inverted, those with fewer
 * add up to all cycles; and the cycles with at least 1, at least 2 ... add up to the plain count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "asm/kernel.h"
#include "pmu/access.h"
#include "pmu/sim/backend/sim.h"
#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/support/host_pages.h"
#include "tests/unit/support/kernel_start.h"
#include "tests/unit/support/sim_look.h"

#define ITERATIONS 40
#define MOST 11 /* cmask 1 .. MOST; no signal below reaches MOST in any cycle */

static void put_tap(struct signals *s, unsigned t, enum signal sig, unsigned cmask, bool inv)
{
	struct tap tap = { .on = true, .cmask = (uint8_t)cmask, .inv = inv };
	tap.listen[sig / 64] |= 1ull << (sig % 64);
	signals_tap(s, t, &tap);
}

static uint64_t count(struct signals *s, unsigned t) { return signals_tap_get(s, t)->value; }

static void run(const struct access *a, const struct kernel *k, const struct kernel *wrapper)
{
	struct measure_block *b = a->ops->control(a->self, 0);
	memset(b, 0, sizeof(*b));
	b->kernel = SPACE_CODE + k->offset;
	kernel_start_arguments(k, kernel_start_find(k->name), ITERATIONS, b->argument);
	struct job j = { .core = 0, .entry = SPACE_CODE + wrapper->offset, .argument = SPACE_CONTROL };
	assert_int_equal(a->ops->run(a->self, &j, 1, 0), ST_OK);
	assert_int_equal(j.status, ST_OK);
}

/* TAPS_MAX taps in all: two for each cmask, the plain count, the cycles. */
static uint64_t check(const struct access *a, struct signals *s, const struct kernel *k, const struct kernel *wrapper, enum signal sig)
{
	uint64_t sum = 0;
	for (unsigned c = 1; c <= MOST; c++) {
		put_tap(s, 2 * c, sig, c, false);
		put_tap(s, 2 * c + 1, sig, c, true);
	}
	put_tap(s, 0, SIG_CYCLES, 0, false);
	put_tap(s, 1, sig, 0, false);
	run(a, k, wrapper);
	uint64_t cycles = count(s, 0), plain = count(s, 1);
	for (unsigned c = 1; c <= MOST; c++) {
		if (count(s, 2 * c) + count(s, 2 * c + 1) != cycles)
			fail_msg("%s, signal %u, cmask %u: %llu + %llu of %llu cycles", k->name, sig, c, (unsigned long long)count(s, 2 * c),
			         (unsigned long long)count(s, 2 * c + 1), (unsigned long long)cycles);
		sum += count(s, 2 * c);
	}
	if (sum != plain || count(s, 2 * MOST))
		fail_msg("%s, signal %u: the histogram has %llu of %llu, %llu cycles beyond it", k->name, sig, (unsigned long long)sum,
		         (unsigned long long)plain, (unsigned long long)count(s, 2 * MOST));
	return plain;
}

static void all_kernels(const char *machine)
{
	static const enum signal signals[] = { SIG_INSTRUCTIONS_RETIRED, SIG_UOPS_ISSUED_FUSED, SIG_UOPS_EXECUTED,
		SIG_UOPS_RETIRED_FUSED, SIG_UOPS_EXECUTED_P0, SIG_LOADS_RETIRED, SIG_STORES_RETIRED, SIG_BRANCHES_RETIRED, SIG_L1D_REPLACED };
	uint64_t seen[COUNT_OF(signals)] = { 0 };
	struct machine m = core_bench_machine(machine);
	struct mapping data = { .va = SPACE_DATA, .bytes = PAGE_2M, .page_bytes = PAGE_2M };
	const struct kernel *wrapper = kernel_table;
	struct sim *sim;
	assert_int_equal(sim_open(&m, &host_pages, &sim), ST_OK);
	const struct access *a = sim_access(sim);
	assert_int_equal(a->ops->map(a->self, &data), ST_OK);
	while (strcmp(wrapper->name, "k_measure"))
		assert_true(++wrapper < kernel_table_end);
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++) {
		if (!strncmp(k->name, "k_measure", 9))
			continue;
		if (kernel_start_find(k->name) == START_UNKNOWN)
			fail_msg("%s has no start in kernel_start.c: give it one", k->name);
		kernel_start_fill(data.host);
		run(a, k, wrapper);
		for (unsigned i = 0; i < COUNT_OF(signals); i++)
			seen[i] += check(a, sim_signals(sim, 0), k, wrapper, signals[i]);
	}
	for (unsigned i = 0; i < COUNT_OF(signals); i++)
		assert_true(seen[i] > 0);
	sim_close(sim);
}

/* Signals that the core also emits on its fast path, and a cmask; a tap on LOADS_RETIRED forces the slow path. */
static const struct { enum signal sig; unsigned cmask; } often[] = { { SIG_CYCLES, 0 }, { SIG_INSTRUCTIONS_RETIRED, 0 }, { SIG_UOPS_ISSUED_FUSED, 0 },
	{ SIG_UOPS_ISSUED_FUSED, 1 }, { SIG_UOPS_ISSUED_FUSED, 3 }, { SIG_UOPS_RETIRED_FUSED, 0 }, { SIG_UOPS_RETIRED_FUSED, 1 },
	{ SIG_UOPS_RETIRED_UNFUSED, 0 }, { SIG_LOAD_L1_HIT, 0 }, { SIG_BRANCHES_MISPREDICTED, 0 }, { SIG_L1D_REPLACED, 0 } };

/* Of two equal machines that run the same kernels, the one with that tap counts the same. */
static void both_ways(const char *machine)
{
	const struct machine m = core_bench_machine(machine);
	const struct kernel *wrapper = kernel_table;
	struct mapping data[2];
	struct sim *sim[2];
	while (strcmp(wrapper->name, "k_measure"))
		assert_true(++wrapper < kernel_table_end);
	for (unsigned w = 0; w < 2; w++) {
		data[w] = (struct mapping){ .va = SPACE_DATA, .bytes = PAGE_2M, .page_bytes = PAGE_2M };
		assert_int_equal(sim_open(&m, &host_pages, &sim[w]), ST_OK);
		assert_int_equal(sim_access(sim[w])->ops->map(sim_access(sim[w])->self, &data[w]), ST_OK);
	}
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++) {
		if (!strncmp(k->name, "k_measure", 9))
			continue;
		uint64_t value[2][COUNT_OF(often)];
		for (unsigned w = 0; w < 2; w++) {
			struct signals *s = sim_signals(sim[w], 0);
			kernel_start_fill(data[w].host);
			for (unsigned i = 0; i < COUNT_OF(often); i++)
				put_tap(s, i, often[i].sig, often[i].cmask, false);
			if (w)
				put_tap(s, COUNT_OF(often), SIG_LOADS_RETIRED, 0, false);
			run(sim_access(sim[w]), k, wrapper);
			for (unsigned i = 0; i < COUNT_OF(often); i++)
				value[w][i] = count(s, i);
			if (w)
				assert_int_equal(s->any_seldom, true);
			else
				assert_int_equal(s->any_seldom, false);
		}
		for (unsigned i = 0; i < COUNT_OF(often); i++)
			if (value[0][i] != value[1][i])
				fail_msg("%s, signal %u, cmask %u: %llu, beside a listener %llu", k->name, often[i].sig, often[i].cmask,
				         (unsigned long long)value[0][i], (unsigned long long)value[1][i]);
	}
	sim_close(sim[0]);
	sim_close(sim[1]);
}

static void test_histogram_is_the_same_beside_other_listeners(void **state)
{
	(void)state;
	both_ways("nehalem-ep");
	both_ways("core2");
	both_ways("haswell-ep");
}

static void test_histogram_of_every_kernel_on_nehalem_ep(void **state)
{
	(void)state;
	all_kernels("nehalem-ep");
}

static void test_histogram_of_every_kernel_on_skylake_sp(void **state)
{
	(void)state;
	all_kernels("skylake-sp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histogram_is_the_same_beside_other_listeners),
		cmocka_unit_test(test_histogram_of_every_kernel_on_nehalem_ep),
		cmocka_unit_test(test_histogram_of_every_kernel_on_skylake_sp),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
