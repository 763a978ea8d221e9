/* bench/suite/listing.h: describes accesses in words, and lists the writes of a run without making them. */
#ifndef BENCH_LISTING_H
#define BENCH_LISTING_H

#include "bench/suite/suite.h"
#include "pmu/backend/trace.h"

#define LISTING_EXTRAS 8

/* State needed to name events: the latest values of the extra registers that complete an event. */
struct listing {
	const struct processor *processor;
	const struct access *access;  /* locates registers in memory; NULL: they are not described */
	struct { uint32_t msr; uint64_t value; } extras[LISTING_EXTRAS];
	unsigned extra_count;
	struct box_places places; /* of boxes that the machine locates itself */
	bool restoring;         /* writes restore values found: they select no event */
};

void listing_init(struct listing *l, const struct processor *p, const struct access *a);
/* The row of the processor's list of writable registers; NULL: it is not listed. */
const struct writable_msr *listing_register(const struct processor *p, uint32_t msr);
/* Describes a write: the register, the event that it selects, if any, and the source that documents it. */
void listing_write(struct listing *l, struct text *t, const struct trace_entry *e);
/* A line in the format of pmu/backend/trace.h, with a comment after writes and with its line end. False: the format omits this access (the TSC,
 * which is polled and whose value differs from run to run). */
bool listing_trace_line(struct listing *l, struct text *t, const struct trace_entry *e);

/* Summary of a plan. */
struct suite_plan_summary {
	unsigned sections, writes, restored, kept; /* registers restored at the end; registers not restored, since the hardware changes them */
	unsigned refused;                          /* writes that the guard would refuse: each is a bug of this program */
};

/* Runs the settings on pmu/backend/dry_run.h: no register is written and no kernel runs. host->print receives the text row by row: every write with
 * its citation, then the value that each register is restored to. host->append is ignored. `sink`, if given, receives each access in the form of
 * listing_trace_line, and a comment line before each row.
 * ST_OK; the status of suite_check_processor, with `problem`; ST_FULL. */
MUST_CHECK enum status suite_plan(const struct access *a, const struct suite_settings *s, const struct suite_host *host,
                                  void (*sink)(void *self, const char *line), void *sink_self, struct suite_plan_summary *out,
                                  char *problem, size_t capacity);

#endif
