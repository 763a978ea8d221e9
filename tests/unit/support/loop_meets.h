/* tests/unit/support/loop_meets.h: judges a simulated machine's rows by the formulas of tests/expect/. */
#ifndef TESTS_LOOP_MEETS_H
#define TESTS_LOOP_MEETS_H

#include "tests/expect/expect.h"
#include "tests/unit/support/closed_loop.h"

/* Text of tables/machines/FORMAT.md, to be freed. */
char *loop_format(void);
/* Whether this is a row about open DRAM pages that correctly reports that the machine closes pages, or that its pages are too small. */
bool loop_pages_are_closed(const struct row_result *row, const char *text, const char *format);
/* Whether a row meets its formula; a row without one does, with *judged false. Prints a miss to stderr. */
bool loop_row_meets(const struct row_result *row, const char *text, const char *format, bool *judged);
/* Returns how many rows of a run have a formula and meet it; *missed: how many do not meet theirs. */
unsigned loop_meets(const struct loop_run *r, const char *text, unsigned *missed);

#endif
