/* tests/expect/expect_past.h: what a line takes that is stored past the caches. */
#ifndef TESTS_EXPECT_PAST_H
#define TESTS_EXPECT_PAST_H

#include "tests/expect/expect.h"

/* Lines of so many 16-byte stores each, one behind the other: thousandths of a cycle a line, of several starts the least and the most.
 * False: a field is missing. */
bool past_milli(struct machine_text *t, unsigned stores, uint64_t *least, uint64_t *most);

#endif
