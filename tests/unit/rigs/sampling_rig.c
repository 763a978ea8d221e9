/* tests/unit/rigs/sampling_rig.c: see sampling_rig.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/measure/layout.h"
#include "tests/unit/support/host_pages.h"
#include "tests/unit/rigs/sampling_rig.h"
#include "tests/unit/support/sim_look.h"

/* Registers that sampling writes, apart from the counters. */
static const uint32_t watched[] = { 0x186, 0x187, 0x188, 0x189, 0x1A6, 0x1C8, 0x1D9, 0x38D, 0x38F, 0x3F1, 0x3F6, 0x600, 0xC0011030, 0xC0011033 };
static uint64_t before[2][COUNT_OF(watched)];

void sampling_open(struct sampling_rig *r, void (*change)(struct machine *m), uint64_t bytes) { sampling_open_machine(r, "nehalem-ep", change, bytes); }

void sampling_open_machine(struct sampling_rig *r, const char *machine, void (*change)(struct machine *m), uint64_t bytes)
{
	char problem[256] = "no such machine";
	enum status s = ST_MISSING;
	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < machine_files_count; i++)
		if (!strcmp(machine_files[i].name, machine))
			s = machine_read("built in", machine_files[i].text, machine_files[i].bytes, &r->machine, problem,
			                 sizeof(problem));
	if (s != ST_OK)
		fail_msg("%s", problem);
	if (change)
		change(&r->machine);
	assert_int_equal(sim_open(&r->machine, &host_pages, &r->sim), ST_OK);
	assert_int_equal(cpu_identify(sim_access(r->sim), &r->cpu), ST_OK);
	r->saved = calloc(MSR_GUARD_SAVED_MAX, sizeof(*r->saved));
	msr_guard_init(&r->guard, sim_access(r->sim), r->cpu.processor, r->saved, MSR_GUARD_SAVED_MAX);
	r->a = &r->guard.access;
	for (unsigned core = 0; core < 2; core++)
		for (unsigned i = 0; i < COUNT_OF(watched); i++) {
			uint64_t value = 0;
			(void)!r->a->ops->rdmsr(r->a->self, core, watched[i], &value); /* a machine may lack some of them */
			before[core][i] = value;
		}
	r->map = (struct mapping){ .va = SPACE_DATA, .bytes = bytes, .page_bytes = PAGE_2M };
	if (bytes)
		assert_int_equal(r->a->ops->map(r->a->self, &r->map), ST_OK);
	r->at = SPACE_DATA;
}

void sampling_ring(struct sampling_rig *r, unsigned nodes)
{
	struct random random;
	uint32_t *next = calloc(nodes, sizeof(*next));
	random_init(&random, 7);
	random_cycle(&random, next, nodes);
	for (unsigned i = 0; i < nodes; i++)
		*(uint64_t *)((uint8_t *)r->map.host + 64ull * i) = SPACE_DATA + 64ull * next[i];
	free(next);
}

uint64_t sampling_run(struct sampling_rig *r, const char *kernel, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct measure_block *b = r->a->ops->control(r->a->self, 0);
	const struct kernel *k = NULL, *wrapper = NULL;
	for (const struct kernel *i = kernel_table; i < kernel_table_end; i++) {
		if (!strcmp(i->name, kernel))
			k = i;
		if (!strcmp(i->name, r->gate ? "k_measure_sampled" : "k_measure"))
			wrapper = i;
	}
	assert_non_null(k);
	memset(b, 0, sizeof(*b));
	b->kernel = SPACE_CODE + k->offset;
	b->argument[0] = a0;
	b->argument[1] = a1;
	b->argument[2] = a2;
	b->argument[3] = a3;
	if (r->gate)
		sampling_gate_load(r->gate, b);
	struct job job = { .core = 0, .entry = SPACE_CODE + wrapper->offset, .argument = SPACE_CONTROL };
	enum status s = r->a->ops->run(r->a->self, &job, 1, 0);
	if (s != ST_OK)
		fail_msg("%s: %s: %s", kernel, status_name(s), sim_problem(r->sim));
	return b->result;
}

void sampling_chase(struct sampling_rig *r, unsigned loads)
{
	r->at = sampling_run(r, "k_chase", r->at, loads / 16, 0, 0);
}

void sampling_close(struct sampling_rig *r)
{
	assert_int_equal(msr_guard_restore(&r->guard), ST_OK);
	assert_int_equal(r->guard.refused, 0);
	for (unsigned core = 0; core < 2; core++)
		for (unsigned i = 0; i < COUNT_OF(watched); i++) {
			uint64_t value = 0;
			(void)!r->a->ops->rdmsr(r->a->self, core, watched[i], &value);
			if (value != before[core][i])
				fail_msg("register 0x%x of core %u: 0x%llx, was 0x%llx", watched[i], core, (unsigned long long)value,
				         (unsigned long long)before[core][i]);
		}
	if (r->map.bytes)
		assert_int_equal(r->a->ops->unmap(r->a->self, &r->map), ST_OK);
	sim_close(r->sim);
	free(r->saved);
}
