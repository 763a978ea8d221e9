/* pmu/sim/core/core_memo.h: recalled pipeline states, for core*.c, pipe*.c and sim_run.c only. core_memo.c explains them. */
#ifndef SIM_CORE_MEMO_H
#define SIM_CORE_MEMO_H

#include "pmu/sim/core/core_state.h"

#define MEMO_REACH 16384u     /* cycles: a state with anything further from allocation than this is not memoised */
#define MEMO_INSTRUCTIONS 64u /* per piece of code */
#define MEMO_EVENTS 512u      /* per piece: answers from outside the pipeline */
#define MEMO_EMITTED 2048u       /* signals emitted by it */
#define MEMO_NODES 8192u
#define MEMO_BUCKETS 16384u   /* a power of two */
#define MEMO_OPS 131072u
#define MEMO_EMISSIONS 65536u
#define MEMO_WORDS 1048576u
#define MEMO_STATE 1024u      /* words of a state, at most */

enum memo_kind { MEMO_EXEC, MEMO_EXEC_LOAD, MEMO_OP_LOAD, MEMO_OP_STORE, MEMO_OP_FETCH, MEMO_OP_BRANCH, MEMO_OP_GUESS, MEMO_END };

/* A step of a piece of code. Cycles count from its state's base. */
struct memo_op {
	uint8_t kind;
	bool stores, pointer;    /* MEMO_EXEC: as insn and struct code_entry */
	bool miss, known;
	uint32_t alt;            /* the same step with a different outcome; 0: none */
	union {
		/* MEMO_EXEC; the load of the instruction; a line of code at an address. `from`: memo_load_from */
		struct { union { const struct code_entry *entry; uint64_t line; }; int32_t at, ready; uint32_t from; } load;
		struct { uint16_t address, data, retire; uint32_t commit; } store;
		struct { uint64_t next, predicted; } branch;                   /* where it went; where the front end would have gone */
		struct { uint64_t ip, next; } guess;                           /* the same for a branch on a wrong path */
		struct { uint32_t node, emissions; uint16_t cycles, slots, uops, retired; } end; /* the state after it, and its distance;
		                                                                               see struct memo */
	};
};

/* Signals that a piece emits. */
enum memo_emission_kind { MEMO_EMIT_END, MEMO_EMIT_SUM, MEMO_EMIT_BITS, MEMO_EMIT_PULSE, MEMO_EMIT_LEVEL };
struct memo_emission { uint64_t x; int32_t at; uint32_t n; uint8_t sig, kind; };

/* A state: its words, and the steps that followed it. */
struct memo_node { uint64_t hash; uint32_t words_at, words, ops, next; };

struct memo {
	const struct core_thread *of; /* the thread whose states these are, ... */
	uint64_t version;             /* ... and the version of its subscriptions */
	uint32_t rob_size;
	uint32_t wait, pause;         /* branches until recalling is tried again; the same after the next failure */
	uint64_t recalled;            /* instructions so far */
	int32_t gain;                 /* instructions replayed, minus the cost of recording */
	uint32_t nodes, ops, emissions, words; /* in use; number 0 of each means none */
	struct signals noted;         /* subscribes to what that version does, and records it */
	struct signal_tape tape;
	struct signal_emission emitted[MEMO_EMITTED];
	const struct memo_op *path[MEMO_EVENTS + 1];
	const struct code_entry *ran[MEMO_INSTRUCTIONS];
	_Alignas(8) uint16_t state[MEMO_STATE];
	struct memo_node node[MEMO_NODES];
	uint32_t bucket[MEMO_BUCKETS];
	struct memo_op op[MEMO_OPS];
	struct memo_emission emission[MEMO_EMISSIONS];
	uint16_t word[MEMO_WORDS];
};

/* Answers from outside the pipeline while a piece is computed for the first time. */
struct memo_tape {
	struct memo *memo;
	struct signals *signals; /* the thread's own */
	uint64_t base;
	uint32_t replay, at;     /* number of answers known already (memo->path[]); number of them used */
	uint32_t events;
	bool failed;
	bool fresh;              /* the last recorded step belongs to this piece */
};

/* What core_memo needs besides the thread. */
struct memo_run {
	struct hart_regs *regs;
	const struct exec_env *env;
	uint64_t until;                    /* nothing is allocated beyond */
	const struct code_entry **running; /* reports which instruction is in progress */
	uint64_t *code_stored;             /* where the instruction in progress stored to code; 0: nowhere */
	const bool *beyond;                /* memory_went_beyond */
	void *self;
	void (*look_ahead)(void *self, const struct code_entry *loaded);
	uint64_t instructions;             /* out: carried out */
	uint8_t vector;                    /* out: as exec's */
};

/* Executes code from an instruction boundary on for as long as it is known or can be recorded. ST_FAULT from exec, whose
 * instruction is then not executed, or from core_account. */
MUST_CHECK enum status core_memo(struct core_thread *c, struct memo *m, struct memo_run *r);
/* Forgets everything: code was changed. */
void memo_forget(struct memo *m);

/* Where replaying a known piece ended: number of instructions executed, the last of them perhaps in part. */
struct memo_midway {
	uint32_t ran, answers;  /* memo->ran[], memo->path[] */
	uint32_t alt;           /* the step with another answer; 0: none */
	struct memo_op other;   /* that answer, which is also the last of path[] */
	struct effects effects; /* of the last instruction */
};

/* The number of the thread's present state, before instruction `ip`, and the cycle from which it counts; 0: it cannot be memoised. */
uint32_t memo_node_of(struct core_thread *c, struct memo *m, uint64_t ip, uint64_t *base);

/* --- core_note.c --- */
/* Computes the piece at `node`, of which `done` has been executed (NULL: nothing; the pipeline's state is the piece's
 * initial one in any case), and records it. *next, *at: the state after it, 0: not memoised. *stop: the next instruction cannot
 * be recorded. */
MUST_CHECK enum status memo_note(struct core_thread *c, struct memo *m, struct memo_run *r, uint32_t node, uint64_t base,
                                 const struct memo_midway *done, uint32_t *next, uint64_t *at, bool *stop);

/* --- core_snapshot.c --- */
/* A canonical key of a pipeline's state before instruction `ip`, in words at m->state; returns their number, and in *base
 * the cycle from which cycles in it count. 0: it cannot be memoised. */
uint32_t core_snapshot_take(struct core_thread *c, struct memo *m, uint64_t ip, uint64_t *base);
/* Sets the pipeline's state to that one, at that cycle. */
void core_snapshot_restore(struct core_thread *c, const uint16_t *words, uint64_t base);
/* Removes from the rings what a state that was just taken or restored holds. */
void core_snapshot_clear(struct core_thread *c, const uint16_t *words, uint64_t base);

/* Origin of a load: enum mem_source, dtlb_level, violation. */
static inline uint32_t memo_load_from(const struct load_result *r)
{
	return (uint32_t)r->source | (uint32_t)r->dtlb_level << 8 | (uint32_t)r->violation << 16;
}

/* The step of a load requested in `cycle`, or of a branch; whether another answer equals it. */
static inline struct memo_op memo_load_op(uint64_t base, uint64_t cycle, const struct load_result *r)
{
	return (struct memo_op){ .kind = MEMO_OP_LOAD, .load = { .at = (int32_t)(cycle - base), .ready = (int32_t)(r->ready - base), .from = memo_load_from(r) } };
}

static inline bool memo_load_is(const struct memo_op *op, uint64_t base, const struct load_result *r)
{
	return r->ready - base == (uint64_t)op->load.ready && memo_load_from(r) == op->load.from;
}

static inline struct memo_op memo_branch_op(uint64_t next, const struct branch_prediction *f)
{
	return (struct memo_op){ .kind = MEMO_OP_BRANCH, .miss = f->miss, .known = f->known, .branch = { next, f->predicted } };
}

static inline bool memo_foreseen_is(const struct memo_op *op, uint64_t next, const struct branch_prediction *f)
{
	return op->branch.next == next && op->miss == f->miss && op->known == f->known && op->branch.predicted == f->predicted;
}

/* --- core_note.c, for the pipeline's steps while c->tape --- */
MUST_CHECK enum status memo_load(struct core_thread *c, uint64_t ip, uint64_t va, unsigned bytes, uint64_t cycle, struct load_result *r);
MUST_CHECK enum status memo_store(struct core_thread *c, const struct insn *in, uint64_t ip, uint64_t va, unsigned bytes, uint64_t address_cycle,
                                  uint64_t data_cycle, uint64_t retire, uint64_t *commit);
MUST_CHECK enum status memo_fetch(struct core_thread *c, uint64_t at, uint64_t *cycle);
void memo_predict(struct core_thread *c, const struct core_plan *p, uint64_t ip, const struct effects *e, struct branch_prediction *f);
uint64_t memo_guess(struct core_thread *c, const struct core_plan *p, uint64_t ip);

#endif
