/* bench/counting/request.h: what a user asks to be counted, by name: `stallmeter stat -e LIST`, and the key `count` of a stick.
 *
 * LIST is names separated by commas. A name is any that `list --events` shows: of a core, of an uncore box, of NetBurst's
 * detectors; BOX.EVENT and BOX[N].EVENT name the box, all of its kind or number N of each socket; rHHHH is a raw
 * PERFEVTSEL value (bits 15:0 event and umask, 31:24 cmask, 23 inv, 21 any, 18 edge). Case does not matter, nor which of
 * `.`, `_` and `-` separates words. Behind a colon stand modifiers: u, k, cmask=N, inv, edge, any, ldlat=N of core events;
 * the filters of the box, thresh=N, edge, invert of uncore events; cmask, inv, edge become NetBurst's threshold, complement,
 * edge. A name that is not known is answered by the three that are nearest. */
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
	struct netburst_use use;          /* of event.netburst, when it points here */
	char planned[REQUEST_NAME_BYTES]; /* REQUEST_UNCORE: as uncore_plan takes it */
	const struct uncore_box *box;
	int16_t instance;                 /* of each socket; -1: all boxes of the kind */
	bool hidden;                      /* asked for by a metric alone: it gets no line of its own */
};

/* A metric and which of the requests its events are. */
struct request_metric {
	const struct uncore_metric *metric;
	struct metric_terms terms;        /* rank and node as asked for */
	struct metric_events events;
	uint16_t request[METRIC_EVENTS_MAX];
};

struct request_list {
	const struct processor *processor;
	struct request list[REQUESTS_MAX];
	unsigned count;
	struct request_metric metrics[REQUEST_METRICS_MAX];
	unsigned metric_count;
};

void request_init(struct request_list *l, const struct processor *p);
/* Adds the events of LIST, or the metrics of a comma list ("all": every one of the processor that has its events).
 * `problem` gets one line. ST_MISSING: no such name; ST_SYNTAX: a modifier that is none, or a filter that the event needs;
 * ST_RANGE: a value that does not fit; ST_FULL; ST_UNSUPPORTED: the metric lacks an event here, or needs what this processor has not. */
MUST_CHECK enum status request_events(struct request_list *l, const char *list, struct text *problem);
MUST_CHECK enum status request_metrics(struct request_list *l, const char *list, struct text *problem);

#endif
