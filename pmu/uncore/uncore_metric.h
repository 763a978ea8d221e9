/* pmu/uncore/uncore_metric.h: derived metrics of the uncore (uncore-metrics.csv): the events that one needs, and its value.
 *
 * An expression has + - * / and parentheses over integers, events (as uncore_plan takes them, suffixes included), and
 * external terms: $INSTRUCTIONS, $CORE_CYCLES, $TSC (ticks of the work), $READ_TSC (between the readings of the counters), $TSC_MHZ,
 * $BOXES (of the event's box in the sockets counted). In an event's name {rank} is a rank's number, {node:N} is N with the node's id from bit 13 on, as in a
 * link's match register. */
#ifndef PMU_UNCORE_METRIC_H
#define PMU_UNCORE_METRIC_H

#include "pmu/uncore/uncore.h"

#define METRIC_EVENTS_MAX 12
#define METRIC_NAME_BYTES 96

struct metric_terms { uint64_t instructions, core_cycles, tsc, read_tsc, tsc_mhz, boxes; unsigned rank, node; };

struct uncore_metric_events {
	char name[METRIC_EVENTS_MAX][METRIC_NAME_BYTES]; /* each once, in the order of the expression */
	const char *list[METRIC_EVENTS_MAX];             /* the same, for uncore_plan */
	unsigned count;
};

/* The events of a metric. ST_UNSUPPORTED: the processor lacks one (m->lacks); ST_SYNTAX, ST_FULL: an error of the table. */
MUST_CHECK enum status uncore_metric_events(const struct uncore_metric *m, const struct metric_terms *t, struct uncore_metric_events *out);
/* Its value in thousandths of m->unit, from the counts of those events in the same order. ST_RANGE: division by zero or by a difference
 * below a fiftieth of its minuend, a value below zero (such a difference becomes 0 instead) or one beyond 64 bits; *why says which. */
MUST_CHECK enum status uncore_metric_value(const struct uncore_metric *m, const struct metric_terms *t, const struct uncore_metric_events *e,
                                    const uint64_t *counts, int64_t *milli, const char **why);

#endif
