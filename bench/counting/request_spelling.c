/* bench/counting/request_spelling.c: other names of events: a document's, perf's, and what an event means. */
#include "bench/counting/request_parts.h"
#include "bench/counting/names.h"
#include "pmu/core/concept.h"

/* perf list, "Hardware event", where the name is not a concept's. */
static const struct { const char *perf, *concept; } generic[] = {
	{ "cpu-cycles", "cycles" }, { "ref-cycles", "cycles.reference" }, { "branches", "branch.retired" },
	{ "branch-instructions", "branch.retired" }, { "branch-misses", "branch.misp.any" }, { "cache-references", "llc.reference" },
	{ "cache-misses", "llc.miss" },
};

const struct event *request_spelled(const struct processor *p, const struct word *w, size_t *from)
{
	for (unsigned i = 0; i < p->spelling_count; i++)
		if (request_names(w, p->spellings[i].name, from))
			return event_find(p, p->spellings[i].event);
	for (unsigned i = 0; i < COUNT_OF(generic); i++)
		if (request_names(w, generic[i].perf, from))
			return concept_event(p, generic[i].concept);
	for (unsigned i = 0; i < concept_count; i++)
		if (request_names(w, concepts[i].name, from))
			return concept_event(p, concepts[i].name);
	return NULL;
}
