/* pmu/sim/counters/counter_events.c: looks up event codes in the maps events_*.def.
 *
 * Not modelled: events that the maps lack; they are flagged, never counted as zero. */
#include "pmu/sim/counters/counter_event.h"
#include "pmu/text.h"

#define EVENT(sel, um, ctr, flag, prec, text, ...) \
	{ .select = sel, .umask = um, .counters = ctr, .flags = flag, .precise = prec, .name = text, \
	  .signal_count = sizeof((uint16_t[]){ 0, ##__VA_ARGS__ }) / sizeof(uint16_t) - 1, .signals = { __VA_ARGS__ } },

static const struct sim_event architectural[] = {
#include "pmu/sim/counters/events_architectural.def"
};
static const struct sim_event core2[] = {
#include "pmu/sim/counters/events_core2.def"
};
static const struct sim_event nehalem[] = {
#include "pmu/sim/counters/events_nehalem.def"
};
static const struct sim_event haswell[] = {
#include "pmu/sim/counters/events_haswell.def"
};
static const struct sim_event skylake[] = {
#include "pmu/sim/counters/events_skylake.def"
};

static const struct { const char *name; const struct sim_event *rows; unsigned count; } maps[] = {
	{ "architectural", architectural, COUNT_OF(architectural) },
	{ "core2", core2, COUNT_OF(core2) },
	{ "nehalem", nehalem, COUNT_OF(nehalem) },
	{ "haswell", haswell, COUNT_OF(haswell) },
	{ "skylake", skylake, COUNT_OF(skylake) },
};

const struct sim_event *sim_event_map(const char *map, unsigned *n)
{
	for (unsigned i = 0; i < COUNT_OF(maps); i++)
		if (str_equal(map, maps[i].name)) {
			*n = maps[i].count;
			return maps[i].rows;
		}
	*n = 0;
	return NULL;
}

bool machine_events_known(const char *name)
{
	unsigned n;
	return str_equal(name, "netburst") || sim_event_map(name, &n) != NULL; /* netburst.c has its own map */
}

static const struct sim_event *row_of(const struct sim_event *rows, unsigned n, uint8_t select, uint8_t umask)
{
	for (unsigned i = 0; i < n; i++)
		if (rows[i].select == select && rows[i].umask == umask)
			return &rows[i];
	return NULL;
}

unsigned sim_event_find(const char *map, uint8_t select, uint8_t umask, const struct sim_event *out[8])
{
	unsigned n, found = 0;
	const struct sim_event *rows = sim_event_map(map, &n);
	const struct sim_event *e = row_of(rows, n, select, umask);
	if (e) {
		out[0] = e;
		return 1;
	}
	for (unsigned bit = 0; bit < 8; bit++) {
		if (!(umask >> bit & 1))
			continue;
		e = row_of(rows, n, select, (uint8_t)(1u << bit));
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

/* Nehalem: bits 7:0 request, 15:8 response (libpfm4, nhm OFFCORE_RESPONSE_0). Haswell and Skylake: bits 15:0 request, where
 * 0 to 6 are Nehalem's and 11 is non-temporal stores; bit 16 any response; the supplier and snoop fields above are not
 * decoded (Intel perfmon, OFFCORE_RESPONSE events). */
bool sim_offcore_signals(const char *map, uint64_t value, uint64_t *listen)
{
	if (str_equal(map, "nehalem")) {
		for (unsigned bit = 0; bit < 64; bit++)
			if ((value >> bit / 8 & 1) && (value >> (8 + bit % 8) & 1))
				sim_offcore_listen(1u << bit / 8, 1u << swap_nt_stores(bit / 8, bit % 8), listen);
		return true;
	}
	if (!(value >> 16 & 1) || (value & 0xF780))
		return false;
	sim_offcore_listen((value & 0x7F) | (value >> 11 & 1) << OTHER_REQUEST, 0xFF, listen);
	return true;
}
