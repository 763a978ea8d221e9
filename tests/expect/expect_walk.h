/* tests/expect/expect_walk.h: loads that walk the page table. */
#ifndef TESTS_EXPECT_WALK_H
#define TESTS_EXPECT_WALK_H

#include "tests/expect/expect.h"

/* A chase through n nodes, one a page, that no level of the TLB holds, over one through as many lines next to each other; units: loads of the
 * shorter window; spread: after so many pages the node's line within its page moves on by one, after so many of spread_far (0: none) once more. Pages in groups of 8 whose entries share a line: again and again, each time
 * another page of each group (passes), or all of a group one after the other (grouped). Thousandths of a cycle, of several orders the least and the most. */
struct walk_ring { uint64_t page_bytes, nodes, units, spread, spread_far; bool passes, grouped; };
bool walk_milli(struct machine_text *t, const struct walk_ring *ring, int64_t *least_milli, int64_t *most_milli);
/* From one walk to the next with eight loads in flight, one a page of a ring of that many pages. */
bool walkers_milli(struct machine_text *t, uint64_t pages, int64_t *least_milli, int64_t *most_milli);

#endif
