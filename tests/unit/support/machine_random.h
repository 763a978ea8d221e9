/* tests/unit/support/machine_random.h: machine files drawn at random, within machine.def's rules. */
#ifndef TESTS_MACHINE_RANDOM_H
#define TESTS_MACHINE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Writes machine number `number` of the series `seed`; the same two always give the same file. */
void machine_random(uint64_t seed, unsigned number, char *text, size_t capacity);

/* The text of a machine file with clock, latencies, sizes, bandwidths and numbers of entries redrawn; identity, topology and events are kept. To be freed. */
char *machine_varied(uint64_t seed, unsigned number, const char *text);

#endif
