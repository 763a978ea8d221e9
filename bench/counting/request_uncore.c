/* bench/counting/request_uncore.c: names of uncore events, with their box and filters. */
#include "bench/counting/request_parts.h"
#include "bench/catalogue/names.h"
#include "pmu/core/concept.h"

/* Vendor names of uncore events start with a prefix that repeats the box (UNC_C_); after BOX it may be omitted. */
static bool short_name(const char *at, size_t n, const char *known)
{
	if (names_equal(at, n, known))
		return true;
	if (!str_starts(known, "UNC_"))
		return false;
	for (known += 4; *known && *known != '_'; known++)
		;
	return *known && names_equal(at, n, known + 1);
}

/* The uncore manual names an event without its box: accepted if only one kind of box has it. */
static const struct uncore_event *uncore_of_one_box(const struct processor *p, const struct word *w, struct request *r)
{
	const struct uncore_event *only = NULL;

	for (unsigned b = 0; b < p->box_count; b++)
		for (unsigned i = 0; i < p->boxes[b].event_count; i++) {
			if (!short_name(w->at, w->name, p->boxes[b].events[i].name))
				continue;
			if (only && r->box != &p->boxes[b])
				return NULL;
			only = &p->boxes[b].events[i];
			r->box = &p->boxes[b];
		}
	return only;
}

static bool is_box(const struct processor *p, const char *at, size_t n)
{
	for (unsigned b = 0; b < p->box_count; b++)
		if (names_equal(at, n, p->boxes[b].name))
			return true;
	return false;
}

/* The event of that name in the table, or the one for which it is another document's name. */
static const struct uncore_event *uncore_of_full_name(const struct processor *p, const struct word *w, struct request *r)
{
	const char *at = w->at;
	size_t n = w->name;

	for (unsigned i = 0; i < p->spelling_count; i++)
		if (names_equal(w->at, w->name, p->spellings[i].name)) {
			at = p->spellings[i].event;
			n = str_length(at);
		}
	for (unsigned b = 0; b < p->box_count; b++)
		for (unsigned i = 0; i < p->boxes[b].event_count; i++)
			if (names_equal(at, n, p->boxes[b].events[i].name)) {
				r->box = &p->boxes[b];
				return &p->boxes[b].events[i];
			}
	return NULL;
}

static const struct uncore_event *uncore_named(const struct processor *p, const struct word *w, struct request *r)
{
	const struct uncore_event *full = uncore_of_full_name(p, w, r);
	size_t dot = 0, open = 0, name;
	uint64_t number = 0;

	if (full)
		return full;
	while (dot < w->name && w->at[dot] != '.')
		dot++;
	for (open = 0; open < dot && w->at[open] != '['; open++)
		;
	if (open < dot && (w->at[dot - 1] != ']' || parse_u64(w->at + open + 1, dot - open - 2, &number) != ST_OK))
		return NULL;
	name = dot + 1;
	if (open == dot && !is_box(p, w->at, open)) { /* imc0, imc_0, as Linux and likwid number them */
		for (; open && w->at[open - 1] >= '0' && w->at[open - 1] <= '9'; open--)
			;
		if (open < dot && parse_u64(w->at + open, dot - open, &number) != ST_OK)
			return NULL;
		open -= open && open < dot && w->at[open - 1] == '_';
	}
	for (unsigned b = 0; b < p->box_count && name < w->name; b++)
		for (unsigned i = 0; names_equal(w->at, open, p->boxes[b].name) && i < p->boxes[b].event_count; i++)
			if (short_name(w->at + name, w->name - name, p->boxes[b].events[i].name)) {
				r->box = &p->boxes[b];
				r->instance = open == dot ? -1 : number < INT16_MAX ? (int16_t)number : INT16_MAX;
				return &p->boxes[b].events[i];
			}
	return uncore_of_one_box(p, w, r);
}

static bool has_modifier(const struct word *w, const char *key)
{
	struct modifier m = { 0 };
	enum status st;

	for (size_t from = w->name; request_modifier_next(w, &from, &m, &st);)
		if (names_equal(m.at, m.key, key))
			return true;
	return false;
}

/* Explains why an event is refused although its modifiers are the box's: it ignores a filter, or a comparison is missing. False: neither. */
static bool said_what_acts(const struct request *r, const struct uncore_event *e, const struct word *w, struct text *problem)
{
	const struct uncore_box *box = r->box;

	for (unsigned f = 0; f < box->filter_count; f++) {
		unsigned i = 0;

		if (!has_modifier(w, box->filters[f].name) || !uncore_filter_idle(box, e, f))
			continue;
		while (uncore_filter_idle(box, &box->events[i], f)) /* an event that uses the filter */
			i++;
		text_fmt(problem, "%s has no effect here: it acts only on events that select it, such as %s", box->filters[f].name, box->events[i].name);
		return true;
	}
	if ((has_modifier(w, "edge") || has_modifier(w, "invert")) && !has_modifier(w, "thresh") && !e->cmask) {
		text_fmt(problem, "edge and invert are of the comparison that thresh=N makes");
		return true;
	}
	return false;
}

/* Explains why the planner refuses the event: a filter is missing, a value does not fit, or the box lacks a modifier. */
static void say_uncore(const struct request *r, const struct uncore_event *e, const struct word *w, enum status st, struct text *problem)
{
	const struct uncore_box *box = r->box;
	struct modifier m = { 0 };
	enum status number = ST_OK;
	unsigned lacking = 0;

	text_fmt(problem, "\"%.*s\": ", (int)w->length, w->at);
	for (unsigned f = 0; f < box->filter_count && st == ST_SYNTAX; f++)
		if (e->filters >> f & 1 && !has_modifier(w, box->filters[f].name))
			text_fmt(problem, "%s:%s=N", lacking++ ? ", " : "the event needs ", box->filters[f].name);
	for (size_t from = w->name; !lacking && number == ST_OK && request_modifier_next(w, &from, &m, &number);)
		if (number != ST_OK)
			text_fmt(problem, "%.*s is no number", (int)m.length, m.at);
	if (!lacking && number == ST_OK && !(st == ST_SYNTAX && said_what_acts(r, e, w, problem)))
		text_fmt(problem, st == ST_RANGE ? "a value does not fit" : "one of its modifiers is unknown, or lacks its value");
	text_fmt(problem, "; box %s takes %s", box->name, box->threshold ? "thresh=N, edge, invert" : box->filter_count ? "" : "no modifier");
	for (unsigned f = 0; f < box->filter_count; f++)
		text_fmt(problem, "%s%s=N", f || box->threshold ? ", " : "", box->filters[f].name);
}

/* The one event, with its filters, that counts a concept of the uncore. Empty: there is none, or w has modifiers of its own. */
static struct word what_counts(const struct processor *p, const struct word *w)
{
	char name[REQUEST_NAME_BYTES];
	struct word one = { 0 };

	str_copy(name, w->length + 1 < sizeof(name) ? w->length + 1 : sizeof(name), w->at);
	const struct expression *x = w->name == w->length ? concept_counted(p, name) : NULL;

	if (!x || x->exactness != EXACTNESS_EXACT || x->term_count != 1 || !x->terms[0].uncore)
		return one;
	one.at = x->terms[0].uncore;
	one.length = str_length(one.at);
	while (one.name < one.length && one.at[one.name] != ':')
		one.name++;
	return one;
}

enum status request_uncore(const struct processor *p, const struct word *w, struct request *r, struct text *problem, bool *found)
{
	const struct cpu cpu = { .processor = p };
	const struct uncore nowhere = { .cpu = &cpu };
	struct uncore_plan plan;
	const char *list[1] = { r->planned }, *which;
	const struct uncore_event *e;
	struct text t;

	r->instance = -1;
	e = uncore_named(p, w, r);
	*found = e != NULL;
	if (!e) {
		const struct word meant = what_counts(p, w);

		return meant.at ? request_uncore(p, &meant, r, problem, found) : ST_OK;
	}
	if (r->instance >= r->box->instances) {
		text_fmt(problem, "\"%.*s\": a socket has at most %u boxes %s, 0 to %u", (int)w->length, w->at, r->box->instances, r->box->name, r->box->instances - 1u);
		return ST_RANGE;
	}
	r->kind = REQUEST_UNCORE;
	text_init(&t, r->planned, sizeof(r->planned));
	text_fmt(&t, "%s%.*s", e->name, (int)(w->length - w->name), w->at + w->name);
	if (t.full)
		return request_too_long(w, problem);
	text_init(&t, r->name, sizeof(r->name));
	if (r->instance >= 0)
		text_fmt(&t, "%s[%d].", r->box->name, r->instance);
	text_fmt(&t, "%s", r->planned);
	if (t.full)
		return request_too_long(w, problem);
	if (has_modifier(w, "u") || has_modifier(w, "k")) {
		text_fmt(problem, "\"%.*s\": u and k are of cores; box %s counts for all rings alike", (int)w->length, w->at, r->box->name);
		return ST_UNSUPPORTED;
	}
	enum status st = uncore_plan(&nowhere, list, 1, &plan, &which);
	if (st == ST_SYNTAX || st == ST_RANGE)
		say_uncore(r, e, w, st, problem);
	return st;
}
