/* pmu/core/lbr.c: see lbr.h. */
#include "pmu/core/lbr.h"

#define MSR_LBR_SELECT 0x1C8 /* SDM 17.6.2 */
#define MSR_LBR_TOS    0x1C9
#define IA32_DEBUGCTL  0x1D9
#define DEBUGCTL_LBR   1ull
#define MSR_LBR_INFO   0xDC0 /* formats 5 and 7; bit 63: mispredicted (SDM 17.4.8.1, 17.12.1) */
#define FORMAT(capabilities) ((capabilities) & 0x3F) /* IA32_PERF_CAPABILITIES[5:0] */
#define FORMAT_INFO    5
#define FORMAT_INFO2   7
#define ADDRESS_BITS   48    /* linear addresses; above them flags in formats 3 and 4 (SDM 17.4.8.1) */

/* Where the stack lies: SDM 17.5 (Core 2) and 17.6 (Nehalem and later). */
static const struct { uint8_t pairs_most; uint32_t from, to; } stacks[] = {
	{ 8, 0x40, 0x60 },
	{ LBR_PAIRS_MAX, 0x680, 0x6C0 },
};

const char *lbr_filter_name(unsigned bit)
{
	static const char *const names[] = { "CPL_EQ_0", "CPL_NEQ_0", "JCC", "NEAR_REL_CALL", "NEAR_INDIRECT_CALL",
		"NEAR_RET", "NEAR_INDIRECT_JMP", "NEAR_REL_JMP", "FAR_BRANCH" };
	return bit < COUNT_OF(names) ? names[bit] : NULL;
}

static enum status wr(const struct lbr *l, uint32_t msr, uint64_t value)
{
	return l->a->ops->wrmsr(l->a->self, l->core, msr, value);
}

static enum status rd(const struct lbr *l, uint32_t msr, uint64_t *value)
{
	return l->a->ops->rdmsr(l->a->self, l->core, msr, value);
}

static bool listed(const struct processor *p, uint32_t msr)
{
	for (unsigned i = 0; i < p->msr_count; i++)
		if (msr >= p->msrs[i].first && msr <= p->msrs[i].last)
			return true;
	return false;
}

enum status lbr_open(struct lbr *l, const struct access *a, const struct cpu *cpu, unsigned core, const char **why)
{
	const struct processor *p = cpu->processor;
	uint64_t value;
	unsigned i = 0;
	*why = NULL;
	const uint64_t format = FORMAT(cpu->perf_capabilities);
	*l = (struct lbr){ .has_info = format == FORMAT_INFO || format == FORMAT_INFO2, .a = a, .cpu = cpu, .core = core, .pairs = p->lbr_pairs, .can_filter = listed(p, MSR_LBR_SELECT) };
	while (i < COUNT_OF(stacks) && l->pairs > stacks[i].pairs_most)
		i++;
	if (cpu->pmu_absent)
		*why = cpu->pmu_absent;
	else if (!l->pairs || i == COUNT_OF(stacks))
		*why = "no last-branch records";
	else if (!listed(p, IA32_DEBUGCTL))
		*why = "IA32_DEBUGCTL is not on this processor's list of registers";
	else if (rd(l, IA32_DEBUGCTL, &value) != ST_OK)
		*why = "IA32_DEBUGCTL does not answer";
	else {
		l->from_msr = stacks[i].from;
		l->to_msr = stacks[i].to;
		if (rd(l, MSR_LBR_TOS, &value) != ST_OK || rd(l, l->from_msr, &value) != ST_OK)
			*why = "the registers of the last-branch records do not answer";
	}
	return *why ? ST_UNSUPPORTED : ST_OK;
}

enum status lbr_start(struct lbr *l, uint32_t filter)
{
	enum status s = rd(l, IA32_DEBUGCTL, &l->debugctl);
	if (filter & ~(uint32_t)LBR_FILTER_ALL)
		return ST_RANGE;
	if (filter && !l->can_filter)
		return ST_UNSUPPORTED;
	l->debugctl &= ~DEBUGCTL_LBR;
	if (s == ST_OK)
		s = wr(l, IA32_DEBUGCTL, l->debugctl);
	for (unsigned i = 0; s == ST_OK && listed(l->cpu->processor, l->from_msr) && i < l->pairs; i++) {
		s = wr(l, l->from_msr + i, 0);
		if (s == ST_OK)
			s = wr(l, l->to_msr + i, 0);
	}
	if (s == ST_OK && l->can_filter)
		s = wr(l, MSR_LBR_SELECT, filter);
	l->debugctl |= DEBUGCTL_LBR;
	return s == ST_OK ? wr(l, IA32_DEBUGCTL, l->debugctl) : s;
}

uint64_t lbr_frozen(const struct lbr *l)
{
	return l->debugctl & ~DEBUGCTL_LBR;
}

static uint64_t linear(uint64_t value)
{
	return (uint64_t)((int64_t)(value << (64 - ADDRESS_BITS)) >> (64 - ADDRESS_BITS));
}

enum status lbr_stop(struct lbr *l, struct lbr_pair *out, unsigned *n)
{
	uint64_t tos, from[LBR_PAIRS_MAX], to[LBR_PAIRS_MAX], info[LBR_PAIRS_MAX];
	*n = 0;
	enum status s = wr(l, IA32_DEBUGCTL, lbr_frozen(l));
	if (s == ST_OK)
		s = rd(l, MSR_LBR_TOS, &tos);
	/* Always in the same order, wherever the newest is, so that the accesses of two runs are equal. */
	for (unsigned i = 0; i < l->pairs && s == ST_OK; i++) {
		s = rd(l, l->from_msr + i, &from[i]);
		if (s == ST_OK)
			s = rd(l, l->to_msr + i, &to[i]);
		if (s == ST_OK && l->has_info)
			s = rd(l, MSR_LBR_INFO + i, &info[i]);
	}
	for (unsigned i = 0; i < l->pairs && s == ST_OK; i++) {
		const unsigned at = (unsigned)(tos + l->pairs - i) % l->pairs;
		if (!from[at] && !to[at])
			continue;
		/* Without registers of its own, bit 63 marks a misprediction unless it copies the sign (formats 3 and 4). */
		const bool missed = l->has_info ? info[at] >> 63 : (from[at] >> 63) != (linear(from[at]) >> 63);
		out[(*n)++] = (struct lbr_pair){ linear(from[at]), linear(to[at]), missed };
	}
	return s;
}
