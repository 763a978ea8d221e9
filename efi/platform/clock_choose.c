/* efi/platform/clock_choose.c: chooses among three frequencies of the TSC. Needs no firmware, so that tests run it anywhere. */
#include "efi/platform/clock.h"

#define TOLERANCE_PPM       10000u /* CPUID 0x16 rounds to MHz, and crystals differ by less than 100 ppm */
#define STALL_TOLERANCE_PPM 30000u /* a Stall lasts somewhat longer */

static bool agree(uint64_t a, uint64_t b, uint64_t ppm)
{
	uint64_t apart = a > b ? a - b : b - a;
	return a != 0 && b != 0 && apart / 100 <= (a > b ? a : b) / 100 * ppm / 1000000;
}

void clock_choose(struct clock *c)
{
	bool timer_cpuid = agree(c->timer_hz, c->cpuid_hz, TOLERANCE_PPM), timer_stall = agree(c->timer_hz, c->stall_hz, STALL_TOLERANCE_PPM);
	c->alone = !timer_cpuid && !timer_stall;
	if (c->timer_hz != 0 && (!c->alone || c->cpuid_hz == 0)) {
		c->tsc_hz = c->timer_hz;
		c->method = "acpi-pm-timer";
	} else if (c->cpuid_hz != 0) {
		c->tsc_hz = c->cpuid_hz;
		c->method = "cpuid-15h";
	} else {
		c->tsc_hz = c->stall_hz;
		c->method = "firmware-stall";
	}
	if (c->tsc_hz == 0)
		c->tsc_hz = 1;
}
