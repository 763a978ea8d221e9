/* runner/commands/fleet.h: the HTML report of `stallmeter fleet`. */
#ifndef RUNNER_FLEET_COMMAND_H
#define RUNNER_FLEET_COMMAND_H

#include <stdio.h>

#include "runner/data/fleet.h"

/* Writes a self-contained file: a map of runs x rows, outliers with their differences from the group, drifts. */
void fleet_html(FILE *to, const struct fleet *f);

#endif
