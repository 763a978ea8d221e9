/* Fuzzes the decoder of IBS: any values in the registers, any capabilities. What it says must be consistent: a source below 16, no latency without
 * a miss, no memory fields of an op that is neither load nor store, no data source beyond what this many bits can hold. max_len=56 */
#include <stdlib.h>
#include <string.h>
#include "pmu/amd/ibs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct { struct ibs_registers r; uint32_t capabilities; uint8_t broken; } in = { 0 };
	struct ibs_op op, again;
	memcpy(&in, data, size < sizeof(in) ? size : sizeof(in));
	const bool broken = in.broken & 1;
	memset(&op, 0xAA, sizeof(op));
	memset(&again, 0x55, sizeof(again));
	const enum status st = ibs_decode(&in.r, in.capabilities, broken, &op);
	must(st == ST_OK || st == ST_BROKEN);
	must(st == ibs_decode(&in.r, in.capabilities, broken, &again));
	must(op.source < 16 && op.source == again.source && op.miss_cycles == again.miss_cycles && op.linear == again.linear);
	must(op.ip == in.r.ip && op.load == (in.r.data3 & 1) && op.store == (in.r.data3 >> 1 & 1));
	if (!op.load && !op.store)
		must(!op.has_linear && !op.linear && !op.physical && !op.refill_cycles && !op.bytes && !op.missed && !op.has_source);
	if (!op.load)
		must(!op.missed && !op.miss_cycles && !op.has_source);
	must(op.missed || !op.miss_cycles);
	must(op.missed_tlb || (!op.refill_cycles && !op.missed_second_tlb));
	must(st == ST_BROKEN || op.missed || !op.missed_l2);
	must(op.has_source == (op.source != IBS_UNKNOWN) || st == ST_BROKEN);
	if (op.has_source && op.source < 9 && !(in.capabilities & IBS_SOURCES_5))
		must(op.source < 8);
	if (broken && op.prefetch && op.missed_l2 && op.missed)
		must(!op.has_source || op.source == IBS_IN_FLIGHT || op.source == IBS_UNCACHED);
	return 0;
}
