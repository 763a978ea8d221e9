/* The matrix of core pairs where noise exceeds the latency: on a shared host a longer window may take less than a shorter one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "asm/kernel.h"
#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/kernel_run.h"

/* Noise that no counter shows: of the chases of pairs, which come as a shorter and a longer window by turns, some shorter ones take longer. */
static struct { uint64_t ticks; unsigned every, chases; const struct access_ops *under; } noise;

static enum status noisy_run(void *self, struct job *jobs, unsigned count, uint64_t limit_tsc)
{
	struct measure_block *b = noise.under->control(self, jobs[0].core);
	const enum status st = noise.under->run(self, jobs, count, limit_tsc);

	if (b->kernel == kernel_at("k_chase") && noise.chases++ % 2 == 0 && (noise.chases / 2 + 1) % noise.every == 0)
		b->tsc_after += noise.ticks;
	return st;
}

static void test_matrix_pairs_below_zero_are_noisy_and_not_stored(void **state)
{
	(void)state;
	static const struct { unsigned every; const char *cells; enum row_status status; } noises[] = {
		{ 4, "\"cells\": [[1, 0, ", ROW_UNPROVEN }, { 1, "\"cells\": []", ROW_NOISY },
	};
	for (unsigned i = 0; i < COUNT_OF(noises); i++) {
		static struct loop_run r;
		char *text = loop_machine("nehalem-ep", NULL, 0);
		loop_open(&r, text);
		cpu_without_counters(&r.cpu);
		struct access_ops ops = *r.guard.access.ops;
		noise.under = r.guard.access.ops;
		noise.every = noises[i].every;
		noise.chases = 0;
		noise.ticks = 1000000;
		ops.run = noisy_run;
		r.guard.access.ops = &ops;
		loop_suite(&r, "core_to_core.modified_same_socket.latency");
		const struct row_result *row = memory_host_result(&r.host, "core_to_core.modified_same_socket.latency");
		const char *json = memory_host_file(&r.host, "results.json"), *matrix = strstr(json, "\"matrix\": ");
		assert_int_equal(row->status, noises[i].status);
		assert_true(row->noisy && strstr(row->reason, "a pair of cores has samples below zero"));
		assert_null(json_problem(json));
		assert_non_null(matrix);
		assert_non_null(strstr(matrix, noises[i].cells));
		assert_true(strchr(matrix, '-') == NULL || strchr(matrix, '-') > strchr(matrix, '}'));
		loop_close(&r);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matrix_pairs_below_zero_are_noisy_and_not_stored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
