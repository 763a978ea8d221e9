/* runner/commands/samples.h: sample-after values of a profile's events, derived from the penalties of a run. */
#ifndef RUNNER_SAMPLES_H
#define RUNNER_SAMPLES_H

#include "bench/results/document.h"
#include "runner/options/command.h"
#include "tables/processor.h"

/* Prints a list for `perf record -e` on standard output, and the origin of each value on standard error. Returns the exit
 * status. */
int samples_print(const struct command *c, const struct document *d, const struct processor *p, const char *profile);

#endif
