/* bench/counting/request_perf.c: perf's syntax for events: terms of a raw event, and modifiers (perf-list(1)), not all of which are possible
 * without an operating system; likwid's counters after an event. */
#include "bench/counting/request_parts.h"
#include "bench/catalogue/names.h"

static const struct { const char *letters, *why; } unavailable[] = {
	{ "pP", "takes precise samples; `run --profile EVENTS,records=N` does, stat counts" },
	{ "SR", "reads values of samples; stat counts and takes none" },
	{ "GH", "tells guests from their host; no guest runs here" },
	{ "h", "counts in a hypervisor; these counters do not tell one" },
	{ "I", "counts while no core idles; the inverted comparison is inv" },
	{ "e", "keeps other events off the counters; ask for the event alone (counting edges is edge)" },
	{ "DWX", "is for groups that share counters by turns; here each event keeps its counter for a whole run" },
	{ "b", "counts by BPF; there is no kernel here" },
};

static const char *unavailable_why(char letter)
{
	for (unsigned i = 0; i < COUNT_OF(unavailable); i++)
		for (const char *l = unavailable[i].letters; *l; l++)
			if (*l == letter)
				return unavailable[i].why;
	return NULL;
}

/* The first unsupported letter of a modifier that consists of perf's letters and has no value (several may stand together: upp); 0: none. */
static char unavailable_letter(const struct modifier *m)
{
	char letter = 0;

	for (size_t i = 0; i < m->length; i++)
		if (unavailable_why(m->at[i]))
			letter = letter ? letter : m->at[i];
		else if (m->at[i] != 'u' && m->at[i] != 'k')
			return 0;
	return letter;
}

/* PMC0, FIXC1, UPMC3, MBOX0C2, MBOX1FIX: likwid's EVENT:COUNTER. */
static bool is_likwids_counter(const struct modifier *m)
{
	static const char *const kinds[] = { "PMC", "FIXC", "UPMC", "UPMCFIX", "TMP", "PWR" };
	size_t n = m->length;

	while (n && m->at[n - 1] >= '0' && m->at[n - 1] <= '9')
		n--;
	for (unsigned i = 0; i < COUNT_OF(kinds) && n < m->length; i++)
		if (names_equal(m->at, n, kinds[i]))
			return true;
	return m->length > 4 && names_equal(m->at + 1, 3, "BOX");
}

enum status request_perf_modifiers(const struct word *w, struct text *problem)
{
	struct modifier m = { 0 };
	enum status st;

	for (size_t from = w->name; request_modifier_next(w, &from, &m, &st);) {
		const char letter = m.given ? 0 : unavailable_letter(&m);

		if (!m.given && is_likwids_counter(&m)) {
			text_fmt(problem, "\"%.*s\": %.*s is a counter as likwid names it; here counters are chosen by the planner, leave it away", (int)w->length, w->at, (int)m.length, m.at);
			return ST_UNSUPPORTED;
		}
		if (letter) {
			text_fmt(problem, "\"%.*s\": perf's %c %s", (int)w->length, w->at, letter, unavailable_why(letter));
			return ST_UNSUPPORTED;
		}
	}
	return ST_OK;
}

/* --- cpu/event=...,umask=.../ ------------------------------------------------------------------- */

/* Values of the terms, perf-list(1), "RAW HARDWARE EVENT DESCRIPTOR" and sysfs' format of Intel's and AMD's core counters. */
enum { TERM_EVENT, TERM_UMASK, TERM_CMASK, TERM_INV, TERM_EDGE, TERM_ANY, TERM_LDLAT, TERM_OFFCORE, TERM_FRONTEND, TERM_PERIOD, TERMS };
static const struct { const char *name; uint64_t most; uint32_t register_first, register_last; } terms[TERMS] = {
	[TERM_EVENT] = { "event", 0xFFF }, [TERM_UMASK] = { "umask", 0xFFFF }, [TERM_CMASK] = { "cmask", 0xFF }, [TERM_INV] = { "inv", 1 }, [TERM_EDGE] = { "edge", 1 },
	[TERM_ANY] = { "any", 1 }, [TERM_LDLAT] = { "ldlat", 0xFFFF, REQUEST_LDLAT, REQUEST_LDLAT },
	[TERM_OFFCORE] = { "offcore_rsp", UINT64_MAX, 0x1A6, 0x1A7 }, [TERM_FRONTEND] = { "frontend", UINT64_MAX, 0x3F7, 0x3F7 }, /* SDM vol. 4 */
	[TERM_PERIOD] = { "period", UINT64_MAX }, /* of samples: counts have none */
};

struct terms { uint64_t value[TERMS]; uint32_t given; const char *name; size_t length; };

/* One term. ST_SYNTAX, ST_RANGE. */
static enum status term(const char *at, size_t n, struct terms *to)
{
	size_t key = 0;

	while (key < n && at[key] != '=')
		key++;
	if (key < n && names_equal(at, key, "name")) {
		to->name = at + key + 1;
		to->length = n - key - 1;
		return ST_OK;
	}
	for (unsigned i = 0; i < TERMS; i++) {
		if (!names_equal(at, key, terms[i].name))
			continue;
		to->given |= 1u << i;
		to->value[i] = 1; /* "edge" is edge=1 */
		const enum status st = key < n ? parse_u64(at + key + 1, n - key - 1, &to->value[i]) : ST_OK;
		return st != ST_OK ? ST_SYNTAX : to->value[i] > terms[i].most ? ST_RANGE : ST_OK;
	}
	return ST_SYNTAX;
}

/* The table's event with that code, whose counters and registers hold for the code too. A unit mask that the table lacks counts on the counters of
 * the event's other masks, if those agree. `value`: the value of a register is given. ST_SYNTAX: none is given, and the register selects what is
 * counted. */
static enum status of_code(const struct processor *p, uint16_t select, uint16_t umask, bool value, const struct word *w, struct event *e, struct text *problem)
{
	const struct event *lacking = NULL;
	uint32_t mask = 0;
	bool differ = false;

	for (unsigned i = 0; i < p->event_count; i++) {
		const struct event *k = &p->events[i];

		/* a fixed counter's own events have the code 0, which no general counter counts */
		if (k->select != select || (!k->counter_mask && k->select))
			continue;
		if (k->umask == umask && value == (k->extra_msr != 0)) {
			*e = *k;
			e->fixed = e->counter_mask ? 0 : e->fixed;
			return ST_OK;
		}
		lacking = k->umask == umask && k->extra_msr ? k : lacking;
		differ = differ || (mask && mask != k->counter_mask);
		mask = k->counter_mask;
	}
	*e = (struct event){ .select = select, .umask = umask, .counter_mask = mask && !differ ? mask : UINT32_MAX };
	if (!lacking || value)
		return ST_OK;
	text_fmt(problem, "\"%.*s\": register 0x%x says what 0x%x,0x%x counts: name the event, or give perf's terms a value of the register", (int)w->length, w->at, lacking->extra_msr, select, umask);
	return ST_SYNTAX;
}

/* All terms between the slashes; *at: after the last. */
static enum status take_terms(const struct word *w, size_t *at, struct terms *t, struct text *problem)
{
	for (bool more = true; more;) {
		size_t end = *at;

		while (end < w->length && w->at[end] != ',' && w->at[end] != '/')
			end++;
		more = end < w->length && w->at[end] == ',';
		const enum status st = term(w->at + *at, end - *at, t);

		if (st != ST_OK) {
			text_fmt(problem, "\"%.*s\": %.*s %s", (int)w->length, w->at, (int)(end - *at), w->at + *at, st == ST_RANGE ? "is out of range" :
			         "is no term here: event=N, umask=N, cmask=N, inv, edge, any, ldlat=N, offcore_rsp=N, frontend=N, name=TEXT");
			return st;
		}
		*at = end < w->length ? end + 1 : end;
	}
	if (t->given >> TERM_EVENT & 1)
		return ST_OK;
	text_fmt(problem, "\"%.*s\": the term event=N is missing", (int)w->length, w->at);
	return ST_SYNTAX;
}

/* The event that the terms describe. */
static enum status event_of(const struct processor *p, const struct terms *t, const struct word *w, struct event *e, struct text *problem)
{
	const bool value = t->given & (1u << TERM_LDLAT | 1u << TERM_OFFCORE | 1u << TERM_FRONTEND);
	enum status st = of_code(p, (uint16_t)t->value[TERM_EVENT], (uint16_t)t->value[TERM_UMASK], value, w, e, problem);

	for (unsigned i = TERM_LDLAT; i <= TERM_FRONTEND && st == ST_OK; i++) {
		if (!(t->given >> i & 1))
			continue;
		if (!e->extra_msr || e->extra_msr < terms[i].register_first || e->extra_msr > terms[i].register_last) {
			text_fmt(problem, "\"%.*s\": %s has no event 0x%x,0x%x that takes %s", (int)w->length, w->at, p->name, e->select, e->umask, terms[i].name);
			st = ST_UNSUPPORTED;
		} else if (i == TERM_LDLAT && t->value[i] < REQUEST_LDLAT_LEAST) {
			text_fmt(problem, "\"%.*s\": ldlat=%u is out of range", (int)w->length, w->at, (unsigned)t->value[i]);
			st = ST_RANGE;
		}
		e->extra_value = t->value[i];
	}
	e->cmask = (uint8_t)t->value[TERM_CMASK];
	e->inv = (uint8_t)t->value[TERM_INV];
	e->edge = (uint8_t)t->value[TERM_EDGE];
	e->any = (uint8_t)t->value[TERM_ANY];
	return st;
}

struct word request_perf_plain(const struct word *w)
{
	struct word plain = *w;
	struct terms t = { 0 };
	size_t slash = 0;

	while (slash < w->length && w->at[slash] != '/')
		slash++;
	if (slash + 2 < w->length && w->at[w->length - 1] == '/' && term(w->at + slash + 1, w->length - slash - 2, &t) == ST_OK && t.given == 1u << TERM_PERIOD)
		plain.name = plain.length = slash;
	return plain;
}

/* Linux' name of the core's PMU: a hybrid processor has one for each kind of core, which CPUID 0x1A distinguishes (0x40 large, 0x20 small). */
static bool is_pmu_of(const struct processor *p, const char *at, size_t n)
{
	return names_equal(at, n, "cpu") || (p->core_type == CORE_TYPE_CORE && names_equal(at, n, "cpu_core")) || (p->core_type == CORE_TYPE_ATOM && names_equal(at, n, "cpu_atom"));
}

enum status request_perf_terms(const struct processor *p, const struct word *w, struct request *r, struct text *problem, bool *found)
{
	struct terms t = { 0 };
	struct word behind = *w;
	size_t pmu = 0, at;
	enum status st;

	while (pmu < w->length && w->at[pmu] != '/')
		pmu++;
	*found = pmu < w->length;
	if (!*found)
		return ST_OK;
	if (p->detector_count || !is_pmu_of(p, w->at, pmu)) {
		text_fmt(problem, "\"%.*s\": perf's %.*s/.../ is not known here; name an event of `stallmeter list --events %s`", (int)w->length, w->at, (int)pmu, w->at, p->name);
		return ST_UNSUPPORTED;
	}
	at = pmu + 1;
	st = take_terms(w, &at, &t, problem);
	if (st == ST_OK)
		st = event_of(p, &t, w, &r->event, problem);
	if (st != ST_OK)
		return st;
	r->kind = REQUEST_CORE;
	const size_t n = t.name ? t.length : w->length;

	str_copy(r->name, n < sizeof(r->name) ? n + 1 : sizeof(r->name), t.name ? t.name : w->at);
	r->event.name = r->name;
	/* modifiers follow the slash, with a colon or without */
	behind.name = at < w->length && w->at[at] != ':' ? at - 1 : at;
	st = request_perf_modifiers(&behind, problem);
	const struct event told = r->event;

	if (st == ST_OK)
		st = request_modifiers(p, r, &behind, behind.name, problem);
	return st == ST_OK ? request_fixed_alone(r, &told, w, problem) : st;
}

const char *request_note(const struct request *r)
{
	return r->kind == REQUEST_CORE && r->event.privilege == EVENT_USER ? "counts ring 3; the workload runs in ring 0" : "";
}

/* --- rHHHH -------------------------------------------------------------------------------------- */

static int hex_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

enum status request_raw(const struct processor *p, const struct word *w, struct request *r, struct text *problem, bool *found)
{
	const bool wide = cpu_vendor_is_amd(p->vendor);
	/* AMD's select is wider, and has no AnyThread bit; Intel's may have a second unit mask */
	const uint64_t allowed = wide ? 0xFFF84FFFFull : 0xFF00FFA4FFFFull;
	uint64_t v = 0;

	*found = w->name > 1 && w->name <= (wide ? 10 : 13) && (w->at[0] == 'r' || w->at[0] == 'R');
	for (size_t i = 1; i < w->name && *found; i++) {
		*found = hex_of(w->at[i]) >= 0;
		v = v << 4 | (uint64_t)hex_of(w->at[i]);
	}
	if (!*found)
		return ST_OK;
	if (p->detector_count) {
		text_fmt(problem, "\"%.*s\": a raw code is a PERFEVTSEL value, which this processor has not; name a detector's unit", (int)w->length, w->at);
		return ST_UNSUPPORTED;
	}
	if (v & ~allowed) {
		text_fmt(problem, wide ? "\"%.*s\": of a raw code bits 35:32, 31:23, 18 and 15:0 may be set: event's upper bits, cmask, inv, edge, umask, event" :
			"\"%.*s\": of a raw code bits 47:40, 31:23, 21, 18 and 15:0 may be set: second umask, cmask, inv, any, edge, umask, event", (int)w->length, w->at);
		return ST_RANGE;
	}
	r->kind = REQUEST_CORE;
	enum status st = of_code(p, (uint16_t)((v & 0xFF) | (v >> 32 & 0xF) << 8), (uint16_t)((v >> 8 & 0xFF) | (v >> 40 & 0xFF) << 8), false, w, &r->event, problem);
	r->event.edge = v >> 18 & 1;
	r->event.any = v >> 21 & 1;
	r->event.inv = v >> 23 & 1;
	r->event.cmask = (uint8_t)(v >> 24);
	const struct event told = r->event;

	if (st == ST_OK && w->length >= sizeof(r->name))
		st = request_too_long(w, problem);
	if (st == ST_OK)
		st = request_modifiers(p, r, w, w->name, problem);
	str_copy(r->name, w->length + 1 < sizeof(r->name) ? w->length + 1 : sizeof(r->name), w->at);
	r->event.name = r->name;
	return st == ST_OK ? request_fixed_alone(r, &told, w, problem) : st;
}
