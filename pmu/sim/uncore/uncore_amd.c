/* pmu/sim/uncore/uncore_amd.c: AMD's counters beyond the cores: six of each complex's L3, four of the data fabric of each socket, four of each
 * memory controller, of which each channel has one.
 *
 * Registers: PPR of family 17h model 31h and of family 19h models 10h to 1Fh, "L3 Cache", "Data Fabric" and "UMC Performance Monitors"; CPUID
 * 0x80000022 in the AMD64 manual volume 3, appendix E.
 *   C0010230 + 2n, + 1  L3: select, counter. 7:0 event, 15:8 umask, 22 on; family 17h: 51:48 slices, 63:56 threads; since family 19h:
 *                       44:42 core, 46 all slices, 47 all cores, 50:48 slice, 57:56 threads of the core
 *   C0010240 + 2n, + 1  fabric: 7:0 and, family 17h, 35:32, 60:59, with PerfMonV2 37:32 event, 15:8 and, with PerfMonV2, 27:24 umask, 22 on
 *   C0010800 + 8u + 2n, + 1  controller u, with PerfMonV2: 7:0 event, 9:8 only reads, only writes, 31 on; counters saturate with bit 48 set
 * A core accesses the L3 registers of its complex and the other registers of its socket.
 *
 * Here the sampled latency covers every request: it counts a tenth of the latency in uncore.latency_ps; family 17h's sum of latencies counts a
 * sixteenth of the cycles.
 *
 * Not modelled: counters of single cores, threads or slices; interrupts; the fabric's further counters; RDPMC of these; virtual machines. */
#include "pmu/sim/uncore/box.h"
#include "pmu/sim/machine/uncore_map.h"
#include "pmu/text.h"

#define DOMAINS_MAX 16
#define L3_COUNTERS 6u
#define DF_COUNTERS 4u
#define UMC_COUNTERS 4u
#define CHANNELS 16u
#define MSR_L3  0xC0010230u
#define MSR_DF  0xC0010240u
#define MSR_UMC 0xC0010800u
#define WIDTH_MASK 0xFFFFFFFFFFFFull
#define SATURATED (1ull << 48)
#define ON      (1ull << 22)
#define UMC_ON  (1ull << 31)
#define L3_LEGAL_17 0xFF0F00000040FFFFull
#define L3_LEGAL    0x0307DC000040FFFFull
#define L3_THREADS  (3ull << 56)
#define L3_ALL      (3ull << 46)
#define DF_LEGAL_17 0x1800000F0040FFFFull
#define DF_LEGAL    0x0000003F0F40FFFFull
#define UMC_LEGAL   0x800003FFull
#define CODE_LATENCY 0xAC      /* a tenth of the latency; CODE_FILL: a sixteenth of the cycles */
#define CODE_FILL    0x90

struct unit {
	uint64_t select, base;
	uint64_t start;          /* uncore cycle in which the clock began to count */
	uint32_t times, over;    /* factor of the watched count: times / over */
	int16_t watch;           /* -1: none */
	bool clock;
	const char *told;        /* its mistake, once that has been reported */
};

struct fabric {
	const struct machine *m;
	struct uncore_taps *taps;
	unsigned domains, in_domain; /* in_domain: threads of one */
	struct unit l3[DOMAINS_MAX][L3_COUNTERS];
	struct unit df[DOMAINS_MAX][DF_COUNTERS], umc[DOMAINS_MAX][CHANNELS * UMC_COUNTERS]; /* of each socket, at its first complex */
};

static size_t fabric_bytes(const struct machine *m)
{
	(void)m;
	return sizeof(struct fabric);
}

static void fabric_init(void *box, const struct machine *m, struct uncore_taps *taps)
{
	struct fabric *u = box;
	memset(u, 0, sizeof(*u));
	u->m = m;
	u->taps = taps;
	u->domains = (unsigned)(m->topology_sockets * m->topology_complexes);
	u->in_domain = (unsigned)(m->topology_cores * m->topology_threads / m->topology_complexes);
	for (unsigned d = 0; d < DOMAINS_MAX; d++) {
		for (unsigned n = 0; n < L3_COUNTERS; n++)
			u->l3[d][n].watch = -1;
		for (unsigned n = 0; n < DF_COUNTERS; n++)
			u->df[d][n].watch = -1;
		for (unsigned n = 0; n < CHANNELS * UMC_COUNTERS; n++)
			u->umc[d][n].watch = -1;
	}
}

static bool version_2(const struct fabric *u) { return u->m->pmu_version >= 2; }
static bool family_17(const struct fabric *u) { return u->m->cpuid_family < 0x19; }

/* The counter that a register belongs to, with its box, domain and channel. NULL: not one of these. */
static struct unit *unit_at(struct fabric *u, unsigned thread, uint32_t msr, enum uncore_box *box, unsigned *domain, unsigned *channel)
{
	const unsigned own = thread / u->in_domain, first = own - own % (unsigned)u->m->topology_complexes;
	if (msr - MSR_L3 < 2 * L3_COUNTERS) {
		*box = UNCORE_BOX_L3;
		*domain = own;
		return &u->l3[own][(msr - MSR_L3) / 2];
	}
	*domain = first;
	if (msr - MSR_DF < 2 * DF_COUNTERS) {
		*box = UNCORE_BOX_DF;
		return &u->df[first][(msr - MSR_DF) / 2];
	}
	if (version_2(u) && msr - MSR_UMC < 2 * UMC_COUNTERS * u->m->dram_channels) {
		*box = UNCORE_BOX_UMC;
		*channel = (msr - MSR_UMC) / (2 * UMC_COUNTERS);
		return &u->umc[first][(msr - MSR_UMC) / 2];
	}
	return NULL;
}

/* ---- counting --------------------------------------------------------------------------------- */

static void event_of(const struct fabric *u, enum uncore_box box, uint64_t select, unsigned *code, uint16_t *umask)
{
	*code = select & 0xFF;
	*umask = box == UNCORE_BOX_UMC ? select >> 8 & 3 : select >> 8 & 0xFF;
	if (box != UNCORE_BOX_DF)
		return;
	*code |= (unsigned)(select >> 32 & (version_2(u) ? 0x3F : 0xF)) << 8;
	if (version_2(u))
		*umask |= (uint16_t)((select >> 24 & 0xF) << 8);
	else
		*code |= (unsigned)(select >> 59 & 3) << 12;
}

static uint64_t mhz(uint64_t hz) { return hz / 1000000 ? hz / 1000000 : 1; }

static uint64_t value_of(struct fabric *u, unsigned domain, const struct unit *c)
{
	uint64_t counted = 0;
	if (c->clock)
		counted = uncore_taps_now(u->taps) - c->start;
	else if (c->watch >= 0)
		counted = uncore_watch_value(u->taps, domain, (unsigned)c->watch);
	return c->base + counted / c->over * c->times + counted % c->over * c->times / c->over;
}

static void go_off(struct fabric *u, unsigned domain, struct unit *c)
{
	if (c->over)
		c->base = value_of(u, domain, c);
	if (c->watch >= 0)
		uncore_watch_end(u->taps, domain, (unsigned)c->watch);
	c->watch = -1;
	c->clock = false;
	c->times = c->over = 0;
}

/* Fills *w from a select. NULL: done; else why it counts nothing. */
static const char *watch_of(struct fabric *u, enum uncore_box box, unsigned channel, struct unit *c, struct uncore_watch *w)
{
	const struct uncore_row *rows[8];
	unsigned code;
	uint16_t umask;
	event_of(u, box, c->select, &code, &umask);
	const unsigned n = uncore_map_find(u->m->uncore, box, code, umask, rows);
	const uint64_t uncore_hz = u->m->clock_bus_hz_times_3 * u->m->clock_uncore_ratio / 3;
	*w = (struct uncore_watch){ 0 };
	if (!n)
		return "no such event code in this box";
	if (box == UNCORE_BOX_L3 && family_17(u) && !(c->select >> 48 & 0xF && c->select >> 56))
		return "of no slice or of no thread: it counts nothing";
	if (box == UNCORE_BOX_L3 && !family_17(u) && ((c->select & L3_THREADS) != L3_THREADS || (c->select & L3_ALL) != L3_ALL))
		return "counters of one core, thread or slice";
	for (unsigned r = 0; r < n; r++) {
		if (rows[r]->how == UNCORE_UNMODELLED)
			return rows[r]->why;
		c->clock |= rows[r]->how == UNCORE_CLOCK;
		for (unsigned i = 0; i < rows[r]->term_count; i++) {
			const struct uncore_term *t = &rows[r]->terms[i];
			const uint64_t own = box == UNCORE_BOX_UMC ? 1ull << channel : UNITS_ALL;
			if (w->part_count == UNCORE_PARTS)
				return "more sub-events together than the model adds up";
			w->parts[w->part_count++] = (struct uncore_part){ t->signal, t->times, t->unit == UNCORE_OWN_UNITS ? own : 1ull << t->unit, t->tags };
		}
	}
	c->times = c->over = 1;
	if (c->clock) { /* two transfers of eight bytes per cycle of the memory's clock */
		c->times = (uint32_t)mhz(u->m->dram_channel_bytes_per_second / 16);
		c->over = (uint32_t)mhz(uncore_hz);
	} else if (box == UNCORE_BOX_L3 && code == CODE_FILL) {
		c->over = 16;
	} else if (box == UNCORE_BOX_L3 && code == CODE_LATENCY) {
		c->times = u->m->uncore_latency_ps ? (uint32_t)(1000000 / mhz(uncore_hz)) : 1;
		c->over = 10 * (uint32_t)(u->m->uncore_latency_ps ? u->m->uncore_latency_ps : 1);
	}
	return NULL;
}

static void go_on(struct fabric *u, enum uncore_box box, unsigned domain, unsigned channel, struct unit *c, uint32_t msr, struct sim_finding *f)
{
	struct uncore_watch watch;
	unsigned number = 0;
	const char *why = watch_of(u, box, channel, c, &watch);
	if (!why && c->clock)
		c->start = uncore_taps_now(u->taps);
	else if (!why && watch.part_count && uncore_watch_begin(u->taps, domain, &watch, &number) != ST_OK)
		why = "no memory for its cycles";
	else if (!why && watch.part_count)
		c->watch = (int16_t)number;
	if (!why)
		return;
	c->clock = false;
	c->times = c->over = 0;
	if (c->told == why)
		return;
	c->told = why;
	sim_finding_add(f, &(struct sim_finding){ .kind = FIND_UNMODELLED, .address = msr, .value = c->select, .why = why });
}

/* ---- registers -------------------------------------------------------------------------------- */

static uint64_t legal(const struct fabric *u, enum uncore_box box)
{
	if (box == UNCORE_BOX_UMC)
		return UMC_LEGAL;
	if (box == UNCORE_BOX_DF)
		return version_2(u) ? DF_LEGAL : DF_LEGAL_17;
	return family_17(u) ? L3_LEGAL_17 : L3_LEGAL;
}

static enum status fabric_rdmsr(void *box, unsigned thread, uint32_t msr, uint64_t *value, struct sim_finding *f)
{
	struct fabric *u = box;
	enum uncore_box kind = UNCORE_BOX_L3;
	unsigned domain = 0, channel = 0;
	struct unit *c = unit_at(u, thread, msr, &kind, &domain, &channel);
	if (!c)
		return ST_MISSING;
	sim_finding_none(f);
	*value = c->select;
	if (!(msr & 1))
		return ST_OK;
	*value = c->over ? value_of(u, domain, c) : c->base;
	if (kind == UNCORE_BOX_UMC && *value > WIDTH_MASK)
		*value = SATURATED | WIDTH_MASK;
	*value &= kind == UNCORE_BOX_UMC ? SATURATED | WIDTH_MASK : WIDTH_MASK;
	return ST_OK;
}

static enum status fabric_wrmsr(void *box, unsigned thread, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	struct fabric *u = box;
	enum uncore_box kind = UNCORE_BOX_L3;
	unsigned domain = 0, channel = 0;
	struct unit *c = unit_at(u, thread, msr, &kind, &domain, &channel);
	if (!c)
		return ST_MISSING;
	const uint64_t allowed = msr & 1 ? WIDTH_MASK | (kind == UNCORE_BOX_UMC ? SATURATED : 0) : legal(u, kind);
	sim_finding_none(f);
	if (value & ~allowed) {
		sim_finding_add(f, &(struct sim_finding){ .kind = FIND_RESERVED, .address = msr, .value = value & ~allowed, .why = "reserved bits raise #GP" });
		return ST_FAULT;
	}
	go_off(u, domain, c);
	if (msr & 1) {
		c->base = value;
	} else {
		if ((c->select ^ value) & ~(ON | UMC_ON))
			c->told = NULL;
		c->select = value;
	}
	if (c->select & (kind == UNCORE_BOX_UMC ? UMC_ON : ON))
		go_on(u, kind, domain, channel, c, msr & ~1u, f);
	return ST_OK;
}

const struct box_kind box_fabric = { .name = "fabric", .bytes = fabric_bytes, .init = fabric_init, .rdmsr = fabric_rdmsr, .wrmsr = fabric_wrmsr };
