/* tests/expect/expect_front.h: what a loop takes in the front end. */
#ifndef TESTS_EXPECT_FRONT_H
#define TESTS_EXPECT_FRONT_H

#include "tests/expect/expect_core.h"

/* A loop that begins at a 64-byte boundary, an instruction a letter and its length in bytes (: is 10): a operation, l load,
 * m operation with a load, s store, d the first of a pair that fuses with macrofusion 2, j its jump back. */

/* Of k_triad_*, by vectors of 16, 32 and 64 bytes. */
extern const char *const front_triads[3];

/* Fused-domain uops of an instruction of that kind, of an iteration. */
uint64_t front_slots_of(struct machine_text *t, char kind);
uint64_t front_slots(struct machine_text *t, const char *loop);
/* Thousandths of a cycle that loop buffer (nothing), uop cache or decoders take for an iteration, once the loop runs. */
uint64_t front_iteration_milli(struct machine_text *t, const char *loop);

#endif
