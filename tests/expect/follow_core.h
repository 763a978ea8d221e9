/* tests/expect/follow_core.h: a core that is followed instruction by instruction, for those that say which ones. */
#ifndef TESTS_EXPECT_FOLLOW_CORE_H
#define TESTS_EXPECT_FOLLOW_CORE_H

#include "tests/expect/expect_follow.h"
#include "tests/expect/expect_front.h"
#include "tests/expect/expect_lines.h"

#define WINDOW_MOST 1024u    /* entries of a buffer */
#define CYCLES 65536u        /* of the ports, remembered behind each other */
#define PIECES 512u          /* of 8 bytes in 4 KiB */

enum what { LOAD, STA, STD, LEA, INT, BRANCH, ADD, MUL, IMUL, MOVE, MICROCODE, OTHER, KINDS }; /* OTHER: what the loop is about, its costs set by who says which loop */

/* Registers: what each iteration counts in, three pointers, the counter, those of vectors at work, and those never written. */
#define VECTORS 8u
enum reg { AT, POINTER, COUNTER = POINTER + 3, VECTOR, CONSTANT = VECTOR + VECTORS, MASK, BASE, REGS = BASE + 3, NO_REG = REGS };

/* An instruction; kind, length: as in the loop's text; f: a load that the L1 answers for certain; what: KINDS: a load alone.
 * at: of its first byte, the first of the loop 1. Further uops of microcode; free: needs no port; hold: so many cycles after it has
 * completed allocation goes on, 0: nothing waits. */
#define OPS_MOST 128u
struct op { char kind; uint8_t length, slots; unsigned at; enum what what; enum reg reads[2], writes; uint64_t array, offset, further, hold; bool free; };

struct piece { uint64_t commit, address_cycle, number; };

struct core {
	struct machine_text *t;
	struct lines *lines;
	struct front_flow front;
	struct { unsigned ports; uint64_t latency, busy; } cost[KINDS];
	uint64_t l1_cycles, width, retire_width, rob_size, rs_size, lb_size, sb_size, dispatch, reads_most, queue, alias_cycles;
	bool streams, unfused, micro;          /* streams: from the loop buffer */
	uint64_t rob[WINDOW_MOST], lb[WINDOW_MOST], sb[WINDOW_MOST], queued[WINDOW_MOST]; /* last cycles; of the queue, allocations */
	uint64_t groups, loads, stores;
	uint64_t leave[2 * WINDOW_MOST], leaving; /* when entries of the reservation station become free */
	uint64_t alloc, slots, retire, retired_now, commit, barrier; /* barrier: nothing is allocated before */
	uint64_t ready[REGS + 1], written[REGS + 1], read_set;
	struct { uint64_t cycle; unsigned taken; } busy[CYCLES];
	unsigned above;                        /* ports from here on come next */
	uint64_t late, random;                 /* loads come up to so many cycles late */
	struct piece piece[PIECES];
	uint64_t (*translate)(void *self, uint64_t va, uint64_t t); /* NULL: each page is known. When a load's address is, asked for in cycle t */
	void *pages;
};

/* Of a loop as expect_front.h writes it, without lines yet; to be freed. t->missing: a field is. NULL: no memory. */
struct core *follow_core_of(struct machine_text *t, const char *loop);
/* The arrays of a stream, and the instructions of its loop: how many. */
static inline unsigned follow_arrays(enum follow_stream stream) { return stream == FOLLOW_TRIAD ? 3 : stream == FOLLOW_COPY ? 2 : 1; }
unsigned follow_ops(struct machine_text *t, enum follow_stream stream, bool nontemporal, struct op *ops);
/* The cycle before which that instruction, the next one, asks for no line; one that loads and stores nothing: before which it is not allocated. Of cores
 * beside each other the one whose next one asks first goes on. */
uint64_t follow_asks(const struct core *c, const struct op *o, bool nontemporal);
/* An instruction of an iteration at byte `at` of each array, the first at `base`; `distance` lies between two arrays. An iteration begins with front_turn. */
void follow_step(struct core *c, const struct op *o, bool nontemporal, uint64_t at, uint64_t base, uint64_t distance, uint64_t bytes);

#endif
