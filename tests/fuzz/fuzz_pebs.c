/* Fuzzes the decoder of PEBS records: any bytes as a record of any format. What it says is what stands in the record at the place that the format has
 * for it, and a record of other groups or of another size than were asked for is broken. The last two bytes choose the format. max_len=210 */
#include <stdlib.h>
#include <string.h>
#include "pmu/counters/pebs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static uint64_t word(const uint8_t *record, unsigned at)
{
	uint64_t v;
	memcpy(&v, record + at, 8);
	return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *record;
	struct pebs_record r, again;
	if (size < 2)
		return 0;
	const struct pebs_layout *l = pebs_layout(data[size - 1] % 8);
	const bool timed = data[size - 2] & 1;
	must((l == NULL) == (data[size - 1] % 8 == 7));
	if (!l || !(record = calloc(1, l->bytes))) /* as many bytes as the format has: reading beyond them is found */
		return 0;
	memcpy(record, data, size - 2 < l->bytes ? size - 2 : l->bytes);
	memset(&r, 0xAA, sizeof(r));
	memset(&again, 0x55, sizeof(again));
	const enum status st = pebs_decode(l, timed, record, &r);
	must(st == ST_OK || st == ST_BROKEN);
	must(st == pebs_decode(l, timed, record, &again));
	must(r.ip == again.ip && r.latency == again.latency && r.gpr[15] == again.gpr[15] && r.retire_latency == again.retire_latency);
	must(!(r.latency & ~l->latency_mask));
	const uint64_t first = word(record, 0);
	if (!l->groups)
		must(st == ST_OK && r.flags == first && !r.retire_latency && r.ip == word(record, 8));
	else
		must((st == ST_OK) == ((uint32_t)first == l->groups && first >> 48 == l->bytes) && r.eventing_ip == word(record, 8) &&
		     r.retire_latency == (timed ? (uint16_t)(first >> 32) : 0) && r.address == word(record, 32) && r.gpr[0] == word(record, 80));
	free(record);
	return 0;
}
