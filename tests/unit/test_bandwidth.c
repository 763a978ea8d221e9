/* Streams and stores line by line find on simulated machines what their files say; the Core 2's are in test_loop_built_in.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/closed_loop.h"

#define CACHES "read.l?.*,write.l?.*,copy.l?.*"
#define STORES "store.rfo.*,store.nt*"

static void finds(const char *machine, const char *suite, unsigned least)
{
	static struct loop_run r;
	const char *text = loop_built_in(machine);
	unsigned missed, met;
	loop_open(&r, text);
	loop_suite(&r, suite);
	met = loop_meets(&r, text, &missed);
	if (missed)
		loop_print(&r);
	assert_int_equal(missed, 0);
	assert_int_equal(met, least);
	if (!strcmp(machine, "nehalem-ep")) {
		for (unsigned i = 0; i < r.host.result_count && getenv("COST"); i++)
			fprintf(stderr, "%s %llu\n", r.host.results[i].name, (unsigned long long)r.cost[i]);
		loop_keeps_to_budgets(&r);
	}
	loop_close(&r);
}

static void test_bandwidth_nehalem_ep_is_found(void **state) { (void)state; finds("nehalem-ep", CACHES ",*.dram.bandwidth,*.dram_nt.bandwidth," STORES, 20); }
static void test_bandwidth_haswell_ep_is_found(void **state) { (void)state; finds("haswell-ep", CACHES "," STORES, 13); }
/* Without streams from memory: more lines are on their way there than the super queue has entries, see docs/decisions.md. */
static void test_bandwidth_skylake_sp_is_found(void **state) { (void)state; finds("skylake-sp", CACHES "," STORES, 13); }

#define ALL "*_all.bandwidth,read.node_*"
static void test_bandwidth_of_all_cores_nehalem_ep(void **state) { (void)state; finds("nehalem-ep", ALL, 21); }

/* Each truth is found again after it has moved. */
static void test_bandwidth_moved_truths_are_found(void **state)
{
	(void)state;
	static const struct { const char *section, *key, *value, *rows; unsigned met; } moved[] = {
		{ "wc", "drain_ps", "61000", STORES ",write.dram_nt.*", 5 }, { "wc", "buffers", "5", "store.nt*", 2 },
		{ "wc", "partial_transfers", "4", "store.nt*", 2 }, { "lfb", "entries", "14", STORES ",write.dram_nt.*", 5 },
		{ "dram", "local_ps", "83000", "store.rfo.*", 2 }, { "l2", "busy_cycles", "4", "read.l2.*,write.l2.*,copy.l2.*", 3 },
		{ "dram", "channel_bytes_per_second", "1000000000", "store.nt.*,write.dram_nt.*,copy.dram.*", 3 },
	};
	static struct loop_run r;
	for (unsigned i = 0; i < COUNT_OF(moved); i++) {
		char *text = loop_changed(loop_built_in("nehalem-ep"), moved[i].section, moved[i].key, moved[i].value);
		unsigned missed, met;
		loop_open(&r, text);
		loop_suite(&r, moved[i].rows);
		met = loop_meets(&r, text, &missed);
		if (missed)
			fail_msg("after %s.%s = %s", moved[i].section, moved[i].key, moved[i].value);
		assert_int_equal(met, moved[i].met);
		loop_close(&r);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bandwidth_nehalem_ep_is_found),
		cmocka_unit_test(test_bandwidth_haswell_ep_is_found),
		cmocka_unit_test(test_bandwidth_skylake_sp_is_found),
		cmocka_unit_test(test_bandwidth_of_all_cores_nehalem_ep),
		cmocka_unit_test(test_bandwidth_moved_truths_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
