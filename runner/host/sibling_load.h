/* runner/host/sibling_load.h: keeps the other cores of a virtual machine busy, so that the host does not give them to other guests. */
#ifndef RUNNER_COMPANY_H
#define RUNNER_COMPANY_H

#include "pmu/base.h"

struct sibling_load;

/* Starts a loop without memory accesses on each core that this process may use except the first, at the lowest priority
 * (SCHED_IDLE: any other process preempts it). ST_FULL: no memory or no thread. */
MUST_CHECK enum status sibling_load_begin(struct sibling_load **out);
/* Ends the loops and frees `c`; NULL: no effect. */
void sibling_load_end(struct sibling_load *c);

#endif
