/* pmu/sim/calendar.c: the ring of slots of a lane, the search for room in a pool. */
#include "pmu/sim/calendar.h"

void lane_init(struct lane *l, uint64_t period_65536)
{
	memset(l, 0, sizeof(*l));
	l->period = period_65536;
	l->inverse = period_65536 ? UINT64_MAX / period_65536 : 0;
}

/* Makes room for slot k, forgetting the oldest half of what is remembered. */
static void advance(struct lane *l, uint64_t k)
{
	const uint64_t base = (k - LANE_SLOTS / 2) & ~63ull;
	if (base - l->base >= LANE_SLOTS) {
		memset(l->taken, 0, sizeof(l->taken));
	} else {
		for (uint64_t b = l->base; b < base; b += 64)
			l->taken[(b % LANE_SLOTS) / 64] = 0;
	}
	l->base = base;
}

uint64_t lane_take_slow(struct lane *l, uint64_t k, uint64_t t)
{
	if (k < l->base)
		return t; /* older than all that is remembered */
	for (;;) {
		if (k - l->base >= LANE_SLOTS)
			advance(l, k);
		uint64_t *word = &l->taken[(k % LANE_SLOTS) / 64];
		const uint64_t open = ~*word >> (k % 64);
		if (open) {
			k += (unsigned)__builtin_ctzll(open);
			*word |= 1ull << (k % 64);
			break;
		}
		k = (k | 63) + 1;
	}
	const uint64_t start = (k * l->period + 65535) >> 16;
	return start > t ? start : t;
}

/* Goes through the beginnings and ends of uses in the order of time. */
uint64_t pool_start_slow(const struct pool *p, uint64_t t, uint64_t cycles, uint32_t n)
{
	uint64_t begins[POOL_HISTORY_MOST];
	uint32_t begin = 0, end = p->count;
	int64_t held = 0;
	while (end > 0 && pool_at(p, end - 1)->to > t) {
		const uint64_t from = pool_at(p, --end)->from;
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
		for (; pool_at(p, end)->to <= from; end++)
			if (--held < (int64_t)n && !room) {
				room = true;
				start = pool_at(p, end)->to;
			}
		if (room && from >= start + cycles)
			return start;
		begin--;
		if (++held >= (int64_t)n)
			room = false;
	}
	while (!room) {
		start = pool_at(p, end++)->to;
		room = --held < (int64_t)n;
	}
	return start;
}
