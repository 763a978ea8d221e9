/* bench/sampling/sample.h: the second method: a chase's loads sampled by the load-latency event.
 *
 * Levinthal's guide, "Latency Event" and its profile of cycles and uops: each record holds a load's latency,
 * who answered and the linear address. Records of a chase are held against what the chase is known to do. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include "pmu/base.h"
#include "pmu/text.h"

#define SAMPLE_SOURCES 16  /* codes of the data source, bits 3:0 */
#define SAMPLE_BUCKETS 16  /* [0] below 2 cycles, [i] from 2^i to below 2^(i+1), the last: and above */

/* Latencies of the records of one data source, in core cycles; percentiles by nearest rank. */
struct sample_source {
	uint32_t count;
	uint32_t median, p10, p90, p99;
	int64_t mean_milli;
	uint32_t histogram[SAMPLE_BUCKETS];
};

enum sample_verdict {
	SAMPLE_NONE,        /* the row's loads are not sampled */
	SAMPLE_AGREES,      /* within 2 % of the chase */
	SAMPLE_DIFFERS,
	SAMPLE_UNPROVEN,    /* sources or addresses are not those of the chase, or there are too few records */
	SAMPLE_UNSUPPORTED, /* this processor or backend cannot sample */
	SAMPLE_FAULT,
	SAMPLE_VERDICT_COUNT
};
const char *sample_verdict_name(enum sample_verdict v);

struct sample_result {
	enum sample_verdict verdict;
	char reason[96];         /* why it does not agree, "" if it does */
	const char *event;       /* the event's name, "" if none */
	uint32_t threshold;      /* cycles: only slower loads are recorded */
	uint32_t records;        /* of the chase's own loads */
	uint32_t outside;        /* records of other loads: the wrapper's, thrown away */
	uint32_t wrong_address;  /* records whose linear address is no node, or whose node holds another value */
	uint32_t rejected;       /* bursts thrown away since an SMI hit them */
	bool full;               /* the buffer filled: records are missing */
	bool lost_known;
	uint32_t lost;           /* records that were due and did not come */
	int64_t shadow_milli;    /* events that fell into the shadow of one overflow, with lost_known */
	int64_t fraction_milli;  /* loads that the facility sampled, of all from the row's sources; -1 unknown */
	const char *beside;      /* the event that counted all of them, "" if none */
	int64_t value_milli;     /* mean latency of records from the row's sources, up to their 99th percentile, cycles */
	int64_t difference_milli;/* of that from the chase's value, thousandths of it */
	struct sample_source sources[SAMPLE_SOURCES];
};

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
/* Samples the test's working set of a measured row, fills out->sample, and takes `ok` from a row whose
 * records contradict it. Rows other than chases of one cache or memory level are left alone. */
void sample_row(struct loop *l, struct row_result *out);
/* The same for a curve of CURVE_TWICE, whose code is written at `code`: of each node's two loads the one that finds
 * its line on the way. Other curves are left alone. */
void sample_curve(struct loop *l, uint64_t code, struct row_result *out);

#endif
