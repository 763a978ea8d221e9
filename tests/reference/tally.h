/* tests/reference/tally.h: many random machines and streams compared, and what that comes to; for cmocka programs. */
#ifndef TESTS_TALLY_H
#define TESTS_TALLY_H

#include "tests/reference/rig.h"

/* least, most: cycles of a run, until all its threads are over, of the reference's. */
struct tally { uint64_t seed, runs, equal, inapt, insns, model_cycles, wanted_cycles; double least, most; };

/* Compares so many streams, or pairs of them as the threads of a core; with `exact` the first that does not agree is cut down,
 * printed and ends it. Work must be equal in any case. Runs in which a branch is mispredicted to the end are not counted.
 * REFERENCE_SEED says with which seed they begin. */
struct tally tally_compare(unsigned threads, unsigned stream_kinds, unsigned machine_kinds, uint64_t runs, bool exact);
/* A class of tests/reference/DISAGREEMENTS.md with its bounds: cycles of all runs, of one. */
void tally_check_class(unsigned threads, unsigned machine_kinds, uint64_t runs, double sum, double one);

#endif
