/* bench/counting/request_spelling.c: other names of events: a document's, perf's, and concepts. */
#include "bench/counting/request_parts.h"
#include "bench/catalogue/names.h"
#include "pmu/core/concept.h"

/* perf list, "Hardware event", where the name is not a concept's. */
static const struct { const char *perf, *concept; } generic[] = {
	{ "cpu-cycles", "cycles" }, { "ref-cycles", "cycles.reference" }, { "branches", "branch.retired" },
	{ "branch-instructions", "branch.retired" }, { "branch-misses", "branch.misp.any" }, { "cache-references", "llc.reference" },
	{ "cache-misses", "llc.miss" },
	/* "Hardware cache event": by the meaning of the name; Linux may use another event */
	{ "L1-dcache-loads", "load.retired" }, { "L1-dcache-load-misses", "load.miss.l1" }, { "L1-dcache-stores", "store.retired" },
	{ "L1-icache-load-misses", "l1i.miss" }, { "LLC-load-misses", "load.miss.llc" }, { "dTLB-load-misses", "dtlb.load.walk" },
	{ "iTLB-load-misses", "itlb.walk" }, { "branch-loads", "branch.retired" }, { "branch-load-misses", "branch.misp.any" },
};

/* "Software event", "Tool event" of perf list. */
static const char *const of_linux[] = {
	"alignment-faults", "context-switches", "cs", "cpu-clock", "cpu-migrations", "migrations", "duration_time", "emulation-faults", "faults",
	"major-faults", "minor-faults", "page-faults", "task-clock", "user_time", "system_time",
};

static const char *concept_of_word(const struct word *w)
{
	size_t ignored;

	for (unsigned i = 0; i < COUNT_OF(generic); i++)
		if (request_names(w, generic[i].perf, &ignored))
			return generic[i].concept;
	for (unsigned i = 0; i < concept_count; i++)
		if (request_names(w, concepts[i].name, &ignored))
			return concepts[i].name;
	return NULL;
}

bool request_why_not(const struct processor *p, const struct word *w, struct text *problem)
{
	const char *concept = concept_of_word(w);
	const struct expression *x = concept ? concept_find(p, concept) : NULL;
	size_t ignored;

	for (unsigned i = 0; i < COUNT_OF(of_linux); i++)
		if (request_names(w, of_linux[i], &ignored)) {
			text_fmt(problem, "\"%.*s\": Linux counts it, and no Linux runs here", (int)w->length, w->at);
			return true;
		}
	if (!concept)
		return false;
	text_fmt(problem, "\"%.*s\": no one event of %s counts %s", (int)w->length, w->at, p->name, concept);
	if (x && x->exactness != EXACTNESS_NONE)
		text_fmt(problem, x->exactness == EXACTNESS_EXACT ? "; name what does together: %s" : "; nearest to it: %s", x->text);
	if (x && x->why && x->why[0])
		text_fmt(problem, " (%s)", x->why);
	return true;
}

static const struct event *spelled(const struct processor *p, const struct word *w, size_t *from)
{
	for (unsigned i = 0; i < p->spelling_count; i++)
		if (request_names(w, p->spellings[i].name, from) && event_find(p, p->spellings[i].event))
			return event_find(p, p->spellings[i].event);
	for (unsigned i = 0; i < COUNT_OF(generic); i++)
		if (request_names(w, generic[i].perf, from))
			return concept_event(p, generic[i].concept);
	for (unsigned i = 0; i < concept_count; i++)
		if (request_names(w, concepts[i].name, from))
			return concept_event(p, concepts[i].name);
	return NULL;
}

/* The same event on a general counter, which takes modifiers: the vendor appends _P to its name. */
static const struct event *general(const struct processor *p, const struct event *e)
{
	char name[REQUEST_NAME_BYTES];
	struct text t;

	if (!e || !e->fixed || e->counter_mask)
		return e;
	text_init(&t, name, sizeof(name));
	text_fmt(&t, "%s_P", e->name);
	const struct event *twin = event_find(p, name);

	return twin ? twin : e;
}

const struct event *request_spelled(const struct processor *p, const struct word *w, size_t *from)
{
	const struct event *e = spelled(p, w, from);

	return e && *from < w->length ? general(p, e) : e;
}
