/* tests/expect/expect.c: what a row should find on a machine, from the text of its machine file. */
#include "tests/expect/expect_bandwidth.h"
#include "tests/expect/expect_core.h"
#include "tests/expect/expect_cores.h"
#include "tests/expect/expect_curves.h"
#include "tests/expect/expect_walk.h"

#include <stdlib.h>
#include <string.h>

#include "pmu/text.h"

/* Tolerance of a closed loop: 1 % or 0.1 cycle, whichever is larger. */
#define TOLERANCE_PERCENT 1
#define TOLERANCE_MILLI 100

static bool is(const char *at, size_t n, const char *text)
{
	return strlen(text) == n && !memcmp(at, text, n);
}

/* The preset in FORMAT.md's list of fields: | section | key | least | most | preset | what | */
static enum status preset_of(const char *format, const char *section, const char *key, uint64_t *value)
{
	for (const char *line = strstr(format, "<!-- fields -->"); line; line = strchr(line + 1, '\n')) {
		const char *cell = line + (*line == '\n');
		const char *text[8];
		size_t length[8];
		unsigned n = 0;

		while (*cell == '|' && n < 7) {
			const char *from = cell + 1 + strspn(cell + 1, " "), *end = strpbrk(from, "|\n");

			if (!end || *end == '\n')
				break;
			text[n] = from;
			length[n] = (size_t)(end - from);
			while (length[n] && from[length[n] - 1] == ' ')
				length[n]--;
			n++;
			cell = end;
		}
		if (n >= 5 && is(text[0], length[0], section) && is(text[1], length[1], key))
			return parse_u64(text[4], length[4], value);
	}
	return ST_MISSING;
}

enum status expect_field(const char *machine, const char *format, const char *section, const char *key, uint64_t *value)
{
	struct ini ini;
	enum status st;

	ini_init(&ini, machine, strlen(machine));
	while ((st = ini_next(&ini)) == ST_OK)
		if (is(ini.section, ini.section_length, section) && is(ini.key, ini.key_length, key) &&
		    !is(ini.value, ini.value_length, "unknown"))
			return parse_u64(ini.value, ini.value_length, value);
	return st == ST_MISSING ? preset_of(format, section, key, value) : st;
}

uint64_t machine_told(struct machine_text *t, const char *section, const char *key)
{
	uint64_t value = 0;

	if (expect_field(t->machine, t->format, section, key, &value) != ST_OK)
		t->missing = true;
	return value;
}

uint64_t machine_field(struct machine_text *t, const char *section, const char *key)
{
	static const char *const of_socket[][2] = { { "topology", "cores" }, { "l3", "bytes" }, { "l3", "slices" }, { "dram", "channels" } };
	const uint64_t value = machine_told(t, section, key), nodes = machine_told(t, "topology", "nodes");

	if (nodes < 2)
		return value;
	for (size_t i = 0; i < COUNT_OF(of_socket); i++)
		if (!strcmp(section, of_socket[i][0]) && !strcmp(key, of_socket[i][1]))
			return value / nodes;
	return !strcmp(section, "topology") && !strcmp(key, "sockets") ? value * nodes : value;
}

void machine_walk_loads(struct machine_text *t, unsigned page, uint64_t span_bytes, uint64_t *least, uint64_t *most)
{
	static const struct { const char *entries; unsigned bits; } caches[] = { { "pde_entries", 21 }, { "pdpte_entries", 30 }, { "pml4_entries", 39 } };
	bool may_stop = false, stops = false;

	*least = *most = 0;
	for (unsigned i = 0; i < COUNT_OF(caches) && !stops; i++) {
		const uint64_t entries = machine_field(t, "walk", caches[i].entries);

		if (caches[i].bits <= page)
			continue;
		may_stop |= entries > 0;
		stops = entries && entries >= (span_bytes + (1ull << caches[i].bits) - 1) >> caches[i].bits;
		*least += !may_stop;
		*most += !stops;
	}
}

static uint64_t round_up(uint64_t a, uint64_t b)
{
	return b ? (a + b - 1) / b : 0;
}

/* Core cycles that n uncore cycles last, rounded up. */
static uint64_t uncore(struct machine_text *f, uint64_t n)
{
	return round_up(n * machine_field(f, "clock", "core_ratio"), machine_field(f, "clock", "uncore_ratio"));
}

/* Core cycles in that many ps, rounded up. */
static uint64_t ps(struct machine_text *f, uint64_t n)
{
	unsigned __int128 hz3 = (unsigned __int128)machine_field(f, "clock", "bus_hz_times_3") * machine_field(f, "clock", "core_ratio");

	return (uint64_t)((hz3 * n + 2999999999999ull) / 3000000000000ull);
}

static uint64_t l1(struct machine_text *f) { return machine_field(f, "l1d", "cycles"); }
static uint64_t l2(struct machine_text *f) { return machine_field(f, "l2", "cycles"); }

/* Lookup of the last level, which is part of a load from memory. */
static uint64_t last(struct machine_text *f)
{
	if (machine_field(f, "l3", "bytes"))
		return machine_field(f, "l3", "core_cycles") + uncore(f, machine_field(f, "l3", "uncore_cycles"));
	return machine_field(f, "l2", "bytes") ? l2(f) : l1(f);
}

/* In random order over `span` bytes a load finds its bank's row open with at most the probability that a byte of the span lies in an open row; where
 * few nodes share a row, never. Any other load is a page miss. */
static void dram_local(struct machine_text *f, uint64_t span, uint64_t *least, uint64_t *most)
{
	uint64_t hit = ps(f, machine_field(f, "dram", "page_hit_ps")), miss = ps(f, machine_field(f, "dram", "page_miss_ps"));
	uint64_t open = machine_field(f, "dram", "channels") * machine_field(f, "dram", "banks") * machine_field(f, "dram", "page_bytes");

	*least = *most = last(f) + ps(f, machine_field(f, "dram", "local_ps"));
	if (!machine_field(f, "dram", "open_page"))
		return;
	if (open > span)
		open = span;
	*least += miss - (hit + miss) * (open / 1024) / (span / 1024);
	*most += miss - (2 * open > span ? (hit + miss) * (open - span / 2) / span : 0);
}

/* The span of a chase made cold by CLFLUSH, and of a region of the large chase: 16 pages of 2 MiB, half of the DTLB's entries for them, or half of
 * the ring, whichever is least. */
static uint64_t sparse_span(struct machine_text *f)
{
	uint64_t pages = machine_field(f, "dtlb", "large_entries") / 2;

	return (pages && pages < 16 ? pages : 16) * 0x200000;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t last_bytes(struct machine_text *f)
{
	uint64_t l3 = machine_field(f, "l3", "bytes"), l2_bytes = machine_field(f, "l2", "bytes");

	return l3 ? l3 : l2_bytes ? l2_bytes : machine_field(f, "l1d", "bytes");
}

#define ROW_PLACES 16u

/* Millionths of a region's lines, in random order, that find their bank's row open: a row with n of its bank's lines is open for n of them. How many
 * lines of a row a bank has depends on where in a row the region begins, which is unknown: least and most. */
static void region_meets(struct machine_text *f, uint64_t region, uint64_t *least, uint64_t *most)
{
	enum { BANKS_MOST = 4096 };
	const uint64_t channels = larger(1, machine_field(f, "dram", "channels")), banks = larger(1, machine_field(f, "dram", "banks"));
	const uint64_t row = larger(1, machine_field(f, "dram", "page_bytes") / 64), lines = larger(1, region / 64 / channels);

	*least = UINT64_MAX;
	*most = 0;
	for (uint64_t place = 0; place < ROW_PLACES && banks <= BANKS_MOST; place++) {
		uint64_t squares[BANKS_MOST] = { 0 }, all[BANKS_MOST] = { 0 }, met = 0;

		for (uint64_t at = row * place / ROW_PLACES, end = at + lines; at < end;) {
			const uint64_t next = (at / row + 1) * row < end ? (at / row + 1) * row : end, bank = at / row % banks;

			squares[bank] += (next - at) * (next - at);
			all[bank] += next - at;
			at = next;
		}
		for (uint64_t bank = 0; bank < banks; bank++)
			met += all[bank] ? squares[bank] / all[bank] : 0;
		*least = met * 1000000 / lines < *least ? met * 1000000 / lines : *least;
		*most = larger(*most, met * 1000000 / lines);
	}
}

/* When the chase enters a region, the banks still have rows of the previous one open. One line fewer per row finds its row open by chance, at most as
 * many as rows can be open. Whole cycles a load. */
static uint64_t region_opens(struct machine_text *f, uint64_t region)
{
	uint64_t open = machine_field(f, "dram", "channels") * machine_field(f, "dram", "banks") * machine_field(f, "dram", "page_bytes");
	uint64_t cost = ps(f, machine_field(f, "dram", "page_hit_ps")) + ps(f, machine_field(f, "dram", "page_miss_ps"));

	if (!machine_field(f, "dram", "open_page"))
		return 0;
	open = (open < region ? open : region) / 1024;
	return cost * 64 * open * open / (larger(1, machine_field(f, "dram", "page_bytes")) * (region / 1024) * (region / 1024));
}

static uint64_t walk_room(struct machine_text *f) { return machine_field(f, "l2", "bytes") / (machine_field(f, "l2", "ways") < 4 ? 4 : 2); }

static uint64_t lines_of_l1(struct machine_text *f) { return machine_field(f, "l1d", "bytes") / 64; }

/* Pages of the walks' ring, with one line a page: twice the entries of the larger level, and at least twice the lines of the L1. Twice as many if the L1
 * has fewer than 4 ways, the lines of entries are between its size and twice that, and the L2 has room. If walk_room has room for fewer, as many as that,
 * but at least a third more than the entries. 0: out of reach. */
static uint64_t missing_pages(struct machine_text *f)
{
	const uint64_t entries = larger(machine_field(f, "dtlb", "entries"), machine_field(f, "stlb", "entries")), room = walk_room(f) / 64 / 16 * 16;
	const uint64_t lines = lines_of_l1(f), pages = larger(2 * entries, 2 * lines);

	if (pages > room)
		return 3 * room >= 4 * entries && room >= 2 * lines ? room : 0;
	return machine_field(f, "l1d", "ways") < 4 && pages / 8 >= lines && pages / 8 < 2 * lines && 2 * pages * 64 <= walk_room(f) ? 2 * pages : pages;
}

/* Whether the ring uses every second line: it has less than four times the lines of the L1, and walk_room has room for twice as many. */
static bool walk_skips(struct machine_text *f)
{
	return missing_pages(f) < 4 * lines_of_l1(f) && 2 * missing_pages(f) <= walk_room(f) / 64 && machine_field(f, "l1d", "bytes") >= 128 * machine_field(f, "l1d", "ways");
}

/* Without that room, four times the lines of the L1 if these fit. */
static uint64_t walk_pages(struct machine_text *f)
{
	const uint64_t pages = missing_pages(f), enough = 4 * lines_of_l1(f);

	return pages && pages < enough && !walk_skips(f) && enough <= walk_room(f) / 64 ? enough : pages;
}

static uint64_t way_pages(struct machine_text *f, const char *cache)
{
	return larger(1, machine_field(f, cache, "bytes") / larger(1, machine_field(f, cache, "ways")) / 4096);
}

/* tlb.stlb_walk_4k's ring. */
static bool walk_4k(struct machine_text *f, int64_t *least_milli, int64_t *most_milli)
{
	/* Nodes that share a set of an inclusive L3 are pages a way of it apart whose lines have the same offset, which moves by `on` lines from one such page
	 * to the next. If they are more than half of the ways, the offset moves by one more. */
	const uint64_t places = walk_skips(f) ? 32 : 64; /* offsets in a page */
	const uint64_t on = way_pages(f, "l3") / way_pages(f, "l2") % places, alike = walk_pages(f) / way_pages(f, "l3") / (on ? places / (on & -on) : 1);
	const bool far = machine_field(f, "l3", "bytes") && machine_field(f, "l3", "inclusive") && alike > machine_field(f, "l3", "ways") / 2;
	const struct walk_ring ring = { .page_bytes = 4096, .nodes = walk_pages(f) / 16 * 16, .units = 4096, .passes = true, .spread = way_pages(f, "l2"),
		.spread_far = far ? way_pages(f, "l3") : 0 };

	return walk_milli(f, &ring, least_milli, most_milli);
}

/* The TLB sizes that the rows can measure. The first level has at most a quarter of the second level's entries, and one line per page fits in the L1;
 * for walks, in the L2. */
static bool dtlb_in_reach(struct machine_text *f)
{
	uint64_t first = machine_field(f, "dtlb", "entries"), second = machine_field(f, "stlb", "entries");
	uint64_t pages = 3 * first < second / 2 ? 3 * first : second / 2;

	return pages >= 2 * first && 2 * first <= machine_field(f, "l1d", "bytes") / 64 / 2;
}

static bool walk_in_reach(struct machine_text *f)
{
	return walk_pages(f);
}

/* A ring twice as large as the level below must leave a third of the last level free, and at least one way. */
static bool l3_in_reach(struct machine_text *f)
{
	const uint64_t bytes = machine_field(f, "l3", "bytes"), way = bytes ? bytes / machine_field(f, "l3", "ways") : 0, third = bytes - bytes / 3 * 2;
	const uint64_t most = bytes - (third > way || way == bytes ? third : way);

	return bytes && 2 * machine_field(f, "l2", "bytes") <= most;
}

static int64_t tolerance_of(int64_t milli)
{
	int64_t part = milli * TOLERANCE_PERCENT / 100;

	return part > TOLERANCE_MILLI ? part : TOLERANCE_MILLI;
}

enum status expect_row(const char *machine, const char *format, const char *row, struct expectation *out)
{
	struct machine_text f = { machine, format, false };
	const bool has_l2 = machine_field(&f, "l2", "bytes");
	uint64_t dram_least, dram_most, big_least, big_most, first = l1(&f);
	const uint64_t region = 3 * last_bytes(&f) < sparse_span(&f) ? 3 * last_bytes(&f) : sparse_span(&f);

	dram_local(&f, sparse_span(&f), &dram_least, &dram_most);
	dram_local(&f, region, &big_least, &big_most);
	if (!strcmp(row, "load.dram_local_big.latency") && machine_field(&f, "dram", "open_page")) { /* every line of a region is loaded, each with the same probability */
		const uint64_t hit = ps(&f, machine_field(&f, "dram", "page_hit_ps")), miss = ps(&f, machine_field(&f, "dram", "page_miss_ps"));
		const uint64_t closed = last(&f) + ps(&f, machine_field(&f, "dram", "local_ps")) + miss;
		uint64_t met_least, met_most;

		region_meets(&f, region, &met_least, &met_most);
		big_least = closed - (hit + miss) * met_most / 1000000;
		big_most = closed - (hit + miss) * met_least / 1000000 + region_opens(&f, region);
	}
	const struct { const char *row; bool there; uint64_t least, most; } formulas[] = {
		{ "load.l1.latency", true, first, first },
		{ "load.l2.latency", has_l2, l2(&f), l2(&f) },
		{ "load.l3.latency", l3_in_reach(&f), last(&f), last(&f) },
		{ "load.dram_local.latency", true, dram_least, dram_most },
		{ "load.dram_local_big.latency", 6 * last_bytes(&f) <= 0x40000000, big_least, big_most },
		{ "load.l2.penalty", has_l2, l2(&f) - first, l2(&f) - first },
		{ "load.l3.penalty", l3_in_reach(&f), last(&f) - first, last(&f) - first },
		{ "load.dram_local.penalty", true, dram_least - first, dram_most - first },
		{ "tlb.dtlb_4k.penalty", dtlb_in_reach(&f), machine_field(&f, "stlb", "cycles"), machine_field(&f, "stlb", "cycles") },
		{ "tlb.stlb_walk_4k.penalty", walk_in_reach(&f), 0, 0 },
	};

	if (f.missing)
		return ST_SYNTAX;
	for (size_t i = 0; i < COUNT_OF(formulas); i++) {
		int64_t least = (int64_t)formulas[i].least * 1000, most = (int64_t)formulas[i].most * 1000;

		if (strcmp(formulas[i].row, row))
			continue;
		if (!formulas[i].there)
			return ST_UNSUPPORTED;
		if (!strcmp(row, "tlb.stlb_walk_4k.penalty")) {
			if (!walk_4k(&f, &least, &most))
				return ST_MISSING;
			*out = (struct expectation){ least - (int64_t)larger(500, (uint64_t)least / 50), most + (int64_t)larger(500, (uint64_t)most / 50) };
			return ST_OK;
		}
		if (strstr(row, ".latency")) {
			least += 1000 * cost_of(&f, "load").latency;
			most += 1000 * cost_of(&f, "load").latency;
		}
		*out = (struct expectation){ least - tolerance_of(least), most + tolerance_of(most) };
		return ST_OK;
	}
	if (expect_core(machine, format, row, out) != ST_MISSING)
		return expect_core(machine, format, row, out);
	if (expect_curve(machine, format, row, out) != ST_MISSING)
		return expect_curve(machine, format, row, out);
	if (expect_cores(machine, format, row, out) != ST_MISSING)
		return expect_cores(machine, format, row, out);
	return expect_bandwidth(machine, format, row, out);
}

bool expect_is_limited(const char *machine, const char *format, const char *row, int64_t milli, const char *reason) { return curve_is_limited(machine, format, row, milli, reason); }
bool expect_may_hide(const char *machine, const char *format, const char *row) { return curve_may_hide(machine, format, row); }

enum status expect_queue(const char *machine, const char *format, const char *row, struct expectation *out)
{
	struct machine_text f = { machine, format, false };
	const bool has_l3 = machine_field(&f, "l3", "bytes"), sockets = machine_told(&f, "topology", "sockets") > 1;
	const bool open_page = machine_field(&f, "dram", "open_page"), as_dram = machine_field(&f, "link", "modified_as_dram");
	const uint64_t cores = machine_field(&f, "topology", "cores");
	/* bus_hz_times_3 * ratio = 3 * uncore_hz; ps * hz / 1e12 cycles, in thousandths */
	const unsigned __int128 hz3 = (unsigned __int128)machine_field(&f, "clock", "bus_hz_times_3") * machine_field(&f, "clock", "uncore_ratio");
	const uint64_t hit = open_page ? machine_field(&f, "dram", "page_hit_ps") : 0, miss = open_page ? machine_field(&f, "dram", "page_miss_ps") : 0;
	/* Cost of each load beyond the L3's lookup: uncore cycles, and ps where it leaves the socket's uncore. */
	const struct { const char *row; bool there; uint64_t cycles, time_ps; } formulas[] = {
		{ "load.l3.latency", true, 0, 0 },
		{ "load.l3_shared.latency", cores > 2 && machine_field(&f, "l3", "inclusive"), 0, 0 },
		{ "load.l3_clean_other_core.latency", cores > 1, machine_field(&f, "l3", "clean_uncore_cycles"), 0 },
		{ "load.l3_modified_other_core.latency", cores > 1, machine_field(&f, "l3", "modified_uncore_cycles"), 0 },
		{ "load.remote_l3_clean.latency", sockets, 0, machine_field(&f, "link", "clean_ps") },
		{ "load.remote_l3_modified.latency", sockets, 0, machine_field(&f, "link", "modified_ps") - (as_dram ? hit : 0) },
		{ "load.dram_local.latency", true, 0, machine_field(&f, "dram", "local_ps") + miss },
		{ "load.dram_local_big.latency", true, 0, machine_field(&f, "dram", "local_ps") + miss },
		{ "load.dram_remote.latency", sockets, 0, machine_field(&f, "dram", "remote_ps") + miss },
		{ "load.dram_page_hit.latency", true, 0, machine_field(&f, "dram", "local_ps") },
	};
	/* A client's arbiter sends its requests to memory after the lookup. */
	int64_t milli = strstr(machine, "uncore = client") ? 0 : (int64_t)machine_field(&f, "l3", "uncore_cycles") * 1000;

	if (f.missing)
		return ST_SYNTAX;
	for (size_t i = 0; i < COUNT_OF(formulas); i++) {
		if (strcmp(row, formulas[i].row))
			continue;
		if (!has_l3 || !formulas[i].there || expect_row(machine, format, row, out) == ST_UNSUPPORTED) /* a row that is not run has no queue */
			return ST_UNSUPPORTED;
		/* the share of page hits follows from the latency */
		if (!strncmp(row, "load.dram_local", 15) || !strcmp(row, "load.dram_page_hit.latency") || (as_dram && open_page && !strcmp(row, "load.remote_l3_modified.latency"))) {
			const int64_t core = (int64_t)machine_field(&f, "clock", "core_ratio"), uncores = (int64_t)machine_field(&f, "clock", "uncore_ratio");
			const int64_t low = milli + (out->least_milli * 100 / (100 - TOLERANCE_PERCENT) - 1000 * (int64_t)last(&f)) * uncores / core;
			const int64_t high = milli + (out->most_milli * 100 / (100 + TOLERANCE_PERCENT) - 1000 * (int64_t)last(&f)) * uncores / core;

			*out = (struct expectation){ low * 95 / 100, high * 105 / 100 };
			return ST_OK;
		}
		milli += (int64_t)formulas[i].cycles * 1000 + (int64_t)(hz3 * formulas[i].time_ps / 3000000000ull);
		*out = (struct expectation){ milli * 95 / 100, milli * 105 / 100 };
		return ST_OK;
	}
	return ST_MISSING;
}
