/* bench/counting/request.h: events that a user requests by name: `stallmeter stat -e LIST`, and the key `count` of a stick.
 *
 * LIST is names separated by commas. A name is any that `list --events` shows: of a core, of an uncore box, of NetBurst's detectors. BOX.EVENT and
 * BOX[N].EVENT name the box: all of its kind, or number N of each socket. rHHHH is a raw PERFEVTSEL value (bits 15:0 event and umask, 47:40 second umask, 31:24 cmask,
 * 23 inv, 21 any, 18 edge). cpu/event=N,umask=N,.../ is perf's spelling of the same. BOX0.EVENT is BOX[0].EVENT. Case is ignored, and `.`, `_` and
 * `-` between words are equivalent.
 * Modifiers follow a colon. Core events: u, k, cmask=N, inv, edge, any, ldlat=N. Uncore events: the box's filters, thresh=N, edge, invert. perf's
 * modifiers that are not supported are refused by name (p, G, H, ...). u counts ring 3, where no workload runs: request_note.
 * NetBurst: DETECTOR.UNIT+UNIT needs no listed event. cmask=N or thresh=N, inv and edge are the counter's comparison; any and other select the
 * threads whose events count, active_none, active_single and active_both the cycles by how many threads are awake; escr=N the ESCR. An event that
 * counts tagged uops names the event that tags them: replay_event.NBOGUS:METRIC, front_end_event.NBOGUS:uop_type.TAGLOADS,
 * execution_event.NBOGUS1:scalar_DP_uop.ALL (tag=N: with other tag bits). after=N: a cascade, which starts at the N-th event of the preceding
 * name; force_ovf: each event overflows.
 * An unknown name is answered with the three nearest ones. */
#ifndef BENCH_COUNTING_REQUEST_H
#define BENCH_COUNTING_REQUEST_H

#include "pmu/counters/counters.h"
#include "pmu/text.h"
#include "pmu/uncore/uncore_metric.h"

#define REQUESTS_MAX      384u
#define REQUEST_NAME_BYTES 112u
#define REQUEST_METRICS_MAX 96u

enum request_kind { REQUEST_CORE, REQUEST_UNCORE };

struct request {
	enum request_kind kind;
	char name[REQUEST_NAME_BYTES];    /* the table's spelling, with the modifiers */
	struct event event;               /* REQUEST_CORE: the table's, with the modifiers applied */
	struct netburst_use use;          /* target of event.netburst, when that points here */
	char planned[REQUEST_NAME_BYTES]; /* REQUEST_UNCORE: as uncore_plan takes it */
	const struct uncore_box *box;
	int16_t instance;                 /* of each socket; -1: all boxes of the kind */
	bool hidden;                      /* requested by a metric only: no line of its own */
};

/* A metric, and the requests for its events. */
struct request_metric {
	const struct uncore_metric *metric;
	struct metric_terms terms;        /* rank and node as requested */
	struct uncore_metric_events events;
	uint16_t request[METRIC_EVENTS_MAX];
};

struct request_list {
	const struct processor *processor;
	struct request list[REQUESTS_MAX];
	unsigned count, last;             /* last: index of the event named last */
	struct request_metric metrics[REQUEST_METRICS_MAX];
	unsigned metric_count;
	bool topdown;                     /* the shares of PERF_METRICS, by the metric of that name */
};

void request_init(struct request_list *l, const struct processor *p);
/* Adds the events of LIST, or the metrics of a comma list ("all": every metric of the processor whose events exist). `problem` gets one line.
 * ST_MISSING: no such name; ST_SYNTAX: an unknown modifier, or a required filter is missing; ST_RANGE: a value out of range; ST_FULL;
 * ST_UNSUPPORTED: the metric lacks an event here, or needs a feature this processor lacks. */
MUST_CHECK enum status request_events(struct request_list *l, const char *list, struct text *problem);
/* A note on the request's count, "" for none: it is restricted to a privilege level at which no workload runs. */
const char *request_note(const struct request *r);
MUST_CHECK enum status request_metrics(struct request_list *l, const char *list, struct text *problem);

#endif
