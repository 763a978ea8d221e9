/* Off-core responses on the simulated machine: every named combination is the sum of its single bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/core/concept.h"
#include "pmu/counters/counters.h"
#include "tests/unit/rigs/sampling_rig.h"

#define LINES 64u
#define ARRAY 0x10000u
#define NT_LINES 64u /* 16 iterations of 4 lines; with a mask of 0 always the same four */

static struct sampling_rig rig;

/* Counts an event over constant work: lines read from memory, lines owned, a loop with non-temporal stores. */
static uint64_t count(const struct event *e)
{
	struct plan plan;
	const char *problem;
	uint64_t before, after;
	sampling_run(&rig, "k_flush", SPACE_DATA, 4 * ARRAY / 64, 64, 0);
	assert_int_equal(plan_events(&rig.cpu, &e, 1, &plan, &problem), ST_OK);
	assert_int_equal(counters_start(rig.a, &rig.cpu, &plan, 0, 0), ST_OK);
	assert_int_equal(rig.a->ops->rdmsr(rig.a->self, 0, 0xC1u + plan.slots[0].counter, &before), ST_OK);
	sampling_run(&rig, "k_touch", SPACE_DATA, LINES, 64, 0);
	for (unsigned line = 0; line < LINES; line += 16)
		sampling_run(&rig, "k_warm_write", SPACE_DATA + ARRAY + 64 * line, 0, 0, 1);
	sampling_run(&rig, "k_triad_nt_sse2", SPACE_DATA + ARRAY, SPACE_DATA + 2 * ARRAY, SPACE_DATA + 3 * ARRAY, 16);
	assert_int_equal(rig.a->ops->rdmsr(rig.a->self, 0, 0xC1u + plan.slots[0].counter, &after), ST_OK);
	assert_int_equal(counters_stop(rig.a, &rig.cpu, &plan, 0, 0), ST_OK);
	return after - before;
}

static void open_rig(void)
{
	sampling_open(&rig, NULL, PAGE_2M);
	assert_int_equal(rig.a->ops->wrmsr(rig.a->self, 0, 0x1A4, 0xF), ST_OK);
}

static void test_offcore_every_combination_is_the_sum_of_its_bits(void **state)
{
	(void)state;
	uint64_t matrix[8][8];
	unsigned combinations = 0, counted = 0;
	open_rig();
	const struct processor *p = rig.cpu.processor;
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < p->event_count; i++) {
			const struct event *e = &p->events[i];
			if (strncmp(e->name, "OFFCORE_RESPONSE_0.", 19))
				continue;
			unsigned q = e->extra_value & 0xFF, r = e->extra_value >> 8;
			bool single = !(q & (q - 1)) && !(r & (r - 1));
			if (pass == 0 && single)
				matrix[__builtin_ctz(q)][__builtin_ctz(r)] = count(e);
			if (pass == 0 || single)
				continue;
			uint64_t sum = 0, n = count(e);
			for (unsigned k = 0; k < 64; k++)
				if ((q >> k / 8 & 1) && (r >> k % 8 & 1))
					sum += matrix[k / 8][k % 8];
			if (n != sum)
				fail_msg("%s: %llu, its bits %llu", e->name, (unsigned long long)n, (unsigned long long)sum);
			combinations++;
			counted += n != 0;
		}
	fprintf(stderr, "%u combinations of bits, %u of them not zero\n", combinations, counted);
	assert_int_equal(combinations, 17 * 16 - 64);
	assert_true(counted >= 40); /* two kinds of requests, one response */
	assert_in_range(matrix[0][6], LINES, 3 * LINES); /* demand reads from local memory */
	sampling_close(&rig);
}

/* The guide's errata: non-temporal stores to local memory count as found in another core. */
static void test_offcore_nt_stores_are_found_by_their_concept(void **state)
{
	(void)state;
	open_rig();
	const struct processor *p = rig.cpu.processor;
	assert_string_equal(concept_event(p, "store.nt.local")->name, "OFFCORE_RESPONSE_0.OTHER.LOCAL_CACHE_DRAM");
	assert_int_equal(count(event_find(p, "OFFCORE_RESPONSE_0.OTHER.LOCAL_DRAM")), 0);
	assert_int_equal(count(concept_event(p, "store.nt.local")), NT_LINES);
	assert_int_equal(count(concept_event(p, "store.nt.remote")), 0);
	assert_true(count(concept_event(p, "line.dram.local")) >= 2 * LINES);
	sampling_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offcore_every_combination_is_the_sum_of_its_bits),
		cmocka_unit_test(test_offcore_nt_stores_are_found_by_their_concept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
