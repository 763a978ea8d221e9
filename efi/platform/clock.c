/* efi/platform/clock.c: TSC calibration; clock_choose.c chooses among its results. The ACPI timer counts at 3.579545 MHz (ACPI 6.4, 4.8.2.1). */
#include "efi/platform/clock.h"
#include "efi/firmware/console.h"
#include "efi/firmware/uefi.h"

#define PM_HZ     3579545ull
#define ROUNDS    3u
#define ROUND_TICKS (PM_HZ / 50) /* 20 ms */
/* A port read takes at least 0.1 us, so a round that exhausts this number means that the timer has stopped, or nearly so. */
#define READS_MAX 2000000u
#define STALL_US  50000u /* of a Stall that is the only source of the frequency */
#define BESIDE_US 10000u /* of a Stall that is compared with another source, to 3 % */

/* TSC ticks of one round, 0 if the timer does not move, or takes ten times too long. */
static uint64_t pm_round(const struct acpi *a)
{
	uint32_t mask = a->pm_timer_bits == 32 ? 0xFFFFFFFFu : 0xFFFFFFu;
	uint32_t first = in32(a->pm_timer_port) & mask, now = first;
	uint64_t from, to;
	/* Start on an edge. */
	unsigned reads = 0;
	for (; now == first; now = in32(a->pm_timer_port) & mask)
		if (++reads == READS_MAX)
			return 0;
	from = read_tsc();
	first = now;
	do {
		now = in32(a->pm_timer_port) & mask;
		to = read_tsc();
		if (++reads >= READS_MAX)
			return 0;
	} while (((now - first) & mask) < ROUND_TICKS);
	return (to - from) * PM_HZ / ((now - first) & mask);
}

static void sort3(uint64_t v[3])
{
	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < 2 - i; k++)
			if (v[k] > v[k + 1]) {
				uint64_t t = v[k];
				v[k] = v[k + 1];
				v[k + 1] = t;
			}
}

/* The median of three rounds, 0 if the timer is unusable. */
static uint64_t by_pm_timer(struct clock *c, const struct acpi *a)
{
	uint64_t hz[ROUNDS];
	if (a->pm_timer_port == 0)
		return 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t flags;
		__asm__ volatile("pushfq; popq %0; cli" : "=r"(flags) : : "memory");
		hz[i] = pm_round(a);
		if ((flags & 0x200) != 0)
			__asm__ volatile("sti");
		if (hz[i] == 0)
			return 0;
	}
	sort3(hz);
	uint64_t far = hz[2] - hz[1] > hz[1] - hz[0] ? hz[2] - hz[1] : hz[1] - hz[0];
	c->spread_ppm = (uint32_t)(far * 1000000 / hz[1]);
	return hz[1];
}

/* SDM vol. 3, 19.7.3: TSC = crystal * EBX / EAX. If the crystal's frequency is not enumerated, CPUID 0x16's
 * base frequency is the TSC's to the nearest MHz. */
static uint64_t cpuid_hz(void)
{
	uint32_t top[4], r[4], f[4];
	cpuid_raw(0, 0, top);
	if (top[0] < 0x15)
		return 0;
	cpuid_raw(0x15, 0, r);
	if (r[0] == 0 || r[1] == 0)
		return 0;
	if (r[2] != 0)
		return (uint64_t)r[2] * r[1] / r[0];
	if (top[0] < 0x16)
		return 0;
	cpuid_raw(0x16, 0, f);
	return (uint64_t)(f[0] & 0xFFFF) * 1000000;
}

/* The least of three: a Stall may last longer than requested, never shorter. */
static uint64_t stall_hz(unsigned us)
{
	uint64_t least = UINT64_MAX;
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t from = read_tsc();
		uefi.boot->Stall(us);
		uint64_t hz = (read_tsc() - from) * (1000000 / us);
		least = hz < least ? hz : least;
	}
	return least;
}

void clock_open(struct clock *c, const struct acpi *acpi)
{
	uint32_t r[4];
	memset(c, 0, sizeof(*c));
	cpuid_raw(0x80000000, 0, r);
	if (r[0] >= 0x80000007) {
		cpuid_raw(0x80000007, 0, r);
		c->invariant = (r[3] >> 8 & 1) != 0;
	}
	c->cpuid_hz = cpuid_hz();
	c->timer_hz = by_pm_timer(c, acpi);
	c->stall_hz = stall_hz(c->timer_hz || c->cpuid_hz ? BESIDE_US : STALL_US);
	if (c->timer_hz == 0)
		print("clock: no ACPI timer that moves at its rate\n");
	clock_choose(c);
	if (c->timer_hz == 0)
		print("clock: the TSC's frequency comes from %s\n", c->method);
	else if (c->alone)
		print("clock: ACPI timer, CPUID and firmware say %lu, %lu and %lu Hz of the TSC; taken from %s\n", (unsigned long)c->timer_hz,
		      (unsigned long)c->cpuid_hz, (unsigned long)c->stall_hz, c->method);
}

uint64_t clock_ticks(const struct clock *c, uint64_t ms)
{
	return c->tsc_hz / 1000 * ms;
}

uint64_t clock_ms(const struct clock *c, uint64_t ticks)
{
	uint64_t per_ms = c->tsc_hz / 1000;
	return per_ms == 0 ? 0 : ticks / per_ms;
}
