/* Fuzzes the trace reader: any line; what it accepts is within the limits of an access. max_len=160 */
#include <stdlib.h>
#include <string.h>
#include "pmu/sim/machine/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct replay_access a;
	const char *problem = NULL;
	char *copy = malloc(size ? size : 1);
	memcpy(copy, data, size);
	enum status st = replay_parse(copy, size, &a, &problem);
	if (st != ST_OK && st != ST_MISSING && (st != ST_SYNTAX || !problem || !problem[0]))
		abort();
	if (st == ST_OK && (a.core > 0xFFFF || a.pci.device > 31 || a.pci.function > 7 || a.width_bytes > 8))
		abort();
	free(copy);
	return 0;
}
