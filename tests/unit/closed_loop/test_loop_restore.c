/* Whatever happens in a run, every register of the machine has its original value afterwards, except those on the reviewed
 * list tables/not_restored.csv. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/counting/session.h"
#include "tests/unit/support/closed_loop.h"

#define MSRS     0x1900u   /* arguments of number_of */
#define CORES    8u
/* Rows that use prefetchers, counters, PEBS, the uncore, and helpers on other cores of both sockets. */
struct subject { const char *machine, *row, *rows, *profile; };
static struct subject nehalem = { "nehalem-ep", "load.l3.latency", "load.l1.latency,load.l3.latency,load.l3_modified_other_core.latency,"
	"load.remote_l3_clean.latency,core_to_core.modified_same_socket.latency,triad.l2.bandwidth", "client-analysis" };
static struct subject core2 = { "core2", "load.l1.latency,load.l2.latency,load.dram_local.latency", "load.l1.latency,load.l2.latency,load.dram_local.latency,"
	"core_to_core.clean_same_socket.latency,core_to_core.modified_same_socket.latency,triad.l2.bandwidth", "second-level" };
/* Firmware has switched HWP on in this machine. */
static struct subject gracemont = { "alder-lake-n", "load.l1.latency,load.l2.latency", "load.l1.latency,branch.return.penalty,core_to_core.clean_same_socket.latency,"
	"core_to_core.modified_same_socket.latency,exec.addsd.latency,exec.mulsd.latency", "cycles-and-uops" };
#define HWP_REQUEST 0x774u
#define NEVER    0xFFFFFFFFu

/* The addresses at which a simulated machine may have MSRs. */
static uint32_t number_of(unsigned i)
{
	return i < 0x1000 ? i : i < 0x1400 ? 0xC0000000 + i - 0x1000 : 0xC0010000 + (i < 0x1800 ? i - 0x1400 : 0x1000 + i - 0x1800);
}

struct register_file { bool there[CORES][MSRS]; uint64_t value[CORES][MSRS]; };
static struct register_file before, after;
static struct { unsigned first, last; } excused[64];
static unsigned excused_count;

static struct loop_run r;

/* A backend between the guard and the machine, which fails on purpose. */
static struct trouble {
	struct access access;
	const struct access *under;
	struct access_ops ops;
	unsigned writes, runs;
	unsigned fault_at;      /* the write that faults, from 1 */
	unsigned timeout_at;    /* the run that does not end in time */
	unsigned lost_at;       /* the run from which on core 1 does not answer */
} t;

static bool lost(unsigned core) { return core == 1 && t.lost_at && t.runs >= t.lost_at; }

static enum status trouble_wrmsr(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	(void)self;
	if (lost(core))
		return ST_TIMEOUT;
	if (++t.writes == t.fault_at)
		return ST_FAULT;
	return t.under->ops->wrmsr(t.under->self, core, msr, value);
}

static enum status trouble_rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	(void)self;
	return lost(core) ? ST_TIMEOUT : t.under->ops->rdmsr(t.under->self, core, msr, value);
}

static enum status trouble_run(void *self, struct job *jobs, unsigned n, uint64_t limit)
{
	(void)self;
	t.runs++;
	for (unsigned i = 0; i < n; i++)
		if (t.runs == t.timeout_at || lost(jobs[i].core))
			return jobs[i].status = ST_TIMEOUT;
	return t.under->ops->run(t.under->self, jobs, n, limit);
}

static void read_excused(void)
{
	char line[512];
	FILE *f = fopen("tables/not_restored.csv", "r");
	assert_non_null(f);
	excused_count = 0;
	while (fgets(line, sizeof(line), f) && excused_count < COUNT_OF(excused))
		if (sscanf(line, "%x,%x,", &excused[excused_count].first, &excused[excused_count].last) == 2 && !strstr(line, "netburst"))
			excused_count++;
	fclose(f);
	assert_true(excused_count >= 12);
}

static bool is_excused(unsigned msr)
{
	for (unsigned i = 0; i < excused_count; i++)
		if (msr >= excused[i].first && msr <= excused[i].last)
			return true;
	return false;
}

static void take(struct register_file *f)
{
	const struct access *a = sim_access(r.sim);
	memset(f, 0, sizeof(*f));
	assert_true(a->cores <= CORES);
	for (unsigned core = 0; core < a->cores; core++)
		for (unsigned i = 0; i < MSRS; i++)
			f->there[core][i] = a->ops->rdmsr(a->self, core, number_of(i), &f->value[core][i]) == ST_OK;
}

/* Writes values other than those of a reset, so that restoring zeros would show. A write that the machine refuses changes nothing. */
static void unusual(const struct access *a)
{
	static const struct { uint32_t msr; uint64_t value; } values[] = {
		{ 0x186, 0x1000C0 }, { 0x187, 0x10003C }, { 0x188, 0x1001C2 }, { 0x189, 0x1004C4 }, { 0x1A4, 0x2 }, { 0x1A6, 0x1111 },
		{ 0x1C8, 0x5 }, { 0x1D9, 0x4000 }, { 0x301, 0x3 }, { 0x38D, 0x0 }, { 0x38F, 0x5 }, { 0x391, 0x3 }, { 0x396, 0x8 },
		{ 0x3C0, 0x101 }, { 0x3C7, 0x203 }, { 0x3F6, 0x40 }, { 0x600, 0x200000 }, { HWP_REQUEST, 0x40040001E05 },
	};
	for (unsigned core = 0; core < a->cores; core++)
		for (unsigned i = 0; i < COUNT_OF(values); i++)
			(void)(a->ops->wrmsr(a->self, core, values[i].msr, values[i].value) == ST_OK);
}

static void begin(const char *text)
{
	loop_open(&r, text);
	unusual(sim_access(r.sim));
	t = (struct trouble){ .access = *sim_access(r.sim), .under = sim_access(r.sim), .ops = *sim_access(r.sim)->ops };
	t.ops.wrmsr = trouble_wrmsr;
	t.ops.rdmsr = trouble_rdmsr;
	t.ops.run = trouble_run;
	t.access.ops = &t.ops;
	msr_guard_init(&r.guard, &t.access, r.cpu.processor, r.saved, MSR_GUARD_SAVED_MAX);
	take(&before);
}

/* Restores and compares; `gone`: a core that can no longer be reached (NEVER: none). Returns the number of registers compared. */
static unsigned end(const char *what, unsigned gone)
{
	unsigned compared = 0, changed = 0;
	enum status st = msr_guard_restore(&r.guard);
	if (gone == NEVER)
		assert_int_equal(st, ST_OK);
	take(&after);
	for (unsigned core = 0; core < sim_access(r.sim)->cores; core++)
		for (unsigned i = 0; i < MSRS && core != gone; i++) {
			if (is_excused(number_of(i)) || !before.there[core][i])
				continue;
			compared++;
			if (after.there[core][i] && after.value[core][i] == before.value[core][i])
				continue;
			fprintf(stderr, "%s: core %u 0x%X: 0x%llx before, 0x%llx after\n", what, core, number_of(i),
			        (unsigned long long)before.value[core][i], (unsigned long long)after.value[core][i]);
			changed++;
		}
	assert_int_equal(changed, 0);
	assert_int_equal(r.guard.refused, 0);
	assert_true(compared > 40 * (CORES - 1));
	memory_host_free(&r.host);
	sim_close(r.sim);
	free(r.saved);
	return compared;
}

static int prepare(void **state)
{
	(void)state;
	read_excused();
	return 0;
}

/* With HWP on, the run has requested a single level on each thread. */
static void level_was_asked_for(void)
{
	const struct access *a = sim_access(r.sim);
	uint64_t value, levels;
	if (!before.there[0][HWP_REQUEST])
		return;
	for (unsigned core = 0; core < a->cores; core++) {
		assert_int_equal(a->ops->rdmsr(a->self, core, HWP_REQUEST, &value), ST_OK);
		assert_int_equal(a->ops->rdmsr(a->self, core, 0x771, &levels), ST_OK);
		assert_int_equal(value, 0x40000000 | (levels >> 8 & 0xFF) * 0x010101);
		assert_int_equal(before.value[core][HWP_REQUEST], 0x40040001E05);
	}
}

static void test_restore_after_a_run(void **state)
{
	const struct subject *on = *state;
	begin(loop_built_in(on->machine));
	loop_suite(&r, on->rows);
	assert_int_equal(r.sum.by_status[ROW_OK], 6);
	level_was_asked_for();
	unsigned written = r.guard.count;
	assert_true(written > 30);
	fprintf(stderr, "%u registers looked at, %u had been written\n", end("a run", NEVER), written);
}

static void test_restore_after_the_full_suite(void **state)
{
	(void)state;
	begin(loop_built_in("nehalem-ep"));
	loop_suite(&r, "full");
	assert_int_equal(r.sum.unexpected, 0);
	fprintf(stderr, "%llu simulated instructions\n", (unsigned long long)r.sum.instructions);
	assert_true(r.sum.instructions == r.instructions && r.instructions > 1000000);
	assert_true(r.instructions <= 120000000); /* few enough for an emulated guest */
	end("the full suite", NEVER);
}

static void test_restore_after_a_profile(void **state)
{
	const struct subject *on = *state;
	const struct suite_settings s = { .suite = on->row, .profile = on->profile };
	begin(loop_built_in(on->machine));
	assert_int_equal(suite_run(&r.guard.access, &r.cpu, &s, &r.host.host, &r.sum), ST_OK);
	end("a profile", NEVER);
}

/* Shares of slots: PERF_METRICS, fixed counter 3 and bit 48 of IA32_PERF_GLOBAL_CTRL are written for each window. */
static void test_restore_after_shares_of_slots(void **state)
{
	static const char *const machines[] = { "ice-lake-sp", "sapphire-rapids" };
	const struct session_settings s = { .metrics = "topdown", .workload = "account.mixed", .cores = "0-1", .format = STAT_CSV };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(machines); i++) {
		char *one = loop_changed(loop_built_in(machines[i]), "topology", "sockets", "1"), *few = loop_changed(one, "topology", "cores", "8"), problem[256] = "";
		struct session_summary sum;
		begin(few);
		assert_int_equal(session_run(&r.guard.access, &r.cpu, &s, &r.host.host, &sum, problem, sizeof(problem)), ST_OK);
		assert_int_equal(sum.uncounted, 0);
		end("shares of slots", NEVER);
		/* the register does not answer: the reason names it, and what was written before is restored */
		char *gone = loop_changed(few, "fault", "msr_missing", "0x329");
		begin(gone);
		assert_int_not_equal(session_run(&r.guard.access, &r.cpu, &s, &r.host.host, &sum, problem, sizeof(problem)), ST_OK);
		assert_non_null(strstr(problem, "0x329"));
		end("without PERF_METRICS", NEVER);
		free(one);
		free(few);
		free(gone);
	}
}

static void test_restore_after_esc(void **state)
{
	const struct subject *on = *state;
	begin(loop_built_in(on->machine));
	r.host.stop_after = 2;
	loop_suite(&r, on->rows);
	assert_true(r.sum.stopped);
	assert_int_equal(r.sum.rows, 2);
	end("Esc", NEVER);
}

/* A fault in a write: every seventh of the row's writes in turn. */
static void test_restore_after_a_fault_in_a_write(void **state)
{
	const struct subject *on = *state;
	char what[64];
	begin(loop_built_in(on->machine));
	loop_suite(&r, on->row);
	unsigned writes = t.writes, tried = 0;
	end("no fault", NEVER);
	assert_true(writes > (on == &nehalem ? 100 : 40));
	for (unsigned n = 1; n <= writes; n += 7, tried++) {
		begin(loop_built_in(on->machine));
		t.fault_at = n;
		loop_suite(&r, on->row);
		snprintf(what, sizeof(what), "a fault in write %u of %u", n, writes);
		end(what, NEVER);
	}
	fprintf(stderr, "%u faults in turn among %u writes\n", tried, writes);
}

static void test_restore_after_a_time_out(void **state)
{
	const struct subject *on = *state;
	char what[64];
	begin(loop_built_in(on->machine));
	loop_suite(&r, on->row);
	unsigned runs = t.runs;
	end("no time-out", NEVER);
	for (unsigned n = 1; n <= runs; n += 5) {
		begin(loop_built_in(on->machine));
		t.timeout_at = n;
		loop_suite(&r, on->row);
		snprintf(what, sizeof(what), "a time-out in run %u of %u", n, runs);
		end(what, NEVER);
	}
}

/* A core that no longer answers: its own registers cannot be reached, those of all others are restored. */
static void test_restore_after_a_lost_core(void **state)
{
	(void)state;
	static const unsigned at[] = { 1, 40, 90, 150 };
	for (unsigned i = 0; i < COUNT_OF(at); i++) {
		begin(loop_built_in("nehalem-ep"));
		t.lost_at = at[i];
		loop_suite(&r, "load.l3_modified_other_core.latency,core_to_core.modified_same_socket.latency,load.l2.latency");
		assert_true(r.sum.by_status[ROW_TIMEOUT] > 0);
		assert_int_equal(memory_host_result(&r.host, "load.l2.latency")->status, ROW_OK);
		end("a lost core", 1);
	}
}

#define NUMBER(section, key, ...) { #section, #key },
#define TEXT(section, key, ...) { #section, #key },
static const char *const fault_fields[][2] = {
#include "pmu/sim/machine/machine.def"
};
#undef NUMBER
#undef TEXT

/* The fault switches of machine files (FORMAT.md, section fault). */
static void test_restore_with_each_fault_switch(void **state)
{
	(void)state;
	static const char *const faults[][2][2] = {
		{ { "msr_missing", "0x1A4" } }, { { "msr_missing", "0x38F" } }, { { "msr_missing", "0x3F6" } }, { { "msr_missing", "0x391" } },
		{ { "counter_stuck", "1" } }, { { "overcount_event", "0x01CB" }, { "overcount_thousandths", "1020" } },
		{ { "pebs_drop_every", "3" } }, { { "data_source_flip", "7" } }, { { "smi_period_us", "5" }, { "smi_us", "20" } },
		{ { "ratio_period_us", "30" }, { "ratio_other", "16" } }, { { "uncore_float_ratio", "12" } },
		{ { "prefetch_ignored", "15" } }, { { "firmware_counting", "1" } }, { { "dead_core", "2" } },
		{ { "prefetch_locked", "2" } }, { { "busy_core", "2" }, { "busy_us", "30" } },
		{ { "uncore_float_us", "10" }, { "uncore_float_ratio", "14" } }, { { "uncore_float_range", "1" }, { "uncore_float_ratio", "14" } },
		{ { "ratio_turbo", "1" }, { "ratio_period_us", "30" } }, { { "turbo_locked", "1" } },
		{ { "ratio_hwp", "1" }, { "ratio_period_us", "30" } }, { { "hwp_locked", "1" } },
		{ { "heat_period_us", "50" }, { "heat_us", "10" } }, { { "duty_cycle", "1" } }, { { "uncore_hidden", "1" } }, { { "uncore_hidden", "8" }, { "uncore_hidden_unit", "1" } }, { { "ecc_every", "100" } }, { { "uncore_stuck", "1" } },
		{ { "ibs_drop_every", "3" } }, { { "ibs_fetch_flip", "2" } }, { { "counter_priority", "1" } }, { { "counter_priority", "2" } },
	};
	unsigned known = 0;
	for (unsigned k = 0; k < COUNT_OF(fault_fields); k++) {
		bool here = strcmp(fault_fields[k][0], "fault") != 0;
		for (unsigned i = 0; i < COUNT_OF(faults) && !here; i++)
			here = !strcmp(faults[i][0][0], fault_fields[k][1]) || (faults[i][1][0] && !strcmp(faults[i][1][0], fault_fields[k][1]));
		if (!here)
			fail_msg("fault switch %s is not tried", fault_fields[k][1]);
		known += !strcmp(fault_fields[k][0], "fault");
	}
	assert_true(known >= 18);
	for (unsigned i = 0; i < COUNT_OF(faults); i++) {
		char *text = strdup(loop_built_in(strstr(faults[i][0][0], "hwp") ? "alder-lake-n" : strncmp(faults[i][0][0], "ibs_", 4) ? "nehalem-ep" : "zen4"));
		for (unsigned k = 0; k < 2 && faults[i][k][0]; k++) {
			char *more = loop_changed(text, "fault", faults[i][k][0], faults[i][k][1]);
			free(text);
			text = more;
		}
		begin(text);
		loop_suite(&r, "load.l1.latency,load.l3.latency,load.l3_modified_other_core.latency");
		end(faults[i][0][0], NEVER);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "test_restore_after_a_run", test_restore_after_a_run, prepare, NULL, &nehalem },
		{ "test_restore_after_a_run_on_core2", test_restore_after_a_run, NULL, NULL, &core2 },
		{ "test_restore_after_a_run_with_hwp", test_restore_after_a_run, NULL, NULL, &gracemont },
		{ "test_restore_after_a_profile", test_restore_after_a_profile, NULL, NULL, &nehalem },
		{ "test_restore_after_a_profile_on_core2", test_restore_after_a_profile, NULL, NULL, &core2 },
		cmocka_unit_test(test_restore_after_shares_of_slots),
		{ "test_restore_after_esc", test_restore_after_esc, NULL, NULL, &nehalem },
		{ "test_restore_after_esc_on_core2", test_restore_after_esc, NULL, NULL, &core2 },
		{ "test_restore_after_esc_with_hwp", test_restore_after_esc, NULL, NULL, &gracemont },
		{ "test_restore_after_a_fault_in_a_write", test_restore_after_a_fault_in_a_write, NULL, NULL, &nehalem },
		{ "test_restore_after_a_fault_in_a_write_on_core2", test_restore_after_a_fault_in_a_write, NULL, NULL, &core2 },
		{ "test_restore_after_a_fault_in_a_write_with_hwp", test_restore_after_a_fault_in_a_write, NULL, NULL, &gracemont },
		{ "test_restore_after_a_time_out", test_restore_after_a_time_out, NULL, NULL, &nehalem },
		{ "test_restore_after_a_time_out_on_core2", test_restore_after_a_time_out, NULL, NULL, &core2 },
		{ "test_restore_after_a_time_out_with_hwp", test_restore_after_a_time_out, NULL, NULL, &gracemont },
		cmocka_unit_test(test_restore_after_a_lost_core),
		cmocka_unit_test(test_restore_with_each_fault_switch),
		cmocka_unit_test(test_restore_after_the_full_suite),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
