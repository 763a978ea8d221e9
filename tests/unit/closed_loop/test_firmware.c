/* Firmware that runs between jobs changes no row: the quick suite's rows are the same with and without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"

#define MILLI_LEAST 100 /* thousandths of a cycle */
#define PART 100        /* or this part of the value */

struct found { const char *row; bool ok; int64_t milli, spread_milli; };

static unsigned quick(const char *machine, const char *runs, struct found *found)
{
	static struct loop_run r;
	char *text = loop_changed(loop_built_in(machine), "firmware", "runs", runs);
	loop_open(&r, text);
	loop_suite(&r, "quick");
	const unsigned n = r.host.result_count;
	for (unsigned i = 0; i < n; i++)
		found[i] = (struct found){ r.host.results[i].row->name, r.host.results[i].status == ROW_OK, r.host.results[i].value_milli, r.host.results[i].spread_milli };
	loop_close(&r);
	free(text);
	return n;
}

static void same_rows(const char *machine, unsigned ok_least)
{
	static struct found with[MEMORY_RESULTS_MAX], without[MEMORY_RESULTS_MAX];
	const unsigned n = quick(machine, "1", with);
	unsigned ok = 0, bad = 0;
	assert_int_equal(quick(machine, "0", without), n);
	for (unsigned i = 0; i < n; i++) {
		const int64_t part = without[i].milli / PART, spreads = 2 * (with[i].spread_milli + without[i].spread_milli),
			by = spreads > part ? spreads : part > MILLI_LEAST ? part : MILLI_LEAST; /* streams in memory vary by more than that part */
		if (with[i].ok != without[i].ok || llabs(with[i].milli - without[i].milli) > by) {
			print_error("%s, %s: %s %lld, without firmware %s %lld\n", machine, with[i].row, with[i].ok ? "ok" : "not ok",
			            (long long)with[i].milli, without[i].ok ? "ok" : "not ok", (long long)without[i].milli);
			bad++;
		}
		ok += with[i].ok;
	}
	assert_int_equal(bad, 0);
	assert_true(ok >= ok_least);
}

static void test_firmware_changes_no_row_of_nehalem_ep(void **state) { (void)state; same_rows("nehalem-ep", 14); }
static void test_firmware_changes_no_row_of_haswell_ep(void **state) { (void)state; same_rows("haswell-ep", 14); }
static void test_firmware_changes_no_row_of_core2(void **state) { (void)state; same_rows("core2", 10); }
static void test_firmware_changes_no_row_of_pentium4(void **state) { (void)state; same_rows("pentium4", 8); }

/* Runs two rows with frequent SMIs; returns the SMIs that a core counted, and the machine's cycles. */
static uint64_t smis(const char *runs, uint64_t *cycles)
{
	static struct loop_run r;
	char *text = loop_changed(loop_built_in("nehalem-ep"), "firmware", "runs", runs), *often = loop_changed(text, "firmware", "smi_period_us", "200");
	uint64_t count = 0;
	loop_open(&r, often);
	loop_suite(&r, "load.l1.latency,load.l2.latency");
	const struct access *a = sim_access(r.sim);
	assert_int_equal(a->ops->rdmsr(a->self, 3, 0x34, &count), ST_OK);
	struct sim_totals t;
	sim_totals(r.sim, &t);
	*cycles = t.cycles;
	loop_close(&r);
	free(text);
	free(often);
	return count & 0xFFFFFFFF;
}

static void test_firmware_smis_are_counted_where_it_runs(void **state)
{
	(void)state;
	uint64_t with, without;
	const uint64_t taken = smis("1", &with);
	assert_int_equal(smis("0", &without), 0);
	print_message("%llu SMIs in %llu cycles, %llu without\n", (unsigned long long)taken, (unsigned long long)with, (unsigned long long)without);
	assert_true(taken >= 2);
	assert_true(taken <= with / (200 * 2933)); /* at most one per period */
	assert_true(with >= without + taken * 100 * 2933); /* each takes 100 us at least */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_firmware_changes_no_row_of_nehalem_ep),
		cmocka_unit_test(test_firmware_changes_no_row_of_haswell_ep),
		cmocka_unit_test(test_firmware_changes_no_row_of_core2),
		cmocka_unit_test(test_firmware_changes_no_row_of_pentium4),
		cmocka_unit_test(test_firmware_smis_are_counted_where_it_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
