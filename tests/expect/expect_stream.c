/* tests/expect/expect_stream.c: what the triad rows should find, from the text of a machine file.
 *
 * An iteration is 256 bytes of each of three arrays: 12 lines touched, 4 of them modified. Each part of the machine
 * takes a time for it; no iteration can be shorter than the longest of these times. Where that one exceeds all others
 * by a quarter, or in the L1, they hide behind it and the row must find it within 1 %. Where
 * they do not, they get into each other's way for a tenth of it at most. Lines that the window has to wait for, with
 * loads' and stores' waits one after the other and no help by prefetchers, are the longest that it can take: between
 * that and the limit no formula is known here, for it is a matter of how far four prefetchers run ahead. */
#include "tests/expect/expect_stream.h"

#include <string.h>

#include "tests/expect/expect_front.h"

/* Of the kernels in asm/stream.asm, by vector length of 16, 32 and 64 bytes. */
struct form { uint64_t vectors, instructions_a_vector; };
static const struct form forms[] = { { 16, 4 }, { 8, 3 }, { 4, 3 } };
#define LINES 12
#define LINES_OUT 4

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t round_up(uint64_t a, uint64_t b) { return b ? (a + b - 1) / b : 0; }

static uint64_t ps(struct machine_text *t, uint64_t n)
{
	unsigned __int128 hz3 = (unsigned __int128)machine_field(t, "clock", "bus_hz_times_3") * machine_field(t, "clock", "core_ratio");

	return (uint64_t)((hz3 * n + 2999999999999ull) / 3000000000000ull);
}

static uint64_t last_lookup(struct machine_text *t)
{
	uint64_t ratio = machine_field(t, "clock", "uncore_ratio");

	if (machine_field(t, "l3", "bytes"))
		return machine_field(t, "l3", "core_cycles") + round_up(machine_field(t, "l3", "uncore_cycles") * machine_field(t, "clock", "core_ratio"), ratio);
	return machine_field(t, machine_field(t, "l2", "bytes") ? "l2" : "l1d", "cycles");
}

/* Times of an iteration in thousandths of core cycles: parts that work side by side, and waits for lines. */
struct times { uint64_t longest, second, front; };

static void part(struct times *t, uint64_t milli)
{
	t->second = milli > t->longest ? t->longest : larger(t->second, milli);
	t->longest = larger(t->longest, milli);
}

static const struct form *form_of(struct machine_text *t)
{
	uint64_t isa = machine_field(t, "cpuid", "isa");

	return &forms[isa & 16 ? 2 : isa & 2 ? 1 : 0];
}

/* Allocation, the front end before it, and the ports. */
static void core_parts(struct machine_text *t, struct times *out)
{
	const struct form *form = form_of(t);
	const char *loop = front_triads[form - forms];
	uint64_t slots = front_slots(t, loop);
	uint64_t mul = (uint64_t)cost_of(t, "fp_mul").ports, add = (uint64_t)cost_of(t, "fp_add").ports;

	part(out, 1000 * slots / larger(1, smaller(machine_field(t, "core", "issue_width"), machine_field(t, "core", "retire_width"))));
	out->front = front_turn_milli(t, loop);
	part(out, 1000 * form->vectors); /* stores are written one a cycle */
	part(out, 2000 * form->vectors / (uint64_t)cost_of(t, "load").ports);
	part(out, 1000 * form->vectors / (uint64_t)cost_of(t, "std").ports);
	part(out, 1000 * form->vectors / larger(1, mul));
	part(out, 1000 * form->vectors / larger(1, add));
	/* what can go to no other ports than those of some classes together */
	const struct { const char *class; uint64_t uops; } uses[] = { { "load", 2 * form->vectors }, { "sta", form->vectors },
		{ "std", form->vectors }, { "fp_mul", form->vectors }, { "fp_add", form->vectors }, { "lea", 3 }, { "int", machine_field(t, "core", "macrofusion") == 2 ? 2 : 3 }, { "branch", 1 } };
	uint64_t most = 0;

	for (unsigned some = 1; some < 1u << 8; some++) {
		unsigned mask = 0;
		uint64_t uops = 0;

		for (unsigned i = 0; i < 8; i++)
			mask |= some >> i & 1 ? cost_of(t, uses[i].class).mask : 0;
		for (unsigned i = 0; i < 8; i++)
			uops += cost_of(t, uses[i].class).mask & ~mask ? 0 : uses[i].uops;
		most = larger(most, 1000 * uops / larger(1, (uint64_t)__builtin_popcount(mask)));
	}
	if (most > out->longest) /* else it is one of the parts above */
		part(out, most);
}

/* How many lines loads can wait for: fill buffers, and the vectors that fit the window, 8 lines in an iteration's. */
static uint64_t lines_waited_for(struct machine_text *t)
{
	const struct form *form = form_of(t);
	uint64_t entries = form->instructions_a_vector == 4 ? 3 : 2; /* all but a load alone wait in the reservation station */
	uint64_t vectors = smaller(machine_field(t, "core", "rs") / entries / (machine_field(t, "core", "rs_unfused") ? 2 : 1),
	                           smaller(machine_field(t, "core", "rob") / form->instructions_a_vector, machine_field(t, "core", "load_buffers") / 2));

	return larger(1, smaller(machine_field(t, "lfb", "entries"), 8 * vectors / form->vectors));
}

static void line_parts(struct machine_text *t, unsigned level, bool nontemporal, struct times *out, uint64_t *waits)
{
	uint64_t lines_in = nontemporal ? LINES - LINES_OUT : LINES, latency = last_lookup(t), hz3, shared = larger(1, machine_field(t, "l2", "cores"));
	uint64_t stores = larger(1, smaller(machine_field(t, "lfb", "entries"), machine_field(t, "core", "store_buffers") * LINES_OUT / form_of(t)->vectors));
	bool prefetched = machine_field(t, "prefetch", "present");
	/* all cores of an L2 have its queue, one is at work; without prefetchers each line has a fill buffer too */
	uint64_t queue = prefetched ? machine_field(t, "sq", "entries") : smaller(machine_field(t, "sq", "entries"), machine_field(t, "lfb", "entries"));

	/* an entry of the queue is held from the miss in the L2 on */
	const uint64_t before = prefetched && machine_field(t, "l2", "bytes") && latency > machine_field(t, "l2", "cycles") ? machine_field(t, "l2", "cycles") : 0;

	if (shared && machine_field(t, "l2", "bytes"))
		part(out, 1000 * (lines_in + (nontemporal ? 0 : LINES_OUT)) * machine_field(t, "l2", "busy_cycles"));
	if (level == 2)
		latency = machine_field(t, "l2", "cycles");
	if (level == 4) {
		uint64_t channels = machine_field(t, "dram", "channels") * machine_field(t, "dram", "channel_bytes_per_second");
		uint64_t open = machine_field(t, "dram", "open_page") ? machine_field(t, "dram", "page_hit_ps") : 0, miss = machine_field(t, "dram", "open_page") ? machine_field(t, "dram", "page_miss_ps") : 0;

		hz3 = machine_field(t, "clock", "bus_hz_times_3") * machine_field(t, "clock", "core_ratio");
		part(out, (uint64_t)((unsigned __int128)(lines_in + LINES_OUT) * 64000 * hz3 / 3 / larger(1, channels)));
		part(out, 1000 * lines_in * (latency - before + ps(t, machine_field(t, "dram", "local_ps") - open)) / larger(1, queue));
		latency += ps(t, machine_field(t, "dram", "local_ps")) + ps(t, miss); /* a wait may be for another row */
		if (nontemporal) /* a buffer is held from its first store until memory has the line */
			part(out, 1000 * LINES_OUT * ps(t, machine_field(t, "wc", "drain_ps")) / machine_field(t, "lfb", "entries"));
	} else if (level == 3) {
		part(out, 1000 * lines_in * (latency - before) / larger(1, queue));
		part(out, 1000 * (lines_in + LINES_OUT) * round_up(machine_field(t, "l3", "busy_uncore_cycles") * machine_field(t, "clock", "core_ratio"),
		                                                    machine_field(t, "clock", "uncore_ratio")) / larger(1, machine_field(t, "l3", "slices")));
	}
	/* where the loads themselves wait, the window has them from allocation on */
	const uint64_t held = level == 2 && !(machine_field(t, "prefetch", "present") & 12) ? machine_field(t, "core", "dispatch_cycles") + 1 : 0;

	*waits = 1000 * 8 * (latency + held) / lines_waited_for(t) + (nontemporal ? 1000 * LINES_OUT * ps(t, machine_field(t, "wc", "drain_ps")) : 1000 * LINES_OUT * latency / stores);
	if (prefetched && level >= 3) { /* lines that prefetchers bring go through the L2 twice; all of them: that and what is written back */
		*waits += 1000 * lines_in * machine_field(t, "l2", "busy_cycles");
		*waits = larger(*waits, 1000 * (2 * lines_in + (nontemporal ? 0 : LINES_OUT)) * machine_field(t, "l2", "busy_cycles"));
	}
}

enum status expect_stream(const char *machine, const char *format, const char *row, struct expectation *out)
{
	static const struct { const char *row; unsigned level; bool nontemporal; } rows[] = {
		{ "triad.l1.bandwidth", 1, false }, { "triad.l2.bandwidth", 2, false }, { "triad.l3.bandwidth", 3, false },
		{ "triad.dram.bandwidth", 4, false }, { "triad.dram_nt.bandwidth", 4, true },
	};
	struct machine_text text = { machine, format, false }, *t = &text;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		unsigned __int128 hz3 = (unsigned __int128)machine_field(t, "clock", "bus_hz_times_3") * machine_field(t, "clock", "core_ratio") * 768 * 1000000 / 3;
		struct times times = { 0, 0, 0 };
		uint64_t waits = 0, most;

		if (strcmp(rows[i].row, row))
			continue;
		if ((rows[i].level == 2 && !machine_field(t, "l2", "bytes")) || (rows[i].level == 3 && !machine_field(t, "l3", "bytes")))
			return ST_UNSUPPORTED;
		core_parts(t, &times);
		if (rows[i].level > 1)
			line_parts(t, rows[i].level, rows[i].nontemporal, &times, &waits);
		if (t->missing)
			return ST_SYNTAX;
		/* in the L1 ports that are nearly as busy do not disturb each other */
		most = larger(times.longest, times.front);
		if (rows[i].level > 1 && larger(times.second, waits) > most / 5 * 4)
			most = larger(most, waits) / 10 * 11;
		*out = (struct expectation){ (int64_t)(hz3 / most / 100 * 99), (int64_t)(hz3 / larger(times.longest, times.front) / 100 * 101) };
		return ST_OK;
	}
	return ST_MISSING;
}
