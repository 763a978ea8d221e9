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
	const char *why;                  /* why not */
	unsigned seconds;                 /* the wait: as requested, or its longest */
	uint32_t function;                /* of bus 0, as in IN_CONFIG */
	uint64_t base;                    /* of its registers */
	uint32_t saved[WATCHDOG_SAVED];   /* former values of the changed registers, in the order of its kind */
	uint64_t addresses[2];               /* where, if that is not at `base` */
	uint8_t layout;                   /* of an FCH */
};

/* Arms the first chip of bus 0 that is listed and free. What is not used is left as found. */
void watchdog_chip_arm(struct watchdog_chip_state *c, const struct watchdog_io *io, unsigned seconds);
void watchdog_chip_feed(const struct watchdog_chip_state *c, const struct watchdog_io *io);
/* Stops it and puts its registers back. */
void watchdog_chip_disarm(const struct watchdog_chip_state *c, const struct watchdog_io *io);

/* --- a management controller's, IPMI 2.0 chapter 27, by its KCS interface, chapter 9 ------------------- */
#define BMC_BYTES 16

struct watchdog_bmc {
	enum watchdog_space space;
	uint64_t at;      /* of the data register; 0: there is none */
	unsigned spacing; /* from there to the command register */
	bool armed;
	bool ran;         /* it had been running, for the firmware, when it was armed */
	uint8_t settings[6]; /* from before, as Set Watchdog Timer takes them */
};

/* False: it does not answer, or refuses. Each wait has an end: 4 s at the most for a command. */
MUST_CHECK bool watchdog_bmc_arm(struct watchdog_bmc *b, const struct watchdog_io *io, unsigned seconds);
MUST_CHECK bool watchdog_bmc_feed(const struct watchdog_bmc *b, const struct watchdog_io *io);
/* Restores the settings; a timer that had been running runs again, from its start. */
MUST_CHECK bool watchdog_bmc_disarm(struct watchdog_bmc *b, const struct watchdog_io *io);

#endif
