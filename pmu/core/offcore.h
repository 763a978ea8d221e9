/* pmu/core/offcore.h: OFFCORE_RESPONSE_0, the matrix of requests beyond the L2 by response.
 *
 * Source: Levinthal's guide, tables 9 and the two after it, "Errata" and "Bandwidth per core". The named combinations are
 * events of the processor's table (offcore.csv); the planner gives each value of the register a run of its own. */
#ifndef PMU_OFFCORE_H
#define PMU_OFFCORE_H

#include "pmu/core/counters.h"

/* The event OFFCORE_RESPONSE_0.REQUEST.RESPONSE; NULL if the processor has none of that name. */
const struct event *offcore_find(const struct processor *p, const char *request, const char *response);

/* Whether an event misses non-temporal stores to memory of this node, which some processors count under another response
 * (quirk nehalem-nt-store-source). *instead: the event to count in its place, NULL if none counts them without counting
 * something else. */
bool offcore_misses_nt_stores(const struct processor *p, const struct event *e, const struct event **instead);

/* The lines that a core moves, for bandwidth: reads and non-temporal stores, by memory. Write-backs of modified lines
 * belong to no core. ST_UNSUPPORTED if the processor lacks one of the events. */
struct offcore_traffic { const struct event *read_local, *read_remote, *nt_local, *nt_remote; };
MUST_CHECK enum status offcore_traffic(const struct processor *p, struct offcore_traffic *out);

#endif
