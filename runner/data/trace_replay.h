/* runner/data/trace_replay.h: carries recorded accesses out on a simulated machine and judges each. docs/lint.md says what each class
 * means on hardware. */
#ifndef RUNNER_TRACE_REPLAY_H
#define RUNNER_TRACE_REPLAY_H

#include "pmu/sim/backend/sim.h"
#include "runner/data/trace_cpus.h"
#include "runner/data/trace_text.h"

enum trace_class {
	TRACE_ACCEPTED, TRACE_FAULTS, TRACE_RESERVED_FAULTS, TRACE_RESERVED_IGNORED, TRACE_WRONG_COUNTER, TRACE_IGNORED, TRACE_UNDEFINED,
	TRACE_UNMAPPED, TRACE_NO_LATCH, TRACE_DIFFERS,
	TRACE_UNMODELLED, TRACE_SIMULATOR, /* these two say nothing about the driver */
	TRACE_CLASSES
};
/* "accepted", "faults", "reserved, faults", "reserved, ignored", "wrong counter", ... */
const char *trace_class_name(enum trace_class c);
/* Whether it is held against the driver. */
bool trace_class_counts(enum trace_class c, bool strict);

#define TRACE_WORDS 320
struct trace_finding {
	enum trace_class class;
	char register_name[64], where[28], event[64]; /* "" if unknown or meaningless */
	char text[TRACE_WORDS];                        /* what is wrong */
	const char *paragraph;                         /* of the manual, or NULL */
	char clash[64];                                /* name of the other register that it clashes with, or "" */
	unsigned clash_line;                           /* where that was last written; 0: not in this trace */
	unsigned lost_line;                            /* events were lost there, after that or at all; 0: none */
};

#define TRACE_FINDINGS (SIM_FINDINGS_MOST + 2)
struct trace_verdict { unsigned count; struct trace_finding finding[TRACE_FINDINGS]; };

struct trace_replay;
/* Builds a session on a machine that is open; `cpus` is settled and stays the caller's. ST_FULL. */
MUST_CHECK enum status trace_replay_open(struct trace_replay **out, struct sim *s, const struct machine *m, const struct trace_cpus *cpus);
void trace_replay_close(struct trace_replay *r);
/* Carries out what a line asks for. An access without a finding is accepted. ST_RANGE: no processor stands for the line's; ST_FULL. */
MUST_CHECK enum status trace_replay_step(struct trace_replay *r, unsigned line, const struct traced *t, struct trace_verdict *out);

#endif
