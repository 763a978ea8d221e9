/* tests/expect/expect_loaded.h: a load from memory while other cores of the socket read all they can. */
#ifndef TESTS_EXPECT_LOADED_H
#define TESTS_EXPECT_LOADED_H

#include "tests/expect/expect.h"

/* Thousandths of a core cycle that it costs more than alone: of several starts the least and the most. False: a field is missing, or
 * there are more cores than can be followed. */
bool loaded_milli(struct machine_text *t, int64_t *least, int64_t *most);

#endif
