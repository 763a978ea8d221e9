/* bench/workloads/stall_model.h: the stall terms of tables/stall_terms.csv: what a processor counts for each, and what of their
 * costs can be charged. Both accountings use it: that of the own workloads (workload_account.h) and that of a user's counts
 * (bench/report/user_account.h).
 *
 * P x N is what events cost when nothing hides them. Counts cannot say what overlapped; three counts bound it (Levinthal's guide):
 *   misses      cycles with an L1D miss in flight: loads that miss cannot stall longer, however many are in flight at once
 *   front end   cycles without issue though no resource was missing (instruction starvation), and cycles spent on issuing what
 *               never retired: mispredicted branches and fetches cannot cost more
 *   stalls      cycles without progress: all terms together cannot exceed them. What happens while a miss is in flight is hidden
 *               by it, so loads that miss are charged first and the others share what they leave. A load behind a store whose
 *               address is late waits as long as that is late: such waits are counted, their length is not, so they come last
 * The terms of one bound shrink by the same factor. What the bounds take off is overlap, which the reports print.
 *
 * Not modelled: misses that are hidden by other work while the core is stalled for another reason; they are charged all the same. */
#ifndef BENCH_STALL_MODEL_H
#define BENCH_STALL_MODEL_H

#include "pmu/core/concept.h"

/* What the processor counts for term t: an expression of EXACTNESS_NONE says why nothing. NULL: no event of it is known at all. */
const struct expression *stall_count(const struct processor *p, unsigned t);
/* The single event of a concept. NULL: it has none, or counts the concept by several. */
const struct event *stall_event(const struct processor *p, const char *concept);
/* The term of that key; STALL_TERMS_MAX: there is none. */
unsigned stall_find(const char *key);

/* What an accounting counts beside the terms. In this order: cycles, reference cycles, cycles in which nothing starts to execute, in which
 * nothing retires, uops that go to work, the pairs among them, uops that retire, the pairs among them, cycles without issue, those
 * for lack of a resource, cycles with a miss in flight. */
enum stall_identity { STALL_CYCLES, STALL_REFERENCE, STALL_EXECUTE, STALL_RETIRE, STALL_ISSUED, STALL_ISSUED_PAIRS, STALL_RETIRED, STALL_RETIRED_PAIRS, STALL_NO_ISSUE,
	STALL_RESOURCE, STALL_MISSES, STALL_IDENTITIES };
/* The event of an identity on a processor; NULL: it has none. */
const struct event *stall_identity_event(const struct processor *p, enum stall_identity i);

/* Cycles of a term: alone is P x N. */
struct stall_charge { bool known; int64_t alone, charged; };
/* Cycles, -1 not counted. */
struct stall_bounds { int64_t stalls, misses, front_end; };

/* Sets `charged` of each known term, of stall_term_count of them. */
void stall_settle(const struct stall_bounds *b, struct stall_charge *charges);
/* Cycles of starvation and of issuing what never retired; -1 where an input is (-1: not counted). active: cycles that issue.
 * issued, retired: uops. */
int64_t stall_front_end(int64_t starved, int64_t active, int64_t issued, int64_t retired);

#endif
