/* runner/commands/fetch.h: rebuilds runs from a log of the serial line. */
#ifndef RUNNER_FETCH_H
#define RUNNER_FETCH_H

#include "runner/options/command.h"

/* Rebuilds each of the log's runs in its own folder below `folder`. Returns the exit status; reports missing lines on standard error. */
int fetch_log(const struct command *c, const char *log, const char *folder);

#endif
