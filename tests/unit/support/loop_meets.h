/* tests/unit/support/loop_meets.h: rows of a simulated machine against tests/expect/. */
#ifndef TESTS_LOOP_MEETS_H
#define TESTS_LOOP_MEETS_H

#include "tests/expect/expect.h"
#include "tests/unit/support/closed_loop.h"

/* Text of tables/machines/FORMAT.md, to be freed. */
char *loop_format(void);
/* A row about open DRAM pages on a machine that closes them, or has small ones: it must say so. */
bool loop_pages_are_closed(const struct row_result *row, const char *text, const char *format);
/* Whether a row meets its formula; without one, *judged is false. Says on stderr where it does not. */
bool loop_row_meets(const struct row_result *row, const char *text, const char *format, bool *judged);
/* All rows of a run: how many have a formula and meet it, and how many do not. */
unsigned loop_meets(const struct loop_run *r, const char *text, unsigned *missed);

#endif
