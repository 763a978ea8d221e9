/* runner/commands/fleet.h: the drawing of `stallmeter fleet`. */
#ifndef RUNNER_FLEET_COMMAND_H
#define RUNNER_FLEET_COMMAND_H

#include <stdio.h>

#include "runner/data/fleet.h"

/* One file that needs no other: machines x rows, what is outlying, drifts, what differs. */
void fleet_html(FILE *to, const struct fleet *f);

#endif
