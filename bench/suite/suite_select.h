/* bench/suite/suite_select.h: queries on settings for use within the suite. */
#ifndef BENCH_SUITE_SELECT_H
#define BENCH_SUITE_SELECT_H

#include "bench/suite/suite.h"

/* The statuses that an expect text allows for a row, as bits; 0 when no line matches. */
unsigned suite_expected(const char *expect, const struct row *r, const char *core_kind);
/* Instruction sets (asm/kernel.h) whose vectors are wider than a setting of 0, 128, 256 or 512 bits wants. */
uint32_t suite_too_wide(unsigned vector_bits);
/* Whether the settings select the whole full suite. */
bool suite_asks_for_all(const struct suite_settings *s);

#endif
