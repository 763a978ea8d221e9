/* The quick suite on this machine: files are valid, rows have values and verdicts. Then with this processor's CPUID in which some leaves
 * are missing or invalid: each row is measured, or unsupported with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "asm/kernel.h"
#include "runner/host/native.h"
#include "tests/unit/support/memory_host.h"

static struct native *native;
static struct cpu cpu;

static const struct access *open_native(void)
{
	char problem[128] = "";
	if (native_open(&native, problem, sizeof(problem)) != ST_OK)
		fail_msg("%s", problem);
	assert_int_equal(cpu_identify(native_access(native), &cpu), ST_OK);
	return native_access(native);
}

static int close_native(void **state)
{
	(void)state;
	if (native)
		native_close(native);
	native = NULL;
	return 0;
}

#define NO_CYCLES "core cycles are not known" /* the clock changed between two chains each time */

static bool in_cycles(const struct row_result *r)
{
	return !r->noisy && !strstr(r->reason, NO_CYCLES);
}

/* What this processor lacks, or does not report, is unsupported with a reason. The core's other thread may disturb all windows of a row
 * in the private caches; the row then has no value and says so. */
static void every_row_is_measured_or_says_why(const struct memory_host *h, const struct suite_summary *sum)
{
	assert_int_equal(h->taken, 0);
	assert_int_equal(sum->files, ST_OK);
	assert_int_equal(sum->rows, h->result_count);
	for (unsigned i = 0; i < h->result_count; i++) {
		const struct row_result *r = &h->results[i];

		if (r->status == ROW_FAULT || r->status == ROW_TIMEOUT || r->status == ROW_FAILED)
			fail_msg("%s is %s: %s", r->name, row_status_name(r->status), r->reason);
		if (r->status == ROW_UNSUPPORTED) {
			assert_true(r->reason[0] && !r->samples);
			continue;
		}
		assert_true(r->status == ROW_UNPROVEN || r->status == ROW_NOISY);
		/* with other work on this machine a row may be noisy in many ways */
		if (r->status != ROW_UNPROVEN)
			assert_true(r->reason[0]);
		else if (!strstr(r->reason, "no performance counters") && !strstr(r->reason, NO_CYCLES) && !strstr(r->reason, "contradicts") &&
		         !strstr(r->reason, "no knee up to")) /* other work on this host hides it */
			fail_msg("%s: %s", r->name, r->reason);
		assert_true(r->samples || r->status == ROW_NOISY || strstr(r->reason, "no knee up to"));
	}
}

static void test_suite_native_quick_gives_values(void **state)
{
	(void)state;
	static struct memory_host h;
	struct suite_settings s = { .suite = "quick", .label = "unit" };
	struct suite_summary sum;
	char line[512];
	struct text t;
	struct table table = {.proofs = false};
	const struct access *a = open_native();

	memory_host_init(&h);
	assert_int_equal(suite_run(a, &cpu, &s, &h.host, &sum), ST_OK);
	text_init(&t, line, sizeof(line));
	table_title(&t, a, &cpu);
	table_head(&t);
	fputs(line, stderr);
	for (unsigned i = 0; i < h.result_count; i++) {
		text_init(&t, line, sizeof(line));
		table_line(&t, &table, &h.results[i]);
		fputs(line, stderr);
		if (h.results[i].remark[0])
			fprintf(stderr, "    %s\n", h.results[i].remark);
	}
	text_init(&t, line, sizeof(line));
	table_summary(&t, a, &sum);
	fputs(line, stderr);
	every_row_is_measured_or_says_why(&h, &sum);

	const struct row_result *l1 = memory_host_result(&h, "load.l1.latency");
	const struct row_result *l2 = memory_host_result(&h, "load.l2.latency");
	const struct row_result *dram = memory_host_result(&h, "load.dram_local.latency");
	const struct row_result *triad = memory_host_result(&h, "triad.l1.bandwidth");
	assert_non_null(l1);
	if (in_cycles(l1))
		assert_in_range(l1->value_milli, 2500, 7500);
	if (in_cycles(l1) && in_cycles(l2))
		assert_true(l2->value_milli > l1->value_milli);
	if (in_cycles(dram))
		assert_in_range(dram->value_milli, 75000, 5000000);
	assert_true(triad->value_milli > 1000);
	memory_host_free(&h);
}

/* --- a CPUID that reports something else --------------------------------------------------------- */

#define BASIC_MOST 0x1Fu /* the highest basic leaf; those that this processor lacks read as zeros */
#define EVERY_SUB  UINT32_MAX
#define ALL        UINT32_MAX
#define NOTHING    { ALL, ALL, ALL, ALL }

/* In a leaf the bits `away` are cleared and `there` set, on all processors or (others) on all but the first. */
struct fake_leaf { uint32_t leaf, sub; struct cpuid_regs away, there; bool others; };

static const struct access *under;
static const struct fake_leaf *fakes;
static unsigned fake_count;

static enum status fake_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t sub, struct cpuid_regs *out)
{
	struct cpuid_regs most;
	enum status st = under->ops->cpuid(self, core, 0, 0, &most);
	if (st == ST_OK)
		st = under->ops->cpuid(self, core, leaf, sub, out);
	if (st != ST_OK)
		return st;
	if (leaf < 0x80000000u && leaf > most.eax)
		*out = (struct cpuid_regs){ 0 };
	if (leaf == 0 && out->eax < BASIC_MOST)
		out->eax = BASIC_MOST;
	for (unsigned i = 0; i < fake_count; i++) {
		const struct fake_leaf *f = &fakes[i];
		if (f->leaf != leaf || (f->sub != EVERY_SUB && f->sub != sub) || (f->others && core == 0))
			continue;
		out->eax = (out->eax & ~f->away.eax) | f->there.eax;
		out->ebx = (out->ebx & ~f->away.ebx) | f->there.ebx;
		out->ecx = (out->ecx & ~f->away.ecx) | f->there.ecx;
		out->edx = (out->edx & ~f->away.edx) | f->there.edx;
	}
	return ST_OK;
}

/* Runs the rows on this machine with that CPUID. */
static void run_faked(const struct fake_leaf *leaves, unsigned count, const char *suite, struct memory_host *h)
{
	struct suite_settings s = { .suite = suite, .label = "unit", .repetitions = 3 };
	struct suite_summary sum;
	char problem[128] = "";

	if (native_open(&native, problem, sizeof(problem)) != ST_OK)
		fail_msg("%s", problem);
	under = native_access(native);
	fakes = leaves;
	fake_count = count;
	struct access_ops ops = *under->ops;
	struct access a = *under;
	ops.cpuid = fake_cpuid;
	a.ops = &ops;
	assert_int_equal(cpu_identify(&a, &cpu), ST_OK);
	memory_host_init(h);
	assert_int_equal(suite_run(&a, &cpu, &s, &h->host, &sum), ST_OK);
	for (unsigned i = 0; i < h->result_count; i++)
		print_message("%s: %s: %s\n", h->results[i].row->name, row_status_name(h->results[i].status), h->results[i].reason);
	every_row_is_measured_or_says_why(h, &sum);
	close_native(NULL);
}

#define ABOUT_PAGES "load.l1.latency,load.l2.latency,triad.l1.bandwidth,tlb.*,frontend.itlb_walk.penalty,size.fill_buffers.entries"

static void unsupported_for(const struct memory_host *h, const char *row, const char *reason)
{
	const struct row_result *r = memory_host_result(h, row);
	assert_non_null(r);
	assert_int_equal(r->status, ROW_UNSUPPORTED);
	assert_non_null(strstr(r->reason, reason));
}

/* Neither the cache leaves nor the older descriptors. */
static void test_suite_native_without_leaf_4(void **state)
{
	(void)state;
	static struct memory_host h;
	static const struct fake_leaf leaves[] = { { 4, EVERY_SUB, NOTHING, { 0 }, false }, { 2, EVERY_SUB, NOTHING, { 0 }, false },
		{ 0x80000005u, 0, NOTHING, { 0 }, false }, { 0x80000006u, 0, NOTHING, { 0 }, false }, { 0x8000001Du, EVERY_SUB, NOTHING, { 0 }, false } };
	run_faked(leaves, COUNT_OF(leaves), "quick," ABOUT_PAGES, &h);
	assert_int_equal(cpu.cache_count, 0);
	unsupported_for(&h, "load.l1.latency", "no L1 data cache known");
	memory_host_free(&h);
}

/* A second level smaller than the first, one of 65535 ways and 2^32 - 1 sets, and a first level of one entry. AMD's leaves and Intel's. */
static void test_suite_native_with_absurd_tlbs(void **state)
{
	(void)state;
	static struct memory_host h;
	static const struct fake_leaf small[] = { { 0x80000006u, 0, { ALL, ALL, 0, 0 }, { 0x10081008, 0x10081008, 0, 0 }, false },
		{ 0x18, EVERY_SUB, NOTHING, { 0 }, false }, { 0x18, 0, { 0 }, { 1, 0x00400001, 1, 0x21 }, false }, { 0x18, 1, { 0 }, { 0, 0x00080001, 1, 0x43 }, false } };
	static const struct fake_leaf huge[] = { { 0x80000005u, 0, { ALL, ALL, 0, 0 }, { ALL, ALL, 0, 0 }, false }, { 0x80000006u, 0, { ALL, ALL, 0, 0 }, { ALL, ALL, 0, 0 }, false },
		{ 0x18, EVERY_SUB, NOTHING, { 0, 0xFFFF000F, ALL, 0x21 }, false } };
	static const struct fake_leaf one[] = { { 0x80000005u, 0, { ALL, ALL, 0, 0 }, { 0xFF01FF01, 0xFF01FF01, 0, 0 }, false }, { 0x80000006u, 0, { ALL, ALL, 0, 0 }, { 0 }, false },
		{ 0x18, EVERY_SUB, NOTHING, { 0 }, false }, { 0x18, 0, { 0 }, { 0, 0x0001000F, 1, 0x21 }, false } };
	run_faked(small, COUNT_OF(small), ABOUT_PAGES, &h);
	memory_host_free(&h);
	run_faked(huge, COUNT_OF(huge), ABOUT_PAGES, &h);
	memory_host_free(&h);
	run_faked(one, COUNT_OF(one), ABOUT_PAGES, &h);
	assert_int_equal(cpu.tlb.dtlb_4k, 1);
	memory_host_free(&h);
}

static void test_suite_native_without_pages_of_1_gib(void **state)
{
	(void)state;
	static struct memory_host h;
	static const struct fake_leaf leaves[] = { { 0x80000001u, 0, { 0, 0, 0, 1u << 26 }, { 0 }, false } };
	run_faked(leaves, COUNT_OF(leaves), ABOUT_PAGES, &h);
	assert_false(cpu.isa & ISA_1G);
	unsupported_for(&h, "tlb.walk_1g.penalty", "no pages of 1 GiB");
	memory_host_free(&h);
}

/* Cores of two types (SDM vol. 2A, CPUID 7 EDX[15] and 0x1A): four of the second type share an L2 with fewer ways. */
static void test_suite_native_of_two_types_of_cores(void **state)
{
	(void)state;
	static struct memory_host h;
	static const struct fake_leaf leaves[] = { { 7, 0, { 0 }, { 0, 0, 0, 1u << 15 }, false }, { 0x1A, 0, NOTHING, { 0x40000001, 0, 0, 0 }, false },
		{ 0x1A, 0, NOTHING, { 0x20000001, 0, 0, 0 }, true }, { 4, 2, { 0x03FFC000, 0xFFC00000, 0, 0 }, { 3u << 14, 3u << 22, 0, 0 }, true } };
	run_faked(leaves, COUNT_OF(leaves), "quick,read.l1_all.bandwidth,read.l2_all.bandwidth,core_to_core.*", &h);
	memory_host_free(&h);
}

/* CPUID tells counters, as on every machine that is not a virtual one (Haswell's leaves 0, 1 and 0xA); a process cannot use them. */
static void test_suite_native_beside_counters(void **state)
{
	(void)state;
	static struct memory_host h;
	static const struct fake_leaf leaves[] = { { 0, EVERY_SUB, { 0, ALL, ALL, ALL }, { 0, 0x756E6547, 0x6C65746E, 0x49656E69 }, false },
		{ 1, EVERY_SUB, { ALL, 0, 0, 0 }, { 0x306F2, 0, 0, 1u << 21 }, false }, { 0xA, EVERY_SUB, NOTHING, { 0x07300403, 0, 0, 0x603 }, false } };
	run_faked(leaves, COUNT_OF(leaves), "load.l1.latency,load.l2.latency", &h);
	assert_string_equal(cpu.processor->name, "haswell-ep");
	assert_int_equal(cpu.pmu_version, 0);
	assert_string_equal(cpu.pmu_absent, "this backend has no counters");
	memory_host_free(&h);
}

/* Given a pattern, the tests that it matches are left out. */
int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_skip_filter(argv[1]);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_suite_native_quick_gives_values, close_native),
		cmocka_unit_test_teardown(test_suite_native_beside_counters, close_native),
		cmocka_unit_test_teardown(test_suite_native_without_leaf_4, close_native),
		cmocka_unit_test_teardown(test_suite_native_with_absurd_tlbs, close_native),
		cmocka_unit_test_teardown(test_suite_native_without_pages_of_1_gib, close_native),
		cmocka_unit_test_teardown(test_suite_native_of_two_types_of_cores, close_native),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
