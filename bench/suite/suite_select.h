/* bench/suite/suite_select.h: what the suite asks of its settings beside suite.h's functions. */
#ifndef BENCH_SUITE_SELECT_H
#define BENCH_SUITE_SELECT_H

#include "bench/suite/suite.h"

/* What an expect text says of a row: bits of the statuses that are allowed, 0 when it says nothing. */
unsigned suite_expected(const char *expect, const struct row *r);
/* Whether the settings take in the whole of the full suite. */
bool suite_asks_for_all(const struct suite_settings *s);

#endif
