/* bench/measure/loop.h: shared by the files of the measuring loop: window.c (one run of one kernel), window_set_up.c and window_prepare.c (working
 * sets and their cache state), evidence.c (a row's counters, and what samples mean), measure.c (the loop itself). */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include "bench/measure/measure.h"
#include "pmu/core/concept.h"

#define CLOCK_ADDS 8192u             /* dependent adds in the shorter clock window */
#define SMT_PROBE_NOPS 8192u           /* iterations of k_nop, some two cycles each, in the shorter window */
#define CHAIN_OPERATIONS 16u         /* an iteration of k_add_chain, of k_imul_chain */
#define RUNS_ANY PLAN_RUNS_MAX        /* of a plan */

struct working_set {
	const struct kernel *kernel;
	struct shape shape;
	struct mapping map;
	bool mapped;
	uint64_t at;     /* where the next window goes on: node, or byte offset of a stream */
	uint32_t window;  /* units of work that the longer window has more than the shorter */
	uint32_t shorter; /* and that the shorter one has */
	uint32_t flushed_left; /* CURVE_SPREAD: flushed nodes not yet read */
	uint32_t fresh_left;   /* CURVE_OVERLAP: nodes readable before any repeats */
	uint64_t emptied;   /* nodes of a ring beyond all caches of which windows have flushed what earlier rows left there */
	const struct row_pair *pair;
	enum fill fill;  /* of a pair's buffer */
	enum code code;
	struct mapping code_map;
	bool code_mapped;
};

struct counting {
	struct plan plan;
	const struct event *list[ROW_EVENTS_MAX]; /* in the plan's order: the cycles, then those of the proof's concepts */
	unsigned events;
	const struct row_proof *proofs;
	const struct expression *expressions[ROW_PROOFS_MAX]; /* what the processor counts for each proof's concept */
	unsigned proof_count;
	unsigned instructions;             /* where in the list those retired are; 0: not counted */
	/* why there are none, each NULL or false if that is not why */
	const struct event *uncounted;     /* one that would prove the row, and that no counter of this machine counts */
	const struct expression *unproving; /* what this processor has for a concept: none, or what counts another thing too */
	bool node_unknown;                 /* what would prove it does not tell the node, and the node is not known */
	bool crowded;                      /* the events that would prove it do not go into so few runs */
	bool absence;                      /* they count more than the row's stall: that there is none they show, and no more */
	bool on;
};

enum loop_kernel { KERNEL_TEST, KERNEL_BASELINE, KERNEL_CLOCK, KERNEL_SMT_PROBE };

struct loop;
/* What other methods do around the windows of a row; each may be NULL. bench/suite/execute.c says which there are. */
struct loop_hooks {
	void (*begin)(struct loop *l, struct row_result *out); /* before the first window */
	void (*before)(struct loop *l);                        /* a window of the test in which its cycles are counted */
	void (*after)(struct loop *l, unsigned keep, bool longer); /* it: of pair number `keep` the shorter or the longer one */
	void (*value)(struct loop *l, uint64_t code, struct row_result *out); /* the row has a value; of a curve, where its code lies, else 0 */
	void (*end)(struct loop *l, struct row_result *out);   /* behind the last window; the working sets are still mapped */
};

struct loop {
	struct bench *b;
	const struct row *row;
	struct working_set sets[2];
	unsigned set_count;
	struct counting counting;
	const struct loop_hooks *hooks; /* NULL: none */
	void *beside;       /* what the hooks keep of this row */
	unsigned pairs;     /* good ones so far */
	unsigned rejected;
	bool work_agrees;   /* as many instructions retired as the code of its operations has */
	bool unsure;        /* a stream whose windows differ however long they are: many of them, and their mean */
	bool smt_probed;     /* rounds in which the core was shared are found by bench/measure/smt_probe.h */
	uint32_t clock_adds;
	struct job job;     /* the last one, for a fault's vector and address */
};

/* --- measure.c --------------------------------------------------------------------------------- */

/* Measures a row that row_begin has named, on b->core, with what `hooks` do beside it; `beside` is theirs. Whatever happens is in *out: a fault, a
 * missing event, a spread. */
void measure_row(struct bench *b, const struct row *r, const struct loop_hooks *hooks, void *beside, struct row_result *out);
/* Names the row in *out and chooses its kernel; false: there is none, and *out says so. */
bool row_begin(struct bench *b, const struct row *r, struct row_result *out);
/* The status that st makes of a row, with what happened where; `job`, if given, has a fault's vector and address. */
void row_failed(struct row_result *out, enum status st, const struct job *job, const char *where);

enum loop_sets { LOOP_TEST_ALONE, LOOP_WITH_BASELINE };
/* Maps and fills the working sets of a row whose kernel *out names: the test's alone, or the baseline's too, if the row has one. False:
 * *out says why not, and nothing is mapped. loop_end unmaps. */
bool loop_begin(struct loop *l, struct bench *b, const struct row *r, enum loop_sets sets, struct row_result *out);
void loop_end(struct loop *l, struct row_result *out);

/* --- prefetchers.c ----------------------------------------------------------------------------- */

/* Whether the processor has switches for its prefetchers. */
bool prefetchers_known(const struct bench *b);
/* Switches the prefetchers of b->core off; *found is what prefetchers_back needs. False when there are no
 * such switches, or they do not stay as written. */
bool prefetchers_off(struct bench *b, uint64_t *found);
/* The same but for the one that brings the other line of a pair; false also where its bit is not known. */
bool prefetchers_pair(struct bench *b, uint64_t *found);
bool prefetchers_back(struct bench *b, uint64_t found);

/* --- window.c, window_prepare.c, window_set_up.c ------------------------------------------------ */

/* Whose working set it is: the row's, or its baseline's. */
enum window_role { WINDOW_TEST, WINDOW_BASELINE };
/* The outcome of one run of one kernel under the wrapper. */
#define WINDOW_EVENTS_MAX MEASURE_COUNTERS_MAX
struct window { uint64_t began, tsc, result; /* began: TSC */ uint64_t counts[WINDOW_EVENTS_MAX]; };

/* Runs kernel(arguments) under the wrapper, which reads the counters of run `run` of the plan; NULL: none. */
MUST_CHECK enum status window_run(struct bench *b, const struct kernel *k, const uint64_t arguments[6],
                                  const struct counting *c, unsigned run, struct window *out, struct job *job);
/* The same on any core. */
MUST_CHECK enum status window_run_on(struct bench *b, unsigned core, const struct kernel *k, const uint64_t arguments[6],
                                     const struct counting *c, unsigned run, struct window *out, struct job *job);
/* Its two halves, for multicore runs: fills a core's block and job; reads the block afterwards. */
MUST_CHECK enum status window_load(struct bench *b, unsigned core, const struct kernel *k, const uint64_t arguments[6],
                                   const struct counting *c, unsigned run, struct job *job);
void window_read(struct bench *b, unsigned core, const struct counting *c, unsigned run, struct window *out);
/* Changes a filled job so that the wrapper flushes its own lines before it enters the kernel. */
MUST_CHECK enum status window_cold(struct job *job);
/* Arguments of a working set's kernel. */
void window_arguments(const struct bench *b, const struct working_set *w, uint64_t units, uint64_t arguments[6]);
/* Runs a working set's kernel for so many units of work, from where the latest window ended. */
MUST_CHECK enum status window_units(struct bench *b, struct working_set *w, uint64_t units, const struct counting *c,
                                    unsigned run, struct window *out, struct job *job);
/* Whether a row's working set, or its baseline's (WINDOW_BASELINE), lies in the L1, or one line a page takes half of it, and is reloaded within
 * the job that counts: what runs between that job and one that prepared it displaces lines of the first level. */
bool window_reloads(const struct bench *b, const struct row *r, const struct working_set *w, enum window_role role);
/* window_units after such a reload, if there is one. */
MUST_CHECK enum status window_units_reloaded(struct bench *b, const struct row *r, struct working_set *w, enum window_role role, uint64_t units,
                                             const struct counting *c, unsigned run, struct window *out, struct job *job);
/* Whether the last level may not be LRU, as far as it has been probed. */
bool window_may_forget(const struct bench *b);
/* *more: further passes needed to evict all earlier lines from the last level, which `units` iterations up to w->at have just filled. 0 if its
 * replacement is LRU (probed twice a run). units 0: no probe. */
MUST_CHECK enum status window_fills(struct bench *b, const struct row *r, struct working_set *w, uint64_t units, uint64_t filled, unsigned *more, struct job *job);
/* The kernel that visits the arrays of a row's stream k, one word per line. */
const char *window_warm_kernel(const struct row *r, const struct kernel *k);
/* Arguments of that kernel, or of k_warm_flush, for the lines that so many iterations of the stream use from w->at on: whole iterations of its own. */
void window_warm_arguments(const struct bench *b, const struct working_set *w, const struct kernel *warmer, uint64_t units, uint64_t arguments[6]);
/* Without a cycle counter: *tick_micro is core cycles per TSC tick, in millionths, from windows of dependent additions. */
MUST_CHECK enum status window_clock(struct bench *b, struct job *job, int64_t *tick_micro);
/* The same before each attempt at a point of a row of many, if c does not count: a real machine's clock moves meanwhile. Elsewhere *tick_micro stays. */
MUST_CHECK enum status window_clock_follow(struct bench *b, const struct counting *c, struct job *job, int64_t *tick_micro);
/* Whether cycles are known: there is a counter of them, or dependent products take as many additions as they should, compared once a run. False:
 * *why says what they took. */
bool window_clock_agrees(struct bench *b, struct text *why);
/* Brings the working set into its state before a window of `units`. */
MUST_CHECK enum status window_prepare(struct bench *b, const struct row *r, struct working_set *w, enum window_role role,
                                      uint64_t units, struct job *job);
/* The first pass. */
MUST_CHECK enum status window_warm_up(struct bench *b, const struct row *r, struct working_set *w, enum window_role role,
                                      struct job *job);
/* Behind a row's last window: what a stream of regular stores wrote leaves the caches, for windows of later rows in memory would have it written
 * back, and share the channels with that; and the lines that other cores were given. */
MUST_CHECK enum status window_leave(struct bench *b, const struct row *r, struct working_set *w, struct job *job);
/* Maps a working set, the slot-th of its row, and fills it. */
MUST_CHECK enum status window_set_up(struct bench *b, struct working_set *w, unsigned slot, struct row_result *out);

/* --- tlb_size.c, tlb_time.c -------------------------------------------------------------------- */

/* Before the first row about pages: sets b->own.tlb to what rings of pages show, by counts where CPUID does not enumerate it, by time
 * where there is no counter of cycles; before the first row of loads from memory, how many 2 MiB pages the first level holds. */
void tlb_size_look(struct bench *b, const struct row *r);
/* Whether the data TLB keeps pages of 2 MiB as pieces of 4 KiB, so that a chase over more of them than there are entries misses: counted once, in jobs of
 * its own. False too where that cannot be counted. */
bool tlb_splits_large_pages(struct bench *b);
/* tlb_time.c: pages of 4 KiB that both levels hold, by time, and how many are more than the second holds; *second 0: no such level was
 * seen. `r`: whose kernel chases. ST_MISSING: no ring took longer for its pages. */
MUST_CHECK enum status tlb_time_sizes(struct bench *b, const struct row *r, uint32_t *first, uint32_t *second, uint32_t *beyond);

/* --- evidence.c -------------------------------------------------------------------------------- */

/* Chooses the first set of a row's proofs that the processor can count, and plans its events together with cycles into at most
 * `runs` runs. */
void evidence_plan(struct bench *b, const struct row *r, unsigned runs, struct counting *c);
/* Whether the set that is counted has that concept. */
bool evidence_counts(const struct counting *c, const char *concept);
/* The same for one set. False: it cannot be counted so, and *c says why. */
bool evidence_plan_set(struct bench *b, const struct row_proof_set *set, unsigned runs, struct counting *c);
/* Why nothing proves a row: c->proof_count is 0. True: no machine with this processor could. */
bool evidence_lacking(const struct bench *b, const struct counting *c, struct text *why);
/* The values of the proofs' concepts of what each event of c->list counted. */
void evidence_values(const struct counting *c, const int64_t *counts, int64_t *values);
/* Whether values per unit of work, in thousandths, lie within the proofs' bounds. Writes "EVENT 1.000 per load, ..." into *text. */
bool evidence_holds(const struct counting *c, const int64_t *per_unit_milli, const char *unit, struct text *text);
/* Whether the instructions retired per unit of work, in millionths, are those of the kernel or code that a working set runs, as its author
 * counted them: then as many operations were done as the row divides by. */
enum work_check { WORK_UNKNOWN /* not counted, or chance decides how many units an iteration has */, WORK_AGREES, WORK_DIFFERS };
enum work_check evidence_work(const struct counting *c, const struct working_set *w, const int64_t *counts_micro, int64_t *expected_micro);
/* Judges the windows of a working set for a row that is proved otherwise, or that has no proof and *out its counts. False: *out says why the row
 * is unproven. */
bool evidence_work_holds(const struct counting *c, const struct working_set *w, const int64_t *counts_micro, const char *unit, struct row_result *out);
/* Samples to value, spread, proof and status. */
MUST_CHECK enum status evidence_reduce(struct loop *l, struct row_result *out);

#endif
