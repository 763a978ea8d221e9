/* runner/commands/replay_report.h: the output formats of `stallmeter replay`. */
#ifndef RUNNER_REPLAY_REPORT_H
#define RUNNER_REPLAY_REPORT_H

#include "runner/data/trace_replay.h"

struct replay_report {
	const char *format;                /* "text", "json", "junit" or "sarif" */
	const char *trace, *machine;       /* names */
	bool quiet, strict;                /* text: only lines with a finding; whether all classes count */
	uint64_t count[TRACE_CLASSES];     /* accesses by their first class */
	uint64_t findings;                 /* that count */
	uint64_t written;                  /* of elements of a list, so far */
};

/* To standard output: the head; one access with its line; the tail. */
void replay_report_begin(struct replay_report *r);
void replay_report_access(struct replay_report *r, unsigned line, const char *text, size_t bytes, const struct trace_verdict *v);
void replay_report_end(struct replay_report *r);

#endif
