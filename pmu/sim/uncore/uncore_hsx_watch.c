/* pmu/sim/uncore/uncore_hsx_watch.c: what a select of a PMON box counts: the rows of the machine's uncore map for its code, with
 * the units of the box and what its filters say.
 *
 * Not modelled: thresholds over codes that combine with a clock; a device's thread id beside those of cores. */
#include "pmu/sim/uncore/uncore_hsx.h"

#define RANK_BANKS 16       /* of DDR4 */
#define PCU_HZ 800000000ull /* manual 331051-002, 2.8 */

uint64_t hsx_clock_hz(const struct machine *m, enum hsx_kind kind)
{
	switch (kind) {
	case HSX_PCU: return PCU_HZ;
	case HSX_QPI: return m->uncore_qpi_mts * 1000000 / 8; /* eight transfers a cycle */
	case HSX_IMC: return m->dram_channel_bytes_per_second / 16; /* 8 bytes at both edges */
	default: return m->uncore_hz;
	}
}

unsigned hsx_boxes(const struct machine *m, enum hsx_kind kind)
{
	switch (kind) {
	case HSX_CBO: return (unsigned)m->l3_slices;
	case HSX_SBO: return (unsigned)m->uncore_sbos;
	case HSX_HA: return (unsigned)m->uncore_home_agents;
	case HSX_IMC: return (unsigned)m->dram_channels;
	case HSX_QPI: case HSX_R3: return (unsigned)m->uncore_qpi_links;
	default: return 1;
	}
}

enum unit_kind { SLICE, CHANNEL, LINK, STOP, CORE, NONE };
static const uint8_t unit_kinds[UNC_COUNT] = {
#define UNCORE_SIGNAL(name, kind, unit, what) [UNC_##name] = unit,
#include "pmu/sim/signals/uncore_signals.def"
#undef UNCORE_SIGNAL
};

/* The units of a signal that a box counts. */
static uint32_t units_of(const struct machine *m, enum hsx_kind kind, unsigned instance, enum unit_kind unit)
{
	switch (unit) {
	case SLICE: return kind == HSX_CBO ? 1u << instance : UNITS_ALL;
	case LINK: return kind == HSX_QPI || kind == HSX_R3 ? 1u << instance : UNITS_ALL;
	case CHANNEL:
		if (kind == HSX_HA) { /* each home agent has its share of the socket's channels, in order */
			const unsigned per = (unsigned)((m->dram_channels + m->uncore_home_agents - 1) / m->uncore_home_agents);
			return ((1u << per) - 1) << instance * per;
		}
		return kind == HSX_IMC ? 1u << instance : UNITS_ALL;
	case STOP:
		switch (kind) {
		case HSX_CBO: return 1u << (STOP_SLICE + instance);
		case HSX_SBO: return 1u << (STOP_SBO + instance);
		case HSX_HA: return 1u << (STOP_HOME + instance);
		case HSX_R2: case HSX_IRP: return 1u << STOP_DEVICES;
		case HSX_R3: case HSX_QPI: return 1u << (STOP_LINK + instance);
		default: return UNITS_ALL;
		}
	default: return UNITS_ALL;
	}
}

/* ---- filters ---------------------------------------------------------------------------------- */

static void filters_of(unsigned flags, const struct hsx_filters *f, struct uncore_pass *out)
{
	const uint32_t *v = f->value;
	if (flags & UNCORE_OPCODE)
		out->by_opcode = true, out->opcode = v[1] >> 20 & 0x1FF;
	if (flags & UNCORE_NODE)
		out->by_node = true, out->nodes = (uint16_t)v[1];
	if (flags & UNCORE_STATE) { /* bits 17 to 23: I S E M F, D and M' never occur here */
		static const uint64_t states[5] = { UTAG(I), UTAG(S), UTAG(E), UTAG(M), UTAG(F) };
		out->by_state = true;
		for (unsigned i = 0; i < COUNT_OF(states); i++)
			if (v[0] >> (17 + i) & 1)
				out->states |= states[i];
	}
	if (flags & UNCORE_MATCH) {
		out->by_match = true;
		memcpy(out->match, v, sizeof(out->match));
		memcpy(out->mask, v + 2, sizeof(out->mask));
	}
	if (flags & UNCORE_ADDRESS) /* the address's bits 45:6 */
		out->by_line = true, out->line = v[0] >> 6 | v[1] << 26, out->line_mask = UINT32_MAX;
	if (flags & UNCORE_MESSAGE)
		out->by_opcode = true, out->opcode = v[2] & 0x3F;
}

/* ---- a select --------------------------------------------------------------------------------- */

static void add_terms(const struct machine *m, enum hsx_kind kind, unsigned instance, const struct uncore_row *e, struct hsx_meaning *out)
{
	for (unsigned i = 0; i < e->term_count; i++) {
		const struct uncore_term *t = &e->terms[i];
		uint32_t units = units_of(m, kind, instance, (enum unit_kind)unit_kinds[t->signal]);
		if (t->unit < UNCORE_OWN_FIRST)
			units = 1u << t->unit;
		else if (t->unit != UNCORE_OWN_UNITS)
			units &= units ? 1u << (__builtin_ctz(units) + t->unit - UNCORE_OWN_FIRST) : 0;
		if (out->watch.part_count == UNCORE_PARTS) {
			out->how = UNCORE_UNMODELLED;
			out->why = "more sub-events together than the model adds up";
			return;
		}
		out->watch.parts[out->watch.part_count++] = (struct uncore_part){ t->signal, t->times, units, t->tags };
	}
}

/* Whether the machine is one that the row is for. */
static bool is_for(const struct machine *m, unsigned flags)
{
	const bool off = m->dram_power_down_cycles;
	return !(flags & UNCORE_OPEN_PAGE && !m->dram_open_page) && !(flags & UNCORE_CLOSED_PAGE && m->dram_open_page) &&
	       !(flags & UNCORE_INDIRECT && m->uncore_direct2core) && !(flags & UNCORE_FAST_EXIT && !(off && !m->dram_power_down_slow)) &&
	       !(flags & UNCORE_SLOW_EXIT && !(off && m->dram_power_down_slow));
}

/* The registers' and the machine's part in how a row counts; sets its thresholds. */
static void row_how(const struct machine *m, const struct uncore_row *e, const struct hsx_filters *filters, struct hsx_meaning *out)
{
	out->how = (enum uncore_how)e->how;
	if (e->how == UNCORE_CYCLES || e->how == UNCORE_BEYOND)
		out->watch.cmask = e->flags & UNCORE_RANK ? 1 : e->least, out->watch.edge = e->flags & UNCORE_EDGE, out->watch.beyond = e->how == UNCORE_BEYOND;
	if (e->how == UNCORE_IDLE)
		out->watch.cmask = 1, out->watch.inv = true;
	if (e->flags & UNCORE_LANES && !m->uncore_qpi_idle_cycles)
		out->how = e->how == UNCORE_IDLE ? UNCORE_NEVER : UNCORE_CLOCK;
	if (e->flags & UNCORE_CLOCKED && !m->dram_power_down_cycles)
		out->how = UNCORE_CLOCK;
	if (e->flags & UNCORE_RANK && e->least >= (m->dram_banks + RANK_BANKS - 1) / RANK_BANKS)
		out->how = UNCORE_NEVER;
	if (e->flags & UNCORE_BAND && m->core_hz / 100000000 < (filters->value[0] >> 8 * e->least & 0xFF))
		out->how = UNCORE_NEVER;
}

/* What passes by the row itself. Unit masks of a rank: 0 to 15 are its banks, 16 all of them, 17 to 20 groups of four. */
static void row_filter(const struct machine *m, const struct uncore_row *e, uint8_t umask, struct uncore_pass *f)
{
	if (e->flags & (UNCORE_BANK | UNCORE_CLOCKED)) {
		f->by_bank = true;
		f->rank = e->least;
		f->banks = (uint16_t)(e->flags & UNCORE_CLOCKED || umask == 16 ? 0xFFFF : umask < 16 ? 1u << umask : umask <= 20 ? 0xFu << 4 * (umask - 17) : 0);
	}
	if (e->flags & UNCORE_REGION) {
		f->by_region = true;
		f->region = e->least;
		f->region_lines = (uint32_t)((m->dram_node_bytes / 64 + m->uncore_regions - 1) / m->uncore_regions);
	}
}

const struct uncore_row *hsx_row(const struct uncore_map *map, enum hsx_kind kind, uint32_t select)
{
	const unsigned code = (select & 0xFF) | (select >> 21 & 1 ? UNCORE_CODE_EXTENDED : 0);
	const struct uncore_row *rows[8];
	return uncore_map_find(map, (enum uncore_box)kind, code, (uint8_t)(select >> 8), rows) ? rows[0] : uncore_map_code(map, (enum uncore_box)kind, code);
}

void hsx_meaning(const struct machine *m, enum hsx_kind kind, unsigned instance, uint32_t select, const struct hsx_filters *filters,
                 struct hsx_meaning *out)
{
	const struct uncore_row *rows[8];
	const unsigned code = (select & 0xFF) | (select >> 21 & 1 ? UNCORE_CODE_EXTENDED : 0);
	const uint8_t umask = (uint8_t)(select >> 8);
	const unsigned n = uncore_map_find(m->uncore, (enum uncore_box)kind, code, umask, rows);
	unsigned flags = 0, silent = 0;
	*out = (struct hsx_meaning){ .how = n ? (enum uncore_how)rows[0]->how : UNCORE_UNMODELLED, .why = n ? rows[0]->why : "this unit mask" };
	for (unsigned i = 0; i < n; i++) {
		const struct uncore_row *e = rows[i];
		if (e->how == UNCORE_UNMODELLED) {
			out->how = UNCORE_UNMODELLED;
			out->why = e->why;
			return;
		}
		silent += e->how == UNCORE_NEVER || !is_for(m, e->flags);
		if (e->how == UNCORE_NEVER || !is_for(m, e->flags))
			continue;
		flags |= e->flags;
		row_how(m, e, filters, out);
		add_terms(m, kind, instance, e, out);
		row_filter(m, e, umask, &out->watch.filter);
	}
	if (n && silent == n)
		out->how = UNCORE_NEVER;
	filters_of(flags, filters, &out->watch.filter);
}
