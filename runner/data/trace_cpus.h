/* runner/data/trace_cpus.h: maps the processors of a trace to logical processors of the simulated machine. */
#ifndef RUNNER_TRACE_CPUS_H
#define RUNNER_TRACE_CPUS_H

#include "pmu/sim/machine/machine.h"

#define TRACE_CPUS_MOST 4096
#define TRACE_CPU_NONE  0xFFFFu

struct trace_cpus {
	bool given;                       /* by a map; otherwise derived from the trace */
	bool linux_form;                  /* a tracepoint of Linux was seen */
	unsigned seen, highest;           /* number of distinct processors, and the highest processor number */
	uint16_t order[TRACE_CPUS_MOST];  /* in order of appearance */
	uint16_t map[TRACE_CPUS_MOST];    /* TRACE_CPU_NONE: not in use */
	enum { CPUS_MACHINE, CPUS_LINUX, CPUS_LIST, CPUS_ORDER } how;
	bool paired;                      /* the machine was given two threads per core for the trace */
};

void trace_cpus_init(struct trace_cpus *c);
/* MAP: "machine" (thread t % threads of core t / threads), "linux" (first threads of all cores, then second ones), or a list
 * of TRACE=MACHINE and FROM-TO=FROM-TO, separated by commas or blanks. ST_SYNTAX. */
MUST_CHECK enum status trace_cpus_map(struct trace_cpus *c, const char *text, size_t bytes);
/* Records a processor that the trace names. ST_RANGE: its number is too high. */
MUST_CHECK enum status trace_cpus_see(struct trace_cpus *c, unsigned cpu, bool by_linux);
/* Fills in the map after the whole trace has been read. The machine gets a second thread per core if the trace names more processors
 * than it has and that suffices. ST_RANGE: they do not fit. */
MUST_CHECK enum status trace_cpus_settle(struct trace_cpus *c, struct machine *m);

#endif
