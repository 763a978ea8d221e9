/* pmu/sim/counters/netburst_bus.c: NetBurst's events of the front-side bus and of the queue in front of it (BSQ). Their
 * mask bits are no sum: each field of the bus's mask is a filter; the BSQ's mask is the complete description of a request.
 *
 * Source: SDM volume 3, events of NetBurst not at retirement: IOQ_allocation (from model 2 on: a request type, and reads or
 * writes, and a memory type, and an agent), IOQ_active_entries (detected beside an IOQ_allocation of the same mask in
 * ESCR0), FSB_data_activity; BSQ_allocation and BSQ_active_entries (detected beside a BSQ_allocation of the same mask in
 * ESCR0): fields of request type, length, attributes and memory type.
 *
 * Not modelled: in the BSQ the second sector that some models request with the first, requests that the L2 answers, I/O,
 * locks, splits, ordered requests, entries other than of demand reads; on the bus requests by type, prefetches apart from
 * other reads, other agents' requests, the time of writes in the queue, memory types other than write-back and, for
 * non-temporal stores, write-combining; data busy; edges of what two transactions keep asserted. */
#include "pmu/sim/counters/netburst_state.h"

#define SELECT_ALLOCATION 0x03u
#define SELECT_ACTIVE     0x1Au
#define SELECT_DATA       0x17u

enum { TYPES = 0x1F, TYPE_DEFAULT = 1, ALL_READ = 1 << 5, ALL_WRITE = 1 << 6, MEM_WC = 1 << 8, MEM_WB = 1 << 11, OWN = 1 << 13, OTHER = 1 << 14,
       PREFETCH = 1 << 15 };
enum { DRDY_DRV = 1, DRDY_OWN = 2, DRDY_OTHER = 4, DBSY = 7 << 3 };

#define SELECT_BSQ_ALLOCATION 0x05u
#define SELECT_BSQ_ACTIVE     0x06u

/* A request's attributes as in the BSQ's mask: type in bits 1:0 (read, read and invalidate, write, write-back), length in
 * 3:2 (none, one chunk of 8 bytes, eight), 7 cacheable, 9 on demand, memory type in 13:11 (1 WC, 6 WB). */
enum { BSQ_ONE = 1 << 2, BSQ_EIGHT = 3 << 2, BSQ_CACHEABLE = 1 << 7, BSQ_DEMAND = 1 << 9, BSQ_WC = 1 << 11, BSQ_WB = 6 << 11 | BSQ_CACHEABLE };
static const struct { uint16_t mask, sig; } requests[] = {
	{ 0 | BSQ_EIGHT | BSQ_WB | BSQ_DEMAND, SIG_BSQ_READ }, { 0 | BSQ_EIGHT | BSQ_WB, SIG_BSQ_PREFETCH },
	{ 1 | BSQ_EIGHT | BSQ_WB | BSQ_DEMAND, SIG_BSQ_RFO }, { 1 | BSQ_EIGHT | BSQ_WB, SIG_BSQ_RFO_PREFETCH },
	{ 1 | BSQ_WB | BSQ_DEMAND, SIG_BSQ_INVALIDATE }, { 3 | BSQ_EIGHT | BSQ_WB | BSQ_DEMAND, SIG_BSQ_WRITE_BACK },
	{ 2 | BSQ_EIGHT | BSQ_WC | BSQ_DEMAND, SIG_BSQ_WRITE_LINE }, { 2 | BSQ_ONE | BSQ_WC | BSQ_DEMAND, SIG_BSQ_WRITE_PART } };

static void add(struct tap *t, enum signal sig)
{
	t->listen[sig / 64] |= 1ull << sig % 64;
}

static const char *queue(uint32_t mask, bool alone, bool active, struct tap *t)
{
	if ((mask & TYPES) != TYPE_DEFAULT)
		return "requests by their type";
	if (!(mask & PREFETCH))
		return "requests without those of prefetchers";
	if (!(mask & OWN) || (mask & OTHER && !alone))
		return "requests of other agents";
	if (active && mask & ALL_WRITE)
		return "how long writes stay in the in-order queue";
	if (mask & ALL_READ && mask & MEM_WB)
		add(t, active ? SIG_IOQ_READ_ENTRIES : SIG_IOQ_READ);
	if (mask & ALL_WRITE && mask & MEM_WB)
		add(t, SIG_IOQ_WRITE_BACK);
	if (mask & ALL_WRITE && mask & MEM_WC)
		add(t, SIG_IOQ_WRITE_COMBINED);
	return NULL;
}

static const char *data(uint32_t mask, bool alone, struct tap *t)
{
	if (mask & DBSY)
		return "data busy of the bus";
	if (mask & DRDY_OTHER && !alone && !(mask & DRDY_OWN))
		return "data of other agents alone";
	if (mask & DRDY_OTHER)
		add(t, mask & DRDY_OWN ? SIG_FSB_DATA : SIG_FSB_DATA_WRITTEN);
	else if (mask & DRDY_OWN)
		add(t, SIG_FSB_DATA_READ);
	if (mask & DRDY_DRV && !(mask & DRDY_OTHER))
		add(t, SIG_FSB_DATA_WRITTEN);
	return NULL;
}

static const char *bsq(uint32_t mask, bool active, struct tap *t)
{
	if (active && mask != requests[0].mask)
		return "entries of the bus sequence queue but of demand reads";
	for (unsigned i = 0; i < COUNT_OF(requests) && !active; i++)
		if (requests[i].mask == mask)
			add(t, requests[i].sig);
	if (active)
		add(t, SIG_BSQ_READ_ENTRIES);
	return NULL;
}

static bool is_bsq(uint32_t escr_msr, uint32_t select)
{
	return (escr_msr & ~1u) == UNIT_BSU && (select == SELECT_BSQ_ALLOCATION || select == SELECT_BSQ_ACTIVE);
}

bool netburst_sim_is_bus(uint32_t escr_msr, uint32_t escr)
{
	const uint32_t select = escr >> 25 & 0x3F;

	return is_bsq(escr_msr, select) ||
		((escr_msr & ~1u) == UNIT_FSB && (select == SELECT_ALLOCATION || select == SELECT_ACTIVE || select == SELECT_DATA));
}

const char *netburst_sim_bus_misuse(const struct counters *p, uint32_t escr_msr)
{
	const uint32_t escr = p->netburst->escr[escr_msr - NETBURST_SIM_ESCR], beside = p->netburst->escr[(escr_msr & ~1u) - NETBURST_SIM_ESCR];
	const uint32_t select = escr >> 25 & 0x3F;

	if (is_bsq(escr_msr, select)) {
		if (select == SELECT_BSQ_ALLOCATION)
			return escr_msr == UNIT_BSU ? NULL : "BSQ_allocation: BSU_ESCR0 alone detects it";
		if (escr_msr == UNIT_BSU)
			return "BSQ_active_entries: BSU_ESCR1 alone detects it";
		return (beside >> 25 & 0x3F) == SELECT_BSQ_ALLOCATION && (beside >> 9 & 0xFFFF) == (escr >> 9 & 0xFFFF) ? NULL :
			"BSQ_active_entries: BSU_ESCR0 must hold BSQ_allocation with the same mask";
	}
	if ((escr >> 25 & 0x3F) != SELECT_ACTIVE)
		return NULL;
	if (escr_msr == UNIT_FSB)
		return "IOQ_active_entries: FSB_ESCR1 alone detects it";
	return (beside >> 25 & 0x3F) == SELECT_ALLOCATION && (beside >> 9 & 0xFFFF) == (escr >> 9 & 0xFFFF) ? NULL :
		"IOQ_active_entries: FSB_ESCR0 must hold IOQ_allocation with the same mask";
}

bool netburst_sim_bus(const struct machine *m, uint32_t escr_msr, uint32_t escr, struct tap *t, const char **why)
{
	const uint32_t select = escr >> 25 & 0x3F, mask = escr >> 9 & 0xFFFF;
	const bool alone = m->topology_cores == 1; /* on its bus */

	*why = is_bsq(escr_msr, select) ? bsq(mask, select == SELECT_BSQ_ACTIVE, t) : select == SELECT_DATA ? data(mask, alone, t) : queue(mask, alone, select == SELECT_ACTIVE, t);
	for (unsigned w = 0; w < SIGNAL_WORDS && !*why; w++)
		if (t->listen[w])
			return true;
	if (!*why)
		*why = "no transaction has all that this mask asks for: counts nothing";
	return false;
}
