/* tests/expect/expect_bandwidth.c: what rows of bench/catalogue/bandwidth.def should find, from the text of a machine file.
 *
 * Streams of several cores, stores line by line; one core's streams are in expect_stream.c. An iteration moves 256 bytes, 4 lines, of
 * each array. All times in thousandths of a core cycle. */
#include "tests/expect/expect_bandwidth.h"

#include <stdlib.h>
#include <string.h>

#include "pmu/text.h"
#include "tests/expect/expect_follow.h"
#include "tests/expect/expect_front.h"
#include "tests/expect/expect_past.h"
#include "tests/expect/expect_stream.h"
#include "tests/expect/expect_turn.h"

#define LEAST_MILLI 100 /* a tenth of a cycle */
#define COLD_BYTES 0x100000u /* of arrays whose lines are flushed, or so many times a window of theirs */
#define COLD_PLACES 4u
#define EMPTY_TIMES 2u         /* an L2 that gives its lines to the last level is gone through before */

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

/* --- store.rfo.penalty ---------------------------------------------------------------------------- */

#define OWN_LINES 512u       /* of its array, in a large page; windows are of half of them and of all */
#define OWN_ROUNDS 6u        /* the first one warms up */
#define OWN_STARTS 4u
#define PAGE_LINES 32768u

struct owning { uint64_t channels, banks, row_lines, begins, at; int64_t hit, miss, *row; bool open_page, modified[OWN_LINES]; };

/* A line moves: by how many cycles it comes later than from a bank whose rows are closed. */
static int64_t owning_row(struct owning *o, uint64_t line)
{
	const uint64_t at = (o->begins + line) / o->channels, page = at / o->row_lines, bank = (o->begins + line) % o->channels * o->banks + page % o->banks;
	const int64_t before = o->row[bank], now = 1 + (int64_t)(page / o->banks);

	o->row[bank] = now;
	return !o->open_page || !before ? 0 : before == now ? -o->hit : o->miss;
}

/* What all lines hold that were stored to is written when they are flushed, which opens rows; then each line comes by itself. */
static int64_t owning_window(struct owning *o, unsigned lines)
{
	int64_t later = 0;

	for (uint64_t line = 0; line < OWN_LINES; line++) {
		if (o->modified[line])
			(void)owning_row(o, line);
		o->modified[line] = false;
	}
	for (unsigned i = 0; i < lines; i++, o->at = (o->at + 1) % OWN_LINES) {
		later += owning_row(o, o->at);
		o->modified[o->at] = true;
	}
	return later;
}

/* Thousandths of a cycle in place of the one that a line takes which is owned: from memory, and as rows of DRAM are found, in windows of n and 2n lines in any order. */
static bool owning_milli(struct machine_text *t, int64_t *least, int64_t *most)
{
	const int64_t memory = (int64_t)(lookup(t) + ps(t, machine_field(t, "dram", "local_ps"))) - 1;
	struct owning o = { .channels = machine_field(t, "dram", "channels"), .banks = machine_field(t, "dram", "banks"), .row_lines = machine_field(t, "dram", "page_bytes") / 64,
		.hit = (int64_t)ps(t, machine_field(t, "dram", "page_hit_ps")), .miss = (int64_t)ps(t, machine_field(t, "dram", "page_miss_ps")), .open_page = machine_field(t, "dram", "open_page") };

	*least = INT64_MAX;
	*most = INT64_MIN;
	if (t->missing || !o.channels || !o.banks || !o.row_lines || !(o.row = calloc(o.channels * o.banks, sizeof(*o.row))))
		return false;
	for (unsigned start = 0; start < OWN_STARTS; start++) {
		int64_t slope[OWN_ROUNDS];

		o.begins = (1 + start) * PAGE_LINES;
		for (unsigned round = 0; round < OWN_ROUNDS; round++) {
			const bool longer_first = (0x1Au >> start >> round) & 1;
			const int64_t first = owning_window(&o, longer_first ? OWN_LINES : OWN_LINES / 2), second = owning_window(&o, longer_first ? OWN_LINES / 2 : OWN_LINES);
			const int64_t milli = 1000 * (longer_first ? first - second : second - first) / (int64_t)(OWN_LINES / 2);
			unsigned at = round;

			for (; round && at > 1 && slope[at - 1] > milli; at--)
				slope[at] = slope[at - 1];
			slope[at] = milli;
		}
		const int64_t milli = 1000 * memory + slope[(OWN_ROUNDS + 1) / 2];

		*least = milli < *least ? milli : *least;
		*most = milli > *most ? milli : *most;
	}
	free(o.row);
	return true;
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

struct stream { const char *name; enum follow_stream follow; uint64_t arrays, loaded, stored; bool nontemporal; };

/* Allocation, retirement, load ports, store ports; stores are written one a cycle. All of it two threads share. */
static uint64_t slots_milli(struct machine_text *t, const struct stream *s)
{
	struct machine_text text = { t->machine, t->format, false };
	const char *loop = follow_loop(t, s->follow);
	uint64_t vectors = 256 / follow_vector_bytes(t), slots = 1000 * front_slots(&text, loop);
	uint64_t milli = larger(over(slots, machine_field(t, "core", "issue_width")), over(slots, machine_field(t, "core", "retire_width")));

	milli = larger(milli, over(1000 * vectors * s->loaded, ports(t, "load", 1)));
	t->missing |= text.missing;
	return larger(milli, larger(1000 * vectors * s->stored, larger(over(1000 * vectors * s->stored, ports(t, "std", 1)),
	                            over(1000 * vectors * s->stored, ports(t, "sta", 1)))));
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
	const uint64_t threads = machine_field(t, "topology", "threads"), cores = machine_field(t, "topology", "cores") * threads, of_l2 = machine_field(t, "l2", "cores") * threads;

	if (level == 2 && machine_field(t, "l2", "ways") == 2 && s->arrays * power_of_two_below(machine_field(t, "l2", "bytes") / 2 / s->arrays) < 2 * machine_field(t, "l1d", "bytes"))
		return false; /* a way stays free */
	if (level == 2)
		return share(machine_field(t, "l2", "bytes"), of_l2, s->arrays) >= 2 * over(machine_field(t, "l1d", "bytes"), threads);
	return level != 3 || share(machine_field(t, "l3", "bytes"), cores, s->arrays) >= 2 * over(machine_field(t, "l2", "bytes"), of_l2);
}

/* In memory a row's shorter window has so many turns of the loop, of fewer than so many cores of a socket in proportion more; where caches are full, of many in all
 * or where a last level takes what others give up twice as many. */
#define TURNS_OF_MANY 32u
#define MANY_CORES 12u
#define MANY_IN_ALL 8u
/* What is for such windows at the end of each array: so many times a pair of them. */
#define ROOM_PAIRS 32u
#define PAIR_TURNS 5u
#define LEAD_TURNS 32u
#define PAGE_BYTES 4096u

static unsigned turns_of(uint64_t of_node) { return of_node && of_node < MANY_CORES ? (unsigned)(TURNS_OF_MANY * ((MANY_CORES + of_node - 1) / of_node)) : TURNS_OF_MANY; }

/* Arrays of all cores in memory where caches are full: 4/3 of the last level, and the level below once lie before the windows. Arrays go
 * through its sets together: they lie whole ways apart, and what keeps loads from aliasing with stores. */
static void fill_arrays(struct machine_text *t, const struct stream *s, uint64_t of_node, struct follow_cores *f)
{
	const uint64_t l3 = machine_field(t, "l3", "bytes"), last = l3 ? l3 : machine_field(t, "l2", "bytes"), ways = machine_field(t, l3 ? "l3" : "l2", "ways");
	const uint64_t way = over(last, ways), data = 256 * s->arrays, wanted = (ways * 4 / 3 * 256 + data - 1) / data;
	const uint64_t below = machine_field(t, l3 ? "l2" : "l1d", "bytes") / data * 5 / 4 * 256;
	const uint64_t pair = (256ull * (LEAD_TURNS + PAIR_TURNS * f->turns) + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

	f->filled = true;
	f->places_bytes = ROOM_PAIRS * pair;
	f->array_bytes = larger(f->array_bytes, 2 * power_of_two_below((wanted + of_node - 1) / of_node * way + below + f->places_bytes));
	f->skew_bytes = FOLLOW_APART_BYTES + (way - f->array_bytes % way) % way;
}

/* All cores of `nodes` nodes; between: in memory of another one. The cores of one socket are followed together (expect_multicore.c); sockets do not
 * keep each other waiting: one's link to the other carries what it reads one way, and what the other reads the other way. */
static enum status crowd(struct machine_text *t, const struct stream *s, unsigned level, uint64_t nodes, unsigned turns, bool between, struct expectation *out)
{
	const uint64_t of_node = machine_field(t, "topology", "cores"), cores = nodes * of_node, l3 = machine_field(t, "l3", "bytes"), of_l2 = machine_field(t, "l2", "cores");
	const uint64_t threads = machine_field(t, "topology", "threads"), sharers = threads * (level == 1 ? 1 : level == 2 || !l3 ? of_l2 : of_node);
	const uint64_t alone = stream_array_bytes(t, level, s->arrays), level_bytes = machine_field(t, level == 1 ? "l1d" : level == 2 ? "l2" : "l3", "bytes");
	const uint64_t last = l3 ? l3 : machine_field(t, "l2", "bytes"), shared = share(level_bytes, sharers, s->arrays) / s->arrays;
	const uint64_t hundredths = 1 + (threads > 1);
	const uint64_t emptied = l3 && !machine_field(t, "l3", "inclusive") ? EMPTY_TIMES * machine_field(t, "l2", "bytes") : 1;
	const uint64_t bytes = turns ? larger(larger(COLD_BYTES, 2 * power_of_two_below(emptied - 1)), 2 * power_of_two_below(COLD_PLACES * 4 * 256ull * turns - 1)) : level == 4 ? 2 * power_of_two_below(6 * last / larger(sharers, 1) / s->arrays - 1) : smaller(alone, shared);
	uint64_t least, most;

	if ((!alone && !turns) || !bytes || !shared_in_reach(t, s, level)) /* arrays that are flushed are short on any machine */
		return t->missing ? ST_SYNTAX : ST_UNSUPPORTED;
	if (level > 1 && threads > 1)
		return ST_MISSING; /* how two threads share a core's buffers is not followed */
	if (level == 3 && machine_field(t, "l2", "policy") && share(l3, of_node * threads, s->arrays) < 6 * over(machine_field(t, "l2", "bytes"), machine_field(t, "l2", "cores")))
		return ST_MISSING; /* an L2 that does not replace the oldest keeps some of it */
	struct follow_cores f = { .stream = s->follow, .nontemporal = s->nontemporal, .remote = between, .level = level, .turns = turns, .array_bytes = bytes,
		.sockets = (unsigned)nodes, .cores = (unsigned)(level == 1 ? 1 : of_node), .of_l2 = (unsigned)(level == 1 ? 1 : of_l2) };
	if (level == 4 && !turns) {
		f.turns = turns_of(of_node) * (cores > MANY_IN_ALL || (l3 && !machine_field(t, "l3", "inclusive")) ? 2 : 1);
		fill_arrays(t, s, of_node, &f);
	}
	if (!follow_cores_milli(t, &f, &least, &most))
		return t->missing ? ST_SYNTAX : ST_MISSING; /* more cores than can be followed */
	if (threads > 1) /* two threads fill what one leaves of ports and slots, and now and then take turns badly */
		least = smaller(most, slots_milli(t, s));
	most += larger(hundredths * most / 100, LEAST_MILLI);
	least -= larger(hundredths * least / 100, LEAST_MILLI);
	*out = (struct expectation){ rate_milli(t, 256 * s->arrays * cores, most), rate_milli(t, 256 * s->arrays * cores, least) };
	return ST_OK;
}

static enum status expect_multicore(struct machine_text *t, const char *row, struct expectation *out)
{
	static const struct stream streams[] = {
		{ "read", FOLLOW_READ, 1, 1, 0, false }, { "write", FOLLOW_WRITE, 1, 0, 1, false }, { "copy", FOLLOW_COPY, 2, 1, 1, false }, { "triad", FOLLOW_TRIAD, 3, 2, 1, false },
		{ "write", FOLLOW_WRITE, 1, 0, 1, true }, { "copy", FOLLOW_COPY, 2, 1, 1, true }, { "triad", FOLLOW_TRIAD, 3, 2, 1, true },
	};
	static const char *const levels[] = { ".l1", ".l2", ".l3", ".dram" };
	const uint64_t sockets = machine_field(t, "topology", "sockets"), of_node = machine_field(t, "topology", "cores") * machine_field(t, "topology", "threads");
	const unsigned turns = turns_of(of_node);

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		size_t n = strlen(streams[i].name);
		const char *tail = streams[i].nontemporal ? "_nt.bandwidth" : ".bandwidth";
		bool between = !strncmp(row + n, ".node_remote", 12), local = !strncmp(row + n, ".node_local", 11);

		if (!strncmp(row, streams[i].name, n) && (between || local) && !strcmp(row + n + (between ? 12 : 11), tail))
			return between && sockets < 2 ? ST_UNSUPPORTED : crowd(t, &streams[i], 4, 1, turns, between, out);
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
			/* what is written back has to be, so only these windows begin with lines that were flushed */
			return sockets * of_node < 2 ? ST_UNSUPPORTED : crowd(t, &streams[i], level, sockets, level == 4 && (!streams[i].stored || streams[i].nontemporal) ? turns : 0, false, out);
		}
	return ST_MISSING;
}

enum status expect_bandwidth(const char *machine, const char *format, const char *row, struct expectation *out)
{
	struct machine_text t = { machine, format, false };
	int64_t owned_least = 0, owned_most = 0, owning_least = 0, owning_most = 0;
	uint64_t whole_least = 0, whole_most = 0, partial_least = 0, partial_most = 0;

	if (!strncmp(row, "store.nt", 8) && (!past_milli(&t, 4, &whole_least, &whole_most) || !past_milli(&t, 3, &partial_least, &partial_most) || !turn_line_milli(&t, &owned_least, &owned_most)))
		return t.missing ? ST_SYNTAX : ST_MISSING;
	if (!strcmp(row, "store.rfo.penalty") && !owning_milli(&t, &owning_least, &owning_most))
		return t.missing ? ST_SYNTAX : ST_MISSING;
	if (!strcmp(row, "store.rfo.interval") && !turn_owning_milli(&t, &owning_least, &owning_most))
		return t.missing ? ST_SYNTAX : ST_MISSING;
	const struct { const char *row; uint64_t least, most; } formulas[] = {
		{ "store.rfo.penalty", (uint64_t)owning_least, (uint64_t)owning_most },
		{ "store.rfo.interval", (uint64_t)owning_least, (uint64_t)owning_most },
		{ "store.nt.penalty", whole_least - (uint64_t)owned_most, whole_most - (uint64_t)owned_least },
		{ "store.nt_partial.penalty", partial_least - whole_most, partial_most - whole_least },
	};
	enum status st = expect_multicore(&t, row, out);

	for (size_t i = 0; st == ST_MISSING && i < sizeof(formulas) / sizeof(formulas[0]); i++)
		if (!strcmp(formulas[i].row, row)) {
			int64_t least = (int64_t)formulas[i].least, most = (int64_t)formulas[i].most;

			*out = (struct expectation){ least - (least / 50 > 500 ? least / 50 : 500), most + (most / 50 > 500 ? most / 50 : 500) };
			st = ST_OK;
		}
	return t.missing && st == ST_OK ? ST_SYNTAX : st;
}
