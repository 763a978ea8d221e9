/* tests/expect/expect_walk.h: loads that walk the page table. */
#ifndef TESTS_EXPECT_WALK_H
#define TESTS_EXPECT_WALK_H

#include "tests/expect/expect.h"

/* The excess of a chase through n nodes, one a page, more than any level of the TLB holds, over a chase through as many consecutive lines; thousandths of
 * a cycle, the least and the most of several orders. units: loads of the shorter window. spread: after that many pages the node's line within its page
 * advances by one; spread_far: after that many (0: never) by one more. Pages form groups of 8 whose entries share a line. passes: each pass visits another
 * page of each group; grouped: all pages of a group are visited in a row. */
struct walk_ring { uint64_t page_bytes, nodes, units, spread, spread_far; bool passes, grouped; };
bool walk_milli(struct machine_text *t, const struct walk_ring *ring, int64_t *least_milli, int64_t *most_milli);
/* From one walk to the next with eight loads in flight, one a page of a ring of that many pages. */
bool walkers_milli(struct machine_text *t, uint64_t pages, int64_t *least_milli, int64_t *most_milli);

#endif
