/* bench/uncore/latency_breakdown.h: a chase's loads by the uncore's boxes: how long each queue on the way held them, how memory's pages were found,
 * what came over the links. */
#ifndef BENCH_LATENCY_BREAKDOWN_H
#define BENCH_LATENCY_BREAKDOWN_H

#include "bench/catalogue/result.h"

struct loop;
struct row_result;
/* Runs windows of a row whose value is in *out and whose queue method is ok; else, or where the boxes cannot be had, it leaves
 * out->queue.apart as it is. Before the loop's working sets are given back. */
void latency_breakdown_row(struct loop *l, struct row_result *out);

/* Counts events of the uncore on one socket, each run of their plan beside a window of working set `set` of its shorter length, prepared like
 * it; values in the events' order. `lock_va`: a page that holds the uncore's clock steady. */
MUST_CHECK enum status latency_breakdown_count(struct loop *l, unsigned set, const char *const *names, unsigned n, unsigned socket, uint64_t lock_va, uint64_t *values);

/* The object of results.json, null if there is none; the line of the table. */
void latency_breakdown_json(struct text *t, const struct latency_breakdown_result *r);
void latency_breakdown_table_line(struct text *t, const struct latency_breakdown_result *r);

#endif
