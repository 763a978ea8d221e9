/* tests/expect/follow_multicore.h: cores of a socket that run a stream together, for those that say from where and how long. */
#ifndef TESTS_EXPECT_FOLLOW_MULTICORE_H
#define TESTS_EXPECT_FOLLOW_MULTICORE_H

#include "tests/expect/expect_follow.h"
#include "tests/expect/follow_core.h"

#define CORES_MOST 64u
#define BETWEEN_CYCLES 10000u            /* from one window to the next: nothing is under way any more */

/* A loop on cores of a socket, and where each of them is: iterations done, and instructions of the next. */
struct multicore {
	struct follow_cores f;
	unsigned n, start, last, done[CORES_MOST], at[CORES_MOST]; /* last: whose instruction was the last one */
	uint64_t asks[CORES_MOST]; /* when the next instruction does, as far as it is known */
	uint64_t distance, place[CORES_MOST], random, time; /* place: byte of its arrays where a core's window begins */
	struct core *core[CORES_MOST];
	struct op ops[OPS_MOST];
};

/* From line `first` of each array on; ports, and in memory places, differ from start to start. NULL: no memory, or t->missing. */
struct multicore *follow_multicore_open(struct machine_text *t, const struct follow_cores *f, uint64_t first, unsigned start);
/* When all have done so many iterations, from number `from` on, which they begin together after cycle t, and no store is under way any more. */
uint64_t follow_multicore_window(struct multicore *w, uint64_t from, unsigned turns, uint64_t t);
void follow_multicore_close(struct multicore *w);
/* expect_places.c: as follow_cores_milli, of f->turns. */
bool places_milli(struct machine_text *t, const struct follow_cores *f, uint64_t *least, uint64_t *most);
/* expect_windows.c: as follow_milli, of the L2 and the L3. */
bool windows_milli(struct machine_text *t, const struct follow_cores *f, uint64_t *least, uint64_t *most);

#endif
