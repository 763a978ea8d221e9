/* runner/commands/samples.c: see samples.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/workloads/stall_model.h"
#include "pmu/counters/counters.h"
#include "runner/data/perf_event.h"
#include "runner/commands/samples.h"

/* Core 2 paper: cycles are sampled every two million, an event each time its penalties add up to that number of cycles. */
#define CYCLES_A_SAMPLE 2000000

/* The penalty of an event in thousandths of a cycle, and the row that measured it; 1 cycle and "" if no row did. */
static int64_t penalty_of(const struct document *d, const struct processor *p, const struct event *e, const char **row)
{
	*row = "";
	for (unsigned t = 0; t < stall_term_count; t++) {
		const struct expression *x = stall_count(p, t);
		const struct doc_node *measured = doc_row(d, stall_terms[t].penalty);
		if (!x || !x->term_count || x->terms[0].event != e || strcmp(doc_string(d, measured, "status"), "ok"))
			continue;
		const int64_t milli = doc_milli(d, measured, "value");
		if (milli > 1000) {
			*row = stall_terms[t].penalty;
			return milli;
		}
	}
	return 1000;
}

int samples_print(const struct command *c, const struct document *d, const struct processor *p, const char *profile)
{
	const struct profile *f = NULL;
	for (unsigned i = 0; i < p->profile_count; i++)
		if (!strcmp(p->profiles[i].name, profile))
			f = &p->profiles[i];
	if (!f) {
		complain(c, "--profile: %s has no profile \"%.40s\"; `stallmeter list --profiles %s` names them", p->title, profile, p->name);
		return EXIT_BAD_INPUT;
	}
	unsigned printed = 0, refused = 0;
	for (unsigned i = 0; i < f->event_count; i++) {
		const struct event *e = event_find(p, f->events[i]);
		const char *row, *why = "";
		const int64_t milli = penalty_of(d, p, e, &row), after = CYCLES_A_SAMPLE * INT64_C(1000) / milli;
		char text[256];
		if (perf_event_text(p, e, after, text, sizeof(text), &why) != ST_OK) {
			complain(c, "%s is left out: %s", e->name, why);
			refused++;
			continue;
		}
		printf("%s%s", printed++ ? "," : "", text);
		if (row[0])
			fprintf(stderr, "%-32s each %9" PRId64 ", for %.3f cycles: %s\n", e->name, after, (double)milli / 1000, row);
		else
			fprintf(stderr, "%-32s each %9" PRId64 ", as cycles: no row of these results has a penalty for it\n", e->name, after);
	}
	if (!printed) {
		complain(c, "perf can program none of the %u events of \"%s\" on %s", refused, profile, p->title);
		return EXIT_ROWS;
	}
	putchar('\n');
	return EXIT_GOOD;
}
