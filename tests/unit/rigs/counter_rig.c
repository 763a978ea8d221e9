#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/sim/machine/event_map.h"
#include "tests/unit/rigs/counter_rig.h"
#include "tests/unit/support/sim_look.h"

static void *rig_memory(void *self, uint64_t va, unsigned bytes, bool write)
{
	struct counter_rig *r = self;
	(void)write;
	if (!r->m.pmu_ds64) /* its records truncate addresses to 32 bits */
		va |= RIG_MEMORY_VA >> 32 << 32;
	return va >= RIG_MEMORY_VA && va + bytes <= RIG_MEMORY_VA + RIG_MEMORY ? r->memory + (va - RIG_MEMORY_VA) : NULL;
}

static void rig_prefetchers(void *self, unsigned off_mask)
{
	((struct counter_rig *)self)->prefetch_off = off_mask;
}

static uint64_t rig_cycle(void *self)
{
	return ((struct counter_rig *)self)->cycle;
}

void pmu_open(struct counter_rig *r, const char *machine, const char *extra)
{
	memset(r, 0, sizeof(*r));
	const struct machine_file *f = machine_builtin(machine);
	assert_non_null(f);
	char *text = malloc(f->bytes + strlen(extra) + 2), problem[512] = "";
	memcpy(text, f->text, f->bytes);
	strcpy(text + f->bytes, extra);
	enum status st = machine_read(machine, text, strlen(text), &r->m, problem, sizeof(problem));
	assert_string_equal(problem, "");
	assert_int_equal(st, ST_OK);
	free(text);
	r->at = calloc(1, signals_bytes());
	r->map = calloc(1, event_map_load_bytes(&r->m));
	assert_int_equal(event_map_load(&r->m, r->map), ST_OK);
	r->file = calloc(1, counters_bytes(&r->m));
	r->signals = signals_init(r->at);
	signals_attach_heap(r->signals);
	r->p = counters_init(r->file, &r->m, 0, r->signals);
	r->prefetch_off = 0xFF;
	struct counters_env env = { .self = r, .memory = rig_memory, .prefetchers = rig_prefetchers, .cycle = rig_cycle };
	counters_connect(r->p, &env);
}

void pmu_close(struct counter_rig *r)
{
	signals_detach(r->signals);
	free(r->at);
	free(r->file);
	free(r->map);
}

void pmu_run(struct counter_rig *r, uint64_t cycles, unsigned retired)
{
	for (uint64_t i = 0; i < cycles; i++, r->cycle++) {
		signal_level(r->signals, SIG_CYCLES, r->cycle, r->cycle + 1, 1);
		if (retired)
			signal_pulse(r->signals, SIG_INSTRUCTIONS_RETIRED, r->cycle, retired);
		signal_close(r->signals, r->cycle + 1);
	}
}

void pmu_write(struct counter_rig *r, uint32_t msr, uint64_t value)
{
	struct sim_finding f = { 0 };
	enum status st = counters_wrmsr(r->p, msr, value, &f);
	if (st != ST_OK || f.why)
		fail_msg("wrmsr %x = %llx: status %d, %s", msr, (unsigned long long)value, st, f.why ? f.why : "no finding");
}

uint64_t pmu_read(struct counter_rig *r, uint32_t msr)
{
	uint64_t v = 0;
	struct sim_finding f = { 0 };
	enum status st = counters_rdmsr(r->p, msr, &v, &f);
	if (st != ST_OK)
		fail_msg("rdmsr %x: status %d", msr, st);
	return v;
}

void pmu_start_sequence(struct counter_rig *r)
{
	static const uint32_t magic[4] = { 0x4300B5, 0x4300D2, 0x4300B1, 0x4300B1 };
	pmu_write(r, 0x3F1, 0);
	pmu_write(r, 0x38F, 0);
	for (unsigned n = 0; n < 4; n++) {
		pmu_write(r, 0x186 + n, magic[n]);
		pmu_write(r, 0xC1 + n, 0);
	}
	pmu_write(r, 0x38F, 0xF);
	pmu_write(r, 0x38F, 0);
	for (unsigned n = 0; n < 4; n++) {
		pmu_write(r, 0x186 + n, 0);
		pmu_write(r, 0xC1 + n, 0);
	}
}
