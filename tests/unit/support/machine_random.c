/* tests/unit/support/machine_random.c: machine files drawn at random.
 *
 * Values are drawn independently where machine.def allows it, otherwise from the range that the others leave: each level of cache is
 * larger and slower than the one below, and numbers of sets are powers of two. Sizes are limited to keep tests short.
 *
 * Not drawn, because no chase meets the formulas there:
 * - tree-PLRU with a number of ways that is not a power of two: lines in the subtree with more ways are never evicted while others of it are used;
 * - an L2 smaller than eight times an L1 that is not LRU: such an L1 keeps some lines of every ring that fits in the L2;
 * - a non-inclusive L3 in processors whose events do not distinguish a line that a sharer forwards from one that was snooped. */
#include "tests/unit/support/machine_random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmu/base.h"
#include "tests/unit/support/closed_loop.h"

struct draw { uint64_t state; char *at; size_t left; };

static uint64_t next(struct draw *d)
{
	/* splitmix64 (Steele, Lea, Flood 2014) */
	uint64_t z = d->state += 0x9E3779B97F4A7C15ull;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return z ^ z >> 31;
}

static uint64_t between(struct draw *d, uint64_t low, uint64_t high)
{
	return low + next(d) % (high - low + 1);
}

static bool one_in(struct draw *d, unsigned n) { return next(d) % n == 0; }

static void emit(struct draw *d, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	int n = vsnprintf(d->at, d->left, format, list);
	va_end(list);
	if (n > 0 && (size_t)n < d->left) {
		d->at += n;
		d->left -= (size_t)n;
	}
}

static void field(struct draw *d, const char *key, uint64_t value)
{
	emit(d, "%s = %llu\n", key, (unsigned long long)value);
}

/* Processors whose events the driver and the register model both know. */
static const struct identity { unsigned family, model; const char *events; unsigned pebs_format, version, general; bool msr, forwards; } identities[] = {
	{ 6, 0x1A, "nehalem", 1, 3, 4, true, false },
	{ 6, 0x3F, "haswell", 2, 3, 8, true, false },
	{ 6, 0x55, "skylake", 3, 4, 8, true, true },
	{ 6, 0x17, "core2", 0, 2, 2, false, true },
};

static void draw_core(struct draw *d, const struct identity *who)
{
	uint64_t width = between(d, 2, 8), rob = between(d, 32, 512);

	emit(d, "[core]\n");
	field(d, "issue_width", width);
	field(d, "retire_width", between(d, width, 10));
	field(d, "rob", rob);
	field(d, "rs", between(d, 16, rob < 128 ? rob : 128));
	field(d, "load_buffers", between(d, 16, rob));
	field(d, "store_buffers", between(d, 12, rob));
	field(d, "mispredict_cycles", between(d, 8, 30));
	field(d, "dispatch_cycles", between(d, 1, 6));
	field(d, "macrofusion", between(d, 0, 2));
	field(d, "zero_idioms", between(d, 0, 2));
	field(d, "move_elimination", between(d, 0, 1));
	field(d, "clear_cycles", between(d, 5, 60));
	if (one_in(d, 2)) {
		field(d, "ports", 8);
		emit(d, "[exec]\nint = 1 0156 1\nload = 0 23 1\nsta = 1 237 1\nstd = 1 4 1\nlea = 1 15 1\nbranch = 1 06 1\n"
		    "fp_add = %u 01 1\nfp_mul = %u 01 1\n", (unsigned)between(d, 2, 6), (unsigned)between(d, 2, 7));
	}
	emit(d, "[front]\n");
	field(d, "decode_width", between(d, 2, 8));
	field(d, "loop_uops", one_in(d, 3) ? 0 : between(d, 16, 96));
	if (one_in(d, 2))
		field(d, "uop_cache", 1536);
	emit(d, "[store]\n");
	field(d, "forward_cycles", between(d, 3, 9));
	if (who->pebs_format == 0) { /* Core 2's events count split loads that miss the L1D and wait to be the oldest */
		emit(d, "[load]\n");
		field(d, "split_miss_cycles", between(d, 10, 40));
	}
}

static uint64_t draw_cache(struct draw *d, const char *name, uint64_t least, uint64_t most, unsigned ways_most,
                           unsigned slices, unsigned *policy)
{
	uint64_t ways, sets, bytes;
	unsigned sets_log2_most = 14;

	*policy = (unsigned)between(d, 0, 2);
	ways = ways_most;
	while (*policy == 1 && ways & (ways - 1))
		ways &= ways - 1;
	while ((ways << sets_log2_most) * 64 * slices < least)
		sets_log2_most++;
	do {
		ways = between(d, 2, ways_most);
		sets = 1ull << between(d, 3, sets_log2_most);
		bytes = ways * sets * 64 * slices;
	} while (bytes < least || bytes > most || (*policy == 1 && (ways & (ways - 1))));
	emit(d, "[%s]\n", name);
	field(d, "bytes", bytes);
	field(d, "ways", ways);
	field(d, "policy", *policy);
	return bytes;
}

static void draw_caches(struct draw *d, unsigned cores, bool forwards)
{
	unsigned slices = (unsigned)between(d, 1, 6), policy;
	uint64_t l1 = draw_cache(d, "l1d", 8192, 131072, 16, 1, &policy), l1_cycles = between(d, 2, 8), l2, l2_cycles, sharing;
	uint64_t least = (policy ? 8 : 4) * l1;

	field(d, "cycles", l1_cycles);
	emit(d, "[lfb]\n");
	field(d, "entries", between(d, 4, 24));
	l2 = draw_cache(d, "l2", least > 65536 ? least : 65536, 4194304, 24, 1, &policy);
	l2_cycles = l1_cycles + between(d, 2, 20);
	sharing = one_in(d, 4) && cores % 2 == 0 ? 2 : 1;
	field(d, "cores", sharing);
	field(d, "cycles", l2_cycles);
	field(d, "busy_cycles", between(d, 0, 4));
	emit(d, "[sq]\n");
	field(d, "entries", between(d, 8, 48));
	if (!one_in(d, 5)) {
		least = 12 * l2;
		if (least < l2 * cores)
			least = l2 * cores;
		draw_cache(d, "l3", least, least * 8, 24, slices, &policy);
		field(d, "slices", slices);
		field(d, "hash", between(d, 0, 1));
		field(d, "core_cycles", l2_cycles + between(d, 1, 20));
		field(d, "uncore_cycles", between(d, 0, 60));
		field(d, "busy_uncore_cycles", between(d, 0, 4));
		field(d, "inclusive", between(d, 0, 1) || !forwards);
	}
}

static void draw_tlbs(struct draw *d)
{
	uint64_t ways = 1ull << between(d, 1, 3), sets = 1ull << between(d, 2, 5), second;

	emit(d, "[dtlb]\n");
	field(d, "entries", ways * sets);
	field(d, "ways", ways);
	field(d, "large_entries", 1ull << between(d, 4, 6));
	field(d, "large_ways", 4);
	second = one_in(d, 6) ? 0 : between(d, 4, 12) * (1ull << between(d, 5, 7));
	emit(d, "[stlb]\n");
	if (second) {
		while (second & (second - 1))
			second &= second - 1;
		field(d, "entries", second);
		field(d, "ways", 1ull << between(d, 2, 3));
		field(d, "cycles", between(d, 1, 14));
		field(d, "large", between(d, 0, 1));
	} else {
		field(d, "entries", 0);
	}
	emit(d, "[walk]\n");
	field(d, "cycles", between(d, 0, 30));
	field(d, "walkers", between(d, 1, 3));
	field(d, "pde_entries", between(d, 8, 48));
}

static uint64_t draw_memory(struct draw *d, unsigned sockets, const struct identity *who)
{
	uint64_t local = between(d, 30000, 150000);

	emit(d, "[dram]\n");
	field(d, "local_ps", local);
	field(d, "remote_ps", local + between(d, 0, 100000));
	const uint64_t channels = between(d, 1, 8);
	field(d, "channels", channels);
	field(d, "channel_bytes_per_second", between(d, 2000000000, 30000000000));
	field(d, "open_page", between(d, 0, 1));
	field(d, "banks", 1ull << between(d, 2, 6));
	field(d, "page_bytes", 1024ull << between(d, 0, 4));
	field(d, "page_hit_ps", between(d, 0, 20000));
	field(d, "page_miss_ps", between(d, 0, 20000));
	if (sockets > 1) {
		emit(d, "[link]\n");
		field(d, "bytes_per_second", between(d, 5000000000, 40000000000));
		field(d, "clean_ps", between(d, 20000, 120000));
		field(d, "modified_ps", between(d, 40000, 200000));
		field(d, "modified_as_dram", who->pebs_format == 1); /* as Nehalem's events count such a read: source DRAM */
	}
	emit(d, "[prefetch]\n");
	field(d, "present", between(d, 0, 15));
	field(d, "streamer_lines", between(d, 2, 32));
	return channels;
}

/* Haswell's uncore boxes, if the channels divide evenly among one or two home agents. */
static void draw_uncore(struct draw *d, uint64_t channels)
{
	if (channels > 4 && channels % 2)
		return;
	emit(d, "[pmu]\nuncore = boxes\nuncore_events = haswell-uncore\n[uncore]\n");
	field(d, "sbos", 2 * between(d, 1, 2));
	field(d, "home_agents", channels > 4 ? 2 : 1);
	field(d, "qpi_links", between(d, 1, 3));
	field(d, "bus", between(d, 1, 63));
	field(d, "bus_step", between(d, 2, 64));
	field(d, "reverse", between(d, 0, 1));
	field(d, "narrow_width", between(d, 44, 48));
}

static void draw_pmu(struct draw *d, const struct identity *who)
{
	emit(d, "[pmu]\n");
	field(d, "version", who->version);
	field(d, "general", who->general);
	field(d, "fixed", 3);
	field(d, "width", between(d, 40, 48));
	field(d, "fixed_width", between(d, 40, 48));
	emit(d, "events = %s\n", who->events);
	field(d, "pebs_format", who->pebs_format);
	field(d, "full_width", who->pebs_format >= 2);
	field(d, "bus", !strcmp(who->events, "core2")); /* Core 2's events count bus transactions */
	field(d, "offcore_msrs", who->pebs_format < 2 ? who->pebs_format : 2); /* 0x1A6, then 0x1A7 too, as processors with these events have them */
	emit(d, "[control]\n");
	field(d, who->msr ? "prefetch_msr" : "prefetch_misc", 1);
	field(d, "smi_count", who->msr ? between(d, 0, 1) : 0);
	field(d, "aperf_mperf", between(d, 0, 1));
	field(d, "uncore_ratio_msr", who->pebs_format >= 2); /* as processors with these events have it */
}

/* --- variations of an existing machine ---------------------------------------------------------- */

struct changing { struct draw draw; char *text; };

static void change(struct changing *c, const char *section, const char *key, uint64_t value)
{
	char number[24], header[64];
	snprintf(header, sizeof(header), "\n[%s]\n", section);
	if (!strstr(c->text, header)) /* a single socket has no links, a single complex no other complexes */
		return;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)value);
	char *changed = loop_changed(c->text, section, key, number);
	free(c->text);
	c->text = changed;
}

static uint64_t changed(struct changing *c, const char *section, const char *key, uint64_t low, uint64_t high)
{
	const uint64_t value = between(&c->draw, low, high);
	change(c, section, key, value);
	return value;
}

/* A level's ways, and sets that are a power of two. */
static void change_ways(struct changing *c, const char *level, uint64_t sets_log2, uint64_t ways_least, uint64_t ways_most, uint64_t slices)
{
	const uint64_t ways = changed(c, level, "ways", ways_least, ways_most);
	change(c, level, "bytes", (ways << sets_log2) * 64 * slices);
}

static void change_memory(struct changing *c)
{
	const uint64_t local = changed(c, "dram", "local_ps", 50000, 150000), near = changed(c, "complex", "clean_ps", 40000, 120000),
		far = changed(c, "link", "clean_ps", 100000, 250000);

	if (strstr(c->text, "\nremote_ps"))
		changed(c, "dram", "remote_ps", local + 20000, local + 150000);
	changed(c, "complex", "modified_ps", near, near + 20000);
	change(c, "complex", "invalidate_ps", near);
	changed(c, "link", "modified_ps", far, far + 40000);
	change(c, "link", "invalidate_ps", far);
	changed(c, "complex", "bytes_per_second", 30000000000, 80000000000);
	changed(c, "dram", "channels", 1, 12);
	changed(c, "dram", "channel_bytes_per_second", 15000000000, 45000000000);
}

char *machine_varied(uint64_t seed, unsigned number, const char *text)
{
	struct changing changing = { { seed * 0x2545F4914F6CDD1Dull + number, NULL, 0 }, strdup(text) }, *c = &changing;
	const uint64_t ratio = changed(c, "clock", "core_ratio", 20, 50), rob = changed(c, "core", "rob", 160, 512), slices = 1ull << between(&c->draw, 1, 3),
		l1 = changed(c, "l1d", "cycles", 3, 6), l2 = changed(c, "l2", "cycles", l1 + 6, l1 + 16), entries = between(&c->draw, 24, 128);

	change(c, "clock", "uncore_ratio", ratio);
	change(c, "clock", "tsc_ratio", ratio);
	change(c, "control", "turbo_ratio", ratio + 4);
	changed(c, "core", "load_buffers", 40, rob < 128 ? rob : 128);
	changed(c, "core", "store_buffers", 32, 104);
	changed(c, "core", "mispredict_cycles", 10, 24);
	changed(c, "store", "forward_cycles", 4, 9);
	change_ways(c, "l1d", 6, 6, 12, 1);
	change_ways(c, "l2", 10, 8, 16, 1);
	changed(c, "lfb", "entries", 8, 32);
	changed(c, "sq", "entries", 32, 64);
	change(c, "l3", "slices", slices);
	change_ways(c, "l3", between(&c->draw, 11, 12), 12, 16, slices);
	changed(c, "l3", "core_cycles", l2 + 1, l2 + 8);
	changed(c, "l3", "uncore_cycles", 20, 50);
	change(c, "dtlb", "entries", entries);
	change(c, "dtlb", "ways", entries);
	changed(c, "stlb", "cycles", 4, 12);
	changed(c, "walk", "walkers", 1, 6);
	change_memory(c);
	return c->text;
}

void machine_random(uint64_t seed, unsigned number, char *text, size_t capacity)
{
	struct draw drawing = { seed * 0x2545F4914F6CDD1Dull + number, text, capacity }, *d = &drawing;
	static const uint64_t buses[] = { 300000000, 400000000, 600000000, 800000000 };
	static const unsigned isa[] = { 0x701, 0x701 | 1 << 1, 0x70F, 0x71F, 0 };
	const struct identity *who = &identities[between(d, 0, COUNT_OF(identities) - 1)];
	unsigned sockets = (unsigned)(one_in(d, 3) ? between(d, 2, 4) : 1), cores = (unsigned)between(d, 1, 6);
	uint64_t core_ratio = between(d, 6, 40);

	text[0] = 0;
	emit(d, "# machine %u of series %llu\n[cpuid]\n", number, (unsigned long long)seed);
	field(d, "family", who->family);
	field(d, "model", who->model);
	field(d, "isa", isa[between(d, 0, COUNT_OF(isa) - 1)]);
	emit(d, "[clock]\n");
	field(d, "bus_hz_times_3", buses[between(d, 0, COUNT_OF(buses) - 1)]);
	field(d, "core_ratio", core_ratio);
	field(d, "uncore_ratio", between(d, 4, core_ratio + 4));
	field(d, "tsc_ratio", one_in(d, 3) ? between(d, 6, 40) : core_ratio);
	emit(d, "[topology]\n");
	field(d, "sockets", sockets);
	field(d, "cores", cores);
	field(d, "threads", one_in(d, 3) ? 2 : 1);
	draw_core(d, who);
	draw_caches(d, cores, who->forwards);
	draw_tlbs(d);
	const uint64_t channels = draw_memory(d, sockets, who);
	draw_pmu(d, who);
	if (!who->forwards && who->pebs_format == 2)
		draw_uncore(d, channels);
}
