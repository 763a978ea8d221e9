/* tests/expect/expect_bandwidth.c: what rows of bench/catalogue/bandwidth.def should find, from the text of a machine file.
 *
 * Streams of one core and of all, stores line by line: between the bounds of expect_bound.c. An iteration moves 256 bytes, 4 lines, of each array.
 * All times in thousandths of a core cycle. */
#include "tests/expect/expect_bandwidth.h"

#include <string.h>

#include "tests/expect/expect_bound.h"
#include "tests/expect/expect_front.h"

#define ITERATION_BYTES 256u
#define SKEW_BYTES (4096u / 2 + 64) /* between two arrays */
#define PERMILLE_FAST 15u            /* windows are short, and their ends vary by some cycles */
#define PERMILLE_SLOW 15u
#define PERMILLE_KEPT 60u
#define PERMILLE_THREADS 15u         /* more for short windows in which one of two threads ends earlier */

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t over(uint64_t a, uint64_t b) { return a / larger(1, b); }

static uint64_t power_of_two_below(uint64_t n)
{
	uint64_t p = 1;

	while (p <= n / 2)
		p *= 2;
	return n ? p : 0;
}

/* --- streams ------------------------------------------------------------------------------------- */

struct stream { const char *name; uint64_t arrays, loaded, stored; bool nontemporal; };
static const struct stream streams[] = {
	{ "read", 1, 1, 0, false }, { "write", 1, 0, 1, false }, { "copy", 2, 1, 1, false }, { "triad", 3, 2, 1, false },
	{ "write", 1, 0, 1, true }, { "copy", 2, 1, 1, true }, { "triad", 3, 2, 1, true },
};

/* Bytes of an array of one core's stream, a power of two. In a cache all arrays together are at most three quarters of it (half with two ways), in the L1
 * including the gaps between them at most its size, in the L3 less than twelve times the L2, and at least twice the level below. In memory they are at
 * least six times the last level. 0: there is no room. */
static uint64_t array_bytes(struct machine_text *t, unsigned level, uint64_t arrays)
{
	const uint64_t bytes[] = { 0, machine_field(t, "l1d", "bytes"), machine_field(t, "l2", "bytes"), machine_field(t, "l3", "bytes") };
	const uint64_t last = bytes[3] ? bytes[3] : bytes[2] ? bytes[2] : bytes[1];
	uint64_t all;

	if (level == 4) {
		all = arrays * 2 * power_of_two_below((larger(6 * last, 256 * bytes[1]) + arrays - 1) / arrays - 1);
		return all + SKEW_BYTES * (arrays - 1) > 1ull << 30 ? 0 : all / arrays;
	}
	const uint64_t ways = level > 1 ? machine_field(t, level == 2 ? "l2" : "l3", "ways") : 0;

	all = arrays * power_of_two_below(ways == 2 ? bytes[level] / 2 / arrays : bytes[level] / 4 * 3 / arrays);
	while (level == 3 && bytes[2] && all && all / 2 >= 6 * bytes[2])
		all /= 2;
	while (level == 1 && all / 2 >= ITERATION_BYTES * arrays && all + (arrays - 1) * SKEW_BYTES > bytes[1])
		all /= 2;
	return all < 2 * bytes[level - 1] ? 0 : all / arrays;
}

/* Bytes of all arrays of a core whose arrays have a share of a level. */
static uint64_t share(uint64_t level_bytes, uint64_t cores, uint64_t arrays) { return arrays * power_of_two_below(over(over(level_bytes / 4 * 3, cores), arrays)); }

/* Whether a core's share of a level is at least twice its share of the level below. */
static bool shared_in_reach(struct machine_text *t, const struct stream *s, unsigned level)
{
	const uint64_t threads = machine_field(t, "topology", "threads"), cores = machine_field(t, "topology", "cores") * threads, of_l2 = machine_field(t, "l2", "cores") * threads;

	if (level == 2 && machine_field(t, "l2", "ways") == 2 && s->arrays * power_of_two_below(machine_field(t, "l2", "bytes") / 2 / s->arrays) < 2 * machine_field(t, "l1d", "bytes"))
		return false; /* a way stays free */
	if (level == 2)
		return share(machine_field(t, "l2", "bytes"), of_l2, s->arrays) >= 2 * over(machine_field(t, "l1d", "bytes"), threads);
	return level != 3 || share(machine_field(t, "l3", "bytes"), over(cores, larger(1, machine_field(t, "topology", "complexes"))), s->arrays) >= 2 * over(machine_field(t, "l2", "bytes"), of_l2);
}

static int64_t rate_milli(struct machine_text *t, uint64_t bytes, uint64_t milli) { return (int64_t)over((uint64_t)(bound_hz3(t) * bytes * 1000 / 3), milli) * 1000; }

/* On that many sockets, with that many cores of each and that many threads of each core. */
static enum status rate(struct machine_text *t, const struct stream *s, unsigned level, uint64_t sockets, uint64_t cores, uint64_t threads, bool remote, bool emptied, struct expectation *out)
{
	const struct bound_stream b = { .loaded = s->loaded, .stored = s->stored, .nontemporal = s->nontemporal, .remote = remote && machine_told(t, "topology", "sockets") > 1, .emptied = emptied, .level = level,
		.cores = (unsigned)cores, .threads = (unsigned)threads, .of_l2 = (unsigned)(cores > 1 ? smaller(machine_field(t, "l2", "cores"), cores) : 1) };
	/* a level below whose replacement is not LRU keeps some of the lines of a pass */
	const bool kept = (level == 2 && machine_field(t, "l1d", "policy")) || (level == 3 && machine_field(t, machine_field(t, "l2", "bytes") ? "l2" : "l1d", "policy"));
	struct bound bound;

	if (!bound_stream(t, &b, &bound))
		return ST_SYNTAX;
	bound.least -= bound.least * (kept ? PERMILLE_KEPT : cores > 1 && machine_field(t, "topology", "threads") > 1 ? PERMILLE_THREADS : 0) / 1000;
	*out = (struct expectation){ rate_milli(t, ITERATION_BYTES * s->arrays * cores * sockets, bound.most + bound.most * PERMILLE_SLOW / 1000),
	                             rate_milli(t, ITERATION_BYTES * s->arrays * cores * sockets, bound.least - bound.least * PERMILLE_FAST / 1000) };
	return ST_OK;
}

/* All cores of all sockets; or the cores of each node on memory of that node or of another. */
static enum status all_cores(struct machine_text *t, const struct stream *s, unsigned level, bool nodes, bool remote, struct expectation *out)
{
	const uint64_t sockets = machine_field(t, "topology", "sockets"), cores = machine_field(t, "topology", "cores"), threads = machine_field(t, "topology", "threads");
	const bool flushed = nodes || (level == 4 && (!s->stored || s->nontemporal)); /* flushed lines: the arrays are short on any machine */

	if ((!nodes && sockets * cores * threads < 2) || (remote && sockets < 2) || (level == 2 && !machine_field(t, "l2", "bytes")) || (level == 3 && !machine_field(t, "l3", "bytes")))
		return ST_UNSUPPORTED;
	if ((!flushed && !array_bytes(t, level, s->arrays)) || !shared_in_reach(t, s, level))
		return t->missing ? ST_SYNTAX : ST_UNSUPPORTED;
	return rate(t, s, level, nodes ? 1 : sockets, cores, threads, remote, flushed, out);
}

static enum status stream_row(struct machine_text *t, const char *row, struct expectation *out)
{
	static const char *const levels[] = { ".l1", ".l2", ".l3", ".dram" };

	for (size_t i = 0; i < COUNT_OF(streams); i++) {
		const struct stream *s = &streams[i];
		const size_t n = strlen(s->name);
		const char *place = row + n, *tail = s->nontemporal ? "_nt.bandwidth" : ".bandwidth";

		if (strncmp(row, s->name, n))
			continue;
		if ((!strncmp(place, ".node_remote", 12) && !strcmp(place + 12, tail)) || (!strncmp(place, ".node_local", 11) && !strcmp(place + 11, tail)))
			return all_cores(t, s, 4, true, place[6] == 'r', out);
		for (unsigned level = 1; level <= 4; level++) {
			const char *where = s->nontemporal ? ".dram_nt" : levels[level - 1];
			const size_t to = strlen(where);

			if (strncmp(place, where, to) || (s->nontemporal && level < 4))
				continue;
			if (!strcmp(place + to, "_all.bandwidth"))
				return all_cores(t, s, level, false, false, out);
			if (strcmp(place + to, ".bandwidth"))
				continue;
			if (!array_bytes(t, level, s->arrays))
				return t->missing ? ST_SYNTAX : ST_UNSUPPORTED;
			return rate(t, s, level, 1, 1, 1, false, false, out);
		}
	}
	return ST_MISSING;
}

/* --- stores line by line ------------------------------------------------------------------------- */

static uint64_t width(struct machine_text *t) { return larger(1, smaller(machine_field(t, "core", "issue_width"), machine_field(t, "core", "retire_width"))); }

/* A loop of that many 16-byte stores to a line, or of one store of a register: the line's address, the next line's position and the loop's end. */
static uint64_t store_loop_milli(struct machine_text *t, const char *loop, uint64_t stores) { return larger(1000 * stores, larger(1000 * front_slots(t, loop) / width(t), front_iteration_milli(t, loop))); }

/* A line stored past the caches: its stores commit in every second cycle. A partial line takes as many transfers as several full ones. */
static void past(struct machine_text *t, uint64_t stores, struct bound *out)
{
	const bool whole = stores == 4;
	const uint64_t entries = larger(1, machine_field(t, "lfb", "entries")), open = smaller(machine_field(t, "wc", "buffers"), entries);
	const uint64_t channel = bound_channel_milli(t) * (whole ? 1 : machine_field(t, "wc", "partial_transfers")), drain = bound_ps_milli(t, machine_field(t, "wc", "drain_ps"));
	/* a partial line is sent when its buffer is needed: its transfers follow one another on its channel while the other buffers stay closed */
	const uint64_t written = 2000 * stores, one = channel * machine_field(t, "dram", "channels"), draining = (drain + (whole ? 0 : one)) / larger(1, whole ? entries : entries - open);

	out->least = larger(larger(channel, written), drain / entries);
	out->most = channel + written + draining;
}

static enum status store_row(struct machine_text *t, const char *row, struct expectation *out)
{
	struct bound owning, whole, partial = { 0, 0 }, value;

	if (!strcmp(row, "store.rfo.penalty")) { /* instead of the cycle of a store to an owned line */
		value.least = bound_lookup_milli(t) + bound_memory_milli(t, false, false) - 1000;
		value.most = bound_lookup_milli(t) + bound_memory_milli(t, false, true) - 1000;
	} else if (!strcmp(row, "store.rfo.interval")) {
		const struct bound_work w = { .in = 1, .core_milli = store_loop_milli(t, "a3a3a3a3a3s7a8a3d3j2", 1), .window = machine_field(t, "core", "store_buffers"), .emptied = true, .alone = true,
			.level = 4, .cores = 1, .of_l2 = 1 };

		if (!bound_of(t, &w, &owning))
			return ST_SYNTAX;
		value = owning;
	} else if (!strcmp(row, "store.nt.penalty") || !strcmp(row, "store.nt_partial.penalty")) {
		const uint64_t owned = store_loop_milli(t, "a4s3s4s4s4a4a3d3j2", 4);

		past(t, 4, &whole);
		past(t, 3, &partial);
		value.least = row[8] == '.' ? whole.least - smaller(whole.least, owned + owned / 4) : partial.least - smaller(partial.least, whole.most);
		value.most = row[8] == '.' ? whole.most - smaller(whole.most, owned) : partial.most - smaller(partial.most, whole.least);
	} else {
		return ST_MISSING;
	}
	/* one store less saves at most its two cycles */
	const int64_t saved = !strcmp(row, "store.nt_partial.penalty") && partial.least <= whole.most ? 2000 : 0;

	*out = (struct expectation){ (int64_t)value.least - saved - (int64_t)larger(500, value.least / 50), (int64_t)(value.most + larger(500, value.most / 50)) };
	return t->missing ? ST_SYNTAX : ST_OK;
}

enum status expect_bandwidth(const char *machine, const char *format, const char *row, struct expectation *out)
{
	struct machine_text t = { machine, format, false };
	const enum status st = stream_row(&t, row, out);

	return st == ST_MISSING ? store_row(&t, row, out) : st;
}
