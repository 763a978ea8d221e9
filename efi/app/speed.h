/* efi/app/speed.h: the simulator's speed on this booted machine. */
#ifndef EFI_SPEED_H
#define EFI_SPEED_H

#include "efi/platform/clock.h"

/* Simulated instructions per second on the built-in Nehalem-EP, four counters armed, one active core, timed by the TSC;
 * printed as TAP, one check per case: at least 1.0 million a second, 0.5 on the L3 and DRAM chases. Returns the number of
 * cases that were slower, or could not be run. */
unsigned speed_test(const struct clock *clock);

#endif
