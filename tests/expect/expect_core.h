/* tests/expect/expect_core.h: what rows within one core should find (bench/pairs.def). */
#ifndef TESTS_EXPECT_CORE_H
#define TESTS_EXPECT_CORE_H

#include "tests/expect/expect.h"

/* As expect_row, which asks this one; within 2 % or half a cycle. */
MUST_CHECK enum status expect_core(const char *machine, const char *format, const char *row, struct expectation *out);

#endif
