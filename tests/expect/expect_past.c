/* tests/expect/expect_past.c: stores past the caches followed line by line, from the text of a machine file.
 *
 * The rules are those at the heads of pmu/sim/memory/memory_write.c and dram.c: a store opens a write-combining buffer for its line, one of the fill buffers, or writes into
 * the one that is open, each in the second cycle after the one before it. A line that is full goes out at once, another one when a buffer must make room, or at the
 * fence that ends the window. Windows are of n and 2n lines, as the rows have them; in which channel the first line lies, and where in its beat a window begins, is
 * not known. Not seen here: allocation, which is never as slow as that. */
#include "tests/expect/expect_past.h"

#include <stdlib.h>

#include "tests/expect/expect_held.h"

#define LINES 256u       /* of the shorter window */
#define STARTS 12u
#define FULL 4u          /* stores of a line */
#define CHANNELS 16u
#define OPEN_MOST 64u
#define APART 100003u    /* cycles between windows: all is quiet again */

struct past {
	struct queue buffers;
	struct turns channel[CHANNELS];
	uint64_t channels, most, drain_cycles, partial;
	uint64_t open, line[OPEN_MOST], from[OPEN_MOST]; /* buffers that wait for more, the oldest first */
	uint64_t done;
};

/* The oldest open buffer goes out at t, of a whole line or not. */
static void goes_out(struct past *p, uint64_t t, bool whole)
{
	struct turns *channel = &p->channel[p->line[0] % p->channels];
	uint64_t start = t;

	for (uint64_t i = whole ? 1 : p->partial; i; i--)
		start = turns_take(channel, t);
	queue_hold(&p->buffers, p->from[0], start + p->drain_cycles, NO_LINE);
	p->done = start + p->drain_cycles > p->done ? start + p->drain_cycles : p->done;
	p->open--;
	for (uint64_t i = 0; i < p->open; i++) {
		p->line[i] = p->line[i + 1];
		p->from[i] = p->from[i + 1];
	}
}

/* From cycle t on until memory has taken the last line. */
static uint64_t window(struct past *p, uint64_t first, unsigned lines, unsigned stores, uint64_t t)
{
	const uint64_t begin = t;

	p->done = 0;
	for (uint64_t i = 0; i < lines; i++) {
		queue_forget(&p->buffers, begin);
		if (p->open == p->most)
			goes_out(p, t, false);
		t = queue_start(&p->buffers, t, p->drain_cycles, p->open);
		p->line[p->open] = first + i;
		p->from[p->open++] = t;
		t += 2 * (stores - 1);
		if (stores == FULL)
			goes_out(p, t + 1, true);
		t += 2;
	}
	while (p->open)
		goes_out(p, t, false);
	return p->done - begin;
}

bool past_milli(struct machine_text *t, unsigned stores, uint64_t *least, uint64_t *most)
{
	const unsigned __int128 hz3 = (unsigned __int128)machine_field(t, "clock", "bus_hz_times_3") * machine_field(t, "clock", "core_ratio");
	const uint64_t rate = machine_field(t, "dram", "channel_bytes_per_second"), buffers = machine_field(t, "wc", "buffers"), entries = machine_field(t, "lfb", "entries");
	bool there = rate && entries;

	*least = UINT64_MAX;
	*most = 0;
	for (unsigned start = 0; start < STARTS && there; start++) {
		struct past *p = calloc(1, sizeof(*p));
		uint64_t took[2];

		if (!p)
			return false;
		p->channels = machine_field(t, "dram", "channels");
		p->buffers.entries = entries;
		p->most = buffers < entries ? buffers : entries;
		p->partial = machine_field(t, "wc", "partial_transfers");
		p->drain_cycles = (uint64_t)((hz3 * machine_field(t, "wc", "drain_ps") + 2999999999999ull) / 3000000000000ull);
		for (unsigned i = 0; i < CHANNELS; i++)
			p->channel[i].period_65536 = (uint64_t)((hz3 * 64 << 16) / (3 * rate));
		there = p->channels && p->channels <= CHANNELS && p->most && p->most <= OPEN_MOST && !t->missing;
		for (unsigned longer = 0; there && longer < 2; longer++)
			took[longer] = window(p, start + longer * LINES, LINES << longer, stores, (1 + 10 * longer) * APART + start * 7);
		if (there) {
			const uint64_t milli = 1000 * (took[1] - took[0]) / LINES;

			*least = milli < *least ? milli : *least;
			*most = milli > *most ? milli : *most;
		}
		free(p);
	}
	return there;
}
