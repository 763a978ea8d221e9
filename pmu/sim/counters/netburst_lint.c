/* pmu/sim/counters/netburst_lint.c: mistakes in NetBurst's registers, each reported once when a counter is live with it, whatever the order of
 * writes, and again after its CCCR or ESCR has changed.
 *
 * Not checked: the contents of the debug store area; a counter that is read by RDPMC after one write of its value. */
#include "pmu/sim/counters/netburst_state.h"

#define PEBS_AT      16u /* IQ_COUNTER4, whose records are those of the first thread */
#define DS_AREA      0x600u
#define PEBS_ANY     (PEBS_T0 | PEBS_T0 << 1)

enum { TOLD_COUNTER, TOLD_AREA, TOLD_OTHER }; /* index of lint_told: masks of counters */

/* The name of the event that the ESCR at an address detects: that of its mask's lowest bit, else of another of the event's rows; NULL: none. */
static const char *event_name(const struct counters *p, uint32_t at)
{
	const uint32_t escr = at ? p->netburst->escr[at - NETBURST_SIM_ESCR] : 0;
	const char *name = NULL;
	uint32_t least = 1u << 16;
	for (unsigned i = 0; at && i < p->m->events->count; i++) {
		const struct sim_event *e = &p->m->events->rows[i];
		const uint32_t bit = e->flags & EVENT_FILTER ? 0 : e->bits & ESCR_MASK(escr);
		if (e->unit != (at & ~1u) || e->select != ESCR_SELECT(escr))
			continue;
		if (!name || (bit && bit < least))
			name = e->name;
		if (bit && bit < least)
			least = bit;
	}
	return name;
}

static void report(struct counters *p, unsigned c, struct sim_finding *f, struct sim_finding one)
{
	const uint32_t at = netburst_sim_escr_of(c, p->netburst->cccr[c]);
	one.thread = p->thread;
	one.event = event_name(p, at);
	if (one.clash == one.address)
		one.clash = one.address == CCCR_0 + c ? at : CCCR_0 + c;
	sim_finding_where(&one, "counter", c);
	sim_finding_add(f, &one);
}

static void written_once(struct counters *p, unsigned c, struct sim_finding *f, uint32_t address, uint64_t value)
{
	if (!f || !p->netburst->counter[c].written || !(p->netburst->cccr[c] & CCCR_ENABLE) || p->netburst->counter[c].told_once)
		return;
	p->netburst->counter[c].told_once = true;
	report(p, c, f, (struct sim_finding){ .kind = FIND_NO_LATCH, .address = address, .value = value, .clash = COUNTER_0 + c,
		.why = "erratum N15: the counter's value was written once, and a counter may take only the second write",
		.cite = "specification update of the Pentium 4, N15" });
}

void netburst_sim_report(struct counters *p, unsigned c, struct sim_finding *f, uint32_t address, uint64_t value, enum finding_kind kind, const char *why)
{
	if (!f || !(p->netburst->cccr[c] & CCCR_ENABLE))
		return;
	if (why && why != p->netburst->counter[c].told)
		report(p, c, f, (struct sim_finding){ .kind = kind, .address = address, .value = value, .why = why, .cite = "SDM 18.15",
			.clash = netburst_sim_escr_of(c, p->netburst->cccr[c]) });
	p->netburst->counter[c].told = why;
	if (address != COUNTER_0 + c)
		written_once(p, c, f, address, value);
}

void netburst_sim_lint_read(struct counters *p, uint32_t msr, struct sim_finding *f)
{
	if (msr >= COUNTER_0 && msr < COUNTER_0 + NETBURST_SIM_COUNTERS)
		written_once(p, msr - COUNTER_0, f, msr, 0);
}

void netburst_sim_lint_control(struct counters *p, unsigned c, uint32_t value)
{
	const uint32_t was = p->netburst->cccr[c];
	if ((was ^ value) & ~(CCCR_ENABLE | CCCR_OVF))
		p->netburst->counter[c].told = NULL;
	if (was & CCCR_ENABLE && !(value & CCCR_ENABLE))
		p->netburst->counter[c].off = ++p->netburst->writes;
}

void netburst_sim_lint_select(struct counters *p, uint32_t escr_msr, uint32_t value)
{
	for (unsigned c = 0; c < NETBURST_SIM_COUNTERS; c++)
		if (netburst_sim_escr_of(c, p->netburst->cccr[c]) == escr_msr && p->netburst->escr[escr_msr - NETBURST_SIM_ESCR] != value)
			p->netburst->counter[c].told = NULL;
	p->netburst->written[escr_msr - NETBURST_SIM_ESCR] = ++p->netburst->writes;
}

/* Whether, since counter c was last on, the other ESCR of its pair was written and its own was not, and no counter that is on reads the other. */
static bool meant_other(const struct counters *p, unsigned c, uint32_t at)
{
	const struct sim_netburst *n = p->netburst;
	const uint32_t other = at ^ 1;
	if (n->written[at - NETBURST_SIM_ESCR] >= n->counter[c].off || n->written[other - NETBURST_SIM_ESCR] <= n->counter[c].off)
		return false;
	for (unsigned k = 0; k < NETBURST_SIM_COUNTERS; k++)
		if (n->cccr[k] & CCCR_ENABLE && netburst_sim_escr_of(k, n->cccr[k]) == other)
			return false;
	return true;
}

void netburst_sim_lint(struct counters *p, struct sim_finding *f, uint32_t address, uint64_t value)
{
	uint32_t no_records = 0, others = 0, samplers = 0;
	const unsigned own = PEBS_AT + netburst_sim_own(p);
	for (unsigned c = 0; c < NETBURST_SIM_COUNTERS; c++) {
		const uint32_t at = netburst_sim_escr_of(c, p->netburst->cccr[c]);
		if (!(p->netburst->cccr[c] & CCCR_ENABLE) || !at)
			continue;
		others |= meant_other(p, c, at) ? 1u << c : 0;
		if (!(netburst_detect_kinds(p->m, at, p->netburst->escr[at - NETBURST_SIM_ESCR]) & (EVENT_FRONT_END | EVENT_METRIC | EVENT_EXECUTION)))
			continue;
		if (c < PEBS_AT || (c == own + 1 && c < NETBURST_SIM_COUNTERS && !p->netburst->thread[1]))
			no_records |= 1u << c;
		else
			samplers |= 1u << c;
	}
	if (samplers || !(p->netburst->pebs_enable & PEBS_ANY))
		no_records = 0;
	if (p->ds_area || !(p->netburst->pebs_enable & PEBS_T0 << netburst_sim_own(p)))
		samplers = 0;
	const struct { uint32_t mask; struct sim_finding one; } rules[] = {
		[TOLD_COUNTER] = { no_records, { .kind = FIND_WRONG_COUNTER, .clash = PEBS_ENABLE, .cite = "SDM 18.15.7",
			.why = "PEBS on a counter that cannot write records: only IQ_COUNTER4 (16) does, and 17 for the second thread" } },
		[TOLD_AREA] = { samplers & 1u << own, { .kind = FIND_UNMAPPED, .clash = DS_AREA, .cite = "SDM 17.4.9",
			.why = "PEBS without a debug store area: IA32_DS_AREA is 0, and records go to address 0" } },
		[TOLD_OTHER] = { others, { .kind = FIND_IGNORED, .clash = 0, .cite = "SDM 18.15.1",
			.why = "the other ESCR of this pair was written since this counter was last on: it still reads its own, which has the event before" } },
	};
	for (unsigned r = 0; r < COUNT_OF(rules); r++) {
		for (uint32_t left = rules[r].mask & ~p->lint_told[r]; left; left &= left - 1) {
			struct sim_finding one = rules[r].one;
			const unsigned c = (unsigned)__builtin_ctz(left);
			one.address = address;
			one.value = value;
			if (r == TOLD_OTHER)
				one.clash = netburst_sim_escr_of(c, p->netburst->cccr[c]) ^ 1;
			report(p, c, f, one);
		}
		p->lint_told[r] = rules[r].mask;
	}
}
