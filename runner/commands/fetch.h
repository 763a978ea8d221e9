/* runner/commands/fetch.h: runs out of a log of the serial line. */
#ifndef RUNNER_FETCH_H
#define RUNNER_FETCH_H

#include "runner/options/command.h"

/* Makes the log's runs again, each in a folder of its own below `folder`. Returns the exit status, after a line on standard error for what is missing. */
int fetch_log(const struct command *c, const char *log, const char *folder);

#endif
