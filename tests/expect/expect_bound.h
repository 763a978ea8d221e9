/* tests/expect/expect_bound.h: what nothing that moves lines can be faster than, nor slower. */
#ifndef TESTS_EXPECT_BOUND_H
#define TESTS_EXPECT_BOUND_H

#include "tests/expect/expect.h"

/* Figures of a machine, in thousandths of a core cycle. */
uint64_t bound_ps_milli(struct machine_text *t, uint64_t ps);
/* Time of a line on all channels of a node, and in all slices of a socket; 0: no limit. */
uint64_t bound_channel_milli(struct machine_text *t);
uint64_t bound_slice_milli(struct machine_text *t);
/* Lookup of the last cache, and what memory adds to it: with open pages the least and the most. */
uint64_t bound_lookup_milli(struct machine_text *t);
uint64_t bound_memory_milli(struct machine_text *t, bool remote, bool most);
/* Three times the core clock, as the file gives it. */
unsigned __int128 bound_hz3(struct machine_text *t);

/* A piece of work that is repeated: lines that come in, go back modified and are stored past the caches; what it takes within the core at most and (0: the same)
 * at least, and what its instructions hold there of buffers; instructions that wait for a load; the most lines that its window has in flight. From a level, L1 (1) to memory (4), by so many cores of a socket at once, of_l2 to an L2. emptied: caches hold
 * nothing that goes back; alone: no prefetcher helps. */
struct bound_work { uint64_t in, back, past, core_milli, least_milli, in_core_milli, waiting, window; bool remote, emptied, alone; unsigned level, cores, of_l2; };
struct bound { uint64_t least, most; };
/* Thousandths of a core cycle: the slowest part alone, and all of them one after the other; where all others together are little, the slowest one
 * hides them. False: a field is missing. */
bool bound_of(struct machine_text *t, const struct bound_work *w, struct bound *out);

/* An iteration of a stream, 256 bytes of each array: the number of arrays that are loaded and stored. Each thread of a core has its own front end and
 * commits. */
struct bound_stream { uint64_t loaded, stored; bool nontemporal, remote, emptied; unsigned level, cores, threads, of_l2; };
bool bound_stream(struct machine_text *t, const struct bound_stream *s, struct bound *out);

#endif
