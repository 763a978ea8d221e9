/* tables/watchdog.h: watchdog timers of chipsets, from tables/watchdogs.csv. */
#ifndef TABLES_WATCHDOG_H
#define TABLES_WATCHDOG_H

#include <stdint.h>

#define WATCHDOG_SAVED 4

enum watchdog_kind {
	WATCHDOG_TCO2,    /* ICH6 and later: TCO registers at the ACPI base + 0x60, NO_REBOOT in the root complex's GCS */
	WATCHDOG_I6300ESB /* 6300ESB: two timers in memory */
};

struct watchdog_chip {
	uint16_t vendor, first, last; /* PCI ids, a range of devices */
	uint8_t kind;
	const char *name, *source;
};

extern const struct watchdog_chip watchdog_chips[];
extern const uint16_t watchdog_chip_count;

#endif
