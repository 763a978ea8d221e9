/* tests/expect/expect_loaded.h: a load from memory while other cores of the socket read as fast as they can. */
#ifndef TESTS_EXPECT_LOADED_H
#define TESTS_EXPECT_LOADED_H

#include "tests/expect/expect.h"

/* Thousandths of a core cycle by which it takes longer than alone: the least and the most of several starts. False: a field is missing. */
bool loaded_milli(struct machine_text *t, int64_t *least, int64_t *most);

#endif
