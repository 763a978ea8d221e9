/* tests/expect/expect_stream.h: what streams of one core should find. */
#ifndef TESTS_EXPECT_STREAM_H
#define TESTS_EXPECT_STREAM_H

#include "tests/expect/expect.h"

/* As expect_row, which asks this one. */
MUST_CHECK enum status expect_stream(const char *machine, const char *format, const char *row, struct expectation *out);

/* Bytes of an array of one core's stream: three quarters of its level for all, half where that has two ways, in the L1 with what lies between them not more than it, at least twice the
 * level below; of the L3 no more than six times to twelve times the L2; in memory six times the last level at least. 0: not so much room. */
uint64_t stream_array_bytes(struct machine_text *t, unsigned level, uint64_t arrays);

#endif
