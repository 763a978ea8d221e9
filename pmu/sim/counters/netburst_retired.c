/* pmu/sim/counters/netburst_retired.c: NetBurst's counters of retired instructions: tags, PEBS records, interrupts,
 * cascades.
 *
 * Sprunt 2002 and SDM volume 3: an event at retirement is counted as its instruction retires, in program order. A uop is
 * tagged if it is of a kind that an ESCR with tag enable detects (front end: loads and stores; execution: arithmetic, four
 * tags), or if it was replayed for what IA32_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT select. Under PEBS the first tagged uop
 * after an overflow writes a record into the debug-store area, and the counter is reloaded. OVF_PMI raises an interrupt
 * with the event that follows the overflow, FORCE_OVF overflows with each event; the interrupt arrives pmu.pmi_cycles
 * later. An overflow enables the counter of the block's other pair whose CCCR has CASCADE and not ENABLE.
 *
 * Not modelled: sampling, interrupts and cascades of events that are not known at retirement, and of any event under active
 * threads other than any; uops of the execution tags other than arithmetic (ADDPS to CMPSD in their four forms, x87), one
 * per instruction; the extended cascade of IQ's fifth and sixth counter; the time that a record or a handler takes. */
#include "pmu/sim/counters/netburst_state.h"
#include "pmu/sim/isa/ops.h"

#define CCCR_PMI    (3u << 26) /* OVF_PMI_T0 and T1 */
#define CCCR_ANY(cccr) (((cccr) >> 16 & 3) == 3)
#define PEBS_AT     16 /* IQ_COUNTER4 */
#define SELECT(escr) ((escr) >> 25 & 0x3F)
#define MASK(escr)   ((escr) >> 9 & 0xFFFF)
#define TAG(escr)    ((escr) & ESCR_TAG ? (escr) >> 5 & 15 : 0)

/* The debug-store area: 64-bit form, SDM figure 18-8; 32-bit form, table 17-1. Index, maximum, threshold, reset; record. */
static const struct form { uint8_t word, index, maximum, threshold, reset, registers; } forms[2] = {
	{ 4, 0x14, 0x18, 0x1C, 0x20, 8 }, { 8, 0x28, 0x30, 0x38, 0x40, 16 } };

static uint32_t escr_at(const struct counters *p, uint32_t msr)
{
	return p->netburst->escr[msr - NETBURST_SIM_ESCR];
}

/* ---- what one retired instruction is -------------------------------------------------------- */

static bool from(const struct retired *r, enum mem_source first)
{
	return r->insn->load && r->source >= first && r->source <= SRC_REMOTE_DRAM;
}

static bool crosses(uint64_t va, unsigned bytes)
{
	return (va & 63) + bytes > 64;
}

static bool replayed(const struct counters *p, const struct retired *r)
{
	bool loads = p->netburst->matrix_vert & 1, stores = p->netburst->matrix_vert & 2;
	switch (p->netburst->pebs_enable & METRIC_BITS) {
	case 0x1: return loads && from(r, SRC_LFB);
	case 0x2: return loads && from(r, SRC_L3_UNSHARED);
	case 0x4: return (loads && r->insn->load && r->dtlb_level == 3) || (stores && r->insn->store && r->store_dtlb_walk);
	case 0x400:
		return (loads && r->insn->load && crosses(r->effects->load_va, r->effects->load_bytes)) ||
			(stores && r->insn->store && crosses(r->effects->store_va, r->effects->store_bytes));
	case 0x18000: return r->insn->branch && r->mispredicted && p->netburst->matrix_vert == 0x10;
	}
	return false;
}

/* MOB_load_replay_retired is the only metric that retirement does not show. */
static bool replay_is_known(const struct counters *p)
{
	uint32_t metric = p->netburst->pebs_enable & METRIC_BITS;
	return p->netburst->pebs_enable & PEBS_UOP_TAG && metric && metric != 0x200;
}

static bool hears(const struct counters *p, uint32_t escr)
{
	return netburst_sim_threads(escr) >> netburst_sim_own(p) & 1;
}

static bool tagged_by_front_end(const struct counters *p, const struct retired *r)
{
	for (unsigned n = 0; n < 2; n++) {
		uint32_t escr = escr_at(p, UNIT_RAT + n);
		if (TAG(escr) && SELECT(escr) == 0x02 && hears(p, escr) && ((MASK(escr) & 2 && r->insn->load) || (MASK(escr) & 4 && r->insn->store)))
			return true;
	}
	return false;
}

/* The event select of FIRM's ESCRs that detects an instruction's arithmetic; 0: none. */
static unsigned arithmetic(const struct insn *in)
{
	static const uint8_t forms_of[4] = { 0x08, 0x0C, 0x0A, 0x0E }; /* packed SP, packed DP, scalar SP, scalar DP */
	if (in->op >= OP_ADDPS && in->op <= OP_CMPSD)
		return forms_of[(in->op - OP_ADDPS) % 4];
	return in->class == UC_X87_ADD || in->class == UC_X87_MUL || in->class == UC_X87_DIV || in->class == UC_X87_SQRT ? 0x04 : 0;
}

static unsigned tags_of_execution(const struct counters *p, const struct retired *r)
{
	unsigned tags = 0, select = arithmetic(r->insn);
	for (unsigned n = 0; n < 2 && select; n++) {
		uint32_t escr = escr_at(p, UNIT_FIRM + n);
		if (SELECT(escr) == select && MASK(escr) >> 15 & 1)
			tags |= TAG(escr);
	}
	return tags;
}

/* How often counter c's event occurs with a retired instruction. */
static unsigned times(const struct counters *p, unsigned c, const struct retired *r)
{
	uint32_t at = netburst_sim_escr_of(c, p->netburst->cccr[c]), escr = escr_at(p, at), mask = MASK(escr);
	if (!hears(p, escr))
		return 0;
	if ((at & ~1u) == UNIT_CRU0)
		switch (SELECT(escr)) {
		case 0x01: return mask & 1 ? r->uops_unfused : 0;
		case 0x02: case 0x07: return mask & 1;
		case 0x03: return r->insn->branch && r->mispredicted && mask & 1;
		default: return 0;
		}
	switch (SELECT(escr)) {
	case 0x06: return r->insn->branch && mask >> ((r->effects->taken ? 2 : 0) + r->mispredicted) & 1;
	case 0x08: return mask & 1 && tagged_by_front_end(p, r);
	case 0x09: return mask & 1 && replayed(p, r);
	case 0x0C: return (tags_of_execution(p, r) & mask & 15) != 0;
	}
	return 0;
}

/* ---- which counters ------------------------------------------------------------------------- */

/* The counter that c's overflow may enable; c itself if there is none. */
static unsigned cascaded(unsigned c)
{
	return c < 16 ? (c & ~3u) + (c + 2) % 4 : c;
}

static bool has_pebs(const struct counters *p, unsigned c)
{
	return c >= PEBS_AT && p->netburst->pebs_enable & PEBS_T0 << (c - PEBS_AT) && p->netburst->thread[c - PEBS_AT] &&
		p->m->pmu_pebs_format != 255;
}

bool netburst_sim_armed(const struct counters *p)
{
	const unsigned c = PEBS_AT + netburst_sim_own(p);
	return has_pebs(p, c) && p->netburst->cccr[c] & CCCR_ENABLE;
}

static bool cascades(const struct counters *p, unsigned c)
{
	unsigned other = cascaded(c);
	return other != c && (p->netburst->cccr[other] & CCCR_CASCADE || p->netburst->cccr[c] & CCCR_CASCADE);
}

/* only: the event is known only at retirement. */
static bool known(const struct counters *p, unsigned c, bool *only)
{
	uint32_t at = netburst_sim_escr_of(c, p->netburst->cccr[c]), escr, mask;
	*only = false;
	if (!at)
		return false;
	escr = escr_at(p, at);
	mask = MASK(escr);
	if ((at & ~1u) == UNIT_CRU0)
		return (SELECT(escr) <= 0x03 || SELECT(escr) == 0x07) && SELECT(escr) && mask == 1;
	if ((at & ~1u) != UNIT_CRU2)
		return false;
	switch (SELECT(escr)) {
	case 0x06: *only = true; return mask && !(mask & ~15u);
	case 0x0C: *only = true; return mask && !(mask & ~15u); /* the other four: tagged uops that never retire */
	case 0x08: return mask == 1;
	case 0x09: return mask == 1 && replay_is_known(p);
	}
	return false;
}

static bool needed(const struct counters *p, unsigned c)
{
	return has_pebs(p, c) || p->netburst->cccr[c] & CCCR_PMI || cascades(p, c);
}

bool netburst_sim_by_retirement(const struct counters *p, unsigned c)
{
	bool only;
	return known(p, c, &only) && !(p->netburst->cccr[c] & CCCR_COMPARE) && CCCR_ANY(p->netburst->cccr[c]) && (only || needed(p, c));
}

const char *netburst_sim_not_by_retirement(const struct counters *p, unsigned c)
{
	bool only;
	if (known(p, c, &only) && (only || needed(p, c)) && !CCCR_ANY(p->netburst->cccr[c]))
		return "an event that is counted at retirement, under active threads other than any";
	return needed(p, c) && !netburst_sim_by_retirement(p, c) ?
		"records, interrupts and cascades of an event that is not known at retirement" : NULL;
}

bool netburst_sim_wants_retired(const struct counters *p)
{
	for (unsigned c = 0; c < NETBURST_SIM_COUNTERS; c++)
		if (p->netburst->counter[c].retired || (netburst_sim(p) && p->netburst->cccr[c] & CCCR_CASCADE))
			return true;
	return false;
}

/* ---- records -------------------------------------------------------------------------------- */

static bool ds_get(struct counters *p, const struct form *f, unsigned offset, unsigned bytes, uint64_t *value)
{
	const void *at = p->env.memory ? p->env.memory(p->env.self, p->ds_area + offset, bytes, false) : NULL;
	(void)f;
	*value = 0;
	if (at)
		memcpy(value, at, bytes);
	return at != NULL;
}

static void lost(struct counters *p, enum finding_kind kind, const char *why)
{
	if (!p->late.why)
		p->late = (struct sim_finding){ .kind = kind, .thread = p->thread, .address = 0x600, .value = p->ds_area, .why = why };
}

/* Raises interrupts on the threads that a CCCR names. */
static void ask(struct counters *p, uint32_t cccr, const struct retired *r)
{
	for (unsigned i = 0; i < 2; i++) {
		struct counters *to = cccr >> 26 >> i & 1 ? p->netburst->thread[i] : NULL;
		if (to && !to->netburst_thread.interrupt_cycle)
			to->netburst_thread.interrupt_cycle = r->cycle + p->m->pmu_pmi_cycles;
	}
}

/* EFLAGS EIP EAX EBX ECX EDX ESI EDI EBP ESP and, in the 64-bit form, R8 to R15. */
static void write_record(struct counters *p, unsigned c, const struct retired *r, const uint64_t after[17])
{
	static const uint8_t order[16] = { 0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };
	const struct form *f = &forms[p->m->pmu_ds64];
	const uint64_t *g = p->m->pmu_pebs_before ? p->netburst_thread.before : after;
	unsigned bytes = f->word * (2u + f->registers);
	uint64_t index, maximum, threshold;
	if (!ds_get(p, f, f->index, f->word, &index) || !ds_get(p, f, f->maximum, f->word, &maximum) ||
	    !ds_get(p, f, f->threshold, f->word, &threshold)) {
		lost(p, FIND_UNMAPPED, "PEBS: the DS area is not mapped, the record is lost");
		return;
	}
	if (index + bytes > maximum) {
		lost(p, FIND_IGNORED, "PEBS: the buffer is full, the record is lost");
		return;
	}
	p->pebs_written++;
	if (p->m->fault_pebs_drop_every && p->pebs_written % p->m->fault_pebs_drop_every == 0)
		return;
	uint8_t *record = p->env.memory(p->env.self, index, bytes, true), *at = p->env.memory(p->env.self, p->ds_area + f->index, f->word, true);
	if (!record || !at) {
		lost(p, FIND_UNMAPPED, "PEBS: the buffer is not mapped, the record is lost");
		return;
	}
	uint64_t w[18] = { g[16], p->m->pmu_pebs_before ? r->ip : r->next_ip };
	for (unsigned i = 0; i < f->registers; i++)
		w[2 + i] = g[order[i]];
	for (unsigned i = 0; i < 2u + f->registers; i++)
		memcpy(record + i * f->word, &w[i], f->word);
	index += bytes;
	memcpy(at, &index, f->word);
	if (index >= threshold)
		ask(p, p->netburst->cccr[c], r);
}

/* ---- counting ------------------------------------------------------------------------------- */

static void overflowed(struct counters *p, unsigned c)
{
	unsigned other = cascaded(c);
	p->netburst->cccr[c] |= CCCR_OVF;
	if (has_pebs(p, c))
		p->netburst->counter[c].armed = true;
	else
		p->netburst->counter[c].next = (p->netburst->cccr[c] & CCCR_PMI) != 0;
	if (other != c && (p->netburst->cccr[other] & (CCCR_CASCADE | CCCR_ENABLE)) == CCCR_CASCADE) {
		p->netburst->cccr[other] |= CCCR_ENABLE;
		netburst_sim_program(p, other);
	}
}

static void happened(struct counters *p, unsigned c, const struct retired *r, unsigned n, const uint64_t after[17])
{
	if (p->netburst->counter[c].armed) {
		uint64_t reset;
		write_record(p, c, r, after);
		p->netburst->counter[c].armed = false;
		if (ds_get(p, &forms[p->m->pmu_ds64], forms[p->m->pmu_ds64].reset, 8, &reset))
			p->netburst->counter[c].base = reset & mask_of(COUNTER_BITS);
		return;
	}
	if (p->netburst->counter[c].next) {
		p->netburst->counter[c].next = false;
		ask(p, p->netburst->cccr[c], r);
	}
	uint64_t total = p->netburst->counter[c].base + n;
	p->netburst->counter[c].base = total & mask_of(COUNTER_BITS);
	if (total >> COUNTER_BITS || p->netburst->cccr[c] & CCCR_FORCE_OVF)
		overflowed(p, c);
}

void netburst_sim_retired(struct counters *p, const struct retired *r, const struct hart_regs *regs)
{
	uint64_t after[17];
	unsigned n[NETBURST_SIM_COUNTERS] = { 0 };
	memcpy(after, regs->gpr, sizeof(regs->gpr));
	after[16] = regs->rflags;
	/* a counter enabled by an overflow of this instruction starts with the next */
	for (unsigned c = 0; c < NETBURST_SIM_COUNTERS; c++)
		n[c] = p->netburst->counter[c].retired ? times(p, c, r) : 0;
	for (unsigned c = 0; c < NETBURST_SIM_COUNTERS; c++)
		if (n[c])
			happened(p, c, r, n[c], after);
	memcpy(p->netburst_thread.before, after, sizeof(after));
}
