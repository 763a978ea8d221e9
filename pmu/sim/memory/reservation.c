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
	*p = (struct pool){ .entries = entries, .history = pool_history(entries, ahead), .use = use };
	p->most_bytes = (entries > 1 ? entries - 1 : 0) * sizeof(*use);
	p->end = use + POOL_ROOM * p->history;
	p->last = p->settled = use + p->history;
	p->begin = p->begin_end = (uint64_t *)(void *)p->end;
}

/* Forgets the oldest use. No search goes back beyond the latest end of a forgotten use. */
static void forget(struct pool *p)
{
	struct pool_use *forgotten = p->last - p->history;
	if (forgotten->to > p->forgotten)
		p->forgotten = forgotten->to;
	forgotten->to = 0;
}

/* How many of n ascending times are not later than t; `stride`: bytes from one to the next. Most requests lie near the end: the search starts
 * there, in steps that double. */
static inline __attribute__((always_inline)) size_t not_later(const uint8_t *times, size_t n, const size_t stride, uint64_t t)
{
	size_t step = 1;
	for (; step <= n && *(const uint64_t *)(const void *)(times + (n - step) * stride) > t; step *= 2)
		n -= step;
	for (size_t low = step <= n ? n - step + 1 : 0; low < n;) {
		const size_t middle = (low + n) / 2;
		if (*(const uint64_t *)(const void *)(times + middle * stride) > t)
			n = middle;
		else
			low = middle + 1;
	}
	return n;
}

#define FEW 16u /* elements that cost less one by one than a call */
/* Moves n elements up by one. */
static inline __attribute__((always_inline)) void make_room(uint8_t *at, size_t n, const size_t bytes)
{
	if (n > FEW)
		memmove(at + bytes, at, n * bytes);
	else
		for (uint8_t *to = at + n * bytes; to > at; to -= bytes)
			__builtin_memcpy(to, to - bytes, bytes);
}

static uint64_t *begins(const struct pool *p) { return (uint64_t *)(void *)p->end; }

static void note_beginning(struct pool *p, uint64_t from)
{
	if (p->begin_end == begins(p) + POOL_BEGINS * p->history) {
		const size_t count = (size_t)(p->begin_end - p->begin);
		memmove(begins(p), p->begin, count * sizeof(*p->begin));
		p->begin = begins(p);
		p->begin_end = p->begin + count;
	}
	uint64_t *const at = p->begin + not_later((const uint8_t *)p->begin, (size_t)(p->begin_end - p->begin), sizeof(*at), from);
	make_room((uint8_t *)at, (size_t)(p->begin_end++ - at), sizeof(*at));
	*at = from;
}

/* Removes the beginning of a use that is forgotten: it is among the first. */
static void forget_beginning(struct pool *p, uint64_t from)
{
	uint64_t *b = p->begin;
	while (*b != from)
		b++;
	for (; b > p->begin; b--)
		*b = b[-1];
	p->begin++;
}

void pool_settle_some(struct pool *p)
{
	const struct pool_use *u = p->settled, *const sentinel = p->last - p->history;
	if (u <= sentinel) { /* all of them are new */
		p->begin = p->begin_end = begins(p);
		u = sentinel;
	}
	while (u != p->last) {
		u++;
		if ((size_t)(p->begin_end - p->begin) == p->history)
			forget_beginning(p, (u - p->history)->from);
		note_beginning(p, u->from);
	}
	p->begun = p->begin_end[-1];
	p->settled = p->last;
	forget(p);
}

void pool_move(struct pool *p)
{
	if (p->settled > p->last - p->history)
		pool_settle(p); /* settling later would look for a use that the move discards */
	else
		forget(p);
	const struct pool_use *from = p->last - p->history;
	const size_t back = (size_t)(from - p->use);
	memcpy(p->use, from, (p->history + 1) * sizeof(*from)); /* there is room for POOL_ROOM times as many: they do not overlap */
	p->last -= back;
	p->settled = (size_t)(p->settled - p->use) < back ? p->use : p->settled - back;
}

/* The reservations after a time: the next to begin, the next to end, and how many entries are occupied. */
struct ahead { const uint64_t *begin; const struct pool_use *end; size_t held; };
static struct ahead ahead_of(const struct pool *p, uint64_t t)
{
	const struct pool_use *const first = p->last + 1 - p->history;
	const size_t begun = not_later((const uint8_t *)p->begin, (size_t)(p->begin_end - p->begin), sizeof(*p->begin), t);
	struct ahead a = { p->begin + begun, first + not_later((const uint8_t *)&first->to, p->history, sizeof(*first), t), 0 };
	a.held = (size_t)(p->last + 1 - a.end) - (size_t)(p->begin_end - a.begin);
	return a;
}

/* Walks through the beginnings and ends of uses in order of time and skips stretches that are known to be full. */
static uint64_t search(const struct pool *p, uint64_t t, uint64_t cycles, uint32_t n)
{
	struct ahead a = ahead_of(p, t);
	uint64_t start = t;
	bool room = a.held < n;
	while (a.begin < p->begin_end) {
		const uint64_t from = *a.begin;
		for (; a.end->to <= from; a.end++)
			if (a.held-- == n) {
				room = true;
				start = a.end->to;
			}
		if (room && from >= start + cycles)
			return start;
		a.begin++;
		if (++a.held < n || !room)
			continue;
		const uint64_t known = pool_known(p, from, cycles, n);
		room = false;
		if (known > from) {
			a = ahead_of(p, start = known);
			room = a.held < n;
		}
	}
	return room ? start : a.end[a.held - n].to;
}

bool pool_is_full_at(struct pool *p, uint64_t t, uint32_t n)
{
	pool_settle(p);
	if (pool_is_solid(p, t, n))
		return true;
	const struct ahead a = ahead_of(p, t);
	if (a.held < n)
		return false;
	p->solid = (struct pool_full){ t, a.end[a.held - n].to, 1, n }; /* the n-th last use to end: until then n are occupied */
	return true;
}

bool pool_has_stretch(struct pool *p, uint64_t t, uint64_t cycles, uint32_t n)
{
	pool_settle(p);
	if (pool_known(p, t, cycles, n) > t)
		return false;
	struct ahead a = ahead_of(p, t);
	for (; a.begin < p->begin_end && *a.begin < t + cycles; a.begin++) {
		for (; a.end->to <= *a.begin; a.end++)
			a.held--;
		if (++a.held >= n)
			return false;
	}
	return true;
}

/* Further uses make a full pool no emptier, so results of searches stay true and a search begins where the last one ended.
 * Requests for different times and lengths alternate, so several such stretches are remembered. Otherwise the searches were a
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
	struct pool_use *const first = p->last + 1 - p->history;
	const struct pool_use new = *p->last;
	struct pool_use *const at = first + not_later((const uint8_t *)&first->to, p->history - 1, sizeof(*first), new.to);
	make_room((uint8_t *)at, (size_t)(p->last - at), sizeof(*at));
	*at = new;
}
