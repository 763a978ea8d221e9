/* pmu/sim/core/core_note.c: computes a piece of code for the first time, or on from where it is known, and records it.
 * core_memo.c explains pieces.
 *
 * Not recorded: pieces in which an operand needs a floating-point assist, or which store to code. */
#include "pmu/sim/core/core_memo.h"
#include "pmu/sim/core/pipe.h"

#define NOTE_COSTS 3 /* cost of recording an instruction, in instructions */

/* --- what comes from beyond the pipeline ----------------------------------------------------- */

static void note_op(struct memo_tape *t, const struct memo_op *op)
{
	struct memo *m = t->memo;
	t->failed |= m->ops + 2 > MEMO_OPS || ++t->events > MEMO_EVENTS;
	if (!t->failed)
		m->op[m->ops++] = *op;
}

/* A cycle relative to the piece's base. */
static int32_t from_base(struct memo_tape *t, uint64_t cycle)
{
	t->failed |= cycle - t->base >= MEMO_REACH;
	return (int32_t)(cycle - t->base);
}

/* The answer, if it is known already. */
static const struct memo_op *known_answer(struct memo_tape *t)
{
	return t->at < t->replay ? t->memo->path[t->at++] : NULL;
}

enum status memo_load(struct core_thread *c, uint64_t ip, uint64_t va, unsigned bytes, uint64_t cycle, struct load_result *r)
{
	struct memo_tape *t = c->tape;
	const struct memo_op *op = known_answer(t);
	if (op) {
		*r = (struct load_result){ .ready = t->base + (uint64_t)op->load.ready, .translated = cycle, .source = (enum mem_source)(op->load.from & 0xFF),
		                           .dtlb_level = (uint8_t)(op->load.from >> 8), .violation = op->load.from >> 16 };
		return ST_OK;
	}
	struct signals *const noted = c->signals;
	c->signals = t->signals;
	const enum status s = pipe_load_now(c, ip, va, bytes, cycle, r);
	c->signals = noted;
	const struct memo_op new = memo_load_op(t->base, cycle, r);
	t->failed |= cycle - t->base >= MEMO_REACH || r->ready - t->base >= MEMO_REACH;
	struct memo_op *const last = &t->memo->op[t->memo->ops - 1];
	if (s == ST_OK && !t->failed && t->fresh && last->kind == MEMO_EXEC) { /* one step */
		t->events++;
		last->kind = MEMO_EXEC_LOAD;
		last->load.at = new.load.at;
		last->load.ready = new.load.ready;
		last->load.from = new.load.from;
	} else if (s == ST_OK) {
		note_op(t, &new);
	}
	return s;
}

enum status memo_store(struct core_thread *c, const struct insn *in, uint64_t ip, uint64_t va, unsigned bytes, uint64_t address_cycle,
                       uint64_t data_cycle, uint64_t retire, uint64_t *commit)
{
	struct memo_tape *t = c->tape;
	const struct memo_op *op = known_answer(t);
	bool walked;
	if (op) {
		*commit = t->base + op->store.commit;
		return ST_OK;
	}
	struct signals *const noted = c->signals;
	c->signals = t->signals;
	const enum status s = pipe_store_now(c, in, ip, va, bytes, address_cycle, data_cycle, retire, commit, &walked);
	c->signals = noted;
	if (s == ST_OK)
		note_op(t, &(struct memo_op){ .kind = MEMO_OP_STORE, .store = { (uint16_t)from_base(t, address_cycle), (uint16_t)from_base(t, data_cycle),
		                              (uint16_t)from_base(t, retire), (uint32_t)from_base(t, *commit) } });
	return s;
}

enum status memo_fetch(struct core_thread *c, uint64_t at, uint64_t *cycle)
{
	struct memo_tape *t = c->tape;
	const struct memo_op *op = known_answer(t);
	if (op) {
		*cycle = t->base + (uint64_t)(int64_t)op->load.ready;
		return ST_OK;
	}
	const uint64_t asked = *cycle;
	struct signals *const noted = c->signals;
	c->signals = t->signals;
	c->tape = NULL;
	const enum status s = front_fetch_line(c, at, cycle);
	c->tape = t;
	c->signals = noted;
	/* fetch may lag behind allocation */
	t->failed |= asked + MEMO_REACH < t->base || *cycle >= t->base + MEMO_REACH;
	if (s == ST_OK)
		note_op(t, &(struct memo_op){ .kind = MEMO_OP_FETCH, .load = { .line = at, .at = (int32_t)(asked - t->base), .ready = (int32_t)(*cycle - t->base) } });
	return s;
}

void memo_predict(struct core_thread *c, const struct core_plan *p, uint64_t ip, const struct effects *e, struct branch_prediction *f)
{
	struct memo_tape *t = c->tape;
	const struct memo_op *op = known_answer(t);
	if (op) {
		*f = (struct branch_prediction){ op->branch.predicted, op->miss, op->known };
		return;
	}
	front_predict(c, p, ip, e, f);
	const struct memo_op new = memo_branch_op(e->next_rip, f);
	note_op(t, &new);
}

uint64_t memo_guess(struct core_thread *c, const struct core_plan *p, uint64_t ip)
{
	if (p->branch == BRANCH_NONE)
		return ip + p->length;
	struct memo_tape *t = c->tape;
	const struct memo_op *op = known_answer(t);
	if (op)
		return op->guess.next;
	const uint64_t next = front_guess(c, p, ip);
	t->failed |= c->hooks->known[ip % CODE_ENTRIES].ip != ip;
	note_op(t, &(struct memo_op){ .kind = MEMO_OP_GUESS, .guess = { ip, next } });
	return next;
}

/* --- noting ---------------------------------------------------------------------------------- */

/* Emits what was recorded to the taps. */
static void emit_noted(struct signals *s, const struct memo *m)
{
	for (uint32_t i = 0; i < m->tape.count; i++) {
		const struct signal_emission *one = &m->emitted[i];
		if (one->level)
			signal_level(s, (enum signal)one->sig, one->from, one->to, one->n);
		else
			signal_pulse(s, (enum signal)one->sig, one->from, one->n);
	}
}

static void add_emission(struct memo *m, const struct memo_emission *e) { m->emission[m->emissions++] = *e; }

/* Records the emitted signals in compact form: counts by signal, cycles by 64. There is space for them. */
static uint32_t note_emissions(struct memo *m, const struct signals *s, uint64_t base)
{
	const uint32_t first = m->emissions;
	for (uint32_t i = 0; i < m->tape.count; i++) {
		const struct signal_emission *one = &m->emitted[i];
		const struct signal_subscriber *h = &s->subscriber[one->sig];
		const uint64_t at = one->from - base;
		if (one->level) {
			add_emission(m, &(struct memo_emission){ one->to - one->from, (int32_t)at, one->n, one->sig, MEMO_EMIT_LEVEL });
			continue;
		}
		if (h->more && (!h->near || at >= MEMO_REACH)) {
			add_emission(m, &(struct memo_emission){ 0, (int32_t)at, one->n, one->sig, MEMO_EMIT_PULSE });
			continue;
		}
		struct memo_emission *sum = NULL, *bits = NULL;
		for (uint32_t k = first; k < m->emissions; k++) {
			struct memo_emission *w = &m->emission[k];
			if (w->sig == one->sig && w->kind == MEMO_EMIT_SUM)
				sum = w;
			if (w->sig == one->sig && w->kind == MEMO_EMIT_BITS && at - (uint64_t)w->at < 64)
				bits = w;
		}
		if (!sum) {
			add_emission(m, &(struct memo_emission){ 0, 0, 0, one->sig, MEMO_EMIT_SUM });
			sum = &m->emission[m->emissions - 1];
		}
		sum->n += one->n;
		if (!h->more || !one->n)
			continue;
		if (!bits) {
			add_emission(m, &(struct memo_emission){ 0, (int32_t)at, 0, one->sig, MEMO_EMIT_BITS });
			bits = &m->emission[m->emissions - 1];
		}
		bits->x |= 1ull << (at - (uint64_t)bits->at);
	}
	add_emission(m, &(struct memo_emission){ .kind = MEMO_EMIT_END });
	return first;
}

static bool can_be_noted(const struct code_entry *e, uint64_t ip)
{
	return e->ip == ip && e->plan.shape != SHAPE_ANY && !e->insn.nontemporal && !e->plan.x87;
}

enum status memo_note(struct core_thread *c, struct memo *m, struct memo_run *r, uint32_t node, uint64_t base,
                      const struct memo_midway *done, uint32_t *next, uint64_t *at, bool *stop)
{
	static const struct effects nothing = { 0 };
	struct memo_tape t = { .memo = m, .signals = c->signals, .base = base, .replay = done ? done->answers : 0,
	                       .events = done ? done->answers : 0, .failed = done && !done->alt };
	const uint32_t ops = m->ops, emissions = m->emissions;
	const uint64_t slots = c->uop_number, uops = c->uops;
	struct effects e;
	enum status s = ST_OK;
	uint32_t ran = 0;
	bool ends = false;
	*next = 0;
	*stop = false;
	m->tape.count = 0;
	m->noted.open = c->signals->open;
	c->signals = &m->noted;
	c->tape = &t;
	if (done && done->alt)
		note_op(&t, &done->other);
	while (!ends && s == ST_OK) {
		const bool again = done && ran < done->ran;
		const uint64_t ip = r->regs->rip;
		const struct code_entry *entry = again ? m->ran[ran] : &c->hooks->known[ip % CODE_ENTRIES];
		const struct effects *effects = &e;
		if (!again) {
			*stop = !can_be_noted(entry, ip);
			if (*stop || ran == MEMO_INSTRUCTIONS)
				break;
			*r->running = entry;
			s = exec(r->regs, &entry->insn, r->env, &e, &r->vector);
			if (s != ST_OK)
				break;
			if (entry->pointer && *r->beyond)
				r->look_ahead(r->self, entry);
			note_op(&t, &(struct memo_op){ .kind = MEMO_EXEC, .stores = entry->insn.store, .pointer = entry->pointer, .load = { .entry = entry } });
			t.events--;
			t.fresh = true;
		} else {
			effects = ran + 1 == done->ran ? &done->effects : &nothing;
		}
		t.failed |= effects->fp_assist || *r->code_stored;
		s = core_account(c, &entry->insn, &entry->plan, effects, again ? entry->ip : ip);
		if (s != ST_OK) {
			r->vector = 14;
			break;
		}
		ran++;
		r->instructions++;
		ends = entry->plan.branch || (*r->code_stored && (!done || ran >= done->ran));
	}
	c->signals = t.signals;
	c->tape = NULL;
	emit_noted(c->signals, m);
	m->gain -= (int32_t)ran * NOTE_COSTS;
	t.failed |= s != ST_OK || !ran || t.at != t.replay || m->tape.count > m->tape.most;
	if (*r->code_stored) {
		core_code_changed(c, *r->code_stored);
		*r->code_stored = 0;
		memo_forget(m);
		*stop = true;
		return s;
	}
	*stop |= *r->beyond; /* in a chase beyond the L2 latencies differ each time, and no state recurs */
	*next = t.failed ? 0 : memo_node_of(c, m, r->regs->rip, at);
	if (*next && *at - base < MEMO_REACH && m->emissions + 2 * m->tape.count + 2 < MEMO_EMISSIONS) {
		const uint32_t first = note_emissions(m, c->signals, base);
		m->op[m->ops++] = (struct memo_op){ .kind = MEMO_END, .end = { *next, first, (uint16_t)(*at - base),
		                                    (uint16_t)(c->uop_number - slots), (uint16_t)(c->uops - uops), (uint16_t)ran } };
		if (done)
			m->op[done->alt].alt = ops;
		else
			m->node[node].ops = ops;
		return s;
	}
	m->ops = ops;
	m->emissions = emissions;
	return s;
}
