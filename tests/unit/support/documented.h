/* Numbers from tables in docs/, for tests that measure them. */
#ifndef TESTS_DOCUMENTED_H
#define TESTS_DOCUMENTED_H

/* The nth number, from 0, in the cell of `row` under `column`, in the first table of the page that has both. Fails the test if no table has them. */
double documented(const char *page, const char *row, const char *column, unsigned nth);

#endif
