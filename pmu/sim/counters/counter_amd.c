/* pmu/sim/counters/counter_amd.c: the core counters of AMD's processors, and their other registers in this model.
 *
 * Addresses and bits: AMD64 manual volume 2 (24593), 13.2 "Performance Monitoring Counters"; Processor Programming References, HWCR and
 * PrefetchControl. The first four counters are also at their old addresses.
 *
 * Not modelled: large increments (event 0xFFF on the odd neighbour), guest and host filters (they filter nothing without SVM), the
 * counters of the L3, the data fabric and the memory controllers; branches of wrong paths in last-branch records, P-state registers. */
#include "pmu/sim/counters/counter_state.h"

#define MSR_OLD_SELECT  0xC0010000u
#define MSR_OLD_COUNT   0xC0010004u
#define OLD_COUNTERS    4u
#define MSR_SELECT      0xC0010200u /* select and count alternate */
#define MSR_HWCR        0xC0010015u
#define MSR_PREFETCH    0xC0000108u
#define MSR_STATUS      0xC0000300u
#define MSR_CTL         0xC0000301u
#define MSR_STATUS_CLR  0xC0000302u
#define MSR_STATUS_SET  0xC0000303u
#define MSR_LBR_SELECT_AMD 0xC000010Eu
#define MSR_EXTENDED    0xC000010Fu /* DBG_EXTN_CFG */
#define MSR_LBR         0xC0010300u /* sources and targets in turn */
#define MSR_MPERF_READ  0xC00000E7u
#define MSR_APERF_READ  0xC00000E8u

/* Event 35:32 and 7:0, mask 15:8, USR, OS, EDGE, INT, EN, INV, threshold 31:24, guest and host 41:40; the others must be 0. */
#define SELECT_LEGAL  ((0xFull << 32 | 3ull << 40 | 0xFFFFFFFFull) & ~(1ull << 19 | 1ull << 21))
#define STATUS_FROZEN (3ull << 58)   /* last-branch records, counters */
#define PREFETCH_LEGAL 0x2Full       /* L1 stream, stride, region; L2 stream; L2 up/down */

static bool general(const struct counters *p, uint32_t msr, unsigned *n, bool *count)
{
	const unsigned counters = (unsigned)p->m->pmu_general, old = counters < OLD_COUNTERS ? counters : OLD_COUNTERS;
	if (msr >= MSR_SELECT && msr - MSR_SELECT < 2 * counters) {
		*n = (msr - MSR_SELECT) / 2;
		*count = (msr - MSR_SELECT) % 2;
		return true;
	}
	*count = msr >= MSR_OLD_COUNT;
	*n = msr - (*count ? MSR_OLD_COUNT : MSR_OLD_SELECT);
	return msr >= MSR_OLD_SELECT && *n < old;
}

/* Entry 0 is the newest. A source has its address sign-extended from bit 57 to bit 62, and the misprediction in bit 63; a target has it
 * sign-extended to bit 60, and the valid bit 63. */
void counter_amd_branch(struct counters *p, const struct retired *r)
{
	const uint64_t from = (uint64_t)((int64_t)(r->ip << 16) >> 16), to = (uint64_t)((int64_t)(r->next_ip << 16) >> 16);
	memmove(&p->lbr_from[1], &p->lbr_from[0], (p->m->pmu_lbr_pairs - 1) * sizeof(p->lbr_from[0]));
	memmove(&p->lbr_to[1], &p->lbr_to[0], (p->m->pmu_lbr_pairs - 1) * sizeof(p->lbr_to[0]));
	p->lbr_from[0] = (from & ~(1ull << 63)) | (uint64_t)r->mispredicted << 63;
	p->lbr_to[0] = (to & ~(7ull << 61)) | 1ull << 63;
}

/* The last-branch register at an address, NULL if this machine has none there. *legal: its writable bits. */
static uint64_t *lbr_register(struct counters *p, uint32_t msr, uint64_t *legal)
{
	*legal = ~0ull;
	if (!p->m->pmu_lbr_pairs)
		return NULL;
	if (msr >= MSR_LBR && msr - MSR_LBR < 2 * p->m->pmu_lbr_pairs)
		return (msr - MSR_LBR) % 2 ? &p->lbr_to[(msr - MSR_LBR) / 2] : &p->lbr_from[(msr - MSR_LBR) / 2];
	*legal = msr == MSR_EXTENDED ? 0x58 : 0x1FF;
	return msr == MSR_EXTENDED ? &p->debug_extended : msr == MSR_LBR_SELECT_AMD ? &p->lbr_select : NULL;
}

bool counter_amd_lacks(uint32_t msr)
{
	/* Platform, power, clock modulation, sensor, MISC_ENABLE, bias: Intel registers that AMD's processors lack. */
	static const uint32_t intel[] = { 0x017, 0x198, 0x199, 0x19A, 0x19B, 0x19C, 0x1A0, 0x1B0, 0x1FC };
	for (unsigned i = 0; i < COUNT_OF(intel); i++)
		if (msr == intel[i])
			return true;
	return false;
}

enum status counter_amd_read(struct counters *p, uint32_t msr, uint64_t *value)
{
	const struct machine *m = p->m;
	uint64_t legal;
	unsigned n;
	bool count;
	if (m->pmu_version && general(p, msr, &n, &count)) {
		*value = count ? counter_general_value(p, n) : p->evtsel[n];
		return ST_OK;
	}
	switch (msr) {
	case MSR_HWCR: *value = p->first->hwcr; return ST_OK;
	case MSR_PREFETCH: *value = p->first->prefetch_amd; return m->control_prefetch_amd ? ST_OK : ST_MISSING;
	case MSR_MPERF_READ: *value = counters_mperf(p) + p->mperf_base; return m->control_aperf_mperf ? ST_OK : ST_MISSING;
	case MSR_APERF_READ: *value = counters_aperf(p) + p->aperf_base; return m->control_aperf_mperf ? ST_OK : ST_MISSING;
	}
	if (sim_ibs_read(m, &p->ibs, msr, value) == ST_OK)
		return ST_OK;
	const uint64_t *lbr = lbr_register(p, msr, &legal);
	if (lbr) {
		*value = *lbr;
		return ST_OK;
	}
	if (m->pmu_version < 2)
		return ST_MISSING;
	switch (msr) {
	case MSR_STATUS: *value = p->global_status; return ST_OK;
	case MSR_CTL: *value = p->global_ctrl; return ST_OK;
	case MSR_STATUS_CLR: case MSR_STATUS_SET: *value = 0; return ST_OK;
	}
	return ST_MISSING;
}

static enum status reserved(struct counters *p, struct sim_finding *f, uint32_t msr, uint64_t bits)
{
	find(p, f, FIND_RESERVED, msr, bits, "reserved bits raise #GP");
	return ST_FAULT;
}

static enum status write_global(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	const uint64_t legal = counter_general_mask(p) | (msr == MSR_CTL ? 0 : STATUS_FROZEN);
	if (msr == MSR_STATUS) {
		find(p, f, FIND_FAULT, msr, value, "read-only");
		return ST_FAULT;
	}
	if (value & ~legal)
		return reserved(p, f, msr, value & ~legal);
	if (msr == MSR_CTL)
		p->global_ctrl = value;
	else if (msr == MSR_STATUS_CLR)
		p->global_status &= ~value;
	else
		p->global_status |= value;
	counters_program(p, f, msr);
	return ST_OK;
}

static enum status write_ibs(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	const char *why = NULL;
	enum finding_kind kind = FIND_FAULT;
	const enum status st = sim_ibs_write(p->m, &p->ibs, msr, value, &kind, &why);
	if (why)
		find(p, f, kind, msr, value, why);
	return st;
}

enum status counter_amd_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	const struct machine *m = p->m;
	unsigned n;
	bool count;
	if (m->pmu_version && general(p, msr, &n, &count)) {
		const uint64_t legal = count ? mask_of(m->pmu_width) : SELECT_LEGAL;
		if (value & ~legal)
			return reserved(p, f, msr, value & ~legal);
		if (count) {
			p->general[n].base = value;
			p->general[n].tapped = false;
		} else {
			counter_lint_select(p, n, value);
			p->evtsel[n] = value;
		}
		counters_program(p, f, count ? msr : counter_selector(p, n));
		return ST_OK;
	}
	switch (msr) {
	case MSR_HWCR:
		p->first->hwcr = value;
		counters_clock_set(p);
		return ST_OK;
	case MSR_PREFETCH:
		if (!m->control_prefetch_amd)
			return ST_MISSING;
		if (value & ~PREFETCH_LEGAL)
			return reserved(p, f, msr, value & ~PREFETCH_LEGAL);
		p->first->prefetch_amd = value;
		counter_msr_prefetchers(p);
		return ST_OK;
	case MSR_MPERF_READ: case MSR_APERF_READ:
		if (!m->control_aperf_mperf)
			return ST_MISSING;
		find(p, f, FIND_FAULT, msr, value, "read-only");
		return ST_FAULT;
	case MSR_STATUS: case MSR_CTL: case MSR_STATUS_CLR: case MSR_STATUS_SET:
		return m->pmu_version < 2 ? ST_MISSING : write_global(p, msr, value, f);
	}
	uint64_t legal, *const lbr = lbr_register(p, msr, &legal);
	if (!lbr)
		return write_ibs(p, msr, value, f);
	if (value & ~legal)
		return reserved(p, f, msr, value & ~legal);
	*lbr = value;
	return ST_OK;
}

void counters_fetched(struct counters *p, const struct fetched *f, uint64_t page_bytes) { sim_ibs_fetch_done(p->m, &p->ibs.fetch, f, page_bytes); }
