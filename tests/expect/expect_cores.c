/* tests/expect/expect_cores.c: what rows of bench/catalogue/cores.def should find, from the text of a machine file.
 *
 * A load takes the lookup of the L3, or of the last cache if there is no L3, and the time of whatever answers beyond it
 * (FORMAT.md, sections l3, complex, link and dram). In core cycles; uncore cycles and ps are rounded up to them. */
#include "tests/expect/expect_cores.h"

#include <string.h>

#include "pmu/text.h"
#include "tests/expect/expect_core.h"
#include "tests/expect/expect_loaded.h"

#define CHANNELS_MOST 16 /* FORMAT.md, section dram */
#define BANKS_MOST 256

static uint64_t uncore(struct machine_text *t, uint64_t n)
{
	uint64_t ratio = machine_field(t, "clock", "uncore_ratio");

	return ratio ? (n * machine_field(t, "clock", "core_ratio") + ratio - 1) / ratio : 0;
}

static uint64_t ps(struct machine_text *t, uint64_t n)
{
	unsigned __int128 hz3 = (unsigned __int128)machine_field(t, "clock", "bus_hz_times_3") * machine_field(t, "clock", "core_ratio");

	return (uint64_t)((hz3 * n + 2999999999999ull) / 3000000000000ull);
}

/* Lookup of the last cache plus that many uncore cycles. */
static uint64_t lookup(struct machine_text *t, uint64_t more)
{
	if (machine_field(t, "l3", "bytes"))
		return machine_field(t, "l3", "core_cycles") + uncore(t, machine_field(t, "l3", "uncore_cycles") + more);
	return machine_field(t, machine_field(t, "l2", "bytes") ? "l2" : "l1d", "cycles") + uncore(t, more);
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t clean(struct machine_text *t) { return lookup(t, machine_field(t, "l3", "clean_uncore_cycles")); }
static uint64_t modified(struct machine_text *t) { return lookup(t, machine_field(t, "l3", "modified_uncore_cycles")); }
static uint64_t beyond(struct machine_text *t, uint64_t time_ps) { return lookup(t, 0) + ps(t, time_ps); }

/* By how much a page hit is earlier, and a page miss later, than page empty. */
static uint64_t hit(struct machine_text *t) { return machine_field(t, "dram", "open_page") ? machine_field(t, "dram", "page_hit_ps") : 0; }
static uint64_t miss(struct machine_text *t) { return machine_field(t, "dram", "open_page") ? machine_field(t, "dram", "page_miss_ps") : 0; }

/* Thousandths of a cycle a load that a chase made cold by CLFLUSH gains from open rows. It spans 16 pages of 2 MiB, or fewer: half of the DTLB's entries for
 * them; a load finds its row open with the probability that a byte of the span lies in an open row. If the DTLB has no entries for such pages, the chase
 * uses the first 4 KiB of each of 32 pages, and the probability is at least 1/32. */
static uint64_t met_milli(struct machine_text *t)
{
	uint64_t pages = machine_field(t, "dtlb", "large_entries") / 2, span = (!machine_field(t, "dtlb", "large_entries") ? 32 : pages && pages < 16 ? pages : 16) * 0x200000;
	uint64_t open = machine_field(t, "dram", "channels") * machine_field(t, "dram", "banks") * machine_field(t, "dram", "page_bytes");

	if (!machine_field(t, "dtlb", "large_entries") && open < span / 32)
		open = span / 32;
	return 1000 * (ps(t, hit(t)) + ps(t, miss(t))) * ((open < span ? open : span) / 1024) / (span / 1024);
}

/* A modified line that was read is written to its home after the answer. The next load, which is requested after its lookup, waits for the rest of that
 * write on the link or, if homes answer, on the channel if both have the same: at most that many cycles. */
static uint64_t behind(struct machine_text *t, bool by_home)
{
	const uint64_t rate = by_home ? machine_field(t, "dram", "channel_bytes_per_second") : machine_field(t, "link", "bytes_per_second");
	const uint64_t taken = rate ? ps(t, 64 * 1000000000000ull / rate) : 0, asked = lookup(t, 0);

	return taken > asked ? (taken - asked) / (by_home ? larger(1, machine_field(t, "dram", "channels")) : 1) : 0;
}

static void by_chance(struct machine_text *t, const char *key, uint64_t *least, uint64_t *most)
{
	*most = beyond(t, machine_field(t, "dram", key)) + ps(t, miss(t));
	*least = *most - met_milli(t) / 1000;
}

/* The number of rows that each pass over a window of that many consecutive lines opens again because their banks opened other rows of the window.
 * begins: the window's first line, counted from a line at which every channel begins a row. */
static uint64_t reopened(struct machine_text *t, uint64_t begins, uint64_t lines)
{
	const uint64_t channels = machine_field(t, "dram", "channels"), banks = machine_field(t, "dram", "banks"), row_lines = machine_field(t, "dram", "page_bytes") / 64;
	uint64_t open[CHANNELS_MOST * BANKS_MOST] = { 0 }, count = 0;

	if (!channels || channels > CHANNELS_MOST || !banks || banks > BANKS_MOST || !row_lines)
		return 0;
	for (uint64_t i = 0; i < 2 * lines; i++) {
		const uint64_t at = begins + i % lines, row = at / channels / row_lines, bank = at % channels * banks + row % banks;

		count += i >= lines && open[bank] != 1 + row;
		open[bank] = 1 + row;
	}
	return count;
}

/* The cost of rows that are opened again, of windows of 128 KiB minus windows of 64 KiB, at the beginning of any page of 2 MiB, in thousandths of a cycle
 * a load. */
static void opened_milli(struct machine_text *t, uint64_t *least, uint64_t *most)
{
	const uint64_t stripe = machine_field(t, "dram", "channels") * (machine_field(t, "dram", "page_bytes") / 64), cost = 1000 * (ps(t, hit(t)) + ps(t, miss(t)));
	uint64_t begins = 0;

	*least = UINT64_MAX;
	*most = 0;
	do {
		const uint64_t each = cost * (reopened(t, begins, 2048) - reopened(t, begins, 1024)) / 1024;

		*least = each < *least ? each : *least;
		*most = larger(each, *most);
		begins = stripe ? (begins + 0x200000 / 64) % stripe : 0;
	} while (begins);
}

/* The number of lines, of that many random ones, that have their bank to themselves, in thousandths of the shorter window's 1024. */
static uint64_t alone(struct machine_text *t, uint64_t lines)
{
	const uint64_t banks = machine_field(t, "dram", "channels") * machine_field(t, "dram", "banks");
	uint64_t part = 1000000;

	for (uint64_t i = 1; i < lines; i++)
		part -= part / larger(1, banks);
	return part * lines / 1024 / 1000;
}

/* The last level may have evicted some of the 128 KiB that are visited at random, with as many other lines between. Flushing such lines loads them, which
 * opens their rows; a line with a bank to itself then finds its row open. By how many thousandths of a cycle a load this makes windows of 2048 lines
 * cheaper (less) or dearer (more) than windows of 1024. */
static void flushed_open(struct machine_text *t, uint64_t *less, uint64_t *more)
{
	const uint64_t l3 = machine_field(t, "l3", "bytes"), l2 = machine_field(t, "l2", "bytes"), few = alone(t, 1024), many = alone(t, 2048);
	const uint64_t cost = (l3 ? l3 : l2 ? l2 : machine_field(t, "l1d", "bytes")) < 4 * 2 * 131072 ? ps(t, hit(t)) + ps(t, miss(t)) : 0;

	*less = many > few ? cost * (many - few) : 0;
	*more = few > many ? cost * (few - many) : 0;
}

enum status expect_cores(const char *machine, const char *format, const char *row, struct expectation *out)
{
	struct machine_text t = { machine, format, false };
	uint64_t complexes = machine_field(&t, "topology", "complexes") ? machine_field(&t, "topology", "complexes") : 1;
	uint64_t dies = machine_field(&t, "control", "amd_topology") && machine_field(&t, "topology", "dies") ? machine_field(&t, "topology", "dies") : 1; /* as CPUID reports */
	uint64_t nodes = larger(1, machine_field(&t, "topology", "nodes")); /* of a socket: as complexes, but with parts of one L3 */
	uint64_t clusters = machine_field(&t, "topology", "cores") / complexes / (machine_field(&t, "l2", "cores") ? machine_field(&t, "l2", "cores") : 1);
	uint64_t near_clean = beyond(&t, machine_field(&t, "complex", "clean_ps")), near_written = beyond(&t, machine_field(&t, "complex", "modified_ps"));
	/* from a slice to a core of the next node of the socket; to half of all other nodes */
	uint64_t next = uncore(&t, machine_field(&t, "l3", "far_uncore_cycles")), row_apart = uncore(&t, machine_field(&t, "l3", "far_row_uncore_cycles"));
	uint64_t middle = nodes < 4 ? next : larger(next, row_apart);
	bool l3 = machine_field(&t, "l3", "bytes"), two = clusters > 1, three = clusters > 2, sockets = machine_told(&t, "topology", "sockets") > 1;
	bool threads = machine_field(&t, "topology", "threads") > 1;
	uint64_t l1 = machine_field(&t, "l1d", "cycles"), far_least, far_most, near_least, near_most, less, more, opened, opened_most;
	/* several sharers: an inclusive L3 has the line, otherwise one of them forwards it */
	uint64_t shared = machine_field(&t, "l3", "inclusive") ? lookup(&t, 0) : clean(&t);
	uint64_t remote = beyond(&t, machine_field(&t, "link", "clean_ps"));
	/* if the home's memory answers, it reads rows that the preparation has opened */
	bool by_home = machine_field(&t, "link", "modified_as_dram");
	uint64_t written = beyond(&t, machine_field(&t, "link", "modified_ps")) - (by_home ? ps(&t, hit(&t)) : 0);
	/* while all 64 KiB of the ring can be open; fewer rows at a time */
	uint64_t capacity = machine_field(&t, "dram", "channels") * machine_field(&t, "dram", "banks") * machine_field(&t, "dram", "page_bytes");
	uint64_t closed = written + (by_home && capacity < 65536 ? ps(&t, hit(&t)) + ps(&t, miss(&t)) : 0) + behind(&t, by_home);
	uint64_t open = beyond(&t, machine_field(&t, "dram", "local_ps")) - ps(&t, hit(&t));
	/* the helpers' 1024 lines must fit in half of an L2 */
	bool stay = machine_field(&t, "l2", "bytes") >= 2 * 1024 * 64;

	by_chance(&t, "remote_ps", &far_least, &far_most);
	by_chance(&t, "local_ps", &near_least, &near_most);
	const struct { const char *row; bool there; uint64_t least, most; bool penalty; } formulas[] = {
		{ "load.l3_shared", l3 && stay && three, shared, shared, true },
		{ "load.l3_clean_other_core", l3 && stay && two, clean(&t), clean(&t), true },
		{ "load.l3_modified_other_core", l3 && stay && two, modified(&t), modified(&t), true },
		{ "load.other_complex_clean", stay && complexes > 1, near_clean, near_clean, true },
		{ "load.other_complex_modified", stay && complexes > 1, near_written, near_written, true },
		{ "load.other_complex_clean", stay && nodes > 1, clean(&t) + next, clean(&t) + next, true },
		{ "load.other_complex_modified", stay && nodes > 1, modified(&t) + next, modified(&t) + next, true },
		{ "load.remote_l3_clean", l3 && stay && sockets, remote, remote, true },
		{ "load.remote_l3_modified", l3 && stay && sockets, written, closed, true },
		{ "load.dram_distant", nodes > 1, near_least + next, near_most + next, true },
		{ "load.dram_remote", sockets, far_least, far_most, true },
		{ "load.dram_page_hit", true, open, open, false },
		{ "core_to_core.clean_same_core", threads, l1, l1, false },
		{ "core_to_core.modified_same_core", threads, l1, l1, false },
		{ "core_to_core.clean_same_l2", machine_field(&t, "l2", "cores") > 1, machine_field(&t, "l2", "cycles"), machine_field(&t, "l2", "cycles"), false },
		{ "core_to_core.modified_same_l2", machine_field(&t, "l2", "cores") > 1, machine_field(&t, "l2", "cycles"), machine_field(&t, "l2", "cycles"), false },
		{ "core_to_core.clean_same_socket", two, clean(&t), clean(&t), false },
		{ "core_to_core.modified_same_socket", two, modified(&t), modified(&t), false },
		{ "core_to_core.clean_other_complex", complexes > dies, near_clean, near_clean, false },
		{ "core_to_core.modified_other_complex", complexes > dies, near_written, near_written, false },
		{ "core_to_core.clean_other_complex", nodes > 1, clean(&t) + middle, clean(&t) + middle, false },
		{ "core_to_core.modified_other_complex", nodes > 1, modified(&t) + middle, modified(&t) + middle, false },
		{ "core_to_core.clean_other_die", dies > 1, near_clean, near_clean, false },
		{ "core_to_core.modified_other_die", dies > 1, near_written, near_written, false },
		{ "core_to_core.clean_other_socket", sockets, remote, remote, false },
		{ "core_to_core.modified_other_socket", sockets, written, closed, false },
	};
	const char *dot = strrchr(row, '.');
	bool is_penalty = dot && !strcmp(dot, ".penalty"), found = false, there = true;
	int64_t least = 0, most = 0, below, above;

	for (size_t i = 0; dot && i < COUNT_OF(formulas) && !(found && there); i++)
		if (strlen(formulas[i].row) == (size_t)(dot - row) && !memcmp(formulas[i].row, row, (size_t)(dot - row)) &&
		    (is_penalty ? formulas[i].penalty : !strcmp(dot, ".latency"))) {
			found = true;
			there = formulas[i].there;
			least = (int64_t)(formulas[i].least - (is_penalty ? l1 : 0)) * 1000;
			most = (int64_t)(formulas[i].most - (is_penalty ? l1 : 0)) * 1000;
		}
	if (!strncmp(row, "load.dram_page_", 15) && machine_field(&t, "prefetch", "present") && (machine_field(&t, "cpuid", "family") != 6 ||
	    (!machine_field(&t, "control", "prefetch_msr") && !machine_field(&t, "control", "prefetch_misc"))))
		return ST_MISSING; /* lines within a page: prefetchers that cannot be switched off, or that no driver knows, bring some of them */
	if (strstr(row, "_same_core.") && machine_field(&t, "l1d", "policy"))
		return ST_MISSING; /* how many of the lines the L1 still holds is chance */
	if (!strcmp(row, "load.dram_page_hit.latency")) {
		opened_milli(&t, &opened, &opened_most);
		least = (int64_t)(open * 1000 + opened);
		most = (int64_t)(open * 1000 + opened_most);
	}
	if (!strcmp(row, "load.dram_page_miss.penalty")) {
		found = true;
		flushed_open(&t, &less, &more);
		opened_milli(&t, &opened, &opened_most);
		least = (int64_t)((near_most - open) * 1000 - opened_most - met_milli(&t) - less); /* few cycles, of which chance is a part */
		most = (int64_t)((near_most - open) * 1000 - opened + more);
	}
	if (!strcmp(row, "sync.false_sharing.penalty")) { /* instead of a locked addition in the L1 */
		found = true;
		there = two;
		const int64_t loss = (int64_t)modified(&t) + cost_of(&t, "load").latency - cost_of(&t, "lock").latency; /* the lock's latency includes its load */

		/* both request from the same slice by turns, twice each: a request during the other's occupancy waits for the rest of it */
		least = loss > 0 ? 1000 * loss : 0;
		most = least + (loss > 0 && l3 ? 2000 * (int64_t)uncore(&t, machine_field(&t, "l3", "busy_uncore_cycles")) : 0);
	}
	if (!strcmp(row, "load.dram_loaded.penalty")) {
		found = true;
		there = machine_told(&t, "topology", "cores") > 1;
		if (machine_field(&t, "topology", "threads") > 1)
			return ST_MISSING; /* not modelled: how two threads share a core's buffers */
		if (there && !loaded_milli(&t, &least, &most))
			return t.missing ? ST_SYNTAX : ST_MISSING;
		/* how many of 96 loads find their row open is chance: three standard errors, of alone and loaded; and there are more starts than the model has */
		const int64_t chance = machine_field(&t, "dram", "open_page") ? 1000 * (int64_t)(ps(&t, hit(&t)) + ps(&t, miss(&t))) / 5 : 0;
		const int64_t starts = (most / 50 > 500 ? most / 50 : 500) + chance + (most - least) / 4;

		least -= starts;
		most += starts;
	}
	if (!is_penalty) {
		least += 1000 * cost_of(&t, "load").latency;
		most += 1000 * cost_of(&t, "load").latency;
	}
	if (!found)
		return ST_MISSING;
	if (t.missing)
		return ST_SYNTAX;
	if (!there)
		return ST_UNSUPPORTED;
	below = is_penalty ? (least / 50 > 500 ? least / 50 : 500) : least / 100 > 100 ? least / 100 : 100;
	above = is_penalty ? (most / 50 > 500 ? most / 50 : 500) : most / 100 > 100 ? most / 100 : 100;
	*out = (struct expectation){ least - below, most + above };
	return ST_OK;
}
