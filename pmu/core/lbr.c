/* pmu/core/lbr.c: see lbr.h. */
#include "pmu/core/lbr.h"

#define MSR_LBR_INFO   0xDC0 /* formats 5 and 7; bit 63: mispredicted (SDM 17.4.8.1, 17.12.1) */
#define FORMAT(capabilities) ((capabilities) & 0x3F) /* IA32_PERF_CAPABILITIES[5:0] */
#define FORMAT_INFO    5
#define FORMAT_INFO2   7
#define ADDRESS_BITS   48    /* linear addresses; above them flags in formats 3 and 4 (SDM 17.4.8.1) */

#define AMD_VALID      (3ull << 62) /* of a target: valid, speculative; neither: no branch */

/* Architectural: SDM volume 3, "Architectural Last Branch Records". */
#define IA32_LBR_INFO  0x1200       /* bit 63: mispredicted */
#define IA32_LBR_DEPTH 0x14CF       /* how many entries there are; a write clears them all */
#define CTL_OS         (1u << 1)
#define CTL_USR        (1u << 2)
#define CTL_KINDS      (0x7Fu << 16) /* bits 22:16: the recorded kinds of branches, one a bit */
#define CTL_FILTERS    (CTL_OS | CTL_USR | CTL_KINDS)

/* SDM 17.5 (Core 2) and 17.6 (Nehalem and later): bit 0 of IA32_DEBUGCTL starts recording, MSR_LBR_TOS holds the number of the newest pair. AMD's (LbrExtV2):
 * bit 6 of DBG_EXTN_CFG starts recording, the first pair is the newest. Architectural: bit 0 of IA32_LBR_CTL starts recording, others filter; the first pair is
 * the newest. */
static const struct lbr_stack stacks[] = {
	{ .pairs_most = 8, .info = MSR_LBR_INFO, .from = 0x40, .to = 0x60, .step = 1, .select = 0x1C8, .newest = 0x1C9, .control = 0x1D9, .record = 1 },
	{ .pairs_most = LBR_PAIRS_MAX, .info = MSR_LBR_INFO, .from = 0x680, .to = 0x6C0, .step = 1, .select = 0x1C8, .newest = 0x1C9, .control = 0x1D9, .record = 1 },
	{ .pairs_most = LBR_PAIRS_MAX, .kind = BRANCH_RECORDS_AMD, .from = 0xC0010300, .to = 0xC0010301, .step = 2, .select = 0xC000010E, .control = 0xC000010F, .record = 1 << 6 },
	{ .pairs_most = LBR_PAIRS_MAX, .kind = BRANCH_RECORDS_ARCHITECTURAL, .info = IA32_LBR_INFO, .from = 0x1500, .to = 0x1600, .step = 1, .control = 0x14CE, .record = 1 },
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

/* Number of pairs to read of an architectural stack: its depth, or the LBR_PAIRS_MAX newest. 0: *why has the reason. */
static unsigned depth(const struct lbr *l, const char **why)
{
	uint64_t pairs;
	if (rd(l, IA32_LBR_DEPTH, &pairs) != ST_OK || !pairs || pairs > l->cpu->branch_records.pairs)
		*why = "the register that holds the number of last-branch records has an impossible value";
	else
		return pairs < LBR_PAIRS_MAX ? (unsigned)pairs : LBR_PAIRS_MAX;
	return 0;
}

enum status lbr_open(struct lbr *l, const struct access *a, const struct cpu *cpu, unsigned core, const char **why)
{
	const struct processor *p = cpu->processor;
	const struct cpu_branch_records *told = &cpu->branch_records;
	const uint64_t format = FORMAT(cpu->perf_capabilities);
	const unsigned most = told->pairs ? told->pairs : p->lbr_pairs;
	uint64_t value;
	unsigned i = 0;
	*why = NULL;
	*l = (struct lbr){ .has_info = format == FORMAT_INFO || format == FORMAT_INFO2, .a = a, .cpu = cpu, .core = core, .pairs = most };
	while (i < COUNT_OF(stacks) && (stacks[i].kind != told->kind || (told->kind != BRANCH_RECORDS_ARCHITECTURAL && most > stacks[i].pairs_most)))
		i++;
	if (cpu->pmu_absent)
		*why = cpu->pmu_absent;
	else if (!most || i == COUNT_OF(stacks))
		*why = "no last-branch records";
	else if (!listed(p, stacks[i].control))
		*why = "the register that starts last-branch records is not on this processor's list of registers";
	else if (rd(l, stacks[i].control, &value) != ST_OK)
		*why = "the register that starts last-branch records does not answer";
	else {
		l->stack = &stacks[i];
		l->can_filter = listed(p, l->stack->select);
		if (told->kind == BRANCH_RECORDS_ARCHITECTURAL) {
			l->has_info = told->mispredicted;
			l->can_filter = told->levels && told->kinds;
			l->pairs = depth(l, why);
		}
		if ((l->stack->newest && rd(l, l->stack->newest, &value) != ST_OK) || rd(l, l->stack->from, &value) != ST_OK)
			*why = "the registers of the last-branch records do not answer";
	}
	return *why ? ST_UNSUPPORTED : ST_OK;
}

/* The bits of IA32_LBR_CTL that record what a filter does not suppress, as far as the processor has them. */
static uint64_t recorded(const struct cpu_branch_records *told, uint32_t filter)
{
	static const struct { uint32_t suppressed, records; } kinds[] = {
		{ LBR_CPL_EQ_0, CTL_OS }, { LBR_CPL_NEQ_0, CTL_USR }, { LBR_JCC, 1u << 16 }, { LBR_NEAR_REL_JMP, 1u << 17 }, { LBR_NEAR_INDIRECT_JMP, 1u << 18 },
		{ LBR_NEAR_REL_CALL, 1u << 19 }, { LBR_NEAR_INDIRECT_CALL, 1u << 20 }, { LBR_NEAR_RET, 1u << 21 }, { LBR_FAR_BRANCH, 1u << 22 },
	};
	const uint32_t there = (told->levels ? CTL_OS | CTL_USR : 0) | (told->kinds ? CTL_KINDS : 0);
	uint32_t bits = 0;
	for (unsigned i = 0; i < COUNT_OF(kinds); i++)
		bits |= filter & kinds[i].suppressed ? 0 : kinds[i].records & there;
	return bits;
}

enum status lbr_start(struct lbr *l, uint32_t filter)
{
	const struct lbr_stack *k = l->stack;
	enum status s = rd(l, k->control, &l->control);
	if (filter & ~(uint32_t)LBR_FILTER_ALL)
		return ST_RANGE;
	if (filter && !l->can_filter)
		return ST_UNSUPPORTED;
	l->control &= ~(uint64_t)k->record;
	if (s == ST_OK)
		s = wr(l, k->control, l->control);
	for (unsigned i = 0; s == ST_OK && listed(l->cpu->processor, k->from) && i < l->pairs; i++) {
		s = wr(l, k->from + i * k->step, 0);
		if (s == ST_OK)
			s = wr(l, k->to + i * k->step, 0);
	}
	if (k->kind == BRANCH_RECORDS_ARCHITECTURAL)
		l->control = (l->control & ~(uint64_t)CTL_FILTERS) | recorded(&l->cpu->branch_records, filter);
	else if (s == ST_OK && l->can_filter)
		s = wr(l, k->select, filter);
	l->control |= k->record;
	return s == ST_OK ? wr(l, k->control, l->control) : s;
}

uint64_t lbr_frozen(const struct lbr *l)
{
	return (uint64_t)l->stack->control << 32 | (uint32_t)(l->control & ~(uint64_t)l->stack->record);
}

static uint64_t linear(uint64_t value)
{
	return (uint64_t)((int64_t)(value << (64 - ADDRESS_BITS)) >> (64 - ADDRESS_BITS));
}

/* Whether the pair holds a branch, and whether that was mispredicted. Without a register for it, bit 63 of the source flags a misprediction if it differs
 * from the address's sign (formats 3 and 4); on AMD it always does. */
static bool is_pair(const struct lbr *l, uint64_t from, uint64_t to, uint64_t info, bool *missed)
{
	if (l->stack->kind == BRANCH_RECORDS_AMD) {
		*missed = from >> 63;
		return to & AMD_VALID;
	}
	*missed = l->has_info ? info >> 63 : (from >> 63) != (linear(from) >> 63);
	return from || to;
}

enum status lbr_stop(struct lbr *l, struct lbr_pair *out, unsigned *n)
{
	const struct lbr_stack *k = l->stack;
	uint64_t newest = 0, from[LBR_PAIRS_MAX], to[LBR_PAIRS_MAX], info[LBR_PAIRS_MAX];
	*n = 0;
	enum status s = wr(l, k->control, l->control & ~(uint64_t)k->record);
	if (s == ST_OK && k->newest)
		s = rd(l, k->newest, &newest);
	/* Always in the same order, wherever the newest is, so that the accesses of two runs are equal. */
	for (unsigned i = 0; i < l->pairs && s == ST_OK; i++) {
		info[i] = 0;
		s = rd(l, k->from + i * k->step, &from[i]);
		if (s == ST_OK)
			s = rd(l, k->to + i * k->step, &to[i]);
		if (s == ST_OK && l->has_info)
			s = rd(l, k->info + i, &info[i]);
	}
	for (unsigned i = 0; i < l->pairs && s == ST_OK; i++) {
		const unsigned at = k->newest ? (unsigned)(newest + l->pairs - i) % l->pairs : i;
		bool missed;
		if (is_pair(l, from[at], to[at], info[at], &missed))
			out[(*n)++] = (struct lbr_pair){ linear(from[at]), linear(to[at]), missed };
	}
	return s;
}
