/* tests/unit/support/loop_meets.c: judges a simulated machine's rows by the formulas of tests/expect/. */
#include "bench/uncore/uncore_latency.h"
#include "tests/unit/support/loop_meets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>


char *loop_format(void)
{
	FILE *f = fopen("tables/machines/FORMAT.md", "r");
	char *text = calloc(1, 1 << 18);
	assert_non_null(f);
	assert_true(fread(text, 1, (1 << 18) - 1, f) > 1000);
	fclose(f);
	return text;
}

/* Judges the row's latency in the uncore's read tracker, where the machine has uncore counters. */
static bool uncore_latency_meets(const struct row_result *row, const char *text, const char *format)
{
	const struct uncore_latency_result *q = &row->queue;
	struct expectation e;
	if (expect_queue(text, format, row->name, &e) != ST_OK || q->verdict == UNCORE_LATENCY_UNSUPPORTED ||
	    (q->verdict == UNCORE_LATENCY_OK && q->uncore_milli >= e.least_milli && q->uncore_milli <= e.most_milli))
		return true;
	fprintf(stderr, "%s in the queue: %s, %lld, expected %lld to %lld; %s\n", row->name, uncore_latency_verdict_name(q->verdict),
	        (long long)q->uncore_milli, (long long)e.least_milli, (long long)e.most_milli, q->reason);
	return false;
}

bool loop_pages_are_closed(const struct row_result *row, const char *text, const char *format)
{
	struct machine_text t = { text, format, false };
	if (strncmp(row->name, "load.dram_page_", 15) || row->status != ROW_UNSUPPORTED || !row->absent)
		return false;
	/* at least one line in 64 is its page's first and takes longer */
	return machine_field(&t, "dram", "open_page") ? machine_field(&t, "dram", "page_bytes") <= 4096 && strstr(row->reason, "too few lines") :
	       strstr(row->reason, "closes pages") != NULL;
}

bool loop_row_meets(const struct row_result *row, const char *text, const char *format, bool *judged)
{
	struct expectation e = { 1, 0 };
	enum status st = expect_row(text, format, row->name, &e);
	/* Without an event that proves the row on this processor, the value alone is judged. */
	bool counts = row->status == ROW_OK || (row->status == ROW_UNPROVEN && strstr(row->reason, "no event that proves it")) ||
		(row->status == ROW_UNPROVEN && !strncmp(row->reason, "no performance counters", 23));
	*judged = st != ST_MISSING;
	if (st == ST_MISSING)
		return true;
	/* The same holds for a register that the machine file leaves out: it does not change the value. */
	counts |= row->status == ROW_UNPROVEN && (strstr(row->reason, "its ratios could not be pinned") || strstr(row->reason, " does not answer"));
	/* So it does for memory controller events that this processor's descriptor lacks, and for counts that show other DRAM pages than the row requires. */
	counts |= row->status == ROW_UNPROVEN && (strstr(row->reason, "which DRAM pages were open is not known") || !strncmp(row->reason, "DRAM pages ", 11));
	struct machine_text machine = { text, format, false };
	counts |= row->status == ROW_UNPROVEN && machine_field(&machine, "dram", "open_page") && (!strncmp(row->reason, "its pages are few for DRAM's banks", 34) || strstr(row->reason, "the larger array found its DRAM pages open"));
	if (loop_pages_are_closed(row, text, format))
		return true;
	/* Another structure filled first, and the value is that structure's size. */
	if (row->status == ROW_UNPROVEN && row->limited && expect_is_limited(text, format, row->name, row->value_milli, row->reason))
		return true;
	/* A stall that costs no cycles may be reported as absent. */
	if (st == ST_OK && row->status == ROW_UNSUPPORTED && row->absent && e.least_milli <= 0 && e.most_milli >= 0 && !strncmp(row->reason, "this processor has none", 23))
		return true;
	/* A penalty of no cycles leaves the row's events nothing to count. */
	counts |= row->status == ROW_UNPROVEN && e.least_milli <= 0 && e.most_milli >= 0 && !strncmp(row->reason, "counted ", 8);
	/* Nor does a stall that the machine lacks: if port assignment moves the baseline by more than a quarter of a cycle, the row stays unproven. */
	if (st == ST_UNSUPPORTED && row->status == ROW_UNPROVEN && row->value_milli >= -500 && row->value_milli <= 500 && !strncmp(row->reason, "counted ", 8) &&
	    strstr(row->reason, " 0.000 per event"))
		return true;
	if (st == ST_OK && row->status == ROW_UNSUPPORTED && row->absent && expect_may_hide(text, format, row->name))
		return true;
	if (st == ST_UNSUPPORTED ? row->status == ROW_UNSUPPORTED && row->absent :
	    st == ST_OK && counts && row->value_milli >= e.least_milli && row->value_milli <= e.most_milli)
		return uncore_latency_meets(row, text, format);
	fprintf(stderr, "%s: %s, %lld, expected %lld to %lld (%s); %s\n", row->name, row_status_name(row->status),
	        (long long)row->value_milli, (long long)e.least_milli, (long long)e.most_milli, status_name(st), row->reason);
	return false;
}

unsigned loop_meets(const struct loop_run *r, const char *text, unsigned *missed)
{
	char *format = loop_format();
	unsigned met = 0;
	*missed = 0;
	for (unsigned i = 0; i < r->host.result_count; i++) {
		bool judged, meets = loop_row_meets(&r->host.results[i], text, format, &judged);
		met += judged && meets;
		*missed += !meets;
	}
	free(format);
	return met;
}
