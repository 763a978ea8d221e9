/* runner/commands/fleet.h: the drawing of `stallmeter fleet`. */
#ifndef RUNNER_FLEET_COMMAND_H
#define RUNNER_FLEET_COMMAND_H

#include <stdio.h>

#include "runner/data/fleet.h"

/* One self-contained file: machines x rows, outliers, drifts and their differences. */
void fleet_html(FILE *to, const struct fleet *f);

#endif
