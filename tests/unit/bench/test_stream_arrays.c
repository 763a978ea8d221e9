/* The arrays of streams on machines that are treated as real, whose rows choose a kernel by trial: every job's arrays lie within its core's
 * mapping. No kernel runs: a job takes a time in proportion to its iterations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "asm/kernel.h"
#include "bench/suite/execute.h"
#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/machine_random.h"

#define MAPPINGS_MOST 64u
#define RANDOM_MACHINES 24u
#define RANDOM_SEED   20261128u
#define RANDOM_BYTES  65536u
#define LEAST_ARRAY   128u /* a smaller fifth argument plus one is no array's length */

static struct loop_run run;
static struct bench bench;
static const struct access *under;
static struct mapping mappings[MAPPINGS_MOST];
static unsigned mapping_count, arrays, arrays_seen, outside, all_seen;
static uint64_t clock_tsc;

static enum status note_map(void *self, struct mapping *m)
{
	enum status st = under->ops->map(self, m);

	assert_true(mapping_count < MAPPINGS_MOST);
	if (st == ST_OK)
		mappings[mapping_count++] = *m;
	return st;
}

static enum status note_unmap(void *self, struct mapping *m)
{
	for (unsigned i = 0; i < mapping_count; i++)
		if (mappings[i].va == m->va) {
			mappings[i] = mappings[--mapping_count];
			break;
		}
	return under->ops->unmap(self, m);
}

static bool within_a_mapping(uint64_t va, uint64_t bytes)
{
	for (unsigned i = 0; i < mapping_count; i++)
		if (va >= mappings[i].va && bytes <= mappings[i].bytes && va - mappings[i].va <= mappings[i].bytes - bytes)
			return true;
	return false;
}

/* Arguments of streams and of passes over one array: addresses of arrays, in [3] iterations, in [4] the mask of an array, in [5] where to begin. */
static enum status check_arrays(void *self, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	(void)limit_tsc;
	for (unsigned i = 0; i < n; i++) {
		struct measure_block *block = under->ops->control(self, jobs[i].core);
		const uint64_t mask = block->argument[4];
		const bool stream = mask + 1 >= LEAST_ARRAY && (mask & (mask + 1)) == 0 && block->argument[0] >= SPACE_DATA;

		jobs[i].status = ST_OK;
		block->tsc_before = clock_tsc;
		block->tsc_after = clock_tsc + 100 + 40 * block->argument[3];
		for (unsigned k = 0; stream && k < arrays; k++) {
			if (k && block->argument[k] == block->argument[0])
				break; /* a pass over one array */
			arrays_seen++;
			outside += !within_a_mapping(block->argument[k], mask + 1);
		}
	}
	clock_tsc += 1000000;
	return ST_OK;
}

static enum status tell_clock(void *self, unsigned core, uint64_t *value)
{
	(void)self, (void)core;
	clock_tsc += 10000;
	*value = clock_tsc;
	return ST_OK;
}

/* Each row of streams, with the machine treated as a real one. */
static void rows_stay_within(const char *text, const char *machine)
{
	static struct row_result out;

	for (unsigned i = 0; i < rows_count; i++) {
		const struct row *r = &rows[i];
		const struct kernel *k = r->kernels ? kernel_find(r->kernels[0]) : NULL;
		struct access a;
		struct access_ops ops;

		if (r->kind != KIND_THROUGHPUT || (r->order != ORDER_STREAMS && r->order != ORDER_MULTICORE && r->order != ORDER_NODES) || !k)
			continue;
		loop_open(&run, text);
		under = &run.guard.access;
		a = *under;
		ops = *under->ops;
		ops.map = note_map;
		ops.unmap = note_unmap;
		ops.run = check_arrays;
		ops.rdtsc = tell_clock;
		a.ops = &ops;
		a.kind = ACCESS_HW;
		mapping_count = arrays_seen = outside = 0;
		arrays = k->data_bytes / k->step_bytes;
		bench_init(&bench, &a, &run.cpu, &run.host.host, 3, 1);
		execute_row(&bench, r, &out);
		if (outside || (out.status != ROW_UNSUPPORTED && !arrays_seen))
			fail_msg("%s on %s: %u of %u arrays outside; %s", r->name, machine, outside, arrays_seen, out.reason);
		all_seen += arrays_seen;
		loop_close(&run);
	}
}

/* Among them are last levels whose ways are no power of two in size: the second core's arrays are half as long as the first one's, and the gap between
 * them is another. */
static void test_stream_arrays_lie_within_their_mappings(void **state)
{
	(void)state;
	all_seen = 0;
	for (unsigned m = 0; m < machine_files_count; m++) {
		const bool hybrid = strstr(loop_built_in(machine_files[m].name), "small_cores") != NULL; /* whose cores are not four */
		char *text = hybrid ? strdup(loop_built_in(machine_files[m].name)) : loop_built_in_changed(machine_files[m].name, "topology.cores=4,topology.sockets=1");

		rows_stay_within(text, machine_files[m].name);
		free(text);
	}
	assert_true(all_seen > 100000);
}

static void test_stream_arrays_lie_within_their_mappings_on_random_machines(void **state)
{
	static char text[RANDOM_BYTES];

	(void)state;
	all_seen = 0;
	for (unsigned n = 0; n < RANDOM_MACHINES; n++) {
		char name[32];

		snprintf(name, sizeof(name), "random machine %u", n);
		machine_random(RANDOM_SEED, n, text, sizeof(text));
		rows_stay_within(text, name);
	}
	assert_true(all_seen > 40000);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_stream_arrays_lie_within_their_mappings),
		cmocka_unit_test(test_stream_arrays_lie_within_their_mappings_on_random_machines) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
