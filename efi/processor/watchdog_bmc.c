/* efi/processor/watchdog_bmc.c: the watchdog of a management controller (BMC): IPMI 2.0, chapter 27, through the KCS interface, chapter 9.
 * The status register is polled; an ISA read takes a microsecond, so a command ends after 4 s at most. */
#include "efi/processor/watchdog_io.h"
#include "pmu/text.h"

/* Status register: the upper two bits are the state. */
#define OBF          0x01u /* output buffer full: it has a byte for us */
#define IBF          0x02u /* input buffer full: it has not yet taken ours */
#define STATE        0xC0u
#define IDLE         0x00u
#define READING      0x40u
#define WRITING      0x80u
#define ABORT        0x60u
#define WRITE_START  0x61u
#define WRITE_END    0x62u
#define READ_NEXT    0x68u
#define READS_MAX    4000000u /* of one command */

#define APPLICATION  (0x06u << 2) /* network function; logical unit 0 */
#define RESET_TIMER  0x22u
#define SET_TIMER    0x24u
#define GET_TIMER    0x25u
#define USE_OS       0x04u /* SMS/OS */
#define DO_RESET     0x01u /* hard reset */
#define CLEAR_OS     0x10u /* clears the flag that the timer expired in that use */
#define STARTED      0x40u
#define TICKS_S      10u   /* of 100 ms */

struct bmc_session { const struct watchdog_bmc *b; const struct watchdog_io *io; unsigned left; };

static uint32_t status(struct bmc_session *t)
{
	t->left -= t->left != 0;
	return t->io->read(t->io, t->b->space, t->b->at + t->b->spacing, 1);
}

static void command(struct bmc_session *t, uint32_t value) { t->io->write(t->io, t->b->space, t->b->at + t->b->spacing, 1, value); }
static void put(struct bmc_session *t, uint32_t value) { t->io->write(t->io, t->b->space, t->b->at, 1, value); }
static uint8_t get(struct bmc_session *t) { return (uint8_t)t->io->read(t->io, t->b->space, t->b->at, 1); }

/* Waits until the controller has taken our byte; returns its state. UINT32_MAX: no answer. */
static uint32_t taken(struct bmc_session *t)
{
	uint32_t s = status(t);
	while ((s & IBF) != 0 && t->left != 0)
		s = status(t);
	return (s & IBF) != 0 ? UINT32_MAX : s & STATE;
}

static bool offers(struct bmc_session *t)
{
	while ((status(t) & OBF) == 0)
		if (t->left == 0)
			return false;
	return true;
}

static bool writes(struct bmc_session *t)
{
	if (taken(t) != WRITING)
		return false;
	if ((status(t) & OBF) != 0)
		(void)get(t);
	return true;
}

static bool send(struct bmc_session *t, const uint8_t *bytes, unsigned n)
{
	if (taken(t) == UINT32_MAX)
		return false;
	if ((status(t) & OBF) != 0)
		(void)get(t);
	command(t, WRITE_START);
	for (unsigned i = 0; i < n; i++) {
		if (!writes(t))
			return false;
		if (i + 1 == n) {
			command(t, WRITE_END);
			if (!writes(t))
				return false;
		}
		put(t, bytes[i]);
	}
	return true;
}

/* Receives an answer, of which at most BMC_BYTES bytes are kept; returns their number, 0 on an error. */
static unsigned receive(struct bmc_session *t, uint8_t answer[BMC_BYTES])
{
	for (unsigned n = 0;;) {
		const uint32_t state = taken(t);
		if (state == IDLE) {
			if ((status(t) & OBF) != 0) /* some interfaces send no last byte here */
				(void)get(t);
			return n;
		}
		if (state != READING || !offers(t))
			return 0;
		const uint8_t byte = get(t);
		if (n < BMC_BYTES)
			answer[n++] = byte;
		put(t, READ_NEXT);
	}
}

/* Resets the interface after an error (figure 9-8), as far as it responds. */
static void call_back(struct bmc_session *t)
{
	(void)taken(t);
	command(t, ABORT);
	(void)taken(t);
	if ((status(t) & OBF) != 0)
		(void)get(t);
	put(t, 0);
	uint8_t answer[BMC_BYTES];
	(void)receive(t, answer);
}

/* Sends a command with its data; *answer starts after the completion code. False: no answer, or the command was refused. */
static bool ask(const struct watchdog_bmc *b, const struct watchdog_io *io, const uint8_t *bytes, unsigned n, uint8_t *answer, unsigned wanted)
{
	struct bmc_session t = { b, io, READS_MAX };
	uint8_t got[BMC_BYTES] = { 0 };
	if (io->read(io, b->space, b->at + b->spacing, 1) == 0xFF)
		return false; /* no device answers there */
	for (unsigned tries = 0; tries < 2 && t.left != 0; tries++) {
		const unsigned have = send(&t, bytes, n) ? receive(&t, got) : 0;
		if (have >= 3 && got[0] == (bytes[0] | 4) && got[1] == bytes[1]) {
			if (got[2] != 0 || have < 3 + wanted)
				return false;
			memcpy(answer, got + 3, wanted);
			return true;
		}
		call_back(&t);
	}
	return false;
}

static bool set(const struct watchdog_bmc *b, const struct watchdog_io *io, const uint8_t settings[6])
{
	uint8_t bytes[8] = { APPLICATION, SET_TIMER }, none[1];
	memcpy(bytes + 2, settings, 6);
	return ask(b, io, bytes, sizeof(bytes), none, 0);
}

bool watchdog_bmc_feed(const struct watchdog_bmc *b, const struct watchdog_io *io)
{
	const uint8_t bytes[2] = { APPLICATION, RESET_TIMER };
	uint8_t none[1];
	return ask(b, io, bytes, sizeof(bytes), none, 0);
}

bool watchdog_bmc_arm(struct watchdog_bmc *b, const struct watchdog_io *io, unsigned seconds)
{
	const uint8_t bytes[2] = { APPLICATION, GET_TIMER };
	const unsigned ticks = seconds * TICKS_S < 0xFFFF ? seconds * TICKS_S : 0xFFFF;
	const uint8_t ours[6] = { USE_OS, DO_RESET, 0, CLEAR_OS, (uint8_t)ticks, (uint8_t)(ticks >> 8) };
	uint8_t was[8];
	b->armed = false;
	if (b->at == 0 || !ask(b, io, bytes, sizeof(bytes), was, sizeof(was)))
		return false;
	b->ran = (was[0] & STARTED) != 0; /* the firmware's timer for loading an OS, which would end the run */
	memcpy(b->settings, was, 6);
	b->settings[0] &= (uint8_t)~STARTED; /* in Set this bit requests that the timer keeps running */
	if ((b->settings[0] & 7) == 0)
		b->settings[0] |= USE_OS; /* use 0: not set since power-on; it is reserved and would be refused */
	b->settings[3] = 0; /* flags to clear */
	if (!set(b, io, ours) || !watchdog_bmc_feed(b, io)) {
		(void)set(b, io, b->settings);
		return false;
	}
	b->armed = true;
	return true;
}

bool watchdog_bmc_disarm(struct watchdog_bmc *b, const struct watchdog_io *io)
{
	if (!b->armed)
		return true;
	b->armed = false;
	return set(b, io, b->settings) && (!b->ran || watchdog_bmc_feed(b, io));
}
