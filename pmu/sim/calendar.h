/* pmu/sim/calendar.h: reservations of shared resources in time, with back-fill.
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
struct pool {
	uint32_t entries;    /* how many may be held at once */
	uint32_t mask;       /* history - 1, a power of two minus one */
	uint32_t first, count;
	struct pool_use *use; /* ring of the latest uses, ascending by `to` */
};

#define POOL_HISTORY_MOST 2048u
/* The number of uses that a pool of so many entries remembers: a core's stores ask for lines a reorder buffer of waits
 * later than the loads behind them. */
static inline uint32_t pool_history(uint32_t entries)
{
	uint32_t n = 32;
	while (n < entries * 8 && n < POOL_HISTORY_MOST)
		n *= 2;
	return n;
}

static inline struct pool_use *pool_at(const struct pool *p, uint32_t i)
{
	return &p->use[(p->first + i) & p->mask];
}

/* Whether from t on there is always an entry to be had. */
static inline bool pool_has_room(const struct pool *p, uint64_t t, uint32_t withheld)
{
	const uint32_t n = withheld + 1 < p->entries ? p->entries - withheld : 1;
	return p->count < n || pool_at(p, p->count - n)->to <= t;
}

uint64_t pool_start_slow(const struct pool *p, uint64_t t, uint64_t cycles, uint32_t n);

/* The earliest time >= t from which on fewer than entries - withheld are held for so many cycles. */
static inline uint64_t pool_start(const struct pool *p, uint64_t t, uint64_t cycles, uint32_t withheld)
{
	return pool_has_room(p, t, withheld) ? t : pool_start_slow(p, t, cycles, withheld + 1 < p->entries ? p->entries - withheld : 1);
}

static inline void pool_add(struct pool *p, uint64_t from, uint64_t to, uint32_t line, uint8_t source)
{
	uint32_t i = p->count;
	if (i > p->mask) { /* forget the one that ended first */
		p->first = (p->first + 1) & p->mask;
		i--;
	} else {
		p->count++;
	}
	while (i > 0 && pool_at(p, i - 1)->to > to) {
		*pool_at(p, i) = *pool_at(p, i - 1);
		i--;
	}
	*pool_at(p, i) = (struct pool_use){ .from = from, .to = to, .line = line, .source = source };
}

/* The use for `line` that is not over at t, or NULL. */
static inline struct pool_use *pool_find(const struct pool *p, uint64_t t, uint32_t line)
{
	for (uint32_t i = p->count; i-- > 0;) {
		struct pool_use *u = pool_at(p, i);
		if (u->to <= t)
			return NULL;
		if (u->line == line)
			return u;
	}
	return NULL;
}

/* A thing that serves one line a period (a DRAM channel, a link, a cache port): a ring of
 * slots of one period each. Slot k covers [k * period, (k + 1) * period). */
#define LANE_SLOTS 4096u
struct lane {
	uint64_t period;  /* in 1/65536 core cycles; 0: no limit */
	uint64_t inverse; /* 2^64 / period */
	uint64_t base;    /* the oldest slot that is remembered, a multiple of 64 */
	uint64_t taken[LANE_SLOTS / 64];
};

void lane_init(struct lane *l, uint64_t period_65536);
uint64_t lane_take_slow(struct lane *l, uint64_t k, uint64_t t);

/* Takes the first free slot that is not over at cycle t; returns when it can start: t itself
 * if the slot of t is free. */
static inline uint64_t lane_take(struct lane *l, uint64_t t)
{
	if (!l->period)
		return t;
	const uint64_t fine = t << 16;
	uint64_t k = (uint64_t)(((unsigned __int128)fine * l->inverse) >> 64);
	while ((k + 1) * l->period <= fine) /* the inverse is rounded down */
		k++;
	if (k - l->base < LANE_SLOTS) {
		uint64_t *word = &l->taken[(k % LANE_SLOTS) / 64];
		const uint64_t bit = 1ull << (k % 64);
		if (!(*word & bit)) {
			*word |= bit;
			return t;
		}
	}
	return lane_take_slow(l, k, t);
}

#endif
