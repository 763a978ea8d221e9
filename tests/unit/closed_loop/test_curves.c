/* Rows found along a curve say where the curve ends too early. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"

/* A curve of loads in flight that falls to its end says so: more of them may be faster. */
static void test_curves_overlap_that_still_falls_is_told(void **state)
{
	(void)state;
	static const char *const entries[] = { "10", "40" }; /* fill buffers; 28 loads in flight are tried from the L3 */
	static struct loop_run r;

	for (unsigned i = 0; i < COUNT_OF(entries); i++) {
		const char *const fields[][3] = { { "lfb", "entries", entries[i] }, { "sq", "entries", "60" }, { "gq", "read", "100" }, { "l2", "busy_cycles", "1" }, { "l3", "busy_uncore_cycles", "1" } };
		char *text = loop_machine("nehalem-ep", fields, COUNT_OF(fields));

		loop_open(&r, text);
		loop_suite(&r, "load.l3_overlap.interval,load.fill_buffer.latency");
		const struct row_result *row = memory_host_result(&r.host, "load.l3_overlap.interval");
		assert_int_equal(row->status, ROW_OK);
		assert_string_equal(row->remark, i ? "still falls at 28 loads in flight, the most that are tried" : "");
		assert_string_equal(memory_host_result(&r.host, "load.fill_buffer.latency")->remark, "");
		loop_close(&r);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_curves_overlap_that_still_falls_is_told) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
