/* tests/bench/speed.c: speed of the simulated machines on this host: `speed [MACHINE [MILLISECONDS [CASE]]]`;
 * CASE: the start of a name, then on one core only.
 *
 * Simulated instructions a second of this process's CPU time, four counters and the fixed ones armed. Another
 * program on the same core slows the simulator down without showing in its CPU time: so a loop of dependent adds
 * is timed beside each figure, and each is given as host adds an instruction too. Then the memory of a machine
 * without the buffers that were mapped on it. Exit status 1: less than the floor on the machine that has one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "asm/kernel.h"
#include "bench/suite/speed.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/sim/backend/sim.h"
#include "runner/host/backend.h"

#define FLOOR_MACHINE "nehalem-ep"
#define FLOOR_CORE 15000u   /* thousand instructions a second */
#define FLOOR_BEYOND 4000u
#define FLOOR_MEMORY (64u << 20)

struct meter { struct sim_memory under; size_t now, most; };

static void *meter_get(void *self, size_t bytes)
{
	struct meter *m = self;
	m->now += bytes;
	m->most = m->now > m->most ? m->now : m->most;
	return m->under.get(m->under.self, bytes);
}

static void meter_put(void *self, void *at, size_t bytes)
{
	struct meter *m = self;
	m->now -= bytes;
	m->under.put(m->under.self, at, bytes);
}

static uint64_t cpu_ns(void *self)
{
	struct timespec t;
	(void)self;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Dependent adds a microsecond, now. */
static uint64_t host_adds(void)
{
	uint64_t n = 4000000, x = 0, from = cpu_ns(NULL);
	for (uint64_t i = 0; i < n; i += 16)
		__asm__ volatile(".rept 16\n\tadd $1, %0\n\t.endr" : "+r"(x));
	return n * 1000 / (cpu_ns(NULL) - from);
}

static unsigned report(const struct access *a, const struct cpu *cpu, const struct plan *plan, bool floor, uint64_t least_ns, const char *only)
{
	static const unsigned cores[] = { 1, 2, 4, 8 };
	const struct speed_clock clock = { NULL, cpu_ns, 1 };
	unsigned below = 0;
	for (unsigned i = 0; i < speed_case_count; i++) {
		if (only && strncmp(speed_cases[i].name, only, strlen(only)))
			continue;
		printf("%-14s", speed_cases[i].name);
		uint64_t adds = 0;
		for (unsigned n = 0; n < (only ? 1 : COUNT_OF(cores)); n++) {
			struct speed_result r = { 0, 0 };
			enum status st = speed_measure(a, cpu, plan, &speed_cases[i], cores[n], &clock, least_ns, &r);
			if (st == ST_UNSUPPORTED) {
				printf("       -");
				continue;
			}
			if (st != ST_OK) {
				printf("  %s\n", status_name(st));
				return below + 1;
			}
			const uint64_t speed = r.instructions * 1000000 / r.ns;
			printf("  %6.2f", (double)speed / 1000);
			if (n)
				continue;
			adds = host_adds();
			if (floor && speed < (speed_cases[i].beyond ? FLOOR_BEYOND : FLOOR_CORE))
				below++;
			printf(" (%5.1f)", (double)adds * 1000 / (double)speed);
		}
		if (adds)
			printf("   %.2f", (double)adds / 1000);
		if (floor)
			printf("   goal %u", (speed_cases[i].beyond ? FLOOR_BEYOND : FLOOR_CORE) / 1000);
		printf("\n");
		fflush(stdout);
	}
	return below;
}

/* Every core runs once, with the counters on it. */
static bool all_cores(const struct access *a, const struct cpu *cpu, const struct plan *plan)
{
	struct job jobs[MACHINE_THREADS_MAX];
	const struct kernel *k = kernel_table;
	unsigned on = 0;
	while (k < kernel_table_end && strcmp(k->name, "k_add_chain"))
		k++;
	if (k == kernel_table_end)
		return false;
	for (unsigned i = 0; i < a->cores; i++)
		jobs[i] = (struct job){ .core = i, .entry = SPACE_CODE + k->offset, .argument = 10 };
	while (on < a->cores && plan->count && counters_start(a, cpu, plan, 0, on) == ST_OK)
		on++;
	bool good = (on == a->cores || !plan->count) && a->ops->run(a->self, jobs, a->cores, 0) == ST_OK;
	while (on)
		good &= counters_stop(a, cpu, plan, 0, --on) == ST_OK;
	return good;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : FLOOR_MACHINE;
	const uint64_t least_ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 200) * 1000000;
	static struct msr_guard_saved saved[MSR_GUARD_SAVED_MAX];
	static struct machine m;
	struct meter meter = { { NULL, backend_pages_get, backend_pages_put }, 0, 0 };
	const struct sim_memory memory = { &meter, meter_get, meter_put };
	struct msr_guard guard;
	struct cpu cpu;
	struct plan plan;
	struct sim *sim;
	char problem[400];

	if (argc > 4 || !least_ns || backend_machine(name, &m, problem, sizeof(problem)) != ST_OK) {
		fprintf(stderr, "usage: speed [MACHINE [MILLISECONDS [CASE]]]\n");
		return 2;
	}
	if (sim_open(&m, &memory, &sim) != ST_OK || cpu_identify(sim_access(sim), &cpu) != ST_OK || speed_plan(&cpu, &plan) != ST_OK)
		return 3;
	msr_guard_init(&guard, sim_access(sim), cpu.processor, saved, MSR_GUARD_SAVED_MAX);
	printf("simulated %s, %u counters armed:", name, plan.count);
	for (unsigned i = 0; i < plan.count; i++)
		printf(" %s", plan.slots[i].event->name);
	printf("\nmillion instructions a second of CPU time, by active cores; in brackets host adds an instruction; host adds a ns\n"
	       "               1 core          2       4       8\n");
	const bool floor = !strcmp(name, FLOOR_MACHINE);
	unsigned below = report(&guard.access, &cpu, &plan, floor, least_ns, argc > 3 ? argv[3] : NULL);
	/* every core that is there has its pipeline and its taps; what is still held beside the areas that are always mapped is the machine's */
	if (!all_cores(&guard.access, &cpu, &plan))
		below++;
	const size_t code = ((size_t)(kernel_code_end - kernel_code) + PAGE_4K - 1) / PAGE_4K * PAGE_4K;
	const size_t machine = meter.now - code - guard.access.cores * (CONTROL_BYTES + DS_BYTES);
	printf("memory of the machine beside the buffers, all %u cores at work: %.1f MiB, goal at most %u\n", guard.access.cores,
	       (double)machine / (1 << 20), FLOOR_MEMORY >> 20);
	if (machine > FLOOR_MEMORY) {
		printf("more than %u MiB\n", FLOOR_MEMORY >> 20);
		below++;
	}
	if (below)
		printf("%u figures below the floor (%u thousand, %u beyond the L2)\n", below, FLOOR_CORE, FLOOR_BEYOND);
	if (msr_guard_restore(&guard) != ST_OK)
		below++;
	sim_close(sim);
	return below != 0;
}
