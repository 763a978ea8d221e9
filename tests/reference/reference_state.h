/* tests/reference/reference_state.h: the state of a run, for reference*.c alone. */
#ifndef TESTS_REFERENCE_STATE_H
#define TESTS_REFERENCE_STATE_H

#include "tests/reference/reference.h"

#define NEVER UINT64_MAX
#define LOOP_ITERATIONS 2
#define FETCH_AHEAD 4 /* cycles that fetch may run ahead of decode; core_front.c's head */

enum part { LOAD, MAIN, STA, STD, EXTRA, PARTS };

/* A uop before fusion. */
struct part_state { bool there, gone; uint64_t done; };

/* An allocation slot with its ROB entry. */
struct group {
	unsigned step;
	bool last;                    /* of its instruction */
	struct part_state part[PARTS];
	unsigned entries;             /* of the reservation station */
	uint64_t allocated, left, retired; /* left: its last dispatch. NEVER: not yet */
};

/* An instruction on its way. */
struct flight {
	const struct ref_step *s;
	unsigned class, group_count, first_group;
	bool fused_second;            /* the branch of a macro-fused pair: part of the one before it */
	bool fused_first, move_free, renamed;
	uint64_t decoded;
	unsigned producer[8], address[2], producers, addresses; /* flights + 1 that its sources come from, 0: none */
	uint64_t result;              /* others can use what it writes */
	uint64_t load_dispatched, loaded; /* its load, and its load's value */
	unsigned waits_for;           /* flight + 1 of the store that its load gets its value from */
	uint64_t looked;              /* when the load looked at the stores before it */
	unsigned fence;               /* flight + 1 of the last MFENCE before it */
	uint64_t buffer_taken;        /* its store's buffer */
	uint64_t address_known, data_known, commit; /* of its store */
};

/* What the threads of a core share: besides this the reservation station, of which each group says whether it is in it. */
struct ref_core {
	const struct machine *m;
	unsigned threads, parity;             /* parity: of the cycle in which the run begins */
	struct ref *thread[2];
	uint64_t port_taken[16];              /* up to, exclusive */
	uint64_t divider_until;
};

/* One thread. */
struct ref {
	const struct machine *m;
	struct ref_core *core;
	struct ref_trace *t;
	bool over;                            /* all is done, and its last cycle has passed */
	unsigned steps, groups;
	unsigned decoded, allocated, retired; /* next flight to decode; next groups */
	unsigned decoded_now;                 /* instructions in this cycle */
	uint64_t microcode_until;             /* the decoders are closed before this cycle */
	uint64_t fetched, window;             /* the last fetch group: when it came, which it is */
	bool fetch_anew;
	bool streaming;                       /* from the loop buffer */
	uint64_t loop_branch;                 /* its ip; 0: none */
	unsigned loop_iterations, loop_uops, counted;
	unsigned resume_behind;               /* fetch resumes when this many groups are allocated; 0: now */
	unsigned last_writer[RN_COUNT];       /* flight + 1 */
	bool read_now[RN_COUNT];              /* registers read from outside the ROB in this cycle */
	uint64_t held_until;                  /* no allocation before */
	uint64_t last_commit, last_decode;
	unsigned last_fence;                  /* flight + 1 */
	struct flight f[REF_INSNS];
	struct group g[8 * REF_INSNS];
};

static inline void tell(struct ref *r, enum signal sig, uint64_t cycle, unsigned n) { ref_tell(r->t, sig, cycle, n); }

static inline void tell_from_to(struct ref *r, enum signal sig, uint64_t from, uint64_t to, unsigned n)
{
	for (uint64_t t = from; t < to; t++)
		tell(r, sig, t, n);
}

/* --- reference_decode.c --- */
/* The groups of the next instruction; they follow those of the instructions before. */
void ref_split(struct ref *r, unsigned step);
/* Decodes the next instruction in cycle t, if it can. */
bool ref_decode_one(struct ref *r, uint64_t t);

/* --- reference_execute.c: what can happen in cycle t, by stage --- */
void ref_commit(struct ref *r, uint64_t t);
void ref_loads_go_on(struct ref *r, uint64_t t);
/* Of both threads, the uop that was allocated first has priority. */
void ref_dispatch(struct ref_core *c, uint64_t t);

#endif
