/* tests/unit/support/random_insn.h: random numbers, and bytes that look like instructions. */
#ifndef TESTS_RANDOM_INSN_H
#define TESTS_RANDOM_INSN_H

#include <stdint.h>

void draw_seed(uint64_t from);  /* not 0 */
uint64_t draw(void);
unsigned below(unsigned n);
/* 15 bytes; whether they begin with an instruction is for the decoder to say. */
unsigned random_insn(uint8_t *out);

#endif
