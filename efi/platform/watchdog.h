/* efi/platform/watchdog.h: resets the machine when nothing goes on.
 *
 * Two at once, where both are: the firmware's (UEFI 2.10, 7.5, SetWatchdogTimer), which runs on the firmware's own timer
 * and so cannot fire while interrupts are off, and one of the chipset, of those that tables/watchdogs.csv lists. */
#ifndef EFI_WATCHDOG_H
#define EFI_WATCHDOG_H

#include "pmu/base.h"
#include "tables/watchdog.h"

struct watchdog {
	unsigned seconds;                 /* 0: none */
	const struct watchdog_chip *chip; /* NULL: none that is known and free to use */
	uint64_t base;                    /* of its registers */
	uint64_t saved[WATCHDOG_SAVED];   /* what it changed, in the kind's own order */
};

/* Arms what there is and says in one line what that is; seconds 0 does nothing and says nothing. */
void watchdog_arm(struct watchdog *w, unsigned seconds);
/* The time starts over. */
void watchdog_feed(const struct watchdog *w);
/* Stops both and puts the chip's registers back. */
void watchdog_disarm(struct watchdog *w);

#endif
