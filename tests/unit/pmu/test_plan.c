/* pmu/counters/plan.c: plans are valid, and no shorter ones exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/counters/counters.h"
#include "pmu/text.h"
#include "tests/unit/support/table_find.h"

static const struct cpu four = { .pmu_version = 3, .any_thread = true, .general_width = 48, .general_mask = 0xF, .fixed_mask = 7 };

/* A plan must give each event one counter that can count it, no counter twice in a run, one value
 * of each extra register in a run. */
static void check_plan(const struct cpu *cpu, const struct plan *plan, const struct event *const *events, unsigned n)
{
	assert_int_equal(plan->count, n);
	for (unsigned i = 0; i < n; i++) {
		const struct plan_slot *s = &plan->slots[i];
		assert_ptr_equal(s->event, events[i]);
		assert_true(s->run < plan->runs);
		if (s->fixed) {
			assert_int_equal(s->counter + 1, s->event->fixed);
			assert_true(cpu->fixed_mask >> s->counter & 1);
			assert_int_equal(s->rdpmc_index, 0x40000000u + s->counter);
			continue;
		}
		assert_true((s->event->counter_mask & cpu->general_mask) >> s->counter & 1);
		assert_int_equal(s->rdpmc_index, s->counter);
		for (unsigned j = 0; j < i; j++) {
			const struct plan_slot *o = &plan->slots[j];
			if (o->fixed || o->run != s->run)
				continue;
			assert_int_equal(o->counter == s->counter, o->event == s->event);
			if (o->event->extra_msr && o->event->extra_msr == s->event->extra_msr)
				assert_true(o->event->extra_value == s->event->extra_value);
		}
	}
}

/* Whether events [i, n) can be placed in `runs` runs, by exhaustive search. */
static bool brute(const struct event *events, unsigned n, unsigned i, unsigned runs, const struct event *slot[6][4])
{
	if (i == n)
		return true;
	for (unsigned r = 0; r < runs; r++) {
		bool clash = false;
		for (unsigned c = 0; c < 4; c++)
			clash |= slot[r][c] && events[i].extra_msr && slot[r][c]->extra_msr == events[i].extra_msr &&
			         slot[r][c]->extra_value != events[i].extra_value;
		for (unsigned c = 0; c < 4 && !clash; c++) {
			if (slot[r][c] || !(events[i].counter_mask >> c & 1))
				continue;
			slot[r][c] = &events[i];
			bool ok = brute(events, n, i + 1, runs, slot);
			slot[r][c] = NULL;
			if (ok)
				return true;
		}
	}
	return false;
}

static void test_plan_is_as_short_as_brute_force_finds(void **state)
{
	(void)state;
	uint64_t seed = 0x5EED;
	unsigned lengths[7] = { 0 };
	for (unsigned round = 0; round < 3000; round++) {
		struct event events[6];
		const struct event *list[6], *slot[6][4] = { { 0 } };
		struct plan plan;
		const char *problem;
		unsigned n, runs;
		memset(events, 0, sizeof(events));
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		n = 1 + (unsigned)(seed >> 33) % 6;
		for (unsigned i = 0; i < n; i++) {
			static const uint32_t masks[] = { 0xF, 0x3, 0x1, 0x8, 0x2, 0xC, 0xF, 0xE };
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			events[i].name = "X";
			events[i].counter_mask = masks[seed >> 61];
			events[i].extra_msr = seed >> 58 & 1 ? 0x1A6 + (uint32_t)(seed >> 57 & 1) : 0;
			events[i].extra_value = events[i].extra_msr ? seed >> 54 & 3 : 0;
			list[i] = &events[i];
		}
		assert_int_equal(plan_events(&four, list, n, &plan, &problem), ST_OK);
		check_plan(&four, &plan, list, n);
		for (runs = 1; !brute(events, n, 0, runs, slot); runs++)
			;
		assert_int_equal(plan.runs, runs);
		lengths[runs]++;
	}
	for (unsigned r = 1; r <= 4; r++) /* plans of every length occurred */
		assert_true(lengths[r] > 10);
}

static void test_plan_of_64_bound_events_fills_every_counter(void **state)
{
	(void)state;
	struct event events[PLAN_EVENTS_MAX];
	const struct event *list[PLAN_EVENTS_MAX];
	struct plan plan;
	const char *problem;
	memset(events, 0, sizeof(events));
	for (unsigned i = 0; i < PLAN_EVENTS_MAX; i++) {
		/* the 32 that are bound to 0 and 1 come last: the others must make room */
		events[i].name = "X";
		events[i].counter_mask = i < 32 ? 0xF : 0x3;
		list[i] = &events[i];
	}
	assert_int_equal(plan_events(&four, list, PLAN_EVENTS_MAX, &plan, &problem), ST_OK);
	check_plan(&four, &plan, list, PLAN_EVENTS_MAX);
	assert_int_equal(plan.runs, 16);
}

static void test_plan_of_an_offcore_matrix_has_one_run_a_value(void **state)
{
	(void)state;
	struct event events[40];
	const struct event *list[40];
	struct plan plan;
	const char *problem;
	memset(events, 0, sizeof(events));
	for (unsigned i = 0; i < 40; i++) {
		events[i].name = "X";
		events[i].counter_mask = 0xF;
		events[i].extra_msr = i < 24 ? 0x1A6 : i < 34 ? 0x3F6 : 0;
		events[i].extra_value = i + 1;
		list[i] = &events[i];
	}
	assert_int_equal(plan_events(&four, list, 40, &plan, &problem), ST_OK);
	check_plan(&four, &plan, list, 40);
	assert_int_equal(plan.runs, 24);
}

static void test_plan_uses_fixed_counters_and_shares_repeated_events(void **state)
{
	(void)state;
	static const struct event cycles = { .name = "C", .fixed = 2, .counter_mask = 0xF };
	static const struct event loads = { .name = "L", .counter_mask = 0x1 };
	const struct event *list[] = { &loads, &cycles, &loads, &cycles };
	struct plan plan;
	const char *problem;
	struct cpu no_fixed = four;
	assert_int_equal(plan_events(&four, list, 4, &plan, &problem), ST_OK);
	check_plan(&four, &plan, list, 4);
	assert_int_equal(plan.runs, 1);
	assert_true(plan.slots[1].fixed && plan.slots[3].fixed);
	no_fixed.fixed_mask = 1;
	assert_int_equal(plan_events(&no_fixed, list, 4, &plan, &problem), ST_OK);
	check_plan(&no_fixed, &plan, list, 4);
	assert_false(plan.slots[1].fixed);
}

static void test_plan_names_what_no_counter_counts(void **state)
{
	(void)state;
	static const struct event bound = { .name = "BOUND", .counter_mask = 0x30 };
	static const struct event missing = { .name = "MISSING", .counter_mask = 0xF, .arch = 7 };
	static const struct event fine = { .name = "FINE", .counter_mask = 0xF, .arch = 5 };
	const struct event *list[] = { &fine, &bound };
	struct plan plan;
	const char *problem;
	struct cpu cpu = four;
	assert_int_equal(plan_events(&cpu, list, 2, &plan, &problem), ST_UNSUPPORTED);
	assert_string_equal(problem, "BOUND");
	list[1] = &missing;
	cpu.arch_events_missing = 1u << 6;
	assert_int_equal(plan_events(&cpu, list, 2, &plan, &problem), ST_UNSUPPORTED);
	assert_string_equal(problem, "MISSING");
	cpu.arch_events_missing = 0;
	assert_int_equal(plan_events(&cpu, list, 2, &plan, &problem), ST_OK);
	assert_null(problem);
	assert_int_equal(plan_events(&cpu, list, 0, &plan, &problem), ST_OK);
	assert_int_equal(plan.runs, 1);
	assert_int_equal(plan_events(&cpu, list, PLAN_EVENTS_MAX + 1, &plan, &problem), ST_FULL);
}

/* Each event has a plan on a core with as many fixed counters as any event uses. */
static void test_plan_takes_every_event_of_every_processor(void **state)
{
	(void)state;
	struct cpu wide = four;
	wide.fixed_mask = 0x7F;
	wide.pebs = wide.any_thread = true;
	wide.select_bits = CPU_SELECT_MASK2;
	for (unsigned p = 0; p < processor_count; p++)
		for (unsigned i = 0; i < processors[p].event_count; i++) {
			const struct event *e = &processors[p].events[i];
			struct plan plan;
			const char *problem;
			assert_ptr_equal(event_find(&processors[p], e->name), e);
			wide.processor = e->pebs == 3 ? &processors[p] : four.processor;
			/* the load-latency event needs PEBS; if it also needs an auxiliary event, only rows program that */
			if (e->pebs == 3 && processors[p].latency_auxiliary) {
				assert_int_equal(plan_events(&wide, &e, 1, &plan, &problem), ST_UNSUPPORTED);
				assert_non_null(strstr(plan_lacks(&wide, e), "auxiliary"));
				continue;
			}
			assert_int_equal(plan_events(&wide, &e, 1, &plan, &problem), ST_OK);
			check_plan(&wide, &plan, &e, 1);
			wide.pebs = false;
			assert_int_equal(plan_events(&wide, &e, 1, &plan, &problem), e->pebs == 3 ? ST_UNSUPPORTED : ST_OK);
			wide.pebs = true;
		}
	assert_null(event_find(&processors[0], "NO.SUCH"));
}

/* Bit 21 of a select is AnyThread from version 3 on, unless CPUID 0xA EDX[15] reports it as deprecated (SDM vol. 3, architectural performance monitoring). */
static void test_plan_any_needs_a_processor_that_has_it(void **state)
{
	(void)state;
	struct cpu with = four, without = four;
	struct event e = *event_find(processor_named("nehalem-ep"), "UOPS_ISSUED.ANY");
	const struct event *list = &e;
	struct plan plan;
	const char *problem;

	e.any = 1;
	with.any_thread = true;
	without.any_thread = false;
	assert_int_equal(plan_events(&with, &list, 1, &plan, &problem), ST_OK);
	assert_int_equal(plan_events(&without, &list, 1, &plan, &problem), ST_UNSUPPORTED);
	assert_non_null(strstr(plan_lacks(&without, &e), "no any"));
}

/* Every event of the tables with a second unit mask needs one; nothing else does. */
static void test_plan_second_mask_needs_a_processor_that_has_it(void **state)
{
	(void)state;
	struct cpu with = four, without = four;
	unsigned needing = 0;

	with.select_bits = CPU_SELECT_MASK2;
	without.select_bits = CPU_SELECT_EQUAL;
	for (unsigned p = 0; p < processor_count; p++)
		for (unsigned i = 0; i < processors[p].event_count; i++) {
			const struct event *e = &processors[p].events[i];
			const bool needs = counter_select(e) >> 40 & 0xFF;
			struct plan plan;
			const char *problem;

			assert_null(counter_select_lacks(&with, e));
			assert_int_equal(counter_select_lacks(&without, e) != NULL, needs);
			if (!needs || e->fixed)
				continue;
			needing++;
			with.processor = without.processor = &processors[p];
			assert_int_equal(plan_events(&with, &e, 1, &plan, &problem), ST_OK);
			assert_int_equal(plan_events(&without, &e, 1, &plan, &problem), ST_UNSUPPORTED);
			assert_string_equal(problem, e->name);
			assert_non_null(strstr(plan_lacks(&without, e), "second unit mask (select bits 47:40"));
		}
	print_message("# %u events need a second unit mask\n", needing);
	assert_true(needing >= 80);
}

/* The guide's appendix states the runs of the first three groups; for the last two they are the number of general events divided by four. */
static void test_plan_of_the_guides_profiles_is_as_short_as_the_guide_says(void **state)
{
	(void)state;
	static const struct { const char *name; unsigned events, runs; } guide[] = {
		{ "general-exploration", 6, 1 }, { "branch-analysis", 4, 1 }, { "cycles-and-uops", 14, 3 },
		{ "memory-access", 13, 3 }, { "sharing", 2, 1 }, { "front-end", 14, 3 }, { "working-set", 5, 1 },
		{ "loop-analysis", 31, 8 }, { "client-analysis", 53, 13 },
	};
	const struct processor *p = processor_named("nehalem-ep");
	assert_int_equal(p->profile_count, COUNT_OF(guide));
	for (unsigned i = 0; i < COUNT_OF(guide); i++) {
		const struct profile *f = &p->profiles[i];
		const struct event *events[PLAN_EVENTS_MAX];
		struct plan plan;
		const char *problem;
		assert_string_equal(f->name, guide[i].name);
		assert_int_equal(f->event_count, guide[i].events);
		for (unsigned e = 0; e < f->event_count; e++)
			events[e] = event_find(p, f->events[e]);
		struct cpu cpu = four;
		cpu.pebs = true;
		cpu.processor = p;
		assert_int_equal(plan_events(&cpu, events, f->event_count, &plan, &problem), ST_OK);
		check_plan(&cpu, &plan, events, f->event_count);
		assert_int_equal(plan.runs, guide[i].runs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_is_as_short_as_brute_force_finds),
		cmocka_unit_test(test_plan_of_64_bound_events_fills_every_counter),
		cmocka_unit_test(test_plan_of_an_offcore_matrix_has_one_run_a_value),
		cmocka_unit_test(test_plan_uses_fixed_counters_and_shares_repeated_events),
		cmocka_unit_test(test_plan_names_what_no_counter_counts),
		cmocka_unit_test(test_plan_takes_every_event_of_every_processor),
		cmocka_unit_test(test_plan_any_needs_a_processor_that_has_it),
		cmocka_unit_test(test_plan_second_mask_needs_a_processor_that_has_it),
		cmocka_unit_test(test_plan_of_the_guides_profiles_is_as_short_as_the_guide_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
