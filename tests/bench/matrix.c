/* tests/bench/matrix.c: what the core-to-core matrix costs a machine of many cores: `matrix FILE LIMIT_S`
 *
 * Runs the rows core_to_core.* on the machine of a file, simulated, and prints for each how long it took by that machine's
 * own time-stamp counter. Exit status 1: all of them took longer than LIMIT_S seconds, or one of them is not ok. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/multicore/matrix.h"
#include "bench/suite/execute.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/sim/backend/sim.h"
#include "runner/host/backend.h"

#define TEXT_BYTES 65536u

int main(int argc, char **argv)
{
	static struct machine machine;
	static struct bench bench;
	static struct row_result result;
	static struct msr_guard_saved saved[MSR_GUARD_SAVED_MAX];
	static char text[TEXT_BYTES];
	const struct suite_host host = { .get = backend_pages_get, .put = backend_pages_put };
	const struct sim_memory memory = { NULL, backend_pages_get, backend_pages_put };
	struct msr_guard guard;
	struct cpu cpu;
	struct sim *sim;
	char problem[256] = "";
	uint64_t all_ns = 0;
	unsigned bad = 0;
	FILE *f = argc == 3 ? fopen(argv[1], "re") : NULL;

	if (!f)
		return 2;
	const size_t n = fread(text, 1, sizeof(text), f);
	fclose(f);
	if (machine_read(argv[1], text, n, &machine, problem, sizeof(problem)) != ST_OK || sim_open(&machine, &memory, &sim) != ST_OK ||
	    cpu_identify(sim_access(sim), &cpu) != ST_OK) {
		fprintf(stderr, "%s\n", problem);
		return 2;
	}
	msr_guard_init(&guard, sim_access(sim), cpu.processor, saved, MSR_GUARD_SAVED_MAX);
	bench_init(&bench, &guard.access, &cpu, &host, 0, 20090330);
	const struct access *a = &guard.access;
	for (unsigned i = 0; i < rows_count; i++) {
		uint64_t before = 0, after = 0;

		if (rows[i].order != ORDER_MATRIX)
			continue;
		if (a->ops->rdtsc(a->self, 0, &before) != ST_OK)
			return 2;
		execute_row(&bench, &rows[i], &result);
		if (a->ops->rdtsc(a->self, 0, &after) != ST_OK)
			return 2;
		if (result.matrix)
			host.put(host.self, result.matrix, matrix_bytes(&bench));
		result.matrix = NULL;
		const uint64_t ns = (after - before) * 1000 / (a->tsc_hz / 1000000);

		all_ns += ns;
		bad += result.status != ROW_OK && !(result.status == ROW_UNSUPPORTED && result.absent);
		printf("%-42s %-11s %8.3f cycles  %9.6f s of the machine's time\n", rows[i].name, row_status_name(result.status),
		       (double)result.value_milli / 1e3, (double)ns / 1e9);
		fflush(stdout);
	}
	printf("all rows of the matrix over %u cores: %.6f s of the machine's time (limit %s)\n", a->cores, (double)all_ns / 1e9, argv[2]);
	if (msr_guard_restore(&guard) != ST_OK)
		bad++;
	sim_close(sim);
	return bad || (double)all_ns / 1e9 > atof(argv[2]);
}
