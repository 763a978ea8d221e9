/* bench/measure/random.h: random numbers that are the same on every machine, for layouts and the order of windows. */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include "pmu/base.h"

/* xorshift64* (Vigna 2016, arXiv:1402.6246): small, and the same everywhere. */
struct random { uint64_t state; };
void random_init(struct random *r, uint64_t seed);
uint64_t random_next(struct random *r);
/* Uniform in [0, n), n > 0, with a bias of at most 2^-32. */
uint32_t random_below(struct random *r, uint32_t n);
/* Fills order[0..n) with a random permutation of 0..n-1 (Fisher-Yates). */
void random_shuffle(struct random *r, uint32_t *order, uint32_t n);
/* Fills next[0..n) with a random permutation that is a single cycle (Sattolo). */
void random_cycle(struct random *r, uint32_t *next, uint32_t n);

#endif
