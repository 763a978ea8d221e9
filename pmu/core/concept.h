/* pmu/core/concept.h: a processor's expressions for concepts ("load.hit.l2"): tables/concepts.csv and each processor's concepts.csv.
 *
 * To count a concept, look up its expression, plan its events together with those of other concepts, and evaluate it from their counts:
 *
 *     const struct expression *x = concept_find(cpu->processor, "load.hit.l2");
 *     n = expression_events(x, events, n, COUNT_OF(events));     // false: no room
 *     plan_events(cpu, events, n, &plan, &problem);  ...
 *     expression_value(x, events, n, counts, &value);
 */
#ifndef PMU_CONCEPT_H
#define PMU_CONCEPT_H

#include "pmu/base.h"
#include "tables/processor.h"

/* What the processor counts for a concept. NULL: no such concept, or a processor without counters that these tables know.
 * An expression of EXACTNESS_NONE has no terms but a reason. */
const struct expression *concept_find(const struct processor *p, const char *name);

/* The same where it can be counted: NULL as well for EXACTNESS_NONE. */
const struct expression *concept_counted(const struct processor *p, const char *name);

/* The one event of the core that counts it exactly; NULL: there is none, or it takes several. */
const struct event *concept_event(const struct processor *p, const char *name);

/* Of an exact expression over the uncore the event of one term, as uncore_plan takes it: of the only one, or of the channel that it counts.
 * NULL: there is none, or no such term. */
const char *concept_uncore(const struct processor *p, const char *name, unsigned term);

/* Adds to a list of *count events those of the expression that it does not hold yet. ST_FULL: no room for them; ST_UNSUPPORTED: they are of the
 * uncore. The list is as it was. */
MUST_CHECK enum status expression_events(const struct expression *x, const struct event **events, unsigned *count, unsigned capacity);

/* The expression's value of the counts of a list of events, in the counts' own unit (of a kernel, a unit of work ...).
 * ST_MISSING: the list lacks one of its events. */
MUST_CHECK enum status expression_value(const struct expression *x, const struct event *const *events, unsigned count, const int64_t *counts,
                                        int64_t *value);

/* Whether a count of it can show that the concept came between low and high times a unit of work: an exact one always; a superset
 * that it did not come (low is not above 0); a subset that it came at least so often; cycles that it came at all (high is
 * CONCEPT_ANY_NUMBER or above). */
#define CONCEPT_ANY_NUMBER 1000000
bool expression_proves(const struct expression *x, int64_t low_milli, int64_t high_milli);

/* "exact", "superset", "subset", "cycles", "none". */
const char *exactness_name(unsigned exactness);

#endif
