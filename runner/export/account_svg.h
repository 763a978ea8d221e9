/* runner/export/account_svg.h: an accounting as a picture. */
#ifndef RUNNER_ACCOUNT_SVG_H
#define RUNNER_ACCOUNT_SVG_H

#include <stdio.h>

#include "bench/report/user_account.h"

/* Draws a stacked bar: retiring, wasted, the stalls charged to each source, and the rest. A self-contained file with title, description and colours. */
void account_svg(FILE *to, const struct account *a);

#endif
