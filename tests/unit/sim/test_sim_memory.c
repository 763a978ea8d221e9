/* A simulated machine takes at most 64 MiB of the host's memory with all of its cores at work and counters armed. The memory
 * that it simulates does not count: code, control blocks with stacks and debug-store areas, which every backend maps. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "asm/kernel.h"
#include "bench/suite/speed.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/sim/backend/sim.h"
#include "runner/host/backend.h"
#include "tests/unit/support/sim_look.h"
#include "tests/unit/support/kernel_run.h"

#define MOST_BYTES (64u << 20)

struct meter { size_t now, left; };

static void *meter_get(void *self, size_t bytes)
{
	struct meter *m = self;
	if (bytes > m->left)
		return NULL;
	m->now += bytes;
	m->left -= bytes;
	return backend_pages_get(NULL, bytes);
}

static void meter_put(void *self, void *at, size_t bytes)
{
	struct meter *m = self;
	m->now -= bytes;
	m->left += bytes;
	backend_pages_put(NULL, at, bytes);
}

struct all { struct meter meter; struct sim *sim; struct msr_guard guard; struct cpu cpu; struct plan plan; };

static void open_machine(struct all *x, const char *name)
{
	static struct machine m;
	static struct msr_guard_saved saved[MSR_GUARD_SAVED_MAX];
	char problem[400] = "";
	memset(x, 0, sizeof(*x));
	x->meter.left = SIZE_MAX;
	const struct sim_memory memory = { &x->meter, meter_get, meter_put };
	assert_int_equal(backend_machine(name, &m, problem, sizeof(problem)), ST_OK);
	assert_int_equal(sim_open(&m, &memory, &x->sim), ST_OK);
	assert_int_equal(cpu_identify(sim_access(x->sim), &x->cpu), ST_OK);
	assert_int_equal(speed_plan(&x->cpu, &x->plan), ST_OK);
	msr_guard_init(&x->guard, sim_access(x->sim), x->cpu.processor, saved, MSR_GUARD_SAVED_MAX);
}

static void close_machine(struct all *x)
{
	assert_int_equal(msr_guard_restore(&x->guard), ST_OK);
	sim_close(x->sim);
	assert_int_equal(x->meter.now, 0); /* all of it is given back */
}

static enum status run_all(struct all *x)
{
	struct job jobs[MACHINE_THREADS_MAX];
	const struct access *a = &x->guard.access;
	for (unsigned i = 0; i < a->cores; i++)
		jobs[i] = (struct job){ .core = i, .entry = kernel_at("k_add_chain"), .argument = 10 };
	return a->ops->run(a->self, jobs, a->cores, 0);
}

static void test_memory_with_all_cores_is_at_most_64_mib(void **state)
{
	static const char *const names[] = { "nehalem-ep", "core2", "haswell-ep", "skylake-sp", "pentium4" };
	(void)state;
	for (unsigned n = 0; n < COUNT_OF(names); n++) {
		struct all x;
		open_machine(&x, names[n]);
		const struct access *a = &x.guard.access;
		const size_t buffers = a->cores * (CONTROL_BYTES + DS_BYTES) +
			((size_t)(kernel_code_end - kernel_code) + PAGE_4K - 1) / PAGE_4K * PAGE_4K;
		const size_t parked = x.meter.now - buffers;
		for (unsigned i = 0; i < a->cores && x.plan.count; i++)
			assert_int_equal(counters_start(a, &x.cpu, &x.plan, 0, i), ST_OK);
		assert_int_equal(run_all(&x), ST_OK);
		printf("# %s: %.1f MiB with its %u cores parked, %.1f at work, %u counters on each\n", names[n],
		       (double)parked / (1 << 20), a->cores, (double)(x.meter.now - buffers) / (1 << 20), x.plan.count);
		assert_true(x.meter.now - buffers > parked);
		assert_in_range(x.meter.now - buffers, 1, MOST_BYTES);
		for (unsigned i = 0; i < a->cores && x.plan.count; i++)
			assert_int_equal(counters_stop(a, &x.cpu, &x.plan, 0, i), ST_OK);
		close_machine(&x);
	}
}

/* A counter with a threshold needs memory for the counts of cycles: without it the run ends with ST_FULL. */
static void test_no_memory_for_a_tap_ends_the_run(void **state)
{
	(void)state;
	for (unsigned short_of = 0; short_of < 2; short_of++) {
		struct all x;
		open_machine(&x, "nehalem-ep");
		struct tap tap = { .on = true, .cmask = 2 };
		tap.listen[SIG_UOPS_RETIRED_FUSED / 64] = 1ull << (SIG_UOPS_RETIRED_FUSED % 64);
		assert_int_equal(run_all(&x), ST_OK);
		if (short_of)
			x.meter.left = 0;
		signals_tap(sim_signals(x.sim, 1), 20, &tap);
		assert_int_equal(run_all(&x), short_of ? ST_FULL : ST_OK);
		assert_int_equal(signals_tap_get(sim_signals(x.sim, 1), 20)->value > 0, !short_of);
		close_machine(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_with_all_cores_is_at_most_64_mib),
		cmocka_unit_test(test_no_memory_for_a_tap_ends_the_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
