/* pmu/sim/memory/reservation.h: reservations of shared resources in time, with back-fill.
 *
 * Requests come in program order of each core, not in order of time. So nothing here is a
 * scalar "next free": a request takes the earliest time at or after its own at which the
 * resource is free, and a later one may fill a gap before it.
 *
 * Not modelled: a pool's limit is held against the time that a use is said to last; one that lasts longer may
 * overlap a full stretch behind that. */
#ifndef SIM_CALENDAR_H
#define SIM_CALENDAR_H

#include "pmu/base.h"

/* A number of equal entries (fill buffers, a queue, page walkers), each held for a while. */
struct pool_use { uint64_t from, to; uint32_t line; uint8_t source; };
/* Known from a search: from no cycle of from <= cycle < to on are fewer than `entries` held for so many cycles. */
struct pool_full { uint64_t from, to, cycles; uint32_t entries; };
#define POOL_FULL 4u
#define POOL_MARKS 128u
struct pool {
	uint32_t entries;      /* how many may be held at once */
	uint32_t history;      /* so many of the latest uses are remembered */
	size_t most_bytes;     /* from a use to the one that lies entries - 1 before it */
	struct pool_use *last; /* ascending by `to` up to here: from the end of this one on nothing is held */
	struct pool_use *settled; /* what follows is the state for the uses up to here, see pool_settle */
	uint64_t begun;        /* no use that is remembered begins later: from then on entries only become free */
	struct pool_use *use, *end; /* [POOL_ROOM * history]: when they are full the latest move to the beginning */
	uint64_t forgotten;    /* the latest end of a use that is remembered no more (its `to` is 0): nothing is known of the time before */
	struct pool_full full[POOL_FULL], solid; /* solid: in each cycle so many are held */
	uint64_t marks[POOL_MARKS]; /* by the line's lowest bits: when the last use for such a line ends, at the least */
};
#define POOL_ROOM 5u

/* The number of uses that a pool of so many entries remembers: a core's stores ask for lines a reorder buffer of waits
 * later than the loads behind them. `ahead`: so many requests at most have been made whose time has not come; a use that is
 * forgotten before it is over would let another in beyond the entries. */
#define POOL_HISTORY_MOST 2048u
static inline uint32_t pool_history(uint32_t entries, uint32_t ahead)
{
	uint32_t n = 32;
	while ((n < entries * 8 || n < ahead) && n < POOL_HISTORY_MOST)
		n *= 2;
	return n;
}

/* Bytes at `use` that pool_init wants. */
static inline size_t pool_bytes(uint32_t entries, uint32_t ahead) { return POOL_ROOM * pool_history(entries, ahead) * sizeof(struct pool_use); }
void pool_init(struct pool *p, uint32_t entries, uint32_t ahead, struct pool_use *use);

/* Whether from t on there is always an entry to be had. */
static inline bool pool_has_room(const struct pool *p, uint64_t t, uint32_t withheld)
{
	/* if the use that lies so many before the last one to end is over, an entry is free for good */
	return (p->last - (withheld + 1 < p->entries ? p->entries - 1 - withheld : 0))->to <= t;
}

/* The same with nothing withheld. */
static inline bool pool_has_any(const struct pool *p, uint64_t t)
{
	return ((const struct pool_use *)(const void *)((const uint8_t *)p->last - p->most_bytes))->to <= t;
}

/* What was added since is taken in: whoever goes through the uses, or asks what is known of them, wants it first. */
void pool_settle_some(struct pool *p);
static inline void pool_settle(struct pool *p)
{
	if (p->settled != p->last)
		pool_settle_some(p);
}

/* Whether n entries are known to be held in cycle t, of a settled pool. */
static inline bool pool_is_solid(const struct pool *p, uint64_t t, uint32_t n)
{
	return t < p->solid.to && t >= p->solid.from && t >= p->forgotten && n <= p->solid.entries;
}

/* From t on, the first cycle that is not known to be too early. */
static inline uint64_t pool_known(const struct pool *p, uint64_t t, uint64_t cycles, uint32_t n)
{
	if (pool_is_solid(p, t, n))
		t = p->solid.to;
	for (bool more = t >= p->forgotten; more;) {
		more = false;
		for (unsigned i = 0; i < POOL_FULL; i++) {
			const struct pool_full *f = &p->full[i];
			if (t < f->to && t >= f->from && cycles >= f->cycles && n <= f->entries) {
				t = f->to;
				more = true;
			}
		}
	}
	return t;
}

uint64_t pool_start_slow(struct pool *p, uint64_t t, uint64_t cycles, uint32_t n);

/* Whether n entries are held in cycle t: then pool_start gives a later one for any number of cycles. */
static inline bool pool_is_full_at(struct pool *p, uint64_t t, uint32_t n)
{
	pool_settle(p);
	if (pool_is_solid(p, t, n))
		return true;
	uint32_t held = 0;
	for (const struct pool_use *u = p->last; u->to > t; u--)
		if (u->from <= t && ++held == n) {
			p->solid = (struct pool_full){ t, u->to, 1, n }; /* none of these ends before */
			return true;
		}
	return false;
}

/* The earliest time >= t from which on fewer than entries - withheld are held for so many cycles, one at least. */
static inline uint64_t pool_start(struct pool *p, uint64_t t, uint64_t cycles, uint32_t withheld)
{
	return (withheld ? pool_has_room(p, t, withheld) : pool_has_any(p, t)) ? t : pool_start_slow(p, t, cycles, withheld + 1 < p->entries ? p->entries - withheld : 1);
}

/* Moves the uses to the beginning of their room. */
void pool_move(struct pool *p);
/* Moves back what ends later than the newest use, which stands last. */
void pool_sort_in(struct pool *p);
static inline void pool_add(struct pool *p, uint64_t from, uint64_t to, uint32_t line, uint8_t source)
{
	struct pool_use *u = ++p->last;
	u->from = from;
	u->to = to;
	u->line = line;
	u->source = source;
	if (__builtin_expect(to < u[-1].to, 0))
		pool_sort_in(p);
	if (__builtin_expect(u + 1 == p->end, 0))
		pool_move(p);
}

/* The same, and pool_find finds it. */
static inline void pool_add_found(struct pool *p, uint64_t from, uint64_t to, uint32_t line, uint8_t source)
{
	if (to > p->marks[line % POOL_MARKS])
		p->marks[line % POOL_MARKS] = to;
	pool_add(p, from, to, line, source);
}

/* The use for `line` that is not over at t, or NULL. */
static inline const struct pool_use *pool_find(struct pool *p, uint64_t t, uint32_t line)
{
	if (p->marks[line % POOL_MARKS] <= t)
		return NULL;
	pool_settle(p);
	for (const struct pool_use *u = p->last; u->to > t; u--)
		if (u->line == line)
			return u;
	return NULL;
}

/* A thing that serves one line a period (a DRAM channel, a link, a cache port): a ring of
 * slots of one period each. Slot k covers [k * period, (k + 1) * period). The slots that are remembered, and no others, have their
 * bits in the ring: what becomes a part of it is cleared when the oldest ones are forgotten. */
#define LANE_SLOTS 4096u
#define LANE_WORDS (LANE_SLOTS / 64)
struct lane {
	uint64_t from, cycles; /* a cycle in one of the slots that are remembered lies less than so many after `from`; 0 cycles: ask lane_take_late */
	uint64_t inverse; /* 2^79 / period, rounded up: t's slot is 2 t inverse / 2^64, see lane_init */
	uint64_t period;  /* in 1/65536 core cycles; 0: no limit */
	uint64_t base;    /* the oldest slot that is remembered, a multiple of 64 */
	uint64_t exact;   /* the inverse is good for cycles before this one */
	uint64_t taken[LANE_WORDS]; /* a bit for each slot */
};

void lane_init(struct lane *l, uint64_t period_65536);
uint64_t lane_take_slow(struct lane *l, uint64_t k, uint64_t t);
uint64_t lane_take_late(struct lane *l, uint64_t t);

/* Takes the first free slot that is not over at cycle t; returns when it can start: t itself
 * if the slot of t is free. often: it mostly is, so that gcc may put the other way far off. */
static inline __attribute__((always_inline)) uint64_t lane_take_as(struct lane *l, uint64_t t, const bool often)
{
	__asm__("" : "+r"(l)); /* in a register: else its address among others is worked out anew for each field */
	if (__builtin_expect(t - l->from >= l->cycles, 0))
		return lane_take_late(l, t);
	const uint64_t k = (uint64_t)(((unsigned __int128)(t << 1) * l->inverse) >> 64);
	uint64_t *const word = &l->taken[k / 64 % LANE_WORDS], taken = *word;
	const uint64_t own = 1ull << k % 64, with = taken | own;
	if (often) { /* gcc takes no expectation out of an ?: */
		if (__builtin_expect(with != taken, 1)) {
			*word = with;
			return t;
		}
	} else if (with != taken) {
		*word = with;
		return t;
	}
	const uint64_t open = ~taken & -own; /* later ones */
	if (__builtin_expect(!open, 0))
		return lane_take_slow(l, k, t);
	*word = taken | (open & -open);
	return (((k & ~63ull) + (unsigned)__builtin_ctzll(open)) * l->period + 65535) >> 16; /* after t, as it is a later slot */
}
static inline __attribute__((always_inline)) uint64_t lane_take(struct lane *l, uint64_t t) { return lane_take_as(l, t, true); }

#endif
