/* tests/expect/expect_curves.h: what rows that evaluate curves should find (bench/catalogue/curves.def). */
#ifndef TESTS_EXPECT_CURVES_H
#define TESTS_EXPECT_CURVES_H

#include "tests/expect/expect.h"

/* As expect_may_hide(). */
bool curve_may_hide(const char *machine, const char *format, const char *row);
/* As expect_is_limited(). */
bool curve_is_limited(const char *machine, const char *format, const char *row, int64_t milli, const char *reason);
/* Called by expect_row, with the same statuses; within 2 %, half a cycle or half an entry. */
MUST_CHECK enum status expect_curve(const char *machine, const char *format, const char *row, struct expectation *out);

#endif
