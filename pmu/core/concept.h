/* pmu/core/concept.h: a processor's expressions for concepts ("load.hit.l2"): tables/concepts.csv and each processor's concepts.csv.
 *
 * To count a concept, look up its expression, plan its events together with those of other concepts, and evaluate it from their counts:
 *
 *     const struct expression *x = concept_find(cpu->processor, "load.hit.l2");
 *     s = expression_events(x, events, &n, COUNT_OF(events));    // ST_FULL: no room
 *     s = plan_events(cpu, events, n, &plan, &problem);  ...
 *     s = expression_value(x, events, n, counts, &value);
 */
#ifndef PMU_CONCEPT_H
#define PMU_CONCEPT_H

#include "pmu/base.h"
#include "tables/processor.h"

/* What the processor counts for a concept. NULL: no such concept, or the tables know no counters of the processor.
 * An expression of EXACTNESS_NONE has no terms but a reason. */
const struct expression *concept_find(const struct processor *p, const char *name);

/* The same, but NULL for EXACTNESS_NONE as well. */
const struct expression *concept_counted(const struct processor *p, const char *name);

/* The one event of the core that counts it exactly; NULL: there is none, or it takes several. */
const struct event *concept_event(const struct processor *p, const char *name);

/* The event of one term of an exact uncore expression, as uncore_plan takes it: of the only term, or of the term that counts one channel.
 * NULL: there is no such expression or term. */
const char *concept_uncore(const struct processor *p, const char *name, unsigned term);

/* Adds to a list of *count events those of the expression that it does not hold yet. ST_FULL: no room for them; ST_UNSUPPORTED: they are uncore
 * events. After either, *count is unchanged. */
MUST_CHECK enum status expression_events(const struct expression *x, const struct event **events, unsigned *count, unsigned capacity);

/* The expression's value from the counts of a list of events, in the unit of the counts (per kernel, per unit of work ...).
 * ST_MISSING: the list lacks one of its events. */
MUST_CHECK enum status expression_value(const struct expression *x, const struct event *const *events, unsigned count, const int64_t *counts,
                                        int64_t *value);

/* Whether a count of it can prove that the concept occurred between low and high times per unit of work. An exact one always can; a
 * superset, that it did not occur (low is not above 0); a subset, that it occurred at least `low` times (above 0); cycles, that it
 * occurred at all (low is above 0, high is CONCEPT_ANY_NUMBER or above). */
#define CONCEPT_ANY_NUMBER 1000000
bool expression_proves(const struct expression *x, int64_t low_milli, int64_t high_milli);

/* "exact", "superset", "subset", "cycles", "none". */
const char *exactness_name(unsigned exactness);

#endif
