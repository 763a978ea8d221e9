/* tests/expect/expect_stream.h: what streams of one core should find. */
#ifndef TESTS_EXPECT_STREAM_H
#define TESTS_EXPECT_STREAM_H

#include "tests/expect/expect.h"

/* As expect_row, which asks this one. */
MUST_CHECK enum status expect_stream(const char *machine, const char *format, const char *row, struct expectation *out);

#endif
