/* runner/commands/replay_report.h: the output formats of `stallmeter replay`. */
#ifndef RUNNER_REPLAY_REPORT_H
#define RUNNER_REPLAY_REPORT_H

#include "runner/data/trace_replay.h"

struct replay_report {
	const char *format;                /* "text", "json", "junit" or "sarif" */
	const char *trace, *machine;       /* names */
	bool quiet, strict;                /* quiet: in text only lines with a finding; strict: all classes count */
	uint64_t count[TRACE_CLASSES];     /* accesses by class: of the first finding that counts, else of the first */
	uint64_t findings;                 /* findings that count */
	uint64_t written;                  /* list elements so far */
};

/* Print to standard output: the head, an access with its line, the tail. */
void replay_report_begin(struct replay_report *r);
void replay_report_access(struct replay_report *r, unsigned line, const char *text, size_t bytes, const struct trace_verdict *v);
void replay_report_end(struct replay_report *r);

#endif
