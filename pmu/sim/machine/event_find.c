/* pmu/sim/machine/event_find.c: looks up event codes in a machine's map; decodes OFFCORE_RESPONSE.
 *
 * Not modelled: events that the maps lack; they are flagged, never counted as zero. */
#include "pmu/sim/machine/event_map.h"

static const struct sim_event *row_of(const struct event_map *map, unsigned select, unsigned umask)
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

unsigned sim_event_umask(const struct machine *m, uint64_t value)
{
	return (unsigned)(value >> 8 & 0xFF) | (m->pmu_second_mask ? (unsigned)(value >> 40 & 0xFF) << 8 : 0);
}

unsigned sim_event_code(const struct machine *m, uint64_t value)
{
	return sim_event_umask(m, value) << 8 | (unsigned)(value & 0xFF);
}

unsigned sim_event_find(const struct event_map *map, unsigned select, unsigned umask, const struct sim_event *out[EVENT_ROWS])
{
	unsigned found = 0;
	const struct sim_event *e = row_of(map, select, umask);
	if (e) {
		out[0] = e;
		return 1;
	}
	for (unsigned bit = 0; bit < EVENT_ROWS; bit++) {
		if (!(umask >> bit & 1))
			continue;
		e = row_of(map, select, 1u << bit);
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
_Static_assert(SIG_OFFCORE_OTHER_NEAR_DRAM == SIG_OFFCORE_DATA_NEAR_FORWARD + 23, "three more answers each");

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
		for (unsigned r = 0; r < 11; r++)
			if ((requests >> q & 1) && (responses >> r & 1)) {
				unsigned sig = r < 8 ? SIG_OFFCORE_DATA_UNCORE_HIT + 8 * q + r : SIG_OFFCORE_DATA_NEAR_FORWARD + 3 * q + r - 8;
				listen[sig / 64] |= 1ull << sig % 64;
			}
}

/* Format 0: bits 7:0 request, 15:8 response (libpfm4, nhm OFFCORE_RESPONSE_0). Format 1: bits 15:0 request, where 0 to 6
 * are those of format 0 and 11 is non-temporal stores; bit 16 any response; the supplier and snoop fields above are not
 * decoded: no built-in machine has it. Formats 2 and 3: they are decoded, suppliers 30:17 and snoops 37:31 (SDM volume 3,
 * MSR_OFFCORE_RSP_x, response information; perfmon's values of Sandy Bridge to Sapphire Rapids; Linux, HSW_L3_MISS_* and
 * SKL_L3_MISS_*): a response counts if both its supplier and its snoop are selected. Linux has the other sockets in 29:27, by
 * hops; perfmon's values select bits beside these too. Requests 9:7 and 13 are prefetches into the L3, which this model lacks;
 * 10 are bus and split locks (Sandy Bridge to Broadwell), later prefetches of the L1 and by software, neither of which it
 * distinguishes; 14 are requests of page walks, which it counts as data reads; 47 are streaming writes of full lines. */
struct response { unsigned number; uint64_t suppliers, snoops; };
#define BITS(high, low) ((2ull << (high)) - (1ull << (low)))
#define DISTANT_CLUSTER (1ull << 27) /* with several memory nodes a socket, else another socket's */
static const struct response responses[] = {
	{ 0, BITS(21, 18), 1ull << 33 | 1ull << 32 | 1ull << 31 }, /* from the L3, without a snoop of another core */
	{ 1, BITS(21, 18), 1ull << 34 },                           /* ... another core had it clean; the L3's copy is taken */
	{ 2, BITS(21, 18), 1ull << 36 },                           /* ... modified */
	{ 3, BITS(30, 28), 1ull << 36 },                           /* another socket's cache, modified */
	{ 4, BITS(30, 28), 1ull << 35 },                           /* ... clean */
	{ 5, BITS(30, 28), BITS(34, 31) },                         /* memory of another socket */
	{ 6, 0, BITS(34, 31) },                                    /* of this node: bit 22, in format 3 bit 26; the other bit is remote memory's */
	{ 8, DISTANT_CLUSTER, 1ull << 35 },                        /* a slice of another memory node of the socket (perfmon: SNC_CACHE) */
	{ 9, DISTANT_CLUSTER, 1ull << 36 },                        /* ... that had it from a core, modified */
	{ 10, DISTANT_CLUSTER, BITS(34, 31) },                     /* memory of another node of the socket (SNC_DRAM) */
};
#define FULL_LINES (1ull << 47)

static unsigned any_response(const struct machine *m) { return m->topology_nodes > 1 ? OFFCORE_RESPONSES_ANY : 0xFF; }

static bool by_supplier(const struct machine *m, uint64_t value, unsigned local, uint64_t *listen)
{
	const uint64_t asked = (value & 0x77) | (value >> 11 & 1) << OTHER_REQUEST | (value & FULL_LINES ? 1ull << OTHER_REQUEST : 0);
	const bool any = value >> 16 & 1;
	if ((value & 0x9008) || !(value & (0x6BF7 | FULL_LINES)) || (!any && !(value & BITS(37, 17))))
		return false;
	if (any) {
		sim_offcore_listen((unsigned)asked, any_response(m), listen);
		return true;
	}
	if (m->topology_nodes < 2 && value & DISTANT_CLUSTER)
		value = (value & ~DISTANT_CLUSTER) | BITS(30, 28);
	for (unsigned i = 0; i < COUNT_OF(responses); i++)
		if (value & (responses[i].suppliers ? responses[i].suppliers : 1ull << local) && value & responses[i].snoops)
			sim_offcore_listen((unsigned)asked, 1u << responses[i].number, listen);
	return true;
}

bool sim_offcore_signals(const struct machine *m, uint64_t value, uint64_t *listen)
{
	if (m->pmu_offcore_format == 0) {
		for (unsigned bit = 0; bit < 64; bit++)
			if ((value >> bit / 8 & 1) && (value >> (8 + bit % 8) & 1))
				sim_offcore_listen(1u << bit / 8, 1u << (m->pmu_offcore_nt_clean ? swap_nt_stores(bit / 8, bit % 8) : bit % 8), listen);
		return true;
	}
	if (m->pmu_offcore_format >= 2)
		return by_supplier(m, value, m->pmu_offcore_format == 2 ? 22 : 26, listen);
	if (!(value >> 16 & 1) || (value & 0xF780))
		return false;
	sim_offcore_listen((value & 0x7F) | (value >> 11 & 1) << OTHER_REQUEST, any_response(m), listen);
	return true;
}
