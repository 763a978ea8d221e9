/* tests/expect/expect_turn.h: what a turn of a pair's loop takes, followed instruction by instruction. */
#ifndef TESTS_EXPECT_TURN_H
#define TESTS_EXPECT_TURN_H

#include "tests/expect/expect.h"

/* A row's value in thousandths of a cycle, of several starts the least and the most. ST_MISSING: not followed here. */
enum status turn_milli(struct machine_text *t, const char *row, int64_t *least_milli, int64_t *most_milli);
/* A line of stores that the L1 owns, likewise. False: a field is missing. */
bool turn_line_milli(struct machine_text *t, int64_t *least_milli, int64_t *most_milli);
/* A store to a line that comes from memory, one behind the other, likewise. */
bool turn_owning_milli(struct machine_text *t, int64_t *least_milli, int64_t *most_milli);

#endif
