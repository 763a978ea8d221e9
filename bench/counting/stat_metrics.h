/* bench/counting/stat_metrics.h: values derived from counts: metrics of the uncore, and shares of slots. */
#ifndef BENCH_COUNTING_STAT_METRICS_H
#define BENCH_COUNTING_STAT_METRICS_H

#include "bench/counting/stat.h"

/* Computes every metric that was requested. */
void stat_metrics_evaluate(struct stat_result *r);
/* One window in which the first core's slots are counted, only around the kernel. `slots`: topdown_plan's, with which the counters have started;
 * *took: TSC ticks. */
MUST_CHECK enum status stat_metrics_topdown(struct stat_workload *w, const struct plan *slots, struct topdown_sum *sum, uint64_t *took);

#endif
