/* pmu/sim/counters/netburst_retired.c: NetBurst's counters of retired instructions: tags, PEBS records, interrupts,
 * cascades.
 *
 * Sprunt 2002 and SDM volume 3: an event at retirement is counted as its instruction retires, in program order. A uop is
 * tagged if it is of a kind that an ESCR with tag enable detects (front end: loads and stores; execution: arithmetic, four
 * tags), or if it was replayed for the cause that IA32_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT select. Under PEBS the first tagged uop
 * after an overflow writes a record into the debug-store area, and the counter is reloaded. OVF_PMI raises an interrupt
 * with the event that follows the overflow, FORCE_OVF overflows with each event; the interrupt arrives pmu.pmi_cycles
 * later. An overflow enables the counter of the block's other pair whose CCCR has CASCADE but not ENABLE.
 *
 * Not modelled: sampling, interrupts and cascades of events that are not known at retirement, and of any event under active
 * threads other than any; execution tags of uops other than arithmetic (ADDPS to CMPSD in their four forms, x87: one uop
 * per instruction); the extended cascade of IQ's fifth and sixth counter; the time that a record or a handler takes. */
#include "pmu/sim/counters/netburst_state.h"

#define CCCR_PMI    (3u << 26) /* OVF_PMI_T0 and T1 */
#define CCCR_ANY(cccr) (((cccr) >> 16 & 3) == 3)
#define PEBS_AT     16 /* IQ_COUNTER4 */
#define TAG(escr)    ((escr) & ESCR_TAG ? (escr) >> 5 & 15 : 0)

/* The debug-store area in 32-bit form, SDM table 17-1, and in 64-bit form, figure 18-8: word size; offsets of index, maximum,
 * threshold and reset; registers in a record. */
static const struct form { uint8_t word, index, maximum, threshold, reset, registers; } forms[2] = {
	{ 4, 0x14, 0x18, 0x1C, 0x20, 8 }, { 8, 0x28, 0x30, 0x38, 0x40, 16 } };

/* ---- what one retired instruction is -------------------------------------------------------- */

static unsigned occurrences(uint64_t conditions, const struct retired *r)
{
	unsigned n = 0;
	for (; conditions; conditions &= conditions - 1)
		n += counter_pebs_occurrences((enum precise)__builtin_ctzll(conditions), r);
	return n;
}

static bool subscribed(const struct counters *p, uint32_t escr)
{
	return netburst_sim_threads(escr) >> netburst_sim_own(p) & 1;
}

static bool tagged_by_front_end(const struct counters *p, const struct retired *r)
{
	for (unsigned n = 0; n < p->netburst->tagger_count; n++) {
		const struct sim_netburst_tagger *t = &p->netburst->tagger[n];
		if (t->kinds & EVENT_TAGS_FRONT_END && TAG(t->escr) && subscribed(p, t->escr) && occurrences(t->conditions, r))
			return true;
	}
	return false;
}

static unsigned tags_of_execution(const struct counters *p, const struct retired *r)
{
	unsigned tags = 0;
	for (unsigned n = 0; n < p->netburst->tagger_count; n++) {
		const struct sim_netburst_tagger *t = &p->netburst->tagger[n];
		if (t->kinds & EVENT_TAGS_EXECUTION && occurrences(t->conditions, r))
			tags |= TAG(t->escr);
	}
	return tags;
}

/* How often counter c's event occurs in a retired instruction. */
static unsigned times(const struct counters *p, unsigned c, const struct retired *r)
{
	const uint32_t escr = p->netburst->escr[netburst_sim_escr_of(c, p->netburst->cccr[c]) - NETBURST_SIM_ESCR];
	const uint32_t kinds = p->netburst->counter[c].kinds;
	if (!subscribed(p, escr))
		return 0;
	if (kinds & EVENT_FRONT_END)
		return tagged_by_front_end(p, r);
	if (kinds & EVENT_EXECUTION)
		return (tags_of_execution(p, r) & ESCR_MASK(escr)) != 0;
	return occurrences(p->netburst->counter[c].conditions, r);
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

/* Whether counter c's event is known at retirement; *only: it is not known otherwise. */
static bool known(const struct counters *p, unsigned c, bool *only)
{
	const uint32_t at = netburst_sim_escr_of(c, p->netburst->cccr[c]);
	*only = at && netburst_detect_kinds(p->m, at, p->netburst->escr[at - NETBURST_SIM_ESCR]) & (EVENT_RETIREMENT | EVENT_EXECUTION);
	return at && netburst_detect_retires(p, at);
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
