/* tests/expect/expect_bandwidth.h: what rows of bench/bandwidth.def should find. */
#ifndef TESTS_EXPECT_BANDWIDTH_H
#define TESTS_EXPECT_BANDWIDTH_H

#include "tests/expect/expect.h"

/* As expect_row, which asks this one. Where one limit decides, within 2 % or half a cycle; of streams from the L2, L3 and
 * memory, where several meet, between what the tightest of them allows and what is left without prefetchers. */
MUST_CHECK enum status expect_bandwidth(const char *machine, const char *format, const char *row, struct expectation *out);

#endif
