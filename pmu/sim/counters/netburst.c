/* pmu/sim/counters/netburst.c: registers and counts of NetBurst's performance monitoring; netburst.h states what is not
 * modelled.
 *
 * Sources: SDM volume 3, performance monitoring of the Pentium 4: layouts of ESCR and CCCR, and the table of counters with
 * the ESCR that each value of a CCCR's ESCR select stands for; Sprunt 2002 for threshold, complement and edge; Linux p4.c
 * for counter 1, erratum N15 and the metrics of replays (facts only). */
#include "pmu/sim/counters/netburst_state.h"
#include "pmu/text.h"

/* The unit that an ESCR select selects, per block of counters; 0: none. */
static const uint16_t selects[4][8] = {
	{ UNIT_BPU, UNIT_IS, UNIT_MOB, UNIT_ITLB, UNIT_PMH, UNIT_IX, UNIT_FSB, UNIT_BSU },
	{ UNIT_MS, UNIT_TC, UNIT_TBPU },
	{ UNIT_FLAME, UNIT_FIRM, UNIT_SAAT, UNIT_U2L, 0, UNIT_DAC },
	{ 0, UNIT_ALF, UNIT_RAT, UNIT_SSU, UNIT_CRU0, UNIT_CRU2, UNIT_CRU4 }
};

/* LEVEL: a condition of a cycle, counted once however many threads meet it. */
enum { PULSE, LEVEL };
static const bool is_condition[SIG_COUNT] = {
#define SIGNAL(name, kind, what) kind == LEVEL,
#include "pmu/sim/signals/signals.def"
#undef SIGNAL
};

/* What replay_event counts under a metric: retired loads and stores by source of their data. Three metrics need an event detected beside them
 * (SDM, table of metrics for replay tagging): by one ESCR of its unit, or by either, with these bits of its mask. */
#define METRIC_SIGNALS 10
#define EITHER 2u
struct beside { uint16_t unit; uint8_t escr, select; uint16_t mask; const char *why; };
static const struct beside nothing_beside = { 0 };
static const struct beside split_loads = { UNIT_SAAT, 1, 0x04, 1 << 1, "split_load_retired: SAAT_ESCR1 does not detect load_port_replay SPLIT_LD" };
static const struct beside split_stores = { UNIT_SAAT, 0, 0x05, 1 << 1, "split_store_retired: SAAT_ESCR0 does not detect store_port_replay SPLIT_ST" };
static const struct beside mob_replays = { UNIT_MOB, EITHER, 0x03, 3 << 4,
	"MOB_load_replay_retired: no MOB_ESCR detects MOB_load_replay PARTIAL_DATA and UNALGN_ADDR" };
static const struct metric { uint32_t enable, vert; const struct beside *beside; uint8_t signal_count; uint16_t signals[METRIC_SIGNALS]; } metrics[] = {
#define METRIC_BESIDE(e, v, b, ...) { e, v, b, sizeof((uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t), { __VA_ARGS__ } }
#define METRIC(e, v, ...) METRIC_BESIDE(e, v, &nothing_beside, __VA_ARGS__)
#define BEYOND_L2 SIG_LOAD_L3_UNSHARED, SIG_LOAD_L3_OTHER_CLEAN, SIG_LOAD_L3_OTHER_MODIFIED, SIG_LOAD_REMOTE_CACHE_CLEAN, \
	SIG_LOAD_REMOTE_CACHE_MODIFIED, SIG_LOAD_LOCAL_DRAM, SIG_LOAD_REMOTE_DRAM
	METRIC(0x1, 1, SIG_LOAD_LFB_HIT, SIG_LOAD_L2_HIT, BEYOND_L2),
	METRIC(0x2, 1, BEYOND_L2),
	METRIC(0x4, 1, SIG_LOAD_DTLB_MISS),
	METRIC(0x4, 2, SIG_DTLB_STORE_MISS),
	METRIC(0x4, 3, SIG_LOAD_DTLB_MISS, SIG_DTLB_STORE_MISS),
	METRIC(0x18000, 0x10, SIG_BRANCHES_MISPREDICTED),
	METRIC_BESIDE(0x200, 1, &mob_replays, SIG_LOAD_BLOCK_OVERLAP),
	METRIC_BESIDE(0x400, 1, &split_loads, SIG_SPLIT_LOADS),
	METRIC_BESIDE(0x400, 2, &split_stores, SIG_SPLIT_STORES)
};

bool netburst_sim(const struct counters *p)
{
	return p->m->pmu_netburst;
}

static bool escr_exists(uint32_t msr)
{
	uint32_t unit = msr & ~1u;
	if (msr == UNIT_SSU + 1)
		return false;
	for (unsigned b = 0; b < 4; b++)
		for (unsigned s = 0; s < 8; s++)
			if (selects[b][s] == unit)
				return true;
	return false;
}

/* ---- counts --------------------------------------------------------------------------------- */

static unsigned block_of(unsigned c)
{
	return c < 12 ? c / 4 : 3;
}

/* The ESCR of counter c: the first or second of the unit selected in its block. */
uint32_t netburst_sim_escr_of(unsigned c, uint32_t cccr)
{
	unsigned second = c < 12 ? c / 2 & 1 : c == 14 || c == 15 || c == 17;
	uint32_t unit = selects[block_of(c)][cccr >> 13 & 7];
	return unit ? unit + second : 0;
}

unsigned netburst_sim_threads(uint32_t escr)
{
	return (escr & ESCR_T0_OS ? 1 : 0) | (escr & ESCR_T1_OS ? 2 : 0);
}

void netburst_sim_pair(struct counters *p, struct counters *first, struct signals *both)
{
	p->netburst = first->netburst;
	p->netburst->home[p != first] = p->signals;
	p->netburst->thread[p != first] = p;
	p->netburst->home[2] = both;
}

static uint64_t tap_value(struct counters *p, unsigned c)
{
	const struct sim_netburst *n = p->netburst;
	if (!n->counter[c].tapped)
		return 0;
	if (n->home[2])
		signal_idle(n->home[2], counters_now(p));
	return signals_tap_get(n->home[n->counter[c].home], c)->value;
}

static uint64_t count(struct counters *p, unsigned c)
{
	uint64_t n = tap_value(p, c), total = p->netburst->counter[c].base + n, wraps = total >> COUNTER_BITS;
	if (wraps > p->netburst->counter[c].wraps || (n && p->netburst->cccr[c] & CCCR_FORCE_OVF))
		p->netburst->cccr[c] |= CCCR_OVF;
	p->netburst->counter[c].wraps = wraps;
	return total & mask_of(COUNTER_BITS);
}

static void listen(struct tap *t, const uint16_t *signals, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		t->listen[signals[i] / 64] |= 1ull << signals[i] % 64;
}

static bool detected(const struct counters *p, const struct beside *b)
{
	bool found = !b->unit;
	for (unsigned n = 0; n < 2 && b->unit; n++) {
		const uint32_t escr = p->netburst->escr[b->unit + n - NETBURST_SIM_ESCR];
		found = found || ((b->escr == EITHER || b->escr == n) && (escr >> 25 & 0x3F) == b->select && !(b->mask & ~(escr >> 9)));
	}
	return found;
}

static bool replays(const struct counters *p, struct tap *t, const char **why)
{
	uint32_t enable = p->netburst->pebs_enable & METRIC_BITS;
	if (!(p->netburst->pebs_enable & PEBS_UOP_TAG)) {
		*why = "replay_event: IA32_PEBS_ENABLE bit 24 is 0: no uop is tagged";
		return false;
	}
	for (unsigned i = 0; i < COUNT_OF(metrics); i++)
		if (metrics[i].enable == enable && metrics[i].vert == p->netburst->matrix_vert) {
			if (!detected(p, metrics[i].beside)) {
				*why = metrics[i].beside->why;
				return false;
			}
			listen(t, metrics[i].signals, metrics[i].signal_count);
			return true;
		}
	*why = "replay_event: IA32_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT are no metric";
	return false;
}

/* Uops tagged by an upstream ESCR. */
static bool front_end(const struct counters *p, struct tap *t, const char **why)
{
	bool any = false;
	for (unsigned n = 0; n < 2 && !any; n++) {
		uint32_t escr = p->netburst->escr[UNIT_RAT + n - NETBURST_SIM_ESCR];
		for (unsigned i = 0; escr & ESCR_TAG && i < p->m->events->count; i++) {
			const struct sim_event *e = &p->m->events->rows[i];
			if (e->unit == UNIT_RAT && e->select == (escr >> 25 & 0x3F) && escr >> (9 + e->umask) & 1) {
				listen(t, e->signals, e->signal_count);
				any = true;
			}
		}
		if (any)
			t->from &= (uint8_t)netburst_sim_threads(escr);
	}
	*why = !any ? "front_end_event: no ESCR tags uops" : t->from ? NULL :
		"front_end_event: the threads whose uops are tagged are not those that are counted";
	return any && t->from;
}

/* The signals of a mask of a unit's event; false with *why: not in the map, or known by name only. */
static bool detect(const struct event_map *map, uint32_t at, uint32_t select, uint32_t mask, struct tap *t, const char **why)
{
	unsigned found = 0;
	for (unsigned i = 0; i < map->count; i++) {
		const struct sim_event *e = &map->rows[i];
		if (e->unit != (at & ~1u) || e->select != select || !(mask >> e->umask & 1))
			continue;
		if (e->flags & EVENT_UNMODELLED) {
			*why = e->name;
			return false;
		}
		listen(t, e->signals, e->signal_count);
		found |= 1u << e->umask;
	}
	if (!mask || found != mask)
		*why = "no event of this code and mask is in the machine's map: counts nothing";
	return mask && found == mask;
}

bool netburst_sim_counts(const struct machine *m, uint32_t escr_msr, uint32_t escr)
{
	struct tap t = { .on = true };
	const char *why = NULL;
	const uint32_t select = escr >> 25 & 0x3F, mask = escr >> 9 & 0xFFFF;
	if (netburst_sim_is_bus(escr_msr, escr))
		return netburst_sim_bus(m, escr_msr, escr, &t, &why);
	if ((escr_msr & ~1u) == UNIT_CRU2 && (select == 0x06 || select == 0x0C)) /* at retirement: netburst_retired.c */
		return mask && !(mask & ~15u);
	if ((escr_msr & ~1u) == UNIT_CRU2 && (select == 0x08 || select == 0x09))
		return mask == 1;
	return detect(m->events, escr_msr, select, mask, &t, &why);
}

/* States of a core's threads (bit 0: the first is awake, bit 1: the second) in which a CCCR counts: no thread active, a
 * single one, both, any (SDM: "active thread"). */
static const uint8_t active[4] = { 1 << 0, 1 << 1 | 1 << 2, 1 << 3, 1 << 1 | 1 << 2 | 1 << 3 };

/* SDM table of thread-independent events: page walks, data on the bus. Their counts belong to no thread. */
static bool independent(uint32_t at, uint32_t select)
{
	return ((at & ~1u) == UNIT_PMH && select == 0x01) || ((at & ~1u) == UNIT_FSB && select == 0x17);
}

/* On a core of two threads: where the tap of counter c is, and which thread it subscribes to and when. What belongs to one
 * thread and counts whenever that is awake is a tap of the thread; all that depends on the cycle is a tap of the pair. */
static uint8_t home_of(struct tap *t, uint32_t cccr, bool condition)
{
	const unsigned mode = cccr >> 16 & 3;
	if (condition && !t->cmask)
		t->cmask = t->from == 3 ? 1 : 0;
	if (mode == 3 && t->from != 3 && !t->inv) {
		const uint8_t own = t->from == 2;
		t->from = 0;
		return own;
	}
	t->awake = active[mode];
	return 2;
}

/* Why the ESCR at an address detects nothing of the threads that exist, at CPL 0. */
static const char *no_thread(const struct counters *p, uint32_t at, unsigned exist, enum finding_kind *kind)
{
	const uint32_t escr = p->netburst->escr[at - NETBURST_SIM_ESCR];
	const unsigned users = (escr & ESCR_T0_USR ? 1 : 0) | (escr & ESCR_T1_USR ? 2 : 0);
	if (!escr && p->netburst->escr[(at ^ 1) - NETBURST_SIM_ESCR])
		return "the other ESCR of this pair is programmed: this counter reads the one that is 0";
	if (users & exist) {
		*kind = FIND_SIMULATOR;
		return "all code of the simulated machine runs at CPL 0: without T0_OS or T1_OS nothing is counted here";
	}
	return exist == 1 ? "without T0_OS and T0_USR nothing is counted" : "without T0_OS, T0_USR, T1_OS and T1_USR nothing is counted";
}

/* What counter c subscribes to. false: nothing; *why explains it if it is worth a finding. */
static bool wanted(struct counters *p, unsigned c, struct tap *t, enum finding_kind *kind, const char **why)
{
	uint32_t cccr = p->netburst->cccr[c], at = netburst_sim_escr_of(c, cccr);
	*kind = FIND_IGNORED;
	*t = (struct tap){ .on = true };
	if (!(cccr & CCCR_ENABLE)) {
		return false; /* with CASCADE, another counter's overflow enables it */
	}
	if (c == 1) {
		*why = "the enable bit of CCCR 1 does not work: counter 1 stands still";
		return false;
	}
	if ((cccr >> 16 & 3) != 3 && !p->netburst->home[2]) {
		*why = "active threads: without Hyper-Threading they must be 3, any";
		return false;
	}
	if (!at) {
		*kind = FIND_WRONG_COUNTER;
		*why = "no ESCR stands behind this select of this counter";
		return false;
	}
	uint32_t escr = p->netburst->escr[at - NETBURST_SIM_ESCR], select = escr >> 25 & 0x3F, mask = escr >> 9 & 0xFFFF;
	const unsigned exist = p->netburst->home[2] ? 3 : 1;
	t->from = (uint8_t)(netburst_sim_threads(escr) & exist);
	if (!t->from) {
		*why = no_thread(p, at, exist, kind);
		return false;
	}
	if (independent(at, select))
		t->from = (uint8_t)exist;
	*kind = FIND_UNMODELLED;
	*why = netburst_sim_not_by_retirement(p, c);
	if (netburst_sim_by_retirement(p, c)) {
		struct tap known = { .on = true };
		*why = NULL;
		*kind = FIND_IGNORED;
		if ((at & ~1u) == UNIT_CRU2 && select == 0x09 && !replays(p, &known, why))
			return false;
		t->on = false;
		return true;
	}
	if (*why && (cccr >> 16 & 3) != 3)
		return false;
	if (!*why)
		*kind = FIND_IGNORED;
	if ((at & ~1u) == UNIT_CRU2 && (select == 0x09 || select == 0x08)) {
		if (mask != 1) {
			*kind = FIND_UNMODELLED;
			*why = "tagged uops that never retire";
			return false;
		}
		if (!(select == 0x09 ? replays(p, t, why) : front_end(p, t, why))) {
			*kind = FIND_IGNORED;
			return false;
		}
	} else if (netburst_sim_is_bus(at, escr)) {
		*why = netburst_sim_bus_misuse(p, at);
		if (*why)
			return false;
		*kind = FIND_UNMODELLED;
		if (!netburst_sim_bus(p->m, at, escr, t, why))
			return false;
	} else if (!detect(p->m->events, at, select, mask, t, why)) {
		*kind = FIND_UNMODELLED;
		return false;
	}
	if (!(cccr & CCCR_COMPARE) && cccr & (CCCR_EDGE | CCCR_COMPLEMENT)) {
		*kind = FIND_IGNORED; /* and it counts as if they were 0 */
		*why = "edge or complement without compare: they act on the comparison's result";
	}
	if (cccr & CCCR_COMPARE) {
		t->cmask = (uint8_t)((cccr >> 20 & 15) + 1); /* above the threshold; with complement not above it */
		t->inv = (cccr & CCCR_COMPLEMENT) != 0;
		t->edge = (cccr & CCCR_EDGE) != 0;
	}
	bool condition = !netburst_sim_is_bus(at, escr);
	for (unsigned s = 0; s < SIG_COUNT; s++)
		condition = condition && (!(t->listen[s / 64] >> s % 64 & 1) || is_condition[s]);
	p->netburst->counter[c].home = exist == 3 ? home_of(t, cccr, condition) : 0;
	if (exist == 1)
		t->from = 0;
	return true;
}

/* Sets the tap of counter c as the registers say; its value continues. */
static void program(struct counters *p, unsigned c, struct sim_finding *f, uint32_t address, uint64_t value)
{
	struct tap t;
	enum finding_kind kind;
	const char *why = NULL;
	uint64_t now = count(p, c);
	const uint8_t was = p->netburst->counter[c].home;
	bool on = wanted(p, c, &t, &kind, &why);
	netburst_sim_tell(p, c, f, address, value, kind, why);
	p->netburst->counter[c].base = now;
	p->netburst->counter[c].wraps = 0;
	p->netburst->counter[c].retired = on && !t.on;
	p->netburst->counter[c].tapped = on && t.on;
	if (was != p->netburst->counter[c].home)
		signals_tap(p->netburst->home[was], c, NULL);
	signals_tap(p->netburst->home[p->netburst->counter[c].home], c, on && t.on ? &t : NULL);
}

void netburst_sim_program(struct counters *p, unsigned c)
{
	program(p, c, NULL, 0, 0);
}

static void program_all(struct counters *p, struct sim_finding *f, uint32_t address, uint64_t value)
{
	for (unsigned c = 0; c < NETBURST_SIM_COUNTERS; c++)
		program(p, c, f, address, value);
}

/* ---- registers ------------------------------------------------------------------------------ */

static bool in(uint32_t msr, uint32_t first, uint32_t n)
{
	return msr >= first && msr - first < n;
}

/* IA32_PEBS_ENABLE of this thread as thread 0 has it, or the reverse: bits 25 and 26 are "my" and "the other thread's" records. */
static uint32_t as_seen(const struct counters *p, uint32_t enable)
{
	const uint32_t both = PEBS_T0 | PEBS_T0 << 1;
	return netburst_sim_own(p) ? (enable & ~both) | (enable >> 1 & PEBS_T0) | (enable & PEBS_T0) << 1 : enable;
}

enum status netburst_sim_read(struct counters *p, uint32_t msr, uint64_t *value)
{
	for (unsigned c = 0; c < NETBURST_SIM_COUNTERS; c++)
		(void)count(p, c);
	if (in(msr, COUNTER_0, NETBURST_SIM_COUNTERS))
		*value = count(p, msr - COUNTER_0);
	else if (in(msr, CCCR_0, NETBURST_SIM_COUNTERS))
		*value = p->netburst->cccr[msr - CCCR_0];
	else if (in(msr, NETBURST_SIM_ESCR, NETBURST_SIM_ESCRS) && escr_exists(msr))
		*value = p->netburst->escr[msr - NETBURST_SIM_ESCR];
	else if (msr == PEBS_ENABLE)
		*value = as_seen(p, p->netburst->pebs_enable);
	else if (msr == MATRIX_VERT)
		*value = p->netburst->matrix_vert;
	else
		return ST_MISSING;
	return ST_OK;
}

static enum status reserved(struct counters *p, struct sim_finding *f, uint32_t msr, uint64_t bits, const char *why)
{
	find(p, f, FIND_RESERVED, msr, bits, why);
	return ST_FAULT;
}

/* Erratum N15: a counter may ignore a write; here it always ignores the first and takes the second of the same value, and
 * says so when the counter is used after one. */
static void write_counter(struct counters *p, unsigned c, uint64_t value, struct sim_finding *f)
{
	if (!p->netburst->counter[c].written || p->netburst->counter[c].pending != value) {
		p->netburst->counter[c].written = true;
		p->netburst->counter[c].pending = value;
		p->netburst->counter[c].told_once = false;
		return;
	}
	p->netburst->counter[c].written = false;
	p->netburst->counter[c].base = value & mask_of(COUNTER_BITS);
	p->netburst->counter[c].tapped = false;
	p->netburst->counter[c].armed = p->netburst->counter[c].next = false;
	program(p, c, f, COUNTER_0 + c, value);
}

enum status netburst_sim_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	if (in(msr, COUNTER_0, NETBURST_SIM_COUNTERS)) {
		if (value >> COUNTER_BITS)
			find(p, f, FIND_IGNORED, msr, value, "counters have 40 bits");
		write_counter(p, msr - COUNTER_0, value, f);
		return ST_OK;
	}
	if (in(msr, CCCR_0, NETBURST_SIM_COUNTERS)) {
		if (value & ~(uint64_t)(uint32_t)~CCCR_RESERVED)
			return reserved(p, f, msr, value & ~(uint64_t)(uint32_t)~CCCR_RESERVED, "CCCR: reserved bits");
		(void)count(p, msr - CCCR_0);
		netburst_sim_lint_control(p, msr - CCCR_0, (uint32_t)value);
		p->netburst->cccr[msr - CCCR_0] = (uint32_t)value;
	} else if (in(msr, NETBURST_SIM_ESCR, NETBURST_SIM_ESCRS) && escr_exists(msr)) {
		if (value & ~(uint64_t)(uint32_t)~ESCR_RESERVED)
			return reserved(p, f, msr, value & ~(uint64_t)(uint32_t)~ESCR_RESERVED, "ESCR: reserved bits");
		netburst_sim_lint_select(p, msr, (uint32_t)value);
		p->netburst->escr[msr - NETBURST_SIM_ESCR] = (uint32_t)value;
	} else if (msr == PEBS_ENABLE) {
		if (value & ~(uint64_t)PEBS_BITS)
			return reserved(p, f, msr, value & ~(uint64_t)PEBS_BITS, "IA32_PEBS_ENABLE: reserved bits");
		if (value >> 26 & 1 && !p->netburst->home[2])
			find(p, f, FIND_UNMODELLED, msr, value, "PEBS records of the other thread");
		p->netburst->pebs_enable = as_seen(p, (uint32_t)value);
	} else if (msr == MATRIX_VERT) {
		if (value & ~0x1Full)
			return reserved(p, f, msr, value & ~0x1Full, "MSR_PEBS_MATRIX_VERT: reserved bits");
		p->netburst->matrix_vert = (uint32_t)value;
	} else {
		return ST_MISSING;
	}
	program_all(p, f, msr, value);
	return ST_OK;
}

enum status netburst_sim_rdpmc(struct counters *p, uint32_t index, uint64_t *value)
{
	index &= ~(1u << 31); /* the fast read of the low half: not faster here */
	if (index >= NETBURST_SIM_COUNTERS)
		return ST_FAULT;
	*value = count(p, index);
	return ST_OK;
}
