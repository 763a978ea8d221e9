/* bench/uncore/latency_breakdown.h: a chase's loads by the uncore's boxes: how long each queue on the way held them, how memory's pages were found,
 * what came over the links. */
#ifndef BENCH_APART_H
#define BENCH_APART_H

#include "bench/catalogue/result.h"

struct loop;
struct row_result;
/* Runs windows of a row whose value is in *out and whose queue method is ok; else, or where the boxes cannot be had, it leaves
 * out->queue.apart as it is. Before the loop's working sets are given back. */
void latency_breakdown_row(struct loop *l, struct row_result *out);

/* The object of results.json, null if there is none; the line of the table. */
void latency_breakdown_json(struct text *t, const struct latency_breakdown_result *r);
void latency_breakdown_table_line(struct text *t, const struct latency_breakdown_result *r);

#endif
