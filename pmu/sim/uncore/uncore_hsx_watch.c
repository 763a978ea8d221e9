/* pmu/sim/uncore/uncore_hsx_watch.c: what a select of a PMON box counts: the rows of the machine's uncore map for its code, for
 * the units of the box, through its filters.
 *
 * Not modelled: thresholds over codes that combine with a clock; a device's thread id beside those of cores. */
#include "pmu/sim/uncore/uncore_hsx.h"
#include "pmu/text.h"

#define RANK_BANKS 16       /* of DDR4 */
#define CHA_REMOTE      1u
#define CHA_LOCAL       2u
#define CHA_ALL_OPCODES 8u
#define CHA_NOT_NEAR    32u
#define CBO_NON_COHERENT 0x40000000u /* filter 1 of a CBo (331051-002, table 2-19) */
#define CBO_ISOCHRONOUS  0x80000000u
#define STACKS 6            /* stacks of devices of a mesh: Linux 6.12, skx_uncore_iio */
#define PCU_HZ 800000000ull /* manual 331051-002, 2.8 */
#define PCU_HZ_SINCE_ICE_LAKE 1000000000ull /* perfmon ICX, UNC_P_CLOCKTICKS */

uint64_t hsx_clock_hz(const struct machine *m, enum hsx_kind kind)
{
	switch (kind) {
	case HSX_PCU: return hsx_layout(m) == HSX_SKYLAKE ? PCU_HZ : PCU_HZ_SINCE_ICE_LAKE;
	case HSX_QPI: case HSX_UPI: return m->uncore_qpi_mts * 1000000 / 8; /* eight transfers per cycle */
	case HSX_IMC: return m->dram_channel_bytes_per_second / 16; /* 8 bytes at both edges */
	default: return m->uncore_hz;
	}
}

bool hsx_mesh(const struct machine *m) { return str_equal(m->pmu_uncore, "mesh"); }

enum hsx_layout hsx_layout(const struct machine *m) { return hsx_mesh(m) ? (enum hsx_layout)m->uncore_layout : HSX_SKYLAKE; }

unsigned hsx_boxes(const struct machine *m, enum hsx_kind kind)
{
	const bool both = kind == HSX_UBOX || kind == HSX_PCU || kind == HSX_IMC;
	if (!both && hsx_mesh(m) != (kind >= HSX_CHA))
		return 0;
	switch (kind) {
	case HSX_CBO: case HSX_CHA: return (unsigned)m->l3_slices;
	case HSX_SBO: return (unsigned)m->uncore_sbos;
	case HSX_HA: case HSX_M2M: return (unsigned)m->uncore_home_agents;
	case HSX_IIO: case HSX_TRAFFIC: return STACKS;
	case HSX_M2PCIE: return hsx_layout(m) == HSX_ICE_LAKE || hsx_layout(m) == HSX_SAPPHIRE_RAPIDS ? STACKS : 0;
	case HSX_IMC: return (unsigned)m->dram_channels;
	case HSX_M3UPI: return hsx_layout(m) == HSX_SIERRA_FOREST ? 0 : (unsigned)m->uncore_qpi_links;
	case HSX_QPI: case HSX_R3: case HSX_UPI: return (unsigned)m->uncore_qpi_links;
	default: return 1;
	}
}

enum unit_kind { SLICE, CHANNEL, LINK, STOP, CORE, COMPLEX, NONE };
static const uint8_t unit_kinds[UNC_COUNT] = {
#define UNCORE_SIGNAL(name, kind, unit, what) [UNC_##name] = unit,
#include "pmu/sim/signals/uncore_signals.def"
#undef UNCORE_SIGNAL
};

/* The units of a signal that a box counts. */
static uint64_t units_of(const struct machine *m, enum hsx_kind kind, unsigned instance, enum unit_kind unit)
{
	switch (unit) {
	case SLICE: return kind == HSX_CBO || kind == HSX_CHA ? 1ull << instance : UNITS_ALL;
	case LINK: return kind == HSX_QPI || kind == HSX_R3 || kind == HSX_UPI || kind == HSX_M3UPI ? 1ull << instance : UNITS_ALL;
	case CHANNEL:
		if (kind == HSX_HA || kind == HSX_M2M) { /* each home agent has its share of the socket's channels, in order */
			const unsigned per = (unsigned)((m->dram_channels + m->uncore_home_agents - 1) / m->uncore_home_agents);
			return ((1ull << per) - 1) << instance * per;
		}
		return kind == HSX_IMC ? 1ull << instance : UNITS_ALL;
	case STOP:
		switch (kind) {
		case HSX_CBO: return 1ull << (STOP_SLICE + instance);
		case HSX_SBO: return 1ull << (STOP_SBO + instance);
		case HSX_HA: return 1ull << (STOP_HOME + instance);
		case HSX_R2: case HSX_IRP: return 1ull << STOP_DEVICES;
		case HSX_TRAFFIC: return instance ? 0 : 1ull << STOP_DEVICES; /* the device is attached to the first stack */
		case HSX_R3: case HSX_QPI: return 1ull << (STOP_LINK + instance);
		default: return UNITS_ALL;
		}
	default: return UNITS_ALL;
	}
}

/* ---- filters ---------------------------------------------------------------------------------- */

/* Filters of a CHA. Filter 0: states 17 I, 21 S, 22 E, 23 M, 24 F, between them those of the snoop filter (libpfm4, skx_unc_cha). Filter 1: 0 remote, 1 local, 3 all opcodes, 5 lines that are not
 * in near memory, which here are all, 18:9 and 28:19 an opcode each. The opcodes are the 9-bit ones of earlier boxes with another prefix. Returns NULL, or
 * why the model cannot apply them. */
static const char *cha_filters(unsigned flags, const struct hsx_filters *f, struct hsx_meaning *out)
{
	static const struct { uint8_t bit; uint64_t tag; } states[] = { { 17, UTAG(I) }, { 21, UTAG(S) }, { 22, UTAG(E) }, { 23, UTAG(M) }, { 24, UTAG(F) } };
	const uint32_t first = f->value[0], second = f->value[1], opcode = second >> 9 & 0x3FF;
	if (flags & UNCORE_STATE) {
		out->watch.filter.by_state = true;
		for (unsigned i = 0; i < COUNT_OF(states); i++)
			if (first >> states[i].bit & 1)
				out->watch.filter.states |= states[i].tag;
	}
	if (!(flags & UNCORE_OPCODE))
		return NULL;
	if (second >> 19 & 0x3FF)
		return "a second opcode of the filter";
	if (!(second & CHA_NOT_NEAR) || !(second & (CHA_LOCAL | CHA_REMOTE)))
		out->how = UNCORE_NEVER; /* nothing passes */
	for (unsigned i = 0; i < out->watch.part_count && (second & (CHA_LOCAL | CHA_REMOTE)) != (CHA_LOCAL | CHA_REMOTE); i++)
		out->watch.parts[i].tags |= second & CHA_LOCAL ? UTAG(LOCAL) : UTAG(REMOTE);
	if (!(second & CHA_ALL_OPCODES)) {
		out->watch.filter.by_opcode = true;
		out->watch.filter.opcode = (uint16_t)(opcode >> 7 == 4 ? 0x180 | (opcode & 0x7F) : 0);
	}
	return NULL;
}

/* The opcode that a unit mask selects. */
static void opcode_of(unsigned flags, struct uncore_pass *out)
{
	static const struct { unsigned flag; uint16_t opcode; } opcodes[] = { { UNCORE_DATA_READ, 0x182 }, { UNCORE_CODE_READ, 0x181 }, { UNCORE_OWNERSHIP, 0x180 } };
	for (unsigned i = 0; i < COUNT_OF(opcodes); i++)
		if (flags & opcodes[i].flag)
			out->by_opcode = true, out->opcode = opcodes[i].opcode;
}

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
		uint64_t units = units_of(m, kind, instance, (enum unit_kind)unit_kinds[t->signal]);
		if (t->unit < UNCORE_OWN_FIRST)
			units = 1ull << t->unit;
		else if (t->unit != UNCORE_OWN_UNITS)
			units &= units ? 1ull << (__builtin_ctzll(units) + t->unit - UNCORE_OWN_FIRST) : 0;
		if (out->watch.part_count == UNCORE_PARTS) {
			out->how = UNCORE_UNMODELLED;
			out->why = "more sub-events together than the model adds up";
			return;
		}
		out->watch.parts[out->watch.part_count++] = (struct uncore_part){ t->signal, t->times, units, t->tags };
	}
}

/* Whether the row applies to the machine. */
static bool is_for(const struct machine *m, unsigned flags)
{
	const bool off = m->dram_power_down_cycles;
	return !(flags & UNCORE_OPEN_PAGE && !m->dram_open_page) && !(flags & UNCORE_CLOSED_PAGE && m->dram_open_page) &&
	       !(flags & UNCORE_INDIRECT && m->uncore_direct2core) && !(flags & UNCORE_FAST_EXIT && !(off && !m->dram_power_down_slow)) &&
	       !(flags & UNCORE_SLOW_EXIT && !(off && m->dram_power_down_slow));
}

/* How a row counts, given the registers and the machine; sets its thresholds. */
static void row_how(const struct machine *m, const struct uncore_row *e, const struct hsx_filters *filters, struct hsx_meaning *out)
{
	out->how = (enum uncore_count_mode)e->how;
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

/* The row's own filter. Unit masks of a rank: 0 to 15 are its banks, 16 all of them, 17 to 20 groups of four. */
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

static unsigned code_of(uint64_t select) { return (select & 0xFF) | (select >> 21 & 1 ? UNCORE_CODE_EXTENDED : 0); }
static uint64_t umask_of(uint64_t select) { return (select >> 8 & 0xFF) | select >> 32 << 8; }

const struct uncore_row *hsx_row(const struct uncore_map *map, enum hsx_kind kind, uint64_t select)
{
	const struct uncore_row *rows[8];
	return uncore_map_find(map, (enum uncore_box)kind, code_of(select), umask_of(select), rows) ? rows[0] : uncore_map_code(map, (enum uncore_box)kind, code_of(select));
}

void hsx_meaning(const struct machine *m, enum hsx_kind kind, unsigned instance, uint64_t select, const struct hsx_filters *filters,
                 struct hsx_meaning *out)
{
	const struct uncore_row *rows[8];
	const uint8_t umask = (uint8_t)(select >> 8);
	const unsigned n = uncore_map_find(m->uncore, (enum uncore_box)kind, code_of(select), umask_of(select), rows);
	unsigned flags = 0, silent = 0;
	*out = (struct hsx_meaning){ .how = n ? (enum uncore_count_mode)rows[0]->how : UNCORE_UNMODELLED, .why = n ? rows[0]->why : "this unit mask" };
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
		opcode_of(e->flags, &out->watch.filter);
	}
	if (n && silent == n)
		out->how = UNCORE_NEVER;
	if (kind != HSX_CHA || hsx_layout(m) != HSX_SKYLAKE) {
		filters_of(flags, filters, &out->watch.filter);
		if (kind == HSX_CBO && flags & UNCORE_OPCODE && filters->value[1] & (CBO_NON_COHERENT | CBO_ISOCHRONOUS)) {
			out->how = UNCORE_UNMODELLED;
			out->why = "which requests are non-coherent or isochronous";
		}
		return;
	}
	out->why = cha_filters(flags, filters, out);
	if (out->why)
		out->how = UNCORE_UNMODELLED;
}
