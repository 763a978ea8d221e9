/* On simulated machines the bytes counted by memory channel and by link between sockets are those that the rows of streams move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/catalogue/kernel.h"
#include "bench/multicore/multicore.h"
#include "bench/uncore/traffic.h"
#include "tests/unit/support/closed_loop.h"

static struct loop_run r;

/* n places share `total` bytes/s evenly, within 1 %; if `total` is 0, each has at most 1 % of an even share of the row's bytes/s. */
static void shared(const struct row_result *row, const char *what, const int64_t *bytes, unsigned n, int64_t total)
{
	const int64_t slack = (total ? total : row->value_milli / 1000) / 100 / n;
	for (unsigned i = 0; i < n; i++)
		if (bytes[i] < total / n - slack || bytes[i] > total / n + slack)
			fail_msg("%s: %s %u: %lld bytes/s, not %lld", row->name, what, i, (long long)bytes[i], (long long)total / n);
}

struct moved { int64_t read, written, received, sent; };

static void socket_moved(const struct row_result *row, unsigned at, unsigned channels, unsigned links, struct moved m)
{
	const struct traffic_socket *s = &row->traffic.at[at];
	assert_int_equal(s->channels, channels);
	assert_int_equal(s->links, links);
	shared(row, "read from channel", &s->bytes[TRAFFIC_READ], channels, m.read);
	shared(row, "written to channel", &s->bytes[TRAFFIC_WRITE], channels, m.written);
	shared(row, "received by link", &s->bytes[TRAFFIC_RECEIVED], links, m.received);
	shared(row, "sent by link", &s->bytes[TRAFFIC_SENT], links, m.sent);
}

static const struct row_result *result(const char *name)
{
	const struct row_result *row = memory_host_result(&r.host, name);
	assert_non_null(row);
	if (row->status != ROW_OK)
		fail_msg("%s: %s", name, row->reason);
	return row;
}

/* The requesting socket's links receive and send what the other socket's channels read and write, in the kernel's proportion of reads
 * and writes; nothing else moves. */
static void from_node_to_node(unsigned channels, unsigned links)
{
	static const struct { const char *name; unsigned reads, writes; } streams[] = {
		{ "read.node_remote.bandwidth", 1, 0 }, { "write.node_remote_nt.bandwidth", 0, 1 },
		{ "copy.node_remote_nt.bandwidth", 1, 1 }, { "triad.node_remote_nt.bandwidth", 2, 1 },
	};
	loop_suite(&r, "*.node_remote*");
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		const struct row_result *row = result(streams[i].name);
		const int64_t part = row->value_milli / 1000 / (streams[i].reads + streams[i].writes), in = part * streams[i].reads, out = part * streams[i].writes;
		assert_int_equal(row->traffic.sockets, 2);
		assert_int_not_equal(row->traffic.at[0].socket, row->traffic.at[1].socket);
		socket_moved(row, 0, channels, links, (struct moved){ .received = in, .sent = out });
		socket_moved(row, 1, channels, links, (struct moved){ .read = in, .written = out, .received = out, .sent = in });
		print_message("# %s: %lld MB/s read, %lld written, over %u links\n", row->name, (long long)in / 1000000, (long long)out / 1000000, links);
	}
}

static void test_traffic_between_nodes_by_channel_and_link(void **state)
{
	(void)state;
	loop_open(&r, loop_built_in("haswell-ep"));
	from_node_to_node(4, 2);
	loop_close(&r);
}

static void test_traffic_over_one_link_is_counted_there(void **state)
{
	(void)state;
	char *one = loop_changed(loop_built_in("haswell-ep"), "uncore", "qpi_links", "1");
	loop_open(&r, one);
	from_node_to_node(4, 1);
	loop_close(&r);
	free(one);
}

/* If each core uses its own node's memory, each socket moves half of all bytes and the links none; with one core its socket moves all. */
static void test_traffic_within_nodes_stays_off_the_links(void **state)
{
	(void)state;
	loop_open(&r, loop_built_in("haswell-ep"));
	loop_suite(&r, "read.dram_all.bandwidth,read.dram.bandwidth");
	const struct row_result *all = result("read.dram_all.bandwidth"), *one = result("read.dram.bandwidth");
	assert_int_equal(all->traffic.sockets, 2);
	for (unsigned i = 0; i < 2; i++)
		socket_moved(all, i, 4, 2, (struct moved){ .read = all->value_milli / 2000 });
	assert_int_equal(one->traffic.sockets, 1);
	socket_moved(one, 0, 4, 2, (struct moved){ .read = one->value_milli / 1000 });
	loop_close(&r);
}

/* A processor whose uncore does not count links still counts channels, of both sockets. */
static void test_traffic_without_link_events_has_its_channels(void **state)
{
	(void)state;
	loop_open(&r, loop_built_in("nehalem-ep"));
	loop_suite(&r, "read.node_remote.bandwidth");
	const struct row_result *row = result("read.node_remote.bandwidth");
	assert_int_equal(row->traffic.sockets, 2);
	assert_int_equal(row->traffic.at[0].links + row->traffic.at[1].links, 0);
	assert_int_equal(row->traffic.at[1].channels, 3);
	shared(row, "read from channel", &row->traffic.at[1].bytes[TRAFFIC_READ], 3, row->value_milli / 1000);
	shared(row, "read from own channel", &row->traffic.at[0].bytes[TRAFFIC_READ], 3, 0);
	loop_close(&r);
}

/* The channels' counts in MB/s during a stream of 1,000 MB/s: a few lines of other work leave the row ok; lines that are not written back, or that belong to
 * another node, do not. */
static void test_traffic_is_held_against_the_arrays(void **state)
{
	static const struct { const char *row, *kernel; int64_t read, written; unsigned channels; enum row_status status; } cases[] = {
		{ "copy.dram.bandwidth", "k_copy_sse2", 1000, 500, 3, ROW_OK }, { "copy.dram.bandwidth", "k_copy_sse2", 1000, 420, 3, ROW_UNPROVEN },
		{ "copy.dram.bandwidth", "k_copy_sse2", 1000, 580, 3, ROW_UNPROVEN }, { "copy.dram.bandwidth", "k_copy_sse2", 500, 250, 3, ROW_OK },
		{ "read.dram.bandwidth", "k_read_sse2", 1000, 5, 3, ROW_OK }, { "read.dram.bandwidth", "k_read_sse2", 10, 0, 3, ROW_UNPROVEN },
		{ "read.dram.bandwidth", "k_read_sse2", 1000, 100, 3, ROW_UNPROVEN }, { "write.dram_nt.bandwidth", "k_write_nt_sse2", 5, 1000, 3, ROW_OK },
		{ "write.dram_nt.bandwidth", "k_write_nt_sse2", 1000, 1000, 3, ROW_UNPROVEN }, { "triad.dram.bandwidth", "k_triad_sse2", 1000, 333, 3, ROW_OK },
		{ "triad.dram.bandwidth", "k_triad_sse2", 1000, 0, 3, ROW_UNPROVEN }, { "triad.dram.bandwidth", "k_triad_sse2", 0, 0, 0, ROW_OK },
		{ "triad.l3.bandwidth", "k_triad_sse2", 0, 0, 3, ROW_OK },
	};

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		static struct row_result out;

		out = (struct row_result){ .row = row_find(cases[i].row), .status = ROW_OK, .value_milli = 1000000000000 };
		out.traffic.sockets = 1;
		out.traffic.at[0].channels = cases[i].channels;
		out.traffic.at[0].bytes[TRAFFIC_READ + 1] = cases[i].read * 1000000;
		out.traffic.at[0].bytes[TRAFFIC_WRITE + 2] = cases[i].written * 1000000;
		traffic_judge(kernel_find(cases[i].kernel), &out);
		if (out.status != cases[i].status)
			fail_msg("%s, read %lld, written %lld: %s", cases[i].row, (long long)cases[i].read, (long long)cases[i].written, out.reason);
	}
}

/* Two cores of a virtual machine read 4.2 GB/s, one of them alone 15.2 GB/s: such a row is noisy. */
static void test_traffic_of_all_cores_below_that_of_fewer_is_noisy(void **state)
{
	static const unsigned cores[] = { 1, 2 };
	static const struct { int64_t one; bool noisy; enum row_status before, after; const char *reason, *why; } cases[] = {
		{ 15203, true, ROW_UNPROVEN, ROW_UNPROVEN, "no counters", "no counters; noisy: 1 core moved more, 15.203 GB/s" }, { 15203, false, ROW_OK, ROW_NOISY, "", "1 core moved more, 15.203 GB/s" },
		{ 5000, false, ROW_OK, ROW_OK, "", "" }, { 2000, false, ROW_UNPROVEN, ROW_UNPROVEN, "no counters", "no counters" },
	};

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		struct row_result out = { .status = cases[i].before, .samples = 15, .value_milli = 4183000000000 };

		strcpy(out.reason, cases[i].reason);
		multicore_judge_points(cores, (int64_t[]){ cases[i].one * 1000000000, out.value_milli }, 2, &out);
		assert_int_equal(out.status, cases[i].after);
		assert_string_equal(out.reason, cases[i].why);
		assert_int_equal(out.noisy, cases[i].noisy || cases[i].after == ROW_NOISY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traffic_is_held_against_the_arrays),
		cmocka_unit_test(test_traffic_between_nodes_by_channel_and_link),
		cmocka_unit_test(test_traffic_over_one_link_is_counted_there),
		cmocka_unit_test(test_traffic_within_nodes_stays_off_the_links),
		cmocka_unit_test(test_traffic_without_link_events_has_its_channels),
		cmocka_unit_test(test_traffic_of_all_cores_below_that_of_fewer_is_noisy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
