/* pmu/sim/counters/netburst.c: registers and counts of NetBurst's performance monitoring; netburst.h states what is not
 * modelled.
 *
 * Sources: SDM volume 3, performance monitoring of the Pentium 4: layouts of ESCR and CCCR, and the table of counters with
 * the ESCR that each value of a CCCR's ESCR select stands for; Sprunt 2002 for threshold, complement and edge; Linux p4.c
 * for counter 1 and erratum N15 (facts only). */
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

/* States of a core's threads (bit 0: the first is awake, bit 1: the second) in which a CCCR counts: no thread active, a
 * single one, both, any (SDM: "active thread"). */
static const uint8_t active[4] = { 1 << 0, 1 << 1 | 1 << 2, 1 << 3, 1 << 1 | 1 << 2 | 1 << 3 };

/* For a core of two threads: returns the home of a counter's tap, and sets the threads that it subscribes to, and when. A counter of
 * one thread that counts whenever that is awake has a tap of the thread; any other, which depends on the cycle, one of the pair. */
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

/* Why the ESCR at an address detects nothing of the existing threads at CPL 0. */
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
		*why = "this select of this counter has no ESCR";
		return false;
	}
	const uint32_t escr = p->netburst->escr[at - NETBURST_SIM_ESCR];
	const unsigned exist = p->netburst->home[2] ? 3 : 1;
	t->from = (uint8_t)(netburst_sim_threads(escr) & exist);
	if (!t->from) {
		*why = no_thread(p, at, exist, kind);
		return false;
	}
	const uint32_t kinds = netburst_detect_kinds(p->m, at, escr);
	if (kinds & EVENT_INDEPENDENT)
		t->from = (uint8_t)exist;
	*kind = FIND_UNMODELLED;
	*why = netburst_sim_not_by_retirement(p, c);
	if (netburst_sim_by_retirement(p, c)) {
		*why = netburst_detect_misuse(p, at);
		*kind = FIND_IGNORED;
		t->on = false;
		return !*why;
	}
	if (*why && (cccr >> 16 & 3) != 3)
		return false;
	if (!*why)
		*kind = FIND_IGNORED;
	if (!netburst_detect(p, at, t, kind, why))
		return false;
	if (!(cccr & CCCR_COMPARE) && cccr & (CCCR_EDGE | CCCR_COMPLEMENT)) {
		*kind = FIND_IGNORED; /* and it counts as if they were 0 */
		*why = "edge or complement without compare: they act on the comparison's result";
	}
	if (cccr & CCCR_COMPARE) {
		t->cmask = (uint8_t)((cccr >> 20 & 15) + 1); /* above the threshold; with complement not above it */
		t->inv = (cccr & CCCR_COMPLEMENT) != 0;
		t->edge = (cccr & CCCR_EDGE) != 0;
	}
	bool condition = !(kinds & EVENT_FILTER);
	for (unsigned s = 0; s < SIG_COUNT; s++)
		condition = condition && (!(t->listen[s / 64] >> s % 64 & 1) || is_condition[s]);
	p->netburst->counter[c].home = exist == 3 ? home_of(t, cccr, condition) : 0;
	if (exist == 1)
		t->from = 0;
	return true;
}

/* Sets the tap of counter c from the registers; its value continues. */
static void program(struct counters *p, unsigned c, struct sim_finding *f, uint32_t address, uint64_t value)
{
	struct tap t;
	enum finding_kind kind;
	const char *why = NULL;
	uint64_t now = count(p, c);
	const uint8_t was = p->netburst->counter[c].home;
	bool on = wanted(p, c, &t, &kind, &why);
	netburst_sim_report(p, c, f, address, value, kind, why);
	p->netburst->counter[c].base = now;
	p->netburst->counter[c].wraps = 0;
	p->netburst->counter[c].retired = on && !t.on;
	if (on && !t.on) {
		const uint32_t at = netburst_sim_escr_of(c, p->netburst->cccr[c]);
		p->netburst->counter[c].kinds = netburst_detect_kinds(p->m, at, p->netburst->escr[at - NETBURST_SIM_ESCR]);
		p->netburst->counter[c].conditions = netburst_detect_conditions(p, at);
	}
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
	netburst_detect_tags(p);
	for (unsigned c = 0; c < NETBURST_SIM_COUNTERS; c++)
		program(p, c, f, address, value);
}

/* ---- registers ------------------------------------------------------------------------------ */

static bool in(uint32_t msr, uint32_t first, uint32_t n)
{
	return msr >= first && msr - first < n;
}

/* Converts IA32_PEBS_ENABLE between this thread's view and thread 0's: bits 25 and 26 are "my" and "the other thread's" records. */
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

/* Erratum N15: a counter may ignore a write; here it always ignores the first and takes the second of the same value. The use
 * of a counter after one write is reported. */
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
