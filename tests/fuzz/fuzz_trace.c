/* Fuzzes the readers of traces and of maps of processors: any line; what they accept is within the limits of an access. max_len=200 seed_folder=tests/fuzz/seeds/trace */
#include <stdlib.h>
#include <string.h>
#include "runner/data/trace_cpus.h"
#include "runner/data/trace_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trace_cpus cpus;
	struct traced a;
	const char *problem = NULL;
	char *copy = malloc(size ? size : 1);
	memcpy(copy, data, size);
	enum status st = trace_text_read(copy, size, &a, &problem);
	if (st != ST_OK && st != ST_MISSING && (st != ST_SYNTAX || !problem || !problem[0]))
		abort();
	if (st == ST_OK && (a.core > TRACE_CPU_MOST || a.pci.device > 31 || a.pci.function > 7 || a.width_bytes > 8))
		abort();
	if (st == ST_OK && a.op == TRACED_CPUS) {
		trace_cpus_init(&cpus);
		st = trace_cpus_map(&cpus, a.text, a.text_bytes);
		if (st != ST_OK && st != ST_SYNTAX)
			abort();
	}
	free(copy);
	return 0;
}
