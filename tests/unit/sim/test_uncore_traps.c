/* Where the manual of Haswell-EP's uncore (331051-002) is damaged or wrong, the wrong reading fails and ours holds. Wrong readings of registers are put
 * into a copy of the processor's description and tried on the simulated machine; wrong unit masks and names are looked up. Two are not tested, since no
 * table of ours has the names: the table of the opcode filter (2-14 for 2-20), the exchanged words of PCIWiL and PCIWiLF. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/uncore/uncore_metric.h"
#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/rigs/uncore_rig.h"
#include "tests/unit/support/table_find.h"

static struct uncore_rig r;
static struct processor wrong;
static struct uncore_box boxes[UNCORE_BOXES_MAX];

static struct uncore_box *open_wrong(const char *box)
{
	const struct machine m = core_bench_machine("haswell-ep");
	uncore_rig_open(&r, &m);
	wrong = *r.cpu.processor;
	memcpy(boxes, wrong.boxes, wrong.box_count * sizeof(boxes[0]));
	wrong.boxes = boxes;
	for (unsigned i = 0; i < wrong.box_count; i++)
		if (!strcmp(boxes[i].name, box))
			return &boxes[i];
	fail_msg("no box %s", box);
	return NULL;
}

/* From here on driver and guard use the wrong description. */
static void believe(void)
{
	r.cpu.processor = &wrong;
	r.guard.processor = &wrong;
	assert_int_equal(uncore_find(r.a, &r.cpu, &r.u), ST_OK);
}

static void close_rig(void)
{
	(void)!msr_guard_restore(&r.guard); /* may fail after a wrong reading */
	r.guard.refused = 0;
	r.guard.count = 0;
	uncore_rig_close(&r);
}

static unsigned present(const struct uncore_box *b) { return uncore_instances(&r.u, b, 0); }

static const struct uncore_event *event(const char *name)
{
	const struct uncore_box *b;
	return uncore_event_find(processor_named("haswell-ep"), name, &b);
}

/* Counts events while a node's lines are read that no cache has. */
static enum status count(const char *const *names, unsigned n, unsigned node, uint64_t *v)
{
	struct uncore_plan plan;
	const char *problem;
	enum status st = uncore_plan(&r.u, names, n, &plan, &problem);
	if (st == ST_OK)
		st = uncore_start(r.a, &r.u, &plan, 0, 0, r.lock.va);
	if (st != ST_OK)
		return st;
	uncore_rig_run(&r, 0, "k_read_sse2", (uint64_t[]){ RIG_ARRAY(node), 0, 0, 1024, RIG_BYTES - 1, 0 }, 6); /* 4096 lines */
	assert_int_equal(uncore_values(r.a, &r.u, &plan, 0, 0, v), ST_OK);
	return uncore_stop(r.a, &r.u, &plan, 0, 0);
}

#define READS 4096
static bool all_reads(uint64_t v) { return v >= READS * 99 / 100 && v <= READS * 103 / 100; }

static void test_trap_exchanged_device_ids_find_no_channel(void **state)
{
	(void)state;
	static const struct uncore_device ids[8] = { { 0x2FB4, 20, 0 }, { 0x2FB5, 20, 1 }, { 0x2FB0, 21, 0 }, { 0x2FB1, 21, 1 },
		{ 0x2FD4, 23, 0 }, { 0x2FD5, 23, 1 }, { 0x2FD0, 24, 0 }, { 0x2FD1, 24, 1 } };
	struct uncore_box *imc = open_wrong("imc");
	assert_int_equal(present(r.cpu.processor->boxes + (imc - boxes)), 4);
	imc->devices = ids;
	believe();
	assert_int_equal(present(imc), 0);
	close_rig();
}

static void test_trap_irp_counters_of_ivy_bridge(void **state)
{
	(void)state;
	const char *const clocks[2] = { "UNC_I_CLOCKTICKS", "UNC_I_CLOCKTICKS" };
	uint64_t v[UNCORE_EVENTS_MAX];
	struct uncore_box *irp = open_wrong("irp");
	assert_int_equal(count(clocks, 2, 0, v), ST_OK);
	assert_true(v[0] > 1000 && v[0] == v[1]);
	irp->counter_stride = 0x10; /* A0, B0, B8, C0 */
	believe();
	if (count(clocks, 2, 0, v) == ST_OK)
		assert_true(v[1] != v[0]);
	close_rig();
}

static void test_trap_irp_is_not_on_the_bus_of_the_uncore(void **state)
{
	(void)state;
	struct uncore_box *irp = open_wrong("irp");
	assert_int_equal(present(r.cpu.processor->boxes + (irp - boxes)), 1);
	irp->io_bus = 0;
	believe();
	assert_int_equal(present(irp), 0);
	close_rig();
}

/* Tables say 48, 44 and both: the width is probed on the machine. */
static void test_trap_widths_are_probed(void **state)
{
	(void)state;
	const char *const clocks[4] = { "UNC_S_CLOCKTICKS", "UNC_R3_CLOCKTICKS", "UNC_C_CLOCKTICKS", "UNC_M_DCLOCKTICKS" };
	uint64_t v[UNCORE_EVENTS_MAX];
	struct uncore_plan plan;
	const char *problem;
	struct uncore_box *sbo = open_wrong("sbo");
	assert_int_equal(count(clocks, 4, 0, v), ST_OK);
	assert_int_equal(r.u.width[sbo - boxes], 44);
	assert_int_equal(uncore_plan(&r.u, clocks, 4, &plan, &problem), ST_OK);
	const unsigned widths[4] = { 44, 44, 48, 48 };
	for (unsigned i = 0; i < 4; i++) {
		/* from just below the end of the counter to just above 0 */
		const uint64_t end = 1ull << widths[i];
		assert_int_equal(r.u.width[plan.slots[i].box - r.cpu.processor->boxes], widths[i]);
		assert_int_equal(uncore_moved(&r.u, &plan.slots[i], end - 1000, 500), 1500);
	}
	const struct uncore unprobed = { .cpu = r.u.cpu };
	assert_true(uncore_moved(&unprobed, &plan.slots[0], (1ull << 44) - 1000, 500) != 1500); /* 48, as the manual has it for the SBo */
	close_rig();
}

/* The sample of 1.6.1: (mapping & (7 << 3 * i)) == nodeid. */
static void test_trap_bus_map_needs_a_shift(void **state)
{
	(void)state;
	unsigned ours = 0, samples = 0;
	(void)open_wrong("ubox");
	for (unsigned s = 0; s < 2; s++) {
		struct pci_address at = { .bus = r.u.bus[s].bus, .device = 16, .function = 5, .reg = 0x40 };
		uint32_t node, map;
		assert_int_equal(r.a->ops->pci_read32(r.a->self, at, &node), ST_OK);
		at.reg = 0x54;
		assert_int_equal(r.a->ops->pci_read32(r.a->self, at, &map), ST_OK);
		ours += (map >> 3 * s & 7) == (node & 7);
		samples += (map & 7u << 3 * s) == (node & 7);
	}
	assert_int_equal(ours, 2);
	assert_int_equal(samples, 1);
	wrong.buses.device.id = 0; /* the id of the UBox' function is not printed: without it there are no PCI boxes at all */
	believe();
	assert_false(r.u.bus[0].known);
	close_rig();
}

/* Table 2-44: 730 is called counter 1, it is counter 0 of the second box; a stride of sixteen would be the CBo's. */
static void test_trap_sbo_registers_are_ten_apart(void **state)
{
	(void)state;
	const char *const clock[1] = { "UNC_S_CLOCKTICKS" };
	uint64_t v[UNCORE_EVENTS_MAX], second;
	struct uncore_box *sbo = open_wrong("sbo");
	assert_int_equal(sbo->counter + sbo->stride, 0x730);
	assert_int_equal(count(clock, 1, 0, v), ST_OK);
	assert_int_equal(r.a->ops->rdmsr(r.a->self, 0, 0x730, &second), ST_OK);
	assert_int_equal(second * 4, v[0]);
	sbo->stride = 16;
	believe();
	assert_true(present(sbo) < 4 || count(clock, 1, 0, v) != ST_OK);
	close_rig();
}

static void test_trap_sbo_control_in_one_write(void **state)
{
	(void)state;
	const char *const clock[1] = { "UNC_S_CLOCKTICKS" };
	uint64_t v[UNCORE_EVENTS_MAX];
	struct uncore_box *sbo = open_wrong("sbo");
	sbo->box_steps = 0;
	believe();
	assert_int_equal(count(clock, 1, 0, v), ST_FAULT);
	close_rig();
}

static void test_trap_selects_that_latch_at_the_second_write(void **state)
{
	(void)state;
	static const struct { const char *box, *clock; } twice[] = { { "r2pcie", "UNC_R2_CLOCKTICKS" }, { "r3qpi", "UNC_R3_CLOCKTICKS" } };
	for (unsigned i = 0; i < COUNT_OF(twice); i++) {
		uint64_t v[UNCORE_EVENTS_MAX] = { 0 };
		enum finding_kind kind;
		struct uncore_box *b = open_wrong(twice[i].box);
		assert_int_equal(count(&twice[i].clock, 1, 0, v), ST_OK);
		assert_true(v[0] > 1000);
		assert_int_equal(uncore_rig_findings(&r, NULL, NULL), 0);
		b->select_writes = 1;
		believe();
		assert_int_equal(count(&twice[i].clock, 1, 0, v), ST_OK);
		assert_int_equal(v[0], 0);
		assert_true(uncore_rig_findings(&r, &kind, NULL) > 0);
		close_rig();
	}
}

/* The list of states lost its bits; LLC_LOOKUP.READ's filter is printed as 22:18. */
static void test_trap_states_begin_at_bit_17(void **state)
{
	(void)state;
	const char *const misses[1] = { "UNC_C_LLC_LOOKUP.READ:state=0x1" };
	static struct uncore_filter filters[UNCORE_FILTERS_MAX];
	uint64_t v[UNCORE_EVENTS_MAX];
	struct uncore_box *cbo = open_wrong("cbo");
	assert_int_equal(count(misses, 1, 0, v), ST_OK);
	assert_true(all_reads(v[0]));
	memcpy(filters, cbo->filters, cbo->filter_count * sizeof(filters[0]));
	for (unsigned f = 0; f < cbo->filter_count; f++)
		if (!strcmp(filters[f].name, "state")) {
			assert_int_equal(filters[f].low, 17);
			assert_int_equal(filters[f].high, 23);
			filters[f].low = 18, filters[f].high = 22;
		}
	cbo->filters = filters;
	believe();
	if (count(misses, 1, 0, v) == ST_OK)
		assert_false(all_reads(v[0]));
	close_rig();
}

/* MISS_OPCODE counts the misses of all nodes, whatever node is in the filter: those of one need NID_MISS_OPCODE, LOCAL or REMOTE. */
static void test_trap_miss_opcode_does_not_look_at_the_node(void **state)
{
	(void)state;
	/* a box has one filter register: the second event's node applies to all three */
	const char *const names[3] = { "UNC_C_TOR_INSERTS.MISS_OPCODE:opc=0x182", "UNC_C_TOR_INSERTS.NID_MISS_OPCODE:opc=0x182:nid=2",
		"UNC_C_TOR_INSERTS.MISS_LOCAL_OPCODE:opc=0x182" }, *const node_of_none = "UNC_C_TOR_INSERTS.MISS_OPCODE:opc=0x182:nid=2";
	uint64_t v[UNCORE_EVENTS_MAX];
	(void)open_wrong("cbo");
	assert_int_not_equal(count(&node_of_none, 1, 0, v), ST_OK);
	assert_int_equal(count(names, 3, 0, v), ST_OK);
	assert_true(all_reads(v[0]));
	assert_false(all_reads(v[1]));
	assert_true(all_reads(v[2]));
	close_rig();
}

/* The example of 2.1.2 programs 03 for LLC_VICTIMS, and preloads 2^48 - 1000 for the millionth event, without ov_en. */
static void test_trap_manuals_example_counts_nothing(void **state)
{
	(void)state;
	const struct access *a = sim_access(open_wrong("ha") ? r.sim : NULL);
	const struct pci_address select = { .bus = 127, .device = 18, .function = 1, .reg = 0xD8 }, low = { .bus = 127, .device = 18, .function = 1, .reg = 0xA0 },
		high = { .bus = 127, .device = 18, .function = 1, .reg = 0xA4 }, status = { .bus = 127, .device = 18, .function = 1, .reg = 0xF8 };
	uint64_t victims = 0, global;
	uint32_t bits;
	assert_int_equal(event("UNC_C_LLC_VICTIMS.M_STATE")->select, 0x37);
	assert_int_equal(a->ops->wrmsr(a->self, 0, 0xE01, 0x400103), ST_OK);
	assert_int_equal(a->ops->rdmsr(a->self, 0, 0xE08, &victims), ST_OK);
	assert_int_equal(victims, 0);
	assert_true(uncore_rig_findings(&r, NULL, NULL) > 0); /* not what it claims to be */
	for (unsigned ov_en = 0; ov_en < 2; ov_en++) {
		assert_int_equal(a->ops->pci_write32(a->self, low, (uint32_t)-1000), ST_OK);
		assert_int_equal(a->ops->pci_write32(a->self, high, 0xFFFF), ST_OK);
		assert_int_equal(a->ops->pci_write32(a->self, select, 0x400000u | ov_en << 20), ST_OK);
		uncore_rig_run(&r, 0, "k_read_sse2", (uint64_t[]){ RIG_ARRAY(0), 0, 0, 1024, RIG_BYTES - 1, 0 }, 6); /* far less than a million clocks */
		assert_int_equal(a->ops->pci_read32(a->self, status, &bits), ST_OK);
		assert_int_equal(bits, 1);
		assert_int_equal(a->ops->rdmsr(a->self, 0, 0x701, &global), ST_OK);
		assert_int_equal(global, ov_en ? 1u << 21 : 0); /* without ov_en no overflow is reported, and nothing stops */
		assert_int_equal(a->ops->pci_write32(a->self, status, 1), ST_OK);
		assert_int_equal(a->ops->pci_read32(a->self, status, &bits), ST_OK);
		assert_int_equal(bits, 0); /* written 1 to clear */
	}
	assert_int_equal(a->ops->wrmsr(a->self, 0, 0x701, 1u << 21), ST_OK);
	assert_int_equal(a->ops->rdmsr(a->self, 0, 0x701, &global), ST_OK);
	assert_int_equal(global, 0);
	close_rig();
}

/* The prose of 2.3.2.2 and 2.4.2.2 lets them freeze the socket; their selects have no ov_en. */
static void test_trap_cbo_and_sbo_do_not_stop_the_socket(void **state)
{
	(void)state;
	enum finding_kind kind;
	uint64_t v;
	const struct access *a = sim_access(open_wrong("cbo") ? r.sim : NULL);
	assert_int_equal(a->ops->wrmsr(a->self, 0, 0xE08, 0xFFFFFFFFFFF0ull), ST_OK);
	assert_int_equal(a->ops->wrmsr(a->self, 0, 0xE01, 0x500000), ST_OK);
	assert_true(uncore_rig_findings(&r, &kind, NULL) > 0);
	assert_int_equal(kind, FIND_RESERVED_IGNORED);
	uncore_rig_run(&r, 0, "k_read_sse2", (uint64_t[]){ RIG_ARRAY(0), 0, 0, 64, RIG_BYTES - 1, 0 }, 6);
	assert_int_equal(a->ops->rdmsr(a->self, 0, 0xE07, &v), ST_OK);
	assert_int_equal(v, 1);
	assert_int_equal(a->ops->rdmsr(a->self, 0, 0x701, &v), ST_OK);
	assert_int_equal(v, 0);
	close_rig();
}

/* The status register is called 32 bits wide; the IRP's bit is 34. */
static void test_trap_global_status_has_more_than_32_bits(void **state)
{
	(void)state;
	struct uncore_box *irp = open_wrong("ubox");
	uint64_t v;
	const struct access *a = sim_access(r.sim);
	struct pci_address at = { .bus = 0, .device = 5, .function = 6 };
	static const struct { uint16_t reg; uint32_t value; } writes[] = { { 0xA0, 0xFFFFFFF0 }, { 0xA4, 0xFFFF }, { 0xD8, 0x500000 } };
	for (unsigned i = 0; i < COUNT_OF(writes); i++) {
		at.reg = writes[i].reg;
		assert_int_equal(a->ops->pci_write32(a->self, at, writes[i].value), ST_OK);
	}
	uncore_rig_run(&r, 0, "k_read_sse2", (uint64_t[]){ RIG_ARRAY(0), 0, 0, 64, RIG_BYTES - 1, 0 }, 6);
	assert_int_equal(a->ops->rdmsr(a->self, 0, 0x701, &v), ST_OK);
	assert_int_equal(v, 1ull << 34);
	assert_true(irp->global_status_mask >> 34 & 1);
	close_rig();
}

/* Occupancies count on one counter only; on the others they read 0, and the machine flags it. */
static void test_trap_occupancy_on_another_counter_reads_0(void **state)
{
	(void)state;
	static struct uncore_event events[512];
	const char *const names[2] = { "UNC_C_CLOCKTICKS", "UNC_C_TOR_OCCUPANCY.ALL" };
	uint64_t v[UNCORE_EVENTS_MAX];
	enum finding_kind kind;
	struct uncore_box *cbo = open_wrong("cbo");
	assert_true(cbo->event_count < COUNT_OF(events));
	memcpy(events, cbo->events, cbo->event_count * sizeof(events[0]));
	for (unsigned i = 0; i < cbo->event_count; i++)
		if (!strcmp(events[i].name, names[1]))
			events[i].counter_mask = 0xF;
	cbo->events = events;
	believe();
	assert_int_equal(count(names, 2, 0, v), ST_OK);
	assert_int_equal(v[1], 0);
	assert_true(uncore_rig_findings(&r, &kind, NULL) > 0);
	assert_int_equal(kind, FIND_WRONG_COUNTER);
	close_rig();
}

static void test_trap_filters_lie_where_the_tables_have_them(void **state)
{
	(void)state;
	static const struct { const char *box, *filter; uint32_t reg; uint8_t low, high; const char *wrong_reading; } places[] = {
		{ "cbo", "nid", 0xE06, 0, 15, "17:10 (LLC_VICTIMS)" }, { "cbo", "nc", 0xE06, 30, 30, "FILTER0.nc (MMIO metrics)" },
		{ "cbo", "opc", 0xE06, 20, 28, "BOX_FILTER.opc without a number" }, { "cbo", "tid", 0xE05, 0, 5, "" },
		{ "pcu", "band3", 0x715, 24, 31, "63:48 reserved of a register of 32 bits" },
	};
	(void)open_wrong("cbo");
	for (unsigned i = 0; i < COUNT_OF(places); i++) {
		bool found = false;
		for (unsigned b = 0; b < wrong.box_count; b++)
			for (unsigned f = 0; !strcmp(boxes[b].name, places[i].box) && f < boxes[b].filter_count; f++) {
				const struct uncore_filter *k = &boxes[b].filters[f];
				if (strcmp(k->name, places[i].filter))
					continue;
				found = true;
				if (k->reg != places[i].reg || k->low != places[i].low || k->high != places[i].high)
					fail_msg("%s of %s, not %s", k->name, places[i].box, places[i].wrong_reading);
			}
		assert_true(found);
	}
	close_rig();
}

/* Unit masks that lost a digit, names that do not exist, increments of 0. */
static void test_trap_unit_masks_have_all_digits(void **state)
{
	(void)state;
	static const struct { const char *name; uint8_t umask; } units[] = {
		{ "UNC_C_MISC.RSPI_WAS_FSE", 0x01 }, { "UNC_C_RXR_IPQ_RETRY.ANY", 0x01 }, { "UNC_C_RXR_IPQ_RETRY.FULL", 0x02 },
		{ "UNC_C_RXR_IPQ_RETRY.ADDR_CONFLICT", 0x04 }, { "UNC_C_RXR_IPQ_RETRY2.AD_SBO", 0x01 }, { "UNC_C_RXR_IRQ_RETRY2.TARGET", 0x40 },
		{ "UNC_C_RXR_ISMQ_RETRY2.TARGET", 0x40 }, { "UNC_C_TXR_INSERTS.AD_CACHE", 0x01 }, { "UNC_H_ADDR_OPC_MATCH.ADDR", 0x01 },
		{ "UNC_H_DIRECTORY_LOOKUP.SNP", 0x01 }, { "UNC_H_DIRECTORY_UPDATE.SET", 0x01 }, { "UNC_H_REQUESTS.READS_LOCAL", 0x01 },
		{ "UNC_H_REQUESTS.READS_REMOTE", 0x02 }, { "UNC_H_SNOOP_RESP.RSPI", 0x01 }, { "UNC_H_SNP_RESP_RECV_LOCAL.RSPCNFLCT", 0x40 },
		{ "UNC_H_TAD_REQUESTS_G1.REGION9", 0x02 }, { "UNC_H_TRACKER_CYCLES_FULL.ALL", 0x02 }, { "UNC_M_CAS_COUNT.RD_REG", 0x01 },
		{ "UNC_M_CAS_COUNT.RD_UNDERFILL", 0x02 }, { "UNC_M_POWER_THROTTLE_CYCLES.RANK0", 0x01 }, { "UNC_M_PRE_COUNT.PAGE_CLOSE", 0x02 },
		{ "UNC_I_TRANSACTIONS.ORDERINGQ", 0x40 }, { "UNC_Q_DIRECT2CORE.SUCCESS_RBT_HIT", 0x01 }, { "UNC_Q_RXL_FLITS_G1.HOM_REQ", 0x02 },
		{ "UNC_Q_RXL_FLITS_G1.SNP", 0x01 }, { "UNC_Q_RXL_FLITS_G2.NDR_AK", 0x02 }, { "UNC_R3_VN0_CREDITS_USED.SNP", 0x02 },
		{ "UNC_R3_VNA_CREDITS_ACQUIRED.AD", 0x01 }, { "UNC_R3_VNA_CREDITS_ACQUIRED.BL", 0x04 }, { "UNC_R3_RING_AK_USED.CW", 0x03 },
		/* jumbled or exchanged */
		{ "UNC_C_TOR_OCCUPANCY.MISS_ALL", 0x0A }, { "UNC_C_LLC_VICTIMS.S_STATE", 0x04 }, { "UNC_H_HITME_HIT.EVICTS", 0x42 },
		{ "UNC_H_HITME_HIT.INVALS", 0x26 }, { "UNC_H_IGR_NO_CREDIT_CYCLES.AD_QPI2", 0x10 }, { "UNC_H_IGR_NO_CREDIT_CYCLES.BL_QPI2", 0x20 },
		{ "UNC_C_RING_BL_USED.ALL", 0x0F }, { "UNC_C_RING_IV_USED.ANY", 0x0F }, { "UNC_M_WR_CAS_RANK2.ALLBANKS", 0x10 },
		{ "UNC_M_WR_CAS_RANK3.BANK15", 0x0F }, { "UNC_M_RD_CAS_RANK2.BANKG3", 0x14 },
	};
	static const char *const none[] = { "UNC_C_TOR_INSERTS.MISS_ALL", "UNC_C_LLC_VICTIMS.I_STATE", "UNC_M_WPQ_INSERTS", "UNC_P_FREQ_MAX_CURRENT_CYCLES",
		"UNC_Q_RXL_FLITS_G0.DATA", "UNC_Q_TXL_FLITS_G0.IDLE", "UNC_M_RPQ_OCCUPANCY" };
	static const char *const once[] = { "UNC_H_CONFLICT_CYCLES", "UNC_M_POWER_SELF_REFRESH", "UNC_R3_CLOCKTICKS" };
	for (unsigned i = 0; i < COUNT_OF(units); i++) {
		if (!event(units[i].name))
			fail_msg("no %s", units[i].name);
		if (event(units[i].name)->umask != units[i].umask)
			fail_msg("%s is %02x, not %02x", units[i].name, event(units[i].name)->umask, units[i].umask);
	}
	for (unsigned i = 0; i < COUNT_OF(none); i++)
		assert_null(event(none[i]));
	for (unsigned i = 0; i < COUNT_OF(once); i++)
		assert_int_equal(event(once[i])->increment, 1); /* printed as 0 */
	assert_int_equal(event("UNC_R3_RXR_OCCUPANCY_VN1.HOM")->select, 0x13); /* "supposed to be 0x16" */
}

/* Formulas: RDS 1 is F; those that need events that do not exist; a clock of a quarter of the transfers. */
static void test_trap_metrics_are_right_or_name_what_they_lack(void **state)
{
	(void)state;
	static const char *const lacking[] = { "imc.PCT_RD_REQUESTS", "imc.PCT_WR_REQUESTS", "pcu.PCT_CYC_FREQ_CURRENT_LTD" };
	const char *const clock[1] = { "UNC_Q_CLOCKTICKS" };
	uint64_t v[UNCORE_EVENTS_MAX], before, after;
	struct uncore_box *qpi = open_wrong("qpi");
	for (unsigned i = 0; i < wrong.derived_count; i++) {
		const struct uncore_metric *m = &wrong.derived[i];
		for (unsigned k = 0; k < COUNT_OF(lacking); k++)
			assert_true(strcmp(m->name, lacking[k]) || m->lacks[0]);
		if (!strcmp(m->name, "qpi.DRS_DataC_M_FROM_QPI"))
			assert_non_null(strstr(m->expression, "match1=0x80000"));
		if (!strcmp(m->name, "pcu.PCT_CYC_FREQ_THERMAL_LTD"))
			assert_non_null(strstr(m->expression, "THERMAL"));
		assert_null(strstr(m->expression, "state=0x3F")); /* six of seven states */
		assert_null(strstr(m->expression, "edge")); /* "when not empty" is cycles, not beginnings */
	}
	assert_int_equal(r.a->ops->rdtsc(r.a->self, 0, &before), ST_OK);
	assert_int_equal(count(clock, 1, 0, v), ST_OK);
	assert_int_equal(r.a->ops->rdtsc(r.a->self, 0, &after), ST_OK);
	/* 9600 MT/s: an eighth is 1200 MHz, a quarter would be 2400 */
	const uint64_t mhz = v[0] / present(r.cpu.processor->boxes + (qpi - boxes)) * (r.a->tsc_hz / 1000000) / (after - before);
	if (mhz < 1150 || mhz > 1250)
		fail_msg("%u MHz", (unsigned)mhz);
	close_rig();
}

/* "QPI_LINKS: 2 for E5 v3 and 3 for E5 v3": there are up to three, and the third has boxes that only table 1-3 knows. */
static void test_trap_third_link_has_its_boxes(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("haswell-ep");
	m.uncore_qpi_links = 3;
	uncore_rig_open(&r, &m);
	for (unsigned b = 0; b < r.cpu.processor->box_count; b++)
		if (!strcmp(r.cpu.processor->boxes[b].name, "qpi") || !strcmp(r.cpu.processor->boxes[b].name, "r3qpi"))
			assert_int_equal(uncore_instances(&r.u, &r.cpu.processor->boxes[b], 0), 3);
	close_rig();
}

/* The iMC's fixed counter has bit 0 of its status, and is reset by bit 19. */
static void test_trap_fixed_counter_of_a_channel_has_its_own_reset_and_status(void **state)
{
	(void)state;
	const char *const clocks[2] = { "UNC_M_DCLOCKTICKS.FIXED", "UNC_M_DCLOCKTICKS" };
	struct uncore_box *imc = open_wrong("imc");
	struct uncore_plan plan;
	const char *problem;
	uint64_t overflows = 9, v[UNCORE_EVENTS_MAX];
	assert_int_equal(imc->fixed_reset, 1u << 19);
	assert_int_equal(imc->box_status_mask, 0x1F);
	assert_int_equal(uncore_plan(&r.u, clocks, 2, &plan, &problem), ST_OK);
	assert_int_equal(uncore_start(r.a, &r.u, &plan, 0, 0, r.lock.va), ST_OK);
	const struct uncore_at at = { plan.slots[0].box, 0, 0, UNCORE_OWN };
	assert_int_equal(uncore_reg_read(r.a, &r.u, at, imc->box_status, &overflows), ST_OK);
	assert_int_equal(overflows, 0);
	assert_int_equal(uncore_write_counter(r.a, &r.u, at, imc->fixed_counter, (1ull << 48) - 50), ST_OK);
	uncore_rig_run(&r, 0, "k_read_sse2", (uint64_t[]){ RIG_ARRAY(0), 0, 0, 64, RIG_BYTES - 1, 0 }, 6);
	assert_int_equal(uncore_reg_read(r.a, &r.u, at, imc->box_status, &overflows), ST_OK);
	assert_int_equal(overflows, 1); /* the fixed one alone */
	assert_int_equal(uncore_values(r.a, &r.u, &plan, 0, 0, v), ST_OK);
	assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 0), ST_OK);
	assert_true(v[1] > 1000);
	close_rig();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trap_exchanged_device_ids_find_no_channel),
		cmocka_unit_test(test_trap_irp_counters_of_ivy_bridge),
		cmocka_unit_test(test_trap_irp_is_not_on_the_bus_of_the_uncore),
		cmocka_unit_test(test_trap_widths_are_probed),
		cmocka_unit_test(test_trap_bus_map_needs_a_shift),
		cmocka_unit_test(test_trap_sbo_registers_are_ten_apart),
		cmocka_unit_test(test_trap_sbo_control_in_one_write),
		cmocka_unit_test(test_trap_selects_that_latch_at_the_second_write),
		cmocka_unit_test(test_trap_states_begin_at_bit_17),
		cmocka_unit_test(test_trap_miss_opcode_does_not_look_at_the_node),
		cmocka_unit_test(test_trap_manuals_example_counts_nothing),
		cmocka_unit_test(test_trap_cbo_and_sbo_do_not_stop_the_socket),
		cmocka_unit_test(test_trap_global_status_has_more_than_32_bits),
		cmocka_unit_test(test_trap_occupancy_on_another_counter_reads_0),
		cmocka_unit_test(test_trap_filters_lie_where_the_tables_have_them),
		cmocka_unit_test(test_trap_unit_masks_have_all_digits),
		cmocka_unit_test(test_trap_metrics_are_right_or_name_what_they_lack),
		cmocka_unit_test(test_trap_third_link_has_its_boxes),
		cmocka_unit_test(test_trap_fixed_counter_of_a_channel_has_its_own_reset_and_status),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
