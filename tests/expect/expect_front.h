/* tests/expect/expect_front.h: what a loop takes in the front end. */
#ifndef TESTS_EXPECT_FRONT_H
#define TESTS_EXPECT_FRONT_H

#include "tests/expect/expect_core.h"

/* A loop that begins at a 64-byte boundary, an instruction a letter and its length in bytes: a operation, l load,
 * m operation with a load, s store, d the first of a pair that fuses with macrofusion 2, j its jump back. */

/* Of k_triad_*, by vectors of 16, 32 and 64 bytes. */
extern const char *const front_triads[3];

/* Fused-domain uops of an instruction of that kind, of a turn. */
uint64_t front_slots_of(struct machine_text *t, char kind);
uint64_t front_slots(struct machine_text *t, const char *loop);
/* Thousandths of a cycle that loop buffer (nothing), uop cache or decoders take for a turn, once the loop runs. */
uint64_t front_turn_milli(struct machine_text *t, const char *loop);

/* The same, instruction by instruction. window: of the uop cache, 0 without; held: which of the loop's first 64 windows it has. */
struct front_flow {
	uint64_t window, window_most, cached_width, switch_cycles, bytes, width, taken_cycles, complex, microcode_width, microcode_cycles;
	uint64_t at, group, in_window, held, fetch_group, fetched, decode, taken, turns;
	bool redirected, from_cache, sequencer, missing;
};
struct front_flow front_flow_of(struct machine_text *t);
/* The loop begins anew. */
void front_turn(struct front_flow *f);
/* The cycle in which the next instruction can be allocated; room: the first in which the queue has a place for it. */
uint64_t front_flow_step(struct front_flow *f, uint64_t length, uint64_t slots, uint64_t room);

#endif
