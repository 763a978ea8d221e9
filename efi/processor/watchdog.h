/* efi/processor/watchdog.h: resets the machine when nothing makes progress.
 *
 * Uses all that exist: the firmware's (UEFI 2.10, 7.5, SetWatchdogTimer), which runs on the firmware's own timer and
 * so cannot fire while interrupts are off; the chipset's, from tables/watchdogs.csv; and a management controller's, if
 * SMBIOS lists one with a KCS interface. */
#ifndef EFI_WATCHDOG_H
#define EFI_WATCHDOG_H

#include "efi/platform/smbios.h"
#include "efi/processor/watchdog_io.h"

struct watchdog {
	unsigned seconds; /* 0: none; less than requested if the chipset's timer cannot run so long */
	struct watchdog_chip_state chip;
	struct watchdog_bmc bmc;
	uint64_t fed_at;  /* TSC of the last feed by watchdog_feed_seldom */
	char found[160];   /* the armed watchdogs, for the results */
};

/* Arms the available watchdogs and reports them in a line, unusable ones in another; seconds 0: no effect, no report. */
void watchdog_arm(struct watchdog *w, const struct smbios *smbios, unsigned seconds);
/* Restarts the time. */
void watchdog_feed(const struct watchdog *w);
/* The same within a row, at most once per quarter of the time, since a firmware call changes the caches. `now` and `hz` are the TSC's. */
void watchdog_feed_seldom(struct watchdog *w, uint64_t now, uint64_t hz);
/* Stops them and restores their registers. */
void watchdog_disarm(struct watchdog *w);

#endif
