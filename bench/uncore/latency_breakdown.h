/* bench/uncore/latency_breakdown.h: a chase's loads by the uncore's boxes: residence in each queue on the way, state of the DRAM pages, data
 * received over the links. */
#ifndef BENCH_LATENCY_BREAKDOWN_H
#define BENCH_LATENCY_BREAKDOWN_H

#include "bench/catalogue/result.h"

struct loop;
struct row_result;
/* Runs extra windows of a row whose value is in *out and whose queue method is ok. Otherwise, or where the boxes are absent, out->queue.breakdown stays
 * unchanged. Call it before the loop's working sets are released. */
void latency_breakdown_row(struct loop *l, struct row_result *out);

/* Counts uncore events on one socket. Each run of their plan has one window of working set `set`, of its shorter length and prepared like it.
 * Values are in the events' order. `lock_va`: a mapped page for the bus lock that empties the queues before they are counted. */
MUST_CHECK enum status latency_breakdown_count(struct loop *l, unsigned set, const char *const *names, unsigned n, unsigned socket, uint64_t lock_va, uint64_t *values);

/* JSON: an object of results.json, or null. Table: one line. */
void latency_breakdown_json(struct text *t, const struct latency_breakdown_result *r);
void latency_breakdown_table_line(struct text *t, const struct latency_breakdown_result *r);
/* "what N.N (N.N ns)": thousandths of a cycle of the uncore's clock; without the time where uncore_hz is 0. */
void latency_breakdown_print_time(struct text *t, const char *what, int64_t milli, uint64_t uncore_hz);

#endif
