/* tests/expect/expect_bandwidth.h: what rows of bench/catalogue/bandwidth.def should find. */
#ifndef TESTS_EXPECT_BANDWIDTH_H
#define TESTS_EXPECT_BANDWIDTH_H

#include "tests/expect/expect.h"

/* Called by expect_row, with the same statuses: the bounds of expect_bound.h and 1.5 %; for stores line by line 2 % or half a cycle. */
MUST_CHECK enum status expect_bandwidth(const char *machine, const char *format, const char *row, struct expectation *out);

#endif
