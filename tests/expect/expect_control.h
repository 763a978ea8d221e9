/* tests/expect/expect_control.h: the times of loading control words and of flushed products. */
#ifndef TESTS_EXPECT_CONTROL_H
#define TESTS_EXPECT_CONTROL_H

#include "tests/expect/expect.h"

/* A row's value in thousandths of a cycle, at least and at most. ST_MISSING: another row. */
enum status control_milli(struct machine_text *t, const char *row, int64_t *least_milli, int64_t *most_milli);

#endif
