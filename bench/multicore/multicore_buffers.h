/* bench/multicore/multicore_buffers.h: the arrays of streams of several cores. */
#ifndef BENCH_MULTICORE_ARRAYS_H
#define BENCH_MULTICORE_ARRAYS_H

#include "bench/multicore/multicore.h"

/* Iterations of the crowd's shorter windows as it is now (c->at_once); how many times as long the longer ones are. */
uint32_t multicore_window(const struct multicore *c);
unsigned multicore_times(const struct row *r);
/* Says for all members at work whether each pair of windows begins at a place of its own, and how much room there is for these. */
void start_offsets(struct multicore *c);
/* The most of the first n members that share a cache of that level. */
unsigned multicore_sharers(const struct multicore *c, unsigned n, enum target place);
/* How many iterations fill the level below a last level that takes what that one gives up, 0 on other machines: until it is full,
 * it takes what a window stores and gives nothing up. */
uint64_t multicore_below(const struct multicore *c, const struct kernel *k);
/* Whether longer windows of the first n members come near to all of the level below the row's, and push out of it what the wrapper needs. Windows in
 * memory whose lines are not flushed begin with a last level that is full. */
bool multicore_pushes_wrapper(const struct multicore *c, unsigned n);
/* Whether what a private cache gives up goes to the last level: then windows whose lines are flushed leave none behind either. */
bool multicore_gives_up(const struct multicore *c);
/* The shape of a member's arrays when n are at work. ST_UNSUPPORTED: *out says why. */
MUST_CHECK enum status multicore_shape(const struct multicore *c, unsigned n, struct shape *s, struct row_result *out);
/* Cores at equal places of their arrays would go through the same sets of a level that `all` of them share: modified and other
 * lines would come and go there in bunches, and where it has fewer ways they would push each other's out. So member i begins
 * elsewhere: in large arrays that much of a way further, small ones as far from the first as all before it are long. */
void multicore_set_apart(const struct multicore *c, unsigned i, unsigned all, struct working_set *w);
/* Members from..n-1 are new. Their arrays come into the level, or the last levels that are new into the row's state. */
MUST_CHECK enum status multicore_warm_up(struct multicore *c, unsigned from, unsigned n);
/* The first n members go a little further, for an array lies some lines before the others in the last level's sets: where none has been, what comes first pushes
 * out other arrays' lines than it does later on. */
MUST_CHECK enum status multicore_lead(struct multicore *c, unsigned n);

/* --- multicore_width.c -------------------------------------------------------------------------- */

/* The kernel of the first n members, warmed up, once a row: bench/measure/vector_width.h. */
MUST_CHECK enum status multicore_width_choose(struct multicore *c, unsigned n, struct row_result *out);

#endif
