/* pmu/sim/uncore/uncore_power.h: C-states of cores and packages, as counted by power control units. */
#ifndef SIM_UNCORE_POWER_H
#define SIM_UNCORE_POWER_H

#include "pmu/sim/uncore/uncore_tap.h"

struct uncore_power;
size_t uncore_power_bytes(const struct machine *m);
/* All cores are idle at first. The taps make it report the states before they are read. */
struct uncore_power *uncore_power_init(void *at, const struct machine *m, struct uncore_taps *taps);
/* A core begins or ends a job in the present cycle. */
void uncore_power_core(struct uncore_power *p, unsigned core, bool runs);

#endif
