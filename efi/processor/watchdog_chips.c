/* efi/processor/watchdog_chips.c: the watchdog timers of the chipsets in tables/watchdogs.csv. A timer that is locked, already
 * in use or does not keep written values is not used, and is left as found. */
#include "efi/processor/watchdog_io.h"
#include "pmu/text.h"

/* TCO, Intel 316972 13.9: offsets from the TCO base; a tick is 0.6 s (Bay Trail and Braswell: 1 s), and the second time-out in a row resets. */
#define TCO_RLD      0x00
#define TCO_TMR1     0x01 /* of ICH to ICH5: 6 bits of a byte */
#define TCO1_STS     0x04
#define TCO2_STS     0x06
#define TCO1_CNT     0x08
#define TCO_TMR      0x12
#define TCO_HALT     0x0800u
#define TCO_LOCK     0x1000u
#define TCO_NO_REBOOT 0x0001u /* in TCO1_CNT, from the 300 series on */
#define TCO_TIMER    0x03FFu
#define TCO_TIMER1   0x3Fu
#define TCO_LEAST    4u
#define ACPI_BASE    0x40u    /* in the bridge's configuration space; + 4: its control register */
#define NO_REBOOT_D4 0x02u    /* ICH to ICH5: bit 1 of the bridge's register D4 */
#define GCS_OFFSET   0x3410u
#define NO_REBOOT_GCS 0x20u
#define TCO_BASE     0x50u    /* in the SMBus function's configuration space, 100 series and later; + 4: its control register, bit 8 on */
#define P2SB         0x1F0100u /* device 31, function 1: a base address in 10 and 14; bit 0 of E1 hides it */
#define SMBUS_CONTROL     0xC6000Cu /* offset from there: general control of the SMBus's private registers */
#define SMBUS_CONTROL_DNV 0xCF000Cu
#define NO_REBOOT_P2SB 0x02u
#define BAY_DECODED  0x02u     /* Bay Trail: of the bridge's registers 40 (ACPI base) and 44 (power management's base) */
#define BAY_PMC_MASK 0xFFFFFE00u
#define BAY_PMC_CFG  0x08u
#define APOLLO_PMC   0x0D0100u /* Apollo Lake: device 13, function 1 has power management's base in 10, and the ACPI base in 20 */
#define APOLLO_PMC_CFG 0x1008u
#define APOLLO_ACPI  0x400u    /* used if the ACPI base reads 0: it is no regular base address register (coreboot, soc/intel/apollolake/pmc.c) */
#define NO_REBOOT_PMC 0x10u

/* 6300ESB, Intel 300641 16: PCI offsets 0x60 and 0x68, timers in memory; a tick is 2^15 cycles of 33 MHz. */
#define ESB_CONFIG   0x60
#define ESB_LOCK     0x68
#define ESB_ENABLE   0x02u
#define ESB_LOCKED   0x01u
#define ESB_TIMER1   0x00
#define ESB_TIMER2   0x04
#define ESB_RELOAD   0x0C
#define ESB_TICKS_SHIFT 9 /* half of the 2^10 ticks of a second: two timers run in sequence */

/* AMD: 44413 (SB700), 45482 (SB800), 52740 (FCH): the timer's two registers are in memory; power management registers, which are reached
 * by ports or, on chipsets without these, in memory, enable it. */
#define PM_INDEX     0xCD6u
#define PM_DATA      0xCD7u
#define PM_MEMORY    0xFED80300u
#define FCH_CONTROL  0x00
#define FCH_COUNT    0x04
#define FCH_RUNS     0x01u
#define FCH_FIRED    0x02u
#define FCH_NO_RESET 0x04u
#define FCH_DISABLED 0x08u
#define FCH_TRIGGER  0x80u
#define FCH_WINDOW   0xFEB00000u
#define FCH_ACPI     0xFED80B00u
enum fch_layout { FCH_SB700, FCH_SB800, FCH_PORTS, FCH_MEMORY };

static const char strap[] = "a strap of the board or the firmware keeps it from resetting";
static const char taken[] = "it is locked or already in use";
static const char off[] = "the firmware has disabled it";
static const char dead[] = "it does not keep written values";

static uint32_t config(const struct watchdog_chip_state *c, const struct watchdog_io *io, unsigned reg, unsigned bytes)
{
	return io->read(io, IN_CONFIG, c->function | reg, bytes);
}

static void set_config(const struct watchdog_chip_state *c, const struct watchdog_io *io, unsigned reg, unsigned bytes, uint32_t value)
{
	io->write(io, IN_CONFIG, c->function | reg, bytes, value);
}

/* --- TCO ----------------------------------------------------------------------------------------- */
static uint32_t port16(const struct watchdog_chip_state *c, const struct watchdog_io *io, unsigned reg)
{
	return io->read(io, IN_PORTS, c->base + reg, 2);
}

static void set_port16(const struct watchdog_chip_state *c, const struct watchdog_io *io, unsigned reg, uint32_t value)
{
	io->write(io, IN_PORTS, c->base + reg, 2, value);
}

/* The address of the P2SB bridge's registers; if the firmware has hidden the bridge, it is hidden again afterwards. */
static uint64_t p2sb_base(const struct watchdog_io *io)
{
	const bool hidden = io->read(io, IN_CONFIG, P2SB, 2) == 0xFFFF;
	if (hidden)
		io->write(io, IN_CONFIG, P2SB | 0xE1, 1, 0);
	const uint32_t there = io->read(io, IN_CONFIG, P2SB, 2);
	const uint64_t at = (io->read(io, IN_CONFIG, P2SB | 0x10, 4) & ~0xFu) | (uint64_t)io->read(io, IN_CONFIG, P2SB | 0x14, 4) << 32;
	if (hidden)
		io->write(io, IN_CONFIG, P2SB | 0xE1, 1, 1);
	return there == 0xFFFF ? 0 : at;
}

static bool tco_find_bay(struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	const uint32_t acpi = config(c, io, ACPI_BASE, 4), pmc = config(c, io, ACPI_BASE + 4, 4);
	c->base = (acpi & 0xFF80) + 0x60;
	c->addresses[0] = (pmc & BAY_PMC_MASK) + BAY_PMC_CFG;
	return (acpi & BAY_DECODED) != 0 && (acpi & 0xFF80) != 0 && (pmc & BAY_DECODED) != 0 && (pmc & BAY_PMC_MASK) != 0;
}

static bool tco_find_apollo(struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	const uint32_t at = io->read(io, IN_CONFIG, APOLLO_PMC | 0x10, 4), acpi = io->read(io, IN_CONFIG, APOLLO_PMC | 0x20, 4) & 0xFF80;
	const uint64_t pmc = (at & ~0xFu) | ((at & 0x6) == 0x4 ? (uint64_t)io->read(io, IN_CONFIG, APOLLO_PMC | 0x14, 4) << 32 : 0);
	if (io->read(io, IN_CONFIG, APOLLO_PMC, 2) == 0xFFFF || pmc == 0) /* hidden */
		return false;
	c->base = (acpi != 0 ? acpi : APOLLO_ACPI) + 0x60; /* ports that no device decodes read as a locked timer */
	c->addresses[0] = pmc + APOLLO_PMC_CFG;
	return true;
}

/* Sets c->base, and c->addresses[0] if NO_REBOOT is in memory. */
static bool tco_find(struct watchdog_chip_state *c, const struct watchdog_io *io, uint8_t kind)
{
	if (kind == WATCHDOG_TCO3)
		return tco_find_bay(c, io);
	if (kind == WATCHDOG_TCO5)
		return tco_find_apollo(c, io);
	if (kind == WATCHDOG_TCO1 || kind == WATCHDOG_TCO2) {
		const uint32_t acpi = config(c, io, ACPI_BASE, 4) & 0xFF80, root = kind == WATCHDOG_TCO2 ? config(c, io, 0xF0, 4) : 1;
		const uint32_t on = config(c, io, ACPI_BASE + 4, 4) & (kind == WATCHDOG_TCO2 ? 0x80u : 0x10u);
		c->base = acpi + 0x60;
		c->addresses[0] = kind == WATCHDOG_TCO2 ? (root & 0xFFFFC000u) + GCS_OFFSET : 0;
		return on != 0 && acpi != 0 && (root & 1) != 0;
	}
	c->base = config(c, io, TCO_BASE, 4) & 0xFFE0;
	if ((config(c, io, TCO_BASE + 4, 4) & 0x100) == 0 || c->base == 0)
		return false;
	if (kind == WATCHDOG_TCO6)
		return true;
	const uint64_t bridge = p2sb_base(io);
	c->addresses[0] = bridge + (kind == WATCHDOG_TCO4_DNV ? SMBUS_CONTROL_DNV : SMBUS_CONTROL);
	return bridge != 0;
}

/* The register that controls whether a time-out resets. */
static uint32_t no_reboot(const struct watchdog_chip_state *c, const struct watchdog_io *io, uint8_t kind)
{
	return kind == WATCHDOG_TCO1 ? config(c, io, 0xD4, 1) : kind == WATCHDOG_TCO6 ? port16(c, io, TCO1_CNT) : io->read(io, IN_MEMORY, c->addresses[0], 4);
}

static void set_no_reboot(const struct watchdog_chip_state *c, const struct watchdog_io *io, uint8_t kind, uint32_t value)
{
	if (kind == WATCHDOG_TCO1)
		set_config(c, io, 0xD4, 1, value);
	else if (kind == WATCHDOG_TCO6)
		set_port16(c, io, TCO1_CNT, value);
	else
		io->write(io, IN_MEMORY, c->addresses[0], 4, value);
}

static uint32_t no_reboot_bit(uint8_t kind)
{
	switch (kind) {
	case WATCHDOG_TCO1: return NO_REBOOT_D4;
	case WATCHDOG_TCO2: return NO_REBOOT_GCS;
	case WATCHDOG_TCO3: case WATCHDOG_TCO5: return NO_REBOOT_PMC;
	case WATCHDOG_TCO6: return TCO_NO_REBOOT;
	default: return NO_REBOOT_P2SB;
	}
}

static uint32_t tco_timer(const struct watchdog_chip_state *c, const struct watchdog_io *io, uint8_t kind)
{
	return kind == WATCHDOG_TCO1 ? io->read(io, IN_PORTS, c->base + TCO_TMR1, 1) : port16(c, io, TCO_TMR);
}

static void set_tco_timer(const struct watchdog_chip_state *c, const struct watchdog_io *io, uint8_t kind, uint32_t value)
{
	if (kind == WATCHDOG_TCO1)
		io->write(io, IN_PORTS, c->base + TCO_TMR1, 1, value);
	else
		set_port16(c, io, TCO_TMR, value);
}

static void tco_feed(const struct watchdog_chip_state *c, const struct watchdog_io *io, uint8_t kind)
{
	set_port16(c, io, TCO1_STS, 0x0008); /* otherwise the next time-out would be the second; write one to clear */
	if (kind == WATCHDOG_TCO1)
		io->write(io, IN_PORTS, c->base + TCO_RLD, 1, 1);
	else
		set_port16(c, io, TCO_RLD, 1);
}

static void tco_disarm(const struct watchdog_chip_state *c, const struct watchdog_io *io, uint8_t kind)
{
	set_port16(c, io, TCO1_CNT, c->saved[0] | TCO_HALT);
	set_tco_timer(c, io, kind, c->saved[1]);
	tco_feed(c, io, kind);
	set_no_reboot(c, io, kind, kind == WATCHDOG_TCO6 ? c->saved[0] | TCO_HALT : c->saved[2]);
	set_port16(c, io, TCO1_CNT, c->saved[0]);
}

static const char *tco_arm(struct watchdog_chip_state *c, const struct watchdog_io *io, uint8_t kind, unsigned seconds)
{
	const uint32_t most = kind == WATCHDOG_TCO1 ? TCO_TIMER1 : TCO_TIMER, tenths = kind == WATCHDOG_TCO3 ? 10 : 6; /* of a second, per tick */
	unsigned ticks = seconds * 10 / tenths / 2;
	if (!tco_find(c, io, kind))
		return off;
	c->saved[0] = port16(c, io, TCO1_CNT);
	c->saved[1] = tco_timer(c, io, kind);
	c->saved[2] = no_reboot(c, io, kind);
	if ((c->saved[0] & TCO_LOCK) != 0)
		return taken;
	set_port16(c, io, TCO1_CNT, c->saved[0] | TCO_HALT); /* it may be about to expire for the second time, which without NO_REBOOT would reset */
	set_port16(c, io, TCO2_STS, 0x0002); /* SECOND_TO_STS: write one to clear */
	set_no_reboot(c, io, kind, (kind == WATCHDOG_TCO6 ? c->saved[2] | TCO_HALT : c->saved[2]) & ~no_reboot_bit(kind));
	const bool strapped = (no_reboot(c, io, kind) & no_reboot_bit(kind)) != 0;
	ticks = ticks < TCO_LEAST ? TCO_LEAST : ticks > most ? most : ticks;
	const uint32_t count = port16(c, io, TCO1_CNT) & ~TCO_HALT;
	set_tco_timer(c, io, kind, (c->saved[1] & ~most) | ticks);
	tco_feed(c, io, kind);
	if (!strapped)
		set_port16(c, io, TCO1_CNT, count);
	c->seconds = ticks == most ? ticks * 2 * tenths / 10 : seconds;
	if (!strapped && (tco_timer(c, io, kind) & most) == ticks && (port16(c, io, TCO1_CNT) & TCO_HALT) == 0)
		return NULL;
	tco_disarm(c, io, kind);
	return strapped ? strap : dead;
}

/* --- 6300ESB --------------------------------------------------------------------------------------- */
static void esb_unlock(const struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	io->write(io, IN_MEMORY, c->base + ESB_RELOAD, 2, 0x80);
	io->write(io, IN_MEMORY, c->base + ESB_RELOAD, 2, 0x86);
}

static void esb_feed(const struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	esb_unlock(c, io);
	io->write(io, IN_MEMORY, c->base + ESB_RELOAD, 2, 0x0100);
}

static void esb_disarm(const struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	set_config(c, io, ESB_LOCK, 1, c->saved[2]);
	set_config(c, io, ESB_CONFIG, 2, c->saved[0]);
	set_config(c, io, 4, 2, c->saved[1]);
}

static const char *esb_arm(struct watchdog_chip_state *c, const struct watchdog_io *io, unsigned seconds)
{
	const uint32_t bar = config(c, io, 0x10, 4);
	c->saved[0] = config(c, io, ESB_CONFIG, 2);
	c->saved[1] = config(c, io, 4, 2);
	c->saved[2] = config(c, io, ESB_LOCK, 1);
	if ((bar & ~0xFu) == 0 || (bar & 1) != 0)
		return off;
	if ((c->saved[2] & (ESB_LOCKED | ESB_ENABLE)) != 0)
		return taken;
	c->base = bar & ~0xFu;
	set_config(c, io, 4, 2, c->saved[1] | 2); /* enables its memory space */
	set_config(c, io, ESB_CONFIG, 2, 0x0003); /* no interrupt at the first time-out, a reset at the second */
	for (unsigned i = 0; i < 2; i++) {
		esb_unlock(c, io);
		io->write(io, IN_MEMORY, c->base + (i == 0 ? ESB_TIMER1 : ESB_TIMER2), 4, seconds << ESB_TICKS_SHIFT);
	}
	esb_feed(c, io);
	set_config(c, io, ESB_LOCK, 1, c->saved[2] | ESB_ENABLE);
	c->seconds = seconds;
	if ((config(c, io, ESB_LOCK, 1) & ESB_ENABLE) != 0)
		return NULL;
	esb_disarm(c, io);
	return dead;
}

/* --- AMD ----------------------------------------------------------------------------------------------- */
static uint32_t pm(const struct watchdog_chip_state *c, const struct watchdog_io *io, unsigned reg)
{
	if (c->layout == FCH_MEMORY)
		return io->read(io, IN_MEMORY, PM_MEMORY + reg, 1);
	io->write(io, IN_PORTS, PM_INDEX, 1, reg);
	return io->read(io, IN_PORTS, PM_DATA, 1);
}

static void set_pm(const struct watchdog_chip_state *c, const struct watchdog_io *io, unsigned reg, uint32_t value)
{
	if (c->layout == FCH_MEMORY) {
		io->write(io, IN_MEMORY, PM_MEMORY + reg, 1, value);
		return;
	}
	io->write(io, IN_PORTS, PM_INDEX, 1, reg);
	io->write(io, IN_PORTS, PM_DATA, 1, value);
}

static uint32_t pm32(const struct watchdog_chip_state *c, const struct watchdog_io *io, unsigned reg)
{
	uint32_t v = 0;
	for (unsigned i = 0; i < 4; i++)
		v |= pm(c, io, reg + i) << 8 * i;
	return v;
}

static enum fch_layout fch_layout(const struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	const uint32_t id = config(c, io, 0, 4), revision = config(c, io, 8, 1);
	if (id == 0x43851002)
		return revision < 0x40 ? FCH_SB700 : FCH_SB800;
	if (id == 0x790B1022)
		return revision >= 0x51 ? FCH_MEMORY : revision >= 0x49 ? FCH_PORTS : FCH_SB800;
	return revision >= 0x41 ? FCH_PORTS : FCH_SB800;
}

/* The two power management registers that are changed: decoding, and the timer's unit. On the SB700 the first is in configuration space. */
static const struct { uint8_t decode, unit; } fch_registers[] = { { 0x41, 0x69 }, { 0x48, 0x4C }, { 0x00, 0x03 }, { 0x00, 0x03 } };

static uint32_t fch_decode(const struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	const uint8_t reg = fch_registers[c->layout].decode;
	return c->layout == FCH_SB700 ? config(c, io, reg, 1) : pm(c, io, reg);
}

static void fch_put(const struct watchdog_chip_state *c, const struct watchdog_io *io, uint32_t decode, uint32_t unit)
{
	set_pm(c, io, fch_registers[c->layout].unit, unit);
	if (c->layout == FCH_SB700)
		set_config(c, io, fch_registers[c->layout].decode, 1, decode);
	else
		set_pm(c, io, fch_registers[c->layout].decode, decode);
}

/* Sets the unit to one second and enables the decoding of the timer's registers. */
static void fch_switch_on(const struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	const uint32_t decode = c->saved[0], unit = c->saved[1];
	if (c->layout == FCH_SB700)
		fch_put(c, io, decode | 0x08, (unit & ~0x01u) | 0x06);
	else if (c->layout == FCH_SB800)
		fch_put(c, io, (decode & ~0x04u) | 0x01, unit | 0x03);
	else
		fch_put(c, io, decode | 0x80, (unit & ~0x0Cu) | 0x03);
}

static uint64_t fch_base(const struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	if (c->layout == FCH_PORTS || c->layout == FCH_MEMORY)
		return (pm(c, io, 0) & 0x80) != 0 ? FCH_WINDOW : (pm(c, io, 4) & 0x02) != 0 ? FCH_ACPI : 0;
	const uint32_t own = pm32(c, io, c->layout == FCH_SB700 ? 0x6C : 0x48) & ~7u;
	const uint32_t mmio = c->layout == FCH_SB700 ? config(c, io, 0x9C, 4) : pm32(c, io, 0x24);
	return own != 0 ? own : (mmio & 3) == 1 ? (mmio & ~0xFFFu) + 0xB00 : 0;
}

static void fch_disarm(const struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	io->write(io, IN_MEMORY, c->base + FCH_CONTROL, 4, c->saved[2] & ~(FCH_RUNS | FCH_FIRED));
	io->write(io, IN_MEMORY, c->base + FCH_COUNT, 4, c->saved[3]);
	fch_put(c, io, c->saved[0], c->saved[1]);
}

static void fch_feed(const struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	io->write(io, IN_MEMORY, c->base + FCH_CONTROL, 4, (c->saved[2] & ~(FCH_NO_RESET | FCH_FIRED)) | FCH_RUNS | FCH_TRIGGER);
}

static const char *fch_arm(struct watchdog_chip_state *c, const struct watchdog_io *io, unsigned seconds)
{
	c->layout = (uint8_t)fch_layout(c, io);
	c->saved[0] = fch_decode(c, io);
	c->saved[1] = pm(c, io, fch_registers[c->layout].unit);
	fch_switch_on(c, io);
	c->base = fch_base(c, io);
	/* On newer chipsets the bit that enables decoding also starts the timer. */
	const bool on_before = c->layout < FCH_PORTS || (c->saved[0] & 0x80) != 0;
	const uint32_t control = c->base != 0 ? io->read(io, IN_MEMORY, c->base + FCH_CONTROL, 4) : FCH_DISABLED;
	if ((control & FCH_DISABLED) != 0 || (on_before && (control & FCH_RUNS) != 0)) {
		fch_put(c, io, c->saved[0], c->saved[1]);
		return (control & FCH_DISABLED) != 0 ? off : taken;
	}
	c->saved[2] = control & ~FCH_RUNS;
	c->saved[3] = io->read(io, IN_MEMORY, c->base + FCH_COUNT, 4);
	c->seconds = seconds;
	io->write(io, IN_MEMORY, c->base + FCH_COUNT, 4, seconds);
	io->write(io, IN_MEMORY, c->base + FCH_CONTROL, 4, (control & ~FCH_NO_RESET) | FCH_RUNS); /* an earlier FIRED flag is cleared by writing 1 to it */
	fch_feed(c, io);
	const uint32_t now = io->read(io, IN_MEMORY, c->base + FCH_CONTROL, 4), left = io->read(io, IN_MEMORY, c->base + FCH_COUNT, 4) & 0xFFFF;
	if ((now & (FCH_RUNS | FCH_NO_RESET)) == FCH_RUNS && left != 0 && left <= seconds)
		return NULL;
	fch_disarm(c, io);
	return dead;
}

/* --- all -------------------------------------------------------------------------------------------------- */
static const struct watchdog_chip *listed(uint32_t id)
{
	for (unsigned i = 0; i < watchdog_chip_count; i++) {
		const struct watchdog_chip *c = &watchdog_chips[i];
		if ((id & 0xFFFF) == c->vendor && id >> 16 >= c->first && id >> 16 <= c->last)
			return c;
	}
	return NULL;
}

/* The south bridge is on bus 0, as is a 6300ESB's timer, even on an add-in card. */
void watchdog_chip_arm(struct watchdog_chip_state *to, const struct watchdog_io *io, unsigned seconds)
{
	memset(to, 0, sizeof(*to));
	for (uint32_t device = 0; device < 32; device++)
		for (uint32_t function = 0; function < 8; function++) {
			struct watchdog_chip_state c = { .function = device << 16 | function << 8 };
			const struct watchdog_chip *chip = listed(config(&c, io, 0, 4));
			if (chip == NULL)
				continue;
			const char *why = chip->kind == WATCHDOG_FCH ? fch_arm(&c, io, seconds) : chip->kind == WATCHDOG_I6300ESB ? esb_arm(&c, io, seconds) :
			                  tco_arm(&c, io, chip->kind, seconds);
			if (why == NULL) {
				c.chip = chip;
				*to = c;
				return;
			}
			to->unusable = chip;
			to->why = why;
		}
}

void watchdog_chip_feed(const struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	if (c->chip == NULL)
		return;
	if (c->chip->kind == WATCHDOG_FCH)
		fch_feed(c, io);
	else if (c->chip->kind == WATCHDOG_I6300ESB)
		esb_feed(c, io);
	else
		tco_feed(c, io, c->chip->kind);
}

void watchdog_chip_disarm(const struct watchdog_chip_state *c, const struct watchdog_io *io)
{
	if (c->chip == NULL)
		return;
	if (c->chip->kind == WATCHDOG_FCH)
		fch_disarm(c, io);
	else if (c->chip->kind == WATCHDOG_I6300ESB)
		esb_disarm(c, io);
	else
		tco_disarm(c, io, c->chip->kind);
}
