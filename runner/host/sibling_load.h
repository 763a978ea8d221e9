/* runner/host/sibling_load.h: work on the other cores of a virtual machine, so that its host lends none of them to others. */
#ifndef RUNNER_COMPANY_H
#define RUNNER_COMPANY_H

#include "pmu/base.h"

struct sibling_load;

/* Starts a loop without memory accesses on each core that this process may use except the first, at the lowest priority
 * (SCHED_IDLE: anything else has precedence). ST_FULL: no memory or no thread. */
MUST_CHECK enum status sibling_load_begin(struct sibling_load **out);
/* Ends the loops and frees what it holds; NULL: no effect. */
void sibling_load_end(struct sibling_load *c);

#endif
