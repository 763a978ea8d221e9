/* efi/platform/clock.h: the frequency of the time-stamp counter. */
#ifndef EFI_CLOCK_H
#define EFI_CLOCK_H

#include "efi/platform/acpi.h"

struct clock {
	uint64_t tsc_hz;      /* never 0 after clock_open */
	uint64_t timer_hz;    /* by the ACPI timer, 0 if there is none, or it does not move */
	uint64_t cpuid_hz;    /* from CPUID 0x15, 0 if absent */
	uint64_t stall_hz;    /* by the firmware's Stall */
	bool alone;           /* the ACPI timer agrees with neither of the others */
	const char *method;   /* "acpi-pm-timer", "cpuid-15h", "firmware-stall" */
	bool invariant;       /* CPUID 0x80000007 EDX[8] */
	uint32_t spread_ppm;  /* largest distance of a calibration from the median */
};

/* Calibrates against the ACPI power-management timer (three times 20 ms, interrupts off) and the firmware's Stall (three times
 * 10 ms, or 50 ms if it is the only source), and chooses. */
void clock_open(struct clock *c, const struct acpi *acpi);
/* Sets tsc_hz, method and alone from timer_hz, cpuid_hz and stall_hz. The ACPI timer is chosen if one of the others agrees with it, or if there is
 * no other; else CPUID's value; else the Stall. */
void clock_choose(struct clock *c);
/* Milliseconds as TSC ticks and back. */
uint64_t clock_ticks(const struct clock *c, uint64_t ms);
uint64_t clock_ms(const struct clock *c, uint64_t ticks);

#endif
