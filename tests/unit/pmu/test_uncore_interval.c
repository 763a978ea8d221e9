/* pmu/uncore/uncore_interval.c on a simulated Haswell-EP: boxes that stop their socket at an overflow, those that must be looked at,
 * sockets whose global control does not answer, the next interval, and cores that are sent an interrupt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/support/core_bench.h"
#include "tests/unit/support/uncore_rig.h"

enum { EVENTS = 1000, STEP = 256 /* lines a run of the kernel */, STEPS_MOST = 200 };

static const char *const names[] = { "UNC_M_CAS_COUNT.RD", "UNC_H_REQUESTS.READS_LOCAL", "UNC_C_LLC_LOOKUP.READ:state=0x7F", "UNC_S_CLOCKTICKS" };
enum { IMC, HA, CBO, SBO, NAMES };

/* Lines that no cache has: the next STEP of the array of node 0. */
static void step(struct uncore_rig *r, unsigned *at)
{
	uncore_rig_run(r, 0, "k_read_sse2", (uint64_t[]){ RIG_ARRAY(0), 0, 0, STEP / 4, RIG_BYTES - 1, (uint64_t)*at * STEP * 64 }, 6);
	(*at)++;
}

/* The most that one box of a slot has counted since it was loaded. */
static uint64_t most(struct uncore_rig *r, const struct uncore_plan *plan, const struct uncore_interval *k, unsigned slot)
{
	uint64_t v[UNCORE_INSTANCES_MAX], highest = 0;
	const struct uncore_slot *s = &plan->slots[slot];
	const unsigned b = (unsigned)(s->box - r->cpu.processor->boxes);
	assert_int_equal(uncore_instance_values(r->a, &r->u, s, 0, v), ST_OK);
	for (unsigned i = 0; i < UNCORE_INSTANCES_MAX; i++) {
		const uint64_t n = r->u.present[0][b] >> i & 1 ? uncore_moved(&r->u, s, slot == k->slot ? 0 - k->events : 0, v[i]) : 0;
		highest = n > highest ? n : highest;
	}
	return highest;
}

/* Steps until the interval is over: not before one box has counted all, and not later than the step in which it has. */
static void run_interval(struct uncore_rig *r, const struct uncore_plan *plan, const struct uncore_interval *k, unsigned *at)
{
	bool over = false;
	uint64_t before, stopped[NAMES], sum = 0;
	unsigned steps = 0;
	assert_int_equal(uncore_interval_over(r->a, &r->u, plan, 0, 0, k, &over), ST_OK);
	while (!over && steps++ < STEPS_MOST) {
		before = most(r, plan, k, k->slot);
		if (before >= k->events)
			fail_msg("%s: %llu of %llu events, and not over", names[k->slot], (unsigned long long)before, (unsigned long long)k->events);
		step(r, at);
		assert_int_equal(uncore_interval_over(r->a, &r->u, plan, 0, 0, k, &over), ST_OK);
	}
	assert_true(over);
	if (most(r, plan, k, k->slot) < k->events)
		fail_msg("%s: over after %llu events", names[k->slot], (unsigned long long)most(r, plan, k, k->slot));
	/* all of the socket stand still */
	for (unsigned i = 0; i < NAMES; i++)
		stopped[i] = most(r, plan, k, i);
	step(r, at);
	for (unsigned i = 0; i < NAMES; i++) {
		sum += stopped[i];
		if (most(r, plan, k, i) != stopped[i])
			fail_msg("%s goes on behind the overflow of %s: %llu, %llu", names[i], names[k->slot], (unsigned long long)stopped[i], (unsigned long long)most(r, plan, k, i));
	}
	assert_true(sum > k->events);
}

static void intervals(const struct machine *m, unsigned slot, uint64_t events)
{
	static struct uncore_rig r;
	struct uncore_plan plan;
	const char *problem = "";
	const struct uncore_interval k = { (uint8_t)slot, 0, events };
	unsigned at = 0;
	uint64_t others[2];
	enum finding_kind kind;
	const char *why = NULL;
	uncore_rig_open(&r, m);
	assert_int_equal(uncore_plan(&r.u, names, NAMES, &plan, &problem), ST_OK);
	assert_int_equal(uncore_interval_start(r.a, &r.u, &plan, 0, 0, r.lock.va, &k), ST_OK);
	run_interval(&r, &plan, &k, &at);
	others[0] = most(&r, &plan, &k, slot == HA ? IMC : HA);
	assert_int_equal(uncore_interval_again(r.a, &r.u, &plan, 0, 0, &k), ST_OK);
	run_interval(&r, &plan, &k, &at);
	others[1] = most(&r, &plan, &k, slot == HA ? IMC : HA);
	assert_true(others[1] > others[0]); /* what the others counted stays */
	assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 0), ST_OK);
	if (!m->fault_msr_missing && uncore_rig_findings(&r, &kind, &why))
		fail_msg("%s: %s", names[slot], why);
	uncore_rig_close(&r);
}

static void test_interval_of_each_kind_of_box_stops_the_socket(void **state)
{
	(void)state;
	const struct machine m = core_bench_machine("haswell-ep");
	intervals(&m, IMC, EVENTS);
	intervals(&m, HA, EVENTS);
	intervals(&m, CBO, EVENTS); /* looked at */
	intervals(&m, SBO, 100000);
}

static void test_interval_without_global_control_is_looked_at(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("haswell-ep");
	m.fault_msr_missing = 0x700;
	intervals(&m, IMC, EVENTS);
	intervals(&m, CBO, EVENTS);
}

static void test_interval_names_the_cores_to_interrupt(void **state)
{
	(void)state;
	static struct uncore_rig r;
	const struct machine m = core_bench_machine("haswell-ep");
	struct uncore_plan plan;
	const char *problem = "", *why = NULL;
	const struct uncore_interval k = { IMC, 1u << 2, EVENTS };
	enum finding_kind kind;
	uint64_t global = 0;
	uncore_rig_open(&r, &m);
	assert_int_equal(uncore_plan(&r.u, names, NAMES, &plan, &problem), ST_OK);
	assert_int_equal(uncore_interval_start(r.a, &r.u, &plan, 0, 0, r.lock.va, &k), ST_OK);
	assert_int_equal(r.a->ops->rdmsr(r.a->self, 0, 0x700, &global), ST_OK);
	assert_int_equal(global & 0x3FFFF, k.pmi_cores);
	assert_true(uncore_rig_findings(&r, &kind, &why) > 0); /* it sends none, and says so */
	assert_int_equal(kind, FIND_SIMULATOR);
	assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 0), ST_OK);
	uncore_rig_close(&r);
}

static void test_interval_refuses_what_no_counter_holds(void **state)
{
	(void)state;
	static struct uncore_rig r;
	const struct machine m = core_bench_machine("haswell-ep");
	struct uncore_plan plan;
	const char *problem = "";
	struct uncore_interval k = { IMC, 0, 1ull << 48 };
	uncore_rig_open(&r, &m);
	assert_int_equal(uncore_plan(&r.u, names, NAMES, &plan, &problem), ST_OK);
	assert_int_equal(uncore_interval_start(r.a, &r.u, &plan, 0, 0, r.lock.va, &k), ST_RANGE);
	k.events = 0;
	assert_int_equal(uncore_interval_start(r.a, &r.u, &plan, 0, 0, r.lock.va, &k), ST_RANGE);
	k = (struct uncore_interval){ IMC, 1u << 18, EVENTS }; /* there is no such bit */
	assert_int_equal(uncore_interval_start(r.a, &r.u, &plan, 0, 0, r.lock.va, &k), ST_RANGE);
	k = (struct uncore_interval){ NAMES, 0, EVENTS };
	assert_int_equal(uncore_interval_start(r.a, &r.u, &plan, 0, 0, r.lock.va, &k), ST_RANGE);
	uncore_rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interval_of_each_kind_of_box_stops_the_socket),
		cmocka_unit_test(test_interval_without_global_control_is_looked_at),
		cmocka_unit_test(test_interval_names_the_cores_to_interrupt),
		cmocka_unit_test(test_interval_refuses_what_no_counter_holds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
