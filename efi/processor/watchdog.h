/* efi/processor/watchdog.h: resets the machine when nothing makes progress.
 *
 * Two at once, if both exist: the firmware's (UEFI 2.10, 7.5, SetWatchdogTimer), which runs on the firmware's own timer and
 * so cannot fire while interrupts are off, and one of the chipset, from tables/watchdogs.csv. */
#ifndef EFI_WATCHDOG_H
#define EFI_WATCHDOG_H

#include "pmu/base.h"
#include "tables/watchdog.h"

struct watchdog {
	unsigned seconds;                 /* 0: none */
	const struct watchdog_chip *chip; /* NULL: none that is known and free */
	uint64_t base;                    /* of its registers */
	uint64_t saved[WATCHDOG_SAVED];   /* what it changed, in the order of its kind */
	uint64_t fed_at;                  /* TSC, by watchdog_feed_seldom */
};

/* Arms what there is and reports it in one line; seconds 0: no effect, no report. */
void watchdog_arm(struct watchdog *w, unsigned seconds);
/* The time starts over. */
void watchdog_feed(const struct watchdog *w);
/* The same within a row, each quarter of the time: a call of the firmware moves caches. `now` and `hz` are the TSC's. */
void watchdog_feed_seldom(struct watchdog *w, uint64_t now, uint64_t hz);
/* Stops both and restores the chip's registers. */
void watchdog_disarm(struct watchdog *w);

#endif
