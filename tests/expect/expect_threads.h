/* tests/expect/expect_threads.h: the throughput of two threads that share a core. */
#ifndef TESTS_EXPECT_THREADS_H
#define TESTS_EXPECT_THREADS_H

#include "tests/expect/expect.h"

/* Uops retired a cycle, in millionths, of a contest of bench/workloads/smt_interference.c ("fp_add_latency", "l1_miss"): of one thread, or
 * of both together. ST_MISSING: no formula for it. ST_UNSUPPORTED: a machine with fusion, on which events that count uops
 * differ. */
MUST_CHECK enum status expect_threads(const char *machine, const char *format, const char *contest, bool together, struct expectation *out);

#endif
