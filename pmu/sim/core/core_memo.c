/* pmu/sim/core/core_memo.c: recalls pipeline states that occurred before, after FastSim.
 *
 * Code is processed in pieces: up to the next branch, or MEMO_INSTRUCTIONS. What the pipeline does in a piece follows from
 * its initial state (core_snapshot.c), the code, and the answers from outside the pipeline: when loads, stores and lines of
 * code complete, where a branch goes, and what the predictor says of it and of the branches on a wrong path. The first
 * time, the steps of core.c are executed, and these answers are recorded together with the emitted signals and the final
 * state. When the same state recurs, the instructions are executed and the same questions are put again, in the same order
 * and at the same distances in time; while the answers equal the recorded ones, all else is as it was, only later. After a
 * different answer the initial state is restored, the piece is computed again with the answers obtained so far (which are
 * not requested twice), and the rest is recorded as an alternative of the piece.
 *
 * Caches, TLBs, prefetchers, predictor and stores in flight are therefore always live and never part of a state.
 *
 * Not modelled here, but computed the regular way: instructions that are not one plain group (core_plan.c), two threads on
 * a core, subscriptions to the signals of pipe_seldom, machines with a uop cache. Recalling changes no count and no time
 * (test_memo). */
#include "pmu/sim/core/core_memo.h"
#include "pmu/sim/core/pipe.h"

#define FAILURE (-4096)       /* instructions: recording has cost that much more than it saved */
#define GAIN_MOST 65536
#define OTHERS_MOST 24u       /* answers to one question */
#define PAUSE_FIRST 4096u     /* branches */
#define PAUSE_MOST (1u << 20)
#define STATE_COSTS 16        /* of a state */

void memo_forget(struct memo *m)
{
	memset(m->bucket, 0, sizeof(m->bucket));
	m->nodes = m->ops = m->emissions = m->words = 1; /* number 0 of each means none */
}

static uint64_t hash_of(const uint16_t *words, uint32_t n)
{
	const uint64_t *at = (const uint64_t *)(const void *)words;
	uint64_t h = n;
	for (uint32_t i = 0; i < n / 4; i++) {
		h = (h ^ at[i]) * 0x9E3779B97F4A7C15ull;
		h ^= h >> 29;
	}
	return h;
}

uint32_t memo_node_of(struct core_thread *c, struct memo *m, uint64_t ip, uint64_t *base)
{
	const uint32_t n = core_snapshot_take(c, m, ip, base);
	m->gain -= STATE_COSTS;
	if (!n)
		return 0;
	const uint64_t hash = hash_of(m->state, n);
	uint32_t *const first = &m->bucket[hash % MEMO_BUCKETS];
	for (uint32_t i = *first; i; i = m->node[i].next)
		if (m->node[i].hash == hash && m->node[i].words == n && !memcmp(&m->word[m->node[i].words_at], m->state, 2 * n))
			return i;
	if (m->nodes == MEMO_NODES || m->words + n > MEMO_WORDS)
		return 0;
	m->node[m->nodes] = (struct memo_node){ .hash = hash, .words_at = m->words, .words = n, .next = *first };
	memcpy(&m->word[m->words], m->state, 2 * n);
	m->words += n;
	*first = m->nodes;
	return m->nodes++;
}

static bool is_full(const struct memo *m)
{
	return m->nodes == MEMO_NODES || m->words + MEMO_STATE > MEMO_WORDS || m->ops + 2 * MEMO_INSTRUCTIONS + MEMO_EVENTS > MEMO_OPS ||
	       m->emissions + MEMO_EMITTED > MEMO_EMISSIONS;
}

/* --- repeating ------------------------------------------------------------------------------- */

static inline void emit_again(struct signals *s, const struct memo_emission *e, uint64_t base)
{
	for (;; e++) {
		switch (e->kind) {
		case MEMO_EMIT_SUM:
			s->subscriber[e->sig].sum += e->n;
			break;
		case MEMO_EMIT_BITS: {
			const uint64_t cycle = base + (uint64_t)e->at;
			uint64_t *const bits = s->subscriber[e->sig].bits;
			bits[cycle % SIGNAL_RING / 64] |= e->x << cycle % 64;
			if (cycle % 64)
				bits[(cycle + 64) % SIGNAL_RING / 64] |= e->x >> (64 - cycle % 64);
			break;
		}
		case MEMO_EMIT_PULSE:
			signal_pulse_deliver(s, (enum signal)e->sig, base + (uint64_t)(int64_t)e->at, e->n);
			break;
		case MEMO_EMIT_LEVEL:
			signal_level_deliver(s, (enum signal)e->sig, base + (uint64_t)(int64_t)e->at, base + (uint64_t)(int64_t)e->at + e->x, e->n);
			break;
		default:
			return;
		}
	}
}

/* The next step with another answer to the same question, or NULL. */
static inline const struct memo_op *other_op(const struct memo *m, const struct memo_op *op, uint32_t *others)
{
	++*others;
	return op->alt ? &m->op[op->alt] : NULL;
}

enum play_end { PLAY_NODE, PLAY_LEAVE, PLAY_MIDWAY };

/* Replays pieces from `*node` on. The pipeline's state is restored at the end. PLAY_NODE: *node, at *at, has no known
 * successor; PLAY_MIDWAY: *done of it was executed. */
static enum play_end play(struct core_thread *c, struct memo *m, struct memo_run *r, uint32_t *number, uint64_t *at, struct memo_midway *done)
{
	struct hart_regs *const regs = r->regs;
	struct memo_node *node = &m->node[*number];
	const uint64_t until = r->until;
	struct effects *const e = &done->effects;
	struct memo_op other;
	uint64_t base = *at, instructions = 0;
	enum play_end end = PLAY_NODE;
	const struct code_entry *entry = NULL;
	uint32_t ran, answers, others = 0;
	const struct memo_op *op, *last = NULL;
	enum status s;
	core_snapshot_clear(c, &m->word[node->words_at], base);
	for (;;) {
		if (base + 2 * MEMO_REACH > until) {
			end = PLAY_LEAVE;
			break;
		}
		if (base - c->closed > CLOSE_EVERY) {
			core_snapshot_restore(c, &m->word[node->words_at], base);
			core_close_some(c);
			core_snapshot_clear(c, &m->word[node->words_at], base);
		}
		c->alloc = base;
		ran = answers = 0;
		op = &m->op[node->ops];
	next:
		switch (op->kind) {
		case MEMO_EXEC:
		case MEMO_EXEC_LOAD:
			entry = op->load.entry;
			if (__builtin_expect(entry->ip != regs->rip, 0))
				goto unknown;
			if (op->pointer && exec_pointer(regs, &entry->insn, r->env->ranges, e)) {
				m->ran[ran++] = entry;
				if (*r->beyond)
					r->look_ahead(r->self, entry);
			} else {
				if (op->stores)
					*r->running = entry;
				s = exec(regs, &entry->insn, r->env, e, &r->vector);
				if (__builtin_expect(s != ST_OK, 0))
					goto unknown; /* executed once more, with the same end */
				m->ran[ran++] = entry;
				if (__builtin_expect(e->fp_assist || (op->stores && *r->code_stored), 0))
					goto unknown;
			}
			if (op->kind == MEMO_EXEC) {
				op++;
				goto next;
			}
			/* fall through */
		case MEMO_OP_LOAD: {
			struct load_result l;
			const uint64_t cycle = base + (uint64_t)op->load.at;
			s = pipe_load_now(c, entry->ip, e->load_va, e->load_bytes, cycle, &l);
			if (__builtin_expect(s != ST_OK, 0))
				goto unknown;
			if (__builtin_expect(memo_load_is(op, base, &l), 1))
				break;
			do {
				last = op;
				if (!(op = other_op(m, op, &others))) {
					other = memo_load_op(base, cycle, &l);
					goto another;
				}
			} while (!memo_load_is(op, base, &l));
			break;
		}
		case MEMO_OP_STORE: {
			uint64_t commit;
			bool walked;
			s = pipe_store_now(c, &entry->insn, entry->ip, e->store_va, e->store_bytes, base + op->store.address, base + op->store.data,
			                   base + op->store.retire, &commit, &walked);
			if (__builtin_expect(s != ST_OK, 0))
				goto unknown;
			while (commit != base + op->store.commit) {
				last = op;
				if (!(op = other_op(m, op, &others))) {
					other = *last;
					other.store.commit = (uint32_t)(commit - base);
					other.alt = 0;
					goto another;
				}
			}
			break;
		}
		case MEMO_OP_FETCH: {
			uint64_t cycle = base + (uint64_t)(int64_t)op->load.at;
			s = front_fetch_line(c, op->load.line, &cycle);
			if (__builtin_expect(s != ST_OK, 0))
				goto unknown;
			while (cycle != base + (uint64_t)(int64_t)op->load.ready) {
				last = op;
				if (!(op = other_op(m, op, &others))) {
					other = *last;
					other.load.ready = (int32_t)(cycle - base);
					other.alt = 0;
					goto another;
				}
			}
			break;
		}
		case MEMO_OP_BRANCH: {
			struct branch_prediction f;
			front_predict(c, &entry->plan, entry->ip, e, &f);
			while (!memo_foreseen_is(op, e->next_rip, &f)) {
				last = op;
				if (!(op = other_op(m, op, &others))) {
					other = memo_branch_op(e->next_rip, &f);
					goto another;
				}
			}
			break;
		}
		case MEMO_OP_GUESS: {
			const struct code_entry *g = &c->hooks->known[op->guess.ip % CODE_ENTRIES];
			if (__builtin_expect(g->ip != op->guess.ip, 0))
				goto unknown;
			const uint64_t ip = op->guess.ip, guess = front_guess(c, &g->plan, ip);
			while (op->guess.next != guess) {
				last = op;
				if (!(op = other_op(m, op, &others))) {
					other = (struct memo_op){ .kind = MEMO_OP_GUESS, .guess = { ip, guess } };
					goto another;
				}
			}
			break;
		}
		default: /* MEMO_END */
			emit_again(c->signals, &m->emission[op->end.emissions], base);
			c->uops += op->end.uops;
			c->uop_number += op->end.slots;
			instructions += op->end.retired;
			base += op->end.cycles;
			*number = op->end.node;
			node = &m->node[*number];
			if (!node->ops)
				goto leave;
			continue;
		}
		m->path[answers++] = op++;
		others = 0;
		goto next;
	}
	goto leave;
another:
	done->other = other;
	m->path[answers++] = &done->other;
	done->alt = others <= OTHERS_MOST ? (uint32_t)(last - m->op) : 0;
	end = PLAY_MIDWAY;
	goto midway;
unknown:
	done->alt = 0;
	end = ran || answers ? PLAY_MIDWAY : PLAY_LEAVE;
midway:
	done->ran = ran;
	done->answers = answers;
leave:
	core_snapshot_restore(c, &m->word[node->words_at], base);
	*at = base;
	r->instructions += instructions;
	m->recalled += instructions;
	m->gain += instructions < GAIN_MOST ? (int32_t)instructions : GAIN_MOST;
	return end;
}

OWN_PAGE enum status core_memo(struct core_thread *c, struct memo *m, struct memo_run *r)
{
	struct memo_midway done;
	bool stop = false;
	r->instructions = 0;
	m->wait = 1;
	if (!pipe_is_quick(c) || c->want_retired || c->uop_sets || !c->hooks->known) {
		m->wait = PAUSE_MOST;
		return ST_OK;
	}
	if (m->of != c || m->version != c->signals->version || m->rob_size != c->rob_size) {
		m->of = c;
		m->version = c->signals->version;
		m->rob_size = c->rob_size;
		m->tape = (struct signal_tape){ .most = MEMO_EMITTED, .emitted = m->emitted };
		signals_note(&m->noted, c->signals, &m->tape);
		m->pause = PAUSE_FIRST;
		m->gain = 0;
		memo_forget(m);
	}
	if (is_full(m)) {
		memo_forget(m);
		m->gain -= 2 * MEMO_NODES;
	}
	enum status s = ST_OK;
	uint64_t base;
	uint32_t node = 0;
	for (;;) {
		if (core_clock(c) + 4 * MEMO_REACH > r->until)
			break;
		if (c->alloc - c->closed > CLOSE_EVERY)
			core_close_some(c);
		if (!node && !(node = memo_node_of(c, m, r->regs->rip, &base)))
			break;
		struct memo_midway *midway = NULL;
		if (m->node[node].ops) {
			const enum play_end end = play(c, m, r, &node, &base, &done);
			if (end == PLAY_LEAVE)
				break;
			midway = end == PLAY_MIDWAY ? &done : NULL;
		}
		if (is_full(m) && !midway)
			break;
		s = memo_note(c, m, r, node, base, midway, &node, &base, &stop);
		if (s != ST_OK || stop || m->gain < FAILURE)
			break;
	}
	if (m->gain < FAILURE) {
		m->wait = m->pause;
		m->pause = m->pause < PAUSE_MOST ? 2 * m->pause : m->pause;
		m->gain = 0;
	} else if (m->gain > GAIN_MOST) {
		m->gain = GAIN_MOST;
		m->pause = PAUSE_FIRST;
	}
	return s;
}
