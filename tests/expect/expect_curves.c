/* tests/expect/expect_curves.c: what rows of bench/curves.def should find, from the text of a machine file. */
#include "tests/expect/expect_curves.h"
#include "tests/expect/expect_core.h"

#include <stdlib.h>
#include <string.h>

static int64_t field(struct machine_text *t, const char *section, const char *key)
{
	return (int64_t)machine_field(t, section, key);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static struct expectation around(int64_t low_milli, int64_t high_milli)
{
	return (struct expectation){ low_milli - most(500, low_milli / 50), high_milli + most(500, high_milli / 50) };
}

/* Thousandths of a core cycle that memory of a node takes for a line, all channels busy. */
static int64_t line_milli(struct machine_text *t)
{
	unsigned __int128 hz3 = (unsigned __int128)field(t, "clock", "bus_hz_times_3") * (uint64_t)field(t, "clock", "core_ratio");
	int64_t bandwidth = field(t, "dram", "channels") * field(t, "dram", "channel_bytes_per_second");

	return (int64_t)(hz3 * 64000 / 3 / (uint64_t)most(1, bandwidth));
}

/* Core cycles, rounded up. */
static int64_t picoseconds(struct machine_text *t, int64_t n)
{
	unsigned __int128 hz3 = (unsigned __int128)field(t, "clock", "bus_hz_times_3") * (uint64_t)field(t, "clock", "core_ratio");

	return (int64_t)((hz3 * (uint64_t)n + 2999999999999ull) / 3000000000000ull);
}

static int64_t places_of(struct machine_text *t, int64_t limit)
{
	return most(1, least(least(limit, field(t, "core", "load_buffers")), least(field(t, "lfb", "entries"), least(field(t, "sq", "entries"), field(t, "gq", "read")))));
}

/* One after the other when as many are under way as there are places for them; `limit` of it is tried. */
static struct expectation overlap(struct machine_text *t, const struct expectation *one, int64_t limit, int64_t line)
{
	const int64_t places = places_of(t, limit);

	return around(most(one->least_milli / places, line), most(one->most_milli / places, line));
}

#define REGIONS 24 /* of a ring of load.dram_overlap, and as many loads a node at most */

/* The ring of load.dram_overlap as it is gone round, a line of each of x of 24 regions a node, nodes in random order, 11 lines from one to the
 * next. A load is under way from when its address is known and a place is free, and its line comes sooner where it finds its bank's row open
 * (pmu/sim/dram.c: lines go round the channels, rows round the banks). */
struct overlap_ring {
	int64_t region, nodes, places, kept; /* kept: loads behind the oldest that has not ended */
	int64_t channels, banks, lines, missed_milli, sooner_milli;
	int64_t *row; /* 1 + the one that is open */
	uint16_t order[2560];
	int64_t at;
};

enum { OVERLAP_RINGS = 16, OVERLAP_KEPT_MOST = 1024, OVERLAP_TURNS = 32, OVERLAP_SAMPLES = 3, OVERLAP_BANKS_MOST = 65536 };

static uint64_t drawn(uint64_t *state)
{
	*state ^= *state << 13; /* Marsaglia 2003 */
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 20;
}

static bool ring_begin(struct machine_text *t, int64_t missed_milli, int64_t sooner_milli, struct overlap_ring *r)
{
	static const int64_t multiples[] = { 2520, 840, 120, 24, 1 };
	const int64_t pages = field(t, "dtlb", "large_entries") / 2, apart = (pages && pages < 16 ? pages : 16) * 0x200000 / 64 / REGIONS - 1;

	*r = (struct overlap_ring){ .region = 1, .channels = most(1, field(t, "dram", "channels")), .banks = most(1, field(t, "dram", "banks")),
		.lines = most(1, field(t, "dram", "page_bytes") / 64), .missed_milli = missed_milli, .sooner_milli = sooner_milli };
	for (unsigned i = 0; i < COUNT_OF(multiples) && r->region == 1; i++)
		r->region = apart / multiples[i] * multiples[i] + 1;
	r->nodes = least(r->region / 11, COUNT_OF(r->order));
	r->places = most(1, least(least(field(t, "lfb", "entries"), field(t, "sq", "entries")), field(t, "gq", "read")));
	r->kept = most(1, least(OVERLAP_KEPT_MOST, least(field(t, "core", "load_buffers"), field(t, "core", "rob"))));
	r->row = r->channels * r->banks <= OVERLAP_BANKS_MOST ? malloc((size_t)(r->channels * r->banks) * sizeof(*r->row)) : NULL;
	return r->row && r->nodes && r->places <= OVERLAP_KEPT_MOST;
}

static void ring_shuffle(struct overlap_ring *r, uint64_t *state)
{
	for (int64_t i = 0; i < r->nodes; i++) {
		const int64_t with = (int64_t)(drawn(state) % (uint64_t)(i + 1));

		r->order[i] = r->order[with];
		r->order[with] = (uint16_t)i;
	}
	memset(r->row, 0, (size_t)(r->channels * r->banks) * sizeof(*r->row));
	r->at = 0;
}

/* A window of so many turns of x loads: until the last line has come. */
static int64_t ring_window(struct overlap_ring *r, int64_t x, int64_t turns)
{
	int64_t free_at[OVERLAP_KEPT_MOST] = { 0 }, gone[OVERLAP_KEPT_MOST] = { 0 }, known = 0, last = 0, load = 0;

	for (int64_t i = 0; i < turns; i++) {
		const int64_t node = r->order[r->at] * (r->region / r->nodes);
		int64_t next = 0;

		r->at = (r->at + 1) % r->nodes;
		for (int64_t j = 0; j < x; j++, load++) {
			const int64_t line = node + j * r->region, page = line / r->channels / r->lines, bank = line % r->channels * r->banks + page % r->banks;
			int64_t place = 0;

			for (int64_t p = 1; p < r->places; p++)
				place = free_at[p] < free_at[place] ? p : place;
			free_at[place] = most(most(known, free_at[place]), gone[load % r->kept]) + r->missed_milli - (r->row[bank] == 1 + page / r->banks ? r->sooner_milli : 0);
			r->row[bank] = 1 + page / r->banks;
			last = most(last, free_at[place]);
			gone[load % r->kept] = last;
			next = j ? next : free_at[place];
		}
		known = next;
	}
	return last;
}

static int64_t middle_of_three(int64_t a, int64_t b, int64_t c) { return most(least(a, b), least(most(a, b), c)); }

/* Thousandths of a cycle a load: the first of the points from 1 load to 24 that none undercuts by more than 1 %. */
static int64_t ring_goes(struct overlap_ring *r)
{
	int64_t points[REGIONS], least_milli = INT64_MAX;
	unsigned at = 0;

	for (int64_t x = 1; x <= REGIONS; x++) {
		int64_t samples[1 + OVERLAP_SAMPLES]; /* the first one warms up */

		for (unsigned i = 0; i <= OVERLAP_SAMPLES; i++) {
			int64_t took[2];

			for (unsigned longer = 0; longer < 2; longer++) {
				(void)ring_window(r, x, 1);
				took[longer] = ring_window(r, x, OVERLAP_TURNS << longer);
			}
			samples[i] = (took[1] - took[0]) / OVERLAP_TURNS;
		}
		points[x - 1] = middle_of_three(samples[1], samples[2], samples[3]) / x;
		least_milli = least(least_milli, points[x - 1]);
	}
	while (points[at] - points[at] / 100 > least_milli)
		at++;
	return points[at];
}

/* As `overlap`, a line at least; where the L3 takes what the L2 gives up for a line, its slice is held twice, but a set of the L2 from which lines
 * were flushed gives none up: then once. */
static struct expectation overlap_in_slices(struct machine_text *t, const struct expectation *one, int64_t once, int64_t uses)
{
	const struct expectation low = overlap(t, one, REGIONS, most(once, line_milli(t))), high = overlap(t, one, REGIONS, most(uses * once, line_milli(t)));

	return (struct expectation){ low.least_milli, high.most_milli };
}

/* As many under way as there are places for them, the rows that they find open by rings of several orders. */
static struct expectation spread_overlap(struct machine_text *t, const struct expectation *one)
{
	const int64_t hit = picoseconds(t, field(t, "dram", "page_hit_ps")), miss = picoseconds(t, field(t, "dram", "page_miss_ps"));
	const int64_t missed = one->most_milli * 100 / 101, places = places_of(t, REGIONS), uses = field(t, "l3", "inclusive") ? 1 : 2;
	const int64_t slice = field(t, "l3", "bytes") ? 1000 * field(t, "l3", "busy_uncore_cycles") * field(t, "clock", "core_ratio") /
		most(1, field(t, "clock", "uncore_ratio")) / most(1, field(t, "l3", "slices")) : 0;
	int64_t low = INT64_MAX, high = 0;
	uint64_t state = 88172645463325252u;
	struct overlap_ring r;

	if (!field(t, "dram", "open_page"))
		return overlap_in_slices(t, one, slice, uses);
	const bool there = ring_begin(t, missed, 1000 * (hit + miss), &r);

	for (unsigned i = 0; there && i < OVERLAP_RINGS; i++) {
		ring_shuffle(&r, &state);
		const int64_t milli = ring_goes(&r);

		low = least(low, milli);
		high = most(high, milli);
	}
	free(r.row);
	return overlap_in_slices(t, &(struct expectation){ low * places, high * places }, slice, uses);
}

/* The same from the L3, x of 16 loads a node: a line keeps its slice for a while, and once more where the L3 takes the one that the L2
 * gives up for it. A node's lines go round the slices in turn, or by their hash: then somewhere between that and all in one.
 * The row takes the least. */
static struct expectation l3_overlap(struct machine_text *t, const struct expectation *one)
{
	const int64_t slices = most(1, field(t, "l3", "slices")), uses = field(t, "l3", "inclusive") ? 1 : 2;
	const int64_t kept = 1000 * uses * field(t, "l3", "busy_uncore_cycles") * field(t, "clock", "core_ratio") / most(1, field(t, "clock", "uncore_ratio"));
	int64_t low = INT64_MAX, high = INT64_MAX;

	for (int64_t x = 1; x <= 16; x++) {
		const int64_t in_one = field(t, "l3", "hash") ? least(x, (x + slices - 1) / slices * 2) : (x + slices - 1) / slices;
		const struct expectation each = overlap(t, one, x, most(1000 * field(t, "l2", "busy_cycles"), kept * ((x + slices - 1) / slices) / x));
		const struct expectation late = overlap(t, one, x, most(1000 * field(t, "l2", "busy_cycles"), kept * in_one / x));

		low = least(low, each.least_milli);
		high = least(high, late.most_milli);
	}
	return (struct expectation){ low, high };
}

/* exec.chain_distribution: thousandths of a cycle an addition, one chain of `length` begun every `period` cycles. Each goes on
 * by an addition in fp_add's latency. The next one begins as soon as allocation comes to it: what of the chains before has
 * not been dispatched fits into the reservation station, and what lies behind the oldest of them that has not ended, which
 * is all that cannot retire, into the reorder buffer. No faster than additions find ports and slots. */
static int64_t chains_milli(struct machine_text *t, int64_t length)
{
	const struct cost add = cost_of(t, "fp_add");
	const int64_t latency = most(1, add.latency), rs = field(t, "core", "rs"), rob = field(t, "core", "rob");
	int64_t period = most(length / most(1, add.ports), length / most(1, least(field(t, "core", "issue_width"), field(t, "core", "retire_width"))));

	for (; period < latency * length; period++) {
		int64_t waiting = 0, kept = 0;

		for (int64_t before = 1; before * period < latency * length; before++) {
			waiting += length - before * period / latency;
			kept = before * length - before * period / latency;
		}
		if (waiting <= rs && kept <= rob)
			break;
	}
	return 1000 * period / length;
}

/* Thousandths of a cycle that each filler of a size's curve takes beside the two misses: as allocation, its port or commit lets it through. */
static int64_t filler_milli(struct machine_text *t, const char *row)
{
	const int64_t slot = 1000 / most(1, least(field(t, "core", "issue_width"), field(t, "core", "retire_width")));

	if (!strcmp(row, "size.rs.entries"))
		return most(slot, 1000 / most(1, cost_of(t, "lea").ports));
	if (!strcmp(row, "size.load_buffer.entries"))
		return most(slot, 1000 / most(1, cost_of(t, "load").ports));
	if (!strcmp(row, "size.store_buffer.entries"))
		return most(1000, slot * (field(t, "core", "microfusion") ? 1 : 2));
	if (!strcmp(row, "size.rob.entries"))
		return slot;
	/* a line: its channel, the L2's port, a slice */
	const int64_t busy = 1000 * field(t, "l3", "busy_uncore_cycles") * field(t, "clock", "core_ratio") / most(1, field(t, "clock", "uncore_ratio"));

	return most(most(line_milli(t), 1000 * field(t, "l2", "busy_cycles")), field(t, "l3", "bytes") ? busy / (field(t, "l3", "hash") ? 1 : most(1, field(t, "l3", "slices"))) : 0);
}

bool curve_may_hide(const char *machine, const char *format, const char *row)
{
	struct machine_text text = { machine, format, false }, *t = &text;
	const bool queue = !strcmp(row, "size.super_queue.entries"), stores = !strcmp(row, "size.store_buffer.entries");
	struct expectation one, size;

	if (strncmp(row, "size.", 5) || expect_row(machine, format, "load.dram_local.latency", &one) != ST_OK || expect_curve(machine, format, row, &size) != ST_OK)
		return false;
	/* the second miss may find its page open */
	const int64_t second = one.least_milli - (field(t, "dram", "open_page") ? 1000 * (picoseconds(t, field(t, "dram", "page_hit_ps")) + picoseconds(t, field(t, "dram", "page_miss_ps"))) : 0);
	const int64_t entries = (size.least_milli + size.most_milli) / 2000, channels = most(1, field(t, "dram", "channels"));

	if (queue) /* lines that are late by half of a load, or by the channel that most of them go through */
		return 2 * line_milli(t) * channels * ((entries + channels - 1) / channels) > second;
	/* stores are written while those of the next turn wait for room */
	return entries * filler_milli(t, row) > (stores ? second / 2 : second * 3 / 5);
}

enum status expect_curve(const char *machine, const char *format, const char *row, struct expectation *out)
{
	struct machine_text text = { machine, format, false }, *t = &text;
	int64_t rob = field(t, "core", "rob"), rs = field(t, "core", "rs");
	/* one thing fills before another: what the row finds is the smaller */
	const struct { const char *row; int64_t entries; } sizes[] = {
		{ "size.rob.entries", rob }, { "size.rs.entries", least(rs, rob - 1) },
		{ "size.load_buffer.entries", least(field(t, "core", "load_buffers"), rob) },
		{ "size.store_buffer.entries", least(field(t, "core", "store_buffers"), rob - 2) },
		{ "size.fill_buffers.entries", least(least(field(t, "lfb", "entries"), field(t, "core", "load_buffers")), field(t, "sq", "entries")) },
	};
	struct expectation one;
	enum status st;

	if (!strcmp(row, "size.super_queue.entries")) {
		/* two entries for each load: where the fill buffers end first nothing can fill it */
		int64_t queue = field(t, "sq", "entries"), loads = 2 * field(t, "lfb", "entries");

		if (!(field(t, "prefetch", "present") & 2) || !field(t, "l2", "bytes"))
			return ST_UNSUPPORTED;
		st = expect_row(machine, format, "load.dram_local.latency", &one);
		if (st != ST_OK)
			return st;
		if (loads <= queue)
			return ST_UNSUPPORTED;
		*out = (struct expectation){ 1000 * queue - 500, 1000 * queue + 500 };
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	for (unsigned i = 0; i < COUNT_OF(sizes); i++)
		if (!strcmp(row, sizes[i].row)) {
			*out = (struct expectation){ 1000 * sizes[i].entries - 500, 1000 * sizes[i].entries + 500 };
			return t->missing ? ST_SYNTAX : ST_OK;
		}
	if (!strcmp(row, "exec.chain_distribution.interval")) {
		const int64_t milli = chains_milli(t, 315);

		*out = around(milli, milli);
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!strcmp(row, "load.staircase.latency")) /* its first step is 4 KiB */
		return field(t, "l1d", "bytes") <= 4096 ? ST_MISSING : expect_row(machine, format, "load.l1.latency", out);
	if (!strcmp(row, "exec.gather_prefetch.interval")) {
		/* The chain of multiplications hides a line's way from memory when it is not the shorter of the two. */
		enum status from = expect_row(machine, format, "load.dram_local.latency", out);
		int64_t slowest = out->most_milli;

		st = expect_row(machine, format, "exec.mulsd.latency", &one);
		if (from != ST_OK || st != ST_OK)
			return from != ST_OK ? from : st;
		const int64_t milli = 64 * ((one.least_milli + one.most_milli) / 2);

		if (milli < slowest || milli < line_milli(t))
			return ST_MISSING;
		*out = around(milli, milli);
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!strcmp(row, "load.dram_overlap.interval") || !strcmp(row, "load.fill_buffer.latency")) {
		st = expect_row(machine, format, "load.dram_local.latency", &one);
		if (st == ST_OK)
			*out = !strcmp(row, "load.fill_buffer.latency") ? one : spread_overlap(t, &one);
		return st == ST_OK && t->missing ? ST_SYNTAX : st;
	}
	if (!strcmp(row, "tlb.walk_2m.penalty") || !strcmp(row, "tlb.walk_1g.penalty")) {
		bool huge = !strcmp(row, "tlb.walk_1g.penalty"), two = field(t, "stlb", "entries");
		int64_t first = field(t, "dtlb", huge ? "huge_entries" : "large_entries"), l1 = field(t, "l1d", "cycles"), l2 = field(t, "l2", "cycles");
		int64_t second = huge ? field(t, "stlb", "huge_entries") : field(t, "stlb", "large") ? field(t, "stlb", "entries") : 0;
		int64_t pages = 2 * most(first, second), l1_lines = field(t, "l1d", "bytes") / 64, low, high;
		const int64_t lookup = (two ? field(t, "stlb", "cycles") : 0) + field(t, "walk", "cycles");
		uint64_t above_least, above_most;

		if (!first)
			return ST_MISSING;
		if (field(t, "cpuid", "family") != 6 && field(t, "control", "highest_leaf") < 24)
			return ST_MISSING; /* CPUID does not tell this driver how many pages the TLBs hold */
		if (huge && !(field(t, "cpuid", "isa") & 0x80))
			return ST_UNSUPPORTED;
		/* the page's own entry, with others of its line, from the L1; and those above that nothing holds */
		low = high = 1000 * (lookup + l1);
		if (2 * pages > l1_lines) { /* nothing stays in the L1: the first of eight neighbours' entries comes from the L2 */
			pages = most(pages, 2 * l1_lines);
			if (pages * 64 > field(t, "l2", "bytes") / 2)
				return ST_UNSUPPORTED;
			low = high = 1000 * lookup + 1000 * (l2 + 7 * l1) / 8;
			if (field(t, "l1d", "policy")) { /* some lines stay in the L1, not as many in both of the row's orders */
				low = 1000 * (lookup + 2 * l1 - least(l2, 2 * l1));
				high = 1000 * (lookup + l2);
			}
		} else if (!huge && two && !second && field(t, "control", "highest_leaf") < 24) {
			/* what describes such processors may say that the second level holds them: then as many pages are gone round */
			high = 1000 * lookup + 1000 * (l2 + 7 * l1) / 8;
		}
		machine_walk_loads(t, huge ? 30 : 21, (uint64_t)pages << (huge ? 30 : 21), &above_least, &above_most);
		low += 1000 * l1 * (int64_t)above_least;
		high += 1000 * l1 * (int64_t)above_most;
		/* a multiple of 16; the node's first page of that size has other things in it */
		if (((pages + 15) / 16 * 16 + 1) * (huge ? 1ll << 30 : 1ll << 21) > field(t, "dram", "node_bytes"))
			return ST_UNSUPPORTED;
		*out = around(low, high);
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!strcmp(row, "tlb.walk_concurrency.interval")) {
		/* Eight pages' entries lie in one line of the table or in two; each comes from the L2 once, for every walker that wants it until it
		 * is there, and then from the L1, or always from there. One walk after the other for each walker, but not faster than the
		 * chain that leads. */
		int64_t first = field(t, "l1d", "cycles"), second = field(t, "l2", "cycles"), walk = field(t, "walk", "cycles");
		int64_t walkers = most(1, field(t, "walk", "walkers")), pages = 2 * most(field(t, "dtlb", "entries"), field(t, "stlb", "entries"));
		const int64_t slowly = least(8, 2 * walkers);
		uint64_t above_least, above_most;

		machine_walk_loads(t, 12, 4096 * (uint64_t)pages, &above_least, &above_most);

		const int64_t shorter = walk + first * (int64_t)above_least, longer = walk + first * (int64_t)above_most;
		const int64_t chain = 1000 * (field(t, "stlb", "cycles") + shorter + first) / 8, slow = 1000 * (field(t, "stlb", "cycles") + longer + 2 * second) / 8;

		if (!field(t, "stlb", "entries") || pages * 64 > field(t, "l2", "bytes") / 2)
			return ST_UNSUPPORTED;
		/* the pages' own lines and those of their entries, through the L2's port */
		const int64_t busy = 1000 * field(t, "l2", "busy_cycles") / 8, lines = field(t, "l1d", "bytes") / 64;
		const int64_t port = pages > 2 * lines ? 9 * busy : 0, longest = 2 * pages > lines ? (8 + slowly) * busy : 0;

		*out = around(most(most(1000 * (shorter + first) / walkers, chain), port), most(most(1000 * (8 * longer + (8 - slowly) * first + slowly * second) / 8 / walkers, slow), longest));
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!strcmp(row, "load.l3_overlap.interval")) {
		int64_t l2 = field(t, "l2", "bytes"), l3 = field(t, "l3", "bytes");

		st = expect_row(machine, format, "load.l3.latency", &one);
		if (st == ST_OK && 8 * l2 > l3 / 4 * 3)
			return ST_UNSUPPORTED;
		if (st == ST_OK)
			*out = l3_overlap(t, &one);
		return st == ST_OK && t->missing ? ST_SYNTAX : st;
	}
	return ST_MISSING;
}
