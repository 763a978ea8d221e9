/* pmu/sim/calendar.c: the rings of a pool and of a lane, the search for room in a pool. What is
 * not modelled stands in calendar.h; of a lane, what lies LANE_SLOTS / 2 slots before the newest counts as free. */
#include "pmu/sim/calendar.h"

void lane_init(struct lane *l, uint64_t period_65536)
{
	memset(l, 0, sizeof(*l));
	l->period = period_65536;
	l->inverse = period_65536 ? UINT64_MAX / period_65536 : 0;
}

uint64_t lane_take_slow(struct lane *l, uint64_t k, uint64_t t)
{
	if (k < l->base)
		return t; /* older than all that is remembered */
	for (;;) {
		if (k - l->base >= LANE_SLOTS) /* the oldest half is forgotten */
			l->base = (k - LANE_SLOTS / 2) & ~63ull;
		struct lane_word *w = &l->word[k / 64 % LANE_WORDS];
		const uint64_t taken = w->of == k / 64 ? w->taken : 0, open = ~taken >> (k % 64);
		if (open) {
			k += (unsigned)__builtin_ctzll(open);
			w->of = k / 64;
			w->taken = taken | 1ull << (k % 64);
			break;
		}
		k = (k | 63) + 1;
	}
	const uint64_t start = (k * l->period + 65535) >> 16;
	return start > t ? start : t;
}

/* Counted from the first one to end: 0. */
static inline const struct pool_use *pool_nth(const struct pool *p, uint32_t i)
{
	return pool_at(p, p->count - 1 - i);
}

/* Goes through the beginnings and ends of uses in the order of time. */
uint64_t pool_start_slow(const struct pool *p, uint64_t t, uint64_t cycles, uint32_t n)
{
	uint64_t begins[POOL_HISTORY_MOST];
	uint32_t begin = 0, end = p->count;
	int64_t held = 0;
	while (end > 0 && pool_nth(p, end - 1)->to > t) {
		const uint64_t from = pool_nth(p, --end)->from;
		if (from <= t) {
			held++;
			continue;
		}
		uint32_t i = begin++; /* ascending; most of them are in order */
		for (; i > 0 && begins[i - 1] < from; i--)
			begins[i] = begins[i - 1];
		begins[i] = from;
	}
	/* begins: the last one is the earliest */
	uint64_t start = t;
	bool room = held < (int64_t)n;
	while (begin > 0) {
		const uint64_t from = begins[begin - 1];
		for (; pool_nth(p, end)->to <= from; end++)
			if (--held < (int64_t)n && !room) {
				room = true;
				start = pool_nth(p, end)->to;
			}
		if (room && from >= start + cycles)
			return start;
		begin--;
		if (++held >= (int64_t)n)
			room = false;
	}
	while (!room) {
		start = pool_nth(p, end++)->to;
		room = --held < (int64_t)n;
	}
	return start;
}

void pool_sort_in(struct pool *p)
{
	const struct pool_use new = *pool_at(p, 0);
	uint32_t i = 0;
	for (; i + 1 < p->count && pool_at(p, i + 1)->to > new.to; i++)
		*pool_at(p, i) = *pool_at(p, i + 1);
	*pool_at(p, i) = new;
}

struct pool_use *pool_find_slow(const struct pool *p, uint64_t t, uint32_t line)
{
	for (uint32_t i = 0; i < p->count; i++) {
		struct pool_use *u = pool_at(p, i);
		if (u->to <= t)
			return NULL;
		if (u->line == line)
			return u;
	}
	return NULL;
}
