/* tests/expect/expect_bandwidth.h: what rows of bench/catalogue/bandwidth.def should find. */
#ifndef TESTS_EXPECT_BANDWIDTH_H
#define TESTS_EXPECT_BANDWIDTH_H

#include "tests/expect/expect.h"

/* As expect_row, which asks this one. Streams of several cores: within 1 % in the L1, 2 and 3 % in L2 and L3, 5 % in memory, 3 % there where nothing is
 * written back, of what follows from several starts; stores line by line: within 2 % or half a cycle where one limit decides. */
MUST_CHECK enum status expect_bandwidth(const char *machine, const char *format, const char *row, struct expectation *out);

#endif
