/* tests/expect/expect_held.c: what lines hold on their way. Requests do not come in order of time, so what is free before
 * something that was taken later in time is found too. */
#include "tests/expect/expect_held.h"

#include <stdlib.h>

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Beginnings (1) and ends (0) of what is held, in the order of time; what ends makes room for what begins. */
static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

uint64_t queue_start(const struct queue *q, uint64_t t, uint64_t cycles, uint64_t withheld)
{
	const uint64_t n = withheld + 1 < q->entries ? q->entries - withheld : 1;
	uint64_t events[2 * HELD_MOST], count = 0, held = 0, pending = 0, start = t;
	bool room;

	if (q->last <= t)
		return t;
	for (uint64_t i = 0; i < q->count; i++) {
		if (q->held[i].to <= t)
			continue;
		pending++;
		held += q->held[i].from <= t;
		if (q->held[i].from > t)
			events[count++] = q->held[i].from * 2 + 1;
		events[count++] = q->held[i].to * 2;
	}
	if (pending < n)
		return t;
	qsort(events, count, sizeof(*events), by_time);
	room = held < n;
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t at = events[i] / 2;

		if (room && at >= start + (cycles ? cycles : 1))
			return start;
		if (events[i] % 2) {
			room &= ++held < n;
		} else if (held-- == n) {
			room = true;
			start = at;
		}
	}
	return start;
}

void queue_hold(struct queue *q, uint64_t from, uint64_t to, uint64_t line)
{
	q->last = later(q->last, to);
	if (q->count < HELD_MOST)
		q->held[q->count++] = (struct held){ from, to, line };
}

void queue_forget(struct queue *q, uint64_t t)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < q->count; i++)
		if (q->held[i].to > t)
			q->held[kept++] = q->held[i];
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
	for (uint64_t i = 0; p->place && i < p->sets * ways; i++)
		p->place[i].line = NO_LINE;
	return p->place && p->tree;
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
