/* bench/suite/execute.h: which part of bench/ measures a row. */
#ifndef BENCH_EXECUTE_H
#define BENCH_EXECUTE_H

#include "bench/measure/measure.h"

/* Measures one row. Whatever happens is in *out: a fault, a missing event, a spread. */
void execute_row(struct bench *b, const struct row *r, struct row_result *out);

#endif
