/* runner/commands/account_svg.h: an accounting as a picture. */
#ifndef RUNNER_ACCOUNT_SVG_H
#define RUNNER_ACCOUNT_SVG_H

#include <stdio.h>

#include "bench/workloads/user_account.h"

/* A stack: retiring, wasted, then the stalls by source at their exposed cost, scaled down together when their sum is more than
 * the stalls, and the rest. A file of its own: title, description and colours are in it. */
void account_svg(FILE *to, const struct account *a);

#endif
