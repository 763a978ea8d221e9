/* pmu/sim/amd/ibs_fetch.c: see ibs_fetch.h.
 *
 * AMD64 manual volume 2 (24593), 13.3 "Instruction-Based Sampling"; PPR of family 19h models 10h to 1Fh, MSRC001_1030 to 1032 and MSRC001_103C. A write that
 * enables sampling sets the count to its field, the four bits below to 0 or, with IbsRandEn, to a random number. The fetch at which the count reaches
 * the maximum is tagged; when it is complete, the control register has its tags and latency, the others its addresses and translation time.
 * IbsFetchVal is set, and counting stops until a write clears it. Every write replaces the whole register, including the sample in it.
 *
 * A fetch is a line of code that fetch looks up, or a window that the uop cache delivers. Not modelled: fetches of wrong paths and those that are
 * abandoned; errata 1197, 1238 and 1347 of Zen 3; interrupts: the local vector is masked. A tagged fetch that the filter rejects is not recorded, and
 * counting begins anew. */
#include "pmu/sim/amd/ibs_fetch.h"

#define MSR_CTL      0xC0011030u
#define MSR_LINEAR   0xC0011031u
#define MSR_PHYSICAL 0xC0011032u
#define MSR_EXTENDED 0xC001103Cu

#define CAP_VALID    (1u << 0)
#define CAP_FETCH    (1u << 1)
#define CAP_EXTENDED (1u << 9)
#define CAP_SOURCES  (1u << 11)

#define MAXIMUM      0xFFFFull
#define COUNT_SHIFT  16
#define COUNT        (0xFFFFull << COUNT_SHIFT)
#define LATENCY_SHIFT 32
#define EN           (1ull << 48)
#define VAL          (1ull << 49)
#define COMP         (1ull << 50)
#define IC_MISS      (1ull << 51)
#define PHY_VALID    (1ull << 52)
#define SIZE_SHIFT   53
#define L1_TLB       (1ull << 55)
#define L2_TLB       (1ull << 56)
#define RAND_EN      (1ull << 57)
#define L2_MISS      (1ull << 58)
#define L3_MISS_ONLY (1ull << 59)
#define OC_MISS      (1ull << 60)
#define L3_MISS      (1ull << 61)
#define FLIP_SHIFT   50
#define SETTINGS     (MAXIMUM | EN | RAND_EN | L3_MISS_ONLY)

static bool has_fetch(const struct machine *m)
{
	return m->pmu_amd && (m->pmu_ibs & (CAP_VALID | CAP_FETCH)) == (CAP_VALID | CAP_FETCH);
}

static bool is_own(const struct machine *m, uint32_t msr)
{
	return has_fetch(m) && (msr - MSR_CTL <= MSR_PHYSICAL - MSR_CTL || (msr == MSR_EXTENDED && m->pmu_ibs & CAP_EXTENDED));
}

enum status sim_ibs_fetch_read(const struct machine *m, const struct sim_ibs_fetch *s, uint32_t msr, uint64_t *value)
{
	if (!is_own(m, msr))
		return ST_MISSING;
	*value = msr == MSR_CTL ? s->control : msr == MSR_LINEAR ? s->linear : msr == MSR_PHYSICAL ? s->physical : s->extended;
	return ST_OK;
}

static uint64_t legal(const struct machine *m)
{
	return m->pmu_ibs & CAP_SOURCES ? L3_MISS * 2 - 1 : L3_MISS_ONLY - 1;
}

enum status sim_ibs_fetch_write(const struct machine *m, struct sim_ibs_fetch *s, uint32_t msr, uint64_t value, enum finding_kind *kind, const char **why)
{
	if (!is_own(m, msr))
		return ST_MISSING;
	if (msr != MSR_CTL) {
		*(msr == MSR_LINEAR ? &s->linear : msr == MSR_PHYSICAL ? &s->physical : &s->extended) = value;
		return ST_OK;
	}
	if (value & ~legal(m)) {
		*kind = FIND_RESERVED;
		*why = "reserved bits raise #GP";
		return ST_FAULT;
	}
	if (value & EN && !(value & MAXIMUM)) {
		*kind = FIND_UNDEFINED;
		*why = "IBS fetch sampling with a maximum of 0";
	}
	s->state = s->state * 1664525u + 1013904223u; /* Numerical Recipes' generator */
	s->control = value;
	s->count = (uint32_t)((value & COUNT) >> COUNT_SHIFT << 4) + (value & RAND_EN ? s->state >> 16 & 15 : 0);
	return ST_OK;
}

bool sim_ibs_fetch_wants(const struct machine *m, const struct sim_ibs_fetch *s)
{
	return has_fetch(m) && (s->control & (EN | VAL)) == EN && s->control & MAXIMUM;
}

static bool is_beyond(enum mem_source source, enum mem_source level)
{
	const bool l3 = source == SRC_L3_UNSHARED || source == SRC_L3_OTHER_CLEAN || source == SRC_L3_OTHER_MODIFIED;
	if (source <= SRC_LFB || source >= SRC_NONE) /* a line in flight is another fetch's miss */
		return false;
	return level == SRC_L1 || (level == SRC_L2 ? source != SRC_L2 : source != SRC_L2 && !l3);
}

static void sample(const struct machine *m, struct sim_ibs_fetch *s, const struct fetched *f, uint64_t page_bytes)
{
	const bool wide = m->pmu_ibs & CAP_SOURCES;
	const uint64_t latency = f->latency_cycles > 0xFFFF ? 0xFFFF : f->latency_cycles;
	uint64_t tags = VAL | COMP;
	tags |= f->source != SRC_L1 ? IC_MISS : 0;
	tags |= is_beyond(f->source, SRC_L2) ? L2_MISS : 0;
	tags |= wide && is_beyond(f->source, SRC_L3_UNSHARED) ? L3_MISS : 0;
	tags |= wide && !f->uop_cache ? OC_MISS : 0;
	tags |= (f->itlb_level > 1 ? L1_TLB : 0) | (f->itlb_level > 2 ? L2_TLB : 0);
	if (!f->uop_cache)
		tags |= PHY_VALID | (page_bytes >> 30 ? 2ull : page_bytes >> 21 ? 1ull : 0) << SIZE_SHIFT;
	tags ^= (uint64_t)m->fault_ibs_fetch_flip << FLIP_SHIFT;
	s->control = (s->control & (SETTINGS | COUNT)) | latency << LATENCY_SHIFT | tags;
	s->linear = f->va;
	s->physical = f->pa;
	s->extended = f->itlb_level <= 1 ? 0 : f->translate_cycles > 0xFFFF ? 0xFFFF : f->translate_cycles;
}

void sim_ibs_fetch_done(const struct machine *m, struct sim_ibs_fetch *s, const struct fetched *f, uint64_t page_bytes)
{
	if (!sim_ibs_fetch_wants(m, s))
		return;
	const uint32_t most = (uint32_t)(s->control & MAXIMUM) << 4;
	s->count++;
	const bool tagged = s->count >= most, kept_out = s->control & L3_MISS_ONLY && !is_beyond(f->source, SRC_L3_UNSHARED);
	if (tagged && kept_out) {
		s->state = s->state * 1664525u + 1013904223u;
		s->count = s->control & RAND_EN ? s->state >> 16 & 15 : 0;
	}
	s->control = (s->control & ~COUNT) | ((uint64_t)s->count >> 4 << COUNT_SHIFT & COUNT);
	if (!tagged || kept_out)
		return;
	s->taken++;
	if (!m->fault_ibs_drop_every || s->taken % m->fault_ibs_drop_every)
		sample(m, s, f, page_bytes);
}
