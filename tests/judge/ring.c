/* tests/judge/ring.c: see ring.h. */
#include "bench/measure/layout.h"
#include "tests/judge/ring.h"

void ring_link(uint64_t *host, uint64_t va, uint32_t words, uint64_t seed, uint32_t *order)
{
	struct random random;
	random_init(&random, seed);
	random_cycle(&random, order, words);
	for (uint32_t i = 0; i < words; i++)
		host[i] = va + 8ull * order[i];
}
