/* The closed loop: the suite finds on a simulated machine what its file says, and nothing when it should not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "pmu/guard.h"
#include "pmu/sim/sim.h"
#include "tests/expect/expect.h"
#include "tests/unit/memory_host.h"

static void *get_pages(void *self, size_t bytes)
{
	(void)self;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

static void put_pages(void *self, void *at, size_t bytes)
{
	(void)self;
	munmap(at, bytes);
}

static const struct sim_memory pages = { NULL, get_pages, put_pages };

/* A machine file's text with lines "section.key = value" moved or added. */
static char *changed(const char *text, const char *section, const char *key, const char *value)
{
	struct ini ini;
	size_t n = strlen(text);
	char *out = malloc(n + 256), *at = out;
	const char *from = text, *head;

	ini_init(&ini, text, n);
	while (ini_next(&ini) == ST_OK)
		if (ini.section_length == strlen(section) && !memcmp(ini.section, section, ini.section_length) &&
		    ini.key_length == strlen(key) && !memcmp(ini.key, key, ini.key_length)) {
			at += sprintf(at, "%.*s%s", (int)(ini.value - text), text, value);
			from = ini.value + ini.value_length;
			strcpy(at, from);
			return out;
		}
	char header[64];
	snprintf(header, sizeof(header), "[%s]\n", section);
	head = strstr(text, header);
	if (head) {
		head += strlen(header);
		sprintf(at, "%.*s%s = %s\n%s", (int)(head - text), text, key, value, head);
	} else {
		sprintf(at, "%s\n[%s]\n%s = %s\n", text, section, key, value);
	}
	return out;
}

static const char *built_in(const char *name)
{
	for (unsigned i = 0; i < machine_files_count; i++)
		if (!strcmp(machine_files[i].name, name)) {
			static char copy[65536];
			assert_true(machine_files[i].bytes < sizeof(copy));
			memcpy(copy, machine_files[i].text, machine_files[i].bytes);
			copy[machine_files[i].bytes] = 0;
			return copy;
		}
	fail_msg("no machine %s", name);
	return NULL;
}

static char *format_text(void)
{
	FILE *f = fopen("tables/machines/FORMAT.md", "r");
	char *text = calloc(1, 1 << 18);
	assert_non_null(f);
	assert_true(fread(text, 1, (1 << 18) - 1, f) > 1000);
	fclose(f);
	return text;
}

/* --- a run ------------------------------------------------------------------------------------- */

struct bench_run {
	struct machine machine;
	struct sim *sim;
	struct guard guard;
	struct guard_saved *saved;
	struct cpu cpu;
	struct memory_host host;
	struct suite_summary sum;
	uint64_t instructions;
	uint64_t cost[MEMORY_RESULTS_MAX]; /* instructions of each row */
	void (*row_done)(void *self, const struct row_result *r);
	uint64_t counted;
};

/* Notes what each row cost. */
static void row_done(void *self, const struct row_result *row)
{
	struct memory_host *h = self;
	struct bench_run *r = (struct bench_run *)((char *)h - offsetof(struct bench_run, host));
	struct sim_totals now;
	sim_totals(r->sim, &now);
	r->cost[h->result_count] = now.instructions - r->counted;
	r->counted = now.instructions;
	r->row_done(self, row);
}

static void open_machine(struct bench_run *r, const char *text)
{
	char problem[256] = "";
	memset(r, 0, sizeof(*r));
	if (machine_read("test.machine", text, strlen(text), &r->machine, problem, sizeof(problem)) != ST_OK)
		fail_msg("%s", problem);
	assert_int_equal(sim_open(&r->machine, &pages, &r->sim), ST_OK);
	assert_int_equal(cpu_identify(sim_access(r->sim), &r->cpu), ST_OK);
	r->saved = calloc(GUARD_SAVED_MAX, sizeof(*r->saved));
	guard_init(&r->guard, sim_access(r->sim), r->cpu.processor, r->saved, GUARD_SAVED_MAX);
	memory_host_init(&r->host);
	r->row_done = r->host.host.row_done;
	r->host.host.row_done = row_done;
}

static void run_suite(struct bench_run *r, const char *suite)
{
	struct suite_settings s = { .suite = suite };
	struct sim_totals before, after;
	sim_totals(r->sim, &before);
	assert_int_equal(suite_run(&r->guard.access, &r->cpu, &s, &r->host.host, &r->sum), ST_OK);
	sim_totals(r->sim, &after);
	r->instructions = after.instructions - before.instructions;
}

static void print_rows(const struct bench_run *r)
{
	char line[512];
	struct text t;
	text_init(&t, line, sizeof(line));
	suite_table_head(&t);
	fputs(line, stderr);
	for (unsigned i = 0; i < r->host.result_count; i++) {
		text_init(&t, line, sizeof(line));
		suite_table_line(&t, &r->host.results[i]);
		fputs(line, stderr);
	}
}

/* No row may cost more than it declares. */
static void keeps_to_budgets(const struct bench_run *r)
{
	for (unsigned i = 0; i < r->host.result_count; i++)
		if (r->cost[i] > r->host.results[i].row->budget)
			fail_msg("%s: %llu instructions, declared %u", r->host.results[i].name, (unsigned long long)r->cost[i],
			         r->host.results[i].row->budget);
}

static void close_machine(struct bench_run *r)
{
	assert_int_equal(guard_restore(&r->guard), ST_OK);
	assert_int_equal(r->guard.refused, 0);
	assert_int_equal(r->host.taken, 0);
	memory_host_free(&r->host);
	sim_close(r->sim);
	free(r->saved);
}

/* Rows against the formulas of tests/expect; returns how many had one and met it. */
static unsigned meets_expectations(const struct bench_run *r, const char *text)
{
	char *format = format_text();
	unsigned met = 0, missed = 0;
	for (unsigned i = 0; i < r->host.result_count; i++) {
		const struct row_result *row = &r->host.results[i];
		struct expectation e;
		enum status st = expect_row(text, format, row->name, &e);
		if (st == ST_MISSING)
			continue;
		if (st == ST_UNSUPPORTED ? row->status != ROW_UNSUPPORTED :
		    st != ST_OK || row->status != ROW_OK || row->value_milli < e.least_milli || row->value_milli > e.most_milli) {
			fprintf(stderr, "%s: %s, %lld, expected %lld to %lld (%s)\n", row->name, row_status_name(row->status),
			        (long long)row->value_milli, (long long)e.least_milli, (long long)e.most_milli, status_name(st));
			missed++;
		} else {
			met++;
		}
	}
	free(format);
	assert_int_equal(missed, 0);
	return met;
}

/* --- the tests --------------------------------------------------------------------------------- */

static void test_sim_quick_suite_finds_the_machine_again(void **state)
{
	(void)state;
	static struct bench_run r;
	const char *text = built_in("nehalem-ep");
	open_machine(&r, text);
	run_suite(&r, "quick");
	print_rows(&r);
	fprintf(stderr, "%llu instructions\n", (unsigned long long)r.instructions);
	assert_int_equal(r.sum.unexpected, 0);
	assert_int_equal(r.sum.by_status[ROW_OK], r.sum.rows);
	assert_true(meets_expectations(&r, text) == r.sum.rows);
	assert_true(r.instructions <= 8000000);
	keeps_to_budgets(&r);
	close_machine(&r);
}

/* One truth moved at a time: the rows that depend on it move, and no other. */
static void test_sim_one_truth_moves_only_its_rows(void **state)
{
	(void)state;
	static const struct { const char *section, *key, *value, *moves; } cases[] = {
		{ "l1d", "cycles", "5", "load.l1.latency load.*.penalty tlb.stlb_walk_4k.penalty" },
		{ "l2", "cycles", "14", "load.l2.latency load.l2.penalty" },
		{ "l3", "core_cycles", "20", "load.l3.* load.dram_local.*" },
		{ "dram", "local_ps", "71000", "load.dram_local.*" },
		{ "stlb", "cycles", "9", "tlb.*" },
		{ "walk", "cycles", "15", "tlb.stlb_walk_4k.penalty" },
	};
	static struct bench_run base, moved;
	const char *text = built_in("nehalem-ep");
	open_machine(&base, text);
	run_suite(&base, "load.*latency,load.*penalty,tlb.*");
	for (unsigned c = 0; c < COUNT_OF(cases); c++) {
		char *other = changed(text, cases[c].section, cases[c].key, cases[c].value);
		open_machine(&moved, other);
		run_suite(&moved, "load.l?.latency,load.dram_local.latency,load.*penalty,tlb.*");
		meets_expectations(&moved, other);
		for (unsigned i = 0; i < moved.host.result_count; i++) {
			const struct row_result *m = &moved.host.results[i], *b = memory_host_result(&base.host, m->name);
			bool may = false;
			char list[128], *save = NULL;
			strcpy(list, cases[c].moves);
			for (char *p = strtok_r(list, " ", &save); p; p = strtok_r(NULL, " ", &save))
				may = may || str_glob(p, m->name);
			/* A few loads of the wrapper itself, after the kernel, come from further away after the longer
			 * window: less than a tenth of a cycle a load. */
			if (!may && llabs(m->value_milli - b->value_milli) >= 100)
				fail_msg("%s.%s moved %s from %lld to %lld", cases[c].section, cases[c].key, m->name,
				         (long long)b->value_milli, (long long)m->value_milli);
		}
		close_machine(&moved);
		free(other);
	}
	close_machine(&base);
}

/* A suite that believes in a larger cache chases beyond the real one: counted, not believed. */
static void test_sim_wrong_footprint_is_unproven(void **state)
{
	(void)state;
	static struct bench_run r;
	open_machine(&r, built_in("nehalem-ep"));
	for (unsigned i = 0; i < r.cpu.cache_count; i++)
		if (r.cpu.caches[i].level == 2)
			r.cpu.caches[i].bytes *= 4;
	run_suite(&r, "load.l2.latency");
	assert_int_equal(r.host.results[0].status, ROW_UNPROVEN);
	assert_non_null(strstr(r.host.results[0].reason, "MEM_LOAD_RETIRED.L2_HIT"));
	assert_int_equal(r.sum.unexpected, 1);
	close_machine(&r);
}

/* Broken machines: each fault leaves no row `ok` that it touches, and what it does not touch is still found. */
static void test_sim_faults_leave_no_false_ok(void **state)
{
	(void)state;
	static const struct { const char *key, *value, *rows; } cases[] = {
		{ "counter_stuck", "1", "load.l1.latency,load.l3.latency,load.dram_local.latency,tlb.dtlb_4k.penalty,triad.l1.bandwidth" },
		{ "overcount_event", "715", "load.l2.latency,load.l2.penalty" }, /* 0x02CB, MEM_LOAD_RETIRED.L2_HIT */
		{ "prefetch_locked", "15", "load.l1.latency,load.l2.latency,load.l3.latency" },
	};
	static struct bench_run r;
	for (unsigned c = 0; c < COUNT_OF(cases); c++) {
		char *other = changed(built_in("nehalem-ep"), "fault", cases[c].key, cases[c].value), *more = NULL;
		if (!strcmp(cases[c].key, "overcount_event"))
			more = changed(other, "fault", "overcount_thousandths", "1500");
		open_machine(&r, more ? more : other);
		run_suite(&r, cases[c].rows);
		for (unsigned i = 0; i < r.host.result_count; i++)
			if (r.host.results[i].status == ROW_OK)
				fail_msg("%s: %s is ok", cases[c].key, r.host.results[i].name);
		assert_int_equal(r.sum.unexpected, r.sum.rows);
		close_machine(&r);
		free(more);
		free(other);
	}
}

/* A counter of SMIs that moves now and then: those windows are thrown away and counted, the rest gives the truth. */
static enum status rdmsr_with_smis(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	struct guard *g = self;
	static unsigned reads;
	if (msr != 0x34)
		return g->under->ops->rdmsr(g->under->self, core, msr, value);
	*value = ++reads / 9; /* two reads a window: some see it move */
	return ST_OK;
}

static void test_sim_windows_hit_by_smis_are_rejected_and_counted(void **state)
{
	(void)state;
	static struct bench_run r;
	const char *text = built_in("nehalem-ep");
	struct access_ops ops;
	open_machine(&r, text);
	ops = *r.guard.access.ops;
	ops.rdmsr = rdmsr_with_smis;
	r.guard.access.ops = &ops;
	run_suite(&r, "load.l3.latency,load.dram_local.latency");
	assert_int_equal(meets_expectations(&r, text), 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(r.host.results[i].rejected > 0);
		assert_int_equal(r.host.results[i].samples, 5);
	}
	close_machine(&r);
}

/* Without performance counters cycles come from windows of dependent adds: the values are right, unproven. */
static void test_sim_without_pmu_values_are_right_and_unproven(void **state)
{
	(void)state;
	static struct bench_run r;
	const char *text = built_in("nehalem-ep");
	open_machine(&r, text);
	r.cpu.pmu_version = r.cpu.general_counters = 0;
	run_suite(&r, "load.l?.latency,load.dram_local.latency,tlb.*");
	for (unsigned i = 0; i < r.host.result_count; i++) {
		struct row_result *row = &r.host.results[i];
		assert_int_equal(row->status, ROW_UNPROVEN);
		assert_string_equal(row->reason, "no performance counters");
		row->status = ROW_OK; /* the value alone is judged here */
	}
	assert_int_equal(meets_expectations(&r, text), r.sum.rows);
	close_machine(&r);
}

/* A machine without second-level TLB and L3: the rows say why, and that is expected. */
static void test_sim_missing_levels_are_expected_unsupported(void **state)
{
	(void)state;
	static struct bench_run r;
	open_machine(&r, built_in("nehalem-ep"));
	r.cpu.tlb.stlb_4k = 0;
	run_suite(&r, "tlb.*");
	assert_int_equal(r.sum.by_status[ROW_UNSUPPORTED], r.sum.rows);
	assert_int_equal(r.sum.unexpected, 0);
	close_machine(&r);
}

/* The chase through six times the L3 agrees with the small one made cold by CLFLUSH. */
static void test_sim_confirming_row_agrees(void **state)
{
	(void)state;
	static struct bench_run r;
	const char *text = built_in("nehalem-ep");
	open_machine(&r, text);
	run_suite(&r, "load.dram_local_big.latency");
	print_rows(&r);
	assert_int_equal(r.sum.by_status[ROW_OK], 1);
	assert_int_equal(meets_expectations(&r, text), 1);
	keeps_to_budgets(&r);
	close_machine(&r);
}

static void test_sim_two_runs_are_identical(void **state)
{
	(void)state;
	static struct bench_run a, b;
	open_machine(&a, built_in("nehalem-ep"));
	open_machine(&b, built_in("nehalem-ep"));
	run_suite(&a, "load.l?.latency,load.dram_local.latency,tlb.*");
	run_suite(&b, "load.l?.latency,load.dram_local.latency,tlb.*");
	static const char *const files[] = { "results.json", "journal.jsonl", "penalties.csv" };
	for (unsigned i = 0; i < COUNT_OF(files); i++)
		assert_string_equal(memory_host_file(&a.host, files[i]), memory_host_file(&b.host, files[i]));
	close_machine(&a);
	close_machine(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sim_quick_suite_finds_the_machine_again),
		cmocka_unit_test(test_sim_one_truth_moves_only_its_rows),
		cmocka_unit_test(test_sim_wrong_footprint_is_unproven),
		cmocka_unit_test(test_sim_faults_leave_no_false_ok),
		cmocka_unit_test(test_sim_windows_hit_by_smis_are_rejected_and_counted),
		cmocka_unit_test(test_sim_without_pmu_values_are_right_and_unproven),
		cmocka_unit_test(test_sim_missing_levels_are_expected_unsupported),
		cmocka_unit_test(test_sim_confirming_row_agrees),
		cmocka_unit_test(test_sim_two_runs_are_identical),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
