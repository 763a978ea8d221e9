/* pmu/sim/memory/reservation.h: reservations of shared resources in time, with back-fill.
 *
 * Requests arrive in program order of each core, not in order of time; a free slot before a later reservation is still
 * usable. So nothing here is a scalar "next free": a request gets the earliest time at or after its own at which the
 * resource is free.
 *
 * Not modelled: the limit of a pool is checked for the expected duration of a use; one that lasts longer may overlap a full
 * stretch behind it. */
#ifndef SIM_RESERVATION_H
#define SIM_RESERVATION_H

#include "pmu/base.h"

/* A number of equal entries (fill buffers, a queue, page walkers). A use occupies one of them for some time. */
struct pool_use { uint64_t from, to; uint32_t line; uint8_t source; };
/* A full stretch, as a search found it: wherever in from <= cycle < to a use of `cycles` cycles begins, it meets a cycle in which `entries` are occupied. */
struct pool_full { uint64_t from, to, cycles; uint32_t entries; };
#define POOL_FULL 4u
#define POOL_MARKS 128u
struct pool {
	uint32_t entries;      /* how many there are */
	uint32_t history;      /* number of latest uses that are remembered */
	size_t most_bytes;     /* from a use to the one entries - 1 before it */
	struct pool_use *last; /* the use that ends last: uses are stored in ascending order of `to` */
	struct pool_use *settled; /* begun, begin and begin_end account for the uses up to this one: pool_settle */
	uint64_t begun;        /* the latest beginning of a remembered use: from then on entries are only released */
	uint64_t *begin, *begin_end; /* beginnings of the settled uses, in ascending order: [begin, begin_end) */
	struct pool_use *use, *end; /* [POOL_ROOM * history]: when full, the latest uses move to the beginning */
	uint64_t forgotten;    /* the latest end of a forgotten use (its `to` is 0): nothing is known of the time before */
	struct pool_full full[POOL_FULL], solid; /* solid: a stretch in each cycle of which `entries` are occupied */
	uint64_t marks[POOL_MARKS]; /* the latest end of a use for a line, by the line's lowest bits */
};
#define POOL_ROOM 4u
#define POOL_BEGINS 2u /* room for beginnings, as a multiple of the remembered uses, stored after the uses */

/* The number of uses that a pool remembers. Stores request their lines up to a reorder buffer's worth of waiting later than the loads behind them.
 * `ahead`: upper bound of the requests that lie in the future. A pool that forgot a use before its end would admit more than it has entries. */
#define POOL_HISTORY_MOST 2048u
static inline uint32_t pool_history(uint32_t entries, uint32_t ahead)
{
	uint32_t n = 32;
	while ((n < entries * 8 || n < ahead) && n < POOL_HISTORY_MOST)
		n *= 2;
	return n;
}

/* Zeroed bytes at `use` that pool_init needs. */
static inline size_t pool_bytes(uint32_t entries, uint32_t ahead) { return pool_history(entries, ahead) * (POOL_ROOM * sizeof(struct pool_use) + POOL_BEGINS * sizeof(uint64_t)); }
void pool_init(struct pool *p, uint32_t entries, uint32_t ahead, struct pool_use *use);

/* Whether an entry is always free from t on. */
static inline bool pool_has_room(const struct pool *p, uint64_t t, uint32_t withheld)
{
	/* fewer uses than entries end later than this one, so once it has ended an entry stays free */
	return (p->last - (withheld + 1 < p->entries ? p->entries - 1 - withheld : 0))->to <= t;
}

/* The same with nothing withheld. */
static inline bool pool_has_any(const struct pool *p, uint64_t t)
{
	return ((const struct pool_use *)(const void *)((const uint8_t *)p->last - p->most_bytes))->to <= t;
}

/* Takes in what was added since: required before the uses are searched or known stretches are read. */
void pool_settle_some(struct pool *p);
static inline void pool_settle(struct pool *p)
{
	if (p->settled != p->last)
		pool_settle_some(p);
}

/* Whether n entries are known to be occupied in cycle t, in a settled pool. */
static inline bool pool_is_solid(const struct pool *p, uint64_t t, uint32_t n)
{
	return t < p->solid.to && t >= p->solid.from && t >= p->forgotten && n <= p->solid.entries;
}

/* From t on, the first cycle not known to be too early. */
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

/* Whether n entries are occupied in cycle t: pool_start then gives a later cycle for any duration. */
bool pool_is_full_at(struct pool *p, uint64_t t, uint32_t n);
/* Where they are not: whether fewer are occupied for `cycles` cycles from t on, so that pool_start gives t. */
bool pool_has_stretch(struct pool *p, uint64_t t, uint64_t cycles, uint32_t n);

/* The earliest time >= t from which on fewer than entries - withheld are occupied for `cycles` cycles, at least one. */
static inline uint64_t pool_start(struct pool *p, uint64_t t, uint64_t cycles, uint32_t withheld)
{
	return (withheld ? pool_has_room(p, t, withheld) : pool_has_any(p, t)) ? t : pool_start_slow(p, t, cycles, withheld + 1 < p->entries ? p->entries - withheld : 1);
}

/* Moves the uses to the beginning of their space. */
void pool_move(struct pool *p);
/* Sorts the newest use, which is last, before what ends later. */
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

/* The same, and pool_find will find it. */
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

/* A resource that serves one line per period (a DRAM channel, a link, a cache port): a ring of slots of one period each.
 * Slot k covers [k * period, (k + 1) * period). Exactly the remembered slots have bits in the ring: a part that is reused
 * is cleared when the oldest are forgotten. */
#define LANE_SLOTS 4096u
#define LANE_WORDS (LANE_SLOTS / 64)
struct lane {
	uint64_t from, cycles; /* a cycle in a remembered slot is less than `cycles` after `from`; 0 cycles: call lane_take_late */
	uint64_t inverse; /* 2^79 / period, rounded up; the slot of t is 2 t inverse / 2^64: lane_init */
	uint64_t period;  /* in 1/65536 core cycles; 0: no limit */
	uint64_t base;    /* the oldest remembered slot, a multiple of 64 */
	uint64_t exact;   /* the inverse is exact for cycles before this one */
	uint64_t taken[LANE_WORDS]; /* one bit per slot */
};

void lane_init(struct lane *l, uint64_t period_65536);
uint64_t lane_take_slow(struct lane *l, uint64_t k, uint64_t t);
uint64_t lane_take_late(struct lane *l, uint64_t t);

/* Takes the first free slot that is not over at cycle t; returns when it can start: t itself if the slot of t is free.
 * often: it usually is, so gcc may move the other path out of line. */
static inline __attribute__((always_inline)) uint64_t lane_take_as(struct lane *l, uint64_t t, const bool often)
{
	__asm__("" : "+r"(l)); /* keeps it in a register: otherwise its address is computed anew for each field */
	if (__builtin_expect(t - l->from >= l->cycles, 0))
		return lane_take_late(l, t);
	const uint64_t k = (uint64_t)(((unsigned __int128)(t << 1) * l->inverse) >> 64);
	uint64_t *const word = &l->taken[k / 64 % LANE_WORDS], taken = *word;
	const uint64_t own = 1ull << k % 64, with = taken | own;
	if (often) { /* gcc takes no expectation from ?: */
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
	return (((k & ~63ull) + (unsigned)__builtin_ctzll(open)) * l->period + 65535) >> 16; /* after t, since it is a later slot */
}
static inline __attribute__((always_inline)) uint64_t lane_take(struct lane *l, uint64_t t) { return lane_take_as(l, t, true); }

#endif
