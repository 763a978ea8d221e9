/* pmu/sim/counters/netburst_detect.c: what NetBurst's ESCRs detect, according to the machine's event map (tables/machines/FORMAT.md).
 *
 * An event's mask is a sum of bits, each with a row of its own, or a filter, each of whose rows states the masks for which it counts. A row
 * may require a certain one of its unit's two ESCRs, another event beside it, or the registers of replay tagging. Some rows tag uops, which
 * other events count at retirement. */
#include "pmu/sim/counters/netburst_state.h"

static uint32_t escr_at(const struct counters *p, uint32_t msr)
{
	return p->netburst->escr[msr - NETBURST_SIM_ESCR];
}

static bool is_of(const struct sim_event *e, uint32_t at, uint32_t escr)
{
	return e->unit == (at & ~1u) && e->select == ESCR_SELECT(escr);
}

static bool counts(const struct machine *m, const struct sim_event *e, uint32_t mask)
{
	if (e->flags & EVENT_SHARED && m->topology_cores == 1)
		return false;
	return ((mask & e->bits) == e->value) != ((e->flags & EVENT_UNLESS) != 0);
}

/* Whether the registers of replay tagging hold a row's metric; true for a row without one. */
static bool has_metric(const struct counters *p, const struct sim_event *e)
{
	return !(e->flags & EVENT_METRIC) || (e->enable == (p->netburst->pebs_enable & METRIC_BITS) && e->vert == p->netburst->matrix_vert);
}

static void listen(struct tap *t, const struct sim_event *e)
{
	for (unsigned i = 0; i < e->signal_count; i++)
		t->listen[e->signals[i] / 64] |= 1ull << e->signals[i] % 64;
}

uint32_t netburst_detect_kinds(const struct machine *m, uint32_t at, uint32_t escr)
{
	uint32_t kinds = 0;
	for (unsigned i = 0; i < m->events->count; i++)
		if (is_of(&m->events->rows[i], at, escr))
			kinds |= m->events->rows[i].flags;
	return kinds;
}

/* ---- other registers ------------------------------------------------------------------------ */

static bool stands_beside(const struct counters *p, const struct event_beside *b, uint32_t mask)
{
	bool found = false;
	for (unsigned n = 0; n < 2; n++) {
		const uint32_t escr = escr_at(p, b->unit + n), has = ESCR_MASK(escr);
		found = found || ((b->escr == BESIDE_EITHER || b->escr == n) && ESCR_SELECT(escr) == b->select && (b->mask ? !(b->mask & ~has) : has == mask));
	}
	return found;
}

static bool is_wrong(const struct counters *p, const struct sim_event *e, uint32_t at)
{
	if ((e->flags & EVENT_ESCR0 && at & 1) || (e->flags & EVENT_ESCR1 && !(at & 1)))
		return true;
	return e->flags & EVENT_BESIDE && !stands_beside(p, &e->beside, ESCR_MASK(escr_at(p, at)));
}

const char *netburst_detect_misuse(const struct counters *p, uint32_t at)
{
	const uint32_t escr = escr_at(p, at);
	const bool replays = netburst_detect_kinds(p->m, at, escr) & EVENT_METRIC;
	bool metric = false;
	if (replays && !(p->netburst->pebs_enable & PEBS_UOP_TAG))
		return "IA32_PEBS_ENABLE bit 24 is 0: no uop is tagged";
	for (unsigned i = 0; i < p->m->events->count; i++) {
		const struct sim_event *e = &p->m->events->rows[i];
		if (!is_of(e, at, escr) || !counts(p->m, e, ESCR_MASK(escr)) || !has_metric(p, e))
			continue;
		if (is_wrong(p, e, at))
			return e->why;
		metric = true;
	}
	return replays && !metric ? "IA32_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT are no metric" : NULL;
}

/* Adds the uops that an upstream ESCR tags. Returns why there are none, or NULL. */
static const char *front_end(const struct counters *p, struct tap *t)
{
	bool any = false;
	for (unsigned n = 0; n < 2 && !any; n++) {
		unsigned threads = 0;
		for (unsigned i = 0; i < p->m->events->count; i++) {
			const struct sim_event *e = &p->m->events->rows[i];
			const uint32_t escr = e->flags & EVENT_TAGS_FRONT_END ? escr_at(p, e->unit + n) : 0;
			if (!(escr & ESCR_TAG) || !is_of(e, e->unit, escr) || !counts(p->m, e, ESCR_MASK(escr)))
				continue;
			listen(t, e);
			threads |= netburst_sim_threads(escr);
			any = true;
		}
		if (any)
			t->from &= (uint8_t)threads;
	}
	return !any ? "no ESCR tags uops" : t->from ? NULL : "the threads whose uops are tagged are not those that are counted";
}

/* ---- what is counted ------------------------------------------------------------------------ */

/* Adds the signals of each bit of the mask. Returns why they are not counted, or NULL. */
static const char *sum(const struct counters *p, uint32_t at, uint32_t escr, struct tap *t)
{
	const uint32_t mask = ESCR_MASK(escr);
	uint32_t found = 0;
	for (unsigned i = 0; i < p->m->events->count; i++) {
		const struct sim_event *e = &p->m->events->rows[i];
		if (!is_of(e, at, escr) || !counts(p->m, e, mask) || !has_metric(p, e))
			continue;
		if (e->flags & (EVENT_UNMODELLED | EVENT_RETIREMENT | EVENT_EXECUTION))
			return e->name;
		listen(t, e);
		found |= e->bits;
	}
	return mask && found == mask ? NULL : "no event of this code and mask is in the machine's map: counts nothing";
}

/* The same for a mask that is a filter. */
static const char *filter(const struct machine *m, uint32_t at, uint32_t escr, struct tap *t)
{
	bool any = false;
	for (unsigned i = 0; i < m->events->count; i++) {
		const struct sim_event *e = &m->events->rows[i];
		if (!is_of(e, at, escr) || !counts(m, e, ESCR_MASK(escr)))
			continue;
		if (e->flags & EVENT_UNMODELLED)
			return e->why;
		listen(t, e);
		any = any || e->signal_count;
	}
	return any ? NULL : "no transaction has all properties that this mask requires: counts nothing";
}

bool netburst_detect(const struct counters *p, uint32_t at, struct tap *t, enum finding_kind *kind, const char **why)
{
	const uint32_t escr = escr_at(p, at), kinds = netburst_detect_kinds(p->m, at, escr);
	const char *wrong = NULL;
	enum finding_kind as = FIND_UNMODELLED;
	if (kinds & (EVENT_METRIC | EVENT_FRONT_END) && ESCR_MASK(escr) != 1) {
		wrong = "tagged uops that never retire";
	} else {
		wrong = netburst_detect_misuse(p, at);
		if (!wrong && kinds & EVENT_FRONT_END)
			wrong = front_end(p, t);
		if (wrong)
			as = FIND_IGNORED;
		else if (!(kinds & EVENT_FRONT_END))
			wrong = kinds & EVENT_FILTER ? filter(p->m, at, escr, t) : sum(p, at, escr, t);
	}
	if (wrong) {
		*kind = as;
		*why = wrong;
	}
	return !wrong;
}

bool netburst_sim_counts(const struct machine *m, uint32_t escr_msr, uint32_t escr)
{
	struct tap t = { .on = true };
	const uint32_t mask = ESCR_MASK(escr);
	uint32_t found = 0;
	if (netburst_detect_kinds(m, escr_msr, escr) & EVENT_FILTER)
		return !filter(m, escr_msr, escr, &t);
	for (unsigned i = 0; i < m->events->count; i++) {
		const struct sim_event *e = &m->events->rows[i];
		if (!is_of(e, escr_msr, escr) || !counts(m, e, mask))
			continue;
		if (e->flags & EVENT_UNMODELLED)
			return false;
		found |= e->bits;
	}
	return mask && found == mask;
}

/* ---- at retirement -------------------------------------------------------------------------- */

bool netburst_detect_retires(const struct counters *p, uint32_t at)
{
	const uint32_t escr = escr_at(p, at), mask = ESCR_MASK(escr), metric = p->netburst->pebs_enable & METRIC_BITS;
	uint32_t found = 0;
	for (unsigned i = 0; i < p->m->events->count; i++) {
		const struct sim_event *e = &p->m->events->rows[i];
		if (!is_of(e, at, escr) || !counts(p->m, e, mask))
			continue;
		if (e->flags & (EVENT_FILTER | EVENT_TAGS_FRONT_END | EVENT_TAGS_EXECUTION))
			return false;
		if (e->flags & EVENT_METRIC && (!metric || !(p->netburst->pebs_enable & PEBS_UOP_TAG)))
			return false;
		if (!e->precise && !(e->flags & (EVENT_FRONT_END | EVENT_EXECUTION)) && (!(e->flags & EVENT_METRIC) || e->enable == metric))
			return false;
		found |= e->bits;
	}
	return mask && found == mask;
}

uint64_t netburst_detect_conditions(const struct counters *p, uint32_t at)
{
	const uint32_t escr = escr_at(p, at);
	uint64_t conditions = 0;
	for (unsigned i = 0; i < p->m->events->count; i++) {
		const struct sim_event *e = &p->m->events->rows[i];
		if (e->precise && is_of(e, at, escr) && counts(p->m, e, ESCR_MASK(escr)) && has_metric(p, e))
			conditions |= 1ull << e->precise;
	}
	return conditions;
}

void netburst_detect_tags(struct counters *p)
{
	struct sim_netburst *s = p->netburst;
	s->tagger_count = 0;
	for (unsigned n = 0; n < NETBURST_SIM_ESCRS; n++) {
		const uint32_t at = NETBURST_SIM_ESCR + n, escr = s->escr[n];
		const uint32_t kinds = escr & ESCR_TAG ? netburst_detect_kinds(p->m, at, escr) : 0;
		if (kinds & (EVENT_TAGS_FRONT_END | EVENT_TAGS_EXECUTION))
			s->tagger[s->tagger_count++] = (struct sim_netburst_tagger){ escr, kinds, netburst_detect_conditions(p, at) };
	}
}
