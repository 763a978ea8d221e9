/* tests/expect/expect_bandwidth.c: what rows of bench/bandwidth.def should find, from the text of a machine file.
 *
 * Streams of several cores, stores line by line; one core's streams are in expect_stream.c. An iteration moves 256 bytes, 4 lines, of
 * each array. All times in thousandths of a core cycle. */
#include "tests/expect/expect_bandwidth.h"

#include <string.h>

#include "pmu/text.h"
#include "tests/expect/expect_follow.h"
#include "tests/expect/expect_front.h"

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t over(uint64_t a, uint64_t b) { return a / (b ? b : 1); }

/* Three times the core clock, as the file gives it. */
static unsigned __int128 hz3(struct machine_text *t)
{
	return (unsigned __int128)machine_field(t, "clock", "bus_hz_times_3") * machine_field(t, "clock", "core_ratio");
}

static uint64_t ps(struct machine_text *t, uint64_t n) /* whole cycles, rounded up */
{
	return (uint64_t)((hz3(t) * n + 2999999999999ull) / 3000000000000ull);
}

/* The last cache's lookup, in cycles. */
static uint64_t lookup(struct machine_text *t)
{
	uint64_t ratio = machine_field(t, "clock", "uncore_ratio");

	if (machine_field(t, "l3", "bytes"))
		return machine_field(t, "l3", "core_cycles") + over(machine_field(t, "l3", "uncore_cycles") * machine_field(t, "clock", "core_ratio") + ratio - 1, ratio);
	return machine_field(t, machine_field(t, "l2", "bytes") ? "l2" : "l1d", "cycles");
}

/* A load of a line from memory, in cycles; where rows of DRAM stay open, in sequence most find theirs so. */
static uint64_t memory(struct machine_text *t, bool in_sequence)
{
	uint64_t open = in_sequence && machine_field(t, "dram", "open_page") ? machine_field(t, "dram", "page_hit_ps") : 0;

	return lookup(t) + ps(t, machine_field(t, "dram", "local_ps") - open);
}

/* How long an entry of a socket's read tracker is held for a line from the L3, or from memory: from the look there until the core has it. */
static uint64_t tracked(struct machine_text *t, unsigned level, bool between)
{
	return lookup(t) + (level < 4 ? 0 : ps(t, machine_field(t, "dram", between ? "remote_ps" : "local_ps") - (machine_field(t, "dram", "open_page") ? machine_field(t, "dram", "page_hit_ps") : 0)));
}

/* How long the channels of a node, or one of them, take for so many lines. */
static uint64_t channels_milli(struct machine_text *t, uint64_t lines, uint64_t channels)
{
	uint64_t rate = channels * machine_field(t, "dram", "channel_bytes_per_second");

	return (uint64_t)over((uint64_t)(lines * 64000 * hz3(t) / 3), rate);
}

/* Ports named by an [exec] line "LATENCY PORTS BUSY", a digit a port. */
static uint64_t ports(struct machine_text *t, const char *name, uint64_t preset)
{
	struct ini ini;

	ini_init(&ini, t->machine, strlen(t->machine));
	while (ini_next(&ini) == ST_OK)
		if (ini.section_length == 4 && !memcmp(ini.section, "exec", 4) && ini.key_length == strlen(name) &&
		    !memcmp(ini.key, name, ini.key_length)) {
			const char *at = memchr(ini.value, ' ', ini.value_length);
			size_t n = at ? strspn(at + 1, "0123456789abcdef") : 0;

			return n ? n : preset;
		}
	return preset;
}

struct stream { const char *name; uint64_t arrays, loaded, stored; bool nontemporal; };

static enum follow_stream followed(const struct stream *s)
{
	return s->arrays == 3 ? FOLLOW_TRIAD : s->arrays == 2 ? FOLLOW_COPY : s->loaded ? FOLLOW_READ : FOLLOW_WRITE;
}

static const char *loop_of(struct machine_text *t, const struct stream *s)
{
	return follow_loop(t, followed(s));
}

static uint64_t front_milli(struct machine_text *t, const struct stream *s)
{
	struct machine_text text = { t->machine, t->format, false };
	const uint64_t milli = front_turn_milli(&text, loop_of(t, s));

	t->missing |= text.missing;
	return milli;
}

/* Allocation, retirement, load ports, store ports; stores are written one a cycle. All of it two threads share. */
static uint64_t slots_milli(struct machine_text *t, const struct stream *s)
{
	struct machine_text text = { t->machine, t->format, false };
	const char *loop = loop_of(t, s);
	uint64_t vectors = 256 / follow_vector_bytes(t), slots = 1000 * front_slots(&text, loop);
	uint64_t milli = larger(over(slots, machine_field(t, "core", "issue_width")), over(slots, machine_field(t, "core", "retire_width")));

	milli = larger(milli, over(1000 * vectors * s->loaded, ports(t, "load", 1)));
	t->missing |= text.missing;
	return larger(milli, larger(1000 * vectors * s->stored, larger(over(1000 * vectors * s->stored, ports(t, "std", 1)),
	                            over(1000 * vectors * s->stored, ports(t, "sta", 1)))));
}

static uint64_t core_milli(struct machine_text *t, const struct stream *s)
{
	return larger(front_milli(t, s), slots_milli(t, s));
}

/* A stream into write-combining buffers alone: each is held while its stores come, every second cycle since each waits
 * for the one before it, and until memory has taken the line; or no faster than its stores come. */
static uint64_t combining_milli(struct machine_text *t, uint64_t stores)
{
	return larger(2000 * stores, over(1000 * (ps(t, machine_field(t, "wc", "drain_ps")) + 2 * stores - 1), machine_field(t, "lfb", "entries")));
}

/* Buffers that are not full stay open until one must make room; it then has so many transfers of its channel before the
 * last one begins: the first begins at once, the others at the channel's beat. Then the next line is begun, a store every
 * second cycle. */
static uint64_t partial_milli(struct machine_text *t, uint64_t transfers, uint64_t buffers, uint64_t least)
{
	return larger(over(1000 * (ps(t, machine_field(t, "wc", "drain_ps")) + 2 * 3) + channels_milli(t, transfers, 1), buffers), least);
}

/* How many lines of each array the loads in the window belong to; of an array that is only written, the stores. */
static uint64_t lines_in_window(struct machine_text *t, const struct stream *s)
{
	const uint64_t vectors = 64 / follow_vector_bytes(t);
	uint64_t lines = over(machine_field(t, "core", "rob"), vectors * (s->loaded + s->stored));

	return larger(1, smaller(lines, over(machine_field(t, "core", s->loaded ? "load_buffers" : "store_buffers"), vectors)));
}

/* How long a load or, where there are none, a store keeps its place beside the way of its line: it is allocated in the cycle after
 * the place is free, sent, and a store's data is there and retires before its line is asked for. */
static uint64_t held_milli(struct machine_text *t, const struct stream *s)
{
	struct machine_text text = { t->machine, t->format, false };
	const uint64_t stored = s->loaded ? 0 : (uint64_t)cost_of(&text, "std").latency + 2;

	return 1000 * (machine_field(t, "core", "dispatch_cycles") + 1 + stored);
}

/* Which prefetchers there are, as bits of [prefetch] present: into the L2, into the L1. */
#define PREFETCH_L2 3u
#define PREFETCH_L1 12u
static bool prefetches(struct machine_text *t, unsigned some) { return machine_field(t, "prefetch", "present") & some; }

/* How long lines that come and go keep the L2's port to the L1: each takes it on its way to the L1, on its way back, and on its
 * way from beyond if a prefetcher brings it into the L2 first. */
static uint64_t port_milli(struct machine_text *t, unsigned level, uint64_t in, uint64_t out)
{
	return 1000 * machine_field(t, "l2", "busy_cycles") * ((level > 2 && prefetches(t, PREFETCH_L2) ? 2 * in : in) + out);
}

/* The L3's slices, for lines that come and go. */
static uint64_t slices_milli(struct machine_text *t, uint64_t lines)
{
	return machine_field(t, "l3", "bytes") ? over(1000 * lines * machine_field(t, "l3", "busy_uncore_cycles") * machine_field(t, "clock", "core_ratio"),
	                                             machine_field(t, "clock", "uncore_ratio") * machine_field(t, "l3", "slices")) : 0;
}

/* A stream of which no prefetcher brings lines nearer: a store keeps its buffer while the loads before it wait for their line, and then
 * for its own. Each may wait for port and slice behind a line of each other array and what is written back. */
static uint64_t stores_held_milli(struct machine_text *t, const struct stream *s, unsigned level, uint64_t latency)
{
	struct machine_text text = { t->machine, t->format, false };
	const uint64_t held = machine_field(t, "core", "dispatch_cycles") + 1 + (uint64_t)cost_of(&text, "std").latency + 2;
	const uint64_t others = s->arrays + s->stored - 1, slices = level > 2 ? slices_milli(t, others) : 0;
	const uint64_t one = 1000 * (latency + machine_field(t, "l2", "busy_cycles") * others) + slices;

	if (!s->stored || (level == 2 && !s->loaded) || prefetches(t, level == 2 ? PREFETCH_L1 : PREFETCH_L2))
		return 0;
	return over(256 * ((s->loaded ? 2 : 1) * one + 1000 * held), follow_vector_bytes(t) * machine_field(t, "core", "store_buffers"));
}

/* The least and the most time that an iteration may take. */
static void stream(struct machine_text *t, const struct stream *s, unsigned level, uint64_t *least, uint64_t *most)
{
	uint64_t in = 4 * (s->nontemporal ? s->loaded : s->arrays), out = s->nontemporal ? 0 : 4 * s->stored;
	uint64_t lfb = machine_field(t, "lfb", "entries"), sq = machine_field(t, "sq", "entries"), latency, under_way;
	const uint64_t tracker = machine_field(t, "gq", "read"), port = port_milli(t, level, in, out), slices = level > 2 ? slices_milli(t, in + out) : 0;

	*least = *most = core_milli(t, s);
	if (level == 1)
		return;
	*least = *most = larger(*least, larger(port, slices));
	if (level == 2) {
		const uint64_t l2 = 1000 * machine_field(t, "l2", "cycles"), window = lines_in_window(t, s), before = *least, lines = over(in * l2, lfb);

		*least = larger(before, lines);
		/* Without the L1's prefetchers no more lines are under way than the window has loads or stores of, which keep their
		 * places from allocation until they retire, or are written: asked for in the cycle after they retire. */
		*most = larger(larger(*least, stores_held_milli(t, s, 2, l2 / 1000)), over(in * (l2 + held_milli(t, s)), window));
		/* What the front end gives late the window has late: it hides no line that takes nearly as long. */
		if (front_milli(t, s) == before && lines > before / 5 * 4)
			*most = larger(*most, *least / 10 * 11);
		return;
	}
	latency = level == 3 ? lookup(t) : memory(t, true);
	/* With prefetchers as many lines can be under way as the super queue holds, from the L2's miss on, without as there are fill
	 * buffers and loads of in the window, but no more than that either, and of lines stored as there are store buffers. */
	under_way = over(1000 * in * (latency - (lfb > sq || !prefetches(t, PREFETCH_L2) ? machine_field(t, "l2", "cycles") : 0)), smaller(tracker, sq));
	if (!prefetches(t, PREFETCH_L2))
		under_way = larger(under_way, over(1000 * in * latency, lfb));
	*least = larger(*least, under_way);
	/* two of port, slices and lines under way nearly as long: one waits for the other */
	if ((port > *least / 5 * 4) + (slices > *least / 5 * 4) + (under_way > *least / 5 * 4) > 1)
		*most = larger(*most, *least / 10 * 11);
	/* stores of more lines than there are fill buffers leave loads none: then these wait on top */
	if (!prefetches(t, PREFETCH_L2) && s->loaded && s->stored && !s->nontemporal && machine_field(t, "core", "store_buffers") * follow_vector_bytes(t) / 64 > lfb)
		*most = larger(*most, *least + over(4000 * s->loaded * latency, lines_in_window(t, s) * s->loaded));
	*most = larger(*most, over(1000 * in * (level == 3 ? latency : memory(t, false)),
	                           smaller(tracker, smaller(smaller(sq, lfb), lines_in_window(t, s) * larger(1, s->loaded)))));
	if (!s->nontemporal)
		*most = larger(*most, stores_held_milli(t, s, level, level == 3 ? latency : memory(t, false)));
	if (s->stored && !s->nontemporal)
		*most = larger(*most, over(4000 * latency, over(machine_field(t, "core", "store_buffers") * follow_vector_bytes(t), 64)));
	if (level == 4) {
		uint64_t channels = machine_field(t, "dram", "channels"), moved = channels_milli(t, in + out + (s->nontemporal ? 4 : 0), channels);

		*least = larger(*least, moved);
		/* what comes in and what goes out keep each other waiting */
		*most = larger(*most + (s->stored ? moved : 0), *least);
	}
	if (s->nontemporal) {
		uint64_t combining = 4 * combining_milli(t, 64 / follow_vector_bytes(t));

		*least = larger(*least, combining);
		*most += combining;
	}
}

static int64_t rate_milli(struct machine_text *t, uint64_t bytes, uint64_t milli)
{
	return (int64_t)over((uint64_t)(hz3(t) * bytes * 1000 / 3), milli) * 1000;
}

static uint64_t power_of_two_below(uint64_t n)
{
	uint64_t p = 1;

	while (p <= n / 2)
		p *= 2;
	return n ? p : 0;
}

/* What all arrays of a core that get a share of a level take. */
static uint64_t share(uint64_t level_bytes, uint64_t cores, uint64_t arrays)
{
	return arrays * power_of_two_below(over(over(level_bytes / 4 * 3, cores), arrays));
}

/* Whether a core's share of a level is twice as large as its part of the one below. */
static bool shared_in_reach(struct machine_text *t, const struct stream *s, unsigned level)
{
	uint64_t cores = machine_field(t, "topology", "cores"), of_l2 = machine_field(t, "l2", "cores");

	if (level == 2 && machine_field(t, "l2", "ways") == 2 && s->arrays * power_of_two_below(machine_field(t, "l2", "bytes") / 2 / s->arrays) < 2 * machine_field(t, "l1d", "bytes"))
		return false; /* a way stays free */
	if (level == 2)
		return share(machine_field(t, "l2", "bytes"), of_l2, s->arrays) >= 2 * machine_field(t, "l1d", "bytes");
	return level != 3 || share(machine_field(t, "l3", "bytes"), cores, s->arrays) >= 2 * over(machine_field(t, "l2", "bytes"), of_l2);
}

/* What the parts that cores share let through, in thousandths of a core cycle for an iteration of one core, when all
 * cores of a socket run it: the L2 of a cluster, the slices of an L3, the channels of the node. */
static uint64_t shared_milli(struct machine_text *t, const struct stream *s, unsigned level)
{
	uint64_t in = 4 * (s->nontemporal ? s->loaded : s->arrays), out = s->nontemporal ? 0 : 4 * s->stored;
	uint64_t cores = machine_field(t, "topology", "cores"), milli = 0;

	if (level >= 2)
		milli = port_milli(t, level, in, out) * machine_field(t, "l2", "cores");
	if (level >= 3)
		milli = larger(milli, slices_milli(t, cores * (in + out)));
	if (level == 4)
		milli = larger(milli, cores * channels_milli(t, in + out + (s->nontemporal ? 4 : 0), machine_field(t, "dram", "channels")));
	return milli;
}

/* All cores of `nodes` nodes; `between`: in memory of another one. */
static enum status crowd(struct machine_text *t, const struct stream *s, unsigned level, uint64_t nodes, bool between, struct expectation *out)
{
	uint64_t cores = nodes * machine_field(t, "topology", "cores"), least, most, shared = shared_milli(t, s, level);

	if (!shared_in_reach(t, s, level))
		return ST_UNSUPPORTED;
	if (level == 3 && machine_field(t, "l2", "policy") && share(machine_field(t, "l3", "bytes"), machine_field(t, "topology", "cores"), s->arrays) <
	    6 * over(machine_field(t, "l2", "bytes"), machine_field(t, "l2", "cores")))
		return ST_MISSING; /* an L2 that does not replace the oldest keeps some of it */
	if (level > 1)
		stream(t, s, level, &least, &most);
	else if (!follow_milli(t, followed(s), false, level, over(share(machine_field(t, "l1d", "bytes"), 1, s->arrays), s->arrays), &least, &most))
		return ST_SYNTAX; /* each core in its own L1, as if it were alone */
	if (level <= 2 && machine_field(t, "topology", "threads") > 1) /* two threads fill what one leaves of ports and slots; twice as fast at most */
		least = level == 1 ? smaller(least, slots_milli(t, s)) : least / 2;
	if (level >= 3) { /* no more lines of all cores are on their way than the socket's read tracker has entries */
		const uint64_t in = 4 * (s->nontemporal ? s->loaded : s->arrays);
		const uint64_t track = over(1000 * machine_field(t, "topology", "cores") * in * tracked(t, level, between), machine_field(t, "gq", "read"));

		least = larger(least, track);
		most = larger(most, track);
	}
	if (s->nontemporal && !s->loaded)
		least = most = 4 * combining_milli(t, 64 / follow_vector_bytes(t));
	if (between) {
		/* a link carries both ways at once */
		uint64_t bytes = 256 * larger(s->loaded, s->stored);
		uint64_t link = over((uint64_t)(hz3(t) * bytes * 1000 / 3) * machine_field(t, "topology", "cores"), machine_field(t, "link", "bytes_per_second"));

		shared = larger(shared, link);
		most += over(4000 * s->loaded * (ps(t, machine_field(t, "dram", "remote_ps")) - ps(t, machine_field(t, "dram", "local_ps"))), machine_field(t, "lfb", "entries"));
	}
	/* a core alone is slower than its share of what all share, or not; where both are near, they add up at most */
	*out = (struct expectation){ rate_milli(t, 256 * s->arrays * cores, shared >= 2 * most || level == 1 ? larger(most, shared) : larger(most, shared) + smaller(most, shared) / 2),
	                             rate_milli(t, 256 * s->arrays * cores, larger(least, shared)) };
	out->least_milli -= out->least_milli / (level == 1 ? 50 : 20);
	out->most_milli += out->most_milli / (level == 1 || shared > least ? 50 : level == 4 ? 10 : 20);
	return ST_OK;
}

static enum status expect_crowd(struct machine_text *t, const char *row, struct expectation *out)
{
	static const struct stream streams[] = {
		{ "read", 1, 1, 0, false }, { "write", 1, 0, 1, false }, { "copy", 2, 1, 1, false }, { "triad", 3, 2, 1, false },
		{ "write", 1, 0, 1, true }, { "copy", 2, 1, 1, true }, { "triad", 3, 2, 1, true },
	};
	static const char *const levels[] = { ".l1", ".l2", ".l3", ".dram" };
	uint64_t sockets = machine_field(t, "topology", "sockets");

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		size_t n = strlen(streams[i].name);
		const char *tail = streams[i].nontemporal ? "_nt.bandwidth" : ".bandwidth";
		bool between = !strncmp(row + n, ".node_remote", 12), local = !strncmp(row + n, ".node_local", 11);

		if (!strncmp(row, streams[i].name, n) && (between || local) && !strcmp(row + n + (between ? 12 : 11), tail))
			return between && sockets < 2 ? ST_UNSUPPORTED : crowd(t, &streams[i], 4, 1, between, out);
	}
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		for (unsigned level = 1; level <= 4; level++) {
			size_t n = strlen(streams[i].name);
			const char *where = streams[i].nontemporal ? ".dram_nt" : levels[level - 1];
			size_t to = n + strlen(where);

			if (strncmp(row, streams[i].name, n) || strncmp(row + n, where, to - n) || (streams[i].nontemporal && level < 4))
				continue;
			if (strcmp(row + to, "_all.bandwidth"))
				continue;
			if ((level == 2 && !machine_field(t, "l2", "bytes")) || (level == 3 && !machine_field(t, "l3", "bytes")))
				return ST_UNSUPPORTED;
			return sockets * machine_field(t, "topology", "cores") * machine_field(t, "topology", "threads") < 2 ? ST_UNSUPPORTED : crowd(t, &streams[i], level, sockets, false, out);
		}
	return ST_MISSING;
}

/* Lines that a channel moves for one stored in windows of 1024 and 2048 lines, which were flushed before: itself, and from where the
 * last level is full one that is written back. Least and most: which lines of a set go is up to its policy. */
static void moved_lines(struct machine_text *t, uint64_t *least, uint64_t *most)
{
	const uint64_t l3 = machine_field(t, "l3", "bytes"), l2 = machine_field(t, "l2", "bytes"), lines = (l3 ? l3 : l2 ? l2 : machine_field(t, "l1d", "bytes")) / 64;

	*least = lines <= 1024 ? 2 : 1;
	*most = lines < 2048 ? 2 : 1;
}

/* A line of k_store_line, whose baseline it is. */
static uint64_t line_loop_milli(struct machine_text *t)
{
	struct machine_text text = { t->machine, t->format, false };
	static const char loop[] = "a4s3s4s4s4a4a3d3j2";

	return larger(front_turn_milli(&text, loop), larger(over(1000 * front_slots(&text, loop), machine_field(t, "core", "issue_width")), over(1000 * front_slots(&text, loop), machine_field(t, "core", "retire_width"))));
}

enum status expect_bandwidth(const char *machine, const char *format, const char *row, struct expectation *out)
{
	struct machine_text t = { machine, format, false };
	uint64_t lfb = machine_field(&t, "lfb", "entries"), wc = smaller(machine_field(&t, "wc", "buffers"), lfb), channels = machine_field(&t, "dram", "channels");
	/* lines of stores under way, each in a fill buffer and in the queue behind it */
	const uint64_t under_way = smaller(smaller(lfb, machine_field(&t, "sq", "entries")), smaller(machine_field(&t, "gq", "read"), machine_field(&t, "core", "store_buffers")));
	uint64_t transfers = machine_field(&t, "wc", "partial_transfers");
	/* a line of four stores, whole or without the last; owned lines take one store a cycle, or what allocation and
	 * front end take for them */
	uint64_t whole = larger(combining_milli(&t, 4), channels_milli(&t, 1, channels)), owned = larger(4000, line_loop_milli(&t));
	uint64_t partial_least = partial_milli(&t, transfers > 1 ? transfers - 2 : 0, lfb - wc + 1, channels_milli(&t, transfers, channels));
	uint64_t partial_most = partial_milli(&t, transfers - 1, lfb - wc + 1, channels_milli(&t, transfers, channels));
	uint64_t fewest, moved;

	moved_lines(&t, &fewest, &moved);
	const struct { const char *row; uint64_t least, most; } formulas[] = {
		/* in place of the cycle that a line takes which is owned */
		{ "store.rfo.penalty", 1000 * (memory(&t, true) - 1), 1000 * (memory(&t, false) - 1) },
		{ "store.rfo.interval", larger(over(1000 * memory(&t, true), under_way), channels_milli(&t, fewest, channels)),
		  larger(over(1000 * memory(&t, false), under_way), channels_milli(&t, moved, channels)) },
		{ "store.nt.penalty", whole - owned, whole - owned },
		{ "store.nt_partial.penalty", partial_least - whole, partial_most - whole },
	};
	enum status st = expect_crowd(&t, row, out);

	for (size_t i = 0; st == ST_MISSING && i < sizeof(formulas) / sizeof(formulas[0]); i++)
		if (!strcmp(formulas[i].row, row)) {
			int64_t least = (int64_t)formulas[i].least, most = (int64_t)formulas[i].most;

			*out = (struct expectation){ least - (least / 50 > 500 ? least / 50 : 500), most + (most / 50 > 500 ? most / 50 : 500) };
			st = ST_OK;
		}
	return t.missing && st == ST_OK ? ST_SYNTAX : st;
}
