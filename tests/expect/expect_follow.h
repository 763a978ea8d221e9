/* tests/expect/expect_follow.h: what an iteration of a stream takes, followed instruction by instruction. */
#ifndef TESTS_EXPECT_FOLLOW_H
#define TESTS_EXPECT_FOLLOW_H

#include "tests/expect/expect.h"

/* The streams of asm/stream.asm and asm/bandwidth.asm. */
enum follow_stream { FOLLOW_READ, FOLLOW_WRITE, FOLLOW_COPY, FOLLOW_TRIAD };

/* Bytes between two arrays: half a page and a line. */
#define FOLLOW_APART_BYTES (4096 / 2 + 64)

/* Cores of a socket at once, of_l2 to an L2, each in arrays of its own of so many bytes in the L1 (1) to memory (4); remote: in memory of another
 * socket. turns: each core's windows begin anywhere in its arrays, and iterations from that many to four times as many count, of so many sockets until the last
 * one has done its; 0: as one core's do. filled: caches are full of other parts of the arrays then, which lie `skew_bytes` apart and of which the last places_bytes
 * are for windows; else they hold nothing. */
struct follow_cores { enum follow_stream stream; bool nontemporal, remote, filled; unsigned level, cores, of_l2, turns, sockets; uint64_t array_bytes, skew_bytes, places_bytes; };
/* Thousandths of a core cycle that an iteration of one core takes, of several starts the least and the most. False: a field is missing. */
bool follow_milli(struct machine_text *t, const struct follow_cores *f, uint64_t *least, uint64_t *most);
/* The same of several: until the last one has done its. */
bool follow_cores_milli(struct machine_text *t, const struct follow_cores *f, uint64_t *least, uint64_t *most);
/* The same from the start of one number, turns 0; *half: in the first half of the time that is looked at. 0: a field is missing. */
uint64_t follow_start_milli(struct machine_text *t, const struct follow_cores *f, unsigned start, uint64_t *half);
/* The root of n in whole numbers, for deviations of starts. */
uint64_t follow_root(uint64_t n);
/* Bytes of a vector, and the loop as expect_front.h writes it. */
uint64_t follow_vector_bytes(struct machine_text *t);
const char *follow_loop(struct machine_text *t, enum follow_stream stream);

#endif
