/* tests/unit/support/host_pages.h: memory for simulated machines of tests, page by page as it is touched. */
#ifndef TESTS_HOST_PAGES_H
#define TESTS_HOST_PAGES_H

#include "pmu/sim/backend/sim.h"

extern const struct sim_memory host_pages;

#endif
