/* pmu/sim/backend/sim.c: the simulated machine as a backend: builds it and routes the operations of struct
 * access to the rooms that answer them.
 *
 * Not modelled: interrupts, devices, power states; a fault ends a job. */
#include "pmu/sim/backend/sim_state.h"
#include "asm/kernel.h"
#include "pmu/sim/machine/event_map.h"
#include "pmu/sim/machine/uncore_map.h"
#include "pmu/sim/counters/netburst.h"
#include "pmu/sim/findings/register.h"
#include "pmu/text.h"

#define READ_CYCLES 40 /* cycles that a reading of the clock from outside takes, so that waiting loops end */

static void record_one(struct sim *s, unsigned thread, const struct sim_finding *f)
{
	s->finding_total++;
	s->found[f->kind]++;
	if (f->kind == FIND_UNMODELLED)
		s->unmodelled_why = f->why;
	s->last_finding = *f;
	s->last_finding.thread = thread;
}

void sim_record(struct sim *s, unsigned thread, struct sim_finding *f)
{
	if (!f->why)
		return;
	sim_register_complete(&s->m, f);
	record_one(s, thread, f);
	for (unsigned i = 0; f->more && i < f->more->n; i++) {
		sim_register_complete(&s->m, &f->more->at[i]);
		record_one(s, thread, &f->more->at[i]);
	}
}

/* The destination of an access's findings. */
static struct sim_finding *fresh(struct sim *s)
{
	s->latest = (struct sim_finding){ .more = &s->more };
	sim_finding_none(&s->latest);
	return &s->latest;
}

static enum status op_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
	struct sim *s = self;
	uint32_t r[4];
	if (core >= s->threads)
		return ST_RANGE;
	counters_cpuid(s->harts[core].counters, leaf, subleaf, r);
	*out = (struct cpuid_regs){ r[0], r[1], r[2], r[3] };
	return ST_OK;
}

static enum status op_rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	struct sim *s = self;
	if (core >= s->threads)
		return ST_RANGE;
	struct sim_finding *f = fresh(s);
	if (s->m.topology_threads > 1 && !s->harts[core].job) /* the other thread may ask meanwhile */
		sim_slept(s, &s->harts[core], s->now);
	enum status st = counters_rdmsr(s->harts[core].counters, msr, value, f);
	if (st == ST_MISSING)
		st = boxes_rdmsr(s->boxes, core, msr, value, f);
	sim_record(s, core, f);
	return st == ST_MISSING ? ST_FAULT : st;
}

static enum status op_wrmsr(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	struct sim *s = self;
	if (core >= s->threads)
		return ST_RANGE;
	struct sim_finding *f = fresh(s);
	enum status st = counters_wrmsr(s->harts[core].counters, msr, value, f);
	if (st == ST_MISSING)
		st = boxes_wrmsr(s->boxes, core, msr, value, f);
	sim_record(s, core, f);
	return st == ST_MISSING ? ST_FAULT : st;
}

static enum status op_rdpmc(void *self, unsigned core, uint32_t index, uint64_t *value)
{
	struct sim *s = self;
	(void)fresh(s);
	return core < s->threads ? counters_rdpmc(s->harts[core].counters, index, value) : ST_RANGE;
}

static enum status op_rdtsc(void *self, unsigned core, uint64_t *value)
{
	struct sim *s = self;
	if (core >= s->threads)
		return ST_RANGE;
	s->now += READ_CYCLES;
	*value = counters_rdtsc(s->harts[core].counters);
	return ST_OK;
}

static enum status op_pci_read32(void *self, struct pci_address at, uint32_t *value)
{
	struct sim *s = self;
	struct sim_finding *f = fresh(s);
	enum status st = boxes_pci_read32(s->boxes, at, value, f);
	sim_record(s, 0, f);
	if (st == ST_MISSING)
		*value = 0xFFFFFFFF; /* no such function */
	return st == ST_MISSING ? ST_OK : st;
}

static enum status op_pci_write32(void *self, struct pci_address at, uint32_t value)
{
	struct sim *s = self;
	struct sim_finding *f = fresh(s);
	enum status st = boxes_pci_write32(s->boxes, at, value, f);
	sim_record(s, 0, f);
	return st == ST_MISSING ? ST_OK : st; /* goes nowhere, as on a bus without that function */
}

static enum status op_mmio_read(void *self, uint64_t address, unsigned width_bytes, uint64_t *value)
{
	struct sim *s = self;
	struct sim_finding *f = fresh(s);
	enum status st = boxes_mmio_read(s->boxes, address, width_bytes, value, f);
	sim_record(s, 0, f);
	return st == ST_MISSING ? ST_UNSUPPORTED : st;
}

static enum status op_mmio_write(void *self, uint64_t address, unsigned width_bytes, uint64_t value)
{
	struct sim *s = self;
	struct sim_finding *f = fresh(s);
	enum status st = boxes_mmio_write(s->boxes, address, width_bytes, value, f);
	sim_record(s, 0, f);
	return st == ST_MISSING ? ST_UNSUPPORTED : st;
}

static enum status op_map(void *self, struct mapping *m) { return sim_map(self, m, false); }
static enum status op_unmap(void *self, struct mapping *m) { return sim_unmap(self, m); }

static enum status op_run(void *self, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	return sim_run(self, jobs, n, limit_tsc);
}

static void *op_control(void *self, unsigned core)
{
	struct sim *s = self;
	const struct mapping *m = core < s->threads ? sim_find(s, SPACE_CONTROL + core * CONTROL_BYTES, CONTROL_BYTES) : NULL;
	return m ? (uint8_t *)m->host + (SPACE_CONTROL + core * CONTROL_BYTES - m->va) : NULL;
}

static void *op_ds(void *self, unsigned core)
{
	struct sim *s = self;
	const struct mapping *m = core < s->threads ? sim_find(s, SPACE_DS + core * DS_BYTES, DS_BYTES) : NULL;
	return m ? (uint8_t *)m->host + (SPACE_DS + core * DS_BYTES - m->va) : NULL;
}

static const struct access_ops operations = {
	.cpuid = op_cpuid, .rdmsr = op_rdmsr, .wrmsr = op_wrmsr, .rdpmc = op_rdpmc, .rdtsc = op_rdtsc,
	.pci_read32 = op_pci_read32, .pci_write32 = op_pci_write32, .mmio_read = op_mmio_read, .mmio_write = op_mmio_write,
	.map = op_map, .unmap = op_unmap, .run = op_run, .control = op_control, .ds = op_ds,
};

/* The areas that every backend maps itself: code, control blocks with stacks, debug store. */
static enum status map_own(struct sim *s)
{
	uint64_t code_bytes = (uint64_t)(kernel_code_end - kernel_code);
	struct mapping code = { .va = SPACE_CODE, .bytes = (code_bytes + PAGE_4K - 1) & ~(PAGE_4K - 1), .page_bytes = PAGE_4K, .executable = true };
	struct mapping control = { .va = SPACE_CONTROL, .bytes = s->threads * CONTROL_BYTES, .page_bytes = PAGE_4K };
	struct mapping ds = { .va = SPACE_DS, .bytes = s->threads * DS_BYTES, .page_bytes = PAGE_4K };
	enum status st = sim_map(s, &code, true);
	if (st == ST_OK) {
		memcpy(code.host, kernel_code, code_bytes);
		st = sim_map(s, &control, true);
	}
	return st == ST_OK ? sim_map(s, &ds, true) : st;
}

static void *get(struct sim *s, size_t bytes) { return s->from.get(s->from.self, bytes); }

static void *boxes_get(void *self, size_t bytes) { return get(self, bytes); }

static void boxes_put(void *self, void *at, size_t bytes)
{
	struct sim *s = self;
	s->from.put(s->from.self, at, bytes);
}

static size_t counters_stride(const struct machine *m) { return (counters_bytes(m) + 63) & ~(size_t)63; }
static size_t signals_stride(void) { return (signals_bytes() + 63) & ~(size_t)63; }

/* One piece of memory for all that is small: harts, hooks, signals, counters, decoded code. */
static size_t small_bytes(const struct machine *m, unsigned threads)
{
	return sizeof(struct sim) + 64 + threads * (sizeof(struct hart) + sizeof(struct core_hooks) + counters_stride(m) +
	       signals_stride() * (m->topology_threads > 1 ? 2 : 1)) + signals_stride() + boxes_bytes(m) + event_map_load_bytes(m) + uncore_map_load_bytes(m) + 448 + CODE_ENTRIES * sizeof(struct code_entry);
}

static void *carve(uint8_t **at, size_t bytes)
{
	void *p = *at;
	*at += (bytes + 63) & ~(size_t)63;
	return p;
}

static uint64_t sim_instructions(void *self)
{
	struct sim_totals totals;
	sim_totals(self, &totals);
	return totals.instructions;
}

static enum status sim_interrupts(void *self, unsigned core, struct interrupts *i)
{
	struct sim *s = self;
	if (core >= s->threads)
		return ST_RANGE;
	if (i)
		i->count = i->dropped = 0;
	s->harts[core].interrupts = i;
	return ST_OK;
}

/* Whether all that a select register's value asks for has a signal. */
static bool sim_counts(void *self, unsigned core, uint64_t select)
{
	const struct sim *s = self;
	const struct machine *m = core < s->threads ? s->harts[core].m : &s->m;
	const struct sim_event *found[EVENT_ROWS];
	if (s->m.pmu_netburst)
		return netburst_sim_counts(&s->m, (uint32_t)(select >> 32), (uint32_t)select);
	if (!m->pmu_amd && !m->pmu_second_mask && select >> 40)
		return false; /* reserved bits */
	unsigned n = sim_event_find(m->events, sim_event_select(m, select), sim_event_umask(m, select), found);
	for (unsigned i = 0; i < n; i++)
		if (found[i]->flags & EVENT_UNMODELLED)
			return false;
	return n > 0;
}

static uint64_t sim_unmodelled(void *self)
{
	return ((const struct sim *)self)->found[FIND_UNMODELLED];
}

static const char *sim_unmodelled_why(void *self)
{
	const char *why = ((const struct sim *)self)->unmodelled_why;
	return why ? why : "";
}

/* Reads what the small cores are, with their event map and room for decoded code. */
static enum status open_small(struct sim *s)
{
	struct machine one;
	if (!s->m.topology_small_cores)
		return ST_OK;
	enum status st = machine_small(&s->m, &one);
	if (st != ST_OK)
		return st;
	s->small_bytes = sizeof(one) + event_map_load_bytes(&one) + CODE_ENTRIES * sizeof(struct code_entry) + 256;
	uint8_t *at = s->from.get(s->from.self, s->small_bytes);
	s->small = at;
	if (!at)
		return ST_FULL;
	struct machine *small = carve(&at, sizeof(*small));
	*small = one;
	s->m.small = small;
	struct code_entry *code = carve(&at, CODE_ENTRIES * sizeof(struct code_entry));
	for (unsigned i = 0; i < s->threads; i++)
		if (machine_of_core(&s->m, i) == small) {
			s->harts[i].m = small;
			s->harts[i].code = code;
		}
	return event_map_load(small, carve(&at, event_map_load_bytes(small)));
}

enum status sim_open(const struct machine *m, const struct sim_memory *memory, struct sim **out)
{
	unsigned threads = (unsigned)(m->topology_sockets * m->topology_cores * m->topology_threads);
	uint8_t *at = memory->get(memory->self, small_bytes(m, threads) + 1024);
	if (!at)
		return ST_FULL;
	struct sim *s = carve(&at, sizeof(*s));
	s->m = *m;
	s->from = *memory;
	s->threads = threads;
	s->ops = operations;
	s->harts = carve(&at, threads * sizeof(struct hart));
	s->hooks = carve(&at, threads * sizeof(struct core_hooks));
	s->code = carve(&at, CODE_ENTRIES * sizeof(struct code_entry));
	if (event_map_load(&s->m, carve(&at, event_map_load_bytes(m))) || uncore_map_load(&s->m, carve(&at, uncore_map_load_bytes(m)))) { /* not what machine_read left */
		memory->put(memory->self, s, small_bytes(m, threads) + 1024);
		return ST_BROKEN;
	}
	for (unsigned i = 0; i < threads; i++) {
		s->harts[i].m = &s->m;
		s->harts[i].code = s->code;
	}
	enum status st = open_small(s);
	if (st != ST_OK) {
		sim_close(s);
		return st;
	}
	struct text t;
	text_init(&t, s->name, sizeof(s->name));
	text_fmt(&t, "sim:%s", m->name);
	s->access = (struct access){ .ops = &s->ops, .self = s, .kind = ACCESS_SIM, .name = s->name, .cores = threads,
		.nodes = (unsigned)(m->topology_sockets * m->topology_nodes), .tsc_hz = m->tsc_hz, .core_node = s->core_node, .distance = s->distance,
		.counts = sim_counts, .unmodelled = sim_unmodelled, .unmodelled_why = sim_unmodelled_why, .instructions = sim_instructions, .interrupts = sim_interrupts, .counts_self = s };
	for (unsigned i = 0; i < threads; i++) {
		s->core_node[i] = (uint8_t)(i / (m->topology_threads * m->topology_cores / m->topology_nodes));
		s->signals[i] = signals_init(carve(&at, signals_stride()));
	}
	s->discarded = signals_init(carve(&at, signals_stride()));
	for (unsigned i = 0; m->topology_threads > 1 && i < threads / 2; i++) {
		s->both[i] = signals_init(carve(&at, signals_stride()));
		signals_pair(s->both[i], s->signals[2 * i], s->signals[2 * i + 1]);
	}
	for (unsigned i = 0; i < s->access.nodes; i++)
		for (unsigned j = 0; j < s->access.nodes; j++)
			s->distance[i * s->access.nodes + j] = i == j ? 10 : i / m->topology_nodes == j / m->topology_nodes ? 12 : 21;
	s->memory_bytes = memory_bytes(&s->m);
	void *hierarchy = get(s, s->memory_bytes);
	if (!hierarchy) {
		sim_close(s);
		return ST_FULL;
	}
	s->memory = memory_init(hierarchy, &s->m, s->signals, sim_page, s);
	const struct uncore_tap_env boxes = { .self = s, .now = sim_slowest, .get = boxes_get, .put = boxes_put };
	s->boxes = boxes_init(carve(&at, boxes_bytes(m)), &s->m, s->memory, &boxes);
	for (unsigned i = 0; i < threads; i++) {
		struct hart *h = &s->harts[i];
		h->sim = s;
		h->thread = i;
		h->physical = i / (unsigned)m->topology_threads;
		h->counters = counters_init(carve(&at, counters_stride(m)), h->m, i, s->signals[i]);
		counters_pair(h->counters, s->harts[m->topology_threads > 1 ? i & ~1u : i].counters, s->both[i / 2]);
		sim_env_connect(s, h);
	}
	st = map_own(s);
	if (st != ST_OK) {
		sim_close(s);
		return st;
	}
	*out = s;
	return ST_OK;
}

void sim_close(struct sim *s)
{
	struct sim_memory from = s->from;
	sim_unmap_all(s);
	if (s->boxes)
		boxes_close(s->boxes);
	for (unsigned i = 0; i < s->threads; i++) {
		if (s->harts[i].core_memory)
			from.put(from.self, s->harts[i].core_memory, core_bytes(s->harts[i].m));
		if (s->signals[i])
			signals_detach(s->signals[i]);
		if (i % 2 == 0 && s->both[i / 2])
			signals_detach(s->both[i / 2]);
	}
	if (s->memo)
		from.put(from.self, s->memo, sizeof(*s->memo));
	if (s->memory)
		from.put(from.self, s->memory, s->memory_bytes);
	if (s->small)
		from.put(from.self, s->small, s->small_bytes);
	from.put(from.self, s, small_bytes(&s->m, s->threads) + 1024);
}

const struct access *sim_access(struct sim *s) { return &s->access; }

enum status sim_user(struct sim *s, bool user)
{
	if (s->m.pmu_netburst)
		return ST_UNSUPPORTED;
	for (unsigned i = 0; i < s->threads; i++)
		counters_user(s->harts[i].counters, user);
	return ST_OK;
}

const struct sim_finding *sim_latest(const struct sim *s, unsigned n)
{
	if (!s->latest.why || n > s->more.n)
		return NULL;
	return n ? &s->more.at[n - 1] : &s->latest;
}

void sim_look_ahead(struct sim *s, bool on) { s->no_look_ahead = !on; }

void sim_totals(const struct sim *s, struct sim_totals *out)
{
	*out = (struct sim_totals){ .cycles = s->now, .recalled = s->memo ? s->memo->recalled : 0 };
	for (unsigned i = 0; i < s->threads; i++) {
		out->instructions += s->harts[i].instructions;
		out->uops += s->harts[i].core ? core_uops(s->harts[i].core) : 0;
	}
}
