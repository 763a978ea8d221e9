/* tests/expect/expect_held.c: what lines hold on their way. Requests do not come in order of time, so what is free before
 * something that was taken later in time is found too. */
#include "tests/expect/expect_held.h"

#include <stdlib.h>
#include <string.h>

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* How many of n in order are not after t. */
static uint64_t until(const uint64_t *times, uint64_t n, uint64_t t)
{
	uint64_t from = 0;

	while (n) {
		const uint64_t half = n / 2;

		if (times[from + half] <= t) {
			from += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return from;
}

static void put_in_order(uint64_t *times, uint64_t n, uint64_t t)
{
	while (n && times[n - 1] > t) {
		times[n] = times[n - 1];
		n--;
	}
	times[n] = t;
}

uint64_t queue_start(const struct queue *q, uint64_t t, uint64_t cycles, uint64_t withheld)
{
	const uint64_t n = withheld + 1 < q->entries ? q->entries - withheld : 1;

	if (q->last <= t)
		return t;
	uint64_t begun = until(q->from, q->count, t), over = until(q->to, q->count, t), start = t;

	if (q->count - over < n)
		return t;
	bool room = begun - over < n;

	while (over < q->count) { /* what ends makes room for what begins then */
		const bool begins = begun < q->count && q->from[begun] < q->to[over];
		const uint64_t at = begins ? q->from[begun] : q->to[over];

		if (room && at >= start + (cycles ? cycles : 1))
			return start;
		if (begins) {
			room &= ++begun - over < n;
		} else if (begun - over++ == n) {
			room = true;
			start = at;
		}
	}
	return start;
}

void queue_hold(struct queue *q, uint64_t from, uint64_t to, uint64_t line)
{
	q->last = later(q->last, to);
	if (q->count == HELD_MOST)
		return;
	put_in_order(q->from, q->count, from);
	put_in_order(q->to, q->count, to);
	q->held[q->count++] = (struct held){ from, to, line };
}

void queue_forget(struct queue *q, uint64_t t)
{
	const uint64_t over = until(q->to, q->count, t);
	uint64_t kept = 0;

	if (!over)
		return;
	for (uint64_t i = 0; i < q->count; i++)
		if (q->held[i].to > t)
			q->held[kept++] = q->held[i];
	/* as many beginnings that lie before t, no matter whose */
	memmove(q->from, q->from + over, kept * sizeof(q->from[0]));
	memmove(q->to, q->to + over, kept * sizeof(q->to[0]));
	q->count = kept;
}

const struct held *queue_find(const struct queue *q, uint64_t t, uint64_t line)
{
	for (uint64_t i = q->count; i-- > 0;)
		if (q->held[i].line == line && q->held[i].to > t)
			return &q->held[i];
	return NULL;
}

uint64_t turns_take(struct turns *s, uint64_t t)
{
	if (!s->period_65536)
		return t;
	uint64_t k = (t << 16) / s->period_65536;

	while (s->slot[k % TURNS_KEPT] == k + 1)
		k++;
	s->slot[k % TURNS_KEPT] = k + 1;
	return later(t, (k * s->period_65536 + 65535) >> 16);
}

bool places_open(struct places *p, uint64_t bytes, uint64_t ways, uint64_t policy)
{
	*p = (struct places){ .ways = ways, .sets = ways ? bytes / 64 / ways : 0, .policy = policy, .random = 88172645463325252ull };
	p->place = calloc(p->sets * ways + 1, sizeof(*p->place));
	p->tree = calloc(p->sets + 1, sizeof(*p->tree));
	if (p->place)
		places_empty(p);
	return p->place && p->tree;
}

void places_empty(struct places *p)
{
	for (uint64_t i = 0; i < p->sets * p->ways; i++)
		p->place[i].line = NO_LINE;
}

void places_close(struct places *p)
{
	free(p->place);
	free(p->tree);
}

struct place *places_find(const struct places *p, uint64_t line)
{
	struct place *set = p->place + line % p->sets * p->ways;

	for (uint64_t w = 0; w < p->ways; w++)
		if (set[w].line == line)
			return &set[w];
	return NULL;
}

/* A tree's nodes point away from what was used; ways are a power of two. */
void places_touch(struct places *p, struct place *at)
{
	const uint64_t index = (uint64_t)(at - p->place), set = index / p->ways, way = index % p->ways;
	uint64_t node = 1;

	at->used = ++p->clock;
	for (uint64_t half = p->ways / 2; half && p->policy == 1; half /= 2) {
		const bool right = way & half;

		p->tree[set] = right ? p->tree[set] & ~(1ull << node) : p->tree[set] | 1ull << node;
		node = 2 * node + right;
	}
}

struct place *places_victim(struct places *p, uint64_t line)
{
	const uint64_t set = line % p->sets;
	struct place *first = p->place + set * p->ways, *at = first;
	uint64_t way = 0, node = 1;

	for (uint64_t w = 0; w < p->ways; w++)
		at = first[w].used < at->used ? &first[w] : at;
	if (at->line != NO_LINE && p->policy == 1) {
		for (uint64_t half = p->ways / 2; half; half /= 2) {
			const bool right = p->tree[set] >> node & 1;

			way += right ? half : 0;
			node = 2 * node + right;
		}
		at = first + way;
	} else if (at->line != NO_LINE && p->policy == 2) {
		p->random ^= p->random << 13; /* Marsaglia 2003 */
		p->random ^= p->random >> 7;
		p->random ^= p->random << 17;
		at = first + (p->random >> 32) % p->ways;
	}
	places_touch(p, at);
	return at;
}
