/* runner/commands/list_events.h: prints the events of a processor for `stallmeter list --events`. */
#ifndef RUNNER_LIST_EVENTS_H
#define RUNNER_LIST_EVENTS_H

#include "runner/options/command.h"
#include "tables/processor.h"

/* Prints every event of p: its encoding, the counters that can count it, whether it is precise, the filters that it needs, and whether the simulated
 * machine (name or file; NULL: the built-in one of that processor, if there is one) models it. Returns the exit status. */
int list_events(const struct command *c, const struct processor *p, const char *machine);

#endif
