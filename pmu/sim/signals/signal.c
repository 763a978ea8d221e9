/* pmu/sim/signals/signal.c: taps on per-cycle activity; signal.h explains taps.
 *
 * Plain taps are summed by signal; the sums are distributed when taps change or are read. Every other tap has a lane (lane.h).
 *
 * Not modelled: cycles SIGNAL_RING or more after the oldest open one; what happens there is counted in the last. */
#include "pmu/sim/signals/lane.h"

/* The taps of a signal. */
struct route {
	uint32_t plain;  /* bit t: tap t is plain */
	uint32_t bits;   /* bit t: tap t needs the cycles in which anything happens */
	uint32_t counts; /* bit t: tap t needs the count of each cycle */
};

struct signals_all {
	struct signals head;
	struct route routes[SIG_COUNT];
	uint32_t bits_on, counts_on; /* bit t: tap t has a lane to be closed */
	uint32_t awake_on;           /* bit t: ... and counts only while certain threads are awake */
	uint32_t subscribed[2];           /* of a pair: bit t: tap t subscribes to that thread */
	bool attached, starved;
	struct signal_room room;
	struct lane lanes[TAPS_MAX];
	struct tap taps[TAPS_MAX];
	struct tap_state state[TAPS_MAX];
};

static struct signals_all *all(struct signals *s) { return (struct signals_all *)s; }

size_t signals_bytes(void) { return sizeof(struct signals_all); }
struct signals *signals_init(void *memory)
{
	memset(memory, 0, sizeof(struct signals_all));
	return memory;
}

bool signals_attached(const struct signals *s) { return ((const struct signals_all *)s)->attached; }
bool signals_starved(const struct signals *s) { return ((const struct signals_all *)s)->starved; }

bool signals_any(const struct signals *s)
{
	uint64_t any = 0;
	for (unsigned w = 0; w < SIGNAL_WORDS; w++)
		any |= s->listening[w];
	return any != 0;
}

static bool is_plain(const struct tap *t) { return !t->cmask && !t->edge && !t->from && !t->awake; }
/* Whether it needs the count of each cycle. */
static bool is_deep(const struct tap *t) { return !is_plain(t) && (t->cmask > 1 || lane_adds(t)); }

/* Distributes the sums to the plain taps. */
static void hand_out(struct signals_all *a)
{
	for (unsigned w = 0; w < SIGNAL_WORDS; w++)
		for (uint64_t left = a->head.listening[w]; left; left &= left - 1) {
			const unsigned g = w * 64 + (unsigned)__builtin_ctzll(left);
			const uint64_t sum = a->head.subscriber[g].sum;
			a->head.subscriber[g].sum = 0;
			if (!sum)
				continue;
			for (uint32_t bits = a->routes[g].plain; bits; bits &= bits - 1)
				a->taps[__builtin_ctz(bits)].value += sum;
		}
}

/* Selects the signals that take the fast path. */
static void choose_ways(struct signals_all *a)
{
	a->head.version++;
	memset(a->head.listening, 0, sizeof(a->head.listening));
	uint64_t called[SIGNAL_WORDS] = { 0 }, seldom = 0; /* called: signal.c must see each pulse; the others need only a
	                                                      sum and bits */
	for (unsigned g = 0; g < SIG_COUNT; g++) {
		const struct route *r = &a->routes[g];
		const uint64_t bit = 1ull << (g % 64);
		const bool one = r->bits && !(r->bits & (r->bits - 1));
		a->head.subscriber[g].bits = a->attached && one ? a->lanes[__builtin_ctz(r->bits)].active : NULL;
		if (r->plain | r->bits | r->counts)
			a->head.listening[g / 64] |= bit;
		if (r->counts || (r->bits && !one))
			called[g / 64] |= bit;
	}
	for (unsigned w = 0; a->head.both && w < SIGNAL_WORDS; w++) {
		a->head.listening[w] |= a->head.both->listening[w];
		called[w] |= a->head.both->listening[w];
	}
	for (unsigned w = 0; w < SIGNAL_WORDS; w++)
		seldom |= a->head.listening[w] & a->head.seldom[w];
	a->head.any_seldom = seldom != 0;
	a->head.any_lines = signal_subscribed_any(&a->head, SIG_L1D_REPLACED, SIG_L3_MISS) ||
		signal_subscribed_any(&a->head, SIG_L1D_REPLACED_MODIFIED, (enum signal)(SIG_COUNT - 1));
	for (unsigned g = 0; g < SIG_COUNT; g++) {
		struct signal_subscriber *h = &a->head.subscriber[g];
		if (called[g / 64] >> (g % 64) & 1)
			h->bits = NULL;
		h->near = h->bits ? SIGNAL_RING : 0;
		h->more = h->bits || called[g / 64] >> (g % 64) & 1;
	}
	for (unsigned i = 0; a->head.half[0] && i < 2; i++)
		choose_ways(all(a->head.half[i]));
}

void signals_seldom(struct signals *s, const uint64_t seldom[SIGNAL_WORDS])
{
	memcpy(s->seldom, seldom, sizeof(s->seldom));
	choose_ways(all(s));
}

void signals_pair(struct signals *both, struct signals *one, struct signals *other)
{
	both->half[0] = one;
	both->half[1] = other;
	one->both = other->both = both;
	one->asleep = other->asleep = true;
}

static void *room_get(struct signals_all *a, size_t bytes)
{
	void *at = a->room.get ? a->room.get(a->room.self, bytes) : NULL;
	a->starved |= !at;
	return at;
}

/* Whether a tap that is not plain has the memory that it needs. */
static bool has_room(struct signals_all *a, unsigned t)
{
	struct lane *l = &a->lanes[t];
	if (!l->active)
		l->active = room_get(a, LANE_BITS_BYTES);
	const bool deep = is_deep(&a->taps[t]);
	if (!l->at && deep)
		l->at = room_get(a, LANE_COUNTS_BYTES);
	return l->active && (l->at || !deep);
}

/* Discards what a tap that is set anew has seen in open cycles. */
static void forget_open_cycles(struct signals_all *a, unsigned t)
{
	hand_out(a);
	if (a->attached && a->lanes[t].active && (a->bits_on | a->counts_on) >> t & 1)
		lane_clear(&a->lanes[t], a->counts_on >> t & 1);
}

static void set_tap(struct signals_all *a, unsigned t, const struct tap *tap)
{
	struct signals *const s = &a->head;
	forget_open_cycles(a, t);
	a->bits_on &= ~(1u << t);
	a->counts_on &= ~(1u << t);
	a->awake_on &= ~(1u << t);
	a->taps[t] = tap ? *tap : (struct tap){ .on = false };
	tap = &a->taps[t];
	const bool subscribed = tap->on && (is_plain(tap) || !a->attached || has_room(a, t));
	a->state[t] = (struct tap_state){ .least = tap->cmask ? tap->cmask : 1 };
	for (unsigned g = 0; g < SIG_COUNT; g++) {
		struct route *r = &a->routes[g];
		if (!signal_subscribed(s, (enum signal)g))
			s->subscriber[g].sum = 0;
		r->plain &= ~(1u << t);
		r->bits &= ~(1u << t);
		r->counts &= ~(1u << t);
		if (subscribed && tap->listen[g / 64] >> (g % 64) & 1)
			*(is_plain(tap) ? &r->plain : is_deep(tap) ? &r->counts : &r->bits) |= 1u << t;
	}
	if (subscribed && !is_plain(tap)) {
		*(is_deep(tap) ? &a->counts_on : &a->bits_on) |= 1u << t;
		a->awake_on |= (uint32_t)(tap->awake != 0) << t;
	}
	for (unsigned i = 0; i < 2; i++)
		a->subscribed[i] = (a->subscribed[i] & ~(1u << t)) | (uint32_t)(!tap->from || tap->from >> i & 1) << t;
	choose_ways(a);
}

void signals_attach_room(struct signals *s, const struct signal_room *room)
{
	struct signals_all *a = all(s);
	a->room = *room;
	a->attached = true;
	for (unsigned t = 0; t < TAPS_MAX; t++) { /* those that were set before */
		const struct tap tap = a->taps[t];
		if (tap.on && !is_plain(&tap))
			set_tap(a, t, &tap);
	}
	choose_ways(a);
}

void signals_detach(struct signals *s)
{
	struct signals_all *a = all(s);
	if (!a->attached)
		return;
	for (unsigned t = 0; t < TAPS_MAX; t++)
		signals_tap(s, t, NULL);
	for (unsigned t = 0; t < TAPS_MAX && a->room.put; t++) {
		if (a->lanes[t].active)
			a->room.put(a->room.self, a->lanes[t].active, LANE_BITS_BYTES);
		if (a->lanes[t].at)
			a->room.put(a->room.self, a->lanes[t].at, LANE_COUNTS_BYTES);
	}
	memset(a->lanes, 0, sizeof(a->lanes));
	a->attached = false;
	choose_ways(a);
}

/* Whether both subscribe to the same signals and count them alike. */
static bool is_same(const struct tap *a, const struct tap *b)
{
	return a->on == b->on && a->cmask == b->cmask && a->inv == b->inv && a->exact == b->exact && a->beyond == b->beyond && a->edge == b->edge &&
		a->from == b->from && a->awake == b->awake && !memcmp(a->listen, b->listen, sizeof(a->listen));
}

void signals_tap(struct signals *s, unsigned t, const struct tap *tap)
{
	struct signals_all *a = all(s);
	if (t >= TAPS_MAX || (!a->taps[t].on && !(tap && tap->on)))
		return;
	if (!tap || !is_same(&a->taps[t], tap)) {
		set_tap(a, t, tap);
		return;
	}
	/* the common case: a write to one counter programs all taps */
	forget_open_cycles(a, t);
	a->taps[t] = *tap;
	a->state[t] = (struct tap_state){ .least = tap->cmask ? tap->cmask : 1 };
}

struct tap *signals_tap_get(struct signals *s, unsigned t)
{
	if (t >= TAPS_MAX)
		return NULL;
	hand_out(all(s));
	return &all(s)->taps[t];
}

/* The cycle, clipped to the open ones. */
static uint64_t brought_in(const struct signals_all *a, uint64_t cycle)
{
	if (cycle < a->head.open)
		return a->head.open;
	return cycle - a->head.open >= SIGNAL_RING ? a->head.open + SIGNAL_RING - 1 : cycle;
}

/* The taps of the pair that subscribe to a thread. */
static uint32_t pair_hears(const struct signals *half)
{
	return ((const struct signals_all *)half->both)->subscribed[half->both->half[1] == half];
}

static void pulse_to(struct signals_all *a, enum signal sig, uint64_t cycle, unsigned n, uint32_t taps)
{
	const uint32_t counts = a->routes[sig].counts & taps, any = counts | (a->routes[sig].bits & taps);
	a->head.subscriber[sig].sum += n;
	if (!a->attached || !n || !any)
		return;
	const unsigned i = brought_in(a, cycle) & RING_MASK;
	for (uint32_t bits = any; bits; bits &= bits - 1)
		a->lanes[__builtin_ctz(bits)].active[i / 64] |= 1ull << (i % 64);
	for (uint32_t bits = counts; bits; bits &= bits - 1)
		a->lanes[__builtin_ctz(bits)].at[i].pulses += (int16_t)n;
}

static void note(struct signal_tape *t, const struct signal_emission *one)
{
	if (t->count < t->most)
		t->emitted[t->count] = *one;
	t->count++;
}

void signals_note(struct signals *s, const struct signals *like, struct signal_tape *tape)
{
	memset(s, 0, sizeof(*s));
	memcpy(s->listening, like->listening, sizeof(s->listening));
	s->open = like->open;
	s->tape = tape;
	for (unsigned g = 0; g < SIG_COUNT; g++)
		s->subscriber[g].more = signal_subscribed(s, (enum signal)g);
}

void signal_pulse_deliver(struct signals *s, enum signal sig, uint64_t cycle, unsigned n)
{
	if (s->tape) {
		note(s->tape, &(struct signal_emission){ .from = cycle, .n = n, .sig = (uint8_t)sig });
		return;
	}
	pulse_to(all(s), sig, cycle, n, ~0u);
	if (s->both && signal_subscribed(s->both, sig))
		pulse_to(all(s->both), sig, cycle, n, pair_hears(s));
}

static void level_to(struct signals_all *a, enum signal sig, uint64_t from, uint64_t to, unsigned n, uint32_t taps)
{
	const uint32_t some = a->routes[sig].bits & taps, counts = a->routes[sig].counts & taps;
	a->head.subscriber[sig].sum += (to - from) * n;
	if (!a->attached || !n || !(some | counts))
		return;
	from = brought_in(a, from);
	to = brought_in(a, to);
	if (from == to)
		return;
	for (uint32_t bits = some; bits; bits &= bits - 1)
		lane_set(&a->lanes[__builtin_ctz(bits)], from, to);
	const unsigned i = from & RING_MASK, j = to & RING_MASK;
	for (uint32_t bits = counts; bits; bits &= bits - 1) {
		struct lane *l = &a->lanes[__builtin_ctz(bits)];
		l->at[i].change += (int16_t)n;
		l->at[j].change -= (int16_t)n;
		l->active[i / 64] |= 1ull << (i % 64);
		l->active[j / 64] |= 1ull << (j % 64);
	}
}

void signal_level_deliver(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n)
{
	if (to <= from)
		return;
	if (s->tape) {
		note(s->tape, &(struct signal_emission){ from, to, n, (uint8_t)sig, true });
		return;
	}
	level_to(all(s), sig, from, to, n, ~0u);
	if (s->both && signal_subscribed(s->both, sig))
		level_to(all(s->both), sig, from, to, n, pair_hears(s));
}

static const struct signals *other_half(const struct signals *s)
{
	return s->both->half[s->both->half[0] == s];
}

/* Closes the lanes of these taps up to `to`; `quiet` ones do not count. */
static void lanes_close(struct signals_all *a, uint64_t to, uint32_t taps, uint32_t quiet)
{
	for (uint32_t bits = a->attached ? (a->bits_on | a->counts_on) & taps : 0; bits; bits &= bits - 1) {
		const unsigned t = (unsigned)__builtin_ctz(bits);
		const uint64_t value = a->taps[t].value;
		(a->counts_on >> t & 1 ? lane_close_counts : lane_close_bits)(&a->lanes[t], &a->taps[t], &a->state[t], a->head.open, to);
		if (quiet >> t & 1) {
			a->taps[t].value = value;
			a->state[t].before = false;
		}
	}
}

/* Which of a pair's threads are awake in a cycle, one bit each; lowers *until to the cycle up to which that holds. */
static unsigned awake_in(const struct signals *both, uint64_t cycle, uint64_t *until)
{
	unsigned awake = 0;
	for (unsigned i = 0; i < 2; i++) {
		const struct signals *h = both->half[i];
		if (h->woke > cycle)
			*until = h->woke < *until ? h->woke : *until;
		else if (!h->asleep || h->slept > cycle)
			awake |= 1u << i;
		if (h->asleep && h->slept > cycle)
			*until = h->slept < *until ? h->slept : *until;
	}
	return awake;
}

/* Of the taps that count only while certain threads are awake, those that do not count in this state. */
static uint32_t quiet_in(const struct signals_all *a, unsigned awake)
{
	uint32_t quiet = 0;
	for (uint32_t bits = a->awake_on; bits; bits &= bits - 1) {
		const unsigned t = (unsigned)__builtin_ctz(bits);
		quiet |= (uint32_t)!(a->taps[t].awake >> awake & 1) << t;
	}
	return quiet;
}

void signal_close(struct signals *s, uint64_t cycle)
{
	struct signals_all *a = all(s);
	if (cycle <= s->open)
		return;
	while (a->awake_on && s->open < cycle) {
		uint64_t until = cycle;
		const uint32_t quiet = quiet_in(a, awake_in(s, s->open, &until));
		lanes_close(a, until, ~0u, quiet);
		s->open = until;
	}
	if (s->open < cycle)
		lanes_close(a, cycle, ~0u, 0);
	s->open = cycle;
	if (s->both) {
		const struct signals *o = other_half(s);
		signal_close(s->both, o->asleep || o->open > cycle ? cycle : o->open);
	}
}

void signal_idle(struct signals *both, uint64_t cycle)
{
	struct signals_all *a = all(both);
	if (!both->half[0]->asleep || !both->half[1]->asleep || cycle <= both->open || !a->attached)
		return;
	lanes_close(a, cycle, a->awake_on, quiet_in(a, 0));
	for (uint32_t bits = (a->bits_on | a->counts_on) & ~a->awake_on; bits; bits &= bits - 1) {
		const unsigned t = (unsigned)__builtin_ctz(bits);
		lane_clear(&a->lanes[t], a->counts_on >> t & 1);
		a->state[t].before = false;
	}
	both->open = cycle;
}

void signal_sleep(struct signals *s)
{
	s->asleep = true;
	s->slept = s->open;
	if (s->both && other_half(s)->asleep)
		signal_close(s->both, s->open > other_half(s)->open ? s->open : other_half(s)->open);
}

void signal_skip(struct signals *s, uint64_t cycle)
{
	struct signals_all *a = all(s);
	for (uint32_t bits = a->attached ? a->bits_on | a->counts_on : 0; bits; bits &= bits - 1) {
		const unsigned t = (unsigned)__builtin_ctz(bits);
		lane_clear(&a->lanes[t], a->counts_on >> t & 1);
		a->state[t].level = 0;
		a->state[t].before = a->state[t].before && cycle == s->open;
	}
	if (cycle > s->open)
		s->open = cycle;
	if (s->both && other_half(s)->asleep) {
		if (s->asleep)
			signal_idle(s->both, cycle);
		signal_skip(s->both, cycle);
	}
	if (s->asleep)
		s->woke = s->open;
	s->asleep = false;
}
