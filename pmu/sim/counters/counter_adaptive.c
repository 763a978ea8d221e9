/* pmu/sim/counters/counter_adaptive.c: adaptive PEBS records (formats 4 to 6).
 *
 * SDM volume 3, "Adaptive PEBS": a record is the basic group and, if bit 34 of the counter's select is set, those that MSR_PEBS_DATA_CFG
 * requests, in the order memory, general registers, XMM, last branches.
 * Latencies: format 4 has the load's in the whole word, later ones the instruction's in bits 15:0 and the cache's in bits 47:32
 * (Linux 6.12 events/intel/ds.c, facts only). Timed PEBS: bits 47:32 of the first word are the cycles since the preceding instruction retired.
 *
 * Not modelled: sampling by fixed counters, the counters group of format 6, fields of transactions (0). */
#include "pmu/sim/counters/counter_state.h"

#define GROUP_MEMORY    1u
#define GROUP_REGISTERS 2u
#define GROUP_VECTORS   4u
#define GROUP_BRANCHES  8u
#define SELECT_ADAPTIVE (1ull << 34)

bool counter_adaptive(const struct counters *p)
{
	return p->m->pmu_pebs_format >= 4 && p->m->pmu_pebs_format != 255;
}

uint64_t counter_adaptive_legal(const struct counters *p)
{
	return 0xF | (p->m->pmu_lbr_pairs ? (p->m->pmu_lbr_pairs - 1) << 24 : 0);
}

unsigned counter_adaptive_bytes(const struct counters *p, unsigned n)
{
	if (!(p->evtsel[n] & SELECT_ADAPTIVE))
		return 32;
	const uint64_t groups = p->pebs_groups;
	return 32 + (groups & GROUP_MEMORY ? 32 : 0) + (groups & GROUP_REGISTERS ? 144 : 0) + (groups & GROUP_VECTORS ? 256 : 0) +
		(groups & GROUP_BRANCHES ? 24 * (unsigned)((groups >> 24 & 0xFF) + 1) : 0);
}

static uint64_t short_of(uint64_t cycles)
{
	return cycles > 0xFFFF ? 0xFFFF : cycles;
}

static uint64_t *branches(const struct counters *p, uint64_t *w)
{
	for (unsigned i = 0; i <= (p->pebs_groups >> 24 & 0xFF); i++) {
		const unsigned at = counter_lbr_entry(p, i);
		*w++ = p->lbr_from[at];
		*w++ = p->lbr_to[at];
		*w++ = p->lbr_info[at];
	}
	return w;
}

void counter_adaptive_fill(struct counters *p, unsigned n, const struct retired *r, const struct hart_regs *g, uint64_t source, uint64_t *w)
{
	const bool more = p->evtsel[n] & SELECT_ADAPTIVE;
	const uint64_t groups = more ? p->pebs_groups : 0;
	*w++ = groups | (p->m->pmu_retire_latency ? short_of(r->cycle - p->retired_before) << 32 : 0) | (uint64_t)counter_adaptive_bytes(p, n) << 48;
	*w++ = r->ip;
	*w++ = 1ull << n;
	*w++ = counters_rdtsc(p);
	if (groups & GROUP_MEMORY) {
		const uint64_t latency = p->general[n].tagged ? r->load_latency : 0;
		*w++ = r->insn->load ? r->effects->load_va : r->insn->store ? r->effects->store_va : 0;
		*w++ = r->insn->load ? source : 0;
		*w++ = p->m->pmu_pebs_format == 4 ? latency : short_of(latency) | short_of(latency) << 32;
		*w++ = 0;
	}
	if (groups & GROUP_REGISTERS) {
		*w++ = g->rflags;
		*w++ = r->next_ip;
		memcpy(w, g->gpr, sizeof(g->gpr));
		w += 16;
	}
	if (groups & GROUP_VECTORS)
		for (unsigned i = 0; i < 16; i++) {
			*w++ = g->vec[i][0];
			*w++ = g->vec[i][1];
		}
	if (groups & GROUP_BRANCHES)
		branches(p, w);
}

bool counter_latency_enabled(const struct counters *p, unsigned n)
{
	return p->m->pmu_load_latency && p->pebs_enable >> (counter_adaptive(p) ? n : 32 + n) & 1;
}

bool counter_has_auxiliary(const struct counters *p)
{
	bool there = !p->m->pmu_latency_auxiliary;
	for (unsigned n = 0; n < p->m->pmu_general; n++)
		there |= sim_event_code(p->m, p->evtsel[n]) == p->m->pmu_latency_auxiliary && (p->evtsel[n] >> 22 & 1) && (p->global_ctrl >> n & 1);
	return there;
}
