/* efi/processor/watchdog.c: the firmware's watchdog, and those of chipsets listed in tables/watchdogs.csv. A timer that is
 * locked, already runs for someone else or does not keep what is written is not used, and stays as found. */
#include "efi/processor/watchdog.h"
#include "efi/firmware/console.h"
#include "efi/firmware/fwcfg.h"
#include "efi/processor/pci.h"
#include "pmu/text.h"

/* Our code for the firmware's log; below 0x10000 belongs to the firmware. */
#define FIRMWARE_CODE 0x57A11ull

/* TCO, Intel 316972 13.9: offsets from the TCO base; a tick is 0.6 s, and the second time-out in a row resets. */
#define TCO_RLD      0x00
#define TCO1_STS     0x04
#define TCO2_STS     0x06
#define TCO1_CNT     0x08
#define TCO_TMR      0x12
#define TCO_HALT     0x0800u
#define TCO_LOCK     0x1000u
#define TCO_TIMER    0x03FFu
#define TCO_LEAST    4u
#define GCS_OFFSET   0x3410u
#define NO_REBOOT    0x20u

/* 6300ESB, Intel 300641 16: PCI offsets 0x60 and 0x68, timers in memory; a tick is 2^15 cycles of 33 MHz. */
#define ESB_CONFIG   0x60
#define ESB_LOCK     0x68
#define ESB_ENABLE   0x02u
#define ESB_LOCKED   0x01u
#define ESB_TIMER1   0x00
#define ESB_TIMER2   0x04
#define ESB_RELOAD   0x0C
#define ESB_TICKS_SHIFT 9 /* half of a second's 2^10: two timers run in sequence */

static inline uint16_t in16(uint16_t port)
{
	uint16_t v;
	__asm__ volatile("inw %1, %0" : "=a"(v) : "Nd"(port));
	return v;
}

static volatile uint32_t *memory32(uint64_t at)
{
	return (volatile uint32_t *)(uintptr_t)at;
}

/* --- TCO ----------------------------------------------------------------------------------------- */

static bool tco_arm(struct watchdog *w, unsigned device, unsigned function)
{
	uint32_t acpi = pci_port_read32(0, device, function, 0x40), control = pci_port_read32(0, device, function, 0x44);
	uint32_t root = pci_port_read32(0, device, function, 0xF0);
	uint16_t base = (uint16_t)((acpi & 0xFF80) + 0x60);
	unsigned ticks = w->seconds * 10 / 6 / 2;
	if ((control & 0x80) == 0 || (acpi & 0xFF80) == 0 || (root & 1) == 0)
		return false;
	uint16_t count = in16((uint16_t)(base + TCO1_CNT)), timer = in16((uint16_t)(base + TCO_TMR));
	volatile uint32_t *gcs = memory32((root & 0xFFFFC000u) + GCS_OFFSET);
	w->base = base;
	w->saved[0] = count;
	w->saved[1] = timer;
	w->saved[2] = *gcs;
	w->saved[3] = (uint64_t)(uintptr_t)gcs;
	if ((count & TCO_LOCK) != 0)
		return false;
	*gcs = *gcs & ~NO_REBOOT;
	if ((*gcs & NO_REBOOT) != 0)
		return false; /* a strap of the board */
	ticks = ticks < TCO_LEAST ? TCO_LEAST : ticks > TCO_TIMER ? TCO_TIMER : ticks;
	out16((uint16_t)(base + TCO1_CNT), count | TCO_HALT);
	out16((uint16_t)(base + TCO1_STS), 0x0008); /* write one to clear: TIMEOUT, then SECOND_TO_STS */
	out16((uint16_t)(base + TCO2_STS), 0x0002);
	out16((uint16_t)(base + TCO_TMR), (uint16_t)((timer & ~TCO_TIMER) | ticks));
	out16((uint16_t)(base + TCO_RLD), 1);
	out16((uint16_t)(base + TCO1_CNT), count & (uint16_t)~TCO_HALT);
	if ((in16((uint16_t)(base + TCO_TMR)) & TCO_TIMER) == ticks && (in16((uint16_t)(base + TCO1_CNT)) & TCO_HALT) == 0)
		return true;
	out16((uint16_t)(base + TCO1_CNT), count | TCO_HALT);
	*gcs = (uint32_t)w->saved[2];
	return false;
}

static void tco_disarm(const struct watchdog *w)
{
	out16((uint16_t)(w->base + TCO1_CNT), (uint16_t)w->saved[0] | TCO_HALT);
	out16((uint16_t)(w->base + TCO_TMR), (uint16_t)w->saved[1]);
	out16((uint16_t)(w->base + TCO_RLD), 1);
	*memory32(w->saved[3]) = (uint32_t)w->saved[2];
	out16((uint16_t)(w->base + TCO1_CNT), (uint16_t)w->saved[0]);
}

/* --- 6300ESB --------------------------------------------------------------------------------------- */

static void esb_unlock(uint64_t base)
{
	*(volatile uint16_t *)(uintptr_t)(base + ESB_RELOAD) = 0x80;
	*(volatile uint16_t *)(uintptr_t)(base + ESB_RELOAD) = 0x86;
}

static void esb_feed(uint64_t base)
{
	esb_unlock(base);
	*(volatile uint16_t *)(uintptr_t)(base + ESB_RELOAD) = 0x0100;
}

static bool esb_arm(struct watchdog *w, unsigned bus, unsigned device, unsigned function)
{
	uint32_t command = pci_port_read32(bus, device, function, 4), bar = pci_port_read32(bus, device, function, 0x10);
	uint8_t lock = pci_port_read8(bus, device, function, ESB_LOCK);
	uint32_t config = pci_port_read32(bus, device, function, ESB_CONFIG);
	if ((bar & ~0xFu) == 0 || (bar & 1) != 0 || (lock & (ESB_LOCKED | ESB_ENABLE)) != 0)
		return false;
	w->base = bar & ~0xFu;
	w->saved[0] = (uint64_t)bus << 16 | device << 8 | function;
	w->saved[1] = config;
	w->saved[2] = command & 0xFFFF;
	w->saved[3] = lock;
	pci_port_write16(bus, device, function, 4, (uint16_t)(command | 2)); /* its memory answers */
	/* no interrupt at the first time-out, a reset at the second */
	pci_port_write16(bus, device, function, ESB_CONFIG, 0x0003);
	for (unsigned i = 0; i < 2; i++) {
		esb_unlock(w->base);
		*memory32(w->base + (i == 0 ? ESB_TIMER1 : ESB_TIMER2)) = w->seconds << ESB_TICKS_SHIFT;
	}
	esb_feed(w->base);
	pci_port_write8(bus, device, function, ESB_LOCK, lock | ESB_ENABLE);
	return (pci_port_read8(bus, device, function, ESB_LOCK) & ESB_ENABLE) != 0;
}

static void esb_disarm(const struct watchdog *w)
{
	unsigned bus = (unsigned)(w->saved[0] >> 16), device = (unsigned)(w->saved[0] >> 8 & 0xFF), function = (unsigned)(w->saved[0] & 0xFF);
	pci_port_write8(bus, device, function, ESB_LOCK, (uint8_t)w->saved[3]);
	pci_port_write16(bus, device, function, ESB_CONFIG, (uint16_t)w->saved[1]);
	pci_port_write16(bus, device, function, 4, (uint16_t)w->saved[2]);
}

/* --- both -------------------------------------------------------------------------------------------- */

static const struct watchdog_chip *listed(uint32_t id)
{
	for (unsigned i = 0; i < watchdog_chip_count; i++) {
		const struct watchdog_chip *c = &watchdog_chips[i];
		if ((id & 0xFFFF) == c->vendor && id >> 16 >= c->first && id >> 16 <= c->last)
			return c;
	}
	return NULL;
}

/* Bus 0 has the south bridge; a 6300ESB's timer, also as an add-in, is there too. */
static void chip_arm(struct watchdog *w)
{
	char without[32];
	if (fwcfg_read(FWCFG_WITHOUT, without, sizeof(without)) == ST_OK && str_equal(without, "watchdog"))
		return;
	for (unsigned device = 0; device < 32; device++)
		for (unsigned function = 0; function < 8; function++) {
			const struct watchdog_chip *c = listed(pci_port_read32(0, device, function, 0));
			if (c == NULL)
				continue;
			if (c->kind == WATCHDOG_TCO2 ? tco_arm(w, device, function) : esb_arm(w, 0, device, function)) {
				w->chip = c;
				return;
			}
		}
}

static bool firmware_set(unsigned seconds)
{
	return uefi.boot->SetWatchdogTimer(seconds, FIRMWARE_CODE, 0, NULL) == EFI_SUCCESS;
}

void watchdog_arm(struct watchdog *w, unsigned seconds)
{
	memset(w, 0, sizeof(*w));
	if (seconds == 0)
		return;
	w->seconds = seconds;
	bool firmware = firmware_set(seconds);
	chip_arm(w);
	if (w->chip != NULL)
		print("watchdog: %s%s, %u s\n", w->chip->name, firmware ? " and the firmware's" : "", seconds);
	else if (firmware)
		print("watchdog: the firmware's alone, %u s; it cannot act while interrupts are off\n", seconds);
	else
		print("watchdog: none works here; a machine that hangs stays so\n");
	if (!firmware && w->chip == NULL)
		w->seconds = 0;
}

void watchdog_feed(const struct watchdog *w)
{
	if (w->seconds == 0)
		return;
	(void)firmware_set(w->seconds);
	if (w->chip == NULL)
		return;
	if (w->chip->kind == WATCHDOG_TCO2)
		out16((uint16_t)(w->base + TCO_RLD), 1);
	else
		esb_feed(w->base);
}

void watchdog_feed_seldom(struct watchdog *w, uint64_t now, uint64_t hz)
{
	if (w->seconds == 0 || now - w->fed_at < hz / 4 * w->seconds)
		return;
	w->fed_at = now;
	watchdog_feed(w);
}

void watchdog_disarm(struct watchdog *w)
{
	if (w->seconds == 0)
		return;
	(void)firmware_set(0);
	if (w->chip != NULL) {
		if (w->chip->kind == WATCHDOG_TCO2)
			tco_disarm(w);
		else
			esb_disarm(w);
	}
	memset(w, 0, sizeof(*w));
}
