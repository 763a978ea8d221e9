/* tests/unit/rigs/work_rig.c: see work_rig.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/counters/counters.h"
#include "pmu/sim/backend/sim_state.h"
#include "tests/unit/rigs/work_rig.h"

#define CORES 2u

/* The rig whose lines line_moved counts; NULL outside work_rig_count. */
static struct work_rig *current;

static void line_moved(void *self, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t from, uint64_t to, unsigned n,
                       const struct uncore_attributes *about)
{
	(void)self, (void)unit, (void)from, (void)to, (void)about;
	if (socket == 0 && (sig == UNC_MEMORY_READ || sig == UNC_MEMORY_WRITE_FULL))
		current->lines += n;
}

void work_rig_open(struct work_rig *g, const char *text)
{
	char *alone = loop_changed(text, "firmware", "runs", "0"); /* every line that moves is the work's */
	memset(g, 0, sizeof(*g));
	loop_open(&g->run, alone);
	free(alone);
	bench_init(&g->bench, &g->run.guard.access, &g->run.cpu, &g->run.host.host, 0, 1);
}

void work_rig_close(struct work_rig *g)
{
	loop_close(&g->run);
}

void work_rig_count(struct work_rig *g, enum work_kind kind, unsigned cores, const char *first, const char *second, uint64_t out[2])
{
	const struct access *a = &g->run.guard.access;
	const char *const names[2] = { first, second }, *problem;
	const unsigned n = second ? 2 : 1;
	const struct event *events[2];
	struct uncore_sink sink = { .deliver = line_moved };
	struct plan plan;
	struct work work[CORES];
	struct job jobs[CORES], prepared;
	uint64_t before[2];

	assert_true(cores <= CORES);
	for (unsigned i = 0; i < n; i++)
		assert_non_null(events[i] = event_find(g->run.cpu.processor, names[i]));
	assert_int_equal(plan_events(&g->run.cpu, events, n, &plan, &problem), ST_OK);
	assert_int_equal(plan.runs, 1);
	for (unsigned i = 0; i < cores; i++) {
		assert_int_equal(work_open(&work[i], &g->bench, kind, i, i), ST_OK);
		assert_int_equal(work_prepare(&work[i], work_iterations(kind), &prepared), ST_OK);
	}
	memset(jobs, 0, sizeof(jobs));
	for (unsigned i = 0; i < cores; i++) {
		struct measure_block *block = a->ops->control(a->self, i);
		memset(block, 0, sizeof(*block));
		block->kernel = SPACE_CODE + work[i].kernel->offset;
		block->serialise = g->run.cpu.processor->serialise_cpuid;
		work_arguments(&work[i], work_iterations(kind), block->argument);
		jobs[i].core = i;
		jobs[i].entry = SPACE_CODE + kernel_find("k_measure")->offset;
		jobs[i].argument = SPACE_CONTROL + i * CONTROL_BYTES;
	}
	assert_int_equal(counters_start(a, &g->run.cpu, &plan, 0, 0), ST_OK);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(a->ops->rdpmc(a->self, 0, plan.slots[i].rdpmc_index, &before[i]), ST_OK);
	g->lines = 0;
	current = g;
	sink.listen[UNC_MEMORY_READ / 64] |= 1ull << UNC_MEMORY_READ % 64;
	sink.listen[UNC_MEMORY_WRITE_FULL / 64] |= 1ull << UNC_MEMORY_WRITE_FULL % 64;
	memory_uncore(g->run.sim->memory, &sink);
	assert_int_equal(a->ops->run(a->self, jobs, cores, 0), ST_OK);
	memory_uncore(g->run.sim->memory, NULL);
	current = NULL;
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(a->ops->rdpmc(a->self, 0, plan.slots[i].rdpmc_index, &out[i]), ST_OK);
		out[i] -= before[i];
	}
	assert_int_equal(counters_stop(a, &g->run.cpu, &plan, 0, 0), ST_OK);
	for (unsigned i = 0; i < cores; i++)
		assert_int_equal(work_close(&work[i]), ST_OK);
}

void within_a_hundredth(uint64_t counted, uint64_t true_value)
{
	assert_true(true_value > 1000);
	assert_true(counted * 100 >= true_value * 99 && counted * 100 <= true_value * 101);
}

int64_t loop_event_milli(const struct loop_run *run, const char *event)
{
	char name[96];
	snprintf(name, sizeof(name), "\"name\": \"%s\"", event);
	const char *at = strstr(memory_host_file(&run->host, "results.json"), name);
	assert_non_null(at);
	at = strstr(at, "\"value\": ");
	assert_non_null(at);
	return (int64_t)(strtod(at + strlen("\"value\": "), NULL) * 1000 + 0.5);
}
