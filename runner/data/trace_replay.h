/* runner/data/trace_replay.h: replays recorded accesses on a simulated machine and judges each. docs/lint.md explains what each class
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
/* Whether the class counts as the driver's error. */
bool trace_class_counts(enum trace_class c, bool strict);

#define TRACE_WORDS 320
struct trace_finding {
	enum trace_class class;
	char register_name[64], where[28], event[64]; /* "" if unknown or meaningless */
	char text[TRACE_WORDS];                        /* what is wrong */
	const char *paragraph;                         /* of the manual, or NULL */
	char clash[64];                                /* name of the register that it clashes with, or "" */
	unsigned clash_line;                           /* line of that register's last write; 0: not in this trace */
	unsigned lost_line;                            /* line of the last loss of events after that write, or of any if there is no such write; 0: none */
};

#define TRACE_FINDINGS (SIM_FINDINGS_MOST + 2)
struct trace_verdict { unsigned count; struct trace_finding finding[TRACE_FINDINGS]; };

struct trace_replay;
/* Opens a replay on an open machine; `cpus` is settled and remains the caller's. ST_FULL. */
MUST_CHECK enum status trace_replay_open(struct trace_replay **out, struct sim *s, const struct machine *m, const struct trace_cpus *cpus);
void trace_replay_close(struct trace_replay *r);
/* Replays a line. An access without a finding is accepted. ST_RANGE: the line's processor is not mapped; ST_FULL. */
MUST_CHECK enum status trace_replay_step(struct trace_replay *r, unsigned line, const struct traced *t, struct trace_verdict *out);

#endif
