/* tests/expect/expect_overlap.c: see the header. Rings as bench/curves/curve.h has them are gone round.
 *
 * A load goes when its address is known, a port sends it and a place is free: a fill buffer, an entry of each queue beyond, a load buffer. Its line
 * takes its turn of the L2's port, of its slice, of its channel, and comes sooner where it finds its bank's row open (pmu/sim/memory/memory.c, dram.c: lines go round
 * the channels, rows round the banks). The limits meet: 17 places for a line of 197 cycles on a channel that takes 11.6 for each are 12.2 a load.
 * Not seen here: the reservation station, walks, prefetchers, which are off. */
#include "tests/expect/expect_overlap.h"

#include <stdlib.h>
#include <string.h>

#include "tests/expect/expect_core.h"
#include "tests/expect/expect_held.h"

#define REGIONS 24        /* of a ring in memory, and as many loads a node at most */
#define FAR_NODES 2560
#define FAR_STEP 11       /* lines from node to node, where enough nodes fit so */
#define NEAR_LOADS 16     /* of a node in the L3, whose lines lie behind each other */
#define NEAR_STEP 7       /* from one of its loads to the next, round the node */
#define NEAR_TIMES 8      /* such a ring in the L2 */
#define PAGE_LINES 0x8000 /* of 2 MiB */
#define RINGS 16
#define TURNS 32
#define SAMPLES 3
#define NODES_MOST 65536
#define KEPT_MOST 1024
#define PLACES_MOST 1024
#define SLICES 64
#define CHANNELS 16
#define BANKS_MOST 256
#define BREAKDOWN_CYCLES 1000000 /* from window to window: nothing is under way any more */

struct ring {
	struct machine_text *t;
	bool memory, l3, hash, open_page;
	uint64_t most, nodes, node_lines, region, begins;       /* region: from a load to the next in memory */
	uint64_t places, kept, ports, dispatch, load;           /* kept: loads behind the oldest that has not ended */
	uint64_t slices, channels, banks, row_lines, uses, l2_lines; /* uses: of a slice, for each line */
	uint64_t l3_cycles, memory_cycles, hit_cycles, miss_cycles;
	uint64_t at, now, came, row[CHANNELS][BANKS_MOST];      /* row: 1 + the one that is open */
	uint64_t free_at[PLACES_MOST], gone[KEPT_MOST];
	struct turns port, slice[SLICES], channel[CHANNELS];
	uint32_t order[NODES_MOST];
	uint32_t *before;                                       /* lines that came, as many as the L2 holds */
};

static uint64_t least_of(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t field(struct machine_text *t, const char *section, const char *key) { return machine_field(t, section, key); }

static uint64_t drawn(uint64_t *state)
{
	*state ^= *state << 13; /* Marsaglia 2003 */
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 20;
}

static uint64_t ps(struct machine_text *t, uint64_t n) /* whole cycles, rounded up */
{
	const unsigned __int128 hz3 = (unsigned __int128)field(t, "clock", "bus_hz_times_3") * field(t, "clock", "core_ratio");

	return (uint64_t)((hz3 * n + 2999999999999ull) / 3000000000000ull);
}

/* Nodes and lines of the ring. */
static void shape(struct ring *r)
{
	static const uint64_t multiples[] = { 2520, 840, 120, 24, 1 };
	const uint64_t pages = field(r->t, "dtlb", "large_entries") / 2, apart = (pages && pages < 16 ? pages : 16) * PAGE_LINES / REGIONS - 1;

	if (!r->memory) {
		r->most = r->node_lines = NEAR_LOADS;
		r->nodes = NEAR_TIMES * r->l2_lines / NEAR_LOADS;
		return;
	}
	r->most = REGIONS;
	for (unsigned i = 0; i < COUNT_OF(multiples) && !r->region; i++)
		r->region = apart / multiples[i] * multiples[i] + (apart >= multiples[i]);
	r->nodes = least_of(r->region / (r->region >= 3 * TURNS * FAR_STEP ? FAR_STEP : 1), FAR_NODES);
	r->node_lines = r->nodes ? r->region / r->nodes : 0;
}

static struct ring *ring_open(struct machine_text *t, bool memory)
{
	const uint64_t core = field(t, "clock", "core_ratio"), uncore = later(1, field(t, "clock", "uncore_ratio")), rate = later(1, field(t, "dram", "channel_bytes_per_second"));
	struct ring *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->t = t;
	r->memory = memory;
	r->l3 = field(t, "l3", "bytes");
	r->hash = field(t, "l3", "hash");
	r->open_page = field(t, "dram", "open_page");
	r->l2_lines = field(t, "l2", "bytes") / 64;
	r->places = least_of(least_of(field(t, "lfb", "entries"), field(t, "sq", "entries")), field(t, "gq", "read"));
	r->kept = least_of(least_of(KEPT_MOST, field(t, "core", "load_buffers")), field(t, "core", "rob"));
	r->ports = (uint64_t)cost_of(t, "load").ports;
	r->load = (uint64_t)cost_of(t, "load").latency;
	r->dispatch = field(t, "core", "dispatch_cycles");
	r->slices = field(t, "l3", "slices");
	r->channels = field(t, "dram", "channels");
	r->banks = field(t, "dram", "banks");
	r->row_lines = later(1, field(t, "dram", "page_bytes") / 64);
	r->l3_cycles = r->l3 ? field(t, "l3", "core_cycles") + (field(t, "l3", "uncore_cycles") * core + uncore - 1) / uncore : field(t, r->l2_lines ? "l2" : "l1d", "cycles");
	r->memory_cycles = ps(t, field(t, "dram", "local_ps"));
	r->hit_cycles = ps(t, field(t, "dram", "page_hit_ps"));
	r->miss_cycles = ps(t, field(t, "dram", "page_miss_ps"));
	r->port.period_65536 = field(t, "l2", "busy_cycles") << 16;
	for (unsigned i = 0; i < SLICES; i++)
		r->slice[i].period_65536 = (field(t, "l3", "busy_uncore_cycles") * core << 16) / uncore;
	for (unsigned i = 0; i < CHANNELS; i++)
		r->channel[i].period_65536 = (uint64_t)(((unsigned __int128)field(t, "clock", "bus_hz_times_3") * core * 64 << 16) / (3 * rate));
	shape(r);
	r->before = calloc(r->l2_lines + 1, sizeof(*r->before));
	if (r->before && !t->missing && r->nodes && r->nodes <= NODES_MOST && r->places && r->places <= PLACES_MOST && r->kept && r->ports && r->slices && r->slices <= SLICES &&
	    r->channels && r->channels <= CHANNELS && r->banks && r->banks <= BANKS_MOST)
		return r;
	free(r->before);
	free(r);
	return NULL;
}

/* Another order, at another place. */
static void ring_begin(struct ring *r, unsigned number, uint64_t *state)
{
	for (uint64_t i = 0; i < r->nodes; i++) {
		const uint64_t with = drawn(state) % (i + 1);

		r->order[i] = r->order[with];
		r->order[with] = (uint32_t)i;
	}
	memset(r->row, 0, sizeof(r->row));
	r->begins = (1 + number) * PAGE_LINES;
	r->at = 0;
	/* one that takes what the L2 gives up; but a set of the L2 from which lines were flushed gives none up */
	r->uses = field(r->t, "l3", "inclusive") ? 1 : r->memory ? 1 + number % 2 : 2;
}

/* Lines go round the slices; with a hash round n begins at slice x ^ x / 2^5, x = n ^ n / 2^7 ^ n / 2^13 (pmu/sim/memory/cache.h). */
static uint64_t slice_of(const struct ring *r, uint64_t line)
{
	const uint64_t n = line / r->slices, x = n ^ n >> 7 ^ n >> 13;

	return (line + (r->hash ? x ^ x >> 5 : 0)) % r->slices;
}

/* When a line comes that is asked for at t. */
static uint64_t comes(struct ring *r, uint64_t line, uint64_t t)
{
	const uint64_t channel = line % r->channels, row = line / r->channels / r->row_lines, bank = row % r->banks, now = 1 + row / r->banks;
	uint64_t late = 0;

	t = turns_take(&r->port, t);
	if (r->l3) {
		const uint64_t asked = t;

		t = turns_take(&r->slice[slice_of(r, line)], t);
		if (r->uses > 1)
			(void)turns_take(&r->slice[slice_of(r, r->before[r->came % (r->l2_lines + 1)])], asked);
		r->before[r->came++ % (r->l2_lines + 1)] = (uint32_t)line;
	}
	if (!r->memory)
		return t + r->l3_cycles;
	t = turns_take(&r->channel[channel], t + r->l3_cycles) + r->memory_cycles;
	if (!r->open_page)
		return t;
	late = r->row[channel][bank] && r->row[channel][bank] != now ? r->miss_cycles : 0;
	t -= r->row[channel][bank] == now ? r->hit_cycles : 0;
	r->row[channel][bank] = now;
	return t + late;
}

/* A window of so many turns of x loads: until the last line has come. */
static uint64_t ring_window(struct ring *r, uint64_t x, uint64_t turns)
{
	const uint64_t begin = r->now += BREAKDOWN_CYCLES;
	uint64_t known = begin, sent = begin, sent_now = 0, last = begin, load = 0;

	for (uint64_t i = 0; i < r->places; i++)
		r->free_at[i] = begin;
	for (uint64_t i = 0; i < r->kept; i++)
		r->gone[i] = begin;
	for (uint64_t i = 0; i < turns; i++) {
		const uint64_t node = r->begins + r->order[r->at] * r->node_lines;
		uint64_t next = 0;

		r->at = (r->at + 1) % r->nodes;
		for (uint64_t j = 0; j < x; j++, load++) {
			uint64_t place = 0, t = later(known, load < r->kept ? begin : r->gone[load % r->kept] + 1 + r->dispatch);

			if (t > sent) {
				sent = t;
				sent_now = 0;
			} else if (sent_now == r->ports) {
				sent++;
				sent_now = 0;
			}
			sent_now++;
			for (uint64_t p = 1; p < r->places; p++)
				place = r->free_at[p] < r->free_at[place] ? p : place;
			r->free_at[place] = comes(r, node + (r->memory ? j * r->region : j * NEAR_STEP % NEAR_LOADS), later(sent, r->free_at[place]));
			last = later(last, r->free_at[place] + r->load);
			r->gone[load % r->kept] = last;
			next = j ? next : r->free_at[place] + r->load;
		}
		known = next;
	}
	r->now = last;
	return last - begin;
}

static uint64_t middle_of_three(uint64_t a, uint64_t b, uint64_t c) { return later(least_of(a, b), least_of(later(a, b), c)); }

/* Thousandths of a cycle a load: the first of the points from 1 load on that none undercuts by more than 1 %. */
static int64_t ring_goes(struct ring *r)
{
	uint64_t points[REGIONS] = { 0 }, least_milli = UINT64_MAX, at = 0;

	for (uint64_t x = 1; x <= r->most; x++) {
		uint64_t samples[1 + SAMPLES]; /* the first one warms up */

		for (unsigned i = 0; i <= SAMPLES; i++) {
			uint64_t took[2];

			for (unsigned longer = 0; longer < 2; longer++) {
				(void)ring_window(r, x, 1);
				took[longer] = ring_window(r, x, TURNS << longer);
			}
			samples[i] = 1000 * (took[1] - took[0]) / TURNS;
		}
		points[x - 1] = middle_of_three(samples[1], samples[2], samples[3]) / x;
		least_milli = least_of(least_milli, points[x - 1]);
	}
	while (points[at] - points[at] / 100 > least_milli)
		at++;
	return (int64_t)points[at];
}

bool overlap_milli(struct machine_text *t, bool memory, int64_t *least, int64_t *most)
{
	struct ring *r = ring_open(t, memory);
	uint64_t state = 88172645463325252u;

	*least = INT64_MAX;
	*most = 0;
	for (unsigned i = 0; r && i < RINGS; i++) {
		ring_begin(r, i, &state);
		const int64_t milli = ring_goes(r);

		*least = milli < *least ? milli : *least;
		*most = milli > *most ? milli : *most;
	}
	if (r)
		free(r->before);
	free(r);
	return *most;
}
