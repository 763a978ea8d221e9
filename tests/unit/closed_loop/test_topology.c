/* Rows of several cores on unusual topologies: several memory nodes a socket, as the machine files have them; and cores that CPUID groups wrongly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/closed_loop.h"
#include "tests/unit/support/loop_meets.h"

/* Sub-NUMA clustering: memory of another node of the socket, the part of the L3 that a node's lines have, cores of other nodes. In a row of three nodes, and in two
 * rows of two on a single socket, which has no remote memory. */
static void test_topology_nodes_of_a_socket_are_found(void **state)
{
	(void)state;
#define OF_NODES "load.l3.latency,load.l3_*_other_core.*,load.dram_local.latency,load.dram_distant.*,load.dram_remote.*,load.other_complex_*,core_to_core.*_same_socket.*," \
	"core_to_core.*_other_complex.*,load.dram_loaded.penalty,triad.dram.bandwidth,read.l3_all.bandwidth,read.node_*.bandwidth"
	static const struct { const char *sockets, *cores, *nodes, *slices, *bytes, *channels, *agents; unsigned met; } shapes[] = {
		{ "2", "6", "3", "6", "37748736", "6", "2", 23 }, { "1", "8", "4", "8", "50331648", "8", "4", 21 },
	};
	static struct loop_run r;
	unsigned missed;

	for (unsigned i = 0; i < COUNT_OF(shapes); i++) {
		const char *const lines[][3] = { { "topology", "sockets", shapes[i].sockets }, { "topology", "cores", shapes[i].cores }, { "topology", "nodes", shapes[i].nodes },
			{ "l3", "slices", shapes[i].slices }, { "l3", "bytes", shapes[i].bytes }, { "l3", "far_uncore_cycles", "15" }, { "l3", "far_row_uncore_cycles", "26" },
			{ "dram", "channels", shapes[i].channels }, { "uncore", "home_agents", shapes[i].agents } };
		char *text = loop_machine("ice-lake-sp", lines, COUNT_OF(lines));
		loop_open(&r, text);
		loop_suite(&r, OF_NODES);
		assert_true(loop_meets(&r, text, &missed) >= shapes[i].met);
		assert_int_equal(missed, 0);
		assert_int_equal(memory_host_result(&r.host, "load.dram_distant.latency")->status, ROW_OK);
		if (shapes[i].sockets[0] == '1')
			assert_string_equal(memory_host_result(&r.host, "load.dram_remote.latency")->reason, "no memory node of another socket");
		assert_int_equal(r.guard.refused, 0);
		loop_close(&r);
		free(text);
	}
}

/* Firmware that numbers six cores of two L2s in one go: by CPUID four of them share the first. */
static struct { struct access_ops ops; const struct access *under; } numbered;

static enum status numbered_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
	const enum status st = numbered.under->ops->cpuid(self, core, leaf, subleaf, out);

	if (leaf == 1)
		out->ebx = (out->ebx & 0xFFFFFF) | core << 24;
	return st;
}

/* Fewer than half of the pairs have another relation than CPUID says: the median does not show it, the pairs' own counts do. */
static void test_topology_pairs_of_another_relation_are_unproven(void **state)
{
	(void)state;
	static const char *const threes[][3] = { { "topology", "sockets", "1" }, { "topology", "cores", "6" }, { "l2", "cores", "3" } };
	static const struct { const char *row, *reason; } pairs[] = {
		{ "core_to_core.clean_same_l2.latency", "6 of 14 pairs contradict it: lines of core 3, loaded by core 0: L2_LINES_IN.SELF.ANY 1.000 per load" },
		{ "core_to_core.modified_same_socket.latency", "4 of 16 pairs contradict it: lines of core 4, loaded by core 3: MEM_LOAD_RETIRED.L2_LINE_MISS 0.000 per load" },
	};
	static struct loop_run r;
	static struct access with;
	char *text = loop_machine("core2", threes, COUNT_OF(threes));

	loop_open(&r, text);
	with = r.guard.access;
	numbered.under = &with;
	numbered.ops = *with.ops;
	numbered.ops.cpuid = numbered_cpuid;
	r.guard.access.ops = &numbered.ops;
	loop_suite(&r, "core_to_core.clean_same_l2.latency,core_to_core.modified_same_socket.latency");
	r.guard.access.ops = with.ops;
	for (unsigned i = 0; i < COUNT_OF(pairs); i++) {
		assert_int_equal(memory_host_result(&r.host, pairs[i].row)->status, ROW_UNPROVEN);
		assert_string_equal(memory_host_result(&r.host, pairs[i].row)->reason, pairs[i].reason);
	}
	assert_int_equal(r.guard.refused, 0);
	loop_close(&r);
	free(text);
}

/* An L3 that takes only evicted lines has no copy of what two cores read from memory: one of them forwards it, and no event counts a hit without a snoop. */
static void test_topology_a_sharer_forwards_what_the_l3_lacks(void **state)
{
	(void)state;
	static const char *const tiger[][3] = { { "cpuid", "model", "140" }, { "topology", "sockets", "1" }, { "topology", "cores", "3" }, { "pmu", "uncore", "none" } };
	static struct loop_run r;
	char *text = loop_machine("ice-lake-sp", tiger, COUNT_OF(tiger));

	loop_open(&r, text);
	loop_suite(&r, "load.l3_shared.latency,load.l3_clean_other_core.latency");
	const struct row_result *shared = memory_host_result(&r.host, "load.l3_shared.latency");
	assert_string_equal(shared->reason, "");
	assert_int_equal(shared->status, ROW_OK);
	assert_int_equal(shared->value_milli / 1000, memory_host_result(&r.host, "load.l3_clean_other_core.latency")->value_milli / 1000);
	assert_int_equal(r.guard.refused, 0);
	loop_close(&r);
	free(text);
}

/* Granite Rapids has no event of another node's memory of the same socket. Its event of another socket's memory counts none of it, and is not asked on one socket:
 * the L3's misses prove the rows. */
static void test_topology_nodes_of_one_socket_are_not_counted_as_remote(void **state)
{
	(void)state;
	static const char *const granite[][3] = { { "cpuid", "model", "173" }, { "topology", "sockets", "1" }, { "topology", "cores", "4" }, { "topology", "nodes", "2" },
		{ "l3", "slices", "4" }, { "l3", "bytes", "15728640" }, { "pmu", "latency_auxiliary", "0" }, { "pmu", "uncore", "none" } };
	static struct loop_run r;
	char *text = loop_machine("sapphire-rapids", granite, COUNT_OF(granite));

	loop_open(&r, text);
	loop_suite(&r, "read.node_remote.bandwidth,copy.node_remote_nt.bandwidth");
	assert_int_equal(r.host.result_count, 2);
	for (unsigned i = 0; i < r.host.result_count; i++) {
		assert_string_equal(r.host.results[i].reason, "");
		assert_int_equal(r.host.results[i].status, ROW_OK);
		assert_non_null(strstr(r.host.results[i].proof, "LONGEST_LAT_CACHE.MISS"));
	}
	assert_int_equal(r.guard.refused, 0);
	loop_close(&r);
	free(text);
}

/* Westmere-EP's one event of the L3's misses counts memory and other sockets' caches alike: a proof that it occurs as the one and never as the other is none. */
static void test_topology_one_event_of_all_misses_tells_no_other_socket(void **state)
{
	(void)state;
	static const char *const westmere[][3] = { { "cpuid", "model", "44" }, { "topology", "cores", "2" } };
	static struct loop_run r;
	char *text = loop_machine("nehalem-ep", westmere, COUNT_OF(westmere));

	loop_open(&r, text);
	loop_suite(&r, "core_to_core.clean_other_socket.latency");
	const struct row_result *row = memory_host_result(&r.host, "core_to_core.clean_other_socket.latency");
	assert_int_equal(row->status, ROW_UNPROVEN);
	assert_string_equal(row->reason, "this processor has no event that proves it: its list of events has none of it");
	assert_int_equal(r.sum.unexpected, 0);
	loop_close(&r);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_topology_nodes_of_a_socket_are_found), cmocka_unit_test(test_topology_pairs_of_another_relation_are_unproven),
		cmocka_unit_test(test_topology_a_sharer_forwards_what_the_l3_lacks), cmocka_unit_test(test_topology_nodes_of_one_socket_are_not_counted_as_remote),
		cmocka_unit_test(test_topology_one_event_of_all_misses_tells_no_other_socket) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
