/* bench/uncore/latency_breakdown.h: a chase's loads by the uncore's boxes: how long each queue on the way held them, how memory's pages were found,
 * what came over the links. */
#ifndef BENCH_APART_H
#define BENCH_APART_H

#include "pmu/base.h"
#include "pmu/text.h"

/* Where a read that the table of requests holds is answered: in this socket, in this node's memory or by another socket for
 * it, in another node. */
enum apart_answer { APART_HIT, APART_LOCAL, APART_REMOTE, APART_ANSWERS };
enum apart_page { APART_PAGE_HIT, APART_PAGE_EMPTY, APART_PAGE_MISS, APART_PAGES };

struct apart_result {
	bool there;
	int64_t ingress_milli;                /* uncore cycles before the table's entry is taken; -1 unknown */
	int64_t held_milli[APART_ANSWERS];    /* uncore cycles in the table; -1: fewer than one load in twenty */
	int64_t entries_milli[APART_ANSWERS]; /* for each load */
	int64_t pages_milli[APART_PAGES];     /* accesses of memory at the home, for each load; -1 unknown */
	int64_t flits_milli;                  /* of data that this socket's links brought, for each load; -1 unknown */
	uint64_t uncore_hz;
};

struct loop;
struct row_result;
/* Runs windows of a row whose value is in *out and whose queue method is ok; else, or where the boxes cannot be had, it leaves
 * out->queue.apart as it is. Before the loop's working sets are given back. */
void apart_row(struct loop *l, struct row_result *out);

/* The object of results.json, null if there is none; the line of the table. */
void apart_json(struct text *t, const struct apart_result *r);
void apart_table_line(struct text *t, const struct apart_result *r);

#endif
