/* tests/expect/expect_overlap.h: the time of a load when as many as possible overlap (bench/catalogue/curves.def), from the text of a machine file. */
#ifndef TESTS_EXPECT_OVERLAP_H
#define TESTS_EXPECT_OVERLAP_H

#include "tests/expect/expect.h"

/* load.dram_overlap or load.l3_overlap: thousandths of a cycle a load, the least and the most of several rings. False: a field is missing. */
bool overlap_milli(struct machine_text *t, bool memory, int64_t *least, int64_t *most);

#endif
