/* The drivers above the backend, judged by the simulated register file, which shares no code or table
 * with them: no write faults, sets reserved bits, is ignored or uses a wrong counter, and the guard's
 * restoration leaves every register as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/counters/counters.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/sim/counters/counter.h"
#include "pmu/sim/machine/event_map.h"
#include "pmu/text.h"

struct rig {
	struct machine machine;
	struct signals *signals;
	struct counters *counters;
	void *map;
	struct access access;
	unsigned findings[FIND_COUNT];
	char first[160]; /* the first finding other than FIND_UNMODELLED */
};

static enum status rig_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
	uint32_t r[4];
	(void)core;
	counters_cpuid(((struct rig *)self)->counters, leaf, subleaf, r);
	*out = (struct cpuid_regs){ r[0], r[1], r[2], r[3] };
	return ST_OK;
}

static void note(struct rig *r, const struct sim_finding *f)
{
	if (!f->why)
		return;
	r->findings[f->kind]++;
	struct text t;
	if (f->kind == FIND_UNMODELLED || r->first[0])
		return;
	text_init(&t, r->first, sizeof(r->first));
	text_fmt(&t, "MSR 0x%X = 0x%llX: %s", f->address, (unsigned long long)f->value, f->why);
}

static enum status rig_rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	struct sim_finding f = { 0 };
	(void)core;
	enum status s = counters_rdmsr(((struct rig *)self)->counters, msr, value, &f);
	note(self, &f);
	return s == ST_MISSING ? ST_FAULT : s;
}

static enum status rig_wrmsr(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	struct sim_finding f = { 0 };
	(void)core;
	enum status s = counters_wrmsr(((struct rig *)self)->counters, msr, value, &f);
	note(self, &f);
	return s == ST_MISSING ? ST_FAULT : s;
}

/* A debug store to prepare; nothing is recorded in it. */
static void *rig_ds(void *self, unsigned core)
{
	static uint8_t area[DS_BYTES];
	(void)self, (void)core;
	return area;
}

static const struct access_ops rig_ops = { .cpuid = rig_cpuid, .rdmsr = rig_rdmsr, .wrmsr = rig_wrmsr, .ds = rig_ds };

static void rig_open(struct rig *r, const char *name, bool firmware_counting)
{
	char problem[256];
	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < machine_files_count; i++)
		if (str_equal(machine_files[i].name, name))
			assert_int_equal(machine_read(name, machine_files[i].text, machine_files[i].bytes, &r->machine, problem,
			                              sizeof(problem)), ST_OK);
	assert_true(r->machine.pmu_version > 0);
	r->machine.fault_firmware_counting = firmware_counting;
	assert_int_equal(event_map_load(&r->machine, r->map = calloc(1, event_map_load_bytes(&r->machine))), ST_OK);
	r->signals = signals_init(calloc(1, signals_bytes()));
	r->counters = counters_init(calloc(1, counters_bytes(&r->machine)), &r->machine, 0, r->signals);
	r->access = (struct access){ .ops = &rig_ops, .self = r, .kind = ACCESS_SIM, .name = "registers", .cores = 1, .nodes = 1 };
}

static void rig_close(struct rig *r)
{
	free(r->counters);
	free(r->signals);
	free(r->map);
}

/* Reads every register that the descriptor restores; 0 for one that the machine lacks. */
static unsigned snapshot(struct rig *r, const struct processor *p, uint64_t *values, unsigned capacity)
{
	unsigned n = 0;
	for (unsigned i = 0; i < p->msr_count; i++)
		for (uint32_t m = p->msrs[i].first; m <= p->msrs[i].last && p->msrs[i].restore; m++) {
			uint64_t v;
			assert_true(n < capacity);
			values[n++] = rig_rdmsr(r, 0, m, &v) == ST_OK ? v : 0;
		}
	return n;
}

static void test_driver_identifies_the_simulated_nehalem(void **state)
{
	(void)state;
	struct rig r;
	struct cpu cpu;
	rig_open(&r, "nehalem-ep", false);
	assert_int_equal(cpu_identify(&r.access, &cpu), ST_OK);
	assert_string_equal(cpu.processor->name, "nehalem-ep");
	assert_int_equal(cpu.pmu_version, 3);
	assert_int_equal(cpu.general_mask, 0xF);
	assert_int_equal(cpu.fixed_mask, 7);
	assert_int_equal(cpu.general_width, 48);
	assert_int_equal(cpu_cache(&cpu, 1)->bytes, r.machine.l1d_bytes);
	assert_int_equal(cpu_cache(&cpu, 2)->bytes, r.machine.l2_bytes);
	assert_int_equal(cpu_cache(&cpu, 3)->bytes, r.machine.l3_bytes);
	assert_int_equal(cpu.tlb.dtlb_4k, r.machine.dtlb_entries);
	assert_int_equal(cpu.tlb.stlb_4k, r.machine.stlb_entries);
	assert_string_equal(r.first, "");
	rig_close(&r);
}

/* Every event of the table, in a plan of its own, is accepted on a permitted counter, and all registers are restored. */
static void test_driver_programs_every_nehalem_event_without_a_finding(void **state)
{
	(void)state;
	struct rig r;
	struct cpu cpu;
	static struct msr_guard_saved saved[MSR_GUARD_SAVED_MAX];
	struct msr_guard g;
	uint64_t before[128], after[128];
	rig_open(&r, "nehalem-ep", false);
	assert_int_equal(cpu_identify(&r.access, &cpu), ST_OK);
	msr_guard_init(&g, &r.access, cpu.processor, saved, COUNT_OF(saved));
	unsigned n = snapshot(&r, cpu.processor, before, COUNT_OF(before));
	r.first[0] = 0;
	for (unsigned i = 0; i < cpu.processor->event_count; i++) {
		const struct event *e = &cpu.processor->events[i];
		struct plan plan;
		const char *problem;
		assert_int_equal(plan_events(&cpu, &e, 1, &plan, &problem), ST_OK);
		assert_int_equal(counters_start(&g.access, &cpu, &plan, 0, 0), ST_OK);
		assert_int_equal(counters_stop(&g.access, &cpu, &plan, 0, 0), ST_OK);
		if (r.first[0])
			fail_msg("%s: %s", e->name, r.first);
	}
	print_message("# %u events programmed, %u accesses without a model in the machine\n", cpu.processor->event_count,
	              r.findings[FIND_UNMODELLED]);
	assert_int_equal(g.refused, 0);
	assert_int_equal(msr_guard_restore(&g), ST_OK);
	assert_int_equal(snapshot(&r, cpu.processor, after, COUNT_OF(after)), n);
	assert_memory_equal(before, after, n * sizeof(before[0]));
	rig_close(&r);
}

static void test_driver_finds_counters_that_firmware_left_on(void **state)
{
	(void)state;
	struct rig r;
	struct cpu cpu;
	struct msr_guard g;
	struct msr_guard_saved saved[64];
	struct firmware_counter list[FIRMWARE_COUNTERS_MAX];
	unsigned n;
	rig_open(&r, "nehalem-ep", true);
	assert_int_equal(cpu_identify(&r.access, &cpu), ST_OK);
	msr_guard_init(&g, &r.access, cpu.processor, saved, COUNT_OF(saved));
	assert_int_equal(counters_firmware_check(&g.access, &cpu, 0, list, &n), ST_OK);
	assert_int_equal(n, 3); /* general 0, fixed 0 and 1 */
	assert_false(list[0].fixed);
	assert_int_equal(list[0].counter, 0);
	assert_true(list[1].fixed && list[2].fixed);
	assert_int_equal(counters_firmware_recheck(&g.access, &cpu, 0, list, n), ST_OK);
	assert_false(list[0].returned || list[1].returned || list[2].returned);
	assert_int_equal(counters_verify(&g.access, &cpu, 0), ST_OK);
	assert_int_equal(cpu.general_mask, 0xF);
	assert_int_equal(msr_guard_restore(&g), ST_OK);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_driver_identifies_the_simulated_nehalem),
		cmocka_unit_test(test_driver_programs_every_nehalem_event_without_a_finding),
		cmocka_unit_test(test_driver_finds_counters_that_firmware_left_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
