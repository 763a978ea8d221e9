/* pmu/sim/counters/counter.c: general and fixed counters of one hardware thread and their global registers.
 *
 * Register layouts: SDM volume 3, chapters "Performance Monitoring" and "MSRs" (2016). Code of the simulated machine
 * runs at CPL 0, or at CPL 3 after counters_user; a counter without the OS, or USR, bit counts nothing.
 *
 * Not modelled: performance-monitoring interrupts (the freeze that goes with one takes effect at the next access to the registers, that
 * of last-branch records at the next branch, not in the cycle of the overflow); pin control; AnyThread of fixed counters; TSX
 * filters; the uncertainty of counts at enable and disable. */
#include "pmu/sim/counters/counter_state.h"
#include "pmu/text.h"

#define DEBUGCTL_FREEZE_LBRS    (1u << 11)
#define DEBUGCTL_FREEZE_PERFMON (1u << 12)
#define STATUS_LBR_FRZ (1ull << 58)
#define STATUS_CTR_FRZ (1ull << 59)

#define SEL_USR  (1u << 16)
#define SEL_OS   (1u << 17)
#define SEL_EDGE (1u << 18)
#define SEL_ANY  (1u << 21)
#define SEL_INT  (1u << 20)
#define SEL_EN   (1u << 22)
#define SEL_INV  (1u << 23)

size_t counters_bytes(const struct machine *m)
{
	(void)m;
	return sizeof(struct counters);
}

uint64_t counter_general_mask(const struct counters *p)
{
	return mask_of(p->m->pmu_general);
}

uint64_t counter_enable_mask(const struct counters *p)
{
	return counter_general_mask(p) | mask_of(p->m->pmu_fixed) << 32 | (p->m->pmu_metrics ? 1ull << 48 : 0);
}

/* Tap numbers: fixed counters first, then general ones. */
static unsigned general_tap(const struct counters *p, unsigned n)
{
	return (unsigned)p->m->pmu_fixed + n;
}

/* The home of a counter's tap, and the tap's number there. Each of a core's two threads has half of the shared taps. */
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

bool counters_frozen(const struct counters *p) { return p->m->pmu_version >= 4 && (p->global_status & STATUS_CTR_FRZ); }
bool counters_lbr_frozen(const struct counters *p) { return p->m->pmu_version >= 4 && (p->global_status & STATUS_LBR_FRZ); }

/* Counters whose overflow requests an interrupt. */
static uint64_t interrupting(const struct counters *p)
{
	uint64_t mask = 0;
	for (unsigned i = 0; i < p->m->pmu_fixed; i++)
		mask |= (p->fixed_ctrl >> (4 * i + 3) & 1) << (32 + i);
	for (unsigned n = 0; n < p->m->pmu_general; n++)
		mask |= (uint64_t)((p->evtsel[n] & SEL_INT) != 0) << n;
	return mask;
}

/* FREEZE_PERFMON_ON_PMI and FREEZE_LBRS_ON_PMI: up to version 3 they clear the enable bits, later they set status bits (SDM
 * 17.4.1, 18.2.4). */
static void freeze(struct counters *p, uint64_t overflowed)
{
	const bool later = p->m->pmu_version >= 4;
	if (p->m->pmu_version < 2 || !(overflowed & interrupting(p)))
		return;
	if (p->debugctl & DEBUGCTL_FREEZE_LBRS) {
		p->global_status |= later ? STATUS_LBR_FRZ : 0;
		p->debugctl &= later ? ~0ull : ~1ull;
	}
	if (p->debugctl & DEBUGCTL_FREEZE_PERFMON) {
		p->global_status |= later ? STATUS_CTR_FRZ : 0;
		p->global_ctrl &= later ? ~0ull : 0;
		counters_program(p, NULL, 0);
	}
}

void counters_sync(struct counters *p)
{
	const uint64_t before = p->global_status;
	for (unsigned i = 0; i < p->m->pmu_fixed; i++)
		sync_one(p, &p->fixed[i], i, p->m->pmu_fixed_width, 32 + i);
	for (unsigned n = 0; n < p->m->pmu_general; n++)
		sync_one(p, &p->general[n], general_tap(p, n), p->m->pmu_width, n);
	if (p->global_status & ~before && p->debugctl & (DEBUGCTL_FREEZE_LBRS | DEBUGCTL_FREEZE_PERFMON))
		freeze(p, p->global_status & ~before);
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

uint64_t counter_general_value(const struct counters *p, unsigned n)
{
	return value_of(p, &p->general[n], general_tap(p, n), p->m->pmu_width);
}

uint64_t counter_fixed_value(const struct counters *p, unsigned i)
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

/* Fixed counter 3 counts slots: as many per cycle as uops can be allocated (SDM volume 3, TOPDOWN.SLOTS). */
#define FIXED_SLOTS 3
#define FIXED_KNOWN 4

static void program_fixed(struct counters *p, unsigned i)
{
	struct counter *c = &p->fixed[i];
	uint64_t value = counter_fixed_value(p, i);
	bool on = (p->fixed_ctrl >> (4 * i + p->user) & 1) && (p->global_ctrl >> (32 + i) & 1) && !counters_frozen(p) && i < FIXED_KNOWN;
	struct tap t = { .on = true };
	c->unit = i == 2 ? UNIT_TSC : UNIT_ONE;
	listen(&t, i == 0 ? SIG_INSTRUCTIONS_RETIRED : SIG_CYCLES);
	if (i == FIXED_SLOTS)
		c->thousandths = 1000 * (uint32_t)p->m->core_issue_width;
	set_tap(p, c, i, value, on ? &t : NULL, false);
}

/* The four selectors of AAK100's start-up sequence, as the Linux driver writes them. */
static const uint32_t start_selectors[4] = { 0x4300B5, 0x4300D2, 0x4300B1, 0x4300B1 };

bool counter_is_start_selector(const struct counters *p, unsigned n)
{
	return p->m->pmu_start_sequence && n < 4 && p->evtsel[n] == start_selectors[n];
}

/* An upper bound of the instructions or uops that retire per cycle (a fused uop counts as two): "fewer than a larger cmask" holds in every cycle. */
#define RETIRED_MOST 15
static uint64_t retired_most(const struct machine *m) { return 2 * m->core_retire_width < RETIRED_MOST ? 2 * m->core_retire_width : RETIRED_MOST; }

/* Whether a select counts code of the current kind (privilege level, transaction). */
static bool counts_code(const struct counters *p, uint64_t sel, enum finding_kind *kind, const char **why)
{
	if (!p->m->pmu_amd && (sel >> 32 & 1)) {
		*kind = FIND_SIMULATOR;
		*why = "IN_TX: the simulated machine runs no transactions, and counts nothing here";
		return false;
	}
	if (!(sel & (p->user ? SEL_USR : SEL_OS))) {
		*kind = sel & (SEL_USR | SEL_OS) ? FIND_SIMULATOR : FIND_IGNORED;
		*why = sel & SEL_USR ? "all code of the simulated machine runs at CPL 0: without the OS bit nothing is counted here" :
			sel & SEL_OS ? "all code of the simulated machine runs at CPL 3: without the USR bit nothing is counted here" :
			"neither USR nor OS: nothing is counted";
		return false;
	}
	return true;
}

/* Subscribes to the signals that another register selects for the event. Returns why it selects none, or NULL. */
static const char *listen_by_register(struct counters *p, const struct sim_event *e, struct tap *t)
{
	const unsigned msr = e->flags & EVENT_OFFCORE_0 ? 0 : 1;
	if ((e->flags & EVENT_FRONTEND) && !counter_frontend_listen(p, t->listen))
		return "MSR 0x3F7 selects a front-end cause that this model does not distinguish";
	if ((e->flags & (EVENT_OFFCORE_0 | EVENT_OFFCORE_1)) && !sim_offcore_signals(p->m, p->offcore[msr], t->listen))
		return "the off-core response selects requests or responses that this model does not distinguish";
	return NULL;
}

/* *t: the tap that general counter n's selector requests. False: it counts nothing; *why and *kind explain it if it is worth a finding. */
static bool select_tap(struct counters *p, unsigned n, struct tap *t, enum finding_kind *kind, const char **why)
{
	struct counter *c = &p->general[n];
	uint64_t sel = p->evtsel[n];
	const struct sim_event *rows[EVENT_ROWS];
	*why = NULL;
	c->precise = 0;
	c->tagged = c->by_retirement = c->every_cycle = false;
	c->unit = UNIT_ONE;
	*t = (struct tap){ .on = true, .cmask = (uint8_t)(sel >> 24), .inv = (sel & SEL_INV) != 0, .edge = (sel & SEL_EDGE) != 0 };
	if (!(sel & SEL_EN) || counter_is_start_selector(p, n))
		return false;
	unsigned count = sim_event_find(p->m->events, sim_event_select(p->m, sel), sim_event_umask(p->m, sel), rows);
	if (!count) {
		*kind = FIND_UNMODELLED;
		*why = "no event of this code is in the machine's map: counts nothing";
		return false;
	}
	for (unsigned i = 0; i < count; i++) {
		const struct sim_event *e = rows[i];
		if (!(e->counters >> (p->m->pmu_version >= 5 ? n & 7 : n & 3) & 1)) {
			*kind = FIND_WRONG_COUNTER;
			*why = "this counter cannot count the event";
			return false;
		}
		if (e->flags & EVENT_UNMODELLED) {
			*kind = FIND_UNMODELLED;
			*why = "known by name only: this model has no such signal";
			return false;
		}
		if (e->flags & EVENT_REQUESTS)
			sim_offcore_listen(e->signals[0], OFFCORE_RESPONSES_ANY, t->listen);
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
		if (e->flags & EVENT_TSC_CLOCK)
			c->unit = UNIT_TSC;
		if (e->flags & EVENT_TAGGED)
			c->tagged = true;
		if (e->flags & EVENT_RETIREMENT)
			c->by_retirement = true;
		if ((*why = listen_by_register(p, e, t)) != NULL) {
			*kind = FIND_UNMODELLED;
			return false;
		}
	}
	if (!counts_code(p, sel, kind, why))
		return false;
	if (c->tagged || c->by_retirement || counter_has_pebs(p, n)) {
		if (!c->precise) {
			*kind = FIND_UNMODELLED;
			*why = rows[0]->flags & EVENT_PRECISE ? "records of this event: no instruction's condition is known for it" : NULL; /* else counter_lint reports it */
			return false;
		}
		c->every_cycle = t->inv && t->cmask > retired_most(p->m) && !t->edge && !(sel & SEL_ANY) && !c->tagged &&
			c->precise & (1ull << PRECISE_INSTRUCTIONS | 1ull << PRECISE_UOPS_UNFUSED | 1ull << PRECISE_UOPS_FUSED);
		if (!c->every_cycle && (t->cmask || t->inv || t->edge || (sel & SEL_ANY))) {
			*kind = FIND_UNMODELLED;
			if (!c->tagged && !counter_has_pebs(p, n)) /* else counter_lint reports it */
				*why = "cmask, inv, edge or AnyThread on a counter that counts retired instructions one by one";
			return false;
		}
	}
	return true;
}

/* Whether the counter's event is known for each instruction while another counter samples: then the order of their overflows matters. */
static bool counts_beside_samples(const struct counters *p, unsigned n, const struct tap *t)
{
	bool samples = false;
	for (unsigned i = 0; i < p->m->pmu_general; i++)
		samples = samples || (counter_has_pebs(p, i) && p->global_ctrl >> i & 1);
	return samples && p->general[n].precise && !t->cmask && !t->inv && !t->edge && !(p->evtsel[n] & SEL_ANY);
}

static void program_general(struct counters *p, unsigned n, struct sim_finding *f, uint32_t address)
{
	struct counter *c = &p->general[n];
	uint64_t value = counter_general_value(p, n);
	struct tap t;
	enum finding_kind kind = FIND_UNMODELLED;
	const char *why;
	bool good = select_tap(p, n, &t, &kind, &why);
	bool on = good && p->started && (p->m->pmu_version < 2 || (p->global_ctrl >> n & 1)) && !counters_frozen(p);
	/* Reported when the select is written and, if it counts wrongly on any machine, once more when the counter goes live with it. */
	const bool live = (p->evtsel[n] & SEL_EN) && (p->m->pmu_version < 2 || (p->global_ctrl >> n & 1)), here = address == counter_selector(p, n);
	if (f && why && (here || (live && why != c->told && kind != FIND_UNMODELLED && kind != FIND_SIMULATOR))) {
		struct sim_finding one = { .kind = kind, .thread = p->thread, .address = address, .value = p->evtsel[n], .why = why,
			.event = counter_event_name(p, p->evtsel[n]), .clash = here ? 0 : counter_selector(p, n),
			.cite = kind == FIND_WRONG_COUNTER ? "SDM 19, events of the processor" : "SDM 18.2.1.1" };
		sim_finding_where(&one, "counter", n);
		sim_finding_add(f, &one);
	}
	if (f && live)
		c->told = why;
	c->thousandths = 1000;
	if (p->m->fault_overcount_event && sim_event_code(p->m, p->evtsel[n]) == p->m->fault_overcount_event)
		c->thousandths = (uint32_t)p->m->fault_overcount_thousandths;
	if (p->m->fault_counter_stuck == n + 1 || (n == 3 && p->m->pmu_tsx_counter && !(p->tsx_force_abort & 1)))
		c->thousandths = 0;
	c->retired = on && (c->tagged || c->by_retirement || counter_has_pebs(p, n) || counts_beside_samples(p, n, &t));
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
	counter_metrics_program(p);
}

struct counters *counters_init(void *at, const struct machine *m, unsigned thread, struct signals *signals)
{
	struct counters *p = at;
	memset(p, 0, sizeof(*p));
	p->lbr_depth = m->pmu_lbr_pairs;
	p->m = m;
	p->signals = signals;
	p->thread = thread;
	p->first = p;
	p->netburst = &p->netburst_own;
	p->netburst->home[0] = signals;
	p->netburst->thread[0] = p;
	p->tag_state = 1;
	/* After reset all general counters are enabled globally (SDM, IA32_PERF_GLOBAL_CTRL). AMD's manual states no value; here it is 0. */
	p->global_ctrl = m->pmu_version >= 2 && !m->pmu_amd ? counter_general_mask(p) : 0;
	p->started = !m->pmu_start_sequence;
	if (m->fault_firmware_counting && m->pmu_version) {
		p->evtsel[0] = SEL_EN | SEL_OS | 1u << 16 | 0xC0; /* instructions retired */
		p->fixed_ctrl = m->pmu_fixed >= 2 ? 0x33 : 0;
		p->global_ctrl = counter_enable_mask(p);
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
	p->first = first;
	if (both)
		netburst_sim_pair(p, first, both);
}

void counters_user(struct counters *p, bool user)
{
	p->user = user;
	counters_program(p, NULL, 0);
}

void counters_connect(struct counters *p, const struct counters_env *env)
{
	p->env = *env;
	counters_program(p, NULL, 0);
	counter_msr_prefetchers(p);
}
