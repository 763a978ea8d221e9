/* runner/data/perf_event.h: events of the tables in the syntax of Linux' perf, perf-list(1). */
#ifndef RUNNER_PERF_EVENT_H
#define RUNNER_PERF_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tables/processor.h"
#include "pmu/base.h"

/* Formats an event: "cycles", "cpu/event=0xcb,umask=0x2,name=MEM_LOAD_RETIRED.L2_HIT/", with cmask, inv, edge, any, offcore_rsp, ldlat or
 * frontend if the event needs them. period: sample-after value, which requests precise sampling of events that support it; 0: none.
 * ST_UNSUPPORTED: perf cannot program it, *why tells the reason. ST_FULL: it does not fit. */
MUST_CHECK enum status perf_event_text(const struct processor *p, const struct event *e, int64_t period, char *to, size_t capacity, const char **why);

/* Whether `counters` general counters can count all these events in one run: each on a counter that supports it, and no two with different
 * values of one register. Events of fixed counters need no general one. */
bool perf_events_fit(const struct event *const *events, unsigned n, unsigned counters);

/* Whether `name`, in perf's or a user's spelling, is this event: also by perf's generic names ("cycles"), ignoring case, with modifiers as
 * ".cmask1" or ":cmask=1". */
bool perf_event_is(const struct processor *p, const struct event *e, const char *name);

/* The concept of one of perf's generic names ("cycles") on Intel's processors; NULL: not a generic name. */
const char *perf_event_generic(const char *name);

#endif
