/* tests/expect/lines_state.h: lines of a stream on their way, for those that follow them: expect_lines.c down to the L2, expect_beyond.c from there on. */
#ifndef TESTS_EXPECT_LINES_STATE_H
#define TESTS_EXPECT_LINES_STATE_H

#include "tests/expect/expect_held.h"
#include "tests/expect/expect_lines.h"

#define STREAMS 32u
#define STRIDES 256u
#define CHANNELS 16u
#define BANKS 256u
#define BROUGHT 65536u
#define NO_ROW (-1)
#define SHARERS 64u /* cores of an L2, L2s of a socket */

/* What cores share: an L2, and what lies beyond; to_here, from_here: the link to the memory of another socket. */
struct shared_l2 { struct places l2; struct queue super; struct turns port; struct lines *user[SHARERS]; unsigned users; };
struct shared { struct queue tracker; struct turns slice[64], channel[CHANNELS], to_here, from_here; int64_t row[CHANNELS][BANKS]; struct shared_l2 *l2[SHARERS]; uint64_t random; unsigned l2s, users; };

struct lines {
	struct lines_shape shape;
	struct places l1;
	struct queue buffers;
	struct shared_l2 *near;
	struct shared *far;
	uint64_t l1_cycles, l2_cycles, l3_cycles, memory_cycles, drain_cycles, hit_cycles, miss_cycles; /* memory: from the L3's miss on */
	uint64_t slices, channels, banks, row_lines, last_lines, last_ways, last_policy, prefetchers, ahead;
	bool counts; /* there are counters, which the wrapper reads */
	bool l3, inclusive, hash, open_page, timed, loses_above;
	struct brought { uint64_t line, number; } brought[BROUGHT];
	uint64_t asked, flushed, last_miss; /* lines of memory that were asked for; until caches were flushed */
	struct { unsigned at; uint64_t va; int64_t step; } stride[STRIDES]; /* at: whose, 0: nobody's */
	struct { uint64_t page; int last, direction, ahead; } stream[STREAMS];
	unsigned next_stream;
	uint64_t past_line, past_bytes, past_from, past_done; /* the buffer that is open; 0 bytes: none. The latest end of one */
};

/* When a line comes that the L2 does not have; before time counts (0) only what the levels above lose by that. */
uint64_t lines_beyond(struct lines *l, uint64_t line, uint64_t t);
/* Whose arrays a line is of, among the cores of an L2. */
struct lines *lines_owner(const struct shared_l2 *near, uint64_t line);
/* A line leaves the L2. */
void lines_leave(struct lines *l, uint64_t line, bool modified, uint64_t t);
/* When the line that is written moves. */
uint64_t lines_write_memory(struct lines *l, uint64_t line, uint64_t t);

#endif
