/* tests/expect/expect.c: what a row should find on a machine, from the text of its machine file. */
#include "tests/expect/expect_bandwidth.h"
#include "tests/expect/expect_core.h"
#include "tests/expect/expect_cores.h"
#include "tests/expect/expect_curves.h"

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

struct facts { const char *machine, *format; bool missing; };

static uint64_t field(struct facts *f, const char *section, const char *key)
{
	uint64_t value = 0;

	if (expect_field(f->machine, f->format, section, key, &value) != ST_OK)
		f->missing = true;
	return value;
}

static uint64_t round_up(uint64_t a, uint64_t b)
{
	return b ? (a + b - 1) / b : 0;
}

/* Core cycles that n uncore cycles last, rounded up. */
static uint64_t uncore(struct facts *f, uint64_t n)
{
	return round_up(n * field(f, "clock", "core_ratio"), field(f, "clock", "uncore_ratio"));
}

/* Core cycles that so many ps last, rounded up. */
static uint64_t ps(struct facts *f, uint64_t n)
{
	unsigned __int128 hz3 = (unsigned __int128)field(f, "clock", "bus_hz_times_3") * field(f, "clock", "core_ratio");

	return (uint64_t)((hz3 * n + 2999999999999ull) / 3000000000000ull);
}

static uint64_t l1(struct facts *f) { return field(f, "l1d", "cycles"); }
static uint64_t l2(struct facts *f) { return field(f, "l2", "cycles"); }

/* The lookup of the last level, which a load from memory has made too. */
static uint64_t last(struct facts *f)
{
	if (field(f, "l3", "bytes"))
		return field(f, "l3", "core_cycles") + uncore(f, field(f, "l3", "uncore_cycles"));
	return field(f, "l2", "bytes") ? l2(f) : l1(f);
}

/* In random order over `span` bytes a bank's open row is by chance the right one at most as often as all open rows
 * together are part of the span; where few nodes share a row, never; else it is another one: page miss. */
static void dram_local(struct facts *f, uint64_t span, uint64_t *least, uint64_t *most)
{
	uint64_t hit = ps(f, field(f, "dram", "page_hit_ps")), miss = ps(f, field(f, "dram", "page_miss_ps"));
	uint64_t open = field(f, "dram", "channels") * field(f, "dram", "banks") * field(f, "dram", "page_bytes");

	*least = *most = last(f) + ps(f, field(f, "dram", "local_ps"));
	if (!field(f, "dram", "open_page"))
		return;
	if (open > span)
		open = span;
	*least += miss - (hit + miss) * (open / 1024) / (span / 1024);
	*most += miss - (2 * open > span ? (hit + miss) * (open - span / 2) / span : 0);
}

/* What a chase made cold by CLFLUSH is spread over: 16 pages of 2 MiB, or half of what the DTLB holds of them. */
static uint64_t sparse_span(struct facts *f)
{
	uint64_t pages = field(f, "dtlb", "large_entries") / 2;

	return (pages && pages < 16 ? pages : 16) * 0x200000;
}

static uint64_t last_bytes(struct facts *f)
{
	uint64_t l3 = field(f, "l3", "bytes"), l2_bytes = field(f, "l2", "bytes");

	return l3 ? l3 : l2_bytes ? l2_bytes : field(f, "l1d", "bytes");
}

/* Both TLB levels asked in vain, then a walk: the PDE cache leaves one load, of an entry whose line was used
 * as many pages ago as there are groups of 8. In between come as many lines of data: with both an L1 that
 * replaces the oldest is filled to a quarter of as many lines as there are pages, twice the second level's
 * entries. Well below its size the entry comes from the L1, well above from the L2, else from one of them. */
static void walk(struct facts *f, uint64_t *least, uint64_t *most)
{
	uint64_t lines = field(f, "l1d", "bytes") / 64, between = field(f, "stlb", "entries") / 2;
	uint64_t lookup = field(f, "stlb", "cycles") + field(f, "walk", "cycles");
	bool oldest = field(f, "l1d", "policy") == 0;

	/* Another policy keeps some of the data in the L1, not as much in both of the row's orders. */
	*least = lookup + (oldest ? between >= 2 * lines ? l2(f) : l1(f) : 2 * l1(f) - (l2(f) < 2 * l1(f) ? l2(f) : 2 * l1(f)));
	*most = lookup + (oldest && 2 * between <= lines ? l1(f) : l2(f));
}

/* Which TLB sizes the rows can aim at. The first level must be a quarter of the second, and a line a page must
 * stay in the L1; for the walk, in the L2 and not in the L1. */
static bool dtlb_in_reach(struct facts *f)
{
	uint64_t first = field(f, "dtlb", "entries"), second = field(f, "stlb", "entries");
	uint64_t pages = 3 * first < second / 2 ? 3 * first : second / 2;

	return pages >= 2 * first && pages <= field(f, "l1d", "bytes") / 64 / 2;
}

static bool walk_in_reach(struct facts *f)
{
	uint64_t pages = 2 * field(f, "stlb", "entries");

	return pages && pages * 64 <= field(f, "l2", "bytes") / 2 && pages * 64 >= 2 * field(f, "l1d", "bytes");
}

/* How many ports an [exec] line names: "LATENCY PORTS BUSY", a digit a port. */
static uint64_t exec_ports(struct facts *f, const char *name, uint64_t preset)
{
	struct ini ini;

	ini_init(&ini, f->machine, strlen(f->machine));
	while (ini_next(&ini) == ST_OK)
		if (is(ini.section, ini.section_length, "exec") && is(ini.key, ini.key_length, name)) {
			const char *ports = memchr(ini.value, ' ', ini.value_length);
			size_t n = ports ? strspn(ports + 1, "0123456789abcdef") : 0;

			return n ? n : preset;
		}
	return preset;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Thousandths of a core cycle that an iteration of the triad (256 bytes of each array, 12 lines touched, 4 of them modified)
 * takes at least, arrays in cache level `level`, 4 = memory. */
static uint64_t triad(struct facts *f, unsigned level, bool nontemporal)
{
	uint64_t isa = field(f, "cpuid", "isa"), vectors = isa & 16 ? 4 : isa & 2 ? 8 : 16;
	/* A vector is load and multiply, load and add, store address and data; besides three LEA, ADD, AND, DEC, JNZ. */
	uint64_t slots = vectors * (!field(f, "core", "microfusion") ? 6 : isa & 18 ? 3 : 4) +
		(field(f, "core", "macrofusion") == 2 ? 6 : 7);
	uint64_t lines_in = nontemporal ? 8 : 12, lines_out = 4, channels, cycles;

	/* What loop buffer or uop cache deliver ends its group at the jump back; what the decoders make is joined. */
	cycles = slots <= field(f, "front", "loop_uops") || field(f, "front", "uop_cache") ? 1000 * round_up(slots, field(f, "core", "issue_width")) :
		1000 * slots / larger(1, field(f, "core", "issue_width"));
	cycles = larger(cycles, 2000 * vectors / exec_ports(f, "load", 1));
	cycles = larger(cycles, 1000 * vectors / exec_ports(f, "std", 1));
	if (level >= 2 && !nontemporal)
		cycles = larger(cycles, 1000 * (lines_in + lines_out) * field(f, "l2", "busy_cycles"));
	if (level >= 3) /* lines on their way to the L2; prefetchers may have taken them past the fill buffers */
		cycles = larger(cycles, 1000 * lines_in * last(f) / larger(1, field(f, "sq", "entries")));
	if (level == 4) {
		bool open_page = field(f, "dram", "open_page"); /* in sequence most accesses find their row open */
		uint64_t memory = field(f, "dram", "local_ps") - (open_page ? field(f, "dram", "page_hit_ps") : 0);

		cycles = larger(cycles, 1000 * lines_in * (last(f) + ps(f, memory)) / larger(1, field(f, "sq", "entries")));
		channels = field(f, "dram", "channels") * field(f, "dram", "channel_bytes_per_second");
		cycles = larger(cycles, (uint64_t)((unsigned __int128)(lines_in + lines_out) * 64000 * field(f, "clock", "bus_hz_times_3") *
		                                   field(f, "clock", "core_ratio") / 3 / (channels ? channels : 1)));
	}
	return cycles;
}

/* A triad in the L1 has a closed formula. Further out several limits meet and no closed formula is known here:
 * the least of them, 15 % more and half of it are bounds that catch a gross error. */
static enum status expect_triad(struct facts *f, const char *row, struct expectation *out)
{
	static const struct { const char *row; unsigned level; bool nontemporal; } rows[] = {
		{ "triad.l1.bandwidth", 1, false }, { "triad.l2.bandwidth", 2, false }, { "triad.l3.bandwidth", 3, false },
		{ "triad.dram.bandwidth", 4, false }, { "triad.dram_nt.bandwidth", 4, true },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		unsigned __int128 hz3 = (unsigned __int128)field(f, "clock", "bus_hz_times_3") * field(f, "clock", "core_ratio");
		int64_t milli;

		if (strcmp(rows[i].row, row))
			continue;
		if ((rows[i].level == 2 && !field(f, "l2", "bytes")) || (rows[i].level == 3 && !field(f, "l3", "bytes")))
			return ST_UNSUPPORTED;
		milli = (int64_t)(hz3 * 768 * 1000000 / 3 / triad(f, rows[i].level, rows[i].nontemporal));
		*out = rows[i].level == 1 ? (struct expectation){ milli / 100 * 99, milli / 100 * 101 } :
			(struct expectation){ milli / 2, milli / 100 * 115 };
		return f->missing ? ST_SYNTAX : ST_OK;
	}
	return ST_MISSING;
}

static int64_t tolerance_of(int64_t milli)
{
	int64_t part = milli * TOLERANCE_PERCENT / 100;

	return part > TOLERANCE_MILLI ? part : TOLERANCE_MILLI;
}

enum status expect_row(const char *machine, const char *format, const char *row, struct expectation *out)
{
	struct facts f = { machine, format, false };
	bool has_l2 = field(&f, "l2", "bytes"), has_l3 = field(&f, "l3", "bytes");
	uint64_t walk_least, walk_most, dram_least, dram_most, big_least, big_most, first = l1(&f);

	walk(&f, &walk_least, &walk_most);
	dram_local(&f, sparse_span(&f), &dram_least, &dram_most);
	dram_local(&f, 6 * last_bytes(&f), &big_least, &big_most);
	const struct { const char *row; bool there; uint64_t least, most; } formulas[] = {
		{ "load.l1.latency", true, first, first },
		{ "load.l2.latency", has_l2, l2(&f), l2(&f) },
		{ "load.l3.latency", has_l3, last(&f), last(&f) },
		{ "load.dram_local.latency", true, dram_least, dram_most },
		{ "load.dram_local_big.latency", 6 * last_bytes(&f) <= 0x40000000, big_least, big_most },
		{ "load.l2.penalty", has_l2, l2(&f) - first, l2(&f) - first },
		{ "load.l3.penalty", has_l3, last(&f) - first, last(&f) - first },
		{ "load.dram_local.penalty", true, dram_least - first, dram_most - first },
		{ "tlb.dtlb_4k.penalty", dtlb_in_reach(&f), field(&f, "stlb", "cycles"), field(&f, "stlb", "cycles") },
		{ "tlb.stlb_walk_4k.penalty", walk_in_reach(&f), walk_least, walk_most },
	};

	if (f.missing)
		return ST_SYNTAX;
	for (size_t i = 0; i < COUNT_OF(formulas); i++) {
		int64_t least = (int64_t)formulas[i].least * 1000, most = (int64_t)formulas[i].most * 1000;

		if (strcmp(formulas[i].row, row))
			continue;
		if (!formulas[i].there)
			return ST_UNSUPPORTED;
		*out = (struct expectation){ least - tolerance_of(least), most + tolerance_of(most) };
		return ST_OK;
	}
	if (expect_core(machine, format, row, out) != ST_MISSING)
		return expect_core(machine, format, row, out);
	if (expect_curve(machine, format, row, out) != ST_MISSING)
		return expect_curve(machine, format, row, out);
	if (expect_cores(machine, format, row, out) != ST_MISSING)
		return expect_cores(machine, format, row, out);
	if (expect_bandwidth(machine, format, row, out) != ST_MISSING)
		return expect_bandwidth(machine, format, row, out);
	return expect_triad(&f, row, out);
}

enum status expect_queue(const char *machine, const char *format, const char *row, struct expectation *out)
{
	struct facts f = { machine, format, false };
	const bool has_l3 = field(&f, "l3", "bytes");
	/* bus_hz_times_3 * ratio = 3 * uncore_hz; ps * hz / 1e12 cycles, in thousandths */
	const unsigned __int128 hz3 = (unsigned __int128)field(&f, "clock", "bus_hz_times_3") * field(&f, "clock", "uncore_ratio");
	const uint64_t memory_ps = field(&f, "dram", "local_ps") + (field(&f, "dram", "open_page") ? field(&f, "dram", "page_miss_ps") : 0);
	int64_t milli = (int64_t)field(&f, "l3", "uncore_cycles") * 1000;

	if (f.missing)
		return ST_SYNTAX;
	if (strcmp(row, "load.l3.latency") && strcmp(row, "load.dram_local.latency") && strcmp(row, "load.dram_local_big.latency"))
		return ST_MISSING;
	if (!has_l3)
		return ST_UNSUPPORTED;
	if (strcmp(row, "load.l3.latency"))
		milli += (int64_t)(hz3 * memory_ps / 3000000000ull);
	*out = (struct expectation){ milli * 95 / 100, milli * 105 / 100 };
	return ST_OK;
}
