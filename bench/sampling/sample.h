/* bench/sampling/sample.h: the second method: a chase's loads sampled by the load-latency event.
 *
 * Levinthal's guide, "Latency Event" and its profile of cycles and uops: each record holds a load's latency,
 * who answered and the linear address. Records of a chase are held against what the chase is known to do. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include "bench/catalogue/result.h"

const char *sample_verdict_name(enum sample_verdict v);

/* Counts, mean, percentiles and histogram of n latencies, which are sorted in place. */
void sample_describe(uint32_t *latency, unsigned n, struct sample_source *out);
/* Sorts ascending. */
void sample_sort(uint32_t *v, unsigned n);
/* As the value of key "latency_event" of a row: an object, or null. */
struct latency_source;
void sample_json(struct text *t, const struct sample_result *s, const struct latency_source *names);
/* A line below the row's; nothing when the processor has no such event at all. */
void sample_table_line(struct text *t, const struct sample_result *s, const struct latency_source *names);

struct loop;
struct row_result;
/* Samples the test's working set of a measured row, fills out->sample, and takes `ok` from a row whose records contradict it: of chases
 * of one cache or memory level, and of curves of CURVE_TWICE, whose code lies at `code`: of each node's two loads the one that finds its line
 * on the way. Other rows are left alone. */
void sample_row(struct loop *l, uint64_t code, struct row_result *out);

#endif
