/* tests/expect/expect_ports.h: the time that ports need for an iteration of a loop. */
#ifndef TESTS_EXPECT_PORTS_H
#define TESTS_EXPECT_PORTS_H

#include "tests/expect/expect.h"

/* That many port cycles an iteration, on any port that a class of [exec] names. */
struct port_use { const char *class; int64_t cycles; };

/* Thousandths of a cycle: no iteration is shorter. A list ends with a class of NULL. */
int64_t ports_turn_milli(struct machine_text *t, const struct port_use *uses);

#endif
