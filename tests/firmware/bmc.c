/* tests/firmware/bmc.c: the watchdog of a management controller behind a KCS interface (IPMI 2.0, chapters 9 and 27), with what real ones do:
 * they take their time, lose a byte, leave out the last one, answer nothing. */
#include <stdlib.h>
#include <string.h>

#include "efi/processor/watchdog_io.h"
#include "tests/firmware/parts.h"

#define DATA    0xCA2u
#define COMMAND 0xCA6u

enum state { IDLE = 0, READING = 0x40, WRITING = 0x80, FAILED = 0xC0 };

struct controller {
	struct watchdog_io io;
	/* how it behaves */
	unsigned delay;    /* reads of the status until it has taken a byte */
	unsigned loses;    /* the n-th byte from here on ends in an error; 0: none */
	bool no_last, silent, refuses;
	/* the interface */
	enum state state;
	unsigned busy, in, out_at, out;
	uint8_t request[32], answer[32], offered;
	bool has, end;
	/* the timer: settings as Set Watchdog Timer has them */
	uint8_t timer[6];
	bool runs, ever;
	unsigned fed, reads;
};

static struct controller *of(const struct watchdog_io *io) { return (struct controller *)(uintptr_t)io; }

static void carry_out(struct controller *c)
{
	uint8_t *a = c->answer;
	a[0] = c->request[0] | 4;
	a[1] = c->request[1];
	a[2] = c->request[0] != 0x18 || c->refuses ? 0xC1 : 0;
	c->out = 3;
	if (a[2] != 0)
		return;
	if (a[1] == 0x25) {
		memcpy(a + 3, c->timer, 6);
		a[3] = (c->timer[0] & 0x87) | (c->runs ? 0x40 : 0);
		memcpy(a + 9, c->timer + 4, 2);
		c->out = 11;
	} else if (a[1] == 0x24 && c->in == 8 && ((c->request[2] & 7) == 0 || (c->request[2] & 7) > 5)) {
		a[2] = 0xCC;
	} else if (a[1] == 0x24 && c->in == 8) {
		c->runs = c->runs && (c->request[2] & 0x40) != 0;
		memcpy(c->timer, c->request + 2, 6);
		c->timer[3] = 0;
		c->ever = true;
	} else if (a[1] == 0x22 && c->in == 2) {
		a[2] = c->ever ? 0 : 0x80;
		c->runs = c->ever;
		c->fed++;
	} else {
		a[2] = 0xC7;
	}
}

static void offer(struct controller *c)
{
	if (c->out_at == c->out) {
		c->state = IDLE;
		c->has = !c->no_last;
		return;
	}
	c->offered = c->answer[c->out_at++];
	c->has = true;
}

static uint32_t bmc_read(const struct watchdog_io *io, enum watchdog_space space, uint64_t at, unsigned bytes)
{
	struct controller *c = of(io);
	if (space != IN_PORTS || bytes != 1 || (at != DATA && at != COMMAND))
		return UINT32_MAX;
	if (at == DATA) {
		c->has = false;
		return c->offered;
	}
	c->reads++;
	c->busy -= c->busy != 0 && !c->silent;
	return c->state | (c->busy != 0 ? 2u : 0) | (c->has ? 1u : 0);
}

static void bmc_write(const struct watchdog_io *io, enum watchdog_space space, uint64_t at, unsigned bytes, uint32_t value)
{
	struct controller *c = of(io);
	if (space != IN_PORTS || bytes != 1)
		return;
	c->busy = c->delay;
	if (c->loses != 0 && --c->loses == 0) {
		c->state = FAILED;
		return;
	}
	if (at == COMMAND) {
		c->end = value == 0x62;
		c->state = WRITING;
		if (value == 0x61)
			c->in = 0;
		if (value == 0x60) { /* back to its beginning: one byte of status follows */
			c->in = c->out_at = 0;
			c->out = 1;
			c->answer[0] = 1;
			c->end = true;
		}
		return;
	}
	if (c->state == WRITING) {
		const bool back = c->end && c->in == 0;
		if (c->in < sizeof(c->request))
			c->request[c->in++] = (uint8_t)value;
		if (!c->end)
			return;
		c->state = READING;
		c->out_at = 0;
		if (!back)
			carry_out(c);
		offer(c);
	} else if (c->state == READING && value == 0x68) {
		offer(c);
	} else {
		c->state = FAILED;
	}
}

static struct controller *build(struct watchdog_bmc *b)
{
	struct controller *c = calloc(1, sizeof(*c));
	c->io = (struct watchdog_io){ bmc_read, bmc_write };
	c->delay = 3;
	memcpy(c->timer, (uint8_t[]){ 0x83, 2, 5, 0, 0x10, 0x27 }, 6); /* OS load, power down, a minute */
	*b = (struct watchdog_bmc){ .space = IN_PORTS, .at = DATA, .spacing = COMMAND - DATA };
	return c;
}

static bool whole(struct controller *c, struct watchdog_bmc *b, bool ran)
{
	uint8_t before[6];
	memcpy(before, c->timer, 6);
	c->runs = ran;
	if (!watchdog_bmc_arm(b, &c->io, 300) || !c->runs || (c->timer[0] & 7) != 4 || c->timer[1] != 1 || c->timer[4] != (3000 & 0xFF) || c->timer[5] != 3000 >> 8)
		return false;
	const unsigned fed = c->fed;
	const bool feeds = watchdog_bmc_feed(b, &c->io) && c->fed == fed + 1;
	return feeds && watchdog_bmc_disarm(b, &c->io) && c->runs == ran && memcmp(before, c->timer, 6) == 0;
}

void bmc_parts(void)
{
	struct watchdog_bmc b;
	struct controller *c = build(&b);
	claim(whole(c, &b, false), "bmc_is_armed_fed_and_put_back");
	free(c);
	c = build(&b);
	claim(whole(c, &b, true), "bmc_that_ran_for_the_firmware_runs_again");
	free(c);
	c = build(&b);
	memset(c->timer, 0, sizeof(c->timer));
	claim(watchdog_bmc_arm(&b, &c->io, 300) && watchdog_bmc_disarm(&b, &c->io) && !c->runs && c->timer[1] == 0, "bmc_that_nobody_had_set_stands_again");
	free(c);
	c = build(&b);
	c->delay = 20000;
	c->no_last = true;
	claim(whole(c, &b, false), "bmc_that_is_slow_and_leaves_out_the_last_byte");
	free(c);
	bool good = true;
	for (unsigned n = 1; n < 30; n++) {
		c = build(&b);
		c->loses = n;
		good = whole(c, &b, false) && good;
		free(c);
	}
	claim(good, "bmc_that_loses_one_byte_is_asked_again");
	c = build(&b);
	c->silent = true;
	c->busy = 1;
	claim(!watchdog_bmc_arm(&b, &c->io, 300) && !b.armed && c->reads < 20000000, "bmc_that_takes_nothing_has_an_end");
	free(c);
	c = build(&b);
	c->refuses = true;
	claim(!watchdog_bmc_arm(&b, &c->io, 300) && c->timer[1] == 2, "bmc_that_refuses_stays_as_found");
	free(c);
	c = build(&b);
	b.at = 0x700; /* all ones */
	claim(!watchdog_bmc_arm(&b, &c->io, 300) && c->reads == 0, "bmc_that_is_not_there_is_not_waited_for");
	free(c);
}
