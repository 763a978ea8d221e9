/* bench/suite/cross_check.h: checks the rows of one run against each other, by bench/catalogue/relations.def.
 *
 * A relation is broken when the values miss it by more than the sum of 3 %, three times both spreads and, of a latency, half a unit. Both rows
 * then become `unproven`, each naming the other. Rows of different status are not compared: a proven row stays proven beside an unproven one.
 * Rows measured in an earlier boot of the run take part.
 *
 * Not detected: rows that are wrong by the same factor; points within a row's own curve or matrix, but for the staircase's plateaus. */
#ifndef BENCH_CROSS_CHECK_H
#define BENCH_CROSS_CHECK_H

#include "bench/results/writer.h"

/* Whether a status is unexpected for a row of the table; `limited`: the relation names the structure that was full before the row's own. */
typedef bool cross_check_odd(const void *self, unsigned row, enum row_status status, bool limited);

/* Compares the rows and amends them by writer_amend. */
void cross_check_run(struct writer *w, cross_check_odd *odd, const void *self);

/* Relations as `stallmeter list --relations` prints them: one a line. */
void cross_check_list(struct text *t);

#endif
