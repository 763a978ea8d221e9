/* tests/unit/support/fingerprint.h: detects a change of a row's method without a new revision. */
#ifndef BENCH_FINGERPRINT_H
#define BENCH_FINGERPRINT_H

#include "bench/catalogue/row.h"

/* Hash of a row's method: the bytes of its kernels and every parameter (FNV-1a, 64 bit). tests/methods.txt holds it beside the revision: a test
 * fails if one changes without the other. */
uint64_t fingerprint_row(const struct row *r);

#endif
