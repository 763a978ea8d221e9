/* tests/expect/expect_bound.h: lower and upper bounds of the time of work that moves lines. */
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

/* Work that is repeated. in, back, past: lines that are read, written back, and stored past the caches. core_milli, least_milli (0: the same): its time
 * within the core, at most and at least. in_core_milli: the bound by entries of the core's buffers. waiting: instructions that wait for a load. window: the
 * most lines that the out-of-order window has in flight. level: from the L1 (1) to memory (4). cores: of a socket, at once; of_l2: those that share an L2.
 * emptied: the caches hold nothing to write back. alone: no prefetcher helps. */
struct bound_work { uint64_t in, back, past, core_milli, least_milli, in_core_milli, waiting, window; bool remote, emptied, alone; unsigned level, cores, of_l2; };
struct bound { uint64_t least, most; };
/* Thousandths of a core cycle: the slowest part alone, and all parts in series; if all others together are short, the slowest one hides them. False: a
 * field is missing. */
bool bound_of(struct machine_text *t, const struct bound_work *w, struct bound *out);

/* An iteration of a stream, 256 bytes of each array: the number of arrays that are loaded and stored. Each thread of a core has its own front end and
 * commits. */
struct bound_stream { uint64_t loaded, stored; bool nontemporal, remote, emptied; unsigned level, cores, threads, of_l2; };
bool bound_stream(struct machine_text *t, const struct bound_stream *s, struct bound *out);

#endif
