/* Rows on a simulated machine that is treated as a real one, with its longer windows, its trials of kernels and its larger samples: each verdict is that
 * of the same machine treated as simulated, and so is each value that is `ok`. A faster form of `make metal` without the firmware: all rows of a core in half a
 * minute a machine.
 *
 *   REAL_MACHINES="NAME|FILE ..."   instead of five built-in ones     REAL_ROWS=LIST   instead of those that take little
 *
 * A stream is compared with the simulated one of the kernel that the trial chose. With other offsets between its arrays it may be faster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"

#define REPETITIONS      5u
#define MACHINES_PRESET  "core2 haswell-ep zen4"
#define ROWS_PRESET      "load.l1.latency,load.l2.*,load.l3.*,load.dram_local.*,tlb.dtlb_4k.*,tlb.stlb_walk_4k.*,store.*,split.*,branch.*,exec.*.latency,sync.lock.*,frontend.*,triad.l1.bandwidth,triad.l2.bandwidth"
#define ALLOWED_PERMILLE 20
#define ALLOWED_MILLI    150 /* of a cycle */
#define FASTER_PERMILLE  100 /* streams, by other offsets between their arrays */

static struct loop_run simulated, real, chosen;

static void measure(struct loop_run *r, const char *text, enum access_kind kind, const char *rows_asked, const char *kernels)
{
	struct suite_settings s = { .suite = rows_asked, .kernels = kernels, .repetitions = kind == ACCESS_SIM ? 0 : REPETITIONS };
	struct access a;

	loop_open(r, text);
	a = r->guard.access;
	a.kind = kind;
	assert_int_equal(suite_run(&a, &r->cpu, &s, &r->host.host, &r->sum), ST_OK);
}

static bool like(const struct row_result *r, const struct row_result *s)
{
	const int64_t value = s->value_milli, over = r->value_milli - value;
	const int64_t allowed = value / 1000 * ALLOWED_PERMILLE > ALLOWED_MILLI ? value / 1000 * ALLOWED_PERMILLE : ALLOWED_MILLI;

	return r->status == s->status && (r->status != ROW_OK || (-over <= allowed && over <= (r->row->kind == KIND_THROUGHPUT ? value / 1000 * FASTER_PERMILLE : allowed)));
}

/* The simulated row with that kernel alone. */
static bool like_that_of_its_kernel(const char *text, const struct row_result *r, const char *name)
{
	bool equal;

	measure(&chosen, text, ACCESS_SIM, name, r->kernel);
	equal = chosen.host.result_count == 1 && like(r, &chosen.host.results[0]);
	loop_close(&chosen);
	return equal;
}

/* The number of rows that differ. */
static unsigned compare(const char *machine, const char *text)
{
	unsigned differ = 0;

	assert_true(real.host.result_count > 0);
	for (unsigned i = 0; i < real.host.result_count; i++) {
		const struct row_result *r = &real.host.results[i], *s = memory_host_result(&simulated.host, real.host.results[i].name);

		if (s && (like(r, s) || (r->row->kind == KIND_THROUGHPUT && like_that_of_its_kernel(text, r, real.host.results[i].name))))
			continue;
		differ++;
		fprintf(stderr, "%s: %s: real %lld %s %s, simulated %lld %s %s\n", machine, real.host.results[i].name, (long long)r->value_milli, row_status_name(r->status), r->reason,
		        s ? (long long)s->value_milli : 0, s ? row_status_name(s->status) : "no row", s ? s->reason : "");
	}
	return differ;
}

static void test_real_rows_equal_simulated_ones(void **state)
{
	const char *asked = getenv("REAL_MACHINES"), *rows_asked = getenv("REAL_ROWS");
	char *machines = strdup(asked ? asked : MACHINES_PRESET), *save = NULL;
	unsigned differ = 0;

	(void)state;
	for (char *machine = strtok_r(machines, " ", &save); machine; machine = strtok_r(NULL, " ", &save)) {
		char *text = strchr(machine, '/') ? loop_file(machine) : strdup(loop_built_in(machine));

		measure(&simulated, text, ACCESS_SIM, rows_asked ? rows_asked : ROWS_PRESET, NULL);
		measure(&real, text, ACCESS_HW, rows_asked ? rows_asked : ROWS_PRESET, NULL);
		differ += compare(machine, text);
		loop_close(&simulated);
		loop_close(&real);
		free(text);
	}
	free(machines);
	assert_int_equal(differ, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_real_rows_equal_simulated_ones) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
