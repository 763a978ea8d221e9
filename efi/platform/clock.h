/* efi/platform/clock.h: the frequency of the time-stamp counter. */
#ifndef EFI_CLOCK_H
#define EFI_CLOCK_H

#include "efi/platform/acpi.h"

struct clock {
	uint64_t tsc_hz;      /* never 0 after clock_open */
	uint64_t cpuid_hz;    /* from CPUID 0x15, 0 if absent */
	const char *method;   /* "acpi-pm-timer", "cpuid-15h", "firmware-stall" */
	bool invariant;       /* CPUID 0x80000007 EDX[8] */
	uint32_t spread_ppm;  /* largest distance of a calibration from the median */
};

/* Calibrates against the ACPI power-management timer (three times 20 ms, interrupts off), else uses CPUID's value, else the
 * firmware's Stall. */
void clock_open(struct clock *c, const struct acpi *acpi);
/* Milliseconds as TSC ticks and back. */
uint64_t clock_ticks(const struct clock *c, uint64_t ms);
uint64_t clock_ms(const struct clock *c, uint64_t ticks);

#endif
