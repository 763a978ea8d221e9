/* bench/counting/session.h: one counting session, from names to printed counts, for `stallmeter stat` and the stick's keys. */
#ifndef BENCH_COUNTING_SESSION_H
#define BENCH_COUNTING_SESSION_H

#include "bench/counting/stat_output.h"

/* A user's request. At least one of events and metrics. */
struct session_settings {
	const char *events, *metrics;   /* comma lists, NULL or "": none */
	const char *workload;           /* comma list, run one after the other */
	const char *cores;              /* NULL or "": stat_workload_open */
	uint64_t interval_us;           /* 0: none */
	uint64_t duration_us;           /* of each run, counted in its windows; 0: use `windows` */
	uint64_t windows;               /* of each run; 0: SESSION_WINDOWS, or with an interval ten of them */
	enum stat_format format;
	enum stat_detail detail;
	uint64_t seed;
};
#define SESSION_WINDOWS 4u

struct session_summary { unsigned workloads, runs, uncounted; bool stopped; };

/* Runs the session. host->print gets the text; host->get and host->put are required; host->stop is polled between windows. If the status is not
 * ST_OK, `problem` gets one line. */
MUST_CHECK enum status session_run(const struct access *a, const struct cpu *cpu, const struct session_settings *s,
                                   const struct suite_host *host, struct session_summary *out, char *problem, size_t capacity);

#endif
