/* pmu/sim/signals/lane.c: see lane.h. */
#include "pmu/sim/signals/lane.h"

void lane_clear(struct lane *l, bool counts)
{
	for (unsigned w = 0; w < RING_WORDS; w++) {
		uint64_t bits = counts ? l->active[w] : 0;
		for (; bits; bits &= bits - 1)
			l->at[w * 64 + (unsigned)__builtin_ctzll(bits)] = (struct lane_cycle){ 0, 0 };
		l->active[w] = 0;
	}
}

/* Number of set bits, without a popcount instruction, which the host may lack. */
static unsigned bits_in(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555ull;
	x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
	x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Full;
	return (unsigned)(x * 0x0101010101010101ull >> 56);
}

/* Closes the cycles from .. to - 1 of one word of the bitmap; returns how many count. */
static uint64_t word_close(struct lane *l, bool inv, bool edge, uint64_t *before, uint64_t from, uint64_t to)
{
	const unsigned at = from % 64, n = (unsigned)(to - from);
	uint64_t *word = &l->active[(from & RING_MASK) / 64];
	const uint64_t span = ~0ull >> (64 - n);
	uint64_t now = *word >> at & span;
	*word &= ~(span << at);
	if (inv)
		now ^= span;
	if (edge) {
		const uint64_t starts = now & ~(now << 1 | *before);
		*before = now >> (n - 1) & 1;
		now = starts;
	}
	return bits_in(now);
}

void lane_close_bits(struct lane *l, struct tap *tap, struct tap_state *state, uint64_t from, uint64_t to)
{
	const bool inv = tap->cmask && tap->inv, edge = tap->edge;
	uint64_t before = state->before, value = 0;
	const uint64_t first = (from + 63) & ~63ull, last = to & ~63ull;
	if (from < first) {
		const uint64_t end = to < first ? to : first;
		value += word_close(l, inv, edge, &before, from, end);
		from = end;
	}
	if (edge) {
		for (; from < last; from += 64)
			value += word_close(l, inv, edge, &before, from, from + 64);
	} else if (from < last) { /* whole words: most are empty or full */
		uint64_t some = 0;
		for (uint64_t at = from; at < last;) { /* up to the ring's end, then from its beginning */
			uint64_t *word = &l->active[(at & RING_MASK) / 64], *end = l->active + RING_WORDS;
			if ((last - at) / 64 < (uint64_t)(end - word))
				end = word + (last - at) / 64;
			at += (uint64_t)(end - word) * 64;
			for (; word < end; word++) {
				const uint64_t now = *word;
				*word = 0;
				some += now != 0;
				if (now & (now - 1)) /* no branch on whether there is a bit, which the host could not predict */
					some += now == ~0ull ? 63 : bits_in(now) - 1;
			}
		}
		value += inv ? last - from - some : some;
		from = last;
	}
	if (from < to)
		value += word_close(l, inv, edge, &before, from, to);
	tap->value += value;
	state->before = before;
}

void lane_close_counts(struct lane *l, struct tap *tap, struct tap_state *state, uint64_t from, uint64_t to)
{
	int32_t level = state->level, least = state->least;
	const int32_t most = tap->exact ? least : INT32_MAX;
	bool before = state->before, inv = tap->cmask && tap->inv, edge = tap->edge;
	const bool sum = lane_adds(tap);
	const int32_t below = tap->beyond ? least - 1 : 0; /* for a sum: the part of each cycle's count that is not added */
	uint64_t value = 0;
	while (from < to) {
		unsigned i = from & RING_MASK;
		uint64_t bits = l->active[i / 64] >> (i % 64);
		uint64_t idle = bits ? (unsigned)__builtin_ctzll(bits) : 64 - i % 64;
		if (idle) {
			bool now = (level >= least && level <= most) != inv;
			if (idle > to - from)
				idle = to - from;
			if (sum)
				value += idle * (uint64_t)(level > below ? level - below : 0);
			else if (now)
				value += !edge ? idle : !before;
			before = now;
			from += idle;
			continue;
		}
		level += l->at[i].change;
		const int32_t count = level + l->at[i].pulses;
		bool now = (count >= least && count <= most) != inv;
		l->at[i] = (struct lane_cycle){ 0, 0 };
		l->active[i / 64] &= ~(1ull << (i % 64));
		value += sum ? (uint64_t)(count > below ? count - below : 0) : now && !(edge && before);
		before = now;
		from++;
	}
	tap->value += value;
	state->level = level;
	state->before = before;
}
