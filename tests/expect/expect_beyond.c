/* tests/expect/expect_beyond.c: lines of a stream beyond the L2: slices, the read tracker, links, channels and rows of memory, and which line the last level gives up.
 *
 * Arrays for the L3 are in it, arrays for memory never, but for lines that the L2 gave up before they were used. Not seen here: which line of several
 * cores the last level gives up, and what a hash has in its sets. */
#include "tests/expect/lines_state.h"

#define PARTS 1024u     /* of memory, each as long as a way: in any of them may be what another core's line replaces, */
#define PART_LINES 4096u /* the same for so many lines */

/* Lines go round the slices; with a hash round n begins at slice x ^ x / 2^5, x = n ^ n / 2^7 ^ n / 2^13 (pmu/sim/memory/cache.h). Where slices are the
 * bottleneck another hash as good makes up to 1.5 % of a difference. */
static uint64_t slice_of(const struct lines *l, uint64_t line)
{
	const uint64_t at = line + l->shape.begins, n = at / l->slices, x = n ^ n >> 7 ^ n >> 13;

	return (at + (l->hash ? x ^ x >> 5 : 0)) % l->slices;
}

/* Of the lines of a round that of a slice. */
static uint64_t of_slice(const struct lines *l, uint64_t line, uint64_t slice)
{
	uint64_t at = line - (line + l->shape.begins) % l->slices;

	while (slice_of(l, at) != slice)
		at++;
	return at;
}

/* A line's row is opened: by how many cycles its read comes later. */
static int64_t open_row(struct lines *l, uint64_t line, uint64_t channel)
{
	const uint64_t row = (line + l->shape.begins) / l->channels / l->row_lines, bank = row % l->banks;
	const int64_t before = l->far->row[channel][bank], now = (int64_t)(row / l->banks);

	if (!l->open_page)
		return 0;
	l->far->row[channel][bank] = now;
	return before == now ? -(int64_t)l->hit_cycles : before == NO_ROW ? 0 : (int64_t)l->miss_cycles;
}

uint64_t lines_write_memory(struct lines *l, uint64_t line, uint64_t t)
{
	const uint64_t channel = (line + l->shape.begins) % l->channels;

	if (l->shape.remote)
		t = turns_take(&l->far->from_here, t);
	(void)open_row(l, line, channel);
	return turns_take(&l->far->channel[channel], t);
}

static unsigned array_of(const struct lines *l, uint64_t line) { return (unsigned)((64 * line - l->shape.base) / l->shape.distance); }

static uint64_t at_random(struct lines *l)
{
	uint64_t *r = &l->far->random; /* one for all cores: with one each they chose alike, what another one had just lost */

	*r ^= *r << 13; /* Marsaglia 2003 */
	*r ^= *r >> 7;
	*r ^= *r << 17;
	return *r >> 32;
}

/* How far behind a line of `array` lies that of array `of` that came to the same set last; with one array another round of the sets. */
static uint64_t set_behind(unsigned of, unsigned array, uint64_t apart, uint64_t sets)
{
	return of == array ? sets : (of * apart % sets + sets - array * apart % sets + sets - 1) % sets + 1;
}

static void place_lose(struct place *p)
{
	if (p)
		*p = (struct place){ .line = NO_LINE };
}

/* An inclusive level of several cores gives up any of its lines, as often one that some L2 has as it is full of these: that is lost above. In the L2's
 * place another comes, and what is modified goes to memory without taking a slice again. Returns whether the line was a stored one. */
static bool lost_above(struct lines *l)
{
	const uint64_t any = at_random(l) % l->last_lines, each = l->near->l2.sets * l->near->l2.ways;

	if (any / each >= l->far->l2s)
		return at_random(l) % l->shape.arrays == 0;
	const struct shared_l2 *near = l->far->l2[any / each];
	struct place *p = &near->l2.place[any % each];

	if (p->line == NO_LINE)
		return false;
	struct lines *owner = lines_owner(near, p->line);
	const bool stored = array_of(owner, p->line) == 0;

	place_lose(places_find(&owner->l1, p->line));
	place_lose(p);
	return stored;
}

/* The last level takes a line in at t and gives one up for it: of those that came to its set the one that came as many before as
 * there are ways, or, where it is chosen at random, any: each of them stays with the chance of all ways but one. A hash of slices is
 * not known: the line's place in its round of slices differs from the other's by the same for a long time, or each time. What an
 * inclusive level gives up at random the levels above lose, often what another array brought in just before: by each that an L1 loses the turns of
 * its set shift, so that what is loaded pushes out what was stored. */
static void last_takes(struct lines *l, uint64_t line, uint64_t t)
{
	const unsigned arrays = l->shape.arrays, array = array_of(l, line);
	const uint64_t sets = l->last_lines / l->last_ways, lines = l->shape.array_bytes / 64, apart = l->shape.distance / 64;
	uint64_t before = l->last_policy == 2 ? 1 : l->last_ways;
	unsigned gone_of = 0, later_ones = 0;

	if (!l->shape.stored || l->shape.nontemporal)
		return;
	if (l->shape.cores > 1 && l->loses_above) {
		const uint64_t other = line + (1 + at_random(l) % PARTS) * sets;

		if (lost_above(l) && l->timed)
			(void)lines_write_memory(l, l->hash ? of_slice(l, other, slice_of(l, line)) : other, t);
		return;
	}
	while (l->last_policy == 2 && at_random(l) % l->last_ways)
		before++;
	/* array i came to the set last at a place that far behind this one's; the stored one is the first */
	for (; gone_of < arrays; gone_of++) {
		later_ones = 0;
		for (unsigned i = 0; i < arrays; i++)
			later_ones += set_behind(i, array, apart, sets) < set_behind(gone_of, array, apart, sets);
		if ((before - 1) % arrays == later_ones)
			break;
	}
	if (gone_of && (gone_of == arrays || l->shape.cores > 1 || !l->loses_above))
		return;
	if (l->shape.cores > 1) { /* none knows whose it is: any line of the set, where the oldest go one after the other that of the same part of some array */
		const uint64_t part = l->last_policy == 2 ? at_random(l) : (line / PART_LINES + array) * 2654435761u >> 16; /* Knuth's multiplicative hash */
		const uint64_t other = line + (1 + part % PARTS) * sets;

		(void)lines_write_memory(l, l->l3 && l->hash ? of_slice(l, other, slice_of(l, line)) : other, t);
		return;
	}
	const uint64_t at = (line - l->shape.base / 64 - array * apart) % lines, back = (before - 1) / arrays * sets + set_behind(gone_of, array, apart, sets);
	uint64_t gone = l->shape.base / 64 + gone_of * apart + (at + lines - back % lines) % lines;

	if (l->l3 && l->hash) /* lines of a set lie at any place of their rounds of the slices */
		gone = of_slice(l, gone, slice_of(l, line));
	if (l->loses_above && back < lines) {
		place_lose(places_find(&l->l1, gone));
		place_lose(places_find(&l->near->l2, gone));
	}
	if (!gone_of && l->timed)
		(void)lines_write_memory(l, gone, t);
}

void lines_leave(struct lines *l, uint64_t line, bool modified, uint64_t t)
{
	if (!l->timed || (!modified && (!l->l3 || l->inclusive)))
		return;
	if (l->l3) {
		t = turns_take(&l->far->slice[slice_of(l, line)], t);
		if (!l->inclusive && l->shape.level == 4)
			last_takes(l, line, t);
	} else {
		(void)lines_write_memory(l, line, t);
	}
}

/* Whether a line from memory was asked for a while ago and is in the last level since: a prefetcher's, which an L2 that replaces at random had given up before
 * it was used. Else it is from now on. */
static bool brought(struct lines *l, uint64_t line)
{
	struct brought *b = &l->brought[line % BROUGHT];

	if (b->line == line && b->number > l->flushed && l->asked - b->number < l->last_lines / l->shape.cores / 2)
		return true;
	*b = (struct brought){ line, ++l->asked };
	return false;
}

uint64_t lines_beyond(struct lines *l, uint64_t line, uint64_t t)
{
	const bool here = l->l3 && (l->shape.level < 4 || brought(l, line));
	const uint64_t channel = (line + l->shape.begins) % l->channels;
	uint64_t asked, ready;

	if (!l->timed) {
		if (l->loses_above)
			last_takes(l, line, t);
		return 0;
	}
	if (l->l3)
		t = turns_take(&l->far->slice[slice_of(l, line)], t);
	t = queue_start(&l->far->tracker, t, 1, 0);
	asked = ready = t + l->l3_cycles;
	if (!here) {
		const uint64_t sent = l->shape.remote ? turns_take(&l->far->to_here, asked) : asked; /* it comes over the link */
		const int64_t row = open_row(l, line, channel);

		ready = (uint64_t)((int64_t)(turns_take(&l->far->channel[channel], sent) + l->memory_cycles) + row);
		if (l->l3 && l->inclusive)
			last_takes(l, line, t);
	}
	queue_hold(&l->far->tracker, t, ready, NO_LINE);
	return ready;
}
