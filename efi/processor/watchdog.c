/* efi/processor/watchdog.c: arms, feeds and disarms the watchdogs of the firmware, the chipset and a management controller, and reports them in
 * one line. */
#include "efi/processor/watchdog.h"
#include "efi/firmware/console.h"
#include "efi/firmware/fwcfg.h"
#include "efi/processor/pci.h"
#include "pmu/text.h"

/* Our code for the firmware's log; codes below 0x10000 belong to the firmware. */
#define FIRMWARE_CODE 0x57A11ull

/* --- registers of this machine ------------------------------------------------------------------------ */
static uint32_t read_config(unsigned device, unsigned function, unsigned reg, unsigned bytes)
{
	return bytes == 1 ? pci_port_read8(0, device, function, reg) : bytes == 2 ? pci_port_read16(0, device, function, reg) : pci_port_read32(0, device, function, reg);
}

static uint32_t io_read(const struct watchdog_io *io, enum watchdog_space space, uint64_t at, unsigned bytes)
{
	(void)io;
	if (space == IN_CONFIG)
		return read_config((unsigned)(at >> 16), (unsigned)(at >> 8 & 7), (unsigned)(at & 0xFF), bytes);
	if (space == IN_PORTS)
		return bytes == 1 ? in8((uint16_t)at) : bytes == 2 ? in16((uint16_t)at) : in32((uint16_t)at);
	return bytes == 1 ? *(volatile uint8_t *)(uintptr_t)at : bytes == 2 ? *(volatile uint16_t *)(uintptr_t)at : *(volatile uint32_t *)(uintptr_t)at;
}

static void io_write(const struct watchdog_io *io, enum watchdog_space space, uint64_t at, unsigned bytes, uint32_t value)
{
	const unsigned device = (unsigned)(at >> 16), function = (unsigned)(at >> 8 & 7), reg = (unsigned)(at & 0xFF);
	(void)io;
	if (space == IN_CONFIG && bytes == 1)
		pci_port_write8(0, device, function, reg, (uint8_t)value);
	else if (space == IN_CONFIG && bytes == 2)
		pci_port_write16(0, device, function, reg, (uint16_t)value);
	else if (space == IN_CONFIG)
		pci_port_write32(0, device, function, reg, value);
	else if (space == IN_PORTS && bytes == 1)
		out8((uint16_t)at, (uint8_t)value);
	else if (space == IN_PORTS && bytes == 2)
		out16((uint16_t)at, (uint16_t)value);
	else if (space == IN_PORTS)
		out32((uint16_t)at, value);
	else if (bytes == 1)
		*(volatile uint8_t *)(uintptr_t)at = (uint8_t)value;
	else if (bytes == 2)
		*(volatile uint16_t *)(uintptr_t)at = (uint16_t)value;
	else
		*(volatile uint32_t *)(uintptr_t)at = value;
}

static const struct watchdog_io here = { io_read, io_write };

/* The firmware's timer callbacks use some of these registers too. */
static uint64_t quiet(void)
{
	uint64_t flags;
	__asm__ volatile("pushfq; popq %0; cli" : "=r"(flags) : : "memory");
	return flags;
}

static void loud(uint64_t flags)
{
	if ((flags & 0x200) != 0)
		__asm__ volatile("sti" : : : "memory");
}

/* --- all three ------------------------------------------------------------------------------------------- */
static bool firmware_set(unsigned seconds)
{
	return uefi.boot->SetWatchdogTimer(seconds, FIRMWARE_CODE, 0, NULL) == EFI_SUCCESS;
}

/* The ISA bridge, whose id identifies an unlisted chipset. 0: none. */
static uint32_t bridge(void)
{
	for (unsigned device = 0; device < 32; device++)
		for (unsigned function = 0; function < 8; function++)
			if (read_config(device, function, 0, 2) != 0xFFFF && read_config(device, function, 0x0A, 2) == 0x0601)
				return read_config(device, function, 0, 4);
	return 0;
}

static void arm_what_there_is(struct watchdog *w, const struct smbios *smbios, unsigned seconds)
{
	char without[32];
	w->bmc = (struct watchdog_bmc){ .at = smbios->kcs, .spacing = smbios->kcs_spacing, .space = smbios->kcs_memory ? IN_MEMORY : IN_PORTS };
	if (fwcfg_read(FWCFG_WITHOUT, without, sizeof(without)) == ST_OK && str_equal(without, "watchdog")) {
		w->bmc.at = 0;
		return;
	}
	const uint64_t flags = quiet();
	watchdog_chip_arm(&w->chip, &here, seconds);
	const bool bmc = watchdog_bmc_arm(&w->bmc, &here, seconds);
	loud(flags);
	w->seconds = w->chip.chip != NULL && w->chip.seconds < seconds ? w->chip.seconds : seconds;
	if (!bmc && w->bmc.at != 0)
		print("watchdog: the management controller that SMBIOS names does not answer, or has none\n");
}

void watchdog_arm(struct watchdog *w, const struct smbios *smbios, unsigned seconds)
{
	struct text t;
	memset(w, 0, sizeof(*w));
	if (seconds == 0)
		return;
	w->seconds = seconds;
	const bool firmware = firmware_set(seconds);
	arm_what_there_is(w, smbios, seconds);
	const char *const chip = w->chip.chip != NULL ? w->chip.chip->name : "", *const bmc = w->bmc.armed ? "the management controller's" : "";
	text_init(&t, w->found, sizeof(w->found));
	if (w->chip.unusable != NULL && w->chip.chip == NULL)
		print("watchdog: %s: %s\n", w->chip.unusable->name, w->chip.why);
	else if (w->chip.chip == NULL && bridge() != 0)
		print("watchdog: unknown chipset with the bridge %04x:%04x\n", bridge() & 0xFFFF, bridge() >> 16);
	if (w->chip.chip != NULL || w->bmc.armed)
		text_fmt(&t, "%s%s%s%s, %u s", chip, chip[0] != 0 && bmc[0] != 0 ? " and " : "", bmc, firmware ? " and the firmware's" : "", w->seconds);
	else if (firmware)
		text_fmt(&t, "the firmware's alone, %u s; it cannot act while interrupts are off", w->seconds);
	else
		text_fmt(&t, "none works here; a hung machine stays hung");
	print("watchdog: %s\n", w->found);
	if (!firmware && w->chip.chip == NULL && !w->bmc.armed)
		w->seconds = 0;
}

void watchdog_feed(const struct watchdog *w)
{
	if (w->seconds == 0)
		return;
	(void)firmware_set(w->seconds);
	const uint64_t flags = quiet();
	watchdog_chip_feed(&w->chip, &here);
	const bool fed = !w->bmc.armed || watchdog_bmc_feed(&w->bmc, &here);
	loud(flags);
	if (!fed)
		print("watchdog: the management controller did not answer\n");
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
	const uint64_t flags = quiet();
	watchdog_chip_disarm(&w->chip, &here);
	const bool done = watchdog_bmc_disarm(&w->bmc, &here);
	loud(flags);
	if (!done)
		print("watchdog: the management controller's could not be restored: it may reset the machine\n");
	w->seconds = 0;
}
