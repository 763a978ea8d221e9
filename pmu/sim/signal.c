/* pmu/sim/signal.c: taps on per-cycle activity. See signal.h for what a tap means.
 *
 * A plain tap's value is added to at once. Every other tap has a lane: a ring of cycles, each with
 * what was pulsed in it and by how much the level changes at it, and a bitmap of the cycles that
 * have either. Closing walks the bitmap, so stretches without a change cost one step per 64 cycles. */
#include "pmu/sim/signal.h"

#define RING_MASK (SIGNAL_RING - 1)

struct lane_cycle { int16_t pulses, change; };

struct lane {
	struct lane_cycle at[SIGNAL_RING];
	uint64_t active[SIGNAL_RING / 64];
};

struct tap_state {
	int32_t level;    /* after the last closed cycle */
	int32_t least;    /* condition: count >= least */
	bool before;      /* the condition in the last closed cycle */
};

/* Who listens to a signal. */
struct route {
	uint32_t plain;  /* bit t: tap t just adds */
	uint32_t cyclic; /* bit t: tap t wants to know the cycle */
};

struct signals_all {
	struct signals head;
	struct route routes[SIG_COUNT];
	uint32_t lanes_on;          /* bit t: tap t has something in its lane to close */
	uint64_t open;              /* oldest cycle that is not closed */
	struct lane *lanes;
	struct tap taps[TAPS_MAX];
	struct tap_state state[TAPS_MAX];
};

static struct signals_all *all(struct signals *s) { return (struct signals_all *)s; }

size_t signals_bytes(void) { return sizeof(struct signals_all); }
size_t signals_ring_bytes(void) { return TAPS_MAX * sizeof(struct lane); }

struct signals *signals_init(void *memory)
{
	memset(memory, 0, sizeof(struct signals_all));
	return memory;
}

void signals_attach(struct signals *s, void *ring) { all(s)->lanes = ring; }
bool signals_attached(const struct signals *s) { return ((const struct signals_all *)s)->lanes != NULL; }

static bool is_plain(const struct tap *t) { return !t->cmask && !t->edge; }

/* Empties a lane: open cycles only can hold anything, but a tap may be replaced when all are open. */
static void lane_clear(struct lane *l)
{
	for (unsigned w = 0; w < COUNT_OF(l->active); w++) {
		uint64_t bits = l->active[w];
		for (; bits; bits &= bits - 1)
			l->at[w * 64 + (unsigned)__builtin_ctzll(bits)] = (struct lane_cycle){ 0, 0 };
		l->active[w] = 0;
	}
}

void signals_tap(struct signals *s, unsigned t, const struct tap *tap)
{
	struct signals_all *a = all(s);
	if (t >= TAPS_MAX)
		return;
	if (a->lanes && a->lanes_on >> t & 1)
		lane_clear(&a->lanes[t]);
	a->lanes_on &= ~(1u << t);
	a->taps[t] = tap ? *tap : (struct tap){ .on = false };
	tap = &a->taps[t];
	a->state[t] = (struct tap_state){ .least = tap->cmask ? tap->cmask : 1 };
	memset(a->head.listening, 0, sizeof(a->head.listening));
	for (unsigned g = 0; g < SIG_COUNT; g++) {
		bool heard = tap->on && tap->listen[g / 64] >> (g % 64) & 1;
		a->routes[g].plain &= ~(1u << t);
		a->routes[g].cyclic &= ~(1u << t);
		if (heard)
			*(is_plain(tap) ? &a->routes[g].plain : &a->routes[g].cyclic) |= 1u << t;
		if (a->routes[g].plain | a->routes[g].cyclic)
			a->head.listening[g / 64] |= 1ull << (g % 64);
	}
	if (tap->on && !is_plain(tap))
		a->lanes_on |= 1u << t;
}

struct tap *signals_tap_get(struct signals *s, unsigned t) { return t < TAPS_MAX ? &all(s)->taps[t] : NULL; }

/* The cycle's place in the ring, brought into the open stretch. */
static unsigned place(const struct signals_all *a, uint64_t cycle)
{
	if (cycle < a->open)
		cycle = a->open;
	else if (cycle - a->open >= SIGNAL_RING)
		cycle = a->open + SIGNAL_RING - 1;
	return cycle & RING_MASK;
}

void signal_pulse_heard(struct signals *s, enum signal sig, uint64_t cycle, unsigned n)
{
	struct signals_all *a = all(s);
	for (uint32_t bits = a->routes[sig].plain; bits; bits &= bits - 1)
		a->taps[__builtin_ctz(bits)].value += n;
	if (!a->lanes || !a->routes[sig].cyclic)
		return;
	unsigned i = place(a, cycle);
	uint32_t bits = a->routes[sig].cyclic;
	do {
		struct lane *l = &a->lanes[__builtin_ctz(bits)];
		l->at[i].pulses += (int16_t)n;
		l->active[i / 64] |= 1ull << (i % 64);
		bits &= bits - 1;
	} while (bits);
}

void signal_level_heard(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n)
{
	struct signals_all *a = all(s);
	if (to <= from)
		return;
	for (uint32_t bits = a->routes[sig].plain; bits; bits &= bits - 1)
		a->taps[__builtin_ctz(bits)].value += (to - from) * n;
	if (!a->lanes || !a->routes[sig].cyclic)
		return;
	unsigned i = place(a, from), j = place(a, to);
	if (i == j)
		return;
	for (uint32_t bits = a->routes[sig].cyclic; bits; bits &= bits - 1) {
		struct lane *l = &a->lanes[__builtin_ctz(bits)];
		l->at[i].change += (int16_t)n;
		l->at[j].change -= (int16_t)n;
		l->active[i / 64] |= 1ull << (i % 64);
		l->active[j / 64] |= 1ull << (j % 64);
	}
}

static void lane_close(struct lane *l, struct tap *tap, struct tap_state *state, uint64_t from, uint64_t to)
{
	int32_t level = state->level, least = state->least;
	bool before = state->before, inv = tap->cmask && tap->inv, edge = tap->edge;
	uint64_t value = 0;
	while (from < to) {
		unsigned i = from & RING_MASK;
		uint64_t bits = l->active[i / 64] >> (i % 64);
		uint64_t idle = bits ? (unsigned)__builtin_ctzll(bits) : 64 - i % 64;
		if (idle) {
			bool now = (level >= least) != inv;
			if (idle > to - from)
				idle = to - from;
			if (now)
				value += !edge ? idle : !before;
			before = now;
			from += idle;
			continue;
		}
		level += l->at[i].change;
		bool now = (level + l->at[i].pulses >= least) != inv;
		l->at[i] = (struct lane_cycle){ 0, 0 };
		l->active[i / 64] &= ~(1ull << (i % 64));
		value += now && !(edge && before);
		before = now;
		from++;
	}
	tap->value += value;
	state->level = level;
	state->before = before;
}

void signal_close(struct signals *s, uint64_t cycle)
{
	struct signals_all *a = all(s);
	if (cycle <= a->open)
		return;
	if (a->lanes) {
		for (uint32_t bits = a->lanes_on; bits; bits &= bits - 1) {
			unsigned t = (unsigned)__builtin_ctz(bits);
			lane_close(&a->lanes[t], &a->taps[t], &a->state[t], a->open, cycle);
		}
	}
	a->open = cycle;
}

void signal_skip(struct signals *s, uint64_t cycle)
{
	struct signals_all *a = all(s);
	if (a->lanes) {
		for (uint32_t bits = a->lanes_on; bits; bits &= bits - 1) {
			unsigned t = (unsigned)__builtin_ctz(bits);
			lane_clear(&a->lanes[t]);
			a->state[t].level = 0;
			a->state[t].before = false;
		}
	}
	if (cycle > a->open)
		a->open = cycle;
}
