/* tests/unit/support/random_insn.h: random numbers, and bytes that look like instructions. */
#ifndef TESTS_RANDOM_INSN_H
#define TESTS_RANDOM_INSN_H

#include <stdint.h>

void draw_seed(uint64_t from);  /* not 0 */
uint64_t draw(void);
unsigned below(unsigned n);
/* 15 bytes; the decoder decides whether they begin with an instruction. */
unsigned random_insn(uint8_t *out);

#endif
