/* Fuzzes the decoder of IBS fetches: any values in the registers, any capabilities and errata. What it says must be consistent: nothing of caches from
 * a fetch that was abandoned, no farther miss without the nearer one, no time of a refill where the first level hit, no page without its address. max_len=40 */
#include <stdlib.h>
#include <string.h>
#include "pmu/amd/ibs.h"
#include "pmu/amd/ibs_fetch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct { struct ibs_fetch_registers r; uint32_t capabilities; uint8_t errata; } in = { 0 };
	struct ibs_fetch f, again;
	memcpy(&in, data, size < sizeof(in) ? size : sizeof(in));
	const struct ibs_fetch_errata errata = { .no_miss = in.errata & 1, .more_sizes = in.errata >> 1 & 1 };
	const bool wide = in.capabilities & IBS_SOURCES_5;
	memset(&f, 0xAA, sizeof(f));
	memset(&again, 0x55, sizeof(again));
	ibs_fetch_decode(&in.r, in.capabilities, errata, &f);
	ibs_fetch_decode(&in.r, in.capabilities, errata, &again);
	must(f.linear == in.r.linear && f.linear == again.linear && f.latency_cycles == again.latency_cycles && f.page_bytes == again.page_bytes);
	must(f.complete == (in.r.control >> 50 & 1) && f.latency_cycles == (in.r.control >> 32 & 0xFFFF));
	must(f.complete || (!f.missed && !f.missed_l2 && !f.missed_l3 && !f.missed_op_cache && !f.has_missed && !f.has_missed_l3));
	must(f.missed || !f.missed_l2);
	must(f.missed_l2 || !f.missed_l3);
	must(!f.has_missed || !errata.no_miss);
	must(wide || (!f.missed_l3 && !f.missed_op_cache && !f.has_missed_l3));
	must(f.missed_tlb || (!f.missed_second_tlb && !f.refill_cycles));
	must(in.capabilities & IBS_REFILL || !f.refill_cycles);
	must(f.has_physical ? f.physical == in.r.physical : !f.physical && !f.page_bytes);
	must(f.page_bytes != 1u << 14 || errata.more_sizes);
	return 0;
}
