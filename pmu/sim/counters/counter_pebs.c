/* pmu/sim/counters/counter_pebs.c: debug store area, PEBS records, load-latency facility.
 *
 * SDM volume 3, "Precise Event Based Sampling" of Core 2, Nehalem, Haswell and Skylake; record layouts: 0x90 bytes (format
 * 0), 0xB0 (1), 0xC0 (2), 0xC8 (3); counter_adaptive.c has later ones. A counter under PEBS counts retired instructions that meet its event, in program order.
 * Its overflow arms PEBS; the first occurrence pmu.pebs_shadow_cycles later writes the record, and the counter is reloaded.
 * While one counter samples, others that count such events also count them as instructions retire. Counters that are due at the
 * same instruction act in the order of their numbers (SDM 18.8.1.1) or of fault.counter_priority.
 * One load in about pmu.load_latency_tag_every is tagged, by a deterministic generator.
 *
 * Not modelled: branch trace store, the time to write a record and the lines that it evicts, records for
 * several counters in one assist, PEBS that goes on at GLOBAL_CTRL = 0 (errata of versions up to 4), TSX and HLE fields (written as
 * 0). */
#include "pmu/sim/counters/counter_state.h"

#define MSR_DEBUGCTL     0x1D9
#define MSR_PEBS_ENABLE  0x3F1
#define MSR_PEBS_LD_LAT  0x3F6
#define MSR_PEBS_FRONTEND 0x3F7
#define MSR_PEBS_DATA_CFG 0x3F2
#define MSR_DS_AREA      0x600
#define MSR_OFFCORE_RSP0 0x1A6

#define DS_PEBS_BASE      0x20
#define DS_PEBS_INDEX     0x28
#define DS_PEBS_MAXIMUM   0x30
#define DS_PEBS_THRESHOLD 0x38
#define DS_PEBS_RESET     0x40
#define STATUS_OVFBUF     (1ull << 62)
#define DEBUGCTL_LBR      1u
#define DEBUGCTL_FREEZE_LBRS (1u << 11)
#define PRECISE_STORE     (1ull << 63) /* Sandy Bridge: IA32_PMC3 records precise stores */
#define PERIOD_MOST       (1ull << 31) /* a counter further from its overflow only counts, it does not sample */
#define RECORD_MOST 154 /* words: all groups of an adaptive record, 32 last branches */
#define LATENCY_LEAST     3 /* SDM: the smallest threshold of MSR_PEBS_LD_LAT */

static bool has_pebs(const struct counters *p)
{
	return p->m->pmu_pebs_format != 255;
}

/* Counters that PEBS supports: counter 0 on Core 2, counters 0 to 3 later, with adaptive records all. */
static uint64_t pebs_counters(const struct counters *p)
{
	uint64_t n = counter_adaptive(p) ? p->m->pmu_general : p->m->pmu_pebs_format == 0 ? 1 : p->m->pmu_general < 4 ? p->m->pmu_general : 4;
	return mask_of(n);
}

bool counter_has_pebs(const struct counters *p, unsigned n)
{
	return has_pebs(p) && (p->pebs_enable & pebs_counters(p)) >> n & 1;
}

/* SDM, load-latency facility: a counter's PEBS_EN and LL_EN bits must both be set. */
bool counter_has_latency(const struct counters *p, unsigned n)
{
	return counter_has_pebs(p, n) && counter_latency_enabled(p, n);
}

bool counters_armed(const struct counters *p)
{
	if (netburst_sim(p))
		return netburst_sim_armed(p);
	const uint64_t on = has_pebs(p) ? p->global_ctrl & p->pebs_enable & pebs_counters(p) : 0;
	for (unsigned n = 0; n < p->m->pmu_general; n++)
		if (on >> n & 1 && (p->general[n].armed || mask_of(p->m->pmu_width) - p->general[n].base < PERIOD_MOST))
			return true;
	return false;
}

bool counters_want_retired(const struct counters *p)
{
	for (unsigned n = 0; n < p->m->pmu_general; n++)
		if (p->general[n].retired)
			return true;
	return counter_records_branches(p) || sim_ibs_wants(p->m, &p->ibs) || netburst_sim_wants_retired(p);
}

bool counters_interrupt(struct counters *p, uint64_t cycle)
{
	bool due = p->netburst_thread.interrupt_cycle && cycle >= p->netburst_thread.interrupt_cycle;
	if (due)
		p->netburst_thread.interrupt_cycle = 0;
	return due;
}

/* ---- records -------------------------------------------------------------------------------- */

static uint64_t *word_at(struct counters *p, uint64_t va, bool write)
{
	return p->env.memory ? p->env.memory(p->env.self, va, 8, write) : NULL;
}

static bool ds_read(struct counters *p, unsigned offset, uint64_t *value)
{
	uint64_t *at = word_at(p, p->ds_area + offset, false);
	if (at)
		memcpy(value, at, 8);
	return at != NULL;
}

static void late(struct counters *p, const char *why)
{
	if (!p->late.why)
		p->late = (struct sim_finding){ .kind = FIND_UNMAPPED, .thread = p->thread, .address = MSR_DS_AREA, .value = p->ds_area, .why = why };
}

/* Data-source field by source: Nehalem; Sandy Bridge to Broadwell; Skylake server (SDM, and the Linux driver's tables of
 * the same name); Gracemont and Crestmont. Where pmu.data_sources is 0, the record's format selects one of the first three.
 * The model does not distinguish shared from exclusive memory answers: Nehalem and Haswell show "exclusive". */
static uint64_t data_source(const struct counters *p, const struct retired *r)
{
	static const uint8_t codes[5][SRC_NONE + 1] = {
		{ [SRC_L1] = 1, [SRC_LFB] = 2, [SRC_L2] = 3, [SRC_L3_UNSHARED] = 4, [SRC_L3_OTHER_CLEAN] = 5,
		  [SRC_L3_OTHER_MODIFIED] = 6, [SRC_REMOTE_CLEAN] = 8, [SRC_REMOTE_MODIFIED] = 9,
		  [SRC_LOCAL_DRAM] = 0xC, [SRC_REMOTE_DRAM] = 0xD, [SRC_UNCACHED] = 0xF },
		{ [SRC_L1] = 1, [SRC_LFB] = 2, [SRC_L2] = 3, [SRC_L3_UNSHARED] = 4, [SRC_L3_OTHER_CLEAN] = 6,
		  [SRC_L3_OTHER_MODIFIED] = 7, [SRC_REMOTE_CLEAN] = 8, [SRC_REMOTE_MODIFIED] = 9,
		  [SRC_LOCAL_DRAM] = 0xC, [SRC_REMOTE_DRAM] = 0xD, [SRC_UNCACHED] = 0xF },
		{ [SRC_L1] = 1, [SRC_LFB] = 2, [SRC_L2] = 3, [SRC_L3_UNSHARED] = 4, [SRC_L3_OTHER_CLEAN] = 6,
		  [SRC_L3_OTHER_MODIFIED] = 7, [SRC_REMOTE_CLEAN] = 0xC, [SRC_REMOTE_MODIFIED] = 0xD,
		  [SRC_LOCAL_DRAM] = 0xA, [SRC_REMOTE_DRAM] = 0xB, [SRC_UNCACHED] = 0xF },
		{ [SRC_L1] = 1, [SRC_LFB] = 2, [SRC_L2] = 3, [SRC_L3_UNSHARED] = 4, [SRC_L3_OTHER_CLEAN] = 5,
		  [SRC_L3_OTHER_MODIFIED] = 6, [SRC_REMOTE_CLEAN] = 0, [SRC_REMOTE_MODIFIED] = 9,
		  [SRC_LOCAL_DRAM] = 0xC, [SRC_REMOTE_DRAM] = 0xD, [SRC_UNCACHED] = 0xF },
		{ [SRC_L1] = 1, [SRC_LFB] = 2, [SRC_L2] = 3, [SRC_L3_UNSHARED] = 4, [SRC_L3_OTHER_CLEAN] = 6,
		  [SRC_L3_OTHER_MODIFIED] = 8, [SRC_REMOTE_CLEAN] = 0xC, [SRC_REMOTE_MODIFIED] = 9,
		  [SRC_LOCAL_DRAM] = 0xA, [SRC_REMOTE_DRAM] = 0xB, [SRC_UNCACHED] = 0xF },
	};
	static const uint8_t by_name[] = { 0, 3, 4, 1 };
	unsigned format = p->m->pmu_data_sources ? by_name[p->m->pmu_data_sources] : p->m->pmu_pebs_format < 1 ? 0 :
		p->m->pmu_pebs_format > 3 ? 2 : (unsigned)p->m->pmu_pebs_format - 1;
	uint64_t v = codes[format][r->source];
	if (!counter_has_auxiliary(p))
		v = 0; /* wrong, as it may be on a processor: "L3 miss", whatever the source */
	if (format > 0) {
		v |= (uint64_t)(r->dtlb_level == 3) << 4; /* missed the second-level TLB */
		v |= (uint64_t)r->insn->lock << 5;
	}
	return v ^ p->m->fault_data_source_flip;
}

/* Linux 6.12 events/intel/ds.c: Core 2 hangs at the write of GLOBAL_CTRL if the buffer is larger than a page. */
bool counter_pebs_hangs(struct counters *p, uint64_t global_ctrl)
{
	uint64_t base, maximum;
	return p->m->pmu_pebs_format == 0 && (global_ctrl & p->pebs_enable) && ds_read(p, DS_PEBS_BASE, &base) && ds_read(p, DS_PEBS_MAXIMUM, &maximum) &&
		maximum - base > 4096;
}

static void write_record(struct counters *p, unsigned n, const struct retired *r, const struct hart_regs *g)
{
	static const uint16_t sizes[4] = { 0x90, 0xB0, 0xC0, 0xC8 };
	/* The record's order, RAX RBX RCX RDX RSI RDI RBP RSP R8 .., as register numbers of the encoding. */
	static const uint8_t order[16] = { 0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };
	const bool adaptive = counter_adaptive(p);
	unsigned format = (unsigned)p->m->pmu_pebs_format, bytes = adaptive ? counter_adaptive_bytes(p, n) : sizes[format];
	uint64_t index, maximum, threshold;
	if (!ds_read(p, DS_PEBS_INDEX, &index) || !ds_read(p, DS_PEBS_MAXIMUM, &maximum) ||
	    !ds_read(p, DS_PEBS_THRESHOLD, &threshold)) {
		late(p, "PEBS: the DS area is not mapped, the record is lost");
		return;
	}
	if (index + bytes > maximum) {
		p->global_status |= STATUS_OVFBUF;
		return;
	}
	p->pebs_written++;
	if (p->m->fault_pebs_drop_every && p->pebs_written % p->m->fault_pebs_drop_every == 0)
		return;
	uint64_t *record = p->env.memory(p->env.self, index, bytes, true);
	uint64_t *index_at = word_at(p, p->ds_area + DS_PEBS_INDEX, true);
	if (!record || !index_at) {
		late(p, "PEBS: the buffer is not mapped, the record is lost");
		return;
	}
	uint64_t w[RECORD_MOST] = { g->rflags, r->next_ip };
	for (unsigned i = 0; i < 16; i++)
		w[2 + i] = g->gpr[order[i]];
	if (adaptive) {
		counters_sync(p);
		counter_adaptive_fill(p, n, r, g, r->insn->load ? data_source(p, r) : 0, w);
	} else if (format >= 1) {
		counters_sync(p); /* overflow bits of the other counters */
		w[18] = format >= 3 ? 1ull << n : p->global_status | 1ull << n;
		if (p->general[n].tagged || format >= 2) {
			w[19] = r->insn->load ? r->effects->load_va : r->insn->store ? r->effects->store_va : 0;
			w[20] = r->insn->load ? data_source(p, r) : 0;
			w[21] = p->general[n].tagged ? r->load_latency : 0;
		}
	}
	if (!adaptive && format >= 2)
		w[22] = r->ip;
	if (!adaptive && format >= 3)
		w[24] = counters_rdtsc(p);
	memcpy(record, w, bytes);
	index += bytes;
	memcpy(index_at, &index, 8);
	if (index >= threshold)
		p->global_status |= STATUS_OVFBUF;
}

/* ---- counting at retirement ----------------------------------------------------------------- */

static void count_one(struct counters *p, unsigned n, const struct retired *r, const struct hart_regs *g, unsigned times)
{
	struct counter *c = &p->general[n];
	uint64_t width = p->m->pmu_width;
	if (counter_has_pebs(p, n) && c->armed && r->cycle >= c->armed_cycle) {
		uint64_t reset = 0;
		write_record(p, n, r, g);
		c->armed = false;
		if (ds_read(p, DS_PEBS_RESET + 8 * n, &reset))
			c->base = reset & mask_of(width);
		return;
	}
	if (c->thousandths != 1000)
		times = times * c->thousandths / 1000;
	uint64_t total = c->base + times;
	c->base = total & mask_of(width);
	if (!(total >> width))
		return;
	if (counter_has_pebs(p, n)) {
		c->armed = true;
		c->armed_cycle = r->cycle + p->m->pmu_pebs_shadow_cycles;
	} else {
		p->global_status |= 1ull << n;
	}
}

/* Every cycle is an event: counts the cycles since the last retirement. The first instruction that retires once PEBS is
 * armed is recorded, and the counter restarts in that cycle. */
static void count_cycles(struct counters *p, unsigned n, const struct retired *r, const struct hart_regs *g)
{
	struct counter *c = &p->general[n];
	uint64_t from = c->counted_cycle > c->start_cycle ? c->counted_cycle : c->start_cycle;
	uint64_t passed = r->cycle > from ? r->cycle - from : 0, left = mask_of(p->m->pmu_width) - c->base + 1, reset;
	c->counted_cycle = r->cycle;
	if (!c->armed && passed >= left) {
		c->armed = true;
		c->armed_cycle = from + left + p->m->pmu_pebs_shadow_cycles;
	}
	c->base = (c->base + passed) & mask_of(p->m->pmu_width);
	if (!c->armed || r->cycle < c->armed_cycle)
		return;
	write_record(p, n, r, g);
	c->armed = false;
	if (ds_read(p, DS_PEBS_RESET + 8 * n, &reset))
		c->base = reset & mask_of(p->m->pmu_width);
}

/* Whether the load-latency facility tagged this load and its latency is above the threshold. */
static bool tagged_above(struct counters *p, const struct retired *r)
{
	if (!r->insn->load)
		return false;
	p->tag_state = p->tag_state * 1664525u + 1013904223u; /* Numerical Recipes' generator */
	if ((p->tag_state >> 16) % p->m->pmu_load_latency_tag_every)
		return false;
	uint64_t threshold = p->load_latency < LATENCY_LEAST ? LATENCY_LEAST : p->load_latency;
	return r->load_latency > threshold;
}

#define HIGHEST_FIRST 1 /* fault.counter_priority */
#define RECORDS_LAST  2

/* *n: the counter whose turn is the i-th at one instruction; false: none. RECORDS_LAST takes two rounds, the second for counters with PEBS. */
static bool in_turn(const struct counters *p, unsigned i, unsigned *n)
{
	const unsigned general = (unsigned)p->m->pmu_general, order = (unsigned)p->m->fault_counter_priority;
	*n = order == HIGHEST_FIRST ? general - 1 - i % general : i % general;
	return p->general[*n].retired && (i >= general) == (order == RECORDS_LAST && counter_has_pebs(p, *n));
}

void counters_retired(struct counters *p, const struct retired *r, const struct hart_regs *regs)
{
	const unsigned turns = (unsigned)p->m->pmu_general * (p->m->fault_counter_priority == RECORDS_LAST ? 2 : 1);
	bool tagged = false, drawn = false;
	for (unsigned i = 0, n; i < turns; i++) {
		if (!in_turn(p, i, &n))
			continue;
		struct counter *c = &p->general[n];
		if (c->every_cycle) {
			count_cycles(p, n, r, regs);
			continue;
		}
		if (c->tagged && !drawn) {
			tagged = tagged_above(p, r);
			drawn = true;
		}
		unsigned times = 0;
		for (uint64_t left = c->precise; left; left &= left - 1)
			times += counter_pebs_occurrences((enum precise)__builtin_ctzll(left), r);
		if (times && (!c->tagged || (tagged && counter_has_latency(p, n))))
			count_one(p, n, r, regs, times);
	}
	if (counter_records_branches(p) && r->insn->branch && r->effects->taken) {
		if (p->debugctl & DEBUGCTL_FREEZE_LBRS)
			counters_sync(p);
		if (counter_records_branches(p) && !counters_lbr_frozen(p))
			counter_lbr_branch(p, r);
	}
	p->retired_before = r->cycle;
	sim_ibs_retired(p->m, &p->ibs, r);
	if (netburst_sim(p))
		netburst_sim_retired(p, r, regs);
}

/* ---- registers ------------------------------------------------------------------------------ */

static uint64_t *plain_register(struct counters *p, uint32_t msr)
{
	if (msr == MSR_DEBUGCTL && p->m->pmu_version)
		return &p->debugctl;
	if (msr == MSR_DS_AREA && has_pebs(p))
		return &p->ds_area;
	if (msr == MSR_PEBS_ENABLE && has_pebs(p))
		return &p->pebs_enable;
	if (msr == MSR_PEBS_LD_LAT && p->m->pmu_load_latency)
		return &p->load_latency;
	if (msr == MSR_PEBS_DATA_CFG && counter_adaptive(p))
		return &p->pebs_groups;
	if (msr - MSR_OFFCORE_RSP0 < p->m->pmu_offcore_msrs)
		return &p->offcore[msr - MSR_OFFCORE_RSP0];
	if (msr == MSR_PEBS_FRONTEND && p->m->pmu_frontend_msr)
		return &p->frontend;
	return counter_lbr_register(p, msr);
}

enum status counter_pebs_read(struct counters *p, uint32_t msr, uint64_t *value)
{
	const uint64_t *at = plain_register(p, msr);
	if (!at)
		return ST_MISSING;
	*value = *at;
	return ST_OK;
}

static uint64_t debugctl_mask(const struct counters *p)
{
	uint64_t legal = 0x1 | 0x2 | 0x7C0; /* LBR, BTF, TR, BTS, BTINT, BTS_OFF_OS, BTS_OFF_USR */
	legal |= p->m->pmu_version >= 2 ? 0x1800 : 0; /* FREEZE_LBRS_ON_PMI, FREEZE_PERFMON_ON_PMI */
	legal |= p->m->pmu_version == 3 ? 0x2000 : 0; /* ENABLE_UNCORE_PMI */
	legal |= p->m->pmu_freeze_smm ? 0x4000 : 0;
	legal |= p->m->pmu_tsx ? 0x8000 : 0;          /* RTM_DEBUG */
	return legal;
}

static bool canonical(uint64_t va)
{
	return (uint64_t)((int64_t)(va << 16) >> 16) == va;
}

/* Writable bits of a register; others raise #GP. */
static uint64_t legal_bits(const struct counters *p, uint32_t msr)
{
	switch (msr) {
	case MSR_DEBUGCTL: return debugctl_mask(p);
	case MSR_PEBS_DATA_CFG: return counter_adaptive_legal(p);
	case MSR_PEBS_ENABLE: return counter_adaptive(p) ? counter_enable_mask(p) : pebs_counters(p) | (p->m->pmu_load_latency ? pebs_counters(p) << 32 : 0) | (p->m->pmu_load_latency == 2 ? PRECISE_STORE : 0);
	case MSR_PEBS_LD_LAT: return 0xFFFF;
	case MSR_PEBS_FRONTEND: return 0x7FFFFF;
	case MSR_OFFCORE_RSP0: case MSR_OFFCORE_RSP0 + 1:
		/* The masks that the Linux driver allows. */
		return p->m->pmu_offcore_msrs == 1 ? 0xFFFF : counter_adaptive(p) ? (p->m->pmu_data_sources ? 0x3FFFFFFFFFFFFFull : 0x3FFFFFFFFFull) : 0x3FFFFF8FFFull;
	}
	return counter_lbr_legal(p, msr);
}

enum status counter_pebs_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	uint64_t *at = plain_register(p, msr);
	if (!at)
		return ST_MISSING;
	uint64_t reserved = value & ~legal_bits(p, msr);
	if (reserved) {
		find(p, f, FIND_RESERVED, msr, reserved, "reserved bits raise #GP");
		return ST_FAULT;
	}
	if (msr == MSR_DS_AREA && !canonical(value)) {
		find(p, f, FIND_FAULT, msr, value, "DS_AREA takes a canonical address");
		return ST_FAULT;
	}
	if (msr == MSR_DEBUGCTL && (value & 0xC0))
		find(p, f, FIND_SIMULATOR, msr, value, "branch trace messages and branch trace store");
	if (msr == MSR_PEBS_ENABLE && value & PRECISE_STORE)
		find(p, f, FIND_SIMULATOR, msr, value, "precise stores: their records have no address and no data source here");
	if (msr == MSR_PEBS_ENABLE && counter_adaptive(p) && value >> 32)
		find(p, f, FIND_SIMULATOR, msr, value, "fixed counters that sample: they write no record here");
	if (msr == MSR_DEBUGCTL && value & DEBUGCTL_LBR && p->m->pmu_lbr_architectural) { /* SDM, "Architectural Last Branch Records": reads as 0 */
		find(p, f, FIND_IGNORED, msr, value, "bit 0 does nothing where last-branch records are architectural");
		value &= ~(uint64_t)DEBUGCTL_LBR;
	}
	const enum status st = counter_lbr_written(p, msr, value, f);
	if (st != ST_OK)
		return st;
	*at = value;
	if (msr == MSR_PEBS_ENABLE || msr - MSR_OFFCORE_RSP0 < 2 || msr == MSR_PEBS_FRONTEND)
		counters_program(p, f, msr);
	return ST_OK;
}
