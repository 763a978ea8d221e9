/* tables/watchdog.h: watchdog timers of chipsets, from tables/watchdogs.csv. */
#ifndef TABLES_WATCHDOG_H
#define TABLES_WATCHDOG_H

#include <stdint.h>

#define WATCHDOG_SAVED 6

enum watchdog_kind {
	WATCHDOG_TCO1,     /* ICH to ICH5: TCO registers at the ACPI base + 0x60, NO_REBOOT in the bridge's configuration */
	WATCHDOG_TCO2,     /* ICH6 and later: the same place, NO_REBOOT in the root complex's GCS */
	WATCHDOG_TCO3,     /* Bay Trail, Avoton, Braswell: the same place, NO_REBOOT in power management's configuration */
	WATCHDOG_TCO4,     /* 100 series: TCO base in the SMBus function, NO_REBOOT behind the P2SB bridge */
	WATCHDOG_TCO4_DNV, /* the same in Denverton, at another offset */
	WATCHDOG_TCO5,     /* Apollo and Gemini Lake: likewise, both bases in a function of their own */
	WATCHDOG_TCO6,     /* 300 series and later: TCO base in the SMBus function, NO_REBOOT in TCO1_CNT */
	WATCHDOG_FCH,      /* AMD's SB700 to FCH: a control and a count register in memory; where, by the revision */
	WATCHDOG_I6300ESB  /* 6300ESB: two timers in memory */
};

struct watchdog_chip {
	uint16_t vendor, first, last; /* PCI ids, a range of devices */
	uint8_t kind;
	const char *name, *source;
};

extern const struct watchdog_chip watchdog_chips[];
extern const uint16_t watchdog_chip_count;

#endif
