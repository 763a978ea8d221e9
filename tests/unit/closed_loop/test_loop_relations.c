/* Relations between a row's values under different conditions. They hold whatever the machine's true values are, so that no formula is needed.
 *
 * Alone and after other rows, with another seed, with more rounds: the same. On a machine with one part slower: not faster. With twice the channels,
 * without open pages: not slower, nor more than twice as fast. The traffic of memory is what the kernel reads and writes back.
 * LOOP_FILES="A B" and LOOP_ROWS=A,B.* check machine files and rows of your own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/text.h"
#include "tests/unit/support/closed_loop.h"

#define SAME_PERMILLE 12      /* between two values of one row, each a mean of means with an error of at most 1/300 */
#define OPEN_PERMILLE 30      /* with open pages values depend on the arrays' addresses */
#define LATENCY_PERMILLE 10
#define SAME_MILLI 500        /* or this much: half a cycle */
#define TRAFFIC_PERMILLE 15
#define ROWS_MOST 64

enum relation { SAME, NOT_FASTER, NOT_SLOWER_NOR_TWICE };
/* before: rows that run first; seed, repetitions: 0: the row's own; tenths: the factor by which the field changes, times 10. */
static const struct variant { const char *label, *before; uint64_t seed; unsigned repetitions; const char *section, *key; unsigned tenths; enum relation relation; } variants[] = {
	{ "behind streams that write", "write.dram.*,write.l3.*,copy.dram.*", 0, 0, NULL, NULL, 0, SAME },
	{ "behind streams that read", "load.l?.latency,read.dram.*,load.dram_local.*", 0, 0, NULL, NULL, 0, SAME },
	{ "behind all cores", "write.l3_all.*,read.dram_all.*,load.dram_loaded.*,core_to_core.*_same_socket.*", 0, 0, NULL, NULL, 0, SAME },
	{ "with another seed", NULL, 77, 0, NULL, NULL, 0, SAME },
	{ "with as many rounds as go", NULL, 0, 8, NULL, NULL, 0, SAME },
	{ "where memory takes longer", NULL, 0, 0, "dram", "local_ps", 13, NOT_FASTER },
	{ "where channels are slower", NULL, 0, 0, "dram", "channel_bytes_per_second", 6, NOT_FASTER },
	{ "where slices are slower", NULL, 0, 0, "l3", "busy_uncore_cycles", 20, NOT_FASTER },
	{ "where the L2 is slower", NULL, 0, 0, "l2", "cycles", 12, NOT_FASTER },
	{ "with fewer fill buffers", NULL, 0, 0, "lfb", "entries", 6, NOT_FASTER },
	{ "with twice the channels", NULL, 0, 0, "dram", "channels", 20, NOT_SLOWER_NOR_TWICE },
};

struct value { bool there, bandwidth; int64_t milli; };

/* A field's value in a file; false: the file does not give it. */
static bool given(const char *text, const char *section, const char *key, uint64_t *value)
{
	struct ini ini;

	ini_init(&ini, text, strlen(text));
	while (ini_next(&ini) == ST_OK)
		if (ini.section_length == strlen(section) && !memcmp(ini.section, section, ini.section_length) && ini.key_length == strlen(key) &&
		    !memcmp(ini.key, key, ini.key_length))
			return parse_u64(ini.value, ini.value_length, value) == ST_OK;
	return false;
}

/* How many arrays the kernel reads from memory, and writes back. */
static void arrays_of(const char *row, int64_t *reads, int64_t *writes, int64_t *all)
{
	const bool read = !strncmp(row, "read.", 5), write = !strncmp(row, "write.", 6), copy = !strncmp(row, "copy.", 5), past = strstr(row, "_nt");

	*all = read || write ? 1 : copy ? 2 : 3;
	*writes = !read;
	*reads = *all - (past && !read ? 1 : 0);
}

/* Whether the channels of all sockets carried what the row's kernel reads and writes back. */
static bool traffic_fits(const struct row_result *row, uint64_t channels)
{
	int64_t reads, writes, all, read = 0, written = 0;

	if (channels > row->traffic.at[0].channels || !row->traffic.sockets || row->traffic.sockets == TRAFFIC_SOCKETS || !strstr(row->name, ".dram"))
		return true;
	arrays_of(row->name, &reads, &writes, &all);
	for (unsigned s = 0; s < row->traffic.sockets; s++)
		for (unsigned c = 0; c < TRAFFIC_CHANNELS; c++) {
			read += row->traffic.at[s].bytes[TRAFFIC_READ + c];
			written += row->traffic.at[s].bytes[TRAFFIC_WRITE + c];
		}
	const int64_t value = row->value_milli / 1000, off_read = llabs(read - value * reads / all), off_written = llabs(written - value * writes / all);

	if (off_read <= value / 1000 * TRAFFIC_PERMILLE && off_written <= value / 1000 * TRAFFIC_PERMILLE)
		return true;
	fprintf(stderr, "%s: %lld bytes a second, but memory carried %lld read and %lld written\n", row->name, (long long)value, (long long)read, (long long)written);
	return false;
}

/* Runs a row on a machine, alone or after the variant's rows. */
static struct value run(const char *text, const char *row, const struct variant *v, unsigned *wrong)
{
	static struct loop_run r;
	struct suite_settings s = { .suite = row, .seed = v ? v->seed : 0, .repetitions = v ? v->repetitions : 0 };
	struct value out = { 0 };
	uint64_t channels = UINT64_MAX;

	(void)given(text, "dram", "channels", &channels);
	loop_open(&r, text);
	if (v && v->before)
		loop_suite(&r, v->before);
	assert_int_equal(suite_run(&r.guard.access, &r.cpu, &s, &r.host.host, &r.sum), ST_OK);
	if (r.host.result_count) {
		const struct row_result *last = &r.host.results[r.host.result_count - 1];

		out = (struct value){ row_has_value(last) && last->status != ROW_NOISY, last->unit == UNIT_BYTES_PER_SECOND, last->value_milli };
		*wrong += out.there && !traffic_fits(last, channels);
	}
	loop_close(&r);
	return out;
}

static bool holds(const struct value *base, const struct value *other, enum relation relation, bool open_page)
{
	const int64_t part = base->milli / 1000 * (open_page ? OPEN_PERMILLE : base->bandwidth ? SAME_PERMILLE : LATENCY_PERMILLE), allowed = base->bandwidth || part > SAME_MILLI ? part : SAME_MILLI;
	const int64_t more = other->milli - base->milli;

	if (relation == SAME)
		return llabs(more) <= allowed;
	if (relation == NOT_FASTER)
		return (base->bandwidth ? more : -more) <= allowed;
	return (base->bandwidth ? -more : more) <= allowed && (!base->bandwidth || other->milli <= 2 * (base->milli + allowed));
}

/* Returns how many relations do not hold for a row on a machine. */
static unsigned row_holds(const char *name, const char *text, const char *row)
{
	unsigned wrong = 0;
	const struct value base = run(text, row, NULL, &wrong);
	uint64_t open_page = 0;

	(void)given(text, "dram", "open_page", &open_page);

	if (!base.there) {
		fprintf(stderr, "%s, %s: no value\n", name, row);
		return 0;
	}
	for (unsigned i = 0; i < COUNT_OF(variants); i++) {
		const struct variant *v = &variants[i];
		char number[24], *moved = NULL;
		uint64_t was = 0;

		if (v->key && (!given(text, v->section, v->key, &was) || !was || (v->relation == NOT_SLOWER_NOR_TWICE && (was > 2 || open_page))))
			continue;
		if (v->key) {
			snprintf(number, sizeof(number), "%llu", (unsigned long long)((was * v->tenths + 9) / 10));
			moved = loop_changed(text, v->section, v->key, number);
		}
		const struct value other = run(moved ? moved : text, row, v, &wrong);

		if (other.there && !holds(&base, &other, v->relation, open_page)) {
			fprintf(stderr, "%s, %s: %lld alone, %lld %s\n", name, row, (long long)base.milli, (long long)other.milli, v->label);
			wrong++;
		}
		free(moved);
	}
	return wrong;
}

/* Checks each row of a comma-separated list on each machine of a blank-separated list of files or names of built-in machines. */
static void hold(const char *machines, const char *which)
{
	unsigned wrong = 0;

	for (size_t n; machines += strspn(machines, " "), n = strcspn(machines, " "), n; machines += n) {
		char name[256], list[1024], *save = NULL;

		snprintf(name, sizeof(name), "%.*s", (int)n, machines);
		char *text = strchr(name, '.') ? loop_file(name) : strdup(loop_built_in(name));

		snprintf(list, sizeof(list), "%s", which);
		for (char *row = strtok_r(list, ",", &save); row; row = strtok_r(NULL, ",", &save))
			wrong += row_holds(name, text, row);
		free(text);
	}
	assert_int_equal(wrong, 0);
}

static void test_relations_hold_for_all_cores_in_memory(void **state)
{
	(void)state;
	hold("tests/machines/caches/tree.machine", "copy.dram_all.bandwidth");
	hold("tests/machines/caches/slice.machine", "write.dram_all.bandwidth");
}

static void test_relations_hold_for_one_core(void **state)
{
	(void)state;
	hold("tests/machines/caches/look.machine", "triad.dram.bandwidth,read.l3.bandwidth");
	hold("tests/machines/cores/narrow.machine", "load.l2.latency,load.dram_overlap.interval,tlb.stlb_walk_4k.penalty,branch.conditional.penalty");
}

static void test_relations_hold_for_files_and_rows_of_your_own(void **state)
{
	(void)state;
	hold(getenv("LOOP_FILES"), getenv("LOOP_ROWS") ? getenv("LOOP_ROWS") : "read.dram_all.bandwidth");
}

int main(void)
{
	const struct CMUnitTest given_ones[] = { cmocka_unit_test(test_relations_hold_for_files_and_rows_of_your_own) };
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_relations_hold_for_all_cores_in_memory), cmocka_unit_test(test_relations_hold_for_one_core) };

	return getenv("LOOP_FILES") ? cmocka_run_group_tests(given_ones, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
