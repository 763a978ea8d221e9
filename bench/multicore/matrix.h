/* bench/multicore/matrix.h: one measurement for each pair of cores: the cost of a line that another core holds. */
#ifndef BENCH_MATRIX_H
#define BENCH_MATRIX_H

#include "bench/measure/cores.h"

/* Splits sorted samples at their widest gap. True, and the medians of both groups, when each has at least a fifth
 * of the samples and the gap is more than a tenth of the median and more than either group is wide. */
bool matrix_bimodal(const int64_t *sorted, unsigned n, int64_t *low, int64_t *high);

/* Measures all pairs of the row's relation. out->matrix is valid until the caller gives matrix_bytes() of it back to the host. */
void matrix_row(struct bench *b, const struct row *r, struct row_result *out);
/* A JSON object. */
void matrix_json(struct text *t, const struct matrix *m);
/* Upper bound of the memory for the matrix of such a row. */
size_t matrix_bytes(const struct bench *b);

#endif
