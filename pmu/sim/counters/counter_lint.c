/* pmu/sim/counters/counter_lint.c: mistakes that involve several registers of a thread.
 *
 * Every write is followed by a check. A mistake is reported once, at the write that makes a counter live with it, in whatever order the registers
 * were written, and again only after it has been corrected. A counter is live while its select, the global control and a privilege level enable it.
 *
 * Not checked: the contents of the debug store area, which need not be mapped at the time of the write. */
#include "pmu/sim/counters/counter_state.h"

#define SEL_USR_OS (3u << 16)
#define SEL_EDGE   (1u << 18)
#define SEL_ANY    (1u << 21)
#define SEL_EN     (1u << 22)
#define SEL_INV    (1u << 23)

#define MSR_OFFCORE_RSP0  0x1A6
#define MSR_GLOBAL_STATUS 0x38E
#define MSR_PEBS_ENABLE   0x3F1
#define MSR_PEBS_LD_LAT   0x3F6
#define MSR_DS_AREA       0x600

#define STATUS_CTR_FRZ (1ull << 59)
#define LATENCY_LEAST  3

enum lint {
#define LINT(name, kind, why, cite) LINT_##name,
#include "pmu/sim/counters/lint_rules.def"
#undef LINT
	LINT_RULES
};
static const struct { enum finding_kind kind; const char *why, *cite; } rules[LINT_RULES] = {
#define LINT(name, kind, why, cite) { kind, why, cite },
#include "pmu/sim/counters/lint_rules.def"
#undef LINT
};
_Static_assert(LINT_RULES <= 32, "a mask has a bit for every rule");

/* A counter's event. precise: it can be sampled; latency: it is that of load latency; offcore: the OFFCORE_RESPONSE register that qualifies it, 1 or 2. */
struct event { const char *name; bool known, precise, latency; unsigned offcore; };

static struct event event_of(const struct counters *p, uint64_t sel)
{
	const struct sim_event *rows[EVENT_ROWS];
	const unsigned n = sim_event_find(p->m->events, sim_event_select(p->m, sel), sim_event_umask(p->m, sel), rows);
	struct event e = { .known = n > 0, .name = n ? rows[0]->name : NULL };
	for (unsigned i = 0; i < n; i++) {
		e.precise |= rows[i]->precise != PRECISE_NO || (rows[i]->flags & EVENT_PRECISE);
		e.latency |= (rows[i]->flags & EVENT_TAGGED) != 0;
		e.offcore |= rows[i]->flags & EVENT_OFFCORE_0 ? 1 : rows[i]->flags & EVENT_OFFCORE_1 ? 2 : 0;
	}
	return e;
}

static bool live(const struct counters *p, unsigned n)
{
	return (p->evtsel[n] & SEL_EN) && (p->evtsel[n] & SEL_USR_OS) && (p->m->pmu_version < 2 || (p->global_ctrl >> n & 1));
}

const char *counter_event_name(const struct counters *p, uint64_t select)
{
	return event_of(p, select).name;
}

/* The rules that counter n breaks or would break if it were live, as a mask; *clash gets the other register of each. */
static uint32_t broken(const struct counters *p, unsigned n, uint32_t clash[LINT_RULES])
{
	const uint64_t sel = p->evtsel[n];
	const struct event e = event_of(p, sel);
	const bool facility = p->m->pmu_load_latency, pebs = counter_has_pebs(p, n), adaptive = counter_adaptive(p),
		latency = facility && counter_latency_enabled(p, n) && (!adaptive || e.latency);
	uint32_t mask = 0;
#define BREAKS(rule, condition, other) do { if (condition) { mask |= 1u << LINT_##rule; clash[LINT_##rule] = other; } } while (0)
	BREAKS(FROZEN, p->m->pmu_version >= 4 && (p->global_status & STATUS_CTR_FRZ), MSR_GLOBAL_STATUS);
	/* "Fewer than 16 a cycle", from Skylake on 10, holds in every cycle: the documented way to sample cycles (perfmon: INST_RETIRED.TOTAL_CYCLES_PS). */
	const bool cycles = (sel & SEL_INV) && sel >> 24 >= 10 && !(sel & SEL_EDGE);
	BREAKS(PEBS_THRESHOLD, (pebs || e.latency) && !cycles && (sel >> 24 & 0xFF || sel & (SEL_INV | SEL_EDGE)), MSR_PEBS_ENABLE);
	BREAKS(PEBS_ANY, (pebs || e.latency) && sel & SEL_ANY, MSR_PEBS_ENABLE);
	BREAKS(PEBS_IMPRECISE, pebs && e.known && !e.precise, MSR_PEBS_ENABLE);
	BREAKS(PEBS_NO_AREA, pebs && !p->ds_area, MSR_DS_AREA);
	BREAKS(LATENCY_NO_PEBS, latency && !pebs, MSR_PEBS_ENABLE);
	BREAKS(LATENCY_OFF, facility && e.latency && !pebs && !latency, MSR_PEBS_ENABLE);
	BREAKS(LATENCY_NO_ENABLE, pebs && e.latency && !latency, MSR_PEBS_ENABLE);
	BREAKS(LATENCY_OTHER_EVENT, latency && !e.latency, counter_selector(p, n));
	BREAKS(LATENCY_THRESHOLD, latency && e.latency && p->load_latency < LATENCY_LEAST, MSR_PEBS_LD_LAT);
	BREAKS(LATENCY_AUXILIARY, latency && e.latency && !counter_has_auxiliary(p), counter_selector(p, n));
	for (unsigned other = 0; other < p->m->pmu_general; other++)
		BREAKS(LATENCY_COMPANY, latency && pebs && e.latency && p->m->pmu_load_latency == 2 && other != n && counter_has_pebs(p, other) && live(p, other) &&
		       !event_of(p, p->evtsel[other]).latency, counter_selector(p, other));
	if (e.offcore) {
		const uint64_t asks = p->offcore[e.offcore - 1];
		const uint64_t streams = p->m->pmu_offcore_format >= 2 ? 3ull << 46 : 0; /* small cores: streaming writes of partial and full lines */
		const uint64_t requests = p->m->pmu_offcore_format ? 0xFFFF | streams : 0xFF; /* Nehalem: bits 7:0; later 15:0 */
		BREAKS(OFFCORE_EMPTY, !(asks & requests) || !(asks & ~requests), MSR_OFFCORE_RSP0 + e.offcore - 1);
	}
#undef BREAKS
	return mask;
}

void counter_lint_select(struct counters *p, unsigned n, uint64_t value)
{
	if (!((value ^ p->evtsel[n]) & ~(uint64_t)SEL_EN))
		return;
	p->general[n].told = NULL;
	p->lint_told[n] = 0;
}

void counter_lint(struct counters *p, struct sim_finding *f, uint32_t address, uint64_t value)
{
	uint32_t clash[LINT_RULES];
	if (!p->m->pmu_version)
		return;
	for (unsigned n = 0; n < p->m->pmu_general; n++) {
		/* software that switches everything off clears PEBS_ENABLE first, then GLOBAL_CTRL */
		const uint32_t mask = broken(p, n, clash) & (address == MSR_PEBS_ENABLE ? ~(1u << LINT_LATENCY_OFF) : ~0u);
		const bool on = live(p, n);
		for (uint32_t left = on ? mask & ~p->lint_told[n] : 0; left; left &= left - 1) {
			const unsigned rule = (unsigned)__builtin_ctz(left);
			struct sim_finding one = { .kind = rules[rule].kind, .thread = p->thread, .address = address, .value = value,
				.why = rules[rule].why, .cite = rules[rule].cite, .event = counter_event_name(p, p->evtsel[n]),
				.clash = clash[rule] == address ? counter_selector(p, n) : clash[rule] };
			sim_finding_where(&one, "counter", n);
			if (one.clash == address)
				one.clash = 0;
			sim_finding_add(f, &one);
		}
		p->lint_told[n] = on ? mask : p->lint_told[n] & mask;
	}
}
