/* bench/counting/request_netburst.c: events of NetBurst's detectors by name: units, tags, the counter's comparison, ESCR, cascade. */
#include "bench/counting/request_parts.h"
#include "bench/catalogue/names.h"
#include "pmu/core/cpu.h"

enum { TAGS_UOPS = 1, COUNTS_TAGGED, COUNTS_REPLAYED }; /* of netburst_event.tags */
#define TAGS 4u /* tag bits of execution_event: its units NBOGUS0 to 3 and BOGUS0 to 3 (SDM, at-retirement counting) */

/* DETECTOR.UNIT+UNIT in n characters; *found: the first part is a detector's name. */
static enum status detector_named(const struct processor *p, const char *at, size_t n, unsigned *detector, uint16_t *mask, struct text *problem, bool *found)
{
	size_t dot = 0, end;

	*found = false;
	*mask = 0;
	while (dot < n && at[dot] != '.')
		dot++;
	for (*detector = 0; *detector < p->detector_count && !names_equal(at, dot, p->detectors[*detector].name); ++*detector)
		;
	if (*detector == p->detector_count || dot == n)
		return ST_OK;
	*found = true;
	const struct netburst_event *e = &p->detectors[*detector];

	for (size_t from = dot + 1; from <= n; from = end + 1) {
		unsigned u = 0;

		for (end = from; end < n && at[end] != '+'; end++)
			;
		while (u < e->unit_count && !names_equal(at + from, end - from, e->units[u].name))
			u++;
		if (u == e->unit_count) {
			text_fmt(problem, "\"%.*s\": %s has no unit \"%.*s\"; it has", (int)n, at, e->name, (int)(end - from), at + from);
			for (u = 0; u < e->unit_count; u++)
				text_fmt(problem, "%s %s", u ? "," : "", e->units[u].name);
			return ST_MISSING;
		}
		*mask |= (uint16_t)(1u << e->units[u].bit);
	}
	return ST_OK;
}

/* ---- modifiers -------------------------------------------------------------------------------- */

/* cmask=N counts cycles with at least N, hence threshold N - 1 (SDM, CCCR MSRs). */
static bool compared(struct netburst_use *u, const struct modifier *m)
{
	if (request_modifier_is_valued(m, "cmask") && m->value >= 1 && m->value <= 16)
		u->threshold = (uint8_t)(m->value - 1);
	else if (request_modifier_is_valued(m, "thresh") && m->value <= 15)
		u->threshold = (uint8_t)m->value;
	else if (request_modifier_is_flag(m, "inv") || request_modifier_is_flag(m, "complement"))
		u->complement = 1;
	else if (request_modifier_is_flag(m, "edge"))
		u->edge = 1;
	else
		return false;
	u->compare = 1;
	return true;
}

/* The threads whose events count, and the number of awake threads at which they count. */
static bool of_threads(struct netburst_use *u, const struct modifier *m)
{
	static const char *const awake[] = { "active_none", "active_single", "active_both", "active_any" }; /* CCCR[17:16] */

	if (request_modifier_is_flag(m, "any")) {
		u->threads = 3;
		return true;
	}
	if (request_modifier_is_flag(m, "other")) {
		u->threads = 2;
		return true;
	}
	for (unsigned i = 0; i < COUNT_OF(awake); i++)
		if (request_modifier_is_flag(m, awake[i])) {
			u->active = (uint8_t)i;
			return true;
		}
	return false;
}

/* The registers: the ESCR that detects, the tag, how the counter overflows and starts. */
static bool registers(struct netburst_use *u, const struct modifier *m)
{
	if (request_modifier_is_valued(m, "escr") && m->value <= 1) {
		u->escr = (uint8_t)(m->value + 1);
	} else if (request_modifier_is_valued(m, "tag") && m->value >= 1 && m->value <= 15 && u->upstream >= 0) {
		u->tag = (uint8_t)m->value;
	} else if (request_modifier_is_flag(m, "force_ovf")) {
		u->force_overflow = 1;
	} else if (request_modifier_is_flag(m, "cascade")) {
		u->cascade = 1;
	} else if (request_modifier_is_valued(m, "after") && m->value >= 1 && m->value < 1ull << CPU_NETBURST_COUNTER_BITS) {
		u->cascade = 1;
		u->start = (1ull << CPU_NETBURST_COUNTER_BITS) - m->value; /* of the preceding event, which request_netburst_cascade() gives it */
	} else {
		return false;
	}
	return true;
}

/* The event that tags the uops which are counted: a replay metric, or a detector of uops by type. */
static enum status tagged(const struct processor *p, struct netburst_use *u, const struct modifier *m, struct text *problem, bool *found)
{
	const unsigned tags = p->detectors[u->event].tags;
	unsigned detector;
	uint16_t mask;

	*found = false;
	for (unsigned i = 0; i < p->metric_count && tags == COUNTS_REPLAYED && !m->given; i++)
		if (names_equal(m->at, m->length, p->metrics[i].name)) {
			u->metric = (int8_t)i;
			u->upstream = p->metrics[i].also;
			u->upstream_mask = p->metrics[i].also_mask;
			u->upstream_escr = p->metrics[i].also_escr;
			*found = true;
			return ST_OK;
		}
	if (m->given || tags != COUNTS_TAGGED)
		return ST_OK;
	enum status st = detector_named(p, m->at, m->length, &detector, &mask, problem, found);
	if (st == ST_OK && *found && p->detectors[detector].tags != TAGS_UOPS) {
		text_fmt(problem, "%s tags no uops", p->detectors[detector].name);
		return ST_RANGE;
	}
	if (st == ST_OK && *found) {
		u->upstream = (int16_t)detector;
		u->upstream_mask = mask;
		/* execution_event's units are the bits of the tag; front_end_event counts any tag */
		if (p->detectors[u->event].unit_count > TAGS)
			u->tag = (u->mask | u->mask >> TAGS) & ((1u << TAGS) - 1);
	}
	return st;
}

enum status request_netburst_modifier(const struct processor *p, struct netburst_use *u, const struct modifier *m, struct text *problem)
{
	static const char *const ranged[] = { "cmask", "thresh", "escr", "tag", "after" };
	bool found;

	if (compared(u, m) || of_threads(u, m) || registers(u, m))
		return ST_OK;
	for (unsigned i = 0; i < COUNT_OF(ranged); i++)
		if (request_modifier_is_valued(m, ranged[i]))
			return ST_RANGE;
	enum status st = tagged(p, u, m, problem, &found);
	return st != ST_OK || found ? st : ST_SYNTAX;
}

/* ---- events ----------------------------------------------------------------------------------- */

/* Whether the event counts tagged uops and no event that tags them is named; `problem` lists those. */
static bool untagged(const struct processor *p, const struct netburst_use *u, const struct word *w, struct text *problem)
{
	const struct netburst_event *e = &p->detectors[u->event];
	const char *before = "";

	if (e->tags == COUNTS_REPLAYED ? u->metric >= 0 : e->tags != COUNTS_TAGGED || u->upstream >= 0)
		return false;
	text_fmt(problem, "\"%.*s\" counts tagged uops: name the tagging event after a colon: one of", (int)w->length, w->at);
	for (unsigned i = 0; i < p->metric_count && e->tags == COUNTS_REPLAYED; i++, before = ",")
		text_fmt(problem, "%s %s", before, p->metrics[i].name);
	for (unsigned d = 0; d < p->detector_count && e->tags == COUNTS_TAGGED; d++)
		if (p->detectors[d].tags == TAGS_UOPS) {
			text_fmt(problem, "%s %s.%s", before, p->detectors[d].name, p->detectors[d].units[0].name);
			before = ",";
		}
	return true;
}

enum status request_netburst(const struct processor *p, const struct word *w, struct request *r, struct text *problem, bool *found)
{
	unsigned detector;
	uint16_t mask;
	enum status st = detector_named(p, w->at, w->name, &detector, &mask, problem, found);

	if (st != ST_OK || !*found)
		return st;
	const struct netburst_event *e = &p->detectors[detector];

	r->kind = REQUEST_CORE;
	r->use = (struct netburst_use){ .event = (uint8_t)detector, .mask = mask, .metric = -1, .threads = 1, .active = 3, .upstream = -1 };
	r->event = (struct event){ .counter_mask = e->counters[0] | e->counters[1], .netburst = &r->use, .what = e->what, .source = "the detectors' table" };
	st = request_modifiers(p, r, w, w->name, problem);
	if (st == ST_OK && untagged(p, &r->use, w, problem))
		st = ST_SYNTAX;
	if (st == ST_OK && r->use.escr && !e->escr[r->use.escr - 1]) {
		text_fmt(problem, "\"%.*s\": one ESCR alone detects it, escr=%u", (int)w->length, w->at, 2u - r->use.escr);
		st = ST_RANGE;
	}
	if (st == ST_OK && w->length >= sizeof(r->name))
		st = request_too_long(w, problem);
	str_copy(r->name, w->length + 1 < sizeof(r->name) ? w->length + 1 : sizeof(r->name), w->at);
	r->event.name = r->name;
	return st;
}

enum status request_netburst_cascade(struct request *before, struct request *r, struct text *problem)
{
	const uint64_t start = r->use.start;

	r->use.start = 0;
	if (!before || !before->event.netburst || before->use.cascade) {
		text_fmt(problem, "%s: a cascade starts when the event named before it overflows, which must start by itself", r->name);
		return ST_SYNTAX;
	}
	if (!start && !before->use.force_overflow) {
		text_fmt(problem, "%s: %s does not overflow: after=N says when, or force_ovf after that event makes each increment overflow", r->name, before->name);
		return ST_SYNTAX;
	}
	before->use.start = start;
	return ST_OK;
}
