/* tests/expect/expect_front.h: the time of a loop in the front end. */
#ifndef TESTS_EXPECT_FRONT_H
#define TESTS_EXPECT_FRONT_H

#include "tests/expect/expect_core.h"

/* A loop at a 64-byte boundary is written with a letter and a length in bytes (: is 10) for each instruction: a operation, l load,
 * m operation with a load, s store, d the first of a pair that fuses with macrofusion 2, j its jump back. */

/* Of k_triad_*, by vectors of 16, 32 and 64 bytes. */
extern const char *const front_triads[3];

/* Fused-domain uops of an instruction of that kind, and of an iteration. */
uint64_t front_slots_of(struct machine_text *t, char kind);
uint64_t front_slots(struct machine_text *t, const char *loop);
/* Thousandths of a cycle that uop cache or decoders take for an iteration in steady state; 0 from the loop buffer. */
uint64_t front_iteration_milli(struct machine_text *t, const char *loop);

#endif
