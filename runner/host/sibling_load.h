/* runner/host/sibling_load.h: work on the other cores of a virtual machine, so that its host lends none of them to others. */
#ifndef RUNNER_COMPANY_H
#define RUNNER_COMPANY_H

#include "pmu/base.h"

struct sibling_load;

/* Starts a loop without memory accesses on each core but the first that this process may use, at the lowest of all priorities
 * (SCHED_IDLE: whatever else wants the core has it). ST_FULL: no memory or no thread. */
MUST_CHECK enum status sibling_load_begin(struct sibling_load **out);
/* Ends them and gives back what it holds; NULL is nothing to do. */
void sibling_load_end(struct sibling_load *c);

#endif
