/* pmu/sim/uncore/uncore_tap.c: taps of uncore boxes, on the rings of signal.c: a tap is a signal of its own there.
 *
 * Cycles are closed up to the slowest running core's clock, which no later request can precede. Work that is delayed for
 * more than SIGNAL_RING uncore cycles (writes to a channel that is never free) is counted in the ring's last cycle, so its
 * sum is right and its cmask is not.
 *
 * Not modelled: different clocks of a socket's boxes. */
#include "pmu/sim/uncore/uncore_tap.h"
#include "pmu/sim/memory/memory_state.h"

#define SOCKETS_MAX 8
#define CLOSE_EVERY 4096 /* uncore cycles */
#define UNITS 32
#define TOTAL_BYTES (UNC_COUNT * UNITS * sizeof(uint64_t))

struct socket_taps {
	struct signals *signals;
	uint32_t listening[UNC_COUNT]; /* bit n: tap n */
	struct uncore_tap taps[UNCORE_TAPS];
	uint64_t closed;               /* uncore cycle */
	uint64_t (*total)[UNITS];      /* [UNC_COUNT]; NULL until one is needed */
	uint16_t wanted[UNC_COUNT];    /* number of counters that need the total */
};

struct uncore_taps {
	const struct machine *m;
	struct memory *memory;
	struct uncore_tap_env env;
	uint64_t bus_locks;
	bool watching;
	unsigned sockets;
	struct socket_taps socket[SOCKETS_MAX];
};

_Static_assert(UNCORE_TAPS <= TAPS_MAX && (unsigned)UNCORE_TAPS <= (unsigned)SIG_COUNT, "a tap is a signal and a tap of signal.c");

static size_t taps_bytes(void) { return (sizeof(struct uncore_taps) + 63) & ~(size_t)63; }
static size_t one_bytes(void) { return (signals_bytes() + 63) & ~(size_t)63; }

size_t uncore_taps_bytes(void) { return taps_bytes() + SOCKETS_MAX * one_bytes(); }

uint64_t uncore_taps_now(const struct uncore_taps *t)
{
	return memory_uncore_cycle(t->memory, t->env.now(t->env.self));
}

uint64_t uncore_taps_bus_locks(const struct uncore_taps *t) { return t->bus_locks; }

static void close_until_now(struct uncore_taps *t, struct socket_taps *k)
{
	const uint64_t now = uncore_taps_now(t);
	if (now <= k->closed)
		return;
	signal_close(k->signals, now);
	k->closed = now;
}

static bool units_heard(const struct uncore_tap *p, enum uncore_signal sig, unsigned unit)
{
	for (unsigned i = 0; i < p->term_count; i++)
		if (p->terms[i].signal == sig && (p->terms[i].units >> (unit & 31) & 1))
			return true;
	return false;
}

static void hear_pulse(void *self, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t cycle, unsigned n)
{
	struct uncore_taps *t = self;
	if (sig == UNC_BUS_LOCK) {
		t->bus_locks += n;
		return;
	}
	struct socket_taps *k = &t->socket[socket];
	if (k->wanted[sig])
		k->total[sig][unit % UNITS] += n;
	if (!k->listening[sig])
		return;
	if (cycle > k->closed + CLOSE_EVERY)
		close_until_now(t, k);
	for (uint32_t bits = k->listening[sig]; bits; bits &= bits - 1) {
		const unsigned i = (unsigned)__builtin_ctz(bits);
		if (units_heard(&k->taps[i], sig, unit))
			signal_pulse_heard(k->signals, (enum signal)i, cycle, n);
	}
}

static void hear_level(void *self, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t from, uint64_t to, unsigned n)
{
	struct uncore_taps *t = self;
	struct socket_taps *k = &t->socket[socket];
	if (k->wanted[sig])
		k->total[sig][unit % UNITS] += (to - from) * n;
	if (!k->listening[sig])
		return;
	if (from > k->closed + CLOSE_EVERY)
		close_until_now(t, k);
	for (uint32_t bits = k->listening[sig]; bits; bits &= bits - 1) {
		const unsigned i = (unsigned)__builtin_ctz(bits);
		if (units_heard(&k->taps[i], sig, unit))
			signal_level_heard(k->signals, (enum signal)i, from, to, n);
	}
}

/* The memory reports only what a tap subscribes to, and bus locks. */
static void tell_memory(struct uncore_taps *t)
{
	struct uncore_sink sink = { .self = t, .pulse = hear_pulse, .level = hear_level };
	bool any = t->watching;
	for (unsigned g = 0; g < UNC_COUNT; g++)
		for (unsigned s = 0; s < t->sockets; s++)
			if (t->socket[s].listening[g] || t->socket[s].wanted[g]) {
				sink.listen[g / 64] |= 1ull << g % 64;
				any = true;
			}
	sink.listen[UNC_BUS_LOCK / 64] |= 1ull << UNC_BUS_LOCK % 64;
	memory_uncore(t->memory, any ? &sink : NULL);
}

void uncore_taps_watch_locks(struct uncore_taps *t)
{
	t->watching = true;
	tell_memory(t);
}

struct uncore_taps *uncore_taps_init(void *at, const struct machine *m, struct memory *memory, const struct uncore_tap_env *env)
{
	struct uncore_taps *t = at;
	memset(t, 0, sizeof(*t));
	t->m = m;
	t->memory = memory;
	t->env = *env;
	t->sockets = m->topology_sockets < SOCKETS_MAX ? (unsigned)m->topology_sockets : SOCKETS_MAX;
	for (unsigned s = 0; s < t->sockets; s++)
		t->socket[s].signals = signals_init((uint8_t *)at + taps_bytes() + s * one_bytes());
	return t;
}

void uncore_taps_close(struct uncore_taps *t)
{
	memory_uncore(t->memory, NULL);
	for (unsigned s = 0; s < t->sockets; s++)
		signals_detach(t->socket[s].signals);
	for (unsigned s = 0; s < t->sockets; s++)
		if (t->socket[s].total)
			t->env.put(t->env.self, t->socket[s].total, TOTAL_BYTES);
}

enum status uncore_total_want(struct uncore_taps *t, unsigned socket, enum uncore_signal sig, int change)
{
	struct socket_taps *k = &t->socket[socket];
	if (socket >= t->sockets)
		return ST_RANGE;
	if (!k->total)
		k->total = t->env.get(t->env.self, TOTAL_BYTES);
	if (!k->total)
		return ST_FULL;
	const bool before = k->wanted[sig];
	k->wanted[sig] = (uint16_t)(k->wanted[sig] + change);
	if (before != (k->wanted[sig] != 0))
		tell_memory(t);
	return ST_OK;
}

uint64_t uncore_total(const struct uncore_taps *t, unsigned socket, enum uncore_signal sig, uint32_t units)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < UNITS && t->socket[socket].total; i++)
		if (units >> i & 1)
			sum += t->socket[socket].total[sig][i];
	return sum;
}

enum status uncore_tap_set(struct uncore_taps *t, unsigned socket, unsigned n, const struct uncore_tap *tap)
{
	struct socket_taps *k = &t->socket[socket];
	if (socket >= t->sockets || n >= UNCORE_TAPS)
		return ST_RANGE;
	if (tap && !signals_attached(k->signals)) {
		const struct signal_room room = { t->env.self, t->env.get, t->env.put };
		signals_attach_room(k->signals, &room);
	}
	close_until_now(t, k);
	for (unsigned g = 0; g < UNC_COUNT; g++)
		k->listening[g] &= ~(1u << n);
	if (!tap) {
		signals_tap(k->signals, n, NULL);
	} else {
		struct tap below = { .on = true, .cmask = tap->cmask, .inv = tap->inv, .edge = tap->edge };
		below.listen[n / 64] = 1ull << n % 64;
		k->taps[n] = *tap;
		for (unsigned i = 0; i < tap->term_count; i++)
			k->listening[tap->terms[i].signal] |= 1u << n;
		signals_tap(k->signals, n, &below);
	}
	tell_memory(t);
	return signals_starved(k->signals) ? ST_FULL : ST_OK;
}

uint64_t uncore_tap_value(struct uncore_taps *t, unsigned socket, unsigned n)
{
	struct socket_taps *k = &t->socket[socket];
	close_until_now(t, k);
	return signals_tap_get(k->signals, n)->value;
}
