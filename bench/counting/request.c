/* bench/counting/request.c: resolves event names into requests for the planners. */
#include "bench/counting/request_parts.h"
#include "bench/catalogue/names.h"

void request_init(struct request_list *l, const struct processor *p)
{
	memset(l, 0, sizeof(*l));
	l->processor = p;
}

/* --- words ------------------------------------------------------------------------------------- */

/* The next item between commas, without surrounding blanks; false: none left. Between slashes commas separate perf's terms. */
static bool next_word(const char **list, struct word *w)
{
	bool terms = false;

	while (**list == ',' || **list == ' ')
		(*list)++;
	if (!**list)
		return false;
	w->at = *list;
	for (w->length = 0; **list && (terms || **list != ','); (*list)++, w->length++)
		terms ^= **list == '/';
	while (w->length && w->at[w->length - 1] == ' ')
		w->length--;
	for (w->name = 0; w->name < w->length && w->at[w->name] != ':'; w->name++)
		;
	return true;
}

bool request_modifier_next(const struct word *w, size_t *from, struct modifier *m, enum status *st)
{
	size_t end;

	*st = ST_OK;
	if (*from >= w->length)
		return false;
	m->at = w->at + ++*from;
	for (end = *from; end < w->length && w->at[end] != ':'; end++)
		;
	m->length = end - *from;
	*from = end;
	for (m->key = 0; m->key < m->length && m->at[m->key] != '='; m->key++)
		;
	m->given = m->key < m->length;
	if (m->given)
		*st = parse_u64(m->at + m->key + 1, m->length - m->key - 1, &m->value);
	return true;
}

bool request_modifier_is_flag(const struct modifier *m, const char *key)
{
	return (!m->given || m->value == 1) && names_equal(m->at, m->key, key); /* perf writes inv=1 */
}

bool request_modifier_is_valued(const struct modifier *m, const char *key)
{
	return m->given && names_equal(m->at, m->key, key);
}

/* --- core -------------------------------------------------------------------------------------- */

static enum status core_modifier(struct event *e, const struct modifier *m)
{
	if (request_modifier_is_flag(m, "inv") || request_modifier_is_flag(m, "i")) /* the Core 2 paper writes :C=1:I=1 */
		e->inv = 1;
	else if (request_modifier_is_flag(m, "edge"))
		e->edge = 1;
	else if (request_modifier_is_flag(m, "any"))
		e->any = 1;
	else if (request_modifier_is_flag(m, "u"))
		e->privilege |= EVENT_USER;
	else if (!m->given && (names_equal(m->at, m->length, "uk") || names_equal(m->at, m->length, "ku"))) /* as perf writes both */
		e->privilege = EVENT_USER | EVENT_KERNEL;
	else if (request_modifier_is_flag(m, "k"))
		e->privilege |= EVENT_KERNEL;
	else if ((request_modifier_is_valued(m, "cmask") || request_modifier_is_valued(m, "c")) && m->value <= 0xFF)
		e->cmask = (uint8_t)m->value;
	else if (request_modifier_is_valued(m, "ldlat") && e->extra_msr == REQUEST_LDLAT && m->value >= REQUEST_LDLAT_LEAST && m->value <= 0xFFFF)
		e->extra_value = m->value;
	else
		return request_modifier_is_valued(m, "cmask") || request_modifier_is_valued(m, "c") || (request_modifier_is_valued(m, "ldlat") && e->extra_msr == REQUEST_LDLAT) ?
		       ST_RANGE : ST_SYNTAX;
	return ST_OK;
}

enum status request_modifiers(const struct processor *p, struct request *r, const struct word *w, size_t from, struct text *problem)
{
	struct modifier m = { 0 };
	enum status st;

	while (request_modifier_next(w, &from, &m, &st)) {
		if (st == ST_OK && r->event.netburst)
			st = request_netburst_modifier(p, &r->use, &m, problem);
		else if (st == ST_OK)
			st = core_modifier(&r->event, &m);
		if (st == ST_MISSING) /* `problem` names the unit */
			return st;
		if (st != ST_OK) {
			text_fmt(problem, "\"%.*s\": %.*s %s", (int)w->length, w->at, (int)m.length, m.at, st == ST_RANGE ? "is out of range" :
			         r->event.netburst ? "is no modifier here: cmask=N, thresh=N, inv, complement, edge, any, other, active_none, active_single, active_both, escr=N, force_ovf, after=N, cascade, "
			         "and what tags its uops, with tag=N" :
			         "is no modifier of this event: u, k, cmask=N, inv, edge, any, and ldlat=N of the load-latency event");
			return st;
		}
	}
	/* edge and inv apply to the comparison that cmask makes (SDM vol. 3, 18.2.1.1) */
	if (!r->event.netburst && (r->event.inv || r->event.edge) && !r->event.cmask)
		r->event.cmask = 1;
	return ST_OK;
}

enum status request_too_long(const struct word *w, struct text *problem)
{
	text_fmt(problem, "\"%.*s...\": an event has at most %u characters, with its modifiers", 40, w->at, REQUEST_NAME_BYTES - 1);
	return ST_RANGE;
}

/* Names the request. With modifiers it differs from the table's event, and no fixed counter counts it. */
static enum status name_core(struct request *r, const struct event *e, const struct word *w, size_t from, struct text *problem)
{
	struct text t;

	text_init(&t, r->name, sizeof(r->name));
	text_fmt(&t, "%s%.*s", e->name, (int)(w->length - from), w->at + from);
	r->event.name = r->name;
	if (w->length > from && r->event.counter_mask)
		r->event.fixed = 0;
	return t.full ? request_too_long(w, problem) : ST_OK;
}

/* An event that only a fixed counter counts has the one setting of that counter: at the highest privilege, without a comparison. */
enum status request_fixed_alone(const struct request *r, const struct event *e, const struct word *w, struct text *problem)
{
	const bool differs = r->event.privilege == EVENT_USER || r->event.cmask != e->cmask || r->event.inv != e->inv || r->event.edge != e->edge || r->event.any != e->any;

	if (!e->fixed || e->counter_mask || !differs)
		return ST_OK;
	text_fmt(problem, "\"%.*s\": a fixed counter alone counts %s, and takes no modifier but k", (int)w->length, w->at, e->name);
	return ST_UNSUPPORTED;
}

bool request_names(const struct word *w, const char *known, size_t *from)
{
	*from = names_begin(w->at, w->length, known);
	return *from && (*from == w->length || w->at[*from] == ':');
}

static enum status take_core(const struct processor *p, const struct word *w, struct request *r, struct text *problem, bool *found)
{
	const struct event *best = NULL;
	size_t from = 0, n;

	/* NetBurst names contain colons: take the longest match */
	for (unsigned i = 0; i < p->event_count; i++)
		if (request_names(w, p->events[i].name, &n) && n > from) {
			best = &p->events[i];
			from = n;
		}
	if (!best)
		best = request_spelled(p, w, &from);
	*found = best != NULL;
	if (!best)
		return ST_OK;
	r->kind = REQUEST_CORE;
	r->event = *best;
	if (best->netburst)
		r->use = *best->netburst;
	enum status st = request_modifiers(p, r, w, from, problem);
	if (st == ST_OK)
		st = request_fixed_alone(r, best, w, problem);
	return st == ST_OK ? name_core(r, best, w, from, problem) : st;
}

/* --- lists ------------------------------------------------------------------------------------- */

static enum status unknown(const struct processor *p, const struct word *w, struct text *problem)
{
	struct nearest near;

	if (request_why_not(p, w, problem))
		return ST_MISSING;
	if (w->at[0] == '{') {
		text_fmt(problem, "\"%.*s\": no groups; name the events alone, the column `run` says which were counted together", (int)w->length, w->at);
		return ST_SYNTAX;
	}
	nearest_init(&near, w->at, w->name);
	for (unsigned i = 0; i < p->event_count; i++)
		nearest_try(&near, "", p->events[i].name);
	for (unsigned d = 0; d < p->detector_count; d++)
		for (unsigned u = 0; u < p->detectors[d].unit_count; u++) {
			char prefix[64];
			struct text t;

			text_init(&t, prefix, sizeof(prefix));
			text_fmt(&t, "%s.", p->detectors[d].name);
			nearest_try(&near, prefix, p->detectors[d].units[u].name);
		}
	for (unsigned b = 0; b < p->box_count; b++)
		for (unsigned i = 0; i < p->boxes[b].event_count; i++)
			nearest_try(&near, "", p->boxes[b].events[i].name);
	text_fmt(problem, "\"%.*s\": %s has no event of that name", (int)w->length, w->at, p->name);
	nearest_text(&near, problem);
	return ST_MISSING;
}

static bool same(const struct request *a, const struct request *b)
{
	const struct event *x = &a->event, *y = &b->event;

	/* in perf's terms the user chooses an event's name */
	return a->kind == b->kind && str_equal(a->name, b->name) && x->select == y->select && x->umask == y->umask && x->extra_value == y->extra_value && x->cmask == y->cmask &&
	       x->inv == y->inv && x->edge == y->edge && x->any == y->any && x->privilege == y->privilege;
}

/* The threshold of a comparison goes by several names. */
static bool is_threshold(const struct modifier *m)
{
	return request_modifier_is_valued(m, "cmask") || request_modifier_is_valued(m, "c") || request_modifier_is_valued(m, "thresh");
}

static bool same_key(const struct modifier *a, const struct modifier *b)
{
	char key[REQUEST_NAME_BYTES];

	if (is_threshold(a) && is_threshold(b))
		return true;
	str_copy(key, b->key + 1 < sizeof(key) ? b->key + 1 : sizeof(key), b->at);
	return names_equal(a->at, a->key, key);
}

/* ST_SYNTAX: a key has two values, of which one would be lost. */
static enum status no_key_twice(const struct word *w, struct text *problem)
{
	struct modifier a = { 0 }, b = { 0 };
	enum status ignored;

	for (size_t from = w->name; request_modifier_next(w, &from, &a, &ignored);)
		for (size_t k = from; request_modifier_next(w, &k, &b, &ignored);)
			if (a.given && b.given && same_key(&a, &b)) {
				text_fmt(problem, "\"%.*s\": %.*s is given twice", (int)w->length, w->at, (int)a.key, a.at);
				return ST_SYNTAX;
			}
	return ST_OK;
}

static bool sees_counter_0(const struct processor *p, const char *name)
{
	const struct uncore_box *box = NULL;
	const struct uncore_event *e = uncore_event_find(p, name, &box);
	return e && uncore_sees_counter_0(box, e);
}

/* Whether users see a request, and whether it may share an equal one that exists already. */
enum shown { SHOWN, HIDDEN };
enum sharing { SHARED, OWN };

/* The index of the request, added if it is new, or if it is to be OWN. */
static enum status add(struct request_list *l, const struct word *w, enum shown shown, enum sharing sharing, unsigned *number, struct text *problem)
{
	struct request *r = &l->list[l->count];
	bool found = false;
	enum status st;

	if (l->count == REQUESTS_MAX) {
		text_fmt(problem, "\"%.*s\": at most %u events at once", (int)w->length, w->at, REQUESTS_MAX);
		return ST_FULL;
	}
	memset(r, 0, sizeof(*r));
	if ((st = no_key_twice(w, problem)) != ST_OK || (st = request_perf_modifiers(w, problem)) != ST_OK)
		return st;
	st = request_perf_terms(l->processor, w, r, problem, &found);
	if (!found && st == ST_OK)
		st = take_core(l->processor, w, r, problem, &found);
	if (!found && st == ST_OK)
		st = request_netburst(l->processor, w, r, problem, &found);
	if (!found && st == ST_OK)
		st = request_uncore(l->processor, w, r, problem, &found);
	if (!found && st == ST_OK)
		st = request_raw(l->processor, w, r, problem, &found);
	if (!found && st == ST_OK)
		return unknown(l->processor, w, problem);
	if (st != ST_OK)
		return st;
	if (r->event.netburst)
		r->event.netburst = &r->use;
	if (r->use.cascade && (st = request_netburst_cascade(l->count && l->last == l->count - 1 ? r - 1 : NULL, r, problem)) != ST_OK)
		return st;
	for (unsigned i = 0; i < l->count && !r->use.cascade && sharing == SHARED; i++)
		if (same(&l->list[i], r)) {
			l->list[i].hidden = l->list[i].hidden && shown == HIDDEN;
			*number = l->last = i;
			return ST_OK;
		}
	r->hidden = shown == HIDDEN;
	*number = l->last = l->count++;
	return ST_OK;
}

enum status request_events(struct request_list *l, const char *list, struct text *problem)
{
	struct word w;
	unsigned ignored;
	enum status st = ST_OK;

	while (st == ST_OK && next_word(&list, &w)) {
		w = request_perf_plain(&w);
		st = add(l, &w, SHOWN, SHARED, &ignored, problem);
	}
	return st;
}

static const char *behind_box(const char *name)
{
	const char *dot = name;

	while (*dot && *dot != '.')
		dot++;
	return *dot ? dot + 1 : name;
}

static bool has_term(const struct uncore_metric *m, const char *term)
{
	for (const char *at = m->expression; *at; at++)
		if (str_starts(at, term))
			return true;
	return false;
}

/* A metric named alone must have the term (rank, node); of several, those that have it take it. */
static bool takes(const struct uncore_metric *m, const struct word *w, const char *term)
{
	const bool alone = names_equal(w->at, w->name, m->name) || names_equal(w->at, w->name, behind_box(m->name));

	return !alone || has_term(m, term);
}

static enum status metric_modifiers(struct request_metric *m, const struct word *w, struct text *problem)
{
	struct modifier k = { 0 };
	size_t from = w->name;
	enum status st = no_key_twice(w, problem);

	if (st != ST_OK)
		return st;
	m->terms.node = 1; /* the link to the next node */
	while (request_modifier_next(w, &from, &k, &st)) {
		if (st == ST_OK && request_modifier_is_valued(&k, "rank") && k.value < 8)
			m->terms.rank = has_term(m->metric, "{rank") ? (unsigned)k.value : m->terms.rank;
		else if (st == ST_OK && request_modifier_is_valued(&k, "node") && k.value < 8)
			m->terms.node = has_term(m->metric, "{node") ? (unsigned)k.value : m->terms.node;
		else {
			text_fmt(problem, "\"%.*s\": a metric takes rank=N and node=N, 0 to 7", (int)w->length, w->at);
			return ST_SYNTAX;
		}
		if (!takes(m->metric, w, request_modifier_is_valued(&k, "rank") ? "{rank" : "{node")) {
			text_fmt(problem, "\"%.*s\": %s has no %.*s", (int)w->length, w->at, m->metric->name, (int)k.key, k.at);
			return ST_SYNTAX;
		}
	}
	return ST_OK;
}

static enum status add_metric(struct request_list *l, const struct uncore_metric *metric, const struct word *w, struct text *problem)
{
	struct request_metric *m = &l->metrics[l->metric_count];
	enum status st;

	if (l->metric_count == REQUEST_METRICS_MAX) {
		text_fmt(problem, "metric %s: at most %u at once", metric->name, REQUEST_METRICS_MAX);
		return ST_FULL;
	}
	memset(m, 0, sizeof(*m));
	m->metric = metric;
	if ((st = metric_modifiers(m, w, problem)) != ST_OK)
		return st;
	for (unsigned i = 0; i < l->metric_count; i++) /* named alone and with its group */
		if (l->metrics[i].metric == metric && l->metrics[i].terms.rank == m->terms.rank && l->metrics[i].terms.node == m->terms.node)
			return ST_OK;
	if ((st = uncore_metric_events(metric, &m->terms, &m->events)) != ST_OK) {
		text_fmt(problem, "metric %s: %s", metric->name, st == ST_UNSUPPORTED ? metric->lacks : status_name(st));
		return st;
	}
	bool own = false; /* the metric has an event that sees counter 0's occupancy: its requests are its own */
	for (unsigned i = 0; i < m->events.count; i++)
		own = own || sees_counter_0(l->processor, m->events.name[i]);
	for (unsigned i = 0; i < m->events.count; i++) {
		const char *name = m->events.name[i];
		struct word event;
		unsigned number = 0;

		(void)next_word(&name, &event);
		if ((st = add(l, &event, HIDDEN, own ? OWN : SHARED, &number, problem)) != ST_OK)
			return st;
		m->request[i] = (uint16_t)number;
	}
	l->metric_count++;
	return ST_OK;
}

/* Whether the name is that of exactly one metric without its box, as in the uncore manual. */
static bool metric_is_bare(const struct processor *p, const struct word *w)
{
	unsigned bare = 0;

	for (unsigned i = 0; i < p->derived_count; i++) {
		if (names_equal(w->at, w->name, p->derived[i].name))
			return false;
		bare += names_equal(w->at, w->name, behind_box(p->derived[i].name));
	}
	return bare == 1;
}

/* Whether the word is the metric's name, or the part before its dot: that names all metrics of a box or group that lack no event. */
static bool metric_named(const struct word *w, const struct uncore_metric *m)
{
	const char *name = m->name;
	char group[METRIC_NAME_BYTES];
	size_t dot = 0;

	while (name[dot] && name[dot] != '.')
		dot++;
	str_copy(group, dot + 1 < sizeof(group) ? dot + 1 : sizeof(group), name);
	return names_equal(w->at, w->name, name) || (!m->lacks[0] && names_equal(w->at, w->name, group));
}

enum status request_metrics(struct request_list *l, const char *list, struct text *problem)
{
	const struct processor *p = l->processor;
	enum status st = ST_OK;
	struct word w;

	if (!p->derived_count && !p->topdown_metrics) {
		text_fmt(problem, "%s has no metrics", p->name);
		return ST_MISSING;
	}
	while (st == ST_OK && next_word(&list, &w)) {
		const bool all = names_equal(w.at, w.name, "all"), bare = metric_is_bare(p, &w);
		bool found = all;

		if (p->topdown_metrics && (all || names_equal(w.at, w.name, "topdown"))) {
			found = true;
			l->topdown = true;
		}

		for (unsigned i = 0; i < p->derived_count && st == ST_OK; i++) {
			const char *name = p->derived[i].name;

			if (all ? p->derived[i].lacks[0] != 0 : bare ? !names_equal(w.at, w.name, behind_box(name)) : !metric_named(&w, &p->derived[i]))
				continue;
			found = true;
			st = add_metric(l, &p->derived[i], &w, problem);
		}
		if (!found) {
			struct nearest near;

			nearest_init(&near, w.at, w.name);
			if (p->topdown_metrics)
				nearest_try(&near, "", "topdown");
			for (unsigned i = 0; i < p->derived_count; i++)
				nearest_try(&near, "", p->derived[i].name);
			text_fmt(problem, "\"%.*s\": %s has no metric of that name", (int)w.length, w.at, p->name);
			nearest_text(&near, problem);
			return ST_MISSING;
		}
	}
	return st;
}
