/* tests/expect/expect_lines.h: when the lines of a stream come, from the text of a machine file. */
#ifndef TESTS_EXPECT_LINES_H
#define TESTS_EXPECT_LINES_H

#include "tests/expect/expect.h"

/* Arrays, `distance` bytes from one to the next, that lie in the L1 (1) to memory (4); the first of them, at address `base`, is stored to.
 * first: the line of each up to which the caches hold what the stream goes through; begins: where the first array lies in memory, in lines; remote: in that of another
 * socket. cold: the caches hold nothing; quiet: nothing is fetched ahead. cores: of the socket, that do the same in arrays of their own. */
struct lines_shape { unsigned level, arrays, cores; bool stored, nontemporal, remote, cold, quiet; uint64_t array_bytes, distance, base, first, begins; };
struct lines;

/* beside: another core's of the same socket, NULL for the first one; same_l2: the L2 is that one's too. NULL: a field is missing, or
 * the host's memory has run out. */
struct lines *lines_open(struct machine_text *t, const struct lines_shape *shape, const struct lines *beside, bool same_l2);
void lines_close(struct lines *l);
/* When a load's value is there, of the instruction at byte `at` of the code, not 0; when a store's line is owned; both asked for in cycle t. */
uint64_t lines_load(struct lines *l, unsigned at, uint64_t va, uint64_t t);
uint64_t lines_store(struct lines *l, uint64_t va, uint64_t t);
/* The first cycle from t on in which a fill buffer can be had. */
uint64_t lines_room(const struct lines *l, uint64_t t);
/* When a store past the caches has its place in a buffer. */
uint64_t lines_past(struct lines *l, uint64_t va, uint64_t bytes, uint64_t t);
/* Until when the last of those is held. */
uint64_t lines_past_done(const struct lines *l);
/* What the wrapper does between two windows, from cycle t on, with lines of its own in page number `page` of the L1's sets and behind it. Returns when it has ended. */
uint64_t lines_wrapper(struct lines *l, uint64_t page, uint64_t t);
/* No cache holds a line any more. */
void lines_flush(struct lines *l);
/* This core asks for nothing before t any more, none for anything before `all`. */
void lines_forget(struct lines *l, uint64_t t, uint64_t all);

#endif
