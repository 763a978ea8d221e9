/* tests/expect/expect_branch.h: the cost of a misprediction in the loops of asm/branch.asm. */
#ifndef TESTS_EXPECT_BRANCH_H
#define TESTS_EXPECT_BRANCH_H

#include "tests/expect/expect.h"

/* Thousandths of a cycle per misprediction of branch.conditional.penalty, branch.indirect.penalty and branch.return.penalty, at least and at most.
 * ST_MISSING: another row, or a machine with a limit that is not modelled here. */
MUST_CHECK enum status branch_milli(struct machine_text *t, const char *row, int64_t *least_milli, int64_t *most_milli);

#endif
