/* tests/firmware/clock.c: which frequency of the TSC is taken. */
#include <string.h>

#include "efi/platform/clock.h"
#include "tests/firmware/parts.h"

static bool chooses(uint64_t timer, uint64_t cpuid, uint64_t stall, uint64_t hz, const char *method, bool alone)
{
	struct clock c = { .timer_hz = timer, .cpuid_hz = cpuid, .stall_hz = stall };
	clock_choose(&c);
	return c.tsc_hz == hz && strcmp(c.method, method) == 0 && c.alone == alone;
}

void clock_parts(void)
{
	const uint64_t right = 2400012345, named = 2400000000, stalled = 2410000000, wrong = 4800024690;
	claim(chooses(right, named, stalled, right, "acpi-pm-timer", false), "clock_timer_that_all_agree_with_is_taken");
	claim(chooses(right, 0, stalled, right, "acpi-pm-timer", false), "clock_timer_that_the_firmware_agrees_with_is_taken");
	claim(chooses(wrong, named, stalled, named, "cpuid-15h", true), "clock_timer_at_twice_its_rate_is_not_taken");
	claim(chooses(wrong, named, wrong, wrong, "acpi-pm-timer", false), "clock_timer_that_the_firmware_agrees_with_outweighs_cpuid");
	claim(chooses(right, named, 3 * right, right, "acpi-pm-timer", false), "clock_stall_that_lasts_long_does_no_harm");
	claim(chooses(wrong, 0, stalled, wrong, "acpi-pm-timer", true), "clock_two_that_disagree_are_told");
	claim(chooses(0, named, stalled, named, "cpuid-15h", true), "clock_without_a_timer_cpuid_is_taken");
	claim(chooses(0, 0, stalled, stalled, "firmware-stall", true), "clock_without_both_the_stall_is_taken");
	claim(chooses(0, 0, 0, 1, "firmware-stall", true), "clock_is_never_zero");
}
