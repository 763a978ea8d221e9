/* bench/multicore/multicore_buffers.h: the arrays of multicore streams. */
#ifndef BENCH_MULTICORE_BUFFERS_H
#define BENCH_MULTICORE_BUFFERS_H

#include "bench/multicore/multicore.h"

/* Iterations of the shorter windows with c->at_once members; how many times longer the longer windows are. */
uint32_t multicore_window(const struct multicore *c);
unsigned multicore_times(const struct row *r);
/* Decides for all members at work whether each pair of windows has its own start offset, and reserves room for these offsets. */
void multicore_start_offsets(struct multicore *c);
/* Whether the arrays of the first n members leave room in the L2s that they share: its part of a stream of the L3 would come from there. */
bool multicore_fits_below(const struct multicore *c, unsigned n);
/* The most of the first n members that share a cache of that level. */
unsigned multicore_sharers(const struct multicore *c, unsigned n, enum target target);
/* Iterations that fill the level below a victim last level; 0 on other machines. Until that level is full it absorbs what a window stores
 * and evicts nothing. */
uint64_t multicore_below(const struct multicore *c, const struct kernel *k);
/* Whether the longer windows of the first n members nearly fill the level below the row's and so evict the wrapper's lines from it. DRAM
 * windows whose lines are not flushed start with a full last level. */
bool multicore_pushes_wrapper(const struct multicore *c, unsigned n);
/* Whether victims of a private cache go to the last level; then windows whose lines are flushed leave none there either. */
bool multicore_has_victim_cache(const struct multicore *c);
/* The shape of a member's arrays when n are at work. ST_UNSUPPORTED: *out says why. */
MUST_CHECK enum status multicore_shape(const struct multicore *c, unsigned n, struct shape *s, struct row_result *out);
/* At equal offsets, members would walk through the same sets of a level that `all` of them share: clean and dirty lines would come in bursts,
 * and with too few ways they would evict each other. So member i starts elsewhere: in large arrays that many fractions of a way further on,
 * in small ones behind the room of all members before it. */
void multicore_stagger_arrays(const struct multicore *c, unsigned i, unsigned all, struct working_set *w);
/* Members from..n-1 are new. Brings their arrays into the level, or last levels that are new into the row's state. */
MUST_CHECK enum status multicore_warm_up(struct multicore *c, unsigned from, unsigned n);
/* Runs the first n members a few iterations ahead. One array lies a few lines before the others in the last level's sets; in untouched sets its
 * first lines would evict other lines than they do later. */
MUST_CHECK enum status multicore_lead(struct multicore *c, unsigned n);

/* --- multicore_width.c -------------------------------------------------------------------------- */

/* The kernel of the first n members, warmed up, once a row: bench/measure/vector_width.h. */
MUST_CHECK enum status multicore_width_choose(struct multicore *c, unsigned n, struct row_result *out);

/* Streams from memory: where the processor counts its front-side bus, says in out->remark how busy it is while the first n members run. */
MUST_CHECK enum status multicore_bus(struct multicore *c, unsigned n, struct row_result *out);

#endif
