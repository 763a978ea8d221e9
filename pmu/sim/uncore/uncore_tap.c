/* pmu/sim/uncore/uncore_tap.c: sums of what uncore boxes watch; thresholds use the rings of signal.c, where a watch is a signal
 * of its own.
 *
 * Subscriptions are listed by signal and unit, so that an occurrence costs only its own watches.
 *
 * Cycles are closed up to the slowest running core's clock, which no later request can precede. Work that is delayed for
 * more than SIGNAL_RING uncore cycles (writes to a channel that is never free) is counted in the ring's last cycle, so that its
 * sum is right, but not its cmask.
 *
 * Not modelled: different clocks of a socket's boxes. */
#include "pmu/sim/uncore/uncore_tap.h"
#include "pmu/sim/signals/signal.h"
#include "pmu/sim/memory/memory_state.h"
#include "pmu/sim/memory/uncore_traffic.h"

#define SOCKETS_MAX 16   /* with several complexes, each counts as one */
#define CLOSE_EVERY 4096 /* uncore cycles */
#define WATCHES 256      /* of a socket: four counters of each of its boxes */
#define BANK 16          /* watches with a threshold that share a struct signals */
#define BANKS (WATCHES / BANK)
#define RANK_BANKS 16    /* of DDR4 */
#define NODES 32768
#define NONE 0           /* a node's number: end of a list */
#define NO_RING 0xFFFF

struct node { uint16_t next; uint8_t watch, part; };
struct watched {
	struct uncore_watch w;
	uint64_t value;
	uint16_t ring;         /* bank * BANK + signal there; NO_RING: no threshold */
	bool on;
};
struct watches { /* allocated with the first watch */
	struct watched at[WATCHES];
	uint16_t head[UNC_COUNT][UNCORE_UNITS];
	struct node nodes[NODES];
	uint16_t free_node;     /* list of free ones */
	uint16_t subscribed[UNC_COUNT]; /* number of parts that need the signal */
	uint16_t ring_used[BANKS];
	struct signals *bank[BANKS];
};

struct socket_taps {
	struct watches *watches;
	uint64_t closed;        /* uncore cycle */
};

struct uncore_taps {
	const struct machine *m;
	struct memory *memory;
	struct uncore_tap_env env;
	uint64_t bus_locks;
	bool watching;
	void (*refresh)(void *self, uint64_t now); /* NULL: none */
	void *refresh_self;
	uint64_t device_at;     /* core cycle of a device's next request */
	unsigned sockets;
	struct socket_taps socket[SOCKETS_MAX];
};

_Static_assert(BANK <= TAPS_MAX && (unsigned)BANK <= (unsigned)SIG_COUNT && BANK <= 16, "a watch is a signal and a tap of signal.c");
_Static_assert(WATCHES <= 256 && NODES <= 65536, "numbers of a node");

static const bool is_level[UNC_COUNT] = {
#define PULSE false
#define LEVEL true
#define UNCORE_SIGNAL(name, kind, unit, what) [UNC_##name] = kind,
#include "pmu/sim/signals/uncore_signals.def"
#undef UNCORE_SIGNAL
#undef PULSE
#undef LEVEL
};

static size_t rounded(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

size_t uncore_taps_bytes(void) { return rounded(sizeof(struct uncore_taps)); }

uint64_t uncore_taps_now(const struct uncore_taps *t)
{
	return memory_uncore_cycle(t->memory, t->env.now(t->env.self));
}

uint64_t uncore_taps_bus_locks(const struct uncore_taps *t) { return t->bus_locks; }

bool uncore_watch_is_time(const struct uncore_watch *watch)
{
	return watch->cmask && !watch->beyond ? !watch->edge : watch->part_count && is_level[watch->parts[0].signal];
}

static void close_until_now(struct uncore_taps *t, struct socket_taps *k)
{
	const uint64_t now = uncore_taps_now(t);
	if (now <= k->closed || !k->watches)
		return;
	for (unsigned b = 0; b < BANKS; b++)
		if (k->watches->ring_used[b])
			signal_close(k->watches->bank[b], now);
	k->closed = now;
}

/* ---- delivery --------------------------------------------------------------------------------- */

static bool passes(const struct uncore_pass *f, const struct uncore_attributes *a)
{
	return !(f->by_opcode && a->opcode != f->opcode) && !(f->by_node && !(f->nodes >> a->node & 1)) && !(f->by_state && !(a->tags & f->states)) &&
	       !(f->by_thread && a->thread != f->thread) && !(f->by_line && (a->line ^ f->line) & f->line_mask) &&
	       !(f->by_match && ((a->match[0] ^ f->match[0]) & f->mask[0] || (a->match[1] ^ f->match[1]) & f->mask[1])) &&
	       !(f->by_region && (a->line & (NODE_LINES - 1)) / f->region_lines != f->region) &&
	       !(f->by_bank && (a->opcode / RANK_BANKS != f->rank || !(f->banks >> a->opcode % RANK_BANKS & 1)));
}

static void deliver(void *self, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t from, uint64_t to, unsigned n,
                 const struct uncore_attributes *about)
{
	struct uncore_taps *t = self;
	struct socket_taps *k = &t->socket[socket];
	struct watches *w = k->watches;
	if (sig == UNC_BUS_LOCK && !is_level[sig])
		t->bus_locks += n;
	if (!w)
		return;
	if (from > k->closed + CLOSE_EVERY)
		close_until_now(t, k);
	for (uint16_t i = w->head[sig][unit % UNCORE_UNITS]; i != NONE; i = w->nodes[i].next) {
		struct watched *x = &w->at[w->nodes[i].watch];
		const struct uncore_part *p = &x->w.parts[w->nodes[i].part];
		if ((about->tags & p->tags) != p->tags || !passes(&x->w.filter, about))
			continue;
		if (x->ring == NO_RING)
			x->value += (to > from ? to - from : 1) * n * p->times;
		else if (to > from)
			signal_level_deliver(w->bank[x->ring / BANK], (enum signal)(x->ring % BANK), from, to, n * p->times);
		else
			signal_pulse_deliver(w->bank[x->ring / BANK], (enum signal)(x->ring % BANK), from, n * p->times);
	}
}

/* Has the memory model report only what a watch subscribes to, and bus locks. */
static void emit_memory(struct uncore_taps *t)
{
	struct uncore_sink sink = { .self = t, .deliver = deliver };
	bool any = t->watching;
	for (unsigned s = 0; s < t->sockets; s++)
		for (unsigned g = 0; t->socket[s].watches && g < UNC_COUNT; g++)
			if (t->socket[s].watches->subscribed[g]) {
				sink.listen[g / 64] |= 1ull << g % 64;
				sink.traffic |= g >= UNCORE_TRAFFIC;
				any = true;
			}
	sink.listen[UNC_BUS_LOCK / 64] |= 1ull << UNC_BUS_LOCK % 64;
	memory_uncore(t->memory, any ? &sink : NULL);
}

void uncore_taps_watch_locks(struct uncore_taps *t)
{
	t->watching = true;
	emit_memory(t);
}

void uncore_taps_emit(struct uncore_taps *t, unsigned socket, unsigned unit, enum uncore_signal sig)
{
	static const struct uncore_attributes nothing;
	const uint64_t now = uncore_taps_now(t);
	if (t->socket[socket].watches)
		deliver(t, socket, unit, sig, now, now, 1, &nothing);
}

void uncore_taps_level(struct uncore_taps *t, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t from, uint64_t to, uint64_t tags)
{
	const struct uncore_attributes about = { .tags = tags };
	if (t->socket[socket].watches)
		deliver(t, socket, unit, sig, from, to, 1, &about);
}

void uncore_taps_refresh(struct uncore_taps *t, void (*refresh)(void *self, uint64_t now), void *self)
{
	t->refresh = refresh;
	t->refresh_self = self;
}

/* Reports the devices' requests since the last call. */
static void emit_devices(struct uncore_taps *t)
{
	const uint64_t now = t->env.now(t->env.self), period = t->m->uncore_device_cycles;
	uint64_t n = period ? t->device_at / period : 0;
	if (period && !t->memory->sink.deliver)
		n = (now + period - 1) / period;
	for (; period && n * period < now; n++)
		for (unsigned s = 0; s < t->sockets; s++)
			uncore_traffic_device(t->memory, s, n, n * period);
	t->device_at = n * period;
}

static void refresh(struct uncore_taps *t)
{
	emit_devices(t);
	uncore_traffic_refresh(t->memory, t->env.now(t->env.self));
	if (t->refresh)
		t->refresh(t->refresh_self, uncore_taps_now(t));
}

/* ---- set-up ----------------------------------------------------------------------------------- */

struct uncore_taps *uncore_taps_init(void *at, const struct machine *m, struct memory *memory, const struct uncore_tap_env *env)
{
	struct uncore_taps *t = at;
	memset(t, 0, sizeof(*t));
	t->m = m;
	t->memory = memory;
	t->env = *env;
	const uint64_t sockets = m->topology_sockets * m->topology_complexes;
	t->sockets = sockets < SOCKETS_MAX ? (unsigned)sockets : SOCKETS_MAX;
	return t;
}

void uncore_taps_close(struct uncore_taps *t)
{
	memory_uncore(t->memory, NULL);
	for (unsigned s = 0; s < t->sockets; s++) {
		struct watches *w = t->socket[s].watches;
		for (unsigned b = 0; w && b < BANKS; b++)
			if (w->bank[b]) {
				signals_detach(w->bank[b]);
				t->env.put(t->env.self, w->bank[b], rounded(signals_bytes()));
			}
		if (w)
			t->env.put(t->env.self, w, sizeof(*w));
		t->socket[s].watches = NULL;
	}
}

static bool room(struct uncore_taps *t, struct socket_taps *k)
{
	if (k->watches)
		return true;
	k->watches = t->env.get(t->env.self, sizeof(*k->watches));
	if (!k->watches)
		return false;
	for (unsigned i = 1; i + 1 < NODES; i++)
		k->watches->nodes[i].next = (uint16_t)(i + 1);
	k->watches->free_node = 1;
	return true;
}

/* Takes a ring for a threshold; NO_RING: no memory. */
static uint16_t take_ring(struct uncore_taps *t, struct watches *w, const struct uncore_watch *watch)
{
	for (unsigned b = 0; b < BANKS; b++) {
		if (w->ring_used[b] == 0xFFFF)
			continue;
		if (!w->bank[b]) {
			void *at = t->env.get(t->env.self, rounded(signals_bytes()));
			if (!at)
				return NO_RING;
			w->bank[b] = signals_init(at);
			const struct signal_room more = { t->env.self, t->env.get, t->env.put };
			signals_attach_room(w->bank[b], &more);
		}
		const unsigned n = (unsigned)__builtin_ctz(~(unsigned)w->ring_used[b]);
		struct tap below = { .on = true, .cmask = watch->cmask, .inv = watch->inv, .edge = watch->edge, .beyond = watch->beyond };
		if (!w->ring_used[b])
			signal_close(w->bank[b], uncore_taps_now(t));
		below.listen[0] = 1ull << n;
		signals_tap(w->bank[b], n, &below);
		if (signals_starved(w->bank[b]))
			return NO_RING;
		w->ring_used[b] |= (uint16_t)(1u << n);
		return (uint16_t)(b * BANK + n);
	}
	return NO_RING;
}

static bool subscribe(struct watches *w, unsigned number)
{
	const struct uncore_watch *x = &w->at[number].w;
	for (unsigned p = 0; p < x->part_count; p++) {
		w->subscribed[x->parts[p].signal]++;
		for (uint64_t left = x->parts[p].units; left; left &= left - 1) {
			uint16_t *head = &w->head[x->parts[p].signal][__builtin_ctzll(left)];
			const uint16_t i = w->free_node;
			if (!i)
				return false;
			w->free_node = w->nodes[i].next;
			w->nodes[i] = (struct node){ *head, (uint8_t)number, (uint8_t)p };
			*head = i;
		}
	}
	return true;
}

static void unsubscribe(struct watches *w, unsigned number)
{
	const struct uncore_watch *x = &w->at[number].w;
	for (unsigned p = 0; p < x->part_count; p++) {
		if (w->subscribed[x->parts[p].signal])
			w->subscribed[x->parts[p].signal]--;
		for (uint64_t left = x->parts[p].units; left; left &= left - 1) {
			uint16_t *at = &w->head[x->parts[p].signal][__builtin_ctzll(left)];
			while (*at != NONE) {
				const uint16_t i = *at;
				if (w->nodes[i].watch != number || w->nodes[i].part != p) {
					at = &w->nodes[i].next;
					continue;
				}
				*at = w->nodes[i].next;
				w->nodes[i].next = w->free_node;
				w->free_node = i;
			}
		}
	}
}

enum status uncore_watch_begin(struct uncore_taps *t, unsigned socket, const struct uncore_watch *watch, unsigned *number)
{
	struct socket_taps *k = &t->socket[socket];
	if (socket >= t->sockets)
		return ST_RANGE;
	if (!room(t, k))
		return ST_FULL;
	struct watches *w = k->watches;
	unsigned n = 0;
	while (n < WATCHES && w->at[n].on)
		n++;
	if (n == WATCHES)
		return ST_FULL;
	refresh(t);
	close_until_now(t, k);
	w->at[n] = (struct watched){ .w = *watch, .ring = NO_RING, .on = true };
	if (watch->cmask || watch->edge)
		w->at[n].ring = take_ring(t, w, watch);
	*number = n;
	if (((watch->cmask || watch->edge) && w->at[n].ring == NO_RING) || !subscribe(w, n)) {
		uncore_watch_end(t, socket, n);
		return ST_FULL;
	}
	emit_memory(t);
	return ST_OK;
}

void uncore_watch_end(struct uncore_taps *t, unsigned socket, unsigned number)
{
	struct watches *w = t->socket[socket].watches;
	struct watched *x = &w->at[number];
	unsubscribe(w, number);
	if (x->ring != NO_RING) {
		signals_tap(w->bank[x->ring / BANK], x->ring % BANK, NULL);
		w->ring_used[x->ring / BANK] &= (uint16_t)~(1u << x->ring % BANK);
	}
	x->on = false;
	emit_memory(t);
}

uint64_t uncore_watch_value(struct uncore_taps *t, unsigned socket, unsigned number)
{
	struct socket_taps *k = &t->socket[socket];
	struct watched *x = &k->watches->at[number];
	refresh(t);
	if (x->ring == NO_RING)
		return x->value;
	close_until_now(t, k);
	return signals_tap_get(k->watches->bank[x->ring / BANK], x->ring % BANK)->value;
}
