/* pmu/sim/counters/counter_lbr.c: last-branch records of Intel's processors, model-specific and architectural.
 *
 * SDM volume 3, "Last Branch, Interrupt, and Exception Recording": a stack of register pairs, with the newest one's number in MSR_LASTBRANCH_TOS, and a
 * filter that suppresses kinds of branches. SDM volume 3, "Architectural Last Branch Records": the first entry is the newest, IA32_LBR_CTL starts recording and selects
 * the kinds that are recorded, and a write of IA32_LBR_DEPTH clears all entries.
 *
 * Not modelled: the call-stack mode, event logging, records of far branches. */
#include "pmu/sim/counters/counter_state.h"

#define MSR_LBR_SELECT   0x1C8
#define MSR_LBR_TOS      0x1C9
#define MSR_LBR_FROM     0x680 /* Nehalem and later; Core 2: 0x40, 0x60 */
#define MSR_LBR_TO       0x6C0
#define MSR_LBR_INFO     0xDC0 /* LBR format 5 */
#define LBR_FORMAT_INFO  5

#define IA32_LBR_INFO    0x1200
#define IA32_LBR_CTL     0x14CE
#define IA32_LBR_DEPTH   0x14CF
#define IA32_LBR_FROM    0x1500
#define IA32_LBR_TO      0x1600
#define CTL_OS           (1u << 1)
#define CTL_USR          (1u << 2)
#define CTL_CALL_STACK   (1u << 3)
#define CTL_LEGAL        0x7F000Full
#define INFO_TYPE        56
#define INFO_CYCLES      (1ull << 60) /* bits 15:0 are valid */

/* Kinds of taken branches, numbered by their bits in MSR_LBR_SELECT; the IA32_LBR_CTL bit that records each, and its type in IA32_LBR_INFO. */
enum kind { JCC = 2, REL_CALL, IND_CALL, RET, IND_JMP, REL_JMP, KINDS };
static const struct { uint32_t recorded; uint8_t type; } architectural[KINDS] = {
	[JCC] = { 1u << 16, 0 }, [REL_JMP] = { 1u << 17, 2 }, [IND_JMP] = { 1u << 18, 1 },
	[REL_CALL] = { 1u << 19, 4 }, [IND_CALL] = { 1u << 20, 3 }, [RET] = { 1u << 21, 5 },
};

/* The register file whose filter applies to a thread: its own, or that of its core. */
static struct counters *filter(struct counters *p) { return p->m->pmu_lbr_select == 2 ? p->first : p; }

static uint64_t sign_extended(uint64_t address) { return (uint64_t)((int64_t)(address << 16) >> 16); }

static uint64_t cycles_since(struct counters *p, const struct retired *r)
{
	const uint64_t cycles = r->cycle - p->lbr_last_cycle;
	p->lbr_last_cycle = r->cycle;
	return cycles > 0xFFFF ? 0xFFFF : cycles;
}

static void architectural_branch(struct counters *p, const struct retired *r, enum kind kind)
{
	const size_t others = (p->lbr_depth - 1) * sizeof(p->lbr_from[0]);
	if (!(p->lbr_ctl & (p->user ? CTL_USR : CTL_OS)) || !(p->lbr_ctl & architectural[kind].recorded))
		return;
	memmove(&p->lbr_from[1], &p->lbr_from[0], others);
	memmove(&p->lbr_to[1], &p->lbr_to[0], others);
	memmove(&p->lbr_info[1], &p->lbr_info[0], others);
	p->lbr_from[0] = sign_extended(r->ip);
	p->lbr_to[0] = sign_extended(r->next_ip);
	p->lbr_info[0] = (uint64_t)r->mispredicted << 63 | INFO_CYCLES | (uint64_t)architectural[kind].type << INFO_TYPE | cycles_since(p, r);
}

void counter_lbr_branch(struct counters *p, const struct retired *r)
{
	const struct insn *in = r->insn;
	const enum kind kind = in->ret ? RET : in->call ? (in->indirect ? IND_CALL : REL_CALL) : in->conditional ? JCC : in->indirect ? IND_JMP : REL_JMP;
	if (p->m->pmu_lbr_architectural) {
		architectural_branch(p, r, kind);
		return;
	}
	/* MSR_LBR_SELECT: bit 0 suppresses branches at CPL 0, bit 1 others, bits 2 to 8 one kind of branch each. */
	if (p->m->pmu_lbr_select && (filter(p)->lbr_select & ((p->user ? 2u : 1u) | 1u << kind)))
		return;
	if (p->m->pmu_amd) {
		counter_amd_branch(p, r);
		return;
	}
	p->lbr_tos = (p->lbr_tos + 1) % p->m->pmu_lbr_pairs;
	const uint64_t from = sign_extended(r->ip), missed = (uint64_t)r->mispredicted << 63;
	p->lbr_from[p->lbr_tos] = p->m->pmu_lbr_format == LBR_FORMAT_INFO ? from : (from & ~(1ull << 63)) | missed;
	p->lbr_to[p->lbr_tos] = sign_extended(r->next_ip);
	p->lbr_info[p->lbr_tos] = missed | cycles_since(p, r);
}

/* Architectural records are in order of age, the newest first. */
unsigned counter_lbr_entry(const struct counters *p, unsigned i)
{
	const unsigned pairs = (unsigned)p->m->pmu_lbr_pairs;
	return p->m->pmu_lbr_architectural || !pairs ? i : (unsigned)(p->lbr_tos + pairs - i) % pairs;
}

static uint64_t *architectural_register(struct counters *p, uint32_t msr)
{
	const uint32_t n = (uint32_t)p->m->pmu_lbr_pairs;
	if (msr - IA32_LBR_INFO < n)
		return &p->lbr_info[msr - IA32_LBR_INFO];
	if (msr - IA32_LBR_FROM < n)
		return &p->lbr_from[msr - IA32_LBR_FROM];
	if (msr - IA32_LBR_TO < n)
		return &p->lbr_to[msr - IA32_LBR_TO];
	return msr == IA32_LBR_CTL ? &p->lbr_ctl : msr == IA32_LBR_DEPTH ? &p->lbr_depth : NULL;
}

/* AMD's registers are in counter_amd.c. */
uint64_t *counter_lbr_register(struct counters *p, uint32_t msr)
{
	const uint32_t n = p->m->pmu_amd ? 0 : (uint32_t)p->m->pmu_lbr_pairs, from = n > 8 ? MSR_LBR_FROM : 0x40, to = n > 8 ? MSR_LBR_TO : 0x60;
	if (p->m->pmu_lbr_architectural)
		return architectural_register(p, msr);
	if (msr - from < n)
		return &p->lbr_from[msr - from];
	if (msr - to < n)
		return &p->lbr_to[msr - to];
	if (p->m->pmu_lbr_format == LBR_FORMAT_INFO && msr - MSR_LBR_INFO < n)
		return &p->lbr_info[msr - MSR_LBR_INFO];
	if (msr == MSR_LBR_TOS && n)
		return &p->lbr_tos;
	return msr == MSR_LBR_SELECT && n && p->m->pmu_lbr_select ? &filter(p)->lbr_select : NULL;
}

uint64_t counter_lbr_legal(const struct counters *p, uint32_t msr)
{
	if (p->m->pmu_lbr_architectural)
		return msr == IA32_LBR_CTL ? CTL_LEGAL : ~0ull;
	return msr == MSR_LBR_SELECT ? (p->m->pmu_lbr_format >= 4 ? 0x3FF : 0x1FF) : msr == MSR_LBR_TOS ? p->m->pmu_lbr_pairs - 1 : ~0ull;
}

enum status counter_lbr_written(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	if (!p->m->pmu_lbr_architectural)
		return ST_OK;
	if (msr == IA32_LBR_CTL && value & CTL_CALL_STACK)
		find(p, f, FIND_SIMULATOR, msr, value, "the call-stack mode of last-branch records: all branches are recorded here");
	if (msr != IA32_LBR_DEPTH)
		return ST_OK;
	if (!value || value % 8 || value > p->m->pmu_lbr_pairs || (value & (value - 1))) { /* counters_cpuid, leaf 0x1C */
		find(p, f, FIND_RESERVED, msr, value, "a depth that CPUID leaf 0x1C does not list raises #GP");
		return ST_FAULT;
	}
	memset(p->lbr_from, 0, sizeof(p->lbr_from));
	memset(p->lbr_to, 0, sizeof(p->lbr_to));
	memset(p->lbr_info, 0, sizeof(p->lbr_info));
	return ST_OK;
}
