/* bench/workloads/stall_model.h: the stall terms of tables/stall_terms.csv: the processor's counts for each, and how much of their cost can be
 * charged. Both accountings use it: that of the built-in workloads (workload_account.h) and that of a user's counts (bench/report/user_account.h).
 *
 * P x N is the cost of events that nothing hides. Counts do not show overlap, but three of them bound it (Levinthal's guide):
 *   misses      cycles with an L1D miss in flight: loads that miss cannot stall longer, however many are in flight at once
 *   front end   cycles without issue while no resource was missing (instruction starvation), and cycles that issued uops which never
 *               retired: mispredicted branches and fetches cannot cost more
 *   stalls      cycles without progress: all terms together cannot exceed them. A miss in flight hides other stalls, so loads that miss are
 *               charged first and the other terms share the rest. A load blocked by an older store with an unknown address waits until the
 *               address is known. Such blocks are counted but their length is not, so they are charged last.
 * The terms of one bound shrink by the same factor. The reports print what the bounds remove as overlap.
 *
 * Not modelled: misses hidden by other work while the core stalls for another reason; they are still charged. */
#ifndef BENCH_STALL_MODEL_H
#define BENCH_STALL_MODEL_H

#include "pmu/core/concept.h"

/* The processor's expression for term t; one of EXACTNESS_NONE gives the reason for its absence. NULL: no event is known at all. */
const struct expression *stall_count(const struct processor *p, unsigned t);
/* The single event of a concept. NULL: the concept has no event, or an expression of several. */
const struct event *stall_event(const struct processor *p, const char *concept);

/* What an accounting counts beside the terms, in this order: cycles, reference cycles, cycles in which no uop starts execution, cycles in which
 * none retires, uops dispatched, the fused pairs among them, uops retired, the fused pairs among them, cycles without issue, those for lack of a
 * resource, cycles with a miss in flight. */
enum stall_identity { STALL_CYCLES, STALL_REFERENCE, STALL_EXECUTE, STALL_RETIRE, STALL_ISSUED, STALL_ISSUED_PAIRS, STALL_RETIRED, STALL_RETIRED_PAIRS, STALL_NO_ISSUE,
	STALL_RESOURCE, STALL_MISSES, STALL_IDENTITIES };
/* The event of an identity on a processor; NULL: none. */
const struct event *stall_identity_event(const struct processor *p, enum stall_identity i);

/* Cycles of a term; `alone` is P x N. */
struct stall_charge { bool known; int64_t alone, charged; };
/* Cycles, -1 not counted. */
struct stall_bounds { int64_t stalls, misses, front_end; };

/* Sets `charged` of each known term; there are stall_term_count of them. */
void stall_settle(const struct stall_bounds *b, struct stall_charge *charges);
/* Cycles of starvation plus cycles that issued uops which never retired; -1 if an input is -1 (not counted). active: cycles that issue. issued,
 * retired: uops. */
int64_t stall_front_end(int64_t starved, int64_t active, int64_t issued, int64_t retired);

#endif
