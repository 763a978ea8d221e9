/* The quick suite on this machine: files are valid, rows carry values and verdicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runner/host/native.h"
#include "tests/unit/support/memory_host.h"

static struct native *native;
static struct cpu cpu;

static const struct access *open_native(void)
{
	char problem[128] = "";
	if (native_open(&native, problem, sizeof(problem)) != ST_OK)
		fail_msg("%s", problem);
	assert_int_equal(cpu_identify(native_access(native), &cpu), ST_OK);
	return native_access(native);
}

static void test_suite_native_quick_gives_values(void **state)
{
	(void)state;
	static struct memory_host h;
	struct suite_settings s = { .suite = "quick", .label = "unit" };
	struct suite_summary sum;
	char line[512];
	struct text t;
	struct table table = {.proofs = false};
	const struct access *a = open_native();

	memory_host_init(&h);
	assert_int_equal(suite_run(a, &cpu, &s, &h.host, &sum), ST_OK);
	text_init(&t, line, sizeof(line));
	table_title(&t, a, &cpu);
	table_head(&t);
	fputs(line, stderr);
	for (unsigned i = 0; i < h.result_count; i++) {
		text_init(&t, line, sizeof(line));
		table_line(&t, &table, &h.results[i]);
		fputs(line, stderr);
		if (h.results[i].remark[0])
			fprintf(stderr, "    %s\n", h.results[i].remark);
	}
	text_init(&t, line, sizeof(line));
	table_summary(&t, a, &sum);
	fputs(line, stderr);
	assert_int_equal(h.taken, 0);
	assert_int_equal(sum.files, ST_OK);
	assert_int_equal(sum.by_status[ROW_FAULT] + sum.by_status[ROW_TIMEOUT] + sum.by_status[ROW_FAILED], 0);

	/* What this processor lacks, or does not tell of itself, is unsupported with a reason. Another thread of the core may take all windows
	 * of a row in the private caches; it has no value then and says so. */
	for (unsigned i = 0; i < h.result_count; i++) {
		const struct row_result *r = &h.results[i];

		if (r->status == ROW_UNSUPPORTED) {
			assert_true(r->reason[0] && !r->samples);
			continue;
		}
		assert_true(r->status == ROW_UNPROVEN || r->status == ROW_NOISY);
		assert_non_null(strstr(r->reason, r->samples ? "no performance counters" : "disturbed"));
		assert_true(r->samples || r->status == ROW_NOISY);
	}

	const struct row_result *l1 = memory_host_result(&h, "load.l1.latency");
	const struct row_result *l2 = memory_host_result(&h, "load.l2.latency");
	const struct row_result *dram = memory_host_result(&h, "load.dram_local.latency");
	const struct row_result *triad = memory_host_result(&h, "triad.l1.bandwidth");
	assert_non_null(l1);
	if (!l1->noisy)
		assert_in_range(l1->value_milli, 2500, 7500);
	if (!l1->noisy && !l2->noisy)
		assert_true(l2->value_milli > l1->value_milli);
	if (!dram->noisy)
		assert_in_range(dram->value_milli, 75000, 5000000);
	assert_true(triad->value_milli > 1000);
	memory_host_free(&h);
	native_close(native);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suite_native_quick_gives_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
