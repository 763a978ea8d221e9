/* pmu/sim/counters/counter.c: general and fixed counters of one hardware thread and their global registers.
 *
 * Register layouts: SDM volume 3, chapters "Performance Monitoring" and "MSRs" (2016). All code of the simulated machine
 * runs at CPL 0, so a counter without the OS bit counts nothing.
 *
 * Not modelled: performance-monitoring interrupts (the local APIC's entry is assumed to be masked, so the freeze bits of
 * DEBUGCTL never act), pin control, AnyThread when two threads share a core, TSX filters, the uncertainty of counts at
 * enable and disable. */
#include "pmu/sim/counters/counter_state.h"
#include "pmu/text.h"

#define MSR_PMC0            0x0C1
#define MSR_PERFEVTSEL0     0x186
#define MSR_FIXED_CTR0      0x309
#define MSR_FIXED_CTR_CTRL  0x38D
#define MSR_GLOBAL_STATUS   0x38E
#define MSR_GLOBAL_CTRL     0x38F
#define MSR_GLOBAL_OVF_CTRL 0x390
#define MSR_GLOBAL_SET      0x391 /* architectural version 4 and later; Nehalem has uncore registers there */
#define MSR_GLOBAL_INUSE    0x392
#define MSR_A_PMC0          0x4C1

#define SEL_OS   (1u << 17)
#define SEL_EDGE (1u << 18)
#define SEL_ANY  (1u << 21)
#define SEL_EN   (1u << 22)
#define SEL_INV  (1u << 23)

#define STATUS_OVFBUF  (1ull << 62)
#define STATUS_CHANGED (1ull << 63)

size_t counters_bytes(const struct machine *m)
{
	(void)m;
	return sizeof(struct counters);
}

static uint64_t general_mask(const struct counters *p)
{
	return mask_of(p->m->pmu_general);
}

static uint64_t enable_mask(const struct counters *p)
{
	return general_mask(p) | mask_of(p->m->pmu_fixed) << 32;
}

/* Tap numbers: fixed counters first, then general ones. */
static unsigned general_tap(const struct counters *p, unsigned n)
{
	return (unsigned)p->m->pmu_fixed + n;
}

/* Where a counter's tap is, and its number there: of the taps that two threads of a core share, each has half. */
static struct signals *tap_home(const struct counters *p, const struct counter *c, unsigned *tap)
{
	if (!c->any)
		return p->signals;
	*tap += p->thread % 2 * (TAPS_MAX / 2);
	return p->both;
}

/* ---- values --------------------------------------------------------------------------------- */

static void sync_one(struct counters *p, struct counter *c, unsigned tap, uint64_t width, unsigned status_bit)
{
	if (!c->tapped)
		return;
	struct signals *home = tap_home(p, c, &tap);
	uint64_t n = signals_tap_get(home, tap)->value;
	if (c->unit == UNIT_TSC)
		n = counters_ticks(p, c->start_cycle + n) - counters_ticks(p, c->start_cycle);
	else if (c->unit == UNIT_BUS)
		n /= p->m->clock_core_ratio;
	uint64_t total = c->base + counters_scale(n, c->thousandths, 1000);
	uint64_t wraps = width < 64 ? total >> width : 0;
	if (wraps > c->wraps)
		p->global_status |= 1ull << status_bit;
	c->wraps = wraps;
}

void counters_sync(struct counters *p)
{
	for (unsigned i = 0; i < p->m->pmu_fixed; i++)
		sync_one(p, &p->fixed[i], i, p->m->pmu_fixed_width, 32 + i);
	for (unsigned n = 0; n < p->m->pmu_general; n++)
		sync_one(p, &p->general[n], general_tap(p, n), p->m->pmu_width, n);
}

static uint64_t value_of(const struct counters *p, const struct counter *c, unsigned tap, uint64_t width)
{
	struct signals *home = tap_home(p, c, &tap);
	uint64_t n = c->tapped ? signals_tap_get(home, tap)->value : 0;
	if (c->unit == UNIT_TSC)
		n = counters_ticks(p, c->start_cycle + n) - counters_ticks(p, c->start_cycle);
	else if (c->unit == UNIT_BUS)
		n /= p->m->clock_core_ratio;
	return (c->base + counters_scale(n, c->thousandths, 1000)) & mask_of(width);
}

static uint64_t general_value(const struct counters *p, unsigned n)
{
	return value_of(p, &p->general[n], general_tap(p, n), p->m->pmu_width);
}

static uint64_t fixed_value(const struct counters *p, unsigned i)
{
	return value_of(p, &p->fixed[i], i, p->m->pmu_fixed_width);
}

/* ---- programming ---------------------------------------------------------------------------- */

/* Replaces a tap; the counter's value continues. */
static void set_tap(struct counters *p, struct counter *c, unsigned number, uint64_t value, const struct tap *tap, bool any)
{
	unsigned at = number;
	if (c->any != any)
		signals_tap(tap_home(p, c, &at), at, NULL);
	c->any = any;
	at = number;
	struct signals *home = tap_home(p, c, &at);
	c->base = value;
	c->wraps = 0;
	c->start_cycle = counters_now(p) - p->halted;
	c->tapped = tap != NULL;
	signals_tap(home, at, tap);
}

static void listen(struct tap *t, unsigned sig)
{
	t->listen[sig / 64] |= 1ull << sig % 64;
}

static void program_fixed(struct counters *p, unsigned i)
{
	struct counter *c = &p->fixed[i];
	uint64_t value = fixed_value(p, i);
	bool on = (p->fixed_ctrl >> 4 * i & 1) && (p->global_ctrl >> (32 + i) & 1) && i < 3;
	struct tap t = { .on = true };
	c->unit = i == 2 ? UNIT_TSC : UNIT_ONE;
	listen(&t, i == 0 ? SIG_INSTRUCTIONS_RETIRED : SIG_CYCLES);
	set_tap(p, c, i, value, on ? &t : NULL, false);
}

/* The four selectors of AAK100's start-up sequence, as the Linux driver writes them. */
static const uint32_t start_selectors[4] = { 0x4300B5, 0x4300D2, 0x4300B1, 0x4300B1 };

static bool is_start_selector(const struct counters *p, unsigned n)
{
	return p->m->pmu_start_sequence && n < 4 && p->evtsel[n] == start_selectors[n];
}

/* No core retires more instructions or uops per cycle: "fewer than cmask" is then true in every cycle. */
#define RETIRED_MOST 15

/* What general counter n's selector asks for. false: it counts nothing; *why and *kind explain it if it is worth a finding. */
static bool select_tap(struct counters *p, unsigned n, struct tap *t, enum finding_kind *kind, const char **why)
{
	struct counter *c = &p->general[n];
	uint64_t sel = p->evtsel[n];
	const struct sim_event *rows[8];
	*why = NULL;
	c->precise = 0;
	c->tagged = c->by_retirement = c->every_cycle = false;
	c->unit = UNIT_ONE;
	*t = (struct tap){ .on = true, .cmask = (uint8_t)(sel >> 24), .inv = (sel & SEL_INV) != 0, .edge = (sel & SEL_EDGE) != 0 };
	if (!(sel & SEL_EN) || is_start_selector(p, n))
		return false;
	unsigned count = sim_event_find(p->m->events, (uint8_t)sel, (uint8_t)(sel >> 8), rows);
	if (!count) {
		*kind = FIND_UNMODELLED;
		*why = "no event of this code is in the machine's map: counts nothing";
		return false;
	}
	for (unsigned i = 0; i < count; i++) {
		const struct sim_event *e = rows[i];
		if (!(e->counters >> (n & 3) & 1)) {
			*kind = FIND_WRONG_COUNTER;
			*why = e->name;
			return false;
		}
		if (e->flags & EVENT_UNMODELLED) {
			*kind = FIND_UNMODELLED;
			*why = e->name;
			return false;
		}
		if (e->flags & EVENT_REQUESTS)
			sim_offcore_listen(e->signals[0], 0xFF, t->listen);
		else
			for (unsigned s = 0; s < e->signal_count; s++)
				listen(t, e->signals[s]);
		if (e->precise)
			c->precise |= 1ull << e->precise;
		if ((e->flags & EVENT_CYCLES) && !t->cmask)
			t->cmask = 1;
		if ((e->flags & EVENT_EXACTLY_64) && !t->cmask) {
			t->cmask = 64;
			t->exact = true;
		}
		if (e->flags & EVENT_BUS_CLOCK)
			c->unit = UNIT_BUS;
		if (e->flags & EVENT_TAGGED)
			c->tagged = true;
		if (e->flags & EVENT_RETIREMENT)
			c->by_retirement = true;
		if (e->flags & (EVENT_OFFCORE_0 | EVENT_OFFCORE_1)) {
			unsigned msr = e->flags & EVENT_OFFCORE_0 ? 0 : 1;
			if (!sim_offcore_signals(p->m, p->offcore[msr], t->listen)) {
				*kind = FIND_UNMODELLED;
				*why = "OFFCORE_RESPONSE asks for requests or responses that this model does not tell apart";
				return false;
			}
		}
	}
	if (!(sel & SEL_OS)) {
		*kind = FIND_IGNORED;
		*why = "all code runs at CPL 0: without the OS bit nothing is counted";
		return false;
	}
	if (c->tagged || c->by_retirement || counter_has_pebs(p, n)) {
		if (!c->precise) {
			*kind = FIND_IGNORED;
			*why = "PEBS on an event that is not precise: no record is ever written";
			return false;
		}
		c->every_cycle = t->inv && t->cmask > RETIRED_MOST && !t->edge && !(sel & SEL_ANY) && !c->tagged &&
			c->precise & (1ull << PRECISE_INSTRUCTIONS | 1ull << PRECISE_UOPS_UNFUSED | 1ull << PRECISE_UOPS_FUSED);
		if (!c->every_cycle && (t->cmask || t->inv || t->edge || (sel & SEL_ANY))) {
			*kind = FIND_UNMODELLED;
			*why = "cmask, inv, edge or AnyThread on a counter that counts retired instructions one by one (PEBS, load latency)";
			return false;
		}
	}
	return true;
}

static void program_general(struct counters *p, unsigned n, struct sim_finding *f, uint32_t address)
{
	struct counter *c = &p->general[n];
	uint64_t value = general_value(p, n);
	struct tap t;
	enum finding_kind kind = FIND_UNMODELLED;
	const char *why;
	bool good = select_tap(p, n, &t, &kind, &why);
	bool on = good && p->started && (p->m->pmu_version < 2 || (p->global_ctrl >> n & 1));
	if (why && address == MSR_PERFEVTSEL0 + n)
		find(p, f, kind, address, p->evtsel[n], why);
	c->thousandths = 1000;
	if (p->m->fault_overcount_event && (p->evtsel[n] & 0xFFFF) == p->m->fault_overcount_event)
		c->thousandths = (uint32_t)p->m->fault_overcount_thousandths;
	if (p->m->fault_counter_stuck == n + 1)
		c->thousandths = 0;
	c->retired = on && (c->tagged || c->by_retirement || counter_has_pebs(p, n));
	if (!c->retired)
		c->armed = false;
	set_tap(p, c, general_tap(p, n), value, on && !c->retired ? &t : NULL, on && p->both && (p->evtsel[n] & SEL_ANY));
}

void counters_program(struct counters *p, struct sim_finding *f, uint32_t address)
{
	counters_sync(p);
	for (unsigned i = 0; i < p->m->pmu_fixed; i++)
		program_fixed(p, i);
	for (unsigned n = 0; n < p->m->pmu_general; n++)
		program_general(p, n, f, address);
}

struct counters *counters_init(void *at, const struct machine *m, unsigned thread, struct signals *signals)
{
	struct counters *p = at;
	memset(p, 0, sizeof(*p));
	p->m = m;
	p->signals = signals;
	p->thread = thread;
	p->netburst = &p->netburst_own;
	p->netburst->home[0] = signals;
	p->netburst->thread[0] = p;
	p->tag_state = 1;
	/* After reset all general counters are enabled globally (SDM, IA32_PERF_GLOBAL_CTRL). */
	p->global_ctrl = m->pmu_version >= 2 ? general_mask(p) : 0;
	p->started = !m->pmu_start_sequence;
	if (m->fault_firmware_counting && m->pmu_version) {
		p->evtsel[0] = SEL_EN | SEL_OS | 1u << 16 | 0xC0; /* instructions retired */
		p->fixed_ctrl = m->pmu_fixed >= 2 ? 0x33 : 0;
		p->global_ctrl = enable_mask(p);
		p->started = true;
	}
	for (unsigned i = 0; i < FIXED_MAX; i++)
		p->fixed[i].thousandths = 1000;
	counter_msr_reset(p);
	counters_program(p, NULL, 0);
	return p;
}

void counters_pair(struct counters *p, struct counters *first, struct signals *both)
{
	p->both = both;
	if (both)
		netburst_sim_pair(p, first, both);
}

void counters_connect(struct counters *p, const struct counters_env *env)
{
	p->env = *env;
	counters_program(p, NULL, 0);
	counter_msr_prefetchers(p);
}

/* ---- registers ------------------------------------------------------------------------------ */

static bool in(uint32_t msr, uint32_t first, uint64_t n)
{
	return msr >= first && msr - first < n;
}

static enum status fault(struct counters *p, struct sim_finding *f, enum finding_kind kind, uint32_t msr,
                         uint64_t value, const char *why)
{
	find(p, f, kind, msr, value, why);
	return ST_FAULT;
}

static uint64_t inuse(const struct counters *p)
{
	uint64_t v = 0;
	for (unsigned n = 0; n < p->m->pmu_general; n++)
		v |= (uint64_t)((p->evtsel[n] & 0xFF) != 0) << n;
	for (unsigned i = 0; i < p->m->pmu_fixed; i++)
		v |= (uint64_t)((p->fixed_ctrl >> 4 * i & 3) != 0) << (32 + i);
	return v;
}

static enum status read_pmu(struct counters *p, uint32_t msr, uint64_t *value)
{
	const struct machine *m = p->m;
	if (netburst_sim(p))
		return netburst_sim_read(p, msr, value);
	if (!m->pmu_version)
		return ST_MISSING;
	if (in(msr, MSR_PMC0, m->pmu_general))
		*value = general_value(p, msr - MSR_PMC0);
	else if (m->pmu_full_width && in(msr, MSR_A_PMC0, m->pmu_general))
		*value = general_value(p, msr - MSR_A_PMC0);
	else if (in(msr, MSR_PERFEVTSEL0, m->pmu_general))
		*value = p->evtsel[msr - MSR_PERFEVTSEL0];
	else if (m->pmu_version < 2)
		return ST_MISSING;
	else if (in(msr, MSR_FIXED_CTR0, m->pmu_fixed))
		*value = fixed_value(p, msr - MSR_FIXED_CTR0);
	else if (msr == MSR_FIXED_CTR_CTRL)
		*value = p->fixed_ctrl;
	else if (msr == MSR_GLOBAL_STATUS)
		*value = p->global_status;
	else if (msr == MSR_GLOBAL_CTRL)
		*value = p->global_ctrl;
	else if (msr == MSR_GLOBAL_OVF_CTRL)
		*value = 0;
	else if (m->pmu_version >= 4 && msr == MSR_GLOBAL_SET)
		*value = 0;
	else if (m->pmu_version >= 4 && msr == MSR_GLOBAL_INUSE)
		*value = inuse(p);
	else
		return ST_MISSING;
	return ST_OK;
}

static enum status write_selector(struct counters *p, unsigned n, uint64_t value, struct sim_finding *f)
{
	uint64_t reserved = 0xFFFFFFFF00000000ull;
	if (p->m->pmu_version < 3 || p->m->pmu_version >= 5)
		reserved |= SEL_ANY;
	if (value & reserved)
		return fault(p, f, FIND_RESERVED, MSR_PERFEVTSEL0 + n, value & reserved, "PERFEVTSEL: reserved bits raise #GP");
	p->evtsel[n] = value;
	counters_program(p, f, MSR_PERFEVTSEL0 + n);
	return ST_OK;
}

static enum status write_global(struct counters *p, uint64_t value, struct sim_finding *f)
{
	const struct machine *m = p->m;
	if (value & ~enable_mask(p))
		return fault(p, f, FIND_RESERVED, MSR_GLOBAL_CTRL, value & ~enable_mask(p),
		             "GLOBAL_CTRL: a bit of a counter that does not exist raises #GP");
	if (counter_pebs_hangs(p, value))
		return fault(p, f, FIND_FAULT, MSR_GLOBAL_CTRL, value, "with a PEBS buffer beyond one page this write hangs: here it faults");
	if (!p->started) {
		bool selectors = true;
		const uint64_t four = general_mask(p) & 0xF; /* those that start; the others stay as they are */
		for (unsigned n = 0; n < 4 && n < m->pmu_general; n++)
			selectors = selectors && is_start_selector(p, n);
		if ((value & four) == four && !(value & ~general_mask(p)) && selectors && !p->pebs_enable)
			p->starting = true;
		else if (!(value & four) && p->starting)
			p->started = true;
		else
			p->starting = false;
		bool wanted = false;
		for (unsigned n = 0; n < m->pmu_general; n++)
			wanted |= (value >> n & 1) && (p->evtsel[n] & SEL_EN);
		if (wanted && !p->starting)
			find(p, f, FIND_NO_LATCH, MSR_GLOBAL_CTRL, value,
			     "general counters may not count before the start-up sequence of erratum AAK100: here they do not");
	}
	p->global_ctrl = value;
	counters_program(p, f, MSR_GLOBAL_CTRL);
	return ST_OK;
}

static enum status write_fixed_ctrl(struct counters *p, uint64_t value, struct sim_finding *f)
{
	uint64_t nibble = p->m->pmu_version >= 3 && p->m->pmu_version < 5 ? 0xF : 0xB, legal = 0;
	for (unsigned i = 0; i < p->m->pmu_fixed; i++)
		legal |= nibble << 4 * i;
	if (value & ~legal)
		return fault(p, f, FIND_RESERVED, MSR_FIXED_CTR_CTRL, value & ~legal, "FIXED_CTR_CTRL: reserved bits raise #GP");
	for (unsigned i = 0; i < p->m->pmu_fixed; i++)
		if ((value >> 4 * i & 3) == 2)
			find(p, f, FIND_IGNORED, MSR_FIXED_CTR_CTRL, value, "all code runs at CPL 0: without the OS bit nothing is counted");
	p->fixed_ctrl = value;
	counters_program(p, f, MSR_FIXED_CTR_CTRL);
	return ST_OK;
}

/* Bits of the status register that software can clear. */
static uint64_t status_mask(const struct counters *p)
{
	uint64_t v = enable_mask(p) | STATUS_OVFBUF | STATUS_CHANGED;
	if (p->m->pmu_version >= 3)
		v |= 1ull << 61; /* Ovf_Uncore */
	if (p->m->pmu_version >= 4)
		v |= 1ull << 55 | 7ull << 58; /* ToPA, LBR_Frz, CTR_Frz, ASCI */
	return v;
}

static enum status write_pmu(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	const struct machine *m = p->m;
	if (netburst_sim(p))
		return netburst_sim_write(p, msr, value, f);
	if (!m->pmu_version)
		return ST_MISSING;
	counters_sync(p);
	if (in(msr, MSR_PMC0, m->pmu_general)) {
		/* The legacy address takes 32 bits and sign-extends bit 31. */
		uint64_t extended = (uint64_t)(int64_t)(int32_t)(uint32_t)value & mask_of(m->pmu_width);
		if (value >> 32 && extended != (value & mask_of(m->pmu_width)))
			find(p, f, FIND_IGNORED, msr, value, "bits 63:32 are ignored: bit 31 is extended");
		p->general[msr - MSR_PMC0].base = extended;
		p->general[msr - MSR_PMC0].tapped = false;
		p->general[msr - MSR_PMC0].armed = false;
		counters_program(p, f, msr);
		return ST_OK;
	}
	if (m->pmu_full_width && in(msr, MSR_A_PMC0, m->pmu_general)) {
		if (value & ~mask_of(m->pmu_width))
			return fault(p, f, FIND_RESERVED, msr, value & ~mask_of(m->pmu_width), "bits beyond the counter's width raise #GP");
		p->general[msr - MSR_A_PMC0].base = value;
		p->general[msr - MSR_A_PMC0].tapped = false;
		p->general[msr - MSR_A_PMC0].armed = false;
		counters_program(p, f, msr);
		return ST_OK;
	}
	if (in(msr, MSR_PERFEVTSEL0, m->pmu_general))
		return write_selector(p, msr - MSR_PERFEVTSEL0, value, f);
	if (m->pmu_version < 2)
		return ST_MISSING;
	if (in(msr, MSR_FIXED_CTR0, m->pmu_fixed)) {
		if (value & ~mask_of(m->pmu_fixed_width))
			return fault(p, f, FIND_RESERVED, msr, value & ~mask_of(m->pmu_fixed_width), "bits beyond the counter's width raise #GP");
		p->fixed[msr - MSR_FIXED_CTR0].base = value;
		p->fixed[msr - MSR_FIXED_CTR0].tapped = false;
		counters_program(p, f, msr);
		return ST_OK;
	}
	switch (msr) {
	case MSR_FIXED_CTR_CTRL:
		return write_fixed_ctrl(p, value, f);
	case MSR_GLOBAL_CTRL:
		return write_global(p, value, f);
	case MSR_GLOBAL_STATUS:
		return fault(p, f, FIND_FAULT, msr, value, "GLOBAL_STATUS is read-only");
	case MSR_GLOBAL_OVF_CTRL:
		if (value & ~status_mask(p))
			return fault(p, f, FIND_RESERVED, msr, value & ~status_mask(p), "OVF_CTRL: reserved bits raise #GP");
		p->global_status &= ~value;
		return ST_OK;
	case MSR_GLOBAL_SET:
		if (m->pmu_version < 4)
			return ST_MISSING;
		if (value & ~(status_mask(p) & ~STATUS_CHANGED))
			return fault(p, f, FIND_RESERVED, msr, value & ~status_mask(p), "STATUS_SET: reserved bits raise #GP");
		p->global_status |= value;
		return ST_OK;
	case MSR_GLOBAL_INUSE:
		return m->pmu_version < 4 ? ST_MISSING : fault(p, f, FIND_FAULT, msr, value, "GLOBAL_INUSE is read-only");
	}
	return ST_MISSING;
}

/* A finding made while code ran is reported with the next access that has none. */
static void tell_late(struct counters *p, struct sim_finding *f)
{
	if (f && !f->why && p->late.why) {
		*f = p->late;
		p->late.why = NULL;
	}
}

enum status counters_rdmsr(struct counters *p, uint32_t msr, uint64_t *value, struct sim_finding *finding)
{
	if (finding)
		*finding = (struct sim_finding){ .thread = p->thread, .address = msr };
	if (p->m->fault_msr_missing && msr == p->m->fault_msr_missing)
		return fault(p, finding, FIND_FAULT, msr, 0, "missing on this machine (a fault it was given)");
	counters_sync(p);
	enum status st = read_pmu(p, msr, value);
	if (st == ST_MISSING)
		st = counter_pebs_read(p, msr, value);
	if (st == ST_MISSING)
		st = counter_msr_read(p, msr, value, finding);
	tell_late(p, finding);
	return st;
}

enum status counters_wrmsr(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *finding)
{
	if (finding)
		*finding = (struct sim_finding){ .thread = p->thread, .address = msr, .value = value };
	if (p->m->fault_msr_missing && msr == p->m->fault_msr_missing)
		return fault(p, finding, FIND_FAULT, msr, value, "missing on this machine (a fault it was given)");
	enum status st = write_pmu(p, msr, value, finding);
	if (st == ST_MISSING)
		st = counter_pebs_write(p, msr, value, finding);
	if (st == ST_MISSING)
		st = counter_msr_write(p, msr, value, finding);
	tell_late(p, finding);
	return st;
}

enum status counters_rdpmc(struct counters *p, uint32_t index, uint64_t *value)
{
	if (netburst_sim(p))
		return netburst_sim_rdpmc(p, index, value);
	if (!p->m->pmu_version)
		return ST_FAULT;
	counters_sync(p);
	if (index < p->m->pmu_general)
		*value = general_value(p, index);
	else if (p->m->pmu_version >= 2 && in(index, 0x40000000, p->m->pmu_fixed))
		*value = fixed_value(p, index - 0x40000000);
	else
		return ST_FAULT;
	return ST_OK;
}
