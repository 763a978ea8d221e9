/* tests/firmware/watchdog.c: the watchdogs of chipsets that no emulator has, each as its manual describes it: what is armed and not fed resets the
 * machine, what is fed does not, and what is disarmed has its registers from before and stays still. */
#include <stdlib.h>
#include <string.h>

#include "efi/processor/watchdog_io.h"
#include "tests/firmware/parts.h"

/* --- a machine ------------------------------------------------------------------------------------ */
#define ACPI    0x400u
#define TCO     0x1C0u       /* 100 series and later: a base of its own */
#define ROOT    0xFED1C000u
#define POWER   0xFED03000u  /* Bay Trail's and Apollo Lake's power management */
#define BRIDGE  0xFD000000u  /* behind P2SB */
#define WINDOW  0xFEB00000u
#define PM_AT   0xFED80300u
#define WORDS   8u

enum model { ICH5, ICH9, BAY_TRAIL, APOLLO, APOLLO_BARE, SUNRISE, DENVERTON, CANNON, SB700, SB800, FCH_BY_PORTS, FCH_IN_MEMORY };

struct machine {
	struct watchdog_io io;
	enum model model;
	uint8_t config[32][8][256];
	uint8_t port[0x1000], pm[256], pm_index;
	struct { uint64_t at; uint32_t value; } memory[WORDS];
	unsigned words;
	bool hidden, strapped;
	uint32_t outside; /* accesses to what is not there */
	/* time, in tenths of a second */
	unsigned left;
	bool reset;
};

static struct machine *of(const struct watchdog_io *io) { return (struct machine *)(uintptr_t)io; }

static uint32_t *word(struct machine *m, uint64_t at)
{
	static uint32_t none;
	for (unsigned i = 0; i < m->words; i++)
		if (m->memory[i].at == at)
			return &m->memory[i].value;
	m->outside++;
	none = UINT32_MAX;
	return &none;
}

static unsigned tco_base(const struct machine *m) { return m->model <= APOLLO_BARE ? ACPI + 0x60 : TCO; }
static bool is_tco(const struct machine *m) { return m->model <= CANNON; }

static uint32_t get(const uint8_t *at, unsigned bytes)
{
	uint32_t v = 0;
	memcpy(&v, at, bytes);
	return v;
}

/* The timer's registers of AMD's are there while they are decoded. */
static bool decoded(struct machine *m)
{
	return m->model == SB700 ? (m->config[20][0][0x41] & 8) != 0 : m->model == SB800 ? (m->pm[0x48] & 1) != 0 : (m->pm[0] & 0x80) != 0;
}

static uint32_t machine_read(const struct watchdog_io *io, enum watchdog_space space, uint64_t at, unsigned bytes)
{
	struct machine *m = of(io);
	if (space == IN_CONFIG) {
		if (m->hidden && at >> 8 == 0x1F01)
			return bytes == 1 ? 0xFF : bytes == 2 ? 0xFFFF : UINT32_MAX;
		return get(&m->config[at >> 16][at >> 8 & 7][at & 0xFF], bytes);
	}
	if (space == IN_PORTS && at == 0xCD7 && !is_tco(m) && m->model != FCH_IN_MEMORY)
		return m->pm[m->pm_index];
	if (space == IN_PORTS)
		return get(&m->port[at & 0xFFF], bytes);
	if (m->model == FCH_IN_MEMORY && at >= PM_AT && at < PM_AT + 256)
		return get(&m->pm[at - PM_AT], bytes);
	if (!is_tco(m) && at == WINDOW + 4 && decoded(m))
		return (m->left + 9) / 10;
	if (!is_tco(m) && at >> 12 == WINDOW >> 12 && !decoded(m))
		return UINT32_MAX;
	return *word(m, at);
}

static void tco_write(struct machine *m, unsigned reg, unsigned bytes, uint32_t value)
{
	uint8_t *const base = &m->port[tco_base(m)];
	if (reg == 0x04 || reg == 0x06) { /* status: write one to clear */
		base[reg] &= (uint8_t)~value;
		return;
	}
	memcpy(base + reg, &value, bytes);
	if (m->strapped && m->model == CANNON)
		base[8] |= 1;
	if (reg == 0)
		m->left = m->model == ICH5 ? (base[1] & 0x3Fu) * 6 : (get(base + 0x12, 2) & 0x3FF) * (m->model == BAY_TRAIL ? 10 : 6);
}

static void fch_write(struct machine *m, uint64_t at, uint32_t value)
{
	if (at == WINDOW + 4) {
		*word(m, at) = value;
		return;
	}
	uint32_t *control = word(m, at);
	*control = (*control & 2 & ~value) | (value & ~0x82u) | (*control & 8);
	if ((value & 0x80) != 0 && (value & 1) != 0)
		m->left = *word(m, WINDOW + 4) * 10;
}

static void machine_write(const struct watchdog_io *io, enum watchdog_space space, uint64_t at, unsigned bytes, uint32_t value)
{
	struct machine *m = of(io);
	if (space == IN_CONFIG) {
		if (at == 0x1F01E1)
			m->hidden = (value & 1) != 0;
		memcpy(&m->config[at >> 16][at >> 8 & 7][at & 0xFF], &value, bytes);
		if (m->strapped && m->model == ICH5)
			m->config[31][0][0xD4] |= 2;
		return;
	}
	if (space == IN_PORTS && is_tco(m) && at >= tco_base(m) && at < tco_base(m) + 0x20) {
		tco_write(m, (unsigned)at - tco_base(m), bytes, value);
	} else if (space == IN_PORTS && !is_tco(m) && m->model != FCH_IN_MEMORY && (at == 0xCD6 || at == 0xCD7)) {
		if (at == 0xCD6)
			m->pm_index = (uint8_t)value;
		else
			m->pm[m->pm_index] = (uint8_t)value;
	} else if (space == IN_MEMORY && m->model == FCH_IN_MEMORY && at >= PM_AT && at < PM_AT + 256) {
		memcpy(&m->pm[at - PM_AT], &value, bytes);
	} else if (space == IN_MEMORY && !is_tco(m) && at >> 12 == WINDOW >> 12 && decoded(m)) {
		fch_write(m, at, value);
	} else if (space == IN_MEMORY) {
		*word(m, at) = value | (m->strapped ? *word(m, at) : 0);
	} else {
		m->outside++;
	}
}

static bool resets(struct machine *m)
{
	switch (m->model) {
	case ICH5: return (m->config[31][0][0xD4] & 2) == 0;
	case ICH9: return (*word(m, ROOT + 0x3410) & 0x20) == 0;
	case BAY_TRAIL: return (*word(m, POWER + 8) & 0x10) == 0;
	case APOLLO: case APOLLO_BARE: return (*word(m, POWER + 0x1008) & 0x10) == 0;
	case SUNRISE: return (*word(m, BRIDGE + 0xC6000C) & 2) == 0;
	case DENVERTON: return (*word(m, BRIDGE + 0xCF000C) & 2) == 0;
	case CANNON: return (m->port[TCO + 8] & 1) == 0;
	default: return (*word(m, WINDOW) & 4) == 0;
	}
}

static void wait_tenths(struct machine *m, unsigned n)
{
	uint8_t *const base = &m->port[tco_base(m)];
	const unsigned unit = m->model == SB700 ? m->pm[0x69] & 7u : m->model == SB800 ? m->pm[0x4C] & 3u : m->pm[3] & 15u;
	for (; n > 0; n--) {
		if (is_tco(m) ? (base[9] & 8) != 0 : !decoded(m) || (*word(m, WINDOW) & 1) == 0 || unit != (m->model == SB700 ? 6u : 3u))
			continue;
		if (m->left > 0 && --m->left > 0)
			continue;
		if (!is_tco(m)) {
			m->reset = m->reset || resets(m);
			continue;
		}
		m->reset = m->reset || ((base[4] & 8) != 0 && resets(m)); /* the second in a row */
		base[4] |= 8;
		tco_write(m, 0, 1, 1);
	}
}

static void device(struct machine *m, unsigned device, unsigned function, uint32_t id, uint8_t revision)
{
	memset(m->config[device][function], 0, 256);
	memcpy(m->config[device][function], &id, 4);
	m->config[device][function][8] = revision;
}

static void put32(uint8_t *at, uint32_t value) { memcpy(at, &value, 4); }
static void put_word(struct machine *m, uint64_t at, uint32_t value) { m->memory[m->words].at = at; m->memory[m->words++].value = value; }

/* As the firmware leaves it: a TCO timer counts and resets nobody, AMD's stands. */
static struct machine *build(enum model model)
{
	struct machine *m = calloc(1, sizeof(*m));
	m->io = (struct watchdog_io){ machine_read, machine_write };
	m->model = model;
	memset(m->config, 0xFF, sizeof(m->config));
	if (model == ICH5 || model == ICH9) {
		device(m, 31, 0, model == ICH5 ? 0x24D08086 : 0x29188086, 2);
		put32(m->config[31][0] + 0x40, ACPI | 1);
		put32(m->config[31][0] + 0x44, model == ICH5 ? 0x10 : 0x80);
		m->config[31][0][0xD4] = 0x42;
		put32(m->config[31][0] + 0xF0, ROOT | 1);
		put_word(m, ROOT + 0x3410, 0x00C01060); /* NO_REBOOT among others */
	} else if (model == BAY_TRAIL) {
		device(m, 31, 0, 0x0F1C8086, 0x11);
		put32(m->config[31][0] + 0x40, ACPI | 3);
		put32(m->config[31][0] + 0x44, POWER | 2);
		put_word(m, POWER + 8, 0x36);
	} else if (model == APOLLO || model == APOLLO_BARE) {
		device(m, 31, 0, model == APOLLO ? 0x5AE88086 : 0x31978086, 0x0B);
		device(m, 13, 1, model == APOLLO ? 0x5A948086 : 0x31948086, 0x0B);
		put32(m->config[13][1] + 0x10, POWER | 4);
		put32(m->config[13][1] + 0x20, model == APOLLO ? ACPI | 1 : 0); /* not told: it is not a proper base address */
		put_word(m, POWER + 0x1008, 0x12);
	} else if (is_tco(m)) {
		device(m, 31, 4, model == SUNRISE ? 0xA1238086 : model == DENVERTON ? 0x19DF8086 : 0xA3238086, 0x31);
		put32(m->config[31][4] + 0x50, TCO | 1);
		put32(m->config[31][4] + 0x54, 0x100);
		device(m, 31, 1, 0xA1208086, 0x31);
		put32(m->config[31][1] + 0x10, BRIDGE | 4);
		put32(m->config[31][1] + 0x14, 0);
		m->config[31][1][0xE1] = 1;
		m->hidden = true;
		put_word(m, BRIDGE + (model == DENVERTON ? 0xCF000C : 0xC6000C), 0x12);
	} else {
		device(m, 20, 0, model == SB700 || model == SB800 ? 0x43851002 : 0x790B1022, model == SB700 ? 0x3A : model == SB800 ? 0x41 : model == FCH_BY_PORTS ? 0x4A : 0x61);
		memset(m->pm, 0x40, sizeof(m->pm));
		m->config[20][0][0x41] = 0x40;
		put32(m->pm + 0x6C, WINDOW);
		m->pm[0x69] = 1; /* switched off */
		put32(m->pm + 0x48, WINDOW | 4);
		m->pm[0] = 0x61;
		m->pm[3] = 0x0C;
		put_word(m, WINDOW, 2); /* it fired once */
		put_word(m, WINDOW + 4, 0);
	}
	if (is_tco(m)) {
		m->port[tco_base(m) + 8] = 0x01;  /* TCO1_CNT: NMI2SMI's neighbour; NO_REBOOT from the 300 series on */
		m->port[tco_base(m) + 4] = 0x08;  /* a time-out is behind it */
		m->port[tco_base(m) + 1] = model == ICH5 ? 0x44 : 0; /* ICH5's timer; later TCO_RLD has two bytes */
		put32(m->port + tco_base(m) + 0x12, 0x0004);
	}
	return m;
}

/* All that a program could tell from before: without what time changes. */
static bool same(struct machine *a, struct machine *b)
{
	a->port[tco_base(a) + 4] &= (uint8_t)~8;
	b->port[tco_base(b) + 4] &= (uint8_t)~8;
	a->port[tco_base(a)] = b->port[tco_base(b)] = 0;
	for (unsigned i = 0; i < a->words; i++)
		if (a->memory[i].value != b->memory[i].value && (a->memory[i].at != WINDOW || (a->memory[i].value & ~2u) != (b->memory[i].value & ~2u)))
			return false;
	return !memcmp(a->config, b->config, sizeof(a->config)) && !memcmp(a->port, b->port, sizeof(a->port)) && !memcmp(a->pm, b->pm, sizeof(a->pm)) &&
	       a->hidden == b->hidden;
}

static void chip(enum model model, const char *name, unsigned wanted, unsigned seconds, const char *bites, const char *fed, const char *back)
{
	struct machine *m = build(model), *before = build(model);
	struct watchdog_chip_state c;
	watchdog_chip_arm(&c, &m->io, wanted);
	const bool armed = c.chip != NULL && !strcmp(c.chip->name, name) && c.seconds == seconds;
	wait_tenths(m, seconds * 10 - 40);
	const bool early = m->reset;
	wait_tenths(m, 60);
	claim(armed && !early && m->reset && m->outside == 0, bites);
	free(m);
	m = build(model);
	watchdog_chip_arm(&c, &m->io, wanted);
	for (unsigned i = 0; i < 20; i++) {
		wait_tenths(m, seconds * 10 / 4 * 3);
		watchdog_chip_feed(&c, &m->io);
	}
	claim(!m->reset && m->outside == 0, fed);
	watchdog_chip_disarm(&c, &m->io);
	wait_tenths(m, 100);
	claim(!m->reset && same(m, before), back);
	free(m);
	free(before);
}

static bool stays(struct machine *m, enum model model, const char *why)
{
	struct machine *before = build(model);
	struct watchdog_chip_state c;
	memcpy(before->port, m->port, sizeof(m->port));
	memcpy(before->pm, m->pm, sizeof(m->pm));
	memcpy(before->config, m->config, sizeof(m->config));
	memcpy(before->memory, m->memory, sizeof(m->memory));
	watchdog_chip_arm(&c, &m->io, 60);
	wait_tenths(m, 2000);
	const bool good = c.chip == NULL && (why == NULL ? c.unusable == NULL : c.unusable != NULL && strstr(c.why, why) != NULL) && !m->reset && same(m, before);
	free(before);
	free(m);
	return good;
}

static void refusals(void)
{
	static const enum model straps[] = { ICH5, ICH9, BAY_TRAIL, APOLLO, SUNRISE, CANNON };
	bool good = true;
	for (unsigned i = 0; i < sizeof(straps) / sizeof(*straps); i++) {
		struct machine *m = build(straps[i]);
		m->strapped = true;
		good = stays(m, straps[i], "strap") && good;
	}
	claim(good, "watchdog_strapped_stays_as_found");
	struct machine *m = build(CANNON);
	m->port[TCO + 9] = 0x10; /* locked */
	claim(stays(m, CANNON, "locked"), "watchdog_locked_stays_as_found");
	m = build(SUNRISE);
	put32(m->config[31][4] + 0x54, 0);
	claim(stays(m, SUNRISE, "disabled"), "watchdog_tco_without_a_base_stays_as_found");
	m = build(BAY_TRAIL);
	put32(m->config[31][0] + 0x40, ACPI | 1); /* not decoded */
	claim(stays(m, BAY_TRAIL, "disabled"), "watchdog_bay_trail_not_decoded_stays_as_found");
	m = build(APOLLO);
	memset(m->config[13][1], 0xFF, 256); /* hidden */
	claim(stays(m, APOLLO, "disabled"), "watchdog_apollo_lake_hidden_stays_as_found");
	m = build(APOLLO_BARE);
	memset(m->port, 0xFF, sizeof(m->port)); /* no such ports */
	claim(stays(m, APOLLO_BARE, "locked"), "watchdog_gemini_lake_without_ports_stays_as_found");
	m = build(FCH_IN_MEMORY);
	m->memory[0].value = 8;
	claim(stays(m, FCH_IN_MEMORY, "disabled"), "watchdog_fch_disabled_stays_as_found");
	m = build(SB800);
	m->memory[0].value = 1;
	m->pm[0x48] = 1;
	m->pm[0x4C] = 0; /* in a unit that this machine does not count */
	claim(stays(m, SB800, "in use"), "watchdog_fch_of_somebody_else_stays_as_found");
	m = build(ICH9);
	put32(m->config[31][0], 0x99998086);
	claim(stays(m, ICH9, NULL), "watchdog_not_listed_is_not_touched");
}

void watchdog_parts(void)
{
	chip(ICH5, "ICH5", 300, 75, "watchdog_ich5_bites", "watchdog_ich5_is_fed", "watchdog_ich5_is_put_back");
	chip(ICH9, "ICH9", 60, 60, "watchdog_ich9_bites", "watchdog_ich9_is_fed", "watchdog_ich9_is_put_back");
	chip(BAY_TRAIL, "Bay Trail", 60, 60, "watchdog_bay_trail_bites", "watchdog_bay_trail_is_fed", "watchdog_bay_trail_is_put_back");
	chip(APOLLO, "Apollo Lake", 60, 60, "watchdog_apollo_lake_bites", "watchdog_apollo_lake_is_fed", "watchdog_apollo_lake_is_put_back");
	chip(APOLLO_BARE, "Gemini Lake", 60, 60, "watchdog_gemini_lake_bites", "watchdog_gemini_lake_is_fed", "watchdog_gemini_lake_is_put_back");
	chip(SUNRISE, "100 series", 60, 60, "watchdog_100_series_bites", "watchdog_100_series_is_fed", "watchdog_100_series_is_put_back");
	chip(DENVERTON, "Denverton", 60, 60, "watchdog_denverton_bites", "watchdog_denverton_is_fed", "watchdog_denverton_is_put_back");
	chip(CANNON, "300 series", 60, 60, "watchdog_300_series_bites", "watchdog_300_series_is_fed", "watchdog_300_series_is_put_back");
	chip(SB700, "SB600 to SB900", 60, 60, "watchdog_sb700_bites", "watchdog_sb700_is_fed", "watchdog_sb700_is_put_back");
	chip(SB800, "SB600 to SB900", 60, 60, "watchdog_sb800_bites", "watchdog_sb800_is_fed", "watchdog_sb800_is_put_back");
	chip(FCH_BY_PORTS, "AMD FCH", 60, 60, "watchdog_fch_by_ports_bites", "watchdog_fch_by_ports_is_fed", "watchdog_fch_by_ports_is_put_back");
	chip(FCH_IN_MEMORY, "AMD FCH", 60, 60, "watchdog_fch_in_memory_bites", "watchdog_fch_in_memory_is_fed", "watchdog_fch_in_memory_is_put_back");
	refusals();
}
