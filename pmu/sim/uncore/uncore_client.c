/* pmu/sim/uncore/uncore_client.c: the uncore of processors for one socket: two counters for each L3 slice (CBo) and for the requests to memory
 * (ARB), a clock, and the memory controller's free-running counters, which are memory-mapped.
 *
 * Registers: SDM volume 4, "MSRs in 2nd generation Core" and "in 6th generation Core"; Linux 6.12 events/intel/uncore_snb.c (facts only); the window of
 * the memory controller: 2nd generation Core datasheet volume 2, MCHBAR.
 *   391, or E01    global control: 29 all counters on, 4:0 slices to interrupt, 30 wake, 31 freeze
 *   392, or E02    global status, 393: its bits to clear: not modelled, read as 0
 *   394            control of the clock: 22 on, 20 interrupt   395 the clock, 48 bits   396: 3:0 slices, with or without the graphics' one
 *   3B0, 3B2       ARB: counters, selects; with one counter 3B1, 3B3   706 + 10n, 700 + 10n: CBo n; the eighth 800 higher
 *                  selects: 7:0 event, 15:8 umask, 18 edge, 20 interrupt, 22 on, 23 invert, 28:24 cmask; counters of 44 bits
 *   PCI 0:0.0 + 48 window in memory, bit 0 open; there, of 32 bits each: 5040 requests of graphics, 5044 of cores, 5048 of devices,
 *                  5050 lines read, 5054 lines written
 * Since Alder Lake (layout 4; adl_*): 2FF0 global control, 2FDE control of the clock, 2FDF the clock, 2FD0, 2FD2 ARB; cmask 29:24. The window has two controllers, the
 * second 10000 higher, each with its share of the channels: D9C4 control (0 frozen, 1 selects off, 2 counters 0), D9D0 + 4n selects (7:0 event, 18 edge; no bit
 * switches it on), D9E8 + 8n counters of 64 bits, free-running D840 lines moved, D858 read, D8A0 written, whose codes in the map are F0, F1, F2.
 * Tiger Lake (layouts 5, 6; tgl_*): the MSRs of layout 3; of the window's registers since Alder Lake the free-running ones alone, on layout 6 at 5040, 5058, 50A0.
 * On earlier layouts the codes of the map's box IMC are Linux's numbers of these counters: 1 read, 2 written, 3 graphics, 4 cores, 5 devices. They count
 * from their first read on, beginning at uncore.imc_start.
 *
 * Not modelled: interrupts, the status, graphics, devices, other registers of the window. */
#include "pmu/sim/uncore/uncore_client_state.h"

#define WINDOW_BYTES 0x8000u

#define MSR_CBO_CONFIG 0x396
#define MSR_CBO 0x700
#define CBO_STRIDE 0x10u
#define CBO_COUNTER 6u
#define EIGHTH_CBO 0x800u

#define GLOBAL_ON     (1ull << 29)
#define GLOBAL_LEGAL  0xE000001Full
#define SELECT_EDGE   (1u << 18)
#define SELECT_PMI    (1u << 20)
#define SELECT_ON     (1u << 22)
#define SELECT_INVERT (1u << 23)
#define SELECT_LEGAL  0x1FD4FFFFull
#define SELECT_LEGAL_SIX 0x3FD4FFFFull
#define FIXED_LEGAL   0x500000ull
#define COUNTER_MASK  0xFFFFFFFFFFFull
#define FIXED_MASK    0xFFFFFFFFFFFFull

#define CODE_OCCUPANCY 0x80 /* of the ARB, like 0x83: only counter 0 adds up entries */
#define CODE_COHERENT  0x83

/* Indexed by uncore.layout. */
static const struct layout layouts[] = {
	{ 0x391, 0x392, 4, true, 0x3B0, 0x3B2, 2, 0x394, 0x395, false, 0 }, { 0xE01, 0xE02, 8, true, 0x3B0, 0x3B2, 2, 0x394, 0x395, false, 0 },
	{ 0, 0, 0, false, 0x3B1, 0x3B3, 1, 0x394, 0x395, false, 0 }, { 0xE01, 0xE02, 0, false, 0x3B0, 0x3B2, 2, 0x394, 0x395, false, 0 },
	{ 0x2FF0, 0, 0, false, 0x2FD2, 0x2FD0, 2, 0x2FDE, 0x2FDF, true, 0xD800 }, { 0xE01, 0xE02, 0, false, 0x3B0, 0x3B2, 2, 0x394, 0x395, false, 0xD800 },
	{ 0xE01, 0xE02, 0, false, 0x3B0, 0x3B2, 2, 0x394, 0x395, false, 0x5000 },
};

static const struct { uint32_t offset; uint8_t code; } free_running[FREE] = { { 0x5040, 3 }, { 0x5044, 4 }, { 0x5048, 5 }, { 0x5050, 1 }, { 0x5054, 2 } };

static size_t client_bytes(const struct machine *m)
{
	(void)m;
	return sizeof(struct client);
}

static void client_init(void *box, const struct machine *m, struct uncore_taps *taps)
{
	struct client *u = box;
	const uint64_t slices = m->l3_slices > m->topology_cores ? m->l3_slices : m->topology_cores;
	memset(u, 0, sizeof(*u));
	u->m = m;
	u->taps = taps;
	u->layout = &layouts[m->uncore_layout < COUNT_OF(layouts) ? m->uncore_layout : 0];
	u->boxes = slices < u->layout->boxes ? (unsigned)slices : u->layout->boxes;
	u->fixed.watch = -1;
	u->fixed.clock = true;
	for (unsigned n = 0; n < COUNTERS; n++) {
		u->arb[n].watch = -1;
		for (unsigned i = 0; i < CBO_MAX; i++)
			u->cbo[i][n].watch = -1;
	}
	for (unsigned i = 0; i < CONTROLLERS; i++) {
		for (unsigned n = 0; n < CONTROLLER_COUNTERS; n++)
			u->controller[i].counter[n] = (struct unit){ .watch = -1, .channel = true };
		for (unsigned n = 0; n < CONTROLLER_ALWAYS; n++)
			u->controller[i].always[n] = (struct unit){ .base = m->uncore_imc_start, .watch = -1 };
	}
	for (unsigned n = 0; n < FREE; n++)
		u->imc[n] = (struct unit){ .base = m->uncore_imc_start, .watch = -1 };
}

void client_report(struct sim_finding *f, enum finding_kind kind, uint32_t address, uint64_t value, const char *why)
{
	sim_finding_add(f, &(struct sim_finding){ .kind = kind, .address = address, .value = value, .why = why });
}

/* ---- counting --------------------------------------------------------------------------------- */

uint64_t client_value(struct client *u, const struct unit *c)
{
	if (!c->on)
		return c->base;
	if (c->clock) {
		const uint64_t cycles = uncore_taps_now(u->taps) - c->start, hz = u->m->dram_channel_bytes_per_second / 16; /* 8 bytes at both edges */
		return c->base + (c->channel ? cycles / u->m->uncore_hz * hz + cycles % u->m->uncore_hz * (hz / 1000) / (u->m->uncore_hz / 1000) : cycles);
	}
	return c->watch >= 0 ? c->base + uncore_watch_value(u->taps, 0, (unsigned)c->watch) : c->base;
}

void client_go_off(struct client *u, struct unit *c)
{
	c->base = client_value(u, c);
	if (c->watch >= 0)
		uncore_watch_end(u->taps, 0, (unsigned)c->watch);
	c->watch = -1;
	c->on = false;
}

/* The channels of a controller. */
static uint64_t channels_of(const struct client *u, unsigned controller)
{
	const uint64_t per = (u->m->dram_channels + CONTROLLERS - 1) / CONTROLLERS;
	return ((1ull << per) - 1) << controller * per;
}

const char *client_watch_of(const struct client *u, enum uncore_box box, unsigned instance, uint64_t select, struct uncore_watch *w)
{
	const struct uncore_row *rows[8];
	const unsigned n = uncore_map_find(u->m->uncore, box, select & 0xFF, (uint16_t)(select >> 8 & 0xFF), rows);
	if (!n)
		return "no such event code in this box";
	for (unsigned r = 0; r < n; r++) {
		if (rows[r]->how == UNCORE_UNMODELLED)
			return rows[r]->why;
		for (unsigned i = 0; i < rows[r]->term_count; i++) {
			const struct uncore_term *t = &rows[r]->terms[i];
			const uint64_t own = box == UNCORE_BOX_CBO ? 1u << instance : box == UNCORE_BOX_IMC && u->layout->always ? channels_of(u, instance) : UNITS_ALL;
			if (w->part_count == UNCORE_PARTS)
				return "more sub-events together than the model adds up";
			w->parts[w->part_count++] = (struct uncore_part){ t->signal, t->times, t->unit == UNCORE_OWN_UNITS ? own : 1u << t->unit, t->tags };
		}
	}
	return NULL;
}

void client_begin(struct client *u, struct unit *c, const struct uncore_watch *w, const char **why)
{
	unsigned number = 0;
	c->on = true;
	c->start = uncore_taps_now(u->taps);
	if (*why || !w->part_count)
		return;
	if (uncore_watch_begin(u->taps, 0, w, &number) == ST_OK)
		c->watch = (int16_t)number;
	else
		*why = "no memory for its cycles";
}

void client_go_on(struct client *u, enum uncore_box box, unsigned instance, unsigned n, struct unit *c, struct sim_finding *f, uint32_t msr)
{
	struct uncore_watch w = { .cmask = (uint8_t)(c->select >> 24 & 0x1F), .inv = c->select & SELECT_INVERT, .edge = c->select & SELECT_EDGE };
	const unsigned code = c->select & 0xFF;
	const char *why = client_watch_of(u, box, instance, c->select, &w);
	if (box == UNCORE_BOX_IMC) {
		const struct uncore_row *row = uncore_map_code(u->m->uncore, box, code);
		w.cmask = 0, w.inv = false;
		c->clock = !why && row && row->how == UNCORE_CLOCK;
	}
	client_begin(u, c, &w, &why);
	if (!why && box == UNCORE_BOX_ARB && (code == CODE_OCCUPANCY || code == CODE_COHERENT) && n) {
		client_go_off(u, c);
		c->on = true;
		if (c->told != (why = "entries are added up on counter 0 alone"))
			client_report(f, FIND_WRONG_COUNTER, msr, c->select, why);
	} else if (why && c->told != why) {
		client_report(f, FIND_UNMODELLED, msr, c->select, why);
	}
	c->told = why ? why : c->told;
}

/* Enables or disables a counter according to its select and the global control. */
static void program(struct client *u, enum uncore_box box, unsigned instance, unsigned n, struct unit *c, struct sim_finding *f, uint32_t msr)
{
	const bool want = (u->global & GLOBAL_ON || !u->layout->global) && c->select & SELECT_ON;
	if (c->on && !want)
		client_go_off(u, c);
	else if (!c->on && want && !c->clock)
		client_go_on(u, box, instance, n, c, f, msr);
	else if (!c->on && want)
		client_begin(u, c, &(struct uncore_watch){ 0 }, &(const char *){ NULL });
}

static void program_all(struct client *u, struct sim_finding *f, uint32_t msr)
{
	program(u, UNCORE_BOX_ARB, 0, 0, &u->fixed, f, msr);
	for (unsigned n = 0; n < COUNTERS; n++) {
		program(u, UNCORE_BOX_ARB, 0, n, &u->arb[n], f, msr);
		for (unsigned i = 0; i < u->boxes; i++)
			program(u, UNCORE_BOX_CBO, i, n, &u->cbo[i][n], f, msr);
	}
}

/* ---- model-specific registers ------------------------------------------------------------------ */

struct place { enum uncore_box box; unsigned instance, n; bool select; };

/* The counter whose select or count an MSR is; NULL: none. */
static struct unit *unit_at(struct client *u, uint32_t msr, struct place *p)
{
	*p = (struct place){ .box = UNCORE_BOX_ARB };
	const struct layout *k = u->layout;
	if (msr == k->fixed || msr == k->fixed_control) {
		p->select = msr == k->fixed_control;
		return &u->fixed;
	}
	if (msr - k->counter < k->counters || msr - k->select < k->counters) {
		p->select = msr - k->select < k->counters;
		p->n = msr - (p->select ? k->select : k->counter);
		return &u->arb[p->n];
	}
	p->box = UNCORE_BOX_CBO;
	if (u->boxes == CBO_MAX && msr - (MSR_CBO + (CBO_MAX - 1) * CBO_STRIDE) < CBO_STRIDE)
		return NULL;
	if (u->boxes == CBO_MAX && msr - (MSR_CBO + (CBO_MAX - 1) * CBO_STRIDE + EIGHTH_CBO) < CBO_STRIDE)
		msr -= EIGHTH_CBO;
	const uint32_t at = msr - MSR_CBO;
	p->instance = at / CBO_STRIDE;
	p->n = at % CBO_STRIDE;
	p->select = p->n < COUNTERS;
	if (msr < MSR_CBO || p->instance >= u->boxes || (!p->select && p->n - CBO_COUNTER >= COUNTERS))
		return NULL;
	p->n -= p->select ? 0 : CBO_COUNTER;
	return &u->cbo[p->instance][p->n];
}

static uint64_t mask_of(const struct unit *c) { return c->clock ? FIXED_MASK : COUNTER_MASK; }

static enum status client_rdmsr(void *box, unsigned thread, uint32_t msr, uint64_t *value, struct sim_finding *f)
{
	struct client *u = box;
	struct place p;
	struct unit *c = unit_at(u, msr, &p);
	(void)thread;
	if (c)
		*value = p.select ? c->select : client_value(u, c) & mask_of(c);
	else if (msr && msr == u->layout->global)
		*value = u->global;
	else if (msr && msr == u->layout->status)
		*value = 0;
	else if (msr == MSR_CBO_CONFIG)
		*value = (u->layout->boxes ? u->boxes : u->m->l3_slices) + u->layout->graphics;
	else
		return ST_MISSING;
	sim_finding_none(f);
	return ST_OK;
}

static enum status reserved(struct sim_finding *f, uint32_t msr, uint64_t bits, const char *why)
{
	client_report(f, FIND_RESERVED, msr, bits, why);
	return ST_FAULT;
}

static enum status write_unit(struct client *u, const struct place *p, struct unit *c, uint64_t value, struct sim_finding *f, uint32_t msr)
{
	const uint64_t legal = !p->select ? mask_of(c) : c->clock ? FIXED_LEGAL : u->layout->selects ? SELECT_LEGAL_SIX : SELECT_LEGAL;
	if (value & ~legal)
		return reserved(f, msr, value & ~legal, "reserved bits raise #GP");
	if (c->on)
		client_go_off(u, c);
	if (!p->select) {
		c->base = value;
	} else {
		if ((c->select ^ value) & ~(uint64_t)SELECT_ON)
			c->told = NULL;
		if (value & SELECT_PMI)
			client_report(f, FIND_SIMULATOR, msr, value, "interrupts of the uncore");
		c->select = value;
	}
	program(u, p->box, p->instance, p->n, c, f, msr);
	return ST_OK;
}

static enum status client_wrmsr(void *box, unsigned thread, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	struct client *u = box;
	struct place p;
	struct unit *c = unit_at(u, msr, &p);
	(void)thread;
	if (!c && msr != MSR_CBO_CONFIG && (!msr || (msr != u->layout->global && msr != u->layout->status)))
		return ST_MISSING;
	sim_finding_none(f);
	if (c)
		return write_unit(u, &p, c, value, f, msr);
	if (msr == MSR_CBO_CONFIG) {
		client_report(f, FIND_FAULT, msr, value, "the number of slices is read-only");
		return ST_FAULT;
	}
	if (msr == u->layout->status)
		return ST_OK;
	if (value & ~GLOBAL_LEGAL)
		return reserved(f, msr, value & ~GLOBAL_LEGAL, "reserved bits raise #GP");
	u->global = value;
	program_all(u, f, msr);
	return ST_OK;
}

/* ---- the host bridge and its window ------------------------------------------------------------- */

#define PCI_VENDOR 0x8086u
#define CLASS_HOST_BRIDGE 0x06000000u

static bool is_bridge(struct pci_address at) { return !at.segment && !at.bus && !at.device && !at.function; }

static enum status client_pci_read32(void *box, struct pci_address at, uint32_t *value, struct sim_finding *f)
{
	const struct client *u = box;
	if (!is_bridge(at))
		return ST_MISSING;
	sim_finding_none(f);
	switch (at.reg) {
	case 0x00: *value = (uint32_t)u->m->uncore_host_bridge << 16 | PCI_VENDOR; break;
	case 0x08: *value = CLASS_HOST_BRIDGE; break;
	case 0x48: *value = (uint32_t)u->m->uncore_window | (u->m->uncore_window != 0); break;
	default: *value = 0;
	}
	return ST_OK;
}

static enum status client_pci_write32(void *box, struct pci_address at, uint32_t value, struct sim_finding *f)
{
	(void)box;
	if (!is_bridge(at))
		return ST_MISSING;
	client_report(f, FIND_OUTSIDE, at.reg, value, "the host bridge's registers are not the counters'");
	return ST_OK;
}

static bool in_window(const struct client *u, uint64_t address)
{
	return u->m->uncore_window && address - u->m->uncore_window < (u->layout->always ? CONTROLLERS * CONTROLLER_STEP : WINDOW_BYTES);
}

static struct unit *free_at(struct client *u, uint64_t address, unsigned *n)
{
	for (*n = 0; *n < FREE && !u->layout->always; ++*n)
		if (address - u->m->uncore_window == free_running[*n].offset)
			return &u->imc[*n];
	return NULL;
}

static enum status client_mmio_read(void *box, uint64_t address, unsigned width_bytes, uint64_t *value, struct sim_finding *f)
{
	struct client *u = box;
	unsigned n;
	if (!in_window(u, address))
		return ST_MISSING;
	struct unit *c = free_at(u, address, &n);
	sim_finding_none(f);
	if (u->layout->always) {
		client_memory_read(u, address, width_bytes, value, f);
		return ST_OK;
	}
	*value = 0;
	if (!c) {
		client_report(f, FIND_OUTSIDE, (uint32_t)address, 0, "of the memory controller's registers this simulator has the free-running counters alone");
		return ST_OK;
	}
	if (!c->on) {
		struct uncore_watch w = { 0 };
		const char *why = client_watch_of(u, UNCORE_BOX_IMC, 0, free_running[n].code, &w);
		client_begin(u, c, &w, &why);
		if (why)
			client_report(f, FIND_UNMODELLED, (uint32_t)address, 0, why);
	}
	*value = (uint32_t)client_value(u, c);
	if (width_bytes != 4)
		client_report(f, FIND_UNDEFINED, (uint32_t)address, width_bytes, "a counter of the memory controller has 32 bits, and another one stands beside it");
	return ST_OK;
}

static enum status client_mmio_write(void *box, uint64_t address, unsigned width_bytes, uint64_t value, struct sim_finding *f)
{
	struct client *u = box;
	unsigned n;
	if (!in_window(u, address))
		return ST_MISSING;
	if (u->layout->always) {
		sim_finding_none(f);
		client_memory_write(u, address, width_bytes, value, f);
		return ST_OK;
	}
	if (free_at(u, address, &n))
		client_report(f, FIND_IGNORED, (uint32_t)address, value, "the memory controller's free-running counters are read-only");
	else
		client_report(f, FIND_OUTSIDE, (uint32_t)address, value, "no register of the counters");
	return ST_OK;
}

const struct box_kind box_client = {
	.name = "client", .bytes = client_bytes, .init = client_init, .rdmsr = client_rdmsr, .wrmsr = client_wrmsr,
	.pci_read32 = client_pci_read32, .pci_write32 = client_pci_write32, .mmio_read = client_mmio_read, .mmio_write = client_mmio_write,
};
