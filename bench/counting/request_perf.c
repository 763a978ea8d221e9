/* bench/counting/request_perf.c: perf's modifiers of events (perf-list(1), "EVENT MODIFIERS") that a count without an operating system cannot have. */
#include "bench/counting/request_parts.h"

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

/* Letters of perf's alone, without a value, at least one of which cannot be had; several may stand together (upp). */
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

enum status request_perf_modifiers(const struct word *w, struct text *problem)
{
	struct modifier m = { 0 };
	enum status st;

	for (size_t from = w->name; request_modifier_next(w, &from, &m, &st);) {
		const char letter = m.given ? 0 : unavailable_letter(&m);

		if (letter) {
			text_fmt(problem, "\"%.*s\": perf's %c %s", (int)w->length, w->at, letter, unavailable_why(letter));
			return ST_UNSUPPORTED;
		}
	}
	return ST_OK;
}

const char *request_note(const struct request *r)
{
	return r->kind == REQUEST_CORE && r->event.privilege == EVENT_USER ? "counts ring 3; the workload runs in ring 0" : "";
}
