/* bench/measure/random.c: see random.h. */
#include "bench/measure/random.h"

void random_init(struct random *r, uint64_t seed)
{
	r->state = seed ? seed : 0x9E3779B97F4A7C15ull; /* xorshift's state must not be 0 */
}

uint64_t random_next(struct random *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545F4914F6CDD1Dull;
}

uint32_t random_below(struct random *r, uint32_t n)
{
	return (uint32_t)(((random_next(r) >> 32) * n) >> 32);
}

void random_shuffle(struct random *r, uint32_t *order, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = random_below(r, i + 1);

		order[i] = order[k];
		order[k] = i;
	}
}

void random_cycle(struct random *r, uint32_t *next, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		next[i] = i;
	for (uint32_t i = n; i-- > 1;) {
		uint32_t k = random_below(r, i), other = next[k]; /* k < i, never i: one cycle */

		next[k] = next[i];
		next[i] = other;
	}
}
