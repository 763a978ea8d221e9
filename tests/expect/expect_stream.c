/* tests/expect/expect_stream.c: what streams of one core should find, from the text of a machine file.
 *
 * An iteration is 256 bytes of each array. Core, port, buffers, prefetchers and memory keep each other waiting, so what it takes
 * is followed (expect_follow.c), over arrays as large as bench/layout.c makes them. In the L1 everything is known. Beyond
 * it is not known which line the window begins with, nor what is in the caches beside the arrays; of memory also where in its rows
 * they lie, and which lines the last level gives up: there a prefetcher may be a little ahead or behind for good. */
#include "tests/expect/expect_stream.h"

#include <string.h>

#include "tests/expect/expect_follow.h"

#define LEAST_MILLI 100 /* a tenth of a cycle, where a part of the value is less */

static const struct stream_row { const char *row; enum follow_stream stream; unsigned level; bool nontemporal; } rows[] = {
	{ "triad.l1.bandwidth", FOLLOW_TRIAD, 1, false }, { "triad.l2.bandwidth", FOLLOW_TRIAD, 2, false }, { "triad.l3.bandwidth", FOLLOW_TRIAD, 3, false },
	{ "triad.dram.bandwidth", FOLLOW_TRIAD, 4, false }, { "triad.dram_nt.bandwidth", FOLLOW_TRIAD, 4, true },
	{ "read.l1.bandwidth", FOLLOW_READ, 1, false }, { "read.l2.bandwidth", FOLLOW_READ, 2, false }, { "read.l3.bandwidth", FOLLOW_READ, 3, false },
	{ "read.dram.bandwidth", FOLLOW_READ, 4, false },
	{ "write.l1.bandwidth", FOLLOW_WRITE, 1, false }, { "write.l2.bandwidth", FOLLOW_WRITE, 2, false }, { "write.l3.bandwidth", FOLLOW_WRITE, 3, false },
	{ "write.dram.bandwidth", FOLLOW_WRITE, 4, false }, { "write.dram_nt.bandwidth", FOLLOW_WRITE, 4, true },
	{ "copy.l1.bandwidth", FOLLOW_COPY, 1, false }, { "copy.l2.bandwidth", FOLLOW_COPY, 2, false }, { "copy.l3.bandwidth", FOLLOW_COPY, 3, false },
	{ "copy.dram.bandwidth", FOLLOW_COPY, 4, false }, { "copy.dram_nt.bandwidth", FOLLOW_COPY, 4, true },
};

static uint64_t power_of_two_below(uint64_t n)
{
	uint64_t p = 1;

	while (p <= n / 2)
		p *= 2;
	return n ? p : 0;
}

uint64_t stream_array_bytes(struct machine_text *t, unsigned level, uint64_t arrays)
{
	const uint64_t bytes[] = { 0, machine_field(t, "l1d", "bytes"), machine_field(t, "l2", "bytes"), machine_field(t, "l3", "bytes") };
	const uint64_t last = bytes[3] ? bytes[3] : bytes[2] ? bytes[2] : bytes[1];
	uint64_t all;

	if (level == 4) {
		all = arrays * 2 * power_of_two_below((6 * last + arrays - 1) / arrays - 1);
		return all + FOLLOW_APART_BYTES * (arrays - 1) > 1ull << 30 ? 0 : all / arrays;
	}
	const uint64_t ways = level > 1 ? machine_field(t, level == 2 ? "l2" : "l3", "ways") : 0;

	all = arrays * power_of_two_below(ways == 2 ? bytes[level] / 2 / arrays : bytes[level] / 4 * 3 / arrays);
	while (level == 3 && bytes[2] && all && all / 2 >= 6 * bytes[2])
		all /= 2;
	while (level == 1 && all / 2 >= 256 * arrays && all + (arrays - 1) * FOLLOW_APART_BYTES > bytes[1])
		all /= 2;
	return all < 2 * bytes[level - 1] ? 0 : all / arrays;
}

static uint64_t more_of(uint64_t milli, unsigned level)
{
	static const uint64_t thousandths[] = { 0, 10, 15, 15, 30 };
	const uint64_t part = thousandths[level] * milli / 1000;

	return part > LEAST_MILLI ? part : LEAST_MILLI;
}

enum status expect_stream(const char *machine, const char *format, const char *row, struct expectation *out)
{
	struct machine_text text = { machine, format, false }, *t = &text;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const uint64_t arrays = rows[i].stream == FOLLOW_TRIAD ? 3 : rows[i].stream == FOLLOW_COPY ? 2 : 1;
		const unsigned __int128 hz3 = (unsigned __int128)machine_field(t, "clock", "bus_hz_times_3") * machine_field(t, "clock", "core_ratio");

		if (strcmp(rows[i].row, row))
			continue;
		const uint64_t bytes = stream_array_bytes(t, rows[i].level, arrays);

		if (!bytes)
			return t->missing ? ST_SYNTAX : ST_UNSUPPORTED;
		uint64_t least, most;

		if (!follow_milli(t, rows[i].stream, rows[i].nontemporal, rows[i].level, bytes, &least, &most))
			return ST_SYNTAX;
		most += more_of(most, rows[i].level);
		least -= more_of(least, rows[i].level);
		*out = (struct expectation){ (int64_t)(hz3 * 256 * arrays * 1000000 / 3 / most), (int64_t)(hz3 * 256 * arrays * 1000000 / 3 / least) };
		return ST_OK;
	}
	return ST_MISSING;
}
