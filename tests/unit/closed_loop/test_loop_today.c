/* The closed loop on random variations of machines that are sold today: the values that vary are found again, and no row is unexpected.
 *
 * LOOP_MACHINES=N runs that many variations of each, LOOP_FIRST=N from number N on, LOOP_SEED=N another series, MACHINES="A B" only these machines,
 * LOOP_ROWS=A,B.* other rows: tests/shell/simulator/variations_long.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/loop_meets.h"

/* Here alder-lake stands for its large cores, alder-lake-n for its small ones. */
#define MACHINES_PRESET "sandy-bridge-ep broadwell-ep skylake ice-lake-sp sapphire-rapids alder-lake alder-lake-n sierra-forest zen2 zen3 zen4 zen5"
#define SEED_PRESET 20261127
#define ROWS_PRESET "load.l?.latency,load.dram_local.latency,tlb.dtlb_4k.penalty,exec.div*,exec.m*,size.?tlb_4k.entries"
/* Least number of rows that meet a formula, on each machine: rows without one prove nothing. */
#define ROWS_LEAST 3

/* --- a variation ------------------------------------------------------------------------------- */

/* Values vary independently where machine.def allows it, otherwise in the range that the others leave. */
struct vary { uint64_t state; char *text; const char *format; };

static uint64_t next(struct vary *v)
{
	/* splitmix64 (Steele, Lea, Flood 2014) */
	uint64_t z = v->state += 0x9E3779B97F4A7C15ull;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return z ^ z >> 31;
}

static uint64_t between(struct vary *v, uint64_t least, uint64_t most)
{
	return least + next(v) % (most - least + 1);
}

static uint64_t field(const struct vary *v, const char *section, const char *key)
{
	struct machine_text t = { v->text, v->format, false };

	return machine_told(&t, section, key);
}

static void put(struct vary *v, const char *section, const char *key, const char *value)
{
	char *was = v->text;

	v->text = loop_changed(was, section, key, value);
	free(was);
}

static void set(struct vary *v, const char *section, const char *key, uint64_t value)
{
	char number[24];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)value);
	put(v, section, key, number);
}

/* Fields that no other field limits, in percent of the machine's own values. */
static const struct { const char *section, *key; unsigned least, most; } figures[] = {
	{ "core", "rob", 75, 130 }, { "core", "load_buffers", 75, 130 }, { "core", "store_buffers", 75, 130 }, { "core", "mispredict_cycles", 70, 140 },
	{ "lfb", "entries", 60, 160 }, { "sq", "entries", 75, 150 }, { "l3", "uncore_cycles", 80, 150 }, { "walk", "cycles", 50, 250 },
	{ "walk", "pde_entries", 50, 150 }, { "dram", "local_ps", 70, 140 }, { "dram", "channel_bytes_per_second", 60, 130 },
	{ "dram", "page_hit_ps", 50, 140 }, { "dram", "page_miss_ps", 50, 140 }, { "link", "bytes_per_second", 70, 140 }, { "prefetch", "streamer_lines", 30, 140 },
};

static void vary_core(struct vary *v)
{
	const uint64_t rs = field(v, "core", "rs"), ratio = field(v, "clock", "core_ratio"), core = between(v, ratio * 7 / 10, ratio);

	set(v, "core", "rs", between(v, rs * 3 / 4, rs));
	set(v, "clock", "core_ratio", core);
	set(v, "clock", "uncore_ratio", between(v, core * 7 / 10, core));
	set(v, "clock", "tsc_ratio", between(v, 0, 1) ? core : ratio);
	set(v, "store", "forward_cycles", between(v, 3, 7));
	set(v, "l1d", "cycles", between(v, 3, 6));
	set(v, "l2", "cycles", field(v, "l1d", "cycles") + between(v, 7, 16));
	set(v, "l3", "core_cycles", field(v, "l2", "cycles") + between(v, 0, 12));
}

/* Another number of ways, with as many sets. Not more ways if the DTLB keeps large pages in pieces: it could not hold two for each way of the L2 (docs/limits.md). */
static void vary_ways(struct vary *v, const char *cache)
{
	const uint64_t ways = field(v, cache, "ways"), bytes = field(v, cache, "bytes");
	const uint64_t other = between(v, ways * 3 / 4, field(v, "dtlb", "large_entries") ? ways * 5 / 4 : ways);

	set(v, cache, "ways", other);
	set(v, cache, "bytes", bytes / ways * other);
}

#define SLICES_MOST 60 /* FORMAT.md, with a discovery table */

/* Memory nodes a socket, where the machine has several: a power of two up to as many. Each has a part of the L3, of at least so many slices. */
static uint64_t vary_nodes(struct vary *v, uint64_t slices)
{
	uint64_t nodes = field(v, "topology", "nodes");

	if (nodes < 2)
		return 1;
	nodes >>= between(v, 0, nodes == 4 ? 2 : 1);
	while (nodes * slices > SLICES_MOST)
		nodes /= 2;
	set(v, "topology", "nodes", nodes);
	set(v, "l3", "far_uncore_cycles", between(v, 5, 50));
	set(v, "l3", "far_row_uncore_cycles", between(v, 5, 50));
	return field(v, "topology", "nodes");
}

static void vary_caches(struct vary *v)
{
	const uint64_t slices = field(v, "l3", "slices"), a_slice = field(v, "l3", "bytes") / slices, cluster = field(v, "l2", "cores");

	if (field(v, "topology", "small_cores")) {
		put(v, "topology", "small", "none");
		set(v, "topology", "small_cores", 0);
	}
	vary_ways(v, "l1d");
	vary_ways(v, "l2");
	/* a row of the L3 visits six times the L2's bytes, half of such an L3; an inclusive one holds all L2s */
	const uint64_t least = (12 * field(v, "l2", "bytes") + a_slice - 1) / a_slice, nodes = vary_nodes(v, least);
	const uint64_t most = nodes > 1 && least + 4 > SLICES_MOST / nodes ? SLICES_MOST / nodes : least + 4, slices_now = nodes * between(v, least, most);

	const uint64_t least_cores = nodes * cluster * field(v, "topology", "complexes");
	set(v, "topology", "cores", least_cores * between(v, 1, least_cores < 8 ? 8 / least_cores : 1));
	set(v, "l3", "slices", slices_now);
	set(v, "l3", "bytes", a_slice * slices_now);
}

/* Another number of ways, with as many sets. A DTLB that keeps large pages in pieces has no fewer ways than the processor's (docs/limits.md). */
static void vary_tlb(struct vary *v, const char *tlb)
{
	const uint64_t ways = field(v, tlb, "ways"), entries = field(v, tlb, "entries"), least = field(v, "dtlb", "large_entries") ? ways * 2 / 3 : ways;
	const uint64_t other = between(v, least, ways * 4 / 3);

	set(v, tlb, "ways", other);
	set(v, tlb, "entries", entries / ways * other);
}

static void vary_memory(struct vary *v)
{
	const uint64_t agents = field(v, "uncore", "home_agents"), channels = field(v, "dram", "channels") / agents, local = field(v, "dram", "local_ps");

	set(v, "dram", "channels", agents * between(v, 1, channels));
	set(v, "dram", "remote_ps", local + between(v, 10000, 90000));
	set(v, "dram", "open_page", between(v, 0, 1));
	set(v, "dram", "banks", 16ull << between(v, 0, 2));
	set(v, "stlb", "cycles", between(v, 4, 12));
	if (field(v, "topology", "sockets") > 1)
		set(v, "topology", "sockets", between(v, 1, 2));
}

/* Variation `number` of the series `seed` of a machine file; the same three always give the same text, to be freed. Processor, counters and uncore
 * are kept; clocks, sizes, latencies, buffers and memory vary. A socket has at most eight cores, and no larger L3 than its rows need: these two determine
 * a run's time. */
static char *machine_vary(const char *text, const char *format, uint64_t seed, unsigned number)
{
	struct vary varied = { seed * 0x2545F4914F6CDD1Dull + number, strdup(text), format }, *v = &varied;

	for (unsigned i = 0; i < COUNT_OF(figures); i++) {
		const uint64_t was = field(v, figures[i].section, figures[i].key), now = between(v, was * figures[i].least / 100, was * figures[i].most / 100);

		set(v, figures[i].section, figures[i].key, now ? now : 1);
	}
	vary_core(v);
	vary_caches(v);
	if (field(v, "control", "highest_leaf") >= 0x18) { /* which reports them; without it the processor's descriptor does */
		vary_tlb(v, "dtlb");
		vary_tlb(v, "stlb");
	}
	vary_memory(v);
	return v->text;
}

/* --- its run ----------------------------------------------------------------------------------- */

static uint64_t setting(const char *name, uint64_t preset)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : preset;
}

static const char *words(const char *name, const char *preset)
{
	const char *text = getenv(name);

	return text && *text ? text : preset;
}

/* Saves a variation with a miss as a file, so that it can be run again. */
static void keep(const char *text, const char *name, unsigned number)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/log/%s-%u.machine", words("OUT", "out"), name, number);
	f = fopen(path, "w");
	if (!f)
		return;
	fputs(text, f);
	fclose(f);
	print_message("kept as %s\n", path);
}

/* Rows that are ok although samples of the same loads (PEBS or IBS) took another time. */
static unsigned contradicted(const struct loop_run *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->host.result_count; i++)
		n += r->host.results[i].status == ROW_OK && r->host.results[i].sample.verdict == SAMPLE_DIFFERS;
	return n;
}

/* Whether all rows of a variation are as expected and meet their formulas, and samples agree. */
static bool found_again(const char *text, const char *name, unsigned number)
{
	static struct loop_run r;
	unsigned missed, met;

	loop_open(&r, text);
	loop_suite(&r, words("LOOP_ROWS", ROWS_PRESET));
	met = loop_meets(&r, text, &missed);
	const unsigned unexpected = r.sum.unexpected, differ = contradicted(&r);
	print_message("%s, variation %u: %u ok, %u unsupported, %u unproven, %u noisy, %u unexpected; %u meet their formula, %u miss, samples of %u differ\n", name, number,
	              r.sum.by_status[ROW_OK], r.sum.by_status[ROW_UNSUPPORTED], r.sum.by_status[ROW_UNPROVEN], r.sum.by_status[ROW_NOISY], unexpected, met, missed, differ);
	if (missed || unexpected || differ) {
		loop_print(&r);
		keep(text, name, number);
	}
	loop_close(&r);
	return !missed && !unexpected && !differ && met >= ROWS_LEAST;
}

static void test_loop_variations_are_found_again(void **state)
{
	const uint64_t seed = setting("LOOP_SEED", SEED_PRESET);
	const unsigned count = (unsigned)setting("LOOP_MACHINES", 1), first = (unsigned)setting("LOOP_FIRST", 0);
	const char *at = words("MACHINES", MACHINES_PRESET);
	char *format = loop_format();
	unsigned bad = 0, run = 0;

	(void)state;
	for (size_t n; at += strspn(at, " "), n = strcspn(at, " "), n; at += n) {
		char name[32];

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		for (unsigned i = first; i < first + count; i++, run++) {
			char *text = machine_vary(loop_built_in(name), format, seed, i);

			bad += !found_again(text, name, i);
			free(text);
		}
	}
	free(format);
	print_message("LOOP_SEED=%llu: %u variations, %u with a row that is not found again\n", (unsigned long long)seed, run, bad);
	assert_true(run > 0);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_loop_variations_are_found_again) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
