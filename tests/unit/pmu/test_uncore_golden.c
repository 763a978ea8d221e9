/* The driver's register accesses for each kind of box, judged by tests/golden/uncore/BOX.txt, for machines other than Haswell-EP MACHINE-BOX.txt.
 * The recorded accesses replay without a finding, and every register is restored however a run ends.
 *
 * UNCORE_GOLDEN=record writes the files: review the difference before you commit it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "runner/data/trace_replay.h"
#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/rigs/uncore_rig.h"

/* Events for each kind of box. The machines have few boxes (small), so that a trace stays readable. */
static const struct golden { const char *box, *names[4], *machine; } golden[] = {
	{ "ubox", { "UNC_U_CLOCKTICKS.FIXED" }, NULL },
	{ "cbo", { "UNC_C_TOR_OCCUPANCY.MISS_OPCODE:opc=0x182", "UNC_C_TOR_INSERTS.MISS_OPCODE:opc=0x182", "UNC_C_COUNTER0_OCCUPANCY:thresh=1",
	           "UNC_C_LLC_LOOKUP.READ:state=0x7F" }, NULL },
	{ "sbo", { "UNC_S_CLOCKTICKS" }, NULL },
	{ "pcu", { "UNC_P_CLOCKTICKS", "UNC_P_FREQ_BAND1_CYCLES:band1=20", "UNC_P_POWER_STATE_OCCUPANCY.CORES_C0" }, NULL },
	{ "ha", { "UNC_H_REQUESTS.READS", "UNC_H_TRACKER_OCCUPANCY.READS_LOCAL" }, NULL },
	{ "imc", { "UNC_M_CAS_COUNT.RD", "UNC_M_CAS_COUNT.WR", "UNC_M_DCLOCKTICKS.FIXED" }, NULL },
	{ "irp", { "UNC_I_CLOCKTICKS" }, NULL },
	{ "qpi", { "UNC_Q_TXL_FLITS_G0.DATA", "UNC_Q_RXL_FLITS_G1.DRS_DATA", "UNC_Q_CTO_COUNT:match=0x1C00:mask=0x1F80:match1=0:mask1=0" }, NULL },
	{ "r2pcie", { "UNC_R2_CLOCKTICKS" }, NULL },
	{ "r3qpi", { "UNC_R3_CLOCKTICKS", "UNC_R3_RXR_INSERTS.HOM" }, NULL },
	{ "ubox", { "UNC_U_CLOCKTICKS" }, "broadwell-ep" },
	{ "cbo", { "UNC_C_TOR_OCCUPANCY.MISS_OPCODE:opc=0x182", "UNC_C_COUNTER0_OCCUPANCY:thresh=1" }, "broadwell-ep" },
	{ "pcu", { "UNC_P_POWER_STATE_OCCUPANCY.CORES_C0", "UNC_P_CLOCKTICKS" }, "broadwell-ep" },
	{ "imc", { "UNC_M_CAS_COUNT.RD", "UNC_M_CAS_COUNT.WR", "UNC_M_CLOCKTICKS" }, "broadwell-ep" },
	{ "qpi", { "UNC_Q_TXL_FLITS_G0.DATA", "UNC_Q_RXL_FLITS_G1.DRS_DATA" }, "broadwell-ep" },
	{ "ubox", { "UNC_U_CLOCKTICKS", "UNC_U_RACU_REQUESTS" }, "skylake-sp" },
	{ "cha", { "UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD", "UNC_CHA_TOR_INSERTS.IA_MISS_DRD", "UNC_CHA_COUNTER0_OCCUPANCY:thresh=1",
	           "UNC_CHA_LLC_LOOKUP.DATA_READ:state=0x3FF" }, "skylake-sp" },
	{ "pcu", { "UNC_P_CLOCKTICKS", "UNC_P_POWER_STATE_OCCUPANCY.CORES_C0" }, "skylake-sp" },
	{ "imc", { "UNC_M_CAS_COUNT.RD", "UNC_M_CAS_COUNT.WR", "UNC_M_CLOCKTICKS_F" }, "skylake-sp" },
	{ "m2m", { "UNC_M2M_IMC_READS.ALL", "UNC_M2M_CLOCKTICKS" }, "skylake-sp" },
	{ "upi", { "UNC_UPI_RXL_FLITS.ALL_DATA", "UNC_UPI_TXL_FLITS.ALL_DATA", "UNC_UPI_CLOCKTICKS" }, "skylake-sp" },
	{ "m3upi", { "UNC_M3UPI_CLOCKTICKS" }, "skylake-sp" },
	{ "iio", { "UNC_IIO_CLOCKTICKS" }, "skylake-sp" },
	{ "irp", { "UNC_I_CLOCKTICKS" }, "skylake-sp" },
	{ "cha", { "UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD", "UNC_CHA_TOR_INSERTS.IA_MISS_DRD", "UNC_CHA_COUNTER0_OCCUPANCY:thresh=1" }, "ice-lake-sp" },
	{ "imc", { "UNC_M_CAS_COUNT.RD", "UNC_M_CAS_COUNT.WR", "UNC_M_HCLOCKTICKS" }, "ice-lake-sp" },
	{ "m2pcie", { "UNC_M2P_CLOCKTICKS" }, "ice-lake-sp" },
	{ "cha", { "UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD", "UNC_CHA_TOR_INSERTS.IA_MISS_DRD" }, "sapphire-rapids" },
	{ "imc", { "UNC_M_CAS_COUNT.RD", "UNC_M_CAS_COUNT.WR" }, "sapphire-rapids" },
	{ "m2m", { "UNC_M2M_IMC_READS.ALL", "UNC_M2M_CLOCKTICKS" }, "sapphire-rapids" },
};

static unsigned events_of(const struct golden *g)
{
	unsigned n = 0;
	while (n < COUNT_OF(g->names) && g->names[n])
		n++;
	return n;
}

static struct machine small(const char *name)
{
	struct machine m = core_bench_machine(name ? name : "haswell-ep");
	m.l3_bytes = m.l3_bytes / m.l3_slices;
	m.l3_slices = 1;
	m.topology_cores = m.l2_cores > 2 ? m.l2_cores : 2; /* whole clusters */
	m.topology_nodes = 1;
	m.uncore_sbos = 2;
	m.uncore_home_agents = 1;
	m.dram_channels = 1;
	m.uncore_qpi_links = 1;
	m.fault_firmware_counting = 1;
	return m;
}

/* --- golden traces ----------------------------------------------------------------------------- */

static void write_trace(const struct uncore_rig *r, unsigned from, FILE *f)
{
	for (unsigned i = from; i < r->trace.count; i++) {
		char line[256];
		struct text t;
		text_init(&t, line, sizeof(line));
		trace_line(&t, &r->trace.entries[i]);
		fprintf(f, "%s\n", line);
	}
}

static void replays(const char *path, const char *machine)
{
	static struct uncore_rig r;
	struct machine m = small(machine);
	char line[256];
	unsigned accepted = 0, number = 0;
	struct trace_replay *replay;
	struct trace_cpus cpus;
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	uncore_rig_open(&r, &m);
	trace_cpus_init(&cpus);
	for (unsigned i = 0; i < sim_access(r.sim)->cores; i++)
		assert_int_equal(trace_cpus_see(&cpus, i, false), ST_OK);
	assert_int_equal(trace_cpus_settle(&cpus, &m), ST_OK);
	assert_int_equal(trace_replay_open(&replay, r.sim, &m, &cpus), ST_OK);
	while (fgets(line, sizeof(line), f)) {
		struct traced a;
		struct trace_verdict v;
		const char *problem = "";
		const enum status st = trace_text_read(line, strcspn(line, "\n"), &a, &problem);
		number++;
		if (st == ST_MISSING)
			continue;
		if (st != ST_OK)
			fail_msg("%s: %s: %s", path, line, problem);
		assert_int_equal(trace_replay_step(replay, number, &a, &v), ST_OK);
		accepted += v.count == 0;
		for (unsigned i = 0; i < v.count; i++) {
			const struct trace_finding *w = &v.finding[i];
			fail_msg("%s: %s: %s: %s", path, line, trace_class_name(w->class), w->text);
		}
	}
	trace_replay_close(replay);
	fclose(f);
	assert_true(accepted > 20);
	uncore_rig_close(&r);
}

static void test_golden_each_box_is_programmed_as_recorded(void **state)
{
	(void)state;
	static struct uncore_rig r;
	const bool record = getenv("UNCORE_GOLDEN") != NULL;
	for (unsigned i = 0; i < COUNT_OF(golden); i++) {
		const struct golden *g = &golden[i];
		struct uncore_plan plan;
		uint64_t v[UNCORE_EVENTS_MAX];
		char path[128], *text = NULL;
		size_t bytes = 0;
		const struct machine m = small(g->machine);
		uncore_rig_open(&r, &m);
		const unsigned from = r.trace.count;
		uncore_rig_start(&r, &plan, g->names, events_of(g), 0);
		assert_int_equal(uncore_values(r.a, &r.u, &plan, 0, 0, v), ST_OK);
		assert_int_equal(uncore_stop(r.a, &r.u, &plan, 0, 0), ST_OK);
		assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
		FILE *f = open_memstream(&text, &bytes);
		assert_non_null(f);
		write_trace(&r, from, f);
		fclose(f);
		snprintf(path, sizeof(path), "tests/golden/uncore/%s%s%s.txt", g->machine ? g->machine : "", g->machine ? "-" : "", g->box);
		if (record) {
			f = fopen(path, "we");
			assert_non_null(f);
			assert_int_equal(fwrite(text, 1, bytes, f), bytes);
			assert_int_equal(fclose(f), 0);
		}
		char *known = calloc(1, 1 << 18);
		f = fopen(path, "re");
		if (!f || !known)
			fail_msg("%s is missing", path);
		const size_t n = fread(known, 1, (1 << 18) - 1, f);
		fclose(f);
		if (n != bytes || memcmp(known, text, n)) {
			size_t at = 0, start = 0;
			for (; at < n && at < bytes && known[at] == text[at]; at++)
				start = text[at] == '\n' ? at + 1 : start;
			fail_msg("%s: first difference: '%.*s', golden '%.*s'", path, (int)strcspn(text + start, "\n"), text + start,
			         (int)strcspn(known + start, "\n"), known + start);
		}
		free(known);
		free(text);
		uncore_rig_close(&r);
		replays(path, g->machine);
	}
}

/* --- every kind of end ------------------------------------------------------------------------- */

#define REGISTERS 1024
struct snapshot { unsigned n; uint64_t value[REGISTERS]; };

/* Reads all registers of all boxes of socket 0 from the machine, not through guard and trace. */
static void look(const struct uncore_rig *r, struct snapshot *s)
{
	const struct access *a = sim_access(r->sim);
	const struct processor *p = r->cpu.processor;
	memset(s, 0, sizeof(*s));
	for (uint32_t msr = 0x700; msr < 0xE10; msr = msr == 0x747 ? 0xA40 : msr == 0xA5F ? 0xE00 : msr + 1)
		if (a->ops->rdmsr(a->self, 0, msr, &s->value[s->n]) == ST_OK)
			s->n++;
	for (unsigned b = 0; b < p->box_count; b++)
		for (unsigned i = 0; p->boxes[b].space == UNCORE_PCI && i < p->boxes[b].instances; i++)
			for (unsigned reg = 0x40; reg < 0x380; reg += 4) {
				const struct uncore_box *box = &p->boxes[b];
				const struct pci_address at = { 0, uncore_bus_of(&r->u, box, 0)->bus, box->devices[i].device,
				                                reg < 0x100 || box->bus_number ? box->devices[i].function : 6, (uint16_t)reg };
				uint32_t v;
				if (a->ops->pci_read32(a->self, at, &v) != ST_OK)
					continue;
				if (v && v != UINT32_MAX && s->n < REGISTERS)
					s->value[s->n++] = (uint64_t)at.device << 48 | (uint64_t)reg << 32 | v;
			}
	assert_true(s->n > (p->buses.msr ? 40u : 54u) && s->n < REGISTERS);
}

/* A backend whose write number `fail` faults. */
struct faulty { struct access access; struct access_ops ops; const struct access *under; unsigned writes, fail; uint64_t global; };

static enum status faulty_wrmsr(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	struct faulty *f = self;
	if (++f->writes == f->fail)
		return ST_FAULT;
	if (msr == 0x700)
		f->global = value;
	return f->under->ops->wrmsr(f->under->self, core, msr, value);
}

static enum status faulty_pci_write32(void *self, struct pci_address at, uint32_t value)
{
	struct faulty *f = self;
	return ++f->writes == f->fail ? ST_FAULT : f->under->ops->pci_write32(f->under->self, at, value);
}

static enum status faulty_rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	const struct access *u = ((struct faulty *)self)->under;
	return u->ops->rdmsr(u->self, core, msr, value);
}

static enum status faulty_pci_read32(void *self, struct pci_address at, uint32_t *value)
{
	const struct access *u = ((struct faulty *)self)->under;
	return u->ops->pci_read32(u->self, at, value);
}

static void all_is_as_found(const char *machine)
{
	static struct uncore_rig r;
	static struct faulty f;
	static struct snapshot before, after;
	const struct machine m = small(machine);
	unsigned ends = 0;
	uncore_rig_open(&r, &m);
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK); /* what the rig changed */
	const struct access *sim = sim_access(r.sim);
	f = (struct faulty){ .access = *sim, .under = sim, .ops = { .wrmsr = faulty_wrmsr, .rdmsr = faulty_rdmsr, .pci_read32 = faulty_pci_read32,
	                     .pci_write32 = faulty_pci_write32 } };
	f.access.ops = &f.ops;
	f.access.self = &f;
	for (unsigned i = 0; i < COUNT_OF(golden); i++) {
		struct uncore_plan plan;
		const char *problem;
		if ((golden[i].machine != NULL) != (machine != NULL) || (machine && strcmp(machine, golden[i].machine)))
			continue;
		look(&r, &before);
		assert_int_equal(uncore_plan(&r.u, golden[i].names, events_of(&golden[i]), &plan, &problem), ST_OK);
		/* 0: stopped; 1: left running; then a fault at each of the writes of start and stop */
		for (unsigned end = 0, writes = 2; end < writes; end++, ends++) {
			const bool stops = end == 0 || (end > 1 && end % 2); /* otherwise only the guard's restoration stops the counters */
			enum status st;
			f.writes = 0;
			f.fail = end < 2 ? 0 : end - 1;
			msr_guard_init(&r.guard, &f.access, r.cpu.processor, r.saved, MSR_GUARD_SAVED_MAX);
			memset(r.u.width, 0, sizeof(r.u.width));
			r.u.box_freeze = false;
			st = uncore_start(&r.guard.access, &r.u, &plan, 0, 0, r.lock.va);
			if (stops) {
				const enum status stop = uncore_stop(&r.guard.access, &r.u, &plan, 0, 0);
				st = st == ST_OK ? stop : st;
			}
			if (end < 2)
				assert_int_equal(st, ST_OK);
			else if (f.fail != 1 && f.writes >= f.fail && st == ST_OK) /* write 1 is the global control, without which each box has its own */
				fail_msg("%s: a fault at write %u was not told", golden[i].box, f.fail);
			if (end == 0)
				writes = f.writes + 2;
			f.fail = 0;
			assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
			assert_int_equal(r.guard.refused, 0);
			if (f.global == r.cpu.processor->boxes[0].global_freeze)
				fail_msg("%s, end %u: the socket's boxes are still stopped", golden[i].box, end);
			look(&r, &after);
			if (after.n != before.n || memcmp(before.value, after.value, sizeof(before.value)))
				for (unsigned k = 0; k < before.n || k < after.n; k++)
					if (before.value[k] != after.value[k])
						fail_msg("%s, end %u: %llx is %llx afterwards", golden[i].box, end, (unsigned long long)before.value[k],
						         (unsigned long long)after.value[k]);
		}
	}
	print_message("# %s: %u registers as found after %u ends\n", m.name, before.n, ends);
	uncore_rig_close(&r);
}

static void test_golden_all_is_as_found_after_every_kind_of_end(void **state)
{
	(void)state;
	all_is_as_found(NULL);
	all_is_as_found("broadwell-ep");
	all_is_as_found("skylake-sp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_each_box_is_programmed_as_recorded),
		cmocka_unit_test(test_golden_all_is_as_found_after_every_kind_of_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
