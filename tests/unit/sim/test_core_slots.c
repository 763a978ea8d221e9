/* Each empty allocation slot is counted once, by its cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rigs/core_bench.h"

#define RET "C3"

struct slots { uint64_t cycles, issued, delivered_not, taken_not, others, missed; };

static struct slots count(struct core_bench *b, uint64_t n)
{
	static const enum signal signals[] = { SIG_CYCLES, SIG_UOPS_ISSUED_FUSED, SIG_SLOTS_NOT_DELIVERED, SIG_SLOTS_NOT_TAKEN, SIG_SLOTS_OF_OTHER_THREAD,
		SIG_BRANCHES_MISPREDICTED };
	uint64_t v[COUNT_OF(signals)];

	for (unsigned i = 0; i < COUNT_OF(signals); i++)
		core_bench_tap(b, i, signals[i], 0, false, false);
	core_bench_run(b, n);
	for (unsigned i = 0; i < COUNT_OF(signals); i++)
		v[i] = core_bench_count(b, i);
	return (struct slots){ v[0], v[1], v[2], v[3], v[4], v[5] };
}

/* A loop of `times` x hex after `first`. */
static struct slots loop(const struct machine *m, const char *first, unsigned times, const char *hex, uint64_t n)
{
	struct core_bench *b = core_bench_open(m);
	struct slots s;

	core_bench_emit(b, 1, first);
	const unsigned top = core_bench_here(b);
	core_bench_emit(b, times, hex);
	core_bench_loop(b, top);
	core_bench_emit(b, 1, RET);
	core_bench_run(b, n);
	s = count(b, n);
	core_bench_close(b);
	return s;
}

/* A branch whose direction is bit 30 of a linear congruential generator; the second string is the code that it skips. */
#define BRANCHY "4869D26D4EC6414881C2393000004889D048C1E81E24017408" "4883C6004883EE00"

static const char *const codes[] = {
	"480FAFC0",                 /* imul rax, rax */
	"4889C04889C94889D24889F6", /* moves */
	"0F1F840000000000",         /* NOPs of 8 bytes */
	"0FAEE8",                   /* lfence */
	"48890648034608",           /* a store, and a load of the next 8 bytes */
	"488B06488906",             /* a load, and a store to its address */
	"F20F5EC1",                 /* divsd xmm0, xmm1 */
	BRANCHY,
	"F20F58C8",                 /* addsd xmm1, xmm0 with a denormal */
};

static void test_slots_each_is_counted_once(void **state)
{
	(void)state;
	static const char *const machines[] = { "nehalem-ep", "haswell-ep", "zen2", "zen4", "zen5" };

	for (unsigned i = 0; i < COUNT_OF(machines); i++)
		for (unsigned k = 0; k < COUNT_OF(codes); k++) {
			struct machine m = core_bench_machine(machines[i]);
			const struct slots s = loop(&m, "BA01000000B80100000066480F6EC0", 7, codes[k], 500);
			const uint64_t all = s.issued + s.delivered_not + s.taken_not, width = m.core_issue_width;

			assert_int_equal(s.others, 0);
			if (all > s.cycles * width + 2 * width || all + 2 * width < s.cycles * width)
				fail_msg("%s, code %u: %llu issued, %llu not delivered, %llu not taken in %llu cycles of %llu slots", machines[i], k, (unsigned long long)s.issued,
				         (unsigned long long)s.delivered_not, (unsigned long long)s.taken_not, (unsigned long long)s.cycles, (unsigned long long)width);
		}
}

static void test_slots_wait_for_the_back_end_in_a_chain(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("zen4");

	m.exec[UC_IMUL].latency = 5;
	const struct slots s = loop(&m, "B803000000", 40, "480FAFC0", 2000); /* one uop in 5 cycles of 6 slots, and the loop's own */
	const uint64_t all = s.cycles * 6;

	assert_in_range(s.cycles, 400000, 401000);
	assert_in_range(s.delivered_not, 0, all / 100);
	assert_in_range(s.taken_not, all * 29 / 30 - all / 50, all * 29 / 30);
}

static void test_slots_wait_for_the_front_end_by_bytes(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep"); /* 16 bytes a cycle: two NOPs for four slots */
	const struct slots s = loop(&m, "90", 64, "0F1F840000000000", 2000);
	const uint64_t all = s.cycles * 4;

	assert_in_range(s.delivered_not, all / 2 - all / 50, all / 2 + all / 50);
	assert_in_range(s.taken_not, 0, all / 100);
}

static void test_slots_after_a_misprediction_are_the_front_ends(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("zen4");

	m.core_mispredict_cycles = 17;
	const struct slots at_17 = loop(&m, "BA01000000", 1, BRANCHY, 4000);
	m.core_mispredict_cycles = 40;
	const struct slots at_40 = loop(&m, "BA01000000", 1, BRANCHY, 4000);
	const uint64_t more = 23 * 6 * at_17.missed;

	assert_in_range(at_17.missed, 1000, 3000);
	assert_int_equal(at_17.missed, at_40.missed);
	assert_in_range(at_40.delivered_not - at_17.delivered_not, more - more / 50, more + more / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_each_is_counted_once),
		cmocka_unit_test(test_slots_wait_for_the_back_end_in_a_chain),
		cmocka_unit_test(test_slots_wait_for_the_front_end_by_bytes),
		cmocka_unit_test(test_slots_after_a_misprediction_are_the_front_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
