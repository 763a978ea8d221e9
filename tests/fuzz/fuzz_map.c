/* Fuzzes the event-map reader: any text, read whole; a refused one has one line of reason, an accepted one is read the same
 * with room for its rows. max_len=3072 seed_folder=tables/machines/maps */
#include <stdlib.h>
#include <string.h>
#include "pmu/sim/machine/event_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_map map = { 0 }, again = { 0 };
	char problem[256] = "", second[256] = "";
	char *copy = malloc(size ? size : 1); /* exactly as long: a read beyond it is seen */
	memcpy(copy, data, size);
	void *rows = malloc(event_map_bytes(copy, size));
	enum status st = event_map_read("fuzz.map", copy, size, NULL, &map, problem, sizeof(problem));
	if ((st == ST_OK) != !problem[0] || strchr(problem, '\n') || event_map_read("fuzz.map", copy, size, rows, &again, second, sizeof(second)) != st ||
	    strcmp(problem, second) || map.count != again.count)
		abort();
	for (unsigned i = 0; i < again.count; i++)
		if (!again.rows[i].name[0] || again.rows[i].signal_count > EVENT_SIGNALS)
			abort();
	free(rows);
	free(copy);
	return 0;
}
