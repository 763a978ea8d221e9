/* With each fault switch of a machine file the rows that it affects are not `ok`, and the others still are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/loop_meets.h"

static const char *const names[] = { "load.l1.latency", "load.l2.latency", "load.l3.latency", "load.dram_local.latency",
	"tlb.dtlb_4k.penalty", "triad.l2.bandwidth" };
#define ROWS "load.l?.latency,load.dram_local.latency,tlb.dtlb_4k.penalty,triad.l2.bandwidth"

/* Fault switches ("key=value,..."), and a letter for each row: o ok, u unproven, n noisy, f fault. */
static const struct { const char *fault, *statuses; } cases[] = {
	{ "", "oooooo" },
	{ "msr_missing=0x1A4", "uuuuuo" },        /* prefetchers stay as found, as the triad requires */
	{ "msr_missing=0x38F", "uuuuuu" },        /* IA32_PERF_GLOBAL_CTRL: nothing counts without it */
	{ "msr_missing=0xC2", "uuuuuu" },         /* IA32_PMC1: the others lack their start-up sequence (AAK100) */
	{ "msr_missing=0x30A", "oooooo" },        /* IA32_FIXED_CTR1: a general counter counts cycles */
	{ "msr_missing=0x1D9", "oooooo" },        /* IA32_DEBUGCTL: SMIs are not excluded from the counts; there are none */
	{ "counter_stuck=1", "uuuuuu" },
	{ "overcount_event=0x01CB,overcount_thousandths=1020", "uooooo" }, /* MEM_LOAD_RETIRED.L1D_HIT; the triad's events are others */
	{ "overcount_event=0x02CB,overcount_thousandths=500", "ouoooo" },  /* MEM_LOAD_RETIRED.L2_HIT */
	{ "pebs_drop_every=1", "uuuuoo" },
	{ "pebs_drop_every=3", "uuuuoo" },
	{ "data_source_flip=7", "uuuuoo" },
	{ "smi_period_us=5,smi_us=20", "nnnnnn" },
	{ "ratio_period_us=30,ratio_other=16", "nnnnno" }, /* five windows of the triad fit between two changes */
	{ "uncore_float_ratio=12", "oouuoo" },
	{ "prefetch_locked=15", "uuuuuo" },
	{ "prefetch_ignored=15", "oouooo" },      /* only where the streamer has a stream to run ahead of */
	{ "firmware_counting=1", "oooooo" },      /* switched off before the first use; a remark says so */
	{ "dead_core=2", "oooooo" },              /* core 1, which these rows do not need */
};

static char *with_faults(const char *text, const char *list)
{
	char copy[128], *save = NULL, *out = strdup(text);
	snprintf(copy, sizeof(copy), "%s", list);
	for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		char *value = strchr(one, '='), *more;
		*value++ = 0;
		more = loop_changed(out, "fault", one, value);
		free(out);
		out = more;
	}
	return out;
}

static char letter(const struct row_result *r)
{
	return r ? "onusfc"[r->status == ROW_OK ? 0 : r->status == ROW_NOISY ? 1 : r->status == ROW_UNPROVEN ? 2 :
		r->status == ROW_UNSUPPORTED ? 3 : r->status == ROW_FAULT ? 4 : 5] : '-';
}

static void test_loop_each_fault_takes_ok_from_the_rows_it_touches(void **state)
{
	(void)state;
	static struct loop_run r;
	unsigned wrong = 0;
	for (unsigned c = 0; c < COUNT_OF(cases); c++) {
		char *text = with_faults(loop_built_in("nehalem-ep"), cases[c].fault), got[COUNT_OF(names) + 1] = "";
		loop_open(&r, text);
		loop_suite(&r, ROWS);
		for (unsigned i = 0; i < COUNT_OF(names); i++)
			got[i] = letter(memory_host_result(&r.host, names[i]));
		fprintf(stderr, "%-56s %s\n", cases[c].fault[0] ? cases[c].fault : "none", got);
		if (strcmp(got, cases[c].statuses)) {
			fprintf(stderr, "expected %s\n", cases[c].statuses);
			wrong++;
		}
		loop_close(&r);
		free(text);
	}
	assert_int_equal(wrong, 0);
}

/* Rows of several cores, matrices, curves and tables, and other processors: with a fault none of them is `ok` (none_ok), or only
 * those whose value is right. */
#define SEVERAL "core_to_core.clean_same_socket.latency,read.l1_all.bandwidth,load.dram_loaded.penalty,sync.false_sharing.penalty," \
	"size.rob.entries,load.staircase.latency"
static const struct { const char *machine, *rows, *fault; bool none_ok; } others[] = {
	{ "nehalem-ep", SEVERAL, "duty_cycle=1", true },
	{ "nehalem-ep", SEVERAL, "smi_period_us=5,smi_us=20", false },
	{ "haswell-ep", "triad.dram_all.bandwidth", "smi_period_us=30,smi_us=15", true },
	{ "haswell-ep", "load.l3.latency,load.dram_local.*", "uncore_float_ratio=13,uncore_float_us=50", true },
	{ "core2", "store.rfo.*", "prefetch_ignored=15", true },
	{ "pentium4", "store.rfo.*", "prefetch_ignored=15", true },
	{ "nehalem-ep", "size.fill_buffers.entries", "prefetch_ignored=15", true },
	{ "core2", "size.super_queue.entries", "prefetch_ignored=2", true },
	{ "skylake-sp", "load.l2.latency,load.dram_local.latency,read.dram.bandwidth", "prefetch_locked=2", false },
	{ "skylake-sp", "size.fill_buffers.entries", "prefetch_ignored=2", true },
	{ "skylake-sp", "size.fill_buffers.entries", "prefetch_ignored=1", false }, /* one line per page: no stream for the streamer */
	{ "core2", "load.l1.latency,triad.l2.bandwidth,read.dram.bandwidth,load.l2.latency,load.dram_local*,read.l1_all.bandwidth", "ratio_period_us=700,ratio_other=7", false },
	{ "nehalem-ep", "load.l?.*,load.dram_local.*,triad.l2.bandwidth,read.l1_all.bandwidth", "ratio_period_us=700,ratio_other=9", false },
	{ "nehalem-ep", "core_to_core.*", "prefetch_ignored=15", false },
	{ "nehalem-ep", "load.l3.latency,load.dram_local.latency,frontend.l1i_l3.penalty", "uncore_float_ratio=12,uncore_float_us=3", true },
	{ "nehalem-ep", "load.l3.latency,load.dram_local.latency,load.dram_remote.latency,read.l3.bandwidth", "uncore_float_ratio=12,uncore_float_us=10000", false },
	{ "haswell-ep", "load.dram_local.latency,frontend.l1i_l3.penalty", "uncore_float_ratio=12,uncore_float_us=1", true },
	{ "skylake-sp", "load.dram_local.latency,load.l3_clean_other_core.latency,core_to_core.clean_other_socket.latency,frontend.l1i_l3.penalty",
	  "uncore_float_ratio=12", true }, /* no counters of the uncore: MSR 0x621 */
	{ "nehalem-ep", "load.l?.latency,load.dram_local.latency,*.l1.bandwidth,read.l2.bandwidth,copy.l2.bandwidth,read.l1_all.bandwidth",
	  "turbo_locked=1,ratio_turbo=1,ratio_period_us=60,ratio_other=25", false },
	{ "nehalem-ep", "load.l?.latency,*.l1.bandwidth,triad.l2.bandwidth", "turbo_locked=1,ratio_turbo=1,ratio_period_us=700,ratio_other=25", false },
	{ "ice-lake-sp", "load.l?.latency,*.l1.bandwidth,read.l2.bandwidth", "hwp_locked=1,ratio_hwp=1,ratio_period_us=700,ratio_other=25", false },
	{ "skylake-sp", "load.l?.latency,load.dram_local.latency,read.l2.bandwidth", "msr_missing=0xC2", false },
	/* no register counts SMIs or shows the clock's ratio: the cycles of windows are compared with their TSC ticks */
	{ "core2", "load.l2.latency,*.l2.bandwidth,read.dram.bandwidth,triad.dram_all.bandwidth", "smi_period_us=7,smi_us=5", false },
	{ "core2", "load.l2.latency,read.dram.bandwidth,triad.dram_all.bandwidth,load.dram_loaded.penalty", "smi_period_us=400,smi_us=40", false },
	{ "pentium4", "*.l2.bandwidth,read.dram.bandwidth", "smi_period_us=30,smi_us=15", false },
	{ "pentium4", "triad.l2.bandwidth,read.dram.bandwidth", "ratio_period_us=50,ratio_other=7", false },
	{ "pentium4", "read.dram.bandwidth", "ratio_period_us=700,ratio_other=8", false },
	{ "haswell-ep", "triad.l2.bandwidth,read.dram.bandwidth", "msr_missing=0x34,smi_period_us=7,smi_us=5", true },
	{ "nehalem-ep", "load.l2.latency,triad.l2.bandwidth", "msr_missing=0xE8,ratio_period_us=300,ratio_other=7", false },
	{ "skylake-sp", "load.l?.latency,branch.*,core_to_core.*,size.rob.entries,load.staircase.latency,read.l1_all.bandwidth", "msr_missing=0x38E", true },
};

static void test_loop_faults_take_ok_from_other_rows_and_machines_too(void **state)
{
	(void)state;
	static struct loop_run r;
	char *format = loop_format();
	unsigned wrong = 0;
	for (unsigned c = 0; c < COUNT_OF(others); c++) {
		char *text = with_faults(loop_built_in(others[c].machine), others[c].fault);
		loop_open(&r, text);
		loop_suite(&r, others[c].rows);
		for (unsigned i = 0; i < r.host.result_count; i++) {
			const struct row_result *row = &r.host.results[i];
			bool judged;
			if (row_was_ended(row->status) || (row->status == ROW_OK && (others[c].none_ok || !loop_row_meets(row, text, format, &judged)))) {
				fprintf(stderr, "%s, %s: %s is %s\n", others[c].machine, others[c].fault, row->name, row_status_name(row->status));
				wrong++;
			}
		}
		loop_close(&r);
		free(text);
	}
	free(format);
	assert_int_equal(wrong, 0);
}

/* Rare SMIs: windows that one hits are rejected and counted, and the rest give the true value. How rare depends on the
 * length of the windows' jobs: an SMI in most jobs leaves too few windows. */
static void seldom(const char *fault, const char *which)
{
	static struct loop_run r;
	char *text = with_faults(loop_built_in("nehalem-ep"), fault);
	unsigned missed;
	loop_open(&r, text);
	loop_suite(&r, which);
	assert_int_equal(loop_meets(&r, text, &missed), 1);
	assert_true(r.host.results[0].rejected > 0);
	loop_close(&r);
	free(text);
}

/* A register that only an additional method of the row needs does not answer: the method's reason names it, the row keeps its value, and the result is
 * unexpected. */
static void test_loop_a_register_that_does_not_answer_is_named(void **state)
{
	(void)state;
	static const struct { const char *machine, *missing, *expected; bool sampled; } lost[] = {
		{ "nehalem-ep", "0x3F6", "register 0x3F6 does not answer", true },
		{ "nehalem-ep", "0x391", "register 0x391 does not answer", false },
		{ "haswell-ep", "0x3F6", "register 0x3F6 does not answer", true },
		{ "haswell-ep", "0xE00", "cbo 0 of socket 0: register 0xE00 does not answer", false },
		{ "haswell-ep", "0xE11", "cbo 1 of socket 0: register 0xE11 does not answer", false },
		{ "haswell-ep", "0xE1A", "register 0xE1A does not answer", false }, /* a counter that discovery does not read */
		{ "haswell-ep", "0x702", "register 0x702 does not answer", false },
	};
	static struct loop_run r;
	for (unsigned i = 0; i < COUNT_OF(lost); i++) {
		char *text = loop_changed(loop_built_in(lost[i].machine), "fault", "msr_missing", lost[i].missing);
		loop_open(&r, text);
		loop_suite(&r, "load.l3.latency");
		const struct row_result *row = memory_host_result(&r.host, "load.l3.latency");
		assert_int_equal(row->status, ROW_OK);
		assert_int_equal(lost[i].sampled ? (int)row->sample.verdict : (int)row->queue.verdict, lost[i].sampled ? (int)SAMPLE_FAULT : (int)UNCORE_LATENCY_FAULT);
		assert_string_equal(lost[i].sampled ? row->sample.reason : row->queue.reason, lost[i].expected);
		assert_int_equal(r.sum.unexpected, 1);
		loop_close(&r);
		free(text);
	}
}

/* The results name the boxes that are missing, and the row that needed one names it. */
static void test_loop_a_box_that_is_missing_is_named(void **state)
{
	(void)state;
	static const struct { const char *fault, *json; } missing[] = {
		{ "msr_missing=0x702", "{\"box\": \"cbo\", \"boxes\": 0, \"absent\": \"register 0x702 does not answer\"}" },
		{ "msr_missing=0xE11", "{\"box\": \"cbo\", \"boxes\": 34, \"absent\": null, \"missing\": \"cbo 1 of socket 0: register 0xE11 does not answer\"}" },
		{ "uncore_hidden=2", "{\"box\": \"sbo\", \"boxes\": 0, \"absent\": \"PCI function 1E.3, which holds their number, is hidden\"}" },
		{ "uncore_hidden=4", "{\"box\": \"ha\", \"boxes\": 0, \"absent\": \"no such function on the sockets' buses: hidden or fused off\"}" },
		{ "uncore_hidden=8,uncore_hidden_unit=3", "{\"box\": \"imc\", \"boxes\": 7, \"absent\": null, \"missing\": \"imc 4 of socket 0: not there, though other sockets have it\"}" },
	};
	static struct loop_run r;
	for (unsigned i = 0; i < COUNT_OF(missing); i++) {
		char *text = with_faults(loop_built_in("haswell-ep"), missing[i].fault);
		loop_open(&r, text);
		loop_suite(&r, "read.dram.bandwidth");
		if (!strstr(memory_host_file(&r.host, "results.json"), missing[i].json))
			fail_msg("%s: results.json does not have %s", missing[i].fault, missing[i].json);
		const struct row_result *row = memory_host_result(&r.host, "read.dram.bandwidth");
		assert_int_equal(row->status, ROW_OK);
		assert_string_equal(row->traffic.at[0].missing, i == 4 ? "imc 4 of socket 0: not there, though other sockets have it" : "");
		loop_close(&r);
		free(text);
	}
}

static void test_loop_seldom_smis_cost_windows_not_truth(void **state)
{
	(void)state;
	seldom("smi_period_us=100,smi_us=20", "load.l1.latency");
	seldom("smi_period_us=100,smi_us=20", "load.l2.latency");
	seldom("smi_period_us=20,smi_us=20", "triad.l2.bandwidth");
}

/* A row's remark reports the counters that firmware had left on. */
static void test_loop_counters_left_on_are_told(void **state)
{
	(void)state;
	static struct loop_run r;
	char *text = with_faults(loop_built_in("nehalem-ep"), "firmware_counting=1");
	loop_open(&r, text);
	loop_suite(&r, "load.l1.latency");
	assert_non_null(strstr(r.host.results[0].remark, "firmware had left 3 counters on"));
	loop_close(&r);
	free(text);
}

/* An unknown processor that reports little of itself: what is not known is not reported as absent. Stores that miss are not `ok` beside
 * prefetchers that no driver can switch off, because the lines that these bring are counted too. */
static void test_loop_what_is_not_known_is_not_absent(void **state)
{
	(void)state;
	static const char *const not_known[] = { "load.l3.latency", "load.l3_shared.latency", "frontend.l1i_l3.penalty", "tlb.itlb.penalty",
		"load.l3_overlap.interval", "tlb.walk_concurrency.interval" };
	static struct loop_run r;
	char *stranger = loop_changed(loop_built_in("nehalem-ep"), "cpuid", "model", "99"), *counting = loop_changed(stranger, "pmu", "start_sequence", "0");
	static const char silent[] = "[cpuid]\nfamily = 6\nmodel = 99\n[clock]\nbus_hz_times_3 = 300000000\ncore_ratio = 20\nuncore_ratio = 20\n"
		"tsc_ratio = 20\n[topology]\ncores = 4\n[l3]\nbytes = 8388608\n[pmu]\nversion = 0\ngeneral = 0\nfixed = 0\ncapabilities = 0\n"
		"[control]\nhighest_leaf = 2\n";

	loop_open(&r, counting);
	loop_suite(&r, "store.rfo.penalty");
	assert_int_equal(r.host.results[0].status, ROW_UNPROVEN);
	assert_non_null(strstr(r.host.results[0].reason, "counted LONGEST_LAT_CACHE.MISS 1."));
	loop_close(&r);
	loop_open(&r, silent);
	loop_suite(&r, "load.l3*,frontend.l1i_l3.penalty,tlb.itlb.penalty,tlb.walk_concurrency.interval");
	for (unsigned i = 0; i < COUNT_OF(not_known); i++) {
		const struct row_result *row = memory_host_result(&r.host, not_known[i]);
		assert_non_null(row);
		if (row->status != ROW_UNSUPPORTED || row->absent)
			fail_msg("%s: %s, %s: %s", row->name, row_status_name(row->status), row->absent ? "absent" : "not absent", row->reason);
		assert_non_null(strstr(row->reason, "known"));
	}
	loop_close(&r);
	free(counting);
	free(stranger);
}

/* Prefetchers that the processor's descriptor lacks, so that nothing switches them off: each row of stores that miss is right or not `ok`. */
static void test_loop_stores_beside_prefetchers_that_nobody_knows(void **state)
{
	(void)state;
	static const struct { const char *present; bool none_ok; } tried[] = { { "0", false }, { "1", false }, { "2", true }, { "12", false }, { "15", true } };
	static struct loop_run r;
	char *format = loop_format();

	for (unsigned i = 0; i < COUNT_OF(tried); i++) {
		char *text = loop_changed(loop_built_in("alder-lake-n"), "prefetch", "present", tried[i].present);

		loop_open(&r, text);
		loop_suite(&r, "store.rfo.*");
		assert_int_equal(r.host.result_count, 2);
		for (unsigned k = 0; k < r.host.result_count; k++) {
			const struct row_result *row = &r.host.results[k];
			bool judged;

			print_message("%s: %s %lld %s\n", tried[i].present, row->name, (long long)row->value_milli, row_status_name(row->status));
			assert_true(row->status == ROW_OK ? !tried[i].none_ok && loop_row_meets(row, text, format, &judged) : row->status == ROW_UNPROVEN);
			assert_true(row->status == ROW_OK || strcmp(tried[i].present, "0"));
		}
		loop_close(&r);
		free(text);
	}
	free(format);
}

/* Rows that no event of the processor proves say why, in matrices too. Reading counters takes longer after windows that evicted the wrapper's
 * lines to memory, and is not taken for an SMI. */
static void test_loop_two_sockets_of_netburst_say_why_nothing_proves_them(void **state)
{
	(void)state;
	static struct loop_run r;
	char *format = loop_format(), *text = loop_changed(loop_built_in("pentium4"), "topology", "sockets", "2");
	loop_open(&r, text);
	loop_suite(&r, "load.dram_remote.*,core_to_core.*_other_socket.*");
	assert_int_equal(r.host.result_count, 4);
	for (unsigned i = 0; i < r.host.result_count; i++) {
		const struct row_result *row = &r.host.results[i];
		bool judged;
		if (row->status != ROW_UNPROVEN || !row->unprovable || row->rejected || !loop_row_meets(row, text, format, &judged) || !judged)
			fail_msg("%s: %s, %u rejected: %s", row->name, row_status_name(row->status), row->rejected, row->reason);
	}
	loop_close(&r);
	free(text);
	free(format);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop_each_fault_takes_ok_from_the_rows_it_touches),
		cmocka_unit_test(test_loop_faults_take_ok_from_other_rows_and_machines_too),
		cmocka_unit_test(test_loop_a_register_that_does_not_answer_is_named),
		cmocka_unit_test(test_loop_a_box_that_is_missing_is_named),
		cmocka_unit_test(test_loop_seldom_smis_cost_windows_not_truth),
		cmocka_unit_test(test_loop_counters_left_on_are_told),
		cmocka_unit_test(test_loop_two_sockets_of_netburst_say_why_nothing_proves_them),
		cmocka_unit_test(test_loop_what_is_not_known_is_not_absent),
		cmocka_unit_test(test_loop_stores_beside_prefetchers_that_nobody_knows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
