/* Fuzzes the machine-file reader: any text, read whole; a refused one has one line of reason, an accepted
 * one obeys its limits. max_len=3072 seeds=tables/machines */
#include <stdlib.h>
#include <string.h>
#include "pmu/sim/machine/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct machine m;
	char problem[256] = "";
	char *copy = malloc(size ? size : 1); /* exactly as long: a read beyond it is seen */
	memcpy(copy, data, size);
	enum status st = machine_read("fuzz.machine", copy, size, &m, problem, sizeof(problem));
	if ((st == ST_OK) != !problem[0] || strchr(problem, '\n'))
		abort();
	if (st == ST_OK && (!m.tick_per_core_cycle || !m.tick_per_tsc || m.l1d_ways < 1 || m.topology_cores > 64))
		abort();
	free(copy);
	return 0;
}
