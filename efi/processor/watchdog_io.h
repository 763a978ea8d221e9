/* efi/processor/watchdog_io.h: how watchdog_chips.c and watchdog_bmc.c reach registers: the machine's own, or a test's
 * (tests/firmware/watchdog.c). */
#ifndef EFI_WATCHDOG_IO_H
#define EFI_WATCHDOG_IO_H

#include "pmu/base.h"
#include "tables/watchdog.h"

enum watchdog_space {
	IN_CONFIG, /* of bus 0: device << 16 | function << 8 | register */
	IN_PORTS,
	IN_MEMORY
};

struct watchdog_io {
	/* 1, 2 or 4 bytes, aligned. */
	uint32_t (*read)(const struct watchdog_io *io, enum watchdog_space space, uint64_t at, unsigned bytes);
	void (*write)(const struct watchdog_io *io, enum watchdog_space space, uint64_t at, unsigned bytes, uint32_t value);
};

/* --- a chipset's timer ---------------------------------------------------------------------------- */
struct watchdog_chip_state {
	const struct watchdog_chip *chip; /* NULL: none is armed */
	const struct watchdog_chip *unusable; /* a timer that exists but cannot be used */
	const char *why;                  /* reason */
	unsigned seconds;                 /* time-out: as requested, or the timer's longest */
	uint32_t function;                /* of bus 0, as in IN_CONFIG */
	uint64_t base;                    /* of its registers */
	uint32_t saved[WATCHDOG_SAVED];   /* former values of the changed registers, in an order that depends on its kind */
	uint64_t addresses[2];               /* of registers that are not at `base` */
	uint8_t layout;                   /* of an FCH: enum fch_layout */
};

/* Arms the first usable timer of a listed chipset on bus 0. Timers that are not used are left as found. */
void watchdog_chip_arm(struct watchdog_chip_state *c, const struct watchdog_io *io, unsigned seconds);
void watchdog_chip_feed(const struct watchdog_chip_state *c, const struct watchdog_io *io);
/* Stops it and restores its registers. */
void watchdog_chip_disarm(const struct watchdog_chip_state *c, const struct watchdog_io *io);

/* --- a management controller's, IPMI 2.0 chapter 27, through its KCS interface, chapter 9 -------------- */
#define BMC_BYTES 16

struct watchdog_bmc {
	enum watchdog_space space;
	uint64_t at;      /* of the data register; 0: there is none */
	unsigned spacing; /* bytes from there to the command register */
	bool armed;
	bool ran;         /* the firmware had it running when it was armed */
	uint8_t settings[6]; /* previous ones, in the format of Set Watchdog Timer */
};

/* False: it does not answer, or refuses. Waits are bounded: a command takes 4 s at most. */
MUST_CHECK bool watchdog_bmc_arm(struct watchdog_bmc *b, const struct watchdog_io *io, unsigned seconds);
MUST_CHECK bool watchdog_bmc_feed(const struct watchdog_bmc *b, const struct watchdog_io *io);
/* Restores the settings; a timer that had been running is restarted. */
MUST_CHECK bool watchdog_bmc_disarm(struct watchdog_bmc *b, const struct watchdog_io *io);

#endif
