/* pmu/sim/uncore/uncore_hsx.c: the uncore PMU of Haswell-EP, and of Skylake-SP: boxes, their counters and the effects of their registers.
 * uncore_hsx_msr.c and uncore_hsx_pci.c know the addresses of the former, uncore_mesh.c of the latter.
 *
 * Sources: manual 331051-002 (tables 1-2, 1-3, 2-1 to 2-233) as corrected by Linux 6.12 (uncore_snbep.c, hswep_*) and lspci
 * listings of such machines: device ids of the memory channels, SBox stride and first writes, IRP's counters and bus.
 *
 * A counter runs while its select is enabled and neither its box nor the socket is frozen. Box control: 0 clears the
 * selects, 1 the counters, 8 freezes; write only. An overflow sets the box's status, with ov_en also the socket's, and
 * stops the socket: here when its registers are next accessed, not in that cycle. SBo, R2PCIe and R3QPI latch an event only
 * at its second write, or when their own freeze ends: so Linux's driver writes it once and counts. An SBo raises #GP if one write
 * sets more than one new bit of its control.
 *
 * Not modelled: interrupts on overflow, waking cores, free-running counters (power states, idle flits, link retries), what
 * the machine's uncore map marks as unmodelled. Edge and thresholds above 1 of a clock are flagged. */
#include "pmu/sim/uncore/uncore_hsx_state.h"
#include "pmu/text.h"

#define SEL_RESET  (1u << 17)
#define SEL_EDGE   (1u << 18)
#define SEL_TID    (1u << 19)
#define SEL_OV_EN  (1u << 20)
#define SEL_EN     (1u << 22)
#define SEL_INVERT (1u << 23)
#define PCU_OCCUPANCY 0x80     /* it has other edge and invert bits: manual, table 2-158 */
#define PCU_EDGE   (1u << 31)
#define PCU_INVERT (1u << 30)
#define SEL_EVENT  0x20FFFFu /* code, unit mask, extended */
#define FIXED_RESET (1u << 19)

#define BOX_RESERVED_ONE   0x30000u
/* Bits of a box's control; they changed with Sapphire Rapids (Linux 6.12, uncore_discovery.h). */
static const struct control_bits { uint32_t reset_selects, reset_counters, freeze; } control_bits[] = { { 1u, 2u, 1u << 8 }, { 1u << 8, 1u << 9, 1u } };
#define SEL_TID_OF_TABLE   (1u << 16) /* since Sapphire Rapids, of a CHA */
#define CLOCK_OF_TABLE     1u         /* events of clocks since Sapphire Rapids */
#define CLOCK_UMASK_OF_IMC 0x100u
#define LEGAL_ICE_LAKE_CHA 0x3FFFFFFFFCEFFFFull

/* Properties of each kind. `legal`: bits of a select. */
static const struct kind {
	const char *name;
	uint64_t legal;
	uint8_t counters, status_bits, filters;
	bool fixed, overflow, twice, must_one; /* overflow: ov_en exists; twice: a select latches at its second write; must_one: bit 16 or 17:16 of the control must be 1 */
	uint8_t global_bit;                    /* of the first box in the socket's status */
	uint32_t filter_legal[HSX_FILTERS];
} kinds[HSX_KINDS] = {
	[HSX_UBOX] = { "UBox", 0x1FD6FFFF, 2, 2, 1, true, true, false, false, 1, { 0x3F } },
	[HSX_CBO] = { "CBo", 0xFFCEFFFF, 4, 4, 2, false, false, false, true, 0, { 0xFE003F, 0xDFF0FFFF } },
	[HSX_SBO] = { "SBo", 0xFFCEFFFF, 4, 4, 0, false, false, true, true, 0, { 0 } },
	[HSX_PCU] = { "PCU", 0xDFF6C0FF, 4, 4, 1, false, true, false, true, 2, { 0xFFFFFFFF } },
	[HSX_HA] = { "HA", 0xFFD6FFFF, 4, 4, 3, false, true, false, true, 21, { 0xFFFFFFC0, 0x3FFF, 0x3F } },
	[HSX_IMC] = { "iMC channel", 0xFFD6FFFF, 4, 5, 0, true, true, false, true, 23, { 0 } },
	[HSX_IRP] = { "IRP", 0xFFD6FFFF, 4, 4, 0, false, true, false, true, 34, { 0 } },
	[HSX_QPI] = { "QPI port", 0xFFF6FFFF, 4, 4, 4, false, true, false, true, 25, { 0x8003FFF8, 0xF000F, 0x8003FFF8, 0xF000F } },
	[HSX_R2] = { "R2PCIe", 0xFFD6FFFF, 4, 4, 0, false, true, true, false, 29, { 0 } },
	[HSX_R3] = { "R3QPI link", 0xFFD6FFFF, 3, 3, 0, false, true, true, false, 27, { 0 } },
	/* Linux 6.12, skx_*: masks of selects and filters; here no box of a mesh has a bit in the socket's status */
	[HSX_CHA] = { "CHA", 0xFFCEFFFF, 4, 4, 2, false, false, false, false, 0, { 0x7FE1FFF, 0xFFFFFE3B } },
	[HSX_M2M] = { "M2M", 0xFFC6FFFF, 4, 4, 0, false, false, false, false, 0, { 0 } },
	[HSX_UPI] = { "UPI link", 0xFFEFFFFFC6FFFF, 4, 4, 0, false, false, false, false, 0, { 0 } },
	[HSX_M3UPI] = { "M3UPI link", 0xFFC6FFFF, 4 /* on Skylake-SP with registers for three */, 3, 0, false, false, false, false, 0, { 0 } },
	[HSX_IIO] = { "IIO stack", 0x7FFFFFC6FFFF, 4, 4, 0, false, false, false, false, 0, { 0 } },
	[HSX_TRAFFIC] = { "IRP of a stack", 0xFFC6FFFF, 4 /* of which most layouts have registers for two */, 2, 0, false, false, false, false, 0, { 0 } },
	[HSX_M2PCIE] = { "M2PCIe of a stack", 0xFFC6FFFF, 4, 4, 0, false, false, false, false, 0, { 0 } },
};

static const struct control_bits *bits_of(const struct hsx *u) { return &control_bits[hsx_layout(u->m) >= HSX_SAPPHIRE_RAPIDS]; }

/* Bits of a select. Linux 6.12, icx_*: also 57:32 of a CHA, 39:32 of an M2M, 47:36 and 50:48 of an IIO stack; spr_*: also 55:32 of all, with another
 * bit for threads; of a CHA, by the vendor's unit masks, 62:32. */
static uint64_t legal_of(const struct hsx *u, const struct box *b)
{
	static const uint64_t ice_lake[HSX_KINDS] = { [HSX_CHA] = LEGAL_ICE_LAKE_CHA, [HSX_M2M] = 0xFFFFC6FFFFull, [HSX_IIO] = 0x7FFFFFFC6FFFFull };
	const enum hsx_layout layout = hsx_layout(u->m);
	if (layout == HSX_ICE_LAKE && ice_lake[b->kind])
		return ice_lake[b->kind];
	if (layout < HSX_SAPPHIRE_RAPIDS || b->kind == HSX_UBOX || b->kind == HSX_PCU || b->kind == HSX_IMC)
		return kinds[b->kind].legal;
	return b->kind == HSX_CHA ? 0x7FFFFFFFFFC6FFFFull | SEL_TID_OF_TABLE : b->kind == HSX_IIO ? 0x7FFFFFFC6FFFFull : 0xFFFFFFFFC6FFFFull;
}

const char *hsx_kind_name(enum hsx_kind kind) { return kinds[kind].name; }

/* ---- counting --------------------------------------------------------------------------------- */

static unsigned width_of(const struct hsx *u, const struct box *b, unsigned n)
{
	const bool narrow = (b->kind == HSX_UBOX && n != HSX_FIXED) || b->kind == HSX_SBO || b->kind == HSX_R3;
	return narrow ? (unsigned)u->m->uncore_narrow_width : 48;
}

static uint64_t mask_of(const struct hsx *u, const struct box *b, unsigned n) { return (1ull << width_of(u, b, n)) - 1; }

/* n uncore cycles in cycles of a box's clock; split so that it does not overflow. */
static uint64_t cycles_at(const struct machine *m, uint64_t n, uint64_t hz)
{
	return hz == m->uncore_hz ? n : n / m->uncore_hz * hz + n % m->uncore_hz * (hz / 1000) / (m->uncore_hz / 1000);
}

static uint64_t value_of(const struct hsx *u, unsigned s, const struct box *b, unsigned n)
{
	const struct counter *c = &b->counter[n];
	const uint64_t hz = hsx_clock_hz(u->m, (enum hsx_kind)b->kind);
	if (!c->on || c->dead)
		return c->base;
	if (c->how == UNCORE_CLOCK) /* the fixed counter of Ice Lake-SP's channels: perfmon ICX, UNC_M_HCLOCKTICKS */
		return c->base + cycles_at(u->m, uncore_taps_now(u->taps) - c->start, n == HSX_FIXED && b->kind == HSX_IMC && b->told ? hz / 2 : hz);
	const uint64_t counted = uncore_watch_value(u->taps, s, (unsigned)c->watch);
	return c->base + (c->time ? cycles_at(u->m, counted, hz) : counted);
}

/* Applies the select's own threshold to what the event counts. NULL: done; else why not. */
static const char *apply_threshold(const struct box *b, const struct counter *c, struct uncore_watch *w)
{
	const unsigned threshold = c->select >> 24 & (b->kind == HSX_PCU ? 0x1F : 0xFF);
	const bool pcu = b->kind == HSX_PCU && (c->latched & 0xFF) == PCU_OCCUPANCY;
	const bool edge = c->select & (pcu ? PCU_EDGE : SEL_EDGE), inverted = c->select & (pcu ? PCU_INVERT : SEL_INVERT);
	if (!threshold) /* edge and invert act on the comparison's result */
		return NULL;
	if (w->cmask && threshold > 1)
		return "a threshold over a count that is 0 or 1";
	if (!w->cmask)
		w->cmask = (uint8_t)threshold;
	w->inv ^= inverted;
	w->edge = edge;
	return NULL;
}

/* The event, with the part of its unit mask above bit 31 on meshes since Ice Lake-SP. */
static uint64_t select_of(const struct hsx *u, const struct counter *c)
{
	return c->latched | (hsx_layout(u->m) == HSX_SKYLAKE ? 0 : (uint64_t)c->select_high << 32);
}

/* *out: what an enabled counter's registers select. Returns NULL, or why it counts nothing. */
static const char *meaning_of(const struct hsx *u, const struct box *b, unsigned n, struct hsx_meaning *out)
{
	const struct counter *c = &b->counter[n];
	hsx_meaning(u->m, (enum hsx_kind)b->kind, b->instance, select_of(u, c), &b->filter, out);
	if (out->how == UNCORE_COUNTER_0) {
		if (n == 0 || !b->counter[0].on || b->counter[0].dead || meaning_of(u, b, 0, out))
			return "counter 0 counts nothing that this one could see";
	}
	if (out->how == UNCORE_UNMODELLED)
		return out->why;
	if (out->how == UNCORE_NEVER)
		return NULL;
	if (b->kind != HSX_PCU && c->select & (hsx_layout(u->m) < HSX_SAPPHIRE_RAPIDS ? SEL_TID : SEL_TID_OF_TABLE)) { /* of a CHA: thread 2:0, core 8:3 */
		const uint32_t id = b->filter.value[0];
		out->watch.filter.by_thread = true;
		out->watch.filter.thread = b->kind == HSX_CHA ? (uint8_t)((id >> 3 & 0x3F) * 2 + (id & 7)) : id & 0x3F;
	}
	if (out->how == UNCORE_CLOCK)
		return c->select >> 24 > 1 || c->select & (SEL_EDGE | SEL_INVERT) ? "the clock has no threshold in this model" : NULL;
	return apply_threshold(b, c, &out->watch);
}

/* Begins to watch what an enabled counter counts. Returns NULL, or why it counts nothing. */
static const char *begin(struct hsx *u, unsigned s, struct box *b, unsigned n, enum finding_kind *kind)
{
	struct counter *c = &b->counter[n];
	struct hsx_meaning meaning;
	unsigned number;
	*kind = FIND_UNMODELLED;
	c->how = UNCORE_CLOCK;
	if (n == HSX_FIXED)
		return NULL;
	const struct uncore_row *row = hsx_row(b->map, (enum hsx_kind)b->kind, select_of(u, c));
	/* an IRP has two sets of two counters, and the row's mask applies to each set */
	if (row && !(row->counters >> (b->kind == HSX_IRP ? n & 1 : n) & 1)) {
		*kind = FIND_WRONG_COUNTER;
		return "this counter cannot count the event";
	}
	if (!row)
		return "no such event code in this box";
	const char *why = meaning_of(u, b, n, &meaning);
	c->how = (uint8_t)meaning.how;
	if (why || meaning.how == UNCORE_NEVER || meaning.how == UNCORE_CLOCK)
		return why;
	if (uncore_watch_begin(u->taps, s, &meaning.watch, &number) != ST_OK)
		return "no memory for what it counts";
	c->watch = (int16_t)number;
	c->time = uncore_watch_is_time(&meaning.watch);
	return NULL;
}

static bool wanted(const struct hsx_socket *k, const struct box *b, unsigned n)
{
	return !k->frozen && !b->frozen && b->counter[n].select & SEL_EN && (n < kinds[b->kind].counters || (n == HSX_FIXED && kinds[b->kind].fixed));
}

static void go_off(struct hsx *u, unsigned s, struct box *b, unsigned n)
{
	struct counter *c = &b->counter[n];
	if (!c->on)
		return;
	c->base = value_of(u, s, b, n) & mask_of(u, b, n);
	c->wraps = 0;
	c->on = false;
	if (c->watch >= 0)
		uncore_watch_end(u->taps, s, (unsigned)c->watch);
	c->watch = -1;
}

/* Reports a mistake of counter n, once until its select changes or the mistake is gone. */
static void tell(const struct access_to *a, struct box *b, unsigned n, enum mistake which, enum finding_kind kind, const char *why, const char *cite)
{
	struct counter *c = &b->counter[n];
	if (!a)
		return;
	if (why && !(c->told & which))
		hsx_finding_of_counter(a, kind, b, n, why, cite);
	c->told = (uint8_t)(why ? c->told | which : c->told & ~which);
}

static void go_on(struct hsx *u, unsigned s, struct box *b, unsigned n, const struct access_to *a)
{
	struct counter *c = &b->counter[n];
	enum finding_kind kind;
	c->on = true;
	c->watch = -1;
	c->start = uncore_taps_now(u->taps);
	const bool latched = n == HSX_FIXED || c->latched == (c->select & SEL_EVENT);
	tell(a, b, n, MISTAKE_LATCH, FIND_NO_LATCH, latched ? NULL : "an event that was not written twice, nor while its box was frozen: the one before it counts",
	     "331051, SBo, R2PCIe and R3QPI control");
	const char *why = begin(u, s, b, n, &kind);
	c->dead = why || c->how == UNCORE_NEVER;
	c->ran = true;
	if (latched)
		tell(a, b, n, MISTAKE_EVENT, kind, why, kind == FIND_WRONG_COUNTER ? "331051, performance monitoring events of the box" : NULL);
	const unsigned threshold = c->select >> 24 & (b->kind == HSX_PCU ? 0x1F : 0xFF);
	tell(a, b, n, MISTAKE_THRESHOLD, FIND_IGNORED, n != HSX_FIXED && !threshold && c->select & (SEL_EDGE | SEL_INVERT) ?
	     "invert or edge with a threshold of 0: they act on the comparison's result" : NULL, "331051, counter control, .invert and .edge_det");
}

/* Enables and disables counters according to the registers. `again`: what their events depend on has changed. */
static void program_box(struct hsx *u, unsigned s, struct box *b, bool again, const struct access_to *a)
{
	for (unsigned n = 0; n <= HSX_FIXED; n++) {
		const bool on = wanted(&u->socket[s], b, n);
		if (b->counter[n].on && (!on || again))
			go_off(u, s, b, n);
		if (on && !b->counter[n].on)
			go_on(u, s, b, n, a);
	}
}

void hsx_program(struct hsx *u, unsigned s, const struct access_to *a)
{
	for (unsigned i = 0; i < u->socket[s].boxes; i++)
		program_box(u, s, &u->socket[s].box[i], false, a);
}

static uint64_t global_bit(const struct box *b)
{
	if (b->kind == HSX_R3 && b->instance == 2)
		return 0;
	if (b->kind == HSX_QPI && b->instance == 2)
		return 0;
	if (b->kind == HSX_IMC)
		return 1ull << (kinds[b->kind].global_bit + (b->instance >= 4));
	return 1ull << (kinds[b->kind].global_bit + b->instance);
}

/* An overflow with ov_en stops the socket. */
void hsx_sync(struct hsx *u, unsigned s)
{
	struct hsx_socket *k = &u->socket[s];
	bool stop = false;
	for (unsigned i = 0; i < k->boxes; i++) {
		struct box *b = &k->box[i];
		for (unsigned n = 0; n <= HSX_FIXED; n++) {
			struct counter *c = &b->counter[n];
			const uint64_t wraps = c->on ? value_of(u, s, b, n) >> width_of(u, b, n) : 0;
			if (!c->on || wraps == c->wraps)
				continue;
			c->wraps = wraps;
			const bool fixed_ubox = b->kind == HSX_UBOX && n == HSX_FIXED;
			const bool told = c->select & SEL_OV_EN && kinds[b->kind].overflow;
			const uint64_t bit = fixed_ubox ? 1 : global_bit(b);
			if (!fixed_ubox)
				b->status |= 1u << (b->kind == HSX_IMC ? (n == HSX_FIXED ? 0 : n + 1) : n);
			stop |= told && !(k->status & bit); /* the socket stops again only after the bit was cleared */
			if (fixed_ubox || told)
				k->status |= bit;
		}
	}
	if (stop && !k->frozen) {
		k->frozen = true;
		hsx_program(u, s, NULL);
	}
}

/* ---- registers of a box ----------------------------------------------------------------------- */

static bool stuck(const struct hsx *u, const struct box *b) { return u->m->fault_uncore_stuck == b->kind + 1u; }

enum status hsx_read_box(struct hsx *u, unsigned s, struct box *b, enum reg reg, unsigned n, bool msr, uint64_t *value,
                         const struct access_to *a)
{
	uint64_t v = 0;
	const struct counter *c = &b->counter[n > HSX_FIXED ? 0 : n];
	switch (reg) {
	case REG_SELECT: v = b->counter[n].select | (msr ? (uint64_t)b->counter[n].select_high << 32 : 0); break;
	case REG_SELECT_HIGH: v = b->counter[n].select_high; break;
	case REG_COUNTER: case REG_COUNTER_HIGH:
		if (reg == REG_COUNTER)
			tell(a, b, n, MISTAKE_FROZEN, FIND_IGNORED, !(c->select & SEL_EN) || c->ran ? NULL :
			     u->socket[s].frozen ? "the socket has been frozen since this counter was enabled: it has counted nothing" :
			     "its box has been frozen since this counter was enabled: it has counted nothing", "331051, box control, .frz");
		v = stuck(u, b) ? 0 : value_of(u, s, b, n) & mask_of(u, b, n);
		if (!msr)
			v = reg == REG_COUNTER ? v & UINT32_MAX : v >> 32;
		break;
	case REG_FILTER: v = b->filter.value[n]; break;
	case REG_STATUS: hsx_sync(u, s); v = b->status; break;
	default: break; /* a control is write-only */
	}
	*value = v;
	return ST_OK;
}

static enum status write_control(struct hsx *u, unsigned s, struct box *b, uint64_t value, const struct access_to *a)
{
	const struct kind *k = &kinds[b->kind];
	const struct control_bits *bits = bits_of(u);
	if (value & ~(uint64_t)(bits->reset_selects | bits->reset_counters | bits->freeze | BOX_RESERVED_ONE))
		hsx_finding_of_box(a, FIND_RESERVED_IGNORED, b, value, "reserved bits of a box control", "331051, box control");
	const uint64_t fresh = value & ~(uint64_t)b->last_control;
	if (b->kind == HSX_SBO && fresh & (fresh - 1)) {
		hsx_finding_of_box(a, FIND_FAULT, b, value, "more than one new bit in an SBox control raises #GP", "331051, SBo box control");
		return ST_FAULT;
	}
	if (k->must_one && !hsx_mesh(u->m) && b->kind != HSX_SBO && !(value & BOX_RESERVED_ONE))
		hsx_finding_of_box(a, FIND_RESERVED_IGNORED, b, value, "bits 17:16 of a box control must be written 1, or bit 16 alone as drivers do", "331051, box control");
	const bool released = b->frozen && !(value & bits->freeze);
	b->last_control = (uint32_t)value;
	b->frozen = value & bits->freeze;
	for (unsigned n = 0; n <= HSX_FIXED; n++) {
		struct counter *c = &b->counter[n];
		go_off(u, s, b, n);
		if (value & bits->reset_selects)
			c->select = c->select_high = c->latched = 0;
		else if (released)
			c->latched = c->select & SEL_EVENT;
		if (value & bits->reset_counters)
			c->base = 0;
	}
	program_box(u, s, b, false, a);
	return ST_OK;
}

static enum status write_select(struct hsx *u, unsigned s, struct box *b, unsigned n, uint64_t value, bool msr, const struct access_to *a)
{
	const struct kind *k = &kinds[b->kind];
	struct counter *c = &b->counter[n];
	const uint64_t legal = n == HSX_FIXED ? (SEL_EN | SEL_OV_EN | (b->kind == HSX_IMC ? FIXED_RESET | SEL_INVERT : 0)) : legal_of(u, b);
	if (value & ~legal) {
		const bool faults = msr && value >> 32 & ~(legal >> 32);
		if (a) {
			struct sim_finding one = hsx_finding_of(a, b, n, value);
			one.kind = faults ? FIND_RESERVED : FIND_RESERVED_IGNORED;
			one.why = "reserved bits of a select";
			one.cite = "331051, counter control";
			sim_finding_add(a->f, &one);
		}
		if (faults)
			return ST_FAULT;
		value &= legal;
	}
	go_off(u, s, b, n);
	c->ran = false;
	if (value & (n == HSX_FIXED ? FIXED_RESET : SEL_RESET))
		c->base = 0;
	if (n == HSX_FIXED || b->kind != HSX_QPI) /* a QPI's stays 1 until it is written 0, and holds the counter at 0 */
		value &= ~(uint64_t)(n == HSX_FIXED ? FIXED_RESET : SEL_RESET);
	if (!k->twice || (value & SEL_EVENT) == (c->select & SEL_EVENT) || n == HSX_FIXED)
		c->latched = value & SEL_EVENT;
	if ((value ^ c->select) & ~(uint64_t)SEL_EN)
		c->told = 0;
	c->select = (uint32_t)value;
	if (msr)
		c->select_high = (uint32_t)(value >> 32);
	program_box(u, s, b, n == 0, a); /* others may depend on counter 0 */
	return ST_OK;
}

enum status hsx_write_box(struct hsx *u, unsigned s, struct box *b, enum reg reg, unsigned n, bool msr, uint64_t value, const struct access_to *a)
{
	const struct kind *k = &kinds[b->kind];
	uint64_t now;
	switch (reg) {
	case REG_CONTROL: return write_control(u, s, b, value, a);
	case REG_SELECT: return write_select(u, s, b, n, value, msr, a);
	case REG_SELECT_HIGH:
		if (value & ~(legal_of(u, b) >> 32))
			hsx_finding_of_box(a, FIND_RESERVED_IGNORED, b, value & ~(legal_of(u, b) >> 32), "reserved bits of a select", "331051, counter control");
		b->counter[n].select_high = (uint32_t)(value & legal_of(u, b) >> 32);
		program_box(u, s, b, true, a);
		return ST_OK;
	case REG_COUNTER: case REG_COUNTER_HIGH:
		now = value_of(u, s, b, n);
		go_off(u, s, b, n);
		if (msr)
			now = value;
		else
			now = reg == REG_COUNTER ? (now & ~(uint64_t)UINT32_MAX) | value : (now & UINT32_MAX) | value << 32;
		b->counter[n].base = now & mask_of(u, b, n);
		program_box(u, s, b, false, a);
		return ST_OK;
	case REG_FILTER:
		if (value & ~(uint64_t)k->filter_legal[n])
			hsx_finding_of_box(a, FIND_RESERVED_IGNORED, b, value & ~(uint64_t)k->filter_legal[n], "reserved bits of a filter", "331051, box filter");
		b->filter.value[n] = (uint32_t)value & k->filter_legal[n];
		program_box(u, s, b, true, a);
		return ST_OK;
	default:
		if (value >> k->status_bits)
			hsx_finding_of_box(a, FIND_RESERVED_IGNORED, b, value, "reserved bits of a box's status", "331051, box status");
		hsx_sync(u, s);
		b->status &= ~(uint32_t)value;
		return ST_OK;
	}
}

unsigned hsx_counters(enum hsx_kind kind) { return kinds[kind].counters; }

struct box *hsx_find_box(struct hsx_socket *k, enum hsx_kind kind, unsigned instance)
{
	for (unsigned i = 0; i < k->boxes; i++)
		if (k->box[i].kind == kind && k->box[i].instance == instance)
			return &k->box[i];
	return NULL;
}

/* ---- set-up ----------------------------------------------------------------------------------- */

static unsigned boxes_of(const struct machine *m)
{
	unsigned n = 0;
	for (unsigned kind = 0; kind < HSX_KINDS; kind++)
		n += hsx_boxes(m, (enum hsx_kind)kind);
	return n < BOXES_MAX ? n : BOXES_MAX;
}

size_t hsx_bytes(const struct machine *m)
{
	const size_t sockets = m->topology_sockets < SOCKETS_MAX ? (size_t)m->topology_sockets : SOCKETS_MAX;
	return sizeof(struct hsx) + sockets * boxes_of(m) * sizeof(struct box);
}

void hsx_init(void *box, const struct machine *m, struct uncore_taps *taps)
{
	struct hsx *u = box;
	const unsigned boxes = boxes_of(m);
	memset(u, 0, hsx_bytes(m));
	u->m = m;
	u->taps = taps;
	for (unsigned s = 0; s < m->topology_sockets && s < SOCKETS_MAX; s++) {
		struct hsx_socket *k = &u->socket[s];
		k->box = (struct box *)(u + 1) + s * boxes;
		k->config = (uint32_t)m->l3_slices;
		for (unsigned kind = 0; kind < HSX_KINDS; kind++)
			for (unsigned i = 0; i < hsx_boxes(m, (enum hsx_kind)kind) && k->boxes < boxes; i++)
				k->box[k->boxes++] = (struct box){ .map = m->uncore, .kind = (uint8_t)kind, .instance = (uint8_t)i, .told = hsx_layout(m) != HSX_SKYLAKE, .pci = hsx_layout(m) != HSX_SKYLAKE ? 0 : hsx_mesh(m) ? hsx_mesh_pci_of(m, s, (enum hsx_kind)kind, i) : hsx_pci_of(m, s, (enum hsx_kind)kind, i) };
		for (unsigned i = 0; i < k->boxes; i++) {
			struct box *b = &k->box[i];
			for (unsigned n = 0; n <= HSX_FIXED; n++)
				b->counter[n].watch = -1;
			if (m->fault_firmware_counting && (b->kind == HSX_CBO || b->kind == HSX_CHA || b->kind == HSX_IMC)) { /* clocks, left on */
				b->counter[1].select = SEL_EN | (hsx_layout(m) < HSX_SAPPHIRE_RAPIDS ? 0 : CLOCK_OF_TABLE | (b->kind == HSX_IMC ? CLOCK_UMASK_OF_IMC : 0));
				b->counter[1].latched = b->counter[1].select & SEL_EVENT;
				b->counter[1].base = 0x1234;
			}
		}
		hsx_program(u, s, NULL);
	}
}

const struct box_kind box_boxes = { .name = "boxes", .bytes = hsx_bytes, .init = hsx_init, .rdmsr = hsx_rdmsr, .wrmsr = hsx_wrmsr,
	.pci_read32 = hsx_pci_read32, .pci_write32 = hsx_pci_write32 };
