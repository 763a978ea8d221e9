/* pmu/sim/amd/ibs.c: see ibs.h.
 *
 * AMD64 manual volume 2 (24593), 13.3 "Instruction-Based Sampling"; CPUID 0x8000001B in volume 3 (24594); data sources: PPR of family 19h models
 * 10h to 1Fh, IBS_OP_DATA2. The count starts from a random number of 7 bits whenever a write enables it. The op at which it reaches the maximum is
 * tagged; when that retires, the data registers are written, IbsOpVal is set, and counting stops until a write clears IbsOpVal.
 *
 * Fetches: ibs_fetch.c. Not modelled: ops of wrong paths, which are neither counted nor tagged; ops of a tagged instruction beyond its load (the
 * load is its first); IbsCompToRetCtr and IbsTagToRetCtr, branch fields, IbsDcPhysAd and its valid bit, page sizes and IbsOpDcMissOpenMemReqs, which
 * are 0; interrupts: the local vector is masked. A tagged op that a filter rejects is not recorded, and counting begins anew. */
#include "pmu/sim/amd/ibs.h"

#define MSR_OP_CTL   0xC0011033u
#define MSR_IBS_CTL  0xC001103Au
#define MSR_OP_DATA4 0xC001103Du
#define MSR_BRANCH   0xC001103Bu    /* target of a tagged branch */

enum { CTL, RIP, DATA, DATA2, DATA3, LINEAR, PHYSICAL };

/* IBS_OP_CTL */
#define CTL_L3_MISS  (1ull << 16)
#define CTL_EN       (1ull << 17)
#define CTL_VAL      (1ull << 18)
#define CTL_OPS      (1ull << 19)
#define CTL_LATENCY  (1ull << 63)
#define LATENCY_STEP 128u           /* cycles; bits 62:59: the threshold in such steps, less one */
#define COUNT_SHIFT  32
#define COUNT_MASK   (0x7FFFFFFull << COUNT_SHIFT)
#define RANDOM_MASK  0x7Fu
#define LINE         64u
#define LEAST        0x90u          /* the smallest maximum: min_period of Linux events/amd/ibs.c, which 6.12 does not have yet */

#define CAP_OP       (1u << 2)
#define CAP_RDWR     (1u << 3)      /* the count can be written */
#define CAP_OPS      (1u << 4)
#define CAP_BRANCH   (1u << 5)
#define CAP_WIDE     (1u << 6)      /* 27 bits of maximum */
#define CAP_SOURCES  (1u << 11)     /* five bits of data source, and the L3-miss filter */
#define CAP_LATENCY  (1u << 12)     /* the latency filter */

/* IBS_OP_DATA3 */
#define D3_LOAD      (1ull << 0)
#define D3_STORE     (1ull << 1)
#define D3_L1_TLB    (1ull << 2)
#define D3_L2_TLB    (1ull << 3)
#define D3_DC_MISS   (1ull << 7)
#define D3_MISALIGNED (1ull << 8)
#define D3_UNCACHED  (1ull << 14)
#define D3_LOCKED    (1ull << 15)
#define D3_NO_MAB    (1ull << 16)
#define D3_LINEAR    (1ull << 17)
#define D3_L2_MISS   (1ull << 20)
#define WIDTH_SHIFT  22             /* binary logarithm of the bytes, plus 1 */
#define D2_REMOTE    (1u << 4)

uint32_t sim_ibs_capabilities(const struct machine *m)
{
	return m->pmu_amd ? (uint32_t)m->pmu_ibs : 0;
}

static bool has_op(const struct machine *m)
{
	return (sim_ibs_capabilities(m) & (1 | CAP_OP)) == (1 | CAP_OP);
}

static uint64_t maximum(const struct machine *m, uint64_t ctl)
{
	return (ctl & 0xFFFF) << 4 | (m->pmu_ibs & CAP_WIDE ? ctl & 0x7F00000 : 0);
}

enum status sim_ibs_read(const struct machine *m, const struct sim_ibs *s, uint32_t msr, uint64_t *value)
{
	if (sim_ibs_fetch_read(m, &s->fetch, msr, value) == ST_OK)
		return ST_OK;
	if (!has_op(m))
		return ST_MISSING;
	if (msr - MSR_OP_CTL < SIM_IBS_WORDS) {
		*value = s->word[msr - MSR_OP_CTL];
		return ST_OK;
	}
	*value = msr == MSR_IBS_CTL ? 1u << 8 : 0; /* vector 0, valid */
	return msr == MSR_IBS_CTL || (msr == MSR_BRANCH && m->pmu_ibs & CAP_BRANCH) || (msr == MSR_OP_DATA4 && m->pmu_ibs >> 10 & 1) ? ST_OK : ST_MISSING;
}

static uint64_t legal(const struct machine *m)
{
	uint64_t bits = 0xFFFF | CTL_EN | CTL_VAL;
	if (m->pmu_ibs & CAP_OPS)
		bits |= CTL_OPS;
	if (m->pmu_ibs & CAP_WIDE)
		bits |= 0x7F00000;
	if (m->pmu_ibs & CAP_RDWR)
		bits |= COUNT_MASK;
	if (m->pmu_ibs & CAP_SOURCES)
		bits |= CTL_L3_MISS;
	if (m->pmu_ibs & CAP_LATENCY)
		bits |= 0x1Full << 59;
	return bits;
}

enum status sim_ibs_write(const struct machine *m, struct sim_ibs *s, uint32_t msr, uint64_t value, enum finding_kind *kind, const char **why)
{
	const enum status of_fetch = sim_ibs_fetch_write(m, &s->fetch, msr, value, kind, why);
	if (of_fetch != ST_MISSING)
		return of_fetch;
	if (!has_op(m) || (msr - MSR_OP_CTL >= SIM_IBS_WORDS && msr != MSR_IBS_CTL))
		return ST_MISSING;
	if (msr == MSR_IBS_CTL) {
		*kind = FIND_FAULT;
		*why = "read-only";
		return ST_FAULT;
	}
	if (msr != MSR_OP_CTL) {
		s->word[msr - MSR_OP_CTL] = value;
		return ST_OK;
	}
	if (value & ~legal(m)) {
		*kind = FIND_RESERVED;
		*why = "reserved bits raise #GP";
		return ST_FAULT;
	}
	if (value & CTL_EN && maximum(m, value) < LEAST) {
		*kind = FIND_UNDEFINED;
		*why = "IBS op sampling with a maximum below 0x90";
	} else if (value & CTL_LATENCY && !(value & CTL_L3_MISS)) {
		*kind = FIND_UNDEFINED;
		*why = "IBS with a threshold of latency and without the filter for misses of the L3";
	}
	s->state = s->state * 1664525u + 1013904223u; /* Numerical Recipes' generator */
	s->began_cycle = 0;
	s->word[CTL] = value;
	if (value & CTL_EN && !(value & CTL_VAL) && !(value & COUNT_MASK))
		s->word[CTL] |= (uint64_t)(s->state >> 16 & RANDOM_MASK) << COUNT_SHIFT;
	return ST_OK;
}

static bool wants_ops(const struct machine *m, const struct sim_ibs *s)
{
	return has_op(m) && (s->word[CTL] & (CTL_EN | CTL_VAL)) == CTL_EN && maximum(m, s->word[CTL]);
}

bool sim_ibs_wants(const struct machine *m, const struct sim_ibs *s) { return wants_ops(m, s) || sim_ibs_fetch_wants(m, &s->fetch); }

/* IBS_OP_DATA2: the original field of three bits, or that of five. */
static uint64_t data_source(const struct machine *m, enum mem_source source)
{
	static const struct { uint8_t old, wide; bool remote; } codes[SRC_NONE + 1] = {
		[SRC_L3_UNSHARED] = { 2, 1, false }, [SRC_L3_OTHER_CLEAN] = { 2, 1, false }, [SRC_L3_OTHER_MODIFIED] = { 2, 1, false },
		[SRC_NEAR_CLEAN] = { 2, 2, false }, [SRC_NEAR_MODIFIED] = { 2, 2, false },
		[SRC_REMOTE_CLEAN] = { 4, 5, true }, [SRC_REMOTE_MODIFIED] = { 4, 5, true },
		[SRC_LOCAL_DRAM] = { 3, 3, false }, [SRC_REMOTE_DRAM] = { 3, 3, true }, [SRC_UNCACHED] = { 7, 7, false },
	};
	const unsigned code = (m->pmu_ibs & CAP_SOURCES ? codes[source].wide : codes[source].old) ^ (unsigned)m->fault_data_source_flip;
	return (code & 7) | (code >> 3 & 3) << 6 | (codes[source].remote ? D2_REMOTE : 0);
}

static uint64_t most_16(uint64_t cycles)
{
	return cycles > 0xFFFF ? 0xFFFF : cycles;
}

/* The part of a load's latency after the translation and beyond the L1D. */
static uint64_t miss_cycles(const struct machine *m, const struct retired *r)
{
	const uint64_t hit = m->l1d_cycles + r->translate_cycles;
	return r->load_latency > hit ? r->load_latency - hit : 0;
}

/* Whether the filters reject a tagged op. */
static bool is_kept_out(const struct machine *m, uint64_t ctl, const struct retired *r)
{
	const bool missed = r->insn->load && r->source > SRC_L1 && r->source < SRC_NONE && r->source != SRC_LFB && r->source != SRC_L2 && r->source != SRC_L3_UNSHARED &&
	                    r->source != SRC_L3_OTHER_CLEAN && r->source != SRC_L3_OTHER_MODIFIED;
	if (ctl & CTL_L3_MISS && !missed)
		return true;
	return ctl & CTL_LATENCY && (!missed || miss_cycles(m, r) < ((ctl >> 59 & 15) + 1) * LATENCY_STEP);
}

static void sample(const struct machine *m, struct sim_ibs *s, const struct retired *r)
{
	const struct insn *in = r->insn;
	const bool missed = in->load && r->source > SRC_L1 && r->source < SRC_NONE;
	uint64_t d3 = 0;
	s->taken++;
	if (m->fault_ibs_drop_every && s->taken % m->fault_ibs_drop_every == 0)
		return;
	memset(&s->word[RIP], 0, sizeof(s->word) - sizeof(s->word[CTL]));
	s->word[RIP] = r->ip;
	if (in->load || in->store) {
		d3 = D3_LINEAR | (in->load ? D3_LOAD : 0) | (in->store ? D3_STORE : 0) | (in->lock ? D3_LOCKED : 0);
		s->word[LINEAR] = in->load ? r->effects->load_va : r->effects->store_va;
		const unsigned bytes = in->load ? r->effects->load_bytes : r->effects->store_bytes;
		d3 |= s->word[LINEAR] % LINE + bytes > LINE ? D3_MISALIGNED : 0;
		d3 |= bytes && !(bytes & (bytes - 1)) ? (uint64_t)(__builtin_ctz(bytes) + 1) << WIDTH_SHIFT : 0;
	}
	if (in->load) {
		d3 |= (r->dtlb_level > 1 ? D3_L1_TLB : 0) | (r->dtlb_level > 2 ? D3_L2_TLB : 0);
		d3 |= r->dtlb_level > 1 ? most_16(r->translate_cycles) << 48 : 0;
	}
	if (missed) {
		d3 |= D3_DC_MISS | most_16(miss_cycles(m, r)) << 32;
		d3 |= r->source == SRC_LFB ? D3_NO_MAB : 0;
		d3 |= r->source == SRC_UNCACHED ? D3_UNCACHED : 0;
		d3 |= r->source != SRC_LFB && r->source != SRC_L2 ? D3_L2_MISS : 0;
		s->word[DATA2] = data_source(m, r->source);
	}
	s->word[DATA3] = d3;
	s->word[CTL] |= CTL_VAL;
}

void sim_ibs_retired(const struct machine *m, struct sim_ibs *s, const struct retired *r)
{
	if (!wants_ops(m, s))
		return;
	const uint64_t ctl = s->word[CTL], most = maximum(m, ctl);
	uint64_t count = (ctl & COUNT_MASK) >> COUNT_SHIFT;
	if (ctl & CTL_OPS) {
		count += r->uops_fused;
	} else {
		count += s->began_cycle ? r->cycle - s->began_cycle : 0;
		s->began_cycle = r->cycle;
	}
	s->word[CTL] = (ctl & ~COUNT_MASK) | ((count > most ? most : count) << COUNT_SHIFT & COUNT_MASK);
	if (count < most)
		return;
	if (!is_kept_out(m, ctl, r)) {
		sample(m, s, r);
		return;
	}
	s->state = s->state * 1664525u + 1013904223u;
	s->word[CTL] = (ctl & ~COUNT_MASK) | (uint64_t)(s->state >> 16 & RANDOM_MASK) << COUNT_SHIFT;
}
