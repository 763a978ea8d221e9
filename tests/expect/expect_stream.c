/* tests/expect/expect_stream.c: what streams of one core should find, from the text of a machine file.
 *
 * An iteration is 256 bytes of each array. Core, port, buffers, prefetchers and memory keep each other waiting, so what it takes
 * is followed (expect_follow.c), over arrays as large as bench/measure/layout.c makes them. In the L1 everything is known. Beyond
 * it is not known which line the window begins with, nor what is in the caches beside the arrays; of memory also where in its rows
 * they lie, and which lines the last level gives up: there a prefetcher may be a little ahead or behind for good. */
#include "tests/expect/expect_stream.h"

#include <string.h>

#include "tests/expect/expect_follow.h"

#define LEAST_MILLI 30 /* 0.03 cycles, where a part of the value is less: what a window of 128 iterations ends with may be some cycles later */
/* In memory so many starts, until the mean of all is sure: its standard error is at most 1 in STARTS_SURE. */
#define STARTS_LEAST 16u
#define STARTS_MOST 32u
#define STARTS_SURE 600
/* Of the rows, until their mean is sure to 1 in WINDOWS_SURE; they may be off by so many standard errors by chance. */
#define WINDOWS_LEAST 10u
#define WINDOWS_MOST 20u
#define WINDOWS_SURE 300u
#define ERRORS 3u

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
		const uint64_t least = 6 * last > 256 * bytes[1] ? 6 * last : 256 * bytes[1];

		all = arrays * 2 * power_of_two_below((least + arrays - 1) / arrays - 1);
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

static uint64_t more_of(uint64_t milli)
{
	const uint64_t part = milli / 100;

	return part > LEAST_MILLI ? part : LEAST_MILLI;
}

/* In memory a window falls into one rhythm or another, depending on where in pages and rows it begins, and most streams change theirs
 * after some hundred or thousand iterations. So a row's mean is that of many starts, but for its standard error. Where what the first
 * half took is what the second one takes, rhythms stay, and how many windows of a row fall into which nobody knows. */
static bool memory_milli(struct machine_text *t, const struct follow_cores *f, uint64_t *least, uint64_t *most)
{
	int64_t first[STARTS_MOST], second[STARTS_MOST], squares = 0, alike = 0, sum = 0, mean = 0;
	unsigned n = 0;

	for (bool sure = false; n < STARTS_MOST && !sure;) {
		uint64_t half;
		const uint64_t milli = follow_start_milli(t, f, n, &half);

		if (!milli)
			return false;
		first[n] = (int64_t)half;
		second[n++] = (int64_t)(2 * milli - half);
		sum += (int64_t)(2 * milli);
		mean = sum / 2 / n;
		squares = alike = 0;
		for (unsigned i = 0; i < n; i++) {
			squares += ((first[i] - mean) * (first[i] - mean) + (second[i] - mean) * (second[i] - mean)) / 2;
			alike += (first[i] - mean) * (second[i] - mean);
		}
		sure = n >= STARTS_LEAST && squares / n / n <= mean * mean / STARTS_SURE / STARTS_SURE;
	}
	const uint64_t deviation = follow_root((uint64_t)squares / n), much = (uint64_t)mean / WINDOWS_SURE;
	const uint64_t at_least = deviation * 1000 / follow_root(WINDOWS_MOST * 1000000), at_most = deviation * 1000 / follow_root(WINDOWS_LEAST * 1000000);
	const uint64_t error = ERRORS * (at_least > much ? at_least : at_most < much ? at_most : much);

	*least = (uint64_t)mean - error;
	*most = (uint64_t)mean + error;
	for (unsigned i = 0; i < n && 4 * alike > 3 * squares; i++) {
		const uint64_t both = (uint64_t)(first[i] + second[i]) / 2;

		*least = both < *least ? both : *least;
		*most = both > *most ? both : *most;
	}
	return *least;
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

		const struct follow_cores one = { .stream = rows[i].stream, .nontemporal = rows[i].nontemporal, .level = rows[i].level, .cores = 1, .of_l2 = 1, .array_bytes = bytes };

		if (!(one.level == 4 ? memory_milli(t, &one, &least, &most) : follow_milli(t, &one, &least, &most)))
			return ST_SYNTAX;
		most += more_of(most);
		least -= more_of(least);
		*out = (struct expectation){ (int64_t)(hz3 * 256 * arrays * 1000000 / 3 / most), (int64_t)(hz3 * 256 * arrays * 1000000 / 3 / least) };
		return ST_OK;
	}
	return ST_MISSING;
}
