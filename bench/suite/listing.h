/* bench/suite/listing.h: accesses in words, and what a run would write without writing it. */
#ifndef BENCH_LISTING_H
#define BENCH_LISTING_H

#include "bench/suite/suite.h"
#include "pmu/backend/trace.h"

#define LISTING_EXTRAS 8

/* What is remembered to name events: the latest values of registers that go with an event. */
struct listing {
	const struct processor *processor;
	struct { uint32_t msr; uint64_t value; } extras[LISTING_EXTRAS];
	unsigned extra_count;
	bool restoring;         /* what is written now was found: nothing is selected by it */
};

void listing_init(struct listing *l, const struct processor *p);
/* The row of the processor's list of writable registers; NULL: it is not listed. */
const struct writable_msr *listing_register(const struct processor *p, uint32_t msr);
/* What a write means: the register, the event where it selects one, and where that is written. */
void listing_write(struct listing *l, struct text *t, const struct trace_entry *e);
/* A line of the form of pmu/backend/trace.h with a comment behind writes, line end included. False: the access is none that
 * such a text has (the TSC, whose value differs from run to run and which is read while waiting). */
bool listing_trace_line(struct listing *l, struct text *t, const struct trace_entry *e);

/* What a plan amounts to. */
struct suite_plan_summary {
	unsigned sections, writes, restored, kept; /* registers: put back at the end; not, for they change by themselves */
	unsigned refused;                          /* writes that the guard would refuse: a mistake of ours each */
};

/* Runs what the settings ask for on top of pmu/backend/dry_run.h: nothing is written and no kernel runs. host->say gets the text,
 * by row: every write with its citation, then what each register goes back to; host->append, if there is one, is
 * ignored. `sink`, if given, gets each access as listing_trace_line has it, and a comment line before each row.
 * ST_OK; what suite_check_processor says, in `problem`; ST_FULL. */
MUST_CHECK enum status suite_plan(const struct access *a, const struct suite_settings *s, const struct suite_host *host,
                                  void (*sink)(void *self, const char *line), void *sink_self, struct suite_plan_summary *out,
                                  char *problem, size_t capacity);

#endif
