/* tests/expect/expect_cores.h: what rows of several cores and nodes should find (bench/catalogue/cores.def). */
#ifndef TESTS_EXPECT_CORES_H
#define TESTS_EXPECT_CORES_H

#include "tests/expect/expect.h"

/* Called by expect_row, with the same statuses; within 1 % or 0.1 cycle. */
MUST_CHECK enum status expect_cores(const char *machine, const char *format, const char *row, struct expectation *out);

#endif
