/* bench/sampling/sample.h: the second method: a chase's loads sampled by the load-latency event.
 *
 * Levinthal's guide, "Latency Event" and its profile of cycles and uops: each record holds a load's latency, its data source and its linear
 * address. Records of a chase are checked against its known behaviour. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include "bench/catalogue/result.h"

const char *sample_verdict_name(enum sample_verdict v);

/* Counts, mean, percentiles and histogram of n latencies; sorts them in place. */
void sample_describe(uint32_t *latency, unsigned n, struct sample_source *out);
/* Sorts ascending. */
void sample_sort(uint32_t *v, unsigned n);
/* JSON: the value of a row's key "latency_event", an object or null. */
struct latency_source;
void sample_json(struct text *t, const struct sample_result *s, const struct latency_source *names);
/* A line below the row's; nothing if the processor has no load-latency event. */
void sample_table_line(struct text *t, const struct sample_result *s, const struct latency_source *names);

struct loop;
struct row_result;
/* Samples the test's working set of a measured row and fills out->sample. A row whose records contradict it is no longer `ok`. It samples chases
 * of one cache level or of DRAM, and curves of CURVE_TWICE, whose code is at `code`: of each node's two loads, the one that finds its line in
 * flight. Other rows are left alone. */
void sample_row(struct loop *l, uint64_t code, struct row_result *out);

#endif
