/* bench/suite/execute.h: dispatches a row to the part of bench/ that measures it. */
#ifndef BENCH_EXECUTE_H
#define BENCH_EXECUTE_H

#include "bench/measure/measure.h"

/* Measures one row. *out reports every outcome: a fault, a missing event, a spread. */
void execute_row(struct bench *b, const struct row *r, struct row_result *out);

#endif
