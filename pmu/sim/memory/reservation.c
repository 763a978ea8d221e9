/* pmu/sim/memory/reservation.c: the rings of pools and lanes, and the search for a free stretch in a pool. reservation.h
 * states what is not modelled; in a lane, slots more than LANE_SLOTS / 2 before the newest count as free. */
#include "pmu/sim/memory/reservation.h"

/* The first cycle that the slots cover, and how many. */
static void remember(struct lane *l)
{
	const uint64_t end = ((l->base + LANE_SLOTS) * l->period + 65535) >> 16, last = end < l->exact ? end : l->exact;
	l->from = (l->base * l->period + 65535) >> 16;
	l->cycles = last > l->from ? last - l->from : 0;
}

void lane_init(struct lane *l, uint64_t period_65536)
{
	memset(l, 0, sizeof(*l));
	l->period = period_65536;
	if (period_65536 <= 1u << 15 || period_65536 >> 32)
		return;
	/* t 2^16 / period = t (2^79 / period) / 2^63. With inverse * period above 2^79 by `more`, that is too large by t more /
	 * period / 2^63, which never reaches the next slot as long as t more < 2^63. */
	const uint64_t high = (1ull << 47) / period_65536, rest = ((1ull << 47) % period_65536) << 32, left = rest % period_65536;
	const uint64_t more = left ? period_65536 - left : 0;
	l->inverse = (high << 32) + rest / period_65536 + (left != 0);
	l->exact = more ? (1ull << 63) / more : 1ull << 63;
	remember(l);
}

/* Slot k lies beyond all that are remembered: at least the oldest half is forgotten. */
static void forget_slots(struct lane *l, uint64_t k)
{
	const uint64_t base = (k - LANE_SLOTS / 2) & ~63ull;
	const uint64_t words = base - l->base < LANE_SLOTS ? (base - l->base) / 64 : LANE_WORDS;
	for (uint64_t i = 0; i < words; i++)
		l->taken[(l->base / 64 + i) % LANE_WORDS] = 0;
	l->base = base;
	remember(l);
}

/* Not among the remembered slots; or without a limit, with a period whose inverse exceeds 64 bits, or after more cycles
 * than its inverse is exact for. */
uint64_t lane_take_late(struct lane *l, uint64_t t)
{
	if (!l->period)
		return t;
	return lane_take_slow(l, t < l->exact ? (uint64_t)(((unsigned __int128)(t << 1) * l->inverse) >> 64) : (t << 16) / l->period, t);
}

uint64_t lane_take_slow(struct lane *l, uint64_t k, uint64_t t)
{
	if (k < l->base)
		return t; /* older than all that is remembered */
	for (;;) {
		if (k - l->base >= LANE_SLOTS)
			forget_slots(l, k);
		uint64_t *const taken = &l->taken[k / 64 % LANE_WORDS];
		const uint64_t open = ~*taken >> (k % 64);
		if (open) {
			k += (unsigned)__builtin_ctzll(open);
			*taken |= 1ull << (k % 64);
			break;
		}
		k = (k | 63) + 1;
	}
	const uint64_t start = (k * l->period + 65535) >> 16;
	return start > t ? start : t;
}

void pool_init(struct pool *p, uint32_t entries, uint32_t ahead, struct pool_use *use)
{
	memset(use, 0, pool_bytes(entries, ahead));
	*p = (struct pool){ .entries = entries, .history = pool_history(entries, ahead), .use = use };
	p->most_bytes = (entries > 1 ? entries - 1 : 0) * sizeof(*use);
	p->end = use + POOL_ROOM * p->history;
	p->last = p->settled = use + p->history;
}

/* The latest end of those that are forgotten now: no search goes back beyond it. */
static void forget(struct pool *p)
{
	struct pool_use *forgotten = p->last - p->history;
	if (forgotten->to > p->forgotten)
		p->forgotten = forgotten->to;
	forgotten->to = 0;
}

void pool_settle_some(struct pool *p)
{
	const struct pool_use *u = p->settled;
	uint64_t begun = p->begun;
	while (u != p->last) {
		u++;
		begun = u->from > begun ? u->from : begun;
	}
	p->begun = begun;
	p->settled = p->last;
	forget(p);
}

void pool_move(struct pool *p)
{
	forget(p);
	const struct pool_use *from = p->last - p->history;
	const size_t back = (size_t)(from - p->use);
	memcpy(p->use, from, (p->history + 1) * sizeof(*from)); /* there is room for POOL_ROOM times as many: they do not overlap */
	p->last -= back;
	p->settled = (size_t)(p->settled - p->use) < back ? p->use : p->settled - back; /* what is forgotten no longer begins for
	                                                                                   anybody */
}

/* Walks through the beginnings and ends of uses in the order of time. */
static uint64_t search(const struct pool *p, uint64_t t, uint64_t cycles, uint32_t n)
{
	uint64_t begins[POOL_HISTORY_MOST + 1], *begin = begins; /* later than t, the earliest last */
	const struct pool_use *end = p->last;
	uint32_t held = 0, soon = 0; /* held at t; beginning before `cycles` are over */
	const uint64_t over = t + cycles;
	*begin = UINT64_MAX;
	for (; end->to > t; end--) {
		const uint64_t from = end->from;
		if (from <= t) {
			held++;
			continue;
		}
		soon += from < over;
		uint64_t *b = ++begin; /* most of them are in order */
		for (; b[-1] < from; b--)
			*b = b[-1];
		*b = from;
	}
	if (held + soon < n)
		return t;
	uint64_t start = t;
	bool room = held < n;
	end++; /* the next to end */
	for (; begin > begins; begin--) {
		const uint64_t from = *begin;
		for (; end->to <= from; end++)
			if (held-- == n) {
				room = true;
				start = end->to;
			}
		if (room && from >= start + cycles)
			return start;
		room &= ++held < n;
	}
	return room ? start : end[held - n].to;
}

/* Further uses make a full pool no emptier, so results of searches stay true and a search begins where the last one ended.
 * Requests for different times and lengths alternate, so several such stretches are kept. Otherwise the searches were a
 * fifth of the simulator's instructions in streams of eight cores. */
uint64_t pool_start_slow(struct pool *p, uint64_t t, uint64_t cycles, uint32_t n)
{
	pool_settle(p);
	const uint64_t asked = pool_known(p, t, cycles, n), free = (p->last - (n - 1))->to;
	const uint64_t start = p->begun > asked ? search(p, asked, cycles, n) : free > asked ? free : asked;
	if (start == asked)
		return start;
	struct pool_full *oldest = &p->full[0];
	for (unsigned i = 0; i < POOL_FULL; i++) {
		struct pool_full *f = &p->full[i];
		if (f->cycles == cycles && f->entries == n && f->from <= asked && f->to >= asked) {
			f->to = start > f->to ? start : f->to;
			return start;
		}
		if (f->to < oldest->to)
			oldest = f;
	}
	*oldest = (struct pool_full){ asked, start, cycles, n };
	return start;
}

void pool_sort_in(struct pool *p)
{
	pool_settle(p);
	struct pool_use *u = p->last;
	const struct pool_use new = *u;
	for (; u[-1].to > new.to; u--)
		*u = u[-1];
	*u = new;
}
