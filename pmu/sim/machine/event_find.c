/* pmu/sim/machine/event_find.c: looks up event codes in a machine's map; what OFFCORE_RESPONSE counts.
 *
 * Not modelled: events that the maps lack; they are flagged, never counted as zero. */
#include "pmu/sim/machine/event_map.h"

static const struct sim_event *row_of(const struct event_map *map, unsigned select, uint8_t umask)
{
	for (unsigned i = 0; i < map->count; i++)
		if (map->rows[i].select == select && map->rows[i].umask == umask)
			return &map->rows[i];
	return NULL;
}

unsigned sim_event_select(const struct machine *m, uint64_t value)
{
	return (unsigned)(value & 0xFF) | (m->pmu_amd ? (unsigned)(value >> 32 & 0xF) << 8 : 0);
}

unsigned sim_event_find(const struct event_map *map, unsigned select, uint8_t umask, const struct sim_event *out[8])
{
	unsigned found = 0;
	const struct sim_event *e = row_of(map, select, umask);
	if (e) {
		out[0] = e;
		return 1;
	}
	for (unsigned bit = 0; bit < 8; bit++) {
		if (!(umask >> bit & 1))
			continue;
		e = row_of(map, select, (uint8_t)(1u << bit));
		if (!e || (e->flags & EVENT_EXACT))
			return 0;
		out[found++] = e;
	}
	return found;
}

/* ---- requests beyond the L2 ----------------------------------------------------------------- */

/* signals.def has eight responses for each of eight request types, in the register's bit order. */
_Static_assert(SIG_OFFCORE_RFO_UNCORE_HIT == SIG_OFFCORE_DATA_UNCORE_HIT + 8, "eight answers a request type");
_Static_assert(SIG_OFFCORE_OTHER_NON_DRAM == SIG_OFFCORE_DATA_UNCORE_HIT + 63, "eight request types");

/* Nehalem counts non-temporal stores to local memory as answered by another core that had the line clean (the guide's
 * erratum after its tables of OFFCORE_RESPONSE_0). */
#define OTHER_REQUEST  7
#define LOCAL_RESPONSE 6
#define CLEAN_RESPONSE 1

static unsigned swap_nt_stores(unsigned request, unsigned response)
{
	if (request != OTHER_REQUEST || (response != LOCAL_RESPONSE && response != CLEAN_RESPONSE))
		return response;
	return response == LOCAL_RESPONSE ? CLEAN_RESPONSE : LOCAL_RESPONSE;
}

void sim_offcore_listen(unsigned requests, unsigned responses, uint64_t *listen)
{
	for (unsigned q = 0; q < 8; q++)
		for (unsigned r = 0; r < 8; r++)
			if ((requests >> q & 1) && (responses >> r & 1)) {
				unsigned sig = SIG_OFFCORE_DATA_UNCORE_HIT + 8 * q + r;
				listen[sig / 64] |= 1ull << sig % 64;
			}
}

/* Format 0: bits 7:0 request, 15:8 response (libpfm4, nhm OFFCORE_RESPONSE_0). Format 1: bits 15:0 request, where 0 to 6
 * are those of format 0 and 11 is non-temporal stores; bit 16 any response; the supplier and snoop fields above are not
 * decoded (Intel perfmon, OFFCORE_RESPONSE events). */
bool sim_offcore_signals(const struct machine *m, uint64_t value, uint64_t *listen)
{
	if (m->pmu_offcore_format == 0) {
		for (unsigned bit = 0; bit < 64; bit++)
			if ((value >> bit / 8 & 1) && (value >> (8 + bit % 8) & 1))
				sim_offcore_listen(1u << bit / 8, 1u << (m->pmu_offcore_nt_clean ? swap_nt_stores(bit / 8, bit % 8) : bit % 8), listen);
		return true;
	}
	if (!(value >> 16 & 1) || (value & 0xF780))
		return false;
	sim_offcore_listen((value & 0x7F) | (value >> 11 & 1) << OTHER_REQUEST, 0xFF, listen);
	return true;
}
