/* runner/data/perf_event.h: events of the tables in the syntax of Linux' perf, perf-list(1). */
#ifndef RUNNER_PERF_EVENT_H
#define RUNNER_PERF_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tables/processor.h"
#include "pmu/base.h"

/* "cycles", "cpu/event=0xcb,umask=0x2,name=MEM_LOAD_RETIRED.L2_HIT/": with cmask, inv, edge, any, offcore_rsp, ldlat or frontend
 * where the event needs them. period: sample-after value, 0 none; then events that can be precise are asked to be. ST_UNSUPPORTED:
 * perf cannot program it, *why says why. ST_FULL: it does not fit. */
MUST_CHECK enum status perf_event_text(const struct processor *p, const struct event *e, int64_t period, char *to, size_t capacity, const char **why);

/* Whether `counters` general counters count all these events in one run: each on a counter that can, and no two with other values of
 * one register. Events of fixed counters need none. */
bool perf_events_fit(const struct event *const *events, unsigned n, unsigned counters);

/* Whether `name`, as perf or a user spelt it, is this event: perf's generic names too ("cycles"), case aside, modifiers as
 * ".cmask1" or ":cmask=1". */
bool perf_event_is(const struct processor *p, const struct event *e, const char *name);

/* The concept that a generic name of perf stands for on Intel's processors ("cycles"); NULL: it is none. */
const char *perf_event_generic(const char *name);

#endif
