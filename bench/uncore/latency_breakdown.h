/* bench/uncore/latency_breakdown.h: a chase's loads by the uncore's boxes: how long each queue on the way held them, how memory's pages were found,
 * what came over the links. */
#ifndef BENCH_APART_H
#define BENCH_APART_H

#include "pmu/base.h"
#include "pmu/text.h"

/* Where a read that the table of requests holds is answered: in this socket, in this node's memory or by another socket for
 * it, in another node. */
enum latency_breakdown_answer { BREAKDOWN_HIT, BREAKDOWN_LOCAL, BREAKDOWN_REMOTE, BREAKDOWN_ANSWERS };
enum latency_breakdown_page { BREAKDOWN_PAGE_HIT, BREAKDOWN_PAGE_EMPTY, BREAKDOWN_PAGE_MISS, BREAKDOWN_PAGES };

struct latency_breakdown_result {
	bool there;
	int64_t ingress_milli;                /* uncore cycles before the table's entry is taken; -1 unknown */
	int64_t held_milli[BREAKDOWN_ANSWERS];    /* uncore cycles in the table; -1: fewer than one load in twenty */
	int64_t entries_milli[BREAKDOWN_ANSWERS]; /* for each load */
	int64_t pages_milli[BREAKDOWN_PAGES];     /* accesses of memory at the home, for each load; -1 unknown */
	int64_t flits_milli;                  /* of data that this socket's links brought, for each load; -1 unknown */
	uint64_t uncore_hz;
};

struct loop;
struct row_result;
/* Runs windows of a row whose value is in *out and whose queue method is ok; else, or where the boxes cannot be had, it leaves
 * out->queue.apart as it is. Before the loop's working sets are given back. */
void latency_breakdown_row(struct loop *l, struct row_result *out);

/* The object of results.json, null if there is none; the line of the table. */
void latency_breakdown_json(struct text *t, const struct latency_breakdown_result *r);
void latency_breakdown_table_line(struct text *t, const struct latency_breakdown_result *r);

#endif
