/* tests/expect/expect_curves.c: what rows of bench/catalogue/curves.def should find, from the text of a machine file. */
#include "tests/expect/expect_curves.h"
#include "tests/expect/expect_core.h"
#include "tests/expect/expect_overlap.h"
#include "tests/expect/expect_walk.h"

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

/* Thousandths of a core cycle a line from a node's memory, with all channels busy. */
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

/* As many loads in flight as possible. */
static enum status overlap(struct machine_text *t, bool memory, struct expectation *out)
{
	int64_t low, high;

	if (!overlap_milli(t, memory, &low, &high))
		return t->missing ? ST_SYNTAX : ST_MISSING;
	*out = around(low, high);
	return ST_OK;
}

/* exec.chain_distribution: thousandths of a cycle an addition, if one chain of `length` begins every `period` cycles. A chain
 * executes one addition per latency of fp_add. It begins as soon as it is allocated: the additions of earlier chains that have
 * not dispatched fit in the reservation station, and all from the oldest unfinished addition on, which cannot retire, in the
 * reorder buffer. Ports and slots bound the period. */
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

/* The time that a line occupies its slice. */
static int64_t slice_milli(struct machine_text *t)
{
	return field(t, "l3", "bytes") ? 1000 * field(t, "l3", "busy_uncore_cycles") * field(t, "clock", "core_ratio") / most(1, field(t, "clock", "uncore_ratio")) : 0;
}

/* Thousandths of a cycle of the front end per instruction, for that many consecutive instructions of that many bytes. */
static int64_t supply_milli(struct machine_text *t, int64_t entries, int64_t bytes)
{
	const int64_t window = field(t, "front", "uop_cache_window"), uops = window / bytes, line = most(1, field(t, "front", "uop_cache_line_uops"));
	const int64_t lines = (entries * bytes + window - 1) / window * ((uops + line - 1) / line);

	if (uops <= field(t, "front", "uop_cache_window_uops") && lines * line <= field(t, "front", "uop_cache"))
		return most(1000 / most(1, field(t, "front", "uop_cache_width")), 1000 / uops);
	return most(1000 / most(1, field(t, "front", "decode_width")), 1000 * bytes / most(1, field(t, "front", "decode_bytes")));
}

/* Thousandths of a cycle per filler of a size's curve, beside the two misses: as the front end, allocation, the filler's port or commit bounds it. */
static int64_t filler_milli(struct machine_text *t, const char *row, int64_t entries)
{
	const int64_t bytes = !strcmp(row, "size.rob.entries") ? 1 : !strcmp(row, "size.rs.entries") ? 4 : 3; /* NOP, LEA, MOV */
	const int64_t slot = most(1000 / most(1, least(field(t, "core", "issue_width"), field(t, "core", "retire_width"))), supply_milli(t, entries, bytes));

	if (!strcmp(row, "size.rs.entries"))
		return most(slot, 1000 / most(1, cost_of(t, "lea").ports));
	if (!strcmp(row, "size.load_buffer.entries"))
		return most(slot, 1000 / most(1, cost_of(t, "load").ports));
	if (!strcmp(row, "size.store_buffer.entries"))
		return most(1000, slot * (field(t, "core", "microfusion") ? 1 : 2));
	if (!strcmp(row, "size.rob.entries"))
		return slot;
	/* a line: its channel, the L2's port, a slice */
	return most(most(line_milli(t), 1000 * field(t, "l2", "busy_cycles")), slice_milli(t) / (field(t, "l3", "hash") ? 1 : most(1, field(t, "l3", "slices"))));
}

/* The longer of the times that a line occupies its channel or slice, where there are several. */
static int64_t occupancy_milli(struct machine_text *t)
{
	const int64_t channels = field(t, "dram", "channels");

	return most(channels > 1 ? channels * line_milli(t) : 0, field(t, "l3", "slices") > 1 ? slice_milli(t) : 0);
}

/* The chain of additions hides the latency of a line from memory, up to 32 elements ahead, unless the lines in flight (Little's law) or their channels take
 * longer. Behind a chain the element's address is loaded, then the element: the waiting part of the chain hides these two loads as far as the reservation
 * station and the reorder buffer have room for it. */
#define GATHER_BESIDE 12 /* the other slots of an element */
static enum status gather(struct machine_text *t, struct expectation *out)
{
	const int64_t work = most(128000 * most(1, cost_of(t, "int").latency), 128 * supply_milli(t, 128, 3)), l1 = 1000 * field(t, "l1d", "cycles");
	const int64_t l2 = field(t, "l2", "bytes") ? 1000 * field(t, "l2", "cycles") : l1, l3 = field(t, "l3", "bytes") ? l2 + 1000 * field(t, "l3", "core_cycles") : l2;
	const int64_t lfb = most(1, field(t, "lfb", "entries")), sq = most(1, field(t, "sq", "entries")), gq = field(t, "l3", "bytes") ? most(1, field(t, "gq", "read")) : INT64_MAX;
	const int64_t room = least(field(t, "core", "rs"), field(t, "core", "rob"));
	const int64_t begins = field(t, "core", "dispatch_cycles") + 2 * (field(t, "l1d", "cycles") + cost_of(t, "load").latency) + GATHER_BESIDE, waits = most(0, 1000 * (begins - room));
	struct expectation one;
	const enum status st = expect_row(t->machine, t->format, "load.dram_local.latency", &one);

	if (st != ST_OK)
		return st;
	if (32 * work < one.most_milli)
		return ST_MISSING;
	/* its 256 lines may all find their rows open */
	const int64_t met = one.least_milli - (field(t, "dram", "open_page") ? 1000 * (picoseconds(t, field(t, "dram", "page_hit_ps")) + picoseconds(t, field(t, "dram", "page_miss_ps"))) : 0);
	const int64_t held = most(most((met - l1) / lfb, (met - l2) / sq), (met - l3) / gq), kept = most(most(one.most_milli / lfb, one.most_milli / sq), one.most_milli / gq);

	*out = around(most(most(work, line_milli(t)), held), most(most(work, line_milli(t) * field(t, "dram", "channels")), kept) + waits);
	return t->missing ? ST_SYNTAX : ST_OK;
}

bool curve_may_hide(const char *machine, const char *format, const char *row)
{
	struct machine_text text = { machine, format, false }, *t = &text;
	const bool queue = !strcmp(row, "size.super_queue.entries"), stores = !strcmp(row, "size.store_buffer.entries");
	struct expectation one, size;

	if (strncmp(row, "size.", 5) || expect_row(machine, format, "load.dram_local.latency", &one) != ST_OK || expect_curve(machine, format, row, &size) != ST_OK)
		return false;
	/* the second miss may be a page hit */
	const int64_t second = one.least_milli - (field(t, "dram", "open_page") ? 1000 * (picoseconds(t, field(t, "dram", "page_hit_ps")) + picoseconds(t, field(t, "dram", "page_miss_ps"))) : 0);
	const int64_t entries = (size.least_milli + size.most_milli) / 2000, channels = most(1, field(t, "dram", "channels"));

	if (queue) { /* the step is hidden if half of the second miss is shorter than the lines' time on their busiest channel, the L2's port or the slices, or
		      * than that of loads from the L2; or if a further line waits in the read tracker instead */
		const int64_t late = most(line_milli(t) * channels * ((entries + channels - 1) / channels), entries * filler_milli(t, row, entries));
		const int64_t loads = 1000 * (field(t, "l2", "cycles") + entries / 2 / most(1, cost_of(t, "load").ports));

		return 2 * most(late, loads) > second || field(t, "sq", "entries") > field(t, "gq", "read");
	}
	/* the time that a line occupies its channel or slice must not look like the step of a full buffer, which is the rest of the second miss */
	if (!strcmp(row, "size.fill_buffers.entries") && entries * filler_milli(t, row, entries) + 3 * occupancy_milli(t) > second)
		return true;
	/* stores are written while the next iteration's stores wait for entries */
	return entries * filler_milli(t, row, entries) > (stores ? second / 2 : second * 3 / 5);
}

bool curve_is_limited(const char *machine, const char *format, const char *row, int64_t milli, const char *reason)
{
	struct machine_text text = { machine, format, false }, *t = &text;
	const int64_t queue = least(field(t, "sq", "entries"), field(t, "gq", "read")), loads = least(field(t, "core", "load_buffers"), field(t, "core", "rob"));
	const bool behind = strstr(reason, "a queue beyond") != NULL;

	return !strcmp(row, "size.fill_buffers.entries") && (behind ? queue : loads) <= field(t, "lfb", "entries") - behind && milli == 1000 * least(queue, loads);
}

enum status expect_curve(const char *machine, const char *format, const char *row, struct expectation *out)
{
	struct machine_text text = { machine, format, false }, *t = &text;
	int64_t rob = field(t, "core", "rob"), rs = field(t, "core", "rs");
	/* one structure fills before another: the row finds the smaller size */
	const struct { const char *row; int64_t entries; } sizes[] = {
		{ "size.rob.entries", rob }, { "size.rs.entries", least(rs, rob - 1) },
		{ "size.load_buffer.entries", least(field(t, "core", "load_buffers"), rob) },
		{ "size.store_buffer.entries", least(field(t, "core", "store_buffers"), rob - 2) },
		{ "size.fill_buffers.entries", field(t, "lfb", "entries") },
	};
	struct expectation one;
	enum status st;

	if (!strcmp(row, "size.super_queue.entries")) {
		/* two entries per load: if the fill buffers are exhausted first, nothing can fill it */
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
	if (!strcmp(row, "size.dtlb_4k.entries") || !strcmp(row, "size.stlb_4k.entries")) {
		const int64_t first = field(t, "dtlb", "entries"), second = field(t, "stlb", "entries");

		if (row[5] == 's' && second <= first)
			return ST_UNSUPPORTED;
		*out = (struct expectation){ 1000 * (row[5] == 's' ? second : first) - 500, 1000 * (row[5] == 's' ? second : first) + 500 };
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!strcmp(row, "exec.chain_distribution.interval")) {
		const int64_t milli = chains_milli(t, 315);

		*out = around(milli, milli);
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!strcmp(row, "load.staircase.latency")) /* its first step is 4 KiB */
		return field(t, "l1d", "bytes") <= 4096 ? ST_MISSING : expect_row(machine, format, "load.l1.latency", out);
	if (!strcmp(row, "exec.gather_prefetch.interval"))
		return gather(t, out);
	if (!strcmp(row, "load.dram_overlap.interval") || !strcmp(row, "load.fill_buffer.latency")) {
		st = expect_row(machine, format, "load.dram_local.latency", &one);
		if (st == ST_OK && !strcmp(row, "load.fill_buffer.latency"))
			*out = one;
		else if (st == ST_OK)
			st = overlap(t, true, out);
		return st == ST_OK && t->missing ? ST_SYNTAX : st;
	}
	if (!strcmp(row, "tlb.walk_2m.penalty") || !strcmp(row, "tlb.walk_1g.penalty")) {
		const bool huge = !strcmp(row, "tlb.walk_1g.penalty"), enumerated = field(t, "control", "highest_leaf") >= 24;
		/* these processors' descriptors say that the second level holds pages of 2 MiB */
		const bool described = !enumerated && (strstr(machine, "events = haswell") || strstr(machine, "events = skylake"));
		const int64_t first = field(t, "dtlb", huge ? "huge_entries" : "large_entries"), l1_lines = field(t, "l1d", "bytes") / 64;
		const int64_t second = huge ? field(t, "stlb", "huge_entries") : field(t, "stlb", "large") || described ? field(t, "stlb", "entries") : 0;
		int64_t pages = 2 * most(first, second), low, high;

		if (!first)
			return ST_MISSING;
		if (field(t, "cpuid", "family") != 6 && !enumerated)
			return ST_MISSING; /* CPUID does not report the number of pages in the TLBs */
		if (huge && !(field(t, "cpuid", "isa") & 0x80))
			return ST_UNSUPPORTED;
		const bool grouped = 2 * pages > l1_lines; /* nothing stays in the L1 */

		if (grouped) {
			const int64_t room = field(t, "l2", "bytes") / (field(t, "l2", "ways") < 4 ? 4 : 2) / 64 / 16 * 16, entries = pages / 2;

			pages = most(pages, 2 * l1_lines);
			if (pages > room && (3 * room < 4 * entries || room < 2 * l1_lines))
				return ST_UNSUPPORTED;
			pages = pages > room ? room : pages;
		}
		pages = (pages + 15) / 16 * 16;
		/* the node's first page of that size is in use */
		if ((pages + 1) * (huge ? 1ll << 30 : 1ll << 21) > field(t, "dram", "node_bytes"))
			return ST_UNSUPPORTED;
		const struct walk_ring ring = { .page_bytes = huge ? 1u << 30 : 1u << 21, .nodes = (uint64_t)pages, .units = 2048, .spread = 1, .grouped = grouped };

		if (!walk_milli(t, &ring, &low, &high))
			return t->missing ? ST_SYNTAX : ST_MISSING;
		*out = around(low, high);
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!strcmp(row, "tlb.walk_concurrency.interval")) {
		const int64_t entries = most(field(t, "dtlb", "entries"), field(t, "stlb", "entries")), room = field(t, "l2", "bytes") / (field(t, "l2", "ways") < 4 ? 4 : 2) / 64 / 16 * 16;
		const int64_t pages = 2 * entries <= room ? 2 * entries : room;
		int64_t low, high;

		if (2 * entries > room && 3 * room < 4 * entries)
			return ST_UNSUPPORTED;
		if (!walkers_milli(t, (uint64_t)pages, &low, &high))
			return t->missing ? ST_SYNTAX : ST_MISSING;
		*out = around(low, high);
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!strcmp(row, "load.l3_overlap.interval")) {
		int64_t l2 = field(t, "l2", "bytes"), l3 = field(t, "l3", "bytes");

		st = expect_row(machine, format, "load.l3.latency", &one);
		if (st == ST_OK && 8 * l2 > l3 / 4 * 3)
			return ST_UNSUPPORTED;
		if (st == ST_OK)
			st = overlap(t, false, out);
		return st == ST_OK && t->missing ? ST_SYNTAX : st;
	}
	return ST_MISSING;
}
