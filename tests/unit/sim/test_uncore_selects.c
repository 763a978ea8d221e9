/* Selects of Haswell-EP's boxes that the driver writes: bits that differ by box, and the values that it restores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/rigs/uncore_rig.h"

static void open_rig(struct uncore_rig *r)
{
	const struct machine m = core_bench_machine("haswell-ep");
	uncore_rig_open(r, &m);
}

/* Programs one event on the first socket, and switches it off again. */
static void counted(struct uncore_rig *r, const char *name)
{
	struct uncore_plan plan;
	const char *problem;
	assert_int_equal(uncore_plan(&r->u, &name, 1, &plan, &problem), ST_OK);
	assert_int_equal(uncore_start(r->a, &r->u, &plan, 0, 0, r->lock.va), ST_OK);
	assert_int_equal(uncore_stop(r->a, &r->u, &plan, 0, 0), ST_OK);
}

/* Occupancies of the PCU have edge and invert in bits 31 and 30 (manual 331051-002, table 2-158), all other events in 18 and 23. */
static void test_select_edge_and_invert_of_an_occupancy(void **state)
{
	(void)state;
	static struct uncore_rig r;
	static const struct { const char *name; uint32_t select; } cases[] = {
		{ "UNC_P_POWER_STATE_OCCUPANCY.CORES_C3:thresh=1:edge", 0x81408080 },
		{ "UNC_P_POWER_STATE_OCCUPANCY.CORES_C3:thresh=1:edge:invert", 0xC1408080 },
		{ "UNC_P_DEMOTIONS_CORE0:thresh=1:edge:invert", 0x01C40030 },
	};
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		bool seen = false;
		open_rig(&r);
		counted(&r, cases[i].name);
		for (unsigned n = 0; n < r.trace.count; n++)
			seen |= r.entries[n].op == TRACE_WRMSR && r.entries[n].address == 0x711 && r.entries[n].value == cases[i].select;
		if (!seen)
			fail_msg("%s: select %x is not written", cases[i].name, cases[i].select);
		uncore_rig_close(&r);
	}
}

/* An SBo latches an event at the second write: an event that firmware left enabled (UP of the data ring) counts again after the run. */
static void test_select_that_latches_twice_is_put_back_in_two_writes(void **state)
{
	(void)state;
	static struct uncore_rig r;
	uint64_t before, after;
	open_rig(&r);
	const struct access *a = sim_access(r.sim);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(a->ops->wrmsr(a->self, 0, 0x721, i ? 0x40031D : 0x31D), ST_OK);
	counted(&r, "UNC_S_CLOCKTICKS");
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	assert_int_equal(uncore_rig_findings(&r, NULL, NULL), 0); /* no event that is enabled before it is latched */
	assert_int_equal(a->ops->rdmsr(a->self, 0, 0x726, &before), ST_OK);
	uncore_rig_run(&r, 0, "k_read_sse2", (uint64_t[]){ RIG_ARRAY(0), 0, 0, 1024, RIG_BYTES - 1, 0 }, 6);
	assert_int_equal(a->ops->rdmsr(a->self, 0, 0x726, &after), ST_OK);
	assert_true(after > before + 100);
	uncore_rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select_edge_and_invert_of_an_occupancy),
		cmocka_unit_test(test_select_that_latches_twice_is_put_back_in_two_writes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
