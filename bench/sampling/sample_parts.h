/* bench/sampling/sample_parts.h: code shared by the load-latency event and IBS; only for sample*.c. */
#ifndef BENCH_SAMPLE_PARTS_H
#define BENCH_SAMPLE_PARTS_H

#include "bench/measure/loop.h"
#include "bench/sampling/sample.h"

#define SAMPLE_AGREE_MILLI 20 /* 2 % */
#define SAMPLE_SHARE_MILLI 900 /* of the row's source, unless a proof of the row sets its own bound */

/* A load of the chase: cycles to use, and the code of its data source. */
struct sampled_load { uint32_t latency; uint8_t source; };

void sample_set_reason(struct sample_result *out, enum sample_verdict v, const char *why);
/* The codes of a row's source on this processor, as a bit mask; 0: none. */
uint32_t sample_codes(const struct processor *p, enum source source);
/* Describes the out->records loads of each source, then the row's value from those of its own sources `codes`. `work` has room for all. */
void sample_describe_all(const struct sampled_load *loads, uint32_t *work, uint32_t codes, struct sample_result *out);
/* How many loads came from the sources `codes`. */
uint32_t sample_own(const struct sample_result *out, uint32_t codes);
/* Whether most of the loads came from the row's sources at addresses of the chase; otherwise sets the verdict and its reason. */
bool sample_sources_hold(struct sample_result *out, uint32_t codes, int64_t least_milli);
/* The verdict from comparing the value with the row's; `whose` names the row's loads: SAMPLE_CHASE or another name. */
#define SAMPLE_CHASE "the chase"
void sample_compare(struct sample_result *out, int64_t milli, const char *whose);
/* The verdict of a method that failed. */
void sample_failed(struct sample_result *out, enum status st);
/* Makes a row unproven if its samples contradict it; `method` names them in the reason. */
void sample_unprove(const struct sample_result *out, const char *method, struct row_result *row);

/* sample_ibs.c: the same by IBS, as sample_row. */
void sample_ibs_row(struct loop *l, uint64_t code, struct row_result *row);
/* sample_fetch.c: fetches of rows of code by IBS. */
void sample_fetch_row(struct loop *l, struct row_result *row);
/* sample_ops.c: IBS as the proof of a row whose operations no event counts. */
void sample_ops_row(struct loop *l, struct row_result *row);
/* sample_l3.c: after sample_ibs_row, the same by the L3's counters. */
void sample_l3_row(struct loop *l, struct row_result *row);

#endif
