/* bench/suite/fingerprint.h: whether a row's method is still the one whose revision it bears. */
#ifndef BENCH_FINGERPRINT_H
#define BENCH_FINGERPRINT_H

#include "bench/catalogue/row.h"

/* Hash of all that makes a row's method: its kernels' bytes and every parameter (FNV-1a, 64 bit). tests/methods.txt holds it beside
 * the revision: one that changes without the other fails a test. */
uint64_t fingerprint_row(const struct row *r);

#endif
