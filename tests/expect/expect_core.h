/* tests/expect/expect_core.h: what rows within one core should find (bench/catalogue/pairs.def). */
#ifndef TESTS_EXPECT_CORE_H
#define TESTS_EXPECT_CORE_H

#include "tests/expect/expect.h"

/* Cost of an operation, from [exec] or FORMAT.md's list of classes; ports: the number that execute it; mask: which ones. */
struct cost { int64_t latency, ports, busy; unsigned mask; };
struct cost cost_of(struct machine_text *t, const char *class);
/* Load to use of a load that hits the L1D. */
int64_t load_cycles(struct machine_text *t);

/* Called by expect_row, with the same statuses; latencies and intervals within 1 % or 0.1 cycle, penalties within 2 % or half a cycle. */
MUST_CHECK enum status expect_core(const char *machine, const char *format, const char *row, struct expectation *out);

#endif
