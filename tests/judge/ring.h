/* tests/judge/ring.h: one access stream, built alike for cachegrind and for the simulated machine. */
#ifndef TESTS_JUDGE_RING_H
#define TESTS_JUDGE_RING_H

#include <stdint.h>

/* Links `words` 8-byte words at `host`, whose address for the chase is `va`, into one random cycle: each
 * line is visited eight times a pass, at random distances. `order` is room for as many numbers. */
void ring_link(uint64_t *host, uint64_t va, uint32_t words, uint64_t seed, uint32_t *order);

#endif
