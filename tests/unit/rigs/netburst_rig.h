/* tests/unit/rigs/netburst_rig.h: events of NetBurst's detectors by name, and the driver's assignment of them to counters. */
#ifndef TESTS_UNIT_NETBURST_RIG_H
#define TESTS_UNIT_NETBURST_RIG_H

#include "pmu/counters/counters.h"
#include "pmu/netburst/netburst.h"

/* The Pentium 4 of tables/processors; the test fails if there is none. */
const struct processor *netburst_rig_processor(void);

/* Parses "EVENT.UNIT+UNIT", or "replay_event.UNIT:METRIC", of thread 0. ST_MISSING: a name is unknown, ST_SYNTAX: there is no unit; *problem then
 * points to the error in `name`. */
enum status netburst_rig_parse(const struct processor *p, const char *name, struct netburst_want *want, const char **problem) MUST_CHECK;

/* The same on netburst_rig_processor(); any error fails the test. */
struct netburst_want netburst_rig_want(const char *name);

/* netburst_assign() with all counters of the processor; why: the conflict. */
enum status netburst_rig_assign(const struct netburst_want *wants, unsigned n, struct netburst_assignment *assigned, char why[512]) MUST_CHECK;

#endif
