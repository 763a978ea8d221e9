/* tests/expect/expect_divide.h: the times of divisions and square roots. */
#ifndef TESTS_EXPECT_DIVIDE_H
#define TESTS_EXPECT_DIVIDE_H

#include "tests/expect/expect.h"

/* Divides and square roots: the time grows from divide_least_cycles with the significant bits of the result. Interval: until
 * the divider takes the next one. */
int64_t divide_cycles(struct machine_text *t, const char *class, int64_t bits, int64_t of_bits, bool interval);
/* Thousandths of a cycle an integer division, in the loops of exec.div*. */
int64_t divide_loop_milli(struct machine_text *t, const char *class, int64_t bits, int64_t of_bits, bool interval);

#endif
