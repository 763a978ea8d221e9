/* pmu/uncore/ on simulated Haswell-EP machines: the boxes that discovery finds on every variant, and the counts of known
 * traffic by channel, link, slice, rank and bank. Afterwards the registers are as found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/support/sim_look.h"
#include "tests/unit/rigs/uncore_rig.h"

static unsigned box_named(const struct uncore_rig *r, const char *name)
{
	const struct processor *p = r->cpu.processor;
	for (unsigned b = 0; b < p->box_count; b++)
		if (!strcmp(p->boxes[b].name, name))
			return b;
	fail_msg("no box %s", name);
	return 0;
}

static void no_finding(struct uncore_rig *r, const char *what)
{
	const struct sim_finding *f;
	if (sim_last_finding(r->sim, &f))
		fail_msg("%s: %x, %llx: %s", what, f->address, (unsigned long long)f->value, f->why);
}

/* --- discovery --------------------------------------------------------------------------------- */

/* Fields of machine files, and the boxes that each machine has: bit i is the i-th in the documents' order. */
static const struct variant {
	const char *what;
	unsigned slices, sbos, agents, channels, links, sockets, bus, step, reverse, hidden;
	uint32_t imc; /* by place: two agents with two channels each have places 0, 1, 4, 5 */
	unsigned buses[2], io_buses[2];
} variants[] = {
	{ "as built in", 18, 4, 2, 4, 2, 2, 127, 128, 0, 0, 0x33, { 127, 255 }, { 0, 128 } },
	{ "8 CBos, 2 SBos, 1 agent, 4 channels, 1 link, 1 socket", 8, 2, 1, 4, 1, 1, 127, 128, 0, 0, 0x0F, { 127 }, { 0 } },
	{ "12 CBos, 4 SBos, 2 agents, 4 channels", 12, 4, 2, 4, 2, 2, 63, 64, 0, 0, 0x33, { 63, 127 }, { 0, 64 } },
	{ "18 CBos, 2 agents, 8 channels, 3 links", 18, 4, 2, 8, 3, 2, 10, 20, 0, 0, 0xFF, { 10, 30 }, { 0, 11 } },
	{ "buses and nodes the other way round", 18, 4, 2, 4, 2, 2, 127, 128, 1, 0, 0x33, { 255, 127 }, { 128, 0 } },
	{ "2 SBos, 2 channels, buses next to each other", 8, 2, 1, 2, 1, 2, 3, 2, 1, 0, 0x03, { 5, 3 }, { 4, 0 } },
	{ "home agents hidden", 18, 4, 2, 4, 2, 2, 127, 128, 0, 4, 0x33, { 127, 255 }, { 0, 128 } },
	{ "memory controllers and IRP hidden", 18, 4, 2, 4, 2, 2, 127, 128, 0, 8 | 16, 0, { 127, 255 }, { 0, 128 } },
	{ "links and their stops hidden", 18, 4, 2, 4, 2, 2, 127, 128, 0, 32 | 64 | 128, 0x33, { 127, 255 }, { 0, 128 } },
	{ "count of SBos hidden", 18, 4, 2, 4, 2, 2, 127, 128, 0, 2, 0x33, { 127, 255 }, { 0, 128 } },
	{ "socket ids hidden", 18, 4, 2, 4, 2, 2, 127, 128, 0, 1, 0, { 0 }, { 0 } },
};

static struct machine machine_of(const struct variant *v)
{
	struct machine m = core_bench_machine("haswell-ep");
	m.l3_bytes = m.l3_bytes / m.l3_slices * v->slices;
	m.l3_slices = v->slices;
	m.topology_cores = 4; /* nothing here depends on it */
	m.topology_sockets = v->sockets;
	m.uncore_sbos = v->sbos;
	m.uncore_home_agents = v->agents;
	m.dram_channels = v->channels;
	m.uncore_qpi_links = v->links;
	m.uncore_bus = v->bus;
	m.uncore_bus_step = v->step;
	m.uncore_reverse = v->reverse;
	m.fault_uncore_hidden = v->hidden;
	return m;
}

static void expect_boxes(struct uncore_rig *r, const struct variant *v, unsigned socket, const char *name, uint32_t want)
{
	const unsigned b = box_named(r, name);
	if (r->u.present[socket][b] != want)
		fail_msg("%s: socket %u has %s %x, not %x", v->what, socket, name, (unsigned)r->u.present[socket][b], want);
	assert_true(!want || !r->u.box_absent[b]);
	if (!want && !r->u.box_absent[b])
		fail_msg("%s: no word about %s", v->what, name);
}

static void test_uncore_discovery_finds_exactly_what_is_there(void **state)
{
	(void)state;
	static struct uncore_rig r;
	for (unsigned i = 0; i < COUNT_OF(variants); i++) {
		const struct variant *v = &variants[i];
		const struct machine m = machine_of(v);
		const bool buses = !(v->hidden & 1);
		uncore_rig_open(&r, &m);
		assert_null(r.u.absent);
		assert_int_equal(r.u.sockets, v->sockets);
		for (unsigned s = 0; s < v->sockets; s++) {
			const unsigned links = (1u << v->links) - 1;
			assert_int_equal(r.u.bus[s].known, buses);
			if (buses && (r.u.bus[s].bus != v->buses[s] || (!(v->hidden & 16) && r.u.io_bus[s].bus != v->io_buses[s])))
				fail_msg("%s: socket %u is on bus %u and %u", v->what, s, r.u.bus[s].bus, r.u.io_bus[s].bus);
			expect_boxes(&r, v, s, "ubox", 1);
			expect_boxes(&r, v, s, "cbo", (1u << v->slices) - 1);
			expect_boxes(&r, v, s, "sbo", v->hidden & 3 ? 0 : (1u << v->sbos) - 1);
			expect_boxes(&r, v, s, "pcu", 1);
			expect_boxes(&r, v, s, "ha", v->hidden & 4 || !buses ? 0 : (1u << v->agents) - 1);
			expect_boxes(&r, v, s, "imc", v->imc);
			expect_boxes(&r, v, s, "irp", v->hidden & 16 || !buses ? 0 : 1);
			expect_boxes(&r, v, s, "qpi", v->hidden & 32 || !buses ? 0 : links);
			expect_boxes(&r, v, s, "r2pcie", v->hidden & 64 || !buses ? 0 : 1);
			expect_boxes(&r, v, s, "r3qpi", v->hidden & 128 || !buses ? 0 : links);
		}
		/* Discovery changes nothing. */
		for (unsigned n = 0; n < r.trace.count; n++)
			assert_true(r.entries[n].op != TRACE_PCI_WRITE32 && (r.entries[n].op != TRACE_WRMSR || r.entries[n].address == 0x1A4));
		no_finding(&r, v->what);
		uncore_rig_close(&r);
	}
	print_message("# %u variants: buses and boxes as the machine files have them\n", (unsigned)COUNT_OF(variants));
}

/* One socket's id is hidden: its I/O bus is not assigned to the other socket, whose own is nearer, and the boxes that are lacking are named. */
static void test_uncore_bus_of_devices_stays_with_its_socket(void **state)
{
	(void)state;
	static struct uncore_rig r;
	struct machine m = machine_of(&variants[0]);
	m.fault_uncore_hidden = 1;
	m.fault_uncore_hidden_unit = 1;
	uncore_rig_open(&r, &m);
	assert_false(r.u.bus[0].known || r.u.io_bus[0].known);
	assert_int_equal(r.u.bus[1].bus, 255);
	assert_int_equal(r.u.io_bus[1].bus, 128);
	assert_string_equal(r.u.box_partly[box_named(&r, "irp")], "irp 0 of socket 0: not there, though other sockets have it");
	assert_string_equal(r.u.box_partly[box_named(&r, "imc")], "imc 0 of socket 0: not there, though other sockets have it");
	uncore_rig_close(&r);
}

static void test_uncore_of_a_missing_box_is_refused_by_name(void **state)
{
	(void)state;
	static struct uncore_rig r;
	struct machine m = machine_of(&variants[6]);
	struct uncore_plan plan;
	const char *problem, *const ha[1] = { "UNC_H_REQUESTS.READS" }, *const cbo[1] = { "UNC_C_CLOCKTICKS" };
	uncore_rig_open(&r, &m);
	assert_int_equal(uncore_plan(&r.u, ha, 1, &plan, &problem), ST_UNSUPPORTED);
	assert_string_equal(problem, "UNC_H_REQUESTS.READS");
	assert_non_null(strstr(r.u.box_absent[box_named(&r, "ha")], "hidden"));
	assert_int_equal(uncore_plan(&r.u, cbo, 1, &plan, &problem), ST_OK);
	uncore_rig_close(&r);
	m = machine_of(&variants[0]);
	m.fault_uncore_stuck = 2; /* CBos' counters keep nothing */
	uncore_rig_open(&r, &m);
	assert_int_equal(uncore_plan(&r.u, cbo, 1, &plan, &problem), ST_OK);
	assert_int_equal(uncore_start(r.a, &r.u, &plan, 0, 0, r.lock.va), ST_UNSUPPORTED);
	assert_string_equal(r.u.box_absent[box_named(&r, "cbo")], "its counters do not keep what is written");
	assert_int_equal(uncore_plan(&r.u, cbo, 1, &plan, &problem), ST_UNSUPPORTED);
	uncore_rig_close(&r);
}

/* --- known traffic ----------------------------------------------------------------------------- */

enum { LINES = 65536 }; /* 4 MiB */

static void near(const char *what, const char *name, uint64_t v, uint64_t expect)
{
	const uint64_t slack = expect ? expect / 100 : LINES / 1000; /* if nothing is expected, code, stack and page tables may count */
	if (v + slack < expect || v > expect + slack)
		fail_msg("%s: %s is %llu, not %llu", what, name, (unsigned long long)v, (unsigned long long)expect);
}

/* Checks that the boxes of a slot share `total` evenly within 1 %. */
static void shared(struct uncore_rig *r, const char *what, const struct uncore_slot *slot, unsigned socket, uint64_t total)
{
	uint64_t v[UNCORE_INSTANCES_MAX];
	const unsigned b = (unsigned)(slot->box - r->cpu.processor->boxes), n = uncore_instances(&r->u, slot->box, socket);
	assert_int_equal(uncore_instance_values(r->a, &r->u, slot, socket, v), ST_OK);
	for (unsigned i = 0; i < UNCORE_INSTANCES_MAX; i++)
		if (r->u.present[socket][b] >> i & 1)
			near(what, slot->event->name, v[i], total / n);
		else
			assert_int_equal(v[i], 0);
}

/* The counts of an event for each line read and each line written. apart: the boxes share them evenly. */
struct truth { const char *name; bool apart; unsigned reads, writes; };
static const struct truth local[] = {
	{ "UNC_M_CAS_COUNT.RD", true, 1, 0 }, { "UNC_M_CAS_COUNT.WR", true, 0, 1 },
	{ "UNC_H_REQUESTS.READS_LOCAL", true, 1, 0 }, { "UNC_H_REQUESTS.WRITES_LOCAL", true, 0, 1 }, { "UNC_H_IMC_READS.NORMAL", true, 1, 0 },
	{ "UNC_C_LLC_LOOKUP.READ:state=0x7F", false, 1, 0 }, { "UNC_C_TOR_INSERTS.MISS_LOCAL_OPCODE:opc=0x182", false, 1, 0 },
	{ "UNC_C_TOR_INSERTS.MISS_REMOTE_OPCODE:opc=0x182", false, 0, 0 }, { "UNC_Q_TXL_FLITS_G0.DATA", false, 0, 0 },
};
static const struct truth far[] = { /* counted on socket 0, which makes the requests */
	{ "UNC_M_CAS_COUNT.RD", true, 0, 0 }, { "UNC_C_LLC_LOOKUP.READ:state=0x1", false, 1, 0 },
	{ "UNC_C_TOR_INSERTS.MISS_REMOTE_OPCODE:opc=0x182", false, 1, 0 },
	{ "UNC_Q_RXL_FLITS_G1.DRS_DATA", true, 8, 0 }, { "UNC_Q_RXL_FLITS_G1.DRS_NONDATA", true, 1, 0 },
	{ "UNC_Q_TXL_FLITS_G1.HOM_REQ", true, 1, 2 }, /* the request for ownership, and the line */ { "UNC_Q_TXL_FLITS_G0.DATA", true, 0, 8 },
};
static const struct truth home[] = { /* counted on socket 1, whose memory it is */
	{ "UNC_M_CAS_COUNT.RD", true, 1, 0 }, { "UNC_M_CAS_COUNT.WR", true, 0, 1 }, { "UNC_H_REQUESTS.READS_REMOTE", true, 1, 0 },
	{ "UNC_H_REQUESTS.WRITES_REMOTE", true, 0, 1 }, { "UNC_Q_TXL_FLITS_G1.DRS", true, 9, 0 }, { "UNC_Q_RXL_FLITS_G1.DRS_DATA", true, 0, 8 },
};

/* Counts, on a socket, the traffic of a kernel that reads lines of a node, or writes them past the caches, or both. */
static void traffic(const struct machine *m, const char *what, const char *kernel, unsigned node, unsigned socket, unsigned reads,
                    unsigned writes, const struct truth *t, unsigned count)
{
	static struct uncore_rig r;
	const char *names[UNCORE_EVENTS_MAX];
	struct uncore_plan plan;
	uint64_t v[UNCORE_EVENTS_MAX];
	for (unsigned i = 0; i < count; i++)
		names[i] = t[i].name;
	uncore_rig_open(&r, m);
	const uint64_t to = RIG_ARRAY(node), from = to + RIG_BYTES / 2;
	uncore_rig_start(&r, &plan, names, count, socket);
	uncore_rig_run(&r, 0, kernel, (uint64_t[]){ to, from, 0, LINES / 4, RIG_BYTES / 2 - 1, 0 }, 6);
	assert_int_equal(uncore_values(r.a, &r.u, &plan, 0, socket, v), ST_OK);
	for (unsigned i = 0; i < count; i++) {
		const uint64_t expect = (uint64_t)LINES * (t[i].reads * reads + t[i].writes * writes);
		near(what, names[i], v[i], expect);
		if (t[i].apart && expect)
			shared(&r, what, &plan.slots[i], socket, expect);
	}
	assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, socket), ST_OK);
	no_finding(&r, what);
	uncore_rig_close(&r);
}

static void test_uncore_known_traffic_within_one_percent(void **state)
{
	(void)state;
	static const struct { const char *name, *kernel; unsigned reads, writes; } kernels[] = {
		{ "read", "k_read_sse2", 1, 0 }, { "write", "k_write_nt_sse2", 0, 1 }, { "copy", "k_copy_nt_sse2", 1, 1 },
	};
	for (unsigned v = 0; v < 4; v++) {
		const struct machine m = machine_of(&variants[v]);
		for (unsigned k = 0; k < COUNT_OF(kernels); k++) {
			char what[160];
			snprintf(what, sizeof(what), "%s: %s of %u lines", variants[v].what, kernels[k].name, LINES);
			traffic(&m, what, kernels[k].kernel, 0, 0, kernels[k].reads, kernels[k].writes, local, COUNT_OF(local));
			if (m.topology_sockets < 2)
				continue;
			traffic(&m, what, kernels[k].kernel, 1, 0, kernels[k].reads, kernels[k].writes, far, COUNT_OF(far));
			traffic(&m, what, kernels[k].kernel, 1, 1, kernels[k].reads, kernels[k].writes, home, COUNT_OF(home));
		}
	}
	print_message("# %u lines read, written and copied, of this node and the other: channels, agents, links and slices within 1 %%\n", LINES);
}

/* --- rank and bank, credits -------------------------------------------------------------------- */

/* Consecutive pages lie in consecutive banks, 16 or 32 of them: each bank has the same share. */
static void banks_of(unsigned banks, const char *kernel, const char *of, const char *total)
{
	static struct uncore_rig r;
	struct machine m = machine_of(&variants[3]);
	char names[4][64];
	const char *asked[5] = { total, names[0], names[1], names[2], names[3] };
	struct uncore_plan plan;
	uint64_t v[5];
	static const char *const parts[4] = { "RANK0.ALLBANKS", "RANK0.BANK5", "RANK0.BANKG3", "RANK1.ALLBANKS" };
	const unsigned shares[4] = { 16, 1, 4, banks - 16 };
	m.dram_banks = banks;
	for (unsigned i = 0; i < 4; i++)
		snprintf(names[i], sizeof(names[i]), "UNC_M_%s_CAS_%s", of, parts[i]);
	uncore_rig_open(&r, &m);
	const char *problem = "";
	assert_int_equal(uncore_plan(&r.u, asked, COUNT_OF(asked), &plan, &problem), ST_OK);
	for (unsigned run = 0; run < plan.runs; run++) { /* a controller has four counters */
		assert_int_equal(uncore_start(r.a, &r.u, &plan, run, 0, r.lock.va), ST_OK);
		const uint64_t to = RIG_ARRAY(0), from = to + RIG_BYTES / 2;
		uncore_rig_run(&r, 0, kernel, (uint64_t[]){ to, from, 0, LINES / 4, RIG_BYTES / 2 - 1, 0 }, 6);
		assert_int_equal(uncore_values(r.a, &r.u, &plan, run, 0, v), ST_OK);
		assert_int_equal(uncore_stop(r.a, &r.u, &plan, run, 0), ST_OK);
		uncore_rig_run(&r, 0, "k_flush", (uint64_t[]){ to, LINES, 64 }, 3);
	}
	near("banks", total, v[0], LINES);
	for (unsigned i = 0; i < 4; i++)
		near("banks", names[i], v[1 + i], (uint64_t)LINES * shares[i] / banks);
	no_finding(&r, "banks");
	uncore_rig_close(&r);
}

static void test_uncore_column_accesses_by_rank_and_bank(void **state)
{
	(void)state;
	banks_of(16, "k_read_sse2", "RD", "UNC_M_CAS_COUNT.RD");
	banks_of(32, "k_read_sse2", "RD", "UNC_M_CAS_COUNT.RD");
	banks_of(32, "k_write_nt_sse2", "WR", "UNC_M_CAS_COUNT.WR");
}

/* Events of credits count 0, since the model's credits never run out; events that it lacks are flagged, not counted as 0. */
static void test_uncore_credits_never_run_out_and_what_is_lacking_is_flagged(void **state)
{
	(void)state;
	static struct uncore_rig r;
	static const char *const credits[] = { "UNC_H_RPQ_CYCLES_NO_REG_CREDITS.CHN0", "UNC_H_IGR_NO_CREDIT_CYCLES.AD_QPI0",
		"UNC_R3_QPI0_AD_CREDITS_EMPTY.VN0_HOM", "UNC_H_WPQ_CYCLES_NO_REG_CREDITS.CHN1" };
	static const char *const unmodelled[] = { "UNC_M_WPQ_WRITE_HIT", "UNC_M_WPQ_READ_HIT", "UNC_H_CONFLICT_CYCLES" };
	struct machine m = machine_of(&variants[0]);
	struct uncore_plan plan;
	uint64_t v[COUNT_OF(credits)], findings = 0;
	enum finding_kind kind;
	const char *why = NULL;
	uncore_rig_open(&r, &m);
	uncore_rig_start(&r, &plan, credits, COUNT_OF(credits), 0);
	uncore_rig_run(&r, 0, "k_read_sse2", (uint64_t[]){ RIG_ARRAY(1), RIG_ARRAY(1) + RIG_BYTES / 2, 0, LINES / 4, RIG_BYTES / 2 - 1, 0 }, 6);
	assert_int_equal(uncore_values(r.a, &r.u, &plan, 0, 0, v), ST_OK);
	for (unsigned i = 0; i < COUNT_OF(credits); i++)
		assert_int_equal(v[i], 0);
	no_finding(&r, "credits");
	assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 0), ST_OK);
	for (unsigned i = 0; i < COUNT_OF(unmodelled); i++) {
		uncore_rig_start(&r, &plan, &unmodelled[i], 1, 0);
		const uint64_t now = uncore_rig_findings(&r, &kind, &why);
		if (now <= findings || kind != FIND_UNMODELLED)
			fail_msg("%s is not flagged", unmodelled[i]);
		findings = now;
		assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 0), ST_OK);
	}
	uncore_rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uncore_discovery_finds_exactly_what_is_there),
		cmocka_unit_test(test_uncore_bus_of_devices_stays_with_its_socket),
		cmocka_unit_test(test_uncore_of_a_missing_box_is_refused_by_name),
		cmocka_unit_test(test_uncore_known_traffic_within_one_percent),
		cmocka_unit_test(test_uncore_column_accesses_by_rank_and_bank),
		cmocka_unit_test(test_uncore_credits_never_run_out_and_what_is_lacking_is_flagged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
