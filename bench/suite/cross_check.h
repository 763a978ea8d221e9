/* bench/suite/cross_check.h: rows of one run against each other, by bench/catalogue/relations.def.
 *
 * A relation is broken when the values miss it by more than 3 %, three times both spreads and half a unit of a latency together. Then both
 * rows become `unproven`, each with the other named. Rows of different standing are not compared: a row that is proven stays so beside one
 * that is not. Rows that were measured in an earlier boot of the run take part.
 * What it does not see: rows that are wrong by the same part, and points within a row's own curve or matrix. */
#ifndef BENCH_CROSS_CHECK_H
#define BENCH_CROSS_CHECK_H

#include "bench/results/writer.h"

/* Compares and amends, by writer_amend. `odd` says whether a row of the table is unexpected in a status. */
void cross_check_run(struct writer *w, bool (*odd)(const void *self, unsigned row, enum row_status status), const void *self);

/* Relations as `stallmeter list --relations` prints them: one a line. */
void cross_check_list(struct text *t);

#endif
