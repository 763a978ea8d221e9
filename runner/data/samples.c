/* runner/data/samples.c: see samples.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/workloads/workload_account.h"
#include "pmu/core/counters.h"
#include "runner/data/samples.h"

/* Core 2 paper: cycles are sampled every two million, an event as often as its penalty makes the same number of cycles. */
#define CYCLES_A_SAMPLE 2000000

/* The row that measured the penalty of an event, and the penalty in thousandths of a cycle; 1 cycle and "" if there is none. */
static int64_t penalty_of(const struct document *d, const char *event, const char **row)
{
	*row = "";
	for (unsigned t = 0; t < ACCOUNT_TERMS; t++)
		for (unsigned i = 0; i < COUNT_OF(account_terms[t].events) && account_terms[t].events[i]; i++) {
			const struct doc_node *measured = doc_row(d, account_terms[t].row);
			if (strcmp(account_terms[t].events[i], event) || strcmp(doc_string(d, measured, "status"), "ok"))
				continue;
			const int64_t milli = doc_milli(d, measured, "value");
			if (milli > 1000) {
				*row = account_terms[t].row;
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
	unsigned printed = 0;
	for (unsigned i = 0; i < f->event_count; i++) {
		const struct event *e = event_find(p, f->events[i]);
		const char *row;
		const int64_t milli = penalty_of(d, f->events[i], &row), after = CYCLES_A_SAMPLE * INT64_C(1000) / milli;
		printf("%s", printed++ ? "," : "");
		if (!strcmp(e->name, "CPU_CLK_UNHALTED.CORE") || !strcmp(e->name, "CPU_CLK_UNHALTED.THREAD"))
			printf("cycles/period=%" PRId64 "/", after);
		else {
			printf("cpu/event=0x%x,umask=0x%x", e->select, e->umask);
			if (e->cmask)
				printf(",cmask=%u", e->cmask);
			printf("%s,period=%" PRId64 ",name=%s/%s", e->inv ? ",inv=1" : "", after, e->name, e->pebs ? "p" : "");
		}
		if (row[0])
			fprintf(stderr, "%-32s each %9" PRId64 ", for %.3f cycles: %s\n", e->name, after, (double)milli / 1000, row);
		else
			fprintf(stderr, "%-32s each %9" PRId64 ", as cycles: no row of these results has a penalty for it\n", e->name, after);
	}
	putchar('\n');
	return EXIT_GOOD;
}
