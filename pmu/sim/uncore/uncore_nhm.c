/* pmu/sim/uncore/uncore_nhm.c: the uncore PMU of Nehalem, one per socket: eight general counters and a fixed one.
 *
 * Registers: SDM volume 3B (2016), 18.8.2 and table 35-11 of Nehalem's MSRs; guide, tables 28 and 37. All logical
 * processors of a socket see the same registers.
 *   391 global control: 7:0 counters, 32 fixed counter, 51:48 cores to interrupt, 63 freeze on interrupt
 *   392 status, read only   393 write 1 to clear: 7:0, 32, 61 interrupt, 63 changed
 *   394 fixed counter   395 its control: 0 on, 2 interrupt   396 address and opcode matcher: 39:3, 47:40, 63:61
 *   3B0-3B7 counters   3C0-3C7 selects: 7:0 event, 15:8 umask, 17 clear the queue's occupancy (reads 0), 18 edge,
 *   20 interrupt, 22 on, 23 invert, 31:24 cmask   301 snoop transitions, 7:0
 *
 * A queue's occupancy is correct only if the queue was empty while the event was selected: after a bus lock (guide, after
 * table 21) or a 1 written to bit 17. Until then it is one entry too high here.
 *
 * Not modelled: interrupts on overflow (the bits are stored), the freeze that goes with them, matches of addresses and of
 * opcodes other than the guide's three, and what the map flags. */
#include "pmu/sim/uncore/box.h"
#include "pmu/sim/machine/uncore_map.h"

#define GENERAL 8
#define SOCKETS_MAX 8

#define MSR_GQ_SNOOP      0x301
#define MSR_GLOBAL_CTRL   0x391
#define MSR_GLOBAL_STATUS 0x392
#define MSR_OVF_CTRL      0x393
#define MSR_FIXED         0x394
#define MSR_FIXED_CTRL    0x395
#define MSR_MATCH         0x396
#define MSR_PMC           0x3B0
#define MSR_SELECT        0x3C0

#define GLOBAL_LEGAL  0x800F0001000000FFull
#define OVF_LEGAL     0xA0000001000000FFull
#define MATCH_LEGAL   0xE000FFFFFFFFFFF8ull
#define SELECT_LEGAL  0xFFD6FFFFull /* not 16, 19, 21 */
#define WIDTH_MASK    0xFFFFFFFFFFFFull

#define SELECT_RESET  (1u << 17)
#define SELECT_EDGE   (1u << 18)
#define SELECT_PMI    (1u << 20)
#define SELECT_EN     (1u << 22)
#define SELECT_INV    (1u << 23)
#define FIXED_ON      (1ull << 32)

struct unit { /* a counter */
	uint64_t base;     /* value when it was enabled */
	uint64_t start;    /* uncore cycle of that */
	uint64_t wraps;    /* wraps since then that the status register already shows */
	uint64_t locks;    /* bus locks at the time its select was written */
	bool on, clock, dead; /* dead: enabled, but counts nothing */
	bool occupancy, emptied;
	const char *told;  /* its mistake, once that has been reported */
	int16_t watch;     /* -1: none */
};

struct uncore_socket {
	struct unit general[GENERAL], fixed;
	uint64_t select[GENERAL], global, status, fixed_control, match, snoop;
};

struct uncore_nhm {
	const struct machine *m;
	struct uncore_taps *taps;
	struct uncore_socket socket[SOCKETS_MAX];
};

/* ---- findings --------------------------------------------------------------------------------- */

static void report(struct sim_finding *f, enum finding_kind kind, uint32_t msr, uint64_t value, const char *why)
{
	const struct sim_finding one = { .kind = kind, .address = msr, .value = value, .why = why };
	sim_finding_add(f, &one);
}

static enum status fault(struct sim_finding *f, enum finding_kind kind, uint32_t msr, uint64_t value, const char *why)
{
	report(f, kind, msr, value, why);
	return ST_FAULT;
}

/* ---- counting --------------------------------------------------------------------------------- */

static uint64_t value_of(struct uncore_nhm *u, unsigned s, struct unit *c)
{
	if (!c->on || c->dead)
		return c->base;
	const uint64_t passed = uncore_taps_now(u->taps) - c->start;
	if (c->clock)
		return c->base + passed;
	if (c->occupancy && !c->emptied)
		return c->base + uncore_watch_value(u->taps, s, (unsigned)c->watch) + passed;
	return c->base + uncore_watch_value(u->taps, s, (unsigned)c->watch);
}

/* Updates the status register. */
static void sync(struct uncore_nhm *u, unsigned s)
{
	struct uncore_socket *k = &u->socket[s];
	for (unsigned n = 0; n <= GENERAL; n++) {
		struct unit *c = n < GENERAL ? &k->general[n] : &k->fixed;
		const uint64_t wraps = value_of(u, s, c) >> 48;
		if (wraps != c->wraps)
			k->status |= n < GENERAL ? 1ull << n : FIXED_ON;
		c->wraps = wraps;
	}
}

static uint8_t least_of(const struct machine *m, uint8_t least)
{
	const uint64_t v = least == UNCORE_OF_READ ? m->gq_read : least == UNCORE_OF_WRITE ? m->gq_write : least == UNCORE_OF_PEER ? m->gq_peer : least;
	return v > 255 ? 255 : (uint8_t)v;
}

static unsigned rows_of(const struct uncore_nhm *u, uint64_t select, const struct uncore_row *rows[8])
{
	return uncore_map_find(u->m->uncore, UNCORE_BOX_SOCKET, select & 0xFF, (uint8_t)(select >> 8), rows);
}

/* Whether the model distinguishes what the matcher selects: the opcodes RspFwdI 19, RspFwdS 1A, RspIWb 1D by opcode only (63:61 = 010).
 * *term: the row's term for the opcode, -1: the matcher is off, nothing matches. */
static bool find_match(const struct uncore_socket *k, int *term)
{
	const uint64_t opcode = k->match >> 40 & 0xFF, how = k->match >> 61;
	*term = how == 0 ? -1 : opcode == 0x19 ? 0 : opcode == 0x1A ? 1 : opcode == 0x1D ? 2 : 3;
	return how == 0 || (how == 2 && *term != 3);
}

/* Adds the terms of a row that its registers enable: with UNCORE_SNOOP bit least + i of MSR 0x301 stands for term i. */
static const char *add_terms(const struct uncore_socket *k, const struct uncore_row *e, struct uncore_watch *w)
{
	int match = -1;
	if (e->flags & UNCORE_FORWARDS && !find_match(k, &match))
		return "the model matches three opcodes and no addresses";
	for (unsigned i = 0; i < e->term_count; i++) {
		const struct uncore_term *t = &e->terms[i];
		if ((e->flags & UNCORE_SNOOP && !(k->snoop >> (e->least + i) & 1)) || (e->flags & UNCORE_FORWARDS && (int)i != match))
			continue;
		if (w->part_count == UNCORE_PARTS)
			return "more sub-events together than the model adds up";
		w->parts[w->part_count++] = (struct uncore_part){ t->signal, t->times, t->unit == UNCORE_OWN_UNITS ? UNITS_ALL : 1ull << t->unit, t->tags };
	}
	return NULL;
}

/* Fills *w from a select. NULL: done; else why the model cannot count it. */
static const char *make_watch(struct uncore_nhm *u, const struct uncore_socket *k, uint64_t select, struct unit *c, struct uncore_watch *w)
{
	const struct uncore_row *rows[8];
	const unsigned n = rows_of(u, select, rows);
	*w = (struct uncore_watch){ .cmask = (uint8_t)(select >> 24), .inv = select & SELECT_INV, .edge = select & SELECT_EDGE };
	if (!n)
		return "no such event code in this uncore";
	for (unsigned r = 0; r < n; r++) {
		const struct uncore_row *e = rows[r];
		const char *why;
		if (e->how == UNCORE_UNMODELLED)
			return e->why;
		if (e->how == UNCORE_CLOCK) {
			c->clock = true;
			if (w->cmask || w->edge)
				return "the clock has no threshold in this model";
		}
		if (e->how == UNCORE_CYCLES) {
			if (w->cmask > 1)
				return "a threshold over a count that is 0 or 1";
			w->cmask = least_of(u->m, e->least);
		}
		if ((e->flags & UNCORE_OPEN_PAGE && !u->m->dram_open_page) || (e->flags & UNCORE_CLOSED_PAGE && u->m->dram_open_page))
			continue;
		why = add_terms(k, e, w);
		if (why)
			return why;
	}
	return NULL;
}

static bool is_occupancy(const struct uncore_nhm *u, uint64_t select)
{
	const struct uncore_row *rows[8];
	return rows_of(u, select, rows) && rows[0]->how == UNCORE_OCCUPANCY;
}

/* Reports a mistake of counter n as it is programmed, once until its select changes. */
static void report_counter(const struct uncore_nhm *u, struct sim_finding *f, enum finding_kind kind, uint32_t msr, const struct uncore_socket *k, unsigned n, struct unit *c, const char *why)
{
	const struct uncore_row *rows[8];
	if (!f || c->told == why)
		return;
	c->told = why;
	struct sim_finding one = { .kind = kind, .address = msr, .value = k->select[n], .why = why, .clash = msr == MSR_SELECT + n ? 0 : MSR_SELECT + n,
		.event = rows_of(u, k->select[n], rows) ? rows[0]->name : NULL, .cite = "SDM 18.8.2.3" };
	sim_finding_where(&one, "uncore counter", n);
	sim_finding_add(f, &one);
}

static bool wanted(const struct uncore_socket *k, unsigned n)
{
	if (n == GENERAL)
		return (k->global & FIXED_ON) && (k->fixed_control & 1);
	return (k->global >> n & 1) && (k->select[n] & SELECT_EN);
}

static void go_off(struct uncore_nhm *u, unsigned s, struct unit *c)
{
	if (!c->on)
		return;
	c->base = value_of(u, s, c) & WIDTH_MASK;
	c->wraps = 0;
	c->on = false;
	if (c->watch >= 0)
		uncore_watch_end(u->taps, s, (unsigned)c->watch);
	c->watch = -1;
}

static void go_on(struct uncore_nhm *u, unsigned s, unsigned n, struct unit *c, struct sim_finding *f, uint32_t msr)
{
	struct uncore_socket *k = &u->socket[s];
	struct uncore_watch watch;
	const char *why;
	unsigned number;
	c->on = true;
	c->start = uncore_taps_now(u->taps);
	c->clock = n == GENERAL;
	c->dead = false;
	if (n == GENERAL)
		return;
	c->emptied |= uncore_taps_bus_locks(u->taps) != c->locks;
	if (c->occupancy && !c->emptied)
		report_counter(u, f, FIND_SIMULATOR, msr, k, n, c, "an occupancy counts without a bus lock in the simulated machine since its event was selected: here it is too high");
	why = make_watch(u, k, k->select[n], c, &watch);
	if (!why && !c->clock && uncore_watch_begin(u->taps, s, &watch, &number) != ST_OK)
		why = "no memory for its cycles";
	c->dead = why != NULL;
	if (why)
		report_counter(u, f, FIND_UNMODELLED, msr, k, n, c, why);
	else if (!c->clock)
		c->watch = (int16_t)number;
}

/* Enables and disables counters according to the registers. `again`: registers that its event depends on have changed. */
static void program(struct uncore_nhm *u, unsigned s, bool again, struct sim_finding *f, uint32_t msr)
{
	struct uncore_socket *k = &u->socket[s];
	for (unsigned n = 0; n <= GENERAL; n++) {
		struct unit *c = n < GENERAL ? &k->general[n] : &k->fixed;
		const bool want = wanted(k, n);
		if (c->on && (!want || again))
			go_off(u, s, c);
		if (want && !c->on)
			go_on(u, s, n, c, f, msr);
	}
}

/* ---- registers -------------------------------------------------------------------------------- */

static size_t nhm_bytes(const struct machine *m)
{
	(void)m;
	return sizeof(struct uncore_nhm);
}

static void nhm_init(void *box, const struct machine *m, struct uncore_taps *taps)
{
	struct uncore_nhm *u = box;
	*u = (struct uncore_nhm){ .m = m, .taps = taps };
	for (unsigned s = 0; s < SOCKETS_MAX; s++)
		for (unsigned n = 0; n < GENERAL; n++)
			u->socket[s].general[n].watch = u->socket[s].fixed.watch = -1;
	if (m->fault_firmware_counting) /* cycles of the read tracker, left on */
		for (unsigned s = 0; s < SOCKETS_MAX && s < m->topology_sockets; s++) {
			u->socket[s].select[0] = SELECT_EN | 0x0103;
			u->socket[s].global = 1;
			program(u, s, false, NULL, 0);
		}
}

static unsigned socket_of(const struct uncore_nhm *u, unsigned thread)
{
	return thread / (unsigned)(u->m->topology_threads * u->m->topology_cores);
}

static struct unit *counter_at(struct uncore_socket *k, uint32_t msr, unsigned *n)
{
	if (msr == MSR_FIXED) {
		*n = GENERAL;
		return &k->fixed;
	}
	*n = msr - MSR_PMC;
	return *n < GENERAL ? &k->general[*n] : NULL;
}

static enum status nhm_rdmsr(void *box, unsigned thread, uint32_t msr, uint64_t *value, struct sim_finding *f)
{
	struct uncore_nhm *u = box;
	const unsigned s = socket_of(u, thread);
	struct uncore_socket *k = &u->socket[s];
	unsigned n;
	struct unit *c = counter_at(k, msr, &n);
	if (c)
		*value = value_of(u, s, c) & WIDTH_MASK;
	else if (msr - MSR_SELECT < GENERAL)
		*value = k->select[msr - MSR_SELECT];
	else
		switch (msr) {
		case MSR_GQ_SNOOP: *value = k->snoop; break;
		case MSR_GLOBAL_CTRL: *value = k->global; break;
		case MSR_GLOBAL_STATUS: sync(u, s); *value = k->status; break;
		case MSR_OVF_CTRL: *value = 0; break;
		case MSR_FIXED_CTRL: *value = k->fixed_control; break;
		case MSR_MATCH: *value = k->match; break;
		default: return ST_MISSING;
		}
	sim_finding_none(f);
	return ST_OK;
}

static enum status write_counter(struct uncore_nhm *u, unsigned s, struct unit *c, uint64_t value, struct sim_finding *f, uint32_t msr)
{
	if (value & ~WIDTH_MASK)
		return fault(f, FIND_RESERVED, msr, value, "uncore counters have 48 bits: more raise #GP");
	go_off(u, s, c);
	c->base = value;
	c->wraps = 0;
	program(u, s, false, f, msr);
	return ST_OK;
}

static enum status write_select(struct uncore_nhm *u, unsigned s, unsigned n, uint64_t value, struct sim_finding *f, uint32_t msr)
{
	struct uncore_socket *k = &u->socket[s];
	struct unit *c = &k->general[n];
	if (value & ~(uint64_t)SELECT_LEGAL)
		return fault(f, FIND_RESERVED, msr, value & ~(uint64_t)SELECT_LEGAL, "reserved bits of an uncore select raise #GP");
	go_off(u, s, c);
	c->occupancy = is_occupancy(u, value);
	if ((k->select[n] ^ value) & 0xFFFF || !(value & SELECT_EN)) { /* another queue, or none: the next one starts anew */
		c->emptied = false;
		c->locks = uncore_taps_bus_locks(u->taps);
	}
	if (c->occupancy)
		uncore_taps_watch_locks(u->taps);
	if (value & SELECT_RESET)
		c->emptied = true;
	if ((k->select[n] ^ value) & ~(uint64_t)SELECT_EN)
		c->told = NULL;
	if (value & SELECT_PMI)
		report(f, FIND_SIMULATOR, msr, value, "interrupts of the uncore");
	k->select[n] = value & ~(uint64_t)SELECT_RESET;
	program(u, s, false, f, msr);
	return ST_OK;
}

static enum status write_plain(struct uncore_nhm *u, unsigned s, uint64_t *at, uint64_t legal, uint64_t value, struct sim_finding *f, uint32_t msr)
{
	if (value & ~legal)
		return fault(f, FIND_RESERVED, msr, value & ~legal, "reserved bits raise #GP");
	sync(u, s);
	*at = value;
	program(u, s, msr == MSR_GQ_SNOOP || msr == MSR_MATCH, f, msr);
	return ST_OK;
}

static enum status nhm_wrmsr(void *box, unsigned thread, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	struct uncore_nhm *u = box;
	const unsigned s = socket_of(u, thread);
	struct uncore_socket *k = &u->socket[s];
	unsigned n;
	struct unit *c = counter_at(k, msr, &n);
	const bool ours = c || msr - MSR_SELECT < GENERAL || msr == MSR_GQ_SNOOP || (msr >= MSR_GLOBAL_CTRL && msr <= MSR_MATCH);
	if (!ours)
		return ST_MISSING;
	sim_finding_none(f);
	if (c)
		return write_counter(u, s, c, value, f, msr);
	if (msr - MSR_SELECT < GENERAL)
		return write_select(u, s, msr - MSR_SELECT, value, f, msr);
	switch (msr) {
	case MSR_GQ_SNOOP: return write_plain(u, s, &k->snoop, 0xFF, value, f, msr);
	case MSR_FIXED_CTRL: return write_plain(u, s, &k->fixed_control, 5, value, f, msr);
	case MSR_MATCH: return write_plain(u, s, &k->match, MATCH_LEGAL, value, f, msr);
	case MSR_GLOBAL_CTRL:
		if (value >> 48 & 0xF || value >> 63)
			report(f, FIND_SIMULATOR, msr, value, "interrupts of the uncore");
		return write_plain(u, s, &k->global, GLOBAL_LEGAL, value, f, msr);
	case MSR_OVF_CTRL:
		if (value & ~OVF_LEGAL)
			return fault(f, FIND_RESERVED, msr, value & ~OVF_LEGAL, "reserved bits raise #GP");
		sync(u, s);
		k->status &= ~value;
		return ST_OK;
	default:
		return fault(f, FIND_FAULT, msr, value, "the uncore's status is read-only");
	}
}

const struct box_kind box_socket = { .name = "socket", .bytes = nhm_bytes, .init = nhm_init, .rdmsr = nhm_rdmsr, .wrmsr = nhm_wrmsr };
