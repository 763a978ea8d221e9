/* A figure that a page of docs/ states in a table: for tests that measure it. */
#ifndef TESTS_DOCUMENTED_H
#define TESTS_DOCUMENTED_H

/* The number at the beginning of the cell of `row` under `column`, in the first table of the page that has both. `nth`: which number of the cell, from 0.
 * Fails the test where there is none. */
double documented(const char *page, const char *row, const char *column, unsigned nth);

#endif
