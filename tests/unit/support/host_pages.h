/* tests/unit/support/host_pages.h: host memory for the tests' simulated machines; a page is allocated when it is first touched. */
#ifndef TESTS_HOST_PAGES_H
#define TESTS_HOST_PAGES_H

#include "pmu/sim/backend/sim.h"

extern const struct sim_memory host_pages;

#endif
