/* On simulated machines a chase's loads are in the table of requests (TOR) as long as the machine file implies, for hits, local and remote
 * misses, and the parts of a load's latency add up to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/uncore/uncore_latency.h"
#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/loop_meets.h"

static const char *const rows_wanted[] = {
	"load.l3.latency", "load.l3_clean_other_core.latency", "load.l3_modified_other_core.latency", "load.remote_l3_clean.latency",
	"load.dram_local.latency", "load.dram_remote.latency",
};
#define ROWS_WANTED "load.l3.latency,load.l3_clean_other_core.latency,load.l3_modified_other_core.latency,load.remote_l3_clean.latency," \
	"load.dram_local.latency,load.dram_remote.latency"

static struct loop_run r;

static void within(const char *row, const char *how, int64_t milli, int64_t expect)
{
	if (milli < expect * 95 / 100 || milli > expect * 105 / 100)
		fail_msg("%s: %s %lld, expected %lld within 5 %%", row, how, (long long)milli, (long long)expect);
}

/* Converts uncore cycles to core cycles, by the clocks that the row measured. */
static int64_t core_milli(const struct row_result *row, int64_t uncore_milli)
{
	return (int64_t)((__int128)uncore_milli * (int64_t)row->core_hz / (int64_t)row->queue.uncore_hz);
}

/* By the boxes' counts each load has one entry, of its own kind, held as long as the queue method says; one DRAM page, if memory answers it;
 * and eight flits of data, if it comes over a link. */
static void by_boxes(const struct row_result *row)
{
	const struct latency_breakdown_result *a = &row->queue.breakdown;
	const bool remote_memory = strstr(row->name, "dram_remote"), other_socket = strstr(row->name, "remote_l3"), memory = strstr(row->name, "dram");
	const enum latency_breakdown_answer of = remote_memory ? BREAKDOWN_REMOTE : memory || other_socket ? BREAKDOWN_LOCAL : BREAKDOWN_HIT;
	assert_true(a->there);
	fprintf(stderr, "%36s ingress %lld, held", "", (long long)a->ingress_milli);
	for (unsigned i = 0; i < BREAKDOWN_ANSWERS; i++)
		fprintf(stderr, " %lld of %lld", (long long)a->held_milli[i], (long long)a->entries_milli[i]);
	fprintf(stderr, ", pages %lld %lld %lld, flits %lld\n", (long long)a->pages_milli[0], (long long)a->pages_milli[1],
	        (long long)a->pages_milli[2], (long long)a->flits_milli);
	for (unsigned i = 0; i < BREAKDOWN_ANSWERS; i++)
		if (i == of) {
			within(row->name, "entries are", a->entries_milli[i], 1000);
			within(row->name, "an entry is held", a->held_milli[i], row->queue.uncore_milli);
		} else {
			assert_in_range(a->entries_milli[i], 0, 50);
		}
	assert_in_range(a->ingress_milli, 0, 1000); /* one load at a time never waits */
	if (memory)
		within(row->name, "pages found are", a->pages_milli[BREAKDOWN_PAGE_HIT] + a->pages_milli[BREAKDOWN_PAGE_EMPTY] + a->pages_milli[BREAKDOWN_PAGE_MISS], 1000);
	if (remote_memory || other_socket)
		within(row->name, "flits are", a->flits_milli, 8000);
	else
		assert_in_range(a->flits_milli, 0, 100);
}

static void taken_apart(const char *what, const char *text)
{
	char *format = loop_format();
	struct machine_text fields = { .machine = text, .format = format };
	const uint64_t local = machine_field(&fields, "dram", "local_ps");
	loop_open(&r, text);
	loop_suite(&r, ROWS_WANTED);
	const struct row_result *l3 = memory_host_result(&r.host, "load.l3.latency");
	assert_non_null(l3);
	fprintf(stderr, "%s, core cycles\n%-36s %10s %10s %10s %10s %10s\n", what, "", "chase", "TOR", "core + L3", "home", "sum");
	for (size_t i = 0; i < sizeof(rows_wanted) / sizeof(rows_wanted[0]); i++) {
		const struct row_result *row = memory_host_result(&r.host, rows_wanted[i]);
		struct expectation q;
		assert_non_null(row);
		if (row->status != ROW_OK || row->queue.verdict != UNCORE_LATENCY_OK)
			fail_msg("%s: %s; queue %s %s", row->name, row->reason, uncore_latency_verdict_name(row->queue.verdict), row->queue.reason);
		assert_int_equal(expect_queue(text, format, row->name, &q), ST_OK);
		if (row->queue.uncore_milli < q.least_milli || row->queue.uncore_milli > q.most_milli)
			fail_msg("%s in the TOR: %lld, expected %lld to %lld uncore cycles", row->name, (long long)row->queue.uncore_milli,
			         (long long)q.least_milli, (long long)q.most_milli);
		fprintf(stderr, "%-36s %10.3f %10.3f", row->name, (double)row->cycles_milli / 1000, (double)row->queue.cycles_milli / 1000);
		if (!strstr(row->name, "dram")) {
			fprintf(stderr, "\n");
			by_boxes(row);
			continue;
		}
		/* A load from memory takes the time of an L3 hit and the time in which its home fetches the line. Each part is measured by
		 * other counters or in another row: the chase through the L3, and the tracker of the home's agent. */
		assert_true(row->queue.home_milli > 0);
		const bool far = strstr(row->name, "remote") != NULL;
		const int64_t home = core_milli(row, row->queue.home_milli), link = far ? core_milli(row, row->queue.breakdown.link_milli) : 0, parts = l3->cycles_milli + home + link;
		fprintf(stderr, " %10.3f %10.3f %10.3f\n", (double)l3->cycles_milli / 1000, (double)home / 1000, (double)parts / 1000);
		by_boxes(row);
		within(row->name, "the parts are", parts, row->cycles_milli);
		/* the link's round trip is the difference of remote and local memory; the home takes its memory's time, whoever asks */
		within(row->name, "of it on the link", link, far ? mul_div((int64_t)(machine_field(&fields, "dram", "remote_ps") - local), (int64_t)row->core_hz, 1000000000) : 0);
		within(row->name, "at the home", home, mul_div((int64_t)local, (int64_t)row->core_hz, 1000000000));
		within(row->name, "TOR and way to it are", row->queue.cycles_milli + l3->queue.offset_milli, row->cycles_milli);
	}
	loop_close(&r);
	free(format);
}

static void test_uncore_latency_taken_apart(void **state)
{
	(void)state;
	taken_apart("haswell-ep", loop_built_in("haswell-ep"));
}

/* Other values of the memory's latency and of the uncore clock are found as well. */
static void test_uncore_latency_of_another_machine(void **state)
{
	(void)state;
	char *other = loop_built_in_changed("haswell-ep", "dram.remote_ps=161000,clock.uncore_ratio=17,uncore.reverse=1");
	taken_apart("remote memory 161 ns, uncore at 1.7 GHz, buses the other way round", other);
	free(other);
}

/* Without load the residence of a read is that of the lone chase; under load the additional residence and the wait before the boxes are the row's penalty. */
static void under_load(const char *machine, const char *section, const char *field, const char *value, int64_t before_percent, bool home)
{
	char *text = field ? loop_changed(loop_built_in(machine), section, field, value) : strdup(loop_built_in(machine)), *format = loop_format();
	struct machine_text fields = { .machine = text, .format = format };
	loop_open(&r, text);
	loop_suite(&r, "load.dram_local.latency,load.dram_loaded.penalty");
	const struct row_result *chase = memory_host_result(&r.host, "load.dram_local.latency"), *row = memory_host_result(&r.host, "load.dram_loaded.penalty");
	assert_true(chase && row && chase->status == ROW_OK && row->status == ROW_OK);
	const struct latency_loaded_result *a = &row->loaded;
	if (a->verdict != UNCORE_LATENCY_OK)
		fail_msg("%s: %s %s", machine, uncore_latency_verdict_name(a->verdict), a->reason);
	const int64_t *held = home ? a->home_milli : a->table_milli, queue = core_milli(chase, held[LATENCY_LOADED] - held[LATENCY_ALONE]), before = core_milli(chase, a->before_milli);
	fprintf(stderr, "%s %s: entries %lld, table %lld, %lld, home %lld, %lld uncore cycles; queue %lld, before it %lld core cycles, the row %lld\n", machine, value ? value : "",
	        (long long)a->entries_milli, (long long)a->table_milli[LATENCY_ALONE], (long long)a->table_milli[LATENCY_LOADED], (long long)a->home_milli[LATENCY_ALONE],
	        (long long)a->home_milli[LATENCY_LOADED], (long long)queue, (long long)before, (long long)row->value_milli);
	within(machine, "alone in the table", a->table_milli[LATENCY_ALONE], chase->queue.miss_milli >= 0 ? chase->queue.miss_milli : chase->queue.uncore_milli);
	within(machine, "queue and what is before it are", queue + before, row->value_milli);
	assert_true(queue > 0 && llabs((long long)before) <= row->value_milli * before_percent / 100);
	assert_int_equal(home, a->home_milli[LATENCY_ALONE] >= 0);
	if (home && chase->queue.miss_milli < 0)
		within(machine, "home and DRAM are", core_milli(chase, a->home_milli[LATENCY_ALONE]), mul_div((int64_t)machine_field(&fields, "dram", "local_ps"), (int64_t)chase->core_hz, 1000000000));
	loop_close(&r);
	free(format);
	free(text);
}

/* If the table has room, the penalty is the queue of the channels, be they fast or slow. Nehalem's table fills first; with twice the entries most of
 * its penalty is the channels' queue. */
static void test_uncore_latency_under_load_taken_apart(void **state)
{
	(void)state;
	under_load("haswell-ep", NULL, NULL, NULL, 5, true);
	under_load("haswell-ep", "dram", "channel_bytes_per_second", "8000000000", 5, true);
	under_load("skylake-sp", NULL, NULL, NULL, 5, false);
	under_load("nehalem-ep", NULL, NULL, NULL, 95, true);
	under_load("nehalem-ep", "gq", "read", "64", 20, true);
}

/* Loads in order hit the open DRAM page; random loads miss it. */
static void test_uncore_latency_tells_pages(void **state)
{
	(void)state;
	char *text = loop_built_in_changed("haswell-ep", "dram.open_page=1,dram.page_hit_ps=12000,dram.page_miss_ps=15000");
	loop_open(&r, text);
	loop_suite(&r, "load.dram_local.latency,load.dram_page_hit.latency");
	const struct row_result *random = memory_host_result(&r.host, "load.dram_local.latency"), *hit = memory_host_result(&r.host, "load.dram_page_hit.latency");
	assert_true(random && hit && random->queue.breakdown.there && hit->queue.breakdown.there);
	fprintf(stderr, "pages open, empty, other: at random %lld %lld %lld, in order %lld %lld %lld\n", (long long)random->queue.breakdown.pages_milli[0],
	        (long long)random->queue.breakdown.pages_milli[1], (long long)random->queue.breakdown.pages_milli[2], (long long)hit->queue.breakdown.pages_milli[0],
	        (long long)hit->queue.breakdown.pages_milli[1], (long long)hit->queue.breakdown.pages_milli[2]);
	assert_true(random->queue.breakdown.pages_milli[BREAKDOWN_PAGE_MISS] > 900);
	assert_true(hit->queue.breakdown.pages_milli[BREAKDOWN_PAGE_HIT] > 900);
	loop_close(&r);
	free(text);
}

/* Rows about open pages are ok only where the memory controller's counts show page hits, or page misses of the test and hits of the baseline. */
static void page_rows(const char *machine, const char *open_page, const char *page_bytes, enum row_status hit, enum row_status miss)
{
	char list[120];
	snprintf(list, sizeof(list), "dram.open_page=%s,dram.page_hit_ps=12000,dram.page_miss_ps=15000,dram.page_bytes=%s", open_page, page_bytes);
	char *text = loop_built_in_changed(machine, list);
	loop_open(&r, text);
	loop_suite(&r, "load.dram_page_*");
	const struct row_result *h = memory_host_result(&r.host, "load.dram_page_hit.latency"), *m = memory_host_result(&r.host, "load.dram_page_miss.penalty");
	fprintf(stderr, "%s, open_page %s, %s bytes: %s (%s%s), %s (%s%s)\n", machine, open_page, page_bytes, row_status_name(h->status), h->reason,
	        h->status == ROW_OK ? h->proof : "", row_status_name(m->status), m->reason, m->status == ROW_OK ? m->proof : "");
	assert_int_equal(h->status, hit);
	assert_int_equal(m->status, miss);
	assert_true(hit != ROW_OK || strstr(h->proof, "DRAM pages hit "));
	assert_true(hit != ROW_UNSUPPORTED || (h->absent && m->absent && !h->samples));
	loop_close(&r);
	free(text);
}

static void test_page_state_is_proved_by_the_memory_controller(void **state)
{
	(void)state;
	page_rows("haswell-ep", "1", "8192", ROW_OK, ROW_OK);
	page_rows("nehalem-ep", "1", "8192", ROW_OK, ROW_OK);
	page_rows("haswell-ep", "1", "512", ROW_UNSUPPORTED, ROW_UNSUPPORTED); /* too few lines per page */
	page_rows("nehalem-ep", "1", "128", ROW_UNSUPPORTED, ROW_UNSUPPORTED);
	page_rows("haswell-ep", "1", "64", ROW_UNSUPPORTED, ROW_UNSUPPORTED);
	page_rows("haswell-ep", "0", "8192", ROW_UNSUPPORTED, ROW_UNSUPPORTED);
	page_rows("nehalem-ep", "0", "8192", ROW_UNSUPPORTED, ROW_UNSUPPORTED);
	page_rows("core2", "1", "8192", ROW_UNPROVEN, ROW_UNPROVEN);
}

/* Rows in memory where the banks hold a part of their array open: `why` is in the reason of each, NULL: they are ok. */
static void rows_of_few_pages(const char *machine, const char *list, const char *rows_asked, unsigned rows_there, const char *why)
{
	char *text = loop_built_in_changed(machine, list);
	unsigned there = 0;

	loop_open(&r, text);
	loop_suite(&r, rows_asked);
	for (unsigned i = 0; i < r.host.result_count; i++) {
		const struct row_result *row = &r.host.results[i];

		if (row->status == ROW_UNSUPPORTED)
			continue;
		there++;
		fprintf(stderr, "%s, %s, %s: %s, %lld, %s\n", machine, list, row->name, row_status_name(row->status), (long long)row->value_milli, row->reason);
		assert_int_equal(row->status, why ? ROW_UNPROVEN : ROW_OK);
		assert_true(!why || strstr(row->reason, why));
	}
	assert_int_equal(there, rows_there);
	loop_close(&r);
	free(text);
}

/* A chase in random order is not memory's latency where the banks hold a part of its array open: through an L3 of 4 MiB six times 132 cycles for 191, over 32 MiB
 * 178 for 191. Counts show it, or that loads take longer where the banks have other pages open. */
static void test_page_state_of_a_chase_through_few_pages(void **state)
{
	(void)state;
#define BANKS(open, banks, bytes) "l3.bytes=4194304,dram.channels=2,dram.open_page=" #open ",dram.banks=" #banks ",dram.page_bytes=" #bytes ",dram.page_hit_ps=25000,dram.page_miss_ps=5000"
#define SPARSE "load.dram_local.*,load.dram_remote.*,load.dram_distant.*"
	rows_of_few_pages("nehalem-ep", BANKS(1, 256, 16384), "load.dram_local_big.latency", 1, "hit per load: 0.");
	rows_of_few_pages("nehalem-ep", BANKS(1, 16, 8192), "load.dram_local_big.latency", 1, NULL);
	rows_of_few_pages("nehalem-ep", BANKS(0, 256, 16384), "load.dram_local_big.latency", 1, NULL);
	rows_of_few_pages("nehalem-ep", BANKS(1, 256, 16384), SPARSE, 4, "hit per load: 0.");
	rows_of_few_pages("nehalem-ep", BANKS(1, 16, 8192), SPARSE, 4, NULL);
	rows_of_few_pages("skylake", BANKS(1, 256, 16384), SPARSE, 2, "where none is open");
	rows_of_few_pages("skylake", BANKS(1, 256, 16384) ",dram.channels=8", SPARSE, 2, "where none is open"); /* all of them open: 157 cycles for 259 */
	rows_of_few_pages("skylake", BANKS(1, 16, 8192), SPARSE, 2, NULL);
	rows_of_few_pages("core2", "dram.channels=2,dram.open_page=1,dram.banks=128,dram.page_bytes=16384", SPARSE, 4, "where none is open");
	rows_of_few_pages("core2", "dram.channels=8,dram.open_page=1,dram.banks=256,dram.page_bytes=16384,dram.page_hit_ps=25000,dram.page_miss_ps=5000", SPARSE, 4, "where none is open"); /* twice the array: 120 cycles for 210 */
	rows_of_few_pages("core2", "dram.channels=16,dram.open_page=1,dram.banks=256,dram.page_bytes=65536", SPARSE, 4, "where none is open"); /* the most that a machine file may have */
	rows_of_few_pages("core2", "dram.channels=2,dram.open_page=1,dram.banks=64,dram.page_bytes=16384", SPARSE, 4, "where none is open"); /* 2 MiB of 32: 3 to 4 % low */
	rows_of_few_pages("core2", "dram.channels=2,dram.open_page=1,dram.banks=16,dram.page_bytes=8192", SPARSE, 4, NULL);
	rows_of_few_pages("alder-lake-n", "dram.channels=7,dram.open_page=1,dram.banks=64,dram.page_bytes=16384", SPARSE, 2, "where none is open"); /* large pages in pieces: 302 cycles for 314 */
	rows_of_few_pages("alder-lake-n", "dram.channels=1,dram.open_page=1,dram.banks=16,dram.page_bytes=8192", SPARSE, 2, NULL);
	rows_of_few_pages("skylake", BANKS(0, 256, 16384), SPARSE, 2, NULL);
#undef BANKS
#undef SPARSE
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uncore_latency_taken_apart),
		cmocka_unit_test(test_uncore_latency_of_another_machine),
		cmocka_unit_test(test_uncore_latency_under_load_taken_apart),
		cmocka_unit_test(test_uncore_latency_tells_pages),
		cmocka_unit_test(test_page_state_is_proved_by_the_memory_controller),
		cmocka_unit_test(test_page_state_of_a_chase_through_few_pages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
