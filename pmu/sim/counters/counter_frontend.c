/* pmu/sim/counters/counter_frontend.c: MSR 0x3F7, which selects what the front-end event counts.
 *
 * Values: Intel perfmon, event files of the cores since Skylake (MSRValue of FRONTEND_RETIRED). Each counts retired instructions that follow its cause;
 * this model counts the causes, also on wrong paths.
 *
 * Not modelled: misses of the uop cache (0x1, 0x11), starvation of a given length (bits 22:8 of values that end in 0x06), unknown branches (0x17), latencies. */
#include "pmu/sim/counters/counter_state.h"

static const struct { uint32_t value; enum signal sig; } causes[] = {
	{ 0x08, SIG_UOPS_DECODED_MS }, { 0x12, SIG_L1I_MISS }, { 0x13, SIG_L2_REQUEST_IFETCH_MISS }, { 0x14, SIG_ITLB_MISS }, { 0x15, SIG_ITLB_WALK_COMPLETED },
};

bool counter_frontend_listen(const struct counters *p, uint64_t *listen)
{
	for (unsigned i = 0; i < COUNT_OF(causes); i++)
		if (p->frontend == causes[i].value) {
			listen[causes[i].sig / 64] |= 1ull << causes[i].sig % 64;
			return true;
		}
	return false;
}
